"""Tokens as client libraries send them: behind `Bot`, and with the id in base64 where a library reads it from there."""

from __future__ import annotations

import base64
from typing import Final

SCHEME: Final = "Bot "


def own_form(token: str) -> str:
    """A token with its id in decimal digits; any other text as it is.

    `MTIz.secret` is `123.secret`: hikari takes no other form.
    """
    head, dot, secret = token.partition(".")
    if dot and not head.isdecimal():
        try:
            head = base64.b64decode(head + "=" * (-len(head) % 4), validate=True).decode("ascii")
        except ValueError:  # it is no base64 of ASCII
            return token
        if head.isdecimal():
            return f"{head}{dot}{secret}"
    return token


def without_scheme(token: str) -> str:
    """A token of Identify or Resume, which some libraries send as their header has it."""
    return own_form(token.removeprefix(SCHEME))
