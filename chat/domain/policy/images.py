"""Images that come in JSON bodies: from base64 text to a file and its row (media.md, Image intake).

    prepared = await media.prepare(ICONS, guild_id, text, path="icon")
    async with media.kept(prepared):
        await database.write(unit)  # in which images.store(connection, prepared, replaces=guild.icon)

The image process unpacks an image once, with all its frames, and makes a bitmap of a drawing: what it cannot redraw
within its bounds is refused. An image is written before the row that names it, and the one that it replaces goes after
the commit: at any failure one of them is whole.
"""

from __future__ import annotations

import hashlib
import sqlite3
from typing import Final

import attrs

from chat.classes import frozen
from chat.errors import InvalidFormBody
from chat.media.content_types import content_type
from chat.media.image_header import ImageHeader
from chat.media.image_intake import LengthRefused, SizeRefused, decoded, intake_header
from chat.media.metadata.removal import without_metadata
from chat.registries.error_codes import FieldCode
from chat.store import policy
from chat.store.policy import StoredAsset

AVATARS: Final = "avatars"
"""The kind of images that stand for an account or a webhook."""

BANNERS: Final = "banners"
ICONS: Final = "icons"
SPLASHES: Final = "splashes"
EMBED_SPLASHES: Final = "embed-splashes"

ANIMATED_PREFIX: Final = "a_"
"""Of the hash of a moving image (media.md, Image intake)."""

HASH_CHARACTERS: Final = 32


@frozen
class PreparedImage:
    """An image that was looked at and found good, and is nowhere yet."""

    asset: StoredAsset
    content: bytes = attrs.field(repr=False)

    @property
    def hash(self) -> str:
        """The name under which it will be known; `a_` in front of a moving one's."""
        return self.asset.hash

    @property
    def is_animated(self) -> bool:
        """Whether it moves."""
        return self.hash.startswith(ANIMATED_PREFIX)


@frozen
class TakenImage:
    """What a text in a body held: bytes, what they say of themselves, and the hash that names them."""

    content: bytes = attrs.field(repr=False)
    header: ImageHeader
    hash: str
    sent_hash: str
    """Of the image as it was sent, before its metadata went."""


def take(text: str, maximum: int, path: str, *, keep_metadata: bool) -> TakenImage:
    """The image behind base64 text of at most `maximum` bytes, without metadata; long work, for a thread.

    :raises InvalidFormBody: at `path`: BASE64_LENGTH_INVALID, INVALID_BASE64_FORMAT, IMAGE_SIZE_EXCEEDS_LIMIT,
        INVALID_IMAGE_FORMAT.
    """
    try:
        content = decoded(text, maximum)
    except LengthRefused:
        raise InvalidFormBody.at(path, FieldCode.BASE64_LENGTH_INVALID) from None
    except SizeRefused:
        raise InvalidFormBody.at(path, FieldCode.IMAGE_SIZE_EXCEEDS_LIMIT) from None
    if content is None:
        raise InvalidFormBody.at(path, FieldCode.INVALID_BASE64_FORMAT)
    sent_hash = _hash(content)
    if not keep_metadata:
        content = without_metadata(content, content_type(content))
    header = intake_header(content)
    if header is None or not header.is_bearable:
        raise InvalidFormBody.at(path, FieldCode.INVALID_IMAGE_FORMAT)
    return _named(content, header, sent_hash)


def bitmap(content: bytes, width: int, height: int) -> TakenImage:
    """A drawing as it is kept: the PNG that was made of it."""
    return _named(content, ImageHeader("image/png", width, height), _hash(content))


def _named(content: bytes, header: ImageHeader, sent_hash: str) -> TakenImage:
    digest = _hash(content)
    return TakenImage(content, header, ANIMATED_PREFIX + digest if header.animated else digest, sent_hash)


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:HASH_CHARACTERS]


def store(connection: sqlite3.Connection, prepared: PreparedImage | None, *, replaces: str | None = None) -> None:
    """In a unit of writing: the image belongs to its owner now. `replaces` is the hash of the owner's image of the same
    kind that goes for it. The same image once more changes nothing."""
    if prepared is None:
        return
    asset = prepared.asset
    policy.insert(connection, asset)
    if replaces is not None and replaces != asset.hash:
        remove(connection, asset.kind, asset.owner_id, replaces)


def remove(connection: sqlite3.Connection, kind: str, owner_id: int, name: str | None) -> None:
    """In a unit of writing: an image of the owner's goes; its file with the next sweep."""
    if name is not None:
        policy.delete(connection, kind, owner_id, name)
