"""Leave guild, and what becomes of a member who comes back (document 001, DELETE /v1/users/@me/guilds/{guild_id}).

Area: guilds. Rules: 001.credentials, 001.leave, 001.rate-limits.
"""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from chat.testing.rest_client import Response, RestClient
from chat.testing.server import ChatServer, open_chat_server
from chat.testing.world import Actor, World
from tests.applications.oauth2_client import OAuth2Client
from tests.spec.ledger import proves

DAY_SECONDS = 86_400
NOWHERE = "999999999999999999"


async def leave(actor: Actor, guild_id: str, *, with_messages: bool = False, **request: Any) -> Response:
    """Leave guild; `request` holds `json` and `headers`."""
    query = {"delete_messages": "true"} if with_messages else None
    return await actor.rest.request("DELETE", f"/v1/users/@me/guilds/{guild_id}", query=query, **request)


async def way_in(world: World) -> str:
    """The address of an invite into the guild."""
    return f"/v1/invites/{(await world.alice.rest.create_channel_invite(world.channel_id)).expect(200)['code']}"


async def log_of(world: World) -> list[dict[str, Any]]:
    """The guild's audit log."""
    return list(
        (await world.alice.rest.get(f"/v1/guilds/{world.guild_id}/audit-logs")).expect(200)["audit_log_entries"]
    )


async def contents(world: World) -> list[str]:
    """What is written in the channel, oldest first."""
    path = f"/v1/channels/{world.channel_id}/messages"
    return [message["content"] for message in reversed((await world.alice.rest.get(path)).expect(200))]


async def test_a_member_leaves(chat_world: World) -> None:
    bob, guild_id = chat_world.bob, chat_world.guild_id
    (await bob.rest.send_message(chat_world.channel_id, "farewell")).expect(200)
    at_bob, at_carol = await bob.connect(), await chat_world.carol.connect()
    with proves("001.leave.1"):
        gone = await leave(bob, guild_id, headers={"X-Audit-Log-Reason": "bored"})
        assert (gone.status, gone.body) == (204, b"")
    with proves("001.leave.18"):
        assert (await at_bob.expect("GUILD_DELETE")).data["id"] == guild_id
    with proves("001.leave.16"):
        folders = (await at_bob.expect("USER_SETTINGS_UPDATE")).data["guild_folders"]
        assert not any(guild_id in folder["guild_ids"] for folder in folders)
    with proves("001.leave.17"):
        removed = (await at_carol.expect("GUILD_MEMBER_REMOVE")).data
        assert removed == {"guild_id": guild_id, "user": {"id": bob.id}}
    with proves("001.leave.1"):
        assert (await bob.rest.get("/v1/users/@me/guilds")).expect(200) == []
        assert (await bob.rest.get(f"/v1/guilds/{guild_id}")).code == "MISSING_PERMISSIONS"
    with proves("001.leave.2"):
        assert "farewell" in await contents(chat_world)
    with proves("001.leave.23", "001.leave.24"):
        assert await log_of(chat_world) == []
    assert "GUILD_MEMBER_REMOVE" not in {payload.name for payload in at_bob.payloads}


async def test_a_member_takes_all_messages_along(chat_world: World) -> None:
    bob, guild_id = chat_world.bob, chat_world.guild_id
    for number in range(3):
        (await bob.rest.send_message(chat_world.channel_id, f"bob {number}")).expect(200)
    (await chat_world.carol.rest.send_message(chat_world.channel_id, "carol")).expect(200)
    at_carol = await chat_world.carol.connect()
    with proves("001.leave.7"):
        refused = await leave(bob, guild_id, with_messages=True)
        assert (refused.status, refused.code) == (403, "SUDO_MODE_REQUIRED")
    assert await contents(chat_world) == ["bob 0", "bob 1", "bob 2", "carol"]
    proof = {"password": bob.password}
    with proves("001.leave.4"):
        (await leave(bob, guild_id, with_messages=True, json=proof)).expect(204)
    with proves("001.leave.3", "001.leave.4"):
        assert await contents(chat_world) == ["carol"]
    await at_carol.expect("GUILD_MEMBER_REMOVE")
    told = [payload.name for payload in at_carol.payloads]
    with proves("001.leave.4"):
        assert told.index("MESSAGE_DELETE_BULK") < told.index("GUILD_MEMBER_REMOVE")
    with proves("001.leave.23"):
        assert await log_of(chat_world) == []


@pytest.mark.rule("001.leave.5", "001.leave.6")
async def test_proof_is_read_always_and_asked_for_only_with_messages(chat_world: World) -> None:
    bob, guild_id = chat_world.bob, chat_world.guild_id
    for malformed in ({"password": 7}, {"mfa_method": "pigeon"}, {"mfa_code": "1" * 33}):
        for with_messages in (False, True):
            refused = await leave(bob, guild_id, with_messages=with_messages, json=malformed)
            assert (refused.status, refused.code) == (400, "INVALID_FORM_BODY")
    headers = {"X-Service-Sudo-Mode-JWT": "no token at all"}
    wrong = {"password": "not the password"}
    refused = await leave(bob, guild_id, with_messages=True, json=wrong, headers=headers)
    assert (refused.status, refused.code) == (400, "INVALID_FORM_BODY")
    refused = await leave(bob, guild_id, with_messages=True, json={}, headers=headers)
    assert (refused.status, refused.code) == (403, "SUDO_MODE_REQUIRED")
    # Neither the wrong password nor the wrong token counts where nothing is deleted.
    (await leave(bob, guild_id, json=wrong, headers=headers)).expect(204)


@pytest.mark.rule("001.leave.8")
async def test_a_bot_needs_no_proof(chat_world: World) -> None:
    (await chat_world.bot.rest.send_message(chat_world.channel_id, "beep")).expect(200)
    (await leave(chat_world.bot, chat_world.guild_id, with_messages=True)).expect(204)
    assert await contents(chat_world) == []


async def test_who_cannot_leave(chat_world: World) -> None:
    admin, alice, guild_id = chat_world.admin, chat_world.alice, chat_world.guild_id
    for rule, actor, where, with_messages, expected in (
        ("001.leave.9", admin, guild_id, False, (404, "UNKNOWN_MEMBER")),
        ("001.leave.10", admin, NOWHERE, False, (404, "UNKNOWN_MEMBER")),
        ("001.leave.11", admin, guild_id, True, (403, "MISSING_PERMISSIONS")),
        ("001.leave.12", admin, NOWHERE, True, (404, "UNKNOWN_GUILD")),
        ("001.leave.10", alice, NOWHERE, False, (404, "UNKNOWN_MEMBER")),
        ("001.leave.12", alice, NOWHERE, True, (404, "UNKNOWN_GUILD")),
    ):
        with proves(rule):
            refused = await leave(actor, where, with_messages=with_messages, json={"password": actor.password})
            assert (refused.status, refused.code) == expected
    for with_messages in (False, True):
        with proves("001.leave.13"):
            refused = await leave(alice, guild_id, with_messages=with_messages, json={"password": alice.password})
            assert (refused.status, refused.code) == (400, "INVALID_FORM_BODY")
            [field] = refused.json()["errors"]
            assert (field["path"], field["code"]) == ("guild_id", "CANNOT_LEAVE_GUILD_AS_OWNER")
    (await alice.rest.get(f"/v1/guilds/{guild_id}")).expect(200)


@pytest.mark.rule("001.leave.14")
async def test_nobody_leaves_the_one_community(tmp_path: Path) -> None:
    async with open_chat_server(tmp_path) as server:
        guild_id = server.description()["guild_id"]
    for protected, expected in ((int(guild_id), (400, "SINGLE_COMMUNITY_CANNOT_LEAVE")), (1, (204, None))):
        settings = {"single_community_enabled": True, "single_community_guild_id": protected}
        async with open_chat_server(tmp_path, settings=settings) as server:
            bob = server.description()["users"][1]
            client = RestClient(server.route(), bob["token"])
            answer = await client.request("DELETE", f"/v1/users/@me/guilds/{guild_id}")
            assert (answer.status, answer.code) == expected
            await client.aclose()


@pytest.mark.rule("001.leave.15")
async def test_an_unavailable_guild_can_be_left(chat_world: World) -> None:
    features = {"features": ["UNAVAILABLE_FOR_EVERYONE"]}
    (await chat_world.anyone.post(f"/v1/_dev/guilds/{chat_world.guild_id}", features)).expect(200)
    closed = await chat_world.bob.rest.get(f"/v1/guilds/{chat_world.guild_id}")
    assert (closed.status, closed.code) == (403, "MISSING_ACCESS")
    (await leave(chat_world.bob, chat_world.guild_id)).expect(204)


@pytest.mark.rule("001.leave.19")
async def test_threads_are_left_too(chat_world: World) -> None:
    bob, knows = chat_world.bob, {"X-Service-Features": "channel_threads"}
    path = f"/v1/channels/{chat_world.channel_id}/threads"
    made = [
        (await bob.rest.request("POST", path, json={"name": name}, headers=knows)).expect(201)["id"]
        for name in ("one", "two")
    ]
    at_alice = await chat_world.alice.connect(flags=1 << 2)
    (await leave(bob, chat_world.guild_id)).expect(204)
    told = [(await at_alice.expect("THREAD_MEMBERS_UPDATE")).data for _ in made]
    assert sorted(data["id"] for data in told) == sorted(made)
    assert [data["removed_member_ids"] for data in told] == [[bob.id], [bob.id]]
    for thread in made:
        members = f"/v1/channels/{thread}/thread-members"
        listed = await chat_world.alice.rest.request("GET", members, headers=knows)
        assert listed.expect(200) == []


@pytest.mark.rule("001.leave.20", "001.leave.21")
async def test_what_stays_and_what_is_lost(chat_world: World) -> None:
    alice, bob, guild_id = chat_world.alice, chat_world.bob, chat_world.guild_id
    back = await way_in(chat_world)
    role = (await alice.rest.post(f"/v1/guilds/{guild_id}/roles", {"name": "crew"})).expect(200)
    own = f"/v1/guilds/{guild_id}/members/@me"
    (await alice.rest.patch(f"/v1/guilds/{guild_id}/members/{bob.id}", {"roles": [role["id"]]})).expect(200)
    profile = {"nick": "Bobby", "accent_color": 255, "profile_flags": 1}
    worn = (await bob.rest.patch(own, profile)).expect(200)
    assert (worn["nick"], worn["accent_color"], worn["roles"]) == ("Bobby", 255, [role["id"]])
    settings = f"/v1/users/@me/guilds/{guild_id}/settings"
    (await bob.rest.patch(settings, {"muted": True})).expect(200)
    message = (await alice.rest.send_message(chat_world.channel_id, "read me")).expect(200)["id"]
    ack = f"/v1/channels/{chat_world.channel_id}/messages/{message}/ack"
    (await bob.rest.post(ack, {})).expect(204)
    before = (await bob.connect()).ready

    (await leave(bob, guild_id)).expect(204)
    (await bob.rest.post(back)).expect(200)
    again = (await bob.rest.get(own)).expect(200)
    assert (again["nick"], again["accent_color"], again["profile_flags"], again["roles"]) == (None, None, 0, [])
    after = (await bob.connect()).ready
    assert after["user_guild_settings"] == before["user_guild_settings"] != []
    assert after["read_states"] == before["read_states"] != []


@pytest.mark.virtual_days
@pytest.mark.rule("001.leave.22")
async def test_a_time_out_goes_on_after_coming_back(chat_world: World, autojump_clock: MockClock) -> None:
    alice, bob, guild_id = chat_world.alice, chat_world.bob, chat_world.guild_id
    back = await way_in(chat_world)
    member = f"/v1/guilds/{guild_id}/members/{bob.id}"
    until = await moment(chat_world, 10 * DAY_SECONDS)
    (await alice.rest.patch(member, {"communication_disabled_until": until})).expect(200)
    (await leave(bob, guild_id)).expect(204)
    await trio.sleep(9 * DAY_SECONDS)
    (await bob.rest.post(back)).expect(200)
    resumed = (await alice.rest.get(member)).expect(200)
    assert (resumed["communication_disabled_until"], resumed["mute"]) == (until, True)
    refused = await bob.rest.send_message(chat_world.channel_id, "hello")
    assert (refused.status, refused.code) == (403, "COMMUNICATION_DISABLED")
    await trio.sleep(DAY_SECONDS + 1)
    (await bob.rest.send_message(chat_world.channel_id, "hello")).expect(200)

    # What has ended meanwhile, or was lifted before, does not come back.
    (await leave(bob, guild_id)).expect(204)
    (await bob.rest.post(back)).expect(200)
    assert (await alice.rest.get(member)).expect(200)["communication_disabled_until"] is None
    soon = await moment(chat_world, 60)
    (await alice.rest.patch(member, {"communication_disabled_until": soon})).expect(200)
    (await leave(bob, guild_id)).expect(204)
    await trio.sleep(61)
    (await bob.rest.post(back)).expect(200)
    assert (await alice.rest.get(member)).expect(200)["communication_disabled_until"] is None


@pytest.mark.rule("001.leave.22")
async def test_a_kick_keeps_the_time_out_and_a_year_ends_it(chat_world: World, chat_server: ChatServer) -> None:
    alice, bob, guild_id = chat_world.alice, chat_world.bob, chat_world.guild_id
    back = await way_in(chat_world)
    member = f"/v1/guilds/{guild_id}/members/{bob.id}"
    until = await moment(chat_world, 300 * DAY_SECONDS)
    (await alice.rest.patch(member, {"communication_disabled_until": until})).expect(200)
    (await alice.rest.delete(member)).expect(204)
    (await bob.rest.post(back)).expect(200)
    assert (await alice.rest.get(member)).expect(200)["communication_disabled_until"] == until
    # Longer than a year ago: only a row of another time can be so old.
    (await alice.rest.delete(member)).expect(204)
    year_ms = 366 * DAY_SECONDS * 1_000
    await chat_server.database.write(
        lambda connection: connection.execute("UPDATE kept_timeouts SET left_at = left_at - ?", (year_ms,))
    )
    (await bob.rest.post(back)).expect(200)
    assert (await alice.rest.get(member)).expect(200)["communication_disabled_until"] is None


@pytest.mark.rule("001.credentials.5")
async def test_a_bearer_cannot_leave(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    bearer = client.bearer((await client.tokens(chat_world.bob, "identify guilds"))["access_token"])
    refused = await bearer.delete(f"/v1/users/@me/guilds/{chat_world.guild_id}")
    assert (refused.status, refused.code) == (403, "ACCESS_DENIED")
    (await chat_world.bob.rest.get(f"/v1/guilds/{chat_world.guild_id}/members/@me")).expect(200)


@pytest.mark.chat_settings(rate_limits=True)
@pytest.mark.rule("001.rate-limits.7")
async def test_leaving_and_deleting_share_a_bucket(chat_world: World, autojump_clock: MockClock) -> None:
    admin = chat_world.admin.rest
    leaving = f"/v1/users/@me/guilds/{chat_world.guild_id}"
    for _ in range(5):
        assert (await admin.delete(leaving)).status == 404
        assert (await admin.post(f"{leaving}/messages/bulk-delete-mine", {})).status == 403
    assert (await admin.delete(leaving)).status == 429
    assert (await admin.post(f"{leaving}/messages/bulk-delete-mine", {})).status == 429
    assert (await admin.delete(f"/v1/users/@me/guilds/{NOWHERE}")).status == 404
    await trio.sleep(10)
    assert (await admin.delete(leaving)).status == 404


async def moment(world: World, seconds: int) -> str:
    """The server's time of day `seconds` from now, as ISO 8601."""
    now = (await world.anyone.get("/v1/_dev/clock")).expect(200)["now"]
    then = datetime.datetime.fromisoformat(now) + datetime.timedelta(seconds=seconds)
    return then.strftime("%Y-%m-%dT%H:%M:%S.") + f"{then.microsecond // 1000:03d}Z"
