"""What of a text can be seen (http.md, Validation): text of nothing but white space, NUL, zero-width and other
invisible characters counts as empty, and NUL never reaches a client.

Beside other characters the invisible ones stay: emoji are made with joiners, and scripts are written with marks.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_UNSEEN: Final = (
    "\x00-\x20\x7f-\xa0\xad"  # control characters, spaces, the soft hyphen
    "\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f"  # joiners, marks of direction, fillers
    "\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164"  # spaces, zero-width characters, the blank Braille cell
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"  # variation selectors, the byte order mark, annotation marks
    "\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a"  # shorthand and music
    "\U000e0000-\U000e0fff"  # tags, further variation selectors
)
_VISIBLE: Final = re.compile(f"[^{_UNSEEN}]")
_AROUND: Final = re.compile(f"\\A[{_UNSEEN}]+|[{_UNSEEN}]+\\Z")


def is_empty(text: str) -> bool:
    """Whether there is nothing to be seen in the text."""
    return _VISIBLE.search(text) is None


def without_nul(text: str) -> str:
    """The text without NUL."""
    return text.replace("\x00", "") if "\x00" in text else text


def visible(text: str) -> str:
    """The text without NUL; nothing where there is nothing to be seen."""
    return "" if is_empty(text) else without_nul(text)


def trimmed(text: str) -> str:
    """The text without what stands before and behind it and cannot be seen, in NFC: what pasting and keyboards leave
    around an address or a username."""
    return unicodedata.normalize("NFC", _AROUND.sub("", text))


def tidy(text: str) -> str:
    """A name or another line as it is stored: in NFC, without control characters and surrounding white space (http.md,
    Validation); nothing where there is nothing to be seen."""
    composed = unicodedata.normalize("NFC", text)
    return visible("".join(character for character in composed if unicodedata.category(character) != "Cc")).strip()
