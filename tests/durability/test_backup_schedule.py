"""Backups that a running server makes by itself: when they are due, and what becomes of a process that makes none."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import attrs
import pytest
import structlog
import trio

from chat.backup.place import BackupPlace
from chat.backup.schedule import HOUR_MS, RETRY_MS, BackupSchedule
from chat.config.loading import load_settings
from chat.store.administration import backups
from chat.store.administration.backups import BackupRecord
from chat.store.database import Database, open_database
from chat.store.guard import UNGUARDED
from chat.testing import RestClient
from tests.durability.server_process import ServerProcess, running
from tests.patience import PATIENCE_SECONDS

DAY_MS = 24 * HOUR_MS


@attrs.define
class StandingClock:
    """A clock that stands where it is put."""

    now: int = 1_800_000_000_000

    def now_ms(self) -> int:
        return self.now


def schedule(database: Database, clock: StandingClock, data: Path, *command: str) -> BackupSchedule:
    settings = load_settings(data, flags={"backup.directory": "kept"}).settings
    return BackupSchedule(
        settings=settings,
        data=data,
        settings_file=None,
        database=database,
        clock=clock,
        stalled_seconds=0.2,
        command=[sys.executable, "-c", *command],
    )


async def test_a_backup_is_due_whatever_the_clock_does(tmp_path: Path) -> None:
    clock = StandingClock()
    async with open_database(tmp_path / "chat.sqlite3") as database:
        due = schedule(database, clock, tmp_path, "")
        assert due.milliseconds_to_next() <= 0

        async def tried(**fields: object) -> None:
            last = BackupRecord(directory=str(tmp_path / "kept"), tried_at=clock.now, **fields)  # type: ignore[arg-type]
            await database.write(partial(backups.note, known=last), guard=UNGUARDED)

        await tried()
        assert due.milliseconds_to_next() == DAY_MS
        clock.now += DAY_MS - 1
        assert due.milliseconds_to_next() == 1
        clock.now += 10 * 365 * DAY_MS  # ahead: one backup too many, and no more
        assert due.milliseconds_to_next() < 0
        await tried()
        clock.now -= 10 * 365 * DAY_MS  # back: the next is a day away, not ten years
        assert due.milliseconds_to_next() == DAY_MS
        await tried(failure="the disk is full")
        assert due.milliseconds_to_next() == RETRY_MS
        elsewhere = BackupRecord(directory="/elsewhere", tried_at=clock.now)
        await database.write(partial(backups.note, known=elsewhere), guard=UNGUARDED)
        assert due.milliseconds_to_next() <= 0


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("import time; time.sleep(600)", "it did not get on: is the disk of the backup directory gone, or slow?"),
        ("import os; os.kill(os.getpid(), 9)", "it was ended by signal 9"),
        ("import sys; sys.exit('chat: there is no room')", "there is no room"),
        ("raise SystemExit(3)", "it ended with status 3"),
    ],
)
async def test_a_process_that_makes_no_backup_is_noted(tmp_path: Path, script: str, reason: str) -> None:
    clock = StandingClock()
    async with open_database(tmp_path / "chat.sqlite3") as database:
        due = schedule(database, clock, tmp_path, script)
        with structlog.testing.capture_logs() as logs, trio.fail_after(PATIENCE_SECONDS):
            assert await due.attempt()
        last = backups.record(database.reader)
        assert last is not None
        assert (last.failure, last.tried_at, last.made_at) == (reason, clock.now, None)
        assert [entry["reason"] for entry in logs] == [reason]


BUSY = "raise SystemExit('chat: another backup is being made in x')"


async def test_a_process_that_finds_another_at_work_is_no_failure(tmp_path: Path) -> None:
    async with open_database(tmp_path / "chat.sqlite3") as database:
        due = schedule(
            database, StandingClock(), tmp_path, "raise SystemExit('chat: another backup is being made in x')"
        )
        assert not await due.attempt()
        assert backups.record(database.reader) is None


async def wait(server: ServerProcess, seconds: float) -> None:
    (await server.alice.post("/v1/_dev/clock", {"advance_ms": int(seconds * 1_000)})).expect(200)


async def metrics(client: RestClient) -> dict[str, float]:
    lines = (await client.get("/metrics")).body.decode().splitlines()
    pairs = (line.split(" ") for line in lines if line.startswith("chat_backup"))
    return {name: float(value) for name, value in pairs}


async def told(client: RestClient, **wanted: float) -> dict[str, float]:
    """The metrics of backups, once they are so."""
    with trio.fail_after(PATIENCE_SECONDS):
        while True:
            found = await metrics(client)
            if found.items() >= wanted.items():
                return found
            await trio.sleep(0.1)


@pytest.mark.long
async def test_a_server_backs_itself_up(tmp_path: Path) -> None:
    data, kept, away = tmp_path / "data", tmp_path / "kept", tmp_path / "away"
    environment = {"DIRECTORY": str(kept), "KEEP": "2", "SPARE_BYTES": "0"}
    async with running(
        data, CHAT_METRICS="on", **{f"CHAT_BACKUP__{name}": value for name, value in environment.items()}
    ) as server:
        (await server.alice.send_message(server.channel_id, "before")).expect(200)
        await wait(server, 20)
        first = await told(server.alice, chat_backup_failed=0, chat_backups=1)
        assert first["chat_backup_success_timestamp_seconds"] > 0
        kept.rename(away)  # the disk is gone
        kept.mkdir()
        await wait(server, 25 * 3_600)
        await told(server.alice, chat_backup_failed=1, chat_backups=1)
        assert (await server.alice.send_message(server.channel_id, "meanwhile")).status == 200
        kept.rmdir()
        away.rename(kept)
        await wait(server, 2 * 3_600)  # it is tried again long before the next is due
        await told(server.alice, chat_backup_failed=0, chat_backups=2)
    assert [(backup.reason, backup.problems, backup.remarks) for backup in BackupPlace(kept).backups()] == [
        ("schedule", (), ())
    ] * 2
