"""A server that is killed after every single step of every durable job: in the end everything is as if none had been.

What `kill -9` leaves is what was committed. So the server under test ends right after the commit of a step, before
anybody hears of it, and the next one starts on what the store holds; a real process is killed in `test_jobs_kill`.

Area: durability. Rules: 002.states.
"""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import Any, Final

import pytest
import trio
from trio.testing import MockClock

from chat.domain.messages import message_search
from chat.registries.jobs import JobType
from chat.registries.user_flags import UserFlag
from chat.store.messages.message_search_entries import discrepancies
from chat.testing.server import ChatServer, open_chat_server
from chat.testing.world import World
from tests.administration.erasure.erasure_world import prepare, server_write
from tests.administration.instance.removal_world import OLD, leave_as_before, order_removal
from tests.durability.ended_servers import Killer, next_server, picture
from tests.messages.search_world import order_renewal

UNKNOWN: Final = "1234567890"
OURS: Final = frozenset(JobType) - {JobType.USER_ARCHIVE, JobType.GUILD_ARCHIVE, JobType.SUBSCRIPTION_CANCELLATION}
"""Archives and cancellations end in files and at a payment processor: they have tests of their own."""

MESSAGES_AT_ONCE: Final = 2
"""Of a step that renews the index of messages."""


def ledger(server: ChatServer) -> list[tuple[Any, ...]]:
    """Each job, and how much it did; one that goes through all files finds as many as the jobs beside it have left."""
    done = f"iif(task_type = '{JobType.METADATA_REMOVAL}', NULL, progress_current)"
    return sorted(
        server.database.reader.execute(f"SELECT task_type, status, {done}, attempts, result FROM jobs")  # noqa: S608
    )


def metadata_left(server: ChatServer) -> list[tuple[Any, ...]]:
    """Files whose rows say that they are as they came."""
    both = "SELECT id, size FROM attachments WHERE stored UNION ALL SELECT id, size FROM assets"
    return [row for row in server.database.reader.execute(both) if row[1] == len(OLD)]


async def all_over(server: ChatServer) -> None:
    """Returns once no job is left, and what jobs leave to sweeps is swept."""
    under_way = "SELECT 1 FROM jobs WHERE completed_at IS NULL"
    while server.database.reader.execute(under_way).fetchone() is not None:  # noqa: ASYNC110 - jobs tell nobody
        await trio.sleep(1)
    await trio.sleep(700)


async def order_everything(server: ChatServer, world: World) -> None:
    """One job of each type, none of which has begun."""
    admin, bob, carol = world.admin, world.bob, world.carol
    of_bob = "SELECT id FROM guilds WHERE owner_id = ?"
    bobs_guild = server.database.reader.execute(of_bob, (int(bob.id),)).fetchone()[0]
    written = []
    for number in range(3):
        channel = {"name": f"room-{number}", "type": 0}
        room = (await bob.rest.post(f"/v1/guilds/{bobs_guild}/channels", channel)).expect(200)["id"]
        written += [
            {"channel_id": room, "message_id": (await bob.rest.send_message(room, "x")).expect(200)["id"]}
            for _ in range(2)
        ]
    shred = {"entries": [*written, {"channel_id": "1", "message_id": "1"}]}
    (await admin.rest.post(f"/v1/admin/users/{bob.id}/message-shreds", shred)).expect(200)
    for task, body in {
        "update-user-flags": {"user_ids": [bob.id, UNKNOWN, carol.id], "add_flags": [str(int(UserFlag.BUG_HUNTER))]},
        "update-guild-features": {"guild_ids": [UNKNOWN, str(bobs_guild)], "add_features": ["VERIFIED"]},
        "add-guild-members": {"guild_id": str(bobs_guild), "user_ids": [bob.id, admin.id, carol.id, UNKNOWN]},
        "schedule-user-deletions": {"user_ids": [carol.id, UNKNOWN], "reason_code": 3},
    }.items():
        (await admin.rest.post(f"/v1/admin/bulk-jobs/{task}", body)).expect(200)
    cleaning = {"kinds": ["orphans", "old_renditions", "deleted_accounts"], "dry_run": False}
    (await admin.rest.post("/v1/admin/storage/clean", cleaning)).expect(200)
    letter = {"content": "hello", "user_ids": [bob.id, UNKNOWN, carol.id]}
    (await admin.rest.post("/v1/admin/system-dms", letter)).expect(200)
    home = (await bob.rest.send_files(room, {"home.jpg": OLD})).expect(200)
    assert home["attachments"][0]["size"] < len(OLD)
    await server.database.write(lambda connection: leave_as_before(server, connection))
    assert metadata_left(server)
    await server.database.write(order_removal)
    assert await server.database.write(order_renewal) > 2 * MESSAGES_AT_ONCE
    await server_write(server, "UPDATE message_search_parts SET terms_until = (SELECT max(id) FROM messages)")
    await server_write(server, "DELETE FROM retained_sessions")  # which no server has written
    await server_write(server, "UPDATE account_deletions SET due_at = ?", server.clock.now_ms())


@pytest.mark.rule("002.states.27")
async def test_every_step_of_every_job_is_done_once_whenever_the_server_is_killed(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(message_search, "RENEWED_AT_ONCE", MESSAGES_AT_ONCE)
    killer = Killer(monkeypatch)
    base, reference = tmp_path / "base", tmp_path / "reference"
    base.mkdir()
    async with open_chat_server(base) as server, trio.open_nursery() as nursery:
        world = World(server.description(), server.route(), nursery)
        await prepare(server, world)
        first = {"content": "welcome", "user_ids": [world.bob.id]}  # whose sender gets a number by chance
        (await world.admin.rest.post("/v1/admin/system-dms", first)).expect(200)
        await trio.sleep(5)
        killer.holds = True
        await order_everything(server, world)
        known = {
            value for rows in picture(server, set()).values() for row in rows for value in row if isinstance(value, int)
        } | {
            row[0]
            for table in ("users", "guilds", "channels", "messages", "roles", "applications")
            for row in server.database.reader.execute(f"SELECT id FROM {table}")  # noqa: S608
        }
        await world.aclose()
        await server.stop()
        nursery.cancel_scope.cancel()
    shutil.copytree(base, reference)

    async with open_chat_server(reference) as server:
        await next_server(server, killer)
        await all_over(server)
        expected, finished = picture(server, known), ledger(server)
    assert {row[0] for row in finished} == OURS
    assert {row[1] for row in finished} == {"completed"}

    kills, killer.holds = 0, True
    async with open_chat_server(base) as server:
        await next_server(server, killer, kills=True)
        while True:
            with trio.move_on_after(2):
                await killer.killed.wait()
            if not killer.killed.is_set():
                break
            kills += 1
            assert kills < 100, ledger(server)
            await next_server(server, killer, kills=True)
        killer.kills = False
        await all_over(server)
        assert ledger(server) == finished
        assert {row[3] for row in finished} == {0}  # a server that ends is no failed attempt
        found = picture(server, known)
        for table, rows in expected.items():
            assert Counter(found[table]) - Counter(rows) == Counter(rows) - Counter(found[table]) == Counter(), table
        assert await server.database.write(discrepancies) == []
        assert metadata_left(server) == []
    assert kills > 35, kills
