"""What `chat setup` does: it reads an instance as it is, takes options for answers, and carries a wish out.

Everything is judged before anything is written. The settings file is written whole or not at all, then come the
account and the guild, each in its transaction: a run that was interrupted is simply run again.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import attrs
import click

from chat.classes import define
from chat.cli.administration import Instance, account_fields, administer
from chat.cli.guild import GUILD_COLUMNS, make_invite
from chat.cli.options import fields_of, settings_file
from chat.cli.setup_questions import Present, SetupWish, address_of, judged, networks_of, setting_value
from chat.cli.user import generated_password
from chat.config import load_settings
from chat.config.loading import accepted
from chat.config.writing import changed_file, write_settings_file
from chat.domain.administration.command_line import NewAccount
from chat.domain.guilds.guilds import GuildWish, normalised_name
from chat.domain.policy import account_rules
from chat.errors import OperatorError
from chat.registries.channel_types import ChannelType
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.administration import instance as instance_store
from chat.store.connections import connect
from chat.store.data_directory import DataDirectory
from chat.store.guilds import channels, guilds

OPTIONS: Final[Mapping[str, str]] = {
    "host": "host",
    "port": "port",
    "tls_certificate": "tls_certificate",
    "tls_key": "tls_key",
    "mail_mode": "mail.mode",
    "mail_host": "mail.host",
    "mail_port": "mail.port",
    "mail_tls": "mail.tls",
    "mail_username": "mail.username",
    "mail_password": "mail.password",
    "mail_from": "mail.from",
    "registration": "registration",
}
"""Options that are settings."""


@define
class SetupOutcome:
    """What was done: settings that the file has now, the account with a password that was made here, the guild with an
    invite into it."""

    file: Path
    written: list[str] = attrs.field(factory=list)
    administrator: Mapping[str, object] | None = None
    guild: Mapping[str, object] | None = None


def present_instance(data: Path) -> Present:
    """The instance as it is; nothing is made. Raises OperatorError for settings that are wrong, and for a database that
    cannot be read."""
    directory, named = DataDirectory(data), settings_file()
    file = directory.settings if named is None else named
    loaded = load_settings(data, named if file.exists() else None, os.environ)
    text = file.read_text("utf-8") if file.exists() else ""
    chosen: dict[str, object] = {}
    is_set_up = has_guild = False
    if directory.database.is_file():
        try:
            with contextlib.closing(connect(directory.database, read_only=True)) as connection:
                is_set_up = instance_store.value_of(connection, instance_store.CONFIGURED) is not None
                has_guild = guilds.any_exists(connection)
                chosen = accepted(instance_store.chosen_settings(connection))
        except sqlite3.Error as error:
            raise OperatorError(f"the database cannot be read: {error}") from error
    return Present(loaded, file, text, chosen, is_set_up, has_guild)


def taken_from_options(given: Mapping[str, Any], present: Present) -> SetupWish:
    """What the options say. Raises click.UsageError for what cannot be."""
    wish = SetupWish()
    if "public_url" in given:
        wish.settings["public_url"] = address_of(given["public_url"])
    if "proxies" in given:
        known = present.loaded.settings.trusted_proxies
        wanted = networks_of(" ".join(given["proxies"]))
        wish.settings["trusted_proxies"] = (*known, *(network for network in wanted if network not in known))
    secrets = {option: _line(given[option]) for option in ("admin_password", "mail_password") if option in given}
    for option, name in OPTIONS.items():
        if option in given:
            wish.settings[name] = setting_value(name, secrets.get(option, given[option]))
    if "admin" not in given and given.keys() & {"admin_email", "admin_password"}:
        raise click.UsageError("--admin-email and --admin-password go with --admin")
    if "admin" in given and not present.is_set_up:
        wish.administrator = NewAccount(given["admin"], given.get("admin_email"), secrets.get("admin_password"), ("*",))
    if "guild" in given and not present.has_guild:
        if wish.administrator is None and not present.is_set_up:
            raise click.UsageError("--guild needs somebody who owns it: --admin")
        wish.guild = judged(normalised_name)(given["guild"])
    return wish


def _line(text: str) -> str:
    """The text itself, or where it is `-` a line of standard input."""
    return sys.stdin.readline().rstrip("\r\n") if text == "-" else text


def carry_out(wish: SetupWish, present: Present, data: Path) -> SetupOutcome:
    """Write the file, then make the account and the guild.

    :raises OperatorError: with nothing written, for settings that contradict each other and a file that cannot be
        changed.
    :raises InvalidFormBody: with nothing written, for an account that cannot be.
    """
    _judge_account(wish, present)
    outcome = SetupOutcome(present.file)
    changes = _changes(wish, present)
    if changes or not present.text:
        text = changed_file(present.text, changes, present.file)
        DataDirectory(data).create()
        write_settings_file(present.file, text, judge=lambda draft: _load(data, draft, present.file))
        outcome.written = sorted(changes)
    if wish.administrator is not None or wish.guild is not None:
        administer(data, lambda instance: _make(instance, wish, outcome), create=True)
    return outcome


def _load(data: Path, draft: Path, file: Path) -> None:
    """Raise OperatorError for what is wrong with the settings of a file that is to be `file`."""
    try:
        load_settings(data, draft, os.environ)
    except OperatorError as error:
        raise OperatorError(str(error).replace(str(draft), str(file))) from None


def _judge_account(wish: SetupWish, present: Present) -> None:
    new = wish.administrator
    if new is None:
        return
    account_rules.username(new.username, service_name=str(present.value_of("service_name")))
    if new.email is not None:
        account_rules.email(new.email)
    if new.password is not None:
        account_rules.password(new.password, names=(new.username, new.email))


def _changes(wish: SetupWish, present: Present) -> dict[str, object]:
    """What differs from the file that is there."""
    content = tomllib.loads(present.text)

    def in_file(name: str) -> object:
        section, _, key = name.rpartition(".")
        return (content.get(section, {}) if section else content).get(key)

    return {
        name: value
        for name, value in wish.settings.items()
        if in_file(name) != (list(value) if isinstance(value, tuple) else value)
    }


async def _make(instance: Instance, wish: SetupWish, outcome: SetupOutcome) -> None:
    owner = None
    if wish.administrator is not None:
        made = generated_password() if wish.administrator.password is None else None
        wanted = attrs.evolve(wish.administrator, password=made or wish.administrator.password)
        owner = await instance.accounts.create(wanted)
        outcome.administrator = account_fields(owner)
        if made is not None:
            outcome.administrator["password"] = made
    if wish.guild is not None:
        outcome.guild = await _make_guild(instance, owner or _oldest_administrator(instance), wish.guild)


def _oldest_administrator(instance: Instance) -> Account:
    """Raises OperatorError where there is no account with every right."""
    found = next((one for one in accounts.every(instance.database.reader) if "*" in one.acls and not one.bot), None)
    if found is None:
        raise OperatorError("no account holds *, so the guild would have no owner: `chat guild create` names an owner")
    return found


async def _make_guild(instance: Instance, owner: Account, name: str) -> Mapping[str, object]:
    """A guild, and an invite into its first channel."""
    made = await instance.create_guild(owner, GuildWish(name=name))
    guild_id, reader = int(made["id"]), instance.database.reader
    fields = fields_of(guilds.by_id(reader, guild_id), *GUILD_COLUMNS)
    texts = [one for one in channels.of_guild(reader, guild_id) if one.type == ChannelType.GUILD_TEXT]
    return {**fields, "channel_id": str(texts[0].id), "invite": (await make_invite(instance, texts[0].id))["url"]}
