"""Roles of a guild: making, changing, ordering and deleting them, and giving them to members (permissions.md, Role
hierarchy; guilds.md, Roles).

Everybody works below the own highest role, and grants nothing that they lack. Positions are dense after each change: a
new role goes to the bottom, at 1, and what stood there moves up.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import attrs

from chat.auth.principal import Principal
from chat.bus.audience import ToGuild
from chat.bus.bus import Event, GuildStateChanged
from chat.domain.core import Core
from chat.domain.standing.access import GuildAccess, sees_threads
from chat.domain.standing.audit_log import Actor, changes_between
from chat.domain.standing.guild_states import GuildState, Member, Role
from chat.domain.standing.role_hierarchy import Rank, rank_of, rank_of_member, renumbered
from chat.domain.standing.role_objects import role_object
from chat.domain.standing.role_permissions import require_may_grant, written_mask
from chat.domain.standing.user_objects import partial_user
from chat.errors import ApiError, InvalidFormBody
from chat.registries.audit_actions import AuditAction
from chat.registries.events import EventName
from chat.registries.permissions import Permission
from chat.store.accounts import accounts
from chat.store.guilds import guilds, members, roles
from chat.store.standing.guild_audit_log import AuditLogEntry

MANAGE_ROLES: Final = Permission.MANAGE_ROLES.value


@attrs.frozen
class NewRole:
    """A role as somebody asks for it."""

    name: str
    color: int = 0
    permissions: int = 0
    hoist: bool = False
    mentionable: bool = False


@attrs.frozen
class WrittenRoles:
    """What was written: the role that it is about, others that moved, and the log's entries."""

    role: Role | None
    moved: Sequence[Role]
    entries: Sequence[AuditLogEntry | None]


@attrs.define(kw_only=True, eq=False)
class Roles:
    """The operations on roles."""

    _core: Core

    async def create(
        self, principal: Principal, guild_id: int, new: NewRole, reason: str | None = None
    ) -> dict[str, Any]:
        """Make a role, at the bottom.

        :raises ApiError: as `Access.guild` with MANAGE_ROLES; MISSING_PERMISSIONS for a bit that the caller lacks,
            CONTENT_BLOCKED, MAX_GUILD_ROLES.
        """
        access = self._core.access.guild(principal, guild_id, MANAGE_ROLES)
        mask = written_mask(principal, new.permissions, 0)
        require_may_grant(access.permissions, 0, mask)
        self._core.policy.require_unblocked(new.name)
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

        def unit(connection: sqlite3.Connection) -> WrittenRoles:
            return self.write_new(connection, role, Actor(principal.user_id, reason))

        written = await self._core.database.write(unit, lambda written: self.announce_new(guild_id, written))
        assert written.role is not None, "it was made"  # noqa: S101
        return role_object(written.role, threads=sees_threads(principal))

    def write_new(self, connection: sqlite3.Connection, role: Role, actor: Actor) -> WrittenRoles:
        """In a unit of writing: add a role where it wants to stand; hand the result to `announce_new` after the
        commit.

        :raises ApiError: MAX_GUILD_ROLES.
        """
        present = _roles(connection, role.guild_id)
        if len(present) > self._core.settings.limits.max_guild_roles:  # everyone's role does not count
            raise ApiError("MAX_GUILD_ROLES")
        ordered = renumbered([*present, role], role.guild_id)
        made = next(entry for entry in ordered if entry.id == role.id)
        moved = _different(present, ordered)
        roles.insert(connection, [made])
        roles.replace(connection, moved)
        entry = self._record(connection, AuditAction.ROLE_CREATE, actor, None, made)
        return WrittenRoles(made, moved, [entry])

    async def change(
        self,
        principal: Principal,
        guild_id: int,
        role_id: int,
        changes: Mapping[str, Any],
        reason: str | None = None,
    ) -> dict[str, Any]:
        """Change columns of a role: name, color, permissions, hoist, hoist_position, mentionable. Of everyone's role
        only the permissions can be changed.

        :raises ApiError: as `create`; UNKNOWN_ROLE.
        :raises InvalidFormBody: INVALID_FORMAT at the first member that everyone's role does not take.
        """
        access = self._core.access.guild(principal, guild_id, MANAGE_ROLES)
        known = access.state.roles.get(role_id)
        if known is None:
            raise ApiError("UNKNOWN_ROLE")
        self._require_below(access, known)
        if role_id == guild_id:
            refused = [name for name in changes if name != "permissions"]
            if refused:
                raise InvalidFormBody.at(refused[0], "INVALID_FORMAT")
        if "name" in changes:
            self._core.policy.require_unblocked(changes["name"])

        def unit(connection: sqlite3.Connection) -> WrittenRoles:
            before = roles.by_id(connection, guild_id, role_id)
            if before is None:
                raise ApiError("UNKNOWN_ROLE")
            columns = dict(changes)
            if "permissions" in columns:
                columns["permissions"] = written_mask(principal, columns["permissions"], before.permissions)
                require_may_grant(access.permissions, before.permissions, columns["permissions"])
            after = attrs.evolve(before, **columns)
            roles.replace(connection, [after])
            entry = self._record(connection, AuditAction.ROLE_UPDATE, Actor(principal.user_id, reason), before, after)
            return WrittenRoles(after, (), [entry])

        def then(written: WrittenRoles) -> None:
            state = self._core.guild_states.get(guild_id)
            if state is None or written.role is None:
                return
            state.put_role(written.role)
            self._publish_role(EventName.GUILD_ROLE_UPDATE, written.role)
            self._core.bus.publish(GuildStateChanged(guild_id))
            self._core.audit_log.publish(*written.entries)

        written = await self._core.database.write(unit, then)
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
        access = self._core.access.guild(principal, guild_id, MANAGE_ROLES)

        def unit(connection: sqlite3.Connection) -> WrittenRoles:
            present = {role.id: role for role in _roles(connection, guild_id)}
            for role_id in positions:
                if role_id not in present or role_id == guild_id:
                    raise InvalidFormBody.at(str(role_id), "INVALID_ROLE_ID")
                self._require_below(access, present[role_id])
            ordered = _moved(present, positions, guild_id)
            self._require_same_above(access, present.values(), ordered)
            moved = _different(present.values(), ordered)
            roles.replace(connection, moved)
            actor = Actor(principal.user_id, reason)
            entries = [
                self._record(connection, AuditAction.ROLE_UPDATE, actor, present[role.id], role)
                for role in moved
                if role.id in positions
            ]
            return WrittenRoles(None, moved, entries)

        await self._core.database.write(unit, lambda written: self._announce_moved(guild_id, written))

    async def place_hoisted(
        self, principal: Principal, guild_id: int, places: Mapping[int, int | None], reason: str | None = None
    ) -> None:
        """Say where in the member list roles are shown, apart from their positions; None follows the position. An
        empty mapping takes all such places back.

        :raises ApiError: as `reorder`.
        :raises InvalidFormBody: INVALID_ROLE_ID as in `reorder`.
        """
        access = self._core.access.guild(principal, guild_id, MANAGE_ROLES)

        def unit(connection: sqlite3.Connection) -> WrittenRoles:
            present = {role.id: role for role in _roles(connection, guild_id)}
            wanted = places or {role.id: None for role in present.values() if role.hoist_position is not None}
            for role_id in wanted:
                if role_id not in present or role_id == guild_id:
                    raise InvalidFormBody.at(str(role_id), "INVALID_ROLE_ID")
                self._require_below(access, present[role_id])
            after = [attrs.evolve(present[role_id], hoist_position=place) for role_id, place in wanted.items()]
            moved = _different(present.values(), after)
            roles.replace(connection, moved)
            actor = Actor(principal.user_id, reason)
            entries = [
                self._record(connection, AuditAction.ROLE_UPDATE, actor, present[role.id], role) for role in moved
            ]
            return WrittenRoles(None, moved, entries)

        await self._core.database.write(unit, lambda written: self._announce_moved(guild_id, written))

    async def delete(self, principal: Principal, guild_id: int, role_id: int, reason: str | None = None) -> None:
        """Delete a role; its members and the overwrites for it lose it.

        :raises ApiError: as `change`; MISSING_PERMISSIONS for everyone's role, which cannot be deleted.
        """
        access = self._core.access.guild(principal, guild_id, MANAGE_ROLES)
        known = access.state.roles.get(role_id)
        if known is None:
            raise ApiError("UNKNOWN_ROLE")
        if role_id == guild_id:
            raise ApiError("MISSING_PERMISSIONS")
        self._require_below(access, known)

        def unit(connection: sqlite3.Connection) -> WrittenRoles:
            present = _roles(connection, guild_id)
            gone = next((role for role in present if role.id == role_id), None)
            if gone is None:
                raise ApiError("UNKNOWN_ROLE")
            roles.delete(connection, guild_id, role_id)
            moved = _different(present, renumbered([role for role in present if role.id != role_id], guild_id))
            roles.replace(connection, moved)
            entry = self._record(connection, AuditAction.ROLE_DELETE, Actor(principal.user_id, reason), gone, None)
            return WrittenRoles(gone, moved, [entry])

        def then(written: WrittenRoles) -> None:
            state = self._core.guild_states.get(guild_id)
            if state is None:
                return
            state.drop_role(role_id)
            for role in written.moved:
                state.put_role(role)
            data = {"guild_id": str(guild_id), "role_id": str(role_id)}
            self._core.bus.publish(Event(EventName.GUILD_ROLE_DELETE, data, ToGuild(guild_id)))
            self._publish_moved(guild_id, written.moved)
            self._core.bus.publish(GuildStateChanged(guild_id))
            self._core.audit_log.publish(*written.entries)

        await self._core.database.write(unit, then)

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
        access = self._core.access.guild(principal, guild_id, MANAGE_ROLES)
        state = access.state
        if state.member(user_id) is None:
            raise ApiError("UNKNOWN_MEMBER")
        role = state.roles.get(role_id)
        if role is None:
            raise ApiError("UNKNOWN_ROLE")
        if role_id == guild_id:
            raise ApiError("MISSING_PERMISSIONS")
        self._require_below(access, role)

        def unit(connection: sqlite3.Connection) -> tuple[Member, AuditLogEntry | None]:
            before = members.by_id(connection, guild_id, user_id)
            if before is None:
                raise ApiError("UNKNOWN_MEMBER")
            if roles.by_id(connection, guild_id, role_id) is None:
                raise ApiError("UNKNOWN_ROLE")
            if (role_id in before.role_ids) is not take:
                return before, None
            if take:
                members.remove_roles(connection, guild_id, user_id, [role_id])
            else:
                members.add_roles(connection, guild_id, user_id, [role_id])
            after = attrs.evolve(before, role_ids=before.role_ids ^ {role_id})
            return after, self.record_roles(connection, Actor(principal.user_id, reason), before, after)

        def then(result: tuple[Member, AuditLogEntry | None]) -> None:
            after, entry = result
            if entry is not None:
                self.announce_member(after)
                self._core.audit_log.publish(entry)

        await self._core.database.write(unit, then)

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
            connection,
            after.guild_id,
            AuditAction.MEMBER_ROLE_UPDATE,
            actor,
            target_id=after.user_id,
            changes=changes,
        )

    def announce_member(self, member: Member) -> None:
        """After the commit: a member is different. GUILD_MEMBER_UPDATE, then the channels that it sees now or no
        longer."""
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
                raise InvalidFormBody.at("roles", "INVALID_ROLE_ID")
            self._require_below(access, role)

    # Inside

    def _require_below(self, access: GuildAccess, role: Role) -> None:
        if rank_of(role) >= _rank(access) and role.id != access.state.id:
            raise ApiError("MISSING_PERMISSIONS")

    def _require_same_above(self, access: GuildAccess, before: Iterable[Role], after: Iterable[Role]) -> None:
        """Nothing comes to stand above the caller's own highest role that stood below it."""
        if access.state.guild.owner_id == access.member.user_id:
            return
        own = access.member.role_ids
        highest_before = max((rank_of(role) for role in before if role.id in own), default=(-1, 0))
        highest_after = max((rank_of(role) for role in after if role.id in own), default=(-1, 0))
        above_before = {role.id for role in before if rank_of(role) > highest_before}
        above_after = {role.id for role in after if rank_of(role) > highest_after}
        if above_before != above_after:
            raise ApiError("MISSING_PERMISSIONS")

    def _record(
        self,
        connection: sqlite3.Connection,
        action: AuditAction,
        actor: Actor,
        before: Role | None,
        after: Role | None,
    ) -> AuditLogEntry | None:
        role = after or before
        assert role is not None, "a change has a before or an after"  # noqa: S101
        changes = changes_between(_logged(before), _logged(after))
        if action is AuditAction.ROLE_UPDATE and not changes:
            return None
        return self._core.audit_log.record(
            connection,
            role.guild_id,
            action,
            actor,
            target_id=role.id,
            options={"role_name": role.name} if action is AuditAction.ROLE_DELETE else None,
            changes=changes,
        )

    def announce_new(self, guild_id: int, written: WrittenRoles) -> None:
        """After the commit: tell of a role that is new, and of those that moved for it."""
        state = self._core.guild_states.get(guild_id)
        if state is None or written.role is None:
            return
        self._put_all(state, [written.role, *written.moved])
        self._publish_role(EventName.GUILD_ROLE_CREATE, written.role)
        self._publish_moved(guild_id, written.moved)
        self._core.audit_log.publish(*written.entries)

    def _announce_moved(self, guild_id: int, written: WrittenRoles) -> None:
        state = self._core.guild_states.get(guild_id)
        if state is None:
            return
        self._put_all(state, written.moved)
        self._publish_moved(guild_id, written.moved)
        self._core.bus.publish(GuildStateChanged(guild_id))  # member lists are grouped by what is hoisted, in its order
        self._core.audit_log.publish(*written.entries)

    def _put_all(self, state: GuildState, changed: Iterable[Role]) -> None:
        for role in changed:
            state.put_role(role)

    def _publish_role(self, name: EventName, role: Role) -> None:
        guild_id = str(role.guild_id)
        self._core.bus.publish(
            Event(
                name,
                {"guild_id": guild_id, "role": role_object(role, threads=False)},
                ToGuild(role.guild_id),
                thread_data={"guild_id": guild_id, "role": role_object(role, threads=True)},
            )
        )

    def _publish_moved(self, guild_id: int, moved: Sequence[Role]) -> None:
        if moved:
            self._core.bus.publish(
                Event(
                    EventName.GUILD_ROLE_UPDATE_BULK,
                    {"guild_id": str(guild_id), "roles": [role_object(role, threads=False) for role in moved]},
                    ToGuild(guild_id),
                    thread_data={
                        "guild_id": str(guild_id),
                        "roles": [role_object(role, threads=True) for role in moved],
                    },
                )
            )


def _rank(access: GuildAccess) -> Rank:
    is_owner = access.state.guild.owner_id == access.member.user_id
    return rank_of_member(access.state.roles, access.member.role_ids, is_owner=is_owner)


def _roles(connection: sqlite3.Connection, guild_id: int) -> list[Role]:
    """The guild's roles. Raises UNKNOWN_GUILD where the guild is gone meanwhile."""
    if guilds.by_id(connection, guild_id) is None:
        raise ApiError("UNKNOWN_GUILD")
    return roles.of_guild(connection, guild_id)


def _different(before: Iterable[Role], after: Iterable[Role]) -> list[Role]:
    """Those of `after` that were otherwise before; new ones are not among them."""
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


def _logged(role: Role | None) -> dict[str, Any]:
    """A role as the audit log compares it: masks as text."""
    if role is None:
        return {}
    return {
        "name": role.name,
        "color": role.color,
        "position": role.position,
        "hoist_position": role.hoist_position,
        "permissions": str(role.permissions),
        "hoist": role.hoist,
        "mentionable": role.mentionable,
    }
