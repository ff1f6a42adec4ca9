"""A Hypothesis state machine that changes addresses in any order of steps, against a model of what proves what.

The model knows nothing of the table of stages. It keeps what was proved with which ticket: the address may only become
one whose code was typed in, with a ticket with which the code of the address before was typed in, and only against the
token that this gave. And whoever has the link that went to an address gets the account back, whatever happened since.
"""

from __future__ import annotations

import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import attrs
import pytest
import trio
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from chat.testing.gateway_machine import MACHINE_SETTINGS
from chat.testing.rest_client import Response
from chat.testing.server import open_chat_server
from chat.testing.stepped_run import SteppedRun
from chat.testing.world import World
from tests.signing_in.mailed import mails
from tests.signing_in.signing_in import errors, set_account

T = TypeVar("T")

TICKET_SECONDS = 1_800
CODE_SECONDS = 600
REVERT_SECONDS = 72 * 3_600
MOST_WRONG = 5
ADDRESSES = ["bob@example.com", "robert@example.com", "rob@example.com"]
TAKEN = "alice@example.com"

NO_TICKET = [("ticket", "INVALID_OR_EXPIRED_TICKET")]
NO_PROOF = [("original_proof", "INVALID_OR_EXPIRED_TICKET")]
NO_TOKEN = [("email_token", "INVALID_OR_EXPIRED_TICKET")]
NO_REVERT = [("token", "INVALID_OR_EXPIRED_REVERT_TOKEN")]
WRONG_CODE = [("code", "INVALID_CODE")]
NOBODYS = "x" * 43


@attrs.define
class ModelCode:
    """A code that was mailed last. Times in seconds of the run."""

    text: str
    until: float


@attrs.define
class ModelTicket:
    """What was proved with a ticket."""

    secret: str
    made_at: float
    address: str
    code: ModelCode | None
    proof: str | None = None
    new: str | None = None
    wrong: int = 0
    over: bool = False


@attrs.define
class ModelToken:
    """What stands for a change that both addresses agree to."""

    secret: str
    made_at: float
    address: str
    new: str
    over: bool = False


@attrs.define
class ModelRevert:
    """A link that went to an address that was left."""

    secret: str
    made_at: float
    address: str
    over: bool = False


class EmailChangeMachine(RuleBasedStateMachine):
    """See the module."""

    def __init__(self) -> None:
        super().__init__()
        self.address = ADDRESSES[0]
        self.tickets: list[ModelTicket] = []
        self.tokens: list[ModelToken] = []
        self.reverts: list[ModelRevert] = []
        self.passwords = 0
        self._folder = tempfile.TemporaryDirectory(prefix="chat-email-change-")
        self._run = SteppedRun(virtual=True)
        self._call(self._open)
        self.client = self.world.bob.rest
        self.password = self.world.bob.password

    def _call(self, ask: Callable[..., Awaitable[T]], *arguments: Any) -> T:
        return self._run.call(ask, *arguments)

    async def _open(self) -> None:
        await self._run.nursery.start(self._live)

    async def _live(self, task_status: trio.TaskStatus[None]) -> None:
        async with open_chat_server(Path(self._folder.name)) as server:
            self.server = server
            self.world = World(server.description(), server.route(), self._run.nursery)
            task_status.started()
            await trio.sleep_forever()

    def teardown(self) -> None:
        """End the run, and whatever lives in it."""
        self._run.close()
        self._folder.cleanup()

    # What the model knows

    def _now(self) -> float:
        return self.server.clock.now_ms() / 1_000

    def _is_good(self, ticket: ModelTicket) -> bool:
        in_time = self._now() < ticket.made_at + TICKET_SECONDS
        return in_time and not ticket.over and ticket.wrong < MOST_WRONG and ticket.address == self.address

    def _step(self, name: str, **members: object) -> Response:
        return self._call(self.client.post, f"/v1/users/@me/email-change/{name}", members)

    def _mailed(self, kind: str) -> str:
        token: str = self._call(mails, self.world, kind)[-1]["token"]
        return token

    def _code(self, ticket: ModelTicket) -> ModelCode:
        until = min(self._now() + CODE_SECONDS, ticket.made_at + TICKET_SECONDS)
        return ModelCode(self._mailed("email_change"), until)

    def _is_right(self, ticket: ModelTicket, typed: str) -> bool:
        return ticket.code is not None and typed == ticket.code.text and self._now() < ticket.code.until

    # Steps, in any order, with anything that was ever given out

    @rule()
    def start(self) -> None:
        body = self._step("start").expect(200)
        assert body["require_original"] is True
        assert body["original_email"] == self.address
        for ticket in self.tickets:
            ticket.over = True
        ticket = ModelTicket(body["ticket"], self._now(), self.address, None)
        ticket.code = self._code(ticket)
        self.tickets.append(ticket)

    @precondition(lambda self: self.tickets)
    @rule(data=st.data())
    def type_the_code_of_the_old_address(self, data: st.DataObject) -> None:
        ticket, typed = self._draw_ticket_and_code(data)
        self._type_old(ticket, typed)

    def _type_old(self, ticket: ModelTicket, typed: str) -> None:
        answer = self._step("verify-original", ticket=ticket.secret, code=typed)
        if not self._is_good(ticket) or ticket.proof is not None:
            assert errors(answer) == NO_TICKET
        elif self._is_right(ticket, typed):
            ticket.proof = answer.expect(200)["original_proof"]
            ticket.code = None
        else:
            assert errors(answer) == WRONG_CODE
            ticket.wrong += 1

    @precondition(lambda self: self.tickets)
    @rule(data=st.data(), new=st.sampled_from([*ADDRESSES, TAKEN]))
    def ask_for_another_address(self, data: st.DataObject, new: str) -> None:
        self._ask(data.draw(st.sampled_from(self.tickets[-3:])), new, self._draw_proof(data))

    def _ask(self, ticket: ModelTicket, new: str, proof: str) -> None:
        answer = self._step("request-new", ticket=ticket.secret, new_email=new, original_proof=proof)
        if not self._is_good(ticket) or ticket.proof is None:
            assert errors(answer) == NO_TICKET
        elif proof != ticket.proof:
            assert errors(answer) == NO_PROOF
        elif new in (self.address, TAKEN):
            assert errors(answer) == [("new_email", "EMAIL_ALREADY_IN_USE")]
        else:
            answer.expect(200)
            ticket.new, ticket.code = new, self._code(ticket)

    @precondition(lambda self: self.tickets)
    @rule(data=st.data())
    def type_the_code_of_the_new_address(self, data: st.DataObject) -> None:
        ticket, typed = self._draw_ticket_and_code(data)
        self._type_new(ticket, typed, self._draw_proof(data))

    def _type_new(self, ticket: ModelTicket, typed: str, proof: str) -> None:
        answer = self._step("verify-new", ticket=ticket.secret, code=typed, original_proof=proof)
        if not self._is_good(ticket) or ticket.new is None:
            assert errors(answer) == NO_TICKET
        elif proof != ticket.proof:
            assert errors(answer) == NO_PROOF
        elif self._is_right(ticket, typed):
            for token in self.tokens:
                token.over = True
            ticket.over = True
            secret = answer.expect(200)["email_token"]
            self.tokens.append(ModelToken(secret, self._now(), self.address, ticket.new))
        else:
            assert errors(answer) == WRONG_CODE
            ticket.wrong += 1

    # What chance alone would seldom do

    def _begun(self) -> ModelTicket:
        self.start()
        return self.tickets[-1]

    def _agreed(self) -> ModelTicket:
        """A ticket with which the old address agreed."""
        ticket = self._begun()
        assert ticket.code is not None
        self._type_old(ticket, ticket.code.text)
        return ticket

    def _asked(self, data: st.DataObject) -> ModelTicket:
        """A ticket with which a new address was asked, too."""
        ticket = self._agreed()
        assert ticket.proof is not None
        new = data.draw(st.sampled_from([address for address in ADDRESSES if address != self.address]))
        self._ask(ticket, new, ticket.proof)
        return ticket

    def _type(self, ticket: ModelTicket, typed: str) -> None:
        """A code where the ticket waits for one."""
        if ticket.proof is None:
            self._type_old(ticket, typed)
        else:
            self._type_new(ticket, typed, ticket.proof)

    @rule(data=st.data(), asks=st.booleans(), wrong=st.integers(1, MOST_WRONG + 1))
    def guess_and_then_know(self, data: st.DataObject, asks: bool, wrong: int) -> None:
        ticket = self._asked(data) if asks else self._begun()
        assert ticket.code is not None
        right = ticket.code.text
        for _ in range(wrong):
            self._type(ticket, "AAAA-AAAA")
        self._type(ticket, right)

    @rule(data=st.data(), asks=st.booleans(), seconds_left=st.sampled_from([1, 0]))
    def come_late(self, data: st.DataObject, asks: bool, seconds_left: int) -> None:
        ticket = self._asked(data) if asks else self._begun()
        assert ticket.code is not None
        self._call(trio.sleep, ticket.code.until - seconds_left - self._now())
        self._type(ticket, ticket.code.text)

    @rule(data=st.data(), new=st.sampled_from([*ADDRESSES, TAKEN]))
    def show_the_wrong_proof(self, data: st.DataObject, new: str) -> None:
        ticket = self._asked(data)
        assert ticket.code is not None
        proof = self._draw_proof(data)
        self._type_new(ticket, ticket.code.text, proof)
        self._ask(ticket, new, proof)

    @rule(data=st.data())
    def go_all_the_way(self, data: st.DataObject) -> None:
        ticket = self._asked(data)
        assert ticket.code is not None
        self._type(ticket, ticket.code.text)
        if data.draw(st.booleans()):
            self._apply(self.tokens[-1])

    @precondition(lambda self: self.tokens)
    @rule(data=st.data())
    def apply(self, data: st.DataObject) -> None:
        self._apply(data.draw(st.sampled_from(self.tokens)))

    def _apply(self, token: ModelToken) -> None:
        answer = self._step("apply", email_token=token.secret, password=self.password)
        in_time = self._now() < token.made_at + TICKET_SECONDS
        if not in_time or token.over or token.address != self.address:
            assert errors(answer) == NO_TOKEN
            return
        assert answer.expect(200)["email"] == token.new
        self._all_over()
        self.reverts.append(ModelRevert(self._mailed("email_revert"), self._now(), self.address))
        self.address = token.new

    # The way back

    @precondition(lambda self: self.reverts)
    @rule(data=st.data())
    def take_it_back(self, data: st.DataObject) -> None:
        revert = data.draw(st.sampled_from(self.reverts))
        self.passwords += 1
        password = f"password number {self.passwords}"
        body = {"token": revert.secret, "password": password}
        answer = self._call(self.world.anyone.post, "/v1/auth/email-revert", body)
        if revert.over or self._now() >= revert.made_at + REVERT_SECONDS:
            assert errors(answer) == NO_REVERT
            return
        self.client = self.world.anyone.signed_in(answer.expect(200)["token"])
        self.password, self.address = password, revert.address
        self._all_over()
        for other in self.reverts:
            other.over = other.over or other.made_at >= revert.made_at

    # What else happens

    @rule(seconds=st.sampled_from([1, 31, CODE_SECONDS, TICKET_SECONDS]))
    def let_time_pass(self, seconds: int) -> None:
        self._call(trio.sleep, seconds)

    @rule(email=st.sampled_from(ADDRESSES))
    def somebody_wants_the_address(self, email: str) -> None:
        kept = {revert.address for revert in self.reverts if self._now() < revert.made_at + REVERT_SECONDS}
        gone = {revert.address for revert in self.reverts if revert.over}
        if email == self.address or email in kept - gone:
            answer = self._call(lambda: self.world.anyone.register(email=email, username="thief"))
            assert errors(answer) == [("email", "EMAIL_ALREADY_IN_USE")]

    @invariant()
    def the_address_is_the_model_s(self) -> None:
        account = self._call(set_account, self.world, self.world.bob.id)
        assert (account["email"], account["email_verified"]) == (self.address, True)

    def _all_over(self) -> None:
        for one in (*self.tickets, *self.tokens):
            one.over = True

    def _draw_ticket_and_code(self, data: st.DataObject) -> tuple[ModelTicket, str]:
        ticket = data.draw(st.sampled_from(self.tickets[-3:]))
        codes = [known.code.text for known in self.tickets[-3:] if known.code is not None]
        typed = data.draw(st.sampled_from([*([ticket.code.text] * 3 if ticket.code else []), *codes, "AAAA-AAAA"]))
        return ticket, typed

    def _draw_proof(self, data: st.DataObject) -> str:
        proofs = [known.proof for known in self.tickets[-3:] if known.proof is not None]
        return data.draw(st.sampled_from([*proofs, NOBODYS]))


EmailChangeMachine.TestCase.settings = MACHINE_SETTINGS
test_addresses_change_by_two_proofs_and_go_back_by_one = pytest.mark.long(EmailChangeMachine.TestCase)
