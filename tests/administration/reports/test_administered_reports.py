"""What administrators do with reports: find, read, resolve; and who learns what of whom."""

from __future__ import annotations

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from chat.admin import buckets
from chat.admin.operation import AdminOperation
from chat.admin.routes.reports import routes
from chat.testing.rest_client import Response
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.administration.audit import audit_log
from tests.signing_in.mailed import mails

REPORTS = "/v1/admin/reports"


async def reported(world: World) -> list[str]:
    """carol reports a message, an account and a guild, bob reports alice; the ids, the oldest first."""
    sent = (await world.bob.rest.send_message(world.channel_id, "Bücher half price")).expect(200)
    ids = []
    for actor, kind, members in (
        (world.carol, "message", {"channel_id": world.channel_id, "message_id": sent["id"], "category": "spam"}),
        (world.carol, "user", {"user_id": world.bob.id, "category": "scam", "additional_info": "asked for money"}),
        (world.carol, "guild", {"guild_id": world.guild_id, "category": "hate_speech"}),
        (world.bob, "user", {"user_id": world.alice.id, "category": "self_harm"}),
    ):
        await trio.sleep(0.01)
        ids.append((await actor.rest.post(f"/v1/reports/{kind}", members)).expect(200)["report_id"])
    return ids


async def found(world: World, **query: Any) -> list[str]:
    answer = (await world.admin.rest.get(REPORTS, query)).expect(200)
    if "limit" not in query and "offset" not in query:
        assert answer["total"] == len(answer["reports"])
    return [report["report_id"] for report in answer["reports"]]


async def test_reports_are_found_and_read(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    world = chat_world
    message, account, guild, about_alice = await reported(world)
    assert await found(world) == [about_alice, guild, account, message]
    for query, expected in (
        ({"status": "pending"}, [about_alice, guild, account, message]),
        ({"status": "resolved"}, []),
        ({"category": "scam"}, [account]),
        ({"kind": "user"}, [about_alice, account]),
        ({"kind": "user", "category": "spam"}, []),
        ({"reporter_id": world.bob.id}, [about_alice]),
        ({"reported_user_id": world.bob.id}, [account, message]),
        ({"guild_id": world.guild_id}, [guild, message]),
        ({"q": "bucher"}, [message]),
        ({"q": "money ask"}, [account]),
        ({"q": '" OR 1'}, []),
        ({"q": "***"}, []),
        ({"limit": 2}, [about_alice, guild]),
        ({"limit": 2, "offset": 2}, [account, message]),
        ({"offset": 9}, []),
    ):
        assert await found(world, **query) == expected, query
    for query in (
        {"status": "open"},
        {"category": "x"},
        {"kind": "x"},
        {"limit": 0},
        {"limit": 201},
        {"reporter_id": "x"},
    ):
        answer = await world.admin.rest.get(REPORTS, query)
        assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY"), query

    shown = (await world.admin.rest.get(f"{REPORTS}/{message}")).expect(200)
    assert (shown["reporter"]["username"], shown["reported_user"]["username"]) == ("carol", "bob")
    assert (shown["message"]["content"], shown["guild_name"]) == ("Bücher half price", shown["guild_name"])
    assert shown["guild_name"] is not None
    assert (shown["status"], shown["resolved_by"], shown["resolved_at"]) == ("pending", None, None)
    before = audit_log(chat_server)
    for unknown in ("77", "x"):
        answer = await world.admin.rest.get(f"{REPORTS}/{unknown}")
        assert (answer.status, answer.code) in {(404, "UNKNOWN_REPORT"), (400, "INVALID_FORM_BODY")}
    assert audit_log(chat_server) == before
    listings = [entry for entry in before if entry.action == "list_reports"]
    assert listings[1].metadata == {"status": "pending", "limit": "50", "result_count": "4"}
    assert {entry.target_type for entry in before} == {"report"}
    assert [entry.target_id for entry in before if entry.action == "get_report"] == [message]


async def test_who_reported_is_for_those_who_may_know(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    world = chat_world
    message, *_ = await reported(world)
    alice = world.alice

    async def allow(*acls: str) -> None:
        await world.anyone.post(f"/v1/_dev/users/{alice.id}", {"acls": ["admin:authenticate", *acls]})

    def told(answer: Response) -> list[Any]:
        shown = answer.expect(200)
        return [value for key, value in shown.items() if key.startswith("reporter")]

    await allow("report:view")
    assert set(told(await alice.rest.get(f"{REPORTS}/{message}"))) == {None}
    assert (await alice.rest.get(REPORTS, {"reporter_id": world.carol.id})).code == "MISSING_ACL"
    listed = (await alice.rest.get(REPORTS)).expect(200)["reports"]
    assert {report["reporter_id"] for report in listed} == {None}
    assert (await alice.rest.post(f"{REPORTS}/{message}/resolve", {})).code == "MISSING_ACL"
    await allow("report:view", "report:view:reporter_pii")
    assert told(await alice.rest.get(f"{REPORTS}/{message}"))[0] == world.carol.id
    await allow("report:resolve", "report:view:reporter_pii")
    for path in (REPORTS, f"{REPORTS}/{message}"):
        assert (await alice.rest.get(path)).code == "MISSING_ACL"
    (await alice.rest.post(f"{REPORTS}/{message}/resolve", {})).expect(200)
    for operation in routes.operations:
        assert isinstance(operation, AdminOperation)
        assert operation.audit is not None
        assert operation.bucket == (buckets.LOOKUP if operation.method == "GET" else buckets.MODIFY)


async def test_a_report_is_resolved_once_and_its_reporter_told(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    world = chat_world
    message, account, guild, about_alice = await reported(world)
    answer = await world.admin.rest.request(
        "POST",
        f"{REPORTS}/{message}/resolve",
        json={"public_comment": "The message is gone."},
        headers={"X-Audit-Log-Reason": "spam indeed"},
    )
    assert answer.expect(200) == {"report_id": message, "status": "resolved"}
    [mail] = await mails(world, "report_resolved")
    assert "The message is gone." in mail["text"]
    shown = (await world.admin.rest.get(f"{REPORTS}/{message}")).expect(200)
    assert (shown["status"], shown["resolved_by"], shown["resolver"]["username"]) == (
        "resolved",
        world.admin.id,
        "admin",
    )
    assert shown["public_comment"] == "The message is gone."
    [entry] = [row for row in audit_log(chat_server) if row.action == "resolve_report"]
    assert (entry.target_type, entry.target_id, entry.reason) == ("report", message, "spam indeed")
    assert entry.metadata == {"public_comment": "The message is gone.", "notified": "true"}

    # Of several at once one resolves it; the others are told, and leave no trace.
    answers: list[Response] = []
    async with trio.open_nursery() as nursery:
        for _ in range(4):

            async def resolve() -> None:
                answers.append(await world.admin.rest.post(f"{REPORTS}/{account}/resolve", {}))

            nursery.start_soon(resolve)
    assert (
        sorted((answer.status, answer.code) for answer in answers if answer.status != 200)
        == [(400, "REPORT_ALREADY_RESOLVED")] * 3
    )
    # A reporter without an address, or who is gone, is told nothing.
    await world.anyone.post(f"/v1/_dev/users/{world.carol.id}", {"email": None})
    (await world.admin.rest.post(f"{REPORTS}/{guild}/resolve", {"public_comment": None})).expect(200)
    for target, body, refusal in (
        ("77", {}, (404, "UNKNOWN_REPORT")),
        (message, {}, (400, "REPORT_ALREADY_RESOLVED")),
        (about_alice, {"public_comment": "x" * 513}, (400, "INVALID_FORM_BODY")),
        (about_alice, {"public_comment": 1}, (400, "INVALID_FORM_BODY")),
    ):
        refused = await world.admin.rest.post(f"{REPORTS}/{target}/resolve", body)
        assert (refused.status, refused.code) == refusal
    written = [row for row in audit_log(chat_server) if row.action == "resolve_report"]
    assert [(row.target_id, row.metadata["notified"]) for row in written] == [
        (message, "true"),
        (account, "true"),
        (guild, "false"),
    ]
    assert len(await mails(world, "report_resolved")) == 2
    assert await found(world, status="pending") == [about_alice]


@pytest.mark.chat_settings(search="off")
async def test_without_search_reports_are_listed_all_the_same(chat_world: World, autojump_clock: MockClock) -> None:
    ids = await reported(chat_world)
    assert await found(chat_world, kind="guild") == [ids[2]]
    refused = await chat_world.admin.rest.get(REPORTS, {"q": "money"})
    assert (refused.status, refused.code) == (403, "FEATURE_TEMPORARILY_DISABLED")
