"""What an account shows of itself to another one: bio, pronouns, banner, badge, and what the two have in common
(accounts.md, Profiles).

`profile_privacy` of the settings says to whom: 0 all, 1 friends and members of a guild in common, 2 friends. Other
accounts, and blocked ones, get the same limited profile, as do all of an account whose PROFILE_HIDDEN flag is set: a
name and a face, which are in every message.
"""

from __future__ import annotations

import sqlite3
from typing import Final, Literal

from chat import wire
from chat.auth.principal import Principal
from chat.classes import define
from chat.clock import iso_timestamp
from chat.domain.core import Core
from chat.domain.standing.relationships import RelationshipType
from chat.domain.standing.user_objects import has_premium, partial_user, user_settings_object
from chat.errors import ApiError
from chat.registries.error_codes import ErrorCode
from chat.registries.user_flags import PremiumFlag, PremiumType, UserFlag
from chat.store.accounts import accounts, user_settings
from chat.store.accounts.accounts import Account
from chat.store.guilds import guilds, members
from chat.store.guilds.members import Member
from chat.store.imports import claims, placeholders
from chat.store.standing import relationships

TO_EVERYBODY: Final = 0
TO_GUILD_MEMBERS: Final = 1
"""Values of `profile_privacy`; with any other one only friends see a profile."""

OLD_NAMES: Final = 50
"""People of an import whom the caller's own profile names."""

WORDS: Final = ("bio", "pronouns", "banner", "accent_color")
"""The fields of a profile that an account shows everywhere or in one guild."""


@define(kw_only=True, eq=False)
class UserProfiles:
    _core: Core

    def get(
        self,
        principal: Principal,
        user_id: int,
        *,
        guild_id: int | None = None,
        with_mutual_friends: bool = False,
        with_mutual_guilds: bool = False,
    ) -> wire.Profile:
        """The profile of an account; with `guild_id` also what it shows as a member of that guild, if it is one.

        :raises ApiError: UNKNOWN_USER; for the guild as `Access.guild`.
        """
        reader = self._core.database.reader
        account = accounts.by_id(reader, user_id)
        if account is None:
            raise ApiError(ErrorCode.UNKNOWN_USER)
        member = None
        if guild_id is not None:
            member = self._core.access.guild(principal, guild_id).state.member(user_id)
        user = partial_user(account)
        shown = not account.is_deleted and self._shows(reader, account, principal.user_id)
        profile: wire.Profile = {
            "user": user,
            "user_profile": _own_words(account if shown else None),
            "timezone_offset": None,
        }
        if member is not None:
            state = self._core.guild_states.get(member.guild_id)
            if state is not None:
                profile["guild_member"] = state.member_object(member, user)
            if shown:
                profile["guild_member_profile"] = _words_in_guild(member)
        elif guild_id is not None and (claim := _claim(reader, guild_id, user_id, principal.user_id)) is not None:
            profile["claim"] = claim
        if guild_id is not None and user_id == principal.user_id:
            claimed = placeholders.claimed_by(reader, guild_id, user_id, OLD_NAMES)
            if claimed:
                profile["old_names"] = [partial_user(one) for one in accounts.by_ids(reader, claimed)]
        if not shown:
            return {**profile, "profile_limited": True}
        profile["connected_accounts"] = []
        _add_badge(profile, account, self._core.clock.now_ms())
        if with_mutual_friends and principal.user_id != user_id:
            profile["mutual_friends"] = self._mutual_friends(reader, principal.user_id, user_id)
        if with_mutual_guilds and principal.user_id != user_id:
            profile["mutual_guilds"] = [
                {"id": str(common_id), "nick": nick}
                for common_id, nick in members.common_guilds(reader, principal.user_id, user_id)
            ]
        return profile

    def _shows(self, reader: sqlite3.Connection, account: Account, viewer_id: int) -> bool:
        if account.id == viewer_id:
            return True
        if account.flags & UserFlag.PROFILE_HIDDEN:
            return False
        theirs = relationships.by_id(reader, account.id, viewer_id)
        kind = None if theirs is None else theirs.type
        if kind == RelationshipType.BLOCKED:
            return False
        privacy: int = user_settings_object(user_settings.of_user(reader, account.id))["profile_privacy"]
        if privacy == TO_EVERYBODY or kind == RelationshipType.FRIEND:
            return True
        return privacy == TO_GUILD_MEMBERS and guilds.share_one(reader, account.id, viewer_id)

    def _mutual_friends(self, reader: sqlite3.Connection, viewer_id: int, user_id: int) -> list[wire.PartialUser]:
        common = relationships.common_targets(reader, viewer_id, user_id, RelationshipType.FRIEND)
        return [partial_user(friend) for friend in accounts.by_ids(reader, common)]


def _claim(
    reader: sqlite3.Connection, guild_id: int, user_id: int, caller_id: int
) -> Literal["open", "requested"] | None:
    """Whether the caller may say, or has said, that they are this person of an import."""
    known = placeholders.unclaimed(reader, guild_id, user_id)
    if known is None:
        return None
    return "requested" if claims.is_requested(reader, guild_id, user_id, caller_id) else "open"


def _own_words(account: Account | None) -> wire.UserProfile:
    if account is None:
        return _NO_WORDS
    return {
        "bio": account.bio,
        "pronouns": account.pronouns,
        "banner": account.banner,
        "accent_color": account.accent_color,
        "banner_color": account.banner_color,
    }


_NO_WORDS: Final[wire.UserProfile] = {
    "bio": None,
    "pronouns": None,
    "banner": None,
    "accent_color": None,
    "banner_color": None,
}


def _words_in_guild(member: Member) -> wire.GuildMemberProfile:
    return {
        "bio": member.bio,
        "pronouns": member.pronouns,
        "banner": member.banner,
        "accent_color": member.accent_color,
    }


def _add_badge(profile: wire.Profile, account: Account, now_ms: int) -> None:
    """Add the premium badge of a profile, as far as the account's premium flags allow it."""
    flags = account.premium_flags
    if not has_premium(account, now_ms) or not account.premium_type or flags & PremiumFlag.BADGE_HIDDEN:
        return
    if flags & PremiumFlag.BADGE_MASKED:
        profile["premium_type"] = int(PremiumType.SUBSCRIPTION)
        return
    profile["premium_type"] = account.premium_type
    if account.premium_since is not None and not flags & PremiumFlag.BADGE_TIMESTAMP_HIDDEN:
        profile["premium_since"] = iso_timestamp(account.premium_since)
    if account.premium_lifetime_sequence is not None and not flags & PremiumFlag.BADGE_SEQUENCE_HIDDEN:
        profile["premium_lifetime_sequence"] = account.premium_lifetime_sequence
