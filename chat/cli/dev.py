"""`chat dev`: a throw-away instance with a seeded world."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from chat.cli import serve
from chat.cli.options import DIRECTORY, PORT, json_alone_option

if TYPE_CHECKING:
    from chat.development.seeded_world import SeededWorld
    from chat.serving import ServerAddresses


@click.command()
@click.option("--data", type=DIRECTORY, help="Keep the data here, the seeded world included.  [default: temporary]")
@click.option("--host", help="Address to listen on.  [default: 127.0.0.1]")
@click.option("--port", type=PORT, help="Port to listen on; 0 picks a free one.  [default: 8080]")
@json_alone_option("Print one line of JSON with all that is needed, and nothing else.")
def dev(data: Path | None, host: str | None, port: int | None, as_json: bool) -> None:
    """Run a throw-away instance for bots and tests.

    It has accounts, a bot and a guild ready to use.
    """
    from chat.cli.running import run_server
    from chat.config import load_settings

    with contextlib.ExitStack() as stack:
        if data is None:
            data = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="chat-dev-")))
        loaded = load_settings(data, None, os.environ, {"host": host, "port": port}, development=True)
        run_server(loaded, _announce_as_json if as_json else _announce_to_people, development=True)


def _announce_as_json(addresses: ServerAddresses) -> None:
    from chat.development.seeded_world import describe

    base_url = f"{addresses.origin}/v1"
    world = describe(_world(addresses), base_url=base_url, gateway_url=addresses.gateway_url, pid=os.getpid())
    click.echo(json.dumps(world))


def _announce_to_people(addresses: ServerAddresses) -> None:
    serve.announce(addresses)
    world = _world(addresses)
    for account in world.people:
        click.echo(f"  {account.username:8} {account.email}  password {account.password}  token {account.token}")
    click.echo(f"  {'bot':8} token {world.bot.token}")
    click.echo(f"  guild {world.guild_id}  channel {world.channel_id}  voice channel {world.voice_channel_id}")


def _world(addresses: ServerAddresses) -> SeededWorld:
    if addresses.world is None:
        raise TypeError("a server for development has a seeded world")
    return addresses.world
