"""`chat config`, `chat mail` and `chat openapi`: what follows from the settings alone."""

from __future__ import annotations

import os
import secrets
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import click

from chat.cli.options import (
    FILE,
    as_text,
    data_option,
    is_terminal,
    json_alone_option,
    json_option,
    print_json,
    print_table,
)
from chat.errors import OperatorError


@click.group()
def config() -> None:
    """Settings, and where each comes from."""


@config.command("show")
@data_option
@click.option("--config", "config_file", type=FILE, help="Settings file in place of DIR/chat.toml.")
@click.option("--dev", is_flag=True, help="The settings of `chat dev`.")
@json_alone_option()
def show_settings(data: Path, config_file: Path | None, dev: bool, as_json: bool) -> None:
    """Every setting with its value, origin and meaning.

    What is chosen in the instance configuration, while a server runs, counts more than file and environment.
    """
    from chat.config.loading import ORIGIN, SETTINGS, accepted, effective, load_settings
    from chat.store.administration.instance import chosen_settings_in_file
    from chat.store.data_directory import DataDirectory

    loaded = load_settings(data, config_file, os.environ, development=dev)
    chosen = accepted(chosen_settings_in_file(DataDirectory(data).database))
    in_force = effective(loaded.settings, chosen)
    shown: list[dict[str, object]] = []
    for name, setting in SETTINGS.items():
        value = setting.of(in_force)
        is_chosen = name in chosen or value != setting.of(loaded.settings)
        if setting.declaration.secret and value is not None:
            value = "(secret)"
        shown.append(
            {
                "name": name,
                "value": value,
                "origin": ORIGIN if is_chosen else loaded.origins[name],
                "unit": setting.declaration.unit,
                "expected": setting.expected,
                "help": setting.declaration.help,
            }
        )
    if as_json:
        print_json(shown)
    else:
        rows = ([row["name"], _as_written(row["value"]), row["origin"], _meaning(row)] for row in shown)
        print_table(("setting", "value", "from", "meaning"), rows)


def _as_written(value: object) -> str:
    """The value in the words in which it is set."""
    return str(value).lower() if isinstance(value, bool) else as_text(value)


def _meaning(row: Mapping[str, object]) -> str:
    return f"{row['help']} ({row['unit']})" if row["unit"] else str(row["help"])


@click.group()
def mail() -> None:
    """Outgoing mail: whether it goes out."""


@mail.command("test")
@data_option
@click.option("--config", "config_file", type=FILE, help="Settings file in place of DIR/chat.toml.")
@click.argument("address", metavar="ADDRESS")
@json_option
def send_trial(data: Path, config_file: Path | None, address: str, as_json: bool) -> None:
    """Send a letter and say what became of it.

    It goes to ADDRESS, with the settings that hold.
    """
    from chat.config import load_settings
    from chat.mail.letters import Letterhead, trial
    from chat.mail.outbox import Sender
    from chat.mail.smtp import MailRefused, ServerUnusable

    settings = load_settings(data, config_file, os.environ).settings
    if settings.mail.mode != "smtp":
        raise OperatorError(f"setting mail.mode: expected smtp, not {settings.mail.mode}: this instance sends no mail")
    sender = Sender.of(settings)
    server = f"{settings.mail.host} port {settings.mail.port}"
    letter = trial(Letterhead.of(settings))
    try:
        connection = sender.connect()
        try:
            sender.send(connection, address, letter, f"test.{secrets.token_hex(8)}", time.time_ns() // 1_000_000)
        finally:
            connection.close()
    except ServerUnusable as error:
        raise OperatorError(f"{server} cannot be used: {error}") from error
    except MailRefused as error:
        raise OperatorError(f"{server} does not take mail for {address}: {error}") from error
    if as_json or not is_terminal():
        print_json({"server": server, "address": address})
    else:
        click.echo(f"{server} has taken a letter to {address}")


@click.command()
@data_option
@click.option("--config", "config_file", type=FILE, help="Settings file in place of DIR/chat.toml.")
def openapi(data: Path, config_file: Path | None) -> None:
    """Print the OpenAPI document of the HTTP API.

    It is what GET /v1/openapi.json answers.
    """
    import orjson

    from chat.admin.routes import ADMIN_ROUTES
    from chat.api.openapi.document import openapi_document
    from chat.api.routes.every import ROUTES
    from chat.config.loading import load_settings

    settings = load_settings(data, config_file, os.environ).settings
    document = openapi_document([*ROUTES, *ADMIN_ROUTES], settings.public_url)
    style = orjson.OPT_INDENT_2 if sys.stdout.isatty() else 0
    click.echo(orjson.dumps(document, option=style))


@click.command()
def asyncapi() -> None:
    """Print the AsyncAPI document of the gateway.

    It is what GET /docs/asyncapi.json answers.
    """
    from chat.manual.opening import open_manual

    click.echo(open_manual().asyncapi, nl=False)
