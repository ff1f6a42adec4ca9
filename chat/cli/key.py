"""`chat key` and `chat bot`: what programs sign in with."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from chat.cli.administration import Instance, administer
from chat.cli.options import (
    acls_of,
    fields_of,
    id_argument,
    instance_options,
    json_option,
    more_acls_argument,
    print_object,
    print_objects,
)
from chat.errors import OperatorError
from chat.store.guard import UNGUARDED

if TYPE_CHECKING:
    from chat.store.administration.admin_api_keys import AdminApiKey

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
@json_option
def list_keys(data: Path, owner: str | None, as_json: bool) -> None:
    """Every key, the oldest first.

    Expired ones are among them. What a key reads is told only when it is made.
    """
    from chat.store.administration import admin_api_keys

    async def command(instance: Instance) -> list[AdminApiKey]:
        owner_id = None if owner is None else instance.accounts.find(owner).id

        def query(connection: sqlite3.Connection) -> list[AdminApiKey]:
            if owner_id is None:
                return admin_api_keys.every(connection)
            return admin_api_keys.of_owner(connection, owner_id)

        return await instance.database.read(query)

    print_objects([_fields(found) for found in administer(data, command)], KEY_COLUMNS, as_json=as_json)


@key.command("delete")
@instance_options
@id_argument("key_id")
@json_option
def delete_key(data: Path, key_id: int, as_json: bool) -> None:
    """Take key ID back: from now on it is unknown."""
    from chat.store.administration import admin_api_keys

    async def command(instance: Instance) -> AdminApiKey:
        def unit(connection: sqlite3.Connection) -> AdminApiKey:
            found = admin_api_keys.by_id(connection, key_id)
            if found is None:
                raise OperatorError(f"there is no key {key_id}")
            admin_api_keys.delete(connection, key_id)
            return found

        return await instance.database.write(unit, guard=UNGUARDED)

    print_object(_fields(administer(data, command)), as_json=as_json)


def _fields(key: AdminApiKey) -> dict[str, object]:
    return {"key_id": str(key.id), **fields_of(key, *KEY_COLUMNS[1:])}


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
    """Make an application that `owner` owns, and print what its bot needs.

    Raises OperatorError for a name that no application can have, for an owner who is not there, and where the data
    cannot be used.
    """
    from chat.domain.applications.applications import NAME_LENGTH

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
