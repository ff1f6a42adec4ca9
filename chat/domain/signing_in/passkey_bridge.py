"""The passkey bridge: a program that cannot ask an authenticator itself sends the person to a page in a browser
(signing_in.md, Passkey bridge).

The program starts a bridge with the hash of a secret that it keeps (PKCE, RFC 7636). The page at the bridge's address
asks for a passkey and notes on the bridge whom it proved. The program shows its secret and is signed in. The address
alone is worth nothing, and neither is the secret before a passkey was shown. What was noted counts no longer once the
account has another password, or not that passkey any more.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import sqlite3
from collections.abc import Mapping
from typing import Any, Final

import attrs
import structlog

from chat.auth.tokens import token_hash
from chat.auth.webauthn_responses import claim_of
from chat.clock import iso_timestamp
from chat.domain.core import Core
from chat.domain.signing_in.authentication import Authentication, SignedIn
from chat.domain.signing_in.login_completion import passkey_failed
from chat.domain.signing_in.second_factors import SecondFactors
from chat.domain.signing_in.sign_ins import Client, SignIns, Standing
from chat.domain.signing_in.webauthn_challenges import ChallengeContext
from chat.errors import InvalidFormBody
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.signing_in import tickets, webauthn_credentials
from chat.store.signing_in.tickets import Ticket

log: Final = structlog.get_logger("chat.accounts")

KIND: Final = "passkey_bridge"
LIFETIME_MS: Final = 5 * 60_000

_CODE_CHALLENGE: Final = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)
"""A SHA-256 in unpadded base64url."""


@attrs.frozen
class Bridge:
    """A bridge as its program learns of it."""

    id: str = attrs.field(repr=False)
    url: str = attrs.field(repr=False)
    expires_at: int

    def answer(self) -> dict[str, Any]:
        """The answer to start."""
        return {"bridge_id": self.id, "url": self.url, "expires_at": iso_timestamp(self.expires_at)}


@attrs.define(kw_only=True, eq=False)
class PasskeyBridge:
    """Starts bridges, takes passkeys on them, and lets programs over them."""

    _core: Core
    _authentication: Authentication
    _sign_ins: SignIns
    _factors: SecondFactors

    async def start(self, code_challenge: str, origin: str) -> Bridge:
        """A new bridge for the program that knows what hashes to `code_challenge`; its page is at this origin.

        :raises InvalidFormBody: INVALID_FORMAT at `code_challenge` for what is no SHA-256.
        """
        if _CODE_CHALLENGE.fullmatch(code_challenge) is None:
            raise InvalidFormBody.at("code_challenge", "INVALID_FORMAT")
        bridge_id = self._core.mint.secret()
        now = self._core.clock.now_ms()
        body = {"code_challenge": code_challenge, "proved": None}
        ticket = Ticket(token_hash(bridge_id), KIND, None, body, now, now + LIFETIME_MS)
        await self._core.database.write(lambda connection: tickets.insert(connection, ticket))
        url = f"{origin}/passkey-bridge#bridge_id={bridge_id}"
        return Bridge(bridge_id, url, ticket.expires_at)

    async def options(self, bridge_id: str) -> dict[str, Any]:
        """What the page asks a passkey for.

        :raises InvalidFormBody: INVALID_OR_EXPIRED_TICKET at `bridge_id`.
        """
        self._unused(self._core.database.reader, bridge_id)
        return await self._factors.authentication_options(ChallengeContext.BRIDGE, None)

    async def complete(self, bridge_id: str, response: Mapping[str, Any], challenge: str) -> None:
        """Note on the bridge whom a passkey proved. One that proves nobody leaves the bridge as it is.

        :raises InvalidFormBody: INVALID_OR_EXPIRED_TICKET at `bridge_id`.
        :raises ApiError: PASSKEY_AUTHENTICATION_FAILED; as `SignIns.admitted`.
        """
        self._unused(self._core.database.reader, bridge_id)
        proved = await self._factors.verify_assertion(ChallengeContext.BRIDGE, response, challenge, None)
        claim = claim_of(response)
        if proved is None or proved.is_deleted or claim is None:
            raise passkey_failed()
        self._sign_ins.admitted(self._core.database.reader, proved)

        def unit(connection: sqlite3.Connection) -> None:
            bridge = self._unused(connection, bridge_id)
            shown = {"user_id": proved.id, "passkey": claim.credential_id.hex(), "at": self._core.clock.now_ms()}
            proof = {**shown, **Standing.of(proved).as_members()}
            tickets.replace_body(connection, bridge.secret_hash, {**bridge.body, "proved": proof})

        await self._core.database.write(unit)
        log.info("passkey bridge completed", user_id=proved.id)

    async def redeem(self, bridge_id: str, code_verifier: str, client: Client) -> SignedIn | None:
        """Sign the program in, once; None while nobody has shown a passkey.

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
        standing = Standing.from_members(proof)

        def change(connection: sqlite3.Connection, account: Account) -> Account:
            taken = tickets.take(connection, KIND, bridge.secret_hash, self._core.clock.now_ms())
            passkey = webauthn_credentials.by_id(connection, bytes.fromhex(proof["passkey"]))
            if taken is None or passkey is None or passkey.user_id != account.id or passkey.replaced_by is not None:
                raise _unknown()
            if standing.was_closed_since(account) or not standing.has_password_of(account):
                raise _unknown()
            return account

        return await self._authentication.complete(
            account, client, refused=_unknown(), change=change, proved_at=proof.get("at")
        )

    def _bridge(self, connection: sqlite3.Connection, bridge_id: str) -> Ticket:
        bridge = tickets.find(connection, KIND, token_hash(bridge_id), self._core.clock.now_ms())
        if bridge is None:
            raise _unknown()
        return bridge

    def _unused(self, connection: sqlite3.Connection, bridge_id: str) -> Ticket:
        """The bridge, if nobody has shown a passkey on it yet."""
        bridge = self._bridge(connection, bridge_id)
        if bridge.body["proved"] is not None:
            raise _unknown()
        return bridge


def _hashed(code_verifier: str) -> str:
    digest = hashlib.sha256(code_verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode("ascii")


def _unknown() -> InvalidFormBody:
    return InvalidFormBody.at("bridge_id", "INVALID_OR_EXPIRED_TICKET")
