"""Gateway nodes as the core sees them (architecture.md, Beyond one process), for the commands, the console and the
metrics.

A command beside the server reads them from a file in the data directory, which the server writes as often as nodes tell
their figures. The file says which process wrote it: one that was left behind says nothing.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final, cast

import attrs
import cattrs
import orjson

from chat import wire
from chat.classes import frozen
from chat.clock import iso_timestamp

WRITE_SECONDS: Final = 2.0
"""How often the server writes the file."""

STALE_MS: Final = 30_000
"""A file that was written longer ago is not of the process that runs now, or that process stands still."""


class NodeState(StrEnum):
    UP = "up"
    DRAINING = "draining"
    """It sends its sessions elsewhere, and ends."""
    ENDED = "ended"
    """It ended in good order; sessions that have not been resumed yet wait."""
    DEAD = "dead"
    """It let its lease lapse; its sessions are resumed at other nodes."""
    REFUSED = "refused"
    """Its version is too far from that of the core."""


GONE: Final = frozenset({NodeState.ENDED, NodeState.DEAD, NodeState.REFUSED})
"""States that a node does not come back from: it starts anew under another id."""


@frozen(kw_only=True)
class NodeStanding:
    """One node. `sessions` are the core's own count; the node reported the other figures last."""

    id: str
    name: str
    version: str
    state: NodeState
    sessions: int
    unheard_messages: int
    """Messages of the core that it has not confirmed."""
    heard_at: int
    """When it told its figures last, or was found dead; Unix milliseconds."""
    sockets: int = 0
    attached: int = 0
    backlog_events: int = 0
    """Events that it has not delivered yet."""
    deliveries: int = 0
    cpu_seconds: float = 0.0
    resident_bytes: int = 0


@frozen(kw_only=True)
class NodesStanding:
    """All nodes of a core at a moment (`at`, Unix milliseconds). A node that is gone stays for two minutes, and as long
    as sessions wait for it."""

    at: int
    process: int
    broker_is_up: bool
    nodes: Sequence[NodeStanding]

    def labels(self) -> Iterator[tuple[str, NodeStanding]]:
        """Each node with a name that no other one has here: of those that share one, a node that is gone is left out
        beside one that is there, and several are told apart by their ids."""
        there = {node.name for node in self.nodes if node.state not in GONE}
        shown = [node for node in self.nodes if node.state not in GONE or node.name not in there]
        count = Counter(node.name for node in shown)
        for node in shown:
            yield node.name if count[node.name] == 1 else f"{node.name} {node.id}", node


def on_the_wire(node: NodeStanding, now: int) -> wire.GatewayNode:
    """A node in the words of the Admin API, and of `chat nodes list --json`."""
    return {
        **cast("wire.GatewayNode", attrs.asdict(attrs.evolve(node, cpu_seconds=round(node.cpu_seconds, 2)))),
        "heard_at": iso_timestamp(node.heard_at),
        "heard_seconds_ago": max(0, now - node.heard_at) // 1_000,
    }


def file_in(directory: Path) -> Path:
    """The file that the server writes and `read` reads."""
    return directory / "nodes.json"


def write(directory: Path, standing: NodesStanding) -> None:
    """Replace the file. Raises OSError."""
    file = file_in(directory)
    draft = file.with_name("nodes.json.draft")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(orjson.dumps(attrs.asdict(standing)))
    draft.replace(file)


def forget(directory: Path) -> None:
    """The server has no nodes any more."""
    with contextlib.suppress(OSError):
        file_in(directory).unlink(missing_ok=True)


def read(directory: Path, process: int | None, now: int) -> NodesStanding | None:
    """The record of the server that runs on this directory; None if none runs, or it has no nodes."""
    try:
        standing = cattrs.structure(orjson.loads(file_in(directory).read_bytes()), NodesStanding)
    except (OSError, ValueError, TypeError, KeyError, cattrs.BaseValidationError):
        return None
    return standing if standing.process == process and now - standing.at < STALE_MS else None
