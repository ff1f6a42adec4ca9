"""Old names by hand: people of an import are claimed by an invite and by a request that is confirmed, and given back;
whoever looks at the channel sees it at once. Area: the web client, the settings of a community."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.imports.discord_world import ANNA, BERT, channel, channel_id, export, message, person, put
from tests.web.browsing import Instance, instance
from tests.web.client.by_hand.test_first_minutes import Place
from tests.web.client.test_shell import DESK, PHONE, Member, is_fine
from tests.web.conftest import MakeVisitor

CORA = person(4_000, "cora")
DORA = person(5_000, "dora")
MANY = 120


@pytest.fixture(scope="module")
def home() -> Iterator[Instance]:
    with instance() as running:
        yield running


@pytest.fixture(scope="module")
def harbour(home: Instance, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A community into which a channel with four people was brought along."""
    place = Place(home)
    old: Path = tmp_path_factory.mktemp("export")
    said = [message(number, f"old {number}", ANNA if number % 2 else BERT) for number in range(1, MANY)]
    put(old, "a.json", export(channel(1, "harbour"), *said))
    others = [message(200, "from cora", CORA), message(300, "from dora", DORA)]
    put(old, "b.json", export(channel(2, "pier"), *others))
    command = (sys.executable, "-m", "chat", "import", "discord", str(old), "--guild", place.guild_id, "--json")
    subprocess.run([*command, "--data", home.folder], check=True, capture_output=True)
    return place


Enter = Callable[..., Member]


@pytest.fixture
def enters(visit: MakeVisitor) -> Enter:
    def enter(name: str, path: str, **options: Any) -> Member:
        member: Member = visit(kind=Member, **{"viewport": DESK, "reduced_motion": "reduce", **options})
        member.enters_as(name, path)
        return member

    return enter


def way(place: Place, number: int) -> str:
    return f"/channels/{place.guild_id}/{channel_id(number)}"


def old_names(place: Place) -> str:
    return f"/channels/{place.guild_id}/settings/old_names"


def author(member: Member, text: str) -> Locator:
    row = member.page.get_by_role("article").filter(has=member.page.get_by_text(text, exact=True))
    return row.locator(".author")


def entry(member: Member, name: str) -> Locator:
    return member.page.locator("[data-person]").filter(has=member.page.get_by_text(name, exact=True))


def test_whoever_follows_an_invite_takes_the_messages_over(enters: Enter, harbour: Place) -> None:
    alice = enters("alice", old_names(harbour))
    row = entry(alice, "Anna")
    expect(row).to_contain_text("60 messages")
    is_fine(alice)
    row.get_by_role("button", name="Invite for Anna").click()
    dialog = alice.page.get_by_role("dialog", name="Invite for Anna")
    expect(dialog).to_contain_text("takes over the messages of Anna")
    link = dialog.get_by_label("Invite link")
    expect(link).not_to_have_value("")
    is_fine(alice)
    address = link.input_value()

    # Two look at the channel: one at its end, one far above.
    carol = enters("carol", way(harbour, 1))
    expect(author(carol, f"old {MANY - 1}")).to_have_text("Anna")
    above = enters("carol", way(harbour, 1))
    author(above, f"old {MANY - 1}").wait_for()
    for _ in range(12):
        above.page.mouse.move(700, 400)
        above.page.mouse.wheel(0, -3000)
        above.page.wait_for_timeout(50)
    first = above.page.get_by_text("old 1", exact=True)
    expect(first).to_be_in_viewport()
    expect(author(above, "old 1")).to_have_text("Anna")

    bob = enters("bob", way(harbour, 2))
    bob.goes_to(address)
    expect(bob.page.get_by_text("You take over the messages of Anna.")).to_be_visible()
    is_fine(bob)
    bob.presses("Accept the invite")
    bob.enters()
    bob.page.goto(way(harbour, 1))
    for member in (bob, carol):
        expect(author(member, f"old {MANY - 1}")).to_have_text("Bob")
        expect(author(member, f"old {MANY - 2}")).to_have_text("Bert")
    expect(author(above, "old 1")).to_have_text("Bob")
    expect(first).to_be_in_viewport()
    alice.page.reload()
    expect(entry(alice, "Anna")).to_contain_text("Bob took the messages over")
    is_fine(alice)


def test_an_invite_within_the_client_says_whose_messages_they_become(enters: Enter, harbour: Place) -> None:
    pier = f"/v1/channels/{channel_id(2)}"
    wish = {"placeholder_id": DORA["id"]}
    made = harbour.home.call("POST", f"{pier}/invites", wish, harbour.alice["token"])
    link = f"{harbour.home.origin}/invite/{made['code']}"
    harbour.home.call("POST", f"{pier}/messages", {"content": link}, harbour.alice["token"])
    carol = enters("carol", way(harbour, 2))
    card = carol.page.locator(".invite-card")
    expect(card).to_contain_text("You take over the messages of Dora.")
    is_fine(carol)
    carol.page.get_by_role("link", name=link).click()
    dialog = carol.page.get_by_role("dialog", name="Were you Dora?")
    expect(dialog).to_contain_text("You take over the messages of Dora.")
    carol.page.keyboard.press("Escape")
    card.get_by_role("button", name="Take over").click()
    expect(author(carol, "from dora")).to_have_text("Carol")


def test_a_member_asks_a_manager_confirms_and_it_is_given_back(enters: Enter, harbour: Place) -> None:
    carol = enters("carol", way(harbour, 1))
    page = carol.page
    newest = f"old {MANY - 2}"

    def asks() -> None:
        author(carol, newest).click()
        profile = page.get_by_role("dialog", name="Profile")
        profile.get_by_role("button", name="That was me").wait_for()
        expect(profile.get_by_role("button", name="Add as a friend")).to_have_count(0)
        is_fine(carol)
        profile.get_by_role("button", name="That was me").click()
        dialog = page.get_by_role("dialog", name="Were you Bert?")
        is_fine(carol)
        dialog.get_by_role("button", name="That was me").click()
        page.get_by_text("Somebody who manages the community now has to confirm that you were Bert.").wait_for()

    asks()
    # It can be taken back.
    author(carol, newest).click()
    profile = page.get_by_role("dialog", name="Profile")
    expect(profile).to_contain_text("You said that this was you.")
    is_fine(carol)
    profile.get_by_role("button", name="Take the request back").click()
    profile.get_by_role("button", name="That was me").wait_for()
    expect(profile.get_by_role("heading", name="Bert")).to_be_focused()
    page.keyboard.press("Escape")

    asks()
    alice = enters("alice", old_names(harbour))
    row = entry(alice, "Bert")
    expect(row).to_contain_text("Carol says: I was Bert")
    is_fine(alice)
    row.get_by_role("button", name="Refuse: Carol was not Bert").click()
    alice.page.get_by_text("The request is refused.").wait_for()
    expect(row).not_to_contain_text("Carol")
    expect(row.get_by_role("button", name="Invite for Bert")).to_be_focused()
    asks()
    alice.page.reload()
    row.get_by_role("button", name="Confirm that Carol was Bert").click()
    dialog = alice.page.get_by_role("dialog", name="Was Carol really Bert?")
    is_fine(alice)
    dialog.get_by_role("button", name="Confirm").click()
    expect(row).to_contain_text("Carol took the messages over")
    back = row.get_by_role("button", name="Give back the old name Bert")
    expect(back).to_be_focused()
    expect(author(carol, newest)).to_have_text("Carol")

    author(carol, newest).click()
    profile.get_by_role("button", name="Give back the old name Bert").wait_for()
    is_fine(carol)
    profile.get_by_role("button", name="Give back the old name Bert").click()
    dialog = page.get_by_role("dialog", name="Give back the old name Bert")
    expect(dialog).to_contain_text("What you have edited since stays yours.")
    dialog.get_by_role("button", name="Give back").click()
    expect(author(carol, newest)).to_have_text("Bert")


def test_who_manages_the_community_asks_nobody_and_gives_back(enters: Enter, harbour: Place) -> None:
    alice = enters("alice", way(harbour, 2))
    page = alice.page
    author(alice, "from cora").click()
    page.get_by_role("dialog", name="Profile").get_by_role("button", name="That was me").click()
    dialog = page.get_by_role("dialog", name="Were you Cora?")
    expect(dialog).to_contain_text("become yours at once")
    dialog.get_by_role("button", name="That was me").click()
    page.get_by_text("The messages of Cora are yours now.").wait_for()
    expect(author(alice, "from cora")).to_have_text("Alice")
    page.goto(old_names(harbour))
    entry(alice, "Cora").get_by_role("button", name="Give back the old name Cora").click()
    dialog = page.get_by_role("dialog", name="Give back the old name Cora")
    is_fine(alice)
    dialog.get_by_role("button", name="Give back").click()
    expect(entry(alice, "Cora")).to_contain_text("1 message")
    expect(entry(alice, "Cora").get_by_role("button", name="Invite for Cora")).to_be_focused()


def test_a_telephone_has_room_for_it(enters: Enter, harbour: Place) -> None:
    harbour.home.call(
        "POST", f"/v1/guilds/{harbour.guild_id}/placeholders/{CORA['id']}/claim", {}, harbour.bob["token"]
    )
    for locale in ("en", "ar"):
        alice = enters("alice", old_names(harbour), viewport=PHONE, has_touch=True, is_mobile=True, locale=locale)
        entry(alice, "Cora").get_by_role("listitem").wait_for()
        alice.page_fits()
        alice.page_is_accessible("target-size")
        is_fine(alice)


def test_a_community_that_brought_nobody_along_has_no_such_page(enters: Enter, harbour: Place) -> None:
    other = Place(harbour.home)
    alice = enters("alice", f"/channels/{other.guild_id}/settings/overview")
    nav = alice.page.get_by_role("navigation")
    nav.get_by_role("link", name="Invites", exact=True).wait_for()
    expect(nav.get_by_role("link", name="Old names")).to_have_count(0)
    alice.page.goto(old_names(other))
    expect(alice.page.get_by_text("Nobody here comes from another place.")).to_be_visible()
    alice.page.goto(f"/channels/{harbour.guild_id}/settings/overview")
    nav.get_by_role("link", name="Old names").click()
    expect(entry(alice, "Anna")).to_be_visible()
