"""The bus: domain operations publish, in commit order; listeners are called at once, on the loop's own thread.

Publishing never waits. A listener that has work to do keeps a queue of its own. How far deliveries are behind is known
as `backlog`: a request that would cause more events waits before (`wait_for_room`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import IntEnum
from operator import itemgetter
from typing import Any, Final, TypeVar, get_args

import attrs
import structlog
import trio

from chat.bus.audience import Audience, Mentions
from chat.classes import frozen
from chat.errors import ApiError
from chat.registries.error_codes import ErrorCode
from chat.registries.events import EventName

BACKLOG_LIMIT: Final = 4_096
"""Undelivered events at which requests that would cause more are made to wait."""

ROOM_SECONDS: Final = 10.0
"""How long such a request waits at most."""

LOOK_SECONDS: Final = 0.005
"""How often it looks whether there is room."""

logger = structlog.get_logger(__name__)


@frozen(eq=False)
class Event:
    """A Dispatch to be: its name, its payload `d` and whom it is for.

    `thread_data` is the payload for sessions with the channel_threads capability (bots included) where it differs.
    `ignoring_session` names a session that is left out; `only_threads` leaves out those that know no threads.
    """

    name: EventName
    data: Mapping[str, Any] | Sequence[Any]
    audience: Audience
    mentions: Mentions | None = None
    thread_data: Mapping[str, Any] | None = None
    ignoring_session: str | None = None
    only_threads: bool = False


@frozen
class CredentialsRevoked:
    """Gateway sessions of this account end: those of one sign-in (`session_id_hash`), or all where that is None."""

    user_id: int
    session_id_hash: str | None = None


@frozen
class AccountDisconnected:
    """The account's last gateway session is over."""

    user_id: int


@frozen
class GuildJoined:
    """An account became a member; its sessions are connected to the guild and receive Guild Create."""

    guild_id: int
    user_id: int


@frozen
class GuildLeft:
    """An account is no longer a member; its sessions leave the guild and receive Guild Delete."""

    guild_id: int
    user_id: int


@frozen
class GuildDeleted:
    """The guild itself is gone: every session leaves it and receives Guild Delete."""

    guild_id: int


@frozen
class GuildStateChanged:
    """Roles, overwrites, channels or members' roles changed: who may see what is computed afresh.

    Sessions hear of channels that they see now (Channel Create) or no longer (Channel Delete), so this is published
    when a channel is made or deleted, and no event beside it. `user_id` names the only account that it can be about;
    `deleted` holds the objects of deleted channels, by id.
    """

    guild_id: int
    user_id: int | None = None
    deleted: Mapping[int, Mapping[str, Any]] = attrs.field(factory=dict, eq=False)


@frozen
class GuildChannelsChanged:
    """Several channels changed at once: every session gets all those that it sees, in one Channel Update Bulk.

    `channel_ids` None tells of every channel of the guild.
    """

    guild_id: int
    channel_ids: frozenset[int] | None = None


@frozen
class GuildAvailabilityChanged:
    """The guild's availability features or the node's missing guilds changed."""

    guild_id: int


@frozen
class AcquaintanceChanged:
    """Two accounts became friends or came into a group together, or are so no longer: who sees whose presence is to be
    looked at."""

    user_id: int
    other_id: int


@frozen
class SavedPresenceChanged:
    """The settings of an account name another status, another custom status, or both, which its sessions take on.

    `settings` holds `status` and `custom_status` where they are named, as the wire has them.
    """

    user_id: int
    settings: Mapping[str, Any] = attrs.field(eq=False)


@frozen
class AccountShownDifferently:
    """An account's name, face or public flags changed."""

    user_id: int


Signal = (
    Event
    | AccountShownDifferently
    | SavedPresenceChanged
    | AcquaintanceChanged
    | CredentialsRevoked
    | AccountDisconnected
    | GuildJoined
    | GuildLeft
    | GuildDeleted
    | GuildStateChanged
    | GuildChannelsChanged
    | GuildAvailabilityChanged
)


S = TypeVar("S")
Listener = Callable[[Any], object]


class Turn(IntEnum):
    """When a listener hears a signal, among all that hear it."""

    STATE = 0
    """What keeps state in memory: voice states, presences, rosters."""
    DELIVERY = 1
    """The gateway, which sends what the signal means to sessions."""
    CONSEQUENCE = 2
    """What follows from the signal, and may publish signals of its own."""


class Bus:
    """Hands each signal to those that listen to its kind, turn by turn, in the order of publication."""

    def __init__(self) -> None:
        self._of_kind: dict[type, list[tuple[Turn, Listener]]] = {
            kind: [] for kind in get_args(Signal) if kind is not Event
        }
        self._of_event: dict[EventName, list[tuple[Turn, Listener]]] = {name: [] for name in EventName}
        self.causes = 0
        """Requests under way that are likely to publish, for which a batch of deliveries may wait a moment."""
        self.backlog: Callable[[], int] = lambda: 0
        """How many events the gateway has yet to deliver."""

    def subscribe(self, kind: type[S], listener: Callable[[S], object], turn: Turn = Turn.CONSEQUENCE) -> None:
        """From now on this listener hears every signal of the kind; of the kind Event, every event.

        It must not wait. What it raises is logged, and the others hear the signal all the same.
        """
        for places in self._of_event.values() if kind is Event else (self._of_kind[kind],):
            _take_place(places, turn, listener)

    def subscribe_events(
        self, names: Iterable[EventName], listener: Callable[[Event], object], turn: Turn = Turn.CONSEQUENCE
    ) -> None:
        """As `subscribe`, for the events of some names."""
        for name in names:
            _take_place(self._of_event[name], turn, listener)

    def subscribe_all(self, listener: Callable[[Any], object], turn: Turn = Turn.CONSEQUENCE) -> None:
        """As `subscribe`, for every signal."""
        for kind in get_args(Signal):
            self.subscribe(kind, listener, turn)

    def publish(self, *signals: Signal) -> None:
        """Tell the listeners; called on the loop's thread, after the commit that caused the signals."""
        for signal in signals:
            listeners = self._of_event[signal.name] if isinstance(signal, Event) else self._of_kind[type(signal)]
            for _, listener in listeners:
                try:
                    listener(signal)
                except Exception:  # the commit stands, even if a listener fails
                    logger.exception("a signal was not taken", signal=signal, listener=listener.__qualname__)

    async def wait_for_room(self) -> None:
        """Return once the gateway is no further behind than BACKLOG_LIMIT.

        :raises ApiError: SERVICE_UNAVAILABLE when that takes longer than ROOM_SECONDS.
        """
        deadline = trio.current_time() + ROOM_SECONDS
        while self.backlog() > BACKLOG_LIMIT:
            if trio.current_time() > deadline:
                raise ApiError(ErrorCode.SERVICE_UNAVAILABLE, headers={"Retry-After": "1"})
            # Polled, since being told would cost something at every single delivery.
            await trio.sleep(LOOK_SECONDS)


def _take_place(places: list[tuple[Turn, Listener]], turn: Turn, listener: Listener) -> None:
    places.append((turn, listener))
    places.sort(key=itemgetter(0))  # stable: within a turn in the order of subscription
