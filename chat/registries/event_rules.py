"""What is said of each Dispatch: whom it is for, what its `d` holds, what causes it, how it is delivered."""

from __future__ import annotations

import enum
from typing import Final

from chat.classes import frozen

NEVER: Final = ""
"""The cause of a Dispatch that this server does not send."""


class Audience(enum.Enum):
    """Audience codes of the dispatch registry (gateway.md, Audiences)."""

    ACCOUNT = "U"
    """Every session of the account."""

    GUILD = "G"
    """Every session connected to the guild."""

    CHANNEL_VIEWERS = "V"
    """Sessions that can view the channel."""

    CHANNEL_READERS = "A"
    """Viewers that may also read the message in question (READ_MESSAGE_HISTORY, or newer than the guild's cutoff)."""

    REQUESTER = "C"
    """Only the session that asked."""

    RECIPIENTS = "R"
    """Recipients of the private channel."""

    SESSION = "session"
    """One session, unasked."""

    OTHER = "other"
    """A rule of its own, told beside the event's name."""


@frozen
class EventRule:
    """One kind of Dispatch.

    `passive` is asked only of events that go to the sessions of a guild: whether a passive session hears every one of
    them (gateway.md, Passive sessions).
    """

    audience: Audience
    payload: str
    """The `d` in words, in one line of Markdown. Members stand in backquotes in their order; a `?` marks a member that
    may be absent. An object of the HTTP API is called by its name. A Dispatch without a cause says why it is never
    sent."""
    cause: str
    """One thing that causes it: an operation as `METHOD /path`, `op` and the number of a command, or `time`."""
    retained: bool = True
    """Whether a Resume replays it (gateway.md, Replay buffer)."""
    passive: bool = False
