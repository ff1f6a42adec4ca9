"""An outside judge: the Autobahn cases against an echo on the gateway's own listener, handshake and WebSocket class,
and on the way in of a gateway node.

Groups 12 and 13 are about compression extensions, of which there are none. NON-STRICT verdicts come and go with the
timing of a run (reliability 2); FAILED must never be.

Area: conformance. Rules: 000.framing.
"""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from random import Random
from typing import Final

import pytest
import trio

from chat.auth.client_address import ClientAddresses
from chat.gateway.websocket import Message, WebSocket
from chat.nodes.memory_broker import MemoryBroker
from chat.nodes.node_server import NodeServer
from chat.port.listener import Port, open_listeners
from chat.port.transport import Transport
from chat.port.upgrade import UpgradeRequest
from chat.protocol.frames import binary_frame, text_frame
from chat.testing.server import open_chat_server

pytestmark = pytest.mark.long

LOOPBACK: Final = "127.0.0.1"

CASES = 301
LARGEST_MESSAGE = 16 * 1_048_576
MOST_FRAGMENTS = 100_000
PASSED = {"OK", "NON-STRICT", "INFORMATIONAL"}
RUN_SECONDS = 120


async def echo(_request: UpgradeRequest, transport: Transport) -> None:
    """What comes goes back, in a frame of the same type."""
    websocket = WebSocket(
        transport,
        maximum_message_bytes=LARGEST_MESSAGE,
        maximum_fragments=MOST_FRAGMENTS,
        outbox_limit=2 * LARGEST_MESSAGE,
        validate_text=True,
    )
    async with trio.open_nursery() as nursery:
        nursery.start_soon(websocket.outbox.run_writer)
        while isinstance(message := await websocket.receive(), Message):
            websocket.outbox.send((text_frame if message.text else binary_frame)(message.data))
            await websocket.outbox.drained(LARGEST_MESSAGE)
        await websocket.close()
        nursery.cancel_scope.cancel()


class NoHttp:
    """Nothing here speaks HTTP."""

    async def serve(self, connection: Transport) -> bool:
        """Not asked for."""
        raise AssertionError(connection)

    async def drain(self) -> None:
        """Nothing to end."""


class EchoNode(NodeServer):
    """A gateway node whose sockets say nothing of their own."""

    async def _serve(self, request: UpgradeRequest, transport: Transport) -> None:
        await echo(request, transport)


@asynccontextmanager
async def own_way_in(_folder: Path) -> AsyncIterator[int]:
    listeners = await open_listeners(LOOPBACK, 0)
    port = Port(listeners, gateway=echo, http=NoHttp(), addresses=ClientAddresses(), maximum_connections=100)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(port.serve)
        yield listeners[0].port
        await port.drain(10)


@asynccontextmanager
async def way_in_of_a_node(folder: Path) -> AsyncIterator[int]:
    broker = MemoryBroker()
    node = EchoNode(broker.client(), "node", Random(1))
    listeners = await open_listeners(LOOPBACK, 0)
    async with open_chat_server(folder, broker=broker), node.running(listeners, maximum_connections=100):
        while not node.node.is_up:  # noqa: ASYNC110 - no event says so
            await trio.sleep(0.05)
        yield listeners[0].port


@pytest.mark.rule("000.framing.29")
@pytest.mark.parametrize("way_in", [own_way_in, way_in_of_a_node])
async def test_no_autobahn_case_fails(
    way_in: Callable[[Path], AbstractAsyncContextManager[int]], tmp_path: Path
) -> None:
    judge = Path(sys.executable).with_name("kosoku")
    async with way_in(tmp_path) as port:
        with trio.fail_after(RUN_SECONDS):
            await trio.run_process(
                [
                    str(judge),
                    *("-x", "12.*", "-x", "13.*", "-p", "4", "-o", str(tmp_path)),
                    f"ws://{LOOPBACK}:{port}/gateway",
                ],
                capture_stdout=True,
                capture_stderr=True,
                check=False,  # the report says more than the exit status
            )
    (verdicts,) = json.loads((tmp_path / "index.json").read_bytes()).values()
    assert len(verdicts) == CASES
    failed = {
        case: (verdict["behavior"], verdict["behaviorClose"])
        for case, verdict in verdicts.items()
        if not {verdict["behavior"], verdict["behaviorClose"]} <= PASSED
    }
    assert failed == {}
