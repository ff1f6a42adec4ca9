"""Applications, bots and OAuth2 (applications.md, Applications and bots)."""

from __future__ import annotations

from typing import Final

from chat.api.schemas.accounts import DISCRIMINATOR, PARTIAL_USER
from chat.api.schemas.shapes import (
    ADDRESS,
    ASSET,
    BOOLEAN,
    COUNT,
    EMAIL,
    SNOWFLAKE,
    TEXT,
    TIMESTAMP,
    Shape,
    choice,
    either,
    listed,
    nullable,
    record,
    wire_object,
)

BOT: Final = wire_object(
    "Bot",
    {
        "id": SNOWFLAKE,
        "username": TEXT,
        "discriminator": DISCRIMINATOR,
        "avatar": nullable(ASSET),
        "banner": nullable(ASSET),
        "bio": nullable(TEXT),
        "flags": COUNT,
    },
    description="The bot account of an application as its owner sees it.",
)

APPLICATION: Final = wire_object(
    "Application",
    {
        "id": SNOWFLAKE,
        "name": TEXT,
        "icon": nullable(ASSET),
        "description": nullable(TEXT),
        "redirect_uris": listed(ADDRESS),
        "bot_public": BOOLEAN,
        "bot_require_code_grant": BOOLEAN,
        "public_client": BOOLEAN,
    },
    optional={"bot": BOT},
)

NEW_APPLICATION: Final = APPLICATION.extended(
    "NewApplication",
    {"client_secret": TEXT, "bot": BOT.extended("NewBot", {"token": TEXT})},
    description="An application with its secrets, which are told this once.",
)

OWN_APPLICATION: Final = APPLICATION.extended(
    "OwnApplication",
    {"bot": BOT, "verify_key": TEXT, "owner": PARTIAL_USER},
    description="An application as its own bot sees it.",
)

AUTHORIZED_APPLICATION: Final = APPLICATION.extended(
    "AuthorizedApplication", without=("redirect_uris", "public_client", "bot")
)

PUBLIC_APPLICATION: Final = APPLICATION.extended(
    "PublicApplication",
    {"scopes": listed(TEXT), "bot": nullable(BOT)},
    optional={"current_user": PARTIAL_USER},
    without=("public_client",),
)

BOT_TOKEN: Final = record({"token": TEXT, "bot": BOT})
CLIENT_SECRET: Final = record({"client_secret": TEXT})

TOKENS: Final = wire_object(
    "OAuth2Tokens",
    {"access_token": TEXT, "token_type": choice("Bearer"), "expires_in": COUNT, "refresh_token": TEXT, "scope": TEXT},
)

INTROSPECTION: Final = either(
    record({"active": Shape({"const": False})}),
    record(
        {
            "active": Shape({"const": True}),
            "scope": TEXT,
            "client_id": SNOWFLAKE,
            "exp": COUNT,
            "iat": COUNT,
            "sub": SNOWFLAKE,
        },
        optional={"token_type": choice("Bearer")},
    ),
)

USER_INFO: Final = wire_object(
    "UserInfo",
    {
        "sub": SNOWFLAKE,
        "id": SNOWFLAKE,
        "username": TEXT,
        "discriminator": DISCRIMINATOR,
        "global_name": nullable(TEXT),
        "avatar": nullable(ASSET),
        "flags": COUNT,
    },
    optional={"email": nullable(EMAIL), "verified": BOOLEAN},
)

CURRENT_AUTHORIZATION: Final = wire_object(
    "CurrentAuthorization",
    {"application": AUTHORIZED_APPLICATION, "scopes": listed(TEXT), "expires": TIMESTAMP},
    optional={"user": PARTIAL_USER},
)

AUTHORIZATION: Final = wire_object(
    "Authorization", {"application": AUTHORIZED_APPLICATION, "scopes": listed(TEXT), "authorized_at": TIMESTAMP}
)
