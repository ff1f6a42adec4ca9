"""`chat block`: the instance's blocklists, beside a running server or without one."""

from __future__ import annotations

from pathlib import Path

import pytest

from chat.store import outside_changes
from tests.cli.command_line import Run, stored


def test_values_are_blocked_listed_and_let_go(run: Run, data: Path, alice: str) -> None:
    assert run("block", "list", "--data", data).json == []
    added = run("block", "add", "ip", "203.0.113.9/24", "--reason", "scanners", "--data", data).json
    assert (added["list"], added["value"], added["reason"]) == ("ip", "203.0.113.0/24", "scanners")
    run("block", "add", "email", "@Spam.example", "--data", data)
    assert [entry["value"] for entry in run("block", "list", "--data", data).json] == [
        "@spam.example",
        "203.0.113.0/24",
    ]
    assert [entry["list"] for entry in run("block", "list", "ip", "--data", data).json] == ["ip"]
    heading, row = run("block", "list", "ip", "--data", data, terminal=True).table
    assert (heading, row[0], row[2:]) == (["list", "added_at", "reason", "value"], "ip", ["scanners", "203.0.113.0/24"])
    removed = run("block", "remove", "ip", "203.0.113.0/24", "--data", data).json
    assert removed == {"list": "ip", "value": "203.0.113.0/24", "removed": True}
    assert run("block", "list", "ip", "--data", data).json == []
    with stored(data) as connection:
        assert {note.kind for note in outside_changes.take_all(connection)} == {outside_changes.BLOCKLISTS_CHANGED}
    actions = {entry["action"] for entry in run("audit-log", "--data", data).json}
    assert actions >= {"ban_ip", "unban_ip", "ban_email", "list_ip_bans"}


def test_long_lists_are_shown_whole(run: Run, data: Path, alice: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chat.cli.block.PAGE", 2)
    for number in range(5):
        run("block", "add", "phrase", f"phrase {number}", "--data", data)
    assert [entry["value"] for entry in run("block", "list", "phrase", "--data", data).json] == [
        f"phrase {number}" for number in range(5)
    ]


@pytest.mark.parametrize(
    ("arguments", "status", "told"),
    [
        (("add", "ip", "0.0.0.0/0"), 1, "'0.0.0.0/0' cannot be on the list ip"),
        (("add", "ip", "rabbit"), 1, "'rabbit' cannot be on the list ip"),
        (("add", "file_sha", "12"), 1, "cannot be on the list file_sha"),
        (("add", "phrase", ""), 1, "cannot be on the list phrase"),
        (("remove", "ip", "203.0.113.9"), 1, "'203.0.113.9' is not on the list ip"),
        (("remove", "ip", "rabbit"), 1, "'rabbit' cannot be on the list ip"),
        (("add", "people", "bob"), 2, "is not one of 'email', 'ip'"),
        (("list", "people"), 2, "is not one of 'email', 'ip'"),
        (("remove", "ip"), 2, "Missing argument"),
    ],
)
def test_what_cannot_be_is_told(
    run: Run, data: Path, alice: str, arguments: tuple[str, ...], status: int, told: str
) -> None:
    ending = run("block", *arguments, "--data", data)
    assert (ending.status, ending.out) == (status, "")
    assert told in ending.err
    with stored(data) as connection:
        assert outside_changes.take_all(connection) == []
