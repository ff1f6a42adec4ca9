"""Who reaches the administrative API, and with what: sessions, admin API keys, and the ACLs of both.

Area: administration. Rules: 000.admin-credentials, 000.credentials, 000.outcomes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pytest
import trio.testing

from chat.admin.routes import ADMIN_ROUTES
from chat.api.operation import Operation
from chat.testing.rest_client import Response, RestClient
from chat.testing.world import Person, World

OPERATIONS: Final = [operation for routes in ADMIN_ROUTES for operation in routes.operations]
OWN_ACCOUNT: Final = "/v1/admin/users/@me"
KEYS: Final = "/v1/admin/api-keys"
KEY_FORM: Final = "cha_1_" + "a" * 32


async def allow(world: World, person: Person, *acls: str) -> None:
    """Give the account exactly these ACLs."""
    (await world.anyone.post(f"/v1/_dev/users/{person.id}", {"acls": acls})).expect(200)


async def make_key(world: World, person: Person, acls: Sequence[str], **members: object) -> RestClient:
    """A client with a new key of the person, who may do everything while it is made."""
    held = (await world.admin.rest.get(OWN_ACCOUNT)).expect(200)["user"]["acls"]
    await allow(world, person, "*")
    made = (await person.rest.post(KEYS, {"name": "Test", "acls": acls, **members})).expect(200)
    assert held == ["*"]
    return world.anyone.signed_in(f"Admin {made['key']}")


async def ask(client: RestClient, operation: Operation) -> Response:
    path = operation.path.replace("{key_id}", "1").replace("{user_id}", "1")
    return await client.request(operation.method, path, json={} if operation.body is not None else ...)


def outcome(answer: Response) -> tuple[int, str | None]:
    return answer.status, answer.code


@pytest.mark.rule("000.credentials.5", "000.admin-credentials.1")
async def test_a_key_is_its_creator(chat_world: World, autojump_clock: trio.testing.MockClock) -> None:
    world = chat_world
    key = await make_key(world, world.bob, ["*"])
    assert (await key.get(OWN_ACCOUNT)).expect(200)["user"]["id"] == world.bob.id
    seeded = world.anyone.signed_in(f"Admin {world.admin_key}")
    assert (await seeded.get(OWN_ACCOUNT)).expect(200)["user"]["id"] == world.admin.id


@pytest.mark.rule("000.admin-credentials.2", "000.admin-credentials.9")
async def test_what_its_creator_has_and_the_key_has_not_is_of_no_use(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    world = chat_world
    key = await make_key(world, world.bob, ["admin:authenticate"])
    assert outcome(await key.get(KEYS)) == (403, "MISSING_ACL")
    assert (await world.bob.rest.get(KEYS)).status == 200
    able = await make_key(world, world.bob, ["admin:authenticate", "admin_api_key:manage"])
    assert (await able.get(KEYS)).status == 200


@pytest.mark.rule("000.admin-credentials.3", "000.admin-credentials.10")
async def test_what_the_key_has_and_its_creator_has_not_is_of_no_use(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    world = chat_world
    key = await make_key(world, world.bob, ["*"])
    assert (await key.get(KEYS)).status == 200
    await allow(world, world.bob, "admin:authenticate")
    assert outcome(await key.get(KEYS)) == (403, "MISSING_ACL")
    assert (await key.get(OWN_ACCOUNT)).status == 200
    await allow(world, world.bob, "admin:authenticate", "admin_api_key:manage")
    assert (await key.get(KEYS)).status == 200


@pytest.mark.rule("000.admin-credentials.4", "000.admin-credentials.8")
@pytest.mark.parametrize("scheme", ["", "Bearer "])
async def test_a_session_is_accepted_by_every_operation(
    chat_world: World, scheme: str, autojump_clock: trio.testing.MockClock
) -> None:
    client = chat_world.anyone.signed_in(scheme + chat_world.admin.token)
    for operation in OPERATIONS:
        assert (await ask(client, operation)).status not in {401, 403}, operation.path


@pytest.mark.rule("000.admin-credentials.7")
async def test_whoever_may_not_use_the_admin_api_at_all_lacks_permission(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    world = chat_world
    key = await make_key(world, world.bob, ["*"])
    every_other = [acl for acl in (await world.admin.rest.get("/v1/admin/acls")).expect(200)["acls"] if acl != "*"]
    every_other.remove("admin:authenticate")
    await allow(world, world.bob, *every_other)
    for operation in OPERATIONS:
        assert outcome(await ask(world.bob.rest, operation)) == (403, "MISSING_PERMISSIONS"), operation.path
        assert outcome(await ask(world.alice.rest, operation)) == (403, "MISSING_PERMISSIONS"), operation.path
        assert outcome(await ask(key, operation)) == (403, "MISSING_PERMISSIONS"), operation.path
    await allow(world, world.bob, *every_other, "admin:authenticate")
    for operation in OPERATIONS:
        assert (await ask(world.bob.rest, operation)).status not in {401, 403}, operation.path


@pytest.mark.rule("000.admin-credentials.8")
async def test_the_wildcard_needs_no_other_acl(chat_world: World, autojump_clock: trio.testing.MockClock) -> None:
    await allow(chat_world, chat_world.bob, "*")
    for operation in OPERATIONS:
        assert (await ask(chat_world.bob.rest, operation)).status not in {401, 403}, operation.path


@pytest.mark.rule("000.admin-credentials.11")
async def test_a_key_of_somebody_who_may_not_use_the_admin_api(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    world = chat_world
    key = await make_key(world, world.bob, ["*"])
    await allow(world, world.bob, "admin_api_key:manage")
    for operation in OPERATIONS:
        assert outcome(await ask(key, operation)) == (403, "MISSING_PERMISSIONS"), operation.path
    await allow(world, world.bob)
    assert outcome(await key.get(OWN_ACCOUNT)) == (403, "MISSING_PERMISSIONS")


@pytest.mark.rule("000.admin-credentials.12")
async def test_a_key_that_may_not_use_the_admin_api_itself(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    key = await make_key(chat_world, chat_world.bob, ["admin_api_key:manage"])
    for operation in OPERATIONS:
        assert outcome(await ask(key, operation)) == (403, "MISSING_ACL"), operation.path


@pytest.mark.rule("000.outcomes.6")
async def test_a_bot_is_nobody_there(chat_world: World, autojump_clock: trio.testing.MockClock) -> None:
    for operation in OPERATIONS:
        assert outcome(await ask(chat_world.bot.rest, operation)) == (401, "UNAUTHORIZED"), operation.path


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda world: "Admin", id="alone", marks=pytest.mark.rule("000.credentials.9", "000.outcomes.2")),
        pytest.param(
            lambda world: f"Admin  {world.admin_key}", id="two blanks", marks=pytest.mark.rule("000.outcomes.2")
        ),
        pytest.param(
            lambda world: f"admin {world.admin_key}", id="admin", marks=pytest.mark.rule("000.credentials.13")
        ),
        pytest.param(
            lambda world: f"ADMIN {world.admin_key}", id="ADMIN", marks=pytest.mark.rule("000.credentials.13")
        ),
        pytest.param(lambda world: world.admin_key, id="no scheme", marks=pytest.mark.rule("000.outcomes.2")),
        pytest.param(lambda world: f"Bearer {world.admin_key}", id="Bearer", marks=pytest.mark.rule("000.outcomes.3")),
        pytest.param(
            lambda world: f"Admin {world.admin_key[:-1]}",
            id="a character less",
            marks=pytest.mark.rule("000.outcomes.2"),
        ),
        pytest.param(
            lambda world: f"Admin {world.admin_key}a", id="a character more", marks=pytest.mark.rule("000.outcomes.2")
        ),
        pytest.param(
            lambda world: f"Admin {world.admin_key.swapcase()}",
            id="other letters",
            marks=pytest.mark.rule("000.outcomes.3"),
        ),
        pytest.param(lambda world: f"Admin {KEY_FORM}", id="unknown", marks=pytest.mark.rule("000.outcomes.3")),
        pytest.param(
            lambda world: f"Admin cha_9999999999999999999_{'a' * 32}",
            id="no snowflake",
            marks=pytest.mark.rule("000.outcomes.2"),
        ),
        pytest.param(
            lambda world: f"Admin {world.admin.token}", id="a session token", marks=pytest.mark.rule("000.outcomes.3")
        ),
        pytest.param(
            lambda world: f"Admin {world.bot.token}", id="a bot token", marks=pytest.mark.rule("000.outcomes.3")
        ),
    ],
)
async def test_only_a_key_as_issued_behind_the_word_as_written(
    chat_world: World, make: Any, autojump_clock: trio.testing.MockClock
) -> None:
    client = chat_world.anyone.signed_in(make(chat_world))
    for operation in OPERATIONS:
        answer = await ask(client, operation)
        assert outcome(answer) == (401, "UNAUTHORIZED"), operation.path
        assert answer.json().keys() == {"code", "message"}
    assert (await chat_world.anyone.signed_in(f"Admin {chat_world.admin_key}").get(OWN_ACCOUNT)).status == 200


@pytest.mark.rule("000.credentials.6")
async def test_a_key_is_nobody_outside(chat_world: World, autojump_clock: trio.testing.MockClock) -> None:
    key = chat_world.anyone.signed_in(f"Admin {chat_world.admin_key}")
    assert outcome(await key.get("/v1/users/@me")) == (401, "UNAUTHORIZED")
    assert (await key.get("/.well-known/chat")).status == 200


async def test_what_a_caller_may_do_is_judged_before_what_it_says(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    world = chat_world
    key = await make_key(world, world.bob, ["admin:authenticate"])
    for body in (b"{", b'{"name": 5}', b"\xff"):
        answer = await key.request("POST", KEYS, body=body, headers={"Content-Type": "application/json"})
        assert outcome(answer) == (403, "MISSING_ACL")
        assert outcome(await world.admin.rest.request("POST", KEYS, body=body)) == (400, "INVALID_FORM_BODY")
    assert outcome(await key.delete(f"{KEYS}/nonsense")) == (403, "MISSING_ACL")
    assert outcome(await world.admin.rest.delete(f"{KEYS}/nonsense")) == (400, "INVALID_FORM_BODY")


@pytest.mark.chat_settings(rate_limits=True)
async def test_whoever_lacks_an_acl_is_told_so_however_often(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    """The bucket comes after the access checks; a second is let pass so that the limit of all requests stays out."""
    key = await make_key(chat_world, chat_world.bob, ["admin:authenticate"])
    for _ in range(40):  # POST takes 30 a minute
        assert outcome(await key.post(KEYS, {})) == (403, "MISSING_ACL")
        await trio.sleep(0.1)
    outcomes = []
    for _ in range(31):
        outcomes.append((await chat_world.admin.rest.post(KEYS, {})).status)
        await trio.sleep(0.03)
    assert outcomes == [400] * 30 + [429]
