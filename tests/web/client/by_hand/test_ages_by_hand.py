"""For how long messages are kept: chosen for a community and for a channel, and told to whoever reads there."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.web.browsing import Instance
from tests.web.client.by_hand.test_first_minutes import Place
from tests.web.client.test_shell import DESK, THREADS, Member
from tests.web.conftest import MakeVisitor


def test_an_age_is_chosen_and_members_are_told(visit: MakeVisitor, home: Instance) -> None:
    place = Place(home)
    alice: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    bob: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    bob.enters_as("bob", place.path)
    told = bob.page.get_by_role("img", name="Messages are deleted after")
    bob.page.locator("textarea.composer-field").wait_for()
    expect(told).to_have_count(0)

    alice.enters_as("alice", f"/channels/{place.guild_id}/settings")
    alice.page.get_by_label("Messages are kept").select_option("30 days")
    alice.button("Save").click()
    expect(told).to_have_attribute("title", "Messages are deleted after 30 days.")
    # What a channel says counts more than what its community says.
    alice.page.goto(f"/channels/{place.guild_id}/settings/channels")
    alice.page.locator(".role-list").get_by_role("button", name="general", exact=True).click()
    kept = alice.page.get_by_label("Messages are kept")
    expect(kept.locator("option:checked")).to_have_text("As this community says")
    kept.select_option("For ever")
    alice.button("Save").click()
    expect(told).to_have_count(0)
    alice.page.goto(f"/channels/{place.guild_id}/settings/audit_log")
    expect(alice.page.locator("main, body").first).to_contain_text("Messages are kept")
    age = f"/v1/channels/{place.channel_id}"
    home.call("PATCH", age, {"message_retention_days": 1}, place.alice["token"])
    expect(told).to_have_attribute("title", "Messages are deleted after 1 day.")
    # A thread has the age of its channel, also while it is open.
    thread = home.call("POST", f"{age}/threads", {"name": "beds", "type": 11}, place.alice["token"], **THREADS)
    bob.page.goto(f"/channels/{place.guild_id}/{thread['id']}")
    in_thread = bob.page.locator("#talk").get_by_role("img", name="Messages are deleted after")
    expect(in_thread.last).to_have_attribute("title", "Messages are deleted after 1 day.")
    home.call("PATCH", age, {"message_retention_days": 45}, place.alice["token"])
    expect(bob.page.get_by_role("img", name="Messages are deleted after 1 day")).to_have_count(0)
    expect(in_thread.last).to_have_attribute("title", "Messages are deleted after 45 days.")
