"""Invites into guilds: creating, reading, accepting, deleting, listing (guilds.md, Invites).

Those into groups go to `chat.domain.guilds.group_invites`.
"""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Callable, Sequence
from typing import Final, Protocol

import attrs

from chat import wire
from chat.auth.principal import Principal
from chat.bus.audience import ToChannel
from chat.bus.bus import Event
from chat.classes import define, frozen
from chat.domain.core import Core
from chat.domain.guilds.claims import Claims, SettledClaim
from chat.domain.guilds.group_invites import GroupInvites
from chat.domain.guilds.invite_objects import invite_object, with_metadata
from chat.domain.guilds.memberships import Memberships, Preparation
from chat.domain.standing.audit_log import Actor
from chat.domain.standing.guild_states import GuildState
from chat.domain.standing.private_channels import PrivateChannelAccess
from chat.errors import ApiError, StorageUnavailable
from chat.registries.audit_actions import AuditAction
from chat.registries.channel_types import FLEXIBLE_NAME_CHANNEL_TYPES, ChannelType
from chat.registries.error_codes import ErrorCode
from chat.registries.events import EventName
from chat.registries.guild_features import GuildFeature
from chat.registries.guild_values import DisabledOperation, JoinSource
from chat.registries.permissions import Permission
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.guilds import channels, guilds, invites, members
from chat.store.guilds.guilds import Guild
from chat.store.guilds.invites import Invite, InviteType
from chat.store.imports import placeholders
from chat.store.standing import guild_audit_log
from chat.store.standing.guild_audit_log import AuditLogEntry

CODE_CHARACTERS: Final = 8
CODE_ALPHABET: Final = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789"
"""Letters and digits, without those that people confuse."""

INVITABLE_CHANNEL_TYPES: Final = FLEXIBLE_NAME_CHANNEL_TYPES | {ChannelType.GUILD_VOICE}
"""Channels that an invite can lead to."""

CLOSING_FEATURES: Final = frozenset({GuildFeature.INVITES_DISABLED, GuildFeature.RAID_DETECTED})
"""While a guild has one of these, its invites are closed (guilds.md, Guild features)."""


class Randomness(Protocol):
    """As much of `random.Random` as codes need."""

    def choice(self, seq: Sequence[str], /) -> str:
        """One element, each equally likely."""
        ...


@frozen
class _GuildInvite:
    """An invite that was asked for; `entry` is None if it existed before."""

    invite: Invite
    entry: AuditLogEntry | None = None


@frozen
class InviteTerms:
    """What an invite is to be like: `max_age` in seconds, 0 for ever; `max_uses` 0 without limit.

    Without `unique`, an invite that the caller made before on the same terms and that still holds is given again.
    """

    max_age: int = 0
    max_uses: int = 0
    unique: bool = False
    temporary: bool = False
    placeholder_id: int | None = None
    """The person of an import whom the one newcomer becomes who joins by the invite."""


@define(kw_only=True, eq=False)
class Invites:
    """The operations on invites. `online_count` says how many members of a guild are online, `is_connected` whether an
    account has a gateway session."""

    _core: Core
    _memberships: Memberships
    _randomness: Randomness
    _online_count: Callable[[int], int]
    _is_connected: Callable[[int], bool]
    _group_invites: GroupInvites
    _claims: Claims

    async def create(
        self, principal: Principal, channel_id: int, terms: InviteTerms, reason: str | None = None
    ) -> wire.InviteWithMetadata:
        """Make an invite that leads to a channel; answers with its metadata.

        :raises ApiError: as `Access.channel`, with CREATE_INSTANT_INVITE; INVALID_CHANNEL_TYPE,
            FEATURE_TEMPORARILY_DISABLED, MAX_INVITES. With a placeholder as `Access.guild` with MANAGE_GUILD, and
            UNKNOWN_USER for nobody who can be claimed.
        """
        group = self._group(principal, channel_id)
        if group is not None:
            if terms.placeholder_id is not None:
                raise ApiError(ErrorCode.UNKNOWN_USER)
            wanted = self._new_invite(0, channel_id, principal.user_id, terms)
            return await self._group_invites.create(
                group, wanted, unique=terms.unique, new_code=self._code, guard=principal.guard
            )
        access = self._core.access.guild_channel(principal, channel_id, Permission.CREATE_INSTANT_INVITE)
        if access.channel.type not in INVITABLE_CHANNEL_TYPES:
            raise ApiError(ErrorCode.INVALID_CHANNEL_TYPE)
        if access.state.guild.disabled_operations & DisabledOperation.INSTANT_INVITES:
            raise ApiError(ErrorCode.FEATURE_TEMPORARILY_DISABLED)
        if terms.placeholder_id is not None:
            self._core.access.guild(principal, access.state.id, Permission.MANAGE_GUILD)
            terms = attrs.evolve(terms, max_uses=1, unique=True)
        wanted = self._new_invite(access.state.id, channel_id, principal.user_id, terms)

        def unit(connection: sqlite3.Connection) -> _GuildInvite | None:
            guild = guilds.by_id(connection, access.state.id)
            if guild is None or channels.guild_of(connection, channel_id) is None:
                raise ApiError(ErrorCode.UNKNOWN_CHANNEL)
            if wanted.placeholder_id and placeholders.unclaimed(connection, guild.id, wanted.placeholder_id) is None:
                raise ApiError(ErrorCode.UNKNOWN_USER)
            if not terms.unique:
                similar = invites.similar(connection, wanted, wanted.created_at)
                if similar is not None:
                    return _GuildInvite(similar)
            invites.delete_dead(connection, guild.id, wanted.created_at)
            if (
                invites.count_of_guild(connection, guild.id, except_code=guild.vanity_url_code)
                >= self._core.settings.limits.max_guild_invites
            ):
                raise ApiError(ErrorCode.MAX_INVITES)
            if not invites.insert(connection, wanted):
                return None
            return _GuildInvite(wanted, self._record(connection, AuditAction.INVITE_CREATE, principal, wanted, reason))

        def then(made: _GuildInvite | None) -> None:
            if made is not None and made.entry is not None:
                data = self._metadata(access.state, wanted, principal.account)
                self._core.bus.publish(Event(EventName.INVITE_CREATE, data, _managers(wanted)))
                self._core.audit_log.publish(made.entry)

        made = await self._core.database.write(unit, then, guard=principal.guard)
        while made is None:  # the code was taken
            wanted = attrs.evolve(wanted, code=self._code())
            made = await self._core.database.write(unit, then, guard=principal.guard)
        return self._metadata(access.state, made.invite, principal.account)

    async def get(self, code: str) -> wire.Invite:
        """One invite, for all who know its code.

        :raises ApiError: UNKNOWN_INVITE, also for one whose time is over or whose uses are spent.
        :raises StorageUnavailable: also where nothing else was read before, as without a credential.
        """
        if self._core.database.failing:
            raise StorageUnavailable
        invite = self._known(code)
        if invite.type == InviteType.GROUP_DM:
            return self._group_invites.get(invite)
        return self._object(*self._open(invite))

    async def accept(self, principal: Principal, code: str, address: str | None = None) -> wire.Invite:
        """Join the guild or the group that an invite leads to, coming from `address`. A member already joins no second
        time and spends no use, unless the invite makes them a person of an import.

        :raises ApiError: UNKNOWN_INVITE, ACCESS_DENIED, MISSING_ACCESS, INVITES_DISABLED, USER_BANNED_FROM_GUILD,
            USER_IP_BANNED_FROM_GUILD, TEMPORARY_INVITE_REQUIRES_PRESENCE, MAX_GUILDS, MAX_GUILD_MEMBERS; into a group
            as `Groups.join`.
        """
        invite = self._known(code)
        if invite.type == InviteType.GROUP_DM:
            return await self._group_invites.accept(principal, invite)
        invite, state = self._open(invite)
        self._core.access.require_open(principal, state)
        if state.member(principal.user_id) is not None:
            if invite.placeholder_id is not None:
                await self._claim_as_member(principal, invite)
            return self._object(invite, state)
        _require_open_to_invites(state.guild)
        if invite.temporary and not self._is_connected(principal.user_id):
            raise ApiError(ErrorCode.TEMPORARY_INVITE_REQUIRES_PRESENCE)
        now = self._core.clock.now_ms()

        def spend(connection: sqlite3.Connection) -> Preparation | None:
            guild = guilds.by_id(connection, state.id)
            if guild is None or invites.by_code(connection, invite.code, now) is None:
                raise ApiError(ErrorCode.UNKNOWN_INVITE)
            _require_open_to_invites(guild)
            invites.add_use(connection, invite.code)
            settled = self._claimed_by(connection, principal, invite)
            if settled is None:
                return None
            return Preparation(frozenset(), functools.partial(self._claims.look_again, settled))

        await self._memberships.join(
            principal.account,
            state.id,
            JoinSource.VANITY_URL if invite.code == state.guild.vanity_url_code else JoinSource.INSTANT_INVITE,
            inviter_id=invite.inviter_id,
            address=address,
            temporary=invite.temporary,
            first=spend,
            guard=principal.guard,
        )
        return self._object(invite, state)

    async def _claim_as_member(self, principal: Principal, invite: Invite) -> None:
        """Make a member the person whom the invite names."""

        def unit(connection: sqlite3.Connection) -> SettledClaim | None:
            if invites.by_code(connection, invite.code, self._core.clock.now_ms()) is None:
                raise ApiError(ErrorCode.UNKNOWN_INVITE)
            if not members.exists(connection, invite.guild_id or 0, principal.user_id):
                raise ApiError(ErrorCode.MISSING_ACCESS)
            invites.add_use(connection, invite.code)
            return self._claimed_by(connection, principal, invite)

        def then(settled: SettledClaim | None) -> None:
            if settled is not None:
                self._claims.look_again(settled)

        await self._core.database.write(unit, then, guard=principal.guard)

    def _claimed_by(self, connection: sqlite3.Connection, principal: Principal, invite: Invite) -> SettledClaim | None:
        """In a unit: the caller is the person whom the invite names, if it names one. Raises UNKNOWN_INVITE where
        somebody else is that person by now."""
        if invite.placeholder_id is None:
            return None
        known = placeholders.unclaimed(connection, invite.guild_id or 0, invite.placeholder_id)
        if known is None:
            raise ApiError(ErrorCode.UNKNOWN_INVITE)
        inviter = Actor(invite.inviter_id or principal.user_id)
        return self._claims.claim_in(connection, known, principal.user_id, inviter)

    async def delete(self, principal: Principal, code: str, reason: str | None = None) -> None:
        """Delete an invite, which its maker and those who manage the guild or the channel may do. A custom invite code
        is given up by another operation (`chat.domain.guilds.vanity_urls`).

        :raises ApiError: UNKNOWN_INVITE; as `Access.guild`; MISSING_PERMISSIONS.
        """
        invite = self._known(code)
        if invite.type == InviteType.GROUP_DM:
            await self._group_invites.delete(principal, invite)
            return
        invite, _ = self._live(invite)
        access = self._core.access.guild(principal, invite.guild_id or 0)
        if invite.inviter_id != principal.user_id:
            if access.permissions & Permission.MANAGE_GUILD:
                self._core.access.guild(principal, access.state.id, Permission.MANAGE_GUILD)
            else:
                self._core.access.guild_channel(principal, invite.channel_id, Permission.MANAGE_CHANNELS)

        def unit(connection: sqlite3.Connection) -> AuditLogEntry:
            guild = guilds.by_id(connection, access.state.id)
            if guild is not None and guild.vanity_url_code == invite.code:
                raise ApiError(ErrorCode.MISSING_PERMISSIONS)
            if guild is None or not invites.delete(connection, invite.code):
                raise ApiError(ErrorCode.UNKNOWN_INVITE)
            return self._record(connection, AuditAction.INVITE_DELETE, principal, invite, reason)

        def then(entry: AuditLogEntry) -> None:
            data = {"code": invite.code, "channel_id": str(invite.channel_id), "guild_id": str(access.state.id)}
            self._core.bus.publish(Event(EventName.INVITE_DELETE, data, _managers(invite)))
            self._core.audit_log.publish(entry)

        await self._core.database.write(unit, then, guard=principal.guard)

    async def of_channel(self, principal: Principal, channel_id: int) -> list[wire.InviteWithMetadata]:
        """The invites that lead to a channel, newest first, without a custom invite code, and without those that make
        somebody a person of an import where the caller does not manage the guild.

        :raises ApiError: as `Access.channel`, with MANAGE_CHANNELS.
        """
        group = self._group(principal, channel_id)
        if group is not None:
            return self._group_invites.of_channel(group)
        access = self._core.access.guild_channel(principal, channel_id, Permission.MANAGE_CHANNELS)
        listed = await self._listed(access.state, invites.of_channel, channel_id)
        if _is_manager(access.state, principal.user_id):
            return listed
        return [shown for shown in listed if "placeholder" not in shown]

    async def of_guild(self, principal: Principal, guild_id: int) -> list[wire.InviteWithMetadata]:
        """The invites of a guild, newest first, without its custom invite code.

        :raises ApiError: as `Access.guild`, with MANAGE_GUILD.
        """
        access = self._core.access.guild(principal, guild_id, Permission.MANAGE_GUILD)
        return await self._listed(access.state, invites.of_guild, guild_id)

    def take_up(self, code: str, entry_id: int) -> None:
        """Tell of an invite that was made beside this server, and of its entry in the guild's audit log.

        A guild that is not in memory has no session connected to it.
        """
        reader = self._core.database.reader
        invite = invites.by_code(reader, code, self._core.clock.now_ms())
        state = None if invite is None else self._core.guild_states.loaded(invite.guild_id or 0)
        if invite is not None and state is not None and invite.channel_id in state.channels:
            data = self._metadata(state, invite, None)
            self._core.bus.publish(Event(EventName.INVITE_CREATE, data, _managers(invite)))
            self._publish_entry(entry_id)

    def take_up_deleted(self, code: str, guild_id: int, channel_id: int, entry_id: int) -> None:
        """As `take_up`, for an invite that was deleted."""
        if self._core.guild_states.loaded(guild_id) is not None:
            data = {"code": code, "channel_id": str(channel_id), "guild_id": str(guild_id)}
            audience = ToChannel(guild_id, channel_id, permission=Permission.MANAGE_CHANNELS.value)
            self._core.bus.publish(Event(EventName.INVITE_DELETE, data, audience))
            self._publish_entry(entry_id)

    def _publish_entry(self, entry_id: int) -> None:
        entry = guild_audit_log.by_id(self._core.database.reader, entry_id)
        if entry is not None:
            self._core.audit_log.publish(entry)

    async def _listed(
        self, state: GuildState, find: Callable[[sqlite3.Connection, int, int], list[Invite]], owner_id: int
    ) -> list[wire.InviteWithMetadata]:
        """The invites that `find` finds now for a guild or a channel, without the custom invite code."""
        now = self._core.clock.now_ms()

        def query(connection: sqlite3.Connection) -> list[tuple[Invite, Account | None]]:
            return [(invite, _inviter(connection, invite)) for invite in find(connection, owner_id, now)]

        return [
            self._metadata(state, invite, inviter)
            for invite, inviter in await self._core.database.read(query)
            if invite.channel_id in state.channels and invite.code != state.guild.vanity_url_code
        ]

    def _record(
        self,
        connection: sqlite3.Connection,
        action: AuditAction,
        principal: Principal,
        invite: Invite,
        reason: str | None,
    ) -> AuditLogEntry:
        """In a unit of writing: the entry of an invite that came or went.

        A code that makes somebody a person of an import stays out: not only those who manage the guild read the log.
        """
        value = "old_value" if action is AuditAction.INVITE_DELETE else "new_value"
        options: dict[str, object] = {
            "channel_id": str(invite.channel_id),
            "max_age": invite.max_age,
            "max_uses": invite.max_uses,
            "temporary": invite.temporary,
            "uses": invite.uses,
        }
        if invite.inviter_id is not None:
            options["inviter_id"] = str(invite.inviter_id)
        if invite.placeholder_id is not None:
            options["placeholder_id"] = str(invite.placeholder_id)
        return self._core.audit_log.record(
            connection,
            invite.guild_id or 0,
            action,
            Actor(principal.user_id, reason),
            options=options,
            changes=[{"key": "code", value: invite.code}] if invite.placeholder_id is None else [],
        )

    def _new_invite(self, guild_id: int, channel_id: int, inviter_id: int, terms: InviteTerms) -> Invite:
        now = self._core.clock.now_ms()
        return Invite(
            code=self._code(),
            type=InviteType.GUILD.value,
            guild_id=guild_id,
            channel_id=channel_id,
            inviter_id=inviter_id,
            created_at=now,
            expires_at=now + terms.max_age * 1000 if terms.max_age else None,
            max_age=terms.max_age,
            max_uses=terms.max_uses,
            temporary=terms.temporary,
            placeholder_id=terms.placeholder_id,
        )

    def _code(self) -> str:
        return "".join(self._randomness.choice(CODE_ALPHABET) for _ in range(CODE_CHARACTERS))

    def _group(self, principal: Principal, channel_id: int) -> PrivateChannelAccess | None:
        """The caller's access to a group with this id, if it is one."""
        if self._core.guild_states.guild_of_channel(channel_id) is not None:
            return None
        access = self._core.access.channel(principal, channel_id)
        return access if isinstance(access, PrivateChannelAccess) and access.is_group else None

    def _known(self, code: str) -> Invite:
        invite = invites.named(self._core.database.reader, code, self._core.clock.now_ms())
        if invite is None:
            raise ApiError(ErrorCode.UNKNOWN_INVITE)
        return invite

    def _live(self, invite: Invite) -> tuple[Invite, GuildState]:
        if invite.guild_id is None:
            raise ApiError(ErrorCode.UNKNOWN_INVITE)
        state = self._core.guild_states.get(invite.guild_id)
        if state is None or invite.channel_id not in state.channels:
            raise ApiError(ErrorCode.UNKNOWN_INVITE)
        return invite, state

    def _open(self, invite: Invite) -> tuple[Invite, GuildState]:
        """One that can be used: who said that somebody is a person of an import still manages the guild."""
        invite, state = self._live(invite)
        if invite.placeholder_id is not None and not _is_manager(state, invite.inviter_id):
            raise ApiError(ErrorCode.UNKNOWN_INVITE)
        return invite, state

    def _object(self, invite: Invite, state: GuildState) -> wire.Invite:
        inviter = _inviter(self._core.database.reader, invite)
        return self._shown(invite, state, inviter)

    def _shown(self, invite: Invite, state: GuildState, inviter: Account | None) -> wire.Invite:
        person = None
        if invite.placeholder_id is not None:
            person = accounts.by_id(self._core.database.reader, invite.placeholder_id)
        return invite_object(invite, state, inviter, placeholder=person, presence_count=self._online_count(state.id))

    def _metadata(self, state: GuildState, invite: Invite, inviter: Account | None) -> wire.InviteWithMetadata:
        return with_metadata(invite, self._shown(invite, state, inviter))


def _require_open_to_invites(guild: Guild) -> None:
    """Raise INVITES_DISABLED while the guild's invites are closed."""
    if CLOSING_FEATURES & guild.features or guild.disabled_operations & DisabledOperation.INSTANT_INVITES:
        raise ApiError(ErrorCode.INVITES_DISABLED)


def _is_manager(state: GuildState, user_id: int | None) -> bool:
    return user_id is not None and bool(state.permissions(user_id) & Permission.MANAGE_GUILD)


def _managers(invite: Invite) -> ToChannel:
    """Those who see the invite; whoever knows the code of one that names a placeholder becomes that person."""
    permission = Permission.MANAGE_CHANNELS if invite.placeholder_id is None else Permission.MANAGE_GUILD
    return ToChannel(invite.guild_id or 0, invite.channel_id, permission=permission.value)


def _inviter(connection: sqlite3.Connection, invite: Invite) -> Account | None:
    return None if invite.inviter_id is None else accounts.by_id(connection, invite.inviter_id)
