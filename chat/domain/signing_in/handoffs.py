"""A program is signed in through a browser: by a hand-off or over the passkey bridge (signing_in.md, Hand-off, Passkey
bridge).

Hand-off: the program asks for a code and shows it, or opens a page with it. In the browser a signed-in person sees
where the code was asked for and agrees to it. The program, which asks how its code stands, gets a sign-in of its own,
once. Only the network that asked for a code is told how it stands: reading it over a shoulder gains nothing.

Passkey bridge, for a program that cannot ask an authenticator itself: it starts a bridge with the hash of a secret that
it keeps (PKCE, RFC 7636). The page at the bridge's address asks for a passkey and notes on the bridge whom it proved.
The program shows its secret and is signed in. The address alone is worth nothing, and neither is the secret before a
passkey was shown. What was noted counts no longer once the account has another password, or not that passkey any more.

What was agreed to or proved and is not collected yet belongs to the account, and ends as soon as a sign-in of it is
ended: else somebody who was signed out would come back.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import sqlite3
from collections.abc import Mapping
from typing import Any, Final

import attrs
import structlog

from chat import wire
from chat.auth.client_address import network_of
from chat.auth.principal import Principal
from chat.auth.tokens import base64url, token_hash
from chat.auth.typed_codes import ALPHABET
from chat.auth.webauthn import claim_of
from chat.classes import define, frozen
from chat.clock import iso_timestamp
from chat.domain.core import Core
from chat.domain.signing_in.authentication import Authentication, SignedIn, SignInMethod, passkey_failed
from chat.domain.signing_in.client_info import masked_address
from chat.domain.signing_in.passkey_assertions import ChallengeContext, PasskeyAssertions
from chat.domain.signing_in.sign_ins import BRIDGE, HANDOFF, RequestOrigin, SignIns, SignInStanding
from chat.errors import ApiError, InvalidFormBody
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.limits import PASSKEY_BRIDGE_MS
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.guard import Guard
from chat.store.signing_in import tickets, webauthn_credentials
from chat.store.signing_in.tickets import Ticket

CODE_CHARACTERS: Final = 12
"""60 bits, shown in two halves."""

LIFETIME_MS: Final = 5 * 60_000
"""How long the code of a hand-off works."""

KEPT_MS: Final = 5 * 60_000
"""For how long a code is known to have expired; after that it is unknown."""

_CODE_CHALLENGE: Final = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)
"""A SHA-256 in unpadded base64url."""

log: Final = structlog.get_logger("chat.accounts")


@define(kw_only=True, eq=False)
class Handoffs:
    """Gives out codes, takes people's consent to them, and signs programs in."""

    _core: Core
    _authentication: Authentication
    _sign_ins: SignIns

    async def initiate(self, client: RequestOrigin) -> wire.HandoffStarted:
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
        ticket = Ticket(_key(code), HANDOFF, None, body, now, now + LIFETIME_MS + KEPT_MS)
        await self._core.database.write(lambda connection: tickets.insert(connection, ticket), guard=client.guard)
        return {"code": code, "expires_at": iso_timestamp(now + LIFETIME_MS)}

    def info(self, code: str) -> wire.HandoffInfo:
        """Where a code was asked for, for the person who is to agree to it.

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
        """Agree that the program that asked for the code is signed in to the caller's account.

        :raises ApiError: INVALID_HANDOFF_CODE, also for a code that was agreed to before; HANDOFF_CODE_EXPIRED.
        """

        def unit(connection: sqlite3.Connection) -> None:
            ticket = self._open(connection, code)
            account = accounts.by_id(connection, principal.user_id)
            if ticket.body["consent"] is not None or account is None:
                raise ApiError(ErrorCode.INVALID_HANDOFF_CODE)
            consent = {"user_id": account.id, **SignInStanding.of(account).as_members()}
            body = {**ticket.body, "consent": consent}
            tickets.replace_body(connection, ticket.secret_hash, body, user_id=account.id)

        await self._core.database.write(unit, guard=principal.guard)
        log.info("hand-off agreed to", user_id=principal.user_id)

    async def status(self, code: str, client: RequestOrigin) -> SignedIn | None:
        """Sign the program in whose code it is, once; None until a person has agreed.

        :raises ApiError: INVALID_HANDOFF_CODE, also from another network than the code's; HANDOFF_CODE_EXPIRED; as
            `Authentication.complete`.
        """
        ticket = self._own(self._core.database.reader, code, client)
        consent = ticket.body["consent"]
        if consent is None:
            return None
        unknown = ApiError(ErrorCode.INVALID_HANDOFF_CODE)
        account = accounts.by_id(self._core.database.reader, consent["user_id"])
        if account is None:
            raise unknown
        standing = SignInStanding.from_members(consent)

        def change(connection: sqlite3.Connection, account: Account) -> Account:
            self._sign_ins.admitted(connection, account)
            taken = tickets.take(connection, HANDOFF, ticket.secret_hash, self._core.clock.now_ms())
            if taken is None or standing.was_closed_since(account) or not standing.has_password_of(account):
                raise unknown
            return account

        return await self._authentication.complete(
            account, client, SignInMethod(refused=unknown, change=change, proved_at=None)
        )

    async def cancel(self, code: str, client: RequestOrigin) -> None:
        """Give a code up.

        :raises ApiError: INVALID_HANDOFF_CODE, also from another network than the code's; HANDOFF_CODE_EXPIRED.
        """
        await self._core.database.write(
            lambda connection: tickets.delete(connection, self._own(connection, code, client).secret_hash),
            guard=client.guard,
        )

    def _own(self, connection: sqlite3.Connection, code: str, client: RequestOrigin) -> Ticket:
        ticket = self._open(connection, code)
        if network_of(ticket.body["address"]) != network_of(client.address):
            raise ApiError(ErrorCode.INVALID_HANDOFF_CODE)
        return ticket

    def _open(self, connection: sqlite3.Connection, code: str) -> Ticket:
        now = self._core.clock.now_ms()
        ticket = tickets.find(connection, HANDOFF, _key(code), now)
        if ticket is None:
            raise ApiError(ErrorCode.INVALID_HANDOFF_CODE)
        if ticket.body["expires_at"] <= now:
            raise ApiError(ErrorCode.HANDOFF_CODE_EXPIRED)
        return ticket


def _key(code: str) -> bytes:
    """Under which a code is kept; letter case, hyphens and blanks do not matter."""
    return token_hash("handoff " + "".join(code.upper().replace("-", "").split()))


@frozen
class Bridge:
    """A bridge as its program learns of it."""

    id: str = attrs.field(repr=False)
    url: str = attrs.field(repr=False)
    expires_at: int

    def answer(self) -> wire.PasskeyBridge:
        """The answer to start."""
        return {"bridge_id": self.id, "url": self.url, "expires_at": iso_timestamp(self.expires_at)}


@define(kw_only=True, eq=False)
class PasskeyBridge:
    """Starts bridges, takes passkeys on them, and lets programs over them."""

    _core: Core
    _authentication: Authentication
    _sign_ins: SignIns
    _assertions: PasskeyAssertions

    async def start(self, code_challenge: str, origin: str, guard: Guard) -> Bridge:
        """A new bridge for the program that knows what hashes to `code_challenge`; its page is at this origin.

        :raises InvalidFormBody: INVALID_FORMAT at `code_challenge` for what is no SHA-256.
        """
        if _CODE_CHALLENGE.fullmatch(code_challenge) is None:
            raise InvalidFormBody.at("code_challenge", FieldCode.INVALID_FORMAT)
        bridge_id = self._core.mint.secret()
        now = self._core.clock.now_ms()
        body = {"code_challenge": code_challenge, "proved": None}
        ticket = Ticket(token_hash(bridge_id), BRIDGE, None, body, now, now + PASSKEY_BRIDGE_MS)
        await self._core.database.write(lambda connection: tickets.insert(connection, ticket), guard=guard)
        url = f"{origin}/passkey-bridge#bridge_id={bridge_id}"
        return Bridge(bridge_id, url, ticket.expires_at)

    async def options(self, bridge_id: str, guard: Guard) -> wire.WebauthnRequestOptions:
        """What the page asks a passkey for.

        :raises InvalidFormBody: INVALID_OR_EXPIRED_TICKET at `bridge_id`.
        """
        self._unused(self._core.database.reader, bridge_id)
        return await self._assertions.options(ChallengeContext.BRIDGE, None, guard)

    async def complete(self, bridge_id: str, response: Mapping[str, Any], challenge: str, guard: Guard) -> None:
        """Note on the bridge whom a passkey proved. One that proves no account leaves the bridge as it is.

        :raises InvalidFormBody: INVALID_OR_EXPIRED_TICKET at `bridge_id`.
        :raises ApiError: PASSKEY_AUTHENTICATION_FAILED; as `SignIns.admitted`.
        """
        self._unused(self._core.database.reader, bridge_id)
        proved = await self._assertions.verify(ChallengeContext.BRIDGE, response, challenge, None, guard)
        claim = claim_of(response)
        if proved is None or proved.is_deleted or claim is None:
            raise passkey_failed()
        self._sign_ins.admitted(self._core.database.reader, proved)

        def unit(connection: sqlite3.Connection) -> None:
            bridge = self._unused(connection, bridge_id)
            shown = {"user_id": proved.id, "passkey": claim.credential_id.hex(), "at": self._core.clock.now_ms()}
            proof = {**shown, **SignInStanding.of(proved).as_members()}
            body = {**bridge.body, "proved": proof}
            tickets.replace_body(connection, bridge.secret_hash, body, user_id=proved.id)

        await self._core.database.write(unit, guard=guard)
        log.info("passkey bridge completed", user_id=proved.id)

    async def redeem(self, bridge_id: str, code_verifier: str, client: RequestOrigin) -> SignedIn | None:
        """Sign the program in, once; None until a passkey was shown.

        :raises InvalidFormBody: INVALID_OR_EXPIRED_TICKET at `bridge_id`, for a wrong verifier as well.
        :raises ApiError: as `Authentication.complete`.
        """
        bridge = self._bridge(self._core.database.reader, bridge_id)
        if not hmac.compare_digest(bridge.body["code_challenge"], _hashed(code_verifier)):
            raise _unknown()
        proof = bridge.body["proved"]
        if proof is None:
            return None
        account = accounts.by_id(self._core.database.reader, proof["user_id"])
        if account is None:
            raise _unknown()
        standing = SignInStanding.from_members(proof)

        def change(connection: sqlite3.Connection, account: Account) -> Account:
            taken = tickets.take(connection, BRIDGE, bridge.secret_hash, self._core.clock.now_ms())
            passkey = webauthn_credentials.by_id(connection, bytes.fromhex(proof["passkey"]))
            if taken is None or passkey is None or passkey.user_id != account.id or passkey.replaced_by is not None:
                raise _unknown()
            if standing.was_closed_since(account) or not standing.has_password_of(account):
                raise _unknown()
            return account

        way = SignInMethod(refused=_unknown(), change=change, proved_at=proof.get("at"))
        return await self._authentication.complete(account, client, way)

    def _bridge(self, connection: sqlite3.Connection, bridge_id: str) -> Ticket:
        bridge = tickets.find(connection, BRIDGE, token_hash(bridge_id), self._core.clock.now_ms())
        if bridge is None:
            raise _unknown()
        return bridge

    def _unused(self, connection: sqlite3.Connection, bridge_id: str) -> Ticket:
        """The bridge, if no passkey was shown on it yet."""
        bridge = self._bridge(connection, bridge_id)
        if bridge.body["proved"] is not None:
            raise _unknown()
        return bridge


def _hashed(code_verifier: str) -> str:
    return base64url(hashlib.sha256(code_verifier.encode()).digest())


def _unknown() -> InvalidFormBody:
    return InvalidFormBody.at("bridge_id", FieldCode.INVALID_OR_EXPIRED_TICKET)
