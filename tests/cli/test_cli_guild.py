"""`chat guild features`: what only the operator gives and takes, beside a running server or without one."""

from __future__ import annotations

from pathlib import Path

import pytest

from chat.store import outside_changes
from chat.store.data_directory import DataDirectory
from tests.cli.command_line import GUILD, Outcome, Run, stored


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
