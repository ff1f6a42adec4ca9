"""Deleting what accounts wrote: the count, the order, the job that does it.

Area: administration. Rules: 002.messages, 002.shreds.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.administration.audit import audit_log
from tests.spec.ledger import cases_of, proves

HOUR = 3_600


async def messages(world: World, chat_server: ChatServer, count: int) -> list[str]:
    """Ids of messages that bob writes in the guild's first channel."""
    return [(await write(world, f"message {number}"))["id"] for number in range(count)]


async def write(world: World, content: str) -> dict[str, Any]:
    path = f"/v1/channels/{world.channel_id}/messages"
    return (await world.bob.rest.post(path, {"content": content})).expect(200)


async def left(world: World) -> set[str]:
    path = f"/v1/channels/{world.channel_id}/messages?limit=100"
    return {message["id"] for message in (await world.alice.rest.get(path)).expect(200)}


async def ended(world: World, job_id: str) -> dict[str, Any]:
    """The state of the shred once it has ended."""
    while True:
        state = (await world.admin.rest.get(f"/v1/admin/messages/shreds/{job_id}")).expect(200)
        if state["status"] != "in_progress":
            return state
        await trio.sleep(0.1)


@pytest.mark.rule("002.messages.12")
@pytest.mark.parametrize(
    ("query", "runs"),
    [
        *cases_of("002.messages.3", ("", False), ("?dry_run=true", False)),
        *cases_of(
            "002.messages.5",
            ("?dry_run=no", False),
            ("?dry_run=FALSE", False),
            ("?dry_run=fAlse", False),
            ("?dry_run=", False),
            ("?dry_run=00", False),
        ),
        *cases_of("002.messages.6", ("?dryrun=false", False)),
        *cases_of(
            "002.messages.4",
            ("?dry_run=false", True),
            ("?dry_run=False", True),
            ("?dry_run=0", True),
            ("?dry_run=%20false%09", True),
        ),
    ],
)
async def test_only_three_words_delete(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock, query: str, runs: bool
) -> None:
    await write(chat_world, "hello")
    path = f"/v1/admin/users/{chat_world.bob.id}/messages{query}"
    answer = (await chat_world.admin.rest.delete(path)).expect(200)
    assert answer["dry_run"] is not runs
    assert ("job_id" in answer) is runs
    jobs = (await chat_world.admin.rest.get("/v1/admin/jobs")).expect(200)["jobs"]
    assert len(jobs) == runs
    if runs:
        await ended(chat_world, answer["job_id"])
    assert bool(await left(chat_world)) is not runs


async def test_all_that_somebody_wrote_goes_and_what_is_written_meanwhile_stays(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    world = chat_world
    alice = await world.alice.connect()
    path = f"/v1/admin/users/{world.bob.id}/messages"
    written = await messages(world, chat_server, 205)
    others = (await world.alice.rest.post(f"/v1/channels/{world.channel_id}/messages", {"content": "mine"})).expect(
        200
    )["id"]

    dry = (await world.admin.rest.delete(path)).expect(200)
    with proves("002.messages.8", "002.messages.9", "002.messages.10", "002.messages.11"):
        assert dry == {
            "success": True,
            "dry_run": True,
            "channel_count": 2,
            "message_count": 205,
        }  # one, on each of 2 pages
    run = (await world.admin.rest.delete(f"{path}?dry_run=false")).expect(200)
    with proves("002.messages.9", "002.messages.11"):
        assert run == {**dry, "dry_run": False, "job_id": run["job_id"]}
    later = (await write(world, "later"))["id"]

    with proves("002.messages.14"):
        state = await ended(world, run["job_id"])
        assert state.keys() == {"status", "requested", "total", "processed", "skipped", "started_at", "completed_at"}
        assert (state["status"], state["requested"], state["processed"], state["skipped"]) == ("completed", 205, 205, 0)
    with proves("002.messages.13"):
        assert await left(world) == {others, later}
    with proves("002.messages.20"):
        assert {payload.name for payload in alice.dispatches} <= {
            "READY",
            "SESSIONS_REPLACE",
            "MESSAGE_CREATE",
            "MESSAGE_DELETE_BULK",
        }
    gone = []
    while len(gone) < 205:
        event = await alice.expect("MESSAGE_DELETE_BULK")
        assert (event.data["channel_id"], event.data["guild_id"]) == (world.channel_id, world.guild_id)
        gone += event.data["ids"]
    assert sorted(gone) == sorted(written)

    first, second, third = audit_log(chat_server)
    with proves("002.messages.17"):
        assert first.action == "delete_all_user_messages_dry_run"
        assert second.action == "delete_all_user_messages"
    for entry, dry_run in ((first, "true"), (second, "false")):
        with proves("002.messages.15"):
            assert (entry.target_type, entry.target_id) == ("message_deletion", world.bob.id)
        with proves("002.messages.16"):
            assert entry.metadata == {
                "user_id": world.bob.id,
                "channel_count": "2",
                "message_count": "205",
                "dry_run": dry_run,
            }
    with proves("002.messages.18"):
        assert (third.action, third.target_type, third.target_id) == (
            "queue_message_shred",
            "message_shred",
            world.bob.id,
        )
        assert third.metadata == {"user_id": world.bob.id, "job_id": run["job_id"], "requested_entries": "205"}


async def test_an_account_that_there_is_not_wrote_nothing(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    rest = chat_world.admin.rest
    with proves("002.messages.7"):
        answer = await rest.delete("/v1/admin/users/1234/messages?dry_run=false")
        assert answer.expect(200) == {"success": True, "dry_run": False, "channel_count": 0, "message_count": 0}
    with proves("002.messages.19"):
        assert [entry.action for entry in audit_log(chat_server)] == ["delete_all_user_messages"]
    entry = {"channel_id": chat_world.channel_id, "message_id": "99"}
    with proves("002.shreds.5", "002.shreds.4"):
        ordered = (await rest.post("/v1/admin/users/1234/message-shreds", {"entries": [entry]})).expect(200)
    with proves("002.shreds.4"):
        state = await ended(chat_world, ordered["job_id"])
        assert (state["status"], state["processed"], state["skipped"]) == ("completed", 1, 1)


async def test_listed_messages_go_if_they_are_there_and_the_accounts_own(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    world = chat_world
    bob = await world.bob.connect()
    own = await messages(world, chat_server, 3)
    for _ in own:
        await bob.expect("MESSAGE_CREATE")
    path = f"/v1/channels/{world.channel_id}/messages"
    others = (await world.alice.rest.post(path, {"content": "mine"})).expect(200)["id"]
    await bob.expect("MESSAGE_CREATE")
    entries = [
        {"channel_id": world.channel_id, "message_id": own[0]},
        {"channel_id": world.channel_id, "message_id": own[0]},
        {"channel_id": world.channel_id, "message_id": others},
        {"channel_id": world.channel_id, "message_id": "1"},
        {"channel_id": world.voice_channel_id, "message_id": own[1]},
        {"channel_id": "1", "message_id": own[2]},
    ]
    answer = await world.admin.rest.request(
        "POST",
        f"/v1/admin/users/{world.bob.id}/message-shreds",
        json={"entries": entries},
        headers={"X-Audit-Log-Reason": "spam"},
    )
    ordered = answer.expect(200)
    with proves("002.shreds.6"):
        assert ordered == {"success": True, "job_id": ordered["job_id"], "requested": 6}

    with proves("002.shreds.7", "002.shreds.8", "002.shreds.9"):
        state = await ended(world, ordered["job_id"])
        assert (state["status"], state["requested"], state["processed"], state["skipped"]) == ("completed", 6, 6, 5)
    with proves("002.shreds.9"):
        assert await left(world) == {own[1], own[2], others}
    with proves("002.shreds.14"):
        assert (await bob.expect("MESSAGE_DELETE_BULK")).data["ids"] == [own[0]]  # and nothing before it
        assert [payload.name for payload in bob.dispatches][-2:] == ["MESSAGE_CREATE", "MESSAGE_DELETE_BULK"]
    with proves("002.shreds.12"):
        [entry] = audit_log(chat_server)
        assert (entry.action, entry.target_type, entry.target_id) == (
            "queue_message_shred",
            "message_shred",
            world.bob.id,
        )
    with proves("002.shreds.13"):
        assert entry.metadata == {"user_id": world.bob.id, "job_id": ordered["job_id"], "requested_entries": "6"}
    assert entry.reason == "spam"


@pytest.mark.rule("002.shreds.3")
@pytest.mark.parametrize(
    "entries",
    [
        [],
        None,
        {},
        [{"channel_id": "1"}],
        [{"channel_id": "1", "message_id": "x"}],
        [{"channel_id": "1", "message_id": "2"}] * 1001,
        ["1"],
    ],
    ids=lambda entries: json.dumps(entries)[:40],
)
async def test_what_is_no_list_of_messages_is_refused(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock, entries: object
) -> None:
    answer = await chat_world.admin.rest.post(
        f"/v1/admin/users/{chat_world.bob.id}/message-shreds", {"entries": entries}
    )
    assert answer.expect(400)["code"] == "INVALID_FORM_BODY"
    assert not audit_log(chat_server)
    thousand = [{"channel_id": "1", "message_id": "2"}] * 1000
    path = f"/v1/admin/users/{chat_world.bob.id}/message-shreds"
    assert (await chat_world.admin.rest.post(path, {"entries": thousand})).expect(200)["requested"] == 1000


@pytest.mark.rule("002.shreds.11")
async def test_the_answer_comes_before_the_work(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    entries = [{"channel_id": str(number), "message_id": "1"} for number in range(1, 1001)]
    path = f"/v1/admin/users/{chat_world.bob.id}/message-shreds"
    job_id = (await chat_world.admin.rest.post(path, {"entries": entries})).expect(200)["job_id"]
    state = (await chat_world.admin.rest.get(f"/v1/admin/messages/shreds/{job_id}")).expect(200)
    assert state["status"] == "in_progress"
    assert state["processed"] < 1000
    job = (await chat_world.admin.rest.get(f"/v1/admin/jobs/{job_id}")).expect(200)
    assert (job["task_type"], job["requested_by_user_id"]) == ("message_shred", chat_world.admin.id)
    assert (job["progress_total"], job["attempts"], job["max_attempts"]) == (1000, 0, 1)

    cancelled = (await chat_world.admin.rest.post(f"/v1/admin/jobs/{job_id}/cancel")).expect(200)
    assert cancelled["cancel_requested"] is True
    state = await ended(chat_world, job_id)
    assert (state["status"], state["error"]) == ("failed", "cancelled")
    assert state["processed"] < 1000
    conflict = await chat_world.admin.rest.post(f"/v1/admin/jobs/{job_id}/cancel")
    assert conflict.expect(409)["code"] == "CONFLICT"
    assert (await chat_world.admin.rest.post("/v1/admin/jobs/77/cancel")).expect(404)["code"] == "NOT_FOUND"


async def test_the_state_of_a_shred_is_told_for_an_hour(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    rest = chat_world.admin.rest
    assert (await rest.get("/v1/admin/messages/shreds/5")).expect(200) == {"status": "not_found"}
    await write(chat_world, "hello")
    path = f"/v1/admin/users/{chat_world.bob.id}/messages?dry_run=0"
    job_id = (await rest.delete(path)).expect(200)["job_id"]
    assert (await ended(chat_world, job_id))["status"] == "completed"
    await trio.sleep(HOUR - 5)
    assert (await rest.get(f"/v1/admin/messages/shreds/{job_id}")).expect(200)["status"] == "completed"
    await trio.sleep(6)
    assert (await rest.get(f"/v1/admin/messages/shreds/{job_id}")).expect(200) == {"status": "not_found"}


async def test_messages_of_a_conversation_go_too_and_its_people_hear_it(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    world = chat_world
    alice = await world.alice.connect()
    channel = (await world.bob.rest.post("/v1/users/@me/channels", {"recipient_id": world.alice.id})).expect(200)["id"]
    sent = (await world.bob.rest.post(f"/v1/channels/{channel}/messages", {"content": "psst"})).expect(200)["id"]
    path = f"/v1/admin/users/{world.bob.id}/messages?dry_run=0"
    await ended(world, (await world.admin.rest.delete(path)).expect(200)["job_id"])
    event = await alice.expect("MESSAGE_DELETE_BULK")
    assert event.data == {"channel_id": channel, "ids": [sent]}
