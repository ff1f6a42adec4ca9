"""Allocation of tags."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from chat.config import Settings
from chat.domain.policy.profiles import DISCRIMINATORS, Usernames
from chat.errors import InvalidFormBody
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.connections import connect
from chat.store.migrations import migrate


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    connection = connect(tmp_path / "chat.db", durable=False)
    migrate(connection)
    yield connection
    connection.close()


def usernames(**settings: object) -> Usernames:
    return Usernames(attrs.evolve(Settings(), **settings), random.Random(1))


def add(connection: sqlite3.Connection, user_id: int, username: str, number: int, *, bot: bool = False) -> Account:
    account = Account(id=user_id, username=username, discriminator=number, bot=bot)
    accounts.insert(connection, account)
    return account


def refusal(connection: sqlite3.Connection, names: Usernames, username: str) -> str | None:
    try:
        names.allocate(connection, username)
    except InvalidFormBody as refused:
        return refused.errors[0].code
    return None


def test_the_last_free_discriminator_is_found_and_then_there_is_none(connection: sqlite3.Connection) -> None:
    for number in DISCRIMINATORS:
        if number != 777:
            add(connection, number, "Alice", number)
    assert usernames().allocate(connection, "aLICE") == 777
    add(connection, 777, "alice", 777)
    assert refusal(connection, usernames(), "alice") == "TOO_MANY_USERS_WITH_THIS_USERNAME"
    name, _ = usernames().allocate_like(connection, "alice", bot=False)
    assert name.startswith("alice")
    assert len(name) == len("alice") + 6


def test_without_discriminators_a_username_is_had_once_whatever_the_number_it_was_given(
    connection: sqlite3.Connection,
) -> None:
    alice = add(connection, 1, "alice", 5)
    names = usernames(tag_style="none")
    assert refusal(connection, names, "ALICE") == "USERNAME_ALREADY_TAKEN"
    assert names.allocate(connection, "bob") == 0
    assert names.claimed(connection, alice, "Alice", None).discriminator == 0


def test_people_who_sign_in_by_username_share_none_but_bots_may(connection: sqlite3.Connection) -> None:
    add(connection, 1, "alice", 5)
    add(connection, 2, "robot", 5, bot=True)
    names = usernames(sign_in="username")
    assert refusal(connection, names, "alice") == "USERNAME_ALREADY_TAKEN"
    assert refusal(connection, names, "robot") is None
    assert names.allocate_like(connection, "alice", bot=True)[0] == "alice"


def test_a_number_from_another_style_is_replaced(connection: sqlite3.Connection) -> None:
    account = add(connection, 1, "alice", 0)
    assert usernames().claimed(connection, account, "bob", None).discriminator in DISCRIMINATORS


def test_a_long_name_is_cut_for_its_number(connection: sqlite3.Connection) -> None:
    add(connection, 1, "a" * 32, 0)
    name, number = usernames(tag_style="none").allocate_like(connection, "a" * 32, bot=True)
    assert len(name) == 32
    assert number == 0
