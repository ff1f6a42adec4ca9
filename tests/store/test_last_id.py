"""Ids ascend whatever the clock does: what is in the store counts, for the server and for commands beside it."""

from __future__ import annotations

import contextlib
from pathlib import Path

import structlog
import trio
import trio.testing

from chat.clock import JUMP_MS
from chat.snowflake import snowflake_at
from chat.store.connections import connect
from chat.store.guilds import guilds
from chat.store.guilds.guilds import Guild
from chat.store.migrations import prepare
from chat.store.whole_database import TABLES, last_id
from chat.testing.server import OUTSIDE_POLL_SECONDS, ChatServer
from chat.testing.world import World

NUMBERED = {
    "_sqlite_migrations",
    "account_changes",
    "errands",
    "mail_outbox",
    "mails",
    "message_reactions",
    "outside_changes",
}
"""Tables that SQLite numbers."""

NOT_MADE_HERE = {"retained_events", "saved_messages"}
"""`id` is a number of the session's, or stands for a message's place among those of one account."""


def test_every_table_with_ids_of_ours_is_looked_at_and_in_no_time(tmp_path: Path) -> None:
    prepare(tmp_path / "chat.db", durable=False)
    with contextlib.closing(connect(tmp_path / "chat.db")) as connection:
        found = connection.execute(
            """
            SELECT tables.name FROM sqlite_master AS tables, pragma_table_info(tables.name) AS columns
             WHERE tables.type = 'table' AND columns.name = 'id' AND columns.type = 'INTEGER'
            """
        )
        names = {name for (name,) in found if "_search_" not in name}
        assert names - NUMBERED - NOT_MADE_HERE - {"threads"} == set(TABLES)  # a thread has its channel's id
        for table in TABLES:
            plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN SELECT max(id) FROM {table}")]  # noqa: S608
            assert len(plan) == 1
            assert plan[0].startswith("SEARCH"), (table, plan)
        assert last_id(connection) == 0


async def test_after_a_restart_on_a_clock_that_went_back_ids_go_on(
    chat_server: ChatServer, chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    alice, channel = chat_world.alice.rest, chat_world.channel_id
    chat_server.clock.skip(10 * 86_400_000)
    before = (await alice.send_message(channel, "from the future")).expect(200)["id"]
    chat_server.clock.set_back()
    with structlog.testing.capture_logs() as lines:
        await chat_server.restart()
    [told] = [line for line in lines if line["event"].startswith("the clock is behind")]
    assert told["seconds"] * 1000 > JUMP_MS
    after = (await alice.send_message(channel, "from the past")).expect(200)["id"]
    assert int(after) > int(before)
    newest = (await alice.get(f"/v1/channels/{channel}/messages")).expect(200)
    assert [message["content"] for message in newest] == ["from the past", "from the future"]


async def test_the_id_of_a_deleted_message_is_not_gone_below(
    chat_server: ChatServer, chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    alice, channel = chat_world.alice.rest, chat_world.channel_id
    chat_server.clock.skip(10 * 86_400_000)
    deleted = (await alice.send_message(channel, "from the future")).expect(200)["id"]
    await alice.delete_message(channel, deleted)
    chat_server.clock.set_back()
    await chat_server.restart()
    after = (await alice.send_message(channel, "from the past")).expect(200)["id"]
    assert int(after) > int(deleted)
    told = (await alice.get(f"/v1/channels/{channel}")).expect(200)
    assert told["last_message_id"] == after


async def test_what_a_command_made_beside_the_server_counts_too(
    chat_server: ChatServer, chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    made_outside = snowflake_at(chat_server.clock.now_ms() + 86_400_000) + 7
    await chat_server.database.write(
        lambda connection: guilds.insert(
            connection, Guild(made_outside, chat_server.world.people[1].id, "x", created_at=1)
        )
    )
    await trio.sleep(OUTSIDE_POLL_SECONDS + 1)
    sent = (await chat_world.alice.rest.send_message(chat_world.channel_id, "later")).expect(200)
    assert int(sent["id"]) > made_outside
