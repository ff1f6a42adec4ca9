"""Application objects as the wire has them (applications.md, Applications and bots)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chat.domain.standing.user_objects import partial_user, public_flags
from chat.store.accounts.accounts import Account
from chat.store.applications.applications import Application


def application_object(application: Application, bot: Account | None) -> dict[str, Any]:
    """An application as its owner sees it; secrets are added where they are told, and nowhere else."""
    data: dict[str, Any] = {
        "id": str(application.id),
        "name": application.name,
        "icon": application.icon,
        "description": application.description,
        "redirect_uris": list(application.redirect_uris),
        "bot_public": application.bot_public,
        "bot_require_code_grant": application.bot_require_code_grant,
    }
    if bot is not None:
        data["bot"] = bot_object(bot)
    return data


def bot_object(bot: Account) -> dict[str, Any]:
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


def authorized_application(application: Application) -> dict[str, Any]:
    """An application as the account sees it that has authorised it."""
    return {
        "id": str(application.id),
        "name": application.name,
        "icon": application.icon,
        "description": application.description,
        "bot_public": application.bot_public,
        "bot_require_code_grant": application.bot_require_code_grant,
    }


def public_application(application: Application, bot: Account | None, scopes: Sequence[str]) -> dict[str, Any]:
    """An application as anybody sees it, with the scopes that it can be granted (applications.md, Applications and
    bots)."""
    return {
        **authorized_application(application),
        "redirect_uris": list(application.redirect_uris),
        "scopes": list(scopes),
        "bot": None if bot is None else bot_object(bot),
    }


def own_application(application: Application, owner: Account, bot: Account) -> dict[str, Any]:
    """An application as its own bot sees it: GET /v1/applications/@me."""
    data = application_object(application, bot)
    data["verify_key"] = application.verify_key
    data["owner"] = partial_user(owner)
    return data
