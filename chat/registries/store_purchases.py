"""Purchases that people make in app stores (administration.md, Store purchases).

Outside rules name the values of all but the state; those are ours.
"""

from __future__ import annotations

import enum
from typing import Final


class StoreProvider(enum.StrEnum):
    """The two app stores, as the wire calls them."""

    STORE_A = "store_a"
    """The one whose purchases have transactions, and an ownership."""

    STORE_B = "store_b"
    """The one whose purchases have orders and base plans, and have to be acknowledged."""


class PurchaseKind(enum.StrEnum):
    """What was bought."""

    SUBSCRIPTION = "subscription"
    """Premium for the buyer, by the period."""

    GIFT = "gift"
    """A code that gives premium to whoever redeems it."""


class PurchaseEnvironment(enum.StrEnum):
    """Where it was bought."""

    PRODUCTION = "production"
    """In the store."""

    SANDBOX = "sandbox"
    """In the store's own tests, without money."""


class PurchaseState(enum.StrEnum):
    """How a purchase stands."""

    PENDING = "pending"
    """The store waits for the money."""

    ACTIVE = "active"
    """It is paid for."""

    GRACE_PERIOD = "grace_period"
    """A renewal could not be paid; the store tries again, and the buyer keeps what they have."""

    ON_HOLD = "on_hold"
    """A renewal could not be paid; the store tries again, and the buyer goes without."""

    PAUSED = "paused"
    """The buyer has interrupted it."""

    EXPIRED = "expired"
    """It is over, or its store knows nothing of it."""

    REVOKED = "revoked"
    """The store took it back, with or without the money."""


ENTITLING: Final = frozenset({PurchaseState.ACTIVE, PurchaseState.GRACE_PERIOD})
"""The states in which a subscription grants premium."""
