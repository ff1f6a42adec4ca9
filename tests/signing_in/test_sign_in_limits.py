"""Guessing: limits come before work, and an unknown account costs what a known one does (wire facts 3.4; reliability
11)."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import trio

from chat.auth.passwords import CONCURRENT_HASHES, WAITING_STRANGERS, Asker, HashCost, Match, Passwords
from chat.registries.user_flags import UserFlag
from chat.store.guard import UNGUARDED, Guard
from chat.testing.authenticator import Lie
from chat.testing.rest_client import Response, RestClient
from chat.testing.server import ChatServer, open_chat_server
from chat.testing.world import World
from tests.signing_in.signing_in import Holder, errors, holder_of, set_account

Clock = trio.testing.MockClock

WRONG_CODE = [("code", "INVALID_CODE")]
TIMED_OUT = [("ticket", "SESSION_TIMEOUT")]

limited = pytest.mark.chat_settings(rate_limits=True)


class Guesser(Holder):
    """Somebody who knows Bob's password and tries from many places."""

    places = 0

    def somewhere_new(self) -> RestClient:
        """Limits on addresses do not meet whoever has many."""
        self.places += 1
        return RestClient(self.server.route(f"198.51.{self.places}.1"))

    async def ticket(self) -> str:
        ticket: str = (await self.login(self.somewhere_new())).expect(200)["ticket"]
        return ticket

    async def guess(self, ticket: str, code: str) -> Response:
        return await self.show_code(ticket, code, self.somewhere_new())


@pytest.fixture
async def bob(chat_server: ChatServer, chat_world: World) -> Guesser:
    """Bob, who has an authenticator."""
    bob = Guesser(chat_server, chat_world, chat_world.bob)
    await bob.enable_totp()
    return bob


@limited
async def test_ten_codes_in_a_quarter_of_an_hour(chat_server: ChatServer, bob: Guesser, autojump_clock: Clock) -> None:
    carol = Guesser(chat_server, bob.world, bob.world.carol)
    await carol.enable_totp()
    for _ in range(2):
        ticket = await bob.ticket()
        for _ in range(5):
            assert errors(await bob.guess(ticket, bob.phone.wrong_code())) == WRONG_CODE
        assert errors(await bob.guess(ticket, bob.phone.wrong_code())) == TIMED_OUT
    ticket = await bob.ticket()
    refused = await bob.guess(ticket, bob.phone.code())
    assert errors(refused) == WRONG_CODE, "a right code too many is told what a wrong one is"
    assert refused.body == (await bob.guess(ticket, bob.phone.wrong_code())).body
    carols = await carol.guess(await carol.ticket(), carol.phone.code())
    assert await holder_of(bob.world, carols) == carol.person.id, "another account's count is its own"
    await trio.sleep(90)
    assert await holder_of(bob.world, await bob.guess(ticket, bob.phone.code())) == bob.person.id


@limited
async def test_what_was_not_judged_spends_nothing(bob: Guesser, autojump_clock: Clock) -> None:
    tickets = [await bob.ticket() for _ in range(3)]
    for ticket in tickets[:2]:
        for _ in range(5):
            await bob.guess(ticket, bob.phone.wrong_code())
    for _ in range(7):
        assert errors(await bob.guess(tickets[2], bob.backup_codes[0])) == WRONG_CODE
    await trio.sleep(90)
    (await bob.guess(tickets[2], bob.backup_codes[0])).expect(200)


@limited
async def test_passkeys_count_with_codes(chat_server: ChatServer, chat_world: World, autojump_clock: Clock) -> None:
    bob = Guesser(chat_server, chat_world, chat_world.bob)
    await bob.add_passkey(as_second_factor=True)
    for _ in range(2):
        ticket = await bob.ticket()
        for _ in range(5):
            assert (await bob.show_key(ticket, Lie(signature=b"forged"))).code == "PASSKEY_AUTHENTICATION_FAILED"
    ticket = await bob.ticket()
    assert (await bob.show_key(ticket)).code == "PASSKEY_AUTHENTICATION_FAILED"
    await trio.sleep(90)
    assert await holder_of(bob.world, await bob.show_key(ticket)) == bob.person.id


async def test_five_wrong_codes_end_a_ticket_without_limits_too(bob: Guesser) -> None:
    ticket = await bob.ticket()
    for _ in range(5):
        assert errors(await bob.guess(ticket, bob.phone.wrong_code())) == WRONG_CODE
    assert errors(await bob.guess(ticket, bob.phone.code())) == TIMED_OUT


async def test_many_guesses_at_once_are_no_more_than_five(bob: Guesser) -> None:
    ticket = await bob.ticket()
    answers: list[tuple[str, str]] = []

    async def guess() -> None:
        answers.extend(errors(await bob.guess(ticket, bob.phone.wrong_code())))

    async with trio.open_nursery() as nursery:
        for _ in range(20):
            nursery.start_soon(guess)
    assert sorted(answers) == sorted(WRONG_CODE * 5 + TIMED_OUT * 15)


# Other people's failures

HOME = "192.0.2.1"
"""Where Bob signs in."""


@limited
async def test_strangers_who_guess_do_not_keep_the_holder_out(
    chat_server: ChatServer, chat_world: World, autojump_clock: Clock
) -> None:
    bob = Guesser(chat_server, chat_world, chat_world.bob)
    home, neighbour = RestClient(chat_server.route(HOME)), RestClient(chat_server.route("192.0.2.2"))
    (await bob.login(home)).expect(200)
    for _ in range(4):
        errors(await bob.login(bob.somewhere_new(), password="wrong password"))
    for _ in range(3):
        assert (await bob.login(bob.somewhere_new(), password="wrong password")).code == "RATE_LIMITED"
    assert (await bob.login(neighbour)).code == "RATE_LIMITED", "from there he has never signed in"
    for _ in range(5):
        (await bob.login(home)).expect(200)
    assert (await bob.login(home)).code == "RATE_LIMITED", "nor is his own place without bounds"


@limited
async def test_nor_do_they_at_the_second_step(chat_server: ChatServer, bob: Guesser, autojump_clock: Clock) -> None:
    home = RestClient(chat_server.route(HOME))
    first = (await bob.login(home)).expect(200)["ticket"]
    assert await holder_of(bob.world, await bob.show_code(first, bob.backup_codes[0], home)) == bob.person.id
    for _ in range(2):
        ticket = await bob.ticket()
        for _ in range(5):
            errors(await bob.guess(ticket, bob.phone.wrong_code()))
    ticket = await bob.ticket()
    assert errors(await bob.guess(ticket, bob.backup_codes[1])) == WRONG_CODE
    (await bob.show_code(ticket, bob.backup_codes[1], home)).expect(200)


@limited
@pytest.mark.chat_settings(sign_in="username")
async def test_nor_do_they_with_recovery_codes(
    chat_server: ChatServer, chat_world: World, autojump_clock: Clock
) -> None:
    bob = Guesser(chat_server, chat_world, chat_world.bob)
    home = RestClient(chat_server.route(HOME))
    name = {"username": bob.person.username}
    (await home.login(**name, password=bob.person.password)).expect(200)
    proof = {"password": bob.person.password}
    code = (await bob.person.rest.post("/v1/users/@me/recovery-kit", proof)).expect(200)["code"]
    kit = {**name, "code": code, "password": "a better password"}
    for _ in range(5):
        errors(await bob.somewhere_new().post("/v1/auth/recovery", {**kit, "code": "A" * 32}))
    assert (await bob.somewhere_new().post("/v1/auth/recovery", kit)).code == "RATE_LIMITED"
    (await home.post("/v1/auth/recovery", kit)).expect(200)


async def test_a_flood_from_ever_new_addresses_leaves_a_holder_his_place(
    chat_server: ChatServer, chat_world: World
) -> None:
    bob = Guesser(chat_server, chat_world, chat_world.bob)
    home = RestClient(chat_server.route(HOME))
    (await bob.login(home)).expect(200)
    answers: list[str | None] = []
    turns = chat_server.server.core.passwords.turns

    async def guess() -> None:
        answers.append((await bob.login(bob.somewhere_new(), password="wrong password")).code)

    async with trio.open_nursery() as nursery, turns.turn(Asker("busy")), turns.turn(Asker("busy")):
        for _ in range(WAITING_STRANGERS + 10):
            nursery.start_soon(guess)
        await trio.testing.wait_all_tasks_blocked()
        assert answers == ["RATE_LIMITED"] * 10
        nursery.start_soon(signs_in, bob, home, answers)
        nursery.start_soon(proves_himself, bob, answers)
        await trio.testing.wait_all_tasks_blocked()
        assert len(answers) == 10, "they wait, and are not refused"
        assert CONCURRENT_HASHES == 2
    assert {"signed in", "proved"} <= set(answers[10:14])
    assert answers.count("INVALID_FORM_BODY") == WAITING_STRANGERS


async def signs_in(bob: Guesser, client: RestClient, told: list[str | None]) -> None:
    (await bob.login(client)).expect(200)
    told.append("signed in")


async def proves_himself(bob: Guesser, told: list[str | None]) -> None:
    body = {"session_id_hashes": [], "password": bob.person.password}
    (await bob.person.rest.post("/v1/auth/sessions/logout", body)).expect(204)
    told.append("proved")


# The cost of an answer


class Tally:
    """Counts hashes that are made, and lets them be made."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.count = 0
        match, make = Passwords.match, Passwords.hash

        async def counted_match(
            passwords: Passwords, encoded: str | None, password: str, asker: Asker, *, guard: Guard = UNGUARDED
        ) -> Match | None:
            self.count += 1
            return await match(passwords, encoded, password, asker, guard=guard)

        async def counted_hash(passwords: Passwords, password: str, asker: Asker, *, guard: Guard = UNGUARDED) -> str:
            self.count += 1
            return await make(passwords, password, asker, guard=guard)

        patch.setattr(Passwords, "match", counted_match)
        patch.setattr(Passwords, "hash", counted_hash)

    def taken(self) -> int:
        """How many since the last time."""
        count, self.count = self.count, 0
        return count


async def test_each_refusal_costs_one_hash(chat_world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    anyone, bob, carol = chat_world.anyone, chat_world.bob, chat_world.carol
    (await anyone.register(email="dave@example.com", username="dave")).expect(200)
    await set_account(chat_world, carol.id, flags=str(int(UserFlag.DELETED)))
    tally = Tally(monkeypatch)
    for email, password in (
        ("nobody@example.com", "wrong password"),
        (bob.email, "wrong password"),
        ("dave@example.com", "wrong password"),
        (carol.email, carol.password),
        (bob.email, "x"),
        (bob.email, "x" * 256),
        ("no address at all", "wrong password"),
    ):
        errors(await anyone.login(email=email, password=password))
        assert tally.taken() == 1, email
    (await anyone.login(email=bob.email, password=bob.password)).expect(200)
    assert tally.taken() == 1


@limited
async def test_beyond_the_limit_nothing_is_hashed(
    chat_world: World, monkeypatch: pytest.MonkeyPatch, autojump_clock: Clock
) -> None:
    tally = Tally(monkeypatch)
    anyone, bob = chat_world.anyone, chat_world.bob
    for _ in range(5):
        errors(await anyone.login(email=bob.email, password="wrong password"))
    assert tally.taken() == 5
    assert (await anyone.login(email=bob.email, password=bob.password)).code == "RATE_LIMITED"
    for number in range(5):
        errors(await anyone.login(email=f"nobody{number}@example.com", password="wrong password"))
    assert tally.taken() == 5
    assert (await anyone.login(email=chat_world.carol.email, password="wrong password")).code == "RATE_LIMITED"
    for number in range(3):
        name = {"email": f"d{number}@example.com", "username": f"d{number}", "password": "correct horse"}
        (await anyone.register(**name)).expect(200)
    assert tally.taken() == 3
    answer = await anyone.register(email="d4@example.com", username="d4", password="correct horse")
    assert answer.code == "RATE_LIMITED"
    assert tally.taken() == 0


@limited
async def test_a_sign_in_does_not_try_passwords_for_ever(
    chat_world: World, monkeypatch: pytest.MonkeyPatch, autojump_clock: Clock
) -> None:
    bob, carol = chat_world.bob, chat_world.carol
    tally = Tally(monkeypatch)
    options = "/v1/users/@me/mfa/webauthn/credentials/registration-options"
    for number in range(20):
        assert errors(await bob.rest.post(options, {"password": f"wrong password {number}"})) == [
            ("password", "INVALID_PASSWORD")
        ]
    assert tally.taken() == 20
    # Nor with another operation, which has a limit of its own.
    refused = await bob.rest.post("/v1/auth/sessions/logout", {"password": bob.password, "session_id_hashes": []})
    assert (refused.status, refused.code) == (429, "RATE_LIMITED")
    assert tally.taken() == 0
    (await carol.rest.post(options, {"password": carol.password})).expect(200)
    await trio.sleep(15 * 60)
    (await bob.rest.post(options, {"password": bob.password})).expect(200)


async def test_no_second_step_hashes_anything(bob: Guesser, monkeypatch: pytest.MonkeyPatch) -> None:
    ticket = await bob.ticket()
    tally = Tally(monkeypatch)
    errors(await bob.show_code(ticket, bob.phone.wrong_code()))
    errors(await bob.show_code("A" * 43, bob.phone.wrong_code()))
    (await bob.show_code(ticket, bob.phone.code())).expect(200)
    assert tally.taken() == 0


async def test_an_unknown_address_takes_as_long_as_a_wrong_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Some ten milliseconds for one hash: enough to tell one from none, little enough to try often.
    monkeypatch.setattr("chat.testing.server.CHEAP", HashCost(memory_kib=16_384, passes=1, lanes=1))
    async with open_chat_server(tmp_path) as server:
        anyone = RestClient(server.route())
        known = server.world.users[0].email
        without_password = "dave@example.com"
        (await anyone.register(email=without_password, username="dave")).expect(200)
        took: dict[str, list[float]] = {"nobody@example.com": [], known: [], without_password: []}
        for _ in range(15):
            for email, times in took.items():
                started = time.process_time()
                errors(await anyone.login(email=email, password="wrong password"))
                times.append(time.process_time() - started)
    # The fastest of many is what the work itself takes.
    fastest = {email: min(times) for email, times in took.items()}
    assert max(fastest.values()) < 2 * min(fastest.values()), fastest
