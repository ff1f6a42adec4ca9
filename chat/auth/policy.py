"""Who may call an operation: the credential policies as one pure function (access.md, Credential policies).

An operation names one policy. `admit` takes what the request presented and whom that resolved to, and either lets the
caller in or raises the documented refusal; it knows nothing of HTTP and reads nothing.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Final

from chat.auth.credentials import Credential
from chat.auth.principal import CredentialKind, Principal, grants
from chat.auth.tokens import has_bot_token_form
from chat.errors import ApiError
from chat.registries.acls import ACLS, Acl
from chat.registries.error_codes import ErrorCode
from chat.registries.scopes import Scope


class Policy(enum.Enum):
    """What an operation asks of its caller (access.md, Credential policies)."""

    NONE = "none"
    """Anyone. A credential that resolves selects rate limits; one that does not is ignored (access.md, Credential
    forms)."""

    USER = "user"
    """A session or a bot; an OAuth2 access token only where the operation names a scope."""

    USER_ONLY = "user_only"
    """As USER, without bots."""

    BOT = "bot"
    """A bot token."""

    OAUTH2 = "oauth2"
    """`Bearer` with an access token that carries the operation's scope, or any where it names none; nothing else."""

    GATEWAY_BOT = "gateway_bot"
    """GET /v1/gateway/bot: `Bot` in any letter case before something of bot token form, known or not."""

    OWN_APPLICATION = "own_application"
    """GET /v1/applications/@me: a bot token behind `Bot` in any letter case."""

    THREADS = "threads"
    """A bot, or a session that declares `channel_threads`; there is nothing here for others."""

    ADMIN = "admin"
    """A session, an access token of the Admin application or an admin API key, with the operation's ACLs."""

    URL = "url"
    """Those who know the URL. Authorization is not looked at, valid or not: webhooks by their token, media
    (access.md, Secret addresses)."""


BOT_IN_ANY_CASE: Final = frozenset({Policy.GATEWAY_BOT, Policy.OWN_APPLICATION})
"""Policies under which the scheme word `Bot` is read without regard to letter case."""

ADMITTED_UNCOUNTED: Final = frozenset({Policy.THREADS})
"""Policies that are asked before any request limit: an answer about limits would tell that there is something."""

ADMITTED_BEFORE_BUCKET: Final = frozenset({Policy.ADMIN})
"""Policies that are asked between the global limit and the operation's own (access.md, Admin credentials)."""

THREADS_CAPABILITY: Final = "channel_threads"
"""What a client declares that knows threads (access.md, Thread routes)."""

Acls = Sequence[frozenset[Acl]]
"""What an administrative operation asks for: of each set one."""

_BOT_OR_AMBIGUOUS: Final = frozenset({CredentialKind.BOT, None})


def admit(
    policy: Policy,
    credential: Credential | None,
    principal: Principal | None,
    *,
    scope: Scope | None = None,
    bots_refused_with: ErrorCode | None = None,
    acls: Acls = (),
    closed_to_limited: bool = False,
) -> None:
    """Let the caller of an operation in, or raise the refusal.

    `scope` is the OAuth2 scope that the operation takes. `bots_refused_with` is the code for a bot where bots may not
    call; under USER_ONLY it is ACCESS_DENIED unless given. `acls` are those of an operation under ADMIN.
    `closed_to_limited` refuses limited accounts (access.md, Account gates).

    :raises ApiError: UNAUTHORIZED, INVALID_TOKEN, INVALID_AUTH_TOKEN, ACCESS_DENIED, MISSING_OAUTH_SCOPE,
        MISSING_PERMISSIONS, MISSING_ACL, NOT_FOUND, ACCOUNT_LIMITED or `bots_refused_with`.
    """
    match policy:
        case Policy.URL:
            pass
        case Policy.GATEWAY_BOT:
            _admit_bot_token_form(credential)
        case Policy.THREADS:
            _admit_to_threads(principal)
        case Policy.ADMIN:
            _admit_administrator(principal, acls)
        case _:
            _admit_user(policy, credential, principal, scope, bots_refused_with)
    if closed_to_limited and principal is not None and principal.account.is_limited:
        raise ApiError(ErrorCode.ACCOUNT_LIMITED)


def _admit_user(
    policy: Policy,
    credential: Credential | None,
    principal: Principal | None,
    scope: Scope | None,
    bots_refused_with: ErrorCode | None,
) -> None:
    if policy is Policy.OWN_APPLICATION and credential is not None and credential.kind not in _BOT_OR_AMBIGUOUS:
        raise ApiError(ErrorCode.INVALID_TOKEN)
    if principal is None or principal.kind is CredentialKind.ADMIN_KEY:  # a key counts below /v1/admin only
        if policy is Policy.NONE:
            return
        raise ApiError(ErrorCode.UNAUTHORIZED)
    if principal.account.bot and (bots_refused_with is not None or policy is Policy.USER_ONLY):
        raise ApiError(bots_refused_with or ErrorCode.ACCESS_DENIED)
    if policy is Policy.BOT and principal.kind is not CredentialKind.BOT:
        raise ApiError(ErrorCode.ACCESS_DENIED)
    _admit_kind(policy, principal, scope)


def _admit_bot_token_form(credential: Credential | None) -> None:
    """Only the form is checked, so success proves nothing (instance.md, Gateway address)."""
    token = credential.token if credential is not None and credential.kind is CredentialKind.BOT else None
    if token is None or not has_bot_token_form(token):
        raise ApiError(ErrorCode.INVALID_AUTH_TOKEN)


def _admit_to_threads(principal: Principal | None) -> None:
    """A caller who may not come in is told what an unknown path tells (access.md, Thread routes)."""
    if principal is not None:
        if principal.kind is CredentialKind.BOT:
            return
        if principal.kind is CredentialKind.SESSION and THREADS_CAPABILITY in principal.capabilities:
            return
    raise ApiError(ErrorCode.NOT_FOUND)


def _admit_administrator(principal: Principal | None, acls: Acls) -> None:
    """In the order of access.md, Admin credentials; a key that lacks `admin:authenticate` itself lacks an ACL."""
    if principal is None or principal.kind is CredentialKind.BOT:
        raise ApiError(ErrorCode.UNAUTHORIZED)
    if principal.kind is CredentialKind.OAUTH2 and not principal.is_admin_application:
        raise ApiError(ErrorCode.ACCESS_DENIED)
    if not grants(principal.account.acls, Acl.ADMIN_AUTHENTICATE):
        raise ApiError(ErrorCode.MISSING_PERMISSIONS)
    if not principal.holds(Acl.ADMIN_AUTHENTICATE):
        raise ApiError(ErrorCode.MISSING_ACL)
    if not all(any(principal.holds(acl) for acl in alternatives) for alternatives in acls):
        raise ApiError(ErrorCode.MISSING_ACL)


def lost_acls(before: Principal, after: Principal) -> frozenset[str]:
    """The ACLs that a caller could make use of before and cannot after."""
    return frozenset(acl for acl in ACLS if before.holds(acl) and not after.holds(acl))


def _admit_kind(policy: Policy, principal: Principal, scope: Scope | None) -> None:
    if principal.kind is CredentialKind.OAUTH2:
        if policy is Policy.NONE:
            return
        if scope is None:
            if policy is Policy.OAUTH2:
                return
            raise ApiError(ErrorCode.ACCESS_DENIED)
        if scope not in principal.scopes:
            raise ApiError(ErrorCode.MISSING_OAUTH_SCOPE, members={"required_scope": str(scope)})
    elif policy is Policy.OAUTH2:
        raise ApiError(ErrorCode.UNAUTHORIZED)
