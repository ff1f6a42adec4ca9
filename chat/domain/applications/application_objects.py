"""Applications and bots: their rows, and as the wire has them (applications.md, Applications and bots)."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final, TypedDict

import attrs

from chat import wire
from chat.auth.principal import Principal
from chat.auth.tokens import PREVIEW_CHARACTERS, token_hash
from chat.domain.policy import account_rules
from chat.domain.standing.user_objects import partial_user, public_flags
from chat.errors import ApiError
from chat.registries.error_codes import ErrorCode
from chat.registries.user_flags import UserFlag
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.applications import applications
from chat.store.applications.applications import Application


def application_object(application: Application, bot: Account | None, verify_key: str) -> wire.Application:
    """An application as its owner sees it; secrets are added where they are told, and nowhere else."""
    shown: wire.Application = {
        "id": str(application.id),
        "name": application.name,
        "icon": application.icon,
        "description": application.description,
        "redirect_uris": list(application.redirect_uris),
        "bot_public": application.bot_public,
        "bot_require_code_grant": application.bot_require_code_grant,
        "public_client": application.public_client,
        "interactions_endpoint_url": application.interactions_endpoint_url,
        "verify_key": verify_key,
    }
    if bot is not None:
        shown["bot"] = bot_object(bot)
    return shown


def bot_object(bot: Account) -> wire.Bot:
    """The bot account of an application as its owner sees it."""
    return {
        "id": str(bot.id),
        "username": bot.username,
        "discriminator": f"{bot.discriminator:04d}",
        "avatar": bot.avatar,
        "banner": bot.banner,
        "bio": bot.bio,
        "flags": public_flags(bot.flags),
    }


def authorized_application(application: Application) -> wire.AuthorizedApplication:
    """An application as the account sees it that has authorised it."""
    return {
        "id": str(application.id),
        "name": application.name,
        "icon": application.icon,
        "description": application.description,
        "bot_public": application.bot_public,
        "bot_require_code_grant": application.bot_require_code_grant,
    }


def public_application(application: Application, bot: Account | None, scopes: Sequence[str]) -> wire.PublicApplication:
    """An application as the public sees it, with the scopes that it can be granted."""
    return {
        **authorized_application(application),
        "redirect_uris": list(application.redirect_uris),
        "scopes": list(scopes),
        "bot": None if bot is None else bot_object(bot),
        **_NOBODY_ASKED,
    }


_NOBODY_ASKED: Final[wire.AskedForConsent] = {}


def own_application(application: Application, owner: Account, bot: Account, verify_key: str) -> wire.OwnApplication:
    """An application as its own bot sees it: GET /v1/applications/@me."""
    shown = application_object(application, None, verify_key)
    return {**shown, "bot": bot_object(bot), "owner": partial_user(owner)}


NAMELESS_BOT: Final = "bot"
"""The username of a bot whose application's name makes none."""


def new_bot(application: Application, *, service_name: str) -> Account:
    """The bot account of a new application, without its discriminator.

    Its snowflake is the application's (applications.md, Applications and bots): clients take either for the other.
    """
    return Account(
        id=application.id,
        username=account_rules.username_from(application.name, service_name=service_name) or NAMELESS_BOT,
        discriminator=0,
        email_verified=True,
        bot=True,
        created_at=application.created_at,
    )


class SecretColumns(TypedDict):
    client_secret_hash: bytes
    client_secret_created_at: int


class TokenColumns(TypedDict):
    bot_token_hash: bytes
    bot_token_preview: str
    bot_token_created_at: int


def secret_columns(secret: str, now_ms: int) -> SecretColumns:
    """The columns that a new client secret changes."""
    return {"client_secret_hash": token_hash(secret), "client_secret_created_at": now_ms}


def token_columns(token: str, now_ms: int) -> TokenColumns:
    """The columns that a new bot token changes."""
    return {
        "bot_token_hash": token_hash(token),
        "bot_token_preview": token.partition(".")[2][:PREVIEW_CHARACTERS],
        "bot_token_created_at": now_ms,
    }


def owned(connection: sqlite3.Connection, user_id: int, application_id: int) -> Application:
    """The application, if it is the account's own. Raises UNKNOWN_APPLICATION, ACCESS_DENIED."""
    application = applications.by_id(connection, application_id)
    if application is None:
        raise ApiError(ErrorCode.UNKNOWN_APPLICATION)
    if application.owner_id != user_id:
        raise ApiError(ErrorCode.ACCESS_DENIED)
    return application


def held(connection: sqlite3.Connection, principal: Principal, application_id: int) -> Application:
    """As `owned`; a bot holds the application that it belongs to, and no other one."""
    if not principal.is_bot:
        return owned(connection, principal.user_id, application_id)
    application = applications.by_bot(connection, principal.user_id)
    if application is None or application.id != application_id:
        raise ApiError(ErrorCode.UNKNOWN_APPLICATION)
    return application


def bot_of(connection: sqlite3.Connection, application: Application) -> Account | None:
    """The application's bot account."""
    return None if application.bot_user_id is None else accounts.by_id(connection, application.bot_user_id)


def required_bot_of(connection: sqlite3.Connection, application: Application) -> Account:
    """As `bot_of`. Raises BOT_USER_NOT_FOUND."""
    bot = bot_of(connection, application)
    if bot is None:
        raise ApiError(ErrorCode.BOT_USER_NOT_FOUND)
    return bot


def deleted_bot(bot: Account) -> Account:
    """The bot as the deleted author of what it wrote: without what it said of itself."""
    return attrs.evolve(
        bot,
        flags=bot.flags | UserFlag.DELETED,
        global_name=None,
        avatar=None,
        avatar_color=None,
        banner=None,
        banner_color=None,
        accent_color=None,
        bio=None,
        pronouns=None,
    )
