"""`chat dev --stdio`: a server that a test runner in any language starts and steers by lines of JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import attrs
import pytest


@attrs.frozen
class Steered:
    process: subprocess.Popen[str]

    def ask(self, **members: object) -> dict[str, Any]:
        return self.ask_text(json.dumps(members))

    def ask_text(self, line: str) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer


@pytest.fixture
def steered() -> Iterator[Steered]:
    command = [sys.executable, "-m", "chat", "dev", "--stdio"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        yield Steered(process)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(60) == 0


def test_it_is_started_steered_and_ends_with_its_input(steered: Steered) -> None:
    assert steered.ask(do="clock") == {"ok": False, "error": steered_first()}
    started = steered.ask(do="start", settings={"gateway.heartbeat_interval_ms": 1_000}, id="a")
    world = started["result"]
    alice, channel_id = world["users"][0], world["channel_id"]
    before = steered.ask(do="clock")["result"]["offset_ms"]
    assert steered.ask(do="clock", advance_ms=60_000, id=1)["result"]["offset_ms"] == before + 60_000
    posted = steered.ask(
        do="request",
        method="POST",
        path=f"/v1/channels/{channel_id}/messages",
        token=alice["token"],
        body={"content": "hello"},
    )
    assert posted["result"]["status"] == 200
    assert posted["result"]["body"]["content"] == "hello"
    assert steered.ask(do="fault", action="drop", target="all") == {"ok": True, "result": {"affected": 0}}
    assert steered.ask(do="sessions", id=[1]) == {"ok": True, "id": [1], "result": []}
    entries = steered.ask(do="history", kind="request", method="POST", path="/v1/channels")["result"]["entries"]
    assert [entry["status"] for entry in entries] == [200]
    assert steered.ask(do="reset") == {"ok": True, "result": None}
    page = steered.ask(do="request", path=f"/v1/channels/{channel_id}/messages", token=alice["token"])
    assert page["result"] == {"status": 200, "body": []}
    for line, complaint in REFUSED.items():
        answer = steered.ask_text(line)
        assert answer["ok"] is False
        assert complaint in answer["error"]


def steered_first() -> str:
    return 'the first line is {"do": "start"}, with an object of "settings" where there are any'


REFUSED = {
    "nonsense": 'a JSON object with a text member "do"',
    "[]": 'a JSON object with a text member "do"',
    '{"do": "dance"}': "there is no command 'dance': clock, fault, gateway, history",
    '{"do": "fault", "action": "tickle", "target": "all"}': "400",
    '{"do": "request", "path": 5}': 'a request has a "path"',
    json.dumps({"do": "x" * 1_100_000}): "at most 1048576 bytes",
}


def test_stop_is_answered(steered: Steered) -> None:
    assert steered.ask(do="start")["ok"]
    assert steered.ask(do="stop", id=9) == {"ok": True, "id": 9, "result": None}
    assert steered.process.wait(60) == 0


def test_an_input_that_ends_at_once_starts_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "chat", "dev", "--stdio"],
        input="",
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == ""
