"""The end of a guild in Ready that is made for most accounts in a short way says what the long way says."""

from __future__ import annotations

import sqlite3

import orjson
from hypothesis import given
from hypothesis import strategies as st

from chat.clock import iso_timestamp
from chat.domain.standing.guild_json import guild_json, own_rest
from chat.domain.standing.guild_state import GuildState
from chat.store.guilds.guilds import Guild
from chat.store.guilds.members import Member
from tests.guilds.guild_world import HandClock

GUILD = 1
YEAR_3000_MS = 32_503_680_000_000

members = st.builds(
    Member,
    guild_id=st.just(GUILD),
    user_id=st.integers(2, 2**63 - 1),
    joined_at=st.integers(0, YEAR_3000_MS),
    nick=st.none() | st.sampled_from(("Bo", "100 %", "%d%%b", '"\\', "ü")),
    avatar=st.none() | st.just("a_0123"),
    banner=st.none() | st.just("4567"),
    accent_color=st.none() | st.integers(0, 0xFFFFFF),
    mute=st.booleans(),
    deaf=st.booleans(),
    communication_disabled_until=st.none(),
    profile_flags=st.integers(0, 3),
    mention_flags=st.integers(0, 3),
    join_source=st.none() | st.integers(0, 7),
    inviter_id=st.none() | st.integers(2, 9),
    bio=st.none() | st.just("here"),
    pronouns=st.none() | st.just("it"),
    role_ids=st.frozensets(st.integers(2, 2**63 - 1), max_size=4),
)
plain = members.map(lambda member: Member(GUILD, member.user_id, member.joined_at, role_ids=member.role_ids))


@given(member=plain | members, online_count=st.integers(0, 10**6))
def test_the_short_way_says_what_the_long_one_says(member: Member, online_count: int) -> None:
    guild = Guild(id=GUILD, owner_id=999, name="50 % off", created_at=0, member_count=3)
    state = GuildState(sqlite3.connect(":memory:"), HandClock(), guild, (), ())
    state.put_member(member)
    state.put_expressions(())
    afresh = guild_json(
        state,
        user_id=member.user_id,
        seen=frozenset(),
        threads=False,
        shown_threads=(),
        full_users=False,
        voice_states=(),
    )
    joined_at = iso_timestamp(member.joined_at).encode()
    assert own_rest(state, member, joined_at, online_count) == afresh.rest % (state.member_count, online_count)
    sent = orjson.loads(afresh.with_online_count(online_count))
    (own,) = sent["members"]
    assert (own["nick"], own["roles"]) == (member.nick, [str(role_id) for role_id in sorted(member.role_ids)])
    assert (sent["name"], sent["member_count"], sent["online_count"]) == ("50 % off", 3, online_count)
    assert sent["joined_at"] == own["joined_at"]
