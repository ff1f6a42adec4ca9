"""SQLite's mutexes, which a server does without."""

from __future__ import annotations

import _sqlite3
import ctypes
from typing import Final

_CONFIG_MULTITHREAD: Final = 2
_CONFIG_MEMSTATUS: Final = 9
"""SQLITE_CONFIG_MULTITHREAD and SQLITE_CONFIG_MEMSTATUS of sqlite3.h."""


def leave_out_mutexes() -> None:
    """From now on a connection has no mutex of its own, and SQLite does not count its memory, which takes another.

    A connection of `chat.store.database` is used by one thread at a time, so its mutex guards nothing, and it is
    taken twice for each column of each row: a fifth of what reading 50 messages costs in SQLite. What connections share
    stays guarded (sqlite.org, Using SQLite In Multi-Threaded Applications, Multi-thread). Only for a process that is
    this program's own, before it opens its first connection: SQLite is shut down for a moment. A SQLite that is built
    into Python without its names stays as it is.
    """
    library = ctypes.CDLL(getattr(_sqlite3, "__file__", None))
    if not hasattr(library, "sqlite3_config"):
        return
    library.sqlite3_shutdown()
    library.sqlite3_config(_CONFIG_MULTITHREAD)
    library.sqlite3_config(_CONFIG_MEMSTATUS, 0)
    library.sqlite3_initialize()
