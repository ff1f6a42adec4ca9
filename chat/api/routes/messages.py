"""Operations on messages (wire facts 5.3, appendices A, D and E.2)."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

import attrs

from chat.api.fields import Items, Range, Refusal, Snowflake
from chat.api.operation import Bucket, Policy, Request, Routes
from chat.domain.message_drafts import ALL_MENTIONS, AllowedMentions, MessageDraft, MessageEdit, ReplyTo
from chat.domain.message_reading import Page
from chat.errors import FieldError, InvalidFormBody

routes = Routes()

NONCE_CHARACTERS: Final = 32
ALLOWED_MENTION_IDS: Final = 100
FLAGS_MAXIMUM: Final = (1 << 53) - 1
MENTION_COUNT_MAXIMUM: Final = (1 << 31) - 1


class _Nonce:
    """Text of up to 32 characters, or an integer, which counts as its decimal digits."""

    def read(self, value: object) -> str:
        if type(value) is int:
            return str(value)
        if type(value) is not str:
            raise Refusal
        if len(value) > NONCE_CHARACTERS:
            raise Refusal("CONTENT_EXCEEDS_MAX_LENGTH")
        return value


Ids = Annotated[list[Snowflake], Items(0, ALLOWED_MENTION_IDS)]


@attrs.frozen
class AllowedMentionsBody:
    """Which mentions shall count."""

    parse: list[Literal["users", "roles", "everyone"]] = attrs.field(factory=list)
    users: Ids = attrs.field(factory=list)
    roles: Ids = attrs.field(factory=list)
    replied_user: bool = False


@attrs.frozen
class MessageReferenceBody:
    """The message that is answered. Forwarding (type 1) is not taken yet."""

    message_id: Snowflake
    channel_id: Snowflake | None = None
    guild_id: Snowflake | None = None
    type: Literal[0] = 0
    fail_if_not_exists: bool = True


@attrs.frozen
class CreateMessage:
    """The body of a message to be. Embeds, files and stickers are not taken yet: their lists must be empty."""

    content: str = ""
    nonce: Annotated[str, _Nonce()] | None = None
    tts: bool = False
    flags: Annotated[int, Range(0, FLAGS_MAXIMUM)] = 0
    message_reference: MessageReferenceBody | None = None
    allowed_mentions: AllowedMentionsBody | None = None
    embeds: list[Any] = attrs.field(factory=list)
    attachments: list[Any] = attrs.field(factory=list)
    sticker_ids: list[Any] = attrs.field(factory=list)
    favorite_meme_id: Snowflake | None = None


@attrs.frozen
class EditMessage:
    """Changes to a message; what is absent or null stays."""

    content: str | None = None
    flags: Annotated[int, Range(0, FLAGS_MAXIMUM)] | None = None
    allowed_mentions: AllowedMentionsBody | None = None
    embeds: list[Any] = attrs.field(factory=list)
    attachments: list[Any] = attrs.field(factory=list)


@attrs.frozen
class ListMessages:
    """The query of the message list."""

    before: Snowflake | None = None
    after: Snowflake | None = None
    around: Snowflake | None = None
    limit: Annotated[int, Range(1, 100)] = 50


@attrs.frozen
class AcknowledgeMessage:
    """How many mentions are left unread, and whether the place was chosen by hand."""

    mention_count: Annotated[int, Range(0, MENTION_COUNT_MAXIMUM)] = 0
    manual: bool = False


@routes.operation(
    "GET",
    "/v1/channels/{channel_id}/messages",
    policy=Policy.USER,
    bucket=Bucket("channel:message:list::channel_id", limit=100, window_ms=10_000),
    query=ListMessages,
)
async def list_messages(request: Request, channel_id: int, query: ListMessages) -> object:
    """Messages of a channel, newest first."""
    if query.before is not None and query.after is not None:
        raise InvalidFormBody.at("before", "CANNOT_SPECIFY_BOTH_BEFORE_AND_AFTER")
    page = Page(query.limit, query.before, query.after, query.around)
    return await request.services.messages.of_channel(request.principal, channel_id, page)


@routes.operation(
    "POST",
    "/v1/channels/{channel_id}/messages",
    policy=Policy.USER,
    bucket=Bucket("channel:message:create::channel_id", limit=10, window_ms=10_000),
    body=CreateMessage,
    empty_strings_are_null=False,
)
async def create_message(request: Request, channel_id: int, body: CreateMessage) -> object:
    """Send a message."""
    _refuse_parts_not_taken(
        embeds=body.embeds,
        attachments=body.attachments,
        sticker_ids=body.sticker_ids,
        favorite_meme_id=body.favorite_meme_id,
    )
    reference = body.message_reference
    draft = MessageDraft(
        content=body.content,
        nonce=body.nonce or None,
        tts=body.tts,
        flags=body.flags,
        reply_to=None
        if reference is None
        else ReplyTo(reference.message_id, reference.channel_id, reference.fail_if_not_exists),
        allowed_mentions=_allowed_mentions(body.allowed_mentions),
    )
    return await request.services.messages.create(request.principal, channel_id, draft)


@routes.operation(
    "GET",
    "/v1/channels/{channel_id}/messages/{message_id}",
    policy=Policy.USER,
    bucket=Bucket("channel:message:read::channel_id", limit=100, window_ms=10_000),
)
async def get_message(request: Request, channel_id: int, message_id: int) -> object:
    """One message."""
    return await request.services.messages.get(request.principal, channel_id, message_id)


@routes.operation(
    "PATCH",
    "/v1/channels/{channel_id}/messages/{message_id}",
    policy=Policy.USER,
    bucket=Bucket("channel:message:update::channel_id", limit=20, window_ms=10_000),
    body=EditMessage,
    empty_strings_are_null=False,
)
async def edit_message(request: Request, channel_id: int, message_id: int, body: EditMessage) -> object:
    """Change one's own message."""
    _refuse_parts_not_taken(embeds=body.embeds, attachments=body.attachments)
    edit = MessageEdit(body.content, body.flags, _allowed_mentions(body.allowed_mentions))
    return await request.services.messages.edit(request.principal, channel_id, message_id, edit)


@routes.operation(
    "DELETE",
    "/v1/channels/{channel_id}/messages/{message_id}",
    policy=Policy.USER,
    bucket=Bucket("channel:message:delete::channel_id", limit=20, window_ms=10_000),
)
async def delete_message(request: Request, channel_id: int, message_id: int) -> None:
    """Delete a message."""
    await request.services.messages.delete(request.principal, channel_id, message_id)


@routes.operation(
    "POST",
    "/v1/channels/{channel_id}/messages/{message_id}/ack",
    policy=Policy.USER_ONLY,
    bucket=Bucket("channel:message:ack::channel_id", limit=100, window_ms=10_000),
    body=AcknowledgeMessage,
)
async def acknowledge_message(request: Request, channel_id: int, message_id: int, body: AcknowledgeMessage) -> None:
    """Note how far the caller has read."""
    await request.services.messages.acknowledge(
        request.principal, channel_id, message_id, mention_count=body.mention_count, manual=body.manual
    )


@routes.operation(
    "DELETE",
    "/v1/channels/{channel_id}/messages/ack",
    policy=Policy.USER_ONLY,
    bucket=Bucket("channel:message:ack::channel_id", limit=100, window_ms=10_000),
)
async def forget_read_state(request: Request, channel_id: int) -> None:
    """Forget how far the caller has read."""
    await request.services.messages.forget_read_state(request.principal, channel_id)


def _allowed_mentions(body: AllowedMentionsBody | None) -> AllowedMentions:
    if body is None:
        return ALL_MENTIONS
    return AllowedMentions(frozenset(body.parse), frozenset(body.users), frozenset(body.roles), body.replied_user)


def _refuse_parts_not_taken(**parts: object) -> None:
    """Raise InvalidFormBody for parts of a message that would be lost."""
    errors = [FieldError(name, "INVALID_FORMAT") for name, part in parts.items() if part]
    if errors:
        raise InvalidFormBody(errors)
