"""`chat user`: accounts, beside a running server or without one."""

from __future__ import annotations

import contextlib
import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
import trio
from command_line import Outcome, Run

from chat.auth.passwords import CHEAP, Passwords
from chat.store import accounts, auth_sessions, outside_changes
from chat.store.auth_sessions import AuthSession
from chat.store.connections import connect
from chat.store.data_directory import DataDirectory

PASSWORD = "correct horse battery"


@pytest.fixture
def alice(run: Run, data: Path) -> Outcome:
    ending = run(
        *("user", "create", "--username", "alice", "--email", "Alice@example.com", "--password", PASSWORD),
        *("--acl", "user:lookup", "--acl", "*", "--data", data, "--json"),
    )
    assert (ending.status, ending.err) == (0, "")
    return ending


@contextlib.contextmanager
def stored(data: Path) -> Iterator[sqlite3.Connection]:
    with contextlib.closing(connect(DataDirectory(data).database)) as connection:
        yield connection


def has_password(data: Path, user_id: str, password: str) -> bool:
    with stored(data) as connection:
        account = accounts.by_id(connection, int(user_id))
    assert account is not None
    passwords = Passwords(random.Random(), CHEAP, in_threads=False)
    return trio.run(passwords.verify, account.password_hash, password)


def test_an_account_is_made_with_its_data_directory(data: Path, alice: Outcome) -> None:
    account = alice.json
    assert account["username"] == "alice"
    assert account["email"] == "Alice@example.com"
    assert account["email_verified"] is True
    assert account["acls"] == ["*", "user:lookup"]
    assert account["bot"] is False
    assert 1 <= int(account["discriminator"]) <= 9999
    assert "password" not in account
    assert has_password(data, account["id"], PASSWORD)


def test_a_password_is_made_and_printed_where_none_is_given(run: Run, data: Path) -> None:
    account = run("user", "create", "--username", "bob", "--data", data, "--json").json
    assert account["email"] is None
    assert has_password(data, account["id"], account["password"])


def test_people_get_a_line_for_each_field(run: Run, data: Path) -> None:
    rows = run("user", "create", "--username", "bob", "--password", PASSWORD, "--data", data).rows
    assert ["username", "bob"] in rows
    assert ["bot", "no"] in rows


def test_accounts_are_listed_the_oldest_first(run: Run, data: Path, alice: Outcome) -> None:
    bob = run("user", "create", "--username", "bob", "--password", PASSWORD, "--data", data, "--json").json
    heading, *rows = run("user", "list", "--data", data).rows
    assert heading[:4] == ["id", "username", "discriminator", "email"]
    assert [row[1] for row in rows] == ["alice", "bob"]
    listed = run("user", "list", "--data", data, "--json").json
    assert [account["id"] for account in listed] == [alice.json["id"], bob["id"]]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--username", "everyone"], "chat: username: "),
        (["--username", "bob", "--email", "nonsense"], "chat: email: "),
        (["--username", "bob", "--email", "alice@EXAMPLE.com"], "chat: email: "),
        (["--username", "bob", "--password", "short"], "chat: password: "),
        (["--username", "bob", "--acl", "Everything"], "chat: 'Everything' is no ACL: "),
    ],
)
def test_an_account_that_cannot_be_is_refused_in_one_line(
    run: Run, data: Path, alice: Outcome, arguments: list[str], line: str
) -> None:
    ending = run("user", "create", "--data", data, *arguments)
    assert (ending.status, ending.out) == (1, "")
    assert ending.err.startswith(line)
    assert ending.err.count("\n") == 1
    assert len(run("user", "list", "--data", data).rows) == 2


@pytest.mark.parametrize("name", ["alice", "ALICE", "alice@example.com", "tag", "id"])
def test_a_new_password_ends_the_sessions_of_the_account_also_beside_a_running_server(
    run: Run, data: Path, alice: Outcome, name: str
) -> None:
    account = alice.json
    names = {"tag": f"alice#{account['discriminator']}", "id": account["id"]}
    with stored(data) as server:
        auth_sessions.insert(server, AuthSession(b"1" * 32, int(account["id"]), 1, 1))
        with DataDirectory(data).locked():
            changed = run("user", "password", names.get(name, name), "--password", "new " + PASSWORD, "--data", data)
        assert (changed.status, changed.err) == (0, "")
        assert auth_sessions.of_user(server, int(account["id"])) == []
        (note,) = outside_changes.take_all(server)
    assert (note.kind, note.body) == (outside_changes.CREDENTIALS_REVOKED, {"user_id": int(account["id"])})
    assert has_password(data, account["id"], "new " + PASSWORD)


def test_in_a_pipe_a_new_password_is_made_and_printed(run: Run, data: Path, alice: Outcome) -> None:
    changed = run("user", "password", "alice", "--data", data, "--json").json
    assert has_password(data, changed["id"], changed["password"])


def test_a_password_that_is_refused_changes_nothing(run: Run, data: Path, alice: Outcome) -> None:
    assert run("user", "password", "alice", "--password", "short", "--data", data).status == 1
    assert has_password(data, alice.json["id"], PASSWORD)
    with stored(data) as connection:
        assert not outside_changes.exist(connection)


def test_acls_are_shown_and_set(run: Run, data: Path, alice: Outcome) -> None:
    assert run("user", "acl", "alice", "--data", data, "--json").json["acls"] == ["*", "user:lookup"]
    ending = run("user", "acl", "alice", "--set", "user:view:email", "--set", "ban:ip:add", "--data", data, "--json")
    assert ending.json["acls"] == ["ban:ip:add", "user:view:email"]
    assert run("user", "acl", "alice", "--data", data).rows[2] == ["acls", "ban:ip:add, user:view:email"]
    with stored(data) as connection:
        (note,) = outside_changes.take_all(connection)
    assert (note.kind, note.body) == (outside_changes.ACCOUNT_CHANGED, {"user_id": int(alice.json["id"])})
    assert run("user", "acl", "alice", "--set", "", "--data", data, "--json").json["acls"] == []


@pytest.mark.parametrize("name", ["nobody", "nobody@example.com", "nobody#0001", "1", "99999999999999999999"])
def test_an_account_that_is_not_there_is_told(run: Run, data: Path, alice: Outcome, name: str) -> None:
    ending = run("user", "acl", name, "--data", data)
    assert (ending.status, ending.err) == (1, f"chat: there is no account {name}\n")


def test_a_username_of_several_accounts_has_to_be_told_apart(run: Run, data: Path, alice: Outcome) -> None:
    run("user", "create", "--username", "Alice", "--password", PASSWORD, "--data", data)
    ending = run("user", "acl", "alice", "--data", data)
    assert ending.status == 1
    assert ending.err.startswith("chat: several accounts are called alice: Alice#")
    assert run("user", "acl", f"alice#{alice.json['discriminator']}", "--data", data).status == 0


@pytest.mark.parametrize(
    "arguments", [["user", "list"], ["user", "password", "alice"], ["bot", "create", "--owner", "a", "--name", "b"]]
)
def test_only_making_an_account_makes_data(run: Run, data: Path, arguments: list[str]) -> None:
    ending = run(*arguments, "--data", data)
    assert (ending.status, ending.out) == (1, "")
    assert ending.err == f"chat: there is no data in {data}: name the data directory with --data\n"
    assert not data.exists()


def test_a_file_in_place_of_the_database_is_told(run: Run, data: Path) -> None:
    data.mkdir()
    DataDirectory(data).database.write_bytes(b"Dear diary, " * 1000)
    ending = run("user", "list", "--data", data)
    assert (ending.status, ending.out) == (1, "")
    assert ending.err.endswith("file is not a database\n")
