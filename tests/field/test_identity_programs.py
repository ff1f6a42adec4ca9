"""Other people's identity programs: a provider from PyPI that people sign in at, and Authlib as a client of the OAuth2
that we offer. Both share no line with ours."""

from __future__ import annotations

import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
import trio

from chat.testing.server import open_chat_server
from chat.testing.world import Actor, World

with warnings.catch_warnings(record=True):  # they warn of one another's old names, whatever is ignored
    import oidc_provider_mock
    from authlib.integrations.requests_client import OAuth2Session, OAuthError

pytestmark = [pytest.mark.long, pytest.mark.trio, pytest.mark.filterwarnings("ignore")]

VERIFIER: Final = "a-verifier-of-forty-three-characters-or-more"


@contextmanager
def foreign_provider(**claims: Any) -> Iterator[str]:
    """The issuer of a running provider that knows one person, `zoe`."""
    zoe = oidc_provider_mock.User(sub="zoe", claims={"name": "Zoë", "preferred_username": "zoe", **claims})
    with oidc_provider_mock.run_server_in_thread(user_claims=[zoe], require_nonce=True) as server:
        yield f"http://localhost:{server.server_port}"


async def signed_in(world: World) -> dict[str, Any]:
    """The account that a person has who goes to the provider and comes back."""
    begun = (await world.anyone.post("/v1/auth/sso/start", {})).expect(200)
    agree = partial(httpx.post, begun["authorization_url"], data={"sub": "zoe"}, trust_env=False)
    back = (await trio.to_thread.run_sync(agree)).headers["location"]
    returned = {name: values[0] for name, values in parse_qs(urlsplit(back).query).items()}
    body = (await world.anyone.post("/v1/auth/sso/complete", returned)).expect(200)
    own: dict[str, Any] = (await world.anyone.signed_in(body["token"]).get("/v1/users/@me")).expect(200)
    return own


ADDRESS: Final = {"email": "zoe@example.com"}
MOODS: Final[dict[str, tuple[dict[str, Any], bool, str | None]]] = {
    "says that it is verified": (ADDRESS | {"email_verified": True}, False, "zoe@example.com"),
    "says so in text, as Cognito": (ADDRESS | {"email_verified": "true"}, False, "zoe@example.com"),
    "does not say, as Entra": (ADDRESS, False, None),
    "does not say, and the operator vouches": (ADDRESS, True, "zoe@example.com"),
    "says that it is not, whoever vouches": (ADDRESS | {"email_verified": False}, True, None),
    "with many groups": (
        ADDRESS | {"email_verified": True, "groups": [f"group-{number:030}" for number in range(1_000)]},
        False,
        "zoe@example.com",
    ),
}


@pytest.mark.parametrize("mood", MOODS)
async def test_people_come_from_a_foreign_provider(tmp_path: Path, mood: str) -> None:
    claims, trusted, address = MOODS[mood]
    with foreign_provider(**claims) as issuer:
        settings = {
            "sso.enabled": True,
            "sso.issuer": issuer,
            "sso.client_id": "chat",
            "sso.client_secret": "any",
            "sso.auto_provision": True,
            "sso.trust_email": trusted,
        }
        async with open_chat_server(tmp_path, seed=1, settings=settings) as server, trio.open_nursery() as nursery:
            world = World(server.description(), server.route(), nursery)
            own = await signed_in(world)
            assert (own["username"], own["global_name"]) == ("zoe", "Zoë")
            assert (own["email"], own["verified"]) == (address, address is not None)
            assert (await signed_in(world))["id"] == own["id"]
            nursery.cancel_scope.cancel()


# Authlib as a client


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[tuple[World, str]]:
    """A server on a real port, and its origin."""
    async with open_chat_server(tmp_path, seed=1, sockets=True) as server, trio.open_nursery() as nursery:
        async with World(server.description(), server.route(), nursery) as world:
            yield world, f"http://{server.route().host}"
        nursery.cancel_scope.cancel()


async def consent(person: Actor, url: str) -> str:
    """What the consent page does with an authorisation address: where it sends the browser."""
    asked = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
    redirect_to: str = (await person.rest.post("/v1/oauth2/authorize/consent", asked)).expect(200)["redirect_to"]
    return redirect_to


async def run(call: Callable[[], Any]) -> Any:
    """Authlib knows no Trio."""
    return await trio.to_thread.run_sync(call)


@pytest.mark.parametrize(
    ("method", "back", "public", "pkce"),
    [
        ("client_secret_basic", "https://app.example.com/back", False, False),
        ("client_secret_basic", "https://app.example.com/back", False, True),
        ("client_secret_post", "https://app.example.com/back", False, True),
        ("none", "http://127.0.0.1:8400/back", False, True),
        ("none", "com.example.app:/back", False, True),
        ("none", "https://app.example.com/back", True, True),
        ("none", "https://app.example.com/back", False, True),  # refused
    ],
)
async def test_authlib_gets_renews_and_ends_its_tokens(
    served: tuple[World, str], method: str, back: str, public: bool, pkce: bool
) -> None:
    world, origin = served
    body = {"name": "Authlib", "redirect_uris": [back], "public_client": public}
    made = (await world.bob.rest.post("/v1/oauth2/applications", body)).expect(200)
    with OAuth2Session(
        made["id"],
        None if method == "none" else made["client_secret"],
        scope="identify email",
        redirect_uri=back,
        token_endpoint_auth_method=method,
        revocation_endpoint_auth_method=method,
        code_challenge_method="S256" if pkce else None,
    ) as session:
        session.trust_env = False
        verifier = {"code_verifier": VERIFIER} if pkce else {}
        url, _ = session.create_authorization_url(f"{origin}/v1/oauth2/authorize", **verifier)
        answer = await consent(world.alice, url)
        fetch = partial(session.fetch_token, f"{origin}/v1/oauth2/token", authorization_response=answer, **verifier)
        if method == "none" and back.startswith("https") and not public:
            with pytest.raises(OAuthError, match="invalid_client"):
                await run(fetch)
            return
        tokens = await run(fetch)
        own = await run(lambda: session.get(f"{origin}/v1/users/@me").json())
        assert (own["id"], own["email"]) == (world.alice.id, world.alice.email)
        renewed = await run(lambda: session.refresh_token(f"{origin}/v1/oauth2/token", tokens["refresh_token"]))
        assert renewed["access_token"] != tokens["access_token"]
        ended = await run(lambda: session.revoke_token(f"{origin}/v1/oauth2/token/revoke", renewed["refresh_token"]))
        assert ended.status_code == 200
        gone = partial(session.get, f"{origin}/v1/users/@me", withhold_token=True)
        headers = {"Authorization": f"Bearer {renewed['access_token']}"}
        assert (await run(partial(gone, headers=headers))).status_code == 401
