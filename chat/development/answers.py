"""What the development routes answer, and what `chat dev --json` prints: objects of this server alone, which the
documents of the API do not describe (development.md, Development routes)."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict


class DescribedAccount(TypedDict):
    id: str
    email: str
    username: str
    password: str
    token: str


class DescribedBot(TypedDict):
    application_id: str
    user_id: str
    token: str
    client_secret: str


class KnownWorld(TypedDict):
    """A world whose secrets are known: the seeded one, or one that tests made at any server."""

    base_url: str
    users: list[DescribedAccount]
    bot: DescribedBot
    guild_id: str
    channel_id: str
    voice_channel_id: str


class DescribedWorld(KnownWorld):
    """The seeded world."""

    gateway_url: str
    pid: int
    admin: DescribedAccount
    admin_key: str


class ShownSession(TypedDict):
    """A live session of the gateway; `status` is the one that it chose, or `offline`."""

    id: str
    user_id: str
    bot: bool
    shard: list[int] | None
    sequence: int
    acknowledged: int
    replay_floor: int
    retained_dispatches: int
    attached: bool
    address: str
    status: str


class InteractionRequest(TypedDict):
    """A request that came by the token of an interaction; `number` is its entry in the history."""

    number: int
    at: str
    method: str
    path: str
    status: int
    body: Any
    """JSON of a stranger, as it was sent; null of a form with files."""


class ShownInteraction(TypedDict):
    """What a person did with an application. `due_at` is the moment at which it counts as not answered, null once it is
    answered or counts so; `ends_at` is the end of its token, which is null where no bot was told of it."""

    id: str
    type: int
    name: str | None
    application_id: str
    user_id: str
    channel_id: str
    guild_id: str | None
    created_at: str
    due_at: str | None
    ends_at: str
    answered_with: int | None
    token: str | None
    answers: list[InteractionRequest]


class ClockReading(TypedDict):
    now: str
    offset_ms: int
    paused: bool
    next_timer_ms: int | None


class NodeState(TypedDict):
    draining: bool
    at_capacity: bool
    starts_paused: bool
    rollout_user_ids: list[str] | None
    rpc_failing: bool
    storage_failing: bool
    missing_guild_ids: list[str]


class CrowdMade(TypedDict):
    guild_ids: list[str]
    member_ids: list[str]
    tokens: dict[str, str]
    """By the members' ids."""


class ShownBucket(TypedDict):
    name: str
    public_name: str
    enabled: bool
    limit: int
    window_ms: int
    chosen: bool
    operations: list[str]


class LimitsState(TypedDict):
    enabled: bool
    gateway: bool
    buckets: list[ShownBucket]


class ShownSnapshot(TypedDict):
    name: str
    created_at: str
    offset_ms: int
    bytes: int


class HistoryState(TypedDict):
    """`first` and `next` are numbers: of the oldest entry that is there, and of the next one to come."""

    recording: bool
    first: int
    next: int
    entries_maximum: int
    bytes_maximum: int


class ShownEntry(TypedDict):
    """An entry of the history. Those of one kind (`EntryKind`) have the same members."""

    number: int
    at: str
    kind: NotRequired[str]
    direction: NotRequired[str]
    op: NotRequired[int | None]
    event: NotRequired[str | None]
    sequence: NotRequired[int | None]
    code: NotRequired[int]
    reason: NotRequired[str]
    by_client: NotRequired[bool]
    address: NotRequired[str]
    socket: NotRequired[int]
    session_id: NotRequired[str | None]
    user_id: NotRequired[str | None]
    size: NotRequired[int]
    method: NotRequired[str]
    path: NotRequired[str]
    route: NotRequired[str]
    status: NotRequired[int]
    ms: NotRequired[int]
    bucket: NotRequired[str | None]
    limits: NotRequired[dict[str, str] | None]
    payload: NotRequired[Any]
    text: NotRequired[str]
    """In place of `payload`, where a client sent what is no JSON."""
    refused: NotRequired[str]
    body: NotRequired[Any]
    answer: NotRequired[Any]
    headers: NotRequired[dict[str, str]]


class ShownExchange(TypedDict):
    """What an entry tells of a request."""

    kind: str
    method: str
    path: str
    route: str
    status: int
    ms: int
    user_id: str | None
    bucket: str | None
    limits: dict[str, str] | None
    size: int


class HistoryPage(HistoryState):
    entries: list[ShownEntry]


class RecordedTest(TypedDict):
    source: str
    left_out: list[str]
