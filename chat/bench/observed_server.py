"""`chat serve`, with a look at its loop: `python -m chat.bench.observed_server DIRECTORY [unwatched]`.

Prints its port, and at every SIGUSR1 one line of JSON about the time since the last: the longest turn of the loop
(from one poll of the sockets to the next, garbage collection included), by the wall and by the thread's CPU time, and
how many tasks live. The wall's figure counts what other programs took of the core, too. The look costs a tenth of a
millisecond at each turn: `unwatched` leaves it out.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from functools import partial
from pathlib import Path
from types import FrameType

import trio

from chat import log, serving
from chat.clock import SystemClock, iso_timestamp
from chat.collector import collecting_in_small_portions
from chat.config import load_settings
from chat.store.data_directory import DataDirectory


class TurnWatch(trio.abc.Instrument):
    """Measures every turn of the loop."""

    def __init__(self) -> None:
        self.report_due = False
        self._wall = self._cpu = 0.0
        self._longest_wall = self._longest_cpu = 0.0

    def after_io_wait(self, timeout: float) -> None:
        if self.report_due:
            self.report_due = False
            self._report()
        self._wall, self._cpu = time.perf_counter(), time.thread_time()

    def before_io_wait(self, timeout: float) -> None:
        if self._wall:
            self._longest_wall = max(self._longest_wall, time.perf_counter() - self._wall)
            self._longest_cpu = max(self._longest_cpu, time.thread_time() - self._cpu)

    def _report(self) -> None:
        statistics = trio.lowlevel.current_statistics()
        report = {
            "longest_turn_ms": self._longest_wall * 1000,
            "longest_turn_cpu_ms": self._longest_cpu * 1000,
            "tasks": statistics.tasks_living,
        }
        print(json.dumps(report), flush=True)
        self._longest_wall = self._longest_cpu = 0.0


def main(directory: Path, *, watched: bool) -> None:
    """Serve until SIGTERM."""
    loaded = load_settings(directory, None, os.environ, {"port": 0})
    clock = SystemClock()
    log.configure(loaded.settings.log_level, timestamp=lambda: iso_timestamp(clock.now_ms()))
    watch = TurnWatch()

    def ask_for_report(_: int, __: FrameType | None) -> None:
        watch.report_due = True

    def announce(addresses: serving.ServerAddresses) -> None:
        if watched:
            trio.lowlevel.add_instrument(watch)
            signal.signal(signal.SIGUSR1, ask_for_report)
        print(json.dumps({"port": addresses.port}), flush=True)

    data = DataDirectory(directory)
    with collecting_in_small_portions(), data.locked():
        trio.run(partial(serving.serve, loaded, clock=None, announce=announce))


if __name__ == "__main__":
    main(Path(sys.argv[1]), watched="unwatched" not in sys.argv[2:])
