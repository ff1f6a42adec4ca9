"""The Admin user object: every key of the document's table, in the document's forms."""

from __future__ import annotations

import pytest

from chat.domain.administration.admin_users import admin_user
from chat.store.accounts.accounts import Account
from tests.administration.admin_user_keys import ADMIN_USER_KEYS

NOW_MS = 1_800_000_000_000


def test_every_key_is_there_in_the_order_of_the_document() -> None:
    shown = admin_user(
        Account(id=1, username="a", discriminator=7),
        factors_of=Account(id=1, username="a", discriminator=7),
        locale=None,
        now_ms=NOW_MS,
    )
    assert tuple(shown) == ADMIN_USER_KEYS


def test_what_is_stored_is_shown() -> None:
    account = Account(
        id=9_223_372_036_854_775_807,
        username="Alice",
        discriminator=7,
        email="alice@example.com",
        email_verified=True,
        flags=(1 << 64) - 1,
        acls=("user:lookup", "*"),
        traits=("b", "a"),
        premium_type=2,
        premium_since=NOW_MS,
        last_active_at=NOW_MS,
        last_active_ip="10.0.0.7",
        date_of_birth="1990-01-01",
        pending_bulk_message_deletion_at=NOW_MS + 1,
    )
    shown = admin_user(account, factors_of=account, locale="de", now_ms=NOW_MS)
    expected = {
        "id": "9223372036854775807",
        "discriminator": 7,
        "flags": "18446744073709551615",
        "email": "alice@example.com",
        "email_verified": True,
        "acls": ["user:lookup", "*"],
        "traits": ["a", "b"],
        "locale": "de",
        "premium_type": 2,
        "premium_since": "2027-01-15T08:00:00.000Z",
        "premium_until": None,
        "last_active_at": "2027-01-15T08:00:00.000Z",
        "last_active_ip": "10.0.0.7",
        "date_of_birth": "1990-01-01",
        "pending_bulk_message_deletion_at": "2027-01-15T08:00:00.001Z",
    }
    assert {key: shown[key] for key in expected} == expected


@pytest.mark.parametrize(
    ("until", "shown"), [(None, None), (NOW_MS, None), (NOW_MS + 1_000, "2027-01-15T08:00:01.000Z")]
)
def test_the_end_of_a_ban_is_shown_while_it_lies_ahead(until: int | None, shown: str | None) -> None:
    account = Account(id=1, username="a", discriminator=7, temp_banned_until=until)
    assert admin_user(account, factors_of=account, locale=None, now_ms=NOW_MS)["temp_banned_until"] == shown


def test_second_factors_are_listed_while_they_are_chosen() -> None:
    account = Account(id=1, username="a", discriminator=7, totp_secret="SECRET", passkey_second_factor=True)
    shown = admin_user(account, factors_of=account, locale=None, now_ms=NOW_MS)
    assert (shown["has_totp"], shown["authenticator_types"]) == (True, [0, 2])
    account = Account(id=1, username="a", discriminator=7)
    shown = admin_user(account, factors_of=account, locale=None, now_ms=NOW_MS)
    assert (shown["has_totp"], shown["authenticator_types"]) == (False, [])
