"""`chat check`: nothing is wrong with an instance that was used, and what is wrong is told."""

from __future__ import annotations

import contextlib
import hashlib
import json
import random
import re
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from chat.auth.keys import Keys
from chat.clock import iso_timestamp
from chat.domain.signing_in.mfa_codes import SEALED_BACKUP_CODES, sealed_secret
from chat.snowflake import snowflake_at
from chat.store.administration.instance import note_deleted
from chat.store.connections import connect
from chat.store.data_directory import DataDirectory
from chat.store.deep_check import JSON_COLUMNS
from chat.store.guilds import members
from chat.store.guilds.members import Member
from chat.store.messages import attachments
from chat.store.messages.attachments import Attachment
from chat.store.messages.message_search_entries import bring_up_to_date
from chat.store.messages.messages import Message
from chat.store.messages.messages import insert as insert_message
from chat.store.migrations import MIGRATIONS
from tests.cli.command_line import ALICE, CHANNEL, GUILD, Run, stored
from tests.mmdb_file import write_database

FILE = GUILD + 3


@contextlib.contextmanager
def changing(data: Path) -> Iterator[sqlite3.Connection]:
    """The database, for what no part of the program would do."""
    with contextlib.closing(connect(DataDirectory(data).database)) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        yield connection


def place(data: Path, file_id: int, kind: str = "attachments") -> Path:
    """Where the file of an attachment lies."""
    return data / "uploads" / kind / f"{file_id >> 4 & 0xFF:02x}" / str(file_id)


@pytest.fixture
def used(data: Path, alice: str) -> Path:
    """A directory with an account, a guild, and a file of five bytes."""
    DataDirectory(data).signing_key()
    with stored(data) as connection:
        attachments.insert(connection, Attachment(FILE, CHANNEL, ALICE, "a.txt", "text/plain", 5, stored=True))
    file = place(data, FILE)
    file.parent.mkdir(parents=True)
    file.write_bytes(b"12345")
    return data


def test_nothing_is_wrong(run: Run, used: Path) -> None:
    for arguments in ((), ("--json",)):
        ending = run("check", "--data", used, *arguments)
        assert (ending.status, ending.err) == (0, "")
        assert ending.out == ("[]\n" if arguments else "")


def test_a_running_server_is_no_hindrance(run: Run, used: Path) -> None:
    with DataDirectory(used).locked(), changing(used) as connection:
        connection.execute("BEGIN IMMEDIATE")
        assert run("check", "--data", used).status == 0


def test_nothing_is_changed(run: Run, used: Path) -> None:
    stranger = place(used, 5)
    stranger.parent.mkdir(parents=True, exist_ok=True)
    stranger.write_bytes(b"x")
    before = {path: path.stat().st_size for path in used.rglob("*") if path.is_file() and "sqlite3-" not in path.name}
    with changing(used) as connection:
        schema = connection.execute("SELECT sum(length(sql)) FROM sqlite_master").fetchone()
        assert run("check", "--data", used).status == 1
        assert connection.execute("SELECT sum(length(sql)) FROM sqlite_master").fetchone() == schema
    after = {path: path.stat().st_size for path in used.rglob("*") if path.is_file() and "sqlite3-" not in path.name}
    assert after == before


def test_what_is_wrong_with_files(run: Run, used: Path) -> None:
    place(used, FILE).write_bytes(b"123")
    for kind in ("attachments", "assets"):
        stranger = place(used, 5, kind)
        stranger.parent.mkdir(parents=True, exist_ok=True)
        stranger.write_bytes(b"x")
    note = used / "uploads" / "attachments" / "05" / "operator's note"
    note.parent.mkdir(parents=True, exist_ok=True)
    note.write_bytes(b"x")
    young = place(used, snowflake_at(time.time_ns() // 1_000_000))
    young.parent.mkdir(parents=True, exist_ok=True)
    young.write_bytes(b"x")  # its message is being sent
    ending = run("check", "--data", used)
    assert sorted(ending.out.splitlines()) == [
        "files: assets/5 belongs to nothing",
        f"files: attachments/{FILE} has 3 bytes instead of 5",
        "files: attachments/5 belongs to nothing",
    ]
    assert (ending.status, ending.err) == (1, f"chat: 3 things are wrong with {used}\n")
    place(used, FILE).unlink()
    told = run("check", "--data", used, "--json").json
    assert {"check": "files", "problem": f"attachments/{FILE} is missing"} in told
    with changing(used) as connection:
        attachments.delete(connection, [FILE])  # the sweep has its file to delete, which is gone
    place(used, FILE).write_bytes(b"12345")
    assert all(str(FILE) not in entry["problem"] for entry in run("check", "--data", used, "--json").json)


def test_many_things_are_told_as_a_few(run: Run, used: Path) -> None:
    for number in range(1_100):
        stranger = place(used, number)
        stranger.parent.mkdir(parents=True, exist_ok=True)
        stranger.write_bytes(b"x")
    lines = run("check", "--data", used).out.splitlines()
    assert (len(lines), lines[-1]) == (21, "files: ... and 1080 more")


def test_what_is_wrong_with_rows(run: Run, used: Path) -> None:
    with changing(used) as connection:
        connection.execute("UPDATE guilds SET member_count = 7")
        connection.execute("UPDATE media_usage SET bytes = 9")
        connection.execute("UPDATE channels SET guild_id = 77")
    ending = run("check", "--data", used)
    lines = ending.out.splitlines()
    assert f"counts: guild {GUILD} counts 7 members, and has 0" in lines
    assert any(line.startswith("counts: account ") and line.endswith("9 bytes of files, and has 5") for line in lines)
    assert "counts: all accounts together (-1) count 9 bytes of files, and have 5" in lines
    assert any(line.startswith("database: a row of channels") and line.endswith("none of guilds") for line in lines)
    assert ending.status == 1


def test_what_is_left_of_something_that_has_gone(run: Run, used: Path) -> None:
    gone = GUILD + 1_000
    folders = {"guild_folders": [{"id": -1, "guild_ids": [str(GUILD), str(gone), "5"]}]}
    with changing(used) as connection:
        body = json.dumps({**folders, "restricted_guilds": [str(gone), "5"]})
        connection.execute("INSERT OR REPLACE INTO user_settings (user_id, body) VALUES (?, ?)", (ALICE, body))
        for guild_id in (0, GUILD, gone):
            connection.execute("INSERT INTO user_guild_settings VALUES (?, ?, '{}')", (ALICE, guild_id))
        connection.execute("UPDATE users SET address_key = 'nobody@example.com' WHERE id = ?", (ALICE,))
    ending = run("check", "--data", used)
    assert ending.out.splitlines() == [
        f"database: account {ALICE} has settings for guild {gone}, which is gone",
        f"database: account {ALICE} has guild {gone} in its folders, which is gone",
        f"database: account {ALICE} restricts guild {gone}, which is gone",
        f"database: account {ALICE} has the address nobody@example.com, by which nobody signs in",
    ]
    # What a server goes on with when it starts is no leftover.
    with changing(used) as connection:
        connection.execute("INSERT INTO errands VALUES (1, 'forget_guild', ?)", (json.dumps({"guild_id": gone}),))
        connection.execute("INSERT INTO errand_accounts VALUES (1, ?)", (ALICE,))
    assert run("check", "--data", used).out.count("which is gone") == 0


def test_a_damaged_database(run: Run, used: Path) -> None:
    database = DataDirectory(used).database
    with changing(used) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = bytearray(database.read_bytes())
    middle = len(content) // 2 // 4_096 * 4_096
    content[middle : middle + 8_192] = b"\xff" * 8_192
    database.write_bytes(bytes(content))
    ending = run("check", "--data", used)
    assert ending.status == 1
    assert "database: " in ending.out
    assert "Traceback" not in ending.out + ending.err
    database.write_bytes(b"no database at all" * 1_000)
    ending = run("check", "--data", used)
    assert (ending.status, ending.out) == (1, "database: cannot be read: file is not a database\n")


@pytest.mark.parametrize(("difference", "age"), [(1, "a newer"), (-1, "an older")])
def test_a_database_of_another_version(run: Run, used: Path, difference: int, age: str) -> None:
    known = len(MIGRATIONS)
    with changing(used) as connection:
        connection.execute(f"PRAGMA user_version = {known + difference}")
    ending = run("check", "--data", used)
    told = f"is of {age} version of this program (schema {known + difference}, not {known}): no more was looked at"
    assert (ending.status, ending.out) == (1, f"database: {told}\n")


def test_a_key_that_is_missing_or_opens_nothing(run: Run, used: Path) -> None:
    keys = Keys(DataDirectory(used).signing_key(), random.Random())
    with stored(used) as connection:
        connection.execute("UPDATE users SET totp_secret = ?", (sealed_secret(keys, ALICE, "JBSWY3DPEHPK3PXP"),))
        for position in range(2):
            connection.execute(
                "INSERT INTO backup_codes (user_id, position, sealed_code) VALUES (?, ?, ?)",
                (ALICE, position, keys.seal(SEALED_BACKUP_CODES, b"abcd-efgh", str(ALICE).encode())),
            )
    assert run("check", "--data", used).status == 0
    key = DataDirectory(used).key_file
    right = key.read_bytes()
    key.write_bytes(bytes(32))
    ending = run("check", "--data", used)
    assert ending.status == 1
    assert ending.out.splitlines() == [
        "signing key: does not open 1 of 1 authenticators: was it sealed with another key?",
        "signing key: does not open 2 of 2 backup codes: was it sealed with another key?",
    ]
    key.unlink()
    ending = run("check", "--data", used)
    assert (ending.status, ending.out.count("\n")) == (1, 1)
    assert ending.out.startswith("signing key: is missing: ")
    # What needs the key stops with the same advice, and what does not goes on.
    for arguments in (("serve", "--port", 0), ("backup", used / "copy")):
        stopped = run(*arguments, "--data", used)
        assert stopped.status == 1
        assert "Restore it from a backup" in stopped.err
    assert run("user", "list", "--data", used).status == 0
    assert not key.exists()
    key.write_bytes(right)
    assert run("check", "--data", used).status == 0


def test_settings_and_the_key(run: Run, used: Path) -> None:
    (used / "chat.toml").write_text("servce_name = 'x'\n")
    key = used / "signing.key"
    key.chmod(0o644)
    lines = run("check", "--data", used).out.splitlines()
    assert lines[0].startswith("settings: ")
    assert "servce_name" in lines[0]
    assert lines[1:] == ["signing key: can be read by others: its mode must be 0600"]
    (used / "chat.toml").unlink()
    key.chmod(0o600)
    key.write_bytes(b"short")
    assert run("check", "--data", used).out == "signing key: has 5 bytes instead of 32\n"
    other = used / "other.toml"
    other.write_text("port = 'high'\n")
    key.write_bytes(bytes(32))
    assert "settings: " in run("check", "--data", used, "--config", other).out
    other.write_text("geolocation_file = 'places.mmdb'\n")
    assert run("check", "--data", used, "--config", other).out.startswith("settings: geolocation_file: ")
    write_database(used / "places.mmdb", {"1.0.0.0/8": {}})
    assert run("check", "--data", used, "--config", other).status == 0


def test_there_is_nothing_to_check(run: Run, data: Path) -> None:
    ending = run("check", "--data", data)
    assert (ending.status, ending.out) == (1, "")
    assert ending.err == f"chat: there is no data in {data}: name the data directory with --data\n"
    assert not data.exists()
    assert run("check", "--data", data, "more").status == 2


DEEP_FAULTS = {
    "UPDATE guilds SET features = '{\"a\": 1}'": f"database: guilds.features of {GUILD} is not what belongs there",
    "UPDATE guilds SET features = '[1'": f"database: guilds.features of {GUILD} is not what belongs there",
    "UPDATE messages SET extra = '[]'": f"database: messages.extra of {GUILD + 9} is not what belongs there",
    "UPDATE messages SET reference = '{}'": f"database: messages.reference of {GUILD + 9} is not what belongs there",
    "INSERT INTO message_reactions VALUES (1, ?1, 'x', NULL, 'x', 0, 1, 2)": (
        "counts: reaction 1 counts 2 accounts, and has 0"
    ),
    "UPDATE messages SET has_reactions = 1": f"counts: message {GUILD + 9} says that it has reactions (1), and has 0",
    "UPDATE message_search SET words = 'other' WHERE rowid = ?1": (
        f"search: message {GUILD + 9} is found by other words than it has"
    ),
    "DELETE FROM account_search": f"search: account {ALICE} is found by other words than it has",
    "UPDATE members SET name_key = 'zed'": (
        f"database: account {ALICE} stands in guild {GUILD} by another name than it has"
    ),
    "UPDATE messages SET id = 9000000000000000000": (
        "database: messages has the id 9000000000000000000, which is none of a time up to now"
    ),
}


@pytest.mark.parametrize("is_deleted", [False, True])
def test_a_last_id_of_the_future_is_told(run: Run, used: Path, is_deleted: bool) -> None:
    now = time.time_ns() // 1_000_000
    for days, told in ((0.9, 0), (400, 1)):
        message_id = snowflake_at(now + round(days * 86_400_000))
        with changing(used) as connection:
            insert_message(connection, Message(message_id, CHANNEL, ALICE, 0, "hello harbour"))
            if is_deleted:
                connection.execute("DELETE FROM messages WHERE id = ?", (message_id,))
                note_deleted(connection, message_id)
        ending = run("check", "--data", used)
        moment = iso_timestamp(now + 400 * 86_400_000)
        words = f"warning: database: the last id is of {moment}, and new ones go on from there: --deep names the rows"
        assert (ending.status, ending.out.splitlines()) == (0, [words] * told)


@pytest.mark.parametrize(("statement", "said"), DEEP_FAULTS.items())
def test_what_a_deep_check_finds(run: Run, used: Path, statement: str, said: str) -> None:
    with stored(used) as connection:
        insert_message(connection, Message(GUILD + 9, CHANNEL, ALICE, 0, "hello harbour"))
        while bring_up_to_date(connection, 100):
            pass
        members.insert(connection, Member(GUILD, ALICE, 0, "Ålice"))
        connection.execute("UPDATE guilds SET member_count = 1")
    assert run("check", "--deep", "--data", used).out == ""
    with changing(used) as connection:
        connection.execute(statement, (GUILD + 9,) if "?1" in statement else ())
    assert said in run("check", "--deep", "--data", used).out.splitlines()
    if not said.startswith(("database: guilds", "database: messages")):
        assert said not in run("check", "--data", used).out.splitlines()


def test_a_deep_check_reads_the_files(run: Run, used: Path) -> None:
    with stored(used) as connection:
        digest = hashlib.sha256(b"12345").hexdigest()
        connection.execute("UPDATE attachments SET content_hash = ?", (digest,))
    assert run("check", "--deep", "--data", used).out == ""
    place(used, FILE).write_bytes(b"12346")
    assert run("check", "--data", used).out == ""
    assert run("check", "--deep", "--data", used).out == f"files: attachments/{FILE} was changed or damaged\n"


def test_every_column_of_json_has_its_shape(run: Run, used: Path) -> None:
    """The migrations mark those columns with the word JSON."""
    with stored(used) as connection:
        schema = connection.execute(
            "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '\\_%' ESCAPE '\\'"
        )
        marked = {
            (table, match[1])
            for table, text in schema
            for line in (text or "").splitlines()
            if (match := re.match(r"\s*,?\s*(\w+)\s+TEXT\b.*(?:--.*\bjson\b|json_valid)", line, re.IGNORECASE))
        }
    assert marked == JSON_COLUMNS.keys()
