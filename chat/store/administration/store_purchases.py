"""Purchases in app stores: the rows of `store_purchases`."""

from __future__ import annotations

import sqlite3
from typing import Final

import attrs

from chat.classes import frozen
from chat.registries.store_purchases import PurchaseEnvironment, PurchaseKind, PurchaseState, StoreProvider


def _optional_bool(value: int | None) -> bool | None:
    return None if value is None else bool(value)


@frozen(kw_only=True)
class StorePurchase:
    """One row of `store_purchases`. Times are Unix milliseconds; texts are the store's own."""

    id: int
    user_id: int | None
    """The account that the purchase is linked to."""
    provider: StoreProvider = attrs.field(converter=StoreProvider)
    kind: PurchaseKind = attrs.field(converter=PurchaseKind)
    slot: str
    environment: PurchaseEnvironment = attrs.field(converter=PurchaseEnvironment)
    app_id: str
    """Bundle id or package name."""
    product_id: str
    base_plan_id: str | None = None
    purchase_token: str = attrs.field(repr=False)
    account_token: str | None = attrs.field(default=None, repr=False)
    latest_transaction_id: str | None = None
    ownership_type: str | None = None
    state: PurchaseState = attrs.field(converter=PurchaseState)
    store_state: str | None = None
    expires_at: int | None = None
    grace_ends_at: int | None = None
    auto_renew: bool | None = attrs.field(default=None, converter=_optional_bool)
    started_at: int | None = None
    purchased_at: int | None = None
    revoked_at: int | None = None
    revocation_reason: str | None = None
    superseded: bool = attrs.field(default=False, converter=bool)
    acknowledged: bool = attrs.field(default=False, converter=bool)
    gift_code: str | None = attrs.field(default=None, repr=False)
    bound_at: int | None = None
    last_event_at: int | None = None
    synced_at: int | None = None
    created_at: int
    updated_at: int


_NAMES: Final = tuple(field.name for field in attrs.fields(StorePurchase))
_COLUMNS: Final = ", ".join(_NAMES)


def of_user(connection: sqlite3.Connection, user_id: int, limit: int) -> list[StorePurchase]:
    """Up to `limit` purchases that are linked to the account, the newest first."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM store_purchases WHERE user_id = ? ORDER BY id DESC LIMIT ?",  # noqa: S608 - our names
        (user_id, limit),
    )
    return [_purchase(row) for row in rows]


def by_token(
    connection: sqlite3.Connection, provider: StoreProvider, environment: PurchaseEnvironment, purchase_token: str
) -> StorePurchase | None:
    """The purchase that its store knows by this token, linked to any account or none."""
    row = connection.execute(
        f"""
        SELECT {_COLUMNS} FROM store_purchases WHERE provider = ? AND environment = ? AND purchase_token = ?
        """,  # noqa: S608
        (provider, environment, purchase_token),
    ).fetchone()
    return None if row is None else _purchase(row)


def put(connection: sqlite3.Connection, purchase: StorePurchase) -> None:
    """Add a purchase, or write it anew."""
    values = ", ".join("?" * len(_NAMES))
    changed = ", ".join(f"{name} = excluded.{name}" for name in _NAMES[1:])
    connection.execute(
        f"INSERT INTO store_purchases ({_COLUMNS}) VALUES ({values}) ON CONFLICT (id) DO UPDATE SET {changed}",  # noqa: S608
        attrs.astuple(purchase),
    )


def _purchase(row: tuple[object, ...]) -> StorePurchase:
    return StorePurchase(**dict(zip(_NAMES, row, strict=True)))  # type: ignore[arg-type]
