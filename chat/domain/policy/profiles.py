"""What accounts, people and bots alike, may say of themselves: names, bio, tag; and the allocation of tags, a username
and, where the instance has them, a discriminator of 1 to 9999 (accounts.md, Names and tags)."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Mapping
from typing import Final

import attrs

from chat.classes import frozen
from chat.clock import Clock
from chat.config import Settings
from chat.domain.policy import account_rules
from chat.domain.policy.account_rules import USERNAME_LENGTH
from chat.domain.policy.blocked_values import BlockedValues
from chat.domain.policy.changes import Columns
from chat.domain.standing.user_objects import BADGE_FLAGS, has_premium
from chat.errors import InvalidFormBody
from chat.registries.error_codes import FieldCode
from chat.registries.user_flags import UserFlag
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account


@frozen
class TagChange:
    """The tag asked for; None keeps the username, or leaves the discriminator to the instance."""

    username: str | None = None
    discriminator: int | None = None

    def without_repeated(self, known: Account) -> TagChange:
        """What of it is not the tag that the account was known to have."""
        if self.username not in (None, known.username):
            return self
        if self.discriminator in (None, known.discriminator):
            return KEEP_TAG
        return TagChange(None, self.discriminator)


KEEP_TAG: Final = TagChange()

ONBOARDING_DISMISSED: Final = "has_dismissed_premium_onboarding"

MARKS: Final = (*BADGE_FLAGS, ONBOARDING_DISMISSED)
"""What an account says yes or no to; the store keeps it as bits."""


TEXTS: Final = ("global_name", "bio", "pronouns")
"""What an account writes of itself."""


def marked(account: Account, marks: Mapping[str, bool]) -> Account:
    """The account with these bits set or cleared."""
    premium_flags, flags = account.premium_flags, account.flags
    for name, holds in marks.items():
        if name == ONBOARDING_DISMISSED:
            flags = _with_bit(flags, UserFlag.HAS_DISMISSED_PREMIUM_ONBOARDING.value, holds)
        else:
            premium_flags = _with_bit(premium_flags, BADGE_FLAGS[name], holds)
    return attrs.evolve(account, flags=flags, premium_flags=premium_flags)


def _with_bit(flags: int, bit: int, holds: bool) -> int:
    return flags | bit if holds else flags & ~bit


class ProfileRules:
    def __init__(self, clock: Clock, settings: Settings, blocked: BlockedValues) -> None:
        self._clock = clock
        self._settings = settings
        self._blocked = blocked

    def checked(self, account: Account, profile: Columns, tag: TagChange) -> Columns:
        """The columns as they are to be stored; every rule is checked but those that ask who else has the tag.

        `profile` holds columns and their new values: global_name, bio, pronouns, accent_color, mention_flags.

        :raises InvalidFormBody: with the first field that breaks a rule.
        :raises ApiError: CONTENT_BLOCKED.
        """
        if "global_name" in profile:
            profile["global_name"] = account_rules.global_name(profile["global_name"])
        bio = profile.get("bio")
        if bio is not None and len(bio) > self._settings.limits.max_bio_length:
            raise InvalidFormBody.at("bio", FieldCode.CONTENT_EXCEEDS_MAX_LENGTH)
        if tag.username is not None:
            account_rules.username(tag.username, service_name=self._settings.service_name)
            self._blocked.require_profile(tag.username)
        for name in TEXTS:
            self._blocked.require_profile(profile.get(name) or "")
        if tag.discriminator is not None:
            self._require_choice(account, tag.discriminator)
        return profile

    def require_name(self, name: str) -> None:
        """Raise CONTENT_BLOCKED for what nothing may be called that shows itself like an account."""
        self._blocked.require_profile(name)

    def _require_choice(self, account: Account, discriminator: int) -> None:
        """Raise InvalidFormBody unless the account may have this discriminator, provided that it is free."""
        if self._settings.tag_style != "discriminator":
            raise InvalidFormBody.at("discriminator", FieldCode.DISCRIMINATOR_NOT_SUPPORTED_ON_INSTANCE)
        if discriminator == account.discriminator:
            return
        if discriminator not in DISCRIMINATORS:
            raise InvalidFormBody.at("discriminator", FieldCode.DISCRIMINATOR_OUT_OF_RANGE)
        everyone = self._settings.premium_mode == "everyone"
        if not everyone and not has_premium(account, self._clock.now_ms()):
            raise InvalidFormBody.at("discriminator", FieldCode.CHANGING_DISCRIMINATOR_REQUIRES_PREMIUM)


DISCRIMINATORS: Final = range(1, 10_000)
NO_DISCRIMINATOR: Final = 0
"""The discriminator of all accounts on an instance without them."""

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
                raise InvalidFormBody.at("discriminator", FieldCode.TAG_ALREADY_TAKEN)
            number = self._free_number(connection, name)
        return attrs.evolve(account, username=name, discriminator=number)

    def _free_number(self, connection: sqlite3.Connection, username: str) -> int:
        if not self.has_discriminators:
            return NO_DISCRIMINATOR
        taken = accounts.discriminators_of(connection, username)
        free = [number for number in DISCRIMINATORS if number not in taken]
        if not free:
            raise InvalidFormBody.at("username", FieldCode.TOO_MANY_USERS_WITH_THIS_USERNAME)
        return self._chance.choice(free)

    def _require_unshared(
        self, connection: sqlite3.Connection, username: str, own_id: int | None, *, bot: bool
    ) -> None:
        """Raise InvalidFormBody for a username that another account has where names are not shared.

        They are not on an instance without discriminators, and not among people who sign in by username.
        """
        if self.has_discriminators and (bot or not self._sign_in_by_name):
            return
        others = [holder for holder in accounts.by_username(connection, username) if holder.id != own_id]
        if any(not self.has_discriminators or not holder.bot for holder in others):
            raise InvalidFormBody.at("username", FieldCode.USERNAME_ALREADY_TAKEN)
