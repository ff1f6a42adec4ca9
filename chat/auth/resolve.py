"""From a presented credential to the account it stands for: two point reads, inline on the loop's thread."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from chat.auth.principal import Principal


def resolve_authorization(
    reader: sqlite3.Connection, header_values: Sequence[str], capabilities: frozenset[str] = frozenset()
) -> Principal | None:
    """Whom the Authorization header values of one request stand for.

    None without a header and for a malformed, unknown, expired or revoked credential alike: the answers to them are equal
    (document 000, Outcomes). More than one value is malformed. `capabilities` count only with a session token.
    """
    raise NotImplementedError


def resolve_gateway_token(reader: sqlite3.Connection, token: str) -> Principal | None:
    """Whom an Identify or Resume token stands for: a raw bot token or session token, no scheme, nothing else."""
    raise NotImplementedError
