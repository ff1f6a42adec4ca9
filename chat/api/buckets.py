"""The request limits of the operations on accounts, credentials and applications, and those that handlers ask for
themselves (wire facts 2.2 and 3.4; where they name no number, ours).
"""

from __future__ import annotations

from typing import Final

from chat.api.rate_limit import Bucket

MINUTE: Final = 60_000
HOUR: Final = 60 * MINUTE

DISCOVERY: Final = Bucket("discovery", 60, MINUTE)
GATEWAY_BOT: Final = Bucket("gateway:bot_info", 60, MINUTE)
APPLICATION_OWN: Final = Bucket("application:own", 60, MINUTE)

AUTH_REGISTER: Final = Bucket("auth:register", 50, MINUTE)
AUTH_LOGIN: Final = Bucket("auth:login", 50, MINUTE)
AUTH_LOGOUT: Final = Bucket("auth:logout", 20, MINUTE)
AUTH_SESSIONS: Final = Bucket("auth:sessions", 40, MINUTE)
AUTH_SESSIONS_LOGOUT: Final = Bucket("auth:sessions:logout", 20, MINUTE)
AUTH_VERIFY: Final = Bucket("auth:verify", 20, MINUTE)
AUTH_VERIFY_RESEND: Final = Bucket("auth:verify:resend", 10, MINUTE)

USER_OWN: Final = Bucket("user:own", 100, 10_000)
USER_OWN_CHANGE: Final = Bucket("user:own:change", 20, MINUTE)
USER: Final = Bucket("user", 100, 10_000)
USER_SETTINGS: Final = Bucket("user:settings", 60, MINUTE)
USER_SETTINGS_CHANGE: Final = Bucket("user:settings:change", 60, MINUTE)

RELATIONSHIPS: Final = Bucket("relationships", 60, MINUTE)
FRIEND_REQUESTS: Final = Bucket("relationships:request", 20, MINUTE)
RELATIONSHIP_CHANGE: Final = Bucket("relationships:change", 40, MINUTE)
PRIVATE_CHANNELS: Final = Bucket("user:channels", 60, MINUTE)
PRIVATE_CHANNEL_OPEN: Final = Bucket("user:channels:open", 20, MINUTE)

MFA: Final = Bucket("user:mfa", 40, MINUTE)
MFA_CHANGE: Final = Bucket("user:mfa:change", 20, MINUTE)
SUDO_OPTIONS: Final = Bucket("user:sudo:options", 20, MINUTE)

APPLICATIONS: Final = Bucket("applications", 60, MINUTE)
APPLICATION_CREATE: Final = Bucket("application:create", 10, MINUTE)
APPLICATION: Final = Bucket("application::application_id", 60, MINUTE)
APPLICATION_CHANGE: Final = Bucket("application:change::application_id", 20, MINUTE)
APPLICATION_SECRETS: Final = Bucket("application:secrets::application_id", 10, MINUTE)

# Limits of handlers: what is counted is named in the key, not in the path.

LOGINS_OF_NAME: Final = Bucket("handler:login:name", 5, 15 * MINUTE)
"""Logins on one address or username, right or wrong."""

LOGINS_OF_ADDRESS: Final = Bucket("handler:login:address", 10, 30 * MINUTE)
REGISTRATIONS_OF_EMAIL: Final = Bucket("handler:register:email", 3, 15 * MINUTE)
REGISTRATIONS_OF_ADDRESS: Final = Bucket("handler:register:address", 3, HOUR)
REGISTRATIONS_OF_SUBNET: Final = Bucket("handler:register:subnet", 15, HOUR)
SUDO_CODES: Final = Bucket("handler:sudo:code", 10, 15 * MINUTE)
"""Codes that an account gives in sudo mode, right or wrong. Beyond it 400 with INVALID_MFA_CODE instead of 429."""

USERNAME_CHANGES: Final = Bucket("handler:username:change", 5, 3 * HOUR)
"""Beyond it 400 with USERNAME_CHANGED_TOO_MANY_TIMES instead of 429."""
