"""No page that a developer opens reaches the development routes (design 8)."""

from __future__ import annotations

from typing import Any

import pytest
from trio.testing import MockClock

from chat.development.routes import ROUTES
from chat.testing import ChatServer, World
from chat.testing.rest_client import Response

OPERATIONS = [operation for module in ROUTES for operation in module.operations]
OWN = "127.0.0.1:8080"

FOREIGN = [
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": ""},
    {"Origin": "http://localhost:3000"},
    {"Origin": "http://127.0.0.1"},
    {"Origin": "http://127.0.0.1:80801"},
    {"Origin": f"http://{OWN}.evil.example"},
    {"Origin": f"http://{OWN} http://evil.example"},
    {"Origin": f"http://{OWN}/"},
    {"Origin": f"http://evil@{OWN}"},
    # A name of the attacker's that leads to this machine (DNS rebinding), with the Origin that belongs to it.
    {"Host": "evil.example:8080"},
    {"Host": "evil.example:8080", "Origin": "http://evil.example:8080"},
    {"Host": "127.0.0.1.evil.example", "Origin": "http://127.0.0.1.evil.example"},
    {"Host": "localhost.evil.example"},
    {"Host": "localhost@evil.example"},
    {"Host": "192.168.1.7:8080"},
    {"Host": "0.0.0.0:8080"},
    {"Host": "[::2]:8080"},
    {"Host": "[:8080"},
    {"Host": ""},
]

OURS = [
    {},
    {"Origin": f"http://{OWN}"},
    {"Host": "localhost:8080", "Origin": "http://localhost:8080"},
    {"Host": "LOCALHOST", "Origin": "http://Localhost"},
    {"Host": "[::1]:8080", "Origin": "http://[::1]:8080"},
    {"Host": "127.3.2.1", "Origin": "https://127.3.2.1"},
    {"Host": "chat.example", "Origin": "https://chat.example"},
]


def shared(answer: Response) -> list[str]:
    return [name for name, _ in answer.headers if name.lower().startswith("access-control")]


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: f"{operation.method} {operation.path}")
async def test_other_origins_and_other_names_reach_no_development_route(
    chat_world: World, autojump_clock: MockClock, operation: Any
) -> None:
    path = operation.path.replace("{user_id}", chat_world.bob.id).replace("{guild_id}", chat_world.guild_id)
    path = path.replace("{name}", "a").replace("{number}", "1")
    for headers in FOREIGN:
        for kind in ({"Content-Type": "text/plain"}, {"Content-Type": "application/json"}):
            answer = await chat_world.anyone.request(
                operation.method, path, body=b'{"acls": ["*"]}', headers={**headers, **kind}
            )
            assert (answer.status, answer.code) == (403, "ACCESS_DENIED"), headers
            assert shared(answer) == []
        asked = {**headers, "Access-Control-Request-Method": operation.method}
        preflight = await chat_world.anyone.request("OPTIONS", path, headers=asked)
        assert (preflight.status, shared(preflight)) == (403, []), headers


@pytest.mark.chat_settings(public_url="https://chat.example")
@pytest.mark.parametrize("headers", OURS)
async def test_our_own_pages_and_programs_reach_them(
    chat_world: World, autojump_clock: MockClock, headers: dict[str, str]
) -> None:
    answer = await chat_world.anyone.request("GET", "/v1/_dev/sessions", headers=headers)
    assert (answer.status, shared(answer)) == (200, [])
    change = await chat_world.anyone.request(
        "POST", f"/v1/_dev/users/{chat_world.bob.id}", json={"acls": []}, headers=headers
    )
    assert (change.status, shared(change)) == (200, [])
    preflight = {**headers, "Access-Control-Request-Method": "POST"}
    answer = await chat_world.anyone.request("OPTIONS", "/v1/_dev/sessions", headers=preflight)
    assert (answer.status, shared(answer)) == (404, [])


async def test_every_other_route_is_open_to_any_origin(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    headers = {"Host": "evil.example", "Origin": "https://evil.example"}
    answer = await chat_world.alice.rest.request("GET", "/v1/users/@me", headers=headers)
    assert answer.status == 200
    assert answer.header("Access-Control-Allow-Origin") == "*"
