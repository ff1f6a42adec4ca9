"""Changing and deleting threads: who may do what, the archive and the clock, what is told of it.

Area: threads. Rules: 001.leave.
"""

from __future__ import annotations

from typing import Any

import pytest
import trio.testing

from chat.clock import SystemClock, iso_timestamp
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.threads.thread_world import (
    CREATE_PRIVATE_THREADS,
    CREATE_PUBLIC_THREADS,
    MANAGE_THREADS,
    READ_MESSAGE_HISTORY,
    SEND_MESSAGES,
    SEND_MESSAGES_IN_THREADS,
    VIEW_CHANNEL,
    allow,
    channel,
    knowing,
    refused,
    thread,
    watch,
)


async def test_a_moderator_changes_everything(chat_world: World) -> None:
    private = await thread(chat_world.bob, chat_world.channel_id, type=12)
    moderator, at_bob = knowing(chat_world.alice), await watch(chat_world.bob)
    wished = {
        "name": "renamed",
        "auto_archive_duration": 60,
        "rate_limit_per_user": 30,
        "locked": True,
        "invitable": False,
    }
    changed = (await moderator.change_channel(private["id"], **wished)).expect(200)
    metadata = changed["thread_metadata"]
    assert (changed["name"], changed["rate_limit_per_user"]) == ("renamed", 30)
    assert (metadata["auto_archive_duration"], metadata["locked"], metadata["invitable"]) == (60, True, False)
    assert metadata["archived"] is False
    told = (await at_bob.expect("THREAD_UPDATE")).data
    assert {**told, "member": None} == {**changed, "member": None}
    # What changes nothing is no change: nobody is told, and the log has one entry.
    (await moderator.change_channel(private["id"], name="renamed")).expect(200)
    (await moderator.change_channel(private["id"])).expect(200)
    (await moderator.change_channel(private["id"], locked=False)).expect(200)
    assert (await at_bob.expect("THREAD_UPDATE")).data["thread_metadata"]["locked"] is False
    log = (await chat_world.alice.rest.get(f"/v1/guilds/{chat_world.guild_id}/audit-logs")).expect(200)
    entries = [entry for entry in log["audit_log_entries"] if entry["action_type"] == 111]
    assert len(entries) == 2
    changes = {change["key"]: (change["old_value"], change["new_value"]) for change in entries[1]["changes"]}
    assert changes == {
        "name": ("aside", "renamed"),
        "auto_archive_duration": (4_320, 60),
        "rate_limit_per_user": (0, 30),
        "locked": (False, True),
        "invitable": (True, False),
    }


@pytest.mark.parametrize(
    "members",
    [
        {"name": "x" * 101},
        {"name": None},
        {"archived": "yes"},
        {"locked": 1},
        {"auto_archive_duration": 61},
        {"rate_limit_per_user": 21_601},
        {"rate_limit_per_user": -1},
        {"applied_tags": ["x"]},
        {"applied_tags": [str(number) for number in range(6)]},
        {"flags": -1},
        {"flags": 2},
    ],
)
async def test_what_a_thread_cannot_be(chat_world: World, members: dict[str, Any]) -> None:
    opened = await thread(chat_world.alice, chat_world.channel_id)
    refused(await knowing(chat_world.alice).change_channel(opened["id"], **members), 400, "INVALID_FORM_BODY")


async def test_who_may_change_what(chat_world: World) -> None:
    opened = await thread(chat_world.bob, chat_world.channel_id)
    owner, other, moderator = knowing(chat_world.bob), knowing(chat_world.carol), knowing(chat_world.alice)
    for_moderators = ({"locked": True}, {"rate_limit_per_user": 5})
    for_owners = ({"name": "mine"}, {"auto_archive_duration": 60}, {"archived": True})
    for change in for_moderators:
        refused(await owner.change_channel(opened["id"], **change), 403, "MISSING_PERMISSIONS")
    for change in (*for_moderators, *for_owners):
        refused(await other.change_channel(opened["id"], **change), 403, "MISSING_PERMISSIONS")
    for change in for_owners:
        (await owner.change_channel(opened["id"], **change)).expect(200)
    # An archived thread does not change, unless it comes back; whoever may write in it brings it back.
    refused(await owner.change_channel(opened["id"], name="again"), 400, "THREAD_ARCHIVED")
    refused(await moderator.change_channel(opened["id"], name="again"), 400, "THREAD_ARCHIVED")
    await allow(chat_world, chat_world.channel_id, chat_world.carol.id, deny=SEND_MESSAGES_IN_THREADS)
    refused(await other.change_channel(opened["id"], archived=False), 403, "MISSING_PERMISSIONS")
    await allow(chat_world, chat_world.channel_id, chat_world.carol.id, allow=SEND_MESSAGES_IN_THREADS)
    assert (await other.change_channel(opened["id"], archived=False)).expect(200)["thread_metadata"][
        "archived"
    ] is False
    # A locked one is the moderators' alone.
    (await moderator.change_channel(opened["id"], locked=True)).expect(200)
    refused(await owner.change_channel(opened["id"], name="again"), 400, "THREAD_LOCKED")
    refused(await chat_world.bob.rest.send_message(opened["id"], "hello?"), 400, "THREAD_LOCKED")
    (await chat_world.alice.rest.send_message(opened["id"], "closed")).expect(200)
    (await moderator.change_channel(opened["id"], archived=True)).expect(200)
    refused(await owner.change_channel(opened["id"], archived=False), 400, "THREAD_LOCKED")
    (await moderator.change_channel(opened["id"], locked=False)).expect(200)  # in the archive too
    (await owner.change_channel(opened["id"], archived=False)).expect(200)


async def test_a_silenced_member_changes_no_threads(chat_world: World) -> None:
    opened = await thread(chat_world.bob, chat_world.channel_id)
    await allow(chat_world, chat_world.channel_id, chat_world.bob.id, allow=MANAGE_THREADS)
    until = {"communication_disabled_until": iso_timestamp(SystemClock().now_ms() + 600_000)}
    member = f"/v1/guilds/{chat_world.guild_id}/members/{chat_world.bob.id}"
    (await chat_world.alice.rest.patch(member, until)).expect(200)
    client = knowing(chat_world.bob)
    for answer in (
        await client.change_channel(opened["id"], name="x"),
        await client.delete(f"/v1/channels/{opened['id']}"),
        await client.start_thread(chat_world.channel_id, "x"),
        await client.join_thread(opened["id"], chat_world.carol.id),
        await chat_world.bob.rest.send_message(opened["id"], "x"),
    ):
        refused(answer, 403, "COMMUNICATION_DISABLED")


async def test_who_may_start_threads(chat_world: World) -> None:
    client, where = knowing(chat_world.bob), chat_world.channel_id
    await allow(chat_world, where, chat_world.bob.id, deny=CREATE_PUBLIC_THREADS)
    refused(await client.start_thread(where, "x"), 403, "MISSING_PERMISSIONS")
    (await client.start_thread(where, "x", type=12)).expect(201)
    said = (await chat_world.bob.rest.send_message(where, "topic")).expect(200)
    refused(await client.start_thread_from(where, said["id"], "x"), 403, "MISSING_PERMISSIONS")
    await allow(chat_world, where, chat_world.bob.id, deny=CREATE_PRIVATE_THREADS | SEND_MESSAGES)
    refused(await client.start_thread(where, "x", type=12), 403, "MISSING_PERMISSIONS")
    # Writing above and writing inside are two rights.
    opened = (await client.start_thread(where, "x")).expect(201)
    (await chat_world.bob.rest.send_message(opened["id"], "inside")).expect(200)
    refused(await chat_world.bob.rest.send_message(where, "above"), 403, "MISSING_PERMISSIONS")
    await allow(chat_world, where, chat_world.bob.id, deny=READ_MESSAGE_HISTORY)
    refused(await client.start_thread_from(where, said["id"], "x"), 404, "UNKNOWN_MESSAGE")
    refused(await client.archived_threads(where), 403, "MISSING_PERMISSIONS")
    await allow(chat_world, where, chat_world.bob.id, deny=VIEW_CHANNEL)
    refused(await client.get(f"/v1/channels/{opened['id']}"), 404, "UNKNOWN_CHANNEL")
    refused(await chat_world.bob.rest.send_message(opened["id"], "x"), 404, "UNKNOWN_CHANNEL")


async def test_a_message_shows_its_thread(chat_world: World) -> None:
    where, client = chat_world.channel_id, knowing(chat_world.bob)
    at_carol, knows_nothing = await watch(chat_world.carol), await chat_world.carol.connect()
    said = (await chat_world.alice.rest.send_message(where, "topic")).expect(200)
    opened = (await client.start_thread_from(where, said["id"], "about it")).expect(201)
    update = (await at_carol.expect("MESSAGE_UPDATE")).data
    assert update["flags"] == 1 << 5
    assert (update["thread"]["id"], update["thread"]["name"]) == (said["id"], "about it")
    plain = (await knows_nothing.expect("MESSAGE_UPDATE")).data
    assert plain["flags"] == 0
    assert "thread" not in plain
    # Inside it begins with the message that has it, which does not count.
    first = (await at_carol.expect("MESSAGE_CREATE", where=lambda data: data["channel_id"] == opened["id"])).data
    assert (first["type"], first["content"], first["channel_type"]) == (21, "", 11)
    assert first["referenced_message"]["content"] == "topic"
    shown = (await client.get(f"/v1/channels/{opened['id']}")).expect(200)
    assert (shown["message_count"], shown["total_message_sent"]) == (0, 0)
    for caller, flags in ((client, 1 << 5), (chat_world.bob.rest, 0)):
        (read,) = [message for message in (await caller.messages(where)).expect(200) if message["id"] == said["id"]]
        assert read["flags"] == flags
        assert ("thread" in read) is (flags != 0)
    # The thread is deleted: the message has none any more, and may have another one.
    (await knowing(chat_world.alice).delete(f"/v1/channels/{opened['id']}")).expect(204)
    assert (await at_carol.expect("THREAD_DELETE")).data == {
        "id": opened["id"],
        "guild_id": chat_world.guild_id,
        "parent_id": where,
        "type": 11,
    }
    update = (await at_carol.expect("MESSAGE_UPDATE", where=lambda data: data["channel_id"] == where)).data
    assert update["flags"] == 0
    assert "thread" not in update
    refused(await client.get(f"/v1/channels/{opened['id']}"), 404, "UNKNOWN_CHANNEL")
    again = (await client.start_thread_from(where, said["id"], "once more")).expect(201)
    assert again["id"] == said["id"]
    # The message goes: the thread stays, and begins with what is gone.
    (await chat_world.alice.rest.delete_message(where, said["id"])).expect(204)
    (starter,) = (await client.messages(again["id"])).expect(200)
    assert (starter["type"], starter["referenced_message"]) == (21, None)


async def test_the_channel_tells_of_a_bare_thread(chat_world: World) -> None:
    where, at_carol = chat_world.channel_id, await watch(chat_world.carol)
    knows_nothing = await chat_world.carol.connect()
    opened = await thread(chat_world.bob, where)
    told = (await at_carol.expect("MESSAGE_CREATE")).data
    assert (told["type"], told["content"], told["author"]["id"]) == (18, "aside", chat_world.bob.id)
    assert told["message_reference"] == {"channel_id": opened["id"], "guild_id": chat_world.guild_id, "type": 0}
    await thread(chat_world.bob, where, type=12)  # of which nobody is told
    (await chat_world.alice.rest.send_message(where, "the end")).expect(200)
    assert (await at_carol.expect("MESSAGE_CREATE")).data["content"] == "the end"
    assert (await knows_nothing.expect("MESSAGE_CREATE")).data["content"] == "the end"
    listed = [
        (await caller.messages(where)).expect(200) for caller in (knowing(chat_world.carol), chat_world.carol.rest)
    ]
    assert [[message["type"] for message in page] for page in listed] == [[0, 18], [0]]
    single = f"/v1/channels/{where}/messages/{told['id']}"
    (await knowing(chat_world.carol).get(single)).expect(200)
    refused(await chat_world.carol.rest.get(single), 404, "UNKNOWN_MESSAGE")


async def test_deleting_is_for_moderators(chat_world: World) -> None:
    opened = await thread(chat_world.bob, chat_world.channel_id)
    path = f"/v1/channels/{opened['id']}"
    refused(await knowing(chat_world.bob).delete(path), 403, "MISSING_PERMISSIONS")
    await allow(chat_world, chat_world.channel_id, chat_world.carol.id, allow=MANAGE_THREADS)
    (await chat_world.bob.rest.send_message(opened["id"], "soon gone")).expect(200)
    (await knowing(chat_world.carol).delete(path)).expect(204)
    refused(await knowing(chat_world.carol).delete(path), 404, "UNKNOWN_CHANNEL")
    refused(await chat_world.bob.rest.messages(opened["id"]), 404, "UNKNOWN_CHANNEL")
    log = (await chat_world.alice.rest.get(f"/v1/guilds/{chat_world.guild_id}/audit-logs")).expect(200)
    entries = [entry for entry in log["audit_log_entries"] if entry["action_type"] == 112]
    assert [(entry["user_id"], entry["target_id"]) for entry in entries] == [(chat_world.carol.id, opened["id"])]


async def test_a_channel_goes_with_its_threads(chat_world: World) -> None:
    above = (await channel(chat_world, "above", 0))["id"]
    opened, at_carol = await thread(chat_world.bob, above), await watch(chat_world.carol)
    (await knowing(chat_world.alice).delete(f"/v1/channels/{above}")).expect(204)
    assert (await at_carol.expect("THREAD_DELETE")).data["id"] == opened["id"]
    assert (await at_carol.expect("CHANNEL_DELETE")).data["id"] == above
    refused(await knowing(chat_world.bob).get(f"/v1/channels/{opened['id']}"), 404, "UNKNOWN_CHANNEL")


@pytest.mark.virtual_days
async def test_threads_archive_themselves(
    chat_world: World, chat_server: ChatServer, autojump_clock: trio.testing.MockClock
) -> None:
    where, at_carol = chat_world.channel_id, await watch(chat_world.carol)
    opened = await thread(chat_world.bob, where, auto_archive_duration=60)
    (await knowing(chat_world.carol).join_thread(opened["id"])).expect(204)
    await trio.sleep(50 * 60)
    (await chat_world.bob.rest.send_message(opened["id"], "still here")).expect(200)
    await trio.sleep(50 * 60)
    assert not [payload for payload in at_carol.dispatches if payload.name == "THREAD_UPDATE"]
    archived = (await at_carol.expect("THREAD_UPDATE", seconds=1_200)).data
    assert archived["thread_metadata"]["archived"] is True
    # In the archive nobody comes or goes, and messages stay what they are.
    client, path = knowing(chat_world.carol), f"/v1/channels/{opened['id']}"
    (said,) = (await client.messages(opened["id"])).expect(200)
    for answer in (
        await knowing(chat_world.alice).join_thread(opened["id"]),
        await client.leave_thread(opened["id"]),
        await client.join_thread(opened["id"], chat_world.alice.id),
        await chat_world.bob.rest.edit_message(opened["id"], said["id"], "edited"),
    ):
        refused(answer, 400, "THREAD_ARCHIVED")
    # Whoever connects now hears of it when it comes back, with the own membership.
    late = await watch(chat_world.carol)
    assert late.ready["guilds"][0]["threads"] == []
    (await chat_world.alice.rest.send_message(opened["id"], "up again")).expect(200)
    assert (await late.expect("THREAD_UPDATE")).data["thread_metadata"]["archived"] is False
    assert (await late.expect("THREAD_CREATE")).data["member"]["user_id"] == chat_world.carol.id
    assert (await late.expect("MESSAGE_CREATE")).data["content"] == "up again"

    # A restart forgets nothing, and a longer life is a longer life.
    longer = await thread(chat_world.bob, where, auto_archive_duration=1_440)
    await trio.sleep(30 * 60)
    (await knowing(chat_world.bob).change_channel(opened["id"], auto_archive_duration=1_440)).expect(200)
    await chat_server.restart()
    await trio.sleep(23 * 3_600)
    shown = (await knowing(chat_world.bob).get(path)).expect(200)
    assert shown["thread_metadata"]["archived"] is False
    await trio.sleep(2 * 3_600)
    for thread_id in (opened["id"], longer["id"]):
        shown = (await knowing(chat_world.bob).get(f"/v1/channels/{thread_id}")).expect(200)
        assert shown["thread_metadata"]["archived"] is True
    page = (await knowing(chat_world.bob).archived_threads(where)).expect(200)
    assert {entry["id"] for entry in page["threads"]} == {opened["id"], longer["id"]}


async def test_the_archive_page_by_page(chat_world: World, autojump_clock: trio.testing.MockClock) -> None:
    where, client, moderator = chat_world.channel_id, knowing(chat_world.bob), knowing(chat_world.alice)
    public = [(await thread(chat_world.bob, where, f"public {number}"))["id"] for number in range(3)]
    private = [(await thread(chat_world.bob, where, f"private {number}", type=12))["id"] for number in range(3)]
    others = (await thread(chat_world.alice, where, "of others", type=12))["id"]
    for thread_id in (*public, *private, others):
        await trio.sleep(1)
        (await moderator.change_channel(thread_id, archived=True)).expect(200)

    first = (await client.archived_threads(where, limit=2)).expect(200)
    assert ([entry["id"] for entry in first["threads"]], first["has_more"]) == ([public[2], public[1]], True)
    assert {entry["id"] for entry in first["members"]} == {public[2], public[1]}
    before = first["threads"][-1]["thread_metadata"]["archive_timestamp"]
    second = (await client.archived_threads(where, limit=2, before=before)).expect(200)
    assert ([entry["id"] for entry in second["threads"]], second["has_more"]) == ([public[0]], False)

    refused(await client.archived_threads(where, "private"), 403, "MISSING_PERMISSIONS")
    every = (await moderator.archived_threads(where, "private")).expect(200)
    assert [entry["id"] for entry in every["threads"]] == [others, *reversed(private)]
    own = (await client.joined_archived_threads(where, limit=2)).expect(200)
    assert ([entry["id"] for entry in own["threads"]], own["has_more"]) == ([private[2], private[1]], True)
    rest = (await client.joined_archived_threads(where, before=private[1])).expect(200)
    assert ([entry["id"] for entry in rest["threads"]], rest["has_more"]) == ([private[0]], False)
    for answer in (
        await client.archived_threads(where, limit=0),
        await client.archived_threads(where, limit=101),
        await client.archived_threads(where, before="yesterday"),
        await client.joined_archived_threads(where, before="yesterday"),
    ):
        refused(answer, 400, "INVALID_FORM_BODY")
    # Search finds private ones for those who are in them.
    found = (await client.search_threads(where, name="private")).expect(200)
    assert {entry["id"] for entry in found["threads"]} == set(private)
    assert others in {entry["id"] for entry in (await moderator.search_threads(where)).expect(200)["threads"]}


async def test_a_bot_lists_active_threads(chat_world: World) -> None:
    where = chat_world.channel_id
    public, private = await thread(chat_world.bob, where), await thread(chat_world.bob, where, type=12)
    (await knowing(chat_world.bob).join_thread(public["id"], chat_world.bot.id)).expect(204)
    path = f"/v1/guilds/{chat_world.guild_id}/threads/active"
    listed = (await chat_world.bot.rest.get(path)).expect(200)
    assert [entry["id"] for entry in listed["threads"]] == [public["id"]]
    assert [entry["user_id"] for entry in listed["members"]] == [chat_world.bot.id]
    assert listed["threads"][0]["member_ids_preview"] == sorted([chat_world.bob.id, chat_world.bot.id], key=int)
    await allow(chat_world, where, chat_world.bot.id, allow=MANAGE_THREADS)
    listed = (await chat_world.bot.rest.get(path)).expect(200)
    assert {entry["id"] for entry in listed["threads"]} == {public["id"], private["id"]}
    refused(await knowing(chat_world.bob).get(path), 403, "ACCESS_DENIED")


async def test_whom_a_message_brings_into_a_thread(chat_world: World) -> None:
    where, at_carol = chat_world.channel_id, await watch(chat_world.carol)
    opened = await thread(chat_world.bob, where, type=12)
    said = (await chat_world.bob.rest.send_message(opened["id"], f"come, <@{chat_world.carol.id}>")).expect(200)
    assert said["flags"] == 0
    shown = (await at_carol.expect("THREAD_CREATE")).data
    assert (shown["id"], shown["newly_created"]) == (opened["id"], False)
    assert shown["member"]["user_id"] == chat_world.carol.id
    added = (await at_carol.expect("THREAD_MEMBERS_UPDATE")).data
    assert [entry["user_id"] for entry in added["added_members"]] == [chat_world.carol.id]
    assert added["added_members"][0]["presence"]["user"]["id"] == chat_world.carol.id
    assert (await at_carol.expect("MESSAGE_CREATE")).data["id"] == said["id"]
    # A role brings all who have it; into a thread that is not invitable only its owner and moderators bring others.
    made = {"name": "helpers", "mentionable": True}
    role = (await chat_world.alice.rest.post(f"/v1/guilds/{chat_world.guild_id}/roles", made)).expect(200)
    member = f"/v1/guilds/{chat_world.guild_id}/members/{chat_world.alice.id}/roles/{role['id']}"
    (await chat_world.alice.rest.put(member)).expect(204)
    (await knowing(chat_world.bob).change_channel(opened["id"], invitable=False)).expect(200)
    failed = (await chat_world.carol.rest.send_message(opened["id"], f"<@&{role['id']}>")).expect(200)
    assert failed["flags"] == 1 << 8
    members = (await knowing(chat_world.bob).thread_members(opened["id"])).expect(200)
    assert {entry["user_id"] for entry in members} == {chat_world.bob.id, chat_world.carol.id}
    brought = (await chat_world.bob.rest.send_message(opened["id"], f"<@&{role['id']}>")).expect(200)
    assert brought["flags"] == 0
    members = (await knowing(chat_world.bob).thread_members(opened["id"])).expect(200)
    assert chat_world.alice.id in {entry["user_id"] for entry in members}
    one = (await knowing(chat_world.bob).thread_members(opened["id"], limit=1, after=members[0]["user_id"])).expect(200)
    assert one == members[1:2]


async def test_who_brings_whom_and_takes_whom_out(chat_world: World) -> None:
    where, at_carol = chat_world.channel_id, await watch(chat_world.carol)
    opened = await thread(chat_world.bob, where, type=12)
    owner, carol, moderator = knowing(chat_world.bob), knowing(chat_world.carol), knowing(chat_world.alice)
    refused(await owner.join_thread(opened["id"], chat_world.admin.id), 404, "UNKNOWN_MEMBER")
    await allow(chat_world, where, chat_world.bot.id, deny=VIEW_CHANNEL)
    refused(await owner.join_thread(opened["id"], chat_world.bot.id), 404, "UNKNOWN_MEMBER")
    (await owner.join_thread(opened["id"], chat_world.carol.id)).expect(204)
    (await owner.join_thread(opened["id"], chat_world.carol.id)).expect(204)  # is in it already
    await at_carol.expect("THREAD_CREATE")
    refused(await carol.leave_thread(opened["id"], chat_world.bob.id), 403, "MISSING_PERMISSIONS")
    refused(await owner.leave_thread(opened["id"], chat_world.alice.id), 404, "UNKNOWN_THREAD_MEMBER")
    (await owner.leave_thread(opened["id"], chat_world.carol.id)).expect(204)
    # Whoever is taken out of a private thread is told, and does not see it any longer.
    gone = (await at_carol.expect("THREAD_MEMBERS_UPDATE", where=lambda data: "removed_member_ids" in data)).data
    assert (gone["removed_member_ids"], gone["member_count"]) == ([chat_world.carol.id], 1)
    assert (await at_carol.expect("THREAD_DELETE")).data["id"] == opened["id"]
    refused(await carol.leave_thread(opened["id"]), 404, "UNKNOWN_CHANNEL")
    # Out of a public one only moderators take others.
    public = await thread(chat_world.bob, where)
    (await carol.join_thread(public["id"])).expect(204)
    refused(await owner.leave_thread(public["id"], chat_world.carol.id), 403, "MISSING_PERMISSIONS")
    (await moderator.leave_thread(public["id"], chat_world.carol.id)).expect(204)
    # Into a locked one nobody is brought but by moderators; joining by oneself stays possible.
    (await moderator.change_channel(public["id"], locked=True)).expect(200)
    refused(await owner.join_thread(public["id"], chat_world.carol.id), 400, "THREAD_LOCKED")
    (await carol.join_thread(public["id"])).expect(204)


@pytest.mark.rule("001.leave.19")
async def test_whoever_leaves_the_guild_leaves_its_threads(chat_world: World) -> None:
    where = chat_world.channel_id
    public, private = await thread(chat_world.bob, where), await thread(chat_world.bob, where, type=12)
    archived = await thread(chat_world.bob, where)
    for opened in (public, private, archived):
        (await knowing(chat_world.bob).join_thread(opened["id"], chat_world.carol.id)).expect(204)
    (await knowing(chat_world.bob).change_channel(archived["id"], archived=True)).expect(200)
    at_bob = await watch(chat_world.bob)
    (await chat_world.carol.rest.delete(f"/v1/users/@me/guilds/{chat_world.guild_id}")).expect(204)
    told = [(await at_bob.expect("THREAD_MEMBERS_UPDATE")).data for _ in range(3)]
    assert {data["id"] for data in told} == {public["id"], private["id"], archived["id"]}
    assert all(data["removed_member_ids"] == [chat_world.carol.id] for data in told)
    members = (await knowing(chat_world.bob).thread_members(private["id"])).expect(200)
    assert [entry["user_id"] for entry in members] == [chat_world.bob.id]


async def test_slow_mode_of_a_thread(chat_world: World, autojump_clock: trio.testing.MockClock) -> None:
    opened = await thread(chat_world.bob, chat_world.channel_id, rate_limit_per_user=30)
    (await chat_world.bob.rest.send_message(opened["id"], "one")).expect(200)
    answer = await chat_world.bob.rest.send_message(opened["id"], "two")
    refused(answer, 400, "SLOWMODE_RATE_LIMITED")
    assert answer.json()["retry_after"] > 29
    (await chat_world.bob.rest.send_message(chat_world.channel_id, "elsewhere")).expect(200)
    await trio.sleep(30)
    (await chat_world.bob.rest.send_message(opened["id"], "two")).expect(200)


async def test_slow_mode_of_the_channel_above(chat_world: World, autojump_clock: trio.testing.MockClock) -> None:
    above = (await channel(chat_world, "above", 0, rate_limit_per_user=60))["id"]
    client = knowing(chat_world.bob)
    said = (await chat_world.bob.rest.send_message(above, "topic")).expect(200)
    refused(await client.start_thread(above, "x", type=10), 400, "INVALID_CHANNEL_TYPE")
    started = (await client.start_thread_from(above, said["id"], "one a minute")).expect(201)
    refused(await client.start_thread(above, "x"), 400, "SLOWMODE_RATE_LIMITED")
    await thread(chat_world.alice, above)
    await thread(chat_world.alice, above)
    # What did not come to be does not count, and what is said in the thread neither.
    await trio.sleep(60)
    refused(await client.start_thread_from(above, said["id"], "x"), 400, "THREAD_ALREADY_CREATED_FOR_MESSAGE")
    for _ in range(3):
        (await chat_world.bob.rest.send_message(started["id"], "inside")).expect(200)
    await thread(chat_world.bob, above)


async def test_messages_are_counted(chat_world: World) -> None:
    opened = await thread(chat_world.bob, chat_world.channel_id)
    ids = [(await chat_world.bob.rest.send_message(opened["id"], str(number))).expect(200)["id"] for number in range(5)]

    async def counts() -> tuple[int, int, str]:
        shown = (await knowing(chat_world.carol).get(f"/v1/channels/{opened['id']}")).expect(200)
        return shown["message_count"], shown["total_message_sent"], shown["last_message_id"]

    assert await counts() == (5, 5, ids[-1])
    (await chat_world.bob.rest.delete_message(opened["id"], ids[0])).expect(204)
    assert await counts() == (4, 5, ids[-1])
    many = {"message_ids": ids[1:3]}
    (await chat_world.alice.rest.post(f"/v1/channels/{opened['id']}/messages/bulk-delete", many)).expect(204)
    assert await counts() == (2, 5, ids[-1])


@pytest.mark.chat_settings(rate_limits=False)
async def test_a_guild_has_so_many_active_threads(
    chat_world: World, chat_server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chat.domain.messages.thread_writing.ACTIVE_THREADS_PER_GUILD", 3)
    monkeypatch.setattr("chat.domain.threads.threads.THREAD_MEMBERS_MAXIMUM", 2)
    where, client = chat_world.channel_id, knowing(chat_world.bob)
    opened = [await thread(chat_world.bob, where) for _ in range(3)]
    refused(await client.start_thread(where, "one more"), 400, "MAX_ACTIVE_THREADS")
    said = (await chat_world.bob.rest.send_message(where, "topic")).expect(200)
    refused(await client.start_thread_from(where, said["id"], "one more"), 400, "MAX_ACTIVE_THREADS")
    assert (await client.messages(where, limit=1)).expect(200)[0]["flags"] == 0  # nothing half done
    (await client.change_channel(opened[0]["id"], archived=True)).expect(200)
    await thread(chat_world.bob, where)
    refused(await client.change_channel(opened[0]["id"], archived=False), 400, "MAX_ACTIVE_THREADS")
    refused(await chat_world.bob.rest.send_message(opened[0]["id"], "x"), 400, "MAX_ACTIVE_THREADS")
    (await client.join_thread(opened[1]["id"], chat_world.carol.id)).expect(204)
    refused(await client.join_thread(opened[1]["id"], chat_world.alice.id), 400, "MAX_THREAD_MEMBERS")
    (await client.join_thread(opened[1]["id"], chat_world.carol.id)).expect(204)


async def test_the_audit_log_shows_the_threads_that_it_names(chat_world: World) -> None:
    public, private = (
        await thread(chat_world.bob, chat_world.channel_id),
        await thread(chat_world.bob, chat_world.channel_id, type=12),
    )
    gone = await thread(chat_world.bob, chat_world.channel_id)
    (await knowing(chat_world.alice).delete(f"/v1/channels/{gone['id']}")).expect(204)
    path = f"/v1/guilds/{chat_world.guild_id}/audit-logs"
    log = (await knowing(chat_world.alice).get(path)).expect(200)
    assert {entry["id"] for entry in log["threads"]} == {public["id"], private["id"]}
    assert "threads" not in (await chat_world.alice.rest.get(path)).expect(200)
    readers = {"name": "readers", "permissions": str(1 << 7)}
    role = (await chat_world.alice.rest.post(f"/v1/guilds/{chat_world.guild_id}/roles", readers)).expect(200)["id"]
    member = f"/v1/guilds/{chat_world.guild_id}/members/{chat_world.carol.id}/roles/{role}"
    (await chat_world.alice.rest.put(member)).expect(204)
    log = (await knowing(chat_world.carol).get(path)).expect(200)
    assert [entry["id"] for entry in log["threads"]] == [public["id"]]


async def test_where_nothing_is_said_no_threads_are_started(chat_world: World) -> None:
    client, where = knowing(chat_world.bob), chat_world.channel_id
    said = (await chat_world.bob.rest.send_message(where, "topic")).expect(200)
    guild = f"/v1/_dev/guilds/{chat_world.guild_id}"
    (await chat_world.anyone.post(guild, {"disabled_operations": 1 << 4})).expect(200)
    refused(await client.start_thread(where, "x"), 403, "FEATURE_TEMPORARILY_DISABLED")
    refused(await client.start_thread_from(where, said["id"], "x"), 403, "FEATURE_TEMPORARILY_DISABLED")
    (await chat_world.anyone.post(guild, {"disabled_operations": 0})).expect(200)
    await thread(chat_world.bob, where)


async def test_a_long_thread_goes_little_by_little(
    chat_world: World, monkeypatch: pytest.MonkeyPatch, autojump_clock: trio.testing.MockClock
) -> None:
    monkeypatch.setattr("chat.domain.threads.thread_changes.MESSAGES_AT_ONCE", 2)
    where, client = chat_world.channel_id, knowing(chat_world.alice)
    said = (await chat_world.bob.rest.send_message(where, "topic")).expect(200)
    (await client.start_thread_from(where, said["id"], "about it")).expect(201)
    for number in range(5):
        (await chat_world.bob.rest.send_message(said["id"], str(number))).expect(200)
    at_bob = await watch(chat_world.bob)
    (await client.delete(f"/v1/channels/{said['id']}")).expect(204)
    assert (await at_bob.expect("THREAD_DELETE")).data["id"] == said["id"]
    refused(await client.messages(said["id"]), 404, "UNKNOWN_CHANNEL")
    refused(await chat_world.bob.rest.send_message(said["id"], "x"), 404, "UNKNOWN_CHANNEL")
    assert (await watch(chat_world.bob)).ready["guilds"][0]["threads"] == []
    (shown,) = [message for message in (await client.messages(where)).expect(200) if message["id"] == said["id"]]
    assert shown["flags"] == 0
    await trio.sleep(3_600)  # by then all of it is gone
    again = (await client.start_thread_from(where, said["id"], "once more")).expect(201)
    assert (again["id"], again["message_count"]) == (said["id"], 0)
