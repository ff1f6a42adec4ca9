"""An evening in the client, by hand: everything that can be done with a message, a thread, the lists and people, each
checked where the server keeps it. Area: the web client as a whole."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.web.browsing import Instance, instance
from tests.web.client.by_hand.test_first_minutes import Place
from tests.web.client.test_shell import DESK, Member
from tests.web.conftest import MakeVisitor


@pytest.fixture(scope="module")
def home() -> Iterator[Instance]:
    with instance() as running:
        yield running


@pytest.fixture
def place(home: Instance) -> Place:
    return Place(home)


class Host(Member):
    """Alice, whose community it is."""

    place: Place

    def row(self, text: str) -> Locator:
        return self.page.get_by_role("article").filter(has_text=text).last

    def chooses(self, of: Locator, *entries: str) -> None:
        """From the menu of something, one entry after the other."""
        for entry in entries:
            self.chooses_when_offered(lambda: of.click(button="right"), entry)

    def chooses_when_offered(self, opens: Callable[[], None], name: str) -> None:
        """From a menu that has the entry: it says what holds when it is opened, which may be a moment too early."""
        menu = self.page.get_by_role("menu")
        entry = menu.get_by_role("menuitem", name=name, exact=True)

        def is_offered() -> bool:
            opens()
            menu.wait_for()
            if entry.count() == 1:
                return True
            self.page.keyboard.press("Escape")
            expect(menu).to_have_count(0)
            return False

        self.until(is_offered)
        entry.click()

    def answers(self, button: str) -> None:
        self.page.get_by_role("dialog").get_by_role("button", name=button, exact=True).click()

    def asks(self, path: str) -> Any:
        return self.place.home.call("GET", f"/v1{path}", token=self.place.alice["token"])

    def members(self) -> Any:
        return self.asks(f"/guilds/{self.place.guild_id}/members?limit=100")

    def says_in_the_field(self, text: str) -> None:
        self.page.locator("textarea.composer-field").fill(text)
        self.page.keyboard.press("Enter")
        self.row(text).and_(self.page.locator('article[data-id]:not([data-id=""])')).wait_for()

    def message(self, message_id: str) -> Any:
        return self.asks(f"/channels/{self.place.channel_id}/messages/{message_id}")


@pytest.fixture
def alice(visit: MakeVisitor, place: Place) -> Host:
    host: Host = visit(kind=Host, viewport=DESK, reduced_motion="reduce")
    host.place = place
    return host


def test_what_is_done_with_a_message(alice: Host, place: Place) -> None:
    first = place.says(place.bob, "where do leeks go?")
    alice.enters_as("alice", place.path)
    page, row = alice.page, alice.row("where do leeks go?")
    alice.chooses(row, "Add a reaction")
    page.get_by_role("searchbox", name="Search emoji").fill("seedling")
    page.get_by_role("gridcell", name="seedling").first.click()
    expect(row.locator("button.reaction:not(.add)")).to_have_attribute("aria-pressed", "true")
    alice.chooses(row, "Who reacted")
    expect(page.get_by_role("dialog").get_by_role("listitem")).to_contain_text("Alice")
    alice.answers("Close")
    row.locator("button.reaction:not(.add)").click()
    alice.until(lambda: not alice.message(first).get("reactions"))
    alice.chooses(row, "Pin")
    alice.until(lambda: alice.message(first)["pinned"])
    alice.button("Pinned messages").click()
    expect(page.locator(".popover .result")).to_contain_text("where do leeks go?")
    page.keyboard.press("Escape")
    alice.chooses(row, "Take the pin away")
    alice.until(lambda: not alice.message(first)["pinned"])
    alice.chooses(row, "Save for later")
    alice.until(lambda: len(alice.asks("/users/@me/saved-messages")) == 1)
    page.get_by_role("status").get_by_role("button", name="Undo").click()
    alice.until(lambda: alice.asks("/users/@me/saved-messages") == [])
    alice.chooses(row, "Forward")
    page.get_by_role("dialog").get_by_role("radio").first.check()
    alice.answers("Forward it")
    page.get_by_text("It is forwarded.").wait_for()
    alice.chooses(row, "Report")
    page.get_by_label("What is wrong with it").select_option(label="Spam")
    alice.answers("Report it")
    page.get_by_text("Thank you. It is reported.").wait_for()
    alice.says_in_the_field("mine, with a fault")
    own = alice.row("mine, with a fault")
    alice.chooses(own, "Edit")
    page.locator("textarea.composer-field").fill("mine, mended")
    page.keyboard.press("Enter")
    alice.row("mine, mended").wait_for()
    alice.chooses(alice.row("mine, mended"), "Delete")
    alice.answers("Delete")
    expect(page.get_by_role("article").filter(has_text="mine, mended")).to_have_count(0)
    alice.chooses(row, "Mark as unread from here")
    expect(page.locator(f".channel-link[href='{place.path}']")).to_have_class(re.compile("unread"))


def test_what_is_done_with_a_thread(alice: Host, place: Place) -> None:
    place.says(place.bob, "about beans")
    alice.enters_as("alice", place.path)
    alice.chooses(alice.row("about beans"), "Start a thread")
    alice.answers("Start a thread")
    page = alice.page
    page.get_by_role("heading", name="about beans").first.wait_for()
    thread = page.url.rsplit("/", 1)[1]
    for entry in ("Stop following the thread", "Follow the thread", "Archive the thread"):
        alice.chooses_when_offered(alice.button("More").last.click, entry)
    alice.until(lambda: alice.asks(f"/channels/{thread}")["thread_metadata"]["archived"])
    page.goto(place.path)
    alice.button("Threads").click()
    page.locator(".popover:popover-open").get_by_text("Archived").click()
    expect(page.locator(".popover:popover-open")).to_contain_text("about beans")


def test_what_is_done_in_the_lists(alice: Host, place: Place) -> None:
    place.says(place.bob, f"look, <@{place.alice['id']}>")
    alice.enters_as("alice", f"/channels/{place.guild_id}")
    page = alice.page
    head = page.locator("button.side-head")

    def of_the_guild(entry: str) -> None:
        alice.chooses_when_offered(head.click, entry)

    of_the_guild("Mark as read")
    of_the_guild("Mute the community")
    of_the_guild("Unmute the community")
    of_the_guild("Make a channel")
    page.get_by_role("dialog").get_by_label("Name", exact=True).fill("beds")
    alice.answers("Make it")
    link = page.locator(".channel-link").filter(has_text="beds")
    link.wait_for()
    alice.chooses(link, "Mute the channel", "Unmute the channel", "Mark as read")
    of_the_guild("Invite people")
    page.get_by_label("Invite link").wait_for()
    page.keyboard.press("Escape")
    fold = page.locator("button.fold").first
    fold.click()
    expect(fold).to_have_attribute("aria-expanded", "false")
    alice.chooses(link, "Delete")
    alice.answers("Delete")
    expect(link).to_have_count(0)
    page.locator("button.panel-me").click()
    page.get_by_role("menuitemradio", name="Do not disturb").click()
    alice.until(lambda: alice.asks("/users/@me/settings")["status"] == "dnd")
    page.locator("button.panel-me").click()
    page.get_by_role("menuitem", name="What you are doing").click()
    page.get_by_label("It stands below your name.").fill("in the beds")
    alice.answers("Save")
    expect(page.locator(".panel-words")).to_contain_text("in the beds")
    page.get_by_role("link", name="Conversations").first.click()
    alice.button("Where you were mentioned").click()
    expect(page.locator(".popover .result")).to_contain_text("look,")


def test_what_is_done_with_people(alice: Host, visit: MakeVisitor, place: Place) -> None:
    alice.enters_as("alice", "/channels/@me/friends")
    page = alice.page
    page.get_by_label("Add a friend by the username").fill("bob")
    alice.button("Ask").click()
    page.get_by_text("bob has been asked.").wait_for()
    bob: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    bob.enters_as("bob", "/channels/@me/friends")
    bob.page.get_by_role("tab", name=re.compile("Requests")).click()
    bob.button("Accept").click()
    page.goto(place.path)
    place.says(place.bob, "I am here")
    author = alice.row("I am here").locator(".author")
    alice.chooses(author, "Nickname")
    page.get_by_role("dialog").get_by_role("textbox").fill("Bobby")
    alice.answers("Save")
    expect(author).to_have_text("Bobby")
    author.click()
    page.get_by_label("Note (only you see it)").fill("has seed")
    page.keyboard.press("Escape")
    alice.until(lambda: alice.asks("/users/@me/notes") == {place.bob["id"]: "has seed"})
    member = f"/guilds/{place.guild_id}/members/{place.bob['id']}"
    alice.chooses(author, "Time out")
    alice.answers("Time out")
    alice.until(lambda: alice.asks(member)["communication_disabled_until"] is not None)
    alice.chooses(author, "Block")
    alice.until(lambda: [one["type"] for one in alice.asks("/users/@me/relationships")] == [2])
    alice.chooses(author, "Kick")
    alice.answers("Kick")
    alice.until(lambda: place.bob["id"] not in [one["user"]["id"] for one in alice.members()])
