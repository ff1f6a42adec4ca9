"""A guild of any size to measure: its members, roles and channels, and who is signed in."""

from __future__ import annotations

import secrets
import sqlite3
from pathlib import Path
from typing import Final

import attrs
import trio

from chat.auth.tokens import TokenMint, token_hash
from chat.bench.world import AGE_MS, WORLD_WORKER
from chat.clock import SystemClock
from chat.registries.channel_types import ChannelType, OverwriteType
from chat.registries.guild_features import NEW_GUILD_FEATURES
from chat.registries.join_sources import JoinSource
from chat.registries.permissions import DEFAULT_EVERYONE, Permission
from chat.snowflake import SnowflakeGenerator
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.data_directory import DataDirectory
from chat.store.database import open_database
from chat.store.guilds import channels, guilds, members, roles
from chat.store.guilds.channels import Channel, Overwrite
from chat.store.guilds.guilds import Guild
from chat.store.guilds.members import Member
from chat.store.guilds.roles import Role
from chat.store.signing_in import auth_sessions
from chat.store.signing_in.auth_sessions import AuthSession

ROLES: Final = 50
ROLES_PER_MEMBER: Final = 2
CHANNELS_PER_CATEGORY: Final = 50
HIDDEN_SHARE: Final = 4
"""Every so-manieth channel is hidden from everyone and shown by one role."""


@attrs.frozen
class LargeGuild:
    """What a measurement needs to know. `tokens` sign in members of the guild, `strangers` accounts outside of it."""

    guild_id: int
    channel_id: int
    hidden_channel_id: int
    role_id: int
    """A role that many members have, and that shows hidden channels."""
    silent_user_id: int
    """A member who is never connected."""
    tokens: tuple[str, ...] = attrs.field(repr=False)
    strangers: tuple[str, ...] = attrs.field(repr=False)


def prepare(
    directory: Path, *, member_count: int, channel_count: int, signed_in: int, stranger_count: int
) -> LargeGuild:
    """Make the database in a new data directory. Raises OperatorError."""
    data = DataDirectory(directory)
    data.create()
    composition = _Composition(member_count, channel_count, signed_in, stranger_count)

    async def write() -> None:
        async with open_database(data.database, inline=True, durable=False) as database:
            await database.write(composition.populate)

    trio.run(write)
    return composition.guild


class _Composition:
    def __init__(self, member_count: int, channel_count: int, signed_in: int, stranger_count: int) -> None:
        clock = SystemClock()
        next_id = SnowflakeGenerator(clock, WORLD_WORKER)
        mint = TokenMint(secrets.SystemRandom())
        self._now = clock.now_ms() - AGE_MS
        first = next_id() - (1 << 40)  # below what the server hands out
        self._guild_id = first
        self._role_ids = [first + 1 + number for number in range(ROLES)]
        self._channel_ids = [first + 1_000 + number for number in range(channel_count)]
        self._people = [self._account(first + 10_000 + number, number) for number in range(member_count)]
        strangers = range(member_count, member_count + stranger_count)
        self._strangers = [self._account(first + 10_000 + number, number) for number in strangers]
        kinds = [self._kind(number) for number in range(channel_count)]
        texts = [number for number, kind in enumerate(kinds) if kind is ChannelType.GUILD_TEXT]
        self.guild = LargeGuild(
            guild_id=first,
            channel_id=self._channel_ids[next(number for number in texts if not self._is_hidden(number))],
            hidden_channel_id=self._channel_ids[next(number for number in texts if self._is_hidden(number))],
            role_id=self._role_ids[0],
            silent_user_id=self._people[-1].id,
            tokens=tuple(mint.session_token() for _ in range(signed_in)),
            strangers=tuple(mint.session_token() for _ in range(stranger_count)),
        )

    def _account(self, user_id: int, number: int) -> Account:
        return Account(
            id=user_id,
            username=f"member{number}",
            discriminator=1 + number % 9_999,
            email=f"member{number}@example.com",
            email_verified=True,
            created_at=self._now,
        )

    @staticmethod
    def _kind(number: int) -> ChannelType:
        if number % CHANNELS_PER_CATEGORY == 0:
            return ChannelType.GUILD_CATEGORY
        return ChannelType.GUILD_VOICE if number % 10 == 9 else ChannelType.GUILD_TEXT

    @staticmethod
    def _is_hidden(number: int) -> bool:
        return number % HIDDEN_SHARE == HIDDEN_SHARE - 1

    def populate(self, connection: sqlite3.Connection) -> None:
        """Write everything, in one unit."""
        for account in (*self._people, *self._strangers):
            accounts.insert(connection, account)
        for account, token in self._with_tokens():
            auth_sessions.insert(connection, AuthSession(token_hash(token), account.id, self._now, self._now))
        guilds.insert(
            connection,
            Guild(
                id=self._guild_id,
                owner_id=self._people[0].id,
                name="Measured guild",
                created_at=self._now,
                features=frozenset(NEW_GUILD_FEATURES),
                member_count=len(self._people),
            ),
        )
        everyone = Role(self._guild_id, self._guild_id, "@everyone", 0, DEFAULT_EVERYONE)
        numbered = [
            Role(role_id, self._guild_id, f"role{number}", 1 + number, 0, hoist=number < 5)
            for number, role_id in enumerate(self._role_ids)
        ]
        roles.insert(connection, [everyone, *numbered])
        channels.insert(connection, [self._channel(number) for number in range(len(self._channel_ids))])
        for number, account in enumerate(self._people):
            held = frozenset(self._role_ids[(number * step) % ROLES] for step in range(1, 1 + ROLES_PER_MEMBER))
            member = Member(self._guild_id, account.id, self._now, join_source=JoinSource.INSTANT_INVITE, role_ids=held)
            members.insert(connection, member)

    def _with_tokens(self) -> list[tuple[Account, str]]:
        own = zip(self._people[: len(self.guild.tokens)], self.guild.tokens, strict=True)
        return [*own, *zip(self._strangers, self.guild.strangers, strict=True)]

    def _channel(self, number: int) -> Channel:
        kind = self._kind(number)
        category = number - number % CHANNELS_PER_CATEGORY
        view = Permission.VIEW_CHANNEL.value
        shown_by = self._role_ids[(number // HIDDEN_SHARE) % ROLES]
        overwrites = (
            Overwrite(self._guild_id, OverwriteType.ROLE, 0, view),
            Overwrite(shown_by, OverwriteType.ROLE, view, 0),
        )
        is_category = kind is ChannelType.GUILD_CATEGORY
        return Channel(
            self._channel_ids[number],
            self._guild_id,
            kind,
            f"channel-{number}",
            position=number,
            parent_id=None if is_category else self._channel_ids[category],
            overwrites=overwrites if self._is_hidden(number) and not is_category else (),
        )
