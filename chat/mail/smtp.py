"""Letters as messages, and the SMTP server that takes them: one connection, many messages.

It blocks until the server answers: call it in a thread.

What can go wrong is sorted by who has to do something about it: `ServerUnusable` concerns every mail (try again later,
or an operator must mend the settings), `MailRefused` this one.
"""

from __future__ import annotations

import functools
import re
import smtplib
import ssl
import unicodedata
from datetime import UTC, datetime
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from typing import TYPE_CHECKING, Any, Final

from chat.classes import define, frozen
from chat.config.settings import MailSettings
from chat.errors import OperatorError
from chat.mail.mailer import Letter
from chat.words import said

if TYPE_CHECKING:
    from jinja2 import Template

WITHOUT_BUTTON: Final = "If the button does not work, open this address:"

# From a letter to the message (RFC 5322): headers, plain text, HTML


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
    return _template().render(
        letter=letter, service_name=service_name, without_button=said(letter.language, "letters", WITHOUT_BUTTON)
    )


@functools.cache
def _template() -> Template:
    # Only a server that sends mail pays for Jinja, and with its first mail.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(loader=PackageLoader("chat.mail"), autoescape=True, undefined=StrictUndefined)
    return environment.get_template("letter.html.jinja")


def _address(text: str) -> Address:
    """The address; raises ValueError for text that is no address."""
    try:
        address = Address(addr_spec=text)
    except (ValueError, IndexError, MessageError) as error:  # what the standard library's parser stumbles over
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


# The server

STEP_SECONDS: Final = 20.0
"""How long the server may take for one step of the dialogue."""

REPLY_LENGTH: Final = 300
"""Characters kept of what the server said."""

BAD_ADDRESS: Final = re.compile(r"\b5\.(1\.[0-9]{1,3}|2\.1)\b")
"""Enhanced status codes that blame the recipient's address (RFC 3463): bad addresses, and mailboxes closed for good."""

ENHANCED: Final = re.compile(r"\b[245]\.[0-9]{1,3}\.[0-9]{1,3}\b")
BAD_ADDRESS_REPLIES: Final = frozenset({550, 551, 553, 556})
"""Replies to RCPT that mean the same where the server gives no enhanced status code (RFC 5321 4.2.3, RFC 7504)."""

PERMANENT: Final = 500


class ServerUnusable(Exception):
    """The server cannot be reached, or will not deal with us; the text says why."""


@frozen
class MailRefused(Exception):
    """The server will not have this one mail: for now, or (`permanent`) for ever.

    `bad_address` is whether it is the recipient's address that is wrong.
    """

    reply: str
    permanent: bool
    bad_address: bool = False

    def __str__(self) -> str:
        return self.reply


@define(eq=False)
class SmtpConnection:
    """A connection that is ready for messages. To be closed."""

    _client: smtplib.SMTP

    def send(self, message: EmailMessage, *, sender: str, recipient: str) -> None:
        """Hand one message over; once this returns the server is responsible for it.

        :raises Refused: by the server, for this message or recipient.
        :raises ServerUnusable: when the dialogue broke, or the server does not take mail from us at all.
        """
        try:
            self._client.send_message(message, from_addr=sender, to_addrs=[recipient])
        except smtplib.SMTPRecipientsRefused as error:
            code, said = next(iter(error.recipients.values()))
            text = _text(code, said)
            raise MailRefused(text, code >= PERMANENT, _blames_address(code, text)) from error
        except smtplib.SMTPDataError as error:
            reply = _text(error.smtp_code, error.smtp_error)
            raise MailRefused(reply, error.smtp_code >= PERMANENT) from error
        except smtplib.SMTPNotSupportedError as error:
            raise MailRefused(f"the server cannot deliver to this address: {error}", permanent=True) from error
        except (smtplib.SMTPException, OSError) as error:
            raise ServerUnusable(_said(error)) from error

    def close(self) -> None:
        """Take leave, if the server still listens."""
        try:
            self._client.quit()
        except (smtplib.SMTPException, OSError):
            self._client.close()


def connect(settings: MailSettings, own_name: str) -> SmtpConnection:
    """Connect, protect the connection as `mail.tls` says, and sign in. `own_name` is what we call ourselves.

    The certificate is checked against the machine's authorities (OpenSSL's SSL_CERT_FILE names others), and nothing
    goes over an unprotected connection unless `mail.tls` is `off`.

    :raises ServerUnusable: for every failure.
    """
    host = settings.host or ""
    try:
        client = _client(settings, host, own_name)
    except (smtplib.SMTPException, OSError, ValueError) as error:
        raise ServerUnusable(_said(error)) from error
    try:
        if settings.tls == "starttls":
            client.starttls(context=ssl.create_default_context())
        if settings.username is not None:
            client.ehlo_or_helo_if_needed()
            client.login(_Utf8(settings.username), _Utf8(settings.password or ""))
    except (smtplib.SMTPException, OSError, ValueError) as error:
        client.close()
        raise ServerUnusable(_said(error)) from error
    return SmtpConnection(client)


class _Utf8(str):
    """Text that goes over the line as UTF-8, though the library asks for ASCII; composed (RFC 4616, RFC 8265)."""

    __slots__ = ()

    def encode(self, _encoding: str = "utf-8", errors: str = "strict") -> bytes:
        return str.encode(unicodedata.normalize("NFC", self), "utf-8", errors)


class _SaysUtf8(smtplib.SMTP):
    """Signs in by names and passwords in any script."""

    def auth(self, mechanism: str, authobject: Any, *, initial_response_ok: bool = True) -> tuple[int, bytes]:
        def said(challenge: bytes | None = None) -> Any:
            text = authobject(challenge)
            return None if text is None else _Utf8(text)

        return super().auth(mechanism, said, initial_response_ok=initial_response_ok)


class _SaysUtf8OverTls(_SaysUtf8, smtplib.SMTP_SSL):
    """The same where TLS comes before anything is said."""


def _client(settings: MailSettings, host: str, own_name: str) -> smtplib.SMTP:
    if settings.tls == "implicit":
        context = ssl.create_default_context()
        return _SaysUtf8OverTls(host, settings.port, own_name, timeout=STEP_SECONDS, context=context)
    return _SaysUtf8(host, settings.port, own_name, timeout=STEP_SECONDS)


def _blames_address(code: int, reply: str) -> bool:
    if code < PERMANENT:
        return False
    if ENHANCED.search(reply):
        return BAD_ADDRESS.search(reply) is not None
    return code in BAD_ADDRESS_REPLIES


def _text(code: int, reply: bytes | str) -> str:
    text = reply.decode("utf-8", "replace") if isinstance(reply, bytes) else reply
    return f"{code} {' '.join(text.split())}"[:REPLY_LENGTH]


def _said(error: Exception) -> str:
    if isinstance(error, smtplib.SMTPResponseException):  # whose own text is a tuple of Python's
        return _text(error.smtp_code, error.smtp_error)
    return (" ".join(str(error).split()) or type(error).__name__)[:REPLY_LENGTH]
