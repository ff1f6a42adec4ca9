"""Polls in messages (messages.md, Polls)."""

from __future__ import annotations

from typing import Annotated, NotRequired, TypedDict

from chat.wire.accounts import PartialUser
from chat.wire.values import Count, Nameless, Snowflake, Timestamp, length


class PollEmoji(Nameless):
    id: Snowflake | None
    """Id of an emoji of a guild; null for a character."""
    name: str | None
    """The character, or the name of the emoji."""
    animated: NotRequired[bool]
    """Whether the picture moves."""


class PollQuestion(Nameless):
    text: Annotated[str, length(300)]
    """What is asked."""


class PollMedia(Nameless):
    text: NotRequired[Annotated[str, length(55)]]
    """The answer in words; absent where the emoji says it all."""
    emoji: NotRequired[PollEmoji]
    """A sign before the words, or in their place."""


class PollAnswer(Nameless):
    answer_id: Count
    """A number that no other answer of the poll has; they count from 1."""
    poll_media: PollMedia
    """What people read."""


class PollAnswerCount(Nameless):
    id: Count
    """The answer, by its `answer_id`."""
    count: Count
    """How many accounts gave it."""
    me_voted: bool
    """Whether the caller gave it; false in a Dispatch, which many hear."""


class PollResults(Nameless):
    is_finalized: bool
    """Whether the poll is over and all votes are counted."""
    answer_counts: list[PollAnswerCount]
    """Each answer with its votes, in the order of the answers."""


class Poll(Nameless):
    question: PollQuestion
    """What is asked."""
    answers: list[PollAnswer]
    """What may be answered, in this order."""
    expiry: Timestamp
    """When the poll ends, unless its author ends it sooner."""
    allow_multiselect: bool
    """Whether an account may give several answers."""
    layout_type: Count
    """How it is laid out; 1 is the only layout."""
    results: PollResults
    """The votes so far."""


class PollVoters(TypedDict):
    users: list[PartialUser]
    """Accounts that gave the answer, in order of their ids."""
