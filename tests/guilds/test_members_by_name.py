"""The order of members by the name that is shown, which the store keeps, against a plain sort of the names."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.snowflake import MAXIMUM
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.connections import connect
from chat.store.data_directory import DataDirectory
from chat.store.deep_check import wrong_name_keys
from chat.store.guilds import guilds, members
from chat.store.guilds.guilds import Guild
from chat.store.guilds.members import Member
from chat.store.migrations import MIGRATIONS, migrate

GUILDS = (1, 2)
OLDER_GUILD = "INSERT INTO guilds (id, owner_id, name, created_at) VALUES (?, 1, 'Harbour', 0)"
FIRST_ID = 100
NAMES = (
    "anna",
    "Anna",
    "Émile",
    "émile",
    "STRASSE",
    "straße",
    "ǅa",
    "İd",
    "ΣΑΣ",
    "ςας",
    "李",
    "😀",
    "0x",
    "~",
    "",
    "a\0b",
)

names = st.sampled_from(NAMES) | st.text(max_size=4)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = DataDirectory(Path(tmp_path_factory.mktemp("named")))
    directory.bring_database_up_to_date()
    with closing(connect(directory.database, durable=False)) as connection:
        accounts.insert(connection, Account(1, "owner", 1))
        for guild_id in GUILDS:
            guilds.insert(connection, Guild(guild_id, 1, "Harbour", 0))
    return directory.database


@attrs.define
class Told:
    """What was done, as a plain program keeps it."""

    accounts: dict[int, Account] = attrs.Factory(dict)
    nicks: dict[tuple[int, int], str | None] = attrs.Factory(dict)

    def order(self, guild_id: int) -> list[int]:
        shown = []
        for (where, user_id), nick in self.nicks.items():
            account = self.accounts[user_id]
            name = next(each for each in (nick, account.global_name, account.username) if each is not None)
            if where == guild_id:
                shown.append((name.casefold(), user_id))
        return [user_id for _, user_id in sorted(shown)]


def sign_up(told: Told, connection: sqlite3.Connection, chance: random.Random, name: str) -> None:
    number = FIRST_ID + chance.randrange(1 << 60)
    account = Account(number, name, number, chance.choice((None, name)))
    accounts.insert(connection, account)
    told.accounts[account.id] = account


def join(told: Told, connection: sqlite3.Connection, chance: random.Random, name: str) -> None:
    member = Member(chance.choice(GUILDS), chance.choice([*told.accounts]), 0, chance.choice((None, name)))
    if (member.guild_id, member.user_id) not in told.nicks:
        members.insert(connection, member)
        told.nicks[member.guild_id, member.user_id] = member.nick


def leave(told: Told, connection: sqlite3.Connection, chance: random.Random, name: str) -> None:
    place = chance.choice([*told.nicks])
    members.delete(connection, *place)
    del told.nicks[place]


def change_nick(told: Told, connection: sqlite3.Connection, chance: random.Random, name: str) -> None:
    place = chance.choice([*told.nicks])
    member = members.by_id(connection, *place)
    assert member is not None
    told.nicks[place] = chance.choice((None, name))
    members.replace(connection, member._replace(nick=told.nicks[place], mute=True))


def rename(told: Told, connection: sqlite3.Connection, chance: random.Random, name: str) -> None:
    account = told.accounts[chance.choice([*told.accounts])]
    change = chance.choice(({"global_name": name}, {"global_name": None}, {"username": name}, {"bio": name}))
    told.accounts[account.id] = attrs.evolve(account, **change)
    accounts.replace(connection, told.accounts[account.id])


def rename_by_hand(told: Told, connection: sqlite3.Connection, chance: random.Random, name: str) -> None:
    """As no part of the program does: single columns."""
    account = told.accounts[chance.choice([*told.accounts])]
    told.accounts[account.id] = attrs.evolve(account, global_name=name)
    connection.execute("UPDATE users SET global_name = ? WHERE id = ?", (name, account.id))


def delete_account(told: Told, connection: sqlite3.Connection, chance: random.Random, name: str) -> None:
    user_id = chance.choice([*told.accounts])
    connection.execute("DELETE FROM users WHERE id = ?", (user_id,))
    del told.accounts[user_id]
    told.nicks = {place: nick for place, nick in told.nicks.items() if place[1] != user_id}


Change = Callable[[Told, sqlite3.Connection, random.Random, str], None]
OF_ACCOUNTS: tuple[Change, ...] = (join, join, rename, rename_by_hand, delete_account)
OF_MEMBERS: tuple[Change, ...] = (leave, change_nick, change_nick)


@settings(max_examples=80)
@given(seed=st.integers(0, 1 << 32), drawn=st.lists(names, min_size=12, max_size=60))
def test_the_order_is_that_of_a_plain_sort(path: Path, seed: int, drawn: list[str]) -> None:
    chance, told = random.Random(seed), Told()
    with closing(connect(path, durable=False)) as connection:
        connection.execute("BEGIN")
        for name in drawn:
            known = (
                [sign_up] if len(told.accounts) < 4 else [sign_up, *OF_ACCOUNTS, *(OF_MEMBERS if told.nicks else ())]
            )
            chance.choice(known)(told, connection, chance, name)
        assert list(wrong_name_keys(connection)) == []
        for guild_id in GUILDS:
            order = told.order(guild_id)
            assert first(connection, guild_id) == order
            chosen = [user_id for user_id in [1, *told.accounts] if chance.random() < 0.5]
            limit, looked_at = chance.randrange(1, 9), chance.randrange(1, 20)
            found = members.first_by_name(
                connection, guild_id, MAXIMUM, limit, set(chosen).__contains__, looked_at=looked_at
            )
            assert found == [user_id for user_id in order[:looked_at] if user_id in chosen][:limit]
            sorted_ones = members.sorted_by_name(connection, guild_id, chosen, limit)
            assert sorted_ones == [user_id for user_id in order if user_id in chosen][:limit]
            last_id = chance.choice([1, *told.accounts])
            assert first(connection, guild_id, last_id) == [user_id for user_id in order if user_id <= last_id]
        connection.execute("ROLLBACK")


def first(connection: sqlite3.Connection, guild_id: int, last_id: int = MAXIMUM) -> list[int]:
    return members.first_by_name(connection, guild_id, last_id, 99, lambda _: True, looked_at=99)


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO members (guild_id, user_id, joined_at) VALUES (1, 1, 0)",
        "UPDATE members SET nick = 'Zed'",
        "UPDATE users SET global_name = 'Zed'",
        "UPDATE users SET username = 'zed'",
    ],
)
def test_names_are_not_written_without_their_keys(path: Path, statement: str) -> None:
    """By a connection that was not made by `connect`; what is no name, it writes."""
    with closing(sqlite3.connect(path)) as other:
        with pytest.raises(sqlite3.OperationalError, match="no such function: casefold"):
            other.execute(statement)
        other.execute("UPDATE members SET mute = 1")
        assert other.execute("UPDATE users SET bio = 'of no matter'").rowcount == 1
        other.rollback()


def test_members_of_an_older_version_get_their_keys(tmp_path: Path) -> None:
    with closing(connect(tmp_path / "chat.sqlite3", durable=False)) as connection:
        before = [migration.__name__ for migration in MIGRATIONS].index("members_by_name")
        migrate(connection, MIGRATIONS[:before])
        told = Told()
        accounts.insert(connection, Account(1, "owner", 1))
        for guild_id in GUILDS:
            # In the columns that there were by then.
            connection.execute(OLDER_GUILD, (guild_id,))
        for number, name in enumerate(NAMES):
            account = Account(FIRST_ID + number, f"{name} {number}", 1, name if number % 3 else None)
            accounts.insert(connection, account)
            told.accounts[account.id] = account
            for guild_id in GUILDS:
                told.nicks[guild_id, account.id] = nick = NAMES[-number] if number % 2 == guild_id % 2 else None
                members.insert(connection, Member(guild_id, account.id, 0, nick))
        migrate(connection)
        assert list(wrong_name_keys(connection)) == []
        assert [first(connection, guild_id) for guild_id in GUILDS] == [told.order(guild_id) for guild_id in GUILDS]
