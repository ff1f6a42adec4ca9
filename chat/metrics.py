"""Metrics for Prometheus (`metrics = "on"`); without that nothing in here is imported.

What happens often is counted as it happens, everything else is looked up when it is asked for. Every label takes its
values from a list that this program makes: operations, statuses, words. No name, id or address is in one, but for the
names of gateway nodes, which their operator gives.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import trio
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, disable_created_metrics
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from chat import __version__
from chat.api.answers import Answer, Send, Streamed, encode, refusal
from chat.api.bodies import Receive
from chat.api.http_server import HttpServer
from chat.api.operation import Policy, Request, Routes
from chat.auth.client_address import ClientAddresses, is_forwarded, parse_address
from chat.classes import define, frozen
from chat.clock import Clock
from chat.config import Settings
from chat.config.settings import BackupSettings
from chat.domain.administration.gateway_nodes import GONE, NodesStanding, NodeState
from chat.errors import ApiError, StorageUnavailable
from chat.gateway.gateway import Gateway
from chat.gateway.session import GatewaySession
from chat.mail.outbox import OUTCOMES, Outbox
from chat.observation import Observation
from chat.port.listener import Listener, Port
from chat.port.transport import Transport
from chat.port.upgrade import UpgradeRequest
from chat.registries.close_codes import Close, CloseCode
from chat.registries.error_codes import ErrorCode
from chat.store.administration import backups, instance
from chat.store.administration.backups import BackupRecord
from chat.store.administration.instance import WaitingFigures
from chat.store.database import Database

REQUEST_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
COMMIT_SECONDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0)
LAG_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)
"""Bounds of the histograms' buckets."""

LAG_INTERVAL_SECONDS: Final = 0.5
"""How often the loop's lag is measured."""

CLOSE_CODES: Final = frozenset(map(int, CloseCode))
"""Others come only from faults that a test asked for."""

HOUR_SECONDS: Final = 3_600

SESSIONS_PER_TURN: Final = 500
"""Sessions that are added up before other tasks get a turn."""


@frozen
class GatewayGauges:
    """What is in hand at one moment."""

    connections: int
    attached: int
    retained: int
    dispatches: int
    backlog: int
    retained_dispatches: int
    retained_bytes: int
    outbox_bytes: int
    queued_units: int
    database_bytes: int
    log_bytes: int
    waiting: WaitingFigures | None
    """None while the store cannot be read."""
    backup: BackupRecord | None
    """The last attempt; None before the first."""
    certificate_ends_at: int | None
    free_bytes: int
    """Of the disk with the database."""
    nodes: NodesStanding | None
    """None where the server runs without gateway nodes."""


class _Snapshot(Collector):
    def __init__(self, settings: Settings) -> None:
        self.standing: GatewayGauges | None = None
        self._settings = settings

    def describe(self) -> Iterable[Metric]:
        return ()

    def collect(self) -> Iterator[Metric]:
        now = self.standing
        if now is None:
            return
        yield _gauge("chat_gateway_connections", "Open gateway sockets.", now.connections)
        yield _gauges(
            "chat_gateway_sessions",
            "Live gateway sessions: with a socket, or retained for a Resume.",
            "state",
            {"attached": now.attached, "retained": now.retained},
        )
        yield CounterMetricFamily("chat_gateway_dispatches", "Dispatches numbered for a session.", now.dispatches)
        yield _gauge("chat_gateway_backlog_events", "Events on their way to their sessions.", now.backlog)
        yield _gauge("chat_gateway_retained_dispatches", "Dispatches kept for a Resume.", now.retained_dispatches)
        yield _gauge("chat_gateway_retained_bytes", "Their size, each counted for every session.", now.retained_bytes)
        yield _gauge("chat_gateway_outbox_bytes", "Bytes that sockets have not taken yet.", now.outbox_bytes)
        yield _gauge("chat_store_queued_units", "Units that wait for the writer or are under way.", now.queued_units)
        yield _gauge("chat_disk_free_bytes", "Room left on the disk of the data directory.", now.free_bytes)
        warn_bytes = self._settings.storage.warn_bytes
        yield _gauge("chat_disk_warning_bytes", "Under which administrators are warned.", warn_bytes)
        if now.nodes is not None:
            yield from _of_nodes(now.nodes)
        stored = {"database": now.database_bytes, "log": now.log_bytes}
        if now.waiting is not None:
            stored["uploads"] = now.waiting.upload_bytes
        yield _gauges("chat_store_bytes", "Size of what is stored.", "part", stored)
        if now.waiting is None:
            return
        if now.certificate_ends_at is not None:
            yield _gauge(
                "chat_tls_certificate_expiry_timestamp_seconds",
                "When the server's own certificate ends.",
                now.certificate_ends_at / 1_000,
            )
        jobs = {"pending": now.waiting.pending_jobs, "running": now.waiting.running_jobs}
        yield _gauges("chat_jobs", "Background jobs that are not over.", "status", jobs)
        yield _gauge("chat_mails_waiting", "Mails that the SMTP server has not taken yet.", now.waiting.mails)
        yield from _of_backups(self._settings.backup, now.backup)


def _of_nodes(standing: NodesStanding) -> Iterator[Metric]:
    """One set for each node; of one that is dead only that, of one that ended in good order nothing."""
    yield _gauge("chat_broker_up", "Whether the broker of the gateway nodes answers.", standing.broker_is_up)
    known = {name: node for name, node in standing.labels() if node.state is not NodeState.ENDED}
    there = {name: node for name, node in known.items() if node.state not in GONE}
    up = {name: name in there for name in known}
    yield _gauges("chat_node_up", "Whether a gateway node is there.", "node", up)
    for member, name, words in (
        ("sockets", "chat_node_sockets", "Open gateway sockets of a node."),
        ("sessions", "chat_node_sessions", "Live gateway sessions of a node."),
        ("backlog_events", "chat_node_backlog_events", "Events on their way to a node's sessions."),
        ("unheard_messages", "chat_node_unconfirmed_messages", "What the core said and a node has not confirmed."),
        ("resident_bytes", "chat_node_resident_memory_bytes", "Resident memory of a node."),
    ):
        yield _gauges(name, words, "node", {node: getattr(figures, member) for node, figures in there.items()})
    for member, name, words in (
        ("deliveries", "chat_node_deliveries", "Events given to sessions of a node."),
        ("cpu_seconds", "chat_node_cpu_seconds", "Processor time of a node."),
    ):
        family = CounterMetricFamily(name, words, labels=["node"])
        for node, figures in there.items():
            family.add_metric([node], getattr(figures, member))
        yield family


def _of_backups(settings: BackupSettings, last: BackupRecord | None) -> Iterator[Metric]:
    """Where the server is to make backups there are figures before the first, too: that none comes must be seen."""
    interval = settings.every * HOUR_SECONDS
    yield _gauge("chat_backup_interval_seconds", "From one backup to the next, by the settings.", interval)
    if last is None and settings.directory is not None:
        last = BackupRecord(directory=settings.directory, tried_at=0)
    if last is None:
        return
    failed = last.failure is not None
    yield _gauge("chat_backup_failed", "Whether the last attempt to make a backup failed.", failed)
    yield _gauge("chat_backup_attempt_timestamp_seconds", "When it was tried last; 0: never.", last.tried_at / 1_000)
    yield _gauge("chat_backups", "Backups in the backup directory.", last.kept)
    made_at, words = last.made_at or 0, "When the last whole backup was made; 0: never."
    yield _gauge("chat_backup_success_timestamp_seconds", words, made_at / 1_000)
    if last.made_at is None:
        return
    yield _gauge("chat_backup_duration_seconds", "How long that took.", last.made_seconds)
    sizes = {"all": last.made_bytes, "new": last.made_new_bytes}
    yield _gauges("chat_backup_bytes", "Its size: of all its files, and of what it added to the disk.", "part", sizes)


def _gauge(name: str, words: str, value: float) -> Metric:
    return GaugeMetricFamily(name, words, value)


def _gauges(name: str, words: str, label: str, values: Mapping[str, float]) -> Metric:
    family = GaugeMetricFamily(name, words, labels=[label])
    for word, value in values.items():
        family.add_metric([word], value)
    return family


class Metrics:
    """Counts, and tells what it counted. `observe` is an observer of requests."""

    def __init__(
        self,
        database: Database,
        database_file: Path,
        gateway: Gateway,
        outbox: Outbox | None,
        *,
        in_threads: bool,
        settings: Settings,
    ) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._database = database
        self._file = database_file
        self._gateway = gateway
        self._in_threads = in_threads
        self.certificate_ends_at: Callable[[], int] | None = None
        """When the certificate ends, in Unix milliseconds, for a server that speaks TLS itself."""
        self.nodes: Callable[[], NodesStanding] | None = None
        """What is known of gateway nodes, for a server that has some."""
        self._scraping = trio.Lock()
        self._dispatches_of_ended = 0
        self._snapshot = _Snapshot(settings)
        self.registry = CollectorRegistry()
        self.registry.register(self._snapshot)
        ProcessCollector(registry=self.registry)
        counter = partial(Counter, registry=self.registry)
        histogram = partial(Histogram, registry=self.registry)
        build = Gauge("chat_build_info", "The version that runs; always 1.", ["version"], registry=self.registry)
        build.labels(__version__).set(1)
        self._requests = counter(
            "chat_http_requests_total", "Requests by operation and status.", ["operation", "status"]
        )
        self._request_seconds = histogram(
            "chat_http_request_duration_seconds",
            "From a request's head to the end of its answer.",
            ["operation"],
            buckets=REQUEST_SECONDS,
        )
        self._answer_bytes = counter("chat_http_response_bytes_total", "Bytes of answers' bodies.")
        self._rate_limited = counter("chat_http_rate_limited_total", "Requests refused with 429, by scope.", ["scope"])
        self._commit_seconds = histogram(
            "chat_store_commit_duration_seconds", "How long a group of units took to write.", buckets=COMMIT_SECONDS
        )
        self._units = counter("chat_store_units_total", "Units of writing, by outcome.", ["outcome"])
        self._closes = counter("chat_gateway_closes_total", "Sockets that ended, by close code.", ["code"])
        self._lag_seconds = histogram(
            "chat_event_loop_lag_seconds",
            "How much later than asked for the event loop gave a task its turn.",
            buckets=LAG_SECONDS,
        )
        self._mails = counter("chat_mails_total", "Attempts to send a mail, by outcome.", ["outcome"])
        for outcome in ("written", "failed"):
            self._units.labels(outcome)
        for outcome in OUTCOMES:
            self._mails.labels(outcome)
        database.observe_writing(self._group_written)
        gateway.table.on_end.append(self._session_over)
        gateway.on_closed = self._socket_closed
        if outbox is not None:
            outbox.count = lambda outcome: self._mails.labels(outcome).inc()

    # As it happens

    def observe(self, seen: Observation) -> None:
        """A request is over."""
        operation = f"{seen.method} {seen.route}"
        self._requests.labels(operation, str(seen.status) if seen.status else "none").inc()
        if seen.status != 101:  # the request of a socket has no end to measure
            self._request_seconds.labels(operation).observe(seen.seconds)
        self._answer_bytes.inc(seen.bytes_sent)
        if seen.limit is not None:
            self._rate_limited.labels(seen.limit).inc()

    def _group_written(self, units: int, seconds: float, written: bool) -> None:
        self._commit_seconds.observe(seconds)
        self._units.labels("written" if written else "failed").inc(units)

    def _socket_closed(self, close: Close | None) -> None:
        code = "other"
        if close is None:
            code = "peer"
        elif close.code in CLOSE_CODES:
            code = str(int(close.code))
        self._closes.labels(code).inc()

    def _session_over(self, session: GatewaySession) -> None:
        self._dispatches_of_ended += session.numbering.sequence

    async def run(self) -> None:
        """Measure the loop's lag, for ever. What sessions of an earlier process were sent does not count here."""
        self._dispatches_of_ended -= self._dispatches_of_live()
        while True:
            due = trio.current_time() + LAG_INTERVAL_SECONDS
            await trio.sleep_until(due)
            self._lag_seconds.observe(trio.current_time() - due)

    # When asked for

    async def exposition(self, accept: str = "") -> tuple[bytes, str]:
        """All of it as a scraper that sent this `Accept` takes it, and the media type."""
        encode, media_type = choose_encoder(accept)
        async with self._scraping:
            self._snapshot.standing = await self._standing()
            if self._in_threads:
                return await trio.to_thread.run_sync(encode, self.registry), media_type
            return encode(self.registry), media_type

    async def _standing(self) -> GatewayGauges:
        gateway, database = self._gateway, self._database
        attached = retained = dispatches = size = outbox = 0
        for number, session in enumerate(gateway.table):
            attached += session.receiver is not None
            retained += session.receiver is None
            dispatches += session.numbering.retained_count
            size += session.numbering.retained_bytes
            if number % SESSIONS_PER_TURN == SESSIONS_PER_TURN - 1:
                await trio.lowlevel.checkpoint()
        for number, connection in enumerate(list(gateway.connections)):
            outbox += connection.pending_bytes
            if number % SESSIONS_PER_TURN == SESSIONS_PER_TURN - 1:
                await trio.lowlevel.checkpoint()
        return GatewayGauges(
            connections=len(gateway.connections),
            attached=attached,
            retained=retained,
            dispatches=self._dispatches_of_ended + self._dispatches_of_live(),
            backlog=gateway.fanout.backlog(),
            retained_dispatches=dispatches,
            retained_bytes=size,
            outbox_bytes=outbox,
            queued_units=database.queued,
            database_bytes=_size(self._file),
            log_bytes=_size(self._file.with_name(f"{self._file.name}-wal")),
            waiting=await self._waiting(),
            backup=backups.record(database.reader),
            certificate_ends_at=None if self.certificate_ends_at is None else self.certificate_ends_at(),
            free_bytes=shutil.disk_usage(self._file.parent).free,
            nodes=None if self.nodes is None else self.nodes(),
        )

    async def _waiting(self) -> WaitingFigures | None:
        try:
            return await self._database.read(instance.waiting_figures)
        except StorageUnavailable:
            return None

    def _dispatches_of_live(self) -> int:
        return sum(session.numbering.sequence for session in self._gateway.table)


def _size(file: Path) -> int:
    try:
        return os.stat(file).st_size
    except FileNotFoundError:
        return 0


# Where they are read: on the open port, for loopback alone, or on an address of its own. On the open port the page is
# hidden from others, and from requests by way of a proxy: a stranger would learn how many people are here and what they
# do.

PATH: Final = "/metrics"

REQUEST_ID: Final = "metrics"

CONNECTIONS_MAXIMUM: Final = 16
"""Scrapers that an address of its own serves at a time."""


def routes_of(metrics: Metrics) -> Routes:
    routes = Routes()

    @routes.operation("GET", PATH, policy=Policy.NONE)
    async def read_metrics(request: Request) -> Answer:
        """Metrics for Prometheus, for loopback alone."""
        address = parse_address(request.address)
        if address is None or not address.is_loopback or is_forwarded(request.headers):
            raise ApiError(ErrorCode.NOT_FOUND)
        return await _answer(metrics, request.headers.get("accept", ""))

    return routes


async def _answer(metrics: Metrics, accept: str) -> Streamed:
    text, media_type = await metrics.exposition(accept)

    async def pieces() -> AsyncGenerator[bytes, None]:
        yield text

    return Streamed(200, headers={"Content-Type": media_type}, pieces=pieces, length=len(text))


@define(eq=False)
class MetricsApp:
    """The page as an ASGI application of its own."""

    _metrics: Metrics

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Serve one request, or the application's life."""
        if scope["type"] == "lifespan":
            for event in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{event}.complete"})
            return
        if scope["type"] != "http":
            return
        if scope["path"] != PATH or scope["method"] not in {"GET", "HEAD"}:
            status, headers, body = encode(refusal(ApiError(ErrorCode.NOT_FOUND)), REQUEST_ID)
        else:
            accept = next((value for name, value in scope["headers"] if name == b"accept"), b"")
            answer = await _answer(self._metrics, accept.decode("latin-1"))
            status, headers, _ = encode(answer, REQUEST_ID)
            body = b"".join([piece async for piece in answer.pieces()])
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})


@asynccontextmanager
async def page_of_its_own(metrics: Metrics, listeners: Sequence[Listener], clock: Clock) -> AsyncIterator[None]:
    """Serve the page on these listeners while the block lasts."""
    http = HttpServer(MetricsApp(metrics), clock)
    port = Port(
        listeners,
        gateway=_no_gateway,
        http=http,
        addresses=ClientAddresses(),
        maximum_connections=CONNECTIONS_MAXIMUM,
        refuse=_refuse_socket,
    )
    async with http.running(), trio.open_nursery() as nursery:
        nursery.start_soon(port.serve)
        yield
        nursery.cancel_scope.cancel()


def _refuse_socket(_address: str, _by_unnamed_proxy: bool) -> None:
    raise ApiError(ErrorCode.NOT_FOUND)


async def _no_gateway(_: UpgradeRequest, transport: Transport) -> None:
    transport.close()
