"""What an instance says of itself, and errors (instance.md, Discovery document)."""

from __future__ import annotations

from typing import Final

from chat.api.schemas.shapes import (
    ADDRESS,
    BOOLEAN,
    COUNT,
    NUMBER,
    OPEN_OBJECT,
    SNOWFLAKE,
    TEXT,
    TIMESTAMP,
    choice,
    integer,
    listed,
    mapped,
    nullable,
    record,
    wire_object,
)

DISCOVERY: Final = wire_object(
    "Discovery",
    {
        "api_code_version": COUNT,
        "endpoints": mapped(ADDRESS),
        "captcha": record(
            {"provider": TEXT, "hcaptcha_site_key": nullable(TEXT), "turnstile_site_key": nullable(TEXT)}
        ),
        "features": record(
            {
                "voice_enabled": BOOLEAN,
                "stripe_enabled": BOOLEAN,
                "self_hosted": BOOLEAN,
                "presigned_attachment_uploads": BOOLEAN,
                "emails_enabled": BOOLEAN,
                "phone_verification_enabled": BOOLEAN,
                "account_identity": choice("email", "username"),
                "tag_style": choice("random", "none"),
            }
        ),
        "gif": record({"provider": TEXT, "display_name": TEXT, "attribution_required": BOOLEAN}),
        "sso": record(
            {"enabled": BOOLEAN, "enforced": BOOLEAN, "display_name": nullable(TEXT), "redirect_uri": nullable(ADDRESS)}
        ),
        "registration": record(
            {"mode": choice("open", "approval", "closed"), "admin_registration_urls_enabled": BOOLEAN}
        ),
        "community": record(
            {
                "single_community": BOOLEAN,
                "single_community_guild_id": nullable(SNOWFLAKE),
                "direct_messages_disabled": BOOLEAN,
            }
        ),
        "services": mapped(BOOLEAN),
        "limits": record(
            {
                "version": COUNT,
                "traitDefinitions": listed(TEXT),
                "rules": listed(
                    record(
                        {"id": TEXT, "overrides": mapped(NUMBER)},
                        optional={
                            "filters": record({}, optional={"traits": listed(TEXT), "guildFeatures": listed(TEXT)})
                        },
                    )
                ),
                "defaultsHash": TEXT,
            }
        ),
        "push": record({"public_vapid_key": nullable(TEXT)}),
        "app_public": OPEN_OBJECT,
    },
)

GEO: Final = record({"countryCode": TEXT, "regionCode": nullable(TEXT)})
OWN_PLACE: Final = wire_object(
    "OwnPlace",
    {
        "countryCode": nullable(TEXT),
        "regionCode": nullable(TEXT),
        "latitude": nullable(TEXT),
        "longitude": nullable(TEXT),
        "ageRestrictedGeos": listed(GEO),
        "ageBlockedGeos": listed(GEO),
    },
)

HEALTH: Final = record({"status": choice("ok")})

HINDERED: Final = record({"status": choice("failing", "draining", "migrating"), "reason": TEXT})

GATEWAY_BOT: Final = wire_object(
    "GatewayBot",
    {
        "url": ADDRESS,
        "shards": integer(1),
        "session_start_limit": record(
            {"total": COUNT, "remaining": COUNT, "reset_after": COUNT, "max_concurrency": COUNT}
        ),
    },
)

FIELD_ERROR: Final = wire_object("FieldError", {"path": TEXT, "code": TEXT, "message": TEXT})

ERROR: Final = wire_object(
    "Error",
    {"code": TEXT, "message": TEXT},
    optional={
        "errors": listed(FIELD_ERROR),
        "required_scope": TEXT,
        "max_relationships": COUNT,
        "max_group_dms": COUNT,
        "max_bookmarks": COUNT,
        "max_favorite_memes": COUNT,
        "max_recipients": COUNT,
        "addable_recipients": listed(SNOWFLAKE),
        "unaddable_recipients": listed(record({"user_id": SNOWFLAKE, "reason": TEXT})),
        "has_mfa": BOOLEAN,
        "methods": record({}, optional={"totp": BOOLEAN, "webauthn": BOOLEAN, "backup_codes": BOOLEAN}),
        "global": BOOLEAN,
        "retry_after": NUMBER,
        "ip_authorization_required": BOOLEAN,
        "ticket": TEXT,
        "email": TEXT,
        "resend_available_in": integer(0),
        "ip_address": TEXT,
        "appeal_email": nullable(TEXT),
        "appeals_supported": BOOLEAN,
        "ban_kind": TEXT,
        "expires_at": nullable(TIMESTAMP),
    },
    description="A refusal. `code` is for programs, `message` for people; `errors` names the fields of an "
    "INVALID_FORM_BODY, `retry_after` is in seconds.",
)
