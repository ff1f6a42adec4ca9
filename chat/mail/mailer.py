"""Hands mail over, in the same transaction as the change that it tells of.

What is committed together cannot come apart: no account waits for a mail that was lost, and no mail tells of a change
that was undone. Delivery happens afterwards, from the store.
"""

from __future__ import annotations

import enum
import sqlite3

import attrs

from chat.clock import Clock
from chat.errors import OperatorError
from chat.mail.letter import Letter
from chat.store import mails
from chat.store.mails import KeptMail


class MailKind(enum.StrEnum):
    """What a mail is about (contract, Development routes)."""

    VERIFICATION = "verification"
    PASSWORD_RESET = "password_reset"  # noqa: S105 - a kind of mail
    EMAIL_CHANGE = "email_change"
    EMAIL_REVERT = "email_revert"
    IP_AUTHORIZATION = "ip_authorization"
    TEMPORARY_BAN = "temporary_ban"
    UNBAN = "unban"
    DELETION_ENFORCEMENT = "deletion_enforcement"
    DELETION_NOTICE = "deletion_notice"
    DELETION_CANCELLED = "deletion_cancelled"
    REPORT_RESOLVED = "report_resolved"


@attrs.frozen
class Mail:
    """One mail. `token` is the secret that its link carries, where it carries one."""

    recipient: str
    letter: Letter
    kind: MailKind
    token: str | None = attrs.field(default=None, repr=False)


class Mailer:
    """Takes mail as the setting `mail.mode` says: `keep` stores it for whoever asks, `off` drops it.

    :raises OperatorError: for the mode `smtp`, which this version does not have.
    """

    def __init__(self, mode: str, clock: Clock) -> None:
        if mode not in ("off", "keep"):
            raise OperatorError(f"mail.mode is {mode!r}: this version knows 'off' and 'keep'")
        self.is_on: bool = mode != "off"
        """Whether mail reaches anybody; where not, addresses count as verified (design 7)."""
        self._clock = clock

    def post(self, connection: sqlite3.Connection, mail: Mail) -> None:
        """In a unit of writing: hand the mail over."""
        if self.is_on:
            kept = KeptMail(
                recipient=mail.recipient,
                subject=mail.letter.subject,
                text=mail.letter.text,
                kind=str(mail.kind),
                token=mail.token,
                created_at=self._clock.now_ms(),
            )
            mails.insert(connection, kept)
