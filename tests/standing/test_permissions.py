"""Permissions from roles and overwrites (wire facts 4.3), against cases and against a slow reading of the rules."""

from __future__ import annotations

import sqlite3

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.domain.standing import permissions
from chat.domain.standing.guild_state import GuildState
from chat.registries.channel_types import ChannelType, OverwriteType
from chat.registries.permissions import ALL_DEFINED, DEFAULT_EVERYONE, FULL_MASK, Permission
from chat.store.guilds.channels import Channel, Overwrite
from chat.store.guilds.guilds import Guild
from chat.store.guilds.members import Member
from chat.store.guilds.roles import Role
from tests.guilds.guild_world import HandClock

GUILD = EVERYONE = 1
OWNER, ALICE, BOB = 101, 102, 103
VIEW = Permission.VIEW_CHANNEL.value
SEND = Permission.SEND_MESSAGES.value
MANAGE = Permission.MANAGE_MESSAGES.value
ADMINISTRATOR = Permission.ADMINISTRATOR.value
ROLE, MEMBER = OverwriteType.ROLE.value, OverwriteType.MEMBER.value


def state_of(roles: list[Role], channels: list[Channel], members: list[Member]) -> GuildState:
    """A guild that is only in memory; nothing of it is ever read from a store."""
    guild = Guild(GUILD, OWNER, "Harbour", 0)
    state = GuildState(sqlite3.connect(":memory:"), HandClock(), guild, roles, channels)
    for member in [*members, Member(GUILD, OWNER, 0)]:
        state.put_member(member)
    return state


def role(role_id: int, mask: int) -> Role:
    return Role(role_id, GUILD, "role", role_id, mask)


def channel(channel_id: int, *overwrites: Overwrite, parent_id: int | None = None, category: bool = False) -> Channel:
    kind = ChannelType.GUILD_CATEGORY if category else ChannelType.GUILD_TEXT
    return Channel(channel_id, GUILD, kind.value, "x", parent_id=parent_id, overwrites=overwrites)


def of_role(target_id: int, allow: int, deny: int) -> Overwrite:
    return Overwrite(target_id, ROLE, allow, deny)


def of_member(target_id: int, allow: int, deny: int) -> Overwrite:
    return Overwrite(target_id, MEMBER, allow, deny)


# What a reader of the rules would write down, step by step.

CASES = [
    # name, everyone's mask, masks of ALICE's roles 2 and 3, overwrites, expected
    ("everyone alone", VIEW, (), [], VIEW),
    ("roles add up", VIEW, (SEND, MANAGE), [], VIEW | SEND | MANAGE),
    ("administrator has everything", 0, (ADMINISTRATOR,), [], FULL_MASK),
    ("administrator ignores denials", 0, (ADMINISTRATOR,), [of_role(EVERYONE, 0, VIEW)], FULL_MASK),
    ("everyone is denied", VIEW | SEND, (), [of_role(EVERYONE, 0, SEND)], VIEW),
    ("allowing beats denying in one overwrite", VIEW, (), [of_role(EVERYONE, VIEW, VIEW)], VIEW),
    ("a role allows what everyone is denied", VIEW, (0,), [of_role(EVERYONE, 0, VIEW), of_role(2, VIEW, 0)], VIEW),
    ("a role denies what everyone is allowed", 0, (0,), [of_role(EVERYONE, VIEW, 0), of_role(2, 0, VIEW)], 0),
    ("one role allows, another denies", VIEW, (0, 0), [of_role(2, SEND, 0), of_role(3, 0, SEND)], VIEW | SEND),
    ("the same the other way round", VIEW, (0, 0), [of_role(2, 0, SEND), of_role(3, SEND, 0)], VIEW | SEND),
    ("the member's own denial is the last word", VIEW, (0,), [of_role(2, SEND, 0), of_member(ALICE, 0, SEND)], VIEW),
    ("the member's own allowance is the last word", VIEW, (0,), [of_role(2, 0, VIEW), of_member(ALICE, VIEW, 0)], VIEW),
    ("another member's overwrite does nothing", VIEW, (), [of_member(BOB, 0, VIEW)], VIEW),
    ("a role that is not held does nothing", VIEW, (0,), [of_role(9, SEND, VIEW)], VIEW),
    ("a role overwrite with the member's id does nothing", VIEW, (), [of_role(ALICE, SEND, VIEW)], VIEW),
    ("administrator by overwrite is a mere bit", VIEW, (), [of_role(EVERYONE, ADMINISTRATOR, 0)], VIEW | ADMINISTRATOR),
]  # fmt: skip


@pytest.mark.parametrize(
    ("everyone", "own", "overwrites", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_channel_permissions(everyone: int, own: tuple[int, ...], overwrites: list[Overwrite], expected: int) -> None:
    roles = [role(EVERYONE, everyone), *(role(2 + index, mask) for index, mask in enumerate(own))]
    alice = Member(GUILD, ALICE, 0, role_ids=frozenset(range(2, 2 + len(own))))
    state = state_of(roles, [channel(50, *overwrites)], [alice])
    assert state.permissions(ALICE, 50) == expected
    guild_mask = permissions.guild_permissions(state.roles, GUILD, alice.role_ids)
    assert permissions.channel_permissions(guild_mask, state.channels[50], GUILD, ALICE, alice.role_ids) == expected


def test_whoever_is_not_a_member_may_nothing() -> None:
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE members AS SELECT 0 AS guild_id, 0 AS user_id")
    database.execute("CREATE TABLE member_roles (guild_id, user_id, role_id)")
    for name in Member._fields[2:-1]:
        database.execute(f"ALTER TABLE members ADD COLUMN {name}")
    state = GuildState(database, HandClock(), Guild(GUILD, OWNER, "x", 0), [role(EVERYONE, VIEW)], [channel(50)])
    assert state.permissions(BOB) == 0
    assert state.permissions(BOB, 50) == 0
    assert state.visible_channels(BOB) == frozenset()
    assert not state.can_view(BOB, 50)


def test_an_unknown_channel_counts_as_none_named_and_is_not_seen() -> None:
    state = state_of([role(EVERYONE, VIEW)], [], [Member(GUILD, ALICE, 0)])
    assert state.permissions(ALICE, 999) == VIEW
    assert not state.can_view(ALICE, 999)
    assert not state.can_view(OWNER, 999)


def test_a_category_is_seen_by_any_of_its_channels() -> None:
    hidden = Overwrite(EVERYONE, ROLE, 0, VIEW)
    channels = [
        channel(10, hidden, category=True),
        channel(11, parent_id=10),
        channel(20, hidden, category=True),
        channel(21, hidden, parent_id=20),
        channel(30, category=True),
        channel(31, hidden, Overwrite(BOB, MEMBER, VIEW, 0), parent_id=20),
    ]
    state = state_of([role(EVERYONE, VIEW)], channels, [Member(GUILD, ALICE, 0), Member(GUILD, BOB, 0)])
    assert state.visible_channels(ALICE) == {10, 11, 30}
    assert state.visible_channels(BOB) == {10, 11, 30, 20, 31}
    assert state.visible_channels(OWNER) == {10, 11, 20, 21, 30, 31}
    assert state.can_view(BOB, 20)
    assert not state.can_view(BOB, 21)
    assert not state.can_view(ALICE, 20)


# Whatever the guild.

masks = st.integers(0, ALL_DEFINED).map(lambda mask: mask & ALL_DEFINED)
few_bits = st.sampled_from([0, VIEW, SEND, MANAGE, VIEW | SEND, SEND | MANAGE, ADMINISTRATOR, DEFAULT_EVERYONE])
role_ids = st.frozensets(st.integers(2, 6))
user_ids = st.sampled_from([OWNER, ALICE, BOB])


@st.composite
def overwrites(draw: st.DrawFn) -> list[Overwrite]:
    """At most one for each of everyone, roles 2 to 7 (7 is nobody's) and three members."""
    targets = draw(st.lists(st.sampled_from([EVERYONE, *range(2, 8), OWNER, ALICE, BOB]), unique=True))
    kinds = {target: MEMBER if target > 100 else ROLE for target in targets}
    return [Overwrite(target, kinds[target], draw(few_bits | masks), draw(few_bits | masks)) for target in targets]


@st.composite
def guilds(draw: st.DrawFn) -> GuildState:
    roles = [role(role_id, draw(few_bits | masks)) for role_id in [EVERYONE, *sorted(draw(role_ids))]]
    categories = [channel(100 + index, *draw(overwrites()), category=True) for index in range(draw(st.integers(0, 2)))]
    parents = st.sampled_from([None, *(category.id for category in categories)])
    others = [
        channel(200 + index, *draw(overwrites()), parent_id=draw(parents)) for index in range(draw(st.integers(1, 4)))
    ]
    members = [Member(GUILD, user_id, 0, role_ids=draw(role_ids)) for user_id in (ALICE, BOB)]
    return state_of(roles, [*categories, *others], members)


def by_the_book(state: GuildState, user_id: int, channel_id: int | None) -> int:
    """Wire facts 4.3 again, one bit at a time."""
    member = state.member(user_id)
    assert member is not None
    if user_id == OWNER:
        return FULL_MASK
    held = [state.roles[role_id] for role_id in member.role_ids if role_id in state.roles]
    held.append(state.roles[EVERYONE])
    if any(granted.permissions & ADMINISTRATOR for granted in held):
        return FULL_MASK
    found = {} if channel_id is None else {entry.target_id: entry for entry in state.channels[channel_id].overwrites}
    result = 0
    for bit in (1 << position for position in range(64)):
        has = any(granted.permissions & bit for granted in held)
        everyone = found.get(EVERYONE)
        if everyone is not None:
            has = bool(everyone.allow & bit) or (has and not everyone.deny & bit)
        by_role = [found[role_id] for role_id in member.role_ids if role_id in found]
        if any(entry.deny & bit for entry in by_role):
            has = False
        if any(entry.allow & bit for entry in by_role):
            has = True
        own = found.get(user_id)
        if own is not None:
            has = bool(own.allow & bit) or (has and not own.deny & bit)
        result |= bit if has else 0
    return result


@given(guilds(), user_ids)
def test_masks_and_visibility_agree_with_the_book(state: GuildState, user_id: int) -> None:
    assert state.permissions(user_id) == by_the_book(state, user_id, None)
    seen = set()
    for channel_id, known in state.channels.items():
        mask = by_the_book(state, user_id, channel_id)
        assert state.permissions(user_id, channel_id) == mask
        if mask & VIEW:
            seen.update({channel_id, known.parent_id} - {None})
    assert state.visible_channels(user_id) == seen
    for channel_id in state.channels:
        assert state.can_view(user_id, channel_id) == (channel_id in seen)


@given(guilds(), user_ids, st.sampled_from([VIEW, SEND, MANAGE]))
def test_another_role_with_a_bit_never_takes_the_bit_away_in_the_guild(
    state: GuildState, user_id: int, bit: int
) -> None:
    before = state.permissions(user_id)
    member = state.member(user_id)
    assert member is not None
    state.put_role(role(7, bit))
    state.put_member(member._replace(role_ids=member.role_ids | {7}))
    after = state.permissions(user_id)
    assert after & before == before
    assert after & bit == bit


@given(guilds(), user_ids, overwrites())
def test_what_was_kept_is_thrown_away_with_every_change(
    state: GuildState, user_id: int, changed: list[Overwrite]
) -> None:
    for channel_id in list(state.channels):
        state.permissions(user_id, channel_id)
        state.visible_channels(user_id)
        state.put_channel(attrs.evolve(state.channels[channel_id], overwrites=tuple(changed)))
        assert state.permissions(user_id, channel_id) == by_the_book(state, user_id, channel_id)
    state.put_role(role(EVERYONE, VIEW))
    assert state.permissions(user_id) == by_the_book(state, user_id, None)
    state.put_guild(attrs.evolve(state.guild, owner_id=user_id))
    assert state.permissions(user_id) == FULL_MASK
