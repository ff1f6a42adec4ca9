"""The registries of document 002, and what holds for entries of the audit log, objects and credentials alike.

Area: administration. Rules: 002.acls, 002.auth, 002.conventions, 002.deletion, 002.deletion-reasons, 002.errors,
002.flags, 002.me, 002.message-deletion, 002.premium-flags-registry, 002.sessions, 002.shred-entry-object,
002.summary-object, 002.user-object, 002.verification-email.
"""

from __future__ import annotations

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from chat.clock import iso_timestamp
from chat.registries.acls import ACLS, Acl
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.reports import DeletionReason
from chat.registries.user_flags import PremiumFlag, UserFlag
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.administration.asking import Asking
from tests.administration.audit import audit_log
from tests.spec.ledger import proves


@pytest.fixture
def ask(chat_server: ChatServer, chat_world: World) -> Asking:
    return Asking(chat_server, chat_world)


FLAGS: dict[str, dict[int, str]] = {
    "002.flags.1": {0: "STAFF", 2: "PARTNER", 3: "BUG_HUNTER"},
    "002.flags.2": {4: "FRIENDLY_BOT", 5: "FRIENDLY_BOT_MANUAL_APPROVAL", 6: "SPAMMER", 7: "PROFILE_HIDDEN"},
    "002.flags.3": {
        33: "HIGH_GLOBAL_RATE_LIMIT",
        34: "DELETED",
        36: "SELF_DELETED",
        38: "DISABLED",
        39: "HAS_SESSION_STARTED",
    },
    "002.flags.4": {47: "RATE_LIMIT_BYPASS", 48: "REPORT_BANNED", 49: "VERIFIED_NOT_UNDERAGE", 50: "ACCOUNT_LIMITED"},
    "002.flags.5": {51: "HAS_DISMISSED_PREMIUM_ONBOARDING", 53: "APP_STORE_REVIEWER", 57: "STAFF_HIDDEN"},
    "002.flags.6": {60: "AGE_VERIFIED_ADULT", 62: "LIMIT_EXEMPT"},
}
PREMIUM_FLAGS: dict[str, dict[int, str]] = {
    "002.premium-flags-registry.1": {
        0: "DISCRIMINATOR",
        1: "BADGE_HIDDEN",
        2: "BADGE_MASKED",
        3: "BADGE_TIMESTAMP_HIDDEN",
        4: "BADGE_SEQUENCE_HIDDEN",
    },
    "002.premium-flags-registry.2": {
        5: "PERKS_SANITIZED",
        6: "PURCHASE_DISABLED",
        7: "ENABLED_OVERRIDE",
        8: "PERKS_DISABLED",
    },
}
REASONS: dict[str, dict[int, str]] = {
    "002.deletion-reasons.1": {
        1: "USER_REQUESTED",
        2: "OTHER",
        3: "SPAM",
        4: "CHEATING_OR_EXPLOITATION",
        5: "COORDINATED_RAIDING",
        6: "AUTOMATION_OR_SELFBOT",
    },
    "002.deletion-reasons.2": {
        7: "NONCONSENSUAL_SEXUAL_CONTENT",
        8: "SCAM_OR_SOCIAL_ENGINEERING",
        9: "CHILD_SEXUAL_CONTENT",
        10: "PRIVACY_VIOLATION_OR_DOXXING",
    },
    "002.deletion-reasons.3": {
        11: "HARASSMENT_OR_BULLYING",
        12: "PAYMENT_FRAUD",
        13: "CHILD_SAFETY_VIOLATION",
        14: "BILLING_DISPUTE_OR_ABUSE",
    },
    "002.deletion-reasons.4": {
        15: "UNSOLICITED_EXPLICIT_CONTENT",
        16: "GRAPHIC_VIOLENCE",
        17: "BAN_EVASION",
        18: "TOKEN_OR_CREDENTIAL_SCAM",
    },
    "002.deletion-reasons.5": {
        19: "INACTIVITY",
        20: "HATE_SPEECH_OR_EXTREMIST_CONTENT",
        21: "MALICIOUS_LINKS_OR_MALWARE",
        22: "IMPERSONATION_OR_FAKE_IDENTITY",
    },
}
STATUSES: dict[str, dict[int, set[str]]] = {
    "002.errors.1": {404: {"UNKNOWN_USER", "NOT_FOUND", "UNKNOWN_WEBAUTHN_CREDENTIAL"}},
    "002.errors.2": {
        403: {
            "MISSING_ACL",
            "MISSING_PERMISSIONS",
            "ACCESS_DENIED",
            "BOT_USER_AUTH_ENDPOINT_ACCESS_DENIED",
            "FEATURE_TEMPORARILY_DISABLED",
            "ACCOUNT_SUSPENDED_TEMPORARILY",
        }
    },
    "002.errors.3": {
        400: {
            "INVALID_FORM_BODY",
            "EMAIL_UNAVAILABLE_ON_INSTANCE",
            "USERNAME_SIGN_IN_ONLY",
            "TAG_ALREADY_TAKEN",
            "NO_PENDING_DELETION",
        }
    },
    "002.errors.4": {409: {"CONFLICT"}, 503: {"STORE_BILLING_UNAVAILABLE", "SERVICE_UNAVAILABLE"}},
}


def by_rule(tables: dict[str, Any]) -> list[Any]:
    return [pytest.param(table, marks=pytest.mark.rule(rule), id=rule) for rule, table in tables.items()]


@pytest.mark.parametrize("table", by_rule(FLAGS))
def test_flags(table: dict[int, str]) -> None:
    assert {bit: UserFlag(1 << bit).name for bit in table} == table


@pytest.mark.rule("002.flags.7")
def test_there_are_no_other_flags() -> None:
    named = {bit for table in FLAGS.values() for bit in table}
    assert len(UserFlag) == len(named) == 21
    assert {flag.bit_length() - 1 for flag in UserFlag} == named


@pytest.mark.parametrize("table", by_rule(PREMIUM_FLAGS))
def test_premium_flags(table: dict[int, str]) -> None:
    assert {bit: PremiumFlag(1 << bit).name for bit in table} == table
    assert len(PremiumFlag) == 9


@pytest.mark.parametrize("table", by_rule(REASONS))
def test_deletion_reasons(table: dict[int, str]) -> None:
    assert {code: DeletionReason(code).name for code in table} == table
    assert len(DeletionReason) == 22


@pytest.mark.parametrize("table", by_rule(STATUSES))
def test_statuses_of_codes(table: dict[int, set[str]]) -> None:
    for status, codes in table.items():
        assert {code for code in codes if ErrorCode[code].status == status} == codes


@pytest.mark.rule("002.errors.5", "002.errors.6")
def test_codes_of_fields_are_no_codes_of_answers() -> None:
    codes = {
        "USERNAME_ALREADY_TAKEN",
        "DISCRIMINATOR_NOT_SUPPORTED_ON_INSTANCE",
        "USER_DOES_NOT_HAVE_AN_EMAIL_ADDRESS",
        "USER_MUST_BE_A_BOT_TO_BE_MARKED_AS_A_SYSTEM_USER",
    }
    assert codes <= {*FieldCode}
    assert not codes & {*ErrorCode}


NAMED_ACLS = """admin:authenticate user:lookup user:view:email user:view:dob user:view:ip user:view:contact_log
user:update:username user:update:email user:update:dob user:update:profile user:update:bot_status user:update:traits
user:update:flags user:update:mfa user:create:password_reset_link user:delete:recovery_kit user:remove:relationship
user:list:guilds user:list:dm_channels user:list:relationships user:list:sessions user:temp_ban user:delete
user:cancel:bulk_message_deletion acl:set:user audit_log:view application:lookup application:list:by_owner
message:delete_all message:shred archive:trigger:user"""


@pytest.mark.rule("002.auth.6", "002.acls.5")
async def test_every_acl_that_the_document_names_is_registered(ask: Asking, autojump_clock: MockClock) -> None:
    listed = (await ask.world.admin.rest.get("/v1/admin/acls")).expect(200)["acls"]
    assert listed == [str(acl) for acl in ACLS]
    assert (len(listed), len(set(listed)), listed[0]) == (106, 106, "*")
    assert set(NAMED_ACLS.split()) <= set(listed)
    assert len(Acl) == 106


# What holds for all entries and objects


async def test_an_entry_says_who_did_what_to_whom_and_why(ask: Asking, autojump_clock: MockClock) -> None:
    changes: list[tuple[str, str, Any]] = [
        ("PATCH", "/username", {"username": "robert"}),
        ("PATCH", "/email", {"email": "new@example.com"}),
        ("PUT", "/email-verification", ...),
        ("PATCH", "/date-of-birth", {"date_of_birth": "2000-01-01"}),
        ("DELETE", "/profile-fields", {"fields": []}),
        ("PUT", "/traits", {"traits": []}),
        ("PATCH", "/flags", {}),
        ("PATCH", "/premium-flags", {}),
        ("PUT", "/acls", {"acls": []}),
        ("PUT", "/bot-status", {"bot": False}),
        ("PUT", "/system-status", {"system": False}),
        ("PUT", "/ban", {"duration_hours": 1}),
        ("DELETE", "/ban", {}),
        ("DELETE", "/message-deletion", ...),
        ("PUT", "/deletion", {"reason_code": 1}),
    ]
    for method, path, body in changes:
        with proves("002.conventions.10"):
            user = await ask.user(method, path, body, reason=f"why {path}")
        with proves("002.conventions.4"):
            entry = audit_log(ask.server)[-1]
            with proves("002.conventions.5", "002.conventions.6"):
                assert (entry.target_type, entry.target_id) == ("user", ask.world.bob.id)
            with proves("002.conventions.9"):
                assert (entry.reason, entry.admin_user_id) == (f"why {path}", int(ask.world.admin.id))
            assert all(type(value) is str for value in entry.metadata.values())
        assert await ask.shown() == user
    assert len({entry.action for entry in audit_log(ask.server)}) == len(changes) + 1  # and get_user


async def test_what_an_account_has_not_is_null(ask: Asking, autojump_clock: MockClock) -> None:
    world = ask.world
    shown = await ask.shown()
    rules = {
        "avatar": "002.user-object.10",
        "banner": "002.user-object.10",
        "bio": "002.user-object.11",
        "pronouns": "002.user-object.11",
        "accent_color": "002.user-object.12",
        "locale": "002.user-object.17",
        "premium_type": "002.user-object.18",
        "premium_since": "002.user-object.19",
        "premium_until": "002.user-object.19",
        "premium_grace_ends_at": "002.user-object.19",
        "premium_lifetime_sequence": "002.user-object.20",
    }
    for name, rule in rules.items():
        with proves(rule):
            assert shown[name] is None, name
    profile = {"bio": "about me", "pronouns": "he", "accent_color": 0xABCDEF}
    (await world.bob.rest.patch("/v1/users/@me", profile)).expect(200)
    (await world.bob.rest.patch("/v1/users/@me/settings", {"locale": "de"})).expect(200)
    await ask.set(avatar="0123456789abcdef0123456789abcdef", premium_type=1)
    shown = await ask.shown()
    with proves("002.user-object.11", "002.user-object.12"):
        assert {name: shown[name] for name in profile} == profile
    with proves("002.user-object.10", "002.user-object.17", "002.user-object.18"):
        assert (shown["avatar"], shown["premium_type"], shown["locale"]) == (
            "0123456789abcdef0123456789abcdef",
            1,
            "de",
        )
    await trio.sleep(120)  # uses are written once in a while
    first = (await ask.shown())["last_active_at"]
    (await world.bob.rest.get("/v1/users/@me")).expect(200)
    await trio.sleep(120)
    with proves("002.user-object.39"):
        assert first < (await ask.shown())["last_active_at"] < iso_timestamp(ask.server.clock.now_ms())


@pytest.mark.rule("002.user-object.31")
async def test_acls_that_are_stored_and_unknown_are_not_shown(ask: Asking, autojump_clock: MockClock) -> None:
    statement = """UPDATE users SET acls = '["user:lookup","of:another:time","user:delete"]' WHERE id = ?"""
    await ask.server.database.write(lambda connection: void(connection.execute(statement, (int(ask.user_id),))))
    assert (await ask.shown())["acls"] == ["user:lookup", "user:delete"]


def void(_: object) -> None:
    return None


@pytest.mark.rule("002.summary-object.1", "002.summary-object.2", "002.summary-object.4")
async def test_the_discriminator_of_a_summary_has_four_digits(ask: Asking, autojump_clock: MockClock) -> None:
    world = ask.world
    await ask.user("PATCH", "/username", {"username": "bob", "discriminator": "7"})
    body = {"user_id": world.alice.id, "target_user_id": world.bob.id, "type": 1}
    (await world.anyone.post("/v1/_dev/relationships", body)).expect(204)
    alice = Asking(ask.server, world, world.alice.id)
    [friend] = (await alice("GET", "/relationships")).expect(200)["friends"]
    assert friend["target"] == {
        "id": world.bob.id,
        "username": "bob",
        "discriminator": "0007",
        "global_name": "Bob",
        "avatar": None,
    }
    assert (await ask.shown())["discriminator"] == 7


async def test_who_may_administer(ask: Asking, autojump_clock: MockClock) -> None:
    world = ask.world
    path = f"/v1/admin/users/{world.carol.id}"
    await ask.set(acls=["*"])

    async def key(*acls: str) -> dict[str, str]:
        wish = {"name": "k", "acls": list(acls)}
        made = (await world.bob.rest.post("/v1/admin/api-keys", wish)).expect(200)["key"]
        return {"Authorization": f"Admin {made}"}

    async def asked(headers: dict[str, str], method: str = "GET", below: str = "") -> tuple[int, str | None]:
        answer = await world.anyone.request(method, path + below, headers=headers)
        return answer.status, answer.json().get("code") if answer.status >= 400 else None

    whole = await key("admin:authenticate", "user:lookup")
    without_authenticate = await key("user:lookup")
    without_lookup = await key("admin:authenticate")
    with proves("002.auth.1"):
        assert await asked(whole) == (200, None)
    with proves("002.auth.3", "002.auth.4"):
        assert await asked(without_authenticate) == (403, "MISSING_ACL")
        assert await asked(without_lookup) == (403, "MISSING_ACL")
    await ask.set(acls=["user:lookup"])
    with proves("002.auth.3", "002.auth.4"):
        assert await asked(whole) == (403, "MISSING_PERMISSIONS")
    await ask.set(acls=["admin:authenticate"])
    with proves("002.auth.3"):
        assert await asked(whole) == (403, "MISSING_ACL")
    with proves("002.auth.5"):
        assert (await world.bot.rest.get(path)).expect(401)["code"] == "UNAUTHORIZED"
    assert await asked({}) == (401, "UNAUTHORIZED")
    with proves("002.verification-email.14"):
        for below, method in (("", "GET"), ("/verification-email", "POST")):
            answer = await world.alice.rest.request(method, path + below)
            assert answer.expect(403)["code"] == "MISSING_PERMISSIONS"
    with proves("002.me.6"):
        assert (await world.alice.rest.get("/v1/admin/users/@me")).expect(403)["code"] == "MISSING_PERMISSIONS"


@pytest.mark.rule("002.shred-entry-object.1")
async def test_ids_of_a_shred_are_text_or_numbers(ask: Asking, autojump_clock: MockClock) -> None:
    entries = [{"channel_id": 5, "message_id": "6"}, {"channel_id": "5", "message_id": 6}]
    assert (await ask("POST", "/message-shreds", {"entries": entries})).expect(200)["requested"] == 2


@pytest.mark.rule("002.message-deletion.7")
async def test_what_is_deleted_stays_deleted(ask: Asking, autojump_clock: MockClock) -> None:
    world = ask.world
    sent = (await world.bob.rest.send_message(world.channel_id, "gone")).expect(200)["id"]
    (await world.bob.rest.delete_message(world.channel_id, sent)).expect(204)
    await ask.user("DELETE", "/message-deletion")
    assert (await world.alice.rest.messages(world.channel_id)).expect(200) == []


@pytest.mark.rule("002.deletion.30")
async def test_there_is_no_subscription_to_cancel(ask: Asking, autojump_clock: MockClock) -> None:
    await ask.set(premium_type=1)
    user = await ask.user("PUT", "/deletion", {"reason_code": 2})
    assert (user["premium_type"], len(ask.entries("schedule_deletion"))) == (1, 1)


@pytest.mark.rule("002.user-object.43", "002.sessions.10")
async def test_without_a_file_of_places_there_are_none(ask: Asking, autojump_clock: MockClock) -> None:
    await ask.set(last_active_ip="203.0.113.7")
    assert (await ask.shown())["last_active_location"] is None
    sessions = (await ask("GET", "/sessions")).expect(200)["sessions"]
    assert sessions
    assert all(session["client_location"] is None for session in sessions)
