"""Networks that try credentials in vain: refused everywhere, for a while, whatever they then bring along.

Area: security. Rules: 000.outcomes.
"""

from __future__ import annotations

from typing import Any, Final

import pytest
import trio
import trio.testing

from chat.clock import iso_timestamp
from chat.testing.gateway_client import GatewayClient, HandshakeRefused
from chat.testing.rest_client import Response, RestClient
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.conformance.outcomes import end

NODE_SECONDS: Final = 1.0
"""After this many seconds a gateway node knows of a ban, too."""

HOSTILE: Final = "203.0.113.9"
OTHER: Final = "203.0.113.10"
SESSION: Final = "cht_" + "a" * 36
HOUR: Final = 3_600


def at(world: World, address: str, token: str | None = None) -> RestClient:
    """A client from this address."""
    return RestClient(world.route, token, headers={"X-Test-Address": address})


async def fail(world: World, address: str, times: int, path: str = "/v1/users/@me") -> None:
    client = at(world, address, SESSION)
    for _ in range(times):
        assert (await client.get(path)).status == 401
    await client.aclose()


def is_banned(answer: Response) -> bool:
    return (answer.status, answer.code) == (403, "GLOBAL_IP_TEMPORARILY_BANNED")


@pytest.mark.rule("000.outcomes.19")
async def test_twenty_failures_in_ten_minutes_ban_for_an_hour(
    chat_world: World, chat_server: ChatServer, autojump_clock: trio.testing.MockClock
) -> None:
    world = chat_world
    await fail(world, HOSTILE, 19)
    assert (await at(world, HOSTILE).get("/.well-known/chat")).status == 200
    await fail(world, HOSTILE, 1)
    until = iso_timestamp(chat_server.clock.now_ms() + HOUR * 1000)
    refused = await at(world, HOSTILE, world.alice.token).get("/v1/users/@me")
    assert is_banned(refused)
    body = refused.json()
    assert isinstance(body.pop("message"), str)
    assert body == {
        "code": "GLOBAL_IP_TEMPORARILY_BANNED",
        "ip_address": HOSTILE,
        "ban_kind": "temporary",
        "expires_at": until,
        "appeals_supported": False,
        "appeal_email": None,
    }
    assert refused.header("Retry-After") is None
    assert refused.header("X-Request-ID") is not None
    assert (await at(world, OTHER, world.alice.token).get("/v1/users/@me")).status == 200
    await trio.sleep(HOUR - 1)
    assert is_banned(await at(world, HOSTILE, world.alice.token).get("/v1/users/@me"))
    await trio.sleep(1)
    assert (await at(world, HOSTILE, world.alice.token).get("/v1/users/@me")).status == 200


@pytest.mark.rule("000.outcomes.19")
async def test_nineteen_every_ten_minutes_ban_nobody(chat_world: World, autojump_clock: trio.testing.MockClock) -> None:
    for _ in range(3):
        await fail(chat_world, HOSTILE, 19)
        await trio.sleep(600)
    await fail(chat_world, HOSTILE, 1)
    assert (await at(chat_world, HOSTILE, chat_world.alice.token).get("/v1/users/@me")).status == 200


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/users/@me"),
        ("HEAD", "/v1/users/@me"),
        ("OPTIONS", "/v1/users/@me"),
        ("POST", "/v1/auth/login"),
        ("GET", "/.well-known/chat"),
        ("GET", "/v1/admin/acls"),
        ("GET", "/"),
        ("GET", "/nowhere"),
        ("PUT", "/v1/nowhere"),
        ("GET", "/gateway"),
        ("GET", "/v1/_dev/mail"),
    ],
)
async def test_nothing_is_served_there_any_more(
    chat_world: World, method: str, path: str, autojump_clock: trio.testing.MockClock
) -> None:
    await fail(chat_world, HOSTILE, 20)
    answer = await at(chat_world, HOSTILE, chat_world.alice.token).request(method, path)
    assert answer.status == 403
    assert is_banned(answer) or method == "HEAD"


async def test_no_socket_opens_there_and_those_open_stay(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    world = chat_world
    before = await GatewayClient.connect(world.nursery, world.route, headers={"X-Test-Address": HOSTILE})
    await before.identify(world.alice.token)
    await before.expect("READY")
    await fail(world, HOSTILE, 20)
    await trio.sleep(NODE_SECONDS)
    with pytest.raises(HandshakeRefused) as refused:
        await GatewayClient.connect(world.nursery, world.route, headers={"X-Test-Address": HOSTILE})
    assert b'"GLOBAL_IP_TEMPORARILY_BANNED"' in refused.value.body
    assert HOSTILE.encode() in refused.value.body
    assert before.is_open
    other = await GatewayClient.connect(world.nursery, world.route, headers={"X-Test-Address": OTHER})
    assert other.is_open


@pytest.mark.parametrize("command", ["identify", "resume", "resume of another's session"])
async def test_refused_tokens_on_the_gateway_count(
    chat_world: World, command: str, autojump_clock: trio.testing.MockClock
) -> None:
    world = chat_world
    bob = await world.bob.connect()
    for _ in range(20):
        client = await GatewayClient.connect(world.nursery, world.route, headers={"X-Test-Address": HOSTILE})
        match command:
            case "identify":
                await client.identify(SESSION)
            case "resume":
                await client.resume(SESSION, bob.session_id, 1)
            case _:
                await client.resume(world.carol.token, bob.session_id, 1)
        assert await end(client) == (4004, "Invalid token")
    assert is_banned(await at(world, HOSTILE).get("/.well-known/chat"))
    assert (await at(world, OTHER).get("/.well-known/chat")).status == 200


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/v1/gateway/bot", ...),
        ("GET", "/v1/applications/@me", ...),
        ("GET", "/v1/admin/users/@me", ...),
        ("GET", "/v1/users/@me", ...),
    ],
)
async def test_every_answer_of_401_kind_counts(
    chat_world: World, method: str, path: str, body: Any, autojump_clock: trio.testing.MockClock
) -> None:
    client = at(chat_world, HOSTILE)
    for _ in range(20):
        assert (await client.request(method, path, json=body)).status == 401
    assert is_banned(await client.get("/.well-known/chat"))


@pytest.mark.parametrize(
    ("status", "path"), [(404, "/v1/nowhere"), (403, "/v1/users/@me/settings"), (200, "/v1/users/@me")]
)
async def test_other_refusals_do_not_count(
    chat_world: World, status: int, path: str, autojump_clock: trio.testing.MockClock
) -> None:
    client = at(chat_world, HOSTILE, f"Bot {chat_world.bot.token}")
    for _ in range(30):
        assert (await client.get(path)).status == status


async def test_loopback_is_exempt(chat_world: World, autojump_clock: trio.testing.MockClock) -> None:
    await fail(chat_world, "127.0.0.1", 50)
    assert (await chat_world.alice.rest.get("/v1/users/@me")).status == 200


@pytest.mark.chat_settings(**{"ip_ban.exempt": ["203.0.113.0/24"], "ip_ban.failures": 2})
async def test_the_settings_say_who_is_exempt_and_how_many_are_too_many(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    await fail(chat_world, HOSTILE, 10)
    await fail(chat_world, "198.51.100.1", 2)
    assert is_banned(await at(chat_world, "198.51.100.1").get("/.well-known/chat"))


async def test_ipv6_neighbours_share_a_ban(chat_world: World, autojump_clock: trio.testing.MockClock) -> None:
    await fail(chat_world, "2001:db8::1", 10)
    await fail(chat_world, "2001:db8::2", 10)
    refused = await at(chat_world, "2001:db8::3").get("/.well-known/chat")
    assert is_banned(refused)
    assert refused.json()["ip_address"] == "2001:db8::3"
    assert (await at(chat_world, "2001:db8:0:1::1").get("/.well-known/chat")).status == 200


async def test_a_ban_survives_a_restart_and_a_reset_lifts_it(
    chat_world: World, chat_server: ChatServer, autojump_clock: trio.testing.MockClock
) -> None:
    await fail(chat_world, HOSTILE, 20)
    await chat_server.restart()
    assert is_banned(await at(chat_world, HOSTILE).get("/.well-known/chat"))
    await trio.sleep(HOUR)
    await chat_server.restart()
    assert (await at(chat_world, HOSTILE).get("/.well-known/chat")).status == 200
    await fail(chat_world, HOSTILE, 20)
    (await chat_world.anyone.post("/v1/_dev/reset")).expect(204)
    assert (await at(chat_world, HOSTILE).get("/.well-known/chat")).status == 200


@pytest.mark.chat_settings(rate_limits=True)
async def test_the_ban_comes_before_the_limits(chat_world: World, autojump_clock: trio.testing.MockClock) -> None:
    """A banned address is told so, however much it asks."""
    await fail(chat_world, HOSTILE, 20)
    client = at(chat_world, HOSTILE)
    for _ in range(100):
        assert is_banned(await client.get("/v1/users/@me"))


@pytest.mark.chat_settings(**{"gateway.address_header_for_tests": False})
@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "X-Real-IP", "X-Forwarded-Proto", "Via"])
async def test_a_proxy_that_is_not_trusted_passes_its_exemption_on_to_nobody(
    chat_world: World, autojump_clock: trio.testing.MockClock, header: str
) -> None:
    world = chat_world
    by_proxy = RestClient(world.route, SESSION, headers={header: "203.0.113.9"})
    direct = RestClient(world.route, SESSION)
    for _ in range(30):
        assert (await direct.get("/v1/users/@me")).status == 401  # loopback is exempt
    for _ in range(20):
        assert (await by_proxy.get("/v1/users/@me")).status == 401
    assert is_banned(await by_proxy.get("/v1/users/@me"))
    assert is_banned(await by_proxy.get("/.well-known/chat"))
    await trio.sleep(NODE_SECONDS)
    async with trio.open_nursery() as nursery:
        with pytest.raises(HandshakeRefused, match="403"):
            await GatewayClient.connect(nursery, world.route, headers={header: "203.0.113.9"})
    # An operator on the machine itself still finds a way in.
    assert (await direct.get("/v1/users/@me")).status == 401
    assert (await direct.get("/.well-known/chat")).status == 200


@pytest.mark.chat_settings(**{"gateway.address_header_for_tests": False})
async def test_failures_on_the_gateway_behind_such_a_proxy_count(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    headers = {"X-Forwarded-For": "203.0.113.9"}
    async with trio.open_nursery() as nursery:
        for _ in range(20):
            client = await GatewayClient.connect(nursery, chat_world.route, headers=headers)
            await client.identify(SESSION)
            await client.closed()
        await trio.sleep(NODE_SECONDS)
        with pytest.raises(HandshakeRefused):
            await GatewayClient.connect(nursery, chat_world.route, headers=headers)
        nursery.cancel_scope.cancel()
