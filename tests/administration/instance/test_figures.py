"""Figures of the instance and of its gateway, and guilds that are read into memory afresh."""

from __future__ import annotations

from typing import Final

import trio
from trio.testing import MockClock

from chat import __version__
from chat.admin import buckets
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.administration.access_walk import Walked, below, walk
from tests.administration.audit import audit_log

STATS: Final = "gateway:memory_stats"
ROWS: Final = [
    Walked("GET", "/v1/admin/instance/figures", ("instance:config:view", STATS), buckets.LOOKUP, audited=False),
    Walked("GET", "/v1/admin/instance/figures/history", ("instance:config:view", STATS), buckets.LOOKUP, audited=False),
    Walked("GET", "/v1/admin/gateway", (STATS,), buckets.LOOKUP, audited=False),
    Walked("GET", "/v1/admin/gateway/guilds", (STATS,), buckets.LOOKUP, audited=False),
    Walked("GET", "/v1/admin/gateway/nodes", (STATS,), buckets.LOOKUP, audited=False),
    Walked("POST", "/v1/admin/gateway/reload", ("gateway:reload_all",), buckets.GUILD_MODIFY, {}),
]


async def test_figures_tell_what_there_is_and_guilds_are_read_afresh(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    world, admin = chat_world, chat_world.admin.rest
    assert below("/v1/admin/gateway") <= {(row.method, row.path) for row in ROWS}
    await walk(chat_server, world, ROWS, {})
    entries = audit_log(chat_server)

    first = (await admin.get("/v1/admin/instance/figures")).expect(200)
    assert first["version"] == __version__
    assert (first["accounts"], first["guilds"]) == ({"people": 4, "bots": 1, "deleted": 0}, 1)
    assert first["storage"]["database_bytes"] > 0
    for content in ("one", "two"):
        (await world.bob.rest.post(f"/v1/channels/{world.channel_id}/messages", {"content": content})).expect(200)
    # What was counted is told again for a while, what is at hand at once.
    bob = await world.bob.connect()
    await world.bot.connect()
    again = (await admin.get("/v1/admin/instance/figures")).expect(200)
    assert (again["messages"], again["sessions"], again["online"]) == (first["messages"], first["sessions"] + 2, 2)
    await trio.sleep(16)
    later = (await admin.get("/v1/admin/instance/figures")).expect(200)
    assert later["messages"] == first["messages"] + 2
    assert later["uptime_seconds"] >= first["uptime_seconds"] + 16

    gateway = (await admin.get("/v1/admin/gateway")).expect(200)
    assert gateway["sessions"] == {"total": 2, "attached": 2, "retained": 0, "bots": 1}
    assert (gateway["connections"], gateway["guilds_in_memory"], gateway["presences"]) == (2, 1, 2)
    assert (await admin.get("/v1/admin/gateway/nodes")).expect(200) == {"broker_is_up": None, "nodes": []}
    [guild] = (await admin.get("/v1/admin/gateway/guilds")).expect(200)["guilds"]
    assert (guild["guild_id"], guild["session_count"], guild["presence_count"]) == (world.guild_id, 2, 2)
    assert guild["memory_bytes"] > 0
    for wrong in ("0", "201", "x"):
        assert (await admin.get(f"/v1/admin/gateway/guilds?limit={wrong}")).expect(400)["code"] == "INVALID_FORM_BODY"
    assert audit_log(chat_server) == entries

    # The store was changed beside the server.
    async def rename(name: str) -> None:
        await chat_server.database.write(
            lambda connection: connection.execute("UPDATE guilds SET name = ? WHERE id = ?", (name, world.guild_id))
        )

    async def named() -> str:
        name: str = (await world.bob.rest.get(f"/v1/guilds/{world.guild_id}")).expect(200)["name"]
        return name

    before = await named()
    await rename("Quay")
    assert await named() == before
    assert (await admin.post("/v1/admin/gateway/reload", {"guild_ids": ["1"]})).expect(200) == {"reloaded_count": 0}
    assert await named() == before
    named_one = {"guild_ids": [world.guild_id]}
    assert (await admin.post("/v1/admin/gateway/reload", named_one)).expect(200) == {"reloaded_count": 1}
    assert await named() == "Quay"
    await rename("Pier")
    assert (await admin.post("/v1/admin/gateway/reload", {})).expect(200) == {"reloaded_count": 1}
    assert await named() == "Pier"
    assert [dict(entry.metadata) for entry in audit_log(chat_server)[len(entries) :]] == [
        {"guild_count": "0", "all": "false"},
        {"guild_count": "1", "all": "false"},
        {"guild_count": "1", "all": "true"},
    ]
    (await world.alice.rest.post(f"/v1/channels/{world.channel_id}/messages", {"content": "still here"})).expect(200)
    assert (await bob.expect("MESSAGE_CREATE")).data["content"] == "still here"
