"""Changing an account's address, and taking it back (wire facts, appendix A; design 7, email change)."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
import trio

from chat.domain.signing_in.email_change import STAGES, EmailChangeStage, EmailChangeStep
from chat.registries.user_flags import UserFlag
from chat.testing.rest_client import Response, RestClient
from chat.testing.server import ChatServer
from chat.testing.world import Person, World
from tests.signing_in.mailed import MAIL_TOKEN, NEW_PASSWORD, Clock, last_token, mails
from tests.signing_in.signing_in import SUDO_HEADER, Holder, errors, holder_of, refusal, set_account

OLD = "bob@example.com"
NEW = "robert@example.com"
NO_TICKET = [("ticket", "INVALID_OR_EXPIRED_TICKET")]
NO_TOKEN = [("email_token", "INVALID_OR_EXPIRED_TICKET")]
NO_REVERT = [("token", "INVALID_OR_EXPIRED_REVERT_TOKEN")]
WRONG_CODE = [("code", "INVALID_CODE")]
SECRET = "x" * 43


@attrs.define
class Mover:
    """Somebody who changes their address, step by step."""

    world: World
    person: Person
    ticket: str = ""
    proof: str = ""

    async def step(self, name: str, **members: object) -> Response:
        return await self.person.rest.post(f"/v1/users/@me/email-change/{name}", members)

    async def start(self) -> dict[str, Any]:
        body: dict[str, Any] = (await self.step("start")).expect(200)
        self.ticket, self.proof = body["ticket"], body["original_proof"] or ""
        return body

    async def code(self, email: str) -> str:
        """The code that was mailed to an address last."""
        return [mail["token"] for mail in await mails(self.world, "email_change") if mail["to"] == email][-1]

    async def verify_original(self, code: str | None = None) -> Response:
        answer = await self.step("verify-original", ticket=self.ticket, code=code or await self.code(OLD))
        if answer.status == 200:
            self.proof = answer.json()["original_proof"]
        return answer

    async def request_new(self, email: object = NEW) -> Response:
        return await self.step("request-new", ticket=self.ticket, new_email=email, original_proof=self.proof)

    async def verify_new(self, code: str | None = None) -> Response:
        members = {"ticket": self.ticket, "code": code or await self.code(NEW), "original_proof": self.proof}
        return await self.step("verify-new", **members)

    async def token(self) -> str:
        """All the proofs, up to the token."""
        await self.start()
        if not self.proof:
            (await self.verify_original()).expect(200)
        (await self.request_new()).expect(200)
        token: str = (await self.verify_new()).expect(200)["email_token"]
        return token

    async def apply(self, token: str, **proof: object) -> Response:
        proof = proof or {"password": self.person.password}
        return await self.step("apply", email_token=token, **proof)

    async def move(self) -> dict[str, Any]:
        """The whole change; the account after it."""
        account: dict[str, Any] = (await self.apply(await self.token())).expect(200)
        return account

    async def email(self) -> str | None:
        """The address that the account has."""
        address: str | None = (await set_account(self.world, self.person.id))["email"]
        return address


@pytest.fixture
def bob(chat_world: World) -> Mover:
    """Bob, who becomes Robert."""
    return Mover(chat_world, chat_world.bob)


# The way it goes


async def test_both_addresses_agree_and_the_address_changes(bob: Mover) -> None:
    gateway = await bob.person.connect()
    started = await bob.start()
    assert set(started) == {
        "ticket",
        "require_original",
        "original_email",
        "original_proof",
        "original_code_expires_at",
        "resend_available_at",
    }
    assert (started["require_original"], started["original_email"]) == (True, OLD)
    assert started["original_proof"] is None
    (mail,) = await mails(bob.world)
    assert (mail["to"], mail["kind"]) == (OLD, "email_change")
    assert f"    {mail['token']}\n" in mail["text"]
    (await bob.verify_original()).expect(200)
    asked = (await bob.request_new("Robert@EXAMPLE.com")).expect(200)
    assert set(asked) == {"ticket", "new_email", "new_code_expires_at", "resend_available_at"}
    assert asked["new_email"] == "Robert@example.com"
    token = (await bob.verify_new(await bob.code("Robert@example.com"))).expect(200)["email_token"]
    assert await bob.email() == OLD
    account = (await bob.apply(token)).expect(200)
    assert (account["email"], account["verified"], account["email_bounced"]) == ("Robert@example.com", True, False)
    await gateway.expect("USER_UPDATE", where=lambda data: data["email"] == "Robert@example.com")
    assert (await bob.person.rest.get("/v1/users/@me")).status == 200, "nobody is signed out"
    (revert,) = await mails(bob.world, "email_revert")
    assert revert["to"] == OLD
    assert f"/email-revert#token={revert['token']}\n" in revert["text"]
    assert NEW.lower() not in revert["text"].lower()


async def test_the_token_in_the_own_account_is_the_older_way(bob: Mover) -> None:
    token = await bob.token()
    body = {"email": NEW.upper(), "email_token": token, "bio": "moved"}
    assert refusal(await bob.person.rest.patch("/v1/users/@me", body)) == (403, "SUDO_MODE_REQUIRED")
    body = {**body, "password": bob.person.password}
    account = (await bob.person.rest.patch("/v1/users/@me", body)).expect(200)
    assert (account["email"], account["bio"]) == (NEW, "moved")
    assert len(await mails(bob.world, "email_revert")) == 1


async def test_there_the_address_has_to_be_the_token_s(bob: Mover) -> None:
    token = await bob.token()
    body = {"email": "other@example.com", "email_token": token, "password": bob.person.password}
    assert errors(await bob.person.rest.patch("/v1/users/@me", body)) == [("email", "INVALID_FORMAT")]
    body = {"email_token": SECRET, "password": bob.person.password}
    assert errors(await bob.person.rest.patch("/v1/users/@me", body)) == NO_TOKEN
    body = {"email": NEW, "password": bob.person.password}
    assert errors(await bob.person.rest.patch("/v1/users/@me", body)) == [("email_token", "INVALID_FORMAT")]
    body = {"email": OLD.upper(), "password": bob.person.password}
    assert (await bob.person.rest.patch("/v1/users/@me", body)).expect(200)["email"] == OLD


async def test_address_and_password_at_once(bob: Mover) -> None:
    body = {"email_token": await bob.token(), "new_password": NEW_PASSWORD, "password": bob.person.password}
    (await bob.person.rest.patch("/v1/users/@me", body)).expect(200)
    assert (await bob.world.anyone.login(email=NEW, password=NEW_PASSWORD)).status == 200
    assert (await bob.person.rest.get("/v1/users/@me")).status == 401


@pytest.mark.parametrize("state", [{"email": None}, {"email_verified": False}, {"email_bounced": True}])
async def test_an_address_that_proves_nothing_is_not_asked(bob: Mover, state: dict[str, object]) -> None:
    await set_account(bob.world, bob.person.id, **state)
    started = await bob.start()
    assert started["require_original"] is False
    assert started["original_proof"]
    assert await mails(bob.world) == []
    (await bob.request_new()).expect(200)
    token = (await bob.verify_new()).expect(200)["email_token"]
    assert (await bob.apply(token)).expect(200)["email"] == NEW
    assert await mails(bob.world, "email_revert") == [], "nobody ever showed to hold it"


async def test_another_address_may_be_asked_instead(bob: Mover) -> None:
    await bob.start()
    (await bob.verify_original()).expect(200)
    (await bob.request_new("rob@example.com")).expect(200)
    (await bob.request_new()).expect(200)
    assert errors(await bob.verify_new(await bob.code("rob@example.com"))) == WRONG_CODE
    token = (await bob.verify_new()).expect(200)["email_token"]
    assert (await bob.apply(token)).expect(200)["email"] == NEW


# Refusals


CALLS = {
    EmailChangeStep.RESEND_ORIGINAL: {},
    EmailChangeStep.VERIFY_ORIGINAL: {"code": "ABCD-EFGH"},
    EmailChangeStep.REQUEST_NEW: {"new_email": NEW, "original_proof": SECRET},
    EmailChangeStep.RESEND_NEW: {},
    EmailChangeStep.VERIFY_NEW: {"code": "ABCD-EFGH", "original_proof": SECRET},
}


@pytest.mark.parametrize(
    "stage",
    [EmailChangeStage.OLD_ASKED, EmailChangeStage.OLD_PROVED, EmailChangeStage.NEW_ASKED, EmailChangeStage.PROVED],
)
@pytest.mark.parametrize("step", list(EmailChangeStep))
async def test_a_step_that_is_not_in_the_table_is_refused(
    bob: Mover, stage: EmailChangeStage, step: EmailChangeStep
) -> None:
    await bob.start()
    if stage is not EmailChangeStage.OLD_ASKED:
        (await bob.verify_original()).expect(200)
    if stage in (EmailChangeStage.NEW_ASKED, EmailChangeStage.PROVED):
        (await bob.request_new()).expect(200)
    if stage is EmailChangeStage.PROVED:
        (await bob.verify_new()).expect(200)
    answer = await bob.step(step, ticket=bob.ticket, **CALLS[step])
    refused = answer.status == 400 and errors(answer) == NO_TICKET
    assert refused is ((stage, step) not in STAGES)


@pytest.mark.parametrize("step", list(EmailChangeStep))
async def test_a_ticket_is_for_whom_it_was_made(bob: Mover, step: EmailChangeStep) -> None:
    await bob.start()
    alice = Mover(bob.world, bob.world.alice, ticket=bob.ticket)
    foreign = await alice.step(step, ticket=bob.ticket, **CALLS[step])
    unknown = await alice.step(step, ticket=SECRET, **CALLS[step])
    assert errors(unknown) == NO_TICKET
    assert foreign.body == unknown.body


async def test_a_proof_is_for_its_ticket(bob: Mover) -> None:
    await bob.start()
    (await bob.verify_original()).expect(200)
    proof = bob.proof
    await bob.start()
    (await bob.verify_original()).expect(200)
    bob.proof = proof
    assert errors(await bob.request_new()) == [("original_proof", "INVALID_OR_EXPIRED_TICKET")]


async def test_the_next_beginning_ends_the_last(bob: Mover) -> None:
    await bob.start()
    first = bob.ticket
    await bob.start()
    bob.ticket = first
    assert errors(await bob.verify_original()) == NO_TICKET


async def test_five_wrong_codes_end_it(bob: Mover) -> None:
    await bob.start()
    code = await bob.code(OLD)
    for _ in range(5):
        assert errors(await bob.verify_original("AAAA-AAAA")) == WRONG_CODE
    assert errors(await bob.verify_original(code)) == NO_TICKET


async def test_four_do_not(bob: Mover) -> None:
    await bob.start()
    for code in ("AAAA-AAAA", "1", "ß" * 8, "\u0660" * 8):
        assert errors(await bob.verify_original(code)) == WRONG_CODE
    (await bob.verify_original((await bob.code(OLD)).lower().replace("-", " "))).expect(200)


async def test_a_code_counts_for_ten_minutes(bob: Mover, autojump_clock: Clock) -> None:
    await bob.start()
    await trio.sleep(10 * 60)
    assert errors(await bob.verify_original()) == WRONG_CODE
    (await bob.step("resend-original", ticket=bob.ticket)).expect(204)
    (await bob.verify_original()).expect(200)


async def test_a_ticket_counts_for_half_an_hour(bob: Mover, autojump_clock: Clock) -> None:
    await bob.start()
    (await bob.verify_original()).expect(200)
    await trio.sleep(30 * 60)
    assert errors(await bob.request_new()) == NO_TICKET


async def test_a_token_counts_for_half_an_hour_and_once(bob: Mover, autojump_clock: Clock) -> None:
    token = await bob.token()
    await trio.sleep(30 * 60)
    assert errors(await bob.apply(token)) == NO_TOKEN
    token = await bob.token()
    (await bob.apply(token)).expect(200)
    assert errors(await bob.apply(token)) == NO_TOKEN


async def test_a_code_is_mailed_again_after_half_a_minute_three_times_in_all(bob: Mover, autojump_clock: Clock) -> None:
    await bob.start()
    codes = [await bob.code(OLD)]
    early = await bob.step("resend-original", ticket=bob.ticket)
    assert refusal(early) == (429, "RATE_LIMITED")
    assert 29 <= early.json()["retry_after"] <= 30
    for _ in range(2):
        await trio.sleep(30)
        (await bob.step("resend-original", ticket=bob.ticket)).expect(204)
        codes.append(await bob.code(OLD))
    await trio.sleep(30)
    assert refusal(await bob.step("resend-original", ticket=bob.ticket)) == (429, "RATE_LIMITED")
    assert len(set(codes)) == 3
    for code in codes[:-1]:
        assert errors(await bob.verify_original(code)) == WRONG_CODE
    (await bob.verify_original(codes[-1])).expect(200)
    (await bob.request_new()).expect(200)
    await trio.sleep(30)
    (await bob.step("resend-new", ticket=bob.ticket)).expect(204)
    (await bob.verify_new()).expect(200)


async def test_the_code_of_one_address_is_not_the_other_s(bob: Mover) -> None:
    await bob.start()
    old_code = await bob.code(OLD)
    (await bob.verify_original()).expect(200)
    (await bob.request_new()).expect(200)
    assert errors(await bob.verify_new(old_code)) == WRONG_CODE


async def test_a_change_takes_a_proof_of_the_holder(bob: Mover) -> None:
    token = await bob.token()
    assert refusal(await bob.step("apply", email_token=token)) == (403, "SUDO_MODE_REQUIRED")
    assert errors(await bob.apply(token, password="wrong password")) == [("password", "INVALID_PASSWORD")]
    assert await bob.email() == OLD
    (await bob.apply(token)).expect(200)


async def test_with_a_factor_it_takes_the_factor(chat_server: ChatServer, bob: Mover) -> None:
    holder = Holder(chat_server, bob.world, bob.person)
    await holder.enable_totp()
    token = await bob.token()
    assert refusal(await bob.apply(token)) == (403, "SUDO_MODE_REQUIRED")
    answer = await bob.apply(token, mfa_method="totp", mfa_code=holder.phone.code())
    assert answer.expect(200)["email"] == NEW
    assert answer.header(SUDO_HEADER) is not None


@pytest.mark.parametrize(
    ("email", "code"),
    [
        ("alice@example.com", "EMAIL_ALREADY_IN_USE"),
        ("ALICE@example.com", "EMAIL_ALREADY_IN_USE"),
        (OLD.upper(), "EMAIL_ALREADY_IN_USE"),
        ("no address", "INVALID_EMAIL_ADDRESS"),
        ("a" * 300 + "@example.com", "EMAIL_LENGTH_INVALID"),
        ("", "INVALID_FORMAT"),
        (None, "INVALID_FORMAT"),
        (5, "INVALID_FORMAT"),
    ],
)
async def test_an_address_that_cannot_be(bob: Mover, email: object, code: str) -> None:
    await bob.start()
    (await bob.verify_original()).expect(200)
    assert errors(await bob.request_new(email)) == [("new_email", code)]
    (await bob.request_new()).expect(200)


async def test_an_address_that_is_taken_in_the_meantime(bob: Mover) -> None:
    token = await bob.token()
    (await bob.world.anyone.register(email=NEW, username="robert", password=NEW_PASSWORD)).expect(200)
    assert errors(await bob.apply(token)) == [("email_token", "EMAIL_ALREADY_IN_USE")]
    assert await bob.email() == OLD
    assert await mails(bob.world, "email_revert") == []


async def test_an_account_that_has_another_address_by_then(bob: Mover) -> None:
    token = await bob.token()
    await bob.start()
    await set_account(bob.world, bob.person.id, email="third@example.com")
    assert errors(await bob.apply(token)) == NO_TOKEN
    assert errors(await bob.verify_original()) == NO_TICKET


async def test_links_to_the_old_address_come_to_nothing(bob: Mover) -> None:
    (await bob.world.anyone.post("/v1/auth/forgot", {"email": OLD})).expect(204)
    reset = await last_token(bob.world, "password_reset")
    await bob.move()
    answer = await bob.world.anyone.post("/v1/auth/reset", {"token": reset, "password": NEW_PASSWORD})
    assert errors(answer) == [("token", "INVALID_OR_EXPIRED_RESET_TOKEN")]


async def test_nobody_else_may_and_bots_have_no_address(bob: Mover) -> None:
    for name in ("start", "apply", "bounced/request-new"):
        path = f"/v1/users/@me/email-change/{name}"
        assert refusal(await bob.world.bot.rest.post(path)) == (403, "ACCESS_DENIED")
        assert refusal(await bob.world.anyone.post(path)) == (401, "UNAUTHORIZED")
    answer = await bob.world.bot.rest.patch("/v1/users/@me", {"email": NEW})
    assert errors(answer) == [("email", "INVALID_FORMAT")]


@pytest.mark.chat_settings(sign_in="username")
async def test_a_username_instance_has_no_addresses(bob: Mover) -> None:
    for name in ("start", *EmailChangeStep, "apply", "bounced/request-new", "bounced/resend-new", "bounced/verify-new"):
        assert refusal(await bob.step(name)) == (400, "EMAIL_UNAVAILABLE_ON_INSTANCE")
    answer = await bob.person.rest.patch("/v1/users/@me", {"email": NEW})
    assert refusal(answer) == (400, "EMAIL_UNAVAILABLE_ON_INSTANCE")
    answer = await bob.world.anyone.post("/v1/auth/email-revert", {"token": MAIL_TOKEN, "password": NEW_PASSWORD})
    assert refusal(answer) == (400, "EMAIL_UNAVAILABLE_ON_INSTANCE")


@pytest.mark.chat_settings(**{"mail.mode": "off"})
async def test_without_mail_an_address_is_changed_like_a_name(bob: Mover) -> None:
    assert refusal(await bob.person.rest.patch("/v1/users/@me", {"email": NEW})) == (403, "SUDO_MODE_REQUIRED")
    body = {"email": NEW, "password": bob.person.password}
    account = (await bob.person.rest.patch("/v1/users/@me", body)).expect(200)
    assert (account["email"], account["verified"]) == (NEW, True)
    await bob.start()
    assert await mails(bob.world) == []


@pytest.mark.chat_settings(rate_limits=True)
async def test_nobody_s_mailbox_is_filled(bob: Mover, autojump_clock: Clock) -> None:
    await set_account(bob.world, bob.person.id, email_verified=False)
    await bob.start()
    for _ in range(3):
        (await bob.request_new()).expect(200)
        await trio.sleep(1)
    assert refusal(await bob.request_new()) == (429, "RATE_LIMITED")


# Claiming an account


@pytest.fixture
async def unclaimed(chat_world: World) -> RestClient:
    """Somebody who registered with nothing but a name."""
    token = (await chat_world.anyone.register(username="dave")).expect(200)["token"]
    return chat_world.anyone.signed_in(token)


@pytest.mark.parametrize("member", ["password", "new_password"])
async def test_an_account_is_claimed(chat_world: World, unclaimed: RestClient, member: str) -> None:
    body = {"email": "dave@example.com", member: NEW_PASSWORD}
    account = (await unclaimed.patch("/v1/users/@me", body)).expect(200)
    assert (account["email"], account["verified"]) == ("dave@example.com", False)
    assert (await unclaimed.get("/v1/users/@me")).status == 200, "a first password ends no sign-in"
    assert (await chat_world.anyone.login(email="dave@example.com", password=NEW_PASSWORD)).status == 200
    token = await last_token(chat_world, "verification")
    (await chat_world.anyone.post("/v1/auth/verify", {"token": token})).expect(204)
    assert (await unclaimed.get("/v1/users/@me")).expect(200)["verified"] is True


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"email": "dave@example.com"}, ("password", "PASSWORD_NOT_SET")),
        ({"email": "alice@example.com", "password": NEW_PASSWORD}, ("email", "EMAIL_ALREADY_IN_USE")),
        ({"email": "dave", "password": NEW_PASSWORD}, ("email", "INVALID_EMAIL_ADDRESS")),
        ({"email": "dave@example.com", "password": "short"}, ("password", "PASSWORD_LENGTH_INVALID")),
        ({"email": "dave@example.com", "new_password": "password"}, ("new_password", "PASSWORD_IS_TOO_COMMON")),
    ],
)
async def test_a_claim_that_cannot_be(unclaimed: RestClient, body: object, expected: tuple[str, str]) -> None:
    assert errors(await unclaimed.patch("/v1/users/@me", body)) == [expected]
    account = (await unclaimed.get("/v1/users/@me")).expect(200)
    assert account["email"] is account["password_last_changed_at"] is None


# An address that takes no mail


async def test_a_bounced_address_is_replaced(bob: Mover) -> None:
    await set_account(bob.world, bob.person.id, email_bounced=True)
    asked = (await bob.step("bounced/request-new", new_email=NEW)).expect(200)
    assert asked["new_email"] == NEW
    (mail,) = await mails(bob.world)
    assert (mail["to"], mail["kind"]) == (NEW, "email_change")
    members = {"ticket": asked["ticket"], "code": mail["token"]}
    assert refusal(await bob.step("bounced/verify-new", **members)) == (403, "SUDO_MODE_REQUIRED")
    members["password"] = bob.person.password
    account = (await bob.step("bounced/verify-new", **members)).expect(200)
    assert (account["email"], account["verified"], account["email_bounced"]) == (NEW, True, False)
    assert refusal(await bob.step("bounced/verify-new", **members)) == (403, "ACCESS_DENIED")
    assert await mails(bob.world, "email_revert") == []


async def test_only_a_bounced_one(bob: Mover) -> None:
    assert refusal(await bob.step("bounced/request-new", new_email=NEW)) == (403, "ACCESS_DENIED")
    assert refusal(await bob.step("bounced/resend-new", ticket=SECRET)) == (403, "ACCESS_DENIED")
    members = {"ticket": SECRET, "code": "AAAA-AAAA", "password": bob.person.password}
    assert refusal(await bob.step("bounced/verify-new", **members)) == (403, "ACCESS_DENIED")


async def test_its_code_can_be_wrong_five_times(bob: Mover, autojump_clock: Clock) -> None:
    await set_account(bob.world, bob.person.id, email_bounced=True)
    ticket = (await bob.step("bounced/request-new", new_email=NEW)).expect(200)["ticket"]
    members = {"ticket": ticket, "password": bob.person.password}
    await trio.sleep(30)
    (await bob.step("bounced/resend-new", ticket=ticket)).expect(204)
    first, second = [mail["token"] for mail in await mails(bob.world)]
    assert errors(await bob.step("bounced/verify-new", **members, code=first)) == WRONG_CODE
    for _ in range(4):
        assert errors(await bob.step("bounced/verify-new", **members, code="AAAA-AAAA")) == WRONG_CODE
    assert errors(await bob.step("bounced/verify-new", **members, code=second)) == NO_TICKET


async def test_the_tickets_of_the_two_ways_are_not_each_other_s(bob: Mover) -> None:
    await set_account(bob.world, bob.person.id, email_bounced=True)
    await bob.start()
    (await bob.request_new()).expect(200)
    members = {"ticket": bob.ticket, "code": await bob.code(NEW), "password": bob.person.password}
    assert errors(await bob.step("bounced/verify-new", **members)) == NO_TICKET


# Taking it back


async def revert(world: World, token: str, password: str = NEW_PASSWORD) -> Response:
    return await world.anyone.post("/v1/auth/email-revert", {"token": token, "password": password})


async def test_the_old_address_takes_the_account_back(bob: Mover) -> None:
    await bob.move()
    gateway = await bob.person.connect()
    token = await last_token(bob.world, "email_revert")
    answer = await revert(bob.world, token)
    assert await holder_of(bob.world, answer) == bob.person.id
    assert (await gateway.expect_opcode(9)).data is False
    own = (await bob.world.anyone.signed_in(answer.json()["token"]).get("/v1/users/@me")).expect(200)
    assert (own["email"], own["verified"]) == (OLD, True)
    assert (await bob.person.rest.get("/v1/users/@me")).status == 401
    assert (await bob.world.anyone.login(email=OLD, password=NEW_PASSWORD)).status == 200
    assert errors(await revert(bob.world, token)) == NO_REVERT


async def test_within_three_days(bob: Mover, autojump_clock: Clock) -> None:
    await bob.move()
    token = await last_token(bob.world, "email_revert")
    await bob.world.anyone.advance_clock(72 * 3_600_000)
    assert errors(await revert(bob.world, token)) == NO_REVERT
    assert await bob.email() == NEW


@pytest.mark.parametrize("token", ["x", MAIL_TOKEN, "é" * 64])
async def test_tokens_that_nobody_was_sent(chat_world: World, token: str) -> None:
    unknown = await revert(chat_world, token)
    assert errors(unknown) == NO_REVERT
    assert (await revert(chat_world, token, "short")).body == unknown.body


async def test_a_password_that_cannot_be_leaves_the_link_good(bob: Mover) -> None:
    await bob.move()
    token = await last_token(bob.world, "email_revert")
    assert errors(await revert(bob.world, token, "password")) == [("password", "PASSWORD_IS_TOO_COMMON")]
    assert await bob.email() == NEW
    assert (await revert(bob.world, token)).status == 200


async def test_the_address_stays_kept_for_so_long(bob: Mover) -> None:
    await bob.move()
    answer = await bob.world.anyone.register(email=OLD.upper(), username="thief", password=NEW_PASSWORD)
    assert errors(answer) == [("email", "EMAIL_ALREADY_IN_USE")]
    thief = Mover(bob.world, bob.world.alice)
    await set_account(bob.world, thief.person.id, email_verified=False)
    await thief.start()
    assert errors(await thief.request_new(OLD)) == [("new_email", "EMAIL_ALREADY_IN_USE")]
    assert (await revert(bob.world, await last_token(bob.world, "email_revert"))).status == 200


async def test_and_is_free_after_that(bob: Mover, autojump_clock: Clock) -> None:
    await bob.move()
    await bob.world.anyone.advance_clock(72 * 3_600_000)
    (await bob.world.anyone.register(email=OLD, username="other", password=NEW_PASSWORD)).expect(200)


async def test_who_moved_on_twice_is_brought_back_by_the_first_link(bob: Mover) -> None:
    await bob.move()
    first = await last_token(bob.world, "email_revert")
    await set_account(bob.world, bob.person.id, email=NEW)
    await bob.start()
    (await bob.verify_original(await bob.code(NEW))).expect(200)
    (await bob.request_new("third@example.com")).expect(200)
    token = (await bob.verify_new(await bob.code("third@example.com"))).expect(200)["email_token"]
    (await bob.apply(token)).expect(200)
    second = await last_token(bob.world, "email_revert")
    assert second != first
    assert (await revert(bob.world, first)).status == 200
    assert await bob.email() == OLD
    assert errors(await revert(bob.world, second)) == NO_REVERT, "what came after it cannot undo it"


async def test_an_address_that_an_administrator_gave_away(bob: Mover) -> None:
    await bob.move()
    token = await last_token(bob.world, "email_revert")
    await set_account(bob.world, bob.world.alice.id, email=OLD)
    assert errors(await revert(bob.world, token)) == [("token", "EMAIL_ALREADY_IN_USE")]
    assert (await bob.person.rest.get("/v1/users/@me")).expect(200)["email"] == NEW
    await set_account(bob.world, bob.world.alice.id, email="alice@example.com")
    assert (await revert(bob.world, token)).status == 200, "nothing was used up"


async def test_of_many_who_apply_or_take_back_at_once_one_does(bob: Mover) -> None:
    token = await bob.token()
    statuses: list[int] = []

    async def ask(path: str, body: object) -> None:
        client = bob.world.anyone.signed_in(bob.person.token)
        statuses.append((await client.post(path, body)).status)
        await client.aclose()

    async def ask_at_once(path: str, body: object) -> list[int]:
        statuses.clear()
        async with trio.open_nursery() as nursery:
            for _ in range(4):
                nursery.start_soon(ask, path, body)
        return sorted(statuses)

    body = {"email_token": token, "password": bob.person.password}
    assert await ask_at_once("/v1/users/@me/email-change/apply", body) == [200, 400, 400, 400]
    assert len(await mails(bob.world, "email_revert")) == 1
    body = {"token": await last_token(bob.world, "email_revert"), "password": NEW_PASSWORD}
    assert await ask_at_once("/v1/auth/email-revert", body) == [200, 400, 400, 400]


async def test_what_a_thief_added_goes(chat_server: ChatServer, bob: Mover) -> None:
    await bob.move()
    thief = Holder(chat_server, bob.world, bob.person)
    await thief.add_passkey()
    body = {"secret": thief.phone.secret, "code": await thief.phone.code_before(), **await thief.passkey_proof()}
    (await bob.person.rest.post("/v1/users/@me/mfa/totp/enable", body)).expect(200)
    answer = await revert(bob.world, await last_token(bob.world, "email_revert"))
    assert await holder_of(bob.world, answer) == bob.person.id
    client = bob.world.anyone.signed_in(answer.json()["token"])
    methods = (await client.get("/v1/users/@me/sudo/mfa-methods")).expect(200)
    assert methods["has_mfa"] is False
    assert refusal(await thief.show_key_alone()) == (401, "PASSKEY_AUTHENTICATION_FAILED")


async def test_what_the_holder_had_is_asked_for(chat_server: ChatServer, bob: Mover) -> None:
    holder = Holder(chat_server, bob.world, bob.person)
    await holder.enable_totp()
    (await bob.apply(await bob.token(), mfa_method="totp", mfa_code=holder.phone.code())).expect(200)
    body = (await revert(bob.world, await last_token(bob.world, "email_revert"))).expect(200)
    assert "token" not in body
    assert await bob.email() == OLD
    answer = await holder.show_code(body["ticket"], holder.backup_codes[0])
    assert await holder_of(bob.world, answer) == bob.person.id


async def test_a_ban_stands(bob: Mover) -> None:
    await bob.move()
    await set_account(
        bob.world, bob.person.id, flags=str(int(UserFlag.DISABLED)), temp_banned_until="2100-01-01T00:00:00Z"
    )
    token = await last_token(bob.world, "email_revert")
    assert refusal(await revert(bob.world, token)) == (403, "ACCOUNT_SUSPENDED_TEMPORARILY")
    assert await bob.email() == NEW


async def test_a_new_password_of_the_thief_does_not_break_the_link(bob: Mover) -> None:
    await bob.move()
    body = {"new_password": "the thief's own", "password": bob.person.password}
    (await bob.person.rest.patch("/v1/users/@me", body)).expect(200)
    assert (await revert(bob.world, await last_token(bob.world, "email_revert"))).status == 200
