"""What was typed and not sent goes with the person from one device to the other. Area: the web client's talk."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.web.browsing import Instance
from tests.web.client.by_hand.test_first_minutes import Place, field_of
from tests.web.client.test_shell import DESK, PHONE, Member
from tests.web.conftest import MakeVisitor

OWN = "/v1/users/@me/drafts"


def test_a_draft_is_on_the_other_device_until_it_is_sent(visit: MakeVisitor, home: Instance) -> None:
    place = Place(home)
    token = place.alice["token"]

    def kept() -> list[str]:
        return [draft["content"] for draft in home.call("GET", OWN, token=token)]

    desk: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    desk.enters_as("alice", place.path)
    field_of(desk).press_sequentially("half a thought")
    desk.until(lambda: kept() == ["half a thought"])  # who types slowly has a part of it kept before

    laptop: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    laptop.enters_as("alice", place.path)
    expect(field_of(laptop)).to_have_value("half a thought")
    field_of(laptop).press("End")
    field_of(laptop).press_sequentially(", and the rest")
    laptop.until(lambda: kept() == ["half a thought, and the rest"])
    desk.page.reload()
    expect(field_of(desk)).to_have_value("half a thought, and the rest")
    field_of(desk).press("Enter")
    desk.until(lambda: kept() == [""])
    laptop.page.reload()
    laptop.page.get_by_role("article").filter(has_text="and the rest").wait_for()
    expect(field_of(laptop)).to_have_value("")


def test_a_draft_names_whom_nobody_had_heard_of_when_it_was_opened(visit: MakeVisitor, home: Instance) -> None:
    place = Place(home)
    draft = f"ask <@{place.carol['id']}> and <@1>"
    home.call("PUT", f"{OWN}/{place.channel_id}", {"content": draft}, place.alice["token"])
    phone: Member = visit(kind=Member, viewport=PHONE, reduced_motion="reduce")
    phone.enters_as("alice", place.path)
    expect(field_of(phone)).to_have_value("ask @Carol and <@1>")
    expect(phone.page.locator(".composer-named")).to_have_text(["@Carol"])
    field_of(phone).press("Enter")
    sent = phone.page.locator('article[data-id]:not([data-id=""])')  # as the server has it
    sent.filter(has_text="ask @Carol and").wait_for()
    newest = home.call("GET", f"/v1/channels/{place.channel_id}/messages?limit=1", token=place.alice["token"])
    assert newest[0]["content"] == draft
