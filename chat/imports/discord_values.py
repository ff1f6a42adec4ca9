"""Single values of DiscordChatExporter's JSON, in which anything may stand."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from chat.imports.form import lone_surrogates_gone
from chat.snowflake import MAXIMUM

MILLISECONDS: Final = 1_000

NAME_CHARACTERS: Final = 100
"""The longest name of a channel, a role or a person."""


def number_of(value: object) -> int | None:
    """An id as text or as a number; None for any other value."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 20:
        value = int(value)
    return value if type(value) is int and 0 < value <= MAXIMUM else None


def text_of(value: object) -> str:
    """A text that UTF-8 can hold; the empty one for anything else."""
    return lone_surrogates_gone(value).replace("\0", "") if isinstance(value, str) else ""


def shown_text(value: object) -> str:
    """A name in one line, cut to NAME_CHARACTERS."""
    return " ".join(text_of(value).split())[:NAME_CHARACTERS]


def moment_ms(value: object) -> int | None:
    """A moment in ISO 8601, with any time zone, as Unix milliseconds; None for any other value, as `Invalid date`."""
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    try:
        return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * MILLISECONDS)
    except (OverflowError, ValueError, OSError):
        return None


def color_of(value: object) -> int:
    """A colour as `#RRGGBB`; 0 for none."""
    if isinstance(value, str) and len(value) == 7 and value[0] == "#":
        try:
            return int(value[1:], 16)
        except ValueError:
            return 0
    return 0


def whole_of(value: object, most: int) -> int:
    """A whole number of up to `most`; 0 for anything else."""
    return value if type(value) is int and 0 <= value <= most else 0


def objects_in(value: object) -> list[dict[str, object]]:
    """The objects of a list; none for anything else."""
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def object_in(value: object) -> dict[str, object]:
    """An object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}
