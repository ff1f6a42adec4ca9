"""Mail waits in the store until a real SMTP server has it."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import attrs
import pytest
import structlog
import trio

from chat.auth.keys import Keys
from chat.clock import SystemClock, TrioClock
from chat.config.settings import MailSettings, Settings
from chat.errors import OperatorError
from chat.mail.mailer import Action, Letter, Mail, Mailer, MailKind
from chat.mail.outbox import GIVEN_UP_AFTER_MS, Outbox, Sender
from chat.store import mails
from chat.store.database import Database, open_database
from chat.testing.server import fresh_database
from tests.mail.smtp_server import HOST, Postbox, certificate, free_port, smtp_server
from tests.patience import PATIENCE_SECONDS

SECRET = "s3cret-token-of-the-link"
NOW = 1_700_000_000_000


class Bounced:
    """The addresses that were said to be dead."""

    def __init__(self) -> None:
        self.addresses: list[str] = []

    def note(self, connection: sqlite3.Connection, recipient: str) -> str:
        return recipient

    def announce(self, noted: str) -> None:
        self.addresses.append(noted)


class Place:
    """An outbox on a database, and the server that it sends to."""

    def __init__(self, database: Database, folder: Path, *, in_threads: bool, **mail: Any) -> None:
        self.database = database
        self.folder = folder
        self.postbox = Postbox()
        self.port = free_port()
        self.bounced = Bounced()
        self.clock = SystemClock() if in_threads else TrioClock(NOW)
        chosen = {"mode": "smtp", "host": HOST, "port": self.port, "from_": "chat@example.com", "tls": "off"} | mail
        self.sender = Sender.of(Settings(mail=MailSettings(**chosen), public_url="https://chat.example"))
        self.in_threads = in_threads
        self.outbox = self.new_outbox()

    def new_outbox(self, secret: bytes = bytes(32)) -> Outbox:
        """An outbox as after a restart."""
        chance = random.Random(1)
        keys = Keys(secret, chance)
        return Outbox(self.database, self.clock, chance, keys, self.sender, self.bounced, in_threads=self.in_threads)

    async def post(self, *recipients: str, fails: bool = False) -> None:
        """Hand mails over in one unit."""
        mailer = Mailer("smtp", self.clock, self.outbox)

        def unit(connection: sqlite3.Connection) -> None:
            for recipient in recipients:
                letter = Letter(
                    subject=f"For {recipient}",
                    paragraphs=("Hello.",),
                    action=Action("Go", f"https://x.example/#{SECRET}"),
                )
                mailer.post(connection, Mail(recipient, letter, MailKind.VERIFICATION, SECRET))
            if fails:
                raise LookupError

        await self.database.write(unit)

    def waiting(self) -> list[mails.OutgoingMail]:
        """What the store still holds."""
        return mails.due(self.database.reader, 2**62, 1_000)

    async def until_empty(self, seconds: float = PATIENCE_SECONDS) -> None:
        with trio.fail_after(seconds):
            while self.waiting():  # noqa: ASYNC110 - nothing tells when a row goes
                await trio.sleep(0.01)


@asynccontextmanager
async def place(folder: Path, *, in_threads: bool = True, **mail: Any) -> AsyncIterator[Place]:
    async with open_database(fresh_database(folder / "chat.db"), inline=not in_threads, durable=False) as database:
        yield Place(database, folder, in_threads=in_threads, **mail)


async def test_mail_goes_out_with_its_commit_in_order_over_one_connection(tmp_path: Path) -> None:
    async with place(tmp_path) as here, trio.open_nursery() as nursery:
        with smtp_server(here.postbox, here.port):
            nursery.start_soon(here.outbox.run)
            with pytest.raises(LookupError):
                await here.post("undone@example.com", fails=True)
            recipients = [f"user{number}@example.com" for number in range(20)]
            await here.post(*recipients)
            await here.postbox.wait_for(20)
            await here.until_empty()
            await here.outbox.finish()
        assert here.postbox.recipients == recipients
        assert len(here.postbox.connections) == 1
        first = here.postbox.messages[0]
        assert first["Subject"] == "For user0@example.com"
        assert len({message["Message-ID"] for message in here.postbox.messages}) == 20


async def test_what_waits_does_not_show_its_link(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        await here.post("zoe@example.com")
        (row,) = here.waiting()
        assert SECRET.encode() not in row.sealed_letter
        assert SECRET not in repr(row)
    for file in await trio.to_thread.run_sync(lambda: list(tmp_path.iterdir())):
        assert SECRET.encode() not in await trio.Path(file).read_bytes()


async def test_mail_sealed_with_another_key_is_dropped(tmp_path: Path) -> None:
    async with place(tmp_path) as here, trio.open_nursery() as nursery:
        await here.post("zoe@example.com")
        here.outbox = here.new_outbox(secret=b"x" * 32)
        with smtp_server(here.postbox, here.port):
            nursery.start_soon(here.outbox.run)
            await here.post("bob@example.com")
            await here.until_empty()
            await here.outbox.finish()
        assert here.postbox.recipients == ["bob@example.com"]


# Protected connections


async def test_starttls_with_a_certificate_that_is_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trusted, context = certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    async with place(tmp_path, tls="starttls", username="chat", password="hunter22") as here:
        here.postbox.accounts["chat"] = "hunter22"
        options: dict[str, Any] = {"authenticator": here.postbox.authenticate, "auth_required": True}
        with smtp_server(here.postbox, here.port, tls_context=context, require_starttls=True, **options):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(here.outbox.run)
                await here.post("zoe@example.com")
                await here.postbox.wait_for(1)
                await here.outbox.finish()
        assert here.postbox.protected == [True]


@pytest.mark.parametrize("offers", [True, False], ids=["untrusted certificate", "no STARTTLS"])
async def test_nothing_goes_over_a_connection_that_is_not_protected(tmp_path: Path, offers: bool) -> None:
    _, context = certificate(tmp_path)
    async with place(tmp_path, tls="starttls") as here:
        with smtp_server(here.postbox, here.port, **({"tls_context": context} if offers else {})):
            await here.post("zoe@example.com")
            with structlog.testing.capture_logs() as lines:
                pause = await here.outbox._round()
        assert pause < 2
        assert [line["event"] for line in lines] == ["the SMTP server cannot be used"]
        assert here.postbox.messages == []
        assert here.postbox.attempts == 0
        assert len(here.waiting()) == 1


async def test_implicit_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trusted, context = certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    async with place(tmp_path, tls="implicit") as here:
        with smtp_server(here.postbox, here.port, ssl_context=context):
            await here.post("zoe@example.com")
            await here.outbox._round()
        assert here.postbox.recipients == ["zoe@example.com"]


async def test_a_wrong_password_is_an_operators_matter_and_is_not_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trusted, context = certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    async with place(tmp_path, tls="starttls", username="chat", password="not-the-password") as here:
        here.postbox.accounts["chat"] = "hunter22"
        with smtp_server(here.postbox, here.port, tls_context=context, authenticator=here.postbox.authenticate):
            await here.post("zoe@example.com")
            with structlog.testing.capture_logs() as lines:
                await here.outbox._round()
        assert [line["event"] for line in lines] == ["the SMTP server cannot be used"]
        assert "535" in lines[0]["problem"]
        assert "not-the-password" not in repr(lines)
        assert len(here.waiting()) == 1


# Refusals


async def test_a_dead_address_is_dropped_and_told_and_the_others_go_out(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        here.postbox.replies = {
            "dead@example.com": "550 5.1.1 No such user",
            "plain@example.com": "550 No such user",
            "blocked@example.com": "550 5.7.1 You are on a list",
        }
        here.postbox.data_replies = {"spam@example.com": "554 5.6.0 Smells of spam"}
        with smtp_server(here.postbox, here.port):
            await here.post(
                "dead@example.com", "plain@example.com", "blocked@example.com", "spam@example.com", "zoe@example.com"
            )
            await here.outbox._round()
        assert here.postbox.recipients == ["zoe@example.com"]
        assert here.bounced.addresses == ["dead@example.com", "plain@example.com"]
        assert here.waiting() == []


async def test_an_address_that_none_can_be_is_dead_too(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        with smtp_server(here.postbox, here.port):
            await here.post("no address", "zoe@example.com\r\nRCPT TO:<all@example.com>", "zoe@example.com")
            await here.outbox._round()
        assert here.postbox.recipients == ["zoe@example.com"]
        assert len(here.bounced.addresses) == 2


async def test_what_is_refused_for_now_is_tried_again_later_and_later(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    async with place(tmp_path, in_threads=False) as here, trio.open_nursery() as nursery:
        here.postbox.replies = {"grey@example.com": "451 4.7.1 Come back later"}
        with smtp_server(here.postbox, here.port):
            await here.post("grey@example.com", "zoe@example.com")
            nursery.start_soon(here.outbox.run)
            await trio.sleep(1)
            assert here.postbox.recipients == ["zoe@example.com"]
            assert here.postbox.attempts == 2
            await trio.sleep(40)
            assert here.postbox.attempts == 3
            await trio.sleep(3_600)
            assert 6 <= here.postbox.attempts <= 10
            here.postbox.replies.clear()
            await trio.sleep(2 * 3_600)
            assert here.postbox.recipients == ["zoe@example.com", "grey@example.com"]
            await here.outbox.finish()
        assert here.bounced.addresses == []


async def test_after_three_days_it_is_given_up(tmp_path: Path, autojump_clock: trio.testing.MockClock) -> None:
    async with place(tmp_path, in_threads=False) as here, trio.open_nursery() as nursery:
        here.postbox.replies = {"grey@example.com": "451 4.7.1 Come back later"}
        with smtp_server(here.postbox, here.port), structlog.testing.capture_logs() as lines:
            await here.post("grey@example.com")
            nursery.start_soon(here.outbox.run)
            await trio.sleep(GIVEN_UP_AFTER_MS / 1_000 - 60)
            assert len(here.waiting()) == 1
            await trio.sleep(5 * 3_600)
            assert here.waiting() == []
            await here.outbox.finish()
        assert [line for line in lines if line["log_level"] == "error"] == [
            {
                "event": "mail given up: the server did not take it for three days",
                "mail": 1,
                "kind": "verification",
                "log_level": "error",
            }
        ]
        assert here.bounced.addresses == []


# A server that comes and goes


async def test_a_server_that_is_away_gets_it_when_it_is_back(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    async with place(tmp_path, in_threads=False) as here, trio.open_nursery() as nursery:
        await here.post("zoe@example.com", "bob@example.com")
        nursery.start_soon(here.outbox.run)
        with structlog.testing.capture_logs() as lines:
            await trio.sleep(6 * 3_600)
        pauses = [line["next_attempt_seconds"] for line in lines]
        assert pauses[0] <= 1
        assert 10 < len(pauses) < 60
        assert 600 < max(pauses) <= 1_125
        with smtp_server(here.postbox, here.port):
            await trio.sleep(1_200)
            assert here.postbox.recipients == ["zoe@example.com", "bob@example.com"]
            await here.outbox.finish()
        assert here.waiting() == []


async def test_sent_once_it_is_not_sent_again_after_a_restart(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        with smtp_server(here.postbox, here.port):
            await here.post("zoe@example.com")
            await here.outbox._round()
            here.outbox = here.new_outbox()
            await here.outbox._round()
        assert here.postbox.recipients == ["zoe@example.com"]


async def test_the_message_id_survives_attempts_and_restarts(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        with smtp_server(here.postbox, here.port):
            await here.post("zoe@example.com")
            (row,) = here.waiting()
            await here.outbox._round()
            # As after a crash between the server's 250 and our commit.
            await here.database.write(
                lambda connection: connection.execute(
                    "INSERT INTO mail_outbox VALUES (?, ?, ?, ?, ?, ?, ?)", attrs.astuple(row)
                )
            )
            here.outbox = here.new_outbox()
            await here.outbox._round()
        first, second = (message["Message-ID"] for message in here.postbox.messages)
        assert first == second == f"<{row.id}.{row.created_at}@example.com>"


async def test_the_store_may_fail_meanwhile(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        await here.post("zoe@example.com")
        here.database.failing = True
        with smtp_server(here.postbox, here.port):
            assert await here.outbox._round() > 0
            assert here.postbox.messages == []
            here.database.failing = False
            await here.outbox._round()
        assert here.postbox.recipients == ["zoe@example.com"]


async def test_finishing_sends_what_is_under_way_and_leaves_the_rest(tmp_path: Path) -> None:
    async with place(tmp_path) as here, trio.open_nursery() as nursery:
        with smtp_server(here.postbox, here.port):
            await here.post(*(f"user{number}@example.com" for number in range(300)))
            nursery.start_soon(here.outbox.run)
            await here.postbox.wait_for(3)
            await here.outbox.finish()
            sent = len(here.postbox.messages)
            assert len(here.waiting()) == 300 - sent > 0
            await here.outbox.finish()


async def test_a_server_that_says_nothing_does_not_hold_the_end_up(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        listeners = await trio.open_tcp_listeners(here.port, host=HOST)
        await here.post("zoe@example.com")
        started = trio.current_time()
        with trio.move_on_after(0.1):
            await here.outbox.run()
        assert trio.current_time() - started < 3
        for listener in listeners:
            await listener.aclose()
        assert len(here.waiting()) == 1


def test_a_sender_that_none_can_be_stops_the_start() -> None:
    with pytest.raises(OperatorError, match=r"mail\.from"):
        Sender.of(Settings(mail=MailSettings(mode="smtp", host="x", from_="a@b@c")))


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://chat.example", "chat.example"),
        ("http://127.0.0.1:80", "[127.0.0.1]"),
        ("http://[::1]:80", "[IPv6:::1]"),
    ],
)
def test_the_name_that_the_server_hears(url: str, name: str) -> None:
    settings = Settings(public_url=url, mail=MailSettings(mode="smtp", host="x", from_="a@example.com"))
    assert Sender.of(settings).own_name == name
