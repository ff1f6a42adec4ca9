"""One guild in memory: its roles, channels and overwrites, and from them who may see and do what.

Permissions depend on a member through the member's set of roles and through overwrites that name the member, and most
members share few sets: results are kept per set of roles, and a member's own overwrite is applied on top. So asking for
3,000 members of one guild costs 3,000 look-ups.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from typing import Final, cast

import attrs

from chat import wire
from chat.classes import define
from chat.clock import Clock
from chat.domain.standing import permissions
from chat.domain.standing.channel_objects import channel_object
from chat.domain.standing.guild_json import EncodedGuild
from chat.domain.standing.guild_objects import (
    expression_object,
    guild_object,
    member_object,
    membership_object,
    role_object,
)
from chat.domain.standing.permissions import Rank
from chat.registries.channel_types import CHANNEL_THREADS_TYPES, ChannelType, OverwriteType
from chat.registries.guild_features import UNAVAILABLE_GUILD_FEATURES, GuildFeature
from chat.registries.permissions import FULL_MASK, Permission
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.guilds import expressions, members
from chat.store.guilds.channels import Channel, Overwrite
from chat.store.guilds.expressions import Expression
from chat.store.guilds.guilds import Guild
from chat.store.guilds.members import Member
from chat.store.guilds.roles import Role

VIEW_CHANNEL: Final = Permission.VIEW_CHANNEL.value
MANAGE_THREADS: Final = Permission.MANAGE_THREADS.value

MEMBERS_PER_GUILD: Final = 16_384
"""Members that a state remembers; above the sessions of a guild that one process serves."""

ROLE_SETS_PER_GUILD: Final = 4_096
"""Distinct sets of roles whose results are kept; more of them and the results are computed afresh."""


@define(eq=False)
class _RolesGrant:
    """What one set of roles means in a guild."""

    guild_mask: int
    by_channel: dict[int, int] = attrs.Factory(dict)
    visible: frozenset[int] | None = None
    moderated: frozenset[int] | None = None


STATE_BYTES: Final = 8_192
RECORD_BYTES: Final = 512
OBJECT_BYTES: Final = 1_024
MASK_BYTES: Final = 96
"""What a state, one of its records, wire objects and kept masks take, by and large (CPython 3.11, 64 bits)."""


class GuildState:
    """One guild in memory. Only the domain's services change it, after the commit of what they changed."""

    def __init__(
        self, reader: sqlite3.Connection, clock: Clock, guild: Guild, roles: Iterable[Role], channels: Iterable[Channel]
    ) -> None:
        self.id: Final = guild.id
        """The guild's snowflake, which is the everyone role's too."""
        self._reader = reader
        self._clock = clock
        self._members: dict[int, Member] = {}
        self._granted: dict[frozenset[int], _RolesGrant] = {}
        self._member_overwrites: dict[int, dict[int, Overwrite]] = {}
        self._moderation_given: frozenset[int] | None = None
        self._expressions: tuple[Expression, ...] | None = None
        self._expression_objects: dict[str, list[wire.Emoji | wire.Sticker]] = {}
        self._guild_object: wire.Guild | None = None
        self._role_objects: dict[bool, list[wire.Role]] = {}
        self._channel_objects: dict[tuple[int, bool], wire.GuildChannel] = {}
        self._channel_lists: dict[tuple[frozenset[int], bool], tuple[int, list[wire.GuildChannel] | None]] = {}
        self._messages_noted = 0
        self.encoded: Final = EncodedGuild()
        """Its wire objects as JSON."""
        self.version = 0
        """Rises with everything that the objects of the guild, its roles, expressions and channels show."""
        self.replace(guild, roles, channels)

    # Members

    def member(self, user_id: int) -> Member | None:
        """The membership of an account; None when it is not in the guild."""
        member = self._members.get(user_id)
        if member is None:
            member = members.by_id(self._reader, self.id, user_id)
            if member is not None:
                self.remember_member(member)
        return member

    def knows_member(self, user_id: int) -> bool:
        """Whether this membership is in memory."""
        return user_id in self._members

    def account(self, user_id: int) -> Account | None:
        """The account behind a member or an author, as it is stored."""
        return accounts.by_id(self._reader, user_id)

    # Expressions

    def expressions(self, kind: str) -> list[Expression]:
        """The guild's emojis or stickers, oldest first."""
        if self._expressions is None:
            self._expressions = tuple(expressions.of_guild(self._reader, self.id))
        return [expression for expression in self._expressions if expression.kind == kind]

    # Permissions

    def permissions(self, user_id: int, channel_id: int | None = None) -> int:
        """The account's mask in the guild, or in one of its channels; an unknown channel counts as none named."""
        member = self.member(user_id)
        return 0 if member is None else self.member_permissions(member, channel_id)

    def member_permissions(self, member: Member, channel_id: int | None = None) -> int:
        """As `permissions`, for a membership already at hand."""
        if member.user_id == self.guild.owner_id:
            return FULL_MASK
        granted = self._granted_to(member.role_ids)
        if channel_id is None or granted.guild_mask == FULL_MASK:
            return granted.guild_mask
        mask = self._mask(granted, member.role_ids, channel_id)
        own = self._member_overwrites.get(member.user_id)
        return mask if own is None else permissions.apply_member_overwrite(mask, own.get(channel_id))

    def can_view(self, user_id: int, channel_id: int) -> bool:
        """Whether the account sees the channel; a category also by any of its channels."""
        channel = self.channels.get(channel_id)
        member = None if channel is None else self.member(user_id)
        if channel is None or member is None:
            return False
        if user_id not in self._member_overwrites:
            return channel_id in self.visible_channels(user_id)
        return bool(self.member_permissions(member, channel_id) & VIEW_CHANNEL) or (
            channel.type == ChannelType.GUILD_CATEGORY and channel_id in self._visible_to(member)
        )

    def visible_channels(self, user_id: int) -> frozenset[int]:
        """The channels that the account sees, categories included."""
        return self._channels_of(user_id, "visible", self._visible_to)

    def hidden_from(self, user_id: int) -> frozenset[int]:
        return self._all_channels - self.visible_channels(user_id)

    def channels_with(self, user_id: int, permission: int) -> frozenset[int]:
        """The channels that the account sees and holds every bit of `permission` in."""
        member = self.member(user_id)
        if member is None:
            return frozenset()
        return frozenset(
            channel_id
            for channel_id in self.visible_channels(user_id)
            if self.member_permissions(member, channel_id) & permission == permission
        )

    def thread_moderated_channels(self, user_id: int) -> frozenset[int]:
        """The channels that the account sees with every thread below them: it manages threads there."""
        return self._channels_of(user_id, "moderated", self._moderated_by)

    def sights(self, user_id: int) -> tuple[frozenset[int], frozenset[int]]:
        """`visible_channels` and `thread_moderated_channels` of the account, for less than both cost."""
        member = self.member(user_id)
        if member is None:
            return frozenset(), frozenset()
        granted = self._granted_to(member.role_ids)
        if (
            granted.visible is None
            or granted.moderated is None
            or user_id == self.guild.owner_id
            or granted.guild_mask == FULL_MASK
            or user_id in self._member_overwrites
        ):
            return self.visible_channels(user_id), self.thread_moderated_channels(user_id)
        return granted.visible, granted.moderated

    def is_judged_apart(self, user_id: int) -> bool:
        """Whether the account may see, or moderate, other channels than members with the same roles: it is the owner,
        or an overwrite names it."""
        return user_id == self.guild.owner_id or user_id in self._member_overwrites

    def rank(self, member: Member) -> Rank:
        """Where the member stands among the others."""
        is_owner = member.user_id == self.guild.owner_id
        return permissions.rank_of_member(self.roles, member.role_ids, is_owner=is_owner)

    def unavailable_for(self, is_staff: bool) -> bool:
        """Whether the guild is closed to an account with, or without, the staff flag (guilds.md, Unavailable
        guilds)."""
        features = self.guild.features
        return GuildFeature.UNAVAILABLE_FOR_EVERYONE in features or (
            not is_staff and GuildFeature.UNAVAILABLE_FOR_EVERYONE_BUT_STAFF in features
        )

    def _channels_of(self, user_id: int, kept: str, compute: Callable[[Member], frozenset[int]]) -> frozenset[int]:
        """Channels that depend on a member's permissions, `kept` under this name for all with the same roles."""
        member = self.member(user_id)
        if member is None:
            return frozenset()
        granted = self._granted_to(member.role_ids)
        if user_id == self.guild.owner_id or granted.guild_mask == FULL_MASK:
            return self._all_channels
        if user_id in self._member_overwrites:
            return compute(member)
        known: frozenset[int] | None = getattr(granted, kept)
        if known is None:
            known = compute(member)
            setattr(granted, kept, known)
        return known

    def _granted_to(self, role_ids: frozenset[int]) -> _RolesGrant:
        granted = self._granted.get(role_ids)
        if granted is None:
            if len(self._granted) >= ROLE_SETS_PER_GUILD:
                self._granted.clear()
            granted = _RolesGrant(permissions.guild_permissions(self.roles, self.id, role_ids))
            self._granted[role_ids] = granted
        return granted

    def _mask(self, granted: _RolesGrant, role_ids: frozenset[int], channel_id: int) -> int:
        """What a set of roles grants in a channel; in an unknown one, what it grants in the guild."""
        mask = granted.by_channel.get(channel_id)
        if mask is None:
            channel = self.channels.get(channel_id)
            if channel is None:
                return granted.guild_mask
            mask = permissions.apply_role_overwrites(granted.guild_mask, channel.overwrites, self.id, role_ids)
            granted.by_channel[channel_id] = mask
        return mask

    def _moderated_by(self, member: Member) -> frozenset[int]:
        wanted = VIEW_CHANNEL | MANAGE_THREADS
        # Most members get the right from no role, and few channels grant it.
        managing = self._granted_to(member.role_ids).guild_mask & MANAGE_THREADS
        return frozenset(
            channel_id
            for channel_id in (self.channels if managing else self._giving_moderation())
            if self.member_permissions(member, channel_id) & wanted == wanted
        )

    def _giving_moderation(self) -> frozenset[int]:
        """The channels in which an overwrite grants MANAGE_THREADS."""
        if self._moderation_given is None:
            self._moderation_given = frozenset(
                channel.id
                for channel in self.channels.values()
                if any(overwrite.allow & MANAGE_THREADS for overwrite in channel.overwrites)
            )
        return self._moderation_given

    def _visible_to(self, member: Member) -> frozenset[int]:
        masks = {channel_id: self.member_permissions(member, channel_id) for channel_id in self.channels}
        return permissions.visible_channels(self.channels.values(), masks)

    # Wire objects, kept until what they show changes; callers must not alter them. A channel's `last_message_id` moves
    # on in place: it may be newer than the moment at which the object was asked for, never older.

    def guild_object(self) -> wire.Guild:
        """The guild object without embedded collections."""
        if self._guild_object is None:
            self._guild_object = guild_object(self.guild)
        return self._guild_object

    def role_objects(self, *, threads: bool) -> list[wire.Role]:
        """Every role, lowest position first; without `threads` the thread permission bits are taken out."""
        objects = self._role_objects.get(threads)
        if objects is None:
            ordered = sorted(self.roles.values(), key=lambda role: (role.position, role.id))
            objects = self._role_objects[threads] = [role_object(role, threads=threads) for role in ordered]
        return objects

    def expression_objects(self, kind: str) -> list[wire.Emoji | wire.Sticker]:
        """The guild's emojis or stickers, oldest first."""
        objects = self._expression_objects.get(kind)
        if objects is None:
            objects = [expression_object(expression) for expression in self.expressions(kind)]
            self._expression_objects[kind] = objects
        return objects

    def channel_objects(self, visible: frozenset[int], *, threads: bool) -> list[wire.GuildChannel]:
        """The channels among `visible`, by position; without `threads` those that hold threads are left out, and the
        overwrites of the others lose the thread bits. The same list as before where nothing in it has changed."""
        noted, objects = self._channel_lists.get((visible, threads), (self._messages_noted, None))
        if objects is None:
            if len(self._channel_lists) >= ROLE_SETS_PER_GUILD:
                self._channel_lists.clear()
            left_out = () if threads else CHANNEL_THREADS_TYPES
            shown = (
                channel for channel in self.channels.values() if channel.id in visible and channel.type not in left_out
            )
            ordered = sorted(shown, key=lambda channel: (channel.position, channel.id))
            objects = [self._rendered(channel, threads) for channel in ordered]
            self._channel_lists[visible, threads] = self._messages_noted, objects
        elif noted != self._messages_noted:
            # A channel's last message is put into its object; by another list the keeper of its bytes sees that.
            objects = objects[:]
            self._channel_lists[visible, threads] = self._messages_noted, objects
        return objects

    def channel_object(self, channel_id: int, *, threads: bool = True) -> wire.GuildChannel:
        return self._rendered(self.channels[channel_id], threads)

    def member_object(self, member: Member, user: wire.PartialUser) -> wire.Member:
        """A member with this user object."""
        return member_object(member, user, timed_out=self._is_timed_out(member))

    def membership_object(self, member: Member) -> wire.Membership:
        """A member without the user."""
        return membership_object(member, timed_out=self._is_timed_out(member))

    def _is_timed_out(self, member: Member) -> bool:
        return member.communication_disabled_until is not None and member.is_timed_out(self._clock.now_ms())

    def last_message_id(self, channel_id: int) -> int | None:
        """The newest message that a channel has had."""
        return self._last_message_ids.get(channel_id)

    def _rendered(self, channel: Channel, threads: bool) -> wire.GuildChannel:
        rendered = self._channel_objects.get((channel.id, threads))
        if rendered is None:
            rendered = channel_object(channel, last_message_id=self._last_message_ids[channel.id], threads=threads)
            self._channel_objects[channel.id, threads] = rendered
        return rendered

    def memory_bytes(self) -> int:
        """About how much memory the state takes: by how many records and wire objects it holds, not measured."""
        records = len(self.roles) + len(self.channels) + len(self._members) + len(self._expressions or ())
        objects = len(self._channel_objects) + sum(map(len, (*self._role_objects.values(),)))
        masks = sum(len(granted.by_channel) for granted in self._granted.values())
        return STATE_BYTES + records * RECORD_BYTES + objects * OBJECT_BYTES + masks * MASK_BYTES + len(self.encoded)

    # Changes, made after a commit

    def replace(self, guild: Guild, roles: Iterable[Role], channels: Iterable[Channel]) -> None:
        """Everything may have changed: take over what the store holds now, members on their next use."""
        self.version += 1
        self._take_guild(guild)
        self.member_count = guild.member_count
        """How many members the guild has; kept here, for it changes more often than the rest of the row."""
        self.roles = {role.id: role for role in roles}
        self.channels = {channel.id: channel for channel in channels}
        self._last_message_ids = {channel.id: channel.last_message_id for channel in self.channels.values()}
        self._members.clear()
        self._expressions = None
        self._expression_objects.clear()
        self._role_objects.clear()
        self._forget_channel_objects()
        self._forget_permissions()

    def put_guild(self, guild: Guild) -> None:
        """The guild's own row changed; the number of members stays."""
        self.version += 1
        if guild.owner_id != self.guild.owner_id:
            self._forget_permissions()
        self._take_guild(guild)

    def _take_guild(self, guild: Guild) -> None:
        self.guild = guild
        self._guild_object = None
        self.is_closed = not UNAVAILABLE_GUILD_FEATURES.isdisjoint(guild.features)
        """Whether there are accounts that `unavailable_for` keeps out."""

    def put_member(self, member: Member) -> None:
        """A member joined, or changed nickname or roles."""
        self.remember_member(member)

    def remember_member(self, member: Member) -> None:
        """A membership was read from the store."""
        known = self._members
        if len(known) >= MEMBERS_PER_GUILD and member.user_id not in known:
            del known[next(iter(known))]
        known[member.user_id] = member

    def drop_member(self, user_id: int) -> None:
        self._members.pop(user_id, None)

    def put_role(self, role: Role) -> None:
        self.version += 1
        before = self.roles.get(role.id)
        self.roles[role.id] = role
        self._role_objects.clear()
        if before is None or before.permissions != role.permissions:
            for role_ids in [role_ids for role_ids in self._granted if role.id == self.id or role.id in role_ids]:
                del self._granted[role_ids]

    def drop_role(self, role_id: int) -> None:
        """A role is gone, from every member and every overwrite too."""
        self.version += 1
        self.roles.pop(role_id, None)
        self._members.clear()
        for channel in list(self.channels.values()):
            kept = tuple(overwrite for overwrite in channel.overwrites if overwrite.target_id != role_id)
            if len(kept) != len(channel.overwrites):
                self.channels[channel.id] = attrs.evolve(channel, overwrites=kept)
        self._forget_permissions()
        self._role_objects.clear()
        self._forget_channel_objects()

    def put_expressions(self, present: Iterable[Expression]) -> None:
        """Emojis or stickers were made, changed or deleted: these are all of both."""
        self.version += 1
        self._expressions = tuple(present)
        self._expression_objects.clear()

    def put_channel(self, channel: Channel) -> None:
        """A channel was made, or changed with its overwrites."""
        self.version += 1
        before = self.channels.get(channel.id)
        self.channels[channel.id] = channel
        self._last_message_ids.setdefault(channel.id, channel.last_message_id)
        if before is None:
            self._all_channels |= {channel.id}
        if before is None or (before.overwrites, before.parent_id) != (channel.overwrites, channel.parent_id):
            self._moderation_given = None
            self._reconsider(before, channel)
        for threads in (True, False):
            self._channel_objects.pop((channel.id, threads), None)
        self._channel_lists.clear()

    def drop_channel(self, channel_id: int) -> None:
        self.version += 1
        self.channels.pop(channel_id, None)
        self._last_message_ids.pop(channel_id, None)
        self._forget_permissions()
        self._forget_channel_objects()

    def note_message(self, channel_id: int, message_id: int) -> None:
        last = self._last_message_ids.get(channel_id)
        if channel_id in self.channels and (last is None or last < message_id):
            self._last_message_ids[channel_id] = message_id
            self.version += 1
            self._messages_noted += 1
            for threads in (True, False):
                rendered = self._channel_objects.get((channel_id, threads))
                if rendered is not None and "last_message_id" in rendered:
                    cast("wire.ChannelOfMessages", rendered)["last_message_id"] = str(message_id)

    def _reconsider(self, before: Channel | None, channel: Channel) -> None:
        """A channel is new, or has other overwrites or another category: see who sees it now, and the categories that
        hold it. What is known of all other channels stays."""
        for overwrite in () if before is None else before.overwrites:
            if overwrite.type == OverwriteType.MEMBER:
                own = self._member_overwrites[overwrite.target_id]
                del own[channel.id]
                if not own:
                    del self._member_overwrites[overwrite.target_id]
        self._note_member_overwrites(channel)
        held: dict[int, list[int]] = {channel.id: []}
        for parent_id in (channel.parent_id, None if before is None else before.parent_id):
            if parent_id is not None:
                held[parent_id] = []
        for other in self.channels.values():
            if other.parent_id in held:
                held[other.parent_id].append(other.id)
        for role_ids, granted in self._granted.items():
            granted.by_channel.pop(channel.id, None)
            granted.moderated = None
            if granted.visible is None:
                continue
            seen = {
                channel_id
                for channel_id, children in held.items()
                if channel_id in self.channels
                and any(self._mask(granted, role_ids, each) & VIEW_CHANNEL for each in (channel_id, *children))
            }
            if seen != granted.visible & held.keys():  # where nothing changes, the set stays the very same
                granted.visible = granted.visible.difference(held) | seen

    def _note_member_overwrites(self, channel: Channel) -> None:
        for overwrite in channel.overwrites:
            if overwrite.type == OverwriteType.MEMBER:
                self._member_overwrites.setdefault(overwrite.target_id, {})[channel.id] = overwrite

    def _forget_permissions(self) -> None:
        self._granted.clear()
        self._moderation_given = None
        self._all_channels = frozenset(self.channels)
        self._member_overwrites.clear()
        for channel in self.channels.values():
            self._note_member_overwrites(channel)

    def _forget_channel_objects(self) -> None:
        self._channel_objects.clear()
        self._channel_lists.clear()
