"""What enforced single sign-on closes, and what it leaves alone (document 000, Single sign-on enforcement).

Area: signing_in. Rules: 000.sso.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

import attrs
import pytest
import trio
from going import come_back
from provider import Provider

from chat.admin.routes import ADMIN_ROUTES
from chat.api.routes.every import ROUTES
from chat.config import load_settings
from chat.errors import OperatorError
from chat.registries.error_codes import ErrorCode
from chat.testing.rest_client import Response, RestClient
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.api.test_secret_answers import told_by
from tests.applications.oauth2_client import OAuth2Client
from tests.enrolment import Phone
from tests.spec.ledger import proves

FIXTURE: Final[dict[str, list[dict[str, str]]]] = json.loads(Path("spec_fixtures/single_sign_on.json").read_text())
ROWS: Final = FIXTURE["operations"]
LISTED: Final = {(row["method"], row["path"]) for row in ROWS}
RULED: Final = {(row["method"], row["path"]) for row in FIXTURE["ruled"]}
OPEN: Final = {(row["method"], row["path"]) for row in FIXTURE["open"]}
CLOSED: Final = LISTED | RULED
OPERATIONS: Final = [operation for module in (*ROUTES, *ADMIN_ROUTES) for operation in module.operations]
DECLARED: Final = sorted({(operation.method, operation.path) for operation in OPERATIONS})
EACH_LISTED: Final = [
    *(pytest.param(row["method"], row["path"], marks=pytest.mark.rule(row["rule"]), id=row["path"]) for row in ROWS),
    *(pytest.param(row["method"], row["path"], id=row["path"]) for row in FIXTURE["ruled"]),
]


async def enforce(server: ChatServer, *clients: RestClient | World, **changes: Any) -> None:
    """Start anew on the same data, with single sign-on enforced or as `changes` say.

    The clients' connections are closed before: the end of the server would wait for that, in real time.
    """
    for client in clients:
        await client.aclose()
    sso = attrs.evolve(server.settings.sso, **({"enforced": True} | changes))
    server.settings = attrs.evolve(server.settings, sso=sso)
    await server.restart()


def path_of(declared: str) -> str:
    """A path that the declaration matches."""
    return re.sub(r"\{[^}]*\}", "1", declared)


def is_refusal(answer: Response) -> bool:
    """Whether it is this refusal, and all that belongs to it."""
    if answer.code != "SSO_REQUIRED":
        return False
    assert answer.status == 403
    assert answer.json() == {"code": "SSO_REQUIRED", "message": ErrorCode.SSO_REQUIRED.message}
    return True


@pytest.mark.rule("000.sso.28")
def test_the_list_is_the_documents_and_all_of_it_is_declared() -> None:
    assert {(operation.method, operation.path) for operation in OPERATIONS if operation.closed_by_sso} == CLOSED
    assert set(DECLARED) >= CLOSED
    assert len(ROWS) == len(LISTED) == 19


def test_every_way_in_is_closed_or_known_to_stay_open() -> None:
    """A way in answers with the token of a sign-in; those of webhooks and bots are told elsewhere."""
    ways = {
        (operation.method, operation.path)
        for module in (*ROUTES, *ADMIN_ROUTES)
        for operation in module.operations
        if operation.path.startswith(("/v1/auth/", "/v1/users/")) and "token" in told_by(operation)
    }
    assert len(ways & CLOSED) == 10
    assert ways - CLOSED == OPEN


@pytest.mark.parametrize(("method", "path"), EACH_LISTED)
async def test_a_listed_operation_is_closed_to_everybody(
    chat_world: World, chat_server: ChatServer, method: str, path: str
) -> None:
    target = path_of(path)
    clients = [chat_world.anyone, chat_world.alice.rest, chat_world.bot.rest, chat_world.anyone.signed_in("nonsense")]
    for client in clients:
        assert not is_refusal(await client.request(method, target))
    await enforce(chat_server, *clients)
    for client in clients:
        assert is_refusal(await client.request(method, target))
        assert is_refusal(await client.request(method, target, json={"email": 1, "token": "x"}))
        assert is_refusal(await client.request(method, target, body=b"\xff{"))


@pytest.mark.rule("000.sso.28")
@pytest.mark.chat_settings(**{"sso.enforced": True})
async def test_no_other_operation_is(chat_world: World) -> None:
    found: list[tuple[str, str]] = []
    for method, path in DECLARED:
        for client in (chat_world.bob.rest, chat_world.bot.rest, chat_world.anyone):
            answer = await client.request(method, path_of(path), json={})
            assert answer.status < 500, (method, path, answer.body)
            if answer.code == "SSO_REQUIRED":
                found.append((method, path))
    assert set(found) == CLOSED
    assert len(found) == 3 * len(CLOSED)


@pytest.mark.rule("000.sso.1", "000.sso.2", "000.sso.12")
@pytest.mark.chat_settings(
    **{
        "sso.enforced": True,
        "rate_limits": True,
        "captcha.provider": "hcaptcha",
        "captcha.site_key": "site",
        "captcha.secret_key": "secret",
        "captcha.verify_url": "http://127.0.0.1:1/",
    }
)
async def test_it_comes_before_captcha_limits_and_everything_else(chat_world: World) -> None:
    for path in ("/v1/auth/register", "/v1/auth/login", "/v1/auth/forgot"):
        for _ in range(60):
            assert is_refusal(await chat_world.anyone.post(path, {}))


@pytest.mark.rule("000.sso.13", "000.sso.18")
@pytest.mark.chat_settings(**{"sso.enforced": True})
async def test_head_is_closed_as_get_is(chat_world: World) -> None:
    for path in ("/v1/auth/reset/x", "/v1/auth/ip-authorization/poll"):
        assert (await chat_world.anyone.request("HEAD", path)).status == 403


@pytest.mark.rule("000.sso.21")
@pytest.mark.parametrize(
    "changes", [{"enabled": False}, {"issuer": None}, {"client_id": None}, {"enforced": False}], ids=repr
)
async def test_without_being_configured_and_enabled_nothing_is_closed(
    chat_world: World, chat_server: ChatServer, changes: dict[str, object]
) -> None:
    alice = {"email": chat_world.alice.email, "password": chat_world.alice.password}
    await enforce(chat_server, chat_world)
    assert is_refusal(await chat_world.anyone.post("/v1/auth/login", alice))
    status = (await chat_world.anyone.get("/v1/auth/sso/status")).expect(200)
    assert (status["enabled"], status["enforced"]) == (True, True)
    await enforce(chat_server, chat_world, **changes)
    (await chat_world.anyone.post("/v1/auth/login", alice)).expect(200)
    for method, path in sorted(CLOSED):
        assert not is_refusal(await chat_world.anyone.request(method, path_of(path)))
    status = (await chat_world.anyone.get("/v1/auth/sso/status")).expect(200)
    assert status["enforced"] is False
    assert (await chat_world.anyone.get("/.well-known/chat")).expect(200)["sso"] == status


@pytest.mark.rule("000.sso.21")
@pytest.mark.parametrize(
    "flags",
    [
        {"sso.enforced": True},
        {"sso.enabled": True},
        {"sso.enabled": True, "sso.enforced": True, "sso.client_id": "chat"},
        {"sso.enabled": True, "sso.enforced": True, "sso.issuer": "https://sso.example"},
    ],
    ids=repr,
)
def test_half_a_configuration_stops_the_start(tmp_path: Path, flags: dict[str, object]) -> None:
    with pytest.raises(OperatorError, match=r"setting sso\.(issuer|client_id|enabled)"):
        load_settings(tmp_path, flags=flags)


@pytest.mark.chat_settings(sign_in="username")
async def test_a_recovery_kit_is_no_way_around(
    autojump_clock: trio.testing.MockClock, chat_world: World, chat_server: ChatServer
) -> None:
    alice = chat_world.alice
    made = await alice.rest.post("/v1/users/@me/recovery-kit", {"password": alice.password})
    kit = {"username": alice.username, "code": made.expect(200)["code"], "password": "a new long one"}
    await enforce(chat_server)
    assert is_refusal(await chat_world.anyone.post("/v1/auth/recovery", kit))
    await enforce(chat_server, enforced=False)
    assert (await chat_world.anyone.post("/v1/auth/recovery", kit)).expect(200)["user_id"] == alice.id


# What stays


@pytest.mark.rule("000.sso.20")
@pytest.mark.chat_settings(**{"sso.enforced": True, "sso.auto_provision": False})
async def test_people_get_in_through_the_provider(chat_world: World, provider: Provider) -> None:
    assert is_refusal(await come_back(chat_world.anyone, provider))
    provider.person["email"] = chat_world.alice.email
    body = (await come_back(chat_world.anyone, provider)).expect(200)
    assert body["user_id"] == chat_world.alice.id


@pytest.mark.rule("000.sso.22")
@pytest.mark.chat_settings(**{"sso.enforced": True})
async def test_a_password_can_be_changed(chat_world: World, chat_server: ChatServer) -> None:
    alice = chat_world.alice
    wrong = await alice.rest.patch("/v1/users/@me", {"password": "not mine", "new_password": "a new long one"})
    assert wrong.code == "INVALID_FORM_BODY"
    body = {"password": alice.password, "new_password": "a new long one"}
    (await alice.rest.patch("/v1/users/@me", body)).expect(200)
    (await chat_world.bob.rest.post("/v1/users/@me/password-change/start", {})).expect(200)
    await enforce(chat_server, chat_world, enforced=False)
    (await chat_world.anyone.login(email=alice.email, password="a new long one")).expect(200)


@pytest.mark.rule("000.sso.23")
@pytest.mark.chat_settings(**{"sso.enforced": True})
async def test_second_factors_can_be_set_up_and_removed(
    autojump_clock: trio.testing.MockClock, chat_world: World, chat_server: ChatServer
) -> None:
    alice = chat_world.alice.rest
    phone = Phone(chat_server.clock)
    assert len(await phone.enable(alice, password=chat_world.alice.password)) == 10
    assert (await alice.get("/v1/users/@me")).expect(200)["mfa_enabled"] is True
    proof = await phone.proof()
    (await alice.post("/v1/users/@me/mfa/backup-codes", {"regenerate": True, **proof})).expect(200)
    (await alice.get("/v1/users/@me/mfa/webauthn/credentials")).expect(200)
    disabled = {"code": await phone.next_code(), **(await phone.proof())}
    (await alice.post("/v1/users/@me/mfa/totp/disable", disabled)).expect(204)
    assert (await alice.get("/v1/users/@me")).expect(200)["mfa_enabled"] is False


@pytest.mark.rule("000.sso.23")
@pytest.mark.chat_settings(**{"sso.enforced": True})
async def test_who_comes_from_the_provider_has_just_proved_who_it_is(chat_world: World, provider: Provider) -> None:
    provider.person |= {"sub": "a-1", "email": chat_world.alice.email}
    token = (await come_back(chat_world.anyone, provider)).expect(200)["token"]
    options = "/v1/users/@me/mfa/webauthn/credentials/registration-options"
    assert (await chat_world.alice.rest.post(options)).code == "SUDO_MODE_REQUIRED"
    (await chat_world.anyone.signed_in(token).post(options)).expect(200)


async def credentials_before(world: World) -> tuple[RestClient, RestClient]:
    """An OAuth2 access token and an admin key, as clients."""
    client = await OAuth2Client.make(world)
    tokens = await client.tokens(world.alice)
    return client.bearer(tokens["access_token"]), world.anyone.signed_in(f"Admin {world.admin_key}")


async def test_credentials_that_were_issued_are_good_still(chat_world: World, chat_server: ChatServer) -> None:
    bearer, key = await credentials_before(chat_world)
    asked = [
        (chat_world.alice.rest, "/v1/users/@me"),
        (chat_world.bot.rest, "/v1/applications/@me"),
        (bearer, "/v1/oauth2/@me"),
        (key, "/v1/admin/users/@me"),
    ]
    before = [(await client.get(path)).expect(200) for client, path in asked]
    await enforce(chat_server, chat_world, bearer, key)
    for number, (client, path), known in zip((24, 25, 26, 27), asked, before, strict=True):
        with proves(f"000.sso.{number}"):
            assert (await client.get(path)).expect(200) == known
    assert [(await client.get(path)).expect(200) for client, path in asked] == before
    (await chat_world.alice.rest.send_message(chat_world.channel_id, "hello")).expect(200)
    (await chat_world.bot.rest.send_message(chat_world.channel_id, "hello")).expect(200)
    stranger = chat_world.anyone.signed_in("cht_" + "x" * 36)
    assert (await stranger.get("/v1/users/@me")).code == "UNAUTHORIZED"
    client = await chat_world.alice.connect()
    await client.aclose()
    (await chat_world.alice.rest.post("/v1/auth/logout")).expect(204)
