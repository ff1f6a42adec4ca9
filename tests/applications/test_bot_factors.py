"""A bot shows the second factors of who owns its application, wherever it sees itself (design 8)."""

from __future__ import annotations

from typing import Any

import pytest
from trio.testing import MockClock

from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.signing_in.signing_in import Holder


@pytest.fixture
async def alice(chat_server: ChatServer, chat_world: World) -> Holder:
    """Who owns the bot."""
    return Holder(chat_server, chat_world, chat_world.alice)


def factors(user: dict[str, Any]) -> tuple[bool, list[int] | None]:
    return user["mfa_enabled"], user.get("authenticator_types")


async def seen_everywhere(world: World) -> tuple[bool, list[int] | None]:
    """What the bot sees of itself, and an administrator of it; all the same."""
    bot, admin = world.bot, world.admin
    own = (await bot.rest.get("/v1/users/@me")).expect(200)
    gateway = await bot.connect()
    assert gateway.ready is not None
    ready = gateway.ready["user"]
    await gateway.aclose()
    changed = (await bot.rest.patch("/v1/users/@me", {"bio": "a bot"})).expect(200)
    assert factors(own) == factors(ready) == factors(changed)
    (shown,) = (await admin.rest.get(f"/v1/admin/users/{bot.id}")).expect(200)["users"]
    set_directly = (await world.anyone.post(f"/v1/_dev/users/{bot.id}", {})).expect(200)
    assert shown["authenticator_types"] == set_directly["authenticator_types"] == (factors(own)[1] or [])
    return factors(own)


async def test_a_bot_shows_its_owner_s_factors(alice: Holder, chat_world: World, autojump_clock: MockClock) -> None:
    assert await seen_everywhere(chat_world) == (False, None)
    await alice.enable_totp()
    assert await seen_everywhere(chat_world) == (True, [0])
    await alice.add_passkey(as_second_factor=True, mfa_method="totp", mfa_code=alice.phone.code())
    assert await seen_everywhere(chat_world) == (True, [0, 2])
    await alice.remove_passkey()
    assert await seen_everywhere(chat_world) == (True, [0])
    proof = {"mfa_method": "totp", "mfa_code": alice.backup_codes[1]}
    body = {"code": alice.backup_codes[0], **proof}
    (await alice.person.rest.post("/v1/users/@me/mfa/totp/disable", body)).expect(204)
    assert await seen_everywhere(chat_world) == (False, None)


async def test_a_bot_is_told_when_its_owner_s_factors_change(
    alice: Holder, chat_world: World, autojump_clock: MockClock
) -> None:
    bot = await chat_world.bot.connect()
    (await alice.person.rest.patch("/v1/users/@me", {"bio": "an owner"})).expect(200)
    await alice.enable_totp()
    update = await bot.expect("USER_UPDATE")
    assert update.data["id"] == chat_world.bot.id
    assert factors(update.data) == (True, [0])


async def test_a_bot_has_the_factors_of_its_new_owner(
    alice: Holder, chat_world: World, autojump_clock: MockClock
) -> None:
    await alice.enable_totp()
    bot = await chat_world.bot.connect()
    path = f"/v1/admin/applications/{chat_world.bot.application_id}/transfer-ownership"
    (await chat_world.admin.rest.post(path, {"new_owner_id": chat_world.carol.id})).expect(200)
    assert factors((await bot.expect("USER_UPDATE")).data) == (False, None)
    assert await seen_everywhere(chat_world) == (False, None)
