"""Allocation of tags: a username and, where the instance has them, a discriminator of 1 to 9999 (accounts.md, Names and
tags)."""

from __future__ import annotations

import random
import sqlite3
from typing import Final

import attrs

from chat.config import Settings
from chat.domain.policy.account_rules import USERNAME_LENGTH
from chat.errors import InvalidFormBody
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account

DISCRIMINATORS: Final = range(1, 10_000)
NO_DISCRIMINATOR: Final = 0
"""The discriminator of everybody on an instance without them."""

SUFFIX_DIGITS: Final = 6
STEM_LENGTH: Final = USERNAME_LENGTH - SUFFIX_DIGITS


class Usernames:
    """Gives out tags by the instance's style."""

    def __init__(self, settings: Settings, chance: random.Random) -> None:
        self._chance = chance
        self.has_discriminators: Final = settings.tag_style == "discriminator"
        self._sign_in_by_name = settings.sign_in == "username"

    def allocate(self, connection: sqlite3.Connection, username: str) -> int:
        """In a unit of writing: a free discriminator for a person who asked for this username.

        :raises InvalidFormBody: at `username`, USERNAME_ALREADY_TAKEN or TOO_MANY_USERS_WITH_THIS_USERNAME.
        """
        self._require_unshared(connection, username, None, bot=False)
        return self._free_number(connection, username)

    def allocate_like(self, connection: sqlite3.Connection, username: str, *, bot: bool) -> tuple[str, int]:
        """In a unit of writing: a free tag for an account that asked for none; a taken username gets a number."""
        name = username
        while True:
            try:
                self._require_unshared(connection, name, None, bot=bot)
                return name, self._free_number(connection, name)
            except InvalidFormBody:
                name = f"{username[:STEM_LENGTH]}{self._chance.randrange(10**SUFFIX_DIGITS):0{SUFFIX_DIGITS}}"

    def claimed(
        self, connection: sqlite3.Connection, account: Account, username: str | None, discriminator: int | None
    ) -> Account:
        """In a unit of writing: the account with the tag that it asks for; None keeps its username.

        Without a discriminator it keeps its own if that is free for the new username, else gets another.

        :raises InvalidFormBody: as `allocate`; TAG_ALREADY_TAKEN at `discriminator`.
        """
        name = account.username if username is None else username
        self._require_unshared(connection, name, account.id, bot=account.bot)
        if not self.has_discriminators:
            return attrs.evolve(account, username=name, discriminator=NO_DISCRIMINATOR)
        number = account.discriminator if discriminator is None else discriminator
        holder = accounts.by_tag(connection, name, number)
        if number not in DISCRIMINATORS or (holder is not None and holder.id != account.id):
            if discriminator is not None:
                raise InvalidFormBody.at("discriminator", "TAG_ALREADY_TAKEN")
            number = self._free_number(connection, name)
        return attrs.evolve(account, username=name, discriminator=number)

    def _free_number(self, connection: sqlite3.Connection, username: str) -> int:
        if not self.has_discriminators:
            return NO_DISCRIMINATOR
        taken = accounts.discriminators_of(connection, username)
        free = [number for number in DISCRIMINATORS if number not in taken]
        if not free:
            raise InvalidFormBody.at("username", "TOO_MANY_USERS_WITH_THIS_USERNAME")
        return self._chance.choice(free)

    def _require_unshared(
        self, connection: sqlite3.Connection, username: str, own_id: int | None, *, bot: bool
    ) -> None:
        """Raise InvalidFormBody for a username that somebody else has where names are not shared.

        They are not on an instance without discriminators, and not among people who sign in by username.
        """
        if self.has_discriminators and (bot or not self._sign_in_by_name):
            return
        others = [holder for holder in accounts.by_username(connection, username) if holder.id != own_id]
        if any(not self.has_discriminators or not holder.bot for holder in others):
            raise InvalidFormBody.at("username", "USERNAME_ALREADY_TAKEN")
