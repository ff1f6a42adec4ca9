"""Operations on exports that people bring along in the browser (manual, Moving in)."""

from __future__ import annotations

from typing import Annotated, Final

from chat import wire
from chat.api.answers import Answer
from chat.api.bodies import BodyChunks
from chat.api.fields import Items, Length, Snowflake, Timestamp
from chat.api.operation import Bucket, Policy, Request, Routes
from chat.api.schemas.shapes import binary
from chat.classes import frozen
from chat.domain.imports.assemble import ImportsArea
from chat.domain.imports.brought_exports import BringingWish
from chat.domain.imports.export_outline import CHANNELS

routes = Routes(policy=Policy.USER_ONLY)

READ_IMPORTS: Final = Bucket("import:read", limit=120, window_ms=60_000)
"""Clients look once a second while an import is under way."""

CHANGE_IMPORT: Final = Bucket("import:change", limit=20, window_ms=60_000)

FILE_NAME_CHARACTERS: Final = 1_024


@frozen
class UploadedExport:
    """The query of an upload."""

    filename: Annotated[str, Length(1, FILE_NAME_CHARACTERS)]


@frozen(kw_only=True)
class StartImport:
    """What of an export is to come, and what its community is called; without `channels` all come. `since` leaves older
    messages out."""

    name: str
    channels: Annotated[list[Snowflake], Items(1, CHANNELS)] | None = None
    files: bool = True
    since: Timestamp | None = None


def require_may_bring(request: Request, *, imports: ImportsArea) -> None:
    """The instance lets the account bring communities along."""
    imports.brought.require_may_bring(request.principal)


@routes.operation("GET", "/v1/imports", bucket=READ_IMPORTS)
async def list_community_imports(request: Request, imports: ImportsArea) -> wire.CommunityImports:
    """Whether the caller may bring a community along, and what it has brought."""
    return imports.brought.overview(request.principal)


@routes.operation(
    "POST",
    "/v1/imports",
    bucket=CHANGE_IMPORT,
    closed_to_limited=True,
    precondition=require_may_bring,
    streamed=True,
    accepts={"application/octet-stream": binary()},
    answers=lambda: {201: wire.CommunityImport},
)
async def upload_community_export(request: Request, imports: ImportsArea, query: UploadedExport) -> Answer:
    """Take what another program exported, as it is; the dry run begins then."""
    chunks = BodyChunks(request.receive, request.headers.get("content-length"), imports.brought.max_bytes)
    return Answer(201, await imports.brought.receive(request.principal, query.filename, chunks))


@routes.operation("GET", "/v1/imports/{import_id}", bucket=READ_IMPORTS)
async def get_community_import(request: Request, imports: ImportsArea, import_id: int) -> wire.CommunityImport:
    """How far one is."""
    return imports.brought.get(request.principal, import_id)


@routes.operation(
    "POST",
    "/v1/imports/{import_id}/start",
    bucket=CHANGE_IMPORT,
    closed_to_limited=True,
    precondition=require_may_bring,
)
async def start_community_import(
    request: Request, imports: ImportsArea, import_id: int, body: StartImport
) -> wire.CommunityImport:
    """Make the community, which the caller owns, and write the export into it."""
    wish = BringingWish(name=body.name, channels=body.channels, files=body.files, since=body.since or 0)
    return await imports.brought.start(request.principal, import_id, wish)


@routes.operation("POST", "/v1/imports/{import_id}/cancel", bucket=CHANGE_IMPORT)
async def cancel_community_import(request: Request, imports: ImportsArea, import_id: int) -> wire.CommunityImport:
    """End it and delete the uploaded file; what came stays."""
    return await imports.brought.cancel(request.principal, import_id)


@routes.operation("POST", "/v1/imports/{import_id}/undo", bucket=CHANGE_IMPORT)
async def undo_community_import(request: Request, imports: ImportsArea, import_id: int) -> wire.CommunityImport:
    """Take out again what came, as far as nobody has touched it since."""
    return await imports.brought.undo(request.principal, import_id)
