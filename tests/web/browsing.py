"""A browser in front of a real `chat dev`: Chromium without a window, and a person who uses it.

Whatever a page does that it must not do (break its content security policy, ask another host, throw) fails the test
that opened it, wherever in the conversation it happened.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar
from urllib.error import HTTPError
from urllib.parse import urlencode, urlsplit

import attrs
import pyotp
import trio
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import (
    Browser,
    BrowserContext,
    CDPSession,
    ConsoleMessage,
    Locator,
    Page,
    Request,
    Response,
    Route,
    expect,
)

from tests.durability.prepared import started_and_killed
from tests.loopback_http import LoopbackHttp
from tests.patience import PATIENCE_SECONDS
from tests.web import acts_record

CHROMIUM: Final = shutil.which("chromium") or shutil.which("chromium-browser")
"""The browser as people have it, without its window."""

SHELL: Final = shutil.which("chromium-headless-shell") or CHROMIUM
"""The same engine without what the browser has around its pages (notifications, push, its own dialogs): a visit takes
half the processor's time."""

UNWANTED: Final = (
    # Pages of the browser's own, two beside every tab, that show what is typed into the address bar; and processes kept
    # ready for pages that nobody opens. They took more than a third of the processor's time of a visit.
    "PreloadTopChromeWebUI",
    "SpareRendererForSitePerProcess",
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxFullPopup",
    "WebUIOmniboxPopup",
    # What Playwright turns off: of two such options Chromium hears the last.
    "AimEnabled",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
    "ThirdPartyStoragePartitioning",
)
"""Features of Chromium that are turned off."""

FLAGS: Final = (
    "--headless=new",
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    f"--disable-features={','.join(UNWANTED)}",
    "--disable-gpu",
    "--disable-sync",
    "--metrics-recording-only",
    "--no-first-run",
)

PACKS: Final = {"CHAT_CLIENT_PACKS": "false" if acts_record.RECORD else "true"}
"""As the client comes to people; singly where what it calls is written down."""

WAIT_MS: Final = int(1_000 * PATIENCE_SECONDS)
"""How long anything on a page may take, on a machine whose cores run other tests."""

CLIENT_START: Final = re.compile(r"/static/[0-9a-f]+/(?:packs|client)/main\.js$")

EXPECTED_IN_CONSOLE: Final = "Failed to load resource: the server responded with a status of 4"
"""Chromium's own note of an answer that refuses; refusals are part of these conversations."""

BROKEN_OFF: Final = "An unknown error occurred when fetching the script."
"""Its note of a service worker whose script has not come when the browser is closed."""


Service = TypeVar("Service", bound=LoopbackHttp)

AXE_TAGS: Final = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")


@attrs.frozen
class Instance:
    """A running `chat dev`."""

    world: dict[str, Any]
    folder: str
    """Its data directory."""

    @property
    def port(self) -> int:
        """Its port."""
        port = urlsplit(str(self.world["base_url"])).port
        assert port is not None
        return port

    @property
    def origin(self) -> str:
        """Where a browser finds it, under the name that passkeys need."""
        return f"http://localhost:{self.port}"

    def call(self, method: str, path: str, body: object = None, token: str | None = None, **headers: str) -> Any:
        """One request of a program; its JSON, None without a body."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json", **({"Authorization": token} if token else {}), **headers},
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
                text = answer.read()
        except HTTPError as refusal:
            refusal.close()
            raise
        return json.loads(text) if text else None

    def exchange(self, application: dict[str, Any], code: str, redirect_uri: str) -> dict[str, Any]:
        """What an application does with a code: the token response."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "client_id": application["id"],
            "client_secret": application["client_secret"],
        }
        address = f"http://127.0.0.1:{self.port}/v1/oauth2/token"
        with urllib.request.urlopen(address, urlencode(form).encode(), timeout=30) as answer:
            tokens: dict[str, Any] = json.loads(answer.read())
        return tokens

    def mail(self, kind: str, recipient: str) -> dict[str, Any]:
        """The newest mail of that kind to an address, with the `link` in it."""
        mail = self._newest_mail(kind, recipient)
        link = next(word for word in mail["text"].split() if "#token=" in word)
        return {**mail, "link": link}

    def sent_code(self, kind: str, recipient: str) -> str:
        """The code that the newest mail of that kind to an address carries."""
        return str(self._newest_mail(kind, recipient)["token"])

    def _newest_mail(self, kind: str, recipient: str) -> dict[str, Any]:
        mails = self.call("GET", "/v1/_dev/mail")
        mail: dict[str, Any] = next(m for m in reversed(mails) if (m["kind"], m["to"]) == (kind, recipient))
        return mail

    def person(self, name: str) -> dict[str, Any]:
        """A seeded account: id, email, username, password, token."""
        found: dict[str, Any] = next(user for user in self.world["users"] if user["username"] == name)
        return found

    def pass_time(self, seconds: int) -> None:
        """Move the server's clock forward."""
        self.call("POST", "/v1/_dev/clock", {"advance_ms": seconds * 1_000})

    def code(self, secret: str) -> str:
        """What an authenticator shows at the server's time, in a step that was not used before."""
        self.pass_time(30)
        offset = int(self.call("GET", "/v1/_dev/clock")["offset_ms"])
        return pyotp.TOTP(secret.replace(" ", "")).at(int(time.time() + offset / 1_000))


@contextmanager
def instance(**environment: str) -> Iterator[Instance]:
    """Run `chat dev` with settings from the environment; the web client comes in packs, as it does to people."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["dev", "--data", folder, "--port", "0", "--json"]
        # Nothing of it is wanted in the end: no drain.
        with started_and_killed(command, {**os.environ, **PACKS, **environment}) as output:
            line = output.readline()
            assert line, "the server ended before it could serve"
            yield Instance(json.loads(line), folder)


@contextmanager
def served() -> Iterator[Instance]:
    """Run `chat serve` on nothing: an instance on its first day; its world is the link that it prints."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as log:
        command = ["serve", "--data", folder, "--port", "0"]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("CHAT_")}
        with started_and_killed(command, environment, log) as output:
            listening = output.readline().decode().split()
            assert listening, "the server ended before it could serve"
            log.seek(0)
            links = [line["link"] for line in map(json.loads, log.read().splitlines()) if "link" in line]
            yield Instance({"base_url": f"{listening[2]}/v1", "setup": links[0]}, folder)


@contextmanager
def beside(service: Service) -> Iterator[Service]:
    """A service that runs in a thread of its own."""
    started, ended = threading.Event(), threading.Event()

    async def serve() -> None:
        async with service.running():
            started.set()
            await trio.to_thread.run_sync(ended.wait)

    thread = threading.Thread(target=trio.run, args=(serve,))
    thread.start()
    started.wait()
    try:
        yield service
    finally:
        ended.set()
        thread.join()


def until(page: Page, holds: Callable[[], object]) -> None:
    """Wait until it holds: what was pressed is done a moment later. For what `expect` cannot ask."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < end, "it does not come to hold"
        page.wait_for_timeout(50)


def each(locator: Locator, count: int) -> list[Locator]:
    """All that a locator finds, once there are `count` of them."""
    expect(locator).to_have_count(count)
    return [locator.nth(number) for number in range(count)]


class Visitor:
    """One person with one browser tab and, if wanted, an authenticator."""

    def __init__(
        self,
        browser: Browser,
        home: Instance,
        *,
        elsewhere: tuple[str, ...] = (),
        service_worker: bool = True,
        **options: Any,
    ) -> None:
        self.home = home
        self.context: BrowserContext = browser.new_context(base_url=home.origin, **options)
        self._has_service_worker = service_worker
        if not service_worker:
            self.context.add_init_script("delete Navigator.prototype.serviceWorker")
        self.context.set_default_timeout(WAIT_MS)
        acts_record.record(self.context)
        self.page: Page = self.context.new_page()
        self.complaints: list[str] = []
        self._has_axe = self._closes = False
        self.addresses: list[str] = []
        """Every address that was asked for, to be searched for secrets."""
        self._hosts = {f"localhost:{home.port}", f"127.0.0.1:{home.port}", *elsewhere}
        self.watch(self.page)

    def intercepts(self, pattern: str, handler: Callable[[Route], object]) -> None:
        """Have requests answered here, of a visitor without a service worker: where one has taken the page over, which
        may be at any moment, they go past Playwright."""
        assert not self._has_service_worker, "visit(..., service_worker=False)"
        self.page.route(pattern, handler)

    def watch(self, page: Page) -> None:
        """Notice what a page must not do."""
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.complaints.append(f"thrown: {error}"))
        page.on("request", self._asked)
        page.on("response", self._answered)

    def _heard(self, message: ConsoleMessage) -> None:
        if self._closes and message.text == BROKEN_OFF:
            return
        if message.type in ("error", "warning") and not message.text.startswith(EXPECTED_IN_CONSOLE):
            self.complaints.append(f"{message.type}: {message.text}")

    def _asked(self, request: Request) -> None:
        self.addresses.append(request.url)
        parts = urlsplit(request.url)
        if parts.scheme not in ("data", "blob") and parts.netloc not in self._hosts:
            self.complaints.append(f"asked elsewhere: {request.url}")

    def _answered(self, response: Response) -> None:
        if response.status >= 500:
            self.complaints.append(f"{response.status}: {response.url}")

    def close(self) -> None:
        """Leave, and tell what was wrong."""
        self._closes = True
        self.context.close()
        assert self.complaints == [], self.complaints

    # What a person does

    def goes_to(self, path: str) -> None:
        """Open an address of this instance, or a whole one."""
        self.page.goto(path)

    def leaves(self) -> None:
        """Go away before the instance does."""
        self.page.goto("about:blank")

    def goes_to_a_bare_client(self) -> None:
        """Open the client's page, with its policy and its styles, while the client itself does not start."""
        self.page.route(CLIENT_START, lambda route: route.fulfill(content_type="text/javascript", body=""))
        self.page.goto("/channels/@me")

    def fills(self, **fields: str) -> None:
        """Type into visible fields by their `name`."""
        for name, text in fields.items():
            self.page.locator(f'input[name="{name}"]:visible').fill(text)

    def presses(self, name: str) -> None:
        """Press the button of that name, once the page's script is there to hear it."""
        self.page.wait_for_load_state()
        self.page.get_by_role("button", name=name, exact=True).click()

    def signs_in(self, person: dict[str, Any]) -> None:
        """Sign in with email address and password; what comes then is the account's business."""
        self.goes_to("/login")
        self.fills(email=person["email"], password=person["password"])
        self.presses("Sign in")

    def is_signed_in_as(self, person: dict[str, Any]) -> None:
        """Sign in an account that asks for nothing more."""
        self.signs_in(person)
        self.enters()
        self.goes_to("/settings")
        self.reads("Settings")

    def until(self, holds: Callable[[], object]) -> None:
        """Wait until it holds on the page or at the server."""
        until(self.page, holds)

    def confirms(self, answer: str) -> None:
        """Answer the question in front of the page."""
        self.page.get_by_role("dialog").get_by_role("button", name=answer, exact=True).click()

    def follows(self, name: str) -> None:
        """Follow the link of that name."""
        self.page.get_by_role("link", name=name, exact=True).click()

    def reads(self, text: str) -> None:
        """Wait until the page's heading says this."""
        self.page.get_by_role("heading", name=text).first.wait_for()

    def is_told(self, text: str) -> None:
        """Wait until this is said in a live region or an error summary."""
        region = self.page.locator('[role="status"], [role="alert"]').filter(has_text=text)
        region.first.wait_for()

    def section(self, name: str) -> Locator:
        """A section of the settings, by its heading."""
        return self.page.get_by_role("region", name=name)

    def arrives_at(self, path: str) -> None:
        """Wait for the address to be this path."""
        self.page.wait_for_url(lambda url: urlsplit(url).path == path)

    def enters(self) -> None:
        """Wait for the client, to which signing in leads."""
        self.page.wait_for_url(lambda url: urlsplit(url).path.startswith("/channels/"))

    def has_authenticator(self) -> tuple[CDPSession, str]:
        """Plug in an authenticator that touches and recognises by itself (CDP, domain WebAuthn)."""
        session = self.context.new_cdp_session(self.page)
        session.send("WebAuthn.enable")
        options = {
            "protocol": "ctap2",
            "transport": "internal",
            "hasResidentKey": True,
            "hasUserVerification": True,
            "isUserVerified": True,
            "automaticPresenceSimulation": True,
        }
        added = session.send("WebAuthn.addVirtualAuthenticator", {"options": options})
        return session, str(added["authenticatorId"])

    # What holds of any page

    def page_is_accessible(self, *rules: str) -> None:
        """Run axe-core over what is shown now: these rules, or all that belong to WCAG 2.2 AA."""
        if not self._has_axe:
            # Chromium keeps a script that comes with every page compiled; sent each time it is half a megabyte.
            self.context.add_init_script(AXE_SCRIPT)
            self.page.evaluate(AXE_SCRIPT)
            self._has_axe = True
        only = {"type": "rule", "values": list(rules)} if rules else {"type": "tag", "values": list(AXE_TAGS)}
        options = {"runOnly": only, "resultTypes": ["violations"]}
        results = self.page.evaluate("options => axe.run(document, options)", options)
        found = [
            f"{violation['id']}: {node['html'][:200]} {node.get('failureSummary', '')}"
            for violation in results["violations"]
            for node in violation["nodes"]
        ]
        assert found == [], f"{self.page.url}:\n" + "\n".join(found)

    def page_fits(self) -> None:
        """Nothing makes the page wider than the window (WCAG 1.4.10)."""
        excess = self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert excess <= 0, f"{self.page.url} is {excess} px wider than the window"
