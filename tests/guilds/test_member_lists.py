"""Member lists: groups, their order, positions, and who sees the channel."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.domain.guilds.channel_viewers import ChannelViewers
from chat.domain.guilds.member_lists import OFFLINE, ONLINE, Group, MemberList, MemberListBuilder
from chat.registries.channel_types import OverwriteType
from chat.registries.permissions import Permission
from chat.store.guilds.channels import Channel, Overwrite
from chat.store.guilds.guilds import Guild
from chat.store.guilds.roles import Role

GUILD, OWNER, HIDDEN = 1, 10, 90
HELMSMEN, DECKHANDS, PLAIN = 20, 21, 22
VIEW = Permission.VIEW_CHANNEL.value


class StateOfGuild:
    """As much of a guild's state as a member list looks at."""

    def __init__(self, *overwrites: Overwrite) -> None:
        self.id = GUILD
        self.guild = Guild(GUILD, OWNER, "Harbour", 0)
        roles = [
            Role(GUILD, GUILD, "@everyone", 0, VIEW, hoist=True),
            Role(HELMSMEN, GUILD, "helmsmen", 1, 0, hoist=True, hoist_position=9),
            Role(DECKHANDS, GUILD, "deckhands", 2, 0, hoist=True),
            Role(PLAIN, GUILD, "plain", 3, 0),
        ]
        self.roles = {role.id: role for role in roles}
        self.channels = {HIDDEN: Channel(HIDDEN, GUILD, 0, overwrites=overwrites)}


def arranged(*members: tuple[int, set[int], bool], state: Any = None) -> MemberList:
    """The list of these members (id, roles, whether online), in the order given."""
    builder = MemberListBuilder(state or StateOfGuild(), HIDDEN)
    for user_id, role_ids, is_online in members:
        builder.add(user_id, frozenset(role_ids), is_online)
    return builder.finish()


def test_the_online_stand_under_their_highest_hoisted_role_and_the_rest_below() -> None:
    crew = arranged(
        (1, {PLAIN}, True),
        (2, {DECKHANDS, HELMSMEN}, True),
        (3, {DECKHANDS, PLAIN}, True),
        (4, {HELMSMEN}, False),
        (5, set(), True),
    )
    assert crew.rows(0, 99) == [
        Group(str(HELMSMEN), 1),
        2,
        Group(str(DECKHANDS), 1),
        3,
        Group(ONLINE, 2),
        1,
        5,
        Group(OFFLINE, 1),
        4,
    ]
    assert (crew.member_count, crew.online_count) == (5, 4)


def test_groups_without_members_are_left_out() -> None:
    assert arranged((1, set(), False)).groups == (Group(OFFLINE, 1),)
    assert arranged().rows(0, 99) == []


def overwrite(target_id: int, kind: OverwriteType, *, allow: int = 0, deny: int = 0) -> Overwrite:
    return Overwrite(target_id, kind, allow, deny)


def test_only_viewers_of_the_channel_are_listed() -> None:
    state = StateOfGuild(
        overwrite(GUILD, OverwriteType.ROLE, deny=VIEW),
        overwrite(PLAIN, OverwriteType.ROLE, allow=VIEW),
        overwrite(5, OverwriteType.MEMBER, allow=VIEW),
        overwrite(6, OverwriteType.MEMBER, deny=VIEW),
    )
    viewers: Any = ChannelViewers(state, HIDDEN)  # type: ignore[arg-type]
    seen = {
        user_id: viewers.include(user_id, frozenset(roles))
        for user_id, roles in [
            (OWNER, []),
            (2, []),
            (3, [PLAIN]),
            (4, [DECKHANDS]),
            (5, []),
            (6, [PLAIN]),
        ]
    }
    assert seen == {OWNER: True, 2: False, 3: True, 4: False, 5: True, 6: False}


@given(
    st.lists(st.tuples(st.sets(st.sampled_from([HELMSMEN, DECKHANDS, PLAIN])), st.booleans()), max_size=30),
    st.integers(0, 40),
    st.integers(0, 99),
)
def test_rows_are_a_window_on_the_whole_list(members: list[tuple[set[int], bool]], start: int, span: int) -> None:
    crew = arranged(*((100 + number, roles, online) for number, (roles, online) in enumerate(members)))
    whole = crew.rows(0, 10_000)
    assert len(whole) == len(members) + len(crew.groups)
    assert crew.rows(start, start + span) == whole[start : start + span + 1]


@pytest.mark.parametrize(("start", "end", "rows"), [(0, 0, [Group(ONLINE, 2)]), (1, 1, [7]), (2, 5, [8]), (3, 9, [])])
def test_positions_count_groups_and_members_alike(start: int, end: int, rows: list[Any]) -> None:
    assert arranged((7, set(), True), (8, set(), True)).rows(start, end) == rows
