"""`chat bot`: applications with their bot accounts."""

from __future__ import annotations

from pathlib import Path

import pytest

from chat.auth.tokens import application_of, token_hash
from chat.store import outside_changes
from chat.store.accounts import accounts
from chat.store.applications import applications
from chat.store.connections import connect
from chat.store.data_directory import DataDirectory
from tests.cli.command_line import ALICE, Run, stored


def test_a_bot_is_made_with_a_token_that_is_told_once(run: Run, data: Path, alice: str) -> None:
    bot = run("bot", "create", "--owner", "alice", "--name", "Helper", "--data", data, "--json").json
    assert set(bot) == {"application_id", "user_id", "username", "token", "client_secret"}
    assert application_of(bot["token"]) == int(bot["application_id"])
    connection = connect(DataDirectory(data).database)
    application = applications.by_id(connection, int(bot["application_id"]))
    account = accounts.by_id(connection, int(bot["user_id"]))
    connection.close()
    assert application is not None
    assert account is not None
    assert (application.name, application.owner_id) == ("Helper", ALICE)
    assert application.bot_token_hash == token_hash(bot["token"])
    assert account.bot is True
    assert bot["token"] not in run("user", "list", "--data", data, "--json").out


def test_people_get_a_line_for_each_field(run: Run, data: Path, alice: str) -> None:
    rows = run("bot", "create", "--owner", alice, "--name", "Helper", "--data", data, terminal=True).table
    assert [row[0] for row in rows] == ["application_id", "user_id", "username", "token", "client_secret"]


def test_a_bot_can_be_made_like_an_account(run: Run, data: Path, alice: str) -> None:
    bot = run("user", "create", "--username", "helper", "--bot-of", alice, "--data", data, "--json").json
    assert bot["username"] == "helper"
    listed = {account["id"]: account for account in run("user", "list", "--data", data, "--json").json}
    assert listed[bot["user_id"]]["bot"] is True


def test_an_owner_who_is_not_there_is_told(run: Run, data: Path, alice: str) -> None:
    ending = run("bot", "create", "--owner", "bob", "--name", "Helper", "--data", data)
    assert (ending.status, ending.err) == (1, "chat: there is no account bob\n")


@pytest.mark.parametrize("name", ["", "x" * 101])
def test_a_bot_whose_name_no_application_can_have_is_not_made(run: Run, data: Path, alice: str, name: str) -> None:
    ending = run("bot", "create", "--owner", "alice", "--name", name, "--data", data)
    assert (ending.status, ending.err) == (1, "chat: the name of a bot has 1 to 100 characters\n")
    assert len(run("user", "list", "--data", data, "--json").json) == 1


def test_a_bot_has_no_password(run: Run, data: Path, alice: str) -> None:
    bot = run("bot", "create", "--owner", "alice", "--name", "Helper", "--data", data, "--json").json
    ending = run("user", "password", bot["user_id"], "--data", data)
    assert ending.status == 1
    assert ending.err.endswith("is a bot: it has a token, not a password\n")


def test_bots_are_listed_without_tokens(run: Run, data: Path, alice: str) -> None:
    assert run("bot", "list", "--data", data).json == []
    bot = run("bot", "create", "--owner", "alice", "--name", "Helper", "--data", data).json
    run("user", "create", "--username", "bob", "--data", data)
    (listed,) = run("bot", "list", "--data", data).json
    assert (listed["application_id"], listed["user_id"], listed["name"]) == (
        bot["application_id"],
        bot["user_id"],
        "Helper",
    )
    assert (listed["owner"], listed["owner_id"], listed["bot_public"]) == ("alice#1234", alice, True)
    assert listed["bot"].startswith("Helper#")
    assert bot["token"] not in run("bot", "list", "--data", data).out
    assert run("bot", "list", "--owner", "bob", "--data", data).json == []
    assert len(run("bot", "list", "--owner", "alice", "--data", data).json) == 1
    heading, row = run("bot", "list", "--data", data, terminal=True).table
    assert heading[:4] == ["application_id", "name", "bot", "owner"]
    assert row[:2] == [bot["application_id"], "Helper"]


def test_a_bot_gets_a_new_token(run: Run, data: Path, alice: str) -> None:
    bot = run("bot", "create", "--owner", "alice", "--name", "Helper", "--data", data).json
    renewed = run("bot", "token", bot["application_id"], "--data", data).json
    assert renewed.keys() == {"application_id", "user_id", "username", "token"}
    assert renewed["token"] != bot["token"]
    with stored(data) as connection:
        application = applications.by_id(connection, int(bot["application_id"]))
        (note,) = outside_changes.take_all(connection)
    assert application is not None
    assert application.bot_token_hash == token_hash(renewed["token"])
    assert (note.kind, note.body) == (outside_changes.CREDENTIALS_REVOKED, {"user_id": int(bot["user_id"])})


@pytest.mark.parametrize(("name", "status", "told"), [("77", 1, "there is no bot 77"), ("Helper", 2, "is no id")])
def test_a_token_of_no_bot(run: Run, data: Path, alice: str, name: str, status: int, told: str) -> None:
    ending = run("bot", "token", name, "--data", data)
    assert (ending.status, ending.out) == (status, "")
    assert told in ending.err
    assert run("bot", "token", alice, "--data", data).status == 1
