"""Two browsers on two nodes behind a proxy talk; a node is killed, another is drained, and neither person notices."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.nodes.demonstration import Demonstration, demonstration
from tests.patience import PATIENCE_SECONDS
from tests.web.browsing import Instance
from tests.web.client.test_shell import DESK, Member
from tests.web.conftest import chromium as chromium

pytestmark = pytest.mark.long


@pytest.fixture
def shown(tmp_path: Path) -> Iterator[Demonstration]:
    with demonstration(tmp_path) as running:
        yield running


class Talker(Member):
    """Somebody with the seeded channel before them."""

    def says(self, text: str) -> None:
        box = self.page.get_by_role("textbox", name="Message")
        box.fill(text)
        box.press("Enter")

    def sees(self, *texts: str) -> None:
        """Each once, in this order, and nothing that looks like trouble."""
        articles = self.page.get_by_role("article")
        expect(articles.filter(has_text=texts[-1])).to_have_count(1)
        said = [article.inner_text() for article in articles.all()]
        places = [next(place for place, one in enumerate(said) if text in one) for text in texts]
        assert places == sorted(places)
        assert all(sum(text in one for one in said) == 1 for text in texts), said
        expect(self.page.locator("[role=alert]:visible")).to_have_count(0)


def standing_of(shown: Demonstration) -> dict[tuple[str, str], int]:
    """The number of sessions of each node, by its name and state."""
    return {(node["name"], node["state"]): node["sessions"] for node in shown.chat("nodes", "list")}


def becomes(shown: Demonstration, expected: dict[tuple[str, str], int]) -> None:
    given_up = time.monotonic() + PATIENCE_SECONDS
    while (found := standing_of(shown)) != expected:
        assert time.monotonic() < given_up, (found, shown.log)
        time.sleep(0.5)


def test_a_killed_node_goes_unnoticed(shown: Demonstration, chromium: Browser) -> None:
    home = Instance(shown.world, str(shown.data))
    place = f"/channels/{shown.world['guild_id']}/{shown.world['channel_id']}"
    people = {name: Talker(chromium, home, viewport=DESK, reduced_motion="reduce") for name in ("alice", "bob")}
    alice, bob = people.values()
    for name, person in people.items():
        person.enters_as(name, place)
    one, other = shown.nodes
    becomes(shown, {("node 1", "up"): 1, ("node 2", "up"): 1})
    alice.says("is this on?")
    bob.sees("is this on?")
    bob.says("it is")
    alice.sees("is this on?", "it is")

    shown.nodes[one].send_signal(signal.SIGKILL)
    alice.says("a node is gone")
    bob.sees("is this on?", "it is", "a node is gone")
    bob.says("which one?")
    for person in people.values():
        person.sees("is this on?", "it is", "a node is gone", "which one?")
    becomes(shown, {("node 1", "dead"): 0, ("node 2", "up"): 2})

    # It is started again and the other one drained: both go on at the new one.
    shown.nodes[one].wait()
    shown.start_node(one)
    drained = shown.chat("nodes", "drain", "node 2")
    assert (drained["state"], shown.nodes[other].wait(PATIENCE_SECONDS)) == ("ended", 0)
    bob.says("still here")
    for person in people.values():
        person.sees("is this on?", "it is", "a node is gone", "which one?", "still here")
    becomes(shown, {("node 1", "dead"): 0, ("node 1", "up"): 2, ("node 2", "ended"): 0})
    for person in people.values():
        person.close()
