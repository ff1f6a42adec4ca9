"""Accounts, their settings and push subscriptions (accounts.md, User objects)."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict

from chat.registries.acls import Acl
from chat.registries.jobs import ArchiveState
from chat.registries.user_flags import AuthenticatorType
from chat.wire.values import (
    Address,
    Asset,
    Bits,
    Color,
    Count,
    Discriminator,
    Email,
    Name,
    Nameless,
    Snowflake,
    Timestamp,
    among,
    items,
    one_of,
    within,
)


class PartialUser(TypedDict):
    """An account as others see it; a deleted one is shown as the placeholder DeletedUser#0000."""

    id: Snowflake
    """Id of the object, as a decimal number in text."""
    username: Name
    """The name that identifies the account, 1 to 32 letters, digits and underscores."""
    discriminator: Discriminator
    """Four digits that tell equal usernames apart."""
    global_name: Name | None
    """The name that people are shown; null for the username."""
    avatar: Asset | None
    """The picture beside the name: the hash of a stored picture, or a data address (`data:image/png;base64,…`) where it
    is sent; null for none."""
    avatar_color: Color | None
    """The main colour of the picture, as a number of 24 bits; null without a picture."""
    flags: Count
    """Public marks of the account, as bits."""
    bot: NotRequired[Literal[True]]
    """True for a bot's account; absent for a person's."""
    system: NotRequired[Literal[True]]
    """True for accounts of the instance itself."""
    mention_flags: NotRequired[Count]
    """Whether replies notify the account: 0 as the author likes, 1 rather yes, 2 rather no."""


class PendingMessageDeletion(TypedDict):
    """When an account's own messages go, and how many there were in how many channels when it asked."""

    scheduled_at: Timestamp
    """When it is going to be done."""
    channel_count: Count
    """In how many channels."""
    message_count: Count
    """How many messages there are."""


class OwnArchive(TypedDict):
    id: Snowflake
    """Id of the object, as a decimal number in text."""
    harvest_id: Snowflake
    """The archive's id, by the name that programs of the family read."""
    status: Annotated[str, one_of(ArchiveState)]
    """How it stands at this moment."""
    include_attachments: bool
    """Whether the files of messages are in the archive too."""
    requested_at: Timestamp
    """When it was asked for."""
    created_at: Timestamp
    """When it was made."""
    started_at: Timestamp | None
    """When it began; null before."""
    completed_at: Timestamp | None
    """When it was done; null before."""
    failed_at: Timestamp | None
    """When it failed; null where it did not."""
    error_message: str | None
    """What went wrong, in words; null where nothing did."""
    file_size: Bits | None
    """Size in bytes."""
    progress_percent: Annotated[int, within(0, 100)]
    """How much is done, from 0 to 100."""
    progress_step: str | None
    """Which part of the work is being done; null before it begins."""
    download_url_expires_at: Timestamp | None
    """When the last address for fetching it stops working; null while there is none."""
    expires_at: Timestamp
    """When it ends; null for never."""
    next_at: Timestamp
    """When another archive may be ordered."""


class PrivateUserStart(TypedDict):
    id: Snowflake
    """Id of the object, as a decimal number in text."""
    username: Name
    """The name that identifies the account, 1 to 32 letters, digits and underscores."""
    discriminator: Discriminator
    """Four digits that tell equal usernames apart."""
    global_name: Name | None
    """The name that people are shown; null for the username."""
    avatar: Asset | None
    """The picture beside the name: the hash of a stored picture, or a data address (`data:image/png;base64,…`) where it
    is sent; null for none."""
    avatar_color: Color | None
    """The main colour of the picture, as a number of 24 bits; null without a picture."""
    flags: Count
    """Public marks of the account, as bits."""
    bot: bool
    """True for a bot's account; absent for a person's."""
    is_staff: bool
    """Whether the account belongs to the staff of the instance."""
    acls: list[str]
    """Administrative rights of the account, by name."""
    traits: list[str]
    """Marks of an account to which limits apply."""
    email: Email | None
    """The account's own mail address; null without one, and for applications without the scope `email`."""
    phone: None
    """Always null: the instance asks for no telephone number."""
    has_verified_phone: bool
    """Whether the account proved a telephone number; the instance asks for none."""
    bio: str | None
    """What the holder writes about themselves, up to 320 characters; null for nothing."""
    pronouns: str | None
    """How the holder wants to be spoken of, up to 40 characters; null for nothing."""
    accent_color: Color | None
    """The colour that the account chose for its profile, as a number of 24 bits; null for none."""
    banner: Asset | None
    """The wide picture: the hash of a stored picture, or a data address where it is sent; null for none."""
    banner_color: Color | None
    """The colour in place of a banner, as a number of 24 bits; null for none."""
    mfa_enabled: bool
    """Whether the account has a second factor."""
    verified: bool
    """Whether the mail address is proved."""
    nsfw_allowed: bool
    """Whether the account may see what is for adults."""
    required_actions: list[str]
    """What the account has to do before it may go on."""
    password_last_changed_at: Timestamp | None
    """When the password was last changed; null for never."""
    last_voice_activity_sharing_change_at: Timestamp | None
    """When the account last changed whether friends see its voice activity; null for never."""
    pending_bulk_message_deletion: PendingMessageDeletion | None
    """The coming deletion of everything that the account wrote; null for none."""
    terms_agreed_at: Timestamp | None
    """When the holder agreed to the terms; null for never."""
    privacy_agreed_at: Timestamp | None
    """When the holder agreed to the privacy policy; null for never."""


class Premium(TypedDict):
    premium_type: Count | None
    """Which premium the account has; 0 for none."""
    premium_since: Timestamp | None
    """Since when the account has premium; null without it."""
    premium_until: Timestamp | None
    """Until when premium lasts; null for none or for ever."""
    premium_will_cancel: bool
    """Whether premium ends with the period that is paid for."""
    premium_billing_cycle: str | None
    """How often premium is paid for; null without a subscription."""
    premium_lifetime_sequence: int | None
    """The number of a lifetime purchase; null without one."""
    premium_grace_ends_at: Timestamp | None
    """Until when premium goes on unpaid; null for none."""
    premium_discriminator: bool
    """Whether the digits behind the name were chosen."""
    premium_badge_hidden: bool
    """Whether the sign of premium is hidden."""
    premium_badge_masked: bool
    """Whether clients show the sign of premium without its kind."""
    premium_badge_timestamp_hidden: bool
    """Whether the time since which premium lasts is hidden."""
    premium_badge_sequence_hidden: bool
    """Whether the number of a lifetime purchase is hidden."""
    premium_purchase_disabled: bool
    """Whether the account may not buy premium."""
    premium_enabled_override: bool
    """Whether the account has premium without a purchase."""
    premium_perks_disabled: bool
    """Whether the advantages of premium are switched off for the account."""
    has_dismissed_premium_onboarding: bool
    """Whether the account closed the hint about premium."""
    has_ever_purchased: bool
    """Whether the account ever bought something."""
    has_unread_gift_inventory: bool
    """Whether a gift waits to be looked at."""
    unread_gift_inventory_count: Count
    """How many gifts wait to be looked at."""


class PrivateUserExtras(TypedDict):
    system: NotRequired[Literal[True]]
    """True for accounts of the instance itself."""
    mention_flags: NotRequired[Count]
    """Whether replies notify the account: 0 as the author likes, 1 rather yes, 2 rather no."""
    email_bounced: NotRequired[bool]
    """Whether mail to the account came back."""
    authenticator_types: NotRequired[list[Annotated[int, one_of(AuthenticatorType)]]]
    """The second factors that the account uses: 0 an authenticator app, 2 a passkey."""
    age_verified_adult: NotRequired[Literal[True]]
    """Whether the instance has made sure that the holder is an adult; it has no means to."""
    timezone: NotRequired[str | None]
    """The time zone of the holder; null where it is not set."""
    timezone_privacy_flags: NotRequired[Count]
    """Who sees the holder's time, as a number of bits."""


class PrivateUser(PrivateUserStart, Premium, PrivateUserExtras):
    """An account as it sees itself. An OAuth2 application sees empty lists, false and null in place of what is
    private."""


class AdminUser(TypedDict):
    """An account as the administration sees it."""

    id: Snowflake
    """Id of the object, as a decimal number in text."""
    username: Name
    """The name that identifies the account, 1 to 32 letters, digits and underscores."""
    discriminator: Annotated[int, within(0, 9_999)]
    """The digits behind the name, as a number."""
    global_name: Name | None
    """The name that people are shown; null for the username."""
    bot: bool
    """True for a bot's account; absent for a person's."""
    system: bool
    """True for accounts of the instance itself."""
    flags: Bits
    """All marks of the account, as a decimal number of bits."""
    premium_flags: Count
    """Marks of premium as a number of bits."""
    avatar: Asset | None
    """The picture beside the name: the hash of a stored picture, or a data address (`data:image/png;base64,…`) where it
    is sent; null for none."""
    banner: Asset | None
    """The wide picture: the hash of a stored picture, or a data address where it is sent; null for none."""
    bio: str | None
    """What the holder writes about themselves, up to 320 characters; null for nothing."""
    pronouns: str | None
    """How the holder wants to be spoken of, up to 40 characters; null for nothing."""
    accent_color: Color | None
    """The colour that the account chose for its profile, as a number of 24 bits; null for none."""
    email: Email | None
    """The mail address; null where there is none or the caller may not see it."""
    email_verified: bool
    """Whether the account proved its address."""
    email_bounced: bool
    """Whether mail to the account came back."""
    date_of_birth: str | None
    """The day of birth as `YYYY-MM-DD`; null where it was never asked for."""
    locale: str | None
    """The language of the account, such as `en-GB`."""
    premium_type: Count | None
    """Which premium the account has; 0 for none."""
    premium_since: Timestamp | None
    """Since when the account has premium; null without it."""
    premium_until: Timestamp | None
    """Until when premium lasts; null for none or for ever."""
    premium_grace_ends_at: Timestamp | None
    """Until when premium goes on unpaid; null for none."""
    premium_lifetime_sequence: int | None
    """The number of a lifetime purchase; null without one."""
    temp_banned_until: Timestamp | None
    """Until when the account is banned; null for not at all."""
    pending_deletion_at: Timestamp | None
    """When the account is erased; null where that is not planned."""
    pending_bulk_message_deletion_at: Timestamp | None
    """When everything that the account wrote is deleted; null for never."""
    deletion_reason_code: int | None
    """The reason by its number; null where no deletion is scheduled."""
    deletion_public_reason: str | None
    """The reason that the holder is shown; null for none."""
    deletion_audit_log_reason: str | None
    """The reason in the audit log for the coming deletion; null for none."""
    deletion_scheduled_by: Snowflake | None
    """Id of the administrator who ordered it; null where none did."""
    deletion_scheduled_at: Timestamp | None
    """When the deletion was ordered; null where none is."""
    acls: list[Annotated[str, one_of(Acl)]]
    """The administrative rights, by name; `*` is all of them."""
    traits: Annotated[list[str], items(100)]
    """Marks of an account to which limits apply."""
    has_totp: bool
    """Whether the account uses an authenticator app."""
    authenticator_types: list[Annotated[int, one_of(AuthenticatorType)]]
    """The second factors that the account uses: 0 an authenticator app, 2 a passkey."""
    last_active_at: Timestamp | None
    """When the account was last active; null for never."""
    last_active_ip: str | None
    """The network address it was last active from; null for callers who may not see addresses."""
    last_active_ip_reverse: str | None
    """What DNS calls that address; null where it has no name."""
    last_active_location: str | None
    """Where that address is, in words; null where that is not known."""


class Relationship(TypedDict):
    """What the caller has with another account: 1 friend, 2 blocked, 3 asked by it, 4 asked by the caller."""

    id: Snowflake
    """Id of the other account."""
    type: Annotated[int, among(1, 2, 3, 4)]
    """Which kind it is: 1 friends, 2 blocked, 3 a request to the caller, 4 a request of the caller's."""
    user: PartialUser
    """The account it is about."""
    nickname: str | None
    """What the account calls its friend; null for nothing."""
    share_voice_activity: bool
    """Whether the friend sees in which voice channel the account is."""
    friend_shares_voice_activity: bool
    """Whether the friend shows in which voice channel they are."""
    since: NotRequired[Timestamp]
    """Since when the relation holds."""


class OwnArchiveAddress(Nameless):
    download_url: Address
    """An address from which the file can be fetched for a while."""
    expires_at: Timestamp
    """When it ends; null for never."""


class CheckTagAnswer(Nameless):
    taken: bool
    """Whether an account has that name already."""


class GetOwnArchiveAnswer(Nameless):
    harvest: OwnArchive | None
    """The archive of one's own account; null while there is none."""


class GetNoteAnswer(Nameless):
    note: str
    """What the caller wrote down about the account."""


class ScheduledDeletion(TypedDict):
    """What administrators see of the deletion that is scheduled for an account."""

    pending_deletion_at: Timestamp | None
    deletion_reason_code: int | None
    deletion_public_reason: str | None
    deletion_audit_log_reason: str | None
    deletion_scheduled_by: Snowflake | None
    deletion_scheduled_at: Timestamp | None


class RelatedSince(TypedDict):
    since: NotRequired[Timestamp]


class RelationshipInReady(TypedDict):
    """A relationship without the account, which Ready names elsewhere."""

    id: Snowflake
    type: int
    nickname: str | None
    share_voice_activity: bool
    friend_shares_voice_activity: bool
    since: NotRequired[Timestamp]
