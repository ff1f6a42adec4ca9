"""What a member may do, computed from roles and overwrites (permissions.md, Computation), who stands above whom
(permissions.md, Role hierarchy), and which bits a caller may write (permissions.md, Granting). Pure functions.

The steps, in the order of permissions.md, Computation: no membership, nothing; the owner, everything; else the union of
the everyone role and the member's roles; ADMINISTRATOR among them, everything; then the channel's overwrites:
everyone's, those of the member's roles as one step (all denials, then all allowances), the member's own. A time-out
does not change the mask.

A role of a higher position stands above; of equal positions the older role does. A member stands where its highest
role stands, one without roles below all of them, the owner above all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Final

import attrs

from chat.auth.principal import Principal
from chat.errors import ApiError
from chat.registries.channel_types import OverwriteType
from chat.registries.error_codes import ErrorCode
from chat.registries.permissions import ALL_DEFINED, FULL_MASK, THREAD_PERMISSIONS, Permission
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


Rank = tuple[int, int]
"""Compares as roles do: position, then age."""

NO_ROLE: Rank = (-1, 0)
OWNER: Rank = (1 << 62, 0)


def rank_of(role: Role) -> Rank:
    """Where a role stands."""
    return role.position, -role.id


def rank_of_member(roles: Mapping[int, Role], role_ids: Iterable[int], *, is_owner: bool) -> Rank:
    """Where a member with these roles stands."""
    if is_owner:
        return OWNER
    return max((rank_of(roles[role_id]) for role_id in role_ids if role_id in roles), default=NO_ROLE)


def renumbered(roles: Sequence[Role], everyone_id: int) -> list[Role]:
    """The roles with positions 1 to n, in their present order; everyone's stays at 0 (permissions.md, Role
    hierarchy)."""
    everyone = [attrs.evolve(role, position=0) for role in roles if role.id == everyone_id]
    others = sorted((role for role in roles if role.id != everyone_id), key=rank_of)
    return everyone + [attrs.evolve(role, position=position) for position, role in enumerate(others, start=1)]


CHANNEL_THREADS: Final = "channel_threads"
"""The client capability that lets a user session see threads (access.md, Client capabilities)."""

VIEW_CHANNEL_MEMBERS_CAPABILITY: Final = "view_channel_members_permission"
"""The client capability that lets a user session write VIEW_CHANNEL_MEMBERS (access.md, Client capabilities)."""


def sees_threads(principal: Principal) -> bool:
    """Whether the caller is shown threads and their bits: a bot, or a session that declared the capability."""
    return principal.is_bot or CHANNEL_THREADS in principal.capabilities


def writable_bits(principal: Principal) -> int:
    """The bits that the caller's client knows; the others keep what is stored."""
    bits = ALL_DEFINED
    if not sees_threads(principal):
        bits &= ~THREAD_PERMISSIONS
    if not principal.is_bot and VIEW_CHANNEL_MEMBERS_CAPABILITY not in principal.capabilities:
        bits &= ~Permission.VIEW_CHANNEL_MEMBERS.value
    return bits


def written_mask(principal: Principal, requested: int, stored: int) -> int:
    """What becomes of a stored mask when the caller asks for another one; undefined bits are dropped."""
    writable = writable_bits(principal)
    return (requested & writable) | (stored & ALL_DEFINED & ~writable)


def require_may_grant(own: int, before: int, after: int) -> None:
    """Raise MISSING_PERMISSIONS for a bit that is added and that the caller, who holds `own`, lacks."""
    if own != FULL_MASK and after & ~before & ~own:
        raise ApiError(ErrorCode.MISSING_PERMISSIONS)
