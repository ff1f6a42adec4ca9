"""English that anybody reads at once: phrases that cost a reader most are found, in code, tests and papers.

`docs/contributing.md`, Prose, has each with an example and its better wording.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
ENDINGS: Final = (".py", ".js", ".css", ".html", ".md", ".sql")

PHRASES: Final = {
    "so many": r"\bso (?:many|much)\b(?! (?:that|as)\b)",
    "so long": r"\b(?:after|for|in|than) so long\b(?! (?:that|as)\b)|\bso long (?:after|ago)\b",
    "from which on": r"from which on\b",
    "what there is of": r"what there is of\b",
    "of the field": r"\b(?:conventions?|limits|numbers|words) of the field\b",
    "whatever it is": r"\bwhatever it is\b",
    "to be called": r"\bto be called (?:after|before|by|from|in|once|where)\b",
    "let nothing": r"\blet nothing\b",
    "of the time before": r"\bof the time before\b",
    "is waited for": r"\b(?:is|are|was|were|be|been) (?:waited for|looked for|seen to)\b",
    "in the place of": r"\bin the place of\b",
    "what is none": r"\b(?:what|that) is (?-i:none)\b",
}
"""What not to write, as patterns of one line of text."""

ELSEWHERE: Final = frozenset(
    {
        "CHANGELOG.md",  # what was said of a version stays
        "docs/contributing.md",  # has the examples
        "tests/docs/test_prose.py",
    }
)
SAID: Final = ('"whatever it is"', '"Stall for so long"')
"""A password and a button."""

SEEN: Final = re.compile("|".join(f"(?:{pattern})" for pattern in PHRASES.values()), re.IGNORECASE)
LINE_END: Final = re.compile(r"\s*\n\s*(?:(?:#|//|\*|--) )?\s*")


def written() -> Iterator[Path]:
    """Every file that people wrote, as git has them; translations are not English."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True)
    for name in listed.stdout.decode().splitlines():
        if name.endswith(ENDINGS) and name not in ELSEWHERE and (ROOT / name).is_file():
            yield ROOT / name


def riddles(text: str) -> list[str]:
    """The phrases of the table that a text has, each with its surroundings."""
    for words in SAID:
        text = text.replace(words, '""')
    flat = LINE_END.sub(" ", text)
    return [flat[max(found.start() - 40, 0) : found.end() + 20] for found in SEEN.finditer(flat)]


def test_nothing_that_was_written_has_a_phrase_of_the_table() -> None:
    found = {str(path.relative_to(ROOT)): riddles(path.read_text(encoding="utf-8")) for path in written()}
    told = {name: phrases for name, phrases in found.items() if phrases}
    assert told == {}, "docs/contributing.md, Prose, says how to put it"


@pytest.mark.parametrize("phrase", PHRASES)
def test_each_phrase_is_found(phrase: str) -> None:
    row = next(line for line in (ROOT / "docs/contributing.md").read_text().splitlines() if f"| {phrase} |" in line)
    example = row.split("|")[2]
    assert re.search(PHRASES[phrase], example, re.IGNORECASE), "the table has an example of it"
    assert not riddles(row.split("|")[3]), "the better wording is better"


def test_a_phrase_is_found_over_the_end_of_a_line() -> None:
    assert riddles("# Groups from which\n    # on a list is cut.") == ["# Groups from which on a list is cut."]
