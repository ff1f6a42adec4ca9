"""How commands work on the data directory, whether or not a server runs on it."""

from __future__ import annotations

import contextlib
import os
import random
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import attrs

if TYPE_CHECKING:
    from chat.api.services import Services
    from chat.clock import Clock
    from chat.config import Settings
    from chat.domain.administration import Administration
    from chat.store.accounts import Account
    from chat.store.data_directory import DataDirectory
    from chat.store.database import Database

T = TypeVar("T")

FIRST_WORKER: Final = 2
"""Of snowflakes made by commands; the server's own is below, and each process takes one by its number."""


@attrs.frozen(kw_only=True)
class Instance:
    """The parts of the program that commands use, on the database of one data directory."""

    settings: Settings
    database: Database
    clock: Clock
    chance: random.Random
    directory: DataDirectory
    worker: int
    accounts: Administration

    def services(self) -> Services:
        """Everything that the API can do; nobody is connected who would hear of it."""
        from chat.server import Server, Surroundings

        surroundings = Surroundings(
            settings=self.settings,
            database=self.database,
            clock=self.clock,
            chance=self.chance,
            directory=self.directory.path,
            secret=self.directory.signing_key(),
            worker=self.worker,
        )
        return Server(surroundings).services


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
        async with _opened(directory, settings, clock) as instance:
            return await command(instance)

    return trio.run(main)


@contextlib.asynccontextmanager
async def _opened(directory: DataDirectory, settings: Settings, clock: Clock) -> AsyncIterator[Instance]:
    from chat.auth.passwords import Passwords
    from chat.domain.administration import Administration
    from chat.domain.usernames import Usernames
    from chat.snowflake import SnowflakeGenerator
    from chat.store.database import open_database

    chance = secrets.SystemRandom()
    worker = FIRST_WORKER + os.getpid() % (1024 - FIRST_WORKER)
    async with open_database(directory.database, inline=True) as database:
        yield Instance(
            settings=settings,
            database=database,
            clock=clock,
            chance=chance,
            directory=directory,
            worker=worker,
            accounts=Administration(
                database,
                clock,
                SnowflakeGenerator(clock, worker),
                Passwords(chance),
                Usernames(settings, chance),
                settings,
            ),
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
