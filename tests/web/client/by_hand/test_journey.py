"""From nothing to a conversation, by hand alone: an empty machine, one command, two people in two browsers. Area: the
web client as a whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from PIL import Image
from playwright.sync_api import ConsoleMessage, expect

from tests.web.browsing import Instance, Visitor, served
from tests.web.conftest import MakeVisitor

DESK: Final = {"width": 1280, "height": 800}
PHONE: Final = {"width": 360, "height": 740}
PASSWORD: Final = "four unrelated words"


@pytest.fixture
def fresh() -> Iterator[Instance]:
    """An instance on its first day; it outlives its visitors."""
    with served() as instance:
        yield instance


class Member(Visitor):
    """Somebody in the client."""

    def _heard(self, message: ConsoleMessage) -> None:
        # The browser's own note that there is no network.
        if "net::ERR_INTERNET_DISCONNECTED" not in message.text:
            super()._heard(message)

    def says(self, text: str) -> None:
        """Write a message and send it."""
        field = self.page.locator("textarea.composer-field").last
        field.fill(text)
        field.press("Enter")
        expect(field).to_have_value("")

    def sees(self, text: str) -> None:
        """Wait until a message says this."""
        expect(self.page.get_by_role("article").filter(has_text=text).last).to_be_visible(timeout=15_000)

    def opens_menu_of(self, text: str) -> None:
        """The menu of a message."""
        self.page.get_by_role("article").filter(has_text=text).last.click(button="right")
        self.page.get_by_role("menu").wait_for()

    def chooses(self, name: str) -> None:
        """One entry of the menu."""
        self.page.get_by_role("menuitem", name=name, exact=True).click()


def sets_up(operator: Member, fresh: Instance, folder: Path) -> str:
    """The first person: account, name of the instance, first guild; returns the invite."""
    operator.goes_to(fresh.world["setup"])
    operator.fills(email="ana@example.org", global_name="Ana", username="ana", password=PASSWORD)
    operator.presses("Make the account")
    operator.fills(service_name="Garden club", service_description="We grow things.")
    operator.presses("Go on")
    Image.new("RGB", (128, 128), (60, 130, 80)).save(folder / "leaf.png")
    operator.page.locator("#guild-icon").set_input_files(str(folder / "leaf.png"))
    operator.fills(name="Plots and beds")
    operator.presses("Make the community")
    operator.reads("Everything is ready")
    expect(operator.page.locator("#invite-link")).to_have_text(re.compile("/invite/"))
    invite = operator.page.locator("#invite-link").inner_text()
    operator.follows("Go in")
    operator.enters()
    return invite


def comes_by(guest: Member, invite: str) -> None:
    """The second person: a new account by the invite, and into the guild."""
    guest.goes_to(invite)
    guest.follows("Make an account")
    guest.fills(email="ben@example.org", global_name="Ben", username="ben", password=PASSWORD)
    guest.presses("Make the account")
    guest.presses("Accept the invite")
    guest.enters()
    guest.page.get_by_role("heading", name="general").first.wait_for()


def test_from_an_empty_machine_to_a_conversation(fresh: Instance, visit: MakeVisitor, tmp_path: Path) -> None:
    ana: Member = visit(fresh, kind=Member, viewport=DESK, reduced_motion="reduce")
    invite = sets_up(ana, fresh, tmp_path)
    ana.page.get_by_role("link", name="Plots and beds").click()
    ana.page.get_by_role("heading", name="general").first.wait_for()
    ana.says("Welcome to the **garden**")
    ana.sees("Welcome to the garden")

    ben: Member = visit(fresh, kind=Member, viewport=PHONE, reduced_motion="reduce", has_touch=True, is_mobile=True)
    comes_by(ben, invite)
    ben.sees("Welcome to the garden")
    field = ben.page.locator("textarea.composer-field").last
    field.fill("Hello Ana")
    ben.page.get_by_role("button", name="Send", exact=True).click()
    ana.sees("Hello Ana")

    # A reaction, a reply, a picture.
    ana.opens_menu_of("Hello Ana")
    ana.chooses("Add a reaction")
    ana.page.get_by_role("searchbox", name="Search emoji").fill("seedling")
    ana.page.get_by_role("gridcell", name="seedling").first.click()
    ben.page.get_by_role("button", name="\N{SEEDLING}").first.wait_for()
    ana.opens_menu_of("Hello Ana")
    ana.chooses("Reply")
    ana.says("There you are")
    ben.sees("There you are")
    expect(ben.page.locator("article .reply").last).to_contain_text("Hello Ana")
    ana.page.locator("input[type=file]").set_input_files(str(tmp_path / "leaf.png"))
    ana.page.get_by_role("textbox", name="Description of leaf.png").fill("A green leaf")
    ana.says("Look")
    ben.page.get_by_role("button", name="A green leaf").wait_for()

    # A thread below a message, and both talk in it.
    ana.opens_menu_of("Look")
    ana.chooses("Start a thread")
    ana.page.get_by_label("Name").fill("About leaves")
    ana.page.get_by_role("dialog").get_by_role("button", name="Start a thread").click()
    ana.page.get_by_role("heading", name="About leaves").first.wait_for()
    ana.says("What is it?")
    ben.page.get_by_role("button", name="About leaves").click()
    ben.sees("What is it?")
    ben.page.locator("textarea.composer-field").fill("Lettuce")
    ben.page.get_by_role("button", name="Send", exact=True).click()
    ana.sees("Lettuce")

    # The network goes and comes back: what was written waits, nothing is missed and nothing doubled.
    ana.context.set_offline(True)
    ana.page.evaluate("window.dispatchEvent(new Event('offline'))")
    ana.says("Written in a tunnel")
    ben.page.locator("textarea.composer-field").fill("Said meanwhile")
    ben.page.get_by_role("button", name="Send", exact=True).click()
    ben.sees("Said meanwhile")
    ana.context.set_offline(False)
    ana.page.evaluate("window.dispatchEvent(new Event('online'))")
    ben.sees("Written in a tunnel")
    ana.sees("Said meanwhile")
    for text in ("Written in a tunnel", "Said meanwhile"):
        for one in (ana, ben):
            expect(one.page.get_by_role("article").filter(has_text=text)).to_have_count(1)

    # A conversation of two.
    ana.page.get_by_role("button", name="Ben").first.click()
    ana.page.get_by_role("dialog", name="Profile").get_by_role("button", name="Message").click()
    ana.page.get_by_role("textbox", name="Message Ben").wait_for()
    ana.says("Just between us")
    ben.page.get_by_role("button", name="Back to the channels").click()
    ben.page.get_by_role("link", name="Conversations, 1 mention").click()
    ben.page.get_by_role("link", name="Ana").click()
    ben.sees("Just between us")
    assert all("/v1/" not in address or address.startswith(fresh.origin) for address in ana.addresses)
