"""Threads over HTTP and on the gateway: who may use the routes, who sees which thread, who hears what.

Area: threads. Rules: 000.gates, 000.threads.
"""

from __future__ import annotations

from typing import Any

import pytest

from chat.testing.rest_client import Response, RestClient
from chat.testing.world import Actor, World

KNOWS_THREADS = {"X-Service-Features": "channel_threads"}
THREADS_FLAG = 1 << 2
"""Identify's flag of a session that knows threads."""


async def ask(actor: Actor | RestClient, method: str, path: str, body: Any = None) -> Response:
    """A request that declares the capability."""
    client = actor if isinstance(actor, RestClient) else actor.rest
    return await client.request(method, path, json=... if body is None else body, headers=KNOWS_THREADS)


async def start(actor: Actor, channel_id: str, **members: Any) -> dict[str, Any]:
    """A thread that the actor starts below the channel."""
    answer = await ask(actor, "POST", f"/v1/channels/{channel_id}/threads", {"name": "aside", **members})
    started: dict[str, Any] = answer.expect(201)
    return started


async def test_a_public_thread_is_started_joined_and_written_in(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    at_bob = await bob.connect(flags=THREADS_FLAG)
    at_carol = await chat_world.carol.connect()  # knows nothing of threads

    thread = await start(alice, chat_world.channel_id)
    assert (thread["type"], thread["parent_id"], thread["owner_id"]) == (11, chat_world.channel_id, alice.id)
    assert thread["thread_metadata"]["archived"] is False
    assert thread["member"]["user_id"] == alice.id
    created = (await at_bob.expect("THREAD_CREATE")).data
    assert (created["id"], created["newly_created"], created["member_count"]) == (thread["id"], True, 1)

    members = f"/v1/channels/{thread['id']}/thread-members"
    (await ask(bob, "PUT", f"{members}/@me")).expect(204)
    changed = (await at_bob.expect("THREAD_MEMBERS_UPDATE")).data
    assert [added["user_id"] for added in changed["added_members"]] == [bob.id]
    assert changed["added_members"][0]["member"]["user"]["username"] == bob.username
    listed = (await ask(alice, "GET", members)).expect(200)
    assert {entry["user_id"] for entry in listed} == {alice.id, bob.id}

    (await bob.rest.send_message(thread["id"], "in here")).expect(200)
    assert (await at_bob.expect("MESSAGE_CREATE")).data["channel_id"] == thread["id"]
    (await bob.rest.send_message(chat_world.channel_id, "out here")).expect(200)
    # Whoever does not know threads hears only what is said outside of them.
    assert (await at_carol.expect("MESSAGE_CREATE")).data["content"] == "out here"
    seen = (await ask(alice, "GET", f"/v1/channels/{thread['id']}")).expect(200)
    assert (seen["message_count"], seen["total_message_sent"], seen["member_count"]) == (1, 1, 2)

    (await ask(bob, "DELETE", f"{members}/@me")).expect(204)
    gone = await ask(bob, "GET", f"{members}/@me")
    assert (gone.status, gone.code) == (404, "UNKNOWN_THREAD_MEMBER")


async def test_a_message_has_one_thread(chat_world: World) -> None:
    alice = chat_world.alice
    sent = (await alice.rest.send_message(chat_world.channel_id, "topic")).expect(200)
    path = f"/v1/channels/{chat_world.channel_id}/messages/{sent['id']}/threads"
    assert (await ask(alice, "POST", path, {"name": "about it"})).expect(201)["id"] == sent["id"]
    again = await ask(alice, "POST", path, {"name": "about it"})
    assert (again.status, again.code) == (400, "THREAD_ALREADY_CREATED_FOR_MESSAGE")
    unknown = await ask(alice, "POST", path.replace(sent["id"], "1"), {"name": "about it"})
    assert (unknown.status, unknown.code) == (404, "UNKNOWN_MESSAGE")


async def test_a_private_thread_is_for_those_invited(chat_world: World) -> None:
    bob, carol = chat_world.bob, chat_world.carol
    at_carol = await carol.connect(flags=THREADS_FLAG)
    thread = await start(bob, chat_world.channel_id, type=12, name="secret", invitable=False)
    path = f"/v1/channels/{thread['id']}"
    for refused in (
        await ask(carol, "GET", path),
        await ask(carol, "PUT", f"{path}/thread-members/@me"),
        await carol.rest.send_message(thread["id"], "let me in"),
    ):
        assert (refused.status, refused.code) == (404, "UNKNOWN_CHANNEL")
    (await ask(bob, "PUT", f"{path}/thread-members/{carol.id}")).expect(204)
    assert (await at_carol.expect("THREAD_CREATE")).data["member"]["user_id"] == carol.id
    (await carol.rest.send_message(thread["id"], "thanks")).expect(200)
    # Not everybody may bring others into a thread that is not invitable.
    others = await ask(carol, "PUT", f"{path}/thread-members/{chat_world.alice.id}")
    assert (others.status, others.code) == (403, "MISSING_PERMISSIONS")
    (await ask(bob, "DELETE", f"{path}/thread-members/{carol.id}")).expect(204)
    assert (await ask(carol, "GET", path)).code == "UNKNOWN_CHANNEL"
    # The owner of the guild manages threads and sees all of them.
    (await ask(chat_world.alice, "GET", path)).expect(200)


async def test_sessions_start_with_the_threads_they_are_in(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    thread = await start(alice, chat_world.channel_id)

    async def shown(actor: Actor, flags: int) -> list[str]:
        ready = (await actor.connect(flags=flags)).ready
        return [entry["id"] for entry in ready["guilds"][0]["threads"]]

    assert await shown(alice, THREADS_FLAG) == [thread["id"]]
    assert await shown(alice, 0) == []
    assert await shown(bob, THREADS_FLAG) == []
    at_bot = await chat_world.bot.connect()
    guild = (await at_bot.expect("GUILD_CREATE")).data
    assert [entry["id"] for entry in guild["threads"]] == [thread["id"]]
    assert thread["id"] not in {channel["id"] for channel in guild["channels"]}


async def test_settings_of_a_member(chat_world: World) -> None:
    alice = chat_world.alice
    at_alice = await alice.connect(flags=THREADS_FLAG)
    thread = await start(alice, chat_world.channel_id)
    path = f"/v1/channels/{thread['id']}/thread-members/@me/settings"
    assert (await ask(alice, "PATCH", path, {"muted": True, "flags": 8})).expect(200)["muted"] is True
    told = (await at_alice.expect("THREAD_MEMBER_UPDATE")).data
    assert (told["muted"], told["flags"], told["guild_id"]) == (True, 8, chat_world.guild_id)
    stranger = await ask(chat_world.bob, "PATCH", path, {"muted": True})
    assert (stranger.status, stranger.code) == (404, "UNKNOWN_THREAD_MEMBER")


async def test_where_and_what_threads_cannot_be(chat_world: World) -> None:
    alice = chat_world.alice
    for channel_id, body, code in (
        (chat_world.voice_channel_id, {"name": "x"}, "INVALID_CHANNEL_TYPE"),
        (chat_world.channel_id, {"name": "x", "type": 10}, "INVALID_CHANNEL_TYPE"),
        (chat_world.channel_id, {"name": ""}, "INVALID_FORM_BODY"),
        (chat_world.channel_id, {"name": "x" * 101}, "INVALID_FORM_BODY"),
        (chat_world.channel_id, {"name": "x", "auto_archive_duration": 61}, "INVALID_FORM_BODY"),
        (chat_world.channel_id, {"name": "x", "type": 0}, "INVALID_FORM_BODY"),
    ):
        answer = await ask(alice, "POST", f"/v1/channels/{channel_id}/threads", body)
        assert (answer.status, answer.code) == (400, code)
    thread = await start(alice, chat_world.channel_id)
    nested = await ask(alice, "POST", f"/v1/channels/{thread['id']}/threads", {"name": "x"})
    assert (nested.status, nested.code) == (400, "INVALID_CHANNEL_TYPE")
    no_thread = await ask(alice, "GET", f"/v1/channels/{chat_world.channel_id}/thread-members")
    assert (no_thread.status, no_thread.code) == (400, "INVALID_CHANNEL_TYPE")


def routes_of(world: World, thread_id: str, message_id: str) -> list[tuple[str, str, Any]]:
    """Every thread route, so that each changes nothing that the next one needs."""
    members = f"/v1/channels/{thread_id}/thread-members"
    return [
        ("GET", f"/v1/guilds/{world.guild_id}/threads/active", None),
        ("GET", members, None),
        ("PUT", f"{members}/@me", None),
        ("GET", f"{members}/@me", None),
        ("GET", f"{members}/{world.alice.id}", None),
        ("PATCH", f"{members}/@me/settings", {}),
        ("DELETE", f"{members}/@me", None),
        ("PUT", f"{members}/{world.carol.id}", None),
        ("POST", f"/v1/channels/{world.channel_id}/threads", {"name": "another"}),
        ("POST", f"/v1/channels/{world.channel_id}/messages/{message_id}/threads", {"name": "of it"}),
    ]


@pytest.mark.rule("000.threads.1", "000.threads.2")
@pytest.mark.parametrize("who", ["bot", "bob"])
async def test_who_may_use_the_routes(chat_world: World, who: str) -> None:
    thread = await start(chat_world.alice, chat_world.channel_id)
    sent = (await chat_world.alice.rest.send_message(chat_world.channel_id, "topic")).expect(200)
    for method, path, body in routes_of(chat_world, thread["id"], sent["id"]):
        if who == "bot":
            answer = await chat_world.bot.rest.request(method, path, json=... if body is None else body)
        else:
            answer = await ask(chat_world.bob, method, path, body)
        bots_only = path.endswith("/threads/active") and who != "bot"
        assert answer.status in ((403,) if bots_only else (200, 201, 204)), (method, path, answer.body)


@pytest.mark.rule("000.threads.3", "000.threads.4", "000.threads.6")
async def test_nobody_else_sees_that_there_are_any(chat_world: World) -> None:
    thread = await start(chat_world.alice, chat_world.channel_id)
    sent = (await chat_world.alice.rest.send_message(chat_world.channel_id, "topic")).expect(200)
    route = chat_world.route
    strangers = {
        "a session without the declaration": chat_world.bob.rest,
        "nobody": chat_world.anyone,
        "nobody, who declares": RestClient(route),
        "an admin key": RestClient(route, f"Admin {chat_world.admin_key}"),
        "an invalid session": RestClient(route, "cht_" + "x" * 36),
        "an invalid bot": RestClient(route, "Bot 1." + "x" * 43),
        "an invalid bearer": RestClient(route, "Bearer " + "x" * 43),
    }
    for name, client in strangers.items():
        declares = {} if name.startswith("a session") else KNOWS_THREADS
        for method, path, body in routes_of(chat_world, thread["id"], sent["id"]):
            answer = await client.request(method, path, json=... if body is None else body, headers=declares)
            assert (answer.status, answer.code) == (404, "NOT_FOUND"), (name, method, path)
        await client.aclose()


@pytest.mark.rule("000.gates.7")
async def test_a_limited_account_starts_none(chat_world: World) -> None:
    bob = chat_world.bob
    sent = (await bob.rest.send_message(chat_world.channel_id, "topic")).expect(200)
    (await chat_world.anyone.post(f"/v1/_dev/users/{bob.id}", {"flags": str(1 << 50)})).expect(200)
    for path in (
        f"/v1/channels/{chat_world.channel_id}/threads",
        f"/v1/channels/{chat_world.channel_id}/messages/{sent['id']}/threads",
    ):
        refused = await ask(bob, "POST", path, {"name": "aside"})
        assert (refused.status, refused.code) == (403, "ACCOUNT_LIMITED")
    (await chat_world.anyone.post(f"/v1/_dev/users/{bob.id}", {"flags": "0"})).expect(200)
    await start(bob, chat_world.channel_id)
