"""Exports that people bring along in the browser (manual, Moving in).

The upload lies in `imports/` of the data directory, and the row says what is to be done with it. The work itself, the
dry run as well as the import, is done by processes beside the server (`chat.import_processes`): a hostile archive and
five million messages hold nobody up there. So whatever ends at any moment, the row and the file are what goes on.

Only accounts that hold `*` may do so by default. An export is what its uploader says that people once wrote, it makes
accounts for all of them, and it takes as much disk as it likes: that is the operator's to allow.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import AsyncIterator, Collection
from pathlib import Path
from typing import Any, Final, TypedDict

import attrs
import trio

from chat import wire
from chat.auth.principal import Principal
from chat.classes import define, frozen
from chat.clock import iso_timestamp
from chat.domain.core import Core
from chat.domain.guilds.guilds import Guilds, GuildWish
from chat.domain.imports.export_outline import obstacles
from chat.domain.imports.import_report import ImportReport, report_fields
from chat.domain.policy.media_library import MediaLibrary
from chat.errors import ApiError, InvalidFormBody, StorageUnavailable
from chat.imports.export_files import SINGLE_FILES
from chat.media.delivery import file_name
from chat.registries.acls import Acl
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.imports import OPEN, WITH_FILE, BroughtState, BroughtTrouble
from chat.snowflake import snowflake_at
from chat.store.guard import UNGUARDED
from chat.store.imports import brought_exports, imports
from chat.store.imports.brought_exports import BroughtExport

FOLDER: Final = "imports"
"""In the data directory."""

LISTED: Final = 20

FILE_NAME_CHARACTERS: Final = 200

UNCHOSEN_MS: Final = 24 * 3_600_000
"""How long an export waits for its owner to say what comes."""

TOLD_MS: Final = 30 * 24 * 3_600_000
"""How long it is told what became of one."""

OVER: Final = frozenset(BroughtState) - OPEN


class KeptWish(TypedDict):
    """What of an export is to come, as the store has it; no `channels` are all."""

    since: int
    channels: list[str]
    files: bool
    expected_messages: int


@frozen(kw_only=True)
class BringingWish:
    """What of an export is to come, and what its community is called. Without `channels` all come; `since` is Unix
    milliseconds."""

    name: str
    channels: Collection[int] | None = None
    files: bool = True
    since: int = 0


def export_path(directory: Path, brought: BroughtExport) -> Path:
    """Where the file of an export lies."""
    suffix = Path(brought.filename).suffix.lower()
    return directory / FOLDER / f"{brought.id}{suffix if suffix in SINGLE_FILES else '.export'}"


@define(eq=False)
class BroughtExports:
    _core: Core
    _media: MediaLibrary
    _guilds: Guilds
    _arriving: set[int] = attrs.field(factory=set, init=False)
    """Accounts whose upload is on its way."""
    _wake: trio.Event = attrs.field(factory=trio.Event, init=False)

    # Who may

    @property
    def max_bytes(self) -> int:
        """The largest file that is taken."""
        return self._core.settings.imports.max_bytes

    def may_bring(self, principal: Principal) -> bool:
        """Whether the instance lets the account bring a community along."""
        match self._core.settings.imports.from_browser:
            case "everyone":
                return True
            case "administrators":
                return principal.holds(Acl.EVERYTHING)
            case _:
                return False

    def require_may_bring(self, principal: Principal) -> None:
        """Judge whether the account brings communities along.

        :raises ApiError: FEATURE_TEMPORARILY_DISABLED where the instance lets nobody do it, MISSING_PERMISSIONS where
            it does not let the account; as `Guilds.require_may_create`.
        """
        if self._core.settings.imports.from_browser == "off":
            raise ApiError(ErrorCode.FEATURE_TEMPORARILY_DISABLED)
        if not self.may_bring(principal):
            raise ApiError(ErrorCode.MISSING_PERMISSIONS)
        self._guilds.require_may_create(principal)

    # The upload

    async def receive(self, principal: Principal, filename: str, chunks: AsyncIterator[bytes]) -> wire.CommunityImport:
        """Take an export; one that breaks off leaves nothing.

        :raises ApiError: as `require_may_bring`; CONFLICT where the account has one that is not over; PAYLOAD_TOO_LARGE
            for more bytes than the instance takes; BAD_REQUEST for none.
        :raises StorageUnavailable: when the disk takes no more.
        """
        self.require_may_bring(principal)
        user_id, now = principal.user_id, self._core.clock.now_ms()
        if user_id in self._arriving:
            raise ApiError(ErrorCode.CONFLICT)
        self._require_none_open(self._core.database.reader, user_id)
        self._arriving.add(user_id)
        try:
            async with self._media.storage.receiving(principal.guard) as incoming:
                async for chunk in chunks:
                    if incoming.size + len(chunk) > self.max_bytes:
                        raise ApiError(ErrorCode.PAYLOAD_TOO_LARGE, headers={"Connection": "close"})
                    await incoming.write(chunk)
                if not incoming.size:
                    raise ApiError(ErrorCode.BAD_REQUEST)
                await incoming.flush()
                brought = BroughtExport(
                    id=self._core.snowflakes(),
                    user_id=user_id,
                    filename=file_name(filename)[-FILE_NAME_CHARACTERS:],
                    size=incoming.size,
                    created_at=now,
                    changed_at=now,
                )
                await self._keep(principal, brought, incoming.path)
        finally:
            self._arriving.discard(user_id)
        self.wake()
        return self._object(brought)

    async def _keep(self, principal: Principal, brought: BroughtExport, received: Path) -> None:
        place = export_path(self._core.directory, brought)
        await self._media.storage.at_work(_move, received, place)

        def unit(connection: sqlite3.Connection) -> None:
            self._require_none_open(connection, brought.user_id)
            brought_exports.insert(connection, brought)

        try:
            await self._core.database.write(unit, guard=principal.guard)
        except BaseException:
            with trio.CancelScope(shield=True):
                await self._media.storage.at_work(_unlink, place)
            raise

    @staticmethod
    def _require_none_open(connection: sqlite3.Connection, user_id: int) -> None:
        if brought_exports.of_user_in(connection, user_id, OPEN) is not None:
            raise ApiError(ErrorCode.CONFLICT)

    # What its owner sees and says

    def overview(self, principal: Principal) -> wire.CommunityImports:
        """Whether the account may bring communities along, and what it has brought."""
        found = brought_exports.of_user(self._core.database.reader, principal.user_id, LISTED)
        return {
            "allowed": self.may_bring(principal),
            "max_bytes": self.max_bytes,
            "imports": [self._object(brought) for brought in found],
        }

    def get(self, principal: Principal, brought_id: int) -> wire.CommunityImport:
        """One of the account's. Raises NOT_FOUND."""
        return self._object(self._own(self._core.database.reader, principal, brought_id))

    async def start(self, principal: Principal, brought_id: int, wish: BringingWish) -> wire.CommunityImport:
        """Make the community, which the account owns, and have the export written into it.

        :raises ApiError: as `require_may_bring` and `Guilds.create`; NOT_FOUND; CONFLICT unless the dry run is done and
            nothing was said.
        :raises InvalidFormBody: at `channels` for one that the dry run did not list; as `Guilds.create`.
        """
        self.require_may_bring(principal)
        found = self._own(self._core.database.reader, principal, brought_id)
        if found.state is not BroughtState.READY or found.preview is None:
            raise ApiError(ErrorCode.CONFLICT)
        kept = _kept_wish(wish, found.preview)

        def besides(connection: sqlite3.Connection, guild_id: int) -> None:
            current = self._own(connection, principal, brought_id)
            if current.state is not BroughtState.READY:
                raise ApiError(ErrorCode.CONFLICT)
            self._put(connection, current, state=BroughtState.IMPORTING, wish=kept, guild_id=guild_id, attempts=0)

        await self._guilds.create(principal, GuildWish(name=wish.name), besides)
        self.wake()
        return self.get(principal, brought_id)

    async def cancel(self, principal: Principal, brought_id: int) -> wire.CommunityImport:
        """End what is being done with an export; what came stays, its file goes.

        :raises ApiError: NOT_FOUND; CONFLICT for one that is over, or is being undone.
        """

        def unit(connection: sqlite3.Connection) -> BroughtExport:
            found = self._own(connection, principal, brought_id)
            if found.state not in WITH_FILE:
                raise ApiError(ErrorCode.CONFLICT)
            if found.import_id is not None:
                imports.request_cancel(connection, found.import_id, wanted=True)
            return self._put(connection, found, state=BroughtState.CANCELLED)

        found = await self._core.database.write(unit, guard=principal.guard)
        await self.drop_file(found)
        self.wake()
        return self.get(principal, brought_id)

    async def undo(self, principal: Principal, brought_id: int) -> wire.CommunityImport:
        """Have what an export brought taken out again, as far as nobody has touched it since.

        :raises ApiError: NOT_FOUND; CONFLICT where nothing came, or it is not over.
        """

        def unit(connection: sqlite3.Connection) -> None:
            found = self._own(connection, principal, brought_id)
            undoable = {BroughtState.COMPLETED, BroughtState.FAILED, BroughtState.CANCELLED}
            if found.state not in undoable or found.import_id is None:
                raise ApiError(ErrorCode.CONFLICT)
            if imports.by_id(connection, found.import_id) is None:
                raise ApiError(ErrorCode.CONFLICT)
            self._put(connection, found, state=BroughtState.UNDOING, attempts=0)

        await self._core.database.write(unit, guard=principal.guard)
        self.wake()
        return self.get(principal, brought_id)

    def _own(self, connection: sqlite3.Connection, principal: Principal, brought_id: int) -> BroughtExport:
        found = brought_exports.by_id(connection, brought_id)
        if found is None or found.user_id != principal.user_id:
            raise ApiError(ErrorCode.NOT_FOUND)
        return found

    def _put(self, connection: sqlite3.Connection, brought: BroughtExport, **changes: Any) -> BroughtExport:
        changed = attrs.evolve(brought, **changes, changed_at=self._core.clock.now_ms())
        brought_exports.put(connection, changed)
        return changed

    # The work

    async def wait(self) -> None:
        """Until there may be something to do."""
        event = self._wake
        await event.wait()

    def wake(self) -> None:
        """Something may be to be done, or to be ended."""
        event, self._wake = self._wake, trio.Event()
        event.set()

    def next_in(self, states: Collection[BroughtState]) -> BroughtExport | None:
        """The export that waits longest in these states."""
        return brought_exports.oldest_in(self._core.database.reader, states)

    def is_in(self, brought_id: int, state: BroughtState) -> bool:
        """Whether an export is (still) in this state."""
        found = brought_exports.by_id(self._core.database.reader, brought_id)
        return found is not None and found.state is state

    async def note_break(self, brought: BroughtExport, maximum: int) -> None:
        """The work has ended before it was done; after as many times as `maximum` the export is given up."""

        def unit(connection: sqlite3.Connection) -> BroughtExport | None:
            current = brought_exports.by_id(connection, brought.id)
            if current is None or current.state is not brought.state:
                return None
            if current.attempts + 1 < maximum:
                return self._put(connection, current, attempts=current.attempts + 1)
            state = BroughtState.REFUSED if current.state is BroughtState.READING else BroughtState.FAILED
            return self._put(connection, current, state=state, trouble=BroughtTrouble.BROKE_OFF)

        await self._core.database.write(unit, guard=UNGUARDED)

    async def drop_file(self, brought: BroughtExport) -> None:
        """The file of an export is not needed any more."""
        await self._media.storage.at_work(_unlink, export_path(self._core.directory, brought))

    async def tidy(self, before_ms: int) -> None:
        """Forget exports that nobody has said anything of for a day and those that were over a month ago; delete files
        that no export needs, of those that came before a moment."""
        now = self._core.clock.now_ms()

        def unit(connection: sqlite3.Connection) -> None:
            brought_exports.delete_unchanged(connection, {BroughtState.READY}, now - UNCHOSEN_MS)
            brought_exports.delete_unchanged(connection, OVER, now - TOLD_MS)

        await self._core.database.write(unit, guard=UNGUARDED)
        kept = brought_exports.ids_in(self._core.database.reader, WITH_FILE)
        folder, before = self._core.directory / FOLDER, snowflake_at(before_ms)
        await self._media.storage.at_work(_sweep, folder, kept, before)

    # As it is told

    def _object(self, brought: BroughtExport) -> wire.CommunityImport:
        return {
            "id": str(brought.id),
            "state": str(brought.state),
            "trouble": None if brought.trouble is None else str(brought.trouble),
            "filename": brought.filename,
            "size": brought.size,
            "preview": _preview(brought),
            "progress": self._progress(brought),
            "guild_id": None if brought.guild_id is None else str(brought.guild_id),
            "created_at": iso_timestamp(brought.created_at),
            "changed_at": iso_timestamp(brought.changed_at),
        }

    def _progress(self, brought: BroughtExport) -> wire.BroughtProgress | None:
        if brought.wish is None:
            return None
        made = None if brought.import_id is None else imports.by_id(self._core.database.reader, brought.import_id)
        told = report_fields(ImportReport.of({} if made is None else made.report))
        return {
            "counts": _counts(told["counts"]),
            "expected_messages": brought.wish["expected_messages"],
            "obstacles": obstacles(told),
        }


def _preview(brought: BroughtExport) -> wire.BroughtPreview | None:
    kept = brought.preview
    if kept is None:
        return None
    return {
        "source": kept["source"],
        "name": kept["name"],
        "counts": _counts(kept["counts"]),
        "bytes": kept["bytes"],
        "channels": [
            {"id": one["id"], "name": one["name"], "message_count": one["message_count"]} for one in kept["channels"]
        ],
        "people": kept["people"],
        "obstacles": kept["obstacles"],
    }


def _counts(kept: Any) -> wire.BroughtCounts:
    return {
        "roles": kept["roles"],
        "channels": kept["channels"],
        "threads": kept["threads"],
        "people": kept["people"],
        "emojis": kept["emojis"],
        "stickers": kept["stickers"],
        "messages": kept["messages"],
        "reactions": kept["reactions"],
        "files": kept["files"],
    }


def _kept_wish(wish: BringingWish, preview: Any) -> KeptWish:
    """The wish as the store has it: with the threads of the chosen channels."""
    by_id = {int(one["id"]): one for one in preview["channels"]}
    chosen: list[str] = []
    expected: int = preview["counts"]["messages"]
    if wish.channels is not None:
        expected = 0
        for index, channel_id in enumerate(wish.channels):
            if channel_id not in by_id:
                raise InvalidFormBody.at(f"channels.{index}", FieldCode.CHANNEL_NOT_FOUND)
        for channel_id in dict.fromkeys(wish.channels):
            one = by_id[channel_id]
            expected += one["message_count"]
            chosen += [one["id"], *one["threads"]]
    return {"since": wish.since, "channels": sorted(chosen), "files": wish.files, "expected_messages": expected}


def _move(source: Path, place: Path) -> None:
    """The upload, durably, under its own name: `uploads/` may lie on another disk."""
    place.parent.mkdir(mode=0o700, exist_ok=True)
    try:
        shutil.move(source, place)
        with place.open("rb") as file:
            os.fsync(file.fileno())
    except OSError as error:
        place.unlink(missing_ok=True)
        raise StorageUnavailable from error


def _unlink(place: Path) -> None:
    place.unlink(missing_ok=True)


def _sweep(folder: Path, kept: Collection[int], before: int) -> None:
    if not folder.is_dir():
        return
    for place in folder.iterdir():
        number = place.name.partition(".")[0]
        if not number.isdecimal() or (int(number) not in kept and int(number) < before):
            place.unlink(missing_ok=True)
