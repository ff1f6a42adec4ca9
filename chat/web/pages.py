"""The pages people land on, as a Quart blueprint.

A page is the same for everyone: what it says of the instance comes from the settings, and what belongs to a person
is fetched by its script from the API and put into the document as text. So each page is rendered once, no template ever
sees anything that a stranger wrote, and there is nothing in it to steal.

The pages know no cookies, as the API knows none: their scripts keep the session token in the browser's storage for this
origin and send it in the Authorization header. No other site can make a browser send it (no cross-site request
forgery), and the content security policy lets no foreign script near it. Secrets of mailed links stand in the fragment,
which browsers never send; the scripts take them out of the address bar at once.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Final

import attrs
import orjson
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from quart import Blueprint, Request, Response, request

from chat import __version__
from chat.auth.credentials import resolve_authorization
from chat.clock import Clock
from chat.config import Settings
from chat.domain.policy.origins import Origins
from chat.errors import ApiError, InvalidFormBody
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.store.database import Database

TEMPLATES: Final = Path(__file__).with_name("templates")

PAGES: Final[Mapping[str, tuple[str, ...]]] = {
    "start": ("/",),
    "login": ("/login",),
    "register": ("/register",),
    "forgot": ("/forgot",),
    "reset": ("/reset",),
    "recovery": ("/recovery",),
    "verify": ("/verify",),
    "email_revert": ("/email-revert",),
    "authorize_ip": ("/authorize-ip",),
    "authorize": ("/oauth2/authorize",),
    "passkey_bridge": ("/passkey-bridge", "/passkey-bridge/<bridge>"),
    "sso_callback": ("/sso/callback", "/auth/sso/callback"),
    "invite": ("/invite/<code>",),
    "settings": ("/settings",),
    "admin": ("/admin",),
    "admin_sign_in": ("/admin/sign-in",),
}
"""Each page's template and script have its name; the members of a path are read by the script."""

PLACES: Final[Mapping[str, str]] = {"admin": "/admin/<path:place>"}
"""Addresses inside a page that its script goes to by itself. Only browsers, which ask for HTML, find them."""

NOT_FOUND: Final = "not_found"

CONTENT_SECURITY_POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)

NO_INJECTION: Final = f"{CONTENT_SECURITY_POLICY}; require-trusted-types-for 'script'; trusted-types 'none'"
"""For the administration: its script cannot make markup out of text at all, such as the name of an account."""

POLICIES: Final[Mapping[str, str]] = {"admin": NO_INJECTION}
"""Content security policies of pages that have one of their own."""

CAPTCHA_PAGES: Final = frozenset({"login", "register", "forgot", "admin_sign_in"})
"""Pages with a form that the instance's CAPTCHA service, if there is one, stands before."""

CAPTCHA_SOURCES: Final[Mapping[str, str]] = {
    "hcaptcha": "https://hcaptcha.com https://*.hcaptcha.com",
    "turnstile": "https://challenges.cloudflare.com",
}
"""What those pages may load besides: the services' own words on content security policies."""

PERMISSIONS: Final = ", ".join(
    (
        "publickey-credentials-get=(self)",
        "publickey-credentials-create=(self)",
        "clipboard-write=(self)",
        *(f"{feature}=()" for feature in ("camera", "clipboard-read", "geolocation", "microphone", "payment", "usb")),
    )
)

EVERY_ANSWER: Final = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": PERMISSIONS,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}

FOR_EVER: Final = "public, max-age=31536000, immutable"
"""For files whose address changes with their content."""

TOTP_URI_LENGTH: Final = 512
"""Characters of an otpauth address; issuer, name and secret take about 150."""


@attrs.frozen
class Rendered:
    """A page as it is sent, and its entity tag."""

    content: bytes = attrs.field(repr=False)
    tag: str


class Pages:
    """The pages of one server."""

    def __init__(self, settings: Settings, database: Database, clock: Clock, origins: Origins) -> None:
        self._settings: Final = settings
        self._database: Final = database
        self._clock: Final = clock
        self._origins: Final = origins
        self._rendered: Final[dict[tuple[str, str], Rendered]] = {}
        self.blueprint: Final = Blueprint("pages", __name__)
        for name, paths in PAGES.items():
            for path in paths:
                self.blueprint.add_url_rule(path, name, self._show, defaults={"page": name})
        for name, path in PLACES.items():
            self.blueprint.add_url_rule(path, f"{name}_place", self._show_place, defaults={"page": name})
        self.blueprint.add_url_rule("/static/<digest>/<name>", "asset", self._send_asset)
        self.blueprint.add_url_rule("/settings/totp-qr-code", "totp_qr_code", self._draw_totp, methods=["POST"])

    def not_found(self, asked: Request) -> Response | None:
        """The answer to a browser that followed a link to nowhere; None for a client of the API, which wants JSON."""
        if asked.path.startswith("/v1/") or not _wants_html(asked):
            return None
        return _html(self._render(NOT_FOUND), 404)

    async def _show(self, page: str, **_: str) -> Response:
        rendered = self._render(page)
        response = _html(rendered)
        if page in POLICIES:
            response.headers["Content-Security-Policy"] = POLICIES[page]
        sources = CAPTCHA_SOURCES.get(self._settings.captcha.provider)
        if sources is not None and page in CAPTCHA_PAGES:
            response.headers["Content-Security-Policy"] = with_sources(sources)
        response.set_etag(rendered.tag)
        await response.make_conditional(request)
        return response

    async def _show_place(self, page: str, place: str) -> Response:
        if not _wants_html(request):
            raise ApiError(ErrorCode.NOT_FOUND)
        return await self._show(page)

    async def _send_asset(self, digest: str, name: str) -> Response:
        asset = self._assets.find(digest, name)
        if asset is None:
            raise ApiError(ErrorCode.NOT_FOUND)
        return Response(
            asset.content,
            headers={**EVERY_ANSWER, "Content-Type": asset.content_type, "Cache-Control": FOR_EVER},
        )

    async def _draw_totp(self) -> Response:
        """The QR code of a TOTP secret, for the account that is about to use it.

        The address with the secret comes in the body, because addresses of requests end up in histories and logs; and
        from a signed-in person, because drawing takes some milliseconds.
        """
        authorizations = request.headers.getlist("Authorization")
        if resolve_authorization(self._database.reader, authorizations, self._clock.now_ms()) is None:
            raise ApiError(ErrorCode.UNAUTHORIZED)
        uri = _member(await request.get_data(cache=False, as_text=False, parse_form_data=False), "uri")
        if not isinstance(uri, str) or not uri.startswith("otpauth://totp/"):
            raise InvalidFormBody.at("uri", FieldCode.INVALID_FORMAT)
        if len(uri) > TOTP_URI_LENGTH:
            raise InvalidFormBody.at("uri", FieldCode.CONTENT_EXCEEDS_MAX_LENGTH)
        headers = {**EVERY_ANSWER, "Content-Type": "image/svg+xml", "Cache-Control": "no-store"}
        return Response(draw(uri), headers=headers)

    def _render(self, page: str) -> Rendered:
        registration = self._settings.registration  # may be another one with the next request
        rendered = self._rendered.get((page, registration))
        if rendered is None:
            template = self._environment.get_template(f"{page}.html")
            content = template.render(page=page, registration=registration).encode("utf-8")
            rendered = Rendered(content, hashlib.sha256(content).hexdigest()[:32])
            self._rendered[page, registration] = rendered
        return rendered

    @cached_property
    def _assets(self) -> Assets:
        return read_assets()

    @cached_property
    def _environment(self) -> Environment:
        environment = Environment(
            loader=FileSystemLoader(TEMPLATES),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        settings = self._settings
        environment.globals.update(
            static=self._assets.folder,
            version=__version__,
            service_name=settings.service_name,
            public_url=self._origins.fixed,
            relying_party=settings.relying_party_id,
            sign_in=settings.sign_in,
            has_mail=settings.mail.mode != "off",
            sso=settings.sso if settings.sso.is_on else None,
            captcha=settings.captcha if settings.captcha.provider != "none" else None,
            sso_name=settings.sso.display_name or "single sign-on",
        )
        return environment


def with_sources(sources: str) -> str:
    """The content security policy of a page that shows a challenge from these hosts."""
    policy = CONTENT_SECURITY_POLICY
    for directive in ("script-src", "style-src", "connect-src"):
        policy = policy.replace(f"{directive} 'self'", f"{directive} 'self' {sources}")
    return f"{policy}; frame-src {sources}"


def draw(text: str) -> bytes:
    """A QR code as an SVG image, dark on light under any colours of the page: readers expect it that way round."""
    import segno

    image = io.BytesIO()
    segno.make_qr(text, error="m").save(
        image, kind="svg", xmldecl=False, nl=False, border=4, dark="#000", light="#fff", omitsize=True
    )
    return image.getvalue()


def _member(body: bytes, name: str) -> object:
    """A member of a JSON object; None where there is no such thing."""
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    return value.get(name) if isinstance(value, dict) else None


def _html(rendered: Rendered, status: int = 200) -> Response:
    headers = {**EVERY_ANSWER, "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-cache"}
    return Response(rendered.content, status, headers)


def _wants_html(asked: Request) -> bool:
    """Whether the client names HTML among what it takes; `*/*` alone is what programs send."""
    accepted = asked.accept_mimetypes
    return any(value == "text/html" and quality > 0 for value, quality in accepted)


# Scripts, style sheet and icon: read once, served under an address that changes when any of them does. Every file lies
# below `/static/<digest>/`, where the digest is of all of them together. Scripts import each other by relative address,
# so no build step has to rewrite them, and a browser may keep each file for ever: after an upgrade the pages name other
# addresses.

FOLDER: Final = Path(__file__).with_name("static")

CONTENT_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}

DIGEST_LENGTH: Final = 16
"""Hexadecimal digits of SHA-256; enough to tell one version of the files from another."""


@attrs.frozen
class Asset:
    """One file as it is sent."""

    content: bytes = attrs.field(repr=False)
    content_type: str


@attrs.frozen
class Assets:
    """All of them, and the address of their folder."""

    files: dict[str, Asset]
    digest: str

    @property
    def folder(self) -> str:
        """Where they lie on this server: `/static/<digest>`."""
        return f"/static/{self.digest}"

    def find(self, digest: str, name: str) -> Asset | None:
        """The file in this version."""
        return self.files.get(name) if digest == self.digest else None


def read_assets(folder: Path = FOLDER) -> Assets:
    """Read every file of a kind that pages use."""
    sha256 = hashlib.sha256()
    files = {}
    for path in sorted(folder.iterdir()):
        content_type = CONTENT_TYPES.get(path.suffix)
        if content_type is None:
            continue
        content = path.read_bytes()
        files[path.name] = Asset(content, content_type)
        sha256.update(f"{path.name}\0{len(content)}\0".encode())
        sha256.update(content)
    return Assets(files, sha256.hexdigest()[:DIGEST_LENGTH])
