"""`chat backup`, `chat restore` and `chat export-user`: what is written, and what is refused."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chat.backup import tar_file
from chat.backup.contents import checksum_line
from chat.store.connections import connect
from chat.store.data_directory import DataDirectory
from chat.store.guilds import guilds
from chat.store.guilds.channels import Channel, insert
from chat.store.guilds.guilds import Guild
from chat.store.messages import attachments
from chat.store.messages.attachments import Attachment
from chat.store.messages.messages import Message, MessageExtra
from chat.store.messages.messages import insert as insert_message
from tests.cli.command_line import Run

GUILD = 4_000_000_000_000
CHANNEL = GUILD + 1
MESSAGE = GUILD + 2
FILE = GUILD + 3


def place(data: Path, file_id: int) -> Path:
    """Where the file of an attachment lies."""
    return data / "uploads" / "attachments" / f"{file_id >> 4 & 0xFF:02x}" / str(file_id)


@pytest.fixture
def used(run: Run, data: Path) -> Path:
    """A directory with an account, a guild, a message with a file, an archive, and settings."""
    made = run("user", "create", "--username", "alice", "--email", "alice@example.com", "--data", data, "--json")
    alice = int(made.json["id"])
    with contextlib.closing(connect(DataDirectory(data).database)) as connection:
        guilds.insert(connection, Guild(id=GUILD, owner_id=alice, name="Harbour", created_at=1, member_count=0))
        insert(connection, [Channel(id=CHANNEL, guild_id=GUILD, type=0, name="quay")])
        extra = MessageExtra(attachments=1)
        insert_message(connection, Message(MESSAGE, CHANNEL, alice, 0, "ahoy", extra=extra))
        attachment = Attachment(FILE, CHANNEL, alice, "a.txt", "text/plain", 5, message_id=MESSAGE, stored=True)
        attachments.insert(connection, attachment)
        connection.execute(
            """
            INSERT INTO archives (id, subject_type, subject_id, requested_by, requested_at, include_attachments,
                                  completed_at, file_size, progress_percent, expires_at)
            VALUES (7, 'user', ?1, ?1, 1, 0, 2, 3, 100, 9000000000000)
            """,
            (alice,),
        )
    place(data, FILE).parent.mkdir(parents=True)
    place(data, FILE).write_bytes(b"12345")
    (data / "archives").mkdir()
    (data / "archives" / "7.zip").write_bytes(b"zip")
    (data / "uploads" / "derived").mkdir()
    (data / "uploads" / "derived" / "cache").write_bytes(b"can be made again")
    (data / "chat.toml").write_text("service_name = 'Pier'\n")
    return data


def contents(data: Path) -> dict[str, bytes]:
    """The files of a data directory, without the database and what is only there while it is used."""
    return {
        str(path.relative_to(data)): path.read_bytes()
        for path in data.rglob("*")
        if path.is_file() and not path.name.startswith(("chat.sqlite3", "lock"))
    }


def test_what_was_backed_up_is_restored(run: Run, used: Path, tmp_path: Path) -> None:
    file, there = tmp_path / "kept.tar", tmp_path / "elsewhere" / "data"
    (used / ".backup-broken-off" / "uploads").mkdir(parents=True)
    done = run("backup", file, "--data", used, "--json")
    assert (done.status, done.err) == (0, "")
    assert done.json == {"file": str(file), "size": file.stat().st_size, "files": 5}
    assert file.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in used.iterdir() if path.name.startswith(".backup")] == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "kept.tar"]

    ending = run("restore", file, "--data", there, "--json")
    assert (ending.status, ending.err, ending.json) == (0, "", {"data": str(there), "files": 5})
    kept = contents(used)
    assert contents(there) == {name: content for name, content in kept.items() if "derived" not in name}
    assert (there / "signing.key").stat().st_mode & 0o777 == 0o600
    assert run("check", "--data", there).out == ""
    assert run("user", "list", "--data", there, "--json").json == run("user", "list", "--data", used, "--json").json
    # The same as others read it.
    with tarfile.open(file) as tar:
        names = tar.getnames()
        assert (names[0], names[1], names[-1]) == ("chat-backup.json", "chat.sqlite3", "SHA256SUMS")
        assert all(member.mode == 0o600 and member.isreg() for member in tar)

    # Into a directory that is there and empty, or where an earlier attempt was broken off.
    for number, left in enumerate(((), (".restoring", "lock"))):
        again = tmp_path / f"again{number}"
        again.mkdir()
        for name in left:
            (again / name).mkdir() if name.startswith(".") else (again / name).touch()
        assert run("restore", file, "--data", again).status == 0
        assert run("check", "--data", again).status == 0
    # Nothing is overwritten, neither a directory nor a backup.
    before = contents(there)
    ending = run("restore", file, "--data", there)
    said = f"chat: {there} is not empty: a backup is restored to an empty directory\n"
    assert (ending.status, ending.out, ending.err) == (1, "", said)
    assert contents(there) == before
    ending = run("backup", file, "--data", used)
    assert (ending.status, ending.err) == (1, f"chat: {file} exists already\n")


def test_a_file_that_goes_while_it_is_backed_up(
    run: Run, used: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next copy of the database does not speak of it; one that was missing before is told of."""
    link = tar_file._linked
    turns: list[Path] = []

    def linked(source: Path, target: Path) -> bool:
        if source == place(used, FILE) and not turns:
            turns.append(source)
            source.unlink()
            with contextlib.closing(connect(DataDirectory(used).database)) as connection:
                attachments.delete(connection, [FILE])
        return link(source, target)

    monkeypatch.setattr(tar_file, "_linked", linked)
    file, there = tmp_path / "kept.tar", tmp_path / "there"
    assert run("backup", file, "--data", used).err == ""
    assert turns
    assert run("restore", file, "--data", there).status == 0
    assert run("check", "--data", there).out == ""

    (used / "archives" / "7.zip").unlink()
    second = tmp_path / "second.tar"
    told = run("backup", second, "--data", used)
    assert (told.status, told.err) == (0, "chat: 1 files were missing before (see `chat check`)\n")


def test_damaged_files_are_in_the_file_and_named(run: Run, used: Path, tmp_path: Path) -> None:
    place(used, FILE).write_bytes(b"123")
    file = tmp_path / "kept.tar"
    done = run("backup", file, "--data", used, "--json")
    assert (done.status, done.json["files"]) == (1, 5)
    assert done.err == (
        f"chat: {file} is written, and has damaged files in it: "
        f"{place(used, FILE).relative_to(used)} has 3 bytes instead of 5\n"
    )
    assert run("restore", file, "--data", tmp_path / "there").status == 0
    assert "has 3 bytes instead of 5" in run("check", "--data", tmp_path / "there").out


def test_the_check_knows_archives(run: Run, used: Path) -> None:
    archives = used / "archives"
    assert run("check", "--data", used).out == ""
    (archives / "7.zip").write_bytes(b"longer")
    for name in ("8.zip", "8.zip.part", "7.zip.part.list", "notes.txt"):
        (archives / name).touch()
    assert run("check", "--data", used).out.splitlines() == [
        "files: archives/7.zip has 6 bytes instead of 3",
        "files: archives/7.zip.part.list belongs to nothing",
        "files: archives/8.zip belongs to nothing",
        "files: archives/8.zip.part belongs to nothing",
    ]
    (archives / "7.zip").unlink()
    assert "files: archives/7.zip is missing" in run("check", "--data", used).out.splitlines()


Change = Callable[[bytes, list[tuple[tarfile.TarInfo, bytes]]], bytes]


def rebuilt(members: list[tuple[tarfile.TarInfo, bytes]]) -> bytes:
    """A tar file with these members."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        for member, content in members:
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return stream.getvalue()


def added(name: str, **attributes: Any) -> Change:
    """A member put in before the digests."""

    def change(_: bytes, members: list[tuple[tarfile.TarInfo, bytes]]) -> bytes:
        member = tarfile.TarInfo(name)
        for attribute, value in attributes.items():
            setattr(member, attribute, value)
        return rebuilt([*members[:-1], (member, b""), members[-1]])

    return change


def without(position: int) -> Change:
    return lambda _, members: rebuilt([*members[:position], *members[position + 1 :]])


def described(content: bytes) -> Change:
    """Another description, with digests that agree."""

    def change(_: bytes, members: list[tuple[tarfile.TarInfo, bytes]]) -> bytes:
        others = [(members[0][0], content), *members[1:-1]]
        lines = [checksum_line(hashlib.sha256(found).hexdigest(), member.name) for member, found in others]
        return rebuilt([*others, (members[-1][0], b"".join(lines))])

    return change


TAMPERED: dict[str, tuple[Change, str]] = {
    "half": (lambda whole, _: whole[: len(whole) // 2], "is no whole backup"),
    "without its end": (lambda whole, _: whole[: whole.rindex(b"SHA256SUMS")], "its end is missing"),
    "only its head": (lambda whole, _: whole[:700], "is no whole backup"),
    "empty": (lambda _, __: b"", "is no whole backup"),
    "no backup": (lambda _, __: b"hello" * 10_000, "is no whole backup"),
    "a changed byte": (
        lambda whole, _: whole[: (place := whole.index(b"SQLite format") + 60)] + b"\x07" + whole[place + 1 :],
        "what is in it was changed or damaged",
    ),
    "a file left out": (without(2), "what is in it was changed or damaged"),
    "a file out of the directory": (added("../outside"), "'../outside' does not belong there"),
    "an absolute path": (added("/tmp/outside"), "'/tmp/outside' does not belong there"),  # noqa: S108 - a name
    "a file below another": (added("uploads/attachments/../../outside"), "does not belong there"),
    "a link": (added("uploads/attachments/00/1", type=tarfile.SYMTYPE, linkname="/etc"), "does not belong there"),
    "a device": (added("uploads/attachments/00/1", type=tarfile.CHRTYPE), "does not belong there"),
    "a file twice": (added("signing.key"), "it has a file twice"),
    "another tar file": (
        lambda _, members: rebuilt(members[1:]),
        "is no backup of this program",
    ),
    "another format": (described(b'{"format": "chat backup 0"}'), "another format than this program knows"),
    "a description without end": (described(b"[" * 60_000), "another format than this program knows"),
    "something behind it": (lambda _, members: rebuilt([*members, members[0]]), "does not belong there"),
}


def test_what_is_no_whole_backup_is_refused(run: Run, used: Path, tmp_path: Path) -> None:
    file, there = tmp_path / "kept.tar", tmp_path / "there"
    assert run("backup", file, "--data", used).status == 0
    whole = file.read_bytes()
    with tarfile.open(file) as tar:
        members = [(member, stream.read()) for member in tar if (stream := tar.extractfile(member)) is not None]
    tampered = tmp_path / "tampered.tar"
    for name, (change, said) in TAMPERED.items():
        tampered.write_bytes(change(whole, list(members)))
        ending = run("restore", tampered, "--data", there)
        assert (ending.status, ending.out) == (1, ""), name
        assert ending.err.startswith(f"chat: {tampered} "), name
        assert said in ending.err, (name, ending.err)
        assert ending.err.count("\n") == 1, name
        assert not there.exists(), name
        assert not (tmp_path / "outside").exists(), name
    there.mkdir()
    assert run("restore", tampered, "--data", there).status == 1
    assert list(there.iterdir()) == []
    assert run("restore", tmp_path / "none.tar", "--data", there).status == 2
    assert run("backup", tmp_path / "a.tar", "--data", tmp_path / "nowhere").err.startswith("chat: there is no data in")
    assert run("backup", tmp_path / "no" / "such" / "place.tar", "--data", used).status == 1
    assert list(used.glob(".backup*")) == []


def test_an_account_is_exported(run: Run, used: Path, tmp_path: Path) -> None:
    file = tmp_path / "alice.zip"
    done = run("export-user", "alice", file, "--data", used, "--json")
    assert (done.status, done.err) == (0, "")
    assert done.json["size"] == file.stat().st_size
    alice = done.json["id"]
    assert file.stat().st_mode & 0o777 == 0o600
    with zipfile.ZipFile(file) as archive:
        assert archive.testzip() is None
        assert json.loads(archive.read("account/account.json"))["username"] == "alice"
        assert json.loads(archive.read(f"messages/{CHANNEL}/{MESSAGE}.jsonl"))["content"] == "ahoy"
        assert not [name for name in archive.namelist() if name.startswith("attachments/")]
    second = tmp_path / "second.zip"
    with DataDirectory(used).locked():  # a server runs
        assert run("export-user", alice, second, "--data", used, "--include-attachments").status == 0
    with zipfile.ZipFile(second) as archive:
        assert archive.read(f"attachments/{CHANNEL}/{FILE}/a.txt") == b"12345"
    ending = run("export-user", alice, file, "--data", used)
    assert (ending.status, ending.err) == (1, f"chat: {file} exists already\n")
    ending = run("export-user", "nobody", tmp_path / "nobody.zip", "--data", used)
    assert (ending.status, ending.err) == (1, "chat: there is no account nobody\n")
    place(used, FILE).unlink()
    assert run("export-user", alice, tmp_path / "third.zip", "--data", used, "--include-attachments").status == 0
    with zipfile.ZipFile(tmp_path / "third.zip") as archive:
        assert json.loads(archive.read("index.json"))["missing_files"] == 1
    assert sorted(os.listdir(tmp_path)) == ["alice.zip", "data", "second.zip", "third.zip"]
