"""Who sees a channel: asked for one member at a time, or of the store for a whole guild.

Sight depends on a member's roles, on overwrites that name the member, and on who owns the guild. Few roles decide about
a channel. So who differs from the rest is read as the holders of these roles, and no other member is looked at.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from chat.classes import frozen
from chat.domain.standing.guild_states import GuildState
from chat.domain.standing.permissions import ADMINISTRATOR, channel_permissions, guild_permissions
from chat.registries.channel_types import OverwriteType
from chat.registries.permissions import FULL_MASK, Permission
from chat.store.guilds import members
from chat.store.guilds.channels import Channel
from chat.store.guilds.roles import Role

VIEW_CHANNEL: Final = Permission.VIEW_CHANNEL.value


@frozen
class DecidingRoles:
    """What roles alone decide about the sight of a channel (permissions.md, Computation), without overwrites of
    members."""

    others_see: bool
    """Whether a member sees the channel that has none of the roles below."""
    showing: frozenset[int]
    """Roles whose holders see the channel in any case: those of administrators, and those that an overwrite allows."""
    granting: frozenset[int]
    """Roles whose holders see the channel unless another of their roles denies it; empty if no such grant changes
    anything."""
    denying: frozenset[int]

    @classmethod
    def of(cls, roles: dict[int, Role], channel: Channel, everyone_id: int) -> DecidingRoles:
        """The deciding roles of a channel, from the roles of its guild."""
        everyone = guild_permissions(roles, everyone_id, ())
        if everyone & ADMINISTRATOR:
            return cls(True, frozenset(), frozenset(), frozenset())
        overwrites = [overwrite for overwrite in channel.overwrites if overwrite.type != OverwriteType.MEMBER]
        all_denied = any(entry.deny & VIEW_CHANNEL for entry in overwrites if entry.target_id == everyone_id)
        others_see = bool(channel_permissions(everyone, channel, everyone_id, 0, frozenset()) & VIEW_CHANNEL)
        own = [role for role in roles.values() if role.id != everyone_id]
        administrators = {role.id for role in own if role.permissions & ADMINISTRATOR}
        grants = {role.id for role in own if role.permissions & VIEW_CHANNEL}
        return cls(
            others_see,
            frozenset(administrators | {entry.target_id for entry in overwrites if entry.allow & VIEW_CHANNEL}),
            frozenset() if others_see or all_denied else frozenset(grants),
            frozenset(entry.target_id for entry in overwrites if entry.deny & VIEW_CHANNEL),
        )


@frozen
class Viewers:
    """The members of a guild who see a channel: everybody or nobody, with exceptions."""

    others_see: bool
    exceptions: set[int]
    """Members who see the channel while the others do not, or the other way round."""

    def include(self, user_id: int) -> bool:
        """Whether this member sees the channel."""
        return (user_id in self.exceptions) is not self.others_see

    def count(self, member_count: int) -> int:
        """How many of the guild's `member_count` members see the channel."""
        return member_count - len(self.exceptions) if self.others_see else len(self.exceptions)


class ChannelViewers:
    """Judges who sees one channel, as the guild's state was when this was made; remembers the answer for each set of
    roles. Looks at nothing that changes, so it may be asked in a thread."""

    def __init__(self, state: GuildState, channel_id: int) -> None:
        self.guild_id = state.id
        self._channel = state.channels[channel_id]
        self._roles = dict(state.roles)
        self._owner_id = state.guild.owner_id
        self._own = {
            overwrite.target_id for overwrite in self._channel.overwrites if overwrite.type == OverwriteType.MEMBER
        }
        self._by_roles: dict[frozenset[int], bool] = {}

    def include(self, user_id: int, role_ids: frozenset[int]) -> bool:
        """Whether a member with these roles sees the channel."""
        if user_id == self._owner_id:
            return True
        if user_id in self._own:
            return self._judge(user_id, role_ids)
        sees = self._by_roles.get(role_ids)
        if sees is None:
            sees = self._by_roles[role_ids] = self._judge(user_id, role_ids)
        return sees

    def read(self, connection: sqlite3.Connection, last_id: int) -> Viewers:
        """All members up to this user id, from the store: 15 ms where 100,000 hold a role that decides."""
        deciding = DecidingRoles.of(self._roles, self._channel, self.guild_id)

        def holders(role_ids: frozenset[int]) -> set[int]:
            return members.ids_of_roles(connection, self.guild_id, role_ids, last_id) if role_ids else set()

        if deciding.others_see:
            exceptions = holders(deciding.denying)
            exceptions -= holders(deciding.showing) if exceptions else set()
        else:
            exceptions = holders(deciding.granting)
            exceptions -= holders(deciding.denying) if exceptions else set()
            exceptions |= holders(deciding.showing)
        singled_out = [user_id for user_id in (*self._own, self._owner_id) if user_id <= last_id]
        for member in members.named_among(connection, self.guild_id, singled_out):
            if self.include(member.user_id, member.role_ids) is deciding.others_see:
                exceptions.discard(member.user_id)
            else:
                exceptions.add(member.user_id)
        return Viewers(deciding.others_see, exceptions)

    def _judge(self, user_id: int, role_ids: frozenset[int]) -> bool:
        mask = guild_permissions(self._roles, self.guild_id, role_ids)
        if mask != FULL_MASK:
            mask = channel_permissions(mask, self._channel, self.guild_id, user_id, role_ids)
        return bool(mask & VIEW_CHANNEL)
