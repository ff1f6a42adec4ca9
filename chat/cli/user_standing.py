"""`chat user ban`, `unban` and `delete`: on the same functions as the Admin API, with the same limits."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from chat.cli.administration import Instance, administer
from chat.cli.options import account_argument, instance_options, json_option, notify_option, print_object, reason_option
from chat.errors import ApiError, OperatorError
from chat.registries.error_codes import ErrorCode
from chat.registries.reports import DeletionReason

if TYPE_CHECKING:
    from chat.domain.administration.assemble import AdministrationArea
    from chat.store.accounts.accounts import Account

SHOWN: Final = ("id", "username", "discriminator", "flags", "temp_banned_until", "pending_deletion_at")
REASON_LENGTH: Final = 512
REASONS: Final = {reason.name.lower().replace("_", "-"): reason for reason in DeletionReason}

Do = Callable[["AdministrationArea", "Instance", "Account"], Awaitable[dict[str, Any]]]


@click.command()
@instance_options
@account_argument
@click.option(
    "--hours", type=click.IntRange(1, 8_760), metavar="N", help="For how long.  [default: until it is lifted]"
)
@click.option("--reason", help="Why; it stands in the audit log and in the mail to the holder.")
@notify_option
@json_option
def ban(data: Path, name: str, hours: int | None, reason: str | None, notify: bool, as_json: bool) -> None:
    """Keep everybody out of account U.

    Its sessions end at once. A ban that stands is replaced.
    """
    _require_length("--reason", reason)
    from chat.domain.administration.admin_audit_log import the_instance

    async def do(administration: AdministrationArea, _: Instance, account: Account) -> dict[str, Any]:
        return await administration.bans.ban(the_instance(), account.id, hours=hours or 0, reason=reason, notify=notify)

    _change(data, name, do, signs_out=True, as_json=as_json)


@click.command()
@instance_options
@account_argument
@click.option("--public-reason", help="What the holder is told in the mail.")
@reason_option
@notify_option
@json_option
def unban(data: Path, name: str, public_reason: str | None, reason: str | None, notify: bool, as_json: bool) -> None:
    """Lift the ban of account U."""
    _require_length("--public-reason", public_reason)
    _require_length("--reason", reason)
    from chat.domain.administration.admin_audit_log import the_instance

    async def do(administration: AdministrationArea, _: Instance, account: Account) -> dict[str, Any]:
        return await administration.bans.unban(
            the_instance(reason), account.id, public_reason=public_reason, notify=notify
        )

    _change(data, name, do, signs_out=False, as_json=as_json)


@click.command(epilog=f"REASON is one of: {', '.join(REASONS)}.")
@instance_options
@account_argument
@click.option(
    "--because",
    type=click.Choice(list(REASONS)),
    metavar="REASON",
    default="other",
    show_default=True,
    help="What the deletion is for; what else follows depends on it.",
)
@click.option(
    "--days",
    type=click.IntRange(1, 365),
    default=60,
    show_default=True,
    help="When; at least 14 days if the holder asked for it, else 60.",
)
@click.option("--public-reason", help="What the holder is told.")
@reason_option
@click.option("--replace", is_flag=True, help="Replace the deletion that is pending.")
@click.option("--cancel", is_flag=True, help="Take the deletion that is pending back.")
@notify_option
@json_option
def delete(
    data: Path,
    name: str,
    because: str,
    days: int,
    public_reason: str | None,
    reason: str | None,
    replace: bool,
    cancel: bool,
    notify: bool,
    as_json: bool,
) -> None:
    """Schedule the deletion of account U.

    Its sessions end at once, and nobody gets in. --cancel takes it back.
    """
    if replace and cancel:
        raise click.UsageError("--replace and --cancel exclude each other")
    _require_length("--public-reason", public_reason)
    _require_length("--reason", reason)
    from chat.domain.administration.account_closing import DeletionWish
    from chat.domain.administration.admin_audit_log import the_instance
    from chat.store.accounts import account_deletions

    async def do(administration: AdministrationArea, instance: Instance, account: Account) -> dict[str, Any]:
        pending = account_deletions.of_user(instance.database.reader, account.id)
        if pending is None and (replace or cancel):
            raise OperatorError(f"no deletion of {name} is pending")
        deletions, acting = administration.deletions, the_instance(reason)
        try:
            if cancel and pending is not None:
                return await deletions.cancel(acting, account.id, pending.due_at, notify=notify)
            wish = DeletionWish(
                reason=REASONS[because],
                days=days,
                public_reason=public_reason,
                replaces=pending.due_at if replace and pending is not None else None,
                notify=notify,
            )
            return await deletions.schedule(acting, account.id, wish)
        except ApiError as error:
            if error.code != ErrorCode.CONFLICT:
                raise
            if account.is_deleted or (pending is not None and pending.erasure_started_at is not None):
                raise OperatorError(f"{name} is erased already, or is being erased") from None
            raise OperatorError(
                f"a deletion of {name} is pending: --replace replaces it, --cancel takes it back"
            ) from None

    _change(data, name, do, signs_out=not cancel, as_json=as_json)


def _change(data: Path, name: str, do: Do, *, signs_out: bool, as_json: bool) -> None:
    """Do it, tell a running server of it, and print the account as it is then."""
    from chat.store.outside_changes import ACCOUNT_CHANGED, BLOCKLISTS_CHANGED, CREDENTIALS_REVOKED

    async def command(instance: Instance) -> dict[str, Any]:
        account = instance.accounts.find(name)
        about = {"user_id": account.id}
        notes = [(ACCOUNT_CHANGED, about), (BLOCKLISTS_CHANGED, {})]
        if signs_out:
            notes.insert(0, (CREDENTIALS_REVOKED, about))
        with instance.telling(*notes):
            return await do(instance.areas().administration, instance, account)

    print_object(administer(data, command), as_json=as_json, shown=SHOWN)


def _require_length(option: str, text: str | None) -> None:
    if text is not None and len(text) > REASON_LENGTH:
        raise click.UsageError(f"{option} has at most {REASON_LENGTH} characters")
