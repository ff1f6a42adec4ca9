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

SERVING: Final = (10_000, 1_000, 1_000)
"""For `gc.set_threshold`: a collection looks at about 10,000 new objects, which takes some 5 ms. The later generations
stay empty."""

STARTING: Final = (2_000, *SERVING[1:])
"""While modules are imported: what is dropped then is dropped at once, and its room is still in the processor's cache.
Takes a twentieth less of the start than SERVING; while a server serves, smaller portions would freeze more of what is
only on its way."""


@contextmanager
def collecting_in_small_portions() -> Iterator[None]:
    """Collect what is new and freeze what survives, as long as the block lasts; it begins with a start."""

    def freeze_survivors(phase: str, _: object) -> None:
        if phase == "stop":
            gc.freeze()
            linecache.clearcache()

    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(*STARTING)
    gc.callbacks.append(freeze_survivors)
    try:
        yield
    finally:
        gc.callbacks.remove(freeze_survivors)
        gc.set_threshold(*before)
        gc.unfreeze()


def start_is_over() -> None:
    """From now on the portions are those of a server that serves."""
    if gc.get_threshold() == STARTING:
        gc.set_threshold(*SERVING)


def sweep() -> None:
    """Collect all there is, also what was frozen while in use. It takes as long as there is much."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()
