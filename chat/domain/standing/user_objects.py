"""User objects and the user settings object as the wire has them (accounts.md, User objects; accounts.md, User
settings).
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, cast

import orjson

from chat import wire
from chat.clock import iso_timestamp, optional_timestamps
from chat.config import Limits, Settings
from chat.registries.user_flags import PUBLIC_USER_FLAGS, AuthenticatorType, PremiumFlag, PremiumType, UserFlag
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account, ShownAccount
from chat.store.database import Database

ADULT_YEARS: Final = 18
"""From this age on `nsfw_allowed` holds (accounts.md, User objects)."""

PREMIUM_TRAIT: Final = "premium"
"""The trait that is computed, not stored: limits that premium widens apply."""

DELETED: Final = int(UserFlag.DELETED)
"""An int for speed: this is asked for every author of a message."""

DELETED_USERNAME: Final = "DeletedUser"
DELETED_GLOBAL_NAME: Final = "Deleted User"


def partial_user(account: Account | ShownAccount) -> wire.PartialUser:
    """An account as others see it; a deleted one is shown as the placeholder."""
    data: wire.PartialUser
    is_deleted = account.flags & DELETED
    if is_deleted:
        data = {
            "id": str(account.id),
            "username": DELETED_USERNAME,
            "discriminator": "0000",
            "global_name": DELETED_GLOBAL_NAME,
            "avatar": None,
            "avatar_color": None,
            "flags": 0,
        }
    else:
        data = {
            "id": str(account.id),
            "username": account.username,
            "discriminator": f"{account.discriminator:04d}",
            "global_name": account.global_name,
            "avatar": account.avatar,
            "avatar_color": account.avatar_color,
            "flags": public_flags(account.flags),
        }
    if account.bot:
        data["bot"] = True
    if account.system:
        data["system"] = True
    if account.mention_flags and not is_deleted:
        data["mention_flags"] = account.mention_flags
    return data


def public_flags(flags: int) -> int:
    """The bits of an account's flags that others see; STAFF hides behind STAFF_HIDDEN."""
    if flags & _STAFF_HIDDEN:
        flags &= ~_STAFF
    return flags & _PUBLIC


# Plain numbers: `&` with a member of an enumeration makes another one, which takes a microsecond.
_STAFF: Final = int(UserFlag.STAFF)
_STAFF_HIDDEN: Final = int(UserFlag.STAFF_HIDDEN)
_PUBLIC: Final = int(PUBLIC_USER_FLAGS)
_AGE_VERIFIED_ADULT: Final = int(UserFlag.AGE_VERIFIED_ADULT)
_HAS_DISMISSED_ONBOARDING: Final = int(UserFlag.HAS_DISMISSED_PREMIUM_ONBOARDING)
_PERKS_DISABLED: Final = int(PremiumFlag.PERKS_DISABLED)
_ENABLED_OVERRIDE: Final = int(PremiumFlag.ENABLED_OVERRIDE)


def private_user(account: Account, *, factors_of: Account, now_ms: int, premium_for_everyone: bool) -> wire.PrivateUser:
    """An account as it sees itself: GET /v1/users/@me, Ready and USER_UPDATE.

    `factors_of` is whose second factors it shows; `now_ms` (Unix) decides age and premium. Unlike in the partial user,
    `bot` is always there (accounts.md, User objects).
    """
    premium = has_premium(account, now_ms)
    traits = {*account.traits, PREMIUM_TRAIT} if premium or premium_for_everyone else set(account.traits)
    types = authenticator_types(factors_of)
    password_changed_at, sharing_changed_at, terms_agreed_at, privacy_agreed_at, *of_premium = optional_timestamps(
        account.password_last_changed_at,
        account.voice_sharing_changed_at,
        account.terms_agreed_at,
        account.privacy_agreed_at,
        account.premium_since if premium else None,
        account.premium_until if premium else None,
        account.premium_grace_ends_at,
    )
    data: wire.PrivateUser = {
        **partial_user(account),
        "bot": account.bot,
        "is_staff": bool(account.flags & _STAFF),
        "acls": list(account.acls),
        "traits": sorted(traits),
        "email": account.email,
        "phone": None,
        "has_verified_phone": False,
        "bio": account.bio,
        "pronouns": account.pronouns,
        "accent_color": account.accent_color,
        "banner": account.banner,
        "banner_color": account.banner_color,
        "mfa_enabled": bool(types),
        "verified": account.email_verified,
        "nsfw_allowed": account.bot or is_adult(account, now_ms),
        "required_actions": [],
        "password_last_changed_at": password_changed_at,
        "last_voice_activity_sharing_change_at": sharing_changed_at,
        "pending_bulk_message_deletion": pending_deletion(account),
        "terms_agreed_at": terms_agreed_at,
        "privacy_agreed_at": privacy_agreed_at,
        **_premium_members(account, premium, *of_premium),
        **_NO_EXTRAS,
    }
    if account.email is not None:
        data["email_bounced"] = account.email_bounced
    if types:
        data["authenticator_types"] = types
    if account.flags & _AGE_VERIFIED_ADULT:
        data["age_verified_adult"] = True
    return data


_NO_EXTRAS: Final[wire.PrivateUserExtras] = {}


def pending_deletion(account: Account) -> wire.PendingMessageDeletion | None:
    """When the account's own messages go, and how many there were in how many channels when that was decided."""
    if account.pending_bulk_message_deletion_at is None:
        return None
    return {
        "scheduled_at": iso_timestamp(account.pending_bulk_message_deletion_at),
        "channel_count": account.bulk_deletion_channels,
        "message_count": account.bulk_deletion_messages,
    }


def authenticator_types(account: Account) -> list[int]:
    """The account's second factors; a passkey is one only while its holder wants it (accounts.md, User objects)."""
    types = []
    if account.totp_secret is not None:
        types.append(int(AuthenticatorType.TOTP))
    if account.passkey_second_factor:
        types.append(int(AuthenticatorType.WEBAUTHN))
    return types


BEARER_KEEPS: Final = frozenset({"bot", "bio", "pronouns", "accent_color", "banner", "banner_color", "premium_type"})
"""Members of the private user, beside those of the partial one, that an access token shows as they are: others see
them too."""

BEARER_WITHOUT: Final = frozenset({"authenticator_types", "email_bounced", "age_verified_adult"})
"""Members of which even the presence tells something."""


def bearer_user(account: Account, private: Mapping[str, Any], *, with_email: bool) -> wire.PrivateUser:
    """The private user as an OAuth2 application sees it (accounts.md, User objects): lists are empty, truths false,
    moments and all else that is private null. `with_email` shows the email address and whether it is verified."""
    shown = BEARER_KEEPS | partial_user(account).keys()
    if with_email:
        shown |= {"email", "verified"}
    kept = {
        name: value if name in shown else _withheld(value)
        for name, value in private.items()
        if name not in BEARER_WITHOUT
    }
    return cast("wire.PrivateUser", kept)


def _withheld(value: object) -> object:
    """The empty value of the same kind."""
    match value:
        case bool():
            return False
        case int():
            return 0
        case list():
            return []
        case _:
            return None


BADGE_FLAGS: Final[Mapping[str, int]] = {
    "premium_badge_hidden": PremiumFlag.BADGE_HIDDEN.value,
    "premium_badge_masked": PremiumFlag.BADGE_MASKED.value,
    "premium_badge_timestamp_hidden": PremiumFlag.BADGE_TIMESTAMP_HIDDEN.value,
    "premium_badge_sequence_hidden": PremiumFlag.BADGE_SEQUENCE_HIDDEN.value,
}
"""The bits by which the holder of an account hides its badge."""

PREMIUM_FLAGS: Final[Mapping[str, int]] = {
    "premium_discriminator": PremiumFlag.DISCRIMINATOR.value,
    **BADGE_FLAGS,
    "premium_purchase_disabled": PremiumFlag.PURCHASE_DISABLED.value,
    "premium_enabled_override": PremiumFlag.ENABLED_OVERRIDE.value,
    "premium_perks_disabled": PremiumFlag.PERKS_DISABLED.value,
}
"""The bits of `premium_flags`, by the members of the private user."""


def _premium_members(
    account: Account, premium: bool, since: str | None, until: str | None, grace_ends_at: str | None
) -> wire.Premium:
    flags = account.premium_flags
    return {
        "premium_type": account.premium_type if premium else int(PremiumType.NONE),
        "premium_since": since,
        "premium_until": until,
        "premium_will_cancel": False,
        "premium_billing_cycle": None,
        "premium_lifetime_sequence": account.premium_lifetime_sequence,
        "premium_grace_ends_at": grace_ends_at,
        "premium_discriminator": bool(flags & PREMIUM_FLAGS["premium_discriminator"]),
        "premium_badge_hidden": bool(flags & PREMIUM_FLAGS["premium_badge_hidden"]),
        "premium_badge_masked": bool(flags & PREMIUM_FLAGS["premium_badge_masked"]),
        "premium_badge_timestamp_hidden": bool(flags & PREMIUM_FLAGS["premium_badge_timestamp_hidden"]),
        "premium_badge_sequence_hidden": bool(flags & PREMIUM_FLAGS["premium_badge_sequence_hidden"]),
        "premium_purchase_disabled": bool(flags & PREMIUM_FLAGS["premium_purchase_disabled"]),
        "premium_enabled_override": bool(flags & PREMIUM_FLAGS["premium_enabled_override"]),
        "premium_perks_disabled": bool(flags & PREMIUM_FLAGS["premium_perks_disabled"]),
        "has_dismissed_premium_onboarding": bool(account.flags & _HAS_DISMISSED_ONBOARDING),
        "has_ever_purchased": False,
        "has_unread_gift_inventory": False,
        "unread_gift_inventory_count": 0,
    }


def has_premium(account: Account, now_ms: int) -> bool:
    """Whether the account's own premium runs at this moment (Unix milliseconds); an override decides either way."""
    if account.premium_flags & _PERKS_DISABLED:
        return False
    if account.premium_flags & _ENABLED_OVERRIDE:
        return True
    if not account.premium_type:
        return False
    return account.premium_until is None or account.premium_until > now_ms


def limits_of(settings: Settings, account: Account, now_ms: int) -> Limits:
    """The limits of an account at this moment (Unix milliseconds; settings.md, Limits)."""
    return settings.limits_for(premium=has_premium(account, now_ms))


def is_adult(account: Account, now_ms: int) -> bool:
    """Whether the account is known to be of age: by verification, or by its date of birth at this moment."""
    if account.flags & _AGE_VERIFIED_ADULT:
        return True
    return account.date_of_birth is not None and age_years(account.date_of_birth, now_ms) >= ADULT_YEARS


def age_years(date_of_birth: str, now_ms: int) -> int:
    """Completed years from a date (YYYY-MM-DD) to a moment (Unix milliseconds, UTC); negative for a date to come."""
    born = datetime.date.fromisoformat(date_of_birth)
    today = datetime.datetime.fromtimestamp(now_ms / 1000, datetime.UTC).date()
    return today.year - born.year - ((today.month, today.day) < (born.month, born.day))


def find_partial_user(database: Database, user_id: int) -> wire.PartialUser:
    """One account as others see it; for an unknown id nothing but that id."""
    account = accounts.by_id(database.reader, user_id)
    if account is None:  # rows that name accounts go with them, so that nothing asks for one that is not there
        return cast("wire.PartialUser", {"id": str(user_id)})
    return partial_user(account)


UNCATEGORISED_FOLDER: Final = -1
"""The id of the folder that holds the guilds that are in no other folder."""

DEFAULT_USER_SETTINGS: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "status": "online",
        "status_resets_at": None,
        "status_resets_to": None,
        "theme": "system",
        "locale": "en-US",
        "restricted_guilds": (),
        "bot_restricted_guilds": (),
        "default_guilds_restricted": False,
        "bot_default_guilds_restricted": False,
        "inline_attachment_media": True,
        "inline_embed_media": True,
        "gif_auto_play": True,
        "render_embeds": True,
        "render_reactions": True,
        "animate_emoji": True,
        "animate_stickers": 0,
        "render_spoilers": 1,
        "message_display_compact": False,
        "friend_source_flags": 3,
        "incoming_call_flags": 8,
        "group_dm_add_permission_flags": 8,
        "guild_folders": (
            MappingProxyType(
                {"id": UNCATEGORISED_FOLDER, "name": None, "color": None, "flags": 0, "icon": "folder", "guild_ids": ()}
            ),
        ),
        "guild_positions": (),
        "custom_status": None,
        "afk_timeout": 600,
        "time_format": 0,
        "quiet_hours": None,
        "person_notifications": MappingProxyType({}),
        "developer_mode": False,
        "trusted_domains": (),
        "default_hide_muted_channels": False,
        "sensitive_content_friend_dm_filter": 1,
        "sensitive_content_non_friend_dm_filter": 2,
        "sensitive_content_guild_filter": 1,
        "suppress_unprivileged_self_mentions": False,
        "suppress_unprivileged_self_mentions_bypass_user_ids": (),
        "staff_dm_access_user_ids": (),
        "synced_preferences": "",
        "profile_privacy": 0,
        "default_share_voice_activity": True,
    }
)
"""The settings of an account that never changed any."""


def user_settings_object(stored: Mapping[str, Any]) -> wire.UserSettings:
    """The whole object: what is stored, and the defaults for the rest. `guild_positions` is read off the folders, so
    that the two always agree."""
    known = orjson.loads(_ENCODED_DEFAULTS)
    known.update([(name, value) for name, value in stored.items() if name in known])
    settings: wire.UserSettings = known
    placed = (guild_id for folder in settings["guild_folders"] for guild_id in folder["guild_ids"])
    settings["guild_positions"] = list(dict.fromkeys(placed))
    return settings


_ENCODED_DEFAULTS: Final = orjson.dumps(DEFAULT_USER_SETTINGS, default=dict)
"""Read for each account anew, which is three times as fast as a copy of all that lies in them."""
