"""`chat nodes`: the gateway nodes of a server that runs."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from chat.cli.administration import Instance, administer
from chat.cli.options import instance_options, json_option, print_object, print_objects
from chat.cli.status import size_in_words, span_in_words
from chat.errors import OperatorError
from chat.store.guard import UNGUARDED

if TYPE_CHECKING:
    from chat.domain.administration.gateway_nodes import NodesStanding, NodeStanding
    from chat.store.data_directory import DataDirectory

COLUMNS: Final = ("name", "id", "version", "state", "sockets", "sessions", "unheard", "memory", "heard")
LOOK_SECONDS: Final = 0.5


@click.group()
def nodes() -> None:
    """The gateway nodes of a running server.

    A server that was started with --nodes, and what it knows of every `chat gateway`.
    """


@nodes.command("list")
@instance_options
@json_option
def list_nodes(data: Path, as_json: bool) -> None:
    """Every node, and what it has in hand.

    It is as fresh as what nodes tell: two seconds. A node that has ended, or is dead, stays for two minutes.
    """
    from chat.domain.administration.gateway_nodes import on_the_wire

    standing = _standing(_directory(data))
    now = _now()
    found = [on_the_wire(node, now) for node in standing.nodes]
    if not standing.broker_is_up:
        click.echo("chat: the broker does not answer: this is what nodes told before", err=True)
    print_objects(found, COLUMNS, as_json=as_json, in_words=_in_words)


def _in_words(node: Mapping[str, Any]) -> dict[str, object]:
    return {
        "unheard": node["unheard_messages"],
        "memory": size_in_words(node["resident_bytes"]) if node["resident_bytes"] else "",
        "heard": f"{span_in_words(node['heard_seconds_ago'])} ago",
    }


@nodes.command("drain")
@instance_options
@click.argument("name", metavar="NODE")
@click.option(
    "--timeout",
    type=click.FloatRange(0, 3_600),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait until it has ended; 0 asks it and returns.",
)
@json_option
def drain(data: Path, name: str, timeout: float, as_json: bool) -> None:
    """Have a node send its sessions elsewhere, and end.

    NODE is a name or an id as `chat nodes list` shows it. Its clients go on at other nodes, or at the server, and miss
    nothing. A service manager that starts it again takes up the new version.
    """
    from chat.domain.administration.gateway_nodes import GONE, on_the_wire

    directory = _directory(data)
    node = _found(_standing(directory), name)

    async def ask(instance: Instance) -> None:
        from chat.domain.administration import server_notes

        await instance.database.write(
            lambda connection: server_notes.leave(
                connection, server_notes.node_drained(node.id), instance.clock.now_ms()
            ),
            guard=UNGUARDED,
        )

    administer(data, ask)
    until = time.monotonic() + timeout
    while timeout and node.state not in GONE:
        if time.monotonic() >= until:
            raise OperatorError(f"{node.name} was asked, and has not ended within {timeout:g} seconds")
        time.sleep(LOOK_SECONDS)
        there = {one.id: one for one in _standing(directory).nodes}
        node = there.get(node.id, node)
    shown = ("name", "id", "version", "state", "sessions")
    print_object(on_the_wire(node, _now()), as_json=as_json, shown=shown)


def _directory(data: Path) -> DataDirectory:
    from chat.store.data_directory import DataDirectory

    directory = DataDirectory(data)
    directory.require()
    return directory


def _standing(directory: DataDirectory) -> NodesStanding:
    """What the server wrote down. Raises OperatorError where none runs, or runs without nodes."""
    from chat.domain.administration import gateway_nodes

    process = directory.owner()
    if process is None:
        raise OperatorError(f"no server runs on {directory.path}: gateway nodes are known to one that runs")
    standing = gateway_nodes.read(directory.path, process, _now())
    if standing is None:
        raise OperatorError("the server runs without gateway nodes: `chat serve --nodes URL` is their core")
    return standing


def _found(standing: NodesStanding, name: str) -> NodeStanding:
    """The node that is meant; one that is there before others. Raises OperatorError where none is, or several are."""
    from chat.domain.administration.gateway_nodes import GONE

    meant = [node for node in standing.nodes if name in (node.name, node.id)]
    there = [node for node in meant if node.state not in GONE]
    if len(there) > 1:
        raise OperatorError(f"several nodes are called {name}: name one by its id ({', '.join(n.id for n in there)})")
    if there:
        return there[0]
    if meant:
        raise OperatorError(f"{name} is {meant[0].state} already")
    names = ", ".join(sorted({node.name for node in standing.nodes if node.state not in GONE}))
    raise OperatorError(f"there is no node {name}; " + (f"here are: {names}" if names else "none is here"))


def _now() -> int:
    return int(time.time() * 1_000)
