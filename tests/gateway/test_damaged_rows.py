"""Rows that nothing of ours can have written: they fail whom they concern, by a name, and nobody else.

Area: gateway. Rules: 000.states.
"""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest
import trio
import trio.testing
from structlog.testing import capture_logs
from trio.testing import MockClock

from chat.registries.close_codes import CLOSES, FAILED_TO_START_SESSION, SESSION_UNAVAILABLE
from chat.registries.opcodes import Opcode
from chat.testing import ChatServer, GatewayClient, World
from tests.gateway.conversations import closes, invalidated, resumed
from tests.gateway.sockets import sockets_of
from tests.openapi.furnished import furnish

GARBAGE: Final = {
    "INTEGER": [str(-(2**62))],
    "TEXT": ["'{damaged'", "CAST(x'ff7b' AS TEXT)"],
    "BLOB": ["x'ff7b'"],
}
"""SQL by a column's type; the second text is no UTF-8."""

READ: Final = (
    "applications",
    "auth_sessions",
    "channels",
    "direct_messages",
    "expressions",
    "favorite_memes",
    "guilds",
    "member_roles",
    "members",
    "messages",
    "permission_overwrites",
    "private_channel_recipients",
    "read_states",
    "relationships",
    "roles",
    "thread_members",
    "threads",
    "user_guild_settings",
    "user_notes",
    "user_settings",
    "users",
    "webauthn_credentials",
)
"""Tables that Ready, Guild Create and the requests below are made of."""

REQUESTED: Final = ("channels", "guilds", "members", "messages", "users")
REQUESTS: Final = (
    "/v1/users/@me",
    "/v1/users/@me/guilds",
    "/v1/users/@me/channels",
    "/v1/guilds/{guild_id}/channels",
    "/v1/channels/{channel_id}/messages",
)


@contextmanager
def stored(folder: Path) -> Iterator[sqlite3.Connection]:
    """The database, for writing what the schema forbids; what was written is taken back afterwards."""
    with closing(sqlite3.connect(folder / "chat.sqlite3")) as connection, closing(sqlite3.connect(":memory:")) as saved:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.backup(saved)
        for trigger in ("member_renamed", "account_renamed"):  # they refuse a name that is no text
            connection.execute(f"DROP TRIGGER {trigger}")
        try:
            yield connection
        finally:
            connection.rollback()
            saved.backup(connection)


async def something_of_everything(server: ChatServer, world: World) -> None:
    description = server.description()
    await furnish(SimpleNamespace(world=description, alice=world.alice.rest))  # type: ignore[arg-type]
    alice, bob = world.alice.rest, world.bob.id
    friends = {"user_id": world.alice.id, "target_user_id": bob, "type": 1}
    assert (await world.anyone.post("/v1/_dev/relationships", friends)).status == 204
    (await alice.write_note(bob, "a note")).expect(204)
    (await alice.change_guild_settings(world.guild_id, muted=True)).expect(200)
    conversation = (await alice.open_conversation(bob)).expect(200)["id"]
    (await alice.put(f"/v1/users/@me/channels/{conversation}/pin")).expect(204)
    overwrite = {"type": 1, "allow": "1024", "deny": "0"}
    (await alice.put(f"/v1/channels/{world.channel_id}/permissions/{bob}", overwrite)).expect(204)


def damages(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """Where something may be damaged, and the statement that does it."""
    found = []
    for table in READ:
        if connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]:  # noqa: S608
            for _, column, kind, *_ in connection.execute(f"PRAGMA table_info({table})"):
                update = f"UPDATE OR IGNORE {table} SET {column} = "  # noqa: S608
                found += [(f"{table}.{column}", update + garbage) for garbage in GARBAGE.get(kind, ())]
    return found


async def started(world: World, token: str) -> tuple[GatewayClient, Any]:
    """A socket that identifies, and what came of it: READY, or a close."""
    client = await world.open(heartbeats=False)
    await client.identify(token)
    await trio.testing.wait_all_tasks_blocked()
    return client, next((payload.name for payload in client.dispatches), client.close_frame)


def errors(logged: list[Any]) -> list[Any]:
    return [line for line in logged if line["log_level"] == "error"]


async def test_damage_of_one_guild_takes_the_session_out_of_those_that_it_had_entered(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock, tmp_path: Path
) -> None:
    last = (await chat_world.alice.rest.post("/v1/guilds", {"name": "Entered last"})).expect(200)["id"]
    await chat_world.bob.connect()
    gateway, states = chat_server.server.gateway, chat_server.server.core.guild_states
    first = int(chat_world.guild_id)
    alone, both = {int(chat_world.bob.id)}, {int(chat_world.bob.id), int(chat_world.alice.id)}
    states.forget(int(last))
    with stored(tmp_path) as connection, capture_logs() as logged:
        connection.execute("UPDATE guilds SET features = '{' WHERE id = ?", (last,))
        connection.commit()
        _, outcome = await started(chat_world, chat_world.alice.token)
        assert outcome == FAILED_TO_START_SESSION
        assert len(errors(logged)) == 1
        assert {guild_id: {*room.accounts} for guild_id, room in gateway.hub.rooms.items()} == {first: alone}
    _, outcome = await started(chat_world, chat_world.alice.token)
    assert outcome == "READY"
    assert {guild_id: {*room.accounts} for guild_id, room in gateway.hub.rooms.items()} == {
        first: both,
        int(last): both - alone,
    }


@pytest.mark.long
@pytest.mark.rule("000.states.17")
async def test_a_session_that_damage_keeps_from_starting_closes_by_name_and_leaves_nothing_behind(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock, tmp_path: Path
) -> None:
    await something_of_everything(chat_server, chat_world)
    gateway, states = chat_server.server.gateway, chat_server.server.core.guild_states
    with stored(tmp_path) as connection:
        ways = damages(connection)
    met: Counter[Any] = Counter()
    for where, statement in ways:
        for actor in (chat_world.alice, chat_world.bot):
            states.forget_all()
            with stored(tmp_path) as connection, capture_logs() as logged:
                connection.execute(statement)
                connection.commit()
                client, came = await started(chat_world, actor.token)
                assert came == "READY" or came in CLOSES, (where, came, logged)
                if came == FAILED_TO_START_SESSION:
                    assert len(errors(logged)) == 1, (where, logged)
                    assert not list(gateway.table), where
                elif actor is chat_world.bot and came == "READY":
                    names = [payload.name for payload in client.dispatches]
                    assert names[1:] == ["GUILD_DELETE"] or (names[1:] == ["GUILD_CREATE"] and not errors(logged)), (
                        where
                    )
                client.drop()
                await chat_world.anyone.fault("end_session", "all")
                assert not list(gateway.table), where
                assert not gateway.hub.rooms, where
            met[came] += 1
    assert met[FAILED_TO_START_SESSION] > 20
    states.forget_all()
    for actor in (chat_world.alice, chat_world.bot):
        await actor.connect()


async def test_a_request_that_meets_damage_is_an_error_of_its_own(
    chat_server: ChatServer,
    chat_world: World,
    autojump_clock: MockClock,
    tmp_path: Path,
    answers_are_as_declared: list[str],
) -> None:
    await something_of_everything(chat_server, chat_world)
    with stored(tmp_path) as connection:
        ways = [way for way in damages(connection) if way[0].split(".")[0] in REQUESTED]
    met: Counter[int] = Counter()
    for where, statement in ways:
        chat_server.server.core.guild_states.forget_all()
        with stored(tmp_path) as connection:
            connection.execute(statement)
            connection.commit()
            for path in REQUESTS:
                filled = path.format(guild_id=chat_world.guild_id, channel_id=chat_world.channel_id)
                with capture_logs() as logged:
                    answer = await chat_world.alice.rest.get(filled)
                assert answer.status in (200, 401, 403, 404, 500), (where, path, answer)
                failed = [line for line in errors(logged) if line["event"] == "request failed"]
                assert len(failed) == (answer.status == 500), (where, path, logged)
                met[answer.status] += 1
    assert met[500] > 10
    answers_are_as_declared.clear()  # damage that is not noticed is shown
    (await chat_world.alice.rest.get("/v1/users/@me")).expect(200)


async def test_a_resume_that_meets_damage_closes_and_keeps_the_session(
    chat_world: World, autojump_clock: MockClock, tmp_path: Path
) -> None:
    bob = await chat_world.bob.connect()
    bob.drop()
    with stored(tmp_path) as connection, capture_logs() as logged:
        connection.execute("UPDATE users SET acls = '{damaged'")
        connection.commit()
        await closes(await chat_world.bob.resume(bob), SESSION_UNAVAILABLE)
    assert len(errors(logged)) == 1
    await resumed(await chat_world.bob.resume(bob))


async def test_a_held_identify_that_meets_damage_closes(
    chat_world: World, autojump_clock: MockClock, tmp_path: Path
) -> None:
    await chat_world.anyone.node(starts_paused=True)
    client, came = await started(chat_world, chat_world.bob.token)
    assert came is None
    await chat_world.anyone.node(starts_paused=False)
    with stored(tmp_path) as connection, capture_logs() as logged:
        connection.execute("UPDATE user_settings SET body = '{damaged'")
        connection.execute("UPDATE users SET acls = '{damaged'")
        connection.commit()
        await closes(client, FAILED_TO_START_SESSION)
    assert len(errors(logged)) == 1


async def test_a_command_that_meets_damage_closes_and_keeps_the_session(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock, tmp_path: Path
) -> None:
    knowing = chat_world.alice.rest.declaring("channel_threads")
    thread = (await knowing.start_thread(chat_world.channel_id, "a thread")).expect(201)
    await knowing.aclose()
    bot = await chat_world.bot.connect(heartbeats=False)
    await bot.expect("GUILD_CREATE")
    with stored(tmp_path) as connection, capture_logs() as logged:
        connection.execute("UPDATE threads SET applied_tags = '{damaged'")
        connection.commit()
        wanted = {"guild_id": chat_world.guild_id, "channel_id": chat_world.channel_id}
        await bot.send(Opcode.REQUEST_FORUM_UNREADS, {**wanted, "threads": [{"thread_id": thread["id"]}]})
        await closes(bot, SESSION_UNAVAILABLE)
    assert len(errors(logged)) == 1
    await resumed(await chat_world.bot.resume(bot))


@pytest.mark.own_gateway  # at a node the numbers of sessions outlive what the server has kept of them
@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE retained_sessions SET body = x'ff7b'",
        "DELETE FROM retained_events",
        "UPDATE retained_events SET name = CAST(x'ff7b' AS TEXT)",
        "UPDATE guilds SET features = '{damaged'",
    ],
)
async def test_sessions_that_cannot_be_taken_up_do_not_keep_the_server_from_starting(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock, tmp_path: Path, damage: str
) -> None:
    bob = await chat_world.bob.connect()
    await chat_world.alice.rest.send_message(chat_world.channel_id, "hello")
    await bob.expect("MESSAGE_CREATE")
    await chat_server.drain()
    with stored(tmp_path) as connection, capture_logs() as logged:
        connection.execute(damage)
        connection.commit()
        await chat_server.start()
        await invalidated(await chat_world.bob.resume(bob))
        await chat_server.stop()
    assert len(errors(logged)) == 1
    await chat_server.start()


class Broken:
    """A compressor with a defect."""

    def compress(self, data: bytes) -> bytes:
        raise ValueError("a defect")


@pytest.mark.own_parts
@pytest.mark.parametrize("task", ["reader", "deadlines", "fan-out", "replay"])
async def test_a_defect_in_any_task_of_a_socket_closes_that_socket_alone(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock, task: str
) -> None:
    carol = await chat_world.carol.connect()
    bob = await chat_world.bob.connect(heartbeats=False)
    bob.drop()
    for _ in range(200):
        (await chat_world.alice.rest.send_message(chat_world.channel_id, os.urandom(1_900).hex())).expect(200)
    again = await chat_world.bob.open(compressed=True, heartbeats=False)
    if task == "replay":
        again.stop_reading()
    await again.resume(chat_world.bob.token, bob.session_id, 1)
    await trio.testing.wait_all_tasks_blocked()
    connection: Any = next(
        each for each in sockets_of(chat_server) if each.session is not None and each.session.id == bob.session_id
    )
    connection._compressor = Broken()
    with capture_logs() as logged:
        match task:
            case "reader":
                await again.heartbeat(None)
            case "deadlines":
                await trio.sleep(38)
            case "fan-out":
                await chat_world.alice.rest.send_message(chat_world.channel_id, "hello")
            case "replay":
                again.go_on_reading()
        await closes(again, SESSION_UNAVAILABLE)
    assert len(errors(logged)) == 1
    await resumed(await chat_world.bob.resume(bob, sequence=1))
    (await chat_world.alice.rest.send_message(chat_world.channel_id, "bye")).expect(200)
    await carol.expect("MESSAGE_CREATE", where=lambda d: d["content"] == "bye")
