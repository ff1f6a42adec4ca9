"""What Dispatches carry in `d`: each row of `chat.registries.event_rules.EVENTS` names one of these, an object of the
API, or one of `chat.wire.ready` and `chat.wire.presences`.

A class below an object of the API adds members to it. A member without a text means what it means everywhere
(`chat/api/openapi/descriptions.json`).
"""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict

from chat.wire.accounts import PartialUser
from chat.wire.channels import GuildChannel, Thread, ThreadMember
from chat.wire.guild_management import AuditLogEntry
from chat.wire.guilds import (
    AccountReference,
    Emoji,
    Guild,
    Member,
    Membership,
    Role,
    Sticker,
)
from chat.wire.interactions import CommandApplication, CommandChoice
from chat.wire.messages import Component, Message, ReactionEmoji
from chat.wire.presences import Presence, SessionPresence, VoiceState
from chat.wire.signing_in import WebauthnCredential
from chat.wire.told_interactions import ToldInteraction
from chat.wire.values import GROUPED, Count, Snowflake, Timestamp

PinnedChannels = list[Snowflake]
Passkeys = list[WebauthnCredential]
SessionPresences = list[SessionPresence]


class NoMembers(TypedDict):
    pass


class ReactionAdded(TypedDict):
    user_id: Snowflake
    emoji: ReactionEmoji


class CountsOfOne(TypedDict):
    guild_id: Snowflake
    channel_id: NotRequired[Snowflake]
    member_count: Count
    online_count: Count


class LimitedRequest(TypedDict):
    guild_id: Snowflake
    nonce: NotRequired[str]


class RateLimited(TypedDict):
    opcode: int
    retry_after: float
    meta: LimitedRequest


class NoteUpdate(TypedDict):
    id: Snowflake
    note: str


class RelationshipRemoved(TypedDict):
    id: Snowflake


class MessageForgotten(TypedDict):
    message_id: Snowflake


class FavoriteMemeDeleted(TypedDict):
    meme_id: Snowflake


class GuildUpdated(Guild):
    guild_id: Snowflake


class GuildDeleted(TypedDict):
    id: Snowflake
    guild_id: NotRequired[Snowflake]
    unavailable: NotRequired[bool]
    unavailable_hidden: NotRequired[bool]


class RoleOfGuild(TypedDict):
    guild_id: Snowflake
    role: Role


class RolesOfGuild(TypedDict):
    guild_id: Snowflake
    roles: list[Role]


class RoleDeleted(TypedDict):
    guild_id: Snowflake
    role_id: Snowflake


class EmojisOfGuild(TypedDict):
    guild_id: Snowflake
    emojis: list[Emoji]


class StickersOfGuild(TypedDict):
    guild_id: Snowflake
    stickers: list[Sticker]


class ChannelsOfGuild(TypedDict):
    guild_id: Snowflake
    channels: list[GuildChannel]


class RecipientChanged(TypedDict):
    channel_id: Snowflake
    user: PartialUser


class WebhooksOfChannel(TypedDict):
    guild_id: Snowflake
    channel_id: Snowflake


class InviteDeleted(TypedDict):
    code: str
    channel_id: NotRequired[Snowflake]
    guild_id: NotRequired[Snowflake]


class MemberOfGuild(Member):
    guild_id: Snowflake


class AccountOfGuild(TypedDict):
    guild_id: Snowflake
    user: AccountReference


class MembersChunk(TypedDict):
    guild_id: Snowflake
    members: list[Member]
    chunk_index: Count
    chunk_count: Count
    presences: NotRequired[list[Presence]]
    nonce: NotRequired[str]


class MemberListGroup(TypedDict):
    id: str
    """The id of a role, `online` or `offline`."""
    count: Count
    """How many members stand below it."""


class ListedMember(Member):
    presence: Presence


class MemberJustLeft(TypedDict):
    """The next change of the list is without it."""

    user: AccountReference


class MemberListRow(TypedDict):
    """A heading or a member."""

    group: NotRequired[MemberListGroup]
    member: NotRequired[ListedMember | MemberJustLeft]


class MemberListRange(TypedDict):
    op: Literal["SYNC"]
    range: list[Count]
    """The first row and the last one."""
    items: list[MemberListRow]


class MemberListChanges(TypedDict):
    guild_id: Snowflake
    id: str
    channel_id: NotRequired[Snowflake]
    member_count: Count
    online_count: Count
    groups: list[MemberListGroup]
    ops: list[MemberListRange]


class AuditLogEntryOfGuild(AuditLogEntry):
    guild_id: Snowflake


class PresencesOfGuild(TypedDict):
    guild_id: Snowflake
    presences: list[Presence]


class PassiveUpdates(TypedDict):
    guild_id: Snowflake
    channels: dict[Snowflake, Snowflake]
    voice_states: NotRequired[list[VoiceState]]


class MessageCreated(Message):
    channel_type: int
    guild_id: NotRequired[Snowflake]
    member: NotRequired[Membership]
    nicks: NotRequired[dict[Snowflake, str]]
    mention_here: NotRequired[bool]


class MessageUpdated(Message):
    guild_id: NotRequired[Snowflake]
    member: NotRequired[Membership]


class MessageDeleted(TypedDict):
    id: Snowflake
    channel_id: Snowflake
    content: NotRequired[str]
    author_id: NotRequired[Snowflake]
    guild_id: NotRequired[Snowflake]
    member: NotRequired[Membership]


class MessagesDeleted(TypedDict):
    ids: list[Snowflake]
    channel_id: Snowflake
    guild_id: NotRequired[Snowflake]


class InteractionOutcome(TypedDict):
    """What the person's session hears of an interaction."""

    id: Snowflake
    nonce: str | None
    """The text that the request had; null where it had none."""


InteractionCreated = Annotated[ToldInteraction | InteractionOutcome, GROUPED]


class InteractionFailed(InteractionOutcome):
    reason_code: Count


class InteractionChoices(InteractionOutcome):
    choices: list[CommandChoice]


class InteractionForm(InteractionOutcome):
    custom_id: str
    """The name of the form, which comes back when it is submitted."""
    title: str
    components: list[Component]
    """The parts that the person fills in."""
    application: CommandApplication
    """Who asks."""
    channel_id: Snowflake


class MessageAcknowledged(TypedDict):
    channel_id: Snowflake
    message_id: Snowflake
    mention_count: Count
    manual: NotRequired[bool]
    version: Snowflake


class ReactionOfUser(TypedDict):
    user_id: Snowflake
    channel_id: Snowflake
    message_id: Snowflake
    emoji: ReactionEmoji
    guild_id: NotRequired[Snowflake]
    member: NotRequired[Member]


class ReactionsAdded(TypedDict):
    channel_id: Snowflake
    message_id: Snowflake
    reactions: list[ReactionAdded]


class ReactionsRemoved(TypedDict):
    channel_id: Snowflake
    message_id: Snowflake
    guild_id: NotRequired[Snowflake]


class EmojiRemoved(TypedDict):
    channel_id: Snowflake
    message_id: Snowflake
    emoji: ReactionEmoji
    guild_id: NotRequired[Snowflake]


class PollVote(TypedDict):
    user_id: Snowflake
    channel_id: Snowflake
    message_id: Snowflake
    answer_id: Count
    guild_id: NotRequired[Snowflake]


class TypingStarted(TypedDict):
    channel_id: Snowflake
    user_id: Snowflake
    timestamp: Count
    guild_id: NotRequired[Snowflake]
    member: NotRequired[Member]


class PinsUpdated(TypedDict):
    channel_id: Snowflake
    last_pin_timestamp: Timestamp | None
    guild_id: NotRequired[Snowflake]


class PinsAcknowledged(TypedDict):
    channel_id: Snowflake
    timestamp: Timestamp


class VoiceStateAcknowledged(TypedDict):
    mutation_id: str
    runtime_epoch: str
    connection_id: str | None
    guild_id: Snowflake | None
    channel_id: Snowflake | None
    status: Literal["applied", "rejected"]
    server_version: Count
    canonical_state: VoiceState | None
    error_code: NotRequired[str]
    error_message: NotRequired[str]


class VoiceServer(TypedDict):
    token: str
    endpoint: str | None
    connection_id: str
    channel_id: Snowflake
    guild_id: NotRequired[Snowflake]


class CallState(TypedDict):
    channel_id: Snowflake
    message_id: Snowflake
    region: str | None
    ringing: list[Snowflake]
    voice_states: list[VoiceState]
    recipients: NotRequired[list[Snowflake]]
    created_at: NotRequired[Count]


class CallDeleted(TypedDict):
    channel_id: Snowflake
    unavailable: NotRequired[bool]


class MemberCounts(TypedDict):
    counts: list[CountsOfOne]
    nonce: NotRequired[str]


class ThreadCreated(Thread):
    newly_created: NotRequired[bool]
    member: NotRequired[ThreadMember]


class ThreadDeleted(TypedDict):
    id: Snowflake
    guild_id: Snowflake
    parent_id: Snowflake
    type: int


class ThreadListSync(TypedDict):
    guild_id: Snowflake
    channel_ids: NotRequired[list[Snowflake]]
    threads: list[Thread]
    members: list[ThreadMember]


class ThreadMemberOfGuild(ThreadMember):
    guild_id: Snowflake


class ThreadMemberWithPresence(ThreadMember):
    presence: Presence


class ThreadMembersChanged(TypedDict):
    id: Snowflake
    guild_id: Snowflake
    member_count: Count
    added_members: NotRequired[list[ThreadMemberWithPresence]]
    removed_member_ids: NotRequired[list[Snowflake]]


class ThreadMemberList(TypedDict):
    guild_id: Snowflake
    thread_id: Snowflake
    members: list[ThreadMemberWithPresence]


class UnreadThread(TypedDict):
    """How many messages of a thread are unread, or that the session sees no such thread."""

    thread_id: Snowflake
    count: NotRequired[Count]
    missing: NotRequired[Literal[True]]


class ForumUnreads(TypedDict):
    guild_id: Snowflake
    channel_id: Snowflake
    threads: list[UnreadThread]
