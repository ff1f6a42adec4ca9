"""Everything that one has written goes: a day after it was asked for, or at once (design 7; wire facts 5.1)."""

from __future__ import annotations

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from chat.testing.server import ChatServer
from chat.testing.world import Actor, Person, World

PATH = "/v1/users/@me/messages/delete"
AT_ONCE = "/v1/users/@me/messages/bulk-delete-mine"
DAY = 86_400


async def write(author: Actor, channel_id: str, count: int) -> list[str]:
    return [(await author.rest.send_message(channel_id, f"{n}")).expect(200)["id"] for n in range(count)]


async def ids(reader: Actor, channel_id: str) -> list[str]:
    listed = (await reader.rest.messages(channel_id, limit=100)).expect(200)
    return [message["id"] for message in reversed(listed)]


async def conversation(one: Actor, other: Actor) -> str:
    channel: dict[str, Any] = (await one.rest.open_conversation(other.id)).expect(200)
    return str(channel["id"])


async def schedule(person: Person) -> dict[str, Any]:
    told: dict[str, Any] = (await person.rest.post(PATH, {"password": person.password})).expect(200)
    return told


@pytest.mark.virtual_days
async def test_a_day_later_everything_is_gone(chat_world: World, autojump_clock: MockClock) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    direct = await conversation(bob, alice)
    his = await write(bob, chat_world.channel_id, 3)
    hers = await write(alice, chat_world.channel_id, 2)
    await write(bob, direct, 2)
    answered = await write(alice, direct, 1)
    at_bob, at_alice = await bob.connect(), await alice.connect()

    told = await schedule(bob)
    assert (told["channel_count"], told["message_count"]) == (2, 5)
    assert (await at_bob.expect("USER_UPDATE")).data["pending_bulk_message_deletion"] == told
    assert (await bob.rest.get("/v1/users/@me")).expect(200)["pending_bulk_message_deletion"] == told

    await trio.sleep(DAY - 60)
    assert len(await ids(alice, chat_world.channel_id)) == 5
    later = await write(bob, chat_world.channel_id, 1)  # still within the day
    await trio.sleep(61)
    after = await write(bob, chat_world.channel_id, 1)
    assert await ids(alice, chat_world.channel_id) == [*hers, *after]
    assert await ids(alice, direct) == answered
    gone = (await at_alice.expect("MESSAGE_DELETE_BULK")).data
    assert (gone["channel_id"], gone["ids"]) == (chat_world.channel_id, [*his, *later])
    assert (await at_alice.expect("MESSAGE_DELETE_BULK")).data["channel_id"] == direct
    assert (await at_bob.expect("USER_UPDATE")).data["pending_bulk_message_deletion"] is None


@pytest.mark.virtual_days
async def test_it_can_be_called_off(chat_world: World, autojump_clock: MockClock) -> None:
    bob = chat_world.bob
    written = await write(bob, chat_world.channel_id, 3)
    await schedule(bob)
    at_bob = await bob.connect()
    (await bob.rest.delete(PATH)).expect(204)
    assert (await at_bob.expect("USER_UPDATE")).data["pending_bulk_message_deletion"] is None
    (await bob.rest.delete(PATH)).expect(204)
    await trio.sleep(DAY + 60)
    assert await ids(bob, chat_world.channel_id) == written


@pytest.mark.virtual_days
async def test_a_second_wish_takes_the_place_of_the_first(chat_world: World, autojump_clock: MockClock) -> None:
    bob = chat_world.bob
    await write(bob, chat_world.channel_id, 1)
    first = await schedule(bob)
    await trio.sleep(DAY / 2)
    await write(bob, chat_world.channel_id, 1)
    second = await schedule(bob)
    assert second["scheduled_at"] > first["scheduled_at"]
    assert second["message_count"] == 2
    await trio.sleep(DAY * 0.75)
    assert len(await ids(bob, chat_world.channel_id)) == 2
    await trio.sleep(DAY / 2)
    assert await ids(bob, chat_world.channel_id) == []


@pytest.mark.virtual_days
async def test_a_server_that_was_down_at_the_moment_makes_up_for_it(
    chat_world: World, chat_server: ChatServer, autojump_clock: MockClock
) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    await write(bob, chat_world.channel_id, 2)
    hers = await write(alice, chat_world.channel_id, 1)
    await schedule(bob)
    await chat_server.drain()
    await trio.sleep(DAY + 3_600)
    await chat_server.start()
    await trio.sleep(1)
    assert await ids(alice, chat_world.channel_id) == hers
    assert (await bob.rest.get("/v1/users/@me")).expect(200)["pending_bulk_message_deletion"] is None


async def test_hundreds_go_in_batches(chat_world: World, chat_server: ChatServer) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    written = await write(bob, chat_world.channel_id, 150)
    kept = await write(alice, chat_world.channel_id, 1)
    at_alice = await alice.connect()
    (await bob.rest.post(AT_ONCE, {"password": bob.password})).expect(202)
    batches = [(await at_alice.expect("MESSAGE_DELETE_BULK")).data["ids"] for _ in range(2)]
    assert [message_id for batch in batches for message_id in batch] == written
    assert [len(batch) for batch in batches] == [100, 50]
    assert await ids(alice, chat_world.channel_id) == kept


async def test_it_takes_a_proof(chat_world: World) -> None:
    bob = chat_world.bob
    written = await write(bob, chat_world.channel_id, 1)
    for path in (PATH, AT_ONCE):
        missing = await bob.rest.post(path)
        assert (missing.status, missing.code) == (403, "SUDO_MODE_REQUIRED")
        wrong = await bob.rest.post(path, {"password": "not the password"})
        assert (wrong.status, wrong.code) == (400, "INVALID_FORM_BODY")
        bot = await chat_world.bot.rest.post(path)
        assert bot.status == 403
    assert await ids(bob, chat_world.channel_id) == written
    assert (await bob.rest.get("/v1/users/@me")).expect(200)["pending_bulk_message_deletion"] is None
