"""The broker on Redis or Valkey, over coredis.

Each call has a connection of its own while it lasts: calls of one task take effect in their order, a read that waits
holds up no other call, and what is cancelled or late ends its connection and nothing else. Connections are used again.
coredis' own pool would share a connection between calls, and its messages may quote what was sent, passwords included:
only connections are taken from it, and of its errors no more than the kind is told.
"""

from __future__ import annotations

import contextlib
import logging
import math
import os
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

import structlog
import trio

from chat.config.broker_address import BrokerAddress, broker_address
from chat.errors import OperatorError
from chat.nodes.broker import BEGINNING, COMMAND_SECONDS, CONNECT_SECONDS, READ_BYTES, BrokerUnavailable

try:
    import anyio
    from anyio.abc import ByteStream
    from coredis import TCPConnection
    from coredis.connection import TCPLocation
    from coredis.exceptions import (
        AuthenticationError,
        AuthorizationError,
        BusyLoadingError,
        InvalidResponse,
        MovedError,
        ProtocolError,
        ReadOnlyError,
        RedisError,
        UnknownCommandError,
    )
    from coredis.exceptions import ConnectionError as Lost
except ModuleNotFoundError as missing:
    raise OperatorError(f"gateway nodes need {missing.name}, which comes with chat[nodes]: install that") from None

logger = structlog.get_logger(__name__)

Command = tuple[bytes | str | int, ...]

PREFIX: Final = "chat:"
"""What names of streams and keys begin with, unless they are told another."""

CALLS_AT_ONCE: Final = 32
"""Connections for calls that do not wait; more calls queue, within their time limit."""

FIRST_ENTRIES: Final = 8
"""Entries that the first read of a stream asks for, before their size is known."""

COMPLAINT_SECONDS: Final = 60.0
"""Refusals of the engine are logged no more often."""

OLDEST_VERSION: Final = (6, 2)
"""The first with `XADD ... MINID`."""

TOO_OLD: Final = "6.2 or newer is needed"

COMMANDS: Final = ("eval", "get", "mget", "pexpire", "set", "unlink", "xadd", "xread", "xrevrange")
"""What the user at the broker needs to be allowed."""

CLAIM: Final = """\
local held = redis.call('GET', KEYS[1])
if held and held ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
"""

logging.getLogger("coredis").setLevel(logging.CRITICAL)  # what fails is told by those who called


class _Connection(TCPConnection):
    """coredis' connection over a stream that is connected already: one that fails to connect would leave buffers that
    are never closed."""

    def __init__(self, stream: ByteStream, address: BrokerAddress) -> None:
        super().__init__(
            TCPLocation(address.host, address.port),
            username=address.user,
            password=address.password,
            db=address.database or None,
        )
        self._connected = stream

    async def _connect(self) -> ByteStream:
        return self._connected


class _Line:
    """A connection, and the scope in which it lives."""

    def __init__(self, address: BrokerAddress, trust: ssl.SSLContext | None) -> None:
        self._address = address
        self._trust = trust
        self._scope = trio.CancelScope()
        self._settled = trio.Event()
        self._connection: _Connection | None = None
        self.failure: Exception | None = None

    async def live(self) -> None:
        """Connect, and carry bytes until the connection ends, for whatever reason."""
        try:
            with self._scope:
                stream = await self._stream()
                self._connection = _Connection(stream, self._address)
                await self._connection.run(task_status=self)
        except Exception as error:  # noqa: BLE001 - of whatever kind, it is the connection that failed
            self.failure = error
        finally:
            self._settled.set()

    async def _stream(self) -> ByteStream:
        host, port = self._address.host, self._address.port
        if self._trust is None:
            return await anyio.connect_tcp(host, port)
        return await anyio.connect_tcp(host, port, ssl_context=self._trust, tls_standard_compatible=False)

    def started(self, value: object = None) -> None:
        """The connection calls this once it can be used."""
        self._settled.set()

    async def settled(self) -> None:
        """Wait until it can be used, or has failed."""
        await self._settled.wait()

    @property
    def is_usable(self) -> bool:
        return self._connection is not None and self._connection.reusable and not self._scope.cancel_called

    @property
    def version(self) -> str:
        """What the engine calls its version; empty before it has said so."""
        return (self._connection and self._connection.server_version) or ""

    def send(self, commands: Sequence[Command]) -> list[Awaitable[Any]]:
        """Send commands together; what comes is the answers, errors among them. Raises what coredis and anyio raise
        where the connection is lost."""
        if self._connection is None:
            raise Lost("not connected")
        create = self._connection.create_request
        return [create(str(name).encode(), *arguments, raise_exceptions=False) for name, *arguments in commands]

    def end(self) -> None:
        self._scope.cancel()


class RedisBroker:
    """A `chat.nodes.broker.Broker`. `version` is the engine's, known after the first call."""

    def __init__(self, address: BrokerAddress, prefix: str, nursery: trio.Nursery) -> None:
        self.address = address
        self.version = ""
        self._prefix = prefix
        self._nursery = nursery
        self._trust = _trust_of(address) if address.tls else None
        self._idle: list[_Line] = []
        self._at_once = trio.Semaphore(CALLS_AT_ONCE)
        self._serves: bool | None = None
        """Whether the last call got there; None before the first that did."""
        self._complained_at = -math.inf
        self._ahead_ms: float | None = None
        self._most: dict[str, int] = {}
        self._expires_anew: dict[str, float] = {}

    async def append(self, stream: str, entries: Sequence[bytes], *, keep_seconds: float) -> None:
        if not entries:
            return
        name = self._prefix + stream
        # Ids are the engine's time: its clock may differ from that of this machine.
        now_ms = trio.current_time() * 1000 + (self._ahead_ms or 0)
        oldest = max(int(now_ms - keep_seconds * 1000), 0) if self._ahead_ms is not None else 0
        *others, last = entries
        replies = await self._call(
            *(("XADD", name, "*", "d", entry) for entry in others),
            ("XADD", name, "MINID", "~", oldest, "*", "d", last),
            *self._expiry(name, keep_seconds),
        )
        self._ahead_ms = int(replies[len(others)].partition(b"-")[0]) - trio.current_time() * 1000

    def _expiry(self, name: str, keep_seconds: float) -> list[Command]:
        """Now and then: a stream lasts for a while after the last entry."""
        now = trio.current_time()
        if now < self._expires_anew.get(name, -math.inf):
            return []
        self._expires_anew[name] = now + keep_seconds / 4
        return [("PEXPIRE", name, _milliseconds(2 * keep_seconds))]

    async def read(self, stream: str, after: str, *, wait_seconds: float, most: int = 256) -> list[tuple[str, bytes]]:
        count = min(most, self._most.get(stream, FIRST_ENTRIES))
        waiting = ("BLOCK", _milliseconds(wait_seconds)) if wait_seconds > 0 else ()
        [reply] = await self._call(
            ("XREAD", "COUNT", count, *waiting, "STREAMS", self._prefix + stream, after), wait_seconds=wait_seconds
        )
        if not reply:
            return []
        [entries] = reply.values() if isinstance(reply, dict) else [listed for _, listed in reply]
        found = [(entry.decode("ascii"), fields[1]) for entry, fields in entries]
        largest = max(len(data) for _, data in found)
        self._most[stream] = min(2 * max(count, FIRST_ENTRIES), max(READ_BYTES // max(largest, 1), 1))
        return found

    async def newest(self, stream: str) -> str:
        [found] = await self._call(("XREVRANGE", self._prefix + stream, "+", "-", "COUNT", 1))
        return found[0][0].decode("ascii") if found else BEGINNING

    async def forget(self, *names: str) -> None:
        if names:
            await self._call(("UNLINK", *(self._prefix + name for name in names)))
            for name in names:
                self._most.pop(name, None)
                self._expires_anew.pop(self._prefix + name, None)

    async def put(self, values: Mapping[str, bytes], *, seconds: float) -> None:
        lasts = _milliseconds(seconds)
        if values:
            await self._call(*(("SET", self._prefix + key, value, "PX", lasts) for key, value in values.items()))

    async def get(self, *keys: str) -> list[bytes | None]:
        if not keys:
            return []
        [found] = await self._call(("MGET", *(self._prefix + key for key in keys)))
        return list(found)

    async def claim(self, key: str, value: bytes, *, seconds: float) -> bool:
        [taken] = await self._call(("EVAL", CLAIM, 1, self._prefix + key, value, _milliseconds(seconds)))
        return bool(taken)

    async def seize(self, key: str, value: bytes, *, seconds: float) -> None:
        await self.put({key: value}, seconds=seconds)

    async def configured(self, name: str) -> str:
        """A setting of the engine; empty where it has none of that name."""
        [found] = await self._call(("CONFIG", "GET", name))
        return next(iter(found.values()), b"").decode()

    async def probe(self) -> None:
        """Try everything that is needed. Raises OperatorError for what a person must mend."""
        stream, key = f"{self._prefix}probe:stream", f"{self._prefix}probe:key"
        trials: list[Command] = [
            ("GET", key),
            ("SET", key, b"", "PX", 1000),
            ("MGET", key),
            ("EVAL", "return 1", 1, key),
            ("XADD", stream, "*", "d", b""),
            ("PEXPIRE", stream, 1000),
            ("XREAD", "COUNT", 1, "STREAMS", stream, BEGINNING),
            ("XREVRANGE", stream, "+", "-", "COUNT", 1),
            ("UNLINK", stream, key),
        ]
        try:
            replies = await self._call(*trials, refusals=True)
        except BrokerUnavailable as error:
            raise OperatorError(str(error)) from None
        self._require_version()
        refused = {trial[0]: reply for trial, reply in zip(trials, replies, strict=True) if _is_refusal(reply)}
        self._require_rights({str(name).lower(): str(reply) for name, reply in refused.items() if _is_denial(reply)})
        for reply in refused.values():
            raise OperatorError(self._words(reply))

    def _require_version(self) -> None:
        numbers = tuple(int(part) for part in self.version.split(".")[:2] if part.isdigit())
        if numbers < OLDEST_VERSION:
            raise OperatorError(f"the broker {self.address.place} is of version {self.version}: {TOO_OLD}")

    def _require_rights(self, denied: Mapping[str, str]) -> None:
        """Complain of commands that are denied, each with the engine's words for it."""
        lacking = [name for name, words in denied.items() if "run the" in words]
        if lacking:
            rights = " ".join(f"+{name}" for name in COMMANDS)
            raise OperatorError(
                f"the broker {self.address.place} does not let its user run {', '.join(lacking)}: "
                f"it needs the rights ~{self._prefix}* {rights}"
            )
        if denied:
            raise OperatorError(
                f"the broker {self.address.place} does not let its user use keys that begin with {self._prefix}: "
                f"it needs the right ~{self._prefix}*"
            )

    async def _call(self, *commands: Command, wait_seconds: float = 0.0, refusals: bool = False) -> list[Any]:
        """The answers to commands that are sent together. With `refusals` those of the engine are among them; else the
        first is raised as BrokerUnavailable, as is every other failure."""
        try:
            replies = await self._answers(commands, wait_seconds)
        except BrokerUnavailable as error:
            if self._serves:
                self._serves = False
                logger.warning("the broker does not serve", reason=str(error))
            raise
        if self._serves is False:
            logger.warning("the broker serves again", broker=self.address.place)
        self._serves = True
        for reply in replies:
            if _is_refusal(reply) and not refusals:
                words = self._words(reply)
                if trio.current_time() >= self._complained_at + COMPLAINT_SECONDS:
                    self._complained_at = trio.current_time()
                    logger.warning("the broker does not do its work", reason=words)
                raise BrokerUnavailable(words) from None
        return replies

    async def _answers(self, commands: Sequence[Command], wait_seconds: float) -> list[Any]:
        try:
            with trio.fail_after(CONNECT_SECONDS + COMMAND_SECONDS + wait_seconds) as limit:
                async with contextlib.nullcontext() if wait_seconds else self._at_once:
                    line = await self._line()
                    limit.deadline = trio.current_time() + COMMAND_SECONDS + wait_seconds
                    return await self._exchange(line, commands)
        except trio.TooSlowError:
            self._end_idle()
            raise BrokerUnavailable(f"the broker {self.address.place} did not answer in time") from None

    async def _exchange(self, line: _Line, commands: Sequence[Command]) -> list[Any]:
        replies: list[Any] = []
        try:
            replies = [await request for request in line.send(commands)]
            for reply in replies:
                if isinstance(reply, Exception) and not _is_refusal(reply):
                    raise BrokerUnavailable(self._words(reply))
        except (RedisError, anyio.ClosedResourceError, anyio.BrokenResourceError) as error:
            raise BrokerUnavailable(self._words(error)) from None
        finally:
            # One that is not whole, or whose engine does not do its work (any more), is not used again.
            if len(replies) < len(commands) or any(isinstance(reply, Exception) for reply in replies):
                line.end()
            else:
                self._idle.append(line)
        return replies

    async def _line(self) -> _Line:
        while self._idle:
            line = self._idle.pop()
            if line.is_usable:
                return line
            line.end()
        return await self._connected()

    async def _connected(self) -> _Line:
        line = _Line(self.address, self._trust)
        self._nursery.start_soon(line.live)
        try:
            with trio.fail_after(CONNECT_SECONDS):
                await line.settled()
        except trio.TooSlowError:
            line.end()
            hint = ": does it speak TLS?" if self._trust else ""
            raise BrokerUnavailable(f"the broker {self.address.place} did not answer in time{hint}") from None
        except BaseException:
            line.end()
            raise
        self.version = line.version or self.version
        if line.failure is not None or not line.is_usable:
            line.end()
            raise BrokerUnavailable(self._words(line.failure, connecting=True))
        return line

    def _end_idle(self) -> None:
        """No connection is trusted any more once one has stayed silent: all may be to an engine that is gone."""
        for line in self._idle:
            line.end()
        self._idle.clear()

    def _words(self, error: BaseException | None, *, connecting: bool = False) -> str:
        """What happened, in words that quote nothing of what was sent."""
        return f"the broker {self.address.place} {_about(error, connecting=connecting)}"


@asynccontextmanager
async def open_broker(url: str, prefix: str = PREFIX) -> AsyncIterator[RedisBroker]:
    """The broker at an address (`chat.config.broker_address`), tried once. Names of streams and keys begin with
    `prefix` there.

    Raises OperatorError where it cannot be reached, refuses the password, is too old or does not give the rights.
    """
    failure: Exception | None = None
    async with trio.open_nursery() as nursery:
        try:
            broker = RedisBroker(broker_address(url), prefix, nursery)
            await broker.probe()
            yield broker
        except Exception as error:  # noqa: BLE001 - raised again below, and not within a group
            failure = error
        nursery.cancel_scope.cancel()
    if failure is not None:
        raise failure


def _about(error: BaseException | None, *, connecting: bool) -> str:
    """What kind of failure it is, of the error or of what caused it."""
    causes = list(_causes(error))
    for cause in causes:
        match cause:
            case AuthenticationError():
                return "does not accept user and password"
            case AuthorizationError():
                return "does not let its user use this database" if connecting else "does not let its user do this"
            case UnknownCommandError() | ProtocolError():
                return f"is too old: {TOO_OLD}"
            case BusyLoadingError():
                return "is still loading its data"
            case ReadOnlyError():
                return "is a replica that takes no writes"
            case MovedError():
                return "is part of a cluster: one server by itself is needed"
            case ssl.SSLCertVerificationError():
                return f"shows a certificate that is not trusted: {cause.verify_message}"
            case ssl.SSLError():
                return f"does not speak TLS: {cause.reason or 'the handshake failed'}"
            case socket.gaierror():
                return "has no address: its name is not known"
            case OSError() if cause.errno:
                return f"cannot be reached: {os.strerror(cause.errno)}"
            case InvalidResponse():
                return "does not speak the protocol of Redis"
            case RedisError() if _is_refusal(cause):
                return f"refuses: {str(cause).partition(' ')[0]}"
    return "cannot be reached" if connecting else "was lost"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """The error, what it groups, and what it was raised from."""
    if error is None:
        return
    yield error
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _causes(inner)
    yield from _causes(error.__cause__ or (None if error.__suppress_context__ else error.__context__))


def _is_denial(reply: object) -> bool:
    return isinstance(reply, AuthorizationError)


def _is_refusal(reply: object) -> bool:
    """Whether the engine itself answered so."""
    return isinstance(reply, RedisError) and not isinstance(reply, Lost)


def _trust_of(address: BrokerAddress) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=address.authority)
    except (OSError, ssl.SSLError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "it holds no certificate"
        raise OperatorError(f"cannot trust the certificates of {address.authority}: {reason}") from None


def _milliseconds(seconds: float) -> int:
    """Whole, and never the 0 that means for ever."""
    return max(math.ceil(seconds * 1000), 1)
