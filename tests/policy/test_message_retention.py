"""Messages go at the age that their channel, their guild or the instance chose (the manual's page How long things are
kept)."""

from __future__ import annotations

import random
from typing import Any, Final

import attrs
import pytest
import trio
from trio.testing import MockClock

from chat.config.keeping import RetentionSettings
from chat.domain.messages.message_retention import MESSAGES_AT_ONCE
from chat.registries.permissions import Permission
from chat.snowflake import snowflake_time_ms
from chat.store.messages.message_search_entries import discrepancies
from chat.testing.rest_client import Response, RestClient
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.messages.test_scheduled_messages import DAY_MS, deny, field_code, refused
from tests.threads.thread_world import FORUM, channel, knowing, post

A_LOOK_MS: Final = 3_700_000
"""Within which the server looks for what has reached its age."""

AGES: Final = {"retention.least_days": 2, "retention.messages_days": 100, "retention.most_days": 200}


async def choose(world: World, days: int | None, channel_id: str | None = None) -> Response:
    body = {"message_retention_days": days}
    if channel_id is None:
        return await world.alice.rest.patch(f"/v1/guilds/{world.guild_id}", body)
    return await world.alice.rest.patch(f"/v1/channels/{channel_id}", body)


async def say(actor: RestClient, channel_id: str, text: str = "x") -> str:
    return str((await actor.send_message(channel_id, text)).expect(200)["id"])


async def ids(actor: RestClient, channel_id: str) -> list[str]:
    listed = (await actor.messages(channel_id, limit=100)).expect(200)
    return [message["id"] for message in reversed(listed)]


async def later(clock: MockClock, days: int) -> None:
    """That number of days and a look of the server later, in one step: what is due by then falls due at its end."""
    clock.jump((days * DAY_MS + A_LOOK_MS) / 1_000)
    await trio.sleep(5)


def rows(server: ChatServer, query: str) -> list[Any]:
    return server.database.reader.execute(query).fetchall()


async def test_a_guild_and_a_channel_choose(chat_world: World, autojump_clock: MockClock) -> None:
    alice, channel_id = chat_world.alice, chat_world.channel_id
    at_bob = await chat_world.bob.connect()
    assert (await choose(chat_world, 90)).expect(200)["message_retention_days"] == 90
    told = (await at_bob.expect("GUILD_UPDATE")).data
    assert told["message_retention_days"] == 90
    assert (await choose(chat_world, 7, channel_id)).expect(200)["message_retention_days"] == 7
    assert (await at_bob.expect("CHANNEL_UPDATE")).data["message_retention_days"] == 7
    assert (await alice.rest.get(f"/v1/channels/{channel_id}")).expect(200)["message_retention_days"] == 7
    log = (await alice.rest.get(f"/v1/guilds/{chat_world.guild_id}/audit-logs")).expect(200)["audit_log_entries"]
    assert [entry["changes"] for entry in log[:2]] == [
        [{"key": "message_retention_days", "old_value": None, "new_value": days}] for days in (7, 90)
    ]
    assert (await choose(chat_world, 0)).expect(200)["message_retention_days"] == 0
    assert (await choose(chat_world, None, channel_id)).expect(200)["message_retention_days"] is None
    body = {"name": "rooms", "type": 4, "message_retention_days": 3}
    category = (await alice.rest.post(f"/v1/guilds/{chat_world.guild_id}/channels", body)).expect(200)
    assert "message_retention_days" not in category
    made = {"name": "brief", "type": 0, "message_retention_days": 3}
    brief = (await alice.rest.post(f"/v1/guilds/{chat_world.guild_id}/channels", made)).expect(200)
    assert brief["message_retention_days"] == 3


async def test_who_may_choose(chat_world: World) -> None:
    bob, body = chat_world.bob, {"message_retention_days": 90}
    refused(await bob.rest.patch(f"/v1/guilds/{chat_world.guild_id}", body), 403, "MISSING_PERMISSIONS")
    refused(await bob.rest.patch(f"/v1/channels/{chat_world.channel_id}", body), 403, "MISSING_PERMISSIONS")
    for right, path in (
        (Permission.MANAGE_GUILD, f"/v1/guilds/{chat_world.guild_id}"),
        (Permission.MANAGE_CHANNELS, f"/v1/channels/{chat_world.channel_id}"),
    ):
        everyone = f"/v1/guilds/{chat_world.guild_id}/roles/{chat_world.guild_id}"
        usual = int(Permission.VIEW_CHANNEL | right)
        (await chat_world.alice.rest.patch(everyone, {"permissions": str(usual)})).expect(200)
        assert (await bob.rest.patch(path, body)).expect(200)["message_retention_days"] == 90
    await deny(chat_world, bob.id, Permission.MANAGE_CHANNELS)
    refused(await bob.rest.patch(f"/v1/channels/{chat_world.channel_id}", body), 403, "MISSING_PERMISSIONS")


@pytest.mark.chat_settings(**AGES)
@pytest.mark.parametrize("days", [1, 0, 201, 36_501, -1, "soon"])
async def test_an_age_out_of_the_bounds(chat_world: World, days: Any) -> None:
    for channel_id in (None, chat_world.channel_id):
        wrong = await choose(chat_world, days, channel_id)
        assert (wrong.status, [error["path"] for error in wrong.json()["errors"]]) == (400, ["message_retention_days"])
        assert field_code(wrong) == ("VALUE_MUST_BE_INTEGER_IN_RANGE" if days in {0, 1, 201} else "INVALID_FORMAT")
        for allowed in (2, 200, None):
            (await choose(chat_world, allowed, channel_id)).expect(200)


async def test_everything_of_a_message_goes_and_clients_hear_it(
    chat_world: World, chat_server: ChatServer, autojump_clock: MockClock
) -> None:
    alice, bob, channel_id = knowing(chat_world.alice), knowing(chat_world.bob), chat_world.channel_id
    name = f"<@{chat_world.bob.id}>"
    held = (await alice.send_files(channel_id, {"a.txt": b"abc"}, content=f"lighthouse {name}")).expect(200)
    (await bob.react(channel_id, held["id"], "👍")).expect(204)
    (await alice.pin_message(channel_id, held["id"])).expect(204)
    opened = (await alice.start_thread_from(channel_id, held["id"], "talk")).expect(201)
    (await bob.save_message(channel_id, held["id"])).expect(204)
    old = [held["id"], *[await say(alice, channel_id) for _ in range(MESSAGES_AT_ONCE)]]
    above = set(await ids(alice, channel_id))
    (await choose(chat_world, 30)).expect(200)
    await later(autojump_clock, 20)
    assert set(await ids(alice, channel_id)) == above
    in_thread, new = await say(alice, opened["id"]), await say(alice, channel_id)
    await later(autojump_clock, 9)
    autojump_clock.jump(DAY_MS / 1_000 - 10_000)
    at_bob = await chat_world.bob.connect()
    assert len(rows(chat_server, "SELECT 1 FROM messages")) > len(above)
    await trio.sleep(10_000)

    gone: list[str] = []
    while not set(old) <= set(gone):
        told = (await at_bob.expect("MESSAGE_DELETE_BULK")).data
        assert (told["channel_id"], told["guild_id"]) == (channel_id, chat_world.guild_id)
        assert len(told["ids"]) <= MESSAGES_AT_ONCE
        gone += told["ids"]
    assert len(gone) == len(set(gone))
    assert set(gone) == above
    assert await ids(alice, channel_id) == [new]
    assert (await ids(alice, opened["id"]))[-1:] == [in_thread]
    assert (await alice.pins(channel_id)).expect(200)["items"] == []
    pins = [payload.data for payload in at_bob.dispatches if payload.name == "CHANNEL_PINS_UPDATE"]
    assert [told["last_pin_timestamp"] for told in pins] == [None]
    found = await alice.post(
        "/v1/search/messages", {"context_channel_id": channel_id, "content": "lighthouse", "scope": "current"}
    )
    assert found.expect(200)["messages"] == []
    for table in ("attachments", "message_reactions", "message_mentions", "saved_messages"):
        assert rows(chat_server, f"SELECT * FROM {table}") == [], table  # noqa: S608 - our own names
    await trio.sleep(700)
    assert rows(chat_server, "SELECT * FROM media_garbage") == []
    assert [path for path in (chat_server.server.surroundings.directory / "uploads").rglob("*") if path.is_file()] == []
    assert await chat_server.database.write(discrepancies) == []


@pytest.mark.chat_settings(**AGES)
@pytest.mark.parametrize("seed", range(4))
async def test_a_year_as_a_naive_model_has_it(
    chat_world: World, chat_server: ChatServer, autojump_clock: MockClock, seed: int
) -> None:
    choice, alice = random.Random(seed), knowing(chat_world.alice)
    text = chat_world.channel_id
    forum = (await channel(chat_world, "posts", FORUM))["id"]
    thread_id = (await post(chat_world.alice, forum))["id"]
    conversation = (await alice.open_conversation(chat_world.bob.id)).expect(200)["id"]
    above = {text: (text,), chat_world.voice_channel_id: (chat_world.voice_channel_id,), thread_id: (forum,)}
    chosen: dict[str | None, int | None] = {}
    written: list[tuple[str, str]] = []
    alive = {(thread_id, message_id) for message_id in await ids(alice, thread_id)}

    def days_kept(channel_id: str) -> int:
        if channel_id == conversation:
            return 100
        nearest = [chosen[place] for place in (*above[channel_id], None) if chosen.get(place) is not None]
        return nearest[0] or 0 if nearest else 100

    passed = went = 0
    while passed < 365:
        for _ in range(choice.randrange(6)):
            channel_id = choice.choice([*above, conversation])
            written.append((channel_id, await say(alice, channel_id)))
            alive.add(written[-1])
        open_ones = [one for one in written if one in alive and one[0] != thread_id]  # an archived post takes no pins
        if open_ones and choice.random() < 0.3:
            channel_id, message_id = choice.choice(open_ones)
            (await alice.pin_message(channel_id, message_id)).expect(204)
            pinned = set(await ids(alice, channel_id))
            alive |= {(channel_id, other) for other in pinned}  # the note about the pin is a message, too
        if choice.random() < 0.5:
            place = choice.choice([None, text, forum])
            chosen[place] = choice.choice([None, 2, 5, 30, 150, 200])
            (await choose(chat_world, chosen[place], place)).expect(200)
        days = choice.choice([1, 2, 4, 20, 60])
        passed += days
        await later(autojump_clock, days)
        present = chat_server.clock.now_ms()
        kept = {
            (channel_id, message_id)
            for channel_id, message_id in alive
            if present - snowflake_time_ms(int(message_id)) < days_kept(channel_id) * DAY_MS
        }
        went += len(alive - kept)
        alive = kept
        stored = {(str(channel), str(one)) for channel, one in rows(chat_server, "SELECT channel_id, id FROM messages")}
        assert stored == alive, (passed, chosen)
    assert went > 10


async def test_bounds_hold_for_what_was_chosen_before(
    chat_world: World, chat_server: ChatServer, autojump_clock: MockClock
) -> None:
    alice, channel_id = chat_world.alice.rest, chat_world.channel_id
    (await choose(chat_world, 0)).expect(200)
    message_id = await say(alice, channel_id)
    await later(autojump_clock, 50)
    bounds = RetentionSettings(messages_days=30, most_days=60)
    chat_server.settings = attrs.evolve(chat_server.settings, retention=bounds)
    await chat_server.restart()
    (await choose(chat_world, 0)).expect(200)  # as a client that sends its whole form
    await later(autojump_clock, 9)
    assert message_id in await ids(alice, channel_id)
    await later(autojump_clock, 1)
    assert await ids(alice, channel_id) == []
    assert field_code(await choose(chat_world, 61)) == "VALUE_MUST_BE_INTEGER_IN_RANGE"
