"""What a screen reader has of three views, written down and read by people: `trees/` beside this module. A tree that
changed is read again as somebody hears it; then `TESTS_RECORD_TREES=1` writes it. Area: the web client as a whole."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Page, expect

from tests.web.browsing import WAIT_MS, Instance, instance
from tests.web.client.by_hand.test_first_minutes import Place
from tests.web.client.test_shell import DESK, Member
from tests.web.conftest import MakeVisitor

TREES: Final = Path(__file__).with_name("trees")
RECORDS: Final = "TESTS_RECORD_TREES" in os.environ

OTHER_EACH_TIME: Final = (
    (re.compile(r"\b\d{15,}\b"), "ID"),
    (re.compile(r"\b\d{1,2}:\d\d\s[AP]M\b"), "TIME"),
    (re.compile(r"(?:\w+day, )?\w+ \d{1,2}, 20\d\d"), "DAY"),
)


@pytest.fixture(scope="module")
def home() -> Iterator[Instance]:
    with instance() as running:
        yield running


@pytest.fixture(scope="module")
def garden(home: Instance) -> Place:
    """A community with a role, two channels, one of them unread, and messages of several kinds."""
    place = Place(home)
    alice, guild = place.alice["token"], f"/v1/guilds/{place.guild_id}"
    role = home.call("POST", f"{guild}/roles", {"name": "gardener", "color": 0x2E7D32, "hoist": True}, alice)["id"]
    home.call("PATCH", f"{guild}/members/{place.bob['id']}", {"nick": "Bob of the beds", "roles": [role]}, alice)
    beds = home.call("POST", f"{guild}/channels", {"name": "beds", "type": 0}, alice)["id"]
    home.call("POST", f"/v1/channels/{beds}/messages", {"content": "anybody here?"}, place.bob["token"])
    first = place.says(place.bob, "Who has **tomato** seed?")
    messages = f"/v1/channels/{place.channel_id}/messages"
    home.call("PUT", f"{messages}/{first}/reactions/%F0%9F%8D%85/@me", None, place.carol["token"])
    reference = {"message_id": first, "channel_id": place.channel_id, "type": 0}
    home.call("POST", messages, {"content": "I do.", "message_reference": reference}, place.carol["token"])
    return place


def heard(page: Page) -> str:
    """The tree of the whole page, without what is another each time."""
    tree = page.locator("body").aria_snapshot()
    for pattern, name in OTHER_EACH_TIME:
        tree = pattern.sub(name, tree)
    return tree + "\n"


@pytest.mark.parametrize("view", ["talk", "roles", "account"])
def test_a_view_is_heard_as_it_is_written_down(visit: MakeVisitor, garden: Place, view: str) -> None:
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce", locale="en-US")
    path, last = {
        "talk": (garden.path, member.page.get_by_role("complementary", name="Members").get_by_text("Bob of the beds")),
        "roles": (f"/channels/{garden.guild_id}/settings/roles", member.button("Make a role")),
        "account": ("/channels/@me/settings/profile", member.page.get_by_role("heading", name="Profile", level=1)),
    }[view]
    member.enters_as("alice", path)
    last.wait_for()
    if view == "talk":
        expect(member.page.get_by_role("article")).to_have_count(4)
    file = TREES / f"{view}.yml"
    if RECORDS:
        member.page.wait_for_timeout(6_000)
        file.write_text(heard(member.page), encoding="utf-8")
    written = file.read_text(encoding="utf-8")
    for _ in range(WAIT_MS // 250):
        if heard(member.page) == written:
            break
        member.page.wait_for_timeout(250)
    assert heard(member.page) == written, f"read {file.name} as it is heard, then TESTS_RECORD_TREES=1"
