"""The presence of one account, as the sum of what its sessions select (gateway.md, Presences)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import attrs

from chat import wire
from chat.classes import define, frozen
from chat.clock import iso_timestamp
from chat.protocol.payload import ABSENT
from chat.protocol.presence import CustomStatus, InitialPresence, parse_custom_status
from chat.registries.statuses import PUBLISHED_STATUSES, STATUS_PRECEDENCE, Status

ALL_SESSIONS: Final = "all"
"""The session id under which the aggregate stands among the session presences (gateway.md, Presences)."""


@frozen
class SessionPresence:
    """What one session selected."""

    status: Status = attrs.field(converter=Status)
    afk: bool = False
    mobile: bool = False
    custom_status: CustomStatus | None = None


NO_SESSION: Final = SessionPresence(Status.OFFLINE)


@frozen
class AccountPresence:
    """What others see of an account; `status` is one of PUBLISHED_STATUSES."""

    status: Status = Status.OFFLINE
    afk: bool = False
    mobile: bool = False
    custom_status: CustomStatus | None = None


OFFLINE: Final = AccountPresence()


def initial_presence(
    initial: InitialPresence | None,
    properties_mobile: bool,
    saved_status: str,
    saved_custom_status: Mapping[str, Any] | None,
) -> SessionPresence:
    """The presence of a session that starts (gateway.md, Identify).

    `initial` is Identify's `presence`; `properties_mobile`, from its properties, counts only without one. The saved
    values are the account's settings as the wire has them. A custom status that has run out is never shown, so whether
    `expires_at` lies ahead is not asked here.
    """
    saved = Status(saved_status)
    if saved_custom_status is not None:
        custom_status = parse_custom_status(dict(saved_custom_status), now_ms=0)
    elif initial is None or initial.custom_status is ABSENT:
        custom_status = None
    else:
        custom_status = parse_custom_status(initial.custom_status, now_ms=0)
    if initial is None:
        return SessionPresence(saved, afk=False, mobile=properties_mobile, custom_status=custom_status)
    return SessionPresence(initial.status_over(saved), initial.afk, initial.mobile, custom_status)


def taking_on(presence: SessionPresence, settings: Mapping[str, Any]) -> SessionPresence:
    """The presence of a session whose account now has this `status` and `custom_status` in its settings, or one of the
    two; afk and mobile are the session's own."""
    status, custom_status = presence.status, presence.custom_status
    if "status" in settings:
        status = Status(settings["status"])
    if "custom_status" in settings:
        saved = settings["custom_status"]
        custom_status = None if saved is None else parse_custom_status(dict(saved), now_ms=0)
    return SessionPresence(status, presence.afk, presence.mobile, custom_status)


@define(eq=False)
class _PresenceSelection:
    """A session's presence, and whether it counts."""

    presence: SessionPresence
    counts: bool = True


@define(kw_only=True, eq=False)
class AccountSessions:
    """The sessions of one account, added up as they come and go: a bot may have thousands."""

    bot: bool
    selections: dict[str, _PresenceSelection] = attrs.field(factory=dict, init=False)
    _statuses: dict[Status, int] = attrs.field(factory=lambda: dict.fromkeys(STATUS_PRECEDENCE, 0), init=False)
    _mobile: int = attrs.field(default=0, init=False)
    """Counting sessions that are online and mobile."""
    _away: int = attrs.field(default=0, init=False)
    """Counting sessions that are away."""
    _chose: dict[str, None] = attrs.field(factory=dict, init=False)
    """Sessions that chose a custom status, the latest choice last."""

    def select(self, session_id: str, presence: SessionPresence) -> None:
        """The session counts from now on, with this presence."""
        selection = self.selections.get(session_id)
        before = None if selection is None else selection.presence.custom_status
        if presence.custom_status != before:
            self._chose.pop(session_id, None)
            self._chose[session_id] = None
        self.drop(session_id)
        self.selections[session_id] = _PresenceSelection(presence)
        self._add(presence, 1)

    def take_on(self, settings: Mapping[str, Any]) -> None:
        """Every session takes the saved presence on, those that do not count included."""
        for selection in self.selections.values():
            if selection.counts:
                self._add(selection.presence, -1)
            selection.presence = taking_on(selection.presence, settings)
            if selection.counts:
                self._add(selection.presence, 1)
        if "custom_status" in settings:
            self._chose = dict.fromkeys(self.selections)

    def drop(self, session_id: str) -> None:
        """The session no longer counts."""
        selection = self.selections.get(session_id)
        if selection is not None and selection.counts:
            selection.counts = False
            self._add(selection.presence, -1)

    def close(self, session_id: str) -> None:
        """The session is over."""
        self.drop(session_id)
        self.selections.pop(session_id, None)
        self._chose.pop(session_id, None)

    def _add(self, presence: SessionPresence, change: int) -> None:
        self._statuses[presence.status] += change
        self._mobile += change * (presence.mobile and presence.status is Status.ONLINE)
        self._away += change * presence.afk

    @property
    def status(self) -> Status:
        """The account's own status: the first in the order of precedence that any of its sessions has."""
        for status in STATUS_PRECEDENCE:
            if self._statuses[status]:
                return status
        return Status.OFFLINE

    @property
    def mobile(self) -> bool:
        """Whether the account is resolved online, and one of its online sessions is mobile."""
        return self.status is Status.ONLINE and self._mobile > 0

    @property
    def afk(self) -> bool:
        """Whether all sessions are away, and the account does not count as mobile."""
        return not self.mobile and 0 < self._away == sum(self._statuses.values())

    @property
    def is_attended(self) -> bool:
        """Whether one of its sessions is not away, or asks not to be disturbed."""
        return self._away < sum(self._statuses.values()) or self._statuses[Status.DND] > 0

    @property
    def custom_status(self) -> CustomStatus | None:
        """The custom status that was chosen last in a session that counts."""
        for session_id in reversed(self._chose):
            if self.selections[session_id].counts:
                return self.selections[session_id].presence.custom_status
        return None

    def presences(self) -> list[wire.SessionPresence]:
        """The session presence objects: the sum of all sessions first, then each that counts."""
        found = [session_presence(ALL_SESSIONS, self)]
        for session_id, selection in self.selections.items():
            if selection.counts:
                found.append(session_presence(session_id, selection.presence))
        return found

    def as_others_see(self, now_ms: int) -> AccountPresence:
        """The account's presence with invisible as offline, and without a custom status that has run out."""
        status = self.status
        if status is Status.OFFLINE or status not in PUBLISHED_STATUSES:
            return OFFLINE
        custom_status = self.custom_status
        if custom_status is not None and custom_status.expires_at_ms is not None:
            custom_status = custom_status if custom_status.expires_at_ms > now_ms else None
        return AccountPresence(status, self.afk, self.mobile, custom_status)


def session_presence(session_id: str, presence: SessionPresence | AccountSessions) -> wire.SessionPresence:
    """The session presence object of a session or, for ALL_SESSIONS, of their sum (gateway.md, Presences)."""
    return {"session_id": session_id, "status": presence.status, "afk": presence.afk, "mobile": presence.mobile}


def custom_status_object(custom_status: CustomStatus | None, *, animated: bool) -> wire.CustomStatus | None:
    """The custom status inside a presence object; `animated` says whether its emoji moves."""
    if custom_status is None:
        return None
    expires_at_ms, emoji_id = custom_status.expires_at_ms, custom_status.emoji_id
    return {
        "text": custom_status.text,
        "expires_at": None if expires_at_ms is None else iso_timestamp(expires_at_ms),
        "emoji_id": None if emoji_id is None else str(emoji_id),
        "emoji_name": custom_status.emoji_name,
        "emoji_animated": animated,
    }
