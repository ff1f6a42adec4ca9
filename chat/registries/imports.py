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


class BroughtState(enum.StrEnum):
    """Where an export stands that somebody brings along in the browser."""

    READING = "reading"
    """The dry run is being done."""

    READY = "ready"
    """The dry run is done, and its owner is to say what comes."""

    REFUSED = "refused"
    """It is nothing that could be brought along; the file is gone."""

    IMPORTING = "importing"
    """It is being written into its community."""

    COMPLETED = "completed"
    """All of it came that was to come; the file is gone."""

    FAILED = "failed"
    """It broke off; what came stays, the file is gone."""

    CANCELLED = "cancelled"
    """Its owner stopped it; what came stays, the file is gone."""

    UNDOING = "undoing"
    """What it brought is being taken out again."""

    UNDONE = "undone"
    """What it brought was taken out, as far as nobody has touched it."""


class BroughtTrouble(enum.StrEnum):
    """Why an export was refused, or failed."""

    NOT_READABLE = "not_readable"
    """It is no archive, or a broken one, or one that holds far more than its size."""

    UNKNOWN_EXPORT = "unknown_export"
    """It is none of the exports that this program reads."""

    GONE = "gone"
    """Its file or its community is not there any more."""

    NO_ROOM = "no_room"
    """The disk takes no more."""

    BROKE_OFF = "broke_off"
    """The work on it ended several times before it was done."""


WORKED_ON: Final = frozenset({BroughtState.READING, BroughtState.IMPORTING, BroughtState.UNDOING})
"""States in which the server works on an export."""

WITH_FILE: Final = frozenset({BroughtState.READING, BroughtState.READY, BroughtState.IMPORTING})
"""States in which its file is kept."""

OPEN: Final = WORKED_ON | WITH_FILE
"""States in which an account brings no other one along."""

UNFINISHED: Final = frozenset({ImportState.RUNNING, ImportState.FAILED, ImportState.CANCELLED})
"""States from which the same command goes on."""

PROVING_ISSUERS: Final[Mapping[ImportSource, str]] = {
    ImportSource.DISCORD: "https://discord.com",
    ImportSource.SLACK: "https://slack.com",
}
"""OpenID providers whose subject is a person's id in an export of theirs, so that a sign-in there proves who somebody
was. Mattermost and Zulip are no providers; the subject that Matrix's authentication service names is no Matrix id."""
