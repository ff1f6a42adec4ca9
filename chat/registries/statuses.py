"""Presence statuses (gateway.md, Presences)."""

from __future__ import annotations

import enum
from typing import Final


class Status(enum.StrEnum):
    """What a session says about the presence of its account (gateway.md, Presences)."""

    DND = "dnd"
    """Present, and not to be disturbed."""

    ONLINE = "online"
    """Present."""

    IDLE = "idle"
    """Present, but away from the keyboard."""

    INVISIBLE = "invisible"
    """Present, but published to others as offline."""

    OFFLINE = "offline"
    """Absent; a client that selects it becomes invisible."""


STATUS_PRECEDENCE: Final[tuple[Status, ...]] = (
    Status.DND,
    Status.ONLINE,
    Status.IDLE,
    Status.INVISIBLE,
    Status.OFFLINE,
)
"""Among several sessions of an account the first of these that any session has is the account's (gateway.md,
Presences)."""

PUBLISHED_STATUSES: Final[frozenset[Status]] = frozenset({Status.DND, Status.ONLINE, Status.IDLE, Status.OFFLINE})
"""What others ever see: invisible is published as offline (gateway.md, Presences)."""
