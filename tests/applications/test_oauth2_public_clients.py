"""Who needs the client secret: every combination of secret, PKCE, redirect address and `public_client` (RFC 6749 2.1
and 6, RFC 7009 2.1, RFC 8252 8.5)."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import pytest

from chat.domain.applications.oauth2_protocol import is_native_redirect
from chat.testing.rest_client import Response
from chat.testing.world import World
from tests.applications.oauth2_client import CHALLENGE, VERIFIER, OAuth2Client, parameters, refusal

ADDRESSES = {
    "https": "https://app.example.com/back",
    "loopback": "http://127.0.0.1:8400/back",
    "loopback of IPv6": "http://[::1]/back",
    "localhost": "http://localhost:3000/back",
    "own scheme": "com.example.app:/back",
}
SECRETS: Mapping[str, str | None] = {"right": "", "wrong": "a wrong secret", "missing": None}


def expected(secret: str, *, pkce: bool, native: bool, public: bool) -> tuple[int, str | None]:
    """Status and `error` of an exchange."""
    if secret == "right":
        return 200, None
    if secret == "missing" and pkce and (native or public):
        return 200, None
    return 401, "invalid_client"


def shown(client: OAuth2Client, secret: str) -> Mapping[str, Any]:
    """How a client shows itself: by Basic with a secret, by its id alone without."""
    return {"secret": SECRETS[secret], **({"client_id": client.id} if secret == "missing" else {})}


def outcome(answer: Response) -> tuple[int, str | None]:
    return (200, None) if answer.status == 200 else (answer.status, refusal(answer, answer.status))


@pytest.mark.parametrize("address", ADDRESSES)
def test_which_addresses_are_of_the_users_own_machine(address: str) -> None:
    assert is_native_redirect(ADDRESSES[address]) == (address != "https")


@pytest.mark.parametrize("public", [True, False], ids=["public", "confidential"])
@pytest.mark.parametrize("address", ADDRESSES)
async def test_every_combination(chat_world: World, address: str, public: bool) -> None:
    back = ADDRESSES[address]
    client = await OAuth2Client.make(chat_world, redirect_uris=[back, "https://other.example/"], public_client=public)
    native = address != "https"
    for secret, pkce in itertools.product(SECRETS, (True, False)):
        challenge = CHALLENGE if pkce else {}
        asked = await client.ask(chat_world.alice, redirect_uri=back, **challenge)
        code = parameters(asked.expect(200)["redirect_to"])["code"]
        fields = {"redirect_uri": back, **({"code_verifier": VERIFIER} if pkce else {})}
        answer = await client.exchange(code, **{**fields, **shown(client, secret)})
        case = (address, public, secret, pkce)
        assert outcome(answer) == expected(secret, pkce=pkce, native=native, public=public), case
        came_without = secret == "missing" and answer.status == 200
        if answer.status != 200:  # a refusal burns no code
            answer = await client.exchange(code, **fields)
        await _go_on(client, answer.expect(200), came_without=came_without)


async def _go_on(client: OAuth2Client, tokens: dict[str, Any], *, came_without: bool) -> None:
    """Refresh and revoke: with the secret always, without it only what came without."""
    for secret in ("wrong", "missing", "right"):
        is_let = secret == "right" or (secret == "missing" and came_without)
        refreshed = await client.refresh(tokens["refresh_token"], **shown(client, secret))
        assert outcome(refreshed) == ((200, None) if is_let else (401, "invalid_client")), secret
        tokens = refreshed.json() if is_let else tokens
        revoked = await client.revoke(tokens["access_token"], **shown(client, secret))
        assert outcome(revoked) == ((200, None) if is_let else (401, "invalid_client")), secret
        assert await client.works(tokens["access_token"]) != is_let


async def test_an_application_that_is_public_no_more_shows_its_secret(chat_world: World) -> None:
    client = await OAuth2Client.make(chat_world, public_client=True)
    code = await client.code(chat_world.alice, **CHALLENGE)
    fields = {"client_id": client.id, "code_verifier": VERIFIER}
    tokens = (await client.exchange(code, secret=None, **fields)).expect(200)
    path = f"/v1/oauth2/applications/{client.id}"
    changed = (await chat_world.bob.rest.patch(path, {"public_client": False})).expect(200)
    assert changed["public_client"] is False
    refused = await client.refresh(tokens["refresh_token"], secret=None, client_id=client.id)
    assert refusal(refused, 401) == "invalid_client"
    assert (await client.refresh(tokens["refresh_token"])).status == 200


async def test_an_address_that_is_registered_no_more_excuses_nothing(chat_world: World) -> None:
    back = ADDRESSES["loopback"]
    client = await OAuth2Client.make(chat_world, redirect_uris=[back])
    asked = await client.ask(chat_world.alice, redirect_uri=back, **CHALLENGE)
    code = parameters(asked.expect(200)["redirect_to"])["code"]
    path = f"/v1/oauth2/applications/{client.id}"
    (await chat_world.bob.rest.patch(path, {"redirect_uris": []})).expect(200)
    fields = {"redirect_uri": back, "code_verifier": VERIFIER}
    assert refusal(await client.exchange(code, secret=None, client_id=client.id, **fields), 401) == "invalid_client"
    assert (await client.exchange(code, **fields)).status == 200
