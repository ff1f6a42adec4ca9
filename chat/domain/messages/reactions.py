"""Reactions to messages (messages.md, Reactions).

Everyone who reads a message may react as others do; to begin with another emoji asks for ADD_REACTIONS. What changes
nothing is no error and is not told. In a guild a session of the request's own can be left out of the events: it has
shown the change already.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import attrs

from chat import wire
from chat.auth.principal import Principal
from chat.bus.bus import Event
from chat.classes import define, frozen
from chat.domain.core import Core
from chat.domain.messages.message_objects import author_object, emoji_object
from chat.domain.messages.message_reading import accounts_by_id
from chat.domain.standing.access import ChannelAccess, GuildChannelAccess
from chat.domain.standing.guild_objects import EMOJIS
from chat.domain.standing.private_channels import require_unblocked
from chat.domain.standing.thread_access import ThreadAccess
from chat.domain.standing.user_objects import partial_user
from chat.domain.standing.verification import has_verified_address, is_unclaimed
from chat.errors import ApiError, InvalidFormBody
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.events import EventName
from chat.registries.guild_values import DisabledOperation
from chat.registries.permissions import Permission
from chat.registries.unicode_emojis import fully_qualified
from chat.snowflake import MAXIMUM
from chat.store import threads
from chat.store.accounts.accounts import Account
from chat.store.guard import Guard
from chat.store.guilds import channels, expressions, members
from chat.store.messages import messages, reactions
from chat.store.messages.reactions import Emoji

MANAGE_MESSAGES: Final = Permission.MANAGE_MESSAGES.value
REACTIONS_DISABLED: Final = DisabledOperation.REACTIONS.value

# Some libraries say of an animated emoji that it is, as message texts do.
_OF_GUILD: Final = re.compile(r"(?:a:)?([A-Za-z0-9_~]{1,64}):([1-9][0-9]{0,18})", re.ASCII)


def parse_emoji(text: str) -> Emoji:
    """The emoji that a path's segment names, decoded already: a Unicode emoji, or `name:id`.

    :raises InvalidFormBody: INVALID_FORMAT at `emoji`.
    """
    emoji = fully_qualified(text)
    if emoji is not None:
        return Emoji(emoji)
    named = _OF_GUILD.fullmatch(text)
    if named is None or int(named[2]) > MAXIMUM:
        raise InvalidFormBody.at("emoji", FieldCode.INVALID_FORMAT)
    return Emoji(named[1], int(named[2]))


def _usable_emoji(connection: sqlite3.Connection, access: ChannelAccess, emoji: Emoji) -> Emoji:
    """In a unit: the emoji as it is called now, if the caller may begin a reaction with it in the channel.

    Emojis of other guilds are for their members, and in a guild for holders of USE_EXTERNAL_EMOJIS.

    :raises ApiError: UNKNOWN_EMOJI, MISSING_PERMISSIONS.
    """
    if emoji.id is None:
        return emoji
    known = expressions.by_id(connection, EMOJIS, emoji.id)
    if known is None:
        raise ApiError(ErrorCode.UNKNOWN_EMOJI)
    if known.guild_id != access.guild_id:
        if not members.exists(connection, known.guild_id, access.user_id):
            raise ApiError(ErrorCode.UNKNOWN_EMOJI)
        if access.guild_id is not None:
            access.require(Permission.USE_EXTERNAL_EMOJIS.value)
    return Emoji(known.name, known.id, known.animated)


@frozen
class ReactionPlace:
    """A message and where it stands."""

    access: ChannelAccess
    message_id: int
    session_id: str | None = None
    """The session that the request named, if it named one."""

    def event(self, name: EventName, **members: Any) -> Event:
        """An event about the message's reactions, for everyone who may read it."""
        access = self.access
        data = {**members, "channel_id": str(access.channel.id), "message_id": str(self.message_id)}
        if access.guild_id is not None:
            data["guild_id"] = str(access.guild_id)
        ignoring = None if access.guild_id is None else self.session_id
        return Event(name, data, access.audience(self.message_id), ignoring_session=ignoring)


def _reaction_added(place: ReactionPlace, account: Account, emoji: Emoji, *, first: bool) -> Event:
    """MESSAGE_REACTION_ADD; the first reaction with an emoji of a guild tells whether it moves."""
    members: dict[str, object] = {"user_id": str(account.id), "emoji": emoji_object(emoji, whole=first)}
    access = place.access
    member = access.state.member(account.id) if isinstance(access, GuildChannelAccess) else None
    if isinstance(access, GuildChannelAccess) and member is not None:
        members["member"] = access.state.member_object(member, partial_user(account))
    return place.event(EventName.MESSAGE_REACTION_ADD, **members)


_EventOf = Callable[[ReactionPlace], Event]


@frozen
class ReactionUsers:
    """Accounts that reacted with one emoji, as others see them, in order of their ids."""

    items: list[wire.PartialUser]
    has_more: bool


@define(kw_only=True, eq=False)
class Reactions:
    _core: Core

    async def add(
        self, principal: Principal, channel_id: int, message_id: int, emoji: Emoji, session_id: str | None = None
    ) -> None:
        """React to a message.

        :raises ApiError: as `Access.channel`; MISSING_PERMISSIONS without ADD_REACTIONS for an emoji that is new there;
            UNKNOWN_MESSAGE, also for one that the caller may not read; FEATURE_TEMPORARILY_DISABLED,
            COMMUNICATION_DISABLED, UNCLAIMED_ACCOUNT_CANNOT_ADD_REACTIONS, REACTION_EMAIL_VERIFICATION_REQUIRED,
            CANNOT_SEND_MESSAGES_TO_USER (blocked, either way), THREAD_ARCHIVED, THREAD_LOCKED, MAX_REACTIONS; as
            `_usable_emoji`.
        """
        place = self._place(principal, channel_id, message_id, session_id)
        access, account, now_ms = place.access, principal.account, self._core.clock.now_ms()
        if access.disables(REACTIONS_DISABLED):
            raise ApiError(ErrorCode.FEATURE_TEMPORARILY_DISABLED)
        access.require_voice(now_ms)
        _require_known_person(account)

        def unit(connection: sqlite3.Connection) -> _EventOf | None:
            _require_open_thread(connection, access, now_ms)
            require_unblocked(connection, access)
            put = self._put(connection, place, emoji, now_ms)
            return None if put is None else partial(_reaction_added, account=account, emoji=put[0], first=put[1])

        await self._change(place, unit, principal.guard)

    async def remove(
        self,
        principal: Principal,
        channel_id: int,
        message_id: int,
        emoji: Emoji,
        user_id: int,
        session_id: str | None = None,
    ) -> None:
        """Take one account's reaction away: one's own, or with MANAGE_MESSAGES any.

        :raises ApiError: as `Access.channel`; MISSING_PERMISSIONS, TWO_FACTOR_REQUIRED, UNKNOWN_MESSAGE; for one's own
            FEATURE_TEMPORARILY_DISABLED, THREAD_ARCHIVED.
        """
        place = self._place(principal, channel_id, message_id, session_id)
        own = user_id == principal.user_id
        if not own:
            place.access.require(MANAGE_MESSAGES)
        elif place.access.disables(REACTIONS_DISABLED):
            raise ApiError(ErrorCode.FEATURE_TEMPORARILY_DISABLED)

        def unit(connection: sqlite3.Connection) -> _EventOf | None:
            if own:
                _require_open_thread(connection, place.access)
            reaction = reactions.find(connection, message_id, emoji.key)
            if reaction is None or not reactions.leave(connection, message_id, reaction, user_id):
                return None
            gone = emoji_object(reaction.emoji, whole=False)
            return lambda renewed: renewed.event(EventName.MESSAGE_REACTION_REMOVE, user_id=str(user_id), emoji=gone)

        await self._change(place, unit, principal.guard)

    async def remove_emoji(self, principal: Principal, channel_id: int, message_id: int, emoji: Emoji) -> None:
        """Take all reactions with one emoji away.

        :raises ApiError: as `Access.channel`; MISSING_PERMISSIONS, TWO_FACTOR_REQUIRED, UNKNOWN_MESSAGE.
        """
        place = self._place(principal, channel_id, message_id)
        place.access.require(MANAGE_MESSAGES)

        def unit(connection: sqlite3.Connection) -> _EventOf | None:
            reaction = reactions.find(connection, message_id, emoji.key)
            if reaction is None:
                return None
            reactions.delete(connection, message_id, reaction)
            gone = emoji_object(reaction.emoji, whole=False)
            return lambda renewed: renewed.event(EventName.MESSAGE_REACTION_REMOVE_EMOJI, emoji=gone)

        await self._change(place, unit, principal.guard)

    async def remove_all(self, principal: Principal, channel_id: int, message_id: int) -> None:
        """Take every reaction off a message.

        :raises ApiError: as `remove_emoji`.
        """
        place = self._place(principal, channel_id, message_id)
        place.access.require(MANAGE_MESSAGES)

        def unit(connection: sqlite3.Connection) -> _EventOf | None:
            if not reactions.delete_all(connection, message_id):
                return None
            return lambda renewed: renewed.event(EventName.MESSAGE_REACTION_REMOVE_ALL)

        await self._change(place, unit, principal.guard)

    async def users(
        self, principal: Principal, channel_id: int, message_id: int, emoji: Emoji, *, limit: int, after: int = 0
    ) -> ReactionUsers:
        """Who reacted to a message with an emoji: at most `limit` accounts with a greater id than `after`.

        :raises ApiError: as `Access.channel`; MISSING_PERMISSIONS, UNKNOWN_MESSAGE.
        """
        place = self._place(principal, channel_id, message_id)

        def query(connection: sqlite3.Connection) -> tuple[list[int], dict[int, Account]]:
            _require_message(connection, place)
            reaction = reactions.find(connection, message_id, emoji.key)
            if reaction is None:
                return [], {}
            # One more than asked for tells whether there are more.
            found = reactions.user_ids(connection, reaction, after=after, limit=limit + 1)
            return found, accounts_by_id(connection, found[:limit])

        found, known = await self._core.database.read(query)
        items = [author_object(user_id, known.get(user_id)) for user_id in found[:limit]]
        return ReactionUsers(items, has_more=len(found) > limit)

    def _place(
        self, principal: Principal, channel_id: int, message_id: int, session_id: str | None = None
    ) -> ReactionPlace:
        access = self._core.access.channel(principal, channel_id)
        if not access.reads(message_id):
            raise ApiError(ErrorCode.UNKNOWN_MESSAGE)
        return ReactionPlace(access, message_id, session_id)

    async def _change(
        self, place: ReactionPlace, unit: Callable[[sqlite3.Connection], _EventOf | None], guard: Guard
    ) -> None:
        """Change the reactions to a message that is there; `unit` gives what makes the event, None without a change."""

        def checked(connection: sqlite3.Connection) -> _EventOf | None:
            _require_message(connection, place)
            return unit(connection)

        def then(event_of: _EventOf | None) -> None:
            access = self._core.access.renewed(place.access)
            if event_of is not None and access is not None:
                self._core.bus.publish(event_of(attrs.evolve(place, access=access)))

        await self._core.database.write(checked, then, guard=guard)

    def _put(
        self, connection: sqlite3.Connection, place: ReactionPlace, emoji: Emoji, now_ms: int
    ) -> tuple[Emoji, bool] | None:
        """In the unit: add the reaction. Gives the emoji, and whether this was the first reaction with it; None if
        nothing changed."""
        user_id, limits = place.access.user_id, self._core.settings.limits
        reaction = reactions.find(connection, place.message_id, emoji.key)
        if reaction is not None:
            if not reactions.join(connection, reaction, user_id):
                return None
            if reaction.user_count >= limits.max_users_per_reaction:
                raise ApiError(ErrorCode.MAX_REACTIONS)
            return reaction.emoji, False
        place.access.require(Permission.ADD_REACTIONS.value)
        usable = _usable_emoji(connection, place.access, emoji)
        if reactions.count(connection, place.message_id) >= limits.max_reactions_per_message:
            raise ApiError(ErrorCode.MAX_REACTIONS)
        reactions.begin(connection, place.message_id, usable, user_id, now_ms)
        return usable, True


def _require_known_person(account: Account) -> None:
    if is_unclaimed(account):
        raise ApiError(ErrorCode.UNCLAIMED_ACCOUNT_CANNOT_ADD_REACTIONS)
    if not account.bot and not has_verified_address(account):
        raise ApiError(ErrorCode.REACTION_EMAIL_VERIFICATION_REQUIRED)


def _require_message(connection: sqlite3.Connection, place: ReactionPlace) -> None:
    """Raise UNKNOWN_MESSAGE unless the message is there; a channel that is gone may be stored until its messages
    are."""
    access = place.access
    if not messages.exists(connection, access.channel.id, place.message_id):
        raise ApiError(ErrorCode.UNKNOWN_MESSAGE)
    if isinstance(access, GuildChannelAccess) and channels.guild_of(connection, access.channel.id) is None:
        raise ApiError(ErrorCode.UNKNOWN_CHANNEL)


def _require_open_thread(connection: sqlite3.Connection, access: ChannelAccess, adding_at: int | None = None) -> None:
    """Raise THREAD_ARCHIVED in an archived thread. In a locked one only those who manage threads add reactions, which
    others are refused with THREAD_LOCKED; `adding_at` is the present moment where one is added."""
    thread = threads.by_id(connection, access.thread.id) if isinstance(access, ThreadAccess) else None
    if not isinstance(access, ThreadAccess) or thread is None:
        return
    if thread.archived:
        raise ApiError(ErrorCode.THREAD_ARCHIVED)
    if thread.locked and adding_at is not None and not access.moderates(adding_at):
        raise access.unmoderated(ErrorCode.THREAD_LOCKED)
