"""Public client libraries hold their conversation with a gateway node, at its mount too: a core, a node and a real
broker, each a process of its own, behind one address. Their Resume goes to the node as their Identify did.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest
import trio

from chat.testing.network import TcpRoute
from tests.conformance.clients.installed import HERE
from tests.conformance.test_client_libraries import (
    NODE,
    PYTHON,
    commands_in_python,
    commands_on_node,
    converse_at_once,
)
from tests.nodes.one_address import one_address
from tests.nodes.processes import Processes
from tests.nodes.redis_server import HOST, free_port

pytestmark = pytest.mark.long

LIBRARIES: Final = PYTHON | NODE


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Any]:
    processes, port = Processes(tmp_path, network=None), free_port()
    origin = f"{HOST}:{port}"
    processes.core.environment = {**processes.core.environment, "CHAT_PUBLIC_URL": f"http://{origin}"}
    try:
        await processes.start()
        async with one_address(port, processes.core.route, processes.nodes[0].route) as address:
            world = {**processes.world, "base_url": f"http://{origin}/v1", "gateway_url": f"ws://{origin}/gateway"}
            alice = next(user["token"] for user in world["users"] if user["username"] == "alice")
            yield SimpleNamespace(route=TcpRoute(HOST, port), world=world, token_of=lambda _: alice)
            # Each has lost its socket once, and has come back.
            assert address.sockets >= 2 * len(LIBRARIES), "they spoke with the core"
    finally:
        with trio.CancelScope(shield=True):
            await processes.end()


async def test_bots_at_a_node(server: Any, tmp_path: Path) -> None:
    for name in ("reports", *NODE):
        (tmp_path / f"{name}.mjs").write_text((HERE / f"{name}.mjs").read_text())
    commands = commands_in_python(PYTHON, HERE) | commands_on_node(NODE, tmp_path)
    await converse_at_once(server, commands, LIBRARIES)
