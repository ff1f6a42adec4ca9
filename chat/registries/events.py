"""Every Dispatch: its name, and its rule (gateway.md, Audiences; gateway.md, Routing; gateway.md, Replay buffer)."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from chat.registries.event_rules import NEVER, Audience, EventRule


class EventName(enum.StrEnum):
    """The `t` of a Dispatch (gateway.md, Audiences)."""

    READY = "READY"
    """A session was made by Identify; the first Dispatch of every session."""
    RESUMED = "RESUMED"
    """Replay is over; carries the current sequence and takes none."""
    SESSIONS_REPLACE = "SESSIONS_REPLACE"
    """The presence of each session of the account, as a bare array."""
    AUTH_SESSION_CHANGE = "AUTH_SESSION_CHANGE"
    """A session token of the account was exchanged for another."""
    RATE_LIMITED = "RATE_LIMITED"
    """A command came too soon; says when to try again."""
    USER_UPDATE = "USER_UPDATE"
    """The account itself changed; the full private user object."""
    USER_SETTINGS_UPDATE = "USER_SETTINGS_UPDATE"
    """The account's settings changed; all of them."""
    USER_GUILD_SETTINGS_UPDATE = "USER_GUILD_SETTINGS_UPDATE"
    """The account's settings for one guild changed."""
    USER_NOTE_UPDATE = "USER_NOTE_UPDATE"
    """The account's note about someone changed; empty text when it is cleared."""
    USER_PINNED_DMS_UPDATE = "USER_PINNED_DMS_UPDATE"
    """The pinned private channels, as a bare array."""
    USER_CONNECTIONS_UPDATE = "USER_CONNECTIONS_UPDATE"
    """The account's connections to other services changed."""
    WEBAUTHN_CREDENTIALS_UPDATE = "WEBAUTHN_CREDENTIALS_UPDATE"
    """The account's passkeys, as a bare array."""
    RELATIONSHIP_ADD = "RELATIONSHIP_ADD"
    """A relationship came to be."""
    RELATIONSHIP_UPDATE = "RELATIONSHIP_UPDATE"
    """A relationship changed."""
    RELATIONSHIP_REMOVE = "RELATIONSHIP_REMOVE"
    """A relationship is gone."""
    SAVED_MESSAGE_CREATE = "SAVED_MESSAGE_CREATE"
    """The account saved a message."""
    SAVED_MESSAGE_DELETE = "SAVED_MESSAGE_DELETE"
    """A saved message is saved no longer."""
    RECENT_MENTION_DELETE = "RECENT_MENTION_DELETE"
    """A mention was taken off the list of recent ones."""
    REMINDER_UPDATE = "REMINDER_UPDATE"
    """A reminder was set, or fell due: then it has `told_at`."""
    REMINDER_DELETE = "REMINDER_DELETE"
    """A reminder is gone."""
    FAVORITE_MEME_CREATE = "FAVORITE_MEME_CREATE"
    """A favourite picture was added."""
    FAVORITE_MEME_UPDATE = "FAVORITE_MEME_UPDATE"
    """A favourite picture changed."""
    FAVORITE_MEME_DELETE = "FAVORITE_MEME_DELETE"
    """A favourite picture is gone."""
    GUILD_CREATE = "GUILD_CREATE"
    """The whole state of a guild that the session now sees."""
    GUILD_SYNC = "GUILD_SYNC"
    """The whole state of a guild once more, after a change of interest."""
    GUILD_UPDATE = "GUILD_UPDATE"
    """The guild object changed; sent even while the guild is unavailable."""
    GUILD_DELETE = "GUILD_DELETE"
    """The guild is gone, left or unavailable; also sent to sessions that just stopped belonging to it."""
    GUILD_ROLE_CREATE = "GUILD_ROLE_CREATE"
    """A role was made."""
    GUILD_ROLE_UPDATE = "GUILD_ROLE_UPDATE"
    """A role changed."""
    GUILD_ROLE_UPDATE_BULK = "GUILD_ROLE_UPDATE_BULK"
    """Several roles changed at once."""
    GUILD_ROLE_DELETE = "GUILD_ROLE_DELETE"
    """A role is gone."""
    GUILD_EMOJIS_UPDATE = "GUILD_EMOJIS_UPDATE"
    """The guild's emojis, the whole set."""
    GUILD_STICKERS_UPDATE = "GUILD_STICKERS_UPDATE"
    """The guild's stickers, the whole set."""
    CHANNEL_CREATE = "CHANNEL_CREATE"
    """A channel came to be; a private one goes to its recipients."""
    CHANNEL_UPDATE = "CHANNEL_UPDATE"
    """A channel changed; a private one goes to its recipients."""
    CHANNEL_DELETE = "CHANNEL_DELETE"
    """A channel is gone; judged on the state before."""
    CHANNEL_UPDATE_BULK = "CHANNEL_UPDATE_BULK"
    """Several channels changed; trimmed for each session to what it views, not sent when nothing is left."""
    CHANNEL_RECIPIENT_ADD = "CHANNEL_RECIPIENT_ADD"
    """Someone was added to a group."""
    CHANNEL_RECIPIENT_REMOVE = "CHANNEL_RECIPIENT_REMOVE"
    """Someone is no longer in a group."""
    WEBHOOKS_UPDATE = "WEBHOOKS_UPDATE"
    """The webhooks of a channel changed."""
    INVITE_CREATE = "INVITE_CREATE"
    """An invite was made; for holders of MANAGE_CHANNELS in its channel, or a group's recipients."""
    INVITE_DELETE = "INVITE_DELETE"
    """An invite is gone; for the same audience as its making."""
    GUILD_MEMBER_ADD = "GUILD_MEMBER_ADD"
    """Someone joined."""
    GUILD_MEMBER_UPDATE = "GUILD_MEMBER_UPDATE"
    """A member changed; passive sessions hear of their own account's only."""
    GUILD_MEMBER_REMOVE = "GUILD_MEMBER_REMOVE"
    """A member is gone; passive sessions hear of their own account's only."""
    GUILD_MEMBERS_CHUNK = "GUILD_MEMBERS_CHUNK"
    """A part of the answer to a request for members."""
    GUILD_MEMBER_LIST_UPDATE = "GUILD_MEMBER_LIST_UPDATE"
    """A part of a watched member list."""
    GUILD_AUDIT_LOG_ENTRY_CREATE = "GUILD_AUDIT_LOG_ENTRY_CREATE"
    """An audit entry was written; for holders of VIEW_AUDIT_LOG."""
    GUILD_BAN_ADD = "GUILD_BAN_ADD"
    """Someone was banned."""
    GUILD_BAN_REMOVE = "GUILD_BAN_REMOVE"
    """A ban was lifted."""
    PRESENCE_UPDATE = "PRESENCE_UPDATE"
    """A presence changed; for friends, group members and sessions that watch the member."""
    PRESENCE_UPDATE_BULK = "PRESENCE_UPDATE_BULK"
    """Many presences at once, when a guild is available again."""
    PASSIVE_UPDATES = "PASSIVE_UPDATES"
    """What passive sessions missed in a guild, in brief; for passive sessions."""
    MESSAGE_CREATE = "MESSAGE_CREATE"
    """A message was sent; passive sessions hear of those that mention them."""
    MESSAGE_UPDATE = "MESSAGE_UPDATE"
    """A message changed; the full message."""
    MESSAGE_DELETE = "MESSAGE_DELETE"
    """A message is gone."""
    MESSAGE_DELETE_BULK = "MESSAGE_DELETE_BULK"
    """Several messages are gone."""
    MESSAGE_ACK = "MESSAGE_ACK"
    """The account read a channel up to a message."""
    MESSAGE_REACTION_ADD = "MESSAGE_REACTION_ADD"
    """Someone reacted to a message."""
    MESSAGE_REACTION_REMOVE = "MESSAGE_REACTION_REMOVE"
    """Someone took a reaction back."""
    MESSAGE_REACTION_ADD_MANY = "MESSAGE_REACTION_ADD_MANY"
    """Several reactions at once; for sessions that asked to have them gathered, in private channels."""
    MESSAGE_REACTION_REMOVE_ALL = "MESSAGE_REACTION_REMOVE_ALL"
    """All reactions of a message are gone."""
    MESSAGE_REACTION_REMOVE_EMOJI = "MESSAGE_REACTION_REMOVE_EMOJI"
    """All reactions of a message with one emoji are gone."""
    TYPING_START = "TYPING_START"
    """Someone is typing; a session may decline these."""
    CHANNEL_PINS_UPDATE = "CHANNEL_PINS_UPDATE"
    """The pinned messages of a channel changed."""
    CHANNEL_PINS_ACK = "CHANNEL_PINS_ACK"
    """The account has seen a channel's pinned messages."""
    VOICE_STATE_UPDATE = "VOICE_STATE_UPDATE"
    """Someone joined, changed or left voice."""
    VOICE_STATE_ACK = "VOICE_STATE_ACK"
    """A voice command was applied or rejected."""
    VOICE_SERVER_UPDATE = "VOICE_SERVER_UPDATE"
    """Where the media of a voice connection flows."""
    ENTRANCE_SOUND_PLAY = "ENTRANCE_SOUND_PLAY"
    """A sound plays as someone joins; for the participants."""
    CALL_CREATE = "CALL_CREATE"
    """A call was started."""
    CALL_UPDATE = "CALL_UPDATE"
    """A call changed."""
    CALL_DELETE = "CALL_DELETE"
    """A call is over or unavailable."""
    GUILD_COUNTS_UPDATE = "GUILD_COUNTS_UPDATE"
    """The answer to a request for guild counts."""
    CHANNEL_MEMBER_COUNTS_UPDATE = "CHANNEL_MEMBER_COUNTS_UPDATE"
    """The answer to a request for channel member counts."""
    THREAD_CREATE = "THREAD_CREATE"
    """A thread was started or became visible; for the thread's audience."""
    THREAD_UPDATE = "THREAD_UPDATE"
    """A thread changed; for the thread's audience."""
    THREAD_DELETE = "THREAD_DELETE"
    """A thread is gone; judged on the state before."""
    THREAD_LIST_SYNC = "THREAD_LIST_SYNC"
    """The threads that a session now sees."""
    THREAD_MEMBER_UPDATE = "THREAD_MEMBER_UPDATE"
    """The account's own membership in a thread changed."""
    THREAD_MEMBERS_UPDATE = "THREAD_MEMBERS_UPDATE"
    """Members of a thread came or went; for the thread's audience."""
    THREAD_MEMBER_LIST_UPDATE = "THREAD_MEMBER_LIST_UPDATE"
    """The members of a watched thread."""
    FORUM_UNREADS = "FORUM_UNREADS"
    """The answer to a request for a forum's unread counts."""


EVENTS: Final[Mapping[EventName, EventRule]] = MappingProxyType(
    {
        EventName.READY: EventRule(Audience.SESSION, "[Ready](gateway.md#ready)", "op 2", retained=False),
        EventName.RESUMED: EventRule(Audience.SESSION, "`{}`", "op 6", retained=False),
        EventName.SESSIONS_REPLACE: EventRule(
            Audience.ACCOUNT,
            "a bare list of session presences: `session_id` (`all` for the aggregate), `status`, `afk`, `mobile`",
            "op 3",
        ),
        EventName.AUTH_SESSION_CHANGE: EventRule(
            Audience.ACCOUNT, "never sent: nothing puts another token in the place of a session's own", NEVER
        ),
        EventName.RATE_LIMITED: EventRule(Audience.REQUESTER, "`opcode`, `retry_after` in seconds, `meta`", "op 8"),
        EventName.USER_UPDATE: EventRule(Audience.ACCOUNT, "the private user", "PATCH /v1/users/@me"),
        EventName.USER_SETTINGS_UPDATE: EventRule(
            Audience.ACCOUNT, "the whole settings", "PATCH /v1/users/@me/settings"
        ),
        EventName.USER_GUILD_SETTINGS_UPDATE: EventRule(
            Audience.ACCOUNT, "the whole settings for one guild", "PATCH /v1/users/@me/guilds/@me/settings"
        ),
        EventName.USER_NOTE_UPDATE: EventRule(
            Audience.ACCOUNT, "`id`, `note`; an empty text took the note away", "PUT /v1/users/@me/notes/{user_id}"
        ),
        EventName.USER_PINNED_DMS_UPDATE: EventRule(
            Audience.ACCOUNT, "a bare list of channel ids", "PUT /v1/users/@me/channels/{channel_id}/pin"
        ),
        EventName.USER_CONNECTIONS_UPDATE: EventRule(
            Audience.ACCOUNT, "never sent: accounts have no connections", NEVER
        ),
        EventName.WEBAUTHN_CREDENTIALS_UPDATE: EventRule(
            Audience.ACCOUNT, "a bare list of passkeys", "POST /v1/users/@me/mfa/webauthn/credentials"
        ),
        EventName.RELATIONSHIP_ADD: EventRule(
            Audience.ACCOUNT, "the relationship with its `user`", "POST /v1/users/@me/relationships/{user_id}"
        ),
        EventName.RELATIONSHIP_UPDATE: EventRule(
            Audience.ACCOUNT, "the relationship with its `user`", "PUT /v1/users/@me/relationships/{user_id}"
        ),
        EventName.RELATIONSHIP_REMOVE: EventRule(
            Audience.ACCOUNT, "`id`", "DELETE /v1/users/@me/relationships/{user_id}"
        ),
        EventName.SAVED_MESSAGE_CREATE: EventRule(Audience.ACCOUNT, "the message", "POST /v1/users/@me/saved-messages"),
        EventName.SAVED_MESSAGE_DELETE: EventRule(
            Audience.ACCOUNT, "`message_id`", "DELETE /v1/users/@me/saved-messages/{message_id}"
        ),
        EventName.RECENT_MENTION_DELETE: EventRule(
            Audience.ACCOUNT, "`message_id`", "DELETE /v1/users/@me/mentions/{message_id}"
        ),
        EventName.REMINDER_UPDATE: EventRule(
            Audience.ACCOUNT, "the reminder without its message", "PUT /v1/users/@me/reminders/{message_id}"
        ),
        EventName.REMINDER_DELETE: EventRule(Audience.ACCOUNT, "its id", "DELETE /v1/users/@me/reminders/{message_id}"),
        EventName.FAVORITE_MEME_CREATE: EventRule(
            Audience.ACCOUNT, "the meme", "POST /v1/channels/{channel_id}/messages/{message_id}/memes"
        ),
        EventName.FAVORITE_MEME_UPDATE: EventRule(Audience.ACCOUNT, "the meme", "PATCH /v1/users/@me/memes/{meme_id}"),
        EventName.FAVORITE_MEME_DELETE: EventRule(
            Audience.ACCOUNT, "`meme_id`", "DELETE /v1/users/@me/memes/{meme_id}"
        ),
        EventName.GUILD_CREATE: EventRule(
            Audience.SESSION, "[Guild payloads](gateway.md#guild-payloads)", "POST /v1/guilds"
        ),
        EventName.GUILD_SYNC: EventRule(
            Audience.SESSION, "[Guild payloads](gateway.md#guild-payloads)", "op 14", retained=False
        ),
        EventName.GUILD_UPDATE: EventRule(
            Audience.GUILD, "the guild, `guild_id`", "PATCH /v1/guilds/{guild_id}", passive=True
        ),
        EventName.GUILD_DELETE: EventRule(
            Audience.GUILD,
            "`id`, `guild_id?` where the guild itself is gone, `unavailable?`, `unavailable_hidden?`",
            "POST /v1/guilds/{guild_id}/delete",
            passive=True,
        ),
        EventName.GUILD_ROLE_CREATE: EventRule(
            Audience.GUILD, "`guild_id`, `role`", "POST /v1/guilds/{guild_id}/roles"
        ),
        EventName.GUILD_ROLE_UPDATE: EventRule(
            Audience.GUILD, "`guild_id`, `role`", "PATCH /v1/guilds/{guild_id}/roles/{role_id}", passive=True
        ),
        EventName.GUILD_ROLE_UPDATE_BULK: EventRule(
            Audience.GUILD, "`guild_id`, `roles`", "PATCH /v1/guilds/{guild_id}/roles", passive=True
        ),
        EventName.GUILD_ROLE_DELETE: EventRule(
            Audience.GUILD, "`guild_id`, `role_id`", "DELETE /v1/guilds/{guild_id}/roles/{role_id}"
        ),
        EventName.GUILD_EMOJIS_UPDATE: EventRule(
            Audience.GUILD, "`guild_id`, `emojis`: all of them", "POST /v1/guilds/{guild_id}/emojis"
        ),
        EventName.GUILD_STICKERS_UPDATE: EventRule(
            Audience.GUILD, "`guild_id`, `stickers`: all of them", "POST /v1/guilds/{guild_id}/stickers"
        ),
        EventName.CHANNEL_CREATE: EventRule(
            Audience.CHANNEL_VIEWERS, "the channel", "POST /v1/guilds/{guild_id}/channels", passive=True
        ),
        EventName.CHANNEL_UPDATE: EventRule(
            Audience.CHANNEL_VIEWERS, "the channel", "PATCH /v1/channels/{channel_id}", passive=True
        ),
        EventName.CHANNEL_DELETE: EventRule(
            Audience.CHANNEL_VIEWERS, "the channel", "DELETE /v1/channels/{channel_id}", passive=True
        ),
        EventName.CHANNEL_UPDATE_BULK: EventRule(
            Audience.GUILD,
            "`guild_id`, `channels` that the receiver sees",
            "PATCH /v1/guilds/{guild_id}/channels",
            passive=True,
        ),
        EventName.CHANNEL_RECIPIENT_ADD: EventRule(
            Audience.RECIPIENTS, "`channel_id`, `user`", "PUT /v1/channels/{channel_id}/recipients/{user_id}"
        ),
        EventName.CHANNEL_RECIPIENT_REMOVE: EventRule(
            Audience.RECIPIENTS, "`channel_id`, `user`", "DELETE /v1/channels/{channel_id}/recipients/{user_id}"
        ),
        EventName.WEBHOOKS_UPDATE: EventRule(
            Audience.CHANNEL_VIEWERS, "`guild_id`, `channel_id`", "POST /v1/channels/{channel_id}/webhooks"
        ),
        EventName.INVITE_CREATE: EventRule(
            Audience.OTHER, "the invite with its metadata", "POST /v1/channels/{channel_id}/invites"
        ),
        EventName.INVITE_DELETE: EventRule(
            Audience.OTHER, "`code`, `channel_id?`, `guild_id?`", "DELETE /v1/invites/{invite_code}"
        ),
        EventName.GUILD_MEMBER_ADD: EventRule(
            Audience.GUILD, "the member, `guild_id`", "POST /v1/invites/{invite_code}"
        ),
        EventName.GUILD_MEMBER_UPDATE: EventRule(
            Audience.GUILD, "the member, `guild_id`", "PATCH /v1/guilds/{guild_id}/members/{user_id}"
        ),
        EventName.GUILD_MEMBER_REMOVE: EventRule(
            Audience.GUILD, "`guild_id`, `user` with its `id` alone", "DELETE /v1/guilds/{guild_id}/members/{user_id}"
        ),
        EventName.GUILD_MEMBERS_CHUNK: EventRule(
            Audience.REQUESTER,
            "`guild_id`, `members`, `chunk_index`, `chunk_count`, `presences?`, `nonce?`",
            "op 8",
            retained=False,
        ),
        EventName.GUILD_MEMBER_LIST_UPDATE: EventRule(
            Audience.REQUESTER,
            "`guild_id`, `id`, `channel_id?`, `member_count`, `online_count`, `groups`, `ops`",
            "op 14",
            retained=False,
        ),
        EventName.GUILD_AUDIT_LOG_ENTRY_CREATE: EventRule(
            Audience.OTHER, "the entry, `guild_id`", "PATCH /v1/guilds/{guild_id}", passive=True
        ),
        EventName.GUILD_BAN_ADD: EventRule(
            Audience.GUILD, "`guild_id`, `user` with its `id` alone", "PUT /v1/guilds/{guild_id}/bans/{user_id}"
        ),
        EventName.GUILD_BAN_REMOVE: EventRule(
            Audience.GUILD, "`guild_id`, `user` with its `id` alone", "DELETE /v1/guilds/{guild_id}/bans/{user_id}"
        ),
        EventName.PRESENCE_UPDATE: EventRule(Audience.OTHER, "the presence", "op 3"),
        EventName.PRESENCE_UPDATE_BULK: EventRule(Audience.GUILD, "`guild_id`, `presences`", "op 14"),
        EventName.PASSIVE_UPDATES: EventRule(
            Audience.OTHER, "`guild_id`, `channels` with their last message ids, `voice_states?`", "time", passive=True
        ),
        EventName.MESSAGE_CREATE: EventRule(
            Audience.CHANNEL_VIEWERS,
            "the message, `channel_type`, `guild_id?`, `member?` without its `user`, `nicks?`, `mention_here?`",
            "POST /v1/channels/{channel_id}/messages",
        ),
        EventName.MESSAGE_UPDATE: EventRule(
            Audience.CHANNEL_READERS,
            "the whole message, `guild_id?`, `member?`",
            "PATCH /v1/channels/{channel_id}/messages/{message_id}",
        ),
        EventName.MESSAGE_DELETE: EventRule(
            Audience.CHANNEL_READERS,
            "`id`, `channel_id`, `content?`, `author_id?`, `guild_id?`, `member?`",
            "DELETE /v1/channels/{channel_id}/messages/{message_id}",
        ),
        EventName.MESSAGE_DELETE_BULK: EventRule(
            Audience.CHANNEL_VIEWERS,
            "`ids`, `channel_id`, `guild_id?`",
            "POST /v1/channels/{channel_id}/messages/bulk-delete",
        ),
        EventName.MESSAGE_ACK: EventRule(
            Audience.ACCOUNT,
            "`channel_id`, `message_id`, `mention_count`, `manual?`, `version?`",
            "POST /v1/channels/{channel_id}/messages/{message_id}/ack",
        ),
        EventName.MESSAGE_REACTION_ADD: EventRule(
            Audience.CHANNEL_READERS,
            "`user_id`, `channel_id`, `message_id`, `emoji`, `guild_id?`, `member?`",
            "PUT /v1/channels/{channel_id}/messages/{message_id}/reactions/{emoji}/@me",
        ),
        EventName.MESSAGE_REACTION_REMOVE: EventRule(
            Audience.CHANNEL_READERS,
            "`user_id`, `channel_id`, `message_id`, `emoji`, `guild_id?`, `member?`",
            "DELETE /v1/channels/{channel_id}/messages/{message_id}/reactions/{emoji}/@me",
        ),
        EventName.MESSAGE_REACTION_ADD_MANY: EventRule(
            Audience.OTHER,
            "`channel_id`, `message_id`, `reactions` of `user_id`, `emoji`",
            "PUT /v1/channels/{channel_id}/messages/{message_id}/reactions/{emoji}/@me",
        ),
        EventName.MESSAGE_REACTION_REMOVE_ALL: EventRule(
            Audience.CHANNEL_READERS,
            "`channel_id`, `message_id`, `guild_id?`",
            "DELETE /v1/channels/{channel_id}/messages/{message_id}/reactions",
        ),
        EventName.MESSAGE_REACTION_REMOVE_EMOJI: EventRule(
            Audience.CHANNEL_READERS,
            "`channel_id`, `message_id`, `emoji`, `guild_id?`",
            "DELETE /v1/channels/{channel_id}/messages/{message_id}/reactions/{emoji}",
        ),
        EventName.TYPING_START: EventRule(
            Audience.CHANNEL_VIEWERS,
            "`channel_id`, `user_id`, `timestamp` in seconds, `guild_id?`, `member?`",
            "POST /v1/channels/{channel_id}/typing",
        ),
        EventName.CHANNEL_PINS_UPDATE: EventRule(
            Audience.CHANNEL_VIEWERS,
            "`channel_id`, `last_pin_timestamp`, `guild_id?`",
            "PUT /v1/channels/{channel_id}/pins/{message_id}",
        ),
        EventName.CHANNEL_PINS_ACK: EventRule(
            Audience.ACCOUNT, "`channel_id`, `timestamp`", "POST /v1/channels/{channel_id}/pins/ack"
        ),
        EventName.VOICE_STATE_UPDATE: EventRule(Audience.CHANNEL_VIEWERS, "the voice state", "op 4", passive=True),
        EventName.VOICE_STATE_ACK: EventRule(
            Audience.REQUESTER,
            "`mutation_id`, `runtime_epoch`, `connection_id`, `guild_id`, `channel_id`, "
            "`status`, `server_version`, `canonical_state`, `error_code?`, `error_message?`",
            "op 4",
        ),
        EventName.VOICE_SERVER_UPDATE: EventRule(
            Audience.REQUESTER, "`token`, `endpoint`, `connection_id`, `channel_id`, `guild_id?`", "op 4"
        ),
        EventName.ENTRANCE_SOUND_PLAY: EventRule(Audience.OTHER, "never sent: there are no entrance sounds", NEVER),
        EventName.CALL_CREATE: EventRule(
            Audience.RECIPIENTS,
            "`channel_id`, `message_id`, `region`, `ringing`, `voice_states`; "
            "of a new one `recipients?`, `created_at?`",
            "POST /v1/channels/{channel_id}/call/ring",
        ),
        EventName.CALL_UPDATE: EventRule(
            Audience.RECIPIENTS,
            "`channel_id`, `message_id`, `region`, `ringing`, `voice_states`; "
            "of a new one `recipients?`, `created_at?`",
            "POST /v1/channels/{channel_id}/call/stop-ringing",
        ),
        EventName.CALL_DELETE: EventRule(
            Audience.RECIPIENTS, "`channel_id`, `unavailable?`", "POST /v1/channels/{channel_id}/call/end"
        ),
        EventName.GUILD_COUNTS_UPDATE: EventRule(
            Audience.REQUESTER, "`counts` of `guild_id`, `member_count`, `online_count`; `nonce?`", "op 15"
        ),
        EventName.CHANNEL_MEMBER_COUNTS_UPDATE: EventRule(
            Audience.REQUESTER,
            "`counts` of `guild_id`, `channel_id`, `member_count`, `online_count`; `nonce?`",
            "op 16",
        ),
        EventName.THREAD_CREATE: EventRule(
            Audience.OTHER, "the thread, `newly_created?`, `member?`", "POST /v1/channels/{channel_id}/threads"
        ),
        EventName.THREAD_UPDATE: EventRule(Audience.OTHER, "the thread", "PATCH /v1/channels/{channel_id}"),
        EventName.THREAD_DELETE: EventRule(
            Audience.CHANNEL_VIEWERS, "`id`, `guild_id`, `parent_id`, `type`", "DELETE /v1/channels/{channel_id}"
        ),
        EventName.THREAD_LIST_SYNC: EventRule(
            Audience.SESSION,
            "`guild_id`, `channel_ids?`, `threads`, `members`",
            "DELETE /v1/channels/{channel_id}/permissions/{target_id}",
        ),
        EventName.THREAD_MEMBER_UPDATE: EventRule(
            Audience.ACCOUNT,
            "the thread member, `guild_id`",
            "PATCH /v1/channels/{thread_id}/thread-members/@me/settings",
        ),
        EventName.THREAD_MEMBERS_UPDATE: EventRule(
            Audience.OTHER,
            "`id`, `guild_id`, `member_count`, `added_members?`, `removed_member_ids?`",
            "PUT /v1/channels/{thread_id}/thread-members/@me",
        ),
        EventName.THREAD_MEMBER_LIST_UPDATE: EventRule(
            Audience.REQUESTER, "`guild_id`, `thread_id`, `members`", "op 14", retained=False
        ),
        EventName.FORUM_UNREADS: EventRule(Audience.REQUESTER, "`guild_id`, `channel_id`, `threads`", "op 28"),
    }
)
"""The dispatch registry (gateway.md, Routing; gateway.md, Audiences)."""

NEVER_RETAINED: Final[frozenset[EventName]] = frozenset(name for name, rule in EVENTS.items() if not rule.retained)
"""Not kept for replay, though all but RESUMED take a sequence number (gateway.md, Replay buffer)."""

PASSIVE_WHEN_MENTIONED: Final[frozenset[EventName]] = frozenset({EventName.MESSAGE_CREATE})
"""Reach a passive session when they mention its account (gateway.md, Passive sessions)."""

PASSIVE_WHEN_OWN: Final[frozenset[EventName]] = frozenset(
    {EventName.GUILD_MEMBER_UPDATE, EventName.GUILD_MEMBER_REMOVE}
)
"""Reach a passive session when they are about its own account (gateway.md, Passive sessions)."""

SENT_WHILE_UNAVAILABLE: Final[frozenset[EventName]] = frozenset({EventName.GUILD_UPDATE})
"""The only Dispatch of a guild that is unavailable (gateway.md, Routing)."""

SHARD_ZERO_EXEMPT: Final[frozenset[EventName]] = frozenset(
    {EventName.RATE_LIMITED, EventName.GUILD_COUNTS_UPDATE, EventName.CHANNEL_MEMBER_COUNTS_UPDATE}
)
"""Name no guild and still reach sessions of shards other than 0 (gateway.md, Shards)."""

THREAD_EVENTS: Final[frozenset[EventName]] = frozenset(
    {
        EventName.THREAD_CREATE,
        EventName.THREAD_UPDATE,
        EventName.THREAD_DELETE,
        EventName.THREAD_LIST_SYNC,
        EventName.THREAD_MEMBER_UPDATE,
        EventName.THREAD_MEMBERS_UPDATE,
        EventName.THREAD_MEMBER_LIST_UPDATE,
        EventName.FORUM_UNREADS,
    }
)
"""Never sent to a user session without the CHANNEL_THREADS flag (gateway.md, Sessions without threads)."""
