"""Processes under measurement, started on a core of their own, and what the kernel says about them; and figures: what
was measured, in which unit, and what it should be."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NotRequired, TypedDict

import chat
from chat.classes import frozen
from chat.errors import OperatorError

MEASURED_CORE: Final = 0
"""Where servers and floors run; they take turns."""

LOAD_CORE: Final = 1
"""Where load is made."""

STOP_SECONDS: Final = 20.0
BUSY_GENERATOR: Final = 0.9


def cpu_seconds(pid: int) -> float:
    """CPU time of all threads of a process that are alive, to the nanosecond."""
    nanoseconds = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # the thread has just ended
            nanoseconds += int((task / "schedstat").read_text().split()[0])
    return nanoseconds / 1e9


def resident_bytes(pid: int) -> int:
    """Memory of a process that is in use (VmRSS)."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise ProcessLookupError(f"process {pid} is gone")


class MeasuredProcess:
    """A Python program of this package, or `chat` itself, that talks in lines of JSON or text."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.pid = process.pid
        self.opened: Any = None
        """What a generator answered once its sessions were ready."""

    def line(self) -> str:
        """The next line that it prints. Raises OperatorError when it ends instead."""
        assert self._process.stdout is not None  # noqa: S101 -- `started` made it a pipe
        line = self._process.stdout.readline()
        if not line:
            raise OperatorError(f"a process of the measurement ended early: {self._process.args!r}")
        return line.rstrip("\n")

    def answer(self) -> Any:
        return json.loads(self.line())

    def ask(self, **request: object) -> Any:
        """Send a request as a line of JSON, and wait for the answer."""
        assert self._process.stdin is not None  # noqa: S101 -- `started` made it a pipe
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return self.answer()

    def signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def stop(self) -> float:
        """End it with SIGTERM, and return how many seconds that took. Raises TimeoutExpired after STOP_SECONDS."""
        began = time.perf_counter()
        self._process.terminate()
        self._process.wait(STOP_SECONDS)
        return time.perf_counter() - began


HERE: Final = Path(chat.__file__).parents[1]
"""The checkout, or the place of the installed package, that measures."""

OUR_MODULES: Final = (sys.executable, "-m")


@contextlib.contextmanager
def started(
    *arguments: object,
    core: int,
    environment: Mapping[str, str] | None = None,
    checkout: Path = HERE,
    program: Sequence[str] = OUR_MODULES,
) -> Iterator[MeasuredProcess]:
    """Run `python -m` (or another program) with these arguments on one core while the block lasts; SIGTERM ends it
    then. The package is that of `checkout`, wherever the command was called."""
    found = {"PYTHONPATH": os.pathsep.join(filter(None, (str(checkout), *_python_path())))}
    with subprocess.Popen(  # noqa: S603 -- programs that this package names
        [*program, *map(str, arguments)],
        env=os.environ | found | dict(environment or {}),
        cwd=checkout,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        # Threads inherit it, and none has been started so early.
        os.sched_setaffinity(process.pid, {core} & os.sched_getaffinity(0) or os.sched_getaffinity(0))
        try:
            yield MeasuredProcess(process)
        finally:
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()


def _python_path() -> list[str]:
    present = os.environ.get("PYTHONPATH")
    return [] if present is None else [present]


@frozen
class Figure:
    """One result. `at_least` and `at_most` are what is asked for, where something is."""

    name: str
    value: float
    unit: str
    at_least: float | None = None
    at_most: float | None = None

    @property
    def met(self) -> bool | None:
        """Whether it is as asked; None where nothing is asked."""
        if self.at_least is None and self.at_most is None:
            return None
        return (self.at_least is None or self.value >= self.at_least) and (
            self.at_most is None or self.value <= self.at_most
        )

    @property
    def target(self) -> str:
        if self.at_least is not None:
            return f"at least {self.at_least:g}"
        return "" if self.at_most is None else f"at most {self.at_most:g}"


@frozen
class BenchReport:
    """The figures of one bench. `notes` say what a reader has to know before believing them."""

    bench: str
    figures: tuple[Figure, ...]
    notes: tuple[str, ...] = ()

    def as_json(self) -> Mapping[str, object]:
        return {
            "bench": self.bench,
            "figures": {
                figure.name: {
                    "value": round(figure.value, 4),
                    "unit": figure.unit,
                    "target": figure.target or None,
                    "met": figure.met,
                }
                for figure in self.figures
            },
            "notes": list(self.notes),
        }


class Rates(TypedDict):
    """What a load generator measured: things done in a second, and in one of the server's CPU time; how busy the server
    and the generator were."""

    per_second: float
    per_cpu_second: float
    server_cpu: float
    generator_cpu: float


class Identified(Rates):
    leaving_per_cpu_second: float


class SessionsOpened(TypedDict):
    """`beside` are seconds of CPU time of the processes beside the server."""

    ready: int
    seconds: float
    beside: list[float]


class Deliveries(Rates):
    """The latencies are missing where fewer than two were taken."""

    deliveries: int
    posted: int
    beside: list[float]
    bytes_per_delivery: float
    acknowledged: int
    p50_ms: NotRequired[float]
    p99_ms: NotRequired[float]
    longest_ms: NotRequired[float]
    undelivered: int
    sequence_gaps: int
    closed: int


class ObservedLoop(TypedDict):
    """The longest turn of a server's loop since it was asked last, and how many tasks it has."""

    longest_turn_ms: float
    longest_turn_cpu_ms: float
    tasks: int


class Latencies(TypedDict, total=False):
    p50_ms: float
    p99_ms: float
    longest_ms: float


def note_if_busy(result: Rates, name: str, notes: list[str]) -> None:
    """Note that the load generator measured itself, and not the server."""
    if result["generator_cpu"] > BUSY_GENERATOR:
        notes.append(f"{name}: the load generator was busy ({result['generator_cpu']:.2f} of its core)")


def median_ratio(numerators: Sequence[float], denominators: Sequence[float]) -> float:
    """The median of the ratios of rounds that were measured one right after the other."""
    return statistics.median(one / other for one, other in zip(numerators, denominators, strict=True) if other)


def rounded(value: float) -> str:
    """A value for people: four digits at most, thousands apart."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def rows(reports: Iterable[BenchReport]) -> list[tuple[str, str, str, str, bool | None]]:
    """Lines for a table: name, value, unit, target, whether it is met."""
    return [
        (figure.name, rounded(figure.value), figure.unit, figure.target, figure.met)
        for report in reports
        for figure in report.figures
    ]
