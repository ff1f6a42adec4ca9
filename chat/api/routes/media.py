"""Media: stored objects by their path, attachments and outside media by signature, uploads by the capability in their
address (document 000, Gateway and other surfaces 3; wire facts 8).

Authorization is not looked at anywhere here, and every address that leads nowhere is refused alike.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Annotated, Final

import attrs

from chat.api.answers import Answer, Streamed
from chat.api.bodies import BodyChunks
from chat.api.fields import Length
from chat.api.operation import Bucket, Policy, Request, Routes
from chat.api.schemas.messages import FILE, UPLOADED_FILE
from chat.domain.uploads import uploaded_object
from chat.errors import ApiError
from chat.media.delivery import FOR_EVER, GUARDED, File, delivery
from chat.store.assets import Asset
from chat.store.attachments import Attachment

routes = Routes()

READ: Final = Bucket("media:read", 2_000, 10_000, exempt_from_global=True)
EXTERNAL: Final = Bucket("media:external", 200, 10_000, exempt_from_global=True)
RELAY: Final = Bucket("media:relay", 100, 10_000, exempt_from_global=True)

UPLOAD_BYTES: Final = 1 << 40
"""More than any promise: what an upload may have is known only once its address has been looked up."""

EXTERNAL_FRESH: Final = "public, max-age=3600"
EXPRESSION_FRESH: Final = "public, max-age=86400"
"""An expression's image never changes, but it can be purged."""

NOT_KEPT: Final = "private, no-store"

_NUMBER: Final = re.compile(r"0|[1-9][0-9]{0,18}", re.ASCII)
_NUMBERED_IMAGE: Final = re.compile(r"([1-9][0-9]{0,18})\.[a-z]{2,5}", re.ASCII)
_IMAGE: Final = re.compile(r"((?:a_)?[0-9a-z]{1,64})\.[a-z]{2,5}", re.ASCII)


@attrs.frozen
class Signed:
    """The part of an attachment's address that makes it hold: moment of expiry and signature."""

    ex: Annotated[str, Length(0, 64)] | None = None
    hm: Annotated[str, Length(0, 256)] | None = None


@routes.operation("GET", "/media/avatars/{owner}/{image}", policy=Policy.URL, bucket=READ, answers=FILE)
async def get_avatar(request: Request, owner: str, image: str) -> Answer:
    """The avatar of an account or a webhook."""
    return await _asset(request, "avatars", owner, image)


@routes.operation("GET", "/media/icons/{owner}/{image}", policy=Policy.URL, bucket=READ, answers=FILE)
async def get_icon(request: Request, owner: str, image: str) -> Answer:
    """The icon of a guild, an application or a group."""
    return await _asset(request, "icons", owner, image)


@routes.operation("GET", "/media/banners/{owner}/{image}", policy=Policy.URL, bucket=READ, answers=FILE)
async def get_banner(request: Request, owner: str, image: str) -> Answer:
    """The banner of an account or a guild."""
    return await _asset(request, "banners", owner, image)


@routes.operation("GET", "/media/splashes/{owner}/{image}", policy=Policy.URL, bucket=READ, answers=FILE)
async def get_splash(request: Request, owner: str, image: str) -> Answer:
    """The splash of a guild."""
    return await _asset(request, "splashes", owner, image)


@routes.operation("GET", "/media/embed-splashes/{owner}/{image}", policy=Policy.URL, bucket=READ, answers=FILE)
async def get_embed_splash(request: Request, owner: str, image: str) -> Answer:
    """The splash of a guild for embeds."""
    return await _asset(request, "embed-splashes", owner, image)


@routes.operation("GET", "/media/emojis/{image}", policy=Policy.URL, bucket=READ, answers=FILE)
async def get_emoji(request: Request, image: str) -> Answer:
    """An emoji of a guild, for as long as its image has not been purged."""
    return await _expression(request, "emojis", image)


@routes.operation("GET", "/media/stickers/{image}", policy=Policy.URL, bucket=READ, answers=FILE)
async def get_sticker(request: Request, image: str) -> Answer:
    """A sticker of a guild, for as long as its image has not been purged."""
    return await _expression(request, "stickers", image)


@routes.operation(
    "GET",
    "/media/attachments/{channel}/{attachment}/{filename}",
    policy=Policy.URL,
    bucket=READ,
    query=Signed,
    answers=FILE,
)
async def get_attachment(request: Request, channel: str, attachment: str, filename: str, query: Signed) -> Answer:
    """An attachment, as long as its address holds."""
    found, seconds = request.services.media.attachment(
        _number(channel), _number(attachment), filename, query.ex, query.hm
    )
    return await _stored(request, found, f"private, max-age={seconds}, immutable")


@routes.operation("GET", "/media/external/{signature}/{name}", policy=Policy.URL, bucket=EXTERNAL, answers=FILE)
async def get_external(request: Request, signature: str, name: str) -> Answer:
    """Media that lie elsewhere, at an address that this server has signed."""
    media = request.services.media
    url = media.addresses.outside(signature, name)
    if url is None:
        raise ApiError("NOT_FOUND")
    return await _relayed(request, url)


@routes.operation(
    "PUT", "/media/relay/{capability}", policy=Policy.URL, bucket=RELAY, streamed=True, answers=UPLOADED_FILE
)
async def put_upload(request: Request, capability: str) -> object:
    """Take the bytes of a promised upload."""
    return await _receive(request, capability)


@routes.operation(
    "POST", "/media/relay/{capability}", policy=Policy.URL, bucket=RELAY, streamed=True, answers=UPLOADED_FILE
)
async def post_upload(request: Request, capability: str) -> object:
    """Take the bytes of a promised upload."""
    return await _receive(request, capability)


@routes.operation("GET", "/media/relay/{capability}", policy=Policy.URL, bucket=RELAY, answers=FILE)
async def get_upload(request: Request, capability: str) -> Answer:
    """What an upload address has taken, until a message has it."""
    return await _stored(request, request.services.uploads.uploaded(capability), NOT_KEPT)


async def _receive(request: Request, capability: str) -> object:
    chunks = BodyChunks(request.receive, request.headers.get("content-length"), UPLOAD_BYTES)
    return uploaded_object(await request.services.uploads.receive(capability, chunks))


async def _asset(request: Request, kind: str, owner: str, image: str) -> Answer:
    match = _IMAGE.fullmatch(image)
    if match is None:
        raise ApiError("NOT_FOUND")
    asset = request.services.media.asset(kind, _number(owner), match[1])
    if asset.source_url is not None:
        return await _relayed(request, asset.source_url)
    return await _file(request, asset, File(asset.content_type, asset.size, asset.hash, FOR_EVER))


async def _expression(request: Request, kind: str, image: str) -> Answer:
    match = _NUMBERED_IMAGE.fullmatch(image)
    if match is None:
        raise ApiError("NOT_FOUND")
    asset = request.services.media.only_asset(kind, int(match[1]))
    return await _file(request, asset, File(asset.content_type, asset.size, asset.hash, EXPRESSION_FRESH))


async def _stored(request: Request, attachment: Attachment, cache_control: str) -> Answer:
    etag = attachment.content_hash or str(attachment.id)
    file = File(attachment.content_type, attachment.size, etag, cache_control, attachment.filename)
    return await _file(request, attachment, file)


async def _file(request: Request, stored: Asset | Attachment, file: File) -> Answer:
    answer = delivery(file, request.headers)
    if answer.status == 416:
        headers = {**GUARDED, "Content-Range": answer.headers["Content-Range"]}
        raise ApiError("BAD_REQUEST", "There are no such bytes.", status=416, headers=headers)
    if answer.status == 304:
        return Answer(304, headers=answer.headers)
    storage = request.services.media.storage
    if not await storage.has(stored.key):
        raise ApiError("NOT_FOUND")
    pieces = partial(storage.pieces, stored.key, answer.start, answer.stop)
    return Streamed(answer.status, headers=answer.headers, pieces=pieces, length=answer.stop - answer.start)


async def _relayed(request: Request, url: str) -> Answer:
    """Fetch first, answer then: what cannot be had is an error, not half a file."""
    media = await request.services.media.external.fetch(url)
    headers = {
        **GUARDED,
        "Content-Type": media.content_type,
        "Content-Disposition": "inline",
        "Cache-Control": EXTERNAL_FRESH,
    }
    return Streamed(200, headers=headers, pieces=media.pieces, length=media.length, aclose=media.aclose)


def _number(text: str) -> int:
    if _NUMBER.fullmatch(text) is None:
        raise ApiError("NOT_FOUND")
    return int(text)
