"""Policy and limits that are chosen while the server runs, the first run of an instance, registrations that wait."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest
import trio
from trio.testing import MockClock

from chat.admin import buckets
from chat.store.administration import instance
from chat.testing.rest_client import Response, RestClient
from chat.testing.server import ChatServer, open_chat_server
from chat.testing.world import World
from tests.administration.access_walk import Walked, below, walk
from tests.administration.audit import audit_log

CONFIG: Final = "/v1/admin/instance/config"
LIMITS: Final = "/v1/admin/instance/limit-config"
SETUP: Final = "/v1/instance/setup"
WAITING: Final = "/v1/admin/registrations"
ROWS: Final = [
    Walked("GET", CONFIG, ("instance:config:view",), buckets.LOOKUP),
    Walked("PATCH", CONFIG, ("instance:config:update",), buckets.MODIFY, {}),
    Walked("GET", LIMITS, ("instance:limit_config:view",), buckets.LOOKUP),
    Walked("PATCH", LIMITS, ("instance:limit_config:update",), buckets.MODIFY, {"limits": {}}),
    Walked("GET", WAITING, ("user:lookup",), buckets.LOOKUP),
    Walked("POST", f"{WAITING}/{{user_id}}/approve", ("user:update:flags",), buckets.MODIFY),
    Walked("POST", f"{WAITING}/{{user_id}}/reject", ("user:update:flags",), buckets.MODIFY),
]
ELSEWHERE: Final = {("GET", "/v1/admin/instance/figures"), ("GET", "/v1/admin/instance/figures/history")}


def last(server: ChatServer) -> tuple[str, str, str, dict[str, Any]]:
    """Action, target and metadata of the newest entry."""
    entry = audit_log(server)[-1]
    return entry.action, entry.target_type, entry.target_id, dict(entry.metadata)


def applicant(name: str) -> dict[str, Any]:
    """A registration."""
    return {
        "username": name,
        "email": f"{name}@example.com",
        "password": "correct horse battery staple",
        "date_of_birth": "1990-01-01",
        "consent": True,
    }


def code(answer: Response) -> tuple[int, str | None]:
    """Status and code."""
    return answer.status, answer.code


async def test_policy_is_in_force_at_once_and_over_a_restart(
    tmp_path: Path, chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    world, admin = chat_world, chat_world.admin.rest
    assert below("/v1/admin/instance", WAITING) - ELSEWHERE == {(row.method, row.path) for row in ROWS}
    await walk(chat_server, world, ROWS, {"user_id": world.bob.id})

    async def discovered() -> dict[str, Any]:
        return dict((await world.anyone.get("/.well-known/chat")).expect(200))

    first = (await admin.get(CONFIG)).expect(200)
    assert first == {
        "config": {
            "service_name": "Chat",
            "service_description": None,
            "welcome_invite": None,
            "registration": "open",
            "email_verification_required": True,
            "single_community_enabled": False,
            "single_community_guild_id": None,
            "direct_messages_disabled": False,
        },
        "overridden": [],
    }
    assert last(chat_server) == ("get_instance_config", "instance", "0", {})
    assert (await discovered())["app_public"]["setup"]["configured"] is True

    page = await world.anyone.get("/register")
    changed = (await admin.patch(CONFIG, {"registration": "closed", "direct_messages_disabled": True})).expect(200)
    assert changed["overridden"] == ["registration", "direct_messages_disabled"]
    assert last(chat_server) == (
        "update_instance_config",
        "instance",
        "0",
        {"registration": "closed", "direct_messages_disabled": "true"},
    )
    assert code(await world.anyone.post("/v1/auth/register", applicant("dora"))) == (403, "REGISTRATION_CLOSED")
    opened = await world.bob.rest.post("/v1/users/@me/channels", {"recipient_id": world.carol.id})
    assert opened.code == "DIRECT_MESSAGES_DISABLED"
    assert (await discovered())["registration"]["mode"] == "closed"
    assert (await discovered())["community"]["direct_messages_disabled"] is True
    assert (await world.anyone.get("/register")).body != page.body

    # One community: it must exist, and then nobody makes another guild or leaves this one.
    for wrong in (
        {"single_community_enabled": True},
        {"single_community_enabled": True, "single_community_guild_id": "1"},
        {"registration": "maybe"},
        {"reset": ["mail.mode"]},
        {"direct_messages_disabled": "yes"},
    ):
        entries, before = audit_log(chat_server), await discovered()
        assert code(await admin.patch(CONFIG, wrong)) == (400, "INVALID_FORM_BODY"), wrong
        assert (audit_log(chat_server), await discovered()) == (entries, before)
    community = {"single_community_enabled": True, "single_community_guild_id": world.guild_id}
    assert (await admin.patch(CONFIG, community)).expect(200)["config"]["single_community_guild_id"] == world.guild_id
    assert (await world.bob.rest.post("/v1/guilds", {"name": "other"})).code == "SINGLE_COMMUNITY_CANNOT_CREATE_GUILDS"
    assert (
        await world.bob.rest.delete(f"/v1/users/@me/guilds/{world.guild_id}")
    ).code == "SINGLE_COMMUNITY_CANNOT_LEAVE"
    assert (await admin.delete(f"/v1/admin/guilds/{world.guild_id}")).code == "SINGLE_COMMUNITY_CANNOT_DELETE"
    body = {"single_community_enabled": False, "reset": ["registration", "direct_messages_disabled"]}
    again = (await admin.patch(CONFIG, body)).expect(200)
    assert again["overridden"] == ["single_community_enabled", "single_community_guild_id"]
    assert last(chat_server)[3]["reset"] == "direct_messages_disabled,registration"
    (await world.bob.rest.post("/v1/guilds", {"name": "other"})).expect(200)

    # What is stored is in force after a restart; what another version has stored is passed over.
    await chat_server.database.write(
        lambda connection: instance.choose_settings(
            connection,
            {"registration": "closed", "limits.max_bio_length": 7, "host": "h", "limits.gone": 1, "search": 3},
        )
    )
    await chat_server.restart()
    assert (await admin.get(CONFIG)).expect(200)["overridden"] == ["registration"]
    assert (await admin.get(LIMITS)).expect(200)["overridden"] == ["max_bio_length"]
    (await world.anyone.post("/v1/_dev/reset")).expect(204)
    assert (await admin.get(CONFIG)).expect(200)["overridden"] == []


@pytest.mark.chat_settings(premium_mode="none")
async def test_limits_are_in_force_at_once_for_those_whom_they_concern(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    world, admin = chat_world, chat_world.admin.rest
    shown = (await admin.get(LIMITS)).expect(200)
    assert (shown["limits"], shown["overridden"]) == (shown["defaults"], [])
    assert last(chat_server) == ("get_limit_config", "instance", "0", {})

    async def bio(length: int) -> Response:
        return await world.bob.rest.patch("/v1/users/@me", {"bio": "x" * length})

    async def guild() -> Response:
        return await world.bob.rest.post("/v1/guilds", {"name": "other"})

    (await bio(10)).expect(200)
    changed = (await admin.patch(LIMITS, {"limits": {"max_bio_length": 5, "max_guilds": 2}})).expect(200)
    assert changed["overridden"] == ["max_guilds", "max_bio_length"]
    # A limit for premium that nobody has chosen follows.
    assert (changed["limits"]["max_guilds"], changed["limits"]["max_guilds_premium"]) == (2, 2)
    assert last(chat_server) == ("update_limit_config", "instance", "0", {"limits": "max_bio_length=5,max_guilds=2"})
    assert code(await bio(6)) == (400, "INVALID_FORM_BODY")
    (await bio(5)).expect(200)
    (await guild()).expect(200)
    assert (await guild()).code == "MAX_GUILDS"
    rules = (await world.anyone.get("/.well-known/chat")).expect(200)["limits"]["rules"]
    assert rules[0]["overrides"]["max_guilds"] == 2

    entries = audit_log(chat_server)
    for wrong in (
        {"max_wings": 1},
        {"max_guilds": -1},
        {"max_message_length": 0},
        {"max_guilds": 1.5},
        {"max_guilds": 10**30},
        {"min_bitrate": 70_000},
        {"max_bitrate": 10},
        {"default_voice_connection_limit": 101},
    ):
        refused = await admin.patch(LIMITS, {"limits": {"max_bio_length": 9, **wrong}})
        assert code(refused) == (400, "INVALID_FORM_BODY"), wrong
    assert code(await admin.patch(LIMITS, {"reset": ["max_wings"]})) == (400, "INVALID_FORM_BODY")
    assert audit_log(chat_server) == entries
    assert (await admin.patch(LIMITS, {"reset": ["max_guilds"]})).expect(200)["overridden"] == ["max_bio_length"]
    (await guild()).expect(200)
    assert last(chat_server)[3] == {"limits": "", "reset": "max_guilds"}
    assert (await admin.patch(LIMITS, {"reset": list(shown["limits"])})).expect(200) == shown
    (await bio(10)).expect(200)


async def test_the_name_of_the_instance_is_in_force_at_once(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    world, admin = chat_world, chat_world.admin.rest
    said = {"service_name": "Garden club", "service_description": "We grow things.", "welcome_invite": "hello"}
    assert (await admin.patch(CONFIG, said)).expect(200)["config"].items() >= said.items()
    public = (await world.anyone.get("/.well-known/chat")).expect(200)["app_public"]
    assert public["branding"]["product_name"] == "Garden club"
    assert (public["description"], public["welcome_invite"]) == ("We grow things.", "hello")
    assert b"Garden club" in (await world.anyone.get("/login")).body
    (await world.anyone.post("/v1/auth/forgot", {"email": world.alice.email})).expect(204)
    assert "Garden club" in (await world.anyone.get("/v1/_dev/mail")).json()[-1]["subject"]
    # The new name is the one that no username may look like.
    taken = await world.anyone.post("/v1/auth/register", applicant("garden_club_staff"))
    assert code(taken) == (400, "INVALID_FORM_BODY")
    assert chat_server.server.settings.reserved_invite_words == ("Garden club",)
    for wrong in (
        {"service_name": "Garden\r\nBcc: all@example.org"},
        {"service_name": ""},
        {"service_name": "x" * 65},
        {"service_description": "x" * 501},
    ):
        assert code(await admin.patch(CONFIG, wrong)) == (400, "INVALID_FORM_BODY"), wrong
    (await admin.patch(CONFIG, {"reset": ["service_name"]})).expect(200)
    assert b"Garden club" not in (await world.anyone.get("/login")).body
    assert chat_server.server.settings.reserved_invite_words == ("Chat",)


async def test_whoever_has_the_link_sets_the_instance_up_once(tmp_path: Path, autojump_clock: MockClock) -> None:
    async with open_chat_server(tmp_path, settings={"mail.mode": "off"}) as server:
        # The seeded world holds ACLs: emptied of it, the instance is as new.
        def empty(connection: Any) -> None:
            connection.execute("DELETE FROM admin_api_keys")
            connection.execute("UPDATE users SET acls = '[]'")
            for table in ("guilds", "applications", "auth_sessions", "users"):
                connection.execute(f"DELETE FROM {table}")  # noqa: S608
            connection.execute("DELETE FROM instance WHERE key = 'setup_configured'")

        await server.database.write(empty)
        setup = server.server.areas.administration.setup
        setup.forget()
        stranger = RestClient(server.route())

        async def registered(name: str) -> tuple[str, RestClient]:
            answer = (await stranger.post("/v1/auth/register", applicant(name))).expect(200)
            return answer["user_id"], RestClient(server.route(), answer["token"])

        async def is_configured() -> bool:
            found: bool = (await stranger.get("/.well-known/chat")).expect(200)["app_public"]["setup"]["configured"]
            return found

        # Boris came first, and has no link.
        (_, boris), (anna_id, anna) = await registered("boris"), await registered("anna")
        token = setup.token
        assert len(token) == 43
        assert code(await stranger.post(SETUP, {"token": token})) == (401, "UNAUTHORIZED")
        for wrong in ("", "x", token[:-1], token + "A", "\u00e4", "a" * 65):
            status, _ = code(await boris.post(SETUP, {"token": wrong}))
            assert status in (400, 403), wrong
        assert code(await boris.post(SETUP, {"token": "A" * 43})) == (403, "ACCESS_DENIED")
        assert code(await boris.post(SETUP, {})) == (400, "INVALID_FORM_BODY")
        for client in (boris, anna):
            for method in ("GET", "PATCH"):
                assert code(await client.request(method, CONFIG, json={})) == (403, "MISSING_PERMISSIONS")
            assert code(await client.get("/v1/admin/acls")) == (403, "MISSING_PERMISSIONS")
        assert not await is_configured()
        refused = {"token": token, "registration": "maybe"}
        assert code(await anna.post(SETUP, refused)) == (400, "INVALID_FORM_BODY")
        assert not await is_configured()

        chosen = {"service_name": "Garden club", "service_description": "We grow things.", "registration": "approval"}
        answers: list[int] = []

        async def complete() -> None:
            answers.append((await anna.post(SETUP, {"token": token, **chosen})).status)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(complete)
            nursery.start_soon(complete)
        assert sorted(answers) == [204, 409]
        assert await is_configured()
        assert code(await boris.post(SETUP, {"token": token})) == (409, "CONFLICT")
        assert (await anna.get("/v1/admin/users/@me")).expect(200)["user"]["acls"] == ["*"]
        assert last(server) == ("set_acls", "user", anna_id, {"acls": "*"})
        entry = audit_log(server)[-2]
        assert (entry.action, dict(entry.metadata)) == ("update_instance_config", chosen)
        assert (await anna.get(CONFIG)).expect(200)["config"].items() >= chosen.items()

        # Registrations wait now; the administrator decides.
        waiting = [(await stranger.post("/v1/auth/register", applicant(name))).expect(200) for name in ("cora", "dirk")]
        listed = (await anna.get(WAITING)).expect(200)["registrations"]
        assert [entry["user"]["username"] for entry in listed] == ["cora", "dirk"]
        assert listed[0]["email"] == "cora@example.com"
        assert last(server) == ("list_registrations", "user", "0", {"result_count": "2"})
        cora, dirk = (answer["user_id"] for answer in waiting)
        (await anna.post(f"{WAITING}/{cora}/approve")).expect(204)
        assert last(server) == ("approve_registration", "user", cora, {})
        (await anna.post(f"{WAITING}/{dirk}/reject")).expect(204)
        entries = audit_log(server)
        for path in (f"{cora}/approve", f"{cora}/reject", f"{dirk}/reject", "1/approve"):
            assert code(await anna.post(f"{WAITING}/{path}")) == (404, "UNKNOWN_USER"), path
        assert audit_log(server) == entries
        login = {"email": "cora@example.com", "password": applicant("cora")["password"]}
        (await stranger.post("/v1/auth/login", login)).expect(200)
        (await anna.post(f"{WAITING}/{dirk}/approve")).expect(204)

        # Once it is set up it stays so, even when nobody holds an ACL any more.
        await server.database.write(lambda connection: connection.execute("UPDATE users SET acls = '[]'"))
        server.server.areas.administration.setup.forget()
        assert code(await anna.get(CONFIG)) == (403, "MISSING_PERMISSIONS")
        assert code(await anna.post(SETUP, {"token": token})) == (409, "CONFLICT")
        for client in (stranger, anna, boris):
            await client.aclose()
