"""Where an interaction happens: in a conversation, in a thread, on one shard of several (interactions.md,
Interactions)."""

from __future__ import annotations

import json
from typing import Any

from trio.testing import MockClock

from chat.registries.interactions import InteractionContext
from chat.registries.permissions import Permission
from chat.testing.rest_client import Response
from chat.testing.world import World
from tests.interactions.acting import NAME, PING, act, answer, invoked, of, register
from tests.webhooks.surfaces import FORM_HEADERS, form

DECLARED = {"X-Service-Features": "channel_threads"}
BOTH: dict[str, Any] = {"name": "ping", "description": "Answers."}


async def test_in_a_conversation_with_the_bot(chat_world: World) -> None:
    [ping] = await register(chat_world, BOTH)
    bob = chat_world.bob
    conversation = (await bob.rest.open_conversation(chat_world.bot.id)).expect(200)["id"]
    at_bot, at_bob = await chat_world.bot.connect(), await bob.connect()
    told = await invoked(chat_world, at_bot, ping, channel_id=conversation, guild_id=None)
    assert (told["context"], told["user"]["id"]) == (InteractionContext.BOT_DM, bob.id)
    assert told.keys().isdisjoint({"guild_id", "guild", "member", "guild_locale"})
    assert told["authorizing_integration_owners"] == {"0": "0"}
    (await answer(chat_world, told, 4, {"content": "pong"})).expect(204)
    heard = (await at_bob.expect("MESSAGE_CREATE")).data
    assert (heard["channel_id"], heard["content"]) == (conversation, "pong")
    (await chat_world.anyone.delete(of(told))).expect(204)
    assert (await at_bob.expect("MESSAGE_DELETE")).data["id"] == heard["id"]


async def test_in_a_conversation_that_the_bot_is_not_in(chat_world: World) -> None:
    [ping] = await register(chat_world, BOTH)
    bob = chat_world.bob
    refused = await act(bob, chat_world, 2, {"id": ping["id"]}, channel_id=bob.id)  # notes to himself
    assert refused.code == "UNKNOWN_APPLICATION"


async def test_a_command_of_guilds_alone_is_none_of_a_conversation(chat_world: World) -> None:
    [ping] = await register(chat_world, {**BOTH, "contexts": [0]})
    bob = chat_world.bob
    conversation = (await bob.rest.open_conversation(chat_world.bot.id)).expect(200)["id"]
    refused = await act(bob, chat_world, 2, {"id": ping["id"]}, channel_id=conversation)
    assert refused.code == "UNKNOWN_APPLICATION_COMMAND"


async def test_in_a_thread(chat_world: World) -> None:
    [ping] = await register(chat_world, PING)
    for person in (chat_world.alice, chat_world.bob):
        person.rest.headers.update(DECLARED)
    thread = (await chat_world.alice.rest.start_thread(chat_world.channel_id, "aside")).expect(201)["id"]
    at_bot = await chat_world.bot.connect()
    told = await invoked(chat_world, at_bot, ping, NAME, channel_id=thread)
    assert (told["channel"]["id"], told["channel"]["parent_id"]) == (thread, chat_world.channel_id)
    sent = (await answer(chat_world, told, 5)).status
    assert sent == 204
    more = f"/v1/webhooks/{told['application_id']}/{told['token']}"
    filled = (await chat_world.anyone.post(more, {"content": "there"})).expect(200)
    assert (filled["channel_id"], filled["content"], filled["flags"]) == (thread, "there", 0)
    further = (await chat_world.anyone.post(more, {"content": "more"})).expect(200)
    assert further["id"] != filled["id"]


async def test_the_shard_of_the_guild_hears_of_it_once(chat_world: World, autojump_clock: MockClock) -> None:
    [ping] = await register(chat_world, PING)
    shards = [await chat_world.bot.connect(shard=[number, 2]) for number in range(2)]
    holder = (int(chat_world.guild_id) >> 22) % 2
    await invoked(chat_world, shards[holder], ping, NAME)
    conversation = (await chat_world.bob.rest.open_conversation(chat_world.bot.id)).expect(200)["id"]
    for place, shard in ((conversation, shards[0]), (chat_world.channel_id, shards[holder])):
        said = (await chat_world.bob.rest.send_message(place, "said")).expect(200)["id"]
        await shard.expect("MESSAGE_CREATE", where=lambda message, said=said: message["id"] == said)
    heard = [[payload.name for payload in shard.dispatches].count("INTERACTION_CREATE") for shard in shards]
    assert heard == [int(number == holder) for number in range(2)]


async def test_the_person_is_told_in_the_language_that_it_has_chosen(chat_world: World) -> None:
    [ping] = await register(chat_world, PING)
    at_bot = await chat_world.bot.connect()
    assert (await invoked(chat_world, at_bot, ping, NAME))["locale"] == "en-US"
    (await chat_world.bob.rest.change_settings(locale="de")).expect(200)
    told = await invoked(chat_world, at_bot, ping, NAME)
    assert (told["locale"], told["guild_locale"]) == ("de", "en-US")


async def test_a_first_answer_brings_files(chat_world: World) -> None:
    [ping] = await register(chat_world, PING)
    at_bot = await chat_world.bot.connect()
    told = await invoked(chat_world, at_bot, ping, NAME)
    refused = await answered_with_a_file(chat_world, told, 5, {})
    assert [(error["path"], error["code"]) for error in refused.json()["errors"]] == [("files", "NOT_FOR_THIS_TYPE")]
    refused = await answered_with_a_file(chat_world, told, 4, {"content": "x", "flags": 64})
    assert [error["path"] for error in refused.json()["errors"]] == ["data.attachments"]
    data = {"content": "x", "attachments": [{"id": 0, "filename": "a.txt"}]}
    made = (await answered_with_a_file(chat_world, told, 4, data)).expect(200)
    assert made["interaction"]["response_message_ephemeral"] is False
    assert [file["filename"] for file in made["resource"]["message"]["attachments"]] == ["a.txt"]


async def test_the_servers_lines_about_a_bot_are_none_of_its_answers(chat_world: World) -> None:
    [ping] = await register(chat_world, PING)
    at_bot = await chat_world.bot.connect()
    channel, bot_id = f"/v1/channels/{chat_world.channel_id}", chat_world.bot.id
    said = (await chat_world.bot.rest.send_message(chat_world.channel_id, "keep this")).expect(200)["id"]
    pins = {"type": 1, "allow": str(int(Permission.PIN_MESSAGES))}
    (await chat_world.alice.rest.put(f"{channel}/permissions/{bot_id}", pins)).expect(204)
    (await chat_world.bot.rest.put(f"{channel}/pins/{said}")).expect(204)
    line = (await chat_world.alice.rest.get(f"{channel}/messages?limit=1")).expect(200)[0]
    assert (line["type"], line["author"]["id"]) == (6, bot_id)
    told = await invoked(chat_world, at_bot, ping, NAME)
    (await answer(chat_world, told, 4, {"content": "pong"})).expect(204)
    for method, body in (("PATCH", {"content": "written over"}), ("DELETE", ...)):
        refused = await chat_world.anyone.request(method, of(told, line["id"]), json=body)
        assert refused.code == "UNKNOWN_MESSAGE", method
    (await chat_world.anyone.patch(of(told, said), {"content": "kept"})).expect(200)


async def answered_with_a_file(world: World, told: dict[str, Any], kind: int, data: dict[str, Any]) -> Response:
    return await world.anyone.request(
        "POST",
        f"/v1/interactions/{told['id']}/{told['token']}/callback",
        query={"with_response": "true"},
        body=form([("files[0]", "a.txt", b"text")], json.dumps({"type": kind, "data": data}).encode()),
        headers=FORM_HEADERS,
    )
