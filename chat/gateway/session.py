"""A gateway session: what Identify creates, what outlives its socket, and what every Dispatch is numbered by.

`dispatch` is the hottest line of the program: it runs once per event and receiving session.
"""

from __future__ import annotations

from typing import Protocol

from chat.auth.principal import Principal
from chat.bus.audience import Mentions
from chat.domain.presence.presences import SessionPresence
from chat.protocol.commands import Identify
from chat.protocol.numbering import Numbering
from chat.protocol.payload import EventRun, OutgoingEvent
from chat.protocol.sharding import Shard, shard_of
from chat.registries.events import EventName
from chat.registries.opcodes import IdentifyFlag
from chat.registries.user_flags import UserFlag


class Receiver(Protocol):
    """The socket that presently holds a session."""

    def deliver(self, sequence: int, event: OutgoingEvent) -> None:
        """Take a numbered Dispatch for sending; must not wait."""
        ...

    def deliver_run(self, first: int, run: EventRun) -> None:
        """Take Dispatches with consecutive numbers from `first` on; must not wait."""
        ...

    def send_payload(self, payload: bytes) -> None:
        """Send a payload that is no Dispatch."""
        ...

    def session_ended(self) -> None:
        """The session is over while this socket holds it."""
        ...

    def displaced(self) -> None:
        """Another socket took the session over."""
        ...

    def failed(self) -> None:
        """Something unforeseen was raised on the way to it; to be called where that is caught."""
        ...

    async def drained(self, below_bytes: int) -> None:
        """Return once no more than so many bytes wait for the peer, or the socket is gone."""
        ...


class GatewaySession:
    """One session of an account (gateway.md, Sequences).

    While `starting` is a list, events wait in it unnumbered, so that Ready comes first; see `begin`.
    """

    __slots__ = (
        "active_guilds",
        "address",
        "bot",
        "debounces_reactions",
        "detached_at",
        "e2ee_capable",
        "ended",
        "guild_ids",
        "id",
        "ignored_events",
        "is_staff",
        "joining_guild_ids",
        "numbering",
        "offline_at",
        "presence",
        "ready",
        "receiver",
        "session_id_hash",
        "shard",
        "starting",
        "threads",
        "user_id",
    )

    def __init__(
        self,
        session_id: str,
        *,
        user_id: int,
        bot: bool,
        is_staff: bool,
        session_id_hash: str | None,
        shard: Shard | None,
        threads: bool,
        e2ee_capable: bool = False,
        debounces_reactions: bool,
        ignored_events: frozenset[str],
        presence: SessionPresence,
    ) -> None:
        self.id = session_id
        self.user_id = user_id
        self.bot = bot
        self.is_staff = is_staff
        self.session_id_hash = session_id_hash
        self.shard = shard
        self.threads = threads
        self.e2ee_capable = e2ee_capable
        self.debounces_reactions = debounces_reactions
        self.ignored_events = ignored_events
        self.presence = presence
        """What the client last selected; survives the socket, so a Resume can restore it."""
        self.address = ""
        self.numbering = Numbering()
        self.receiver: Receiver | None = None
        self.ended = False
        self.detached_at: float | None = None
        """Trio time at which the socket went; None while one is attached."""
        self.offline_at: float | None = None
        """Trio time from which the session counts as offline; None while it counts with its selected status."""
        self.guild_ids: set[int] = set()
        """Guilds the session is connected to."""
        self.joining_guild_ids: set[int] = set()
        """Guilds of a bot's Ready whose Guild Create has yet to follow."""
        self.active_guilds: set[int] = set()
        """Guilds that a Lazy Request made active (only matters in large ones; bots are always active)."""
        self.starting: list[OutgoingEvent] | None = []
        self.ready: OutgoingEvent | None = None
        """Ready, between the session's making and its first Dispatch."""

    @classmethod
    def identified(
        cls, session_id: str, principal: Principal, identify: Identify, presence: SessionPresence
    ) -> GatewaySession:
        """The session that an Identify of this account asks for."""
        return cls(
            session_id,
            user_id=principal.user_id,
            bot=principal.is_bot,
            is_staff=bool(principal.account.flags & UserFlag.STAFF.value),
            session_id_hash=principal.session_id_hash,
            shard=identify.shard,
            threads=principal.is_bot or bool(identify.flags & IdentifyFlag.CHANNEL_THREADS),
            e2ee_capable=identify.properties.e2ee_capable,
            debounces_reactions=bool(identify.flags & IdentifyFlag.DEBOUNCE_MESSAGE_REACTIONS),
            ignored_events=identify.ignored_events,
            presence=presence,
        )

    def dispatch(self, event: OutgoingEvent) -> None:
        """Number the event, retain it for replay, and hand it to the socket if there is one."""
        if self.starting is not None:
            self.starting.append(event)
            return
        sequence = self.numbering.number(event)
        if self.receiver is not None:
            self.receiver.deliver(sequence, event)

    def dispatch_run(self, run: EventRun) -> None:
        """The same for events that come together."""
        if self.starting is not None:
            self.starting.extend(run.events)
            return
        first = self.numbering.number_run(run)
        if self.receiver is not None:
            self.receiver.deliver_run(first, run)

    def begin(self) -> None:
        """Dispatch Ready as sequence 1, then what arrived while it was being made."""
        if self.ready is None:
            raise AssertionError("a session begins with its Ready")
        ready, self.ready = self.ready, None
        waiting, self.starting = self.starting or [], None
        self.dispatch(ready)
        for event in waiting:
            self.dispatch(event)

    def wants(self, event: OutgoingEvent, mentions: Mentions | None) -> bool:
        """Whether the session's ignored_events let the event through; if not, it takes no number (gateway.md,
        Sequences)."""
        if event.name not in self.ignored_events:
            return True
        return (
            event.name == EventName.MESSAGE_CREATE
            and mentions is not None
            and (mentions.everyone or mentions.here or self.user_id in mentions.user_ids)
        )

    def is_on_shard(self, guild_id: int) -> bool:
        """Whether a guild of the account is one of the session's."""
        return self.shard is None or shard_of(guild_id, self.shard.count) == self.shard.id

    def hears_account_events(self) -> bool:
        """Whether events that name no guild reach the session: only on shard 0 (gateway.md, Shards)."""
        return self.shard is None or self.shard.id == 0
