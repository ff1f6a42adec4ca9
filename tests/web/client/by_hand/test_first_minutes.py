"""What a new member does in the first ten minutes, by hand: mentions somebody, presses a reaction, reads further up and
answers, looks for friends, leaves something unread. Area: the web client as a whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import pytest
from playwright.sync_api import expect

from tests.web.browsing import Instance, instance
from tests.web.client.test_shell import DESK, PHONE, Member
from tests.web.conftest import MakeVisitor

LONG: Final = "a-channel-with-a-name-that-is-as-long-as-the-server-lets-anybody-make-one-for-whatever-reason"


@pytest.fixture(scope="module")
def home() -> Iterator[Instance]:
    with instance() as running:
        yield running


class Place:
    """A guild of alice's with bob and carol in it, whom no list has told alice's client of."""

    def __init__(self, home: Instance) -> None:
        self.home = home
        self.alice, self.bob, self.carol = (home.person(name) for name in ("alice", "bob", "carol"))
        guild = home.call("POST", "/v1/guilds", {"name": "First minutes"}, self.alice["token"])
        self.guild_id: str = guild["id"]
        channels = home.call("GET", f"/v1/guilds/{self.guild_id}/channels", token=self.alice["token"])
        self.channel_id: str = next(one["id"] for one in channels if one["type"] == 0)
        invite = home.call("POST", f"/v1/channels/{self.channel_id}/invites", {}, self.alice["token"])
        for person in (self.bob, self.carol):
            home.call("POST", f"/v1/invites/{invite['code']}", {}, person["token"])
        self.path = f"/channels/{self.guild_id}/{self.channel_id}"

    def says(self, person: dict[str, Any], content: str) -> str:
        messages = f"/v1/channels/{self.channel_id}/messages"
        return str(self.home.call("POST", messages, {"content": content}, person["token"])["id"])


@pytest.fixture
def place(home: Instance) -> Place:
    return Place(home)


@pytest.fixture
def alice(visit: MakeVisitor, place: Place) -> Member:
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    member.refused = []
    member.page.on("response", lambda answer: member.refused.append(answer.url) if answer.status >= 400 else None)
    return member


def field_of(member: Member) -> Any:
    return member.page.locator("textarea.composer-field")


def test_members_that_no_list_told_of_are_offered_and_mentioned(alice: Member, place: Place) -> None:
    alice.enters_as("alice", place.path)
    field_of(alice).press_sequentially("@car")
    option = alice.page.get_by_role("option").filter(has_text="carol")
    option.wait_for()
    field_of(alice).press("Enter")
    field_of(alice).press("Enter")
    alice.page.locator('article.row[data-id]:not([data-id=""])').filter(has_text="@carol").wait_for()
    newest = place.home.call("GET", f"/v1/channels/{place.channel_id}/messages?limit=1", token=place.alice["token"])
    assert [one["username"] for one in newest[0]["mentions"]] == ["carol"]


def test_authors_have_their_nicks_and_the_colours_of_their_roles(alice: Member, place: Place) -> None:
    call, token = place.home.call, place.alice["token"]
    role = call("POST", f"/v1/guilds/{place.guild_id}/roles", {"name": "gardener", "color": 0x2E7D32}, token)
    member = f"/v1/guilds/{place.guild_id}/members/{place.bob['id']}"
    call("PATCH", member, {"nick": "Bobby of the beds", "roles": [role["id"]]}, token)
    place.says(place.bob, "hello from the beds")
    place.says(place.alice, f"hello <@{place.bob['id']}>")
    alice.enters_as("alice", place.path)
    row = alice.page.get_by_role("article").filter(has_text="hello from the beds")
    expect(row.locator(".author")).to_have_text("Bobby of the beds")
    expect(row.locator(".author")).to_have_css("--role", "#2e7d32")
    expect(alice.page.get_by_role("article").filter(has_text="@Bobby of the beds")).to_have_count(1)


def test_a_press_on_a_reaction_adds_ones_own_and_the_next_takes_it_back(alice: Member, place: Place) -> None:
    message = place.says(place.bob, "who likes soup?")
    place.home.call(
        "PUT",
        f"/v1/channels/{place.channel_id}/messages/{message}/reactions/%F0%9F%8D%B2/@me",
        None,
        place.bob["token"],
    )
    alice.enters_as("alice", place.path)
    reaction = alice.page.locator("button.reaction:not(.add)")
    expect(reaction).to_have_attribute("aria-pressed", "false")
    reaction.click()
    expect(reaction).to_have_attribute("aria-pressed", "true")
    expect(reaction.locator(".count")).to_have_text("2")
    reaction.click()
    expect(reaction).to_have_attribute("aria-pressed", "false")
    expect(reaction.locator(".count")).to_have_text("1")
    assert alice.refused == []


def test_what_one_sends_while_scrolled_up_is_in_sight(alice: Member, place: Place) -> None:
    for number in range(60):
        place.says(place.bob, f"row {number} of the beds\nwith a second line")
    alice.enters_as("alice", place.path)
    alice.page.get_by_role("article").filter(has_text="row 59").wait_for()
    alice.page.mouse.move(700, 400)
    alice.page.mouse.wheel(0, -2500)
    expect(alice.page.get_by_role("article").filter(has_text="row 59")).not_to_be_in_viewport()
    field_of(alice).fill("I read all of it")
    field_of(alice).press("Enter")
    expect(alice.page.get_by_role("article").filter(has_text="I read all of it")).to_be_in_viewport()


def test_the_friends_page_opens_beside_a_conversation(alice: Member, place: Place) -> None:
    conversation = place.home.call(
        "POST", "/v1/users/@me/channels", {"recipient_id": place.bob["id"]}, place.alice["token"]
    )
    alice.enters_as("alice", f"/channels/@me/{conversation['id']}")
    field_of(alice).wait_for()
    alice.page.get_by_role("link", name="Friends").click()
    alice.page.get_by_role("heading", name="Friends").wait_for()
    expect(alice.page).to_have_url(re.compile("/channels/@me/friends$"))


def test_a_bare_username_makes_a_request_that_the_other_sees_at_once(
    alice: Member, visit: MakeVisitor, place: Place
) -> None:
    bob: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    bob.enters_as("bob", place.path)
    alice.enters_as("alice", "/channels/@me/friends")
    own = place.home.call("GET", "/v1/users/@me", token=place.alice["token"])
    expect(alice.page.get_by_text("Others add you as")).to_contain_text(f"alice#{own['discriminator']}")
    alice.page.get_by_label("Add a friend by the username").fill("bob")
    alice.button("Ask").click()
    alice.page.get_by_text("bob has been asked.").wait_for()
    expect(bob.page.locator(".rail a.tile").first.locator(".badge")).to_have_text("1")
    bob.page.goto("/channels/@me/friends")
    bob.page.get_by_role("img", name="1 request for friendship").first.wait_for()
    bob.page.get_by_role("tab", name=re.compile("Requests")).click()
    bob.button("Accept").click()
    expect(bob.page.get_by_role("img", name="1 request for friendship")).to_have_count(0)
    expect(bob.page.locator(".rail a.tile").first.locator(".badge")).to_have_count(0)


def test_long_names_leave_room_for_buttons_and_badges(alice: Member, place: Place) -> None:
    call, token = place.home.call, place.alice["token"]
    long = call("POST", f"/v1/guilds/{place.guild_id}/channels", {"name": LONG, "type": 0}, token)
    call("POST", f"/v1/guilds/{place.guild_id}/channels", {"name": LONG.replace("-", " "), "type": 4}, token)
    call("PATCH", "/v1/users/@me", {"global_name": "W" * 32}, place.bob["token"])
    call("POST", "/v1/users/@me/channels", {"recipient_id": place.bob["id"]}, token)
    message = {"content": f"<@{place.alice['id']}>"}
    call("POST", f"/v1/channels/{long['id']}/messages", message, place.bob["token"])
    beyond = """() => [...document.querySelectorAll(".side *")].filter((one) => {
        const [inner, outer] = [one.getBoundingClientRect(), document.querySelector(".side").getBoundingClientRect()];
        return one.checkVisibility() && inner.width > 1 && inner.right > outer.right + 1;
    }).map((one) => one.className)"""
    alice.enters_as("alice", place.path)
    badge = alice.page.locator(".channel-link .badge")
    expect(badge).to_be_in_viewport()
    alice.until(lambda: alice.page.evaluate(beyond) == [])
    alice.page.goto("/channels/@me")
    alice.page.get_by_text("W" * 32).first.wait_for()
    alice.until(lambda: alice.page.evaluate(beyond) == [])
    call("PATCH", "/v1/users/@me", {"global_name": "Bob"}, place.bob["token"])


def test_a_thread_begins_with_the_message_that_it_was_made_from(alice: Member, place: Place) -> None:
    message = place.says(place.bob, "Where do **leeks** go?")
    made = place.home.call(
        "POST",
        f"/v1/channels/{place.channel_id}/messages/{message}/threads",
        {"name": "leeks"},
        place.alice["token"],
        **{"X-Service-Features": "channel_threads"},
    )
    alice.enters_as("alice", f"/channels/{place.guild_id}/{made['id']}")
    first = alice.page.get_by_label("Messages of the thread").get_by_role("article").first
    expect(first).to_contain_text("Where do leeks go?")
    expect(first.locator(".author")).to_have_text("Bob")


def test_what_is_marked_as_unread_stays_so(alice: Member, place: Place) -> None:
    place.says(place.bob, "first of two")
    place.says(place.bob, "second of two")
    alice.enters_as("alice", place.path)
    row = alice.page.get_by_role("article").filter(has_text="first of two")
    row.click(button="right")
    alice.page.get_by_role("menuitem", name="Mark as unread from here").click()
    expect(alice.page.locator(f".channel-link[href='{place.path}']")).to_have_class(re.compile("unread"))
    for at in range(20):  # somebody who moves the pointer reads nothing again
        alice.page.mouse.move(500 + at, 300)
        alice.page.wait_for_timeout(100)
    expect(alice.page.locator(f".channel-link[href='{place.path}']")).to_have_class(re.compile("unread"))


def test_an_emoji_is_written_by_its_name(alice: Member, place: Place) -> None:
    alice.enters_as("alice", place.path)
    field_of(alice).press_sequentially(":tom")
    alice.page.get_by_role("option").filter(has_text=":tomato:").wait_for()
    field_of(alice).press("Enter")
    field_of(alice).press_sequentially(":+1")
    expect(alice.page.get_by_role("option").first).to_contain_text("\N{THUMBS UP SIGN}")
    field_of(alice).press_sequentially(": and :tada:")
    expect(field_of(alice)).to_have_value("\N{TOMATO} \N{THUMBS UP SIGN} and \N{PARTY POPPER}")


def test_the_owner_does_not_wait_in_a_slow_channel_and_a_telephone_has_room_to_write(
    visit: MakeVisitor, place: Place
) -> None:
    place.home.call("PATCH", f"/v1/channels/{place.channel_id}", {"rate_limit_per_user": 600}, place.alice["token"])
    member: Member = visit(kind=Member, viewport=PHONE, reduced_motion="reduce", has_touch=True, is_mobile=True)
    member.enters_as("alice", place.path)
    field_of(member).fill("one")
    member.until(lambda: field_of(member).bounding_box()["width"] > 280)
    member.button("Send").click()
    expect(field_of(member)).to_have_value("")
    field_of(member).fill("two")
    expect(member.button("Send")).to_have_attribute("aria-disabled", "false")


def test_a_thread_is_offered_the_words_of_its_message_as_they_are_read(alice: Member, place: Place) -> None:
    place.says(place.bob, "Where do **leeks** go, ||here||?")
    alice.enters_as("alice", place.path)
    alice.page.get_by_role("article").filter(has_text="Where do").click(button="right")
    alice.page.get_by_role("menuitem", name="Start a thread").click()
    name = alice.page.get_by_role("dialog").get_by_role("textbox")
    expect(name).to_have_value(re.compile("^Where do leeks go, [^|*]+"))
