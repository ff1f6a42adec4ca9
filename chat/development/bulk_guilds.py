"""Many guilds at once, for tests of limits, paging and sharding (development.md, Development routes)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Final

import attrs
import trio

from chat.bus.bus import GuildJoined
from chat.development.parts import Development
from chat.development.seeded_world import DEVELOPMENT_WORKER
from chat.domain.guilds.guild_plan import EVERYONE_NAME
from chat.errors import ApiError
from chat.protocol.commands import Shard
from chat.registries.channel_types import ChannelType
from chat.registries.guild_features import NEW_GUILD_FEATURES
from chat.registries.join_sources import JoinSource
from chat.registries.permissions import DEFAULT_EVERYONE
from chat.snowflake import snowflake_at
from chat.store.accounts import accounts
from chat.store.applications import applications
from chat.store.guilds import channels, guilds, members, roles
from chat.store.guilds.channels import Channel
from chat.store.guilds.guilds import Guild
from chat.store.guilds.members import Member
from chat.store.guilds.roles import Role

GUILDS_MAXIMUM: Final = 20_000
"""Guilds of one request."""

IDS_PER_MILLISECOND: Final = 4_096
GUILDS_PER_TURN: Final = 16
"""Guilds that sessions are told of before other tasks get a turn."""


async def make_guilds(development: Development, user_id: int, count: int, shard: Shard | None) -> list[int]:
    """Make `count` guilds with this one member, each with one text channel, all on `shard` where one is given.

    The member owns them, except for a bot: then it is the owner of its application, who stays outside. Returns their
    ids, ascending.

    :raises ApiError: UNKNOWN_USER.
    """
    now = development.core.clock.now_ms()
    channel_ids = [development.core.snowflakes() for _ in range(count)]

    def write(connection: sqlite3.Connection) -> list[int]:
        owner_id = _owner_id(connection, user_id)
        guild_ids = _free_ids(connection, now, count, shard)
        for guild_id, channel_id in zip(guild_ids, channel_ids, strict=True):
            _insert_guild(connection, Guild(guild_id, owner_id, f"Guild {guild_id}", now), channel_id, user_id)
        return guild_ids

    guild_ids = await development.core.database.write(write)
    for position, guild_id in enumerate(guild_ids):
        development.core.bus.publish(GuildJoined(guild_id, user_id))
        if position % GUILDS_PER_TURN == GUILDS_PER_TURN - 1:
            await trio.lowlevel.checkpoint()
    return guild_ids


def _owner_id(connection: sqlite3.Connection, user_id: int) -> int:
    account = accounts.by_id(connection, user_id)
    if account is None:
        raise ApiError("UNKNOWN_USER")
    application = applications.by_bot(connection, user_id) if account.bot else None
    return user_id if application is None else application.owner_id


def _free_ids(connection: sqlite3.Connection, now: int, count: int, shard: Shard | None) -> list[int]:
    """Ids that no guild has yet: from the latest millisecond of the shard on backwards."""
    found: list[int] = []
    for milliseconds_start in _snowflake_starts(now, shard):
        first = milliseconds_start | DEVELOPMENT_WORKER << 12
        block = range(first, first + IDS_PER_MILLISECOND)
        taken = guilds.ids_between(connection, block[0], block[-1])
        free = block if not taken else range(taken[-1] + 1, block.stop)
        found += free[: count - len(found)]
        if len(found) == count:
            break
    return sorted(found)


def _snowflake_starts(now: int, shard: Shard | None) -> Iterator[int]:
    """The least snowflake of each millisecond whose guilds fall to the shard, the latest first."""
    milliseconds = snowflake_at(now) >> 22
    step = 1 if shard is None else shard.count
    if shard is not None:
        milliseconds -= (milliseconds - shard.id) % shard.count
    while milliseconds > 0:
        yield milliseconds << 22
        milliseconds -= step


def _insert_guild(connection: sqlite3.Connection, guild: Guild, channel_id: int, user_id: int) -> None:
    features = frozenset(NEW_GUILD_FEATURES)
    guilds.insert(connection, attrs.evolve(guild, system_channel_id=channel_id, features=features, member_count=1))
    roles.insert(connection, [Role(guild.id, guild.id, EVERYONE_NAME, 0, DEFAULT_EVERYONE)])
    channels.insert(connection, [Channel(channel_id, guild.id, ChannelType.GUILD_TEXT, "general")])
    source = JoinSource.CREATOR if user_id == guild.owner_id else JoinSource.BOT_INVITE
    members.insert(connection, Member(guild.id, user_id, guild.created_at, join_source=source))
