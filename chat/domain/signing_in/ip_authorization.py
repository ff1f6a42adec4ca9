"""IP authorisation: a sign-in from a network that the account has not used before waits for a mailed link.

A sign-in that was right but came from a strange network waits under a ticket. The mailed link authorises its network;
the holder of the ticket then polls for the session. Where no mail goes out, or the account has no email address,
nothing is asked (signing_in.md, IP authorisation).
"""

from __future__ import annotations

import math
import sqlite3
from typing import Final

import attrs
import structlog

from chat import wire
from chat.auth.client_address import network_of
from chat.auth.passwords import Asker
from chat.auth.tokens import token_hash
from chat.classes import define, frozen
from chat.domain.core import Core
from chat.domain.signing_in.sign_ins import RequestOrigin, SignIns, SignInStanding
from chat.domain.standing.user_objects import partial_user
from chat.errors import ApiError, InvalidFormBody
from chat.mail import letters
from chat.mail.letters import Letterhead
from chat.mail.mailer import Mailer
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.guard import Guard
from chat.store.signing_in import auth_sessions, tickets
from chat.store.signing_in.tickets import Ticket

log: Final = structlog.get_logger("chat.accounts")

WAITING: Final = "ip_authorization"
"""The kind of the ticket under which a sign-in waits."""

LINK: Final = "ip_authorization_link"
"""The kind of the ticket that a mail's link carries."""

LIFETIME_MS: Final = 15 * 60_000
RESULT_LIFETIME_MS: Final = 60_000
"""How long the session can be fetched once the link was followed."""

RESEND_AFTER_MS: Final = 30_000
MOST_NETWORKS: Final = 100
"""Networks remembered per account."""

SEALED_FOR: Final = "session token to be fetched"


@frozen
class Demand:
    """The secrets of one refusal: the waiting client's, and that of the mail."""

    ticket: str = attrs.field(repr=False)
    link: str = attrs.field(repr=False)


@frozen
class Fetched:
    """The answer to a poll after somebody followed the link."""

    account: Account
    token: str = attrs.field(repr=False)
    invite_code: str | None
    """The code of the invite that the login asked to accept; only in the first answer."""

    def answer(self) -> wire.SignedInAfterWait | wire.NotCompleted:
        """The token response, with the word that the wait is over."""
        return {
            "completed": True,
            "token": self.token,
            "user_id": str(self.account.id),
            "user": partial_user(self.account),
        }


@define(kw_only=True, eq=False)
class IpAuthorization:
    """Knows the networks of accounts, and has new ones confirmed by mail."""

    _core: Core
    _mailer: Mailer
    _sign_ins: SignIns

    @property
    def is_on(self) -> bool:
        """Whether sign-ins are held up at all."""
        return self._core.settings.ip_authorization and self._mailer.is_on

    def demand(self) -> Demand | None:
        """Secrets for a sign-in that may have to wait; None where none ever has to."""
        return Demand(self._core.mint.secret(), self._core.mint.mail_token()) if self.is_on else None

    def is_authorized(self, connection: sqlite3.Connection, account: Account, address: str) -> bool:
        """Whether the account may sign in from the address: nothing is asked of its first sign-in."""
        if not self.is_on or account.email is None:
            return True
        networks = auth_sessions.networks_of(connection, account.id)
        return not networks or network_of(address) in networks

    def asker(self, user_id: int | None, address: str) -> Asker:
        """Who asks for an account's sign-in: its holder, as far as an address that it has signed in from tells."""
        known = user_id is not None and auth_sessions.is_network_of(
            self._core.database.reader, user_id, network_of(address)
        )
        return Asker.at(address, user_id if known else None)

    def remember(self, connection: sqlite3.Connection, account: Account, address: str) -> None:
        """In a unit of writing: the account has signed in from the address."""
        now = self._core.clock.now_ms()
        auth_sessions.authorize_network(connection, account.id, network_of(address), now, most=MOST_NETWORKS)

    def ask(
        self,
        connection: sqlite3.Connection,
        account: Account,
        client: RequestOrigin,
        demand: Demand,
        invite_code: str | None,
    ) -> ApiError:
        """In a unit of writing: let the sign-in wait and mail its link; returns what the client is told."""
        now = self._core.clock.now_ms()
        body = {
            **SignInStanding.of(account).as_members(),
            "client": client.kept(),
            "invite_code": invite_code,
            "links": [],
            "completed": False,
            "result": None,
        }
        waiting = Ticket(token_hash(demand.ticket), WAITING, account.id, body, now, now + LIFETIME_MS)
        self._mail(connection, account, waiting, demand.link)
        return ApiError(
            ErrorCode.IP_AUTHORIZATION_REQUIRED,
            members={
                "ip_authorization_required": True,
                "ticket": demand.ticket,
                "email": account.email,
                "resend_available_in": RESEND_AFTER_MS // 1_000,
            },
        )

    async def resend(self, secret: str, guard: Guard) -> None:
        """Mail a waiting sign-in's link again: once, and not before 30 seconds are over.

        :raises InvalidFormBody: INVALID_OR_EXPIRED_TICKET at `ticket`.
        :raises ApiError: IP_AUTHORIZATION_RESEND_COOLDOWN, IP_AUTHORIZATION_RESEND_LIMIT_EXCEEDED; as
            `SignIns.admitted`.
        """
        link = self._core.mint.mail_token()

        def unit(connection: sqlite3.Connection) -> None:
            waiting, account = self._waiting(connection, secret)
            if waiting.body["completed"] or account.email is None:
                raise _unknown_ticket()
            if len(waiting.body["links"]) > 1:
                raise ApiError(ErrorCode.IP_AUTHORIZATION_RESEND_LIMIT_EXCEEDED)
            remaining = waiting.created_at + RESEND_AFTER_MS - self._core.clock.now_ms()
            if remaining > 0:
                raise _too_early(remaining)
            self._mail(connection, account, waiting, link)

        await self._core.database.write(unit, guard=guard)

    async def authorize(self, link: str, guard: Guard) -> None:
        """Follow a mailed link: the network is authorised, and the sign-in that waits may go on.

        :raises InvalidFormBody: INVALID_OR_EXPIRED_VERIFICATION_TOKEN at `token`.
        :raises ApiError: as `SignIns.admitted`.
        """
        now = self._core.clock.now_ms()

        def unit(connection: sqlite3.Connection) -> Ticket:
            followed = tickets.take(connection, LINK, token_hash(link), now)
            waiting = None
            if followed is not None:
                waiting = tickets.take(connection, WAITING, bytes.fromhex(followed.body["ticket"]), now)
            account = _holder(connection, waiting)
            if waiting is None or account is None:
                raise InvalidFormBody.at("token", FieldCode.INVALID_OR_EXPIRED_VERIFICATION_TOKEN)
            self._sign_ins.admitted(connection, account)
            for other in waiting.body["links"]:
                tickets.delete(connection, bytes.fromhex(other))
            network = network_of(waiting.body["client"]["address"])
            auth_sessions.authorize_network(connection, account.id, network, now, most=MOST_NETWORKS)
            body = {**waiting.body, "completed": True, "links": []}
            tickets.insert(connection, attrs.evolve(waiting, body=body, expires_at=now + RESULT_LIFETIME_MS))
            return waiting

        waiting = await self._core.database.write(unit, guard=guard)
        log.info("address authorized", user_id=waiting.user_id, address=waiting.body["client"]["address"])

    async def poll(self, secret: str, guard: Guard) -> Fetched | None:
        """The session of a sign-in that waited, the same one for every call; None while the link is not followed.

        :raises InvalidFormBody: INVALID_OR_EXPIRED_TICKET at `ticket`.
        :raises ApiError: as `SignIns.admitted`.
        """
        waiting, account = self._waiting(self._core.database.reader, secret)
        if not waiting.body["completed"]:
            return None
        client = RequestOrigin(**waiting.body["client"])
        sign_in = self._sign_ins.new(account.id, client, proved_at=waiting.created_at)
        sealed = self._core.keys.seal(SEALED_FOR, sign_in.token.encode(), waiting.secret_hash).hex()

        def unit(connection: sqlite3.Connection) -> Fetched:
            waiting, account = self._waiting(connection, secret)
            body = waiting.body
            if body["result"] is not None:
                token = self._core.keys.open(SEALED_FOR, bytes.fromhex(body["result"]), waiting.secret_hash)
                if token is None:
                    raise _unknown_ticket()
                return Fetched(account, token.decode(), None)
            opened = self._sign_ins.enter(connection, account, sign_in)
            tickets.replace_body(connection, waiting.secret_hash, {**body, "closed": 0, "result": sealed})
            return Fetched(opened, sign_in.token, body["invite_code"])

        return await self._core.database.write(unit, guard=guard)

    async def forget(self, user_id: int, guard: Guard) -> None:
        """Forget every network of the account: the next sign-in from anywhere is confirmed by mail."""
        now = self._core.clock.now_ms()
        await self._core.database.write(
            lambda connection: auth_sessions.forget_networks(connection, user_id, now), guard=guard
        )

    def _waiting(self, connection: sqlite3.Connection, secret: str) -> tuple[Ticket, Account]:
        waiting = tickets.find(connection, WAITING, token_hash(secret), self._core.clock.now_ms())
        account = _holder(connection, waiting)
        if waiting is None or account is None:
            raise _unknown_ticket()
        standing = SignInStanding.from_members(waiting.body)
        if not standing.has_password_of(account):
            raise _unknown_ticket()
        self._sign_ins.admitted(connection, account)
        if standing.was_closed_since(account):
            raise _unknown_ticket()
        return waiting, account

    def _mail(self, connection: sqlite3.Connection, account: Account, waiting: Ticket, link: str) -> None:
        """Write the ticket with one more link to it, and mail that link."""
        if account.email is None:
            raise TypeError("an account without an address is not asked")
        now = self._core.clock.now_ms()
        body = {"ticket": waiting.secret_hash.hex()}
        followed = Ticket(token_hash(link), LINK, account.id, body, now, waiting.expires_at)
        tickets.insert(connection, followed)
        tickets.delete(connection, waiting.secret_hash)
        links = [*waiting.body["links"], followed.secret_hash.hex()]
        tickets.insert(connection, attrs.evolve(waiting, body={**waiting.body, "links": links}))
        head = Letterhead.to(connection, self._core.settings, account.id)
        address = waiting.body["client"]["address"]
        letter = letters.ip_authorization(head, account.email, address=address, token=link)
        self._mailer.post(connection, letter)


def _holder(connection: sqlite3.Connection, waiting: Ticket | None) -> Account | None:
    """The account that a ticket is for, unless it is deleted."""
    account = None if waiting is None or waiting.user_id is None else accounts.by_id(connection, waiting.user_id)
    return None if account is None or account.is_deleted else account


def _unknown_ticket() -> InvalidFormBody:
    return InvalidFormBody.at("ticket", FieldCode.INVALID_OR_EXPIRED_TICKET)


def _too_early(remaining_ms: int) -> ApiError:
    seconds = max(1, math.ceil(remaining_ms / 1_000))
    return ApiError(
        ErrorCode.IP_AUTHORIZATION_RESEND_COOLDOWN,
        members={"resend_available_in": seconds},
        headers={"Retry-After": str(seconds)},
    )
