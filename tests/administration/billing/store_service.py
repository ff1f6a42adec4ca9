"""A store service of the tests' own, as `chat.domain.administration.billing` describes one: it does what it is
told to, and it can lie, stammer, sleep and be gone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final
from urllib.parse import unquote

from tests.loopback_http import Answer, Asked, LoopbackHttp

TOKEN: Final = "the store service knows us by this"
Fault = Callable[[Asked], Awaitable[Answer | None]]

UNKNOWN_PURCHASE: Final = Answer(404, {"code": "UNKNOWN_PURCHASE"})
UNKNOWN_SUBSCRIPTION: Final = Answer(404, {"code": "UNKNOWN_SUBSCRIPTION"})


def link(name: str, *, provider: str = "store_a", kind: str = "subscription", **members: Any) -> dict[str, Any]:
    """A purchase that was bound to an account; its secrets are made of its name."""
    return {
        "provider": provider,
        "kind": kind,
        "slot": "premium",
        "environment": "production",
        "app_id": "chat.example.app",
        "product_id": "premium.monthly",
        "purchase_token": f"purchase-token-{name}",
        "account_token": f"account-token-{name}",
        "bound_at": "2025-01-02T03:04:05Z",
        **members,
    }


def standing(state: str = "active", **members: Any) -> dict[str, Any]:
    """How a purchase stands in its store."""
    return {
        "product_id": "premium.monthly",
        "state": state,
        "superseded": False,
        "acknowledged": True,
        **members,
    }


class StoreService(LoopbackHttp):
    """The service; what it knows is in its members."""

    def __init__(self) -> None:
        super().__init__()
        self.links: dict[str, list[dict[str, Any]]] = {}
        """By account."""
        self.standings: dict[str, dict[str, Any]] = {}
        """By purchase token; what is not there the store does not know."""
        self.subscriptions: dict[str, Any] = {}
        """By account, at the payment processor."""
        self.owners: dict[str, str] = {}
        """By subscription, those that have ended too."""
        self.cancelled: list[str] = []
        self.refunded: list[str] = []
        self.faults: dict[str, Fault] = {}
        """By the beginning or the end of a path: what it does instead. None lets it go on."""

    def has(self, user_id: str, name: str, **members: Any) -> None:
        """The account has a purchase that its store does not know yet."""
        self.links.setdefault(user_id, []).append(link(name, **members))

    def stands(self, name: str, state: str = "active", **members: Any) -> None:
        """The purchase stands so in its store."""
        self.standings[f"purchase-token-{name}"] = standing(state, **members)

    def forgets(self, name: str) -> None:
        """Its store does not know the purchase any longer."""
        del self.standings[f"purchase-token-{name}"]

    async def answer(self, asked: Asked) -> Answer:
        for part, fault in self.faults.items():
            if asked.path.startswith(part) or asked.path.endswith(part):
                found = await fault(asked)
                if found is not None:
                    return found
        if asked.headers.get("authorization") != f"Bearer {TOKEN}":
            return Answer(401, {"code": "UNAUTHORIZED"})
        match asked.method, asked.path.split("/")[1:]:
            case "GET", ["billing", "accounts", user_id, "purchases"]:
                return Answer(200, {"purchases": self.links.get(user_id, [])})
            case "POST", ["billing", "purchases", "read"]:
                found_standing = self.standings.get(asked.json()["purchase_token"])
                return UNKNOWN_PURCHASE if found_standing is None else Answer(200, found_standing)
            case "GET", ["billing", "accounts", user_id, "subscription"]:
                return Answer(200, {"subscription": self.subscriptions.get(user_id)})
            case "GET", ["billing", "subscriptions", subscription_id]:
                owner = self.owners.get(unquote(subscription_id))
                return UNKNOWN_SUBSCRIPTION if owner is None else Answer(200, {"account_id": owner})
            case "POST", ["billing", "subscriptions", subscription_id, "cancel"]:
                return self._end(unquote(subscription_id), asked)
            case "POST", ["billing", "charges", charge_id, "refund"]:
                return self._refund(charge_id, asked)
        return Answer(404, {"code": "NOT_FOUND"})

    def _end(self, subscription_id: str, asked: Asked) -> Answer:
        if asked.json() != {"prorate": False} or "idempotency-key" not in asked.headers:
            return Answer(400, {"code": "BAD_REQUEST"})
        self.cancelled.append(subscription_id)
        of = [user_id for user_id, found in self.subscriptions.items() if found and found["id"] == subscription_id]
        for user_id in of:
            self.subscriptions[user_id] = None
        return Answer(200, {}) if of else UNKNOWN_SUBSCRIPTION

    def _refund(self, charge_id: str, asked: Asked) -> Answer:
        if asked.json() != {"reason": "fraudulent"} or "idempotency-key" not in asked.headers:
            return Answer(400, {"code": "BAD_REQUEST"})
        self.refunded.append(charge_id)
        return Answer(200, {})


def says(status: int, body: Any) -> Fault:
    """It answers this and nothing else."""

    async def fault(_: Asked) -> Answer:
        return Answer(status, body)

    return fault
