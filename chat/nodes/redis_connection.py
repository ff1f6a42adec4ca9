"""A connection to Redis or Valkey: commands go out together, answers come back in order.

coredis parses the answers. Its own connection has tasks and queues around each exchange, which cost two to three times
the processor time; nothing of them is used.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import ssl
from collections.abc import Iterator, Sequence
from typing import Any, Final

import trio

from chat.config.broker_address import BrokerAddress
from chat.errors import OperatorError

try:
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
    from coredis.exceptions import ConnectionError as ConnectionLost
    from coredis.parser import NotEnoughData, Parser
except ModuleNotFoundError:
    raise OperatorError("gateway nodes need coredis, which comes with chat[nodes]: install that") from None

Command = tuple[bytes | str | int, ...]
"""The name of a command and its arguments."""

RECEIVE_BYTES: Final = 262_144

TOO_OLD: Final = "6.2 or newer is needed"

FAILURES: Final = (RedisError, OSError, trio.BrokenResourceError, trio.ClosedResourceError)
"""The exceptions that opening a connection and an exchange may raise."""


class RedisConnection:
    """One connection, for one exchange at a time."""

    def __init__(self, stream: trio.abc.Stream, below: trio.socket.SocketType) -> None:
        self._stream = stream
        self._socket = below
        self._parser = Parser()
        self._readable = select.poll()
        self._readable.register(below.fileno(), select.POLLIN)
        self.version = ""
        """The engine's version, as it says on connecting."""

    @classmethod
    async def open(cls, address: BrokerAddress, trust: ssl.SSLContext | None) -> RedisConnection:
        """Connect, sign in and choose the database. Raises OSError, trio.BrokenResourceError, and RedisError with the
        engine's refusal."""
        plain = await trio.open_tcp_stream(address.host, address.port)
        stream: trio.abc.Stream = plain
        try:
            if trust is not None:
                stream = secure = trio.SSLStream(plain, trust, server_hostname=address.host, https_compatible=True)
                await secure.do_handshake()
            connection = cls(stream, plain.socket)
            await connection._shake_hands(address)
        except BaseException:
            plain.socket.close()
            raise
        return connection

    async def _shake_hands(self, address: BrokerAddress) -> None:
        signing_in: Command = ()
        if address.user or address.password:
            signing_in = ("AUTH", address.user or "default", address.password or "")
        chosen: list[Command] = [("SELECT", address.database)] if address.database else []
        told, *others = await self.exchange([("HELLO", 3, *signing_in), *chosen])
        for answer in (told, *others):
            if isinstance(answer, Exception):
                raise answer
        if not isinstance(told, dict):
            raise InvalidResponse("no greeting")
        self.version = told.get(b"version", b"").decode("ascii", "replace")

    async def exchange(self, commands: Sequence[Command]) -> list[Any]:
        """The answers to commands, in their order; refusals are among them, as RedisError. Raises ConnectionLost and
        InvalidResponse, and trio.ClosedResourceError; after any of them, and when cancelled, the connection must be
        closed."""
        with contextlib.suppress(trio.BrokenResourceError):  # the engine may have said why before it hung up
            await self._stream.send_all(b"".join(map(_packed, commands)))
        answers: list[Any] = []
        while len(answers) < len(commands):
            answer = self._next_answer()
            if not isinstance(answer, NotEnoughData):
                answers.append(answer[1])
                continue
            try:
                data = await self._stream.receive_some(RECEIVE_BYTES)
            except trio.BrokenResourceError:
                data = b""
            if not data:
                raise ConnectionLost("the engine hung up")
            self._parser.feed(bytes(data))
        return answers

    def _next_answer(self) -> Any:
        try:
            return self._parser.parse()
        except (ValueError, RedisError):
            raise InvalidResponse("not the protocol of Redis") from None

    @property
    def is_usable(self) -> bool:
        """Whether the engine has kept the connection open between two exchanges and sent nothing."""
        return not self._readable.poll(0)

    def close(self) -> None:
        """Close it at once; an exchange that runs ends with trio.ClosedResourceError."""
        self._socket.close()


def _packed(command: Command) -> bytes:
    parts = [b"*%d\r\n" % len(command)]
    for argument in command:
        data = argument if isinstance(argument, bytes) else str(argument).encode()
        parts += (b"$%d\r\n" % len(data), data, b"\r\n")
    return b"".join(parts)


def about(error: BaseException | None, *, connecting: bool) -> str:
    """What kind of failure it is, of the error or of what caused it, in words that quote nothing of what was sent."""
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
            case ConnectionLost():
                continue
            case RedisError():
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


def is_denial(reply: object) -> bool:
    return isinstance(reply, AuthorizationError)


def is_refusal(reply: object) -> bool:
    """Whether the error is an answer of the engine."""
    return isinstance(reply, RedisError)
