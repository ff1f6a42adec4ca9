"""The parts of a server that know no rules: settings, store, time, chance and the bus."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from pathlib import Path

from chat.auth.keys import Keys
from chat.auth.passwords import Passwords
from chat.auth.tokens import TokenMint
from chat.bus.bus import Bus
from chat.classes import frozen
from chat.clock import Clock
from chat.config import Settings
from chat.config.loading import Overrides
from chat.snowflake import SnowflakeGenerator
from chat.store.database import Database

Background = tuple[Callable[[], Awaitable[None]], ...]
"""The tasks that an area runs as long as the server does."""


@frozen(kw_only=True)
class Ground:
    """The parts of a server that know no rules: settings, store, time, chance and the bus."""

    settings: Settings
    overrides: Overrides
    """Settings that the operator has chosen at run time; they take precedence over `settings`."""
    database: Database
    clock: Clock
    bus: Bus
    chance: random.Random
    snowflakes: SnowflakeGenerator
    mint: TokenMint
    keys: Keys
    passwords: Passwords
    directory: Path
    """The data directory: uploads and archives lie below it."""
    in_threads: bool
    """Whether long work may leave the loop; a run on virtual time has no threads."""

    def random_hex(self, characters: int) -> str:
        """A random number, written in this many hexadecimal characters."""
        return f"{self.chance.getrandbits(4 * characters):0{characters}x}"
