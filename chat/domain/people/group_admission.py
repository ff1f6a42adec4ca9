"""Whom an account lets add it to groups (people.md, Groups).

Where several flags say different things, FRIENDS_ONLY goes before NOBODY and that before EVERYONE; without any flag it
is as with FRIENDS_ONLY. Nobody is added across a block, nor told of one: then the two count as strangers.
"""

from __future__ import annotations

import enum
import sqlite3
from typing import Final

from chat.domain.standing.relationships import RelationshipType
from chat.domain.standing.user_settings_objects import user_settings_object
from chat.store.accounts import user_settings
from chat.store.accounts.accounts import Account
from chat.store.guilds import guilds
from chat.store.standing import relationships


class GroupAddFlag(enum.IntFlag):
    """Bits of `group_dm_add_permission_flags`."""

    FRIENDS_OF_FRIENDS = 1 << 0
    GUILD_MEMBERS = 1 << 1
    EVERYONE = 1 << 2
    FRIENDS_ONLY = 1 << 3
    NOBODY = 1 << 4


class Unaddable(enum.StrEnum):
    """Why somebody cannot be added to a group."""

    UNKNOWN_USER = "unknown_user"
    NOT_FRIENDS = "not_friends"
    GROUP_DM_ADD_DISABLED = "group_dm_add_disabled"


_WIDER: Final = GroupAddFlag.FRIENDS_OF_FRIENDS | GroupAddFlag.GUILD_MEMBERS | GroupAddFlag.EVERYONE


def refusal(connection: sqlite3.Connection, adder: Account, target: Account | None) -> Unaddable | None:
    """Why the one cannot add the other to a group now; None if it can."""
    if target is None or target.is_deleted:
        return Unaddable.UNKNOWN_USER
    own = relationships.by_id(connection, adder.id, target.id)
    theirs = relationships.by_id(connection, target.id, adder.id)
    kinds = {relationship.type for relationship in (own, theirs) if relationship is not None}
    if RelationshipType.BLOCKED in kinds:
        return Unaddable.NOT_FRIENDS
    flags = _flags(connection, target)
    friends = RelationshipType.FRIEND in kinds
    if flags & GroupAddFlag.NOBODY and not flags & GroupAddFlag.FRIENDS_ONLY:
        return Unaddable.GROUP_DM_ADD_DISABLED
    if friends:
        return None
    return None if _admits_strangers(connection, flags, adder.id, target.id) else Unaddable.NOT_FRIENDS


def _flags(connection: sqlite3.Connection, target: Account) -> int:
    flags: int = user_settings_object(user_settings.of_user(connection, target.id))["group_dm_add_permission_flags"]
    return flags


def _admits_strangers(connection: sqlite3.Connection, flags: int, adder_id: int, target_id: int) -> bool:
    if flags & GroupAddFlag.FRIENDS_ONLY or not flags & _WIDER:
        return False
    if flags & GroupAddFlag.EVERYONE:
        return True
    if flags & GroupAddFlag.GUILD_MEMBERS and guilds.share_one(connection, adder_id, target_id):
        return True
    if not flags & GroupAddFlag.FRIENDS_OF_FRIENDS:
        return False
    friends = set(relationships.targets(connection, adder_id, RelationshipType.FRIEND))
    return not friends.isdisjoint(relationships.targets(connection, target_id, RelationshipType.FRIEND))
