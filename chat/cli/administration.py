"""How commands work on the data directory, whether or not a server runs on it."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import attrs

if TYPE_CHECKING:
    from chat.auth.passwords import Passwords
    from chat.auth.principal import Principal
    from chat.auth.tokens import TokenMint
    from chat.clock import Clock
    from chat.config import Settings
    from chat.domain.administration import Administration
    from chat.domain.applications import Applications
    from chat.domain.usernames import Usernames
    from chat.snowflake import SnowflakeGenerator
    from chat.store.accounts import Account
    from chat.store.database import Database

T = TypeVar("T")

FIRST_WORKER = 2
"""Of snowflakes made by commands; the server's own is below, and each process takes one by its number."""


@attrs.frozen(kw_only=True)
class Instance:
    """The parts of the program that commands use, on the database of one data directory."""

    settings: Settings
    database: Database
    clock: Clock
    snowflakes: SnowflakeGenerator
    mint: TokenMint
    passwords: Passwords
    usernames: Usernames
    accounts: Administration

    def applications(self) -> Applications:
        """The operations on applications; nobody is connected who would hear of them."""
        from chat.bus.bus import Bus
        from chat.domain.account_events import AccountEvents
        from chat.domain.applications import Applications
        from chat.domain.guild_states import GuildStates
        from chat.domain.sudo import SudoMode

        guild_states = GuildStates(self.database, self.clock)
        return Applications(
            database=self.database,
            clock=self.clock,
            snowflakes=self.snowflakes,
            mint=self.mint,
            usernames=self.usernames,
            sudo=SudoMode(self.passwords),
            events=AccountEvents(self.database, Bus(), self.clock, self.settings, guild_states),
            settings=self.settings,
        )

    def acting_as(self, account: Account) -> Principal:
        """The account as the one who asks."""
        from chat.auth.principal import CredentialKind, Principal

        return Principal(account, CredentialKind.SESSION)


def administer(data: Path, command: Callable[[Instance], Awaitable[T]], *, create: bool = False) -> T:
    """Run `command` on the instance in `data`; with `create` a missing one is made.

    Raises OperatorError where the data cannot be used.
    """
    import trio

    from chat import log
    from chat.clock import SystemClock, iso_timestamp
    from chat.config import load_settings
    from chat.store.data_directory import DataDirectory

    clock = SystemClock()
    log.configure("error", timestamp=lambda: iso_timestamp(clock.now_ms()))
    settings = load_settings(data, environment=os.environ).settings
    directory = DataDirectory(data)
    if create:
        directory.create()
    else:
        directory.require()
    directory.bring_database_up_to_date()

    async def main() -> T:
        async with _opened(directory.database, settings, clock) as instance:
            return await command(instance)

    return trio.run(main)


@contextlib.asynccontextmanager
async def _opened(path: Path, settings: Settings, clock: Clock) -> AsyncIterator[Instance]:
    from chat.auth.passwords import Passwords
    from chat.auth.tokens import TokenMint
    from chat.domain.administration import Administration
    from chat.domain.usernames import Usernames
    from chat.snowflake import SnowflakeGenerator
    from chat.store.database import open_database

    chance = secrets.SystemRandom()
    worker = FIRST_WORKER + os.getpid() % (1024 - FIRST_WORKER)
    async with open_database(path, inline=True) as database:
        snowflakes = SnowflakeGenerator(clock, worker)
        passwords = Passwords(chance)
        usernames = Usernames(settings, chance)
        yield Instance(
            settings=settings,
            database=database,
            clock=clock,
            snowflakes=snowflakes,
            mint=TokenMint(chance),
            passwords=passwords,
            usernames=usernames,
            accounts=Administration(database, clock, snowflakes, passwords, usernames, settings),
        )


def account_fields(account: Account) -> dict[str, object]:
    """What commands print of an account."""
    from chat.clock import iso_timestamp

    return {
        "id": str(account.id),
        "username": account.username,
        "discriminator": f"{account.discriminator:04}",
        "global_name": account.global_name,
        "email": account.email,
        "email_verified": account.email_verified,
        "bot": account.bot,
        "acls": list(account.acls),
        "flags": str(account.flags),
        "created_at": iso_timestamp(account.created_at),
    }
