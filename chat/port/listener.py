"""One port, two engines: connections come in here and go to the gateway or to the HTTP server.

The first request's head is read, bounded in time and size, and judged by its path; the engine that takes the connection
finds the bytes as they came. The HTTP server gives a connection back when a later request on it is for the gateway, as
a proxy that keeps connections may send it.
"""

from __future__ import annotations

import errno
import resource
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Final, Protocol

import attrs
import structlog
import trio

from chat.auth.client_address import ClientAddresses, ConnectionCounts
from chat.classes import define
from chat.errors import ApiError, OperatorError, RateLimited
from chat.observation import UNKNOWN, Observation, Observer, told
from chat.port import request_head
from chat.port.request_head import SOCKET_PATHS
from chat.port.transport import ReadsPerTurn, SocketTransport, Transport, set_options
from chat.port.upgrade import UpgradeRefused, UpgradeRequest, open_websocket
from chat.registries.error_codes import ErrorCode
from chat.registries.limits import REQUEST_HEADER_BYTES, REQUEST_HEADER_MS

BACKLOG: Final = 4_096
"""Connections that the system may hold until they are accepted; a resume storm comes all at once."""

ACCEPTED_AT_ONCE: Final = 16
"""Connections that are accepted before other tasks get a turn."""

RESERVED_DESCRIPTORS: Final = 128
"""Files that stay free for the store, uploads and outgoing calls when connections are counted out."""

LEAST_DESCRIPTORS: Final = 256
"""Files that a process must be allowed to open, connections included."""

EXHAUSTED: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
EXHAUSTED_SECONDS: Final = 0.1
"""The pause before the next attempt when the system cannot give another socket."""

REFUSAL_SECONDS: Final = 1.0
"""How long a refused peer gets to read why."""

RETRY_SECONDS: Final = 1.0
"""How long a peer with too many connections is told to wait."""

REFUSALS_MAXIMUM: Final = 64
"""How many refused peers may read their answer at the same time; further ones are closed without one."""

GATEWAY_ROUTE: Final = "/gateway"

RETRY: Final[Mapping[str, str]] = {"Retry-After": "1"}

FULL: Final = request_head.refusal(
    503, ErrorCode.SERVICE_UNAVAILABLE, "The server has as many connections as it can hold.", RETRY
)

log = structlog.get_logger(__name__)

GatewayHandler = Callable[[UpgradeRequest, Transport], Awaitable[None]]


class HttpHandler(Protocol):
    async def serve(self, connection: Transport) -> bool:
        """Answer the requests of a connection until it is over; true when its next request is for the gateway."""
        ...

    async def drain(self) -> None:
        """Let requests that run finish, begin no new ones; returns at once."""
        ...


class SignallingHandler(Protocol):
    def answer(self, head: bytes) -> bytes | None:
        """The whole response to a request that opens no WebSocket; None for one that is to open one."""
        ...

    async def serve(self, request: UpgradeRequest, connection: Transport) -> None:
        """Serve a WebSocket of voice until it is closed."""
        ...


class Listener(Protocol):
    async def accept(self) -> Transport:
        """The next connection. Raises OSError when the system is out of something, ClosedResourceError after aclose."""
        ...

    async def aclose(self) -> None:
        """Stop listening."""
        ...


class SocketListener:
    """A listening TCP socket; it is this object's from now on. Its connections are read by turns, with those of other
    listeners that have the same `reads`."""

    def __init__(self, listening: socket.socket, reads: ReadsPerTurn | None = None) -> None:
        listening.setblocking(False)
        set_options(listening)  # Linux hands them on to every connection
        self._socket = listening
        self._at_once = 0
        """Connections accepted since other tasks had a turn."""
        self._reads = ReadsPerTurn() if reads is None else reads

    @property
    def port(self) -> int:
        """The port it listens on, also where the system chose it."""
        return int(self._socket.getsockname()[1])

    async def accept(self) -> SocketTransport:
        await trio.lowlevel.checkpoint_if_cancelled()
        if self._at_once >= ACCEPTED_AT_ONCE:
            self._at_once = 0
            await trio.lowlevel.cancel_shielded_checkpoint()
        while self._socket.fileno() >= 0:
            try:
                accepted, (address, *_) = self._socket.accept()
            except BlockingIOError:
                self._at_once = 0
                await trio.lowlevel.wait_readable(self._socket)
            else:
                self._at_once += 1
                return SocketTransport(accepted, address, self._reads)
        raise trio.ClosedResourceError("the listener is closed")

    async def aclose(self) -> None:
        if self._socket.fileno() >= 0:
            trio.lowlevel.notify_closing(self._socket)
            self._socket.close()
        await trio.lowlevel.checkpoint()


async def open_listeners(host: str, port: int) -> list[SocketListener]:
    """Listen on every address of `host`; port 0 lets the system choose. Raises OSError when the address is taken."""
    opened = await trio.open_tcp_listeners(port, host=host, backlog=BACKLOG)
    reads = ReadsPerTurn()
    return [SocketListener(socket.socket(fileno=listener.socket.detach()), reads) for listener in opened]


@asynccontextmanager
async def listening(host: str, port: int) -> AsyncIterator[Sequence[SocketListener]]:
    """Listen as `open_listeners` does, for as long as the block lasts. Raises OperatorError when that cannot be."""
    try:
        listeners = await open_listeners(host, port)
    except OSError as error:
        raise OperatorError(f"cannot listen on {host} port {port}: {error.strerror}") from error
    try:
        yield listeners
    finally:
        with trio.CancelScope(shield=True):  # closing is immediate
            for listener in listeners:
                await listener.aclose()


def connections_maximum() -> int:
    """How many connections this process may hold, after taking all the file descriptors it can get.

    :raises OperatorError: where hardly any are left beside the program's own.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if hard != resource.RLIM_INFINITY and hard < LEAST_DESCRIPTORS:
        raise OperatorError(
            f"only {hard} files may be open here: raise the limit (ulimit -n) to {LEAST_DESCRIPTORS} or more"
        )
    return 1_000_000 if hard == resource.RLIM_INFINITY else hard - RESERVED_DESCRIPTORS


@asynccontextmanager
async def answering(listeners: Sequence[Listener], answer: Callable[[bytes], bytes]) -> AsyncIterator[None]:
    """While the block lasts, give every request the whole response that `answer` has for its path.

    For a server that listens and cannot serve yet. The listeners stay open.
    """
    limiter = trio.CapacityLimiter(REFUSALS_MAXIMUM)

    async def accept(listener: Listener) -> None:
        while True:
            try:
                nursery.start_soon(_reply, await listener.accept(), answer, limiter)
            except OSError:
                await trio.sleep(EXHAUSTED_SECONDS)

    async with trio.open_nursery() as nursery:
        for listener in listeners:
            nursery.start_soon(accept, listener)
        yield
        nursery.cancel_scope.cancel()


async def _reply(connection: Transport, answer: Callable[[bytes], bytes], limiter: trio.CapacityLimiter) -> None:
    async with limiter:
        await answer_once(connection, answer)


async def answer_once(connection: Transport, answer: Callable[[bytes], bytes]) -> None:
    """Read one request's head, send the whole response that `answer` has for its path, and close."""
    try:
        await _send_last(connection, answer(request_head.path(await _read_head(connection))))
    except (request_head.HeadRefused, trio.ClosedResourceError):
        pass  # who sends no request hears nothing
    finally:
        connection.close()


async def _send_last(connection: Transport, answer: bytes) -> None:
    """Send a whole answer, give the peer time to read it, close."""
    try:
        connection.try_send(answer)
        await connection.aclose_gracefully(REFUSAL_SECONDS)
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        pass  # it did not wait for the answer
    finally:
        connection.close()


def not_ready(status: str, reason: str) -> Callable[[bytes], bytes]:
    """The responses, by path, of a server that works and takes no requests."""

    def answer(path: bytes) -> bytes:
        if path == b"/_health":
            return request_head.answer(200, {"status": "ok"})
        if path == b"/_ready":
            return request_head.answer(503, {"status": status, "reason": reason}, RETRY)
        return request_head.refusal(503, ErrorCode.SERVICE_UNAVAILABLE, f"No requests are taken: {reason}.", RETRY)

    return answer


DRAINING: Final = not_ready("draining", "this server is going away")


@define(eq=False)
class Port:
    """The open port. `serve` runs it; `drain` ends it in good order."""

    _listeners: Sequence[Listener]
    _gateway: GatewayHandler = attrs.field(kw_only=True)
    _http: HttpHandler = attrs.field(kw_only=True)
    _addresses: ClientAddresses = attrs.field(kw_only=True)
    _maximum_connections: int = attrs.field(kw_only=True)
    """Of the gateway and of HTTP together; one more is told 503 and closed."""
    _per_address: ConnectionCounts | None = attrs.field(default=None, kw_only=True)
    """Counts each address's connections that are not the gateway's (yet): one more is told 429 and closed, before
    anything is read. A trusted proxy's count for no address: what its clients ask at once is counted by request."""
    _refuse_address: Callable[[str, bool], None] = attrs.field(default=lambda *_: None, kw_only=True, alias="refuse")
    """Raises an ApiError for a client's address that may not open a WebSocket; it is told whether a proxy that is not
    trusted stands between."""
    _greets: bool = attrs.field(default=False, kw_only=True)
    """Whether the gateway sends at once: then the answer to the handshake leaves in one packet with that."""
    _observers: Sequence[Observer] = attrs.field(default=(), kw_only=True)
    """Hear of what never reaches the HTTP engine: sockets that were opened, and requests that were refused."""
    _signalling: SignallingHandler | None = attrs.field(default=None, kw_only=True)
    """Takes the sockets of voice, where there is any."""
    connections: int = attrs.field(default=0, init=False)
    _refusing: int = attrs.field(default=0, init=False)
    _draining: bool = attrs.field(default=False, init=False)
    _late: trio.CapacityLimiter = attrs.field(factory=lambda: trio.CapacityLimiter(REFUSALS_MAXIMUM), init=False)
    _quiet: trio.Event = attrs.field(factory=trio.Event, init=False)
    _serving: trio.CancelScope = attrs.field(factory=trio.CancelScope, init=False)
    _over: trio.Event = attrs.field(factory=trio.Event, init=False)

    async def serve(self) -> None:
        """Accept and serve connections until `drain` is over; cancelled, it closes all of them at once."""
        try:
            with self._serving:
                async with trio.open_nursery() as connections:
                    await self._accept_all(connections)
        finally:
            self._over.set()

    async def drain(self, seconds: float) -> None:
        """Let running requests and closing sockets finish, at most for `seconds`, and end `serve`.

        Connections that come meanwhile are told that no requests are taken.
        """
        self._draining = True
        await self._http.drain()
        with trio.move_on_after(seconds):
            if self.connections:
                await self._quiet.wait()
        self._serving.cancel()
        await self._over.wait()

    async def _accept_all(self, connections: trio.Nursery) -> None:
        try:
            async with trio.open_nursery() as acceptors:
                for listener in self._listeners:
                    acceptors.start_soon(self._accept, listener, connections)
        finally:
            for listener in self._listeners:
                # Closing is immediate; the checkpoint behind it must not keep the next listener from it.
                with trio.CancelScope(shield=True):
                    await listener.aclose()

    async def _accept(self, listener: Listener, connections: trio.Nursery) -> None:
        while True:
            try:
                connection = await listener.accept()
            except OSError as error:
                if error.errno not in EXHAUSTED:
                    raise
                log.warning("no connection can be accepted at present", error=str(error), open=self.connections)
                await trio.sleep(EXHAUSTED_SECONDS)
                continue
            if self._draining:
                connections.start_soon(_reply, connection, DRAINING, self._late)
            elif self.connections < self._maximum_connections:
                self.connections += 1
                connections.start_soon(self._serve, connection)
            else:
                connections.start_soon(self._refuse, connection, FULL)

    async def _serve(self, connection: Transport) -> None:
        try:
            await self._hand_over(connection)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass  # the peer left
        except Exception:
            # What is wrong with one connection must not take the others with it.
            log.exception("a connection failed", address=connection.address)
        finally:
            connection.close()
            self.connections -= 1
            if self._draining and not self.connections:
                self._quiet.set()

    async def _hand_over(self, connection: Transport) -> None:
        try:
            serving = await self._until_socket(connection)
            if serving is not None:
                await serving
        except request_head.HeadRefused as refused:
            self._tell(400, UNKNOWN)
            await self._refuse(connection, request_head.refusal(400, ErrorCode.BAD_REQUEST, str(refused)))
        except UpgradeRefused as refused:
            self._tell(refused.status)
            await self._refuse(connection, refused.answer)
        except ApiError as error:
            self._tell(error.status)
            answer = request_head.refusal(error.status, error.code, error.message, error.headers, error.members)
            await self._refuse(connection, answer)

    async def _until_socket(self, connection: Transport) -> Awaitable[None] | None:
        """Have HTTP requests answered until one opens a WebSocket, which the awaitable serves; None when the connection
        is over before."""
        with self._counted(connection):
            while (path := request_head.path(received := await _read_head(connection))) not in SOCKET_PATHS:
                connection.unread(received)
                if not await self._http.serve(connection):
                    return None
            if path in request_head.GATEWAY_PATHS:
                request = await self._upgrade(connection, received, GATEWAY_ROUTE)
                return self._gateway(request, connection)
            return await self._signalled(connection, received, path.decode("ascii"))

    async def _signalled(self, connection: Transport, received: bytes, route: str) -> Awaitable[None] | None:
        if self._signalling is None:
            raise ApiError(ErrorCode.NOT_FOUND)
        answer = self._signalling.answer(received[: request_head.head_length(received)])
        if answer is None:
            request = await self._upgrade(connection, received, route)
            return self._signalling.serve(request, connection)
        self._tell(int(answer[9:12]), route)
        await _send_last(connection, answer)
        return None

    @contextmanager
    def _counted(self, connection: Transport) -> Iterator[None]:
        """Count a connection towards its peer's address; raises RateLimited when that holds as many as it may."""
        if self._per_address is None or self._addresses.is_proxy(connection.address):
            yield
            return
        with self._per_address.connection(connection.address) as has_room:
            if not has_room:
                raise RateLimited(RETRY_SECONDS)
            yield

    async def _upgrade(self, connection: Transport, received: bytes, route: str) -> UpgradeRequest:
        length = request_head.head_length(received)
        connection.unread(received[length:])
        request, answer = open_websocket(received[:length], connection.address, self._addresses, self._refuse_address)
        sent = (
            connection.try_send_ahead(answer)
            if self._greets and route == GATEWAY_ROUTE
            else connection.try_send(answer)
        )
        if sent < len(answer):
            with trio.move_on_after(REFUSAL_SECONDS):
                await connection.send_all(answer[sent:])
                sent = len(answer)
        if sent < len(answer):
            raise trio.BrokenResourceError("the peer does not even read the answer to its handshake")
        self._tell(101, route)
        return request

    def _tell(self, status: int, route: str = GATEWAY_ROUTE) -> None:
        if self._observers:
            seen = Observation("GET")
            seen.route, seen.status = route, status
            told(self._observers, seen)

    async def _refuse(self, connection: Transport, answer: bytes) -> None:
        if self._refusing >= REFUSALS_MAXIMUM:
            connection.close()
            return
        self._refusing += 1
        try:
            await _send_last(connection, answer)
        finally:
            self._refusing -= 1


async def _read_head(connection: Transport) -> bytes:
    """What was received until a whole request head is there.

    Raises HeadRefused for what can be none, and ClosedResourceError, having closed the connection, when it ends or
    dawdles before that.
    """
    received = connection.receive_now(REQUEST_HEADER_BYTES)
    if received and request_head.head_length(received):
        return received
    with trio.move_on_after(REQUEST_HEADER_MS / 1000):
        while data := await connection.receive_some(REQUEST_HEADER_BYTES):
            received += data
            if request_head.head_length(received):
                return received
    connection.close()
    raise trio.ClosedResourceError("no request came")
