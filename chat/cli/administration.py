"""How commands work on the data directory, whether or not a server runs on it."""

from __future__ import annotations

import contextlib
import functools
import os
import random
import secrets
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from chat import wire
from chat.classes import frozen
from chat.cli import importing
from chat.cli.options import InWords, fields_of, json_option, no_words, print_object, print_objects, settings_file

if TYPE_CHECKING:
    from chat.clock import Clock
    from chat.config import Loaded, Settings
    from chat.domain.administration.admin_audit_log import Acting, AdminAuditLog
    from chat.domain.administration.command_line import Administration
    from chat.domain.administration.server_notes import Notes
    from chat.domain.areas import Areas
    from chat.domain.guilds.guilds import GuildWish
    from chat.snowflake import SnowflakeGenerator
    from chat.store.accounts.accounts import Account
    from chat.store.data_directory import DataDirectory
    from chat.store.database import Database

T = TypeVar("T")

Command = Callable[..., None]
Body = Callable[..., Awaitable[Any]]

FIRST_WORKER: Final = 2
"""Of snowflakes made by commands; the server's own is below, and each process takes one by its number."""


@frozen(kw_only=True)
class Instance:
    """The parts of the program that commands use, on the database of one data directory."""

    settings: Settings
    database: Database
    clock: Clock
    chance: random.Random
    directory: DataDirectory
    snowflakes: SnowflakeGenerator
    log: AdminAuditLog
    accounts: Administration

    def areas(self) -> Areas:
        """Every service of the domain; no session is connected that would hear of it, see `telling`."""
        with importing():
            from chat.assembly import Surroundings
            from chat.server import Server

        surroundings = Surroundings(
            settings=self.settings,
            database=self.database,
            clock=self.clock,
            chance=self.chance,
            directory=self.directory.path,
            secret=self.directory.signing_key(),
            snowflakes=self.snowflakes,
        )
        return Server(surroundings).areas

    def acting(self, reason: str | None = None) -> Acting:
        """The command line as an administrator."""
        from chat.domain.administration.admin_audit_log import the_instance

        return the_instance(reason)

    async def create_guild(self, owner: Account, wish: GuildWish) -> wire.Guild:
        """Make a guild, and tell a running server of it. Raises as `Guilds.create_for`."""
        from chat.domain.administration import server_notes

        def leave(connection: sqlite3.Connection, guild_id: int) -> None:
            server_notes.leave(connection, server_notes.guild_created(guild_id, owner.id), self.clock.now_ms())

        return await self.areas().guilds.guilds.create_for(owner, wish, leave)

    def telling(self, notes: Notes) -> contextlib.AbstractContextManager[None]:
        """As `server_notes.telling`."""
        from chat.domain.administration import server_notes

        return server_notes.telling(self.database, notes, self.clock)


def administer(data: Path, command: Callable[[Instance], Awaitable[T]], *, create: bool = False) -> T:
    """Run `command` on the instance in `data`; with `create` a missing one is made. Raises OperatorError where the data
    cannot be used."""
    import trio

    from chat import log
    from chat.clock import SystemClock, iso_timestamp
    from chat.config import load_settings
    from chat.store.data_directory import DataDirectory

    clock = SystemClock()
    # What goes wrong is told in one line when the command ends (`chat.cli.main`), and not on the way.
    log.configure("critical", timestamp=lambda: iso_timestamp(clock.now_ms()))
    directory = DataDirectory(data)
    directory.become_owner()
    loaded = load_settings(data, settings_file(), os.environ)
    settings = loaded.settings
    if create:
        directory.create()
    else:
        directory.require()
    directory.bring_database_up_to_date(functools.partial(_back_up, directory, loaded))

    async def main() -> T:
        async with _opened(directory, settings, clock) as instance:
            return await command(instance)

    return trio.run(main)


def _back_up(directory: DataDirectory, loaded: Loaded) -> None:
    from chat.backup.before_migrating import back_up_before_migrating

    back_up_before_migrating(directory, loaded.settings, loaded.settings_file)


def administering(*columns: str, hide_empty: bool = False, in_words: InWords = no_words) -> Callable[[Body], Command]:
    """Make a command of a function that gets the instance of --data in its place, and prints what that returns, with
    --json: an object, or a list of them. `columns` are the fields that people see, all where none is named;
    `hide_empty` leaves out those of an object that have no value, and `in_words` is that of `print_objects`."""

    def decorate(body: Body) -> Command:
        @json_option
        @functools.wraps(body)
        def command(data: Path, as_json: bool, **options: Any) -> None:
            found = administer(data, lambda instance: body(instance, **options))
            if isinstance(found, list):
                print_objects(found, columns, as_json=as_json, in_words=in_words)
                return
            shown = [name for name in columns or found if not hide_empty or found[name] is not None]
            print_object(found, as_json=as_json, shown=shown)

        return command

    return decorate


@contextlib.asynccontextmanager
async def _opened(directory: DataDirectory, settings: Settings, clock: Clock) -> AsyncIterator[Instance]:
    from chat.auth.passwords import Passwords
    from chat.config.loading import accepted, effective
    from chat.domain.administration.admin_audit_log import AdminAuditLog
    from chat.domain.administration.command_line import Administration
    from chat.domain.policy.profiles import Usernames
    from chat.snowflake import SnowflakeGenerator
    from chat.store.administration import instance
    from chat.store.database import open_database
    from chat.store.whole_database import last_id

    chance = secrets.SystemRandom()
    worker = FIRST_WORKER + os.getpid() % (1024 - FIRST_WORKER)
    snowflakes = SnowflakeGenerator(clock, worker)
    async with open_database(directory.database, inline=True) as database:
        snowflakes.stay_above(last_id(database.reader))
        settings = effective(settings, accepted(instance.chosen_settings(database.reader)))
        audit_log = AdminAuditLog(database, snowflakes)
        yield Instance(
            settings=settings,
            database=database,
            clock=clock,
            chance=chance,
            directory=directory,
            snowflakes=snowflakes,
            log=audit_log,
            accounts=Administration(
                database, clock, snowflakes, Passwords(chance), Usernames(settings, chance), audit_log, settings
            ),
        )


def account_fields(account: Account) -> dict[str, object]:
    """What commands print of an account."""
    return {
        **fields_of(account, "id", "username"),
        "discriminator": f"{account.discriminator:04}",
        **fields_of(account, "global_name", "email", "email_verified", "bot", "acls"),
        "flags": str(account.flags),
        **fields_of(account, "created_at"),
    }
