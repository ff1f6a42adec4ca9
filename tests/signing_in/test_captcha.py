"""CAPTCHAs before registration, login and recovery (wire facts 2.1, 3.2, 3.3; document 000, Credential policies).

Area: signing_in. Rules: 000.policies.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import pytest
import structlog
import trio

from chat.api.routes.every import ROUTES
from chat.auth.captcha import Captcha
from chat.auth.outgoing_http import OutgoingHttp
from chat.config.settings import CaptchaSettings
from chat.errors import ApiError
from chat.testing.rest_client import Response, RestClient
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.loopback_http import Answer, Asked, LoopbackHttp

SITE, SECRET, SOLVED = "site-key", "secret-key-of-the-instance", "a-solved-challenge"
CAPTCHA_OPERATIONS: Final = frozenset(
    {("POST", "/v1/auth/register"), ("POST", "/v1/auth/login"), ("POST", "/v1/auth/forgot")}
)
PATHS = sorted(path for _, path in CAPTCHA_OPERATIONS)


class Verifier(LoopbackHttp):
    """hCaptcha's or Turnstile's siteverify: the token `SOLVED` is good, once where `once`."""

    def __init__(self) -> None:
        super().__init__()
        self.said: Answer | None = None
        self.delay = 0.0

    async def answer(self, asked: Asked) -> Answer:
        await trio.sleep(self.delay)
        if self.said is not None:
            return self.said
        if asked.form.get("secret") != SECRET:
            return Answer(200, {"success": False, "error-codes": ["invalid-input-secret"]})
        if asked.form.get("response") != SOLVED:
            return Answer(200, {"success": False, "error-codes": ["invalid-input-response"]})
        return Answer(200, {"success": True, "hostname": "chat.example"})


@pytest.fixture
async def verifier() -> AsyncIterator[Verifier]:
    async with Verifier().running() as running:
        yield running


@pytest.fixture
async def chat_server_options(request: pytest.FixtureRequest, tmp_path: Path, verifier: Verifier) -> dict[str, Any]:
    settings: dict[str, object] = {
        "captcha.provider": "hcaptcha",
        "captcha.site_key": SITE,
        "captcha.secret_key": SECRET,
        "captcha.verify_url": f"{verifier.origin}/siteverify",
    }
    for marker in reversed(list(request.node.iter_markers("chat_settings"))):
        settings.update(marker.kwargs)
    return {"folder": tmp_path, "seed": zlib.crc32(request.node.nodeid.encode()), "settings": settings}


async def post(
    client: RestClient, path: str, token: str | None = SOLVED, kind: str | None = None, **body: object
) -> Response:
    headers = {"X-Captcha-Token": token, "X-Captcha-Type": kind}
    given = {name: value for name, value in headers.items() if value is not None}
    return await client.request("POST", path, json=body, headers=given)


def outcome(answer: Response) -> tuple[int, str | None]:
    return answer.status, answer.code


def test_what_asks_for_one_is_declared() -> None:
    operations = [operation for module in ROUTES for operation in module.operations]
    assert {(operation.method, operation.path) for operation in operations if operation.asks_captcha} == (
        CAPTCHA_OPERATIONS
    )


@pytest.mark.parametrize("path", PATHS)
async def test_without_a_solved_challenge_nobody_gets_through(chat_world: World, verifier: Verifier, path: str) -> None:
    assert outcome(await post(chat_world.anyone, path, None)) == (400, "CAPTCHA_REQUIRED")
    assert outcome(await post(chat_world.anyone, path, "")) == (400, "CAPTCHA_REQUIRED")
    assert verifier.requests == []
    assert outcome(await post(chat_world.anyone, path, "wrong")) == (400, "INVALID_CAPTCHA")
    assert outcome(await post(chat_world.anyone, path, email="nobody")) not in (
        (400, "CAPTCHA_REQUIRED"),
        (400, "INVALID_CAPTCHA"),
    )


async def test_with_one_people_register_sign_in_and_recover(chat_world: World, verifier: Verifier) -> None:
    alice = {"email": chat_world.alice.email, "password": chat_world.alice.password}
    (await post(chat_world.anyone, "/v1/auth/login", **alice)).expect(200)
    (await post(chat_world.anyone, "/v1/auth/login", kind="hCaptcha", **alice)).expect(200)
    (await post(chat_world.anyone, "/v1/auth/register", username="dave", password="correct horse")).expect(200)
    (await post(chat_world.anyone, "/v1/auth/forgot", email="alice@example.com")).expect(204)
    asked = verifier.requests[0]
    assert (asked.method, asked.path) == ("POST", "/siteverify")
    assert asked.form == {"secret": SECRET, "response": SOLVED, "remoteip": "127.0.0.1", "sitekey": SITE}


async def test_a_token_of_another_service_or_of_no_size_is_wrong(chat_world: World, verifier: Verifier) -> None:
    assert outcome(await post(chat_world.anyone, "/v1/auth/login", kind="turnstile")) == (400, "INVALID_CAPTCHA")
    assert outcome(await post(chat_world.anyone, "/v1/auth/login", "x" * 9_000)) == (400, "INVALID_CAPTCHA")
    assert verifier.requests == []


@pytest.mark.chat_settings(**{"captcha.provider": "turnstile"})
async def test_turnstile_is_asked_alike(chat_world: World, verifier: Verifier) -> None:
    alice = {"email": chat_world.alice.email, "password": chat_world.alice.password}
    (await post(chat_world.anyone, "/v1/auth/login", kind="turnstile", **alice)).expect(200)
    assert outcome(await post(chat_world.anyone, "/v1/auth/login", kind="hcaptcha")) == (400, "INVALID_CAPTCHA")
    captcha = (await chat_world.anyone.get("/.well-known/chat")).expect(200)["captcha"]
    assert captcha == {"provider": "turnstile", "hcaptcha_site_key": None, "turnstile_site_key": SITE}


async def test_the_discovery_document_says_which(chat_world: World) -> None:
    captcha = (await chat_world.anyone.get("/.well-known/chat")).expect(200)["captcha"]
    assert captcha == {"provider": "hcaptcha", "hcaptcha_site_key": SITE, "turnstile_site_key": None}


@pytest.mark.chat_settings(**{"captcha.provider": "none"})
async def test_switched_off_nobody_is_asked(chat_world: World, verifier: Verifier) -> None:
    alice = {"email": chat_world.alice.email, "password": chat_world.alice.password}
    (await chat_world.anyone.post("/v1/auth/login", alice)).expect(200)
    assert verifier.requests == []
    captcha = (await chat_world.anyone.get("/.well-known/chat")).expect(200)["captcha"]
    assert captcha == {"provider": "none", "hcaptcha_site_key": None, "turnstile_site_key": None}


@pytest.mark.rule("000.policies.5")
async def test_a_valid_credential_spares_the_challenge(chat_world: World, verifier: Verifier) -> None:
    alice = {"email": chat_world.alice.email, "password": chat_world.alice.password}
    bob = chat_world.bob.rest
    (await bob.post("/v1/auth/login", alice)).expect(200)
    (await bob.post("/v1/auth/forgot", {"email": "alice@example.com"})).expect(204)
    (await bob.post("/v1/auth/register", {"username": "dave", "password": "correct horse"})).expect(200)
    assert verifier.requests == []
    for credential in (None, "cht_" + "x" * 36, "nonsense", "Bearer " + "x" * 43, f"Admin {chat_world.bob.token}"):
        client = chat_world.anyone.signed_in(credential)
        assert outcome(await client.post("/v1/auth/login", alice)) == (400, "CAPTCHA_REQUIRED")
    signed_out = (await bob.post("/v1/auth/login", alice)).expect(200)["token"]
    client = chat_world.anyone.signed_in(signed_out)
    (await client.post("/v1/auth/logout")).expect(204)
    assert outcome(await client.post("/v1/auth/login", alice)) == (400, "CAPTCHA_REQUIRED")


@pytest.mark.chat_settings(rate_limits=True)
async def test_it_is_asked_before_the_limits(chat_world: World) -> None:
    for _ in range(70):
        assert outcome(await post(chat_world.anyone, "/v1/auth/login", None)) == (400, "CAPTCHA_REQUIRED")
    statuses = [
        (await post(chat_world.anyone, "/v1/auth/login", email="x@example.com", password="x" * 9)).status
        for _ in range(6)
    ]
    assert statuses == [400] * 5 + [429]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (Answer(200, b"<html>"), (502, "BAD_GATEWAY")),
        (Answer(200, []), (502, "BAD_GATEWAY")),
        (Answer(500, b""), (503, "SERVICE_UNAVAILABLE")),
        (Answer(200, b" " * 2_000_000), (502, "BAD_GATEWAY")),
        (Answer(200, {}), (400, "INVALID_CAPTCHA")),
        (Answer(200, {"success": "true"}), (400, "INVALID_CAPTCHA")),
        (Answer(200, {"success": 1, "error-codes": {"a": 1}}), (400, "INVALID_CAPTCHA")),
        (Answer(200, {"success": False, "error-codes": [1, None]}), (400, "INVALID_CAPTCHA")),
        (Answer(200, {"success": False, "error-codes": ["invalid-input-secret"]}), (503, "SERVICE_UNAVAILABLE")),
    ],
    ids=repr,
)
async def test_where_the_service_cannot_tell_nobody_passes(
    chat_world: World, verifier: Verifier, said: Answer, expected: tuple[int, str]
) -> None:
    alice = {"email": chat_world.alice.email, "password": chat_world.alice.password}
    verifier.said = said
    with structlog.testing.capture_logs() as lines:
        assert outcome(await post(chat_world.anyone, "/v1/auth/login", **alice)) == expected
    assert SECRET not in repr(lines)
    assert SOLVED not in repr(lines)
    verifier.said = None
    (await post(chat_world.anyone, "/v1/auth/login", **alice)).expect(200)


@pytest.mark.chat_settings(**{"captcha.verify_url": "http://127.0.0.1:1/siteverify"})
async def test_nor_where_it_is_gone(chat_world: World) -> None:
    answer = await post(chat_world.anyone, "/v1/auth/login")
    assert outcome(answer) == (503, "SERVICE_UNAVAILABLE")
    assert answer.header("retry-after") == "5"


async def test_nor_where_it_is_slow_and_others_do_not_wait(
    mock_clock: trio.testing.MockClock, chat_world: World, chat_server: ChatServer, verifier: Verifier
) -> None:
    mock_clock.rate = 30
    verifier.delay = 1_000
    async with trio.open_nursery() as nursery:
        answers: list[Response] = []

        async def login() -> None:
            answers.append(await post(chat_world.anyone, "/v1/auth/login"))

        nursery.start_soon(login)
        await trio.sleep(1)
        (await chat_world.alice.rest.get("/v1/users/@me")).expect(200)
        assert answers == []
    assert outcome(answers[0]) == (503, "SERVICE_UNAVAILABLE")


async def test_plain_http_goes_to_this_machine_only() -> None:
    settings = CaptchaSettings(provider="hcaptcha", secret_key="x", verify_url="http://captcha.example/")
    with pytest.raises(ApiError, match="BAD_GATEWAY"):
        await Captcha(settings, OutgoingHttp()).require("x", None, "127.0.0.1")
