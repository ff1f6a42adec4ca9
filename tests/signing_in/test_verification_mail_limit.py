"""Three verification mails per address per fifteen minutes: a rule, whoever has the address (design 7, mail limits)."""

from __future__ import annotations

import pytest
import trio

from chat.testing.rest_client import Response, RestClient
from chat.testing.world import World
from tests.signing_in.mailed import Clock, mails
from tests.signing_in.signing_in import errors, refusal, set_account

RESEND = "/v1/auth/verify/resend"


@pytest.fixture
async def dave(chat_world: World) -> RestClient:
    """Somebody who has just registered."""
    body = {"email": "dave@example.com", "username": "dave", "password": "correct horse"}
    return chat_world.anyone.signed_in((await chat_world.anyone.register(**body)).expect(200)["token"])


async def use_up(dave: RestClient) -> Response:
    """Two more mails than the one of the registration, and the refusal of a third."""
    for _ in range(2):
        (await dave.post(RESEND)).expect(204)
    return await dave.post(RESEND)


async def test_the_address_counts_and_not_the_account(chat_world: World, dave: RestClient) -> None:
    user_id = (await dave.get("/v1/users/@me")).expect(200)["id"]
    assert refusal(await use_up(dave)) == (429, "RATE_LIMITED")
    await set_account(chat_world, user_id, email="other@example.com")
    (await dave.post(RESEND)).expect(204)
    await set_account(chat_world, user_id, email=None)
    await set_account(chat_world, chat_world.bob.id, email="DAVE@example.com", email_verified=False)
    assert refusal(await chat_world.bob.rest.post(RESEND)) == (429, "RATE_LIMITED")


async def test_a_refused_mail_leaves_no_token(chat_world: World, dave: RestClient, autojump_clock: Clock) -> None:
    refused = await use_up(dave)
    assert len(await mails(chat_world)) == 3
    await trio.sleep(refused.json()["retry_after"])
    (await dave.post(RESEND)).expect(204)
    assert len(await mails(chat_world)) == 4


async def test_nobody_verifies_for_an_account_that_moved_on(chat_world: World, dave: RestClient) -> None:
    (mail,) = await mails(chat_world)
    user_id = (await dave.get("/v1/users/@me")).expect(200)["id"]
    await set_account(chat_world, user_id, email=None)
    answer = await chat_world.anyone.post("/v1/auth/verify", {"token": mail["token"]})
    assert errors(answer) == [("token", "INVALID_OR_EXPIRED_VERIFICATION_TOKEN")]


@pytest.mark.chat_settings(sign_in="username")
async def test_a_username_instance_verifies_nothing(chat_world: World) -> None:
    unavailable = (400, "EMAIL_UNAVAILABLE_ON_INSTANCE")
    assert refusal(await chat_world.bob.rest.post(RESEND)) == unavailable
    assert refusal(await chat_world.anyone.post("/v1/auth/verify", {"token": "x"})) == unavailable
