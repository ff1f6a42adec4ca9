"""The Authorization header, read to the letter (access.md, Credential forms), and the account that it stands for.

A value either begins with one of three scheme words and a blank, in exactly this spelling, or is a bare session token.
What follows must be non-empty and free of surrounding white space, else the credential is malformed. Malformed,
unknown, expired and revoked all end in the same answer; the difference is kept only as far as the two operations that
tell schemes apart need it.

An account is found by one or two point reads, inline on the loop's thread. A wrong credential is looked up as a right
one would be, so that its refusal takes as long.
"""

from __future__ import annotations

import hmac
import sqlite3
from collections.abc import Sequence
from typing import Final

import attrs

from chat.auth.principal import CredentialKind, Principal
from chat.auth.tokens import (
    TokenDigest,
    admin_key_of,
    application_of,
    digest_of,
    is_session_token,
    session_token_hash,
    token_hash,
)
from chat.classes import frozen
from chat.registries.scopes import ADMIN_APPLICATION_ID, ADMIN_SCOPE
from chat.store.accounts import account_deletions, accounts
from chat.store.administration import admin_api_keys
from chat.store.applications import applications, oauth2_grants
from chat.store.signing_in import auth_sessions


@frozen
class Credential:
    """What one request presented.

    `kind` is None when several values came and it cannot be said which is meant; `token` is None when it is malformed.
    """

    kind: CredentialKind | None
    token: str | None = attrs.field(repr=False)


_SCHEMES: Final = {"Bot": CredentialKind.BOT, "Bearer": CredentialKind.OAUTH2, "Admin": CredentialKind.ADMIN_KEY}

AMBIGUOUS: Final = Credential(None, None)

_NO_TOKEN: Final = token_hash("")
"""Compared with, and looked for, where there is no token to compare or look for."""

_NO_ID: Final = -1
"""The snowflake of nothing: looked up in place of an id that cannot be one."""


def parse_authorization(values: Sequence[str], *, bot_in_any_case: bool = False) -> Credential | None:
    """The credential in the values of the Authorization headers of one request; None when there is none.

    `bot_in_any_case` admits `bot`, `BOT` and so on, as GET /v1/gateway/bot and GET /v1/applications/@me do.
    """
    if not values:
        return None
    if len(values) > 1:
        return AMBIGUOUS
    scheme, blank, token = values[0].partition(" ")
    if bot_in_any_case and scheme.lower() == "bot":
        scheme = "Bot"
    kind = _SCHEMES.get(scheme)
    if kind is None:
        return Credential(CredentialKind.SESSION, None if blank else _well_formed(scheme))
    if kind is CredentialKind.OAUTH2 and is_session_token(token):
        kind = CredentialKind.SESSION
    return Credential(kind, _well_formed(token))


def _well_formed(token: str) -> str | None:
    return token if token and token == token.strip() else None


def resolve_authorization(
    reader: sqlite3.Connection, header_values: Sequence[str], now_ms: int, capabilities: frozenset[str] = frozenset()
) -> Principal | None:
    """Whom the Authorization headers of one request stand for.

    None without a header and for a malformed, unknown, expired or revoked credential alike: the answers to them are
    equal (access.md, Refused credentials). More than one value is malformed. `capabilities` count only with a session
    token. `now_ms` (Unix) decides what is expired.
    """
    return resolve(reader, parse_authorization(header_values), now_ms, capabilities)


def resolve_gateway_token(reader: sqlite3.Connection, token: TokenDigest) -> Principal | None:
    """Whom an Identify or Resume token stands for: a raw bot token or session token, no scheme, nothing else."""
    digest = digest_of(token.digest) or _NO_TOKEN
    if token.is_session:
        return _session(reader, digest, token.digest, frozenset())
    return _bot(reader, digest, token.application_id)


def resolve(
    reader: sqlite3.Connection, credential: Credential | None, now_ms: int, capabilities: frozenset[str] = frozenset()
) -> Principal | None:
    """Whom a parsed credential stands for; None as in `resolve_authorization`."""
    if credential is None:
        return None
    token = credential.token or ""
    match credential.kind:
        case CredentialKind.SESSION:
            return _session(reader, *session_token_hash(token), capabilities)
        case CredentialKind.BOT:
            return _bot(reader, token_hash(token), application_of(token))
        case CredentialKind.ADMIN_KEY:
            return _admin_key(reader, token, now_ms)
        case CredentialKind.OAUTH2:
            return _bearer(reader, token, now_ms)
        case _:
            return None


def _session(reader: sqlite3.Connection, digest: bytes, name: str, capabilities: frozenset[str]) -> Principal | None:
    account = auth_sessions.account_of(reader, digest)
    if account is None:
        return None
    return Principal(account, CredentialKind.SESSION, session_id_hash=name, capabilities=capabilities)


def _bot(reader: sqlite3.Connection, digest: bytes, application_id: int | None) -> Principal | None:
    application = applications.by_id(reader, _NO_ID if application_id is None else application_id)
    known = _NO_TOKEN if application is None else application.bot_token_hash or _NO_TOKEN
    if not _is_token(digest, known) or application is None or application.bot_user_id is None:
        return None
    account = accounts.by_id(reader, application.bot_user_id)
    if account is None or account_deletions.is_ordered(reader, account.id):
        return None
    return Principal(account, CredentialKind.BOT, application_id=application.id)


def _bearer(reader: sqlite3.Connection, token: str, now_ms: int) -> Principal | None:
    """The account that gave the grant, bounded by the grant's scopes (access.md, Credential forms)."""
    bearer = oauth2_grants.bearer(reader, token_hash(token), now_ms)
    if bearer is None:
        return None
    administers = bearer.application_id == ADMIN_APPLICATION_ID and ADMIN_SCOPE in bearer.scopes
    if administers and (bearer.account.is_deleted or bearer.account.is_banned(now_ms)):  # as with an admin API key
        return None
    return Principal(
        bearer.account,
        CredentialKind.OAUTH2,
        application_id=bearer.application_id,
        scopes=frozenset(bearer.scopes),
        is_admin_application=administers,
        expires_at=bearer.expires_at,
    )


def _admin_key(reader: sqlite3.Connection, token: str, now_ms: int) -> Principal | None:
    """The creator of the key, who is one with it as far as both reach (access.md, Admin credentials)."""
    key_id = admin_key_of(token)
    key = admin_api_keys.by_id(reader, _NO_ID if key_id is None else key_id)
    if (
        not _is_token(token_hash(token), _NO_TOKEN if key is None else key.key_hash)
        or key is None
        or key.is_expired(now_ms)
    ):
        return None
    account = accounts.by_id(reader, key.owner_id)
    if account is None or account.is_deleted or account.is_banned(now_ms):
        return None
    if account_deletions.is_ordered(reader, account.id):
        return None
    return Principal(account, CredentialKind.ADMIN_KEY, key_id=key.id, key_acls=frozenset(key.acls))


def _is_token(digest: bytes, known: bytes) -> bool:
    """Whether the hash that is known is this one, in constant time; the hash of nothing matches none."""
    return hmac.compare_digest(digest, known) and known != _NO_TOKEN
