"""Writes what a core knows of its nodes to a file for operators (`chat.domain.administration.gateway_nodes`)."""

from __future__ import annotations

import os
from pathlib import Path

import attrs
import structlog
import trio

from chat.clock import Clock, SystemClock
from chat.domain.administration import gateway_nodes
from chat.domain.administration.gateway_nodes import NodesStanding, NodeStanding, NodeState
from chat.nodes.core import CoreNodes
from chat.nodes.relay import Line

logger = structlog.get_logger(__name__)


def standing_of(nodes: CoreNodes, clock: Clock) -> NodesStanding:
    """The state of every node that has introduced itself, ordered by name."""
    now_ms, now = clock.now_ms(), trio.current_time()
    known = [_node(line, now_ms - int((now - line.seen_at) * 1_000)) for line in nodes.lines.values() if line.name]
    return NodesStanding(
        at=now_ms,
        process=os.getpid(),
        broker_is_up=nodes.broker_is_up,
        nodes=sorted(known, key=lambda node: (node.name, node.id)),
    )


def _node(line: Line, heard_at: int) -> NodeStanding:
    standing = NodeStanding(
        id=line.id,
        name=line.name,
        version=line.version,
        state=_state(line),
        sessions=len(line.sessions),
        unheard_messages=line.link.unconfirmed,
        heard_at=heard_at,
    )
    told = line.figures
    if told is None or standing.state in gateway_nodes.GONE:
        return standing
    return attrs.evolve(
        standing,
        sockets=told.sockets,
        attached=told.attached,
        backlog_events=told.backlog,
        deliveries=told.delivered,
        cpu_seconds=told.cpu_seconds,
        resident_bytes=told.resident_bytes,
    )


def _state(line: Line) -> NodeState:
    if line.has_ended:
        return NodeState.ENDED
    if line.is_refused:
        return NodeState.REFUSED
    if line.is_dead:
        return NodeState.DEAD
    return NodeState.DRAINING if line.draining else NodeState.UP


async def keep_written(nodes: CoreNodes, directory: Path, *, in_threads: bool) -> None:
    """Keep the file that `chat nodes` reads up to date, until cancelled. Its times are the machine's, because its
    reader knows no other clock."""
    clock, failed = SystemClock(), False
    try:
        while True:
            standing = standing_of(nodes, clock)
            try:
                if in_threads:
                    await trio.to_thread.run_sync(gateway_nodes.write, directory, standing)
                else:
                    gateway_nodes.write(directory, standing)
                failed = False
            except OSError as error:  # a full disk; the nodes go on
                if not failed:
                    logger.warning("what is known of gateway nodes cannot be written", reason=error.strerror)
                failed = True
            await trio.sleep(gateway_nodes.WRITE_SECONDS)
    finally:
        gateway_nodes.forget(directory)
