"""The gateway as one part: its sockets, its sessions, and how it starts, drains and comes back."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, ClassVar, Protocol

import structlog
import trio

from chat.auth.address_bans import AddressBans
from chat.domain.accounts.assemble import AccountsArea
from chat.domain.administration.instance_configuration import GatewayFigures
from chat.domain.core import Core
from chat.domain.people.assemble import PeopleArea
from chat.domain.presence.assemble import PresenceArea
from chat.domain.presence.presences import Presences
from chat.domain.presence.voice_states import VoiceStates
from chat.domain.standing.assemble import StandingArea
from chat.gateway.admission import Admission, NodeState
from chat.gateway.commands.handler import CommandHandler
from chat.gateway.compressed_connection import CompressedConnection
from chat.gateway.connection import Connection
from chat.gateway.fanout import Fanout
from chat.gateway.guild_payloads import GuildPayloads
from chat.gateway.hub import Hub
from chat.gateway.outbox import OutboxSum
from chat.gateway.parts import GatewayParts
from chat.gateway.retention import at_rest, revived
from chat.gateway.session import GatewaySession, KeptPlace, MakeSession
from chat.gateway.session_table import SessionTable
from chat.gateway.starts import SessionStarts
from chat.gateway.subscriptions import Subscriptions
from chat.gateway.tap import SocketTap
from chat.port.transport import Transport
from chat.port.upgrade import UpgradeRequest
from chat.protocol.commands import ConnectionQuery, parse_connection_query
from chat.registries.close_codes import Close
from chat.registries.limits import OUTBOXES_BYTES, SHUTDOWN_RESUME_MS
from chat.store import retained_sessions
from chat.store.guard import UNGUARDED
from chat.supervision import guarded, lasting

logger = structlog.get_logger(__name__)


class GatewayMount(Protocol):
    """Another way to speak with this gateway, at a version of its own (`chat.compat`)."""

    name: ClassVar[str]
    """The value of `mount` of its sessions."""

    def connection(
        self, request: UpgradeRequest, transport: Transport, parts: GatewayParts
    ) -> tuple[Connection, ConnectionQuery] | None:
        """If the socket asked for this mount: its kind of connection, and its query in our own terms; else None."""
        ...

    def maker(self, host: str | None) -> MakeSession:
        """Makes the sessions of a socket whose upgrade named this host."""
        ...

    def revive(self, session_id: str, **kept: Any) -> GatewaySession:
        """Restore a session that was kept over a restart; as `GatewaySession`, with what `kept_besides` gave."""
        ...


class Gateway:
    """Serves gateway sockets. Use `running` around everything else."""

    mount: GatewayMount | None = None
    """Set it before the gateway runs."""
    placed: Callable[[GatewaySession, KeptPlace], None] | None = None
    """Restores the place of a session that lived at a gateway node before a restart; None if there are no nodes."""

    def __init__(
        self,
        core: Core,
        standing: StandingArea,
        presence: PresenceArea,
        accounts: AccountsArea,
        people: PeopleArea,
        address_bans: AddressBans,
    ) -> None:
        settings = core.settings.gateway
        presences, voice_states = presence.presences, presence.voice_states
        self._core = core
        self._accounts = accounts.account_states
        self.node = NodeState()
        self.table = SessionTable()
        self.fanout = Fanout(lambda: core.bus.causes, self.table.resting)
        self.admission = Admission(
            connections_per_address=settings.connections_per_address,
            identify_budget=settings.identify_budget,
            rate_limited=core.settings.rate_limits,
        )
        subscriptions = Subscriptions()
        guild_payloads = GuildPayloads(core.guild_states, presences, voice_states, standing.thread_lookup)
        self.hub = Hub(
            core.guild_states, presences, voice_states, self.table, self.fanout, subscriptions, guild_payloads
        )
        self.starts = SessionStarts(
            core=core,
            accounts=accounts.account_states,
            presences=presences,
            address_bans=address_bans,
            node=self.node,
            admission=self.admission,
            table=self.table,
            hub=self.hub,
            guild_payloads=guild_payloads,
        )
        self.commands = CommandHandler(
            hub=self.hub,
            subscriptions=subscriptions,
            guild_payloads=guild_payloads,
            bus=core.bus,
            presences=presences,
            voice_states=voice_states,
            rosters=standing.rosters,
            database=core.database,
            clock=core.clock,
            rate_limited=core.settings.rate_limits,
            prepare_call=people.calls.prepare,
        )
        self.connections: dict[Connection, None] = {}
        self.on_closed: Callable[[Close | None], None] = lambda _: None
        """Called with how each socket was closed; None if the peer closed it."""
        self.tap: Callable[[str], SocketTap] | None = None  # to be set before the gateway runs
        self.outboxes = OutboxSum(OUTBOXES_BYTES)
        self._parts: GatewayParts | None = None
        """What all sockets share while the gateway runs."""
        self._last_socket_gone = trio.Event()
        self._follow_sessions(presences, voice_states)
        self.hub.listen(core.bus)

    def _follow_sessions(self, presences: Presences, voice_states: VoiceStates) -> None:
        self.table.on_offline.append(lambda session: presences.session_offline(session.user_id, session.id))
        self.table.on_end += [
            self.hub.disconnect_everywhere,
            lambda session: presences.session_closed(session.user_id, session.id),
            lambda session: voice_states.session_ended(session.id),
            _tell_socket,
        ]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Deliver, keep deadlines and carry out commands while the block lasts."""
        async with trio.open_nursery() as nursery:
            self._parts = GatewayParts(
                admission=self.admission,
                node=self.node,
                table=self.table,
                starts=self.starts,
                fanout=self.fanout,
                commands=self.commands,
                randint=self._core.chance.randint,
                heartbeat_interval_ms=self._core.settings.gateway.heartbeat_interval_ms,
                outboxes=self.outboxes,
                background=nursery,
                tap=self.tap,
            )
            for task in (self.fanout.run, self.table.keep_deadlines, self.commands.run, self.hub.reactions.run):
                nursery.start_soon(lasting, task)
            try:
                yield
            finally:
                nursery.cancel_scope.cancel()
                self._parts = None

    async def serve(self, request: UpgradeRequest, transport: Transport) -> None:
        """Serve one socket whose upgrade request has been read, until it is closed."""
        connection, query = self._connection(request, transport)
        address = request.address
        del request  # its headers need not live as long as the socket
        with self.admission.connection(address) as has_room:
            self.connections[connection] = None
            try:
                await connection.run(query, has_room)
            finally:
                del self.connections[connection]
                self.on_closed(connection.closed_with)
                self._note_last_socket()

    def _connection(self, request: UpgradeRequest, transport: Transport) -> tuple[Connection, ConnectionQuery]:
        parts = self._running_parts()
        mounted = None if self.mount is None else self.mount.connection(request, transport, parts)
        if mounted is not None:
            return mounted
        query = parse_connection_query(request.query_string)
        kind = CompressedConnection if query.compressed else Connection
        return kind(transport, request.address, parts), query

    def _running_parts(self) -> GatewayParts:
        if self._parts is None:
            raise AssertionError("the gateway is not running")
        return self._parts

    def figures(self) -> GatewayFigures:
        """The gateway's figures at this moment."""
        sessions = list(self.table)
        return GatewayFigures(
            connections=len(self.connections),
            sessions=len(sessions),
            attached_sessions=sum(session.receiver is not None for session in sessions),
            bot_sessions=sum(session.bot for session in sessions),
            backlog=self.fanout.backlog(),
        )

    def sessions_in(self, guild_id: int) -> int:
        """How many sessions are connected to a guild."""
        room = self.hub.rooms.get(guild_id)
        return 0 if room is None else len(room.sessions)

    def count_budgets(self, counted: bool) -> None:
        """Switch the budgets of Identifies, payloads and presences on or off (setting `rate_limits`)."""
        self.admission.rate_limited = self.commands.rate_limited = counted
        self.admission.reset()

    # Drain and restart

    def drain(self) -> None:
        """Hold new Identifies; every socket with a session gets Reconnect and closes 4000."""
        self.node.draining = True
        for connection in list(self.connections):
            connection.drain()

    async def finish(self) -> None:
        """Tell all remaining sockets that the process ends, and wait until they are gone."""
        self._note_last_socket()
        for connection in list(self.connections):
            connection.process_ends()
        await self._last_socket_gone.wait()

    def _note_last_socket(self) -> None:
        if self.node.draining and not self.connections:
            self._last_socket_gone.set()

    async def write_down_sessions(self) -> None:
        """Store the sessions that clients may resume after the restart."""
        now = self._core.clock.now_ms()
        self.table.resting.settle()  # for all at once, or each would be numbered alone while it is written down
        sessions, events = at_rest((session for session in self.table if session.starting is None), now)
        await self._core.database.write(
            lambda connection: retained_sessions.store(connection, sessions, events), guard=UNGUARDED
        )
        logger.info("sessions retained", count=len(sessions), events=len(events))

    async def take_up_sessions(self) -> None:
        """Load the sessions that an earlier process stored; each may be resumed for 60,000 ms from now."""
        try:
            sessions, events = await self._core.database.write(retained_sessions.take_all, guard=UNGUARDED)
        except Exception:  # what cannot be read is no reason not to start
            logger.exception("the retained sessions were lost")
            return
        background = self._running_parts().background
        kinds: dict[str, Callable[..., GatewaySession]] = {GatewaySession.mount: GatewaySession}
        if self.mount is not None:
            kinds[self.mount.name] = self.mount.revive
        for session in revived(sessions, events, kinds):
            place, session.place = session.place, None
            if place is not None:
                if self.placed is None:
                    continue  # it was at a node, and there are none any more
                self.placed(session, place.kept())
            self.table.add(session)
            self.table.detach(session, SHUTDOWN_RESUME_MS / 1000)
            try:
                self.hub.take_up(session, self._accounts.guild_ids(session.user_id))
            except Exception:  # a session that cannot be taken up is no reason not to start
                logger.exception("a retained session was lost", user_id=session.user_id)
                self.table.end(session)
            if session.joining_guild_ids and not session.ended:
                background.start_soon(guarded, self.starts.introduce_guilds, session)


def _tell_socket(session: GatewaySession) -> None:
    if session.receiver is not None:
        session.receiver.session_ended()
