"""What the development routes work with, put together in `chat.server` when it runs for development."""

from __future__ import annotations

from collections.abc import Callable

import attrs
import trio

from chat.api.app import HttpFaults
from chat.api.rate_limit import RateLimiter
from chat.auth.address_bans import AddressBans
from chat.clock import MovableClock
from chat.development.seeded_world import HashPassword, SeededWorld
from chat.domain.areas import Areas
from chat.domain.core import Core
from chat.gateway.gateway import Gateway


@attrs.frozen(kw_only=True)
class Development:
    """Parts of the server that only its development routes reach.

    `forget` are what a reset calls besides what it clears itself, so that nothing of the time before is remembered.
    """

    world: SeededWorld
    hash_password: HashPassword
    clock: MovableClock
    core: Core
    areas: Areas
    limiter: RateLimiter
    address_bans: AddressBans
    gateway: Gateway
    http_faults: HttpFaults
    forget: tuple[Callable[[], None], ...] = ()
    turn: trio.Lock = attrs.field(factory=trio.Lock, init=False)
    """Held while the clock is moved or the world is reset."""
