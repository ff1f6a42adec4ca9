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


def sent_by(operation: str) -> list[str]:
    return [one["$ref"].rpartition("/")[2] for one in DOCUMENT["operations"][operation]["messages"]]


def test_every_opcode_and_every_event_has_a_message_of_its_own() -> None:
    """Found by what stands in the payload: a message that takes another's name hides it, though no name is missing."""
    messages = DOCUMENT["components"]["messages"]
    members = [one["payload"]["properties"] for one in messages.values()]
    assert sorted(one["t"]["const"] for one in members if "t" in one) == sorted(EventName)
    assert sorted(one["op"]["const"] for one in members if "t" not in one) == sorted(set(Opcode) - {Opcode.DISPATCH})
    assert list(messages) == list(DOCUMENT["channels"]["gateway"]["messages"]) == [m["name"] for m in messages.values()]


def test_every_message_is_one_that_somebody_sends() -> None:
    """An event by the server, a command by the client; only the heartbeat goes both ways."""
    to_client, from_client = sent_by("sendToClient"), sent_by("receiveFromClient")
    assert {*to_client, *from_client} | {"VOICE_SERVER_PING"} == set(DOCUMENT["components"]["messages"])
    assert set(to_client) & set(from_client) == {"HEARTBEAT"}
    assert {"HEARTBEAT", "READY", "HELLO", "PRESENCE_UPDATE"} <= set(to_client)
    assert {"HEARTBEAT", "IDENTIFY", "RESUME", "PRESENCE_UPDATE_COMMAND"} <= set(from_client)


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
