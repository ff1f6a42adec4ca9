"""Who a request or a gateway session acts for."""

from __future__ import annotations

import enum

import attrs

from chat.store.accounts import Account


class CredentialKind(enum.Enum):
    """The form of credential that was presented (access document, Credential forms)."""

    SESSION = "session"
    BOT = "bot"
    OAUTH2 = "oauth2"
    ADMIN_KEY = "admin_key"


@attrs.frozen
class Principal:
    """A resolved credential: the account, and through what it was named."""

    account: Account
    kind: CredentialKind
    session_id_hash: str | None = None
    """base64url SHA-256 of the session token; None for other credentials."""
    application_id: int | None = None
    scopes: frozenset[str] = frozenset()
    capabilities: frozenset[str] = frozenset()
    """Client capabilities declared in X-Service-Features; empty unless a session token came with them."""

    @property
    def user_id(self) -> int:
        """The account's snowflake."""
        return self.account.id

    @property
    def is_bot(self) -> bool:
        """Whether the account is a bot."""
        return self.account.bot
