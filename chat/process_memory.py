"""How much memory this process has, and giving back what it does not need."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Final

_STATM: Final = "/proc/{}/statm"
"""Sizes of a process in pages, the resident one second (proc(5)); the kernel makes it up, no disk is read."""


def resident_bytes(process: int | str = "self") -> int | None:
    """Bytes of a process that are in memory, of this one unless another is named; None where the system does not
    say."""
    try:
        pages = int(Path(_STATM.format(process)).read_text("ascii").split()[1])
    except (OSError, IndexError, ValueError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def give_back() -> None:
    """Return to the system what was freed and lies between what is in use.

    The C library keeps that for ever on its own account; where it has no such function, nothing is done. It takes up to
    a few hundred milliseconds, so call it in a thread.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
