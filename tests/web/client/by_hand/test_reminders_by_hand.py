"""Being reminded of a message, by hand: a moment from the message's menu, the list, what is told when it is due, and
what is said of a message that is gone. Area: the web client's talk."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.web.browsing import Instance
from tests.web.client.by_hand.test_first_minutes import Place
from tests.web.client.test_shell import DESK, Member
from tests.web.conftest import MakeVisitor

OWN = "/v1/users/@me/reminders"
HOUR_SECONDS = 3_600
NOTE_NOTICES = """() => {
  window.told = [];
  const look = () => window.told.push(document.querySelector(".notices")?.textContent ?? "");
  new MutationObserver(look).observe(document.body, { childList: true, subtree: true, characterData: true });
}"""
"""A notice goes by itself, on a busy machine before it is looked at."""


@pytest.fixture
def place(home: Instance) -> Place:
    return Place(home)


def test_a_person_is_reminded_of_a_message(visit: MakeVisitor, place: Place, home: Instance) -> None:
    alice: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    token, page = place.alice["token"], alice.page
    channel_id = place.path.rsplit("/", 1)[1]
    path = f"/v1/channels/{channel_id}/messages"
    first, second = [home.call("POST", path, {"content": text}, token)["id"] for text in ("water", "weeds")]
    alice.enters_as("alice", place.path)

    def choose(text: str, item: str) -> None:
        page.get_by_role("article").filter(has_text=text).click(button="right")
        page.get_by_role("menuitem", name="Remind me").click()
        page.get_by_role("menu", name="Remind me").get_by_role("menuitem", name=item).click()

    choose("water", "In 20 minutes")
    expect(page.get_by_text("You will be reminded:")).to_be_visible()
    choose("weeds", "At another time")
    dialog = page.get_by_role("dialog", name="Remind me")
    dialog.get_by_role("button", name="Remind me then").click()
    expect(dialog).to_have_count(0)
    alice.until(lambda: [one["message_id"] for one in home.call("GET", OWN, token=token)] == [first, second])

    # It is due: the person is told where they are, and goes there; the one whose message is gone says so.
    home.call("DELETE", f"{path}/{second}", token=token)
    page.goto("/channels/@me/friends")
    page.locator(".app.ready").wait_for(state="attached")
    page.evaluate(NOTE_NOTICES)
    home.call("POST", "/v1/_dev/clock", {"advance_ms": 2 * HOUR_SECONDS * 1_000})
    for words in ("Reminder: Alice", "The message was deleted."):
        alice.until(lambda words=words: any(words in told for told in page.evaluate("() => window.told")))
    button = page.get_by_role("button", name="Reminders, 2 are due")
    button.click()
    reminders = page.get_by_role("dialog", name="Reminders")
    rows = reminders.get_by_role("listitem")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("Due:")
    expect(rows.first).to_contain_text("Alice: water")
    expect(rows.last).to_contain_text("The message was deleted.")
    expect(rows.last.get_by_role("button", name="Show")).to_have_count(0)
    alice.page_is_accessible()
    rows.last.get_by_role("button", name="Remove").click()
    expect(rows).to_have_count(1)
    expect(page.get_by_role("button", name="Reminders, 1 is due", include_hidden=True)).to_have_count(1)
    rows.first.get_by_role("button", name="Show").click()
    expect(reminders).to_have_count(0)
    expect(page.get_by_role("article").filter(has_text="water")).to_be_visible()

    # What fell due earlier is known to a fresh page.
    page.goto("/channels/@me/friends")
    page.get_by_role("button", name="Reminders, 1 is due").click()
    rows.first.get_by_role("button", name="Remove").click()
    expect(reminders.get_by_text("You have no reminders.")).to_be_visible()
    alice.until(lambda: home.call("GET", OWN, token=token) == [])
