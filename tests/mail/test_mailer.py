"""Mail is handed over with the change that it tells of."""

from __future__ import annotations

from pathlib import Path

import pytest

from chat.clock import SystemClock
from chat.domain.signing_in.mail_sink import MailSink
from chat.mail.letters import Letterhead, verification
from chat.mail.mailer import Mailer
from chat.store.database import Database, open_database
from chat.testing.server import fresh_database

LETTER = verification(Letterhead("Chat", "https://chat.example"), "a@example.com", token="t" * 64)


def mailer(mode: str) -> Mailer:
    return Mailer(mode, SystemClock())


async def post(database: Database, mode: str, *, fails: bool = False) -> None:
    def unit(connection: object) -> None:
        mailer(mode).post(connection, LETTER)  # type: ignore[arg-type]
        if fails:
            raise LookupError

    await database.write(unit)


async def test_kept_mail_waits_in_the_sink_until_it_is_cleared(tmp_path: Path) -> None:
    async with open_database(fresh_database(tmp_path / "chat.db"), inline=True, durable=False) as database:
        sink = MailSink(database)
        await post(database, "keep")
        (kept,) = await sink.kept()
        assert kept["to"] == "a@example.com"
        assert kept["kind"] == "verification"
        assert kept["token"] == "t" * 64
        assert f"https://chat.example/verify#token={'t' * 64}" in kept["text"]
        assert set(kept) == {"to", "subject", "text", "kind", "token", "created_at"}
        await sink.clear()
        assert await sink.kept() == []


async def test_switched_off_nothing_is_kept(tmp_path: Path) -> None:
    async with open_database(fresh_database(tmp_path / "chat.db"), inline=True, durable=False) as database:
        await post(database, "off")
        assert await MailSink(database).kept() == []


async def test_a_change_that_fails_sends_no_mail(tmp_path: Path) -> None:
    async with open_database(fresh_database(tmp_path / "chat.db"), inline=True, durable=False) as database:
        with pytest.raises(LookupError):
            await post(database, "keep", fails=True)
        assert await MailSink(database).kept() == []


def test_an_outbox_belongs_to_smtp() -> None:
    with pytest.raises(TypeError, match="outbox"):
        mailer("smtp")


def test_a_letter_does_not_show_its_token() -> None:
    assert LETTER.token is not None
    assert f"token={LETTER.token!r}" not in repr(LETTER)
