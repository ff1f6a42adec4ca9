"""What holds for every operation on accounts: its ACL, its bucket, its answer to an account that there is not, and that
what was refused leaves nothing in the audit log.

Area: administration. Rules: 002.acls, 002.applications, 002.archives, 002.auth, 002.ban, 002.ban-notes,
002.bot-status, 002.change-log, 002.conventions, 002.deletion, 002.deletion-cancel, 002.dm-channels, 002.dob,
002.email, 002.email-verification, 002.flags-op, 002.get-user, 002.guilds, 002.message-deletion, 002.messages,
002.mfa, 002.password-reset, 002.premium-flags, 002.profile-fields, 002.recovery-kit, 002.relationship-delete,
002.relationships, 002.relationships-clear, 002.reset-link, 002.sessions, 002.sessions-terminate, 002.shreds,
002.store-purchases, 002.store-refresh, 002.system-status, 002.traits, 002.unban, 002.username,
002.verification-email, 002.versioning, 002.webauthn, 002.webauthn-delete.
"""

from __future__ import annotations

from typing import Any, Final

import attrs
import pytest
import trio
from trio.testing import MockClock

from chat.admin import buckets
from chat.admin.operation import AdminOperation
from chat.admin.routes import ADMIN_ROUTES
from chat.api.rate_limit import Bucket
from chat.testing.http_client import HttpClient
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.administration.audit import audit_log
from tests.spec.ledger import proves

AUTHENTICATE: Final = "admin:authenticate"
UNKNOWN: Final = "1234567890"
LATER: Final = "2100-01-01T00:00:00.000Z"


@attrs.frozen
class Row:
    """One operation: its rules' section and numbers, what a request for it looks like, who may make it."""

    section: str
    method: str
    path: str
    acl: str
    bucket: Bucket
    body: Any = ...
    unknown_rule: int | None = None
    """The rule that says what an unknown account answers."""
    unknown: int = 404
    username_instance: bool = False
    """Whether the operation is only there where people sign in with a username."""
    hosted_instance: bool = False
    """Whether it is only there on an instance that is not self-hosted."""

    def target(self, user_id: str) -> str:
        """The path for one account."""
        return "/v1/admin/users" + self.path.replace("{user_id}", user_id).replace("{other}", UNKNOWN)


MODIFY, LOOKUP, MESSAGE = buckets.MODIFY, buckets.LOOKUP, buckets.MESSAGE
ROWS: Final = [
    Row("002.get-user", "GET", "/{user_id}", "user:lookup", LOOKUP, unknown_rule=4, unknown=200),
    Row(
        "002.username",
        "PATCH",
        "/{user_id}/username",
        "user:update:username",
        MODIFY,
        {"username": "robert"},
        unknown_rule=18,
    ),
    Row(
        "002.email",
        "PATCH",
        "/{user_id}/email",
        "user:update:email",
        MODIFY,
        {"email": "b@example.com"},
        unknown_rule=9,
    ),
    Row("002.email-verification", "PUT", "/{user_id}/email-verification", "user:update:email", MODIFY, unknown_rule=10),
    Row(
        "002.verification-email", "POST", "/{user_id}/verification-email", "user:update:email", MODIFY, unknown_rule=16
    ),
    Row("002.password-reset", "POST", "/{user_id}/password-reset", "user:update:email", MODIFY, unknown_rule=11),
    Row(
        "002.reset-link",
        "POST",
        "/{user_id}/password-reset-link",
        "user:create:password_reset_link",
        MODIFY,
        unknown_rule=6,
        username_instance=True,
    ),
    Row(
        "002.recovery-kit",
        "DELETE",
        "/{user_id}/recovery-kit",
        "user:delete:recovery_kit",
        MODIFY,
        unknown_rule=5,
        username_instance=True,
    ),
    Row(
        "002.dob",
        "PATCH",
        "/{user_id}/date-of-birth",
        "user:update:dob",
        MODIFY,
        {"date_of_birth": "1999-01-02"},
        unknown_rule=6,
    ),
    Row(
        "002.profile-fields",
        "DELETE",
        "/{user_id}/profile-fields",
        "user:update:profile",
        MODIFY,
        {"fields": ["bio"]},
        unknown_rule=9,
    ),
    Row(
        "002.bot-status",
        "PUT",
        "/{user_id}/bot-status",
        "user:update:bot_status",
        MODIFY,
        {"bot": True},
        unknown_rule=7,
    ),
    Row(
        "002.system-status",
        "PUT",
        "/{user_id}/system-status",
        "user:update:bot_status",
        MODIFY,
        {"system": False},
        unknown_rule=6,
    ),
    Row("002.acls", "PUT", "/{user_id}/acls", "acl:set:user", MODIFY, {"acls": []}, unknown_rule=15),
    Row("002.traits", "PUT", "/{user_id}/traits", "user:update:traits", MODIFY, {"traits": ["a"]}, unknown_rule=9),
    Row(
        "002.flags-op", "PATCH", "/{user_id}/flags", "user:update:flags", MODIFY, {"add_flags": ["2"]}, unknown_rule=10
    ),
    Row(
        "002.premium-flags",
        "PATCH",
        "/{user_id}/premium-flags",
        "user:update:flags",
        MODIFY,
        {"add_flags": [2]},
        unknown_rule=9,
    ),
    Row(
        "002.store-purchases",
        "GET",
        "/{user_id}/store-purchases",
        "user:lookup",
        LOOKUP,
        unknown_rule=5,
        hosted_instance=True,
    ),
    Row(
        "002.store-refresh",
        "POST",
        "/{user_id}/store-purchases/refresh",
        "user:update:flags",
        MODIFY,
        unknown_rule=7,
        hosted_instance=True,
    ),
    Row("002.ban", "PUT", "/{user_id}/ban", "user:temp_ban", MODIFY, {"duration_hours": 1}, unknown_rule=12),
    Row("002.unban", "DELETE", "/{user_id}/ban", "user:temp_ban", MODIFY, {}, unknown_rule=9),
    Row(
        "002.ban-notes",
        "POST",
        "/{user_id}/ban/notes",
        "user:temp_ban",
        MODIFY,
        {"ban_audit_log_id": "1", "note": "n"},
        unknown_rule=11,
    ),
    Row("002.deletion", "PUT", "/{user_id}/deletion", "user:delete", MODIFY, {"reason_code": 2}, unknown_rule=18),
    Row(
        "002.deletion-cancel",
        "DELETE",
        "/{user_id}/deletion",
        "user:delete",
        MODIFY,
        {"expected_pending_deletion_at": LATER},
        unknown_rule=6,
    ),
    Row(
        "002.message-deletion",
        "DELETE",
        "/{user_id}/message-deletion",
        "user:cancel:bulk_message_deletion",
        MODIFY,
        unknown_rule=9,
    ),
    Row("002.guilds", "GET", "/{user_id}/guilds", "user:list:guilds", LOOKUP, unknown_rule=11),
    Row("002.dm-channels", "GET", "/{user_id}/dm-channels", "user:list:dm_channels", LOOKUP, unknown_rule=12),
    Row("002.applications", "GET", "/{user_id}/applications", "application:lookup", LOOKUP, unknown_rule=4),
    Row("002.applications", "GET", "/{user_id}/applications", "application:list:by_owner", LOOKUP, unknown_rule=4),
    Row("002.relationships", "GET", "/{user_id}/relationships", "user:list:relationships", LOOKUP, unknown_rule=6),
    Row(
        "002.relationships-clear",
        "DELETE",
        "/{user_id}/relationships?category=friend",
        "user:remove:relationship",
        MODIFY,
        unknown_rule=12,
    ),
    Row(
        "002.relationship-delete",
        "DELETE",
        "/{user_id}/relationships/{other}?category=friend",
        "user:remove:relationship",
        MODIFY,
        unknown_rule=7,
    ),
    Row("002.sessions", "GET", "/{user_id}/sessions", "user:list:sessions", MODIFY, unknown_rule=14),
    Row("002.sessions-terminate", "DELETE", "/{user_id}/sessions", "user:update:flags", MODIFY, unknown_rule=8),
    Row("002.webauthn", "GET", "/{user_id}/webauthn-credentials", "user:update:mfa", MODIFY, unknown_rule=8),
    Row(
        "002.webauthn-delete",
        "DELETE",
        "/{user_id}/webauthn-credentials/abc",
        "user:update:mfa",
        MODIFY,
        unknown_rule=5,
    ),
    Row("002.mfa", "DELETE", "/{user_id}/mfa", "user:update:mfa", MODIFY, unknown_rule=9),
    Row("002.messages", "DELETE", "/{user_id}/messages", "message:delete_all", MESSAGE, unknown_rule=7, unknown=200),
    Row(
        "002.shreds",
        "POST",
        "/{user_id}/message-shreds",
        "message:shred",
        MESSAGE,
        {"entries": [{"channel_id": "1", "message_id": "1"}]},
        unknown_rule=5,
        unknown=200,
    ),
    Row("002.archives", "POST", "/{user_id}/archives", "archive:trigger:user", LOOKUP, {}, unknown_rule=6),
    Row("002.change-log", "GET", "/{user_id}/change-log", "user:view:contact_log", LOOKUP, unknown_rule=6, unknown=200),
]
"""Every operation on one account."""

OF_OTHER_AREAS: Final = {"/v1/admin/users/{user_id}/avatar-block"}
"""What names an account in its path and belongs elsewhere (document 002, Conventions 6)."""

USERNAME_SETTINGS: Final = pytest.mark.chat_settings(sign_in="username")
HOSTED_SETTINGS: Final = pytest.mark.chat_settings(self_hosted=False)


def cases(*, unknown: bool = False) -> list[Any]:
    found = []
    for row in ROWS:
        marks = [USERNAME_SETTINGS] if row.username_instance else []
        marks += [HOSTED_SETTINGS] if row.hosted_instance else []
        if unknown:
            marks.append(pytest.mark.rule(f"{row.section}.{row.unknown_rule}"))
        found.append(pytest.param(row, marks=marks, id=f"{row.section}-{row.acl}"))
    return found


def operation_of(row: Row) -> AdminOperation:
    path = "/v1/admin/users" + row.path.partition("?")[0].replace("{other}", "{target_user_id}")
    path = path.replace("webauthn-credentials/abc", "webauthn-credentials/{credential}")
    [found] = [
        operation
        for routes in ADMIN_ROUTES
        for operation in routes.operations
        if (operation.method, operation.path) == (row.method, path)
    ]
    assert isinstance(found, AdminOperation)
    return found


@pytest.mark.parametrize("row", cases())
async def test_the_acl_opens_it_and_nothing_else_does(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock, row: Row
) -> None:
    world = chat_world
    target = row.target(world.bob.id)

    async def ask(*acls: str) -> tuple[int, str | None]:
        await world.anyone.post(f"/v1/_dev/users/{world.carol.id}", {"acls": list(acls)})
        answer = await world.carol.rest.request(row.method, target, json=row.body)
        return answer.status, answer.json().get("code") if answer.status >= 400 else None

    every = [acl for acl in await all_acls(world) if acl not in {"*", *needed(row)}]
    with proves(f"{row.section}.1", "002.auth.2"):
        assert await ask(AUTHENTICATE) == (403, "MISSING_ACL")
        assert await ask(*every) == (403, "MISSING_ACL")
        assert await ask(row.acl) == (403, "MISSING_PERMISSIONS")
        assert not audit_log(chat_server)
        status, code = await ask(AUTHENTICATE, row.acl)
        assert status != 403, code

    operation = operation_of(row)
    with proves(f"{row.section}.2"):
        assert operation.bucket == row.bucket
    assert operation.audit is not None


def needed(row: Row) -> set[str]:
    """The ACLs any of which opens the operation."""
    return {other.acl for other in ROWS if (other.section, other.method) == (row.section, row.method)}


async def all_acls(world: World) -> list[str]:
    acls: list[str] = (await world.admin.rest.get("/v1/admin/acls")).expect(200)["acls"]
    return acls


@pytest.mark.parametrize("row", cases(unknown=True))
async def test_an_account_that_there_is_not(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock, row: Row
) -> None:
    answer = await chat_world.admin.rest.request(row.method, row.target(UNKNOWN), json=row.body)
    if row.unknown == 404:
        assert answer.expect(404)["code"] == "UNKNOWN_USER"
        assert not audit_log(chat_server)
    else:
        answer.expect(200)
        assert audit_log(chat_server)


@pytest.mark.rule("002.conventions.1", "002.verification-email.11")
@pytest.mark.parametrize("row", cases())
async def test_the_path_names_an_account_by_its_snowflake(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock, row: Row
) -> None:
    for wrong in ("bob", "-1", "1.0", "18446744073709551616", "%20"):
        answer = await chat_world.admin.rest.request(row.method, row.target(wrong), json=row.body)
        assert answer.expect(400)["code"] == "INVALID_FORM_BODY"
    assert not audit_log(chat_server)


@pytest.mark.rule("002.conventions.2")
def test_every_operation_on_accounts_has_its_row_and_an_action_of_its_own() -> None:
    declared = [
        operation
        for routes in ADMIN_ROUTES
        for operation in routes.operations
        if isinstance(operation, AdminOperation) and operation.path.startswith("/v1/admin/users/{user_id}")
        if operation.path not in OF_OTHER_AREAS
    ]
    assert {id(operation) for operation in declared} == {id(operation_of(row)) for row in ROWS}
    actions = [operation.audit for operation in declared]
    assert len(actions) == len(set(actions))


@pytest.mark.rule("002.conventions.11", "002.conventions.12", "002.conventions.13")
@pytest.mark.chat_settings(rate_limits=True)
@pytest.mark.parametrize(
    ("method", "path", "body", "name", "limit"),
    [
        ("GET", "", ..., "admin:lookup", 200),
        ("DELETE", "/sessions", ..., "admin:user:modify", 100),
        ("DELETE", "/messages", ..., "admin:message:operation", 100),
    ],
)
async def test_a_bucket_is_full_in_time_and_empties(
    chat_server: ChatServer,
    chat_world: World,
    autojump_clock: MockClock,
    method: str,
    path: str,
    body: Any,
    name: str,
    limit: int,
) -> None:
    world = chat_world
    target = f"/v1/admin/users/{world.bob.id}{path}"
    accepted = 0
    while (answer := await world.admin.rest.request(method, target, json=body)).status == 200:
        accepted += 1
        await trio.sleep(0.021)  # the limit on all that a user asks for is another one
    assert answer.expect(429)["code"] == "RATE_LIMITED"
    assert answer.json()["global"] is False
    assert limit <= accepted <= limit * 1.1  # it empties as time goes by
    assert len(audit_log(chat_server)) == accepted
    await world.anyone.post(f"/v1/_dev/users/{world.carol.id}", {"acls": ["*"]})
    (await world.carol.rest.request(method, target, json=body)).expect(200)  # another user's bucket is another one
    assert {operation_of(row).bucket.name for row in ROWS} == {
        "admin:lookup",
        "admin:user:modify",
        "admin:message:operation",
    }
    assert name in {operation_of(row).bucket.name for row in ROWS}


@pytest.mark.rule("002.versioning.1")
async def test_without_the_version_there_is_nothing(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    admin = HttpClient(chat_server.route(), chat_world.admin.token)
    answer = await admin.get(f"/admin/users/{chat_world.bob.id}")
    assert answer.status in {404, 405}
    assert not audit_log(chat_server)
