"""Steps that wait for a code from a mail: a ticket says how far the account has come, and which code it waits for.

The holder of the ticket types the code in; as proof that it was right they get a secret, which the next step asks for.
Five wrong codes end the ticket. A code can be mailed again after half a minute, and three times in all.
"""

from __future__ import annotations

import hmac
import sqlite3
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

import attrs

from chat.auth.tokens import token_hash
from chat.auth.typed_codes import TypedCodes
from chat.classes import define, frozen
from chat.domain.core import Core
from chat.errors import InvalidFormBody, RateLimited
from chat.registries.error_codes import FieldCode
from chat.store.accounts.accounts import Account
from chat.store.guard import Guard
from chat.store.signing_in import tickets
from chat.store.signing_in.tickets import Ticket

T = TypeVar("T")

TICKET_LIFETIME_MS: Final = 30 * 60_000
CODE_LIFETIME_MS: Final = 10 * 60_000
"""ASVS 6.5: at most ten minutes."""

RESENT_AFTER_MS: Final = 30_000
CODES_OF_A_STEP: Final = 3
MOST_WRONG: Final = 5

Found = Callable[[sqlite3.Connection], tuple[Account, Ticket]]
"""Finds the account and the ticket of a step, and raises what refuses the step."""


@frozen
class Issued:
    """A code that goes out, and until when it counts. Times are Unix milliseconds."""

    code: str = attrs.field(repr=False)
    expires_at: int
    resend_at: int
    """From when on another one can be asked for."""


@define(kw_only=True, eq=False)
class MailedCodes:
    """Keeps track of tickets that wait for codes. A ticket counts only while the account has the email address that it
    had when the ticket was opened."""

    _core: Core
    _codes: TypedCodes

    def open(
        self, connection: sqlite3.Connection, kind: str, account: Account, members: Mapping[str, Any]
    ) -> tuple[str, Ticket]:
        """In a unit of writing: a ticket in place of those of its kind that the account has, after its secret."""
        now = self._core.clock.now_ms()
        secret = self._core.mint.secret()
        body = {"email": account.email, **members}
        ticket = Ticket(token_hash(secret), kind, account.id, body, now, now + TICKET_LIFETIME_MS)
        tickets.delete_of_user(connection, account.id, kind)
        tickets.insert(connection, ticket)
        return secret, ticket

    def find(self, connection: sqlite3.Connection, kind: str, account: Account, secret: str) -> Ticket:
        """The account's ticket with this secret.

        :raises InvalidFormBody: INVALID_OR_EXPIRED_TICKET at `ticket`.
        """
        ticket = tickets.find(connection, kind, token_hash(secret), self._core.clock.now_ms())
        if ticket is None or ticket.user_id != account.id or ticket.body["email"] != account.email:
            raise refused_ticket()
        return ticket

    def issue(self, connection: sqlite3.Connection, ticket: Ticket, members: Mapping[str, Any] | None = None) -> Issued:
        """In a unit of writing: the ticket waits for a new code. `members` are what else changes of its body.

        Without `members` it is the same step's code once more.

        :raises RateLimited: too soon after the last one, or when the step had all its codes.
        """
        now = self._core.clock.now_ms()
        sent = 0
        if members is None:
            sent = ticket.body["codes_sent"]
            if sent >= CODES_OF_A_STEP:
                raise RateLimited((ticket.expires_at - now) / 1000)
            if now < ticket.body["resend_at"]:
                raise RateLimited((ticket.body["resend_at"] - now) / 1000)
        code = self._codes.mailed()
        issued = Issued(code, min(now + CODE_LIFETIME_MS, ticket.expires_at), now + RESENT_AFTER_MS)
        waits = {
            "code": self._codes.digest(code, ticket.secret_hash).hex(),
            "code_expires_at": issued.expires_at,
            "resend_at": issued.resend_at,
            "codes_sent": sent + 1,
        }
        tickets.replace_body(connection, ticket.secret_hash, {**ticket.body, **(members or {}), **waits})
        return issued

    async def resend(
        self, found: Found, mail: Callable[[sqlite3.Connection, Ticket, Issued], None], guard: Guard
    ) -> None:
        """Issue another code in place of the one that the ticket waits for, and `mail` it in the same unit of writing.

        :raises InvalidFormBody: what `found` raises.
        :raises RateLimited: as `issue`.
        """

        def unit(connection: sqlite3.Connection) -> None:
            _, ticket = found(connection)
            mail(connection, ticket, self.issue(connection, ticket))

        await self._core.database.write(unit, guard=guard)

    async def take(
        self,
        code: str,
        found: Found,
        go_on: Callable[[sqlite3.Connection, Account, Ticket], T],
        guard: Guard,
        then: Callable[[T], None] = lambda done: None,
    ) -> T:
        """Take a typed code: the right one does `go_on` in the same unit of writing, and `then` after the commit.

        :raises InvalidFormBody: INVALID_CODE at `code`; what `found` and `go_on` raise.
        """

        def unit(connection: sqlite3.Connection) -> tuple[T] | None:
            account, ticket = found(connection)
            is_known = self._codes.matches(code, ticket.secret_hash, bytes.fromhex(ticket.body["code"]))
            if is_known and self._core.clock.now_ms() < ticket.body["code_expires_at"]:
                return (go_on(connection, account, ticket),)
            tickets.count_attempt(connection, ticket.secret_hash, MOST_WRONG)
            return None  # a refusal raised here would undo the count

        done = await self._core.database.write(unit, lambda done: None if done is None else then(done[0]), guard=guard)
        if done is None:
            raise wrong_code()
        return done[0]

    def prove(self, connection: sqlite3.Connection, ticket: Ticket, members: Mapping[str, Any]) -> str:
        """In a unit of writing: the code was right, and the ticket goes on with `members`; the proof of it."""
        proof = self._core.mint.secret()
        body = {**ticket.body, **members, "code": "", "proof": token_hash(proof).hex()}
        tickets.replace_body(connection, ticket.secret_hash, body)
        return proof

    def require_proof(self, ticket: Ticket, proof: str, *, path: str) -> None:
        """Return if this is the proof of the ticket.

        :raises InvalidFormBody: INVALID_OR_EXPIRED_TICKET at `path`.
        """
        known: str = ticket.body.get("proof", "")
        if not hmac.compare_digest(token_hash(proof).hex(), known):
            raise refused_ticket(path)


def refused_ticket(path: str = "ticket") -> InvalidFormBody:
    """What a secret gets that is unknown, used, over, another account's or of another step."""
    return InvalidFormBody.at(path, FieldCode.INVALID_OR_EXPIRED_TICKET)


def wrong_code() -> InvalidFormBody:
    """What a code gets that is wrong or over."""
    return InvalidFormBody.at("code", FieldCode.INVALID_CODE)
