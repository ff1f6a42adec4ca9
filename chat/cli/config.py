"""`chat config`: the settings that hold, and where each comes from."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import click

from chat.cli.options import FILE, as_text, data_option, json_alone_option, print_json, print_table


@click.group()
def config() -> None:
    """Settings, and where each comes from."""


@config.command()
@data_option
@click.option("--config", "config_file", type=FILE, help="Settings file in place of DIR/chat.toml.")
@click.option("--dev", is_flag=True, help="The settings of `chat dev`.")
@json_alone_option()
def show(data: Path, config_file: Path | None, dev: bool, as_json: bool) -> None:
    """Every setting with its value, origin and meaning.

    What is chosen in the instance configuration, while a server runs, counts more than file and environment.
    """
    from chat.config.loading import SETTINGS, load_settings
    from chat.config.overrides import ORIGIN, accepted, effective
    from chat.store.administration.chosen_settings import in_file
    from chat.store.data_directory import DataDirectory

    loaded = load_settings(data, config_file, os.environ, development=dev)
    chosen = accepted(in_file(DataDirectory(data).database))
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
