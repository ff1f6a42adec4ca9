"""Operations that go by mail, which a username instance refuses before it looks at anything else (access.md, Account
gates)."""

from __future__ import annotations

from chat.api.operation import Request
from chat.domain.core import Core
from chat.errors import ApiError


def require_email_instance(request: Request, *, core: Core) -> None:
    """The precondition of such an operation.

    :raises ApiError: EMAIL_UNAVAILABLE_ON_INSTANCE.
    """
    if core.settings.sign_in == "username":
        raise ApiError("EMAIL_UNAVAILABLE_ON_INSTANCE")
