"""Where people pay, beyond this server: app stores and a payment processor (instance.md, Stores and payments). A
self-hosted instance has none.

This server speaks with both through the store service, over HTTP. The operator runs it and names it in
`billing.store_url`; it holds the keys of the stores, and binds a purchase to an account when an app hands it over. All
paths are below that URL, all bodies are JSON, times are ISO 8601 with an offset, and `Authorization: Bearer` carries
`billing.store_token` where that is set. It answers 200 unless said otherwise.

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

Any other answer, a bare 404 of another server at that address too, counts as no answer: BillingUnavailable.
Bounds on time, size and number of exchanges are those of `chat.auth.outgoing_http`.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, TypeVar
from urllib.parse import quote

import attrs
import structlog

from chat.auth.outgoing_http import OutgoingHttp, Reply
from chat.classes import frozen
from chat.config.settings import BillingSettings
from chat.errors import ApiError
from chat.registries.error_codes import ErrorCode
from chat.registries.store_purchases import PurchaseEnvironment, PurchaseKind, PurchaseState, StoreProvider
from chat.snowflake import MAXIMUM as SNOWFLAKE_MAXIMUM

T = TypeVar("T")
E = TypeVar("E", bound=enum.Enum)

log: Final = structlog.get_logger("chat.billing")

TEXT_LENGTH: Final = 512
TOKEN_LENGTH: Final = 4_096


_ACCOUNT_ID: Final = re.compile(r"[0-9]{1,20}", re.ASCII)

LATEST_MS: Final = 253_402_300_799_999
"""The end of the year 9999, behind which there are no timestamps."""

RETRY_AFTER_SECONDS: Final = 5

LINKS_MAXIMUM: Final = 200
"""Purchases of one account. A renewal is the same purchase, so no account comes near it."""


class BillingUnavailable(ApiError):
    """503: a store could not be asked, or said nothing that makes sense. Nothing of what it was asked for was done, as
    far as is known."""

    def __init__(self) -> None:
        super().__init__(ErrorCode.STORE_BILLING_UNAVAILABLE, headers={"Retry-After": str(RETRY_AFTER_SECONDS)})


@frozen(kw_only=True)
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


@frozen(kw_only=True)
class PurchaseReading:
    """How a purchase stands, as its store tells it; times are Unix milliseconds. The members are those of the Admin
    store purchase object (administration.md, Store purchases)."""

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


@frozen
class ProcessorSubscription:
    """A subscription at the payment processor, and the charge behind its latest invoice, if that was paid."""

    id: str
    charge_id: str | None


class Billing:
    """Asks the store service. Every method raises BillingUnavailable where no answer can be had."""

    def __init__(self, settings: BillingSettings, http: OutgoingHttp) -> None:
        self._url = (settings.store_url or "").rstrip("/")
        self._headers = {} if settings.store_token is None else {"Authorization": f"Bearer {settings.store_token}"}
        self._http = http

    async def linked(self, user_id: int) -> Sequence[PurchaseLink]:
        """The purchases that were bound to the account."""
        return self._read(await self._get(f"/accounts/{user_id}/purchases"), links_of)

    async def read(self, purchase: PurchaseLink) -> PurchaseReading | None:
        """The state of the purchase in its store; None if the store does not know it."""
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
        """The account's running subscription at the payment processor; None if it has none."""
        return self._read(await self._get(f"/accounts/{user_id}/subscription"), subscription_of)

    async def owner(self, subscription_id: str) -> int | None:
        """The account that has, or had, this subscription at the payment processor; None where there is none."""
        reply = await self._get(f"/subscriptions/{_segment(subscription_id)}")
        return None if _is_unknown(reply, "UNKNOWN_SUBSCRIPTION") else self._read(reply, owner_of)

    async def cancel(self, subscription_id: str) -> None:
        """End a subscription now, without proration. One that has ended stays as it is."""
        path = f"/subscriptions/{_segment(subscription_id)}/cancel"
        reply = await self._post(path, {"prorate": False}, key=f"cancel-{subscription_id}")
        self._require_done(reply, "UNKNOWN_SUBSCRIPTION")

    async def refund(self, charge_id: str) -> None:
        """Pay a charge back as fraudulent. One that was paid back stays as it is."""
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
        except (UnreadableAnswer, ApiError) as error:
            log.warning("the store service answers what makes no sense", problem=str(error))
            raise BillingUnavailable from error

    def _require_done(self, reply: Reply, unknown: str) -> None:
        if not 200 <= reply.status < 300 and not _is_unknown(reply, unknown):
            log.error("the store service does not do what it is asked", status=reply.status)
            raise BillingUnavailable


def _segment(identifier: str) -> str:
    """An identifier as one segment of a path, encoded so that it can lead nowhere else (`..`)."""
    return quote(identifier, safe="").replace(".", "%2E")


def _is_unknown(reply: Reply, code: str) -> bool:
    """Whether the billing service itself says that the object does not exist. Status 404 alone does not tell: a wrong
    address answers 404, too."""
    if reply.status != 404:
        return False
    try:
        return reply.object().get("code") == code
    except ApiError:
        return False


class UnreadableAnswer(ValueError):
    """An answer that does not fit; the text says where."""


class _AnswerMembers:
    """An object of an answer, read member by member."""

    def __init__(self, value: object, where: str) -> None:
        if not isinstance(value, Mapping):
            raise UnreadableAnswer(f"{where} is no object")
        self._value: Mapping[str, Any] = value
        self._where = where

    def _get(self, name: str) -> Any:
        return self._value.get(name)

    def _wrong(self, name: str) -> UnreadableAnswer:
        return UnreadableAnswer(f"{self._where}.{name}")  # and not what is there, which may be a secret

    def text(self, name: str, maximum: int = TEXT_LENGTH) -> str:
        found = self.optional_text(name, maximum)
        if not found:
            raise self._wrong(name)
        return found

    def optional_text(self, name: str, maximum: int = TEXT_LENGTH) -> str | None:
        found = self._get(name)
        if found is None:
            return None
        if not isinstance(found, str) or len(found) > maximum or "\0" in found:
            raise self._wrong(name)
        return found

    def word(self, name: str, words: type[E]) -> E:
        found = self._get(name)
        try:
            return words(found)
        except ValueError as error:
            raise self._wrong(name) from error

    def truth(self, name: str) -> bool:
        found = self.optional_truth(name)
        if found is None:
            raise self._wrong(name)
        return found

    def optional_truth(self, name: str) -> bool | None:
        found = self._get(name)
        if found is None or isinstance(found, bool):
            return found
        raise self._wrong(name)

    def moment(self, name: str) -> int | None:
        """An ISO 8601 timestamp with its offset, as Unix milliseconds."""
        found = self.optional_text(name)
        if found is None:
            return None
        try:
            moment = datetime.fromisoformat(found)
            milliseconds = round(moment.timestamp() * 1_000)
        except (ValueError, OverflowError) as error:
            raise self._wrong(name) from error
        if moment.tzinfo is None or not 0 <= milliseconds <= LATEST_MS:
            raise self._wrong(name)
        return milliseconds


def links_of(answer: object) -> list[PurchaseLink]:
    """`{"purchases": [...]}`: the purchases of an account, each once."""
    found = answer.get("purchases") if isinstance(answer, Mapping) else None
    if not isinstance(found, list) or len(found) > LINKS_MAXIMUM:
        raise UnreadableAnswer("purchases")
    return [_link(_AnswerMembers(entry, f"purchases.{number}")) for number, entry in enumerate(found)]


def _link(members: _AnswerMembers) -> PurchaseLink:
    return PurchaseLink(
        provider=members.word("provider", StoreProvider),
        kind=members.word("kind", PurchaseKind),
        slot=members.text("slot"),
        environment=members.word("environment", PurchaseEnvironment),
        app_id=members.text("app_id"),
        product_id=members.text("product_id"),
        purchase_token=members.text("purchase_token", TOKEN_LENGTH),
        account_token=members.optional_text("account_token", TOKEN_LENGTH),
        gift_code=members.optional_text("gift_code"),
        bound_at=members.moment("bound_at"),
    )


def reading_of(answer: object) -> PurchaseReading:
    """How a purchase stands."""
    members = _AnswerMembers(answer, "purchase")
    return PurchaseReading(
        product_id=members.text("product_id"),
        base_plan_id=members.optional_text("base_plan_id"),
        account_token=members.optional_text("account_token", TOKEN_LENGTH),
        latest_transaction_id=members.optional_text("latest_transaction_id"),
        ownership_type=members.optional_text("ownership_type"),
        state=members.word("state", PurchaseState),
        store_state=members.optional_text("store_state"),
        expires_at=members.moment("expires_at"),
        grace_ends_at=members.moment("grace_ends_at"),
        auto_renew=members.optional_truth("auto_renew"),
        started_at=members.moment("started_at"),
        purchased_at=members.moment("purchased_at"),
        revoked_at=members.moment("revoked_at"),
        revocation_reason=members.optional_text("revocation_reason"),
        superseded=members.truth("superseded"),
        acknowledged=members.truth("acknowledged"),
        last_event_at=members.moment("last_event_at"),
    )


def owner_of(answer: object) -> int | None:
    """`{"account_id": "…" or null}`."""
    found = _AnswerMembers(answer, "subscription").optional_text("account_id")
    if found is None:
        return None
    if not _ACCOUNT_ID.fullmatch(found) or int(found) > SNOWFLAKE_MAXIMUM:
        raise UnreadableAnswer("subscription.account_id")
    return int(found)


def subscription_of(answer: object) -> ProcessorSubscription | None:
    """`{"subscription": {"id", "latest_invoice": {"charge_id"} or null} or null}`."""
    if not isinstance(answer, Mapping) or "subscription" not in answer:
        raise UnreadableAnswer("subscription")
    found = answer["subscription"]
    if found is None:
        return None
    subscription = _AnswerMembers(found, "subscription")
    invoice = found.get("latest_invoice")
    charge = (
        None if invoice is None else _AnswerMembers(invoice, "subscription.latest_invoice").optional_text("charge_id")
    )
    return ProcessorSubscription(subscription.text("id"), charge or None)
