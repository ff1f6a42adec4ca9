"""Bots on the authentication family (document 000, Outcomes; design 7).

Area: signing_in. Rules: 000.outcomes.
"""

from __future__ import annotations

import sqlite3

import attrs
import pytest

from chat.api.operation import Operation
from chat.api.routes.every import ROUTES
from chat.store.accounts import accounts
from chat.testing.rest_client import RestClient
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.signing_in.signing_in import Holder, refusal

DENIED = (403, "BOT_USER_AUTH_ENDPOINT_ACCESS_DENIED")
OPEN = ("/v1/auth/logout", "/v1/auth/sso/status")
"""A bot may call these: the first has no effect on it, the second tells everybody how the instance signs people in."""

FAMILY = [
    operation
    for routes in ROUTES
    for operation in routes.operations
    if operation.path.startswith("/v1/auth/") and operation.path not in OPEN
]


def path_of(operation: Operation) -> str:
    """A path that names the operation."""
    return operation.path.replace("{token}", "x" * 64).replace("{code}", "x")


@pytest.mark.rule("000.outcomes.15")
@pytest.mark.parametrize("operation", FAMILY, ids=lambda operation: f"{operation.method} {operation.path}")
async def test_a_bot_token_opens_no_authentication_route(chat_world: World, operation: Operation) -> None:
    answer = await chat_world.bot.rest.request(operation.method, path_of(operation))
    assert refusal(answer) == DENIED
    stranger = await chat_world.anyone.request(operation.method, path_of(operation))
    assert refusal(stranger) != DENIED, "it is the bot that is refused"


@pytest.mark.rule("000.outcomes.16")
async def test_logging_a_bot_out_does_nothing(chat_world: World) -> None:
    assert (await chat_world.bot.rest.post("/v1/auth/logout")).status == 204
    assert (await chat_world.bot.rest.get("/v1/users/@me")).status == 200


@pytest.mark.rule("000.outcomes.14")
@pytest.mark.chat_settings(sign_in="username")
async def test_a_username_that_leads_to_a_bot(chat_world: World) -> None:
    bot = (await chat_world.bot.rest.get("/v1/users/@me")).expect(200)
    login = await chat_world.anyone.login(username=bot["username"], password="whatever it is")
    assert refusal(login) == DENIED


@pytest.mark.rule("000.outcomes.14")
async def test_an_address_that_leads_to_a_bot(chat_world: World) -> None:
    path = f"/v1/_dev/users/{chat_world.bot.id}"
    (await chat_world.anyone.post(path, {"email": "robot@example.com"})).expect(200)
    login = await chat_world.anyone.login(email="ROBOT@example.com", password="whatever it is")
    assert refusal(login) == DENIED


@pytest.mark.rule("000.outcomes.14")
@pytest.mark.chat_settings(ip_authorization=True)
async def test_who_becomes_a_bot_on_the_way_does_not_arrive(chat_server: ChatServer, chat_world: World) -> None:
    bob = Holder(chat_server, chat_world, chat_world.bob)
    elsewhere = RestClient(chat_server.route("198.51.100.7"))
    (await bob.login()).expect(200)
    waiting = (await bob.login(elsewhere)).json()["ticket"]
    (mail,) = (await chat_world.anyone.get("/v1/_dev/mail")).expect(200)
    await bob.enable_totp()
    await bob.add_passkey(mfa_method="totp", mfa_code=bob.phone.code())
    ticket = await bob.ticket()

    def become_a_bot(connection: sqlite3.Connection) -> None:
        account = accounts.by_id(connection, int(bob.person.id))
        assert account is not None
        accounts.replace(connection, attrs.evolve(account, bot=True))

    await chat_server.database.write(become_a_bot)
    query = {"ticket": waiting}
    assert refusal(await bob.login()) == DENIED
    assert refusal(await bob.show_code(ticket, bob.backup_codes[0])) == DENIED
    assert refusal(await bob.show_key_alone()) == DENIED
    assert refusal(await chat_world.anyone.get("/v1/auth/ip-authorization/poll", query)) == DENIED
    assert refusal(await chat_world.anyone.post("/v1/auth/ip-authorization/resend", query)) == DENIED
    assert refusal(await chat_world.anyone.post("/v1/auth/authorize-ip", {"token": mail["token"]})) == DENIED
