"""`chat guild` and `chat channel`: what the operator makes, gives and takes, beside a running server or without one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chat.store import outside_changes
from chat.store.accounts import user_settings
from chat.store.data_directory import DataDirectory
from chat.store.guilds import channels, guilds, members, roles
from chat.store.standing import guild_audit_log
from tests.cli.command_line import ALICE, CATEGORY, CHANNEL, GUILD, Outcome, Run, stored


def test_features_are_shown_added_and_removed(run: Run, data: Path, alice: str) -> None:
    def features(*arguments: str) -> Outcome:
        with DataDirectory(data).locked():  # as a running server holds it
            return run("guild", "features", GUILD, *arguments, "--data", data, "--json")

    assert features().json == {"id": str(GUILD), "name": "Harbour", "features": []}
    assert features("--add", "VANITY_URL", "--add", "verified").json["features"] == ["VANITY_URL", "VERIFIED"]
    assert features("--add", "VANITY_URL").json["features"] == ["VANITY_URL", "VERIFIED"]
    changed = features("--remove", "VERIFIED", "--remove", "PARTNERED", "--add", "VIP_VOICE").json
    assert changed["features"] == ["VANITY_URL", "VIP_VOICE"] == features().json["features"]
    with stored(data) as connection:
        notes = [(note.kind, note.body) for note in outside_changes.take_all(connection)]
    # One for each change, as entries: what changed nothing is not told.
    entries = run("audit-log", "--data", data).json
    assert [(entry["action"], entry["target_id"], entry["admin_user_id"]) for entry in entries] == [
        ("update_features", str(GUILD), "0")
    ] * 2
    assert entries[0]["metadata"]["new_features"] == "VANITY_URL,VIP_VOICE"
    assert notes == [(outside_changes.GUILD_CHANGED, {"guild_id": GUILD})] * 2


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ((str(GUILD), "--add", "BEER"), "chat: 'BEER' is no guild feature: expected one such as VANITY_URL\n"),
        ((str(GUILD), "--add", "BANNER", "--remove", "banner"), "chat: BANNER cannot be both added and removed\n"),
        (("77", "--add", "VERIFIED"), "chat: there is no guild 77\n"),
    ],
)
def test_what_cannot_be_is_told_in_one_line(
    run: Run, data: Path, alice: str, arguments: tuple[str, ...], line: str
) -> None:
    ending = run("guild", "features", *arguments, "--data", data)
    assert (ending.status, ending.out, ending.err) == (1, "", line)
    assert run("guild", "features", GUILD, "--data", data, "--json").json["features"] == []


def test_wrong_usage(run: Run, data: Path, alice: str) -> None:
    assert run("guild", "features", "harbour", "--data", data).status == 2
    assert run("guild", "features", "--data", data).status == 2


def test_people_get_a_line_for_each_field(run: Run, data: Path, alice: str) -> None:
    command = ("guild", "features", GUILD, "--add", "VERIFIED", "--add", "BANNER", "--data", data)
    rows = run(*command, terminal=True).table
    assert rows == [["id", str(GUILD)], ["name", "Harbour"], ["features", "BANNER, VERIFIED"]]


def test_a_guild_is_made_for_its_owner(run: Run, data: Path, alice: str) -> None:
    made = run("guild", "create", "--owner", "alice", "--name", "  Pier  ", "--data", data).json
    assert (made["name"], made["owner_id"], made["member_count"]) == ("Pier", alice, 1)
    guild_id = int(made["id"])
    with stored(data) as connection:
        names = [channel.name for channel in channels.of_guild(connection, guild_id)]
        assert members.exists(connection, guild_id, ALICE)
        folders = user_settings.of_user(connection, ALICE)["guild_folders"]
        (note,) = outside_changes.take_all(connection)
    assert sorted(names) == ["General", "Text Channels", "Voice Channels", "general"]
    assert made["id"] in folders[0]["guild_ids"]
    assert (note.kind, note.body) == (outside_changes.GUILD_CREATED, {"guild_id": guild_id, "user_id": ALICE})


def test_an_owner_needs_no_mail_address(run: Run, data: Path, alice: str) -> None:
    """The rules of Create guild about the account are for people who create guilds themselves."""
    run("user", "create", "--username", "bob", "--password", "a long enough word", "--data", data)
    assert run("guild", "create", "--owner", "bob", "--name", "Pier", "--data", data).status == 0


TEMPLATE = {
    "name": "Pier",
    "roles": [{"id": 0, "name": "@everyone", "permissions": "1024"}, {"id": 1, "name": "Pilot", "permissions": "8"}],
    "channels": [
        {"id": 1, "type": 4, "name": "Land", "position": 0},
        {"id": 2, "type": 0, "name": "crane", "position": 1},
    ],
}


def test_a_guild_is_made_of_a_template(run: Run, data: Path, alice: str, tmp_path: Path) -> None:
    file = tmp_path / "template.json"
    file.write_text(json.dumps(TEMPLATE))
    command = ("guild", "create", "--owner", "alice", "--name", "Pier", "--data", data, "--template", file)
    made = run(*command).json
    with stored(data) as connection:
        assert [one.name for one in channels.of_guild(connection, int(made["id"]))] == ["Land", "crane"]
        assert [one.name for one in roles.of_guild(connection, int(made["id"]))] == ["@everyone", "Pilot"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is no JSON"),
        ("[" * 100_000, "is no JSON"),
        ("null", "is no template, which is a JSON object"),
        ("{}", "template.name: "),
        (json.dumps({**TEMPLATE, "roles": [{"name": "Pilot"}]}), "template.roles.0."),
        (json.dumps({**TEMPLATE, "channels": TEMPLATE["channels"] * 2}), "template"),
        (" " * 2_000_000, "has more than 1048576 bytes: that is no template"),
        ("\udcff", "is no JSON"),
    ],
    ids=["empty", "deep", "null", "bare", "role", "repeated", "long", "no text"],
)
def test_a_template_that_is_none_makes_nothing(
    run: Run, data: Path, alice: str, tmp_path: Path, text: str, told: str
) -> None:
    file = tmp_path / "template.json"
    file.write_text(text, errors="surrogateescape")
    ending = run("guild", "create", "--owner", "alice", "--name", "Pier", "--template", file, "--data", data)
    assert (ending.status, ending.out, ending.err.count("\n")) == (1, "", 1)
    assert told in ending.err
    assert [guild["name"] for guild in run("guild", "list", "--data", data).json] == ["Harbour"]


@pytest.mark.parametrize(
    ("arguments", "status", "told"),
    [
        (("--owner", "bob", "--name", "Pier"), 1, "there is no account bob"),
        (("--owner", "alice", "--name", ""), 1, "name: "),
        (("--owner", "alice", "--name", "x" * 101), 1, "name: "),
        (("--owner", "alice"), 2, "Missing option '--name'"),
        (("--owner", "alice", "--name", "Pier", "--template", "/nowhere/at/all"), 2, "No such file or directory"),
    ],
)
def test_a_guild_that_cannot_be_is_told_in_one_line(
    run: Run, data: Path, alice: str, arguments: tuple[str, ...], status: int, told: str
) -> None:
    ending = run("guild", "create", *arguments, "--data", data)
    assert (ending.status, ending.out) == (status, "")
    assert told in ending.err


def test_a_bot_owns_no_guild_and_nobody_too_many(
    run: Run, data: Path, alice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = run("bot", "create", "--owner", "alice", "--name", "Crane", "--data", data).json
    ending = run("guild", "create", "--owner", bot["user_id"], "--name", "Pier", "--data", data)
    assert ending.err.endswith("is a bot: guilds belong to people\n")
    monkeypatch.setenv("CHAT_LIMITS__MAX_GUILDS", "1")
    assert run("guild", "create", "--owner", "alice", "--name", "Pier", "--data", data).status == 0
    ending = run("guild", "create", "--owner", "alice", "--name", "Quay", "--data", data)
    assert (ending.status, ending.err) == (1, "chat: alice is in as many guilds as an account may be in\n")


def test_a_channel_is_made_in_the_name_of_the_instance(run: Run, data: Path, alice: str) -> None:
    command = ("channel", "create", GUILD, "--name", "Night Watch", "--parent", CATEGORY, "--topic", "Hours")
    made = run(*command, "--data", data).json
    assert made == {"id": made["id"], "name": "night-watch", "type": 0, "parent_id": str(CATEGORY)}
    voice = run("channel", "create", GUILD, "--name", "Bridge", "--type", "voice", "--data", data).json
    assert (voice["name"], voice["type"]) == ("Bridge", 2)
    assert run("channel", "create", GUILD, "--name", "Ads", "--type", "5", "--data", data).json["type"] == 5
    with stored(data) as connection:
        found = {channel.name: channel for channel in channels.of_guild(connection, GUILD)}
        assert (found["night-watch"].topic, found["night-watch"].position) == ("Hours", found["quay"].position + 1)
        assert (found["Bridge"].bitrate or 0) > 0
        first = outside_changes.take_all(connection)[0]
        entry = guild_audit_log.by_id(connection, first.body["entry_ids"][0])
    assert first.kind == outside_changes.CHANNEL_CREATED
    assert entry is not None
    assert (entry.user_id, entry.target_id, entry.action_type) == (0, made["id"], 10)


@pytest.mark.parametrize(
    ("arguments", "status", "told"),
    [
        ((77, "--name", "x"), 1, "there is no guild 77"),
        ((GUILD, "--name", ""), 1, "the name of a channel has 1 to 100 characters"),
        ((GUILD, "--name", "!!!"), 1, "name: "),
        ((GUILD, "--name", "x", "--parent", CHANNEL), 1, "parent_id: "),
        ((GUILD, "--name", "x", "--parent", 77), 1, "parent_id: "),
        ((GUILD, "--name", "x", "--type", "4", "--topic", "y" * 2_000), 0, ""),
        ((GUILD, "--name", "x", "--topic", "y" * 2_000), 1, "topic: "),
        ((GUILD, "--name", "x", "--type", "stage"), 2, "is no type: expected one of text (0), voice (2)"),
        (("harbour", "--name", "x"), 2, "is no id"),
    ],
)
def test_a_channel_that_cannot_be_is_told(
    run: Run, data: Path, alice: str, arguments: tuple[object, ...], status: int, told: str
) -> None:
    ending = run("channel", "create", *arguments, "--data", data)
    assert ending.status == status
    assert " ".join(told.split()) in " ".join(ending.err.split())


def test_limits_of_channels_hold(run: Run, data: Path, alice: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAT_LIMITS__MAX_GUILD_CHANNELS", "2")
    assert run("channel", "create", GUILD, "--name", "x", "--data", data).status == 1
    with stored(data) as connection:
        found = guilds.by_id(connection, GUILD)
        assert found is not None
        assert len(channels.of_guild(connection, GUILD)) == 2
