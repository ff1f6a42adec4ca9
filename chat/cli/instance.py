"""`chat ban`, `chat job` and `chat audit-log`: what goes on in the instance; `chat key` and `chat bot`: what programs
sign in with."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from chat.cli.administration import Instance, administer
from chat.cli.options import (
    acls_of,
    fields_of,
    id_argument,
    instance_options,
    json_option,
    more_acls_argument,
    print_object,
    print_objects,
)
from chat.errors import ApiError, OperatorError
from chat.registries.error_codes import ErrorCode
from chat.registries.jobs import JobStatus, JobType
from chat.store.guard import UNGUARDED

if TYPE_CHECKING:
    from chat.domain.administration.jobs import JobLedger
    from chat.store.administration.admin_api_keys import AdminApiKey
    from chat.store.signing_in.address_bans import AddressBan


BAN_COLUMNS: Final = ("network", "reason", "created_at", "expires_at")


@click.group()
def ban() -> None:
    """Network addresses that are banned."""


@ban.command("list")
@instance_options
@json_option
def list_bans(data: Path, as_json: bool) -> None:
    """Every ban that stands, the oldest first."""
    from chat.store.signing_in import address_bans

    async def command(instance: Instance) -> list[AddressBan]:
        now = instance.clock.now_ms()
        return await instance.database.read(lambda connection: address_bans.every(connection, now))

    rows = [fields_of(ban, *BAN_COLUMNS) for ban in administer(data, command)]
    print_objects(rows, BAN_COLUMNS, as_json=as_json)


@ban.command("remove")
@instance_options
@click.argument("address", metavar="ADDRESS")
@json_option
def remove_ban(data: Path, address: str, as_json: bool) -> None:
    """Lift the ban of a network address.

    ADDRESS is an IPv4 or IPv6 address, or a network as `chat ban list` shows it.
    """
    from chat.auth.client_address import network_of
    from chat.store import outside_changes
    from chat.store.signing_in import address_bans

    network = network_of(address)

    async def command(instance: Instance) -> None:
        def unit(connection: sqlite3.Connection) -> None:
            if not address_bans.delete(connection, network):
                raise OperatorError(f"{address} is not banned")
            outside_changes.record(
                connection, outside_changes.ADDRESS_BAN_LIFTED, {"network": network}, instance.clock.now_ms()
            )

        await instance.database.write(unit, guard=UNGUARDED)

    administer(data, command)
    print_object({"network": network, "removed": True}, as_json=as_json)


T = TypeVar("T")

JOB_COLUMNS: Final = ("job_id", "task_type", "status", "progress", "progress_message", "created_at", "error_message")


@click.group()
def job() -> None:
    """Background work that a running server does."""


@job.command("list")
@instance_options
@click.option("--status", type=click.Choice([status.value for status in JobStatus]), help="Only jobs that stand so.")
@click.option(
    "--type", "task_type", type=click.Choice([kind.value for kind in JobType]), help="Only jobs of this type."
)
@click.option("--limit", type=click.IntRange(1, 200), default=50, show_default=True, help="At most so many.")
@json_option
def list_jobs(data: Path, status: str | None, task_type: str | None, limit: int, as_json: bool) -> None:
    """Jobs, the newest first."""
    found = _with_jobs(
        data,
        lambda ledger: ledger.page(
            status=None if status is None else JobStatus(status),
            task_type=None if task_type is None else JobType(task_type),
            before=None,
            limit=limit,
        ),
    )
    print_objects(found, JOB_COLUMNS, as_json=as_json, in_words=_job_in_words)


@job.command("show")
@instance_options
@id_argument("job_id")
@json_option
def show_job(data: Path, job_id: int, as_json: bool) -> None:
    """One job."""

    async def get(ledger: JobLedger) -> dict[str, Any]:
        return ledger.get(job_id)

    _print_job(_with_jobs(data, get, job_id), as_json=as_json)


@job.command("cancel")
@instance_options
@id_argument("job_id")
@json_option
def cancel_job(data: Path, job_id: int, as_json: bool) -> None:
    """End a job.

    One that waits is over at once, one that runs before its next step. What it has done stays done.
    """
    from chat.domain.administration.admin_audit_log import the_instance

    _print_job(_with_jobs(data, lambda ledger: ledger.cancel(the_instance(), job_id), job_id), as_json=as_json)


def _with_jobs(data: Path, command: Callable[[JobLedger], Awaitable[T]], job_id: int | None = None) -> T:
    from chat.domain.administration.jobs import JobLedger
    from chat.jobs import Jobs

    async def run(instance: Instance) -> T:
        database = instance.database
        try:
            return await command(
                JobLedger(database=database, orders=Jobs(database, instance.clock, instance.snowflakes))
            )
        except ApiError as error:
            if error.code == ErrorCode.NOT_FOUND:
                raise OperatorError(f"there is no job {job_id}") from None
            if error.code == ErrorCode.CONFLICT:
                raise OperatorError(f"job {job_id} is over, or is of a type that must not be cancelled") from None
            raise

    return administer(data, run)


def _print_job(job: dict[str, Any], *, as_json: bool) -> None:
    print_object(job, as_json=as_json, shown=[name for name, value in job.items() if value is not None])


def _job_in_words(job: Mapping[str, Any]) -> dict[str, str]:
    current, total = job["progress_current"], job["progress_total"]
    return {"progress": f"{current}" if total is None else f"{current} of {total}"}


AUDIT_COLUMNS: Final = ("created_at", "by", "action", "target_type", "target", "audit_log_reason", "details")
TEXT_LENGTH: Final = 1_024


@click.command("audit-log")
@instance_options
@click.option("--search", metavar="WORDS", help="Only entries with these words.")
@click.option("--by", metavar="U", help="Only what this account did.")
@click.option("--about", metavar="U", help="Only what was done to this account.")
@click.option("--limit", type=click.IntRange(1, 200), default=50, show_default=True, help="At most so many.")
@json_option
def audit_log(data: Path, search: str | None, by: str | None, about: str | None, limit: int, as_json: bool) -> None:
    """What administrators did, the newest first.

    What was done at this command line has no account: its administrator is 0.
    """
    from chat.domain.administration.admin_audit_log import AdminAuditReading
    from chat.store.administration.admin_audit_log import EntriesWanted

    async def command(instance: Instance) -> list[dict[str, Any]]:
        accounts = instance.accounts
        wanted = EntriesWanted(
            text=None if search is None else search[:TEXT_LENGTH],
            admin_user_id=None if by is None else accounts.find(by).id,
            target_type=None if about is None else "user",
            target_id=None if about is None else str(accounts.find(about).id),
            limit=limit,
        )
        entries: list[dict[str, Any]] = (await AdminAuditReading(database=instance.database).search(wanted))["logs"]
        return entries

    print_objects(administer(data, command), AUDIT_COLUMNS, as_json=as_json, in_words=_entry_in_words)


def _entry_in_words(entry: Mapping[str, Any]) -> dict[str, str]:
    details = ", ".join(f"{name}: {value}" for name, value in entry["metadata"].items())
    return {
        "by": _named(entry["admin_user"], entry["admin_user_id"]),
        "target": _named(entry["target_user"], entry["target_id"]),
        "details": details,
    }


def _named(summary: dict[str, Any] | None, otherwise: str) -> str:
    return otherwise if summary is None else f"{summary['username']}#{summary['discriminator']}"


DEFAULT_NAME: Final = "Command line"
KEY_COLUMNS: Final = ("key_id", "owner_id", "name", "acls", "created_at", "last_used_at", "expires_at")


@click.group()
def key() -> None:
    """Admin API keys, for programs that administer."""


@key.command("create")
@instance_options
@click.option("--owner", required=True, metavar="U", help="Whose key it is: username, tag, mail address or id.")
@click.option(
    "--acl", "acls", multiple=True, required=True, metavar="A", help="An ACL of the key, such as *; may be repeated."
)
@click.option("--name", default=DEFAULT_NAME, show_default=True, help="What lists call it.")
@click.option("--expires-in-days", type=click.IntRange(1, 365), help="When it ends; never where this is left out.")
@json_option
@more_acls_argument
def create_key(
    data: Path,
    owner: str,
    acls: tuple[str, ...],
    name: str,
    expires_in_days: int | None,
    as_json: bool,
    more: tuple[str, ...],
) -> None:
    """Make a key.

    It is told here and never again. It reaches no further than its owner does:
    `chat user acl` shows and sets how far that is.
    """
    from chat.auth.tokens import TokenMint
    from chat.domain.administration.admin_api_keys import NAME_LENGTH, AdminApiKeys, NewKey
    from chat.domain.administration.command_line import require_acls
    from chat.store.administration import admin_api_keys

    if not 1 <= len(name) <= NAME_LENGTH:
        raise OperatorError(f"the name of a key has 1 to {NAME_LENGTH} characters")
    new = NewKey(name, require_acls(acls_of("--acl", acls, more)), expires_in_days)

    async def command(instance: Instance) -> tuple[AdminApiKey, str]:
        account = instance.accounts.find(owner)
        if account.bot:
            raise OperatorError(f"{account.username} is a bot: keys belong to people")
        keys = AdminApiKeys(instance.database, instance.clock, instance.snowflakes, TokenMint(instance.chance))
        made, text = keys.make(account.id, new)

        def unit(connection: sqlite3.Connection) -> None:
            admin_api_keys.insert(connection, made)

        await instance.database.write(unit, guard=UNGUARDED)
        return made, text

    made, text = administer(data, command)
    told = {"key_id": str(made.id), "key": text, **fields_of(made, "owner_id", "name", "acls", "expires_at")}
    print_object(told, as_json=as_json)


@key.command("list")
@instance_options
@click.option("--owner", metavar="U", help="Only the keys of this account.")
@json_option
def list_keys(data: Path, owner: str | None, as_json: bool) -> None:
    """Every key, the oldest first.

    Expired ones are among them. What a key reads is told only when it is made.
    """
    from chat.store.administration import admin_api_keys

    async def command(instance: Instance) -> list[AdminApiKey]:
        owner_id = None if owner is None else instance.accounts.find(owner).id

        def query(connection: sqlite3.Connection) -> list[AdminApiKey]:
            if owner_id is None:
                return admin_api_keys.every(connection)
            return admin_api_keys.of_owner(connection, owner_id)

        return await instance.database.read(query)

    print_objects([_fields(found) for found in administer(data, command)], KEY_COLUMNS, as_json=as_json)


@key.command("delete")
@instance_options
@id_argument("key_id")
@json_option
def delete_key(data: Path, key_id: int, as_json: bool) -> None:
    """Take key ID back: from now on it is unknown."""
    from chat.store.administration import admin_api_keys

    async def command(instance: Instance) -> AdminApiKey:
        def unit(connection: sqlite3.Connection) -> AdminApiKey:
            found = admin_api_keys.by_id(connection, key_id)
            if found is None:
                raise OperatorError(f"there is no key {key_id}")
            admin_api_keys.delete(connection, key_id)
            return found

        return await instance.database.write(unit, guard=UNGUARDED)

    print_object(_fields(administer(data, command)), as_json=as_json)


def _fields(key: AdminApiKey) -> dict[str, object]:
    return {"key_id": str(key.id), **fields_of(key, *KEY_COLUMNS[1:])}


@click.group()
def bot() -> None:
    """Bots, and the applications that they belong to."""


@bot.command("create")
@instance_options
@click.option("--owner", required=True, metavar="U", help="Who owns the bot: username, tag, mail address or id.")
@click.option("--name", required=True, metavar="N", help="Name of the application and of its bot.")
@json_option
def create_bot(data: Path, owner: str, name: str, as_json: bool) -> None:
    """Make an application with a bot account.

    The token is told here and never again.
    """
    make_bot(data, owner, name, as_json=as_json)


def make_bot(data: Path, owner: str, name: str, *, as_json: bool) -> None:
    """Make an application that `owner` owns, and print what its bot needs.

    Raises OperatorError for a name that no application can have, for an owner who is not there, and where the data
    cannot be used.
    """
    from chat.domain.applications.applications import NAME_LENGTH

    if not 1 <= len(name) <= NAME_LENGTH:
        raise OperatorError(f"the name of a bot has 1 to {NAME_LENGTH} characters")

    async def command(instance: Instance) -> dict[str, Any]:
        from chat.auth.principal import CredentialKind, Principal
        from chat.domain.applications.applications import NewApplication

        principal = Principal(instance.accounts.find(owner), CredentialKind.SESSION)
        return await instance.areas().applications.applications.create(principal, NewApplication(name=name))

    application = administer(data, command)
    print_object(
        {
            "application_id": application["id"],
            "user_id": application["bot"]["id"],
            "username": application["bot"]["username"],
            "token": application["bot"]["token"],
            "client_secret": application["client_secret"],
        },
        as_json=as_json,
    )
