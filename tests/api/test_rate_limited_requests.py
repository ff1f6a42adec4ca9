"""Request limits as clients meet them (wire facts 3.4).

Area: api. Rules: 000.policies.
"""

from __future__ import annotations

import math

import pytest
import trio

from chat.api import buckets
from chat.registries.user_flags import UserFlag
from chat.testing.network import MemoryRoute
from chat.testing.rest_client import RestClient
from chat.testing.server import ChatServer
from chat.testing.world import World

pytestmark = pytest.mark.chat_settings(rate_limits=True)

LIMIT_HEADERS = ("Limit", "Remaining", "Reset", "Reset-After", "Bucket")


Clock = trio.testing.MockClock
"""Virtual time: a burst takes none, and an hour is over at once."""


async def set_flags(chat_world: World, user_id: str, flag: UserFlag) -> None:
    (await chat_world.anyone.post(f"/v1/_dev/users/{user_id}", {"flags": str(int(flag))})).expect(200)


async def test_a_bucket_lets_its_limit_through_and_tells_how_long_to_wait(
    chat_world: World, autojump_clock: Clock
) -> None:
    bucket = buckets.USER_SETTINGS
    await set_flags(chat_world, chat_world.alice.id, UserFlag.HIGH_GLOBAL_RATE_LIMIT)
    for _ in range(bucket.limit):
        answer = await chat_world.alice.rest.get("/v1/users/@me/settings")
        assert answer.status == 200
        assert answer.header("X-RateLimit-Limit") is None, "users are told nothing while they may"
    refused = await chat_world.alice.rest.get("/v1/users/@me/settings")
    assert (refused.status, refused.code) == (429, "RATE_LIMITED")
    body = refused.json()
    assert body["global"] is False
    assert 0.001 <= body["retry_after"] <= bucket.window_ms / bucket.limit / 1000
    assert refused.header("Retry-After") == str(math.ceil(body["retry_after"]))
    assert refused.header("X-RateLimit-Scope") == "user"
    assert refused.header("X-RateLimit-Global") is None
    assert refused.header("X-RateLimit-Limit") == str(bucket.limit)
    assert refused.header("X-RateLimit-Remaining") == "0"
    assert refused.header("X-RateLimit-Bucket") == bucket.public_name
    await trio.sleep(body["retry_after"])
    assert (await chat_world.alice.rest.get("/v1/users/@me/settings")).status == 200


async def test_bots_are_told_where_they_stand(chat_world: World, autojump_clock: Clock) -> None:
    answer = await chat_world.bot.rest.get("/v1/users/@me")
    assert answer.header("X-RateLimit-Limit") == str(buckets.USER_OWN.limit)
    assert answer.header("X-RateLimit-Remaining") == str(buckets.USER_OWN.limit - 1)
    assert float(answer.header("X-RateLimit-Reset-After") or 0) == pytest.approx(0.1)
    assert int(answer.header("X-RateLimit-Reset") or 0) > 1_400_000_000
    assert answer.header("Retry-After") is None


async def test_members_of_the_path_have_buckets_of_their_own(chat_world: World, autojump_clock: Clock) -> None:
    mine = (await chat_world.alice.rest.get("/v1/oauth2/applications/@me")).expect(200)[0]["id"]
    await set_flags(chat_world, chat_world.alice.id, UserFlag.HIGH_GLOBAL_RATE_LIMIT)
    for _ in range(buckets.APPLICATION.limit):
        assert (await chat_world.alice.rest.get(f"/v1/oauth2/applications/{mine}")).status == 200
    assert (await chat_world.alice.rest.get(f"/v1/oauth2/applications/{mine}")).status == 429
    assert (await chat_world.alice.rest.get("/v1/oauth2/applications/5")).status == 404


async def test_the_global_limit_comes_first_and_costs_a_user_the_sign_in(
    chat_world: World, autojump_clock: Clock
) -> None:
    statuses = [(await chat_world.bob.rest.get("/v1/users/@me")).status for _ in range(50)]
    assert set(statuses) == {200}
    refused = await chat_world.bob.rest.get("/v1/users/@me")
    assert (refused.status, refused.json()["global"]) == (429, True)
    assert refused.header("X-RateLimit-Global") == "true"
    assert refused.header("X-RateLimit-Scope") == "global"
    assert all(refused.header(f"X-RateLimit-{name}") is None for name in LIMIT_HEADERS)
    await trio.sleep(5)
    assert (await chat_world.bob.rest.get("/v1/users/@me")).code == "UNAUTHORIZED"


async def test_a_bot_keeps_its_token(chat_world: World, autojump_clock: Clock) -> None:
    for _ in range(51):
        answer = await chat_world.bot.rest.get("/v1/users/@me")
    assert answer.json()["global"] is True
    await trio.sleep(5)
    assert (await chat_world.bot.rest.get("/v1/users/@me")).status == 200


async def test_the_wider_limit_and_none_at_all(chat_world: World, autojump_clock: Clock) -> None:
    await set_flags(chat_world, chat_world.alice.id, UserFlag.HIGH_GLOBAL_RATE_LIMIT)
    await set_flags(chat_world, chat_world.bob.id, UserFlag.RATE_LIMIT_BYPASS)
    assert {(await chat_world.alice.rest.get("/v1/users/@me")).status for _ in range(60)} == {200}
    assert {(await chat_world.bob.rest.get("/v1/users/@me")).status for _ in range(130)} == {200}


@pytest.mark.rule("000.policies.4")
async def test_a_credential_switches_the_limits_from_address_to_account(
    chat_world: World, autojump_clock: Clock
) -> None:
    for _ in range(50):
        await chat_world.anyone.get("/.well-known/chat")
    assert (await chat_world.anyone.get("/.well-known/chat")).status == 429
    assert (await chat_world.carol.rest.get("/.well-known/chat")).status == 200


async def test_strangers_count_by_address_and_ipv6_by_network(
    chat_world: World, chat_server: ChatServer, autojump_clock: Clock
) -> None:
    route = chat_server.route()
    assert isinstance(route, MemoryRoute)

    async def status(address: str) -> int:
        client = RestClient(route.from_address(address))
        answer = await client.get("/.well-known/chat")
        await client.aclose()
        return answer.status

    for host in range(50):
        assert await status(f"2001:db8::{host:x}") == 200
    assert await status("2001:db8::ffff") == 429
    assert await status("2001:db8:0:1::1") == 200
    assert await status("192.0.2.1") == 200


async def test_the_limit_is_judged_before_the_credential(chat_world: World, autojump_clock: Clock) -> None:
    nobody = chat_world.anyone.signed_in("cht_" + "a" * 36)
    statuses = [(await nobody.get("/v1/users/@me")).status for _ in range(51)]
    assert statuses == [401] * 50 + [429]


# What handlers count themselves


async def test_five_logins_a_quarter_of_an_hour_for_one_address(
    chat_world: World, chat_server: ChatServer, autojump_clock: Clock
) -> None:
    for _ in range(5):
        answer = await chat_world.anyone.login(email=chat_world.alice.email.upper(), password="wrong password")
        assert answer.status == 400
    refused = await chat_world.anyone.login(email=chat_world.alice.email, password=chat_world.alice.password)
    assert (refused.status, refused.code) == (429, "RATE_LIMITED")
    assert (await chat_world.anyone.login(email=chat_world.bob.email, password=chat_world.bob.password)).status == 200
    await trio.sleep(180)
    assert (
        await chat_world.anyone.login(email=chat_world.alice.email, password=chat_world.alice.password)
    ).status == 200


async def test_ten_logins_from_one_network(chat_world: World, autojump_clock: Clock) -> None:
    statuses = [
        (await chat_world.anyone.login(email=f"nobody{number}@example.com", password="wrong password")).status
        for number in range(11)
    ]
    assert statuses == [400] * 10 + [429]


async def test_a_network_that_has_had_its_share_locks_nobody_out(
    chat_world: World, chat_server: ChatServer, autojump_clock: Clock
) -> None:
    hostile = RestClient(chat_server.route("198.51.100.66"))
    for number in range(10):
        assert (await hostile.login(email=f"nobody{number}@example.com", password="wrong password")).status == 400
    for _ in range(10):
        refused = await hostile.login(email=chat_world.alice.email, password="wrong password")
        assert (refused.status, refused.code) == (429, "RATE_LIMITED")
    (await chat_world.anyone.login(email=chat_world.alice.email, password=chat_world.alice.password)).expect(200)


async def test_three_registrations_an_hour_from_one_network(chat_world: World, autojump_clock: Clock) -> None:
    statuses = [
        (await chat_world.anyone.register(username=f"guest{number}", password="correct horse")).status
        for number in range(4)
    ]
    assert statuses == [200] * 3 + [429]


async def test_five_usernames_in_three_hours(chat_world: World, autojump_clock: Clock) -> None:
    for number in range(5):
        (await chat_world.alice.rest.patch("/v1/users/@me", {"username": f"alice{number}"})).expect(200)
    refused = await chat_world.alice.rest.patch("/v1/users/@me", {"username": "alice5"})
    assert refused.status == 400
    assert refused.json()["errors"][0]["code"] == "USERNAME_CHANGED_TOO_MANY_TIMES"
    assert (
        await chat_world.alice.rest.patch("/v1/users/@me", {"username": "alice4", "bio": "same name"})
    ).status == 200
