"""`chat status`: how an instance is doing, from the figures that its server writes down (`chat.figures`), and from the
process itself; once, or live with --watch."""

from __future__ import annotations

import contextlib
import http.client
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from chat.classes import frozen
from chat.cli.options import instance_options, is_terminal, json_option, print_json, settings_file

if TYPE_CHECKING:
    from rich.console import RenderableType

    from chat.config import Settings
    from chat.domain.administration.gateway_nodes import NodesStanding
    from chat.store.administration.figures import Figures
    from chat.store.data_directory import DataDirectory

NOTHING: Final = "-"
"""What stands for a value that there is none of."""

ASK_SECONDS: Final = 3.0
"""How long the server may take to say whether it is ready."""

BARS: Final = "▁▂▃▄▅▆▇█"
COLUMNS: Final = 48
"""Of a chart of the last day: half an hour each."""

SPANS: Final[Mapping[str, int]] = {"last_minute": 60, "last_hour": 3_600, "last_day": 86_400, "last_week": 604_800}
"""Seconds that are shown together."""


@frozen
class ServerStatus:
    """What is known of an instance at a moment. Nothing is there of spans in which no server ran."""

    running: bool
    process: int | None
    answer: str
    """What the server says of itself: `ready`, or why not."""
    answer_ms: float | None
    uptime_seconds: int | None
    memory_bytes: int | None
    spans: Mapping[str, Figures | None]
    day: Sequence[Figures]
    nodes: NodesStanding | None
    """None where the server runs without gateway nodes."""

    def as_json(self) -> Mapping[str, object]:
        return {
            **{name: getattr(self, name) for name in ("running", "process", "answer", "answer_ms", "uptime_seconds")},
            "memory_bytes": self.memory_bytes,
            "nodes": None if self.nodes is None else fields_of_nodes(self.nodes),
            **{name: None if span is None else fields_of_span(span) for name, span in self.spans.items()},
        }


def fields_of_nodes(standing: NodesStanding) -> dict[str, int]:
    """How many nodes are in each state, and how many sessions they have."""
    from collections import Counter

    states = Counter(node.state for node in standing.nodes)
    sessions = sum(node.sessions for node in standing.nodes)
    return {
        "broker_is_up": standing.broker_is_up,
        **{state.value: count for state, count in states.items()},
        "sessions": sessions,
    }


def nodes_in_words(standing: NodesStanding) -> str:
    """One line about gateway nodes."""
    fields = fields_of_nodes(standing)
    is_up, sessions = fields.pop("broker_is_up"), fields.pop("sessions")
    states = ", ".join(f"{count} {state}" for state, count in fields.items()) or "none is here"
    broker = "the broker answers" if is_up else "the broker does not answer"
    return f"gateway nodes: {states}; sessions at them: {sessions:,}; {broker}"


def fields_of_span(span: Figures) -> Mapping[str, float | None]:
    """A span of time in the words of the Admin API."""
    return {
        "messages": span.messages,
        "requests": span.requests,
        "failures": span.failures,
        "p50_ms": _rounded(span.percentile_ms(0.5)),
        "p99_ms": _rounded(span.percentile_ms(0.99)),
        "online": span.online,
        "sessions": span.sessions,
        "lag_ms": round(span.lag_us / 1_000, 2),
        "memory_bytes": span.memory_bytes,
        "stored_bytes": span.database_bytes + span.upload_bytes,
    }


@click.command()
@instance_options
@click.option("--watch", is_flag=True, help="Go on until Ctrl-C; one JSON object a line in a pipe.")
@click.option(
    "--every", type=click.FloatRange(0.5, 3_600), default=2.0, show_default=True, metavar="SECONDS", help="How often."
)
@json_option
def status(data: Path, watch: bool, every: float, as_json: bool) -> None:
    """How the instance is doing.

    Messages, people online, requests and their times, pauses, memory, storage: now, and over the last hour, day and
    week. The server writes these figures once a minute; what the process itself tells is of this moment.
    """
    import os

    from chat.config import load_settings
    from chat.store.data_directory import DataDirectory

    directory = DataDirectory(data)
    directory.require()
    settings = load_settings(data, settings_file(), os.environ).settings

    def read() -> ServerStatus:
        return status_of(directory, settings)

    if as_json or not is_terminal():
        _print_lines(read, every if watch else None)
    elif not watch:
        from rich.console import Console

        Console().print(_shown(read()))
    else:
        _watch(read, every)


def _print_lines(read: Callable[[], ServerStatus], every: float | None) -> None:
    print_json(read().as_json())
    with contextlib.suppress(KeyboardInterrupt):
        while every is not None:
            time.sleep(every)
            print_json(read().as_json())


def _watch(read: Callable[[], ServerStatus], every: float) -> None:
    from rich.live import Live

    with contextlib.suppress(KeyboardInterrupt), Live(_shown(read()), screen=True, auto_refresh=False) as live:
        while True:
            time.sleep(every)
            live.update(_shown(read()), refresh=True)


def status_of(directory: DataDirectory, settings: Settings) -> ServerStatus:
    """Look at the process that owns the data, and at its figures."""
    from chat.domain.administration import gateway_nodes
    from chat.process_memory import resident_bytes

    process = directory.owner()
    answer, answer_ms = (
        ("no server runs on this data", None) if process is None else _asked(settings, directory.address())
    )
    day, spans = _figures(directory)
    return ServerStatus(
        running=process is not None,
        process=process,
        answer=answer,
        answer_ms=answer_ms,
        uptime_seconds=None if process is None else _uptime_seconds(process),
        memory_bytes=None if process is None else resident_bytes(process),
        spans=spans,
        day=day,
        nodes=None if process is None else gateway_nodes.read(directory.path, process, int(time.time() * 1_000)),
    )


def _figures(directory: DataDirectory) -> tuple[Sequence[Figures], Mapping[str, Figures | None]]:
    from chat.store.administration import figures
    from chat.store.connections import connect

    now = int(time.time() * 1_000)
    try:
        with contextlib.closing(connect(directory.database, read_only=True)) as connection:
            minutes = figures.of_span(connection, figures.MINUTE, now - 86_400_000, now + 60_000)
            quarters = figures.of_span(connection, figures.QUARTER, now - 604_800_000, now + 60_000)
    except sqlite3.Error:  # a database of an older version, or none at all
        return (), dict.fromkeys(SPANS)
    spans: dict[str, Figures | None] = {}
    for name, seconds in SPANS.items():
        rows = quarters if seconds > SPANS["last_day"] else minutes
        found = rows[-1:] if name == "last_minute" else [row for row in rows if row.at >= now - seconds * 1_000]
        spans[name] = figures.added(found[0].at, found) if found else None
    half_hour = 86_400_000 // COLUMNS
    first = now - 86_400_000
    day = [
        figures.added(first + at * half_hour, [row for row in minutes if (row.at - first) // half_hour == at])
        for at in range(COLUMNS)
    ]
    return day, spans


def _asked(settings: Settings, address: tuple[str, int] | None) -> tuple[str, float | None]:
    """What /_ready says, and after how many milliseconds. The server may listen elsewhere than the settings say, as its
    command line has it."""
    import json

    from chat.config.settings import WILDCARD_HOSTS

    host, port = address or (settings.host, settings.port)
    host = WILDCARD_HOSTS.get(host, host)
    connection = http.client.HTTPConnection(host, port, timeout=ASK_SECONDS)
    if settings.has_tls:
        from chat.port.tls import trusting_anybody

        context = trusting_anybody()
        connection = http.client.HTTPSConnection(host, port, timeout=ASK_SECONDS, context=context)
    began = time.monotonic()
    try:
        connection.request("GET", "/_ready")
        answer = connection.getresponse()
        body = json.loads(answer.read(65_536))
        told = str(body.get("reason") or body.get("status"))
        return "ready" if answer.status == 200 else f"not ready: {told}", round((time.monotonic() - began) * 1_000, 1)
    except (OSError, http.client.HTTPException, ValueError, AttributeError):
        return f"does not answer at {host} port {port}", None
    finally:
        connection.close()


def _uptime_seconds(process: int) -> int | None:
    """How long a process has run (proc(5)); None where the system does not say."""
    import os

    try:
        began = int(Path(f"/proc/{process}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[19])
        since_boot = float(Path("/proc/uptime").read_text("ascii").split()[0])
    except (OSError, IndexError, ValueError):
        return None
    return max(0, int(since_boot - began / os.sysconf("SC_CLK_TCK")))


# For people

ROWS: Final[Sequence[tuple[str, str]]] = (
    ("messages", "Messages"),
    ("requests", "Requests"),
    ("failures", "Failed requests"),
    ("p50_ms", "Answer, median"),
    ("p99_ms", "Answer, 99 of 100"),
    ("online", "People online"),
    ("sessions", "Sessions"),
    ("lag_ms", "Longest pause"),
    ("memory_bytes", "Memory"),
    ("stored_bytes", "Stored"),
)


def _shown(status: ServerStatus) -> RenderableType:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    style = "green" if status.answer == "ready" else "yellow" if status.running else "red"
    heading = Text.assemble((status.answer, f"bold {style}"))
    if status.running:
        heading.append(f"  process {status.process}")
    if status.answer_ms is not None:
        heading.append(f", answers in {status.answer_ms} ms")
    if status.uptime_seconds is not None:
        heading.append(f", up {span_in_words(status.uptime_seconds)}")
    if status.memory_bytes is not None:
        heading.append(f", {size_in_words(status.memory_bytes)} of memory")
    if status.nodes is not None:
        style = "" if status.nodes.broker_is_up else "red"
        heading.append(f"\n{nodes_in_words(status.nodes)}", style)
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("")
    for name in SPANS:
        table.add_column(name.replace("_", " "), justify="right")
    table.add_column("the last day, by the half hour", no_wrap=True, overflow="crop")
    columns = {name: None if span is None else fields_of_span(span) for name, span in status.spans.items()}
    day = [fields_of_span(span) for span in status.day]
    for field, words in ROWS:
        cells = [NOTHING if span is None else in_words(field, span[field]) for span in columns.values()]
        table.add_row(words, *cells, Text(bars([span[field] for span in day]), style="cyan"))
    return Group(heading, Text(), table)


def bars(values: Sequence[float | None]) -> str:
    """A chart of one line; a blank where nothing was measured."""
    top = max((value or 0 for value in values), default=0)
    if not top:
        return ""
    return "".join(BARS[min(int((value or 0) / top * len(BARS)), len(BARS) - 1)] if value else " " for value in values)


def in_words(field: str, value: float | None) -> str:
    """A value of a span, with its unit."""
    if value is None:
        return NOTHING
    if field.endswith("_bytes"):
        return size_in_words(int(value))
    if field.endswith("_ms"):
        return f"{value / 1_000:.1f} s" if value >= 1_000 else f"{value:.1f} ms"
    return f"{int(value):,}"


def size_in_words(size: int) -> str:
    """Bytes in the unit that suits them."""
    amount, units = float(size), ["bytes", "KB", "MB", "GB", "TB"]
    while amount >= 1_000 and len(units) > 1:
        amount /= 1_000
        units.pop(0)
    return f"{amount:,.0f} {units[0]}" if units[0] == "bytes" else f"{amount:,.1f} {units[0]}"


def span_in_words(seconds: int) -> str:
    """Seconds in the two largest units that they have."""
    parts: list[str] = []
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)):
        amount, seconds = divmod(seconds, size)
        if amount or (unit == "s" and not parts):
            parts.append(f"{amount} {unit}")
    return " ".join(parts[:2])


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 2)
