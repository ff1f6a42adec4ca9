"""The workbench in a browser: every part of it, on what a real bot and real requests do."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from typing import Any, Final

import pytest
import trio
from playwright.sync_api import Page, expect

from chat.testing.network import TcpRoute
from chat.testing.world import World
from tests.web.browsing import WAIT_MS, Instance, Visitor, until
from tests.web.conftest import MakeVisitor

CLIPBOARD: Final = """
Object.defineProperty(navigator.clipboard, "writeText", { value: async (text) => { window.copied = text; } });
"""
"""Pages may write the clipboard, and nobody may read it."""

IS_ACTIVE: Final = """() => {
  const active = document.querySelector("#traffic-list").getAttribute("aria-activedescendant");
  return active && document.querySelector(".entry[aria-selected='true']")?.id === active;
}"""

PLACES: Final = ("traffic", "faults", "limits", "mail", "world", "send", "commands")

WINDOWS: Final[dict[str, dict[str, Any]]] = {
    "light": {"color_scheme": "light", "viewport": {"width": 1280, "height": 800}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1280, "height": 800}},
    "small": {"color_scheme": "light", "viewport": {"width": 360, "height": 740}},
}


class Bots:
    """Bob, and alice's bot in a compressed stream, connected for as long as the block lasts."""

    def __init__(self, home: Instance) -> None:
        self._home = home
        self._ready, self._over = threading.Event(), threading.Event()
        self.closed: list[int] = []
        self._thread = threading.Thread(target=trio.run, args=(self._live,))

    async def _live(self) -> None:
        async with trio.open_nursery() as nursery:
            world = World(self._home.world, TcpRoute.of(self._home.world["base_url"]), nursery)
            bob = await world.bob.connect()
            await world.bot.connect(compressed=True)
            self._ready.set()
            while not self._over.is_set():
                if not bob.is_open and not self.closed:
                    self.closed.append((await bob.closed()).code)
                await trio.sleep(0.02)
            await world.aclose()
            nursery.cancel_scope.cancel()

    def __enter__(self) -> Bots:
        self._thread.start()
        assert self._ready.wait(WAIT_MS / 1000)
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()


@pytest.fixture
def bots(home: Instance) -> Iterator[Bots]:
    home.call("POST", "/v1/_dev/reset")
    home.call("DELETE", "/v1/_dev/history")
    with Bots(home) as connected:
        yield connected


@pytest.fixture
def page(bots: Bots, visit: MakeVisitor) -> Page:
    visitor: Visitor = visit(viewport={"width": 1280, "height": 800})
    visitor.context.add_init_script(CLIPBOARD)
    visitor.goes_to("/dev")
    shown: Page = visitor.page
    expect(shown.locator("#traffic")).to_be_visible()
    return shown


def send(home: Instance, text: str, name: str = "alice") -> Any:
    path = f"/v1/channels/{home.world['channel_id']}/messages"
    return home.call("POST", path, {"content": text}, home.person(name)["token"])


def goes_to(page: Page, place: str) -> None:
    page.locator(f"#places a[href='#{place}']").click()
    expect(page.locator(f"#{place}")).to_be_visible()


def row(page: Page, *words: str) -> Any:
    found = page.locator(".entry:visible")
    for word in words:
        found = found.filter(has_text=word)
    return found


def said(page: Page, text: str) -> None:
    expect(page.locator("main > .status")).to_contain_text(text)


def test_frames_and_requests_as_they_go(page: Page, home: Instance) -> None:
    send(home, "seen on the workbench")
    expect(row(page, "bob", "MESSAGE_CREATE")).to_have_count(1)
    expect(row(page, "bot", "MESSAGE_CREATE")).to_have_count(1)
    row(page, "bot", "MESSAGE_CREATE").click()
    expect(page.locator("#detail")).to_contain_text('"content": "seen on the workbench"')
    expect(page.locator("#detail")).to_contain_text('"t": "MESSAGE_CREATE"')
    row(page, "alice", "POST").click()
    expect(page.locator("#detail")).to_contain_text("channel:message:create::channel_id")
    expect(page.locator("#detail")).to_contain_text('"content": "seen on the workbench"')
    expect(row(page, "IDENTIFY", "→").first).to_be_visible()

    page.get_by_placeholder("Filter").fill("message_create bob")
    expect(page.locator(".entry:visible")).to_have_count(1)
    page.get_by_placeholder("Filter").fill("")
    page.locator("#filter-kind").select_option("request")
    expect(row(page, "MESSAGE_CREATE")).to_have_count(0)
    page.locator("#filter-kind").select_option("")
    session = page.locator("#filter-session option").filter(has_text="bot").first.get_attribute("value")
    page.locator("#filter-session").select_option(session)
    expect(row(page, "bob")).to_have_count(0)
    expect(row(page, "bot", "MESSAGE_CREATE")).to_have_count(1)


def test_pausing_and_clearing(page: Page, home: Instance) -> None:
    page.get_by_role("button", name="Pause").click()
    send(home, "while it is paused")
    expect(page.locator("#traffic-count")).to_contain_text("paused, 3 more")
    expect(row(page, "MESSAGE_CREATE")).to_have_count(0)
    page.locator("#traffic-pause").click()
    expect(row(page, "MESSAGE_CREATE")).to_have_count(2)
    page.get_by_role("button", name="Clear").click()
    expect(page.locator(".entry:visible")).to_have_count(0)
    send(home, "after it was cleared")
    expect(row(page, "MESSAGE_CREATE")).to_have_count(2)


def test_a_long_list_has_few_elements_and_is_gone_through_by_keys(page: Page, home: Instance) -> None:
    for number in range(120):
        send(home, f"number {number}")
    expect(page.locator("#traffic-count")).to_contain_text("3")
    page.wait_for_function("() => document.querySelector('.rows-space').offsetHeight > 360 * 28")
    page.wait_for_function("() => document.querySelectorAll('.entry').length < 60")
    rows = page.locator("#traffic-list")
    rows.focus()
    rows.press("End")
    expect(page.locator(".entry[aria-selected='true']")).to_be_in_viewport()
    rows.press("Home")
    selected = page.locator(".entry[aria-selected='true']")
    expect(selected).to_have_attribute("aria-posinset", "1")
    for key, position in (("ArrowDown", "2"), ("ArrowDown", "3"), ("ArrowUp", "2")):
        rows.press(key)
        expect(selected).to_have_attribute("aria-posinset", position)
    rows.press("PageDown")
    expect(selected).to_be_in_viewport()
    page.wait_for_function(IS_ACTIVE)
    rows.press("Escape")
    expect(selected).to_have_count(0)


def test_what_happened_is_copied_as_a_test(page: Page, home: Instance) -> None:
    page.get_by_role("button", name="Record a test").click()
    expect(page.locator("#traffic-count")).to_contain_text("recording")
    send(home, "recorded")
    expect(row(page, "bob", "MESSAGE_CREATE")).to_have_count(1)
    page.get_by_role("button", name="Stop and copy the test").click()
    expect(page.locator("#detail")).to_contain_text("async def test_what_happened(chat_world, autojump_clock):")
    source = page.evaluate("window.copied")
    assert '{"content": "recorded"}' in source
    assert "bob = await chat_world.bob.connect()" in source
    compile(source, "recorded.py", "exec")
    page.get_by_role("button", name="Copy as test").click()
    said(page, "Copied.")
    page.wait_for_function("() => window.copied.includes('async def test_what_happened')")


def test_sessions_and_faults(page: Page, home: Instance, bots: Bots) -> None:
    goes_to(page, "faults")
    expect(page.locator("#sessions tbody tr")).to_have_count(2)
    page.locator("#sessions tbody tr").filter(has_text="bob").get_by_role("button", name="Choose").click()
    page.locator("#fault-code").fill("4123")
    page.get_by_role("button", name="Close with the code").click()
    said(page, "Done, to 1 of them.")
    while not bots.closed:
        time.sleep(0.05)
    assert bots.closed == [4123]
    page.locator("#fault-target").select_option("all")
    for button in ("Delay every frame", "Stall for so long", "Ask to reconnect", "Cut the connection"):
        page.get_by_role("button", name=button).click()
        said(page, "Done, to")
    page.get_by_role("button", name="End the session").click()
    expect(page.locator("#sessions tbody tr")).to_have_count(0)
    expect(page.locator("#no-sessions")).to_be_visible()
    page.get_by_role("button", name="Invalid session").click()
    said(page, "Done, to 0 of them.")

    page.locator("#http-status").fill("418")
    page.locator("#http-path").fill("/v1/users/@me")
    page.get_by_role("button", name="Refuse the next requests").click()
    said(page, "The next requests of this kind are refused.")
    goes_to(page, "send")
    page.get_by_role("button", name="Send request").click()
    expect(page.locator("#answer-status")).to_have_text("418 GET /v1/users/@me")
    goes_to(page, "faults")
    page.locator("#http-status").fill("200")
    page.get_by_role("button", name="Refuse the next requests").click()
    said(page, "status")
    page.get_by_label("Starts are held").check()
    until(page, lambda: home.call("POST", "/v1/_dev/gateway", {})["starts_paused"])
    page.get_by_label("Starts are held").uncheck()


def test_the_clock(page: Page, home: Instance) -> None:
    page.get_by_role("button", name="+1 h").click()
    expect(page.locator("#clock-offset")).to_have_text("1 h ahead")
    page.get_by_role("button", name="Stop time").click()
    expect(page.locator("#clock-offset")).to_contain_text("stands still")
    assert home.call("GET", "/v1/_dev/clock")["paused"] is True
    before = home.call("GET", "/v1/_dev/clock")["offset_ms"]
    page.get_by_role("button", name="Next timer").click()
    page.wait_for_function(
        "async before => (await (await fetch('/v1/_dev/clock')).json()).offset_ms > before", arg=before
    )
    page.get_by_role("button", name="Let time go on").click()
    expect(page.get_by_role("button", name="Stop time")).to_be_visible()
    assert home.call("GET", "/v1/_dev/clock")["paused"] is False


def test_limits(page: Page, home: Instance) -> None:
    goes_to(page, "limits")
    page.locator("#limits-name").fill("channel:message:creat")
    page.get_by_role("button", name="Set the limit").click()
    said(page, "channel:message:create::channel_id")
    page.locator("#limits-name").fill("channel:message:create::channel_id")
    page.locator("#limits-limit").fill("1")
    page.get_by_role("button", name="Set the limit").click()
    expect(page.locator("#limits-list tbody tr")).to_have_count(1)
    goes_to(page, "send")
    for expected in ("200", "429"):
        page.locator("#message-text").fill("counted")
        page.get_by_role("button", name="Send message").click()
        expect(page.locator("#answer-status")).to_contain_text(f"{expected} POST")
    goes_to(page, "limits")
    page.get_by_role("button", name="As before").click()
    expect(page.locator("#no-limits")).to_be_visible()
    page.get_by_label("Count in all buckets").check()
    expect(page.locator("#limits-list tbody tr").nth(20)).to_be_attached()
    page.get_by_label("Count in all buckets").uncheck()
    page.get_by_label("Budgets of the gateway").check()
    page.wait_for_function("async () => (await (await fetch('/v1/_dev/limits')).json()).gateway")
    page.get_by_label("Budgets of the gateway").uncheck()


def test_mail(page: Page, home: Instance) -> None:
    goes_to(page, "mail")
    expect(page.locator("#no-mail")).to_be_visible()
    body = {"email": "bob@example.com"}
    home.call("POST", "/v1/auth/forgot", body)
    letter = page.locator("article.letter")
    expect(letter).to_have_count(1)
    expect(letter).to_contain_text("bob@example.com")
    letter.get_by_role("button").click()
    said(page, "Copied.")
    page.wait_for_function("wanted => window.copied === wanted", arg=home.call("GET", "/v1/_dev/mail")[0]["token"])
    page.get_by_role("button", name="Forget all mail").click()
    expect(page.locator("#no-mail")).to_be_visible()


def test_the_world(page: Page, home: Instance) -> None:
    goes_to(page, "world")
    bob = home.person("bob")
    line = page.locator("#accounts tbody tr").filter(has_text="bob@example.com")
    line.get_by_role("button").nth(1).click()
    said(page, "Copied.")
    page.wait_for_function("wanted => window.copied === wanted", arg=bob["token"])
    send(home, "kept in the snapshot")
    page.locator("#snapshot-name").fill("before")
    page.get_by_role("button", name="Take").click()
    said(page, "The world is kept as before.")
    page.get_by_role("button", name="Reset the world").click()
    page.get_by_role("button", name="Press again to reset").click()
    said(page, "The world is as it was at the beginning.")
    path = f"/v1/channels/{home.world['channel_id']}/messages"
    assert home.call("GET", path, None, bob["token"]) == []
    page.get_by_role("button", name="Go back").click()
    said(page, "The world is as it was in before.")
    assert [message["content"] for message in home.call("GET", path, None, bob["token"])] == ["kept in the snapshot"]
    page.get_by_role("button", name="Delete before").click()
    expect(page.locator("#snapshots li")).to_have_count(0)
    page.locator("#crowd-members").fill("30")
    page.get_by_role("button", name="Make it").click()
    said(page, "1 guild is there")


def test_sending_as_anybody(page: Page, home: Instance) -> None:
    goes_to(page, "send")
    page.locator("#message-as").select_option(home.person("carol")["id"])
    page.locator("#message-text").fill("from carol")
    page.get_by_role("button", name="Send message").click()
    expect(page.locator("#answer")).to_contain_text('"username": "carol"')
    page.locator("#request-as").select_option(home.world["bot"]["user_id"])
    page.locator("#request-method").select_option("PATCH")
    page.locator("#request-body").fill("{nonsense")
    page.get_by_role("button", name="Send request").click()
    said(page, "The body is no JSON")
    page.locator("#request-body").fill(json.dumps({"bio": "made on the workbench"}))
    page.get_by_role("button", name="Send request").click()
    expect(page.locator("#answer-status")).to_have_text("200 PATCH /v1/users/@me")
    expect(page.locator("#answer")).to_contain_text("made on the workbench")
    goes_to(page, "traffic")
    expect(row(page, "bot", "PATCH")).to_have_count(1)


def test_commands_are_invoked_as_anybody(page: Page, home: Instance) -> None:
    bot = home.world["bot"]
    options = [
        {"type": 3, "name": "what", "description": "A plant", "required": True},
        {"type": 4, "name": "count", "description": "How many"},
        {"type": 5, "name": "now", "description": "At once"},
    ]
    plant = {"type": 1, "name": "plant", "description": "Plants.", "options": options}
    commands = [{"name": "garden", "description": "Grows.", "options": [plant]}, {"name": "Look", "type": 2}]
    goes_to(page, "commands")
    expect(page.get_by_text("Nothing can be invoked here.")).to_be_visible()
    home.call("PUT", f"/v1/applications/{bot['application_id']}/commands", commands, f"Bot {bot['token']}")
    page.locator("#command-as").select_option(label="bob")
    page.locator("#command-name").select_option(label="/garden plant")
    page.get_by_label("what: A plant").fill("<b>kale")
    page.get_by_label("count: How many").fill("3")
    page.get_by_label("now: At once").select_option("true")
    page.get_by_role("button", name="Invoke").click()
    said(page, "/garden plant is invoked.")
    letter = page.locator("#interactions article")
    expect(letter).to_contain_text("bob · command · waits,")
    [told] = home.call("GET", "/v1/_dev/interactions")
    assert (told["name"], told["user_id"], told["answers"]) == ("garden", home.person("bob")["id"], [])

    # The bot answers by the token that stands there; then its time goes on.
    body = {"type": 4, "data": {"content": "<b>grown"}}
    home.call("POST", f"/v1/interactions/{told['id']}/{told['token']}/callback", body)
    expect(letter).to_contain_text("answered with type 4 · the token holds for")
    expect(letter).to_contain_text('"content": "<b>grown"')
    expect(letter.locator("b")).to_have_count(0)
    letter.get_by_role("button", name="Copy").last.click()
    page.wait_for_function("wanted => window.copied === wanted", arg=told["token"])

    # One that nobody answers, and one that is refused.
    page.locator("#command-name").select_option(label="Look")
    page.get_by_label("Id of the person").fill("1")
    page.get_by_role("button", name="Invoke").click()
    said(page, "data.target_id")
    page.get_by_label("Id of the person").fill(home.person("carol")["id"])
    page.get_by_role("button", name="Invoke").click()
    expect(letter).to_have_count(2)
    home.pass_time(4)
    expect(letter.first).to_contain_text("not answered in time")


@pytest.mark.parametrize("window", WINDOWS)
def test_it_is_accessible_and_fits(bots: Bots, visit: MakeVisitor, home: Instance, window: str) -> None:
    visitor = visit(**WINDOWS[window])
    send(home, "to be looked at")
    home.call("POST", "/v1/auth/forgot", {"email": "bob@example.com"})
    home.call("PUT", "/v1/_dev/snapshots/shown")
    limit = {"buckets": {"channel:message:create::channel_id": {"limit": 5}}}
    home.call("POST", "/v1/_dev/limits", limit)
    visitor.goes_to("/dev")
    for place in PLACES:
        goes_to(visitor.page, place)
        if place == "traffic":
            row(visitor.page, "bob", "MESSAGE_CREATE").first.click()
            expect(visitor.page.locator("#detail")).to_contain_text("to be looked at")
        visitor.page.wait_for_timeout(200)
        visitor.page_is_accessible()
        visitor.page_fits()
    home.call("DELETE", "/v1/_dev/snapshots/shown")
