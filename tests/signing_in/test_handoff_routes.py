"""Hand-off: somebody who is signed in in a browser signs a program in (wire facts 6.1)."""

from __future__ import annotations

import pytest
import trio
from trio.testing import MockClock

from chat.testing.rest_client import Response, RestClient
from chat.testing.world import World

PROGRAM = "203.0.113.7"


def at(world: World, address: str = PROGRAM) -> RestClient:
    return RestClient(world.route, headers={"X-Test-Address": address, "User-Agent": "Program/1.0"})


async def begin(world: World) -> str:
    started = (await at(world).post("/v1/auth/handoff/initiate")).expect(200)
    code: str = started["code"]
    assert [len(half) for half in code.split("-")] == [6, 6]
    return code


async def status(world: World, code: str, address: str = PROGRAM) -> Response:
    return await at(world, address).get(f"/v1/auth/handoff/{code}/status")


async def agree(world: World, code: str) -> Response:
    return await world.bob.rest.post("/v1/auth/handoff/complete", {"code": code})


def is_unknown(answer: Response) -> bool:
    return (answer.status, answer.code) == (400, "INVALID_HANDOFF_CODE")


async def test_a_program_is_signed_in_by_a_browser(chat_world: World, autojump_clock: MockClock) -> None:
    world = chat_world
    code = await begin(world)
    assert (await status(world, code)).expect(200) == {"status": "pending"}
    shown = (await world.bob.rest.get(f"/v1/auth/handoff/{code}/info")).expect(200)
    assert (shown["masked_ip"], shown["user_agent"]) == ("203.0.113.*", "Program/1.0")
    (await agree(world, code.lower().replace("-", " "))).expect(204)
    assert is_unknown(await agree(world, code)), "one agreement, one program"
    assert is_unknown(await status(world, code, "198.51.100.1")), "only the program is told"
    signed_in = (await status(world, code)).expect(200)
    assert (signed_in["status"], signed_in["user_id"]) == ("completed", world.bob.id)
    program = RestClient(world.route, signed_in["token"])
    assert (await program.get("/v1/users/@me")).expect(200)["id"] == world.bob.id
    assert signed_in["token"] != world.bob.token
    assert is_unknown(await status(world, code)), "once"
    (await world.bob.rest.get("/v1/users/@me")).expect(200)


async def test_codes_end(chat_world: World, autojump_clock: MockClock) -> None:
    world = chat_world
    for answer in (
        await status(world, "AAAAAA-AAAAAA"),
        await agree(world, "AAAAAA-AAAAAA"),
        await world.bob.rest.get("/v1/auth/handoff/%20/info"),
        await at(world).delete("/v1/auth/handoff/AAAAAA-AAAAAA"),
    ):
        assert is_unknown(answer)
    for body in ({}, {"code": None}, {"code": "x" * 65}, {"code": 5}):
        assert (await world.bob.rest.post("/v1/auth/handoff/complete", body)).code == "INVALID_FORM_BODY"
    assert (await world.anyone.post("/v1/auth/handoff/complete", {"code": "x"})).code == "UNAUTHORIZED"
    refused = await world.bot.rest.post("/v1/auth/handoff/initiate")
    assert refused.code == "BOT_USER_AUTH_ENDPOINT_ACCESS_DENIED"

    code = await begin(world)
    assert is_unknown(await at(world, "198.51.100.1").delete(f"/v1/auth/handoff/{code}"))
    (await at(world).delete(f"/v1/auth/handoff/{code}")).expect(204)
    assert is_unknown(await status(world, code))
    code = await begin(world)
    await trio.sleep(300)
    for answer in (await status(world, code), await agree(world, code)):
        assert (answer.status, answer.code) == (400, "HANDOFF_CODE_EXPIRED")
    await trio.sleep(300)
    assert is_unknown(await status(world, code))


@pytest.mark.parametrize("change", ["password", "ban"])
async def test_what_became_of_the_account_meanwhile_counts(
    chat_world: World, autojump_clock: MockClock, change: str
) -> None:
    world = chat_world
    code = await begin(world)
    (await agree(world, code)).expect(204)
    if change == "ban":
        (await world.admin.rest.put(f"/v1/admin/users/{world.bob.id}/ban", {"duration_hours": 1})).expect(200)
    else:
        body = {"password": world.bob.password, "new_password": "correct horse battery"}
        (await world.bob.rest.patch("/v1/users/@me", body)).expect(200)
    assert is_unknown(await status(world, code))
