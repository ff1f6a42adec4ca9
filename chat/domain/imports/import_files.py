"""Files of an export on their way into the storage: files of messages, pictures of people, emojis and stickers.

A file is stored before the unit that writes its row, under a number of now: what is left without a row, since the
import was killed in between, goes with the server's next sweep. Each is judged as an upload is.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from typing import Final

import attrs

from chat.classes import define
from chat.domain.core import Core
from chat.domain.messages.uploads import Uploads
from chat.domain.policy.images import PreparedImage
from chat.domain.policy.media_library import MediaLibrary
from chat.errors import ApiError, InvalidFormBody
from chat.imports.export_files import BROKEN, ExportFiles
from chat.imports.form import ExpressionRecord, FileRecord, TroubleRecord
from chat.media.delivery import file_name
from chat.registries.error_codes import ErrorCode
from chat.registries.message_types import AttachmentFlag
from chat.snowflake import snowflake_at
from chat.store.guard import UNGUARDED
from chat.store.messages import attachments
from chat.store.messages.attachments import Attachment

PIECE: Final = 262_144

PICTURE_BYTES: Final = 10_485_760
"""A larger picture of a person or an emoji is not looked at."""

WAVEFORM_CHARACTERS: Final = 1_024

_NAME: Final = re.compile(r"[^A-Za-z0-9_]")
NAME_CHARACTERS: Final = 32


class _Refused(Exception):
    """The file does not come along; the text is one of `TROUBLES`."""


@define(eq=False)
class ImportFiles:
    """Stores files of one export."""

    _core: Core
    _media: MediaLibrary
    _uploads: Uploads
    _files: ExportFiles
    _tell: Callable[[TroubleRecord], None]
    _given: set[int] = attrs.field(factory=set, init=False)
    """Ids of files that have no rows yet."""

    async def attachment(
        self, record: FileRecord, channel_id: int, message_id: int, user_id: int, position: int
    ) -> Attachment | None:
        """The row of a file that is stored now; None, and somebody was told, where it does not come along."""
        attachment = Attachment(
            id=self._free_id(record.id),
            channel_id=channel_id,
            user_id=user_id,
            filename=file_name(record.name),
            content_type="",
            size=0,
            message_id=message_id,
            position=position,
            title=None if record.title is None else record.title[:1_024],
            description=None if record.description is None else record.description[:4_096],
            file_id=self._core.snowflakes(),
        )
        try:
            kept = await self._kept(attachment, record.path or "")
        except _Refused as refused:
            self._tell(TroubleRecord(what="file", name=f"{message_id}/{record.name}", reason=str(refused)))
            return None
        flags = kept.flags | (AttachmentFlag.IS_SPOILER.value if record.spoiler else 0)
        waveform = record.waveform if record.waveform and len(record.waveform) <= WAVEFORM_CHARACTERS else None
        return attrs.evolve(kept, flags=flags, waveform=waveform)

    def _free_id(self, file_id: int) -> int:
        """The id that a file had, or a new one where something here has that, or may get it."""
        latest = snowflake_at(self._core.clock.now_ms())
        is_taken = file_id in self._given or file_id > latest
        if is_taken or attachments.by_id(self._core.database.reader, file_id) is not None:
            file_id = self._core.snowflakes()
        self._given.add(file_id)
        return file_id

    def forget_given(self) -> None:
        """The files that were stored so far have their rows."""
        self._given.clear()

    async def _kept(self, attachment: Attachment, path: str) -> Attachment:
        most = self._core.settings.limits.attachment_max_size_premium
        if self._files.size(path) > most:
            raise _Refused("too large")
        if not self.has_room(self._files.size(path)):
            raise _Refused("no room")
        async with self._media.storage.receiving() as incoming:
            try:
                with self._files.open(path) as source:
                    while piece := source.read(PIECE):
                        if incoming.size + len(piece) > most:  # it is larger than it says
                            raise _Refused("too large")
                        await incoming.write(piece)
            except BROKEN as error:
                raise _Refused("not readable") from error
            try:
                await self._uploads.finish(incoming, attachment.key)
                described = await self._uploads.described(attachment, incoming, UNGUARDED)
            except ApiError as error:
                if error.code != ErrorCode.CONTENT_BLOCKED:
                    raise
                await self._media.storage.delete([attachment.key])
                raise _Refused("blocked") from error
        return described

    def has_room(self, more: int) -> bool:
        """Whether the instance may store `more` bytes."""
        most = self._core.settings.media.storage_bytes
        used = attachments.usage(self._core.database.reader, attachments.INSTANCE).instance_bytes
        return most is None or used + more <= most

    async def picture(self, kind: str, owner_id: int, path: str, name: str) -> PreparedImage | None:
        """A picture that may be kept as somebody's; None, and somebody was told, where it does not come along."""
        try:
            return await self._picture(kind, owner_id, path)
        except _Refused as refused:
            self._tell(TroubleRecord(what="picture", name=f"{kind}/{name}", reason=str(refused)))
            return None

    async def _picture(self, kind: str, owner_id: int, path: str) -> PreparedImage:
        if self._files.size(path) > PICTURE_BYTES:
            raise _Refused("too large")
        try:
            with self._files.open(path) as source:
                content = source.read(PICTURE_BYTES + 1)
        except BROKEN as error:
            raise _Refused("not readable") from error
        if not self.has_room(len(content)):
            raise _Refused("no room")
        text = base64.b64encode(content).decode()
        try:
            return await self._media.prepare(kind, owner_id, text, path="image", guard=UNGUARDED)
        except InvalidFormBody as error:
            raise _Refused("too large" if len(content) > self._most_bytes(kind) else "not readable") from error
        except ApiError as error:
            if error.code != ErrorCode.CONTENT_BLOCKED:
                raise
            raise _Refused("blocked") from error

    def _most_bytes(self, kind: str) -> int:
        limits = self._core.settings.limits
        return {"emojis": limits.emoji_max_size, "stickers": limits.sticker_max_size}.get(kind, limits.avatar_max_size)


def expression_name(record: ExpressionRecord) -> str:
    """A name as emojis and stickers have it."""
    name = _NAME.sub("_", record.name)[:NAME_CHARACTERS]
    return name if len(name) >= 2 else f"{name}__"[:2]


def without_missing(files: list[Attachment | None]) -> tuple[Attachment, ...]:
    """Those that came along, in their order."""
    kept = [file for file in files if file is not None]
    return tuple(attrs.evolve(file, position=place) for place, file in enumerate(kept))
