"""Relationships: which accounts are friends, and which ones an account has blocked (people.md, Relationships)."""

from __future__ import annotations

import enum
import sqlite3
from collections.abc import Callable, Collection
from typing import Final

import attrs

from chat import wire
from chat.bus.audience import ToAccounts
from chat.bus.bus import AcquaintanceChanged, Bus, Event
from chat.classes import define
from chat.clock import Clock, iso_timestamp
from chat.domain.standing.user_objects import user_settings_object
from chat.registries.events import EventName
from chat.store.accounts import user_settings
from chat.store.database import Database
from chat.store.guard import Guard
from chat.store.standing import relationships
from chat.store.standing.relationships import Relationship


class RelationshipType(enum.IntEnum):
    """The `type` of a relationship object (people.md, Relationships)."""

    FRIEND = 1
    """Both are friends."""

    BLOCKED = 2
    """The account has blocked the other, who is not told."""

    INCOMING_REQUEST = 3
    """The other asked to be friends."""

    OUTGOING_REQUEST = 4
    """The account asked to be friends."""


_OTHER_SIDE: Final = {
    RelationshipType.FRIEND: RelationshipType.FRIEND,
    RelationshipType.INCOMING_REQUEST: RelationshipType.OUTGOING_REQUEST,
    RelationshipType.OUTGOING_REQUEST: RelationshipType.INCOMING_REQUEST,
}
"""What the other account has. A block has no other side."""

_KEPT_WHEN_BLOCKED: Final = frozenset({RelationshipType.BLOCKED, RelationshipType.OUTGOING_REQUEST})
"""What the account that is blocked keeps: a block of its own, and what it asked, so that it learns nothing."""

_KEPT_WHEN_PARTED: Final = frozenset({RelationshipType.BLOCKED})

Change = tuple[Relationship | None, Relationship | None]
"""What an account had with another, and what it has now."""


@define(eq=False)
class Relationships:
    """The relationships of all accounts. `partial_user_of` gives the user object of an account."""

    _database: Database
    _bus: Bus
    _clock: Clock
    _partial_user_of: Callable[[int], wire.PartialUser] = attrs.field(kw_only=True)

    def friends_of(self, user_id: int) -> tuple[int, ...]:
        """The accounts that are friends of this one, ascending."""
        return relationships.targets(self._database.reader, user_id, RelationshipType.FRIEND)

    def of_user(self, user_id: int) -> list[wire.RelationshipInReady]:
        """The account's relationship objects without `user`, as Ready has them (gateway.md, Ready)."""
        return [_relationship_object(entry) for entry in relationships.of_user(self._database.reader, user_id)]

    def with_user(self, user_id: int) -> list[wire.Relationship]:
        """The account's relationship objects with `user`, as GET /v1/users/@me/relationships has them."""
        reader = self._database.reader
        withheld = relationships.withheld_from(reader, user_id)
        return [
            {**self.object_of(entry), "friend_shares_voice_activity": entry.target_id not in withheld}
            for entry in relationships.of_user(reader, user_id)
        ]

    def object_of(self, relationship: Relationship) -> wire.Relationship:
        """One relationship object with `user` (people.md, Relationships)."""
        return {**_relationship_object(relationship), "user": self._partial_user_of(relationship.target_id)}

    def publish_sharing(self, own: list[Relationship], shares: bool) -> None:
        """After the commit: tell an account and each of its friends whether they hear where it speaks."""
        for entry in own:
            self._bus.publish(Event(EventName.RELATIONSHIP_UPDATE, self.object_of(entry), ToAccounts((entry.user_id,))))
            theirs = relationships.by_id(self._database.reader, entry.target_id, entry.user_id)
            if theirs is not None and theirs.type == RelationshipType.FRIEND:
                data = {**self.object_of(theirs), "friend_shares_voice_activity": shares}
                self._bus.publish(Event(EventName.RELATIONSHIP_UPDATE, data, ToAccounts((theirs.user_id,))))

    async def set_both(self, user_id: int, target_id: int, type: RelationshipType, guard: Guard) -> None:
        """Write what two accounts have with each other: `type` for the first, what belongs to it for the second.

        Publishes to each what changed for it. Raises ValueError for an account and itself.
        """
        if user_id == target_id:
            raise ValueError("an account has no relationship with itself")
        now = self._clock.now_ms()
        await self._database.write(
            lambda connection: both_sides(connection, user_id, target_id, type, now), self.publish, guard=guard
        )

    def publish(self, changes: list[Change]) -> None:
        """Tell each account what changed for it. Call it after the commit."""
        for before, after in changes:
            if after is not None:
                if after == before:
                    continue
                name = EventName.RELATIONSHIP_ADD if before is None else EventName.RELATIONSHIP_UPDATE
                self._bus.publish(Event(name, self.object_of(after), ToAccounts((after.user_id,))))
            elif before is not None:
                removed = {"id": str(before.target_id)}
                self._bus.publish(Event(EventName.RELATIONSHIP_REMOVE, removed, ToAccounts((before.user_id,))))
        for user_id, other_id in _parted_or_met(changes):
            self._bus.publish(AcquaintanceChanged(user_id, other_id))


def both_sides(
    connection: sqlite3.Connection, user_id: int, target_id: int, type: RelationshipType, now: int
) -> list[Change]:
    """In a unit of writing: `type` for the first account, what belongs to it for the second."""
    own = _replace(connection, user_id, target_id, type, now)
    if type == RelationshipType.BLOCKED:
        return [own, _take_away(connection, target_id, user_id, _KEPT_WHEN_BLOCKED)]
    return [own, _replace(connection, target_id, user_id, _OTHER_SIDE[type], now)]


def neither_side(connection: sqlite3.Connection, user_id: int, target_id: int) -> list[Change]:
    """In a unit of writing: the first account has nothing with the second any more, nor the other way round; but what
    the second has blocked stays blocked."""
    return [_take_away(connection, user_id, target_id), _take_away(connection, target_id, user_id, _KEPT_WHEN_PARTED)]


def _parted_or_met(changes: list[Change]) -> set[tuple[int, int]]:
    """The pairs of accounts that are friends, or blocked, where they were not, or are so no longer; the lower id
    first."""
    pairs = set()
    for before, after in changes:
        either = after if before is None else before
        kinds = {None if side is None else side.type for side in (before, after)}
        if either is not None and len(kinds) > 1 and kinds & {RelationshipType.FRIEND, RelationshipType.BLOCKED}:
            pairs.add((min(either.user_id, either.target_id), max(either.user_id, either.target_id)))
    return pairs


def _take_away(
    connection: sqlite3.Connection, user_id: int, target_id: int, kept: Collection[int] = frozenset()
) -> Change:
    before = relationships.by_id(connection, user_id, target_id)
    if before is None or before.type in kept:
        return before, before
    relationships.delete(connection, user_id, target_id)
    return before, None


def _replace(connection: sqlite3.Connection, user_id: int, target_id: int, type: RelationshipType, now: int) -> Change:
    before = relationships.by_id(connection, user_id, target_id)
    if before is not None and before.type == type:
        return before, before
    shares = True
    if type == RelationshipType.FRIEND:
        shares = user_settings_object(user_settings.of_user(connection, user_id))["default_share_voice_activity"]
    after = Relationship(user_id, target_id, type, since=now, share_voice_activity=shares)
    relationships.put(connection, after)
    return before, after


def _relationship_object(relationship: Relationship) -> wire.RelationshipInReady:
    since: wire.RelatedSince = {}
    if relationship.since is not None:
        since["since"] = iso_timestamp(relationship.since)
    return {
        "id": str(relationship.target_id),
        "type": relationship.type,
        **since,
        "nickname": relationship.nickname,
        "share_voice_activity": relationship.share_voice_activity,
        # Only the list of relationships looks at the other side; events say true, but for those of `publish_sharing`.
        "friend_shares_voice_activity": True,
    }
