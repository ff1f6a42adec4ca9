"""Announcement channels: published messages, the channels that follow, and the copies there.

Area: webhooks. Rules: 001.features.
"""

from __future__ import annotations

from typing import Any

import pytest
import trio.testing

from chat.clock import SystemClock, iso_timestamp
from chat.testing.gateway_client import GatewayClient
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.threads.thread_world import (
    ANNOUNCEMENT,
    FORUM,
    MANAGE_MESSAGES,
    MANAGE_WEBHOOKS,
    READ_MESSAGE_HISTORY,
    SEND_MESSAGES,
    VIEW_CHANNEL,
    allow,
    channel,
    knowing,
    post,
    refused,
    thread,
    watch,
)
from tests.webhooks.surfaces import form, png, post_form

CROSSPOSTED, IS_CROSSPOST, SUPPRESS_EMBEDS, SOURCE_DELETED = 1, 2, 4, 8
COPY_SECONDS = 20.0


async def followed(world: World) -> tuple[str, str]:
    """A guild of Bob's with a channel that follows an announcement channel of the world's guild: both channels."""
    news = await channel(world, "news", ANNOUNCEMENT)
    guild = (await world.bob.rest.create_guild("Elsewhere")).expect(200)
    target: str = guild["system_channel_id"]
    answer = (await world.bob.rest.follow(news["id"], target)).expect(200)
    assert answer["channel_id"] == news["id"]
    return news["id"], target


async def copy_at(client: GatewayClient, name: str = "MESSAGE_CREATE") -> dict[str, Any]:
    """The next copy that the session hears of."""
    payload = await client.expect(name, where=lambda data: data.get("flags", 0) & IS_CROSSPOST, seconds=COPY_SECONDS)
    data: dict[str, Any] = payload.data
    return data


async def test_a_follower_does_not_name_a_channel_that_is_hidden_from_the_reader(chat_world: World) -> None:
    alice, bob = chat_world.alice.rest, chat_world.bob
    news = await channel(chat_world, "news", ANNOUNCEMENT)
    (await alice.follow(news["id"], chat_world.channel_id)).expect(200)
    await allow(chat_world, chat_world.channel_id, bob.id, allow=MANAGE_WEBHOOKS)
    path = f"/v1/channels/{chat_world.channel_id}/webhooks"
    (webhook,) = (await bob.rest.get(path)).expect(200)
    assert webhook["source_channel"]["id"] == news["id"]
    await allow(chat_world, news["id"], bob.id, deny=VIEW_CHANNEL)
    (await alice.change_channel(news["id"], name="a-secret")).expect(200)
    (of_channel,) = (await bob.rest.get(path)).expect(200)
    assert of_channel == (await bob.rest.get(f"/v1/webhooks/{webhook['id']}")).expect(200)
    assert of_channel == {name: webhook[name] for name in webhook.keys() - {"source_channel", "source_guild"}}
    (seen,) = (await alice.get(path)).expect(200)
    assert seen["source_channel"]["name"] == "a-secret"


async def test_following_is_a_webhook_in_the_channel_that_follows(chat_world: World) -> None:
    news = await channel(chat_world, "news", ANNOUNCEMENT, topic="what is new")
    guild = (await chat_world.bob.rest.create_guild("Elsewhere")).expect(200)
    target, at_bob = guild["system_channel_id"], await chat_world.bob.connect()
    answer = (await chat_world.bob.rest.follow(news["id"], target)).expect(200)
    assert (await at_bob.expect("WEBHOOKS_UPDATE")).data == {"guild_id": guild["id"], "channel_id": target}
    told = (await at_bob.expect("MESSAGE_CREATE")).data
    assert (told["type"], told["content"], told["author"]["id"]) == (12, "news", chat_world.bob.id)
    assert told["message_reference"] == {"channel_id": news["id"], "guild_id": chat_world.guild_id, "type": 0}
    assert "referenced_message" not in told

    (webhook,) = (await chat_world.bob.rest.get(f"/v1/channels/{target}/webhooks")).expect(200)
    assert (webhook["id"], webhook["type"], webhook["channel_id"]) == (answer["webhook_id"], 2, target)
    assert webhook["source_channel"] == {"id": news["id"], "name": "news"}
    assert webhook["source_guild"]["id"] == chat_world.guild_id
    assert "token" not in webhook
    assert webhook["name"].endswith("#news")
    # Following twice is following once; and nobody follows what is followed here already by hand.
    assert (await chat_world.bob.rest.follow(news["id"], target)).expect(200) == answer
    assert len((await chat_world.bob.rest.get(f"/v1/channels/{target}/webhooks")).expect(200)) == 1
    log = (await chat_world.bob.rest.get(f"/v1/guilds/{guild['id']}/audit-logs")).expect(200)
    assert [(entry["action_type"], entry["target_id"]) for entry in log["audit_log_entries"]] == [
        (50, answer["webhook_id"])
    ]
    # A webhook that follows goes like any other, and the channel follows no longer.
    (await chat_world.bob.rest.delete(f"/v1/webhooks/{webhook['id']}")).expect(204)
    assert (await chat_world.bob.rest.follow(news["id"], target)).expect(200) != answer


async def test_where_one_may_follow(chat_world: World) -> None:
    news = await channel(chat_world, "news", ANNOUNCEMENT)
    guild = (await chat_world.bob.rest.create_guild("Elsewhere")).expect(200)
    target, bob, carol = guild["system_channel_id"], chat_world.bob.rest, chat_world.carol.rest
    refused(await bob.follow(chat_world.channel_id, target), 400, "ANNOUNCEMENT_CHANNEL_REQUIRED")
    refused(await bob.follow(news["id"], chat_world.channel_id), 403, "MISSING_PERMISSIONS")
    refused(await carol.follow(news["id"], target), 403, "MISSING_PERMISSIONS")
    refused(await chat_world.admin.rest.follow(news["id"], target), 403, "MISSING_PERMISSIONS")
    refused(await bob.follow("1", target), 404, "UNKNOWN_CHANNEL")
    refused(await bob.follow(news["id"], "1"), 404, "UNKNOWN_CHANNEL")
    refused(await chat_world.alice.rest.follow(news["id"], news["id"]), 400, "INVALID_FORM_BODY", "webhook_channel_id")
    refused(await bob.post(f"/v1/channels/{news['id']}/followers", {}), 400, "INVALID_FORM_BODY")
    forum = (await knowing(chat_world.bob).create_channel(guild["id"], "forum", type=FORUM)).expect(200)
    refused(await bob.follow(news["id"], forum["id"]), 400, "INVALID_CHANNEL_TYPE")
    opened = await thread(chat_world.bob, target)
    refused(await bob.follow(news["id"], opened["id"]), 400, "INVALID_CHANNEL_TYPE")
    # To see the one and to manage webhooks in the other is enough.
    await allow(chat_world, chat_world.channel_id, chat_world.carol.id, allow=MANAGE_WEBHOOKS)
    (await carol.follow(news["id"], chat_world.channel_id)).expect(200)


async def test_a_channel_follows_no_more_than_it_may_have_webhooks(chat_world: World) -> None:
    news = await channel(chat_world, "news", ANNOUNCEMENT)
    target, alice = await channel(chat_world, "here", 0), chat_world.alice.rest
    for number in range(15):
        (await alice.post(f"/v1/channels/{target['id']}/webhooks", {"name": f"number {number}"})).expect(200)
    refused(await alice.follow(news["id"], target["id"]), 400, "MAX_WEBHOOKS_PER_CHANNEL")


@pytest.mark.rule("001.features.7")
async def test_a_published_message_is_copied_edited_and_deleted_everywhere(chat_world: World) -> None:
    news, target = await followed(chat_world)
    at_bob, at_carol = await chat_world.bob.connect(), await chat_world.carol.connect()
    alice = chat_world.alice.rest
    embeds = [{"title": "All about it", "description": "at length"}]
    said = (await alice.send_message(news, f"hello @everyone <@{chat_world.bob.id}>", embeds=embeds)).expect(200)
    published = (await alice.crosspost(news, said["id"])).expect(200)
    assert (published["id"], published["flags"]) == (said["id"], CROSSPOSTED)
    update = await at_carol.expect("MESSAGE_UPDATE", where=lambda data: data["id"] == said["id"])
    assert update.data["flags"] == CROSSPOSTED

    copy = await copy_at(at_bob)
    assert (copy["channel_id"], copy["type"], copy["flags"], copy["content"]) == (
        target,
        0,
        IS_CROSSPOST,
        said["content"],
    )
    assert copy["author"]["bot"] is True
    assert copy["author"]["username"].endswith("#news")
    assert copy["webhook_id"] == copy["author"]["id"]
    reference = {"channel_id": news, "message_id": said["id"], "guild_id": chat_world.guild_id, "type": 0}
    assert copy["message_reference"] == reference
    assert copy["embeds"][0]["title"] == "All about it"
    # It was said to others: nobody is notified of the copy.
    assert (copy["mention_everyone"], copy["mentions"]) == (False, [])
    assert "referenced_message" not in copy
    stored = (await chat_world.bob.rest.messages(target)).expect(200)[0]
    assert (stored["id"], stored["content"], stored["message_reference"]) == (copy["id"], said["content"], reference)

    # Once more changes nothing and makes no second copy; an edit makes an edit.
    assert (await alice.crosspost(news, said["id"])).expect(200)["flags"] == CROSSPOSTED
    (await alice.edit_message(news, said["id"], "hello, all")).expect(200)
    edited = await copy_at(at_bob, "MESSAGE_UPDATE")
    assert (edited["id"], edited["content"]) == (copy["id"], "hello, all")
    assert edited["edited_timestamp"] is not None
    # What happens to the message that is not in it does not concern the copy.
    reaction = f"/v1/channels/{news}/messages/{said['id']}/reactions/%F0%9F%91%8D/@me"
    (await chat_world.bob.rest.put(reaction)).expect(204)
    hidden = {"flags": SUPPRESS_EMBEDS, "content": "hello, everybody"}
    (await alice.patch(f"/v1/channels/{news}/messages/{said['id']}", hidden)).expect(200)
    hushed = await copy_at(at_bob, "MESSAGE_UPDATE")
    assert (hushed["flags"], hushed["embeds"], hushed["content"]) == (
        IS_CROSSPOST | SUPPRESS_EMBEDS,
        [],
        "hello, everybody",
    )

    (await alice.delete_message(news, said["id"])).expect(204)
    gone = await copy_at(at_bob, "MESSAGE_UPDATE")
    assert (gone["id"], gone["content"], gone["embeds"]) == (copy["id"], "[Original Message Deleted]", [])
    assert gone["flags"] & SOURCE_DELETED
    copies = [message for message in (await chat_world.bob.rest.messages(target)).expect(200) if message["flags"] & 2]
    assert [message["id"] for message in copies] == [copy["id"]]


async def test_files_of_a_published_message(chat_world: World, autojump_clock: trio.testing.MockClock) -> None:
    news, _ = await followed(chat_world)
    at_bob, alice = await chat_world.bob.connect(), chat_world.alice.rest
    files = [("files[0]", "one.png", png()), ("files[1]", "two.txt", b"two")]
    body = form(files, b'{"content": "look", "attachments": [{"id": 0, "description": "a picture"}, {"id": 1}]}')
    said = (await post_form(alice, f"/v1/channels/{news}/messages", body)).expect(200)
    (await alice.crosspost(news, said["id"])).expect(200)
    copy = await copy_at(at_bob)
    assert [(file["filename"], file["description"]) for file in copy["attachments"]] == [
        ("one.png", "a picture"),
        ("two.txt", None),
    ]
    assert {file["id"] for file in copy["attachments"]}.isdisjoint(file["id"] for file in said["attachments"])
    kept = {"attachments": [{"id": said["attachments"][1]["id"]}]}
    (await alice.patch(f"/v1/channels/{news}/messages/{said['id']}", kept)).expect(200)
    edited = await copy_at(at_bob, "MESSAGE_UPDATE")
    assert [file["filename"] for file in edited["attachments"]] == ["two.txt"]
    # The copy keeps its file when the original goes in whichever way; only then it says so and loses it.
    url = edited["attachments"][0]["url"].partition("://")[2].partition("/")[2]
    assert (await chat_world.anyone.get("/" + url)).body == b"two"
    (await alice.delete(f"/v1/channels/{news}")).expect(204)
    await trio.sleep(600)
    gone = await copy_at(at_bob, "MESSAGE_UPDATE")
    assert (gone["attachments"], gone["content"]) == ([], "[Original Message Deleted]")


async def test_who_may_publish_what(chat_world: World) -> None:
    news = (await channel(chat_world, "news", ANNOUNCEMENT))["id"]
    alice, bob = chat_world.alice.rest, chat_world.bob.rest
    own = (await bob.send_message(news, "mine")).expect(200)
    (await bob.crosspost(news, own["id"])).expect(200)
    others = (await alice.send_message(news, "yours")).expect(200)
    refused(await bob.crosspost(news, others["id"]), 403, "MISSING_PERMISSIONS")
    await allow(chat_world, news, chat_world.bob.id, allow=MANAGE_MESSAGES)
    (await bob.crosspost(news, others["id"])).expect(200)
    await allow(chat_world, news, chat_world.bob.id, deny=SEND_MESSAGES)
    refused(await bob.crosspost(news, own["id"]), 403, "MISSING_PERMISSIONS")
    await allow(chat_world, news, chat_world.bob.id, deny=READ_MESSAGE_HISTORY)
    refused(await bob.crosspost(news, own["id"]), 404, "UNKNOWN_MESSAGE")
    refused(await alice.crosspost(news, "1"), 404, "UNKNOWN_MESSAGE")
    elsewhere = (await alice.send_message(chat_world.channel_id, "elsewhere")).expect(200)
    refused(await alice.crosspost(news, elsewhere["id"]), 404, "UNKNOWN_MESSAGE")
    refused(await alice.crosspost(chat_world.channel_id, elsewhere["id"]), 400, "ANNOUNCEMENT_CHANNEL_REQUIRED")
    # What the server says, what was carried here and copies are not published.
    await thread(chat_world.alice, news)
    told = (await knowing(chat_world.alice).messages(news)).expect(200)[0]
    assert told["type"] == 18
    refused(await alice.crosspost(news, told["id"]), 400, "INVALID_FORM_BODY", "message_id")
    reference = {"type": 1, "channel_id": chat_world.channel_id, "message_id": elsewhere["id"]}
    carried = (await alice.send_message(news, "", message_reference=reference)).expect(200)
    refused(await alice.crosspost(news, carried["id"]), 400, "INVALID_FORM_BODY", "message_id")
    silenced = (await chat_world.carol.rest.send_message(news, "mine")).expect(200)
    later = {"communication_disabled_until": iso_timestamp(SystemClock().now_ms() + 600_000)}
    (await alice.patch(f"/v1/guilds/{chat_world.guild_id}/members/{chat_world.carol.id}", later)).expect(200)
    refused(await chat_world.carol.rest.crosspost(news, silenced["id"]), 403, "COMMUNICATION_DISABLED")
    stranger = await chat_world.admin.rest.crosspost(news, own["id"])
    refused(stranger, 403, "MISSING_PERMISSIONS")


async def test_a_copy_is_the_followers_own(chat_world: World) -> None:
    news, target = await followed(chat_world)
    at_bob, alice, bob = await chat_world.bob.connect(), chat_world.alice.rest, chat_world.bob.rest
    said = (await alice.send_message(news, "one")).expect(200)
    (await alice.crosspost(news, said["id"])).expect(200)
    copy = await copy_at(at_bob)
    # Whoever moderates there deletes it, and it does not come back with the next change.
    (await bob.delete_message(target, copy["id"])).expect(204)
    (await alice.edit_message(news, said["id"], "two")).expect(200)
    second = (await alice.send_message(news, "three")).expect(200)
    (await alice.crosspost(news, second["id"])).expect(200)
    assert (await copy_at(at_bob))["content"] == "three"
    copies = [message for message in (await bob.messages(target)).expect(200) if message["flags"] & IS_CROSSPOST]
    assert [message["content"] for message in copies] == ["three"]
    # The webhook has a name that may be changed, and its copies stay when it goes.
    (webhook,) = (await bob.get(f"/v1/channels/{target}/webhooks")).expect(200)
    (await bob.patch(f"/v1/webhooks/{webhook['id']}", {"name": "The news"})).expect(200)
    third = (await alice.send_message(news, "four")).expect(200)
    (await alice.crosspost(news, third["id"])).expect(200)
    assert (await copy_at(at_bob))["author"]["username"] == "The news"
    (await bob.delete(f"/v1/webhooks/{webhook['id']}")).expect(204)
    (await alice.edit_message(news, third["id"], "five")).expect(200)
    (await alice.send_message(news, "unpublished")).expect(200)
    (await bob.send_message(target, "the end")).expect(200)
    await at_bob.expect("MESSAGE_CREATE", where=lambda data: data["content"] == "the end")
    contents = [message["content"] for message in (await bob.messages(target)).expect(200)]
    assert contents[:3] == ["the end", "four", "three"]


@pytest.mark.rule("001.features.6", "001.features.7")
async def test_publishing_is_switched_off(chat_world: World, autojump_clock: trio.testing.MockClock) -> None:
    news, target = await followed(chat_world)
    at_bob, alice, bob = await chat_world.bob.connect(), chat_world.alice.rest, chat_world.bob.rest
    said = (await alice.send_message(news, "before")).expect(200)
    other = (await alice.send_message(news, "never")).expect(200)
    (await alice.crosspost(news, said["id"])).expect(200)
    copy = await copy_at(at_bob)

    async def switch(*features: str) -> None:
        body = {"features": list(features)}
        (await chat_world.anyone.post(f"/v1/_dev/guilds/{chat_world.guild_id}", body)).expect(200)

    await switch("ANNOUNCEMENT_CHANNELS_DISABLED")
    for answer in (
        await alice.crosspost(news, other["id"]),
        await alice.crosspost(news, said["id"]),
        await alice.crosspost(chat_world.channel_id, said["id"]),
        await bob.follow(news, target),
        await alice.follow(news, chat_world.channel_id),
    ):
        refused(answer, 403, "FEATURE_TEMPORARILY_DISABLED")
    (await alice.edit_message(news, said["id"], "after")).expect(200)
    (await alice.delete_message(news, other["id"])).expect(204)
    await trio.sleep(300)
    (shown,) = [message for message in (await bob.messages(target)).expect(200) if message["flags"] & IS_CROSSPOST]
    assert (shown["id"], shown["content"], shown["edited_timestamp"]) == (copy["id"], "before", None)
    (await alice.delete_message(news, said["id"])).expect(204)
    await trio.sleep(300)
    (shown,) = [message for message in (await bob.messages(target)).expect(200) if message["flags"] & IS_CROSSPOST]
    assert (shown["content"], shown["flags"]) == ("before", IS_CROSSPOST)

    # Switched on again, it goes on with what is published from then on.
    await switch()
    new = (await alice.send_message(news, "again")).expect(200)
    (await alice.crosspost(news, new["id"])).expect(200)
    assert (await copy_at(at_bob))["content"] == "again"


@pytest.mark.rule("001.features.7")
async def test_publishing_is_switched_off_where_the_follower_is(chat_world: World) -> None:
    news, target = await followed(chat_world)
    bob, alice = chat_world.bob.rest, chat_world.alice.rest
    guild = (await bob.get(f"/v1/channels/{target}")).expect(200)["guild_id"]
    body = {"features": ["ANNOUNCEMENT_CHANNELS_DISABLED"]}
    (await chat_world.anyone.post(f"/v1/_dev/guilds/{guild}", body)).expect(200)
    refused(await bob.follow(news, target), 403, "FEATURE_TEMPORARILY_DISABLED")
    here = await channel(chat_world, "here", 0)
    (await alice.follow(news, here["id"])).expect(200)
    at_carol = await chat_world.carol.connect()
    said = (await alice.send_message(news, "for some")).expect(200)
    (await alice.crosspost(news, said["id"])).expect(200)
    assert (await copy_at(at_carol))["channel_id"] == here["id"]
    assert not [message for message in (await bob.messages(target)).expect(200) if message["flags"] & IS_CROSSPOST]


@pytest.mark.chat_settings(rate_limits=True)
async def test_a_channel_publishes_so_much_an_hour(chat_world: World, autojump_clock: trio.testing.MockClock) -> None:
    news = (await channel(chat_world, "news", ANNOUNCEMENT))["id"]
    alice = chat_world.alice.rest
    answers = []
    for number in range(11):
        said = (await alice.send_message(news, str(number))).expect(200)
        answers.append(await alice.crosspost(news, said["id"]))
        await trio.sleep(2)
    assert [answer.status for answer in answers] == [200] * 10 + [429]
    assert answers[-1].code == "RATE_LIMITED"


async def test_a_restart_forgets_no_copy(
    chat_world: World, chat_server: ChatServer, monkeypatch: pytest.MonkeyPatch, autojump_clock: trio.testing.MockClock
) -> None:
    news, target = await followed(chat_world)
    alice, bob = chat_world.alice.rest, chat_world.bob.rest
    kept = (await alice.send_message(news, "kept")).expect(200)
    at_bob = await chat_world.bob.connect()
    (await alice.crosspost(news, kept["id"])).expect(200)
    await copy_at(at_bob)
    with monkeypatch.context() as patch:
        # The server goes before it has looked again.
        patch.setattr("chat.domain.messages.crossposting.Crossposting.look_again", lambda self: None)
        said = (await alice.send_message(news, "before the restart")).expect(200)
        (await alice.crosspost(news, said["id"])).expect(200)
        (await alice.delete_message(news, kept["id"])).expect(204)
        copies = [message for message in (await bob.messages(target)).expect(200) if message["flags"] & IS_CROSSPOST]
        assert [message["content"] for message in copies] == ["kept"]
        await chat_server.restart()
    for _ in range(100):
        copies = [message for message in (await bob.messages(target)).expect(200) if message["flags"] & IS_CROSSPOST]
        if [message["content"] for message in copies] == ["before the restart", "[Original Message Deleted]"]:
            break
        await trio.sleep(0.1)
    assert [message["content"] for message in copies] == ["before the restart", "[Original Message Deleted]"]


async def test_threads_of_announcements(chat_world: World) -> None:
    news = (await channel(chat_world, "news", ANNOUNCEMENT))["id"]
    bob, at_carol = chat_world.bob.rest, await watch(chat_world.carol)
    said = (await chat_world.alice.rest.send_message(news, "news")).expect(200)
    for kind in (11, 12):
        refused(await knowing(chat_world.bob).start_thread(news, "x", type=kind), 400, "INVALID_CHANNEL_TYPE")
    below = (await knowing(chat_world.bob).start_thread_from(news, said["id"], "about it")).expect(201)
    assert (below["type"], below["id"]) == (10, said["id"])
    assert (await at_carol.expect("THREAD_CREATE")).data["type"] == 10
    bare = await thread(chat_world.bob, news)
    assert bare["type"] == 10
    (await bob.send_message(bare["id"], "x")).expect(200)
    refused(await chat_world.alice.rest.crosspost(bare["id"], said["id"]), 400, "INVALID_CHANNEL_TYPE")
    # A channel that holds threads keeps its type.
    change = await knowing(chat_world.alice).change_channel(news, type=0)
    refused(change, 400, "CHANNEL_HAS_THREADS")
    for thread_id in (below["id"], bare["id"]):
        (await knowing(chat_world.alice).delete(f"/v1/channels/{thread_id}")).expect(204)
    assert (await knowing(chat_world.alice).change_channel(news, type=0)).expect(200)["type"] == 0


async def test_a_forum_is_nothing_to_publish_in(chat_world: World) -> None:
    forum = await channel(chat_world, "forum", FORUM)
    made = await post(chat_world.bob, forum["id"])
    refused(await chat_world.bob.rest.crosspost(forum["id"], made["id"]), 400, "ANNOUNCEMENT_CHANNEL_REQUIRED")
