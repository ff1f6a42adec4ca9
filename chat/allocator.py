"""The memory allocator of a server."""

from __future__ import annotations

from typing import Final

KEPT_BYTES: Final = 4_194_304
"""More than nearly every Ready and every page of messages has."""


def keep_large_blocks() -> None:
    """From now on blocks of up to KEPT_BYTES are made of memory that the process has already.

    glibc gives a large block back to the system when it is freed, at once or as soon as twice as much lies free, and
    every page of the next one is a fault: a twentieth of what the Ready of 200 guilds costs. What counts as large
    begins with 128 KB and grows to the largest block that was given back so (mallopt(3), M_MMAP_THRESHOLD). This one
    is never touched, so it takes no memory. Other allocators are left as they are.
    """
    bytes(KEPT_BYTES)
