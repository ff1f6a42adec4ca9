"""`chat user`: accounts; bans and deletions are the functions of the Admin API, with the same limits."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from chat import wire
from chat.cli.administration import Instance, account_fields, administer, administering
from chat.cli.options import (
    SNOWFLAKE,
    account_argument,
    acls_of,
    instance_options,
    is_terminal,
    json_option,
    more_acls_argument,
    notify_option,
    print_json,
    print_object,
    print_objects,
    reason_option,
)
from chat.errors import ApiError, OperatorError
from chat.registries.error_codes import ErrorCode
from chat.registries.reports import DeletionReason

if TYPE_CHECKING:
    from chat.store.accounts.accounts import Account


USER_COLUMNS: Final = ("id", "username", "discriminator", "email", "bot", "acls", "created_at")
SESSION_COLUMNS: Final = (
    "created_at",
    "approx_last_used_at",
    "client_ip",
    "client_location",
    "client_os",
    "client_platform",
    "deleted_at",
)


@click.group()
def user() -> None:
    """Accounts: make, find, change, ban and delete them.

    An account U is named by its username, tag (alice#0001), mail address or id.
    """


# Passwords: lists of processes and histories of shells do not show them

FROM_STANDARD_INPUT: Final = "-"

GENERATED_BYTES: Final = 15


def generated_password() -> str:
    """A new password."""
    return secrets.token_urlsafe(GENERATED_BYTES)


def asked_password() -> str:
    """Ask for a password twice, without showing it."""
    password: str = click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    return password


def read_password(password: str) -> str:
    """The password itself, or where it is `-` what standard input has for it: a question on a terminal, else a line."""
    if password != FROM_STANDARD_INPUT:
        return password
    return asked_password() if sys.stdin.isatty() else sys.stdin.readline().rstrip("\r\n")


# Accounts


@user.command()
@instance_options
@click.option("--username", required=True, metavar="U", help="1 to 32 letters, digits and underscores.")
@click.option("--email", metavar="E", help="Mail address; it counts as verified.")
@click.option(
    "--password",
    metavar="P",
    help="Password; - reads it from standard input or asks for it. One is made and printed where none is given.",
)
@click.option("--acl", "acls", multiple=True, metavar="A", help="An ACL that it holds, such as *; may be repeated.")
@click.option("--bot-of", type=SNOWFLAKE, metavar="ID", help="Make a bot that this account owns.")
@json_option
@more_acls_argument
def create(
    data: Path,
    username: str,
    email: str | None,
    password: str | None,
    acls: tuple[str, ...],
    bot_of: int | None,
    as_json: bool,
    more: tuple[str, ...],
) -> None:
    """Make an account.

    Where there is no data directory it is made as well.
    """
    from chat.domain.administration.command_line import NewAccount

    held = acls_of("--acl", acls, more)
    if bot_of is not None:
        if email is not None or password is not None or held:
            raise click.UsageError("a bot has no mail address, password or ACLs")
        from chat.cli.bot import make_bot

        make_bot(data, str(bot_of), username, as_json=as_json)
        return
    generated = generated_password() if password is None else None
    wanted = NewAccount(username, email, generated or read_password(password or ""), held)

    async def command(instance: Instance) -> Account:
        return await instance.accounts.create(wanted)

    _print_account(administer(data, command, create=True), generated, as_json=as_json)


@user.command("list")
@instance_options
@administering(*USER_COLUMNS)
async def list_(instance: Instance) -> list[dict[str, object]]:
    """Every account, the oldest first."""
    return [account_fields(account) for account in await instance.accounts.every_account()]


@user.command()
@instance_options
@account_argument
@administering(hide_empty=True)
async def show(instance: Instance, name: str) -> wire.AdminUser:
    """Show account U.

    These are the fields of the Admin API.
    """
    account = instance.accounts.find(name)
    (shown,) = await instance.areas().administration.lists.account(instance.acting(), account.id)
    return shown


@user.command()
@instance_options
@account_argument
@click.option(
    "--password", metavar="P", help="The new password; - reads it from standard input. It is asked for on a terminal."
)
@json_option
def password(data: Path, name: str, password: str | None, as_json: bool) -> None:
    """Give account U a new password and end its sessions.

    Without --password it is asked for on a terminal; elsewhere one is made and printed.
    """
    generated = None
    if password is None and sys.stdin.isatty():
        chosen = asked_password()
    elif password is None:
        chosen = generated = generated_password()
    else:
        chosen = read_password(password)

    async def command(instance: Instance) -> Account:
        return await instance.accounts.set_password(instance.accounts.find(name).id, chosen)

    _print_account(administer(data, command), generated, as_json=as_json)


@user.command()
@instance_options
@account_argument
@click.option("--set", "acls", multiple=True, metavar="A", help="Hold exactly these; may be repeated, '' holds none.")
@json_option
@more_acls_argument
def acl(data: Path, name: str, acls: tuple[str, ...], as_json: bool, more: tuple[str, ...]) -> None:
    """Show or set what account U may do as an administrator.

    * is everything; admin:authenticate is what every administrator needs besides.
    """
    from chat.domain.administration import server_notes
    from chat.domain.administration.command_line import require_acls

    wanted = require_acls(acls_of("--set", acls, more))

    async def command(instance: Instance) -> dict[str, object]:
        account = instance.accounts.find(name)
        held = list(account.acls)
        if acls:
            with instance.telling(server_notes.acls_changed(account.id)):
                accounts = instance.areas().administration.accounts
                held = (await accounts.set_acls(instance.acting(), account.id, wanted))["acls"]
        return {"id": str(account.id), "username": account.username, "acls": held}

    print_object(administer(data, command), as_json=as_json)


@user.command()
@instance_options
@account_argument
@click.option("--end", is_flag=True, help="End all of them; tokens of bots and applications stay.")
@json_option
def sessions(data: Path, name: str, end: bool, as_json: bool) -> None:
    """Show or end the sign-ins of account U.

    Those that have ended are shown last.
    """
    from chat.domain.administration import server_notes

    async def command(instance: Instance) -> list[wire.AdminUserSession] | int:
        account, administration = instance.accounts.find(name), instance.areas().administration
        if not end:
            return await administration.lists.sessions(instance.acting(), account.id)
        with instance.telling(server_notes.sessions_ended(account)):
            return await administration.credentials.terminate_sessions(instance.acting(), account.id)

    found = administer(data, command)
    if not isinstance(found, int):
        print_objects(found, SESSION_COLUMNS, as_json=as_json)
    elif as_json or not is_terminal():
        print_json({"terminated_count": found})
    else:
        click.echo("1 session ended" if found == 1 else f"{found} sessions ended")


def _print_account(account: Account, new_password: str | None, *, as_json: bool) -> None:
    """The account, with the password that was made for it."""
    fields = account_fields(account)
    if new_password is not None:
        fields["password"] = new_password
    print_object(fields, as_json=as_json)


# Registrations that wait for the operator

PENDING_COLUMNS: Final = ("id", "username", "discriminator", "email", "address", "created_at")


@user.command()
@instance_options
@administering(*PENDING_COLUMNS)
async def pending(instance: Instance) -> list[dict[str, object]]:
    """Registrations that wait for approval.

    The longest waiting comes first.
    """
    from chat.domain.signing_in.registration import PendingRegistrations

    waiting = await PendingRegistrations(instance.database, instance.clock).waiting()
    return [{**account_fields(account), "address": pending.address} for account, pending in waiting]


@user.command()
@instance_options
@account_argument
@administering()
async def approve(instance: Instance, name: str) -> dict[str, object]:
    """Let account U in, which waits for approval.

    One that was turned down may be let in as well.
    """
    return await _decide(instance, name, approved=True)


@user.command()
@instance_options
@account_argument
@administering()
async def reject(instance: Instance, name: str) -> dict[str, object]:
    """Turn account U down, which waits for approval.

    Its name and address stay taken.
    """
    return await _decide(instance, name, approved=False)


async def _decide(instance: Instance, name: str, *, approved: bool) -> dict[str, object]:
    from chat.domain.signing_in.registration import PendingRegistrations

    registrations = PendingRegistrations(instance.database, instance.clock)
    account = instance.accounts.find(name)
    if not await (registrations.approve if approved else registrations.reject)(account.id):
        raise OperatorError(f"{name} does not wait for approval")
    return account_fields(account)


# Bans and deletions

SHOWN: Final = ("id", "username", "discriminator", "flags", "temp_banned_until", "pending_deletion_at")
REASON_LENGTH: Final = 512
REASONS: Final = {reason.name.lower().replace("_", "-"): reason for reason in DeletionReason}

Do = Callable[[Instance, "Account"], Awaitable["wire.AdminUser"]]


@user.command()
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

    async def do(instance: Instance, account: Account) -> wire.AdminUser:
        bans = instance.areas().administration.bans
        return await bans.ban(instance.acting(), account.id, hours=hours or 0, reason=reason, notify=notify)

    _change(data, name, do, signs_out=True, as_json=as_json)


@user.command()
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

    async def do(instance: Instance, account: Account) -> wire.AdminUser:
        bans = instance.areas().administration.bans
        return await bans.unban(instance.acting(reason), account.id, public_reason=public_reason, notify=notify)

    _change(data, name, do, signs_out=False, as_json=as_json)


@user.command(epilog=f"REASON is one of: {', '.join(REASONS)}.")
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
    from chat.store.accounts import account_deletions

    async def do(instance: Instance, account: Account) -> wire.AdminUser:
        pending = account_deletions.of_user(instance.database.reader, account.id)
        if pending is None and (replace or cancel):
            raise OperatorError(f"no deletion of {name} is pending")
        deletions, acting = instance.areas().administration.deletions, instance.acting(reason)
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
    from chat.domain.administration import server_notes

    async def command(instance: Instance) -> wire.AdminUser:
        account = instance.accounts.find(name)
        with instance.telling(server_notes.account_changed(account.id, signs_out=signs_out)):
            return await do(instance, account)

    print_object(administer(data, command), as_json=as_json, shown=SHOWN)


def _require_length(option: str, text: str | None) -> None:
    if text is not None and len(text) > REASON_LENGTH:
        raise click.UsageError(f"{option} has at most {REASON_LENGTH} characters")
