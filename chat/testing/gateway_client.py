"""A small honest gateway client on trio-websocket, which can be told to misbehave.

    client = await GatewayClient.connect(nursery, route, compressed=True)
    await client.identify("cht_...")
    ready = await client.expect("READY")
    message = await client.expect("MESSAGE_CREATE", where=lambda d: d["content"] == "hello")
    client.drop()                                          # no close frame
    second = await GatewayClient.connect(nursery, route)
    await second.resume(client.token, client.session_id, client.sequence)

Everything that arrives is taken at once and waits in order for the reader; `expect` passes over what it does not look
for. While heartbeats are automatic, the client answers opcodes 1 and 11 itself and does not hand them out.
"""

from __future__ import annotations

import json
import socket
import struct
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Final

import trio
import zstandard
from trio_websocket import ConnectionClosed, ConnectionRejected, WebSocketConnection, wrap_client_stream

from chat.classes import frozen
from chat.registries.close_codes import Close
from chat.registries.opcodes import Opcode
from chat.testing.conversation import FROM_SERVER, TO_SERVER
from chat.testing.network import MemoryStream, Route

PATH: Final = "/gateway"
QUERY: Final = "v=1&encoding=json"
COMPRESSED_QUERY: Final = "v=1&encoding=json&compress=zstd-stream&stream=1"

WAIT_SECONDS: Final = 10.0
"""How long the client waits for what a test expects, unless the test says otherwise."""

CONNECT_SECONDS: Final = 15.0
"""trio-websocket waits for a handshake for ever; we do not."""

CLOSE_SECONDS: Final = 5.0
"""trio-websocket waits for the peer's close frame for ever; after this many seconds we cut the connection."""

HISTORY: Final = 10_000
"""Payloads that are remembered; the oldest go first."""

MESSAGE_BYTES: Final = 67_108_864
RECEIVE_BYTES: Final = 65_536

ABNORMAL: Final = 1006
"""What a connection that ends without a close frame is said to have closed with (RFC 6455, section 7.4.1)."""

PROPERTIES: Final[Mapping[str, str]] = {"os": "linux", "browser": "chat.testing", "device": "chat.testing"}

Where = Callable[[Any], bool]


class GatewayClosed(AssertionError):
    """The connection closed while a test waited for something else."""

    def __init__(self, close: Close, waited_for: str) -> None:
        super().__init__(f"closed with {close.code} {close.reason!r} while waiting for {waited_for}")
        self.close = close


class NothingArrived(AssertionError):
    """What a test waited for did not come in time."""


class HandshakeRefused(Exception):
    """The server answered the upgrade with something else than 101, or not at all (`status` 0)."""

    def __init__(self, status: int, body: bytes) -> None:
        super().__init__(f"the handshake was answered with {status}: {body!r}")
        self.status = status
        self.body = body


@frozen
class ServerPayload:
    """A payload of the server: the members that it has, and whether it came in a binary frame."""

    members: Mapping[str, Any]
    binary: bool = False

    @property
    def op(self) -> int:
        op: int = self.members["op"]
        return op

    @property
    def data(self) -> Any:
        """`d`, None also where there is none."""
        return self.members.get("d")

    @property
    def name(self) -> str | None:
        """`t`, of a Dispatch."""
        return self.members.get("t")

    @property
    def sequence(self) -> int | None:
        """`s`, of a Dispatch."""
        return self.members.get("s")


class GatewayClient:
    """One connection. Made by `connect`; ends with its nursery, or with `aclose`."""

    def __init__(self, route: Route, *, heartbeats: bool, compressed: bool, name: str = "client") -> None:
        self.route = route
        self.name = name
        """Who this is, in the report of a failure."""
        self.heartbeats = heartbeats
        self.payloads: deque[ServerPayload] = deque(maxlen=HISTORY)
        """Everything that arrived, heartbeats included, oldest first."""
        self.token: str | None = None
        self.session_id: str | None = None
        self.ready: dict[str, object] | None = None
        self.sequence: int | None = None
        """The last sequence that was processed: what a Heartbeat and a Resume say."""
        self.heartbeat_interval_ms: int | None = None
        self.acknowledgements = 0
        self.close_frame: Close | None = None
        """How the connection ended; None while it is open."""
        self._unread: deque[ServerPayload] = deque(maxlen=HISTORY)
        self._news = trio.Event()
        self._may_read = trio.Event()
        self._may_read.set()
        self._scope = trio.CancelScope()
        self._websocket: WebSocketConnection
        self._stream: trio.abc.HalfCloseableStream
        self._refused: HandshakeRefused | None = None
        self._compressor = zstandard.ZstdCompressor().compressobj() if compressed else None
        self._decompressor = zstandard.ZstdDecompressor().decompressobj()

    # Opening and closing

    @classmethod
    async def connect(
        cls,
        nursery: trio.Nursery,
        route: Route,
        *,
        compressed: bool = False,
        query: str | None = None,
        heartbeats: bool = True,
        hello: bool = True,
        headers: Mapping[str, str] | None = None,
        name: str = "client",
    ) -> GatewayClient:
        """Open a connection, and wait for Hello unless told otherwise.

        `query` replaces the usual query string; `compressed` then still says how this client sends. `heartbeats` False
        leaves every Heartbeat to the test.

        Raises OSError when there is no listener, HandshakeRefused, GatewayClosed when a close comes instead of Hello.
        """
        client = cls(route, heartbeats=heartbeats, compressed=compressed, name=name)
        if query is None:
            query = COMPRESSED_QUERY if compressed else QUERY
        stream = await route.connect_to_gateway()
        await nursery.start(client._run, stream, f"{PATH}?{query}" if query else PATH, dict(headers or {}))
        if client._refused is not None:
            raise client._refused
        if hello:
            await client.hello()
        return client

    async def _run(
        self,
        stream: trio.abc.HalfCloseableStream,
        resource: str,
        headers: Mapping[str, str],
        task_status: trio.TaskStatus[None],
    ) -> None:
        self._stream = stream
        try:
            with self._scope:
                async with trio.open_nursery() as nursery:
                    async with trio.open_nursery() as reader:
                        if await self._shake_hands(reader, resource, headers):
                            task_status.started()
                            await self._receive(nursery)
                        # The reader ends with the transport, which is the server's to end, but not for ever.
                        reader.cancel_scope.deadline = trio.current_time() + CLOSE_SECONDS
                    nursery.cancel_scope.cancel()
        except* ConnectionRejected as group:
            rejected = _first(group, ConnectionRejected)
            self._refused = HandshakeRefused(rejected.status_code, bytes(rejected.body or b""))
        finally:
            await trio.aclose_forcefully(stream)
            self._ended(Close(ABNORMAL, ""))
            if self._refused is not None:
                task_status.started()

    async def _shake_hands(self, reader: trio.Nursery, resource: str, headers: Mapping[str, str]) -> bool:
        with trio.move_on_after(CONNECT_SECONDS):
            self._websocket = await wrap_client_stream(
                reader,
                self._stream,  # type: ignore[arg-type]  # any stream will do
                self.route.host,
                resource,
                extra_headers=[(name.encode(), value.encode()) for name, value in headers.items()],
                max_message_size=MESSAGE_BYTES,
                receive_buffer_size=RECEIVE_BYTES,
            )
            return True
        self._refused = HandshakeRefused(0, b"")
        reader.cancel_scope.cancel()
        return False

    async def _receive(self, nursery: trio.Nursery) -> None:
        """Take what arrives until the connection is closed."""
        try:
            while True:
                await self._may_read.wait()
                message = await self._websocket.get_message()
                self._take(message, nursery)
        except ConnectionClosed as closed:
            if closed.reason is not None:
                self._ended(Close(closed.reason.code, closed.reason.reason or ""))

    def _ended(self, close: Close) -> None:
        if self.close_frame is None:
            self.close_frame = close
            self._note(FROM_SERVER, f"closed {close.code} {close.reason}".rstrip())
            self._tell()

    async def aclose(self, code: int = 1000) -> None:
        """Close with a close frame, waiting CLOSE_SECONDS for the server's. Any number of times."""
        with trio.move_on_after(CLOSE_SECONDS):
            await self._websocket.aclose(code)
        self._scope.cancel()
        await trio.lowlevel.checkpoint()

    @property
    def is_compressed(self) -> bool:
        """Whether this client sends in a zstd stream."""
        return self._compressor is not None

    @property
    def is_open(self) -> bool:
        """Whether neither side has closed."""
        return self.close_frame is None

    async def __aenter__(self) -> GatewayClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    # What arrives

    def _take(self, message: str | bytes, nursery: trio.Nursery) -> None:
        text = self._decompressor.decompress(message) if isinstance(message, bytes) else message
        payload = ServerPayload(json.loads(text), isinstance(message, bytes))
        self.payloads.append(payload)
        self._note(FROM_SERVER, payload.members)
        match payload.op:
            case Opcode.DISPATCH:
                self._note_dispatch(payload)
            case Opcode.HELLO:
                self.heartbeat_interval_ms = payload.data["heartbeat_interval"]
                if self.heartbeats:
                    nursery.start_soon(self._send_heartbeats)
            case Opcode.HEARTBEAT_ACK:
                self.acknowledgements += 1
            case Opcode.HEARTBEAT if self.heartbeats:
                nursery.start_soon(self._answer_heartbeat)
            case Opcode.INVALID_SESSION:
                self.session_id = self.ready = self.sequence = None
            case _:
                pass
        if not (self.heartbeats and payload.op in {Opcode.HEARTBEAT, Opcode.HEARTBEAT_ACK}):
            self._unread.append(payload)
            self._tell()

    def _note_dispatch(self, payload: ServerPayload) -> None:
        if payload.name == "READY":
            self.ready = payload.data
            self.session_id = payload.data["session_id"]
        self.sequence = payload.sequence

    def _note(self, direction: str, what: object) -> None:
        if self.route.conversation is not None:
            self.route.conversation.note(self.name, direction, what)

    def _tell(self) -> None:
        self._news.set()
        self._news = trio.Event()

    async def _send_heartbeats(self) -> None:
        assert self.heartbeat_interval_ms is not None
        while self.heartbeats and self.is_open:
            await trio.sleep(self.heartbeat_interval_ms / 1000)
            await self._answer_heartbeat()

    async def _answer_heartbeat(self) -> None:
        if self.heartbeats and self.is_open:
            await self.heartbeat()

    @property
    def dispatches(self) -> list[ServerPayload]:
        """The Dispatches of the history, oldest first."""
        return [payload for payload in self.payloads if payload.op == Opcode.DISPATCH]

    def unread(self) -> list[ServerPayload]:
        """Take everything that has arrived and was not asked for yet."""
        arrived = list(self._unread)
        self._unread.clear()
        return arrived

    async def next_payload(self, *, seconds: float = WAIT_SECONDS) -> ServerPayload:
        """The next payload of any kind. Raises GatewayClosed, NothingArrived."""
        return await self._next("a payload", seconds)

    async def _next(self, waited_for: str, seconds: float, passed_over: list[str] | None = None) -> ServerPayload:
        with trio.move_on_after(seconds):
            while not self._unread:
                if self.close_frame is not None:
                    raise GatewayClosed(self.close_frame, waited_for)
                await self._news.wait()
            await trio.lowlevel.checkpoint()
        if self._unread:
            return self._unread.popleft()
        seen = f"; passed over: {', '.join(passed_over)}" if passed_over else ""
        raise NothingArrived(f"no sign of {waited_for} within {seconds} s{seen}")

    async def expect(self, name: str, *, where: Where | None = None, seconds: float = WAIT_SECONDS) -> ServerPayload:
        """The next Dispatch of that name whose `d` satisfies `where`; what comes before it is passed over."""
        return await self._expect(
            name, lambda payload: payload.name == name and (where is None or where(payload.data)), seconds
        )

    async def expect_one_of(
        self, *names: str, where: Where | None = None, seconds: float = WAIT_SECONDS
    ) -> ServerPayload:
        """The next Dispatch of one of these names whose `d` satisfies `where`; what comes before it is passed over."""
        return await self._expect(
            " or ".join(names),
            lambda payload: payload.name in names and (where is None or where(payload.data)),
            seconds,
        )

    async def expect_opcode(self, op: int, *, seconds: float = WAIT_SECONDS) -> ServerPayload:
        """The next payload with that opcode; what comes before it is passed over."""
        return await self._expect(f"opcode {int(op)}", lambda payload: payload.op == op, seconds)

    async def _expect(self, waited_for: str, is_it: Callable[[ServerPayload], bool], seconds: float) -> ServerPayload:
        ends = trio.current_time() + seconds
        passed_over: list[str] = []
        while True:
            payload = await self._next(waited_for, max(0.0, ends - trio.current_time()), passed_over)
            if is_it(payload):
                return payload
            passed_over.append(payload.name or f"opcode {payload.op}")

    async def expect_silence(self, seconds: float) -> None:
        """Check that nothing arrives for `seconds`, and that the connection stays open."""
        try:
            payload = await self._next("silence to end", seconds)
        except NothingArrived:
            return
        raise AssertionError(f"expected silence, got {payload}")

    async def hello(self) -> ServerPayload:
        """Wait for Hello, which is the first of all payloads."""
        payload = await self.next_payload()
        if payload.op != Opcode.HELLO:
            raise AssertionError(f"expected Hello, got {payload}")
        return payload

    async def closed(self, *, seconds: float = WAIT_SECONDS) -> Close:
        """Wait until the connection is closed; its code and reason, ABNORMAL where there was no close frame."""
        with trio.move_on_after(seconds):
            while self.close_frame is None:
                await self._news.wait()
            await trio.lowlevel.checkpoint()
        if self.close_frame is None:
            raise NothingArrived(f"the connection did not close within {seconds} s")
        return self.close_frame

    # What a client says

    async def identify(self, token: str, **members: object) -> None:
        """Opcode 2; further members, or others in place of the usual ones, by their names."""
        self.token = token
        await self.send(Opcode.IDENTIFY, {"token": token, "properties": dict(PROPERTIES), **members})

    async def resume(self, token: str | None, session_id: str | None, sequence: int | None) -> None:
        """Opcode 6."""
        self.token, self.session_id, self.sequence = token, session_id, sequence
        await self.send(Opcode.RESUME, {"token": token, "session_id": session_id, "seq": sequence})

    async def heartbeat(self, sequence: object = ...) -> None:
        """Opcode 1, with the last processed sequence unless another value is given."""
        await self.send(Opcode.HEARTBEAT, self.sequence if sequence is ... else sequence)

    async def update_presence(self, status: str, **members: object) -> None:
        """Opcode 3."""
        await self.send(Opcode.PRESENCE_UPDATE, {"status": status, **members})

    async def update_voice_state(
        self, guild_id: int | str | None, channel_id: int | str | None, **members: object
    ) -> None:
        """Opcode 4: join, move and change with a channel, leave with None; the call of a conversation has no guild."""
        place = {
            "guild_id": None if guild_id is None else str(guild_id),
            "channel_id": None if channel_id is None else str(channel_id),
        }
        await self.send(Opcode.VOICE_STATE_UPDATE, {**place, **members})

    async def request_members(self, guild_id: int | str, query: str = "", limit: int = 0, **members: object) -> None:
        """Opcode 8."""
        wish = {"guild_id": str(guild_id), "query": query, "limit": limit, **members}
        await self.send(Opcode.REQUEST_GUILD_MEMBERS, wish)

    async def watch(self, guild_id: int | str, **wishes: object) -> None:
        """Opcode 14 for one guild: `active`, `sync`, `members`, `member_list_channels`, `threads` ..."""
        await self.send(Opcode.LAZY_REQUEST, {"subscriptions": {str(guild_id): wishes}})

    async def send(self, op: int, data: object = ...) -> None:
        """A payload; without `data` it has no `d`."""
        members: dict[str, object] = {"op": int(op)}
        if data is not ...:
            members["d"] = data
        await self.send_text(json.dumps(members))

    async def send_text(self, text: str) -> None:
        """Any text as one message in the negotiated representation."""
        if self._compressor is None:
            await self.send_message(text)
        else:
            await self.send_message(self.compress(text.encode()))

    def compress(self, data: bytes) -> bytes:
        """The next piece of this client's zstd stream."""
        assert self._compressor is not None, "this connection is not compressed"
        return self._compressor.compress(data) + self._compressor.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)

    async def send_message(self, message: str | bytes) -> None:
        """A text or binary message as it is. Does nothing when the connection is closed already."""
        self._note(TO_SERVER, message)
        try:
            await self._websocket.send_message(message)
        except ConnectionClosed:
            await trio.lowlevel.checkpoint()  # the closing says what there is to say

    # Misbehaviour

    async def send_bytes(self, data: bytes) -> None:
        """Raw bytes on the transport, below the WebSocket."""
        await self._stream.send_all(data)

    def drop(self) -> None:
        """Break the transport: no close frame, the server sees a reset."""
        if isinstance(self._stream, MemoryStream):
            self._stream.cut()
        elif isinstance(self._stream, trio.SocketStream):
            # With a linger time of zero, closing sends a reset.
            self._stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self._stream.socket.close()
        self._ended(Close(ABNORMAL, ""))
        self._scope.cancel()

    async def half_close(self) -> None:
        """End our direction of the transport without a close frame; still read."""
        await self._stream.send_eof()

    def stop_reading(self) -> None:
        """Leave what arrives on the transport: the pipe fills up and the server has to wait."""
        self._may_read = trio.Event()

    def go_on_reading(self) -> None:
        """End of `stop_reading`."""
        self._may_read.set()

    def stall(self) -> None:
        """Stop all bytes in both directions, as a broken network does (in memory only)."""
        assert isinstance(self._stream, MemoryStream)
        self._stream.stall()

    def unstall(self) -> None:
        """End of `stall`: what was held up arrives."""
        assert isinstance(self._stream, MemoryStream)
        self._stream.unstall()


def _first(group: BaseExceptionGroup[ConnectionRejected], kind: type[ConnectionRejected]) -> ConnectionRejected:
    """One of the exceptions in a group of groups."""
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            return _first(error, kind)
        return error
    raise AssertionError("a group has members")
