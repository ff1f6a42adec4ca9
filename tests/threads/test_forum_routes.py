"""Forums and media channels: what they are made of, their posts, tags and pins."""

from __future__ import annotations

import json
from typing import Any

import pytest
import trio.testing

from chat.testing.world import World
from tests.threads.thread_world import (
    FORUM,
    MANAGE_THREADS,
    MEDIA,
    SEND_MESSAGES,
    SEND_MESSAGES_IN_THREADS,
    VIEW_CHANNEL,
    allow,
    channel,
    knowing,
    post,
    refused,
    watch,
)
from tests.webhooks.surfaces import form, post_form

TAGS: list[dict[str, Any]] = [
    {"name": "question", "emoji_name": "\N{BLACK QUESTION MARK ORNAMENT}"},
    {"name": "solved", "moderated": True},
]


async def tagged_forum(world: World, **members: Any) -> tuple[dict[str, Any], str, str]:
    """A forum with a tag for everybody and one for moderators, and the ids of these."""
    forum = await channel(world, "help", FORUM, available_tags=TAGS, **members)
    question, solved = (tag["id"] for tag in forum["available_tags"])
    return forum, question, solved


async def test_a_forum_is_made_changed_and_shown_to_those_who_know_threads(chat_world: World) -> None:
    at_bob, at_carol = await watch(chat_world.bob), await chat_world.carol.connect()
    forum = await channel(
        chat_world,
        "help",
        FORUM,
        topic="read this first",
        available_tags=TAGS,
        default_reaction_emoji={"emoji_name": "\N{THUMBS UP SIGN}"},
        default_sort_order=1,
        default_forum_layout=2,
        default_tag_setting="match_all",
        default_auto_archive_duration=1_440,
        default_thread_rate_limit_per_user=30,
        flags=1 << 4 | 1 << 15 | 1,
    )
    assert (forum["type"], forum["topic"]) == (FORUM, "read this first")
    assert [(tag["name"], tag["moderated"]) for tag in forum["available_tags"]] == [
        ("question", False),
        ("solved", True),
    ]
    assert forum["default_reaction_emoji"] == {"emoji_id": None, "emoji_name": "\N{THUMBS UP SIGN}"}
    assert (forum["default_sort_order"], forum["default_forum_layout"], forum["default_tag_setting"]) == (
        1,
        2,
        "match_all",
    )
    assert (forum["default_auto_archive_duration"], forum["default_thread_rate_limit_per_user"]) == (1_440, 30)
    assert forum["flags"] == 1 << 4  # a forum has nothing to download, and other bits are not its own
    assert (await at_bob.expect("CHANNEL_CREATE")).data["available_tags"] == forum["available_tags"]

    # Tags are made, named, ordered and deleted by saying which there shall be.
    kept, gone = forum["available_tags"][1], forum["available_tags"][0]
    wished = [{"name": "idea"}, {**kept, "name": "done"}]
    changed = (await knowing(chat_world.alice).change_channel(forum["id"], name="help", available_tags=wished)).expect(
        200
    )
    assert [tag["name"] for tag in changed["available_tags"]] == ["idea", "done"]
    assert changed["available_tags"][1]["id"] == kept["id"]
    assert changed["available_tags"][0]["id"] not in (kept["id"], gone["id"])
    assert (await at_bob.expect("CHANNEL_UPDATE")).data["available_tags"] == changed["available_tags"]
    unknown = await knowing(chat_world.alice).change_channel(
        forum["id"], name="help", available_tags=[{"id": gone["id"], "name": "back"}]
    )
    refused(unknown, 404, "UNKNOWN_FORUM_TAG")

    plain = (
        await knowing(chat_world.alice).change_channel(
            forum["id"],
            name="help",
            **dict.fromkeys(
                (
                    "available_tags",
                    "default_reaction_emoji",
                    "default_sort_order",
                    "default_forum_layout",
                    "default_tag_setting",
                    "flags",
                )
            ),
        )
    ).expect(200)
    assert (plain["available_tags"], plain["default_reaction_emoji"], plain["default_sort_order"]) == ([], None, None)
    assert (plain["default_forum_layout"], plain["default_tag_setting"], plain["flags"]) == (0, "match_some", 0)

    # Whoever knows no threads has heard of none of it.
    (await chat_world.alice.rest.send_message(chat_world.channel_id, "the end")).expect(200)
    await at_carol.expect("MESSAGE_CREATE")
    assert not [payload.name for payload in at_carol.dispatches if (payload.name or "").startswith("CHANNEL_")]
    listed = (await knowing(chat_world.carol).get(f"/v1/guilds/{chat_world.guild_id}/channels")).expect(200)
    assert forum["id"] in {entry["id"] for entry in listed}


async def test_a_media_channel_has_no_layout_but_may_hide_downloads(chat_world: World) -> None:
    media = await channel(chat_world, "pictures", MEDIA, flags=1 << 15, default_forum_layout=1)
    assert media["flags"] == 1 << 15
    assert "default_forum_layout" not in media
    made = await post(chat_world.bob, media["id"])
    assert (made["type"], made["parent_id"]) == (11, media["id"])


@pytest.mark.parametrize(
    ("members", "path"),
    [
        ({"available_tags": [{"name": ""}]}, "available_tags.0"),
        ({"available_tags": [{"name": "  "}]}, "available_tags.0.name"),
        ({"available_tags": [{"name": "x" * 21}]}, "available_tags.0.name"),
        ({"available_tags": [{"name": "same"}, {"name": "SAME"}]}, "available_tags.1.name"),
        ({"available_tags": [{"name": "x", "emoji_id": "5"}]}, "available_tags.0.emoji_id"),
        ({"available_tags": [{"name": str(number)} for number in range(21)]}, "available_tags"),
        ({"default_reaction_emoji": {"emoji_id": "5"}}, "default_reaction_emoji.emoji_id"),
        ({"default_sort_order": 2}, "default_sort_order"),
        ({"default_forum_layout": 3}, "default_forum_layout"),
        ({"default_tag_setting": "match_none"}, "default_tag_setting"),
        ({"default_auto_archive_duration": 61}, "default_auto_archive_duration"),
        ({"default_thread_rate_limit_per_user": -1}, "default_thread_rate_limit_per_user"),
        ({"flags": -1}, "flags"),
    ],
)
async def test_what_a_forum_cannot_be(chat_world: World, members: dict[str, Any], path: str) -> None:
    client = knowing(chat_world.alice)
    answer = await client.create_channel(chat_world.guild_id, "help", type=FORUM, **members)
    assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY")
    assert path in {error["path"] for error in answer.json()["errors"]}
    forum = await channel(chat_world, "help", FORUM)
    again = await client.change_channel(forum["id"], name="help", **members)
    assert (again.status, again.code) == (400, "INVALID_FORM_BODY")


async def test_a_post_begins_with_its_message(chat_world: World) -> None:
    forum, question, _ = await tagged_forum(chat_world, default_auto_archive_duration=60)
    at_bob, at_carol, at_bot = await watch(chat_world.bob), await watch(chat_world.carol), await watch(chat_world.bot)
    knows_nothing = await chat_world.carol.connect()
    made = await post(
        chat_world.bob, forum["id"], "how?", "please <@" + chat_world.carol.id + ">", applied_tags=[question, question]
    )
    assert (made["name"], made["type"], made["owner_id"], made["applied_tags"]) == (
        "how?",
        11,
        chat_world.bob.id,
        [question],
    )
    assert made["thread_metadata"]["auto_archive_duration"] == 60
    assert (made["message"]["id"], made["message"]["channel_id"]) == (made["id"], made["id"])
    # What opens a post does not count as written in it; whoever it names is in it.
    assert (made["message_count"], made["total_message_sent"], made["member_count"]) == (0, 0, 2)
    assert made["last_message_id"] == made["id"]
    assert made["member"]["user_id"] == chat_world.bob.id

    for client in (at_bob, at_carol, at_bot):
        created = (await client.expect("THREAD_CREATE")).data
        assert (created["id"], created["newly_created"], created["applied_tags"]) == (made["id"], True, [question])
        assert ("member" in created) is (client is at_bob)
    assert (await at_carol.expect("THREAD_CREATE")).data["member"]["user_id"] == chat_world.carol.id
    assert (await at_bob.expect("THREAD_MEMBERS_UPDATE")).data["member_count"] == 2
    for client in (at_bob, at_carol, at_bot):
        said = (await client.expect("MESSAGE_CREATE")).data
        assert (said["id"], said["channel_type"]) == (made["id"], 11)
    first = (await knowing(chat_world.carol).messages(made["id"])).expect(200)
    assert [message["content"] for message in first] == [f"please <@{chat_world.carol.id}>"]

    (await chat_world.carol.rest.send_message(made["id"], "like this")).expect(200)
    counted = (await knowing(chat_world.bob).get(f"/v1/channels/{made['id']}")).expect(200)
    assert (counted["message_count"], counted["total_message_sent"]) == (1, 1)
    # Nothing of this reached a session that knows no threads.
    (await chat_world.alice.rest.send_message(chat_world.channel_id, "the end")).expect(200)
    assert (await knows_nothing.expect("MESSAGE_CREATE")).data["content"] == "the end"
    entries = (await chat_world.alice.rest.get(f"/v1/guilds/{chat_world.guild_id}/audit-logs")).expect(200)
    logged = [entry for entry in entries["audit_log_entries"] if entry["action_type"] == 110]
    assert [(entry["user_id"], entry["target_id"]) for entry in logged] == [(chat_world.bob.id, made["id"])]


async def test_a_post_with_files(chat_world: World) -> None:
    forum = await channel(chat_world, "help", FORUM)
    path = f"/v1/channels/{forum['id']}/threads"
    payload = {"name": "log", "message": {"content": "", "attachments": [{"id": 0, "description": "all of it"}]}}
    client = knowing(chat_world.bob)
    file = ("files[0]", "log.txt", b"line\n" * 100)
    made = (await post_form(client, path, form([file], json.dumps(payload).encode()))).expect(201)
    (shown,) = made["message"]["attachments"]
    assert (shown["filename"], shown["size"], shown["description"]) == ("log.txt", 500, "all of it")
    # A post is a message: none with nothing in it, and none without it.
    refused(await client.start_thread(forum["id"], "x", message={"content": " "}), 400, "CANNOT_SEND_EMPTY_MESSAGE")
    refused(await client.start_thread(forum["id"], "x"), 400, "INVALID_FORM_BODY", "message")
    body = form([file], json.dumps({"name": "x"}).encode())
    refused(await post_form(client, path, body), 400, "INVALID_FORM_BODY", "message")
    elsewhere = f"/v1/channels/{chat_world.channel_id}/threads"
    refused(await post_form(client, elsewhere, body), 400, "INVALID_FORM_BODY", "files", "TOO_MANY_FILES")
    started = (await post_form(client, elsewhere, form([], b'{"name": "by a form", "type": 11}'))).expect(201)
    assert started["name"] == "by a form"
    found = (await client.search_threads(forum["id"])).expect(200)
    assert [thread["id"] for thread in found["threads"]] == [made["id"]]
    assert [message["id"] for message in found["first_messages"]] == [made["id"]]


async def test_a_post_may_begin_with_a_forward(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    forum = await channel(chat_world, "help", FORUM)
    hidden = await channel(chat_world, "hidden", 0)
    await allow(chat_world, hidden["id"], bob.id, deny=VIEW_CHANNEL)
    sent = (await alice.rest.send_message(hidden["id"], "the original")).expect(200)
    wanted = {"message_reference": {"type": 1, "channel_id": hidden["id"], "message_id": sent["id"]}}
    refused(await knowing(bob).start_thread(forum["id"], "carried", message=wanted), 403, "MISSING_PERMISSIONS")
    made = (await knowing(alice).start_thread(forum["id"], "carried", message=wanted)).expect(201)
    first = (await knowing(bob).get(f"/v1/channels/{made['id']}/messages/{made['id']}")).expect(200)
    assert [entry["content"] for entry in first["message_snapshots"]] == ["the original"]
    assert made["message"]["message_snapshots"] == first["message_snapshots"]


async def test_who_may_post_and_who_may_answer(chat_world: World) -> None:
    forum = await channel(chat_world, "help", FORUM)
    await allow(chat_world, forum["id"], chat_world.bob.id, deny=SEND_MESSAGES)
    await allow(chat_world, forum["id"], chat_world.carol.id, deny=SEND_MESSAGES_IN_THREADS)
    refused(
        await knowing(chat_world.bob).start_thread(forum["id"], "x", message={"content": "x"}),
        403,
        "MISSING_PERMISSIONS",
    )
    made = await post(chat_world.carol, forum["id"])
    (await chat_world.bob.rest.send_message(made["id"], "an answer")).expect(200)
    refused(await chat_world.carol.rest.send_message(made["id"], "thanks"), 403, "MISSING_PERMISSIONS")
    # Nobody writes in the forum itself, and a forum has no threads of messages.
    refused(await chat_world.alice.rest.send_message(forum["id"], "x"), 400, "CANNOT_SEND_MESSAGES_IN_NON_TEXT_CHANNEL")


async def test_the_forum_slows_posts_and_each_post_its_messages(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    forum = await channel(chat_world, "help", FORUM, rate_limit_per_user=60, default_thread_rate_limit_per_user=10)
    made = await post(chat_world.bob, forum["id"])
    assert made["rate_limit_per_user"] == 10
    second = await knowing(chat_world.bob).start_thread(forum["id"], "again", message={"content": "x"})
    refused(second, 400, "SLOWMODE_RATE_LIMITED")
    (await chat_world.bob.rest.send_message(made["id"], "one")).expect(200)
    refused(await chat_world.bob.rest.send_message(made["id"], "two"), 400, "SLOWMODE_RATE_LIMITED")
    await chat_world.anyone.advance_clock(10_000)
    (await chat_world.bob.rest.send_message(made["id"], "two")).expect(200)
    await chat_world.anyone.advance_clock(50_000)
    await post(chat_world.bob, forum["id"])


async def test_tags_of_posts(chat_world: World) -> None:
    forum, question, solved = await tagged_forum(chat_world)
    client = knowing(chat_world.bob)
    message = {"content": "x"}
    for tags, status, code in (
        (["1"], 404, "UNKNOWN_FORUM_TAG"),
        ([solved], 403, "MISSING_PERMISSIONS"),
        ([str(number) for number in range(6)], 400, "INVALID_FORM_BODY"),
    ):
        refused(await client.start_thread(forum["id"], "x", message=message, applied_tags=tags), status, code)
    made = await post(chat_world.bob, forum["id"], applied_tags=[question])
    refused(await client.change_channel(made["id"], applied_tags=[question, solved]), 403, "MISSING_PERMISSIONS")
    moderator = knowing(chat_world.alice)
    both = (await moderator.change_channel(made["id"], applied_tags=[question, solved])).expect(200)
    assert both["applied_tags"] == [question, solved]
    # What a moderator gave stays when the owner changes the rest.
    assert (await client.change_channel(made["id"], applied_tags=[solved])).expect(200)["applied_tags"] == [solved]
    refused(await client.change_channel(made["id"], applied_tags=[]), 403, "MISSING_PERMISSIONS")
    in_text = (await client.start_thread(chat_world.channel_id, "aside")).expect(201)
    refused(
        await client.change_channel(in_text["id"], applied_tags=[question]), 400, "INVALID_FORM_BODY", "applied_tags"
    )


async def test_a_forum_that_asks_for_tags(chat_world: World) -> None:
    forum, question, _ = await tagged_forum(chat_world, flags=1 << 4)
    client, message = knowing(chat_world.bob), {"content": "x"}
    refused(await client.start_thread(forum["id"], "x", message=message), 400, "FORUM_TAG_REQUIRED")
    made = await post(chat_world.bob, forum["id"], applied_tags=[question])
    refused(await client.change_channel(made["id"], applied_tags=[]), 400, "FORUM_TAG_REQUIRED")
    moderated = await channel(
        chat_world, "news", FORUM, flags=1 << 4, available_tags=[{"name": "official", "moderated": True}]
    )
    answer = await client.start_thread(moderated["id"], "x", message=message)
    refused(answer, 400, "NO_TAGS_AVAILABLE_TO_NON_MODERATORS")
    await allow(chat_world, moderated["id"], chat_world.bob.id, allow=MANAGE_THREADS)
    answer = await client.start_thread(moderated["id"], "x", message=message)
    refused(answer, 400, "FORUM_TAG_REQUIRED")
    await post(chat_world.bob, moderated["id"], applied_tags=[moderated["available_tags"][0]["id"]])


async def test_one_post_is_pinned(chat_world: World) -> None:
    forum = await channel(chat_world, "help", FORUM)
    first, second = await post(chat_world.bob, forum["id"]), await post(chat_world.bob, forum["id"])
    refused(await knowing(chat_world.bob).change_channel(first["id"], flags=2), 403, "MISSING_PERMISSIONS")
    moderator, at_carol = knowing(chat_world.alice), await watch(chat_world.carol)
    assert (await moderator.change_channel(first["id"], flags=2 | 16)).expect(200)["flags"] == 2
    assert (await at_carol.expect("THREAD_UPDATE")).data["flags"] == 2
    refused(await moderator.change_channel(second["id"], flags=2), 400, "MAX_PINNED_THREADS_IN_FORUM")
    (await moderator.change_channel(first["id"], flags=0)).expect(200)
    (await moderator.change_channel(second["id"], flags=2)).expect(200)
    # An archived post is not shown, so another takes its place; then it cannot come back as a pinned one.
    (await moderator.change_channel(second["id"], archived=True)).expect(200)
    (await moderator.change_channel(first["id"], flags=2)).expect(200)
    refused(await moderator.change_channel(second["id"], archived=False), 400, "MAX_PINNED_THREADS_IN_FORUM")
    (await moderator.change_channel(second["id"], archived=False, flags=0)).expect(200)


async def test_searching_a_forum(chat_world: World) -> None:
    forum, question, solved = await tagged_forum(chat_world)
    client = knowing(chat_world.bob)
    one = await post(chat_world.bob, forum["id"], "How to sing", applied_tags=[question])
    two = await post(chat_world.alice, forum["id"], "how to dance", applied_tags=[question, solved])
    three = await post(chat_world.bob, forum["id"], "Rules")

    async def found(**query: Any) -> list[str]:
        answer = (await client.search_threads(forum["id"], **query)).expect(200)
        return [
            ["one", "two", "three"][[one["id"], two["id"], three["id"]].index(each["id"])] for each in answer["threads"]
        ]

    assert await found() == ["three", "two", "one"]
    assert await found(name="HOW") == ["two", "one"]
    assert await found(name="to sing") == ["one"]
    assert await found(tag=solved) == ["two"]
    assert await found(tag=f"{question},{solved}") == ["two", "one"]
    assert await found(tag=f"{question},{solved}", tag_setting="match_all") == ["two"]
    assert await found(sort_by="creation_time", sort_order="asc") == ["one", "two", "three"]
    (await chat_world.bob.rest.send_message(one["id"], "la la")).expect(200)
    assert await found() == ["one", "three", "two"]
    assert await found(limit=1, offset=1) == ["three"]
    assert await found(min_id=one["id"], max_id=three["id"]) == ["two"]
    (await knowing(chat_world.bob).change_channel(three["id"], archived=True)).expect(200)
    assert (await found(archived="true"), await found(archived="false")) == (["three"], ["one", "two"])
    page = (await client.search_threads(forum["id"], limit=1)).expect(200)
    assert (page["has_more"], page["total_results"]) == (True, 3)
    for query in ({"limit": 26}, {"offset": -1}, {"sort_by": "mood"}, {"tag": "x"}, {"min_id": "x"}):
        refused(await client.search_threads(forum["id"], **query), 400, "INVALID_FORM_BODY")
