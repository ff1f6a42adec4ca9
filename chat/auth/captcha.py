"""CAPTCHAs: whether a challenge was solved, as hCaptcha or Cloudflare Turnstile tell it (http.md, CAPTCHA).

Both take the same form and give the same answer. Where the service cannot be asked no caller passes: a gate that
opens when its guard is away is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import structlog

from chat.auth.outgoing_http import OutgoingHttp, unavailable
from chat.classes import define
from chat.config.settings import CaptchaSettings
from chat.errors import ApiError
from chat.registries.error_codes import ErrorCode

VERIFY_URLS: Final[Mapping[str, str]] = {
    "hcaptcha": "https://api.hcaptcha.com/siteverify",
    "turnstile": "https://challenges.cloudflare.com/turnstile/v0/siteverify",
}

TOKEN_LENGTH: Final = 8_192
"""Characters; a longer token is wrong without asking. Theirs have up to about 5,000."""

OUR_MISTAKES: Final = frozenset(
    {"missing-input-secret", "invalid-input-secret", "sitekey-secret-mismatch", "invalid-sitekey"}
)
"""Error codes of theirs that an operator must mend; the solution is not judged."""

log: Final = structlog.get_logger("chat.captcha")


@define(eq=False)
class Captcha:
    """Asks the service that the settings name."""

    _settings: CaptchaSettings
    _http: OutgoingHttp

    @property
    def is_on(self) -> bool:
        """Whether the instance asks for CAPTCHAs."""
        return self._settings.provider != "none"

    async def require(self, token: str | None, kind: str | None, address: str) -> None:
        """Refuse a caller who has not solved a challenge.

        `token` is what the challenge gave the client, `kind` the service that it says this is of, if it says so.

        :raises ApiError: CAPTCHA_REQUIRED without a token; INVALID_CAPTCHA for one that is wrong, used up or of
            another service; SERVICE_UNAVAILABLE and BAD_GATEWAY when the service cannot tell.
        """
        if not self.is_on:
            return
        if not token:
            raise ApiError(ErrorCode.CAPTCHA_REQUIRED)
        if len(token) > TOKEN_LENGTH or (kind is not None and kind.strip().lower() != self._settings.provider):
            raise ApiError(ErrorCode.INVALID_CAPTCHA)
        if not await self._is_solved(token, address):
            raise ApiError(ErrorCode.INVALID_CAPTCHA)

    async def _is_solved(self, token: str, address: str) -> bool:
        settings = self._settings
        form = {"secret": settings.secret_key or "", "response": token, "remoteip": address}
        if settings.site_key is not None:
            form["sitekey"] = settings.site_key
        answer = (await self._http.post_form(settings.verify_url or VERIFY_URLS[settings.provider], form)).object()
        problems = answer.get("error-codes")
        named = {problem for problem in problems if isinstance(problem, str)} if isinstance(problems, list) else set()
        if named & OUR_MISTAKES:
            log.error("the captcha service does not accept our keys", problems=sorted(named & OUR_MISTAKES))
            raise unavailable()
        return answer.get("success") is True
