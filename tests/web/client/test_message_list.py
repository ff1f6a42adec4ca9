"""The message list in Chromium, over a channel of 10,000 messages: nothing that is read moves, whatever comes, grows or
goes around it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import expect

from tests.web.browsing import Instance, Visitor, instance
from tests.web.conftest import MakeVisitor

CHANNEL: Final = Path(__file__).with_name("message_list.js").read_text(encoding="utf-8").split("\n", 1)[1]

DESK: Final = {"width": 1280, "height": 800}
PHONE: Final = {"width": 360, "height": 740}
COUNT: Final = 10_000
MOUNTED: Final = 150


@pytest.fixture(scope="module")
def singly() -> Iterator[Instance]:
    """An instance whose modules can be imported one by one."""
    with instance(CHAT_CLIENT_PACKS="false") as running:
        yield running


class Reader(Visitor):
    """Somebody in front of one channel."""

    def opens(self, **channel: Any) -> None:
        """Open the channel, with this many messages."""
        self.goes_to_a_bare_client()
        picture = self.page.evaluate("document.body.dataset.static + '/icon.svg'")
        given = {"count": COUNT, "unread": 0, "loaded": 0, "failures": 0, "picture": picture}
        self.page.evaluate(CHANNEL, {**given, **channel})

    def gets(self, expression: str, argument: Any = None) -> Any:
        """Something of the channel."""
        return self.page.evaluate(f"(given) => {{ const c = window.channel; return {expression}; }}", argument)

    def scrolls(self, pixels: int) -> None:
        """By a wheel, all at once."""
        self.gets(
            "(c.scroller.dispatchEvent(new WheelEvent('wheel')), c.scroller.scrollTop += given, c.frame())", pixels
        )

    def waits(self, expression: str, argument: Any = None) -> None:
        """Until something is so."""
        self.page.wait_for_function(f"(given) => {{ const c = window.channel; return {expression}; }}", arg=argument)

    def settles(self) -> None:
        """Until what was asked for has come and is drawn."""
        for _ in range(4):
            self.gets("c.frame()")


@pytest.fixture
def reader(visit: MakeVisitor, singly: Instance) -> Reader:
    """A reader at a desk."""
    found: Reader = visit(singly, kind=Reader, viewport=DESK, reduced_motion="reduce")
    return found


def moved(reader: Reader, change: str, given: Any = None) -> float:
    """How far a change moves the row that is read."""
    row, top = reader.gets("c.held()")
    reader.gets(f"({change}, c.frame())", given)
    reader.settles()
    now = reader.gets("c.place(given)", row)
    assert now is not None, "what is read was unmounted"
    return abs(float(now) - float(top))


CHANGES: Final = (
    # A message at the newest end, while an older one is read.
    "c.change(c.idOf(20000 + given), c.message(20000 + given))",
    # Something above or below arrives late and is larger than it said.
    "c.row(c.other(given)).style.setProperty('padding-block-end', `${given}px`)",
    # Somebody edits a message, and it is longer.
    "(c.change(c.other(given), { ...c.all.get(c.other(given)), content: 'longer '.repeat(given) }))",
    # A message goes.
    "c.change(c.other(given), null)",
)


def test_no_row_moves_in_twenty_storms(reader: Reader) -> None:
    """Up, down and across, with changes at every stop; never more than 150 rows."""
    reader.opens()
    chance = random.Random(7)
    worst = 0.0
    changes = 0
    for storm in range(20):
        for _ in range(chance.randint(2, 5)):
            reader.scrolls(chance.choice((-3000, -1500, -700, -2500, 900)))
            assert reader.gets("c.mounted().length") <= MOUNTED
        reader.settles()
        for change in chance.sample(CHANGES, 3):
            worst = max(worst, moved(reader, change, storm * 7 + chance.randint(1, 60)))
            changes += 1
        assert reader.gets("c.mounted().length") <= MOUNTED
        assert worst <= 1, f"storm {storm}"
    assert changes == 60
    pages = [one for one in reader.gets("c.asked") if one[0] == "history" and "before" in one[1]]
    assert len(pages) >= 3


def test_the_way_up_has_no_gap_and_the_way_back_neither(reader: Reader) -> None:
    reader.opens(count=400)
    for step in (-1500, 1500):
        for _ in range(60):
            reader.scrolls(step)
            reader.settles()
            ids = reader.gets("c.mounted()")
            numbers = [(int(one) - 1_000_000) // 10 for one in ids]
            assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
            if numbers[0 if step < 0 else -1] == (0 if step < 0 else 399):
                break
        else:
            pytest.fail("the end is never reached")
    reader.scrolls(100_000)
    assert reader.gets("c.mounted().at(-1)") == str(1_000_000 + 3990)


def test_at_the_end_new_messages_appear_and_elsewhere_they_are_counted(reader: Reader) -> None:
    reader.opens()
    reader.gets("(c.change(c.idOf(10000), c.message(10000)), c.frame())")
    assert reader.gets("c.mounted().at(-1)") == str(1_000_000 + 100_000)
    assert abs(reader.gets("c.scroller.scrollTop")) < 1
    reader.scrolls(-1200)
    reader.settles()
    assert moved(reader, "c.change(c.idOf(10001), c.message(10001))") <= 1
    reader.page.get_by_role("button", name="1 new message").wait_for()
    assert moved(reader, "c.change(c.idOf(10002), c.message(10002))") <= 1
    reader.page.get_by_role("button", name="2 new messages").click()
    reader.waits("Math.abs(c.scroller.scrollTop) < 1 && c.mounted().at(-1) === c.idOf(10002)")
    expect(reader.page.get_by_role("button", name="2 new messages")).to_have_count(0)


def test_the_line_of_what_is_new_stands_a_third_from_the_top_and_stays(reader: Reader) -> None:
    reader.opens(unread=300)
    line = reader.page.get_by_role("separator", name="New", exact=True)
    top = line.bounding_box()
    assert top is not None
    assert 0.2 < top["y"] / DESK["height"] < 0.45
    unread = "c.scroller.querySelector('.unread').nextElementSibling.dataset.id"
    assert reader.gets(unread) == str(1_000_000 + 97_000)
    reader.gets("(c.read.reads.set('100', { last: c.idOf(9999), mentions: 0 }), c.tell(), c.frame())")
    assert reader.gets(unread) == str(1_000_000 + 97_000)
    assert [one for one in reader.gets("c.asked") if one[0] == "acknowledge"] == []


def test_a_jump_shows_the_message_in_the_middle_and_gives_it_the_focus(reader: Reader) -> None:
    reader.opens()
    far = str(1_000_000 + 50_000)
    reader.gets("c.list.jump(given)", far)
    reader.settles()
    box = reader.page.locator(f'article[data-id="{far}"]').bounding_box()
    assert box is not None
    assert abs(box["y"] + box["height"] / 2 - DESK["height"] / 2) <= 1
    assert reader.gets("document.activeElement.dataset.id") == far
    # Things grow around it before the reader moves.
    reader.gets("(c.row(c.idOf(5002)).style.setProperty('block-size', '400px'), c.frame())")
    after = reader.page.locator(f'article[data-id="{far}"]').bounding_box()
    assert after is not None
    assert abs(after["y"] - box["y"]) <= 1
    reader.page.get_by_role("button", name="To the newest").click()
    reader.waits("c.mounted().at(-1) === c.idOf(9999) && Math.abs(c.scroller.scrollTop) < 1")


def test_a_jump_to_a_message_that_is_gone_shows_the_next_and_says_so(reader: Reader) -> None:
    reader.opens()
    reader.gets("c.all.delete(c.idOf(5000))")
    reader.gets("c.list.jump(c.idOf(5000))")
    assert reader.gets("document.activeElement.dataset.id") == str(1_000_000 + 50_010)
    assert reader.gets("c.said") == ["That message is gone. This is the next one."]


def test_reading_needs_a_touch(reader: Reader) -> None:
    """What comes while nobody moves stays unread; a key reads it."""
    reader.opens(unread=3)
    reader.gets("c.frame()")
    assert [one for one in reader.gets("c.asked") if one[0] == "acknowledge"] == []
    reader.page.keyboard.press("Shift")
    reader.waits("c.asked.some((one) => one[0] === 'acknowledge')")
    assert ["acknowledge", "100", str(1_000_000 + 99_990)] in reader.gets("c.asked")


def test_keys_go_through_the_rows_and_act_on_them(reader: Reader) -> None:
    reader.opens()
    reader.gets("c.list.focus()")
    newest = 9999
    assert reader.gets("document.activeElement.dataset.id") == str(1_000_000 + newest * 10)
    reader.page.keyboard.press("ArrowUp")
    reader.page.keyboard.press("ArrowUp")
    chosen = str(1_000_000 + (newest - 2) * 10)
    assert reader.gets("document.activeElement.dataset.id") == chosen
    assert reader.gets("c.scroller.querySelectorAll('article[tabindex=\"0\"]').length") == 1
    for key in ("r", "Delete", "Enter", "+", "p", "u", "e"):
        reader.page.keyboard.press(key)
    assert reader.gets("c.done") == [["reply", chosen], ["delete", chosen], ["menu", chosen], ["pick", chosen]]
    asked = reader.gets("c.asked")
    assert ["pin", "100", chosen] in asked
    assert ["markUnread", "100", chosen] in asked
    # The row goes: its neighbour has the focus.
    reader.gets("(c.change(given, null), c.frame())", chosen)
    assert reader.gets("document.activeElement.dataset.id") == str(1_000_000 + (newest - 1) * 10)
    reader.page.keyboard.press("End")
    assert reader.gets("document.activeElement.dataset.id") == str(1_000_000 + newest * 10)


def test_a_failure_stands_where_the_messages_would_and_can_be_tried_again(reader: Reader) -> None:
    reader.opens(loaded=60, failures=1)
    reader.scrolls(-100_000)
    reader.page.get_by_role("button", name="Try again").click()
    reader.waits("c.mounted().length > 60 || Number(c.mounted()[0]) < 1000000 + 99400")
    expect(reader.page.get_by_role("button", name="Try again")).to_have_count(0)


def test_hostile_content_stays_text(reader: Reader) -> None:
    reader.opens()
    hostile = "<img src=x onerror=alert(1)>\u202e" + "a" + "\u0301" * 4000
    reader.gets("(c.change(c.idOf(10000), c.message(10000, { content: given })), c.frame())", hostile)
    assert reader.gets("c.row(c.idOf(10000)).querySelector('.text').textContent.startsWith('<img src=x')")
    assert reader.gets("c.row(c.idOf(10000)).querySelectorAll('.text img').length") == 0
    assert reader.gets("c.scroller.scrollWidth <= c.scroller.clientWidth")


@pytest.mark.parametrize("density", ["airy", "cosy", "tight"])
def test_it_is_accessible_and_fits(visit: MakeVisitor, singly: Instance, density: str) -> None:
    for scheme, viewport in (("light", DESK), ("dark", PHONE)):
        reader: Reader = visit(singly, kind=Reader, viewport=viewport, color_scheme=scheme, reduced_motion="reduce")
        reader.opens(unread=4)
        reader.gets("document.documentElement.dataset.density = given", density)
        reader.page_is_accessible()
        reader.page_fits()
