"""Channels of a guild: making, changing, ordering and deleting them (guilds.md, Channels).

That a session sees a channel come or go is told by the gateway, which compares what each account saw with what it sees
(`GuildStateChanged`); here only changes of channels are told.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import attrs

from chat import wire
from chat.auth.principal import Principal
from chat.bus.bus import GuildChannelsChanged, GuildStateChanged
from chat.classes import define, frozen
from chat.domain.core import Core
from chat.domain.guilds.channel_fields import stored_fields, voice_defaults, with_forum
from chat.domain.guilds.permission_overwrites import overwrites_of_body
from chat.domain.guilds.vanity_urls import lead_elsewhere
from chat.domain.presence.voice_connections import VoiceRegions
from chat.domain.standing.access import require_guild, require_seen
from chat.domain.standing.audit_log import INSTANCE, Actor
from chat.domain.standing.channel_objects import forum_object
from chat.domain.standing.guild_events import channel_updated, guild_updated
from chat.domain.standing.guild_states import Channel, GuildState, Overwrite
from chat.domain.standing.thread_objects import KnownThread, known_thread, thread_deleted
from chat.errors import ApiError, FieldError, InvalidFormBody
from chat.registries.audit_actions import AuditAction
from chat.registries.channel_types import SYSTEM_CHANNEL_TYPES, THREAD_ONLY_CHANNEL_TYPES, ChannelType
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.permissions import Permission
from chat.store import threads
from chat.store.guard import UNGUARDED
from chat.store.guilds import channels, guilds
from chat.store.guilds.guilds import Guild
from chat.store.standing import guild_audit_log
from chat.store.standing.guild_audit_log import AuditLogEntry

MANAGE_CHANNELS: Final = Permission.MANAGE_CHANNELS
MANAGE_ROLES: Final = Permission.MANAGE_ROLES


@frozen
class ChannelMove:
    """The new place of a channel; None keeps a value. `parent` tells whether `parent_id` was given at all."""

    position: int | None = None
    parent: bool = False
    parent_id: int | None = None
    after_id: int | None = None
    """The sibling directly before its new place."""
    lock_permissions: bool = False
    """Whether the channel takes over the overwrites of its new parent."""


@frozen
class _ChannelChange:
    """What a unit wrote: the changed channels, the guild if it changed too, and the audit log's entries."""

    channels: tuple[Channel, ...]
    entries: tuple[AuditLogEntry | None, ...]
    guild: Guild | None = None
    gone: tuple[KnownThread, ...] = ()
    """Active threads that went with a channel."""


@define(kw_only=True, eq=False)
class GuildChannels:
    _core: Core
    _regions: VoiceRegions

    async def create(
        self,
        principal: Principal,
        guild_id: int,
        kind: ChannelType,
        fields: Mapping[str, Any],
        overwrites: Sequence[Overwrite] = (),
        reason: str | None = None,
    ) -> wire.GuildChannel:
        """Make a channel, at the end of where it goes. Without overwrites of its own it takes those of its category.

        :raises ApiError: as `Access.guild` with MANAGE_CHANNELS; MISSING_PERMISSIONS for overwrites that the caller
            may not write and for a category that the caller does not see, CONTENT_BLOCKED, UNKNOWN_VOICE_REGION,
            MAX_GUILD_CHANNELS, MAX_CATEGORY_CHANNELS.
        :raises InvalidFormBody: with every field that cannot be taken.
        """
        access = self._core.access.guild(principal, guild_id, MANAGE_CHANNELS)
        state = access.state
        columns = self._judged(state, kind, fields)
        own = overwrites_of_body(principal, access.permissions, state, (), overwrites)
        require_seen(state, principal.user_id, columns.get("parent_id"))

        def unit(connection: sqlite3.Connection) -> _ChannelChange:
            return self._make(connection, guild_id, kind, fields, columns, own, Actor(principal.user_id, reason))

        written = await self._core.database.write(
            unit, lambda written: self._made(guild_id, written), guard=principal.guard
        )
        (made,) = written.channels
        current = self._core.guild_states.get(guild_id)
        if current is None or made.id not in current.channels:
            raise ApiError(ErrorCode.UNKNOWN_CHANNEL)
        return current.channel_object(made.id)

    async def create_beside(
        self,
        guild_id: int,
        kind: ChannelType,
        fields: Mapping[str, Any],
        besides: Callable[[sqlite3.Connection, int, Sequence[int]], None],
    ) -> Channel:
        """As `create`, by the command line, in the name of the instance. The unit calls `besides` with the channel's id
        and the ids of the entries in the guild's audit log.

        :raises ApiError: UNKNOWN_GUILD; otherwise as `create`.
        :raises InvalidFormBody: as `create`.
        """
        state = self._core.guild_states.get(guild_id)
        if state is None:
            raise ApiError(ErrorCode.UNKNOWN_GUILD)
        columns = self._judged(state, kind, fields)

        def unit(connection: sqlite3.Connection) -> _ChannelChange:
            written = self._make(connection, guild_id, kind, fields, columns, (), Actor(INSTANCE, None))
            besides(connection, written.channels[0].id, [entry.id for entry in written.entries if entry is not None])
            return written

        written = await self._core.database.write(unit, guard=UNGUARDED)
        return written.channels[0]

    def take_up(self, guild_id: int, channel_id: int, entry_ids: Sequence[int]) -> None:
        """Show a channel that was made beside this server, and tell of its entries in the guild's audit log. A guild
        that is not in memory has no session connected to it."""
        reader = self._core.database.reader
        found = next((one for one in channels.of_guild(reader, guild_id) if one.id == channel_id), None)
        if found is not None and self._core.guild_states.loaded(guild_id) is not None:
            entries = tuple(guild_audit_log.by_id(reader, entry_id) for entry_id in entry_ids)
            self._made(guild_id, _ChannelChange((found,), entries))

    def _make(
        self,
        connection: sqlite3.Connection,
        guild_id: int,
        kind: ChannelType,
        fields: Mapping[str, Any],
        columns: Mapping[str, Any],
        own: tuple[Overwrite, ...],
        actor: Actor,
    ) -> _ChannelChange:
        """In a unit of writing: the new channel, of the columns that `_judged` kept of the fields."""
        limits = self._core.settings.limits
        present = _channels(connection, guild_id)
        if len(present) >= limits.max_guild_channels:
            raise ApiError(ErrorCode.MAX_GUILD_CHANNELS)
        if kind is ChannelType.GUILD_VOICE:
            columns = {**voice_defaults(limits), **columns}
        parent = self._parent(present, kind, columns.get("parent_id"))
        siblings = [channel for channel in present.values() if channel.parent_id == columns.get("parent_id")]
        made = Channel(
            id=self._core.snowflakes(),
            guild_id=guild_id,
            type=kind,
            position=1 + max((channel.position for channel in siblings), default=-1),
            overwrites=own or (() if parent is None else parent.overwrites),
            **columns,
        )
        if kind in THREAD_ONLY_CHANNEL_TYPES:
            made = with_forum(made, fields, self._core.snowflakes)
        channels.insert(connection, [made])
        return _ChannelChange((made,), (self._record(connection, AuditAction.CHANNEL_CREATE, actor, None, made),))

    def _made(self, guild_id: int, written: _ChannelChange) -> None:
        state = self._core.guild_states.get(guild_id)
        if state is not None:
            self._put(state, written)
            self._core.bus.publish(GuildStateChanged(guild_id))
            self._core.audit_log.publish(*written.entries)

    async def change(
        self,
        principal: Principal,
        channel_id: int,
        fields: Mapping[str, Any],
        overwrites: Sequence[Overwrite] | None = None,
        reason: str | None = None,
    ) -> wire.GuildChannel | wire.GroupChannel | wire.Thread:
        """Change the named fields of a channel; `type` turns text and announcement channels into each other.

        For the region of a voice channel alone, UPDATE_RTC_REGION is enough.

        :raises ApiError: as `Access.guild_channel` with MANAGE_CHANNELS; otherwise as `create`; MISSING_PERMISSIONS
            for overwrites without MANAGE_ROLES.
        :raises InvalidFormBody: as `create`.
        """
        region_alone = overwrites is None and fields.keys() == {"rtc_region"}
        access = self._core.access.guild_channel(principal, channel_id, 0 if region_alone else MANAGE_CHANNELS)
        if region_alone and not access.may(Permission.UPDATE_RTC_REGION):
            access.require(MANAGE_CHANNELS)
        if overwrites is not None:
            access.require(MANAGE_ROLES)
        state, guild_id = access.state, access.state.id
        kind = _converted(access.channel, fields)
        columns = self._judged(state, kind, fields)
        require_seen(state, principal.user_id, columns.get("parent_id"))

        def unit(connection: sqlite3.Connection) -> _ChannelChange:
            present = _channels(connection, guild_id)
            before = present.get(channel_id)
            if before is None:
                raise ApiError(ErrorCode.UNKNOWN_CHANNEL)
            if columns.get("parent_id", before.parent_id) != before.parent_id:
                self._parent(present, kind, columns["parent_id"])
            if kind != before.type and threads.any_below(connection, channel_id):
                raise ApiError(ErrorCode.CHANNEL_HAS_THREADS)
            after = attrs.evolve(before, type=kind, **columns)
            if kind in THREAD_ONLY_CHANNEL_TYPES:
                after = with_forum(after, fields, self._core.snowflakes)
            if overwrites is not None:
                kept = overwrites_of_body(principal, access.permissions, state, before.overwrites, overwrites)
                after = attrs.evolve(after, overwrites=kept)
                channels.replace_overwrites(connection, channel_id, kept)
            channels.replace(connection, after)
            entry = self._record(
                connection, AuditAction.CHANNEL_UPDATE, Actor(principal.user_id, reason), before, after
            )
            return _ChannelChange((after,), (entry,))

        def then(written: _ChannelChange) -> None:
            state = self._core.guild_states.get(guild_id)
            if state is None:
                return
            self._put(state, written)
            self._core.bus.publish(GuildStateChanged(guild_id), channel_updated(state, channel_id))
            self._core.audit_log.publish(*written.entries)

        await self._core.database.write(unit, then, guard=principal.guard)
        return self._core.access.guild_channel(principal, channel_id).channel_object()

    async def reorder(
        self, principal: Principal, guild_id: int, moves: Mapping[int, ChannelMove], reason: str | None = None
    ) -> None:
        """Move channels, all of them or none; positions among siblings are dense afterwards.

        :raises ApiError: as `Access.guild` with MANAGE_CHANNELS, and as `Access.guild_channel` for each channel: with
            MANAGE_CHANNELS for one that moves, with MANAGE_ROLES too where it takes over overwrites, without either for
            a category or a sibling to stand behind; MAX_CATEGORY_CHANNELS.
        :raises InvalidFormBody: CHANNEL_NOT_FOUND for a channel that the guild does not have; as `create` for parents.
        """
        state = self._core.access.guild(principal, guild_id, MANAGE_CHANNELS).state
        _require_present(state.channels, moves)
        held: dict[int, int] = {}
        for channel_id, move in moves.items():
            needed = MANAGE_CHANNELS | MANAGE_ROLES if move.lock_permissions else MANAGE_CHANNELS
            held[channel_id] = self._core.access.guild_channel(principal, channel_id, needed).permissions
            require_seen(state, principal.user_id, move.parent_id, move.after_id)

        def unit(connection: sqlite3.Connection) -> _ChannelChange:
            before = _channels(connection, guild_id)
            _require_present(before, moves)
            after = dict(before)
            for channel_id, move in moves.items():
                after[channel_id] = self._placed(principal, held[channel_id], state, after, after[channel_id], move)
            after = _renumbered(after, moves)
            changed = tuple(channel for channel in after.values() if channel != before[channel.id])
            actor = Actor(principal.user_id, reason)
            entries = []
            for channel in changed:
                channels.replace(connection, channel)
                if channel.overwrites != before[channel.id].overwrites:
                    channels.replace_overwrites(connection, channel.id, channel.overwrites)
                if channel.id in moves:
                    old = before[channel.id]
                    entries.append(self._record(connection, AuditAction.CHANNEL_UPDATE, actor, old, channel))
            return _ChannelChange(changed, tuple(entries))

        def then(written: _ChannelChange) -> None:
            state = self._core.guild_states.get(guild_id)
            if state is None or not written.channels:
                return
            self._put(state, written)
            moved = frozenset(channel.id for channel in written.channels)
            self._core.bus.publish(GuildStateChanged(guild_id), GuildChannelsChanged(guild_id, moved))
            self._core.audit_log.publish(*written.entries)

        await self._core.database.write(unit, then, guard=principal.guard)

    async def delete(self, principal: Principal, channel_id: int, reason: str | None = None) -> wire.GuildChannel:
        """Delete a channel; what a category held comes to the root. Returns the channel object as it was.

        :raises ApiError: as `Access.guild_channel` with MANAGE_CHANNELS.
        """
        access = self._core.access.guild_channel(principal, channel_id, MANAGE_CHANNELS)
        guild_id, shown = access.state.id, access.state.channel_object(channel_id).copy()

        def unit(connection: sqlite3.Connection) -> _ChannelChange:
            present = _channels(connection, guild_id)
            gone = present.get(channel_id)
            if gone is None:
                raise ApiError(ErrorCode.UNKNOWN_CHANNEL)
            orphans = tuple(
                attrs.evolve(channel, parent_id=None) for channel in present.values() if channel.parent_id == channel_id
            )
            below = tuple(
                known_thread(connection, thread) for thread in threads.active_below(connection, guild_id, channel_id)
            )
            guild = require_guild(connection, guild_id)
            lead_elsewhere(connection, guild, channel_id)
            channels.cut_channel_loose(connection, channel_id)
            changed = _without_channel(guild, channel_id)
            if changed is not None:
                guilds.replace(connection, changed)
            actor = Actor(principal.user_id, reason)
            entry = self._record(connection, AuditAction.CHANNEL_DELETE, actor, gone, None)
            return _ChannelChange(orphans, (entry,), changed, below)

        def then(written: _ChannelChange) -> None:
            state = self._core.guild_states.get(guild_id)
            if state is None:
                return
            self._core.bus.publish(*(thread_deleted(known) for known in written.gone))
            state.drop_channel(channel_id)
            self._put(state, written)
            self._core.bus.publish(GuildStateChanged(guild_id, deleted={channel_id: shown}))
            self._core.bus.publish(*(channel_updated(state, channel.id) for channel in written.channels))
            if written.guild is not None:
                state.put_guild(written.guild)
                self._core.bus.publish(guild_updated(state))
            self._core.audit_log.publish(*written.entries)

        await self._core.database.write(unit, then, guard=principal.guard)
        return shown

    # Inside

    def _judged(self, state: GuildState, kind: ChannelType, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        """The columns that a channel of this type keeps of the fields.

        :raises ApiError: CONTENT_BLOCKED, UNKNOWN_VOICE_REGION.
        :raises InvalidFormBody: as `stored_fields`.
        """
        columns = stored_fields(kind, fields, state, self._core.settings)
        for name in ("name", "topic", "content_warning_text"):
            if columns.get(name) is not None:
                self._core.blocked.require_text(columns[name])
        self._regions.require(state.guild.features, columns.get("rtc_region"))
        return columns

    def _parent(self, present: Mapping[int, Channel], kind: ChannelType, parent_id: int | None) -> Channel | None:
        """The category to go into.

        :raises ApiError: MAX_CATEGORY_CHANNELS.
        :raises InvalidFormBody: CATEGORIES_CANNOT_HAVE_PARENTS, INVALID_PARENT_CHANNEL, PARENT_MUST_BE_CATEGORY at
            `parent_id`.
        """
        if parent_id is None:
            return None
        if kind is ChannelType.GUILD_CATEGORY:
            raise InvalidFormBody.at("parent_id", FieldCode.CATEGORIES_CANNOT_HAVE_PARENTS)
        parent = present.get(parent_id)
        if parent is None:
            raise InvalidFormBody.at("parent_id", FieldCode.INVALID_PARENT_CHANNEL)
        if parent.type != ChannelType.GUILD_CATEGORY:
            raise InvalidFormBody.at("parent_id", FieldCode.PARENT_MUST_BE_CATEGORY)
        held = sum(channel.parent_id == parent_id for channel in present.values())
        if held >= self._core.settings.limits.max_channels_per_category:
            raise ApiError(ErrorCode.MAX_CATEGORY_CHANNELS)
        return parent

    def _placed(
        self,
        principal: Principal,
        own: int,
        state: GuildState,
        present: Mapping[int, Channel],
        channel: Channel,
        move: ChannelMove,
    ) -> Channel:
        """The channel where it is to stand; the caller holds `own` in it."""
        if move.parent and move.parent_id != channel.parent_id:
            parent = self._parent(present, ChannelType(channel.type), move.parent_id)
            channel = attrs.evolve(channel, parent_id=move.parent_id)
            if move.lock_permissions and parent is not None:
                taken = overwrites_of_body(principal, own, state, channel.overwrites, parent.overwrites)
                channel = attrs.evolve(channel, overwrites=taken)
        return channel if move.position is None else attrs.evolve(channel, position=move.position)

    def _record(
        self,
        connection: sqlite3.Connection,
        action: AuditAction,
        actor: Actor,
        before: Channel | None,
        after: Channel | None,
    ) -> AuditLogEntry | None:
        known = after or before
        assert known is not None, "a change has a before or an after"  # noqa: S101
        return self._core.audit_log.record_change(
            connection, known.guild_id or 0, action, actor, known.id, _logged(before), _logged(after)
        )

    def _put(self, state: GuildState, written: _ChannelChange) -> None:
        for channel in written.channels:
            state.put_channel(channel)


def _channels(connection: sqlite3.Connection, guild_id: int) -> dict[int, Channel]:
    """The guild's channels by id. Raises UNKNOWN_GUILD if the guild is gone meanwhile."""
    require_guild(connection, guild_id)
    return {channel.id: channel for channel in channels.of_guild(connection, guild_id)}


def _require_present(present: Mapping[int, Channel], moves: Mapping[int, ChannelMove]) -> None:
    """Raise InvalidFormBody, CHANNEL_NOT_FOUND at each channel that the guild does not have."""
    unknown = [
        FieldError(f"{index}.id", FieldCode.CHANNEL_NOT_FOUND)
        for index, channel_id in enumerate(moves)
        if channel_id not in present
    ]
    if unknown:
        raise InvalidFormBody(unknown)


def _converted(known: Channel, fields: Mapping[str, Any]) -> ChannelType:
    """The type that a channel has after a change: text and announcement channels turn into each other.

    :raises ApiError: INVALID_CHANNEL_TYPE for a turn that is not possible.
    """
    kind = ChannelType(known.type)
    wanted = ChannelType(fields.get("type", kind))
    if wanted is not kind and not {wanted, kind} <= SYSTEM_CHANNEL_TYPES:
        raise ApiError(ErrorCode.INVALID_CHANNEL_TYPE)
    return wanted


def _renumbered(present: Mapping[int, Channel], moves: Mapping[int, ChannelMove]) -> dict[int, Channel]:
    """Dense positions among siblings. A channel that was moved goes before those that stay, where both want the same
    place; one with `after_id` goes right behind that sibling."""
    after: dict[int, Channel] = {}
    parents = {channel.parent_id for channel in present.values()}
    for parent_id in parents:
        siblings = [channel for channel in present.values() if channel.parent_id == parent_id]
        siblings.sort(key=lambda channel: (channel.position, channel.id not in moves, channel.id))
        for channel_id, move in moves.items():
            behind = next((channel for channel in siblings if channel.id == move.after_id), None)
            moved = next((channel for channel in siblings if channel.id == channel_id), None)
            if behind is not None and moved is not None and behind is not moved:
                siblings.remove(moved)
                siblings.insert(siblings.index(behind) + 1, moved)
        for position, channel in enumerate(siblings):
            after[channel.id] = attrs.evolve(channel, position=position)
    return after


def _without_channel(guild: Guild, channel_id: int) -> Guild | None:
    """The guild without a channel that is gone; None if it did not name the channel."""
    names = ("system_channel_id", "rules_channel_id", "afk_channel_id")
    lost: Mapping[str, Any] = {name: None for name in names if getattr(guild, name) == channel_id}
    return attrs.evolve(guild, **lost) if lost else None


def _logged_of_threads(channel: Channel) -> Mapping[str, object]:
    """The values of a channel with threads that the audit log compares."""
    logged: dict[str, object] = {
        "flags": channel.flags,
        "default_auto_archive_duration": channel.default_auto_archive_duration,
        "default_thread_rate_limit_per_user": channel.default_thread_rate_limit_per_user,
        **({} if channel.forum is None else forum_object(channel)),
    }
    return {name: value for name, value in logged.items() if value}


_LOGGED: Final = (
    "name", "type", "topic", "position", "parent_id", "nsfw", "nsfw_override", "content_warning_level",
    "content_warning_text", "rate_limit_per_user", "message_retention_days", "bitrate", "user_limit",
    "voice_connection_limit", "rtc_region", "url",
)  # fmt: skip
"""The columns that the audit log compares, for every type of channel."""


def _logged(channel: Channel | None) -> Mapping[str, object]:
    if channel is None:
        return {}
    return {
        **_logged_of_threads(channel),
        **{name: getattr(channel, name) for name in _LOGGED},
        "parent_id": None if channel.parent_id is None else str(channel.parent_id),
        "permission_overwrites": [
            {"id": str(entry.target_id), "type": entry.type, "allow": str(entry.allow), "deny": str(entry.deny)}
            for entry in channel.overwrites
        ],
    }
