"""A provider that lies, stammers or is gone: a documented refusal each time, and nobody is signed in."""

from __future__ import annotations

import base64
import json
import socket
from collections.abc import Callable
from typing import Any

import jwt
import pytest
import structlog
import trio
from cryptography.hazmat.primitives.asymmetric import ec
from going import MovingClock, come_back, set_account, start
from provider import CLIENT_ID, CLIENT_SECRET, Provider, SigningKey, private_key

from chat.auth.outgoing_http import REQUEST_SECONDS, REQUESTS_AT_A_TIME, WAITING_SECONDS
from chat.testing.world import World
from tests.loopback_http import HOST, Answer

ALICE = {"sub": "a-1", "email": "alice@example.com"}


def encoded(part: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()


async def refused(world: World, provider: Provider, code: str = "BAD_GATEWAY", status: int = 502) -> None:
    """The sign-in fails with this, and leaves nothing behind; the same made right succeeds."""
    sessions = await sign_ins(world)
    answer = await come_back(world.anyone, provider)
    assert (answer.status, answer.code) == (status, code)
    assert await sign_ins(world) == sessions


async def sign_ins(world: World) -> int:
    return len((await world.alice.rest.get("/v1/auth/sessions")).expect(200))


@pytest.fixture
def alice(provider: Provider) -> Provider:
    """The provider, with alice before it."""
    provider.person |= ALICE
    return provider


# Tokens that prove nothing


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://other.example"},
        {"iss": None},
        {"aud": "somebody else"},
        {"aud": None},
        {"aud": []},
        {"aud": {"chat client": 1}},
        {"aud": [CLIENT_ID, "another"]},
        {"aud": [CLIENT_ID, "another"], "azp": "another"},
        {"azp": "another"},
        {"exp": None},
        {"exp": 1_700_000_000},
        {"exp": "never"},
        {"exp": True},
        {"iat": None},
        {"iat": 4_000_000_000},
        {"nbf": 4_000_000_000},
        {"sub": None},
        {"sub": ""},
        {"sub": 7},
        {"sub": "x" * 256},
    ],
    ids=repr,
)
async def test_claims_that_are_not_right(chat_world: World, alice: Provider, claims: dict[str, Any]) -> None:
    alice.claims = claims
    await refused(chat_world, alice)
    alice.claims = {}
    (await come_back(chat_world.anyone, alice)).expect(200)


@pytest.mark.parametrize(
    "claims", [{"aud": [CLIENT_ID]}, {"azp": CLIENT_ID}, {"aud": [CLIENT_ID, "another"], "azp": CLIENT_ID}], ids=repr
)
async def test_claims_that_are(chat_world: World, alice: Provider, claims: dict[str, Any]) -> None:
    alice.claims = claims
    (await come_back(chat_world.anyone, alice)).expect(200)


@pytest.mark.parametrize("nonce", [None, "another", 5, ""])
async def test_a_nonce_of_another_sign_in(chat_world: World, alice: Provider, nonce: object) -> None:
    alice.claims = {"nonce": nonce}
    await refused(chat_world, alice, "INVALID_FORM_BODY", 400)


async def test_a_token_is_valid_by_the_servers_clock(
    mock_clock: trio.testing.MockClock, moved: MovingClock, chat_world: World, alice: Provider
) -> None:
    moved.follow(alice)
    now = alice.now
    for seconds, good in ((-300 - 59, True), (-300 - 62, False), (58, True), (62, False)):
        alice.now = lambda seconds=seconds: now() + seconds  # type: ignore[misc]
        answer = await come_back(chat_world.anyone, alice)
        assert answer.status == (200 if good else 502), seconds


async def test_none_is_no_algorithm(chat_world: World, alice: Provider) -> None:
    for name in ("none", "None", "NONE", ""):
        alice.sign = lambda claims, name=name: f"{encoded({'alg': name, 'typ': 'JWT'})}.{encoded(claims)}."  # type: ignore[misc]
        await refused(chat_world, alice)


async def test_a_public_key_is_no_shared_secret(chat_world: World, alice: Provider) -> None:
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    pem = alice.key.private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    jwk = json.dumps(alice.key.public()).encode()
    for secret in (pem, jwk, CLIENT_SECRET.encode(), b""):

        def sign(claims: dict[str, Any], secret: bytes = secret) -> str:
            import hashlib
            import hmac

            signed = f"{encoded({'alg': 'HS256', 'kid': 'key-1'})}.{encoded(claims)}"
            tag = hmac.digest(secret, signed.encode(), hashlib.sha256)
            return f"{signed}.{base64.urlsafe_b64encode(tag).rstrip(b'=').decode()}"

        alice.sign = sign
        await refused(chat_world, alice)


async def test_a_key_of_somebody_else(chat_world: World, alice: Provider) -> None:
    theirs = private_key("RS256")
    alice.sign = lambda claims: jwt.encode(claims, theirs, algorithm="RS256", headers={"kid": "key-1"})
    await refused(chat_world, alice)
    public = SigningKey("RS256", "key-1", theirs).public()
    for header in ({"jwk": public}, {"jku": f"{alice.issuer}/jwks-of-theirs"}, {"x5u": "http://127.0.0.1:1/x"}):
        alice.sign = lambda claims, header=header: jwt.encode(claims, theirs, "RS256", {"kid": "key-1", **header})  # type: ignore[misc]
        await refused(chat_world, alice)
    assert "/jwks-of-theirs" not in alice.paths()


async def test_an_algorithm_that_the_provider_does_not_name(chat_world: World, alice: Provider) -> None:
    alice.metadata["id_token_signing_alg_values_supported"] = ["ES256"]
    await refused(chat_world, alice)


@pytest.mark.parametrize("named", [["ES256K"], ["ES256K", "RS256"]])
async def test_an_algorithm_that_is_not_taken(chat_world: World, alice: Provider, named: list[str]) -> None:
    alice.metadata["id_token_signing_alg_values_supported"] = named
    alice.key = SigningKey("ES256K", "key-1", ec.generate_private_key(ec.SECP256K1()))
    alice.published = [
        {**json.loads(jwt.algorithms.ECAlgorithm.to_jwk(alice.key.private.public_key())), "kid": "key-1"}
    ]
    await refused(chat_world, alice)


@pytest.mark.parametrize(
    "change", [{"use": "enc"}, {"alg": "PS256"}, {"key_ops": ["sign"]}, {"kty": "EC"}, {"n": "AA"}]
)
async def test_a_key_that_is_for_something_else(chat_world: World, alice: Provider, change: dict[str, Any]) -> None:
    alice.published = [{**alice.key.public(), **change}]
    await refused(chat_world, alice)


async def test_a_curve_that_does_not_belong_to_the_algorithm(chat_world: World, alice: Provider) -> None:
    alice.key = SigningKey("ES256", "key-1", ec.generate_private_key(ec.SECP384R1()))
    alice.published = [alice.key.public()]
    alice.sign = lambda claims: jwt.encode(claims, alice.key.private, algorithm="ES384", headers={"kid": "key-1"})
    await refused(chat_world, alice)


@pytest.mark.filterwarnings("ignore:The RSA key is")
async def test_a_key_that_is_too_short(chat_world: World, alice: Provider) -> None:
    alice.key = SigningKey("RS256", "key-1", private_key("RS256", bits=1_024))
    alice.published = [alice.key.public()]
    await refused(chat_world, alice)


@pytest.mark.parametrize(
    "token", [None, "", "x", "a.b.c", "é.é.é", "x" * 300_000, 5, {"a": 1}, "eyJhbGciOiJSUzI1NiJ9.e30."]
)
async def test_what_is_no_token(chat_world: World, alice: Provider, token: Any) -> None:
    alice.sign = lambda claims: token
    await refused(chat_world, alice)


async def test_extensions_that_nobody_understands(chat_world: World, alice: Provider) -> None:
    alice.sign = lambda claims: jwt.encode(
        claims, alice.key.private, "RS256", {"kid": "key-1", "crit": ["b64"], "b64": True}
    )
    await refused(chat_world, alice)


async def test_userinfo_about_somebody_else(chat_world: World, alice: Provider) -> None:
    alice.in_userinfo = {"email"}
    alice.userinfo = {"sub": "another"}
    await refused(chat_world, alice)
    alice.answers["/userinfo"] = Answer(204, {})
    await refused(chat_world, alice)
    alice.answers.clear()
    alice.userinfo = {}
    assert (await come_back(chat_world.anyone, alice)).expect(200)["user_id"] == chat_world.alice.id


async def test_userinfo_does_not_overrule_what_is_signed(chat_world: World, alice: Provider) -> None:
    alice.person["email"] = "zoe@example.com"
    alice.in_userinfo = {"email_verified"}
    alice.userinfo = {"email": "alice@example.com"}
    assert (await come_back(chat_world.anyone, alice)).expect(200)["user_id"] != chat_world.alice.id


# Answers that are none


@pytest.mark.parametrize("path", ["/.well-known/openid-configuration", "/jwks", "/token"])
@pytest.mark.parametrize(
    ("answer", "status", "code"),
    [
        (Answer(200, b"<html>hello</html>"), 502, "BAD_GATEWAY"),
        (Answer(200, b"\xff\xfe"), 502, "BAD_GATEWAY"),
        (Answer(200, []), 502, "BAD_GATEWAY"),
        (Answer(200, {}), 502, "BAD_GATEWAY"),
        (Answer(200, b"[" * 100_000), 502, "BAD_GATEWAY"),
        (Answer(200, b" " * 3_000_000), 502, "BAD_GATEWAY"),
        (Answer(200, b"{}", (("Content-Encoding", "gzip"),)), 502, "BAD_GATEWAY"),
        (Answer(302, b"", (("Location", "http://127.0.0.1:1/"),)), 502, "BAD_GATEWAY"),
        (Answer(404, {}), 502, "BAD_GATEWAY"),
        (Answer(400, {"error": "invalid_client"}), 502, "BAD_GATEWAY"),
        (Answer(400, {"error": ["invalid_grant"]}), 502, "BAD_GATEWAY"),
        (Answer(500, b"oops"), 503, "SERVICE_UNAVAILABLE"),
        (Answer(503, {}), 503, "SERVICE_UNAVAILABLE"),
        (Answer(200, b"{}", (("Content-Length", "100000"),)), 502, "BAD_GATEWAY"),
    ],
    ids=lambda value: repr(value)[:50],
)
async def test_answers_that_make_no_sense(
    chat_world: World, alice: Provider, path: str, answer: Answer, status: int, code: str
) -> None:
    alice.answers[path] = answer
    refusal = await chat_world.anyone.post("/v1/auth/sso/start", {})
    if refusal.status == 200:
        back = alice.authorize(refusal.json()["authorization_url"])
        refusal = await chat_world.anyone.post("/v1/auth/sso/complete", back)
    assert (refusal.status, refusal.code) == (status, code)
    assert (refusal.header("retry-after") is not None) == (status == 503)
    alice.answers.clear()
    (await come_back(chat_world.anyone, alice)).expect(200)


@pytest.mark.parametrize(
    "metadata",
    [
        {"issuer": "https://other.example"},
        {"issuer": None},
        {"authorization_endpoint": None},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"token_endpoint": "http://provider.example/token"},
        {"token_endpoint": 5},
        {"jwks_uri": "file:///etc/passwd"},
        {"jwks_uri": "http://[::1"},
        {"userinfo_endpoint": "http://10.0.0.1/"},
    ],
    ids=repr,
)
async def test_metadata_that_is_not_believed(chat_world: World, alice: Provider, metadata: dict[str, Any]) -> None:
    alice.metadata = metadata
    answer = await chat_world.anyone.post("/v1/auth/sso/start", {})
    assert (answer.status, answer.code) == (502, "BAD_GATEWAY")
    assert set(alice.paths()) == {"/.well-known/openid-configuration"}


async def until(holds: Callable[[], bool]) -> None:
    """Wait while no time passes: the provider is on the network, and how long that takes is the machine's affair."""
    for _ in range(100_000):  # turns of the loop, in which server and provider both are
        if holds():
            return
        await trio.lowlevel.checkpoint()
    raise AssertionError("it never held")


@pytest.mark.parametrize("path", ["/.well-known/openid-configuration", "/jwks", "/token", "/userinfo"])
async def test_a_slow_provider_holds_nobody_up(
    mock_clock: trio.testing.MockClock, moved: MovingClock, chat_world: World, alice: Provider, path: str
) -> None:
    mock_clock.rate = 0
    moved.follow(alice)
    alice.in_userinfo = {"email"}
    alice.delays[path] = 1_000
    answers = []

    async def go() -> None:
        begun = await chat_world.anyone.post("/v1/auth/sso/start", {})
        if begun.status != 200:
            answers.append(begun)
            return
        back = alice.authorize(begun.json()["authorization_url"])
        answers.append(await chat_world.anyone.post("/v1/auth/sso/complete", back))

    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(go)
        await until(lambda: alice.paths().count(path) == 3)
        (await chat_world.alice.rest.get("/v1/users/@me")).expect(200)
        assert answers == []
        moved.advance(REQUEST_SECONDS)
    assert [(answer.status, answer.code) for answer in answers] == [(503, "SERVICE_UNAVAILABLE")] * 3


async def test_a_crowd_at_a_slow_provider_is_refused_early(
    mock_clock: trio.testing.MockClock, moved: MovingClock, chat_world: World, alice: Provider
) -> None:
    mock_clock.rate = 0
    alice.delays["/.well-known/openid-configuration"] = 1_000
    sent_away = 0

    async def go() -> None:
        nonlocal sent_away
        answer = await chat_world.anyone.post("/v1/auth/sso/start", {})
        assert (answer.status, answer.code) == (503, "SERVICE_UNAVAILABLE")
        sent_away += 1

    async with trio.open_nursery() as nursery:
        for _ in range(40):
            nursery.start_soon(go)
        await until(lambda: len(alice.requests) == REQUESTS_AT_A_TIME)
        await trio.testing.wait_all_tasks_blocked()
        assert sent_away == 0
        moved.advance(WAITING_SECONDS)
        await until(lambda: sent_away == 40 - REQUESTS_AT_A_TIME)
        assert len(alice.requests) == REQUESTS_AT_A_TIME
        moved.advance(REQUEST_SECONDS)
    assert sent_away == 40
    assert len(alice.requests) == REQUESTS_AT_A_TIME


@pytest.mark.chat_settings(**{"sso.issuer": "http://127.0.0.1:1"})
async def test_a_provider_that_is_gone(chat_world: World) -> None:
    answer = await chat_world.anyone.post("/v1/auth/sso/start", {})
    assert (answer.status, answer.code) == (503, "SERVICE_UNAVAILABLE")
    (await chat_world.anyone.login(email=chat_world.alice.email, password=chat_world.alice.password)).expect(200)


@pytest.mark.chat_settings(**{"sso.issuer": "http://provider.example"})
async def test_a_provider_elsewhere_is_asked_over_https_only(chat_world: World) -> None:
    answer = await chat_world.anyone.post("/v1/auth/sso/start", {})
    assert (answer.status, answer.code) == (502, "BAD_GATEWAY")


async def test_a_provider_that_does_not_speak_http(chat_world: World, alice: Provider) -> None:
    with socket.create_server((HOST, 0)) as listener:
        listener.listen()
        alice.metadata["jwks_uri"] = f"http://{HOST}:{listener.getsockname()[1]}/jwks"
        begun = await start(chat_world.anyone)

        def speak() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65_536)
                connection.sendall(b"220 mail.example ESMTP\r\n")

        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.to_thread.run_sync, speak)
            back = alice.authorize(begun["authorization_url"])
            answer = await chat_world.anyone.post("/v1/auth/sso/complete", back)
    assert (answer.status, answer.code) == (502, "BAD_GATEWAY")


async def test_nothing_secret_is_logged(chat_world: World, alice: Provider) -> None:
    begun = await start(chat_world.anyone)
    back = alice.authorize(begun["authorization_url"])
    tokens: list[str] = []

    def sign(claims: dict[str, Any]) -> str:
        tokens.append(alice.signed(claims | {"aud": "another"}))
        return tokens[-1]

    with structlog.testing.capture_logs() as lines:
        alice.sign = sign
        assert (await chat_world.anyone.post("/v1/auth/sso/complete", back)).status == 502
        alice.sign = alice.signed
        (await come_back(chat_world.anyone, alice)).expect(200)
        alice.answers["/token"] = Answer(401, {"error": "invalid_client", "error_description": CLIENT_SECRET})
        assert (await come_back(chat_world.anyone, alice)).status == 502
    text = repr(lines)
    assert "an id token is not believed" in text
    assert "refuses this client" in text
    for secret in (back["code"], back["state"], CLIENT_SECRET, *tokens):
        assert secret not in text


async def test_an_account_that_is_closed_meanwhile_is_nobodys(chat_world: World, alice: Provider) -> None:
    """Between the provider's word and the writing, the account went."""
    begun = await start(chat_world.anyone)
    back = alice.authorize(begun["authorization_url"])
    alice.delays["/token"] = 0.2
    answers = []

    async def complete() -> None:
        answers.append(await chat_world.anyone.post("/v1/auth/sso/complete", back))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(complete)
        await trio.sleep(0.05)
        await set_account(chat_world, chat_world.alice.id, email="gone@example.com")
    assert answers[0].expect(200)["user_id"] != chat_world.alice.id
