"""`chat serve`, with a look at its loop: `python -m chat.bench.observed_server DIRECTORY [unwatched]`.

Prints its port, and at every SIGUSR1 one line of JSON about the time since the last: the longest turn of the loop
(from one poll of the sockets to the next, garbage collection included), by the wall and by the thread's CPU time, and
how many tasks live. The wall's figure counts what other programs took of the core, too. The look costs something at
each turn, so it begins at the first SIGUSR1; `unwatched` leaves it out.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from functools import partial
from pathlib import Path

import trio

from chat import log, serving
from chat.clock import SystemClock, iso_timestamp
from chat.collector import collecting_in_small_portions
from chat.config import load_settings
from chat.store.data_directory import DataDirectory
from chat.store.mutexes import leave_out_mutexes


class TurnWatch(trio.abc.Instrument):
    """Measures every turn of the loop."""

    def __init__(self) -> None:
        self._wall = self._cpu = 0.0
        self._longest_wall = self._longest_cpu = 0.0

    def after_io_wait(self, timeout: float) -> None:
        self._wall, self._cpu = time.perf_counter(), time.thread_time()

    def before_io_wait(self, timeout: float) -> None:
        if self._wall:
            self._longest_wall = max(self._longest_wall, time.perf_counter() - self._wall)
            self._longest_cpu = max(self._longest_cpu, time.thread_time() - self._cpu)

    def report(self) -> None:
        """Print what was seen since the last report; the first begins the look. The present turn is left out."""
        trio.lowlevel.add_instrument(self)  # once more, it changes nothing
        report = {
            "longest_turn_ms": self._longest_wall * 1000,
            "longest_turn_cpu_ms": self._longest_cpu * 1000,
            "tasks": trio.lowlevel.current_statistics().tasks_living,
        }
        print(json.dumps(report), flush=True)
        self._wall = self._cpu = self._longest_wall = self._longest_cpu = 0.0


def main(directory: Path, *, watched: bool) -> None:
    """Serve until SIGTERM."""
    leave_out_mutexes()
    loaded = load_settings(directory, None, os.environ, {"port": 0})
    clock = SystemClock()
    log.configure(loaded.settings.log_level, timestamp=lambda: iso_timestamp(clock.now_ms()))
    watch = TurnWatch()

    def announce(addresses: serving.ServerAddresses) -> None:
        if watched:
            token = trio.lowlevel.current_trio_token()
            signal.signal(signal.SIGUSR1, lambda _, __: token.run_sync_soon(watch.report))
        print(json.dumps({"port": addresses.port}), flush=True)

    data = DataDirectory(directory)
    with collecting_in_small_portions(), data.locked():
        trio.run(partial(serving.serve, loaded, clock=None, announce=announce))


if __name__ == "__main__":
    main(Path(sys.argv[1]), watched="unwatched" not in sys.argv[2:])
