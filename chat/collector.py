"""The garbage collector of a server: short pauses, from the first import to the end.

With thousands of nurseries alive a full collection stops the loop for a third of a second (architecture.md, Garbage
collection). So what outlives its first collection is taken out of sight (`gc.freeze`), and a collection looks at what
came since. Reference counting still frees what is out of sight: connections and sessions leave no cycles behind when
they end, and the sweep in `chat.serving` finds what others left.

During the imports the same makes the process 11 MB smaller and the start a sixth shorter than a collector that is off
until then: attrs makes a class twice and drops the first in a cycle, and keeps the source of the methods that it writes
for tracebacks (`linecache`). Both would lie between what stays for good.
"""

from __future__ import annotations

import gc
import linecache
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

THRESHOLDS: Final = (10_000, 1_000, 1_000)
"""For `gc.set_threshold`: a collection looks at about 10,000 new objects, which takes some 5 ms. The later generations
stay empty."""


@contextmanager
def collecting_in_small_portions() -> Iterator[None]:
    """Collect what is new and freeze what survives, as long as the block lasts."""

    def freeze_survivors(phase: str, _: object) -> None:
        if phase == "stop":
            gc.freeze()
            linecache.clearcache()

    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
    gc.callbacks.append(freeze_survivors)
    try:
        yield
    finally:
        gc.callbacks.remove(freeze_survivors)
        gc.set_threshold(*before)
        gc.unfreeze()


def sweep() -> None:
    """Collect all there is, also what was frozen while in use. It takes as long as there is much."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()
