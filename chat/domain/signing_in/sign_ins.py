"""Sign-ins: making them, listing them, ending them, and noting when they were last used.

Each way of signing in leads to `SignIns.enter`, where the account's state is judged and the sign-in begins.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from chat import wire
from chat.auth.principal import Principal
from chat.auth.tokens import digest_of, id_hash, token_hash
from chat.classes import define, frozen
from chat.clock import iso_timestamp
from chat.domain.core import Core
from chat.domain.policy.due_work import NotedUses
from chat.domain.signing_in.client_info import AddressLookups, UserAgents, client_info, masked_address
from chat.domain.standing.user_objects import partial_user
from chat.errors import ApiError
from chat.registries.error_codes import ErrorCode
from chat.registries.limits import SUDO_PROOF_MS
from chat.registries.user_flags import UserFlag
from chat.store.accounts import account_deletions, accounts
from chat.store.accounts.accounts import Account
from chat.store.database import Database
from chat.store.guard import UNGUARDED, Guard
from chat.store.signing_in import auth_sessions, pending_registrations, tickets
from chat.store.signing_in.auth_sessions import AuthSession

HANDOFF: Final = "handoff"
BRIDGE: Final = "passkey_bridge"
"""The kinds of tickets by which a browser signs a program in (`chat.domain.signing_in.handoffs`)."""

USES_LIMIT: Final = 100_000
"""Sign-ins used within that time of which a note is kept; the use of further ones is not noted."""

CLOSED_BY_HOLDER: Final = int(UserFlag.DISABLED | UserFlag.SELF_DELETED)
"""What the holder's own sign-in takes back (signing_in.md, Login)."""


@frozen
class RequestOrigin:
    """Where a request comes from: address, User-Agent and what native clients say of themselves."""

    address: str
    user_agent: str | None = None
    os: str | None = None
    platform: str | None = None
    guard: Guard = attrs.field(default=UNGUARDED, eq=False, repr=False)
    """Of the request."""

    def kept(self) -> dict[str, str | None]:
        """What of it is stored until the sign-in goes on; the reverse is `RequestOrigin(**kept)`."""
        return {"address": self.address, "user_agent": self.user_agent, "os": self.os, "platform": self.platform}


@frozen
class SignIn:
    """A sign-in about to be written, with the token that is told once."""

    token: str = attrs.field(repr=False)
    session: AuthSession

    def answer(self, account: Account) -> wire.SignedIn:
        """The token response (signing_in.md, Login)."""
        return {"token": self.token, "user_id": str(account.id), "user": partial_user(account)}


@frozen
class SignInStanding:
    """How an account stood when a part of what it takes to sign in was proved.

    What was proved counts for nothing once the password is another one, or the holder has closed the account since.
    """

    password: str
    """The SHA-256, in hexadecimal digits, of the password's stored hash."""
    closed: int
    """Those flags of CLOSED_BY_HOLDER that were set."""

    @classmethod
    def of(cls, account: Account) -> SignInStanding:
        """The account's state for a later comparison."""
        return cls(token_hash(account.password_hash or "").hex(), account.flags & CLOSED_BY_HOLDER)

    @classmethod
    def from_members(cls, members: Mapping[str, Any]) -> SignInStanding:
        """The reverse of `as_members`."""
        return cls(members["password"], members["closed"])

    def as_members(self) -> Mapping[str, object]:
        """Members for the body of a ticket."""
        return {"password": self.password, "closed": self.closed}

    def has_password_of(self, account: Account) -> bool:
        """Whether the account's password is the same still."""
        return SignInStanding.of(account).password == self.password

    def was_closed_since(self, account: Account) -> bool:
        """Whether the holder has closed the account in the meantime."""
        return bool(account.flags & CLOSED_BY_HOLDER & ~self.closed)


@define(kw_only=True, eq=False)
class SignIns(NotedUses[str, tuple[int, int, str]]):
    """The sign-ins of all accounts; of their uses it notes account, moment and IP address."""

    _core: Core
    _lookups: AddressLookups
    _user_agents: UserAgents

    def new(self, user_id: int, client: RequestOrigin, *, proved_at: int | None) -> SignIn:
        """A fresh sign-in of an account; to be written with `auth_sessions.insert`.

        `proved_at` is when a password, a passkey or a provider showed who signs in: mostly `now_ms()`.
        """
        token = self._core.mint.session_token()
        now = self._core.clock.now_ms()
        origin = (client.address, client.user_agent, client.os, client.platform)
        return SignIn(token, AuthSession(token_hash(token), user_id, now, now, *origin, proved_at=proved_at))

    def now_ms(self) -> int:
        """The moment of a proof that is given now."""
        return self._core.clock.now_ms()

    def is_freshly_proved(self, session_id_hash: str | None) -> bool:
        """Whether the sign-in began with a proof that is no older than a sudo token gets (signing_in.md, Sign-ins)."""
        digest = None if session_id_hash is None else digest_of(session_id_hash)
        proved_at = None if digest is None else auth_sessions.proved_at(self._core.database.reader, digest)
        if proved_at is None:
            return False
        return 0 <= self._core.clock.now_ms() - proved_at <= SUDO_PROOF_MS

    def admitted(self, connection: sqlite3.Connection, account: Account) -> Account:
        """The account as a sign-in leaves it: a ban that is over is lifted, and what the holder closed is open.

        Asked only after the caller has proved to be the holder: a refusal tells how the account stands.

        :raises ApiError: BOT_USER_AUTH_ENDPOINT_ACCESS_DENIED; ACCOUNT_SUSPENDED_TEMPORARILY while a ban stands,
            ACCOUNT_SUSPENDED_PERMANENTLY while an administrator's deletion is pending (access.md, Account gates);
            REGISTRATION_PENDING_APPROVAL, REGISTRATION_REJECTED.
        """
        if account.bot:
            raise ApiError(ErrorCode.BOT_USER_AUTH_ENDPOINT_ACCESS_DENIED)
        if account.temp_banned_until is not None and account.temp_banned_until > self._core.clock.now_ms():
            raise ApiError(ErrorCode.ACCOUNT_SUSPENDED_TEMPORARILY)
        if account_deletions.is_ordered(connection, account.id):
            raise ApiError(ErrorCode.ACCOUNT_SUSPENDED_PERMANENTLY)
        pending = pending_registrations.of_user(connection, account.id)
        if pending is not None:
            decided = pending.rejected_at is not None
            raise ApiError(ErrorCode.REGISTRATION_REJECTED if decided else ErrorCode.REGISTRATION_PENDING_APPROVAL)
        return attrs.evolve(account, flags=account.flags & ~CLOSED_BY_HOLDER, temp_banned_until=None)

    def without_past_ban(self, account: Account) -> Account:
        """The account with a ban lifted that is over: any right proof does that (access.md, Account gates)."""
        if account.temp_banned_until is None or account.temp_banned_until > self._core.clock.now_ms():
            return account
        return attrs.evolve(account, flags=account.flags & ~int(UserFlag.DISABLED), temp_banned_until=None)

    def enter(self, connection: sqlite3.Connection, account: Account, sign_in: SignIn) -> Account:
        """In a unit of writing: begin the sign-in, and write the account as that leaves it.

        `account` may differ from what is stored: it is what the way of signing in has made of it.

        :raises ApiError: as `admitted`.
        """
        opened = self.admitted(connection, account)
        if account.flags & UserFlag.SELF_DELETED:
            account_deletions.cancel_own(connection, account.id)
        if opened != accounts.by_id(connection, account.id):
            accounts.replace(connection, opened)
        auth_sessions.insert(connection, sign_in.session)
        accounts.touch(connection, account.id, sign_in.session.created_at, sign_in.session.address)
        return opened

    async def of_account(self, principal: Principal) -> list[wire.AuthSession]:
        """The account's auth session objects, the most recently used first (signing_in.md, Sign-ins)."""
        await self.write_uses()
        user_id = principal.user_id
        sessions = await self._core.database.read(lambda connection: auth_sessions.of_user(connection, user_id))
        agents = await self._user_agents.of_all(session.user_agent for session in sessions)
        places = await self._lookups.places(session.address for session in sessions)
        return [
            _session_object(
                session,
                client_info(session, agents[session.user_agent or None], places.get(session.address or "")),
                principal.session_id_hash,
            )
            for session in sessions
        ]

    async def end(self, user_id: int, session_id_hashes: Sequence[str], guard: Guard) -> None:
        """End the named sign-ins of the account; unknown ones are ignored. With them end its hand-offs and passkey
        bridges that are not collected."""
        digests = [digest for digest in map(digest_of, session_id_hashes) if digest is not None]
        if not digests:
            return

        def unit(connection: sqlite3.Connection) -> list[bytes]:
            ended = auth_sessions.end(connection, user_id, digests, self._core.clock.now_ms())
            if ended:
                tickets.delete_of_user(connection, user_id, HANDOFF, BRIDGE)
            return ended

        def then(ended: list[bytes]) -> None:
            if ended:
                self._core.account_events.signed_out(user_id, *map(id_hash, ended))

        await self._core.database.write(unit, then, guard=guard)

    def note_use(self, principal: Principal, address: str, now_ms: int) -> None:
        """Remember that a sign-in was used (Unix milliseconds); written before long by `run`."""
        session_id_hash = principal.session_id_hash
        if session_id_hash is not None and (session_id_hash in self._uses or len(self._uses) < USES_LIMIT):
            self._uses[session_id_hash] = principal.user_id, now_ms, address
            self._noted.set()

    def _write_use(self, connection: sqlite3.Connection, thing: str, use: tuple[int, int, str]) -> None:
        digest, (user_id, used_at, address) = digest_of(thing), use
        if digest is not None:
            auth_sessions.touch(connection, digest, used_at, address)
        accounts.touch(connection, user_id, used_at, address)

    def _database_of_uses(self) -> Database:
        return self._core.database


def _session_object(
    session: AuthSession, info: wire.AuthSessionClientInfo | None, current: str | None
) -> wire.AuthSession:
    name = id_hash(session.token_hash)
    return {
        "id": name,
        "id_hash": name,
        "client_info": info,
        "masked_ip": masked_address(session.address),
        "approx_last_used_at": iso_timestamp(session.last_used_at),
        "current": name == current,
    }
