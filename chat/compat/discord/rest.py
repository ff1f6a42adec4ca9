"""The mount over HTTP: which documented operation an address means, and how request and answer are put into words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote

import attrs

from chat.api.answers import Answer, refusal
from chat.api.mounts import Dialect, Mount
from chat.api.operation import Request
from chat.api.unread_members import HEADER as NOT_SUPPORTED
from chat.compat.discord import errors
from chat.compat.discord.objects import completed, with_guild
from chat.compat.discord.own_operations import OWN
from chat.compat.discord.tokens import own_form
from chat.errors import ApiError
from chat.registries.error_codes import ErrorCode

ADDRESSES: Final[tuple[tuple[str, str, str, str], ...]] = (
    ("GET", "/v1/gateway", "GET", f"{OWN}/gateway"),
    ("GET", "/v1/soundboard-default-sounds", "GET", f"{OWN}/empty/list"),
    ("GET", "/v1/voice/regions", "GET", f"{OWN}/empty/list"),
    ("GET", "/v1/guilds/{}/regions", "GET", f"{OWN}/empty/list"),
    ("GET", "/v1/guilds/{}/integrations", "GET", f"{OWN}/empty/list"),
    ("GET", "/v1/guilds/{}/scheduled-events", "GET", f"{OWN}/empty/list"),
    ("GET", "/v1/guilds/{}/auto-moderation/rules", "GET", f"{OWN}/empty/list"),
    ("GET", "/v1/guilds/{}/soundboard-sounds", "GET", f"{OWN}/empty/items"),
    ("GET", "/v1/applications/{}/emojis", "GET", f"{OWN}/empty/items"),
    ("GET", "/v1/sticker-packs", "GET", f"{OWN}/empty/sticker_packs"),
    ("GET", "/v1/oauth2/applications/@me", "GET", f"{OWN}/application"),
    ("GET", "/v1/applications/@me", "GET", f"{OWN}/application"),
    ("PATCH", "/v1/applications/@me", "PATCH", f"{OWN}/application"),
    ("POST", "/v1/guilds/{}/bulk-ban", "POST", OWN + "/guilds/{}/bulk-ban"),
    ("GET", "/v1/guilds/{}/preview", "GET", OWN + "/guilds/{}/preview"),
    ("GET", "/v1/guilds/{}/members/search", "GET", OWN + "/guilds/{}/members"),
    ("GET", "/v1/guilds/{}/roles/member-counts", "GET", OWN + "/guilds/{}/role-counts"),
    ("DELETE", "/v1/channels/{}", "DELETE", OWN + "/channels/{}"),
    ("DELETE", "/v1/invites/{}", "DELETE", OWN + "/invites/{}"),
    ("DELETE", "/v1/guilds/{}", "POST", "/v1/guilds/{}/delete"),
    ("PUT", "/v1/channels/{}/messages/pins/{}", "PUT", "/v1/channels/{}/pins/{}"),
    ("DELETE", "/v1/channels/{}/messages/pins/{}", "DELETE", "/v1/channels/{}/pins/{}"),
    ("GET", "/v1/users/@me/guilds/{}/member", "GET", "/v1/guilds/{}/members/@me"),
    ("PATCH", "/v1/guilds/{}/members/@me/nick", "PATCH", "/v1/guilds/{}/members/@me"),
)
"""Method and path that have another name here, below the mount's prefix; `{}` is any segment, in the same order."""

ONE_OF: Final[tuple[tuple[str, str, ErrorCode], ...]] = (
    ("/v1/guilds/{}/roles/{}", "/v1/guilds/{}/roles", ErrorCode.UNKNOWN_ROLE),
    ("/v1/guilds/{}/emojis/{}", "/v1/guilds/{}/emojis", ErrorCode.UNKNOWN_EMOJI),
    ("/v1/guilds/{}/stickers/{}", "/v1/guilds/{}/stickers", ErrorCode.UNKNOWN_STICKER),
    ("/v1/guilds/{}/bans/{}", "/v1/guilds/{}/bans", ErrorCode.NOT_FOUND),
)
"""What is asked for singly there, and is one of a list here, or unknown."""

MISSING: Final[tuple[tuple[str, str], ...]] = (
    ("/v1/guilds/{}/auto-moderation", "auto-moderation rules"),
    ("/v1/guilds/{}/integrations", "integrations"),
    ("/v1/guilds/{}/onboarding", "onboarding"),
    ("/v1/guilds/{}/prune", "pruning of members"),
    ("/v1/guilds/{}/scheduled-events", "scheduled events"),
    ("/v1/guilds/{}/soundboard-sounds", "sounds of guilds"),
    ("/v1/guilds/{}/templates", "templates by these addresses"),
    ("/v1/guilds/{}/welcome-screen", "welcome screens"),
    ("/v1/guilds/{}/widget", "widgets"),
    ("/v1/guilds/{}/widget.json", "widgets"),
    ("/v1/guilds/{}/widget.png", "widgets"),
    ("/v1/applications/{}/emojis", "emojis of applications"),
    ("/v1/applications/{}/entitlements", "purchases"),
    ("/v1/applications/{}/role-connections", "role connections"),
    ("/v1/applications/{}/skus", "purchases"),
    ("/v1/channels/{}/send-soundboard-sound", "sounds of guilds"),
    ("/v1/stage-instances", "stages"),
)
"""What that service has at these addresses and below, and this one has not: a bot's author reads why it is refused."""

AUDIT_LOG_REASON: Final = "x-audit-log-reason"
GUILDS_OF_CALLER: Final = "/v1/users/@me/guilds"


def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.escape(path).replace(r"\{\}", "([^/]+)"))


_ADDRESSES: Final = tuple((method, _pattern(path), there, target) for method, path, there, target in ADDRESSES)
_MISSING: Final = tuple((re.compile(f"{_pattern(path).pattern}(/.*)?"), what) for path, what in MISSING)
_STICKERS: Final = re.compile(r"/v1/guilds/([0-9]+)/stickers(?:/|$)")
_ONE_OF: Final = tuple((_pattern(path), target, unknown) for path, target, unknown in ONE_OF)


class DiscordDialect(Dialect):
    """Requests and answers at the mount."""

    def address(self, method: str, path: str) -> tuple[str, str]:
        for asked, pattern, there, target in _ADDRESSES:
            if asked == method and (found := pattern.fullmatch(path)):
                return there, target.format(*found.groups())
        if method == "GET":
            for pattern, target, _ in _ONE_OF:
                if found := pattern.fullmatch(path):
                    return method, target.format(found[1])
        return method, path

    def hear(self, request: Request) -> None:
        headers = request.headers
        if AUDIT_LOG_REASON in headers:  # they escape it; its bytes are read as UTF-8 later
            headers[AUDIT_LOG_REASON] = unquote(headers[AUDIT_LOG_REASON], "latin-1")
        request.authorizations[:] = [_credential(each) for each in request.authorizations]

    def read(self, body: object) -> object:
        if not isinstance(body, dict) or not isinstance(body.get("colors"), dict):
            return body
        # Newer libraries name the colour of a role in an object of three, of which there is one here.
        colors = {name: value for name, value in body["colors"].items() if value is not None}
        primary = colors.pop("primary_color", None)
        rest = {name: value for name, value in body.items() if name != "colors"}
        return {**({} if primary is None else {"color": primary}), **rest, **({"colors": colors} if colors else {})}

    def say(self, answer: Answer, request: Request) -> Answer:
        if answer.status >= 400:
            return _refused(_named(answer, request.path))
        body = answer.body
        if body is None:
            return answer
        for pattern, _, unknown in _ONE_OF:
            if isinstance(body, list) and (found := pattern.fullmatch(request.path)):
                body = next((each for each in body if _id_of(each) == found[2]), None)
                if body is None:
                    return _refused(refusal(ApiError(unknown)))
        made = completed(body)
        if isinstance(made, list) and request.path == GUILDS_OF_CALLER:
            for guild in made:
                guild["owner"] = guild["owner_id"] == str(request.caller_id)
        if found := _STICKERS.match(request.path):
            with_guild(made if isinstance(made, list) else [made], found[1])
        return attrs.evolve(answer, body=made)


def _named(answer: Answer, path: str) -> Answer:
    """The refusal of an address that means something there and nothing here says what is missing."""
    body = answer.body
    if not isinstance(body, dict) or body.get("code") != ErrorCode.NOT_FOUND:
        return answer
    missing = next((what for pattern, what in _MISSING if pattern.fullmatch(path)), None)
    if missing is None:
        return answer
    said = {**body, "message": f"This server has no {missing}."}
    return attrs.evolve(answer, headers={**answer.headers, NOT_SUPPORTED: missing}, body=said)


def _id_of(each: Mapping[str, Any]) -> object:
    """A ban has no id but that of its user."""
    return each["id"] if "id" in each else each["user"]["id"]


def _credential(authorization: str) -> str:
    scheme, space, token = authorization.partition(" ")
    return f"{scheme}{space}{own_form(token)}"


def _refused(answer: Answer) -> Answer:
    headers = answer.headers
    if answer.status == 429:
        # Libraries take a 429 without `Via` for that of a proxy which has banned them, and give up.
        headers = {**headers, "Via": "1.1 chat"}
    body = errors.told(answer.body) if isinstance(answer.body, dict) else answer.body
    return attrs.evolve(answer, headers=headers, body=body)


_DIALECT: Final = DiscordDialect()

MOUNTS: Final = tuple(Mount(f"/api/v{version}/", "/v1/", _DIALECT) for version in ("10", "9", "8"))
