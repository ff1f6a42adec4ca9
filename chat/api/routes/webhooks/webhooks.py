"""Webhooks (webhooks.md, Webhooks of channels), and announcement channels, which are published and followed (guilds.md,
Guild features).

Below `/v1/webhooks/{webhook_id}/{token}` the URL is the credential: Authorization is not looked at, neither for better
nor for worse (access.md, Secret addresses).
"""

from __future__ import annotations

from typing import Annotated, Final

import attrs

from chat import wire
from chat.api import buckets
from chat.api.fields import OMITTED, Exact, Length, Maybe, Snowflake
from chat.api.message_bodies import CreateMessage, EditMessage, message_draft, received_edit, received_message
from chat.api.operation import Bucket, Policy, Request, Routes
from chat.api.schemas.shapes import NOTHING
from chat.api.thread_bodies import AppliedTags
from chat.classes import frozen
from chat.domain.interactions.answers import OpenInteraction
from chat.domain.interactions.assemble import InteractionsArea
from chat.domain.messages.assemble import MessagesArea
from chat.domain.messages.uploads import Owner
from chat.domain.threads.threads import NewThread
from chat.domain.webhooks.assemble import WebhooksArea
from chat.domain.webhooks.webhooks import Disguise, WebhookChange, WebhookPlace
from chat.errors import ApiError, InvalidFormBody
from chat.registries.error_codes import ErrorCode, FieldCode

routes = Routes()

CREATE: Final = Bucket("webhook:create::channel_id", 10, 10_000)
LIST_OF_CHANNEL: Final = Bucket("webhook:list:channel::channel_id", 40, 10_000)
LIST_OF_GUILD: Final = Bucket("webhook:list:guild::guild_id", 40, 10_000)
READ: Final = Bucket("webhook:read::webhook_id", 100, 10_000)
CHANGE: Final = Bucket("webhook:change::webhook_id", 20, 10_000)

READ_BY_TOKEN: Final = Bucket("webhook:token:read::webhook_id", 100, 10_000, told_to_everyone=True)
CHANGE_BY_TOKEN: Final = Bucket("webhook:token:change::webhook_id", 20, 10_000, told_to_everyone=True)
EXECUTE: Final = Bucket("webhook:execute::webhook_id", 30, 10_000, exempt_from_global=True, told_to_everyone=True)
MESSAGE_READ: Final = Bucket(
    "webhook:message:read::webhook_id", 100, 10_000, exempt_from_global=True, told_to_everyone=True
)
MESSAGE_CHANGE: Final = Bucket(
    "webhook:message:change::webhook_id", 30, 10_000, exempt_from_global=True, told_to_everyone=True
)

DRAFT_CHARACTERS: Final = 256
"""A longer name is refused before it is looked at; the domain knows the limit."""

ADDRESS_CHARACTERS: Final = 2_048
THREAD_NAME_CHARACTERS: Final = 100

IMAGE_CHARACTERS: Final = 139_810_136
"""Base64 of 100 MiB (media.md, Image intake); what it decodes to has the instance's own limit."""

Image = Annotated[str, Exact(), Length(0, IMAGE_CHARACTERS)]
Name = Annotated[str, Length(0, DRAFT_CHARACTERS, FieldCode.WEBHOOK_NAME_LENGTH_INVALID)]


@frozen
class CreateWebhook:
    """A webhook to be."""

    name: Name
    avatar: Image | None = attrs.field(default=None, repr=False)


@frozen
class ChangeWebhook:
    """Changes to a webhook; an avatar of null takes it away."""

    name: Name | None = None
    avatar: Maybe[Image | None] = attrs.field(default=OMITTED, repr=False)
    channel_id: Snowflake | None = None


@frozen
class ExecuteWebhook(CreateMessage):
    """A message, and the name and avatar to show in place of the webhook's own; for a forum, the name and the tags of
    the post that it begins."""

    username: Name | None = None
    avatar_url: Annotated[str, Length(0, ADDRESS_CHARACTERS)] | None = None
    thread_name: Annotated[str, Length(0, THREAD_NAME_CHARACTERS)] | None = None
    applied_tags: AppliedTags | None = None


@frozen
class InThread:
    """The query of what is done in a thread of the webhook's channel."""

    thread_id: Snowflake | None = None


@frozen
class Execution(InThread):
    """The query of an execution: `wait` asks for the message."""

    wait: bool = False


# By those who manage webhooks


@routes.operation(
    "POST",
    "/v1/channels/{channel_id}/webhooks",
    policy=Policy.USER,
    bucket=CREATE,
    closed_to_limited=True,
    images=True,
    secret=True,
)
async def create_webhook(
    request: Request, webhooks: WebhooksArea, channel_id: int, body: CreateWebhook
) -> wire.Webhook:
    """Make a webhook."""
    return await webhooks.webhooks.create(
        request.principal, channel_id, body.name, body.avatar, request.audit_log_reason
    )


@routes.operation(
    "GET",
    "/v1/channels/{channel_id}/webhooks",
    policy=Policy.USER,
    bucket=LIST_OF_CHANNEL,
    secret=True,
)
async def list_channel_webhooks(request: Request, webhooks: WebhooksArea, channel_id: int) -> list[wire.Webhook]:
    """The webhooks of a channel."""
    return await webhooks.webhooks.of_channel(request.principal, channel_id)


@routes.operation(
    "GET",
    "/v1/guilds/{guild_id}/webhooks",
    policy=Policy.USER,
    bucket=LIST_OF_GUILD,
    secret=True,
)
async def list_guild_webhooks(request: Request, webhooks: WebhooksArea, guild_id: int) -> list[wire.Webhook]:
    """The webhooks of a guild."""
    return await webhooks.webhooks.of_guild(request.principal, guild_id)


@routes.operation("GET", "/v1/webhooks/{webhook_id}", policy=Policy.USER, bucket=READ, secret=True)
async def get_webhook(request: Request, webhooks: WebhooksArea, webhook_id: int) -> wire.Webhook:
    """One webhook."""
    return webhooks.webhooks.get(request.principal, webhook_id)


@routes.operation("PATCH", "/v1/webhooks/{webhook_id}", policy=Policy.USER, bucket=CHANGE, images=True, secret=True)
async def change_webhook(
    request: Request, webhooks: WebhooksArea, webhook_id: int, body: ChangeWebhook
) -> wire.Webhook:
    """Change a webhook."""
    return await webhooks.webhooks.change(request.principal, webhook_id, _change(body), request.audit_log_reason)


@routes.operation("DELETE", "/v1/webhooks/{webhook_id}", policy=Policy.USER, bucket=CHANGE)
async def delete_webhook(request: Request, webhooks: WebhooksArea, webhook_id: int) -> None:
    """Delete a webhook."""
    await webhooks.webhooks.delete(request.principal, webhook_id, request.audit_log_reason)


# By the token


@routes.operation("GET", "/v1/webhooks/{webhook_id}/{token}", policy=Policy.URL, bucket=READ_BY_TOKEN, secret=True)
async def get_webhook_by_token(request: Request, area: WebhooksArea, webhook_id: int, token: str) -> wire.Webhook:
    """What the webhook sees of itself."""
    return area.webhooks.get_by_token(area.webhooks.identified(webhook_id, token, guard=request.guard))


@routes.operation(
    "PATCH",
    "/v1/webhooks/{webhook_id}/{token}",
    policy=Policy.URL,
    bucket=CHANGE_BY_TOKEN,
    secret=True,
)
async def change_webhook_by_token(
    request: Request, area: WebhooksArea, webhook_id: int, token: str, body: ChangeWebhook
) -> wire.Webhook:
    """Change name or avatar."""
    return await area.webhooks.change_by_token(
        area.webhooks.identified(webhook_id, token, guard=request.guard), _change(body), request.guard
    )


@routes.operation("DELETE", "/v1/webhooks/{webhook_id}/{token}", policy=Policy.URL, bucket=CHANGE_BY_TOKEN)
async def delete_webhook_by_token(request: Request, area: WebhooksArea, webhook_id: int, token: str) -> None:
    """Delete the webhook."""
    await area.webhooks.delete_by_token(area.webhooks.identified(webhook_id, token, guard=request.guard), request.guard)


@routes.operation(
    "POST",
    "/v1/webhooks/{webhook_id}/{token}",
    policy=Policy.URL,
    bucket=EXECUTE,
    body=ExecuteWebhook,
    multipart=True,
    empty_strings_are_null=False,
    answers=lambda: {200: wire.Message, 204: NOTHING},
)
async def execute_webhook(
    request: Request,
    messages: MessagesArea,
    area: WebhooksArea,
    interactions: InteractionsArea,
    webhook_id: int,
    token: str,
    query: Execution,
    body: ExecuteWebhook | None,
) -> wire.Message | None:
    """Send a message; with the token of an interaction, a further answer to it."""
    uploads = messages.uploads
    told = await interactions.answers.further(webhook_id, token, guard=request.guard)
    if told is not None:
        owner = uploads.webhook_owner(told.bot.id, told.access.channel.id, request.guard)
        async with received_message(request, owner, ExecuteWebhook, body, uploads) as (message, attachments):
            return await interactions.answers.follow_up(told, message_draft(message, attachments), request.guard)
    webhook = area.webhooks.identified(webhook_id, token, guard=request.guard)
    channel_id = area.webhooks.place_of(webhook, query.thread_id).channel.id
    owner = uploads.webhook_owner(webhook.user_id, channel_id, request.guard)
    async with received_message(request, owner, ExecuteWebhook, body, uploads) as (message, attachments):
        if message.message_reference is not None:
            raise InvalidFormBody.at("message_reference", FieldCode.INVALID_FORMAT)  # its author may read nothing here
        disguise = Disguise(message.username or None, message.avatar_url or None)
        place = WebhookPlace(query.thread_id, _post(message))
        sent = await area.webhooks.execute(webhook, message_draft(message, attachments), disguise, place, request.guard)
    return sent if query.wait else None


def _post(body: ExecuteWebhook) -> NewThread | None:
    if not body.thread_name:
        return None
    return NewThread(body.thread_name, applied_tags=tuple(dict.fromkeys(body.applied_tags or ())))


@routes.operation(
    "GET",
    "/v1/webhooks/{webhook_id}/{token}/messages/{message_id}",
    policy=Policy.URL,
    bucket=MESSAGE_READ,
)
async def get_webhook_message(
    request: Request,
    area: WebhooksArea,
    interactions: InteractionsArea,
    webhook_id: int,
    token: str,
    message_id: int,
    query: InThread,
) -> wire.Message:
    """One of the webhook's messages, or of the answers to an interaction."""
    told = await interactions.answers.further(webhook_id, token, guard=request.guard)
    if told is not None:
        return await interactions.answers.message(told, message_id)
    return await area.webhooks.message(
        area.webhooks.identified(webhook_id, token, guard=request.guard), message_id, query.thread_id
    )


@routes.operation(
    "PATCH",
    "/v1/webhooks/{webhook_id}/{token}/messages/{message_id}",
    policy=Policy.URL,
    bucket=MESSAGE_CHANGE,
    body=EditMessage,
    multipart=True,
    empty_strings_are_null=False,
)
async def edit_webhook_message(
    request: Request,
    messages: MessagesArea,
    area: WebhooksArea,
    interactions: InteractionsArea,
    webhook_id: int,
    token: str,
    message_id: int,
    query: InThread,
    body: EditMessage | None,
) -> wire.Message:
    """Change one of the webhook's messages, or of the answers to an interaction."""
    uploads = messages.uploads
    told = await interactions.answers.further(webhook_id, token, guard=request.guard)
    if told is not None:
        return await _edit_answer(request, messages, interactions, told, message_id, body)
    webhook = area.webhooks.identified(webhook_id, token, guard=request.guard)
    place = area.webhooks.place_of(webhook, query.thread_id)

    def owner() -> Owner:
        return uploads.webhook_owner(webhook.user_id, place.channel.id, request.guard)

    async with received_edit(request, owner, body, uploads) as edit:
        return await area.webhooks.edit_message(webhook, message_id, edit, query.thread_id, request.guard)


@routes.operation(
    "DELETE", "/v1/webhooks/{webhook_id}/{token}/messages/{message_id}", policy=Policy.URL, bucket=MESSAGE_CHANGE
)
async def delete_webhook_message(
    request: Request,
    area: WebhooksArea,
    interactions: InteractionsArea,
    webhook_id: int,
    token: str,
    message_id: int,
    query: InThread,
) -> None:
    """Delete one of the webhook's messages, or of the answers to an interaction."""
    told = await interactions.answers.further(webhook_id, token, guard=request.guard)
    if told is not None:
        await interactions.answers.delete(told, message_id, request.guard)
        return
    webhook = area.webhooks.identified(webhook_id, token, guard=request.guard)
    await area.webhooks.delete_message(webhook, message_id, query.thread_id, request.guard)


# The original answer to an interaction

ORIGINAL: Final = "/v1/webhooks/{webhook_id}/{token}/messages/@original"


@routes.operation("GET", ORIGINAL, policy=Policy.URL, bucket=MESSAGE_READ)
async def get_original_answer(
    request: Request, interactions: InteractionsArea, webhook_id: int, token: str
) -> wire.Message:
    """The first answer to an interaction; `webhook_id` is the application."""
    told = await _told(request, interactions, webhook_id, token)
    return await interactions.answers.message(told, interactions.answers.original_of(told))


@routes.operation(
    "PATCH",
    ORIGINAL,
    policy=Policy.URL,
    bucket=MESSAGE_CHANGE,
    body=EditMessage,
    multipart=True,
    empty_strings_are_null=False,
)
async def edit_original_answer(
    request: Request,
    messages: MessagesArea,
    interactions: InteractionsArea,
    webhook_id: int,
    token: str,
    body: EditMessage | None,
) -> wire.Message:
    """Change the first answer to an interaction; what comes later is filled in."""
    told = await _told(request, interactions, webhook_id, token)
    return await _edit_answer(request, messages, interactions, told, interactions.answers.original_of(told), body)


@routes.operation("DELETE", ORIGINAL, policy=Policy.URL, bucket=MESSAGE_CHANGE)
async def delete_original_answer(request: Request, interactions: InteractionsArea, webhook_id: int, token: str) -> None:
    """Delete the first answer to an interaction."""
    told = await _told(request, interactions, webhook_id, token)
    await interactions.answers.delete(told, interactions.answers.original_of(told), request.guard)


async def _told(request: Request, interactions: InteractionsArea, webhook_id: int, token: str) -> OpenInteraction:
    told = await interactions.answers.further(webhook_id, token, guard=request.guard)
    if told is None:
        raise ApiError(ErrorCode.UNKNOWN_WEBHOOK)
    return told


async def _edit_answer(
    request: Request,
    messages: MessagesArea,
    interactions: InteractionsArea,
    told: OpenInteraction,
    message_id: int,
    body: EditMessage | None,
) -> wire.Message:
    uploads = messages.uploads

    def owner() -> Owner:
        return uploads.webhook_owner(told.bot.id, told.access.channel.id, request.guard)

    async with received_edit(request, owner, body, uploads) as edit:
        return await interactions.answers.edit(told, message_id, edit, request.guard)


def _change(body: ChangeWebhook) -> WebhookChange:
    avatar = None if body.avatar is OMITTED else body.avatar or ""
    return WebhookChange(body.name, avatar, body.channel_id)


@frozen
class FollowChannel:
    """The channel that is to follow."""

    webhook_channel_id: Snowflake


@routes.operation(
    "POST",
    "/v1/channels/{channel_id}/messages/{message_id}/crosspost",
    policy=Policy.USER,
    bucket=buckets.CROSSPOST,
)
async def crosspost_message(request: Request, webhooks: WebhooksArea, channel_id: int, message_id: int) -> wire.Message:
    """Publish a message of an announcement channel."""
    return await webhooks.announcements.crosspost(request.principal, channel_id, message_id)


@routes.operation(
    "POST",
    "/v1/channels/{channel_id}/followers",
    policy=Policy.USER,
    bucket=buckets.FOLLOW,
    closed_to_limited=True,
)
async def follow_channel(
    request: Request, webhooks: WebhooksArea, channel_id: int, body: FollowChannel
) -> wire.FollowedChannel:
    """Have what is published in an announcement channel brought to another channel."""
    return await webhooks.announcements.follow(
        request.principal, channel_id, body.webhook_channel_id, request.audit_log_reason
    )
