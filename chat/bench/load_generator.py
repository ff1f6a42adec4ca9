"""Makes load: `python -m chat.bench.load_generator gateway|http`, one thread, one epoll loop.

`gateway`: the first line that it reads says whom to connect to (`Specification` as JSON), and is answered once all
sessions are ready. Each further line (`Phase`) is one measurement, answered by one line. `http`: each line (`Order`) is
one measurement, answered by one line: a number of connections, each of which has one request under way at any time and
takes the requests in turn. An answer says how busy the generator was itself: above 0.9 it measured itself and not
the server.
"""

from __future__ import annotations

import collections
import itertools
import json
import random
import resource
import select
import socket
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from typing import Final

from chat.bench.load_sessions import (
    MARKER,
    TIME_DIGITS,
    CompressedSession,
    MountedSession,
    Session,
    Watch,
    connect,
    read,
)
from chat.bench.measuring import Deliveries, Latencies, Rates, SessionsOpened, cpu_seconds
from chat.classes import frozen

SAMPLED: Final = 10
"""One session of this many is read closely."""

HEARTBEAT_SECONDS: Final = 30.0
QUIET_SECONDS: Final = 0.5
EVENTS_PER_TURN: Final = 128
HTTP_CLIENTS: Final = 8
WARM_UP_SECONDS: Final = 0.3
"""Before each measurement; no longer than the measurement itself."""

PATIENCE_SECONDS: Final = 20.0
"""How long a measurement may take in which nothing is delivered or answered."""

SETTLING_SECONDS: Final = 10.0
"""How long what is under way at the end of a phase may take."""

WORDS: Final = (
    b"well I think so too but when is it and who will bring the others along tonight maybe later no idea".split()
)
WORDS_PER_MESSAGE: Final = 18


# Clients that cost next to nothing: one request under way each, its bytes made beforehand

HEAD_END: Final = b"\r\n\r\n"
LENGTH: Final = b"content-length:"


def request_bytes(method: str, path: str, *, authorization: str | None = None, body: bytes = b"") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1"]
    if authorization is not None:
        lines.append(f"Authorization: {authorization}")
    if body:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join(lines).encode() + HEAD_END + body


class HttpClient:
    """A kept connection."""

    __slots__ = ("_received", "answered", "is_busy", "socket")

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setblocking(False)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.is_busy = False
        self.answered = 0
        self._received = b""

    def send(self, request: bytes) -> None:
        """Send the next request; the last has been answered."""
        self.is_busy = True
        self.socket.send(request)

    def take(self, data: bytes) -> int:
        """Work off what was read. Returns 0: an answer is no delivery. Raises ConnectionError unless it is a 2xx."""
        if not data:
            raise ConnectionError("the server closed an HTTP connection")
        received = self._received = self._received + data if self._received else data
        end = received.find(HEAD_END)
        if end < 0:
            return 0
        if not received.startswith(b"HTTP/1.1 2"):
            raise ConnectionError(received[:500].decode("latin-1"))
        at = received.lower().find(LENGTH, 0, end)
        length = int(received[at + len(LENGTH) : received.index(b"\r", at)]) if at >= 0 else 0
        if len(received) >= end + len(HEAD_END) + length:
            self._received = b""
            self.is_busy = False
            self.answered += 1
        return 0


# The gateway


@frozen
class Specification:
    """Whom to connect to and as whom. `pid` is the process whose CPU time counts."""

    port: int
    pid: int
    sessions: int
    tokens: list[str]
    post_path: str
    kind: str = "plain"
    """One of KINDS."""
    gateway_ports: tuple[int, ...] = ()
    """Where sessions connect to in turn, where that is not `port`: gateway nodes."""
    beside: tuple[int, ...] = ()
    """Other processes whose CPU time is told."""
    opening_at_once: int = 64


KINDS: Final = {"plain": Session, "compressed": CompressedSession, "mounted": MountedSession}


@frozen
class Phase:
    """One measurement: `window` messages under way all the time, each until it has reached everyone, or `rate` messages
    a second, or neither."""

    seconds: float
    window: int = 0
    rate: float = 0.0


class LoadGenerator:
    """All sessions, the clients that post, and the loop that serves them."""

    def __init__(self, specification: Specification) -> None:
        self._specification = specification
        self._watch = Watch()
        self._poll = select.epoll()
        self._takers: dict[int, Callable[[bytes], int]] = {}
        self._heartbeats: collections.deque[tuple[float, Session]] = collections.deque()
        self._sessions: list[Session] = []
        self._http: list[HttpClient] = []
        self._idle_since = time.monotonic()
        self._chance = random.Random(0)  # noqa: S311 -- words, not secrets
        self._orders = b""
        self._orders_over = False
        self.delivered = 0
        self._delivered_at = [0] * max(len(specification.gateway_ports), 1)
        """Of it, what came at each of several ports."""
        self.posted = 0
        self.received_bytes = 0

    def orders(self, descriptor: int) -> Iterator[str]:
        """The lines that come in at a descriptor until its end; heartbeats go on in the meantime."""
        self._register(descriptor, self._take_orders)
        while not self._orders_over:
            line, end, rest = self._orders.partition(b"\n")
            if end:
                self._orders = rest
                yield line.decode()
            else:
                self._turn(1.0)

    def _take_orders(self, data: bytes) -> int:
        self._orders += data
        self._orders_over = not data
        return 0

    def open_sessions(self) -> SessionsOpened:
        """Connect and identify everyone, and wait until nothing more comes of that."""
        began = time.monotonic()
        specification = self._specification
        kind = KINDS[specification.kind]
        ports = specification.gateway_ports or (specification.port,)
        before = self._beside()
        for number in range(specification.sessions):
            port = ports[number % len(ports)]
            connected = connect(port, number)
            token = specification.tokens[number % len(specification.tokens)]
            session = kind(connected, token, self._watch, sampled=number % SAMPLED == 0)
            self._sessions.append(session)
            self._register(connected.fileno(), self._counted(session, number % len(ports)))
            session.open(port)
            while number - self._watch.ready >= specification.opening_at_once:
                self._turn(1.0)
                self._require_open()
        while self._watch.ready < specification.sessions:
            self._turn(1.0)
            self._require_open()
        seconds = time.monotonic() - began
        while time.monotonic() - self._idle_since < QUIET_SECONDS:
            self._turn(QUIET_SECONDS)
        now = time.monotonic()
        for number, session in enumerate(self._sessions):
            self._heartbeats.append((now + HEARTBEAT_SECONDS * number / len(self._sessions), session))
        return {"ready": self._watch.ready, "seconds": seconds, "beside": _differences(before, self._beside())}

    def _counted(self, session: Session, port: int) -> Callable[[bytes], int]:
        """How to take what a session reads, where it counts for its port."""
        ports = self._delivered_at

        def take(data: bytes) -> int:
            found = session.take(data)
            ports[port] += found
            return found

        return take if len(ports) > 1 else session.take

    def _outstanding(self) -> int:
        """How many of the messages that were posted have not reached everyone, wherever they are connected."""
        ports = self._delivered_at
        if len(ports) == 1:
            return self.posted - self.delivered // len(self._sessions)
        sessions = len(self._sessions)
        return self.posted - min(
            delivered // len(range(port, sessions, len(ports))) for port, delivered in enumerate(ports)
        )

    def _beside(self) -> list[float]:
        return [cpu_seconds(pid) for pid in self._specification.beside]

    def measure(self, phase: Phase) -> Deliveries:
        """Post for a while and count."""
        self.delivered = self.posted = 0
        self._delivered_at[:] = [0] * len(self._delivered_at)
        if phase.window or phase.rate:
            self._open_http()
        began = time.monotonic()
        self._run_until(began + min(WARM_UP_SECONDS, phase.seconds), phase, began)
        self._watch.latencies.clear()
        delivered, received_bytes, acknowledged = self.delivered, self.received_bytes, self._watch.acknowledged
        posted, beside = self.posted, self._beside()
        at, own, servers = time.monotonic(), time.process_time(), cpu_seconds(self._specification.pid)
        self._run_until(at + phase.seconds, phase, began)
        while phase.window and self.delivered == delivered and time.monotonic() - at < PATIENCE_SECONDS:
            self._run_until(time.monotonic() + phase.seconds, phase, began)
        seconds, own = time.monotonic() - at, time.process_time() - own
        servers = cpu_seconds(self._specification.pid) - servers
        delivered, received_bytes = self.delivered - delivered, self.received_bytes - received_bytes
        posted, beside = self.posted - posted, _differences(beside, self._beside())
        acknowledged, latencies = self._watch.acknowledged - acknowledged, _latencies(self._watch.latencies)
        self._settle()
        return {
            "deliveries": delivered,
            "posted": posted,
            "beside": beside,
            **rates(delivered, seconds, servers, own),
            "bytes_per_delivery": received_bytes / delivered if delivered else 0.0,
            "acknowledged": acknowledged,
            **latencies,
            "undelivered": self.posted * len(self._sessions) - self.delivered,
            "sequence_gaps": self._watch.sequence_gaps,
            "closed": self._watch.closed,
        }

    def _require_open(self) -> None:
        if self._watch.closed:
            raise ConnectionError("the server closed a connection before its session was ready")

    def _open_http(self) -> None:
        # Afresh for each phase: between two of them the server may close what is idle.
        self._http = [HttpClient(self._specification.port) for _ in range(HTTP_CLIENTS)]
        for client in self._http:
            self._register(client.socket.fileno(), client.take)

    def _register(self, descriptor: int, take: Callable[[bytes], int]) -> None:
        self._takers[descriptor] = take
        self._poll.register(descriptor, select.EPOLLIN)

    def _run_until(self, end: float, phase: Phase, began: float) -> None:
        while (now := time.monotonic()) < end:
            wait = end - now
            if phase.rate:
                due = began + self.posted / phase.rate
                if now >= due:
                    self._post()
                wait = max(0.0, min(wait, due - now))
            elif phase.window:
                self._fill(phase.window)
            self._turn(wait)

    def _fill(self, window: int) -> None:
        while self._outstanding() < window and self._post():
            pass

    def _post(self) -> bool:
        client = next((client for client in self._http if not client.is_busy), None)
        if client is None:
            return False
        # In turn, so that the server finds none of them idle for too long.
        self._http.remove(client)
        self._http.append(client)
        words = b" ".join(self._chance.choices(WORDS, k=WORDS_PER_MESSAGE))
        content = MARKER + b"%0*d " % (TIME_DIGITS, time.monotonic_ns()) + words
        specification = self._specification
        author = specification.tokens[self.posted % len(specification.tokens)]
        body = b'{"content":"%b"}' % content
        client.send(request_bytes("POST", specification.post_path, authorization=author, body=body))
        self.posted += 1
        return True

    def _settle(self) -> None:
        end = time.monotonic() + SETTLING_SECONDS
        while time.monotonic() < end and (
            self.delivered < self.posted * len(self._sessions) or any(client.is_busy for client in self._http)
        ):
            self._turn(0.1)
        for client in self._http:
            self._poll.unregister(client.socket.fileno())
            client.socket.close()
        self._http = []

    def _turn(self, seconds: float) -> None:
        takers = self._takers
        delivered = received = 0
        for descriptor, _ in self._poll.poll(min(seconds, 0.1), EVENTS_PER_TURN):
            try:
                data = read(descriptor)
            except BlockingIOError:
                continue
            if not data:
                self._poll.unregister(descriptor)
            received += len(data)
            delivered += takers[descriptor](data)
        now = time.monotonic()
        if received:
            self._idle_since = now
            self.delivered += delivered
            self.received_bytes += received
        while self._heartbeats and self._heartbeats[0][0] <= now:
            _, session = self._heartbeats.popleft()
            if session.is_ready:
                session.heartbeat()
                self._heartbeats.append((now + HEARTBEAT_SECONDS, session))


def _differences(before: list[float], after: list[float]) -> list[float]:
    return [later - earlier for earlier, later in zip(before, after, strict=True)]


def _latencies(milliseconds: list[float]) -> Latencies:
    if len(milliseconds) < 2:
        return {}
    hundredths = statistics.quantiles(milliseconds, n=100)
    return {"p50_ms": hundredths[49], "p99_ms": hundredths[98], "longest_ms": max(milliseconds)}


# HTTP


@frozen
class Order:
    """What to ask of whom. `pid` is the process whose CPU time counts; the tokens are used in turn, and an
    empty one stands for no credential.

    `asked` are requests: `method`, `path`, and `body` where there is one.
    """

    port: int
    pid: int
    seconds: float
    connections: int
    tokens: list[str]
    asked: list[dict[str, str]]

    def requests(self, token: str) -> Iterator[bytes]:
        """The requests of one connection, again and again."""
        return itertools.cycle(
            [
                request_bytes(
                    each["method"], each["path"], authorization=token or None, body=each.get("body", "").encode()
                )
                for each in self.asked
            ]
        )


def measure(order: Order) -> Rates:
    """Ask for a while and count the answers. Raises ConnectionError for an answer that is not a 2xx."""
    poll = select.epoll()
    clients = [HttpClient(order.port) for _ in range(order.connections)]
    request_of: dict[int, tuple[HttpClient, Iterator[bytes]]] = {}
    for number, client in enumerate(clients):
        requests = order.requests(order.tokens[number % len(order.tokens)])
        request_of[client.socket.fileno()] = client, requests
        poll.register(client.socket.fileno(), select.EPOLLIN)
        client.send(next(requests))
    try:
        _ask_until(time.monotonic() + min(WARM_UP_SECONDS, order.seconds), poll, request_of)
        answered, began = _answered(clients), time.monotonic()
        own, servers = time.process_time(), cpu_seconds(order.pid)
        _ask_until(began + order.seconds, poll, request_of)
        while _answered(clients) == answered and time.monotonic() - began < PATIENCE_SECONDS:
            _ask_until(time.monotonic() + order.seconds, poll, request_of)
        seconds, own = time.monotonic() - began, time.process_time() - own
        servers, answered = cpu_seconds(order.pid) - servers, _answered(clients) - answered
    finally:
        for client in clients:
            client.socket.close()
    return rates(answered, seconds, servers, own)


def rates(done: int, seconds: float, servers: float, own: float) -> Rates:
    """Figures of a measurement that did `done` things in `seconds`; `servers` and `own` are seconds of CPU time."""
    return {
        "per_second": done / seconds,
        "per_cpu_second": done / servers if servers else 0.0,
        "server_cpu": servers / seconds,
        "generator_cpu": own / seconds,
    }


def _ask_until(end: float, poll: select.epoll, request_of: dict[int, tuple[HttpClient, Iterator[bytes]]]) -> None:
    while (now := time.monotonic()) < end:
        for descriptor, _ in poll.poll(min(0.1, end - now)):
            client, requests = request_of[descriptor]
            try:
                client.take(read(descriptor))
            except BlockingIOError:
                continue
            if not client.is_busy:
                client.send(next(requests))


def _answered(clients: list[HttpClient]) -> int:
    return sum(client.answered for client in clients)


def main(kind: str) -> None:
    """Serve measurements until standard input ends."""
    if kind == "http":
        for line in sys.stdin:
            _say(measure(Order(**json.loads(line))))
        return
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    generator = LoadGenerator(Specification(**json.loads(sys.stdin.readline())))
    _say(generator.open_sessions())
    for line in generator.orders(sys.stdin.fileno()):
        _say(generator.measure(Phase(**json.loads(line))))


def _say(answer: Rates | SessionsOpened) -> None:
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
