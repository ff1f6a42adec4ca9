"""The byte stream between a peer and the server, and the socket behind it.

The gateway sends from wherever an event is published, so a transport has a send that never waits (`try_send`). It is a
Trio stream too, and what was read ahead can be put back.
"""

from __future__ import annotations

import abc
import contextlib
import operator
import os
import socket
from collections.abc import Iterator
from typing import Final

import trio

DEFAULT_READ_BYTES: Final = 65_536
UNSENT_BYTES: Final = 16_384
"""What a connection's system holds that was not sent yet, before it takes no more."""

MUCH_UNSENT_BYTES: Final = 2_097_152
"""The same within `Transport.much_unsent`: nearly every Ready."""

READS_PER_TURN: Final = 64
"""Reads of sockets in one turn of the loop: what a thousand peers send at once lets others have their turn."""

DISCARD_READS: Final = 16
"""How often `close` reads what the peer sent and no task wants: a socket closed with unread bytes answers with a
reset, which makes the peer's system throw away what it has not yet read from us, a close frame for example."""


class Transport(trio.abc.HalfCloseableStream):
    """A connection to one peer; one task reads, one at a time writes. `address` is the peer's, without port."""

    __slots__ = ("_sending", "_unread", "address")

    def __init__(self, address: str) -> None:
        self.address = address
        self._unread = b""
        self._sending = False

    @abc.abstractmethod
    def try_send(self, data: bytes | memoryview, /) -> int:
        """Send what the system takes at once and return how many bytes that were; 0 when it would have to wait.

        Raises trio.BrokenResourceError when the peer is gone, trio.ClosedResourceError after `close`.
        """

    def try_send_ahead(self, data: bytes, /) -> int:
        """As `try_send`, for data after which more will be sent at once: both may leave together, in one packet. The
        system holds it back for a fifth of a second at most."""
        return self.try_send(data)

    def much_unsent(self) -> contextlib.AbstractContextManager[None]:
        """Within the block, `try_send` takes more at once than usual: something large is sent in few steps then."""
        return contextlib.nullcontext()

    @abc.abstractmethod
    async def wait_writable(self) -> None:
        """Return when `try_send` is likely to take something.

        Raises trio.BrokenResourceError or trio.ClosedResourceError like `try_send`; both also end a wait.
        """

    @abc.abstractmethod
    async def receive_some(self, maximum: int | None = None, /) -> bytes:
        """At least one and at most `maximum` bytes; empty when the peer has finished sending.

        Raises trio.BrokenResourceError on a reset, trio.ClosedResourceError when `close` was or is called.
        """

    async def receive_next(self, maximum: int, /) -> bytes:
        """As `receive_some`, for a peer that is not expected to have sent anything yet: waits before it looks."""
        return await self.receive_some(maximum)

    def receive_now(self, maximum: int, /) -> bytes:
        """What has come already, at most `maximum` bytes. Empty says nothing: `receive_some` may know more.

        Raises as `receive_some`. Other tasks get no turn, so this is for a first look.
        """
        return self._read_ahead(maximum)

    @abc.abstractmethod
    def half_close(self) -> None:
        """Say that nothing more will be sent; reading goes on."""

    @abc.abstractmethod
    def close(self) -> None:
        """Close at once, both directions, and wake every task that waits. Any number of times."""

    def unread(self, data: bytes, /) -> None:
        """Put `data` back: the next `receive_some` returns it."""
        self._unread = data + self._unread

    async def aclose_gracefully(self, seconds: float) -> None:
        """Say that nothing more will be sent, wait until the peer has finished too, at most for `seconds`, then
        close."""
        try:
            self.half_close()
            with trio.move_on_after(seconds):
                while await self.receive_some():
                    pass
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass  # the peer left first: nothing to be graceful about
        finally:
            self.close()

    async def send_all(self, data: bytes | bytearray | memoryview, /) -> None:
        with self._alone(), memoryview(data) as rest:
            await trio.lowlevel.checkpoint()
            sent = self.try_send(rest)
            while sent < len(rest):
                await self.wait_writable()
                sent += self.try_send(rest[sent:])

    async def wait_send_all_might_not_block(self) -> None:
        with self._alone():
            await self.wait_writable()

    async def send_eof(self) -> None:
        with self._alone():
            await trio.lowlevel.checkpoint()
            self.half_close()

    async def aclose(self) -> None:
        self.close()
        await trio.lowlevel.checkpoint()

    def _read_ahead(self, maximum: int) -> bytes:
        data, self._unread = self._unread[:maximum], self._unread[maximum:]
        return data

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        if self._sending:
            raise trio.BusyResourceError("another task is sending here")
        self._sending = True
        try:
            yield
        finally:
            self._sending = False


def set_options(connected: socket.socket) -> None:
    """Set what every TCP connection to a peer has; on a listening socket it counts for all that is accepted."""
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    # What a stalled reader leaves unsent waits in our outbox, where it is counted, not in the kernel.
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT_BYTES)


class ReadsPerTurn:
    """Lets sockets that share it be read READS_PER_TURN times at most in each turn of the loop.

    Trio does not tell when a turn begins. So after each half as many reads one waits for the next turn, and adds as
    many there; only where the other half is used up by then, all wait.
    """

    __slots__ = ("_left",)

    def __init__(self) -> None:
        self._left = READS_PER_TURN

    async def take(self) -> None:
        """Return when there is room for a read in the present turn, which is to follow at once. Not cancelled; it takes
        a few turns at most."""
        while not self._left:
            await trio.lowlevel.cancel_shielded_checkpoint()
        if self._left == READS_PER_TURN // 2:
            self._left -= 1  # so that a single one does this
            await trio.lowlevel.cancel_shielded_checkpoint()
            self._left += READS_PER_TURN // 2 + 1
        self._left -= 1


class SocketTransport(Transport):
    """A connected TCP socket, which is this object's from now on; `set_options` has been called for it.

    Reads and writes go to the descriptor itself (`os.read`, `os.write`): a third of the cost of Trio's stream methods.
    `reads` is shared by those that are to be read by turns.
    """

    __slots__ = ("_descriptor", "_finished", "_reads", "socket")

    def __init__(self, connected: socket.socket, address: str, reads: ReadsPerTurn | None = None) -> None:
        super().__init__(address)
        self._reads = ReadsPerTurn() if reads is None else reads
        connected.setblocking(False)
        self.socket = connected
        """The socket itself, for its options and names."""
        self._descriptor = connected.fileno()
        self._finished = False

    def try_send(self, data: bytes | memoryview, /) -> int:
        try:
            return os.write(self._descriptor, data)
        except BlockingIOError:
            return 0
        except OSError as error:
            raise self._why_not_sent(error) from error

    def try_send_ahead(self, data: bytes, /) -> int:
        try:
            return self.socket.send(data, socket.MSG_MORE)
        except BlockingIOError:
            return 0
        except OSError as error:
            raise self._why_not_sent(error) from error

    @contextlib.contextmanager
    def much_unsent(self) -> Iterator[None]:
        self._hold_unsent(MUCH_UNSENT_BYTES)
        try:
            yield
        finally:
            self._hold_unsent(UNSENT_BYTES)

    def _hold_unsent(self, count: int) -> None:
        with contextlib.suppress(OSError):  # closed, as `try_send` will say
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, count)

    def _why_not_sent(self, error: OSError) -> Exception:
        self._open_descriptor()
        if self._finished:
            return trio.ClosedResourceError("nothing may follow the end of sending")
        return trio.BrokenResourceError(str(error))

    async def wait_writable(self) -> None:
        await trio.lowlevel.wait_writable(self._open_descriptor())

    async def receive_some(self, maximum: int | None = None, /) -> bytes:
        await trio.lowlevel.checkpoint_if_cancelled()
        descriptor = self._open_descriptor()
        wanted = DEFAULT_READ_BYTES if maximum is None else operator.index(maximum)
        if wanted < 1:
            raise ValueError("a read takes at least one byte")
        if self._unread:
            data = self._read_ahead(wanted)
            await trio.lowlevel.cancel_shielded_checkpoint()
            return data
        waited = False
        while True:
            try:
                data = os.read(descriptor, wanted)
            except BlockingIOError:
                pass  # and not waited for in here, where the exception would live on
            except OSError as error:
                raise trio.BrokenResourceError(str(error)) from error
            else:
                if not waited:
                    await trio.lowlevel.cancel_shielded_checkpoint()
                return data
            await trio.lowlevel.wait_readable(descriptor)
            await self._reads.take()
            descriptor = self._open_descriptor()
            waited = True

    async def receive_next(self, maximum: int, /) -> bytes:
        if self._unread:
            return await self.receive_some(maximum)
        while True:
            await trio.lowlevel.wait_readable(self._open_descriptor())
            await self._reads.take()
            try:
                return os.read(self._open_descriptor(), maximum)
            except BlockingIOError:
                continue
            except OSError as error:
                raise trio.BrokenResourceError(str(error)) from error

    def receive_now(self, maximum: int, /) -> bytes:
        if self._unread:
            return self._read_ahead(maximum)
        try:
            return os.read(self._open_descriptor(), maximum)
        except BlockingIOError:
            return b""
        except OSError as error:
            raise trio.BrokenResourceError(str(error)) from error

    def half_close(self) -> None:
        self._open_descriptor()
        if self._finished:
            return
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError as error:
            raise trio.BrokenResourceError(str(error)) from error
        self._finished = True

    def close(self) -> None:
        if self._descriptor < 0:
            return
        self._discard_received()
        trio.lowlevel.notify_closing(self._descriptor)
        self._descriptor = -1
        self.socket.close()

    def _open_descriptor(self) -> int:
        if self._descriptor < 0:
            raise trio.ClosedResourceError("the transport is closed")
        return self._descriptor

    def _discard_received(self) -> None:
        try:
            for _ in range(DISCARD_READS):
                if not os.read(self._descriptor, DEFAULT_READ_BYTES):
                    return
        except OSError:
            return  # nothing left to read, or the peer is gone
