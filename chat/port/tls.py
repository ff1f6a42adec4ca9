"""TLS without a proxy: the settings `tls_certificate` and `tls_key`, their files as they change, and a transport that
encrypts what it sends (instance.md, TLS).

OpenSSL works between two buffers in memory, so a send does not wait, as the gateway needs it. What it has encrypted and
the socket does not take is kept, at most some records of it; then nothing more is taken until that has left.
"""

from __future__ import annotations

import contextlib
import operator
import os
import ssl
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Final

import structlog
import trio

from chat.classes import define
from chat.clock import iso_timestamp
from chat.errors import OperatorError
from chat.port import request_head
from chat.port.listener import SocketListener
from chat.port.transport import DEFAULT_READ_BYTES, Transport
from chat.registries.error_codes import ErrorCode

RECORDS_BYTES: Final = 65_536
"""Bytes that are encrypted at a time. As many, and what encryption adds, may wait for the socket."""

LOOK_SECONDS: Final = 10.0
"""How often the files are looked at."""

SOON_MS: Final = 14 * 86_400_000
"""A certificate that ends within this time is logged when it is read."""

HANDSHAKE: Final = 0x16
"""The first byte of every connection that speaks TLS."""

PLAIN: Final = request_head.refusal(400, ErrorCode.BAD_REQUEST, "This port speaks TLS: ask it with https.")

log: Final = structlog.get_logger(__name__)


@define(eq=False)
class Certificates:
    """The certificate that new connections are shown. Connections keep the one that they began with."""

    _certificate: Path
    _key: Path
    context: ssl.SSLContext
    expires_at: int
    """When the certificate ends, in Unix milliseconds."""
    _seen: object

    @classmethod
    def read(cls, certificate: Path, key: Path) -> Certificates:
        """Both files in PEM, the certificate with those that lead to its authority.

        :raises OperatorError: for what cannot be read, is none, or does not belong together.
        """
        seen = _signature(certificate, key)
        context, expires_at = _context(certificate, key), _expiry(certificate)
        return cls(certificate, key, context, expires_at, seen)

    def over(self, listeners: Sequence[SocketListener]) -> list[TlsListener]:
        """These listeners, with TLS."""
        return [TlsListener(listener, self) for listener in listeners]

    def is_stale(self) -> bool:
        """Whether the files are others than those that were read last."""
        return _signature(self._certificate, self._key) != self._seen

    def reload(self, now_ms: int) -> None:
        """Read both again; what is wrong is logged, and the old one stays until a file changes once more."""
        self._seen = _signature(self._certificate, self._key)
        wrong = None
        try:
            fresh = self.read(self._certificate, self._key)
        except OperatorError as error:
            wrong = str(error)
        if wrong is not None:
            log.error("the new certificate cannot be used: the old one stays", error=wrong)
            return
        self.context, self.expires_at = fresh.context, fresh.expires_at
        log.info("certificate read", certificate=str(self._certificate), expires_at=iso_timestamp(self.expires_at))
        self.tell_of_end(now_ms)

    def tell_of_end(self, now_ms: int) -> None:
        """Log a certificate that has ended or soon will."""
        if self.expires_at <= now_ms:
            log.error("the certificate has expired", expires_at=iso_timestamp(self.expires_at))
        elif self.expires_at - now_ms < SOON_MS:
            log.warning("the certificate expires soon", expires_at=iso_timestamp(self.expires_at))

    async def follow(self, sleep: Callable[[float], Awaitable[None]], now_ms: Callable[[], int]) -> None:
        """Read the files again whenever they change, for ever."""
        while True:
            await sleep(LOOK_SECONDS)
            if await trio.to_thread.run_sync(self.is_stale):
                await trio.to_thread.run_sync(self.reload, now_ms())


def _signature(*files: Path) -> object:
    """What differs when a file is replaced or written again, and whether it is there."""
    found: list[object] = []
    for file in files:
        try:
            status = os.stat(file)
        except OSError as error:
            found.append(error.errno)
        else:
            found.append((status.st_ino, status.st_mtime_ns, status.st_size))
    return found


def _context(certificate: Path, key: Path) -> ssl.SSLContext:
    for name, file in (("tls_certificate", certificate), ("tls_key", key)):
        try:
            file.read_bytes()
        except OSError as error:
            raise OperatorError(f"setting {name}: cannot read {file}: {error.strerror}") from error
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.set_alpn_protocols(["http/1.1"])
    try:
        # A key behind a password is refused, not asked about.
        context.load_cert_chain(certificate, key, password=lambda: b"")
    except ssl.SSLError as error:
        raise OperatorError(f"setting tls_certificate: {_about(error, certificate, key)}") from error
    return context


def _about(error: ssl.SSLError, certificate: Path, key: Path) -> str:
    if error.reason == "KEY_VALUES_MISMATCH":
        return f"the key {key} does not belong to the certificate {certificate}"
    if b"ENCRYPTED" in key.read_bytes():
        return f"the key {key} is protected by a password: expected one without"
    return f"{certificate} and {key} are no certificate and key in PEM ({error.reason or error})"


def _expiry(certificate: Path) -> int:
    from cryptography import x509

    try:
        found = x509.load_pem_x509_certificate(certificate.read_bytes())
    except (OSError, ValueError) as error:
        raise OperatorError(f"setting tls_certificate: {certificate} is no certificate in PEM ({error})") from error
    return int(found.not_valid_after_utc.timestamp() * 1_000)


def trusting_anybody() -> ssl.SSLContext:
    """For a client that asks the server on its own machine, by an address that no certificate names."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


class TlsListener:
    """A listener whose connections speak TLS."""

    def __init__(self, listener: SocketListener, certificates: Certificates) -> None:
        self._listener = listener
        self._certificates = certificates

    @property
    def port(self) -> int:
        """The port it listens on."""
        return self._listener.port

    async def accept(self) -> Transport:
        """The next connection; its handshake is made when something is read from it first."""
        return TlsTransport(await self._listener.accept(), self._certificates.context)

    async def aclose(self) -> None:
        await self._listener.aclose()


class TlsTransport(Transport):
    """A connection in TLS over another transport, at the server's side.

    What is sent before the handshake leaves behind it. After `half_close` whatever the peer sends is thrown away.
    """

    __slots__ = (
        "_early",
        "_established",
        "_finished",
        "_flushing",
        "_greeted",
        "_incoming",
        "_inner",
        "_is_open",
        "_outgoing",
        "_room",
        "_said_goodbye",
        "_tls",
        "_waiting",
    )

    def __init__(self, inner: Transport, context: ssl.SSLContext) -> None:
        super().__init__(inner.address)
        self._inner = inner
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._greeted = self._established = self._finished = self._said_goodbye = self._flushing = False
        self._is_open = True
        self._early = b""
        self._waiting = b""
        """Encrypted, and not yet taken by the socket."""
        self._room = trio.lowlevel.ParkingLot()

    # Sending

    def try_send(self, data: bytes | memoryview, /) -> int:
        self._require_open()
        if self._finished:
            raise trio.ClosedResourceError("nothing may follow the end of sending")
        if not self._established:
            taken = bytes(data[: max(0, RECORDS_BYTES - len(self._early))])
            self._early += taken
            return len(taken)
        sent = 0
        with memoryview(data) as rest:
            while sent < len(rest) and not self._waiting:
                sent += self._encrypt(rest[sent : sent + RECORDS_BYTES])
                self._push()
        return sent

    def much_unsent(self) -> contextlib.AbstractContextManager[None]:
        return self._inner.much_unsent()

    async def wait_writable(self) -> None:
        self._require_open()
        await trio.lowlevel.checkpoint()
        while self._is_open and (self._waiting or len(self._early) >= RECORDS_BYTES):
            await self._room.park()
        self._require_open()

    def half_close(self) -> None:
        self._require_open()
        if self._finished:
            return
        self._finished = True
        if self._established:
            self._say_goodbye()
        elif not self._early:
            self._inner.half_close()

    def close(self) -> None:
        if not self._is_open:
            return
        if self._established and not self._finished:
            with contextlib.suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                self._finished = True
                self._say_goodbye()
        self._is_open = False
        self._waiting = self._early = b""
        self._inner.close()
        self._room.unpark_all()

    def _encrypt(self, data: memoryview) -> int:
        try:
            return self._tls.write(data)
        except ssl.SSLError as error:
            raise trio.BrokenResourceError(str(error)) from error

    def _say_goodbye(self) -> None:
        with contextlib.suppress(ssl.SSLError):  # the peer's own goodbye is not waited for
            self._tls.unwrap()
        self._said_goodbye = True
        self._push()

    def _push(self) -> None:
        """Hand to the socket what is encrypted; a task of its own hands over what it does not take now."""
        self._waiting += self._outgoing.read()
        if self._waiting and not self._flushing:
            self._waiting = self._waiting[self._inner.try_send(self._waiting) :]
        if self._waiting and not self._flushing:
            self._flushing = True
            trio.lowlevel.spawn_system_task(self._flush)
        elif not self._waiting and self._said_goodbye:
            self._inner.half_close()

    async def _flush(self) -> None:
        try:
            while self._waiting:
                await self._inner.wait_writable()
                self._waiting = self._waiting[self._inner.try_send(self._waiting) :]
            if self._said_goodbye and self._is_open:
                self._inner.half_close()
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            self._waiting = b""  # the next read or send hears of it
        finally:
            self._flushing = False
            self._room.unpark_all()

    # Receiving

    async def receive_some(self, maximum: int | None = None, /) -> bytes:
        await trio.lowlevel.checkpoint_if_cancelled()
        self._require_open()
        wanted = DEFAULT_READ_BYTES if maximum is None else operator.index(maximum)
        if wanted < 1:
            raise ValueError("a read takes at least one byte")
        if self._unread:
            data = self._read_ahead(wanted)
            await trio.lowlevel.cancel_shielded_checkpoint()
            return data
        waited = False
        while True:
            decrypted = None if self._is_over else self._decrypted(wanted)
            if decrypted is not None:
                if not waited:
                    await trio.lowlevel.cancel_shielded_checkpoint()
                return decrypted
            received = await self._inner.receive_some()
            waited = True
            self._require_open()
            if not received and (self._is_over or not self._established):
                return b""
            if not self._is_over:
                self._take(received)

    @property
    def _is_over(self) -> bool:
        """Whether this side has said goodbye, or has nothing to say: what comes is not looked at."""
        return self._finished and not self._early

    def _take(self, received: bytes) -> None:
        """What came from the socket, empty at its end."""
        if not self._greeted and received:
            self._greeted = True
            if received[0] != HANDSHAKE:
                self._inner.try_send(PLAIN)
                raise trio.BrokenResourceError("the peer does not speak TLS")
        if received:
            self._incoming.write(received)
        else:
            self._incoming.write_eof()

    def _decrypted(self, wanted: int) -> bytes | None:
        """What can be read now, empty at the end; None when more has to come first."""
        try:
            if not self._established:
                self._tls.do_handshake()
                self._established = True
                self._send_early()
                if self._finished:
                    return None
            data = self._tls.read(wanted)
        except ssl.SSLWantReadError:
            data = None
        except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
            return b""  # with a goodbye or without one: what it asked for is whole or is seen not to be
        except ssl.SSLError as error:
            with contextlib.suppress(trio.BrokenResourceError):
                self._push()  # the alert that says why
            raise trio.BrokenResourceError(str(error)) from error
        self._push()
        if len(self._waiting) > 2 * RECORDS_BYTES:
            raise trio.BrokenResourceError("the peer wants keys changed and reads nothing")
        return data

    def _send_early(self) -> None:
        early, self._early = self._early, b""
        if early:
            self._encrypt(memoryview(early))
        if self._finished:
            self._say_goodbye()
        self._room.unpark_all()

    def _require_open(self) -> None:
        if not self._is_open:
            raise trio.ClosedResourceError("the transport is closed")
