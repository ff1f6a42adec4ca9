"""Media: stored objects by their path, attachments and outside media by signature, uploads by the capability in their
address (access.md, Secret addresses; media.md, Media addresses).

Authorization is not looked at anywhere here, and every address that leads nowhere is refused alike.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Mapping
from typing import Annotated, Any, Final

from chat import wire
from chat.api.answers import Answer
from chat.api.bodies import BodyChunks
from chat.api.fields import Length
from chat.api.media_answers import (
    PictureQuery,
    SizedPicture,
    file_at,
    held_file,
    picture,
    preview,
    relayed,
    rendition_of,
    stored_file,
)
from chat.api.operation import Bucket, Policy, Request, Routes
from chat.api.schemas.shapes import NOTHING, binary
from chat.classes import frozen
from chat.domain.accounts.account_images import member_images
from chat.domain.administration.assemble import AdministrationArea
from chat.domain.messages.assemble import MessagesArea
from chat.domain.messages.uploads import uploaded_object
from chat.domain.policy.assemble import PolicyArea
from chat.domain.policy.images import ANIMATED_PREFIX
from chat.errors import ApiError
from chat.media.default_avatars import default_avatars
from chat.media.delivery import FOR_EVER, File
from chat.media.renditions import DEFAULT_SIZE, SIZES, Original, Rendition
from chat.registries.error_codes import ErrorCode
from chat.registries.message_types import AttachmentFlag
from chat.snowflake import MAXIMUM as SNOWFLAKE_MAXIMUM
from chat.store.messages.attachments import Attachment
from chat.store.policy import StoredAsset

routes = Routes(policy=Policy.URL)

READ: Final = Bucket("media:read", 2_000, 10_000, exempt_from_global=True)
EXTERNAL: Final = Bucket("media:external", 200, 10_000, exempt_from_global=True)
RELAY: Final = Bucket("media:relay", 100, 10_000, exempt_from_global=True)

UPLOAD_BYTES: Final = 1 << 40
"""More than any promise: what an upload may have is known only once its address has been looked up."""

EXPRESSION_FRESH: Final = "public, max-age=86400"
"""An expression's image never changes, but it can be purged."""

NOT_KEPT: Final = "private, no-store"

IS_ANIMATED: Final = AttachmentFlag.IS_ANIMATED.value

_NUMBER: Final = re.compile(r"0|[1-9][0-9]{0,18}", re.ASCII)
_NUMBERED_IMAGE: Final = re.compile(r"([1-9][0-9]{0,18})\.([a-z]{2,5})", re.ASCII)
_IMAGE: Final = re.compile(r"((?:a_)?[0-9a-z]{1,64})\.([a-z]{2,5})", re.ASCII)
_DEFAULT_AVATAR: Final = re.compile(r"([0-5])\.png", re.ASCII)


@frozen
class Signature:
    """The part of an archive's address that makes it hold: moment of expiry and signature."""

    ex: Annotated[str, Length(0, 64)] | None = None
    hm: Annotated[str, Length(0, 256)] | None = None


@frozen
class SignedPicture(SizedPicture):
    """The part of an attachment's address that makes it hold, moment of expiry and signature; and how a picture is
    wanted that is one."""

    ex: Annotated[str, Length(0, 64)] | None = None
    hm: Annotated[str, Length(0, 256)] | None = None


def file_answers() -> Mapping[int, Any]:
    """A file, a range of it, or nothing for a client that has it already."""
    return {200: binary(), 206: binary(), 304: NOTHING, 416: wire.Error}


@routes.operation("GET", "/media/avatars/{owner}/{image}", bucket=READ, answers=file_answers)
async def get_avatar(request: Request, policy: PolicyArea, owner: str, image: str, query: PictureQuery) -> Answer:
    """The avatar of an account or a webhook."""
    return await _asset(request, "avatars", owner, image, query, policy=policy)


@routes.operation("GET", "/media/icons/{owner}/{image}", bucket=READ, answers=file_answers)
async def get_icon(request: Request, policy: PolicyArea, owner: str, image: str, query: PictureQuery) -> Answer:
    """The icon of a guild, an application or a group."""
    return await _asset(request, "icons", owner, image, query, policy=policy)


@routes.operation("GET", "/media/banners/{owner}/{image}", bucket=READ, answers=file_answers)
async def get_banner(request: Request, policy: PolicyArea, owner: str, image: str, query: PictureQuery) -> Answer:
    """The banner of an account or a guild."""
    return await _asset(request, "banners", owner, image, query, policy=policy)


@routes.operation("GET", "/media/guilds/{guild}/users/{owner}/avatars/{image}", bucket=READ, answers=file_answers)
async def get_member_avatar(
    request: Request, policy: PolicyArea, guild: str, owner: str, image: str, query: PictureQuery
) -> Answer:
    """The avatar that an account has in one guild."""
    return await _asset(request, member_images(_number(guild))["avatar"], owner, image, query, policy=policy)


@routes.operation("GET", "/media/guilds/{guild}/users/{owner}/banners/{image}", bucket=READ, answers=file_answers)
async def get_member_banner(
    request: Request, policy: PolicyArea, guild: str, owner: str, image: str, query: PictureQuery
) -> Answer:
    """The banner that an account has in one guild."""
    return await _asset(request, member_images(_number(guild))["banner"], owner, image, query, policy=policy)


@routes.operation("GET", "/media/splashes/{owner}/{image}", bucket=READ, answers=file_answers)
async def get_splash(request: Request, policy: PolicyArea, owner: str, image: str, query: PictureQuery) -> Answer:
    """The splash of a guild."""
    return await _asset(request, "splashes", owner, image, query, policy=policy)


@routes.operation("GET", "/media/embed-splashes/{owner}/{image}", bucket=READ, answers=file_answers)
async def get_embed_splash(request: Request, policy: PolicyArea, owner: str, image: str, query: PictureQuery) -> Answer:
    """The splash of a guild for embeds."""
    return await _asset(request, "embed-splashes", owner, image, query, policy=policy)


@routes.operation("GET", "/media/emojis/{image}", bucket=READ, answers=file_answers)
async def get_emoji(request: Request, policy: PolicyArea, image: str, query: PictureQuery) -> Answer:
    """An emoji of a guild, for as long as its image has not been purged."""
    return await _expression(request, "emojis", image, query, policy=policy)


@routes.operation("GET", "/media/stickers/{image}", bucket=READ, answers=file_answers)
async def get_sticker(request: Request, policy: PolicyArea, image: str, query: PictureQuery) -> Answer:
    """A sticker of a guild, for as long as its image has not been purged."""
    return await _expression(request, "stickers", image, query, policy=policy)


@routes.operation("GET", "/media/attachments/{channel}/{attachment}/{filename}", bucket=READ, answers=file_answers)
async def get_attachment(
    request: Request, policy: PolicyArea, channel: str, attachment: str, filename: str, query: SignedPicture
) -> Answer:
    """An attachment, as long as its address holds."""
    found, seconds = policy.media.attachment(_number(channel), _number(attachment), filename, query.ex, query.hm)
    file = _attached(found, f"private, max-age={seconds}, immutable")
    moves = bool(found.flags & IS_ANIMATED)
    original = Original(found.content_type, found.width, found.height, moves)
    return await picture(request, found, file, original, preview(found.content_type, query, moves=moves), policy=policy)


@routes.operation("GET", "/static/avatars/{image}", bucket=READ, answers=file_answers)
async def get_default_avatar(request: Request, image: str) -> Answer:
    """The picture of an account that has chosen none, by its id modulo six."""
    match = _DEFAULT_AVATAR.fullmatch(image)
    if match is None:
        raise ApiError(ErrorCode.NOT_FOUND)
    content = _default_avatars()[int(match[1])]
    etag = hashlib.sha256(content).hexdigest()[:32]
    return held_file(request, content, File("image/png", len(content), etag, EXPRESSION_FRESH))


@routes.operation("GET", "/media/external/{signature}/{name}", bucket=EXTERNAL, answers=file_answers)
async def get_external(request: Request, policy: PolicyArea, signature: str, name: str, query: SizedPicture) -> Answer:
    """Media that lie elsewhere, at an address that this server has signed; a picture as it is wanted."""
    media = policy.media
    url = media.addresses.outside(signature, name)
    if url is None:
        raise ApiError(ErrorCode.NOT_FOUND)
    return await relayed(url, query, policy=policy)


@routes.operation("GET", "/media/archives/{archive}/{filename}", bucket=READ, answers=file_answers)
async def get_archive(
    request: Request,
    policy: PolicyArea,
    administration: AdministrationArea,
    archive: str,
    filename: str,
    query: Signature,
) -> Answer:
    """An archive, under an address that an administrator was given, as long as that holds (administration.md,
    Archives)."""
    found = administration.archives.downloadable(_number(archive), filename, query.ex, query.hm)
    etag = f"archive-{found.id}"
    file = File("application/zip", found.file_size or 0, etag, NOT_KEPT, filename)
    return await file_at(request, administration.archives.path_of(found), file, policy=policy)


@routes.operation(
    "PUT",
    "/media/relay/{capability}",
    bucket=RELAY,
    streamed=True,
    accepts={"application/octet-stream": binary()},
)
async def put_upload(request: Request, messages: MessagesArea, capability: str) -> wire.UploadedFile:
    """Take the bytes of a promised upload."""
    return await _receive(request, capability, messages=messages)


@routes.operation(
    "POST",
    "/media/relay/{capability}",
    bucket=RELAY,
    streamed=True,
    accepts={"application/octet-stream": binary()},
)
async def post_upload(request: Request, messages: MessagesArea, capability: str) -> wire.UploadedFile:
    """Take the bytes of a promised upload."""
    return await _receive(request, capability, messages=messages)


@routes.operation("GET", "/media/relay/{capability}", bucket=RELAY, answers=file_answers)
async def get_upload(request: Request, policy: PolicyArea, messages: MessagesArea, capability: str) -> Answer:
    """What an upload address has taken, until a message has it."""
    upload = messages.uploads.uploaded(capability)
    return await stored_file(request, upload, _attached(upload, NOT_KEPT), policy=policy)


async def _receive(request: Request, capability: str, *, messages: MessagesArea) -> wire.UploadedFile:
    chunks = BodyChunks(request.receive, request.headers.get("content-length"), UPLOAD_BYTES)
    return uploaded_object(await messages.uploads.receive(capability, chunks))


async def _asset(
    request: Request, kind: str, owner: str, image: str, query: PictureQuery, *, policy: PolicyArea
) -> Answer:
    match = _IMAGE.fullmatch(image)
    if match is None:
        raise ApiError(ErrorCode.NOT_FOUND)
    asset = policy.media.asset(kind, _number(owner), match[1])
    if asset.source_url is not None:
        return await relayed(asset.source_url, query, policy=policy)
    # Under its name without `a_` it is not told that a picture moves.
    may_move = match[1].startswith(ANIMATED_PREFIX)
    return await _own_picture(request, asset, FOR_EVER, match[2], query, may_move=may_move, policy=policy)


async def _expression(request: Request, kind: str, image: str, query: PictureQuery, *, policy: PolicyArea) -> Answer:
    match = _NUMBERED_IMAGE.fullmatch(image)
    if match is None:
        raise ApiError(ErrorCode.NOT_FOUND)
    asset = policy.media.only_asset(kind, _number(match[1]))
    return await _own_picture(request, asset, EXPRESSION_FRESH, match[2], query, may_move=True, policy=policy)


async def _own_picture(
    request: Request,
    asset: StoredAsset,
    cache_control: str,
    ending: str,
    query: PictureQuery,
    *,
    may_move: bool,
    policy: PolicyArea,
) -> Answer:
    moves = asset.hash.startswith(ANIMATED_PREFIX)
    rendition = _wanted(ending, query, may_move=may_move, moves=moves)
    original = Original(asset.content_type, asset.width, asset.height, moves)
    file = File(asset.content_type, asset.size, asset.hash, cache_control)
    return await picture(request, asset, file, original, rendition, policy=policy)


def _wanted(ending: str, query: PictureQuery, *, may_move: bool, moves: bool) -> Rendition | None:
    """What is asked for in place of the picture as it came: nothing, unless the query says how it is wanted or the
    picture would show that it moves where that is not told."""
    if query == PictureQuery():
        if may_move or not moves:
            return None
        side = SIZES[-1]
    else:
        side = DEFAULT_SIZE if query.size is None else query.size
    return rendition_of(ending, side, side, query, may_move=may_move, source_moves=moves)


def _attached(attachment: Attachment, cache_control: str) -> File:
    etag = attachment.content_hash or str(attachment.id)
    return File(attachment.content_type, attachment.size, etag, cache_control, attachment.filename)


@functools.cache
def _default_avatars() -> tuple[bytes, ...]:
    return default_avatars()


def _number(text: str) -> int:
    if _NUMBER.fullmatch(text) is None or (number := int(text)) > SNOWFLAKE_MAXIMUM:
        raise ApiError(ErrorCode.NOT_FOUND)
    return number
