"""`chat bench web`: what the web client costs in a browser, from the first visit to a long talk.

It drives the system's Chromium by Playwright, which the extra `dev` brings.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import shutil
import statistics
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from chat.bench.measuring import MEASURED_CORE, BenchReport, Figure, started
from chat.classes import define, frozen
from chat.development.answers import DescribedAccount, DescribedWorld
from chat.errors import OperatorError

if TYPE_CHECKING:
    from playwright.sync_api import Browser, CDPSession, Page

KIBIBYTE: Final = 1024
MEGABYTE: Final = 1_000_000
WINDOW: Final = {"width": 1280, "height": 800}
WHEEL_PX: Final = -2400
WAIT_MS: Final = 30_000

WATCHED: Final = """
window.tasks = [];
new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map((one) => one.duration)))
  .observe({type: "longtask", buffered: true});
const Plain = window.WebSocket;
window.WebSocket = class extends Plain {
  constructor(...given) {
    super(...given);
    this.addEventListener("message", ({data}) => {
      if (data.includes('"READY"')) window.readyAt ??= performance.now();
    });
  }
};
new MutationObserver(() => {
  if (!window.paintedAt && document.querySelector("article")) {
    requestAnimationFrame(() => requestAnimationFrame(() => (window.paintedAt ??= performance.now())));
  }
  if (!window.shownAt && document.querySelector(".app.ready .tile[data-guild]")) {
    requestAnimationFrame(() => requestAnimationFrame(() => (window.shownAt ??= performance.now())));
  }
  for (const one of document.querySelectorAll("article .text")) {
    window.seen ??= new Map();
    if (!window.seen.has(one.textContent)) window.seen.set(one.textContent, Date.now());
  }
}).observe(document, {childList: true, subtree: true});
"""
"""Notes within the page: tasks above 50 ms, when Ready came, when the first message and the guilds were painted, when
each text was there."""


PRESSED: Final = "() => addEventListener('keydown', () => (window.pressedAt = Date.now()), {once: true, capture: true})"


@frozen
class WebBenchPlan:
    """How large the world is, and for how long people talk."""

    visits: int = 5
    guilds: int = 100
    channels: int = 500
    messages: int = 10_000
    talk_seconds: float = 60.0
    talk_rate: float = 50.0
    exchanges: int = 40


WHOLE: Final = WebBenchPlan()

QUICK: Final = WebBenchPlan(visits=1, guilds=3, channels=8, messages=120, talk_seconds=0.5, exchanges=2)


@define(eq=False)
class Host:
    """The server under measurement, and requests to it."""

    world: DescribedWorld
    connection: http.client.HTTPConnection

    @property
    def origin(self) -> str:
        """Where the browser finds it."""
        return f"http://localhost:{self.connection.port}"

    def call(self, method: str, path: str, body: object, name: str = "alice") -> Any:
        """One request of an account. Raises OperatorError for a refusal."""
        headers = {"Authorization": self.person(name)["token"], "Content-Type": "application/json"}
        self.connection.request(method, path, json.dumps(body), headers)
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status >= http.client.BAD_REQUEST:
            raise OperatorError(f"{method} {path} answered {answer.status}: {text.decode()[:200]}")
        return json.loads(text) if text else None

    def person(self, name: str) -> DescribedAccount:
        """An account of the seeded world."""
        return next(user for user in self.world["users"] if user["username"] == name)

    def says(self, text: str, name: str = "bob") -> None:
        """Write into the seeded channel."""
        self.call("POST", f"/v1/channels/{self.world['channel_id']}/messages", {"content": text}, name)


def run(plan: WebBenchPlan) -> BenchReport:
    """Visit, scroll, talk."""
    with hosted() as host, browsing() as browser:
        populate(host, plan)
        page = opened(browser, host, "alice")
        figures = [
            *first_visit(page, host, plan),
            *scrolled(page, plan),
            *talked(page, host, plan),
            *exchanged(page, opened(browser, host, "bob"), plan),
        ]
    return BenchReport("web", tuple(figures))


@contextlib.contextmanager
def hosted() -> Iterator[Host]:
    """`chat dev`, with the client in packs as people get it."""
    settings = {"CHAT_LOG_LEVEL": "error", "CHAT_CLIENT_PACKS": "true"}
    with started("chat", "dev", "--port", 0, "--json", core=MEASURED_CORE, environment=settings) as server:
        world: DescribedWorld = server.answer()
        port = int(str(world["base_url"]).rsplit(":", 1)[1].split("/")[0])
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
            yield Host(world, connection)


@contextlib.contextmanager
def browsing() -> Iterator[Browser]:
    """The system's Chromium. Raises OperatorError without it."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        raise OperatorError("this bench needs Playwright: install chat[dev]") from error
    found = shutil.which("chromium") or shutil.which("google-chrome")
    if found is None:
        raise OperatorError("this bench needs Chromium, and there is none on the path")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=found, args=["--no-sandbox", "--enable-precise-memory-info", "--js-flags=--expose-gc"]
        )
        with contextlib.closing(browser):
            yield browser


def populate(host: Host, plan: WebBenchPlan) -> None:
    """Guilds, channels and messages."""
    channels = 0
    for number in range(plan.guilds - 1):
        guild = host.call("POST", "/v1/guilds", {"name": f"Guild {number}"})
        channels += 4
        while channels < plan.channels * (number + 1) / plan.guilds:
            host.call("POST", f"/v1/guilds/{guild['id']}/channels", {"name": f"more-{channels}", "type": 0})
            channels += 1
    for number in range(plan.messages):
        host.says(f"{number}: we sow tomato seed in March and the leaves come up before the last frost has gone")


def opened(browser: Browser, host: Host, name: str) -> Page:
    """The seeded channel in a browser of its own."""
    context = browser.new_context(viewport={"width": WINDOW["width"], "height": WINDOW["height"]}, base_url=host.origin)
    context.set_default_timeout(WAIT_MS)
    context.add_init_script(WATCHED)
    page = context.new_page()
    page.goto("/offline")
    session = {"token": host.person(name)["token"], "name": name}
    page.evaluate("(session) => localStorage.setItem('session', JSON.stringify(session))", session)
    visit(page, host)
    return page


def visit(page: Page, host: Host) -> None:
    """Go there, and wait for messages."""
    page.goto(f"/channels/{host.world['guild_id']}/{host.world['channel_id']}")
    page.wait_for_function("() => window.paintedAt && window.shownAt")


def first_visit(page: Page, host: Host, plan: WebBenchPlan) -> list[Figure]:
    """What is loaded, and how soon there is something to read."""
    session: CDPSession = page.context.new_cdp_session(page)
    session.send("Network.enable")
    sizes: list[float] = []
    session.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    painted, shown = [], []
    for _ in range(plan.visits):
        session.send("Network.clearBrowserCache")
        sizes.clear()
        visit(page, host)
        painted.append(page.evaluate("() => window.paintedAt"))
        shown.append(page.evaluate("() => window.shownAt - window.readyAt"))
    page.wait_for_load_state("networkidle")
    session.detach()
    return [
        Figure("first_visit", sum(sizes) / KIBIBYTE, "KiB", at_most=180.0),
        Figure("first_visit_requests", float(len(sizes)), "requests", at_most=40.0),
        Figure("first_message", statistics.median(painted), "ms", at_most=1_000.0),
        Figure("ready_to_painted", statistics.median(shown), "ms", at_most=250.0),
    ]


def scrolled(page: Page, plan: WebBenchPlan) -> list[Figure]:
    """Up to the first message of the channel."""
    page.evaluate("() => { window.tasks.length = 0; }")
    page.locator(".scroller").hover()
    deadline = time.monotonic() + WAIT_MS * max(1, plan.messages // 500) / 1_000
    while page.locator(".beginning").count() == 0 and time.monotonic() < deadline:
        page.mouse.wheel(0, WHEEL_PX)
        page.wait_for_timeout(16)
    page.evaluate("() => window.gc?.()")
    heap = page.evaluate("() => performance.memory.usedJSHeapSize")
    return [
        Figure("scrolling_longest_task", longest(page), "ms", at_most=50.0),
        Figure("scrolling_heap", heap / MEGABYTE, "MB", at_most=80.0),
    ]


def talked(page: Page, host: Host, plan: WebBenchPlan) -> list[Figure]:
    """Another member writes into the open channel, at the plan's rate."""
    visit(page, host)
    page.evaluate("() => { window.tasks.length = 0; }")
    began = time.monotonic()
    count = int(plan.talk_seconds * plan.talk_rate)
    for number in range(count):
        host.says(f"talk {number}")
        page.wait_for_timeout(max(0.0, 1_000 * (began + (number + 1) / plan.talk_rate - time.monotonic())))
    page.wait_for_function("(text) => window.seen.has(text)", arg=f"talk {count - 1}")
    return [
        Figure("talking_longest_task", longest(page), "ms", at_most=50.0),
        Figure("talking_rate", count / (time.monotonic() - began), "messages/s"),
    ]


def exchanged(writer: Page, reader: Page, plan: WebBenchPlan) -> list[Figure]:
    """From Enter in one browser to the text in another."""
    took = []
    field = writer.locator("textarea.composer-field")
    for number in range(plan.exchanges):
        text = f"from one to the other {number}"
        field.fill(text)
        writer.evaluate(PRESSED)
        field.press("Enter")
        reader.wait_for_function("(text) => window.seen.has(text)", arg=text)
        seen = reader.evaluate("(text) => window.seen.get(text)", text)
        took.append(seen - writer.evaluate("() => window.pressedAt"))
    return [Figure("enter_to_shown_p50", float(statistics.median(took)), "ms", at_most=60.0)]


def longest(page: Page) -> float:
    """The longest task since the notes were cleared; the browser tells those from 50 ms on."""
    return float(page.evaluate("() => Math.max(0, ...window.tasks)"))
