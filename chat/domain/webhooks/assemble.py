"""Puts the area together: webhooks and announcements."""

from __future__ import annotations

from chat.classes import frozen
from chat.domain.core import Core
from chat.domain.messages.assemble import MessagesArea
from chat.domain.policy.assemble import PolicyArea
from chat.domain.threads.assemble import ThreadsArea
from chat.domain.webhooks.announcements import Announcements
from chat.domain.webhooks.webhooks import Webhooks


@frozen(kw_only=True)
class WebhooksArea:
    webhooks: Webhooks
    announcements: Announcements


def assemble(core: Core, policy: PolicyArea, messages: MessagesArea, threads: ThreadsArea) -> WebhooksArea:
    return WebhooksArea(
        webhooks=Webhooks(core, messages=messages, posts=threads.posts, media=policy.media),
        announcements=Announcements(
            core=core, system_messages=messages.system_messages, crossposting=messages.crossposting
        ),
    )
