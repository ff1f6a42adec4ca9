"""How an old database becomes a new one; the tables are in `chat.store.schema`.

Migrations are numbered, run in one transaction with the record of it (which sqlite-utils keeps), and none is edited
once released: a change is a new one at the end. `PRAGMA user_version` repeats how many have run, so that a start on a
current database asks one question and imports nothing.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from chat.errors import OperatorError
from chat.store.connections import connect
from chat.store.schema import ACCOUNTS, ADMIN_API_KEYS, GUILDS, MESSAGES, OPERATION, RELATIONSHIPS, RETAINED_EVENTS
from chat.store.schema_account_search import ACCOUNT_SEARCH, ADMIN_AUDIT_SEARCH
from chat.store.schema_administration import ADMINISTRATION
from chat.store.schema_archives import ARCHIVES
from chat.store.schema_audit_log import AUDIT_LOG
from chat.store.schema_bans import BANS
from chat.store.schema_calls import CALLS
from chat.store.schema_credentials import CREDENTIALS
from chat.store.schema_crossposts import CROSSPOSTS
from chat.store.schema_discovery import DISCOVERY_APPLICATIONS
from chat.store.schema_erasure import ERASURE
from chat.store.schema_expressions import EXPRESSIONS
from chat.store.schema_forums import ANNOUNCEMENTS, FORUMS
from chat.store.schema_instance_configuration import INSTANCE_CONFIGURATION
from chat.store.schema_jobs import JOBS
from chat.store.schema_media import MEDIA
from chat.store.schema_members import MEMBERS
from chat.store.schema_memes import FAVORITE_MEMES
from chat.store.schema_mentions import HERE_MENTIONS
from chat.store.schema_messages import MESSAGES_IN_FULL
from chat.store.schema_moderation import MODERATION
from chat.store.schema_people import PEOPLE
from chat.store.schema_private_channels import PRIVATE_CHANNELS
from chat.store.schema_push import PUSH
from chat.store.schema_reading import READING
from chat.store.schema_recovery import RECOVERY
from chat.store.schema_reports import REPORTS_IN_FULL
from chat.store.schema_search import MESSAGE_SEARCH
from chat.store.schema_store_purchases import STORE_PURCHASES
from chat.store.schema_threads import THREADS
from chat.store.schema_uploads import UPLOADS
from chat.store.schema_webhooks import WEBHOOKS

if TYPE_CHECKING:
    import sqlite_utils

Migration = Callable[["sqlite_utils.Database"], None]


def accounts_guilds_messages(database: sqlite_utils.Database) -> None:
    """The first schema."""
    for statement in (*ACCOUNTS, *GUILDS, *MESSAGES, *OPERATION):
        database.execute(statement)


def relationships(database: sqlite_utils.Database) -> None:
    """Who is whose friend, who has blocked whom."""
    for statement in RELATIONSHIPS:
        database.execute(statement)


def admin_api_keys(database: sqlite_utils.Database) -> None:
    """Keys with which programs use the administrative API."""
    for statement in ADMIN_API_KEYS:
        database.execute(statement)


def retained_events(database: sqlite_utils.Database) -> None:
    """The Dispatches of sessions at rest, which many sessions share."""
    for statement in RETAINED_EVENTS:
        database.execute(statement)


def credentials(database: sqlite_utils.Database) -> None:
    """Second factors, OAuth2 grants, tickets, and what else proves who somebody is."""
    for statement in CREDENTIALS:
        database.execute(statement)


def private_channels(database: sqlite_utils.Database) -> None:
    """Conversations outside of guilds."""
    for statement in PRIVATE_CHANNELS:
        database.execute(statement)


def recovery(database: sqlite_utils.Database) -> None:
    """When accounts are to be erased; tokens of mails by address."""
    for statement in RECOVERY:
        database.execute(statement)


def threads(database: sqlite_utils.Database) -> None:
    """Threads and their members."""
    for statement in THREADS:
        database.execute(statement)


def webhooks_and_media(database: sqlite_utils.Database) -> None:
    """Webhooks; attachments and other uploaded files."""
    for statement in (*MEDIA, *WEBHOOKS):
        database.execute(statement)


def guild_audit_log(database: sqlite_utils.Database) -> None:
    """The audit logs of guilds."""
    for statement in AUDIT_LOG:
        database.execute(statement)


def guild_bans(database: sqlite_utils.Database) -> None:
    """Who is kept out of guilds; messages are found by author."""
    for statement in BANS:
        database.execute(statement)


def expressions(database: sqlite_utils.Database) -> None:
    """Emojis and stickers; the images of a guild go with it."""
    for statement in EXPRESSIONS:
        database.execute(statement)


def kept_memberships(database: sqlite_utils.Database) -> None:
    """Time-outs of those who left; memberships that end with their account's sessions."""
    for statement in MEMBERS:
        database.execute(statement)


def messages_in_full(database: sqlite_utils.Database) -> None:
    """Pins, forwarded files, what marks messages that other tables say more of."""
    for statement in MESSAGES_IN_FULL:
        database.execute(statement)


def administration(database: sqlite_utils.Database) -> None:
    """The administrative audit log, change log, ended sign-ins; what accounts lacked for the Admin user object."""
    for statement in ADMINISTRATION:
        database.execute(statement)


def forums_and_announcements(database: sqlite_utils.Database) -> None:
    """Tags, defaults and archiving of threads; channels that follow others."""
    for statement in (*FORUMS, *ANNOUNCEMENTS):
        database.execute(statement)


def people(database: sqlite_utils.Database) -> None:
    """Groups, notes, guild profiles, settings that change by themselves."""
    for statement in PEOPLE:
        database.execute(statement)


def reading(database: sqlite_utils.Database) -> None:
    """Reactions, mentions, read states, saved messages."""
    for statement in READING:
        database.execute(statement)


def uploads(database: sqlite_utils.Database) -> None:
    """What uploads take of the disk; placeholders of pictures; what links lead to."""
    for statement in UPLOADS:
        database.execute(statement)


def message_search(database: sqlite_utils.Database) -> None:
    """Messages are found by their words; those that there are get into the index bit by bit afterwards."""
    for statement in MESSAGE_SEARCH:
        database.execute(statement)


def moderation(database: sqlite_utils.Database) -> None:
    """What nobody may use; what people report."""
    for statement in MODERATION:
        database.execute(statement)


def active_calls(database: sqlite_utils.Database) -> None:
    """Calls that are going on."""
    for statement in CALLS:
        database.execute(statement)


def push_subscriptions(database: sqlite_utils.Database) -> None:
    """Browsers that take push messages."""
    for statement in PUSH:
        database.execute(statement)


def crossposts(database: sqlite_utils.Database) -> None:
    """Copies of published messages follow them."""
    for statement in CROSSPOSTS:
        database.execute(statement)


def durable_jobs(database: sqlite_utils.Database) -> None:
    """Background work that outlives the server."""
    for statement in JOBS:
        database.execute(statement)


def here_mentions(database: sqlite_utils.Database) -> None:
    """Mentions of those who are online."""
    for statement in HERE_MENTIONS:
        database.execute(statement)


def account_search(database: sqlite_utils.Database) -> None:
    """Accounts are found by the words of their names."""
    for statement in ACCOUNT_SEARCH:
        database.execute(statement)


def favorite_memes(database: sqlite_utils.Database) -> None:
    """What accounts keep at hand."""
    for statement in FAVORITE_MEMES:
        database.execute(statement)


def admin_audit_search(database: sqlite_utils.Database) -> None:
    """Entries of the administrative audit log are found by their words."""
    for statement in ADMIN_AUDIT_SEARCH:
        database.execute(statement)


def reports_in_full(database: sqlite_utils.Database) -> None:
    """Reports of people without an account, and reports found by their words."""
    for statement in REPORTS_IN_FULL:
        database.execute(statement)


def archives(database: sqlite_utils.Database) -> None:
    """Exports of accounts and guilds."""
    for statement in ARCHIVES:
        database.execute(statement)


def account_erasure(database: sqlite_utils.Database) -> None:
    """When accounts were erased."""
    for statement in ERASURE:
        database.execute(statement)


def discovery_applications(database: sqlite_utils.Database) -> None:
    """Guilds apply for public discovery."""
    for statement in DISCOVERY_APPLICATIONS:
        database.execute(statement)


def instance_configuration(database: sqlite_utils.Database) -> None:
    """Settings chosen while the server runs, and whether the instance is set up."""
    for statement in INSTANCE_CONFIGURATION:
        database.execute(statement)


def store_purchases(database: sqlite_utils.Database) -> None:
    """What people buy in app stores."""
    for statement in STORE_PURCHASES:
        database.execute(statement)


MIGRATIONS: Final[Sequence[Migration]] = (
    accounts_guilds_messages,
    relationships,
    admin_api_keys,
    retained_events,
    credentials,
    private_channels,
    threads,
    guild_audit_log,
    guild_bans,
    recovery,
    webhooks_and_media,
    expressions,
    kept_memberships,
    forums_and_announcements,
    messages_in_full,
    administration,
    people,
    reading,
    uploads,
    message_search,
    moderation,
    active_calls,
    push_subscriptions,
    crossposts,
    durable_jobs,
    here_mentions,
    account_search,
    favorite_memes,
    admin_audit_search,
    reports_in_full,
    archives,
    account_erasure,
    discovery_applications,
    instance_configuration,
    store_purchases,
)
"""In the order in which they run; the name of the function is the name in the record."""

MIGRATION_SET: Final = "chat"


def schema_version(connection: sqlite3.Connection) -> int:
    """How many migrations this database has seen."""
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def is_current(connection: sqlite3.Connection) -> bool:
    """Whether nothing is left to migrate; raises OperatorError for a database of a newer program."""
    version = schema_version(connection)
    known = len(MIGRATIONS)
    if version > known:
        raise OperatorError(f"the database is of a newer version of this program (schema {version}; known are {known})")
    return version == known


def prepare(
    path: Path | str,
    *,
    durable: bool = True,
    while_migrating: Callable[[], contextlib.AbstractContextManager[None]] = contextlib.nullcontext,
) -> None:
    """Create the database, or migrate what is there; `while_migrating` is entered only when something is to be done.

    Raises OperatorError when the file cannot be used: not a database, not writable, of a newer program.
    """
    try:
        with contextlib.closing(connect(path, durable=durable)) as connection:
            if not is_current(connection):
                with while_migrating():
                    connection.execute("PRAGMA journal_mode = WAL")  # outside of any transaction, and for good
                    migrate(connection)
    except sqlite3.Error as error:
        raise OperatorError(f"cannot use the database {path}: {error}") from error


def migrate(connection: sqlite3.Connection, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Bring the schema up to the last of `migrations`, all in one transaction or not at all.

    The connection must be in autocommit mode (`isolation_level=None`) and outside a transaction. Raises OperatorError
    when the database is newer than this program, or when its rows do not fit the references of the new schema.
    """
    if migrations is MIGRATIONS and is_current(connection):
        return
    # A table that others refer to cannot be rebuilt while references are enforced; they are checked as a whole instead.
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("BEGIN IMMEDIATE")
    try:
        _apply(connection, migrations)
        _refuse_broken_references(connection)
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        connection.execute("PRAGMA foreign_keys = ON")


def _apply(connection: sqlite3.Connection, migrations: Sequence[Migration]) -> None:
    # sqlite-utils takes a tenth of a second to import, which a start on a current database does not pay.
    import sqlite_utils
    from sqlite_utils.migrations import Migrations

    steps = Migrations(MIGRATION_SET)
    for migration in migrations:
        steps()(migration)
    steps.apply(sqlite_utils.Database(connection, recursive_triggers=False))
    connection.execute(f"PRAGMA user_version = {len(migrations)}")


def _refuse_broken_references(connection: sqlite3.Connection) -> None:
    broken = connection.execute("PRAGMA foreign_key_check").fetchone()
    if broken is not None:
        table, _, referred, _ = broken
        raise OperatorError(f"the database cannot be migrated: a row of {table} refers to none of {referred}")
