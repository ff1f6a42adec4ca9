"""Conversations of two: opening them, writing in them, and who hears of it.

Area: people. Rules: 000.gates.
"""

from __future__ import annotations

import pytest

from chat.testing.world import Actor, World

CHANNELS = "/v1/users/@me/channels"


async def open_with(actor: Actor, other: Actor) -> str:
    """The id of the conversation that the actor opens with the other."""
    opened = (await actor.rest.post(CHANNELS, {"recipient_id": other.id})).expect(200)
    assert opened["type"] == 1
    assert [recipient["id"] for recipient in opened["recipients"]] == [other.id]
    return str(opened["id"])


async def listed(actor: Actor) -> list[str]:
    """The conversations in the actor's list."""
    return [channel["id"] for channel in (await actor.rest.get(CHANNELS)).expect(200)]


async def test_the_other_sees_it_from_the_first_message_on(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    at_alice, at_bob = await alice.connect(), await bob.connect()

    channel_id = await open_with(alice, bob)
    assert (await at_alice.expect("CHANNEL_CREATE")).data["id"] == channel_id
    assert (await listed(alice), await listed(bob)) == ([channel_id], [])

    sent = (await alice.rest.send_message(channel_id, "hello")).expect(200)
    created = (await at_bob.expect("CHANNEL_CREATE")).data
    assert (created["id"], created["recipients"][0]["id"]) == (channel_id, alice.id)
    heard = (await at_bob.expect("MESSAGE_CREATE")).data
    assert (heard["content"], heard["channel_type"]) == ("hello", 1)
    assert "guild_id" not in heard
    assert (await at_alice.expect("MESSAGE_CREATE")).data["id"] == sent["id"]

    (await bob.rest.send_message(channel_id, "hi")).expect(200)
    read = (await alice.rest.get(f"/v1/channels/{channel_id}/messages")).expect(200)
    assert [message["content"] for message in read] == ["hi", "hello"]
    ready = (await bob.connect()).ready
    assert [channel["id"] for channel in ready["private_channels"]] == [channel_id]
    assert alice.id in {user["id"] for user in ready["users"]}


async def test_both_open_the_same(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    assert await open_with(alice, bob) == await open_with(bob, alice) == await open_with(alice, bob)


async def test_a_reply_an_edit_a_deletion_and_typing(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    channel_id = await open_with(alice, bob)
    sent = (await alice.rest.send_message(channel_id, "one")).expect(200)
    at_bob = await bob.connect()
    path = f"/v1/channels/{channel_id}/messages/{sent['id']}"

    (await alice.rest.patch(path, {"content": "two"})).expect(200)
    assert (await at_bob.expect("MESSAGE_UPDATE")).data["content"] == "two"
    answer = {"content": "three", "message_reference": {"message_id": sent["id"]}}
    replied = (await bob.rest.post(f"/v1/channels/{channel_id}/messages", answer)).expect(200)
    assert replied["referenced_message"]["content"] == "two"
    (await alice.rest.post(f"/v1/channels/{channel_id}/typing")).expect(204)
    typing = (await at_bob.expect("TYPING_START")).data
    assert (typing["user_id"], "guild_id" in typing) == (alice.id, False)
    refused = await bob.rest.delete(path)
    assert (refused.status, refused.code) == (403, "MISSING_PERMISSIONS")
    (await alice.rest.delete(path)).expect(204)
    deleted = (await at_bob.expect("MESSAGE_DELETE")).data
    assert (deleted["id"], "guild_id" in deleted) == (sent["id"], False)


async def test_nobody_else_gets_in(chat_world: World) -> None:
    channel_id = await open_with(chat_world.alice, chat_world.bob)
    carol = chat_world.carol.rest
    for answer in (
        await carol.get(f"/v1/channels/{channel_id}"),
        await carol.get(f"/v1/channels/{channel_id}/messages"),
        await carol.send_message(channel_id, "hello"),
    ):
        assert (answer.status, answer.code) == (404, "UNKNOWN_CHANNEL")
    own = (await chat_world.bob.rest.get(f"/v1/channels/{channel_id}")).expect(200)
    assert own["recipients"][0]["id"] == chat_world.alice.id
    invite = await chat_world.alice.rest.post(f"/v1/channels/{channel_id}/invites", {})
    assert (invite.status, invite.code) == (400, "CANNOT_EXECUTE_ON_DM")


async def test_whom_one_cannot_write_to(chat_world: World) -> None:
    admin, alice, bob = chat_world.admin, chat_world.alice, chat_world.bob
    for recipient, status, code in (
        (admin.id, 400, "CANNOT_SEND_MESSAGES_TO_USER"),  # nothing in common
        ("999999999999999999", 404, "UNKNOWN_USER"),
        (alice.id, 400, "INVALID_FORM_BODY"),
    ):
        answer = await alice.rest.post(CHANNELS, {"recipient_id": recipient})
        assert (answer.status, answer.code) == (status, code)
    channel_id = await open_with(alice, bob)
    (await alice.rest.send_message(channel_id, "hello")).expect(200)
    (await bob.rest.put(f"/v1/users/@me/relationships/{alice.id}", {"type": 2})).expect(200)
    for who in (alice, bob):
        blocked = await who.rest.send_message(channel_id, "again")
        assert (blocked.status, blocked.code) == (400, "CANNOT_SEND_MESSAGES_TO_USER")
    (await bob.rest.delete(f"/v1/users/@me/relationships/{alice.id}")).expect(204)
    (await alice.rest.send_message(channel_id, "again")).expect(200)
    # A guild that the recipient restricts is no way in, friendship is.
    restriction = {"restricted_guilds": [chat_world.guild_id]}
    (await bob.rest.patch("/v1/users/@me/settings", restriction)).expect(200)
    refused = await alice.rest.send_message(channel_id, "stranger")
    assert (refused.status, refused.code) == (400, "CANNOT_SEND_MESSAGES_TO_USER")
    (await bob.rest.post(f"/v1/users/@me/relationships/{alice.id}")).expect(200)
    (await alice.rest.put(f"/v1/users/@me/relationships/{bob.id}")).expect(200)
    (await alice.rest.send_message(channel_id, "friend")).expect(200)


@pytest.mark.chat_settings(direct_messages_disabled=True)
async def test_the_instance_may_have_none(chat_world: World) -> None:
    refused = await chat_world.alice.rest.post(CHANNELS, {"recipient_id": chat_world.bob.id})
    assert (refused.status, refused.code) == (400, "DIRECT_MESSAGES_DISABLED")


@pytest.mark.rule("000.gates.5")
async def test_a_limited_account_writes_to_those_it_knows(chat_world: World) -> None:
    alice, bob, carol = chat_world.alice, chat_world.bob, chat_world.carol
    known = await open_with(alice, bob)
    (await bob.rest.send_message(known, "hello")).expect(200)
    await open_with(alice, carol)  # opened, but nobody wrote
    (await chat_world.anyone.post(f"/v1/_dev/users/{alice.id}", {"flags": str(1 << 50)})).expect(200)

    for stranger in (carol, chat_world.bot):
        refused = await alice.rest.post(CHANNELS, {"recipient_id": stranger.id})
        assert (refused.status, refused.code) == (403, "ACCOUNT_LIMITED")
    assert await open_with(alice, bob) == known
    (await alice.rest.send_message(known, "hi")).expect(200)

    (await chat_world.anyone.post(f"/v1/_dev/users/{alice.id}", {"flags": "0"})).expect(200)
    await open_with(alice, chat_world.bot)


async def test_a_bot_writes_to_a_member(chat_world: World) -> None:
    bob = chat_world.bob
    at_bob = await bob.connect()
    channel_id = await open_with(chat_world.bot, bob)
    (await chat_world.bot.rest.send_message(channel_id, "beep")).expect(200)
    assert (await at_bob.expect("MESSAGE_CREATE")).data["author"]["bot"] is True


async def test_the_blocked_are_not_heard_in_any_way(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    channel_id = (await bob.rest.open_conversation(alice.id)).expect(200)["id"]
    written = (await bob.rest.send_message(channel_id, "hello")).expect(200)
    (await alice.rest.block(bob.id)).expect(200)
    at_alice = await alice.connect()
    path = f"/v1/channels/{channel_id}/messages/{written['id']}"
    for who in (bob, alice):
        for refused in (
            await who.rest.send_message(channel_id, "hello?"),
            await who.rest.start_typing(channel_id),
            await who.rest.put(f"{path}/reactions/%F0%9F%91%8D/@me"),
        ):
            assert (refused.status, refused.code) == (400, "CANNOT_SEND_MESSAGES_TO_USER")
    refused = await bob.rest.edit_message(channel_id, written["id"], "something worse")
    assert (refused.status, refused.code) == (400, "CANNOT_SEND_MESSAGES_TO_USER")
    (await alice.rest.end_relationship(bob.id)).expect(204)
    (await bob.rest.edit_message(channel_id, written["id"], "something better")).expect(200)
    (await bob.rest.start_typing(channel_id)).expect(204)
    await at_alice.expect("TYPING_START")
    heard = [payload.name for payload in at_alice.payloads]
    assert heard.count("MESSAGE_UPDATE") == heard.count("TYPING_START") == 1
    (await bob.rest.delete_message(channel_id, written["id"])).expect(204)
