"""Imports of communities: where they come from, and the states that they go through."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Final


class ImportSource(enum.StrEnum):
    """What wrote an export."""

    DISCORD = "discord"
    """DiscordChatExporter, as JSON."""

    SLACK = "slack"
    """Slack, as a workspace's owner exports it."""

    MATTERMOST = "mattermost"
    """Mattermost's bulk export."""

    ZULIP = "zulip"
    """Zulip's export of an organization."""

    MATRIX = "matrix"
    """Rooms of Matrix, as Element exports them."""

    COMMUNITY = "community"
    """`chat export guild`, of this instance or of another one."""


class ImportState(enum.StrEnum):
    """Where an import stands."""

    RUNNING = "running"
    """It is being done, or whoever did it ended: then the same command goes on with it."""

    COMPLETED = "completed"
    """All of it came that can come."""

    FAILED = "failed"
    """It broke off; what came stays, and the same command goes on with it."""

    CANCELLED = "cancelled"
    """Somebody stopped it; what came stays."""

    UNDONE = "undone"
    """What it brought was taken out again."""


UNFINISHED: Final = frozenset({ImportState.RUNNING, ImportState.FAILED, ImportState.CANCELLED})
"""States from which the same command goes on."""

PROVING_ISSUERS: Final[Mapping[ImportSource, str]] = {
    ImportSource.DISCORD: "https://discord.com",
    ImportSource.SLACK: "https://slack.com",
}
"""OpenID providers whose subject is a person's id in an export of theirs, so that a sign-in there proves who somebody
was. Mattermost and Zulip are no providers; the subject that Matrix's authentication service names is no Matrix id."""
