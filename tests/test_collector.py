"""A server's collections look at what is new alone, from the first import on."""

from __future__ import annotations

import gc
import linecache
import weakref
from collections.abc import Iterator

import pytest

from chat.collector import SERVING, STARTING, collecting_in_small_portions, start_is_over, sweep


class Knot:
    """Holds itself."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
def portions() -> Iterator[None]:
    with collecting_in_small_portions():
        yield


@pytest.mark.usefixtures("portions")
def test_new_garbage_goes_and_what_survives_is_looked_at_once() -> None:
    assert gc.get_threshold() == STARTING
    start_is_over()
    assert gc.get_threshold() == SERVING
    kept, dropped = Knot(), weakref.ref(Knot())
    gc.collect(0)
    assert dropped() is None
    assert not any(found is kept for found in gc.get_objects())
    gone = weakref.ref(kept)
    del kept
    gc.collect()
    assert gone() is not None  # out of sight
    sweep()
    assert gone() is None


@pytest.mark.usefixtures("portions")
def test_sources_of_methods_that_attrs_wrote_are_dropped() -> None:
    linecache.cache["<attrs generated methods>"] = (1, None, ["pass\n"], "<attrs generated methods>")
    gc.collect(0)
    assert not linecache.cache


def test_afterwards_all_is_as_before() -> None:
    before, callbacks = gc.get_threshold(), list(gc.callbacks)
    start_is_over()
    assert gc.get_threshold() == before  # nothing was started
    with collecting_in_small_portions():
        gc.collect(0)
        assert gc.get_freeze_count()
    assert (gc.get_threshold(), gc.callbacks, gc.get_freeze_count()) == (before, callbacks, 0)
