"""A connection that is over is freed by counting references: the collector no longer looks at what has come to stay."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator

import pytest
import trio
from trio.testing import MockClock

from chat.gateway.compressed_connection import CompressedConnection
from chat.gateway.connection import Connection
from chat.gateway.outbox import Outbox
from chat.gateway.websocket import WebSocket
from chat.testing import World
from tests.gateway.conversations import post

KINDS = (Connection, CompressedConnection, WebSocket, Outbox)


@pytest.fixture
def without_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def alive() -> Counter[type]:
    return Counter(type(thing) for thing in gc.get_objects() if type(thing) in KINDS)


@pytest.mark.usefixtures("without_collector")
async def test_nothing_of_a_closed_connection_waits_for_the_collector(
    chat_world: World, autojump_clock: MockClock
) -> None:
    before = alive()
    clients = [await chat_world.bob.connect(compressed=compressed) for compressed in (False, True)]
    assert alive() != before
    await post(chat_world)
    for client in clients:
        await client.expect("MESSAGE_CREATE")
        client.drop()
    await trio.sleep(61)
    assert alive() == before
