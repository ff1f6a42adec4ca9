"""Pictures, films and sounds that an account keeps at hand (messages.md, Kept messages).

The file of a meme is an attachment in the account's conversation with itself. What comes out of a message shares the
message's bytes, as a forward does, and stays when that goes; it counts against the storage of the account that keeps
it.
"""

from __future__ import annotations

import sqlite3
from contextlib import aclosing
from pathlib import PurePosixPath
from typing import Final
from urllib.parse import unquote, urlsplit

import attrs

from chat import wire
from chat.auth.principal import Principal
from chat.bus.audience import ToAccounts
from chat.bus.bus import Event
from chat.classes import define, frozen
from chat.config.limits import Limits
from chat.domain.core import Core
from chat.domain.messages.message_drafts import AttachmentDraft
from chat.domain.messages.uploads import Uploads
from chat.domain.policy.embeds import Addresses
from chat.domain.policy.instance_policy import require_room
from chat.domain.policy.media_library import MediaLibrary
from chat.domain.standing.user_objects import limits_of
from chat.errors import ApiError, InvalidFormBody
from chat.media.content_types import IMAGE_TYPES, MOVING_TYPES
from chat.media.delivery import file_name
from chat.media.outside_addresses import as_asked_for
from chat.media.storage import Incoming
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.events import EventName
from chat.registries.message_types import AttachmentFlag
from chat.store.messages import attachments, favorite_memes, messages
from chat.store.messages.attachments import Attachment
from chat.store.messages.favorite_memes import FavoriteMeme
from chat.store.messages.messages import Message, MessageExtra

KEPT_TYPES: Final = IMAGE_TYPES | MOVING_TYPES
NAME_LENGTH: Final = 100
SHOWN_PARTS: Final = ("image", "video", "audio", "thumbnail")
"""Members of an embed that have media, the one that says most first."""

KEPT_FLAGS: Final = int(AttachmentFlag.IS_ANIMATED)


@frozen
class MemeChange:
    """Changes to a meme's words; None keeps a value, or lets the server find one for a new meme."""

    name: str | None = None
    alt_text: str | None = None
    tags: tuple[str, ...] | None = None


@frozen
class MemeSource:
    """The part of a message to keep: an attachment, or the picture of an embed; without either, the first that there
    is."""

    channel_id: int
    message_id: int
    attachment_id: int | None = None
    embed_index: int | None = None


@define(kw_only=True, eq=False)
class FavoriteMemes:
    _core: Core
    _media: MediaLibrary
    _uploads: Uploads

    def of_user(self, user_id: int) -> list[wire.FavoriteMeme]:
        """The account's memes, the oldest first."""
        memes = favorite_memes.of_user(self._core.database.reader, user_id)
        return [meme_object(meme, self._media.addresses) for meme in memes]

    def get(self, user_id: int, meme_id: int) -> wire.FavoriteMeme:
        """One of the account's memes. Raises UNKNOWN_FAVORITE_MEME."""
        return meme_object(_known(self._core.database.reader, user_id, meme_id), self._media.addresses)

    async def keep(self, principal: Principal, source: MemeSource, words: MemeChange) -> wire.FavoriteMeme:
        """Keep a picture, a film or a sound out of a message. FAVORITE_MEME_CREATE goes to the caller's sessions.

        :raises ApiError: as `Access.channel`; UNKNOWN_MESSAGE; MAX_FAVORITE_MEMES, FILE_SIZE_TOO_LARGE; for what an
            embed shows as `fetch`.
        :raises InvalidFormBody: INVALID_FORMAT at `attachment_id` or `embed_index` where there is nothing to keep;
            MEDIA_ALREADY_IN_FAVORITE_MEMES at `media` for the bytes of a meme that the account has.
        """
        access = self._core.access.channel(principal, source.channel_id)
        message = messages.by_id(self._core.database.reader, source.channel_id, source.message_id)
        if message is None or not access.reads(message.id):
            raise ApiError(ErrorCode.UNKNOWN_MESSAGE)
        found = _chosen(message, source)
        if isinstance(found, str):
            return await self._fetched(principal, found, words)
        origin, user_id = found, principal.user_id
        plain = {"position": 0, "title": None, "description": None, "flags": origin.flags & KEPT_FLAGS}
        meme = FavoriteMeme(
            origin.copied(self._core.snowflakes(), user_id, user_id, **plain),
            words.name or _name_of(origin.filename),
            words.alt_text if words.alt_text is not None else origin.description,
            words.tags or (),
        )

        def unit(connection: sqlite3.Connection) -> FavoriteMeme:
            # Its bytes may have gone meanwhile, unless the row that they were found by is there.
            still = attachments.by_id(connection, origin.id)
            if still is None or still.message_id != message.id:
                raise ApiError(ErrorCode.UNKNOWN_MESSAGE)
            return self._inserted(connection, principal, meme)

        await self._core.database.write(
            unit, lambda kept: self._tell(EventName.FAVORITE_MEME_CREATE, kept), guard=principal.guard
        )
        return meme_object(meme, self._media.addresses)

    async def fetch(self, principal: Principal, url: str, words: MemeChange) -> wire.FavoriteMeme:
        """Keep a picture, a film or a sound of this URL. FAVORITE_MEME_CREATE goes to the caller's sessions.

        :raises ApiError: MEDIA_METADATA_ERROR for everything that is not to be had there; SERVICE_UNAVAILABLE;
            MAX_FAVORITE_MEMES, FILE_SIZE_TOO_LARGE.
        :raises InvalidFormBody: INVALID_FORMAT at `url` for what is no address of the web;
            MEDIA_ALREADY_IN_FAVORITE_MEMES at `media` for the bytes of a meme that the account has.
        """
        address = as_asked_for(url.strip())
        if address is None:
            raise InvalidFormBody.at("url", FieldCode.INVALID_FORMAT)
        return await self._fetched(principal, address, words)

    async def change(self, principal: Principal, meme_id: int, words: MemeChange) -> wire.FavoriteMeme:
        """Say something else of a meme; an empty `alt_text` is none. FAVORITE_MEME_UPDATE goes to the account's
        sessions.

        :raises ApiError: UNKNOWN_FAVORITE_MEME.
        """

        def unit(connection: sqlite3.Connection) -> FavoriteMeme:
            meme = _known(connection, principal.user_id, meme_id)
            changed = attrs.evolve(
                meme,
                name=words.name or meme.name,
                alt_text=meme.alt_text if words.alt_text is None else words.alt_text or None,
                tags=meme.tags if words.tags is None else words.tags,
            )
            favorite_memes.describe(connection, changed)
            return changed

        changed = await self._core.database.write(
            unit, lambda meme: self._tell(EventName.FAVORITE_MEME_UPDATE, meme), guard=principal.guard
        )
        return meme_object(changed, self._media.addresses)

    async def delete(self, principal: Principal, meme_id: int) -> None:
        """Keep a meme no longer. FAVORITE_MEME_DELETE goes to the account's sessions. Raises UNKNOWN_FAVORITE_MEME."""

        user_id = principal.user_id

        def unit(connection: sqlite3.Connection) -> None:
            if not favorite_memes.delete(connection, user_id, meme_id):
                raise ApiError(ErrorCode.UNKNOWN_FAVORITE_MEME)

        def then(_: None) -> None:
            data = {"meme_id": str(meme_id)}
            self._core.bus.publish(Event(EventName.FAVORITE_MEME_DELETE, data, ToAccounts((user_id,))))

        await self._core.database.write(unit, then, guard=principal.guard)

    def as_attachment(self, principal: Principal, channel_id: int, meme_id: int, position: int) -> AttachmentDraft:
        """A meme as a file of a message that the caller is about to send to the channel.

        :raises ApiError: as `MessageSending.require_may_attach`; UNKNOWN_FAVORITE_MEME.
        :raises InvalidFormBody: TOO_MANY_FILES at `favorite_meme_id` where there is no room for it.
        """
        self._uploads.owner(principal, channel_id)
        if position >= self._core.settings.limits.max_attachments_per_message:
            raise InvalidFormBody.at("favorite_meme_id", FieldCode.TOO_MANY_FILES)
        meme = _known(self._core.database.reader, principal.user_id, meme_id)
        words = {"position": position, "description": meme.alt_text}
        file = meme.file.copied(self._core.snowflakes(), channel_id, principal.user_id, **words)
        return AttachmentDraft(file, is_promised=False, origin_id=meme.id)

    async def _fetched(self, principal: Principal, url: str, words: MemeChange) -> wire.FavoriteMeme:
        user_id = principal.user_id
        limits = limits_of(self._core.settings, principal.account, self._core.clock.now_ms())
        _require_place(self._core.database.reader, user_id, limits)  # before another server is asked
        name = file_name(PurePosixPath(unquote(urlsplit(url).path)).name)
        file = Attachment(self._core.snowflakes(), user_id, user_id, name, "", 0)
        async with self._media.storage.receiving(principal.guard) as incoming, self._media.settled(file.key):
            await self._download(url, incoming, limits.attachment_max_size)
            await self._uploads.finish(incoming, file.key)
            described = await self._uploads.described(file, incoming, principal.guard)
            meme = FavoriteMeme(described, words.name or _name_of(name), words.alt_text or None, words.tags or ())
            await self._core.database.write(
                lambda connection: self._inserted(connection, principal, meme),
                lambda kept: self._tell(EventName.FAVORITE_MEME_CREATE, kept),
                guard=principal.guard,
            )
        return meme_object(meme, self._media.addresses)

    async def _download(self, url: str, incoming: Incoming, most: int) -> None:
        try:
            outside = await self._media.external.fetch(url)
        except ApiError as error:
            raise ApiError(ErrorCode.MEDIA_METADATA_ERROR) if error.code == ErrorCode.BAD_GATEWAY else error from None
        try:
            async with aclosing(outside.pieces()) as pieces:
                async for piece in pieces:
                    if incoming.size + len(piece) > most:
                        raise ApiError(ErrorCode.FILE_SIZE_TOO_LARGE)
                    await incoming.write(piece)
        except EOFError:
            raise ApiError(ErrorCode.MEDIA_METADATA_ERROR) from None
        finally:
            await outside.aclose()

    def _inserted(self, connection: sqlite3.Connection, principal: Principal, meme: FavoriteMeme) -> FavoriteMeme:
        limits = limits_of(self._core.settings, principal.account, self._core.clock.now_ms())
        _require_place(connection, meme.user_id, limits)
        if favorite_memes.has_content(connection, meme.user_id, meme.file.content_hash):
            raise InvalidFormBody.at("media", FieldCode.MEDIA_ALREADY_IN_FAVORITE_MEMES)
        if not favorite_memes.insert(connection, meme):
            raise ApiError(ErrorCode.UNKNOWN_USER)
        require_room(attachments.usage(connection, meme.user_id), self._core.settings)
        return meme

    def _tell(self, name: EventName, meme: FavoriteMeme) -> None:
        self._core.bus.publish(Event(name, meme_object(meme, self._media.addresses), ToAccounts((meme.user_id,))))


def meme_object(meme: FavoriteMeme, addresses: Addresses) -> wire.FavoriteMeme:
    """A favourite meme as the wire has it."""
    file = meme.file
    return {
        "id": str(meme.id),
        "user_id": str(meme.user_id),
        "name": meme.name,
        "alt_text": meme.alt_text,
        "tags": list(meme.tags),
        "attachment_id": str(meme.id),
        "filename": file.filename,
        "content_type": file.content_type,
        "content_hash": file.content_hash,
        "size": file.size,
        "width": file.width,
        "height": file.height,
        "duration": file.duration,
        "url": addresses.attachment(file),
        "is_gifv": False,
    }


def _known(connection: sqlite3.Connection, user_id: int, meme_id: int) -> FavoriteMeme:
    meme = favorite_memes.by_id(connection, user_id, meme_id)
    if meme is None:
        raise ApiError(ErrorCode.UNKNOWN_FAVORITE_MEME)
    return meme


def _require_place(connection: sqlite3.Connection, user_id: int, limits: Limits) -> None:
    if favorite_memes.count(connection, user_id) >= limits.max_favorite_memes:
        raise ApiError(ErrorCode.MAX_FAVORITE_MEMES, members={"max_favorite_memes": limits.max_favorite_memes})


def _chosen(message: Message, source: MemeSource) -> Attachment | str:
    """An attachment of the message, or the address of what an embed shows."""
    if source.embed_index is None:
        for file in message.attachments:
            if source.attachment_id in (None, file.id) and file.content_type in KEPT_TYPES:
                return file
        if source.attachment_id is not None:
            raise InvalidFormBody.at("attachment_id", FieldCode.INVALID_FORMAT)
    extra = message.extra or MessageExtra()
    embeds = (*extra.embeds, *extra.link_embeds)
    chosen = embeds if source.embed_index is None else embeds[source.embed_index : source.embed_index + 1]
    for embed in chosen:
        for part in SHOWN_PARTS:
            url = as_asked_for(embed.get(part, {}).get("url", ""))
            if url is not None:
                return url
    raise InvalidFormBody.at("attachment_id" if source.embed_index is None else "embed_index", FieldCode.INVALID_FORMAT)


def _name_of(filename: str) -> str:
    return PurePosixPath(filename).stem[:NAME_LENGTH] or "meme"
