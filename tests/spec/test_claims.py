"""A test module that proves rules says so in its docstring: its area and the sections, in the last paragraph."""

from __future__ import annotations

import ast
import re
import textwrap
from pathlib import Path
from typing import Final

from tests.spec import gateway_tables

TESTS: Final = Path(__file__).parents[1]
WITH_IDS_OF_ITS_OWN: Final = {"spec/test_ledger.py"}

QUOTED: Final = re.compile(r"""["'](00[0-2]\.[a-z][a-z-]*)(?=[."'])""")
PARAGRAPH: Final = re.compile(r"\n\nArea: [\s\S]*\Z")
TABLES: Final = {
    "FRAMING": gateway_tables.FRAMING,
    "WITHOUT_D": gateway_tables.WITHOUT_D,
    "IDENTIFY": gateway_tables.IDENTIFY,
    "RESUME": gateway_tables.RESUME,
    "rules_of_query": gateway_tables.QUERIES,
}
"""What a module imports to name the rules of a table, and those rules."""

MODULES: Final = [
    path for path in sorted(TESTS.rglob("test_*.py")) if str(path.relative_to(TESTS)) not in WITH_IDS_OF_ITS_OWN
]


def sections_of(source: str) -> list[str]:
    """The sections whose rules a module names, in its own text or by a table's name."""
    tree = ast.parse(source)
    docstring = tree.body[0] if ast.get_docstring(tree) is not None else None
    below = "\n".join(source.splitlines()[(docstring.end_lineno or 0) if docstring is not None else 0 :])
    found = set(QUOTED.findall(below))
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "tests.spec.gateway_tables":
            for name in node.names:
                found |= {rule.rpartition(".")[0] for rule in TABLES.get(name.name, ())}
    return sorted(found)


def paragraph_of(path: Path, source: str) -> str | None:
    """What the docstring has to end with; None where the module names no rule."""
    sections = sections_of(source)
    if not sections:
        return None
    text = f"Area: {path.relative_to(TESTS).parts[0]}. Rules: {', '.join(sections)}."
    return "\n".join(textwrap.wrap(text, 118, break_on_hyphens=False, break_long_words=False))


def test_each_module_says_which_rules_it_proves() -> None:
    wrong = {}
    for path in MODULES:
        source = path.read_text(encoding="utf-8")
        said = PARAGRAPH.search(ast.get_docstring(ast.parse(source)) or "")
        expected = paragraph_of(path, source)
        if (None if said is None else said.group().strip()) != expected:
            wrong[str(path.relative_to(TESTS))] = expected
    assert wrong == {}, "the last paragraph of the docstring"
