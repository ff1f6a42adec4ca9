"""What people do in a talk in the first weeks, by hand: names in what they write, forms, files, search, forums, threads
beside the channel, announcements. Area: the web client's talk."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import pytest
from playwright.sync_api import expect

from tests.web.browsing import Instance, instance
from tests.web.client.test_first_minutes import Place, field_of
from tests.web.client.test_shell import DESK, Member
from tests.web.conftest import MakeVisitor

CLIPBOARD: Final = ("clipboard-read", "clipboard-write")


@pytest.fixture(scope="module")
def home() -> Iterator[Instance]:
    with instance() as running:
        yield running


@pytest.fixture
def place(home: Instance) -> Place:
    return Place(home)


@pytest.fixture
def alice(visit: MakeVisitor, place: Place) -> Member:
    member: Member = visit(kind=Member, viewport=DESK, reduced_motion="reduce")
    return member


def newest(place: Place) -> dict[str, Any]:
    path = f"/v1/channels/{place.channel_id}/messages?limit=1"
    message: dict[str, Any] = place.home.call("GET", path, token=place.alice["token"])[0]
    return message


def sends(member: Member, place: Place, content: str) -> None:
    """Enter; what has arrived is exactly this."""
    field_of(member).press("Enter")
    expect(field_of(member)).to_have_value("")
    member.page.wait_for_function("() => !document.querySelector('article.row[data-id=\"\"]')")
    assert newest(place)["content"] == content


def test_names_stand_for_ids_and_what_is_sent_is_exact(alice: Member, place: Place) -> None:
    alice.context.grant_permissions(list(CLIPBOARD))
    page, bob, carol = alice.page, place.bob["id"], place.carol["id"]
    alice.enters_as("alice", place.path)
    field = field_of(alice)
    # Chosen from the list, beside an input method's own text, and taken back by undo.
    field.press_sequentially("ask @car")
    page.get_by_role("option").filter(has_text="carol").wait_for()
    field.press("Tab")
    expect(field).to_have_value("ask @Carol ")
    expect(page.locator(".composer-named")).to_have_text(["@Carol"])
    field.press("Control+z")
    expect(page.locator(".composer-named")).to_have_count(0)
    field.press("Control+Shift+z")
    expect(field).to_have_value("ask @Carol ")
    keyboard = alice.context.new_cdp_session(page)
    keyboard.send("Input.imeSetComposition", {"text": "\u306b\u3093", "selectionStart": 2, "selectionEnd": 2})
    keyboard.send("Input.insertText", {"text": "\u4eba\u53c2"})
    # Pasted with ids, cut and pasted again, changed by a letter.
    page.evaluate("text => navigator.clipboard.writeText(text)", f" or <@{bob}>, <#{place.channel_id}> <@1>")
    field.press("Control+v")
    expect(field).to_have_value("ask @Carol \u4eba\u53c2 or @Bob, #general <@1>")
    field.press("Control+a")
    field.press("Control+x")
    field.press("Control+v")
    expect(page.locator(".composer-named")).to_have_text(["@Carol", "@Bob", "#general"])
    alice.page_is_accessible()
    # A draft outlives the page.
    page.reload()
    expect(field).to_have_value("ask @Carol \u4eba\u53c2 or @Bob, #general <@1>")
    sends(alice, place, f"ask <@{carol}> \u4eba\u53c2 or <@{bob}>, <#{place.channel_id}> <@1>")
    # What is edited has names again.
    field.press("ArrowUp")
    expect(field).to_have_value("ask @Carol \u4eba\u53c2 or @Bob, #general <@1>")
    field.press("End")
    field.press_sequentially("!")
    field.press("Enter")
    page.get_by_role("article").filter(has_text="\u4eba\u53c2").filter(has_text="!").wait_for()
    assert newest(place)["content"] == f"ask <@{carol}> \u4eba\u53c2 or <@{bob}>, <#{place.channel_id}> <@1>!"
    # Words that only look like a name are words.
    field.press_sequentially("@Bob and @bo")
    page.get_by_role("option").filter(has_text="bob").first.wait_for()
    field.press("Tab")
    name = field.input_value()
    assert name.startswith("@Bob and @bob#"), name
    sends(alice, place, f"@Bob and <@{bob}>")


def test_forms_by_keys_and_by_the_bar(alice: Member, place: Place) -> None:
    alice.enters_as("alice", place.path)
    field, page = field_of(alice), alice.page
    field.press_sequentially("water the beds")
    bar = page.get_by_role("toolbar", name="Format")
    expect(bar).to_have_count(0)
    for _ in "beds":
        field.press("Shift+ArrowLeft")
    field.press("Control+b")
    expect(field).to_have_value("water the **beds**")
    bar.wait_for()
    alice.page_is_accessible()
    bar.get_by_role("button", name="Italic").click()
    expect(field).to_have_value("water the **_beds_**")
    field.press("Control+i")
    field.press("Control+Shift+X")
    field.press("Control+e")
    expect(field).to_have_value("water the **~~`beds`~~**")
    field.press("Control+z")
    expect(field).to_have_value("water the **~~beds~~**")
    field.press("End")
    expect(bar).to_have_count(0)
    sends(alice, place, "water the **~~beds~~**")
    expect(page.get_by_role("article").last.locator("strong s, strong del")).to_have_text("beds")
    field.press("Control+e")  # nothing is selected
    page.get_by_role("dialog", name=re.compile("[Ee]moji")).wait_for()
