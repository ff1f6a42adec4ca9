"""The gateway's view of a byte stream, and the socket behind it.

The gateway sends from wherever an event is published, so its transport has a send that never waits (`try_send`). The
same object is a Trio stream too, which is what the HTTP server reads and writes.
"""

from __future__ import annotations

import contextlib
import operator
import os
import socket
from collections.abc import Iterator
from typing import Final, Protocol

import trio

DEFAULT_READ_BYTES: Final = 65_536
DISCARD_READS: Final = 16
"""How often `close` reads what the peer sent and nobody wants: a socket closed with unread bytes answers with a
reset, which makes the peer's system throw away what it has not yet read from us, a close frame for example."""


class GatewayTransport(Protocol):
    """A bidirectional byte stream between a peer and the gateway; one task reads, one at a time writes."""

    @property
    def address(self) -> str:
        """The peer's address as text, without port."""
        ...

    def try_send(self, data: bytes | memoryview, /) -> int:
        """Send what the system takes at once and return how many bytes that were; 0 when it would have to wait.

        Raises trio.BrokenResourceError when the peer is gone, trio.ClosedResourceError after `close`.
        """
        ...

    async def wait_writable(self) -> None:
        """Return when `try_send` is likely to take something.

        Raises trio.BrokenResourceError or trio.ClosedResourceError like `try_send`; both also end a wait.
        """
        ...

    async def receive_some(self, maximum: int, /) -> bytes:
        """At least one and at most `maximum` bytes; empty when the peer has finished sending.

        Raises trio.BrokenResourceError on a reset, trio.ClosedResourceError when `close` was or is called.
        """
        ...

    def close(self) -> None:
        """Close at once, both directions; wakes whoever waits. Any number of times."""
        ...

    async def aclose_gracefully(self, seconds: float) -> None:
        """Say that nothing more will be sent, wait until the peer has finished too, at most for `seconds`, then
        close."""
        ...


class Connection(GatewayTransport, Protocol):
    """An accepted connection before it is known whom it is for: readable ahead, and a Trio stream."""

    def unread(self, data: bytes, /) -> None:
        """Put `data` back: the next `receive_some` returns it."""
        ...

    async def send_all(self, data: bytes | bytearray | memoryview, /) -> None:
        """Send all of it, waiting as long as it takes."""
        ...

    async def aclose(self) -> None:
        """`close` and a checkpoint."""
        ...


class SocketTransport(trio.abc.HalfCloseableStream):
    """A connected TCP socket.

    Reads and writes go to the descriptor itself (`os.read`, `os.write`): a third of the cost of Trio's stream methods.
    """

    __slots__ = ("_address", "_descriptor", "_finished", "_sending", "_socket", "_unread")

    def __init__(self, connected: trio.socket.SocketType) -> None:
        self._socket = connected
        self._descriptor = connected.fileno()
        self._unread = b""
        self._finished = False
        self._sending = False
        self._address = ""
        if connected.family in (socket.AF_INET, socket.AF_INET6):
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            # What a stalled reader leaves unsent waits in our outbox, where it is counted, not in the kernel.
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, 16_384)
            self._address = _peer_address(connected)

    @property
    def address(self) -> str:
        return self._address

    @property
    def socket(self) -> trio.socket.SocketType:
        """The socket itself, for its options and names."""
        return self._socket

    def unread(self, data: bytes, /) -> None:
        self._unread = data + self._unread

    def try_send(self, data: bytes | memoryview, /) -> int:
        try:
            return os.write(self._descriptor, data)
        except BlockingIOError:
            return 0
        except OSError as error:
            self._open_descriptor()
            if self._finished:
                raise trio.ClosedResourceError("nothing may follow the end of sending") from error
            raise trio.BrokenResourceError(str(error)) from error

    async def wait_writable(self) -> None:
        self._open_descriptor()
        await trio.lowlevel.wait_writable(self._socket)

    async def wait_send_all_might_not_block(self) -> None:
        with self._alone():
            await self.wait_writable()

    async def send_all(self, data: bytes | bytearray | memoryview, /) -> None:
        with self._alone(), memoryview(data) as rest:
            await trio.lowlevel.checkpoint()
            sent = self.try_send(rest)
            while sent < len(rest):
                await self.wait_writable()
                sent += self.try_send(rest[sent:])

    async def receive_some(self, maximum: int | None = None, /) -> bytes:
        await trio.lowlevel.checkpoint_if_cancelled()
        descriptor = self._open_descriptor()
        wanted = DEFAULT_READ_BYTES if maximum is None else operator.index(maximum)
        if wanted < 1:
            raise ValueError("a read takes at least one byte")
        if self._unread:
            data, self._unread = self._unread[:wanted], self._unread[wanted:]
            await trio.lowlevel.cancel_shielded_checkpoint()
            return data
        waited = False
        while True:
            try:
                data = os.read(descriptor, wanted)
            except BlockingIOError:
                await trio.lowlevel.wait_readable(self._socket)
                descriptor = self._open_descriptor()
                waited = True
            except OSError as error:
                raise trio.BrokenResourceError(str(error)) from error
            else:
                if not waited:
                    await trio.lowlevel.cancel_shielded_checkpoint()
                return data

    async def send_eof(self) -> None:
        with self._alone():
            await trio.lowlevel.checkpoint()
            self._finish_sending()

    def close(self) -> None:
        if self._descriptor < 0:
            return
        self._discard_received()
        self._descriptor = -1
        self._socket.close()

    async def aclose(self) -> None:
        self.close()
        await trio.lowlevel.checkpoint()

    async def aclose_gracefully(self, seconds: float) -> None:
        try:
            self._finish_sending()
            with trio.move_on_after(seconds):
                while await self.receive_some():
                    pass
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass  # the peer left first: nothing to be graceful about
        finally:
            self.close()

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        if self._sending:
            raise trio.BusyResourceError("another task is sending here")
        self._sending = True
        try:
            yield
        finally:
            self._sending = False

    def _open_descriptor(self) -> int:
        if self._descriptor < 0:
            raise trio.ClosedResourceError("the transport is closed")
        return self._descriptor

    def _finish_sending(self) -> None:
        self._open_descriptor()
        if self._finished:
            return
        try:
            self._socket.shutdown(socket.SHUT_WR)
        except OSError as error:
            raise trio.BrokenResourceError(str(error)) from error
        self._finished = True

    def _discard_received(self) -> None:
        try:
            for _ in range(DISCARD_READS):
                if not os.read(self._descriptor, DEFAULT_READ_BYTES):
                    return
        except OSError:
            return  # nothing left to read, or the peer is gone


def _peer_address(connected: trio.socket.SocketType) -> str:
    try:
        return str(connected.getpeername()[0])
    except OSError:
        return ""  # gone between accept and here; the first read will say so
