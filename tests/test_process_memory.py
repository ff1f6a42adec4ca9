"""Memory that was freed goes back to the system."""

from __future__ import annotations

import ctypes

import pytest

from chat.process_memory import give_back, resident_bytes

CROWD_BYTES = 100_000_000


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="another C library")
def test_what_lies_between_things_in_use_is_given_back() -> None:
    crowd, kept = [], []
    for _ in range(CROWD_BYTES // 2_000):
        crowd.append(bytes(2_000))
        if len(crowd) % 50 == 0:
            kept.append(bytes(2_000))
    before = resident_bytes()
    crowd.clear()
    give_back()
    after = resident_bytes()
    assert before is not None
    assert after is not None
    assert after < before - CROWD_BYTES / 2
    assert kept
