"""Which act of the web client which browser test calls, by the hand of a person: written down while tests run.

    TESTS_RECORD_ACTS=acts.txt python -m pytest -m long tests/web/client
    python -m tests.web.acts_record acts.txt

The second command brings `acts_by_hand.json` up to date. An act counts where the page itself calls it.
"""

from __future__ import annotations

import ast
import json
import os
import sys
from collections import defaultdict
from pathlib import Path
from typing import Final

from playwright.sync_api import BrowserContext, Route

from tests.web.client.node import running_node

RECORD: Final = os.environ.get("TESTS_RECORD_ACTS")
TABLE: Final = Path(__file__).with_name("acts_by_hand.json")
ROOT: Final = Path(__file__).parents[2]
MODULE: Final = "**/client/acts/acts.js"
MAKER: Final = "export function makeActs("
WRAPPED: Final = """
export function makeActs(parts) {
  const acts = madeActs(parts);
  for (const [area, its] of Object.entries(acts)) {
    for (const [name, run] of Object.entries(its)) {
      if (typeof run !== "function") continue;
      its[name] = (...rest) => (void window.__acted?.(`${area}.${name}`), run(...rest));
    }
  }
  return acts;
}
"""


def record(context: BrowserContext) -> None:
    """Write down what the pages of this context call; does nothing unless it was asked for."""
    if RECORD is None:
        return
    seen: set[str] = set()

    def acted(_: object, act: str) -> None:
        if act not in seen:
            seen.add(act)
            test = os.environ.get("PYTEST_CURRENT_TEST", "").split(" ")[0]
            with Path(RECORD).open("a") as record:
                record.write(f"{act} {test}\n")

    context.expose_binding("__acted", acted)
    context.route(MODULE, _wrap)


def _wrap(route: Route) -> None:
    answer = route.fetch()
    source = answer.text()
    assert MAKER in source
    route.fulfill(response=answer, body=source.replace(MAKER, "function madeActs(") + WRAPPED)


def acts_of_the_client() -> list[str]:
    """`area.name` of all."""
    with running_node() as node:
        names: list[str] = node.call("./acts", "namesOfActs")
    return sorted(names)


def exists(test: str) -> bool:
    """Whether `file::test` is one."""
    file, _, name = test.partition("::")
    place = ROOT / file
    if not place.is_file():
        return False
    tree = ast.parse(place.read_text())
    return any(isinstance(node, ast.FunctionDef) and node.name == name for node in tree.body)


def main() -> int:
    """Merge a record into the table: the first test that calls an act stands for it."""
    table: dict[str, str] = json.loads(TABLE.read_text()) if TABLE.exists() else {}
    heard: dict[str, list[str]] = defaultdict(list)
    for line in Path(sys.argv[1]).read_text().splitlines():
        act, _, test = line.partition(" ")
        heard[act].append(test.partition("[")[0])
    acts = acts_of_the_client()
    kept = {act: test for act, test in table.items() if act in acts and exists(test)}
    there = {act: [test for test in tests if exists(test)] for act, tests in heard.items() if act in acts}
    new = {act: tests[0] for act, tests in there.items() if tests and act not in kept}
    TABLE.write_text(json.dumps(dict(sorted({**kept, **new}.items())), indent=2) + "\n")
    missing = [act for act in acts if act not in kept and act not in new]
    print(f"{len(acts)} acts, {len(missing)} that no test does: {' '.join(missing)}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
