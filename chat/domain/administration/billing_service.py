"""The store service: HTTP between this server and the one that speaks with app stores and payment processor.

The operator runs it and names it in `billing.store_url`; it holds the keys of the stores, and binds a purchase to an
account when an app hands it over. All paths are below that address, all bodies are JSON, times are ISO 8601 with an
offset, and `Authorization: Bearer` carries `billing.store_token` where that is set. It answers 200 unless said
otherwise.

    GET  /accounts/{user_id}/purchases
         {"purchases": [{"provider", "kind", "slot", "environment", "app_id", "product_id", "purchase_token",
                         "account_token"?, "gift_code"?, "bound_at"?}]}
         What was bound to the account, 200 at most. `provider` is store_a or store_b, `kind` subscription or gift,
         `environment` production or sandbox; `purchase_token` is what the store knows the purchase by.

    POST /purchases/read  {"provider", "kind", "environment", "app_id", "product_id", "purchase_token"}
         {"product_id", "state", "superseded", "acknowledged", "base_plan_id"?, "account_token"?,
          "latest_transaction_id"?, "ownership_type"?, "store_state"?, "expires_at"?, "grace_ends_at"?, "auto_renew"?,
          "started_at"?, "purchased_at"?, "revoked_at"?, "revocation_reason"?, "last_event_at"?}
         How its store has it at this moment. `state` is one of pending, active, grace_period, on_hold, paused,
         expired, revoked. 404 {"code": "UNKNOWN_PURCHASE"}: the store does not know it.

    GET  /accounts/{user_id}/subscription
         {"subscription": {"id", "latest_invoice": {"charge_id" or null} or null} or null}
         What runs for the account at the payment processor.

    GET  /subscriptions/{id}
         {"account_id": "..." or null}
         Whose it is, or was. 404 {"code": "UNKNOWN_SUBSCRIPTION"}: there is none of that id.

    POST /subscriptions/{id}/cancel  {"prorate": false}
         Ends it now. Asked twice it is the same. 404 {"code": "UNKNOWN_SUBSCRIPTION"}: there is none any more.

    POST /charges/{id}/refund  {"reason": "fraudulent"}
         Pays it back as a whole. Asked twice (the same `Idempotency-Key`) it is paid back once.
         404 {"code": "UNKNOWN_CHARGE"}: there is none.

Whatever else it answers, a bare 404 of another server at that address too, counts as no answer: BillingUnavailable.
Bounds on time, size and number of exchanges are those of `chat.auth.outgoing_http`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar
from urllib.parse import quote

import structlog

from chat.auth.outgoing_http import OutgoingHttp, Reply
from chat.config.settings import BillingSettings
from chat.domain.administration.billing import BillingUnavailable, ProcessorSubscription, PurchaseLink, PurchaseReading
from chat.domain.administration.billing_answers import Unreadable, links_of, owner_of, reading_of, subscription_of
from chat.errors import ApiError

T = TypeVar("T")

log: Final = structlog.get_logger("chat.billing")


class BillingService:
    """Asks the store service; a `chat.domain.administration.billing.Billing`."""

    def __init__(self, settings: BillingSettings, http: OutgoingHttp) -> None:
        self._url = (settings.store_url or "").rstrip("/")
        self._headers = {} if settings.store_token is None else {"Authorization": f"Bearer {settings.store_token}"}
        self._http = http

    async def linked(self, user_id: int) -> Sequence[PurchaseLink]:
        """See `Billing.linked`."""
        return self._read(await self._get(f"/accounts/{user_id}/purchases"), links_of)

    async def read(self, purchase: PurchaseLink) -> PurchaseReading | None:
        """See `Billing.read`."""
        asked = {
            "provider": purchase.provider,
            "kind": purchase.kind,
            "environment": purchase.environment,
            "app_id": purchase.app_id,
            "product_id": purchase.product_id,
            "purchase_token": purchase.purchase_token,
        }
        reply = await self._post("/purchases/read", asked)
        if _is_unknown(reply, "UNKNOWN_PURCHASE"):
            return None
        reading = self._read(reply, reading_of)
        buyers = {purchase.account_token, reading.account_token} - {None}
        if len(buyers) > 1:
            log.error("the store service tells of somebody else's purchase", app_id=purchase.app_id)
            raise BillingUnavailable
        return reading

    async def subscription(self, user_id: int) -> ProcessorSubscription | None:
        """See `Billing.subscription`."""
        return self._read(await self._get(f"/accounts/{user_id}/subscription"), subscription_of)

    async def owner(self, subscription_id: str) -> int | None:
        """See `Billing.owner`."""
        reply = await self._get(f"/subscriptions/{_segment(subscription_id)}")
        return None if _is_unknown(reply, "UNKNOWN_SUBSCRIPTION") else self._read(reply, owner_of)

    async def cancel(self, subscription_id: str) -> None:
        """See `Billing.cancel`."""
        path = f"/subscriptions/{_segment(subscription_id)}/cancel"
        reply = await self._post(path, {"prorate": False}, key=f"cancel-{subscription_id}")
        self._require_done(reply, "UNKNOWN_SUBSCRIPTION")

    async def refund(self, charge_id: str) -> None:
        """See `Billing.refund`."""
        path = f"/charges/{_segment(charge_id)}/refund"
        reply = await self._post(path, {"reason": "fraudulent"}, key=f"refund-{charge_id}")
        self._require_done(reply, "UNKNOWN_CHARGE")

    async def _get(self, path: str) -> Reply:
        try:
            return await self._http.get(self._url + path, self._headers)
        except ApiError as error:
            raise BillingUnavailable from error

    async def _post(self, path: str, body: object, *, key: str | None = None) -> Reply:
        headers = self._headers if key is None else {**self._headers, "Idempotency-Key": quote(key)}
        try:
            return await self._http.post_json(self._url + path, body, headers)
        except ApiError as error:
            raise BillingUnavailable from error

    def _read(self, reply: Reply, reader: Callable[[Any], T]) -> T:
        if reply.status != 200:
            log.error("the store service does not do what it is asked", status=reply.status)
            raise BillingUnavailable
        try:
            return reader(reply.object())
        except (Unreadable, ApiError) as error:
            log.warning("the store service answers what makes no sense", problem=str(error))
            raise BillingUnavailable from error

    def _require_done(self, reply: Reply, unknown: str) -> None:
        if not 200 <= reply.status < 300 and not _is_unknown(reply, unknown):
            log.error("the store service does not do what it is asked", status=reply.status)
            raise BillingUnavailable


def _segment(identifier: str) -> str:
    """One segment of a path, whatever the identifier is made of: no `..` leads elsewhere."""
    return quote(identifier, safe="").replace(".", "%2E")


def _is_unknown(reply: Reply, code: str) -> bool:
    """Whether the service says so itself; a wrong address answers 404 as well."""
    if reply.status != 404:
        return False
    try:
        return reply.object().get("code") == code
    except ApiError:
        return False
