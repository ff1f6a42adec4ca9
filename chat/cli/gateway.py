"""`chat gateway`: run a gateway node."""

from __future__ import annotations

import functools
from typing import Final

import click

from chat.cli import importing, interruptible, unseen
from chat.cli.options import PORT
from chat.collector import collecting_in_small_portions

LEVELS: Final = ("debug", "info", "warning", "error")


@click.command()
@click.option(
    "--nodes",
    metavar="URL",
    envvar="CHAT_NODES",
    required=True,
    help="Broker of the core; one with a password belongs into CHAT_NODES.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=PORT, default=8081, show_default=True, help="Port to listen on; 0 picks a free one.")
@click.option("--node-id", "name", help="Its name in lists and logs.  [default: host name and port]")
@click.option(
    "--log-level",
    default="info",
    show_default=True,
    type=click.Choice(LEVELS),
    help="The least grave lines of the log.",
)
@collecting_in_small_portions()
def gateway(nodes: str, host: str, port: int, name: str | None, log_level: str) -> None:
    """Run a gateway node of another `chat serve`.

    It holds sockets for `chat serve --nodes`, which decides what they are sent. It needs no data directory. As many as
    wanted, on this machine or others; a client may come back at any of them.
    """
    with interruptible(), unseen("rich"), importing():
        import trio

        from chat import log
        from chat.clock import SystemClock, iso_timestamp
        from chat.nodes.serving import serve_node

    clock = SystemClock()
    log.configure(log_level, timestamp=lambda: iso_timestamp(clock.now_ms()))
    announce = functools.partial(_announce, f"[{host}]" if ":" in host else host)
    trio.run(functools.partial(serve_node, nodes, host, port, name, announce))


def _announce(host: str, port: int) -> None:
    click.echo(f"listening on http://{host}:{port} gateway ws://{host}:{port}/gateway")
