"""Mail that an instance keeps instead of sending, for those who develop against it (development.md, Development
routes)."""

from __future__ import annotations

from typing import TypedDict

from chat.classes import define
from chat.clock import iso_timestamp
from chat.store import mails
from chat.store.database import Database
from chat.store.guard import UNGUARDED
from chat.store.mails import KeptMail


class ShownMail(TypedDict):
    """A kept mail, as the development routes tell of it."""

    to: str
    subject: str
    text: str
    kind: str
    token: str | None
    created_at: str


@define(eq=False)
class MailSink:
    """What `mail.mode` = `keep` has collected."""

    _database: Database

    async def kept(self) -> list[ShownMail]:
        """Every mail so far, oldest first."""
        return [_mail_object(mail) for mail in await self._database.read(mails.kept)]

    async def clear(self) -> None:
        """Throw all of it away."""
        await self._database.write(mails.clear, guard=UNGUARDED)


def _mail_object(mail: KeptMail) -> ShownMail:
    return {
        "to": mail.recipient,
        "subject": mail.subject,
        "text": mail.text,
        "kind": mail.kind,
        "token": mail.token,
        "created_at": iso_timestamp(mail.created_at),
    }
