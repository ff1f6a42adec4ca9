"""`chat key`: admin API keys."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from chat.cli.options import data_option, json_option, print_object

if TYPE_CHECKING:
    from chat.cli.administration import Instance
    from chat.store.admin_api_keys import AdminApiKey

DEFAULT_NAME: Final = "Command line"


@click.group()
def key() -> None:
    """Admin API keys."""


@key.command()
@data_option
@click.option("--owner", required=True, metavar="U", help="Whose key it is: username, tag, mail address or id.")
@click.option("--acl", "acls", multiple=True, required=True, help="An ACL of the key, such as *; may be repeated.")
@click.option("--name", default=DEFAULT_NAME, show_default=True, help="What lists call it.")
@click.option("--expires-in-days", type=click.IntRange(1, 365), help="When it ends; never where this is left out.")
@json_option
def create(
    data: Path, owner: str, acls: tuple[str, ...], name: str, expires_in_days: int | None, as_json: bool
) -> None:
    """Make a key; it is told here and never again.

    It reaches no further than its owner does: `chat user acl` shows and sets how far that is.
    """
    from chat.cli.administration import administer
    from chat.clock import iso_timestamp
    from chat.domain.admin_api_keys import NAME_LENGTH, NewKey
    from chat.domain.administration import require_acls
    from chat.errors import OperatorError
    from chat.store import admin_api_keys

    if not 1 <= len(name) <= NAME_LENGTH:
        raise OperatorError(f"the name of a key has 1 to {NAME_LENGTH} characters")
    new = NewKey(name, require_acls(acls), expires_in_days)

    async def command(instance: Instance) -> tuple[AdminApiKey, str]:
        account = instance.accounts.find(owner)
        if account.bot:
            raise OperatorError(f"{account.username} is a bot: keys belong to people")
        made, text = instance.services().admin_api_keys.make(account.id, new)

        def unit(connection: sqlite3.Connection) -> None:
            admin_api_keys.insert(connection, made)

        await instance.database.write(unit)
        return made, text

    made, text = administer(data, command)
    print_object(
        {
            "key_id": str(made.id),
            "key": text,
            "owner_id": str(made.owner_id),
            "name": made.name,
            "acls": list(made.acls),
            "expires_at": None if made.expires_at is None else iso_timestamp(made.expires_at),
        },
        as_json=as_json,
    )
