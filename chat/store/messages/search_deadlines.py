"""A limit to how long a query may take."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Iterator
from typing import Final

STEPS: Final = 20_000
"""Instructions of SQLite's machine between two looks at the time: some hundred microseconds."""


class QueryTooSlow(Exception):
    """The query was given up."""


@contextlib.contextmanager
def given_up_after(connection: sqlite3.Connection, seconds: float) -> Iterator[None]:
    """Give queries on the connection up when they together take longer than this; QueryTooSlow is raised then.

    It is the machine's own time, also where the server runs on a virtual clock: what is limited is work.
    """
    deadline = time.monotonic() + seconds
    connection.set_progress_handler(lambda: time.monotonic() > deadline, STEPS)
    try:
        yield
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
            raise QueryTooSlow from error
        raise
    finally:
        connection.set_progress_handler(None, STEPS)
