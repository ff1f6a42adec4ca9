"""Providers as they are: what each publishes and tells, and who comes of it.

The settings are those that the manual names (chat/manual/single-sign-on.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import attrs
import pytest
import structlog
import trio
from going import come_back, start
from provider import CLIENT_ID, Provider, SigningKey

from chat.testing.server import ChatServer, open_chat_server
from chat.testing.world import World
from tests.loopback_http import Answer

BOTH_METHODS: Final = ["client_secret_post", "client_secret_basic"]


@attrs.frozen(kw_only=True)
class Mood:
    """How a provider is. `told` changes the claims of the id token, where None leaves one out; `at_userinfo` those of
    userinfo, None when it refuses; `address` is whether an address comes of it, without and with `sso.trust_email`."""

    algorithm: str = "RS256"
    algorithms: tuple[str, ...] = ("RS256",)
    key_members: tuple[str, ...] = ("kty", "kid", "n", "e", "use", "alg", "crv", "x", "y")
    methods: list[str] = attrs.field(factory=lambda: BOTH_METHODS)
    told: Mapping[str, Any] = attrs.field(factory=dict)
    at_userinfo: Mapping[str, Any] | None = attrs.field(factory=dict)
    address: tuple[bool, bool] = (True, True)


MOODS: Final[Mapping[str, Mood]] = {
    "Entra ID": Mood(
        key_members=("kty", "kid", "n", "e", "use"),
        methods=["client_secret_post", "private_key_jwt", "client_secret_basic"],
        told={"email_verified": None, "tid": "9188040d", "oid": "0000", "ver": "2.0", "rh": "0.A", "uti": "x"},
        at_userinfo={"email_verified": None, "picture": "https://graph.microsoft.com/v1.0/me/photo/$value"},
        address=(False, True),
    ),
    "Entra ID, whose userinfo refuses": Mood(
        key_members=("kty", "kid", "n", "e", "use"),
        told={"email_verified": None},
        at_userinfo=None,
        address=(False, True),
    ),
    "Entra ID with some hundred groups": Mood(
        told={"email_verified": None, "groups": [f"{number:08x}-0000-4000-8000-000000000000" for number in range(500)]},
        at_userinfo={"email_verified": None},
        address=(False, True),
    ),
    "Cognito": Mood(
        told={"email": None, "email_verified": None, "token_use": "id", "cognito:username": "zoe-1", "jti": "1"},
        at_userinfo={"email_verified": "true", "username": "zoe-1"},
    ),
    "Cognito, all in the id token": Mood(
        told={"email_verified": "true", "cognito:groups": ["staff"]}, at_userinfo=None
    ),
    "Cognito, of an address that nobody verified": Mood(
        told={"email": None, "email_verified": None}, at_userinfo={"email_verified": "false"}, address=(False, False)
    ),
    "Keycloak": Mood(
        algorithms=("PS384", "RS384", "EdDSA", "ES384", "HS256", "HS512", "ES256", "RS256", "HS384", "ES512", "RS512"),
        methods=["private_key_jwt", "client_secret_basic", "client_secret_post", "tls_client_auth"],
        told={"azp": CLIENT_ID, "typ": "ID", "sid": "1", "acr": "1", "at_hash": "x", "auth_time": 1},
    ),
    "Keycloak, RS512": Mood(algorithm="RS512", algorithms=("RS256", "RS512"), told={"azp": CLIENT_ID}),
    "Keycloak, of an address that nobody verified": Mood(told={"email_verified": False}, address=(False, False)),
    "Authentik": Mood(told={"acr": "goauthentik.io/providers/oauth2/default", "amr": ["pwd"], "groups": ["staff"]}),
    "Authentik, whose mapping verifies nothing": Mood(told={"email_verified": False}, address=(False, False)),
    "Authentik with a key on a curve": Mood(algorithm="ES256", algorithms=("ES256",)),
    "Google": Mood(told={"azp": CLIENT_ID, "hd": "example.com", "at_hash": "x", "picture": "https://lh3.example/a"}),
    "Okta, a thin id token": Mood(
        methods=["client_secret_basic", "client_secret_post", "client_secret_jwt", "private_key_jwt", "none"],
        told={"email": None, "email_verified": None, "name": None, "ver": 1, "idp": "00o", "amr": ["pwd"]},
    ),
    "GitLab": Mood(
        told={"auth_time": 1, "sub_legacy": "abc", "groups_direct": ["staff"], "nickname": "zoe"},
        at_userinfo={"groups": ["staff"], "nickname": "zoe"},
    ),
    "one that signs on P-521": Mood(algorithm="ES512", algorithms=("ES512",)),
    "one that publishes the form alone": Mood(methods=["client_secret_post"]),
}


def assume(provider: Provider, mood: Mood) -> None:
    """Have the provider be like this."""
    provider.key = SigningKey.of(mood.algorithm)
    public = provider.key.public()
    provider.published = [{name: public[name] for name in mood.key_members if name in public}]
    provider.metadata = {
        "id_token_signing_alg_values_supported": list(mood.algorithms),
        "token_endpoint_auth_methods_supported": mood.methods,
    }
    provider.claims = dict(mood.told)
    if mood.at_userinfo is None:
        provider.answers["/userinfo"] = Answer(403, {"error": {"code": "Forbidden"}})
    else:
        provider.userinfo = dict(mood.at_userinfo)


async def own_account(world: World, provider: Provider) -> dict[str, Any]:
    """Sign in, and read the account that this leads to."""
    body = (await come_back(world.anyone, provider)).expect(200)
    own: dict[str, Any] = (await world.anyone.signed_in(body["token"]).get("/v1/users/@me")).expect(200)
    return own


async def is_as_expected(world: World, provider: Provider, *, address: bool) -> None:
    """A newcomer, and somebody whose account is here."""
    own = await own_account(world, provider)
    assert (own["email"], own["verified"]) == (("zoe@example.com", True) if address else (None, False))
    assert (await own_account(world, provider))["id"] == own["id"]
    provider.person |= {"sub": "a-1", "email": "alice@example.com"}
    assert ((await own_account(world, provider))["id"] == world.alice.id) == address


@pytest.mark.parametrize("name", MOODS)
async def test_a_provider_as_it_is(chat_world: World, provider: Provider, name: str) -> None:
    assume(provider, MOODS[name])
    await is_as_expected(chat_world, provider, address=MOODS[name].address[0])


@pytest.mark.chat_settings(**{"sso.trust_email": True})
@pytest.mark.parametrize("name", MOODS)
async def test_a_provider_that_the_operator_vouches_for(chat_world: World, provider: Provider, name: str) -> None:
    assume(provider, MOODS[name])
    await is_as_expected(chat_world, provider, address=MOODS[name].address[1])


@pytest.mark.chat_settings(**{"sso.trust_email": True})
@pytest.mark.parametrize("verified", [False, "false", 1, "yes", ["true"]])
async def test_vouching_is_for_what_is_not_said(chat_world: World, provider: Provider, verified: object) -> None:
    provider.person |= {"sub": "a-1", "email": "alice@example.com", "email_verified": verified}
    own = await own_account(chat_world, provider)
    assert (own["id"] == chat_world.alice.id, own["email"]) == (False, None)


@pytest.mark.parametrize(
    ("told", "at_userinfo"),
    [
        ({"email_verified": None}, {"email": "mallory@example.com", "email_verified": True}),
        ({"email": None, "email_verified": True}, {"email_verified": False}),
    ],
)
async def test_an_address_is_verified_by_what_is_said_of_it(
    chat_world: World, provider: Provider, told: dict[str, Any], at_userinfo: dict[str, Any]
) -> None:
    assume(provider, Mood(told=told, at_userinfo=at_userinfo))
    provider.person |= {"sub": "m-1", "email": "alice@example.com"}
    own = await own_account(chat_world, provider)
    assert (own["id"] == chat_world.alice.id, own["email"]) == (False, None)


async def test_accounts_without_an_address_have_it_once_it_counts(
    chat_world: World, provider: Provider, chat_server_options: dict[str, Any], chat_server: ChatServer
) -> None:
    provider.person["email_verified"] = "no idea"
    own = await own_account(chat_world, provider)
    assert own["email"] is None
    provider.person["email_verified"] = "true"
    after = await own_account(chat_world, provider)
    assert (after["id"], after["email"], after["verified"]) == (own["id"], "zoe@example.com", True)
    provider.person["email"] = "alice@example.com"  # the address changes there: nothing changes here
    assert (await own_account(chat_world, provider))["email"] == "zoe@example.com"


async def test_an_address_that_another_has_is_not_given_twice(chat_world: World, provider: Provider) -> None:
    provider.person |= {"email": "alice@example.com", "email_verified": False}
    own = await own_account(chat_world, provider)
    provider.person["email_verified"] = True
    assert (await own_account(chat_world, provider)) == own
    assert own["email"] is None


@pytest.mark.parametrize(
    ("written", "told", "named"),
    [
        ("{}/", "{}", "differ by the slash at the end"),
        ("{}", "{}/", "differ by the slash at the end"),
        ("{}/realms/a", "{}/realms/b", ""),
        ("{}", 5, "does not say"),
    ],
)
async def test_another_issuer_is_named_beside_the_setting(
    chat_server_options: dict[str, Any], provider: Provider, written: str, told: object, named: str
) -> None:
    setting = written.format(provider.issuer)
    told = told.format(provider.issuer) if isinstance(told, str) else told
    provider.metadata = {"issuer": told}
    chat_server_options["settings"]["sso.issuer"] = setting
    async with open_chat_server(**chat_server_options) as server, trio.open_nursery() as nursery:
        world = World(server.description(), server.route(), nursery)
        document = "/.well-known/openid-configuration"
        provider.answers[f"/realms/a{document}"] = Answer(200, {"issuer": told})
        with structlog.testing.capture_logs() as logged:
            answer = await world.anyone.post("/v1/auth/sso/start", {})
        assert (answer.status, answer.code) == (502, "BAD_GATEWAY")
        (problem,) = [entry["problem"] for entry in logged if "problem" in entry]
        assert named in problem
        if isinstance(told, str):
            assert repr(told) in problem
            assert repr(setting) in problem
        nursery.cancel_scope.cancel()


async def test_the_issuer_is_the_providers_letter_by_letter(
    chat_server_options: dict[str, Any], provider: Provider
) -> None:
    provider.metadata = provider.claims = {"iss": f"{provider.issuer}/", "issuer": f"{provider.issuer}/"}
    chat_server_options["settings"]["sso.issuer"] = f"{provider.issuer}/"
    async with open_chat_server(**chat_server_options) as server, trio.open_nursery() as nursery:
        world = World(server.description(), server.route(), nursery)
        await start(world.anyone)
        assert (await own_account(world, provider))["email"] == "zoe@example.com"
        nursery.cancel_scope.cancel()
