"""Who stands above whom in a guild (permissions.md, Role hierarchy). Pure functions over its roles.

A role of a higher position stands above; of equal positions the older role does. A member stands where its highest
role stands, one without roles below all of them, the owner above everybody.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import attrs

from chat.store.guilds.roles import Role

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
