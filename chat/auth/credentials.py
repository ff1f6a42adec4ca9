"""The Authorization header, read to the letter (access.md, Credential forms).

A value either begins with one of three scheme words and a blank, in exactly this spelling, or is a bare session token.
What follows must be non-empty and free of surrounding white space, else the credential is malformed. Malformed,
unknown, expired and revoked all end in the same answer; the difference is kept only as far as the two operations that
tell schemes apart need it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import attrs

from chat.auth.principal import CredentialKind
from chat.auth.tokens import is_session_token


@attrs.frozen
class Credential:
    """What one request presented.

    `kind` is None when several values came and nobody can say which is meant; `token` is None when it is malformed.
    """

    kind: CredentialKind | None
    token: str | None = attrs.field(repr=False)


_SCHEMES: Final = {
    "Bot": CredentialKind.BOT,
    "Bearer": CredentialKind.OAUTH2,
    "Admin": CredentialKind.ADMIN_KEY,
}

AMBIGUOUS: Final = Credential(None, None)


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
