"""Who finds the routes of threads at all: bots, and sessions whose client declares that it knows threads.

Area: threads. Rules: 000.threads.
"""

from __future__ import annotations

import re
from typing import Final

import pytest
import trio
import trio.testing

from chat.api.operation import Operation, Policy
from chat.api.routes.every import ROUTES
from chat.registries.scopes import Scope
from chat.testing.rest_client import Response, RestClient
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.conformance.presented_credentials import Issuer

OPERATIONS: Final = [
    operation for routes in ROUTES for operation in routes.operations if operation.policy is Policy.THREADS
]
DECLARED: Final = {"X-Service-Features": "channel_threads"}
BODIES: Final = (b"", b"{", b'{"name": 5}', b"\xff\xfe", b'{"name": "' + b"x" * 2_000 + b'"}')


def declaring(world: World, authorization: str | None, features: str | None = "channel_threads") -> RestClient:
    """A client with this credential that declares these capabilities."""
    headers = {} if features is None else {"X-Service-Features": features}
    return RestClient(world.route, authorization, headers=headers)


async def ask(client: RestClient, operation: Operation, body: bytes = b"{}") -> Response:
    path = re.sub(r"{(\w+)}", "1", operation.path)
    return await client.request(operation.method, path, body=body, headers={"X-Request-ID": "same"})


def all_but_the_date(answer: Response) -> object:
    return answer.status, [line for line in answer.headers if line[0] != "date"], answer.body


async def finds(client: RestClient, operation: Operation) -> bool:
    """Whether there is anything; about a channel that does not exist it is UNKNOWN_CHANNEL or the like."""
    answer = await ask(client, operation)
    assert answer.code not in {"UNAUTHORIZED", "ACCESS_DENIED"}
    return answer.code != "NOT_FOUND"


async def nothing_is_there(client: RestClient) -> None:
    """Whatever is asked, the answer is that of a path that does not exist, to the last byte."""
    unknown = await client.request("GET", "/v1/nowhere", headers={"X-Request-ID": "same"})
    assert (unknown.status, unknown.code) == (404, "NOT_FOUND")
    for operation in OPERATIONS:
        for body in BODIES:
            answer = await ask(client, operation, body)
            assert all_but_the_date(answer) == all_but_the_date(unknown), operation.path


def test_there_are_such_routes() -> None:
    assert len(OPERATIONS) >= 10


@pytest.mark.rule("000.threads.1")
@pytest.mark.parametrize("features", [None, "channel_threads", "view_channel_members_permission"])
async def test_a_bot_needs_nothing_but_its_token(
    chat_world: World, features: str | None, autojump_clock: trio.testing.MockClock
) -> None:
    client = declaring(chat_world, f"Bot {chat_world.bot.token}", features)
    assert [operation.path for operation in OPERATIONS if not await finds(client, operation)] == []


@pytest.mark.rule("000.threads.2")
@pytest.mark.parametrize("scheme", ["", "Bearer "])
@pytest.mark.parametrize("features", ["channel_threads", "Channel_Threads , other", "x,y,channel_threads"])
async def test_a_session_that_declares_it_finds_them(
    chat_world: World, scheme: str, features: str, autojump_clock: trio.testing.MockClock
) -> None:
    client = declaring(chat_world, scheme + chat_world.bob.token, features)
    assert [operation.path for operation in OPERATIONS if not await finds(client, operation)] == []


@pytest.mark.rule("000.threads.2", "000.threads.3")
async def test_a_thread_is_started_by_who_declares_it(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    path, body = f"/v1/channels/{chat_world.channel_id}/threads", {"name": "A thread"}
    refused = await declaring(chat_world, chat_world.alice.token, None).post(path, body)
    assert (refused.status, refused.code) == (404, "NOT_FOUND")
    started = (await declaring(chat_world, chat_world.alice.token).post(path, body)).expect(201)
    assert started["name"] == "A thread"
    by_bot = (await chat_world.bot.rest.post(path, {"name": "Another"})).expect(201)
    assert by_bot["name"] == "Another"


@pytest.mark.rule("000.threads.3")
@pytest.mark.parametrize(
    "features",
    [
        None,
        "",
        "view_channel_members_permission",
        "channel threads",
        "channel_thread",
        ",".join(["x"] * 64) + ",channel_threads",
    ],
)
async def test_a_session_that_does_not_declare_it_finds_nothing(
    chat_world: World, features: str | None, autojump_clock: trio.testing.MockClock
) -> None:
    await nothing_is_there(declaring(chat_world, chat_world.alice.token, features))


@pytest.mark.rule("000.threads.4")
async def test_without_a_credential_nothing_is_there(chat_world: World, autojump_clock: trio.testing.MockClock) -> None:
    await nothing_is_there(declaring(chat_world, None))


@pytest.mark.rule("000.threads.5")
async def test_for_an_access_token_nothing_is_there(
    chat_world: World, chat_server: ChatServer, autojump_clock: trio.testing.MockClock
) -> None:
    token = await Issuer(chat_world, chat_server).access_token(int(chat_world.alice.id), scopes=tuple(Scope))
    client = declaring(chat_world, f"Bearer {token}")
    (await client.get("/v1/users/@me")).expect(200)
    await nothing_is_there(client)
    await nothing_is_there(declaring(chat_world, f"Bearer {token}", None))


@pytest.mark.rule("000.threads.6")
@pytest.mark.parametrize(
    "kind",
    [
        "admin key",
        "unknown session",
        "unknown bot",
        "unknown token",
        "malformed",
        "unknown scheme",
        "bot in lower case",
    ],
)
async def test_for_everybody_else_nothing_is_there(
    chat_world: World, kind: str, autojump_clock: trio.testing.MockClock
) -> None:
    world = chat_world
    authorization = {
        "admin key": f"Admin {world.admin_key}",
        "unknown session": "cht_" + "a" * 36,
        "unknown bot": f"Bot {world.bot.application_id}.{'A' * 43}",
        "unknown token": "Bearer " + "A" * 43,
        "malformed": f"Bot  {world.bot.token}",
        "unknown scheme": f"Basic {world.alice.token}",
        "bot in lower case": f"bot {world.bot.token}",
    }[kind]
    await nothing_is_there(declaring(world, authorization))


@pytest.mark.rule("000.threads.4", "000.threads.3")
@pytest.mark.chat_settings(rate_limits=True)
@pytest.mark.parametrize("signed_in", [False, True])
async def test_no_limit_tells_that_there_is_something(
    chat_world: World, signed_in: bool, autojump_clock: trio.testing.MockClock
) -> None:
    client = declaring(chat_world, chat_world.alice.token if signed_in else None, None)
    for _ in range(10):
        await nothing_is_there(client)
    assert (await chat_world.alice.rest.get("/v1/users/@me")).status == 200


@pytest.mark.chat_settings(rate_limits=True)
async def test_who_finds_them_is_limited_like_everywhere(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    answers = []
    for _ in range(60):
        answers.append(await ask(chat_world.bot.rest, OPERATIONS[0]))
        await trio.sleep(0.03)  # so that the limit of all requests stays out of it
    assert answers[-1].status == 429
    assert answers[-1].header("X-RateLimit-Bucket") is not None
