"""Operations on the lists that accounts keep of messages: mentions and saved messages (messages.md, Kept messages)."""

from __future__ import annotations

from typing import Annotated, Final

import attrs

from chat.api import buckets
from chat.api.fields import Items, Range, Snowflake
from chat.api.operation import Policy, Request, Routes
from chat.api.schemas.messages.messages import MESSAGE
from chat.api.schemas.messages.reading import SAVED_MESSAGE
from chat.api.schemas.shapes import NOTHING, listed
from chat.domain.messages.assemble import MessagesArea
from chat.store.messages.recent_mentions import MentionFilter

routes = Routes()

PAGE_MAXIMUM: Final = 100
PAGE_DEFAULT: Final = 25

Limit = Annotated[int, Range(1, PAGE_MAXIMUM)]


@attrs.frozen
class ListMentions:
    """The query of the list of mentions: those before a message; with those that name the caller by a role, as one of
    everybody, in guilds; in one guild alone."""

    limit: Limit = PAGE_DEFAULT
    before: Snowflake | None = None
    roles: bool = True
    everyone: bool = True
    guilds: bool = True
    guild_id: Snowflake | None = None


@attrs.frozen
class ReadMentions:
    """Messages to take off the list of mentions; without any, all."""

    message_ids: Annotated[list[Snowflake], Items(1, PAGE_MAXIMUM)] | None = None


@attrs.frozen
class ListSavedMessages:
    """The query of the list of saved messages: those saved before another, by the entry's `id`."""

    limit: Limit = PAGE_DEFAULT
    before: Snowflake | None = None


@attrs.frozen
class SaveMessage:
    """A message to keep."""

    channel_id: Snowflake
    message_id: Snowflake


@routes.operation(
    "GET",
    "/v1/users/@me/mentions",
    policy=Policy.USER_ONLY,
    bucket=buckets.MENTIONS,
    query=ListMentions,
    answers=listed(MESSAGE, maximum=PAGE_MAXIMUM),
)
async def list_mentions(request: Request, messages: MessagesArea, query: ListMentions) -> object:
    """Messages of the last seven days that mention the caller, newest first."""
    sought = MentionFilter(roles=query.roles, everyone=query.everyone, guilds=query.guilds, guild_id=query.guild_id)
    if query.before is not None:
        sought = attrs.evolve(sought, before=query.before)
    return await messages.recent_mentions.list(request.principal, sought, query.limit)


@routes.operation(
    "POST",
    "/v1/users/@me/mentions/read",
    policy=Policy.USER_ONLY,
    bucket=buckets.MENTIONS_CHANGE,
    body=ReadMentions,
    answers=NOTHING,
)
async def read_mentions(request: Request, messages: MessagesArea, body: ReadMentions) -> None:
    """Take messages off the list of mentions, or all."""
    mentions = messages.recent_mentions
    if body.message_ids is None:
        await mentions.dismiss_all(request.principal)
    else:
        await mentions.dismiss(request.principal, body.message_ids)


@routes.operation(
    "DELETE",
    "/v1/users/@me/mentions/{message_id}",
    policy=Policy.USER_ONLY,
    bucket=buckets.MENTIONS_CHANGE,
    answers=NOTHING,
)
async def delete_mention(request: Request, messages: MessagesArea, message_id: int) -> None:
    """Take one message off the list of mentions."""
    await messages.recent_mentions.dismiss(request.principal, [message_id])


@routes.operation(
    "GET",
    "/v1/users/@me/saved-messages",
    policy=Policy.USER_ONLY,
    bucket=buckets.SAVED_MESSAGES,
    query=ListSavedMessages,
    answers=listed(SAVED_MESSAGE, maximum=PAGE_MAXIMUM),
)
async def list_saved_messages(request: Request, messages: MessagesArea, query: ListSavedMessages) -> object:
    """The messages that the caller keeps, the last one saved first."""
    return await messages.saved_messages.list(request.principal, query.limit, query.before)


@routes.operation(
    "POST",
    "/v1/users/@me/saved-messages",
    policy=Policy.USER_ONLY,
    bucket=buckets.SAVED_MESSAGES_CHANGE,
    body=SaveMessage,
    answers=NOTHING,
)
async def save_message(request: Request, messages: MessagesArea, body: SaveMessage) -> None:
    """Keep a message."""
    await messages.saved_messages.save(request.principal, body.channel_id, body.message_id)


@routes.operation(
    "DELETE",
    "/v1/users/@me/saved-messages/{message_id}",
    policy=Policy.USER_ONLY,
    bucket=buckets.SAVED_MESSAGES_CHANGE,
    answers=NOTHING,
)
async def forget_saved_message(request: Request, messages: MessagesArea, message_id: int) -> None:
    """Keep a message no longer."""
    await messages.saved_messages.forget(request.principal, message_id)
