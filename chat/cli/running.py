"""What `chat serve` and `chat dev` have in common: own the data directory, log, run the server until it has drained."""

from __future__ import annotations

import functools
from collections.abc import Callable

from chat.cli.importing import importing

with importing():
    import trio

    from chat import log, serving
    from chat.clock import SkippingClock, SystemClock, iso_timestamp
    from chat.config import Loaded
    from chat.store.data_directory import DataDirectory


def run_server(loaded: Loaded, announce: Callable[[serving.ServerAddresses], None], *, development: bool) -> None:
    """Run a server on the data directory; `announce` is called once, when it can serve.

    Raises OperatorError when another process owns the directory, and for whatever keeps the server from starting.
    """
    clock = SkippingClock() if development else None
    time_of_day = SystemClock() if clock is None else clock
    log.configure(loaded.settings.log_level, timestamp=lambda: iso_timestamp(time_of_day.now_ms()))
    directory = DataDirectory(loaded.data_directory)
    directory.create()
    with directory.locked():
        trio.run(functools.partial(serving.serve, loaded, clock=clock, announce=announce), clock=clock)
