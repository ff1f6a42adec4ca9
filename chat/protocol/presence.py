"""Presence as clients select it: in Identify, and with opcode 3 (gateway.md, Presence Update)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from chat.protocol.absent import ABSENT, Absent
from chat.registries.close_codes import INVALID_PRESENCE_PAYLOAD, Close
from chat.registries.statuses import Status

CustomStatusInput = Mapping[str, Any] | None | Absent
"""A custom status not yet judged (`chat.protocol.custom_status` does): null clears, ABSENT keeps."""


@attrs.frozen
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


@attrs.frozen
class PresenceUpdate:
    """Opcode 3."""

    status: Status
    afk: bool
    mobile: bool
    custom_status: CustomStatusInput


def parse_initial_presence(value: Any) -> InitialPresence | None:
    """Read Identify's `presence`; whatever is no object counts as none, for clients send all sorts (gateway.md,
    Presence Update)."""
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
        status=status,
        afk=d.get("afk") is True,
        mobile=d.get("mobile") is True,
        custom_status=_custom_status_input(d),
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
