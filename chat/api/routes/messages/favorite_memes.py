"""Operations on favourite memes (messages.md, Kept messages; conventions of the field)."""

from __future__ import annotations

from typing import Annotated, Final

import attrs

from chat.api import buckets
from chat.api.fields import OMITTED, Items, Length, Maybe, Range, Snowflake
from chat.api.operation import Policy, Request, Routes
from chat.api.schemas.messages.reading import FAVORITE_MEME
from chat.api.schemas.shapes import NOTHING, listed
from chat.domain.messages.assemble import MessagesArea
from chat.domain.messages.favorite_memes import NAME_LENGTH, Source, Words
from chat.media.outside_addresses import URL_CHARACTERS

routes = Routes()

ALT_TEXT_LENGTH: Final = 500
TAG_LENGTH: Final = 30
TAGS: Final = 10
EMBEDS: Final = 100

Name = Annotated[str, Length(1, NAME_LENGTH)]
AltText = Annotated[str, Length(1, ALT_TEXT_LENGTH)]
Tags = Annotated[list[Annotated[str, Length(1, TAG_LENGTH)]], Items(0, TAGS)]


@attrs.frozen(kw_only=True)
class KeepMeme:
    """What of a message to keep, and the words for it."""

    attachment_id: Snowflake | None = None
    embed_index: Annotated[int, Range(0, EMBEDS)] | None = None
    name: Name | None = None
    alt_text: AltText | None = None
    tags: Tags | None = None


@attrs.frozen(kw_only=True)
class FetchMeme:
    """Where something lies, and the words for it."""

    url: Annotated[str, Length(1, URL_CHARACTERS)]
    name: Name | None = None
    alt_text: AltText | None = None
    tags: Tags | None = None


@attrs.frozen(kw_only=True)
class ChangeMeme:
    """Other words; what is absent stays, and a null text or null tags are none."""

    name: Name | None = None
    alt_text: Maybe[AltText | None] = OMITTED
    tags: Maybe[Tags | None] = OMITTED


@routes.operation(
    "GET",
    "/v1/users/@me/memes",
    policy=Policy.USER_ONLY,
    bucket=buckets.MEMES,
    answers=listed(FAVORITE_MEME),
)
async def list_memes(request: Request, messages: MessagesArea) -> object:
    """The caller's favourite memes, the oldest first."""
    return messages.favorite_memes.of_user(request.principal.user_id)


@routes.operation(
    "POST",
    "/v1/users/@me/memes",
    policy=Policy.USER_ONLY,
    bucket=buckets.MEMES_FETCH,
    body=FetchMeme,
    answers=FAVORITE_MEME,
)
async def fetch_meme(request: Request, messages: MessagesArea, body: FetchMeme) -> object:
    """Keep something that lies elsewhere."""
    words = Words(body.name, body.alt_text, _distinct(body.tags))
    return await messages.favorite_memes.fetch(request.principal, body.url, words)


@routes.operation(
    "POST",
    "/v1/channels/{channel_id}/messages/{message_id}/memes",
    policy=Policy.USER_ONLY,
    bucket=buckets.MEMES_FETCH,
    body=KeepMeme,
    answers=FAVORITE_MEME,
)
async def keep_meme(
    request: Request, messages: MessagesArea, channel_id: int, message_id: int, body: KeepMeme
) -> object:
    """Keep something out of a message."""
    source = Source(channel_id, message_id, body.attachment_id, body.embed_index)
    words = Words(body.name, body.alt_text, _distinct(body.tags))
    return await messages.favorite_memes.keep(request.principal, source, words)


@routes.operation(
    "GET",
    "/v1/users/@me/memes/{meme_id}",
    policy=Policy.USER_ONLY,
    bucket=buckets.MEMES,
    answers=FAVORITE_MEME,
)
async def get_meme(request: Request, messages: MessagesArea, meme_id: int) -> object:
    """One of the caller's favourite memes."""
    return messages.favorite_memes.get(request.principal.user_id, meme_id)


@routes.operation(
    "PATCH",
    "/v1/users/@me/memes/{meme_id}",
    policy=Policy.USER_ONLY,
    bucket=buckets.MEMES_CHANGE,
    body=ChangeMeme,
    answers=FAVORITE_MEME,
)
async def change_meme(request: Request, messages: MessagesArea, meme_id: int, body: ChangeMeme) -> object:
    """Say something else of a favourite meme."""
    words = Words(
        body.name,
        None if body.alt_text is OMITTED else body.alt_text or "",
        None if body.tags is OMITTED else _distinct(body.tags or []),
    )
    return await messages.favorite_memes.change(request.principal.user_id, meme_id, words)


@routes.operation(
    "DELETE",
    "/v1/users/@me/memes/{meme_id}",
    policy=Policy.USER_ONLY,
    bucket=buckets.MEMES_CHANGE,
    answers=NOTHING,
)
async def delete_meme(request: Request, messages: MessagesArea, meme_id: int) -> None:
    """Keep a favourite meme no longer."""
    await messages.favorite_memes.delete(request.principal.user_id, meme_id)


def _distinct(tags: list[str] | None) -> tuple[str, ...] | None:
    return None if tags is None else tuple(dict.fromkeys(tags))
