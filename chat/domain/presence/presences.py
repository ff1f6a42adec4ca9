"""Presence: what the gateway sessions of an account select, and what others see of the account as a whole.

Each session selects a status for itself. The account's presence is their aggregate (gateway.md, Presences): among the
sessions that count, the first status of the order of precedence; invisible is shown to others as offline; the custom
status is the one chosen last. A session counts from its start until its socket has been gone for 5,000 ms, and again
once it is resumed.

Everything is in memory and on the loop's thread. What others see is published only when it changed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Set
from contextlib import contextmanager
from typing import Final

import attrs
import trio

from chat import wire
from chat.bus.audience import ToAccounts, ToPresenceSubscribers, ToUnsubscribed
from chat.bus.bus import (
    AccountDisconnected,
    AccountShownDifferently,
    AcquaintanceChanged,
    Bus,
    Event,
    SavedPresenceChanged,
    Turn,
)
from chat.classes import define, frozen
from chat.clock import Clock
from chat.domain.presence.account_presence import (
    ALL_SESSIONS,
    NO_SESSION,
    OFFLINE,
    AccountPresence,
    AccountSessions,
    SessionPresence,
    custom_status_object,
    session_presence,
)
from chat.domain.standing.relationships import RelationshipType
from chat.registries.events import EventName
from chat.registries.statuses import Status
from chat.store.database import Database
from chat.store.standing import private_channels, relationships

_LONGEST_WAIT_SECONDS: Final = 3600.0
"""The time of day may be set anew while we wait for a moment far ahead."""


@frozen
class Known:
    """What is known already of an account whose session starts: its user object, and who is told of it without
    asking."""

    user: wire.PartialUser
    friends: tuple[int, ...]


@define(eq=False)
class Presences:
    """The presences of all accounts with gateway sessions, and how many of each guild are online."""

    _bus: Bus
    _clock: Clock
    _friends_of: Callable[[int], tuple[int, ...]] = attrs.field(kw_only=True)
    """The accounts that are told without asking, and of whom it is told in turn."""
    _partial_user_of: Callable[[int], wire.PartialUser] = attrs.field(kw_only=True)
    """The user object."""
    _are_acquainted: Callable[[int, int], bool] = attrs.field(
        default=attrs.Factory(
            lambda presences: lambda one_id, other_id: other_id in presences._friends_of(one_id), takes_self=True
        ),
        kw_only=True,
    )
    """Whether one account is among the friends of another, asked where all of them are not needed."""
    _is_animated: Callable[[int], bool] = attrs.field(default=lambda emoji_id: False, kw_only=True)
    """Whether a guild's emoji moves."""
    _blocks_text: Callable[[str], bool] = attrs.field(default=lambda text: False, kw_only=True)
    """Whether a custom status may not be shown."""
    _accounts: dict[int, AccountSessions] = attrs.field(factory=dict, init=False)
    _published: dict[int, AccountPresence] = attrs.field(factory=dict, init=False)
    """Accounts that are not offline."""
    _connected: dict[int, set[int]] = attrs.field(factory=dict, init=False)
    """For each guild the accounts with a session in it."""
    _guilds: dict[int, set[int]] = attrs.field(factory=dict, init=False)
    """The same by account."""
    _online_counts: dict[int, int] = attrs.field(factory=dict, init=False)
    _expiries: dict[int, int] = attrs.field(factory=dict, init=False)
    """When the custom statuses that others see run out (Unix milliseconds), by account."""
    _awaited_ms: float = attrs.field(default=math.inf, init=False)
    _sooner: trio.Event = attrs.field(factory=trio.Event, init=False)

    def __attrs_post_init__(self) -> None:
        self._bus.subscribe(AcquaintanceChanged, self._look_at_acquaintance, Turn.STATE)
        self._bus.subscribe(AccountShownDifferently, self._shown_differently, Turn.STATE)
        self._bus.subscribe(SavedPresenceChanged, self._saved_differently, Turn.STATE)

    # Sessions

    def session_selected(
        self, user_id: int, session_id: str, presence: SessionPresence, known: Known | None = None
    ) -> None:
        """A session opened, chose another presence, or was resumed."""
        account = self._accounts.get(user_id)
        if account is None:
            user = self._partial_user_of(user_id) if known is None else known.user
            account = self._accounts[user_id] = AccountSessions(bot=bool(user.get("bot", False)))
        # A session that opens has the list of sessions in its Ready.
        told = None if session_id in account.selections else session_id
        with self._publishing(user_id, account, told, known):
            account.select(session_id, presence)

    def session_offline(self, user_id: int, session_id: str) -> None:
        """The session's socket has been gone for 5,000 ms: it no longer counts, but may be resumed."""
        account = self._accounts.get(user_id)
        if account is not None:
            with self._publishing(user_id, account):
                account.drop(session_id)

    def session_closed(self, user_id: int, session_id: str) -> None:
        """The session is over."""
        account = self._accounts.get(user_id)
        if account is not None:
            with self._publishing(user_id, account):
                account.close(session_id)
            if not self.is_connected(user_id):
                self._bus.publish(AccountDisconnected(user_id))

    # What is seen

    def aggregate(self, user_id: int) -> AccountPresence:
        """The account's presence as others see it."""
        return self._published.get(user_id, OFFLINE)

    def is_online(self, user_id: int) -> bool:
        """Whether others see the account as anything but offline."""
        return user_id in self._published

    def is_away(self, user_id: int) -> bool:
        """Whether all sessions of the account are away."""
        account = self._accounts.get(user_id)
        return account is not None and account.afk

    def is_attended(self, user_id: int) -> bool:
        """Whether a client of the account is in use, or the account asked not to be disturbed in any."""
        account = self._accounts.get(user_id)
        return account is not None and account.is_attended

    def is_connected(self, user_id: int) -> bool:
        """Whether the account has a gateway session, be its socket gone for the moment."""
        return user_id in self._accounts

    def session_presences(self, user_id: int) -> list[wire.SessionPresence]:
        """What the account is told of its own sessions: the aggregate first, unmasked, then each that counts."""
        account = self._accounts.get(user_id)
        return [session_presence(ALL_SESSIONS, NO_SESSION)] if account is None else account.presences()

    def seen_by(self, user_id: int) -> tuple[int, ...]:
        """The accounts whose presence this one is told without asking: friends, and those in a group with it."""
        return self._friends_of(user_id)

    def presence_object(
        self, user_id: int, *, guild_id: int | None = None, user: wire.PartialUser | None = None
    ) -> wire.Presence:
        """The presence object of gateway.md, Presences; `user` is the user object where it is at hand already."""
        if user is None:
            user = self._partial_user_of(user_id)
        data = self._object(user, self.aggregate(user_id))
        if guild_id is not None:
            data["guild_id"] = str(guild_id)
        return data

    def _object(self, user: wire.PartialUser, presence: AccountPresence) -> wire.Presence:
        custom_status = presence.custom_status
        if custom_status is not None and custom_status.text and self._blocks_text(custom_status.text):
            custom_status = None
        emoji_id = None if custom_status is None else custom_status.emoji_id
        animated = emoji_id is not None and self._is_animated(emoji_id)
        return {
            "user": user,
            "status": presence.status,
            "mobile": presence.mobile,
            "afk": presence.afk,
            "custom_status": custom_status_object(custom_status, animated=animated),
        }

    # Guilds

    def account_connected(self, guild_ids: Set[int], user_id: int) -> None:
        """The account has a session in each of these guilds from now on."""
        if not guild_ids:
            return
        known = self._guilds.setdefault(user_id, set())
        is_online = user_id in self._published
        new = guild_ids - known
        for guild_id in new:
            connected = self._connected.get(guild_id)
            if connected is None:
                connected = self._connected[guild_id] = set()
            connected.add(user_id)
        known |= new
        if is_online:
            self._count(new, 1)

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
            self._count((guild_id,), -1)

    def online_in(self, guild_id: int) -> Iterator[int]:
        """The connected members of the guild that others see as anything but offline, in no order."""
        return (user_id for user_id in self._connected.get(guild_id, ()) if user_id in self._published)

    def online_count(self, guild_id: int) -> int:
        """How many members of the guild others see as anything but offline."""
        return self._online_counts.get(guild_id, 0)

    @property
    def online_total(self) -> int:
        """How many accounts others see as anything but offline."""
        return len(self._published)

    def _count(self, guild_ids: Iterable[int], change: int) -> None:
        counts = self._online_counts
        for guild_id in guild_ids:
            count = counts.get(guild_id, 0) + change
            if count:
                counts[guild_id] = count
            else:
                counts.pop(guild_id, None)

    # Publication

    @contextmanager
    def _publishing(
        self,
        user_id: int,
        account: AccountSessions,
        told: str | None = None,
        known: Known | None = None,
    ) -> Iterator[None]:
        """Publish what the block changed: to the account the list of its sessions, to others the aggregate.

        The session `told` learns the list in another way.
        """
        before = account.presences() if account.selections and not account.bot else None
        yield
        if not account.selections:
            del self._accounts[user_id]
        # A session that is told in another way may be the only one.
        if not account.bot and account.selections.keys() != {told}:
            sessions = self.session_presences(user_id)
            if sessions != before:
                audience = ToAccounts((user_id,))
                self._bus.publish(Event(EventName.SESSIONS_REPLACE, sessions, audience, ignoring_session=told))
        self._publish_aggregate(user_id, known)

    def _publish_aggregate(self, user_id: int, known: Known | None = None) -> None:
        previous, presence = self.aggregate(user_id), self._as_others_see(user_id)
        if presence == previous:
            return
        if presence.status is Status.OFFLINE:
            del self._published[user_id]
        else:
            self._published[user_id] = presence
        change = (presence.status is not Status.OFFLINE) - (previous.status is not Status.OFFLINE)
        if change:
            self._count(self._guilds.get(user_id, ()), change)
        self._expect_expiry(user_id, presence)
        data = self.presence_object(user_id, user=None if known is None else known.user)
        friends = self._friends_of(user_id) if known is None else known.friends
        if friends:
            self._bus.publish(Event(EventName.PRESENCE_UPDATE, data, ToAccounts(friends)))
        self._bus.publish(Event(EventName.PRESENCE_UPDATE, data, ToPresenceSubscribers(user_id, without=friends)))

    def _as_others_see(self, user_id: int) -> AccountPresence:
        account = self._accounts.get(user_id)
        return OFFLINE if account is None else account.as_others_see(self._clock.now_ms())

    # Friends and others

    def _shown_differently(self, signal: AccountShownDifferently) -> None:
        friends = self._friends_of(signal.user_id)
        if friends:
            data = self.presence_object(signal.user_id)
            self._bus.publish(Event(EventName.PRESENCE_UPDATE, data, ToAccounts(friends)))

    def _saved_differently(self, signal: SavedPresenceChanged) -> None:
        account = self._accounts.get(signal.user_id)
        if account is not None:
            with self._publishing(signal.user_id, account):
                account.take_on(signal.settings)

    def _look_at_acquaintance(self, signal: AcquaintanceChanged) -> None:
        """Tell two accounts of each other's presence once they are to see it; once they are not, each is gone."""
        for seen_id, by_id in ((signal.user_id, signal.other_id), (signal.other_id, signal.user_id)):
            if not self.is_online(seen_id):
                continue
            if self._are_acquainted(seen_id, by_id):
                data, audience = self.presence_object(seen_id), ToAccounts((by_id,))
                self._bus.publish(Event(EventName.PRESENCE_UPDATE, data, audience))
            else:
                user = self._partial_user_of(seen_id)
                gone = ToUnsubscribed(by_id, of_user_id=seen_id)
                self._bus.publish(Event(EventName.PRESENCE_UPDATE, self._object(user, OFFLINE), gone))

    # Custom statuses that end

    def _expect_expiry(self, user_id: int, presence: AccountPresence) -> None:
        expires_at_ms = None if presence.custom_status is None else presence.custom_status.expires_at_ms
        if expires_at_ms is None:
            self._expiries.pop(user_id, None)
            return
        self._expiries[user_id] = expires_at_ms
        if expires_at_ms < self._awaited_ms:
            self._sooner.set()

    async def expire_custom_statuses(self) -> None:
        """Take custom statuses away when their time has come; runs until cancelled."""
        while True:
            self._sooner = trio.Event()
            now_ms = self._clock.now_ms()
            for user_id in [user_id for user_id, at_ms in self._expiries.items() if at_ms <= now_ms]:
                del self._expiries[user_id]
                self._publish_aggregate(user_id)
            self._awaited_ms = min(self._expiries.values(), default=math.inf)
            with trio.move_on_after(min((self._awaited_ms - now_ms) / 1000, _LONGEST_WAIT_SECONDS)):
                await self._sooner.wait()


def are_acquainted(database: Database, one_id: int, other_id: int) -> bool:
    """Whether each of the two is in the other's audience; the same as asking for the whole of it, and much cheaper."""
    reader = database.reader
    own, theirs = relationships.by_id(reader, one_id, other_id), relationships.by_id(reader, other_id, one_id)
    kinds = {entry.type for entry in (own, theirs) if entry is not None}
    if RelationshipType.BLOCKED in kinds:
        return False
    return RelationshipType.FRIEND in kinds or private_channels.share_group(reader, one_id, other_id)


def presence_audience(database: Database, user_id: int) -> tuple[int, ...]:
    """The accounts that are told of an account's presence without asking, ascending: friends, and those that are in a
    group with it (gateway.md, Presences). A block in either direction ends it; the relation is the same from both
    sides."""
    reader = database.reader
    friends = relationships.targets(reader, user_id, RelationshipType.FRIEND)
    together = private_channels.in_groups_with(reader, user_id)
    if not together:
        return friends
    apart = {*relationships.targets(reader, user_id, RelationshipType.BLOCKED)}
    apart.update(relationships.sources(reader, user_id, RelationshipType.BLOCKED))
    return tuple(sorted({*friends, *together} - apart))
