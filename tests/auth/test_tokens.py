"""Tokens: their forms, and what is kept of them.

Area: auth. Rules: 000.credentials.
"""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.auth.tokens import (
    TokenMint,
    application_of,
    digest_of,
    has_bot_token_form,
    id_hash,
    is_session_token,
    token_hash,
)
from chat.snowflake import MAXIMUM


@pytest.fixture
def mint() -> TokenMint:
    return TokenMint(random.Random(7))


def test_a_session_token_is_the_prefix_and_36_alphanumerics(mint: TokenMint) -> None:
    token = mint.session_token()
    assert re.fullmatch(r"cht_[A-Za-z0-9]{36}", token)
    assert is_session_token(token)
    assert token != mint.session_token()


@pytest.mark.rule("000.credentials.20")
@given(st.integers(0, MAXIMUM), st.integers())
def test_a_bot_token_begins_with_the_application_and_a_dot(application_id: int, seed: int) -> None:
    token = TokenMint(random.Random(seed)).bot_token(application_id)
    assert re.fullmatch(rf"{application_id}\.[A-Za-z0-9_-]{{43}}", token)
    assert application_of(token) == application_id
    assert has_bot_token_form(token)


def test_mail_tokens_have_64_characters(mint: TokenMint) -> None:
    assert re.fullmatch(r"[A-Za-z0-9]{64}", mint.mail_token())


def test_tokens_follow_from_the_source_of_chance() -> None:
    assert TokenMint(random.Random(1)).session_token() == TokenMint(random.Random(1)).session_token()


@pytest.mark.parametrize(
    "token",
    ["", "cht_", "cht_" + "a" * 35, "cht_" + "a" * 37, "cht_" + "a" * 35 + "_", "CHT_" + "a" * 36, "cht_" + "é" * 36],
)
def test_what_is_no_session_token(token: str) -> None:
    assert not is_session_token(token)


@pytest.mark.parametrize(
    ("token", "has_form"),
    [
        ("1.a", True),
        ("0123.anything-at_all", True),
        ("1.", False),
        (".a", False),
        ("1", False),
        ("1a.b", False),
        ("1.a.b", False),
        ("1.a b", False),
        ("cht_" + "1" * 36, False),
        ("\u0661.a", False),
    ],
)
def test_bot_token_form(token: str, has_form: bool) -> None:
    assert has_bot_token_form(token) is has_form


@pytest.mark.parametrize(
    "token",
    ["", "1", "1.", "01." + "A" * 43, "1." + "A" * 42, "1." + "A" * 44, "1." + "!" * 43, "9" * 20 + "." + "A" * 43],
)
def test_only_the_issued_form_names_an_application(token: str) -> None:
    assert application_of(token) is None


@given(st.text())
def test_the_name_of_a_sign_in_leads_back_to_its_hash(token: str) -> None:
    digest = token_hash(token)
    assert digest_of(id_hash(digest)) == digest


@given(st.text())
def test_any_text_is_the_name_of_a_hash_or_of_nothing(text: str) -> None:
    digest = digest_of(text)
    assert digest is None or len(digest) == 32
