"""What the sockets of a gateway share."""

from __future__ import annotations

from collections.abc import Callable

import attrs
import trio

from chat.gateway.admission import Admission
from chat.gateway.commands.handler import CommandHandler
from chat.gateway.fanout import Fanout
from chat.gateway.node import NodeState
from chat.gateway.outbox import OutboxSum
from chat.gateway.session_table import SessionTable
from chat.gateway.starts import SessionStarts


@attrs.frozen
class GatewayParts:
    """What every connection works with; built once, in the composition root."""

    admission: Admission
    node: NodeState
    table: SessionTable
    starts: SessionStarts
    fanout: Fanout
    commands: CommandHandler
    retry_delay_ms: Callable[[int, int], int]
    """A random whole number between two bounds, both included."""
    heartbeat_interval_ms: int
    rate_limited: bool
    """Whether the budget of payloads per socket is enforced."""
    outboxes: OutboxSum
    background: trio.Nursery
    """Holds work that belongs to sessions and not to sockets."""
