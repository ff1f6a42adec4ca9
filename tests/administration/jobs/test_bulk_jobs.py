"""One change for many accounts or guilds (document 002, PATCH flags; wire facts 7.2, 7.7).

Area: administration. Rules: 002.flags-op.
"""

from __future__ import annotations

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from chat.admin import buckets
from chat.errors import StorageUnavailable
from chat.registries.user_flags import UserFlag
from chat.store.accounts import account_deletions
from chat.testing.rest_client import Response
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.administration.access_walk import Walked, below, walk
from tests.administration.audit import audit_log
from tests.administration.samples import BODIES, LATER

UNKNOWN = "1234567890"
ROWS = [
    Walked("POST", f"/v1/admin/bulk-jobs/{task}", (acl,), bucket, BODIES[action])
    for task, acl, bucket, action in (
        ("update-user-flags", "bulk:update:user_flags", buckets.MODIFY, "bulk_update_user_flags"),
        ("update-guild-features", "bulk:update:guild_features", buckets.GUILD_MODIFY, "bulk_update_guild_features"),
        ("add-guild-members", "bulk:add:guild_members", buckets.GUILD_MODIFY, "bulk_add_guild_members"),
        ("schedule-user-deletions", "bulk:delete:users", buckets.MODIFY, "bulk_schedule_deletion"),
    )
]
LIMITED, EXEMPT = (str(int(flag)) for flag in (UserFlag.ACCOUNT_LIMITED, UserFlag.LIMIT_EXEMPT))
BUG_HUNTER = str(int(UserFlag.BUG_HUNTER))


async def order(world: World, task: str, body: Any, *, reason: str | None = None) -> Response:
    headers = {} if reason is None else {"X-Audit-Log-Reason": reason}
    return await world.admin.rest.request("POST", f"/v1/admin/bulk-jobs/{task}", json=body, headers=headers)


async def over(world: World, job: dict[str, Any]) -> dict[str, Any]:
    """The job once it is over."""
    while job["completed_at"] is None:
        await trio.sleep(0.1)
        job = (await world.admin.rest.get(f"/v1/admin/jobs/{job['job_id']}")).expect(200)
    return job


@pytest.mark.rule("002.flags-op.15")
async def test_flags_of_many_accounts(chat_server: ChatServer, chat_world: World, autojump_clock: MockClock) -> None:
    world = chat_world
    alice = await world.alice.connect()
    for body in (
        {},
        {"user_ids": []},
        {"user_ids": [str(number) for number in range(1_001)]},
        {"user_ids": ["x"], "add_flags": []},
        {"user_ids": [UNKNOWN], "add_flags": ["-1"]},
        {"user_ids": [UNKNOWN], "remove_flags": [2]},
        {"user_ids": [UNKNOWN], "add_flags": ["1"] * 65},
    ):
        assert (await order(world, "update-user-flags", body)).expect(400)["code"] == "INVALID_FORM_BODY"
    assert not audit_log(chat_server)

    people = [world.bob.id, UNKNOWN, world.carol.id, world.bob.id]
    body = {"user_ids": people, "add_flags": [BUG_HUNTER], "remove_flags": [LIMITED]}
    job = (await order(world, "update-user-flags", body, reason="finders")).expect(200)
    assert (job["task_type"], job["status"], job["progress_total"]) == ("update_user_flags", "pending", 3)
    job = await over(world, job)
    assert (job["status"], job["progress_current"], job["requested_by_user_id"]) == ("completed", 3, world.admin.id)
    assert job["result"] == {"done": 2, "skipped": [], "failed": [{"id": UNKNOWN, "code": "UNKNOWN_USER"}]}
    for person in (world.bob, world.carol):
        (user,) = (await world.admin.rest.get(f"/v1/admin/users/{person.id}")).expect(200)["users"]
        assert user["flags"] == BUG_HUNTER
        told = await alice.expect("GUILD_MEMBER_UPDATE", where=lambda d, person=person: d["user"]["id"] == person.id)
        assert told.data["user"]["flags"] == int(BUG_HUNTER)
    ordered, *changes = (entry for entry in audit_log(chat_server) if entry.action != "get_user")
    assert (ordered.action, ordered.target_type, ordered.target_id) == ("bulk_update_user_flags", "user", "0")
    assert ordered.metadata == {
        "job_id": job["job_id"],
        "user_count": "3",
        "add_flags": BUG_HUNTER,
        "remove_flags": LIMITED,
    }
    assert [(entry.action, entry.target_id, entry.reason) for entry in changes] == [
        ("update_flags", person.id, "finders") for person in (world.bob, world.carol)
    ]
    assert changes[0].metadata == {"add_flags": BUG_HUNTER, "remove_flags": LIMITED, "new_flags": BUG_HUNTER}


async def test_a_thousand_accounts_and_the_end_of_a_job(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    world = chat_world
    unknown = [str(number) for number in range(1, 1_000)]
    job = (await order(world, "update-user-flags", {"user_ids": [*unknown, world.bob.id]})).expect(200)
    assert len(job["payload"]["ids"]) == 20  # of the first ones
    job = await over(world, job)
    assert (job["progress_current"], job["result"]["done"], len(job["result"]["failed"])) == (1_000, 1, 999)

    body = {"user_ids": [*unknown, world.bob.id], "add_flags": [BUG_HUNTER]}
    job = (await order(world, "update-user-flags", body)).expect(200)
    asked = (await world.admin.rest.post(f"/v1/admin/jobs/{job['job_id']}/cancel")).expect(200)
    assert asked["cancel_requested"] is True
    job = await over(world, asked)
    assert job["status"] == "cancelled"
    (user,) = (await world.admin.rest.get(f"/v1/admin/users/{world.bob.id}")).expect(200)["users"]
    assert user["flags"] == "0"

    assert {(row.method, row.path) for row in ROWS} == below("/v1/admin/bulk-jobs")
    await walk(chat_server, world, ROWS, {})


async def test_features_of_many_guilds_and_members_of_one(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    world = chat_world
    alice = await world.alice.connect()
    other = (await world.bob.rest.create_guild("bob's")).expect(200)["id"]
    wrong = {"guild_ids": [other], "add_features": ["NO_SUCH_THING"]}
    assert (await order(world, "update-guild-features", wrong)).expect(400)["code"] == "INVALID_FORM_BODY"
    body = {"guild_ids": [world.guild_id, other, UNKNOWN], "add_features": ["VERIFIED", "PARTNERED"]}
    job = await over(world, (await order(world, "update-guild-features", body)).expect(200))
    assert job["result"] == {"done": 2, "skipped": [], "failed": [{"id": UNKNOWN, "code": "UNKNOWN_GUILD"}]}
    told = await alice.expect("GUILD_UPDATE")
    assert {"VERIFIED", "PARTNERED"} <= set(told.data["features"])
    body = {"guild_ids": [other], "add_features": [], "remove_features": ["PARTNERED"]}
    await over(world, (await order(world, "update-guild-features", body)).expect(200))
    features = (await world.bob.rest.get(f"/v1/guilds/{other}")).expect(200)["features"]
    assert ("VERIFIED" in features, "PARTNERED" in features) == (True, False)

    body = {"guild_id": UNKNOWN, "user_ids": [world.carol.id]}
    assert (await order(world, "add-guild-members", body)).expect(404)["code"] == "UNKNOWN_GUILD"
    (await world.bob.rest.put(f"/v1/guilds/{other}/bans/{world.alice.id}", {})).expect(204)
    everybody = [world.admin.id, world.alice.id, world.bob.id, world.carol.id, UNKNOWN]
    job = await over(
        world, (await order(world, "add-guild-members", {"guild_id": other, "user_ids": everybody})).expect(200)
    )
    assert job["result"] == {
        "done": 2,
        "skipped": [{"id": world.bob.id, "code": "ALREADY_DONE"}],
        "failed": [
            {"id": world.alice.id, "code": "USER_BANNED_FROM_GUILD"},
            {"id": UNKNOWN, "code": "UNKNOWN_USER"},
        ],
    }
    members = {
        member["user"]["id"] for member in (await world.carol.rest.get(f"/v1/guilds/{other}/members")).expect(200)
    }
    assert members == {world.admin.id, world.bob.id, world.carol.id}
    actions = [(entry.action, entry.target_id) for entry in audit_log(chat_server)]
    assert actions.count(("force_add_member", world.carol.id)) == 1
    assert ("bulk_add_guild_members", other) in actions


async def test_deletions_of_many_accounts(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    world = chat_world
    first = await world.admin.rest.put(f"/v1/admin/users/{world.carol.id}/deletion", {"reason_code": 2})
    pending = first.expect(200)["user"]["pending_deletion_at"]
    for wrong in (
        {"reason_code": 0},
        {"reason_code": 3, "days_until_deletion": 366},
        {"reason_code": 3, "public_reason": "x" * 513},
    ):
        body = {"user_ids": [world.bob.id], **wrong}
        assert (await order(world, "schedule-user-deletions", body)).expect(400)["code"] == "INVALID_FORM_BODY"
    body = {"user_ids": [world.bob.id, world.carol.id, UNKNOWN], "reason_code": 3, "days_until_deletion": 90}
    job = await over(world, (await order(world, "schedule-user-deletions", body, reason="a raid")).expect(200))
    assert job["result"] == {
        "done": 1,
        "skipped": [{"id": world.carol.id, "code": "CONFLICT"}],
        "failed": [{"id": UNKNOWN, "code": "UNKNOWN_USER"}],
    }
    (carol,) = (await world.admin.rest.get(f"/v1/admin/users/{world.carol.id}")).expect(200)["users"]
    assert carol["pending_deletion_at"] == pending
    (bob,) = (await world.admin.rest.get(f"/v1/admin/users/{world.bob.id}")).expect(200)["users"]
    assert (bob["deletion_reason_code"], bob["deletion_scheduled_by"]) == (3, world.admin.id)
    assert bob["deletion_audit_log_reason"] == "a raid"
    assert (await world.bob.rest.get("/v1/users/@me")).status == 401
    actions = [entry.action for entry in audit_log(chat_server)]
    for action in ("bulk_schedule_deletion", "ban_email", "auto_resolve_reports_on_deletion"):
        assert action in actions  # what follows from misconduct follows here too
    kept = (await world.anyone.get("/v1/_dev/mail")).expect(200)
    assert [(mail["to"], mail["kind"]) for mail in kept if mail["to"] == "bob@example.com"] == [
        ("bob@example.com", "deletion_enforcement")
    ]
    stale = {"expected_pending_deletion_at": LATER}
    assert (await world.admin.rest.delete(f"/v1/admin/users/{world.bob.id}/deletion", stale)).status == 409
    assert account_deletions.of_user(chat_server.database.reader, int(world.bob.id)) is not None


async def test_a_store_that_cannot_be_written_is_no_refusal(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    accounts = chat_server.server.areas.administration.accounts
    put, failures = accounts.put_flags, [StorageUnavailable()]

    async def failing_once(*arguments: Any) -> Any:
        if failures:
            raise failures.pop()
        return await put(*arguments)

    monkeypatch.setattr(type(accounts), "put_flags", lambda _, *arguments: failing_once(*arguments))
    body = {"user_ids": [chat_world.bob.id, chat_world.carol.id], "add_flags": [BUG_HUNTER]}
    job = await over(chat_world, (await order(chat_world, "update-user-flags", body)).expect(200))
    assert (job["status"], job["attempts"]) == ("completed", 0)
    assert job["result"] == {"done": 2, "skipped": [], "failed": []}


async def test_a_job_ends_with_the_rights_of_whoever_ordered_it(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    world, admin, carol = chat_world, chat_world.admin.rest, chat_world.carol
    people = [*(str(number) for number in range(1, 1_000)), world.bob.id]
    orders = (
        ("bulk-jobs/update-user-flags", "bulk:update:user_flags", {"user_ids": people, "add_flags": [BUG_HUNTER]}),
        ("bulk-jobs/schedule-user-deletions", "bulk:delete:users", {"user_ids": people, "reason_code": 2}),
        ("system-dms", "system_dm:send", {"user_ids": people, "content": "from the instance"}),
    )
    for path, acl, body in orders:
        for acls, status in ((["jobs:view"], "failed"), (["*"], "completed")):
            held = {"acls": ["admin:authenticate", acl]}
            (await admin.put(f"/v1/admin/users/{carol.id}/acls", held)).expect(200)
            job_id = (await carol.rest.post(f"/v1/admin/{path}", body)).expect(200)["job_id"]
            (await admin.put(f"/v1/admin/users/{carol.id}/acls", {"acls": acls})).expect(200)
            job = await over(world, (await admin.get(f"/v1/admin/jobs/{job_id}")).expect(200))
            assert job["status"] == status, (path, job)
            if status == "failed":
                assert job["error_message"] == "Whoever ordered this may not do so any more."
                assert job["progress_current"] < len(people)


async def changed(world: World, user_id: str, **body: list[str]) -> None:
    (await world.admin.rest.patch(f"/v1/admin/users/{user_id}/flags", body)).expect(200)


@pytest.mark.rule("002.flags-op.13", "002.flags-op.14")
async def test_what_lifts_the_limit_on_new_conversations(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    world = chat_world

    async def begins() -> tuple[str | None, str | None]:
        """What bob hears when he opens a conversation, and when he makes a group, with accounts he never wrote to."""
        await chat_server.database.write(
            lambda connection: void(connection.execute("DELETE FROM channels WHERE type IN (1, 3)"))
        )
        opened = await world.bob.rest.open_conversation(world.carol.id)
        return opened.code, (await world.bob.rest.make_group(world.alice.id)).code

    (await world.bob.rest.request_friendship(world.alice.id)).expect(200)
    (await world.alice.rest.accept_friendship(world.bob.id)).expect(200)
    assert await begins() == (None, None)
    await changed(world, world.bob.id, add_flags=[LIMITED])
    assert await begins() == ("ACCOUNT_LIMITED", "ACCOUNT_LIMITED")
    await changed(world, world.bob.id, remove_flags=[LIMITED])
    assert await begins() == (None, None)
    await changed(world, world.bob.id, add_flags=[LIMITED])
    assert await begins() == ("ACCOUNT_LIMITED", "ACCOUNT_LIMITED")
    await changed(world, world.bob.id, add_flags=[EXEMPT])
    assert await begins() == (None, None)
    # Only conversations are begun again: what else a limited account may not do stays closed to it.
    assert (await world.bob.rest.create_guild("bob's")).code == "ACCOUNT_LIMITED"
    # The bulk task does the same.
    await changed(world, world.bob.id, remove_flags=[EXEMPT])
    assert await begins() == ("ACCOUNT_LIMITED", "ACCOUNT_LIMITED")
    body = {"user_ids": [world.bob.id], "remove_flags": [LIMITED]}
    await over(world, (await order(world, "update-user-flags", body)).expect(200))
    assert await begins() == (None, None)


def void(_: object) -> None:
    return None
