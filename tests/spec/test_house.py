"""The house stays in order: sizes, folders and the fourteen areas, held by one table of numbers with each exception's
reason.

What else holds the house: each citation resolves (`tests/docs/test_citations.py`), each page's paths are there
(`tests/docs/test_papers.py`), each public name of the registries is used (`tests/spec/test_registries.py`), imports go
down only (`lint-imports`).
"""

from __future__ import annotations

import ast
import statistics
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import attrs

ROOT: Final = Path(__file__).parents[2]
MODULES: Final = sorted((ROOT / "chat").rglob("*.py"))


@attrs.frozen
class Bound:
    """The most that is allowed, and for each exception its own most and the reason."""

    most: int
    exceptions: Mapping[str, tuple[int, str]] = attrs.field(factory=dict)

    def of(self, name: str) -> int:
        """The most that is allowed here."""
        return self.exceptions.get(name, (self.most, ""))[0]

    def broken(self, found: Mapping[str, int]) -> dict[str, int]:
        """What is above its bound, and the exceptions that nothing needs any more."""
        above = {name: number for name, number in found.items() if number > self.of(name)}
        needless = {name: found.get(name, 0) for name in self.exceptions if found.get(name, 0) <= self.most}
        return above | needless


LINES_OF_A_MODULE: Final = Bound(500)
LINES_OF_A_FUNCTION: Final = Bound(60)
MODULES_OF_A_FOLDER: Final = Bound(40, {"tests": (45, "worlds that every folder uses, and tests of the program's top")})
MEDIAN_LINES: Final = (100, 200)
"""The least and the most of the median module, packages that only say what they are left out."""

FLOORS: Final[Mapping[str, Mapping[str, str]]] = {
    "chat/domain": {},
    "chat/store": {"migrations": "the schema of every area, one SQL file after the other"},
    "chat/api/routes": {},
    "chat/api/schemas": {},
    "tests": {
        "api": "the HTTP engine",
        "auth": "credentials and policies, before any area",
        "bench": "chat bench",
        "cli": "the command line",
        "compat": "programs of other services",
        "conformance": "the documents' rules over a whole server",
        "development": "the routes of chat dev",
        "docs": "the papers",
        "durability": "kills and power cuts",
        "field": "what strangers send: their files, programs and texts",
        "fuzz": "the fuzz targets",
        "gateway": "the gateway's engine",
        "mail": "letters and their way out",
        "media": "pictures and files, beneath every area",
        "nodes": "core and gateway nodes over a broker",
        "openapi": "the OpenAPI document",
        "packaging": "what is published, from its built files",
        "port": "listener, transport and request head",
        "protocol": "the gateway's protocol without I/O",
        "security": "what attackers try",
        "simulation": "random weeks of a whole server",
        "spec": "the ledger and the registries",
        "store": "the database itself",
        "testing": "the test kit",
        "voice": "media: what carries sound and pictures",
        "web": "the pages for people",
    },
}
"""The floors that the areas go through, and what else has a folder there, with what it is about."""


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def functions() -> Iterator[tuple[str, int]]:
    """Every function of the package with its lines; a nested one counts for its outer one as well."""
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert node.end_lineno is not None
                yield f"{name_of(path)}: {node.name}", node.end_lineno - node.lineno + 1


def lines_of(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def folders_of(floor: str) -> set[str]:
    """The folders of a floor that hold something of ours."""
    below = {path.relative_to(ROOT / floor) for path in (ROOT / floor).rglob("*.*") if path.suffix in {".py", ".sql"}}
    return {path.parts[0] for path in below if len(path.parts) > 1 and "__pycache__" not in path.parts}


def declared_areas() -> set[str]:
    """The areas as the contract of import-linter has them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    [contract] = [
        one for one in project["tool"]["importlinter"]["contracts"] if one.get("containers") == ["chat.domain"]
    ]
    layers = {name.strip(" ()") for layer in contract["layers"] for name in layer.split("|")}
    return layers - {path.stem for path in (ROOT / "chat" / "domain").glob("*.py")}


def unguarded_writes() -> Iterator[str]:
    """Calls of `Database.write` that do not say on behalf of which request they write."""
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "write":
                continue
            database = ast.unparse(node.func.value)
            named = any(keyword.arg == "guard" for keyword in node.keywords)
            if database.rpartition(".")[2] in {"database", "_database", "_database_of_uses()"} and not named:
                yield f"{name_of(path)}:{node.lineno}"


def test_every_write_names_the_guard_of_its_request_or_that_there_is_none() -> None:
    assert [*unguarded_writes()] == [], "name guard=principal.guard, or guard=UNGUARDED for work in the background"


def test_one_module_knows_what_the_command_line_tells_a_running_server() -> None:
    writers = [name_of(path) for path in MODULES if "outside_changes.record(" in path.read_text(encoding="utf-8")]
    assert writers == ["chat/domain/administration/server_notes.py"], "a command's notes have their functions there"


def test_a_class_has_a_name_of_its_own_within_its_top_package() -> None:
    homes: dict[tuple[str, str], list[str]] = {}
    for path in MODULES:
        package = path.relative_to(ROOT / "chat").parts[0]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                homes.setdefault((package, node.name.lstrip("_")), []).append(f"{name_of(path)}:{node.lineno}")
    shared = {name: places for (_, name), places in homes.items() if len(places) > 1}
    assert shared == {}, "name each by what it is: BanPlan and ResumePlan in place of two called Plan"


def test_no_module_is_too_long() -> None:
    assert LINES_OF_A_MODULE.broken({name_of(path): lines_of(path) for path in MODULES}) == {}


def test_the_median_module_is_neither_a_scrap_nor_a_blob() -> None:
    least, most = MEDIAN_LINES
    assert least <= statistics.median(lines_of(path) for path in MODULES if path.name != "__init__.py") <= most


def test_no_function_is_too_long() -> None:
    longest: Counter[str] = Counter()
    for name, lines in functions():
        longest[name] = max(longest[name], lines)
    assert LINES_OF_A_FUNCTION.broken(longest) == {}


def test_no_folder_is_too_full() -> None:
    modules = [*MODULES, *(ROOT / "tests").rglob("*.py")]
    assert MODULES_OF_A_FOLDER.broken(Counter(name_of(path.parent) for path in modules)) == {}


def test_no_two_test_modules_have_one_name() -> None:
    """pytest imports them by their names alone."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []


def test_requests_of_the_client_are_answered_without_a_service_worker() -> None:
    modules = {path.name: path.read_text("utf-8") for path in (ROOT / "tests/web/client").rglob("*.py")}
    found = [name for name, text in modules.items() if "page.route(" in text or "context.route(" in text]
    assert not found, "Visitor.intercepts does it, for one who has no service worker"


LOOKS_ONCE: Final = frozenset(
    {
        *("all", "all_inner_texts", "all_text_contents", "bounding_box", "count", "get_attribute", "inner_html"),
        *("inner_text", "input_value", "is_checked", "is_disabled", "is_enabled", "is_hidden", "is_visible"),
        *("text_content", "title"),
    }
)
"""What Playwright answers at once, without waiting for what is yet to come."""


def looks_once(assertion: ast.Assert) -> bool:
    """Whether an assertion is about a page as it is at that moment."""
    for node in ast.walk(assertion.test):
        if isinstance(node, ast.Attribute) and node.attr == "url" and ast.unparse(node.value).endswith("page"):
            return True
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if node.func.attr in LOOKS_ONCE and (not node.args or node.func.attr == "get_attribute"):
            return True
        if node.func.attr == "evaluate" and "activeElement" in ast.unparse(node):
            return True
    return False


def test_browser_tests_wait_for_what_they_expect() -> None:
    found = []
    for path in sorted((ROOT / "tests/web").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            is_once = isinstance(node, ast.Assert) and looks_once(node)
            is_all = isinstance(node, ast.For | ast.comprehension) and ast.unparse(node.iter).endswith(".all()")
            if is_once or is_all:
                line = node.iter.lineno if isinstance(node, ast.comprehension) else node.lineno
                found.append(f"{name_of(path)}:{line}")
    assert found == [], "a busy machine shows it later: expect(...), Visitor.until, or browsing.each"


def test_fourteen_areas_are_declared_and_are_the_folders_of_the_domain() -> None:
    assert len(declared_areas()) == 14
    assert folders_of("chat/domain") == declared_areas()


def test_the_floors_carry_the_areas_and_what_is_named_here() -> None:
    for floor, others in FLOORS.items():
        folders = folders_of(floor)
        assert folders - declared_areas() == others.keys(), floor
        assert all(others.values()), floor


CLOCKS: Final = frozenset({"monotonic", "perf_counter", "process_time", "thread_time"})


def is_about_seconds(comparison: ast.Compare) -> bool:
    """Whether it holds what a clock has counted against a number: `clock() - before < 2`."""
    sides = (comparison.left, *comparison.comparators)
    return any(isinstance(side, ast.Constant) for side in sides) and any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CLOCKS
        for side in sides
        for node in ast.walk(side)
    )


def test_no_assertion_counts_seconds() -> None:
    found = [
        f"{name_of(path)}:{node.lineno}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        for statement in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(statement, ast.Assert)
        for node in ast.walk(statement.test)
        if isinstance(node, ast.Compare) and is_about_seconds(node)
    ]
    assert found == [], "a machine is as fast as it is: compare two times of one run (tests.growth)"
