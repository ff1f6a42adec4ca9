"""Who writes a message: an account in its own name, or a webhook in whichever name it is given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from chat.auth.principal import Principal
from chat.domain.messages.message_objects import webhook_author
from chat.domain.standing.user_objects import partial_user
from chat.store.messages.messages import MessageExtra
from chat.store.webhooks.webhooks import Webhook


@attrs.frozen
class Sender:
    """The author of a message that is being sent."""

    id: int
    wire: Mapping[str, Any]
    """The message's `author`."""
    keeps_read_state: bool
    """Whether what the sender writes counts as read by the sender."""
    webhook_id: int | None = None
    extra: MessageExtra | None = None
    """What the message keeps of a webhook's name and avatar."""


def account_sender(principal: Principal) -> Sender:
    """The caller."""
    return Sender(principal.user_id, partial_user(principal.account), not principal.is_bot)


def webhook_sender(webhook: Webhook, name: str, avatar: str | None) -> Sender:
    """A webhook under this name and avatar, which need not be its own."""
    author = webhook_author(webhook.id, name, avatar)
    return Sender(webhook.id, author, False, webhook.id, MessageExtra(webhook_name=name, webhook_avatar=avatar))
