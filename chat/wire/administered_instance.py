"""What administrative operations answer about the instance: figures, jobs, archives, settings, purchases
(administration.md, Conventions)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, TypedDict

from chat.registries.jobs import ArchiveSubject, JobStatus, JobType
from chat.registries.store_purchases import PurchaseEnvironment, PurchaseKind, PurchaseState, StoreProvider
from chat.wire.administration import AdminUserSummary
from chat.wire.values import Address, Asset, Bits, Count, Nameless, Snowflake, Timestamp, items, one_of, within


class Success(Nameless):
    success: Literal[True]
    """Whether it was done, or what was made."""


class Job(TypedDict):
    job_id: Snowflake
    """Id of the background work."""
    task_type: Annotated[str, one_of(JobType)]
    """Which kind of work it is."""
    status: Annotated[str, one_of(JobStatus)]
    """How the work stands: waiting, running, done, failed or stopped."""
    progress_current: int
    """How much is done."""
    progress_total: int | None
    """How much there is to do; null where that is not known."""
    progress_message: str | None
    """What is being done, in words; null where it is not told."""
    error_message: str | None
    """What went wrong, in words; null where nothing did."""
    created_at: Timestamp
    """When it was made."""
    started_at: Timestamp | None
    """When it began; null before."""
    completed_at: Timestamp | None
    """When it was done; null before."""
    requested_by_user_id: Snowflake | None
    """Id of the account that asked for it; null where the server did."""
    audit_log_reason: str | None
    """The reason that the administrator gave; null for none."""
    attempts: int
    """How often the work was begun."""
    max_attempts: int
    """How often the work is tried at most."""
    run_at: Timestamp
    """When the work may begin."""
    cancel_requested: bool
    """Whether the work is to stop."""
    context_link: str | None
    """A link to what the work is about; null for none."""
    payload: Mapping[str, object]
    """What the work was ordered with, without secrets."""
    result: Mapping[str, object] | None
    """What came of the work; null before it is done."""


class Archive(TypedDict):
    archive_id: Snowflake
    """The archive by its id; it is part of the addresses for fetching it."""
    subject_type: Annotated[str, one_of(ArchiveSubject)]
    """Whether the archive is of an account or of a guild."""
    subject_id: Snowflake
    """Id of the account or guild that the archive is of."""
    requested_by: Snowflake
    """Id of the account that asked for it."""
    requested_at: Timestamp
    """When it was asked for."""
    started_at: Timestamp | None
    """When it began; null before."""
    completed_at: Timestamp | None
    """When it was done; null before."""
    failed_at: Timestamp | None
    """When it failed; null where it did not."""
    file_size: Bits | None
    """Size in bytes."""
    progress_percent: Annotated[int, within(0, 100)]
    """How much is done, from 0 to 100."""
    progress_step: str | None
    """Which part of the work is being done; null before it begins."""
    error_message: str | None
    """What went wrong, in words; null where nothing did."""
    download_url_expires_at: Timestamp | None
    """When the last address for fetching it stops working; null while there is none."""
    expires_at: Timestamp
    """When it ends; null for never."""


class ArchiveAddress(Nameless):
    downloadUrl: Address
    """An address from which the file can be fetched for a while."""
    expiresAt: Timestamp
    """When the address stops working."""


class InstanceFiguresAccounts(Nameless):
    people: Count
    """Accounts that are no bots."""
    bots: Count
    """How many of them are bots."""
    deleted: Count
    """Accounts that were erased."""


class InstanceFiguresStorage(Nameless):
    upload_bytes: Count
    """Bytes of all uploaded files."""
    database_bytes: Count
    """Bytes of the database file."""


class InstanceFigures(TypedDict):
    """How much the instance holds; counts of the store may be some seconds old."""

    started_at: Timestamp
    """When it began; null before."""
    uptime_seconds: Count
    """Seconds since the start."""
    memory_bytes: Count | None
    """Bytes of memory in use; null where they are not measured."""
    version: str
    """The version of the program."""
    accounts: InstanceFiguresAccounts
    """How many accounts there are, by kind."""
    guilds: Count
    """How many guilds there are."""
    channels: Count
    """How many channels there are, by kind."""
    messages: Count
    """How many messages are stored."""
    storage: InstanceFiguresStorage
    """How much room the instance takes on the disk."""
    jobs_waiting: Count
    """Background work that has not begun."""
    sessions: Count
    """How many gateway sessions there are."""
    online: Count
    """How many accounts are online."""


class FigurePoint(TypedDict):
    """A span of time: what came to pass in it, and of what stands the most at one time."""

    at: Timestamp
    """The moment at which the span begins."""
    messages: Count
    """How many messages were written in the span."""
    requests: Count
    """How many requests were answered in the span."""
    failures: Count
    """How many requests the server answered with a status of 500 or above."""
    p50_ms: float | None
    """Milliseconds within which half of the requests were answered; null without requests."""
    p99_ms: float | None
    """Milliseconds within which 99 of 100 requests were answered; null without requests."""
    online: Count
    """The most accounts that were online at one time in the span."""
    sessions: Count
    """The most gateway sessions at one time in the span."""
    lag_ms: float
    """Milliseconds of the longest pause of the event loop."""
    memory_bytes: Count
    """Bytes of memory in use; null where they are not measured."""
    stored_bytes: Count
    """Bytes of the database and the uploaded files."""


class FigureHistory(TypedDict):
    """What the server measured of itself; spans in which it did not run are left out."""

    period: Literal["day", "week"]
    """Which stretch of time is looked at: the last day or the last week."""
    since: Timestamp
    """Where the first span begins."""
    until: Timestamp
    """Where the last span ends."""
    step_seconds: Count
    """How many seconds a span has."""
    points: list[FigurePoint]
    """The spans in their order, the oldest first."""


class GatewayFiguresSessions(Nameless):
    total: Count
    """How many there are on all pages."""
    attached: Count
    """How many of them have a socket at this moment."""
    retained: Count
    """How many Dispatches are kept for Resume."""
    bots: Count
    """How many of them are bots."""


class GatewayFigures(TypedDict):
    """The gateway of the node; `memory_bytes` is the whole process."""

    started_at: Timestamp
    """When it began; null before."""
    uptime_seconds: Count
    """Seconds since the start."""
    memory_bytes: Count | None
    """Bytes of memory in use; null where they are not measured."""
    connections: Count
    """How many sockets are open."""
    sessions: GatewayFiguresSessions
    """How many gateway sessions there are, by what they are."""
    guilds_in_memory: Count
    """How many guilds the gateway holds ready."""
    presences: Count
    """How many presences the gateway holds."""
    voice_connections: Count
    """How many voice connections there are."""
    backlog: Count
    """Dispatches that wait to be given out."""


class GatewayGuild(TypedDict):
    """A guild in memory; `memory_bytes` is an estimate."""

    guild_id: Snowflake
    """Id of the guild; null outside of guilds."""
    name: str
    """The name that people read."""
    icon: Asset | None
    """The picture of the thing: the hash of a stored picture, or a data address where it is sent; null for none."""
    member_count: Count
    """How many members there are."""
    session_count: Count
    """How many gateway sessions are in the guild."""
    presence_count: Count
    """How many presences of members the gateway holds."""
    memory_bytes: Count
    """Bytes of memory in use; null where they are not measured."""


class GatewayGuilds(Nameless):
    guilds: Annotated[list[GatewayGuild], items(200)]
    """The guilds it is about."""


class GatewayNode(TypedDict):
    """A process that holds gateway sockets for this server."""

    id: str
    """What tells this life of the node from every other one."""
    name: str
    """What its operator calls it."""
    version: str
    """Of the program."""
    state: Literal["up", "draining", "ended", "dead", "refused"]
    """Whether it is there, sends its sessions elsewhere, has ended, is dead, or is refused because of its version."""
    sockets: Count
    """Open gateway sockets."""
    attached: Count
    """How many of them have a socket at this moment."""
    sessions: Count
    """How many gateway sessions it has."""
    unheard_messages: Count
    """Messages of the server that it has not confirmed."""
    backlog_events: Count
    """Events that it has not given to its sessions yet."""
    deliveries: Count
    """Events that it has given to sessions."""
    cpu_seconds: float
    """Processor time that the process has used."""
    resident_bytes: Count
    """The memory that the process holds."""
    heard_at: Timestamp
    """When it told its figures last, or was found dead."""
    heard_seconds_ago: Count
    """How many seconds ago that was."""


class GatewayNodes(Nameless):
    broker_is_up: bool | None
    """Whether the broker between server and nodes answers; null for a server that runs without nodes."""
    nodes: list[GatewayNode]
    """The gateway nodes."""


class InstanceConfigValues(Nameless):
    service_name: str
    """What the instance is called."""
    service_description: str | None
    """What the front page says of the instance; null for the usual sentence."""
    welcome_invite: str | None
    """The code of the invite on the front page; null for none."""
    registration: Literal["open", "approval", "closed"]
    """Who may make an account."""
    email_verification_required: bool
    """Whether a new account proves its address before it may write."""
    single_community_enabled: bool
    """Whether the instance is one guild that everybody is in."""
    single_community_guild_id: Snowflake | None
    """Id of that guild; null for none."""
    direct_messages_disabled: bool
    """Whether private conversations are switched off on the instance."""


class InstanceConfig(Nameless):
    config: InstanceConfigValues
    """The policies as they hold now."""
    overridden: list[str]
    """Names of what was changed at run time and counts more than the settings."""


class LimitConfig(Nameless):
    limits: dict[str, Count]
    """Limits of the instance by their names."""
    defaults: dict[str, Count]
    """What each limit is where nothing else is set."""
    overridden: list[str]
    """Names of what was changed at run time and counts more than the settings."""


class PendingRegistration(Nameless):
    user: AdminUserSummary
    """The account it is about."""
    email: str | None
    """The mail address; null where there is none or the caller may not see it."""
    client_ip: str | None
    """The network address that was used; null for callers who may not see addresses."""
    registered_at: Timestamp
    """When the person registered."""


class Registrations(Nameless):
    registrations: list[PendingRegistration]
    """The accounts that wait."""


class StorePurchase(TypedDict):
    """A purchase in an app store as the administration sees it."""

    id: Snowflake
    """Id of the object, as a decimal number in text."""
    user_id: Snowflake | None
    """Id of the account."""
    provider: Annotated[str, one_of(StoreProvider)]
    """The store that it was bought at."""
    kind: Annotated[str, one_of(PurchaseKind)]
    """A subscription or a gift."""
    slot: str
    """Which place of the account the purchase fills."""
    environment: Annotated[str, one_of(PurchaseEnvironment)]
    """Whether the store charged money or only tested."""
    app_id: str
    """Id of the app at the store."""
    product_id: str
    """The product at the store."""
    base_plan_id: str | None
    """The plan at the store, where it has plans."""
    latest_transaction_id: str | None
    """Id of the last payment at the store; null for none."""
    ownership_type: str | None
    """Whether it was bought or comes from a family; as the store says it."""
    state: Annotated[str, one_of(PurchaseState)]
    """How the purchase stands at the store."""
    store_state: str | None
    """The state in the store's own words; null where it has none."""
    entitled: bool
    """Whether the purchase gives premium at this moment."""
    expires_at: Timestamp | None
    """When it ends; null for never."""
    grace_ends_at: Timestamp | None
    """Until when an unpaid subscription goes on; null for none."""
    auto_renew: bool | None
    """Whether the store goes on by itself at the end of the period; null where it does not say."""
    started_at: Timestamp | None
    """When it began; null before."""
    purchased_at: Timestamp | None
    """When it was bought; null where the store does not say."""
    revoked_at: Timestamp | None
    """When the store took the purchase back; null where it did not."""
    revocation_reason: str | None
    """Why the store took the purchase back; null where it did not."""
    superseded: bool
    """Whether a newer purchase took its place."""
    acknowledged: bool
    """Whether the store was told that the purchase arrived."""
    gift_code: str | None
    """The code that a gift is redeemed with; null for no gift."""
    bound_at: Timestamp | None
    """When the purchase was joined to an account; null while it is not."""
    last_event_at: Timestamp | None
    """When the store last told of a change; null for never."""
    synced_at: Timestamp | None
    """When the purchase was last held against the store; null for never."""
    created_at: Timestamp
    """When it was made."""
    updated_at: Timestamp
    """When it was last changed."""


class StorePurchases(Nameless):
    purchases: list[StorePurchase]
    """The purchases on this page."""


class SystemDmOrdered(TypedDict):
    """The job that delivers them; the ledger of jobs tells how far it is."""

    job_id: Snowflake
    """Id of the background work."""
    requested: Count
    """How many were asked for."""


class AdminReloadGuildsAnswer(Nameless):
    reloaded_count: Count
    """How many guilds were read again."""


class AdminListJobsAnswer(Nameless):
    jobs: list[Job]
    """The background work on this page."""


class AdminListArchivesAnswer(Nameless):
    archives: Annotated[list[Archive], items(200)]
    """The archives on this page."""


class AdminGetArchiveAnswer(Nameless):
    archive: Archive | None
    """The archive; null while there is none."""


class AdminCleanStorageAnswer(Nameless):
    job_id: Snowflake
    """Id of the background work."""
