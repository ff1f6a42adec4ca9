"""Emojis by the names that other services have for them, such as `thumbsup`, and by the numbers of their characters."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Final

from chat.registries.unicode_emojis import fully_qualified

_TONE: Final = re.compile(r"(.+?)(?:::skin-tone-|_tone|_skin_tone_)([1-6])")
_FIRST_TONE: Final = 0x1F3FB
_NAME_CHARACTERS: Final = 100


def emoji_named(name: str) -> str | None:
    """The emoji of that name, with the tone of skin behind it (`wave::skin-tone-2`); None where there is none."""
    name = name.strip(":").lower()[:_NAME_CHARACTERS]
    found = _table().get(name)
    if found is not None:
        return found
    toned = _TONE.fullmatch(name)
    base = None if toned is None else _table().get(toned[1])
    if toned is None or base is None:
        return None
    step = int(toned[2]) - (2 if "::" in name else 1)
    return (fully_qualified(base + chr(_FIRST_TONE + step)) if 0 <= step <= 4 else None) or base


def emoji_of(code: str) -> str | None:
    """The emoji with these code points, as `1f44d-1f3fb`; None where they make none."""
    try:
        return fully_qualified("".join(chr(int(one, 16)) for one in code.split("-")))
    except (ValueError, OverflowError):
        return None


@functools.cache
def _table() -> Mapping[str, str]:
    import emoji

    found: dict[str, str] = {}
    for character, told in emoji.EMOJI_DATA.items():
        whole = fully_qualified(character)
        if whole is not None:
            for name in (told["en"], *told.get("alias", ())):
                found.setdefault(name.strip(":").lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", ""), whole)
    return found
