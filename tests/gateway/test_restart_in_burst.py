"""A restart in the middle of what a session is told after its Ready (document 000, Reconnect; design 4).

Area: gateway. Rules: 000.reconnect, 000.resume.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Final

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from chat.store.connections import connect
from chat.testing import ChatServer, GatewayClient, World

GUILDS: Final = 900


async def in_burst(world: World) -> GatewayClient:
    """The bot with many guilds; it reads nothing after its Ready, so that most of them are still to come."""
    bot = await world.bot.open()
    await bot.identify(world.bot.token)
    await bot.expect("READY")
    bot.stop_reading()
    return bot


async def introduced(bot: GatewayClient) -> list[str]:
    await trio.sleep(5)
    return [payload.data["id"] for payload in bot.dispatches if payload.name == "GUILD_CREATE"]


@pytest.mark.rule("000.reconnect.1", "000.resume.14")
async def test_a_bot_hears_of_the_rest_of_its_guilds_after_the_restart(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    made = await chat_world.anyone.make_guilds(chat_world.bot.id, GUILDS)
    bot = await in_burst(chat_world)
    await trio.sleep(0.25)  # virtual: a gateway node is told meanwhile, too
    (session,) = chat_server.server.gateway.table
    assert GUILDS // 4 < len(session.joining_guild_ids) < GUILDS
    await chat_server.restart()
    (session,) = chat_server.server.gateway.table
    again = await chat_world.bot.resume(bot, sequence=1)
    told = await introduced(again)
    assert told == sorted([*made, chat_world.guild_id])
    assert not session.joining_guild_ids


@pytest.mark.parametrize("actor", ["bob", "bot"])
async def test_a_session_hears_of_guilds_that_came_and_went_while_no_server_ran(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock, tmp_path: Path, actor: str
) -> None:
    (left,) = await chat_world.anyone.make_guilds(getattr(chat_world, actor).id, 1)
    (came,) = await chat_world.anyone.make_guilds(chat_world.carol.id, 1)
    before = await getattr(chat_world, actor).connect()
    await trio.sleep(1)
    known = len(before.dispatches)
    await chat_server.drain()
    user_id = getattr(chat_world, actor).id
    with closing(connect(tmp_path / "chat.sqlite3")) as connection:
        columns = [name for _, name, *_ in connection.execute("PRAGMA table_info(members)") if name != "user_id"]
        copied = ", ".join(columns)
        connection.execute(
            f"INSERT INTO members (user_id, {copied}) SELECT ?, {copied} FROM members WHERE guild_id = ?",  # noqa: S608
            (user_id, came),
        )
        connection.execute("DELETE FROM members WHERE guild_id = ?", (left,))
    await chat_server.start()
    again = await getattr(chat_world, actor).resume(before)
    await trio.sleep(1)
    came_live = before.dispatches[known:]  # where the socket outlived the server
    heard = [payload for payload in [*came_live, *again.dispatches] if payload.name != "RESUMED"]
    told = {(payload.name, payload.data["id"]) for payload in heard}
    assert told == {("GUILD_DELETE", left), ("GUILD_CREATE", came)}
    (await chat_world.carol.rest.patch(f"/v1/guilds/{came}", {"name": "a new name"})).expect(200)
    assert (await again.expect("GUILD_UPDATE")).data["name"] == "a new name"
