"""What a guild's state keeps of an answer after a change is what a state made afresh would answer."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

import attrs
from hypothesis import given
from hypothesis import strategies as st

from chat.domain.standing.guild_state import GuildState
from chat.registries.channel_types import ChannelType, OverwriteType
from chat.registries.permissions import Permission
from chat.store.guilds.channels import Channel, Overwrite
from chat.store.guilds.guilds import Guild
from chat.store.guilds.members import Member
from chat.store.guilds.roles import Role
from tests.guilds.guild_world import HandClock

VIEW = Permission.VIEW_CHANNEL.value
GUILD = 1
ROLES = (GUILD, 2, 3)
USERS = (100, 101, 102, 103)
CHANNELS = tuple(range(10, 18))
MASKS = (0, VIEW, Permission.ADMINISTRATOR.value)
MEMBERS = [
    Member(GUILD, user_id, 0, role_ids=frozenset(role for bit, role in ((1, 2), (2, 3)) if number & bit))
    for number, user_id in enumerate(USERS)
]

overwrites = st.lists(
    st.builds(
        lambda role, target, allow, deny: Overwrite(
            ROLES[target % 3] if role else USERS[target],
            OverwriteType.ROLE if role else OverwriteType.MEMBER,
            VIEW * allow,
            VIEW * (deny and not allow),
        ),
        st.booleans(),
        st.integers(0, 3),
        st.booleans(),
        st.booleans(),
    ),
    max_size=3,
    unique_by=lambda overwrite: overwrite.target_id,
).map(tuple)
channel_changes = st.tuples(st.sampled_from(CHANNELS), overwrites, st.sampled_from((None, 10, 11)))
role_changes = st.tuples(st.sampled_from(ROLES), st.sampled_from(MASKS))
drops = st.tuples(st.sampled_from(CHANNELS[2:]))


def state_of(roles: Iterable[Role], channels: Iterable[Channel]) -> GuildState:
    guild = Guild(id=GUILD, owner_id=999, name="guild", created_at=0)
    state = GuildState(sqlite3.connect(":memory:"), HandClock(), guild, roles, channels)
    for member in MEMBERS:
        state.put_member(member)
    return state


@given(st.lists(channel_changes | role_changes | drops, max_size=25))
def test_changes_one_by_one_lead_to_the_state_that_is_made_at_once(
    changes: list[tuple[int, ...] | tuple[int, tuple[Overwrite, ...], int | None]],
) -> None:
    roles = [Role(role_id, GUILD, "role", number, VIEW * (number == 0)) for number, role_id in enumerate(ROLES)]
    categories = [Channel(number, GUILD, ChannelType.GUILD_CATEGORY, "category") for number in CHANNELS[:2]]
    state = state_of(roles, categories)
    for change in changes:
        match change:
            case (int(channel_id),):
                state.drop_channel(channel_id)
            case (int(role_id), int(mask)):
                state.put_role(attrs.evolve(state.roles[role_id], permissions=mask))
            case (int(channel_id), tuple(own), parent_id):
                kind = ChannelType.GUILD_CATEGORY if channel_id in CHANNELS[:2] else ChannelType.GUILD_TEXT
                parent = None if kind is ChannelType.GUILD_CATEGORY else parent_id
                state.put_channel(Channel(channel_id, GUILD, kind, "channel", parent_id=parent, overwrites=own))
        afresh = state_of(state.roles.values(), state.channels.values())
        for user_id in USERS:
            assert state.visible_channels(user_id) == afresh.visible_channels(user_id)
            for channel_id in CHANNELS:
                assert state.can_view(user_id, channel_id) == afresh.can_view(user_id, channel_id)
                assert state.permissions(user_id, channel_id) == afresh.permissions(user_id, channel_id)
        assert state.channel_objects(frozenset(CHANNELS), threads=True) == afresh.channel_objects(
            frozenset(CHANNELS), threads=True
        )
