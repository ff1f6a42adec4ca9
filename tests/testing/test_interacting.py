"""The test kit's people and bots use commands, components and forms as a test of a bot would
(testing.md, Commands, buttons and forms)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from chat.testing import World, interacting
from chat.testing.interacting import NotAnswered, UnknownCommand

Heard = dict[str, Any]
TEXT = {"type": 3, "description": "d", "required": True}
BUTTON = {"type": 1, "components": [{"type": 2, "style": 1, "label": "Again", "custom_id": "again"}]}


@asynccontextmanager
async def playing(world: World, plays: Callable[[Heard], Awaitable[object]]) -> AsyncIterator[None]:
    """A bot that does this with each interaction that it hears."""
    client = await world.bot.connect()

    async def run() -> None:
        while True:
            await plays((await client.expect("INTERACTION_CREATE", seconds=1e6)).data)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(run)
        yield
        nursery.cancel_scope.cancel()


async def test_a_command_its_button_and_a_form(chat_world: World, autojump_clock: MockClock) -> None:
    bot, bob = chat_world.bot, chat_world.bob
    options = [{**TEXT, "name": "name"}, {"type": 6, "name": "who", "description": "d"}]
    await bot.register({"name": "ping", "description": "Answers.", "options": options})
    field = {"type": 1, "components": [{"type": 4, "custom_id": "why", "style": 1, "label": "Why?"}]}

    async def plays(told: Heard) -> None:
        match told["type"]:
            case 2:
                said = {option["name"]: option["value"] for option in told["data"]["options"]}
                await bot.answer(told, f"pong {said['name']} <@{said['who']}>", components=[BUTTON])
            case 3:
                await bot.open_form(told, "reasons", "Why again?", field)
            case _:
                why = told["data"]["components"][0]["components"][0]["value"]
                await bot.change(told, content=f"because {why}", components=[])

    async with playing(chat_world, plays):
        shown = await bob.invoke("ping", name="x", who=chat_world.carol)
        assert shown.message["content"] == f"pong x <@{chat_world.carol.id}>"
        assert not shown.is_private
        assert not shown.is_thinking
        asked = await bob.press(shown.message, "again")
        assert asked.form is not None
        assert asked.form.title == "Why again?"
        done = await bob.submit(asked.form, why="it was nice")
        assert (done.message["content"], done.message["id"]) == ("because it was nice", shown.message["id"])


async def test_commands_below_commands_and_in_menus(chat_world: World, autojump_clock: MockClock) -> None:
    bot = chat_world.bot
    below = {"type": 1, "name": "set", "description": "d", "options": [{**TEXT, "name": "value"}]}
    group = {"type": 2, "name": "colour", "description": "d", "options": [below]}
    await bot.register(
        {"name": "config", "description": "d", "options": [group]},
        {"name": "Report it", "type": 3},
        {"name": "Wave", "type": 2},
    )
    heard: list[Heard] = []

    async def plays(told: Heard) -> None:
        heard.append(told["data"])
        await bot.answer(told, "done", flags=64)

    said = (await chat_world.alice.rest.send_message(chat_world.channel_id, "slugs!")).expect(200)
    async with playing(chat_world, plays):
        assert (await chat_world.bob.invoke("config colour set", value="red")).is_private
        await chat_world.bob.invoke("Report it", said)
        await chat_world.bob.at(chat_world.channel_id).invoke("Wave", chat_world.alice)
        with pytest.raises(UnknownCommand, match=r"is offered no command 'pong' here, but: .*config"):
            await chat_world.bob.invoke("pong")
    assert heard[0]["options"][0]["options"][0]["options"] == [{"name": "value", "type": 3, "value": "red"}]
    assert [data.get("target_id") for data in heard] == [None, said["id"], chat_world.alice.id]


async def test_menus_choices_and_what_comes_later(chat_world: World, autojump_clock: MockClock) -> None:
    bot, bob = chat_world.bot, chat_world.bob
    await bot.register(
        {"name": "find", "description": "d", "options": [{**TEXT, "name": "what", "autocomplete": True}]}
    )
    menu = {"type": 3, "custom_id": "which", "max_values": 2, "options": [{"label": x, "value": x} for x in "abc"]}

    async def plays(told: Heard) -> None:
        match told["type"]:
            case 4:
                await bot.offer(told, told["data"]["options"][0]["value"] * 2)
            case 2:
                await bot.defer(told)
                await trio.sleep(60)
                await bot.follow_up(told, "which?", components=[{"type": 1, "components": [menu]}])
            case _:
                await bot.change(told, content="+".join(told["data"]["values"]))

    async with playing(chat_world, plays):
        assert await bob.type_into("find", "what", "ab") == [{"name": "abab", "value": "abab"}]
        thinking = await bob.invoke("find", what="abab")
        assert thinking.is_thinking
        await trio.sleep(61)
        path = f"/v1/channels/{chat_world.channel_id}/messages/{thinking.message['id']}"
        message = (await bob.rest.get(path)).expect(200)
        assert message["content"] == "which?"
        assert (await bob.choose(message, "which", "a", "c")).message["content"] == "a+c"


async def test_a_bot_that_is_too_slow(chat_world: World, autojump_clock: MockClock) -> None:
    await chat_world.bot.register({"name": "ping", "description": "Answers."})

    async def plays(told: Heard) -> None:
        await trio.sleep(3.1)

    async with playing(chat_world, plays):
        before = trio.current_time()
        with pytest.raises(NotAnswered, match="did not answer bob's application_command"):
            await chat_world.bob.invoke("ping")
        assert trio.current_time() - before == pytest.approx(3, abs=0.5)


async def test_people_vote_in_the_poll_of_a_bot(chat_world: World) -> None:
    poll = interacting.poll("Which?", "red", "blue", several=True)
    sent = await chat_world.bot.rest.send_message(chat_world.channel_id, "", poll=poll)
    asked = sent.expect(200)
    seen = await chat_world.bob.vote(asked, "red", 2)
    assert [(each["count"], each["me_voted"]) for each in seen["results"]["answer_counts"]] == [(1, True), (1, True)]
    seen = await chat_world.bob.vote(asked)
    assert [each["count"] for each in seen["results"]["answer_counts"]] == [0, 0]
    with pytest.raises(LookupError, match="green"):
        await chat_world.bob.vote(asked, "green")
