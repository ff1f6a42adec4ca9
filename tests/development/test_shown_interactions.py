"""The interactions that the workbench shows: tokens, answers and clocks."""

from __future__ import annotations

import trio
from trio.testing import MockClock

from chat.testing.world import World
from tests.interactions.acting import NAME, PING, answer, invoked, register

SHOWN = "/v1/_dev/interactions"


async def test_an_interaction_has_its_token_its_answers_and_its_clock(
    chat_world: World, autojump_clock: MockClock
) -> None:
    anyone = chat_world.anyone
    assert (await anyone.get(SHOWN)).expect(200) == []
    [ping] = await register(chat_world, PING)
    at_bot = await chat_world.bot.connect()
    told = await invoked(chat_world, at_bot, ping, NAME)
    [waiting] = (await anyone.get(SHOWN)).expect(200)
    assert (waiting["id"], waiting["token"], waiting["name"]) == (told["id"], told["token"], "ping")
    assert (waiting["user_id"], waiting["answered_with"], waiting["answers"]) == (chat_world.bob.id, None, [])
    assert waiting["created_at"] < waiting["due_at"] < waiting["ends_at"]
    (await answer(chat_world, told, 4, {"content": "pong"})).expect(204)
    (await answer(chat_world, told, 4, {"content": "again"})).expect(400)
    path = f"/v1/webhooks/{told['application_id']}/{told['token']}"
    (await anyone.post(path, {"content": "more"})).expect(200)
    (await anyone.request("GET", f"/api/v10/webhooks/{told['application_id']}/{told['token']}/messages/@original"))
    [answered] = (await anyone.get(SHOWN)).expect(200)
    assert (answered["answered_with"], answered["due_at"]) == (4, None)
    came = [(one["method"], one["status"], (one["body"] or {}).get("type")) for one in answered["answers"]]
    assert came[:3] == [("POST", 204, 4), ("POST", 400, 4), ("POST", 200, None)]

    # Another is not answered; both are forgotten with their time.
    await invoked(chat_world, at_bot, ping, NAME)
    await trio.sleep(4)
    newest, _ = (await anyone.get(SHOWN)).expect(200)
    assert (newest["due_at"], newest["answered_with"], newest["answers"]) == (None, None, [])
    await trio.sleep(3_600)
    assert (await anyone.get(SHOWN)).expect(200) == []


async def test_no_bot_was_told(chat_world: World) -> None:
    [ping] = await register(chat_world, PING)
    data = {"id": ping["id"], "options": [NAME]}
    body = {
        "type": 2,
        "application_id": chat_world.bot.application_id,
        "channel_id": chat_world.channel_id,
        "data": data,
    }
    (await chat_world.bob.rest.post("/v1/interactions", body)).expect(204)
    [shown] = (await chat_world.anyone.get(SHOWN)).expect(200)
    assert shown["token"] is None
