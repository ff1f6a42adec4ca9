"""Scheduled messages: what is taken and refused, when they are sent and how often, and what becomes of those that
cannot be sent."""

from __future__ import annotations

from typing import Any

import pytest
import trio
from attrs import fields_dict
from trio.testing import MockClock

from chat.api.message_bodies import CreateMessage
from chat.api.routes.messages import scheduled_messages as routes
from chat.clock import iso_timestamp
from chat.registries.limits import SCHEDULED_MESSAGES
from chat.registries.permissions import Permission
from chat.snowflake import snowflake_time_ms
from chat.testing.rest_client import Response
from chat.testing.server import ChatServer
from chat.testing.world import Actor, World
from tests.threads.test_thread_routes import THREADS_FLAG, start
from tests.webhooks.surfaces import png

MINUTE = 60_000
DAY_MS = 86_400_000
OWN = "/v1/users/@me/scheduled-messages"


def refused(answer: Response, status: int, code: str, path: str | None = None) -> None:
    assert (answer.status, answer.code) == (status, code)
    if path is not None:
        assert answer.json()["errors"][0]["path"] == path


def field_code(answer: Response) -> str:
    assert answer.status == 400, answer
    return str(answer.json()["errors"][0]["code"])


async def now(world: World) -> int:
    """The server's time in Unix milliseconds, off the id of a note to oneself."""
    note = (await world.carol.rest.send_message(world.carol.id, "now")).expect(200)
    return snowflake_time_ms(int(note["id"]))


async def schedule(actor: Actor, channel_id: str, at: int, text: str = "later", **members: Any) -> Response:
    body = {"content": text, "scheduled_local_at": iso_timestamp(at), "timezone": "UTC", **members}
    return await actor.rest.post(f"/v1/channels/{channel_id}/messages/schedule", body)


async def scheduled(actor: Actor) -> list[dict[str, Any]]:
    return list((await actor.rest.get(OWN)).expect(200))


async def said(world: World, channel_id: str | None = None) -> list[str]:
    """The texts in the channel, the oldest first."""
    path = f"/v1/channels/{channel_id or world.channel_id}/messages"
    return [message["content"] for message in (await world.alice.rest.get(path)).expect(200)][::-1]


async def deny(world: World, user_id: str, permission: Permission) -> None:
    body = {"type": 1, "allow": "0", "deny": str(int(permission))}
    (await world.alice.rest.put(f"/v1/channels/{world.channel_id}/permissions/{user_id}", body)).expect(204)


async def test_a_message_is_sent_at_its_moment_and_once(chat_world: World, autojump_clock: MockClock) -> None:
    bob, channel_id = chat_world.bob, chat_world.channel_id
    at = await now(chat_world) + 90 * MINUTE
    made = (await schedule(bob, channel_id, at, "good <b>morning</b>", nonce="n1")).expect(201)
    assert made == {
        "id": made["id"],
        "channel_id": channel_id,
        "scheduled_at": iso_timestamp(at),
        "scheduled_local_at": iso_timestamp(at),
        "timezone": "UTC",
        "status": "pending",
        "status_reason": None,
        "payload": {
            "content": "good <b>morning</b>",
            "tts": False,
            "flags": 0,
            "embeds": [],
            "attachments": [],
            "sticker_ids": [],
            "nonce": "n1",
        },
        "created_at": iso_timestamp(snowflake_time_ms(int(made["id"]))),
        "invalidated_at": None,
    }
    assert await scheduled(bob) == [made]
    assert (await bob.rest.get(f"{OWN}/{made['id']}")).expect(200) == made
    at_alice = await chat_world.alice.connect()
    await chat_world.anyone.advance_clock(90 * MINUTE - 5_000)
    assert await said(chat_world) == []
    await chat_world.anyone.advance_clock(10_000)
    event = (await at_alice.expect("MESSAGE_CREATE", where=lambda data: data["channel_id"] == channel_id)).data
    assert (event["content"], event["author"]["id"]) == ("good <b>morning</b>", bob.id)
    assert 0 <= snowflake_time_ms(int(event["id"])) - at < 1_000
    await chat_world.anyone.advance_clock(2 * DAY_MS)
    assert await said(chat_world) == ["good <b>morning</b>"]
    assert await scheduled(bob) == []
    refused(await bob.rest.get(f"{OWN}/{made['id']}"), 404, "UNKNOWN_MESSAGE")


async def test_local_time_and_zone(chat_world: World) -> None:
    bob, channel_id = chat_world.bob, chat_world.channel_id
    day = iso_timestamp(await now(chat_world) + 2 * DAY_MS)[:10]
    summer_free = {"Asia/Tokyo": "00:30", "Asia/Kolkata": "04:00", "Etc/UTC": "09:30", "UTC": "09:30"}
    for zone, at in summer_free.items():
        made = (await schedule(bob, channel_id, 0, scheduled_local_at=f"{day}T09:30", timezone=zone)).expect(201)
        assert made["scheduled_at"] == f"{day}T{at}:00.000Z"
        assert (made["scheduled_local_at"], made["timezone"]) == (f"{day}T09:30", zone)
    # A text that names its offset needs no zone to be understood.
    offset = (await schedule(bob, channel_id, 0, scheduled_local_at=f"{day}T09:30+02:00")).expect(201)
    assert offset["scheduled_at"] == f"{day}T07:30:00.000Z"
    listed = [entry["scheduled_at"] for entry in await scheduled(bob)]
    assert listed == sorted(listed)


@pytest.mark.parametrize(
    "zone", ["Middle/Earth", "../etc/passwd", "/etc/passwd", "Europe", "x" * 128, "Europe/Berlin\n"]
)
async def test_zones_that_are_none(chat_world: World, zone: str) -> None:
    answer = await schedule(chat_world.bob, chat_world.channel_id, await now(chat_world) + MINUTE, timezone=zone)
    assert field_code(answer) == "INVALID_TIMEZONE_IDENTIFIER"
    refused(answer, 400, "INVALID_FORM_BODY", "timezone")


async def test_moments_that_cannot_be_taken(chat_world: World) -> None:
    bob, channel_id = chat_world.bob, chat_world.channel_id
    present = await now(chat_world)
    for at in ("soon", "2026-13-01T00:00", "9999-12-31T23:59:59-23:00", "0001-01-01T00:00:00+14:00"):
        answer = await schedule(bob, channel_id, 0, scheduled_local_at=at)
        assert field_code(answer) == "INVALID_DATETIME_FOR_SCHEDULED_SEND", at
    assert field_code(await schedule(bob, channel_id, present - 1)) == "SCHEDULED_TIME_MUST_BE_FUTURE"
    assert field_code(await schedule(bob, channel_id, present + 31 * DAY_MS)) == "SCHEDULED_MESSAGES_MAX_30_DAYS"
    (await schedule(bob, channel_id, present + 30 * DAY_MS - MINUTE)).expect(201)
    for body in ({}, {"scheduled_local_at": ""}, {"scheduled_local_at": None}, {"scheduled_local_at": "x" * 65}):
        path = f"/v1/channels/{channel_id}/messages/schedule"
        refused(await bob.rest.post(path, {"content": "x", **body}), 400, "INVALID_FORM_BODY", "scheduled_local_at")


async def test_what_cannot_be_sent_now_cannot_be_scheduled(chat_world: World) -> None:
    bob, channel_id = chat_world.bob, chat_world.channel_id
    at = await now(chat_world) + MINUTE
    refused(await schedule(bob, channel_id, at, "  "), 400, "CANNOT_SEND_EMPTY_MESSAGE")
    refused(await schedule(bob, channel_id, at, "x" * 4_001), 400, "INVALID_FORM_BODY", "content")
    refused(await schedule(bob, "1", at), 404, "UNKNOWN_CHANNEL")
    refused(await schedule(bob, channel_id, at, message_reference={"message_id": "1"}), 404, "UNKNOWN_MESSAGE")
    refused(await schedule(bob, channel_id, at, sticker_ids=["1"]), 404, "UNKNOWN_STICKER")
    refused(await schedule(bob, channel_id, at, favorite_meme_id="1"), 404, "UNKNOWN_FAVORITE_MEME")
    await deny(chat_world, bob.id, Permission.SEND_MESSAGES)
    refused(await schedule(bob, channel_id, at), 403, "MISSING_PERMISSIONS")
    refused(await chat_world.bot.rest.get(OWN), 403, "ACCESS_DENIED")
    assert await scheduled(bob) == []


async def test_only_so_many(chat_world: World, autojump_clock: MockClock) -> None:
    bob, channel_id = chat_world.bob, chat_world.channel_id
    at = await now(chat_world) + DAY_MS
    for number in range(SCHEDULED_MESSAGES):
        (await schedule(bob, channel_id, at + number)).expect(201)
        await trio.sleep(1.1)
    refused(await schedule(bob, channel_id, at), 400, "MAX_SCHEDULED_MESSAGES")
    (await schedule(chat_world.alice, channel_id, at)).expect(201)
    (await bob.rest.delete(f"{OWN}/{(await scheduled(bob))[0]['id']}")).expect(204)
    (await schedule(bob, channel_id, at)).expect(201)


async def test_nobody_else_has_to_do_with_it(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    made = (await schedule(bob, chat_world.channel_id, await now(chat_world) + MINUTE)).expect(201)
    path = f"{OWN}/{made['id']}"
    assert await scheduled(alice) == []
    for answer in (
        await alice.rest.get(path),
        await alice.rest.patch(path, {"content": "mine"}),
        await alice.rest.delete(path),
        await alice.rest.post(f"{path}/send", None),
    ):
        refused(answer, 404, "UNKNOWN_MESSAGE")
    assert await scheduled(bob) == [made]


async def test_changing_deleting_and_sending_now(chat_world: World, autojump_clock: MockClock) -> None:
    bob, channel_id = chat_world.bob, chat_world.channel_id
    answered = (await chat_world.alice.rest.send_message(channel_id, "question")).expect(200)
    at = await now(chat_world) + 60 * MINUTE
    mentions = {"parse": ["everyone"], "users": [chat_world.alice.id], "roles": [], "replied_user": True}
    reply = {"message_id": answered["id"]}
    first, second, third = [
        (await schedule(bob, channel_id, at, text, message_reference=reply, allowed_mentions=mentions)).expect(201)
        for text in ("one", "two", "three")
    ]
    assert first["payload"]["message_reference"]["message_id"] == answered["id"]
    assert first["payload"]["allowed_mentions"] == mentions
    later = iso_timestamp(at + DAY_MS)
    changed = (await bob.rest.patch(f"{OWN}/{first['id']}", {"scheduled_local_at": later})).expect(200)
    assert changed == {**first, "scheduled_at": later, "scheduled_local_at": later}
    changed = (await bob.rest.patch(f"{OWN}/{second['id']}", {"content": "II", "message_reference": None})).expect(200)
    assert (changed["payload"]["content"], "message_reference" in changed["payload"]) == ("II", False)
    assert changed["scheduled_at"] == second["scheduled_at"]
    for body, code in (
        ({"scheduled_local_at": iso_timestamp(at - DAY_MS)}, "SCHEDULED_TIME_MUST_BE_FUTURE"),
        ({"timezone": "Mars"}, "INVALID_TIMEZONE_IDENTIFIER"),
        ({"content": "x" * 4_001}, "CONTENT_EXCEEDS_MAX_LENGTH"),
        ({"attachments": [{"id": str(1 << 60)}]}, "INVALID_FORMAT"),
    ):
        assert field_code(await bob.rest.patch(f"{OWN}/{second['id']}", body)) == code
    refused(await bob.rest.patch(f"{OWN}/{second['id']}", {"content": None}), 400, "CANNOT_SEND_EMPTY_MESSAGE")
    sent = (await bob.rest.post(f"{OWN}/{third['id']}/send", None)).expect(200)
    assert (sent["content"], sent["type"], sent["referenced_message"]["id"]) == ("three", 19, answered["id"])
    refused(await bob.rest.post(f"{OWN}/{third['id']}/send", None), 404, "UNKNOWN_MESSAGE")
    (await bob.rest.delete(f"{OWN}/{second['id']}")).expect(204)
    refused(await bob.rest.delete(f"{OWN}/{second['id']}"), 404, "UNKNOWN_MESSAGE")
    await chat_world.anyone.advance_clock(2 * 60 * MINUTE)
    assert await said(chat_world) == ["question", "three"]
    await chat_world.anyone.advance_clock(DAY_MS)
    assert await said(chat_world) == ["question", "three", "one"]


async def test_two_changes_at_once_both_hold(chat_world: World, autojump_clock: MockClock) -> None:
    bob, channel_id = chat_world.bob, chat_world.channel_id
    at = await now(chat_world) + 60 * MINUTE
    later = iso_timestamp(at + MINUTE)
    for text in ("a", "b", "c"):
        made = (await schedule(bob, channel_id, at, "one")).expect(201)

        async def change(body: dict[str, Any], path: str = f"{OWN}/{made['id']}") -> None:
            (await bob.rest.patch(path, body)).expect(200)

        async with trio.open_nursery() as nursery:
            for body in ({"content": text}, {"scheduled_local_at": later}, {"flags": 1 << 12}):
                nursery.start_soon(change, body)
        kept = (await bob.rest.get(f"{OWN}/{made['id']}")).expect(200)
        assert (kept["payload"]["content"], kept["scheduled_at"], kept["payload"]["flags"]) == (text, later, 1 << 12)


async def test_rights_are_asked_again_and_what_is_invalid_is_kept_mended_or_forgotten(
    chat_world: World, autojump_clock: MockClock
) -> None:
    bob, channel_id = chat_world.bob, chat_world.channel_id
    at = await now(chat_world) + MINUTE
    made = [(await schedule(bob, channel_id, at, text)).expect(201) for text in ("one", "two")]
    await deny(chat_world, bob.id, Permission.SEND_MESSAGES)
    await chat_world.anyone.advance_clock(2 * MINUTE)
    assert await said(chat_world) == []
    kept = await scheduled(bob)
    assert [entry["id"] for entry in kept] == [entry["id"] for entry in made]
    for entry in kept:
        assert (entry["status"], entry["invalidated_at"] is not None) == ("invalid", True)
        assert entry["status_reason"] == "You lack the permission for this."
    refused(await bob.rest.post(f"{OWN}/{made[0]['id']}/send", None), 403, "MISSING_PERMISSIONS")
    (await chat_world.alice.rest.delete(f"/v1/channels/{channel_id}/permissions/{bob.id}")).expect(204)
    await chat_world.anyone.advance_clock(MINUTE)
    assert await said(chat_world) == []  # it does not come by itself out of its time
    assert (
        field_code(await bob.rest.patch(f"{OWN}/{made[0]['id']}", {"content": "I"})) == "SCHEDULED_TIME_MUST_BE_FUTURE"
    )
    body = {"scheduled_local_at": iso_timestamp(await now(chat_world) + MINUTE)}
    mended = (await bob.rest.patch(f"{OWN}/{made[0]['id']}", body)).expect(200)
    assert (mended["status"], mended["status_reason"], mended["invalidated_at"]) == ("pending", None, None)
    await chat_world.anyone.advance_clock(2 * MINUTE)
    assert await said(chat_world) == ["one"]
    await chat_world.anyone.advance_clock(30 * DAY_MS)
    assert [entry["id"] for entry in await scheduled(bob)] == [made[1]["id"]]
    await chat_world.anyone.advance_clock(2 * DAY_MS)
    assert await scheduled(bob) == []


async def test_places_and_people_that_are_gone(chat_world: World, autojump_clock: MockClock) -> None:
    alice, bob, carol = chat_world.alice, chat_world.bob, chat_world.carol
    created = {"name": "other", "type": 0}
    other = (await alice.rest.post(f"/v1/guilds/{chat_world.guild_id}/channels", created)).expect(200)["id"]
    at = await now(chat_world) + MINUTE
    for actor, channel_id in ((bob, other), (carol, chat_world.channel_id), (alice, chat_world.channel_id)):
        (await schedule(actor, channel_id, at)).expect(201)
    (await alice.rest.delete(f"/v1/channels/{other}")).expect(204)
    ban = {"duration_hours": 24, "reason": "x"}
    (await chat_world.admin.rest.put(f"/v1/admin/users/{carol.id}/ban", ban)).expect(200)
    await chat_world.anyone.advance_clock(2 * MINUTE)
    assert await said(chat_world) == ["later"]  # alice's
    assert [(entry["channel_id"], entry["status_reason"]) for entry in await scheduled(bob)] == [
        (other, "There is no such channel.")
    ]


async def test_slow_mode_makes_it_wait(chat_world: World, autojump_clock: MockClock) -> None:
    bob, channel_id = chat_world.bob, chat_world.channel_id
    (await chat_world.alice.rest.patch(f"/v1/channels/{channel_id}", {"rate_limit_per_user": 120})).expect(200)
    at = await now(chat_world) + MINUTE
    for text in ("one", "two"):
        (await schedule(bob, channel_id, at, text)).expect(201)
    await chat_world.anyone.advance_clock(2 * MINUTE)
    assert await said(chat_world) == ["one"]
    assert [entry["status"] for entry in await scheduled(bob)] == ["pending"]
    await chat_world.anyone.advance_clock(2 * MINUTE)
    assert await said(chat_world) == ["one", "two"]


async def test_files_go_along_and_stay_until_then(chat_world: World, autojump_clock: MockClock) -> None:
    bob, channel_id = chat_world.bob, chat_world.channel_id
    promised = (await bob.rest.promise_uploads(channel_id, {"a.png": len(png(8, 8)), "b.txt": 5})).expect(200)
    uploads = promised["attachments"] if isinstance(promised, dict) else promised
    for entry, data in zip(uploads, (png(8, 8), b"hello"), strict=True):
        await bob.rest.upload(entry["upload_url"], data)
    at = await now(chat_world) + 3 * DAY_MS
    files = [{"id": n, "uploaded_filename": entry["upload_filename"]} for n, entry in enumerate(uploads)]
    embeds = [{"title": "see", "image": {"url": "attachment://a.png"}}]
    made = (await schedule(bob, channel_id, at, "", attachments=files, embeds=embeds)).expect(201)
    names = [file["filename"] for file in made["payload"]["attachments"]]
    assert names == ["a.png", "b.txt"]
    assert (await chat_world.anyone.fetch(made["payload"]["attachments"][1]["url"])).body == b"hello"
    # The upload is taken: no other message has it.
    taken = await bob.rest.post(f"/v1/channels/{channel_id}/messages", {"attachments": files[1:]})
    assert field_code(taken) == "INVALID_FORMAT"
    stay = [{"id": made["payload"]["attachments"][0]["id"], "description": "a square"}]
    changed = (await bob.rest.patch(f"{OWN}/{made['id']}", {"attachments": stay, "content": "look"})).expect(200)
    assert [(f["filename"], f["description"]) for f in changed["payload"]["attachments"]] == [("a.png", "a square")]
    await chat_world.anyone.advance_clock(4 * DAY_MS)  # much longer than an upload waits
    [message] = (await chat_world.alice.rest.get(f"/v1/channels/{channel_id}/messages")).expect(200)
    assert (message["content"], message["embeds"][0]["title"]) == ("look", "see")
    assert [file["description"] for file in message["attachments"]] == ["a square"]
    assert (await chat_world.anyone.fetch(message["attachments"][0]["url"])).status == 200


async def test_in_threads_conversations_and_what_one_has_not_read(chat_world: World, autojump_clock: MockClock) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    thread = await start(bob, channel_id)
    dm = (await bob.rest.open_conversation(alice.id)).expect(200)["id"]
    at = await now(chat_world) + MINUTE
    knows = {"X-Service-Features": "channel_threads"}
    body = {"content": "in there", "scheduled_local_at": iso_timestamp(at)}
    path = f"/v1/channels/{thread['id']}/messages/schedule"
    (await bob.rest.request("POST", path, json=body, headers=knows)).expect(201)
    (await schedule(bob, dm, at, "psst")).expect(201)
    (await schedule(bob, channel_id, at, "late")).expect(201)
    unread = (await alice.rest.send_message(channel_id, f"<@{bob.id}>")).expect(200)["id"]
    await chat_world.anyone.advance_clock(2 * MINUTE)
    assert await said(chat_world, dm) == ["psst"]
    assert (await said(chat_world))[-1] == "late"
    session = await bob.connect(flags=THREADS_FLAG)
    assert session.ready is not None
    states = {state["id"]: state for state in session.ready["read_states"]}
    assert states[channel_id]["mention_count"] == 1  # what was said to him is not read because he had something sent
    assert int(states[channel_id].get("last_message_id") or 0) < int(unread)
    listed = (await bob.rest.request("GET", f"/v1/channels/{thread['id']}/messages", headers=knows)).expect(200)
    assert listed[0]["content"] == "in there"


def test_each_member_of_a_change_has_its_field() -> None:
    """A member that is added to messages has to reach scheduled ones, too."""
    of_messages = set(fields_dict(CreateMessage)) - {"attachments", "favorite_meme_id", "components"}
    assert of_messages == set(routes.DRAFT_FIELDS)
    assert of_messages <= set(fields_dict(routes.EditScheduledMessage))


async def test_a_poll_is_refused_by_its_name(chat_world: World, autojump_clock: MockClock) -> None:
    at = await now(chat_world) + MINUTE
    poll = {"question": {"text": "When?"}, "answers": [{"poll_media": {"text": "now"}}]}
    kept = (await schedule(chat_world.bob, chat_world.channel_id, at)).expect(201)
    for answer in (
        await schedule(chat_world.bob, chat_world.channel_id, at, poll=poll),
        await chat_world.bob.rest.patch(f"{OWN}/{kept['id']}", {"poll": poll}),
    ):
        refused(answer, 400, "INVALID_FORM_BODY", "poll")
        assert field_code(answer) == "POLL_NOT_ALLOWED_HERE"
    (await chat_world.bob.rest.patch(f"{OWN}/{kept['id']}", {"poll": None})).expect(200)


async def test_a_restart_sends_what_fell_due_meanwhile(
    chat_world: World, chat_server: ChatServer, autojump_clock: MockClock
) -> None:
    """Nothing of it is in memory alone."""
    at = await now(chat_world) + MINUTE
    (await schedule(chat_world.bob, chat_world.channel_id, at)).expect(201)
    await chat_server.restart()
    await chat_world.anyone.advance_clock(2 * MINUTE)
    assert await said(chat_world) == ["later"]
