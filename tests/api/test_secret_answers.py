"""Nothing on the way keeps an answer that carries what lets somebody in (design 8): `Cache-Control: no-store`.

`tests.answers` searches every answer that any test gets; here the declarations are held against the shapes of answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import pytest
from trio.testing import MockClock

from chat.admin.routes import ADMIN_ROUTES
from chat.api.operation import Operation
from chat.api.routes.every import ROUTES
from chat.api.schemas.shapes import JSON, Components
from chat.testing.rest_client import RestClient
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.signing_in.signing_in import Holder

OPERATIONS: Final = [operation for module in (*ROUTES, *ADMIN_ROUTES) for operation in module.operations]

SECRET_MEMBERS: Final = frozenset(
    {
        "token",
        "access_token",
        "refresh_token",
        "client_secret",
        "ticket",
        "email_token",
        "original_proof",
        "verification_proof",
    }
)
"""Members that are secrets wherever they stand in an answer."""

UNDER_OTHER_NAMES: Final = {
    "POST /v1/auth/passkey-bridge/start": "bridge_id",
    "POST /v1/auth/sso/start": "state",
    "POST /v1/auth/handoff/initiate": "code",
    "POST /v1/users/@me/recovery-kit": "code",
    "POST /v1/users/@me/mfa/totp/enable": "backup_codes",
    "POST /v1/users/@me/mfa/backup-codes": "backup_codes",
    "POST /v1/oauth2/authorize/consent": "redirect_to",
    "POST /v1/admin/users/{user_id}/password-reset-link": "url",
    "POST /v1/admin/api-keys": "key",
}
"""The secrets of single operations, by members that are none elsewhere."""


def members(schema: object, components: Mapping[str, Any], seen: frozenset[str] = frozenset()) -> Iterator[str]:
    """The names of all members of a shape, however deep they lie."""
    if isinstance(schema, list):
        for part in schema:
            yield from members(part, components, seen)
    elif isinstance(schema, dict):
        name = str(schema.get("$ref", "")).rpartition("/")[2]
        if name and name not in seen:
            yield from members(components[name], components, seen | {name})
        yield from schema.get("properties", {})
        for key, part in schema.items():
            yield from members(list(part.values()) if key == "properties" else part, components, seen)


def told_by(operation: Operation) -> set[str]:
    """The members of the operation's answers, refusals left out."""
    components = Components()
    shapes = [shape for status, shape in operation.answers.items() if status < 400 and shape.media_type == JSON]
    written = [components.written(shape) for shape in shapes]
    assert list(components.missing()) == []
    return set(members(written, components))


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: f"{operation.method} {operation.path}")
def test_an_operation_that_tells_a_secret_says_so_and_no_other_does(operation: Operation) -> None:
    name = f"{operation.method} {operation.path}"
    told = told_by(operation)
    if name in UNDER_OTHER_NAMES:
        assert UNDER_OTHER_NAMES[name] in told
        assert operation.secret
    else:
        assert operation.secret == bool(told & SECRET_MEMBERS), told & SECRET_MEMBERS


def test_every_name_is_an_operation() -> None:
    assert {f"{operation.method} {operation.path}" for operation in OPERATIONS} >= set(UNDER_OTHER_NAMES)


async def test_sign_ins_are_not_kept_and_neither_are_their_refusals(chat_world: World) -> None:
    bob = chat_world.bob
    for password, status in ((bob.password, 200), ("wrong password", 400)):
        answer = await chat_world.anyone.login(email=bob.email, password=password)
        assert (answer.status, answer.header("cache-control")) == (status, "no-store")
    assert (await bob.rest.get("/v1/users/@me")).header("cache-control") == "no-cache"


@pytest.mark.chat_settings(ip_authorization=True)
async def test_a_ticket_in_a_refusal_is_not_kept(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    bob = Holder(chat_server, chat_world, chat_world.bob)
    (await bob.login(RestClient(chat_server.route("192.0.2.1")))).expect(200)
    waits = await bob.login(RestClient(chat_server.route("198.51.100.1")))
    assert (waits.status, waits.header("cache-control")) == (403, "no-store")


async def test_a_sudo_token_is_not_kept(chat_server: ChatServer, chat_world: World, autojump_clock: MockClock) -> None:
    bob = Holder(chat_server, chat_world, chat_world.bob)
    await bob.enable_totp()
    body = {"session_id_hashes": [], "mfa_method": "totp", "mfa_code": bob.phone.code()}
    answer = await bob.person.rest.post("/v1/auth/sessions/logout", body)
    assert answer.status == 204
    assert answer.header("X-Service-Sudo-Mode-JWT") is not None
    assert answer.header("cache-control") == "no-store"


async def test_secrets_of_applications_and_keys_are_not_kept(chat_world: World) -> None:
    alice, admin = chat_world.alice, chat_world.admin
    made = await alice.rest.post("/v1/oauth2/applications", {"name": "Chess"})
    path = f"/v1/oauth2/applications/{made.expect(200)['id']}"
    proof = {"password": alice.password}
    key = {"name": "Key", "acls": []}
    for answer in (
        made,
        await alice.rest.post(f"{path}/bot/reset-token", proof),
        await alice.rest.post(f"{path}/client-secret/reset", proof),
        await admin.rest.post("/v1/admin/api-keys", key),
    ):
        assert (answer.status, answer.header("cache-control")) == (200, "no-store")
