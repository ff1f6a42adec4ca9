"""The rule of each Dispatch: whom it is for, what its `d` holds, what causes it, how it is delivered (gateway.md,
Audiences; gateway.md, Routing; gateway.md, Replay buffer)."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from chat.classes import frozen
from chat.registries.events import EventName

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
    carries: str
    """The type of its `d`, by the name that it has in `chat.wire`."""
    payload: str
    """The `d` in words, in one line of Markdown. Members stand in backquotes in their order; a `?` marks a member that
    may be absent. An object of the HTTP API is called by its name. A Dispatch without a cause says why it is never
    sent."""
    cause: str
    """One thing that causes it: an operation as `METHOD /path`, `op` and the number of a command, or `time`."""
    retained: bool = True
    """Whether a Resume replays it (gateway.md, Replay buffer)."""
    passive: bool = False


EVENTS: Final[Mapping[EventName, EventRule]] = MappingProxyType(
    {
        EventName.READY: EventRule(Audience.SESSION, "Ready", "[Ready](gateway.md#ready)", "op 2", retained=False),
        EventName.RESUMED: EventRule(Audience.SESSION, "NoMembers", "`{}`", "op 6", retained=False),
        EventName.SESSIONS_REPLACE: EventRule(
            Audience.ACCOUNT,
            "SessionPresences",
            "a bare list of session presences: `session_id` (`all` for the aggregate), `status`, `afk`, `mobile`",
            "op 3",
        ),
        EventName.AUTH_SESSION_CHANGE: EventRule(
            Audience.ACCOUNT,
            "NoMembers",
            "never sent: nothing puts another token in place of a session's own",
            NEVER,
        ),
        EventName.RATE_LIMITED: EventRule(
            Audience.REQUESTER, "RateLimited", "`opcode`, `retry_after` in seconds, `meta`", "op 8"
        ),
        EventName.USER_UPDATE: EventRule(Audience.ACCOUNT, "PrivateUser", "the private user", "PATCH /v1/users/@me"),
        EventName.USER_SETTINGS_UPDATE: EventRule(
            Audience.ACCOUNT, "UserSettings", "the whole settings", "PATCH /v1/users/@me/settings"
        ),
        EventName.USER_GUILD_SETTINGS_UPDATE: EventRule(
            Audience.ACCOUNT,
            "UserGuildSettings",
            "the whole settings for one guild",
            "PATCH /v1/users/@me/guilds/@me/settings",
        ),
        EventName.USER_NOTE_UPDATE: EventRule(
            Audience.ACCOUNT,
            "NoteUpdate",
            "`id`, `note`; an empty text took the note away",
            "PUT /v1/users/@me/notes/{user_id}",
        ),
        EventName.USER_PINNED_DMS_UPDATE: EventRule(
            Audience.ACCOUNT,
            "PinnedChannels",
            "a bare list of channel ids",
            "PUT /v1/users/@me/channels/{channel_id}/pin",
        ),
        EventName.USER_CONNECTIONS_UPDATE: EventRule(
            Audience.ACCOUNT, "NoMembers", "never sent: accounts have no connections", NEVER
        ),
        EventName.WEBAUTHN_CREDENTIALS_UPDATE: EventRule(
            Audience.ACCOUNT, "Passkeys", "a bare list of passkeys", "POST /v1/users/@me/mfa/webauthn/credentials"
        ),
        EventName.RELATIONSHIP_ADD: EventRule(
            Audience.ACCOUNT,
            "Relationship",
            "the relationship with its `user`",
            "POST /v1/users/@me/relationships/{user_id}",
        ),
        EventName.RELATIONSHIP_UPDATE: EventRule(
            Audience.ACCOUNT,
            "Relationship",
            "the relationship with its `user`",
            "PUT /v1/users/@me/relationships/{user_id}",
        ),
        EventName.RELATIONSHIP_REMOVE: EventRule(
            Audience.ACCOUNT, "RelationshipRemoved", "`id`", "DELETE /v1/users/@me/relationships/{user_id}"
        ),
        EventName.SAVED_MESSAGE_CREATE: EventRule(
            Audience.ACCOUNT, "Message", "the message", "POST /v1/users/@me/saved-messages"
        ),
        EventName.SAVED_MESSAGE_DELETE: EventRule(
            Audience.ACCOUNT, "MessageForgotten", "`message_id`", "DELETE /v1/users/@me/saved-messages/{message_id}"
        ),
        EventName.RECENT_MENTION_DELETE: EventRule(
            Audience.ACCOUNT, "MessageForgotten", "`message_id`", "DELETE /v1/users/@me/mentions/{message_id}"
        ),
        EventName.REMINDER_UPDATE: EventRule(
            Audience.ACCOUNT,
            "ReminderMoments",
            "the reminder without its message",
            "PUT /v1/users/@me/reminders/{message_id}",
        ),
        EventName.REMINDER_DELETE: EventRule(
            Audience.ACCOUNT, "MessageForgotten", "`message_id`", "DELETE /v1/users/@me/reminders/{message_id}"
        ),
        EventName.FAVORITE_MEME_CREATE: EventRule(
            Audience.ACCOUNT, "FavoriteMeme", "the meme", "POST /v1/channels/{channel_id}/messages/{message_id}/memes"
        ),
        EventName.FAVORITE_MEME_UPDATE: EventRule(
            Audience.ACCOUNT, "FavoriteMeme", "the meme", "PATCH /v1/users/@me/memes/{meme_id}"
        ),
        EventName.FAVORITE_MEME_DELETE: EventRule(
            Audience.ACCOUNT, "FavoriteMemeDeleted", "`meme_id`", "DELETE /v1/users/@me/memes/{meme_id}"
        ),
        EventName.GUILD_CREATE: EventRule(
            Audience.SESSION, "WholeGuild", "[Guild payloads](gateway.md#guild-payloads)", "POST /v1/guilds"
        ),
        EventName.GUILD_SYNC: EventRule(
            Audience.SESSION, "WholeGuild", "[Guild payloads](gateway.md#guild-payloads)", "op 14", retained=False
        ),
        EventName.GUILD_UPDATE: EventRule(
            Audience.GUILD, "GuildUpdated", "the guild, `guild_id`", "PATCH /v1/guilds/{guild_id}", passive=True
        ),
        EventName.GUILD_DELETE: EventRule(
            Audience.GUILD,
            "GuildDeleted",
            "`id`, `guild_id?` where the guild itself is gone, `unavailable?`, `unavailable_hidden?`",
            "POST /v1/guilds/{guild_id}/delete",
            passive=True,
        ),
        EventName.GUILD_ROLE_CREATE: EventRule(
            Audience.GUILD, "RoleOfGuild", "`guild_id`, `role`", "POST /v1/guilds/{guild_id}/roles"
        ),
        EventName.GUILD_ROLE_UPDATE: EventRule(
            Audience.GUILD,
            "RoleOfGuild",
            "`guild_id`, `role`",
            "PATCH /v1/guilds/{guild_id}/roles/{role_id}",
            passive=True,
        ),
        EventName.GUILD_ROLE_UPDATE_BULK: EventRule(
            Audience.GUILD, "RolesOfGuild", "`guild_id`, `roles`", "PATCH /v1/guilds/{guild_id}/roles", passive=True
        ),
        EventName.GUILD_ROLE_DELETE: EventRule(
            Audience.GUILD, "RoleDeleted", "`guild_id`, `role_id`", "DELETE /v1/guilds/{guild_id}/roles/{role_id}"
        ),
        EventName.GUILD_EMOJIS_UPDATE: EventRule(
            Audience.GUILD, "EmojisOfGuild", "`guild_id`, `emojis`: all of them", "POST /v1/guilds/{guild_id}/emojis"
        ),
        EventName.GUILD_STICKERS_UPDATE: EventRule(
            Audience.GUILD,
            "StickersOfGuild",
            "`guild_id`, `stickers`: all of them",
            "POST /v1/guilds/{guild_id}/stickers",
        ),
        EventName.CHANNEL_CREATE: EventRule(
            Audience.CHANNEL_VIEWERS, "Channel", "the channel", "POST /v1/guilds/{guild_id}/channels", passive=True
        ),
        EventName.CHANNEL_UPDATE: EventRule(
            Audience.CHANNEL_VIEWERS, "Channel", "the channel", "PATCH /v1/channels/{channel_id}", passive=True
        ),
        EventName.CHANNEL_DELETE: EventRule(
            Audience.CHANNEL_VIEWERS, "Channel", "the channel", "DELETE /v1/channels/{channel_id}", passive=True
        ),
        EventName.CHANNEL_UPDATE_BULK: EventRule(
            Audience.GUILD,
            "ChannelsOfGuild",
            "`guild_id`, `channels` that the receiver sees",
            "PATCH /v1/guilds/{guild_id}/channels",
            passive=True,
        ),
        EventName.CHANNEL_RECIPIENT_ADD: EventRule(
            Audience.RECIPIENTS,
            "RecipientChanged",
            "`channel_id`, `user`",
            "PUT /v1/channels/{channel_id}/recipients/{user_id}",
        ),
        EventName.CHANNEL_RECIPIENT_REMOVE: EventRule(
            Audience.RECIPIENTS,
            "RecipientChanged",
            "`channel_id`, `user`",
            "DELETE /v1/channels/{channel_id}/recipients/{user_id}",
        ),
        EventName.WEBHOOKS_UPDATE: EventRule(
            Audience.CHANNEL_VIEWERS,
            "WebhooksOfChannel",
            "`guild_id`, `channel_id`",
            "POST /v1/channels/{channel_id}/webhooks",
        ),
        EventName.INVITE_CREATE: EventRule(
            Audience.OTHER,
            "InviteWithMetadata",
            "the invite with its metadata",
            "POST /v1/channels/{channel_id}/invites",
        ),
        EventName.INVITE_DELETE: EventRule(
            Audience.OTHER, "InviteDeleted", "`code`, `channel_id?`, `guild_id?`", "DELETE /v1/invites/{invite_code}"
        ),
        EventName.GUILD_MEMBER_ADD: EventRule(
            Audience.GUILD, "MemberOfGuild", "the member, `guild_id`", "POST /v1/invites/{invite_code}"
        ),
        EventName.GUILD_MEMBER_UPDATE: EventRule(
            Audience.GUILD, "MemberOfGuild", "the member, `guild_id`", "PATCH /v1/guilds/{guild_id}/members/{user_id}"
        ),
        EventName.GUILD_MEMBER_REMOVE: EventRule(
            Audience.GUILD,
            "AccountOfGuild",
            "`guild_id`, `user` with its `id` alone",
            "DELETE /v1/guilds/{guild_id}/members/{user_id}",
        ),
        EventName.GUILD_MEMBERS_CHUNK: EventRule(
            Audience.REQUESTER,
            "MembersChunk",
            "`guild_id`, `members`, `chunk_index`, `chunk_count`, `presences?`, `nonce?`",
            "op 8",
            retained=False,
        ),
        EventName.GUILD_MEMBER_LIST_UPDATE: EventRule(
            Audience.REQUESTER,
            "MemberListChanges",
            "`guild_id`, `id`, `channel_id?`, `member_count`, `online_count`, `groups`, `ops`",
            "op 14",
            retained=False,
        ),
        EventName.GUILD_AUDIT_LOG_ENTRY_CREATE: EventRule(
            Audience.OTHER, "AuditLogEntryOfGuild", "the entry, `guild_id`", "PATCH /v1/guilds/{guild_id}", passive=True
        ),
        EventName.GUILD_BAN_ADD: EventRule(
            Audience.GUILD,
            "AccountOfGuild",
            "`guild_id`, `user` with its `id` alone",
            "PUT /v1/guilds/{guild_id}/bans/{user_id}",
        ),
        EventName.GUILD_BAN_REMOVE: EventRule(
            Audience.GUILD,
            "AccountOfGuild",
            "`guild_id`, `user` with its `id` alone",
            "DELETE /v1/guilds/{guild_id}/bans/{user_id}",
        ),
        EventName.PRESENCE_UPDATE: EventRule(Audience.OTHER, "Presence", "the presence", "op 3"),
        EventName.PRESENCE_UPDATE_BULK: EventRule(
            Audience.GUILD, "PresencesOfGuild", "`guild_id`, `presences`", "op 14"
        ),
        EventName.PASSIVE_UPDATES: EventRule(
            Audience.OTHER,
            "PassiveUpdates",
            "`guild_id`, `channels` with their last message ids, `voice_states?`",
            "time",
            passive=True,
        ),
        EventName.MESSAGE_CREATE: EventRule(
            Audience.CHANNEL_VIEWERS,
            "MessageCreated",
            "the message, `channel_type`, `guild_id?`, `member?` without its `user`, `nicks?`, `mention_here?`",
            "POST /v1/channels/{channel_id}/messages",
        ),
        EventName.MESSAGE_UPDATE: EventRule(
            Audience.CHANNEL_READERS,
            "MessageUpdated",
            "the whole message, `guild_id?`, `member?`",
            "PATCH /v1/channels/{channel_id}/messages/{message_id}",
        ),
        EventName.MESSAGE_DELETE: EventRule(
            Audience.CHANNEL_READERS,
            "MessageDeleted",
            "`id`, `channel_id`, `content?`, `author_id?`, `guild_id?`, `member?`",
            "DELETE /v1/channels/{channel_id}/messages/{message_id}",
        ),
        EventName.MESSAGE_DELETE_BULK: EventRule(
            Audience.CHANNEL_VIEWERS,
            "MessagesDeleted",
            "`ids`, `channel_id`, `guild_id?`",
            "POST /v1/channels/{channel_id}/messages/bulk-delete",
        ),
        EventName.INTERACTION_CREATE: EventRule(
            Audience.OTHER,
            "InteractionCreated",
            "for the bot `id`, `application_id`, `type`, `token`, `version`, `data`, `channel_id`, `channel`, "
            "`locale`, `entitlements`, `authorizing_integration_owners`, `context`, `attachment_size_limit`, "
            "`app_permissions`, `guild_id?`, `guild?`, `guild_locale?`, `member?`, `user?`, `message?`; for the "
            "person `id`, `nonce`",
            "POST /v1/interactions",
        ),
        EventName.INTERACTION_SUCCESS: EventRule(
            Audience.OTHER,
            "InteractionOutcome",
            "`id`, `nonce`",
            "POST /v1/interactions/{interaction_id}/{token}/callback",
        ),
        EventName.INTERACTION_FAILURE: EventRule(
            Audience.OTHER, "InteractionFailed", "`id`, `nonce`, `reason_code`", "time"
        ),
        EventName.INTERACTION_AUTOCOMPLETE: EventRule(
            Audience.OTHER,
            "InteractionChoices",
            "`id`, `nonce`, `choices`",
            "POST /v1/interactions/{interaction_id}/{token}/callback",
        ),
        EventName.INTERACTION_MODAL_CREATE: EventRule(
            Audience.OTHER,
            "InteractionForm",
            "`id`, `nonce`, `custom_id`, `title`, `components`, `application`, `channel_id`",
            "POST /v1/interactions/{interaction_id}/{token}/callback",
        ),
        EventName.MESSAGE_ACK: EventRule(
            Audience.ACCOUNT,
            "MessageAcknowledged",
            "`channel_id`, `message_id`, `mention_count`, `manual?`, `version`",
            "POST /v1/channels/{channel_id}/messages/{message_id}/ack",
        ),
        EventName.MESSAGE_REACTION_ADD: EventRule(
            Audience.CHANNEL_READERS,
            "ReactionOfUser",
            "`user_id`, `channel_id`, `message_id`, `emoji`, `guild_id?`, `member?`",
            "PUT /v1/channels/{channel_id}/messages/{message_id}/reactions/{emoji}/@me",
        ),
        EventName.MESSAGE_REACTION_REMOVE: EventRule(
            Audience.CHANNEL_READERS,
            "ReactionOfUser",
            "`user_id`, `channel_id`, `message_id`, `emoji`, `guild_id?`, `member?`",
            "DELETE /v1/channels/{channel_id}/messages/{message_id}/reactions/{emoji}/@me",
        ),
        EventName.MESSAGE_REACTION_ADD_MANY: EventRule(
            Audience.OTHER,
            "ReactionsAdded",
            "`channel_id`, `message_id`, `reactions` of `user_id`, `emoji`",
            "PUT /v1/channels/{channel_id}/messages/{message_id}/reactions/{emoji}/@me",
        ),
        EventName.MESSAGE_REACTION_REMOVE_ALL: EventRule(
            Audience.CHANNEL_READERS,
            "ReactionsRemoved",
            "`channel_id`, `message_id`, `guild_id?`",
            "DELETE /v1/channels/{channel_id}/messages/{message_id}/reactions",
        ),
        EventName.MESSAGE_REACTION_REMOVE_EMOJI: EventRule(
            Audience.CHANNEL_READERS,
            "EmojiRemoved",
            "`channel_id`, `message_id`, `emoji`, `guild_id?`",
            "DELETE /v1/channels/{channel_id}/messages/{message_id}/reactions/{emoji}",
        ),
        EventName.MESSAGE_POLL_VOTE_ADD: EventRule(
            Audience.CHANNEL_READERS,
            "PollVote",
            "`user_id`, `channel_id`, `message_id`, `answer_id`, `guild_id?`",
            "PUT /v1/channels/{channel_id}/polls/{message_id}/answers/@me",
        ),
        EventName.MESSAGE_POLL_VOTE_REMOVE: EventRule(
            Audience.CHANNEL_READERS,
            "PollVote",
            "`user_id`, `channel_id`, `message_id`, `answer_id`, `guild_id?`",
            "PUT /v1/channels/{channel_id}/polls/{message_id}/answers/@me",
        ),
        EventName.TYPING_START: EventRule(
            Audience.CHANNEL_VIEWERS,
            "TypingStarted",
            "`channel_id`, `user_id`, `timestamp` in seconds, `guild_id?`, `member?`",
            "POST /v1/channels/{channel_id}/typing",
        ),
        EventName.CHANNEL_PINS_UPDATE: EventRule(
            Audience.CHANNEL_VIEWERS,
            "PinsUpdated",
            "`channel_id`, `last_pin_timestamp`, `guild_id?`",
            "PUT /v1/channels/{channel_id}/pins/{message_id}",
        ),
        EventName.CHANNEL_PINS_ACK: EventRule(
            Audience.ACCOUNT, "PinsAcknowledged", "`channel_id`, `timestamp`", "POST /v1/channels/{channel_id}/pins/ack"
        ),
        EventName.VOICE_STATE_UPDATE: EventRule(
            Audience.CHANNEL_VIEWERS, "VoiceState", "the voice state", "op 4", passive=True
        ),
        EventName.VOICE_STATE_ACK: EventRule(
            Audience.REQUESTER,
            "VoiceStateAcknowledged",
            "`mutation_id`, `runtime_epoch`, `connection_id`, `guild_id`, `channel_id`, "
            "`status`, `server_version`, `canonical_state`, `error_code?`, `error_message?`",
            "op 4",
        ),
        EventName.VOICE_SERVER_UPDATE: EventRule(
            Audience.REQUESTER, "VoiceServer", "`token`, `endpoint`, `connection_id`, `channel_id`, `guild_id?`", "op 4"
        ),
        EventName.ENTRANCE_SOUND_PLAY: EventRule(
            Audience.OTHER, "NoMembers", "never sent: there are no entrance sounds", NEVER
        ),
        EventName.CALL_CREATE: EventRule(
            Audience.RECIPIENTS,
            "CallState",
            "`channel_id`, `message_id`, `region`, `ringing`, `voice_states`; "
            "of a new one `recipients?`, `created_at?`",
            "POST /v1/channels/{channel_id}/call/ring",
        ),
        EventName.CALL_UPDATE: EventRule(
            Audience.RECIPIENTS,
            "CallState",
            "`channel_id`, `message_id`, `region`, `ringing`, `voice_states`; "
            "of a new one `recipients?`, `created_at?`",
            "POST /v1/channels/{channel_id}/call/stop-ringing",
        ),
        EventName.CALL_DELETE: EventRule(
            Audience.RECIPIENTS,
            "CallDeleted",
            "`channel_id`, `unavailable?`",
            "POST /v1/channels/{channel_id}/call/end",
        ),
        EventName.GUILD_COUNTS_UPDATE: EventRule(
            Audience.REQUESTER,
            "MemberCounts",
            "`counts` of `guild_id`, `member_count`, `online_count`; `nonce?`",
            "op 15",
        ),
        EventName.CHANNEL_MEMBER_COUNTS_UPDATE: EventRule(
            Audience.REQUESTER,
            "MemberCounts",
            "`counts` of `guild_id`, `channel_id`, `member_count`, `online_count`; `nonce?`",
            "op 16",
        ),
        EventName.THREAD_CREATE: EventRule(
            Audience.OTHER,
            "ThreadCreated",
            "the thread, `newly_created?`, `member?`",
            "POST /v1/channels/{channel_id}/threads",
        ),
        EventName.THREAD_UPDATE: EventRule(Audience.OTHER, "Thread", "the thread", "PATCH /v1/channels/{channel_id}"),
        EventName.THREAD_DELETE: EventRule(
            Audience.CHANNEL_VIEWERS,
            "ThreadDeleted",
            "`id`, `guild_id`, `parent_id`, `type`",
            "DELETE /v1/channels/{channel_id}",
        ),
        EventName.THREAD_LIST_SYNC: EventRule(
            Audience.SESSION,
            "ThreadListSync",
            "`guild_id`, `channel_ids?`, `threads`, `members`",
            "DELETE /v1/channels/{channel_id}/permissions/{target_id}",
        ),
        EventName.THREAD_MEMBER_UPDATE: EventRule(
            Audience.ACCOUNT,
            "ThreadMemberOfGuild",
            "the thread member, `guild_id`",
            "PATCH /v1/channels/{thread_id}/thread-members/@me/settings",
        ),
        EventName.THREAD_MEMBERS_UPDATE: EventRule(
            Audience.OTHER,
            "ThreadMembersChanged",
            "`id`, `guild_id`, `member_count`, `added_members?`, `removed_member_ids?`",
            "PUT /v1/channels/{thread_id}/thread-members/@me",
        ),
        EventName.THREAD_MEMBER_LIST_UPDATE: EventRule(
            Audience.REQUESTER, "ThreadMemberList", "`guild_id`, `thread_id`, `members`", "op 14", retained=False
        ),
        EventName.FORUM_UNREADS: EventRule(
            Audience.REQUESTER, "ForumUnreads", "`guild_id`, `channel_id`, `threads`", "op 28"
        ),
    }
)
"""The dispatch registry (gateway.md, Routing; gateway.md, Audiences)."""

NEVER_RETAINED: Final[frozenset[EventName]] = frozenset(name for name, rule in EVENTS.items() if not rule.retained)
"""Not kept for replay, though all but RESUMED take a sequence number (gateway.md, Replay buffer)."""
