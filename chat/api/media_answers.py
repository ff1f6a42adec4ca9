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
from chat.media.delivery import GUARDED, Delivery, File, delivery, with_ending
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
from chat.registries.error_codes import ErrorCode
from chat.store.messages.attachments import Attachment
from chat.store.policy import Asset

EXTERNAL_FRESH: Final = "public, max-age=3600"

STILL: Final = Rendition("image/webp", SIZES[-1], SIZES[-1])
"""What is shown of a picture that cannot be shown as it came, where nothing is said of how it is wanted."""

Side = Annotated[int, Range(1, SIZES[-1])]


@frozen
class PictureQuery:
    """How a picture is wanted: the pixels of its longer side, how good, and whether it may move (media.md,
    Renditions)."""

    size: Annotated[int, Range(SIZES[0], SIZES[-1])] | None = None
    quality: Literal["high", "low", "lossless"] = "high"
    animated: bool | None = None


async def stored_file(request: Request, stored: Asset | Attachment, file: File, *, policy: PolicyArea) -> Answer:
    """A file as it came.

    :raises ApiError: NOT_FOUND when it is gone; BAD_REQUEST with status 416.
    """
    return await file_at(request, policy.media.storage.path_of(stored.key), file, policy=policy)


async def file_at(request: Request, path: Path, file: File, *, policy: PolicyArea) -> Answer:
    """A file by its path; raises as `stored_file`."""
    answer = _delivery(request, file)
    if answer.status == 304:
        return Answer(304, headers=answer.headers)
    storage = policy.media.storage
    if not await storage.computed(path.is_file):
        raise ApiError(ErrorCode.NOT_FOUND)
    pieces = partial(storage.pieces_of, path, answer.start, answer.stop)
    return Streamed(answer.status, headers=answer.headers, pieces=pieces, length=answer.stop - answer.start)


def held_file(request: Request, content: bytes, file: File) -> Answer:
    """A small file that is in memory; raises as `stored_file`."""
    answer = _delivery(request, file)
    if answer.status == 304:
        return Answer(304, headers=answer.headers)

    async def pieces() -> AsyncGenerator[bytes, None]:
        yield content[answer.start : answer.stop]

    return Streamed(answer.status, headers=answer.headers, pieces=pieces, length=answer.stop - answer.start)


async def picture(
    request: Request,
    stored: Asset | Attachment,
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


async def _may_be_shown(stored: Asset | Attachment, original: Original, *, policy: PolicyArea) -> bool:
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
    """What an address with this ending asks for; None for an ending that nothing is redrawn for."""
    content_type = FORMATS.get(ending)
    if content_type is None:
        return None
    wants_motion = ending == "gif" if query.animated is None else query.animated
    moving = source_moves and may_move and wants_motion and content_type != "image/jpeg"
    return Rendition(content_type, next_size(width), next_size(height), query.quality, moving)


async def relayed(request: Request, url: str, *, policy: PolicyArea) -> Answer:
    """Fetch first, answer then: what cannot be had is an error, not half a file. A picture that moves is received
    whole, and is passed on where it moves within the bounds; else it is shown still.

    :raises ApiError: BAD_GATEWAY for any failure there, and for a picture that cannot be drawn.
    """
    media = await policy.media.external.fetch(url)
    if not media.is_certain:
        return await _judged(media, policy=policy)
    return Streamed(
        200, headers=_outside(media.content_type), pieces=media.pieces, length=media.length, aclose=media.aclose
    )


async def _judged(media: OutsideMedia, *, policy: PolicyArea) -> Answer:
    """A picture that may move, as `relayed`; what was received goes when the answer is over."""
    library = policy.media
    async with AsyncExitStack() as stack:
        stack.push_async_callback(media.aclose)
        try:
            incoming = await stack.enter_async_context(library.storage.receiving())
            async with aclosing(media.pieces()) as pieces:
                async for piece in pieces:
                    if incoming.size + len(piece) > PICTURE_BYTES:
                        raise ApiError(ErrorCode.BAD_GATEWAY)
                    await incoming.write(piece)
            await incoming.flush()
            shown, kind = incoming.path, media.content_type
            if not await _shows_its_frames(shown, kind, policy=policy):
                source, kind = shown, STILL.content_type
                shown = await stack.enter_async_context(library.storage.scratch())
                await library.workers.render(source, shown, STILL)
            length = (await library.storage.computed(shown.stat)).st_size
        except (ImageRefused, EOFError):
            raise ApiError(ErrorCode.BAD_GATEWAY) from None
        aclose = stack.pop_all().aclose
    pieces_of = partial(library.storage.pieces_of, shown, 0, length)
    return Streamed(200, headers=_outside(kind), pieces=pieces_of, length=length, aclose=aclose)


async def _shows_its_frames(path: Path, kind: str, *, policy: PolicyArea) -> bool:
    """Whether all that moves in the picture was found, and is within the bounds."""
    try:
        return await policy.media.workers.judge(path) > 1 or kind in MAY_HIDE_FRAMES
    except ImageRefused:
        return False


def _outside(content_type: str) -> dict[str, str]:
    return {
        **GUARDED,
        "Content-Type": content_type,
        "Content-Disposition": "inline",
        "Cache-Control": EXTERNAL_FRESH,
    }


def _delivery(request: Request, file: File) -> Delivery:
    answer = delivery(file, request.headers)
    if answer.status == 416:
        headers = {**GUARDED, "Content-Range": answer.headers["Content-Range"]}
        raise ApiError(ErrorCode.BAD_REQUEST, "There are no such bytes.", status=416, headers=headers)
    return answer
