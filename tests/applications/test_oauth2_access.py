"""Access tokens on operations: which take them, with which scope, and what they show (document 000, Authentication).

Area: applications. Rules: 000.credentials, 000.outcomes, 000.policies, 000.scope-error.
"""

from __future__ import annotations

import datetime
import sqlite3
from typing import Any

import pytest
from trio.testing import MockClock

from chat.api.operation import Operation
from chat.api.routes.every import ROUTES
from chat.auth.policy import Policy
from chat.auth.tokens import token_hash
from chat.testing.rest_client import Response, RestClient
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.applications.oauth2_client import SEVEN_DAYS_MS, OAuth2Client
from tests.spec.ledger import proves

AUTHORIZATIONS = "/v1/oauth2/@me/authorizations"

EVERYTHING = "identify email guilds connections bot"


def told(answer: Response) -> tuple[int, str | None]:
    return answer.status, answer.code


def scoped(world: World) -> dict[str, tuple[str, str]]:
    """The operations that take access tokens, by their scope."""
    return {
        "own account": ("/v1/users/@me", "identify"),
        "user info": ("/v1/oauth2/userinfo", "identify"),
        "own guilds": ("/v1/users/@me/guilds", "guilds"),
        "guild": (f"/v1/guilds/{world.guild_id}", "guilds"),
        "roles": (f"/v1/guilds/{world.guild_id}/roles", "guilds"),
        "connections": ("/v1/users/@me/connections", "connections"),
    }


SCOPED = ("own account", "user info", "own guilds", "guild", "roles", "connections")


@pytest.mark.rule("000.credentials.2")
async def test_the_caller_is_the_account_that_consented(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    for account in (chat_world.alice, chat_world.carol):
        bearer = client.bearer((await client.tokens(account))["access_token"])
        assert (await bearer.get("/v1/users/@me")).expect(200)["id"] == account.id
        assert (await bearer.get("/v1/oauth2/userinfo")).expect(200)["sub"] == account.id


@pytest.mark.parametrize("name", SCOPED)
async def test_an_operation_takes_the_scope_that_it_names_and_no_other(chat_world: World, name: str) -> None:
    client = await OAuth2Client.make(chat_world)
    path, scope = scoped(chat_world)[name]
    with proves("000.policies.1"):
        assert (
            await client.bearer((await client.tokens(chat_world.alice, scope))["access_token"]).get(path)
        ).status == 200
    others = " ".join(other for other in EVERYTHING.split() if other != scope)
    refused = await client.bearer((await client.tokens(chat_world.alice, others))["access_token"]).get(path)
    with proves("000.policies.3", "000.outcomes.13", "000.outcomes.21"):
        assert told(refused) == (403, "MISSING_OAUTH_SCOPE")
    with proves("000.scope-error.2"):
        assert refused.json()["required_scope"] == scope


@pytest.mark.rule("000.scope-error.1")
async def test_a_missing_scope_is_told_as_any_error_is(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    bearer = client.bearer((await client.tokens(chat_world.alice, "email"))["access_token"])
    body = (await bearer.get("/v1/users/@me")).expect(403)
    assert set(body) == {"code", "message", "required_scope"}
    assert (body["code"], bool(body["message"])) == ("MISSING_OAUTH_SCOPE", True)


@pytest.mark.rule("000.outcomes.20")
async def test_a_session_needs_no_scope(chat_world: World) -> None:
    for name, (path, _) in scoped(chat_world).items():
        if name != "user info":
            assert (await chat_world.alice.rest.get(path)).status == 200
            as_bearer = chat_world.anyone.signed_in(f"Bearer {chat_world.alice.token}")  # still a session
            assert (await as_bearer.get(path)).status == 200


def user_operations() -> list[Operation]:
    """Every operation for users that does not declare OAuth2."""
    operations = [operation for routes in ROUTES for operation in routes.operations]
    return [each for each in operations if each.policy in (Policy.USER, Policy.USER_ONLY) and each.scope is None]


@pytest.mark.rule("000.credentials.3", "000.outcomes.11")
async def test_a_token_with_every_scope_does_nothing_else(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    bearer = client.bearer((await client.tokens(chat_world.alice, EVERYTHING))["access_token"])
    for operation in user_operations():
        path = "/".join("1" if part.startswith("{") else part for part in operation.path.split("/"))
        answer = await bearer.request(operation.method, path, body=b"{}")
        assert told(answer) == (403, "ACCESS_DENIED"), (operation.method, operation.path)
    # The account itself is welcome at the same places.
    assert (await chat_world.alice.rest.get("/v1/users/@me/settings")).status == 200
    assert (await chat_world.alice.rest.get(f"/v1/channels/{chat_world.channel_id}/messages")).status == 200


@pytest.mark.rule("000.outcomes.7", "000.outcomes.8", "000.outcomes.9")
@pytest.mark.parametrize("path", ["/v1/oauth2/userinfo", "/v1/oauth2/@me"])
async def test_operations_for_bearers_know_nobody_else(chat_world: World, path: str) -> None:
    client = await OAuth2Client.make(chat_world)
    for authorization in (
        None,
        chat_world.alice.token,
        f"Bearer {chat_world.alice.token}",
        f"Bot {chat_world.bot.token}",
        f"Admin {chat_world.admin_key}",
    ):
        answer = await chat_world.anyone.signed_in(authorization).get(path)
        assert told(answer) == (401, "UNAUTHORIZED")
        assert answer.header("www-authenticate") is None
    assert (await client.bearer((await client.tokens(chat_world.alice))["access_token"]).get(path)).status == 200


@pytest.mark.rule("000.credentials.18")
@pytest.mark.parametrize("token", ["cht_" + "a" * 35, "cht_" + "a" * 37, "cht_" + "a" * 35 + "-"])
async def test_what_only_resembles_a_session_token_is_looked_up_as_an_access_token(
    chat_world: World, chat_server: ChatServer, token: str
) -> None:
    client = await OAuth2Client.make(chat_world)
    bearer = client.bearer(token)
    assert told(await bearer.get("/v1/users/@me")) == (401, "UNAUTHORIZED")
    issued = token_hash((await client.tokens(chat_world.alice))["access_token"])

    def rename(connection: sqlite3.Connection) -> None:
        connection.execute("UPDATE oauth2_tokens SET token_hash = ? WHERE token_hash = ?", (token_hash(token), issued))

    await chat_server.database.write(rename)
    assert (await bearer.get("/v1/users/@me")).expect(200)["id"] == chat_world.alice.id
    as_session = chat_world.anyone.signed_in(token)
    assert told(await as_session.get("/v1/users/@me")) == (401, "UNAUTHORIZED")


@pytest.mark.rule("000.outcomes.18")
async def test_whatever_is_wrong_with_a_token_the_answer_is_the_same(
    chat_world: World, autojump_clock: MockClock
) -> None:
    client = await OAuth2Client.make(chat_world)
    expired = (await client.tokens(chat_world.alice))["access_token"]
    await chat_world.anyone.advance_clock(SEVEN_DAYS_MS)
    revoked = (await client.tokens(chat_world.alice))["access_token"]
    assert (await client.revoke(revoked)).status == 200
    refresh = (await client.tokens(chat_world.alice))["refresh_token"]
    presented = (
        f"Bearer {expired}",
        f"Bearer {revoked}",
        f"Bearer {refresh}",
        f"Bearer {'x' * 43}",
        "Bearer cht_" + "a" * 35,
        "Bearer cht_" + "a" * 37,
        "Bearer cht_" + "a" * 35 + "-",
        f"Bearer {chat_world.alice.token[:-1]}",
        f"bearer {chat_world.alice.token}",
        f"Bearer  {refresh}",
        f"Bearer {refresh}\t.",
        "Bearer",
        expired,
    )
    answers = [
        await chat_world.anyone.signed_in(authorization).get(path)
        for path in ("/v1/users/@me", "/v1/oauth2/@me")
        for authorization in presented
    ]
    assert {told(answer) for answer in answers} == {(401, "UNAUTHORIZED")}
    assert len({answer.body for answer in answers}) == 1


async def test_an_access_token_opens_no_gateway_session(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    tokens = await client.tokens(chat_world.alice, EVERYTHING)
    gateway = await chat_world.open()
    await gateway.identify(tokens["access_token"])
    assert (await gateway.closed()).code == 4004


# What it shows


async def user_of(client: OAuth2Client, world: World, scope: str) -> dict[str, Any]:
    bearer = client.bearer((await client.tokens(world.alice, scope))["access_token"])
    user: dict[str, Any] = (await bearer.get("/v1/users/@me")).expect(200)
    return user


async def test_an_application_sees_what_others_see_and_nothing_private(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    await chat_world.alice.rest.patch("/v1/users/@me", {"bio": "Hello.", "pronouns": "she", "accent_color": 255})
    own = (await chat_world.alice.rest.get("/v1/users/@me")).expect(200)
    seen = await user_of(client, chat_world, "identify")
    public = (await chat_world.carol.rest.get(f"/v1/users/{chat_world.alice.id}")).expect(200)
    for name, value in public.items():
        assert seen[name] == value
    assert (seen["bio"], seen["pronouns"], seen["accent_color"]) == ("Hello.", "she", 255)
    assert (seen["email"], seen["verified"], seen["nsfw_allowed"]) == (None, False, False)
    assert (seen["acls"], seen["traits"], seen["required_actions"]) == ([], [], [])
    for name, value in own.items():
        if name in seen and name not in public:
            assert type(seen[name]) in (type(value), type(None))
    hidden = {name for name in seen if name.endswith(("_at", "_since", "_until"))}
    assert hidden
    assert all(seen[name] is None for name in hidden)


async def test_the_address_is_there_with_the_scope_email(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    with_email = await user_of(client, chat_world, "identify email")
    assert (with_email["email"], with_email["verified"]) == (chat_world.alice.email, True)
    without = await user_of(client, chat_world, "identify guilds")
    assert {name for name in without if without[name] != with_email[name]} == {"email", "verified"}


async def test_user_info(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    bearer = client.bearer((await client.tokens(chat_world.alice))["access_token"])
    seen = (await bearer.get("/v1/oauth2/userinfo")).expect(200)
    assert (await bearer.post("/v1/oauth2/userinfo")).expect(200) == seen
    public = (await chat_world.carol.rest.get(f"/v1/users/{chat_world.alice.id}")).expect(200)
    names = ("id", "username", "discriminator", "global_name", "avatar", "flags")
    assert seen == {"sub": chat_world.alice.id, **{name: public[name] for name in names}}
    wider = client.bearer((await client.tokens(chat_world.alice, "identify email"))["access_token"])
    known = (await wider.get("/v1/oauth2/userinfo")).expect(200)
    assert known == {**seen, "email": chat_world.alice.email, "verified": True}


async def test_what_a_token_is_for(chat_world: World, chat_server: ChatServer, autojump_clock: MockClock) -> None:
    client = await OAuth2Client.make(chat_world)
    bearer = client.bearer((await client.tokens(chat_world.alice, "guilds identify"))["access_token"])
    seen = (await bearer.get("/v1/oauth2/@me")).expect(200)
    ends = datetime.datetime.fromisoformat(seen.pop("expires")).timestamp() * 1000
    assert abs(ends - chat_server.clock.now_ms() - SEVEN_DAYS_MS) < 60_000
    assert seen["user"]["id"] == chat_world.alice.id
    assert "email" not in seen["user"]
    assert (seen["application"]["id"], seen["application"]["name"]) == (client.id, "Chess master")
    assert seen["scopes"] == ["identify", "guilds"]
    without = client.bearer((await client.tokens(chat_world.alice, "guilds"))["access_token"])
    assert "user" not in (await without.get("/v1/oauth2/@me")).expect(200)


async def test_a_guild_is_open_to_a_token_as_far_as_to_its_account(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    stranger = client.bearer((await client.tokens(chat_world.admin, "guilds"))["access_token"])
    refused = await stranger.get(f"/v1/guilds/{chat_world.guild_id}")
    assert told(refused) == (403, "MISSING_PERMISSIONS")
    assert (await stranger.get("/v1/users/@me/guilds")).expect(200) == []
    member = client.bearer((await client.tokens(chat_world.carol, "guilds"))["access_token"])
    assert [guild["id"] for guild in (await member.get("/v1/users/@me/guilds")).expect(200)] == [chat_world.guild_id]


async def test_nobody_has_connections(chat_world: World) -> None:
    assert (await chat_world.alice.rest.get("/v1/users/@me/connections")).expect(200) == []
    assert told(await chat_world.bot.rest.get("/v1/users/@me/connections")) == (403, "ACCESS_DENIED")


# Authorisations


async def listed(account: RestClient) -> list[tuple[str, list[str]]]:
    entries = (await account.get(AUTHORIZATIONS)).expect(200)
    assert all(set(entry) == {"application", "scopes", "authorized_at"} for entry in entries)
    return [(entry["application"]["id"], entry["scopes"]) for entry in entries]


async def test_an_account_sees_whom_it_has_authorised_and_takes_it_back(chat_world: World) -> None:
    first, second = await OAuth2Client.make(chat_world), await OAuth2Client.make(chat_world)
    alice, carol = chat_world.alice, chat_world.carol
    assert await listed(alice.rest) == []
    old = await first.tokens(alice, "identify guilds")
    kept = await second.tokens(alice, "connections")
    new = await first.tokens(alice, "email identify")
    hers = await first.tokens(carol)
    pending = await first.code(alice)
    assert await listed(alice.rest) == [(first.id, ["identify", "email", "guilds"]), (second.id, ["connections"])]
    assert await listed(carol.rest) == [(first.id, ["identify"])]
    gateway = await alice.connect()
    assert (await alice.rest.delete(f"{AUTHORIZATIONS}/{first.id}")).status == 204
    assert await listed(alice.rest) == [(second.id, ["connections"])]
    for tokens in (old, new):
        assert not await first.works(tokens["access_token"])
        assert (await first.refresh(tokens["refresh_token"])).status == 400
    assert (await first.exchange(pending)).status == 400
    assert await first.works(hers["access_token"])
    assert await second.works(kept["access_token"])
    assert await chat_world.session_of(gateway) is not None  # the account's own sessions go on
    again = await alice.rest.delete(f"{AUTHORIZATIONS}/{first.id}")
    assert told(again) == (404, "UNKNOWN_APPLICATION")


async def test_several_authorisations_are_taken_back_at_once(chat_world: World) -> None:
    first, second, third = [await OAuth2Client.make(chat_world) for _ in range(3)]
    for client in (first, second, third):
        await client.tokens(chat_world.alice)
    revoke = f"{AUTHORIZATIONS}/revoke"
    body = {"application_ids": [first.id, "999999999999999999"], "application_id": second.id}
    assert (await chat_world.alice.rest.post(revoke, body)).status == 204
    assert await listed(chat_world.alice.rest) == [(third.id, ["identify"])]
    assert (await chat_world.alice.rest.post(revoke, {})).status == 204
    too_many = await chat_world.alice.rest.post(revoke, {"application_ids": ["1"] * 101})
    assert told(too_many) == (400, "INVALID_FORM_BODY")


async def test_an_authorisation_whose_time_is_over_is_not_listed(chat_world: World, autojump_clock: MockClock) -> None:
    client = await OAuth2Client.make(chat_world)
    tokens = await client.tokens(chat_world.alice)
    await chat_world.anyone.advance_clock(SEVEN_DAYS_MS)
    assert await listed(chat_world.alice.rest) == [(client.id, ["identify"])]  # it can be refreshed
    assert (await client.revoke(tokens["refresh_token"])).status == 200
    assert await listed(chat_world.alice.rest) == []


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", AUTHORIZATIONS), ("DELETE", f"{AUTHORIZATIONS}/1"), ("POST", f"{AUTHORIZATIONS}/revoke")],
)
async def test_an_application_does_not_see_to_authorisations(chat_world: World, method: str, path: str) -> None:
    client = await OAuth2Client.make(chat_world)
    bearer = client.bearer((await client.tokens(chat_world.alice, EVERYTHING))["access_token"])
    assert told(await bearer.request(method, path)) == (403, "ACCESS_DENIED")
    assert told(await chat_world.bot.rest.request(method, path)) == (403, "ACCESS_DENIED")
    assert told(await chat_world.anyone.request(method, path)) == (401, "UNAUTHORIZED")


# What else ends tokens, and what does not


async def test_a_changed_password_ends_sessions_and_no_grant(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    tokens = await client.tokens(chat_world.carol)
    body = {"password": chat_world.carol.password, "new_password": "quite another password"}
    assert (await chat_world.carol.rest.patch("/v1/users/@me", body)).status == 200
    assert (await chat_world.carol.rest.get("/v1/users/@me")).status == 401
    assert await client.works(tokens["access_token"])


async def test_an_account_that_is_to_be_erased_has_granted_nothing(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    tokens, code = await client.tokens(chat_world.carol), await client.code(chat_world.carol)
    body = {"password": chat_world.carol.password}
    assert (await chat_world.carol.rest.post("/v1/users/@me/delete", body)).status == 204
    assert not await client.works(tokens["access_token"])
    assert (await client.refresh(tokens["refresh_token"])).status == 400
    assert (await client.exchange(code)).status == 400


async def test_a_disabled_account_keeps_its_grants_and_loses_its_sessions(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world)
    tokens = await client.tokens(chat_world.carol)
    body = {"password": chat_world.carol.password}
    assert (await chat_world.carol.rest.post("/v1/users/@me/disable", body)).status == 204
    assert (await chat_world.carol.rest.get("/v1/users/@me")).status == 401
    assert await client.works(tokens["access_token"])


@pytest.mark.chat_settings(rate_limits=True)
async def test_requests_count_apart_for_each_application(chat_world: World, autojump_clock: MockClock) -> None:
    first, second = await OAuth2Client.make(chat_world), await OAuth2Client.make(chat_world)
    bearers = [client.bearer((await client.tokens(chat_world.alice))["access_token"]) for client in (first, second)]
    statuses = [(await bearers[0].get("/v1/users/@me/connections")).status for _ in range(200)]
    assert 429 in statuses
    assert told(await bearers[1].get("/v1/users/@me/connections")) == (403, "MISSING_OAUTH_SCOPE")
    assert told(await bearers[0].get("/v1/users/@me")) == (429, "RATE_LIMITED")
    assert (await chat_world.alice.rest.get("/v1/users/@me")).status == 200
