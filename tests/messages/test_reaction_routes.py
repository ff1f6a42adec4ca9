"""Reactions over HTTP and on the gateway: who may react, what is refused, who hears what, how messages show them.

Area: messages. Rules: 001.registries.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest
import trio
from trio.testing import MockClock

from chat.registries.guild_values import DisabledOperation
from chat.registries.permissions import Permission
from chat.testing.gateway_client import GatewayClient
from chat.testing.rest_client import Response
from chat.testing.server import ChatServer
from chat.testing.world import Actor, World
from tests.threads.test_thread_routes import THREADS_FLAG, ask, start
from tests.webhooks.surfaces import data_uri, png

THUMB, HEART, PARTY = "👍", "❤️", "🎉"
DEBOUNCE_FLAG = 1 << 1
"""Identify's flag of a session that hears of reactions in conversations together."""


def path(channel_id: str, message_id: str, *more: str) -> str:
    """The address of a message's reactions, or of something below it."""
    segments = (quote(segment, safe="@:") for segment in more)
    return "/".join((f"/v1/channels/{channel_id}/messages/{message_id}/reactions", *segments))


async def say(actor: Actor, channel_id: str, text: str = "hello") -> str:
    """The id of a new message."""
    return str((await actor.rest.send_message(channel_id, text)).expect(200)["id"])


async def react(actor: Actor, channel_id: str, message_id: str, emoji: str, **query: str) -> Response:
    """Ask to react."""
    return await actor.rest.request("PUT", path(channel_id, message_id, emoji, "@me"), query=query)


async def shown(actor: Actor, channel_id: str, message_id: str) -> list[dict[str, Any]] | None:
    """The reactions of a message as the actor reads them; None where the member is absent. One message and a page of
    them say the same."""
    one = (await actor.rest.get(f"/v1/channels/{channel_id}/messages/{message_id}")).expect(200)
    page = (await actor.rest.messages(channel_id)).expect(200)
    assert [message for message in page if message["id"] == message_id] == [one]
    reactions: list[dict[str, Any]] | None = one.get("reactions")
    return reactions


def refused(answer: Response, status: int, code: str) -> None:
    assert (answer.status, answer.code) == (status, code)


async def set_permissions(world: World, channel_id: str, **masks: Permission | int) -> None:
    """What everybody may or may not do in the channel."""
    body = {"type": 0, "allow": str(int(masks.get("allow", 0))), "deny": str(int(masks.get("deny", 0)))}
    (await world.alice.rest.put(f"/v1/channels/{channel_id}/permissions/{world.guild_id}", body)).expect(204)


async def conversation(world: World) -> str:
    """Alice's conversation with bob, which both have in their lists."""
    opened = (await world.alice.rest.post("/v1/users/@me/channels", {"recipient_id": world.bob.id})).expect(200)
    await say(world.alice, opened["id"])
    return str(opened["id"])


async def names(client: GatewayClient, until: str) -> list[str | None]:
    """The Dispatches that come before the one of that name."""
    heard = []
    while (payload := await client.next_payload()).name != until:
        heard.append(payload.name)
    return heard


# Reacting and taking it back


async def test_a_reaction_comes_is_joined_and_goes(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    message_id = await say(alice, channel_id)
    assert await shown(bob, channel_id, message_id) is None
    at_bob = await bob.connect()

    (await react(alice, channel_id, message_id, THUMB)).expect(204)
    added = (await at_bob.expect("MESSAGE_REACTION_ADD")).data
    assert added["member"].pop("user")["id"] == alice.id
    assert added.pop("member")["roles"] == []
    assert added == {
        "user_id": alice.id,
        "channel_id": channel_id,
        "message_id": message_id,
        "guild_id": chat_world.guild_id,
        "emoji": {"name": THUMB},
    }
    (await react(chat_world.bot, channel_id, message_id, THUMB)).expect(204)
    assert (await at_bob.expect("MESSAGE_REACTION_ADD")).data["user_id"] == chat_world.bot.id
    emoji = {"name": THUMB}
    assert await shown(bob, channel_id, message_id) == [{"emoji": emoji, "count": 2, "me": False}]
    assert await shown(alice, channel_id, message_id) == [{"emoji": emoji, "count": 2, "me": True}]

    (await alice.rest.delete(path(channel_id, message_id, THUMB, "@me"))).expect(204)
    removed = (await at_bob.expect("MESSAGE_REACTION_REMOVE")).data
    assert removed == {
        "user_id": alice.id,
        "channel_id": channel_id,
        "message_id": message_id,
        "guild_id": chat_world.guild_id,
        "emoji": {"name": THUMB},
    }
    assert await shown(alice, channel_id, message_id) == [{"emoji": emoji, "count": 1, "me": False}]
    (await chat_world.bot.rest.delete(path(channel_id, message_id, THUMB, "@me"))).expect(204)
    assert await shown(alice, channel_id, message_id) is None


async def test_what_changes_nothing_is_told_to_nobody(chat_world: World) -> None:
    alice, channel_id = chat_world.alice, chat_world.channel_id
    message_id = await say(alice, channel_id)
    (await react(alice, channel_id, message_id, THUMB)).expect(204)
    at_bob = await chat_world.bob.connect()
    (await react(alice, channel_id, message_id, THUMB)).expect(204)
    for gone in (
        path(channel_id, message_id, HEART, "@me"),
        path(channel_id, message_id, THUMB, chat_world.bob.id),
        path(channel_id, message_id, HEART),
    ):
        (await alice.rest.delete(gone)).expect(204)
    other_id = await say(alice, channel_id)
    (await alice.rest.delete(path(channel_id, other_id))).expect(204)
    await say(alice, channel_id, "end")
    assert await names(at_bob, "MESSAGE_CREATE") == []  # of the message without reactions
    assert await names(at_bob, "MESSAGE_CREATE") == []


async def test_the_order_is_that_of_the_first_reaction(chat_world: World, autojump_clock: MockClock) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    message_id = await say(alice, channel_id)
    for actor, emoji in ((alice, PARTY), (alice, THUMB), (bob, HEART), (bob, PARTY)):
        (await react(actor, channel_id, message_id, emoji)).expect(204)
        await trio.sleep(0.01)
    (await alice.rest.delete(path(channel_id, message_id, PARTY, "@me"))).expect(204)
    seen = await shown(alice, channel_id, message_id)
    assert seen is not None
    assert [reaction["emoji"]["name"] for reaction in seen] == [PARTY, THUMB, HEART]  # the first of PARTY is bob's now
    (await bob.rest.delete(path(channel_id, message_id, PARTY, "@me"))).expect(204)
    (await react(bob, channel_id, message_id, PARTY)).expect(204)
    seen = await shown(alice, channel_id, message_id)
    assert seen is not None
    assert [reaction["emoji"]["name"] for reaction in seen] == [THUMB, HEART, PARTY]


async def test_moderators_take_reactions_away(chat_world: World, autojump_clock: MockClock) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    message_id = await say(bob, channel_id)
    for actor in (alice, bob, chat_world.carol):
        for emoji in (THUMB, HEART, PARTY):
            (await react(actor, channel_id, message_id, emoji)).expect(204)
            await trio.sleep(0.01)  # they stand in the order of their first reactions
    at_carol = await chat_world.carol.connect()
    others = [
        path(channel_id, message_id, THUMB, alice.id),
        path(channel_id, message_id, HEART),
        path(channel_id, message_id),
    ]
    for other in others:
        refused(await bob.rest.delete(other), 403, "MISSING_PERMISSIONS")
    (await bob.rest.delete(path(channel_id, message_id, THUMB, bob.id))).expect(204)  # one's own, by the long way
    assert (await at_carol.expect("MESSAGE_REACTION_REMOVE")).data["user_id"] == bob.id

    place = {"channel_id": channel_id, "message_id": message_id, "guild_id": chat_world.guild_id}
    (await alice.rest.delete(path(channel_id, message_id, THUMB, chat_world.carol.id))).expect(204)
    removed = (await at_carol.expect("MESSAGE_REACTION_REMOVE")).data
    assert (removed["user_id"], removed["emoji"]) == (chat_world.carol.id, {"name": THUMB})
    (await alice.rest.delete(path(channel_id, message_id, HEART))).expect(204)
    assert (await at_carol.expect("MESSAGE_REACTION_REMOVE_EMOJI")).data == {**place, "emoji": {"name": HEART}}
    seen = await shown(alice, channel_id, message_id)
    assert seen == [
        {"emoji": {"name": THUMB}, "count": 1, "me": True},
        {"emoji": {"name": PARTY}, "count": 3, "me": True},
    ]
    (await alice.rest.delete(path(channel_id, message_id))).expect(204)
    assert (await at_carol.expect("MESSAGE_REACTION_REMOVE_ALL")).data == place
    assert await shown(alice, channel_id, message_id) is None


# Emojis


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("❤", "❤️"),  # with and without the selector it is one emoji
        ("❤️", "❤️"),
        ("👩‍👩‍👧‍👦", "👩‍👩‍👧‍👦"),
        ("👍🏽", "👍🏽"),
        ("🇩🇪", "🇩🇪"),
        ("🇦", "🇦"),
        ("1️⃣", "1️⃣"),
        ("1⃣", "1️⃣"),
    ],
)
async def test_unicode_emojis(chat_world: World, sent: str, kept: str) -> None:
    alice, channel_id = chat_world.alice, chat_world.channel_id
    message_id = await say(alice, channel_id)
    (await react(alice, channel_id, message_id, sent)).expect(204)
    (await react(alice, channel_id, message_id, kept)).expect(204)
    assert await shown(alice, channel_id, message_id) == [{"emoji": {"name": kept}, "count": 1, "me": True}]
    assert len((await alice.rest.get(path(channel_id, message_id, sent))).expect(200)) == 1
    (await alice.rest.delete(path(channel_id, message_id, sent, "@me"))).expect(204)
    assert await shown(alice, channel_id, message_id) is None


@pytest.mark.parametrize(
    "text",
    [
        "a", "1", "#", "👍👍", "👍 ", " ", "thumbsup", ":thumbsup:", "wave:", ":1", "wave:x", "wave:01", "wave:1:2",
        "wave:99999999999999999999", "wave:9223372036854775808", "<:wave:1>", "\u200d", "\ufe0f", "🏽👍", "é", "\x00",
        "👍" * 200, "x" * 4_000,
    ],
)  # fmt: skip
async def test_what_is_no_emoji(chat_world: World, text: str) -> None:
    alice, channel_id = chat_world.alice, chat_world.channel_id
    message_id = await say(alice, channel_id)
    answer = await react(alice, channel_id, message_id, text)
    refused(answer, 400, "INVALID_FORM_BODY")
    assert [error["path"] for error in answer.json()["errors"]] == ["emoji"]
    refused(await alice.rest.get(path(channel_id, message_id, text)), 400, "INVALID_FORM_BODY")
    assert await shown(alice, channel_id, message_id) is None


async def make_emoji(actor: Actor, guild_id: str, name: str = "wave") -> str:
    """The id of a new emoji of the guild."""
    body = {"name": name, "image": data_uri(png())}
    return str((await actor.rest.post(f"/v1/guilds/{guild_id}/emojis", body)).expect(200)["id"])


async def test_emojis_of_the_guild(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    emoji_id = await make_emoji(alice, chat_world.guild_id)
    message_id = await say(alice, channel_id)
    at_alice = await alice.connect()
    (await react(bob, channel_id, message_id, f"wave:{emoji_id}")).expect(204)
    added = (await at_alice.expect("MESSAGE_REACTION_ADD")).data
    assert added["emoji"] == {"name": "wave", "id": emoji_id, "animated": False}
    # The id counts and the name does not; only the first tells whether the emoji moves.
    escaped = path(channel_id, message_id) + f"/anything%3A{emoji_id}/@me"
    (await alice.rest.put(escaped)).expect(204)
    assert (await at_alice.expect("MESSAGE_REACTION_ADD")).data["emoji"] == {"name": "wave", "id": emoji_id}
    emoji = {"name": "wave", "id": emoji_id, "animated": False}
    assert await shown(alice, channel_id, message_id) == [{"emoji": emoji, "count": 2, "me": True}]
    # One that is gone can no longer be begun with, but joined.
    (await alice.rest.delete(f"/v1/guilds/{chat_world.guild_id}/emojis/{emoji_id}")).expect(204)
    (await react(chat_world.carol, channel_id, message_id, f"a:wave:{emoji_id}")).expect(204)
    other_id = await say(alice, channel_id)
    refused(await react(alice, channel_id, other_id, f"wave:{emoji_id}"), 404, "UNKNOWN_EMOJI")
    (await bob.rest.delete(path(channel_id, message_id, f"wave:{emoji_id}", "@me"))).expect(204)
    removed = (await at_alice.expect("MESSAGE_REACTION_REMOVE")).data
    assert removed["emoji"] == {"name": "wave", "id": emoji_id}


async def test_emojis_of_other_guilds(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    other_guild = (await bob.rest.create_guild("Elsewhere")).expect(200)["id"]
    emoji = f"wave:{await make_emoji(bob, other_guild)}"
    message_id = await say(alice, channel_id)
    refused(await react(alice, channel_id, message_id, emoji), 404, "UNKNOWN_EMOJI")  # not a member there
    refused(await react(alice, channel_id, message_id, "wave:1"), 404, "UNKNOWN_EMOJI")
    await set_permissions(chat_world, channel_id, deny=Permission.USE_EXTERNAL_EMOJIS)
    refused(await react(bob, channel_id, message_id, emoji), 403, "MISSING_PERMISSIONS")
    await set_permissions(chat_world, channel_id)
    (await react(bob, channel_id, message_id, emoji)).expect(204)
    (await react(alice, channel_id, message_id, emoji)).expect(204)  # joining asks nothing
    dm = await conversation(chat_world)
    in_dm = await say(alice, dm)
    refused(await react(alice, dm, in_dm, emoji), 404, "UNKNOWN_EMOJI")
    (await react(bob, dm, in_dm, emoji)).expect(204)


# Who may


async def test_only_the_first_of_an_emoji_needs_the_permission(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    message_id = await say(alice, channel_id)
    (await react(alice, channel_id, message_id, THUMB)).expect(204)
    await set_permissions(chat_world, channel_id, deny=Permission.ADD_REACTIONS)
    refused(await react(bob, channel_id, message_id, HEART), 403, "MISSING_PERMISSIONS")
    (await react(bob, channel_id, message_id, THUMB)).expect(204)
    await set_permissions(chat_world, channel_id)
    (await react(bob, channel_id, message_id, HEART)).expect(204)


async def test_reading_is_needed(chat_world: World, autojump_clock: MockClock) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    message_id = await say(alice, channel_id)
    (await react(bob, channel_id, message_id, THUMB)).expect(204)
    at_bob = await bob.connect()
    await set_permissions(chat_world, channel_id, deny=Permission.READ_MESSAGE_HISTORY)
    for answer in (
        await react(bob, channel_id, message_id, HEART),
        await bob.rest.delete(path(channel_id, message_id, THUMB, "@me")),
        await bob.rest.get(path(channel_id, message_id, THUMB)),
    ):
        refused(answer, 404, "UNKNOWN_MESSAGE")
    # Nor does who may not read a message hear of reactions to it.
    (await react(alice, channel_id, message_id, THUMB)).expect(204)
    await say(alice, channel_id, "end")
    assert "MESSAGE_REACTION_ADD" not in await names(at_bob, "MESSAGE_CREATE")
    # From the cutoff on everybody reads.
    await trio.sleep(0.01)
    now = (await chat_world.anyone.get("/v1/_dev/clock")).expect(200)["now"]
    cutoff = {"message_history_cutoff": now}
    (await alice.rest.patch(f"/v1/guilds/{chat_world.guild_id}", cutoff)).expect(200)
    await trio.sleep(0.01)
    later_id = await say(alice, channel_id)
    (await react(bob, channel_id, later_id, HEART)).expect(204)
    refused(await react(bob, channel_id, message_id, HEART), 404, "UNKNOWN_MESSAGE")
    assert (await at_bob.expect("MESSAGE_REACTION_ADD")).data["message_id"] == later_id


async def test_what_is_not_there(chat_world: World) -> None:
    alice, channel_id = chat_world.alice, chat_world.channel_id
    message_id = await say(alice, channel_id)
    voice = chat_world.voice_channel_id
    for where, code in (
        ((channel_id, "999999999999999999"), "UNKNOWN_MESSAGE"),
        ((voice, message_id), "UNKNOWN_MESSAGE"),
        (("999999999999999999", message_id), "UNKNOWN_CHANNEL"),
    ):
        for answer in (
            await react(alice, *where, THUMB),
            await alice.rest.delete(path(*where, THUMB, "@me")),
            await alice.rest.delete(path(*where, THUMB)),
            await alice.rest.delete(path(*where)),
            await alice.rest.get(path(*where, THUMB)),
            await alice.rest.get(path(*where, THUMB, "users")),
        ):
            refused(answer, 404, code)
    refused(await react(chat_world.admin, channel_id, message_id, THUMB), 403, "MISSING_PERMISSIONS")
    refused(await react(alice, channel_id, "x", THUMB), 400, "INVALID_FORM_BODY")


async def test_the_timed_out_do_not_react(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    message_id = await say(alice, channel_id)
    (await react(bob, channel_id, message_id, THUMB)).expect(204)
    until = {"communication_disabled_until": "2999-01-01T00:00:00.000Z"}
    member = f"/v1/guilds/{chat_world.guild_id}/members/{bob.id}"
    now = (await chat_world.anyone.get("/v1/_dev/clock")).expect(200)["now"]
    until = {"communication_disabled_until": f"{int(now[:4]) + 1}-01-01T00:00:00.000Z"}
    (await alice.rest.patch(member, until)).expect(200)
    refused(await react(bob, channel_id, message_id, HEART), 403, "COMMUNICATION_DISABLED")
    (await bob.rest.delete(path(channel_id, message_id, THUMB, "@me"))).expect(204)  # to be silent is allowed
    (await alice.rest.patch(member, {"communication_disabled_until": None})).expect(200)
    (await react(bob, channel_id, message_id, HEART)).expect(204)


async def test_an_address_that_is_not_verified(chat_world: World) -> None:
    bob, channel_id = chat_world.bob, chat_world.channel_id
    message_id = await say(chat_world.alice, channel_id)
    account = f"/v1/_dev/users/{bob.id}"
    (await chat_world.anyone.post(account, {"email_verified": False})).expect(200)
    refused(await react(bob, channel_id, message_id, THUMB), 403, "REACTION_EMAIL_VERIFICATION_REQUIRED")
    (await chat_world.anyone.post(account, {"email_verified": True})).expect(200)
    (await react(bob, channel_id, message_id, THUMB)).expect(204)


@pytest.mark.rule("001.registries.15")
async def test_an_administrator_switches_reactions_off(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    guild = f"/v1/_dev/guilds/{chat_world.guild_id}"
    message_id = await say(alice, channel_id)
    (await react(bob, channel_id, message_id, THUMB)).expect(204)
    (await chat_world.anyone.post(guild, {"disabled_operations": DisabledOperation.REACTIONS})).expect(200)
    for actor in (alice, bob, chat_world.bot):
        refused(await react(actor, channel_id, message_id, HEART), 403, "FEATURE_TEMPORARILY_DISABLED")
    refused(await react(alice, channel_id, message_id, THUMB), 403, "FEATURE_TEMPORARILY_DISABLED")
    own = await bob.rest.delete(path(channel_id, message_id, THUMB, "@me"))
    refused(own, 403, "FEATURE_TEMPORARILY_DISABLED")
    assert await shown(bob, channel_id, message_id) == [{"emoji": {"name": THUMB}, "count": 1, "me": True}]
    (await alice.rest.delete(path(channel_id, message_id))).expect(204)  # moderators clear away
    # Elsewhere nothing changed, and the other bits leave reactions alone.
    dm = await conversation(chat_world)
    (await react(bob, dm, await say(alice, dm), THUMB)).expect(204)
    others = 127 & ~DisabledOperation.REACTIONS & ~DisabledOperation.SEND_MESSAGE
    (await chat_world.anyone.post(guild, {"disabled_operations": others})).expect(200)
    (await react(bob, channel_id, message_id, HEART)).expect(204)


# Limits


@pytest.mark.chat_settings(**{"limits.max_reactions_per_message": 2})
async def test_so_many_different_ones(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    message_id = await say(alice, channel_id)
    for emoji in (THUMB, HEART):
        (await react(alice, channel_id, message_id, emoji)).expect(204)
    refused(await react(bob, channel_id, message_id, PARTY), 400, "MAX_REACTIONS")
    (await react(bob, channel_id, message_id, HEART)).expect(204)
    (await alice.rest.delete(path(channel_id, message_id, THUMB))).expect(204)
    (await react(bob, channel_id, message_id, PARTY)).expect(204)


@pytest.mark.chat_settings(**{"limits.max_users_per_reaction": 2})
async def test_so_many_alike(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    message_id = await say(alice, channel_id)
    for actor in (alice, bob, alice):
        (await react(actor, channel_id, message_id, THUMB)).expect(204)
    refused(await react(chat_world.carol, channel_id, message_id, THUMB), 400, "MAX_REACTIONS")
    assert await shown(chat_world.carol, channel_id, message_id) == [
        {"emoji": {"name": THUMB}, "count": 2, "me": False}
    ]
    (await bob.rest.delete(path(channel_id, message_id, THUMB, "@me"))).expect(204)
    (await react(chat_world.carol, channel_id, message_id, THUMB)).expect(204)


# Who reacted


async def test_who_reacted_in_pages(chat_world: World) -> None:
    alice, channel_id = chat_world.alice, chat_world.channel_id
    message_id = await say(alice, channel_id)
    actors = sorted((alice, chat_world.bob, chat_world.carol, chat_world.bot), key=lambda actor: int(actor.id))
    ids = [actor.id for actor in actors]
    for actor in reversed(actors):
        (await react(actor, channel_id, message_id, THUMB)).expect(204)
    plain, paged = path(channel_id, message_id, THUMB), path(channel_id, message_id, THUMB, "users")
    listed = (await alice.rest.get(plain)).expect(200)
    assert [user["id"] for user in listed] == ids
    assert listed[ids.index(chat_world.bob.id)]["username"] == chat_world.bob.username
    assert [user["id"] for user in (await alice.rest.get(plain, {"limit": 2})).expect(200)] == ids[:2]
    after = {"after": ids[1], "limit": 100}
    assert [user["id"] for user in (await alice.rest.get(plain, after)).expect(200)] == ids[2:]
    page = (await alice.rest.get(paged, {"limit": 3})).expect(200)
    assert ([user["id"] for user in page["items"]], page["has_more"], page["next_after"]) == (ids[:3], True, ids[2])
    page = (await alice.rest.get(paged, {"limit": 3, "after": ids[2]})).expect(200)
    assert ([user["id"] for user in page["items"]], page["has_more"], page["next_after"]) == (ids[3:], False, None)
    assert (await alice.rest.get(path(channel_id, message_id, HEART))).expect(200) == []
    empty = {"items": [], "has_more": False, "next_after": None}
    assert (await alice.rest.get(path(channel_id, message_id, HEART, "users"))).expect(200) == empty
    for limit in ("0", "-1", "1.5", "6000", "101", "x"):
        refused(await alice.rest.get(plain, {"limit": limit}), 400, "INVALID_FORM_BODY")
        refused(await alice.rest.get(paged, {"limit": limit}), 400, "INVALID_FORM_BODY")


# With messages


async def test_they_go_with_their_message(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    message_id = await say(alice, channel_id)
    (await react(bob, channel_id, message_id, THUMB)).expect(204)
    (await alice.rest.delete_message(channel_id, message_id)).expect(204)
    refused(await react(bob, channel_id, message_id, THUMB), 404, "UNKNOWN_MESSAGE")
    refused(await bob.rest.get(path(channel_id, message_id, THUMB)), 404, "UNKNOWN_MESSAGE")


async def test_they_outlive_memberships(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    message_id = await say(alice, channel_id)
    (await react(bob, channel_id, message_id, THUMB)).expect(204)
    (await alice.rest.put(f"/v1/guilds/{chat_world.guild_id}/bans/{bob.id}", {})).expect(204)
    assert await shown(alice, channel_id, message_id) == [{"emoji": {"name": THUMB}, "count": 1, "me": False}]
    assert [user["id"] for user in (await alice.rest.get(path(channel_id, message_id, THUMB))).expect(200)] == [bob.id]


async def test_an_edit_keeps_them_and_an_answer_shows_them(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    message_id = await say(alice, channel_id)
    (await react(alice, channel_id, message_id, THUMB)).expect(204)
    at_bob = await bob.connect()
    own = [{"emoji": {"name": THUMB}, "count": 1, "me": True}]
    edited = (await alice.rest.edit_message(channel_id, message_id, "changed")).expect(200)
    assert edited["reactions"] == own
    updated = (await at_bob.expect("MESSAGE_UPDATE")).data
    assert "reactions" not in updated  # everybody knows their own part in them
    answer = {"message_reference": {"message_id": message_id}}
    answered_id = (await bob.rest.send_message(channel_id, "so", **answer)).expect(200)["id"]
    read = (await alice.rest.get(f"/v1/channels/{channel_id}/messages/{answered_id}")).expect(200)
    assert (read["referenced_message"]["reactions"], "reactions" in read) == (own, False)
    read = (await bob.rest.get(f"/v1/channels/{channel_id}/messages/{answered_id}")).expect(200)
    assert read["referenced_message"]["reactions"] == [{"emoji": {"name": THUMB}, "count": 1, "me": False}]


# The session that asked


async def test_a_guild_leaves_the_named_session_out(chat_world: World) -> None:
    alice, channel_id = chat_world.alice, chat_world.channel_id
    message_id = await say(alice, channel_id)
    acting, other, at_bob = await alice.connect(), await alice.connect(), await chat_world.bob.connect()
    session = acting.session_id or ""
    (await react(alice, channel_id, message_id, THUMB, session_id=session)).expect(204)
    await other.expect("MESSAGE_REACTION_ADD")
    await at_bob.expect("MESSAGE_REACTION_ADD")
    own = path(channel_id, message_id, THUMB, "@me")
    (await alice.rest.request("DELETE", own, query={"session_id": session})).expect(204)
    await other.expect("MESSAGE_REACTION_REMOVE")
    await say(alice, channel_id, "end")
    assert not {"MESSAGE_REACTION_ADD", "MESSAGE_REACTION_REMOVE"} & set(await names(acting, "MESSAGE_CREATE"))
    # In a conversation everybody hears.
    dm = await conversation(chat_world)
    (await react(alice, dm, await say(alice, dm), THUMB, session_id=session)).expect(204)
    added = (await acting.expect("MESSAGE_REACTION_ADD")).data
    assert (added["user_id"], "guild_id" in added, "member" in added) == (alice.id, False, False)


# Conversations


async def test_reactions_in_a_conversation(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    dm = await conversation(chat_world)
    message_id = await say(alice, dm)
    (await react(bob, dm, message_id, THUMB)).expect(204)
    assert await shown(alice, dm, message_id) == [{"emoji": {"name": THUMB}, "count": 1, "me": False}]
    for answer in (
        await alice.rest.delete(path(dm, message_id, THUMB, bob.id)),
        await alice.rest.delete(path(dm, message_id, THUMB)),
        await alice.rest.delete(path(dm, message_id)),
    ):
        refused(answer, 403, "MISSING_PERMISSIONS")
    refused(await react(chat_world.carol, dm, message_id, THUMB), 404, "UNKNOWN_CHANNEL")
    (await bob.rest.put(f"/v1/users/@me/relationships/{alice.id}", {"type": 2})).expect(200)
    for actor in (alice, bob):
        refused(await react(actor, dm, message_id, HEART), 400, "CANNOT_SEND_MESSAGES_TO_USER")
    (await bob.rest.delete(path(dm, message_id, THUMB, "@me"))).expect(204)
    (await bob.rest.delete(f"/v1/users/@me/relationships/{alice.id}")).expect(204)
    (await react(alice, dm, message_id, HEART)).expect(204)


# Threads


async def test_reactions_in_a_thread(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    thread_id = (await start(alice, chat_world.channel_id))["id"]
    message_id = await say(alice, thread_id)
    at_bob, without = await bob.connect(flags=THREADS_FLAG), await chat_world.carol.connect()
    (await react(alice, thread_id, message_id, THUMB)).expect(204)
    assert (await at_bob.expect("MESSAGE_REACTION_ADD")).data["channel_id"] == thread_id
    (await react(bob, thread_id, message_id, THUMB)).expect(204)
    thread = f"/v1/channels/{thread_id}"

    (await ask(alice, "PATCH", thread, {"locked": True})).expect(200)
    refused(await react(bob, thread_id, message_id, HEART), 400, "THREAD_LOCKED")
    (await react(alice, thread_id, message_id, HEART)).expect(204)  # who manages threads
    (await bob.rest.delete(path(thread_id, message_id, THUMB, "@me"))).expect(204)
    (await ask(alice, "PATCH", thread, {"archived": True})).expect(200)
    for answer in (
        await react(alice, thread_id, message_id, PARTY),
        await alice.rest.delete(path(thread_id, message_id, THUMB, "@me")),
    ):
        refused(answer, 400, "THREAD_ARCHIVED")
    (await alice.rest.delete(path(thread_id, message_id))).expect(204)
    await say(alice, chat_world.channel_id, "end")
    heard = await names(without, "MESSAGE_CREATE")
    assert [name for name in heard if name is not None and name.startswith("MESSAGE_REACTION")] == []


# Sessions that want additions together (DEBOUNCE_MESSAGE_REACTIONS)


async def test_additions_in_a_conversation_come_together(chat_world: World, autojump_clock: MockClock) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    dm = await conversation(chat_world)
    first, second = await say(alice, dm), await say(alice, dm)
    gathering, at_once = await bob.connect(flags=DEBOUNCE_FLAG), await bob.connect()
    await gathering.expect("SESSIONS_REPLACE")  # of the session that came after it
    began = trio.current_time()
    for message_id, emoji in ((first, THUMB), (second, HEART), (first, HEART)):
        (await react(alice, dm, message_id, emoji)).expect(204)
        assert (await at_once.expect("MESSAGE_REACTION_ADD")).data["message_id"] == message_id
    await gathering.expect_silence(began + 0.64 - trio.current_time())
    together = (await gathering.expect("MESSAGE_REACTION_ADD_MANY")).data
    assert 0.65 - 1e-9 <= trio.current_time() - began < 0.75
    assert together == {
        "channel_id": dm,
        "message_id": first,
        "reactions": [
            {"user_id": alice.id, "emoji": {"name": THUMB}},
            {"user_id": alice.id, "emoji": {"name": HEART}},
        ],
    }
    assert (await gathering.expect("MESSAGE_REACTION_ADD_MANY")).data == {
        "channel_id": dm,
        "message_id": second,
        "reactions": [{"user_id": alice.id, "emoji": {"name": HEART}}],
    }
    # The next one opens another window.
    (await react(bob, dm, first, THUMB)).expect(204)
    together = (await gathering.expect("MESSAGE_REACTION_ADD_MANY")).data
    assert together["reactions"] == [{"user_id": bob.id, "emoji": {"name": THUMB}}]


@pytest.mark.parametrize("takes", ["one", "the long way", "message"])
async def test_what_takes_additions_back_comes_after_them(chat_world: World, takes: str) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    dm = await conversation(chat_world)
    message_id = await say(alice, dm)
    gathering = await bob.connect(flags=DEBOUNCE_FLAG)
    (await react(alice, dm, message_id, THUMB)).expect(204)
    gone, event = {
        "one": (path(dm, message_id, THUMB, "@me"), "MESSAGE_REACTION_REMOVE"),
        "the long way": (path(dm, message_id, THUMB, alice.id), "MESSAGE_REACTION_REMOVE"),
        "message": (f"/v1/channels/{dm}/messages/{message_id}", "MESSAGE_DELETE"),
    }[takes]
    (await alice.rest.delete(gone)).expect(204)
    assert await names(gathering, event) == ["MESSAGE_REACTION_ADD_MANY"]


async def test_additions_in_a_guild_come_one_by_one(chat_world: World) -> None:
    alice, channel_id = chat_world.alice, chat_world.channel_id
    message_id = await say(alice, channel_id)
    gathering = await chat_world.bob.connect(flags=DEBOUNCE_FLAG)
    for emoji in (THUMB, HEART):
        (await react(alice, channel_id, message_id, emoji)).expect(204)
        assert (await gathering.expect("MESSAGE_REACTION_ADD")).data["emoji"] == {"name": emoji}


async def test_a_session_that_is_resumed_still_gathers(chat_world: World, autojump_clock: MockClock) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    dm = await conversation(chat_world)
    message_id = await say(alice, dm)
    gathering = await bob.connect(flags=DEBOUNCE_FLAG)
    gathering.drop()
    (await react(alice, dm, message_id, THUMB)).expect(204)
    again = await bob.resume(gathering)
    replayed = (await again.expect("MESSAGE_REACTION_ADD_MANY")).data
    assert replayed["reactions"] == [{"user_id": alice.id, "emoji": {"name": THUMB}}]
    (await react(alice, dm, message_id, HEART)).expect(204)
    await again.expect("MESSAGE_REACTION_ADD_MANY")


async def test_what_is_held_back_is_not_lost_when_the_server_stops(
    chat_world: World, chat_server: ChatServer, autojump_clock: MockClock
) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    dm = await conversation(chat_world)
    message_id = await say(alice, dm)
    gathering = await bob.connect(flags=DEBOUNCE_FLAG)
    (await react(alice, dm, message_id, THUMB)).expect(204)
    await chat_server.restart()
    again = await bob.resume(gathering)
    await again.expect("RESUMED")
    # With its socket at a gateway node, bob has heard it before that is sent elsewhere.
    heard = [each for each in (*gathering.dispatches, *again.dispatches) if each.name == "MESSAGE_REACTION_ADD_MANY"]
    assert [each.data["message_id"] for each in heard] == [message_id]
