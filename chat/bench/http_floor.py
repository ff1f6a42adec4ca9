"""The floor of the HTTP side: an empty Quart-Trio route; `python -m chat.bench.http_floor ours|stock`.

`ours` serves it through the connection classes of this server, `stock` through Hypercorn as it comes. Prints its port.
"""

from __future__ import annotations

import json
import sys
from functools import partial
from typing import Any, Final

import hypercorn.trio
import trio
from hypercorn.config import Config
from quart_trio import QuartTrio

from chat.api.http_server import HttpServer
from chat.auth.client_address import ClientAddresses
from chat.clock import SystemClock
from chat.errors import OperatorError
from chat.port.listener import Port, open_listeners
from chat.port.transport import Transport
from chat.port.upgrade import UpgradeRequest

HOST: Final = "127.0.0.1"
PATH: Final = "/empty"
MAXIMUM_CONNECTIONS: Final = 1_000


def application() -> QuartTrio:
    """An application whose one route does nothing, for GET and POST."""
    app = QuartTrio("chat.bench.http_floor", static_folder=None)

    @app.route(PATH, methods=["GET", "POST"])
    async def empty() -> tuple[str, int]:
        return "", 200

    return app


async def serve_ours() -> None:
    """The route on the connection classes of this server."""
    listeners = await open_listeners(HOST, 0)
    http = HttpServer(application(), SystemClock())
    port = Port(
        listeners,
        gateway=_no_gateway,
        http=http,
        addresses=ClientAddresses((), test_header=False),
        maximum_connections=MAXIMUM_CONNECTIONS,
    )
    async with http.running(), trio.open_nursery() as nursery:
        nursery.start_soon(port.serve)
        _announce(listeners[0].port)


async def serve_stock() -> None:
    """The route on Hypercorn."""
    config = Config()
    config.bind = [f"{HOST}:0"]
    config.keep_alive_max_requests = sys.maxsize
    config.accesslog = config.errorlog = None
    app: Any = application()
    async with trio.open_nursery() as nursery:
        binds = await nursery.start(partial(hypercorn.trio.serve, app, config, mode="asgi"))
        _announce(int(binds[0].rpartition(":")[2]))


async def _no_gateway(_: UpgradeRequest, transport: Transport) -> None:
    transport.close()


def _announce(port: int) -> None:
    print(json.dumps({"port": port}), flush=True)


def main(kind: str) -> None:
    """Serve until ended. Raises OperatorError for a kind that there is not."""
    if kind not in ("ours", "stock"):
        raise OperatorError(f"there is no floor {kind}")
    trio.run(serve_ours if kind == "ours" else serve_stock)


if __name__ == "__main__":
    main(sys.argv[1])
