"""Webhooks executed in the way of other services: GitHub, Slack, Instatus (webhooks.md, Dialects).

The address is the credential, as for every execution.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Annotated, Any, Final

import attrs

from chat.api.answers import Answer, Streamed
from chat.api.fields import Items, Length
from chat.api.operation import Bucket, Policy, Request, Routes
from chat.api.routes.webhooks.webhooks import EXECUTE, InThread, Name
from chat.api.schemas.shapes import binary
from chat.classes import frozen
from chat.domain.core import Core
from chat.domain.messages.message_drafts import AllowedMentions, MessageDraft
from chat.domain.webhooks.assemble import WebhooksArea
from chat.domain.webhooks.built_embeds import Embed, address, fitting
from chat.domain.webhooks.webhook_dialects import github_embed, instatus_embed, slack_content, slack_embeds
from chat.domain.webhooks.webhooks import Disguise, Place
from chat.errors import ApiError
from chat.registries.error_codes import ErrorCode
from chat.store.webhooks.webhooks import Webhook

routes = Routes(policy=Policy.URL)

GITHUB: Final = Bucket("webhook:github::webhook_id", 30, 10_000, exempt_from_global=True, told_to_everyone=True)
INSTATUS: Final = Bucket("webhook:instatus::webhook_id", 30, 10_000, exempt_from_global=True, told_to_everyone=True)

GITHUB_EVENT: Final = "x-github-event"

COMMITS: Final = 10_000
SLACK_ATTACHMENTS: Final = 100
"""More are refused before they are looked at; the limits of a message hold besides."""

TEXT_CHARACTERS: Final = 40_000
OK: Final = b"ok"
"""What Slack answers, in plain text; programs written for it compare with that."""

Told = dict[str, Any]


@frozen(kw_only=True)
class GithubDelivery:
    """What GitHub tells of an event, as far as anything of it is shown."""

    action: str | None = None
    after: str | None = None
    answer: Told | None = None
    check_run: Told | None = None
    check_suite: Told | None = None
    comment: Told | None = None
    commits: Annotated[list[Told], Items(0, COMMITS)] | None = None
    compare: str | None = None
    deleted: bool | None = None
    discussion: Told | None = None
    forced: bool | None = None
    forkee: Told | None = None
    issue: Told | None = None
    member: Told | None = None
    pull_request: Told | None = None
    ref: str | None = None
    ref_type: str | None = None
    release: Told | None = None
    repository: Told | None = None
    review: Told | None = None
    sender: Told | None = None


@frozen(kw_only=True)
class SlackMessage:
    """A message in Slack's form; what only Slack knows (`channel`, `icon_emoji`, `mrkdwn`) is ignored."""

    text: Annotated[str, Length(0, TEXT_CHARACTERS)] | None = None
    username: Name | None = None
    icon_url: str | None = None
    attachments: Annotated[list[Told], Items(0, SLACK_ATTACHMENTS)] | None = None


@frozen(kw_only=True)
class InstatusNotice:
    """What a status page tells."""

    page: Told | None = None
    incident: Told | None = None
    maintenance: Told | None = None
    component: Told | None = None
    component_update: Told | None = None


@routes.operation("POST", "/v1/webhooks/{webhook_id}/{token}/github", bucket=GITHUB, empty_strings_are_null=False)
async def execute_github_webhook(
    request: Request, webhooks: WebhooksArea, webhook_id: int, token: str, query: InThread, body: GithubDelivery
) -> None:
    """Show an event of GitHub, if it is one that people watch."""
    webhook, event = (
        webhooks.webhooks.identified(webhook_id, token, guard=request.guard),
        request.headers.get(GITHUB_EVENT),
    )
    if event is None:
        raise ApiError(ErrorCode.BAD_REQUEST)
    await _show(request, webhook, query, github_embed(event, _members(body)), webhooks=webhooks)


@routes.operation("POST", "/v1/webhooks/{webhook_id}/{token}/instatus", bucket=INSTATUS, empty_strings_are_null=False)
async def execute_instatus_webhook(
    request: Request, webhooks: WebhooksArea, webhook_id: int, token: str, query: InThread, body: InstatusNotice
) -> None:
    """Show what a status page tells."""
    webhook = webhooks.webhooks.identified(webhook_id, token, guard=request.guard)
    await _show(request, webhook, query, instatus_embed(_members(body)), webhooks=webhooks)


@routes.operation(
    "POST",
    "/v1/webhooks/{webhook_id}/{token}/slack",
    bucket=EXECUTE,
    empty_strings_are_null=False,
    answers={200: binary("text/plain")},
)
async def execute_slack_webhook(
    request: Request, core: Core, area: WebhooksArea, webhook_id: int, token: str, query: InThread, body: SlackMessage
) -> Answer:
    """Send a message in Slack's form."""
    webhook = area.webhooks.identified(webhook_id, token, guard=request.guard)
    message = _members(body)
    draft = MessageDraft(
        content=slack_content(message), embeds=slack_embeds(message, core.settings.limits.max_embeds_per_message)
    )
    disguise = Disguise(body.username or None, address(body.icon_url or ""))
    await area.webhooks.execute(webhook, draft, disguise, Place(query.thread_id), request.guard)
    return Streamed(200, headers={"Content-Type": "text/plain; charset=utf-8"}, pieces=_ok, length=len(OK))


async def _ok() -> AsyncGenerator[bytes, None]:
    yield OK


async def _show(
    request: Request, webhook: Webhook, query: InThread, embed: Embed | None, *, webhooks: WebhooksArea
) -> None:
    """Send a message of this embed, without notifications."""
    if embed is not None:
        draft = MessageDraft(embeds=fitting([embed], 1), allowed_mentions=AllowedMentions())
        await webhooks.webhooks.execute(webhook, draft, Disguise(), Place(query.thread_id), request.guard)


def _members(body: attrs.AttrsInstance) -> dict[str, Any]:
    return {field.name: getattr(body, field.name) for field in attrs.fields(type(body))}
