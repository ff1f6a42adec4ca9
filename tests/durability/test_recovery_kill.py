"""What was answered about passwords and addresses holds after the process is killed."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest

from chat.testing import RestClient
from chat.testing.rest_client import Response
from tests.durability.server_process import ServerProcess, running

pytestmark = pytest.mark.long

NEW_PASSWORD = "correct horse battery"


def bob(server: ServerProcess) -> dict[str, Any]:
    return next(user for user in server.world["users"] if user["username"] == "bob")


async def mailed(server: ServerProcess, kind: str) -> str:
    mails = (await server.alice.get("/v1/_dev/mail")).expect(200)
    return next(str(mail["token"]) for mail in reversed(mails) if mail["kind"] == kind)


async def ask(server: ServerProcess, method: str, path: str, body: object = ..., token: str | None = None) -> Response:
    """One request on a connection of its own, without a credential unless one is given."""
    client = RestClient(server.route, token=token)
    try:
        return await client.request(method, path, json=body)
    finally:
        await client.aclose()


async def test_a_reset_is_all_there_or_not_at_all(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        person = bob(server)
        (await server.alice.post("/v1/auth/forgot", {"email": person["email"]})).expect(204)
        token = await mailed(server, "password_reset")
        await server.end(signal.SIGKILL)
    async with running(tmp_path) as server:
        body = {"token": token, "password": NEW_PASSWORD}
        entered = (await ask(server, "POST", "/v1/auth/reset", body)).expect(200)
        await server.end(signal.SIGKILL)
    async with running(tmp_path) as server:
        assert (await ask(server, "GET", "/v1/users/@me", token=entered["token"])).status == 200
        assert (await ask(server, "GET", "/v1/users/@me", token=person["token"])).status == 401
        assert (await ask(server, "POST", "/v1/auth/reset", body)).status == 400
        login = {"email": person["email"], "password": NEW_PASSWORD}
        assert (await ask(server, "POST", "/v1/auth/login", login)).status == 200
        login["password"] = person["password"]
        assert (await ask(server, "POST", "/v1/auth/login", login)).status == 400


async def test_a_change_of_address_goes_on_and_can_be_taken_back(tmp_path: Path) -> None:
    path = "/v1/users/@me/email-change"
    async with running(tmp_path) as server:
        person = bob(server)
        ticket = (await server.bob.post(f"{path}/start")).expect(200)["ticket"]
        code = await mailed(server, "email_change")
        await server.end(signal.SIGKILL)
    async with running(tmp_path) as server:
        proof = (await server.bob.post(f"{path}/verify-original", {"ticket": ticket, "code": code})).expect(200)
        members = {"ticket": ticket, **proof}
        (await server.bob.post(f"{path}/request-new", {**members, "new_email": "new@example.com"})).expect(200)
        members["code"] = await mailed(server, "email_change")
        applied = (await server.bob.post(f"{path}/verify-new", members)).expect(200)
        body = {**applied, "password": person["password"]}
        (await server.bob.post(f"{path}/apply", body)).expect(200)
        token = await mailed(server, "email_revert")
        await server.end(signal.SIGKILL)
    async with running(tmp_path) as server:
        assert (await server.bob.get("/v1/users/@me")).expect(200)["email"] == "new@example.com"
        assert (await server.bob.post(f"{path}/apply", body)).status == 400
        body = {"token": token, "password": NEW_PASSWORD}
        entered = (await ask(server, "POST", "/v1/auth/email-revert", body)).expect(200)
        own = await ask(server, "GET", "/v1/users/@me", token=entered["token"])
        assert own.expect(200)["email"] == person["email"]
