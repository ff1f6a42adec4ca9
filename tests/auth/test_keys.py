"""Keys derived from the instance's secret: sealed things of every release open with them."""

from __future__ import annotations

import random

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand
from hypothesis import given
from hypothesis import strategies as st

from chat.auth.keys import KEY_BYTES, Keys


@given(st.binary(min_size=32, max_size=64), st.text(min_size=1))
def test_a_key_is_what_hkdf_expands_the_secret_to(secret: bytes, purpose: str) -> None:
    derived = HKDFExpand(SHA256(), KEY_BYTES, f"chat {purpose}".encode()).derive(secret)
    assert Keys(secret, random.Random(1)).of(purpose) == derived


@given(st.binary(), st.binary())
def test_what_was_sealed_opens_in_its_place_alone(plain: bytes, context: bytes) -> None:
    keys = Keys(bytes(32), random.Random(1))
    sealed = keys.seal("letters", plain, context)
    assert keys.open("letters", sealed, context) == plain
    assert keys.open("letters", sealed, context + b"!") is None
    assert keys.open("parcels", sealed, context) is None
    assert Keys(bytes(31) + b"\1", random.Random(1)).open("letters", sealed, context) is None
