"""Session creation for Identify, and finding a session for Resume (gateway.md, States).

A start runs in steps with turns of the loop between them, so that a thousand logins do not stop everybody else. From
the first step on the session collects what its guilds say; Ready goes out first.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Final

import attrs
import structlog
import trio

from chat.auth.principal import Principal
from chat.errors import StorageUnavailable
from chat.gateway.admission import Admission
from chat.gateway.guild_payloads import GuildPayloads
from chat.gateway.hub import Hub, outgoing
from chat.gateway.node import NodeState
from chat.gateway.ready import ReadyPayloads
from chat.gateway.session import GatewaySession
from chat.gateway.session_table import SessionTable
from chat.protocol.commands import Identify, Resume
from chat.protocol.numbering import ResumeVerdict
from chat.registries import close_codes
from chat.registries.close_codes import Close
from chat.registries.events import EventName
from chat.registries.limits import SESSION_ID_CHARACTERS

logger = structlog.get_logger(__name__)

START_SECONDS: Final = 10.0
"""A start that waits longer for its turn is a temporary failure: the Identify is held."""

STARTS_AT_ONCE: Final = 8
"""Starts that are worked on at the same time; each takes turns with the others and with deliveries."""

BURST_PAUSE_BYTES: Final = 1_048_576
"""A bot's burst of Guild Creates waits while its socket has more than this unsent."""


class StartFailure(enum.Enum):
    """Why there is no session, where the socket stays open."""

    POSTPONED = "temporary: hold the Identify"
    DISCARDED = "the address's Identify budget is exhausted: no reply"


class ResumeFailure(enum.Enum):
    """Why there is no session to resume, where the socket stays open."""

    UNKNOWN = "unknown, expired, or below the replay floor: Invalid Session"


@attrs.frozen
class StartLimits:
    """Limits that settings may lower."""

    sessions_per_user: int
    bot_shard_guild_ceiling: int


class SessionStarts:
    """Creates sessions and finds retained ones."""

    def __init__(
        self,
        *,
        limits: StartLimits,
        node: NodeState,
        admission: Admission,
        table: SessionTable,
        hub: Hub,
        ready: ReadyPayloads,
        guild_payloads: GuildPayloads,
        resolve_token: Callable[[str], Principal | None],
        note_failure: Callable[[str], None],
        random_hex: Callable[[int], str],
        storage_failing: Callable[[], bool],
    ) -> None:
        self._limits = limits
        self._node = node
        self._admission = admission
        self._table = table
        self._hub = hub
        self._ready = ready
        self._guild_payloads = guild_payloads
        self._resolve_token = resolve_token
        self._note_failure = note_failure
        self._random_hex = random_hex
        self._storage_failing = storage_failing
        self.turns = trio.CapacityLimiter(STARTS_AT_ONCE)

    async def start(self, identify: Identify, address: str, *, retried: bool) -> GatewaySession | StartFailure | Close:
        """Create the session that an Identify asks for.

        Returns the session, still `starting`, with its guilds connected; or why there is none. `retried` marks an
        Identify that was held, which spends no more of the address's budget.
        """
        try:
            return await self._start(identify, address, retried=retried)
        except StorageUnavailable:
            logger.warning("session not started: the store is unavailable")
        except Exception:  # a damaged row, for one: what is stored of an account may fail it, and nobody else
            logger.exception("session not started")
        return close_codes.FAILED_TO_START_SESSION

    async def _start(self, identify: Identify, address: str, *, retried: bool) -> GatewaySession | StartFailure | Close:
        if not retried and not self._admission.may_identify(address):
            return StartFailure.DISCARDED
        if self._node.holds_every_identify or self._node.rpc_failing:
            return StartFailure.POSTPONED
        if self._storage_failing():
            return close_codes.FAILED_TO_START_SESSION
        principal = self._resolve_token(identify.token)
        if principal is None:
            self._note_failure(address)
            return close_codes.INVALID_TOKEN
        if not self._node.admits(principal.user_id):
            return StartFailure.POSTPONED
        with trio.move_on_after(START_SECONDS) as waiting:
            async with self.turns:
                return await self._create(principal, identify, address)
        if waiting.cancelled_caught:
            return StartFailure.POSTPONED
        raise AssertionError("a start returns from within its turn")

    async def _create(self, principal: Principal, identify: Identify, address: str) -> GatewaySession | Close:
        if not principal.is_bot and len(self._table.of_user(principal.user_id)) >= self._limits.sessions_per_user:
            return close_codes.TOO_MANY_SESSIONS
        guild_ids = self._ready.guild_ids(principal.user_id)
        session = self._ready.new_session(self._random_hex(SESSION_ID_CHARACTERS), principal, identify)
        guild_ids = [guild_id for guild_id in guild_ids if session.is_on_shard(guild_id)]
        if principal.is_bot and len(guild_ids) > self._limits.bot_shard_guild_ceiling:
            return close_codes.SHARDING_REQUIRED
        session.address = address
        if identify.initial_guild_id in guild_ids and not session.bot:
            session.active_guilds.add(identify.initial_guild_id)
        self._table.add(session)
        try:
            session.ready = outgoing(EventName.READY, await self._ready.build(session, principal, guild_ids, self._hub))
            if not session.bot and session.hears_account_events():
                for call in self._ready.calls(session.user_id):
                    session.dispatch(outgoing(EventName.CALL_CREATE, call))  # waits for Ready
        except BaseException:
            self._table.end(session)
            raise
        # Else it was revoked while it was being made.
        return close_codes.INVALID_TOKEN if session.ended else session

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
            session.joining_guild_ids.discard(guild_id)
            try:
                event = outgoing(*self._introduction(session, guild_id))
            except Exception:  # one guild that cannot be read is no reason to hear of no other
                logger.exception("guild not introduced", guild_id=guild_id)
                event = outgoing(EventName.GUILD_DELETE, {"id": str(guild_id), "unavailable": True})
            session.dispatch(event)
            if session.receiver is not None:
                await session.receiver.drained(BURST_PAUSE_BYTES)
            await trio.lowlevel.checkpoint()

    def _introduction(self, session: GatewaySession, guild_id: int) -> tuple[EventName, dict[str, object]]:
        room = self._hub.connect(session, guild_id)
        if room is None:
            return EventName.GUILD_DELETE, {"id": str(guild_id), "unavailable": True}
        if not self._guild_payloads.is_open_to(room.state, session):
            return self._guild_payloads.on_joining(room, session)
        return EventName.GUILD_CREATE, self._guild_payloads.whole(room.state, session, full_users=True)

    def find(self, resume: Resume, address: str) -> GatewaySession | ResumeFailure | Close:
        """The session that a Resume names, if the token owns it and it accepts the sequence."""
        try:
            return self._find(resume, address)
        except Exception:  # as in `start`
            logger.exception("session not found")
            return close_codes.SESSION_UNAVAILABLE

    def _find(self, resume: Resume, address: str) -> GatewaySession | ResumeFailure | Close:
        if self._node.rpc_failing:
            return close_codes.SESSION_UNAVAILABLE
        principal = self._resolve_token(resume.token)
        if principal is None:
            self._note_failure(address)
            return close_codes.INVALID_TOKEN
        session = self._table.get(resume.session_id)
        if session is None or session.starting is not None:
            return ResumeFailure.UNKNOWN
        if session.user_id != principal.user_id:
            self._note_failure(address)
            return close_codes.INVALID_TOKEN
        match session.numbering.judge_resume(resume.seq):
            case ResumeVerdict.OUT_OF_BOUNDS:
                return close_codes.INVALID_SEQUENCE
            case ResumeVerdict.BELOW_FLOOR:
                return ResumeFailure.UNKNOWN
            case _:
                return session
