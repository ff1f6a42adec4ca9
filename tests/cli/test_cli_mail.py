"""`chat mail`: an operator learns at once whether mail goes out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command_line import Run
from tests.mail.smtp_server import HOST, Postbox, free_port, smtp_server


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> int:
    port = free_port()
    for name, value in {
        "MODE": "smtp",
        "HOST": HOST,
        "PORT": str(port),
        "FROM": "chat@example.com",
        "TLS": "off",
    }.items():
        monkeypatch.setenv(f"CHAT_MAIL__{name}", value)
    return port


def test_a_letter_goes_out(run: Run, data: Path, port: int) -> None:
    postbox = Postbox()
    with smtp_server(postbox, port):
        ending = run("mail", "test", "zoe@example.com", "--data", data)
        told = run("mail", "test", "zoe@example.com", "--data", data, terminal=True)
    assert (ending.status, ending.err) == (0, "")
    assert ending.json == {"server": f"127.0.0.1 port {port}", "address": "zoe@example.com"}
    assert told.out == f"127.0.0.1 port {port} has taken a letter to zoe@example.com\n"
    message, _ = postbox.messages
    assert message["To"] == "zoe@example.com"
    assert message["Subject"] == "Mail from Chat arrives"
    assert message["Message-ID"].endswith("@example.com>")


def test_a_server_that_is_not_there(run: Run, data: Path, port: int) -> None:
    ending = run("mail", "test", "zoe@example.com", "--data", data)
    assert ending.status == 1
    assert ending.err == f"chat: 127.0.0.1 port {port} cannot be used: [Errno 111] Connection refused\n"


def test_a_server_without_starttls(run: Run, data: Path, port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAT_MAIL__TLS", "starttls")
    with smtp_server(Postbox(), port):
        ending = run("mail", "test", "zoe@example.com", "--data", data)
    assert ending.status == 1
    assert "STARTTLS" in ending.err


@pytest.mark.parametrize(
    ("address", "reply"),
    [("dead@example.com", "550 5.1.1 No such user"), ("no address", "this is not a mail address")],
)
def test_an_address_that_takes_none(run: Run, data: Path, port: int, address: str, reply: str) -> None:
    postbox = Postbox()
    postbox.replies["dead@example.com"] = "550 5.1.1 No such user"
    with smtp_server(postbox, port):
        ending = run("mail", "test", address, "--data", data)
    assert ending.status == 1
    assert ending.err == f"chat: 127.0.0.1 port {port} does not take mail for {address}: {reply}\n"


def test_an_instance_that_sends_none(run: Run, data: Path) -> None:
    ending = run("mail", "test", "zoe@example.com", "--data", data)
    assert ending.status == 1
    assert ending.err == "chat: setting mail.mode: expected smtp, not off: this instance sends no mail\n"
