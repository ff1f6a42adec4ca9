"""Signing in, second factors, changes of address and password (signing_in.md, Login)."""

from __future__ import annotations

from typing import Final

from chat.api.schemas.accounts import PARTIAL_USER
from chat.api.schemas.shapes import (
    ADDRESS,
    BOOLEAN,
    COUNT,
    EMAIL,
    OPEN_OBJECT,
    SNOWFLAKE,
    TEXT,
    TIMESTAMP,
    TRUE,
    Shape,
    choice,
    either,
    listed,
    nullable,
    record,
    wire_object,
)

SIGNED_IN: Final = wire_object(
    "SignedIn", {"token": TEXT, "user_id": SNOWFLAKE, "user": PARTIAL_USER}, description="A session token."
)

MFA_CHALLENGE: Final = wire_object(
    "MfaChallenge",
    {
        "mfa": TRUE,
        "ticket": TEXT,
        "allowed_methods": listed(choice("totp", "webauthn")),
        "totp": BOOLEAN,
        "webauthn": BOOLEAN,
    },
    description="The second step that has to come before a session token.",
)

AWAITS_APPROVAL: Final = wire_object("AwaitsApproval", {"registration_pending_approval": TRUE, "user_id": SNOWFLAKE})

SIGN_IN: Final = either(SIGNED_IN, MFA_CHALLENGE)
REGISTRATION: Final = either(SIGNED_IN, MFA_CHALLENGE, AWAITS_APPROVAL)

NOT_COMPLETED: Final = record({"completed": Shape({"const": False})})
COMPLETED: Final = SIGNED_IN.extended("SignedInAfterWait", {"completed": TRUE})

AUTH_SESSION: Final = wire_object(
    "AuthSession",
    {
        "id": TEXT,
        "id_hash": TEXT,
        "client_info": nullable(
            record(
                {
                    "platform": nullable(TEXT),
                    "os": nullable(TEXT),
                    "browser": nullable(TEXT),
                    "device": choice("mobile", "desktop"),
                    "location": nullable(
                        record({"city": nullable(TEXT), "region": nullable(TEXT), "country": nullable(TEXT)})
                    ),
                }
            )
        ),
        "masked_ip": nullable(TEXT),
        "approx_last_used_at": TIMESTAMP,
        "current": BOOLEAN,
    },
)

PASSKEY_BRIDGE: Final = wire_object("PasskeyBridge", {"bridge_id": TEXT, "url": ADDRESS, "expires_at": TIMESTAMP})

HANDOFF_STARTED: Final = record({"code": TEXT, "expires_at": TIMESTAMP})
HANDOFF_INFO: Final = wire_object(
    "HandoffInfo",
    {
        "client_os": nullable(TEXT),
        "client_platform": nullable(TEXT),
        "user_agent": nullable(TEXT),
        "masked_ip": nullable(TEXT),
        "expires_at": TIMESTAMP,
    },
)
HANDOFF_STATUS: Final = either(
    record({"status": choice("pending")}), SIGNED_IN.extended("SignedInByHandoff", {"status": choice("completed")})
)

SSO_STATUS: Final = wire_object(
    "SingleSignOnStatus",
    {"enabled": BOOLEAN, "enforced": BOOLEAN, "display_name": nullable(TEXT), "redirect_uri": nullable(ADDRESS)},
)
SSO_START: Final = record({"authorization_url": ADDRESS, "state": TEXT, "redirect_uri": ADDRESS})
SSO_SIGNED_IN: Final = either(
    *(
        shape.extended(f"{shape.name}BySingleSignOn", {"redirect_to": nullable(TEXT)})
        for shape in (SIGNED_IN, MFA_CHALLENGE)
    )
)

_DESCRIPTORS: Final = listed(record({"id": TEXT, "type": choice("public-key")}, optional={"transports": listed(TEXT)}))

WEBAUTHN_REQUEST_OPTIONS: Final = wire_object(
    "WebauthnRequestOptions",
    {"challenge": TEXT, "timeout": COUNT, "rpId": TEXT, "userVerification": choice("required", "discouraged")},
    optional={"allowCredentials": _DESCRIPTORS},
    description="The options of navigator.credentials.get.",
)

WEBAUTHN_CREATION_OPTIONS: Final = wire_object(
    "WebauthnCreationOptions",
    {
        "rp": record({"name": TEXT, "id": TEXT}),
        "user": record({"id": TEXT, "name": TEXT, "displayName": TEXT}),
        "challenge": TEXT,
        "pubKeyCredParams": listed(record({"alg": Shape({"type": "integer"}), "type": choice("public-key")})),
        "timeout": COUNT,
        "excludeCredentials": _DESCRIPTORS,
        "authenticatorSelection": OPEN_OBJECT,
        "attestation": TEXT,
        "extensions": OPEN_OBJECT,
        "hints": listed(TEXT),
    },
    description="The options of navigator.credentials.create.",
)

WEBAUTHN_CREDENTIAL: Final = wire_object(
    "WebauthnCredential", {"id": TEXT, "name": TEXT, "created_at": TIMESTAMP, "last_used_at": nullable(TIMESTAMP)}
)

BACKUP_CODES: Final = record({"backup_codes": listed(wire_object("BackupCode", {"code": TEXT, "consumed": BOOLEAN}))})

SUDO_METHODS: Final = record({"totp": BOOLEAN, "webauthn": BOOLEAN, "backup_codes": BOOLEAN, "has_mfa": BOOLEAN})

EMAIL_CHANGE: Final = wire_object(
    "EmailChange",
    {
        "ticket": TEXT,
        "require_original": BOOLEAN,
        "original_email": nullable(EMAIL),
        "original_proof": nullable(TEXT),
        "original_code_expires_at": nullable(TIMESTAMP),
        "resend_available_at": nullable(TIMESTAMP),
    },
)

NEW_EMAIL_ASKED: Final = wire_object(
    "NewEmailAsked",
    {"ticket": TEXT, "new_email": EMAIL, "new_code_expires_at": TIMESTAMP, "resend_available_at": TIMESTAMP},
)

PASSWORD_CHANGE: Final = record({"ticket": TEXT, "code_expires_at": TIMESTAMP, "resend_available_at": TIMESTAMP})
PASSWORD_CHANGED: Final = SIGNED_IN.extended("SignedInAnew", {"auth_session_id_hash": TEXT})
