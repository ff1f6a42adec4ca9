"""Presence: what the gateway sessions of an account select, and what others see of the account as a whole.

Each session selects a status for itself. The account's presence is their aggregate (wire facts 1.7): among the sessions
that count, the first status of the order of precedence; invisible is shown to others as offline; the custom status is
the one chosen last. A session counts from its start until its socket has been gone for 5,000 ms, and again once it is
resumed.

Everything is in memory and on the loop's thread. What others see is published only when it changed.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import attrs
import trio

from chat.bus.audience import ToAccounts, ToPresenceSubscribers
from chat.bus.bus import Bus, Event
from chat.clock import Clock, iso_timestamp
from chat.protocol.absent import ABSENT
from chat.protocol.custom_status import CustomStatus, parse_custom_status
from chat.protocol.presence import InitialPresence
from chat.registries.events import EventName
from chat.registries.statuses import PUBLISHED_STATUSES, STATUS_PRECEDENCE, Status

ALL_SESSIONS: Final = "all"
"""The session id under which the aggregate stands among the session presences (wire facts 1.7)."""


@attrs.frozen
class SessionPresence:
    """What one session selected."""

    status: Status = attrs.field(converter=Status)
    afk: bool = False
    mobile: bool = False
    custom_status: CustomStatus | None = None


@attrs.frozen
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
    """The presence of a session that starts (wire facts 1.2, Initial status rules).

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


def resolved_status(presences: Iterable[SessionPresence]) -> Status:
    """The account's own status: the first in the order of precedence that any of its sessions has."""
    selected = {presence.status for presence in presences}
    return next((status for status in STATUS_PRECEDENCE if status in selected), Status.OFFLINE)


def is_mobile(status: Status, presences: Iterable[SessionPresence]) -> bool:
    """Whether the account counts as mobile: resolved online, and one of its online sessions is mobile."""
    return status is Status.ONLINE and any(
        presence.mobile for presence in presences if presence.status is Status.ONLINE
    )


@attrs.define(eq=False)
class _Selection:
    """A session's presence, whether it counts, and when (in order) its custom status was chosen."""

    presence: SessionPresence
    counts: bool = True
    custom_status_order: int = 0


class Presences:
    """The presences of all accounts with gateway sessions, and how many of each guild are online.

    `friends_of` names the accounts that are told without asking; `partial_user_of` gives the user object.
    """

    def __init__(
        self,
        bus: Bus,
        clock: Clock,
        *,
        friends_of: Callable[[int], tuple[int, ...]],
        partial_user_of: Callable[[int], dict[str, Any]],
    ) -> None:
        self._bus = bus
        self._clock = clock
        self._friends_of = friends_of
        self._partial_user_of = partial_user_of
        self._selections: dict[int, dict[str, _Selection]] = {}
        self._published: dict[int, AccountPresence] = {}
        """Accounts that are not offline."""
        self._connected: dict[int, set[int]] = {}
        self._guilds: dict[int, set[int]] = {}
        self._online_counts: dict[int, int] = {}
        self._custom_status_changes = 0
        self._expiries: list[tuple[int, int]] = []
        self._earlier_expiry = trio.Event()

    # Sessions

    def session_selected(self, user_id: int, session_id: str, presence: SessionPresence) -> None:
        """A session opened, chose another presence, or was resumed."""
        before = self.session_presences(user_id)
        selections = self._selections.setdefault(user_id, {})
        selection = selections.get(session_id)
        opened = selection is None
        if selection is None:
            selection = selections[session_id] = _Selection(presence)
            chosen = presence.custom_status is not None
        else:
            chosen = presence.custom_status != selection.presence.custom_status
            selection.presence, selection.counts = presence, True
        if chosen:
            self._custom_status_changes += 1
            selection.custom_status_order = self._custom_status_changes
        # A session that opens has the list in its Ready.
        self._settle(user_id, before, told=session_id if opened else None)

    def session_offline(self, user_id: int, session_id: str) -> None:
        """The session's socket has been gone for 5,000 ms: it no longer counts, but may be resumed."""
        selection = self._selections.get(user_id, {}).get(session_id)
        if selection is None or not selection.counts:
            return
        before = self.session_presences(user_id)
        selection.counts = False
        self._settle(user_id, before)

    def session_closed(self, user_id: int, session_id: str) -> None:
        """The session is over."""
        selections = self._selections.get(user_id, {})
        if session_id not in selections:
            return
        before = self.session_presences(user_id)
        del selections[session_id]
        if not selections:
            del self._selections[user_id]
        self._settle(user_id, before)

    # What is seen

    def aggregate(self, user_id: int) -> AccountPresence:
        """The account's presence as others see it."""
        return self._published.get(user_id, OFFLINE)

    def is_online(self, user_id: int) -> bool:
        """Whether others see the account as anything but offline."""
        return user_id in self._published

    def session_presences(self, user_id: int) -> list[dict[str, Any]]:
        """What the account is told of its own sessions: the aggregate first, unmasked, then each that counts."""
        counting = [
            (session_id, selection.presence)
            for session_id, selection in self._selections.get(user_id, {}).items()
            if selection.counts
        ]
        presences = [presence for _, presence in counting]
        status = resolved_status(presences)
        mobile = is_mobile(status, presences)
        return [
            _session_presence(ALL_SESSIONS, status, _is_afk(presences, mobile), mobile),
            *(
                _session_presence(session_id, presence.status, presence.afk, presence.mobile)
                for session_id, presence in counting
            ),
        ]

    def presence_object(
        self, user_id: int, *, guild_id: int | None = None, user: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """The presence object of wire facts 1.7; `user` is the user object where it is at hand already."""
        presence = self.aggregate(user_id)
        data: dict[str, Any] = {
            "user": self._partial_user_of(user_id) if user is None else user,
            "status": presence.status,
            "mobile": presence.mobile,
            "afk": presence.afk,
            "custom_status": _custom_status_object(presence.custom_status),
        }
        if guild_id is not None:
            data["guild_id"] = str(guild_id)
        return data

    # Guilds

    def account_connected(self, guild_id: int, user_id: int) -> None:
        """The account has a session in the guild from now on."""
        connected = self._connected.setdefault(guild_id, set())
        if user_id in connected:
            return
        connected.add(user_id)
        self._guilds.setdefault(user_id, set()).add(guild_id)
        if self.is_online(user_id):
            self._count(guild_id, 1)

    def account_disconnected(self, guild_id: int, user_id: int) -> None:
        """The account's last session has left the guild."""
        connected = self._connected.get(guild_id, set())
        if user_id not in connected:
            return
        connected.discard(user_id)
        if not connected:
            del self._connected[guild_id]
        guilds = self._guilds[user_id]
        guilds.discard(guild_id)
        if not guilds:
            del self._guilds[user_id]
        if self.is_online(user_id):
            self._count(guild_id, -1)

    def online_count(self, guild_id: int) -> int:
        """How many members of the guild others see as anything but offline."""
        return self._online_counts.get(guild_id, 0)

    def _count(self, guild_id: int, change: int) -> None:
        count = self._online_counts.get(guild_id, 0) + change
        if count:
            self._online_counts[guild_id] = count
        else:
            self._online_counts.pop(guild_id, None)

    # Publication

    def _settle(self, user_id: int, before: list[dict[str, Any]], told: str | None = None) -> None:
        """Publish what changed: to the account the list of its sessions, to others the aggregate.

        The session `told` learns the list in another way.
        """
        sessions = self.session_presences(user_id)
        if sessions != before and not self._is_bot(user_id):
            self._bus.publish(
                Event(EventName.SESSIONS_REPLACE, sessions, ToAccounts((user_id,)), ignoring_session=told)
            )
        self._publish_aggregate(user_id)

    def _publish_aggregate(self, user_id: int) -> None:
        previous, presence = self.aggregate(user_id), self._computed(user_id)
        if presence == previous:
            return
        if presence.status is Status.OFFLINE:
            del self._published[user_id]
        else:
            self._published[user_id] = presence
        change = (presence.status is not Status.OFFLINE) - (previous.status is not Status.OFFLINE)
        if change:
            for guild_id in self._guilds.get(user_id, ()):
                self._count(guild_id, change)
        self._expect_expiry(user_id, presence)
        data = self.presence_object(user_id)
        friends = self._friends_of(user_id)
        if friends:
            self._bus.publish(Event(EventName.PRESENCE_UPDATE, data, ToAccounts(friends)))
        self._bus.publish(Event(EventName.PRESENCE_UPDATE, data, ToPresenceSubscribers(user_id, without=friends)))

    def _computed(self, user_id: int) -> AccountPresence:
        selections = [selection for selection in self._selections.get(user_id, {}).values() if selection.counts]
        presences = [selection.presence for selection in selections]
        status = resolved_status(presences)
        if status not in PUBLISHED_STATUSES or status is Status.OFFLINE:
            return OFFLINE
        mobile = is_mobile(status, presences)
        chosen = max(selections, key=lambda selection: selection.custom_status_order).presence.custom_status
        if chosen is not None and chosen.expires_at_ms is not None and chosen.expires_at_ms <= self._clock.now_ms():
            chosen = None
        return AccountPresence(status, _is_afk(presences, mobile), mobile, chosen)

    def _is_bot(self, user_id: int) -> bool:
        return bool(self._partial_user_of(user_id).get("bot", False))

    # Custom statuses that end

    def _expect_expiry(self, user_id: int, presence: AccountPresence) -> None:
        custom_status = presence.custom_status
        if custom_status is None or custom_status.expires_at_ms is None:
            return
        heapq.heappush(self._expiries, (custom_status.expires_at_ms, user_id))
        if self._expiries[0] == (custom_status.expires_at_ms, user_id):
            self._earlier_expiry.set()

    async def expire_custom_statuses(self) -> None:
        """Take custom statuses away when their time has come; runs until cancelled."""
        while True:
            self._earlier_expiry = trio.Event()
            now_ms = self._clock.now_ms()
            while self._expiries and self._expiries[0][0] <= now_ms:
                self._publish_aggregate(heapq.heappop(self._expiries)[1])
            seconds = (self._expiries[0][0] - now_ms) / 1000 if self._expiries else float("inf")
            with trio.move_on_after(min(seconds, _LONGEST_WAIT_SECONDS)):
                await self._earlier_expiry.wait()


_LONGEST_WAIT_SECONDS: Final = 3600.0
"""The time of day may be set anew while we wait for a moment far ahead."""


def _is_afk(presences: list[SessionPresence], mobile: bool) -> bool:
    return not mobile and bool(presences) and all(presence.afk for presence in presences)


def _session_presence(session_id: str, status: Status, afk: bool, mobile: bool) -> dict[str, Any]:
    return {"session_id": session_id, "status": status, "afk": afk, "mobile": mobile}


def _custom_status_object(custom_status: CustomStatus | None) -> dict[str, Any] | None:
    if custom_status is None:
        return None
    expires_at_ms, emoji_id = custom_status.expires_at_ms, custom_status.emoji_id
    return {
        "text": custom_status.text,
        "expires_at": None if expires_at_ms is None else iso_timestamp(expires_at_ms),
        "emoji_id": None if emoji_id is None else str(emoji_id),
        "emoji_name": custom_status.emoji_name,
        # Guild emojis, the only ones that move, do not exist here yet.
        "emoji_animated": False,
    }
