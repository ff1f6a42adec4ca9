"""Another server on this machine, which stands for the outside in tests of media that are fetched."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import attrs
import h11
import trio

from chat.media.outside_fetching import READ_BYTES

Answering = Callable[[h11.Request, trio.SocketStream], Awaitable[None]]


@attrs.define
class OutsideServer:
    """What was asked of it, and where it is."""

    origin: str = ""
    requests: list[h11.Request] = attrs.field(factory=list)

    @property
    def hosts(self) -> list[str]:
        """The Host headers of the requests."""
        return [dict(request.headers)[b"host"].decode() for request in self.requests]


def plain(body: bytes, *, status: int = 200, headers: tuple[tuple[str, str], ...] = ()) -> Answering:
    """An answer with this body."""

    async def answer(_: h11.Request, stream: trio.SocketStream) -> None:
        fields = "".join(f"{name}: {value}\r\n" for name, value in headers)
        if not any(name.lower() in {"content-length", "transfer-encoding"} for name, _ in headers):
            fields += f"Content-Length: {len(body)}\r\n"
        await stream.send_all(f"HTTP/1.1 {status} X\r\n{fields}Connection: close\r\n\r\n".encode() + body)

    return answer


@asynccontextmanager
async def outside(pages: dict[str, Answering]) -> AsyncIterator[OutsideServer]:
    """Answer requests for these paths while the block runs."""
    server = OutsideServer()

    async def serve(stream: trio.SocketStream) -> None:
        parser = h11.Connection(h11.SERVER)
        async with stream:
            try:
                while (event := parser.next_event()) is h11.NEED_DATA:
                    parser.receive_data(bytes(await stream.receive_some(READ_BYTES)))
                if isinstance(event, h11.Request):
                    server.requests.append(event)
                    await pages[event.target.decode()](event, stream)
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                pass

    async with trio.open_nursery() as nursery:
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        server.origin = f"http://127.0.0.1:{listeners[0].socket.getsockname()[1]}"
        nursery.start_soon(trio.serve_listeners, serve, listeners)
        yield server
        nursery.cancel_scope.cancel()
