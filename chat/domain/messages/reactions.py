"""Reactions to messages (messages.md, Reactions).

Whoever reads a message may react as others do; to begin with another emoji asks for ADD_REACTIONS. What changes nothing
is no error and is told to nobody.
"""

from __future__ import annotations

import sqlite3
from typing import Any, Final

import attrs

from chat.auth.principal import Principal
from chat.bus.bus import Event
from chat.domain.core import Core
from chat.domain.messages.message_objects import author_object
from chat.domain.messages.reaction_emojis import usable_emoji
from chat.domain.messages.reaction_events import (
    ReactionPlace,
    all_removed,
    emoji_removed,
    reaction_added,
    reaction_removed,
)
from chat.domain.standing.access import ChannelAccess, GuildChannelAccess
from chat.domain.standing.private_channels import require_unblocked
from chat.domain.standing.thread_access import ThreadAccess
from chat.domain.standing.verification import has_verified_address, is_unclaimed
from chat.errors import ApiError
from chat.registries.guild_values import DisabledOperation
from chat.registries.permissions import Permission
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.guilds import channels
from chat.store.messages import messages, reactions
from chat.store.messages.reactions import Emoji
from chat.store.threads import threads

ADD_REACTIONS: Final = Permission.ADD_REACTIONS.value
MANAGE_MESSAGES: Final = Permission.MANAGE_MESSAGES.value
REACTIONS_DISABLED: Final = DisabledOperation.REACTIONS.value


@attrs.frozen
class ReactionPage:
    """Which of those who reacted alike to read: so many, with a greater id than `after`."""

    limit: int
    after: int = 0


@attrs.frozen
class ReactionUsers:
    """Accounts that reacted alike, as others see them, in order of their ids."""

    items: list[dict[str, Any]]
    has_more: bool


@attrs.define(kw_only=True, eq=False)
class Reactions:
    """The operations on reactions."""

    _core: Core

    async def add(
        self, principal: Principal, channel_id: int, message_id: int, emoji: Emoji, session_id: str | None = None
    ) -> None:
        """React to a message.

        :raises ApiError: as `Access.channel`; MISSING_PERMISSIONS without READ_MESSAGE_HISTORY, or ADD_REACTIONS for an
            emoji that nobody used there yet; UNKNOWN_MESSAGE, FEATURE_TEMPORARILY_DISABLED, COMMUNICATION_DISABLED,
            UNCLAIMED_ACCOUNT_CANNOT_ADD_REACTIONS, REACTION_EMAIL_VERIFICATION_REQUIRED, CANNOT_SEND_MESSAGES_TO_USER
            (blocked, either way), THREAD_ARCHIVED, THREAD_LOCKED, MAX_REACTIONS; as `usable_emoji`.
        """
        place = self._place(principal, channel_id, message_id, session_id)
        access, account, now_ms = place.access, principal.account, self._core.clock.now_ms()
        if access.disables(REACTIONS_DISABLED):
            raise ApiError("FEATURE_TEMPORARILY_DISABLED")
        access.require_voice(now_ms)
        _require_known_person(account)

        def unit(connection: sqlite3.Connection) -> tuple[Emoji, bool] | None:
            _require_message(connection, place)
            _require_open_thread(connection, access, now_ms)
            require_unblocked(connection, access)
            return self._put(connection, place, emoji, now_ms)

        def event(renewed: ReactionPlace, put: tuple[Emoji, bool]) -> Event:
            return reaction_added(renewed, account, put[0], first=put[1])

        def then(put: tuple[Emoji, bool] | None) -> None:
            renewed = self._renewed(place)
            if put is not None and renewed is not None:
                self._core.bus.publish(event(renewed, put))

        await self._core.database.write(unit, then)

    async def remove(
        self,
        principal: Principal,
        channel_id: int,
        message_id: int,
        emoji: Emoji,
        user_id: int,
        session_id: str | None = None,
    ) -> None:
        """Take one account's reaction away: one's own, or with MANAGE_MESSAGES anybody's.

        :raises ApiError: as `Access.channel`; MISSING_PERMISSIONS, TWO_FACTOR_REQUIRED, UNKNOWN_MESSAGE; for one's own
            FEATURE_TEMPORARILY_DISABLED, THREAD_ARCHIVED.
        """
        place = self._place(principal, channel_id, message_id, session_id)
        own = user_id == principal.user_id
        if not own:
            place.access.require(MANAGE_MESSAGES)
        elif place.access.disables(REACTIONS_DISABLED):
            raise ApiError("FEATURE_TEMPORARILY_DISABLED")

        def unit(connection: sqlite3.Connection) -> Emoji | None:
            _require_message(connection, place)
            if own:
                _require_unarchived(connection, place.access)
            reaction = reactions.find(connection, message_id, emoji.key)
            if reaction is None or not reactions.leave(connection, message_id, reaction, user_id):
                return None
            return reaction.emoji

        def then(removed: Emoji | None) -> None:
            renewed = self._renewed(place)
            if removed is not None and renewed is not None:
                self._core.bus.publish(reaction_removed(renewed, user_id, removed))

        await self._core.database.write(unit, then)

    async def remove_emoji(self, principal: Principal, channel_id: int, message_id: int, emoji: Emoji) -> None:
        """Take everybody's reaction with one emoji away.

        :raises ApiError: as `Access.channel`; MISSING_PERMISSIONS, TWO_FACTOR_REQUIRED, UNKNOWN_MESSAGE.
        """
        place = self._place(principal, channel_id, message_id)
        place.access.require(MANAGE_MESSAGES)

        def unit(connection: sqlite3.Connection) -> Emoji | None:
            _require_message(connection, place)
            reaction = reactions.find(connection, message_id, emoji.key)
            if reaction is None:
                return None
            reactions.delete(connection, message_id, reaction)
            return reaction.emoji

        def then(removed: Emoji | None) -> None:
            renewed = self._renewed(place)
            if removed is not None and renewed is not None:
                self._core.bus.publish(emoji_removed(renewed, removed))

        await self._core.database.write(unit, then)

    async def remove_all(self, principal: Principal, channel_id: int, message_id: int) -> None:
        """Take every reaction off a message.

        :raises ApiError: as `remove_emoji`.
        """
        place = self._place(principal, channel_id, message_id)
        place.access.require(MANAGE_MESSAGES)

        def unit(connection: sqlite3.Connection) -> bool:
            _require_message(connection, place)
            return reactions.delete_all(connection, message_id)

        def then(removed: bool) -> None:
            renewed = self._renewed(place)
            if removed and renewed is not None:
                self._core.bus.publish(all_removed(renewed))

        await self._core.database.write(unit, then)

    async def users(
        self, principal: Principal, channel_id: int, message_id: int, emoji: Emoji, page: ReactionPage
    ) -> ReactionUsers:
        """Who reacted to a message with an emoji.

        :raises ApiError: as `Access.channel`; MISSING_PERMISSIONS, UNKNOWN_MESSAGE.
        """
        place = self._place(principal, channel_id, message_id)

        def query(connection: sqlite3.Connection) -> tuple[list[int], dict[int, Account]]:
            _require_message(connection, place)
            reaction = reactions.find(connection, message_id, emoji.key)
            if reaction is None:
                return [], {}
            # One more than asked for tells whether there are more.
            found = reactions.user_ids(connection, reaction, after=page.after, limit=page.limit + 1)
            return found, {account.id: account for account in accounts.by_ids(connection, found[: page.limit])}

        found, known = await self._core.database.read(query)
        items = [author_object(user_id, known.get(user_id)) for user_id in found[: page.limit]]
        return ReactionUsers(items, has_more=len(found) > page.limit)

    def _place(
        self, principal: Principal, channel_id: int, message_id: int, session_id: str | None = None
    ) -> ReactionPlace:
        access = self._core.access.channel(principal, channel_id)
        floor = access.history_floor()
        if floor is None:
            raise ApiError("MISSING_PERMISSIONS")
        if message_id < floor:
            raise ApiError("UNKNOWN_MESSAGE")
        return ReactionPlace(access, message_id, session_id)

    def _renewed(self, place: ReactionPlace) -> ReactionPlace | None:
        access = self._core.access.renewed(place.access)
        return None if access is None else attrs.evolve(place, access=access)

    def _put(
        self, connection: sqlite3.Connection, place: ReactionPlace, emoji: Emoji, now_ms: int
    ) -> tuple[Emoji, bool] | None:
        """In the unit: the emoji, and whether this was the first reaction with it; None when nothing changed."""
        user_id, limits = place.access.user_id, self._core.settings.limits
        reaction = reactions.find(connection, place.message_id, emoji.key)
        if reaction is not None:
            if not reactions.join(connection, reaction, user_id):
                return None
            if reaction.user_count >= limits.max_users_per_reaction:
                raise ApiError("MAX_REACTIONS")
            return reaction.emoji, False
        place.access.require(ADD_REACTIONS)
        usable = usable_emoji(connection, place.access, emoji)
        if reactions.count(connection, place.message_id) >= limits.max_reactions_per_message:
            raise ApiError("MAX_REACTIONS")
        reactions.begin(connection, place.message_id, usable, user_id, now_ms)
        return usable, True


def _require_known_person(account: Account) -> None:
    if is_unclaimed(account):
        raise ApiError("UNCLAIMED_ACCOUNT_CANNOT_ADD_REACTIONS")
    if not account.bot and not has_verified_address(account):
        raise ApiError("REACTION_EMAIL_VERIFICATION_REQUIRED")


def _require_message(connection: sqlite3.Connection, place: ReactionPlace) -> None:
    """Raise UNKNOWN_MESSAGE unless the message is there; a channel that is gone may be stored until its messages
    are."""
    access = place.access
    if not messages.exists(connection, access.channel.id, place.message_id):
        raise ApiError("UNKNOWN_MESSAGE")
    if isinstance(access, GuildChannelAccess) and channels.guild_of(connection, access.channel.id) is None:
        raise ApiError("UNKNOWN_CHANNEL")


def _require_unarchived(connection: sqlite3.Connection, access: ChannelAccess) -> None:
    if isinstance(access, ThreadAccess):
        thread = threads.by_id(connection, access.thread.id)
        if thread is not None and thread.archived:
            raise ApiError("THREAD_ARCHIVED")


def _require_open_thread(connection: sqlite3.Connection, access: ChannelAccess, now_ms: int) -> None:
    """In a locked thread only those who manage threads react."""
    _require_unarchived(connection, access)
    if isinstance(access, ThreadAccess) and not access.moderates(now_ms):
        thread = threads.by_id(connection, access.thread.id)
        if thread is not None and thread.locked:
            raise ApiError("THREAD_LOCKED")
