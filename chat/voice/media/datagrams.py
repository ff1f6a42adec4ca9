"""Where datagrams come from and go to: one UDP socket, or a network in memory."""

from __future__ import annotations

import contextlib
import errno
import socket
from typing import Final, Protocol

import trio

DATAGRAM_BYTES_MAXIMUM: Final = 2_048
"""Media comes in packets that fit into 1,500 bytes."""

AT_ONCE: Final = 64
"""Datagrams that are read before other tasks get a turn."""

BUFFER_BYTES: Final = 4 * 1_048_576
"""What the system is asked to hold for us; it may give less."""

Address = tuple[str, int]
"""The peer's address, an IPv4 address in its own form, and port."""


class Datagrams(Protocol):
    async def receive(self) -> list[tuple[bytes, Address]]:
        """What has come since, at least one. Raises trio.ClosedResourceError after `close`."""
        ...

    def send(self, datagram: bytes, address: Address) -> None:
        """Send it now or, where the system has no room, never."""
        ...

    def close(self) -> None:
        """Receive and send no more."""
        ...


class UdpSocket:
    """A UDP socket on a host and a port, both kinds of addresses where the host names none."""

    def __init__(self, host: str, port: int) -> None:
        """Raises OSError where that cannot be listened on."""
        self.is_ipv6 = ":" in host
        """Whether it takes addresses of both kinds, or of IPv4 alone."""
        self._socket = socket.socket(socket.AF_INET6 if self.is_ipv6 else socket.AF_INET, socket.SOCK_DGRAM)
        try:
            if host == "::":
                self._socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            for option in (socket.SO_RCVBUF, socket.SO_SNDBUF):
                self._socket.setsockopt(socket.SOL_SOCKET, option, BUFFER_BYTES)
            self._socket.setblocking(False)
            self._socket.bind((host, port))
        except BaseException:
            self._socket.close()
            raise

    @property
    def port(self) -> int:
        """The port, also where the system chose it."""
        return int(self._socket.getsockname()[1])

    async def receive(self) -> list[tuple[bytes, Address]]:
        while True:
            if self._socket.fileno() < 0:
                raise trio.ClosedResourceError("the socket is closed")
            await trio.lowlevel.wait_readable(self._socket)
            received: list[tuple[bytes, Address]] = []
            # A peer's system that has no such port makes an error of the next read: it says nothing about others.
            with contextlib.suppress(BlockingIOError, ConnectionError):
                while len(received) < AT_ONCE:
                    datagram, (host, port, *_) = self._socket.recvfrom(DATAGRAM_BYTES_MAXIMUM)
                    received.append((datagram, (host.removeprefix("::ffff:"), port)))
            if received:
                return received

    def send(self, datagram: bytes, address: Address) -> None:
        host, port = address
        if self.is_ipv6 and ":" not in host:
            host = f"::ffff:{host}"
        try:
            self._socket.sendto(datagram, (host, port))
        except BlockingIOError:
            pass  # full: media that waits is worth nothing
        except OSError as error:
            if error.errno not in UNREACHABLE:
                raise

    def close(self) -> None:
        if self._socket.fileno() >= 0:
            trio.lowlevel.notify_closing(self._socket)
            self._socket.close()


UNREACHABLE: Final = frozenset(
    {
        errno.ECONNREFUSED,
        errno.EHOSTUNREACH,
        errno.ENETUNREACH,
        errno.ENETDOWN,
        errno.EPERM,
        errno.EACCES,
        errno.EINVAL,
        errno.EAFNOSUPPORT,
        errno.EADDRNOTAVAIL,
        errno.EMSGSIZE,
        errno.ENOBUFS,
    }
)
"""Errors of sending that concern one peer or one moment."""


def open_socket(port: int) -> UdpSocket:
    """A socket on every address of the machine, of IPv6 too where it has that. Raises OSError."""
    try:
        return UdpSocket("::", port)
    except OSError as error:
        if error.errno not in {errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL}:
            raise
    return UdpSocket("0.0.0.0", port)  # noqa: S104 - media comes from everywhere
