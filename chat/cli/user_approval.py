"""`chat user pending`, `approve` and `reject`: registrations that wait for the operator."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from chat.cli.options import account_argument, instance_options, json_option, print_object, print_objects

if TYPE_CHECKING:
    from chat.cli.administration import Instance
    from chat.store.accounts.accounts import Account

COLUMNS: Final = ("id", "username", "discriminator", "email", "address", "created_at")


@click.command()
@instance_options
@json_option
def pending(data: Path, as_json: bool) -> None:
    """Registrations that wait for approval.

    The longest waiting comes first.
    """
    from chat.cli.administration import account_fields, administer
    from chat.domain.signing_in.registration import PendingRegistrations

    async def command(instance: Instance) -> list[dict[str, object]]:
        waiting = await PendingRegistrations(instance.database, instance.clock).waiting()
        return [{**account_fields(account), "address": pending.address} for account, pending in waiting]

    print_objects(administer(data, command), COLUMNS, as_json=as_json)


@click.command()
@instance_options
@account_argument
@json_option
def approve(data: Path, name: str, as_json: bool) -> None:
    """Let account U in, which waits for approval.

    One that was turned down may be let in as well.
    """
    _decide(data, name, approved=True, as_json=as_json)


@click.command()
@instance_options
@account_argument
@json_option
def reject(data: Path, name: str, as_json: bool) -> None:
    """Turn account U down, which waits for approval.

    Its name and address stay taken.
    """
    _decide(data, name, approved=False, as_json=as_json)


def _decide(data: Path, name: str, *, approved: bool, as_json: bool) -> None:
    from chat.cli.administration import account_fields, administer
    from chat.domain.signing_in.registration import PendingRegistrations
    from chat.errors import OperatorError

    async def command(instance: Instance) -> Account:
        registrations = PendingRegistrations(instance.database, instance.clock)
        account = instance.accounts.find(name)
        if not await (registrations.approve if approved else registrations.reject)(account.id):
            raise OperatorError(f"{name} does not wait for approval")
        return account

    print_object(account_fields(administer(data, command)), as_json=as_json)
