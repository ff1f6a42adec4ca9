"""`chat user`: accounts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from chat.cli import passwords
from chat.cli.acl_words import acls_of, more_acls_argument
from chat.cli.options import (
    SNOWFLAKE,
    account_argument,
    instance_options,
    is_terminal,
    json_option,
    print_json,
    print_object,
    print_objects,
)
from chat.cli.user_approval import approve, pending, reject
from chat.cli.user_standing import ban, delete, unban

if TYPE_CHECKING:
    from chat.cli.administration import Instance
    from chat.store.accounts.accounts import Account

COLUMNS: Final = ("id", "username", "discriminator", "email", "bot", "acls", "created_at")
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


for command in (ban, unban, delete, pending, approve, reject):
    user.add_command(command)


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
    from chat.cli.administration import administer
    from chat.domain.administration.administration import NewAccount

    held = acls_of("--acl", acls, more)
    if bot_of is not None:
        if email is not None or password is not None or held:
            raise click.UsageError("a bot has no mail address, password or ACLs")
        from chat.cli.bot import make_bot

        make_bot(data, str(bot_of), username, as_json=as_json)
        return
    generated = passwords.generated() if password is None else None
    wanted = NewAccount(username, email, generated or passwords.read(password or ""), held)

    async def command(instance: Instance) -> Account:
        return await instance.accounts.create(wanted)

    _print_account(administer(data, command, create=True), generated, as_json=as_json)


@user.command("list")
@instance_options
@json_option
def list_(data: Path, as_json: bool) -> None:
    """Every account, the oldest first."""
    from chat.cli.administration import account_fields, administer

    async def command(instance: Instance) -> list[Account]:
        return await instance.accounts.every_account()

    print_objects([account_fields(account) for account in administer(data, command)], COLUMNS, as_json=as_json)


@user.command()
@instance_options
@account_argument
@json_option
def show(data: Path, name: str, as_json: bool) -> None:
    """Show what there is of account U.

    These are the fields of the Admin API.
    """
    from chat.cli.administration import administer
    from chat.domain.administration.admin_audit_log import the_instance

    async def command(instance: Instance) -> dict[str, Any]:
        account = instance.accounts.find(name)
        (shown,) = await instance.areas().administration.lists.account(the_instance(), account.id)
        return shown

    shown = administer(data, command)
    print_object(shown, as_json=as_json, shown=[field for field, value in shown.items() if value is not None])


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
    from chat.cli.administration import administer

    generated = None
    if password is None and sys.stdin.isatty():
        chosen = passwords.asked_for()
    elif password is None:
        chosen = generated = passwords.generated()
    else:
        chosen = passwords.read(password)

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
    from chat.cli.administration import administer
    from chat.domain.administration.admin_audit_log import the_instance
    from chat.domain.administration.administration import require_acls
    from chat.store.outside_changes import ACCOUNT_CHANGED

    wanted = require_acls(acls_of("--set", acls, more))

    async def command(instance: Instance) -> dict[str, object]:
        account = instance.accounts.find(name)
        held = account.acls
        if acls:
            with instance.telling((ACCOUNT_CHANGED, {"user_id": account.id})):
                accounts = instance.areas().administration.accounts
                held = (await accounts.set_acls(the_instance(), account.id, wanted))["acls"]
        return {"id": str(account.id), "username": account.username, "acls": list(held)}

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
    from chat.cli.administration import administer
    from chat.domain.administration.admin_audit_log import the_instance
    from chat.store.outside_changes import CREDENTIALS_REVOKED

    async def command(instance: Instance) -> list[dict[str, Any]] | int:
        account, administration = instance.accounts.find(name), instance.areas().administration
        if not end:
            return await administration.lists.sessions(the_instance(), account.id)
        # A bot is on the gateway with its token, which is none of its sign-ins.
        revoked = [] if account.bot else [(CREDENTIALS_REVOKED, {"user_id": account.id})]
        with instance.telling(*revoked):
            return await administration.credentials.terminate_sessions(the_instance(), account.id)

    found = administer(data, command)
    if not isinstance(found, int):
        print_objects(found, SESSION_COLUMNS, as_json=as_json)
    elif as_json or not is_terminal():
        print_json({"terminated_count": found})
    else:
        click.echo("1 session ended" if found == 1 else f"{found} sessions ended")


def _print_account(account: Account, generated_password: str | None, *, as_json: bool) -> None:
    """The account, with the password that nobody has seen yet."""
    from chat.cli.administration import account_fields

    fields = account_fields(account)
    if generated_password is not None:
        fields["password"] = generated_password
    print_object(fields, as_json=as_json)
