"""Access: the only way to hold a guild or a channel in an operation. Holding one means that the checks passed.

They come in one order (guilds.md, Order of guild checks): existence, whether this node knows the guild,
availability, membership, permission. Each method raises the refusal of the first that fails.

What is granted here is judged once more where it is written after a slow step (`chat.store.guard`; architecture.md,
Access), on what the store holds then (`chat.domain.standing.thread_access.stored_access`): the guild, the channel,
and every permission that the operation used.
"""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import attrs

from chat import wire
from chat.auth.principal import Principal
from chat.bus.audience import Audience, ToChannel
from chat.classes import define, frozen
from chat.domain.standing.guild_states import Channel, Guild, GuildState, GuildStates, Member
from chat.errors import ApiError
from chat.registries.channel_types import PRIVATE_CHANNEL_TYPES, THREAD_CHANNEL_TYPES, ChannelType
from chat.registries.error_codes import ErrorCode
from chat.registries.guild_values import MfaLevel
from chat.registries.permissions import ELEVATED, Permission
from chat.registries.user_flags import UserFlag
from chat.snowflake import snowflake_at
from chat.store.accounts.accounts import Account
from chat.store.guilds import guilds

STAFF: Final = UserFlag.STAFF.value
NO_NAMES: Final[Mapping[str, Any]] = {}
VIEW_CHANNEL: Final = Permission.VIEW_CHANNEL.value
READ_MESSAGE_HISTORY: Final = Permission.READ_MESSAGE_HISTORY.value
MESSAGE_CHANNEL_TYPES: Final = frozenset(
    {
        ChannelType.GUILD_TEXT,
        ChannelType.GUILD_VOICE,
        ChannelType.GUILD_ANNOUNCEMENT,
        *PRIVATE_CHANNEL_TYPES,
        *THREAD_CHANNEL_TYPES,
    }
)
"""Channels that hold messages of their own."""


@define(eq=False)
class GrantedAccess:
    """What an operation was granted in a guild, or else in a channel."""

    principal: Principal
    guild_id: int | None
    channel_id: int | None
    permission: int = 0
    """The bits that it uses; more are noted as it uses them."""
    needs_voice: bool = False


@frozen
class GuildAccess:
    """A guild, the caller's membership in it and what the caller may do there."""

    state: GuildState
    member: Member
    permissions: int


@frozen
class ChannelAccess:
    """A channel that the caller sees, and what the caller may do in it: in a guild or outside of guilds."""

    user_id: int
    """The caller."""
    channel: Channel
    permissions: int

    def may(self, permission: int) -> bool:
        """Whether the caller holds the bit in the channel."""
        held = self.permissions & permission
        if held:
            self.note_use(held)
        return bool(held)

    def require(self, permission: int) -> None:
        """Raise MISSING_PERMISSIONS unless the caller holds every one of these bits in the channel, and
        TWO_FACTOR_REQUIRED where one of them is elevated and cannot be used (guilds.md, MFA levels)."""
        if self.permissions & permission != permission:
            raise ApiError(ErrorCode.MISSING_PERMISSIONS)
        if permission & ELEVATED and not self.may_moderate:
            raise ApiError(ErrorCode.TWO_FACTOR_REQUIRED)
        self.note_use(permission)

    def lacking(self, permission: int, otherwise: ErrorCode = ErrorCode.MISSING_PERMISSIONS) -> ApiError:
        """What refuses the caller, whom the permission would let through: TWO_FACTOR_REQUIRED where it is held and
        cannot be used, else the refusal of those who do not hold it."""
        is_held = self.permissions & permission == permission
        is_usable = not permission & ELEVATED or self.may_moderate
        return ApiError(ErrorCode.TWO_FACTOR_REQUIRED if is_held and not is_usable else otherwise)

    def note_use(self, permission: int) -> None:
        """The operation rests on these bits, which the caller holds."""

    @property
    def may_moderate(self) -> bool:
        """Whether the caller can use the elevated permissions that it holds."""
        return True

    @property
    def guild_id(self) -> int | None:
        return self.channel.guild_id

    def require_voice(self, now_ms: int) -> None:
        """Raise COMMUNICATION_DISABLED for a member who is timed out."""

    def require_open(self, now_ms: int) -> None:
        """Raise THREAD_ARCHIVED or THREAD_LOCKED for a thread that takes no changes to its messages now."""

    def disables(self, operation: int) -> bool:
        """Whether an administrator has switched this behaviour off where the channel is."""
        return False

    def sees(self, user_id: int) -> bool:
        """Whether another account sees the channel too."""
        raise NotImplementedError

    def audience(self, message_id: int | None = None) -> Audience:
        """Who hears what happens in the channel; with `message_id` those who may read that message."""
        raise NotImplementedError

    def history_floor(self) -> int | None:
        """The least id of a message that the caller may read in the channel; None when it may read none (guilds.md,
        Modify guild)."""
        return 0

    def reads(self, message_id: int) -> bool:
        """Whether the caller may read a message of the channel that has this id."""
        floor = self.history_floor()
        return floor is not None and message_id >= floor

    def role_that_may_be_mentioned(self, role_id: int, *, any_role: bool) -> bool:
        """Whether a role exists here that a message can name; `any_role` where the author may name all roles."""
        return False

    def place_of(self, author_id: int | None) -> wire.MessagePlace:
        """What an event about a message tells of where it was written: guild, and the author's membership."""
        return {}

    def names(self) -> Mapping[str, Any]:
        """What a new message tells beside that: the names of accounts in a group."""
        return NO_NAMES

    def afresh(self) -> ChannelAccess:
        """The same access on what the store holds now, where that can have changed."""
        return self

    def channel_object(self) -> wire.Channel:
        """The channel object as the caller sees it."""
        raise NotImplementedError

    def note_message(self, message_id: int) -> None:
        """A message was written; called after the commit."""

    def note_pins(self, last_pin: int | None) -> None:
        """The newest pin of the channel is of this moment (Unix milliseconds) now; called after the commit."""


@frozen
class GuildChannelAccess(ChannelAccess):
    state: GuildState
    member: Member
    has_factor: Callable[[], bool] = attrs.field(default=lambda: True, repr=False, eq=False, kw_only=True)
    """Whether the caller has a second factor; asked only where that matters."""
    granted: GrantedAccess | None = attrs.field(default=None, repr=False, eq=False, kw_only=True)
    """Notes the bits that the operation uses, and whether it needs a voice."""

    def note_use(self, permission: int) -> None:
        if self.granted is not None:
            self.granted.permission |= permission

    @property
    def may_moderate(self) -> bool:
        """Always, unless the guild's MFA level is ELEVATED: then only the owner and accounts with a second factor."""
        return _may_moderate(self.state.guild, self.user_id, self.has_factor)

    def require_voice(self, now_ms: int) -> None:
        if self.member.is_timed_out(now_ms):
            raise ApiError(ErrorCode.COMMUNICATION_DISABLED)
        if self.granted is not None:
            self.granted.needs_voice = True

    def disables(self, operation: int) -> bool:
        return bool(self.state.guild.disabled_operations & operation)

    def sees(self, user_id: int) -> bool:
        return self.state.can_view(user_id, self.channel.id)

    def audience(self, message_id: int | None = None) -> Audience:
        return ToChannel(self.state.id, self.channel.id, message_id=message_id)

    def history_floor(self) -> int | None:
        """By READ_MESSAGE_HISTORY, and without it by the guild's cutoff."""
        if self.permissions & READ_MESSAGE_HISTORY:
            return 0
        cutoff = self.state.guild.message_history_cutoff
        return None if cutoff is None else snowflake_at(cutoff)

    def role_that_may_be_mentioned(self, role_id: int, *, any_role: bool) -> bool:
        """Any role but everyone's, if it is mentionable or the author may name all."""
        role = self.state.roles.get(role_id)
        return role is not None and role_id != self.state.id and (any_role or role.mentionable)

    def place_of(self, author_id: int | None) -> wire.MessagePlace:
        """`guild_id`, and `member` where the author is one."""
        data: wire.MessagePlace = {"guild_id": str(self.state.id)}
        member = None if author_id is None else self.state.member(author_id)
        if member is not None:
            data["member"] = self.state.membership_object(member)
        return data

    def channel_object(self) -> wire.GuildChannel | wire.Thread:
        return self.state.channel_object(self.channel.id)

    def note_message(self, message_id: int) -> None:
        self.state.note_message(self.channel.id, message_id)

    def note_pins(self, last_pin: int | None) -> None:
        """The channel's last pin changes; of a thread the store alone keeps it."""
        channel = self.state.channels.get(self.channel.id)
        if channel is not None:
            self.state.put_channel(attrs.evolve(channel, last_pin_timestamp=last_pin))


@define(eq=False)
class Access:
    """Gives access to guilds and channels, or refuses it.

    `private_channel` finds the conversation of an account with a channel's id
    (`chat.domain.standing.private_channels`), `thread` a thread that a member sees
    (`chat.domain.standing.thread_access`). `has_factor` tells whether an account, or the owner of a bot, has enrolled a
    second factor (guilds.md, MFA levels). `is_connected` tells whether an account is in a voice channel, and therefore
    sees it (gateway.md, Voice State Update). `stored` gives access to what a connection reads.
    """

    _guild_states: GuildStates
    _private_channel: Callable[[int, int], ChannelAccess | None] = lambda user_id, channel_id: None
    _thread: Callable[[GuildState, Member, int], GuildChannelAccess | None] = lambda state, member, channel_id: None
    _has_factor: Callable[[Account], bool] = lambda account: True
    _is_connected: Callable[[int, int], bool] = lambda user_id, channel_id: False
    _stored: Callable[[sqlite3.Connection], Access] | None = None

    def guild(self, principal: Principal, guild_id: int, permission: int = 0) -> GuildAccess:
        """A guild that the caller is in, with every bit of `permission`.

        :raises ApiError: UNKNOWN_GUILD, ACCESS_DENIED (stored, but not known to this node), MISSING_ACCESS
            (unavailable), MISSING_PERMISSIONS (not a member, or lacking a bit), TWO_FACTOR_REQUIRED (an elevated bit is
            held and cannot be used); guilds.md, Order of guild checks.
        """
        state = self._guild_states.get(guild_id)
        if state is None:
            raise ApiError(ErrorCode.UNKNOWN_GUILD)
        member = self._membership(principal, state)
        permissions = state.member_permissions(member)
        if permissions & permission != permission:
            raise ApiError(ErrorCode.MISSING_PERMISSIONS)
        has_factor = functools.partial(self._has_factor, principal.account)
        if permission & ELEVATED and not _may_moderate(state.guild, principal.user_id, has_factor):
            raise ApiError(ErrorCode.TWO_FACTOR_REQUIRED)
        if self._stored is not None:
            principal.guard.claim(self._judge, GrantedAccess(principal, guild_id, None, permission))
        return GuildAccess(state, member, permissions)

    def channel(self, principal: Principal, channel_id: int, permission: int = 0) -> ChannelAccess:
        """A channel that the caller sees, with every bit of `permission`: of a guild, or a conversation of the caller.

        :raises ApiError: UNKNOWN_CHANNEL; otherwise as `guild`, with MISSING_PERMISSIONS for a channel not seen.
        """
        state = self._guild_states.of_channel(channel_id)
        if state is None:
            access = self._private_channel(principal.user_id, channel_id)
            if access is None:
                raise ApiError(ErrorCode.UNKNOWN_CHANNEL)
            access.require(permission)
            if self._stored is not None:
                principal.guard.claim(self._judge, GrantedAccess(principal, None, channel_id))
            return access
        return self._guild_channel(principal, state, channel_id, permission)

    def guild_channel(self, principal: Principal, channel_id: int, permission: int = 0) -> GuildChannelAccess:
        """As `channel`, for what only channels of guilds have.

        :raises ApiError: as `channel`; CANNOT_EXECUTE_ON_DM for a conversation of the caller, INVALID_CHANNEL_TYPE for
            a thread.
        """
        state = self._guild_states.of_channel(channel_id)
        if state is None:
            private = self._private_channel(principal.user_id, channel_id)
            raise ApiError(ErrorCode.UNKNOWN_CHANNEL if private is None else ErrorCode.CANNOT_EXECUTE_ON_DM)
        access = self._guild_channel(principal, state, channel_id, permission)
        if access.channel.type in THREAD_CHANNEL_TYPES:
            raise ApiError(ErrorCode.INVALID_CHANNEL_TYPE)
        return access

    def renewed(self, access: ChannelAccess) -> ChannelAccess | None:
        """After a commit: the same access on what memory holds now; None when the guild is gone."""
        if not isinstance(access, GuildChannelAccess):
            return access.afresh()
        state = self._guild_states.get(access.state.id)
        if state is None:
            return None
        if access.channel.type == ChannelType.PRIVATE_THREAD:
            # Who is in it may have changed meanwhile, and decides who hears what happens there.
            thread = self._thread(state, access.member, access.channel.id)
            if thread is not None:
                return attrs.evolve(thread, has_factor=access.has_factor)
        return access if state is access.state else attrs.evolve(access, state=state)

    def _guild_channel(
        self, principal: Principal, state: GuildState, channel_id: int, permission: int
    ) -> GuildChannelAccess:
        channel, member = state.channels.get(channel_id), self._membership(principal, state)
        granted = None if self._stored is None else GrantedAccess(principal, None, channel_id)
        has_factor = functools.partial(self._has_factor, principal.account)
        if channel is None:
            thread = self._thread(state, member, channel_id)
            if thread is None:
                raise ApiError(ErrorCode.UNKNOWN_CHANNEL)
            access = attrs.evolve(thread, has_factor=has_factor, granted=granted)
        else:
            permissions = state.member_permissions(member, channel_id)
            if not (permissions & VIEW_CHANNEL or state.can_view(principal.account.id, channel_id)):
                if not self._is_connected(principal.user_id, channel_id):
                    raise ApiError(ErrorCode.MISSING_PERMISSIONS)
                permissions |= VIEW_CHANNEL
            access = GuildChannelAccess(
                principal.account.id, channel, permissions, state, member, has_factor=has_factor, granted=granted
            )
        access.require(permission)
        if granted is not None:
            principal.guard.claim(self._judge, granted)
        return access

    def _judge(self, connection: sqlite3.Connection, claimed: Iterable[GrantedAccess]) -> None:
        """In a unit of writing: judge once more what was granted, each guild and channel once.

        :raises ApiError: as `guild` and `channel`; COMMUNICATION_DISABLED.
        """
        assert self._stored is not None, "else nothing is claimed"  # noqa: S101
        access = self._stored(connection)
        merged: dict[tuple[int | None, int | None], tuple[Principal, int, bool]] = {}
        for granted in claimed:
            place = granted.guild_id, granted.channel_id
            principal, bits, spoke = merged.get(place, (granted.principal, 0, False))
            merged[place] = principal, bits | granted.permission, spoke or granted.needs_voice
        for (guild_id, channel_id), (principal, permission, needs_voice) in merged.items():
            if guild_id is not None:
                access.guild(principal, guild_id, permission)
            elif channel_id is not None:
                channel = access.channel(principal, channel_id, permission)
                if needs_voice:
                    channel.require_voice(self._guild_states.now_ms())

    def require_open(self, principal: Principal | None, state: GuildState | None) -> None:
        """Raise ACCESS_DENIED for a guild that this node does not know, MISSING_ACCESS for one that is unavailable to
        this account now, or to a webhook; nothing for one that is gone."""
        if state is None:
            return
        if state.id in self._guild_states.missing_guild_ids:
            raise ApiError(ErrorCode.ACCESS_DENIED)
        if state.unavailable_for(principal is not None and bool(principal.account.flags & STAFF)):
            raise ApiError(ErrorCode.MISSING_ACCESS)

    def _membership(self, principal: Principal, state: GuildState) -> Member:
        self.require_open(principal, state)
        member = state.member(principal.account.id)
        if member is None:
            raise ApiError(ErrorCode.MISSING_PERMISSIONS)
        return member


def _may_moderate(guild: Guild, user_id: int, has_factor: Callable[[], bool]) -> bool:
    return guild.mfa_level != MfaLevel.ELEVATED or user_id == guild.owner_id or has_factor()


def require_message_channel(channel: Channel) -> None:
    """Raise CANNOT_SEND_MESSAGES_IN_NON_TEXT_CHANNEL for a channel that holds no messages of its own."""
    if channel.type not in MESSAGE_CHANNEL_TYPES:
        raise ApiError(ErrorCode.CANNOT_SEND_MESSAGES_IN_NON_TEXT_CHANNEL)


def require_guild(connection: sqlite3.Connection, guild_id: int) -> Guild:
    """In a unit: the guild as it is stored. Raises UNKNOWN_GUILD, if it is gone meanwhile."""
    guild = guilds.by_id(connection, guild_id)
    if guild is None:
        raise ApiError(ErrorCode.UNKNOWN_GUILD)
    return guild


def require_seen(state: GuildState, user_id: int, *channel_ids: int | None) -> None:
    """Raise MISSING_PERMISSIONS for a channel of the guild that the account does not see: what is about the whole guild
    names it no more than its own operations do (guilds.md, Order of guild checks)."""
    for channel_id in channel_ids:
        if channel_id in state.channels and not state.can_view(user_id, channel_id):
            raise ApiError(ErrorCode.MISSING_PERMISSIONS)
