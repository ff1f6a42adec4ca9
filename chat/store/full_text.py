"""Questions to full-text indexes in the words that people type."""

from __future__ import annotations

import re
from typing import Final

WORDS_MAXIMUM: Final = 32
"""Words of one question; further ones are passed over."""

_WORD: Final = re.compile(r"\w", re.UNICODE)


def beginning_with(text: str) -> str | None:
    """The text in the language of FTS5: whatever has words that begin with each of its words. Nothing of the text can
    mean anything else there. None where there is nothing in it to look for."""
    words = [word for word in text.replace("\0", " ").split() if _WORD.search(word)]
    if not words:
        return None
    return " ".join('"' + word.replace('"', '""') + '"*' for word in words[:WORDS_MAXIMUM])
