"""TypeScript's compiler over the scripts of client, pages and console: their JSDoc types are strict, and they hold. It
knows from the OpenAPI document (`tests.web.client.wire`) what the API answers and takes."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Final

import pytest

from chat.web.assets import HERE as WEB
from tests.conformance.clients.installed import installed_by_npm, node
from tests.web.client.wire import write

HERE: Final = Path(__file__).parent
LISTS: Final = (HERE / "typescript" / "package.json", HERE / "typescript" / "package-lock.json")
COMPLAINT: Final = re.compile(r"^(?P<path>\S+?)\(\d+,\d+\): error .*(?:\n .*)*", re.MULTILINE)
COMPILER_SECONDS: Final = 300

ANYS: Final = 10
"""Types in the browser's scripts that are `any`, each with its reason beside it. The number only falls."""

TYPE: Final = re.compile(r"@(?:type|param|returns|typedef|property)\s*\{")
ANY: Final = re.compile(r"(?<![\w.$\"'`-])any(?![\w$\"'`-])")
COMMENT: Final = re.compile(r"/\*\*[\s\S]*?\*/")

pytestmark = pytest.mark.long


@pytest.mark.parametrize("project", ["tsconfig.json", "tsconfig.worker.json", "tsconfig.pages.json"])
def test_the_types_of_the_scripts_hold(project: str) -> None:
    write()
    compiler = installed_by_npm("typescript", LISTS) / "node_modules" / "typescript" / "bin" / "tsc"
    command = [str(node()), str(compiler), "--project", str(HERE / project), "--pretty", "false"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=HERE, timeout=COMPILER_SECONDS)
    assert "error TS18003" not in done.stdout, "the compiler found no module"
    complaints = list(COMPLAINT.finditer(done.stdout))
    assert (done.returncode == 0) == (complaints == []), done.stdout
    assert complaints == [], "\n".join(match[0] for match in complaints)


def anys(source: str) -> int:
    """How many types in the comments of a script are `any`, or have it in them."""
    count = 0
    for comment in COMMENT.findall(source):
        for tag in TYPE.finditer(comment):
            depth, end = 1, tag.end()
            while depth > 0 and end < len(comment):
                depth += {"{": 1, "}": -1}.get(comment[end], 0)
                end += 1
            count += len(ANY.findall(comment, tag.end(), end - 1))
    return count


def test_any_becomes_rarer() -> None:
    found = {path.relative_to(WEB).as_posix(): anys(path.read_text(encoding="utf-8")) for path in WEB.rglob("*.js")}
    where = {name: count for name, count in sorted(found.items()) if count > 0}
    assert sum(where.values()) <= ANYS, where


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("/** @param {any} one @returns {Promise<any>} */", 2),
        ("/** @type {{a: any,\n * b: {c: any}}} of any kind */", 2),
        ("/** @param {string} any Any of `any` {any}. */\nconst any = 1; // any", 0),
    ],
)
def test_any_is_counted_in_types_alone(source: str, count: int) -> None:
    assert anys(source) == count
