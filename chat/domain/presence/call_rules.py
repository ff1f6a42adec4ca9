"""Whose telephone rings (people.md, Calls)."""

from __future__ import annotations

import enum
import sqlite3
from typing import Final

from chat.domain.standing.relationships import RelationshipType
from chat.domain.standing.user_settings_objects import user_settings_object
from chat.registries.channel_types import ChannelType
from chat.store.accounts import accounts, user_settings
from chat.store.guilds import guilds
from chat.store.standing import relationships

CALL_CHANNEL_TYPES: Final = frozenset({ChannelType.DM, ChannelType.GROUP_DM})
"""Conversations that people call each other in."""


class IncomingCallFlag(enum.IntFlag):
    """Bits of `incoming_call_flags`: who may make an account ring (people.md, Calls)."""

    FRIENDS_OF_FRIENDS = 1 << 0
    """Friends, and those who are friends with one of them."""

    GUILD_MEMBERS = 1 << 1
    """Friends, and those who are in a guild with the account."""

    EVERYONE = 1 << 2
    """Everybody."""

    FRIENDS_ONLY = 1 << 3
    """Friends."""

    NOBODY = 1 << 4
    """Nobody, whatever the other bits say."""

    SILENT_EVERYONE = 1 << 5
    """Everybody may call, but whom no other bit names is not heard."""


class Ringing(enum.Enum):
    """What a call does to somebody."""

    LOUD = "it rings"
    SILENT = "the call is shown, and nothing rings"
    REFUSED = "nothing rings, and the caller may know it"


_OF_FRIENDS: Final = (
    IncomingCallFlag.FRIENDS_OF_FRIENDS
    | IncomingCallFlag.GUILD_MEMBERS
    | IncomingCallFlag.EVERYONE
    | IncomingCallFlag.FRIENDS_ONLY
)
"""Every bit that lets friends ring."""


def ringing(connection: sqlite3.Connection, caller_id: int, recipient_id: int) -> Ringing:
    """What a call by one account does to another. Who has blocked the other, either way, makes nothing ring."""
    recipient = accounts.by_id(connection, recipient_id)
    if recipient is None or recipient.bot or recipient.is_deleted or caller_id == recipient_id:
        return Ringing.REFUSED
    own = relationships.by_id(connection, caller_id, recipient_id)
    theirs = relationships.by_id(connection, recipient_id, caller_id)
    kinds = {relationship.type for relationship in (own, theirs) if relationship is not None}
    settings = user_settings_object(user_settings.of_user(connection, recipient_id))
    flags = IncomingCallFlag(settings["incoming_call_flags"] & 0b111111)
    if RelationshipType.BLOCKED in kinds or IncomingCallFlag.NOBODY in flags:
        return Ringing.REFUSED
    if IncomingCallFlag.EVERYONE in flags:
        return Ringing.LOUD
    if RelationshipType.FRIEND in kinds and flags & _OF_FRIENDS:
        return Ringing.LOUD
    if IncomingCallFlag.FRIENDS_OF_FRIENDS in flags and _have_a_friend_in_common(connection, caller_id, recipient_id):
        return Ringing.LOUD
    if IncomingCallFlag.GUILD_MEMBERS in flags and _have_a_guild_in_common(connection, caller_id, recipient_id):
        return Ringing.LOUD
    return Ringing.SILENT if IncomingCallFlag.SILENT_EVERYONE in flags else Ringing.REFUSED


def _have_a_friend_in_common(connection: sqlite3.Connection, one: int, other: int) -> bool:
    friends = (relationships.targets(connection, user_id, RelationshipType.FRIEND) for user_id in (one, other))
    return bool(set(next(friends)) & set(next(friends)))


def _have_a_guild_in_common(connection: sqlite3.Connection, one: int, other: int) -> bool:
    return bool(set(guilds.ids_of_user(connection, one)) & set(guilds.ids_of_user(connection, other)))
