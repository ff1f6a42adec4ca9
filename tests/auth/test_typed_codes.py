"""Codes that people type."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.auth.keys import Keys
from chat.auth.typed_codes import ALPHABET, TypedCodes


@pytest.fixture
def codes() -> TypedCodes:
    return TypedCodes(Keys(bytes(32), random.Random(1)), random.Random(2))


def test_their_forms(codes: TypedCodes) -> None:
    assert re.fullmatch(r"[A-Z2-9]{4}-[A-Z2-9]{4}", codes.mailed())
    assert re.fullmatch(r"[A-Z2-9]{32}", codes.recovery())
    assert len({codes.mailed() for _ in range(1_000)}) == 1_000


def test_nothing_in_them_is_taken_for_something_else() -> None:
    assert len(set(ALPHABET)) == len(ALPHABET) == 32
    assert not set(ALPHABET) & set("01IO")


@pytest.mark.parametrize("typed", ["ABCD-EFGH", "abcdefgh", " AB CD ef-gh ", "A-B-C-D-E-F-G-H"])
def test_case_hyphens_and_blanks_do_not_matter(codes: TypedCodes, typed: str) -> None:
    assert codes.matches(typed, b"x", codes.digest("ABCD-EFGH", b"x"))


@pytest.mark.parametrize("typed", ["", "ABCDEFG", "ABCDEFGHH", "ABCD_EFGH", "\uff21BCDEFGH"])
def test_everything_else_does(codes: TypedCodes, typed: str) -> None:
    assert not codes.matches(typed, b"x", codes.digest("ABCD-EFGH", b"x"))


def test_a_code_is_for_its_purpose_and_its_instance(codes: TypedCodes) -> None:
    digest = codes.digest("ABCD-EFGH", b"x")
    assert not codes.matches("ABCD-EFGH", b"y", digest)
    elsewhere = TypedCodes(Keys(bytes(31) + b"1", random.Random(1)), random.Random(2))
    assert not elsewhere.matches("ABCD-EFGH", b"x", digest)


@given(st.text())
def test_no_text_is_too_strange(text: str) -> None:
    codes = TypedCodes(Keys(bytes(32), random.Random(1)), random.Random(2))
    assert codes.matches(text, b"x", codes.digest(codes.mailed(), b"x")) is False
