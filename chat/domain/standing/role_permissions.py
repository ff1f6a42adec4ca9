"""Which permission bits somebody may write into a role or an overwrite (permissions.md, Granting)."""

from __future__ import annotations

from typing import Final

from chat.auth.principal import Principal
from chat.domain.standing.access import sees_threads
from chat.errors import ApiError
from chat.registries.permissions import ALL_DEFINED, FULL_MASK, THREAD_PERMISSIONS, Permission

VIEW_CHANNEL_MEMBERS: Final = Permission.VIEW_CHANNEL_MEMBERS.value
VIEW_CHANNEL_MEMBERS_CAPABILITY: Final = "view_channel_members_permission"
"""The client capability that lets a user session write that bit (access.md, Client capabilities)."""


def writable_bits(principal: Principal) -> int:
    """The bits that the caller's client knows; the others keep what is stored."""
    bits = ALL_DEFINED
    if not sees_threads(principal):
        bits &= ~THREAD_PERMISSIONS
    if not principal.is_bot and VIEW_CHANNEL_MEMBERS_CAPABILITY not in principal.capabilities:
        bits &= ~VIEW_CHANNEL_MEMBERS
    return bits


def written_mask(principal: Principal, requested: int, stored: int) -> int:
    """What becomes of a stored mask when the caller asks for another one; undefined bits are dropped."""
    writable = writable_bits(principal)
    return (requested & writable) | (stored & ALL_DEFINED & ~writable)


def require_may_grant(own: int, before: int, after: int) -> None:
    """Raise MISSING_PERMISSIONS for a bit that is added and that the caller, who holds `own`, lacks."""
    if own != FULL_MASK and after & ~before & ~own:
        raise ApiError("MISSING_PERMISSIONS")
