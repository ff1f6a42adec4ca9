"""`chat job`: durable background work."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from chat.cli.options import id_argument, instance_options, json_option, print_object, print_objects
from chat.registries.jobs import JobStatus, JobType

if TYPE_CHECKING:
    from chat.cli.administration import Instance
    from chat.domain.administration.job_ledger import JobLedger

T = TypeVar("T")

COLUMNS: Final = ("job_id", "task_type", "status", "progress", "progress_message", "created_at", "error_message")


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
def list_(data: Path, status: str | None, task_type: str | None, limit: int, as_json: bool) -> None:
    """Jobs, the newest first."""
    found = _administered(
        data,
        lambda ledger: ledger.page(
            status=None if status is None else JobStatus(status),
            task_type=None if task_type is None else JobType(task_type),
            before=None,
            limit=limit,
        ),
    )
    print_objects(found, COLUMNS, as_json=as_json, in_words=_in_words)


@job.command()
@instance_options
@id_argument("job_id")
@json_option
def show(data: Path, job_id: int, as_json: bool) -> None:
    """One job."""

    async def get(ledger: JobLedger) -> dict[str, Any]:
        return ledger.get(job_id)

    _print(_administered(data, get, job_id), as_json=as_json)


@job.command()
@instance_options
@id_argument("job_id")
@json_option
def cancel(data: Path, job_id: int, as_json: bool) -> None:
    """End a job.

    One that waits is over at once, one that runs before its next step. What it has done stays done.
    """
    from chat.domain.administration.admin_audit_log import the_instance

    _print(_administered(data, lambda ledger: ledger.cancel(the_instance(), job_id), job_id), as_json=as_json)


def _administered(data: Path, command: Callable[[JobLedger], Awaitable[T]], job_id: int | None = None) -> T:
    from chat.cli.administration import administer
    from chat.domain.administration.job_ledger import JobLedger
    from chat.errors import ApiError, OperatorError
    from chat.jobs.runner import Jobs

    async def run(instance: Instance) -> T:
        database = instance.database
        try:
            return await command(
                JobLedger(database=database, orders=Jobs(database, instance.clock, instance.snowflakes))
            )
        except ApiError as error:
            if error.code == "NOT_FOUND":
                raise OperatorError(f"there is no job {job_id}") from None
            if error.code == "CONFLICT":
                raise OperatorError(f"job {job_id} is over, or is of a type that must not be cancelled") from None
            raise

    return administer(data, run)


def _print(job: dict[str, Any], *, as_json: bool) -> None:
    print_object(job, as_json=as_json, shown=[name for name, value in job.items() if value is not None])


def _in_words(job: Mapping[str, Any]) -> dict[str, str]:
    current, total = job["progress_current"], job["progress_total"]
    return {"progress": f"{current}" if total is None else f"{current} of {total}"}
