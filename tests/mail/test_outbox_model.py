"""Whatever happens to the server, the store and us, in any order: no mail is lost, none is sent twice without need."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chat.store.database import open_database
from chat.testing.server import fresh_database
from tests.mail.smtp_server import Postbox, smtp_server
from tests.mail.test_outbox import Place

FOR_NOW, FOR_GOOD = "451 4.3.0 Later", "550 5.1.1 No such user"

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("post"), st.integers(1, 4)),
        st.tuples(st.just("sleep"), st.sampled_from([1, 40, 3_600])),
        st.tuples(
            st.sampled_from(["up", "down", "later", "sooner", "restart", "store fails", "store works"]), st.just(0)
        ),
    ),
    max_size=12,
)


class Story:
    """An outbox in a world that comes and goes."""

    def __init__(self, place: Place, nursery: trio.Nursery) -> None:
        self.place = place
        self.nursery = nursery
        self.posted: list[str] = []
        self.server = contextlib.ExitStack()
        self.is_up = False
        self.life = trio.CancelScope()
        self.start()

    def start(self) -> None:
        self.life = trio.CancelScope()
        self.place.outbox = self.place.new_outbox()
        self.nursery.start_soon(self.live, self.place.outbox, self.life)

    async def live(self, outbox: Any, life: trio.CancelScope) -> None:
        with life:
            await outbox.run()

    def up(self) -> None:
        if not self.is_up:
            self.server.enter_context(smtp_server(self.place.postbox, self.place.port))
        self.is_up = True

    def down(self) -> None:
        self.server.close()
        self.is_up = False

    async def take(self, step: str, number: int) -> None:
        postbox, database = self.place.postbox, self.place.database
        match step:
            case "post":
                names = [f"user{len(self.posted) + index}@example.com" for index in range(number)]
                for name in names[1::3]:
                    postbox.replies[name] = FOR_GOOD
                if not database.failing:
                    await self.place.post(*names)
                    self.posted += names
            case "sleep":
                await trio.sleep(number)
            case "up":
                self.up()
            case "down":
                self.down()
            case "later":
                postbox.replies.update((name, FOR_NOW) for name in self.posted if name not in postbox.replies)
            case "sooner":
                self.sooner()
            case "restart":
                self.life.cancel()
                self.start()
            case "store fails":
                database.failing = True
            case "store works":
                database.failing = False

    def sooner(self) -> None:
        replies = self.place.postbox.replies
        for name in [name for name, reply in replies.items() if reply == FOR_NOW]:
            del replies[name]

    async def end_well(self) -> None:
        """Everything works at last; half a day later nothing waits."""
        self.place.database.failing = False
        self.sooner()
        self.up()
        await trio.sleep(12 * 3_600)


async def tell(steps: list[tuple[str, int]], folder: Path) -> Postbox:
    async with (
        open_database(fresh_database(folder / "chat.db"), inline=True, durable=False) as database,
        trio.open_nursery() as nursery,
    ):
        story = Story(Place(database, folder, in_threads=False), nursery)
        try:
            for step, number in steps:
                await story.take(step, number)
            await story.end_well()
        finally:
            story.down()
        postbox = story.place.postbox
        assert story.place.waiting() == []
        dead = {name for name, reply in postbox.replies.items() if reply == FOR_GOOD}
        assert sorted(postbox.recipients) == sorted(set(story.posted) - dead)
        assert sorted(story.place.bounced.addresses) == sorted(dead & set(story.posted))
        nursery.cancel_scope.cancel()
    return postbox


@pytest.mark.long
@settings(max_examples=25, deadline=None)
@given(STEPS)
@example([("post", 1), ("up", 0), ("post", 1), ("post", 1), ("restart", 0)])  # ends between the mail and its note
@example([("post", 1), ("post", 1), ("up", 0), ("post", 1), ("store fails", 0), ("sleep", 1)])  # the note fails
def test_every_story_ends_well(steps: list[tuple[str, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        trio.run(tell, steps, Path(folder), clock=trio.testing.MockClock(autojump_threshold=0))
