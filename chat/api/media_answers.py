"""Answers that are files: as they came, redrawn, or passed on from outside."""

from __future__ import annotations

from collections.abc import AsyncGenerator
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
from chat.media.renditions import FORMATS, REDRAWN_TYPES, SIZES, Original, Rendition, next_size
from chat.registries.error_codes import ErrorCode
from chat.store.messages.attachments import Attachment
from chat.store.policy import Asset

EXTERNAL_FRESH: Final = "public, max-age=3600"

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
    """A picture as it is wanted; as it came where that is so already, and where nothing else can be made of it.

    :raises ApiError: as `stored_file`; SERVICE_UNAVAILABLE when too much is to be made already.
    """
    if rendition is None or original.content_type not in REDRAWN_TYPES or original.fits(rendition):
        return await stored_file(request, stored, file, policy=policy)
    media = policy.media
    made = await media.renditions.get(stored.key, rendition)
    if made is None:
        return await stored_file(request, stored, file, policy=policy)
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
    """Fetch first, answer then: what cannot be had is an error, not half a file."""
    media = await policy.media.external.fetch(url)
    headers = {
        **GUARDED,
        "Content-Type": media.content_type,
        "Content-Disposition": "inline",
        "Cache-Control": EXTERNAL_FRESH,
    }
    return Streamed(200, headers=headers, pieces=media.pieces, length=media.length, aclose=media.aclose)


def _delivery(request: Request, file: File) -> Delivery:
    answer = delivery(file, request.headers)
    if answer.status == 416:
        headers = {**GUARDED, "Content-Range": answer.headers["Content-Range"]}
        raise ApiError(ErrorCode.BAD_REQUEST, "There are no such bytes.", status=416, headers=headers)
    return answer
