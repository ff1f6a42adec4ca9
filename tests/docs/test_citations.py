"""Every citation leads somewhere: a page with a heading, as in `(gateway.md, Resume)`, or a numbered rule."""

from __future__ import annotations

import functools
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from chat.manual.library import FOLDER
from chat.manual.opening import open_manual

ROOT: Final = Path(__file__).parents[2]
PAPERS: Final = {page.name: page for page in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"))}
MANUAL: Final = {f"{name}.md": source.markdown for name, source in open_manual().sources.items()}
CITING: Final = frozenset({".py", ".js", ".html", ".css", ".sql"})

PAGE: Final = re.compile(r"(?<!\]\()(?<![\w-])[\w-]+\.md\b")
"""The name of a page, but not in a link of Markdown: `test_manual.py` follows those."""

RULE: Final = re.compile(r"\b00[0-2]\.[a-z-]+\.\d+\b")
LINE_END: Final = re.compile(r"\s*\n\s*(?:(?:#|//|\*|--) )?\s*")
ELSEWHERE: Final = re.compile(
    r"\bwire facts\b|\bdocuments? 00\d|\bdesign \d|\bdesign, |\bcontract, |\(contract\)|\breliability F?\d"
    r"|\bappendi(?:x|ces) [A-E]\b|\.\./shared|\bthe facts\b|\(ruling\)",
    re.IGNORECASE,
)
"""Texts that the repository does not hold."""


def headings_of(page: str) -> list[str]:
    """The headings of a page, the longest first."""
    lines = page.splitlines()
    return sorted((line.lstrip("#").strip() for line in lines if re.match(r"##+ ", line)), key=len, reverse=True)


@functools.cache
def headings() -> dict[str, list[str]]:
    """The headings of each page that can be cited: the papers, and the manual with what is made of declarations."""
    papers = {name: page.read_text(encoding="utf-8") for name, page in PAPERS.items() if name != "CHANGELOG.md"}
    return {name: headings_of(text) for name, text in {**{n: make() for n, make in MANUAL.items()}, **papers}.items()}


def one_line(text: str) -> str:
    """The text with its line ends, and the comment signs behind them, as spaces."""
    return LINE_END.sub(" ", text)


def is_cited(name: str, following: str) -> bool:
    """Whether the text behind the name of a page is one of its headings."""
    return any(re.match(rf", {re.escape(heading)}(?!\w)", following) for heading in headings().get(name, ()))


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


FILE: Final = re.compile(
    r"(?<![\w/.*<{$-])(?:(?:[\w-]+/)+[\w-]+\.(?:py|js|css|json|sql|html|svg)|[\w-]+\.(?:py|js|css|sql|html))\b"
)
"""A file with its folders, or the name of a source alone."""

OTHER_PROJECTS: Final = frozenset(
    {"discord.py", "trio/_core/_run.py", "test_scheduler_determinism.py", "tests/admin/test_make_release.py"}
)
"""Files of others, and one of an earlier release."""


COMMENTS: Final = {
    ".py": r"\"\"\"[\s\S]*?\"\"\"|(?:^|  )#[^\n]*",
    ".js": r"/\*[\s\S]*?\*/|(?<![:\"'])//[^\n]*",
    ".css": r"/\*[\s\S]*?\*/",
    ".html": r"\{#[\s\S]*?#\}|<!--[\s\S]*?-->",
    ".sql": r"--[^\n]*",
}
"""What a source says to its readers: comments and docstrings."""


@functools.cache
def ends_of_paths() -> frozenset[str]:
    """Every file of the repository, by its path and by each end of it."""
    known = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True)
    paths = [line.split("/") for line in known.stdout.decode().splitlines()]
    return frozenset("/".join(parts[start:]) for parts in paths for start in range(len(parts)))


def lost_files(comments: str) -> list[str]:
    """Files that comments name and that are not there; what is in capitals stands for any name."""
    named = FILE.findall(comments)
    placeholders = re.compile(r"(?:.*[/_])?[A-Z]+[./].*")
    return [one for one in named if one not in ends_of_paths() | OTHER_PROJECTS and not placeholders.fullmatch(one)]


def test_every_file_that_a_comment_names_is_there() -> None:
    written = (*sources(), *(path for path in (ROOT / "tests").rglob("*") if path.suffix in CITING))
    lost = set()
    for path in written:
        comments = "\n".join(re.findall(COMMENTS[path.suffix], path.read_text(encoding="utf-8"), re.MULTILINE))
        lost |= {f"{path.relative_to(ROOT)}: {one}" for one in lost_files(comments)}
    assert sorted(lost) == [], "a comment names a file that is not there"


def test_what_counts_as_the_name_of_a_file() -> None:
    text = "see domain/policy/no_such_file.py, test_citations.py, snapshots/NAME/clock.json, a.b.c and gone_for_good.js"
    assert lost_files(text) == ["domain/policy/no_such_file.py", "gone_for_good.js"]


def test_every_rule_that_the_code_and_the_pages_cite_exists() -> None:
    rules = {
        rule["id"]
        for path in (ROOT / "spec_fixtures" / "rules").glob("*.json")
        for rule in json.loads(path.read_text(encoding="utf-8"))
    }
    for path in (*sources(), *PAPERS.values(), *FOLDER.glob("*.md")):
        assert set(RULE.findall(path.read_text(encoding="utf-8"))) <= rules, path


def test_no_paper_has_the_name_of_a_page_of_the_manual() -> None:
    """Else a citation could mean either; the index of each shelf is cited by neither."""
    assert PAPERS.keys() & MANUAL.keys() == {"index.md"}


def test_headings_of_a_paper_differ() -> None:
    for name in PAPERS.keys() & headings().keys():  # those of the manual have anchors, which differ
        assert len(set(headings()[name])) == len(headings()[name]), name


@pytest.mark.parametrize("name", sorted(set(PAPERS) - {"README.md", "CHANGELOG.md"}))
def test_pages_cite_headings_of_each_other(name: str) -> None:
    """A page names another one with a heading, or as a whole: then the page is there."""
    flat = one_line(PAPERS[name].read_text(encoding="utf-8"))
    for match in PAGE.finditer(flat):
        assert match.group() in PAPERS.keys() | MANUAL.keys(), match.group()
        following = flat[match.end() :]
        assert not re.match(r", [A-Z]", following) or is_cited(match.group(), following), following[:40]
