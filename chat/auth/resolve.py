"""From a presented credential to the account it stands for: one or two point reads, inline on the loop's thread."""

from __future__ import annotations

import hmac
import sqlite3
from collections.abc import Sequence
from typing import Final

from chat.auth.credentials import Credential, parse_authorization
from chat.auth.principal import CredentialKind, Principal
from chat.auth.tokens import application_of, id_hash, is_session_token, token_hash
from chat.store import accounts, applications, auth_sessions

_NO_TOKEN: Final = token_hash("")
"""Compared with where an application is unknown or has no token, so that both cases take the same path."""


def resolve_authorization(
    reader: sqlite3.Connection, header_values: Sequence[str], capabilities: frozenset[str] = frozenset()
) -> Principal | None:
    """Whom the Authorization headers of one request stand for.

    None without a header and for a malformed, unknown, expired or revoked credential alike: the answers to them are
    equal (document 000, Outcomes). More than one value is malformed. `capabilities` count only with a session token.
    """
    return resolve(reader, parse_authorization(header_values), capabilities)


def resolve_gateway_token(reader: sqlite3.Connection, token: str) -> Principal | None:
    """Whom an Identify or Resume token stands for: a raw bot token or session token, no scheme, nothing else."""
    if is_session_token(token):
        return _session(reader, token, frozenset())
    return _bot(reader, token)


def resolve(
    reader: sqlite3.Connection, credential: Credential | None, capabilities: frozenset[str] = frozenset()
) -> Principal | None:
    """Whom a parsed credential stands for; None as in `resolve_authorization`."""
    if credential is None or credential.token is None:
        return None
    if credential.kind is CredentialKind.SESSION:
        return _session(reader, credential.token, capabilities)
    if credential.kind is CredentialKind.BOT:
        return _bot(reader, credential.token)
    return None


def _session(reader: sqlite3.Connection, token: str, capabilities: frozenset[str]) -> Principal | None:
    if not is_session_token(token):
        return None
    digest = token_hash(token)
    account = auth_sessions.account_of(reader, digest)
    if account is None:
        return None
    return Principal(account, CredentialKind.SESSION, session_id_hash=id_hash(digest), capabilities=capabilities)


def _bot(reader: sqlite3.Connection, token: str) -> Principal | None:
    application_id = application_of(token)
    if application_id is None:
        return None
    application = applications.by_id(reader, application_id)
    known = _NO_TOKEN if application is None else application.bot_token_hash or _NO_TOKEN
    if not hmac.compare_digest(token_hash(token), known) or application is None or application.bot_user_id is None:
        return None
    account = accounts.by_id(reader, application.bot_user_id)
    if account is None:
        return None
    return Principal(account, CredentialKind.BOT, application_id=application.id)
