"""`chat backups` and restoring from a directory: what is shared, what goes, and what is refused."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from chat.backup import making, place
from chat.backup.checking import digest_of
from chat.backup.contents import WantedFile
from chat.backup.place import BackupPlace
from chat.clock import SystemClock, iso_timestamp
from chat.store.administration import backups
from chat.store.connections import connect
from chat.store.data_directory import DataDirectory
from chat.store.messages import attachments
from chat.store.messages.attachments import Attachment
from chat.store.migrations import MIGRATIONS, is_current, migrate
from tests.cli.command_line import ALICE, CHANNEL, GUILD, Run, stored

FILE = GUILD + 0x30
CONTENT = b"a photograph of the harbour" * 40
OTHER_DISK = Path("/dev/shm")  # noqa: S108 - a disk in memory, and so another one


def upload(data: Path, file_id: int, content: bytes, *, has_digest: bool = False) -> Path:
    """A file with its row, which knows the digest or only the size."""
    digest = hashlib.sha256(content).hexdigest() if has_digest else None
    with stored(data) as connection:
        row = Attachment(file_id, CHANNEL, ALICE, "a.jpg", "image/jpeg", len(content), content_hash=digest, stored=True)
        attachments.insert(connection, row)
    path = data / "uploads" / "attachments" / f"{file_id >> 4 & 0xFF:02x}" / str(file_id)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(0o600)
    return path


@pytest.fixture
def used(data: Path, alice: str) -> Path:
    """An instance with a file."""
    DataDirectory(data).signing_key()
    upload(data, FILE, CONTENT)
    (data / "chat.toml").write_text("[backup]\ndirectory = '../kept'\nspare_bytes = 0\n")
    return data


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """Where the settings put its backups."""
    return tmp_path / "kept"


def shared(kept: Path) -> list[Path]:
    return sorted(path for path in (kept / "files").rglob("*") if path.is_file())


def made(run: Run, used: Path, *arguments: object) -> Any:
    done = run("backups", "make", "--data", used, "--json", *arguments)
    assert done.status == 0, done.err
    return done.json


def test_a_second_backup_adds_only_what_is_new(run: Run, used: Path, kept: Path, tmp_path: Path) -> None:
    first = made(run, used)
    assert (first["state"], first["reason"], first["files"]) == ("whole", "command", 4)
    [file] = shared(kept)
    assert file.read_bytes() == CONTENT
    assert file.stat().st_ino == (next((used / "uploads").rglob(str(FILE)))).stat().st_ino, "on one disk a name will do"
    upload(used, FILE + 1, b"another")
    upload(used, FILE + 2, b"another")  # the same content once more
    second = made(run, used)
    assert second["files"] == 6
    assert len(shared(kept)) == 2
    # The first is the instance as it was then, the second as it is now.
    for name, files in ((first["name"], 1), (second["name"], 3)):
        there = tmp_path / name
        done = run("restore", kept / name, "--data", there, "--json")
        assert (done.status, done.err) == (0, "")
        assert run("check", "--data", there).out == ""
        with stored(there) as connection:
            assert connection.execute("SELECT count(*) FROM attachments").fetchone()[0] == files
    assert sorted(os.listdir(kept)) == [first["name"], second["name"], "chat-backups.json", "files", "lock"]
    assert all(path.stat().st_mode & 0o077 == 0 for path in [kept, *kept.rglob("*")])
    listed = run("backups", "list", "--data", used, "--json").json
    assert [entry["name"] for entry in listed] == [first["name"], second["name"]]
    table = run("backups", "list", "--data", used, terminal=True).table
    assert [row[0] for row in table] == ["name", first["name"], second["name"]]


@pytest.mark.skipif(not OTHER_DISK.is_dir(), reason="no second file system")
def test_on_another_disk_files_are_copied_once(run: Run, used: Path, tmp_path: Path) -> None:
    there = OTHER_DISK / f"chat-backups-{os.getpid()}"
    try:
        first = made(run, used, "--directory", there)
        [copy] = shared(there)
        assert copy.read_bytes() == CONTENT
        assert first["new_size"] == first["size"]
        before = copy.stat()
        upload(used, FILE + 1, b"another")
        second = made(run, used, "--directory", there)
        assert second["new_size"] == second["size"] - len(CONTENT)
        assert copy.stat().st_mtime_ns == before.st_mtime_ns
        next((used / "uploads").rglob(str(FILE))).unlink()  # what is there is not read again
        assert made(run, used, "--directory", there)["files"] == 5
        assert run("restore", there, "--data", tmp_path / "back").status == 0
        assert run("check", "--data", tmp_path / "back").out == ""
    finally:
        shutil.rmtree(there)


def test_old_backups_go_once_a_new_one_is_whole(
    run: Run, used: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = upload(used, FILE + 1, b"goes")
    names = [made(run, used)["name"]]
    with stored(used) as connection:
        attachments.delete(connection, [FILE + 1])
        connection.execute("DELETE FROM media_garbage")
    path.unlink()
    # The clock was years ahead when the second was made: the third is the newest for all that.
    future = SystemClock().now_ms() + 10 * 365 * 86_400_000
    with monkeypatch.context() as patch:
        patch.setattr(SystemClock, "now_ms", lambda _: future)
        names.append(made(run, used)["name"])
    names.append(made(run, used, "--keep", 2)["name"])
    assert [backup.path.name for backup in BackupPlace(kept).backups()] == names[1:]
    assert [file.read_bytes() for file in shared(kept)] == [CONTENT]
    # One that is not whole lets nothing go, and the next that is not whole takes its place.
    with monkeypatch.context() as patch:
        patch.setattr(making, "checked_copy", lambda *_: (["database: a page is damaged"], []))
        for _ in range(2):
            done = run("backups", "make", "--data", used, "--keep", 1)
            assert done.status == 1
            assert done.err.endswith("is not whole: database: a page is damaged\n")
            found = BackupPlace(kept).backups()
            assert [backup.is_whole for backup in found] == [True, True, False]
    assert (
        run("restore", "--data", used, "--aside", "--config", used / "chat.toml", "--json")
        .json["backup"]
        .endswith(names[-1])
    )
    last = made(run, used, "--keep", 1)["name"]
    assert [backup.path.name for backup in BackupPlace(kept).backups()] == [last]


def test_a_moment_of_the_past_is_restored_beside_what_is_there(run: Run, used: Path, kept: Path) -> None:
    first = made(run, used)
    run("user", "create", "--username", "bert", "--password", "correct horse battery", "--data", used)
    second = made(run, used)
    early, late = first["created_at"], second["created_at"]
    done = run("restore", "--at", early, "--data", used, "--aside", "--json")
    assert (done.status, done.err) == (0, "")
    assert done.json["backup"] == str(kept / first["name"])
    assert [entry["username"] for entry in run("user", "list", "--data", used, "--json").json] == ["alice"]
    aside = Path(done.json["aside"])
    assert aside.parent == used
    shutil.copy(used / "chat.toml", aside)
    assert len(run("user", "list", "--data", aside, "--json").json) == 2
    assert run("check", "--data", used).out == ""
    done = run("restore", "--at", late, "--data", used, "--aside", "--json")
    assert len(run("user", "list", "--data", used, "--json").json) == 2
    assert aside.is_dir()
    for wrong, words in (
        ("2020-01-01", "there is no backup of 2020-01-01 or before in"),
        ("yesterday", "no day and no moment"),
        ("9999-12-31", "is too far away"),
    ):
        done = run("restore", "--at", wrong, "--data", used, "--aside")
        assert done.status != 0
        assert words in done.err
    assert run("restore", "--data", used).err == (
        f"chat: {used} is not empty: a backup is restored to an empty directory\n"
    )


def test_what_is_damaged_is_found_and_not_restored(run: Run, used: Path, kept: Path, tmp_path: Path) -> None:
    name = made(run, used)["name"]
    assert run("backups", "check", "--data", used).status == 0
    [file] = shared(kept)
    file.unlink()
    file.write_bytes(CONTENT.swapcase())
    done = run("backups", "check", "--data", used, "--json")
    upload_name = f"uploads/attachments/{FILE >> 4 & 0xFF:02x}/{FILE}"
    assert done.json == [{"name": name, "problem": f"{upload_name} was changed or damaged"}]
    assert (done.status, done.err) == (1, "chat: 1 of 1 backups are damaged\n")
    there = tmp_path / "there"
    done = run("restore", kept, "--data", there)
    assert (done.status, done.err) == (
        1,
        f"chat: {kept / name} is no whole backup: {upload_name} was changed or damaged\n",
    )
    assert not there.exists()
    file.unlink()
    assert "is missing" in run("restore", kept, "--data", there).err
    # The next backup takes the file in again.
    made(run, used)
    assert run("restore", kept, "--data", there).status == 0
    lines = (kept / name / "SHA256SUMS").read_text()
    for changed, words in (
        (lines.replace("uploads/attachments", "../outside"), "does not belong there"),
        (lines[:-30], "a line of its digests cannot be read"),
    ):
        (kept / name / "SHA256SUMS").write_text(changed)
        done = run("restore", kept / name, "--data", tmp_path / "nowhere")
        assert words in done.err
        assert not (tmp_path / "nowhere").exists()


def damaged(path: Path, content: bytes) -> str:
    """Another file under the name of an upload, as a disk or a person leaves it; how backups call it."""
    path.unlink()
    path.write_bytes(content)
    return str(path.relative_to(path.parents[3]))


def failed(run: Run, used: Path) -> str:
    """What the record says of a backup that is not whole."""
    done = run("backups", "make", "--data", used, "--keep", 1)
    assert done.status == 1
    with stored(used) as connection:
        last = backups.record(connection)
    assert last is not None
    assert done.err == f"chat: {last.failure}\n"
    return str(last.failure)


STANDS_IN = "is damaged, and the copy of an earlier backup stands in for it"


@pytest.mark.parametrize("has_digest", [True, False])
def test_the_older_copy_of_a_damaged_upload_is_kept(
    run: Run, used: Path, kept: Path, tmp_path: Path, has_digest: bool
) -> None:
    path = upload(used, FILE + 1, b"a photograph of the quay", has_digest=has_digest)
    whole = made(run, used)["name"]
    name = damaged(path, b"a photo")
    for number in (2, 3):  # the second takes the place of the first, and nothing that is whole goes
        assert failed(run, used).endswith(f"is not whole: files: {name} {STANDS_IN}")
        [first, last] = BackupPlace(kept).backups()
        assert (first.path.name, first.is_whole) == (whole, True)
        assert (last.number, last.problems) == (number, (f"files: {name} {STANDS_IN}",))
        assert sorted(file.read_bytes() for file in shared(kept)) == [CONTENT, b"a photograph of the quay"]
    assert run("backups", "list", "--data", used, "--json").json[-1]["state"] == "damaged"
    # Restored are the messages of now with the picture of then, where that backup is named.
    assert run("restore", kept, "--data", tmp_path / "whole", "--json").json["backup"].endswith(whole)
    assert run("restore", last.path, "--data", tmp_path / "named").status == 0
    assert (tmp_path / "named" / name).read_bytes() == b"a photograph of the quay"
    assert run("check", "--data", tmp_path / "named", "--deep").out == ""
    # Without the damaged file the copy is all there is, and with a good one nothing is wrong.
    path.unlink()
    made(run, used)
    path.write_bytes(b"a photograph of the quay")
    path.chmod(0o600)
    newest = made(run, used, "--keep", 1)["name"]
    assert [backup.path.name for backup in BackupPlace(kept).backups()] == [newest]


@pytest.mark.parametrize(
    ("content", "problem"),
    [(b"a photo", "has 7 bytes instead of 24"), (b"A PHOTOGRAPH OF THE QUAY", "was changed or damaged")],
)
def test_a_damaged_upload_without_an_older_copy_is_named(
    run: Run, used: Path, kept: Path, content: bytes, problem: str
) -> None:
    whole = made(run, used)["name"]
    path = upload(used, FILE + 1, b"a photograph of the quay", has_digest=True)
    name = damaged(path, content)
    for _ in range(2):
        assert failed(run, used).endswith(f"is not whole: files: {name} {problem}")
        assert [backup.is_whole for backup in BackupPlace(kept).backups()] == [True, False]
    assert sorted(file.read_bytes() for file in shared(kept)) == sorted([CONTENT, content])  # better than nothing
    found = run("backups", "check", "--data", used, "--json").json
    assert found == [{"name": BackupPlace(kept).backups()[-1].path.name, "problem": f"files: {name} {problem}"}]
    path.unlink()  # who gives it up: it is missing, as `chat check` says
    last = made(run, used)
    assert last["remarks"] == ["1 files were missing before (see `chat check`)"]
    assert [backup.path.name for backup in BackupPlace(kept).backups()] == [whole, last["name"]]


def test_a_copy_that_was_damaged_with_the_upload_does_not_stand_in(run: Run, used: Path, kept: Path) -> None:
    path = upload(used, FILE + 1, b"a photograph of the quay", has_digest=True)
    made(run, used)
    path.write_bytes(b"a photo")  # one file under two names: the copy of the first backup is shorter, too
    name = str(path.relative_to(used))
    assert failed(run, used).endswith(f"is not whole: files: {name} has 7 bytes instead of 24")
    path.write_bytes(b"A PHOTOGRAPH OF THE QUAY")
    assert failed(run, used).endswith(f"is not whole: files: {name} was changed or damaged")


def test_a_damaged_file_that_an_earlier_version_took_in_gives_way(
    run: Run, used: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = upload(used, FILE + 1, b"a photograph of the quay", has_digest=True)
    made(run, used)
    name = damaged(path, b"a photo")
    with monkeypatch.context() as patch:
        patch.setattr(WantedFile, "problem", lambda *_: None)
        taken = made(run, used)["name"]
    found = run("backups", "check", "--data", used, "--json").json
    assert found == [{"name": taken, "problem": f"files: {name} has 7 bytes instead of 24"}]
    assert failed(run, used).endswith(f"is not whole: files: {name} {STANDS_IN}")
    last = BackupPlace(kept).backups()[-1]
    digest = BackupPlace.manifest(last.path)[name]
    assert BackupPlace(kept).file(digest).read_bytes() == b"a photograph of the quay"


def test_a_directory_that_is_not_the_right_one_is_refused(run: Run, used: Path, kept: Path, tmp_path: Path) -> None:
    made(run, used)
    hidden = kept.rename(tmp_path / "the disk is not mounted")
    for there in (False, True):
        if there:
            kept.mkdir()
        done = run("backups", "make", "--data", used)
        assert done.status == 1
        assert done.err.startswith(f"chat: the backup directory {kept} holds no backups: is its disk mounted?")
        assert not there or os.listdir(kept) == []
    made(run, used, "--begin-anew")
    shutil.rmtree(kept)
    hidden.rename(kept)
    assert "holds the backups of something else" in run("backups", "make", "--data", used).err
    made(run, used, "--begin-anew")  # it is the right one after all
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "one.jpg").touch()
    for directory, words in (
        (tmp_path / "photos", "holds something else: name an empty one"),
        (tmp_path / "no" / "disk", "No such file or directory"),
        (used / "chat.toml", ""),
    ):
        done = run("backups", "make", "--data", used, "--directory", directory)
        assert done.status != 0
        assert words in done.err
        assert done.err.count("\n") <= 4
    assert run("backups", "list", "--data", used, "--directory", tmp_path / "photos").status == 1
    (kept / "chat-backups.json").write_text("[]")
    assert "is of another format" in run("backups", "make", "--data", used).err


def test_a_backup_never_fills_the_disk(run: Run, used: Path, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = made(run, used)
    before = sorted(kept.rglob("*"))
    monkeypatch.setenv("CHAT_BACKUP__SPARE_BYTES", str(1 << 52))
    done = run("backups", "make", "--data", used)
    assert done.status == 1
    assert done.err.startswith(f"chat: there is no room in {kept}: a backup needs ")
    assert sorted(kept.rglob("*")) == before
    monkeypatch.setenv("CHAT_BACKUP__SPARE_BYTES", "0")
    # A disk that is full in the middle: nothing is left, and what was there stays.
    free = iter([1 << 40, 0])
    usage = shutil.disk_usage(kept)
    monkeypatch.setattr(making.shutil, "disk_usage", lambda _: usage._replace(free=next(free, 0)))
    monkeypatch.setenv("CHAT_BACKUP__SPARE_BYTES", "1")
    assert run("backups", "make", "--data", used).status == 1
    assert [backup.path.name for backup in BackupPlace(kept).backups()] == [first["name"]]
    assert sorted(path for path in kept.rglob("*") if "files" not in str(path)) == [
        path for path in before if "files" not in str(path)
    ]


def test_two_backups_at_a_time_are_one_too_many(run: Run, used: Path, kept: Path) -> None:
    made(run, used)
    with BackupPlace(kept).locked():
        done = run("backups", "make", "--data", used)
    assert (done.status, done.err) == (1, f"chat: another backup is being made in {kept}\n")


def test_a_file_that_goes_while_it_is_backed_up(
    run: Run, used: Path, tmp_path: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = upload(used, FILE + 1, b"short-lived")
    take_in = place.BackupPlace.take_in
    gone: list[Path] = []

    def taken_in(self: BackupPlace, source: Path, *, link: bool) -> Any:
        if source == path and not gone:
            gone.append(source)
            source.unlink()
            return None  # as if it had come after the first look, and gone before the second
        if source == path:
            with stored(used) as connection:
                attachments.delete(connection, [FILE + 1])
        return take_in(self, source, link=link)

    monkeypatch.setattr(place.BackupPlace, "take_in", taken_in)
    done = run("backups", "make", "--data", used)
    assert (done.status, done.err) == (0, "")
    assert run("restore", kept, "--data", tmp_path / "there").status == 0
    assert run("check", "--data", tmp_path / "there").out == ""


def test_a_backup_of_a_newer_program_is_refused_and_says_what_to_install(
    run: Run, used: Path, kept: Path, tmp_path: Path
) -> None:
    name = made(run, used)["name"]
    with contextlib.closing(place_of_database(kept / name)) as connection:
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 2}")
    described = json.loads((kept / name / "chat-backup.json").read_text())
    (kept / name / "chat-backup.json").write_text(json.dumps({**described, "version": "9.1.0"}))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(place.BackupPlace, "manifest", with_true_digests(place.BackupPlace.manifest))
        done = run("restore", kept, "--data", tmp_path / "there")
    assert done.status == 1
    assert "was made by version 9.1.0" in done.err
    assert "install version 9.1.0 or a newer one" in done.err
    assert not (tmp_path / "there").exists()


def place_of_database(backup: Path) -> Any:
    return connect(backup / "chat.sqlite3")


def with_true_digests(manifest: Any) -> Any:
    """The digests of the files as they are now."""

    def read(path: Path) -> dict[str, str]:
        return {
            name: digest_of(path / name) if (path / name).exists() else digest
            for name, digest in manifest(path).items()
        }

    return staticmethod(read)


def test_the_first_word_of_time_is_that_of_the_wire(run: Run, used: Path) -> None:
    backup = made(run, used)
    assert backup["created_at"] <= iso_timestamp(SystemClock().now_ms())


def older(data: Path) -> Path:
    """A database that lacks the last migration."""
    data.mkdir()
    with contextlib.closing(connect(DataDirectory(data).database)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        migrate(connection, MIGRATIONS[:-1])
    DataDirectory(data).signing_key()
    return data


def test_a_migration_is_preceded_by_a_backup(run: Run, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    older(data)
    monkeypatch.setenv("CHAT_BACKUP__SPARE_BYTES", str(1 << 52))
    done = run("user", "list", "--data", data)
    assert done.status == 1
    assert done.err.startswith(
        "chat: the database is of an older version and is backed up before it is migrated, which failed: "
        f"there is no room in {data / 'backups'}: a backup needs "
    )
    assert done.err.endswith("(backup.before_migration = false migrates without)\n")
    monkeypatch.delenv("CHAT_BACKUP__SPARE_BYTES")
    with stored(data) as connection:
        assert not is_current(connection)
    assert run("user", "list", "--data", data).status == 0
    [backup] = BackupPlace(data / "backups").backups()
    assert (backup.reason, backup.schema, backup.is_whole) == ("migration", len(MIGRATIONS) - 1, True)
    with stored(data) as connection:
        assert is_current(connection)
    # Back: the state before, which the next start migrates again.
    assert run("restore", data / "backups", "--data", data, "--aside").status == 0
    with stored(data) as connection:
        assert not is_current(connection)
    assert run("user", "list", "--data", data).status == 0
    assert len(BackupPlace(data / "backups").backups()) == 2


def test_a_migration_without_a_backup_and_one_into_the_directory_of_the_settings(
    run: Run, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    older(data)
    shutil.copytree(data, tmp_path / "second")
    monkeypatch.setenv("CHAT_BACKUP__BEFORE_MIGRATION", "false")
    assert run("user", "list", "--data", data).status == 0
    assert not (data / "backups").exists()
    monkeypatch.delenv("CHAT_BACKUP__BEFORE_MIGRATION")
    monkeypatch.setenv("CHAT_BACKUP__DIRECTORY", str(tmp_path / "kept"))
    assert run("user", "list", "--data", tmp_path / "second").status == 0
    assert len(BackupPlace(tmp_path / "kept").backups()) == 1
    # A database that is made anew is none that could be backed up.
    assert run("user", "create", "--username", "alice", "--data", tmp_path / "third").status == 0
    assert len(BackupPlace(tmp_path / "kept").backups()) == 1
