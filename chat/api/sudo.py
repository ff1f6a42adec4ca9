"""The members of a body with which its sender proves to be the holder (access.md, Sudo mode)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import attrs

from chat.api.fields import Exact, Length


@attrs.frozen(kw_only=True)
class SudoFields:
    """To be inherited by the bodies of operations that ask for sudo mode; `Request.proof` makes a proof of them."""

    password: Annotated[str, Exact(), Length(1, 256)] | None = attrs.field(default=None, repr=False)
    mfa_method: Literal["totp", "webauthn"] | None = None
    mfa_code: Annotated[str, Exact(), Length(1, 32)] | None = attrs.field(default=None, repr=False)
    webauthn_response: dict[str, Any] | None = attrs.field(default=None, repr=False)
    webauthn_challenge: Annotated[str, Exact(), Length(1, 1_024)] | None = attrs.field(default=None, repr=False)
