"""Docstrings in the words of the OpenAPI document: readers of the source see where things are from, others do not."""

from __future__ import annotations

import inspect
import re
from typing import Final

_SOURCES: Final = re.compile(r"\s*\([^()]*\b(?:[a-z_]+\.md,\s|conventions of)[^()]*\)")
_BODY_OF: Final = re.compile(r"The body of [A-Z…/]\S* ?\S*\.", re.DOTALL)


def told(docstring: str | None) -> tuple[str, str]:
    """The first sentences without their full stop, and the further paragraphs in Markdown; fields are left out."""
    plain = _SOURCES.sub("", inspect.cleandoc(docstring or "")).replace("``", "`")
    summary, *rest = [" ".join(paragraph.split()) for paragraph in plain.split("\n\n")]
    return summary.removesuffix("."), "\n\n".join(paragraph for paragraph in rest if not paragraph.startswith(":"))


def described(docstring: str | None) -> str:
    """All of it as one description; empty where it says no more than which operation it is for."""
    summary, rest = told(docstring)
    whole = f"{summary}.\n\n{rest}".strip() if summary else ""
    return "" if _BODY_OF.fullmatch(whole) else whole
