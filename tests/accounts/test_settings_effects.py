"""What settings do: status and custom status of all sessions, changes that come by themselves, new guilds."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from chat.testing.gateway_client import GatewayClient
from chat.testing.server import ChatServer
from chat.testing.world import Actor, World
from tests.image_samples import MOVING
from tests.people.friends import befriend
from tests.webhooks.surfaces import data_uri, png


async def after(world: World, seconds: float) -> str:
    """The moment `seconds` from now, as ISO 8601."""
    now = (await world.anyone.get("/v1/_dev/clock")).expect(200)["now"]
    moment = datetime.datetime.fromisoformat(now) + datetime.timedelta(seconds=seconds)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


async def settings_of(actor: Actor) -> dict[str, Any]:
    shown: dict[str, Any] = (await actor.rest.get("/v1/users/@me/settings")).expect(200)
    return shown


async def presence(client: GatewayClient, status: str) -> dict[str, Any]:
    """The next presence with this status."""
    told: dict[str, Any] = (await client.expect("PRESENCE_UPDATE", where=lambda data: data["status"] == status)).data
    return told


async def test_a_status_is_that_of_all_sessions(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    await befriend(alice, bob)
    at_bob = await bob.connect()
    first, second = await alice.connect(), await alice.connect()
    await presence(at_bob, "online")
    (await alice.rest.change_settings(status="dnd")).expect(200)
    assert (await presence(at_bob, "dnd"))["user"]["id"] == alice.id
    for client in (first, second):
        sessions = (await client.expect("SESSIONS_REPLACE", where=lambda data: data[0]["status"] == "dnd")).data
        assert {entry["status"] for entry in sessions} == {"dnd"}
    (await alice.rest.change_settings(status="invisible")).expect(200)
    await presence(at_bob, "offline")
    # A session keeps it beyond its socket.
    first.drop()
    resumed = await alice.resume(first)
    await resumed.expect("RESUMED")
    listed = await chat_world.anyone.gateway_sessions()
    assert {entry["status"] for entry in listed if entry["user_id"] == alice.id} == {"invisible"}


async def test_a_custom_status_is_shown_until_it_runs_out(chat_world: World, autojump_clock: MockClock) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    await befriend(alice, bob)
    at_alice, at_bob = await alice.connect(), await bob.connect()
    expires_at = await after(chat_world, 3_600)
    chosen = {"text": "at lunch", "expires_at": expires_at, "emoji_name": "🍜"}
    shown = (await alice.rest.change_settings(custom_status=chosen)).expect(200)["custom_status"]
    assert shown == {**chosen, "emoji_id": None, "emoji_animated": False}
    told = (await at_bob.expect("PRESENCE_UPDATE", where=lambda data: data["custom_status"] is not None)).data
    assert told["custom_status"] == shown
    await at_alice.expect("USER_SETTINGS_UPDATE")

    await trio.sleep(3_601)
    told = (await at_alice.expect("USER_SETTINGS_UPDATE")).data
    assert told["custom_status"] is None
    assert (await settings_of(alice))["custom_status"] is None
    told = (await at_bob.expect("PRESENCE_UPDATE", where=lambda data: data["custom_status"] is None)).data
    assert told["status"] == "online"


async def test_another_custom_status_is_not_taken_away_in_the_place_of_the_first(
    chat_world: World, autojump_clock: MockClock
) -> None:
    alice = chat_world.alice
    for text, seconds in (("first", 100), ("second", 1_000)):
        chosen = {"text": text, "expires_at": await after(chat_world, seconds)}
        (await alice.rest.change_settings(custom_status=chosen)).expect(200)
    await trio.sleep(500)
    assert (await settings_of(alice))["custom_status"]["text"] == "second"
    await trio.sleep(600)
    assert (await settings_of(alice))["custom_status"] is None
    (await alice.rest.change_settings(custom_status={"text": "for good"})).expect(200)
    await trio.sleep(2_000)
    assert (await settings_of(alice))["custom_status"]["text"] == "for good"


@pytest.mark.parametrize(("resets_to", "becomes"), [("idle", "idle"), (None, "online")])
async def test_a_status_for_a_while(
    chat_world: World, autojump_clock: MockClock, resets_to: str | None, becomes: str
) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    await befriend(alice, bob)
    at_alice, at_bob = await alice.connect(), await bob.connect()
    chosen = {"status": "dnd", "status_resets_at": await after(chat_world, 1_800), "status_resets_to": resets_to}
    (await alice.rest.change_settings(**chosen)).expect(200)
    await presence(at_bob, "dnd")
    await at_alice.expect("USER_SETTINGS_UPDATE")
    await trio.sleep(1_801)
    told = (await at_alice.expect("USER_SETTINGS_UPDATE")).data
    assert (told["status"], told["status_resets_at"], told["status_resets_to"]) == (becomes, None, None)
    await presence(at_bob, becomes)


async def test_what_falls_due_while_the_server_is_down_changes_at_its_start(
    chat_world: World, chat_server: ChatServer, autojump_clock: MockClock
) -> None:
    alice = chat_world.alice
    custom = {"text": "soon over", "expires_at": await after(chat_world, 50)}
    chosen = {"status": "idle", "status_resets_at": await after(chat_world, 60), "custom_status": custom}
    (await alice.rest.change_settings(**chosen)).expect(200)
    await chat_server.drain()
    await trio.sleep(100)
    await chat_server.start()
    await trio.sleep(0.1)
    settings = await settings_of(alice)
    assert (settings["status"], settings["custom_status"]) == ("online", None)


async def test_an_emoji_that_moves(chat_world: World) -> None:
    alice = chat_world.alice
    emojis = []
    for name, image in (("still", png(8, 8)), ("moving", MOVING["GIF"]())):
        body = {"name": name, "image": data_uri(image)}
        emojis.append((await alice.rest.post(f"/v1/guilds/{chat_world.guild_id}/emojis", body)).expect(200))
    at_alice = await alice.connect()
    for emoji, moves in zip(emojis, (False, True), strict=True):
        shown = (await alice.rest.change_settings(custom_status={"emoji_id": emoji["id"]})).expect(200)
        assert shown["custom_status"]["emoji_id"] == emoji["id"]
        assert shown["custom_status"]["emoji_animated"] is moves
        assert (await at_alice.expect("USER_SETTINGS_UPDATE")).data["custom_status"]["emoji_animated"] is moves


async def test_new_guilds_are_restricted_where_that_is_wanted(chat_world: World) -> None:
    admin, bob = chat_world.admin, chat_world.bob
    wanted = {"default_guilds_restricted": True, "bot_default_guilds_restricted": True}
    (await bob.rest.change_settings(**wanted)).expect(200)
    guild = (await admin.rest.create_guild("a new one")).expect(200)
    channels = (await admin.rest.get(f"/v1/guilds/{guild['id']}/channels")).expect(200)
    text_id = next(channel["id"] for channel in channels if channel["type"] == 0)
    invite = (await admin.rest.create_channel_invite(text_id)).expect(200)
    at_bob = await bob.connect()
    (await bob.rest.accept_invite(invite["code"])).expect(200)
    told = (await at_bob.expect("USER_SETTINGS_UPDATE")).data
    assert told["restricted_guilds"] == told["bot_restricted_guilds"] == [guild["id"]]
    # So the administrator cannot write to him, though they are in a guild together; he can.
    refused = await admin.rest.open_conversation(bob.id)
    assert (refused.status, refused.code) == (400, "CANNOT_SEND_MESSAGES_TO_USER")
    (await bob.rest.open_conversation(admin.id)).expect(200)
    (await bob.rest.change_settings(restricted_guilds=[])).expect(200)
    (await admin.rest.open_conversation(bob.id)).expect(200)
    (await bob.rest.delete(f"/v1/users/@me/guilds/{guild['id']}")).expect(204)
    settings = await settings_of(bob)
    assert settings["restricted_guilds"] == settings["bot_restricted_guilds"] == []
    assert guild["id"] not in [guild_id for folder in settings["guild_folders"] for guild_id in folder["guild_ids"]]


@pytest.mark.chat_settings(**{"content_policy.blocked_phrases": ["forbidden"]})
async def test_blocked_text_is_no_custom_status(chat_world: World) -> None:
    refused = await chat_world.alice.rest.change_settings(custom_status={"text": "Forbidden fruit"}, theme="dark")
    assert (refused.status, refused.code) == (403, "CONTENT_BLOCKED")
    settings = await settings_of(chat_world.alice)
    assert (settings["custom_status"], settings["theme"]) == (None, "system")
    (await chat_world.alice.rest.change_settings(custom_status={"text": "fruit"})).expect(200)
