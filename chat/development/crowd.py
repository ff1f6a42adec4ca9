"""Many guilds, channels and members by one request, for tests of limits, paging, sharding and size (development.md,
Crowds).

What is asked for may be a hundred thousand rows, so it is written in units of ROWS_PER_UNIT: others get their turn
between them. The member for whom the guilds are made enters each of them last, so no guild is seen before it is whole.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Annotated, Final, TypeVar

import attrs
import trio

from chat.api.fields import Items, Range, Snowflake
from chat.api.operation import Policy, Request, Routes
from chat.auth.tokens import token_hash
from chat.bus.bus import GuildJoined
from chat.classes import frozen
from chat.development.answers import CrowdMade
from chat.development.node import Development
from chat.development.seeded_world import DATE_OF_BIRTH, DEVELOPMENT_WORKER, insert_guild
from chat.domain.administration.account_fields import found
from chat.errors import FieldError, InvalidFormBody
from chat.protocol.commands import Shard, parse_shard
from chat.registries.channel_types import ChannelType
from chat.registries.error_codes import FieldCode
from chat.registries.guild_features import NEW_GUILD_FEATURES
from chat.registries.guild_values import JoinSource
from chat.snowflake import snowflake_at
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.applications import applications
from chat.store.guard import UNGUARDED
from chat.store.guilds import guilds, members
from chat.store.guilds.channels import Channel
from chat.store.guilds.guilds import Guild
from chat.store.guilds.members import Member
from chat.store.signing_in import auth_sessions
from chat.store.signing_in.auth_sessions import AuthSession

GUILDS_MAXIMUM: Final = 20_000
MEMBERS_MAXIMUM: Final = 50_000
CHANNELS_MAXIMUM: Final = 500
SIGNED_IN_MAXIMUM: Final = 1_000

MEMBERSHIPS_MAXIMUM: Final = 200_000
"""Guilds times members of one request."""

CHANNELS_IN_ALL_MAXIMUM: Final = 20_000
"""Guilds times channels of one request."""

ROWS_PER_UNIT: Final = 1_000
IDS_PER_MILLISECOND: Final = 4_096
GUILDS_PER_TURN: Final = 16
"""Guilds that sessions are told of before other tasks get a turn."""

T = TypeVar("T")


@frozen
class Crowd:
    """How many guilds, on which shard, with how many channels, and with how many members beside the one named.

    The members are new accounts, the same ones in each guild; the first `signed_in` of them have a session token.
    """

    user_id: Snowflake
    count: Annotated[int, Range(1, GUILDS_MAXIMUM)]
    shard: Annotated[list[int], Items(2, 2)] | None = None
    channels: Annotated[int, Range(1, CHANNELS_MAXIMUM)] = 1
    members: Annotated[int, Range(0, MEMBERS_MAXIMUM)] = 0
    signed_in: Annotated[int, Range(0, SIGNED_IN_MAXIMUM)] = 0

    def parsed_shard(self) -> Shard | None:
        """:raises InvalidFormBody: for a pair that Identify would not take either, and for more than one request
        makes."""
        for name, wanted, most in (
            ("members", self.count * self.members, MEMBERSHIPS_MAXIMUM),
            ("channels", self.count * self.channels, CHANNELS_IN_ALL_MAXIMUM),
        ):
            if wanted > most:
                raise InvalidFormBody(
                    [FieldError(name, FieldCode.INVALID_FORMAT, f"One request makes {most} at most.")]
                )
        shard = parse_shard(self.shard)
        if shard is None or isinstance(shard, Shard):
            return shard
        raise InvalidFormBody.at("shard", FieldCode.INVALID_FORMAT)


@frozen
class MadeCrowd:
    """Ids, ascending, and the tokens of accounts that have one."""

    guild_ids: list[int]
    member_ids: list[int]
    tokens: dict[int, str]


async def gather(development: Development, crowd: Crowd) -> MadeCrowd:
    """Make the guilds, each whole before its sessions hear of it.

    The member named owns them, except for a bot: then it is the owner of its application, who stays outside.

    :raises ApiError: UNKNOWN_USER.
    :raises InvalidFormBody: as `Crowd.parsed_shard`.
    """
    shard, now = crowd.parsed_shard(), development.core.clock.now_ms()
    owner_id = _owner_id(development.core.database.reader, crowd.user_id)
    member_ids, tokens = await _make_accounts(development, crowd, now)
    guild_ids = _free_ids(development.core.database.reader, now, crowd.count, shard)
    features = frozenset(NEW_GUILD_FEATURES)
    at_once = max(1, ROWS_PER_UNIT // (crowd.channels + 1))
    for some in _portions(guild_ids, at_once):
        made = [Guild(guild_id, owner_id, f"Guild {guild_id}", now, features=features) for guild_id in some]
        await _fill(development, crowd, made, member_ids)
        for position, guild_id in enumerate(some):
            development.core.bus.publish(GuildJoined(guild_id, crowd.user_id))
            if position % GUILDS_PER_TURN == GUILDS_PER_TURN - 1:
                await trio.lowlevel.checkpoint()
    return MadeCrowd(guild_ids, member_ids, tokens)


async def _make_accounts(development: Development, crowd: Crowd, now: int) -> tuple[list[int], dict[int, str]]:
    core = development.core
    made = [
        Account(
            id=user_id,
            username=f"crowd{user_id}",
            discriminator=1,
            global_name=f"Crowd {number}",
            email_verified=True,
            date_of_birth=DATE_OF_BIRTH,
            created_at=now,
            terms_agreed_at=now,
            privacy_agreed_at=now,
        )
        for number, user_id in enumerate((core.snowflakes() for _ in range(crowd.members)), 1)
    ]
    tokens = {account.id: core.mint.session_token() for account in made[: crowd.signed_in]}

    def write(some: Sequence[Account], connection: sqlite3.Connection) -> None:
        for account in some:
            accounts.insert(connection, account)
            if account.id in tokens:
                session = AuthSession(token_hash(tokens[account.id]), account.id, now, now, proved_at=now)
                auth_sessions.insert(connection, session)

    for portion in _portions(made, ROWS_PER_UNIT):
        await core.database.write(partial(write, portion), guard=UNGUARDED)
    return [account.id for account in made], tokens


async def _fill(development: Development, crowd: Crowd, made: Sequence[Guild], member_ids: Sequence[int]) -> None:
    """Write guilds with their channels, their members, and last of all the member for whom they are."""
    core, user_id = development.core, crowd.user_id
    entered = [attrs.evolve(guild, member_count=len(member_ids) + 1) for guild in made]
    channel_ids = {guild.id: [core.snowflakes() for _ in range(crowd.channels)] for guild in made}

    def found_guilds(connection: sqlite3.Connection) -> None:
        for guild in entered:
            first, *others = channel_ids[guild.id]
            named = [(first, "general"), *((each, f"channel-{number}") for number, each in enumerate(others, 2))]
            insert_guild(
                connection,
                attrs.evolve(guild, system_channel_id=first),
                [
                    Channel(each, guild.id, ChannelType.GUILD_TEXT, name, position=position)
                    for position, (each, name) in enumerate(named)
                ],
                (),
            )

    def enter(connection: sqlite3.Connection) -> None:
        for guild in entered:
            source = JoinSource.CREATOR if user_id == guild.owner_id else JoinSource.BOT_INVITE
            members.insert(connection, Member(guild.id, user_id, guild.created_at, join_source=source))

    def join(some: Sequence[Member], connection: sqlite3.Connection) -> None:
        for member in some:
            members.insert(connection, member)

    await core.database.write(found_guilds, guard=UNGUARDED)
    joining = [
        Member(guild.id, member_id, guild.created_at, join_source=JoinSource.ADMIN_FORCE_ADD)
        for guild in made
        for member_id in member_ids
    ]
    for portion in _portions(joining, ROWS_PER_UNIT):
        await core.database.write(partial(join, portion), guard=UNGUARDED)
    await core.database.write(enter, guard=UNGUARDED)


def _portions(whole: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (whole[start : start + size] for start in range(0, len(whole), size))


def _owner_id(connection: sqlite3.Connection, user_id: int) -> int:
    account = found(connection, user_id)
    application = applications.by_bot(connection, user_id) if account.bot else None
    return user_id if application is None else application.owner_id


def _free_ids(connection: sqlite3.Connection, now: int, count: int, shard: Shard | None) -> list[int]:
    """Ids that no guild has yet: from the latest millisecond of the shard on backwards."""
    free_ids: list[int] = []
    for milliseconds_start in _snowflake_starts(now, shard):
        first = milliseconds_start | DEVELOPMENT_WORKER << 12
        block = range(first, first + IDS_PER_MILLISECOND)
        taken = guilds.ids_between(connection, block[0], block[-1])
        free = block if not taken else range(taken[-1] + 1, block.stop)
        free_ids += free[: count - len(free_ids)]
        if len(free_ids) == count:
            break
    return sorted(free_ids)


def _snowflake_starts(now: int, shard: Shard | None) -> Iterator[int]:
    """The least snowflake of each millisecond whose guilds fall to the shard, the latest first."""
    milliseconds = snowflake_at(now) >> 22
    step = 1 if shard is None else shard.count
    if shard is not None:
        milliseconds -= (milliseconds - shard.id) % shard.count
    while milliseconds > 0:
        yield milliseconds << 22
        milliseconds -= step


routes = Routes(policy=Policy.NONE, same_origin=True)


@routes.operation("POST", "/v1/_dev/guilds/bulk")
async def make_guilds_in_bulk(request: Request, development: Development, body: Crowd) -> CrowdMade:
    """Make many guilds, channels and members quickly."""
    async with development.turn:
        made = await gather(development, body)
    return {
        "guild_ids": [str(guild_id) for guild_id in made.guild_ids],
        "member_ids": [str(member_id) for member_id in made.member_ids],
        "tokens": {str(member_id): token for member_id, token in made.tokens.items()},
    }
