"""Clients that identify: `python -m chat.bench.identifying`, one thread, one epoll loop.

Each line that it reads (`Storm` as JSON) is one measurement, answered by one line, which says how busy it was itself.
"""

from __future__ import annotations

import json
import resource
import select
import sys
import time
from typing import Final

from chat.bench.load_generator import PATIENCE_SECONDS, rates
from chat.bench.load_sessions import Session, ThreadsSession, Watch, connect, read
from chat.bench.measuring import Identified, cpu_seconds
from chat.classes import frozen

READ_BYTES: Final = 262_144
"""A Ready of many guilds has more than a million."""

POLLING_SECONDS: Final = 0.05
QUIET_CPU_SECONDS: Final = 0.001
"""A process that takes less between two looks has nothing more to do."""


@frozen
class Storm:
    """Clients that connect and identify, each as the holder of one of the tokens, `at_once` of them under way. `pid`
    is the process whose CPU time counts."""

    port: int
    pid: int
    tokens: list[str]
    at_once: int
    staying: bool = False
    """Whether the sockets stay open until this process ends."""
    threads: bool = False
    """Whether the clients know threads."""


_staying: list[Session] = []


def identify_all(storm: Storm) -> Identified:
    """Connect, open the WebSocket, identify and read Ready, for all; then close every socket, which is measured apart,
    unless they stay.

    Raises ConnectionError when one is refused, or nothing happens for PATIENCE_SECONDS.
    """
    watch = Watch()
    poll, kind = select.epoll(), ThreadsSession if storm.threads else Session
    sessions: dict[int, Session] = {}
    began, own, servers = time.monotonic(), time.process_time(), cpu_seconds(storm.pid)
    for number, token in enumerate(storm.tokens):
        connected = connect(storm.port, number)
        session = kind(connected, token, watch, sampled=True)
        sessions[connected.fileno()] = session
        poll.register(connected.fileno(), select.EPOLLIN)
        session.open(storm.port)
        _read_until_ready(watch, number + 1 - storm.at_once, poll, sessions)
    _read_until_ready(watch, len(sessions), poll, sessions)
    seconds, own = time.monotonic() - began, time.process_time() - own
    identified = _cpu_when_quiet(storm.pid)
    if storm.staying:
        _staying.extend(sessions.values())
        sessions.clear()
    for session in sessions.values():
        session.socket.close()
    left = _cpu_when_quiet(storm.pid)
    leaving = left - identified  # none on a machine so busy that the server had no turn yet
    count = len(storm.tokens)
    return {
        **rates(count, seconds, identified - servers, own),
        "leaving_per_cpu_second": count / leaving if leaving else 0.0,
    }


def _read_until_ready(watch: Watch, count: int, poll: select.epoll, sessions: dict[int, Session]) -> None:
    heard = time.monotonic()
    while watch.ready < count:
        for descriptor, _ in poll.poll(0.1):
            sessions[descriptor].take(read(descriptor, READ_BYTES))
            heard = time.monotonic()
        if watch.closed or time.monotonic() - heard > PATIENCE_SECONDS:
            raise ConnectionError("a client that identifies is not served")


def _cpu_when_quiet(pid: int) -> float:
    """CPU time of a process once it has nothing more to do."""
    before, now = -1.0, cpu_seconds(pid)
    while now - before > QUIET_CPU_SECONDS:
        time.sleep(POLLING_SECONDS)
        before, now = now, cpu_seconds(pid)
    return now


def main() -> None:
    """Serve measurements until standard input ends."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    for line in sys.stdin:
        print(json.dumps(identify_all(Storm(**json.loads(line)))), flush=True)


if __name__ == "__main__":
    main()
