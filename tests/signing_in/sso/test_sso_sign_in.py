"""Single sign-on against a real provider: who gets in, as whom, and where to (wire facts 6.1).

Area: signing_in. Rules: 000.sso.
"""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
import trio
from going import MovingClock, come_back, set_account, start
from provider import ALGORITHMS, CLIENT_ID, Provider, SigningKey

from chat.domain.signing_in.single_sign_on import is_own_path
from chat.registries.user_flags import UserFlag
from chat.testing.rest_client import Response
from chat.testing.world import World


def errors(answer: Response) -> list[tuple[str, str]]:
    assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY")
    return [(error["path"], error["code"]) for error in answer.json()["errors"]]


async def test_the_status_says_what_is_offered(chat_world: World) -> None:
    status = (await chat_world.anyone.get("/v1/auth/sso/status")).expect(200)
    document = (await chat_world.anyone.get("/.well-known/chat")).expect(200)
    assert status == document["sso"]
    assert status["enabled"] is True
    assert status["enforced"] is False
    assert status["display_name"] == "The Office"
    assert status["redirect_uri"].endswith("/auth/sso/callback")


async def test_the_way_to_the_provider(chat_world: World, provider: Provider) -> None:
    begun = await start(chat_world.anyone)
    assert set(begun) == {"authorization_url", "state", "redirect_uri"}
    query = parse_qs(urlsplit(begun["authorization_url"]).query)
    assert {name: query[name] for name in ("client_id", "state", "redirect_uri", "scope", "response_type")} == {
        "client_id": [CLIENT_ID],
        "state": [begun["state"]],
        "redirect_uri": [begun["redirect_uri"]],
        "scope": ["openid email profile"],
        "response_type": ["code"],
    }
    again = parse_qs(urlsplit((await start(chat_world.anyone))["authorization_url"]).query)
    for name in ("state", "nonce", "code_challenge"):
        assert query[name] != again[name]
    assert provider.paths() == ["/.well-known/openid-configuration"]


async def test_a_newcomer_gets_an_account_made_of_the_claims(chat_world: World, provider: Provider) -> None:
    body = (await come_back(chat_world.anyone, provider, redirect_to="/channels/1?x=1#y")).expect(200)
    assert set(body) == {"token", "user_id", "user", "redirect_to"}
    assert body["redirect_to"] == "/channels/1?x=1#y"
    client = chat_world.anyone.signed_in(body["token"])
    own = (await client.get("/v1/users/@me")).expect(200)
    assert (own["username"], own["global_name"]) == ("zoe", "Zoë from Málaga")
    assert (own["email"], own["verified"]) == ("zoe@example.com", True)
    (await client.create_guild("Chess")).expect(200)
    again = (await come_back(chat_world.anyone, provider)).expect(200)
    assert again["user_id"] == body["user_id"]
    assert again["token"] != body["token"]
    assert again["redirect_to"] is None


async def test_the_subject_counts_above_a_changed_address(chat_world: World, provider: Provider) -> None:
    first = (await come_back(chat_world.anyone, provider)).expect(200)
    provider.person["email"] = "alice@example.com"
    assert (await come_back(chat_world.anyone, provider)).expect(200)["user_id"] == first["user_id"]
    assert first["user_id"] != chat_world.alice.id


async def test_a_verified_address_finds_the_account_that_is_there(chat_world: World, provider: Provider) -> None:
    provider.person |= {"sub": "a-1", "email": "ALICE@example.com"}
    body = (await come_back(chat_world.anyone, provider)).expect(200)
    assert body["user_id"] == chat_world.alice.id
    (await chat_world.alice.rest.get("/v1/users/@me")).expect(200)
    provider.person["email"] = None
    assert (await come_back(chat_world.anyone, provider)).expect(200)["user_id"] == chat_world.alice.id


async def test_an_address_that_goes_to_somebody_else_does_not_take_the_account_along(
    chat_world: World, provider: Provider
) -> None:
    provider.person |= {"sub": "a-1", "email": "alice@example.com"}
    assert (await come_back(chat_world.anyone, provider)).expect(200)["user_id"] == chat_world.alice.id
    provider.person |= {"sub": "a-2"}
    other = (await come_back(chat_world.anyone, provider)).expect(200)
    assert other["user_id"] != chat_world.alice.id
    own = (await chat_world.anyone.signed_in(other["token"]).get("/v1/users/@me")).expect(200)
    assert (own["email"], own["verified"]) == (None, False)
    assert (await come_back(chat_world.anyone, provider)).expect(200)["user_id"] == other["user_id"]
    provider.person |= {"sub": "a-1"}
    assert (await come_back(chat_world.anyone, provider)).expect(200)["user_id"] == chat_world.alice.id


@pytest.mark.chat_settings(**{"sso.auto_provision": False})
async def test_nor_where_no_accounts_are_made(chat_world: World, provider: Provider) -> None:
    provider.person |= {"sub": "a-1", "email": "alice@example.com"}
    (await come_back(chat_world.anyone, provider)).expect(200)
    provider.person |= {"sub": "a-2"}
    answer = await come_back(chat_world.anyone, provider)
    assert (answer.status, answer.code) == (403, "SSO_REQUIRED")


@pytest.mark.parametrize("verified", [False, None, "false", "True ", 1, "yes", ["true"]])
async def test_an_address_that_the_provider_has_not_verified_finds_nobody(
    chat_world: World, provider: Provider, verified: object
) -> None:
    provider.person |= {"sub": "a-1", "email": "alice@example.com", "email_verified": verified}
    body = (await come_back(chat_world.anyone, provider)).expect(200)
    assert body["user_id"] != chat_world.alice.id
    own = (await chat_world.anyone.signed_in(body["token"]).get("/v1/users/@me")).expect(200)
    assert (own["email"], own["verified"]) == (None, False)


@pytest.mark.rule("000.sso.20")
@pytest.mark.chat_settings(**{"sso.auto_provision": False})
async def test_where_none_are_made_strangers_are_refused_and_others_are_not(
    chat_world: World, provider: Provider
) -> None:
    answer = await come_back(chat_world.anyone, provider)
    assert (answer.status, answer.code) == (403, "SSO_REQUIRED")
    provider.person["email"] = "alice@example.com"
    provider.person["email_verified"] = False
    answer = await come_back(chat_world.anyone, provider)
    assert (answer.status, answer.code) == (403, "SSO_REQUIRED")
    provider.person["email_verified"] = True
    assert (await come_back(chat_world.anyone, provider)).expect(200)["user_id"] == chat_world.alice.id


@pytest.mark.rule("000.sso.20")
async def test_where_they_are_made_the_same_stranger_gets_in(chat_world: World, provider: Provider) -> None:
    (await come_back(chat_world.anyone, provider)).expect(200)


@pytest.mark.chat_settings(**{"sso.auto_provision": False})
async def test_whoever_typed_in_an_address_does_not_keep_the_account_of_its_holder(
    chat_world: World, provider: Provider
) -> None:
    squatter = (
        await chat_world.anyone.register(email="zoe@example.com", username="zoe", password="correct horse")
    ).expect(200)
    body = (await come_back(chat_world.anyone, provider)).expect(200)
    assert body["user_id"] == squatter["user_id"]
    own = (await chat_world.anyone.signed_in(body["token"]).get("/v1/users/@me")).expect(200)
    assert own["verified"] is True
    assert (await chat_world.anyone.signed_in(squatter["token"]).get("/v1/users/@me")).status == 401
    login = await chat_world.anyone.login(email="zoe@example.com", password="correct horse")
    assert errors(login)[0] == ("email", "INVALID_EMAIL_OR_PASSWORD")
    second = (await come_back(chat_world.anyone, provider)).expect(200)
    (await chat_world.anyone.signed_in(body["token"]).get("/v1/users/@me")).expect(200)
    (await chat_world.anyone.signed_in(second["token"]).get("/v1/users/@me")).expect(200)


@pytest.mark.chat_settings(sign_in="username")
async def test_a_username_instance_keeps_no_address(chat_world: World, provider: Provider) -> None:
    body = (await come_back(chat_world.anyone, provider)).expect(200)
    own = (await chat_world.anyone.signed_in(body["token"]).get("/v1/users/@me")).expect(200)
    assert own["email"] is None
    assert (await come_back(chat_world.anyone, provider)).expect(200)["user_id"] == body["user_id"]


@pytest.mark.parametrize(
    ("claims", "username"),
    [
        ({"preferred_username": "zoe@corp.example"}, "zoe"),
        ({"preferred_username": "日本", "email": "z.o.e@example.com"}, "zoe"),
        ({"preferred_username": None, "email": None, "name": "Zoë Q"}, "Zoe_Q"),
        ({"preferred_username": "everyone", "email": None, "name": None}, "user"),
        ({"preferred_username": "x" * 200, "name": "n" * 250}, "x" * 32),
        ({"preferred_username": ["zoe"], "email": None, "name": {"a": 1}}, "user"),
    ],
)
async def test_any_claims_make_a_name(
    chat_world: World, provider: Provider, claims: dict[str, object], username: str
) -> None:
    provider.person |= claims
    body = (await come_back(chat_world.anyone, provider)).expect(200)
    assert body["user"]["username"] == username


async def test_two_of_one_name_are_two_accounts(chat_world: World, provider: Provider) -> None:
    provider.person["email"] = None
    first = (await come_back(chat_world.anyone, provider)).expect(200)
    provider.person["sub"] = "zoe-2"
    second = (await come_back(chat_world.anyone, provider)).expect(200)
    assert first["user_id"] != second["user_id"]


async def test_one_newcomer_in_two_windows_gets_one_account(chat_world: World, provider: Provider) -> None:
    answers: list[Response] = []

    async def one() -> None:
        answers.append(await come_back(chat_world.anyone, provider))

    async with trio.open_nursery() as nursery:
        for _ in range(4):
            nursery.start_soon(one)
    assert len({answer.expect(200)["user_id"] for answer in answers}) == 1


# How the account stands


async def test_a_banned_account_is_told_so(chat_world: World, provider: Provider) -> None:
    provider.person["email"] = "alice@example.com"
    await set_account(chat_world, chat_world.alice.id, temp_banned_until="2126-01-01T00:00:00.000Z")
    assert (await come_back(chat_world.anyone, provider)).code == "ACCOUNT_SUSPENDED_TEMPORARILY"
    await set_account(chat_world, chat_world.alice.id, temp_banned_until=None)
    (await come_back(chat_world.anyone, provider)).expect(200)


@pytest.mark.parametrize("flag", [UserFlag.DISABLED, UserFlag.SELF_DELETED])
async def test_what_the_holder_closed_is_open_again(chat_world: World, provider: Provider, flag: UserFlag) -> None:
    provider.person["email"] = "alice@example.com"
    await set_account(chat_world, chat_world.alice.id, flags=str(int(flag)))
    body = (await come_back(chat_world.anyone, provider)).expect(200)
    assert body["user_id"] == chat_world.alice.id


async def test_a_limited_account_signs_in(chat_world: World, provider: Provider) -> None:
    provider.person["email"] = "alice@example.com"
    await set_account(chat_world, chat_world.alice.id, flags=str(int(UserFlag.ACCOUNT_LIMITED)))
    (await come_back(chat_world.anyone, provider)).expect(200)


async def test_a_deleted_account_is_nobodys(chat_world: World, provider: Provider) -> None:
    first = (await come_back(chat_world.anyone, provider)).expect(200)
    await set_account(chat_world, first["user_id"], flags=str(int(UserFlag.DELETED)), email=None)
    second = (await come_back(chat_world.anyone, provider)).expect(200)
    assert second["user_id"] != first["user_id"]
    assert (await come_back(chat_world.anyone, provider)).expect(200)["user_id"] == second["user_id"]


async def test_a_bot_does_not_sign_in_here(chat_world: World, provider: Provider) -> None:
    for path in ("start", "complete"):
        answer = await chat_world.bot.rest.post(f"/v1/auth/sso/{path}", {"code": "x", "state": "x"})
        assert (answer.status, answer.code) == (403, "BOT_USER_AUTH_ENDPOINT_ACCESS_DENIED")


# State and code


async def test_a_state_is_good_once(chat_world: World, provider: Provider) -> None:
    begun = await start(chat_world.anyone)
    back = provider.authorize(begun["authorization_url"])
    (await chat_world.anyone.post("/v1/auth/sso/complete", back)).expect(200)
    again = await chat_world.anyone.post("/v1/auth/sso/complete", back)
    assert errors(again) == [("state", "SESSION_TIMEOUT")]


async def test_a_state_lasts_ten_minutes(
    mock_clock: trio.testing.MockClock, moved: MovingClock, chat_world: World, provider: Provider
) -> None:
    early, late = [provider.authorize((await start(chat_world.anyone))["authorization_url"]) for _ in range(2)]
    moved.follow(provider)
    moved.advance(599)
    (await chat_world.anyone.post("/v1/auth/sso/complete", early)).expect(200)
    moved.advance(2)
    answer = await chat_world.anyone.post("/v1/auth/sso/complete", late)
    assert errors(answer) == [("state", "SESSION_TIMEOUT")]


async def test_refusals_of_states_do_not_differ(chat_world: World, provider: Provider) -> None:
    begun = await start(chat_world.anyone)
    (await chat_world.anyone.post("/v1/auth/sso/complete", provider.authorize(begun["authorization_url"]))).expect(200)
    asked = len(provider.requests)
    bodies = {
        (await chat_world.anyone.post("/v1/auth/sso/complete", {"code": "x", "state": state})).body
        for state in (begun["state"], "unknown", "é" * 20, "A" * 43)
    }
    assert len(bodies) == 1
    assert len(provider.requests) == asked


async def test_a_code_goes_with_its_own_state_only(chat_world: World, provider: Provider) -> None:
    mine, theirs = await start(chat_world.anyone), await start(chat_world.anyone)
    stolen = provider.authorize(theirs["authorization_url"])["code"]
    answer = await chat_world.anyone.post("/v1/auth/sso/complete", {"code": stolen, "state": mine["state"]})
    assert errors(answer) == [("code", "INVALID_CODE")]


async def test_a_code_that_the_provider_does_not_know(chat_world: World) -> None:
    begun = await start(chat_world.anyone)
    answer = await chat_world.anyone.post("/v1/auth/sso/complete", {"code": "nonsense", "state": begun["state"]})
    assert errors(answer) == [("code", "INVALID_CODE")]
    again = await chat_world.anyone.post("/v1/auth/sso/complete", {"code": "nonsense", "state": begun["state"]})
    assert errors(again) == [("state", "SESSION_TIMEOUT")]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"code": "x"},
        {"state": "x"},
        {"code": 1, "state": []},
        {"code": "", "state": ""},
        {"code": "x" * 5_000, "state": "x"},
        {"code": "x", "state": "x" * 300},
        [],
        None,
    ],
)
async def test_a_body_that_says_nothing(chat_world: World, body: object) -> None:
    answer = await chat_world.anyone.post("/v1/auth/sso/complete", body)
    assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY")


# Where to


@pytest.mark.parametrize(
    "path",
    [
        "https://evil.example/",
        "//evil.example",
        "///evil.example",
        "/\\evil.example",
        "\\/evil.example",
        "/\tevil",
        "/\n/evil.example",
        " /evil",
        "javascript:alert(1)",
        "channels",
        "/.//evil.example",
        "/x/..//evil.example",
        "/%2e/%2fevil.example",
        "/%2F/evil.example",
        "/%5cevil.example",
        "/é",
        "/" + "x" * 2_048,
    ],
)
async def test_nobody_is_sent_elsewhere(chat_world: World, path: str) -> None:
    answer = await chat_world.anyone.post("/v1/auth/sso/start", {"redirect_to": path})
    assert errors(answer)[0][0] == "redirect_to"


@pytest.mark.parametrize("path", ["/", "/a", "/a/b/", "/a?next=//b", "/a#/../b", "/channels/@me", "/a%20b", "/a.b/..c"])
def test_paths_of_ones_own(path: str) -> None:
    assert is_own_path(path)


async def test_the_return_address_is_the_instances_own(chat_world: World) -> None:
    own = (await chat_world.anyone.get("/v1/auth/sso/status")).expect(200)["redirect_uri"]
    (await chat_world.anyone.post("/v1/auth/sso/start", {"redirect_uri": own})).expect(200)
    for other in ("https://evil.example/auth/sso/callback", own + "/", own.upper(), own + "?x=1"):
        answer = await chat_world.anyone.post("/v1/auth/sso/start", {"redirect_uri": other})
        assert errors(answer) == [("redirect_uri", "INVALID_FORMAT")]


@pytest.mark.chat_settings(**{"sso.enabled": False})
async def test_switched_off_there_is_none(chat_world: World, provider: Provider) -> None:
    status = (await chat_world.anyone.get("/v1/auth/sso/status")).expect(200)
    assert (status["enabled"], status["enforced"]) == (False, False)
    for path, body in (("start", {}), ("complete", {"code": "x", "state": "x"})):
        answer = await chat_world.anyone.post(f"/v1/auth/sso/{path}", body)
        assert (answer.status, answer.code) == (403, "FEATURE_TEMPORARILY_DISABLED")
    assert provider.requests == []


# Keys


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("kid", ["a key", None])
async def test_every_algorithm_that_is_taken(
    chat_world: World, provider: Provider, algorithm: str, kid: str | None
) -> None:
    provider.key = SigningKey.of(algorithm, kid)
    provider.published = [SigningKey.of("ES256", "another").public(), provider.key.public()]
    (await come_back(chat_world.anyone, provider)).expect(200)


@pytest.mark.parametrize("kid", ["key-2", None])
async def test_a_new_key_is_fetched_once(chat_world: World, provider: Provider, kid: str | None) -> None:
    (await come_back(chat_world.anyone, provider)).expect(200)
    provider.rotate("ES256", kid)
    (await come_back(chat_world.anyone, provider)).expect(200)
    (await come_back(chat_world.anyone, provider)).expect(200)
    assert provider.paths().count("/jwks") == 2
    assert provider.paths().count("/.well-known/openid-configuration") == 1
    provider.key = SigningKey("ES256", "unpublished", provider.key.private)
    assert (await come_back(chat_world.anyone, provider)).code == "BAD_GATEWAY"
    assert provider.paths().count("/jwks") == 3


async def test_metadata_and_keys_are_asked_for_again_after_an_hour(
    mock_clock: trio.testing.MockClock, moved: MovingClock, chat_world: World, provider: Provider
) -> None:
    moved.follow(provider)
    (await come_back(chat_world.anyone, provider)).expect(200)
    moved.advance(3_500)
    (await come_back(chat_world.anyone, provider)).expect(200)
    assert provider.paths().count("/.well-known/openid-configuration") == 1
    moved.advance(200)
    (await come_back(chat_world.anyone, provider)).expect(200)
    assert provider.paths().count("/.well-known/openid-configuration") == 2
    assert provider.paths().count("/jwks") == 2


async def test_claims_that_are_told_at_userinfo_only(chat_world: World, provider: Provider) -> None:
    provider.in_userinfo = {"email", "email_verified", "name"}
    body = (await come_back(chat_world.anyone, provider)).expect(200)
    own = (await chat_world.anyone.signed_in(body["token"]).get("/v1/users/@me")).expect(200)
    assert (own["email"], own["global_name"]) == ("zoe@example.com", "Zoë from Málaga")


async def test_a_client_that_proves_itself_in_the_form(chat_world: World, provider: Provider) -> None:
    provider.metadata["token_endpoint_auth_methods_supported"] = ["client_secret_post"]
    (await come_back(chat_world.anyone, provider)).expect(200)
    (asked,) = [asked for asked in provider.requests if asked.path == "/token"]
    assert "authorization" not in asked.headers


async def test_secrets_are_not_in_any_address(chat_world: World, provider: Provider) -> None:
    begun = await start(chat_world.anyone)
    assert "code_verifier" not in begun["authorization_url"]
    back = provider.authorize(begun["authorization_url"])
    (await chat_world.anyone.post("/v1/auth/sso/complete", back)).expect(200)
    (asked,) = [asked for asked in provider.requests if asked.path == "/token"]
    assert asked.form["code"] == back["code"]
    assert asked.form["code_verifier"] not in begun["authorization_url"]
