"""Markdown that is made by the program: tables, and texts of declarations that are no markup."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_MARKUP: Final = re.compile(r"([*_<>\[\]#])(?=[^`]*(?:`[^`]*`[^`]*)*$)")


def cell(text: str) -> str:
    """A text in which nothing but backquotes is markup, in one line."""
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table; cells may have markup."""
    titles = list(head)
    lines = [titles, ["---"] * len(titles), *([one.replace("|", "\\|") for one in row] for row in rows)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def link(text: str, page: str, anchor: str) -> str:
    """A link to a heading of another page."""
    return f"[{text}]({page}.md#{anchor})"


def page(title: str, about: str, *sections: str) -> str:
    """A page of Markdown."""
    return "\n\n".join((f"# {title}", about, *sections)) + "\n"
