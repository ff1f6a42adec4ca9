"""Pinned messages over HTTP and on the gateway (wire facts 3.5, 5.3, 5.5; design 7, pins)."""

from __future__ import annotations

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from chat.clock import iso_timestamp
from chat.registries.audit_actions import AuditAction
from chat.registries.message_types import MessageType
from chat.registries.permissions import Permission
from chat.snowflake import snowflake_time_ms
from chat.testing.gateway_client import GatewayClient
from chat.testing.rest_client import Response
from chat.testing.world import Actor, World
from tests.messages.test_reaction_routes import set_permissions
from tests.people.friends import befriend, block, make_group
from tests.threads.test_thread_routes import THREADS_FLAG, ask, start


async def say(actor: Actor, channel_id: str, text: str = "hello") -> str:
    """The id of a new message."""
    return str((await actor.rest.send_message(channel_id, text)).expect(200)["id"])


async def pinned(actor: Actor, channel_id: str, **query: str | int) -> list[str]:
    """The ids of a page of pins; the plain list says the same of all of them."""
    page = (await actor.rest.pins(channel_id, **query)).expect(200)
    ids = [item["message"]["id"] for item in page["items"]]
    assert all(item["message"]["pinned"] for item in page["items"])
    if not query:
        plain = (await actor.rest.get(f"/v1/channels/{channel_id}/pins")).expect(200)
        assert [message["id"] for message in plain] == ids
    return ids


def refused(answer: Response, status: int, code: str) -> None:
    assert (answer.status, answer.code) == (status, code)


async def grant(world: World, *permissions: Permission) -> None:
    """What everybody may do in the channel beside the usual."""
    allowed = Permission(0)
    for permission in permissions:
        allowed |= permission
    await set_permissions(world, world.channel_id, allow=allowed)


async def pin_events(client: GatewayClient) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The three events of a new pin."""
    updated = (await client.expect("MESSAGE_UPDATE")).data
    pins = (await client.expect("CHANNEL_PINS_UPDATE")).data
    return updated, pins, (await client.expect("MESSAGE_CREATE")).data


async def test_a_pin_is_told_and_stands_in_both_lists(chat_world: World) -> None:
    alice, bob, channel_id, guild_id = chat_world.alice, chat_world.bob, chat_world.channel_id, chat_world.guild_id
    message_id = await say(bob, channel_id)
    assert await pinned(bob, channel_id) == []
    at_bob = await bob.connect()

    answer = await alice.rest.pin_message(channel_id, message_id)
    assert (answer.status, answer.body) == (204, b"")
    updated, pins, note = await pin_events(at_bob)
    assert (updated["id"], updated["pinned"], updated["edited_timestamp"]) == (message_id, True, None)
    assert pins["channel_id"] == channel_id
    assert pins["guild_id"] == guild_id
    assert (note["type"], note["author"]["id"], note["content"]) == (
        MessageType.CHANNEL_PINNED_MESSAGE,
        alice.id,
        "",
    )
    reference = {"channel_id": channel_id, "message_id": message_id, "guild_id": guild_id, "type": 0}
    assert note["message_reference"] == reference
    assert note["referenced_message"]["id"] == message_id

    page = (await bob.rest.pins(channel_id)).expect(200)
    assert page == {"items": [{"message": page["items"][0]["message"], "pinned_at": pins["last_pin_timestamp"]}],
                    "has_more": False}  # fmt: skip
    assert await pinned(bob, channel_id) == [message_id]
    channel = (await bob.rest.get(f"/v1/channels/{channel_id}")).expect(200)
    assert channel["last_pin_timestamp"] == pins["last_pin_timestamp"]
    assert channel["last_message_id"] == note["id"]


async def test_a_second_pin_changes_nothing(chat_world: World) -> None:
    alice, channel_id = chat_world.alice, chat_world.channel_id
    message_id = await say(alice, channel_id)
    (await alice.rest.pin_message(channel_id, message_id)).expect(204)
    at_bob = await chat_world.bob.connect()
    (await alice.rest.pin_message(channel_id, message_id)).expect(204)
    end = await say(alice, channel_id)
    assert (await at_bob.next_payload()).data["id"] == end
    assert len((await alice.rest.messages(channel_id, after=message_id)).expect(200)) == 2  # the note, and the end


async def test_an_unpinned_message_is_told_without_a_note(chat_world: World, autojump_clock: MockClock) -> None:
    alice, channel_id = chat_world.alice, chat_world.channel_id
    first, second = await say(alice, channel_id, "1"), await say(alice, channel_id, "2")
    (await alice.rest.pin_message(channel_id, first)).expect(204)
    await trio.sleep(1)
    (await alice.rest.pin_message(channel_id, second)).expect(204)
    items = (await alice.rest.pins(channel_id)).expect(200)["items"]
    assert [item["message"]["id"] for item in items] == [second, first]
    at_bob = await chat_world.bob.connect()
    (await alice.rest.unpin_message(channel_id, second)).expect(204)
    updated = (await at_bob.expect("MESSAGE_UPDATE")).data
    assert (updated["id"], updated["pinned"]) == (second, False)
    assert (await at_bob.expect("CHANNEL_PINS_UPDATE")).data["last_pin_timestamp"] == items[1]["pinned_at"]
    (await alice.rest.unpin_message(channel_id, second)).expect(204)  # it is none any more
    (await alice.rest.unpin_message(channel_id, first)).expect(204)
    assert (await at_bob.next_payload()).data["id"] == first
    assert (await at_bob.next_payload()).data["last_pin_timestamp"] is None
    assert await pinned(alice, channel_id) == []


async def test_pages_of_pins(chat_world: World) -> None:
    alice, channel_id = chat_world.alice, chat_world.channel_id
    ids = [await say(alice, channel_id, str(number)) for number in range(5)]
    for message_id in (ids[2], ids[0], ids[4], ids[1], ids[3]):  # as fast as it goes: no two at one moment
        (await alice.rest.pin_message(channel_id, message_id)).expect(204)
    everything = [ids[3], ids[1], ids[4], ids[0], ids[2]]
    assert await pinned(alice, channel_id) == everything
    seen: list[str] = []
    query: dict[str, str | int] = {"limit": 2}
    while True:
        page = (await alice.rest.pins(channel_id, **query)).expect(200)
        seen += [item["message"]["id"] for item in page["items"]]
        if not page["has_more"]:
            break
        assert len(page["items"]) == 2
        query["before"] = page["items"][-1]["pinned_at"]
    assert seen == everything
    for query in ({"limit": 0}, {"limit": 51}, {"limit": "x"}, {"before": "yesterday"}, {"before": "7"}):
        refused(await alice.rest.pins(channel_id, **query), 400, "INVALID_FORM_BODY")


async def test_who_may_pin(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    message_id = await say(bob, channel_id)
    refused(await bob.rest.pin_message(channel_id, message_id), 403, "MISSING_PERMISSIONS")
    (await alice.rest.pin_message(channel_id, message_id)).expect(204)
    refused(await bob.rest.unpin_message(channel_id, message_id), 403, "MISSING_PERMISSIONS")
    await grant(chat_world, Permission.PIN_MESSAGES)
    (await bob.rest.unpin_message(channel_id, message_id)).expect(204)
    (await bob.rest.pin_message(channel_id, message_id)).expect(204)
    stranger = chat_world.admin
    for answer in (
        await stranger.rest.pin_message(channel_id, message_id),
        await stranger.rest.unpin_message(channel_id, message_id),
        await stranger.rest.pins(channel_id),
        await stranger.rest.get(f"/v1/channels/{channel_id}/pins"),
        await stranger.rest.acknowledge_pins(channel_id),
    ):
        refused(answer, 403, "MISSING_PERMISSIONS")
    refused(await alice.rest.pin_message("999999999999999999", message_id), 404, "UNKNOWN_CHANNEL")
    for change in (alice.rest.pin_message, alice.rest.unpin_message):
        refused(await change(channel_id, "999999999999999999"), 404, "UNKNOWN_MESSAGE")
        refused(await change(chat_world.voice_channel_id, message_id), 404, "UNKNOWN_MESSAGE")
        refused(await change(channel_id, "x"), 400, "INVALID_FORM_BODY")


async def test_a_timed_out_member_pins_nothing(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    message_id = await say(bob, channel_id)
    await grant(chat_world, Permission.PIN_MESSAGES)
    until = iso_timestamp(snowflake_time_ms(int(message_id)) + 3_600_000)
    path = f"/v1/guilds/{chat_world.guild_id}/members/{bob.id}"
    (await alice.rest.patch(path, {"communication_disabled_until": until})).expect(200)
    for change in (bob.rest.pin_message, bob.rest.unpin_message):
        refused(await change(channel_id, message_id), 403, "COMMUNICATION_DISABLED")


async def test_what_the_server_said_is_not_pinned(chat_world: World) -> None:
    alice, channel_id = chat_world.alice, chat_world.channel_id
    (await alice.rest.pin_message(channel_id, await say(alice, channel_id))).expect(204)
    note = (await alice.rest.messages(channel_id, limit=1)).expect(200)[0]
    answer = await alice.rest.pin_message(channel_id, note["id"])
    refused(answer, 400, "INVALID_FORM_BODY")
    assert [error["path"] for error in answer.json()["errors"]] == ["message_id"]
    (await alice.rest.unpin_message(channel_id, note["id"])).expect(204)


@pytest.mark.chat_settings(**{"limits.max_pins_per_channel": 2})
async def test_so_many_pins_and_no_more(chat_world: World) -> None:
    alice, channel_id = chat_world.alice, chat_world.channel_id
    ids = [await say(alice, channel_id) for _ in range(3)]
    for message_id in ids[:2]:
        (await alice.rest.pin_message(channel_id, message_id)).expect(204)
    refused(await alice.rest.pin_message(channel_id, ids[2]), 400, "MAX_PINS")
    assert (await alice.rest.messages(channel_id, after=ids[2])).expect(200)[:1] != []  # the two notes, and no third
    (await alice.rest.pin_message(channel_id, ids[0])).expect(204)  # it is one already
    (await alice.rest.delete_message(channel_id, ids[1])).expect(204)
    (await alice.rest.pin_message(channel_id, ids[2])).expect(204)
    assert await pinned(alice, channel_id) == [ids[2], ids[0]]


async def test_pins_that_one_may_not_read(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    message_id = await say(alice, channel_id)
    (await alice.rest.pin_message(channel_id, message_id)).expect(204)
    await set_permissions(chat_world, channel_id, allow=Permission.PIN_MESSAGES, deny=Permission.READ_MESSAGE_HISTORY)
    assert await pinned(bob, channel_id) == []
    for change in (bob.rest.pin_message, bob.rest.unpin_message):
        refused(await change(channel_id, message_id), 404, "UNKNOWN_MESSAGE")
    assert await pinned(alice, channel_id) == [message_id]


async def test_a_pin_goes_with_its_message(chat_world: World, autojump_clock: MockClock) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    ids = []
    for number in range(4):
        ids.append(await say(bob, channel_id, str(number)))
        (await alice.rest.pin_message(channel_id, ids[-1])).expect(204)
        await trio.sleep(1)
    times = {
        item["message"]["id"]: item["pinned_at"] for item in (await bob.rest.pins(channel_id)).expect(200)["items"]
    }
    at_bob = await bob.connect()

    (await bob.rest.delete_message(channel_id, ids[3])).expect(204)
    assert (await at_bob.expect("MESSAGE_DELETE")).data["id"] == ids[3]
    assert (await at_bob.expect("CHANNEL_PINS_UPDATE")).data["last_pin_timestamp"] == times[ids[2]]
    (await alice.rest.bulk_delete_messages(channel_id, [ids[2]])).expect(204)
    assert (await at_bob.expect("MESSAGE_DELETE_BULK")).data["ids"] == [ids[2]]
    assert (await at_bob.expect("CHANNEL_PINS_UPDATE")).data["last_pin_timestamp"] == times[ids[1]]
    mine = f"/v1/users/@me/guilds/{chat_world.guild_id}/messages/bulk-delete-mine"
    (await bob.rest.post(mine, {"password": bob.password})).expect(202)
    assert ids[0] in (await at_bob.expect("MESSAGE_DELETE_BULK")).data["ids"]
    assert (await at_bob.expect("CHANNEL_PINS_UPDATE")).data["last_pin_timestamp"] is None
    assert await pinned(bob, channel_id) == []
    assert (await bob.rest.get(f"/v1/channels/{channel_id}")).expect(200)["last_pin_timestamp"] is None


async def test_a_pin_and_its_end_stand_in_the_audit_log(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    message_id = await say(bob, channel_id)
    at_alice = await alice.connect()
    path = f"/v1/channels/{channel_id}/pins/{message_id}"
    (await alice.rest.request("PUT", path, headers={"X-Audit-Log-Reason": "read this"})).expect(204)
    told = (await at_alice.expect("GUILD_AUDIT_LOG_ENTRY_CREATE")).data
    (await alice.rest.delete(path)).expect(204)
    (await alice.rest.delete(path)).expect(204)  # changes nothing, and is not noted
    log = (await alice.rest.get(f"/v1/guilds/{chat_world.guild_id}/audit-logs")).expect(200)
    unpin, pin = log["audit_log_entries"]
    assert (pin["action_type"], pin["reason"]) == (AuditAction.MESSAGE_PIN, "read this")
    assert (pin["user_id"], pin["target_id"]) == (alice.id, bob.id)
    assert pin["options"] == {"channel_id": channel_id, "message_id": message_id}
    assert told.items() >= pin.items()
    assert (unpin["action_type"], "reason" in unpin) == (AuditAction.MESSAGE_UNPIN, False)


async def test_pins_are_acknowledged(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    here, there = await bob.connect(), await bob.connect()
    (await bob.rest.acknowledge_pins(channel_id)).expect(204)  # of nothing
    message_id = await say(alice, channel_id)
    (await alice.rest.pin_message(channel_id, message_id)).expect(204)
    pinned_at = (await here.expect("CHANNEL_PINS_UPDATE")).data["last_pin_timestamp"]
    (await bob.rest.acknowledge_pins(channel_id)).expect(204)
    for client in (here, there):
        acknowledged = (await client.expect("CHANNEL_PINS_ACK")).data
        assert acknowledged == {"channel_id": channel_id, "timestamp": pinned_at}
    client = await bob.open()
    await client.identify(bob.token)
    ready = (await client.expect("READY")).data
    (state,) = [state for state in ready["read_states"] if state["id"] == channel_id]
    assert state["last_pin_timestamp"] == pinned_at
    refused(await chat_world.bot.rest.acknowledge_pins(channel_id), 403, "ACCESS_DENIED")


async def test_pins_of_a_conversation(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    opened = (await alice.rest.post("/v1/users/@me/channels", {"recipient_id": bob.id})).expect(200)
    message_id = await say(alice, opened["id"])
    at_alice = await alice.connect()
    (await bob.rest.pin_message(opened["id"], message_id)).expect(204)
    updated, pins, note = await pin_events(at_alice)
    assert updated["pinned"]
    assert "guild_id" not in pins
    assert (note["type"], "guild_id" in note["message_reference"]) == (MessageType.CHANNEL_PINNED_MESSAGE, False)
    assert await pinned(alice, opened["id"]) == [message_id]
    refused(await chat_world.carol.rest.pins(opened["id"]), 404, "UNKNOWN_CHANNEL")
    await block(alice, bob)
    (await bob.rest.unpin_message(opened["id"], message_id)).expect(204)  # tells nobody anything new
    refused(await bob.rest.pin_message(opened["id"], message_id), 400, "CANNOT_SEND_MESSAGES_TO_USER")
    assert await pinned(alice, opened["id"]) == []


async def test_pins_of_a_group(chat_world: World) -> None:
    alice, bob, carol = chat_world.alice, chat_world.bob, chat_world.carol
    await befriend(alice, bob, carol)
    group = await make_group(alice, bob, carol)
    message_id = await say(alice, group["id"])
    at_carol = await carol.connect()
    (await bob.rest.pin_message(group["id"], message_id)).expect(204)
    _, _, note = await pin_events(at_carol)
    assert note["author"]["id"] == bob.id
    assert await pinned(carol, group["id"]) == [message_id]


async def test_pins_of_a_thread(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    thread = await start(alice, chat_world.channel_id)
    message_id = await say(alice, thread["id"])
    at_bob = await bob.connect(flags=THREADS_FLAG)
    before = (await ask(alice, "GET", f"/v1/channels/{thread['id']}")).expect(200)["message_count"]
    (await alice.rest.pin_message(thread["id"], message_id)).expect(204)
    assert (await at_bob.expect("CHANNEL_PINS_UPDATE")).data["channel_id"] == thread["id"]
    assert await pinned(alice, thread["id"]) == [message_id]
    after = (await ask(alice, "GET", f"/v1/channels/{thread['id']}")).expect(200)
    assert after["message_count"] == before + 1
    assert after["last_pin_timestamp"] is not None
    (await ask(alice, "PATCH", f"/v1/channels/{thread['id']}", {"archived": True})).expect(200)
    for change in (alice.rest.pin_message, alice.rest.unpin_message):
        refused(await change(thread["id"], message_id), 400, "THREAD_ARCHIVED")


async def test_pins_at_the_same_time(chat_world: World) -> None:
    alice, channel_id = chat_world.alice, chat_world.channel_id
    message_id = await say(alice, channel_id)
    answers: list[int] = []

    async def pin() -> None:
        answers.append((await alice.rest.pin_message(channel_id, message_id)).status)

    async with trio.open_nursery() as nursery:
        for _ in range(4):
            nursery.start_soon(pin)
    assert answers == [204] * 4
    assert len((await alice.rest.messages(channel_id, after=message_id)).expect(200)) == 1  # one note


async def test_the_note_of_a_pin_is_no_news_to_whoever_had_read_everything(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id

    async def state_of(actor: Actor) -> dict[str, Any]:
        client = await actor.open()
        await client.identify(actor.token)
        states = (await client.expect("READY")).data["read_states"]
        (state,) = [state for state in states if state["id"] == channel_id]
        return dict(state)

    message_id = await say(alice, channel_id, f"<@{bob.id}>")
    (await alice.rest.pin_message(channel_id, message_id)).expect(204)
    note = (await alice.rest.messages(channel_id, limit=1)).expect(200)[0]["id"]
    assert (await state_of(alice))["last_message_id"] == note
    # Whoever had not, has not by pinning either.
    await say(bob, channel_id)
    await say(alice, channel_id, f"<@{bob.id}> <@{bob.id}>")
    before = await state_of(bob)
    assert before["mention_count"] == 1
    await grant(chat_world, Permission.PIN_MESSAGES)
    (await bob.rest.pin_message(channel_id, await say(alice, channel_id))).expect(204)
    after = await state_of(bob)
    assert (after["last_message_id"], after["mention_count"]) == (before["last_message_id"], 1)
