"""`chat ban`, `chat job` and `chat audit-log`: what goes on in the instance; `chat key`: keys of programs."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from chat import wire
from chat.cli.administration import Instance, administer, administering
from chat.cli.options import (
    acls_of,
    fields_of,
    id_argument,
    instance_options,
    json_option,
    more_acls_argument,
    print_object,
)
from chat.errors import ApiError, OperatorError
from chat.registries.error_codes import ErrorCode
from chat.registries.jobs import JobStatus, JobType
from chat.store.guard import UNGUARDED

if TYPE_CHECKING:
    from chat.domain.administration.jobs import JobLedger
    from chat.store.administration.admin_api_keys import AdminApiKey


BAN_COLUMNS: Final = ("network", "reason", "created_at", "expires_at")


@click.group()
def ban() -> None:
    """Network addresses that are banned."""


@ban.command("list")
@instance_options
@administering(*BAN_COLUMNS)
async def list_bans(instance: Instance) -> list[dict[str, object]]:
    """Every ban that stands, the oldest first."""
    from chat.store.signing_in import address_bans

    now = instance.clock.now_ms()
    found = await instance.database.read(lambda connection: address_bans.every(connection, now))
    return [fields_of(ban, *BAN_COLUMNS) for ban in found]


@ban.command("remove")
@instance_options
@click.argument("address", metavar="ADDRESS")
@administering()
async def remove_ban(instance: Instance, address: str) -> dict[str, object]:
    """Lift the ban of a network address.

    ADDRESS is an IPv4 or IPv6 address, or a network as `chat ban list` shows it.
    """
    from chat.auth.client_address import network_of
    from chat.domain.administration import server_notes
    from chat.store.signing_in import address_bans

    network = network_of(address)

    def unit(connection: sqlite3.Connection) -> None:
        if not address_bans.delete(connection, network):
            raise OperatorError(f"{address} is not banned")

    with instance.telling(server_notes.address_ban_lifted(network)):
        await instance.database.write(unit, guard=UNGUARDED)
    return {"network": network, "removed": True}


JOB_COLUMNS: Final = ("job_id", "task_type", "status", "progress", "progress_message", "created_at", "error_message")


def _job_in_words(job: Mapping[str, Any]) -> dict[str, str]:
    current, total = job["progress_current"], job["progress_total"]
    return {"progress": f"{current}" if total is None else f"{current} of {total}"}


@click.group()
def job() -> None:
    """Background work that a running server does."""


@job.command("list")
@instance_options
@click.option("--status", type=click.Choice([status.value for status in JobStatus]), help="Only jobs that stand so.")
@click.option(
    "--type", "task_type", type=click.Choice([kind.value for kind in JobType]), help="Only jobs of this type."
)
@click.option("--limit", type=click.IntRange(1, 200), default=50, show_default=True, help="How many at most.")
@administering(*JOB_COLUMNS, in_words=_job_in_words)
async def list_jobs(instance: Instance, status: str | None, task_type: str | None, limit: int) -> list[wire.Job]:
    """Jobs, the newest first."""
    return await _ledger(instance).page(
        status=None if status is None else JobStatus(status),
        task_type=None if task_type is None else JobType(task_type),
        before=None,
        limit=limit,
    )


@job.command("show")
@instance_options
@id_argument("job_id")
@administering(hide_empty=True)
async def show_job(instance: Instance, job_id: int) -> wire.Job:
    """One job."""
    with _refused(job_id):
        return _ledger(instance).get(job_id)


@job.command("cancel")
@instance_options
@id_argument("job_id")
@administering(hide_empty=True)
async def cancel_job(instance: Instance, job_id: int) -> wire.Job:
    """End a job.

    One that waits is over at once, one that runs before its next step. What it has done stays done.
    """
    with _refused(job_id):
        return await _ledger(instance).cancel(instance.acting(), job_id)


def _ledger(instance: Instance) -> JobLedger:
    from chat.domain.administration.jobs import JobLedger
    from chat.jobs import Jobs

    orders = Jobs(instance.database, instance.clock, instance.snowflakes)
    return JobLedger(database=instance.database, orders=orders)


@contextlib.contextmanager
def _refused(job_id: int) -> Iterator[None]:
    """Say in the block why the job is not shown or cancelled."""
    try:
        yield
    except ApiError as error:
        if error.code == ErrorCode.NOT_FOUND:
            raise OperatorError(f"there is no job {job_id}") from None
        if error.code == ErrorCode.CONFLICT:
            raise OperatorError(f"job {job_id} is over, or is of a type that must not be cancelled") from None
        raise


AUDIT_COLUMNS: Final = ("created_at", "by", "action", "target_type", "target", "audit_log_reason", "details")
TEXT_LENGTH: Final = 1_024


def _entry_in_words(entry: Mapping[str, Any]) -> dict[str, str]:
    details = ", ".join(f"{name}: {value}" for name, value in entry["metadata"].items())
    return {
        "by": _named(entry["admin_user"], entry["admin_user_id"]),
        "target": _named(entry["target_user"], entry["target_id"]),
        "details": details,
    }


def _named(summary: wire.AuditLogUser | None, otherwise: str) -> str:
    return otherwise if summary is None else f"{summary['username']}#{summary['discriminator']}"


@click.command("audit-log")
@instance_options
@click.option("--search", metavar="WORDS", help="Only entries with these words.")
@click.option("--by", metavar="U", help="Only what this account did.")
@click.option("--about", metavar="U", help="Only what was done to this account.")
@click.option("--limit", type=click.IntRange(1, 200), default=50, show_default=True, help="How many at most.")
@administering(*AUDIT_COLUMNS, in_words=_entry_in_words)
async def audit_log(
    instance: Instance, search: str | None, by: str | None, about: str | None, limit: int
) -> list[wire.AdminAuditLogEntry]:
    """What administrators did, the newest first.

    What was done at this command line has no account: its administrator is 0.
    """
    from chat.domain.administration.admin_audit_log import AdminAuditReading
    from chat.store.administration.admin_audit_log import EntriesWanted

    accounts = instance.accounts
    wanted = EntriesWanted(
        text=None if search is None else search[:TEXT_LENGTH],
        admin_user_id=None if by is None else accounts.find(by).id,
        target_type=None if about is None else "user",
        target_id=None if about is None else str(accounts.find(about).id),
        limit=limit,
    )
    return (await AdminAuditReading(database=instance.database).search(wanted))["logs"]


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
@administering(*KEY_COLUMNS)
async def list_keys(instance: Instance, owner: str | None) -> list[dict[str, object]]:
    """Every key, the oldest first.

    Expired ones are among them. What a key reads is told only when it is made.
    """
    from chat.store.administration import admin_api_keys

    query = admin_api_keys.every
    if owner is not None:
        query = partial(admin_api_keys.of_owner, owner_id=instance.accounts.find(owner).id)
    return [_fields(found) for found in await instance.database.read(query)]


@key.command("delete")
@instance_options
@id_argument("key_id")
@administering()
async def delete_key(instance: Instance, key_id: int) -> dict[str, object]:
    """Take key ID back: from now on it is unknown."""
    from chat.store.administration import admin_api_keys

    def unit(connection: sqlite3.Connection) -> AdminApiKey:
        found = admin_api_keys.by_id(connection, key_id)
        if found is None:
            raise OperatorError(f"there is no key {key_id}")
        admin_api_keys.delete(connection, key_id)
        return found

    return _fields(await instance.database.write(unit, guard=UNGUARDED))


def _fields(key: AdminApiKey) -> dict[str, object]:
    return {"key_id": str(key.id), **fields_of(key, *KEY_COLUMNS[1:])}
