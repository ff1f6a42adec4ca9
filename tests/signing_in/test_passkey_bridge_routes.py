"""The passkey bridge: a program is signed in by a passkey that a page in a browser asks for (design 7).

Area: signing_in. Rules: 000.gates.
"""

from __future__ import annotations

import base64
import hashlib
import random
from typing import Any

import pytest
import trio

from chat.auth.webauthn import RelyingParty
from chat.registries.user_flags import UserFlag
from chat.testing.authenticator import HONEST, Lie, SoftwareAuthenticator
from chat.testing.rest_client import Response, RestClient
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.signing_in.signing_in import Holder, errors, holder_of, refusal, set_account

Clock = trio.testing.MockClock

BRIDGE = "/v1/auth/passkey-bridge"
UNKNOWN = [("bridge_id", "INVALID_OR_EXPIRED_TICKET")]
FAILED = (401, "PASSKEY_AUTHENTICATION_FAILED")
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
"""Both from RFC 7636, appendix B."""


class Program:
    """A program without a browser of its own."""

    def __init__(self, world: World, client: RestClient, verifier: str = VERIFIER) -> None:
        self.world = world
        self.client = client
        self.verifier = verifier
        self.bridge: dict[str, Any] = {}

    async def start(self) -> dict[str, Any]:
        digest = hashlib.sha256(self.verifier.encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        self.bridge = (await self.client.post(f"{BRIDGE}/start", {"code_challenge": challenge})).expect(200)
        return self.bridge

    async def redeem(self, verifier: str | None = None) -> Response:
        body = {"bridge_id": self.bridge["bridge_id"], "code_verifier": verifier or self.verifier}
        return await self.client.post(f"{BRIDGE}/redeem", body)


class Page:
    """The page at a bridge's address, with somebody's passkey."""

    def __init__(self, holder: Holder, bridge: dict[str, Any]) -> None:
        self.holder = holder
        self.bridge_id = bridge["bridge_id"]

    async def options(self) -> Response:
        return await self.holder.world.anyone.post(f"{BRIDGE}/authentication-options", {"bridge_id": self.bridge_id})

    async def show_key(self, lie: Lie = HONEST) -> Response:
        options = (await self.options()).expect(200)
        return await self.send(self.holder.assertion(options, lie))

    async def send(self, assertion: dict[str, Any]) -> Response:
        return await self.holder.world.anyone.post(f"{BRIDGE}/complete", {"bridge_id": self.bridge_id, **assertion})


@pytest.fixture
async def bob(chat_server: ChatServer, chat_world: World) -> Holder:
    """Bob, who has a passkey."""
    bob = Holder(chat_server, chat_world, chat_world.bob)
    await bob.add_passkey()
    return bob


@pytest.fixture
def program(chat_server: ChatServer, chat_world: World) -> Program:
    return Program(chat_world, RestClient(chat_server.route("198.51.100.7")))


async def test_a_program_is_signed_in(bob: Holder, program: Program, autojump_clock: Clock) -> None:
    assert hashlib.sha256(VERIFIER.encode()).digest() == base64.urlsafe_b64decode(CHALLENGE + "=")
    bridge = await program.start()
    assert set(bridge) == {"bridge_id", "url", "expires_at"}
    assert bridge["url"] == f"{bob.server.settings.public_url}/passkey-bridge#bridge_id={bridge['bridge_id']}"
    assert bridge["expires_at"].startswith("2026-01-01T00:05:0")
    waiting = await program.redeem()
    assert (waiting.status, waiting.json()) == (202, {"completed": False})
    assert (await Page(bob, bridge).show_key()).status == 204
    assert await holder_of(bob.world, await program.redeem()) == bob.person.id


async def test_the_page_asks_for_any_passkey_that_knows_its_person(bob: Holder, program: Program) -> None:
    options = (await Page(bob, await program.start()).options()).expect(200)
    assert "allowCredentials" not in options
    assert options["userVerification"] == "required"


async def test_no_further_factor_is_asked_for(bob: Holder, program: Program) -> None:
    body = {"secret": bob.phone.secret, "code": bob.phone.code(), **await bob.passkey_proof()}
    (await bob.person.rest.post("/v1/users/@me/mfa/totp/enable", body)).expect(200)
    (await Page(bob, await program.start()).show_key()).expect(204)
    assert await holder_of(bob.world, await program.redeem()) == bob.person.id


async def test_a_bridge_carries_one_program_once(bob: Holder, program: Program) -> None:
    (await Page(bob, await program.start()).show_key()).expect(204)
    (await program.redeem()).expect(200)
    assert errors(await program.redeem()) == UNKNOWN


async def test_of_many_who_redeem_at_once_one_gets_in(bob: Holder, program: Program) -> None:
    (await Page(bob, await program.start()).show_key()).expect(204)
    statuses = []

    async def redeem() -> None:
        statuses.append((await program.redeem()).status)

    async with trio.open_nursery() as nursery:
        for _ in range(5):
            nursery.start_soon(redeem)
    assert sorted(statuses) == [200, 400, 400, 400, 400]


async def test_a_wrong_verifier_is_answered_like_an_unknown_bridge(bob: Holder, program: Program) -> None:
    bridge = await program.start()
    wrong = await program.redeem("x" * 43)
    assert errors(wrong) == UNKNOWN
    (await Page(bob, bridge).show_key()).expect(204)
    assert (await program.redeem("x" * 43)).body == wrong.body
    assert (await program.redeem(CHALLENGE)).body == wrong.body
    program.bridge = {"bridge_id": "A" * 43}
    unknown = await program.redeem()
    assert unknown.body == wrong.body
    program.bridge = bridge
    assert await holder_of(bob.world, await program.redeem()) == bob.person.id, "a stranger's guess ends nothing"


async def test_a_bridge_stands_for_five_minutes(bob: Holder, program: Program, autojump_clock: Clock) -> None:
    other = Program(bob.world, program.client)
    first, second = await program.start(), await other.start()
    await trio.sleep(299)
    (await Page(bob, first).show_key()).expect(204)
    (await program.redeem()).expect(200)
    await trio.sleep(1)
    assert errors(await Page(bob, second).options()) == UNKNOWN
    assert errors(await other.redeem()) == UNKNOWN


@pytest.mark.parametrize(
    "lie",
    [Lie(signature=b"forged"), Lie(origin="https://evil.example"), Lie(challenge="AAAA"), Lie(user_verified=False)],
)
async def test_a_lie_completes_nothing(bob: Holder, program: Program, lie: Lie) -> None:
    page = Page(bob, await program.start())
    assert refusal(await page.show_key(lie)) == FAILED
    assert (await program.redeem()).status == 202
    (await page.show_key()).expect(204)
    (await program.redeem()).expect(200)


async def test_a_bridge_takes_one_passkey(chat_server: ChatServer, bob: Holder, program: Program) -> None:
    carol = Holder(chat_server, bob.world, bob.world.carol)
    await carol.add_passkey()
    bridge = await program.start()
    (await Page(bob, bridge).show_key()).expect(204)
    assert errors(await Page(carol, bridge).options()) == UNKNOWN
    assert await holder_of(bob.world, await program.redeem()) == bob.person.id


async def test_challenges_of_other_purposes_do_not_fit(bob: Holder, program: Program) -> None:
    page = Page(bob, await program.start())
    discoverable = (await bob.world.anyone.post("/v1/auth/webauthn/authentication-options")).expect(200)
    assert refusal(await page.send(bob.assertion(discoverable))) == FAILED
    own = (await page.options()).expect(200)
    body = bob.assertion(own)
    assert refusal(await bob.world.anyone.post("/v1/auth/webauthn/authenticate", body)) == FAILED


@pytest.mark.parametrize("challenge", ["x", "A" * 42, "A" * 44, "!" * 43, "A" * 42 + "="])
async def test_what_is_no_sha_256(chat_world: World, challenge: str) -> None:
    answer = await chat_world.anyone.post(f"{BRIDGE}/start", {"code_challenge": challenge})
    assert errors(answer) == [("code_challenge", "INVALID_FORMAT")]


@pytest.mark.parametrize("route", ["start", "authentication-options", "complete", "redeem"])
async def test_what_is_missing_is_named(chat_world: World, route: str) -> None:
    assert {code for _, code in errors(await chat_world.anyone.post(f"{BRIDGE}/{route}"))} == {"INVALID_FORMAT"}


@pytest.mark.rule("000.gates.12")
async def test_a_deleted_account_crosses_no_bridge(bob: Holder, program: Program) -> None:
    bridge = await program.start()
    (await Page(bob, bridge).show_key()).expect(204)
    await set_account(bob.world, bob.person.id, flags=str(int(UserFlag.DELETED)))
    assert errors(await program.redeem()) == UNKNOWN
    assert refusal(await Page(bob, await program.start()).show_key()) == FAILED


async def test_a_banned_account_does_not_either(bob: Holder, program: Program) -> None:
    (await Page(bob, await program.start()).show_key()).expect(204)
    await set_account(bob.world, bob.person.id, temp_banned_until="2999-01-01T00:00:00Z")
    suspended = (403, "ACCOUNT_SUSPENDED_TEMPORARILY")
    assert refusal(await program.redeem()) == suspended
    assert refusal(await Page(bob, await program.start()).show_key()) == suspended


async def test_a_passkey_taken_away_in_between(bob: Holder, program: Program) -> None:
    (await Page(bob, await program.start()).show_key()).expect(204)
    await bob.remove_passkey()
    assert errors(await program.redeem()) == UNKNOWN


async def test_a_passkey_replaced_in_between(chat_server: ChatServer, bob: Holder, program: Program) -> None:
    (await Page(bob, await program.start()).show_key()).expect(204)
    successor = Holder(chat_server, bob.world, bob.person)
    successor.key = SoftwareAuthenticator(RelyingParty.of(chat_server.settings).origins[0], chance=random.Random(1))
    await successor.add_passkey(**await bob.passkey_proof())
    assert errors(await program.redeem()) == UNKNOWN
    (await Page(successor, await program.start()).show_key()).expect(204)
    assert await holder_of(bob.world, await program.redeem()) == bob.person.id


async def test_another_password_in_between(bob: Holder, program: Program) -> None:
    (await Page(bob, await program.start()).show_key()).expect(204)
    change = {"new_password": "another staple altogether", **await bob.passkey_proof()}
    (await bob.person.rest.patch("/v1/users/@me", change)).expect(200)
    assert errors(await program.redeem()) == UNKNOWN
    (await Page(bob, await program.start()).show_key()).expect(204)
    assert await holder_of(bob.world, await program.redeem()) == bob.person.id


async def test_an_account_closed_in_between_stays_closed(bob: Holder, program: Program) -> None:
    (await Page(bob, await program.start()).show_key()).expect(204)
    await set_account(bob.world, bob.person.id, flags=str(int(UserFlag.DISABLED)))
    assert errors(await program.redeem()) == UNKNOWN
    assert int((await set_account(bob.world, bob.person.id))["flags"]) == UserFlag.DISABLED


async def test_one_closed_before_is_opened(bob: Holder, program: Program) -> None:
    await set_account(bob.world, bob.person.id, flags=str(int(UserFlag.DISABLED)))
    (await Page(bob, await program.start()).show_key()).expect(204)
    (await program.redeem()).expect(200)
    assert int((await set_account(bob.world, bob.person.id))["flags"]) == 0


@pytest.mark.chat_settings(ip_authorization=True)
async def test_the_program_s_network_counts(bob: Holder, program: Program) -> None:
    (await bob.login()).expect(200)
    (await Page(bob, await program.start()).show_key()).expect(204)
    assert refusal(await program.redeem()) == (403, "IP_AUTHORIZATION_REQUIRED")
    assert errors(await program.redeem()) == UNKNOWN
