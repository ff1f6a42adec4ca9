"""What accounts, people and bots alike, may say of themselves: names, bio, tag (accounts.md, Names and tags)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import attrs

from chat.clock import Clock
from chat.config import Settings
from chat.domain.policy import account_rules
from chat.domain.policy.blocked_values import BlockedValues
from chat.domain.policy.usernames import DISCRIMINATORS
from chat.domain.standing.user_objects import BADGE_FLAGS, has_premium
from chat.errors import InvalidFormBody
from chat.registries.user_flags import UserFlag
from chat.store.accounts.accounts import Account


@attrs.frozen
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
    """Judges changes of a profile."""

    def __init__(self, clock: Clock, settings: Settings, blocked: BlockedValues) -> None:
        self._clock = clock
        self._settings = settings
        self._blocked = blocked

    def checked(self, account: Account, profile: dict[str, Any], tag: TagChange) -> dict[str, Any]:
        """The columns as they are to be stored; every rule is checked but those that ask who else has the tag.

        `profile` holds columns and their new values: global_name, bio, pronouns, accent_color, mention_flags.

        :raises InvalidFormBody: with the first field that breaks a rule.
        :raises ApiError: CONTENT_BLOCKED.
        """
        if "global_name" in profile:
            profile["global_name"] = account_rules.global_name(profile["global_name"])
        bio = profile.get("bio")
        if bio is not None and len(bio) > self._settings.limits.max_bio_length:
            raise InvalidFormBody.at("bio", "CONTENT_EXCEEDS_MAX_LENGTH")
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
            raise InvalidFormBody.at("discriminator", "DISCRIMINATOR_NOT_SUPPORTED_ON_INSTANCE")
        if discriminator == account.discriminator:
            return
        if discriminator not in DISCRIMINATORS:
            raise InvalidFormBody.at("discriminator", "DISCRIMINATOR_OUT_OF_RANGE")
        everyone = self._settings.premium_mode == "everyone"
        if not everyone and not has_premium(account, self._clock.now_ms()):
            raise InvalidFormBody.at("discriminator", "CHANGING_DISCRIMINATOR_REQUIRES_PREMIUM")
