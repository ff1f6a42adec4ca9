"""Secrets that stand for an account: how they are made, told apart and kept.

Every token has at least 190 bits of chance, so its SHA-256 is enough to keep (signing_in.md, Tokens and secrets): no
sign-in comes of a stolen database. Forms are those of signing_in.md, Tokens and secrets.
"""

from __future__ import annotations

import base64
import hashlib
import random
import re
import string
from typing import Final

from chat.classes import define, frozen
from chat.snowflake import MAXIMUM

SESSION_TOKEN_PREFIX: Final = "cht_"  # noqa: S105 - public
SESSION_TOKEN_CHARACTERS: Final = 36
"""Characters after the prefix."""

ADMIN_KEY_PREFIX: Final = "cha_"
ADMIN_KEY_CHARACTERS: Final = 32
"""Characters after the key's snowflake."""

MAIL_TOKEN_CHARACTERS: Final = 64
"""Characters of a token that a mail carries: verification, reset, revert."""

SECRET_BYTES: Final = 32
"""Bytes behind the 43 base64url characters of a bot token's secret, a client secret and the like."""

PREVIEW_CHARACTERS: Final = 8
"""Characters of a bot token's secret that may be shown later, to tell tokens apart."""

_ALPHANUMERIC: Final = string.ascii_letters + string.digits
_SESSION_TOKEN: Final = re.compile(rf"{SESSION_TOKEN_PREFIX}[A-Za-z0-9]{{{SESSION_TOKEN_CHARACTERS}}}", re.ASCII)
_BOT_TOKEN_FORM: Final = re.compile(r"[0-9]+\.[^.\s]+", re.ASCII)
_ADMIN_KEY: Final = re.compile(
    rf"{ADMIN_KEY_PREFIX}(0|[1-9][0-9]{{0,18}})_[A-Za-z0-9]{{{ADMIN_KEY_CHARACTERS}}}", re.ASCII
)
_BOT_TOKEN: Final = re.compile(r"(0|[1-9][0-9]{0,18})\.[A-Za-z0-9_-]{43}", re.ASCII)


@define(eq=False)
class TokenMint:
    """Makes tokens from a source of chance: `secrets.SystemRandom()` where people rely on them."""

    _chance: random.Random

    def session_token(self) -> str:
        """A token for one sign-in."""
        return SESSION_TOKEN_PREFIX + self._alphanumeric(SESSION_TOKEN_CHARACTERS)

    def bot_token(self, application_id: int) -> str:
        """A token for the application's bot account."""
        return f"{application_id}.{self.secret()}"

    def secret(self) -> str:
        """43 characters base64url of 32 random bytes."""
        return base64url(self._chance.randbytes(SECRET_BYTES))

    def admin_key(self, key_id: int) -> str:
        """An admin API key with this snowflake."""
        return f"{ADMIN_KEY_PREFIX}{key_id}_{self._alphanumeric(ADMIN_KEY_CHARACTERS)}"

    def mail_token(self) -> str:
        """What the link in a mail carries."""
        return self._alphanumeric(MAIL_TOKEN_CHARACTERS)

    def _alphanumeric(self, length: int) -> str:
        return "".join(self._chance.choice(_ALPHANUMERIC) for _ in range(length))


def token_hash(token: str) -> bytes:
    """What is kept of a token."""
    return hashlib.sha256(token.encode()).digest()


def id_hash(digest: bytes) -> str:
    """The name of a sign-in on the wire: unpadded base64url of its token's SHA-256 (signing_in.md, Tokens and
    secrets)."""
    return base64url(digest)


def session_token_hash(token: str) -> tuple[bytes, str]:
    """What is kept of a session token, and the name of its sign-in; of any other text those of no token."""
    digest = token_hash(token if is_session_token(token) else "")
    return digest, id_hash(digest)


def digest_of(name: str) -> bytes | None:
    """The reverse of `id_hash`; None for text that names no sign-in."""
    digest = from_base64url(name)
    return digest if digest is not None and len(digest) == hashlib.sha256().digest_size else None


@frozen
class TokenDigest:
    """What is told of a gateway token in its place: enough to find its account, and nobody signs in with it.

    `digest` is that of the token as `id_hash` writes it, of any text of another form that of no token;
    `application_id` is what a bot token names.
    """

    digest: str
    is_session: bool
    application_id: int | None = None

    @classmethod
    def of(cls, token: str) -> TokenDigest:
        """The digest of a token in the form in which a client sends it."""
        application_id = application_of(token)
        is_session = is_session_token(token)
        is_token = is_session or application_id is not None
        return cls(id_hash(token_hash(token if is_token else "")), is_session, application_id)


def is_session_token(token: str) -> bool:
    """Whether the token has the form of a session token, prefix included."""
    return _SESSION_TOKEN.fullmatch(token) is not None


def has_bot_token_form(token: str) -> bool:
    """Whether the token looks like a bot token: digits, one full stop inside, more characters (access.md, Credential
    policies)."""
    return _BOT_TOKEN_FORM.fullmatch(token) is not None


def token_preview(bot_token: str) -> str:
    """What may be shown of an issued bot token later on."""
    return bot_token.partition(".")[2][:PREVIEW_CHARACTERS]


def application_of(token: str) -> int | None:
    """The application that a token of exactly the issued form names; None for any other text."""
    match = _BOT_TOKEN.fullmatch(token)
    return None if match is None else _snowflake(match[1])


def admin_key_of(token: str) -> int | None:
    """The admin API key that a token of exactly the issued form names; None for any other text."""
    match = _ADMIN_KEY.fullmatch(token)
    return None if match is None else _snowflake(match[1])


def _snowflake(digits: str) -> int | None:
    """The id in these digits; None where no id is that large."""
    return int(digits) if int(digits) <= MAXIMUM else None


def base64url(data: bytes) -> str:
    """Base64 of the URL alphabet, without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def from_base64url(text: str) -> bytes | None:
    """The bytes behind base64url without padding; None for other text."""
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except ValueError:
        return None
