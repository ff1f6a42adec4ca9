"""`chat openapi`: the OpenAPI document, without a server."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from chat.cli.options import FILE, data_option


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
    from chat.api.routes import ROUTES
    from chat.config.loading import load_settings

    settings = load_settings(data, config_file, os.environ).settings
    document = openapi_document([*ROUTES, *ADMIN_ROUTES], settings.public_url)
    style = orjson.OPT_INDENT_2 if sys.stdout.isatty() else 0
    click.echo(orjson.dumps(document, option=style))
