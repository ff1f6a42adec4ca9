"""The tabs of a browser share one connection to the gateway: what one is told, all know; when the leading tab closes or
hangs, another goes on with its session. Area: the web client as a whole."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest
from playwright.sync_api import Page, WebSocket, expect

from tests.web.browsing import Instance
from tests.web.client.test_shell import DESK, Member
from tests.web.conftest import MakeVisitor

IDENTIFY: Final = 2
RESUME: Final = 6


class Tab:
    """One tab of a member, and the connections that it made."""

    def __init__(self, member: Member, page: Page) -> None:
        self.page = page
        self.sockets: list[WebSocket] = []
        self.sent: list[dict[str, Any]] = []
        if page is not member.page:
            member.watch(page)
        page.on("websocket", self._made)

    def _made(self, socket: WebSocket) -> None:
        self.sockets.append(socket)
        socket.on("framesent", lambda frame: self.sent.append(json.loads(frame)))

    def opcodes(self) -> list[int]:
        """Those that begin a session or go on with one."""
        return [payload["op"] for payload in self.sent if payload["op"] in (IDENTIFY, RESUME)]

    def opens(self, path: str) -> None:
        self.page.goto(path)
        self.page.locator(".app.ready").wait_for(state="attached")

    def shows(self, text: str) -> None:
        expect(self.page.get_by_role("article").filter(has_text=text)).to_have_count(1)


@pytest.fixture
def place(home: Instance) -> str:
    """A channel of a new guild, with bob in it."""
    alice, bob = home.person("alice"), home.person("bob")
    guild = home.call("POST", "/v1/guilds", {"name": "Two tabs"}, alice["token"])
    channels = home.call("GET", f"/v1/guilds/{guild['id']}/channels", token=alice["token"])
    channel = next(one for one in channels if one["type"] == 0)
    invite = home.call("POST", f"/v1/channels/{channel['id']}/invites", {}, alice["token"])
    home.call("POST", f"/v1/invites/{invite['code']}", {}, bob["token"])
    return f"/channels/{guild['id']}/{channel['id']}"


def two_tabs(visit: MakeVisitor, place: str) -> tuple[Member, Tab, Tab]:
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    first = Tab(member, member.page)
    member.enters_as("alice", place)
    second = Tab(member, member.context.new_page())
    second.opens(place)
    return member, first, second


def says(home: Instance, place: str, text: str) -> None:
    """What bob says there."""
    home.call(
        "POST", f"/v1/channels/{place.rsplit('/', 1)[1]}/messages", {"content": text}, home.person("bob")["token"]
    )


def test_two_tabs_have_one_connection_and_know_the_same(visit: MakeVisitor, place: str, home: Instance) -> None:
    _member, first, second = two_tabs(visit, place)
    assert first.opcodes() == [IDENTIFY]
    says(home, place, "one for both")
    for tab in (first, second):
        tab.shows("one for both")
        tab.page.get_by_role("complementary").get_by_text("bob").wait_for()
    # What is written in the tab that follows is in both, once.
    box = second.page.get_by_role("textbox", name="Message")
    box.fill("from the second tab")
    box.press("Enter")
    for tab in (first, second):
        tab.shows("from the second tab")
    assert second.sockets == []


def test_the_tab_that_is_left_goes_on_with_the_session(visit: MakeVisitor, place: str, home: Instance) -> None:
    _member, first, second = two_tabs(visit, place)
    says(home, place, "before")
    second.shows("before")
    first.page.close()
    says(home, place, "in between")
    second.shows("in between")
    says(home, place, "after")
    second.shows("after")
    assert second.opcodes() == [RESUME]


def test_a_leader_that_hangs_loses_the_connection(visit: MakeVisitor, place: str, home: Instance) -> None:
    member, first, second = two_tabs(visit, place)
    freezing = member.context.new_cdp_session(first.page)
    freezing.send("Debugger.enable")
    freezing.send("Debugger.pause")  # at the next dispatch
    says(home, place, "while it hangs")
    second.page.evaluate("() => window.dispatchEvent(new Event('focus'))")
    second.shows("while it hangs")
    assert second.opcodes() == [RESUME]


def test_signing_out_ends_every_tab(visit: MakeVisitor, place: str) -> None:
    _member, first, second = two_tabs(visit, place)
    second.page.evaluate("() => localStorage.removeItem('session')")
    first.page.wait_for_url("**/login?**")


def test_a_sign_in_of_one_tab_shares_nothing(visit: MakeVisitor, place: str) -> None:
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    person = member.home.person("alice")
    tabs = [Tab(member, member.page), Tab(member, member.context.new_page())]
    for tab in tabs:
        tab.page.goto("/offline")
        script = "session => sessionStorage.setItem('session', JSON.stringify(session))"
        tab.page.evaluate(script, {"token": person["token"], "name": "alice"})
        tab.opens(place)
        assert tab.opcodes() == [IDENTIFY]
