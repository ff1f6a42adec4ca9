"""Where a search looks: the channels, threads and conversations whose history the caller may read at this moment.

It is settled once for a search, from what memory holds of permissions, never for each message: a channel counts when
the caller sees it and may read its history, without READ_MESSAGE_HISTORY from the guild's cutoff on (guilds.md, Modify
guild). Threads count for those who know threads: the public ones below such a channel; of the private ones those that
the caller is in, or with MANAGE_THREADS all.

Channels marked as adult content are left out, unless an account that is old enough asks for them (`include_nsfw`) or
they are named: a channel that can be opened can be searched.
"""

from __future__ import annotations

import contextlib
import enum
from typing import Final

import attrs
import trio

from chat.auth.principal import Principal
from chat.classes import define, frozen
from chat.domain.core import Core
from chat.domain.standing.access import GuildChannelAccess
from chat.domain.standing.guild_states import Channel, GuildState, Member
from chat.domain.standing.permissions import sees_threads
from chat.domain.standing.private_channels import PrivateChannelAccess
from chat.domain.standing.thread_access import ThreadAccess
from chat.domain.standing.user_objects import is_adult
from chat.errors import ApiError, InvalidFormBody
from chat.registries.channel_types import THREAD_ONLY_CHANNEL_TYPES, ChannelType
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.permissions import Permission
from chat.store.guilds import guilds
from chat.store.messages import message_search
from chat.store.messages.message_search_expressions import Scope, SearchPlace

VIEW_CHANNEL: Final = Permission.VIEW_CHANNEL.value
MANAGE_THREADS: Final = Permission.MANAGE_THREADS.value

NO_MESSAGES: Final = frozenset({ChannelType.GUILD_CATEGORY, ChannelType.GUILD_LINK})


class SearchScope(enum.StrEnum):
    """Over what a search goes."""

    CURRENT = "current"
    """The guild, channel or conversation that the request names."""

    OPEN_DMS = "open_dms"
    """Every conversation in the caller's list."""

    ALL_DMS = "all_dms"
    """Every conversation that the caller is in."""

    ALL_GUILDS = "all_guilds"
    """Every guild that the caller is in."""

    ALL = "all"
    """Every conversation and every guild."""

    OPEN_DMS_AND_ALL_GUILDS = "open_dms_and_all_guilds"
    """Every conversation in the list, and every guild."""


WITH_GUILDS: Final = frozenset({SearchScope.ALL_GUILDS, SearchScope.ALL, SearchScope.OPEN_DMS_AND_ALL_GUILDS})
WITH_DMS: Final = frozenset(SearchScope) - {SearchScope.CURRENT, SearchScope.ALL_GUILDS}
OPEN_ONLY: Final = frozenset({SearchScope.OPEN_DMS, SearchScope.OPEN_DMS_AND_ALL_GUILDS})


@frozen(kw_only=True)
class Whereabouts:
    """Where the caller asks to search. `channel_ids` restrict the scope; None restricts nothing."""

    scope: SearchScope = SearchScope.CURRENT
    guild_id: int | None = None
    channel_id: int | None = None
    channel_ids: frozenset[int] | None = None
    excluded_channel_ids: frozenset[int] = frozenset()
    include_nsfw: bool = False


@frozen
class _Open:
    """A place that the caller may search."""

    place: SearchPlace
    is_forum: bool = False
    is_nsfw: bool = False


async def search_scope(core: Core, principal: Principal, asked: Whereabouts) -> Scope:
    """The places to look in.

    :raises ApiError: for a guild or channel that is named as context, as `Access.guild` and `Access.channel`.
    :raises InvalidFormBody: INVALID_FORMAT at `context_channel_id` where the scope is the current one and nothing is
        named, and at `scope` for another one of a bot: bots search where they are told.
    """
    found = _Range(core, principal)
    if asked.scope is SearchScope.CURRENT:
        await found.add_current(asked)
    elif principal.is_bot:
        raise InvalidFormBody.at("scope", FieldCode.INVALID_FORMAT)
    else:
        await found.add_far_and_wide(asked.scope)
    if asked.channel_ids is not None:
        named = (found.named(channel_id) for channel_id in sorted(asked.channel_ids))
        places = [place for place in named if place is not None]
    else:
        account = principal.account
        nsfw_too = asked.include_nsfw and (account.bot or is_adult(account, core.clock.now_ms()))
        places = [opened.place for opened in found.places.values() if nsfw_too or not opened.is_nsfw]
    return Scope(
        tuple(places),
        () if found.is_private_too else tuple(sorted(found.guild_ids)),
        tuple(found.alone(channel_id) or SearchPlace(channel_id) for channel_id in sorted(asked.excluded_channel_ids)),
    )


@define(eq=False)
class _Range:
    """The places of a scope that the caller may read."""

    _core: Core
    _principal: Principal
    places: dict[int, _Open] = attrs.field(factory=dict, init=False)
    guild_ids: set[int] = attrs.field(factory=set, init=False)
    is_private_too: bool = attrs.field(default=False, init=False)

    @property
    def _knows_threads(self) -> bool:
        return sees_threads(self._principal)

    async def add_current(self, asked: Whereabouts) -> None:
        """The guild, channel or conversation that the request names."""
        if asked.guild_id is not None:
            access = self._core.access.guild(self._principal, asked.guild_id)
            self._add_guild(access.state, access.member)
            await self._add_private_threads()
        elif asked.channel_id is not None:
            self._add_channel(asked.channel_id)
        elif asked.channel_ids:
            for channel_id in sorted(asked.channel_ids):
                await trio.lowlevel.checkpoint()
                with contextlib.suppress(ApiError):  # nothing is found in what the caller does not see
                    self._add_channel(channel_id)
        else:
            raise InvalidFormBody.at("context_channel_id", FieldCode.INVALID_FORMAT)

    async def add_far_and_wide(self, scope: SearchScope) -> None:
        """The conversations and guilds of a scope beyond the current one."""
        user_id, database = self._principal.user_id, self._core.database
        if scope in WITH_DMS:
            self.is_private_too = True
            ids = await database.read(
                lambda connection: message_search.conversations(connection, user_id, shown_only=scope in OPEN_ONLY)
            )
            self.places.update((channel_id, _Open(SearchPlace(channel_id))) for channel_id in ids)
        if scope in WITH_GUILDS:
            for guild_id in await database.read(lambda connection: guilds.ids_of_user(connection, user_id)):
                await trio.lowlevel.checkpoint()
                with contextlib.suppress(ApiError):  # unavailable at present
                    access = self._core.access.guild(self._principal, guild_id)
                    self._add_guild(access.state, access.member)
            await self._add_private_threads()

    def _add_guild(self, state: GuildState, member: Member) -> None:
        """Every channel of the guild that the member may search."""
        user_id, threads = self._principal.user_id, self._knows_threads
        self.guild_ids.add(state.id)
        for channel_id in state.visible_channels(user_id):
            channel = state.channels.get(channel_id)
            if channel is None or channel.type in NO_MESSAGES:
                continue
            permissions = state.member_permissions(member, channel_id)
            access = GuildChannelAccess(user_id, channel, permissions, state, member)
            floor = access.history_floor() if access.may(VIEW_CHANNEL) else None
            if floor is not None:
                self.places[channel_id] = _Open(
                    SearchPlace(channel_id, floor, True, threads, threads and access.may(MANAGE_THREADS)),
                    channel.type in THREAD_ONLY_CHANNEL_TYPES,
                    _is_nsfw(channel),
                )

    async def _add_private_threads(self) -> None:
        """The private threads that the caller is in, below channels that are there already."""
        if not self._knows_threads:
            return
        rows = await self._core.database.read(
            lambda connection: message_search.private_threads(connection, self._principal.user_id)
        )
        for thread_id, parent_id, guild_id in rows:
            parent = self.places.get(parent_id)
            if parent is not None and guild_id in self.guild_ids and not parent.place.private_threads:
                self.places[thread_id] = _Open(SearchPlace(thread_id, parent.place.floor), is_nsfw=parent.is_nsfw)

    def _add_channel(self, channel_id: int) -> None:
        """Add one channel, thread or conversation; for a forum its posts.

        :raises ApiError: as `Access.channel`.
        """
        access = self._core.access.channel(self._principal, channel_id)
        if isinstance(access, ThreadAccess) and not self._knows_threads:
            raise ApiError(ErrorCode.UNKNOWN_CHANNEL)
        floor = access.history_floor()
        if floor is None or not access.may(VIEW_CHANNEL):
            return
        if isinstance(access, PrivateChannelAccess):
            self.is_private_too = True
        elif access.guild_id is not None:
            self.guild_ids.add(access.guild_id)
        is_forum = access.channel.type in THREAD_ONLY_CHANNEL_TYPES
        threads = is_forum and self._knows_threads
        self.places[channel_id] = _Open(
            SearchPlace(channel_id, floor, not is_forum, threads, threads and access.may(MANAGE_THREADS)), is_forum
        )

    def alone(self, channel_id: int) -> SearchPlace | None:
        """A place as a request means it that names it: a channel without its threads, a forum with its posts."""
        opened = self.places.get(channel_id)
        if opened is None or opened.is_forum:
            return None if opened is None else opened.place
        return attrs.evolve(opened.place, public_threads=False, private_threads=False)

    def named(self, channel_id: int) -> SearchPlace | None:
        """A channel of the scope that the request names, without the threads below it; None when it is not in it."""
        place = self.alone(channel_id)
        if place is not None or not self._knows_threads:
            return place
        try:
            access = self._core.access.channel(self._principal, channel_id)
        except ApiError:
            return None
        parent = self.places.get(access.channel.parent_id or 0)
        if not isinstance(access, ThreadAccess) or parent is None or not parent.place.public_threads:
            return None
        return SearchPlace(channel_id, parent.place.floor)


def _is_nsfw(channel: Channel) -> bool:
    return channel.nsfw if channel.nsfw_override is None else channel.nsfw_override
