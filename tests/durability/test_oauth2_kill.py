"""What OAuth2 clients were told survives the server's sudden death, and what was ended stays ended."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from chat.testing import RestClient
from tests.durability.server_process import ServerProcess, running

pytestmark = pytest.mark.long

BACK = "https://app.example.com/back"


async def post_form(server: ServerProcess, client: dict[str, str], path: str, **fields: str) -> tuple[int, Any]:
    shown = {"client_id": client["id"], "client_secret": client["client_secret"], **fields}
    rest = RestClient(server.route)
    answer = await rest.request(
        "POST",
        path,
        body=urlencode(shown).encode(),
        headers={"Content-Type": "application/x-www-form-urlencoded"},
    )
    await rest.aclose()
    return answer.status, answer.json()


async def exchange(server: ServerProcess, client: dict[str, str], code: str) -> tuple[int, Any]:
    fields = {"grant_type": "authorization_code", "code": code, "redirect_uri": BACK}
    return await post_form(server, client, "/v1/oauth2/token", **fields)


async def refresh(server: ServerProcess, client: dict[str, str], token: str) -> tuple[int, Any]:
    return await post_form(server, client, "/v1/oauth2/token", grant_type="refresh_token", refresh_token=token)


async def consent(server: ServerProcess, client: dict[str, str]) -> str:
    body = {"client_id": client["id"], "redirect_uri": BACK, "scope": "identify"}
    answer = (await server.alice.post("/v1/oauth2/authorize/consent", body)).expect(200)
    return parse_qs(urlsplit(answer["redirect_to"]).query)["code"][0]


async def is_good(server: ServerProcess, token: str) -> bool:
    rest = RestClient(server.route, f"Bearer {token}")
    status = (await rest.get("/v1/users/@me")).status
    await rest.aclose()
    return status == 200


async def test_grants_outlive_a_kill(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        body = {"name": "Chess master", "redirect_uris": [BACK]}
        client = (await server.bob.post("/v1/oauth2/applications", body)).expect(200)
        used = await consent(server, client)
        unused = await consent(server, client)
        status, first = await exchange(server, client, used)
        assert status == 200
        status, second = await refresh(server, client, first["refresh_token"])
        assert status == 200
        _, revoked = await exchange(server, client, await consent(server, client))
        assert await post_form(server, client, "/v1/oauth2/token/revoke", token=revoked["refresh_token"]) == (200, {})
        await server.end(signal.SIGKILL)
    async with running(tmp_path) as server:
        assert await is_good(server, first["access_token"])
        assert await is_good(server, second["access_token"])
        assert not await is_good(server, revoked["access_token"])
        assert (await exchange(server, client, unused))[0] == 200
        # That the refresh token and the code were used is known too.
        assert (await refresh(server, client, first["refresh_token"]))[0] == 400
        assert not await is_good(server, second["access_token"])
        assert (await exchange(server, client, used))[0] == 400
