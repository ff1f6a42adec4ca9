"""What administrative operations answer about accounts, messages and the audit log
(administration.md, Conventions)."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict

from chat.registries.acls import Acl
from chat.registries.admin_actions import AdminTarget
from chat.registries.reports import ReportStatus
from chat.wire.accounts import AdminUser
from chat.wire.messages import Message
from chat.wire.signing_in import WebauthnCredential
from chat.wire.values import (
    Address,
    Asset,
    Count,
    Nameless,
    Snowflake,
    Timestamp,
    among,
    items,
    length,
    matching,
    one_of,
)


class AdminApiKey(TypedDict):
    key_id: Snowflake
    """The key by its id, which is no secret."""
    name: str
    """The name that people read."""
    acls: list[str]
    """The administrative rights of the key, by name."""
    created_by_user_id: Snowflake
    """Id of the account that made it."""
    created_at: Timestamp
    """When it was made."""
    last_used_at: Timestamp | None
    """When it was last used; null for never."""
    expires_at: Timestamp | None
    """When it ends; null for never."""


class NewAdminApiKey(TypedDict):
    key_id: Snowflake
    """The key by its id, which is no secret."""
    name: str
    """The name that people read."""
    acls: list[str]
    """The administrative rights, by name; `*` is all of them."""
    created_at: Timestamp
    """When it was made."""
    expires_at: Timestamp | None
    """When it ends; null for never."""
    key: str
    """The whole key, shown this once."""


class AclNames(Nameless):
    acls: list[Annotated[str, one_of(Acl)]]
    """The administrative rights, by name; `*` is all of them."""


class AdminUserAnswer(Nameless):
    user: AdminUser
    """The account it is about."""


class Reported(TypedDict):
    report_id: Snowflake
    """The report by its id, which its reporter is told."""
    status: Annotated[str, one_of(ReportStatus)]
    """How it stands at this moment."""


class AllMessages(TypedDict):
    success: Literal[True]
    """Whether it was done, or what was made."""
    dry_run: bool
    """Whether it was only counted and nothing deleted."""
    channel_count: int
    """In how many channels."""
    message_count: int
    """How many messages there are."""
    job_id: NotRequired[Snowflake]
    """Id of the background work."""


class MessageShredOrdered(TypedDict):
    success: Literal[True]
    """Whether it was done, or what was made."""
    job_id: Snowflake
    """Id of the background work."""
    requested: int
    """How many were asked for."""


class MessageShred(TypedDict):
    status: Literal["not_found", "in_progress", "completed", "failed"]
    """How it stands at this moment."""
    requested: NotRequired[int]
    """How many were asked for."""
    total: NotRequired[int]
    """How many there are on all pages."""
    processed: NotRequired[int]
    """How many are done."""
    skipped: NotRequired[int]
    """How many were left out because they are gone."""
    started_at: NotRequired[Timestamp]
    """When it began; null before."""
    completed_at: NotRequired[Timestamp]
    """When it was done; null before."""
    failed_at: NotRequired[Timestamp]
    """When it failed; null where it did not."""
    error: NotRequired[str]
    """What went wrong, by a short name."""


class AdminUsersFound(Nameless):
    users: list[AdminUser]
    """Accounts, or the ids of accounts."""
    total: int
    """How many there are on all pages."""


class AdminUsers(Nameless):
    users: Annotated[list[AdminUser], items(1)]
    """Accounts, or the ids of accounts."""


class AdminUserSummary(TypedDict):
    id: Snowflake
    """Id of the object, as a decimal number in text."""
    username: str
    """The name that identifies the account, 1 to 32 letters, digits and underscores."""
    discriminator: Annotated[str, length(4)]
    """Four digits that tell equal usernames apart."""
    global_name: str | None
    """The name that people are shown; null for the username."""
    avatar: Asset | None
    """The picture beside the name: the hash of a stored picture, or a data address (`data:image/png;base64,…`) where it
    is sent; null for none."""


class OwnerNames(TypedDict):
    owner_username: str | None
    """The username of the owner; null once the account is gone."""
    owner_global_name: str | None
    """The owner's display name; null for none."""
    owner_discriminator: Annotated[str, length(4)] | None
    """The four digits behind the owner's name."""


class AdminGuildStart(TypedDict):
    id: Snowflake
    """Id of the object, as a decimal number in text."""
    name: str
    """The name that people read."""
    features: list[str]
    """Names of what is switched on."""
    owner_id: Snowflake
    """Id of the account that it belongs to."""


class AdminGuildCounts(TypedDict):
    approximate_member_count: NotRequired[Count]
    """How many members the guild has; only where the request asked for counts."""
    approximate_presence_count: NotRequired[Count]
    """How many of them are online; only where the request asked for counts."""


class AdminGuildSettings(TypedDict):
    icon: Asset | None
    """The picture of the thing: the hash of a stored picture, or a data address where it is sent; null for none."""
    banner: Asset | None
    """The wide picture: the hash of a stored picture, or a data address where it is sent; null for none."""
    member_count: Count
    """How many members there are."""
    nsfw: bool
    """Whether it is for adults only."""
    content_warning_level: Count
    """Whether a warning stands before the content: 0 none, 1 one that people confirm."""
    content_warning_text: str | None
    """The words of that warning; null for the usual ones."""


class AdminGuild(AdminGuildStart, OwnerNames, AdminGuildSettings, AdminGuildCounts):
    pass


class AdminGuilds(Nameless):
    guilds: list[AdminGuild]
    """The guilds it is about."""


class BotNames(TypedDict):
    bot_username: str | None
    """The username of the bot; null without one."""
    bot_global_name: str | None
    """The bot's display name."""
    bot_discriminator: Annotated[str, length(4)] | None
    """The four digits behind the bot's name."""


class AdminApplicationStart(TypedDict):
    id: Snowflake
    """Id of the object, as a decimal number in text."""
    name: str
    """The name that people read."""
    owner_user_id: Snowflake
    """Id of the account that it belongs to."""


class AdminApplicationBot(TypedDict):
    bot_user_id: Snowflake | None
    """Id of the bot's account; null without a bot."""


class AdminApplication(AdminApplicationStart, OwnerNames, AdminApplicationBot, BotNames):
    bot_is_public: bool
    """Whether others than the owner may add the bot."""
    bot_require_code_grant: bool
    """Whether adding the bot takes the whole OAuth2 code flow."""
    oauth2_redirect_uris: list[str]
    """The addresses to which consent may lead back."""
    has_client_secret: bool
    """Whether the application has a secret."""
    has_bot_token: bool
    """Whether a token was made for the bot."""
    bot_token_preview: str | None
    """The first characters of the bot's token; the rest is shown once."""
    bot_token_created_at: Timestamp | None
    """When the bot's token was made; null without one."""
    client_secret_created_at: Timestamp | None
    """When the secret was made; null without one."""
    version: Count
    """A number or text that grows with each change."""


class AdminApplications(Nameless):
    applications: list[AdminApplication]
    """The applications on this page."""


class AdminPrivateChannel(TypedDict):
    channel_id: Snowflake
    """The channel that it is in, by its id."""
    channel_type: Annotated[int, among(1, 3)] | None
    """Which kind it is: 1 for a conversation of two, 3 for a group."""
    channel_nsfw: bool | None
    """Whether the channel is for adults; null for a conversation."""
    guild_nsfw_level: None
    """Always null: a conversation is in no guild."""
    recipient_ids: Annotated[list[Snowflake], items(100)]
    """Ids of the accounts in the conversation."""
    recipients: Annotated[list[AdminUserSummary], items(100)]
    """The other accounts in the conversation."""
    last_message_id: Snowflake | None
    """Id of the newest message, which may be deleted; null for none."""
    is_open: bool
    """Whether the conversation stands in the account's list."""
    name: str | None
    """The name that people read."""
    icon: Asset | None
    """The picture of the thing: the hash of a stored picture, or a data address where it is sent; null for none."""
    owner_id: Snowflake | None
    """Id of the account that it belongs to."""


class AdminPrivateChannels(Nameless):
    channels: list[AdminPrivateChannel]
    """The channels it is about."""


class AdminRelationship(TypedDict):
    target_user_id: Snowflake
    """Id of the other account."""
    category: Literal["friend", "incoming_request", "outgoing_request", "blocked"]
    """The relation in a word."""
    nickname: str | None
    """What the account calls its friend; null for nothing."""
    since: Timestamp | None
    """Since when the relation holds."""
    target: AdminUserSummary | None
    """The other account; null once it is gone."""


class AdminRelationships(Nameless):
    friends: list[AdminRelationship]
    """Accounts that are friends of the account."""
    incoming_requests: list[AdminRelationship]
    """Friend requests that wait for the account's answer."""
    outgoing_requests: list[AdminRelationship]
    """Friend requests that the account has sent and that have no answer yet."""
    blocked: list[AdminRelationship]
    """Accounts that the account has blocked."""


class RelationshipsRemoved(Nameless):
    removed_count: Count
    """How many were taken away."""


class AdminUserSession(TypedDict):
    session_id_hash: str
    """Names the sign-in without being its token."""
    created_at: Timestamp
    """When it was made."""
    approx_last_used_at: Timestamp
    """When the sign-in was last used, to the hour."""
    client_ip: str
    """The network address that was used; null for callers who may not see addresses."""
    client_ip_reverse: str | None
    """What DNS calls that address; null where it has no name."""
    client_location: str | None
    """Where the address is, in words; null where that is not known."""
    client_os: str | None
    """The operating system of the program; null where it is not known."""
    client_platform: str | None
    """What kind of program it is; null where it is not known."""
    deleted_at: Timestamp | None
    """When the sign-in ended; null while it holds."""


class AdminUserSessions(Nameless):
    sessions: list[AdminUserSession]
    """The sign-ins or gateway sessions it is about."""


class SessionsTerminated(Nameless):
    terminated_count: Count
    """How many sign-ins ended."""


class AdminUserChangeLogEntry(TypedDict):
    event_id: Snowflake
    """Id of the entry."""
    field: str
    """The name of what changed."""
    old_value: str | None
    """What it was before the change; absent or null for nothing."""
    new_value: str | None
    """What it is after the change; absent or null for nothing."""
    reason: str | None
    """Why, in words; null where none was given."""
    actor_user_id: Snowflake | None
    """The account that made the change; null where the server did."""
    event_at: Timestamp
    """When the change was made."""


class AdminUserChangeLog(Nameless):
    entries: Annotated[list[AdminUserChangeLogEntry], items(200)]
    """The entries on this page."""
    next_page_token: str | None
    """Asks for the next page; null on the last one."""


class PasswordResetLink(TypedDict):
    url: Address
    """The address it leads to."""
    expires_at: Timestamp
    """When it ends; null for never."""


AdminPasskeys = list[WebauthnCredential]


class AuditLogUser(TypedDict):
    id: Snowflake
    """Id of the object, as a decimal number in text."""
    username: str
    """The name that identifies the account, 1 to 32 letters, digits and underscores."""
    discriminator: Annotated[str, length(4)]
    """Four digits that tell equal usernames apart."""
    global_name: str | None
    """The name that people are shown; null for the username."""


class AuditLogGuild(Nameless):
    id: Snowflake
    """Id of the object, as a decimal number in text."""
    name: str
    """The name that people read."""


class AuditLogChannel(Nameless):
    id: Snowflake
    """Id of the object, as a decimal number in text."""
    name: str | None
    """The name that people read."""
    type: int
    """Which kind of its sort it is, from a fixed list."""
    guild_id: Snowflake | None
    """Id of the guild; null outside of guilds."""


class AdminAuditLogEntry(TypedDict):
    log_id: Snowflake
    """Id of the audit log's entry."""
    admin_user_id: Snowflake
    """Id of the administrator; `0` is the command line."""
    admin_user: AuditLogUser | None
    """The administrator as the account is now; null once it is gone."""
    target_type: Annotated[str, one_of(AdminTarget)]
    """The kind of thing that the action was about."""
    target_id: str
    """Id of what the action was about; null for nothing in particular."""
    target_user: AuditLogUser | None
    """The account that the action was about; null for none, or once it is gone."""
    target_guild: AuditLogGuild | None
    """The guild that the action was about."""
    target_channel: AuditLogChannel | None
    """The channel that the action was about."""
    related_users: dict[Snowflake, AuditLogUser | None]
    """Accounts that the entries name, by id."""
    related_guilds: dict[Snowflake, AuditLogGuild | None]
    """Guilds that the entries name, by id."""
    related_channels: dict[Snowflake, AuditLogChannel | None]
    """Channels that the entries name, by id."""
    action: str
    """What was done, by its name in the registry."""
    audit_log_reason: str | None
    """The reason that the administrator gave; null for none."""
    metadata: dict[str, str]
    """Further particulars of the action, as text by name."""
    created_at: Annotated[str, matching(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$")]
    """When it was made."""


class AdminAuditLog(Nameless):
    logs: Annotated[list[AdminAuditLogEntry], items(200)]
    """The entries on this page, newest first."""
    total: int
    """How many there are on all pages."""


class FoundMessage(Nameless):
    channel: AuditLogChannel
    """The channel it is about."""
    message: Message
    """The message it is about."""


class AdminApplicationAnswer(Nameless):
    application: AdminApplication
    """The application itself."""


class SendReportCodeAnswer(Nameless):
    ok: Literal[True]
    """Whether it was done; always true."""


class VerifyReportCodeAnswer(Nameless):
    ticket: str
    """Stands for what was done so far in a conversation of several requests."""


class AdminListChannelMessagesAnswer(Nameless):
    channel: AuditLogChannel
    """The channel it is about."""
    messages: Annotated[list[Message], items(100)]
    """The messages it is about."""


class AdminFindMessageAnswer(Nameless):
    messages: Annotated[list[FoundMessage], items(1)]
    """The messages it is about."""


class SessionOrigin(TypedDict):
    """Where a sign-in comes from, as holders of user:view:ip see it."""

    client_ip: str
    client_ip_reverse: str | None
    client_location: str | None
    client_os: str | None
    client_platform: str | None


class ChangedValue(TypedDict):
    """The value of a changed field before and after, as far as it may be seen."""

    old_value: str | None
    new_value: str | None
