"""`chat bot`: bots, and the applications that they belong to."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from chat import wire
from chat.cli.administration import Instance, administer, administering
from chat.cli.options import fields_of, id_argument, instance_options, json_option, print_object
from chat.errors import OperatorError

if TYPE_CHECKING:
    from chat.store.accounts.accounts import Account
    from chat.store.applications.applications import Application

BOT_COLUMNS: Final = ("application_id", "name", "bot", "owner", "bot_public", "created_at", "bot_token_created_at")


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
    """Make an application that `owner` owns, and print what its bot needs. Raises OperatorError for a name that no
    application can have, for an owner who is not there, and where the data cannot be used."""
    from chat.domain.applications.applications import NAME_LENGTH

    if not 1 <= len(name) <= NAME_LENGTH:
        raise OperatorError(f"the name of a bot has 1 to {NAME_LENGTH} characters")

    async def command(instance: Instance) -> wire.NewApplication:
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


@bot.command("list")
@instance_options
@click.option("--owner", metavar="U", help="Only the bots of this account.")
@administering(*BOT_COLUMNS)
async def list_bots(instance: Instance, owner: str | None) -> list[Mapping[str, object]]:
    """Every bot with its application, the oldest first.

    A token is told only when it is made: `chat bot token` makes another.
    """
    from chat.domain.administration.command_line import tag_of
    from chat.store.accounts import accounts
    from chat.store.applications import applications

    owner_id = None if owner is None else instance.accounts.find(owner).id

    def tag(account: Account | None) -> str | None:
        return None if account is None else tag_of(account)

    def query(connection: sqlite3.Connection) -> list[Mapping[str, object]]:
        found = applications.every(connection) if owner_id is None else applications.of_owner(connection, owner_id)
        return [
            {
                "application_id": str(application.id),
                "name": application.name,
                "user_id": str(application.bot_user_id),
                "bot": tag(accounts.by_id(connection, application.bot_user_id)),
                "owner_id": str(application.owner_id),
                "owner": tag(accounts.by_id(connection, application.owner_id)),
                **fields_of(application, "bot_public", "created_at", "bot_token_created_at"),
            }
            for application in found
            if application.bot_user_id is not None
        ]

    return await instance.database.read(query)


@bot.command()
@instance_options
@id_argument("application_id")
@administering()
async def token(instance: Instance, application_id: int) -> Mapping[str, object]:
    """Give bot ID a new token.

    ID is that of the application, or of the bot's account. The old token is worth nothing from now on, and the bot's
    connections end. The new one is told here and never again.
    """
    from chat.auth.principal import CredentialKind, Principal
    from chat.domain.administration import server_notes

    application, bot_id, owner = await instance.database.read(lambda connection: _found(connection, application_id))
    with instance.telling(server_notes.signed_out(bot_id)):
        applications = instance.areas().applications.applications
        principal = Principal(owner, CredentialKind.SESSION)
        made = await applications.renew_bot_token(principal, application.id)
    return {
        "application_id": str(application.id),
        "user_id": made["bot"]["id"],
        "username": made["bot"]["username"],
        "token": made["token"],
    }


def _found(connection: sqlite3.Connection, name: int) -> tuple[Application, int, Account]:
    """The application of a bot, the bot's id, and who owns it. Raises OperatorError where there is none, and where it
    has no bot."""
    from chat.store.accounts import accounts
    from chat.store.applications import applications

    application = applications.by_id(connection, name) or applications.by_bot(connection, name)
    owner = None if application is None else accounts.by_id(connection, application.owner_id)
    if application is None or owner is None:
        raise OperatorError(f"there is no bot {name}")
    if application.bot_user_id is None:
        raise OperatorError(f"application {name} has no bot")
    return application, application.bot_user_id, owner
