"""The entry for every command that needs a session (gateway.md, Order of inbound checks), and the work that commands
keep running.

What is quick is done at once. A request that takes time (opcodes 8, 14, 15 and 16) takes one of its socket's four
places and runs beside the socket, for at most 10,000 ms. What finds no place is dropped, except that the last Request
Guild Members waits for one. When the socket goes, so do its requests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final, TypeVar

import attrs
import structlog
import trio

from chat.bus.bus import Bus, GuildLeft, Turn
from chat.classes import define
from chat.clock import Clock
from chat.domain.presence.account_presence import SessionPresence
from chat.domain.presence.presences import Presences
from chat.domain.presence.voice_states import VoiceStates
from chat.domain.standing.rosters import Rosters
from chat.errors import StorageUnavailable
from chat.gateway.commands.budgets import SocketWork
from chat.gateway.commands.lazy import LazyCommands, PassiveUpdates
from chat.gateway.commands.member_lists import MemberListUpdates, ThreadMemberLists
from chat.gateway.commands.requests import RequestCommands
from chat.gateway.commands.voice import PrepareCall, VoiceCommands, refuse_signal
from chat.gateway.guild_payloads import GuildPayloads
from chat.gateway.hub import Hub
from chat.gateway.session import GatewaySession
from chat.gateway.subscriptions import Subscriptions
from chat.protocol.commands import SessionCommand
from chat.protocol.presence import choose_custom_status, parse_presence_update
from chat.protocol.requests import (
    parse_channel_member_counts,
    parse_guild_counts,
    parse_lazy_request,
    parse_member_request,
)
from chat.registries.close_codes import UNKNOWN_OPCODE, Close
from chat.registries.limits import REQUEST_DEADLINE_MS, REQUESTS_IN_PROGRESS
from chat.registries.opcodes import Opcode
from chat.store.database import Database
from chat.supervision import guarded, lasting

logger = structlog.get_logger(__name__)

REQUESTS_AT_ONCE: Final = 16
"""Requests of all sockets together that are worked on at the same time; others wait, and their deadlines run."""

Request = Callable[[], Awaitable[None]]
R = TypeVar("R")


@define(kw_only=True, eq=False)
class CommandHandler:
    """Carries out the commands of all sessions. `run` must be running for requests that take time."""

    _hub: Hub
    _subscriptions: Subscriptions
    _guild_payloads: GuildPayloads
    _bus: Bus
    _presences: Presences
    _voice_states: VoiceStates
    _rosters: Rosters
    _database: Database
    _clock: Clock
    rate_limited: bool
    """Whether the budgets of presences and of bots' whole lists count; the others always do (development.md,
    Development routes)."""
    _prepare_call: PrepareCall | None = None
    """Begins calls that sessions enter; without it there are none."""
    _lists: MemberListUpdates = attrs.field(init=False)
    _thread_lists: ThreadMemberLists = attrs.field(init=False)
    _passive_updates: PassiveUpdates = attrs.field(init=False)
    _voice: VoiceCommands = attrs.field(init=False)
    _requests: RequestCommands = attrs.field(init=False)
    _lazy: LazyCommands = attrs.field(init=False)
    _work: dict[GatewaySession, SocketWork] = attrs.field(factory=dict, init=False)
    _at_once: trio.CapacityLimiter = attrs.field(factory=lambda: trio.CapacityLimiter(REQUESTS_AT_ONCE), init=False)
    _nursery: trio.Nursery | None = attrs.field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        hub, subscriptions, presences = self._hub, self._subscriptions, self._presences
        threads = self._guild_payloads.threads
        self._lists = MemberListUpdates(hub, subscriptions, presences, self._rosters, self._database, self._bus)
        self._passive_updates = PassiveUpdates(hub, self._bus, self._voice_states)
        self._voice = VoiceCommands(self._voice_states, self._start_soon, self._prepare_call)
        self._requests = RequestCommands(
            hub, presences, self._rosters, self._database, threads, lambda: self.rate_limited
        )
        self._thread_lists = ThreadMemberLists(hub, subscriptions, threads, presences, self._bus)
        self._lazy = LazyCommands(hub, subscriptions, self._guild_payloads, presences, self._lists, self._thread_lists)
        self._bus.subscribe(GuildLeft, self._member_left, Turn.DELIVERY)

    # Commands

    def handle(self, session: GatewaySession, command: SessionCommand) -> Close | None:
        """Carry out a command of the socket that holds the session, or start to; returns how it closes the socket."""
        work = self._work.get(session)
        if work is None:
            work = self._work[session] = SocketWork()
        d = command.d
        match command.opcode:
            case Opcode.PRESENCE_UPDATE:
                return self._select_presence(session, work, d)
            case Opcode.VOICE_STATE_UPDATE:
                self._voice.handle(session, work, d)
            case Opcode.VOICE_SIGNAL:
                refuse_signal(session)
            case Opcode.REQUEST_GUILD_MEMBERS:
                self._request_members(session, work, d)
            case Opcode.LAZY_REQUEST:
                self._request_lazily(session, work, d)
            case Opcode.REQUEST_GUILD_COUNTS:
                self._ask(session, work, self._requests.count_guilds, parse_guild_counts(d))
            case Opcode.REQUEST_CHANNEL_MEMBER_COUNTS:
                self._ask(session, work, self._requests.count_channel_members, parse_channel_member_counts(d))
            case Opcode.REQUEST_FORUM_UNREADS:
                return self._requests.count_forum_unreads(session, work, d)
            case _:
                return UNKNOWN_OPCODE
        return None

    def socket_closed(self, session: GatewaySession) -> None:
        """The socket no longer holds the session: forget its budgets and abandon its requests."""
        work = self._work.pop(session, None)
        if work is not None:
            work.close()

    def forget(self) -> None:
        """Forget which bot had which whole list, which outlives sockets (`/v1/_dev/reset`)."""
        self._requests.full_lists.forget()

    def session_resumed(self, session: GatewaySession) -> None:
        """A socket took the session up again: its presence counts as it was selected last, and the member lists that
        it watches, which no replay brings, are shown afresh, those of threads too."""
        self._presences.session_selected(session.user_id, session.id, session.presence)
        for key in self._subscriptions.lists_of(session):
            self._start_soon(self._answer, partial(self._lists.show, session, key))
        for guild_id in session.guild_ids:
            interest = self._subscriptions.interest(session, guild_id)
            for thread_id in () if interest is None else interest.thread_member_lists:
                self._start_soon(self._answer, partial(self._thread_lists.show, session, guild_id, thread_id))

    def _select_presence(self, session: GatewaySession, work: SocketWork, d: Any) -> Close | None:
        """Presence Update: a payload without a known status closes the socket, a valid one beyond the budget is
        dropped. The status that the account has saved stays."""
        update = parse_presence_update(d)
        if isinstance(update, Close):
            return update
        if not self.rate_limited or work.presences.spend():
            custom_status = choose_custom_status(
                update.custom_status, session.presence.custom_status, self._clock.now_ms()
            )
            session.presence = SessionPresence(update.status, update.afk, update.mobile, custom_status)
            self._presences.session_selected(session.user_id, session.id, session.presence)
        return None

    def _request_members(self, session: GatewaySession, work: SocketWork, d: Any) -> None:
        request = parse_member_request(d, session.bot)
        if not self._ask(session, work, self._requests.send_members, request):
            work.members_pending = request

    def _request_lazily(self, session: GatewaySession, work: SocketWork, d: Any) -> None:
        request = parse_lazy_request(d)
        if request is not None and self._request(session, work, partial(self._apply_lazily, session, work)):
            work.lazy_waiting.append(request)

    async def _apply_lazily(self, session: GatewaySession, work: SocketWork) -> None:
        # Tasks start in any order: the first to have its turn applies all that wait, in the order in which they came.
        async with work.lazy_turn:
            while work.lazy_waiting:
                await self._lazy.apply(session, work.lazy_waiting.popleft())

    # Requests that take time

    def _ask(
        self,
        session: GatewaySession,
        work: SocketWork,
        answer: Callable[[GatewaySession, R], Awaitable[None]],
        request: R | None,
    ) -> bool:
        """Start to answer a request, unless it was malformed; returns False if the socket has no place for it."""
        return request is None or self._request(session, work, partial(answer, session, request))

    def _request(self, session: GatewaySession, work: SocketWork, request: Request) -> bool:
        """Start a request if the socket has a place for it; returns whether it had."""
        if len(work.scopes) >= REQUESTS_IN_PROGRESS:
            return False
        if self._nursery is None:
            return True  # the program is about to end: the answer is not waited for
        scope = trio.CancelScope(deadline=trio.current_time() + REQUEST_DEADLINE_MS / 1000)
        work.scopes.add(scope)
        self._start_soon(self._run_request, session, work, request, scope)
        return True

    async def _run_request(
        self, session: GatewaySession, work: SocketWork, request: Request, scope: trio.CancelScope
    ) -> None:
        try:
            with scope:
                await self._answer(request)
        finally:
            work.scopes.discard(scope)
        pending = work.members_pending
        if pending is not None:
            work.members_pending = None
            self._request(session, work, partial(self._requests.send_members, session, pending))

    async def _answer(self, request: Request) -> None:
        try:
            async with self._at_once:
                await request()
        except StorageUnavailable:
            logger.warning("request abandoned: the store is unavailable")
        except Exception:  # a defect met by one request; raised from here it would end every session of the process
            logger.exception("request abandoned")

    def _start_soon(self, task: Callable[..., Awaitable[None]], *arguments: Any) -> None:
        if self._nursery is not None:
            self._nursery.start_soon(guarded, task, *arguments)

    # The bus and the background

    def _member_left(self, signal: GuildLeft) -> None:
        """Stop all sessions in the guild from watching an account that left it."""
        self._subscriptions.member_left(signal.guild_id, signal.user_id)

    async def run(self) -> None:
        """Hold the requests of all sockets, and keep lists, passive sessions and custom statuses up to date; runs
        until cancelled."""
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            try:
                nursery.start_soon(lasting, self._lists.run)
                nursery.start_soon(lasting, self._thread_lists.run)
                nursery.start_soon(lasting, self._passive_updates.run)
                nursery.start_soon(lasting, self._presences.expire_custom_statuses)
                await trio.sleep_forever()
            finally:
                self._nursery = None
