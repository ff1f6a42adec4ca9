"""Changing members: nickname, roles, voice, time-outs, and what members change about themselves (guilds.md, Members).

What concerns another member needs a permission, and that this member stands below the caller; roles go by their own
places. A request is carried out whole or not at all.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, Final

from chat import wire
from chat.auth.principal import Principal
from chat.classes import define, frozen
from chat.clock import iso_timestamp
from chat.domain.accounts.account_images import ACCOUNT_IMAGES, AccountImageChanges, AccountImages, member_images
from chat.domain.core import Core
from chat.domain.guilds.roles import Roles
from chat.domain.messages.message_objects import author_object
from chat.domain.policy.changes import Columns, without_repeated
from chat.domain.presence.voice_connections import VoiceState
from chat.domain.presence.voice_states import VoiceStates
from chat.domain.standing.access import GuildAccess, require_guild
from chat.domain.standing.audit_log import Actor
from chat.domain.standing.guild_states import Member
from chat.errors import ApiError, InvalidFormBody
from chat.registries.audit_actions import AuditAction
from chat.registries.channel_types import ChannelType
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.permissions import Permission
from chat.store.guilds import members, roles
from chat.store.standing.guild_audit_log import AuditLogEntry

TIMEOUT_MAXIMUM_MS: Final = 365 * 86_400_000
"""How long a time-out may last."""


PERMISSIONS: Final[Mapping[str, Permission]] = {
    "nick": Permission.MANAGE_NICKNAMES,
    "roles": Permission.MANAGE_ROLES,
    "mute": Permission.MUTE_MEMBERS,
    "deaf": Permission.DEAFEN_MEMBERS,
    "communication_disabled_until": Permission.MODERATE_MEMBERS,
    "channel_id": Permission.MOVE_MEMBERS,
}
"""The permission that changing a field of another member needs."""

NO_COLUMNS: Final = frozenset({"roles", "channel_id", "connection_id"})
"""Fields that are stored elsewhere, or not at all."""

NO_PICTURES: Final = AccountImageChanges()

LOGGED: Final = ("nick", "mute", "deaf")
"""Fields that the audit log compares as they are."""


@frozen
class _MemberChange:
    before: Member
    after: Member
    entries: Sequence[AuditLogEntry | None]

    @property
    def is_heard(self) -> bool:
        """Whether the voice channels that the member is in must learn of it."""
        return any(
            getattr(self.before, name) != getattr(self.after, name)
            for name in ("mute", "deaf", "communication_disabled_until")
        )


@frozen
class _VoiceMove:
    """Voice connections, and where they go; None ends them."""

    connections: Sequence[VoiceState]
    channel_id: int | None


@define(kw_only=True, eq=False)
class MemberChanges:
    _core: Core
    _roles: Roles
    _voice_states: VoiceStates
    _images: AccountImages

    async def change(
        self, principal: Principal, guild_id: int, user_id: int, fields: Mapping[str, Any], reason: str | None = None
    ) -> wire.Member:
        """Change the named fields of a member: nick, roles (ids), mute, deaf, communication_disabled_until (Unix
        milliseconds), channel_id with connection_id; returns the member object.

        A time-out in the past is none. `channel_id` None takes the member out of voice; without `connection_id` it is
        about all of the member's connections.

        :raises ApiError: as `Access.guild` with what PERMISSIONS asks for; UNKNOWN_MEMBER; MISSING_PERMISSIONS for a
            member, and for a role, that does not stand below the caller, and for a time-out of a member who may give
            time-outs; CONTENT_BLOCKED; USER_NOT_IN_VOICE; for the voice channel as `Access.channel` with MOVE_MEMBERS
            and CONNECT, and INVALID_CHANNEL_TYPE.
        :raises InvalidFormBody: INVALID_ROLE_ID at `roles`, TIMEOUT_CANNOT_EXCEED_365_DAYS.
        """
        access = self._permitted(principal, guild_id, user_id, fields)
        target = access.state.member(user_id)
        if target is None:
            raise ApiError(ErrorCode.UNKNOWN_MEMBER)
        self._require_below(access, target, fields)
        columns = self._columns(fields)
        if "role_ids" in columns:
            self._roles.require_assignable(access, columns["role_ids"] ^ target.role_ids)
        move = self._judged_move(principal, guild_id, target, fields)
        written = await self._write(principal, access, user_id, columns, reason, move)
        return self._object(written.after)

    async def change_own(
        self, principal: Principal, guild_id: int, fields: Mapping[str, Any], reason: str | None = None
    ) -> wire.Member:
        """Change what the caller shows of itself in the guild: nick, bio, pronouns, accent_color, profile_flags,
        mention_flags, and, as base64 text, avatar and banner; returns the member object.

        :raises ApiError: as `Access.guild`; MISSING_PERMISSIONS without CHANGE_NICKNAME, CONTENT_BLOCKED.
        :raises InvalidFormBody: CONTENT_EXCEEDS_MAX_LENGTH at `bio`; for the images as `AccountImages.judged`.
        :raises StorageUnavailable: when an image cannot be written.
        """
        user_id = principal.user_id
        access = self._permitted(principal, guild_id, user_id, fields)
        sent = {name: fields[name] for name in ACCOUNT_IMAGES.keys() & fields.keys()}
        columns = self._columns({name: value for name, value in fields.items() if name not in sent})
        bio = columns.get("bio")
        if bio is not None and len(bio) > self._core.settings.limits.max_bio_length:
            raise InvalidFormBody.at("bio", FieldCode.CONTENT_EXCEEDS_MAX_LENGTH)
        columns = without_repeated(access.member, columns)
        pictures = await self._images.judged(principal.account, sent, principal.guard, member_images(guild_id))
        pictures = pictures.without_repeated(access.member)
        columns |= pictures.columns()
        async with self._images.media.kept(*pictures.prepared, guard=principal.guard):
            written = await self._write(principal, access, user_id, columns, reason, None, pictures)
        return self._object(written.after)

    # Judging

    def _permitted(self, principal: Principal, guild_id: int, user_id: int, fields: Mapping[str, Any]) -> GuildAccess:
        asked = {name: bit for name, bit in PERMISSIONS.items() if name in fields}
        own_nick = user_id == principal.user_id and asked.pop("nick", None) is not None
        needed = sum(asked.values())
        access = self._core.access.guild(principal, guild_id, needed)
        if own_nick and not access.permissions & (Permission.CHANGE_NICKNAME | Permission.MANAGE_NICKNAMES):
            raise ApiError(ErrorCode.MISSING_PERMISSIONS)
        return access

    def _require_below(self, access: GuildAccess, target: Member, fields: Mapping[str, Any]) -> None:
        """Raise MISSING_PERMISSIONS for a member who is not below the caller. Callers may do to themselves what they
        may do to others, but not give or take their own voice."""
        if target.user_id == access.member.user_id:
            if "communication_disabled_until" in fields:
                raise ApiError(ErrorCode.MISSING_PERMISSIONS)
            return
        above = access.state.rank(access.member) > access.state.rank(target)
        if fields.keys() & (PERMISSIONS.keys() - {"roles"}) and not above:
            raise ApiError(ErrorCode.MISSING_PERMISSIONS)
        silenced = fields.get("communication_disabled_until") is not None
        if silenced and access.state.member_permissions(target) & Permission.MODERATE_MEMBERS:
            raise ApiError(ErrorCode.MISSING_PERMISSIONS)

    def _columns(self, fields: Mapping[str, Any]) -> Columns:
        """The columns and values to store for the fields."""
        columns = {name: value for name, value in fields.items() if name not in NO_COLUMNS}
        if "roles" in fields:
            columns["role_ids"] = frozenset(fields["roles"])
        nick = columns.get("nick")
        if nick is not None:
            columns["nick"] = nick.strip() or None
            self._core.blocked.require_profile(nick)
        for name in ("bio", "pronouns"):
            self._core.blocked.require_profile(columns.get(name) or "")
        until, now = columns.get("communication_disabled_until"), self._core.clock.now_ms()
        if until is not None and until > now + TIMEOUT_MAXIMUM_MS:
            raise InvalidFormBody.at("communication_disabled_until", FieldCode.TIMEOUT_CANNOT_EXCEED_365_DAYS)
        if until is not None and until <= now:
            columns["communication_disabled_until"] = None
        return columns

    def _judged_move(
        self, principal: Principal, guild_id: int, target: Member, fields: Mapping[str, Any]
    ) -> _VoiceMove | None:
        if "channel_id" not in fields:
            return None
        channel_id, connection_id = fields["channel_id"], fields.get("connection_id")
        if channel_id is not None:
            # The member need not see the channel: being in it is seeing it (gateway.md, Voice State Update).
            access = self._core.access.guild_channel(
                principal, channel_id, Permission.MOVE_MEMBERS | Permission.CONNECT
            )
            if access.state.id != guild_id:
                raise ApiError(ErrorCode.UNKNOWN_CHANNEL)
            if access.channel.type != ChannelType.GUILD_VOICE:
                raise ApiError(ErrorCode.INVALID_CHANNEL_TYPE)
        connections = [
            state
            for state in self._voice_states.of_member(guild_id, target.user_id, seen_by=principal.user_id)
            if connection_id is None or state.connection_id == connection_id
        ]
        if not connections:
            raise ApiError(ErrorCode.USER_NOT_IN_VOICE)
        moved = [state for state in connections if state.channel_id != channel_id]
        return _VoiceMove(moved, channel_id) if moved else None

    # Writing

    async def _write(
        self,
        principal: Principal,
        access: GuildAccess,
        user_id: int,
        columns: Mapping[str, Any],
        reason: str | None,
        move: _VoiceMove | None,
        pictures: AccountImageChanges = NO_PICTURES,
    ) -> _MemberChange:
        guild_id, actor = access.state.id, Actor(principal.user_id, reason)

        def unit(connection: sqlite3.Connection) -> _MemberChange:
            require_guild(connection, guild_id)
            before = members.by_id(connection, guild_id, user_id)
            if before is None:
                raise ApiError(ErrorCode.UNKNOWN_MEMBER)
            after = before._replace(**columns)
            pictures.store(connection)
            entries = [
                self._write_columns(connection, before, after, actor),
                self._write_roles(connection, access, before, after, actor),
                None if move is None else self._record_move(connection, after, move, actor),
            ]
            return _MemberChange(before, after, entries)

        def then(written: _MemberChange) -> None:
            if written.after != written.before:
                self._roles.announce_member(written.after)
            if written.is_heard:
                self._voice_states.member_changed(guild_id, user_id)
            if move is not None:
                for connection in move.connections:
                    self._voice_states.move(connection.connection_id, move.channel_id)
            self._core.audit_log.publish(*written.entries)

        return await self._core.database.write(unit, then, guard=principal.guard)

    def _write_columns(
        self, connection: sqlite3.Connection, before: Member, after: Member, actor: Actor
    ) -> AuditLogEntry | None:
        if after._replace(role_ids=before.role_ids) != before:
            members.replace(connection, after)
        action = AuditAction.MEMBER_UPDATE
        return self._core.audit_log.record_change(
            connection, after.guild_id, action, actor, after.user_id, _logged(before), _logged(after)
        )

    def _write_roles(
        self, connection: sqlite3.Connection, access: GuildAccess, before: Member, after: Member, actor: Actor
    ) -> AuditLogEntry | None:
        if before.role_ids == after.role_ids:
            return None
        # Another request may have changed the roles since they were looked at.
        self._roles.require_assignable(access, before.role_ids ^ after.role_ids)
        added = after.role_ids - before.role_ids
        if any(roles.by_id(connection, after.guild_id, role_id) is None for role_id in added):
            raise InvalidFormBody.at("roles", FieldCode.INVALID_ROLE_ID)
        members.remove_roles(connection, after.guild_id, after.user_id, before.role_ids - after.role_ids)
        members.add_roles(connection, after.guild_id, after.user_id, added)
        return self._roles.record_roles(connection, actor, before, after)

    def _record_move(
        self, connection: sqlite3.Connection, member: Member, move: _VoiceMove, actor: Actor
    ) -> AuditLogEntry:
        options = {"count": str(len(move.connections))}
        if move.channel_id is not None:
            options["channel_id"] = str(move.channel_id)
        action = AuditAction.MEMBER_DISCONNECT if move.channel_id is None else AuditAction.MEMBER_MOVE
        return self._core.audit_log.record(
            connection, member.guild_id, action, actor, target_id=member.user_id, options=options
        )

    def _object(self, member: Member) -> wire.Member:
        state = self._core.guild_states.get(member.guild_id)
        if state is None:
            raise ApiError(ErrorCode.UNKNOWN_GUILD)
        return state.member_object(member, author_object(member.user_id, state.account(member.user_id)))


def _logged(member: Member) -> Mapping[str, object]:
    until = member.communication_disabled_until
    return {
        **{name: getattr(member, name) for name in LOGGED},
        "communication_disabled_until": None if until is None else iso_timestamp(until),
    }
