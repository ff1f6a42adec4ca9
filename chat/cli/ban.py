"""`chat ban`: networks that are refused because credentials were tried there in vain."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from chat.cli.options import instance_options, json_option, print_object, print_objects

if TYPE_CHECKING:
    from chat.cli.administration import Instance
    from chat.store.signing_in.address_bans import AddressBan

COLUMNS: Final = ("network", "reason", "created_at", "expires_at")


@click.group()
def ban() -> None:
    """Network addresses that are banned."""


@ban.command("list")
@instance_options
@json_option
def list_(data: Path, as_json: bool) -> None:
    """Every ban that stands, the oldest first."""
    from chat.cli.administration import administer
    from chat.clock import iso_timestamp
    from chat.store.signing_in import address_bans

    async def command(instance: Instance) -> list[AddressBan]:
        now = instance.clock.now_ms()
        return await instance.database.read(lambda connection: address_bans.every(connection, now))

    rows = [
        {
            "network": ban.network,
            "reason": ban.reason,
            "created_at": iso_timestamp(ban.created_at),
            "expires_at": iso_timestamp(ban.expires_at),
        }
        for ban in administer(data, command)
    ]
    print_objects(rows, COLUMNS, as_json=as_json)


@ban.command()
@instance_options
@click.argument("address", metavar="ADDRESS")
@json_option
def remove(data: Path, address: str, as_json: bool) -> None:
    """Lift the ban of a network address.

    ADDRESS is an IPv4 or IPv6 address, or a network as `chat ban list` shows it.
    """
    from chat.auth.client_address import network_of
    from chat.cli.administration import administer
    from chat.errors import OperatorError
    from chat.store import outside_changes
    from chat.store.signing_in import address_bans

    network = network_of(address)

    async def command(instance: Instance) -> None:
        def unit(connection: sqlite3.Connection) -> None:
            if not address_bans.delete(connection, network):
                raise OperatorError(f"{address} is not banned")
            outside_changes.record(
                connection, outside_changes.ADDRESS_BAN_LIFTED, {"network": network}, instance.clock.now_ms()
            )

        await instance.database.write(unit)

    administer(data, command)
    print_object({"network": network, "removed": True}, as_json=as_json)
