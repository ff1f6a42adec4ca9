"""Reads what a store service answers, which is as untrusted as anything from outside: what does not fit raises
Unreadable, and nothing of it is used."""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, TypeVar

from chat.domain.administration.billing import ProcessorSubscription, PurchaseLink, PurchaseReading
from chat.registries.store_purchases import PurchaseEnvironment, PurchaseKind, PurchaseState, StoreProvider
from chat.snowflake import MAXIMUM as SNOWFLAKE_MAXIMUM

E = TypeVar("E", bound=enum.Enum)

TEXT_LENGTH: Final = 512
TOKEN_LENGTH: Final = 4_096

LINKS_MAXIMUM: Final = 200
"""Purchases of one account. A renewal is the same purchase, so that nobody comes near it."""


_ACCOUNT_ID: Final = re.compile(r"[0-9]{1,20}", re.ASCII)

LATEST_MS: Final = 253_402_300_799_999
"""The end of the year 9999, behind which there are no timestamps."""


class Unreadable(ValueError):
    """An answer that does not fit; the text says where."""


class _Members:
    """An object of an answer, read member by member."""

    def __init__(self, value: object, where: str) -> None:
        if not isinstance(value, Mapping):
            raise Unreadable(f"{where} is no object")
        self._value: Mapping[str, Any] = value
        self._where = where

    def _get(self, name: str) -> Any:
        return self._value.get(name)

    def _wrong(self, name: str) -> Unreadable:
        return Unreadable(f"{self._where}.{name}")  # and not what is there, which may be a secret

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
        raise Unreadable("purchases")
    return [_link(_Members(entry, f"purchases.{number}")) for number, entry in enumerate(found)]


def _link(members: _Members) -> PurchaseLink:
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
    members = _Members(answer, "purchase")
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
    found = _Members(answer, "subscription").optional_text("account_id")
    if found is None:
        return None
    if not _ACCOUNT_ID.fullmatch(found) or int(found) > SNOWFLAKE_MAXIMUM:
        raise Unreadable("subscription.account_id")
    return int(found)


def subscription_of(answer: object) -> ProcessorSubscription | None:
    """`{"subscription": {"id", "latest_invoice": {"charge_id"} or null} or null}`."""
    if not isinstance(answer, Mapping) or "subscription" not in answer:
        raise Unreadable("subscription")
    found = answer["subscription"]
    if found is None:
        return None
    subscription = _Members(found, "subscription")
    invoice = found.get("latest_invoice")
    charge = None if invoice is None else _Members(invoice, "subscription.latest_invoice").optional_text("charge_id")
    return ProcessorSubscription(subscription.text("id"), charge or None)
