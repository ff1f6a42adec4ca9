"""What happens when part of an administrative operation fails: the store's own faults, mail that goes nowhere, a lock
that somebody else holds; and how much of anything there can be (document 002).

Area: administration. Rules: 002.ban, 002.change-log-object, 002.deletion, 002.dm-channels, 002.relationships,
002.relationships-clear, 002.unban, 002.username.
"""

# ruff: noqa: S608 - the statements are made of what the test knows

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from typing import Any, Final

import pytest
import trio
from trio.testing import MockClock

from chat.domain.administration.account_fields import ALLOCATION_WAIT_SECONDS
from chat.domain.administration.account_lists import GROUPS_MAXIMUM
from chat.domain.administration.reports import READ_AT_ONCE
from chat.registries.user_flags import UserFlag
from chat.snowflake import snowflake_at
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.administration.asking import Asking
from tests.administration.audit import audit_log
from tests.canaries import Watch
from tests.mail.smtp_server import free_port

SPAM: Final = 3
WORDS: Final = """
    WITH RECURSIVE counted(number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM counted WHERE number < {count})
"""


@pytest.fixture
def ask(chat_server: ChatServer, chat_world: World, autojump_clock: MockClock) -> Asking:
    return Asking(chat_server, chat_world)


async def store(server: ChatServer, *statements: str) -> None:
    """Change the store beside the server."""

    def unit(connection: sqlite3.Connection) -> None:
        for statement in statements:
            connection.execute(statement)

    await server.database.write(unit)


async def refuse(server: ChatServer, table: str, deed: str = "INSERT", when: str = "1") -> None:
    """From now on the store fails where something does this to the table."""
    await store(
        server,
        f"""
        CREATE TRIGGER broken_{table} BEFORE {deed} ON {table} WHEN {when}
         BEGIN SELECT RAISE(ABORT, 'this part of the store is broken'); END
        """,
    )


# Letters


async def go_through(ask: Asking) -> list[dict[str, str]]:
    """A ban, its end, a deletion and its end, all of which the holder is told of; what the log says of each."""
    user = await ask.user("PUT", "/ban", {"duration_hours": 2})
    assert int(user["flags"]) & UserFlag.DISABLED
    assert (await ask.world.bob.rest.get("/v1/users/@me")).status == 401
    user = await ask.user("DELETE", "/ban", {})
    assert (user["temp_banned_until"], int(user["flags"]) & UserFlag.DISABLED) == (None, 0)
    user = await ask.user("PUT", "/deletion", {"reason_code": 2})
    pending = user["pending_deletion_at"]
    assert pending is not None
    user = await ask.user("DELETE", "/deletion", {"expected_pending_deletion_at": pending, "notify_user": True})
    assert user["pending_deletion_at"] is None
    actions = ("temp_ban", "unban", "schedule_deletion")
    return [dict(ask.entries(action)[-1].metadata) for action in actions]


@pytest.mark.rule("002.ban.11", "002.unban.8", "002.deletion.34")
async def test_a_letter_that_cannot_be_written_stops_nothing(
    ask: Asking, autojump_clock: MockClock, secrets_stay_secret: Watch
) -> None:
    for told in await go_through(ask):
        assert told["notification_sent"] == "true"
    before = len((await ask.world.anyone.get("/v1/_dev/mail")).expect(200))
    assert before == 4
    await refuse(ask.server, "mails")
    told = await go_through(ask)
    assert [entry["notification_sent"] for entry in told] == ["false", "false", "false"]
    assert told[-1]["notification_template"] == "deletion_enforcement"  # it was attempted
    assert len((await ask.world.anyone.get("/v1/_dev/mail")).expect(200)) == before
    logged = [line for line in secrets_stay_secret.lines if "a mail could not be written" in line]
    kinds = ("temporary_ban", "unban", "deletion_enforcement", "deletion_cancelled")
    assert len(logged) == len(kinds)
    for line, kind in zip(logged, kinds, strict=True):
        assert repr(kind) in line


@pytest.mark.rule("002.ban.11", "002.unban.8", "002.deletion.34")
@pytest.mark.chat_settings(
    **{
        "mail.mode": "smtp",
        "mail.host": "127.0.0.1",
        "mail.port": free_port(),
        "mail.from": "chat@example.com",
        "mail.tls": "off",
    }
)
async def test_a_letter_that_nobody_takes_stops_nothing(
    ask: Asking, autojump_clock: MockClock, secrets_stay_secret: Watch
) -> None:
    await go_through(ask)
    await trio.sleep(1)
    assert [line for line in secrets_stay_secret.lines if "the SMTP server cannot be used" in line]
    waiting = ask.server.database.reader.execute("SELECT kind FROM mail_outbox ORDER BY id").fetchall()
    assert [kind for (kind,) in waiting] == ["temporary_ban", "unban", "deletion_enforcement", "deletion_cancelled"]


# What follows from misconduct


async def reports_of_bob(ask: Asking, count: int) -> None:
    """Write `count` pending reports against bob straight into the store."""
    bob, carol = ask.world.bob.id, ask.world.carol.id
    now = snowflake_at(ask.server.clock.now_ms())
    await store(
        ask.server,
        WORDS.format(count=count)
        + f"""
        INSERT INTO reports (id, kind, reporter_id, reported_user_id, category, additional_info, status)
        SELECT {now} + number, 'user', {carol}, {bob}, 'spam', 'number ' || number, 'pending' FROM counted
        """,
    )


def pending(server: ChatServer) -> int:
    rows = server.database.reader.execute("SELECT count(*) FROM reports WHERE status = 'pending'")
    return int(rows.fetchone()[0])


def outcome(ask: Asking) -> dict[str, Any]:
    [entry] = ask.entries("auto_resolve_reports_on_deletion")
    return {name: value if name == "outcome" else int(value) for name, value in entry.metadata.items()}


@pytest.mark.rule("002.deletion.40")
async def test_a_deletion_stands_whatever_becomes_of_what_follows_from_it(
    ask: Asking, autojump_clock: MockClock, secrets_stay_secret: Watch
) -> None:
    await reports_of_bob(ask, 3)
    await refuse(ask.server, "blocklists")
    user = await ask.user("PUT", "/deletion", {"reason_code": SPAM, "notify_user": False})
    assert user["pending_deletion_at"] is not None
    assert await ask.shown() == user
    blocked = ask.server.database.reader.execute("SELECT count(*) FROM blocklists").fetchone()
    assert (blocked, ask.entries("ban_email")) == ((0,), [])
    assert [line for line in secrets_stay_secret.lines if "the address of a deleted account was not blocked" in line]
    # The one does not keep the other from being done.
    assert outcome(ask) == {
        "outcome": "completed",
        "found_count": 3,
        "resolved_count": 3,
        "failed_count": 0,
        "notified_count": 3,
    }
    assert pending(ask.server) == 0

    carol = Asking(ask.server, ask.world, ask.world.carol.id)
    await store(ask.server, "DROP TRIGGER broken_blocklists", "DROP TABLE reports")
    user = await carol.user("PUT", "/deletion", {"reason_code": SPAM, "notify_user": False})
    assert user["pending_deletion_at"] is not None
    assert [entry.target_id for entry in ask.entries("ban_email")] == ["carol@example.com"]


@pytest.mark.rule("002.deletion.40")
async def test_a_report_that_cannot_be_resolved_is_counted(
    ask: Asking, autojump_clock: MockClock, secrets_stay_secret: Watch
) -> None:
    await reports_of_bob(ask, 5)
    await refuse(ask.server, "reports", "UPDATE", "OLD.additional_info IN ('number 2', 'number 3')")
    await ask.user("PUT", "/deletion", {"reason_code": SPAM, "notify_user": False})
    assert outcome(ask) == {
        "outcome": "completed",
        "found_count": 5,
        "resolved_count": 3,
        "failed_count": 2,
        "notified_count": 3,
    }
    assert pending(ask.server) == 2
    assert len([line for line in secrets_stay_secret.lines if "a report was not resolved" in line]) == 2


@pytest.mark.rule("002.deletion.50")
@pytest.mark.chat_settings(search="off")
async def test_without_a_search_all_reports_stay_pending(ask: Asking, autojump_clock: MockClock) -> None:
    await reports_of_bob(ask, 3)
    user = await ask.user("PUT", "/deletion", {"reason_code": SPAM})
    assert user["pending_deletion_at"] is not None
    assert outcome(ask) == {
        "outcome": "search_unavailable",
        "found_count": 0,
        "resolved_count": 0,
        "failed_count": 0,
        "notified_count": 0,
    }
    assert pending(ask.server) == 3
    assert [entry.target_id for entry in ask.entries("ban_email")] == ["bob@example.com"]


@pytest.mark.rule("002.deletion.51", "002.deletion.40")
async def test_a_listing_that_breaks_off_leaves_the_rest_pending(ask: Asking, autojump_clock: MockClock) -> None:
    await reports_of_bob(ask, READ_AT_ONCE + 20)
    # A damaged text: whoever reads the page that it is on gets nothing of that page.
    damaged = f"number {READ_AT_ONCE + 10}"
    await store(
        ask.server, f"UPDATE reports SET additional_info = CAST(x'FFFE' AS TEXT) WHERE additional_info = '{damaged}'"
    )
    user = await ask.user("PUT", "/deletion", {"reason_code": SPAM, "notify_user": False})
    assert user["pending_deletion_at"] is not None
    assert outcome(ask) == {
        "outcome": "enumeration_failed",
        "found_count": READ_AT_ONCE,
        "resolved_count": READ_AT_ONCE,
        "failed_count": 0,
        "notified_count": READ_AT_ONCE,
    }
    assert pending(ask.server) == 20


# Relationships


def related(ask: Asking) -> dict[int, int]:
    rows = ask.server.database.reader.execute(
        "SELECT target_id, type FROM relationships WHERE user_id = ?", (int(ask.user_id),)
    )
    return dict(rows.fetchall())


@pytest.mark.rule("002.relationships-clear.11")
async def test_a_removal_that_stops_part_way_says_what_it_has_done(ask: Asking, autojump_clock: MockClock) -> None:
    world = ask.world
    people = sorted((world.alice, world.carol, world.admin), key=lambda person: int(person.id))
    for person in people:
        body = {"user_id": world.bob.id, "target_user_id": person.id, "type": 1}
        (await world.anyone.post("/v1/_dev/relationships", body)).expect(204)
    bob = await world.bob.connect()
    await refuse(ask.server, "relationships", "DELETE", f"OLD.target_id = {people[1].id}")
    answer = await ask("DELETE", "/relationships?category=friend")
    assert answer.expect(500)["code"] == "INTERNAL_SERVER_ERROR"
    assert related(ask).keys() == {int(person.id) for person in people[1:]}
    assert (await bob.expect("RELATIONSHIP_REMOVE")).data["id"] == people[0].id
    [entry] = audit_log(ask.server)
    assert (entry.action, entry.target_id) == ("remove_relationships_by_category", world.bob.id)
    assert entry.metadata == {"category": "friend", "removed_count": "1"}

    # Where nothing was removed there is nothing to tell.
    assert (await ask.refused("DELETE", "/relationships?category=friend"))[:2] == (500, "INTERNAL_SERVER_ERROR")
    await store(ask.server, "DROP TRIGGER broken_relationships")
    assert (await ask("DELETE", "/relationships?category=friend")).expect(200) == {"removed_count": 2}
    assert related(ask) == {}


@pytest.mark.rule("002.relationships.5")
async def test_a_relationship_of_no_known_kind_is_left_out(ask: Asking, autojump_clock: MockClock) -> None:
    world = ask.world
    await store(
        ask.server,
        f"INSERT INTO relationships (user_id, target_id, type) VALUES ({world.bob.id}, {world.alice.id}, 1)",
        f"INSERT INTO relationships (user_id, target_id, type) VALUES ({world.bob.id}, {world.carol.id}, 9)",
        f"INSERT INTO relationships (user_id, target_id, type) VALUES ({world.bob.id}, {world.admin.id}, 0)",
    )
    answer = (await ask("GET", "/relationships")).expect(200)
    assert [entry["target_user_id"] for entry in answer.pop("friends")] == [world.alice.id]
    assert answer == {"incoming_requests": [], "outgoing_requests": [], "blocked": []}
    [entry] = ask.entries("list_user_relationships")
    assert entry.metadata == {
        "friend_count": "1",
        "incoming_request_count": "0",
        "outgoing_request_count": "0",
        "blocked_count": "0",
    }


# Conversations


@pytest.mark.rule("002.dm-channels.10", "002.dm-channels.11")
async def test_no_more_conversations_than_that(ask: Asking, autojump_clock: MockClock) -> None:
    for kind, first, most in ((1, 1_000, 200), (3, 10_000, GROUPS_MAXIMUM)):
        await store(
            ask.server,
            WORDS.format(count=most + 1)
            + f"INSERT INTO channels (id, type) SELECT {first} + number, {kind} FROM counted",
            f"""
            INSERT INTO private_channel_recipients (channel_id, user_id, is_shown)
            SELECT id, {ask.user_id}, 1 FROM channels WHERE type = {kind}
            """,
        )
    for query, count in (("", 50), ("?limit=200", 200), ("?type=group_dm", 500), ("?type=group_dm&limit=1", 500)):
        channels = (await ask("GET", f"/dm-channels{query}")).expect(200)["channels"]
        assert len(channels) == count, query
        assert ask.entries("list_user_dm_channels")[-1].metadata["channel_count"] == str(count)
    assert (await ask.refused("GET", "/dm-channels?limit=201"))[:2] == (400, "INVALID_FORM_BODY")


# Tags


async def take_every_tag(server: ChatServer, username: str) -> None:
    await store(
        server,
        WORDS.format(count=9_999)
        + f"""
        INSERT INTO users (id, username, username_key, discriminator, created_at)
        SELECT 100 + number, '{username}', '{username}', number, 0 FROM counted
        """,
    )


@pytest.mark.rule("002.username.16")
async def test_a_name_of_which_every_discriminator_is_taken(ask: Asking, autojump_clock: MockClock) -> None:
    before = await ask.shown()
    await take_every_tag(ask.server, "popular")
    assert (await ask.refused("PATCH", "/username", {"username": "Popular"}))[:2] == (400, "TAG_ALREADY_TAKEN")
    assert await ask.shown() == before
    await store(ask.server, "DELETE FROM users WHERE username = 'popular' AND discriminator = 4321")
    user = await ask.user("PATCH", "/username", {"username": "Popular"})
    assert (user["username"], user["discriminator"]) == ("Popular", 4321)


@contextlib.contextmanager
def somebody_writing(server: ChatServer) -> Iterator[None]:
    """Another process in the middle of a transaction, as a command beside the server is: nobody else allocates."""
    [(_, _, path)] = server.database.reader.execute("PRAGMA database_list")
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


@pytest.mark.rule("002.username.17")
async def test_whoever_waits_for_the_lock_gives_up_after_ten_seconds(ask: Asking, autojump_clock: MockClock) -> None:
    assert ALLOCATION_WAIT_SECONDS == 10
    # SQLite's own waiting would hold this run's only thread; a server's holds its writer's.
    await ask.server.database.write(lambda connection: connection.execute("PRAGMA busy_timeout = 0").fetchone())
    before = await ask.shown()
    entries = audit_log(ask.server)
    with somebody_writing(ask.server):
        began = trio.current_time()
        answer = await ask("PATCH", "/username", {"username": "robert"})
        assert answer.expect(400)["code"] == "TAG_ALREADY_TAKEN"
        assert ALLOCATION_WAIT_SECONDS <= trio.current_time() - began < ALLOCATION_WAIT_SECONDS + 1
    assert audit_log(ask.server) == entries
    assert await ask.shown() == before

    # Whoever gets the lock in time does it, once.
    async with trio.open_nursery() as nursery:
        with somebody_writing(ask.server):
            nursery.start_soon(ask, "PATCH", "/username", {"username": "robert"})
            await trio.sleep(ALLOCATION_WAIT_SECONDS - 1)
            assert not ask.entries("change_username")
    assert (await ask.shown())["username"] == "robert"
    assert len(ask.entries("change_username")) == 1


# The change log


@pytest.mark.rule("002.change-log-object.2")
async def test_a_change_that_was_stored_without_an_id_goes_by_the_accounts(
    ask: Asking, autojump_clock: MockClock
) -> None:
    await ask.user("PATCH", "/username", {"username": "robert"})
    await store(
        ask.server,
        f"""
        INSERT INTO account_changes (id, user_id, field, old_value, new_value, changed_at)
        VALUES (0, {ask.user_id}, 'email', NULL, 'bob@example.com', 1)
        """,
    )
    newest, oldest = await ask.change_log()
    assert newest["event_id"] not in {"0", ask.user_id}
    assert (oldest["event_id"], oldest["new_value"]) == (ask.user_id, "bob@example.com")
    walked, query = [], "?limit=1"
    while True:
        page = (await ask("GET", f"/change-log{query}")).expect(200)
        walked += page["entries"]
        if page["next_page_token"] is None:
            break
        query = f"?limit=1&page_token={page['next_page_token']}"
    assert walked == [newest, oldest]
