"""Every number that bounds something, with its unit and with what happens there.

Sources: document 000, Limits; wire facts 1.2 to 1.4; design 7. Settings may override some of them; these are the values
that hold when nobody says otherwise.
"""

from __future__ import annotations

from typing import Final

# Connections and messages (document 000, Limits)

INBOUND_MESSAGE_BYTES: Final = 16_384
"""A longer message, on the wire or after decompression, closes 4002 `Payload too large` (document 000, Limits)."""

CONNECTIONS_PER_ADDRESS: Final = 256
"""While an address holds this many, its next one closes 4008 `Too many connections` (document 000, Limits). It may hold
as many that are not the gateway's; the next of those is answered 429 RATE_LIMITED, unread (design 8)."""

SESSIONS_PER_USER: Final = 100
"""A user with this many live sessions, attached or retained, gets 4008 `Too many sessions`; bots do not (document 000,
Limits; design 7)."""

BOT_SHARD_GUILD_CEILING: Final = 2_500
"""A bot whose shard owns more, unavailable ones included, gets 4011 `Sharding required` (document 000, Limits;
design 7)."""

SHARD_COUNT_MINIMUM: Final = 1
"""A lower count closes 4010 `Invalid shard` (document 000, Limits)."""

SHARD_COUNT_MAXIMUM: Final = 16_384
"""A higher count closes 4010 `Invalid shard` (document 000, Limits)."""

SESSION_RETENTION_MS: Final = 60_000
"""How long a session outlives its socket; later a Resume gets Invalid Session (document 000, Limits)."""

OFFLINE_PUBLICATION_MS: Final = 5_000
"""How long after its socket dropped a session is published as offline (document 000, Limits)."""

HEARTBEAT_DEADLINE_MS: Final = 45_000
"""More than this since the last acknowledgement closes 4009 `Heartbeat timeout` (document 000, Limits)."""

SERVER_HEARTBEAT_AFTER_MS: Final = 37_125
"""So long after the last acknowledgement the server asks for a Heartbeat: 90 per cent of the interval (document 000,
Limits; design 7)."""

SEQUENCE_CONFIRMATION_MS: Final = 5_000
"""A sequence that the session has not confirmed by then closes 4007 `Invalid sequence` (document 000, Limits)."""

SUDO_PROOF_MS: Final = 300_000
"""A sudo proof counts for no longer than this after it was issued (document 000, Limits)."""

# The gateway's own timers and budgets (wire facts 1.4; design 7)

HEARTBEAT_INTERVAL_MS: Final = 41_250
"""What Hello tells clients to keep to (wire facts 1.4; design 7)."""

IDENTIFY_BUDGET: Final = 300
"""Identifies that one address may send in a window; one more is discarded without a reply (wire facts 1.4;
design 7)."""

IDENTIFY_BUDGET_WINDOW_MS: Final = 60_000
"""The fixed window of the Identify budget (wire facts 1.4; design 7)."""

COMMAND_BUDGET: Final = 600
"""Payloads, pings and pongs that one socket may send in a window; one more closes 4008 `Rate limited` (wire facts 1.4;
design 7 and 8)."""

COMMAND_BUDGET_WINDOW_MS: Final = 60_000
"""The window of the command budget: rolling for a socket, fixed for a session (wire facts 1.4; design 7)."""

ADDRESS_COMMAND_BUDGET: Final = 6_000
"""Payloads, pings and pongs that all sockets of one address may send in a window; one more closes 4008 `Rate limited`
(wire facts 1.4; design 8)."""

ADDRESS_COMMAND_BUDGET_WINDOW_MS: Final = 60_000
"""The fixed window of an address's command budget (wire facts 1.4)."""

PRESENCE_BUDGET: Final = 5
"""Presence Updates that one socket may send in a window; the excess is dropped (wire facts 1.3; design 7)."""

PRESENCE_BUDGET_WINDOW_MS: Final = 20_000
"""The rolling window of the presence budget (wire facts 1.3; design 7)."""

HELD_IDENTIFY_RETRY_MIN_MS: Final = 1_000
"""A held Identify is not tried again sooner (wire facts 1.4; design 7)."""

HELD_IDENTIFY_RETRY_MAX_MS: Final = 1_999
"""A held Identify is tried again no later (wire facts 1.4; design 7)."""

COMMANDS_WAITING_WHILE_STARTING: Final = 64
"""What may wait while a session starts; one more closes 4008 `Rate limited` (design 7)."""

SESSION_STARTS_IN_PROGRESS: Final = 512
"""While the node starts this many sessions at once, further Identifies are held (wire facts 1.4)."""

SESSION_ID_CHARACTERS: Final = 32
"""The length of a session id, in lower-case hexadecimal digits (wire facts 1.4)."""

OUTBOXES_BYTES: Final = 268_435_456
"""What may wait for all gateway sockets together; more closes the one for which most waits, 4008 `Outbox full`, and its
session is retained (design 8)."""

# Replay (wire facts 1.4; design 7)

REPLAY_DISPATCHES: Final = 4_096
"""What a session retains for replay; the oldest is evicted and raises the replay floor (wire facts 1.4; design 7)."""

REPLAY_BYTES: Final = 16_777_216
"""How large the retained dispatches of a session may be together; the oldest is evicted (wire facts 1.4; design 7)."""

RETAINED_EVENT_BYTES: Final = 2_097_152
"""A larger event is delivered but not retained (wire facts 1.4; design 7)."""

# Decoding and compression (design 2, 6 and 7; reliability F12 to F15)

JSON_DEPTH_MAXIMUM: Final = 64
"""Deeper nesting, the outermost object counted as one, is `Decode failed` on the gateway and INVALID_FORM_BODY over
HTTP (design 7)."""

ZSTD_WINDOW_BYTES: Final = 8_388_608
"""A client's zstd frame that asks for a larger window is `Decompression failed` (design 7)."""

ZSTD_COMPRESSION_LEVEL: Final = 1
"""At which the server compresses: level 3 costs ten times the memory for the same ratio (design 6)."""

ZSTD_COMPRESSION_WINDOW_BYTES: Final = 4_096
"""How far back the server's own stream refers, which bounds a connection's memory (reliability F14)."""

# Identify (wire facts 1.2)

IGNORED_EVENTS_MAXIMUM: Final = 256
"""More in `ignored_events` closes 4002 `Invalid identify payload` (wire facts 1.2)."""

COORDINATE_CHARACTERS: Final = 32
"""The longest `latitude` or `longitude` in Identify's properties (wire facts 1.2)."""

CUSTOM_STATUS_TEXT_CHARACTERS: Final = 128
"""A longer text makes a custom status invalid (wire facts 1.2)."""

CUSTOM_STATUS_EMOJI_NAME_CHARACTERS: Final = 32
"""A longer emoji name makes a custom status invalid (wire facts 1.2)."""

# Voice State Update (wire facts 1.3, opcode 4)

VOICE_IMMEDIATE_COMMANDS: Final = 2
"""Voice commands of a window that are applied at once; the rest is queued (wire facts 1.3)."""

VOICE_IMMEDIATE_WINDOW_MS: Final = 1_000
"""The rolling window in which voice commands are applied at once (wire facts 1.3)."""

VOICE_QUEUE_COMMANDS: Final = 64
"""What may wait of a socket's voice commands; one more is dropped (wire facts 1.3)."""

VOICE_QUEUE_DRAIN_MS: Final = 500
"""One queued voice command is applied each time this has passed (wire facts 1.3)."""

VOICE_BASE_VERSION_LAG: Final = 1
"""A voice command whose base version is further behind is rejected (wire facts 1.3)."""

# Requests of clients (wire facts 1.3, opcodes 8, 14, 15, 16 and 28)

REQUESTS_IN_PROGRESS: Final = 4
"""Requests of opcodes 8, 14, 15 and 16 that a socket may have running; the excess is dropped (wire facts 1.3)."""

REQUEST_DEADLINE_MS: Final = 10_000
"""A request that takes longer is abandoned (wire facts 1.3)."""

MEMBERS_CHUNK_MEMBERS: Final = 1_000
"""Members in one chunk; more make further chunks (wire facts 1.8)."""

MEMBERS_QUERY_LIMIT_MAXIMUM: Final = 100
"""A higher `limit` is lowered to this (wire facts 1.3)."""

MEMBERS_QUERY_LIMIT_DEFAULT: Final = 25
"""What a query without a limit gets (wire facts 1.3)."""

MEMBERS_FULL_LIST_MAXIMUM: Final = 100_000
"""A whole member list ends here (wire facts 1.3)."""

MEMBERS_USER_IDS: Final = 100
"""A request that names more members is abandoned (wire facts 1.3)."""

MEMBERS_NONCE_BYTES: Final = 32
"""A longer nonce is not echoed (wire facts 1.3)."""

BOT_FULL_LIST_WINDOW_MS: Final = 30_000
"""A bot gets one guild's whole list once in this time; sooner it gets RATE_LIMITED (wire facts 1.3)."""

LAZY_RANGES: Final = 10
"""Ranges of a member list that may be watched at a time (wire facts 1.3)."""

LAZY_RANGE_SPAN: Final = 99
"""How far apart the ends of a watched range may lie (wire facts 1.3)."""

LAZY_RANGE_END: Final = 100_000
"""The last position that may be watched (wire facts 1.3)."""

LAZY_MEMBERS: Final = 1_000
"""Members of a guild whose presence a session may watch (wire facts 1.3)."""

LAZY_THREAD_MEMBER_LISTS: Final = 10
"""Threads whose members a session may watch (wire facts 1.3)."""

GUILD_COUNTS_GUILDS: Final = 100
"""Guilds that one Request Guild Counts may name (wire facts 1.3)."""

CHANNEL_COUNTS_CHANNELS: Final = 25
"""Channels that one Request Channel Member Counts may name (wire facts 1.3)."""

COUNTS_NONCE_BYTES: Final = 64
"""The longest nonce of a request for counts (wire facts 1.3)."""

FORUM_UNREADS_THREADS: Final = 40
"""Threads that one Request Forum Unreads may name (wire facts 1.3)."""

FORUM_UNREADS_BUDGET: Final = 5
"""Requests for forum unreads in a window (wire facts 1.3)."""

FORUM_UNREADS_BUDGET_WINDOW_MS: Final = 5_000
"""The window of the forum unreads budget (wire facts 1.3)."""

FORUM_UNREAD_COUNT_MAXIMUM: Final = 25
"""Counting of a thread's unread messages ends here (wire facts 1.7)."""

# Dispatch (wire facts 1.4, 1.8 and 1.9)

PASSIVE_GUILD_MEMBERS: Final = 250
"""Sessions are passive only in guilds with more members (wire facts 1.4)."""

PASSIVE_UPDATES_MS: Final = 30_000
"""How often a passive session gets PASSIVE_UPDATES (wire facts 1.4)."""

PASSIVE_ROLE_MENTIONS: Final = 100
"""Role mentions of a message that are looked at for passive sessions (wire facts 1.9)."""

PRESENCE_HOLD_ENTRIES: Final = 2_048
"""Presences held back while a session starts (wire facts 1.4)."""

PRESENCE_HOLD_MS: Final = 10_000
"""Held presences are released after Ready, or when this has passed (wire facts 1.4)."""

PRESENCE_BULK_PRESENCES: Final = 500
"""Presences in one PRESENCE_UPDATE_BULK (wire facts 1.8)."""

REACTION_DEBOUNCE_MS: Final = 650
"""How long reactions are gathered for sessions that asked for it (wire facts 1.4)."""

REACTION_DEBOUNCE_ADDITIONS: Final = 512
"""Gathered reactions at which they are sent at once (wire facts 1.4)."""

THREAD_MEMBER_COUNT_MAXIMUM: Final = 50
"""Counting of a thread's members ends here (wire facts 1.8)."""

ACTIVE_THREADS_PER_GUILD: Final = 1_000
"""Active threads of a guild; one more gets MAX_ACTIVE_THREADS (wire facts 5.6)."""

THREAD_MEMBERS_MAXIMUM: Final = 1_000
"""Members of a thread; one more gets MAX_THREAD_MEMBERS (wire facts 5.6)."""

THREAD_MEMBER_LIST_MEMBERS: Final = 1_000
"""Members in one THREAD_MEMBER_LIST_UPDATE (wire facts 1.8)."""

THREAD_MEMBER_IDS_SHOWN: Final = 8
"""Members that a thread object names (wire facts 5.6)."""

FORUM_TAGS: Final = 20
"""Tags of a forum (a convention of the field)."""

FORUM_TAG_CHARACTERS: Final = 20
"""A longer name of a tag is refused (a convention of the field)."""

APPLIED_TAGS: Final = 5
"""Tags of a post (wire facts 5.6)."""

PINNED_THREADS_IN_FORUM: Final = 1
"""Pinned posts of a forum; one more gets MAX_PINNED_THREADS_IN_FORUM (a convention of the field)."""

THREAD_SEARCH_THREADS: Final = 25
"""Threads on one page of a search (a convention of the field)."""

THREAD_SEARCH_OFFSET: Final = 9_975
"""A search goes no further than this (a convention of the field)."""

# HTTP (design 2 and 7)

REQUEST_HEADER_BYTES: Final = 16_384
"""A larger header block is refused (design 2)."""

REQUEST_HEADER_MS: Final = 10_000
"""By then the first request line must be there (design 2)."""

JSON_BODY_BYTES: Final = 1_048_576
"""A larger JSON body is 413 PAYLOAD_TOO_LARGE and the connection is closed (design 7)."""

IMAGE_BODY_BYTES: Final = 150_994_944
"""The same for operations that accept images (design 7)."""

IMAGE_BODIES_IN_PROGRESS: Final = 2
"""Bodies with images that are read at a time; further ones wait (design 7)."""

BODY_BASE_MS: Final = 60_000
"""A body must arrive within this time, and more the larger it is (design 7)."""

BODY_BYTES_PER_EXTRA_SECOND: Final = 262_144
"""For each of these announced a body has one second more (design 7)."""

AUTHENTICATION_FAILURES: Final = 20
"""Answers of 401 kind in a window that ban an address (design 7)."""

AUTHENTICATION_FAILURES_WINDOW_MS: Final = 600_000
"""The window in which authentication failures are counted (design 7)."""

ADDRESS_BAN_MS: Final = 3_600_000
"""How long such an address gets GLOBAL_IP_TEMPORARILY_BANNED (design 7)."""

SHUTDOWN_RESUME_MS: Final = 60_000
"""So long after a restart a Resume finds the sessions of the process before (design 4)."""

# Accounts (design 7; document 002, Limits)

VERIFICATION_MAILS: Final = 3
"""Verification mails to one address in a window; one more is 429 (document 002, Limits; design 7)."""

VERIFICATION_MAILS_WINDOW_MS: Final = 900_000
"""The window in which verification mails are counted (document 002, Limits; design 7)."""

PASSKEY_BRIDGE_MS: Final = 300_000
"""A passkey bridge that is not redeemed by then is gone (design 7)."""

RECOVERY_CODE_CHARACTERS: Final = 32
"""The length of a recovery kit's code (design 7)."""

OWN_MESSAGE_DELETION_DELAY_MS: Final = 86_400_000
"""How far ahead an account's own bulk deletion is scheduled (design 7)."""

BIO_CHARACTERS: Final = 320
"""A longer bio is refused (design 7)."""

PERMANENT_BAN_YEARS: Final = 100
"""A permanent ban is stored as ending so much later (design 7)."""
