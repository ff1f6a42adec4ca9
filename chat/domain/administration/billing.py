"""Where people pay, beyond this server: app stores and a payment processor (instance.md, Stores and payments).

The server knows them through one interface, which a store service of the operator's own implements over HTTP
(`chat.domain.administration.billing_service`). A self-hosted instance has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

import attrs

from chat.errors import ApiError
from chat.registries.store_purchases import PurchaseEnvironment, PurchaseKind, PurchaseState, StoreProvider

RETRY_AFTER_SECONDS: Final = 5


class BillingUnavailable(ApiError):
    """503: a store could not be asked, or said nothing that makes sense. Nothing of what it was asked for was done, as
    far as anybody knows."""

    def __init__(self) -> None:
        super().__init__("STORE_BILLING_UNAVAILABLE", headers={"Retry-After": str(RETRY_AFTER_SECONDS)})


@attrs.frozen(kw_only=True)
class PurchaseLink:
    """A purchase that belongs to an account, as far as it never changes. `bound_at` (Unix ms) is since when."""

    provider: StoreProvider
    kind: PurchaseKind
    slot: str
    environment: PurchaseEnvironment
    app_id: str
    product_id: str
    purchase_token: str = attrs.field(repr=False)
    account_token: str | None = attrs.field(default=None, repr=False)
    gift_code: str | None = attrs.field(default=None, repr=False)
    bound_at: int | None = None


@attrs.frozen(kw_only=True)
class PurchaseReading:
    """How a purchase stands, as its store tells it; times are Unix milliseconds.

    The members are those of the Admin store purchase object (administration.md, Store purchases).
    """

    product_id: str
    base_plan_id: str | None
    account_token: str | None = attrs.field(repr=False)
    latest_transaction_id: str | None
    ownership_type: str | None
    state: PurchaseState
    store_state: str | None
    expires_at: int | None
    grace_ends_at: int | None
    auto_renew: bool | None
    started_at: int | None
    purchased_at: int | None
    revoked_at: int | None
    revocation_reason: str | None
    superseded: bool
    acknowledged: bool
    last_event_at: int | None


@attrs.frozen
class ProcessorSubscription:
    """A subscription at the payment processor, and the charge behind its latest invoice, if that was paid."""

    id: str
    charge_id: str | None


class Billing(Protocol):
    """The stores and the payment processor. Every method raises BillingUnavailable where no answer can be had."""

    async def linked(self, user_id: int) -> Sequence[PurchaseLink]:
        """The purchases that were bound to the account."""
        ...

    async def read(self, purchase: PurchaseLink) -> PurchaseReading | None:
        """How the purchase stands in its store; None where the store does not know it."""
        ...

    async def subscription(self, user_id: int) -> ProcessorSubscription | None:
        """What the account has at the payment processor; None where it has nothing that runs."""
        ...

    async def owner(self, subscription_id: str) -> int | None:
        """The account that has, or had, this subscription at the payment processor; None where nobody has."""
        ...

    async def cancel(self, subscription_id: str) -> None:
        """End a subscription now, without proration. One that has ended stays as it is."""
        ...

    async def refund(self, charge_id: str) -> None:
        """Pay a charge back as fraudulent. One that was paid back stays as it is."""
        ...
