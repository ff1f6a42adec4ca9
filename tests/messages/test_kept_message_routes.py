"""Recent mentions and saved messages: what stands on the lists, who reads it, what the account's sessions hear."""

from __future__ import annotations

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from chat.registries.permissions import Permission
from chat.testing.rest_client import Response
from chat.testing.world import Actor, World
from tests.threads.test_thread_routes import THREADS_FLAG, ask, start

DAY_MS = 86_400_000


def refused(answer: Response, status: int, code: str) -> None:
    assert (answer.status, answer.code) == (status, code)


async def say(actor: Actor, channel_id: str, text: str = "hello") -> str:
    """The id of a new message."""
    return str((await actor.rest.send_message(channel_id, text)).expect(200)["id"])


async def mentions(actor: Actor, **query: Any) -> list[str]:
    """The ids of the messages on the list."""
    return [message["id"] for message in (await actor.rest.mentions(**query)).expect(200)]


async def saved(actor: Actor, **query: Any) -> list[str]:
    """The ids of the kept messages."""
    return [entry["message_id"] for entry in (await actor.rest.saved_messages(**query)).expect(200)]


async def conversation(world: World) -> str:
    """Alice's conversation with bob."""
    opened = (await world.alice.rest.post("/v1/users/@me/channels", {"recipient_id": world.bob.id})).expect(200)
    return str(opened["id"])


async def hide(world: World, channel_id: str, user_id: str, denied: Permission = Permission.VIEW_CHANNEL) -> None:
    """Take a permission in the channel from one member."""
    body = {"type": 1, "allow": "0", "deny": str(int(denied))}
    (await world.alice.rest.put(f"/v1/channels/{channel_id}/permissions/{user_id}", body)).expect(204)


# Recent mentions


async def test_what_mentions_an_account(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    guild = f"/v1/guilds/{chat_world.guild_id}"
    role = (await alice.rest.post(f"{guild}/roles", {"name": "crew"})).expect(200)["id"]
    (await alice.rest.put(f"{guild}/members/{bob.id}/roles/{role}")).expect(204)
    dm = await conversation(chat_world)
    assert await mentions(bob) == []
    own = await say(alice, channel_id, f"<@{bob.id}>")
    of_role = await say(alice, channel_id, f"<@&{role}>")
    everyone = await say(alice, channel_id, f"@everyone <@&{role}>")
    unheard = await say(alice, channel_id, "@here")
    at_bob = await bob.connect()
    here = await say(alice, channel_id, "@here")
    in_dm = await say(alice, dm, f"<@{bob.id}>")
    for text in ("hello", f"<@{chat_world.carol.id}>"):
        await say(alice, channel_id, text)
    await say(alice, dm, "hello")
    await say(bob, channel_id, f"<@{bob.id}>")  # oneself
    assert unheard not in await mentions(bob)
    assert await mentions(bob) == [in_dm, here, everyone, of_role, own]
    listed = (await bob.rest.mentions()).expect(200)
    read = (await bob.rest.get(f"/v1/channels/{channel_id}/messages/{own}")).expect(200)
    assert listed[-1] == read

    assert await mentions(bob, roles=False) == [in_dm, here, everyone, own]
    assert await mentions(bob, everyone=False) == [in_dm, everyone, of_role, own]  # it names the role, too
    assert await mentions(bob, roles=False, everyone=False) == [in_dm, own]
    assert await mentions(bob, guilds=False) == [in_dm]
    assert await mentions(bob, guild_id=chat_world.guild_id) == [here, everyone, of_role, own]
    assert await mentions(bob, guild_id="1") == []
    assert await mentions(bob, limit=2) == [in_dm, here]
    assert await mentions(bob, limit=2, before=here) == [everyone, of_role]
    assert await mentions(bob, before=own) == []
    # Of the role, and of everybody, only who is.
    assert await mentions(chat_world.carol, roles=True)
    (await alice.rest.delete(f"{guild}/members/{bob.id}/roles/{role}")).expect(204)
    assert await mentions(bob) == [in_dm, here, everyone, own]
    await at_bob.aclose()


@pytest.mark.parametrize(
    "query",
    [{"limit": 0}, {"limit": 101}, {"limit": "x"}, {"before": "x"}, {"roles": "maybe"}, {"everyone": 2}],
)
async def test_what_is_wrong_with_a_query(chat_world: World, query: dict[str, Any]) -> None:
    refused(await chat_world.bob.rest.mentions(**query), 400, "INVALID_FORM_BODY")
    if "limit" in query or "before" in query:
        refused(await chat_world.bob.rest.saved_messages(**query), 400, "INVALID_FORM_BODY")


async def test_only_what_can_be_read_is_listed(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    sent = [await say(alice, channel_id, text) for text in (f"<@{bob.id}>", "@everyone", f"<@{bob.id}> again")]
    assert await mentions(bob) == sent[::-1]
    await hide(chat_world, channel_id, bob.id)
    assert await mentions(bob) == []
    await say(alice, channel_id, f"<@{bob.id}> behind the back")
    await hide(chat_world, channel_id, bob.id, Permission.READ_MESSAGE_HISTORY)
    assert await mentions(bob) == []
    (await alice.rest.delete(f"/v1/channels/{channel_id}/permissions/{bob.id}")).expect(204)
    assert await mentions(bob) == sent[::-1]  # who was not told then is not now
    (await alice.rest.delete_message(channel_id, sent[2])).expect(204)
    (await alice.rest.edit_message(channel_id, sent[0], "never mind")).expect(200)
    assert await mentions(bob) == [sent[1]]
    (await bob.rest.put(f"/v1/users/@me/relationships/{alice.id}", {"type": 2})).expect(200)
    assert await mentions(bob) == []


async def test_a_long_run_of_what_cannot_be_read(chat_world: World, autojump_clock: MockClock) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    first = await say(alice, channel_id, f"<@{bob.id}>")
    created = {"name": "other", "type": 0}
    other = (await alice.rest.post(f"/v1/guilds/{chat_world.guild_id}/channels", created)).expect(200)["id"]
    for _ in range(120):
        await say(alice, other, f"<@{bob.id}>")
        await trio.sleep(1.1)
    await hide(chat_world, other, bob.id)
    assert await mentions(bob) == [first]


async def test_mentions_are_of_the_last_days(chat_world: World, autojump_clock: MockClock) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    old = [await say(alice, channel_id, text) for text in (f"<@{bob.id}>", "@everyone")]
    await chat_world.anyone.advance_clock(6 * DAY_MS)
    new = await say(alice, channel_id, f"<@{bob.id}>")
    assert await mentions(bob) == [new, *old[::-1]]
    await chat_world.anyone.advance_clock(DAY_MS + 1_000)
    assert await mentions(bob) == [new]


async def test_taking_mentions_off_the_list(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    sent = [await say(alice, channel_id, f"<@{bob.id}> {number}") for number in range(5)]
    other = await say(alice, channel_id, "hello")
    at_bob, at_alice = await bob.connect(), await alice.connect()
    (await bob.rest.delete_mention(sent[2])).expect(204)
    assert (await at_bob.expect("RECENT_MENTION_DELETE")).data == {"message_id": sent[2]}
    assert await mentions(bob) == [sent[4], sent[3], sent[1], sent[0]]
    for gone in (sent[2], other, "999999999999999999"):  # not on the list, nobody is told
        (await bob.rest.delete_mention(gone)).expect(204)
    (await bob.rest.read_mentions(sent[4], other, sent[0], sent[0])).expect(204)
    assert [(await at_bob.expect("RECENT_MENTION_DELETE")).data["message_id"] for _ in range(2)] == [sent[4], sent[0]]
    assert await mentions(bob) == [sent[3], sent[1]]
    (await bob.rest.read_mentions()).expect(204)
    assert [(await at_bob.expect("RECENT_MENTION_DELETE")).data["message_id"] for _ in range(2)] == [sent[3], sent[1]]
    assert await mentions(bob) == []
    later = await say(alice, channel_id, f"<@{bob.id}> later")
    assert await mentions(bob) == [later]
    await at_alice.expect("MESSAGE_CREATE")
    assert not [payload for payload in at_alice.dispatches if payload.name == "RECENT_MENTION_DELETE"]
    refused(await bob.rest.delete_mention("x"), 400, "INVALID_FORM_BODY")
    for wrong in ({"message_ids": ["x"]}, {"message_ids": []}, {"message_ids": ["1"] * 101}):
        refused(await bob.rest.post("/v1/users/@me/mentions/read", wrong), 400, "INVALID_FORM_BODY")


async def test_taking_a_mention_off_tells_nothing_of_what_cannot_be_read(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    hidden = (await alice.rest.create_channel(chat_world.guild_id, "hidden", type=0)).expect(200)["id"]
    await hide(chat_world, hidden, bob.id)
    secret = await say(alice, hidden, "@everyone")
    shown = await say(alice, chat_world.channel_id, "@everyone")
    at_bob = await bob.connect()
    (await bob.rest.delete_mention(secret)).expect(204)
    (await bob.rest.read_mentions(secret, shown)).expect(204)
    await at_bob.expect("RECENT_MENTION_DELETE", where=lambda told: told["message_id"] == shown)
    (await bob.rest.read_mentions()).expect(204)
    await say(alice, chat_world.channel_id, "done")
    await at_bob.expect("MESSAGE_CREATE", where=lambda message: message["content"] == "done")
    told = [payload.data for payload in at_bob.dispatches if payload.name == "RECENT_MENTION_DELETE"]
    assert told == [{"message_id": shown}]


async def test_bots_keep_no_lists(chat_world: World) -> None:
    bot = chat_world.bot.rest
    for answer in (
        await bot.mentions(),
        await bot.read_mentions(),
        await bot.delete_mention("1"),
        await bot.saved_messages(),
        await bot.save_message("1", "1"),
        await bot.forget_saved_message("1"),
    ):
        refused(answer, 403, "ACCESS_DENIED")


async def test_mentions_in_threads_are_for_those_who_know_them(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    thread_id = (await start(alice, chat_world.channel_id))["id"]
    message_id = await say(alice, thread_id, f"<@{bob.id}>")
    assert await mentions(bob) == []
    listed = (await ask(bob, "GET", "/v1/users/@me/mentions")).expect(200)
    assert [message["id"] for message in listed] == [message_id]


# Saved messages


async def test_a_message_is_kept_and_given_up(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    dm = await conversation(chat_world)
    first, second = await say(alice, channel_id, "one"), await say(alice, dm, "two")
    (await bob.rest.react(channel_id, first, "👍")).expect(204)
    at_bob, at_alice = await bob.connect(), await alice.connect()
    for place, message_id in ((channel_id, first), (dm, second)):
        (await bob.rest.save_message(place, message_id)).expect(204)
        read = (await bob.rest.get(f"/v1/channels/{place}/messages/{message_id}")).expect(200)
        assert (await at_bob.expect("SAVED_MESSAGE_CREATE")).data == read
    (await bob.rest.save_message(channel_id, first)).expect(204)  # again: nothing happens

    entries = (await bob.rest.saved_messages()).expect(200)
    assert [entry["message_id"] for entry in entries] == [second, first]
    assert [entry["id"] for entry in entries] == [second, first]
    assert (entries[1]["channel_id"], entries[1]["status"]) == (channel_id, "available")
    assert entries[1]["message"]["reactions"] == [{"emoji": {"name": "👍"}, "count": 1, "me": True}]
    assert await saved(bob, limit=1) == [second]
    assert await saved(bob, limit=1, before=entries[0]["id"]) == [first]
    assert await saved(alice) == []

    (await bob.rest.forget_saved_message(first)).expect(204)
    assert (await at_bob.expect("SAVED_MESSAGE_DELETE")).data == {"message_id": first}
    (await bob.rest.forget_saved_message(first)).expect(204)
    assert await saved(bob) == [second]
    (await alice.rest.delete_message(dm, second)).expect(204)
    assert await saved(bob) == []
    await at_alice.expect("MESSAGE_DELETE")
    assert not [payload for payload in at_alice.dispatches if str(payload.name).startswith("SAVED")]
    assert [payload.name for payload in at_bob.dispatches].count("SAVED_MESSAGE_DELETE") == 1
    assert [payload.name for payload in at_bob.dispatches].count("SAVED_MESSAGE_CREATE") == 2


async def test_what_can_be_kept(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    message_id = await say(alice, channel_id)
    refused(await bob.rest.save_message(channel_id, "999999999999999999"), 404, "UNKNOWN_MESSAGE")
    refused(await bob.rest.save_message(chat_world.voice_channel_id, message_id), 404, "UNKNOWN_MESSAGE")
    refused(await bob.rest.save_message("999999999999999999", message_id), 404, "UNKNOWN_CHANNEL")
    refused(await chat_world.admin.rest.save_message(channel_id, message_id), 403, "MISSING_PERMISSIONS")
    await hide(chat_world, channel_id, bob.id, Permission.READ_MESSAGE_HISTORY)
    refused(await bob.rest.save_message(channel_id, message_id), 404, "UNKNOWN_MESSAGE")
    for wrong in ({}, {"channel_id": channel_id}, {"message_id": message_id}, {"channel_id": "x", "message_id": "y"}):
        refused(await bob.rest.post("/v1/users/@me/saved-messages", wrong), 400, "INVALID_FORM_BODY")
    refused(await bob.rest.forget_saved_message("x"), 400, "INVALID_FORM_BODY")
    assert await saved(bob) == []


async def test_what_cannot_be_read_any_more_is_named_alone(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    message_id = await say(alice, channel_id)
    (await bob.rest.save_message(channel_id, message_id)).expect(204)
    await hide(chat_world, channel_id, bob.id)
    [entry] = (await bob.rest.saved_messages()).expect(200)
    assert (entry["message_id"], entry["status"], entry["message"]) == (message_id, "missing_permissions", None)
    (await bob.rest.forget_saved_message(message_id)).expect(204)  # nobody needs to see it for that
    assert await saved(bob) == []


@pytest.mark.chat_settings(**{"limits.max_bookmarks": 2, "limits.max_bookmarks_premium": 3, "premium_mode": "none"})
async def test_so_many_are_kept(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    sent = [await say(alice, channel_id, str(number)) for number in range(4)]
    for message_id in sent[:2]:
        (await bob.rest.save_message(channel_id, message_id)).expect(204)
    full = await bob.rest.save_message(channel_id, sent[2])
    refused(full, 400, "MAX_BOOKMARKS")
    assert full.json()["max_bookmarks"] == 2
    (await bob.rest.save_message(channel_id, sent[0])).expect(204)  # is kept already
    (await bob.rest.forget_saved_message(sent[0])).expect(204)
    (await bob.rest.save_message(channel_id, sent[2])).expect(204)
    assert await saved(bob) == [sent[2], sent[1]]


async def test_messages_of_threads_are_told_to_sessions_that_know_them(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    thread_id = (await start(alice, chat_world.channel_id))["id"]
    in_thread = await say(alice, thread_id)
    spoken = await say(alice, chat_world.channel_id)
    knowing, other = await bob.connect(flags=THREADS_FLAG), await bob.connect()
    (await bob.rest.save_message(thread_id, in_thread)).expect(204)
    (await bob.rest.save_message(chat_world.channel_id, spoken)).expect(204)
    assert (await knowing.expect("SAVED_MESSAGE_CREATE")).data["id"] == in_thread
    assert (await other.expect("SAVED_MESSAGE_CREATE")).data["id"] == spoken
    entries = (await ask(bob, "GET", "/v1/users/@me/saved-messages")).expect(200)
    assert [entry["status"] for entry in entries] == ["available", "available"]
    entries = (await bob.rest.saved_messages()).expect(200)
    assert [entry["status"] for entry in entries] == ["available", "missing_permissions"]
