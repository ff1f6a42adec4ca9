"""What the development routes work with, put together in `chat.server` when it runs for development."""

from __future__ import annotations

from collections.abc import Callable

import attrs
import trio

from chat.api.faults import HttpFaults
from chat.api.operation import Request
from chat.api.services import Services
from chat.clock import MovableClock
from chat.development.seeded_world import HashPassword, SeededWorld
from chat.domain.presence.account_events import AccountEvents
from chat.domain.standing.guild_states import GuildStates
from chat.domain.standing.relationships import Relationships
from chat.gateway.gateway import Gateway
from chat.snowflake import SnowflakeGenerator


@attrs.frozen(kw_only=True)
class Development:
    """Parts of the server that only its development routes reach.

    `forget` are what a reset calls besides what it clears itself, so that nothing of the time before is remembered.
    """

    world: SeededWorld
    hash_password: HashPassword
    clock: MovableClock
    snowflakes: SnowflakeGenerator
    guild_states: GuildStates
    account_events: AccountEvents
    relationships: Relationships
    gateway: Gateway
    http_faults: HttpFaults
    forget: tuple[Callable[[], None], ...] = ()
    turn: trio.Lock = attrs.field(factory=trio.Lock, init=False)
    """Held by whoever moves the clock or resets the world: one at a time."""


@attrs.frozen(kw_only=True)
class DevelopmentServices(Services):
    """The services of a server that runs for development."""

    development: Development


def services_of(request: Request) -> DevelopmentServices:
    """The services behind a development route, which is mounted only where they are there."""
    services = request.services
    if not isinstance(services, DevelopmentServices):
        raise TypeError("development routes need DevelopmentServices")
    return services
