"""The gateway as one part: its sockets, its sessions, and how it starts, drains and comes back."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager

import attrs
import structlog
import trio

from chat.auth.principal import Principal
from chat.bus.bus import Bus
from chat.domain.administration.instance_figures import GatewayFigures
from chat.domain.presence.presences import Presences
from chat.domain.presence.voice_states import VoiceStates
from chat.domain.standing.guild_states import GuildStates
from chat.gateway.admission import Admission
from chat.gateway.commands.handler import CommandHandler
from chat.gateway.compressed_connection import CompressedConnection
from chat.gateway.connection import Connection
from chat.gateway.fanout import Fanout
from chat.gateway.guild_payloads import GuildPayloads, ThreadsShown
from chat.gateway.hub import Hub
from chat.gateway.node import NodeState
from chat.gateway.outbox import OutboxSum
from chat.gateway.parts import GatewayParts
from chat.gateway.ready import AccountState, ReadyPayloads
from chat.gateway.session import GatewaySession
from chat.gateway.session_table import SessionTable
from chat.gateway.starts import SessionStarts, StartLimits
from chat.gateway.subscriptions import Subscriptions
from chat.port.transport import Transport
from chat.port.upgrade import UpgradeRequest
from chat.protocol.query import parse_connection_query
from chat.registries.close_codes import Close
from chat.registries.limits import OUTBOXES_BYTES
from chat.supervision import guarded, lasting

logger = structlog.get_logger(__name__)


@attrs.frozen(kw_only=True)
class GatewaySettings:
    """What an operator or a test may choose (settings.md, Every setting)."""

    heartbeat_interval_ms: int
    identify_budget: int
    connections_per_address: int
    sessions_per_user: int
    bot_shard_guild_ceiling: int
    rate_limited: bool


class Gateway:
    """Serves gateway sockets. Use `running` around everything else."""

    def __init__(
        self,
        settings: GatewaySettings,
        *,
        bus: Bus,
        guild_states: GuildStates,
        presences: Presences,
        voice_states: VoiceStates,
        accounts: AccountState,
        resolve_token: Callable[[str], Principal | None],
        note_failure: Callable[[str], None],
        storage_failing: Callable[[], bool],
        random_hex: Callable[[int], str],
        random_between: Callable[[int, int], int],
        make_commands: Callable[[Hub, Subscriptions, GuildPayloads], CommandHandler],
        threads_shown: ThreadsShown | None = None,
    ) -> None:
        self.settings = settings
        self.node = NodeState()
        self.table = SessionTable()
        self.fanout = Fanout(lambda: bus.causes)
        self.admission = Admission(
            connections_per_address=settings.connections_per_address,
            identify_budget=settings.identify_budget,
            rate_limited=settings.rate_limited,
        )
        self.subscriptions = Subscriptions()
        guild_payloads = GuildPayloads(guild_states, presences, voice_states, threads_shown)
        self.hub = Hub(
            guild_states, presences, voice_states, self.table, self.fanout, self.subscriptions, guild_payloads
        )
        self.starts = SessionStarts(
            limits=StartLimits(settings.sessions_per_user, settings.bot_shard_guild_ceiling),
            node=self.node,
            admission=self.admission,
            table=self.table,
            hub=self.hub,
            ready=ReadyPayloads(accounts, guild_payloads, presences),
            guild_payloads=guild_payloads,
            resolve_token=resolve_token,
            note_failure=note_failure,
            random_hex=random_hex,
            storage_failing=storage_failing,
        )
        self.commands = make_commands(self.hub, self.subscriptions, guild_payloads)
        self.connections: dict[Connection, None] = {}
        self.on_closed: Callable[[Close | None], None] = lambda _: None
        """Hears how each socket was ended; None where the peer did it."""
        self.outboxes = OutboxSum(OUTBOXES_BYTES)
        self._random_between = random_between
        self._background: trio.Nursery | None = None
        self._last_socket_gone = trio.Event()
        self.table.on_offline.append(lambda session: presences.session_offline(session.user_id, session.id))
        self.table.on_end += [
            self.hub.disconnect_everywhere,
            lambda session: presences.session_closed(session.user_id, session.id),
            lambda session: voice_states.session_ended(session.id),
            _tell_socket,
        ]
        self.hub.listen(bus)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Deliver, keep deadlines and carry out commands while the block lasts."""
        async with trio.open_nursery() as nursery:
            self._background = nursery
            for task in (self.fanout.run, self.table.keep_deadlines, self.commands.run, self.hub.reactions.run):
                nursery.start_soon(lasting, task)
            try:
                yield
            finally:
                nursery.cancel_scope.cancel()
                self._background = None

    async def serve(self, request: UpgradeRequest, transport: Transport) -> None:
        """Serve one socket whose upgrade request has been read, until it is closed."""
        if self._background is None:
            raise AssertionError("the gateway is not running")
        query, address = parse_connection_query(request.query_string), request.address
        del request  # its headers need not live as long as the socket
        kind = CompressedConnection if query.compressed else Connection
        connection = kind(
            transport,
            address,
            GatewayParts(
                admission=self.admission,
                node=self.node,
                table=self.table,
                starts=self.starts,
                fanout=self.fanout,
                commands=self.commands,
                retry_delay_ms=self._random_between,
                heartbeat_interval_ms=self.settings.heartbeat_interval_ms,
                rate_limited=self.settings.rate_limited,
                outboxes=self.outboxes,
                background=self._background,
            ),
        )
        with self.admission.connection(address) as has_room:
            self.connections[connection] = None
            try:
                await connection.run(query, has_room)
            finally:
                del self.connections[connection]
                self.on_closed(connection.closed_with)
                self._note_last_socket()

    # Drain and restart

    def figures(self) -> GatewayFigures:
        """What is in hand at this moment."""
        sessions = list(self.table)
        return GatewayFigures(
            connections=len(self.connections),
            sessions=len(sessions),
            attached_sessions=sum(session.receiver is not None for session in sessions),
            bot_sessions=sum(session.bot for session in sessions),
            backlog=self.hub.backlog(),
        )

    def sessions_in(self, guild_id: int) -> int:
        """How many sessions hear a guild."""
        room = self.hub.rooms.get(guild_id)
        return 0 if room is None else len(room.sessions)

    def drain(self) -> None:
        """Hold new Identifies; every socket with a session gets Reconnect and closes 4000."""
        self.node.draining = True
        for connection in list(self.connections):
            connection.drain()

    async def finish(self) -> None:
        """Tell the sockets that are left that the process ends, and wait until they are gone."""
        self._note_last_socket()
        for connection in list(self.connections):
            connection.process_ends()
        await self._last_socket_gone.wait()

    def _note_last_socket(self) -> None:
        if self.node.draining and not self.connections:
            self._last_socket_gone.set()

    def adopt(self, sessions: Iterable[GatewaySession], guild_ids: Callable[[int], Iterable[int]]) -> None:
        """Take over sessions that an earlier process retained; each has its 60,000 ms from now."""
        if self._background is None:
            raise AssertionError("the gateway is not running")
        for session in sessions:
            self.table.add(session)
            self.table.detach(session)
            try:
                self.hub.take_up(session, guild_ids(session.user_id))
            except Exception:  # a session that cannot be taken up is no reason not to start
                logger.exception("a retained session was lost", user_id=session.user_id)
                self.table.end(session)
            if session.joining_guild_ids and not session.ended:
                self._background.start_soon(guarded, self.starts.introduce_guilds, session)


def _tell_socket(session: GatewaySession) -> None:
    if session.receiver is not None:
        session.receiver.session_ended()
