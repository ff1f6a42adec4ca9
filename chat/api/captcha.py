"""Operations that ask for a solved CAPTCHA where the instance has one, and what of a request proves it (http.md,
CAPTCHA). A valid credential on the request spares the caller the challenge (access.md, Credential policies).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from chat.auth.captcha import Captcha

CAPTCHA_OPERATIONS: Final = frozenset(
    {
        ("POST", "/v1/auth/register"),
        ("POST", "/v1/auth/login"),
        ("POST", "/v1/auth/forgot"),
    }
)
"""Method and declared path."""

TOKEN_HEADER: Final = "x-captcha-token"  # noqa: S105 - the name of a header
TYPE_HEADER: Final = "x-captcha-type"


async def require_captcha(captcha: Captcha, headers: Mapping[str, str], address: str) -> None:
    """Refuse a request that brings no solved challenge; `headers` by lower-case name.

    :raises ApiError: as `Captcha.require`.
    """
    await captcha.require(headers.get(TOKEN_HEADER), headers.get(TYPE_HEADER), address)
