"""The beginning of a member list as the store gives it, against a plain computation of each member."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.domain.guilds import member_lists
from chat.domain.guilds.member_lists import Group, MemberListBuilder, count_viewers, first_members
from chat.registries.channel_types import OverwriteType
from chat.registries.permissions import Permission
from chat.store.connections import connect
from chat.store.data_directory import DataDirectory
from chat.store.guilds.channels import Channel, Overwrite
from chat.store.guilds.guilds import Guild
from chat.store.guilds.roles import Role

GUILD, CHANNEL, OWNER = 1, 90, 100
VIEW, ADMINISTRATOR = Permission.VIEW_CHANNEL.value, Permission.ADMINISTRATOR.value
ROLE_IDS = range(20, 24)
NAMES = ("anna", "Émile", "émile", "STRASSE", "straße", "zoë", "0x")


@attrs.frozen
class Person:
    name: str
    role_ids: frozenset[int]
    is_online: bool


def drawn_people(chance: random.Random) -> dict[int, Person]:
    def person() -> Person:
        role_ids = frozenset(chance.sample(ROLE_IDS, chance.choice((0, 1, 1, 2, 3))))
        return Person(chance.choice(NAMES), role_ids, chance.random() < 0.3)

    return {OWNER + number: person() for number in range(20)}


def drawn_state(chance: random.Random) -> Any:
    """As much of a guild's state as a member list looks at."""

    def mask() -> int:
        return chance.choice((0, 0, 0, VIEW, ADMINISTRATOR))

    def overwrite(target_id: int, kind: OverwriteType) -> Overwrite:
        return Overwrite(target_id, kind, *chance.choice(((0, VIEW), (0, VIEW), (VIEW, 0), (VIEW, VIEW), (0, 0))))

    everyone = Role(GUILD, GUILD, "@everyone", 0, chance.choice((0, VIEW, VIEW, ADMINISTRATOR)))
    roles = [Role(role_id, GUILD, "role", role_id, mask(), hoist=chance.random() < 0.5) for role_id in ROLE_IDS]
    targets = chance.sample((GUILD, *ROLE_IDS), chance.randrange(4))
    members = chance.sample(range(OWNER, OWNER + 22), chance.randrange(4))
    overwrites = [overwrite(target_id, OverwriteType.ROLE) for target_id in targets]
    overwrites += [overwrite(user_id, OverwriteType.MEMBER) for user_id in members]
    return SimpleNamespace(
        id=GUILD,
        guild=Guild(GUILD, OWNER, "Harbour", 0),
        roles={role.id: role for role in (everyone, *roles)},
        channels={CHANNEL: Channel(CHANNEL, GUILD, 0, overwrites=tuple(overwrites))},
    )


def sees(state: Any, user_id: int, role_ids: frozenset[int]) -> bool:
    """The steps of permissions.md, Computation, for one bit."""
    if user_id == OWNER:
        return True
    mask = state.roles[GUILD].permissions
    for role_id in role_ids:
        mask |= state.roles[role_id].permissions
    if mask & ADMINISTRATOR:
        return True
    seen = bool(mask & VIEW)
    entries = {(entry.type, entry.target_id): entry for entry in state.channels[CHANNEL].overwrites}
    everyone = entries.get((OverwriteType.ROLE, GUILD))
    own = [entries[OverwriteType.ROLE, role_id] for role_id in role_ids if (OverwriteType.ROLE, role_id) in entries]
    member = entries.get((OverwriteType.MEMBER, user_id))
    for step in ([everyone] if everyone else [], own, [member] if member else []):
        if any(entry.deny & VIEW for entry in step):
            seen = False
        if any(entry.allow & VIEW for entry in step):
            seen = True
    return seen


def expected_rows(state: Any, people: dict[int, Person]) -> list[Group | int]:
    """The whole list, member by member."""
    groups: dict[str, list[int]] = {}
    hoisted = sorted((role for role in state.roles.values() if role.hoist), key=lambda role: -role.position)
    order = [*(str(role.id) for role in hoisted), "online", "offline"]
    for user_id, person in sorted(people.items(), key=lambda item: (item[1].name.casefold(), item[0])):
        if sees(state, user_id, person.role_ids):
            held = [str(role.id) for role in hoisted if role.id in person.role_ids]
            group = [*held, "online"][0] if person.is_online else "offline"
            groups.setdefault(group, []).append(user_id)
    return [row for name in order if name in groups for row in (Group(name, len(groups[name])), *groups[name])]


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    directory = DataDirectory(Path(tmp_path_factory.mktemp("viewers")))
    directory.bring_database_up_to_date()
    opened = connect(directory.database)
    opened.execute("PRAGMA foreign_keys = OFF")  # a list looks at members, their roles and accounts
    yield opened
    opened.close()


def write(connection: sqlite3.Connection, people: dict[int, Person]) -> None:
    for user_id, person in people.items():
        connection.execute(
            "INSERT INTO users (id, username, username_key, discriminator, created_at) VALUES (?, ?, ?, ?, 0)",
            (user_id, person.name, person.name.casefold(), user_id),
        )
        connection.execute("INSERT INTO members (guild_id, user_id, joined_at) VALUES (?, ?, 0)", (GUILD, user_id))
        rows = [(GUILD, user_id, role_id) for role_id in person.role_ids]
        connection.executemany("INSERT INTO member_roles VALUES (?, ?, ?)", rows)


@settings(max_examples=300)
@given(seed=st.integers(0, 1 << 32), limit=st.integers(1, 22), maximum=st.integers(1, 22))
def test_the_beginning_of_a_list_is_that_of_a_plain_computation(
    connection: sqlite3.Connection, seed: int, limit: int, maximum: int
) -> None:
    chance = random.Random(seed)
    people, state = drawn_people(chance), drawn_state(chance)
    builder = MemberListBuilder(state, CHANNEL)
    online = [user_id for user_id, person in people.items() if person.is_online]
    connection.execute("BEGIN")
    try:
        write(connection, people)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(member_lists, "MEMBERS_FULL_LIST_MAXIMUM", maximum)
            found, others, further = first_members(builder.viewers, len(people), online, limit, connection)
            counts = count_viewers(builder.viewers, len(people), online, connection)
    finally:
        connection.execute("ROLLBACK")
    for member in found:
        builder.add(member.user_id, member.role_ids, is_online=True)
    builder.add_offline(others)
    listed = builder.finish(further)
    rows = expected_rows(state, dict(list(people.items())[:maximum]))
    assert counts == (listed.member_count, listed.online_count)
    assert listed.groups == tuple(row for row in rows if isinstance(row, Group))
    assert listed.rows(0, 99) == rows[: listed.rows_known]
    assert listed.rows_known >= min(len(rows), limit)


def test_the_beginning_costs_the_same_in_a_guild_of_any_size(connection: sqlite3.Connection) -> None:
    """In steps of SQLite's machine, where all members see the channel."""
    everyone = Role(GUILD, GUILD, "@everyone", 0, VIEW)
    state: Any = SimpleNamespace(
        id=GUILD,
        guild=Guild(GUILD, OWNER, "Harbour", 0),
        roles={GUILD: everyone},
        channels={CHANNEL: Channel(CHANNEL, GUILD, 0)},
    )
    costs = []
    for count in (40, 800):
        steps: list[None] = []
        connection.execute("BEGIN")
        write(connection, {OWNER + number: Person(f"p{number}", frozenset(), False) for number in range(count)})
        connection.set_progress_handler(lambda steps=steps: steps.append(None), 1)  # type: ignore[misc]
        _, others, further = first_members(MemberListBuilder(state, CHANNEL).viewers, count, [], 30, connection)
        connection.set_progress_handler(None, 0)
        connection.execute("ROLLBACK")
        assert (len(others), further) == (30, count - 30)
        costs.append(len(steps))
    assert costs[0] == costs[1]
