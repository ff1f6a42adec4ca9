"""The outbox: mail waits in the store until the SMTP server has it, through failures, restarts and `kill -9`.

A mail is written in the transaction of the change that it tells of, tried at once, and forgotten in a transaction of
its own as soon as the server has taken it. Between those two a crash means that it is sent again, with the same
Message-ID: at least once, and rarely twice. A server that is away is asked again after ever longer pauses; a mail that
it will not have for now likewise, up to three days.
"""

from __future__ import annotations

import ipaddress
import json
import random
import sqlite3
from collections.abc import Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar
from urllib.parse import urlsplit

import attrs
import structlog
import trio

from chat.classes import define, frozen
from chat.clock import Clock
from chat.errors import StorageUnavailable
from chat.mail import smtp
from chat.mail.mailer import OUTBOX_PURPOSE, Action, Letter
from chat.mail.smtp import MailRefused, ServerUnusable, SmtpConnection, message_of, require_sender
from chat.store import mails
from chat.store.guard import UNGUARDED
from chat.store.mails import OutgoingMail
from chat.words import ENGLISH

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from chat.config import Settings
    from chat.store.database import Database

T = TypeVar("T")

BATCH: Final = 50
"""Mails sent over one connection before the outbox is looked at again."""

FINISH_SECONDS: Final = 3.0
"""How long the end of the server waits for the mail that is on its way."""

LONGEST_WAIT_SECONDS: Final = 30.0
"""How long the outbox sleeps at most; commands beside the server wake it by the notes that they leave."""

GIVEN_UP_AFTER_MS: Final = 3 * 24 * 3_600_000

FIRST_PAUSE_SECONDS: Final = 30.0
LONGEST_PAUSE_SECONDS: Final = 4 * 3_600.0
"""Between two attempts at one mail: doubled each time."""

FIRST_SERVER_PAUSE_SECONDS: Final = 1.0
LONGEST_SERVER_PAUSE_SECONDS: Final = 15 * 60.0
"""Between two attempts at reaching the server: doubled each time."""

JITTER: Final = 0.25
"""Share of a pause by which it is longer or shorter, so that retries spread."""

log: Final = structlog.get_logger("chat.mail")


class Sealing(Protocol):
    """What the links in waiting mail are protected with; `chat.auth.keys.Keys` is one."""

    def seal(self, purpose: str, plain: bytes, context: bytes = b"") -> bytes: ...
    def open(self, purpose: str, sealed: bytes, context: bytes = b"") -> bytes | None: ...


class Bounces(Protocol):
    """Hears of addresses that do not exist."""

    def note(self, connection: sqlite3.Connection, recipient: str) -> Any:
        """In a unit of writing: the address takes no mail. What it returns goes to `announce`."""
        ...

    def announce(self, noted: Any) -> None: ...


OUTCOMES: Final = ("sent", "postponed", "refused", "given_up")
"""What may become of an attempt to send a mail."""


@frozen
class Sender:
    """Who writes: the settings of mail, and how the instance calls itself."""

    _settings: Settings
    own_name: str
    """The instance's name towards the SMTP server."""

    @classmethod
    def of(cls, settings: Settings) -> Sender:
        """The instance as its settings describe it.

        :raises OperatorError: when `mail.from` is no address that mail can come from.
        """
        require_sender(settings.mail.from_ or "")
        host = urlsplit(settings.public_url).hostname or "localhost"
        try:
            ipaddress.ip_address(host)
        except ValueError:
            return cls(settings, host)
        return cls(settings, f"[IPv6:{host}]" if ":" in host else f"[{host}]")

    @property
    def address(self) -> str:
        """Of every mail."""
        return self._settings.mail.from_ or ""

    def connect(self) -> SmtpConnection:
        """Blocks. A connection to the server; raises ServerUnusable."""
        return smtp.connect(self._settings.mail, self.own_name)

    def send(self, connection: SmtpConnection, recipient: str, letter: Letter, number: str, written_at: int) -> None:
        """Blocks. Make a message of the letter and hand it over. `number` is the same for each attempt at one mail.

        :raises Refused: also for a recipient that is no address.
        :raises ServerUnusable: as SmtpConnection.send.
        """
        try:
            deliverable = address_for_smtp(recipient)
            message = message_of(
                letter,
                recipient=deliverable,
                sender=self.address,
                service_name=self._settings.service_name,
                message_id=f"{number}@{self.address.rpartition('@')[2]}",
                written_at=written_at,
            )
        except ValueError as error:
            raise MailRefused("this is not a mail address", permanent=True, bad_address=True) from error
        connection.send(message, sender=self.address, recipient=deliverable)


@define(eq=False)
class Outbox:
    """Takes mail, and sends it while `run` runs.

    `in_threads` False talks to the server on the loop's thread, for runs on virtual time. `bounces` hears of addresses
    that the server does not know.
    """

    _database: Database
    _clock: Clock
    _chance: random.Random
    _sealing: Sealing
    _sender: Sender
    _bounces: Bounces
    _in_threads: bool = attrs.field(default=True, kw_only=True)
    count: Callable[[str], None] = attrs.field(default=lambda _: None, init=False)
    """Hears what became of a mail: one of OUTCOMES."""
    _posted: trio.Event = attrs.field(factory=trio.Event, init=False)
    _over: trio.Event = attrs.field(factory=trio.Event, init=False)
    _token: trio.lowlevel.TrioToken | None = attrs.field(default=None, init=False)
    _stopping: bool = attrs.field(default=False, init=False)
    _server_failures: int = attrs.field(default=0, init=False)
    _unnoted: set[int] = attrs.field(factory=set, init=False)
    """Mails of one batch at most: the server has them, the store could not note it yet."""

    def put(self, connection: sqlite3.Connection, recipient: str, kind: str, letter: Letter) -> None:
        """In a unit of writing: take a mail. It goes out once the unit is committed."""
        plain = json.dumps(attrs.asdict(letter)).encode()
        sealed = self._sealing.seal(OUTBOX_PURPOSE, plain, recipient.encode())
        mails.enqueue(connection, recipient, kind, sealed, self._clock.now_ms())
        if self._token is not None:
            # The unit runs in the writer's thread. The task woken by this asks that same thread what is due, which
            # is after this unit's commit.
            self._token.run_sync_soon(self.wake)

    def wake(self) -> None:
        """On the loop's thread: look for mail that another process may have written."""
        self._posted.set()

    # Delivery

    async def run(self) -> None:
        """Send what waits, for ever, or until `finish`."""
        self._token = trio.lowlevel.current_trio_token()
        try:
            while not self._stopping:
                self._posted = trio.Event()
                pause = await self._round()
                with trio.move_on_after(pause):
                    if not self._stopping:
                        await self._posted.wait()
        finally:
            self._token = None
            self._over.set()

    async def finish(self) -> None:
        """Send the mail that is on its way and no other; returns when that is done, or takes too long.

        What the server had not taken by then is sent again when the outbox runs again.
        """
        if self._token is None:
            return
        self._stopping = True
        self._posted.set()
        with trio.move_on_after(FINISH_SECONDS):
            await self._over.wait()

    async def _round(self) -> float:
        """Try what is due; how many seconds to wait before the next round."""
        try:
            due = await self._database.write(self._due, guard=UNGUARDED)
            if due:
                pause = await self._deliver(due)
                if pause is not None:
                    return pause
            moment = await self._database.write(mails.next_due, guard=UNGUARDED)
        except StorageUnavailable:
            return FIRST_PAUSE_SECONDS
        if moment is None:
            return LONGEST_WAIT_SECONDS
        return min(max((moment - self._clock.now_ms()) / 1_000, 0.0), LONGEST_WAIT_SECONDS)

    def _due(self, connection: sqlite3.Connection) -> list[OutgoingMail]:
        now = self._clock.now_ms()
        for mail in mails.delete_older(connection, now - GIVEN_UP_AFTER_MS):
            self.count("given_up")
            log.error("mail given up: the server did not take it for three days", mail=mail.id, kind=mail.kind)
        return mails.due(connection, now, BATCH)

    async def _deliver(self, due: list[OutgoingMail]) -> float | None:
        """Send these mails, in order; after a failure of the server, how long to leave it alone."""
        try:
            async with self._connected() as connection:
                self._server_failures = 0
                for mail in due:
                    if self._stopping:
                        break
                    await self._deliver_one(connection, mail)
        except ServerUnusable as error:
            self._server_failures += 1
            pause = self._pause(self._server_failures, FIRST_SERVER_PAUSE_SECONDS, LONGEST_SERVER_PAUSE_SECONDS)
            log.warning("the SMTP server cannot be used", problem=str(error), next_attempt_seconds=round(pause))
            return pause
        return None

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[SmtpConnection]:
        connection = await self._blocking(self._sender.connect)
        try:
            yield connection
        finally:
            with trio.CancelScope(shield=True), trio.move_on_after(1):
                await self._blocking(connection.close)

    async def _deliver_one(self, connection: SmtpConnection, mail: OutgoingMail) -> None:
        if mail.id in self._unnoted:
            await self._note_sent(mail)
            return
        opened = self._sealing.open(OUTBOX_PURPOSE, mail.sealed_letter, mail.recipient.encode())
        if opened is None:
            log.error("a mail was sealed with another key and is dropped", mail=mail.id, kind=mail.kind)
            await self._database.write(lambda store: mails.delete(store, mail.id), guard=UNGUARDED)
            return
        try:
            letter, number = letter_from(opened), f"{mail.id}.{mail.created_at}"
            await self._blocking(lambda: self._sender.send(connection, mail.recipient, letter, number, mail.created_at))
        except MailRefused as refused:
            await self._refused(mail, refused)
        except ServerUnusable:
            # It may be this mail that it stumbles over: let the others go first next time.
            await self._postpone(mail)
            raise
        except Exception:  # one mail that we cannot make is no reason to stop the others, or the server
            log.exception("a mail could not be made", mail=mail.id, kind=mail.kind)
            await self._postpone(mail)
        else:
            self._unnoted.add(mail.id)
            await self._note_sent(mail)

    async def _note_sent(self, mail: OutgoingMail) -> None:
        with trio.CancelScope(shield=True):  # the server has it: a restart now shall not send it again
            await self._database.write(lambda store: mails.delete(store, mail.id), guard=UNGUARDED)
        self._unnoted.discard(mail.id)
        self.count("sent")
        log.info("mail sent", mail=mail.id, kind=mail.kind)

    async def _refused(self, mail: OutgoingMail, refused: MailRefused) -> None:
        if not refused.permanent:
            log.info("mail put off", mail=mail.id, kind=mail.kind, reply=refused.reply)
            await self._postpone(mail)
            return
        self.count("refused")
        log.warning(
            "mail refused for good", mail=mail.id, kind=mail.kind, reply=refused.reply, bounced=refused.bad_address
        )

        def unit(store: sqlite3.Connection) -> Any:
            mails.delete(store, mail.id)
            return self._bounces.note(store, mail.recipient) if refused.bad_address else None

        with trio.CancelScope(shield=True):  # as with a mail that was sent
            await self._database.write(
                unit, lambda noted: None if noted is None else self._bounces.announce(noted), guard=UNGUARDED
            )

    async def _postpone(self, mail: OutgoingMail) -> None:
        self.count("postponed")
        pause = self._pause(mail.attempts + 1, FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS)
        moment = self._clock.now_ms() + round(pause * 1_000)
        await self._database.write(lambda store: mails.postpone(store, mail.id, moment), guard=UNGUARDED)

    def _pause(self, failures: int, first: float, longest: float) -> float:
        pause = min(first * 2.0 ** min(failures - 1, 30), longest)
        return pause * self._chance.uniform(1 - JITTER, 1 + JITTER)

    async def _blocking(self, work: Callable[[], T]) -> T:
        if not self._in_threads:
            return work()
        return await trio.to_thread.run_sync(work, abandon_on_cancel=True)


def letter_from(plain: bytes) -> Letter:
    """The reverse of what `Outbox.put` seals."""
    members = json.loads(plain)
    action = members.pop("action")
    return Letter(
        subject=members["subject"],
        paragraphs=tuple(members["paragraphs"]),
        action=None if action is None else Action(**action),
        code=members["code"],
        closing=tuple(members["closing"]),
        language=members.get("language", ENGLISH),  # none in what was written before there was a choice
    )


def address_for_smtp(address: str) -> str:
    """The address as SMTP wants it: its domain in ASCII."""
    local, _, domain = address.rpartition("@")
    return address if domain.isascii() else f"{local}@{domain.encode('idna').decode('ascii')}"
