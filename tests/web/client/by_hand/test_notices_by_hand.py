"""Notifications while tabs are open in the background, by hand: one tab of several speaks, what is read is not told,
quiet hours, sounds and words of one's own. Area: the web client as a whole."""

from __future__ import annotations

import functools
from typing import Any, Final

import pytest
from playwright.sync_api import Page, expect

from tests.web.browsing import Instance, until
from tests.web.client.test_shell import DESK, Member
from tests.web.client.test_tabs import place, says
from tests.web.conftest import MakeVisitor

__all__ = ["place"]

pytestmark = pytest.mark.whole_browser

WATCHED: Final = """
    window.tones = 0;
    window.isFocused = false;
    Document.prototype.hasFocus = () => window.isFocused;
    const made = AudioContext.prototype.createOscillator;
    AudioContext.prototype.createOscillator = function () {
        window.tones += 1;
        return made.call(this);
    };
"""
"""Every page of a driven browser has the focus, so the test says which one has it. Sounds are counted by tones."""

SHOWN: Final = """async () => {
    const registration = await navigator.serviceWorker.ready;
    return (await registration.getNotifications()).map(({ title, body, tag }) => ({ title, body, tag }));
}"""
CLOSE_ALL: Final = "async () => (await (await navigator.serviceWorker.ready).getNotifications()).map((n) => n.close())"
WAITS_MS: Final = 20_000


def shown(page: Page) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = page.evaluate(SHOWN)
    return found


def shows(page: Page, count: int) -> None:
    """Wait until there are `count` notifications."""
    until(page, lambda: len(shown(page)) == count)


def tones(*pages: Page) -> int:
    return sum(int(page.evaluate("() => window.tones")) for page in pages)


def hears(home: Instance, place: str, text: str, *pages: Page) -> None:
    """Wait until bob's words are on every page that shows the channel, and every tab had its time to speak."""
    says(home, place, text)
    for page in pages:
        expect(page.get_by_role("article").filter(has_text=text)).to_have_count(1, timeout=WAITS_MS)
        page.wait_for_timeout(600)


def test_tabs_in_the_background_tell_of_messages(visit: MakeVisitor, place: str, home: Instance) -> None:
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    member.context.grant_permissions(["notifications"])
    member.context.add_init_script(WATCHED)
    first = member.page
    member.enters_as("alice", place)
    second = member.context.new_page()
    member.watch(second)
    second.goto(place)
    second.locator(".app.ready").wait_for(state="attached")
    first.evaluate("() => navigator.serviceWorker.ready")

    # Nobody looks: one tab speaks.
    hears(home, place, "anybody there?", first, second)
    channel_id = place.rsplit("/", 1)[1]
    told = [{"title": "Bob (#general, Two tabs)", "body": "anybody there?", "tag": channel_id}]
    until(first, lambda: shown(first) == told)
    until(first, lambda: tones(first, second) == 2)

    # What is read in one of them is told by none.
    second.evaluate("() => { window.isFocused = true; window.dispatchEvent(new Event('focus')); }")
    hears(home, place, "you are here", first, second)
    assert tones(first, second) == 2
    second.mouse.move(300, 300)  # who only has the tab open has read nothing
    second.mouse.move(310, 310)
    shows(first, 0)  # it was read

    # Elsewhere in the client a sound is enough.
    second.goto("/channels/@me/friends")
    second.locator(".app.ready").wait_for(state="attached")
    second.evaluate("() => { window.isFocused = true; }")
    heard_before = tones(first, second)
    hears(home, place, "you are there", first)
    second.wait_for_timeout(600)
    until(first, lambda: tones(first, second) == heard_before + 2)
    assert shown(first) == []

    # The settings: another sound, quiet hours, words.
    second.goto("/channels/@me/settings/notifications")
    page = second
    card = page.get_by_role("region", name="While a tab is open")
    expect(card.get_by_role("switch", name="Show notifications")).to_be_checked()
    card.get_by_role("combobox", name="Sound").select_option("Knock")
    page.wait_for_function("() => window.tones === 2")
    member_page, member.page = member.page, page
    member.page_is_accessible()
    member.page = member_page
    card.get_by_role("switch", name="Quiet hours").check()
    card.get_by_label("From").fill("00:00")
    card.get_by_label("Until").fill("23:59")
    asks = functools.partial(home.call, "GET", "/v1/users/@me/settings", None, home.person("alice")["token"])
    until(page, lambda: (asks()["quiet_hours"]["start"], asks()["quiet_hours"]["end"]) == ("00:00", "23:59"))
    heard_before = tones(first, page)
    hears(home, place, "in the quiet", first)
    assert (shown(first), tones(first, page)) == ([], heard_before)
    card.get_by_role("switch", name="Quiet hours").uncheck()
    until(page, lambda: asks()["quiet_hours"] is None)
    words = page.get_by_role("region", name="Words that notify me")
    words.get_by_role("textbox").fill("seeds\nTomato ")
    words.get_by_role("button", name="Save").click()
    expect(words.get_by_role("textbox")).to_have_value("seeds\nTomato")
    guild_id = place.split("/")[2]
    alice = home.person("alice")["token"]
    home.call("PATCH", f"/v1/users/@me/guilds/{guild_id}/settings", {"message_notifications": 1}, alice)
    page.close()
    hears(home, place, "nothing about gardens", first)
    assert shown(first) == []
    hears(home, place, "who has TOMATO plants?", first)
    shows(first, 1)
    assert shown(first)[0]["body"] == "who has TOMATO plants?"

    # Of one person alone: never, then always. Every tab knows, and the other devices do.
    first.evaluate(CLOSE_ALL)
    kept = functools.partial(home.call, "GET", "/v1/users/@me/settings", None, alice)
    bob_id = home.person("bob")["id"]
    for choice, level in (("Nothing", 2), ("All messages", 0)):
        first.locator("button.member").filter(has_text="Bob").click(button="right")
        first.get_by_role("menuitem", name="Notifications").click()
        menu = first.get_by_role("menu", name="Tell me of messages by Bob")
        expect(menu.get_by_role("menuitemradio")).to_have_text(["As everywhere else", "All messages", "Nothing"])
        expect(menu.get_by_role("menuitemradio", checked=True)).to_have_count(1)
        menu.get_by_role("menuitemradio", name=choice).click()
        until(first, lambda level=level: kept()["person_notifications"] == {bob_id: level})
        heard_before = tones(first)
        hears(home, place, f"a tomato, {level}", first)
        if level == 0:
            hears(home, place, "nothing that concerns her", first)
            shows(first, 1)
            assert shown(first)[0]["body"] == "nothing that concerns her"
        else:
            assert (shown(first), tones(first)) == ([], heard_before)

    # Who does not want to be disturbed is not.
    first.evaluate(CLOSE_ALL)
    home.call("PATCH", "/v1/users/@me/settings", {"status": "dnd"}, alice)
    hears(home, place, "tomato again", first)
    assert shown(first) == []
    home.call("PATCH", "/v1/users/@me/settings", {"status": "online"}, alice)
