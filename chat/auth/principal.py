"""Who a request or a gateway session acts for."""

from __future__ import annotations

import enum
from collections.abc import Collection

import attrs

from chat.classes import frozen
from chat.registries.acls import Acl
from chat.store.accounts.accounts import Account
from chat.store.guard import UNGUARDED, Guard


class CredentialKind(enum.StrEnum):
    """The form of credential that was presented (access document, Credential forms)."""

    SESSION = "session"
    BOT = "bot"
    OAUTH2 = "oauth2"
    ADMIN_KEY = "admin_key"


@frozen
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
    is_admin_application: bool = False
    """Whether an access token was granted to the built-in Admin application, with the scope `admin`."""
    expires_at: int | None = None
    """When an access token ends, in Unix milliseconds; None for other credentials."""
    key_id: int | None = None
    """The snowflake of an admin API key; None for other credentials."""
    key_acls: frozenset[str] | None = None
    """What an admin API key allows its owner to use it for; None for other credentials."""
    guard: Guard = attrs.field(default=UNGUARDED, eq=False, repr=False)
    """Of the request that the caller makes: for every unit of writing that it causes."""
    user_id: int = attrs.field(
        default=attrs.Factory(lambda principal: principal.account.id, takes_self=True), init=False, eq=False, repr=False
    )
    """The account's snowflake; it and `is_bot` are attributes, for a request asks for them many times."""
    is_bot: bool = attrs.field(
        default=attrs.Factory(lambda principal: principal.account.bot, takes_self=True),
        init=False,
        eq=False,
        repr=False,
    )
    """Whether the account is a bot."""

    def guarded_by(self, guard: Guard) -> Principal:
        """The same caller with the guard of a request; every request that changes something makes one."""
        return Principal(
            self.account,
            self.kind,
            self.session_id_hash,
            self.application_id,
            self.scopes,
            self.capabilities,
            self.is_admin_application,
            self.expires_at,
            self.key_id,
            self.key_acls,
            guard,
        )

    def is_suspended(self, now_ms: int) -> bool:
        """Whether the token of a bot is refused at this moment (Unix), since a ban stands: it has no sign-ins that end
        with the ban, as people have."""
        return self.kind is CredentialKind.BOT and self.account.is_banned(now_ms)

    def holds(self, acl: str) -> bool:
        """Whether the caller may make use of the ACL: the account has it, and so has the key if there is one."""
        return grants(self.account.acls, acl) and (self.key_acls is None or grants(self.key_acls, acl))


def grants(acls: Collection[str], acl: str) -> bool:
    """Whether a set of ACLs holds this one, by name or through the wildcard."""
    return acl in acls or Acl.EVERYTHING in acls
