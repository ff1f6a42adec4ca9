"""Applications, bots and OAuth2 (applications.md, Applications and bots)."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict

from chat.wire.accounts import PartialUser
from chat.wire.values import (
    GROUPED,
    Address,
    Asset,
    Count,
    Discriminator,
    Email,
    Nameless,
    Snowflake,
    Timestamp,
    length,
)


class Bot(TypedDict):
    """The bot account of an application as its owner sees it."""

    id: Snowflake
    """Id of the object, as a decimal number in text."""
    username: str
    """The name that identifies the account, 1 to 32 letters, digits and underscores."""
    discriminator: Discriminator
    """Four digits that tell equal usernames apart."""
    avatar: Asset | None
    """The picture beside the name: the hash of a stored picture, or a data address (`data:image/png;base64,…`) where it
    is sent; null for none."""
    banner: Asset | None
    """The wide picture: the hash of a stored picture, or a data address where it is sent; null for none."""
    bio: str | None
    """What the holder writes about themselves, up to 320 characters; null for nothing."""
    flags: Count
    """Switches as a number of bits."""


class Application(TypedDict):
    id: Snowflake
    """Id of the object, as a decimal number in text."""
    name: str
    """The name that people see when they are asked for consent."""
    icon: Asset | None
    """The picture of the thing: the hash of a stored picture, or a data address where it is sent; null for none."""
    description: str | None
    """What the thing is about, in its maker's words; null for nothing."""
    redirect_uris: list[Address]
    """The addresses to which consent may lead back."""
    bot_public: bool
    """Whether others than the owner may add the bot to their guilds."""
    bot_require_code_grant: bool
    """Whether adding the bot takes the whole OAuth2 code flow."""
    public_client: bool
    """Whether the application can keep no secret: with PKCE it exchanges codes without one."""
    interactions_endpoint_url: Address | None
    """Where the application hears interactions by HTTP; null where its bot hears them at the gateway."""
    verify_key: str
    """The public key of the application (Ed25519), in hexadecimal digits."""
    bot: NotRequired[Bot]
    """True for a bot's account; absent for a person's."""


class NewBot(Bot):
    token: str
    """The token of the bot, shown this once."""


class NewApplication(TypedDict):
    """An application with its secrets, which are told this once."""

    id: Snowflake
    """Id of the object, as a decimal number in text."""
    name: str
    """The name that people read."""
    icon: Asset | None
    """The picture of the thing: the hash of a stored picture, or a data address where it is sent; null for none."""
    description: str | None
    """What the thing is about, in its maker's words; null for nothing."""
    redirect_uris: list[Address]
    """The addresses to which consent may lead back."""
    bot_public: bool
    """Whether others than the owner may add the bot to their guilds."""
    bot_require_code_grant: bool
    """Whether adding the bot takes the whole OAuth2 code flow."""
    public_client: bool
    """Whether the application can keep no secret: with PKCE it exchanges codes without one."""
    interactions_endpoint_url: Address | None
    """Where the application hears interactions by HTTP; null where its bot hears them at the gateway."""
    verify_key: str
    """The public key of the application (Ed25519), in hexadecimal digits."""
    client_secret: str
    """The application's secret; an answer shows it once."""
    bot: NewBot
    """True for a bot's account; absent for a person's."""


class OwnApplication(TypedDict):
    """An application as its own bot sees it."""

    id: Snowflake
    """Id of the object, as a decimal number in text."""
    name: str
    """The name that people read."""
    icon: Asset | None
    """The picture of the thing: the hash of a stored picture, or a data address where it is sent; null for none."""
    description: str | None
    """What the thing is about, in its maker's words; null for nothing."""
    redirect_uris: list[Address]
    """The addresses to which consent may lead back."""
    bot_public: bool
    """Whether others than the owner may add the bot to their guilds."""
    bot_require_code_grant: bool
    """Whether adding the bot takes the whole OAuth2 code flow."""
    public_client: bool
    """Whether the application can keep no secret: with PKCE it exchanges codes without one."""
    interactions_endpoint_url: Address | None
    """Where the application hears interactions by HTTP; null where its bot hears them at the gateway."""
    verify_key: str
    """The public key of the application (Ed25519), in hexadecimal digits."""
    bot: Bot
    """True for a bot's account; absent for a person's."""
    owner: PartialUser
    """The account that it belongs to."""


class AuthorizedApplication(TypedDict):
    id: Snowflake
    """Id of the object, as a decimal number in text."""
    name: str
    """The name that people read."""
    icon: Asset | None
    """The picture of the thing: the hash of a stored picture, or a data address where it is sent; null for none."""
    description: str | None
    """What the thing is about, in its maker's words; null for nothing."""
    bot_public: bool
    """Whether others than the owner may add the bot to their guilds."""
    bot_require_code_grant: bool
    """Whether adding the bot takes the whole OAuth2 code flow."""


class AskedForConsent(TypedDict):
    current_user: NotRequired[PartialUser]
    """The account that is asked for consent."""


class PublicApplicationStart(TypedDict):
    id: Snowflake
    """Id of the object, as a decimal number in text."""
    name: str
    """The name that people read."""
    icon: Asset | None
    """The picture of the thing: the hash of a stored picture, or a data address where it is sent; null for none."""
    description: str | None
    """What the thing is about, in its maker's words; null for nothing."""
    redirect_uris: list[Address]
    """The addresses to which consent may lead back."""
    bot_public: bool
    """Whether others than the owner may add the bot to their guilds."""
    bot_require_code_grant: bool
    """Whether adding the bot takes the whole OAuth2 code flow."""
    scopes: list[str]
    """What the application may do, by names."""
    bot: Bot | None
    """True for a bot's account; absent for a person's."""


class PublicApplication(PublicApplicationStart, AskedForConsent):
    pass


class BotToken(Nameless):
    token: str
    """A secret that stands for an account, a bot or a permission; an answer shows it once."""
    bot: Bot
    """True for a bot's account; absent for a person's."""


class ClientSecret(Nameless):
    client_secret: str
    """The application's secret; an answer shows it once."""


class OAuth2Tokens(TypedDict):
    access_token: str
    """The token that the application sends behind `Bearer `."""
    token_type: Literal["Bearer"]
    """How the token is sent: `Bearer`."""
    expires_in: Count
    """Seconds until the token ends."""
    refresh_token: str
    """The token with which a new access token is fetched."""
    scope: str
    """What it covers; for OAuth2, names with spaces between."""


class IntrospectionItem(Nameless):
    active: Literal[False]
    """Whether the token still holds."""


class IntrospectionItem2(Nameless):
    active: Literal[True]
    """Whether the token still holds."""
    scope: str
    """What it covers; for OAuth2, names with spaces between."""
    client_id: Snowflake
    """Id of the application as OAuth2 names it."""
    exp: Count
    """When the token ends, in Unix seconds."""
    iat: Count
    """When the token was made, in Unix seconds."""
    sub: Snowflake
    """Id of the account, as OAuth2 names it."""
    token_type: NotRequired[Literal["Bearer"]]
    """How the token is sent: `Bearer`."""


Introspection = Annotated[IntrospectionItem | IntrospectionItem2, GROUPED]


class UserInfo(TypedDict):
    sub: Snowflake
    """Id of the account."""
    id: Snowflake
    """Id of the object, as a decimal number in text."""
    username: str
    """The name that identifies the account, 1 to 32 letters, digits and underscores."""
    discriminator: Discriminator
    """Four digits that tell equal usernames apart."""
    global_name: str | None
    """The name that people are shown; null for the username."""
    avatar: Asset | None
    """The picture beside the name: the hash of a stored picture, or a data address (`data:image/png;base64,…`) where it
    is sent; null for none."""
    flags: Count
    """Switches as a number of bits."""
    email: NotRequired[Email | None]
    """The mail address; null where there is none or the caller may not see it."""
    verified: NotRequired[bool]
    """Whether the mail address is proved."""


class CurrentAuthorization(TypedDict):
    application: AuthorizedApplication
    """The application itself."""
    scopes: list[str]
    """What the application may do, by names."""
    expires: Timestamp
    """When the token ends."""
    user: NotRequired[PartialUser]
    """The account it is about."""


class Authorization(TypedDict):
    application: AuthorizedApplication
    """The application itself."""
    scopes: list[str]
    """What the application may do, by names."""
    authorized_at: Timestamp
    """When the holder of the account gave consent."""


Word = Annotated[str, length(2048, 1)]


class ConsentToApplicationAnswer(Nameless):
    redirect_to: Address
    """Where the browser goes next."""


class RevokeTokenAnswer(Nameless):
    pass
