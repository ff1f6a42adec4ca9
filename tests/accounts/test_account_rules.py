"""What names, addresses, passwords and dates of birth an account may have."""

from __future__ import annotations

import contextlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.domain.policy import account_rules
from chat.domain.standing.user_objects import age_years
from chat.errors import InvalidFormBody

DAY_MS = 86_400_000


@given(st.text(max_size=40))
def test_any_text_makes_a_username_that_would_be_taken_or_none(text: str) -> None:
    name = account_rules.username_from(text, service_name="Chat")
    if name is not None:
        assert re.fullmatch("[A-Za-z0-9_]{1,32}", name)
        assert account_rules.username(name, service_name="Chat") == name


@given(st.text(max_size=40))
def test_any_global_name_is_tidy_or_refused(text: str) -> None:
    try:
        name = account_rules.global_name(text)
    except InvalidFormBody:
        return
    assert name is None or account_rules.global_name(name) == name
    assert name is None or 1 <= len(name) <= 32


def test_no_global_name_is_none() -> None:
    assert account_rules.global_name(None) is None
    assert account_rules.global_name(" \u0000 ") is None
    assert account_rules.global_name("e\u0301") == "é"


@pytest.mark.parametrize(
    ("service_name", "username", "taken"),
    [
        ("Chat", "chess", True),
        ("Chat", "chatter", False),
        ("My Parlour!", "myparlour", False),
        ("My Parlour!", "MY_PARLOUR_7", False),
        ("My Parlour!", "parlour", True),
        ("日本語", "anything", True),
    ],
)
def test_the_services_name_is_reserved_as_it_sounds(service_name: str, username: str, taken: bool) -> None:
    try:
        account_rules.username(username, service_name=service_name)
    except InvalidFormBody as refused:
        code = refused.errors[0].code
    else:
        code = None
    assert code == (None if taken else "USERNAME_CANNOT_CONTAIN_RESERVED_TERMS")


@pytest.mark.parametrize(
    ("address", "stored"),
    [
        ("alice@example.com", "alice@example.com"),
        ("Alice.Liddell+tag@EXAMPLE.com", "Alice.Liddell+tag@example.com"),
        ("alice@chat.test", "alice@chat.test"),
        ("alice@host.internal", "alice@host.internal"),
        ("álice@exämple.com", "álice@exämple.com"),
    ],
)
def test_addresses(address: str, stored: str) -> None:
    assert account_rules.email(address) == stored


@given(st.text(max_size=30))
def test_any_text_is_an_address_or_refused(text: str) -> None:
    with contextlib.suppress(InvalidFormBody):
        assert "@" in account_rules.email(text)


@pytest.mark.parametrize(
    ("birth", "days", "years"),
    [
        ("1970-01-01", 0, 0),
        ("1970-01-02", 365, 0),
        ("1970-01-02", 366, 1),
        ("1968-02-29", 423, 2),
        ("1968-02-29", 424, 3),
    ],
)
def test_years_are_completed(birth: str, days: int, years: int) -> None:
    assert age_years(birth, days * DAY_MS) == years
