"""How much memory this process has."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

_STATM: Final = Path("/proc/self/statm")
"""Sizes of the process in pages, the resident one second (proc(5)); the kernel makes it up, no disk is read."""


def resident_bytes() -> int | None:
    """Bytes of the process that are in memory; None where the system does not say."""
    try:
        pages = int(_STATM.read_text("ascii").split()[1])
    except (OSError, IndexError, ValueError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")
