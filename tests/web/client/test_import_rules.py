"""How the web client's modules hang together: who imports whom, what is pure, how long a module is; and what no module
and no style sheet does."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest

from chat.web.modules import Module, read_module, without_comments
from chat.web.packs import Library
from tests.conformance.clients.installed import node

WEB: Final = Path(__file__).parents[3] / "chat" / "web"
SCRIPTS: Final = sorted((WEB / "client").rglob("*.js"))
SHEETS: Final = sorted((WEB / "client").rglob("*.css"))

PAGES: Final = frozenset(
    f"static/{name}.js" for name in ("api", "language", "session", "dialogs", "forms", "signing_in", "sudo", "webauthn")
)
"""Modules that the client shares with the pages."""

FOUNDATION: Final = frozenset({"base", "words", "text"})

MAY_IMPORT: Final[Mapping[str, frozenset[str]]] = {
    "base": frozenset({"base"}),
    "words": frozenset({"words", "base"}),
    "text": frozenset({"text"}),
    "store": frozenset({"store", "text"}),
    "net": frozenset({"net", "store", "static"}) | FOUNDATION,
    "acts": frozenset({"acts", "net", "store", "static"}) | FOUNDATION,
    "views": frozenset({"store", "static"}) | FOUNDATION,
    "areas": frozenset({"views", "store", "static"}) | FOUNDATION,
    "worker": frozenset(),
}
"""By the top folder. Views and areas get their acts handed; each imports its own folder as well."""

FOR_ALL_VIEWS: Final = frozenset({"views/names", "views/dialogs"})
"""What people and places are called, and questions that several views ask; otherwise views do not know one another."""

STARTS: Final = frozenset({"client/main.js", "client/worker/service_worker.js"})
"""Modules that a page or a browser starts: they alone do something when they are loaded."""

AREAS: Final = "client/views/shell/app.js"
NAMED_AREA: Final = re.compile(r"^  (\w+): \(\) => import\(\"\.\./\.\./(areas/[\w/]+\.js)\"\)", re.MULTILINE)

PURE: Final = re.compile(r"client/(?:store/.*|text/.*|net/machine|views/messages/(?:window|grouping))\.js")
IMPURE: Final = re.compile(
    r"(?<![\w.$#\"'])(?:document|window|fetch|navigator|location|localStorage|sessionStorage|indexedDB|performance|crypto"
    r"|globalThis|setTimeout|setInterval|queueMicrotask|requestAnimationFrame|BroadcastChannel|WebSocket)(?=[.(\[])"
    r"|\bDate\.now\b|\bnew Date\(\s*\)|\bMath\.random\b|\bnew (?:BroadcastChannel|WebSocket|Worker)\b"
)

FORBIDDEN: Final = re.compile(
    r"\.(?:innerHTML|outerHTML|srcdoc|cssText)\b|\binsertAdjacentHTML\b|\bdocument\.write|\beval\(|\bnew Function\b"
    r"|setAttribute\(\s*[\"']style|\.style\s*=[^=]|\bdebugger\b|\bconsole\.log\b|\balert\("
)
"""What the content security policy refuses or a reader does not want."""

WITHOUT_WORK: Final = re.compile(r"(?:import|export|function|async function|class|const|let)\b|[})\]`]|/\*|//|\s|$")

PRESSED: Final = re.compile(r"""\bh\(\s*"(\w+)",\s*\{([^{}]*(?<![\w-])(?:click|"data-act")(?![\w-])[^{}]*)\}""")
"""An element that hears a press, with its attributes."""
HEARS: Final = re.compile(r"""(\w+)\.addEventListener\("click",(.{,240})""", re.DOTALL)
CONTROLS: Final = frozenset({"a", "button", "input", "label", "option", "select", "summary", "textarea"})
"""Elements that the browser lets keys reach and press."""
VEILS: Final = frozenset({("areas/viewer.js", "ground")})
"""What closes at a press beside it, as Escape does."""

LINES_MAXIMUM: Final = 300
COLUMNS_MAXIMUM: Final = 120

PHYSICAL: Final = re.compile(
    r"(?:^|[\s;{])(?:(?:margin|padding|border|inset)-(?:left|right|top|bottom)[\w-]*|left|right|top|bottom|float)\s*:"
    r"|text-align:\s*(?:left|right)",
)
COLOUR: Final = re.compile(r"#[0-9a-fA-F]{3,8}\b|\brgba?\(|\bhsla?\(|\boklch\(")


def name_of(path: Path) -> str:
    return path.relative_to(WEB).as_posix()


def modules() -> Iterator[Module]:
    for path in SCRIPTS:
        yield read_module(name_of(path), path.read_text(encoding="utf-8"))


def folder_of(path: str) -> str:
    """`store` of `client/store/reads.js`, `views/messages` of `client/views/messages/list.js`."""
    parts = path.split("/")[1:-1]
    return "/".join(parts[: 2 if parts[:1] in (["views"], ["areas"]) else 1])


def may(module: str, target: str) -> bool:
    """Whether a module may import another one when it is loaded."""
    if not target.startswith("client/"):
        return target in PAGES and ("static" in MAY_IMPORT.get(top_of(module), ()) or module in STARTS)
    here, there = folder_of(module), folder_of(target)
    if here in ("", "views/shell"):  # the start, and the router that names all views
        return there.split("/")[0] != "areas"
    if here.startswith("views") and there.startswith("views"):
        return here == there or there in FOR_ALL_VIEWS
    return here == there or there.split("/")[0] in MAY_IMPORT[top_of(module)]


def top_of(path: str) -> str:
    return folder_of(path).split("/")[0]


def test_imports_go_down_only() -> None:
    wrong = [
        f"{module.path} imports {one.path}"
        for module in modules()
        for one in module.imports
        if not may(module.path, one.path)
    ]
    assert wrong == []


def test_only_areas_are_imported_late() -> None:
    wrong = [
        f"{module.path} imports {address}"
        for module in modules()
        for address in module.dynamic
        if not module.resolved(address).startswith("client/areas/")
    ]
    assert wrong == []


def test_every_area_is_named_once_and_somebody_opens_it() -> None:
    """An area is a module of `areas` that exports `open`; views load it by the name that `AREAS` gives it."""
    sources = {name_of(path): path.read_text(encoding="utf-8") for path in SCRIPTS}
    exported = re.compile(r"^export (?:async )?function open\(", re.MULTILINE)
    areas = {path for path, code in sources.items() if path.startswith("client/areas/") and exported.search(code)}
    listed = NAMED_AREA.findall(sources[AREAS])
    named = {f"client/{path}" for _, path in listed}
    unnamed, gone = sorted(areas - named), sorted(named - areas)
    assert not unnamed, f"name {unnamed} in AREAS of chat/web/{AREAS}"
    assert not gone, f"AREAS of chat/web/{AREAS} names {gone}, which exports no `open`"
    assert len(named) == len(listed), f"AREAS of chat/web/{AREAS} names an area twice"
    opened = {name for code in sources.values() for name in re.findall(r"\bopen\(\"(\w+)\"", code)}
    closed = sorted({name for name, _ in listed} - opened)
    assert not closed, f"no view opens {closed}: call open(...) of chat/web/{AREAS} where a person chooses it"


def test_what_is_pure_asks_neither_the_page_nor_the_clock() -> None:
    wrong = {
        module.path: match[0]
        for module in modules()
        if PURE.fullmatch(module.path) and (match := IMPURE.search(module.code)) is not None
    }
    assert wrong == {}


def test_what_is_pure_imports_what_is_pure() -> None:
    wrong = [
        f"{module.path} imports {one.path}"
        for module in modules()
        if PURE.fullmatch(module.path)
        for one in module.imports
        if not PURE.fullmatch(one.path)
    ]
    assert wrong == []


def test_all_modules_together_are_a_program(tmp_path: Path) -> None:
    """No cycle, every name that is imported is exported, and no `await` outside of functions: joined into one pack they
    parse."""
    scripts = [*SCRIPTS, *sorted((WEB / "static").glob("*.js"))]
    library = Library({name_of(path): path.read_text(encoding="utf-8") for path in scripts})
    members = library.closure(name_of(path) for path in SCRIPTS)
    areas = {path: "all" for path in members if path.startswith("client/areas/")}
    pack = tmp_path / "all.mjs"
    pack.write_text(library.pack(members, (), areas), encoding="utf-8")
    done = subprocess.run([str(node()), "--check", str(pack)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_loading_a_module_does_nothing() -> None:
    wrong = [
        f"{name_of(path)}: {line}"
        for path in SCRIPTS
        if name_of(path) not in STARTS
        for line in path.read_text(encoding="utf-8").splitlines()
        if not WITHOUT_WORK.match(line)
    ]
    assert wrong == []


def test_no_module_makes_markup_out_of_text() -> None:
    wrong = {
        name_of(path): match[0]
        for path in SCRIPTS
        if (match := FORBIDDEN.search(without_comments(path.read_text(encoding="utf-8")))) is not None
    }
    assert wrong == {}


def unreachable(script: str) -> Iterator[str]:
    """What a mouse can press in a module and keys cannot: no control, no place in the order of Tab."""
    for made in PRESSED.finditer(script):
        if made[1] not in CONTROLS and "tabindex" not in made[2]:
            yield made[0]
    for name, then in HEARS.findall(script):
        made_as = re.search(rf"""\b{name} = (?:/\*\*.*?\*/ \()?h\(\s*"(\w+)\"""", script)
        # A list hears for the controls in its rows.
        if (
            made_as
            and made_as[1] not in CONTROLS
            and "event.target" not in then
            and f"{name}.tabIndex = 0" not in script
        ):
            yield name


def test_keys_reach_whatever_a_mouse_can_press() -> None:
    found = {
        (path.relative_to(WEB / "client").as_posix(), what)
        for path in SCRIPTS
        if path.is_relative_to(WEB / "client")
        for what in unreachable(path.read_text(encoding="utf-8"))
    }
    assert found == VEILS, "make it a button or a link, or give it a place in the order of Tab and keys that press it"
    assert list(unreachable('h("div", { class: "x", click: press })')) == ['h("div", { class: "x", click: press }']
    assert list(unreachable('const one = h("img", {});\none.addEventListener("click", zoom);')) == ["one"]


@pytest.mark.parametrize("path", [*SCRIPTS, *SHEETS], ids=name_of)
def test_a_module_fits_the_eye(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= LINES_MAXIMUM or path.suffix == ".css"
    assert [line for line in lines if len(line) > COLUMNS_MAXIMUM] == []


@pytest.mark.parametrize("path", SHEETS, ids=name_of)
def test_a_style_sheet_keeps_to_its_layers_and_to_either_direction(path: Path) -> None:
    text = re.sub(r"/\*[\s\S]*?\*/", "", path.read_text(encoding="utf-8"))
    outside = [line for line in text.splitlines() if line and not line.startswith((" ", "@layer", "}"))]
    assert outside == []
    assert PHYSICAL.findall(text) == []
    if path.name not in ("tokens.css", "themes.css"):
        assert COLOUR.findall(text) == [], "colours are named in tokens.css, and changed in themes.css"
    endless = [
        " ".join(selector.split())
        for selector, rules in re.findall(r"([^{}]+)\{([^{}]*)\}", text)
        if re.search(r"display: grid;", rules) and not re.search(r"grid-template|place-(?:items|content)", rules)
    ]
    assert endless == [], "without grid-template-columns one long word makes every row as wide: minmax(0, 1fr)"
