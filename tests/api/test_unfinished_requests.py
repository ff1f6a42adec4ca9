"""A request that cannot finish what it began: the server does (`chat.domain.policy.errands`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from chat.domain.messages import author_messages
from chat.domain.policy.errands import LOOK_SECONDS, RETRY_SECONDS, Errand
from chat.store import errands
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.canaries import Watch

MESSAGES = 7


@pytest.fixture
async def path(chat_world: World, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where bob deletes all that he wrote in the channel, in portions of two."""
    monkeypatch.setattr(author_messages, "BATCH_MESSAGES", 2)
    for _ in range(MESSAGES):
        (await chat_world.bob.rest.send_message(chat_world.channel_id, "x")).expect(200)
    return f"/v1/channels/{chat_world.channel_id}/messages/bulk-delete-mine"


def after_steps(monkeypatch: pytest.MonkeyPatch, number: int, happens: Callable[[], Any]) -> None:
    """Call `happens` once `number` portions of an errand are done."""
    step, done = Errand.step, 0

    async def counted(self: Errand, *arguments: Any) -> None:
        nonlocal done
        await step(self, *arguments)
        done += 1
        if done == number:
            happens()

    monkeypatch.setattr(Errand, "step", counted)


async def left(world: World) -> int:
    return len((await world.bob.rest.messages(world.channel_id)).expect(200))


async def test_a_store_that_fails_on_the_way(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    database = chat_server.database
    after_steps(monkeypatch, 1, lambda: setattr(database, "failing", True))
    answer = await chat_world.bob.rest.post(path, {"password": chat_world.bob.password})
    assert (answer.status, answer.code) == (503, "SERVICE_UNAVAILABLE")
    await trio.sleep(RETRY_SECONDS / 2)
    assert errands.ids(database.reader)
    database.failing = False
    await trio.sleep(RETRY_SECONDS)
    assert await left(chat_world) == 0
    assert errands.ids(database.reader) == []


async def test_a_caller_who_goes_away(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    with trio.CancelScope() as scope:
        after_steps(monkeypatch, 2, scope.cancel)
        await chat_world.bob.rest.post(path, {"password": chat_world.bob.password})
    assert scope.cancelled_caught
    await trio.sleep(1)
    assert await left(chat_world) == 0
    assert errands.ids(chat_server.database.reader) == []


async def test_a_fault_of_ours_is_told_once_and_tried_again_by_the_next_start(
    chat_server: ChatServer,
    chat_world: World,
    autojump_clock: MockClock,
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    secrets_stay_secret: Watch,
) -> None:
    remove, is_broken = author_messages.remove_messages, True

    def sometimes(*arguments: Any) -> Any:
        if is_broken and errands.ids(chat_server.database.reader):
            raise ZeroDivisionError
        return remove(*arguments)

    monkeypatch.setattr(author_messages, "remove_messages", sometimes)
    answer = await chat_world.bob.rest.post(path, {"password": chat_world.bob.password})
    assert answer.status == 500
    await trio.sleep(3 * LOOK_SECONDS)
    assert len([line for line in secrets_stay_secret.lines if "an errand could not be done" in line]) == 1
    assert await left(chat_world) == MESSAGES - 2
    is_broken = False
    await chat_server.restart()
    await trio.sleep(1)
    assert await left(chat_world) == 0
    assert errands.ids(chat_server.database.reader) == []
