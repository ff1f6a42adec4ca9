"""Scheduling the erasure of an account, replacing and cancelling it (document 002).

Area: administration. Rules: 002.deletion, 002.deletion-cancel, 002.deletion-reasons, 002.get-user,
002.message-deletion, 002.states, 002.user-object.
"""

from __future__ import annotations

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from chat.clock import iso_timestamp
from chat.registries.reports import KEPT_PENDING, RESOLVED_BY_DELETION, DeletionReason, ReportCategory
from chat.registries.user_flags import UserFlag
from chat.store.accounts import account_deletions
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.administration.asking import Asking
from tests.administration.audit import audit_log
from tests.applications.oauth2_client import OAuth2Client
from tests.spec.ledger import cases_of, proves

INVALID = (400, "INVALID_FORM_BODY")
CONFLICT = (409, "CONFLICT")
DAY = 86_400
LATER = "2100-01-01T00:00:00.000Z"


@pytest.fixture
def ask(chat_server: ChatServer, chat_world: World, autojump_clock: MockClock) -> Asking:
    return Asking(chat_server, chat_world)


async def mails(world: World) -> list[dict[str, Any]]:
    kept: list[dict[str, Any]] = (await world.anyone.get("/v1/_dev/mail")).expect(200)
    return kept


async def sign_in(world: World) -> tuple[int, str | None]:
    answer = await world.anyone.login(email="bob@example.com", password=world.bob.password)
    return answer.status, answer.json().get("code")


async def report(world: World, *, category: str = "spam") -> str:
    """carol reports bob."""
    body = {"user_id": world.bob.id, "category": category}
    answer = (await world.carol.rest.post("/v1/reports/user", body)).expect(200)
    assert answer == {"report_id": answer["report_id"], "status": "pending"}
    return str(answer["report_id"])


def statuses(server: ChatServer) -> dict[str, str]:
    return {str(row[0]): row[1] for row in server.database.reader.execute("SELECT id, status FROM reports")}


@pytest.mark.parametrize(
    ("method", "body"),
    [
        *cases_of("002.deletion.5", ("PUT", {}), ("PUT", {"reason_code": None})),
        *cases_of(
            "002.deletion-reasons.6",
            ("PUT", {"reason_code": 0}),
            ("PUT", {"reason_code": 23}),
            ("PUT", {"reason_code": "2"}),
        ),
        *cases_of(
            "002.deletion.9",
            ("PUT", {"reason_code": 2, "days_until_deletion": 0}),
            ("PUT", {"reason_code": 2, "days_until_deletion": 366}),
            ("PUT", {"reason_code": 2, "days_until_deletion": "60"}),
        ),
        *cases_of("002.deletion.7", ("PUT", {"reason_code": 2, "public_reason": "x" * 513})),
        *cases_of("002.deletion.14", ("PUT", {"reason_code": 2, "notify_user": 1})),
        ("PUT", {"reason_code": 2, "replace_pending_deletion_at": "soon"}),
        *cases_of(
            "002.deletion-cancel.3",
            ("DELETE", {}),
            ("DELETE", {"expected_pending_deletion_at": None}),
            ("DELETE", {"expected_pending_deletion_at": "tomorrow"}),
        ),
        *cases_of("002.deletion-cancel.4", ("DELETE", {"expected_pending_deletion_at": LATER, "notify_user": "no"})),
    ],
    ids=str,
)
async def test_bodies_that_are_refused(
    ask: Asking, autojump_clock: MockClock, method: str, body: dict[str, Any]
) -> None:
    assert (await ask.refused(method, "/deletion", body))[:2] == INVALID
    assert (await ask.shown())["pending_deletion_at"] is None


@pytest.mark.parametrize("code", list(DeletionReason), ids=str)
async def test_the_deadline_leaves_the_holder_the_least_time_of_the_reason(
    ask: Asking, autojump_clock: MockClock, code: DeletionReason
) -> None:
    least = 14 if code is DeletionReason.USER_REQUESTED else 60
    current = None
    for asked in (None, 1, 59, 60, 61, 365):
        body: dict[str, Any] = {"reason_code": int(code), "deletion_at": LATER, "notify_user": False}
        if asked is not None:
            body["days_until_deletion"] = asked
        if current is not None:
            body["replace_pending_deletion_at"] = current
        now = ask.server.clock.now_ms()
        user = await ask.user("PUT", "/deletion", body)
        current = user["pending_deletion_at"]
        days = max(least, 60 if asked is None else asked)
        of_the_reason = "002.deletion.6" if least == 60 else "002.deletion-reasons.7"
        with proves(of_the_reason, "002.deletion.10", "002.deletion.11"):
            assert current[:16] == iso_timestamp(now + days * DAY * 1_000)[:16]
        assert user["deletion_reason_code"] == int(code)
        with proves("002.deletion.44"):
            assert ask.entries("schedule_deletion")[-1].metadata["days"] == str(days)


async def test_whoever_is_to_be_deleted_is_out_at_once(ask: Asking, autojump_clock: MockClock) -> None:
    world = ask.world
    await (await OAuth2Client.make(world)).tokens(world.bob, "identify")
    tokens = "SELECT count(*) FROM oauth2_grants WHERE user_id = ?"
    assert ask.server.database.reader.execute(tokens, (int(world.bob.id),)).fetchone() == (1,)
    bob, alice = await world.bob.connect(), await world.alice.connect()
    body = {"reason_code": 3, "public_reason": "Nothing but advertising"}
    with proves("002.deletion.17"):
        user = await ask.user("PUT", "/deletion", body, reason="the private one")
    with proves("002.user-object.26", "002.deletion.7"):
        assert user["deletion_public_reason"] == "Nothing but advertising"
    with proves("002.deletion.15", "002.user-object.27"):
        assert user["deletion_audit_log_reason"] == "the private one"
    with proves("002.deletion.25", "002.user-object.25", "002.user-object.28"):
        assert (user["deletion_reason_code"], user["deletion_scheduled_by"]) == (3, world.admin.id)
    with proves("002.deletion.25", "002.user-object.29"):
        assert user["deletion_scheduled_at"][:16] == iso_timestamp(ask.server.clock.now_ms())[:16]
    with proves("002.get-user.5"):
        assert await ask.shown() == user

    with proves("002.deletion.24"):
        await bob.expect_opcode(9)
    with proves("002.deletion.42"):
        assert not [payload for payload in bob.dispatches if payload.name == "USER_UPDATE"]
    with proves("002.deletion.24"):
        assert [session["user_id"] for session in await world.anyone.gateway_sessions()] == [world.alice.id]
    await alice.expect_silence(2)
    with proves("002.deletion.22", "002.states.11"):
        (await world.bob.rest.get("/v1/users/@me")).expect(401)
    with proves("002.deletion.21"):
        assert await sign_in(world) == (403, "ACCOUNT_SUSPENDED_PERMANENTLY")
    with proves("002.deletion.23", "002.states.11"):
        assert ask.server.database.reader.execute(tokens, (int(world.bob.id),)).fetchone() == (0,)

    with proves("002.deletion.31"):
        [mail] = await mails(world)
        assert (mail["kind"], mail["to"]) == ("deletion_enforcement", "bob@example.com")
    with proves("002.deletion.31", "002.deletion.7"):
        assert "Nothing but advertising" in mail["text"]
    with proves("002.deletion.17", "002.user-object.23", "002.deletion.31"):
        assert user["pending_deletion_at"][:10] in mail["text"]
    assert "the private one" not in mail["text"]
    [entry] = ask.entries("schedule_deletion")
    assert (entry.target_type, entry.target_id, entry.reason) == ("user", world.bob.id, "the private one")
    with proves("002.deletion.43", "002.deletion.45"):
        assert entry.metadata == {
            "days": "60",
            "reason_code": "3",
            "pending_deletion_at": user["pending_deletion_at"],
            "notify_user": "true",
            "notification_sent": "true",
            "notification_template": "deletion_enforcement",
        }


@pytest.mark.rule("002.deletion.8", "002.deletion.14", "002.deletion.31")
@pytest.mark.parametrize("without", ["wish", "address"])
async def test_nobody_is_told_who_shall_not_or_cannot_be(ask: Asking, autojump_clock: MockClock, without: str) -> None:
    if without == "address":
        await ask.set(email=None)
    user = await ask.user("PUT", "/deletion", {"reason_code": 2, "notify_user": without != "wish"})
    assert user["deletion_public_reason"] is None
    assert await mails(ask.world) == []
    [entry] = ask.entries("schedule_deletion")
    assert entry.metadata["notification_sent"] == "false"
    assert "notification_template" not in entry.metadata


@pytest.mark.rule("002.deletion.32", "002.deletion.33")
@pytest.mark.parametrize("code", list(DeletionReason), ids=str)
async def test_the_notice_is_neutral_for_two_reasons(
    ask: Asking, autojump_clock: MockClock, code: DeletionReason
) -> None:
    await ask.user("PUT", "/deletion", {"reason_code": int(code)})
    neutral = code in {DeletionReason.USER_REQUESTED, DeletionReason.INACTIVITY}
    assert [mail["kind"] for mail in await mails(ask.world)] == [
        "deletion_notice" if neutral else "deletion_enforcement"
    ]


async def test_a_pending_deletion_is_replaced_by_whoever_names_it(ask: Asking, autojump_clock: MockClock) -> None:
    first = await ask.user("PUT", "/deletion", {"reason_code": 3, "public_reason": "one"}, reason="first")
    named = first["pending_deletion_at"]
    for body in (
        {"reason_code": 4},
        {"reason_code": 4, "replace_pending_deletion_at": LATER},
        {"reason_code": 4, "replace_pending_deletion_at": None},
    ):
        with proves("002.deletion.12", "002.deletion.13", "002.states.13"):
            assert (await ask.refused("PUT", "/deletion", body))[:2] == CONFLICT
    with proves("002.states.13"):
        assert await ask.shown() == first
    await trio.sleep(60)
    body = {"reason_code": 19, "days_until_deletion": 90, "replace_pending_deletion_at": named}
    with proves("002.states.12"):
        second = await ask.user("PUT", "/deletion", body)
        assert second["pending_deletion_at"] > named
        assert (second["deletion_reason_code"], second["deletion_public_reason"]) == (19, None)
    assert second["deletion_audit_log_reason"] is None
    with proves("002.deletion.46", "002.states.12"):
        entry = ask.entries("schedule_deletion")[-1]
        assert {name: value for name, value in entry.metadata.items() if name.startswith("replaced_")} == {
            "replaced_pending_deletion_at": named,
            "replaced_scheduled_by": ask.world.admin.id,
            "replaced_scheduled_at": first["deletion_scheduled_at"],
            "replaced_reason_code": "3",
        }
    assert (await ask.refused("PUT", "/deletion", body))[:2] == CONFLICT


async def test_nothing_pending_is_not_replaced(ask: Asking, autojump_clock: MockClock) -> None:
    body = {"reason_code": 3, "replace_pending_deletion_at": LATER}
    assert (await ask.refused("PUT", "/deletion", body))[:2] == CONFLICT


async def begin_erasure(ask: Asking) -> None:
    await ask.server.database.write(
        lambda connection: void(
            connection.execute(
                "UPDATE account_deletions SET erasure_started_at = 1 WHERE user_id = ?", (int(ask.user_id),)
            )
        )
    )


def void(_: object) -> None:
    return None


@pytest.mark.rule("002.deletion.19", "002.states.16")
async def test_an_erasure_that_has_begun_is_neither_replaced_nor_cancelled(
    ask: Asking, autojump_clock: MockClock
) -> None:
    user = await ask.user("PUT", "/deletion", {"reason_code": 2})
    named = user["pending_deletion_at"]
    await begin_erasure(ask)
    replace = {"reason_code": 3, "replace_pending_deletion_at": named}
    assert (await ask.refused("PUT", "/deletion", replace))[:2] == CONFLICT
    assert (await ask.refused("DELETE", "/deletion", {"expected_pending_deletion_at": named}))[:2] == CONFLICT
    assert account_deletions.of_user(ask.server.database.reader, int(ask.user_id)) is not None


@pytest.mark.rule("002.deletion.20", "002.deletion-cancel.7")
async def test_of_two_administrators_at_once_one_wins(ask: Asking, autojump_clock: MockClock) -> None:
    found: list[tuple[int, str | None]] = []

    async def wish(method: str, body: dict[str, Any]) -> None:
        answer = await ask(method, "/deletion", body)
        found.append((answer.status, answer.json().get("code")))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wish, "PUT", {"reason_code": 2})
        nursery.start_soon(wish, "PUT", {"reason_code": 3})
    assert sorted(found, key=str) == [(200, None), (409, "CONFLICT")]
    found.clear()
    named = (await ask.shown())["pending_deletion_at"]
    async with trio.open_nursery() as nursery:
        for code, days in ((4, 90), (5, 120)):
            body = {"reason_code": code, "days_until_deletion": days, "replace_pending_deletion_at": named}
            nursery.start_soon(wish, "PUT", body)
    assert sorted(found, key=str) == [(200, None), (409, "CONFLICT")]
    found.clear()
    named = (await ask.shown())["pending_deletion_at"]
    async with trio.open_nursery() as nursery:
        for _ in range(2):
            nursery.start_soon(wish, "DELETE", {"expected_pending_deletion_at": named})
    assert sorted(found, key=str) == [(200, None), (400, "NO_PENDING_DELETION")]


@pytest.mark.rule("002.deletion.3", "002.deletion.4")
async def test_the_own_account_and_mightier_ones_can_be_scheduled(ask: Asking, autojump_clock: MockClock) -> None:
    world = ask.world
    await ask.set(acls=["admin:authenticate", "user:delete"])
    path = f"/v1/admin/users/{world.admin.id}/deletion"
    (await world.bob.rest.put(path, {"reason_code": 2})).expect(200)
    own = f"/v1/admin/users/{world.bob.id}/deletion"
    user = (await world.bob.rest.put(own, {"reason_code": 2})).expect(200)["user"]
    assert user["deletion_scheduled_by"] == world.bob.id


async def test_an_admin_key_and_a_bot_of_somebody_to_be_deleted_open_nothing(
    ask: Asking, autojump_clock: MockClock
) -> None:
    world = ask.world
    await ask.set(acls=["*"])
    key = (await world.bob.rest.post("/v1/admin/api-keys", {"name": "k", "acls": ["*"]})).expect(200)["key"]
    headers = {"Authorization": f"Admin {key}"}
    path = f"/v1/admin/users/{world.carol.id}"
    (await world.anyone.request("GET", path, headers=headers)).expect(200)
    bot = Asking(ask.server, world, world.bot.id)
    (await world.bot.rest.get("/v1/users/@me")).expect(200)
    for target in (ask, bot):
        await target.user("PUT", "/deletion", {"reason_code": 2})
    (await world.anyone.request("GET", path, headers=headers)).expect(401)
    (await world.bot.rest.get("/v1/users/@me")).expect(401)
    for target in (ask, bot):
        named = (await target.shown())["pending_deletion_at"]
        await target.user("DELETE", "/deletion", {"expected_pending_deletion_at": named})
    (await world.anyone.request("GET", path, headers=headers)).expect(200)
    (await world.bot.rest.get("/v1/users/@me")).expect(200)


# What follows from misconduct


@pytest.mark.parametrize(
    "code", [DeletionReason.USER_REQUESTED, DeletionReason.SPAM, DeletionReason.INACTIVITY], ids=str
)
async def test_the_address_is_blocked_unless_the_holder_asked(
    ask: Asking, autojump_clock: MockClock, code: DeletionReason
) -> None:
    await ask.user("PUT", "/deletion", {"reason_code": int(code)}, reason="because")
    rows = ask.server.database.reader.execute("SELECT list, value, reason FROM blocklists").fetchall()
    entries = ask.entries("ban_email")
    if code is DeletionReason.USER_REQUESTED:
        with proves("002.deletion-reasons.8"):
            assert (rows, entries) == ([], [])
    else:
        with proves("002.deletion.16", "002.deletion.35"):
            assert rows == [("email", "bob@example.com", "because")]
        with proves("002.deletion.53"):
            [entry] = entries
            assert (entry.target_type, entry.target_id) == ("email", "bob@example.com")
            assert (entry.metadata, entry.reason) == ({"reason": "because"}, "because")


@pytest.mark.parametrize("code", list(DeletionReason), ids=str)
async def test_reports_are_resolved_for_some_reasons(
    ask: Asking, autojump_clock: MockClock, code: DeletionReason
) -> None:
    report_id = await report(ask.world)
    await ask.user("PUT", "/deletion", {"reason_code": int(code)})
    resolves = int(code) in {3, 4, 5, 6, 8, 11, 17, 18, 20, 21, 22}
    assert resolves == (code in RESOLVED_BY_DELETION)
    if code is DeletionReason.USER_REQUESTED:
        rules = ["002.deletion.39", "002.deletion-reasons.9"]
    else:
        rules = ["002.deletion.39" if not resolves else "002.deletion.36" if code < 17 else "002.deletion.37"]
    with proves(*rules):
        assert statuses(ask.server) == {report_id: "resolved" if resolves else "pending"}
    with proves("002.deletion.47"):
        assert len(ask.entries("auto_resolve_reports_on_deletion")) == resolves


async def test_some_reports_stay_for_somebody_to_look_at(ask: Asking, autojump_clock: MockClock) -> None:
    made = {category: await report(ask.world, category=category) for category in ReportCategory}
    await ask.user("PUT", "/deletion", {"reason_code": 3, "public_reason": "advertising", "notify_user": False})
    found = statuses(ask.server)
    with proves("002.deletion.38"):
        for category, report_id in made.items():
            assert found[report_id] == ("pending" if category in KEPT_PENDING else "resolved"), category
    with proves("002.deletion.38"):
        assert {"child_safety", "underage_user", "self_harm"} == KEPT_PENDING
    number = str(len(made) - len(KEPT_PENDING))
    [entry] = ask.entries("auto_resolve_reports_on_deletion")
    assert (entry.target_type, entry.target_id) == ("user", ask.world.bob.id)
    with proves("002.deletion.48", "002.deletion.49", "002.deletion.52"):
        assert entry.metadata == {
            "outcome": "completed",
            "found_count": number,
            "resolved_count": number,
            "failed_count": "0",
            "notified_count": number,
        }
    with proves("002.deletion.41"):
        letters = await mails(ask.world)
        assert {(mail["kind"], mail["to"]) for mail in letters} == {("report_resolved", "carol@example.com")}
        assert len(letters) == int(number)
        assert not [mail for mail in letters if "advertising" in mail["text"]]


# Cancelling


@pytest.mark.parametrize("notify", [True, False, None])
async def test_a_deletion_is_taken_back(ask: Asking, autojump_clock: MockClock, notify: bool | None) -> None:
    world = ask.world
    before = await ask.shown()
    user = await ask.user("PUT", "/deletion", {"reason_code": 3, "notify_user": False}, reason="why")
    body: dict[str, Any] = {"expected_pending_deletion_at": user["pending_deletion_at"]}
    if notify is not None:
        body["notify_user"] = notify
    with proves("002.deletion-cancel.5", "002.states.14"):
        assert await ask.user("DELETE", "/deletion", body, reason="private") == before
    with proves("002.deletion-cancel.8"):
        assert await sign_in(world) == (200, None)
    letters = await mails(world)
    with proves("002.deletion-cancel.9", "002.deletion-cancel.4"):
        assert [mail["kind"] for mail in letters] == (["deletion_cancelled"] if notify else [])
    with proves("002.deletion-cancel.10"):
        assert not [mail for mail in letters if "private" in mail["text"]]
    with proves("002.deletion-cancel.12"):
        [entry] = ask.entries("cancel_deletion")
        assert (entry.reason, entry.target_id) == ("private", world.bob.id)
        assert entry.metadata == {
            "cancelled_pending_deletion_at": user["pending_deletion_at"],
            "cancelled_scheduled_by": world.admin.id,
            "cancelled_scheduled_at": user["deletion_scheduled_at"],
            "cancelled_reason_code": "3",
            "notify_user": "true" if notify else "false",
        }


@pytest.mark.rule("002.states.15", "002.states.17", "002.deletion-cancel.3")
async def test_only_the_one_that_is_pending_is_taken_back(ask: Asking, autojump_clock: MockClock) -> None:
    body = {"expected_pending_deletion_at": LATER}
    assert (await ask.refused("DELETE", "/deletion", body))[:2] == (400, "NO_PENDING_DELETION")
    user = await ask.user("PUT", "/deletion", {"reason_code": 3})
    assert (await ask.refused("DELETE", "/deletion", body))[:2] == CONFLICT
    assert await ask.shown() == user


@pytest.mark.rule("002.deletion-cancel.11")
async def test_the_account_hears_of_the_cancellation(ask: Asking, autojump_clock: MockClock) -> None:
    # Nobody is signed in while a deletion stands, but the schedule of the holder leaves bots and the like; here the
    # schedule is the store's alone, so that a connection is there to hear.
    bob = await ask.world.bob.connect()
    deletion = account_deletions.AccountDeletion(int(ask.user_id), 4_000_000_000_000, 2, None, None, None, 1)
    await ask.server.database.write(lambda connection: account_deletions.put(connection, deletion))
    named = (await ask.shown())["pending_deletion_at"]
    await ask.user("DELETE", "/deletion", {"expected_pending_deletion_at": named})
    assert (await bob.expect("USER_UPDATE")).data["id"] == ask.world.bob.id


@pytest.mark.rule("002.deletion-cancel.8")
async def test_other_restrictions_stay(ask: Asking, autojump_clock: MockClock) -> None:
    await ask.user("PUT", "/ban", {"duration_hours": 1})
    user = await ask.user("PUT", "/deletion", {"reason_code": 3})
    await ask.user("DELETE", "/deletion", {"expected_pending_deletion_at": user["pending_deletion_at"]})
    assert await sign_in(ask.world) == (403, "ACCOUNT_SUSPENDED_TEMPORARILY")
    assert int((await ask.shown())["flags"]) & UserFlag.DISABLED


# The holder's own wish about messages


async def test_the_holders_wish_to_have_messages_deleted_is_taken_back(ask: Asking, autojump_clock: MockClock) -> None:
    world = ask.world
    path = f"/v1/channels/{world.channel_id}/messages"
    (await world.bob.rest.post(path, {"content": "stays"})).expect(200)
    wish = {"password": world.bob.password}
    told = (await world.bob.rest.post("/v1/users/@me/messages/delete", wish)).expect(200)
    shown = await ask.shown()
    with proves("002.user-object.24", "002.states.19"):
        assert shown["pending_bulk_message_deletion_at"] == told["scheduled_at"]
    bob = await world.bob.connect()
    user = await ask.user("DELETE", "/message-deletion")
    with proves("002.message-deletion.3", "002.message-deletion.6", "002.user-object.24"):
        assert user == shown | {"pending_bulk_message_deletion_at": None}
    with proves("002.message-deletion.5"):
        assert await ask.user("DELETE", "/message-deletion") == user
    with proves("002.message-deletion.8"):
        await bob.expect_silence(2)
    with proves("002.states.18"):
        await trio.sleep(2 * DAY)
        assert len((await world.alice.rest.get(path)).expect(200)) == 1
    with proves("002.message-deletion.10"):
        assert [entry.metadata for entry in ask.entries("cancel_bulk_message_deletion")] == [{}, {}]

    (await world.bob.rest.post("/v1/users/@me/messages/delete", wish)).expect(200)
    with proves("002.message-deletion.4"):
        await ask("DELETE", "/messages?dry_run=false")
        await ask.user("DELETE", "/message-deletion")
        await trio.sleep(10)
        assert (await world.alice.rest.get(path)).expect(200) == []  # the administrator's order goes on
    assert audit_log(ask.server)
