"""Who is alive: the names of leases, and how long a lease lasts."""

from __future__ import annotations

from typing import Final

CORE_STREAM: Final = "core"
"""The stream on which all nodes send to the core."""

CORE_LEASE: Final = "lease:core"
LEASE_SECONDS: Final = 3.0
"""A core or a node that does not renew its lease for this long counts as dead."""


def lease_of(node: str) -> str:
    """The key of a node's lease."""
    return f"lease:{node}"


def core_of(lease: bytes) -> tuple[str, int]:
    """The instance and the epoch of the core that holds the lease."""
    instance, _, epoch = lease.decode().rpartition(":")
    return instance, int(epoch)
