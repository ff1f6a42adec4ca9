"""Files on their way into messages (messages.md, Uploads).

Two ways lead there. A form brings files and message together. Or an upload is promised first: the caller gets an
address that takes the bytes, once and without any credential (access.md, Secret addresses), and a name under which a
message then refers to the file. What no message has taken within the hour goes.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs
import trio

from chat import wire
from chat.auth.principal import Principal
from chat.auth.tokens import token_hash
from chat.classes import frozen
from chat.clock import iso_timestamp
from chat.config import Limits
from chat.domain.core import Core
from chat.domain.messages.message_drafts import AttachmentDraft
from chat.domain.messages.message_sending import MessageSending
from chat.domain.policy.instance_policy import require_room
from chat.domain.policy.media_library import MediaLibrary
from chat.domain.standing.user_objects import limits_of
from chat.errors import ApiError, InvalidFormBody, RateLimited
from chat.media.content_types import IMAGE_TYPES, MOVING_TYPES, content_type
from chat.media.delivery import file_name
from chat.media.image_header import stored_image_header
from chat.media.image_workers import ImageRefused
from chat.media.moving_header import SOUNDS, moving_header
from chat.media.storage import Incoming
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.message_types import AttachmentFlag
from chat.store.guard import UNGUARDED, Guard
from chat.store.messages import attachments
from chat.store.messages.attachments import Attachment

if TYPE_CHECKING:
    from chat.media.multipart import Form

PROMISE_MS: Final = 3_600_000
"""How long an address waits for its file, and the file for its message."""

WAITING_MAXIMUM: Final = 100
"""Uploads of one account that may wait for their message."""

FORMS_AT_A_TIME: Final = 4
"""How many forms of one account may arrive at the same time; their files count against its storage only at the end."""

SPOILER_PREFIX: Final = "SPOILER_"
"""A file of such a name is hidden until asked for."""

PLACEHOLDER_SECONDS: Final = 3.0
"""How long a message waits for the placeholders of its pictures."""

SENT_FLAGS: Final = int(AttachmentFlag.IS_SPOILER)
"""Bits that a sender may set."""


@frozen
class PromisedFile:
    """A file that is to be uploaded; `id` is the client's own name for it, `size` its bytes."""

    id: str
    filename: str
    size: int


@frozen
class AttachmentWish:
    """What a message says of one of its files: `id` is the number of a file in the form, `upload` the name of an
    earlier upload; `duration` (seconds) and `waveform` (base64) are those of a recording."""

    id: int
    upload: str | None = None
    filename: str | None = None
    title: str | None = None
    description: str | None = None
    flags: int = 0
    duration: int | None = None
    waveform: str | None = None


@frozen
class Owner:
    """Whose files these are, where they go, and how large each may be (bytes)."""

    user_id: int
    channel_id: int
    file_bytes: int
    guard: Guard = attrs.field(eq=False, repr=False)
    """The guard of the request that brings the files."""


class Uploads:
    def __init__(self, core: Core, media: MediaLibrary, sending: MessageSending) -> None:
        self._core = core
        self._media = media
        self._sending = sending
        self._arriving: set[int] = set()
        self._forms: Counter[int] = Counter()

    @property
    def under_way(self) -> int:
        """How many promised files are being received."""
        return len(self._arriving)

    def owner(self, principal: Principal, channel_id: int) -> Owner:
        """The caller as one who sends files to the channel.

        :raises ApiError: as `MessageSending.require_may_attach`.
        """
        self._sending.require_may_attach(principal, channel_id)
        return attrs.evolve(self.bringer(principal), channel_id=channel_id)

    def bringer(self, principal: Principal) -> Owner:
        """The caller as one who brings files in a form that names their channel itself; `owner` judges that."""
        limits = limits_of(self._core.settings, principal.account, self._core.clock.now_ms())
        file_bytes = self._limits.attachment_max_size_bot if principal.is_bot else limits.attachment_max_size
        return Owner(principal.user_id, 0, file_bytes, principal.guard)

    def webhook_owner(self, user_id: int, channel_id: int, guard: Guard) -> Owner:
        """The account that made a webhook, as one that sends files through it."""
        file_bytes = self._core.settings.limits_for(premium=False).attachment_max_size
        return Owner(user_id, channel_id, file_bytes, guard)

    # Uploads before the message

    async def promise(
        self, principal: Principal, channel_id: int, files: Sequence[PromisedFile]
    ) -> list[wire.PromisedUpload]:
        """Addresses that take these files.

        :raises ApiError: as `owner`; FILE_SIZE_TOO_LARGE for a file over the limit, and for more than the account may
            store.
        :raises InvalidFormBody: TOO_MANY_FILES at `files`.
        """
        owner = self.owner(principal, channel_id)
        if any(file.size > owner.file_bytes for file in files):
            raise ApiError(ErrorCode.FILE_SIZE_TOO_LARGE)
        if len(files) > self._limits.max_attachments_per_message:
            raise InvalidFormBody.at("files", FieldCode.TOO_MANY_FILES)
        expires_at = self._core.clock.now_ms() + PROMISE_MS
        capabilities = [self._core.mint.secret() for _ in files]
        promised = [
            Attachment(
                id=self._core.snowflakes(),
                channel_id=channel_id,
                user_id=owner.user_id,
                filename=file_name(file.filename),
                content_type="",
                size=file.size,
                capability_hash=token_hash(capability),
                expires_at=expires_at,
            )
            for file, capability in zip(files, capabilities, strict=True)
        ]

        def unit(connection: Any) -> None:
            self.insert_waiting(connection, promised)

        await self._core.database.write(unit, guard=principal.guard)
        return [
            {
                "id": file.id,
                "filename": attachment.filename,
                "upload_filename": _upload_name(attachment),
                "upload_url": self._media.addresses.relay(capability),
                "expires_at": iso_timestamp(expires_at),
            }
            for file, attachment, capability in zip(files, promised, capabilities, strict=True)
        ]

    def insert_waiting(self, connection: sqlite3.Connection, files: Sequence[Attachment]) -> None:
        """In a unit: files of one account that no message has, until they expire; there is at least one.

        :raises ApiError: UNKNOWN_CHANNEL; as `require_room`.
        :raises InvalidFormBody: TOO_MANY_FILES at `files` where too many of the account's wait.
        """
        for attachment in files:
            if not attachments.insert(connection, attachment):
                raise ApiError(ErrorCode.UNKNOWN_CHANNEL)
        usage = attachments.usage(connection, files[0].user_id)
        if usage.waiting > WAITING_MAXIMUM:
            raise InvalidFormBody.at("files", FieldCode.TOO_MANY_FILES)
        require_room(usage, self._core.settings)

    async def receive(self, capability: str, chunks: AsyncIterator[bytes]) -> Attachment:
        """Take the bytes of a promised upload; a broken off one leaves nothing, and may be tried again. The address is
        the credential, and the unit looks at its promise once more: so it needs no guard.

        :raises ApiError: NOT_FOUND, the same for an address that never was, is used up, or has expired;
            PAYLOAD_TOO_LARGE, BAD_REQUEST for more or fewer bytes than promised; CONTENT_BLOCKED.
        """
        promised = attachments.by_capability(
            self._core.database.reader, token_hash(capability), self._core.clock.now_ms()
        )
        if promised is None or promised.stored or promised.id in self._arriving:
            raise ApiError(ErrorCode.NOT_FOUND)
        self._arriving.add(promised.id)
        try:
            async with self._media.storage.receiving() as incoming:
                async for chunk in chunks:
                    if incoming.size + len(chunk) > promised.size:
                        raise ApiError(ErrorCode.PAYLOAD_TOO_LARGE, headers={"Connection": "close"})
                    await incoming.write(chunk)
                if incoming.size != promised.size:
                    raise ApiError(ErrorCode.BAD_REQUEST)
                await incoming.flush()
                await self.finish(incoming, promised.key)
            stored = await self.described(promised, incoming, UNGUARDED)
            now = self._core.clock.now_ms()
            async with self._media.settled(promised.key):
                if not await self._core.database.write(
                    lambda connection: attachments.note_stored(connection, stored, now), guard=UNGUARDED
                ):
                    raise ApiError(ErrorCode.NOT_FOUND)
            return stored
        finally:
            self._arriving.discard(promised.id)

    def uploaded(self, capability: str) -> Attachment:
        """An uploaded file that no message has yet. Raises NOT_FOUND."""
        found = attachments.by_capability(self._core.database.reader, token_hash(capability), self._core.clock.now_ms())
        if found is None or not found.stored:
            raise ApiError(ErrorCode.NOT_FOUND)
        return found

    def complete(self, principal: Principal, channel_id: int, names: Sequence[str]) -> list[wire.UploadedFile]:
        """The uploads under these names that have arrived completely.

        :raises ApiError: as `owner`.
        :raises InvalidFormBody: for a name that nothing has arrived under.
        """
        owner = self.owner(principal, channel_id)
        return [uploaded_object(self._find(owner, name, index)) for index, name in enumerate(names)]

    # Files of a message

    def form_bytes(self, owner: Owner) -> int:
        """How many bytes the files of one form may have together."""
        return self._limits.max_attachments_per_message * owner.file_bytes

    def promised(self, owner: Owner, wishes: Sequence[AttachmentWish]) -> tuple[AttachmentDraft, ...]:
        """Earlier uploads as attachments of a message.

        :raises InvalidFormBody: TOO_MANY_FILES at `attachments`; for one that names no upload of the owner's.
        """
        self._require_few(wishes)
        return tuple(self._promised(owner, wish, position) for position, wish in enumerate(wishes))

    def _promised(self, owner: Owner, wish: AttachmentWish, position: int) -> AttachmentDraft:
        return AttachmentDraft(_wished(self._find(owner, wish.upload, position), wish, position), is_promised=True)

    @asynccontextmanager
    async def form(
        self, owner: Owner, chunks: AsyncIterator[bytes], boundary: bytes, never_a_file: str
    ) -> AsyncIterator[Form]:
        """A form with files, for the time of the block; files that were not kept are gone after it. `never_a_file` as
        in `read_form`.

        :raises ApiError: as `read_form`.
        :raises RateLimited: for one form too many at a time.
        """
        from chat.media.multipart import read_form  # its parser is needed by few, and not for a start

        if self._forms[owner.user_id] >= FORMS_AT_A_TIME:
            raise RateLimited(1.0, "shared")
        storage = self._media.storage
        async with AsyncExitStack() as stack:
            self._forms[owner.user_id] += 1
            stack.callback(self._form_is_over, owner.user_id)
            yield await read_form(
                chunks,
                boundary,
                files_maximum=self._limits.max_attachments_per_message,
                file_bytes=owner.file_bytes,
                new_file=lambda: stack.enter_async_context(storage.receiving(owner.guard)),
                never_a_file=never_a_file,
            )

    def _form_is_over(self, user_id: int) -> None:
        self._forms[user_id] -= 1
        if not self._forms[user_id]:
            del self._forms[user_id]

    @asynccontextmanager
    async def of_form(
        self, owner: Owner, form: Form, wishes: Sequence[AttachmentWish]
    ) -> AsyncIterator[tuple[AttachmentDraft, ...]]:
        """The files of a form, and earlier uploads, as attachments for a message that is written in the block: in the
        order of the wishes, then files of which nothing was said.

        :raises InvalidFormBody: TOO_MANY_FILES at `attachments`; for a wish without its file.
        :raises ApiError: CONTENT_BLOCKED.
        """
        numbers = _numbers(form)
        wished = {wish.id: (place, wish) for place, wish in enumerate(wishes) if wish.upload is None}
        if not wished.keys() <= set(numbers):
            raise InvalidFormBody.at("attachments", FieldCode.INVALID_FORMAT)
        promised = {place: wish for place, wish in enumerate(wishes) if wish.upload is not None}
        self._require_few([*promised, *numbers])
        drafts = {place: self._promised(owner, wish, place) for place, wish in promised.items()}
        new = [
            Attachment(
                id=self._core.snowflakes(),
                channel_id=owner.channel_id,
                user_id=owner.user_id,
                filename=file_name(part.filename or ""),
                content_type="",
                size=incoming.size,
            )
            for part, incoming in form.files
        ]
        async with self._media.settled(*(attachment.key for attachment in new)):
            for number, attachment, (_, incoming) in zip(numbers, new, form.files, strict=True):
                await self.finish(incoming, attachment.key)
                described = await self.described(attachment, incoming, owner.guard)
                place, wish = wished.get(number, (len(wishes) + len(drafts), AttachmentWish(number)))
                drafts[place] = AttachmentDraft(_wished(described, wish, place), is_promised=False)
            yield tuple(drafts[place] for place in sorted(drafts))

    async def finish(self, incoming: Incoming, key: str) -> None:
        """A file has arrived completely: store it under a key, without metadata unless the settings keep it.

        :raises ApiError: CONTENT_BLOCKED for what was sent; what is kept is judged by `described`.
        """
        await incoming.flush()
        self._core.blocked.require_file(incoming.sha256)
        if self._core.settings.media.metadata == "remove":
            await incoming.remove_metadata()
        await incoming.keep(key)

    async def described(self, attachment: Attachment, incoming: Incoming, guard: Guard) -> Attachment:
        """The attachment, whose file was kept under its key, with what its content says of itself.

        :raises ApiError: CONTENT_BLOCKED.
        """
        self._core.blocked.require_file(incoming.sha256)
        kind, path = content_type(incoming.head), self._media.storage.path_of(attachment.key)
        described = attrs.evolve(
            attachment, size=incoming.size, content_type=kind, content_hash=incoming.sha256, stored=True
        )
        header = None
        if kind in IMAGE_TYPES:
            header = await self._media.storage.computed(stored_image_header, path, guard=guard)
        if header is not None and header.is_bearable:
            try:
                placeholder = await self._placeholder(path)
            except ImageRefused:
                return described  # without a size: there is nothing to show of it, it is a file to be saved
            return attrs.evolve(
                described,
                width=header.width,
                height=header.height,
                flags=int(AttachmentFlag.IS_ANIMATED) if header.animated else 0,
                placeholder=placeholder,
            )
        if kind in MOVING_TYPES:
            moving = await self._media.storage.computed(moving_header, path, kind, guard=guard)
            kind = SOUNDS.get(kind, kind) if moving.is_sound else kind
            return attrs.evolve(
                described, content_type=kind, width=moving.width, height=moving.height, duration=moving.duration
            )
        return described

    async def _placeholder(self, path: Path) -> str | None:
        """A small stand-in for a picture; None where it cannot be made in time: the message does not wait for it.

        :raises ImageRefused: for what is no picture after all.
        """
        with trio.move_on_after(PLACEHOLDER_SECONDS):
            try:
                return await self._media.workers.placeholder(path)
            except ApiError:  # there is too much to do
                return None
        return None

    @property
    def _limits(self) -> Limits:
        return self._core.settings.limits

    def _require_few(self, files: Sequence[object]) -> None:
        if len(files) > self._limits.max_attachments_per_message:
            raise InvalidFormBody.at("attachments", FieldCode.TOO_MANY_FILES)

    def _find(self, owner: Owner, name: str | None, index: int) -> Attachment:
        number = (name or "").partition("/")[0]
        well_formed = number.isdecimal() and number.isascii() and len(number) < 20
        found = attachments.by_id(self._core.database.reader, int(number)) if well_formed else None
        if (
            found is None
            or not found.stored
            or (found.user_id, found.channel_id, found.message_id) != (owner.user_id, owner.channel_id, None)
            or found.expires_at is None
            or found.expires_at <= self._core.clock.now_ms()
        ):
            raise InvalidFormBody.at(f"attachments.{index}.uploaded_filename", FieldCode.INVALID_FORMAT)
        return found


def uploaded_object(attachment: Attachment) -> wire.UploadedFile:
    """A file that waits for its message."""
    data: wire.UploadedFile = {
        "id": str(attachment.id),
        "filename": attachment.filename,
        "upload_filename": _upload_name(attachment),
        "size": attachment.size,
        "content_type": attachment.content_type,
    }
    if attachment.width is not None and attachment.height is not None:
        data["width"], data["height"] = attachment.width, attachment.height
    return data


def _upload_name(attachment: Attachment) -> str:
    return f"{attachment.id}/{attachment.filename}"


def _wished(attachment: Attachment, wish: AttachmentWish, position: int) -> Attachment:
    name = attachment.filename if wish.filename is None else file_name(wish.filename)
    spoiler = int(AttachmentFlag.IS_SPOILER) if name.startswith(SPOILER_PREFIX) else 0
    is_sound = attachment.content_type.startswith("audio/")
    return attrs.evolve(
        attachment,
        position=position,
        filename=name,
        title=wish.title,
        description=wish.description,
        flags=attachment.flags | wish.flags & SENT_FLAGS | spoiler,
        duration=wish.duration if is_sound and wish.duration is not None else attachment.duration,
        waveform=wish.waveform if is_sound else None,
        capability_hash=None,
        expires_at=None,
    )


def _numbers(form: Form) -> list[int]:
    """The numbers of a form's files: N of `files[N]`; a part of another name has the number of its turn.

    :raises InvalidFormBody: when two have the same.
    """
    numbers: list[int] = []
    for turn, (part, _) in enumerate(form.files):
        inner = part.name.removeprefix("files[").removesuffix("]")
        is_numbered = part.name == f"files[{inner}]" and inner.isdecimal() and inner.isascii() and len(inner) < 10
        numbers.append(int(inner) if is_numbered else turn)
    if len(set(numbers)) < len(numbers):
        raise InvalidFormBody.at("files", FieldCode.INVALID_FORMAT)
    return numbers
