"""The pages people land on, as a Quart blueprint.

A page is the same for everyone who reads its language: what it says of the instance comes from the settings, and what
belongs to a person is fetched by its script from the API and put into the document as text. So each page is rendered
once in each language, no template ever sees anything that a stranger wrote, and there is nothing in it to steal.

The pages know no cookies, as the API knows none: their scripts keep the session token in the browser's storage for this
origin and send it in the Authorization header. No other site can make a browser send it (no cross-site request
forgery), and the content security policy lets no foreign script near it. Secrets of mailed links stand in the fragment,
which browsers never send; the scripts take them out of the address bar at once.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import attrs
import orjson
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from quart import Blueprint, Request, Response, request

from chat import __version__
from chat.auth.credentials import resolve_authorization
from chat.classes import frozen
from chat.clock import Clock
from chat.config import Settings
from chat.domain.policy.origins import Origins
from chat.errors import ApiError, InvalidFormBody
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.store.database import Database
from chat.web.assets import CLIENT, CLIENT_STYLE, IDENTITY, PACKS, STATIC, WORDS, Asset, Assets, AssetStore, packing_for
from chat.web.look import LOGO_POLICY, read_look
from chat.web.manual import ASYNCAPI, FRONT, INDEX, Manual, ManualPages
from chat.web.packs import CORE, ENTRY
from chat.web.webapp import HEADERS as WEBAPP_HEADERS
from chat.web.webapp import Webapp
from chat.words import ENGLISH, LANGUAGES, catalogue

TEMPLATES: Final = Path(__file__).with_name("templates")

PAGES: Final[Mapping[str, tuple[str, ...]]] = {
    "start": ("/",),
    "setup": ("/setup",),
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
    "offline": ("/offline",),
    "admin": ("/admin",),
    "admin_sign_in": ("/admin/sign-in",),
    "dev": ("/dev",),
}
"""Each page's template and script have its name; the members of a path are read by the script."""

PLACES: Final[Mapping[str, str]] = {"admin": "/admin/<path:place>", "client": "/channels/<path:place>"}
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

CLIENT_POLICY: Final = "; ".join(
    (
        CONTENT_SECURITY_POLICY.replace("img-src 'self' data:", "img-src 'self' data: blob:"),
        "media-src 'self' blob:",
        "worker-src 'self'",
        "manifest-src 'self'",
        "require-trusted-types-for 'script'",
        "trusted-types chat",
    )
)
"""For the web client: as strict, and it shows files that people are about to send (`blob:`). Its one Trusted Types
policy knows nothing but the address of the service worker."""

POLICIES: Final[Mapping[str, str]] = {
    "start": NO_INJECTION,
    "admin": NO_INJECTION,
    "dev": NO_INJECTION,
    "client": CLIENT_POLICY,
}
"""Content security policies of pages that have one of their own."""

SCRIPT_WORDS: Final = ("errors", "pages")
"""The surfaces of `chat.words` that every page's scripts say; console and workbench have one besides."""

CHALLENGE: Final = b' id="captcha" '
"""Where a form shows its challenge (templates/_fields.html)."""

CAPTCHA_SOURCES: Final[Mapping[str, str]] = {
    "hcaptcha": "https://hcaptcha.com https://*.hcaptcha.com",
    "turnstile": "https://challenges.cloudflare.com",
}
"""What pages may load besides that have a form before which the instance's CAPTCHA service stands: the services' own
words on content security policies."""

PERMISSIONS: Final = ", ".join(
    (
        "publickey-credentials-get=(self)",
        "publickey-credentials-create=(self)",
        "clipboard-write=(self)",
        *(f"{feature}=()" for feature in ("camera", "clipboard-read", "geolocation", "microphone", "payment", "usb")),
    )
)

CLIENT_PERMISSIONS: Final = ", ".join(
    (
        PERMISSIONS.replace("camera=()", "camera=(self)").replace("microphone=()", "microphone=(self)"),
        "display-capture=(self)",
        "autoplay=(self)",
        "fullscreen=(self)",
    )
)
"""For the web client: in it people speak, show themselves and their screens."""

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

ASK_AGAIN: Final = "no-cache"
"""For what stays at its address."""

SERVICE_WORKER: Final = "/service-worker.js"
SERVICE_WORKER_FILE: Final = f"{CLIENT}/worker/service_worker.js"

GROUND_COLOUR: Final = "#f3f1ec"
"""Around an installed client until its page is there."""

SHORT_NAME_LENGTH: Final = 12
"""What fits below an icon."""

TOTP_URI_LENGTH: Final = 512
"""Characters of an otpauth address; issuer, name and secret take about 150."""


@frozen
class Rendered:
    """A page as it is sent, and its entity tag."""

    content: bytes = attrs.field(repr=False)
    tag: str
    has_challenge: bool


class Pages:
    """The pages of one server. Files are read in threads unless `in_threads` is False; those of a web application that
    stands in place of ours lie relative to the data `directory`. `is_set_up` says whether anybody administers the
    instance."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        clock: Clock,
        origins: Origins,
        *,
        directory: Path,
        is_set_up: Callable[[], bool],
        manual: Callable[[], Manual],
        in_threads: bool,
        in_development: bool = False,
    ) -> None:
        self._settings: Final = settings
        self._database: Final = database
        self._clock: Final = clock
        self._origins: Final = origins
        self._store: Final = AssetStore(in_threads=in_threads)
        self._environments: Final[dict[str, Environment]] = {}
        self._webapp: Final = (
            None if settings.webapp_directory is None else Webapp(directory / settings.webapp_directory)
        )
        self._look: Final = read_look(settings.accent_colour, settings.logo_file, directory)
        self._is_set_up: Final = is_set_up
        self._in_development: Final = in_development
        self._manual: Final = ManualPages(manual, self._store)
        self._facts: dict[str, object] = {}
        self._rendered: Final[dict[tuple[str, str], Rendered]] = {}
        self.blueprint: Final = Blueprint("pages", __name__)
        self._name_addresses()

    def _name_addresses(self) -> None:
        theirs = {"start", "client", "offline"} if self._webapp is not None else set()
        left_out = theirs if self._in_development else {*theirs, "dev"}
        for name, paths in PAGES.items():
            for path in paths if name not in left_out else ():
                self.blueprint.add_url_rule(path, name, self._show, defaults={"page": name})
        for name, path in PLACES.items():
            if name not in theirs:
                self.blueprint.add_url_rule(path, f"{name}_place", self._show_place, defaults={"page": name})
        self.blueprint.add_url_rule("/docs", "manual", self._show_manual, defaults={"name": FRONT})
        self.blueprint.add_url_rule("/docs/<name>", "manual_page", self._show_manual)
        self.blueprint.add_url_rule(INDEX, "manual_index", self._send_manual_index)
        self.blueprint.add_url_rule(ASYNCAPI, "asyncapi", self._send_asyncapi)
        self.blueprint.add_url_rule("/static/<digest>/<path:name>", "asset", self._send_asset)
        self.blueprint.add_url_rule("/look/<tag>/<name>", "look", self._send_look)
        self.blueprint.add_url_rule("/settings/totp-qr-code", "totp_qr_code", self._draw_totp, methods=["POST"])
        if self._webapp is not None:
            for path in ("/", "/<path:place>"):
                self.blueprint.add_url_rule(path, "webapp", self._send_webapp)
        else:
            self.blueprint.add_url_rule(SERVICE_WORKER, "service_worker", self._send_service_worker)
            self.blueprint.add_url_rule("/manifest.webmanifest", "manifest", self._send_manifest)

    async def not_found(self, asked: Request) -> Response | None:
        """The answer to a browser that followed a link to nowhere; None for a client of the API, which wants JSON."""
        if asked.path.startswith("/v1/") or not _wants_html(asked):
            return None
        return _html(await self._render(NOT_FOUND, _language(asked)), 404)

    async def _show(self, page: str, **_: str) -> Response:
        rendered = await self._render(page, _language(request))
        response = _html(rendered)
        if page in POLICIES:
            response.headers["Content-Security-Policy"] = POLICIES[page]
        if page == "client":
            response.headers["Permissions-Policy"] = CLIENT_PERMISSIONS
        sources = CAPTCHA_SOURCES.get(self._settings.captcha.provider)
        if sources is not None and rendered.has_challenge:
            response.headers["Content-Security-Policy"] = with_sources(sources)
        response.set_etag(rendered.tag)
        await response.make_conditional(request)
        return response

    async def _show_place(self, page: str, place: str) -> Response:
        if not _wants_html(request):
            raise ApiError(ErrorCode.NOT_FOUND)
        return await self._show(page)

    async def _send_asset(self, digest: str, name: str) -> Response:
        asset = (await self._store.assets()).find(digest, name)
        if asset is None:
            return await self._send_webapp(request.path.removeprefix("/"))
        return await self._send_file(asset, FOR_EVER)

    async def _send_look(self, tag: str, name: str) -> Response:
        asset = self._look.find(tag, name)
        if asset is None:
            raise ApiError(ErrorCode.NOT_FOUND)
        response = await self._send_file(asset, FOR_EVER)
        response.headers["Content-Security-Policy"] = LOGO_POLICY
        return response

    async def _send_webapp(self, place: str = "") -> Response:
        """A file of the application that stands in place of ours, or its index."""
        webapp, or_index = self._webapp, _wants_html(request)
        if webapp is None:
            raise ApiError(ErrorCode.NOT_FOUND)
        found = await self._store.aside(lambda: webapp.find(place, or_index=or_index))
        if found is None:
            raise ApiError(ErrorCode.NOT_FOUND)
        headers = {**WEBAPP_HEADERS, "Content-Type": found.content_type, "Cache-Control": ASK_AGAIN}
        response = Response(found.content, headers=headers)
        response.set_etag(found.tag)
        await response.make_conditional(request)
        return response

    async def _send_service_worker(self) -> Response:
        """At the top, because a service worker sees the pages below its own address."""
        return await self._send_file((await self._store.assets()).files[SERVICE_WORKER_FILE], ASK_AGAIN)

    async def _send_file(self, asset: Asset, caching: str) -> Response:
        packed = await self._store.packed(asset, packing_for(request.accept_encodings))
        headers = {**EVERY_ANSWER, "Content-Type": asset.content_type, "Cache-Control": caching}
        response = Response(packed.content, headers={**headers, "Vary": "Accept-Encoding"})
        if packed.packing != IDENTITY:
            response.headers["Content-Encoding"] = packed.packing
        response.set_etag(f"{asset.tag}-{packed.packing}")
        await response.make_conditional(request)
        return response

    async def _send_manifest(self) -> Response:
        """What browsers need to install the client (W3C, Web Application Manifest)."""
        assets = await self._store.assets()
        kind = {"sizes": "any", "type": "image/svg+xml"}
        icons = [
            {"src": f"{assets.folder}/{STATIC}/{name}.svg", "purpose": purpose, **kind}
            for name, purpose in (("icon", "any"), ("icon_maskable", "maskable"))
        ]
        if self._look.logo is not None:
            icons = [{"src": f"{self._look.logo_address}", "purpose": "any", "sizes": "any"}]
            icons[0]["type"] = self._look.logo.content_type
        manifest = {
            "id": "/",
            "name": self._settings.service_name,
            "short_name": self._settings.service_name[:SHORT_NAME_LENGTH],
            "start_url": "/channels/@me",
            "scope": "/",
            "display": "standalone",
            "background_color": GROUND_COLOUR,
            "theme_color": GROUND_COLOUR,
            "icons": icons,
        }
        headers = {**EVERY_ANSWER, "Content-Type": "application/manifest+json", "Cache-Control": ASK_AGAIN}
        response = Response(orjson.dumps(manifest), headers=headers)
        await response.add_etag()
        await response.make_conditional(request)
        return response

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

    async def _show_manual(self, name: str) -> Response:
        """A page of the manual; its script can make no markup out of text."""
        facts, language = self._facts_now(), _language(request)
        asset = await self._manual.page(name, await self._environment(language), facts)
        if asset is None:
            raise ApiError(ErrorCode.NOT_FOUND)
        response = await self._send_file(asset, ASK_AGAIN)
        response.headers["Content-Security-Policy"] = NO_INJECTION
        response.headers["Vary"] = "Accept-Encoding, Accept-Language"
        return response

    async def _send_manual_index(self) -> Response:
        return await self._send_file(await self._manual.index(), ASK_AGAIN)

    async def _send_asyncapi(self) -> Response:
        return await self._send_file(await self._manual.asyncapi(), ASK_AGAIN)

    def _facts_now(self) -> dict[str, object]:
        """What pages say of the instance; what was rendered before goes when that was chosen anew at run time."""
        settings = self._settings
        facts: dict[str, object] = {
            "registration": settings.registration,
            "service_name": settings.service_name,
            "service_description": settings.service_description,
            "welcome_invite": settings.welcome_invite,
            "is_set_up": self._is_set_up(),
        }
        if facts != self._facts:
            self._facts = facts
            self._rendered.clear()
            self._manual.forget()
        return facts

    async def _environment(self, language: str) -> Environment:
        if language not in self._environments:
            self._environments[language] = self._make_environment(await self._store.assets(), language)
        return self._environments[language]

    async def _render(self, page: str, language: str) -> Rendered:
        facts = self._facts_now()
        environment = await self._environment(language)
        rendered = self._rendered.get((page, language))
        if rendered is None:
            content = environment.get_template(f"{page}.html").render(page=page, **facts).encode("utf-8")
            tag = hashlib.sha256(content).hexdigest()[:32]
            rendered = Rendered(content, tag, has_challenge=CHALLENGE in content)
            if facts == self._facts:
                self._rendered[page, language] = rendered
        return rendered

    def _make_environment(self, assets: Assets, language: str) -> Environment:
        words = catalogue(language, "pages")
        environment = Environment(
            extensions=["jinja2.ext.i18n"],
            loader=FileSystemLoader(TEMPLATES),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        environment.install_gettext_callables(  # type: ignore[attr-defined]  # the extension's
            lambda english: words.get(english, english), lambda one, other, n: one if n == 1 else other, newstyle=True
        )
        settings, folder = self._settings, assets.folder
        is_packed = settings.client_packs
        script = f"{PACKS}/{CORE}.js" if is_packed else ENTRY
        sheets = [CLIENT_STYLE] if is_packed else assets.style_sheets
        environment.globals.update(
            static=f"{folder}/{STATIC}",
            sign=self._look.logo_address or f"{folder}/{STATIC}/icon.svg",
            look_style=self._look.style_address,
            client=f"{folder}/{CLIENT}",
            client_script=f"{folder}/{script}",
            client_style_sheets=[f"{folder}/{name}" for name in sheets],
            language=language,
            languages=" ".join(LANGUAGES),
            page_words=_addresses(folder, language, *SCRIPT_WORDS),
            console_words=_addresses(folder, language, *SCRIPT_WORDS, "console"),
            workbench_words=_addresses(folder, language, *SCRIPT_WORDS, "workbench"),
            version=__version__,
            public_url=self._origins.fixed,
            relying_party=settings.relying_party_id,
            sign_in=settings.sign_in,
            has_mail=settings.mail.mode != "off",
            has_voice=settings.voice.engine != "off",
            retention=settings.retention,
            sso=settings.sso if settings.sso.is_on else None,
            captcha=settings.captcha if settings.captcha.provider != "none" else None,
            sso_name=settings.sso.display_name or "single sign-on",
        )
        return environment


def _addresses(folder: str, language: str, *surfaces: str) -> str:
    """Where scripts find their words, with spaces between; nowhere for English, which stands in them."""
    return " ".join(f"{folder}/{WORDS}/{language}/{surface}.json" for surface in surfaces if language != ENGLISH)


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
    headers = {**EVERY_ANSWER, "Content-Type": "text/html; charset=utf-8", "Cache-Control": ASK_AGAIN}
    return Response(rendered.content, status, {**headers, "Vary": "Accept-Language"})


def _language(asked: Request) -> str:
    """The language that the address names, which scripts do for somebody who chose one; else the one that the browser
    likes best among those that the pages speak (RFC 9110, Accept-Language)."""
    liked = (tag for tag, quality in asked.accept_languages if quality > 0)
    wanted = (tag.partition("-")[0].lower() for tag in (asked.args.get("lang", ""), *liked))
    return next((language for language in wanted if language in LANGUAGES), ENGLISH)


def _wants_html(asked: Request) -> bool:
    """Whether the client names HTML among what it takes; `*/*` alone is what programs send."""
    accepted = asked.accept_mimetypes
    return any(value == "text/html" and quality > 0 for value, quality in accepted)
