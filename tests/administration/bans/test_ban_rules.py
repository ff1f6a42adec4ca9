"""Banning accounts, lifting bans and writing notes about them (document 002).

Area: administration. Rules: 002.ban, 002.ban-notes, 002.conventions, 002.states, 002.unban, 002.user-object.
"""

from __future__ import annotations

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from chat.clock import iso_timestamp
from chat.registries.user_flags import UserFlag
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.administration.asking import Asking
from tests.administration.audit import audit_log
from tests.spec.ledger import cases_of, proves

INVALID = (400, "INVALID_FORM_BODY")
HOUR = 3_600
HOUR_MS = HOUR * 1_000
CENTURY_MS = 100 * 365 * 24 * HOUR_MS


@pytest.fixture
def ask(chat_server: ChatServer, chat_world: World, autojump_clock: MockClock) -> Asking:
    return Asking(chat_server, chat_world)


async def mails(world: World) -> list[dict[str, Any]]:
    kept: list[dict[str, Any]] = (await world.anyone.get("/v1/_dev/mail")).expect(200)
    return kept


async def sign_in(world: World) -> tuple[int, str | None]:
    answer = await world.anyone.login(email="bob@example.com", password=world.bob.password)
    return answer.status, answer.json().get("code")


@pytest.mark.parametrize(
    ("method", "body"),
    [
        *cases_of(
            "002.ban.3",
            ("PUT", {}),
            ("PUT", {"duration_hours": -1}),
            ("PUT", {"duration_hours": 8761}),
            ("PUT", {"duration_hours": "1"}),
            ("PUT", {"duration_hours": 1.5}),
            ("PUT", {"duration_hours": None}),
        ),
        *cases_of(
            "002.ban.6",
            ("PUT", {"duration_hours": 1, "reason": "x" * 513}),
            ("PUT", {"duration_hours": 1, "reason": 5}),
        ),
        *cases_of("002.ban.8", ("PUT", {"duration_hours": 1, "notify_user": "yes"})),
        *cases_of("002.unban.3", ("DELETE", {"notify_user": 1})),
        *cases_of("002.unban.4", ("DELETE", {"public_reason": "x" * 513}), ("DELETE", {"public_reason": []})),
    ],
    ids=str,
)
async def test_bodies_that_are_refused(
    ask: Asking, autojump_clock: MockClock, method: str, body: dict[str, Any]
) -> None:
    assert (await ask.refused(method, "/ban", body))[:2] == INVALID
    assert (await ask.shown())["temp_banned_until"] is None


async def test_a_ban_ends_every_sign_in_and_nobody_else_hears_of_it(ask: Asking, autojump_clock: MockClock) -> None:
    world = ask.world
    bob, alice = await world.bob.connect(), await world.alice.connect()
    body = {"duration_hours": 2, "reason": "He knows why", "notify_user": True}
    with proves("002.ban.10"):
        user = await ask.user("PUT", "/ban", body, reason="private")
    now = ask.server.clock.now_ms()
    with proves("002.ban.10", "002.states.1", "002.user-object.21"):
        until = iso_timestamp(now + 2 * HOUR_MS)
        assert user["temp_banned_until"][:16] == until[:16]
    with proves("002.ban.10", "002.states.1"):
        assert int(user["flags"]) & UserFlag.DISABLED

    with proves("002.ban.15"):
        await bob.expect_opcode(9)
    with proves("002.ban.13"):
        assert not [payload for payload in bob.dispatches if payload.name == "USER_UPDATE"]
    with proves("002.ban.14"):
        await alice.expect_silence(5)
    with proves("002.ban.15"):
        assert (await world.anyone.gateway_sessions())[0]["user_id"] == world.alice.id
        assert len(await world.anyone.gateway_sessions()) == 1
    with proves("002.states.2"):
        assert (await world.bob.rest.get("/v1/users/@me")).expect(401)
    with proves("002.states.5"):
        assert await sign_in(world) == (403, "ACCOUNT_SUSPENDED_TEMPORARILY")

    with proves("002.ban.16"):
        [entry] = audit_log(ask.server)
        assert (entry.action, entry.target_type, entry.target_id, entry.reason) == (
            "temp_ban",
            "user",
            world.bob.id,
            "private",
        )
        assert entry.metadata == {
            "duration_hours": "2",
            "reason": "He knows why",
            "banned_until": user["temp_banned_until"],
            "notify_user": "true",
            "notification_sent": "true",
        }
    with proves("002.states.3"):
        [mail] = await mails(world)
        assert (mail["kind"], mail["to"]) == ("temporary_ban", "bob@example.com")
    with proves("002.ban.7"):
        assert "He knows why" in mail["text"]
    assert "private" not in mail["text"]
    with proves("002.ban.7"):
        assert "He knows why" not in str(user)


@pytest.mark.rule("002.states.4", "002.user-object.22")
async def test_a_ban_that_is_over_is_lifted_by_the_next_sign_in(ask: Asking, autojump_clock: MockClock) -> None:
    await ask.user("PUT", "/ban", {"duration_hours": 1})
    await trio.sleep(HOUR - 5)
    assert await sign_in(ask.world) == (403, "ACCOUNT_SUSPENDED_TEMPORARILY")
    await trio.sleep(6)
    shown = await ask.shown()
    assert shown["temp_banned_until"] is None
    assert int(shown["flags"]) & UserFlag.DISABLED  # nobody has tried yet
    assert await sign_in(ask.world) == (200, None)
    shown = await ask.shown()
    assert (shown["temp_banned_until"], int(shown["flags"]) & UserFlag.DISABLED) == (None, 0)


@pytest.mark.rule("002.ban.5")
async def test_a_second_ban_counts_from_now(ask: Asking, autojump_clock: MockClock) -> None:
    first = await ask.user("PUT", "/ban", {"duration_hours": 100})
    await trio.sleep(HOUR)
    second = await ask.user("PUT", "/ban", {"duration_hours": 2})
    assert second["temp_banned_until"] < first["temp_banned_until"]
    await trio.sleep(2 * HOUR + 1)
    assert await sign_in(ask.world) == (200, None)


async def test_a_ban_for_good(ask: Asking, autojump_clock: MockClock) -> None:
    with proves("002.ban.4", "002.states.7"):
        user = await ask.user("PUT", "/ban", {"duration_hours": 0, "notify_user": True})
        year = int(user["temp_banned_until"][:4])
        assert year == int(iso_timestamp(ask.server.clock.now_ms())[:4]) + 100
    with proves("002.ban.9"):
        assert await mails(ask.world) == []
    with proves("002.states.6"):
        assert await sign_in(ask.world) == (403, "ACCOUNT_SUSPENDED_TEMPORARILY")
    [entry] = audit_log(ask.server)
    with proves("002.ban.4"):
        assert entry.metadata["duration_hours"] == "0"
    with proves("002.ban.17", "002.conventions.7"):
        assert (entry.metadata["reason"], entry.metadata["notification_sent"]) == ("null", "false")


@pytest.mark.rule("002.states.3", "002.ban.8")
@pytest.mark.parametrize("without", ["wish", "address"])
async def test_nobody_is_told_who_shall_not_or_cannot_be(ask: Asking, autojump_clock: MockClock, without: str) -> None:
    if without == "address":
        await ask.set(email=None)
    await ask.user("PUT", "/ban", {"duration_hours": 1, "notify_user": without != "wish"})
    await ask.user("DELETE", "/ban", {"notify_user": without != "wish"})
    assert await mails(ask.world) == []
    assert [entry.metadata["notification_sent"] for entry in audit_log(ask.server)] == ["false", "false"]


async def test_a_ban_is_lifted_and_the_sign_ins_stay_ended(ask: Asking, autojump_clock: MockClock) -> None:
    world = ask.world
    await ask.user("PUT", "/ban", {"duration_hours": 5, "notify_user": False})
    with proves("002.unban.7"):
        user = await ask.user("DELETE", "/ban", {"public_reason": "A mistake"}, reason="private")
    with proves("002.states.8"):
        assert (user["temp_banned_until"], int(user["flags"]) & UserFlag.DISABLED) == (None, 0)
    with proves("002.states.9"):
        assert (await world.bob.rest.get("/v1/users/@me")).expect(401)
    assert await sign_in(world) == (200, None)
    with proves("002.states.10"):
        [mail] = await mails(world)
        assert (mail["kind"], mail["to"]) == ("unban", "bob@example.com")
    assert "A mistake" in mail["text"]
    with proves("002.unban.5"):
        assert "private" not in mail["text"]
    with proves("002.unban.11"):
        entry = audit_log(ask.server)[-1]
        assert (entry.action, entry.reason) == ("unban", "private")
        assert entry.metadata == {"notify_user": "true", "notification_sent": "true", "public_reason": "A mistake"}


async def test_who_was_never_banned_is_unbanned_all_the_same(ask: Asking, autojump_clock: MockClock) -> None:
    await ask.set(flags=str(int(UserFlag.DISABLED)))
    bob = await ask.world.bob.connect()
    with proves("002.unban.6", "002.states.8"):
        user = await ask.user("DELETE", "/ban", {})
        assert (user["temp_banned_until"], user["flags"]) == (None, "0")
    with proves("002.unban.10"):
        assert (await bob.expect("USER_UPDATE")).data["id"] == ask.world.bob.id
    with proves("002.unban.6"):
        assert await mails(ask.world) == []
    with proves("002.unban.12"):
        [entry] = audit_log(ask.server)
        assert entry.metadata == {"notify_user": "true", "notification_sent": "false", "public_reason": "null"}


@pytest.mark.rule("002.states.10")
@pytest.mark.parametrize("state", ["over", "closed", "to be deleted"])
async def test_no_letter_says_that_an_account_is_open_which_is_not(
    ask: Asking, autojump_clock: MockClock, state: str
) -> None:
    await ask.user("PUT", "/ban", {"duration_hours": 1, "notify_user": False})
    if state == "over":
        await trio.sleep(HOUR + 1)
    elif state == "closed":
        await ask.user("PATCH", "/flags", {"add_flags": [str(int(UserFlag.SELF_DELETED))]})
    else:
        await ask.user("PUT", "/deletion", {"reason_code": 2, "notify_user": False})
    await ask.user("DELETE", "/ban", {})
    assert [mail["kind"] for mail in await mails(ask.world)] == []


async def test_notes_that_are_refused(ask: Asking, autojump_clock: MockClock) -> None:
    world = ask.world
    carol = Asking(ask.server, world, world.carol.id)
    await carol.user("PUT", "/ban", {"duration_hours": 1})
    await ask.user("PUT", "/ban", {"duration_hours": 1})
    await ask.user("PUT", "/traits", {"traits": []})
    of_carol, own, other = (str(entry.id) for entry in audit_log(ask.server))
    note, reference, about_it, no_ban = (f"002.ban-notes.{number}" for number in (6, 3, 4, 9))
    for rule, body in (
        (note, {"ban_audit_log_id": own}),
        (reference, {"note": "n"}),
        (note, {"ban_audit_log_id": own, "note": ""}),
        (note, {"ban_audit_log_id": own, "note": "x" * 513}),
        (note, {"ban_audit_log_id": own, "note": 5}),
        (reference, {"ban_audit_log_id": "bob", "note": "n"}),
        (reference, {"ban_audit_log_id": None, "note": "n"}),
        (about_it, {"ban_audit_log_id": of_carol, "note": "n"}),
        (no_ban, {"ban_audit_log_id": other, "note": "n"}),
        (no_ban, {"ban_audit_log_id": "77", "note": "n"}),
    ):
        with proves(rule):
            assert (await ask.refused("POST", "/ban/notes", body))[:2] == INVALID


async def test_notes_are_added_to_the_ban_that_stands(ask: Asking, autojump_clock: MockClock) -> None:
    alice = await ask.world.alice.connect()
    await ask.user("PUT", "/ban", {"duration_hours": 1})
    [ban] = audit_log(ask.server)
    for number, reference in enumerate([ban.id, str(ban.id)]):
        body = {"ban_audit_log_id": reference, "note": f"note {number}"}
        answer = await ask("POST", "/ban/notes", body, reason="not read")
        with proves("002.ban-notes.3", "002.ban-notes.8"):
            answer.expect(204)
        with proves("002.ban-notes.8"):
            assert answer.body == b""
    with proves("002.ban-notes.7"):
        kept, first, second = audit_log(ask.server)
        assert kept == ban
    for entry, note in ((first, "note 0"), (second, "note 1")):
        with proves("002.ban-notes.13"):
            assert (entry.action, entry.target_type, entry.target_id) == ("annotate_ban", "user", ask.world.bob.id)
        with proves("002.ban-notes.13", "002.ban-notes.14"):
            assert (entry.reason, entry.metadata) == (note, {"ban_audit_log_id": str(ban.id)})
    with proves("002.ban-notes.12"):
        await alice.expect_silence(2)


@pytest.mark.rule("002.ban-notes.5", "002.ban-notes.10")
async def test_a_ban_that_is_no_longer_the_current_one_takes_no_notes(ask: Asking, autojump_clock: MockClock) -> None:
    async def note(entry_id: int) -> tuple[int, str]:
        body = {"ban_audit_log_id": str(entry_id), "note": "n"}
        return (await ask.refused("POST", "/ban/notes", body))[:2]

    await ask.user("PUT", "/ban", {"duration_hours": 1})
    first = audit_log(ask.server)[0].id
    await trio.sleep(1)
    await ask.user("PUT", "/ban", {"duration_hours": 1})
    second = audit_log(ask.server)[1].id
    assert await note(first) == (409, "CONFLICT")
    (await ask("POST", "/ban/notes", {"ban_audit_log_id": second, "note": "n"})).expect(204)
    await trio.sleep(HOUR + 1)
    assert await note(second) == (409, "CONFLICT")
    await ask.user("DELETE", "/ban", {})
    assert await note(second) == (409, "CONFLICT")
