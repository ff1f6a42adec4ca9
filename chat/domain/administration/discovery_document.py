"""The discovery document: what a client learns of an instance before it has an account (instance.md, Discovery
document)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Final

import attrs
import orjson

from chat import wire
from chat.classes import define
from chat.config import Limits, Settings
from chat.config.loading import Overrides
from chat.config.settings import CaptchaSettings, GifSettings
from chat.domain.administration.instance_configuration import InstanceSetup
from chat.domain.messages.gif_providers import GIF_PROVIDERS
from chat.domain.policy.origins import Origins
from chat.domain.standing.user_objects import PREMIUM_TRAIT
from chat.mail.mailer import Mailer
from chat.push.encryption import Vapid

API_CODE_VERSION: Final = 1
LIMITS_VERSION: Final = 2
SHARDS: Final = 1
"""The recommendation of GET /v1/gateway/bot, the same for every bot (instance.md, Gateway address)."""

SESSION_STARTS: Final[wire.SessionStartLimit] = {
    "total": 1000,
    "remaining": 999,
    "reset_after": 14_400_000,
    "max_concurrency": 1,
}
"""The session start limit object of GET /v1/gateway/bot; there is no such limit, so it is fixed."""

HOSTS_MAXIMUM: Final = 64
"""Documents that are kept: one for each host that this instance was asked at."""

_PREMIUM_SUFFIX: Final = "_premium"


@define(eq=False)
class Discovery:
    """Both documents, made from the settings. `vapid` has what browsers subscribe with, if they may."""

    _overrides: Overrides
    _mailer: Mailer
    _vapid: Vapid | None
    _setup: InstanceSetup
    _origins: Origins
    _made: dict[tuple[bool, str], wire.Discovery] = attrs.field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        self._overrides.when_changed(self._made.clear)

    def gateway_bot(self, host: str | None) -> wire.GatewayBot:
        """The answer to GET /v1/gateway/bot, asked for at this host."""
        url = _gateway_url(self._origins.of(host))
        return {"url": url, "shards": SHARDS, "session_start_limit": SESSION_STARTS}

    def document(self, host: str | None) -> wire.Discovery:
        """The answer to GET /.well-known/chat, asked for at this host; not to be changed."""
        key = configured, origin = self._setup.is_configured, self._origins.of(host)
        made = self._made.get(key)
        if made is None:
            made = self._document(origin)
            admin_url = None if configured else made["endpoints"]["admin"]
            setup = {"configured": configured, "admin_url": admin_url}
            made["app_public"] = {**made["app_public"], "setup": setup}
            if len(self._made) >= HOSTS_MAXIMUM:
                self._made.clear()
            self._made[key] = made
        return made

    def _document(self, origin: str) -> wire.Discovery:
        settings = self._overrides.settings
        sso, community = settings.sso, settings.single_community_guild_id
        return {
            "api_code_version": API_CODE_VERSION,
            "endpoints": _endpoints(origin),
            "captcha": _captcha(settings.captcha),
            "features": {
                "voice_enabled": settings.voice.engine != "off",
                "stripe_enabled": False,
                "self_hosted": settings.self_hosted,
                "presigned_attachment_uploads": True,
                "emails_enabled": self._mailer.is_on,
                "phone_verification_enabled": False,
                "account_identity": settings.sign_in,
                "tag_style": "none" if settings.tag_style == "none" else "random",
            },
            "gif": _gif(settings.gif),
            "sso": {
                "enabled": sso.is_on,
                "enforced": sso.is_enforced,
                "display_name": sso.display_name,
                "redirect_uri": settings.sso_redirect_uri,
            },
            "registration": {"mode": settings.registration, "admin_registration_urls_enabled": False},
            "community": {
                "single_community": settings.single_community_enabled,
                "single_community_guild_id": None if community is None else str(community),
                "direct_messages_disabled": settings.direct_messages_disabled,
            },
            "services": {
                "gif_enabled": settings.gif.provider != "none",
                "youtube_enabled": False,
                "bluesky_enabled": False,
            },
            "limits": _limits(settings.limits),
            "push": {"public_vapid_key": None if self._vapid is None else self._vapid.public_key},
            "app_public": _app_public(settings),
        }


def _gateway_url(origin: str) -> str:
    """The address of the gateway, without a query string: clients append their own."""
    return origin.replace("http", "ws", 1) + "/gateway"


def _endpoints(origin: str) -> dict[str, wire.Address]:
    api = f"{origin}/v1"
    return {
        "api": api,
        "api_client": api,
        "api_public": api,
        "gateway": _gateway_url(origin),
        "media": f"{origin}/media",
        "static_cdn": f"{origin}/static",
        "marketing": f"{origin}/marketing",
        "admin": f"{origin}/admin",
        "invite": f"{origin}/invite",
        "gift": f"{origin}/gift",
        "webapp": origin,
    }


def _captcha(settings: CaptchaSettings) -> wire.DiscoveryCaptcha:
    provider = settings.provider
    return {
        "provider": provider,
        "hcaptcha_site_key": settings.site_key if provider == "hcaptcha" else None,
        "turnstile_site_key": settings.site_key if provider == "turnstile" else None,
    }


def _gif(settings: GifSettings) -> wire.DiscoveryGif:
    provider = GIF_PROVIDERS.get(settings.provider)
    if provider is None:
        return {"provider": "klipy", "display_name": "Klipy", "attribution_required": False}
    return {"provider": settings.provider, "display_name": provider.display_name, "attribution_required": True}


def _limits(limits: Limits) -> wire.DiscoveryLimits:
    """The limits as rules: one for all accounts, and what premium changes about it."""
    values = attrs.asdict(limits)
    plain = {name: value for name, value in values.items() if not name.endswith(_PREMIUM_SUFFIX)}
    premium = {
        name.removesuffix(_PREMIUM_SUFFIX): value for name, value in values.items() if name.endswith(_PREMIUM_SUFFIX)
    }
    digest = hashlib.sha256(orjson.dumps(plain, option=orjson.OPT_SORT_KEYS)).hexdigest()
    return {
        "version": LIMITS_VERSION,
        "traitDefinitions": [PREMIUM_TRAIT],
        "rules": [
            {"id": "default", "overrides": plain},
            {"id": PREMIUM_TRAIT, "filters": {"traits": [PREMIUM_TRAIT]}, "overrides": premium},
        ],
        "defaultsHash": digest,
    }


def _app_public(settings: Settings) -> Mapping[str, object]:
    unset = dict.fromkeys(("icon_url", "symbol_url", "logo_url", "wordmark_url", "favicon_url", "theme_color"))
    return {
        "branding": {"product_name": settings.service_name, **unset},
        "description": settings.service_description,
        "welcome_invite": settings.welcome_invite,
        "legal": {"terms_url": None, "privacy_url": None},
        "registration": {"collect_date_of_birth": False},
    }
