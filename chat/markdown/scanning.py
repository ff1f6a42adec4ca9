"""What stands in a text, character by character, as server and client tell it alike (`client/text/scanning.js`). Each
look is over in one pass.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

BLANK: Final = r"\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
"""Blanks, for a class of characters: what `\\s` means differs between languages."""

ESCAPE: Final = r"\\[!-/:-@\[-`{-~]"
"""A mark that stands for itself."""

_UNSPACED: Final = re.compile(
    r"[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003fffd]"
)
"""Scripts without spaces between words: marks open and close beside their punctuation."""

_BLANKS: Final = re.compile(f"[{BLANK}]*")
_TICKS: Final = re.compile("`+")


def is_blank(text: str) -> bool:
    """Whether there are only blanks."""
    return _BLANKS.fullmatch(text) is not None


def run_length(text: str, at: int) -> int:
    """How often a character stands here in a row."""
    mark, end = text[at], at + 1
    while end < len(text) and text[end] == mark:
        end += 1
    return end - at


def closing_ticks(text: str, start: int, ticks: int) -> int:
    """Where the next run of exactly this number of back ticks begins; -1 for none."""
    for run in _TICKS.finditer(text, start):
        if run.end() - run.start() == ticks:
            return run.start()
    return -1


def flanking(text: str, at: int, length: int) -> tuple[bool, bool]:
    """Whether a run of marks may open and may close something, by what stands beside it (CommonMark, Emphasis)."""
    before = text[at - 1] if at else "\n"
    after = text[at + length] if at + length < len(text) else "\n"
    blank_before, blank_after = is_blank(before), is_blank(after)
    point_before, point_after = _is_punctuation(before), _is_punctuation(after)
    left = not blank_after and (not point_after or blank_before or point_before or _is_unspaced(before))
    right = not blank_before and (not point_before or blank_after or point_after or _is_unspaced(after))
    if text[at] != "_":
        return left, right
    return left and (not right or point_before), right and (not left or point_after)


def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"


def _is_unspaced(character: str) -> bool:
    return _UNSPACED.match(character) is not None
