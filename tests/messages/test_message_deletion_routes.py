"""Messages that are deleted several at once: by id, by what they are, or because they are one's own."""

from __future__ import annotations

from typing import Any

import pytest

from chat.registries.audit_actions import AuditAction
from chat.registries.permissions import Permission
from chat.testing.rest_client import Response
from chat.testing.server import ChatServer
from chat.testing.world import Actor, World
from tests.messages.test_reaction_routes import set_permissions
from tests.threads.test_thread_routes import THREADS_FLAG, ask, start
from tests.webhooks.surfaces import form, png, post_form


async def say(actor: Actor, channel_id: str, text: str = "hello", **more: object) -> str:
    """The id of a new message."""
    return str((await actor.rest.send_message(channel_id, text, **more)).expect(200)["id"])


async def written(actor: Actor, channel_id: str, count: int) -> list[str]:
    """Send `count` messages; their ids."""
    return [await say(actor, channel_id, str(number)) for number in range(count)]


async def left(actor: Actor, channel_id: str) -> list[str]:
    """The ids of what stands in the channel, oldest first."""
    page = (await actor.rest.messages(channel_id, limit=100)).expect(200)
    return [message["id"] for message in reversed(page)]


async def log_of(world: World) -> list[dict[str, Any]]:
    """The guild's audit log, newest entry first."""
    log = (await world.alice.rest.get(f"/v1/guilds/{world.guild_id}/audit-logs")).expect(200)
    entries: list[dict[str, Any]] = log["audit_log_entries"]
    return entries


def refused(answer: Response, status: int, code: str) -> None:
    assert (answer.status, answer.code) == (status, code)


# By id


async def test_messages_go_together(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    before = await left(alice, channel_id)
    own, others = await written(alice, channel_id, 2), await written(bob, channel_id, 3)
    at_bob, at_alice = await bob.connect(), await alice.connect()
    wanted = [others[2], own[0], others[0], others[0], "999999999999999999"]
    path = f"/v1/channels/{channel_id}/messages/bulk-delete"
    answer = await alice.rest.request(
        "POST", path, json={"message_ids": wanted}, headers={"X-Audit-Log-Reason": "clean up"}
    )
    assert (answer.status, answer.body) == (204, b"")
    gone = (await at_bob.expect("MESSAGE_DELETE_BULK")).data
    assert gone == {"ids": [own[0], others[0], others[2]], "channel_id": channel_id, "guild_id": chat_world.guild_id}
    assert await left(bob, channel_id) == [*before, own[1], others[1]]
    (entry,) = await log_of(chat_world)
    assert (entry["action_type"], entry["target_id"]) == (AuditAction.MESSAGE_BULK_DELETE, channel_id)
    assert (entry["options"], entry["reason"], entry["user_id"]) == ({"count": "3"}, "clean up", alice.id)
    assert (await at_alice.expect("GUILD_AUDIT_LOG_ENTRY_CREATE")).data["id"] == entry["id"]


async def test_the_older_name_of_the_list_works_and_what_is_gone_is_told_to_nobody(chat_world: World) -> None:
    alice, channel_id = chat_world.alice, chat_world.channel_id
    ids = await written(alice, channel_id, 2)
    at_bob = await chat_world.bob.connect()
    path = f"/v1/channels/{channel_id}/messages/bulk-delete"
    (await alice.rest.post(path, {"messages": [int(ids[0])]})).expect(204)
    assert (await at_bob.expect("MESSAGE_DELETE_BULK")).data["ids"] == [ids[0]]
    (await alice.rest.bulk_delete_messages(channel_id, [ids[0]])).expect(204)
    (await alice.rest.bulk_delete_messages(chat_world.voice_channel_id, [ids[1]])).expect(204)  # stands elsewhere
    end = await say(alice, channel_id)
    assert (await at_bob.next_payload()).data["id"] == end
    assert ids[1] in await left(alice, channel_id)
    assert len(await log_of(chat_world)) == 1


async def test_who_may_delete_messages_of_others_at_once(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    own = await written(bob, channel_id, 1)
    refused(await bob.rest.bulk_delete_messages(channel_id, own), 403, "MISSING_PERMISSIONS")  # even of one's own
    refused(await bob.rest.purge_messages(channel_id), 403, "MISSING_PERMISSIONS")
    refused(await chat_world.admin.rest.bulk_delete_messages(channel_id, own), 403, "MISSING_PERMISSIONS")
    refused(await alice.rest.bulk_delete_messages("999999999999999999", own), 404, "UNKNOWN_CHANNEL")
    opened = (await alice.rest.post("/v1/users/@me/channels", {"recipient_id": bob.id})).expect(200)
    private = await written(alice, opened["id"], 1)
    refused(await alice.rest.bulk_delete_messages(opened["id"], private), 400, "CANNOT_EXECUTE_ON_DM")
    refused(await alice.rest.purge_messages(opened["id"]), 400, "CANNOT_EXECUTE_ON_DM")
    assert await left(bob, opened["id"]) == private
    await set_permissions(chat_world, channel_id, allow=Permission.MANAGE_MESSAGES)
    (await bob.rest.bulk_delete_messages(channel_id, own)).expect(204)
    assert own[0] not in await left(bob, channel_id)


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "message_ids"),
        ({"message_ids": []}, "message_ids"),
        ({"message_ids": None}, "message_ids"),
        ({"message_ids": ["1"] * 101}, "message_ids"),
        ({"message_ids": "1"}, "message_ids"),
        ({"message_ids": ["x"]}, "message_ids.0"),
        ({"messages": [True]}, "messages.0"),
        ([], "root"),
    ],
)
async def test_what_is_wrong_with_a_list_of_ids(chat_world: World, body: object, path: str) -> None:
    answer = await chat_world.alice.rest.post(f"/v1/channels/{chat_world.channel_id}/messages/bulk-delete", body)
    refused(answer, 400, "INVALID_FORM_BODY")
    assert [error["path"] for error in answer.json()["errors"]] == [path]


async def test_messages_of_a_thread_go_together(chat_world: World) -> None:
    alice = chat_world.alice
    thread = await start(alice, chat_world.channel_id)
    ids = await written(alice, thread["id"], 3)
    at_bob = await chat_world.bob.connect(flags=THREADS_FLAG)
    (await alice.rest.bulk_delete_messages(thread["id"], ids[:2])).expect(204)
    assert (await at_bob.expect("MESSAGE_DELETE_BULK")).data["ids"] == ids[:2]
    assert (await ask(alice, "GET", f"/v1/channels/{thread['id']}")).expect(200)["message_count"] == 1


async def test_nothing_of_a_deleted_message_is_left(chat_world: World, chat_server: ChatServer) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    body = form([("files[0]", "a.png", png())], b'{"content": "<@%s>"}' % bob.id.encode())
    sent = (await post_form(alice.rest, f"/v1/channels/{channel_id}/messages", body)).expect(200)
    reaction = f"/v1/channels/{channel_id}/messages/{sent['id']}/reactions/%F0%9F%91%8D/@me"
    (await bob.rest.put(reaction)).expect(204)
    (await alice.rest.pin_message(channel_id, sent["id"])).expect(204)
    tables = ("message_mentions", "message_reactions", "attachments")
    reader = chat_server.database.reader

    def rows(table: str) -> int:
        count = reader.execute(f"SELECT count(*) FROM {table} WHERE message_id = ?", (sent["id"],))  # noqa: S608
        return int(count.fetchone()[0])

    assert [rows(table) for table in tables] == [1, 1, 1]
    (await alice.rest.bulk_delete_messages(channel_id, [sent["id"]])).expect(204)
    assert [rows(table) for table in tables] == [0, 0, 0]
    note = (await alice.rest.messages(channel_id, limit=1)).expect(200)[0]
    assert note["referenced_message"] is None


# By what they are


async def test_a_purge_takes_the_newest_that_fit(chat_world: World) -> None:
    alice, bob, bot, channel_id = chat_world.alice, chat_world.bob, chat_world.bot, chat_world.channel_id
    before = await left(alice, channel_id)
    plain = await say(bob, channel_id, "A Plain one")
    link = await say(bob, channel_id, "see https://example.com/")
    robot = await say(bot, channel_id, "beep")
    embed = await say(alice, channel_id, "", embeds=[{"title": "t"}])
    answer = await say(alice, channel_id, "no", message_reference={"message_id": plain})
    forward = await say(alice, channel_id, "", message_reference={"message_id": plain, "type": 1})
    pinned = await say(bob, channel_id, "pinned")
    (await alice.rest.pin_message(channel_id, pinned)).expect(204)
    note = (await alice.rest.messages(channel_id, limit=1)).expect(200)[0]["id"]
    at_carol = await chat_world.carol.connect()

    async def purged(**members: object) -> list[str]:
        count = (await alice.rest.purge_messages(channel_id, **members)).expect(200)["deleted_count"]
        if not count:
            return []
        ids = (await at_carol.expect("MESSAGE_DELETE_BULK")).data["ids"]
        assert len(ids) == count
        return list(ids)

    assert await purged(contains="nowhere") == []
    assert await purged(has=["sticker"]) == []
    assert await purged(user_ids=[bob.id], contains="a plain", before=plain) == []
    assert await purged(user_ids=[bob.id], contains="a plain", after=plain) == []
    assert await purged(has=["link", "embed"]) == []
    assert await purged(after=str(2**63 - 1)) == []
    assert await purged(before="0") == []
    assert await purged(has=["link"]) == [link]
    assert await purged(bots=True) == [robot]
    assert await purged(has=["embed"]) == [embed]
    assert await purged(has=["forward"]) == [forward]
    assert await purged(user_ids=[bob.id], bots=False) == [plain]
    assert await purged(limit=1) == [note]
    assert await purged(limit=1, after=before[-1] if before else "0") == [answer]
    assert await purged(user_ids=[bob.id]) == []
    assert await purged(pinned=True, after=before[-1] if before else "0") == [pinned]
    assert (await at_carol.expect("CHANNEL_PINS_UPDATE")).data["last_pin_timestamp"] is None
    assert await left(alice, channel_id) == before
    entries = [entry for entry in await log_of(chat_world) if entry["action_type"] == AuditAction.MESSAGE_BULK_DELETE]
    assert [entry["options"] for entry in entries] == [{"count": "1"}] * 8


async def test_a_purge_of_many_goes_in_batches(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    kept = await written(alice, channel_id, 1)
    ids = await written(bob, channel_id, 130)
    at_bob = await bob.connect()
    answer = await alice.rest.purge_messages(channel_id, limit=130, user_ids=[bob.id])
    assert answer.expect(200) == {"deleted_count": 130}
    batches = [(await at_bob.expect("MESSAGE_DELETE_BULK")).data["ids"] for _ in range(2)]
    assert [len(batch) for batch in batches] == [100, 30]
    assert sorted(batches[1] + batches[0]) == ids
    assert (await left(alice, channel_id))[-1:] == kept
    assert [entry["options"]["count"] for entry in await log_of(chat_world)] == ["30", "100"]


async def test_a_moderator_deletes_what_it_may_read(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    theirs, own = await written(alice, channel_id, 2), await say(bob, channel_id)
    masks = {"allow": Permission.MANAGE_MESSAGES, "deny": Permission.READ_MESSAGE_HISTORY}
    overwrite = {"type": 1, **{name: str(int(bits)) for name, bits in masks.items()}}
    (await alice.rest.put(f"/v1/channels/{channel_id}/permissions/{bob.id}", overwrite)).expect(204)
    refused(await bob.rest.delete_message(channel_id, theirs[0]), 404, "UNKNOWN_MESSAGE")
    (await bob.rest.bulk_delete_messages(channel_id, [*theirs, own])).expect(
        204
    )  # passes over what is not there for it
    assert await left(alice, channel_id) == [*theirs, own]
    (await bob.rest.delete_message(channel_id, own)).expect(204)
    assert await left(alice, channel_id) == theirs


async def test_a_purge_does_not_reach_what_its_caller_may_not_read(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    ids = await written(alice, channel_id, 2)
    masks = {"allow": Permission.MANAGE_MESSAGES, "deny": Permission.READ_MESSAGE_HISTORY}
    await set_permissions(chat_world, channel_id, **masks)
    assert (await bob.rest.purge_messages(channel_id)).expect(200) == {"deleted_count": 0}
    assert (await left(alice, channel_id))[-2:] == ids


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": 1_001}, "limit"),
        ({"limit": "many"}, "limit"),
        ({"before": "x"}, "before"),
        ({"user_ids": ["1"] * 101}, "user_ids"),
        ({"contains": "x" * 513}, "contains"),
        ({"has": ["teeth"]}, "has.0"),
        ({"bots": "yes"}, "bots"),
        ({"pinned": 1}, "pinned"),
        ([], "root"),
    ],
)
async def test_what_is_wrong_with_a_purge(chat_world: World, body: object, path: str) -> None:
    answer = await chat_world.alice.rest.post(f"/v1/channels/{chat_world.channel_id}/messages/purge", body)
    refused(answer, 400, "INVALID_FORM_BODY")
    assert [error["path"] for error in answer.json()["errors"]] == [path]


async def test_personal_notes_are_emptied(chat_world: World) -> None:
    bob = chat_world.bob
    ids = await written(bob, bob.id, 101)
    (await bob.rest.pin_message(bob.id, ids[0])).expect(204)
    at_bob = await bob.connect()
    answer = await bob.rest.request("POST", f"/v1/channels/{bob.id}/messages/purge")
    assert answer.expect(200) == {"deleted_count": 102}
    assert (await at_bob.expect("MESSAGE_DELETE_BULK")).data == {"ids": ids[:100], "channel_id": bob.id}
    assert (await at_bob.expect("CHANNEL_PINS_UPDATE")).data["last_pin_timestamp"] is None
    assert (await at_bob.expect("MESSAGE_DELETE_BULK")).data["ids"][0] == ids[100]
    assert await left(bob, bob.id) == []
    refused(await chat_world.alice.rest.purge_messages(bob.id), 404, "UNKNOWN_CHANNEL")


# One's own


async def test_own_messages_of_one_channel_go_and_those_elsewhere_stay(chat_world: World) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    elsewhere = await say(bob, chat_world.voice_channel_id)
    own = await written(bob, channel_id, 120)
    others = await written(alice, channel_id, 1)
    at_alice = await alice.connect()
    path = f"/v1/channels/{channel_id}/messages/bulk-delete-mine"
    refused(await bob.rest.post(path, {}), 403, "SUDO_MODE_REQUIRED")
    refused(await bob.rest.post(path, {"password": "wrong password"}), 400, "INVALID_FORM_BODY")
    assert set(own[-90:]) <= set(await left(alice, channel_id))
    answer = await bob.rest.post(path, {"password": bob.password})
    assert (answer.status, answer.body) == (202, b"")
    batches = [(await at_alice.expect("MESSAGE_DELETE_BULK")).data["ids"] for _ in range(2)]
    assert (len(batches[0]), batches[0] + batches[1]) == (100, own)
    assert not set(own) & set(await left(alice, channel_id))
    assert others[0] in await left(alice, channel_id)
    assert elsewhere in await left(bob, chat_world.voice_channel_id)
    assert await log_of(chat_world) == []
    (await bob.rest.post(path, {"password": bob.password})).expect(202)  # nothing left to do


async def test_own_messages_of_a_conversation_go(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    opened = (await alice.rest.post("/v1/users/@me/channels", {"recipient_id": bob.id})).expect(200)
    own, others = await written(bob, opened["id"], 2), await written(alice, opened["id"], 2)
    at_alice = await alice.connect()
    path = f"/v1/channels/{opened['id']}/messages/bulk-delete-mine"
    (await bob.rest.post(path, {"password": bob.password})).expect(202)
    assert (await at_alice.expect("MESSAGE_DELETE_BULK")).data == {"ids": own, "channel_id": opened["id"]}
    assert await left(alice, opened["id"]) == others
    refused(await chat_world.carol.rest.post(path, {"password": bob.password}), 404, "UNKNOWN_CHANNEL")
    bot = chat_world.bot
    await say(bot, chat_world.channel_id, "beep")
    (await bot.rest.post(f"/v1/channels/{chat_world.channel_id}/messages/bulk-delete-mine")).expect(202)


# One by one


async def test_deletions_by_moderators_are_counted_in_the_audit_log(chat_world: World) -> None:
    alice, bob, carol, channel_id = chat_world.alice, chat_world.bob, chat_world.carol, chat_world.channel_id
    of_bob, of_carol = await written(bob, channel_id, 4), await written(carol, channel_id, 1)
    reason = {"X-Audit-Log-Reason": "spam"}

    async def delete(message_id: str, headers: dict[str, str]) -> None:
        path = f"/v1/channels/{channel_id}/messages/{message_id}"
        (await alice.rest.request("DELETE", path, headers=headers)).expect(204)

    for message_id, headers in zip([*of_bob[:3], *of_carol], [reason, reason, {}, reason], strict=True):
        await delete(message_id, headers)
    (await bob.rest.delete_message(channel_id, of_bob[3])).expect(204)  # one's own is nobody's business
    entries = await log_of(chat_world)
    assert {entry["action_type"] for entry in entries} == {AuditAction.MESSAGE_DELETE}
    assert [(entry["target_id"], entry.get("reason"), entry["options"]["count"]) for entry in entries] == [
        (carol.id, "spam", "1"),
        (bob.id, None, "1"),
        (bob.id, "spam", "2"),
    ]
    assert {entry["options"]["channel_id"] for entry in entries} == {channel_id}
