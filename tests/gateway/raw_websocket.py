"""A WebSocket client that writes its frames by hand, so that it can write wrong ones."""

from __future__ import annotations

import struct

import trio
from wsproto.frame_protocol import FrameDecoder, Opcode

from chat.gateway.websocket import WebSocket
from chat.testing.network import MemoryStream, Pipe

MASK = b"\x37\xfa\x21\x3d"

UPGRADE = (
    b"GET %b HTTP/1.1\r\nHost: example.test\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n%b\r\n"
)


def upgrade(target: bytes = b"/gateway?v=1&encoding=json", headers: bytes = b"") -> bytes:
    """The head of a proper upgrade request, with further header lines."""
    return UPGRADE % (target, headers)


def client_frame(
    opcode: int,
    payload: bytes = b"",
    *,
    fin: bool = True,
    masked: bool = True,
    reserved: int = 0,
    length: int | None = None,
) -> bytes:
    """A frame as a client sends it; `length` is announced in place of the true one, `reserved` are the three bits."""
    announced = len(payload) if length is None else length
    first = (0x80 if fin else 0) | reserved << 4 | opcode
    mask_bit = 0x80 if masked else 0
    if announced <= 125:
        header = bytes((first, mask_bit | announced))
    elif announced <= 0xFFFF:
        header = struct.pack("!BBH", first, mask_bit | 126, announced)
    else:
        header = struct.pack("!BBQ", first, mask_bit | 127, announced)
    if not masked:
        return header + payload
    keys = MASK * (len(payload) // 4 + 1)
    return header + MASK + bytes(byte ^ key for byte, key in zip(payload, keys, strict=False))


def close_payload(code: int, reason: bytes = b"") -> bytes:
    """What a close frame carries."""
    return code.to_bytes(2, "big") + reason


class RawWebSocket:
    """The client's end of an open WebSocket."""

    def __init__(self, stream: trio.abc.HalfCloseableStream) -> None:
        self.stream = stream
        self._decoder = FrameDecoder(client=True)

    @classmethod
    async def after_answer(cls, stream: trio.abc.HalfCloseableStream) -> RawWebSocket:
        """Read the server's 101 response; frames that come with it are kept."""
        answer = b""
        while b"\r\n\r\n" not in answer:
            data = await stream.receive_some()
            assert data, answer
            answer += data
        assert answer.startswith(b"HTTP/1.1 101 "), answer
        client = cls(stream)
        client._decoder.receive_bytes(answer.partition(b"\r\n\r\n")[2])
        return client

    async def send(self, opcode: int, payload: bytes = b"", **options: int) -> None:
        """Send one frame; `options` as for `client_frame`."""
        await self.stream.send_all(client_frame(opcode, payload, **options))

    async def text(self, text: str) -> None:
        """Send a text message."""
        await self.send(Opcode.TEXT, text.encode())

    async def frame(self) -> tuple[int, bytes]:
        """The next whole frame: opcode and payload. Raises EOFError at the end of the stream."""
        payload = b""
        opcode: int | None = None
        while True:
            part = self._decoder.process_buffer()
            if part is None:
                data = await self.stream.receive_some()
                if not data:
                    raise EOFError
                self._decoder.receive_bytes(data)
                continue
            opcode = part.opcode if opcode is None else opcode
            assert isinstance(part.payload, bytes)
            payload += part.payload
            if part.frame_finished:
                return opcode, payload

    async def closed(self) -> tuple[int, str]:
        """The server's close frame: code and reason; other frames before it are skipped."""
        while True:
            opcode, payload = await self.frame()
            if opcode == Opcode.CLOSE:
                return int.from_bytes(payload[:2], "big"), payload[2:].decode()

    async def ended(self) -> bool:
        """Whether the stream ends without another frame."""
        try:
            await self.frame()
        except EOFError:
            return True
        return False


def open_pair(*, capacity: int = 65_536, **options: object) -> tuple[WebSocket, RawWebSocket]:
    """A server's WebSocket in memory and its client; `options` are WebSocket's."""
    to_server, to_client = Pipe(capacity), Pipe(capacity)
    transport = MemoryStream(to_server, to_client, "10.0.0.7")
    options.setdefault("maximum_message_bytes", 16_384)
    websocket = WebSocket(transport, **options)  # type: ignore[arg-type]
    return websocket, RawWebSocket(MemoryStream(to_client, to_server, "127.0.0.1"))
