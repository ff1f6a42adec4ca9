"""`chat serve`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from chat.cli.options import FILE, PORT, data_option

if TYPE_CHECKING:
    from chat.serving import ServerAddresses


@click.command()
@data_option
@click.option("--host", help="Address to listen on.  [default: 127.0.0.1]")
@click.option("--port", type=PORT, help="Port to listen on; 0 picks a free one.  [default: 8080]")
@click.option("--config", "config_file", type=FILE, help="Settings file in place of DIR/chat.toml.")
@click.option("--public-url", help="Origin under which people reach the server.  [default: from host and port]")
def serve(data: Path, host: str | None, port: int | None, config_file: Path | None, public_url: str | None) -> None:
    """Run the server."""
    from chat.cli.running import run_server
    from chat.config import load_settings

    flags = {"host": host, "port": port, "public_url": public_url}
    run_server(load_settings(data, config_file, os.environ, flags), announce, development=False)


def announce(addresses: ServerAddresses) -> None:
    """Print the one line that says that the server can serve."""
    host = f"[{addresses.host}]" if ":" in addresses.host else addresses.host
    click.echo(f"listening on http://{host}:{addresses.port} gateway ws://{host}:{addresses.port}/gateway")
