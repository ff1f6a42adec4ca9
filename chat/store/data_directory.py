"""The data directory: where everything lies, who may use it, and the key that signs.

chat.sqlite3    the database (with its -wal and -shm beside it)
chat.toml       settings, written by the operator
uploads/        uploaded files
archives/       archives of accounts and guilds
imports/        exports that people brought along in the browser, while they are needed
signing.key     secret of this instance, mode 0600
nodes.json      what the server knows of its gateway nodes (`chat.domain.administration.gateway_nodes`)
lock            held by the process that owns the directory; its id, and where it listens
.restoring/     a backup that is being unpacked (`chat.backup.restoring`)
.restored/      one that was found whole, on its way to its place
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import sqlite3
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from chat.classes import frozen
from chat.errors import OperatorError
from chat.store.administration import sealed_secrets
from chat.store.connections import connect
from chat.store.migrations import is_current, prepare

SIGNING_KEY_BYTES: Final = 32
"""256 bits: as much as the HMAC-SHA-256 that it keys can use."""

RESTORE_KEY: Final = (
    "authenticators, backup codes and webhooks in the database are sealed with it. Restore it from a backup. "
    f"{SIGNING_KEY_BYTES} random bytes in its place start anew without them"
)
"""The advice to an operator whose signing key is missing."""

LOCK_BYTES: Final = 512

RESTORING: Final = ".restoring"
RESTORED: Final = ".restored"


@frozen
class DataDirectory:
    """A directory of one instance, and the paths in it."""

    path: Path

    @property
    def database(self) -> Path:
        return self.path / "chat.sqlite3"

    @property
    def settings(self) -> Path:
        """The operator's settings file; it need not exist."""
        return self.path / "chat.toml"

    @property
    def uploads(self) -> Path:
        """The directory of uploaded files."""
        return self.path / "uploads"

    @property
    def archives(self) -> Path:
        """The directory of archives of accounts and guilds."""
        return self.path / "archives"

    @property
    def key_file(self) -> Path:
        """The instance's secret."""
        return self.path / "signing.key"

    def create(self) -> None:
        """Make the directory (for its owner only) unless it is there. Raises OperatorError where that is impossible."""
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise OperatorError(f"cannot make the data directory {self.path}: {error.strerror}") from error

    def become_owner(self) -> None:
        """Go on as the account that owns the directory, where this is root and the directory another's: the server
        could not open what root makes in it. For a command that works in the directory alone."""
        try:
            owner = self.path.stat()
        except OSError:
            return
        if os.geteuid() == 0 and owner.st_uid != 0:
            os.setgroups([owner.st_gid])
            os.setgid(owner.st_gid)
            os.setuid(owner.st_uid)

    def require(self) -> None:
        """Raise OperatorError unless there is a database here."""
        if (self.path / RESTORED).is_dir():
            raise OperatorError(
                f"a restore of {self.path} was broken off at its end: start the server, which finishes it"
            )
        if not self.database.is_file():
            raise OperatorError(f"there is no data in {self.path}: name the data directory with --data")

    def require_no_broken_restore(self, finish: Callable[[Path], object]) -> None:
        """Complete a restore that was interrupted while it moved files into place, or clear it away. Call it in a
        process that owns the directory. Raises OperatorError if a restore was interrupted earlier and there is no data
        yet."""
        if (self.path / RESTORED).is_dir() or (self.path / RESTORING).is_dir():
            if not (self.path / RESTORED).is_dir() and not self.database.exists():
                raise OperatorError(f"a restore of {self.path} was broken off: run `chat restore` with it again")
            finish(self.path)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Own the directory for as long as the block runs; the kernel ends it with the process, however that ends.

        Raises OperatorError while another process owns it.
        """
        with self._opened_lock() as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                owner = _lines_of(lock)[0]
                by = f" (process {owner})" if owner else ""
                raise OperatorError(f"the data directory {self.path} is in use by another process{by}") from error
            os.ftruncate(lock, 0)
            os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
            yield

    def tell_address(self, host: str, port: int) -> None:
        """Tell where the server listens, which owns the directory in this process."""
        with self._opened_lock() as lock:
            os.pwrite(lock, f"{os.getpid()}\n{host} {port}\n".encode(), 0)

    def owner(self) -> int | None:
        """The process that owns the directory; None where none does. Nothing is made."""
        process = self._told_by_owner()[0]
        return int(process) if process.isdecimal() else None

    def address(self) -> tuple[str, int] | None:
        """Host and port at which the owner listens; None where there is none, or it does not tell."""
        host, _, port = self._told_by_owner()[1].rpartition(" ")
        return (host, int(port)) if host and port.isdecimal() else None

    def _told_by_owner(self) -> tuple[str, str]:
        try:
            lock = os.open(self.path / "lock", os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            return "", ""
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return _lines_of(lock)
        finally:
            os.close(lock)
        return "", ""

    @contextlib.contextmanager
    def _opened_lock(self) -> Iterator[int]:
        try:
            lock = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise OperatorError(f"cannot write in the data directory {self.path}: {error.strerror}") from error
        try:
            yield lock
        finally:
            os.close(lock)

    def has_current_database(self) -> bool:
        """Whether the database is there and nothing is left to migrate; a file that cannot be read is none.

        Raises OperatorError for a database of a newer program.
        """
        if not self.database.is_file():
            return False
        try:
            with contextlib.closing(connect(self.database, read_only=True)) as connection:
                return is_current(connection)
        except sqlite3.Error:
            return False

    def bring_database_up_to_date(self, before: Callable[[], object] = lambda: None) -> None:
        """Create or migrate the database, for a command that does not own the directory; `before` runs first, where
        there is something to do.

        Raises OperatorError when the database cannot be used, and when it would have to be migrated under a server that
        runs: its schema must not change.
        """

        @contextlib.contextmanager
        def alone() -> Iterator[None]:
            with self.locked():
                before()
                yield

        prepare(self.database, while_migrating=alone)

    def signing_key(self) -> bytes:
        """The instance's secret, made on first use.

        Raises OperatorError if its file is damaged or unreadable, and if it is missing beside a database with secrets
        that it sealed: another key would lock out every account with an authenticator.
        """
        file = self.key_file
        try:
            if not file.exists():
                if self.holds_sealed_secrets():
                    raise OperatorError(f"the signing key {file} is missing: {RESTORE_KEY}")
                self._make_signing_key(file)
            file.chmod(0o600)
            key = file.read_bytes()
        except OSError as error:
            raise OperatorError(f"cannot use the signing key {file}: {error.strerror}") from error
        if len(key) != SIGNING_KEY_BYTES:
            raise OperatorError(f"the signing key {file} has {len(key)} bytes instead of {SIGNING_KEY_BYTES}")
        return key

    def holds_sealed_secrets(self) -> bool:
        """Whether the database holds anything that only the signing key opens."""
        if not self.database.is_file():
            return False
        with contextlib.closing(connect(self.database, read_only=True)) as connection:
            return sealed_secrets.exist(connection)

    def _make_signing_key(self, file: Path) -> None:
        # Whole or not at all, also for two processes that start together: a link does not replace what is there.
        draft = file.with_name(f"signing.key.{os.getpid()}")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(secrets.token_bytes(SIGNING_KEY_BYTES))
            stream.flush()
            os.fsync(stream.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(draft, file)
        draft.unlink()


def is_writable_by_others(folder: Path) -> bool:
    """Whether the mode of a folder lets others than its owner write, who could put another database in place of this
    one. Raises OSError where it cannot be looked at."""
    return bool(stat.S_IMODE(folder.stat().st_mode) & 0o022)


def _lines_of(lock: int) -> tuple[str, str]:
    """The process and the address that the owner has written, empty where it has not."""
    process, address, *_ = [*os.pread(lock, LOCK_BYTES, 0).decode("utf-8", "replace").split("\n"), "", ""]
    return process.strip(), address
