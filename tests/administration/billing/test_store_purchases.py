"""Purchases in app stores: listed, and read again from their stores (document 002).

Area: administration. Rules: 002.premium-types, 002.purchase-object, 002.store-purchases, 002.store-refresh.
"""

from __future__ import annotations

from typing import Any, Final

import attrs
import pytest
import structlog
import trio
from trio.testing import MockClock

from chat.clock import iso_timestamp
from chat.domain.administration.store_purchases import store_purchase
from chat.registries.user_flags import PremiumType
from chat.store.administration import store_purchases
from chat.testing.gateway_client import GatewayClient
from tests.administration.asking import Asking
from tests.administration.audit import audit_log
from tests.administration.billing.store_service import UNKNOWN_PURCHASE, StoreService, link, says, standing
from tests.loopback_http import Answer, Asked
from tests.spec.ledger import proves

REFRESH: Final = "/store-purchases/refresh"
UNAVAILABLE: Final = (503, "STORE_BILLING_UNAVAILABLE")
HOUR_MS: Final = 3_600_000
DAY_MS: Final = 24 * HOUR_MS


async def refreshed(ask: Asking) -> list[dict[str, Any]]:
    answer = (await ask("POST", REFRESH)).expect(200)
    assert answer.keys() == {"purchases"}
    purchases: list[dict[str, Any]] = answer["purchases"]
    return purchases


async def listed(ask: Asking) -> list[dict[str, Any]]:
    answer = (await ask("GET", "/store-purchases")).expect(200)
    assert answer.keys() == {"purchases"}
    purchases: list[dict[str, Any]] = answer["purchases"]
    return purchases


def in_a(ask: Asking, milliseconds: int) -> str:
    """A moment from now on, as stores write it."""
    return iso_timestamp(ask.server.clock.now_ms() + milliseconds)


async def of_premium(ask: Asking) -> dict[str, Any]:
    shown = await ask.shown()
    return {name: shown[f"premium_{name}"] for name in ("type", "since", "until", "grace_ends_at")}


# What a purchase looks like

A_SUBSCRIPTION: Final = {
    "latest_transaction_id": "2000000123",
    "ownership_type": "FAMILY_SHARED",
    "store_state": "1",
    "base_plan_id": "not of this store",
    "auto_renew": True,
    "started_at": "2025-02-01T00:00:00+01:00",
    "purchased_at": "2025-12-01T10:00:00.250Z",
    "superseded": True,  # store_a knows nothing of that
    "acknowledged": False,
    "last_event_at": "2025-12-02T00:00:00Z",
}
B_SUBSCRIPTION: Final = {
    "product_id": "premium.yearly",
    "latest_transaction_id": "GPA.1234-5678",
    "ownership_type": "PURCHASED",
    "store_state": "SUBSCRIPTION_STATE_ON_HOLD",
    "base_plan_id": "yearly",
    "auto_renew": False,
    "superseded": True,
    "acknowledged": False,
}


@pytest.mark.rule("002.store-refresh.11")
async def test_purchases_as_their_stores_have_them(ask: Asking, service: StoreService) -> None:
    bob = ask.user_id
    expiry = in_a(ask, DAY_MS)
    service.has(bob, "one")
    service.stands("one", expires_at=expiry, **A_SUBSCRIPTION)
    service.has(bob, "two", provider="store_b", environment="sandbox", app_id="example.chat", slot="second")
    service.stands("two", "on_hold", expires_at=expiry, grace_ends_at=expiry, **B_SUBSCRIPTION)
    service.has(bob, "three", kind="gift", gift_code="GIFT-3", bound_at=None)
    service.stands("three", store_state="1", ownership_type="PURCHASED")
    service.has(bob, "four", kind="gift", gift_code="GIFT-4")
    service.stands("four", "revoked", store_state="2", revoked_at="2025-05-05T05:05:05Z", revocation_reason="refund")
    service.has(bob, "five", kind="gift", provider="store_b", gift_code="GIFT-5")
    service.stands("five", acknowledged=False)
    service.has(ask.world.carol.id, "six", gift_code="not a gift")
    service.stands("six", expires_at=expiry)

    assert await listed(ask) == []
    with proves("002.store-refresh.5"):
        purchases = await refreshed(ask)
    with proves("002.store-purchases.4"):
        assert await listed(ask) == purchases
        assert [int(purchase["id"]) for purchase in purchases] == sorted(
            (int(purchase["id"]) for purchase in purchases), reverse=True
        )
    five, four, three, two, one = purchases

    def each(name: str) -> list[Any]:
        return [purchase[name] for purchase in (one, two, three, four, five)]

    with proves("002.purchase-object.3"):
        assert each("provider") == ["store_a", "store_b", "store_a", "store_a", "store_b"]
    with proves("002.purchase-object.4"):
        assert each("kind") == ["subscription", "subscription", "gift", "gift", "gift"]
    with proves("002.purchase-object.5"):
        assert (one["slot"], two["slot"]) == ("premium", "second")
    with proves("002.purchase-object.6"):
        assert (one["environment"], two["environment"]) == ("production", "sandbox")
    with proves("002.purchase-object.7"):
        assert (one["app_id"], one["product_id"]) == ("chat.example.app", "premium.monthly")
    with proves("002.purchase-object.8"):
        assert (one["base_plan_id"], two["base_plan_id"]) == (None, "yearly")
    with proves("002.purchase-object.9"):
        assert (one["latest_transaction_id"], two["latest_transaction_id"]) == ("2000000123", "GPA.1234-5678")
    with proves("002.purchase-object.10"):
        assert each("ownership_type")[:3] == ["FAMILY_SHARED", None, "PURCHASED"]
    with proves("002.purchase-object.11"):
        assert (one["state"], two["state"], four["state"]) == ("active", "on_hold", "revoked")
    with proves("002.purchase-object.12"):
        assert (one["store_state"], two["store_state"]) == ("1", "SUBSCRIPTION_STATE_ON_HOLD")
    with proves("002.purchase-object.13"):
        assert (three["store_state"], four["store_state"]) == (None, "2")
    with proves("002.purchase-object.14"):
        assert (one["entitled"], two["entitled"], three["entitled"]) == (True, False, False)
    with proves("002.purchase-object.15"):
        assert (one["expires_at"], one["grace_ends_at"], two["grace_ends_at"]) == (expiry, None, expiry)
    with proves("002.purchase-object.16"):
        assert (one["auto_renew"], two["auto_renew"], five["auto_renew"]) == (True, False, None)
    with proves("002.purchase-object.17"):
        assert (one["started_at"], one["purchased_at"], one["revoked_at"], four["revoked_at"], five["started_at"]) == (
            "2025-01-31T23:00:00.000Z",
            "2025-12-01T10:00:00.250Z",
            None,
            "2025-05-05T05:05:05.000Z",
            None,
        )
    with proves("002.purchase-object.18"):
        assert (one["revocation_reason"], four["revocation_reason"]) == (None, "refund")
    with proves("002.purchase-object.19"):
        assert (one["superseded"], two["superseded"]) == (False, True)
    with proves("002.purchase-object.20"):
        assert (one["acknowledged"], three["acknowledged"], four["acknowledged"]) == (True, True, True)
    with proves("002.purchase-object.22"):
        assert each("gift_code") == [None, None, "GIFT-3", "GIFT-4", "GIFT-5"]
    with proves("002.purchase-object.23"):
        assert (one["bound_at"], one["last_event_at"], two["last_event_at"]) == (
            "2025-01-02T03:04:05.000Z",
            "2025-12-02T00:00:00.000Z",
            None,
        )
    assert one == {
        "id": one["id"],
        "user_id": bob,
        "provider": "store_a",
        "kind": "subscription",
        "slot": "premium",
        "environment": "production",
        "app_id": "chat.example.app",
        "product_id": "premium.monthly",
        "base_plan_id": None,
        "latest_transaction_id": "2000000123",
        "ownership_type": "FAMILY_SHARED",
        "state": "active",
        "store_state": "1",
        "entitled": True,
        "expires_at": expiry,
        "grace_ends_at": None,
        "auto_renew": True,
        "started_at": "2025-01-31T23:00:00.000Z",
        "purchased_at": "2025-12-01T10:00:00.250Z",
        "revoked_at": None,
        "revocation_reason": None,
        "superseded": False,
        "acknowledged": True,
        "gift_code": None,
        "bound_at": "2025-01-02T03:04:05.000Z",
        "last_event_at": "2025-12-02T00:00:00.000Z",
        "synced_at": one["synced_at"],
        "created_at": one["created_at"],
        "updated_at": one["created_at"],
    }
    with proves("002.purchase-object.24"):
        assert all(one[name].endswith("Z") for name in ("synced_at", "created_at"))
    assert {name: two[name] for name in ("provider", "environment", "app_id", "slot", "kind")} == {
        "provider": "store_b",
        "environment": "sandbox",
        "app_id": "example.chat",
        "slot": "second",
        "kind": "subscription",
    }
    assert two | B_SUBSCRIPTION == two | {"ownership_type": "PURCHASED"}  # but for that it is as its store has it
    assert (two["ownership_type"], two["state"], two["entitled"], two["grace_ends_at"]) == (
        None,
        "on_hold",
        False,
        expiry,
    )
    assert (three["kind"], three["gift_code"], three["store_state"], three["entitled"]) == (
        "gift",
        "GIFT-3",
        None,
        False,
    )
    assert three["bound_at"] == three["created_at"]
    assert (four["store_state"], four["revoked_at"], four["revocation_reason"]) == (
        "2",
        "2025-05-05T05:05:05.000Z",
        "refund",
    )
    assert (five["acknowledged"], five["auto_renew"], five["started_at"]) == (False, None, None)
    service.stands("five", acknowledged=True)  # the gift is consumed
    with proves("002.purchase-object.21", "002.store-refresh.4"):
        assert (await refreshed(ask))[0]["acknowledged"] is True

    for answer in (await ask("GET", "/store-purchases"), await ask("POST", REFRESH)):
        with proves("002.purchase-object.1"):
            assert b"purchase-token" not in answer.body
            assert b"account-token" not in answer.body
    with proves("002.store-purchases.6"):
        counts = [entry.metadata for entry in ask.entries("list_user_store_purchases")]
        assert counts == [{"result_count": "0"}, {"result_count": "5"}, {"result_count": "5"}]
    entries = ask.entries("refresh_store_purchases")
    with proves("002.store-refresh.10"):
        assert [entry.metadata for entry in entries] == [{"purchase_count": "5"}] * 3
    assert {(entry.target_type, entry.target_id) for entry in entries} == {("user", bob)}

    carol = Asking(ask.server, ask.world, ask.world.carol.id)
    assert await listed(carol) == []
    [six] = await refreshed(carol)
    assert six["gift_code"] is None
    kept = store_purchases.of_user(ask.server.database.reader, int(carol.user_id), 10)
    with proves("002.purchase-object.2"):
        unlinked = store_purchase(attrs.evolve(kept[0], user_id=None), ask.server.clock.now_ms())
        assert unlinked == six | {"user_id": None}


@pytest.mark.rule("002.purchase-object.14", "002.purchase-object.24")
async def test_a_purchase_entitles_until_it_ends(mock_clock: MockClock, ask: Asking, service: StoreService) -> None:
    mock_clock.rate = 1  # the service is on the network, so that time cannot jump by itself
    ends = {"short": HOUR_MS, "grace": HOUR_MS, "long": None}
    for name, end in ends.items():
        service.has(ask.user_id, name)
        expiry = None if end is None else in_a(ask, end)
        service.stands(name, expires_at=expiry, grace_ends_at=in_a(ask, 3 * HOUR_MS) if name == "grace" else None)
    first = await refreshed(ask)
    assert [purchase["entitled"] for purchase in first] == [True, True, True]
    mock_clock.jump(HOUR_MS / 1_000 - 60)
    assert [purchase["entitled"] for purchase in await listed(ask)] == [True, True, True]
    mock_clock.jump(120)
    assert [purchase["entitled"] for purchase in await listed(ask)] == [True, True, False]
    mock_clock.jump(2 * HOUR_MS / 1_000)
    assert [purchase["entitled"] for purchase in await listed(ask)] == [True, False, False]
    second = await refreshed(ask)
    assert all(purchase["synced_at"] > first[0]["synced_at"] for purchase in second)
    assert [purchase["updated_at"] for purchase in second] == [purchase["updated_at"] for purchase in first]


# What follows for premium


async def hears(client: GatewayClient, premium_type: int) -> None:
    """One User Update with this type, and no other."""
    update = await client.expect("USER_UPDATE")
    assert update.data["premium_type"] == premium_type


@pytest.mark.rule("002.store-refresh.6", "002.store-refresh.9", "002.premium-types.1")
async def test_premium_follows_from_purchases(ask: Asking, service: StoreService) -> None:
    assert {kind.name: kind.value for kind in PremiumType} == {"NONE": 0, "SUBSCRIPTION": 1, "LIFETIME": 2}
    bob = await ask.world.bob.connect()
    heard = 0

    async def premium(told: bool) -> dict[str, Any]:
        """The premium after a refresh, of which the holder hears exactly if it changed."""
        nonlocal heard
        before = await of_premium(ask)
        await refreshed(ask)
        after = await of_premium(ask)
        assert (after != before) is told, after
        heard += told
        (await ask.world.bob.rest.send_message(ask.world.channel_id, f"number {heard}")).expect(200)
        await bob.expect("MESSAGE_CREATE")
        updates = [payload.data for payload in bob.dispatches if payload.name == "USER_UPDATE"]
        assert len(updates) == heard
        if told:
            assert (updates[-1]["premium_type"], updates[-1]["premium_until"]) == (after["type"], after["until"])
        return after

    none = {"type": None, "since": None, "until": None, "grace_ends_at": None}
    assert await premium(told=False) == none

    # A gift gives its buyer nothing, nor does what is not paid for.
    service.has(ask.user_id, "gift", kind="gift", gift_code="G")
    service.stands("gift", expires_at=in_a(ask, DAY_MS))
    service.has(ask.user_id, "one")
    for state in ("pending", "on_hold", "paused", "expired", "revoked"):
        service.stands("one", state, expires_at=in_a(ask, DAY_MS))
        assert await premium(told=False) == none, state
    service.stands("one", expires_at=in_a(ask, -DAY_MS))
    assert await premium(told=False) == none
    service.stands("one", expires_at=in_a(ask, DAY_MS), revoked_at=in_a(ask, -HOUR_MS))
    assert await premium(told=False) == none

    # It is paid, renewed, not renewed for a while.
    first, second = in_a(ask, DAY_MS), in_a(ask, 30 * DAY_MS)
    service.stands("one", expires_at=first, started_at="2025-11-01T00:00:00Z")
    paid = {"type": 1, "since": "2025-11-01T00:00:00.000Z", "until": first, "grace_ends_at": None}
    assert await premium(told=True) == paid
    assert await premium(told=False) == paid
    service.stands("one", expires_at=second, started_at="2025-11-01T00:00:00Z")
    assert await premium(told=True) == paid | {"until": second}
    grace = {"expires_at": in_a(ask, -HOUR_MS), "grace_ends_at": in_a(ask, 3 * DAY_MS)}
    service.stands("one", "grace_period", started_at="2025-11-01T00:00:00Z", **grace)
    late = {"until": grace["grace_ends_at"], "grace_ends_at": grace["grace_ends_at"]}
    assert await premium(told=True) == paid | late

    # A newer one takes its place; of two that run the longer one counts.
    service.has(ask.user_id, "two", provider="store_b")
    service.stands("two", expires_at=second, started_at="2025-12-01T00:00:00Z", superseded=True)
    assert await premium(told=False) == paid | late
    service.stands("two", expires_at=second, started_at="2025-12-01T00:00:00Z")
    assert await premium(told=True) == paid | late | {"until": second}
    service.stands("one", "on_hold", expires_at=first)
    of_two = {"type": 1, "since": "2025-12-01T00:00:00.000Z", "until": second, "grace_ends_at": None}
    assert await premium(told=True) == of_two

    # Its store does not know it any longer.
    service.forgets("two")
    assert await premium(told=True) == none | {"type": 0}
    [two] = [purchase for purchase in await listed(ask) if purchase["provider"] == "store_b"]
    assert (two["state"], two["entitled"], two["auto_renew"], two["expires_at"]) == ("expired", False, False, second)
    service.forgets("gift")
    service.stands("two", expires_at=second)
    assert (await premium(told=True))["until"] == second  # a store may remember
    states = {purchase["kind"]: purchase["state"] for purchase in await listed(ask)}
    assert states["gift"] == "active"  # bought is bought


@pytest.mark.rule("002.store-refresh.9")
async def test_purchases_do_not_shorten_premium_from_elsewhere(ask: Asking, service: StoreService) -> None:
    service.has(ask.user_id, "one")
    service.stands("one", expires_at=in_a(ask, DAY_MS))
    # A development route gives it, without a date of its end.
    await ask.set(premium_type=2)
    assert (await refreshed(ask))[0]["entitled"] is True
    assert (await of_premium(ask))["type"] == 2
    await ask.set(premium_type=1)
    await ask.server.database.write(
        lambda connection: void(
            connection.execute(
                "UPDATE users SET premium_until = ? WHERE id = ?",
                (ask.server.clock.now_ms() + 30 * DAY_MS, int(ask.user_id)),
            )
        )
    )
    before = await of_premium(ask)
    await refreshed(ask)
    assert await of_premium(ask) == before
    service.stands("one", "expired", expires_at=in_a(ask, DAY_MS))
    await refreshed(ask)
    assert await of_premium(ask) == before
    service.stands("one", expires_at=(longer := in_a(ask, 90 * DAY_MS)))
    await refreshed(ask)
    assert (await of_premium(ask))["until"] == longer


def void(_: object) -> None:
    return None


# Stores that cannot be asked


async def nothing_changes(ask: Asking, because: str) -> None:
    kept = store_purchases.of_user(ask.server.database.reader, int(ask.user_id), 10)
    before, entries = await ask.shown(), len(audit_log(ask.server))
    answer = await ask("POST", REFRESH)
    assert (answer.status, answer.code) == UNAVAILABLE, (because, answer.body)
    assert int(answer.header("Retry-After") or "") > 0
    assert len(audit_log(ask.server)) == entries, because
    assert await ask.shown() == before, because
    assert store_purchases.of_user(ask.server.database.reader, int(ask.user_id), 10) == kept, because


WRONG_LINKS: Final[dict[str, Any]] = {
    "another store": {"provider": "store_c"},
    "another kind": {"kind": "present"},
    "no environment": {"environment": None},
    "a number": {"slot": 5},
    "no token": {"purchase_token": None},
    "an empty token": {"purchase_token": ""},
    "a long token": {"purchase_token": "x" * 5_000},
    "no moment": {"bound_at": "yesterday"},
}
WRONG_STANDINGS: Final[dict[str, Any]] = {
    "another state": {"state": "fine"},
    "no state": {"state": None},
    "a list for a state": {"state": ["active"]},
    "a moment without an offset": {"expires_at": "2026-01-01T00:00:00"},
    "a number for a moment": {"expires_at": 1_800_000_000},
    "a moment out of all bounds": {"expires_at": "9999-12-31T23:59:59-23:59"},
    "a word for a truth": {"auto_renew": "yes"},
    "a truth that is missing": {"superseded": None},
    "a long text": {"revocation_reason": "x" * 513},
    "a NUL": {"store_state": "a\0b"},
    "no product": {"product_id": ""},
    "somebody else's": {"account_token": "account-token-of-carol"},
}


@pytest.mark.rule("002.store-refresh.8")
async def test_all_or_nothing(ask: Asking, service: StoreService) -> None:
    bob = ask.user_id
    names = ("one", "two", "three")
    for name in names:
        service.has(bob, name, provider="store_b" if name == "two" else "store_a")
        service.stands(name, expires_at=in_a(ask, DAY_MS))
    await refreshed(ask)
    premium = await of_premium(ask)
    for name in names:
        service.stands(name, "revoked", expires_at=in_a(ask, DAY_MS), revoked_at=in_a(ask, -HOUR_MS))

    async def one_store_fails(asked: Asked) -> Answer | None:
        return Answer(503, {}) if asked.json()["provider"] == "store_b" else None

    async def hangs_up(_: Asked) -> Answer:
        raise trio.BrokenResourceError

    read, purchases = "/billing/purchases/read", f"/billing/accounts/{bob}/purchases"
    faults: dict[str, tuple[str, Any]] = {
        "one store of two fails": (read, one_store_fails),
        "a failure": (purchases, says(500, {})),
        "a refusal": (purchases, says(403, {"code": "FORBIDDEN"})),
        "a redirect": (purchases, says(302, {})),
        "another server": (read, says(404, b"<h1>Not Found</h1>")),
        "another 404": (read, says(404, {"code": "NOT_FOUND"})),
        "a 404 of everything": ("/billing", says(404, {"code": "UNKNOWN_ROUTE"})),
        "no JSON": (read, says(200, b"\xff\xfe")),
        "no object": (read, says(200, [])),
        "a deep one": (read, says(200, b'{"product_id":' * 100_000)),
        "too much": (read, says(200, b'"' + b"x" * 3_000_000 + b'"')),
        "nothing": (read, says(200, b"")),
        "no list": (purchases, says(200, {"purchases": {}})),
        "no purchases": (purchases, says(200, {})),
        "too many": (purchases, says(200, {"purchases": [link(str(number)) for number in range(201)]})),
        "nobody there": (read, hangs_up),
        **{
            f"link: {name}": (purchases, says(200, {"purchases": [link("new"), link("other") | members]}))
            for name, members in WRONG_LINKS.items()
        },
        **{f"standing: {name}": (read, says(200, standing() | members)) for name, members in WRONG_STANDINGS.items()},
    }
    for name, (path, fault) in faults.items():
        service.faults = {path: fault}
        await nothing_changes(ask, name)
    assert await of_premium(ask) == premium
    service.faults = {}
    assert {purchase["state"] for purchase in await refreshed(ask)} == {"revoked"}
    assert (await of_premium(ask))["type"] == 0


@pytest.mark.rule("002.store-refresh.8")
@pytest.mark.chat_settings(**{"billing.store_url": "http://127.0.0.1:9"})
async def test_a_store_service_that_is_not_there(ask: Asking) -> None:
    await nothing_changes(ask, "refused connection")


@pytest.mark.rule("002.store-refresh.8")
@pytest.mark.chat_settings(**{"billing.store_url": None, "billing.store_token": None})
async def test_an_instance_without_a_store_service_reaches_no_store(ask: Asking) -> None:
    assert await refreshed(ask) == []  # whose every purchase was read
    fields = "id, user_id, provider, kind, slot, environment, app_id, product_id, purchase_token, state"
    await ask.server.database.write(
        lambda connection: void(
            connection.execute(
                f"""
                INSERT INTO store_purchases ({fields}, superseded, acknowledged, created_at, updated_at)
                VALUES (1, ?, 'store_a', 'subscription', 's', 'production', 'a', 'p', 't', 'active', 0, 1, 0, 0)
                """,  # noqa: S608
                (int(ask.user_id),),
            )
        )
    )
    await nothing_changes(ask, "no service")
    assert [purchase["id"] for purchase in await listed(ask)] == ["1"]


@pytest.mark.rule("002.store-refresh.8")
async def test_a_store_that_never_answers(mock_clock: MockClock, ask: Asking, service: StoreService) -> None:
    mock_clock.rate = 1  # the service is on the network, so that time cannot jump by itself
    service.has(ask.user_id, "one")
    service.stands("one")
    await refreshed(ask)
    asked_for = trio.Event()

    async def sleeps(_: Asked) -> Answer:
        asked_for.set()
        await trio.sleep_forever()
        raise AssertionError

    service.faults = {"/read": sleeps}
    async with trio.open_nursery() as nursery:
        nursery.start_soon(nothing_changes, ask, "no answer")
        await asked_for.wait()
        mock_clock.jump(10)  # what one exchange may take
    service.faults = {}
    assert len(await refreshed(ask)) == 1


# Whose a purchase is, and who was first


async def test_a_purchase_is_linked_to_one_account(ask: Asking, service: StoreService) -> None:
    service.has(ask.user_id, "one")
    service.stands("one", expires_at=in_a(ask, DAY_MS))
    [one] = await refreshed(ask)
    carol = Asking(ask.server, ask.world, ask.world.carol.id)
    service.links[carol.user_id] = service.links.pop(ask.user_id)
    with structlog.testing.capture_logs() as logged:
        assert await refreshed(carol) == []
    assert "a purchase is linked to two accounts" in {line["event"] for line in logged}
    assert (await of_premium(carol))["type"] is None
    assert [purchase["id"] for purchase in await refreshed(ask)] == [one["id"]]
    # Nobody's is free to take.
    await ask.server.database.write(
        lambda connection: void(connection.execute("UPDATE store_purchases SET user_id = NULL"))
    )
    assert await listed(ask) == []
    [taken] = await refreshed(carol)
    assert (taken["id"], taken["user_id"], taken["entitled"]) == (one["id"], carol.user_id, True)


async def test_a_purchase_that_its_store_never_knew_is_none(ask: Asking, service: StoreService) -> None:
    service.has(ask.user_id, "one")
    assert await refreshed(ask) == []
    assert service.paths() == [f"/billing/accounts/{ask.user_id}/purchases", "/billing/purchases/read"]
    assert service.requests[-1].json() == {
        name: value for name, value in link("one").items() if name not in {"slot", "account_token", "bound_at"}
    }
    assert UNKNOWN_PURCHASE.status == 404


async def test_of_two_refreshes_the_later_reading_counts(
    mock_clock: MockClock, ask: Asking, service: StoreService
) -> None:
    mock_clock.rate = 1  # the service is on the network, so that time cannot jump by itself
    service.has(ask.user_id, "one")
    service.stands("one", expires_at=in_a(ask, DAY_MS))
    await refreshed(ask)
    mock_clock.jump(1)
    reading, let_go = trio.Event(), trio.Event()

    async def dawdles(_: Asked) -> Answer:
        service.faults = {}
        reading.set()
        await let_go.wait()
        return Answer(200, standing("active", expires_at=in_a(ask, DAY_MS)))

    service.faults = {"/read": dawdles}
    async with trio.open_nursery() as nursery:
        nursery.start_soon(refreshed, ask)
        await reading.wait()
        mock_clock.jump(1)
        service.stands("one", "revoked", revoked_at=in_a(ask, 0))
        assert [purchase["state"] for purchase in await refreshed(ask)] == ["revoked"]
        let_go.set()
    assert [purchase["state"] for purchase in await listed(ask)] == ["revoked"]
    assert (await of_premium(ask))["type"] == 0


# An instance that has none of this


@pytest.mark.rule("002.store-purchases.3", "002.store-refresh.3")
@pytest.mark.chat_settings(**{"self_hosted": True, "billing.store_url": None})
async def test_a_self_hosted_instance_knows_nothing_of_stores(ask: Asking) -> None:
    for user_id in (ask.user_id, "1234567890", "bob"):
        target = Asking(ask.server, ask.world, user_id)
        for method, path in (("GET", "/store-purchases"), ("POST", REFRESH)):
            assert (await target.refused(method, path))[:2] == (404, "NOT_FOUND")
    # Whoever may not ask learns nothing of what kind of instance it is.
    path = f"/v1/admin/users/{ask.user_id}/store-purchases"
    (await ask.world.anyone.get(path)).expect(401)
    assert (await ask.world.carol.rest.get(path)).expect(403)["code"] == "MISSING_PERMISSIONS"
    assert not audit_log(ask.server)
