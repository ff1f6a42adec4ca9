"""`chat serve` and `chat dev`: own the data directory, log, run a server until it has drained."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from chat.cli import importing, interruptible, unseen
from chat.cli.main import leaves
from chat.cli.options import DIRECTORY, FILE, PORT, data_option, json_alone_option
from chat.collector import collecting_in_small_portions
from chat.errors import OperatorError, SettingsError, StorageUnavailable

if TYPE_CHECKING:
    from chat.config import Loaded
    from chat.development.answers import DescribedWorld
    from chat.development.seeded_world import SeededWorld
    from chat.serving import ServerAddresses


SETUP: Final = """\
Nobody administers this instance yet. Open this link in a browser to set it up:

    {}

It works once. Keep it to yourself until then: whoever uses it becomes the administrator.
"""

FROM_ELSEWHERE: Final = "ssh -L {0}:{1}:{0} THIS-MACHINE"
"""What makes the link of a server that listens on loopback alone work in the browser of another machine."""


SEEDED: Final = """\
This listens on {}: whoever reaches it can try to sign in as one of the accounts below. The workbench and the
development routes, which give all tokens away, answer this machine alone; --allow NETWORK lets others in.
"""

LEAST_ROOM_BYTES: Final = 1_048_576
"""A database cannot be opened with less: its write-ahead log and the index of that take room."""

OF_A_DISK: Final = (OSError, sqlite3.Error, StorageUnavailable)

EXPOSED: Final = """\
The workbench and the development routes are open to {}: everybody there gets all tokens of this instance.
"""


@click.command()
@data_option
@click.option("--host", help="Address to listen on.  [default: 127.0.0.1]")
@click.option("--port", type=PORT, help="Port to listen on; 0 picks a free one.  [default: 8080]")
@click.option("--config", "config_file", type=FILE, help="Settings file in place of DIR/chat.toml.")
@click.option("--public-url", help="Origin under which people reach the server.  [default: from host and port]")
@click.option(
    "--webapp",
    type=click.Path(file_okay=False, exists=True, resolve_path=True),
    help="A built web application to serve in place of the web client.",
)
@click.option("--nodes", metavar="URL", help="Broker for gateway nodes; one with a password belongs into CHAT_NODES.")
def serve(
    data: Path,
    host: str | None,
    port: int | None,
    config_file: Path | None,
    public_url: str | None,
    webapp: str | None,
    nodes: str | None,
) -> None:
    """Run the server."""
    with importing():
        from chat.config import load_settings

    flags = {"host": host, "port": port, "public_url": public_url, "webapp_directory": webapp, "nodes": nodes}
    try:
        loaded = load_settings(data, config_file, os.environ, flags)
    except OperatorError as error:
        raise SettingsError(str(error)) from error
    run_server(loaded, announce, development=False)


def announce(addresses: ServerAddresses) -> None:
    """Print the one line that says that the server can serve; on standard error, while the instance is not set up, the
    link for that."""
    if addresses.setup_url is not None:
        _tell_setup_link(addresses.setup_url)
    host = f"[{addresses.host}]" if ":" in addresses.host else addresses.host
    secure = "s" if addresses.has_tls else ""
    place = f"{host}:{addresses.port}"
    click.echo(f"listening on http{secure}://{place} gateway ws{secure}://{place}/gateway")


def _tell_setup_link(link: str) -> None:
    """The set-up link for a terminal, else as a line of the log; written here, because the log shows no secret."""
    from chat import log

    notice, tunnel = SETUP.format(link), _tunnel(link)
    if tunnel is not None:
        notice += f"It opens on this machine. On another one run `{tunnel}` first, or set public_url.\n"
    if not sys.stderr.isatty():
        line = {"logger": "chat.cli", "event": "not set up: open the link", "level": "warning", "link": link}
        if tunnel is not None:
            line["from_another_machine"] = tunnel
        notice = log.with_priority(json.dumps(line), log.WARNING, sys.stderr)
    click.echo(notice, err=True)


def _tunnel(link: str) -> str | None:
    """The command by which another machine reaches the link's port; None where its host says more than "here"."""
    from urllib.parse import urlsplit

    from chat.config.settings import is_loopback

    parts = urlsplit(link)
    if parts.hostname is None or parts.port is None or not is_loopback(parts.hostname):
        return None
    return FROM_ELSEWHERE.format(parts.port, parts.netloc.rpartition(":")[0])


@click.command()
@click.option("--data", type=DIRECTORY, help="Keep the data here, the seeded world included.  [default: temporary]")
@click.option("--host", help="Address to listen on.  [default: 127.0.0.1]")
@click.option("--port", type=PORT, help="Port to listen on; 0 picks a free one.  [default: 8080]")
@click.option(
    "--allow",
    "networks",
    multiple=True,
    metavar="NETWORK",
    help="Let this network reach the workbench and the development routes, which give all tokens away; such as"
    " 192.168.1.0/24. May be repeated.  [default: this machine alone]",
)
@json_alone_option("Print one line of JSON with all that is needed, and nothing else.")
@click.option("--stdio", is_flag=True, help="Be steered by lines of JSON on standard input, and end with it.")
@click.option("--watch", is_flag=True, help="Print every frame and request as it goes.")
def dev(
    data: Path | None,
    host: str | None,
    port: int | None,
    networks: tuple[str, ...],
    as_json: bool,
    stdio: bool,
    watch: bool,
) -> None:
    """Run a throw-away instance for bots and tests.

    It has accounts, a bot and a guild ready to use. Its workbench at /dev shows what goes over the wire.
    """
    if watch and (as_json or stdio):
        raise click.UsageError("--watch prints for people: leave out --json and --stdio")
    flags: dict[str, object] = {"host": host, "port": port, "dev_allow": list(networks) or None}
    announce_world = _announce_as_json if as_json else functools.partial(_announce_to_people, watch=watch)
    if stdio:
        from chat.cli.stdio import settings_of_start

        settings = settings_of_start(sys.stdin)
        if settings is None:
            return
        flags = {**flags, "port": 0 if port is None else port, **settings}
        announce_world = _announce_over_stdio
    with importing():
        from chat.config import load_settings

    with contextlib.ExitStack() as stack:
        if data is None:
            data = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="chat-dev-")))
        loaded = load_settings(data, None, os.environ, flags, development=True)
        _warn_of_exposure(loaded.settings.host, loaded.settings.dev_allow)
        run_server(loaded, announce_world, development=True)


def _warn_of_exposure(host: str, networks: Sequence[str]) -> None:
    from chat.config.settings import is_loopback

    if networks:
        click.echo(EXPOSED.format(", ".join(networks)), err=True)
    elif not is_loopback(host):
        click.echo(SEEDED.format(host), err=True)


def _description(addresses: ServerAddresses) -> DescribedWorld:
    from chat.development.seeded_world import describe

    base_url = f"{addresses.origin}/v1"
    return describe(_world(addresses), base_url=base_url, gateway_url=addresses.gateway_url, pid=os.getpid())


def _announce_as_json(addresses: ServerAddresses) -> None:
    click.echo(json.dumps(_description(addresses)))


def _announce_over_stdio(addresses: ServerAddresses) -> None:
    from chat.cli.stdio import StdioConversation, answer

    answer({}, result=_description(addresses))
    StdioConversation(sys.stdin, addresses.host, addresses.port).start()


def _announce_to_people(addresses: ServerAddresses, *, watch: bool) -> None:
    from chat.cli import development

    announce(addresses)
    world = _world(addresses)
    development.introduce(world, addresses.origin)
    if watch:
        development.watch(world, addresses.host, addresses.port)


def _world(addresses: ServerAddresses) -> SeededWorld:
    if addresses.world is None:
        raise TypeError("a server for development has a seeded world")
    return addresses.world


@contextlib.contextmanager
def _telling_of_a_full_disk(data: Path) -> Iterator[None]:
    """Where the disk is full, that is said: SQLite says "disk I/O error", and the kernel names no place.

    :raises OperatorError: in place of such an error.
    """
    try:
        yield
    except Exception as error:
        disk = os.statvfs(data)
        causes = [cause for leaf in leaves(error) for cause in (leaf, leaf.__cause__)]
        if disk.f_bavail * disk.f_frsize >= LEAST_ROOM_BYTES or not any(isinstance(each, OF_A_DISK) for each in causes):
            raise
        raise OperatorError(f"the disk of {data} is full: nothing can be written there") from error


def _finish_restore(data: Path) -> None:
    from chat.backup.restoring import complete

    complete(data)


@collecting_in_small_portions()
def run_server(loaded: Loaded, announce: Callable[[ServerAddresses], None], *, development: bool) -> None:
    """Run a server on the data directory; `announce` is called once, when it can serve.

    :raises SettingsError: for a setting with which it does not start.
    :raises OperatorError: when another process owns the directory, and for what else keeps the server from starting.
    """
    # structlog imports rich where it finds it: seventy modules that a server has no use for.
    with interruptible(), unseen("rich"):
        import trio

        from chat import log, serving
        from chat.clock import SkippingClock, SystemClock, iso_timestamp
        from chat.store.data_directory import DataDirectory
        from chat.store.mutexes import leave_out_mutexes

    leave_out_mutexes()
    clock = SkippingClock() if development else None
    time_of_day = SystemClock() if clock is None else clock
    log.configure(loaded.settings.log_level, timestamp=lambda: iso_timestamp(time_of_day.now_ms()))
    if loaded.settings.backup.directory is not None:
        from chat.backup.place import directory_of

        directory_of(loaded.settings, loaded.data_directory)
    directory = DataDirectory(loaded.data_directory)
    directory.create()
    with _telling_of_a_full_disk(directory.path), directory.locked():
        directory.require_no_broken_restore(_finish_restore)
        trio.run(functools.partial(serving.serve, loaded, clock=clock, announce=announce), clock=clock)
