"""The service worker in a browser: what is pushed is shown; while the server is away a page says so."""

from __future__ import annotations

import json
from typing import Any

from playwright.sync_api import Page

from tests.web.browsing import WAIT_MS, Visitor, instance
from tests.web.conftest import MakeVisitor

PUSHED = {
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
    page.wait_for_function("navigator.serviceWorker.controller !== null")
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
    assert page.url.endswith("/channels/@me")
    visitor.page_is_accessible()
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

    pushed("no JSON")
    pushed(json.dumps(PUSHED))
    pushed(json.dumps({**PUSHED, "body": "Me!"}))
    pushed(json.dumps({**PUSHED, "data": {**PUSHED["data"], "channel_id": "13"}}))  # type: ignore[dict-item]
    expected = sorted([[PUSHED["title"], "Me!", "12"], [PUSHED["title"], PUSHED["body"], "13"]])
    # Between two of them there are two others for a moment.
    for _ in range(WAIT_MS // 100):
        if sorted(shown()) == expected:
            break
        visitor.page.wait_for_timeout(100)
    assert sorted(shown()) == expected
