"""What the sockets of a gateway share while it runs."""

from __future__ import annotations

from collections.abc import Callable

import attrs
import trio

from chat.gateway.admission import Admission, NodeState
from chat.gateway.commands.handler import CommandHandler
from chat.gateway.fanout import Fanout
from chat.gateway.outbox import OutboxSum
from chat.gateway.session_table import SessionTable
from chat.gateway.starts import SessionStarts
from chat.gateway.tap import SocketTap


@attrs.frozen(kw_only=True)
class GatewayParts:
    admission: Admission
    node: NodeState
    table: SessionTable
    starts: SessionStarts
    fanout: Fanout
    commands: CommandHandler
    randint: Callable[[int, int], int]
    """A random whole number between two bounds, both included."""
    heartbeat_interval_ms: int
    outboxes: OutboxSum
    background: trio.Nursery
    """Holds work that belongs to sessions and not to sockets."""
    tap: Callable[[str], SocketTap] | None = None
    """Makes what sees the frames of a socket from this address; None where no one looks (`chat serve`)."""
