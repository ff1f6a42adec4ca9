"""A community is brought along by hand: the file goes up, what is in it is looked at and chosen from, it comes, and its
owner reads it. Area: the web client, adding a community."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Route, expect

from tests.imports.discord_world import ANNA, BERT, channel, export, message, packed, put
from tests.web.browsing import Instance, instance
from tests.web.client.test_shell import DESK, PHONE, Member, is_fine
from tests.web.conftest import MakeVisitor

MANY = 100


@pytest.fixture(scope="module")
def home() -> Iterator[Instance]:
    with instance(CHAT_IMPORTS__FROM_BROWSER="everyone") as running:
        yield running


def test_a_community_is_brought_along(visit: MakeVisitor, home: Instance, tmp_path: Path) -> None:
    old = tmp_path / "export"
    said = [message(number, f"old {number}", ANNA if number % 2 else BERT) for number in range(1, MANY + 1)]
    put(old, "a.json", export(channel(1, "harbour"), *said))
    put(old, "b.json", export(channel(2, "pier"), message(200, "from the pier", BERT)))
    archive = packed(old, tmp_path / "old harbour.zip")
    letter = tmp_path / "letter.zip"
    letter.write_bytes(b"Dear Anna")
    alice: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce", service_worker=False)
    alice.enters_as("alice", "/channels/@me")
    page = alice.page
    alice.button("Add a community").click()
    page.get_by_role("menuitem", name="Bring one along").click()
    dialog = page.get_by_role("dialog", name="Bring a community along")
    file = dialog.locator("input[type=file]")
    expect(dialog.get_by_role("status").first).to_contain_text("DiscordChatExporter")
    is_fine(alice)

    file.set_input_files(letter)
    expect(dialog.get_by_role("status").first).to_have_text("The file is no archive, or it is broken.")
    dialog.get_by_role("button", name="Choose another file").click()

    file.set_input_files(archive)
    expect(dialog.get_by_role("status").first).to_have_text(f"Messages in it: {MANY + 1}. Choose what comes.")
    expect(dialog.get_by_role("list", name="Who is who")).to_contain_text("Bert 51 messages")
    is_fine(alice)
    page.set_viewport_size(PHONE)
    is_fine(alice)
    page.set_viewport_size(DESK)
    dialog.get_by_label("Name").fill("Old harbour")
    dialog.get_by_label("pier").uncheck()
    broken: list[Route] = []

    def once(route: Route) -> None:
        # A look that does not reach the server ends nothing.
        route.continue_() if broken else (broken.append(route), route.abort())

    alice.intercepts(re.compile(r"/imports/\d+$"), once)
    with page.expect_request("**/start") as asked:
        dialog.get_by_role("button", name="Bring it along").press("Enter")
    assert [*asked.value.post_data_json] == ["name", "files", "channels"]
    expect(dialog.get_by_role("status").first).to_have_text(f"The community is here. Messages that came: {MANY}")
    is_fine(alice)
    dialog.get_by_role("button", name="Go to the community").click()
    page.get_by_role("link", name="harbour", exact=False).first.click()
    expect(page.get_by_text(f"old {MANY}", exact=True)).to_be_visible()
    expect(page.get_by_role("navigation").get_by_text("pier")).to_have_count(0)

    page.get_by_role("button", name="Add a community", exact=True).click()
    page.get_by_role("menuitem", name="Bring one along").press("Enter")
    said = dialog.get_by_role("status").first
    expect(said).to_have_text(f"The community is here. Messages that came: {MANY}")
    assert broken
    alice.complaints = [text for text in alice.complaints if "net::ERR_FAILED" not in text]
    dialog.get_by_role("button", name="Take it out again").click()
    expect(said).to_have_text("It was taken out again, except what somebody has used since.")
    dialog.get_by_role("button", name="Choose another file").click()
    file.set_input_files(archive)
    expect(dialog.get_by_label("pier")).to_be_checked()
    dialog.get_by_role("button", name="Cancel").click()
    expect(said).to_have_text("It was cancelled. What came by then stays.")
