"""What `chat dev` says to people, and what `--watch` prints of the traffic."""

from __future__ import annotations

import urllib.request
from pathlib import Path
from typing import Any

import click
import pytest

from chat.cli.development import PAGES, lines_of
from tests.cli.test_cli_serve import LISTENING, failing, get, running
from tests.patience import PATIENCE_SECONDS

NAMES = {"7": "bob"}


def entry(kind: str, **members: object) -> dict[str, Any]:
    return {"number": 1, "at": "2026-01-01T12:34:56.789Z", "kind": kind, "user_id": "7", **members}


def plain(*entries: dict[str, Any], dropped: int = 0) -> list[str]:
    return [click.unstyle(line) for line in lines_of({"entries": entries, "dropped": dropped, "next": 2}, NAMES)]


def test_a_line_says_when_who_which_way_and_what() -> None:
    frame = {"direction": "out", "op": 0, "event": "MESSAGE_CREATE", "sequence": 5, "size": 812, "socket": 3}
    assert plain(entry("frame", **frame)) == ["12:34:56.789 bob        <-     MESSAGE_CREATE s 5 812 B"]
    said = {"direction": "in", "op": 3, "event": None, "sequence": None, "size": 20, "socket": 3}
    assert plain(entry("frame", **said)) == ["12:34:56.789 bob        ->     PRESENCE_UPDATE 20 B"]
    assert "no payload" in plain(entry("frame", **{**said, "op": None}))[0]
    assert "opcode 77" in plain(entry("frame", **{**said, "op": 77}))[0]
    request = {"method": "PUT", "path": "/v1/x?y=z", "status": 404, "ms": 4, "user_id": None}
    assert plain(entry("request", **request)) == ["12:34:56.789 -          PUT    /v1/x?y=z 404 4 ms"]
    assert "socket 3 from 127.0.0.1" in plain(entry("opened", socket=3, address="127.0.0.1", user_id=None))[0]
    ended = plain(entry("ended", socket=3, code=4001, reason="enough", by_client=False))[0]
    assert "socket 3 by the server: 4001 enough" in ended


def test_what_was_left_out_is_told_and_nothing_moves_the_cursor() -> None:
    request = {"method": "GET", "path": "/v1/\x1b[2J", "status": 200, "ms": 0}
    left_out, line = plain(entry("request", **request), dropped=40)
    assert left_out == "... 40 left out, too fast to show"
    assert "\x1b" not in line


@pytest.mark.long
def test_the_world_the_pages_and_the_traffic(data: Path) -> None:
    with running("dev", "--port", "0", "--data", data, "--watch") as server:
        match = LISTENING.fullmatch(server.line)
        assert match is not None
        origin = match[1]
        assert server.process.stdout is not None
        said: dict[str, list[str]] = {}
        while "manual" not in said:
            name, *values = server.process.stdout.readline().rstrip("\n").split("\t")
            said[name] = values
        world = get(f"{origin}/v1/_dev/world")
        for person in (world["admin"], *world["users"]):
            assert said[person["username"]] == [person["token"], person["password"]]
        assert said["emails"] == [", ".join(person["email"] for person in (world["admin"], *world["users"]))]
        assert said["bot token"] == [world["bot"]["token"]]
        assert said["text channel"] == [world["channel_id"]]
        assert said["admin key"] == [world["admin_key"]]
        for name, path in PAGES.items():
            assert said[name] == [f"{origin}{path}"]
            with urllib.request.urlopen(f"{origin}{path}", timeout=PATIENCE_SECONDS) as page:  # noqa: S310 - our own
                assert page.status == 200
        get(f"{origin}/v1/users/@me", world["users"][0]["token"])
        line = ""
        while "/v1/users/@me" not in line:
            line = server.process.stdout.readline()
            assert line, "the server ended"
        assert line.split()[1:5] == ["alice", "GET", "/v1/users/@me", "200"]
        status, _, _ = server.stop()
        assert status == 0


@pytest.mark.parametrize("other", ["--json", "--stdio"])
def test_watching_is_for_people(data: Path, other: str) -> None:
    ran = failing("dev", "--port", "0", "--data", data, "--watch", other)
    assert (ran.returncode, "--watch" in ran.stderr) == (2, True)
