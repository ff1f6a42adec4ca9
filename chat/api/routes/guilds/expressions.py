"""Operations on emojis and stickers (guilds.md, Emojis and stickers). Their limits are those that clients expect."""

from __future__ import annotations

import re
from typing import Annotated, Final

import attrs

from chat import wire
from chat.api.fields import OMITTED, Exact, Items, Length, Maybe, Pattern, Snowflake, named_members
from chat.api.operation import Bucket, Policy, Request, Routes
from chat.classes import frozen
from chat.domain.guilds.assemble import GuildsArea
from chat.domain.guilds.expressions import NewExpression
from chat.domain.standing.guild_objects import EMOJIS, STICKERS, emoji_object, sticker_object
from chat.registries.error_codes import FieldCode

routes = Routes(policy=Policy.USER)

LIST_EMOJIS: Final = Bucket("guild:emojis:list::guild_id", limit=60, window_ms=10_000)
CREATE_EMOJI: Final = Bucket("guild:emoji:create::guild_id", limit=10, window_ms=30_000)
CREATE_EMOJIS: Final = Bucket("guild:emoji:bulk_create::guild_id", limit=6, window_ms=60_000)
CLONE_EMOJI: Final = Bucket("guild:emoji:clone::guild_id", limit=10, window_ms=30_000)
CHANGE_EMOJI: Final = Bucket("guild:emoji:update::guild_id", limit=20, window_ms=10_000)
DELETE_EMOJI: Final = Bucket("guild:emoji:delete::guild_id", limit=10, window_ms=30_000)
GET_EMOJI_METADATA: Final = Bucket("guild:emoji:metadata", limit=60, window_ms=10_000)
LIST_STICKERS: Final = Bucket("guild:stickers:list::guild_id", limit=60, window_ms=10_000)
CREATE_STICKER: Final = Bucket("guild:sticker:create::guild_id", limit=10, window_ms=30_000)
CREATE_STICKERS: Final = Bucket("guild:sticker:bulk_create::guild_id", limit=6, window_ms=60_000)
CLONE_STICKER: Final = Bucket("guild:sticker:clone::guild_id", limit=10, window_ms=30_000)
CHANGE_STICKER: Final = Bucket("guild:sticker:update::guild_id", limit=20, window_ms=10_000)
DELETE_STICKER: Final = Bucket("guild:sticker:delete::guild_id", limit=10, window_ms=30_000)
GET_STICKER_METADATA: Final = Bucket("guild:sticker:metadata", limit=60, window_ms=10_000)

EmojiName = Annotated[
    str, Length(2, 32, FieldCode.STRING_LENGTH_INVALID), Pattern(re.compile(r"[A-Za-z0-9_]*", re.ASCII))
]
StickerName = Annotated[str, Length(2, 30, FieldCode.STRING_LENGTH_INVALID), Pattern(re.compile(r"\S(.*\S)?"))]
Description = Annotated[str, Length(1, 100, FieldCode.STRING_LENGTH_INVALID)]
Tags = Annotated[list[Annotated[str, Length(1, 30, FieldCode.STRING_LENGTH_INVALID)]], Items(0, 10)]

AT_ONCE: Final = 50
"""Expressions that one request may make."""


@frozen
class CreateEmoji:
    """The body of POST /v1/guilds/{guild_id}/emojis; `image` is base64 or a data URL."""

    name: EmojiName
    image: Annotated[str, Exact()] = attrs.field(repr=False)


@frozen
class CreateEmojis:
    """The body of POST /v1/guilds/{guild_id}/emojis/bulk."""

    emojis: Annotated[list[CreateEmoji], Items(1, AT_ONCE)]


@frozen
class CloneEmoji:
    """The body of POST /v1/guilds/{guild_id}/emojis/clone."""

    source_emoji_id: Snowflake


@frozen
class ChangeEmoji:
    """The body of PATCH /v1/guilds/{guild_id}/emojis/{emoji_id}."""

    name: Maybe[EmojiName] = OMITTED


@frozen
class CreateSticker:
    """The body of POST /v1/guilds/{guild_id}/stickers; `image` is base64 or a data URL."""

    name: StickerName
    image: Annotated[str, Exact()] = attrs.field(repr=False)
    description: Description | None = None
    tags: Tags | None = None


@frozen
class CreateStickers:
    """The body of POST /v1/guilds/{guild_id}/stickers/bulk."""

    stickers: Annotated[list[CreateSticker], Items(1, AT_ONCE)]


@frozen
class CloneSticker:
    """The body of POST /v1/guilds/{guild_id}/stickers/clone."""

    source_sticker_id: Snowflake


@frozen
class ChangeSticker:
    """The body of PATCH /v1/guilds/{guild_id}/stickers/{sticker_id}; null clears."""

    name: Maybe[StickerName] = OMITTED
    description: Maybe[Description | None] = OMITTED
    tags: Maybe[Tags | None] = OMITTED


@frozen
class DeleteExpression:
    """The query of a deletion: whether the image goes as well."""

    purge: bool = False


@routes.operation("GET", "/v1/guilds/{guild_id}/emojis", bucket=LIST_EMOJIS)
async def list_emojis(request: Request, guilds: GuildsArea, guild_id: int) -> list[wire.EmojiWithUser]:
    """The emojis of a guild."""
    found = await guilds.expressions.of_guild(request.principal, EMOJIS, guild_id)
    return [{**emoji_object(expression), "user": maker} for expression, maker in found]


@routes.operation("POST", "/v1/guilds/{guild_id}/emojis", bucket=CREATE_EMOJI, images=True)
async def create_emoji(request: Request, guilds: GuildsArea, guild_id: int, body: CreateEmoji) -> wire.Emoji:
    """Make an emoji."""
    return emoji_object(
        await guilds.expressions.create(request.principal, EMOJIS, guild_id, _emoji(body), request.audit_log_reason)
    )


@routes.operation("POST", "/v1/guilds/{guild_id}/emojis/bulk", bucket=CREATE_EMOJIS, images=True)
async def create_emojis(request: Request, guilds: GuildsArea, guild_id: int, body: CreateEmojis) -> wire.EmojisMade:
    """Make several emojis."""
    made, failed = await guilds.expressions.create_many(
        request.principal, EMOJIS, guild_id, [_emoji(entry) for entry in body.emojis], request.audit_log_reason
    )
    return {"success": [emoji_object(expression) for expression in made], "failed": failed}


@routes.operation("POST", "/v1/guilds/{guild_id}/emojis/clone", bucket=CLONE_EMOJI)
async def clone_emoji(request: Request, guilds: GuildsArea, guild_id: int, body: CloneEmoji) -> wire.Emoji:
    """Copy an emoji into the guild."""
    return emoji_object(
        await guilds.expressions.clone(
            request.principal, EMOJIS, guild_id, body.source_emoji_id, request.audit_log_reason
        )
    )


@routes.operation("PATCH", "/v1/guilds/{guild_id}/emojis/{emoji_id}", bucket=CHANGE_EMOJI)
async def change_emoji(
    request: Request, guilds: GuildsArea, guild_id: int, emoji_id: int, body: ChangeEmoji
) -> wire.Emoji:
    """Rename an emoji."""
    return emoji_object(
        await guilds.expressions.change(
            request.principal, EMOJIS, guild_id, emoji_id, named_members(body), request.audit_log_reason
        )
    )


@routes.operation("DELETE", "/v1/guilds/{guild_id}/emojis/{emoji_id}", bucket=DELETE_EMOJI)
async def delete_emoji(
    request: Request, guilds: GuildsArea, guild_id: int, emoji_id: int, query: DeleteExpression
) -> None:
    """Delete an emoji."""
    await guilds.expressions.delete(
        request.principal, EMOJIS, guild_id, emoji_id, purge=query.purge, reason=request.audit_log_reason
    )


@routes.operation("GET", "/v1/emojis/{emoji_id}/metadata", bucket=GET_EMOJI_METADATA)
async def get_emoji_metadata(request: Request, guilds: GuildsArea, emoji_id: int) -> wire.ExpressionMetadata:
    """Where an emoji comes from."""
    return guilds.expressions.metadata(EMOJIS, emoji_id)


@routes.operation("GET", "/v1/guilds/{guild_id}/stickers", bucket=LIST_STICKERS)
async def list_stickers(request: Request, guilds: GuildsArea, guild_id: int) -> list[wire.StickerWithUser]:
    """The stickers of a guild."""
    found = await guilds.expressions.of_guild(request.principal, STICKERS, guild_id)
    return [{**sticker_object(expression), "user": maker} for expression, maker in found]


@routes.operation("POST", "/v1/guilds/{guild_id}/stickers", bucket=CREATE_STICKER, images=True)
async def create_sticker(request: Request, guilds: GuildsArea, guild_id: int, body: CreateSticker) -> wire.Sticker:
    """Make a sticker."""
    return sticker_object(
        await guilds.expressions.create(request.principal, STICKERS, guild_id, _sticker(body), request.audit_log_reason)
    )


@routes.operation("POST", "/v1/guilds/{guild_id}/stickers/bulk", bucket=CREATE_STICKERS, images=True)
async def create_stickers(
    request: Request, guilds: GuildsArea, guild_id: int, body: CreateStickers
) -> wire.StickersMade:
    """Make several stickers."""
    made, failed = await guilds.expressions.create_many(
        request.principal, STICKERS, guild_id, [_sticker(entry) for entry in body.stickers], request.audit_log_reason
    )
    return {"success": [sticker_object(expression) for expression in made], "failed": failed}


@routes.operation("POST", "/v1/guilds/{guild_id}/stickers/clone", bucket=CLONE_STICKER)
async def clone_sticker(request: Request, guilds: GuildsArea, guild_id: int, body: CloneSticker) -> wire.Sticker:
    """Copy a sticker into the guild."""
    return sticker_object(
        await guilds.expressions.clone(
            request.principal, STICKERS, guild_id, body.source_sticker_id, request.audit_log_reason
        )
    )


@routes.operation("PATCH", "/v1/guilds/{guild_id}/stickers/{sticker_id}", bucket=CHANGE_STICKER)
async def change_sticker(
    request: Request, guilds: GuildsArea, guild_id: int, sticker_id: int, body: ChangeSticker
) -> wire.Sticker:
    """Change name, description or tags of a sticker."""
    changes = named_members(body)
    if "description" in changes:
        changes["description"] = changes["description"] or ""
    if "tags" in changes:
        changes["tags"] = tuple(changes["tags"] or ())
    return sticker_object(
        await guilds.expressions.change(
            request.principal, STICKERS, guild_id, sticker_id, changes, request.audit_log_reason
        )
    )


@routes.operation("DELETE", "/v1/guilds/{guild_id}/stickers/{sticker_id}", bucket=DELETE_STICKER)
async def delete_sticker(
    request: Request, guilds: GuildsArea, guild_id: int, sticker_id: int, query: DeleteExpression
) -> None:
    """Delete a sticker."""
    await guilds.expressions.delete(
        request.principal, STICKERS, guild_id, sticker_id, purge=query.purge, reason=request.audit_log_reason
    )


@routes.operation("GET", "/v1/stickers/{sticker_id}/metadata", bucket=GET_STICKER_METADATA)
async def get_sticker_metadata(request: Request, guilds: GuildsArea, sticker_id: int) -> wire.ExpressionMetadata:
    """Where a sticker comes from."""
    return guilds.expressions.metadata(STICKERS, sticker_id)


def _emoji(body: CreateEmoji) -> NewExpression:
    return NewExpression(body.name, body.image)


def _sticker(body: CreateSticker) -> NewExpression:
    return NewExpression(body.name, body.image, body.description or "", tuple(body.tags or ()))
