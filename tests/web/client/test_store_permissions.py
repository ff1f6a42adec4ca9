"""What the client's store says that a member may do is what the server says (permissions.md, Computation)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import attrs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chat.domain.standing.permissions import channel_permissions, guild_permissions, rank_of_member
from chat.registries.channel_types import ChannelType, OverwriteType
from chat.registries.permissions import FULL_MASK, Permission
from chat.store.guilds.channels import Channel, Overwrite
from chat.store.guilds.roles import Role
from tests.web.client.node import CLIENT, NodeProcess, running_node

GUILD, CHANNEL, OWNER, MEMBER, OTHER = 1, 50, 7, 8, 9
ROLE_IDS: Final = (2, 3, 4)


@pytest.fixture(scope="module")
def node_process() -> Iterator[NodeProcess]:
    with running_node() as node:
        yield node


masks = st.sets(st.sampled_from(list(Permission))).map(lambda bits: sum(int(bit) for bit in bits))
plain_masks = masks.map(lambda mask: mask & ~int(Permission.ADMINISTRATOR))
targets = st.sampled_from(
    [(role_id, OverwriteType.ROLE) for role_id in (GUILD, *ROLE_IDS, 99)] + [(MEMBER, OverwriteType.MEMBER)]
)
overwrites = st.builds(
    lambda target, allow, deny: Overwrite(target[0], target[1].value, allow, deny), targets, plain_masks, plain_masks
)


@given(
    st.tuples(st.one_of(plain_masks, masks), *(st.one_of(plain_masks, masks) for _ in ROLE_IDS)),
    st.sets(st.sampled_from(ROLE_IDS)),
    st.lists(overwrites, max_size=5, unique_by=lambda entry: entry.target_id),
    st.sampled_from((OWNER, MEMBER)),
)
@example((0, 0, 0, 0), set(), [Overwrite(GUILD, OverwriteType.ROLE.value, 1, 0)], MEMBER)
def test_the_store_computes_what_the_server_computes(
    node_process: NodeProcess,
    of_roles: tuple[int, ...],
    own: set[int],
    drawn: list[Overwrite],
    user_id: int,
) -> None:
    roles = {role_id: role(role_id, mask) for role_id, mask in zip((GUILD, *ROLE_IDS), of_roles, strict=True)}
    entries = tuple(drawn)
    mask = FULL_MASK if user_id == OWNER else guild_permissions(roles, GUILD, own)
    expected = channel_permissions(mask, channel(entries), GUILD, user_id, own)
    state = node_process.keep("./states", "stateOf", guild(roles), own_member(user_id, own), wire(entries))
    found = node_process.call("./states", "permissionsIn", state.itself(), str(CHANNEL))
    if mask == FULL_MASK:
        assert int(found) & FULL_MASK == FULL_MASK
    else:
        assert int(found) == expected


@given(
    st.tuples(*(st.integers(1, 3) for _ in ROLE_IDS)),
    st.sets(st.sampled_from(ROLE_IDS)),
    st.sets(st.sampled_from(ROLE_IDS)),
    st.sampled_from((OWNER, MEMBER)),
    st.sampled_from((OWNER, MEMBER, OTHER)),
)
def test_who_stands_above_whom_is_what_the_server_says(
    node_process: NodeProcess,
    positions: tuple[int, ...],
    own: set[int],
    theirs: set[int],
    user_id: int,
    other_id: int,
) -> None:
    roles = {
        role_id: attrs.evolve(role(role_id, 0), position=position)
        for role_id, position in zip(ROLE_IDS, positions, strict=True)
    }
    if user_id == other_id:
        theirs = own
    mine = rank_of_member(roles, own, is_owner=user_id == OWNER)
    expected = mine > rank_of_member(roles, theirs, is_owner=other_id == OWNER)
    state = node_process.keep("./states", "stateOf", guild(roles), own_member(user_id, own), wire(()))
    other = [str(one) for one in theirs]
    found = node_process.call("./states", "outranksIn", state.itself(), str(GUILD), str(other_id), other)
    assert found is expected


def test_bits_have_the_numbers_of_the_registry() -> None:
    text = (CLIENT / "store" / "permissions.js").read_text(encoding="utf-8")
    bits = {name: 1 << int(place) for name, place in re.findall(r"([A-Z_]+): 1n << (\d+)n", text)}
    assert len(bits) > 20
    assert bits == {name: int(Permission[name]) for name in bits}


def role(role_id: int, mask: int) -> Role:
    return Role(id=role_id, guild_id=GUILD, name="", permissions=mask, position=0)


def channel(entries: tuple[Overwrite, ...]) -> Channel:
    return Channel(id=CHANNEL, guild_id=GUILD, type=ChannelType.GUILD_TEXT, name="", overwrites=entries)


def guild(roles: dict[int, Role]) -> dict[str, Any]:
    listed = [
        {"id": str(entry.id), "permissions": str(entry.permissions), "position": entry.position}
        for entry in roles.values()
    ]
    return {"id": str(GUILD), "owner_id": str(OWNER), "roles": listed}


def own_member(user_id: int, roles: set[int]) -> dict[str, Any]:
    return {"user": {"id": str(user_id)}, "roles": [str(one) for one in roles]}


def wire(entries: tuple[Overwrite, ...]) -> dict[str, Any]:
    listed = [
        {"id": str(entry.target_id), "type": entry.type, "allow": str(entry.allow), "deny": str(entry.deny)}
        for entry in entries
    ]
    return {"id": str(CHANNEL), "guild_id": str(GUILD), "type": 0, "permission_overwrites": listed}
