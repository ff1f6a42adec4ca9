"""Signing in on a server in a process of its own, with its threads and real sockets, killed on the way."""

from __future__ import annotations

import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pyotp
import pytest
import trio

from chat.testing.rest_client import Response, RestClient
from tests.durability.server_process import ServerProcess, running

pytestmark = pytest.mark.long

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
HOME = {"X-Test-Address": "192.0.2.1"}
ELSEWHERE = {"X-Test-Address": "198.51.100.7"}


def code(steps: int = 0) -> str:
    return pyotp.TOTP(SECRET).generate_otp(int(time.time()) // 30 + steps)


@asynccontextmanager
async def visitor(server: ServerProcess, place: dict[str, str]) -> AsyncIterator[RestClient]:
    """A client without credential at this place."""
    client = RestClient(server.route, headers=place)
    try:
        yield client
    finally:
        await client.aclose()


async def login(server: ServerProcess, place: dict[str, str]) -> Response:
    bob = next(user for user in server.world["users"] if user["username"] == "bob")
    async with visitor(server, place) as client:
        return await client.login(email=bob["email"], password=bob["password"])


async def show(server: ServerProcess, ticket: str, given: str) -> Response:
    async with visitor(server, ELSEWHERE) as client:
        return await client.post("/v1/auth/login/mfa/totp", {"ticket": ticket, "code": given})


async def poll(server: ServerProcess, ticket: str) -> Response:
    async with visitor(server, ELSEWHERE) as client:
        return await client.get("/v1/auth/ip-authorization/poll", {"ticket": ticket})


async def test_a_login_goes_on_where_it_was_after_kills(tmp_path: Path) -> None:
    data = tmp_path / "data"
    environment = {"CHAT_IP_AUTHORIZATION": "true"}
    async with running(data, **environment) as server:
        (await login(server, HOME)).expect(200)
        if time.time() % 30 > 25:  # the code of the step before is taken until the present one ends
            await trio.sleep(6)
        body = {"secret": SECRET, "code": code(-1), "password": server.world["users"][1]["password"]}
        enabled = await server.bob.post("/v1/users/@me/mfa/totp/enable", body)
        codes = [entry["code"] for entry in enabled.expect(200)["backup_codes"]]
        ticket = (await login(server, ELSEWHERE)).expect(200)["ticket"]
        await server.end(signal.SIGKILL)
    async with running(data, **environment) as server:
        answers: list[Response] = []

        async def show_one(given: str) -> None:
            answers.append(await show(server, ticket, given))

        async with trio.open_nursery() as nursery:
            for given in codes[:5]:
                nursery.start_soon(show_one, given)
        (waits,) = [answer for answer in answers if answer.status == 403]
        assert waits.code == "IP_AUTHORIZATION_REQUIRED"
        assert [answer.code for answer in answers if answer is not waits] == ["INVALID_FORM_BODY"] * 4
        async with visitor(server, HOME) as client:
            (mail,) = (await client.get("/v1/_dev/mail")).expect(200)
        await server.end(signal.SIGKILL)
    async with running(data, **environment) as server:
        async with visitor(server, HOME) as client:
            assert (await client.post("/v1/auth/authorize-ip", {"token": mail["token"]})).status == 204
        await server.end(signal.SIGKILL)
    async with running(data, **environment) as server:
        tokens = set()

        async def poll_once() -> None:
            tokens.add((await poll(server, waits.json()["ticket"])).expect(200)["token"])

        async with trio.open_nursery() as nursery:
            for _ in range(5):
                nursery.start_soon(poll_once)
        (token,) = tokens
        signed_in = RestClient(server.route, token)
        assert (await signed_in.get("/v1/users/@me")).expect(200)["username"] == "bob"
        await signed_in.aclose()
        spent = 0
        for given in codes[:5]:
            left = (await login(server, ELSEWHERE)).expect(200)["ticket"]
            spent += (await show(server, left, given)).status != 200
        assert spent == 1, "only the code that got in is spent"
