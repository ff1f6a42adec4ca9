"""Roles of a guild: making, changing, ordering and deleting them, and giving them to members (permissions.md, Role
hierarchy; guilds.md, Roles).

Callers work below their own highest role, and grant nothing that they lack. Positions are dense after each change: a
new role goes to the bottom, at 1, and what stood there moves up.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import attrs

from chat import wire
from chat.auth.principal import Principal
from chat.bus.audience import ToGuild
from chat.bus.bus import Event, GuildStateChanged
from chat.classes import define, frozen
from chat.domain.core import Core
from chat.domain.standing.access import GuildAccess, require_guild
from chat.domain.standing.audit_log import Actor
from chat.domain.standing.guild_objects import role_object
from chat.domain.standing.guild_states import Member, Role
from chat.domain.standing.permissions import NO_ROLE, rank_of, renumbered, require_may_grant, sees_threads, written_mask
from chat.domain.standing.user_objects import partial_user
from chat.errors import ApiError, InvalidFormBody
from chat.registries.audit_actions import AuditAction
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.registries.events import EventName
from chat.registries.permissions import Permission
from chat.store.accounts import accounts
from chat.store.guilds import members, roles
from chat.store.standing.guild_audit_log import AuditLogEntry


@frozen
class NewRole:
    """A role as it is asked for; `permissions` is a mask."""

    name: str
    color: int = 0
    permissions: int = 0
    hoist: bool = False
    mentionable: bool = False


@frozen
class WrittenRoles:
    """What a unit wrote: the role with the event about it, other roles that moved, and the audit log's entries."""

    guild_id: int
    event: EventName | None
    role: Role | None
    moved: Sequence[Role]
    entries: Sequence[AuditLogEntry | None]


@define(kw_only=True, eq=False)
class Roles:
    _core: Core

    async def create(self, principal: Principal, guild_id: int, new: NewRole, reason: str | None = None) -> wire.Role:
        """Make a role, at the bottom.

        :raises ApiError: as `Access.guild` with MANAGE_ROLES; MISSING_PERMISSIONS for a bit that the caller lacks,
            CONTENT_BLOCKED, MAX_GUILD_ROLES.
        """
        access = self._core.access.guild(principal, guild_id, Permission.MANAGE_ROLES)
        mask = written_mask(principal, new.permissions, 0)
        require_may_grant(access.permissions, 0, mask)
        self._core.blocked.require_text(new.name)
        role = Role(
            id=self._core.snowflakes(),
            guild_id=guild_id,
            name=new.name,
            position=1,
            permissions=mask,
            color=new.color,
            hoist=new.hoist,
            mentionable=new.mentionable,
        )

        written = await self._core.database.write(
            lambda connection: self.write_new(connection, role, Actor(principal.user_id, reason)),
            self.announce,
            guard=principal.guard,
        )
        assert written.role is not None, "it was made"  # noqa: S101
        return role_object(written.role, threads=sees_threads(principal))

    def write_new(self, connection: sqlite3.Connection, role: Role, actor: Actor) -> WrittenRoles:
        """In a unit of writing: add a role where it wants to stand; hand the result to `announce` after the
        commit.

        :raises ApiError: MAX_GUILD_ROLES.
        """
        present = _roles(connection, role.guild_id)
        if len(present) > self._core.settings.limits.max_guild_roles:  # everyone's role does not count
            raise ApiError(ErrorCode.MAX_GUILD_ROLES)
        ordered = renumbered([*present, role], role.guild_id)
        made = next(entry for entry in ordered if entry.id == role.id)
        moved = _different(present, ordered)
        roles.insert(connection, [made])
        roles.replace(connection, moved)
        entry = self._record(connection, AuditAction.ROLE_CREATE, actor, None, made)
        return WrittenRoles(role.guild_id, EventName.GUILD_ROLE_CREATE, made, moved, [entry])

    async def change(
        self, principal: Principal, guild_id: int, role_id: int, changes: Mapping[str, Any], reason: str | None = None
    ) -> wire.Role:
        """Change columns of a role: name, color, permissions, hoist, hoist_position, mentionable. Of everyone's role
        only the permissions can be changed.

        :raises ApiError: as `create`; UNKNOWN_ROLE.
        :raises InvalidFormBody: INVALID_FORMAT at the first member that everyone's role does not take.
        """
        access = self._core.access.guild(principal, guild_id, Permission.MANAGE_ROLES)
        known = access.state.roles.get(role_id)
        if known is None:
            raise ApiError(ErrorCode.UNKNOWN_ROLE)
        _require_below(access, known)
        if role_id == guild_id:
            refused = [name for name in changes if name != "permissions"]
            if refused:
                raise InvalidFormBody.at(refused[0], FieldCode.INVALID_FORMAT)
        if "name" in changes:
            self._core.blocked.require_text(changes["name"])

        def unit(connection: sqlite3.Connection) -> WrittenRoles:
            before = roles.by_id(connection, guild_id, role_id)
            if before is None:
                raise ApiError(ErrorCode.UNKNOWN_ROLE)
            columns = dict(changes)
            if "permissions" in columns:
                columns["permissions"] = written_mask(principal, columns["permissions"], before.permissions)
                require_may_grant(access.permissions, before.permissions, columns["permissions"])
            after = attrs.evolve(before, **columns)
            roles.replace(connection, [after])
            entry = self._record(connection, AuditAction.ROLE_UPDATE, Actor(principal.user_id, reason), before, after)
            return WrittenRoles(guild_id, EventName.GUILD_ROLE_UPDATE, after, (), [entry])

        written = await self._core.database.write(unit, self.announce, guard=principal.guard)
        assert written.role is not None, "it was changed"  # noqa: S101
        return role_object(written.role, threads=sees_threads(principal))

    async def reorder(
        self, principal: Principal, guild_id: int, positions: Mapping[int, int], reason: str | None = None
    ) -> None:
        """Give roles other positions; all of them or none.

        :raises ApiError: as `Access.guild` with MANAGE_ROLES; MISSING_PERMISSIONS for a role that stands, or would
            stand, not below the caller.
        :raises InvalidFormBody: INVALID_ROLE_ID for a role that the guild does not have, and for everyone's.
        """
        access = self._core.access.guild(principal, guild_id, Permission.MANAGE_ROLES)

        def unit(connection: sqlite3.Connection) -> WrittenRoles:
            present = {role.id: role for role in _roles(connection, guild_id)}
            _require_movable(access, present, positions)
            ordered = _moved(present, positions, guild_id)
            _require_same_above(access, present.values(), ordered)
            moved = _different(present.values(), ordered)
            roles.replace(connection, moved)
            actor = Actor(principal.user_id, reason)
            entries = [
                self._record(connection, AuditAction.ROLE_UPDATE, actor, present[role.id], role)
                for role in moved
                if role.id in positions
            ]
            return WrittenRoles(guild_id, None, None, moved, entries)

        await self._core.database.write(unit, self.announce, guard=principal.guard)

    async def place_hoisted(
        self, principal: Principal, guild_id: int, places: Mapping[int, int | None], reason: str | None = None
    ) -> None:
        """Say where in the member list roles are shown, apart from their positions; None follows the position. An
        empty mapping takes all such places back.

        :raises ApiError: as `reorder`.
        :raises InvalidFormBody: INVALID_ROLE_ID as in `reorder`.
        """
        access = self._core.access.guild(principal, guild_id, Permission.MANAGE_ROLES)

        def unit(connection: sqlite3.Connection) -> WrittenRoles:
            present = {role.id: role for role in _roles(connection, guild_id)}
            wanted = places or {role.id: None for role in present.values() if role.hoist_position is not None}
            _require_movable(access, present, wanted)
            after = [attrs.evolve(present[role_id], hoist_position=place) for role_id, place in wanted.items()]
            moved = _different(present.values(), after)
            roles.replace(connection, moved)
            actor = Actor(principal.user_id, reason)
            entries = [
                self._record(connection, AuditAction.ROLE_UPDATE, actor, present[role.id], role) for role in moved
            ]
            return WrittenRoles(guild_id, None, None, moved, entries)

        await self._core.database.write(unit, self.announce, guard=principal.guard)

    async def delete(self, principal: Principal, guild_id: int, role_id: int, reason: str | None = None) -> None:
        """Delete a role; its members and the overwrites for it lose it.

        :raises ApiError: as `change`; MISSING_PERMISSIONS for everyone's role, which cannot be deleted.
        """
        access = self._core.access.guild(principal, guild_id, Permission.MANAGE_ROLES)
        _require_ordinary(access, role_id)

        def unit(connection: sqlite3.Connection) -> WrittenRoles:
            present = _roles(connection, guild_id)
            gone = next((role for role in present if role.id == role_id), None)
            if gone is None:
                raise ApiError(ErrorCode.UNKNOWN_ROLE)
            roles.delete(connection, guild_id, role_id)
            moved = _different(present, renumbered([role for role in present if role.id != role_id], guild_id))
            roles.replace(connection, moved)
            entry = self._record(connection, AuditAction.ROLE_DELETE, Actor(principal.user_id, reason), gone, None)
            return WrittenRoles(guild_id, EventName.GUILD_ROLE_DELETE, gone, moved, [entry])

        await self._core.database.write(unit, self.announce, guard=principal.guard)

    async def give(
        self,
        principal: Principal,
        guild_id: int,
        user_id: int,
        role_id: int,
        *,
        take: bool = False,
        reason: str | None = None,
    ) -> None:
        """Give a member a role, or take it; what is so already stays so.

        :raises ApiError: as `change`; UNKNOWN_MEMBER, MISSING_PERMISSIONS also for everyone's role.
        """
        access = self._core.access.guild(principal, guild_id, Permission.MANAGE_ROLES)
        if access.state.member(user_id) is None:
            raise ApiError(ErrorCode.UNKNOWN_MEMBER)
        _require_ordinary(access, role_id)

        def unit(connection: sqlite3.Connection) -> tuple[Member, AuditLogEntry | None]:
            before = members.by_id(connection, guild_id, user_id)
            if before is None:
                raise ApiError(ErrorCode.UNKNOWN_MEMBER)
            if roles.by_id(connection, guild_id, role_id) is None:
                raise ApiError(ErrorCode.UNKNOWN_ROLE)
            if (role_id in before.role_ids) is not take:
                return before, None
            if take:
                members.remove_roles(connection, guild_id, user_id, [role_id])
            else:
                members.add_roles(connection, guild_id, user_id, [role_id])
            after = before._replace(role_ids=before.role_ids ^ {role_id})
            return after, self.record_roles(connection, Actor(principal.user_id, reason), before, after)

        def then(result: tuple[Member, AuditLogEntry | None]) -> None:
            after, entry = result
            if entry is not None:
                self.announce_member(after)
                self._core.audit_log.publish(entry)

        await self._core.database.write(unit, then, guard=principal.guard)

    def record_roles(
        self, connection: sqlite3.Connection, actor: Actor, before: Member, after: Member
    ) -> AuditLogEntry:
        """In a unit of writing: the entry that tells which roles a member got and lost (`$add`, `$remove`)."""
        names = {role.id: role.name for role in _roles(connection, after.guild_id)}
        changes = [
            {
                "key": key,
                "new_value": [{"id": str(role_id), "name": names.get(role_id, "")} for role_id in sorted(role_ids)],
            }
            for key, role_ids in (
                ("$add", after.role_ids - before.role_ids),
                ("$remove", before.role_ids - after.role_ids),
            )
            if role_ids
        ]
        return self._core.audit_log.record(
            connection, after.guild_id, AuditAction.MEMBER_ROLE_UPDATE, actor, target_id=after.user_id, changes=changes
        )

    def announce_member(self, member: Member) -> None:
        """After the commit of a changed member: publish GUILD_MEMBER_UPDATE, then the channels that appeared or
        disappeared for it."""
        state = self._core.guild_states.get(member.guild_id)
        account = accounts.by_id(self._core.database.reader, member.user_id)
        if state is None or account is None:
            return
        state.put_member(member)
        data = {**state.member_object(member, partial_user(account)), "guild_id": str(member.guild_id)}
        self._core.bus.publish(
            Event(EventName.GUILD_MEMBER_UPDATE, data, ToGuild(member.guild_id)),
            GuildStateChanged(member.guild_id, user_id=member.user_id),
        )

    def require_assignable(self, access: GuildAccess, role_ids: Iterable[int]) -> None:
        """Raise unless the caller may give and take each of these roles.

        :raises ApiError: MISSING_PERMISSIONS for one that does not stand below the caller.
        :raises InvalidFormBody: INVALID_ROLE_ID at `roles`, for one that the guild does not have, and everyone's.
        """
        for role_id in role_ids:
            role = access.state.roles.get(role_id)
            if role is None or role_id == access.state.id:
                raise InvalidFormBody.at("roles", FieldCode.INVALID_ROLE_ID)
            _require_below(access, role)

    def announce(self, written: WrittenRoles) -> None:
        """After the commit: publish the role that was made, changed or deleted, and the roles that moved."""
        guild_id, role = written.guild_id, written.role
        state = self._core.guild_states.get(guild_id)
        if state is None:
            return
        if role is not None and written.event is EventName.GUILD_ROLE_DELETE:
            state.drop_role(role.id)
        elif role is not None:
            state.put_role(role)
        for moved in written.moved:
            state.put_role(moved)
        if role is not None and written.event is not None:
            self._core.bus.publish(_role_event(written.event, role))
        if written.moved:
            name = EventName.GUILD_ROLE_UPDATE_BULK
            self._core.bus.publish(
                _event(
                    name,
                    guild_id,
                    "roles",
                    lambda threads: [role_object(one, threads=threads) for one in written.moved],
                )
            )
        if written.event is not EventName.GUILD_ROLE_CREATE:  # by which no member sees or may do anything else
            self._core.bus.publish(GuildStateChanged(guild_id))
        self._core.audit_log.publish(*written.entries)

    def _record(
        self, connection: sqlite3.Connection, action: AuditAction, actor: Actor, before: Role | None, after: Role | None
    ) -> AuditLogEntry | None:
        role = after or before
        assert role is not None, "a change has a before or an after"  # noqa: S101
        options = {"role_name": role.name} if after is None else None
        return self._core.audit_log.record_change(
            connection, role.guild_id, action, actor, role.id, _logged(before), _logged(after), options=options
        )


def _event(name: EventName, guild_id: int, member: str, shown: Callable[[bool], Any]) -> Event:
    """An event whose `member` is `shown` with the thread bits only to sessions that know threads."""
    return Event(
        name,
        {"guild_id": str(guild_id), member: shown(False)},
        ToGuild(guild_id),
        thread_data={"guild_id": str(guild_id), member: shown(True)},
    )


def _role_event(name: EventName, role: Role) -> Event:
    if name is EventName.GUILD_ROLE_DELETE:
        return Event(name, {"guild_id": str(role.guild_id), "role_id": str(role.id)}, ToGuild(role.guild_id))
    return _event(name, role.guild_id, "role", lambda threads: role_object(role, threads=threads))


def _require_below(access: GuildAccess, role: Role) -> None:
    """Raise MISSING_PERMISSIONS for a role, other than everyone's, that does not stand below the caller."""
    if rank_of(role) >= access.state.rank(access.member) and role.id != access.state.id:
        raise ApiError(ErrorCode.MISSING_PERMISSIONS)


def _require_ordinary(access: GuildAccess, role_id: int) -> None:
    """Raise UNKNOWN_ROLE, or MISSING_PERMISSIONS for everyone's role and one that does not stand below the caller."""
    role = access.state.roles.get(role_id)
    if role is None:
        raise ApiError(ErrorCode.UNKNOWN_ROLE)
    if role_id == access.state.id:
        raise ApiError(ErrorCode.MISSING_PERMISSIONS)
    _require_below(access, role)


def _require_movable(access: GuildAccess, present: Mapping[int, Role], role_ids: Iterable[int]) -> None:
    """Raise INVALID_ROLE_ID for the first role that the guild does not have, or that is everyone's, and
    MISSING_PERMISSIONS for one that does not stand below the caller."""
    for role_id in role_ids:
        if role_id not in present or role_id == access.state.id:
            raise InvalidFormBody.at(str(role_id), FieldCode.INVALID_ROLE_ID)
        _require_below(access, present[role_id])


def _require_same_above(access: GuildAccess, before: Iterable[Role], after: Iterable[Role]) -> None:
    """Raise MISSING_PERMISSIONS where a role that stood below the caller's own highest role would stand above it."""
    if access.state.guild.owner_id == access.member.user_id:
        return

    def above_own(roles: Iterable[Role]) -> set[int]:
        highest = max((rank_of(role) for role in roles if role.id in access.member.role_ids), default=NO_ROLE)
        return {role.id for role in roles if rank_of(role) > highest}

    if above_own(before) != above_own(after):
        raise ApiError(ErrorCode.MISSING_PERMISSIONS)


def _roles(connection: sqlite3.Connection, guild_id: int) -> list[Role]:
    """The guild's roles. Raises UNKNOWN_GUILD if the guild is gone meanwhile."""
    require_guild(connection, guild_id)
    return roles.of_guild(connection, guild_id)


def _different(before: Iterable[Role], after: Iterable[Role]) -> list[Role]:
    """The roles of `after` that have changed; new ones are not among them."""
    known = {role.id: role for role in before}
    return [role for role in after if role.id in known and known[role.id] != role]


def _moved(present: Mapping[int, Role], positions: Mapping[int, int], everyone_id: int) -> list[Role]:
    """The roles in the order that the wanted positions give, numbered anew. A role that is moved goes before those that
    stay, where both want the same position, on the side that it comes from."""

    def place(role: Role) -> tuple[float, int]:
        wanted = positions.get(role.id)
        if wanted is None or wanted == role.position:
            return role.position, -role.id
        return wanted + (0.5 if wanted > role.position else -0.5), -role.id

    others = sorted((role for role in present.values() if role.id != everyone_id), key=place)
    numbered = [attrs.evolve(role, position=position) for position, role in enumerate(others, start=1)]
    return [present[everyone_id], *numbered]


def _logged(role: Role | None) -> Mapping[str, object]:
    """A role as the audit log compares it: masks as text."""
    if role is None:
        return {}
    names = ("name", "color", "position", "hoist_position", "hoist", "mentionable")
    return {**{name: getattr(role, name) for name in names}, "permissions": str(role.permissions)}
