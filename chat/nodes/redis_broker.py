"""The broker on Redis or Valkey.

Each call has a connection of its own while it lasts: calls of one task take effect in their order, a read that waits
holds up no other call, and what is cancelled or late ends its connection and nothing else. Connections are used again.
What the engine says of an error may quote what was sent to it, passwords included: only its kind is told.
"""

from __future__ import annotations

import contextlib
import math
import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

import structlog
import trio

from chat.config.broker_address import BrokerAddress, broker_address
from chat.errors import OperatorError
from chat.nodes.broker import BEGINNING, COMMAND_SECONDS, CONNECT_SECONDS, READ_BYTES, BrokerUnavailable
from chat.nodes.redis_connection import FAILURES, TOO_OLD, Command, RedisConnection, about, is_denial, is_refusal

logger = structlog.get_logger(__name__)

PREFIX: Final = "chat:"
"""The beginning of all names of streams and keys, unless another is given."""

CALLS_AT_ONCE: Final = 32
"""Connections for calls that do not wait; more calls queue, within their time limit."""

FIRST_ENTRIES: Final = 8
"""How many entries the first read of a stream asks for, while their size is unknown."""

COMPLAINT_SECONDS: Final = 60.0
"""Seconds between two log lines about refusals of the engine, at least."""

OLDEST_VERSION: Final = (6, 2)
"""The first version that has `XADD ... MINID`."""

COMMANDS: Final = ("eval", "get", "mget", "pexpire", "set", "unlink", "xadd", "xread", "xrevrange")
"""The commands that the user at the broker must be allowed."""

CLAIM: Final = """\
local held = redis.call('GET', KEYS[1])
if held and held ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
"""


class RedisBroker:
    """A `chat.nodes.broker.Broker`. `version` is the engine's, known after the first call."""

    def __init__(self, address: BrokerAddress, prefix: str) -> None:
        self.address = address
        self.version = ""
        self._prefix = prefix
        self._trust = _trust_of(address) if address.tls else None
        self._idle: list[RedisConnection] = []
        self._at_once = trio.Semaphore(CALLS_AT_ONCE)
        self._serves: bool | None = None
        """Whether the last call reached the engine; None before the first call that did."""
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
        """From time to time, the commands that let a stream expire some time after its last entry."""
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
        """A setting of the engine; empty if it has no setting of that name."""
        [found] = await self._call(("CONFIG", "GET", name))
        return next(iter(found.values()), b"").decode()

    async def keeps_on_disk(self) -> bool | None:
        """Whether the engine writes its data to a disk, as far as the user may ask; None if it does not say."""
        with contextlib.suppress(BrokerUnavailable):
            return await self.configured("save") != "" or await self.configured("appendonly") == "yes"
        try:
            [told] = await self._call(("INFO", "persistence"))
        except BrokerUnavailable:
            return None
        lines = bytes(told).decode("utf-8", "replace").split()
        return "aof_enabled:1" in lines or any(line.startswith("rdb_saves:") and line[10:] != "0" for line in lines)

    async def probe(self) -> None:
        """Try everything that the server needs. Raises OperatorError for anything that a person has to fix."""
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
        refused = {trial[0]: reply for trial, reply in zip(trials, replies, strict=True) if is_refusal(reply)}
        self._require_rights({str(name).lower(): str(reply) for name, reply in refused.items() if is_denial(reply)})
        for reply in refused.values():
            raise OperatorError(self._words(reply))

    def _require_version(self) -> None:
        numbers = tuple(int(part) for part in self.version.split(".")[:2] if part.isdigit())
        if numbers < OLDEST_VERSION:
            raise OperatorError(f"the broker {self.address.place} is of version {self.version}: {TOO_OLD}")

    def _require_rights(self, denied: Mapping[str, str]) -> None:
        """Raise for commands that are denied; the error quotes the engine's words for each."""
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
        """The answers to commands that are sent together. With `refusals` the engine's refusals are among them;
        otherwise the first is raised as BrokerUnavailable, like every other failure."""
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
            if is_refusal(reply) and not refusals:
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
                    connection = self._kept() or await self._opened()
                    limit.deadline = trio.current_time() + COMMAND_SECONDS + wait_seconds
                    return await self._exchange(connection, commands)
        except trio.TooSlowError:
            self.close()  # no connection is trusted any more: all may be to an engine that is gone
            raise BrokerUnavailable(f"the broker {self.address.place} did not answer in time") from None

    async def _exchange(self, connection: RedisConnection, commands: Sequence[Command]) -> list[Any]:
        replies: list[Any] = []
        try:
            replies = await connection.exchange(commands)
        except FAILURES as error:
            raise BrokerUnavailable(self._words(error)) from None
        finally:
            # One that is not whole, or whose engine does not do its work (any more), is not used again.
            if replies and not any(isinstance(reply, Exception) for reply in replies):
                self._idle.append(connection)
            else:
                connection.close()
        return replies

    def _kept(self) -> RedisConnection | None:
        while self._idle:
            connection = self._idle.pop()
            if connection.is_usable:
                return connection
            connection.close()
        return None

    async def _opened(self) -> RedisConnection:
        try:
            with trio.fail_after(CONNECT_SECONDS):
                connection = await RedisConnection.open(self.address, self._trust)
        except trio.TooSlowError:
            hint = ": does it speak TLS?" if self._trust else ""
            raise BrokerUnavailable(f"the broker {self.address.place} did not answer in time{hint}") from None
        except FAILURES as error:
            raise BrokerUnavailable(self._words(error, connecting=True)) from None
        self.version = connection.version
        self._expires_anew.clear()  # the engine may be one that has forgotten
        return connection

    def close(self) -> None:
        """Close the connections that no call uses."""
        for connection in self._idle:
            connection.close()
        self._idle.clear()

    def _words(self, error: BaseException | None, *, connecting: bool = False) -> str:
        """What happened, in words that quote nothing that was sent."""
        return f"the broker {self.address.place} {about(error, connecting=connecting)}"


@asynccontextmanager
async def open_broker(url: str, prefix: str = PREFIX) -> AsyncIterator[RedisBroker]:
    """The broker at an address (`chat.config.broker_address`), tried once. Names of streams and keys begin with
    `prefix` there.

    Raises OperatorError where it cannot be reached, refuses the password, is too old or does not give the rights.
    """
    broker = RedisBroker(broker_address(url), prefix)
    try:
        await broker.probe()
        yield broker
    finally:
        broker.close()


def _trust_of(address: BrokerAddress) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=address.authority)
    except (OSError, ssl.SSLError) as error:
        reason = "it holds no certificate" if isinstance(error, ssl.SSLError) else error.strerror
        raise OperatorError(f"cannot trust the certificates of {address.authority}: {reason}") from None


def _milliseconds(seconds: float) -> int:
    """Seconds as whole milliseconds; never 0, which the engine takes for "for ever"."""
    return max(math.ceil(seconds * 1000), 1)
