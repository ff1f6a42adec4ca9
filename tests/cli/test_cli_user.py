"""`chat user`: accounts, beside a running server or without one."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import trio

from chat.auth.passwords import CHEAP, Passwords
from chat.store import outside_changes
from chat.store.accounts import accounts
from chat.store.data_directory import DataDirectory
from chat.store.signing_in import auth_sessions
from chat.store.signing_in.auth_sessions import AuthSession
from tests.cli.command_line import ALICE, PASSWORD, Run, stored


def has_password(data: Path, user_id: str, password: str) -> bool:
    with stored(data) as connection:
        account = accounts.by_id(connection, int(user_id))
    assert account is not None
    passwords = Passwords(random.Random(), CHEAP, in_threads=False)
    return trio.run(passwords.verify, account.password_hash, password)


def test_an_account_is_made_with_its_data_directory(run: Run, data: Path) -> None:
    ending = run(
        *("user", "create", "--username", "alice", "--email", "Alice@example.com", "--password", PASSWORD),
        *("--acl", "user:lookup", "--acl", "*", "--data", data, "--json"),
    )
    assert (ending.status, ending.err) == (0, "")
    account = ending.json
    assert account["username"] == "alice"
    assert account["email"] == "Alice@example.com"
    assert account["email_verified"] is True
    assert account["acls"] == ["*", "user:lookup"]
    assert account["bot"] is False
    assert 1 <= int(account["discriminator"]) <= 9999
    assert "password" not in account
    assert has_password(data, account["id"], PASSWORD)


def test_a_password_is_made_and_printed_where_none_is_given(run: Run, data: Path, alice: str) -> None:
    account = run("user", "create", "--username", "bob", "--data", data).json
    assert account["email"] is None
    assert has_password(data, account["id"], account["password"])
    changed = run("user", "password", "alice", "--data", data).json
    assert has_password(data, alice, changed["password"])


def test_people_get_tables(run: Run, data: Path, alice: str) -> None:
    rows = run("user", "create", "--username", "bob", "--password", PASSWORD, "--data", data, terminal=True).table
    assert ["username", "bob"] in rows
    assert ["bot", "no"] in rows
    heading, *rows = run("user", "list", "--data", data, terminal=True).table
    assert heading[:4] == ["id", "username", "discriminator", "email"]
    assert [row[1] for row in rows] == ["alice", "bob"]
    listed = run("user", "list", "--data", data).json
    assert [account["username"] for account in listed] == ["alice", "bob"]


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
    run: Run, data: Path, alice: str, arguments: list[str], line: str
) -> None:
    ending = run("user", "create", "--data", data, *arguments)
    assert (ending.status, ending.out) == (1, "")
    assert ending.err.startswith(line)
    assert ending.err.count("\n") == 1
    assert len(run("user", "list", "--data", data).json) == 1


def test_an_account_is_found_by_every_name_of_it(run: Run, data: Path, alice: str) -> None:
    for name in ("alice", "ALICE", "alice@example.com", "alice#1234", alice):
        assert run("user", "acl", name, "--data", data).json["id"] == alice, name


def test_a_new_password_ends_the_sessions_of_the_account_also_beside_a_running_server(
    run: Run, data: Path, alice: str
) -> None:
    with stored(data) as server:
        auth_sessions.insert(server, AuthSession(b"1" * 32, ALICE, 1, 1))
        with DataDirectory(data).locked():
            changed = run("user", "password", "alice", "--password", "new " + PASSWORD, "--data", data)
        assert (changed.status, changed.err) == (0, "")
        assert auth_sessions.of_user(server, ALICE) == []
        (note,) = outside_changes.take_all(server)
    assert (note.kind, note.body) == (outside_changes.CREDENTIALS_REVOKED, {"user_id": ALICE})
    assert has_password(data, alice, "new " + PASSWORD)


def test_a_password_that_is_refused_changes_nothing(run: Run, data: Path, alice: str) -> None:
    assert run("user", "password", "alice", "--password", "short", "--data", data).status == 1
    assert has_password(data, alice, PASSWORD)
    with stored(data) as connection:
        assert not outside_changes.exist(connection)


def test_acls_are_shown_and_set(run: Run, data: Path, alice: str) -> None:
    assert run("user", "acl", "alice", "--data", data).json["acls"] == []
    ending = run("user", "acl", "alice", "--set", "user:view:email", "--set", "ban:ip:add", "--data", data, "--json")
    assert ending.json["acls"] == ["ban:ip:add", "user:view:email"]
    shown = run("user", "acl", "alice", "--data", data, terminal=True).table
    assert shown[2] == ["acls", "ban:ip:add, user:view:email"]
    with stored(data) as connection:
        (note,) = outside_changes.take_all(connection)
    assert (note.kind, note.body) == (outside_changes.ACCOUNT_CHANGED, {"user_id": ALICE})
    assert run("user", "acl", "alice", "--set", "", "--data", data, "--json").json["acls"] == []


@pytest.mark.parametrize("name", ["nobody", "nobody@example.com", "nobody#0001", "1", "99999999999999999999"])
def test_an_account_that_is_not_there_is_told(run: Run, data: Path, alice: str, name: str) -> None:
    ending = run("user", "acl", name, "--data", data)
    assert (ending.status, ending.err) == (1, f"chat: there is no account {name}\n")


def test_a_username_of_several_accounts_has_to_be_told_apart(run: Run, data: Path, alice: str) -> None:
    run("user", "create", "--username", "Alice", "--password", PASSWORD, "--data", data)
    ending = run("user", "acl", "alice", "--data", data)
    assert ending.status == 1
    assert ending.err.startswith("chat: several accounts are called alice: Alice#")
    assert run("user", "acl", "alice#1234", "--data", data).status == 0


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
