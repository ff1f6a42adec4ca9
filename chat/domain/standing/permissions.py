"""What a member may do, computed from roles and overwrites (permissions.md, Computation). Pure functions over integer
masks.

The steps, in the order of permissions.md, Computation: no membership, nothing; the owner, everything; else the union of
the everyone role and the member's roles; ADMINISTRATOR among them, everything; then the channel's overwrites:
everyone's, those of the member's roles as one step (all denials, then all allowances), the member's own. A time-out
does not change the mask.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Final

from chat.registries.channel_types import OverwriteType
from chat.registries.permissions import FULL_MASK, THREAD_PERMISSIONS, Permission
from chat.store.guilds.channels import Channel, Overwrite
from chat.store.guilds.roles import Role

ADMINISTRATOR: Final = Permission.ADMINISTRATOR.value
VIEW_CHANNEL: Final = Permission.VIEW_CHANNEL.value
MEMBER_OVERWRITE: Final = OverwriteType.MEMBER.value


def guild_permissions(roles: Mapping[int, Role], everyone_id: int, role_ids: Iterable[int]) -> int:
    """What the roles of a member who does not own the guild grant in it; role ids without a role grant nothing."""
    everyone = roles.get(everyone_id)
    mask = 0 if everyone is None else everyone.permissions
    for role_id in role_ids:
        role = roles.get(role_id)
        if role is not None:
            mask |= role.permissions
    return FULL_MASK if mask & ADMINISTRATOR else mask


def apply_role_overwrites(mask: int, overwrites: Iterable[Overwrite], everyone_id: int, role_ids: Set[int]) -> int:
    """The guild mask after the channel's overwrites for everyone and for the member's roles.

    `mask` must not be the full mask of an owner or administrator, whom overwrites do not touch.
    """
    deny = allow = 0
    for overwrite in overwrites:
        if overwrite.type == MEMBER_OVERWRITE:
            continue
        if overwrite.target_id == everyone_id:
            mask = mask & ~overwrite.deny | overwrite.allow
        elif overwrite.target_id in role_ids:
            deny |= overwrite.deny
            allow |= overwrite.allow
    return mask & ~deny | allow


def apply_member_overwrite(mask: int, overwrite: Overwrite | None) -> int:
    """The mask after the member's own overwrite: the last step."""
    return mask if overwrite is None else mask & ~overwrite.deny | overwrite.allow


def channel_permissions(mask: int, channel: Channel, everyone_id: int, user_id: int, role_ids: Set[int]) -> int:
    """What a member with this guild mask may do in the channel."""
    if mask == FULL_MASK:
        return mask
    mask = apply_role_overwrites(mask, channel.overwrites, everyone_id, role_ids)
    for overwrite in channel.overwrites:
        if overwrite.type == MEMBER_OVERWRITE and overwrite.target_id == user_id:
            return apply_member_overwrite(mask, overwrite)
    return mask


def visible_channels(channels: Iterable[Channel], masks: Mapping[int, int]) -> frozenset[int]:
    """The channels with VIEW_CHANNEL in `masks` (by channel id), and each category that holds one of them."""
    visible = set()
    for channel in channels:
        if masks[channel.id] & VIEW_CHANNEL:
            visible.add(channel.id)
            if channel.parent_id is not None:
                visible.add(channel.parent_id)
    return frozenset(visible)


def without_thread_bits(mask: int) -> int:
    """A mask as it is shown to a caller without the channel_threads capability (guilds.md, Guild object)."""
    return mask & ~THREAD_PERMISSIONS
