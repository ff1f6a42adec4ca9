"""`chat key` and `chat ban`."""

from __future__ import annotations

from pathlib import Path

import pytest

from chat.auth.credentials import parse_authorization, resolve
from chat.store import outside_changes
from chat.store.signing_in import address_bans
from chat.store.signing_in.address_bans import AddressBan
from tests.cli.command_line import Run, stored

FOREVER = 32_503_680_000_000


def test_a_key_is_told_once_and_works(run: Run, data: Path, alice: str) -> None:
    command = ("key", "create", "--owner", "alice", "--acl", "user:lookup", "--acl", "admin:authenticate")
    made = run(*command, "--expires-in-days", "3", "--data", data, "--json")
    assert (made.status, made.err) == (0, "")
    assert made.json.keys() == {"key_id", "key", "owner_id", "name", "acls", "expires_at"}
    with stored(data) as connection:
        principal = resolve(connection, parse_authorization([f"Admin {made.json['key']}"]), 0)
        expired = resolve(connection, parse_authorization([f"Admin {made.json['key']}"]), FOREVER)
    assert principal is not None
    assert str(principal.user_id) == made.json["owner_id"] == alice
    assert principal.key_acls == {"user:lookup", "admin:authenticate"}
    assert expired is None


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--owner", "nobody", "--acl", "*"), "there is no account nobody"),
        (("--owner", "alice", "--acl", "user:invented"), "'user:invented' is no ACL"),
        (("--owner", "alice", "--acl", "*", "--name", ""), "the name of a key has 1 to 100 characters"),
    ],
)
def test_what_makes_no_key(run: Run, data: Path, alice: str, arguments: tuple[str, ...], complaint: str) -> None:
    ending = run("key", "create", *arguments, "--data", data)
    assert ending.status == 1
    assert complaint in ending.err
    with stored(data) as connection:
        assert connection.execute("SELECT count(*) FROM admin_api_keys").fetchone() == (0,)


def test_a_bot_has_no_keys(run: Run, data: Path, alice: str) -> None:
    bot = run("bot", "create", "--owner", "alice", "--name", "helper", "--data", data, "--json").json
    ending = run("key", "create", "--owner", bot["user_id"], "--acl", "*", "--data", data)
    assert (ending.status, ending.err) == (1, "chat: helper is a bot: keys belong to people\n")


def test_bans_are_listed_and_lifted(run: Run, data: Path, alice: str) -> None:
    bans = [
        AddressBan("192.0.2.1", "authentication failures", 5, FOREVER),
        AddressBan("2001:db8::/64", "authentication failures", 6, FOREVER),
        AddressBan("192.0.2.2", "authentication failures", 1, 2),
    ]
    with stored(data) as connection:
        address_bans.insert(connection, bans)
    listed = run("ban", "list", "--data", data, terminal=True)
    assert [row[0] for row in listed.table] == ["network", "192.0.2.1", "2001:db8::/64"]
    assert run("ban", "remove", "2001:db8::77", "--data", data).status == 0
    assert run("ban", "remove", "192.0.2.1", "--data", data).status == 0
    assert run("ban", "list", "--data", data, "--json").json == []
    with stored(data) as connection:
        notes = [
            note.body
            for note in outside_changes.take_all(connection)
            if note.kind == outside_changes.ADDRESS_BAN_LIFTED
        ]
    assert notes == [{"network": "2001:db8::/64"}, {"network": "192.0.2.1"}]


@pytest.mark.parametrize("address", ["192.0.2.9", "nonsense", ""])
def test_what_is_not_banned_cannot_be_lifted(run: Run, data: Path, alice: str, address: str) -> None:
    ending = run("ban", "remove", address, "--data", data)
    assert ending.status == 1
    assert "is not banned" in ending.err


def test_a_network_may_be_named_as_it_is_listed(run: Run, data: Path, alice: str) -> None:
    with stored(data) as connection:
        address_bans.insert(connection, [AddressBan("2001:db8::/64", "authentication failures", 6, FOREVER)])
    assert run("ban", "remove", "2001:db8::/64", "--data", data).status == 0
