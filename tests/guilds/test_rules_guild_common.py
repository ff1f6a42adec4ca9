"""What holds for all operations on guilds: who may, in which order, how often; and what a guild object is
(document 001, Endpoints, Authentication, Errors, Limits, Versioning, Guild object).

Area: guilds. Rules: 001.common, 001.credentials, 001.errors, 001.get, 001.guild-object, 001.list, 001.policy,
001.rate-limits, 001.states, 001.versioning.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest
import trio
from trio.testing import MockClock

from chat.registries.permissions import ALL_DEFINED, THREAD_PERMISSIONS, Permission
from chat.registries.scopes import Scope
from chat.registries.user_flags import UserFlag
from chat.testing.http_client import HttpClient
from chat.testing.rest_client import Response, RestClient
from chat.testing.server import ChatServer
from chat.testing.world import Actor, World
from tests.conformance.presented_credentials import Issuer
from tests.spec.ledger import proves

FIXTURES: Final = Path("spec_fixtures", "guilds")
OPERATIONS: Final = json.loads((FIXTURES / "operations.json").read_text(encoding="utf-8"))
OBJECT: Final = json.loads((FIXTURES / "guild_object.json").read_text(encoding="utf-8"))
DECLARED: Final = {"X-Service-Features": "channel_threads"}
NOWHERE: Final = "999999999999999999"


def named(row: dict[str, Any]) -> str:
    return str(row["operation"])


def split(operation: str, guild_id: str) -> tuple[str, str]:
    method, _, path = operation.partition(" ")
    return method, path.replace("{guild_id}", guild_id)


async def ask(client: RestClient, operation: str, guild_id: str, body: Any = None) -> Response:
    """The operation about a guild; with as little as it reads for a body."""
    method, path = split(operation, guild_id)
    least = {"code": None} if operation.startswith("PATCH") and path.endswith("vanity-url") else {}
    return await client.request(method, path, json=... if method == "GET" else body or least)


async def set_guild(world: World, **members: Any) -> None:
    (await world.anyone.post(f"/v1/_dev/guilds/{world.guild_id}", members)).expect(200)


async def modify(world: World, **fields: Any) -> Response:
    return await world.alice.rest.patch(f"/v1/guilds/{world.guild_id}", fields)


async def get(world: World, actor: Actor | None = None, **headers: str) -> dict[str, Any]:
    """Get guild."""
    client = (actor or world.bob).rest
    answer = await client.request("GET", f"/v1/guilds/{world.guild_id}", headers=headers)
    guild: dict[str, Any] = answer.expect(200)
    return guild


async def listed(
    actor: Actor, headers: Mapping[str, str] | None = None, *, counts: bool = False
) -> list[dict[str, Any]]:
    """List current user guilds."""
    query = {"with_counts": "true"} if counts else None
    answer = await actor.rest.request("GET", "/v1/users/@me/guilds", query=query, headers=headers)
    guilds: list[dict[str, Any]] = answer.expect(200)
    return guilds


async def empower(world: World, actor: Actor, permissions: Permission) -> None:
    """A role with these permissions."""
    body = {"name": "power", "permissions": str(permissions.value)}
    role = (await world.alice.rest.post(f"/v1/guilds/{world.guild_id}/roles", body)).expect(200)["id"]
    (await world.alice.rest.put(f"/v1/guilds/{world.guild_id}/members/{actor.id}/roles/{role}")).expect(204)


def told(answer: Response) -> tuple[int, str | None]:
    return answer.status, answer.code


# Blocked text


@pytest.mark.rule("001.policy.1")
@pytest.mark.chat_settings(**{"content_policy.blocked_phrases": ["forbidden"]})
async def test_blocked_text_is_refused_wherever_it_is_sent(chat_world: World) -> None:
    alice, guild = chat_world.alice.rest, f"/v1/guilds/{chat_world.guild_id}"
    await set_guild(chat_world, features=["VANITY_URL"])
    before = await get(chat_world)
    template = {"name": "x", "roles": [], "channels": [{"id": 1, "type": 0, "position": 0, "name": "ForBidden fruit"}]}
    for method, path, body in (
        ("POST", "/v1/guilds", {"name": "A Forbidden place"}),
        ("POST", "/v1/guilds", {"name": "x", "template": template}),
        ("PATCH", guild, {"name": "so forbidden"}),
        ("PATCH", guild, {"content_warning_text": "FORBIDDEN"}),
        ("PATCH", f"{guild}/vanity-url", {"code": "forbidden"}),
        ("POST", f"{guild}/roles", {"name": "forbidden"}),
        ("POST", f"{guild}/channels", {"type": 0, "name": "forbidden"}),
        ("PATCH", f"/v1/channels/{chat_world.channel_id}", {"topic": "forbidden"}),
        ("PATCH", f"{guild}/members/@me", {"nick": "forbidden"}),
        ("POST", f"/v1/channels/{chat_world.channel_id}/messages", {"content": "forbidden"}),
    ):
        refused = await alice.request(method, path, json=body)
        assert told(refused) == (403, "CONTENT_BLOCKED"), (path, body)
    assert await get(chat_world) == before
    assert len(await listed(chat_world.alice)) == 1
    (await alice.patch(guild, {"name": "allowed"})).expect(200)


# Whoever asks


@pytest.mark.rule("001.policy.2")
@pytest.mark.parametrize("row", OPERATIONS, ids=named)
async def test_the_rules_of_credentials_hold_here(
    chat_world: World, chat_server: ChatServer, row: dict[str, Any]
) -> None:
    for authorization in (None, "", "Bot", "Bearer", "Bot nobody", "cht_" + "u" * 36, f"bot {chat_world.bot.token}"):
        client = RestClient(chat_world.route, authorization)
        assert told(await ask(client, row["operation"], chat_world.guild_id)) == (401, "UNAUTHORIZED")
        await client.aclose()
    revoked = await Issuer(chat_world, chat_server).session(int(chat_world.bob.id), revoked=True)
    client = RestClient(chat_world.route, revoked)
    assert (await ask(client, row["operation"], chat_world.guild_id)).status == 401
    await client.aclose()


@pytest.mark.rule("001.credentials.1")
async def test_only_a_session_creates_guilds(chat_world: World, chat_server: ChatServer) -> None:
    (await chat_world.bob.rest.create_guild("Pier")).expect(200)
    assert told(await chat_world.bot.rest.create_guild("Pier")) == (400, "BOTS_CANNOT_CREATE_GUILDS")
    token = await bearer(chat_world, Issuer(chat_world, chat_server), Scope.GUILDS)
    assert told(await token.create_guild("Pier")) == (403, "ACCESS_DENIED")
    assert told(await chat_world.anyone.create_guild("Pier")) == (401, "UNAUTHORIZED")
    await token.aclose()


async def bearer(world: World, issuer: Issuer, *scopes: Scope) -> RestClient:
    """A client with an access token of bob's."""
    granted = tuple(str(scope) for scope in (Scope.IDENTIFY, *scopes))
    token = await issuer.access_token(int(world.bob.id), scopes=granted)
    return RestClient(world.route, f"Bearer {token}")


READ: Final = [row for row in OPERATIONS if row["bearer"] == "guilds"]
CLOSED: Final = [
    row for row in OPERATIONS if row["bearer"] == "ACCESS_DENIED" and row["operation"] != "POST /v1/guilds"
]
RULE_OF: Final = {
    "PATCH /v1/guilds/{guild_id}": "001.credentials.3",
    "POST /v1/guilds/{guild_id}/delete": "001.credentials.4",
    "DELETE /v1/users/@me/guilds/{guild_id}": "001.credentials.5",
    "POST /v1/users/@me/guilds/{guild_id}/messages/bulk-delete-mine": "001.credentials.6",
    "GET /v1/guilds/{guild_id}/vanity-url": "001.credentials.7",
    "PATCH /v1/guilds/{guild_id}/vanity-url": "001.credentials.8",
}


@pytest.mark.rule("001.credentials.2", "001.list.2", "001.get.3")
@pytest.mark.parametrize("row", READ, ids=named)
async def test_a_bearer_reads_with_its_scope(chat_world: World, chat_server: ChatServer, row: dict[str, Any]) -> None:
    issuer = Issuer(chat_world, chat_server)
    scoped = await bearer(chat_world, issuer, Scope.GUILDS)
    plain = await bearer(chat_world, issuer)
    (await ask(chat_world.bob.rest, row["operation"], chat_world.guild_id)).expect(200)
    (await ask(scoped, row["operation"], chat_world.guild_id)).expect(200)
    refused = await ask(plain, row["operation"], chat_world.guild_id)
    assert told(refused) == (403, "MISSING_OAUTH_SCOPE")
    assert refused.json()["required_scope"] == "guilds"
    await scoped.aclose()
    await plain.aclose()


@pytest.mark.parametrize(
    "row", [pytest.param(row, id=named(row), marks=pytest.mark.rule(RULE_OF[named(row)])) for row in CLOSED]
)
async def test_a_bearer_does_nothing_else(chat_world: World, chat_server: ChatServer, row: dict[str, Any]) -> None:
    client = await bearer(chat_world, Issuer(chat_world, chat_server), Scope.GUILDS)
    before = await get(chat_world)
    assert told(await ask(client, row["operation"], chat_world.guild_id)) == (403, "ACCESS_DENIED")
    assert await get(chat_world) == before
    # The account itself is let in: what is refused then is refused for another reason.
    answer = await ask(chat_world.alice.rest, row["operation"], chat_world.guild_id)
    assert answer.code not in {"ACCESS_DENIED", "UNAUTHORIZED", "MISSING_OAUTH_SCOPE"}
    await client.aclose()


# Which guild


OF_A_GUILD: Final = [named(row) for row in OPERATIONS if "{guild_id}" in row["operation"]]
BUT_LEAVE: Final = [operation for operation in OF_A_GUILD if not operation.startswith("DELETE")]


@pytest.mark.rule("001.common.1", "001.errors.2")
@pytest.mark.parametrize("operation", OF_A_GUILD)
@pytest.mark.parametrize("text", ["harbour", "-1", "1.5", "0x10", "9" * 30, "%20", "1%00"])
async def test_a_guild_is_named_by_a_snowflake(chat_world: World, operation: str, text: str) -> None:
    refused = await ask(chat_world.alice.rest, operation, text)
    assert told(refused) == (400, "INVALID_FORM_BODY")
    [error] = refused.json()["errors"]
    too_large = text.isdecimal()
    assert error["path"] == "guild_id"
    assert error["code"] == ("SNOWFLAKE_OUT_OF_RANGE" if too_large else "INVALID_SNOWFLAKE_FORMAT")
    assert error["message"]


@pytest.mark.rule("001.common.2", "001.common.3", "001.common.4")
@pytest.mark.parametrize("operation", BUT_LEAVE)
async def test_guilds_that_are_not_the_callers(chat_world: World, operation: str) -> None:
    alice, admin, guild_id = chat_world.alice.rest, chat_world.admin.rest, chat_world.guild_id
    assert told(await ask(alice, operation, NOWHERE)) == (404, "UNKNOWN_GUILD")
    assert told(await ask(admin, operation, guild_id)) == (403, "MISSING_PERMISSIONS")
    await chat_world.anyone.node(missing_guild_ids=[guild_id])
    assert told(await ask(alice, operation, guild_id)) == (403, "ACCESS_DENIED")
    await chat_world.anyone.node(missing_guild_ids=[])
    assert (await ask(alice, operation, guild_id)).code not in {"ACCESS_DENIED", "UNKNOWN_GUILD", "MISSING_PERMISSIONS"}


@pytest.mark.rule("001.common.5")
async def test_the_order_of_checks(chat_world: World) -> None:
    alice, bob, admin, guild_id = chat_world.alice, chat_world.bob, chat_world.admin, chat_world.guild_id
    change, delete = "PATCH /v1/guilds/{guild_id}", "POST /v1/guilds/{guild_id}/delete"
    leave = "DELETE /v1/users/@me/guilds/{guild_id}"
    clear = "POST /v1/users/@me/guilds/{guild_id}/messages/bulk-delete-mine"
    wish = {"mfa_level": 1}
    # Existence, before everything.
    for operation in (change, delete, clear):
        assert (await ask(bob.rest, operation, NOWHERE, wish if operation == change else None)).code == "UNKNOWN_GUILD"
    # Availability, before membership.
    await set_guild(chat_world, features=["UNAVAILABLE_FOR_EVERYONE"])
    for actor in (admin, bob, alice):
        for operation in (change, delete, clear):
            assert (await ask(actor.rest, operation, guild_id)).code == "MISSING_ACCESS"
    await set_guild(chat_world, features=[])
    # Membership, before sudo mode.
    for operation in (change, delete, clear):
        assert (await ask(admin.rest, operation, guild_id)).code == "MISSING_PERMISSIONS"
    # Permission, before sudo mode; sudo mode, before ownership.
    assert (await ask(bob.rest, change, guild_id, wish)).code == "MISSING_PERMISSIONS"
    await empower(chat_world, bob, Permission.MANAGE_GUILD)
    assert (await ask(bob.rest, change, guild_id, wish)).code == "SUDO_MODE_REQUIRED"
    proved = {"password": bob.password}
    assert (await ask(bob.rest, change, guild_id, {**wish, **proved})).code == "MISSING_PERMISSIONS"
    assert (await ask(bob.rest, delete, guild_id)).code == "SUDO_MODE_REQUIRED"
    assert (await ask(bob.rest, delete, guild_id, proved)).code == "MISSING_PERMISSIONS"
    # Bulk-delete-mine asks for sudo mode and nothing more; Leave not even for an open guild.
    assert (await ask(bob.rest, clear, guild_id)).code == "SUDO_MODE_REQUIRED"
    assert (await ask(bob.rest, clear, guild_id, proved)).status == 202
    await set_guild(chat_world, features=["UNAVAILABLE_FOR_EVERYONE"])
    assert (await ask(bob.rest, leave, guild_id)).status == 204


# Failures


@pytest.mark.rule("001.errors.1")
async def test_every_failure_comes_in_the_envelope(chat_world: World) -> None:
    alice, bob, guild = chat_world.alice.rest, chat_world.bob.rest, f"/v1/guilds/{chat_world.guild_id}"
    for answer, code in (
        (await alice.get(f"/v1/guilds/{NOWHERE}"), "UNKNOWN_GUILD"),
        (await bob.delete(f"/v1/users/@me/guilds/{NOWHERE}"), "UNKNOWN_MEMBER"),
        (await chat_world.admin.rest.get(guild), "MISSING_PERMISSIONS"),
        (await bob.post(f"{guild}/delete", {}), "SUDO_MODE_REQUIRED"),
        (await chat_world.bot.rest.post("/v1/guilds", {}), "BOTS_CANNOT_CREATE_GUILDS"),
        (await alice.delete(f"/v1/users/@me/guilds/{chat_world.guild_id}"), "INVALID_FORM_BODY"),
        (await alice.patch(guild, {"afk_timeout": 1, "name": 5}), "INVALID_FORM_BODY"),
        (await alice.request("PATCH", guild, body=b"{", headers={"Content-Type": "application/json"}), None),
        (await chat_world.anyone.get(guild), "UNAUTHORIZED"),
    ):
        envelope = answer.json()
        assert answer.status >= 400
        assert answer.header("Content-Type") == "application/json"
        assert answer.header("X-Request-ID")
        assert re.fullmatch(r"[A-Z][A-Z0-9_]*", envelope["code"])
        assert code in (None, envelope["code"])
        assert isinstance(envelope["message"], str)
        assert envelope["message"]
        assert ("errors" in envelope) == (envelope["code"] == "INVALID_FORM_BODY")


@pytest.mark.rule("001.errors.2")
async def test_a_failed_validation_names_each_field_with_its_code(chat_world: World) -> None:
    refused = await modify(chat_world, name=" ", afk_channel_id=chat_world.channel_id, features=["VERIFIED"])
    assert told(refused) == (400, "INVALID_FORM_BODY")
    errors = refused.json()["errors"]
    assert {error["path"]: error["code"] for error in errors} == {
        "name": "STRING_LENGTH_INVALID",
        "afk_channel_id": "AFK_CHANNEL_MUST_BE_VOICE",
        "features": "GUILD_FEATURE_NOT_TOGGLEABLE",
    }
    assert all(isinstance(error["message"], str) and error["message"] for error in errors)


# Limits of requests


RATE_RULES: Final = {
    "guild:create": "001.rate-limits.2",
    "guild:list": "001.rate-limits.3",
    "guild:read::guild_id": "001.rate-limits.4",
    "guild:update::guild_id": "001.rate-limits.5",
    "guild:delete::guild_id": "001.rate-limits.6",
    "guild:leave::guild_id": "001.rate-limits.7",
    "guild:vanity_url:get::guild_id": "001.rate-limits.8",
    "guild:vanity_url:patch::guild_id": "001.rate-limits.9",
}


@pytest.mark.rule("001.rate-limits.1", "001.rate-limits.10")
@pytest.mark.parametrize(
    "row",
    [pytest.param(row, id=named(row), marks=pytest.mark.rule(RATE_RULES[row["bucket"]])) for row in OPERATIONS],
)
@pytest.mark.chat_settings(rate_limits=True)
async def test_a_bucket_lets_as_many_through_as_the_document_says(
    chat_world: World, row: dict[str, Any], autojump_clock: MockClock
) -> None:
    alice, bob, operation, limit = chat_world.alice, chat_world.bob, row["operation"], row["limit"]
    for person in (alice, bob):  # what all requests together may do is not what is measured here
        flags = {"flags": str(UserFlag.HIGH_GLOBAL_RATE_LIMIT.value)}
        (await chat_world.anyone.post(f"/v1/_dev/users/{person.id}", flags)).expect(200)
    other = (await alice.rest.create_guild("Other")).expect(200)["id"]
    await trio.sleep(60)

    async def fill() -> Response:
        for _ in range(limit):
            assert (await ask(alice.rest, operation, chat_world.guild_id)).status != 429
        return await ask(alice.rest, operation, chat_world.guild_id)

    refused = await fill()
    assert told(refused) == (429, "RATE_LIMITED")
    assert (refused.header("X-RateLimit-Limit"), refused.header("X-RateLimit-Remaining")) == (str(limit), "0")
    assert (await ask(bob.rest, operation, chat_world.guild_id)).status != 429
    elsewhere = await ask(alice.rest, operation, other)
    assert (elsewhere.status == 429) == ("::" not in row["bucket"])
    await trio.sleep(row["window_ms"] / 1000)
    assert (await fill()).status == 429


@pytest.mark.rule("001.rate-limits.7")
@pytest.mark.chat_settings(rate_limits=True)
async def test_leaving_and_clearing_share_their_bucket(chat_world: World, autojump_clock: MockClock) -> None:
    alice, guild_id = chat_world.alice.rest, chat_world.guild_id
    leave, clear = (row["operation"] for row in OPERATIONS if row["bucket"] == "guild:leave::guild_id")
    for _ in range(5):
        assert (await ask(alice, leave, guild_id)).status == 400
        assert (await ask(alice, clear, guild_id)).status == 403
    assert (await ask(alice, leave, guild_id)).status == 429
    assert (await ask(alice, clear, guild_id)).status == 429


# Paths


@pytest.mark.rule("001.versioning.1")
@pytest.mark.parametrize("operation", [named(row) for row in OPERATIONS])
async def test_paths_have_their_version(chat_world: World, operation: str) -> None:
    method, path = split(operation, chat_world.guild_id)
    assert path.startswith("/v1/")
    alice = HttpClient(chat_world.route, chat_world.alice.token)
    for elsewhere in (path.removeprefix("/v1"), f"/v2{path.removeprefix('/v1')}", f"/V1{path.removeprefix('/v1')}"):
        answer = await alice.request(method, elsewhere, json=... if method == "GET" else {})
        assert told(answer) == (404, "NOT_FOUND"), elsewhere
    assert (await chat_world.alice.rest.request(method, path, json=... if method == "GET" else {})).status != 404


# The guild object


def is_of(kind: str, value: Any) -> bool:
    """Whether a value has the type that the fixture names."""
    if kind.startswith("?"):
        return value is None or is_of(kind[1:], value)
    if kind == "snowflake":
        return isinstance(value, str) and value.isdecimal()
    if kind == "timestamp":
        return isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", value) is not None
    wanted: type = {"string": str, "integer": int, "boolean": bool, "array": list}[kind]
    return type(value) is wanted


async def test_which_members_each_operation_fills(chat_world: World) -> None:
    always, guild_id = set(OBJECT["always"]), chat_world.guild_id
    declared = {"X-Service-Features": "channel_threads"}
    [plain] = await listed(chat_world.bob)
    [counted] = await listed(chat_world.bob, counts=True)
    [threaded] = await listed(chat_world.bob, declared)
    [robotic] = await listed(chat_world.bot)
    read = await get(chat_world)
    read_with_threads = await get(chat_world, chat_world.bob, **declared)
    created = (await chat_world.alice.rest.create_guild("Pier")).expect(200)
    changed = (await modify(chat_world, name="Quay")).expect(200)
    of_list, of_get = set(OBJECT["list"]), set(OBJECT["get"])
    permissions, of_counts, of_threads = (f"001.guild-object.{number}" for number in (35, 43, 46))
    collections = ("001.guild-object.37", "001.guild-object.38", "001.guild-object.42")
    for guild, extra, rules in (
        (plain, of_list, (permissions, of_threads)),
        (counted, of_list | set(OBJECT["list with_counts"]), (of_counts,)),
        (threaded, of_list | set(OBJECT["list with channel_threads"]), (of_threads,)),
        (robotic, of_list | set(OBJECT["list with channel_threads"]), (of_threads,)),
        (read, of_get, ("001.get.1", "001.get.2")),
        (read_with_threads, of_get, ("001.get.2", "001.guild-object.45")),
        (created, set(), (permissions, of_counts)),
        (changed, set(), (*collections,)),
    ):
        with proves(*rules):
            assert set(guild) == always | extra
        with proves("001.guild-object.1", "001.states.1"):
            for member, kind in OBJECT["always"].items():
                assert is_of(kind, guild[member]), member
        with proves("001.guild-object.3"):
            assert 1 <= len(guild["name"]) <= 100
    with proves("001.guild-object.2"):
        assert {plain["id"], counted["id"], read["id"], changed["id"]} == {guild_id} != {created["id"]}
    with proves("001.guild-object.15"):
        assert (read["owner_id"], created["owner_id"]) == (chat_world.alice.id, chat_world.alice.id)
    with proves("001.guild-object.45"):
        assert threaded["threads_active"] is robotic["threads_active"] is True
    with proves("001.guild-object.42", "001.guild-object.43"):
        assert read["member_count"] == counted["approximate_member_count"] == 4
        assert read["online_count"] == counted["approximate_presence_count"] == 0
    connected = await chat_world.carol.connect()
    with proves("001.guild-object.42"):
        assert (await get(chat_world))["online_count"] == 1
    with proves("001.guild-object.43"):
        assert (await listed(chat_world.bob, counts=True))[0]["approximate_presence_count"] == 1
    assert connected.ready is not None
    properties = connected.ready["guilds"][0]["properties"]
    assert properties["owner_id"] == chat_world.alice.id


@pytest.mark.rule("001.guild-object.44")
async def test_counts_that_the_gateway_does_not_hold_are_none(chat_world: World) -> None:
    await chat_world.anyone.node(missing_guild_ids=[chat_world.guild_id])
    [guild] = await listed(chat_world.bob, counts=True)
    assert (guild["approximate_member_count"], guild["approximate_presence_count"]) == (0, 0)
    await chat_world.anyone.node(missing_guild_ids=[])
    [guild] = await listed(chat_world.bob, counts=True)
    assert guild["approximate_member_count"] == 4


async def test_thread_permissions_are_for_those_who_know_threads(chat_world: World) -> None:
    everything = str(ALL_DEFINED & ~Permission.ADMINISTRATOR.value)
    body = {"permissions": everything}
    everyone = f"/v1/guilds/{chat_world.guild_id}/roles/{chat_world.guild_id}"
    declared = {"X-Service-Features": "channel_threads"}
    (await chat_world.alice.rest.request("PATCH", everyone, json=body, headers=declared)).expect(200)
    overwrite = {"type": 0, "allow": str(THREAD_PERMISSIONS), "deny": "0"}
    path = f"/v1/channels/{chat_world.channel_id}/permissions/{chat_world.guild_id}"
    (await chat_world.alice.rest.request("PUT", path, json=overwrite, headers=declared)).expect(204)
    for actor, headers, sees in (
        (chat_world.bob, {}, False),
        (chat_world.bob, declared, True),
        (chat_world.bob, {"X-Service-Features": "something_else"}, False),
        (chat_world.bot, {}, True),
    ):
        shown = int(everything) if sees else int(everything) & ~THREAD_PERMISSIONS
        with proves("001.guild-object.34", "001.guild-object.47"):
            [guild] = await listed(actor, headers)
            assert guild["permissions"] == str(shown)
        read = await get(chat_world, actor, **headers)
        with proves("001.guild-object.48"):
            assert [role["permissions"] for role in read["roles"] if role["id"] == chat_world.guild_id] == [str(shown)]
        with proves("001.guild-object.49"):
            channel = next(channel for channel in read["channels"] if channel["id"] == chat_world.channel_id)
            assert [entry["allow"] for entry in channel["permission_overwrites"]] == [str(THREAD_PERMISSIONS)]


@pytest.mark.rule("001.guild-object.39", "001.guild-object.40", "001.guild-object.41")
async def test_which_channels_a_guild_shows(chat_world: World) -> None:
    alice, guild_id = chat_world.alice, chat_world.guild_id
    declared = {"X-Service-Features": "channel_threads"}

    async def make(kind: int, **fields: Any) -> str:
        made = await alice.rest.post(f"/v1/guilds/{guild_id}/channels", {"type": kind, "name": "x", **fields})
        return str(made.expect(200)["id"])

    forum, media = await make(15), await make(16)
    deny = {"id": guild_id, "type": 0, "allow": "0", "deny": str(Permission.VIEW_CHANNEL.value)}
    hidden = await make(0, permission_overwrites=[deny])
    wish = {"name": "thread", "type": 11}
    started = await alice.rest.request(
        "POST", f"/v1/channels/{chat_world.channel_id}/threads", json=wish, headers=declared
    )
    assert started.status in (200, 201)
    thread = started.json()["id"]
    for actor in (alice, chat_world.bob, chat_world.bot):
        for headers in ({}, declared):
            shown = {
                channel["id"]: channel["type"] for channel in (await get(chat_world, actor, **headers))["channels"]
            }
            assert (shown[forum], shown[media]) == (15, 16)
            assert thread not in shown
            assert (hidden in shown) == (actor is alice)
    path = f"/v1/channels/{hidden}/permissions/{chat_world.bob.id}"
    (await alice.rest.put(path, {"type": 1, "allow": str(Permission.VIEW_CHANNEL.value), "deny": "0"})).expect(204)
    assert hidden in {channel["id"] for channel in (await get(chat_world))["channels"]}
    (await alice.rest.delete(path)).expect(204)
    assert hidden not in {channel["id"] for channel in (await get(chat_world))["channels"]}


@pytest.mark.rule("001.guild-object.14", "001.guild-object.18")
async def test_the_custom_code_and_the_rules_channel(chat_world: World) -> None:
    await set_guild(chat_world, features=["VANITY_URL"])
    before = await get(chat_world)
    assert (before["vanity_url_code"], before["rules_channel_id"]) == (None, None)
    path = f"/v1/guilds/{chat_world.guild_id}/vanity-url"
    (await chat_world.alice.rest.patch(path, {"code": "harbour"})).expect(200)
    assert (await get(chat_world))["vanity_url_code"] == "harbour"
    (await chat_world.alice.rest.patch(path, {"code": None})).expect(200)
    assert (await get(chat_world))["vanity_url_code"] is None
    # No operation of the document assigns a rules channel.
    changed = (await modify(chat_world, rules_channel_id=chat_world.channel_id)).expect(200)
    assert changed["rules_channel_id"] is None
    made = await chat_world.alice.rest.create_guild("Pier", rules_channel_id=chat_world.channel_id)
    assert made.expect(200)["rules_channel_id"] is None


@pytest.mark.rule("001.guild-object.31", "001.guild-object.32", "001.guild-object.33")
async def test_the_cutoff_of_history(chat_world: World, autojump_clock: MockClock) -> None:
    alice, bob, channel = chat_world.alice, chat_world.bob, chat_world.channel_id
    sent = []
    for text in ("first", "second", "third"):
        sent.append((await alice.rest.send_message(channel, text)).expect(200))
        (await chat_world.anyone.post("/v1/_dev/clock", {"advance_ms": 1_000})).expect(200)

    async def read(actor: Actor) -> list[str]:
        messages = (await actor.rest.messages(channel)).expect(200)
        return [message["content"] for message in reversed(messages)]

    await_all = ["first", "second", "third"]
    (await modify(chat_world, message_history_cutoff=sent[2]["timestamp"])).expect(200)
    assert await read(bob) == await_all  # whoever holds READ_MESSAGE_HISTORY reads everything
    everyone = f"/v1/guilds/{chat_world.guild_id}/roles/{chat_world.guild_id}"
    less = Permission.VIEW_CHANNEL | Permission.SEND_MESSAGES
    (await alice.rest.patch(everyone, {"permissions": str(less.value)})).expect(200)
    for cutoff, visible in (
        (sent[2]["timestamp"], ["third"]),
        (sent[1]["timestamp"], ["second", "third"]),
        (sent[0]["timestamp"], await_all),
        (None, []),
    ):
        changed = (await modify(chat_world, message_history_cutoff=cutoff)).expect(200)
        assert changed["message_history_cutoff"] == cutoff
        assert await read(bob) == visible
        assert await read(alice) == await_all
        for message in sent:
            one = await bob.rest.get(f"/v1/channels/{channel}/messages/{message['id']}")
            assert (one.status == 200) == (message["content"] in visible)


# Lists


async def test_deleted_guilds_are_not_listed_and_closed_ones_are(chat_world: World) -> None:
    alice = chat_world.alice
    ids = [(await alice.rest.create_guild(f"Pier {number}")).expect(200)["id"] for number in range(3)]
    everywhere = sorted([chat_world.guild_id, *ids], key=int)
    with proves("001.list.1", "001.list.10"):
        assert [guild["id"] for guild in await listed(alice)] == everywhere
    await set_guild(chat_world, features=["UNAVAILABLE_FOR_EVERYONE"])
    with proves("001.list.13"):
        assert [guild["id"] for guild in await listed(alice)] == everywhere
    (await alice.rest.post(f"/v1/guilds/{ids[1]}/delete", {"password": alice.password})).expect(204)
    with proves("001.list.12"):
        assert [guild["id"] for guild in await listed(alice)] == [entry for entry in everywhere if entry != ids[1]]
