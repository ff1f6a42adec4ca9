"""Reminders: who may set which, when and how one is told, and what is said of a message that is gone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from chat.clock import iso_timestamp
from chat.registries.limits import REMINDERS
from chat.registries.permissions import Permission
from chat.testing.rest_client import Response
from chat.testing.server import ChatServer
from chat.testing.world import Actor, World
from tests.accounts.push_service import Browser, PushService, subscribe
from tests.messages.test_scheduled_messages import DAY_MS, MINUTE, deny, field_code, now, refused

OWN = "/v1/users/@me/reminders"


async def remind(actor: Actor, channel_id: str, message_id: str, at: int) -> Response:
    body = {"channel_id": channel_id, "remind_at": iso_timestamp(at)}
    return await actor.rest.put(f"{OWN}/{message_id}", body)


async def reminders(actor: Actor) -> list[dict[str, Any]]:
    return list((await actor.rest.get(OWN)).expect(200))


async def said(world: World, text: str = "remember this") -> str:
    return str((await world.alice.rest.send_message(world.channel_id, text)).expect(200)["id"])


async def test_a_reminder_is_told_at_its_moment_and_stays_until_it_is_taken_away(
    chat_world: World, autojump_clock: MockClock
) -> None:
    bob, channel_id = chat_world.bob, chat_world.channel_id
    later, sooner = await said(chat_world, "second"), await said(chat_world, "first")
    at = await now(chat_world) + 60 * MINUTE
    at_bob, at_alice = await bob.connect(), await chat_world.alice.connect()
    await remind(bob, channel_id, later, at + MINUTE)
    made = (await remind(bob, channel_id, sooner, at)).expect(200)
    moments = {"message_id": sooner, "channel_id": channel_id, "remind_at": iso_timestamp(at), "told_at": None}
    assert made == {**moments, "status": "available", "message": made["message"]}
    assert (made["message"]["content"], made["message"]["id"]) == ("first", sooner)

    async def heard() -> Any:
        return (await at_bob.expect("REMINDER_UPDATE", where=lambda data: data["message_id"] == sooner)).data

    assert await heard() == moments
    assert [entry["message"]["content"] for entry in await reminders(bob)] == ["first", "second"]
    await chat_world.anyone.advance_clock(59 * MINUTE)
    assert [entry["told_at"] for entry in await reminders(bob)] == [None, None]
    await chat_world.anyone.advance_clock(90_000)
    told = await heard()
    assert told == {**moments, "told_at": told["told_at"]}
    assert iso_timestamp(at) <= told["told_at"] < iso_timestamp(at + 1_000)
    await chat_world.anyone.advance_clock(DAY_MS)
    first, second = await reminders(bob)
    assert first == {**made, "told_at": told["told_at"]}
    assert second["told_at"] is not None
    (await bob.rest.delete(f"{OWN}/{sooner}")).expect(204)
    assert (await at_bob.expect("REMINDER_DELETE")).data == {"message_id": sooner}
    refused(await bob.rest.get(f"{OWN}/{sooner}"), 404, "UNKNOWN_MESSAGE")
    (await bob.rest.delete(f"{OWN}/{sooner}")).expect(204)
    assert await reminders(bob) == [second]
    assert await reminders(chat_world.alice) == []
    assert "REMINDER_UPDATE" not in {payload.name for payload in at_alice.dispatches}
    assert [payload.name for payload in at_bob.dispatches].count("REMINDER_UPDATE") == 4


async def test_a_second_moment_takes_the_place_of_the_first(chat_world: World, autojump_clock: MockClock) -> None:
    bob, channel_id, message_id = chat_world.bob, chat_world.channel_id, await said(chat_world)
    at = await now(chat_world) + MINUTE
    (await remind(bob, channel_id, message_id, at)).expect(200)
    put = (await remind(bob, channel_id, message_id, at + 60 * MINUTE)).expect(200)
    await chat_world.anyone.advance_clock(2 * MINUTE)
    assert await reminders(bob) == [put]
    await chat_world.anyone.advance_clock(60 * MINUTE)
    assert (await reminders(bob))[0]["told_at"] is not None
    again = (await remind(bob, channel_id, message_id, at + DAY_MS)).expect(200)
    assert again["told_at"] is None


async def test_what_cannot_be_reminded_of(chat_world: World) -> None:
    bob, channel_id, message_id = chat_world.bob, chat_world.channel_id, await said(chat_world)
    present = await now(chat_world)
    assert field_code(await remind(bob, channel_id, message_id, present - 1)) == "SCHEDULED_TIME_MUST_BE_FUTURE"
    assert field_code(await remind(bob, channel_id, message_id, present + 366 * DAY_MS)) == "REMINDERS_MAX_365_DAYS"
    (await remind(bob, channel_id, message_id, present + 365 * DAY_MS - MINUTE)).expect(200)
    at = present + MINUTE
    refused(await remind(bob, "1", message_id, at), 404, "UNKNOWN_CHANNEL")
    refused(await remind(bob, channel_id, "1", at), 404, "UNKNOWN_MESSAGE")
    elsewhere = (await chat_world.carol.rest.send_message(chat_world.carol.id, "mine")).expect(200)
    refused(await remind(bob, elsewhere["channel_id"], elsewhere["id"], at), 404, "UNKNOWN_CHANNEL")
    refused(await remind(bob, channel_id, elsewhere["id"], at), 404, "UNKNOWN_MESSAGE")
    for body in ({"channel_id": channel_id}, {"channel_id": channel_id, "remind_at": "soon"}, {"remind_at": None}):
        refused(await bob.rest.put(f"{OWN}/{message_id}", body), 400, "INVALID_FORM_BODY")
    await deny(chat_world, bob.id, Permission.READ_MESSAGE_HISTORY)
    refused(await remind(bob, channel_id, message_id, at), 404, "UNKNOWN_MESSAGE")
    refused(await chat_world.bot.rest.get(OWN), 403, "ACCESS_DENIED")


async def test_the_one_told_first_makes_room(chat_world: World, autojump_clock: MockClock) -> None:
    bob, channel_id = chat_world.bob, chat_world.channel_id
    ids = []
    for number in range(REMINDERS + 1):
        ids.append(await said(chat_world, f"{number}"))
        await trio.sleep(2)
    at = await now(chat_world) + 60 * MINUTE
    for number, message_id in enumerate(ids[:REMINDERS]):
        (await remind(bob, channel_id, message_id, at + number)).expect(200)
        await trio.sleep(2)
    refused(await remind(bob, channel_id, ids[-1], at), 400, "MAX_REMINDERS")
    (await remind(bob, channel_id, ids[0], at + DAY_MS)).expect(200)  # another moment is no further reminder
    await chat_world.anyone.advance_clock(2 * 60 * MINUTE)
    at_bob = await bob.connect()
    (await remind(bob, channel_id, ids[-1], at + DAY_MS + 1)).expect(200)
    assert (await at_bob.expect("REMINDER_DELETE")).data == {"message_id": ids[1]}
    assert [entry["message_id"] for entry in await reminders(bob)] == [*ids[2:-1], ids[0], ids[-1]]


async def test_a_message_that_is_gone_or_cannot_be_seen_any_more(chat_world: World, autojump_clock: MockClock) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id
    deleted, kept = await said(chat_world), await said(chat_world)
    at = await now(chat_world) + MINUTE
    for message_id in (deleted, kept):
        (await remind(bob, channel_id, message_id, at)).expect(200)
    (await alice.rest.delete_message(channel_id, deleted)).expect(204)
    await chat_world.anyone.advance_clock(2 * MINUTE)

    async def states() -> list[tuple[str, bool, bool]]:
        found = await reminders(bob)
        return [(entry["status"], entry["message"] is None, entry["told_at"] is not None) for entry in found]

    assert await states() == [("deleted", True, True), ("available", False, True)]
    await deny(chat_world, bob.id, Permission.VIEW_CHANNEL)
    assert await states() == [("missing_permissions", True, True)] * 2  # nothing is said of what bob does not see
    (await alice.rest.delete(f"/v1/channels/{channel_id}")).expect(204)
    assert await states() == [("missing_permissions", True, True)] * 2
    (await bob.rest.delete(f"{OWN}/{deleted}")).expect(204)


# Devices


@pytest.fixture
async def push_service() -> AsyncIterator[PushService]:
    async with PushService().running() as service:
        yield service


@pytest.mark.chat_settings(**{"push.private_networks_allowed": ["127.0.0.0/8"]})
async def test_devices_are_told_where_no_client_is_in_use(
    chat_server: ChatServer, chat_world: World, push_service: PushService
) -> None:
    alice, bob, channel_id = chat_world.alice, chat_world.bob, chat_world.channel_id

    async def fall_due() -> None:
        """There is no virtual time beside sockets: what is set for later falls due now."""
        await chat_server.database.write(lambda connection: connection.execute("UPDATE reminders SET remind_at = 1"))
        chat_server.server.areas.messages.reminders.look_again()

    browser, at = Browser(), await now(chat_world) + 60 * MINUTE
    await subscribe(bob, browser, f"{push_service.origin}/bob")
    (await bob.rest.change_guild_settings(chat_world.guild_id, muted=True)).expect(200)
    message_id = await said(chat_world, "call ||the bank||")
    (await remind(bob, channel_id, message_id, at)).expect(200)
    await fall_due()
    told = await push_service.next_message(browser)
    guild = (await alice.rest.get(f"/v1/guilds/{chat_world.guild_id}")).expect(200)
    author = (await alice.rest.get("/v1/users/@me")).expect(200)
    assert told["title"].startswith(f"Reminder: {author['global_name'] or author['username']} (#")
    assert told["body"].startswith("call ")
    assert "bank" not in told["body"]
    assert (told["type"], told["data"]["tag"]) == ("reminder", f"reminder {message_id}")
    assert told["data"]["url"].endswith(f"/channels/{guild['id']}/{channel_id}/{message_id}")
    deleted = await said(chat_world)
    (await remind(bob, channel_id, deleted, at)).expect(200)
    (await alice.rest.delete_message(channel_id, deleted)).expect(204)
    await fall_due()
    told = await push_service.next_message(browser)
    assert told["body"] == "The message was deleted, or you cannot see it any more."
    assert told["data"]["url"].endswith("/channels/@me")
    client = await bob.connect()
    (await remind(bob, channel_id, message_id, at)).expect(200)
    await fall_due()
    await client.expect("REMINDER_UPDATE", where=lambda data: data["told_at"] is not None)
    await client.send(3, {"status": "idle", "afk": True})
    await client.expect("SESSIONS_REPLACE", where=lambda data: data[0]["afk"])
    (await remind(bob, channel_id, await said(chat_world, "at last"), at)).expect(200)
    await fall_due()
    assert (await push_service.next_message(browser))["body"] == "at last"  # and nothing before it
