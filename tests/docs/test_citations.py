"""Every citation leads somewhere: a page with a heading, as in `(gateway.md, Resume)`, or a numbered rule."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
PAGES: Final = {page.name: page for page in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"))}
CITING: Final = frozenset({".py", ".js", ".html", ".css", ".sql"})

PAGE: Final = re.compile(r"\b[\w-]+\.md\b")
RULE: Final = re.compile(r"\b00[0-2]\.[a-z-]+\.\d+\b")
LINE_END: Final = re.compile(r"\s*\n\s*(?:(?:#|//|\*|--) )?\s*")
ELSEWHERE: Final = re.compile(
    r"\bwire facts\b|\bdocuments? 00\d|\bdesign \d|\bdesign, |\bcontract, |\(contract\)|\breliability F?\d"
    r"|\bappendi(?:x|ces) [A-E]\b|\.\./shared|\bthe facts\b|\(ruling\)",
    re.IGNORECASE,
)
"""Texts that the repository does not hold."""


def headings_of(page: Path) -> list[str]:
    """The headings of a page, the longest first."""
    lines = page.read_text(encoding="utf-8").splitlines()
    return sorted((line.lstrip("#").strip() for line in lines if re.match(r"##+ ", line)), key=len, reverse=True)


HEADINGS: Final = {name: headings_of(page) for name, page in PAGES.items() if name != "CHANGELOG.md"}


def one_line(text: str) -> str:
    """The text with its line ends, and the comment signs behind them, as spaces."""
    return LINE_END.sub(" ", text)


def is_cited(name: str, following: str) -> bool:
    """Whether the text behind the name of a page is one of its headings."""
    return any(re.match(rf", {re.escape(heading)}(?!\w)", following) for heading in HEADINGS.get(name, ()))


def unresolved(text: str) -> Iterator[str]:
    """The citations of pages in a text that lead nowhere."""
    flat = one_line(text)
    for match in PAGE.finditer(flat):
        if not is_cited(match.group(), flat[match.end() :]):
            yield flat[match.start() : match.end() + 40]


def sources() -> list[Path]:
    """Every file of the package that people write."""
    return sorted(path for path in (ROOT / "chat").rglob("*") if path.suffix in CITING)


def test_every_page_that_the_code_cites_has_the_heading() -> None:
    lost = [(path.name, one) for path in sources() for one in unresolved(path.read_text(encoding="utf-8"))]
    assert lost == []


def test_no_source_cites_a_text_that_the_repository_does_not_hold() -> None:
    lost = []
    for path in sources():
        lost += [(path.name, match.group()) for match in ELSEWHERE.finditer(one_line(path.read_text(encoding="utf-8")))]
    assert lost == []


def test_every_rule_that_the_code_and_the_pages_cite_exists() -> None:
    rules = {
        rule["id"]
        for path in (ROOT / "spec_fixtures" / "rules").glob("*.json")
        for rule in json.loads(path.read_text(encoding="utf-8"))
    }
    for path in (*sources(), *PAGES.values()):
        assert set(RULE.findall(path.read_text(encoding="utf-8"))) <= rules, path


def test_headings_of_a_page_differ() -> None:
    for name, headings in HEADINGS.items():
        assert len(set(headings)) == len(headings), name


@pytest.mark.parametrize("name", sorted(set(PAGES) - {"README.md", "CHANGELOG.md"}))
def test_pages_cite_headings_of_each_other(name: str) -> None:
    """A page names another one with a heading, or as a whole: then the page is there."""
    flat = one_line(PAGES[name].read_text(encoding="utf-8"))
    for match in PAGE.finditer(flat):
        assert match.group() in PAGES, match.group()
        following = flat[match.end() :]
        assert not re.match(r", [A-Z]", following) or is_cited(match.group(), following), following[:40]
