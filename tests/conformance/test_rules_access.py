"""Who may call what: every declared operation, asked with every form of credential that exists so far.

Area: conformance. Rules: 000.auth-family, 000.credentials, 000.errors, 000.gates, 000.outcomes, 000.policies,
000.reconnect, 000.states.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import pytest
import trio.testing

from chat.api.operation import Operation, Policy
from chat.api.routes.every import ROUTES
from chat.registries.user_flags import UserFlag
from chat.testing.rest_client import Response
from chat.testing.world import World
from tests.conformance.outcomes import end
from tests.spec.ledger import proves

OPERATIONS: Final = [operation for routes in ROUTES for operation in routes.operations]
PROTECTED: Final = {Policy.USER, Policy.USER_ONLY, Policy.BOT}

SESSION: Final = "cht_" + "a" * 36
SECRET: Final = "A" * 43

OF_THE_PROTOCOL: Final = {
    "/v1/oauth2/authorize",
    "/v1/oauth2/token",
    "/v1/oauth2/token/revoke",
    "/v1/oauth2/introspect",
}
"""Failures of OAuth2 itself have the form of RFC 6749 (wire facts 3.1)."""

NEVER_FOR_SESSIONS: Final = {"UNAUTHORIZED", "ACCESS_DENIED", "MISSING_OAUTH_SCOPE"}


def declared(*policies: Policy) -> Iterator[Operation]:
    """Operations of these policies, the one that ends the caller's session last."""
    chosen = [operation for operation in OPERATIONS if operation.policy in policies]
    yield from sorted(chosen, key=lambda operation: operation.path == "/v1/auth/logout")


def path_of(world: World, operation: Operation) -> str:
    """The operation's path with members that exist in the world, as far as it has some."""
    known = {"guild_id": world.guild_id, "channel_id": world.channel_id, "user_id": world.alice.id}
    return re.sub(r"{(\w+)}", lambda member: known.get(member[1], "1"), operation.path)


async def call(world: World, operation: Operation, authorization: str | None) -> Response:
    """Ask for the operation with a credential and, where one is read, an empty body."""
    client = world.anyone.signed_in(authorization)
    body: object = ... if operation.method == "GET" else {}
    answer = await client.request(operation.method, path_of(world, operation), json=body)
    await client.aclose()
    return answer


def name(operation: Operation) -> str:
    return f"{operation.method} {operation.path}"


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda world: None, id="none"),
        pytest.param(lambda world: "", id="empty"),
        pytest.param(lambda world: "Bot", id="Bot alone", marks=pytest.mark.rule("000.credentials.7")),
        pytest.param(lambda world: "Bearer", id="Bearer alone", marks=pytest.mark.rule("000.credentials.8")),
        pytest.param(
            lambda world: f"Bot  {world.bot.token}", id="two blanks", marks=pytest.mark.rule("000.credentials.10")
        ),
        pytest.param(lambda world: f"bot {world.bot.token}", id="bot", marks=pytest.mark.rule("000.credentials.11")),
        pytest.param(lambda world: f"BOT {world.bot.token}", id="BOT", marks=pytest.mark.rule("000.credentials.11")),
        pytest.param(
            lambda world: f"bearer {world.bob.token}", id="bearer", marks=pytest.mark.rule("000.credentials.12")
        ),
        pytest.param(
            lambda world: f"BEARER {world.bob.token}", id="BEARER", marks=pytest.mark.rule("000.credentials.12")
        ),
        pytest.param(
            lambda world: f"Admin {world.admin_key}", id="admin key", marks=pytest.mark.rule("000.credentials.6")
        ),
        pytest.param(
            lambda world: world.bob.token.swapcase(), id="other letters", marks=pytest.mark.rule("000.credentials.19")
        ),
        pytest.param(
            lambda world: f"Bot {world.bot.token.swapcase()}",
            id="other letters of a bot's",
            marks=pytest.mark.rule("000.credentials.19"),
        ),
        pytest.param(lambda world: SESSION, id="unknown session"),
        pytest.param(lambda world: f"Bot {world.bot.application_id}.{SECRET}", id="unknown bot token"),
        pytest.param(lambda world: f"Bearer {SECRET}", id="unknown access token"),
        pytest.param(lambda world: f"Basic {world.bob.token}", id="unknown scheme"),
    ],
)
async def test_every_protected_operation_answers_401(
    chat_world: World, autojump_clock: trio.testing.MockClock, make: Any
) -> None:
    asked = 0
    for operation in declared(*PROTECTED):
        answer = await call(chat_world, operation, make(chat_world))
        with proves("000.outcomes.1", "000.outcomes.2", "000.outcomes.3"):
            assert (answer.status, answer.code) == (401, "UNAUTHORIZED"), name(operation)
        with proves("000.outcomes.17"):
            assert answer.header("WWW-Authenticate") is None, name(operation)
        assert answer.json().keys() == {"code", "message"}, name(operation)
        asked += 1
    assert asked >= 25


async def test_a_bot_is_served_by_user_operations_and_refused_by_those_for_users_only(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    for operation in declared(Policy.USER):
        answer = await call(chat_world, operation, f"Bot {chat_world.bot.token}")
        if operation.bots_refused_with is None:
            with proves("000.policies.2", "000.credentials.1"):
                assert answer.code not in {"UNAUTHORIZED", "ACCESS_DENIED"}, name(operation)
        else:
            assert answer.code == operation.bots_refused_with, name(operation)
    refused = 0
    for operation in declared(Policy.USER_ONLY):
        answer = await call(chat_world, operation, f"Bot {chat_world.bot.token}")
        if operation.bots_refused_with is None:
            with proves("000.outcomes.10", "000.outcomes.12"):
                assert (answer.status, answer.code) == (403, "ACCESS_DENIED"), name(operation)
            refused += 1
        else:
            assert answer.code == operation.bots_refused_with, name(operation)
    assert refused > 0


@pytest.mark.parametrize("scheme", ["", "Bearer "])
async def test_a_session_token_is_one_behind_bearer_too(
    chat_world: World, autojump_clock: trio.testing.MockClock, scheme: str
) -> None:
    rules = ("000.credentials.16", "000.credentials.17") if scheme else ("000.credentials.4",)
    for operation in declared(Policy.USER, Policy.USER_ONLY):
        with proves(*rules, "000.outcomes.20"):
            answer = await call(chat_world, operation, scheme + chat_world.bob.token)
            assert answer.code not in NEVER_FOR_SESSIONS, name(operation)


@pytest.mark.rule("000.credentials.21")
@pytest.mark.parametrize("member", ["token", "access_token", "Authorization", "authorization", "credential"])
async def test_a_token_in_an_address_makes_nobody_a_caller(
    chat_world: World, autojump_clock: trio.testing.MockClock, member: str
) -> None:
    for operation in declared(*PROTECTED):
        if operation.method != "GET":
            continue
        for token in (chat_world.bob.token, f"Bot {chat_world.bot.token}"):
            answer = await chat_world.anyone.get(path_of(chat_world, operation), {member: token})
            assert (answer.status, answer.code) == (401, "UNAUTHORIZED"), name(operation)


@pytest.mark.rule("000.outcomes.5", "000.auth-family.2", "000.auth-family.1")
async def test_credentials_count_from_their_issue_to_their_revocation(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    world = chat_world
    person = {"email": "dave@example.com", "username": "dave", "password": "a long passphrase"}
    first = (await world.anyone.register(**person)).expect(200)["token"]
    second = (await world.anyone.login(email=person["email"], password=person["password"])).expect(200)["token"]
    for token in (first, second):
        (await world.anyone.signed_in(token).get("/v1/users/@me")).expect(200)
    (await world.anyone.signed_in(first).logout()).expect(204)
    for operation in declared(*PROTECTED):
        answer = await call(world, operation, first)
        assert (answer.status, answer.code) == (401, "UNAUTHORIZED"), name(operation)
    (await world.anyone.signed_in(second).get("/v1/users/@me")).expect(200)


# Limited accounts


async def limit(world: World, user_id: str, limited: bool) -> None:
    flags = str(int(UserFlag.ACCOUNT_LIMITED)) if limited else "0"
    (await world.anyone.post(f"/v1/_dev/users/{user_id}", {"flags": flags})).expect(200)


@pytest.mark.rule("000.gates.1")
async def test_a_limited_account_keeps_its_sessions_and_may_sign_in(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    bob = await chat_world.bob.connect()
    await limit(chat_world, chat_world.bob.id, True)
    (await chat_world.bob.rest.get("/v1/users/@me")).expect(200)
    said = (await chat_world.bob.rest.send_message(chat_world.channel_id, "still here")).expect(200)
    await bob.expect("MESSAGE_CREATE", where=lambda data: data["id"] == said["id"])
    login = await chat_world.anyone.login(email=chat_world.bob.email, password=chat_world.bob.password)
    another = await chat_world.open()
    await another.identify(login.expect(200)["token"])
    await another.expect("READY")
    assert bob.is_open


async def test_what_a_limited_account_may_not_do(chat_world: World, autojump_clock: trio.testing.MockClock) -> None:
    world = chat_world
    founded = (await world.alice.rest.create_guild("Elsewhere")).expect(200)
    channels = (await world.alice.rest.get(f"/v1/guilds/{founded['id']}/channels")).expect(200)
    channel = next(row for row in channels if row["type"] == 0)
    code = (await world.alice.rest.create_channel_invite(channel["id"])).expect(200)["code"]
    own = (await world.bob.rest.create_guild("Bob's own")).expect(200)
    rows = (await world.bob.rest.get(f"/v1/guilds/{own['id']}/channels")).expect(200)
    webhooks = f"/v1/channels/{next(row['id'] for row in rows if row['type'] == 0)}/webhooks"

    async def attempts() -> list[tuple[int, str | None]]:
        answers = [
            await world.bob.rest.create_guild("Bob's"),
            await world.bob.rest.create_channel_invite(world.channel_id),
            await world.bob.rest.accept_invite(code),
            await world.bob.rest.post("/v1/oauth2/applications", {"name": "Bob's bot"}),
            await world.bob.rest.post(webhooks, {"name": "Bob's webhook"}),
        ]
        return [(answer.status, answer.code) for answer in answers]

    await limit(world, world.bob.id, True)
    for number, refused in zip((2, 3, 4, 8, 9), await attempts(), strict=True):
        with proves(f"000.gates.{number}"):
            assert refused == (403, "ACCOUNT_LIMITED")
    assert await attempts() == [(403, "ACCOUNT_LIMITED")] * 5
    await limit(world, world.bob.id, False)
    assert await attempts() == [(200, None)] * 5


@pytest.mark.rule("000.gates.10")
async def test_all_other_operations_make_no_difference(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    """Bob and carol are members alike; what one of them hears the other one hears, though one is limited."""
    await limit(chat_world, chat_world.carol.id, True)
    compared = 0
    for operation in declared(*Policy):
        if operation.closed_to_limited:
            continue
        answers = [await call(chat_world, operation, actor.token) for actor in (chat_world.bob, chat_world.carol)]
        heard = [(answer.status, answer.code) for answer in answers]
        assert heard[0] == heard[1], name(operation)
        assert heard[1][1] != "ACCOUNT_LIMITED", name(operation)
        compared += 1
    assert compared >= 30


@pytest.mark.rule("000.errors.1")
async def test_every_error_has_a_code_and_a_message(chat_world: World, autojump_clock: trio.testing.MockClock) -> None:
    errors = 0
    for operation in OPERATIONS:
        for authorization in (None, chat_world.carol.token, f"Bot {chat_world.bot.token}", "Basic x"):
            for answer in (
                await call(chat_world, operation, authorization),
                await chat_world.anyone.signed_in(authorization).request(
                    operation.method, operation.path.replace("_id}", "}"), body=b"{", headers={"Content-Type": "x/y"}
                ),
            ):
                assert answer.status < 500, name(operation)
                if answer.status >= 400 and operation.path in OF_THE_PROTOCOL and "error" in answer.json():
                    assert answer.json().keys() == {"error", "error_description"}
                elif answer.status >= 400:
                    errors += 1
                    assert answer.header("Content-Type") == "application/json"
                    assert isinstance(answer.json()["code"], str)
                    assert isinstance(answer.json()["message"], str)
    for method, path in (("GET", "/v1"), ("TRACE", "/v1/users/@me"), ("PUT", "/"), ("DELETE", "/v1/gateway/bot")):
        answer = await chat_world.anyone.request(method, path)
        assert answer.status in {404, 405}
        assert isinstance(answer.json()["code"], str)
        assert isinstance(answer.json()["message"], str)
    assert errors > 100


@pytest.mark.rule("000.states.37", "000.reconnect.6")
async def test_what_ends_a_credential_ends_its_gateway_sessions(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    bob = await chat_world.bob.connect(heartbeats=False)
    (await chat_world.bob.rest.logout()).expect(204)
    await bob.expect_opcode(9)
    assert await chat_world.anyone.gateway_sessions() == []
    await bob.identify(chat_world.bob.token)
    assert await end(bob) == (4004, "Invalid token")
