"""Allocation of tags: a username and, where the instance has them, a discriminator of 1 to 9999 (wire facts 5.1)."""

from __future__ import annotations

import random
import sqlite3
from typing import Final

import attrs

from chat.config import Settings
from chat.errors import InvalidFormBody
from chat.store import accounts
from chat.store.accounts import Account

DISCRIMINATORS: Final = range(1, 10_000)
NO_DISCRIMINATOR: Final = 0
"""The discriminator of everybody on an instance without them."""


class Usernames:
    """Gives out tags by the instance's style."""

    def __init__(self, settings: Settings, chance: random.Random) -> None:
        self._chance = chance
        self.has_discriminators: Final = settings.tag_style == "discriminator"
        self._sign_in_by_name = settings.sign_in == "username"

    def allocate(self, connection: sqlite3.Connection, username: str, *, bot: bool = False) -> int:
        """In a unit of writing: a free discriminator for the username.

        People of an instance that they sign in to by username share no username; elsewhere names may be shared.

        :raises InvalidFormBody: at `username`, USERNAME_ALREADY_TAKEN or TOO_MANY_USERS_WITH_THIS_USERNAME.
        """
        if self._sign_in_by_name and not bot:
            self._require_unshared(connection, username, None)
        if self.has_discriminators:
            return self._free_number(connection, username)
        if accounts.by_tag(connection, username, NO_DISCRIMINATOR) is not None:
            raise InvalidFormBody.at("username", "USERNAME_ALREADY_TAKEN")
        return NO_DISCRIMINATOR

    def claimed(
        self, connection: sqlite3.Connection, account: Account, username: str | None, discriminator: int | None
    ) -> Account:
        """In a unit of writing: the account with the tag that it asks for; None keeps its username.

        Without a discriminator it keeps its own if that is free for the new username, else gets another.

        :raises InvalidFormBody: as `allocate`; TAG_ALREADY_TAKEN at `discriminator`.
        """
        name = account.username if username is None else username
        if self._sign_in_by_name and not account.bot:
            self._require_unshared(connection, name, account.id)
        number = account.discriminator if discriminator is None else discriminator
        if not self.has_discriminators:
            number = NO_DISCRIMINATOR
        holder = accounts.by_tag(connection, name, number)
        if holder is not None and holder.id != account.id:
            if not self.has_discriminators:
                raise InvalidFormBody.at("username", "USERNAME_ALREADY_TAKEN")
            if discriminator is not None:
                raise InvalidFormBody.at("discriminator", "TAG_ALREADY_TAKEN")
            number = self._free_number(connection, name)
        return attrs.evolve(account, username=name, discriminator=number)

    def _free_number(self, connection: sqlite3.Connection, username: str) -> int:
        taken = accounts.discriminators_of(connection, username)
        free = [number for number in DISCRIMINATORS if number not in taken]
        if not free:
            raise InvalidFormBody.at("username", "TOO_MANY_USERS_WITH_THIS_USERNAME")
        return self._chance.choice(free)

    @staticmethod
    def _require_unshared(connection: sqlite3.Connection, username: str, own_id: int | None) -> None:
        holders = accounts.by_username(connection, username)
        if any(not holder.bot and holder.id != own_id for holder in holders):
            raise InvalidFormBody.at("username", "USERNAME_ALREADY_TAKEN")
