"""`chat mail`: whether the instance can send mail."""

from __future__ import annotations

import os
import secrets
import time
from pathlib import Path

import click

from chat.cli.options import FILE, data_option, is_terminal, json_option, print_json


@click.group()
def mail() -> None:
    """Outgoing mail: whether it goes out."""


@mail.command()
@data_option
@click.option("--config", "config_file", type=FILE, help="Settings file in place of DIR/chat.toml.")
@click.argument("address", metavar="ADDRESS")
@json_option
def test(data: Path, config_file: Path | None, address: str, as_json: bool) -> None:
    """Send a letter and say what became of it.

    It goes to ADDRESS, with the settings that hold.
    """
    from chat.config import load_settings
    from chat.errors import OperatorError
    from chat.mail.letters import trial
    from chat.mail.outbox import Sender
    from chat.mail.smtp import Refused, ServerUnusable

    settings = load_settings(data, config_file, os.environ).settings
    if settings.mail.mode != "smtp":
        raise OperatorError(f"setting mail.mode: expected smtp, not {settings.mail.mode}: this instance sends no mail")
    sender = Sender.of(settings)
    server = f"{settings.mail.host} port {settings.mail.port}"
    letter = trial(settings.service_name, settings.public_url)
    try:
        connection = sender.connect()
        try:
            sender.send(connection, address, letter, f"test.{secrets.token_hex(8)}", time.time_ns() // 1_000_000)
        finally:
            connection.close()
    except ServerUnusable as error:
        raise OperatorError(f"{server} cannot be used: {error}") from error
    except Refused as error:
        raise OperatorError(f"{server} does not take mail for {address}: {error}") from error
    if as_json or not is_terminal():
        print_json({"server": server, "address": address})
    else:
        click.echo(f"{server} has taken a letter to {address}")
