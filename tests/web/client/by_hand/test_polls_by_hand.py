"""Polls by hand: asking, voting and taking it back, others' votes as they come, who voted, ending one's own.
Area: the web client's talk."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.web.browsing import Instance, each
from tests.web.client.by_hand.test_first_minutes import Place
from tests.web.client.test_shell import DESK, Member
from tests.web.conftest import MakeVisitor


@pytest.fixture
def place(home: Instance) -> Place:
    return Place(home)


def test_a_poll_is_asked_voted_in_and_ended(visit: MakeVisitor, place: Place, home: Instance) -> None:
    alice: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    page, channel_id = alice.page, place.path.rsplit("/", 1)[1]
    alice.enters_as("alice", place.path)
    page.get_by_role("button", name="Make a poll").click()
    dialog = page.get_by_role("dialog", name="Make a poll")
    dialog.get_by_label("Question").fill("Which tea?")
    dialog.get_by_role("textbox", name="Answer 1").fill("green")
    dialog.get_by_role("button", name="Add an answer").click()
    expect(dialog.get_by_role("textbox", name="Answer 3")).to_be_focused()
    dialog.get_by_role("button", name="Remove answer 3").click()
    expect(dialog.get_by_role("textbox", name="Answer 2")).to_be_focused()
    page.keyboard.type("black")
    dialog.get_by_label("Open for").select_option("4 hours")
    alice.page_is_accessible()
    dialog.get_by_role("button", name="Ask").click()
    expect(dialog).to_have_count(0)

    # By keys: an answer is chosen and given.
    poll = page.get_by_role("group", name="Which tea?")
    poll.get_by_role("button", name="Vote").click()
    expect(page.get_by_text("Choose an answer first.")).to_be_visible()
    poll.get_by_role("radio", name="green").focus()
    page.keyboard.press("ArrowDown")
    expect(poll.get_by_role("radio", name="black")).to_be_checked()
    alice.page_is_accessible()
    poll.get_by_role("button", name="Vote").press("Enter")
    answers = poll.get_by_role("listitem")
    expect(answers.nth(1)).to_contain_text("1 vote")
    expect(answers.nth(1).get_by_role("img", name="Your vote")).to_be_visible()

    # Another's vote comes as it is given, and is listed.
    message = home.call("GET", f"/v1/channels/{channel_id}/messages", token=place.alice["token"])[0]
    of_poll = f"/v1/channels/{channel_id}/polls/{message['id']}"
    home.call("PUT", f"{of_poll}/answers/@me", {"answer_ids": ["1"]}, place.bob["token"])
    expect(answers.first).to_contain_text("1 vote")
    poll.get_by_role("button", name="Who voted").click()
    voters = page.get_by_role("dialog", name="Who voted")
    expect(voters.get_by_role("listitem")).to_contain_text(["Bob"])
    voters.get_by_role("button", name="black").click()
    expect(voters.get_by_role("listitem")).to_contain_text(["Alice"])
    alice.page_is_accessible()
    page.keyboard.press("Escape")
    poll.get_by_role("button", name="Take my vote back").click()
    expect(poll.get_by_role("radio")).to_have_count(2)
    poll.get_by_role("radio", name="green").check()
    poll.get_by_role("button", name="Vote").click()
    expect(answers.first).to_contain_text("2 votes")
    page.reload()
    expect(answers.first.get_by_role("img", name="Your vote")).to_be_visible()

    poll.get_by_role("button", name="End the poll").click()
    page.get_by_role("dialog", name="End this poll now?").get_by_role("button", name="End the poll").click()
    expect(poll).to_contain_text("This poll is over.")
    expect(answers.first.get_by_role("img", name="Your vote")).to_be_visible()
    said = "The poll “Which tea?” by Alice is over: “green” has the most votes."
    expect(page.get_by_role("article").filter(has_text=said)).to_be_visible()
    alice.page_is_accessible()


def test_a_poll_fits_a_telephone_and_takes_several_answers(visit: MakeVisitor, place: Place, home: Instance) -> None:
    channel_id, token = place.path.rsplit("/", 1)[1], place.alice["token"]
    poll = {
        "question": {"text": "<b>Which</b> of these " + "very " * 40 + "long ones?"},
        "answers": [{"poll_media": {"text": "x" * 55}}, {"poll_media": {"text": "y", "emoji": {"name": "🍵"}}}],
        "allow_multiselect": True,
    }
    home.call("POST", f"/v1/channels/{channel_id}/messages", {"poll": poll}, token)
    bob: Member = visit(kind=Member, viewport={"width": 360, "height": 740}, reduced_motion="reduce")
    bob.enters_as("bob", place.path)
    shown = bob.page.get_by_role("group", name="<b>Which</b> of these")
    boxes = shown.get_by_role("checkbox")
    for box in each(boxes, 2):
        box.check()
    bob.page_is_accessible()
    shown.get_by_role("button", name="Vote").click()
    expect(shown.get_by_role("img", name="Your vote")).to_have_count(2)
    expect(shown.get_by_role("button", name="End the poll")).to_have_count(0)
    bob.page_is_accessible()
    bob.page_fits()
