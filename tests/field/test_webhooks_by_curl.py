"""What curl sends to webhooks, by the table `spec_fixtures/field/curl.json`: the handed cases W1 to W11, and more ways
in which scripts use curl."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest
import trio

from tests.durability.server_process import ServerProcess, running
from tests.field import table
from tests.field.programs import program

MARK: Final = "\n--status "
SECONDS: Final = 60


async def run_curl(*arguments: str) -> tuple[int, object]:
    """The status of the answer, and the answer itself: JSON, or text where it is none."""
    command = (program("curl"), "-s", "-S", "-w", f"{MARK}%{{http_code}}", *arguments)
    with trio.fail_after(SECONDS):
        done = await trio.run_process(command, capture_stdout=True, capture_stderr=True, check=False)
    body, _, status = done.stdout.decode().rpartition(MARK)
    try:
        return int(status or 0), json.loads(body)
    except ValueError:
        return int(status or 0), body or done.stderr.decode()


class Hook:
    """A webhook of the seeded channel."""

    def __init__(self, server: ServerProcess, made: Mapping[str, Any]) -> None:
        self._server = server
        self.url = f"http://{server.route.host}/v1/webhooks/{made['id']}/{made['token']}"
        self._last = "0"

    async def newest(self) -> dict[str, Any] | None:
        """The newest message of the channel; None where there is none since it was asked for."""
        path = f"/v1/channels/{self._server.channel_id}/messages?limit=1&after={self._last}"
        for message in (await self._server.alice.get(path)).expect(200):
            self._last = message["id"]
            newest: dict[str, Any] = message
            return newest
        return None


async def sent(hook: Hook, row: Mapping[str, Any], folder: Path) -> list[str]:
    """What is wrong with what comes of a row."""
    for name, text in row.get("files", {}).items():
        await trio.Path(folder, name).write_bytes(text.encode())
    arguments: Sequence[str] = [argument.replace("$FILES", str(folder)) for argument in row.get("args", ())]
    if "json" in row:
        arguments = (*arguments, "-H", "Content-Type: application/json", "--data", json.dumps(row["json"]))
    status, answer = await run_curl(hook.url + row["to"], *arguments)
    return table.faults(row, status, answer, await hook.newest())


async def test_what_curl_sends(tmp_path: Path) -> None:
    program("curl")
    wrong = {}
    async with running(tmp_path / "data") as server:
        path = f"/v1/channels/{server.channel_id}/webhooks"
        hook = Hook(server, (await server.alice.post(path, {"name": "Alarm"})).expect(200))
        await hook.newest()
        for row in table.rows("curl"):
            if faults := await sent(hook, row, tmp_path):
                wrong[row["case"]] = faults
    assert not wrong, json.dumps(wrong, indent=1, ensure_ascii=False)


@pytest.mark.parametrize(
    ("expected", "found", "said"),
    [
        ({"a": 1}, {"a": 1, "b": 2}, []),
        ({"a": {"b": "x"}}, {"a": {}}, ["a.b is missing"]),
        ([{"a": 1}], [{"a": 1, "b": 2}], []),
        ({"a": [1]}, {"a": [1, 2]}, ["a is [1, 2], not [1]"]),
        ({"a": [1, 2]}, {"a": [1, 3]}, ["a.1 is 3, not 2"]),
        ({"a": True}, {"a": 1}, ["a is 1, not True"]),
    ],
)
def test_a_table_says_what_is_wrong(expected: object, found: object, said: list[str]) -> None:
    assert list(table.differences(expected, found)) == said


def test_the_handed_cases_are_all_there() -> None:
    names = [row["case"] for row in table.rows("curl")]
    assert [f"W{number}" for number in range(1, 12)] == [name.split()[0] for name in names if name.startswith("W")]
    assert len(names) == len(set(names))
