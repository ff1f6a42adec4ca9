"""`chat guild features`: what only the operator gives and takes, beside a running server or without one."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from command_line import Outcome, Run

from chat.store import guilds, outside_changes
from chat.store.connections import connect
from chat.store.data_directory import DataDirectory
from chat.store.guilds import Guild

GUILD = 4_000_000_000_000


@pytest.fixture
def owner(run: Run, data: Path) -> Outcome:
    """Alice, who owns a guild."""
    made = run("user", "create", "--username", "alice", "--email", "alice@example.com", "--data", data, "--json")
    with contextlib.closing(connect(DataDirectory(data).database)) as connection:
        guilds.insert(connection, Guild(id=GUILD, owner_id=int(made.json["id"]), name="Harbour", created_at=1))
        connection.commit()
    return made


def test_features_are_shown_added_and_removed(run: Run, data: Path, owner: Outcome) -> None:
    def features(*arguments: str) -> Outcome:
        with DataDirectory(data).locked():  # as a running server holds it
            return run("guild", "features", GUILD, *arguments, "--data", data, "--json")

    assert features().json == {"id": str(GUILD), "name": "Harbour", "features": []}
    assert features("--add", "VANITY_URL", "--add", "verified").json["features"] == ["VANITY_URL", "VERIFIED"]
    assert features("--add", "VANITY_URL").json["features"] == ["VANITY_URL", "VERIFIED"]
    changed = features("--remove", "VERIFIED", "--remove", "PARTNERED", "--add", "VIP_VOICE").json
    assert changed["features"] == ["VANITY_URL", "VIP_VOICE"] == features().json["features"]
    with contextlib.closing(connect(DataDirectory(data).database)) as connection:
        notes = [(note.kind, note.body) for note in outside_changes.take_all(connection)]
    # One for each change: what changed nothing is not told.
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
    run: Run, data: Path, owner: Outcome, arguments: tuple[str, ...], line: str
) -> None:
    ending = run("guild", "features", *arguments, "--data", data)
    assert (ending.status, ending.out, ending.err) == (1, "", line)
    assert run("guild", "features", GUILD, "--data", data, "--json").json["features"] == []


def test_wrong_usage(run: Run, data: Path, owner: Outcome) -> None:
    assert run("guild", "features", "harbour", "--data", data).status == 2
    assert run("guild", "features", "--data", data).status == 2


def test_people_get_a_line_for_each_field(run: Run, data: Path, owner: Outcome) -> None:
    rows = run("guild", "features", GUILD, "--add", "VERIFIED", "--add", "BANNER", "--data", data).rows
    assert rows == [["id", str(GUILD)], ["name", "Harbour"], ["features", "BANNER, VERIFIED"]]
