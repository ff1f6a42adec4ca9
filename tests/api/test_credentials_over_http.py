"""What each credential gets, over HTTP: the matrix of document 000, Outcomes.

Area: api. Rules: 000.applications-me, 000.auth-family, 000.connect, 000.credentials, 000.errors, 000.gateway-bot,
000.outcomes, 000.policies, 000.versioning.
"""

from __future__ import annotations

from typing import Any

import orjson
import pytest
import trio

from chat.registries.scopes import ADMIN_APPLICATION_ID, ADMIN_SCOPE, Scope
from chat.registries.user_flags import UserFlag
from chat.testing.http_client import HttpClient
from chat.testing.rest_client import Response, RestClient
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.api.raw_http import Answer, RawHttp
from tests.conformance.presented_credentials import Issuer
from tests.signing_in.signing_in import set_account
from tests.spec.ledger import proves

UNKNOWN_SESSION = "cht_" + "a" * 36
SECRET = "A" * 43


async def with_header(world: World, value: str, path: str = "/v1/users/@me") -> Response:
    return await world.anyone.signed_in(value).get(path)


def told(answer: Response) -> tuple[int, str | None, Any]:
    """What tells one refusal from another."""
    return answer.status, answer.code, answer.json().get("message")


@pytest.mark.rule("000.credentials.1", "000.policies.2")
async def test_a_bot_token_acts_as_the_bot_account(chat_world: World) -> None:
    user = (await chat_world.bot.rest.get("/v1/users/@me")).expect(200)
    assert (user["id"], user["bot"]) == (chat_world.bot.id, True)


@pytest.mark.rule("000.credentials.4")
async def test_a_bare_session_token_acts_as_its_account(chat_world: World) -> None:
    assert (await with_header(chat_world, chat_world.alice.token)).expect(200)["id"] == chat_world.alice.id


@pytest.mark.rule("000.credentials.16", "000.credentials.17")
async def test_a_session_token_behind_bearer_is_still_a_session(chat_world: World) -> None:
    answer = await with_header(chat_world, f"Bearer {chat_world.alice.token}")
    assert answer.expect(200)["id"] == chat_world.alice.id
    assert (await with_header(chat_world, f"Bearer {chat_world.alice.token}", "/v1/users/@me/settings")).status == 200


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda world: UNKNOWN_SESSION, marks=pytest.mark.rule("000.outcomes.3")),
        pytest.param(
            lambda world: f"Bot {world.bot.application_id}.{SECRET}", marks=pytest.mark.rule("000.outcomes.3")
        ),
        pytest.param(lambda world: f"Bot 1.{SECRET}", marks=pytest.mark.rule("000.outcomes.3")),
        pytest.param(lambda world: "Bearer " + SECRET, marks=pytest.mark.rule("000.outcomes.3")),
        pytest.param(lambda world: "", marks=pytest.mark.rule("000.outcomes.2")),
        pytest.param(lambda world: "Basic YTpi", marks=pytest.mark.rule("000.outcomes.2")),
        pytest.param(lambda world: "Bot", marks=pytest.mark.rule("000.credentials.7")),
        pytest.param(lambda world: "Bearer", marks=pytest.mark.rule("000.credentials.8")),
        pytest.param(lambda world: f"Bot  {world.bot.token}", marks=pytest.mark.rule("000.credentials.10")),
        pytest.param(lambda world: f"Bearer  {world.alice.token}", marks=pytest.mark.rule("000.credentials.10")),
        pytest.param(lambda world: f"bot {world.bot.token}", marks=pytest.mark.rule("000.credentials.11")),
        pytest.param(lambda world: f"BOT {world.bot.token}", marks=pytest.mark.rule("000.credentials.11")),
        pytest.param(lambda world: f"bearer {world.alice.token}", marks=pytest.mark.rule("000.credentials.12")),
        pytest.param(lambda world: f"admin {world.admin_key}", marks=pytest.mark.rule("000.credentials.13")),
        pytest.param(lambda world: f"Bearer {world.alice.token[:-1]}", marks=pytest.mark.rule("000.credentials.18")),
        pytest.param(lambda world: f"Bearer {world.alice.token}a", marks=pytest.mark.rule("000.credentials.18")),
        pytest.param(lambda world: f"Bearer {world.alice.token[:-1]}-", marks=pytest.mark.rule("000.credentials.18")),
        pytest.param(lambda world: world.alice.token.swapcase(), marks=pytest.mark.rule("000.credentials.19")),
        pytest.param(lambda world: f"Bot {world.bot.token.swapcase()}", marks=pytest.mark.rule("000.credentials.19")),
        pytest.param(lambda world: f"Admin {world.admin_key}", marks=pytest.mark.rule("000.credentials.6")),
        pytest.param(lambda world: world.bot.token),
        pytest.param(lambda world: f"Bot {world.alice.token}"),
        pytest.param(lambda world: world.alice.token + "x"),
    ],
)
@pytest.mark.rule("000.errors.1")
async def test_whatever_is_wrong_with_a_credential_the_answer_is_the_same(chat_world: World, make: Any) -> None:
    answer = await with_header(chat_world, make(chat_world))
    with proves("000.outcomes.18"):
        assert told(answer) == told(await chat_world.anyone.get("/v1/users/@me"))
    assert (answer.status, answer.code) == (401, "UNAUTHORIZED")
    assert set(answer.json()) == {"code", "message"}
    with proves("000.outcomes.17"):
        assert answer.header("WWW-Authenticate") is None


@pytest.mark.rule("000.credentials.18")
@pytest.mark.parametrize("body", ["a" * 35, "a" * 37, "a" * 35 + "-", "_" + "a" * 35])
async def test_what_only_resembles_a_session_token_is_looked_up_as_an_access_token(
    chat_world: World, chat_server: ChatServer, body: str
) -> None:
    issuer = Issuer(chat_world, chat_server)
    await issuer.access_token(int(chat_world.alice.id), scopes=("identify",), token=f"cht_{body}")
    assert (await with_header(chat_world, f"Bearer cht_{body}")).expect(200)["id"] == chat_world.alice.id
    refused = await with_header(chat_world, f"Bearer cht_{body}", "/v1/users/@me/settings")
    assert (refused.status, refused.code) == (403, "ACCESS_DENIED")
    assert (await with_header(chat_world, f"cht_{body}")).code == "UNAUTHORIZED"


@pytest.mark.rule("000.credentials.18", "000.credentials.16")
async def test_what_is_a_session_token_is_never_looked_up_as_an_access_token(
    chat_world: World, chat_server: ChatServer
) -> None:
    issuer = Issuer(chat_world, chat_server)
    await issuer.access_token(int(chat_world.alice.id), scopes=("identify",), token="cht_" + "a" * 36)
    assert (await with_header(chat_world, "Bearer cht_" + "a" * 36)).code == "UNAUTHORIZED"


@pytest.mark.rule("000.outcomes.1")
async def test_no_credential(chat_world: World) -> None:
    answer = await chat_world.anyone.get("/v1/users/@me")
    assert (answer.status, answer.code) == (401, "UNAUTHORIZED")


@pytest.mark.rule("000.outcomes.5", "000.auth-family.2")
async def test_a_revoked_session(chat_world: World) -> None:
    assert (await chat_world.bob.rest.get("/v1/users/@me")).status == 200
    assert (await chat_world.bob.rest.logout()).status == 204
    answer = await chat_world.bob.rest.get("/v1/users/@me")
    assert told(answer) == told(await chat_world.anyone.get("/v1/users/@me"))


@pytest.mark.rule("000.credentials.21")
@pytest.mark.parametrize("place", ["/v1/users/@me?token={}", "/v1/users/@me?Authorization={}", "/v1/{}/users/@me"])
async def test_a_credential_in_an_address_authenticates_nothing(chat_world: World, place: str) -> None:
    answer = await chat_world.anyone.get(place.format(chat_world.alice.token))
    assert answer.status in (401, 404)


async def test_two_authorization_headers_are_no_credential(
    chat_world: World, exchange: Any, autojump_clock: trio.testing.MockClock
) -> None:
    line = f"Authorization: {chat_world.alice.token}\r\n"
    received = await exchange(f"GET /v1/users/@me HTTP/1.1\r\nHost: x\r\n{line}{line}\r\n".encode())
    assert received.startswith(b"HTTP/1.1 401")
    assert b"UNAUTHORIZED" in received


async def test_an_invalid_credential_is_ignored_where_none_is_needed(chat_world: World) -> None:
    assert (await with_header(chat_world, UNKNOWN_SESSION, "/.well-known/chat")).status == 200
    assert (await with_header(chat_world, "Bot", "/.well-known/chat")).status == 200


@pytest.mark.rule("000.outcomes.12", "000.outcomes.10")
async def test_a_bot_on_a_user_only_operation(chat_world: World) -> None:
    answer = await chat_world.bot.rest.get("/v1/users/@me/settings")
    assert (answer.status, answer.code) == (403, "ACCESS_DENIED")


@pytest.mark.rule("000.versioning.1")
@pytest.mark.parametrize("path", ["/users/@me", "/gateway/bot", "/v2/users/@me", "/api/v1/users/@me"])
@pytest.mark.chat_settings(**{"compat.fluxer": "off"})
async def test_routes_are_below_v1_only(chat_world: World, path: str) -> None:
    answer = await HttpClient(chat_world.route, chat_world.alice.token).get(path)
    assert (answer.status, answer.code) == (404, "NOT_FOUND")


# GET /v1/gateway/bot


async def test_the_gateway_address_is_that_of_the_discovery_document(chat_world: World) -> None:
    answer = (await chat_world.bot.rest.get("/v1/gateway/bot")).expect(200)
    with proves("000.gateway-bot.2", "000.connect.1"):
        discovery = (await chat_world.anyone.get("/.well-known/chat")).expect(200)
        assert answer["url"] == discovery["endpoints"]["gateway"]
    assert "?" not in answer["url"]
    with proves("000.gateway-bot.3"):
        assert answer["shards"] == 1
    with proves("000.gateway-bot.4"):
        assert answer["session_start_limit"] == {
            "total": 1000,
            "remaining": 999,
            "reset_after": 14_400_000,
            "max_concurrency": 1,
        }


@pytest.mark.rule("000.gateway-bot.5")
async def test_the_recommendation_does_not_depend_on_guilds(chat_world: World) -> None:
    before = (await chat_world.bot.rest.get("/v1/gateway/bot")).expect(200)
    await chat_world.anyone.make_guilds(chat_world.bot.id, 30)
    assert (await chat_world.bot.rest.get("/v1/gateway/bot")).expect(200) == before


@pytest.mark.rule("000.gateway-bot.1")
async def test_only_the_form_of_the_token_is_looked_at(chat_world: World) -> None:
    assert (await with_header(chat_world, "Bot 1.nonsense", "/v1/gateway/bot")).status == 200


@pytest.mark.rule("000.credentials.14")
@pytest.mark.parametrize("scheme", ["Bot", "bot", "BOT", "boT"])
async def test_the_gateway_address_takes_the_prefix_in_any_case(chat_world: World, scheme: str) -> None:
    assert (await with_header(chat_world, f"{scheme} {chat_world.bot.token}", "/v1/gateway/bot")).status == 200


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("Bot nonsense", marks=pytest.mark.rule("000.gateway-bot.6")),
        pytest.param("Bot 1.", marks=pytest.mark.rule("000.gateway-bot.6")),
        pytest.param("Bot .a", marks=pytest.mark.rule("000.gateway-bot.6")),
        pytest.param("Bot 1.2.3", marks=pytest.mark.rule("000.gateway-bot.6")),
        pytest.param(f"Bot {UNKNOWN_SESSION}", marks=pytest.mark.rule("000.gateway-bot.6")),
        pytest.param("Bot", marks=pytest.mark.rule("000.gateway-bot.6")),
        pytest.param(f"1.{SECRET}", marks=pytest.mark.rule("000.gateway-bot.7")),
        pytest.param(UNKNOWN_SESSION, marks=pytest.mark.rule("000.gateway-bot.7")),
        pytest.param(f"Bearer 1.{SECRET}", marks=pytest.mark.rule("000.gateway-bot.8")),
        pytest.param(f"Admin 1.{SECRET}"),
    ],
)
async def test_anything_else_is_no_token_for_the_gateway_address(chat_world: World, value: str) -> None:
    answer = await with_header(chat_world, value, "/v1/gateway/bot")
    assert (answer.status, answer.code) == (401, "INVALID_AUTH_TOKEN")


async def test_nor_is_no_credential_at_all(chat_world: World) -> None:
    answer = await chat_world.anyone.get("/v1/gateway/bot")
    assert (answer.status, answer.code) == (401, "INVALID_AUTH_TOKEN")


# GET /v1/applications/@me


async def test_the_own_application(chat_world: World) -> None:
    application = (await chat_world.bot.rest.get("/v1/applications/@me")).expect(200)
    assert application["id"] == chat_world.bot.application_id
    assert application["owner"]["id"] == chat_world.alice.id
    assert application["bot"]["id"] == chat_world.bot.id
    assert "token" not in application["bot"]
    assert "client_secret" not in application
    assert isinstance(application["verify_key"], str)
    assert application["redirect_uris"] == []


@pytest.mark.rule("000.credentials.15")
@pytest.mark.parametrize("scheme", ["bot", "BOT", "bOt"])
async def test_the_own_application_takes_the_prefix_in_any_case(chat_world: World, scheme: str) -> None:
    assert (await with_header(chat_world, f"{scheme} {chat_world.bot.token}", "/v1/applications/@me")).status == 200


@pytest.mark.parametrize(
    ("make", "code"),
    [
        pytest.param(lambda world: world.alice.token, "INVALID_TOKEN", marks=pytest.mark.rule("000.applications-me.1")),
        pytest.param(
            lambda world: f"Bearer {SECRET}", "INVALID_TOKEN", marks=pytest.mark.rule("000.applications-me.2")
        ),
        pytest.param(
            lambda world: f"Bearer {world.alice.token}",
            "INVALID_TOKEN",
            marks=pytest.mark.rule("000.applications-me.2"),
        ),
        pytest.param(
            lambda world: f"Admin {world.admin_key}", "INVALID_TOKEN", marks=pytest.mark.rule("000.applications-me.3")
        ),
        pytest.param(lambda world: world.bot.token, "INVALID_TOKEN", marks=pytest.mark.rule("000.applications-me.4")),
        pytest.param(
            lambda world: f"Bot {world.bot.application_id}.{SECRET}",
            "UNAUTHORIZED",
            marks=pytest.mark.rule("000.applications-me.6"),
        ),
        pytest.param(lambda world: "Bot nonsense", "UNAUTHORIZED", marks=pytest.mark.rule("000.applications-me.6")),
        pytest.param(
            lambda world: f"Token {world.bot.token}", "INVALID_TOKEN", marks=pytest.mark.rule("000.applications-me.7")
        ),
    ],
)
async def test_other_credentials_for_the_own_application(chat_world: World, make: Any, code: str) -> None:
    answer = await with_header(chat_world, make(chat_world), "/v1/applications/@me")
    assert (answer.status, answer.code) == (401, code)


@pytest.mark.rule("000.applications-me.5")
async def test_no_credential_for_the_own_application(chat_world: World) -> None:
    answer = await chat_world.anyone.get("/v1/applications/@me")
    assert (answer.status, answer.code) == (401, "UNAUTHORIZED")


# The authentication family and bots


@pytest.mark.rule("000.outcomes.15")
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1/auth/register"),
        ("POST", "/v1/auth/login"),
        ("POST", "/v1/auth/verify"),
        ("POST", "/v1/auth/verify/resend"),
        ("GET", "/v1/auth/sessions"),
        ("POST", "/v1/auth/sessions/logout"),
    ],
)
async def test_bots_have_no_business_there(chat_world: World, method: str, path: str) -> None:
    robot: RestClient = chat_world.bot.rest
    answer = await robot.request(method, path, json={})
    assert (answer.status, answer.code) == (403, "BOT_USER_AUTH_ENDPOINT_ACCESS_DENIED")


@pytest.mark.rule("000.outcomes.16")
async def test_except_that_logout_does_nothing(chat_world: World) -> None:
    assert (await chat_world.bot.rest.logout()).status == 204
    assert (await chat_world.bot.rest.get("/v1/users/@me")).status == 200


@pytest.mark.parametrize(
    "state",
    [
        {"flags": str(int(UserFlag.DELETED))},
        {"flags": str(int(UserFlag.DISABLED)), "temp_banned_until": "2200-01-01T00:00:00Z"},
    ],
)
async def test_an_access_token_of_an_administrator_deleted_or_banned_is_nobodys(
    chat_server: ChatServer, chat_world: World, state: dict[str, str], autojump_clock: trio.testing.MockClock
) -> None:
    admin = chat_world.admin
    scopes = (Scope.IDENTIFY, ADMIN_SCOPE)
    issuer = Issuer(chat_world, chat_server)
    token = await issuer.access_token(int(admin.id), scopes=scopes, application_id=ADMIN_APPLICATION_ID)
    bearer = chat_world.anyone.signed_in(f"Bearer {token}")
    assert (await bearer.get("/v1/admin/acls")).status == 200
    await set_account(chat_world, admin.id, **state)
    assert (await bearer.get("/v1/admin/acls")).code == "UNAUTHORIZED"
    assert (await bearer.get("/v1/users/@me")).code == "UNAUTHORIZED"
    await set_account(chat_world, admin.id, flags="0", temp_banned_until=None)
    assert (await bearer.get("/v1/admin/acls")).status == 200


# A body that takes its time


class HeldBack:
    """A request whose body waits."""

    def __init__(self, client: RawHttp, body: bytes) -> None:
        self.client = client
        self.body = body

    @classmethod
    async def begun(cls, server: ChatServer, method: str, path: str, token: str, body: object) -> HeldBack:
        """All of a request but its body, which the server waits for."""
        written = orjson.dumps(body)
        client = RawHttp(await server.route().connect())
        lines = (
            f"{method} {path} HTTP/1.1",
            "Host: localhost",
            f"Authorization: {token}",
            "Content-Type: application/json",
            f"Content-Length: {len(written)}",
        )
        await client.says("\r\n".join((*lines, "", "")).encode())
        await trio.testing.wait_all_tasks_blocked()
        return cls(client, written)

    async def finished(self, method: str) -> Answer:
        await self.client.says(self.body)
        return await self.client.answer(method)


async def test_what_a_sign_in_began_does_not_outlive_it(
    chat_server: ChatServer, chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    bob = chat_world.bob
    for ends in (False, True):
        path, body = "/v1/users/@me", {"global_name": f"ends: {ends}"}
        held = await HeldBack.begun(chat_server, "PATCH", path, bob.token, body)
        if ends:
            (await bob.rest.post("/v1/auth/logout")).expect(204)
        answer = await held.finished("PATCH")
        assert answer.status == (401 if ends else 200)
    public = (await chat_world.alice.rest.get(f"/v1/users/{bob.id}")).expect(200)
    assert public["global_name"] == "ends: False"


async def test_what_was_begun_before_a_change_is_judged_by_the_account_after_it(
    chat_server: ChatServer, chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    held = await HeldBack.begun(chat_server, "POST", "/v1/guilds", chat_world.bob.token, {"name": "Chess"})
    await set_account(chat_world, chat_world.bob.id, flags=str(int(UserFlag.ACCOUNT_LIMITED)))
    assert (await held.finished("POST")).code == "ACCOUNT_LIMITED"
