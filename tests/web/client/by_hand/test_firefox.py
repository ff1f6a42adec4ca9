"""What people do in their first minutes, in Firefox as Debian has it: the tests that Chromium has.
Area: the web client as a whole."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.web import firefox
from tests.web.browsing import WAIT_MS
from tests.web.client.by_hand.test_first_minutes import (
    alice,
    home,
    place,
    test_a_bare_username_makes_a_request_that_the_other_sees_at_once,
    test_a_press_on_a_reaction_adds_ones_own_and_the_next_takes_it_back,
    test_a_thread_begins_with_the_message_that_it_was_made_from,
    test_an_emoji_is_written_by_its_name,
    test_authors_have_their_nicks_and_the_colours_of_their_roles,
    test_long_names_leave_room_for_buttons_and_badges,
    test_members_that_no_list_told_of_are_offered_and_mentioned,
    test_the_friends_page_opens_beside_a_conversation,
    test_what_is_marked_as_unread_stays_so,
    test_what_one_sends_while_scrolled_up_is_in_sight,
)

__all__ = [
    "alice",
    "home",
    "place",
    "test_a_bare_username_makes_a_request_that_the_other_sees_at_once",
    "test_a_press_on_a_reaction_adds_ones_own_and_the_next_takes_it_back",
    "test_a_thread_begins_with_the_message_that_it_was_made_from",
    "test_an_emoji_is_written_by_its_name",
    "test_authors_have_their_nicks_and_the_colours_of_their_roles",
    "test_long_names_leave_room_for_buttons_and_badges",
    "test_members_that_no_list_told_of_are_offered_and_mentioned",
    "test_the_friends_page_opens_beside_a_conversation",
    "test_what_is_marked_as_unread_stays_so",
    "test_what_one_sends_while_scrolled_up_is_in_sight",
]

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Firefox, where the other modules have Chromium."""
    if firefox.PROGRAM is None:
        if "TESTS_REQUIRE_FIREFOX" in os.environ:
            pytest.fail("TESTS_REQUIRE_FIREFOX is set and there is no Firefox")
        pytest.skip("no Firefox on this machine")
    expect.set_options(timeout=WAIT_MS)
    with sync_playwright() as playwright:
        browser = playwright.firefox.launch(
            executable_path=firefox.__file__, channel="moz-firefox", headless=True, timeout=WAIT_MS
        )
        yield browser
        browser.close()
