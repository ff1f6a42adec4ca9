"""Operations that single sign-on closes: 403 SSO_REQUIRED while it is enforced (access.md, Single sign-on enforcement).

The document's list, and the ways in that it does not know. An operation on it that does not exist yet takes effect when
it is declared.
"""

from __future__ import annotations

from typing import Final

SSO_ENFORCED_OPERATIONS: Final = frozenset(
    {
        ("POST", "/v1/auth/register"),
        ("POST", "/v1/auth/login"),
        ("POST", "/v1/auth/webauthn/authentication-options"),
        ("POST", "/v1/auth/webauthn/authenticate"),
        ("POST", "/v1/auth/login/mfa/totp"),
        ("POST", "/v1/auth/login/mfa/webauthn/authentication-options"),
        ("POST", "/v1/auth/login/mfa/webauthn"),
        ("POST", "/v1/auth/passkey-bridge/start"),
        ("POST", "/v1/auth/passkey-bridge/redeem"),
        ("POST", "/v1/auth/verify"),
        ("POST", "/v1/auth/verify/resend"),
        ("POST", "/v1/auth/forgot"),
        ("GET", "/v1/auth/reset/{token}"),
        ("POST", "/v1/auth/reset"),
        ("POST", "/v1/auth/email-revert"),
        ("POST", "/v1/auth/authorize-ip"),
        ("POST", "/v1/auth/ip-authorization/resend"),
        ("GET", "/v1/auth/ip-authorization/poll"),
        ("POST", "/v1/auth/username-suggestions"),
        ("POST", "/v1/auth/recovery"),  # a recovery kit is one more password recovery
    }
)
"""Method and declared path."""
