"""The instances that are measured: guilds with their members, and the tokens they are signed in with."""

from __future__ import annotations

import contextlib
import functools
import random
import secrets
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import attrs
import trio

from chat.auth.tokens import TokenMint, token_hash
from chat.classes import frozen
from chat.clock import SystemClock
from chat.development.seeded_world import insert_guild
from chat.domain.accounts import guild_folders
from chat.registries.channel_types import ChannelType, OverwriteType
from chat.registries.guild_features import NEW_GUILD_FEATURES
from chat.registries.guild_values import JoinSource
from chat.registries.message_types import MessageType
from chat.registries.permissions import Permission
from chat.snowflake import SnowflakeGenerator, snowflake_at
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.connections import connect
from chat.store.data_directory import DataDirectory
from chat.store.database import open_database
from chat.store.guard import UNGUARDED
from chat.store.guilds.channels import Channel, Overwrite
from chat.store.guilds.guilds import Guild
from chat.store.guilds.members import Member
from chat.store.guilds.roles import Role
from chat.store.messages import message_search_entries, message_search_segments
from chat.store.signing_in import auth_sessions
from chat.store.signing_in.auth_sessions import AuthSession

WORLD_WORKER: Final = 3
"""The worker in these snowflakes, apart from the server's own."""

MEMBERS: Final = 40
"""Enough for 4,000 sessions at 100 an account, and below the size from which members of a guild count as passive."""

AGE_MS: Final = 86_400_000
"""How long the members have been there: no rule about new ones holds them back."""


@frozen
class World:
    """A guild with one text channel; each of `tokens` signs one member in."""

    guild_id: int
    channel_id: int
    tokens: tuple[str, ...] = attrs.field(repr=False)


def prepare(directory: Path, member_count: int) -> World:
    """Make the database in a new data directory, with a guild of `member_count` members. Raises OperatorError."""
    clock = SystemClock()
    next_id = SnowflakeGenerator(clock, WORLD_WORKER)
    mint = TokenMint(secrets.SystemRandom())
    now = clock.now_ms() - AGE_MS
    world = World(next_id(), next_id(), tuple(mint.session_token() for _ in range(member_count)))
    people = [_account(next_id(), number, now) for number in range(member_count)]
    _write(directory, functools.partial(_populate, world=world, people=people, now=now))
    return world


def _write(directory: Path, make: Callable[[sqlite3.Connection], None]) -> None:
    """What is to stand in the database of a new data directory, in one unit."""
    data = DataDirectory(directory)
    data.create()

    async def write() -> None:
        async with open_database(data.database, inline=True, durable=False) as database:
            await database.write(make, guard=UNGUARDED)

    trio.run(write)


NAMES: Final = (None, "Member {} of Many", "Ein Mitglied ({})", None, "Member {}", "Zoë die {}.")
"""Shown names of accounts, in turn: some have none, and some are not ASCII."""


def _account(user_id: int, number: int, now: int) -> Account:
    name = NAMES[number % len(NAMES)]
    return Account(
        id=user_id,
        username=f"member{number}",
        global_name=None if name is None else name.format(number),
        discriminator=1 + number % 9_999,
        email=f"member{number}@example.com",
        email_verified=True,
        created_at=now,
    )


def _populate(connection: sqlite3.Connection, *, world: World, people: list[Account], now: int) -> None:
    _sign_up(connection, people, world.tokens, now)
    _insert_plain(connection, people, world.guild_id, world.channel_id, now)
    for account in people:
        guild_folders.enter_guild(connection, account, world.guild_id)


def _insert_plain(
    connection: sqlite3.Connection, people: Sequence[Account], guild_id: int, channel_id: int, now: int
) -> None:
    """A guild of these accounts with one channel."""
    guild = attrs.evolve(_guild(guild_id, people, now), system_channel_id=channel_id)
    general = Channel(channel_id, guild_id, ChannelType.GUILD_TEXT, "general")
    joined = [
        Member(guild_id, account.id, _joined_at(number, guild_id, now), join_source=JoinSource.INSTANT_INVITE)
        for number, account in enumerate(people)
    ]
    insert_guild(connection, guild, [general], joined)


def _joined_at(number: int, guild_id: int, now: int) -> int:
    """Within a day before `now`, not in the same second as others of a guild or as the same account elsewhere."""
    return now - (number * 86_399 + guild_id) % AGE_MS


def _sign_up(connection: sqlite3.Connection, people: Sequence[Account], tokens: Sequence[str], now: int) -> None:
    """Write accounts, and sign the first of them in with these tokens."""
    for account in people:
        accounts.insert(connection, account)
    _sign_in(connection, people, tokens, now)


def _sign_in(connection: sqlite3.Connection, people: Sequence[Account], tokens: Sequence[str], now: int) -> None:
    for account, token in zip(people, tokens, strict=False):
        auth_sessions.insert(connection, AuthSession(token_hash(token), account.id, now, now))


def _guild(guild_id: int, people: Sequence[Account], now: int) -> Guild:
    return Guild(
        id=guild_id,
        owner_id=people[0].id,
        name="Measured guild",
        created_at=now,
        features=frozenset(NEW_GUILD_FEATURES),
        member_count=len(people),
    )


# A guild of any size: its members, roles and channels, and who is signed in

ROLES_PER_MEMBER: Final = 2
CHANNELS_PER_CATEGORY: Final = 50
HIDDEN_SHARE: Final = 4
"""One channel in this many is hidden from everyone but one role."""


@frozen
class LargeGuild:
    """What a measurement needs to know. `tokens` sign in members of the guild, `strangers` accounts outside of it."""

    guild_id: int
    channel_id: int
    hidden_channel_id: int
    role_id: int
    """A role that many members have, and that shows hidden channels."""
    silent_user_id: int
    """A member who is never connected."""
    some_user_ids: tuple[int, ...]
    """A hundred members, in a small guild all."""
    tokens: tuple[str, ...] = attrs.field(repr=False)
    strangers: tuple[str, ...] = attrs.field(repr=False)


def prepare_large(
    directory: Path, *, member_count: int, role_count: int, channel_count: int, signed_in: int, stranger_count: int
) -> LargeGuild:
    """Make the database in a new data directory. Raises OperatorError."""
    composition = _Composition(member_count, role_count, channel_count, signed_in, stranger_count)
    _write(directory, composition.populate)
    return composition.guild


class _Composition:
    def __init__(
        self, member_count: int, role_count: int, channel_count: int, signed_in: int, stranger_count: int
    ) -> None:
        clock = SystemClock()
        next_id = SnowflakeGenerator(clock, WORLD_WORKER)
        mint = TokenMint(secrets.SystemRandom())
        self._now = clock.now_ms() - AGE_MS
        first = next_id() - (1 << 40)  # below what the server hands out
        self._guild_id = first
        self._role_ids = [first + 1 + number for number in range(role_count)]
        self._channel_ids = [first + 1_000 + number for number in range(channel_count)]
        self._people = [_account(first + 10_000 + number, number, self._now) for number in range(member_count)]
        strangers = range(member_count, member_count + stranger_count)
        self._strangers = [_account(first + 10_000 + number, number, self._now) for number in strangers]
        kinds = [self._kind(number) for number in range(channel_count)]
        texts = [number for number, kind in enumerate(kinds) if kind is ChannelType.GUILD_TEXT]
        self.guild = LargeGuild(
            guild_id=first,
            channel_id=self._channel_ids[next(number for number in texts if not self._is_hidden(number))],
            hidden_channel_id=self._channel_ids[next(number for number in texts if self._is_hidden(number))],
            role_id=self._role_ids[0],
            silent_user_id=self._people[-1].id,
            some_user_ids=tuple(account.id for account in self._people[-100:]),
            tokens=tuple(mint.session_token() for _ in range(signed_in)),
            strangers=tuple(mint.session_token() for _ in range(stranger_count)),
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
        _sign_up(connection, self._people, self.guild.tokens, self._now)
        _sign_up(connection, self._strangers, self.guild.strangers, self._now)
        numbered = [
            Role(role_id, self._guild_id, f"role{number}", 1 + number, 0, hoist=number < 5)
            for number, role_id in enumerate(self._role_ids)
        ]
        listed = [self._channel(number) for number in range(len(self._channel_ids))]
        insert_guild(connection, _guild(self._guild_id, self._people, self._now), listed, self._members(), numbered)

    def _members(self) -> Iterator[Member]:
        for number, account in enumerate(self._people):
            held = frozenset(
                self._role_ids[(number * step) % len(self._role_ids)] for step in range(1, 1 + ROLES_PER_MEMBER)
            )
            yield Member(self._guild_id, account.id, self._now, join_source=JoinSource.INSTANT_INVITE, role_ids=held)

    def _channel(self, number: int) -> Channel:
        kind = self._kind(number)
        category = number - number % CHANNELS_PER_CATEGORY
        view = Permission.VIEW_CHANNEL.value
        shown_by = self._role_ids[(number // HIDDEN_SHARE) % len(self._role_ids)]
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


# Many small guilds with the same accounts in all of them

COMMUNITY_MEMBERS: Final = 300
COMMUNITY_CHANNELS: Final = 10
"""Two of them categories, one for voice."""

COMMUNITY_ROLES: Final = 5
"""Beside @everyone."""


@frozen
class Communities:
    """Guilds as small communities have them. `tokens` sign in members of all of them, `newcomers` members of one."""

    tokens: tuple[str, ...] = attrs.field(repr=False)
    newcomers: tuple[str, ...] = attrs.field(repr=False)


def prepare_communities(
    directory: Path, *, guild_count: int, signed_in: int, member_count: int = COMMUNITY_MEMBERS
) -> Communities:
    """Make the database in a new data directory: guilds of `member_count` members each. `signed_in` accounts are in all
    of them, and as many more in one of them. Raises OperatorError."""
    return _prepare_guilds(directory, _insert_community, guild_count, signed_in, member_count)


def prepare_plain_guilds(
    directory: Path, *, guild_count: int, signed_in: int, member_count: int = COMMUNITY_MEMBERS
) -> Communities:
    """The same of guilds as `prepare` makes one. Raises OperatorError."""

    def insert(connection: sqlite3.Connection, people: Sequence[Account], next_id: Callable[[], int], now: int) -> None:
        _insert_plain(connection, people, next_id(), next_id(), now)

    return _prepare_guilds(directory, insert, guild_count, signed_in, member_count)


def _prepare_guilds(
    directory: Path,
    insert: Callable[[sqlite3.Connection, Sequence[Account], Callable[[], int], int], None],
    guild_count: int,
    signed_in: int,
    member_count: int,
) -> Communities:
    clock = SystemClock()
    next_id = SnowflakeGenerator(clock, WORLD_WORKER)
    mint = TokenMint(secrets.SystemRandom())
    now = clock.now_ms() - AGE_MS
    people = [_account(next_id(), number, now) for number in range(member_count + signed_in)]
    communities = Communities(*(tuple(mint.session_token() for _ in range(signed_in)) for _ in range(2)))

    def populate(connection: sqlite3.Connection) -> None:
        for account in people:
            accounts.insert(connection, account)
        everywhere, newcomers = people[:member_count], people[member_count:]
        _sign_in(connection, everywhere[-signed_in:], communities.tokens, now)
        _sign_in(connection, newcomers, communities.newcomers, now)
        for number in range(guild_count):
            insert(connection, everywhere if number else people, next_id, now)

    _write(directory, populate)
    return communities


def _insert_community(
    connection: sqlite3.Connection, people: Sequence[Account], next_id: Callable[[], int], now: int
) -> None:
    """A guild of these accounts, every second with a role and every fourth with two; the highest role shows a channel
    that is hidden from the others."""
    guild_id = next_id()
    ranks = [Role(next_id(), guild_id, f"Rank {number}", 1 + number, 0) for number in range(COMMUNITY_ROLES)]
    view = Permission.VIEW_CHANNEL.value
    hidden = (
        Overwrite(guild_id, OverwriteType.ROLE, 0, view),
        Overwrite(ranks[-1].id, OverwriteType.ROLE, view, 0),
    )
    categories = [Channel(next_id(), guild_id, ChannelType.GUILD_CATEGORY, f"part-{at}", position=at) for at in (0, 1)]
    inside = [
        Channel(
            next_id(),
            guild_id,
            ChannelType.GUILD_VOICE if at == COMMUNITY_CHANNELS - 1 else ChannelType.GUILD_TEXT,
            f"about-matter-{at}",
            position=at,
            parent_id=categories[at % 2].id,
            topic="What is to be said of it, and nothing else",
            overwrites=hidden if at == len(categories) else (),
        )
        for at in range(len(categories), COMMUNITY_CHANNELS)
    ]
    members = [
        Member(
            guild_id,
            account.id,
            _joined_at(number, guild_id, now),
            join_source=JoinSource.INSTANT_INVITE,
            role_ids=frozenset(ranks[number // step % COMMUNITY_ROLES].id for step in (2, 4) if number % step == 0),
        )
        for number, account in enumerate(people)
    ]
    insert_guild(connection, _guild(guild_id, people, now), [*categories, *inside], members, ranks)


# A channel with any number of messages

APART_MS: Final = 1_000
"""Time between two messages."""

RARE_MESSAGES: Final = 100
"""This many messages hold the rare word, evenly spread over a history of any length."""

RARE_WORD: Final = "saskatoon"
COMMON_WORD: Final = "w0"
BEGINNING: Final = "w10"
"""Common as well, and so long that it may go on: a search for it finds w100 and w1000 too."""

VOCABULARY: Final = 5_000
WORDS_PER_MESSAGE: Final = 12
SLICE_MESSAGES: Final = 20_000


@frozen
class MessageIds:
    middle_id: int
    """A message with as many before it as behind it."""

    author_id: int


def fill(directory: Path, world: World, count: int) -> MessageIds:
    """Write `count` messages into the world's channel, and leave the search index up to date and merged, as a server at
    rest does."""
    with contextlib.closing(connect(DataDirectory(directory).database, durable=False)) as connection:
        authors = [row[0] for row in connection.execute("SELECT user_id FROM members ORDER BY user_id")]
        now = SystemClock().now_ms()
        first = now - (count + 60) * APART_MS
        ids = [snowflake_at(first + number * APART_MS) for number in range(count)]
        connection.execute("BEGIN")
        connection.executemany(
            "INSERT INTO messages (id, channel_id, author_id, type, content) VALUES (?, ?, ?, ?, ?)",
            (
                (message_id, world.channel_id, authors[number % len(authors)], int(MessageType.DEFAULT), content)
                for number, (message_id, content) in enumerate(zip(ids, _contents(count), strict=True))
            ),
        )
        connection.execute("UPDATE channels SET last_message_id = ? WHERE id = ?", (ids[-1], world.channel_id))
        connection.execute("COMMIT")
        _index(connection)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return MessageIds(ids[count // 2], authors[0])


def _index(connection: sqlite3.Connection) -> None:
    left = SLICE_MESSAGES
    while left == SLICE_MESSAGES:
        connection.execute("BEGIN")
        left = message_search_entries.bring_up_to_date(connection, SLICE_MESSAGES)
        connection.execute("COMMIT")
    is_due = message_search_segments.are_many(connection)
    while is_due:
        connection.execute("BEGIN")
        is_due = message_search_segments.merge_some(connection)
        connection.execute("COMMIT")


def _contents(count: int) -> Iterator[str]:
    """Texts whose words are as unevenly spread as those of a language: the n-th is there 1/n times as often."""
    chance = random.Random(0)  # noqa: S311 -- words, not secrets
    words = [f"w{number}" for number in range(VOCABULARY)]
    weights = [0.0]
    for number in range(VOCABULARY):
        weights.append(weights[-1] + 1 / (1 + number))
    every = max(1, count // RARE_MESSAGES)
    for number in range(count):
        text = " ".join(chance.choices(words, cum_weights=weights[1:], k=WORDS_PER_MESSAGE))
        yield f"{text} {RARE_WORD}" if number % every == 0 else text
