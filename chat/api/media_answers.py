"""Answers that are files: as they came, redrawn, or passed on from outside."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, aclosing
from functools import partial
from pathlib import Path
from typing import Annotated, Final, Literal

import attrs

from chat.api.answers import Answer, Streamed
from chat.api.fields import Range
from chat.api.operation import Request
from chat.classes import frozen
from chat.domain.policy.assemble import PolicyArea
from chat.errors import ApiError
from chat.media.delivery import GUARDED, File, MediaDelivery, delivery, with_ending
from chat.media.image_header import image_header, is_turned_webp
from chat.media.image_workers import ImageRefused
from chat.media.outside_fetching import PICTURE_BYTES, OutsideMedia
from chat.media.renditions import (
    DRAWINGS,
    FORMATS,
    MAY_HIDE_FRAMES,
    REDRAWN_TYPES,
    SIZES,
    Original,
    Rendition,
    next_size,
)
from chat.media.storage import Incoming
from chat.registries.error_codes import ErrorCode
from chat.store.messages.attachments import Attachment
from chat.store.policy import StoredAsset

EXTERNAL_FRESH: Final = "public, max-age=3600"

STILL: Final = Rendition("image/webp", SIZES[-1], SIZES[-1])
"""The form in which a picture is shown if it cannot be shown as it was uploaded and the address asks for no other
form."""

Side = Annotated[int, Range(1, SIZES[-1])]


@frozen
class PictureQuery:
    """How a picture is wanted: the pixels of its longer side, how good, and whether it may move (media.md,
    Renditions)."""

    size: Annotated[int, Range(SIZES[0], SIZES[-1])] | None = None
    quality: Literal["high", "low", "lossless"] = "high"
    animated: bool | None = None


@frozen
class SizedPicture(PictureQuery):
    """How a picture is wanted whose address names no format: also by both sides, and in which format."""

    width: Side | None = None
    height: Side | None = None
    format: Literal["png", "jpg", "jpeg", "webp", "gif"] | None = None


async def stored_file(request: Request, stored: StoredAsset | Attachment, file: File, *, policy: PolicyArea) -> Answer:
    """The answer with a file as it was uploaded.

    :raises ApiError: NOT_FOUND when it is gone; BAD_REQUEST with status 416.
    """
    return await file_at(request, policy.media.storage.path_of(stored.key), file, policy=policy)


async def file_at(request: Request, path: Path, file: File, *, policy: PolicyArea) -> Answer:
    """The answer with the file at a path; raises as `stored_file`."""
    answer = _delivery(request, file)
    if answer.status == 304:
        return Answer(304, headers=answer.headers)
    storage = policy.media.storage
    if not await storage.computed(path.is_file):
        raise ApiError(ErrorCode.NOT_FOUND)
    pieces = partial(storage.pieces_of, path, answer.start, answer.stop)
    return Streamed(answer.status, headers=answer.headers, pieces=pieces, length=answer.stop - answer.start)


def held_file(request: Request, content: bytes, file: File) -> Answer:
    """The answer with a small file that is in memory; raises as `stored_file`."""
    answer = _delivery(request, file)
    if answer.status == 304:
        return Answer(304, headers=answer.headers)

    async def pieces() -> AsyncGenerator[bytes, None]:
        yield content[answer.start : answer.stop]

    return Streamed(answer.status, headers=answer.headers, pieces=pieces, length=answer.stop - answer.start)


async def picture(
    request: Request,
    stored: StoredAsset | Attachment,
    file: File,
    original: Original,
    rendition: Rendition | None,
    *,
    policy: PolicyArea,
) -> Answer:
    """A picture as it is wanted; as it came where that is so already. An attachment comes as it came wherever nothing
    else is wanted: that is for saving it.

    :raises ApiError: as `stored_file`; NOT_FOUND too where nothing can be made of it within the bounds: a picture that
        is shown in a page is never one that this server could not draw. SERVICE_UNAVAILABLE when too much is to be
        made already.
    """
    if original.content_type not in REDRAWN_TYPES or (rendition is None and isinstance(stored, Attachment)):
        return await stored_file(request, stored, file, policy=policy)
    if (rendition is None or original.fits(rendition)) and await _may_be_shown(stored, original, policy=policy):
        return await stored_file(request, stored, file, policy=policy)
    media, rendition = policy.media, rendition or STILL
    made = await media.renditions.get(stored.key, rendition)
    if made is None and rendition.moving:
        rendition = attrs.evolve(rendition, moving=False)
        made = await media.renditions.get(stored.key, rendition)
    if made is None:
        raise ApiError(ErrorCode.NOT_FOUND)
    ending = rendition.content_type.removeprefix("image/")
    redrawn = attrs.evolve(
        file,
        content_type=rendition.content_type,
        size=made.size,
        etag=f"{file.etag}-{rendition.name}",
        name=None if file.name is None else with_ending(file.name, ending),
    )
    answer = _delivery(request, redrawn)
    if answer.status == 304:
        return Answer(304, headers=answer.headers)
    pieces = partial(media.storage.pieces_of, made.path, answer.start, answer.stop)
    return Streamed(answer.status, headers=answer.headers, pieces=pieces, length=answer.stop - answer.start)


async def _may_be_shown(stored: StoredAsset | Attachment, original: Original, *, policy: PolicyArea) -> bool:
    """Whether a page may show the picture as it came: no drawing, nothing that lies on its side in a browser, and
    nothing that moves beyond the bounds."""
    if original.content_type in DRAWINGS:
        return False
    if original.content_type == "image/webp" and await policy.media.renditions.is_turned_webp(stored.key):
        return False
    if not original.moving and not (isinstance(stored, Attachment) and original.content_type in MAY_HIDE_FRAMES):
        return True
    frames = await policy.media.renditions.frames(stored.key)
    return frames is not None and (frames > 1 or not original.moving)


def rendition_of(
    ending: str, width: int, height: int, query: PictureQuery, *, may_move: bool, source_moves: bool
) -> Rendition | None:
    """The form that an address with this ending asks for; None for an ending that never means a redrawn picture."""
    content_type = FORMATS.get(ending)
    if content_type is None:
        return None
    wants_motion = ending == "gif" if query.animated is None else query.animated
    moving = source_moves and may_move and wants_motion and content_type != "image/jpeg"
    return Rendition(content_type, next_size(width), next_size(height), query.quality, moving)


def preview(content_type: str, query: PictureQuery, *, moves: bool) -> Rendition | None:
    """The form that is shown in place of a file of this type; None to show the file itself."""
    wish = query if isinstance(query, SizedPicture) else SizedPicture(query.size, query.quality, query.animated)
    asked = (wish.size, wish.width, wish.height, wish.format, wish.animated)
    if wish.quality == "high" and all(value is None for value in asked):
        return None
    ending = wish.format or content_type.removeprefix("image/")
    side = wish.size or SIZES[-1]
    if wish.animated is None and wish.format is None:
        wish = attrs.evolve(wish, animated=True)  # smaller, and else as it is
    return rendition_of(
        ending if ending in FORMATS else "webp",
        wish.width or side,
        wish.height or side,
        wish,
        may_move=True,
        source_moves=moves,
    )


async def relayed(url: str, query: PictureQuery, *, policy: PolicyArea) -> Answer:
    """Fetch first, answer then: what cannot be had is an error, not half a file. A picture that moves, or is wanted
    otherwise than it is, is received whole; what moves beyond the bounds is shown still.

    :raises ApiError: BAD_GATEWAY for any failure there, and for a picture that cannot be drawn.
    """
    media = await policy.media.external.fetch(url)
    is_plain = media.content_type not in REDRAWN_TYPES or preview(media.content_type, query, moves=False) is None
    if media.is_certain and is_plain:
        headers = _outside(media.content_type)
        return Streamed(200, headers=headers, pieces=media.pieces, length=media.length, aclose=media.aclose)
    library = policy.media
    async with AsyncExitStack() as stack:
        stack.push_async_callback(media.aclose)
        try:
            incoming = await stack.enter_async_context(library.storage.receiving())
            await _receive(media, incoming)
            target = await stack.enter_async_context(library.storage.scratch())
            shown, kind = await _drawn(media, incoming, target, query, policy=policy)
            length = (await library.storage.computed(shown.stat)).st_size
        except (ImageRefused, EOFError):
            raise ApiError(ErrorCode.BAD_GATEWAY) from None
        aclose = stack.pop_all().aclose
    pieces = partial(library.storage.pieces_of, shown, 0, length)
    return Streamed(200, headers=_outside(kind), pieces=pieces, length=length, aclose=aclose)


async def _receive(media: OutsideMedia, incoming: Incoming) -> None:
    async with aclosing(media.pieces()) as pieces:
        async for piece in pieces:
            if incoming.size + len(piece) > PICTURE_BYTES:
                raise ApiError(ErrorCode.BAD_GATEWAY)
            await incoming.write(piece)
    await incoming.flush()


async def _drawn(
    media: OutsideMedia, incoming: Incoming, target: Path, query: PictureQuery, *, policy: PolicyArea
) -> tuple[Path, str]:
    """The path and the type of the picture to show: as it was uploaded, or drawn at `target`. Raises ImageRefused if it
    cannot be drawn."""
    workers, kind = policy.media.workers, media.content_type
    frames = 1 if media.is_certain else await _frames(incoming.path, policy=policy)
    may_be_shown = media.is_certain or frames > 1 or (frames == 1 and kind in MAY_HIDE_FRAMES)
    rendition = preview(kind, query, moves=frames > 1)
    header = image_header(incoming.head)
    width, height = (None, None) if header is None else (header.width, header.height)
    original = Original(kind, width, height, moving=frames > 1)
    is_turned = kind == "image/webp" and await policy.media.storage.computed(is_turned_webp, incoming.path)
    if may_be_shown and not is_turned and (rendition is None or original.fits(rendition)):
        return incoming.path, kind
    rendition = rendition or STILL
    try:
        await workers.render(incoming.path, target, rendition, is_new=True)
    except ImageRefused:
        if not rendition.moving:
            raise
        await workers.render(incoming.path, target, attrs.evolve(rendition, moving=False), is_new=True)
    except ApiError:  # there is too much to draw; then it is better large than not there
        if not may_be_shown:
            raise
        return incoming.path, kind
    return target, rendition.content_type


async def _frames(path: Path, *, policy: PolicyArea) -> int:
    """How many there are; 0 for a picture that is not to be shown as it is."""
    try:
        return await policy.media.workers.judge(path, is_new=True)
    except ImageRefused:
        return 0


def _outside(content_type: str) -> dict[str, str]:
    return {
        **GUARDED,
        "Content-Type": content_type,
        "Content-Disposition": "inline",
        "Cache-Control": EXTERNAL_FRESH,
    }


def _delivery(request: Request, file: File) -> MediaDelivery:
    answer = delivery(file, request.headers)
    if answer.status == 416:
        headers = {**GUARDED, "Content-Range": answer.headers["Content-Range"]}
        raise ApiError(ErrorCode.BAD_REQUEST, "There are no such bytes.", status=416, headers=headers)
    return answer
