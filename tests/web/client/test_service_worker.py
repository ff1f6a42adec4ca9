"""The service worker in a browser: what is pushed is shown; while the server is away a page says so."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.web.browsing import WAIT_MS, Visitor, instance
from tests.web.conftest import MakeVisitor

pytestmark = pytest.mark.whole_browser

PUSHED: dict[str, Any] = {
    "type": "message_create",
    "title": "Ana (#seeds, Garden club)",
    "body": "Who has tomato seed?",
    "icon": None,
    "data": {"channel_id": "12", "url": "http://localhost/channels/1/12/3"},
}


def ready(page: Page) -> str:
    """Register the worker and wait until it works; the id of the registration."""
    session = page.context.new_cdp_session(page)
    found: list[Any] = []
    session.on("ServiceWorker.workerRegistrationUpdated", lambda told: found.extend(told["registrations"]))
    session.send("ServiceWorker.enable")
    page.evaluate("""async () => {
        await navigator.serviceWorker.register("/service-worker.js");
        await navigator.serviceWorker.ready;
    }""")
    page.wait_for_function("() => navigator.serviceWorker.controller !== null")
    return str(found[-1]["registrationId"])


def test_while_the_server_is_away_a_page_says_so(visit: MakeVisitor) -> None:
    with instance() as home:
        visitor: Visitor = visit(home)
        page = visitor.page
        visitor.goes_to("/login")
        ready(page)
        # As long as the server answers, the answer is its own.
        visitor.goes_to("/register")
        visitor.reads("Make an account")
        kept = page.evaluate("async () => (await (await caches.open('offline')).keys()).map((one) => one.url)")
        assert [address.partition("/offline")[1] for address in kept] == ["/offline"]
    visitor.goes_to_a_bare_client()
    visitor.reads("You are offline")
    expect(page).to_have_url(re.compile("/channels/@me$"))
    visitor.page_is_accessible()
    visitor.leaves()
    visitor.complaints.clear()  # the browser's own words on files that it could not ask for


def test_what_is_pushed_is_shown_once_for_each_channel(visit: MakeVisitor) -> None:
    visitor: Visitor = visit()
    visitor.context.grant_permissions(["notifications"])
    visitor.goes_to("/login")
    registration = ready(visitor.page)
    session = visitor.context.new_cdp_session(visitor.page)
    session.send("ServiceWorker.enable")

    def pushed(data: str) -> None:
        message = {"origin": visitor.home.origin, "registrationId": registration, "data": data}
        session.send("ServiceWorker.deliverPushMessage", message)

    def shown() -> Any:
        return visitor.page.evaluate("""async () => {
            const registration = await navigator.serviceWorker.ready;
            return (await registration.getNotifications()).map(({ title, body, tag }) => [title, body, tag]);
        }""")

    def is_shown_once(data: str, *expected: list[str]) -> None:
        # The browser now and then forgets a notification that it has just shown (the worker was told that it stands).
        # It is pushed again then: by its tag the second takes the place of the first. Both may stand for a moment.
        for _ in range(WAIT_MS // 1_000):
            pushed(data)
            for _ in range(10):
                if sorted(shown()) == sorted(expected):
                    return
                visitor.page.wait_for_timeout(100)
        assert sorted(shown()) == sorted(expected)

    first, second = [PUSHED["title"], PUSHED["body"]], [PUSHED["title"], "Me!"]
    pushed("no JSON")
    is_shown_once(json.dumps(PUSHED), [*first, "12"])
    is_shown_once(json.dumps({**PUSHED, "body": "Me!"}), [*second, "12"])
    elsewhere = {**PUSHED, "data": {"channel_id": "13", "url": "http://localhost/channels/1/13/3"}}
    is_shown_once(json.dumps(elsewhere), [*second, "12"], [*first, "13"])
