"""The request limits of the operations on accounts, credentials and applications, and those that handlers ask for
themselves (http.md, Request limits; where they name no number, ours).
"""

from __future__ import annotations

from typing import Final

from chat.api.rate_limit import Bucket

MINUTE: Final = 60_000
HOUR: Final = 60 * MINUTE

DISCOVERY: Final = Bucket("discovery", 60, MINUTE)
OWN_ADDRESS: Final = Bucket("instance:ip", 60, MINUTE)
INSTANCE_SETUP: Final = Bucket("instance:setup", 10, MINUTE)
OPENAPI: Final = Bucket("openapi", 20, MINUTE)
GATEWAY_BOT: Final = Bucket("gateway:bot_info", 60, MINUTE)
APPLICATION_OWN: Final = Bucket("application:own", 60, MINUTE)

AUTH_REGISTER: Final = Bucket("auth:register", 50, MINUTE)
AUTH_LOGIN: Final = Bucket("auth:login", 50, MINUTE)
AUTH_LOGIN_MFA: Final = Bucket("auth:login:mfa", 50, MINUTE)
AUTH_LOGIN_MFA_OPTIONS: Final = Bucket("auth:login:mfa:options", 50, MINUTE)
AUTH_WEBAUTHN_OPTIONS: Final = Bucket("auth:webauthn:options", 50, MINUTE)
AUTH_WEBAUTHN: Final = Bucket("auth:webauthn:authenticate", 50, MINUTE)
AUTH_BRIDGE_START: Final = Bucket("auth:passkey_bridge:start", 20, MINUTE)
AUTH_BRIDGE_COMPLETE: Final = Bucket("auth:passkey_bridge:complete", 40, MINUTE)
AUTH_BRIDGE_REDEEM: Final = Bucket("auth:passkey_bridge:redeem", 120, MINUTE)
"""For programs that ask about every second."""

AUTH_HANDOFF_INITIATE: Final = Bucket("auth:handoff:initiate", 20, MINUTE)
AUTH_HANDOFF_COMPLETE: Final = Bucket("auth:handoff:complete", 20, MINUTE)
AUTH_HANDOFF_STATUS: Final = Bucket("auth:handoff:status", 120, MINUTE)
"""For programs that ask about every second, as with redeem."""

AUTH_IP_AUTHORIZE: Final = Bucket("auth:ip_authorization:authorize", 20, MINUTE)
AUTH_IP_RESEND: Final = Bucket("auth:ip_authorization:resend", 20, MINUTE)
AUTH_IP_POLL: Final = Bucket("auth:ip_authorization:poll", 120, MINUTE)
"""For programs that ask about every second, as with redeem."""

AUTH_SSO_STATUS: Final = Bucket("auth:sso:status", 60, MINUTE)
AUTH_SSO_START: Final = Bucket("auth:sso:start", 20, MINUTE)
AUTH_SSO_COMPLETE: Final = Bucket("auth:sso:complete", 20, MINUTE)

AUTH_LOGOUT: Final = Bucket("auth:logout", 20, MINUTE)
AUTH_SESSIONS: Final = Bucket("auth:sessions", 40, MINUTE)
AUTH_SESSIONS_LOGOUT: Final = Bucket("auth:sessions:logout", 20, MINUTE)
AUTH_VERIFY: Final = Bucket("auth:verify", 20, MINUTE)
AUTH_VERIFY_RESEND: Final = Bucket("auth:verify:resend", 10, MINUTE)
AUTH_FORGOT: Final = Bucket("auth:forgot", 20, MINUTE)
AUTH_RESET: Final = Bucket("auth:reset", 20, MINUTE)
AUTH_RESET_CHECK: Final = Bucket("auth:reset:check", 40, MINUTE)
AUTH_EMAIL_REVERT: Final = Bucket("auth:email_revert", 20, MINUTE)
AUTH_RECOVERY: Final = Bucket("auth:recovery", 20, MINUTE)
AUTH_USERNAME_SUGGESTIONS: Final = Bucket("auth:username_suggestions", 30, MINUTE)

EMAIL_CHANGE_START: Final = Bucket("user:email_change:start", 5, 15 * MINUTE)
EMAIL_CHANGE_REQUEST: Final = Bucket("user:email_change:request", 5, 15 * MINUTE)
EMAIL_CHANGE_RESEND: Final = Bucket("user:email_change:resend", 10, 15 * MINUTE)
EMAIL_CHANGE_VERIFY: Final = Bucket("user:email_change:verify", 20, 15 * MINUTE)
EMAIL_CHANGE_APPLY: Final = Bucket("user:email_change:apply", 10, 15 * MINUTE)
PASSWORD_CHANGE_START: Final = Bucket("user:password_change:start", 5, 15 * MINUTE)
PASSWORD_CHANGE_RESEND: Final = Bucket("user:password_change:resend", 10, 15 * MINUTE)
PASSWORD_CHANGE_VERIFY: Final = Bucket("user:password_change:verify", 20, 15 * MINUTE)
PASSWORD_CHANGE_COMPLETE: Final = Bucket("user:password_change:complete", 10, 15 * MINUTE)
RECOVERY_KIT: Final = Bucket("user:recovery_kit", 10, 15 * MINUTE)
OWN_MESSAGES_DELETION: Final = Bucket("user:messages:delete", 10, MINUTE)
OWN_ARCHIVE: Final = Bucket("user:harvest", 10, MINUTE)
ACCOUNT_CLOSING: Final = Bucket("user:closing", 10, 15 * MINUTE)

USER_OWN: Final = Bucket("user:own", 100, 10_000)
USER_OWN_CHANGE: Final = Bucket("user:own:change", 20, MINUTE)
USER: Final = Bucket("user", 100, 10_000)
USER_PROFILE: Final = Bucket("user:profile", 40, 10_000)
TAG_CHECK: Final = Bucket("user:check_tag", 20, MINUTE)
TERMS_ACCEPTANCE: Final = Bucket("user:terms_acceptance", 10, MINUTE)
USER_AUTHORIZED_IPS: Final = Bucket("user:authorized_ips", 10, MINUTE)
USER_SETTINGS: Final = Bucket("user:settings", 60, MINUTE)
USER_SETTINGS_CHANGE: Final = Bucket("user:settings:change", 60, MINUTE)

VOICE_ACTIVITY_SHARING: Final = Bucket("user:settings:voice_activity_sharing", 10, MINUTE)

RELATIONSHIPS: Final = Bucket("relationships", 60, MINUTE)
FRIEND_REQUESTS: Final = Bucket("relationships:request", 20, MINUTE)
REQUESTS_IGNORED: Final = Bucket("relationships:bulk_ignore", 5, MINUTE)
RELATIONSHIP_CHANGE: Final = Bucket("relationships:change", 40, MINUTE)
NOTES: Final = Bucket("user:notes", 60, MINUTE)
NOTE_CHANGE: Final = Bucket("user:notes:change", 40, MINUTE)
REPORT_CREATE: Final = Bucket("report:create", 10, MINUTE)
REPORT_OUTSIDE: Final = Bucket("report:outside", 10, MINUTE)
PRIVATE_CHANNELS: Final = Bucket("user:channels", 60, MINUTE)
PRIVATE_CHANNEL_OPEN: Final = Bucket("user:channels:open", 20, MINUTE)
PRIVATE_CHANNEL_PIN: Final = Bucket("user:channels:pin", 40, 10_000)
GROUP_RECIPIENTS: Final = Bucket("channel:recipients::channel_id", 20, 10_000)

PUSH: Final = Bucket("user:push", 60, MINUTE)
PUSH_CHANGE: Final = Bucket("user:push:change", 20, MINUTE)

NOTIFICATION_WORDS: Final = Bucket("user:notification_words", 60, MINUTE)
NOTIFICATION_WORDS_CHANGE: Final = Bucket("user:notification_words:change", 20, MINUTE)

MFA: Final = Bucket("user:mfa", 40, MINUTE)
MFA_CHANGE: Final = Bucket("user:mfa:change", 20, MINUTE)
SUDO_OPTIONS: Final = Bucket("user:sudo:options", 20, MINUTE)

THREADS: Final = Bucket("guild:threads::guild_id", 20, 10_000)
THREAD_START: Final = Bucket("channel:threads:start::channel_id", 10, MINUTE)
THREADS_ARCHIVED: Final = Bucket("channel:threads:archived::channel_id", 40, 10_000)
THREAD_SEARCH: Final = Bucket("channel:threads:search::channel_id", 20, 10_000)
THREAD_MEMBERS: Final = Bucket("thread:members::thread_id", 40, 10_000)
THREAD_MEMBER_CHANGE: Final = Bucket("thread:members:change::thread_id", 20, 10_000)

MESSAGES_BULK: Final = Bucket("channel:messages:bulk", 20, 10_000)
MESSAGES_PRELOAD: Final = Bucket("user:messages:preload", 20, 10_000)
MESSAGES_BULK_DELETE: Final = Bucket("channel:message:bulk_delete::channel_id", 10, 10_000)
MESSAGES_PURGE: Final = Bucket("channel:message:purge::channel_id", 5, 10_000)
MESSAGES_DELETE_MINE: Final = Bucket("channel:message:delete_mine::channel_id", 10, 10_000)
SLOWMODE: Final = Bucket("channel:slowmode::channel_id", 40, 10_000)
DRAFTS: Final = Bucket("user:drafts", 60, MINUTE)
DRAFTS_CHANGE: Final = Bucket("user:drafts:change", 60, MINUTE)
REMINDERS: Final = Bucket("user:reminders", 60, MINUTE)
REMINDERS_CHANGE: Final = Bucket("user:reminders:change", 60, MINUTE)
SCHEDULED_MESSAGES: Final = Bucket("user:scheduled_messages", 60, MINUTE)
SCHEDULED_MESSAGES_CHANGE: Final = Bucket("user:scheduled_messages:change", 40, MINUTE)
PINS: Final = Bucket("channel:pins::channel_id", 40, 10_000)
PIN_CHANGE: Final = Bucket("channel:pins:change::channel_id", 20, 10_000)
PINS_ACK: Final = Bucket("channel:pins:ack::channel_id", 40, 10_000)

CROSSPOST: Final = Bucket("channel:message:crosspost::channel_id", 10, HOUR)
FOLLOW: Final = Bucket("channel:follow::channel_id", 10, MINUTE)

REACTION_CHANGE: Final = Bucket("channel:message:reactions:change::channel_id", 40, 10_000)
POLL_VOTE: Final = Bucket("channel:message:polls:change::channel_id", 40, 10_000)
REACTION_LIST: Final = Bucket("channel:message:reactions:list::channel_id", 40, 10_000)

READ_STATE: Final = Bucket("channel:message:ack::channel_id", 100, 10_000)
READ_STATES: Final = Bucket("read_states:ack", 40, 10_000)
MENTIONS: Final = Bucket("user:mentions", 40, 10_000)
MENTIONS_CHANGE: Final = Bucket("user:mentions:change", 40, 10_000)
SAVED_MESSAGES: Final = Bucket("user:saved_messages", 40, 10_000)
SAVED_MESSAGES_CHANGE: Final = Bucket("user:saved_messages:change", 20, 10_000)
MEMES: Final = Bucket("user:memes", 40, 10_000)
MEMES_FETCH: Final = Bucket("user:memes:create", 10, 10_000)
MEMES_CHANGE: Final = Bucket("user:memes:change", 20, 10_000)
GIFS: Final = Bucket("user:gifs", 40, 10_000)

APPLICATIONS: Final = Bucket("applications", 60, MINUTE)
APPLICATION_CREATE: Final = Bucket("application:create", 10, MINUTE)
APPLICATION: Final = Bucket("application::application_id", 60, MINUTE)
APPLICATION_CHANGE: Final = Bucket("application:change::application_id", 20, MINUTE)
APPLICATION_SECRETS: Final = Bucket("application:secrets::application_id", 10, MINUTE)

OAUTH2_AUTHORIZE: Final = Bucket("oauth2:authorize", 60, MINUTE)
OAUTH2_CONSENT: Final = Bucket("oauth2:consent", 20, MINUTE)
OAUTH2_TOKEN: Final = Bucket("oauth2:token", 120, MINUTE)
OAUTH2_REVOKE: Final = Bucket("oauth2:revoke", 120, MINUTE)
OAUTH2_INTROSPECT: Final = Bucket("oauth2:introspect", 300, MINUTE)
OAUTH2_IDENTITY: Final = Bucket("oauth2:identity", 60, MINUTE)
OAUTH2_AUTHORIZATIONS: Final = Bucket("oauth2:authorizations", 40, MINUTE)
OAUTH2_AUTHORIZATIONS_END: Final = Bucket("oauth2:authorizations:end", 20, MINUTE)

# Limits of handlers: what is counted is named in the key, not in the path.

LOGINS_OF_NAME: Final = Bucket("handler:login:name", 5, 15 * MINUTE)
"""Logins on one address or username, right or wrong: of strangers together, of each network that the account has signed
in from apart, as are the other attempts on an account."""

LOGINS_OF_ADDRESS: Final = Bucket("handler:login:address", 10, 30 * MINUTE)
MFA_LOGINS_OF_ACCOUNT: Final = Bucket("handler:login:mfa:account", 10, 15 * MINUTE)
"""Second steps of logins into one account; beyond it codes are wrong and passkeys fail instead of 429."""

REGISTRATIONS_OF_EMAIL: Final = Bucket("handler:register:email", 3, 15 * MINUTE)
REGISTRATIONS_OF_ADDRESS: Final = Bucket("handler:register:address", 3, HOUR)
REGISTRATIONS_OF_SUBNET: Final = Bucket("handler:register:subnet", 15, HOUR)
SUDO_CODES: Final = Bucket("handler:sudo:code", 10, 15 * MINUTE)
"""Codes that an account gives in sudo mode, right or wrong. Beyond it 400 with INVALID_MFA_CODE instead of 429."""

SUDO_PASSWORDS: Final = Bucket("handler:sudo:password", 20, 15 * MINUTE)
"""Passwords that an account gives in sudo mode, right or wrong: more than codes, since each operation asks again."""

RECOVERIES_OF_ADDRESS: Final = Bucket("handler:forgot:address", 20, 30 * MINUTE)
RECOVERIES_OF_EMAIL: Final = Bucket("handler:forgot:email", 5, 30 * MINUTE)
"""Reset links asked for, whether an account has the address or not."""

KITS_OF_NAME: Final = Bucket("handler:recovery:name", 5, 15 * MINUTE)
"""Recovery codes tried on one username, right or wrong; as many as logins."""

KITS_OF_ADDRESS: Final = Bucket("handler:recovery:address", 10, 30 * MINUTE)
CODES_TO_EMAIL: Final = Bucket("handler:email_change:email", 3, 15 * MINUTE)
"""Codes to one address, whoever says that it is theirs: nobody's mailbox is filled through this."""

REPORT_CODES_TO_EMAIL: Final = Bucket("handler:report:email", 3, 15 * MINUTE)
REPORT_CODES_TRIED: Final = Bucket("handler:report:code", 10, 15 * MINUTE)
"""Codes tried for one address, right or wrong, whoever tries them."""

USERNAME_CHANGES: Final = Bucket("handler:username:change", 5, 3 * HOUR)
"""Beyond it 400 with USERNAME_CHANGED_TOO_MANY_TIMES instead of 429."""

GROUPS_MADE: Final = Bucket("handler:group:create", 10, HOUR)
"""Groups that an account makes."""
