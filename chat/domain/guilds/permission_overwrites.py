"""What channels allow and deny beyond the roles (guilds.md, Permission overwrites).

Callers write no bit, allowed or denied, that they lack in the channel themselves.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Final

import attrs

from chat.auth.principal import Principal
from chat.bus.bus import GuildStateChanged
from chat.classes import define, frozen
from chat.domain.core import Core
from chat.domain.standing.audit_log import Actor, changes_between
from chat.domain.standing.guild_events import channel_updated
from chat.domain.standing.guild_states import Channel, GuildState, Overwrite
from chat.domain.standing.permissions import writable_bits, written_mask
from chat.errors import ApiError, FieldError, InvalidFormBody
from chat.registries.audit_actions import AuditAction
from chat.registries.channel_types import OverwriteType
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.permissions import FULL_MASK, Permission
from chat.store.guilds import channels, members, roles
from chat.store.standing.guild_audit_log import AuditLogEntry

OVERWRITES_MAXIMUM: Final = 500
"""Overwrites that one channel may have."""


@frozen
class _OverwriteChange:
    channel: Channel
    entry: AuditLogEntry | None


@define(kw_only=True, eq=False)
class PermissionOverwrites:
    _core: Core

    async def put(self, principal: Principal, channel_id: int, wanted: Overwrite, reason: str | None = None) -> None:
        """Set what a channel allows and denies a role or a member, in place of what it did.

        :raises ApiError: as `Access.guild_channel` with MANAGE_ROLES; UNKNOWN_ROLE, UNKNOWN_MEMBER;
            MISSING_PERMISSIONS for a bit that changes and that the caller lacks.
        """
        access = self._core.access.guild_channel(principal, channel_id, Permission.MANAGE_ROLES)
        guild_id = access.state.id

        def unit(connection: sqlite3.Connection) -> _OverwriteChange:
            channel = _channel(connection, guild_id, channel_id)
            _require_target(connection, guild_id, wanted)
            before = next((entry for entry in channel.overwrites if entry.target_id == wanted.target_id), None)
            if before is None and len(channel.overwrites) >= OVERWRITES_MAXIMUM:
                raise InvalidFormBody.at("root", FieldCode.INVALID_FORMAT)
            after = written_overwrite(principal, access.permissions, before, wanted)
            if after == before:
                return _OverwriteChange(channel, None)
            channels.put_overwrites(connection, channel_id, [after])
            action = AuditAction.CHANNEL_OVERWRITE_CREATE if before is None else AuditAction.CHANNEL_OVERWRITE_UPDATE
            actor = Actor(principal.user_id, reason)
            entry = self._record(connection, channel, action, actor, before, after)
            return _OverwriteChange(
                attrs.evolve(channel, overwrites=channels.overwrites_of(connection, channel_id)), entry
            )

        await self._core.database.write(unit, self._announce, guard=principal.guard)

    async def delete(self, principal: Principal, channel_id: int, target_id: int, reason: str | None = None) -> None:
        """Take an overwrite away; where there is none, nothing happens.

        :raises ApiError: as `put`.
        """
        access = self._core.access.guild_channel(principal, channel_id, Permission.MANAGE_ROLES)
        guild_id = access.state.id

        def unit(connection: sqlite3.Connection) -> _OverwriteChange:
            channel = _channel(connection, guild_id, channel_id)
            before = next((entry for entry in channel.overwrites if entry.target_id == target_id), None)
            if before is None:
                return _OverwriteChange(channel, None)
            nothing = attrs.evolve(before, allow=0, deny=0)
            require_may_write(access.permissions, before, nothing)
            channels.delete_overwrite(connection, channel_id, target_id)
            actor = Actor(principal.user_id, reason)
            entry = self._record(connection, channel, AuditAction.CHANNEL_OVERWRITE_DELETE, actor, before, None)
            return _OverwriteChange(
                attrs.evolve(channel, overwrites=channels.overwrites_of(connection, channel_id)), entry
            )

        await self._core.database.write(unit, self._announce, guard=principal.guard)

    def _record(
        self,
        connection: sqlite3.Connection,
        channel: Channel,
        action: AuditAction,
        actor: Actor,
        before: Overwrite | None,
        after: Overwrite | None,
    ) -> AuditLogEntry:
        known = after or before
        assert known is not None, "a change has a before or an after"  # noqa: S101
        options = {"id": str(known.target_id), "type": str(known.type)}
        if known.type == OverwriteType.ROLE:
            role = roles.by_id(connection, channel.guild_id or 0, known.target_id)
            options["role_name"] = "" if role is None else role.name
        return self._core.audit_log.record(
            connection,
            channel.guild_id or 0,
            action,
            actor,
            target_id=channel.id,
            options=options,
            changes=changes_between(_logged(before), _logged(after)),
        )

    def _announce(self, written: _OverwriteChange) -> None:
        channel = written.channel
        state = self._core.guild_states.get(channel.guild_id or 0)
        if written.entry is None or state is None:
            return
        state.put_channel(channel)
        # Accounts that see the channel only now get it whole first; those that no longer see it hear of no change.
        self._core.bus.publish(GuildStateChanged(state.id), channel_updated(state, channel.id))
        self._core.audit_log.publish(written.entry)


def _channel(connection: sqlite3.Connection, guild_id: int, channel_id: int) -> Channel:
    """The channel of the guild. Raises UNKNOWN_CHANNEL if it is gone meanwhile: then it may still be stored, in no
    guild."""
    channel = channels.by_id(connection, channel_id)
    if channel is None or channel.guild_id != guild_id:
        raise ApiError(ErrorCode.UNKNOWN_CHANNEL)
    return channel


def overwrites_of_body(
    principal: Principal,
    own: int,
    state: GuildState,
    before: Sequence[Overwrite],
    wanted: Sequence[Overwrite],
    *,
    path: str = "permission_overwrites",
) -> tuple[Overwrite, ...]:
    """The overwrites that a whole list in a body comes to, in order of their targets.

    :raises ApiError: MISSING_PERMISSIONS for a bit that changes and that the caller, who holds `own`, lacks.
    :raises InvalidFormBody: INVALID_ROLE_ID at the entry of a role that the guild does not have; INVALID_FORMAT for a
        second entry of one target.
    """
    known = {entry.target_id: entry for entry in before}
    written: dict[int, Overwrite] = {}
    errors: list[FieldError] = []
    for index, entry in enumerate(wanted):
        if entry.target_id in written:
            errors.append(FieldError(f"{path}.{index}.id", FieldCode.INVALID_FORMAT))
        elif entry.type == OverwriteType.ROLE and entry.target_id not in state.roles:
            errors.append(FieldError(f"{path}.{index}.id", FieldCode.INVALID_ROLE_ID))
        else:
            written[entry.target_id] = written_overwrite(principal, own, known.get(entry.target_id), entry)
    if errors:
        raise InvalidFormBody(errors)
    for target_id, entry in known.items():
        if target_id not in written:
            require_may_write(own, entry, attrs.evolve(entry, allow=0, deny=0))
    return tuple(written[target_id] for target_id in sorted(written))


def written_overwrite(principal: Principal, own: int, before: Overwrite | None, wanted: Overwrite) -> Overwrite:
    """What becomes of an overwrite: bits that the client does not know stay, what is denied is not allowed.

    :raises ApiError: MISSING_PERMISSIONS as in `overwrites_of_body`.
    """
    stored = attrs.evolve(wanted, allow=0, deny=0) if before is None else before
    deny = written_mask(principal, wanted.deny, stored.deny)
    allow = written_mask(principal, wanted.allow, stored.allow) & ~(deny & writable_bits(principal))
    after = attrs.evolve(wanted, allow=allow, deny=deny)
    require_may_write(own, stored, after)
    return after


def require_may_write(own: int, before: Overwrite, after: Overwrite) -> None:
    """Raise MISSING_PERMISSIONS for a bit that changes and that the caller, who holds `own`, lacks."""
    changed = (before.allow ^ after.allow) | (before.deny ^ after.deny)
    if own != FULL_MASK and changed & ~own:
        raise ApiError(ErrorCode.MISSING_PERMISSIONS)


def _require_target(connection: sqlite3.Connection, guild_id: int, overwrite: Overwrite) -> None:
    if overwrite.type == OverwriteType.ROLE:
        if roles.by_id(connection, guild_id, overwrite.target_id) is None:
            raise ApiError(ErrorCode.UNKNOWN_ROLE)
    elif not members.exists(connection, guild_id, overwrite.target_id):
        raise ApiError(ErrorCode.UNKNOWN_MEMBER)


def _logged(overwrite: Overwrite | None) -> Mapping[str, str]:
    return {} if overwrite is None else {"allow": str(overwrite.allow), "deny": str(overwrite.deny)}
