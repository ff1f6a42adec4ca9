"""The access log: one line a request, with nothing in it that was asked for."""

from __future__ import annotations

import json

import pytest
import structlog
import trio

from chat.testing.rest_client import RestClient
from chat.testing.server import ChatServer
from chat.testing.world import World

FIELDS = {"method", "route", "status", "ms", "bytes", "account_id", "request_id"}


def requests(lines: list[structlog.typing.EventDict]) -> list[tuple[object, ...]]:
    """The access log's lines in short."""
    found = [line for line in lines if line["event"] == "request"]
    for line in found:
        assert line.keys() == FIELDS | {"event", "log_level"}
        assert line["log_level"] == "info"
        assert line["ms"] >= 0
    return [(line["method"], line["route"], line["status"], line["account_id"]) for line in found]


@pytest.mark.chat_settings(access_log="on")
async def test_one_line_a_request(chat_world: World, chat_server: ChatServer) -> None:
    alice, channel = chat_world.alice, chat_world.channel_id
    alice_id = str(alice.id)
    named = RestClient(chat_server.route(), alice.rest.token, headers={"X-Request-ID": "mine"})
    with structlog.testing.capture_logs() as lines:
        (await named.get(f"/v1/channels/{channel}/messages", {"limit": 5})).expect(200)
        await alice.rest.get(f"/v1/channels/{channel}/messages/1")
        await chat_world.anyone.get("/v1/users/@me?token=canary")
        await chat_world.anyone.get("/login?next=canary")
        await chat_world.anyone.get("/canary")
        await chat_world.anyone.request("CANARY", "/v1/users/@me")
        socket = await chat_world.bob.connect()
        await socket.aclose()
        await trio.testing.wait_all_tasks_blocked()
    assert requests(lines) == [
        ("GET", "/v1/channels/{channel_id}/messages", 200, alice_id),
        ("GET", "/v1/channels/{channel_id}/messages/{message_id}", 404, alice_id),
        ("GET", "/v1/users/@me", 401, None),
        ("GET", "/login", 200, None),
        ("GET", "unknown", 404, None),
        ("OTHER", "/v1/users/@me", 404, None),
        ("GET", "/gateway", 101, None),
    ]
    first = next(line for line in lines if line["event"] == "request")
    assert first["request_id"] == "mine"
    assert first["bytes"] == 2
    text = json.dumps(lines).lower()
    assert "canary" not in text
    assert alice.rest.token not in text
    assert channel not in text


async def test_without_it_there_is_none(chat_world: World) -> None:
    with structlog.testing.capture_logs() as lines:
        await chat_world.alice.rest.get("/v1/users/@me")
    assert requests(lines) == []
