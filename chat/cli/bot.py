"""`chat bot`: applications with their bot accounts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chat.cli.options import instance_options, json_option, print_object

if TYPE_CHECKING:
    from chat.cli.administration import Instance


@click.group()
def bot() -> None:
    """Bots, and the applications that they belong to."""


@bot.command()
@instance_options
@click.option("--owner", required=True, metavar="U", help="Who owns the bot: username, tag, mail address or id.")
@click.option("--name", required=True, metavar="N", help="Name of the application and of its bot.")
@json_option
def create(data: Path, owner: str, name: str, as_json: bool) -> None:
    """Make an application with a bot account.

    The token is told here and never again.
    """
    make_bot(data, owner, name, as_json=as_json)


def make_bot(data: Path, owner: str, name: str, *, as_json: bool) -> None:
    """Make an application that `owner` owns, and print what its bot needs.

    Raises OperatorError for a name that no application can have, for an owner who is not there, and where the data
    cannot be used.
    """
    from chat.cli.administration import administer
    from chat.domain.applications.applications import NAME_LENGTH
    from chat.errors import OperatorError

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
