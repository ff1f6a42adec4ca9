"""Communities that people bring along in the browser (manual, Moving in)."""

from __future__ import annotations

from typing import Annotated, TypedDict

from chat.registries.imports import BroughtState, BroughtTrouble, ImportSource
from chat.wire.values import Count, Name, Snowflake, Timestamp, items, one_of

BROUGHT_LISTED = 20
"""Of one account, in the list."""

CHANNELS_LISTED = 1_000
PEOPLE_LISTED = 200
TROUBLES_LISTED = 200


class BroughtCounts(TypedDict):
    """How much there is of each kind."""

    roles: Count
    channels: Count
    threads: Count
    people: Count
    """Accounts that nobody can sign in to, one for each author."""
    emojis: Count
    stickers: Count
    messages: Count
    reactions: Count
    files: Count


class BroughtChannel(TypedDict):
    """A channel of an export."""

    id: Snowflake
    name: Name
    message_count: Count
    """Messages in it and in its threads."""


class BroughtPerson(TypedDict):
    """Somebody of an export."""

    name: Name
    bot: bool
    message_count: Count
    """Messages that this one wrote."""


class BroughtObstacle(TypedDict):
    """How much of a kind does not come, for one reason."""

    kind: str
    reason: str
    words: str
    """The reason in English."""
    count: Count
    """On how many of this kind it falls."""


class BroughtPreview(TypedDict):
    """What the dry run of an export found."""

    source: Annotated[str, one_of(ImportSource)]
    """What wrote the export."""
    name: Name | None
    """What the community was called; null where the export does not say."""
    counts: BroughtCounts
    """What would come, if everything were chosen."""
    bytes: Count
    """Bytes of the files that come."""
    channels: Annotated[list[BroughtChannel], items(CHANNELS_LISTED)]
    """Channels that hold messages, the largest first; there may be more of them than are listed."""
    people: Annotated[list[BroughtPerson], items(PEOPLE_LISTED)]
    """Who wrote most; there may be more of them than are listed."""
    obstacles: Annotated[list[BroughtObstacle], items(TROUBLES_LISTED)]
    """What does not come, and why."""


class BroughtProgress(TypedDict):
    """How far an import is."""

    counts: BroughtCounts
    """What came."""
    expected_messages: Count
    """As many as the dry run counted in the channels that come."""
    obstacles: Annotated[list[BroughtObstacle], items(TROUBLES_LISTED)]
    """What did not come, and why."""


class CommunityImport(TypedDict):
    """An export that somebody brings along."""

    id: Snowflake
    state: Annotated[str, one_of(BroughtState)]
    """How far it is."""
    trouble: Annotated[str, one_of(BroughtTrouble)] | None
    """Why it was refused, or failed; null where it was not."""
    filename: Name
    size: Count
    """Bytes of the uploaded file."""
    preview: BroughtPreview | None
    """What the dry run found; null before it is done."""
    progress: BroughtProgress | None
    """How far the import is; null before it begins."""
    guild_id: Snowflake | None
    """The community that was made for it; null before its owner has said what comes."""
    created_at: Timestamp
    changed_at: Timestamp
    """When its state became what it is."""


class CommunityImports(TypedDict):
    """Whether the caller may bring a community along, and what it has brought."""

    allowed: bool
    """Whether this instance lets the caller bring communities along in the browser."""
    max_bytes: Count
    """The largest file that is taken, in bytes."""
    imports: Annotated[list[CommunityImport], items(BROUGHT_LISTED)]
    """The newest first."""
