"""`chat audit-log`: what administrators have done."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from chat.cli.options import instance_options, json_option, print_objects

if TYPE_CHECKING:
    from chat.cli.administration import Instance

COLUMNS: Final = ("created_at", "by", "action", "target_type", "target", "audit_log_reason", "details")
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
    from chat.cli.administration import administer
    from chat.domain.administration.admin_audit_reading import AdminAuditReading
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

    print_objects(administer(data, command), COLUMNS, as_json=as_json, in_words=_in_words)


def _in_words(entry: Mapping[str, Any]) -> dict[str, str]:
    details = ", ".join(f"{name}: {value}" for name, value in entry["metadata"].items())
    return {
        "by": _named(entry["admin_user"], entry["admin_user_id"]),
        "target": _named(entry["target_user"], entry["target_id"]),
        "details": details,
    }


def _named(summary: dict[str, Any] | None, otherwise: str) -> str:
    return otherwise if summary is None else f"{summary['username']}#{summary['discriminator']}"
