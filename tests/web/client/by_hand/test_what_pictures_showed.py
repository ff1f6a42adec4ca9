"""What was seen when the client was looked at as pictures, on telephones and in other languages: each once more by what
is measured. Area: the web client as a whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import pytest
from playwright.sync_api import Locator, expect

from tests.web.browsing import Instance, each, instance
from tests.web.client.by_hand.test_first_minutes import LONG, Place, field_of
from tests.web.client.test_shell import DESK, PHONE, Member
from tests.web.conftest import MakeVisitor

A_SUNDAY: Final = "2026-11-29T12:00:00Z"

END_IN_SIGHT: Final = """(element) => {
  const text = document.createTreeWalker(element, NodeFilter.SHOW_TEXT).nextNode();
  const box = element.getBoundingClientRect();
  const isSeen = (at) => {
    const range = document.createRange();
    range.setStart(text, at);
    range.setEnd(text, at + 1);
    const { left, right } = range.getBoundingClientRect();
    return left >= box.left - 2 && right <= box.right + 2;
  };
  return [isSeen(0), isSeen(text.data.length - 1)];
}"""
"""Whether the first and the last letter are within the box."""

IS_WHOLE: Final = "(element) => element.scrollWidth <= element.clientWidth"


@pytest.fixture(scope="module")
def home() -> Iterator[Instance]:
    with instance() as running:
        yield running


@pytest.fixture(scope="module")
def place(home: Instance) -> Place:
    """A community with a long name, a channel of announcements, one with a long name, and somebody who has written."""
    place = Place(home)
    token, guild = place.alice["token"], f"/v1/guilds/{place.guild_id}"
    home.call("PATCH", guild, {"name": "Plots & beds of the garden club that lies on both sides of the river"}, token)
    for name, kind in (("news", 5), (LONG, 0)):
        home.call("POST", f"{guild}/channels", {"name": name, "type": kind}, token)
    place.says(place.bob, "hello")
    return place


def path_of(place: Place, name: str) -> str:
    channels = place.home.call("GET", f"/v1/guilds/{place.guild_id}/channels", token=place.alice["token"])
    return f"/channels/{place.guild_id}/{next(one['id'] for one in channels if one['name'] == name)}"


def height(one: Locator) -> float:
    """Of its middle."""
    box = one.bounding_box()
    assert box is not None
    return box["y"] + box["height"] / 2


def test_where_lines_run_from_the_right_long_names_lose_their_end(visit: MakeVisitor, place: Place) -> None:
    alice: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce", locale="ar")
    alice.enters_as("alice", place.path)
    page = alice.page
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    name = page.locator(".channel-link .clip").filter(has_text=LONG)
    name.wait_for()
    assert name.evaluate(END_IN_SIGHT) == [True, False]
    assert page.locator(".side-head h2").evaluate(END_IN_SIGHT) == [True, False]
    short = page.locator(".channel-link .clip").filter(has_text="news")
    icon = page.locator(".channel-link").filter(has_text="news").locator(".icon")
    letter = short.evaluate("""(element) => {
      const range = document.createRange();
      range.selectNodeContents(element);
      return range.getBoundingClientRect().right;
    }""")
    box = icon.bounding_box()
    assert box is not None
    assert 0 <= box["x"] - letter <= 24, "a short name stands beside its sign"
    initials = page.locator(f".rail a[href^='/channels/{place.guild_id}'] .face")
    expect(initials).to_have_css("unicode-bidi", "plaintext")

    # A sign that points along the lines does so in a menu as in a toolbar.
    page.get_by_role("article").filter(has_text="hello").click(button="right")
    page.get_by_role("menu").wait_for()
    turned = page.get_by_role("menu").locator(".icon:has([href$='#reply'], [href$='#forward'])")
    assert {one.evaluate("(icon) => getComputedStyle(icon).scale") for one in each(turned, 2)} == {"-1 1"}


def test_on_a_telephone_names_and_words_have_their_room(visit: MakeVisitor, place: Place) -> None:
    alice: Member = visit(kind=Member, viewport=PHONE, reduced_motion="reduce", locale="en-US")
    page = alice.page
    alice.enters_as("alice", path_of(place, "news"))
    assert page.get_by_role("heading", name="news", level=1).evaluate(IS_WHOLE)
    page.goto("/channels/@me")
    heading = page.get_by_role("heading", name="Conversations")
    heading.wait_for()
    assert heading.evaluate(IS_WHOLE)
    for name in ("Where you were mentioned", "Saved messages", "Reminders"):
        expect(alice.button(name)).to_have_text(name)

    page.goto(f"/channels/{place.guild_id}/settings/members")
    roles = page.get_by_role("button", name=re.compile("^Roles of "))
    profiles = page.get_by_role("button", name=re.compile("^Profile of "))
    for one, other in zip(each(roles, 3), each(profiles, 3), strict=True):
        assert abs(height(one) - height(other)) < 2
    page.goto(f"/channels/{place.guild_id}/settings")
    title = page.locator(".settings-title > p")
    title.wait_for()
    box = title.bounding_box()
    assert box is not None
    assert box["y"] >= 0
    page.goto("/channels/@me/settings/appearance")
    words = page.get_by_text("As this instance", exact=True)
    words.wait_for()
    line = words.evaluate("(element) => element.getBoundingClientRect().height")
    assert line < 2 * words.evaluate("(element) => parseFloat(getComputedStyle(element).fontSize)")


def test_on_a_sunday_no_moment_is_offered_twice(visit: MakeVisitor, place: Place) -> None:
    alice: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce", locale="en-US", timezone_id="Etc/UTC")
    alice.page.clock.set_fixed_time(A_SUNDAY)
    alice.enters_as("alice", place.path)
    menu = alice.page.get_by_role("menu")
    field_of(alice).fill("water the beds")
    field_of(alice).press("Alt+Enter")
    expect(menu.get_by_role("menuitem").filter(has_text="9:00")).to_have_count(1)
    alice.page.keyboard.press("Escape")
    alice.page.get_by_role("article").filter(has_text="hello").click(button="right")
    alice.page.get_by_role("menuitem", name="Remind me").click()
    expect(menu.get_by_role("menuitem").filter(has_text="9:00")).to_have_count(1)
