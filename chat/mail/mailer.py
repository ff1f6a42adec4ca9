"""Hands mail over, in the same transaction as the change that it tells of.

What is committed together cannot come apart: no account waits for a mail that was lost, and no mail tells of a change
that was undone. Delivery happens afterwards, from the store.
"""

from __future__ import annotations

import enum
import sqlite3
from typing import TYPE_CHECKING, Final

import attrs
import structlog

from chat.classes import frozen
from chat.clock import Clock
from chat.store import mails
from chat.store.mails import KeptMail
from chat.words import ENGLISH

if TYPE_CHECKING:
    from chat.mail.outbox import Outbox

OUTBOX_PURPOSE: Final = "mail outbox"
"""What waiting mail is sealed for."""

log: Final = structlog.get_logger("chat.mail")


class MailKind(enum.StrEnum):
    """What a mail is about (development.md, Development routes)."""

    VERIFICATION = "verification"
    PASSWORD_RESET = "password_reset"  # noqa: S105 - a kind of mail
    PASSWORD_CHANGE = "password_change"  # noqa: S105 - ours, beyond the contract's list
    EMAIL_CHANGE = "email_change"
    EMAIL_REVERT = "email_revert"
    IP_AUTHORIZATION = "ip_authorization"
    TEMPORARY_BAN = "temporary_ban"
    UNBAN = "unban"
    DELETION_ENFORCEMENT = "deletion_enforcement"
    DELETION_NOTICE = "deletion_notice"
    DELETION_CANCELLED = "deletion_cancelled"
    REPORT_RESOLVED = "report_resolved"
    REPORT_CODE = "report_code"
    """Ours, beyond the contract's list."""
    DISK_NEARLY_FULL = "disk_nearly_full"
    """Ours, beyond the contract's list."""


@frozen
class Action:
    """The one thing that a mail asks for: a link, and the words on its button."""

    label: str
    link: str = attrs.field(repr=False)


@frozen(kw_only=True)
class Letter:
    """The content of a mail, in the order in which it is read.

    All of it is plain text: what people chose themselves (usernames and the like) needs no escaping.
    """

    subject: str
    paragraphs: tuple[str, ...]
    action: Action | None = None
    code: str | None = attrs.field(default=None, repr=False)
    """A code that is typed instead of a link that is followed."""
    closing: tuple[str, ...] = ()
    """Paragraphs after the action: what to do if it was not the reader who asked."""
    language: str = ENGLISH

    @property
    def text(self) -> str:
        """The plain text part; ends with a line feed."""
        parts = list(self.paragraphs)
        if self.code is not None:
            parts.append(f"    {self.code}")
        if self.action is not None:
            parts.append(f"{self.action.label}:\n{self.action.link}")
        return "\n\n".join((*parts, *self.closing)) + "\n"


@frozen
class Mail:
    """One mail. `token` is the secret that its link carries, where it carries one."""

    recipient: str
    letter: Letter
    kind: MailKind
    token: str | None = attrs.field(default=None, repr=False)


class Mailer:
    """Takes mail as the setting `mail.mode` says: `keep` stores it to be read, `smtp` puts it into the outbox,
    `off` drops it.
    """

    def __init__(self, mode: str, clock: Clock, outbox: Outbox | None = None) -> None:
        if (mode == "smtp") != (outbox is not None):
            raise TypeError("an outbox belongs to the mode smtp, and only there")
        self.is_on: bool = mode != "off"
        """Whether mail is delivered; where not, addresses count as verified (signing_in.md, Mail)."""
        self._clock = clock
        self._outbox = outbox

    def post(self, connection: sqlite3.Connection, mail: Mail) -> None:
        """In a unit of writing: hand the mail over."""
        if self._outbox is not None:
            self._outbox.put(connection, mail.recipient, str(mail.kind), mail.letter)
        elif self.is_on:
            kept = KeptMail(
                recipient=mail.recipient,
                subject=mail.letter.subject,
                text=mail.letter.text,
                kind=str(mail.kind),
                token=mail.token,
                created_at=self._clock.now_ms(),
            )
            mails.keep(connection, kept)

    def notify(self, connection: sqlite3.Connection, mail: Mail) -> bool:
        """In a unit of writing: hand over a mail that tells of what is done in any case; whether it was taken.

        A mail that cannot be written is logged and missing, and the rest of the unit stands.
        """
        if not self.is_on:
            return False
        connection.execute("SAVEPOINT mail")
        try:
            self.post(connection, mail)
        except Exception:  # one that cannot be written must not keep the rest back
            log.exception("a mail could not be written", kind=str(mail.kind))
            connection.execute("ROLLBACK TO mail")
            return False
        finally:
            connection.execute("RELEASE mail")
        return True
