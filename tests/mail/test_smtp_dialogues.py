"""What an SMTP server says, and what we make of it: plain words, whatever goes wrong, and passwords in any script."""

from __future__ import annotations

import base64
import hashlib
import hmac
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from email.message import EmailMessage
from typing import Final

import attrs
import pytest

from chat.config.settings import MailSettings
from chat.mail.smtp import MailRefused, ServerUnusable, connect
from tests.mail.smtp_server import HOST

USER: Final = "jürgen@example.com"
PASSWORD: Final = "päss wörd"
CHALLENGE: Final = b"<1896.697170952@mail.example>"

Script = Mapping[str, str | None]
"""What is answered to each command, `banner` before any; None closes the connection. The rest is welcome."""

WELCOME: Final[Script] = {"banner": "220 mail.example", "EHLO": "250-mail.example\r\n250 AUTH PLAIN LOGIN CRAM-MD5"}


class Dialogue(threading.Thread):
    """A server that says what it was told, and keeps what it heard."""

    def __init__(self, listener: socket.socket, script: Script) -> None:
        super().__init__(daemon=True)
        self.heard: list[str] = []
        self._listener = listener
        self._script = {**WELCOME, **script}

    def run(self) -> None:
        connection, _ = self._listener.accept()
        with connection, connection.makefile("rb") as lines:
            command = "banner"
            while (reply := self._script.get(command, "250 fine")) is not None:
                connection.sendall(f"{reply}\r\n".encode())
                if command == "DATA" and reply.startswith("354"):
                    while lines.readline() not in {b".\r\n", b""}:
                        pass
                    command = "message"
                    continue
                line = lines.readline().decode("ascii").strip()
                if not line:
                    return
                self.heard.append(line)
                known = [name for name in self._script if line.upper().startswith(name.upper())]
                command = max(known, key=len, default=line.split()[0].upper())


@contextmanager
def server(script: Script) -> Iterator[tuple[Dialogue, MailSettings]]:
    with closing(socket.create_server((HOST, 0))) as listener:
        dialogue = Dialogue(listener, script)
        dialogue.start()
        port = listener.getsockname()[1]
        yield dialogue, MailSettings(mode="smtp", host=HOST, port=port, from_="chat@example.com", tls="off")
        dialogue.join()


def with_password(settings: MailSettings) -> MailSettings:
    return attrs.evolve(settings, username=USER, password=PASSWORD)


def b64(text: str | bytes) -> str:
    return base64.b64encode(text.encode() if isinstance(text, str) else text).decode()


WAYS: Final[Mapping[str, tuple[Script, Sequence[str]]]] = {
    "PLAIN": ({"AUTH": "235 in"}, [f"AUTH PLAIN {b64(f'{chr(0)}{USER}{chr(0)}{PASSWORD}')}"]),
    "LOGIN": ({"AUTH": f"334 {b64('Password:')}", b64(PASSWORD): "235 in"}, [f"AUTH LOGIN {b64(USER)}", b64(PASSWORD)]),
    "CRAM-MD5": (
        {"AUTH": f"334 {b64(CHALLENGE)}", "anUu": "235 in", "asO8": "235 in"},
        ["AUTH CRAM-MD5", b64(f"{USER} {hmac.new(PASSWORD.encode(), CHALLENGE, hashlib.md5).hexdigest()}")],
    ),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("password", [PASSWORD, "pa\u0308ss wo\u0308rd"], ids=["composed", "decomposed"])
def test_names_and_passwords_go_as_utf_8(way: str, password: str) -> None:
    script, said = WAYS[way]
    with server({"EHLO": f"250-mail.example\r\n250 AUTH {way}", **script}) as (dialogue, settings):
        connect(attrs.evolve(settings, username=USER, password=password), "chat.example").close()
    assert [line for line in dialogue.heard if not line.upper().startswith(("EHLO", "QUIT"))] == list(said)


CONNECTING: Final[Mapping[str, tuple[Script, str]]] = {
    "a banner of refusal": (
        {"banner": "554 mail.example No SMTP service here"},
        "554 mail.example No SMTP service here",
    ),
    "a banner of several lines": ({"banner": "554-no\r\n554-not\r\n554 today"}, "554 no not today"),
    "a banner that asks for patience": ({"banner": "421 4.3.2 busy"}, "421 4.3.2 busy"),
    "nobody is greeted": ({"EHLO": "502 what?", "HELO": "504 no"}, "504 no"),
    "a wrong password": ({"AUTH": "535 5.7.8 no ä"}, "535 5.7.8 no ä"),
    "signing in is for later": ({"AUTH": "454 4.7.0 later"}, "454 4.7.0 later"),
    "nothing after the greeting": ({"EHLO": None}, "Connection unexpectedly closed"),
    "nothing after the password": ({"AUTH": None}, "Connection unexpectedly closed"),
}


@pytest.mark.parametrize("case", CONNECTING)
def test_what_the_server_says_is_told_in_its_own_words(case: str) -> None:
    script, expected = CONNECTING[case]
    with server(script) as (_, settings), pytest.raises(ServerUnusable) as told:
        connect(with_password(settings), "chat.example").close()
    assert str(told.value) == expected


SENDING: Final[Mapping[str, tuple[Script, type[Exception], str]]] = {
    "the sender": ({"MAIL": "550 5.7.1 not you"}, ServerUnusable, "550 5.7.1 not you"),
    "the recipient": ({"RCPT": "550 5.1.1 who?"}, MailRefused, "550 5.1.1 who?"),
    "the message": ({"DATA": "354 go on", "message": "554 5.6.0 spam"}, MailRefused, "554 5.6.0 spam"),
    "any message": ({"DATA": "554 5.3.4 none"}, MailRefused, "554 5.3.4 none"),
    "nothing": ({"DATA": None}, ServerUnusable, "Connection unexpectedly closed"),
}


@pytest.mark.parametrize("case", SENDING)
def test_so_is_what_it_says_of_a_message(case: str) -> None:
    script, kind, expected = SENDING[case]
    message = EmailMessage()
    message["Subject"] = "hello"
    message.set_content("hello\n")
    with server(script) as (_, settings):
        connection = connect(settings, "chat.example")
        with pytest.raises(kind) as told:
            connection.send(message, sender="chat@example.com", recipient="zoe@nas.local")
        connection.close()
    assert str(told.value) == expected
