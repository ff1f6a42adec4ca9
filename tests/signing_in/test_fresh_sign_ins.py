"""A sign-in of the last five minutes stands for a proof where a factor is set up; an older one does not (design 7)."""

from __future__ import annotations

import base64
import hashlib

import pytest
import trio
from trio.testing import MockClock

from chat.testing.rest_client import Response, RestClient
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.signing_in.signing_in import PASSKEYS, SUDO_HEADER, Holder

MFA = "/v1/users/@me/mfa"
HARMLESS = ("/v1/auth/sessions/logout", {"session_id_hashes": []})
"""What asks for a proof each time, however fresh the sign-in is."""

VERIFIER = "v" * 43


@pytest.fixture
async def bob(chat_server: ChatServer, chat_world: World) -> Holder:
    return Holder(chat_server, chat_world, chat_world.bob)


async def signed_in(bob: Holder, answer: Response) -> RestClient:
    """A client with the token of an answer."""
    return bob.world.anyone.signed_in(answer.expect(200)["token"])


async def enable(bob: Holder, client: RestClient, **proof: object) -> Response:
    body = {"secret": bob.phone.secret, "code": bob.phone.code(), **proof}
    return await client.post(f"{MFA}/totp/enable", body)


async def passkey_options(client: RestClient, **proof: object) -> Response:
    return await client.post(f"{PASSKEYS}/credentials/registration-options", proof)


async def is_asked(bob: Holder, client: RestClient) -> bool:
    """Whether both ways to a first factor ask for a proof; a passkey that may be registered is not."""
    options = await passkey_options(client)
    if options.status == 200:
        assert options.header(SUDO_HEADER) is None
        return False
    assert (options.status, options.code) == (403, "SUDO_MODE_REQUIRED")
    totp = await enable(bob, client)
    assert (totp.status, totp.code) == (403, "SUDO_MODE_REQUIRED")
    return True


async def test_a_password_is_fresh_for_five_minutes(bob: Holder, autojump_clock: MockClock) -> None:
    client = await signed_in(bob, await bob.login())
    assert (await client.post(*HARMLESS)).code == "SUDO_MODE_REQUIRED"
    assert not await is_asked(bob, client)
    await trio.sleep(295)
    assert not await is_asked(bob, client)
    await trio.sleep(10)
    assert await is_asked(bob, client)
    assert await is_asked(bob, bob.person.rest), "another sign-in of the account makes this one no fresher"
    (await passkey_options(client, password=bob.person.password)).expect(200)
    (await enable(bob, client, password=bob.person.password)).expect(200)


async def test_a_fresh_sign_in_sets_an_authenticator_up(bob: Holder, autojump_clock: MockClock) -> None:
    client = await signed_in(bob, await bob.login())
    assert len((await enable(bob, client)).expect(200)["backup_codes"]) == 10
    again = await enable(bob, client)
    assert (again.status, again.code) == (400, "TWO_FA_NOT_ENABLED")
    # It was no proof of anything else.
    assert (await client.post(*HARMLESS)).code == "SUDO_MODE_REQUIRED"
    # The holder of a factor, too, is asked only where the sign-in is older.
    (await passkey_options(client)).expect(200)
    await trio.sleep(305)
    assert (await passkey_options(client)).code == "SUDO_MODE_REQUIRED"


async def test_a_wrong_proof_is_wrong_however_fresh_the_sign_in(bob: Holder, autojump_clock: MockClock) -> None:
    client = await signed_in(bob, await bob.login())
    refused = await enable(bob, client, password="wrong password")
    assert refused.json()["errors"][0]["code"] == "INVALID_PASSWORD"


@pytest.mark.chat_settings(email_verification_required=False)
async def test_a_registration_counts_as_a_password(bob: Holder, autojump_clock: MockClock) -> None:
    anyone = bob.world.anyone
    made = await anyone.register(email="dave@example.com", username="dave", password="correct horse battery")
    client = await signed_in(bob, made)
    assert not await is_asked(bob, client)
    await trio.sleep(305)
    assert await is_asked(bob, client)


async def test_a_passkey_is_fresh_as_well(bob: Holder, autojump_clock: MockClock) -> None:
    await bob.add_passkey()
    client = await signed_in(bob, await bob.show_key_alone())
    assert not await is_asked(bob, client)
    await trio.sleep(305)
    assert await is_asked(bob, client)


async def test_over_a_bridge_the_moment_counts_at_which_the_passkey_was_shown(
    bob: Holder, autojump_clock: MockClock
) -> None:
    await bob.add_passkey()
    anyone, path = bob.world.anyone, "/v1/auth/passkey-bridge"
    hashed = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
    bridge = (await anyone.post(f"{path}/start", {"code_challenge": hashed})).expect(200)["bridge_id"]
    options = (await anyone.post(f"{path}/authentication-options", {"bridge_id": bridge})).expect(200)
    (await anyone.post(f"{path}/complete", {"bridge_id": bridge, **bob.assertion(options)})).expect(204)
    await trio.sleep(280)
    redeemed = await anyone.post(f"{path}/redeem", {"bridge_id": bridge, "code_verifier": VERIFIER})
    client = await signed_in(bob, redeemed)
    assert not await is_asked(bob, client)
    await trio.sleep(30)
    assert await is_asked(bob, client)


async def test_a_sign_in_that_another_one_vouched_for_is_not_fresh(bob: Holder, autojump_clock: MockClock) -> None:
    anyone, path = bob.world.anyone, "/v1/auth/handoff"
    vouches = await signed_in(bob, await bob.login())
    code = (await anyone.post(f"{path}/initiate")).expect(200)["code"]
    (await vouches.post(f"{path}/complete", {"code": code})).expect(204)
    client = bob.world.anyone.signed_in((await anyone.get(f"{path}/{code}/status")).expect(200)["token"])
    assert not await is_asked(bob, vouches)
    assert await is_asked(bob, client)


@pytest.mark.chat_settings(ip_authorization=True)
async def test_a_sign_in_that_waited_for_a_mailed_link_is_as_old_as_its_password(
    bob: Holder, chat_server: ChatServer, autojump_clock: MockClock
) -> None:
    (await bob.login(RestClient(chat_server.route("192.0.2.1")))).expect(200)
    elsewhere = RestClient(chat_server.route("198.51.100.1"))
    ticket = (await bob.login(elsewhere)).expect(403)["ticket"]
    await trio.sleep(280)
    (mail,) = (await bob.world.anyone.get("/v1/_dev/mail")).expect(200)
    (await elsewhere.post("/v1/auth/authorize-ip", {"token": mail["token"]})).expect(204)
    polled = (await elsewhere.get("/v1/auth/ip-authorization/poll", {"ticket": ticket})).expect(200)
    client = elsewhere.signed_in(polled["token"])
    assert not await is_asked(bob, client)
    await trio.sleep(30)
    assert await is_asked(bob, client)
