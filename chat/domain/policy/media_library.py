"""What is stored and what is served: images of accounts and guilds, attachments, media from outside.

A request that knows the URL gets the file (access.md, Secret addresses). Rows say what there is, files hold
the bytes (`chat.media.storage`); a file is written before its row and deleted after it, so a row never lacks its file.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Final

import structlog
import trio

from chat.clock import Clock
from chat.config import Settings
from chat.domain.policy.blocked_values import BlockedValues
from chat.domain.policy.images import ANIMATED_PREFIX, AVATARS, HASH_CHARACTERS, PreparedImage, TakenImage, bitmap, take
from chat.domain.standing.guild_objects import EMOJIS, STICKERS
from chat.errors import ApiError, InvalidFormBody, StorageUnavailable
from chat.media.delivery import MediaAddresses
from chat.media.image_workers import ImageRefused, ImageWorkers
from chat.media.outside_fetching import ExternalMedia
from chat.media.rendition_cache import RenditionCache
from chat.media.renditions import DRAWINGS
from chat.media.storage import MediaStorage
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.snowflake import SnowflakeGenerator, snowflake_at
from chat.store import policy
from chat.store.database import Database
from chat.store.guard import UNGUARDED, Guard
from chat.store.messages import attachments
from chat.store.messages.attachments import Attachment
from chat.store.policy import StoredAsset

__all__ = ["AVATARS", "MediaLibrary"]

SWEEP_SECONDS: Final = 600.0
"""How often files and rows that are not needed any more are deleted."""

SWEEPS_TO_A_TRIM: Final = 6
"""How often, in sweeps, all files are looked through."""

UNDER_WAY_MS: Final = 3_600_000
"""A file that is noted down at all is noted down within this time after its id was given."""

FILES_AT_ONCE: Final = 1_000
"""Files that are looked up together at a start."""

log: Final = structlog.get_logger("chat.media")


class MediaLibrary:
    def __init__(
        self,
        database: Database,
        clock: Clock,
        snowflakes: SnowflakeGenerator,
        storage: MediaStorage,
        addresses: MediaAddresses,
        settings: Settings,
        blocked: BlockedValues,
    ) -> None:
        self._database = database
        self._clock = clock
        self._snowflakes = snowflakes
        self._settings = settings
        self._blocked = blocked
        self.storage: Final = storage
        self.addresses: Final = addresses
        self.external: Final = ExternalMedia(settings.media.private_networks_allowed)
        self.workers: Final = ImageWorkers(in_processes=storage.in_threads)
        self.renditions: Final = RenditionCache(storage, self.workers, settings.media.rendition_cache_bytes)

    # Finding

    def asset(self, kind: str, owner_id: int, name: str) -> StoredAsset:
        """An image of an owner by its hash; a moving one also by its hash without `a_`, which is all that is told of it
        where a guild may not have moving images.

        :raises ApiError: NOT_FOUND, for a blocked image as well.
        """
        if self._blocked.blocks_image(name):
            raise ApiError(ErrorCode.NOT_FOUND)
        reader = self._database.reader
        found = policy.find(reader, kind, owner_id, name) or policy.find(reader, kind, owner_id, ANIMATED_PREFIX + name)
        if found is None:
            raise ApiError(ErrorCode.NOT_FOUND)
        return found

    def only_asset(self, kind: str, owner_id: int) -> StoredAsset:
        """The image of an owner that never has another one of this kind. Raises NOT_FOUND."""
        found = policy.only_of(self._database.reader, kind, owner_id)
        if found is None or self._blocked.blocks_image(found.hash):
            raise ApiError(ErrorCode.NOT_FOUND)
        return found

    def attachment(
        self, channel_id: int, attachment_id: int, filename: str, ex: str | None, hm: str | None
    ) -> tuple[Attachment, int]:
        """An attachment by its whole address, and for how many seconds that holds.

        :raises ApiError: NOT_FOUND, the same for a wrong signature, an expired one and a file that is gone or
            blocked.
        """
        seconds = self.addresses.seconds_left(channel_id, attachment_id, ex, hm)
        found = None if seconds is None else attachments.by_id(self._database.reader, attachment_id)
        if seconds is None or found is None or not found.stored:
            raise ApiError(ErrorCode.NOT_FOUND)
        if self._blocked.blocks_file(found.content_hash):
            raise ApiError(ErrorCode.NOT_FOUND)
        if found.channel_id != channel_id or found.filename != filename:
            raise ApiError(ErrorCode.NOT_FOUND)
        return found, seconds

    # Images that have an owner

    async def prepare(
        self, kind: str, owner_id: int, text: str, *, path: str, still: bool = False, guard: Guard
    ) -> PreparedImage:
        """Look at an image out of a JSON body; nothing is kept yet. `still` refuses one that moves. This is a slow
        step of a request, whose `guard` judges again after it.

        :raises InvalidFormBody: at `path`, as `chat.domain.policy.images.take`; INVALID_IMAGE_FORMAT also for what
            cannot be redrawn within the bounds.
        :raises ApiError: CONTENT_BLOCKED for a blocked image; SERVICE_UNAVAILABLE when too much is to be drawn already.
        """
        work = partial(take, keep_metadata=self._settings.media.metadata == "keep")
        taken = await self.storage.computed(work, text, self._most_bytes(kind), path, guard=guard)
        self._blocked.require_image(taken.hash)
        self._blocked.require_image(taken.sent_hash)
        if still and taken.header.animated:
            raise InvalidFormBody.at(path, FieldCode.INVALID_IMAGE_FORMAT)
        taken = await self._redrawable(taken, path)
        self._blocked.require_image(taken.hash)
        header = taken.header
        asset = StoredAsset(
            kind=kind,
            owner_id=owner_id,
            hash=taken.hash,
            id=self._snowflakes(),
            content_type=header.content_type,
            size=len(taken.content),
            width=header.width,
            height=header.height,
        )
        return PreparedImage(asset, taken.content)

    async def _redrawable(self, taken: TakenImage, path: str) -> TakenImage:
        """The image as it is to be kept: a drawing becomes its bitmap, anything else was unpacked whole."""
        storage = self.storage
        async with storage.scratch() as source, storage.scratch() as target:
            await storage.at_work(_write, source, taken.content)
            try:
                if taken.header.content_type not in DRAWINGS:
                    await self.workers.judge(source, is_new=True)
                    return taken
                width, height = await self.workers.draw(source, target)
            except ImageRefused:
                raise InvalidFormBody.at(path, FieldCode.INVALID_IMAGE_FORMAT) from None
            return await storage.computed(bitmap, await storage.content_of(target), width, height)

    def _most_bytes(self, kind: str) -> int:
        """How large an image of a kind may be, as it is sent."""
        limits = self._settings.limits
        return {EMOJIS: limits.emoji_max_size, STICKERS: limits.sticker_max_size}.get(kind, limits.avatar_max_size)

    @asynccontextmanager
    async def kept(self, *prepared: PreparedImage | None, guard: Guard) -> AsyncIterator[None]:
        """The files of these images, for a unit in the block that stores their rows
        (`chat.domain.policy.images.store`).

        The files are there before the block; those whose rows are not there after it, go.

        :raises StorageUnavailable: when the disk takes no more.
        """
        wanted = [image for image in prepared if image is not None]
        async with self.settled(*(image.asset.key for image in wanted)):
            for image in wanted:
                async with self.storage.receiving(guard) as incoming:
                    await incoming.write(image.content)
                    await incoming.keep(image.asset.key)
            yield

    @asynccontextmanager
    async def new_image(
        self, kind: str, owner_id: int, text: str, *, path: str, guard: Guard
    ) -> AsyncIterator[StoredAsset]:
        """As `prepare` and `kept` in one, for a unit in the block that inserts the row.

        :raises InvalidFormBody: as `prepare`.
        """
        prepared = await self.prepare(kind, owner_id, text, path=path, guard=guard)
        async with self.kept(prepared, guard=guard):
            yield prepared.asset

    def outside_image(self, kind: str, owner_id: int, url: str) -> StoredAsset:
        """An image that stays where it is; it is fetched when it is asked for."""
        digest = hashlib.sha256(f"{owner_id} {url}".encode()).hexdigest()[:HASH_CHARACTERS]
        return StoredAsset(kind, owner_id, digest, self._snowflakes(), "", source_url=url)

    # Files and rows

    @asynccontextmanager
    async def settled(self, *keys: str) -> AsyncIterator[None]:
        """After the block these files stay if rows refer to them, and go if not.

        After a cancelled block that is not known yet; the next start of the server looks.
        """
        try:
            yield
        except Exception:
            await self._delete_unreferenced(keys)
            raise
        await self._delete_unreferenced(keys)

    async def _delete_unreferenced(self, keys: tuple[str, ...]) -> None:
        unneeded = attachments.unreferenced(self._database.reader, keys)
        if unneeded:
            await self.storage.delete(unneeded)

    async def begin(self) -> None:
        """Before anything arrives: delete what an earlier process left half received."""
        await self._tolerant(self.storage.clear_incoming)

    async def run(self) -> None:
        """Keep the disk tidy for as long as the server runs."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.workers.run)
            await self._tolerant(partial(self._delete_forgotten, self._snowflakes()))
            for turn in itertools.count():
                await self._tolerant(self.sweep)
                if turn % SWEEPS_TO_A_TRIM == 0:
                    await self._tolerant(
                        partial(self._delete_forgotten, snowflake_at(self._clock.now_ms() - UNDER_WAY_MS))
                    )
                    await self._tolerant(self.renditions.trim)
                await trio.sleep(SWEEP_SECONDS)

    async def _tolerant(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except StorageUnavailable:
            log.warning("files could not be tidied up")

    async def sweep(self) -> None:
        """Delete uploads that no message has taken in time, and files whose rows are gone."""
        now = self._clock.now_ms()
        reader = self._database.reader
        while attachments.any_expired(reader, now):
            await self._database.write(lambda connection: attachments.delete_expired(connection, now), guard=UNGUARDED)
        while keys := attachments.garbage(reader):
            await self.storage.delete(keys)
            await self._database.write(lambda connection: attachments.forget_garbage(connection, keys), guard=UNGUARDED)

    async def _delete_forgotten(self, newest: int) -> None:
        """Delete files with an id under `newest` that no row names: received by a process that was killed, or for
        a request that was broken off."""
        async with aclosing(self.storage.keys(FILES_AT_ONCE)) as pages:
            async for keys in pages:
                # What is being written is not meant, even if the reader sees no row of it yet.
                old = [key for key in keys if int(key.partition("/")[2]) < newest]
                unneeded = await self._database.read(partial(attachments.unreferenced, keys=old))
                if unneeded:
                    log.info("files without an owner deleted", count=len(unneeded))
                    await self.storage.delete(unneeded)


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)
