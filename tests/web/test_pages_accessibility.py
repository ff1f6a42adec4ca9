"""Every page as it is shown to a stranger, and the settings: axe-core, and room enough, in three kinds of window.

WCAG 2.2 AA: names and roles, contrast in both colour schemes, order of headings; 1.4.10 (320 px without scrolling
sideways) and 1.4.4 (200 % zoom, which is half the width).
"""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from chat.web.pages import PAGES
from tests.web.browsing import Instance, Visitor
from tests.web.conftest import MakeVisitor

WINDOWS: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light", "viewport": {"width": 1200, "height": 900}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1200, "height": 900}},
    "small": {"color_scheme": "light", "viewport": {"width": 320, "height": 568}, "reduced_motion": "reduce"},
}

RULES: dict[str, tuple[str, ...]] = {"light": (), "dark": ("color-contrast",), "small": ("target-size",)}
"""What is looked at in each: everything once, then what the window changes."""

ALIKE = ("/reset", "/recovery", "/verify", "/email-revert", "/authorize-ip", "/auth/sso/callback", "/oauth2/authorize")
"""Pages that show nothing to strangers which others do not show, too: looked at once, measured in each window."""

NOT_FOR_STRANGERS = {"settings", "admin", "dev"}
"""Pages that lead strangers to another one, or show more than one thing, and have tests of their own."""

MEMBERS = {"<bridge>": "old", "<code>": "none"}
"""What stands for the members of paths."""


def addresses() -> list[str]:
    """One of every page."""
    paths = [page_paths[-1] for name, page_paths in PAGES.items() if name not in NOT_FOR_STRANGERS]
    for member, text in MEMBERS.items():
        paths = [path.replace(member, text) for path in paths]
    return [*paths, "/there/is/nothing"]


def is_fine(visitor: Visitor, window: str, address: str = "") -> None:
    visitor.page.locator("h1:visible").first.wait_for()
    if window == "light" or address not in ALIKE:
        visitor.page_is_accessible(*RULES[window])
    visitor.page_fits()


@pytest.mark.parametrize("window", WINDOWS)
def test_every_page_is_accessible(visit: MakeVisitor, window: str) -> None:
    visitor = visit(**WINDOWS[window])
    for address in addresses():
        visitor.goes_to(address)
        is_fine(visitor, window, address)
    for address in (f"/reset#token={'a' * 64}", f"/email-revert#token={'a' * 64}", f"/authorize-ip#token={'a' * 64}"):
        visitor.goes_to(address)
        is_fine(visitor, window, address.split("#")[0])
    visitor.goes_to("/login")
    visitor.presses("Sign in")
    visitor.is_told("Enter your email address.")
    is_fine(visitor, window)


@pytest.mark.parametrize("window", WINDOWS)
def test_the_settings_are_accessible(visit: MakeVisitor, home: Instance, window: str) -> None:
    visitor = visit(**WINDOWS[window])
    visitor.has_authenticator()
    visitor.is_signed_in_as(home.person("bob"))
    is_fine(visitor, window)
    visitor.presses("Set up")
    visitor.page.get_by_alt_text("QR code").wait_for()
    is_fine(visitor, window)
    visitor.presses("Add a passkey")
    visitor.page.get_by_role("dialog").wait_for()
    is_fine(visitor, window)
    visitor.fills(name=f"Key of {window}")
    visitor.presses("Save")
    visitor.is_told("The passkey is added.")
    visitor.presses(f"Remove Key of {window}")
    is_fine(visitor, window)
    visitor.confirms("Remove")
    visitor.reads("Confirm that it is you")
    is_fine(visitor, window)
    visitor.confirms("Cancel")


def test_motion_stops_for_who_asks(visit: MakeVisitor) -> None:
    for preference, moves in (("no-preference", True), ("reduce", False)):
        visitor = visit(reduced_motion=preference)
        visitor.goes_to("/login")
        duration = visitor.page.evaluate("getComputedStyle(document.querySelector('button')).transitionDuration")
        assert (duration != "0s") is moves


def test_headings_labels_and_language(visit: MakeVisitor) -> None:
    """What axe-core takes on trust: one h1 at a time, a title of its own for each page, a label for each field."""
    visitor = visit()
    titles = set()
    for address in addresses():
        visitor.goes_to(address)
        visitor.page.locator("h1:visible").first.wait_for()
        expect(visitor.page.locator("h1:visible")).to_have_count(1)
        expect(visitor.page.locator("html[lang=en]")).to_have_count(1)
        unlabelled = visitor.page.evaluate(
            "Array.from(document.querySelectorAll('input, select')).filter(input => input.labels.length === 0).length"
        )
        assert unlabelled == 0
        titles.add(visitor.page.title())
    # Two addresses lead a stranger to the page for signing in: the consent page does, when it names an application.
    assert len(titles) >= len(addresses()) - 3
