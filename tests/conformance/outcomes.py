"""What the dialogues about the documents' rules share: the kept tables, and how a socket answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from chat.registries.close_codes import Close
from chat.testing.gateway_client import GatewayClient, GatewayClosed

TABLES: Final = Path(__file__).parents[2] / "spec_fixtures" / "gateway"

Outcome = int | tuple[int, str]
"""The opcode of an answer, or code and reason of a close."""


def table(name: str) -> Any:
    """The rows of `spec_fixtures/gateway/<name>.json`."""
    return json.loads((TABLES / f"{name}.json").read_text(encoding="utf-8"))


async def outcome(client: GatewayClient) -> Outcome:
    """The opcode of what the server says next, or how it closes; ask clients without automatic heartbeats."""
    try:
        return (await client.next_payload()).op
    except GatewayClosed as closed:
        return told(closed.close)


async def end(client: GatewayClient) -> tuple[int, str]:
    """Wait for the server's close frame; its code and reason."""
    return told(await client.closed())


def told(close: Close) -> tuple[int, str]:
    """A close as the tables write it."""
    return int(close.code), close.reason
