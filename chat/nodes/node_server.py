"""A gateway node as a server: its port, its lives, and what it answers over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from random import Random
from typing import Final

import attrs
import structlog
import trio

from chat import __version__
from chat.auth.client_address import ClientAddresses, ConnectionCounts
from chat.classes import define
from chat.errors import ApiError, OperatorError
from chat.nodes.broker import Broker, BrokerUnavailable
from chat.nodes.messages import PROTOCOL, UnnamedProxy, Welcome
from chat.nodes.node import CONNECTIONS_PER_ADDRESS, Fenced, Node
from chat.nodes.refusals import LOOK_SECONDS, RefusalsAtNode
from chat.port import request_head
from chat.port.listener import RETRY, Listener, Port, answer_once
from chat.port.transport import Transport
from chat.port.upgrade import UpgradeRequest
from chat.registries.error_codes import ErrorCode
from chat.supervision import lasting

ID_BITS: Final = 64

logger = structlog.get_logger(__name__)


@define(eq=False)
class NodeServer:
    """Runs a node on a port. If the core took it for dead, it goes on under another name."""

    _broker: Broker
    _name: str
    _chance: Random
    _measure: Callable[[], tuple[float, int]] | None = None
    node: Node = attrs.field(init=False)
    port: Port = attrs.field(init=False)
    over: trio.Event = attrs.field(factory=trio.Event, init=False)
    """Set when the node has drained, because its core asked or `drain` did."""
    _addresses: ClientAddresses = attrs.field(factory=ClientAddresses, init=False)
    _refusals: RefusalsAtNode = attrs.field(factory=RefusalsAtNode, init=False)
    _half_sent: ConnectionCounts = attrs.field(factory=lambda: ConnectionCounts(CONNECTIONS_PER_ADDRESS), init=False)
    """Connections by address that are not the gateway's (yet)."""
    _knows_proxies: bool = attrs.field(default=False, init=False)
    _mounts: tuple[str, ...] = attrs.field(default=(), init=False)
    _refused_by: Welcome | None = attrs.field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        self.node = self._new_life()
        self._addresses.on_unnamed = self._tell_of_proxy

    def _new_life(self) -> Node:
        node = Node(self._broker, f"{self._chance.getrandbits(ID_BITS):016x}", self._name, self._chance.randint)
        if self._measure is not None:
            node.measure = self._measure
        node.on_welcome, node.mounts = self._heed, self._mounts
        return node

    def _heed(self, welcome: Welcome) -> bool:
        if abs(welcome.protocol - PROTOCOL) > 1:
            self._refused_by = welcome
            self.node.drain()
            return False
        self._addresses.trust(welcome.trusted_proxies, test_header=welcome.names_addresses)
        self._half_sent.limit = welcome.connections_per_address
        for address in self._addresses.unnamed:
            self._tell_of_proxy(address)
        self._mounts = self.node.mounts = welcome.mounts
        self._knows_proxies = True
        return True

    def _tell_of_proxy(self, address: str) -> None:
        """Report the header of a proxy to the core, which counts such failures and tells its operator."""
        self.node.say(UnnamedProxy(address))

    def _refuse(self, address: str, by_unnamed_proxy: bool) -> None:
        """Refuse a socket from a banned network, and every socket until a core has said which proxies are trusted:
        before that, a socket would count under its proxy's address."""
        if not self._knows_proxies:
            raise ApiError(
                ErrorCode.SERVICE_UNAVAILABLE, "This gateway node has not reached its core yet.", headers=RETRY
            )
        self._refusals.refuse(address, by_unnamed_proxy)

    @asynccontextmanager
    async def running(self, listeners: Sequence[Listener], *, maximum_connections: int) -> AsyncIterator[None]:
        """Serve on the listeners while the block lasts; leaving it closes everything at once.

        Raises OperatorError (in a group) where the core's version is too far from this one.
        """
        self.port = Port(
            listeners,
            gateway=self._serve,
            http=self,
            addresses=self._addresses,
            refuse=self._refuse,
            maximum_connections=maximum_connections,
            greets=True,
            per_address=self._half_sent,
        )
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.port.serve)
            nursery.start_soon(self._live)
            nursery.start_soon(lasting, self._follow_refusals)
            yield
            nursery.cancel_scope.cancel()

    async def _follow_refusals(self) -> None:
        while True:
            with suppress(BrokerUnavailable):
                await self._refusals.look(self._broker)
            await trio.sleep(LOOK_SECONDS)

    async def _live(self) -> None:
        while True:
            try:
                await self.node.run()
            except* Fenced:
                logger.warning("the core took this node for dead", name=self._name)
                self.node.end_sockets()
            if self.node.drain_asked.is_set():
                self._require_accepted()
                self.over.set()
                return
            self.node = self._new_life()

    def _require_accepted(self) -> None:
        core = self._refused_by
        if core is not None:
            raise OperatorError(
                f"the core has version {core.version} (protocol {core.protocol}), this node {__version__} (protocol "
                f"{PROTOCOL}): they may be one protocol apart; bring this node to the version of the core"
            )

    def _serve(self, request: UpgradeRequest, transport: Transport) -> Awaitable[None]:
        return self.node.serve(request, transport)  # which lets go of the request before it waits

    async def finish(self, seconds: float) -> None:
        """Send every session elsewhere, and end."""
        self.node.drain()
        await self.over.wait()
        await self.port.drain(seconds)

    # HTTP

    async def drain(self) -> None:
        """Nothing to wait for: each connection has one request, which is answered at once."""

    async def serve(self, connection: Transport) -> bool:
        """Answer one request: a node serves the gateway and its health, and nothing else."""
        await answer_once(connection, self._answer)
        return False

    def _answer(self, path: bytes) -> bytes:
        if path == b"/_health":
            return request_head.answer(200, {"status": "ok"})
        if path == b"/_ready":
            if self.node.is_up:
                return request_head.answer(200, {"status": "ready"})
            return request_head.answer(503, {"status": "waiting", "reason": "core or broker is not reachable"}, RETRY)
        return request_head.refusal(404, ErrorCode.NOT_FOUND, "This is a gateway node: it has /gateway only.")
