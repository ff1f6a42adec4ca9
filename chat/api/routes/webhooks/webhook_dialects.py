"""Webhooks executed in the way of other services: GitHub, GitLab, Slack, and those that watch systems (webhooks.md,
Dialects).

The address is the credential, as for every execution. A body may come as a form, whose field `payload` holds it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Annotated, Any, Final

import attrs

from chat.api.answers import Answer, Streamed
from chat.api.fields import Items
from chat.api.operation import Bucket, Policy, Request, Routes
from chat.api.routes.webhooks.webhooks import EXECUTE, InThread
from chat.api.schemas.shapes import binary
from chat.api.unread_members import ForeignDelivery
from chat.classes import frozen
from chat.domain.core import Core
from chat.domain.messages.message_drafts import AllowedMentions, MessageDraft
from chat.domain.webhooks.assemble import WebhooksArea
from chat.domain.webhooks.built_embeds import Embed, address, fitting, shortened
from chat.domain.webhooks.dialects.alertmanager import alertmanager_embed
from chat.domain.webhooks.dialects.github import github_embed
from chat.domain.webhooks.dialects.gitlab import gitlab_embed
from chat.domain.webhooks.dialects.grafana import grafana_embed
from chat.domain.webhooks.dialects.instatus import instatus_embed
from chat.domain.webhooks.dialects.sentry import sentry_embed
from chat.domain.webhooks.dialects.slack import slack_message
from chat.domain.webhooks.webhooks import NAME_CHARACTERS, Disguise, WebhookPlace
from chat.errors import ApiError
from chat.registries.error_codes import ErrorCode
from chat.store.webhooks.webhooks import Webhook

routes = Routes(policy=Policy.URL, payload_field="payload", empty_strings_are_null=False)


def _bucket(dialect: str) -> Bucket:
    return Bucket(f"webhook:{dialect}::webhook_id", 30, 10_000, exempt_from_global=True, told_to_everyone=True)


GITHUB_EVENT: Final = "x-github-event"
SENTRY_RESOURCE: Final = "sentry-hook-resource"

COMMITS: Final = 10_000
OK: Final = b"ok"
"""What Slack answers, in plain text; programs written for it compare with that."""

Told = dict[str, Any]
"""A part of a stranger's delivery, which is walked."""

Many = Annotated[list[Told], Items(0, COMMITS)]


@frozen(kw_only=True)
class GithubDelivery(ForeignDelivery):
    """What GitHub tells of an event, as far as anything of it is shown."""

    action: str | None = None
    after: str | None = None
    alert: Told | None = None
    answer: Told | None = None
    build: Told | None = None
    check_run: Told | None = None
    check_suite: Told | None = None
    comment: Told | None = None
    commit: Told | None = None
    commits: Many | None = None
    compare: str | None = None
    context: str | None = None
    deleted: bool | None = None
    deployment: Told | None = None
    deployment_status: Told | None = None
    description: str | None = None
    discussion: Told | None = None
    forced: bool | None = None
    forkee: Told | None = None
    invitation: Told | None = None
    issue: Told | None = None
    member: Told | None = None
    membership: Told | None = None
    milestone: Told | None = None
    organization: Told | None = None
    package: Told | None = None
    pages: Many | None = None
    pull_request: Told | None = None
    ref: str | None = None
    ref_type: str | None = None
    registry_package: Told | None = None
    release: Told | None = None
    repository: Told | None = None
    review: Told | None = None
    sender: Told | None = None
    sha: str | None = None
    sponsorship: Told | None = None
    state: str | None = None
    target_url: str | None = None
    workflow_job: Told | None = None
    workflow_run: Told | None = None


@frozen(kw_only=True)
class GitlabDelivery(ForeignDelivery):
    """What GitLab tells of an event, as far as anything of it is shown."""

    action: str | None = None
    after: str | None = None
    before: str | None = None
    build_failure_reason: str | None = None
    build_id: int | None = None
    build_name: str | None = None
    build_stage: str | None = None
    build_status: str | None = None
    builds: Many | None = None
    commit: Told | None = None
    commit_title: str | None = None
    commits: Many | None = None
    deployable_url: str | None = None
    description: str | None = None
    environment: str | None = None
    environment_external_url: str | None = None
    event_name: str | None = None
    event_type: str | None = None
    group_name: str | None = None
    issue: Told | None = None
    merge_request: Told | None = None
    message: str | None = None
    name: str | None = None
    object_attributes: Told | None = None
    object_kind: str | None = None
    path_with_namespace: str | None = None
    project: Told | None = None
    project_name: str | None = None
    project_path_with_namespace: str | None = None
    ref: str | None = None
    repository: Told | None = None
    snippet: Told | None = None
    status: str | None = None
    total_commits_count: int | None = None
    url: str | None = None
    user: Told | None = None
    user_avatar: str | None = None
    user_name: str | None = None
    user_username: str | None = None


@frozen(kw_only=True)
class SlackMessage(ForeignDelivery):
    """A message in Slack's form, which may be an attachment itself; what only Slack knows (`channel`, `icon_emoji`,
    `mrkdwn`) is ignored."""

    text: str | None = None
    username: str | None = None
    icon_url: str | None = None
    attachments: list[Told] | None = None
    blocks: list[Told] | None = None
    pretext: str | None = None
    color: str | None = None
    fallback: str | None = None
    title: str | None = None
    title_link: str | None = None
    author_name: str | None = None
    author_link: str | None = None
    author_icon: str | None = None
    fields: list[Told] | None = None
    actions: list[Told] | None = None
    image_url: str | None = None
    thumb_url: str | None = None
    footer: str | None = None
    footer_icon: str | None = None
    ts: Any = None


@frozen(kw_only=True)
class InstatusNotice(ForeignDelivery):
    """What a status page tells."""

    page: Told | None = None
    incident: Told | None = None
    maintenance: Told | None = None
    component: Told | None = None
    component_update: Told | None = None


@frozen(kw_only=True)
class AlertNotification(ForeignDelivery):
    """What Alertmanager tells of a group of alerts."""

    status: str | None = None
    alerts: Many | None = None
    groupLabels: Told | None = None  # noqa: N815 - its name
    commonLabels: Told | None = None  # noqa: N815
    commonAnnotations: Told | None = None  # noqa: N815
    externalURL: str | None = None  # noqa: N815
    truncatedAlerts: int | None = None  # noqa: N815


@frozen(kw_only=True)
class GrafanaNotification(AlertNotification):
    """What Grafana tells of a group of alerts, or of a single one before version 8."""

    title: str | None = None
    message: str | None = None
    state: str | None = None
    ruleName: str | None = None  # noqa: N815
    ruleUrl: str | None = None  # noqa: N815
    imageUrl: str | None = None  # noqa: N815
    evalMatches: Many | None = None  # noqa: N815


@frozen(kw_only=True)
class SentryDelivery(ForeignDelivery):
    """What Sentry tells, as an integration or by its older plugin."""

    action: str | None = None
    actor: Told | None = None
    data: Told | None = None
    culprit: str | None = None
    event: Told | None = None
    level: str | None = None
    message: str | None = None
    project: Any = None
    project_name: str | None = None
    project_slug: str | None = None
    triggering_rules: list[str] | None = None
    url: str | None = None


@routes.operation("POST", "/v1/webhooks/{webhook_id}/{token}/github", bucket=_bucket("github"))
async def execute_github_webhook(
    request: Request, webhooks: WebhooksArea, webhook_id: int, token: str, query: InThread, body: GithubDelivery
) -> None:
    """Show an event of GitHub, if it is one that people watch."""
    webhook = webhooks.webhooks.identified(webhook_id, token, guard=request.guard)
    event = request.headers.get(GITHUB_EVENT)
    if event is None:
        raise ApiError(ErrorCode.BAD_REQUEST)
    await _show(request, webhook, query, github_embed(event, _members(body)), webhooks=webhooks)


@routes.operation("POST", "/v1/webhooks/{webhook_id}/{token}/gitlab", bucket=_bucket("gitlab"))
async def execute_gitlab_webhook(
    request: Request, webhooks: WebhooksArea, webhook_id: int, token: str, query: InThread, body: GitlabDelivery
) -> None:
    """Show an event of GitLab, if it is one that people watch."""
    webhook = webhooks.webhooks.identified(webhook_id, token, guard=request.guard)
    await _show(request, webhook, query, gitlab_embed(_members(body)), webhooks=webhooks)


@routes.operation("POST", "/v1/webhooks/{webhook_id}/{token}/instatus", bucket=_bucket("instatus"))
async def execute_instatus_webhook(
    request: Request, webhooks: WebhooksArea, webhook_id: int, token: str, query: InThread, body: InstatusNotice
) -> None:
    """Show what a status page tells."""
    webhook = webhooks.webhooks.identified(webhook_id, token, guard=request.guard)
    await _show(request, webhook, query, instatus_embed(_members(body)), webhooks=webhooks)


@routes.operation("POST", "/v1/webhooks/{webhook_id}/{token}/alertmanager", bucket=_bucket("alertmanager"))
async def execute_alertmanager_webhook(
    request: Request, webhooks: WebhooksArea, webhook_id: int, token: str, query: InThread, body: AlertNotification
) -> None:
    """Show the alerts of an Alertmanager."""
    webhook = webhooks.webhooks.identified(webhook_id, token, guard=request.guard)
    await _show(request, webhook, query, alertmanager_embed(_members(body)), webhooks=webhooks)


@routes.operation("POST", "/v1/webhooks/{webhook_id}/{token}/grafana", bucket=_bucket("grafana"))
async def execute_grafana_webhook(
    request: Request, webhooks: WebhooksArea, webhook_id: int, token: str, query: InThread, body: GrafanaNotification
) -> None:
    """Show the alerts of Grafana."""
    webhook = webhooks.webhooks.identified(webhook_id, token, guard=request.guard)
    await _show(request, webhook, query, grafana_embed(_members(body)), webhooks=webhooks)


@routes.operation("POST", "/v1/webhooks/{webhook_id}/{token}/sentry", bucket=_bucket("sentry"))
async def execute_sentry_webhook(
    request: Request, webhooks: WebhooksArea, webhook_id: int, token: str, query: InThread, body: SentryDelivery
) -> None:
    """Show what Sentry tells of issues, errors and alerts."""
    webhook = webhooks.webhooks.identified(webhook_id, token, guard=request.guard)
    resource = request.headers.get(SENTRY_RESOURCE, "")
    await _show(request, webhook, query, sentry_embed(resource, _members(body)), webhooks=webhooks)


@routes.operation(
    "POST", "/v1/webhooks/{webhook_id}/{token}/slack", bucket=EXECUTE, answers={200: binary("text/plain")}
)
async def execute_slack_webhook(
    request: Request, core: Core, area: WebhooksArea, webhook_id: int, token: str, query: InThread, body: SlackMessage
) -> Answer:
    """Send a message in Slack's form. It notifies nobody."""
    webhook = area.webhooks.identified(webhook_id, token, guard=request.guard)
    limits = core.settings.limits_for(premium=False)
    content, embeds = slack_message(_members(body), limits.max_message_length, limits.max_embeds_per_message)
    draft = MessageDraft(content=content, embeds=embeds, allowed_mentions=AllowedMentions())
    disguise = Disguise(shortened(body.username or "", NAME_CHARACTERS) or None, address(body.icon_url or ""))
    await area.webhooks.execute(webhook, draft, disguise, WebhookPlace(query.thread_id), request.guard)
    return Streamed(200, headers={"Content-Type": "text/plain; charset=utf-8"}, pieces=_ok, length=len(OK))


async def _ok() -> AsyncGenerator[bytes, None]:
    yield OK


async def _show(
    request: Request, webhook: Webhook, query: InThread, embed: Embed | None, *, webhooks: WebhooksArea
) -> None:
    """Send a message of this embed, without notifications."""
    if embed is not None:
        draft = MessageDraft(embeds=fitting([embed], 1), allowed_mentions=AllowedMentions())
        await webhooks.webhooks.execute(webhook, draft, Disguise(), WebhookPlace(query.thread_id), request.guard)


def _members(body: attrs.AttrsInstance) -> dict[str, object]:
    return {field.name: getattr(body, field.name) for field in attrs.fields(type(body))}
