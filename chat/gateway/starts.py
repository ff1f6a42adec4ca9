"""Session creation for Identify, with its Ready, and finding a session for Resume (gateway.md, States; gateway.md,
Ready).

A start runs in steps with turns of the loop between them, so that a thousand logins do not stop everybody else. From
the first step on the session collects what its guilds say; Ready goes out first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import attrs
import orjson
import structlog
import trio

from chat import wire
from chat.auth.address_bans import AddressBans
from chat.auth.credentials import resolve_gateway_token
from chat.auth.principal import Principal
from chat.auth.tokens import TokenDigest
from chat.classes import define
from chat.domain.accounts.account_states import AccountStates
from chat.domain.core import Core
from chat.domain.presence.account_presence import initial_presence
from chat.domain.presence.presences import Known, Presences
from chat.domain.standing.guild_json import GuildJson, OwnGuild, own_rest
from chat.domain.standing.user_objects import partial_user
from chat.errors import StorageUnavailable
from chat.gateway.admission import Admission, NodeState
from chat.gateway.guild_payloads import GuildPayloads
from chat.gateway.hub import Hub, outgoing
from chat.gateway.parts import Elsewhere, ResumeFailure, StartFailure, judged
from chat.gateway.session import BeginSession, GatewaySession, MakeSession
from chat.gateway.session_table import SessionTable
from chat.protocol import machine
from chat.protocol.commands import Identify, Resume
from chat.protocol.frames import OutgoingEvent
from chat.registries import close_codes
from chat.registries.events import EventName
from chat.registries.limits import PRESENCE_HOLD_MS, SESSION_ID_CHARACTERS, SESSION_STARTS_IN_PROGRESS
from chat.store.accounts.accounts import Account

logger = structlog.get_logger(__name__)

START_SECONDS: Final = PRESENCE_HOLD_MS / 1000
"""A start that takes longer is a temporary failure: the Identify is held, and what was held back for the session goes
with it."""

STARTS_AT_ONCE: Final = 8
"""Starts that are worked on at the same time; each takes turns with the others and with deliveries."""

BURST_PAUSE_BYTES: Final = 1_048_576
"""A bot's burst of Guild Creates waits while its socket has more than this unsent."""

READY_VERSION: Final = 1

GUILDS_PER_TURN: Final = 256
"""Guilds that a session enters before other tasks get a turn: one or two milliseconds."""

COLD_GUILD: Final = 64
"""A guild without a session counts as this many of GUILDS_PER_TURN: it may have to be loaded from the store."""


@define(kw_only=True, eq=False)
class SessionStarts:
    _core: Core
    _accounts: AccountStates
    _presences: Presences
    _address_bans: AddressBans
    _node: NodeState
    _admission: Admission
    _table: SessionTable
    _hub: Hub
    _guild_payloads: GuildPayloads
    elsewhere: Callable[[GatewaySession, int], Elsewhere | None] = attrs.field(default=lambda *_: None, init=False)
    """How to fetch a session that lives at a gateway node; None for a session that is here."""
    turns: trio.CapacityLimiter = attrs.field(factory=lambda: trio.CapacityLimiter(STARTS_AT_ONCE), init=False)
    _in_progress: int = attrs.field(default=0, init=False)
    """How many starts run or wait for their turn."""

    # Identify

    async def start(
        self,
        identify: Identify,
        address: str,
        make: MakeSession,
        begin: BeginSession,
        *,
        retried: bool,
        token: TokenDigest | None = None,
    ) -> StartFailure | None:
        """Create the session that an Identify asks for.

        `begin` gets the session, still `starting`, with its guilds connected; returned is why there is none, for the
        machine. `make` makes it. `retried` marks an Identify that was held, which spends no more of the address's
        budget. `token` stands for the Identify's, where that stayed at a node.
        """
        try:
            token = token or TokenDigest.of(identify.token)
            outcome = await self._start(identify, token, address, make, retried=retried)
        except StorageUnavailable:
            logger.warning("session not started: the store is unavailable")
            outcome = machine.StartRefused(close_codes.FAILED_TO_START_SESSION)
        except Exception:  # a damaged row, for one: what is stored of an account may fail it, and no other one
            logger.exception("session not started")
            outcome = machine.StartRefused(close_codes.FAILED_TO_START_SESSION)
        if not isinstance(outcome, GatewaySession):
            return outcome
        begin(outcome)
        return None

    async def _start(
        self, identify: Identify, token: TokenDigest, address: str, make: MakeSession, *, retried: bool
    ) -> GatewaySession | StartFailure:
        if not retried and not self._admission.may_identify(address):
            return machine.StartDiscarded()
        if self._node.holds_every_identify or self._node.rpc_failing or self._in_progress >= SESSION_STARTS_IN_PROGRESS:
            return machine.StartPostponed()
        if self._core.database.failing:
            return machine.StartRefused(close_codes.FAILED_TO_START_SESSION)
        self._in_progress += 1
        try:
            with trio.move_on_after(START_SECONDS):
                async with self.turns:
                    return await self._in_turn(identify, token, address, make)
            return machine.StartPostponed()
        finally:
            self._in_progress -= 1

    async def _in_turn(
        self, identify: Identify, token: TokenDigest, address: str, make: MakeSession
    ) -> GatewaySession | StartFailure:
        principal = self._resolve(token)
        if principal is None:
            self._address_bans.note_failure(address)
            return machine.StartRefused(close_codes.INVALID_TOKEN)
        if principal.is_suspended(self._core.clock.now_ms()):  # which is no guess at a token
            return machine.StartRefused(close_codes.INVALID_TOKEN)
        if not self._node.admits(principal.user_id):
            return machine.StartPostponed()
        return await self._create(principal, identify, address, make)

    def _resolve(self, token: TokenDigest) -> Principal | None:
        return resolve_gateway_token(self._core.database.reader, token)

    async def _create(
        self, principal: Principal, identify: Identify, address: str, make: MakeSession
    ) -> GatewaySession | machine.StartRefused:
        user_id, limits = principal.user_id, self._core.settings.gateway
        if not principal.is_bot and len(self._table.of_user(user_id)) >= limits.sessions_per_user:
            return machine.StartRefused(close_codes.TOO_MANY_SESSIONS)
        guild_ids = self._accounts.guild_ids(user_id)
        settings = None if principal.is_bot else self._accounts.settings(user_id)
        session = self._new_session(principal, identify, settings or {}, make)
        if session.shard is not None:
            guild_ids = [guild_id for guild_id in guild_ids if session.is_on_shard(guild_id)]
        if principal.is_bot and len(guild_ids) > limits.bot_shard_guild_ceiling:
            return machine.StartRefused(close_codes.SHARDING_REQUIRED)
        session.address = address
        if identify.initial_guild_id in guild_ids and not session.bot:
            session.active_guilds = frozenset((identify.initial_guild_id,))
        self._table.add(session)
        try:
            data = await self._ready(session, principal.account, guild_ids, settings)
            session.ready = OutgoingEvent.in_parts(EventName.READY, data, retained=False)
            if not session.bot and session.hears_account_events:
                for call in self._accounts.calls(user_id):
                    session.dispatch(outgoing(EventName.CALL_CREATE, call))  # waits for Ready
        except BaseException:
            self._table.end(session)
            raise
        # Else it was revoked while it was being made.
        return machine.StartRefused(close_codes.INVALID_TOKEN) if session.ended else session

    def _new_session(
        self, principal: Principal, identify: Identify, saved: Mapping[str, Any], make: MakeSession
    ) -> GatewaySession:
        """A session with the presence that Identify and the saved settings give it."""
        presence = initial_presence(
            identify.presence, identify.properties.mobile, saved.get("status", "online"), saved.get("custom_status")
        )
        session_id = self._core.random_hex(SESSION_ID_CHARACTERS)
        return make(session_id, principal, identify, presence)

    # Ready

    async def _ready(
        self, session: GatewaySession, account: Account, guild_ids: Sequence[int], settings: wire.UserSettings | None
    ) -> list[bytes]:
        """The payload of Ready in parts; a user's session is connected to its guilds on the way, a bot's only
        afterwards.

        What changes the settings meanwhile waits in the session, and follows Ready.
        """
        guilds: list[GuildJson | OwnGuild | bytes] = []
        if session.bot:  # its guilds arrive one by one after Ready
            session.joining_guild_ids = frozenset(guild_ids)
            guilds += [self._guild_payloads.unsent(guild_id, session) for guild_id in guild_ids]
        while len(guilds) < len(guild_ids):
            if guilds:
                await trio.lowlevel.checkpoint()
                account = self._accounts.account(session.user_id)
            guilds += self._entered(session, guild_ids[len(guilds) : len(guilds) + GUILDS_PER_TURN])
        user, has = partial_user(account), self._accounts.belongings(account.id)
        friends = self._presences.seen_by(account.id) if has.relationships or has.private_channels else ()
        # The session counts towards its account's presence from now on, and stands in the list of its Ready.
        self._presences.session_selected(account.id, session.id, session.presence, Known(user, friends))
        own = self._accounts.members_of_ready(account, has, threads=session.threads)
        data: wire.ReadyRest = {
            "relationships": [],
            "presences": [],
            "users": [],
            "sessions": self._presences.session_presences(account.id),
            "user_settings": settings,
            **own,
            "country_code": "US",
        }
        if not session.bot:
            if has.relationships:
                data["relationships"] = self._accounts.relationships(account.id)
            online = [other for other in friends if self._presences.is_online(other)]
            data["presences"] = [self._presences.presence_object(other) for other in online]
            named = _named(account.id, guilds, data["relationships"], data["private_channels"])
            if named <= {account.id}:
                data["users"] = [user] if named else []
            else:
                data["users"] = self._accounts.partial_users(sorted(named))
        return self._in_parts(session, guilds, data)

    def _entered(self, session: GatewaySession, guild_ids: Sequence[int]) -> list[GuildJson | OwnGuild | bytes]:
        """Connect a user's session to the first of these guilds, as many as one turn has time for; returns what Ready
        holds of each."""
        guild_ids = self._of_one_turn(guild_ids)
        # All are entered in the same turn: nothing changes in between.
        several = len(guild_ids) > 1
        members = self._core.guild_states.meet(session.user_id, guild_ids) if several else {}
        threads = self._guild_payloads.threads.joined(session.user_id, guild_ids) if session.threads else {}
        rooms, in_ready = self._hub.rooms, self._guild_payloads.in_ready
        session.guild_ids.update(guild_ids)  # before it is in any room: if one fails, the session's end goes by these
        guilds: list[GuildJson | OwnGuild | bytes] = []
        for guild_id in guild_ids:
            room, account, member = rooms.get(guild_id), None, members.get(guild_id)
            if room is not None:
                account = room.connect(session, member)
            else:
                room = self._hub.connect(session, guild_id, member)
                account = None if room is None else room.accounts[session.user_id]
            if room is None or account is None:
                session.guild_ids.discard(guild_id)
                guilds.append(self._guild_payloads.unsent(guild_id, session))
            else:
                guilds.append(in_ready(room, account, session, threads.get(guild_id, ()), member))
        self._presences.account_connected(session.guild_ids.intersection(guild_ids), session.user_id)
        return guilds

    def _of_one_turn(self, guild_ids: Sequence[int]) -> Sequence[int]:
        cost = 0
        for number, guild_id in enumerate(guild_ids, 1):
            cost += 1 if guild_id in self._hub.rooms else COLD_GUILD
            if cost >= GUILDS_PER_TURN:
                return guild_ids[:number]
        return guild_ids

    def _in_parts(
        self, session: GatewaySession, guilds: Sequence[GuildJson | OwnGuild | bytes], behind: wire.ReadyRest
    ) -> list[bytes]:
        """Ready in parts, most of which other sessions share. It counts who is online as late as possible, so that the
        session itself is included. `behind` are the members that follow `guilds`."""
        of_session: wire.SessionInReady = {}
        if session.session_id_hash is not None:
            of_session["auth_session_id_hash"] = session.session_id_hash
        if session.shard is not None:
            of_session["shard"] = session.shard.as_pair()
        online = self._presences.online_count
        parts: list[bytes] = []
        for guild in guilds:
            if isinstance(guild, tuple):
                state, beginning, member, joined_at = guild
                parts += (b",", beginning, own_rest(state, member, joined_at, online(state.id)))
            elif isinstance(guild, GuildJson):
                parts += (b",", guild.beginning, guild.rest % (guild.member_count, online(guild.guild_id)))
            else:
                parts += (b",", guild)
        first = orjson.dumps({"session_id": session.id, "version": READY_VERSION})
        parts[:1] = [first[:-1], b',"guilds":[']
        return [*parts, b"],", orjson.dumps({**behind, **of_session})[1:]]

    async def introduce_guilds(self, session: GatewaySession) -> None:
        """After a bot's Ready: one Guild Create or Guild Delete for each of its guilds (gateway.md, Ready).

        Runs beside the socket, not in it: a bot that drops in the middle finds the rest in its replay. After a restart
        it goes on where it was.
        """
        for guild_id in sorted(session.joining_guild_ids):
            if session.ended:
                return
            if guild_id not in session.joining_guild_ids:
                continue  # left, or deleted, while the burst ran
            session.joining_guild_ids -= {guild_id}
            try:
                event = outgoing(*self._introduction(session, guild_id))
            except Exception:  # one guild that cannot be read is no reason to hear of no other
                logger.exception("guild not introduced", guild_id=guild_id)
                event = outgoing(EventName.GUILD_DELETE, {"id": str(guild_id), "unavailable": True})
            session.dispatch(event)
            if session.receiver is not None:
                await session.receiver.drained(BURST_PAUSE_BYTES)
            await trio.lowlevel.checkpoint()

    def _introduction(self, session: GatewaySession, guild_id: int) -> tuple[EventName, object]:
        room = self._hub.connect(session, guild_id)
        if room is None:
            return EventName.GUILD_DELETE, {"id": str(guild_id), "unavailable": True}
        return self._guild_payloads.on_joining(room, session)

    # Resume

    def find(self, resume: Resume, address: str, mount: str) -> GatewaySession | ResumeFailure | Elsewhere:
        """The session that a Resume names, if the token owns it, it accepts the sequence and was begun at this
        mount; or how to fetch it from the node where it lives."""
        session = self.owned(resume, address, mount)
        if not isinstance(session, GatewaySession):
            return session
        return self.elsewhere(session, resume.seq) or judged(session, resume.seq)

    def owned(
        self, resume: Resume, address: str, mount: str, token: TokenDigest | None = None
    ) -> GatewaySession | ResumeFailure:
        """The session that a Resume names, if the token owns it and it was begun at this mount; its sequence is not
        looked at. `token` stands for the Resume's, where that stayed at a node."""
        try:
            return self._owned(resume, address, mount, token)
        except Exception:  # as in `start`
            logger.exception("session not found")
            return machine.ResumeRefused(close_codes.SESSION_UNAVAILABLE)

    def _owned(
        self, resume: Resume, address: str, mount: str, token: TokenDigest | None
    ) -> GatewaySession | ResumeFailure:
        if self._node.rpc_failing:
            return machine.ResumeRefused(close_codes.SESSION_UNAVAILABLE)
        principal = self._resolve(token or TokenDigest.of(resume.token))
        if principal is None:
            self._address_bans.note_failure(address)
            return machine.ResumeRefused(close_codes.INVALID_TOKEN)
        if principal.is_suspended(self._core.clock.now_ms()):
            return machine.ResumeRefused(close_codes.INVALID_TOKEN)
        session = self._table.get(resume.session_id)
        if session is None or session.starting is not None or session.mount != mount:
            return machine.ResumeUnknown()
        if session.user_id != principal.user_id:
            self._address_bans.note_failure(address)
            return machine.ResumeRefused(close_codes.INVALID_TOKEN)
        return session


def _named(
    own_id: int,
    guilds: Iterable[GuildJson | OwnGuild | bytes],
    relationships: Iterable[Mapping[str, Any]],
    private_channels: Iterable[Mapping[str, Any]],
) -> set[int]:
    """The accounts whose user objects stand in `users` of Ready."""
    named = {user_id for guild in guilds if isinstance(guild, GuildJson) for user_id in guild.user_ids}
    if any(isinstance(guild, tuple) for guild in guilds):
        named.add(own_id)
    named.update([int(relationship["id"]) for relationship in relationships])
    for private in private_channels:
        named.update([int(recipient["id"]) for recipient in private.get("recipients", ())])
    return named
