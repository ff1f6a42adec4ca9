"""Requests whose header lines a test writes itself, doubled ones and bytes beyond ASCII included, over real sockets."""

from __future__ import annotations

from collections.abc import Sequence

import h11
import trio

from chat.testing.network import Route
from chat.testing.rest_client import Response

SECONDS = 30.0

Headers = Sequence[tuple[str, bytes]]


class RawClient:
    """One connection after the other, each kept as long as the server keeps it."""

    def __init__(self, route: Route) -> None:
        self._route = route
        self._stream: trio.abc.Stream | None = None
        self._parser = h11.Connection(h11.CLIENT)

    async def request(self, method: str, path: str, headers: Headers, body: bytes = b"") -> Response:
        """Send exactly these headers beside Host and Content-Length, and read the answer."""
        with trio.fail_after(SECONDS):
            if self._stream is None:
                self._stream = await self._route.connect()
                self._parser = h11.Connection(h11.CLIENT)
            lines = [("Host", self._route.host), *headers, ("Content-Length", str(len(body)))]
            events = [h11.Request(method=method, target=path, headers=lines), h11.Data(data=body), h11.EndOfMessage()]
            data = b"".join(sent for event in events if (sent := self._parser.send(event)))
            await self._stream.send_all(data)
            response = await self._read(self._stream)
            if self._parser.our_state is h11.DONE and self._parser.their_state is h11.DONE:
                self._parser.start_next_cycle()
            else:
                await self.aclose()
            return response

    async def _read(self, stream: trio.abc.Stream) -> Response:
        head: h11.Response | None = None
        body = bytearray()
        while True:
            event = self._parser.next_event()
            if event is h11.NEED_DATA:
                self._parser.receive_data(bytes(await stream.receive_some(65_536)))
            elif isinstance(event, h11.Response):
                head = event
            elif isinstance(event, h11.Data):
                body += event.data
            else:
                assert isinstance(event, h11.EndOfMessage), event
                assert head is not None
                named = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in head.headers)
                return Response(head.status_code, named, bytes(body))

    async def aclose(self) -> None:
        """Hang up."""
        if self._stream is not None:
            await trio.aclose_forcefully(self._stream)
            self._stream = None
