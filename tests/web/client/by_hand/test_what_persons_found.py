"""What PersonMachine found, each once more by hand. Area: the web client as a whole."""

from __future__ import annotations

import re
from typing import Final

import pytest
from playwright.sync_api import Route, expect

from tests.web.browsing import Instance
from tests.web.client.test_shell import DESK, Member, talk
from tests.web.conftest import MakeVisitor

__all__ = ["talk"]
PROFILE: Final = re.compile(r"/packs/people")


def test_the_open_list_of_pins_follows_what_is_pinned(visit: MakeVisitor, talk: str, home: Instance) -> None:
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    member.enters_as("alice", talk)
    member.button("Pinned messages").click()
    results = member.page.locator(".found-panel .result")
    expect(results).to_have_count(1)
    alice, channel = home.person("alice")["token"], f"/v1/channels/{talk.split('/')[3]}"
    newest, *_ = home.call("GET", f"{channel}/messages?limit=2", token=alice)
    home.call("PUT", f"{channel}/pins/{newest['id']}", None, alice)
    expect(results).to_have_count(2)
    expect(results.first).to_contain_text("example.org")
    home.call("DELETE", f"{channel}/messages/{newest['id']}", None, alice)
    expect(results).to_have_count(1)
    expect(results).to_contain_text("tomato seed")


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_the_line_of_the_connection_is_within_reach_in_settings(visit: MakeVisitor, width: int) -> None:
    member: Member = visit(kind=Member, viewport={"width": width, "height": 740}, reduced_motion="reduce")
    member.enters_as("alice", "/channels/@me/settings/profile")
    member.page.context.set_offline(True)
    again = member.button("Try now")
    again.wait_for()
    again.click(trial=True)
    # What closes the page is within reach beside it.
    member.page.get_by_role("button", name="Close", exact=False).last.click(trial=True)
    member.complaints = [text for text in member.complaints if "ERR_INTERNET_DISCONNECTED" not in text]


def test_a_profile_comes_after_its_page_was_left(visit: MakeVisitor, talk: str, home: Instance) -> None:
    alice, bob = home.person("alice"), home.person("bob")
    home.call("POST", f"/v1/users/@me/relationships/{bob['id']}", None, alice["token"])
    home.call("PUT", f"/v1/users/@me/relationships/{alice['id']}", {}, bob["token"])
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    member.enters_as("alice", "/channels/@me/friends")
    page, held, guild = member.page, list[Route](), talk.rpartition("/")[0]
    page.route(PROFILE, lambda route: held.append(route))
    page.get_by_role("tab", name="All").click()
    with page.expect_request(PROFILE):
        page.locator("#talk.friends .friend").filter(has_text="Bob").locator("button.member").click()
    page.get_by_role("navigation", name="Communities").locator(f'a[href^="{guild}"]').click()
    page.wait_for_url(f"**{guild}/*")
    expect(page.locator("#talk.friends")).to_have_count(0)
    for route in held:
        route.continue_()
    page.locator(".popover:popover-open .profile-card").wait_for()
