"""How far accounts have read, over HTTP and on the gateway: acknowledging one channel and several, forgetting, and what
Ready counts as unread."""

from __future__ import annotations

from typing import Any

import pytest
import trio

from chat.registries.guild_values import DisabledOperation
from chat.testing.rest_client import Response
from chat.testing.world import Actor, World
from tests.threads.test_thread_routes import THREADS_FLAG, ask, start

FAR_AWAY = "9223372036854775807"


def refused(answer: Response, status: int, code: str) -> None:
    assert (answer.status, answer.code) == (status, code)


async def say(actor: Actor, channel_id: str, text: str = "hello") -> str:
    """The id of a new message."""
    return str((await actor.rest.send_message(channel_id, text)).expect(200)["id"])


async def read_states(actor: Actor, **identify: object) -> dict[str, dict[str, Any]]:
    """What a new session is told in Ready, by channel."""
    client = await actor.connect(**identify)
    [ready] = [payload.data for payload in client.dispatches if payload.name == "READY"]
    await client.aclose()
    return {state["id"]: state for state in ready["read_states"]}


async def count(actor: Actor, channel_id: str, **identify: object) -> int:
    """How many mentions Ready counts as unread."""
    state = (await read_states(actor, **identify)).get(channel_id)
    return 0 if state is None else int(state["mention_count"])


async def conversation(world: World) -> str:
    """Alice's conversation with bob."""
    opened = (await world.alice.rest.post("/v1/users/@me/channels", {"recipient_id": world.bob.id})).expect(200)
    return str(opened["id"])


async def test_reading_up_to_a_message(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    assert channel_id not in await read_states(bob)
    first = await say(alice, channel_id, f"<@{bob.id}>")
    second = await say(alice, channel_id, f"again <@{bob.id}>")
    state = (await read_states(bob))[channel_id]
    assert state == {"id": channel_id, "mention_count": 2, "last_message_id": None, "last_pin_timestamp": None}

    at_bob, at_alice = await bob.connect(), await alice.connect()
    (await bob.rest.acknowledge(channel_id, first)).expect(204)
    told = (await at_bob.expect("MESSAGE_ACK")).data
    version = int(told.pop("version"))
    assert told == {"channel_id": channel_id, "message_id": first, "mention_count": 1}
    state = (await read_states(bob))[channel_id]
    assert (state["last_message_id"], state["mention_count"], state["version"]) == (first, 1, str(version))

    (await bob.rest.acknowledge(channel_id, second, mention_count=0)).expect(204)
    told = (await at_bob.expect("MESSAGE_ACK")).data
    assert (told["mention_count"], int(told["version"]) > version) == (0, True)
    assert await count(bob, channel_id) == 0
    # Nobody else is told, and what one writes oneself is read.
    written = await say(bob, channel_id)
    assert (await read_states(bob))[channel_id]["last_message_id"] == written
    await at_alice.expect("MESSAGE_CREATE", where=lambda data: data["id"] == written)
    assert not [payload for payload in at_alice.dispatches if payload.name == "MESSAGE_ACK"]


async def test_marking_as_unread(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    sent = [await say(alice, channel_id, f"<@{bob.id}> {number}") for number in range(4)]
    (await bob.rest.acknowledge(channel_id, sent[3])).expect(204)
    at_bob = await bob.connect()
    (await bob.rest.acknowledge(channel_id, sent[0], manual=True)).expect(204)
    told = (await at_bob.expect("MESSAGE_ACK")).data
    assert (told["message_id"], told["mention_count"], told["manual"]) == (sent[0], 3, True)
    assert await count(bob, channel_id) == 3
    # What the client counts itself stands, and what comes later is added.
    (await bob.rest.acknowledge(channel_id, sent[1], manual=True, mention_count=7)).expect(204)
    assert (await at_bob.expect("MESSAGE_ACK")).data["mention_count"] == 7
    await say(alice, channel_id, f"<@{bob.id}> more")
    assert await count(bob, channel_id) == 8


async def test_several_channels_at_once(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    dm = await conversation(chat_world)
    spoken, whispered = await say(alice, channel_id, "@everyone"), await say(alice, dm)
    assert (await count(bob, channel_id), await count(bob, dm)) == (1, 1)
    at_bob = await bob.connect()
    hidden = (await alice.rest.create_guild("Elsewhere")).expect(200)["system_channel_id"]
    states = [
        {"channel_id": channel_id, "message_id": "1"},  # the last of a channel counts
        {"channel_id": channel_id, "message_id": spoken, "mention_count": 0, "manual": False},
        {"channel_id": hidden, "message_id": spoken},
        {"channel_id": "999999999999999999", "message_id": spoken},
        {"channel_id": dm, "message_id": int(whispered), "mention_count": None, "manual": None},
    ]
    (await bob.rest.acknowledge_channels(*states)).expect(204)
    told = [(await at_bob.expect("MESSAGE_ACK")).data for _ in range(2)]
    assert [(event["channel_id"], event["message_id"]) for event in told] == [(channel_id, spoken), (dm, whispered)]
    assert (await count(bob, channel_id), await count(bob, dm)) == (0, 0)
    assert hidden not in await read_states(bob)

    (await bob.rest.post("/v1/read-states/ack-bulk", {"read_states": states[:1]})).expect(204)
    assert (await at_bob.expect("MESSAGE_ACK")).data["mention_count"] == 1
    assert await count(bob, channel_id) == 1


@pytest.mark.parametrize("path", ["/v1/read-states/ack", "/v1/read-states/ack-bulk"])
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"read_states": None},
        {"read_states": []},
        {"read_states": {}},
        {"read_states": [1]},
        {"read_states": [{"channel_id": "1"}]},
        {"read_states": [{"message_id": "1"}]},
        {"read_states": [{"channel_id": "x", "message_id": "1"}]},
        {"read_states": [{"channel_id": "1", "message_id": "1", "mention_count": -1}]},
        {"read_states": [{"channel_id": "1", "message_id": "1", "mention_count": 1 << 31}]},
        {"read_states": [{"channel_id": "1", "message_id": "1", "manual": "yes"}]},
        {"read_states": [{"channel_id": "1", "message_id": "1"}] * 101},
    ],
)
async def test_what_is_wrong_with_several(chat_world: World, path: str, body: object) -> None:
    refused(await chat_world.bob.rest.post(path, body), 400, "INVALID_FORM_BODY")


async def test_who_may_acknowledge(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    message_id = await say(alice, channel_id)
    hidden = (await alice.rest.create_guild("Elsewhere")).expect(200)["system_channel_id"]
    refused(await bob.rest.acknowledge(hidden, message_id), 403, "MISSING_PERMISSIONS")
    refused(await bob.rest.forget_read_state(hidden), 403, "MISSING_PERMISSIONS")
    for answer in (
        await bob.rest.acknowledge("999999999999999999", message_id),
        await bob.rest.forget_read_state("999999999999999999"),
    ):
        refused(answer, 404, "UNKNOWN_CHANNEL")
    refused(await chat_world.bot.rest.acknowledge(channel_id, message_id), 403, "ACCESS_DENIED")
    state = {"channel_id": channel_id, "message_id": message_id}
    refused(await chat_world.bot.rest.acknowledge_channels(state), 403, "ACCESS_DENIED")
    for wrong in ({"mention_count": -1}, {"mention_count": "1"}, {"mention_count": 1 << 31}, {"manual": 1}):
        refused(await bob.rest.acknowledge(channel_id, message_id, **wrong), 400, "INVALID_FORM_BODY")
    (await bob.rest.post(f"/v1/channels/{channel_id}/messages/{message_id}/ack")).expect(204)


async def test_nobody_reads_ahead(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    await say(alice, channel_id)
    (await bob.rest.acknowledge(channel_id, FAR_AWAY)).expect(204)
    later = await say(alice, channel_id, f"<@{bob.id}>")
    state = (await read_states(bob))[channel_id]
    assert (int(state["last_message_id"]) < int(later), state["mention_count"]) == (True, 1)


async def test_forgetting(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    message_id = await say(alice, channel_id, f"<@{bob.id}>")
    await say(alice, channel_id, "@everyone")
    (await bob.rest.acknowledge(channel_id, message_id, manual=True)).expect(204)
    assert await count(bob, channel_id) == 1
    (await bob.rest.forget_read_state(channel_id)).expect(204)
    assert channel_id not in await read_states(bob)
    (await bob.rest.forget_read_state(channel_id)).expect(204)
    await say(alice, channel_id, "@everyone")
    assert await count(bob, channel_id) == 1


# What counts


async def test_everyone_here_and_roles(chat_world: World) -> None:
    alice, bob, carol, channel_id = chat_world.alice, chat_world.bob, chat_world.carol, chat_world.channel_id
    guild = f"/v1/guilds/{chat_world.guild_id}"
    role = (await alice.rest.post(f"{guild}/roles", {"name": "crew", "mentionable": True})).expect(200)["id"]
    (await alice.rest.put(f"{guild}/members/{bob.id}/roles/{role}")).expect(204)
    at_carol = await carol.connect()

    await say(alice, channel_id, "@here")  # only carol is
    assert (await count(bob, channel_id), await count(carol, channel_id)) == (0, 1)
    await say(alice, channel_id, f"<@&{role}>")
    assert (await count(bob, channel_id), await count(carol, channel_id)) == (1, 1)
    await say(alice, channel_id, "@everyone")
    assert (await count(bob, channel_id), await count(carol, channel_id)) == (2, 2)
    await say(alice, channel_id, f"@everyone <@&{role}> <@{bob.id}>")  # one message counts once
    assert (await count(bob, channel_id), await count(carol, channel_id)) == (3, 3)
    assert await count(alice, channel_id) == 0
    # Without the permission it is text.
    await say(bob, channel_id, "@everyone @here")
    assert await count(carol, channel_id) == 3

    # Whoever does not want them to count.
    suppressed = {"suppress_everyone": True, "suppress_roles": True}
    (await bob.rest.patch(f"/v1/users/@me{guild.removeprefix('/v1')}/settings", suppressed)).expect(200)
    (await bob.rest.forget_read_state(channel_id)).expect(204)
    await say(alice, channel_id, f"@everyone <@&{role}>")
    assert await count(bob, channel_id) == 0
    await say(alice, channel_id, f"@everyone <@{bob.id}>")
    assert await count(bob, channel_id) == 1
    # An administrator can switch it off.
    body = {"disabled_operations": DisabledOperation.EVERYONE_MENTIONS}
    (await chat_world.anyone.post(f"/v1/_dev/guilds/{chat_world.guild_id}", body)).expect(200)
    before = await count(carol, channel_id)
    await say(alice, channel_id, "@everyone")
    assert await count(carol, channel_id) == before
    await at_carol.aclose()


async def test_who_joins_later_was_not_mentioned(chat_world: World) -> None:
    alice, channel_id = chat_world.alice, chat_world.channel_id
    await say(alice, channel_id, "@everyone")
    invite = (await alice.rest.create_channel_invite(channel_id)).expect(200)["code"]
    (await chat_world.admin.rest.accept_invite(invite)).expect(200)
    assert await count(chat_world.admin, channel_id) == 0
    await say(alice, channel_id, "@everyone")
    assert await count(chat_world.admin, channel_id) == 1


async def test_what_goes_no_longer_counts(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    sent = [await say(alice, channel_id, text) for text in (f"<@{bob.id}>", "@everyone", f"<@{bob.id}>")]
    assert await count(bob, channel_id) == 3
    (await alice.rest.delete_message(channel_id, sent[0])).expect(204)
    assert await count(bob, channel_id) == 2
    (await alice.rest.edit_message(channel_id, sent[2], "never mind")).expect(200)
    assert await count(bob, channel_id) == 1
    (await alice.rest.delete_message(channel_id, sent[1])).expect(204)
    assert await count(bob, channel_id) == 0
    (await alice.rest.edit_message(channel_id, sent[2], f"<@{bob.id}> @everyone")).expect(200)
    assert await count(bob, channel_id) == 0  # an edit notifies nobody


async def test_conversations_count_every_message(chat_world: World) -> None:
    alice, bob, carol = chat_world.alice, chat_world.bob, chat_world.carol
    dm = await conversation(chat_world)
    sent = [await say(alice, dm, str(number)) for number in range(3)]
    assert (await count(bob, dm), await count(alice, dm)) == (3, 0)
    (await alice.rest.delete_message(dm, sent[0])).expect(204)
    assert await count(bob, dm) == 2
    (await bob.rest.acknowledge(dm, sent[1])).expect(204)
    assert await count(bob, dm) == 1
    for other in (bob, carol):
        relate = {"user_id": alice.id, "target_user_id": other.id, "type": 1}
        (await chat_world.anyone.post("/v1/_dev/relationships", relate)).expect(204)
    group = (await alice.rest.post("/v1/users/@me/channels", {"recipients": [bob.id]})).expect(200)["id"]
    early = await say(alice, group)
    await trio.sleep(0.002)  # what is said in the very millisecond of the joining counts as said after it
    (await alice.rest.put(f"/v1/channels/{group}/recipients/{carol.id}")).expect(204)
    await say(alice, group)
    assert (await count(bob, group), await count(carol, group)) == (2, 1)
    (await alice.rest.delete_message(group, early)).expect(204)
    assert (await count(bob, group), await count(carol, group)) == (1, 1)


async def test_a_message_counts_as_it_was_written_whomever_one_blocks_later(chat_world: World) -> None:
    alice, bob, carol = chat_world.alice, chat_world.bob, chat_world.carol
    for friend in (bob, carol):
        relate = {"user_id": alice.id, "target_user_id": friend.id, "type": 1}
        (await chat_world.anyone.post("/v1/_dev/relationships", relate)).expect(204)
    group = (await alice.rest.post("/v1/users/@me/channels", {"recipients": [bob.id, carol.id]})).expect(200)["id"]
    first = await say(carol, group)
    (await bob.rest.block(carol.id)).expect(200)
    unheard = await say(carol, group)
    assert await count(bob, group) == 1
    (await bob.rest.acknowledge(group, first)).expect(204)
    assert await count(bob, group) == 0, "an acknowledgement counts no message of somebody who is blocked"
    (await bob.rest.acknowledge(group, str(int(first) - 1))).expect(204)
    assert await count(bob, group) == 1

    (await bob.rest.delete(f"/v1/users/@me/relationships/{carol.id}")).expect(204)
    heard = await say(carol, group)
    assert await count(bob, group) == 2
    (await carol.rest.delete_message(group, unheard)).expect(204)
    assert await count(bob, group) == 2, "what did not count is not taken back"
    (await bob.rest.block(carol.id)).expect(200)
    for message_id, left in ((heard, 1), (first, 0)):
        (await carol.rest.delete_message(group, message_id)).expect(204)
        assert await count(bob, group) == left


async def test_threads_have_read_states_for_those_who_know_them(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    thread_id = (await start(alice, chat_world.channel_id))["id"]
    (await ask(bob, "PUT", f"/v1/channels/{thread_id}/thread-members/@me")).expect(204)
    message_id = await say(alice, thread_id, "@everyone")
    assert await count(bob, thread_id, flags=THREADS_FLAG) == 1
    assert thread_id not in await read_states(bob)
    assert await count(chat_world.carol, thread_id, flags=THREADS_FLAG) == 0  # not in it
    knowing, other = await bob.connect(flags=THREADS_FLAG), await bob.connect()
    (await ask(bob, "POST", f"/v1/channels/{thread_id}/messages/{message_id}/ack")).expect(204)
    assert (await knowing.expect("MESSAGE_ACK")).data["message_id"] == message_id
    state = (await read_states(bob, flags=THREADS_FLAG))[thread_id]
    assert (state["mention_count"], state["flags"]) == (0, 3)
    spoken = await say(alice, chat_world.channel_id)
    (await bob.rest.acknowledge(chat_world.channel_id, spoken)).expect(204)
    assert (await other.expect("MESSAGE_ACK")).data["channel_id"] == chat_world.channel_id
