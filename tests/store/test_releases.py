"""The databases of earlier releases, with a row in every table, become present ones, and everything in them reads well.

`releases/VERSION.tar.xz` is a data directory as that release left it; `releases/make_VERSION.py` says how it was made.
"""

from __future__ import annotations

import contextlib
import itertools
import re
import shutil
import sqlite3
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from chat.admin.routes import ADMIN_ROUTES
from chat.api.operation import Operation, Policy
from chat.api.routes.every import ROUTES
from chat.backup.place import BackupPlace
from chat.checking.instance import looked_through, steps
from chat.store.connections import connect
from chat.store.data_directory import DataDirectory
from chat.store.migrations import MIGRATIONS, schema_version
from chat.testing.world import World
from tests.cli.command_line import Run
from tests.cli.conftest import run  # noqa: F401 - the fixture

RELEASES: Final = {
    path.name.removesuffix(".tar.xz"): path for path in (Path(__file__).parent / "releases").glob("*.xz")
}
SCHEMAS: Final = {"0.1.0": 35}

TRIED_EACH: Final = 12
"""Objects of one kind that an operation is asked for."""

IDS: Final = {
    "{guild_id}": "SELECT id FROM guilds",
    "{channel_id}": "SELECT id FROM channels",
    "{user_id}": "SELECT id FROM users",
    "{message_id}": "SELECT id FROM messages",
    "{application_id}": "SELECT id FROM applications",
    "{role_id}": "SELECT id FROM roles",
    "{webhook_id}": "SELECT id FROM webhooks",
    "{emoji_id}": "SELECT id FROM expressions",
    "{report_id}": "SELECT id FROM reports",
    "{job_id}": "SELECT id FROM jobs",
    "{archive_id}": "SELECT id FROM archives",
    "{attachment_id}": "SELECT id FROM attachments",
    "{invite_code}": "SELECT code FROM invites",
    "{code}": "SELECT code FROM invites",
}


def unpack(version: str, target: Path) -> Path:
    with tarfile.open(RELEASES[version]) as tar:
        tar.extraction_filter = getattr(tarfile, "data_filter", None)  # which Python 3.11.3 and before do not know
        tar.extractall(target)  # noqa: S202 - what we have packed ourselves
    return target


@pytest.fixture(params=sorted(RELEASES))
def release(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A data directory as a release left it; that of `chat_server` too."""
    return unpack(request.param, tmp_path)


def test_every_table_has_a_row(release: Path) -> None:
    with contextlib.closing(connect(release / "chat.sqlite3", read_only=True)) as connection:
        assert schema_version(connection) in SCHEMAS.values()
        tables = connection.execute(
            r"SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"
            r" AND name NOT LIKE 'sqlite\_%' ESCAPE '\' AND name NOT LIKE '\_%' ESCAPE '\'"
        ).fetchall()
        assert len(tables) >= 78
        empty = [
            name
            for (name,) in tables
            if connection.execute(f"SELECT 1 FROM {name}").fetchone() is None  # noqa: S608 - our own names
        ]
    assert empty == []


def test_the_command_line_migrates_it_and_can_go_back(run: Run, release: Path) -> None:  # noqa: F811
    before = sorted(rows(release / "chat.sqlite3"))
    assert run("user", "list", "--data", release).status == 0
    done = run("check", "--deep", "--data", release)
    assert (done.status, done.out, done.err) == (0, "", "")
    with contextlib.closing(connect(release / "chat.sqlite3", read_only=True)) as connection:
        assert schema_version(connection) == len(MIGRATIONS)
    [backup] = BackupPlace(release / "backups").backups()
    assert backup.is_whole
    assert run("restore", release / "backups", "--aside", "--data", release).status == 0
    assert sorted(rows(release / "chat.sqlite3")) == before


def rows(database: Path) -> Iterator[str]:
    """Every row of a database, as text."""
    with contextlib.closing(sqlite3.connect(database)) as connection:
        yield from connection.iterdump()


def reads() -> list[Operation]:
    """Every operation that only reads, and asks for nothing in its body."""
    operations = (operation for routes in (*ROUTES, *ADMIN_ROUTES) for operation in routes.operations)
    return [operation for operation in operations if operation.method == "GET" and "/_dev/" not in operation.path]


def paths(operation: Operation, known: dict[str, list[str]]) -> Iterator[str]:
    """The addresses of an operation about what there is; each kind of object in turn."""
    names = re.findall(r"\{\w+\}", operation.path)
    if any(name not in known for name in names):
        return
    lists = [known[name] for name in names]
    longest = max(map(len, lists), default=1)
    for at in range(min(longest, TRIED_EACH)):
        path = operation.path
        for name, values in zip(names, lists, strict=True):
            path = path.replace(name, values[at % len(values)], 1)
        yield path


async def test_everything_reads_well_after_the_migration(release: Path, chat_world: World, autojump_clock: Any) -> None:
    """What the answers look like is held against their shapes by `tests.answers`."""
    with contextlib.closing(connect(release / "chat.sqlite3", read_only=True)) as connection:
        assert schema_version(connection) == len(MIGRATIONS)
        known = {name: [str(key) for (key,) in connection.execute(query)] for name, query in IDS.items()}
        messages = connection.execute("SELECT channel_id, id FROM messages").fetchall()
    assert all(known.values())
    admin, bob = chat_world.admin.rest, chat_world.bob.rest
    answered: dict[str, set[int]] = {}
    for operation in reads():
        client = admin if operation.policy is Policy.ADMIN else bob
        for path in paths(operation, known):
            status = (await client.get(path)).status
            assert status < 500, path
            answered.setdefault(operation.path, set()).add(status)
    # Each object by the operation that shows it alone.
    for channel_id, message_id in messages:
        found = await bob.get(f"/v1/channels/{channel_id}/messages/{message_id}")
        assert found.status in {200, 403, 404}
        answered.setdefault("message", set()).add(found.status)
    for path, kind in (
        ("/v1/admin/users/{}", "{user_id}"),
        ("/v1/admin/guilds/{}", "{guild_id}"),
        ("/v1/admin/reports/{}", "{report_id}"),
        ("/v1/admin/jobs/{}", "{job_id}"),
        ("/v1/users/{}", "{user_id}"),
        ("/v1/invites/{}", "{invite_code}"),
    ):
        for key in known[kind]:
            assert (await admin.get(path.format(key))).status == 200, path.format(key)
    shown = [name for name, statuses in answered.items() if 200 in statuses]
    assert len(shown) > 80, sorted(set(answered) - set(shown))
    assert "message" in shown
    client = await chat_world.bob.connect()  # Ready holds the guilds whole
    assert client.ready["user"]["username"] == "bob"


async def test_the_check_of_a_migrated_instance_finds_nothing(release: Path, chat_world: World) -> None:
    """With a server on it, whose tasks have looked at everything."""
    (release / "copy").mkdir()
    for name in ("uploads", "archives"):
        shutil.copytree(release / name, release / "copy" / name)
    shutil.copy(release / "signing.key", release / "copy")
    with contextlib.closing(connect(release / "chat.sqlite3")) as connection:
        connection.execute("VACUUM INTO ?", (str(release / "copy" / "chat.sqlite3"),))
    (release / "copy" / "signing.key").chmod(0o600)
    with contextlib.ExitStack() as stack:
        found = list(looked_through(steps(DataDirectory(release / "copy"), None, stack, deep=True), lambda *_: None))
    assert found == []


def test_the_pairs_are_taken_in_turn() -> None:
    known = {"{guild_id}": ["1", "2"], "{role_id}": ["7"]}
    operation = next(entry for entry in reads() if entry.path.count("{guild_id}") == 1)
    assert len(list(itertools.islice(paths(operation, known), 5))) <= 2
