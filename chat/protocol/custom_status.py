"""Custom status: a line of text and an emoji, for a while (accounts.md, User settings)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

import attrs

from chat.protocol.absent import ABSENT
from chat.protocol.presence import CustomStatusInput
from chat.protocol.snowflake_text import parse_snowflake
from chat.protocol.visible_text import is_empty, without_nul
from chat.registries.limits import CUSTOM_STATUS_EMOJI_NAME_CHARACTERS, CUSTOM_STATUS_TEXT_CHARACTERS


@attrs.frozen
class CustomStatus:
    """What stands beside an account's status; `expires_at_ms` in Unix milliseconds."""

    text: str | None = None
    expires_at_ms: int | None = None
    emoji_id: int | None = None
    emoji_name: str | None = None


class _Invalid(Exception):
    """A member breaks its rule."""


def choose_custom_status(given: CustomStatusInput, kept: CustomStatus | None, now_ms: int) -> CustomStatus | None:
    """The custom status after a selection: null clears; what is absent or invalid keeps the one that was there."""
    if given is ABSENT:
        return kept
    if given is None:
        return None
    chosen = parse_custom_status(given, now_ms)
    return kept if chosen is None else chosen


def parse_custom_status(value: Any, now_ms: int) -> CustomStatus | None:
    """Read a custom status object; None when a member breaks its rule. `expires_at` must lie after `now_ms`."""
    if type(value) is not dict:
        return None
    try:
        emoji_id = _emoji_id(value)
        return CustomStatus(
            text=_text(value, "text", CUSTOM_STATUS_TEXT_CHARACTERS),
            expires_at_ms=_expires_at_ms(value, now_ms),
            emoji_id=emoji_id,
            emoji_name=_text(value, "emoji_name", CUSTOM_STATUS_EMOJI_NAME_CHARACTERS) if emoji_id is None else None,
        )
    except _Invalid:
        return None


def _text(status: Mapping[str, Any], member: str, maximum: int) -> str | None:
    value = status.get(member)
    if value is None:
        return None
    if type(value) is str and not is_empty(value) and len(value) <= maximum:
        return without_nul(value)
    raise _Invalid


def _emoji_id(status: Mapping[str, Any]) -> int | None:
    value = status.get("emoji_id")
    if value is None:
        return None
    emoji_id = parse_snowflake(value)
    if emoji_id is None:
        raise _Invalid
    return emoji_id


def _expires_at_ms(status: Mapping[str, Any], now_ms: int) -> int | None:
    value = status.get("expires_at")
    if value is None:
        return None
    expires_at_ms = parse_timestamp(value)
    if expires_at_ms is None or expires_at_ms <= now_ms:
        raise _Invalid
    return expires_at_ms


_TIMESTAMP: Final = re.compile(r"\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})", re.ASCII)
_UNIX_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def parse_timestamp(value: Any) -> int | None:
    """Unix milliseconds of an ISO 8601 text with its offset (RFC 3339), or None."""
    if type(value) is not str or not _TIMESTAMP.fullmatch(value):
        return None
    try:
        moment = datetime.fromisoformat(value.upper())
        return round((moment - _UNIX_EPOCH).total_seconds() * 1000)
    except (ValueError, OverflowError):
        return None
