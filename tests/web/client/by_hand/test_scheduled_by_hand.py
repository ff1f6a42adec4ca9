"""A message that is sent later, by hand: scheduled by a key and by the mouse, changed, sent now, deleted; and the clock
that a person chose. Area: the web client's talk."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.web.browsing import Instance
from tests.web.client.by_hand.test_first_minutes import Place, field_of
from tests.web.client.test_shell import DESK, Member
from tests.web.conftest import MakeVisitor

OWN = "/v1/users/@me/scheduled-messages"


@pytest.fixture
def place(home: Instance) -> Place:
    return Place(home)


def test_a_message_is_scheduled_changed_and_sent(visit: MakeVisitor, place: Place, home: Instance) -> None:
    alice: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    token = place.alice["token"]
    home.call("PATCH", "/v1/users/@me/settings", {"time_format": 1}, token)
    alice.enters_as("alice", place.path)
    page, field = alice.page, field_of(alice)

    # By a key, to the morning; what was written is gone from the field.
    field.press_sequentially("water the beds")
    field.press("Alt+Enter")
    menu = page.get_by_role("menu", name="Send later")
    expect(menu).to_contain_text(re.compile(r"Tomorrow morning: .*9:00\sAM"))
    menu.get_by_role("menuitem", name="Tomorrow morning").click()
    expect(page.get_by_text("It will be sent:")).to_be_visible()
    expect(field).to_have_value("")
    [made] = home.call("GET", OWN, token=token)
    assert (made["payload"]["content"], made["status"]) == ("water the beds", "pending")

    # By the mouse, to a moment of one's own.
    field.press_sequentially("and the roses")
    page.get_by_role("button", name="Send", exact=True).click(button="right")
    menu.get_by_role("menuitem", name="At another time").click()
    dialog = page.get_by_role("dialog", name="Send later")
    dialog.get_by_role("button", name="Send then").click()
    expect(dialog).to_have_count(0)
    expect(field).to_have_value("")

    # The list: changed, sent now, deleted.
    field.press_sequentially("x")
    field.press("Alt+Enter")
    menu.get_by_role("menuitem", name="Scheduled messages").click()
    scheduled = page.get_by_role("dialog", name="Scheduled messages")
    rows = scheduled.get_by_role("listitem")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("and the roses")
    alice.page_is_accessible()
    rows.last.get_by_role("button", name="Edit").click()
    edit = page.get_by_role("dialog", name="Edit")
    edit.get_by_label("Message", exact=True).fill("water all beds")
    edit.get_by_role("button", name="Save").click()
    expect(rows.last).to_contain_text("water all beds")
    rows.last.get_by_role("button", name="Send now").click()
    expect(rows).to_have_count(1)
    rows.first.get_by_role("button", name="Delete").click()
    expect(scheduled.get_by_text("Nothing is scheduled.")).to_be_visible()
    page.keyboard.press("Escape")
    row = page.get_by_role("article").filter(has_text="water all beds")
    expect(row).to_have_count(1)
    expect(field).to_have_value("x")
    alice.until(lambda: home.call("GET", OWN, token=token) == [])

    # The clock of the account is that of every row.
    expect(row.locator("time").first).to_have_text(re.compile(r"\d:\d\d\s[AP]M"))
    page.goto("/channels/@me/settings/language")
    with page.expect_event("load"):  # every moment is said anew
        page.get_by_role("radio", name="24 hours").check()
    page.goto(place.path)
    expect(row.locator("time").first).to_have_text(re.compile(r"^\d\d:\d\d$"))
    home.call("PATCH", "/v1/users/@me/settings", {"time_format": 0}, token)
