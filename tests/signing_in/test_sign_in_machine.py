"""A Hypothesis state machine that signs in, gives up, comes too late and guesses, against a model of what proves what.

The model is small: a token is issued only for the right password, and where the account has an authenticator only for a
right code with a ticket that is not used, not five minutes old, not spoilt by five wrong codes and of today's password.
Whatever else happens, every token that is alive works and every other one does not.
"""

from __future__ import annotations

import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import attrs
import trio
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from chat.testing.gateway_machine import MACHINE_SETTINGS
from chat.testing.rest_client import Response
from chat.testing.server import open_chat_server
from chat.testing.stepped_run import SteppedRun
from chat.testing.world import World
from tests.signing_in.signing_in import Holder, errors, refusal, set_account

T = TypeVar("T")

TICKET_SECONDS = 300
MOST_WRONG = 5
STEP_SECONDS = 30
MOST_TOKENS = 6
MOST_TICKETS = 5

WRONG_PASSWORD = [("email", "INVALID_EMAIL_OR_PASSWORD"), ("password", "INVALID_EMAIL_OR_PASSWORD")]
WRONG_CODE = [("code", "INVALID_CODE")]
NO_TOTP = [("code", "TOTP_NOT_ENABLED")]
TIMED_OUT = [("ticket", "SESSION_TIMEOUT")]
SUSPENDED = (403, "ACCOUNT_SUSPENDED_TEMPORARILY")


@attrs.define
class ModelTicket:
    """What the model knows of a ticket. `made_at` in seconds of the run."""

    secret: str
    made_at: float
    password: str
    wrong: int = 0
    used: bool = False


class SignInMachine(RuleBasedStateMachine):
    """See the module."""

    def __init__(self) -> None:
        super().__init__()
        self.alive: list[str] = []
        self.dead: list[str] = []
        self.tickets: list[ModelTicket] = []
        self.password = ""
        self.totp = False
        self.banned = False
        self.used_steps: set[int] = set()
        self.used_backup_codes: set[str] = set()
        self.passwords = 0
        self._folder = tempfile.TemporaryDirectory(prefix="chat-sign-in-")
        self._run = SteppedRun(virtual=True)
        self._call(self._open)

    def _call(self, ask: Callable[..., Awaitable[T]], *arguments: Any) -> T:
        return self._run.call(ask, *arguments)

    async def _open(self) -> None:
        await self._run.nursery.start(self._live)

    async def _live(self, task_status: trio.TaskStatus[None]) -> None:
        async with open_chat_server(Path(self._folder.name)) as server:
            self.world = World(server.description(), server.route(), self._run.nursery)
            self.bob = Holder(server, self.world, self.world.bob)
            self.password = self.bob.person.password
            self.alive = [self.bob.person.token]
            task_status.started()
            await trio.sleep_forever()

    def teardown(self) -> None:
        """End the run, and whatever lives in it."""
        self._run.close()
        self._folder.cleanup()

    # What the model knows

    def _now(self) -> float:
        return self.bob.server.clock.now_ms() / 1_000

    def _step(self) -> int:
        return int(self._now() // STEP_SECONDS)

    def _is_good(self, ticket: ModelTicket) -> bool:
        in_time = self._now() < ticket.made_at + TICKET_SECONDS
        return in_time and not ticket.used and ticket.wrong < MOST_WRONG and ticket.password == self.password

    def _refused_first(self, ticket: ModelTicket, answer: Response) -> bool:
        """Whether the answer had to be a refusal before any code is looked at; it must be that one."""
        if not self._is_good(ticket):
            assert errors(answer) == TIMED_OUT
        elif self.banned:
            assert refusal(answer) == SUSPENDED
        elif not self.totp:
            assert errors(answer) == NO_TOTP
        else:
            return False
        return True

    def _take_token(self, answer: Response) -> None:
        body = answer.expect(200)
        assert body["user_id"] == self.bob.person.id
        assert body["token"] not in self.alive + self.dead
        self.alive.append(body["token"])

    def _good_ticket(self) -> ModelTicket | None:
        return next((ticket for ticket in self.tickets if self._is_good(ticket)), None)

    def _backup_code(self) -> str | None:
        return next((code for code in self.bob.backup_codes if code not in self.used_backup_codes), None)

    def _all_end(self) -> None:
        self.dead += self.alive
        self.alive = []

    # Signing in

    @initialize(with_authenticator=st.sampled_from([True, True, True, False]))
    def begin(self, with_authenticator: bool) -> None:
        if with_authenticator:
            self.set_an_authenticator_up()

    @precondition(lambda self: len(self.alive) < MOST_TOKENS)
    @rule()
    def show_the_password(self) -> None:
        self.tickets = self.tickets[-MOST_TICKETS:]
        answer = self._call(lambda: self.bob.login(password=self.password))
        if self.banned:
            assert refusal(answer) == SUSPENDED
        elif self.totp:
            body = answer.expect(200)
            assert "token" not in body
            self.tickets.append(ModelTicket(body["ticket"], self._now(), self.password))
        else:
            self._take_token(answer)

    @rule()
    def show_a_wrong_password(self) -> None:
        answer = self._call(lambda: self.bob.login(password="not the password"))
        assert errors(answer) == WRONG_PASSWORD

    @precondition(lambda self: self.tickets and len(self.alive) < MOST_TOKENS)
    @rule(data=st.data())
    def show_a_right_code(self, data: st.DataObject) -> None:
        self._show_right_code(data.draw(st.sampled_from(self.tickets)))

    @precondition(lambda self: self._good_ticket() and len(self.alive) < MOST_TOKENS)
    @rule(wrong=st.integers(1, MOST_WRONG + 1))
    def guess_and_then_know(self, wrong: int) -> None:
        ticket = self._good_ticket()
        assert ticket is not None
        self._call(trio.sleep, STEP_SECONDS)
        for _ in range(wrong):
            self._show_wrong_code(ticket, self.bob.phone.wrong_code())
        self._show_right_code(ticket)

    @precondition(lambda self: self._good_ticket() and len(self.alive) < MOST_TOKENS)
    @rule(seconds_left=st.sampled_from([1, 0]))
    def come_late(self, seconds_left: int) -> None:
        ticket = self._good_ticket()
        assert ticket is not None
        pause = ticket.made_at + TICKET_SECONDS - seconds_left - self._now()
        self._call(trio.sleep, max(pause, 0))
        self._show_right_code(ticket)

    @precondition(lambda self: self.tickets and len(self.alive) < MOST_TOKENS)
    @rule(data=st.data())
    def show_a_used_ticket(self, data: st.DataObject) -> None:
        ticket = data.draw(st.sampled_from(self.tickets))
        self._show_right_code(ticket)
        self._call(trio.sleep, STEP_SECONDS)
        self._show_right_code(ticket)

    def _show_right_code(self, ticket: ModelTicket) -> None:
        answer = self._call(self.bob.show_code, ticket.secret, self.bob.phone.code())
        if self._refused_first(ticket, answer):
            return
        if self._step() in self.used_steps:
            assert errors(answer) == WRONG_CODE
            ticket.wrong += 1
            return
        self.used_steps.add(self._step())
        ticket.used = True
        self._take_token(answer)

    def _show_wrong_code(self, ticket: ModelTicket, code: str) -> None:
        answer = self._call(self.bob.show_code, ticket.secret, code)
        if not self._refused_first(ticket, answer):
            assert errors(answer) == WRONG_CODE
            ticket.wrong += 1

    @precondition(lambda self: self.tickets and self._backup_code() and len(self.alive) < MOST_TOKENS)
    @rule(data=st.data())
    def show_a_backup_code(self, data: st.DataObject) -> None:
        ticket = data.draw(st.sampled_from(self.tickets))
        code = self._backup_code()
        assert code is not None
        answer = self._call(self.bob.show_code, ticket.secret, code)
        if self._refused_first(ticket, answer):
            return
        self.used_backup_codes.add(code)
        ticket.used = True
        self._take_token(answer)

    @precondition(lambda self: self.tickets)
    @rule(data=st.data())
    def show_a_wrong_code(self, data: st.DataObject) -> None:
        ticket = data.draw(st.sampled_from(self.tickets))
        wrong = data.draw(st.sampled_from([self.bob.phone.wrong_code(), *self.used_backup_codes]))
        self._show_wrong_code(ticket, wrong)

    @rule(ticket=st.text(min_size=1, max_size=50))
    def show_no_ticket(self, ticket: str) -> None:
        answer = self._call(self.bob.show_code, ticket, self.bob.phone.code())
        assert errors(answer) == TIMED_OUT

    # Signing out

    @precondition(lambda self: self.alive)
    @rule(data=st.data())
    def log_out(self, data: st.DataObject) -> None:
        token = data.draw(st.sampled_from(self.alive))
        assert self._call(self.world.anyone.signed_in(token).logout).status == 204
        self.alive.remove(token)
        self.dead.append(token)

    @precondition(lambda self: self.dead)
    @rule(data=st.data())
    def log_out_twice(self, data: st.DataObject) -> None:
        token = data.draw(st.sampled_from(self.dead))
        assert refusal(self._call(self.world.anyone.signed_in(token).logout)) == (401, "UNAUTHORIZED")

    # What changes

    @rule(seconds=st.sampled_from([1, 29, 61, 150]))
    def let_time_pass(self, seconds: int) -> None:
        self._call(trio.sleep, seconds)

    @precondition(lambda self: self.alive and not self.totp)
    @rule()
    def set_an_authenticator_up(self) -> None:
        self.bob.person.rest = self.world.anyone.signed_in(self.alive[0])
        self._call(self.bob.enable_totp, self.password)
        self.totp = True
        self.used_backup_codes.clear()  # steps stay used, whatever the secret: the client may bring the same again

    @precondition(lambda self: self.alive and self.totp)
    @rule()
    def take_it_away(self) -> None:
        self._call(trio.sleep, 3 * STEP_SECONDS)
        self.bob.person.rest = self.world.anyone.signed_in(self.alive[0])
        codes = [code for code in self.bob.backup_codes if code not in self.used_backup_codes]
        if codes:
            proof = {"mfa_method": "totp", "mfa_code": self.bob.phone.code()}
            path = "/v1/users/@me/mfa/totp/disable"
            self._call(lambda: self.bob.person.rest.post(path, {"code": codes[0], **proof})).expect(204)
            self.used_steps.add(self._step())
            self.totp = False
            self.bob.backup_codes = []

    @precondition(lambda self: self.alive)
    @rule()
    def choose_another_password(self) -> None:
        self._call(trio.sleep, 3 * STEP_SECONDS)
        self.passwords += 1
        chosen = f"correct horse {self.passwords}"
        proof: dict[str, object] = {"password": self.password}
        if self.totp:
            proof = {"mfa_method": "totp", "mfa_code": self.bob.phone.code()}
            self.used_steps.add(self._step())
        client = self.world.anyone.signed_in(self.alive[0])
        self._call(client.patch, "/v1/users/@me", {"new_password": chosen, **proof}).expect(200)
        self.password = chosen
        self._all_end()

    @rule()
    def be_banned_for_a_while(self) -> None:
        self._ban("2999-01-01T00:00:00Z")
        self.banned = True
        self.show_the_password()
        for ticket in self.tickets:
            self._show_right_code(ticket)
        self._ban(None)
        self.banned = False

    def _ban(self, until: str | None) -> None:
        self._call(lambda: set_account(self.world, self.bob.person.id, temp_banned_until=until))

    # What always holds

    @invariant()
    def tokens_alive_work_and_others_do_not(self) -> None:
        for token in self.alive:
            own = self._call(self.world.anyone.signed_in(token).get, "/v1/users/@me").expect(200)
            assert own["id"] == self.bob.person.id
        for token in self.dead[-3:]:
            answer = self._call(self.world.anyone.signed_in(token).get, "/v1/users/@me")
            assert refusal(answer) == (401, "UNAUTHORIZED")
        if self.alive:
            sessions = self._call(self.world.anyone.signed_in(self.alive[0]).get, "/v1/auth/sessions").expect(200)
            assert len(sessions) == len(self.alive)


TestSignIn = SignInMachine.TestCase
TestSignIn.settings = MACHINE_SETTINGS
