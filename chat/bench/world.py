"""The instance that is measured: one guild, its members, and the tokens they are signed in with."""

from __future__ import annotations

import functools
import secrets
import sqlite3
from pathlib import Path
from typing import Final

import attrs
import trio

from chat.auth.tokens import TokenMint, token_hash
from chat.clock import SystemClock
from chat.domain.accounts import guild_folders
from chat.registries.channel_types import ChannelType
from chat.registries.guild_features import NEW_GUILD_FEATURES
from chat.registries.join_sources import JoinSource
from chat.registries.permissions import DEFAULT_EVERYONE
from chat.snowflake import SnowflakeGenerator
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.data_directory import DataDirectory
from chat.store.database import open_database
from chat.store.guilds import channels, guilds, members, roles
from chat.store.guilds.channels import Channel
from chat.store.guilds.guilds import Guild
from chat.store.guilds.members import Member
from chat.store.guilds.roles import Role
from chat.store.signing_in import auth_sessions
from chat.store.signing_in.auth_sessions import AuthSession

WORLD_WORKER: Final = 3
"""The worker in these snowflakes, apart from the server's own."""

MEMBERS: Final = 40
"""Enough for 4,000 sessions at 100 an account, and below the size from which members of a guild count as passive."""

AGE_MS: Final = 86_400_000
"""How long the members have been there: no rule about new ones holds them back."""


@attrs.frozen
class World:
    """A guild with one text channel; each of `tokens` signs one member in."""

    guild_id: int
    channel_id: int
    tokens: tuple[str, ...] = attrs.field(repr=False)


def prepare(directory: Path, member_count: int) -> World:
    """Make the database in a new data directory, with a guild of so many members. Raises OperatorError."""
    data = DataDirectory(directory)
    data.create()
    world, make = _compose(member_count)

    async def write() -> None:
        async with open_database(data.database, inline=True, durable=False) as database:
            await database.write(make)

    trio.run(write)
    return world


def _compose(member_count: int) -> tuple[World, functools.partial[None]]:
    clock = SystemClock()
    next_id = SnowflakeGenerator(clock, WORLD_WORKER)
    mint = TokenMint(secrets.SystemRandom())
    now = clock.now_ms() - AGE_MS
    world = World(next_id(), next_id(), tuple(mint.session_token() for _ in range(member_count)))
    people = [
        Account(
            id=next_id(),
            username=f"member{number}",
            discriminator=1 + number,
            email=f"member{number}@example.com",
            email_verified=True,
            created_at=now,
        )
        for number in range(member_count)
    ]
    return world, functools.partial(_populate, world=world, people=people, now=now)


def _populate(connection: sqlite3.Connection, *, world: World, people: list[Account], now: int) -> None:
    for account, token in zip(people, world.tokens, strict=True):
        accounts.insert(connection, account)
        auth_sessions.insert(connection, AuthSession(token_hash(token), account.id, now, now))
    guild = Guild(
        id=world.guild_id,
        owner_id=people[0].id,
        name="Measured guild",
        created_at=now,
        system_channel_id=world.channel_id,
        features=frozenset(NEW_GUILD_FEATURES),
        member_count=len(people),
    )
    guilds.insert(connection, guild)
    roles.insert(connection, [Role(guild.id, guild.id, "@everyone", 0, DEFAULT_EVERYONE)])
    channels.insert(connection, [Channel(world.channel_id, guild.id, ChannelType.GUILD_TEXT, "general")])
    for account in people:
        members.insert(connection, Member(guild.id, account.id, now, join_source=JoinSource.INSTANT_INVITE))
        guild_folders.enter_guild(connection, account, guild.id)
