"""The AsyncAPI document of the gateway: it has every opcode and every event, and its own parser takes it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from chat.manual.opening import open_manual
from chat.registries.events import EventName
from chat.registries.opcodes import Opcode
from chat.testing.world import World
from chat.web.manual import ASYNCAPI
from tests.conformance.clients.installed import installed_by_npm, node

HERE: Final = Path(__file__).with_name("asyncapi")
LISTS: Final = (HERE / "package.json", HERE / "package-lock.json")
PARSER_SECONDS: Final = 120
TEXT: Final = open_manual().asyncapi
DOCUMENT: Final = json.loads(TEXT)


def test_every_opcode_and_every_event_is_a_message_that_somebody_sends() -> None:
    names = {*map(str, EventName), *(opcode.name for opcode in Opcode if opcode is not Opcode.DISPATCH)}
    assert set(DOCUMENT["components"]["messages"]) == names == set(DOCUMENT["channels"]["gateway"]["messages"])
    sent = [one["$ref"].rpartition("/")[2] for one in DOCUMENT["operations"]["sendToClient"]["messages"]]
    received = [one["$ref"].rpartition("/")[2] for one in DOCUMENT["operations"]["receiveFromClient"]["messages"]]
    assert {*sent, *received} | {"VOICE_SERVER_PING"} == names
    assert {"HEARTBEAT", "READY", "HELLO"} <= set(sent)
    assert {"HEARTBEAT", "IDENTIFY", "RESUME"} <= set(received)


def test_a_payload_names_its_members() -> None:
    payload = DOCUMENT["components"]["messages"]["MESSAGE_REACTION_ADD"]["payload"]["properties"]["d"]
    assert payload["required"] == ["user_id", "channel_id", "message_id", "emoji"]
    assert list(payload["properties"]) == [*payload["required"], "guild_id", "member"]


async def test_every_instance_hands_it_out(chat_world: World) -> None:
    answer = await chat_world.anyone.request("GET", ASYNCAPI)
    assert (answer.status, answer.header("content-type")) == (200, "application/json")
    assert json.loads(answer.body) == DOCUMENT


def test_the_command_prints_it() -> None:
    printed = subprocess.run(
        [sys.executable, "-m", "chat", "asyncapi"], capture_output=True, check=True, timeout=60
    ).stdout
    assert printed == TEXT


@pytest.mark.long
def test_its_own_parser_finds_nothing_wrong(tmp_path: Path) -> None:
    file = tmp_path / "asyncapi.json"
    file.write_bytes(TEXT)
    folder = installed_by_npm("asyncapi", LISTS)
    command = [str(node()), str(HERE / "check.cjs"), str(folder), str(file)]
    told = json.loads(subprocess.run(command, capture_output=True, check=True, timeout=PARSER_SECONDS).stdout)
    assert told == {"messages": len(DOCUMENT["components"]["messages"]), "wrong": []}
