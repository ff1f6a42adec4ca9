"""Hand-off: a program is signed in by somebody who is signed in already in a browser (signing_in.md, Hand-off).

The program asks for a code and shows it, or opens a page with it. In the browser the signed-in person sees where the
code was asked for and agrees to it. The program, which asks how its code stands, gets a sign-in of its own, once. Only
the network that asked for a code is told how it stands: whoever reads it over a shoulder gains nothing by it.
"""

from __future__ import annotations

import sqlite3
from typing import Any, Final

import attrs
import structlog

from chat.auth.client_address import network_of
from chat.auth.principal import Principal
from chat.auth.tokens import token_hash
from chat.auth.typed_codes import ALPHABET
from chat.clock import iso_timestamp
from chat.domain.core import Core
from chat.domain.signing_in.authentication import Authentication, SignedIn
from chat.domain.signing_in.client_info import masked_address
from chat.domain.signing_in.sign_ins import Client, SignIns, Standing
from chat.errors import ApiError
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.signing_in import tickets
from chat.store.signing_in.tickets import Ticket

KIND: Final = "handoff"
CODE_CHARACTERS: Final = 12
"""60 bits, shown in two halves."""

LIFETIME_MS: Final = 5 * 60_000
KEPT_MS: Final = 5 * 60_000
"""For how long a code is known to have expired; after that it is unknown."""

log: Final = structlog.get_logger("chat.accounts")


@attrs.define(kw_only=True, eq=False)
class Handoffs:
    """Gives out codes, takes people's consent to them, and signs programs in."""

    _core: Core
    _authentication: Authentication
    _sign_ins: SignIns

    async def initiate(self, client: Client) -> dict[str, Any]:
        """A new code for a program."""
        characters = "".join(self._core.chance.choice(ALPHABET) for _ in range(CODE_CHARACTERS))
        code = f"{characters[:6]}-{characters[6:]}"
        now = self._core.clock.now_ms()
        body = {
            "address": client.address,
            "user_agent": client.user_agent,
            "os": client.os,
            "platform": client.platform,
            "expires_at": now + LIFETIME_MS,
            "consent": None,
        }
        ticket = Ticket(_key(code), KIND, None, body, now, now + LIFETIME_MS + KEPT_MS)
        await self._core.database.write(lambda connection: tickets.insert(connection, ticket))
        return {"code": code, "expires_at": iso_timestamp(now + LIFETIME_MS)}

    def info(self, code: str) -> dict[str, Any]:
        """Where a code was asked for, for whoever is to agree to it.

        :raises ApiError: INVALID_HANDOFF_CODE, HANDOFF_CODE_EXPIRED.
        """
        body = self._open(self._core.database.reader, code).body
        return {
            "client_os": body["os"],
            "client_platform": body["platform"],
            "user_agent": body["user_agent"],
            "masked_ip": masked_address(body["address"]),
            "expires_at": iso_timestamp(body["expires_at"]),
        }

    async def complete(self, principal: Principal, code: str) -> None:
        """Agree that whoever asked for the code is signed in to the caller's account.

        :raises ApiError: INVALID_HANDOFF_CODE, also for a code that somebody has agreed to; HANDOFF_CODE_EXPIRED.
        """

        def unit(connection: sqlite3.Connection) -> None:
            ticket = self._open(connection, code)
            account = accounts.by_id(connection, principal.user_id)
            if ticket.body["consent"] is not None or account is None:
                raise ApiError("INVALID_HANDOFF_CODE")
            consent = {"user_id": account.id, **Standing.of(account).as_members()}
            tickets.replace_body(connection, ticket.secret_hash, {**ticket.body, "consent": consent})

        await self._core.database.write(unit)
        log.info("hand-off agreed to", user_id=principal.user_id)

    async def status(self, code: str, client: Client) -> SignedIn | None:
        """Sign the program in whose code it is, once; None while nobody has agreed.

        :raises ApiError: INVALID_HANDOFF_CODE, also from another network than the code's; HANDOFF_CODE_EXPIRED; as
            `Authentication.complete`.
        """
        ticket = self._own(self._core.database.reader, code, client)
        consent = ticket.body["consent"]
        if consent is None:
            return None
        unknown = ApiError("INVALID_HANDOFF_CODE")
        account = accounts.by_id(self._core.database.reader, consent["user_id"])
        if account is None:
            raise unknown
        standing = Standing.from_members(consent)

        def change(connection: sqlite3.Connection, account: Account) -> Account:
            self._sign_ins.admitted(connection, account)
            taken = tickets.take(connection, KIND, ticket.secret_hash, self._core.clock.now_ms())
            if taken is None or standing.was_closed_since(account) or not standing.has_password_of(account):
                raise unknown
            return account

        return await self._authentication.complete(account, client, refused=unknown, change=change, proved_at=None)

    async def cancel(self, code: str, client: Client) -> None:
        """Give a code up.

        :raises ApiError: INVALID_HANDOFF_CODE, also from another network than the code's; HANDOFF_CODE_EXPIRED.
        """
        await self._core.database.write(
            lambda connection: tickets.delete(connection, self._own(connection, code, client).secret_hash)
        )

    def _own(self, connection: sqlite3.Connection, code: str, client: Client) -> Ticket:
        ticket = self._open(connection, code)
        if network_of(ticket.body["address"]) != network_of(client.address):
            raise ApiError("INVALID_HANDOFF_CODE")
        return ticket

    def _open(self, connection: sqlite3.Connection, code: str) -> Ticket:
        now = self._core.clock.now_ms()
        ticket = tickets.find(connection, KIND, _key(code), now)
        if ticket is None:
            raise ApiError("INVALID_HANDOFF_CODE")
        if ticket.body["expires_at"] <= now:
            raise ApiError("HANDOFF_CODE_EXPIRED")
        return ticket


def _key(code: str) -> bytes:
    """Under which a code is kept; letter case, hyphens and blanks do not matter."""
    return token_hash("handoff " + "".join(code.upper().replace("-", "").split()))
