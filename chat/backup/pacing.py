"""Writing much without making others wait for the disk."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

LONGEST_PAUSE_SECONDS: Final = 1.0

NICENESS: Final = 19
"""Of the processes that make backups: messages come first."""


def be_patient() -> None:
    """Let others go first, for a process that does nothing else; where the service manager forbids that, go on
    without."""
    with contextlib.suppress(OSError):
        os.nice(NICENESS)
    with contextlib.suppress(OSError, AttributeError):
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def settle(descriptor: int, flush: Callable[[], None] | None = None) -> None:
    """Bring what was written to the disk, and leave the disk to others for as long as that took.

    What the kernel has collected would be written with the next `fsync` of anybody, and a server's writes wait for
    theirs.
    """
    began = time.monotonic()
    if flush is not None:
        flush()
    os.fdatasync(descriptor)
    with contextlib.suppress(OSError):
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    time.sleep(min(LONGEST_PAUSE_SECONDS, time.monotonic() - began))


def settle_file(path: Path) -> None:
    """As `settle`, of a file that another library writes; nothing where it is not there yet."""
    with contextlib.suppress(FileNotFoundError):
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            settle(descriptor)
        finally:
            os.close(descriptor)
