"""The manual in Chromium: every page in four windows, the search, code that is copied, a request that is tried."""

from __future__ import annotations

from typing import Any, Final

import pytest
from playwright.sync_api import Route, expect

from chat.manual.opening import open_manual
from chat.web.manual import address_of
from tests.web.browsing import Instance
from tests.web.conftest import MakeVisitor

WINDOWS: Final[dict[str, dict[str, Any]]] = {
    "light": {"color_scheme": "light", "viewport": {"width": 1280, "height": 900}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1280, "height": 900}},
    "small": {"color_scheme": "light", "viewport": {"width": 360, "height": 740}},
    "small and dark": {"color_scheme": "dark", "viewport": {"width": 360, "height": 740}},
}

RULES: Final[dict[str, tuple[str, ...]]] = {
    "dark": ("color-contrast",),
    "small": ("target-size",),
    "small and dark": ("color-contrast",),
}
"""What is looked at besides the light and wide window, where everything is."""

NAMES: Final = list(open_manual().sources)
SAMPLE: Final = ("index", "first-hour", "settings", "api-instance", "gateway-states")
"""Prose, code, tables, an operation and links: what colours and small windows change is the same on all pages."""

LONG: Final = ("api-", "gateway-", "commands", "permissions", "values")
"""Long pages that are made by one hand: axe looks at those of the sample."""


@pytest.mark.parametrize("window", WINDOWS)
def test_every_page_is_accessible_and_fits(visit: MakeVisitor, window: str) -> None:
    visitor = visit(**WINDOWS[window])
    everything = window in {"light", "small"}
    for name in NAMES if everything else SAMPLE:
        visitor.goes_to(address_of(name))
        visitor.page.locator("h1:visible").wait_for()
        visitor.page_fits()
        if name in SAMPLE or (window == "light" and not name.startswith(LONG)):
            visitor.page_is_accessible(*RULES.get(window, ()))


def test_the_search_finds_a_setting_and_leads_to_it(visit: MakeVisitor) -> None:
    visitor = visit()
    visitor.goes_to("/docs")
    visitor.page.wait_for_load_state()
    visitor.page.keyboard.press("/")
    visitor.page.get_by_role("searchbox").fill("trusted_proxies")
    hit = visitor.page.locator("#manual-hits a").first
    hit.wait_for()
    visitor.page_is_accessible()
    leads_to = str(hit.get_attribute("href"))
    visitor.page.keyboard.press("ArrowDown")
    visitor.page.keyboard.press("Enter")
    visitor.page.wait_for_url(lambda url: url.endswith(leads_to))
    expect(visitor.page.locator(".manual-text")).to_contain_text("trusted_proxies")
    visitor.goes_to("/docs")
    visitor.page.get_by_role("searchbox").fill("zzyzx")
    visitor.is_told("Nothing is found.")
    visitor.page.keyboard.press("Escape")
    visitor.page.locator("#manual-found").wait_for(state="hidden")


def test_a_search_is_followed_by_keys_however_late_it_comes(visit: MakeVisitor) -> None:
    visitor = visit(viewport={"width": 360, "height": 740}, service_worker=False)
    visitor.goes_to("/docs")
    page, held = visitor.page, list[Route]()
    visitor.intercepts("**/docs/index.json*", lambda route: held.append(route))
    page.wait_for_load_state()
    with page.expect_request("**/docs/index.json*"):
        page.get_by_role("searchbox").focus()
    page.keyboard.type("trusted_proxies")
    page.keyboard.press("Enter")
    held[0].continue_()
    page.unroute("**/docs/index.json*")
    page.wait_for_url(lambda url: not url.endswith("/docs"))
    expect(page.locator(".manual-text")).to_contain_text("trusted_proxies")

    # The list goes when Tab leaves it for what it would cover.
    page.get_by_role("searchbox").fill("trusted_proxies")
    page.locator("#manual-hits a").last.focus()
    page.keyboard.press("Tab")
    expect(page.locator("#manual-contents > summary")).to_be_focused()
    expect(page.locator("#manual-found")).to_be_hidden()


def test_code_is_copied(visit: MakeVisitor) -> None:
    visitor = visit(permissions=["clipboard-read", "clipboard-write"])
    visitor.goes_to("/docs/first-hour")
    code = visitor.page.locator("pre.code").first.text_content()
    visitor.page.locator(".code-frame button").first.click()
    visitor.page.get_by_role("button", name="Copied").wait_for()
    expect(visitor.page.locator(".code-frame button").first).to_have_text("Copied")
    assert code
    visitor.page.evaluate("() => void (navigator.clipboard.writeText = () => Promise.reject(new Error('denied')))")
    visitor.page.locator(".code-frame button").last.click()
    visitor.page.get_by_role("button", name="The browser did not allow it").wait_for()


def test_a_request_is_tried_with_an_account_of_the_world(visit: MakeVisitor, home: Instance) -> None:
    visitor = visit()
    visitor.goes_to("/docs/api-messages#post-v1-channels-channel-id-messages")
    visitor.page.wait_for_load_state()
    heading = visitor.page.locator("h2#post-v1-channels-channel-id-messages")
    heading.locator("xpath=following-sibling::button[1]").click()
    form = visitor.page.get_by_role("form", name="POST /v1/channels/{channel_id}/messages", exact=True)
    form.get_by_label("channel_id").fill(home.world["channel_id"])
    form.get_by_label("Body").fill('{"content": "tried in the manual"}')
    form.get_by_label("Account of the world").select_option("bob")
    visitor.page_is_accessible()
    form.get_by_role("button", name="Send").click()
    answer = form.get_by_role("status")
    answer.filter(has_text="200 ").wait_for()
    expect(answer).to_contain_text('"content": "tried in the manual"')
    assert home.person("bob")["token"] not in "".join(visitor.addresses)
    stored = visitor.page.evaluate("JSON.stringify({...localStorage, ...sessionStorage})")
    assert home.person("bob")["token"] not in stored
