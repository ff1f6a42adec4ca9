"""Error codes of the HTTP API: status and our default message for each, and the codes of single fields.

See http.md, Error envelope.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from enum import auto
from types import MappingProxyType
from typing import Any, Final, Self


def _own_name(name: str, start: int, count: int, last_values: list[Any]) -> str:
    """What `auto()` stands for: a code is its own name."""
    return name


class ErrorCode(enum.StrEnum):
    """A top-level `code`, the HTTP status it goes with, and what it says to a person unless told otherwise."""

    _generate_next_value_ = staticmethod(_own_name)
    status: int
    message: str

    def __new__(cls, code: str, status: int, message: str) -> Self:
        """One member."""
        member = str.__new__(cls, code)
        member._value_ = code
        member.status, member.message = status, message
        return member

    ACLS_MUST_BE_NON_EMPTY = auto(), 400, "Name at least one ACL."
    AGE_VERIFICATION_ALREADY_VERIFIED = auto(), 400, "This account's age is verified already."
    ALREADY_FRIENDS = auto(), 400, "You are friends already."
    ANNOUNCEMENT_CHANNEL_REQUIRED = auto(), 400, "This works in announcement channels only."
    BAD_REQUEST = auto(), 400, "The request makes no sense here."
    BOTS_CANNOT_CREATE_GUILDS = auto(), 400, "A bot cannot create a guild."
    BOTS_CANNOT_SEND_FRIEND_REQUESTS = auto(), 400, "A bot cannot send friend requests."
    BOT_ALREADY_IN_GUILD = auto(), 400, "The bot is a member of this guild already."
    CALL_ALREADY_EXISTS = auto(), 400, "A call is running in this channel already."
    CANNOT_BLOCK_SYSTEM_USER = auto(), 400, "The system account cannot be blocked."
    CANNOT_EXECUTE_ON_DM = auto(), 400, "This cannot be done in a private channel."
    CANNOT_MODIFY_SYSTEM_WEBHOOK = auto(), 400, "A webhook of the system cannot be changed."
    CANNOT_REPORT_OWN_GUILD = auto(), 400, "You cannot report a guild that you own."
    CANNOT_REPORT_OWN_MESSAGE = auto(), 400, "You cannot report a message of your own."
    CANNOT_REPORT_YOURSELF = auto(), 400, "You cannot report yourself."
    CANNOT_SEND_EMPTY_MESSAGE = auto(), 400, "A message needs text, a file, an embed or a sticker."
    CANNOT_SEND_FRIEND_REQUEST_TO_BLOCKED_USER = auto(), 400, "Unblock this account before you ask for its friendship."
    CANNOT_SEND_FRIEND_REQUEST_TO_SELF = auto(), 400, "You cannot befriend yourself."
    CANNOT_SEND_MESSAGES_IN_NON_TEXT_CHANNEL = auto(), 400, "This channel holds no messages."
    CANNOT_SEND_MESSAGES_TO_USER = auto(), 400, "This account does not take messages from you."
    CANNOT_TRANSFER_OWNERSHIP_TO_BOT = auto(), 400, "A bot cannot own a guild."
    CAPTCHA_REQUIRED = auto(), 400, "Solve the challenge and try again."
    CHANNEL_HAS_THREADS = auto(), 400, "This channel still holds threads."
    DIRECT_MESSAGES_DISABLED = auto(), 400, "Direct messages are switched off on this instance."
    DISCOVERY_DISABLED = auto(), 400, "Public discovery is switched off on this instance."
    DISCOVERY_INSUFFICIENT_MEMBERS = auto(), 400, "The guild has too few members for public discovery."
    DISCOVERY_NOT_DISCOVERABLE = auto(), 400, "This guild is not in public discovery."
    DISCRIMINATOR_REQUIRED = auto(), 400, "Several accounts have this name, so the discriminator is needed."
    EMAIL_UNAVAILABLE_ON_INSTANCE = (
        auto(),
        400,
        "Accounts of this instance sign in with a username, not an email address.",
    )
    EXPLICIT_CONTENT_CANNOT_BE_SENT = auto(), 400, "Explicit media cannot be sent here."
    FILE_SIZE_TOO_LARGE = auto(), 400, "A file is larger than allowed."
    FORUM_TAG_REQUIRED = auto(), 400, "Choose at least one tag for this post."
    FRIEND_REQUEST_BLOCKED = auto(), 400, "This account does not take friend requests from you."
    GROUP_DM_RECIPIENTS_NOT_ADDABLE = auto(), 400, "Somebody you named cannot be added to a group by you."
    GUILD_TEMPLATE_INVALID = auto(), 400, "The guild template cannot be used."
    HANDOFF_CODE_EXPIRED = auto(), 400, "This hand-off code has expired."
    HARVEST_EXPIRED = auto(), 400, "This export is no longer available."
    HARVEST_FAILED = auto(), 400, "This export could not be made."
    HARVEST_NOT_READY = auto(), 400, "This export is not ready yet."
    INSTANCE_POLICY_TRANSITION_NOT_ALLOWED = auto(), 400, "The instance policy cannot change in this way."
    INTERACTION_ALREADY_ACKNOWLEDGED = auto(), 400, "This interaction was answered already."
    INVALID_ACLS_FORMAT = auto(), 400, "The ACLs must be a list of names."
    INVALID_BOT_FLAG = auto(), 400, "A bot flag is unknown."
    INVALID_CAPTCHA = auto(), 400, "The challenge was not solved."
    INVALID_CHANNEL_TYPE = auto(), 400, "This does not work with a channel of this type."
    INVALID_CHANNEL_TYPE_FOR_CALL = auto(), 400, "There are no calls in a channel of this type."
    INVALID_FLAGS_FORMAT = auto(), 400, "Flags must be given as a decimal number."
    INVALID_FORM_BODY = auto(), 400, "Something in the request is wrong; see errors."
    INVALID_HANDOFF_CODE = auto(), 400, "This hand-off code is unknown."
    INVALID_STREAM_KEY_FORMAT = auto(), 400, "This is not the key of a stream."
    INVALID_SYSTEM_FLAG = auto(), 400, "A system flag is unknown."
    INVALID_TIMESTAMP = auto(), 400, "A time stamp is wrong."
    INVALID_WEBAUTHN_CREDENTIAL = auto(), 400, "The passkey could not be verified."
    INVALID_WEBAUTHN_CREDENTIAL_COUNTER = (
        auto(),
        400,
        "The passkey's counter went backwards, so it may have been copied.",
    )
    INVALID_WEBAUTHN_PUBLIC_KEY_FORMAT = auto(), 400, "The passkey's public key cannot be read."
    IP_AUTHORIZATION_RESEND_LIMIT_EXCEEDED = auto(), 400, "The mail for this sign-in was sent again already."
    MAX_ACTIVE_THREADS = auto(), 400, "The guild has as many active threads as it may have."
    MAX_APPLICATIONS = auto(), 400, "You have as many applications as you may have."
    MAX_APPLICATION_COMMANDS = auto(), 400, "The application has as many commands of this type as it may have."
    MAX_APPLICATION_COMMAND_CREATES = auto(), 400, "The application has made its commands of today already."
    MAX_BOOKMARKS = auto(), 400, "You have saved as many messages as you may save."
    MAX_CATEGORY_CHANNELS = auto(), 400, "The category holds as many channels as it may hold."
    MAX_EMOJIS = auto(), 400, "The guild has as many emojis as it may have."
    MAX_FAVORITE_MEMES = auto(), 400, "You have as many favourite pictures as you may have."
    MAX_FRIENDS = auto(), 400, "You have as many friends and requests as you may have."
    MAX_GROUP_DMS = auto(), 400, "You are in as many groups as you may be."
    MAX_GROUP_DM_RECIPIENTS = auto(), 400, "The group has as many members as it may have."
    MAX_GUILDS = auto(), 400, "You are in as many guilds as you may be."
    MAX_GUILD_CHANNELS = auto(), 400, "The guild has as many channels as it may have."
    MAX_GUILD_MEMBERS = auto(), 400, "The guild has as many members as it may have."
    MAX_GUILD_ROLES = auto(), 400, "The guild has as many roles as it may have."
    MAX_INVITES = auto(), 400, "The guild has as many invites as it may have."
    MAX_PINNED_THREADS_IN_FORUM = auto(), 400, "The forum has as many pinned posts as it may have."
    MAX_PINS = auto(), 400, "The channel has as many pinned messages as it may have."
    MAX_REACTIONS = auto(), 400, "The message has as many different reactions as it may have."
    MAX_REMINDERS = auto(), 400, "You have as many reminders as you may have."
    MAX_SCHEDULED_MESSAGES = auto(), 400, "You have scheduled as many messages as you may schedule."
    MAX_STICKERS = auto(), 400, "The guild has as many stickers as it may have."
    MAX_THREAD_MEMBERS = auto(), 400, "The thread has as many members as it may have."
    MAX_WEBHOOKS_PER_CHANNEL = auto(), 400, "The channel has as many webhooks as it may have."
    MAX_WEBHOOKS_PER_GUILD = auto(), 400, "The guild has as many webhooks as it may have."
    MESSAGE_WITHOUT_POLL = auto(), 400, "This message has no poll."
    MEDIA_METADATA_ERROR = auto(), 400, "The file's description could not be read."
    NOT_A_BOT_APPLICATION = auto(), 400, "This application has no bot."
    NOT_FRIENDS_WITH_USER = auto(), 400, "You are not friends with this account."
    NO_PASSKEYS_REGISTERED = auto(), 400, "No passkey is registered."
    NO_PENDING_DELETION = auto(), 400, "No deletion of this account is scheduled."
    NO_TAGS_AVAILABLE_TO_NON_MODERATORS = auto(), 400, "Every tag of this forum is kept for moderators."
    NO_USERS_WITH_SERVICE_TAG_EXIST = auto(), 400, "Nobody has this name and discriminator."
    POLL_ENDED = auto(), 400, "This poll is over."
    PREVIEW_MUST_BE_JPEG = auto(), 400, "The preview must be a JPEG image."
    REGISTRATION_URL_INVALID = auto(), 400, "This registration link is not valid."
    REPORT_ALREADY_RESOLVED = auto(), 400, "This report is resolved already."
    SESSION_TOKEN_MISMATCH = auto(), 400, "The token belongs to another session."
    SINGLE_COMMUNITY_CANNOT_CREATE_GUILDS = (
        auto(),
        400,
        "This instance is one community, so there are no further guilds.",
    )
    SINGLE_COMMUNITY_CANNOT_DELETE = auto(), 400, "The guild of this instance's community cannot be deleted."
    SINGLE_COMMUNITY_CANNOT_LEAVE = auto(), 400, "The guild of this instance's community cannot be left."
    SLOWMODE_RATE_LIMITED = auto(), 400, "Slowmode is on here; wait before you send again."
    TAG_ALREADY_TAKEN = auto(), 400, "This name and discriminator are taken."
    TEMPORARY_INVITE_REQUIRES_PRESENCE = auto(), 400, "Connect to the gateway before you use a temporary invite."
    THREAD_ALREADY_CREATED_FOR_MESSAGE = auto(), 400, "This message has a thread already."
    THREAD_ARCHIVED = auto(), 400, "This thread is archived."
    THREAD_LOCKED = auto(), 400, "This thread is locked."
    TWO_FACTOR_REQUIRED = auto(), 400, "This guild asks moderators for a second factor; set one up first."
    TWO_FA_NOT_ENABLED = auto(), 400, "The account's second factor is not in the state that this needs."
    UNCLAIMED_ACCOUNT_CANNOT_ACCEPT_FRIEND_REQUESTS = (
        auto(),
        400,
        "Claim your account before you accept friend requests.",
    )
    UNCLAIMED_ACCOUNT_CANNOT_ADD_REACTIONS = auto(), 400, "Claim your account before you react to messages."
    UNCLAIMED_ACCOUNT_CANNOT_CREATE_APPLICATIONS = auto(), 400, "Claim your account before you create applications."
    UNCLAIMED_ACCOUNT_CANNOT_CREATE_GUILDS = auto(), 400, "Claim your account before you create guilds."
    UNCLAIMED_ACCOUNT_CANNOT_JOIN_GROUP_DMS = auto(), 400, "Claim your account before you join groups."
    UNCLAIMED_ACCOUNT_CANNOT_JOIN_ONE_ON_ONE_VOICE_CALLS = auto(), 400, "Claim your account before you join calls."
    UNCLAIMED_ACCOUNT_CANNOT_JOIN_VOICE_CHANNELS = auto(), 400, "Claim your account before you join voice channels."
    UNCLAIMED_ACCOUNT_CANNOT_MAKE_PURCHASES = auto(), 400, "Claim your account before you buy anything."
    UNCLAIMED_ACCOUNT_CANNOT_SEND_DIRECT_MESSAGES = auto(), 400, "Claim your account before you send direct messages."
    UNCLAIMED_ACCOUNT_CANNOT_SEND_FRIEND_REQUESTS = auto(), 400, "Claim your account before you send friend requests."
    UNCLAIMED_ACCOUNT_CANNOT_SEND_MESSAGES = auto(), 400, "Claim your account before you send messages."
    UNCLAIMED_ACCOUNT_CANNOT_SUBMIT_REPORTS = auto(), 400, "Claim your account before you report anything."
    UNKNOWN_USER_FLAG = auto(), 400, "An account flag is unknown."
    USERNAME_SIGN_IN_ONLY = auto(), 400, "This is for instances on which accounts sign in with a username."
    USER_NOT_IN_VOICE = auto(), 400, "The account is not in a voice channel."
    USER_OWNS_GUILDS = auto(), 400, "Give away or delete the guilds you own first."
    VALIDATION_ERROR = auto(), 400, "A value is not acceptable."
    WEBAUTHN_CREDENTIAL_LIMIT_REACHED = auto(), 400, "The account has as many passkeys as it may have."

    INVALID_AUTH_TOKEN = auto(), 401, "The credential is not a bot token."
    INVALID_TOKEN = auto(), 401, "A bot token is needed here."
    INVALID_WEBHOOK_TOKEN = auto(), 401, "This token has ended."
    MISSING_AUTHORIZATION = auto(), 401, "The Authorization header is missing."
    PASSKEY_AUTHENTICATION_FAILED = auto(), 401, "The passkey was not accepted."
    UNAUTHORIZED = auto(), 401, "Sign in first."

    ACCESS_DENIED = auto(), 403, "This is not open to you."
    ACCOUNT_LIMITED = auto(), 403, "The account is limited and cannot do this for now."
    ACCOUNT_SUSPENDED_PERMANENTLY = auto(), 403, "The account is suspended for good."
    ACCOUNT_SUSPENDED_TEMPORARILY = auto(), 403, "The account is suspended for now."
    ACCOUNT_TOO_NEW_FOR_GUILD = auto(), 403, "The account is too new for this guild."
    BOT_IS_PRIVATE = auto(), 403, "Only its owner can add this bot."
    BOT_USER_AUTH_ENDPOINT_ACCESS_DENIED = auto(), 403, "Bots do not sign in here."
    BOT_USER_AUTH_SESSION_CREATION_DENIED = auto(), 403, "Bots have no sign-in sessions."
    CANNOT_EDIT_OTHER_USER_MESSAGE = auto(), 403, "Only its author can edit a message."
    CANNOT_REPORT_GUILD = auto(), 403, "This guild cannot be reported by you."
    COMMUNICATION_DISABLED = auto(), 403, "You are timed out in this guild."
    CONTENT_BLOCKED = auto(), 403, "This text is not allowed on this instance."
    DIRECT_MESSAGE_EMAIL_VERIFICATION_REQUIRED = (
        auto(),
        403,
        "Verify your email address before you send direct messages.",
    )
    EMAIL_VERIFICATION_REQUIRED = auto(), 403, "Verify your email address first."
    FEATURE_NOT_AVAILABLE_SELF_HOSTED = auto(), 403, "A self-hosted instance does not have this."
    FEATURE_TEMPORARILY_DISABLED = auto(), 403, "This is switched off for now."
    FORBIDDEN = auto(), 403, "This is not allowed."
    FRIEND_REQUEST_EMAIL_VERIFICATION_REQUIRED = (
        auto(),
        403,
        "Verify your email address before you send friend requests.",
    )
    GLOBAL_IP_BANNED = auto(), 403, "This network address is banned."
    GLOBAL_IP_TEMPORARILY_BANNED = auto(), 403, "This network address is banned for a while."
    GUILD_CREATION_EMAIL_VERIFICATION_REQUIRED = auto(), 403, "Verify your email address before you create a guild."
    GUILD_EMAIL_VERIFICATION_REQUIRED = auto(), 403, "This guild asks for a verified email address."
    GUILD_VERIFICATION_REQUIRED = auto(), 403, "You do not meet the guild's verification level yet."
    INVALID_API_ORIGIN = auto(), 403, "Requests from this web origin are not taken."
    INVITES_DISABLED = auto(), 403, "The guild takes nobody in for now."
    IP_AUTHORIZATION_REQUIRED = auto(), 403, "Confirm this new place by the mail we sent."
    MFA_EMAIL_VERIFICATION_REQUIRED = auto(), 403, "Verify your email address before you set up a second factor."
    MISSING_ACCESS = auto(), 403, "You have no access to this."
    MISSING_ACL = auto(), 403, "An ACL that this needs is missing."
    MISSING_OAUTH_SCOPE = auto(), 403, "The access token lacks a scope that this needs."
    MISSING_PERMISSIONS = auto(), 403, "You lack the permission for this."
    NSFW_CONTENT_AGE_RESTRICTED = auto(), 403, "This is for adults only."
    PROFILE_EMAIL_VERIFICATION_REQUIRED = auto(), 403, "Verify your email address before you change your profile."
    PURCHASE_EMAIL_VERIFICATION_REQUIRED = auto(), 403, "Verify your email address before you buy anything."
    REACTION_EMAIL_VERIFICATION_REQUIRED = auto(), 403, "Verify your email address before you react to messages."
    REGISTRATION_CLOSED = auto(), 403, "This instance takes no new accounts."
    REGISTRATION_PENDING_APPROVAL = auto(), 403, "The account waits for approval."
    REGISTRATION_REJECTED = auto(), 403, "The account was not approved."
    REPORT_BANNED = auto(), 403, "You may not send reports."
    REPORT_EMAIL_VERIFICATION_REQUIRED = auto(), 403, "Verify your email address before you report anything."
    SSO_REQUIRED = auto(), 403, "This instance is entered by single sign-on only."
    SUDO_MODE_REQUIRED = auto(), 403, "Confirm that it is you."
    USER_BANNED_FROM_GUILD = auto(), 403, "You are banned from this guild."
    USER_IP_BANNED_FROM_GUILD = auto(), 403, "Your network address is banned from this guild."

    ADMIN_API_KEY_NOT_FOUND = auto(), 404, "There is no such admin API key."
    BOT_USER_NOT_FOUND = auto(), 404, "There is no such bot."
    DISCOVERY_APPLICATION_NOT_FOUND = auto(), 404, "The guild has not applied for discovery."
    NOT_FOUND = auto(), 404, "There is nothing here."
    NO_ACTIVE_CALL = auto(), 404, "No call is running in this channel."
    UNKNOWN_APPLICATION = auto(), 404, "There is no such application."
    UNKNOWN_APPLICATION_COMMAND = auto(), 404, "There is no such command."
    UNKNOWN_APPLICATION_COMMAND_PERMISSIONS = auto(), 404, "The guild has set no permissions for this command."
    UNKNOWN_CHANNEL = auto(), 404, "There is no such channel."
    UNKNOWN_EMOJI = auto(), 404, "There is no such emoji."
    UNKNOWN_FAVORITE_MEME = auto(), 404, "There is no such favourite picture."
    UNKNOWN_FORUM_TAG = auto(), 404, "The forum has no such tag."
    UNKNOWN_GIFT_CODE = auto(), 404, "There is no such gift."
    UNKNOWN_GUILD = auto(), 404, "There is no such guild."
    UNKNOWN_HARVEST = auto(), 404, "There is no such export."
    UNKNOWN_INTERACTION = auto(), 404, "There is no such interaction, or it is over."
    UNKNOWN_INVITE = auto(), 404, "There is no such invite, or it has expired."
    UNKNOWN_MEMBER = auto(), 404, "There is no such member."
    UNKNOWN_MESSAGE = auto(), 404, "There is no such message."
    UNKNOWN_REPORT = auto(), 404, "There is no such report."
    UNKNOWN_ROLE = auto(), 404, "There is no such role."
    UNKNOWN_STICKER = auto(), 404, "There is no such sticker."
    UNKNOWN_THREAD_MEMBER = auto(), 404, "The account is not in this thread."
    UNKNOWN_USER = auto(), 404, "There is no such account."
    UNKNOWN_VOICE_REGION = auto(), 404, "There is no such voice region."
    UNKNOWN_VOICE_SERVER = auto(), 404, "There is no such voice server."
    UNKNOWN_WEBAUTHN_CREDENTIAL = auto(), 404, "There is no such passkey."
    UNKNOWN_WEBHOOK = auto(), 404, "There is no such webhook."

    CONFLICT = auto(), 409, "This has changed in the meantime."
    DISCOVERY_ALREADY_APPLIED = auto(), 409, "The guild has applied for discovery already."
    DISCOVERY_APPLICATION_ALREADY_REVIEWED = auto(), 409, "This application for discovery is decided already."

    GONE = auto(), 410, "This is no longer here."

    PAYLOAD_TOO_LARGE = auto(), 413, "The request is larger than allowed."

    IP_AUTHORIZATION_RESEND_COOLDOWN = auto(), 429, "Wait a little before you ask for the mail again."
    RATE_LIMITED = auto(), 429, "Too many requests; wait before the next one."
    RESOURCE_LOCKED = auto(), 429, "Somebody else is changing this; try again in a moment."

    DELETION_FAILED = auto(), 500, "It could not be deleted."
    GENERAL_ERROR = auto(), 500, "Something failed."
    INTERNAL_SERVER_ERROR = auto(), 500, "Something failed on our side."
    PROCESSING_FAILED = auto(), 500, "It could not be processed."
    RESPONSE_VALIDATION_ERROR = auto(), 500, "We made an answer that breaks our own rules, so it is withheld."
    UPDATE_FAILED = auto(), 500, "It could not be changed."

    NOT_IMPLEMENTED = auto(), 501, "This is not built."

    BAD_GATEWAY = auto(), 502, "Another service gave no usable answer."

    SERVICE_UNAVAILABLE = auto(), 503, "The service cannot do this now; try again soon."
    STORE_BILLING_UNAVAILABLE = auto(), 503, "An app store could not be reached."

    GATEWAY_TIMEOUT = auto(), 504, "Another service took too long."


class FieldCode(enum.StrEnum):
    """The `code` of an entry of `errors`, with our default message (http.md, Error envelope)."""

    _generate_next_value_ = staticmethod(_own_name)
    message: str

    def __new__(cls, code: str, message: str) -> Self:
        """One member."""
        member = str.__new__(cls, code)
        member._value_ = code
        member.message = message
        return member

    ACCENT_COLOR_CHANGED_TOO_MANY_TIMES = (
        auto(),
        "The accent colour was changed too often; wait before the next change.",
    )
    AFK_CHANNEL_MUST_BE_IN_GUILD = auto(), "The AFK channel must be one of this guild."
    AFK_CHANNEL_MUST_BE_VOICE = auto(), "The AFK channel must be a voice channel."
    ANIMATED_AVATARS_REQUIRE_PREMIUM = auto(), "A moving avatar needs premium."
    ANIMATED_GUILD_BANNER_REQUIRES_FEATURE = auto(), "This guild may not have a moving banner."
    AVATAR_CHANGED_TOO_MANY_TIMES = auto(), "The avatar was changed too often; wait before the next change."
    BANNERS_REQUIRE_PREMIUM = auto(), "A banner needs premium."
    BANNER_CHANGED_TOO_MANY_TIMES = auto(), "The banner was changed too often; wait before the next change."
    BASE64_LENGTH_INVALID = auto(), "The base64 text is too short or too long."
    BASE_TYPE_REQUIRED = auto(), "This is needed."
    BIO_CHANGED_TOO_MANY_TIMES = auto(), "The bio was changed too often; wait before the next change."
    CANNOT_ADD_YOURSELF_TO_GROUP_DM = auto(), "You are in your own group anyway."
    CANNOT_DM_YOURSELF = auto(), "You cannot open a conversation with yourself."
    CANNOT_LEAVE_GUILD_AS_OWNER = auto(), "The owner cannot leave; give the guild away or delete it."
    CANNOT_SPECIFY_BOTH_BEFORE_AND_AFTER = auto(), "Give before or after, not both."
    CATEGORIES_CANNOT_HAVE_PARENTS = auto(), "A category cannot lie in a category."
    CHANGING_DISCRIMINATOR_REQUIRES_PREMIUM = auto(), "Choosing a discriminator needs premium."
    CHANNEL_MUST_BE_DM_OR_GROUP_DM = auto(), "Only conversations with others can be pinned."
    CHANNEL_NAME_EMPTY_AFTER_NORMALIZATION = auto(), "Nothing of this channel name is left after tidying it up."
    CHANNEL_NOT_FOUND = auto(), "There is no such channel."
    COLOR_VALUE_TOO_HIGH = auto(), "A colour is at most 16777215."
    COLOR_VALUE_TOO_LOW = auto(), "A colour is at least 0."
    COMMAND_NAME_INVALID = auto(), "A name has lower-case letters, digits, hyphens, underscores and apostrophes only."
    COMMAND_NAME_NOT_UNIQUE = auto(), "Two commands of one type have this name."
    COMMAND_TOO_LARGE = auto(), "All texts of a command have 8,000 characters at most."
    COMMAND_WITHOUT_DESCRIPTION = auto(), "Commands in menus have neither description nor options."
    COMPONENTS_FOR_BOTS_ONLY = auto(), "Only an application can send this."
    COMPONENT_FILE_MISSING = auto(), "The message has no file of this name."
    COMPONENT_TYPE_NOT_ALLOWED_HERE = auto(), "A component of this type cannot stand here."
    CONTENT_EXCEEDS_MAX_LENGTH = auto(), "This is too long."
    CUSTOM_ID_NOT_UNIQUE = auto(), "Two components of the message have this custom id."
    DISCOVERABLE_GUILD_VERIFICATION_LEVEL_TOO_LOW = auto(), "A discoverable guild needs a verification level above 0."
    DISCRIMINATOR_INVALID_FORMAT = auto(), "A discriminator has one to four digits."
    DISCRIMINATOR_NOT_SUPPORTED_ON_INSTANCE = auto(), "This instance has no discriminators."
    DISCRIMINATOR_OUT_OF_RANGE = auto(), "This discriminator cannot be given out."
    DUPLICATE_RECIPIENTS_NOT_ALLOWED = auto(), "Name everybody once."
    EMAIL_ALREADY_IN_USE = auto(), "Another account has this email address."
    EMAIL_IS_REQUIRED = auto(), "An email address is needed."
    EMAIL_LENGTH_INVALID = auto(), "The email address is too short or too long."
    EMBED_SPLASH_REQUIRES_FEATURE = auto(), "This guild may not have an embed splash."
    GLOBAL_NAME_LENGTH_INVALID = auto(), "The display name is too short or too long."
    GLOBAL_NAME_RESERVED_VALUE = auto(), "This display name is reserved."
    GUILD_BANNER_REQUIRES_FEATURE = auto(), "This guild may not have a banner."
    GUILD_FEATURE_NOT_TOGGLEABLE = auto(), "This feature cannot be switched by you."
    IMAGE_SIZE_EXCEEDS_LIMIT = auto(), "The image is larger than allowed."
    INTEGER_OUT_OF_INT64_RANGE = auto(), "The number does not fit 64 bits."
    INTERACTIONS_ENDPOINT_NOT_VERIFYING = auto(), "This endpoint does not refuse a wrong signature with 401."
    INTERACTIONS_ENDPOINT_UNREACHABLE = auto(), "This endpoint cannot be reached in time, or may not be asked."
    INTERACTIONS_ENDPOINT_WITHOUT_PONG = auto(), "This endpoint does not answer a ping with 200 and the type 1."
    INVALID_BASE64_FORMAT = auto(), "This is not base64."
    INVALID_CODE = auto(), "This code is wrong."
    INVALID_DATETIME_FOR_SCHEDULED_SEND = auto(), "Give the moment as ISO 8601 has it."
    INVALID_DATE_OF_BIRTH_FORMAT = auto(), "Give the date of birth as YYYY-MM-DD."
    INVALID_EMAIL_ADDRESS = auto(), "This is not an email address."
    INVALID_EMAIL_FORMAT = auto(), "This does not look like an email address."
    INVALID_EMAIL_OR_PASSWORD = auto(), "The email address or the password is wrong."
    INVALID_FORMAT = auto(), "This is not what is expected here."
    INVALID_IMAGE_FORMAT = auto(), "An image of this kind is not taken here."
    INVALID_INTEGER_FORMAT = auto(), "This is not a whole number."
    INVALID_ISO_TIMESTAMP = auto(), "This is not an ISO 8601 time stamp."
    INVALID_MFA_CODE = auto(), "The second factor was not accepted."
    INVALID_OR_EXPIRED_RESET_TOKEN = auto(), "This reset link is unknown or has expired."
    INVALID_OR_EXPIRED_REVERT_TOKEN = auto(), "This revert link is unknown or has expired."
    INVALID_OR_EXPIRED_TICKET = auto(), "This has expired or was used already; start again."
    INVALID_OR_EXPIRED_VERIFICATION_TOKEN = auto(), "This verification link is unknown or has expired."
    INVALID_PARENT_CHANNEL = auto(), "A channel cannot lie there."
    INVALID_PASSWORD = auto(), "The password is wrong."
    INVALID_ROLE_ID = auto(), "The guild has no such role."
    INVALID_SNOWFLAKE = auto(), "This is not an id."
    INVALID_SNOWFLAKE_FORMAT = auto(), "An id is a decimal number without sign or leading zero."
    INVALID_TIMEZONE_IDENTIFIER = auto(), "There is no such time zone."
    INVALID_TRUSTED_DOMAINS = auto(), "Trust every domain, or name those that you trust."
    INVITE_SPLASH_REQUIRES_FEATURE = auto(), "This guild may not have an invite splash."
    MEDIA_ALREADY_IN_FAVORITE_MEMES = auto(), "You keep this file already."
    MESSAGE_HISTORY_CUTOFF_BEFORE_GUILD_CREATION = auto(), "The cutoff lies before the guild was made."
    MESSAGE_HISTORY_CUTOFF_IN_FUTURE = auto(), "The cutoff lies in the future."
    MINIMUM_ABOVE_MAXIMUM = auto(), "The least is more than the most."
    MUST_AGREE_TO_TOS_AND_PRIVACY_POLICY = auto(), "Agree to the terms and the privacy policy first."
    MUST_BE_MINIMUM_AGE = auto(), "You are too young for this instance."
    MUST_ENABLE_2FA_BEFORE_REQUIRING_FOR_MODS = auto(), "Set up a second factor before you ask moderators for one."
    NAME_EMPTY_AFTER_NORMALIZATION = auto(), "Nothing of this name is left after tidying it up."
    NAME_NOT_UNIQUE = auto(), "Two things here have this name."
    NOT_FOR_THIS_TYPE = auto(), "A thing of this type does not have this."
    NOT_SUPPORTED_HERE = auto(), "This server does not have this."
    NOT_WITH_SECOND_FORM = auto(), "A message of components has no text, embeds or stickers beside them."
    OPTION_TYPE_NOT_ALLOWED_HERE = auto(), "An option of this type cannot stand here."
    PARENT_MUST_BE_CATEGORY = auto(), "The parent must be a category."
    PASSWORD_IS_TOO_COMMON = auto(), "This password is too common."
    PASSWORD_LENGTH_INVALID = auto(), "The password is too short or too long."
    PASSWORD_NOT_SET = auto(), "The account has no password."
    POLL_NOT_ALLOWED_HERE = auto(), "There can be no poll here."
    PRONOUNS_CHANGED_TOO_MANY_TIMES = auto(), "The pronouns were changed too often; wait before the next change."
    REMINDERS_MAX_365_DAYS = auto(), "A reminder is set 365 days ahead at most."
    REQUIRED_OPTIONS_FIRST = auto(), "Options that are required come first."
    SCHEDULED_MESSAGES_MAX_30_DAYS = auto(), "A message is scheduled 30 days ahead at most."
    SCHEDULED_TIME_MUST_BE_FUTURE = auto(), "This moment is over."
    SESSION_TIMEOUT = auto(), "This sign-in has expired; start again."
    SNOWFLAKE_OUT_OF_RANGE = auto(), "The id is too large."
    STRING_LENGTH_EXACT = auto(), "The text does not have the exact length that is needed."
    STRING_LENGTH_INVALID = auto(), "The text is too short or too long."
    SYSTEM_CHANNEL_MUST_BE_IN_GUILD = auto(), "The system channel must be one of this guild."
    SYSTEM_CHANNEL_MUST_BE_TEXT = auto(), "The system channel must be a text or announcement channel."
    TAG_ALREADY_TAKEN = auto(), "This name and discriminator are taken."
    TIMEOUT_CANNOT_EXCEED_365_DAYS = auto(), "A timeout lasts at most 365 days."
    TOO_MANY_COMPONENTS = auto(), "There are too many components."
    TOO_MANY_EMBEDS = auto(), "There are too many embeds."
    TOO_MANY_FILES = auto(), "There are too many files."
    TOO_MANY_USERS_WITH_THIS_USERNAME = auto(), "No discriminator is left for this username."
    TOTP_NOT_ENABLED = auto(), "The account has no authenticator set up."
    USERNAME_ALREADY_TAKEN = auto(), "Another account has this username."
    USERNAME_CANNOT_CONTAIN_RESERVED_TERMS = auto(), "This username contains a reserved word."
    USERNAME_CHANGED_TOO_MANY_TIMES = auto(), "The username was changed too often; wait before the next change."
    USERNAME_INVALID_CHARACTERS = auto(), "A username has letters, digits and underscores only."
    USERNAME_LENGTH_INVALID = auto(), "A username has 1 to 32 characters."
    USERNAME_RESERVED_VALUE = auto(), "This username is reserved."
    USER_DOES_NOT_HAVE_AN_EMAIL_ADDRESS = auto(), "The account has no email address."
    USER_IS_NOT_BANNED = auto(), "The account is not banned."
    USER_MUST_BE_A_BOT_TO_BE_MARKED_AS_A_SYSTEM_USER = auto(), "Only a bot can be made a system account."
    USER_NOT_IN_CHANNEL = auto(), "This account is not in the group."
    VALUE_MUST_BE_INTEGER_IN_RANGE = auto(), "The number is too small or too large."
    VANITY_URL_CODE_ALREADY_TAKEN = auto(), "Another invite has this code."
    VANITY_URL_CODE_CANNOT_CONTAIN_SERVICE = auto(), "The code contains a reserved word."
    VANITY_URL_CODE_LENGTH_INVALID = auto(), "The code has 2 to 32 characters."
    VANITY_URL_INVALID_CHARACTERS = auto(), "The code has lower-case letters, digits and inner hyphens only."
    VANITY_URL_REQUIRES_FEATURE = auto(), "This guild may not have a custom invite code."
    VOICE_ACTIVITY_SHARING_ON_COOLDOWN = auto(), "This was changed less than a day ago."
    WEBHOOK_NAME_LENGTH_INVALID = auto(), "The webhook's name is too short or too long."


STATUS_FALLBACKS: Final[Mapping[int, ErrorCode]] = MappingProxyType(
    {
        400: ErrorCode.BAD_REQUEST,
        401: ErrorCode.UNAUTHORIZED,
        403: ErrorCode.FORBIDDEN,
        404: ErrorCode.NOT_FOUND,
        409: ErrorCode.CONFLICT,
        410: ErrorCode.GONE,
        413: ErrorCode.PAYLOAD_TOO_LARGE,
        429: ErrorCode.RATE_LIMITED,
        500: ErrorCode.INTERNAL_SERVER_ERROR,
        501: ErrorCode.NOT_IMPLEMENTED,
        502: ErrorCode.BAD_GATEWAY,
        503: ErrorCode.SERVICE_UNAVAILABLE,
        504: ErrorCode.GATEWAY_TIMEOUT,
    }
)
"""The code for a status without a code of its own; GENERAL_ERROR for any other (http.md, Error envelope)."""
