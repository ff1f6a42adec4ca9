"""Changing the password with a mailed code (wire facts, appendix A)."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
import trio

from chat.auth.tokens import id_hash, token_hash
from chat.registries.user_flags import UserFlag
from chat.testing.rest_client import Response
from chat.testing.server import ChatServer
from chat.testing.world import Person, World
from tests.signing_in.mailed import NEW_PASSWORD, Clock, mails
from tests.signing_in.signing_in import SUDO_HEADER, Holder, errors, holder_of, refusal, set_account

NO_TICKET = [("ticket", "INVALID_OR_EXPIRED_TICKET")]
NO_PROOF = [("verification_proof", "INVALID_OR_EXPIRED_TICKET")]
WRONG_CODE = [("code", "INVALID_CODE")]
SECRET = "x" * 43


@attrs.define
class Changer:
    """Somebody who changes their password, step by step."""

    world: World
    person: Person
    ticket: str = ""
    proof: str = ""

    async def step(self, name: str, **members: object) -> Response:
        return await self.person.rest.post(f"/v1/users/@me/password-change/{name}", members)

    async def start(self) -> dict[str, Any]:
        body: dict[str, Any] = (await self.step("start")).expect(200)
        self.ticket = body["ticket"]
        return body

    async def code(self) -> str:
        code: str = (await mails(self.world, "password_change"))[-1]["token"]
        return code

    async def verify(self, code: str | None = None) -> Response:
        answer = await self.step("verify", ticket=self.ticket, code=code or await self.code())
        if answer.status == 200:
            self.proof = answer.json()["verification_proof"]
        return answer

    async def complete(self, password: object = NEW_PASSWORD, **proof: object) -> Response:
        members = {"ticket": self.ticket, "verification_proof": self.proof, "new_password": password}
        return await self.step("complete", **members, **proof)


@pytest.fixture
def bob(chat_world: World) -> Changer:
    """Bob, who does not remember his password."""
    return Changer(chat_world, chat_world.bob)


@pytest.fixture
async def proved(bob: Changer) -> Changer:
    """Bob, who has typed in the code."""
    await bob.start()
    (await bob.verify()).expect(200)
    return bob


async def test_a_code_changes_the_password_and_ends_every_sign_in(bob: Changer) -> None:
    gateway = await bob.person.connect()
    other = (await bob.world.anyone.login(email=bob.person.email, password=bob.person.password)).expect(200)["token"]
    assert set(await bob.start()) == {"ticket", "code_expires_at", "resend_available_at"}
    (mail,) = await mails(bob.world)
    assert (mail["to"], mail["kind"]) == (bob.person.email, "password_change")
    (await bob.verify()).expect(200)
    answer = await bob.complete()
    body = answer.expect(200)
    assert await holder_of(bob.world, answer) == bob.person.id
    assert body["auth_session_id_hash"] == id_hash(token_hash(body["token"]))
    assert (await gateway.expect_opcode(9)).data is False
    for token in (bob.person.token, other):
        assert (await bob.world.anyone.signed_in(token).get("/v1/users/@me")).status == 401
    assert (await bob.world.anyone.login(email=bob.person.email, password=NEW_PASSWORD)).status == 200
    (session, *_) = (await bob.world.anyone.signed_in(body["token"]).get("/v1/auth/sessions")).expect(200)
    assert session["id_hash"]


async def test_it_works_once(proved: Changer) -> None:
    token = (await proved.complete()).expect(200)["token"]
    again = Changer(proved.world, proved.person, proved.ticket, proved.proof)
    again.person.rest = proved.world.anyone.signed_in(token)
    assert errors(await again.complete()) == NO_TICKET


async def test_the_code_comes_before_the_password(bob: Changer) -> None:
    await bob.start()
    bob.proof = SECRET
    assert errors(await bob.complete()) == NO_TICKET
    (await bob.verify()).expect(200)
    bob.proof = SECRET
    assert errors(await bob.complete()) == NO_PROOF
    for name in ("verify", "resend"):
        assert errors(await bob.step(name, ticket=bob.ticket, code="AAAA-AAAA")) == NO_TICKET


@pytest.mark.parametrize("name", ["resend", "verify", "complete"])
async def test_a_ticket_is_for_whom_it_was_made(proved: Changer, name: str) -> None:
    alice = Changer(proved.world, proved.world.alice)
    members = {"code": "AAAA-AAAA", "verification_proof": proved.proof, "new_password": NEW_PASSWORD}
    foreign = await alice.step(name, ticket=proved.ticket, **members)
    unknown = await alice.step(name, ticket=SECRET, **members)
    assert errors(unknown) == NO_TICKET
    assert foreign.body == unknown.body
    (await proved.complete()).expect(200)


async def test_five_wrong_codes_end_it(bob: Changer) -> None:
    await bob.start()
    code = await bob.code()
    for _ in range(5):
        assert errors(await bob.verify("AAAA-AAAA")) == WRONG_CODE
    assert errors(await bob.verify(code)) == NO_TICKET


async def test_a_code_counts_for_ten_minutes(bob: Changer, autojump_clock: Clock) -> None:
    await bob.start()
    await trio.sleep(600)
    assert errors(await bob.verify()) == WRONG_CODE
    (await bob.step("resend", ticket=bob.ticket)).expect(204)
    (await bob.verify()).expect(200)


async def test_and_the_whole_for_half_an_hour(proved: Changer, autojump_clock: Clock) -> None:
    await proved.world.anyone.advance_clock(30 * 60_000)
    assert errors(await proved.complete()) == NO_TICKET


async def test_it_is_mailed_again_after_half_a_minute(bob: Changer, autojump_clock: Clock) -> None:
    await bob.start()
    first = await bob.code()
    assert refusal(await bob.step("resend", ticket=bob.ticket)) == (429, "RATE_LIMITED")
    await trio.sleep(30)
    (await bob.step("resend", ticket=bob.ticket)).expect(204)
    assert errors(await bob.verify(first)) == WRONG_CODE
    (await bob.verify()).expect(200)


@pytest.mark.parametrize(
    ("password", "code"),
    [
        ("short", "PASSWORD_LENGTH_INVALID"),
        ("x" * 257, "PASSWORD_LENGTH_INVALID"),
        ("password", "PASSWORD_IS_TOO_COMMON"),
        (None, "INVALID_FORMAT"),
        (5, "INVALID_FORMAT"),
    ],
)
async def test_a_password_that_cannot_be_leaves_the_ticket_good(proved: Changer, password: object, code: str) -> None:
    assert errors(await proved.complete(password)) == [("new_password", code)]
    (await proved.complete()).expect(200)


async def test_a_factor_is_proved_beside_it(chat_server: ChatServer, proved: Changer) -> None:
    holder = Holder(chat_server, proved.world, proved.person)
    await holder.enable_totp()
    refused = await proved.complete()
    assert refusal(refused) == (403, "SUDO_MODE_REQUIRED")
    assert refused.json()["has_mfa"] is True
    assert refusal(await proved.complete(password=proved.person.password)) == (403, "SUDO_MODE_REQUIRED")
    answer = await proved.complete(mfa_method="totp", mfa_code=holder.phone.code())
    assert await holder_of(proved.world, answer) == proved.person.id
    assert answer.header(SUDO_HEADER) is not None


async def test_an_account_whose_address_changed_in_between(proved: Changer) -> None:
    await set_account(proved.world, proved.person.id, email="robert@example.com")
    assert errors(await proved.complete()) == NO_TICKET


async def test_an_account_without_an_address(bob: Changer) -> None:
    await set_account(bob.world, bob.person.id, email=None)
    assert errors(await bob.step("start")) == [("email", "USER_DOES_NOT_HAVE_AN_EMAIL_ADDRESS")]


async def test_bots_have_no_password(chat_world: World) -> None:
    for name in ("start", "resend", "verify", "complete"):
        answer = await chat_world.bot.rest.post(f"/v1/users/@me/password-change/{name}")
        assert refusal(answer) == (403, "ACCESS_DENIED")


@pytest.mark.chat_settings(sign_in="username")
async def test_a_username_instance_mails_no_codes(bob: Changer) -> None:
    for name in ("start", "resend", "verify", "complete"):
        assert refusal(await bob.step(name)) == (400, "EMAIL_UNAVAILABLE_ON_INSTANCE")


async def test_an_account_that_is_gone(proved: Changer) -> None:
    await set_account(proved.world, proved.person.id, flags=str(int(UserFlag.DELETED)))
    for name in ("start", "resend", "verify", "complete"):
        answer = await proved.step(
            name, ticket=proved.ticket, code="A", verification_proof="x", new_password=NEW_PASSWORD
        )
        assert refusal(answer) == (403, "ACCESS_DENIED")


async def test_another_way_to_change_it_ends_this_one(proved: Changer) -> None:
    body = {"new_password": NEW_PASSWORD, "password": proved.person.password}
    (await proved.person.rest.patch("/v1/users/@me", body)).expect(200)
    token = (await proved.world.anyone.login(email=proved.person.email, password=NEW_PASSWORD)).expect(200)["token"]
    proved.person.rest = proved.world.anyone.signed_in(token)
    assert errors(await proved.complete("another password")) == NO_TICKET
