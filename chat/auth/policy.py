"""Who may call an operation: the credential policies of document 000 as one pure function.

An operation names one policy. The function takes what the credential resolved to and either admits it or raises the
documented refusal; it knows nothing of HTTP.
"""

from __future__ import annotations

import enum
from typing import Final

from chat.auth.principal import CredentialKind, Principal
from chat.errors import ApiError
from chat.registries.scopes import Scope


class Policy(enum.Enum):
    """What an operation asks of its caller (document 000, Credential policies)."""

    NONE = "none"
    """Anyone. A credential that resolves selects rate limits; one that does not is ignored (design 7)."""

    USER = "user"
    """A session or a bot; an OAuth2 access token only where the operation names a scope."""

    USER_ONLY = "user_only"
    """As USER, without bots."""

    BOT = "bot"
    """A bot token."""

    OAUTH2 = "oauth2"
    """`Bearer` with an access token that carries the operation's scope; nothing else."""

    GATEWAY_BOT = "gateway_bot"
    """GET /v1/gateway/bot: `Bot` in any letter case before something of bot token form."""

    OWN_APPLICATION = "own_application"
    """GET /v1/applications/@me: a bot token behind `Bot` in any letter case."""


def admit(
    policy: Policy,
    principal: Principal | None,
    *,
    scope: Scope | None = None,
    bots_refused_with: str | None = None,
) -> Principal | None:
    """Admit the caller of an operation, or raise the refusal.

    `scope` is the OAuth2 scope that the operation takes. `bots_refused_with` is the code that a bot gets where bots may not
    call; ACCESS_DENIED under USER_ONLY unless given.

    :raises ApiError: UNAUTHORIZED, ACCESS_DENIED, MISSING_OAUTH_SCOPE or `bots_refused_with`.
    """
    if principal is None:
        if policy is Policy.NONE:
            return None
        raise ApiError("UNAUTHORIZED")
    return principal
