"""Searching messages over HTTP, as dialogues: who finds what, and what is refused."""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from chat.domain.messages import message_search
from chat.jobs import LONGEST_WAIT_SECONDS, JobRun
from chat.store.messages.message_search_entries import discrepancies
from chat.testing.rest_client import Response
from chat.testing.server import ChatServer
from chat.testing.world import Actor, World
from tests.messages.search_world import order_renewal

SEARCH = "/v1/search/messages"
KNOWS_THREADS = {"X-Service-Features": "channel_threads"}


async def search(actor: Actor, **members: Any) -> Response:
    """A search by somebody who knows threads."""
    return await actor.rest.request("POST", SEARCH, json=members, headers=KNOWS_THREADS)


async def hits(actor: Actor, **members: Any) -> list[str]:
    """The contents of what is found, newest first."""
    return [message["content"] for message in (await search(actor, **members)).expect(200)["messages"]]


async def test_what_was_written_a_moment_ago_is_found_and_what_was_changed_is_found_as_it_is(chat_world: World) -> None:
    alice, channel_id = chat_world.alice, chat_world.channel_id
    sent = (await alice.rest.send_message(channel_id, "the quick brown fox")).expect(200)
    assert await hits(chat_world.bob, context_channel_id=channel_id, content="QUICK fox") == ["the quick brown fox"]
    (await alice.rest.edit_message(channel_id, sent["id"], "the lazy dog")).expect(200)
    assert await hits(chat_world.bob, context_channel_id=channel_id, content="fox") == []
    assert await hits(chat_world.bob, context_channel_id=channel_id, content="dog laz") == ["the lazy dog"]
    assert await hits(chat_world.bob, context_channel_id=channel_id, exact_phrases=["dog lazy"]) == []
    (await alice.rest.delete_message(channel_id, sent["id"])).expect(204)
    assert await hits(chat_world.bob, context_channel_id=channel_id, content="lazy") == []


async def test_entries_of_an_earlier_version_are_renewed_while_people_search_and_write(
    chat_world: World, chat_server: ChatServer, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(message_search, "RENEWED_AT_ONCE", 2)
    alice, channel_id, database = chat_world.alice, chat_world.channel_id, chat_server.database
    sent = [(await alice.rest.send_message(channel_id, f"cat {number}")).expect(200)["id"] for number in range(9)]
    here = {"context_channel_id": channel_id, "author_id": [alice.id]}
    assert len(await hits(alice, **here, content="cat")) == 9
    step, progress = JobRun.step, list[int]()

    async def step_beside_others(run: JobRun, *arguments: Any) -> None:
        if len(progress) < 3:  # the oldest have entries of the old form still
            changed, gone = sent[len(progress)], sent[3 + len(progress)]
            (await alice.rest.edit_message(channel_id, changed, "dog")).expect(200)
            (await alice.rest.delete_message(channel_id, gone)).expect(204)
        await step(run, *arguments)
        progress.append(run.job.progress_current)
        gone_by = min(3, len(progress))
        assert len(await hits(alice, **here, content="cat")) == 9 - 2 * gone_by
        assert len(await hits(alice, **here, content="dog")) == gone_by

    monkeypatch.setattr(JobRun, "step", step_beside_others)
    total = await database.write(order_renewal)
    await trio.sleep(LONGEST_WAIT_SECONDS + 60)
    job = (await chat_world.admin.rest.get("/v1/admin/jobs/1")).expect(200)
    assert (job["status"], job["progress_current"], job["progress_total"]) == ("completed", 9, 9)
    assert (total, progress) == (9, [0, 2, 4, 4, 9])
    assert await database.write(discrepancies) == []


async def test_embeds_pins_authors_and_moments_are_filters(chat_world: World) -> None:
    alice, bot, channel_id = chat_world.alice, chat_world.bot, chat_world.channel_id
    embed = {"title": "a title", "description": "words of an embed are no words of the message"}
    (await bot.rest.send_message(channel_id, "by a bot", embeds=[embed])).expect(200)
    sent = (await alice.rest.send_message(channel_id, "by a person")).expect(200)
    here = {"context_channel_id": channel_id}
    assert await hits(alice, **here, author_type=["bot"]) == ["by a bot"]
    assert await hits(alice, **here, has=["embed"]) == ["by a bot"]
    assert await hits(alice, **here, exclude_has=["embed"], content="by") == ["by a person"]
    assert await hits(alice, **here, content="title") == []
    assert await hits(alice, **here, has=["poll"]) == []
    assert await hits(alice, **here, pinned=True) == []
    (await alice.rest.put(f"/v1/channels/{channel_id}/pins/{sent['id']}")).expect(204)
    assert await hits(alice, **here, pinned=True) == ["by a person"]
    (await alice.rest.delete(f"/v1/channels/{channel_id}/pins/{sent['id']}")).expect(204)
    assert await hits(alice, **here, pinned=True) == []
    day = sent["timestamp"][:10]
    assert set(await hits(alice, **here, during=day)) == {"by a bot", "by a person"}
    assert await hits(alice, **here, before="2020-01-01T00:00:00.000Z") == []
    assert await hits(alice, **here, after="2100-01-01T00:00:00.000Z") == []


async def test_what_is_deleted_by_the_hundred_is_found_no_more(chat_world: World) -> None:
    bot, channel_id = chat_world.bot, chat_world.channel_id
    ids = [(await bot.rest.send_message(channel_id, f"cat {number}")).expect(200)["id"] for number in range(5)]
    assert len(await hits(bot, context_channel_id=channel_id, content="cat")) == 5
    path = f"/v1/channels/{channel_id}/messages/bulk-delete"
    (await chat_world.alice.rest.post(path, {"message_ids": ids[:4]})).expect(204)
    assert await hits(bot, context_channel_id=channel_id, content="cat") == ["cat 4"]


async def test_conversations_are_found_by_those_in_them(chat_world: World) -> None:
    alice, bob, carol = chat_world.alice, chat_world.bob, chat_world.carol
    opened = (await alice.rest.post("/v1/users/@me/channels", {"recipient_id": bob.id})).expect(200)
    (await alice.rest.send_message(opened["id"], "between us")).expect(200)
    for actor, found in ((alice, ["between us"]), (bob, ["between us"]), (carol, [])):
        assert await hits(actor, scope="all_dms", content="between") == found
        assert await hits(actor, scope="all", content="between") == found
        assert await hits(actor, scope="all_guilds", content="between") == []
        assert await hits(actor, channel_ids=[opened["id"]], content="between") == found
    refused = await search(carol, context_channel_id=opened["id"], content="between")
    assert (refused.status, refused.code) == (404, "UNKNOWN_CHANNEL")


async def test_bots_search_where_they_are_told(chat_world: World) -> None:
    (await chat_world.alice.rest.send_message(chat_world.channel_id, "hear me")).expect(200)
    assert await hits(chat_world.bot, context_guild_id=chat_world.guild_id, content="hear") == ["hear me"]
    refused = await search(chat_world.bot, scope="all", content="hear")
    assert (refused.status, refused.code) == (400, "INVALID_FORM_BODY")


async def test_threads_are_found_by_those_who_know_threads(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    path = f"/v1/channels/{chat_world.channel_id}/threads"
    made = await alice.rest.request("POST", path, json={"name": "aside"}, headers=KNOWS_THREADS)
    (await alice.rest.send_message(made.expect(201)["id"], "in the thread")).expect(200)
    body = {"context_guild_id": chat_world.guild_id, "content": "thread"}
    assert await hits(bob, **body) == ["in the thread"]
    assert (await bob.rest.post(SEARCH, body)).expect(200)["messages"] == []


async def test_a_stranger_searches_nothing(chat_world: World) -> None:
    (await chat_world.alice.rest.send_message(chat_world.channel_id, "hear me")).expect(200)
    admin = chat_world.admin
    refused = await search(admin, context_guild_id=chat_world.guild_id, content="hear")
    assert (refused.status, refused.code) == (403, "MISSING_PERMISSIONS")
    assert await hits(admin, channel_ids=[chat_world.channel_id], content="hear") == []
    assert await hits(admin, scope="all", content="hear") == []
    assert (await chat_world.anyone.post(SEARCH, {"scope": "all"})).status == 401


HOSTILE = (
    '"',
    '"unbalanced',
    "* OR 1",
    "words:cat",
    "NEAR(cat dog, 5)",
    "^cat",
    "cat AND NOT (dog",
    "{words filters}: cat",
    "-cat + dog",
    "'; DROP TABLE messages; --",
    "%_\\",
    "\x00",
    "\x00cat\x00",
    "\ud83d\ude00 👨‍👩‍👧 🇩🇪",
    "\u202e\u200b\ufeff",
    "\ue000c1234",
    "a" * 1024,
    "a " * 512,
    '"' * 1024,
    "世" * 1024,
    "\u0300" * 1024,
    "ﷺ" * 1024,
    "🏳️‍🌈" * 170,
)


@pytest.mark.parametrize("text", HOSTILE)
async def test_nothing_in_a_text_is_an_operator_nor_an_error(
    chat_world: World, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(message_search, "SEARCH_SECONDS", 60.0)  # some take a second, on a busy machine more
    alice, channel_id = chat_world.alice, chat_world.channel_id
    (await alice.rest.send_message(channel_id, "cat words")).expect(200)
    (await alice.rest.send_message(channel_id, "dog")).expect(200)
    for members in (
        {"content": text},
        {"contents": [text] * 100},
        {"exact_phrases": [text] * 10},
        {"attachment_filename": [text] * 100},
        {"link_hostname": [text[:255]] * 100, "embed_provider": [text[:256]] * 50},
        {"content": text, "sort_by": "relevance", "attachment_extension": [text[:32]] * 50},
    ):
        answer = await search(alice, context_channel_id=channel_id, **members)
        assert answer.status in {200, 400}, (answer, members)
        if answer.status == 400:
            assert answer.code == "INVALID_FORM_BODY"


@pytest.mark.parametrize(
    "members",
    [
        {},
        {"content": ""},
        {"content": "x" * 1025},
        {"contents": ["x"] * 101},
        {"page": 0},
        {"hits_per_page": 26},
        {"cursor": ["x"]},
        {"cursor": ["10001"], "sort_by": "relevance", "scope": "all"},
        {"has": ["teeth"]},
        {"during": "yesterday"},
        {"channel_ids": [str(number) for number in range(501)]},
        {"channel_id": ["5000"], "channel_ids": [str(number) for number in range(500)]},
        {"author_id": ["-1"]},
        {"scope": "everything"},
    ],
)
async def test_what_is_out_of_bounds_is_refused(chat_world: World, members: dict[str, Any]) -> None:
    refused = await search(chat_world.alice, **members)
    assert (refused.status, refused.code) == (400, "INVALID_FORM_BODY")


@pytest.mark.chat_settings(search="off")
async def test_an_instance_without_search_says_so(chat_world: World) -> None:
    refused = await search(chat_world.alice, context_guild_id=chat_world.guild_id, content="x")
    assert (refused.status, refused.code) == (403, "FEATURE_TEMPORARILY_DISABLED")


async def test_an_index_that_is_far_behind_is_not_ready_and_becomes_so(
    chat_server: ChatServer, chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    channel_id = int(chat_world.channel_id)

    def old_messages(connection: sqlite3.Connection) -> None:
        connection.executemany(
            "INSERT INTO messages (id, channel_id, author_id, type, content) VALUES (?, ?, ?, 0, 'old')",
            [(number, channel_id, int(chat_world.alice.id)) for number in range(1, 5_000)],
        )

    await chat_server.database.write(old_messages)
    answer = await search(chat_world.alice, context_channel_id=chat_world.channel_id, content="old")
    assert (answer.status, answer.json()) == (202, {"indexing": True})
    with trio.fail_after(60):
        while answer.status == 202:
            await trio.sleep(1)
            answer = await search(chat_world.alice, context_channel_id=chat_world.channel_id, content="old")
    assert answer.expect(200)["total"] == 4_999
