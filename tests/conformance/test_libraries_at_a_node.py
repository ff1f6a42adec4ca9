"""Public client libraries hold their conversation with a gateway node: a core, a node and a real broker, each a process
of its own, behind one address. They come back after a cut on a connection that they keep for HTTP, which is the core's:
so their session moves there. Of the second mount, which is the core's alone, none is here.
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
from tests.conformance.clients.talk import STEPS, converse
from tests.conformance.test_client_libraries import PYTHON, commands_in_python
from tests.nodes.one_address import one_address
from tests.nodes.processes import Processes
from tests.nodes.redis_server import HOST, free_port

pytestmark = pytest.mark.long

SCRIPTS: Final = ("fluxer_py", "interfluxer_py")


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
            assert address.sockets >= len(SCRIPTS), "they spoke with the core"
    finally:
        with trio.CancelScope(shield=True):
            await processes.end()


async def test_bots_at_a_node(server: Any) -> None:
    commands = commands_in_python(SCRIPTS, HERE)

    async def hold(script: str) -> None:
        abilities = PYTHON[script].abilities
        passed = await converse(server, *commands[script], abilities)
        assert passed == STEPS - (not abilities.replies) - (not abilities.resumes), script

    async with trio.open_nursery() as nursery:
        for script in SCRIPTS:
            nursery.start_soon(hold, script)
