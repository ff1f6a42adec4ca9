"""Registrations that an administrator approves, and instances that take none (wire facts 6.1; design 7)."""

from __future__ import annotations

from typing import Any

import pytest

from chat.testing.rest_client import RestClient
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.signing_in.signing_in import Holder, errors, holder_of, refusal


@pytest.fixture
def chat_server_options(chat_server_options: dict[str, Any], request: pytest.FixtureRequest) -> dict[str, Any]:
    """Settings of a test may also come from its parameters."""
    return {**chat_server_options, "settings": {**chat_server_options["settings"], **getattr(request, "param", {})}}


DAVE = {"email": "dave@example.com", "username": "dave", "password": "correct horse"}
CREDENTIALS = {"email": DAVE["email"], "password": DAVE["password"]}
PENDING = (403, "REGISTRATION_PENDING_APPROVAL")

approval = pytest.mark.chat_settings(registration="approval")


@approval
async def test_who_registers_waits(chat_server: ChatServer, chat_world: World) -> None:
    body = (await chat_world.anyone.register(**DAVE)).expect(200)
    assert body == {"registration_pending_approval": True, "user_id": body["user_id"]}
    assert refusal(await chat_world.anyone.login(**CREDENTIALS)) == PENDING
    registrations = chat_server.server.areas.signing_in.pending_registrations
    ((account, pending),) = await registrations.waiting()
    assert (str(account.id), pending.address) == (body["user_id"], "127.0.0.1")
    assert await registrations.approve(account.id)
    assert await holder_of(chat_world, await chat_world.anyone.login(**CREDENTIALS)) == body["user_id"]


@approval
async def test_who_does_not_know_the_password_learns_nothing_of_it(chat_world: World) -> None:
    (await chat_world.anyone.register(**DAVE)).expect(200)
    wrong = await chat_world.anyone.login(email=DAVE["email"], password="wrong password")
    unknown = await chat_world.anyone.login(email="nobody@example.com", password="wrong password")
    assert wrong.body == unknown.body


@approval
async def test_who_is_turned_down_is_told_so(chat_server: ChatServer, chat_world: World) -> None:
    user_id = (await chat_world.anyone.register(**DAVE)).expect(200)["user_id"]
    registrations = chat_server.server.areas.signing_in.pending_registrations
    assert await registrations.reject(int(user_id))
    assert refusal(await chat_world.anyone.login(**CREDENTIALS)) == (403, "REGISTRATION_REJECTED")
    assert await registrations.waiting() == []
    assert errors(await chat_world.anyone.register(**DAVE)) == [("email", "EMAIL_ALREADY_IN_USE")]
    assert await registrations.approve(int(user_id))
    (await chat_world.anyone.login(**CREDENTIALS)).expect(200)


@approval
async def test_the_address_can_be_verified_while_waiting(chat_world: World) -> None:
    (await chat_world.anyone.register(**DAVE)).expect(200)
    (mail,) = (await chat_world.anyone.get("/v1/_dev/mail")).expect(200)
    assert (mail["kind"], mail["to"]) == ("verification", DAVE["email"])
    assert (await chat_world.anyone.post("/v1/auth/verify", {"token": mail["token"]})).status == 204
    assert refusal(await chat_world.anyone.login(**CREDENTIALS)) == PENDING


@approval
async def test_accounts_that_were_there_before_are_not_asked(chat_server: ChatServer, chat_world: World) -> None:
    bob = Holder(chat_server, chat_world, chat_world.bob)
    assert await holder_of(chat_world, await bob.login()) == bob.person.id
    registrations = chat_server.server.areas.signing_in.pending_registrations
    assert not await registrations.approve(int(bob.person.id))
    assert not await registrations.reject(int(bob.person.id))


@approval
@pytest.mark.chat_settings(sign_in="username")
async def test_usernames_wait_too(chat_server: ChatServer, chat_world: World) -> None:
    credentials = {"username": "dave", "password": "correct horse"}
    user_id = (await chat_world.anyone.register(**credentials)).expect(200)["user_id"]
    assert refusal(await chat_world.anyone.login(**credentials)) == PENDING
    assert await chat_server.server.areas.signing_in.pending_registrations.approve(int(user_id))
    assert await holder_of(chat_world, await chat_world.anyone.login(**credentials)) == user_id


@approval
@pytest.mark.chat_settings(ip_authorization=True)
async def test_the_address_of_the_registration_is_authorized(chat_server: ChatServer, chat_world: World) -> None:
    there = RestClient(chat_server.route("192.0.2.1"))
    user_id = (await there.register(**DAVE)).expect(200)["user_id"]
    elsewhere = RestClient(chat_server.route("198.51.100.7"))
    assert refusal(await elsewhere.login(**CREDENTIALS)) == PENDING
    assert await chat_server.server.areas.signing_in.pending_registrations.approve(int(user_id))
    assert (await elsewhere.login(**CREDENTIALS)).code == "IP_AUTHORIZATION_REQUIRED"
    (await there.login(**CREDENTIALS)).expect(200)


@approval
@pytest.mark.parametrize("members", [{"password": "short"}, {"username": "white space"}, {"email": "nobody"}])
async def test_what_cannot_be_taken_does_not_wait(
    chat_server: ChatServer, chat_world: World, members: dict[str, str]
) -> None:
    errors(await chat_world.anyone.register(**{**DAVE, **members}))
    assert await chat_server.server.areas.signing_in.pending_registrations.waiting() == []


@pytest.mark.parametrize(
    "chat_server_options",
    [{"registration": "open"}, {"registration": "approval"}, {"registration": "closed"}],
    indirect=True,
    ids=str,
)
async def test_this_instance_gives_out_no_registration_links(chat_world: World) -> None:
    answer = await chat_world.anyone.register(**DAVE, registration_url_code="nothing")
    assert refusal(answer) == (400, "REGISTRATION_URL_INVALID")
    long = await chat_world.anyone.register(**DAVE, registration_url_code="x" * 257)
    assert errors(long) == [("registration_url_code", "CONTENT_EXCEEDS_MAX_LENGTH")]


@pytest.mark.chat_settings(registration="closed")
async def test_a_closed_instance_takes_nobody_and_lets_everybody_in(chat_server: ChatServer, chat_world: World) -> None:
    invite = (await chat_world.alice.rest.create_channel_invite(chat_world.channel_id)).expect(200)
    closed = (403, "REGISTRATION_CLOSED")
    assert refusal(await chat_world.anyone.register(**DAVE)) == closed
    assert refusal(await chat_world.anyone.register(**DAVE, invite_code=invite["code"])) == closed
    bob = Holder(chat_server, chat_world, chat_world.bob)
    assert await holder_of(chat_world, await bob.login()) == bob.person.id
