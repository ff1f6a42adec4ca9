"""Snapshots of the world with names, and the way back to one (development.md, Snapshots).

    snapshots/NAME/chat.sqlite3    the database at that moment
    snapshots/NAME/clock.json      how far its clock had been moved
    snapshots/NAME/uploads/...     the files that its rows speak of, as further names of the same files

They lie in the data directory, so under `chat dev --data` they outlive the process. What memory holds beside the
store (sessions, presences, voice, faults, limits) is no part of them: going back ends every session with opcode 9, as
a reset does.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeVar

import orjson
import trio

from chat.api.operation import Policy, Request, Routes
from chat.classes import frozen
from chat.clock import iso_timestamp
from chat.development.answers import ShownSnapshot
from chat.development.node import Development, end_sessions, forget, node_of
from chat.errors import ApiError, FieldError, InvalidFormBody, OperatorError
from chat.media.storage import MediaStorage
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.store.connections import connect
from chat.store.data_directory import DataDirectory
from chat.store.guard import UNGUARDED
from chat.store.migrations import prepare
from chat.store.whole_database import put_back, stored_files, take_snapshot

SNAPSHOTS_MAXIMUM: Final = 64
DATABASE: Final = "chat.sqlite3"
CLOCK: Final = "clock.json"
UPLOADS: Final = "uploads"

NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
NAME_TOLD: Final = "A name has 1 to 64 of A-Z a-z 0-9 _ -."

T = TypeVar("T")


@frozen
class Snapshot:
    name: str
    created_at: int
    """In the world's own time, Unix milliseconds."""
    offset_ms: int
    bytes: int
    """Of the database."""


@frozen
class Snapshots:
    """The snapshots of one data directory. Everything but `take` and `go_back` is about files alone."""

    directory: Path
    storage: MediaStorage
    in_threads: bool

    def listed(self) -> list[Snapshot]:
        """All, by their names."""
        if not self._folder.is_dir():
            return []
        return [self._read(place) for place in sorted(self._folder.iterdir()) if NAME.fullmatch(place.name)]

    def find(self, name: str) -> Snapshot:
        """:raises ApiError: NOT_FOUND, with the names that there are."""
        if not (self._place(name) / CLOCK).is_file():
            names = ", ".join(snapshot.name for snapshot in self.listed()) or "none"
            raise ApiError(ErrorCode.NOT_FOUND, f"There is no such snapshot. There are: {names}.")
        return self._read(self._place(name))

    async def take(self, development: Development, name: str) -> Snapshot:
        """Keep the world as it is under this name, in place of what was kept under it.

        :raises InvalidFormBody: at `name` for one that it cannot have.
        :raises ApiError: MAX_LIMIT where there are SNAPSHOTS_MAXIMUM.
        """
        if NAME.fullmatch(name) is None:
            raise InvalidFormBody([FieldError("name", FieldCode.INVALID_FORMAT, NAME_TOLD)])
        async with development.turn:
            snapshot = Snapshot(name, development.clock.now_ms(), development.clock.skipped_ms, 0)
            return await self._aside(lambda: self._write(snapshot))

    async def go_back(self, development: Development, name: str) -> Snapshot:
        """Make the world what it was; returns when requests find it so.

        :raises ApiError: NOT_FOUND.
        """
        async with development.turn:
            snapshot = self.find(name)
            was_stopped = development.clock.is_stopped
            development.clock.go_on()
            node_of(development).clear()
            end_sessions(development)
            await self._aside(lambda: self._put_back(snapshot.name))
            # Through the writer, so that it comes after the consequences of whatever was written before.
            await development.core.database.write(
                lambda _: None, lambda _: forget(development, snapshot.offset_ms), guard=UNGUARDED
            )
            await _take_up_what_waits(development)
            if was_stopped:
                development.clock.stop()
            return snapshot

    async def delete(self, name: str) -> None:
        """:raises ApiError: NOT_FOUND."""
        self.find(name)
        await self._aside(lambda: shutil.rmtree(self._place(name)))

    # Files

    @property
    def _folder(self) -> Path:
        return self.directory / "snapshots"

    def _place(self, name: str) -> Path:
        if NAME.fullmatch(name) is None:
            raise ApiError(ErrorCode.NOT_FOUND)
        return self._folder / name

    def _read(self, place: Path) -> Snapshot:
        kept = orjson.loads((place / CLOCK).read_bytes())
        return Snapshot(place.name, kept["created_at"], kept["offset_ms"], (place / DATABASE).stat().st_size)

    def _write(self, snapshot: Snapshot) -> Snapshot:
        place = self._place(snapshot.name)
        if not place.exists() and len(self.listed()) >= SNAPSHOTS_MAXIMUM:
            raise ApiError(ErrorCode.CONFLICT, f"There are {SNAPSHOTS_MAXIMUM} snapshots already; delete one.")
        partial = self._folder / f".{snapshot.name}"  # no name, so it is not listed before it is whole
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        take_snapshot(DataDirectory(self.directory).database, partial / DATABASE, lambda _: None)
        for stored, kept in self._files(partial):
            _link(stored, kept)
        moment = {"created_at": snapshot.created_at, "offset_ms": snapshot.offset_ms}
        (partial / CLOCK).write_bytes(orjson.dumps(moment))
        shutil.rmtree(place, ignore_errors=True)
        partial.rename(place)
        return self._read(place)

    def _put_back(self, name: str) -> None:
        place = self._place(name)
        try:
            prepare(place / DATABASE, durable=False)  # one that an older program took is brought up to date
        except OperatorError as error:
            raise ApiError(ErrorCode.CONFLICT, str(error)) from error
        for stored, kept in self._files(place):
            if not stored.exists():
                _link(kept, stored)
        put_back(place / DATABASE, DataDirectory(self.directory).database)

    def _files(self, place: Path) -> Iterator[tuple[Path, Path]]:
        """Of each file that the rows of a snapshot speak of: where it lies while it is in use, and where it is kept."""
        kept = MediaStorage(place / UPLOADS, in_threads=False)
        with contextlib.closing(connect(place / DATABASE, read_only=True)) as connection:
            for file in stored_files(connection):
                yield self.storage.path_of(file.key), kept.path_of(file.key)

    async def _aside(self, work: Callable[[], T]) -> T:
        return await trio.to_thread.run_sync(work) if self.in_threads else work()


def _link(source: Path, target: Path) -> None:
    """Another name for a file, or a copy where the file system has no such thing."""
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        os.link(source, target)
    except FileNotFoundError:
        pass  # deleted in this very moment, with its row
    except OSError:
        shutil.copyfile(source, target)


async def _take_up_what_waits(development: Development) -> None:
    """What the store holds for memory to know, as at a start."""
    areas = development.areas
    await areas.administration.blocklists.load()
    await development.address_bans.load()
    areas.administration.jobs.ordered()
    areas.messages.own_message_deletion.look_again()
    development.core.errands.look_again()
    if areas.signing_in.outbox is not None:
        areas.signing_in.outbox.wake()


def _object(snapshot: Snapshot) -> ShownSnapshot:
    return {
        "name": snapshot.name,
        "created_at": iso_timestamp(snapshot.created_at),
        "offset_ms": snapshot.offset_ms,
        "bytes": snapshot.bytes,
    }


routes = Routes(policy=Policy.NONE, same_origin=True)


@routes.operation("GET", "/v1/_dev/snapshots")
async def list_snapshots(request: Request, snapshots: Snapshots) -> list[ShownSnapshot]:
    """The snapshots that there are, by their names."""
    return [_object(snapshot) for snapshot in snapshots.listed()]


@routes.operation("PUT", "/v1/_dev/snapshots/{name}")
async def take(request: Request, development: Development, snapshots: Snapshots, name: str) -> ShownSnapshot:
    """Keep the world as it is under a name."""
    return _object(await snapshots.take(development, name))


@routes.operation("POST", "/v1/_dev/snapshots/{name}/restore")
async def go_back(request: Request, development: Development, snapshots: Snapshots, name: str) -> ShownSnapshot:
    """Make the world what it was."""
    return _object(await snapshots.go_back(development, name))


@routes.operation("DELETE", "/v1/_dev/snapshots/{name}")
async def delete(request: Request, snapshots: Snapshots, name: str) -> None:
    """Forget a snapshot."""
    await snapshots.delete(name)
