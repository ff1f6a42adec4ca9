"""What a host does without a mouse: Tab, arrows, Enter, Space and the menu key alone, each act seen in the page and
checked where the server keeps it. The focus is never lost on the way. Area: the web client as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest
from playwright.sync_api import Locator, Route, TimeoutError, expect

from tests.web.browsing import Instance, instance
from tests.web.client.by_hand.test_an_evening import Host
from tests.web.client.by_hand.test_first_minutes import Place
from tests.web.client.test_shell import DESK
from tests.web.conftest import MakeVisitor

TABS_MAXIMUM: Final = 90
HAS_FOCUS: Final = "one => one === document.activeElement"
SOMETHING_HAS_FOCUS: Final = "() => document.activeElement !== document.body"
CLICKED: Final = """() => {
  window.clicked = 0;
  addEventListener("pointerdown", () => (window.clicked += 1), true);
}"""


@pytest.fixture(scope="module")
def home() -> Iterator[Instance]:
    with instance() as running:
        yield running


@pytest.fixture
def place(home: Instance) -> Place:
    return Place(home)


class Typist(Host):
    """Alice, whose mouse is broken."""

    def presses_keys(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
        if not keys[-1].endswith("Tab"):  # which goes round by way of the browser
            try:
                self.page.wait_for_function(SOMETHING_HAS_FOCUS)  # between two dialogs nothing has it for a moment
            except TimeoutError:
                pytest.fail(f"the focus is lost by {keys}")

    def reaches(self, control: Locator, key: str = "Tab") -> None:
        """Press a key until the focus is there."""
        control.first.wait_for()
        for _ in range(TABS_MAXIMUM):
            if control.count() == 1 and control.evaluate(HAS_FOCUS):
                return
            self.presses_keys(key)
        pytest.fail(f"{key} does not lead to {control}")

    def activates(self, name: str) -> None:
        """The button of that name, in the topmost layer."""
        dialogs = self.page.locator("dialog[open], .popover:popover-open")

        def button() -> Locator:
            ground = dialogs.last if dialogs.count() else self.page.locator("body")
            return ground.get_by_role("button", name=name, exact=True)

        self.until(lambda: button().count())  # a dialog closes when its answer has come, after what an event showed
        self.reaches(button())
        self.presses_keys("Enter")

    def picks(self, entry: str) -> None:
        """An entry of the menu that is open."""
        self.reaches(self.page.get_by_role("menuitem", name=entry, exact=True), "ArrowDown")
        self.page.keyboard.press("Enter")

    def asks_for_the_menu_of(self, member: str) -> None:
        """Of somebody in the list of members, which has one tab stop."""
        self.reaches(self.page.locator(".members button.member[tabindex='0']"))
        self.presses_keys("Home")
        self.reaches(self.page.locator(".members button.member").filter(has_text=member), "ArrowDown")
        self.page.keyboard.press("ContextMenu")
        self.page.get_by_role("menu").wait_for()


@pytest.fixture
def alice(visit: MakeVisitor, place: Place) -> Iterator[Typist]:
    typist: Typist = visit(kind=Typist, viewport=DESK, reduced_motion="reduce", service_worker=False)
    typist.place = place
    typist.context.add_init_script(f"({CLICKED})()")
    yield typist
    assert typist.page.evaluate("() => window.clicked") == 0


def test_a_friend_a_ban_and_a_thread(alice: Typist, place: Place) -> None:
    alice.enters_as("alice", place.path)
    page = alice.page
    alice.asks_for_the_menu_of("Bob")
    alice.picks("Add as a friend")
    alice.until(lambda: [one["type"] for one in alice.asks("/users/@me/relationships")] == [4])
    alice.asks_for_the_menu_of("Bob")
    alice.picks("Take the request back")
    alice.until(lambda: alice.asks("/users/@me/relationships") == [])

    alice.asks_for_the_menu_of("carol")
    alice.picks("Ban")
    dialog = page.get_by_role("dialog", name="Ban carol?")
    alice.reaches(dialog.get_by_label("Messages to delete as well"), "Shift+Tab")
    alice.presses_keys("ArrowDown")
    alice.reaches(dialog.get_by_label("Reason (for the audit log)"))
    page.keyboard.type("sells slugs")
    alice.presses_keys("Enter")
    expect(page.locator(".members button.member").filter(has_text="carol")).to_have_count(0)
    alice.until(lambda: alice.asks(f"/guilds/{place.guild_id}/bans"))
    [ban] = alice.asks(f"/guilds/{place.guild_id}/bans")
    assert (ban["user"]["username"], ban["reason"]) == ("carol", "sells slugs")

    alice.activates("Threads")
    alice.activates("Start a thread")
    expect(page.get_by_role("dialog").get_by_label("Name")).to_be_focused()
    page.keyboard.type("On slugs")
    alice.presses_keys("Enter")
    page.get_by_role("heading", name="On slugs").first.wait_for()
    thread = alice.asks(f"/channels/{page.url.rsplit('/', 1)[1]}")
    assert (thread["name"], thread["parent_id"]) == ("On slugs", place.channel_id)


def test_a_message_is_sent_again(alice: Typist, place: Place) -> None:
    alice.enters_as("alice", place.path)
    page = alice.page

    def refuse(route: Route) -> None:
        if route.request.method != "POST":
            return route.continue_()
        return route.fulfill(status=403, json={"code": "CONTENT_BLOCKED", "message": "This word is not said here."})

    alice.intercepts("**/messages", refuse)
    alice.reaches(page.locator("textarea.composer-field"))
    page.keyboard.type("once more")
    alice.presses_keys("Enter")
    row = alice.row("once more")
    expect(row).to_contain_text("This word is not said here.")
    page.unroute("**/messages")
    alice.presses_keys("Shift+ArrowUp")
    expect(row).to_be_focused()
    alice.reaches(row.get_by_role("button", name="Send again"))
    alice.presses_keys("Enter")
    row.and_(page.locator('article[data-id]:not([data-id=""])')).wait_for()
    assert alice.asks(f"/channels/{place.channel_id}/messages")[0]["content"] == "once more"


def test_a_group_grows(alice: Typist, place: Place) -> None:
    call, token = place.home.call, place.alice["token"]
    for friend in (place.bob, place.carol):
        call("POST", f"/v1/users/@me/relationships/{friend['id']}", None, token)
        call("PUT", f"/v1/users/@me/relationships/{place.alice['id']}", {}, friend["token"])
    recipients = [place.bob["id"], place.carol["id"]]
    group = call("POST", "/v1/users/@me/channels", {"recipients": recipients}, token)["id"]
    call("DELETE", f"/v1/channels/{group}/recipients/{place.carol['id']}", None, token)
    alice.enters_as("alice", f"/channels/@me/{group}")
    page = alice.page
    alice.activates("More")
    alice.picks("Change the group")
    alice.reaches(page.get_by_role("dialog").get_by_role("checkbox", name="carol"))
    alice.presses_keys("Space")
    alice.activates("Save")
    page.get_by_role("dialog").wait_for(state="detached")
    page.locator(".members button.member").filter(has_text="carol").wait_for()
    alice.until(lambda: {one["id"] for one in alice.asks(f"/channels/{group}")["recipients"]} == set(recipients))

    page.goto("/channels/@me/friends")
    alice.reaches(page.get_by_role("tab", selected=True))
    alice.presses_keys("ArrowRight")
    friends = page.get_by_role("main").get_by_role("listitem")
    alice.reaches(friends.filter(has_text="Bob").get_by_role("button", name="End the friendship"))
    alice.presses_keys("Enter")
    expect(friends.filter(has_text="Bob")).to_have_count(0)
    # The next person of the list has the focus, not the top of the page.
    expect(friends.filter(has_text="carol").get_by_role("button").first).to_be_focused()
    alice.until(lambda: [one["id"] for one in alice.asks("/users/@me/relationships")] == [place.carol["id"]])


def test_a_role_ends_and_the_community_goes_to_somebody_else(alice: Typist, place: Place) -> None:
    call, token = place.home.call, place.alice["token"]
    role = call("POST", f"/v1/guilds/{place.guild_id}/roles", {"name": "gardener"}, token)["id"]
    alice.enters_as("alice", f"/channels/{place.guild_id}/settings/channels/{place.channel_id}")
    page = alice.page

    # What is changed for one role does not lead back to everybody's.
    whose = page.get_by_label("As seen with the role", exact=True)
    alice.reaches(whose)
    alice.presses_keys("g")
    right = page.get_by_role("combobox", name="Write messages", exact=True)
    alice.reaches(right)
    alice.presses_keys("d")
    path = f"/channels/{place.channel_id}"
    alice.until(lambda: [one["id"] for one in alice.asks(path)["permission_overwrites"]] == [role])
    expect(whose).to_have_value(role)
    expect(right).to_have_value("deny")
    expect(right).to_be_focused()

    alice.reaches(page.get_by_role("link", name="Roles", exact=True), "Shift+Tab")
    alice.presses_keys("Enter")
    alice.activates("gardener")
    alice.activates("Delete the role")
    alice.activates("Delete")
    expect(page.get_by_role("button", name="gardener", exact=True)).to_have_count(0)
    alice.until(lambda: role not in [one["id"] for one in alice.asks(f"/guilds/{place.guild_id}/roles")])

    alice.reaches(page.get_by_role("link", name="Ownership", exact=True), "Shift+Tab")
    alice.presses_keys("Enter")
    alice.reaches(page.get_by_label("Member", exact=True))
    page.keyboard.type("nobody of that name")
    alice.presses_keys("Enter")
    page.get_by_role("status").filter(has_text="No member is called that.").wait_for()
    alice.presses_keys("Control+a")
    page.keyboard.type("bob")
    alice.presses_keys("Enter")
    alice.activates("Hand it over to Bob")
    alice.activates("Hand it over")
    page.get_by_label("Your password").wait_for()
    page.keyboard.type(place.alice["password"])
    alice.presses_keys("Enter")
    page.wait_for_url("**/channels/@me*")
    alice.until(lambda: alice.asks(f"/guilds/{place.guild_id}")["owner_id"] == place.bob["id"])


def test_the_focus_stays_where_a_dialog_was_about_what_is_gone(alice: Typist, place: Place) -> None:
    call, token = place.home.call, place.alice["token"]
    role = call("POST", f"/v1/guilds/{place.guild_id}/roles", {"name": "weeder"}, token)["id"]
    alice.enters_as("alice", f"/channels/{place.guild_id}/settings/roles")
    alice.activates("weeder")
    alice.activates("Delete the role")
    call("DELETE", f"/v1/guilds/{place.guild_id}/roles/{role}", None, token)
    expect(alice.page.locator("button.channel-link").filter(has_text="weeder")).to_have_count(0)
    alice.presses_keys("Escape")


def test_the_focus_comes_back_when_nothing_could_take_it(alice: Typist, place: Place) -> None:
    alice.enters_as("alice", place.path)
    page = alice.page
    alice.reaches(page.locator("textarea.composer-field"))
    page.evaluate("() => { for (const part of document.body.children) part.inert = true; }")
    page.wait_for_function("() => document.activeElement === document.body")
    page.evaluate(
        """() => {
          for (const part of document.body.children) part.inert = false;
          document.activeElement.append(document.createElement("div"));
          document.querySelector("textarea.composer-field").closest("form").remove();
        }"""
    )
    page.wait_for_function(SOMETHING_HAS_FOCUS)


@pytest.mark.parametrize(
    ("pack", "keys", "letters", "field"),
    [
        ("switcher", ["Control+k"], "nowherex", "Find a channel or a person"),
        ("pickers", ["Shift+ArrowUp", "+"], "repcx", "Search emoji"),
    ],
)
def test_what_is_typed_while_a_part_loads_is_its(
    alice: Typist, place: Place, pack: str, keys: list[str], letters: str, field: str
) -> None:
    place.says(place.bob, "the last row")
    alice.enters_as("alice", place.path)
    page = alice.page
    alice.row("the last row").wait_for()
    composer = page.locator("textarea.composer-field")
    alice.reaches(composer)
    waiting: list[Route] = []
    alice.intercepts(f"**/packs/{pack}.js", lambda route: waiting.append(route))
    with page.expect_request(f"**/packs/{pack}.js"):
        for key in keys:
            page.keyboard.press(key)
    page.keyboard.type(letters)
    page.keyboard.press("Backspace")
    waiting[0].continue_()
    expect(page.get_by_label(field, exact=True).and_(page.locator("input"))).to_have_value(letters[:-1])
    expect(composer).to_have_value("")
    assert alice.asks(f"/channels/{place.channel_id}/pins") == []
