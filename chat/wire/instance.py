"""What an instance says of itself, and errors (instance.md, Discovery document)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, NotRequired, TypedDict

from chat.wire.values import GROUPED, Address, Count, Nameless, Snowflake, Timestamp, about, within


class DiscoveryCaptcha(Nameless):
    provider: str
    """Who sets the challenges: `none`, `hcaptcha` or `turnstile`."""
    hcaptcha_site_key: str | None
    """The instance's public key at hCaptcha; null where another service is used."""
    turnstile_site_key: str | None
    """The instance's public key at Turnstile; null where another service is used."""


class DiscoveryFeatures(Nameless):
    voice_enabled: bool
    """Whether the instance has voice."""
    stripe_enabled: bool
    """Whether payments by card are set up."""
    self_hosted: bool
    """Whether the instance sells nothing."""
    presigned_attachment_uploads: bool
    """Whether files can be uploaded before their message."""
    emails_enabled: bool
    """Whether the instance sends mail."""
    phone_verification_enabled: bool
    """Whether telephone numbers are asked for."""
    account_identity: Literal["email", "username"]
    """What people sign in with on this instance."""
    tag_style: Literal["random", "none"]
    """Whether digits tell equal usernames apart."""


class DiscoveryGif(Nameless):
    provider: str
    """The service for moving pictures; the usual one where `services.gif_enabled` is false."""
    display_name: str
    """The name that people are shown."""
    attribution_required: bool
    """Whether a client has to name the service beside its pictures."""


class DiscoverySso(Nameless):
    enabled: bool
    """Whether people may sign in at the provider."""
    enforced: bool
    """Whether every other way to sign in is refused."""
    display_name: str | None
    """The provider's name on the sign-in page; null for none."""
    redirect_uri: Address | None
    """Where consent or sign-in leads back to; it must be one that was registered."""


class DiscoveryRegistration(Nameless):
    mode: Literal["open", "approval", "closed"]
    """Who may make an account."""
    admin_registration_urls_enabled: bool
    """Whether administrators hand out links with which people register."""


class DiscoveryCommunity(Nameless):
    single_community: bool
    """Whether the instance is one guild that everybody is in."""
    single_community_guild_id: Snowflake | None
    """Id of that guild; null for none."""
    direct_messages_disabled: bool
    """Whether private conversations are switched off on the instance."""


class LimitRuleFilters(Nameless):
    traits: NotRequired[list[str]]
    """Marks of an account to which limits apply."""
    guildFeatures: NotRequired[list[str]]
    """Features of which a guild must have one."""


class LimitRule(Nameless):
    id: str
    """The name of the rule."""
    overrides: dict[str, float]
    """Limits that are different there, by name."""
    filters: NotRequired[LimitRuleFilters]
    """To whom the rule applies."""


class DiscoveryLimits(Nameless):
    version: Count
    """The version of this form of limits."""
    traitDefinitions: list[str]
    """Names of traits that rules know."""
    rules: list[LimitRule]
    """Limits that hold for some accounts or guilds only."""
    defaultsHash: str
    """Changes when the default limits change."""


class DiscoveryPush(Nameless):
    public_vapid_key: str | None
    """The key with which browsers subscribe (RFC 8292); null where nothing is pushed."""


class Discovery(TypedDict):
    api_code_version: Count
    """A number that grows whenever the API changes in a way that clients notice."""
    endpoints: dict[str, Address]
    """Where the parts of the instance are reached."""
    captcha: DiscoveryCaptcha
    """Which challenge stands before registration and sign-in, if any."""
    features: DiscoveryFeatures
    """What the instance has and has not."""
    gif: DiscoveryGif
    """The service for moving pictures that clients may use, if any."""
    sso: DiscoverySso
    """Single sign-on as clients need to know it."""
    registration: DiscoveryRegistration
    """How people come to an account here."""
    community: DiscoveryCommunity
    """Whether the instance is one guild, and whether people may talk outside of it."""
    services: dict[str, bool]
    """Further services beside the instance, and whether each is there."""
    limits: DiscoveryLimits
    """All limits of the instance, with rules for whom they differ."""
    push: DiscoveryPush
    """Whether and how messages are pushed to browsers."""
    app_public: Mapping[str, object]
    """What clients need to know that belongs to no other part."""


class Geo(Nameless):
    countryCode: str
    """The country by its two letters (ISO 3166-1)."""
    regionCode: str | None
    """The part of the country by its code (ISO 3166-2); null where that is not known."""


class OwnPlace(TypedDict):
    countryCode: str | None
    """The country by its two letters (ISO 3166-1)."""
    regionCode: str | None
    """The part of the country by its code (ISO 3166-2); null where that is not known."""
    latitude: str | None
    """Degrees north of the equator; null where the place is not known."""
    longitude: str | None
    """Degrees east of Greenwich; null where the place is not known."""
    ageRestrictedGeos: list[Geo]
    """Places in which age decides what is shown."""
    ageBlockedGeos: list[Geo]
    """Places in which the service is refused to minors."""


class Health(Nameless):
    status: Literal["ok"]
    """How it stands at this moment."""


class Hindered(Nameless):
    status: Literal["failing", "draining", "migrating"]
    """How it stands at this moment."""
    reason: str
    """Why, in words; null where none was given."""


class SessionStartLimit(Nameless):
    total: Count
    """How many sessions may begin in a period."""
    remaining: Count
    """How many of them are left."""
    reset_after: Count
    """Milliseconds until the period begins anew."""
    max_concurrency: Count
    """How many Identifies may be sent at once."""


class GatewayBot(TypedDict):
    url: Address
    """The address of the gateway."""
    shards: Annotated[int, within(1)]
    """How many shards the bot should use."""
    session_start_limit: SessionStartLimit
    """How many sessions a bot may begin, and when."""


class FieldError(TypedDict):
    path: str
    """Which field is wrong: the names that lead to it, with dots between."""
    code: str
    """What is wrong with the field, by a name that stays."""
    message: str
    """What is wrong with the field, in a sentence for people."""


class UnaddableRecipient(Nameless):
    user_id: Snowflake
    """Id of the account."""
    reason: str
    """Why this account could not be added, by an error code."""


class SecondFactorMethods(Nameless):
    totp: NotRequired[bool]
    """Whether an authenticator app can be used."""
    webauthn: NotRequired[bool]
    """Whether a passkey can be used."""
    backup_codes: NotRequired[bool]
    """One-time codes that stand for the authenticator app."""


class ErrorStart(TypedDict):
    code: str
    """What went wrong, by a name that stays; programs read this."""
    message: str
    """What went wrong, in a sentence for people; it may change."""
    errors: NotRequired[list[FieldError]]
    """What is wrong with the fields, one entry for each."""
    required_scope: NotRequired[str]
    """The scope that the access token lacks."""
    max_relationships: NotRequired[Count]
    """How many friends and requests an account may have."""
    max_group_dms: NotRequired[Count]
    """How many groups an account may be in."""
    max_bookmarks: NotRequired[Count]
    """How many messages an account may save."""
    max_favorite_memes: NotRequired[Count]
    """How many files an account may keep as favourites."""
    max_recipients: NotRequired[Count]
    """How many accounts a group may have."""
    addable_recipients: NotRequired[list[Snowflake]]
    """Ids of the accounts that could have been added."""
    unaddable_recipients: NotRequired[list[UnaddableRecipient]]
    """Accounts that could not be added, each with the reason."""
    has_mfa: NotRequired[bool]
    """Whether the account has a second factor."""
    methods: NotRequired[SecondFactorMethods]
    """The ways in which the account can prove itself."""


ErrorGlobal = TypedDict(
    "ErrorGlobal", {"global": Annotated[bool, about("Whether the limit is that of all requests.")]}, total=False
)


class Error(ErrorStart, ErrorGlobal):
    """A refusal. `code` is for programs, `message` for people; `errors` names the fields of an INVALID_FORM_BODY,
    `retry_after` is in seconds."""

    retry_after: NotRequired[float]
    """Seconds until the request may be sent again."""
    ip_authorization_required: NotRequired[bool]
    """Whether the link in a mail has to be followed first."""
    ticket: NotRequired[str]
    """Stands for what was done so far in a conversation of several requests."""
    email: NotRequired[str]
    """The address to which the mail went."""
    resend_available_in: NotRequired[Count]
    """Seconds until another mail may be asked for."""
    ip_address: NotRequired[str]
    """The network address that is refused."""
    appeal_email: NotRequired[str | None]
    """Where a banned person can write to."""
    appeals_supported: NotRequired[bool]
    """Whether the ban can be appealed against."""
    ban_kind: NotRequired[str]
    """Which kind of ban keeps the address or account out."""
    expires_at: NotRequired[Timestamp | None]
    """When the ban ends by itself; null for never."""


class OAuth2Error(TypedDict):
    """A refusal of the OAuth2 protocol (RFC 6749 5.2)."""

    error: Literal[
        "invalid_request",
        "invalid_client",
        "invalid_grant",
        "invalid_scope",
        "unsupported_grant_type",
        "unsupported_response_type",
    ]
    """The error by its name in RFC 6749."""
    error_description: str
    """The same in words, for the author of the program."""


EitherError = Annotated[Error | OAuth2Error, GROUPED]
