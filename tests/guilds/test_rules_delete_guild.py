"""Delete guild and Transfer ownership (document 001, POST /v1/guilds/{guild_id}/delete).

Area: guilds. Rules: 001.delete.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import trio

from chat.store.guilds import channels
from chat.store.messages import messages
from chat.testing.rest_client import Response, RestClient
from chat.testing.server import ChatServer, open_chat_server
from chat.testing.world import Actor, Person, World
from tests.spec.ledger import proves


async def delete(world: World, person: Person, password: str | None = None) -> Response:
    """Delete guild with the person's password, or another one."""
    body = {"password": person.password if password is None else password}
    return await person.rest.post(f"/v1/guilds/{world.guild_id}/delete", body)


async def test_who_can_delete_a_guild(chat_world: World) -> None:
    path = f"/v1/guilds/{chat_world.guild_id}/delete"
    member, unproven, bot, faulty = (f"001.delete.{number}" for number in (2, 3, 4, 7))
    for rule, actor, body, expected in (
        (member, chat_world.bob, {"password": chat_world.bob.password}, (403, "MISSING_PERMISSIONS")),
        (unproven, chat_world.bob, {}, (403, "SUDO_MODE_REQUIRED")),
        (member, chat_world.admin, {"password": chat_world.admin.password}, (403, "MISSING_PERMISSIONS")),
        (bot, chat_world.bot, {}, (403, "MISSING_PERMISSIONS")),
        (unproven, chat_world.alice, {}, (403, "SUDO_MODE_REQUIRED")),
        (faulty, chat_world.alice, {"password": "not hers at all"}, (400, "INVALID_FORM_BODY")),
        (faulty, chat_world.alice, {"password": 7}, (400, "INVALID_FORM_BODY")),
    ):
        with proves(rule):
            refused = await actor.rest.post(path, body)
            assert (refused.status, refused.code) == expected
    with proves("001.delete.5"):
        assert (await chat_world.alice.rest.request("POST", path)).code == "SUDO_MODE_REQUIRED"
    with proves("001.delete.1"):
        gone = await delete(chat_world, chat_world.alice)
        assert (gone.status, gone.body) == (204, b"")
    again = await delete(chat_world, chat_world.alice)
    assert (again.status, again.code) == (404, "UNKNOWN_GUILD")


async def test_everybody_loses_it(chat_world: World, chat_server: ChatServer) -> None:
    people: list[Actor] = [chat_world.alice, chat_world.bob, chat_world.bot]
    sessions = [await actor.connect() for actor in people]
    await sessions[2].expect("GUILD_CREATE")
    guild_id = chat_world.guild_id
    (await delete(chat_world, chat_world.alice)).expect(204)
    with proves("001.delete.8"):
        for session in sessions:
            assert (await session.expect("GUILD_DELETE")).data == {"id": guild_id, "guild_id": guild_id}
    with proves("001.delete.10"):
        for session in sessions[:2]:
            folders = (await session.expect("USER_SETTINGS_UPDATE")).data["guild_folders"]
            assert not any(guild_id in folder["guild_ids"] for folder in folders)
    with proves("001.delete.10"):
        assert "USER_SETTINGS_UPDATE" not in {payload.members["t"] for payload in sessions[2].dispatches}
    assert (await chat_world.bob.rest.get("/v1/users/@me/guilds")).expect(200) == []
    with proves("001.delete.9"):
        fresh = (await chat_world.bob.connect()).ready
        assert (fresh["guilds"], fresh["user_guild_settings"]) == ([], [])
    with proves("001.delete.11"):
        assert (await chat_world.alice.rest.get(f"/v1/guilds/{guild_id}/audit-logs")).code == "UNKNOWN_GUILD"
        rows = chat_server.database.reader.execute("SELECT count(*) FROM guild_audit_log").fetchone()
        assert rows == (0,)


async def test_nothing_of_it_is_left_behind(chat_world: World, chat_server: ChatServer) -> None:
    sent = [
        (await chat_world.bob.rest.send_message(chat_world.channel_id, f"{number}")).expect(200)["id"]
        for number in range(5)
    ]
    (await delete(chat_world, chat_world.alice)).expect(204)
    for answer in (
        await chat_world.bob.rest.get(f"/v1/channels/{chat_world.channel_id}"),
        await chat_world.bob.rest.send_message(chat_world.channel_id, "anybody?"),
    ):
        assert (answer.status, answer.code) == (404, "UNKNOWN_CHANNEL")
    for _ in range(100):  # the sweep works in the background
        if channels.by_id(chat_server.database.reader, int(chat_world.channel_id)) is None:
            break
        await trio.sleep(0.01)
    assert channels.by_id(chat_server.database.reader, int(chat_world.channel_id)) is None
    assert messages.by_ids(chat_server.database.reader, map(int, sent)) == []


@pytest.mark.rule("001.delete.6")
async def test_the_one_community_stays(tmp_path: Path) -> None:
    async with open_chat_server(tmp_path) as server:
        guild_id = server.description()["guild_id"]
    for protected, expected in ((int(guild_id), (400, "SINGLE_COMMUNITY_CANNOT_DELETE")), (1, (204, None))):
        settings = {"single_community_enabled": True, "single_community_guild_id": protected}
        async with open_chat_server(tmp_path, settings=settings) as server:
            alice = server.description()["users"][0]
            client = RestClient(server.route(), alice["token"])
            answer = await client.post(f"/v1/guilds/{guild_id}/delete", {"password": alice["password"]})
            assert (answer.status, answer.code) == expected
            await client.aclose()


async def test_a_guild_is_handed_over(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    path = f"/v1/guilds/{chat_world.guild_id}/transfer-ownership"
    at_carol = await chat_world.carol.connect()
    for actor, target, expected in (
        (bob, bob.id, (403, "MISSING_PERMISSIONS")),
        (alice, chat_world.admin.id, (404, "UNKNOWN_MEMBER")),
        (alice, chat_world.bot.id, (400, "CANNOT_TRANSFER_OWNERSHIP_TO_BOT")),
    ):
        refused = await actor.rest.post(path, {"new_owner_id": target, "password": actor.password})
        assert (refused.status, refused.code) == expected
    unproved = await alice.rest.post(path, {"new_owner_id": bob.id})
    assert (unproved.status, unproved.code) == (403, "SUDO_MODE_REQUIRED")
    body = {"new_owner_id": bob.id, "password": alice.password}
    assert (await alice.rest.post(path, body)).expect(200)["owner_id"] == bob.id
    assert (await at_carol.expect("GUILD_UPDATE")).data["owner_id"] == bob.id
    log = (await bob.rest.get(f"/v1/guilds/{chat_world.guild_id}/audit-logs")).expect(200)["audit_log_entries"]
    assert log[0]["changes"] == [{"key": "owner_id", "old_value": alice.id, "new_value": bob.id}]
    assert (await alice.rest.post(path, body)).code == "MISSING_PERMISSIONS"
