"""Interactions over HTTP and the gateway: what the application hears, what it answers, what the person sees, and the
deadlines in virtual time (interactions.md, Interactions; interactions.md, Answers)."""

from __future__ import annotations

from typing import Any

import pytest
from trio.testing import MockClock

from chat.testing.world import World
from tests.interactions.acting import NAME, PING, act, answer, invoked, of, register


async def test_a_command_is_invoked_and_answered(chat_world: World, autojump_clock: MockClock) -> None:
    [ping] = await register(chat_world, PING)
    bob = chat_world.bob
    at_bot, at_bob = await chat_world.bot.connect(), await bob.connect()
    told = await invoked(
        chat_world, at_bot, ping, NAME, {"name": "who", "value": chat_world.carol.id}, session_id=at_bob.session_id
    )
    assert told["data"]["options"] == [
        {"name": "name", "type": 3, "value": "x"},
        {"name": "who", "type": 6, "value": chat_world.carol.id},
    ]
    assert told["data"]["resolved"]["users"].keys() == {chat_world.carol.id}
    assert told["data"]["resolved"]["members"].keys() == {chat_world.carol.id}
    assert (told["type"], told["version"], told["guild_id"]) == (2, 1, chat_world.guild_id)
    assert told["member"]["user"]["id"] == bob.id
    assert int(told["app_permissions"]) > 0
    begun = (await at_bob.expect("INTERACTION_CREATE")).data
    assert begun == {"id": told["id"], "nonce": "n"}
    (await answer(chat_world, told, 4, {"content": "pong"})).expect(204)
    heard = (await at_bob.expect("MESSAGE_CREATE")).data
    assert (await at_bob.expect("INTERACTION_SUCCESS")).data == begun
    assert (heard["content"], heard["author"]["id"]) == ("pong", chat_world.bot.id)
    assert heard["interaction_metadata"]["user"]["id"] == bob.id
    assert heard["interaction_metadata"]["id"] == told["id"]
    original = (await chat_world.anyone.get(of(told))).expect(200)
    assert original["id"] == heard["id"]
    for prefix in ("/v1", "/api/v10"):  # a library for Node escapes it
        escaped = of(told, "%40original").replace("/v1", prefix, 1)
        changed = (await chat_world.anyone.patch(escaped, {"content": f"pong at {prefix}"})).expect(200)
        assert (changed["id"], changed["content"]) == (heard["id"], f"pong at {prefix}")
    listed = (await bob.rest.get(f"/v1/channels/{chat_world.channel_id}/messages")).expect(200)
    assert listed[0]["interaction_metadata"] == heard["interaction_metadata"]
    again = await answer(chat_world, told, 4, {"content": "pong"})
    assert again.code == "INTERACTION_ALREADY_ACKNOWLEDGED"
    more = f"/v1/webhooks/{told['application_id']}/{told['token']}"
    further = (await chat_world.anyone.post(more, {"content": "more"})).expect(200)
    assert (await chat_world.anyone.patch(of(told, further["id"]), {"content": "less"})).expect(200)[
        "content"
    ] == "less"
    (await chat_world.anyone.delete(of(told, further["id"]))).expect(204)
    (await chat_world.anyone.delete(of(told))).expect(204)
    assert (await chat_world.anyone.get(of(told))).code == "UNKNOWN_MESSAGE"


async def test_nobody_answers_in_time(chat_world: World, autojump_clock: MockClock) -> None:
    [ping] = await register(chat_world, PING)
    at_bot, at_bob = await chat_world.bot.connect(), await chat_world.bob.connect()
    told = await invoked(chat_world, at_bot, ping, NAME)
    await chat_world.anyone.advance_clock(2_900)
    (await answer(chat_world, told, 5)).expect(204)
    late = await invoked(chat_world, at_bot, ping, NAME)
    await chat_world.anyone.advance_clock(3_000)
    failed = (await at_bob.expect("INTERACTION_FAILURE")).data
    assert failed == {"id": late["id"], "nonce": "n", "reason_code": 1}
    assert (await answer(chat_world, late, 4, {"content": "x"})).code == "UNKNOWN_INTERACTION"
    assert (await chat_world.anyone.get(of(told))).expect(200)["flags"] & 128
    filled = (await chat_world.anyone.patch(of(told), {"content": "there"})).expect(200)
    assert (filled["content"], filled["flags"], filled["edited_timestamp"]) == ("there", 0, None)
    await chat_world.anyone.advance_clock(15 * 60_000)
    ended = await chat_world.anyone.patch(of(told), {"content": "y"})
    assert (ended.status, ended.code) == (401, "INVALID_WEBHOOK_TOKEN")
    await chat_world.anyone.advance_clock(20 * 60_000)
    assert (await chat_world.anyone.get(of(told))).code == "UNKNOWN_WEBHOOK"


async def test_an_ephemeral_answer_is_for_one_session(chat_world: World) -> None:
    [ping] = await register(chat_world, PING)
    at_bot, at_bob, at_alice = (
        await chat_world.bot.connect(),
        await chat_world.bob.connect(),
        await chat_world.alice.connect(),
    )
    told = await invoked(chat_world, at_bot, ping, NAME, session_id=at_bob.session_id)
    row = {"type": 1, "components": [{"type": 2, "style": 1, "label": "Go", "custom_id": "go"}]}
    (await answer(chat_world, told, 4, {"content": "secret", "flags": 64, "components": [row]})).expect(204)
    heard = (await at_bob.expect("MESSAGE_CREATE")).data
    assert (heard["content"], heard["flags"]) == ("secret", 64)
    said = (await chat_world.bob.rest.send_message(chat_world.channel_id, "said")).expect(200)
    assert (await at_alice.expect("MESSAGE_CREATE")).data["id"] == said["id"]
    listed = (await chat_world.bob.rest.get(f"/v1/channels/{chat_world.channel_id}/messages")).expect(200)
    assert heard["id"] not in [message["id"] for message in listed]
    changed = (await chat_world.anyone.patch(of(told), {"content": "changed"})).expect(200)
    assert (await at_bob.expect("MESSAGE_UPDATE")).data["content"] == changed["content"] == "changed"
    pressed = {"custom_id": "go"}
    foreign = await act(chat_world.alice, chat_world, 3, pressed, message_id=heard["id"])
    assert foreign.code == "UNKNOWN_MESSAGE"
    (await act(chat_world.bob, chat_world, 3, pressed, message_id=heard["id"])).expect(204)
    used = (await at_bot.expect("INTERACTION_CREATE")).data
    assert (used["data"]["custom_id"], used["message"]["id"]) == ("go", heard["id"])
    (await answer(chat_world, used, 7, {"content": "pressed", "components": []})).expect(204)
    (await chat_world.anyone.delete(of(told))).expect(204)
    assert (await at_bob.expect("MESSAGE_DELETE")).data["id"] == heard["id"]


async def test_a_menu_a_form_and_its_submission(chat_world: World) -> None:
    at_bot, at_bob = await chat_world.bot.connect(), await chat_world.bob.connect()
    menu = {"type": 5, "custom_id": "who", "max_values": 2}
    sent = (
        await chat_world.bot.rest.post(
            f"/v1/channels/{chat_world.channel_id}/messages",
            {"content": "?", "components": [{"type": 1, "components": [menu]}]},
        )
    ).expect(200)
    none = await act(chat_world.bob, chat_world, 3, {"custom_id": "who", "values": []}, message_id=sent["id"])
    assert none.json()["errors"][0]["path"] == "data.values"
    chosen = {"custom_id": "who", "values": [chat_world.alice.id]}
    (await act(chat_world.bob, chat_world, 3, chosen, message_id=sent["id"])).expect(204)
    used = (await at_bot.expect("INTERACTION_CREATE")).data
    assert used["data"]["values"] == [chat_world.alice.id]
    assert used["data"]["resolved"]["users"].keys() == {chat_world.alice.id}
    text = {"type": 4, "custom_id": "why", "style": 1, "label": "Why?", "max_length": 5}
    form = {"custom_id": "form", "title": "A form", "components": [{"type": 1, "components": [text]}]}
    (await answer(chat_world, used, 9, form)).expect(204)
    opened = (await at_bob.expect("INTERACTION_MODAL_CREATE")).data
    assert (opened["custom_id"], opened["title"]) == ("form", "A form")
    too_long = {"id": opened["id"], "components": [{"custom_id": "why", "value": "because"}]}
    refused = await act(chat_world.bob, chat_world, 5, too_long)
    assert refused.json()["errors"][0] | {"message": ""} == {
        "path": "data.components.why",
        "code": "STRING_LENGTH_INVALID",
        "message": "",
    }
    filled = {"id": opened["id"], "components": [{"custom_id": "why", "value": "so"}]}
    assert (await act(chat_world.alice, chat_world, 5, filled)).code == "UNKNOWN_INTERACTION"
    (await act(chat_world.bob, chat_world, 5, filled)).expect(204)
    submitted = (await at_bot.expect("INTERACTION_CREATE")).data
    assert submitted["data"]["custom_id"] == "form"
    assert submitted["data"]["components"][0]["components"][0]["value"] == "so"
    assert submitted["message"]["id"] == sent["id"]
    (await answer(chat_world, submitted, 7, {"content": "done", "components": []})).expect(204)
    assert (await at_bob.expect("MESSAGE_UPDATE")).data["content"] == "done"
    more = f"/v1/webhooks/{submitted['application_id']}/{submitted['token']}"
    further = (await chat_world.anyone.post(more, {"content": "more"})).expect(200)
    told = further["interaction_metadata"]
    assert (told["type"], told["original_response_message_id"]) == (5, sent["id"])
    trigger = told["triggering_interaction_metadata"]
    assert (trigger["id"], trigger["type"], trigger["interacted_message_id"]) == (used["id"], 3, sent["id"])
    assert trigger["user"] == told["user"]


async def test_autocomplete(chat_world: World) -> None:
    option = {"type": 3, "name": "x", "description": "d", "autocomplete": True, "required": True}
    [find] = await register(chat_world, {"name": "find", "description": "d", "options": [option]})
    at_bot, at_bob = await chat_world.bot.connect(), await chat_world.bob.connect()
    typed = {"id": find["id"], "options": [{"name": "x", "value": "a", "focused": True}]}
    (await act(chat_world.bob, chat_world, 4, typed)).expect(204)
    told = (await at_bot.expect("INTERACTION_CREATE")).data
    assert told["data"]["options"] == [{"name": "x", "type": 3, "value": "a", "focused": True}]
    wrong = await answer(chat_world, told, 4, {"content": "x"})
    assert wrong.json()["errors"][0]["code"] == "NOT_FOR_THIS_TYPE"
    (await answer(chat_world, told, 8, {"choices": [{"name": "A", "value": "a"}]})).expect(204)
    offered = (await at_bob.expect("INTERACTION_AUTOCOMPLETE")).data
    assert offered == {"id": told["id"], "nonce": "n", "choices": [{"name": "A", "value": "a"}]}


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ([], "data.options.name"),
        ([NAME, NAME], "data.options.1"),
        ([{"name": "name", "value": 5}], "data.options.0.value"),
        ([NAME, {"name": "who", "value": "5"}], "data.options.1.value"),
        ([{"name": "other", "value": "x"}], "data.options.0"),
    ],
)
async def test_options_are_held_against_the_command(
    chat_world: World, options: list[dict[str, Any]], path: str
) -> None:
    [ping] = await register(chat_world, PING)
    refused = await act(chat_world.bob, chat_world, 2, {"id": ping["id"], "options": options})
    assert path in [error["path"] for error in refused.json()["errors"]]


async def test_another_persons_session_hears_nothing(chat_world: World) -> None:
    [ping] = await register(chat_world, PING)
    at_bot, at_alice = await chat_world.bot.connect(), await chat_world.alice.connect()
    told = await invoked(chat_world, at_bot, ping, NAME, session_id=at_alice.session_id)
    (await answer(chat_world, told, 4, {"content": "secret", "flags": 64})).expect(204)
    said = (await chat_world.bob.rest.send_message(chat_world.channel_id, "said")).expect(200)
    assert (await at_alice.expect("MESSAGE_CREATE")).data["id"] == said["id"]
