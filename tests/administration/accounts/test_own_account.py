"""GET /v1/admin/users/@me and GET /v1/admin/acls."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import trio.testing

from chat.testing.world import World

ACLS: Final = [row["acl"] for row in json.loads(Path("spec_fixtures/acls.json").read_text(encoding="utf-8"))]


async def test_the_own_account_is_shown_whole_whatever_the_credential_holds(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    world = chat_world
    stored = ["user:lookup", "invented:before", "admin:authenticate"]
    (
        await world.anyone.post(
            f"/v1/_dev/users/{world.bob.id}", {"acls": ["admin:authenticate", "admin_api_key:manage", "*"]}
        )
    ).expect(200)
    made = (await world.bob.rest.post("/v1/admin/api-keys", {"name": "x", "acls": ["admin:authenticate"]})).expect(200)
    changed = {"acls": stored, "last_active_ip": "192.0.2.7", "date_of_birth": "1999-12-31"}
    (await world.anyone.post(f"/v1/_dev/users/{world.bob.id}", changed)).expect(200)
    for authorization in (world.bob.token, f"Admin {made['key']}"):
        user = (await world.anyone.signed_in(authorization).get("/v1/admin/users/@me")).expect(200)["user"]
        assert (user["id"], user["email"], user["date_of_birth"]) == (world.bob.id, world.bob.email, "1999-12-31")
        assert user["last_active_ip"] is not None
        assert user["acls"] == ["user:lookup", "admin:authenticate"]
        assert type(user["discriminator"]) is int


async def test_every_acl_is_listed_in_the_order_of_the_registry(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    assert (await chat_world.admin.rest.get("/v1/admin/acls")).expect(200) == {"acls": ACLS}
