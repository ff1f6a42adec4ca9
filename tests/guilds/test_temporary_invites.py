"""Invites with terms: temporary ones, custom codes, and what the audit log tells of them.

Area: guilds. Rules: 001.features, 001.registries.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from chat.testing.server import ChatServer, open_chat_server
from chat.testing.world import World


async def temporary(world: World) -> str:
    """The address of a temporary invite."""
    made = await world.alice.rest.create_channel_invite(world.channel_id, temporary=True)
    return f"/v1/invites/{made.expect(200)['code']}"


async def is_member(world: World) -> bool:
    """Whether the admin, who is in no guild at first, is a member now."""
    return (await world.alice.rest.get(f"/v1/guilds/{world.guild_id}/members/{world.admin.id}")).status == 200


async def allow(world: World, *features: str) -> None:
    """Give the guild these features and no others."""
    (await world.anyone.post(f"/v1/_dev/guilds/{world.guild_id}", {"features": list(features)})).expect(200)


async def test_a_temporary_member_goes_with_the_last_session(chat_world: World, autojump_clock: MockClock) -> None:
    admin, path = chat_world.admin, await temporary(chat_world)
    absent = await admin.rest.post(path)
    assert (absent.status, absent.code) == (400, "TEMPORARY_INVITE_REQUIRES_PRESENCE")
    assert not await is_member(chat_world)

    first, second = await admin.connect(), await admin.connect()
    assert (await admin.rest.post(path)).expect(200)["temporary"] is True
    at_bob = await chat_world.bob.connect()
    await first.aclose()
    await trio.sleep(120)
    assert await is_member(chat_world), "another session is left"
    await second.aclose()
    await trio.sleep(30)
    assert await is_member(chat_world), "the session may still be resumed"
    second = await admin.resume(second)
    await second.expect("RESUMED")
    await trio.sleep(120)
    assert await is_member(chat_world)
    await second.aclose()
    await trio.sleep(120)
    assert not await is_member(chat_world)
    removed = await at_bob.expect("GUILD_MEMBER_REMOVE")
    assert removed.data["user"]["id"] == admin.id
    assert (await admin.connect()).ready["guilds"] == []


async def test_whoever_gets_a_role_stays(chat_world: World, autojump_clock: MockClock) -> None:
    alice, admin = chat_world.alice, chat_world.admin
    session = await admin.connect()
    (await admin.rest.post(await temporary(chat_world))).expect(200)
    role = (await alice.rest.post(f"/v1/guilds/{chat_world.guild_id}/roles", {"name": "crew"})).expect(200)
    (await alice.rest.put(f"/v1/guilds/{chat_world.guild_id}/members/{admin.id}/roles/{role['id']}")).expect(204)
    await session.aclose()
    await trio.sleep(120)
    assert await is_member(chat_world)


async def test_ordinary_invites_and_members_do_not_end(chat_world: World, autojump_clock: MockClock) -> None:
    admin, bob = chat_world.admin, chat_world.bob
    (await bob.rest.post(await temporary(chat_world))).expect(200)  # a member already: that stays so
    sessions = [await admin.connect(), await bob.connect()]
    made = (await chat_world.alice.rest.create_channel_invite(chat_world.channel_id)).expect(200)
    (await admin.rest.accept_invite(made["code"])).expect(200)
    for session in sessions:
        await session.aclose()
    await trio.sleep(120)
    assert await is_member(chat_world)
    (await bob.rest.get(f"/v1/guilds/{chat_world.guild_id}")).expect(200)


async def test_a_restart_forgets_nobody(tmp_path: Path, autojump_clock: MockClock) -> None:
    async with open_chat_server(tmp_path) as server, trio.open_nursery() as nursery:
        async with World(server.description(), server.route(), nursery) as world:
            await world.admin.connect()
            (await world.admin.rest.post(await temporary(world))).expect(200)
            assert await is_member(world)
        nursery.cancel_scope.cancel()
    async with open_chat_server(tmp_path) as server, trio.open_nursery() as nursery:
        async with World(server.description(), server.route(), nursery) as world:
            await trio.sleep(50)
            assert await is_member(world)
            await trio.sleep(100)
            assert not await is_member(world)
        nursery.cancel_scope.cancel()


async def test_the_audit_log_tells_of_invites(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    path = f"/v1/channels/{chat_world.channel_id}/invites"
    headers = {"X-Audit-Log-Reason": "party"}
    body = {"max_age": 60, "max_uses": 3, "temporary": True}
    made = (await bob.rest.request("POST", path, json=body, headers=headers)).expect(200)
    (await bob.rest.request("POST", path, json=body)).expect(200)  # the same once more
    headers = {"X-Audit-Log-Reason": "over"}
    (await alice.rest.request("DELETE", f"/v1/invites/{made['code']}", headers=headers)).expect(204)
    log = (await alice.rest.get(f"/v1/guilds/{chat_world.guild_id}/audit-logs")).expect(200)["audit_log_entries"]
    gone, came = log
    assert [(entry["action_type"], entry["user_id"], entry["reason"]) for entry in log] == [
        (42, alice.id, "over"),
        (40, bob.id, "party"),
    ]
    options: dict[str, Any] = {
        "channel_id": chat_world.channel_id,
        "inviter_id": bob.id,
        "max_age": 60,
        "max_uses": 3,
        "temporary": True,
        "uses": 0,
    }
    assert (gone["options"], came["options"]) == (options, options)
    assert came["changes"] == [{"key": "code", "new_value": made["code"]}]
    assert gone["changes"] == [{"key": "code", "old_value": made["code"]}]


async def test_lists_name_inviters_and_leave_the_custom_code_out(chat_world: World, chat_server: ChatServer) -> None:
    alice, bob, admin = chat_world.alice, chat_world.bob, chat_world.admin
    await allow(chat_world, "VANITY_URL")
    (await alice.rest.patch(f"/v1/guilds/{chat_world.guild_id}/vanity-url", {"code": "harbour"})).expect(200)
    made = (await bob.rest.create_channel_invite(chat_world.channel_id)).expect(200)
    for path in (f"/v1/guilds/{chat_world.guild_id}/invites", f"/v1/channels/{chat_world.channel_id}/invites"):
        [listed] = (await alice.rest.get(path)).expect(200)
        assert (listed["code"], listed["inviter"]["id"]) == (made["code"], bob.id)
    for person in (alice, bob):
        kept = await person.rest.delete("/v1/invites/harbour")
        assert (kept.status, kept.code) == (403, "MISSING_PERMISSIONS")

    # How somebody came is kept with the membership.
    joined = (await admin.rest.post("/v1/invites/harbour")).expect(200)
    assert "inviter" not in joined
    found = (await alice.rest.post(f"/v1/guilds/{chat_world.guild_id}/members-search", {"query": "admin"})).expect(200)
    [member] = [entry for entry in found["members"] if entry["user"]["id"] == admin.id]
    assert member["supplemental"] == {"join_source_type": 2, "inviter_id": None}
    assert (await alice.rest.get(f"/v1/guilds/{chat_world.guild_id}/vanity-url")).expect(200)["uses"] == 1
    (await admin.rest.delete(f"/v1/users/@me/guilds/{chat_world.guild_id}")).expect(204)
    (await admin.rest.accept_invite(made["code"])).expect(200)
    found = (await alice.rest.post(f"/v1/guilds/{chat_world.guild_id}/members-search", {"query": "admin"})).expect(200)
    [member] = [entry for entry in found["members"] if entry["user"]["id"] == admin.id]
    assert member["supplemental"] == {"join_source_type": 1, "inviter_id": bob.id}


@pytest.mark.rule("001.features.21", "001.features.24", "001.registries.13")
@pytest.mark.parametrize(
    "closed", [{"features": ["INVITES_DISABLED"]}, {"features": ["RAID_DETECTED"]}, {"disabled_operations": 1 << 3}]
)
async def test_a_closed_guild_takes_nobody_in(chat_world: World, closed: dict[str, Any]) -> None:
    path = await temporary(chat_world)
    plain = (await chat_world.alice.rest.create_channel_invite(chat_world.channel_id)).expect(200)["code"]
    (await chat_world.anyone.post(f"/v1/_dev/guilds/{chat_world.guild_id}", closed)).expect(200)
    for code in (path, f"/v1/invites/{plain}"):
        refused = await chat_world.admin.rest.post(code)
        assert (refused.status, refused.code) == (403, "INVITES_DISABLED")
        (await chat_world.anyone.get(code)).expect(200)
    made = await chat_world.bob.rest.create_channel_invite(chat_world.channel_id)
    off = "disabled_operations" in closed
    assert (made.status, made.code) == ((403, "FEATURE_TEMPORARILY_DISABLED") if off else (200, None))
    opened = {"features": [], "disabled_operations": 0}
    (await chat_world.anyone.post(f"/v1/_dev/guilds/{chat_world.guild_id}", opened)).expect(200)
    (await chat_world.admin.rest.accept_invite(plain)).expect(200)
