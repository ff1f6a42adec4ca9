"""From a letter to the message that goes over SMTP (RFC 5322): headers, plain text, HTML."""

from __future__ import annotations

import functools
from datetime import UTC, datetime
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from typing import TYPE_CHECKING

from chat.errors import OperatorError
from chat.mail.letter import Letter

if TYPE_CHECKING:
    from jinja2 import Template


def message_of(
    letter: Letter, *, recipient: str, sender: str, service_name: str, message_id: str, written_at: int
) -> EmailMessage:
    """The letter as a message. `written_at` is Unix milliseconds; `message_id` comes without angle brackets.

    No header can be forged by what a letter or a name contains: control characters do not get into one.

    :raises ValueError: for a sender or recipient that is no address.
    """
    message = EmailMessage(policy=SMTP)
    message["From"] = Address(_one_line(service_name), addr_spec=_address(sender).addr_spec)
    message["To"] = _address(recipient)
    message["Subject"] = _one_line(letter.subject)
    message["Date"] = format_datetime(datetime.fromtimestamp(written_at / 1_000, UTC))
    message["Message-ID"] = f"<{message_id}>"
    message["Auto-Submitted"] = "auto-generated"  # RFC 3834: no automatic answers, please
    message.set_content(letter.text, cte="quoted-printable")
    message.add_alternative(html_of(letter, service_name), subtype="html", cte="quoted-printable")
    return message


def html_of(letter: Letter, service_name: str) -> str:
    """The HTML part: one card, readable on light and dark ground, nothing fetched from elsewhere."""
    return _template().render(letter=letter, service_name=service_name)


@functools.cache
def _template() -> Template:
    # Only a server that sends mail pays for Jinja, and with its first mail.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(loader=PackageLoader("chat.mail"), autoescape=True, undefined=StrictUndefined)
    return environment.get_template("letter.html.jinja")


def _address(text: str) -> Address:
    """The address; raises ValueError for text that is none."""
    try:
        address = Address(addr_spec=text)
    except (ValueError, IndexError, MessageError) as error:  # whatever the standard library's parser stumbles over
        raise ValueError("this is not a mail address") from error
    if not address.username or not address.domain or not text.isprintable() or address.addr_spec != text:
        raise ValueError("this is not a mail address")
    return address


def require_sender(sender: str) -> str:
    """The setting `mail.from`, if a message can come from it.

    :raises OperatorError: when it cannot.
    """
    try:
        _address(sender)
    except ValueError:
        raise OperatorError(f"mail.from is {sender!r}: expected a mail address") from None
    return sender


def _one_line(text: str) -> str:
    return " ".join("".join(character if character.isprintable() else " " for character in text).split())
