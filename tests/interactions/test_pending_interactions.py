"""What an interaction outlives, and what ends it: its moments in virtual time, and a restart of the server between the
act and the answer (interactions.md, Interactions; interactions.md, Answers)."""

from __future__ import annotations

import pytest
import trio
from trio.testing import MockClock

from chat.registries.interactions import ANSWER_WITHIN_MS, TOKEN_LIFETIME_MS
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.interactions.acting import NAME, PING, act, answer, invoked, of, register

LAST_MS = 1
"""The last millisecond before a moment."""


@pytest.mark.virtual_days
async def test_the_last_moment_for_a_first_answer(chat_world: World, autojump_clock: MockClock) -> None:
    [ping] = await register(chat_world, PING)
    at_bot = await chat_world.bot.connect()
    for ahead, code in ((LAST_MS, None), (0, "UNKNOWN_INTERACTION")):
        told = await invoked(chat_world, at_bot, ping, NAME)
        await trio.sleep((ANSWER_WITHIN_MS - ahead) / 1_000)
        assert (await answer(chat_world, told, 4, {"content": "x"})).code == code


@pytest.mark.virtual_days
async def test_the_last_moment_for_a_further_answer(chat_world: World, autojump_clock: MockClock) -> None:
    [ping] = await register(chat_world, PING)
    at_bot = await chat_world.bot.connect()
    told = await invoked(chat_world, at_bot, ping, NAME)
    (await answer(chat_world, told, 4, {"content": "x"})).expect(204)
    await trio.sleep(TOKEN_LIFETIME_MS / 1_000)
    (await chat_world.anyone.patch(of(told), {"content": "in time"})).expect(200)
    await trio.sleep(LAST_MS / 1_000)
    more = f"/v1/webhooks/{told['application_id']}/{told['token']}"
    for late in (
        await chat_world.anyone.get(of(told)),
        await chat_world.anyone.patch(of(told), {"content": "late"}),
        await chat_world.anyone.delete(of(told)),
        await chat_world.anyone.post(more, {"content": "late"}),
    ):
        assert (late.status, late.code) == (401, "INVALID_WEBHOOK_TOKEN")


@pytest.mark.parametrize("ephemeral", [False, True])
async def test_a_pending_interaction_is_answered_after_a_restart(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock, ephemeral: bool
) -> None:
    [ping] = await register(chat_world, PING)
    bob = chat_world.bob
    at_bot, at_bob = await chat_world.bot.connect(), await bob.connect()
    told = await invoked(chat_world, at_bot, ping, NAME, session_id=at_bob.session_id)
    began = trio.current_time()
    await chat_server.restart()
    assert trio.current_time() - began < ANSWER_WITHIN_MS / 1_000, "the restart took the time for an answer"
    again = await bob.resume(at_bob)
    (await answer(chat_world, told, 4, {"content": "pong", "flags": 64 if ephemeral else 0})).expect(204)
    heard = (await again.expect("MESSAGE_CREATE")).data
    assert (heard["content"], heard["interaction_metadata"]["id"]) == ("pong", told["id"])
    assert (await again.expect("INTERACTION_SUCCESS")).data == {"id": told["id"], "nonce": "n"}
    await chat_server.restart()
    changed = (await chat_world.anyone.patch(of(told), {"content": "changed"})).expect(200)
    assert (changed["id"], changed["content"]) == (heard["id"], "changed")


async def test_nobody_answered_before_the_restart_and_nobody_does_after_it(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    [ping] = await register(chat_world, PING)
    at_bot, at_bob = await chat_world.bot.connect(), await chat_world.bob.connect()
    told = await invoked(chat_world, at_bot, ping, NAME, session_id=at_bob.session_id)
    await chat_server.restart()
    again = await chat_world.bob.resume(at_bob)
    failed = (await again.expect("INTERACTION_FAILURE")).data
    assert failed == {"id": told["id"], "nonce": "n", "reason_code": 1}
    assert (await answer(chat_world, told, 4, {"content": "late"})).code == "UNKNOWN_INTERACTION"


async def test_the_bot_hears_after_its_resume_what_was_done_while_it_was_away(
    chat_world: World, autojump_clock: MockClock
) -> None:
    [ping] = await register(chat_world, PING)
    at_bot = await chat_world.bot.connect()
    at_bot.drop()
    (await act(chat_world.bob, chat_world, 2, {"id": ping["id"], "options": [NAME]})).expect(204)
    again = await chat_world.bot.resume(at_bot)
    told = (await again.expect("INTERACTION_CREATE")).data
    (await answer(chat_world, told, 4, {"content": "pong"})).expect(204)


async def test_a_form_outlives_a_restart_and_its_token(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    [ping] = await register(chat_world, PING)
    at_bot, at_bob = await chat_world.bot.connect(), await chat_world.bob.connect()
    told = await invoked(chat_world, at_bot, ping, NAME, session_id=at_bob.session_id)
    text = {"type": 4, "custom_id": "why", "style": 1, "label": "Why?"}
    form = {"custom_id": "form", "title": "A form", "components": [{"type": 1, "components": [text]}]}
    (await answer(chat_world, told, 9, form)).expect(204)
    opened = (await at_bob.expect("INTERACTION_MODAL_CREATE")).data
    await chat_server.restart()
    again = await chat_world.bot.resume(at_bot)
    filled = {"id": opened["id"], "components": [{"custom_id": "why", "value": "so"}]}
    (await act(chat_world.bob, chat_world, 5, filled)).expect(204)
    submitted = (await again.expect("INTERACTION_CREATE", where=lambda data: data["type"] == 5)).data
    assert submitted["data"]["components"][0]["components"][0]["value"] == "so"
    await trio.sleep(TOKEN_LIFETIME_MS / 1_000 + 1)
    assert (await act(chat_world.bob, chat_world, 5, filled)).code == "UNKNOWN_INTERACTION"


async def test_what_is_over_is_forgotten(chat_server: ChatServer, chat_world: World, autojump_clock: MockClock) -> None:
    [ping] = await register(chat_world, PING)
    at_bot = await chat_world.bot.connect()
    told = await invoked(chat_world, at_bot, ping, NAME)
    (await answer(chat_world, told, 4, {"content": "secret", "flags": 64})).expect(204)
    await trio.sleep(2 * TOKEN_LIFETIME_MS / 1_000 + 61)
    reader = chat_server.database.reader
    for table in ("interactions", "ephemeral_messages"):
        assert reader.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)  # noqa: S608
    assert (await chat_world.anyone.get(of(told))).code == "UNKNOWN_WEBHOOK"
