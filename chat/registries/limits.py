"""Every number that bounds something, with its unit and with what happens there.

Settings may override some of them; these are the values that hold when nobody says otherwise.
"""

from __future__ import annotations

from typing import Final

# Connections and messages (gateway.md, Connecting)

INBOUND_MESSAGE_BYTES: Final = 16_384
"""A longer message, on the wire or after decompression, closes 4002 `Payload too large`."""

CONNECTIONS_PER_ADDRESS: Final = 256
"""While an address holds this many, its next one closes 4008 `Too many connections`. It may hold
as many that are not the gateway's; the next of those is answered 429 RATE_LIMITED, unread."""

SESSIONS_PER_USER: Final = 100
"""A user with this many live sessions, attached or retained, gets 4008 `Too many sessions`; bots do not."""

BOT_SHARD_GUILD_CEILING: Final = 2_500
"""A bot whose shard owns more, unavailable ones included, gets 4011 `Sharding required`."""

SHARD_COUNT_MINIMUM: Final = 1
"""A lower count closes 4010 `Invalid shard`."""

SHARD_COUNT_MAXIMUM: Final = 16_384
"""A higher count closes 4010 `Invalid shard`."""

SESSION_RETENTION_MS: Final = 60_000
"""How long a session outlives its socket; later a Resume gets Invalid Session."""

OFFLINE_PUBLICATION_MS: Final = 5_000
"""How long after its socket dropped a session is published as offline."""

HEARTBEAT_DEADLINE_MS: Final = 45_000
"""More than this since the last acknowledgement closes 4009 `Heartbeat timeout`."""

SERVER_HEARTBEAT_AFTER_MS: Final = 37_125
"""How long after the last acknowledgement the server asks for a Heartbeat: 90 per cent of the interval."""

SEQUENCE_CONFIRMATION_MS: Final = 5_000
"""A sequence that the session has not confirmed by then closes 4007 `Invalid sequence`."""

SUDO_PROOF_MS: Final = 300_000
"""A sudo proof counts for no longer than this after it was issued."""

# The gateway's own timers and budgets (gateway.md, Command budgets)

HEARTBEAT_INTERVAL_MS: Final = 41_250
"""What Hello tells clients to keep to."""

IDENTIFY_BUDGET: Final = 300
"""Identifies that one address may send in a window; one more is discarded without a reply."""

IDENTIFY_BUDGET_WINDOW_MS: Final = 60_000
"""The fixed window of the Identify budget."""

COMMAND_BUDGET: Final = 600
"""Payloads, pings and pongs that one socket may send in a window; one more closes 4008 `Rate limited`."""

COMMAND_BUDGET_WINDOW_MS: Final = 60_000
"""The window of the command budget: rolling for a socket, fixed for a session."""

ADDRESS_COMMAND_BUDGET: Final = 6_000
"""Payloads, pings and pongs that all sockets of one address may send in a window; one more closes 4008 `Rate
limited`."""

ADDRESS_COMMAND_BUDGET_WINDOW_MS: Final = 60_000
"""The fixed window of an address's command budget."""

PRESENCE_BUDGET: Final = 5
"""Presence Updates that one socket may send in a window; the excess is dropped."""

PRESENCE_BUDGET_WINDOW_MS: Final = 20_000
"""The rolling window of the presence budget."""

HELD_IDENTIFY_RETRY_MIN_MS: Final = 1_000
"""A held Identify is not tried again sooner."""

HELD_IDENTIFY_RETRY_MAX_MS: Final = 1_999
"""A held Identify is tried again no later."""

COMMANDS_WAITING_WHILE_STARTING: Final = 64
"""What may wait while a session starts; one more closes 4008 `Rate limited`."""

SESSION_STARTS_IN_PROGRESS: Final = 512
"""While the node starts this many sessions at once, further Identifies are held."""

SESSION_ID_CHARACTERS: Final = 32
"""The length of a session id, in lower-case hexadecimal digits."""

OUTBOXES_BYTES: Final = 268_435_456
"""What may wait for all gateway sockets together; more closes the one for which most waits, 4008 `Outbox full`, and its
session is retained."""

# Gateway nodes (architecture.md, Beyond one process)

NODE_SESSIONS: Final = 65_536
"""Sessions that one gateway node holds; an Identify beyond them is held."""

NODE_UNCONFIRMED_BYTES: Final = 16_777_216
"""What the core keeps for a gateway node that confirms nothing; beyond it the node counts as dead, and its sessions
end. A node keeps as much for the core, and beyond it begins anew."""

# Replay (gateway.md, Replay buffer)

REPLAY_DISPATCHES: Final = 4_096
"""What a session retains for replay; the oldest is evicted and raises the replay floor."""

REPLAY_BYTES: Final = 16_777_216
"""How large the retained dispatches of a session may be together; the oldest is evicted."""

RETAINED_EVENT_BYTES: Final = 2_097_152
"""A larger event is delivered but not retained."""

# Decoding and compression (gateway.md, Compression)

JSON_DEPTH_MAXIMUM: Final = 64
"""Deeper nesting, the outermost object counted as one, is `Decode failed` on the gateway and INVALID_FORM_BODY over
HTTP."""

ZSTD_WINDOW_BYTES: Final = 8_388_608
"""A client's zstd frame that asks for a larger window is `Decompression failed`."""

ZSTD_COMPRESSION_LEVEL: Final = 1
"""At which the server compresses: level 3 costs ten times the memory for the same ratio."""

ZSTD_COMPRESSION_WINDOW_BYTES: Final = 4_096
"""How far back the server's own stream refers, which bounds a connection's memory."""

# Identify (gateway.md, Identify)

IGNORED_EVENTS_MAXIMUM: Final = 256
"""More in `ignored_events` closes 4002 `Invalid identify payload`."""

COORDINATE_CHARACTERS: Final = 32
"""The longest `latitude` or `longitude` in Identify's properties."""

CUSTOM_STATUS_TEXT_CHARACTERS: Final = 128
"""A longer text makes a custom status invalid."""

CUSTOM_STATUS_EMOJI_NAME_CHARACTERS: Final = 32
"""A longer emoji name makes a custom status invalid."""

# Voice State Update (gateway.md, Voice State Update)

VOICE_IMMEDIATE_COMMANDS: Final = 2
"""Voice commands of a window that are applied at once; the rest is queued."""

VOICE_IMMEDIATE_WINDOW_MS: Final = 1_000
"""The rolling window in which voice commands are applied at once."""

VOICE_QUEUE_COMMANDS: Final = 64
"""What may wait of a socket's voice commands; one more is dropped."""

VOICE_QUEUE_DRAIN_MS: Final = 500
"""One queued voice command is applied each time this has passed."""

VOICE_BASE_VERSION_LAG: Final = 1
"""A voice command whose base version is further behind is rejected."""

# Requests of clients (gateway.md, Request Guild Members; gateway.md, Lazy Request; gateway.md, Requests for counts)

REQUESTS_IN_PROGRESS: Final = 4
"""Requests of opcodes 8, 14, 15 and 16 that a socket may have running; the excess is dropped."""

REQUEST_DEADLINE_MS: Final = 10_000
"""A request that takes longer is abandoned."""

MEMBERS_CHUNK_MEMBERS: Final = 1_000
"""Members in one chunk; more make further chunks."""

MEMBERS_QUERY_LIMIT_MAXIMUM: Final = 100
"""A higher `limit` is lowered to this."""

MEMBERS_QUERY_LIMIT_DEFAULT: Final = 25
"""What a query without a limit gets."""

MEMBERS_FULL_LIST_MAXIMUM: Final = 100_000
"""A whole member list ends here."""

MEMBERS_USER_IDS: Final = 100
"""A request that names more members is abandoned."""

MEMBERS_NONCE_BYTES: Final = 32
"""A longer nonce is not echoed."""

BOT_FULL_LIST_WINDOW_MS: Final = 30_000
"""A bot gets one guild's whole list once in this time; sooner it gets RATE_LIMITED."""

LAZY_RANGES: Final = 10
"""Ranges of a member list that may be watched at a time."""

LAZY_RANGE_SPAN: Final = 99
"""How far apart the ends of a watched range may lie."""

LAZY_RANGE_END: Final = 100_000
"""The last position that may be watched."""

LAZY_MEMBERS: Final = 1_000
"""Members of a guild whose presence a session may watch."""

LAZY_THREAD_MEMBER_LISTS: Final = 10
"""Threads whose members a session may watch."""

GUILD_COUNTS_GUILDS: Final = 100
"""Guilds that one Request Guild Counts may name."""

CHANNEL_COUNTS_CHANNELS: Final = 25
"""Channels that one Request Channel Member Counts may name."""

COUNTS_NONCE_BYTES: Final = 64
"""The longest nonce of a request for counts."""

FORUM_UNREADS_THREADS: Final = 40
"""Threads that one Request Forum Unreads may name."""

FORUM_UNREADS_BUDGET: Final = 5
"""Requests for forum unreads in a window."""

FORUM_UNREADS_BUDGET_WINDOW_MS: Final = 5_000
"""The window of the forum unreads budget."""

FORUM_UNREAD_COUNT_MAXIMUM: Final = 25
"""Counting of a thread's unread messages ends here."""

# Dispatch (gateway.md, Routing)

PASSIVE_GUILD_MEMBERS: Final = 250
"""Sessions are passive only in guilds with more members."""

PASSIVE_UPDATES_MS: Final = 30_000
"""How often a passive session gets PASSIVE_UPDATES."""

PASSIVE_ROLE_MENTIONS: Final = 100
"""Role mentions of a message that are looked at for passive sessions."""

PRESENCE_HOLD_ENTRIES: Final = 2_048
"""Presences held back while a session starts."""

PRESENCE_HOLD_MS: Final = 10_000
"""Held presences are released after Ready, or when this has passed."""

PRESENCE_BULK_PRESENCES: Final = 500
"""Presences in one PRESENCE_UPDATE_BULK."""

REACTION_DEBOUNCE_MS: Final = 650
"""How long reactions are gathered for sessions that asked for it."""

REACTION_DEBOUNCE_ADDITIONS: Final = 512
"""Gathered reactions at which they are sent at once."""

THREAD_MEMBER_COUNT_MAXIMUM: Final = 50
"""Counting of a thread's members ends here."""

ACTIVE_THREADS_PER_GUILD: Final = 1_000
"""Active threads of a guild; one more gets MAX_ACTIVE_THREADS."""

THREAD_MEMBERS_MAXIMUM: Final = 1_000
"""Members of a thread; one more gets MAX_THREAD_MEMBERS."""

THREAD_MEMBER_LIST_MEMBERS: Final = 1_000
"""Members in one THREAD_MEMBER_LIST_UPDATE."""

THREAD_MEMBER_IDS_SHOWN: Final = 8
"""Members that a thread object names."""

FORUM_TAGS: Final = 20
"""Tags that a forum may have, as at Discord."""

FORUM_TAG_CHARACTERS: Final = 20
"""A longer name of a tag is refused, as at Discord."""

APPLIED_TAGS: Final = 5
"""Tags of a post."""

PINNED_THREADS_IN_FORUM: Final = 1
"""Pinned posts that a forum may have, as at Discord; one more gets MAX_PINNED_THREADS_IN_FORUM."""

THREAD_SEARCH_THREADS: Final = 25
"""Threads on one page of a search, as at Discord."""

THREAD_SEARCH_OFFSET: Final = 9_975
"""The largest offset of a thread search, as at Discord."""

# HTTP (http.md, Framing; http.md, Body sizes; access.md, Address bans)

REQUEST_HEADER_BYTES: Final = 40_960
"""A larger header block is refused; there is room for 32 KiB of cookies, as proxies that sign people in leave them."""

REQUEST_HEADER_MS: Final = 10_000
"""By then the first request line must be there."""

JSON_BODY_BYTES: Final = 1_048_576
"""A larger JSON body is 413 PAYLOAD_TOO_LARGE and the connection is closed."""

IMAGE_BODY_BYTES: Final = 150_994_944
"""The same for operations that accept images."""

IMAGE_BODIES_IN_PROGRESS: Final = 2
"""Bodies with images that are read at a time; further ones wait."""

BODY_STEP_MS: Final = 60_000
"""Within this time a body must bring BODY_STEP_BYTES more, or its end."""

BODY_STEP_BYTES: Final = 65_536
"""What of a body must arrive in BODY_STEP_MS; how long all of it takes does not matter."""

AUTHENTICATION_FAILURES: Final = 20
"""Answers of 401 kind in a window that ban an address."""

AUTHENTICATION_FAILURES_WINDOW_MS: Final = 600_000
"""The window in which authentication failures are counted."""

ADDRESS_BAN_MS: Final = 3_600_000
"""How long such an address gets GLOBAL_IP_TEMPORARILY_BANNED."""

SHUTDOWN_RESUME_MS: Final = 60_000
"""How long after a restart a Resume finds the sessions of the process before."""

# Accounts (accounts.md, Names and tags; signing_in.md, Verification mails)

VERIFICATION_MAILS: Final = 3
"""Verification mails to one address in a window; one more is 429."""

VERIFICATION_MAILS_WINDOW_MS: Final = 900_000
"""The window in which verification mails are counted."""

PASSKEY_BRIDGE_MS: Final = 300_000
"""A passkey bridge that is not redeemed by then is gone."""

RECOVERY_CODE_CHARACTERS: Final = 32
"""The length of a recovery kit's code."""

SCHEDULED_MESSAGES: Final = 30
"""Messages that an account may have scheduled; one more is MAX_SCHEDULED_MESSAGES."""

DRAFTS: Final = 100
"""Drafts that an account keeps; with one more the one edited first goes."""

SCHEDULED_AHEAD_MS: Final = 30 * 86_400_000
"""How far ahead a message may be scheduled."""

REMINDERS: Final = 100
"""Reminders that an account has at a time. With one more the one told first goes; where none was told yet, it is
MAX_REMINDERS."""

REMINDER_AHEAD_MS: Final = 365 * 86_400_000
"""How far ahead a reminder may be set."""

POLL_QUESTION_CHARACTERS: Final = 300
"""The question of a poll; a longer one is refused at its field, as are longer answers and more of them."""

POLL_ANSWERS: Final = 10
"""Answers of a poll."""

POLL_ANSWER_CHARACTERS: Final = 55
"""An answer of a poll in words."""

POLL_HOURS: Final = 768
"""How long a poll may be open, in hours: 32 days."""

OWN_MESSAGE_DELETION_DELAY_MS: Final = 86_400_000
"""How far ahead an account's own bulk deletion is scheduled."""

BIO_CHARACTERS: Final = 320
"""A longer bio is refused."""

PERMANENT_BAN_YEARS: Final = 100
"""A permanent ban is stored with an end that is this many years away."""
