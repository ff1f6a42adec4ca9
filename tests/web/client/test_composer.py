"""The composer in Chromium: sending, answering, changing, naming people, files, and drafts that outlive the page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import expect

from tests.web.browsing import Instance, Visitor, instance
from tests.web.conftest import MakeVisitor

COMPOSER: Final = Path(__file__).with_name("composer.js").read_text(encoding="utf-8").split("\n", 1)[1]
PHONE: Final = {"width": 360, "height": 740}


@pytest.fixture(scope="module")
def singly() -> Iterator[Instance]:
    """An instance whose modules can be imported one by one."""
    with instance(CHAT_CLIENT_PACKS="false") as running:
        yield running


class Writer(Visitor):
    """A person in front of the field."""

    def opens(self, slow: int = 0, refuses: str = "") -> None:
        self.goes_to_a_bare_client()
        self.page.evaluate(COMPOSER, {"slow": slow, "refuses": refuses})

    @property
    def field(self) -> Any:
        return self.page.locator("textarea")

    def shows(self, text: str) -> None:
        """Until this can be seen."""
        self.page.get_by_text(text).first.wait_for()

    def asked(self, name: str) -> list[Any]:
        """What the composer asked for under this name."""
        return [entry[1:] for entry in self.page.evaluate("window.composer.asked") if entry[0] == name]


@pytest.fixture
def writer(visit: MakeVisitor, singly: Instance) -> Writer:
    found: Writer = visit(singly, kind=Writer)
    found.opens()
    return found


def sent(content: str, files: int = 0) -> list[Any]:
    return [{"content": content, "reply": None, "pings": True, "files": files}]


def test_enter_sends_and_shift_enter_does_not(writer: Writer) -> None:
    writer.field.press_sequentially("two")
    writer.field.press("Shift+Enter")
    writer.field.press_sequentially("lines ")
    assert writer.asked("send") == []
    assert len(writer.asked("typing")) == 1
    writer.field.press("Enter")
    writer.page.wait_for_function("() => window.composer.asked.some(([name]) => name === 'send')")
    assert writer.asked("send") == [sent("two\nlines")]
    expect(writer.field).to_have_value("")
    writer.field.press("Enter")
    assert len(writer.asked("send")) == 1, "an empty message was sent"


def test_a_draft_outlives_the_page(writer: Writer) -> None:
    writer.field.press_sequentially("half a thought")
    writer.page.evaluate(
        """async () => {
            window.composer.composer.stop();
            const { storage } = await import(`${document.body.dataset.client}/base/storage.js`);
            await storage.keys("");  // what is read now comes after what was just written
        }"""
    )
    writer.opens()
    writer.page.wait_for_function("() => document.querySelector('textarea').value === 'half a thought'")
    writer.field.press("Enter")
    writer.page.wait_for_function("() => window.composer.asked.some(([name]) => name === 'send')")
    writer.opens()
    expect(writer.field).to_have_value("")


def test_a_name_is_completed(writer: Writer) -> None:
    writer.field.press_sequentially("hello @be")
    writer.page.get_by_role("option", name="Ben <b>").wait_for()
    writer.page_is_accessible()
    writer.field.press("Tab")
    expect(writer.field).to_have_value("hello @Ben <b> ")
    writer.field.press_sequentially("and <@2>")
    writer.field.press("Enter")
    writer.page.wait_for_function("() => window.composer.asked.some(([name]) => name === 'send')")
    assert writer.asked("send") == [sent("hello <@2> and <@2>")]


def test_arrow_up_changes_the_last_message(writer: Writer) -> None:
    writer.field.press("ArrowUp")
    expect(writer.field).to_have_value("me first")
    writer.field.press("Escape")
    expect(writer.field).to_have_value("")
    writer.field.press("ArrowUp")
    writer.field.press_sequentially(", then you")
    writer.field.press("Enter")
    writer.page.wait_for_function("() => window.composer.asked.some(([name]) => name === 'edit')")
    assert writer.asked("edit") == [["7", "me first, then you"]]
    writer.field.press("Shift+ArrowUp")
    writer.until(lambda: writer.page.evaluate("window.composer.asked.at(-1)") == ["rows"])


def test_what_is_answered_is_named(writer: Writer) -> None:
    writer.page.evaluate("window.composer.composer.reply(window.composer.own, 'Ana <i>')")
    writer.shows("Ana <i>")
    writer.field.press_sequentially("yes")
    writer.field.press("Enter")
    writer.page.wait_for_function("() => window.composer.asked.some(([name]) => name === 'send')")
    (said,) = writer.asked("send")
    assert said[0]["reply"]["id"] == "7"


def test_a_file_that_was_refused_waits_again(visit: MakeVisitor, singly: Instance) -> None:
    writer: Writer = visit(singly, kind=Writer, viewport=PHONE)
    writer.opens(refuses="send")
    files = [{"name": "notes.txt", "mimeType": "text/plain", "buffer": b"seed list"}]
    writer.page.locator("input[type=file]").set_input_files(files)  # type: ignore[arg-type]
    writer.shows("notes.txt")
    writer.field.press_sequentially("the list")
    writer.page.get_by_role("button", name="Send", exact=True).click()
    writer.page.wait_for_function("() => window.composer.asked.some(([name]) => name === 'send')")
    assert writer.asked("send") == [sent("the list", files=1)]
    writer.page.wait_for_function("() => document.querySelector('textarea').value === 'the list'")
    writer.shows("notes.txt")
    writer.page_is_accessible()
    writer.page_fits()


def test_slow_mode_holds_the_next_message_back(visit: MakeVisitor, singly: Instance) -> None:
    writer: Writer = visit(singly, kind=Writer)
    writer.opens(slow=600)
    writer.field.press_sequentially("one")
    writer.field.press("Enter")
    writer.page.wait_for_function("() => window.composer.asked.some(([name]) => name === 'send')")
    writer.field.press_sequentially("two")
    writer.field.press("Enter")
    assert len(writer.asked("send")) == 1
    expect(writer.field).to_have_value("two")
