"""Admin API keys: made, told once, listed, changed, taken back; never more than whoever writes them may do."""

from __future__ import annotations

from typing import Any, Final

import pytest
import trio
import trio.testing

from chat.clock import iso_timestamp
from chat.testing.rest_client import RestClient
from chat.testing.server import ChatServer
from chat.testing.world import World

KEYS: Final = "/v1/admin/api-keys"
DAY_MS: Final = 86_400_000


async def make(client: RestClient, *acls: str, **members: object) -> Any:
    return (await client.post(KEYS, {"name": "Deployment", "acls": acls, **members})).expect(200)


def with_key(world: World, made: Any) -> RestClient:
    return world.anyone.signed_in(f"Admin {made['key']}")


async def test_a_key_is_told_once_and_then_only_described(
    chat_world: World, chat_server: ChatServer, autojump_clock: trio.testing.MockClock
) -> None:
    admin = chat_world.admin.rest
    now = chat_server.clock.now_ms()
    made = await make(admin, "user:lookup", "admin:authenticate", "user:lookup", expires_in_days=2)
    assert made.keys() == {"key_id", "key", "name", "created_at", "expires_at", "acls"}
    assert made["key"].startswith(f"cha_{made['key_id']}_")
    assert len(made["key"].rpartition("_")[2]) == 32
    assert made["acls"] == ["user:lookup", "admin:authenticate"]
    assert made["created_at"] == iso_timestamp(now)
    assert made["expires_at"] == iso_timestamp(now + 2 * DAY_MS)
    described = (await admin.get(f"{KEYS}/{made['key_id']}")).expect(200)
    assert described == {
        "key_id": made["key_id"],
        "name": "Deployment",
        "acls": ["user:lookup", "admin:authenticate"],
        "created_by_user_id": chat_world.admin.id,
        "created_at": made["created_at"],
        "last_used_at": None,
        "expires_at": made["expires_at"],
    }
    listed = await admin.get(KEYS)
    assert described in listed.expect(200)
    assert made["key"].encode() not in listed.body


async def test_a_key_without_an_end_has_none(chat_world: World, autojump_clock: trio.testing.MockClock) -> None:
    assert (await make(chat_world.admin.rest))["expires_at"] is None


async def test_its_uses_are_noted_before_long(
    chat_world: World, chat_server: ChatServer, autojump_clock: trio.testing.MockClock
) -> None:
    admin = chat_world.admin.rest
    made = await make(admin, "*")
    path = f"{KEYS}/{made['key_id']}"
    used = chat_server.clock.now_ms()
    await with_key(chat_world, made).get("/v1/admin/acls")
    assert (await admin.get(path)).expect(200)["last_used_at"] == iso_timestamp(used)
    await trio.sleep(100)
    again = chat_server.clock.now_ms()
    await with_key(chat_world, made).get("/v1/admin/acls")
    await chat_server.restart()
    assert (await admin.get(path)).expect(200)["last_used_at"] == iso_timestamp(again)


async def test_an_expired_key_is_nobody_and_nowhere(chat_world: World, autojump_clock: trio.testing.MockClock) -> None:
    admin = chat_world.admin.rest
    made = await make(admin, "*", expires_in_days=1)
    key = with_key(chat_world, made)
    await trio.sleep(86_399)
    assert (await key.get("/v1/admin/acls")).status == 200
    await trio.sleep(1)
    expired, unknown = await key.get("/v1/admin/acls"), await chat_world.anyone.get("/v1/admin/acls")
    assert (expired.status, expired.body) == (unknown.status, unknown.body) == (401, unknown.body)
    path = f"{KEYS}/{made['key_id']}"
    for answer in (await admin.get(path), await admin.patch(path, {"name": "x"}), await admin.delete(path)):
        assert (answer.status, answer.code) == (404, "ADMIN_API_KEY_NOT_FOUND")
    assert made["key_id"] not in {row["key_id"] for row in (await admin.get(KEYS)).expect(200)}


async def test_a_key_taken_back_is_nobody(chat_world: World, autojump_clock: trio.testing.MockClock) -> None:
    admin = chat_world.admin.rest
    made = await make(admin, "*")
    key = with_key(chat_world, made)
    assert (await key.get("/v1/admin/acls")).status == 200
    assert (await admin.delete(f"{KEYS}/{made['key_id']}")).expect(200) == {"success": True}
    assert (await key.get("/v1/admin/acls")).code == "UNAUTHORIZED"
    assert (await admin.delete(f"{KEYS}/{made['key_id']}")).code == "ADMIN_API_KEY_NOT_FOUND"


async def test_a_change_takes_effect_at_once_and_leaves_the_rest(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    admin = chat_world.admin.rest
    made = await make(admin, "*")
    key, path = with_key(chat_world, made), f"{KEYS}/{made['key_id']}"
    assert (await admin.patch(path, {"name": "Other"})).expect(200)["acls"] == ["*"]
    changed = (await admin.patch(path, {"acls": ["admin:authenticate"]})).expect(200)
    assert (changed["name"], changed["acls"]) == ("Other", ["admin:authenticate"])
    assert (await key.get("/v1/admin/acls")).status == 200
    assert (await key.get(KEYS)).code == "MISSING_ACL"
    assert (await admin.patch(path, {"acls": []})).expect(200)["acls"] == []
    assert (await key.get("/v1/admin/acls")).code == "MISSING_ACL"
    assert (await admin.patch(path, {})).expect(200)["name"] == "Other"


async def test_everybody_sees_their_own_keys_only(chat_world: World, autojump_clock: trio.testing.MockClock) -> None:
    world = chat_world
    (await world.anyone.post(f"/v1/_dev/users/{world.bob.id}", {"acls": ["*"]})).expect(200)
    made = await make(world.bob.rest, "*")
    path = f"{KEYS}/{made['key_id']}"
    assert [row["key_id"] for row in (await world.bob.rest.get(KEYS)).expect(200)] == [made["key_id"]]
    assert made["key_id"] not in {row["key_id"] for row in (await world.admin.rest.get(KEYS)).expect(200)}
    for answer in (
        await world.admin.rest.get(path),
        await world.admin.rest.patch(path, {"acls": []}),
        await world.admin.rest.delete(path),
    ):
        assert (answer.status, answer.code) == (404, "ADMIN_API_KEY_NOT_FOUND")
    assert (await with_key(world, made).get(KEYS)).status == 200


async def test_nobody_hands_on_what_they_do_not_hold(chat_world: World, autojump_clock: trio.testing.MockClock) -> None:
    world = chat_world
    held = ["admin:authenticate", "admin_api_key:manage", "user:lookup"]
    (await world.anyone.post(f"/v1/_dev/users/{world.bob.id}", {"acls": held})).expect(200)
    bob = world.bob.rest
    for beyond in ("*", "user:delete"):
        answer = await bob.post(KEYS, {"name": "x", "acls": ["user:lookup", beyond]})
        assert (answer.status, answer.code) == (403, "MISSING_ACL")
    made = await make(bob, "admin:authenticate", "admin_api_key:manage")
    path = f"{KEYS}/{made['key_id']}"
    assert (await bob.patch(path, {"acls": ["user:delete"]})).code == "MISSING_ACL"
    # Nor does a key hand on what its owner holds and it does not.
    key = with_key(world, made)
    assert (await key.post(KEYS, {"name": "x", "acls": ["user:lookup"]})).code == "MISSING_ACL"
    assert (await key.patch(path, {"acls": ["user:lookup"]})).code == "MISSING_ACL"
    assert (await key.post(KEYS, {"name": "x", "acls": ["admin:authenticate"]})).status == 200
    assert (await bob.get(path)).expect(200)["acls"] == ["admin:authenticate", "admin_api_key:manage"]


@pytest.mark.parametrize(
    ("body", "path", "code"),
    [
        ({"acls": []}, "name", "INVALID_FORMAT"),
        ({"name": "", "acls": []}, "name", "INVALID_FORMAT"),
        ({"name": "x" * 101, "acls": []}, "name", "CONTENT_EXCEEDS_MAX_LENGTH"),
        ({"name": 5, "acls": []}, "name", "INVALID_FORMAT"),
        ({"name": "x"}, "acls", "INVALID_FORMAT"),
        ({"name": "x", "acls": "user:lookup"}, "acls", "INVALID_FORMAT"),
        ({"name": "x", "acls": ["user:lookup", "user:invented"]}, "acls.1", "INVALID_FORMAT"),
        ({"name": "x", "acls": [None]}, "acls.0", "INVALID_FORMAT"),
        ({"name": "x", "acls": ["user:lookup"] * 107}, "acls", "INVALID_FORMAT"),
        ({"name": "x", "acls": [], "expires_in_days": 0}, "expires_in_days", "INVALID_FORMAT"),
        ({"name": "x", "acls": [], "expires_in_days": 366}, "expires_in_days", "INVALID_FORMAT"),
        ({"name": "x", "acls": [], "expires_in_days": "7"}, "expires_in_days", "INVALID_FORMAT"),
    ],
)
async def test_what_is_wrong_with_a_body_is_told(
    chat_world: World, body: object, path: str, code: str, autojump_clock: trio.testing.MockClock
) -> None:
    before = (await chat_world.admin.rest.get(KEYS)).expect(200)
    answer = await chat_world.admin.rest.post(KEYS, body)
    assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY")
    assert (path, code) in {(error["path"], error["code"]) for error in answer.json()["errors"]}
    assert (await chat_world.admin.rest.get(KEYS)).expect(200) == before


@pytest.mark.parametrize(
    "state", [{"flags": str(1 << 34)}, {"flags": str(1 << 38), "temp_banned_until": "2200-01-01T00:00:00Z"}]
)
async def test_a_key_of_somebody_deleted_or_banned_is_nobody(
    chat_world: World, state: dict[str, str], autojump_clock: trio.testing.MockClock
) -> None:
    world = chat_world
    key = world.anyone.signed_in(f"Admin {world.admin_key}")
    assert (await key.get("/v1/admin/acls")).status == 200
    (await world.anyone.post(f"/v1/_dev/users/{world.admin.id}", state)).expect(200)
    assert (await key.get("/v1/admin/acls")).code == "UNAUTHORIZED"
    (await world.anyone.post(f"/v1/_dev/users/{world.admin.id}", {"flags": "0", "temp_banned_until": None})).expect(200)
    assert (await key.get("/v1/admin/acls")).status == 200


async def test_the_store_holds_no_key(
    chat_world: World, chat_server: ChatServer, autojump_clock: trio.testing.MockClock
) -> None:
    made = await make(chat_world.admin.rest, "*")
    rows = chat_server.database.reader.execute("SELECT * FROM admin_api_keys").fetchall()
    assert made["key"].rpartition("_")[2] not in repr(rows)
