"""Presence as clients select it, in Identify and with opcode 3 (gateway.md, Presence Update), and the custom status: a
line of text and an emoji, for a while (accounts.md, User settings)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from chat.classes import frozen
from chat.protocol.payload import ABSENT, Absent, parse_snowflake
from chat.protocol.visible_text import is_empty, without_nul
from chat.registries.close_codes import INVALID_PRESENCE_PAYLOAD, Close
from chat.registries.limits import CUSTOM_STATUS_EMOJI_NAME_CHARACTERS, CUSTOM_STATUS_TEXT_CHARACTERS
from chat.registries.statuses import Status

CustomStatusInput = Mapping[str, Any] | None | Absent
"""A custom status not yet judged (see `choose_custom_status`): null clears, ABSENT keeps."""


@frozen
class InitialPresence:
    """Identify's `presence`. A status of None leaves the choice to what the account has saved."""

    status: Status | None
    afk: bool
    mobile: bool
    custom_status: CustomStatusInput

    def status_over(self, saved: Status) -> Status:
        """The session's first status: `online` does not win over a saved status that differs."""
        if self.status is None or self.status is Status.ONLINE:
            return saved
        return self.status


@frozen
class PresenceUpdate:
    """Opcode 3."""

    status: Status
    afk: bool
    mobile: bool
    custom_status: CustomStatusInput


def parse_initial_presence(value: Any) -> InitialPresence | None:
    """Read Identify's `presence`; what is no object counts as none, for clients send all sorts (gateway.md, Presence
    Update)."""
    if type(value) is not dict:
        return None
    return InitialPresence(
        status=_initial_status(value.get("status")),
        afk=value.get("afk") is True,
        mobile=value.get("mobile") is True,
        custom_status=_custom_status_input(value),
    )


def _initial_status(value: Any) -> Status | None:
    if value == "":
        return Status.ONLINE
    return _named_status(value)


def parse_presence_update(d: Any) -> PresenceUpdate | Close:
    """Read opcode 3; no status, or an unknown one, closes 4002 `Invalid presence payload`."""
    if type(d) is not dict or "status" not in d:
        return INVALID_PRESENCE_PAYLOAD
    status = _selected_status(d["status"])
    if status is None:
        return INVALID_PRESENCE_PAYLOAD
    return PresenceUpdate(
        status=status, afk=d.get("afk") is True, mobile=d.get("mobile") is True, custom_status=_custom_status_input(d)
    )


def _selected_status(value: Any) -> Status | None:
    if value is None or type(value) is bool:
        return Status.OFFLINE
    if type(value) is not str or value == "":
        return Status.ONLINE
    status = _named_status(value)
    return Status.INVISIBLE if status is Status.OFFLINE else status


def _named_status(value: Any) -> Status | None:
    try:
        return Status(value)
    except ValueError:
        return None


def _custom_status_input(presence: Mapping[str, Any]) -> CustomStatusInput:
    value = presence.get("custom_status", ABSENT)
    if value is None or type(value) is dict:
        return value
    return ABSENT


@frozen
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
