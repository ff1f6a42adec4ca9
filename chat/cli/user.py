"""`chat user`: accounts."""

from __future__ import annotations

import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from chat.cli.options import data_option, json_option, print_object, print_objects

if TYPE_CHECKING:
    from chat.cli.administration import Instance
    from chat.store.accounts import Account

COLUMNS: Final = ("id", "username", "discriminator", "email", "bot", "acls", "created_at")
PENDING_COLUMNS: Final = ("id", "username", "discriminator", "email", "address", "created_at")
GENERATED_PASSWORD_BYTES: Final = 15


@click.group()
def user() -> None:
    """Accounts."""


@user.command()
@data_option
@click.option("--username", required=True, help="1 to 32 letters, digits and underscores.")
@click.option("--email", help="Mail address; it counts as verified.")
@click.option("--password", help="Password; one is made and printed where none is given.")
@click.option("--acl", "acls", multiple=True, help="An ACL that the account holds, such as *; may be repeated.")
@click.option("--bot-of", type=click.IntRange(0), metavar="ID", help="Make a bot that this account owns.")
@json_option
def create(
    data: Path,
    username: str,
    email: str | None,
    password: str | None,
    acls: tuple[str, ...],
    bot_of: int | None,
    as_json: bool,
) -> None:
    """Make an account."""
    from chat.cli.administration import administer
    from chat.domain.administration import NewAccount

    if bot_of is not None:
        if email is not None or password is not None or acls:
            raise click.UsageError("a bot has no mail address, password or ACLs")
        from chat.cli.bot import make_bot

        make_bot(data, str(bot_of), username, as_json=as_json)
        return
    generated = secrets.token_urlsafe(GENERATED_PASSWORD_BYTES) if password is None else None
    wanted = NewAccount(username, email, generated or password, acls)

    async def command(instance: Instance) -> Account:
        return await instance.accounts.create(wanted)

    _print_account(administer(data, command, create=True), generated, as_json=as_json)


@user.command("list")
@data_option
@json_option
def list_(data: Path, as_json: bool) -> None:
    """Every account, the oldest first."""
    from chat.cli.administration import account_fields, administer

    async def command(instance: Instance) -> list[Account]:
        return await instance.accounts.every_account()

    print_objects([account_fields(account) for account in administer(data, command)], COLUMNS, as_json=as_json)


@user.command()
@data_option
@click.argument("name", metavar="U")
@click.option("--password", help="The new password; on a terminal it is asked for, elsewhere one is made and printed.")
@json_option
def password(data: Path, name: str, password: str | None, as_json: bool) -> None:
    """Give account U a new password and end its sessions.

    U is a username, a tag (alice#0001), a mail address or an id.
    """
    from chat.cli.administration import administer

    generated = None
    if password is None and sys.stdin.isatty():
        password = click.prompt("New password", hide_input=True, confirmation_prompt=True, err=True)
    elif password is None:
        generated = secrets.token_urlsafe(GENERATED_PASSWORD_BYTES)
    chosen = password or generated or ""

    async def command(instance: Instance) -> Account:
        return await instance.accounts.set_password(instance.accounts.find(name).id, chosen)

    _print_account(administer(data, command), generated, as_json=as_json)


@user.command()
@data_option
@click.argument("name", metavar="U")
@click.option("--set", "acls", multiple=True, metavar="A", help="Hold exactly these; may be repeated, '' holds none.")
@json_option
def acl(data: Path, name: str, acls: tuple[str, ...], as_json: bool) -> None:
    """Show or set what account U may do as an administrator.

    U is a username, a tag (alice#0001), a mail address or an id.
    """
    from chat.cli.administration import administer

    async def command(instance: Instance) -> Account:
        account = instance.accounts.find(name)
        if not acls:
            return account
        return await instance.accounts.set_acls(account.id, [acl for acl in acls if acl])

    account = administer(data, command)
    print_object({"id": str(account.id), "username": account.username, "acls": list(account.acls)}, as_json=as_json)


@user.command()
@data_option
@json_option
def pending(data: Path, as_json: bool) -> None:
    """Registrations that wait for approval, the longest waiting first."""
    from chat.cli.administration import account_fields, administer
    from chat.domain.pending_registrations import PendingRegistrations

    async def command(instance: Instance) -> list[dict[str, object]]:
        waiting = await PendingRegistrations(instance.database, instance.clock).waiting()
        return [{**account_fields(account), "address": pending.address} for account, pending in waiting]

    print_objects(administer(data, command), PENDING_COLUMNS, as_json=as_json)


@user.command()
@data_option
@click.argument("name", metavar="U")
@json_option
def approve(data: Path, name: str, as_json: bool) -> None:
    """Let account U sign in, whose registration waits for approval or was turned down.

    U is a username, a tag (alice#0001), a mail address or an id.
    """
    _decide(data, name, approved=True, as_json=as_json)


@user.command()
@data_option
@click.argument("name", metavar="U")
@json_option
def reject(data: Path, name: str, as_json: bool) -> None:
    """Turn account U down, whose registration waits for approval. Its name and address stay taken.

    U is a username, a tag (alice#0001), a mail address or an id.
    """
    _decide(data, name, approved=False, as_json=as_json)


def _decide(data: Path, name: str, *, approved: bool, as_json: bool) -> None:
    from chat.cli.administration import administer
    from chat.domain.pending_registrations import PendingRegistrations
    from chat.errors import OperatorError

    async def command(instance: Instance) -> Account:
        registrations = PendingRegistrations(instance.database, instance.clock)
        account = instance.accounts.find(name)
        if not await (registrations.approve if approved else registrations.reject)(account.id):
            raise OperatorError(f"{name} does not wait for approval")
        return account

    _print_account(administer(data, command), None, as_json=as_json)


def _print_account(account: Account, generated_password: str | None, *, as_json: bool) -> None:
    """The account, with the password that nobody has seen yet."""
    from chat.cli.administration import account_fields

    fields = account_fields(account)
    if generated_password is not None:
        fields["password"] = generated_password
    print_object(fields, as_json=as_json)
