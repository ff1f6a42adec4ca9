"""Operations on what accounts keep: mentions, saved messages and favourite memes (messages.md, Kept messages)."""

from __future__ import annotations

from typing import Annotated, Final

import attrs

from chat import wire
from chat.api import buckets
from chat.api.fields import OMITTED, Items, Length, Maybe, Range, Snowflake
from chat.api.operation import Policy, Request, Routes
from chat.classes import frozen
from chat.domain.messages.assemble import MessagesArea
from chat.domain.messages.favorite_memes import NAME_LENGTH, MemeChange, MemeSource
from chat.media.outside_addresses import URL_CHARACTERS
from chat.store.messages.kept_messages import MentionFilter

routes = Routes(policy=Policy.USER_ONLY)

PAGE_MAXIMUM: Final = 100
PAGE_DEFAULT: Final = 25

ALT_TEXT_LENGTH: Final = 500
TAG_LENGTH: Final = 30
TAGS: Final = 10
EMBEDS: Final = 100

Limit = Annotated[int, Range(1, PAGE_MAXIMUM)]


@frozen
class ListMentions:
    """The query of the list of mentions: those before a message; with those that name a role of the caller's or
    everyone, and those in guilds; in one guild alone."""

    limit: Limit = PAGE_DEFAULT
    before: Snowflake | None = None
    roles: bool = True
    everyone: bool = True
    guilds: bool = True
    guild_id: Snowflake | None = None


@frozen
class ReadMentions:
    """Messages to take off the list of mentions; without any, all."""

    message_ids: Annotated[list[Snowflake], Items(1, PAGE_MAXIMUM)] | None = None


@frozen
class ListSavedMessages:
    """The query of the list of saved messages: those saved before another, by the entry's `id`."""

    limit: Limit = PAGE_DEFAULT
    before: Snowflake | None = None


@frozen
class SaveMessage:
    """A message to keep."""

    channel_id: Snowflake
    message_id: Snowflake


@routes.operation("GET", "/v1/users/@me/mentions", bucket=buckets.MENTIONS)
async def list_mentions(
    request: Request, messages: MessagesArea, query: ListMentions
) -> Annotated[list[wire.Message], wire.items(100)]:
    """Messages of the last seven days that mention the caller, newest first."""
    sought = MentionFilter(roles=query.roles, everyone=query.everyone, guilds=query.guilds, guild_id=query.guild_id)
    if query.before is not None:
        sought = attrs.evolve(sought, before=query.before)
    return await messages.recent_mentions.list(request.principal, sought, query.limit)


@routes.operation("POST", "/v1/users/@me/mentions/read", bucket=buckets.MENTIONS_CHANGE)
async def read_mentions(request: Request, messages: MessagesArea, body: ReadMentions) -> None:
    """Take messages off the list of mentions, or all."""
    mentions = messages.recent_mentions
    if body.message_ids is None:
        await mentions.dismiss_all(request.principal)
    else:
        await mentions.dismiss(request.principal, body.message_ids)


@routes.operation("DELETE", "/v1/users/@me/mentions/{message_id}", bucket=buckets.MENTIONS_CHANGE)
async def delete_mention(request: Request, messages: MessagesArea, message_id: int) -> None:
    """Take one message off the list of mentions."""
    await messages.recent_mentions.dismiss(request.principal, [message_id])


@routes.operation(
    "GET",
    "/v1/users/@me/saved-messages",
    bucket=buckets.SAVED_MESSAGES,
)
async def list_saved_messages(
    request: Request, messages: MessagesArea, query: ListSavedMessages
) -> Annotated[list[wire.SavedMessage], wire.items(100)]:
    """The messages that the caller keeps, the last one saved first."""
    return await messages.saved_messages.list(request.principal, query.limit, query.before)


@routes.operation("POST", "/v1/users/@me/saved-messages", bucket=buckets.SAVED_MESSAGES_CHANGE)
async def save_message(request: Request, messages: MessagesArea, body: SaveMessage) -> None:
    """Keep a message."""
    await messages.saved_messages.save(request.principal, body.channel_id, body.message_id)


@routes.operation("DELETE", "/v1/users/@me/saved-messages/{message_id}", bucket=buckets.SAVED_MESSAGES_CHANGE)
async def forget_saved_message(request: Request, messages: MessagesArea, message_id: int) -> None:
    """Keep a message no longer."""
    await messages.saved_messages.forget(request.principal, message_id)


Name = Annotated[str, Length(1, NAME_LENGTH)]
AltText = Annotated[str, Length(1, ALT_TEXT_LENGTH)]
Tags = Annotated[list[Annotated[str, Length(1, TAG_LENGTH)]], Items(0, TAGS)]


@frozen(kw_only=True)
class MemeWords:
    """What the bodies that keep a meme say of it."""

    name: Name | None = None
    alt_text: AltText | None = None
    tags: Tags | None = None


@frozen(kw_only=True)
class KeepMeme(MemeWords):
    """Which part of a message to keep, and the words for it."""

    attachment_id: Snowflake | None = None
    embed_index: Annotated[int, Range(0, EMBEDS)] | None = None


@frozen(kw_only=True)
class FetchMeme(MemeWords):
    """The URL of a file, and the words for it."""

    url: Annotated[str, Length(1, URL_CHARACTERS)]


@frozen(kw_only=True)
class ChangeMeme:
    """Other words; what is absent stays, and a null text or null tags are none."""

    name: Name | None = None
    alt_text: Maybe[AltText | None] = OMITTED
    tags: Maybe[Tags | None] = OMITTED


@routes.operation("GET", "/v1/users/@me/memes", bucket=buckets.MEMES)
async def list_memes(request: Request, messages: MessagesArea) -> list[wire.FavoriteMeme]:
    """The caller's favourite memes, the oldest first."""
    return messages.favorite_memes.of_user(request.principal.user_id)


@routes.operation("POST", "/v1/users/@me/memes", bucket=buckets.MEMES_FETCH)
async def fetch_meme(request: Request, messages: MessagesArea, body: FetchMeme) -> wire.FavoriteMeme:
    """Keep a file from elsewhere on the web."""
    return await messages.favorite_memes.fetch(request.principal, body.url, _words(body))


@routes.operation("POST", "/v1/channels/{channel_id}/messages/{message_id}/memes", bucket=buckets.MEMES_FETCH)
async def keep_meme(
    request: Request, messages: MessagesArea, channel_id: int, message_id: int, body: KeepMeme
) -> wire.FavoriteMeme:
    """Keep a file or an embed's media of a message."""
    source = MemeSource(channel_id, message_id, body.attachment_id, body.embed_index)
    return await messages.favorite_memes.keep(request.principal, source, _words(body))


@routes.operation("GET", "/v1/users/@me/memes/{meme_id}", bucket=buckets.MEMES)
async def get_meme(request: Request, messages: MessagesArea, meme_id: int) -> wire.FavoriteMeme:
    """One of the caller's favourite memes."""
    return messages.favorite_memes.get(request.principal.user_id, meme_id)


@routes.operation("PATCH", "/v1/users/@me/memes/{meme_id}", bucket=buckets.MEMES_CHANGE)
async def change_meme(request: Request, messages: MessagesArea, meme_id: int, body: ChangeMeme) -> wire.FavoriteMeme:
    """Change the words of a favourite meme."""
    words = MemeChange(
        body.name,
        None if body.alt_text is OMITTED else body.alt_text or "",
        None if body.tags is OMITTED else _distinct(body.tags or []),
    )
    return await messages.favorite_memes.change(request.principal, meme_id, words)


@routes.operation("DELETE", "/v1/users/@me/memes/{meme_id}", bucket=buckets.MEMES_CHANGE)
async def delete_meme(request: Request, messages: MessagesArea, meme_id: int) -> None:
    """Keep a favourite meme no longer."""
    await messages.favorite_memes.delete(request.principal, meme_id)


def _words(body: MemeWords) -> MemeChange:
    return MemeChange(body.name, body.alt_text, _distinct(body.tags))


def _distinct(tags: list[str] | None) -> tuple[str, ...] | None:
    return None if tags is None else tuple(dict.fromkeys(tags))
