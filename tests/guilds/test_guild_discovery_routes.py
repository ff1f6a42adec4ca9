"""Guilds apply to be found, administrators decide, and people find and join them (wire facts, appendix A)."""

from __future__ import annotations

from typing import Any

import pytest
from trio.testing import MockClock

from chat.testing.rest_client import Response
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.administration.audit import audit_log

ABOUT = "A harbour for people who mend boats."
APPLICATIONS = "/v1/admin/discovery/applications"

open_to_small_guilds = pytest.mark.chat_settings(**{"discovery.minimum_members": 2})


def path(world: World) -> str:
    return f"/v1/guilds/{world.guild_id}/discovery"


async def apply(world: World, **members: Any) -> Response:
    return await world.alice.rest.post(path(world), {"category_id": 3, "description": ABOUT, **members})


async def listed(world: World, **query: Any) -> list[str]:
    answer = (await world.carol.rest.get("/v1/discovery/guilds", query)).expect(200)
    return [guild["id"] for guild in answer["guilds"]]


@open_to_small_guilds
async def test_a_guild_is_found_once_an_administrator_agrees(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    world, alice, admin = chat_world, chat_world.alice, chat_world.admin
    categories = (await alice.rest.get("/v1/discovery/categories")).expect(200)
    assert {"id": 3, "name": "Education"} in categories
    assert [category["id"] for category in categories] == list(range(9))
    assert (await alice.rest.get(path(world))).expect(200) == {
        "application": None,
        "eligible": True,
        "min_member_count": 2,
    }
    for method in ("PATCH", "DELETE"):
        missing = await alice.rest.request(method, path(world), json={})
        assert (missing.status, missing.code) == (404, "DISCOVERY_APPLICATION_NOT_FOUND")

    made = (await apply(world)).expect(200)
    assert made == {
        "guild_id": world.guild_id,
        "status": "pending",
        "category_id": 3,
        "description": ABOUT,
        "applied_at": made["applied_at"],
        "reviewed_at": None,
        "review_reason": None,
    }
    assert ((await apply(world)).status, (await apply(world)).code) == (409, "DISCOVERY_ALREADY_APPLIED")
    changed = (await alice.rest.patch(path(world), {"category_id": 4})).expect(200)
    assert (changed["category_id"], changed["description"]) == (4, ABOUT)
    assert await listed(world) == []

    waiting = (await admin.rest.get(APPLICATIONS)).expect(200)
    [application] = waiting["applications"]
    assert (waiting["total"], application["guild"]["id"]) == (1, world.guild_id)
    assert (application["applied_by"]["username"], application["reviewed_by"]) == ("alice", None)
    assert (await admin.rest.get(APPLICATIONS, {"status": "approved"})).expect(200)["total"] == 0
    at_bob = await world.bob.connect()
    target = f"{APPLICATIONS}/{world.guild_id}/approve"
    answer = await admin.rest.request("POST", target, json={}, headers={"X-Audit-Log-Reason": "fine"})
    approved = answer.expect(200)
    assert (approved["status"], approved["reviewed_by"]["username"]) == ("approved", "admin")
    update = (await at_bob.expect("GUILD_UPDATE")).data
    assert "DISCOVERABLE" in update["features"]
    assert update["verification_level"] == 1, "what everybody finds asks something of who writes there"
    assert await listed(world) == [world.guild_id]
    [shown] = (await world.carol.rest.get("/v1/discovery/guilds")).expect(200)["guilds"]
    assert (shown["description"], shown["category_id"]) == (ABOUT, 4)
    for query, found in (
        ({"category": 4}, True),
        ({"category": 3}, False),
        ({"query": "MEND"}, True),
        ({"query": "nothing of it"}, False),
    ):
        assert bool(await listed(world, **query)) is found, query
    for query in ({"category": 9}, {"category": "x"}, {"query": "x" * 101}, {"limit": 101}):
        assert (await alice.rest.get("/v1/discovery/guilds", query)).code == "INVALID_FORM_BODY", query
    assert (await apply(world)).code == "DISCOVERY_ALREADY_APPLIED"
    again = await admin.rest.post(target, {})
    assert (again.status, again.code) == (409, "DISCOVERY_APPLICATION_ALREADY_REVIEWED")
    (await alice.rest.patch(path(world), {"description": "Boats, mended by us."})).expect(200)

    # Taken out, the guild may apply anew; turned down, it is told why, and may apply anew as well.
    out = f"/v1/admin/discovery/guilds/{world.guild_id}"
    (await admin.rest.delete(out, {"reason": "nobody mends boats"})).expect(204)
    update = (await at_bob.expect("GUILD_UPDATE")).data
    assert "DISCOVERABLE" not in update["features"]
    told = (await alice.rest.get(path(world))).expect(200)["application"]
    assert (told["status"], told["review_reason"]) == ("removed", "nobody mends boats")
    assert await listed(world) == []
    gone = await admin.rest.delete(out, {})
    assert (gone.status, gone.code) == (400, "DISCOVERY_NOT_DISCOVERABLE")
    refused = await alice.rest.patch(path(world), {"category_id": 1})
    assert (refused.status, refused.code) == (409, "DISCOVERY_APPLICATION_ALREADY_REVIEWED")
    (await apply(world)).expect(200)
    rejected = (await admin.rest.post(f"{APPLICATIONS}/{world.guild_id}/reject", {"reason": "still"})).expect(200)
    assert (rejected["status"], rejected["review_reason"]) == ("rejected", "still")
    (await apply(world)).expect(200)
    (await admin.rest.post(target, {})).expect(200)
    await at_bob.expect("GUILD_UPDATE")

    # The guild itself may leave at any time.
    (await alice.rest.delete(path(world))).expect(204)
    assert "DISCOVERABLE" not in (await at_bob.expect("GUILD_UPDATE")).data["features"]
    assert (await alice.rest.get(path(world))).expect(200)["application"] is None
    logged = (await alice.rest.get(f"/v1/guilds/{world.guild_id}/audit-logs")).expect(200)["audit_log_entries"]
    assert len([entry for entry in logged if entry["action_type"] == 1]) == 4

    entries = [entry for entry in audit_log(chat_server) if "discovery" in entry.action]
    assert [entry.action for entry in entries] == [
        "list_discovery_applications",
        "list_discovery_applications",
        "approve_discovery",
        "remove_from_discovery",
        "reject_discovery",
        "approve_discovery",
    ]
    assert {(entry.target_type, entry.target_id) for entry in entries[2:]} == {("guild", world.guild_id)}
    assert (entries[2].reason, entries[2].metadata) == ("fine", {"reason": "null"})
    assert entries[3].metadata == {"reason": "nobody mends boats"}


@open_to_small_guilds
async def test_who_may_apply_and_who_decides(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    world = chat_world
    for method in ("GET", "POST", "PATCH", "DELETE"):
        body = {"category_id": 1, "description": ABOUT} if method == "POST" else {}
        for actor, guild_id, refusal in (
            (world.bob, world.guild_id, (403, "MISSING_PERMISSIONS")),
            (world.admin, world.guild_id, (403, "MISSING_PERMISSIONS")),
            (world.alice, "77", (404, "UNKNOWN_GUILD")),
        ):
            json = ... if method == "GET" else body
            answer = await actor.rest.request(method, f"/v1/guilds/{guild_id}/discovery", json=json)
            assert (answer.status, answer.code) == refusal, method
    for wrong in (
        {"category_id": 9},
        {"category_id": "Gaming"},
        {"category_id": None},
        {"description": None},
        {"description": "too short"},
        {"description": "x" * 301},
        {"description": 5},
    ):
        answer = await apply(world, **wrong)
        assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY"), wrong
    (await world.admin.rest.post("/v1/admin/blocklists/phrase", {"value": "rude word"})).expect(200)
    assert (await apply(world, description="a very rude word")).code == "CONTENT_BLOCKED"

    (await apply(world)).expect(200)
    before = audit_log(chat_server)
    decisions = {
        ("POST", f"{APPLICATIONS}/{world.guild_id}/approve"): "discovery:review",
        ("POST", f"{APPLICATIONS}/{world.guild_id}/reject"): "discovery:review",
        ("DELETE", f"/v1/admin/discovery/guilds/{world.guild_id}"): "discovery:remove",
        ("GET", APPLICATIONS): "discovery:review",
    }
    for (method, target), needed in decisions.items():
        other = {"discovery:review", "discovery:remove"} - {needed}
        await world.anyone.post(f"/v1/_dev/users/{world.bob.id}", {"acls": ["admin:authenticate", *other]})
        assert (await world.bob.rest.request(method, target, json={} if method != "GET" else ...)).code == "MISSING_ACL"
    for target, refusal in (
        (f"{APPLICATIONS}/77/approve", (404, "UNKNOWN_GUILD")),
        (f"{APPLICATIONS}/77/reject", (404, "UNKNOWN_GUILD")),
    ):
        answer = await world.admin.rest.post(target, {})
        assert (answer.status, answer.code) == refusal
    for body in ({"reason": "x" * 513}, {"reason": 1}):
        answer = await world.admin.rest.post(f"{APPLICATIONS}/{world.guild_id}/reject", body)
        assert answer.code == "INVALID_FORM_BODY"
    other_guild = (await world.alice.rest.create_guild("Other")).expect(200)["id"]
    answer = await world.admin.rest.post(f"{APPLICATIONS}/{other_guild}/approve", {})
    assert (answer.status, answer.code) == (404, "DISCOVERY_APPLICATION_NOT_FOUND")
    answer = await world.alice.rest.post(
        f"/v1/guilds/{other_guild}/discovery", {"category_id": 1, "description": ABOUT}
    )
    assert (answer.status, answer.code) == (400, "DISCOVERY_INSUFFICIENT_MEMBERS")
    assert audit_log(chat_server) == before
    # With its guild the application goes.
    (await world.alice.rest.post(f"/v1/guilds/{world.guild_id}/delete", {"password": world.alice.password})).expect(204)
    assert (await world.admin.rest.get(APPLICATIONS)).expect(200)["total"] == 0


@pytest.mark.chat_settings(**{"discovery.enabled": False})
async def test_an_instance_without_discovery(chat_world: World, autojump_clock: MockClock) -> None:
    refused = await apply(chat_world)
    assert (refused.status, refused.code) == (400, "DISCOVERY_DISABLED")
    assert (await chat_world.alice.rest.get(path(chat_world))).expect(200)["eligible"] is False
