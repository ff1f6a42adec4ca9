"""Requests for members, watched guilds and counts (wire facts 1.3, opcodes 8, 14, 15 and 16)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.protocol.requests import (
    ChannelMemberCountsRequest,
    ForumUnreadsRequest,
    GuildCountsRequest,
    GuildSubscription,
    MemberRequest,
    parse_channel_member_counts,
    parse_forum_unreads,
    parse_guild_counts,
    parse_lazy_request,
    parse_member_request,
)

NOT_IDS: list[Any] = [None, "", "x", "-1", "0", 0, -1, True, 1.5, [], {}, "9223372036854775808"]


def ids(count: int) -> list[str]:
    return [str(number) for number in range(1, count + 1)]


# Members


def requested(*, is_bot: bool = False, **members: Any) -> MemberRequest:
    request = parse_member_request({"guild_id": "1", **members}, is_bot)
    assert request is not None
    return request


def test_the_least_request_asks_for_the_whole_list() -> None:
    request = requested()
    assert request == MemberRequest((1,), query="", limit=0, user_ids=(), presences=False, nonce=None)
    assert request.whole_list


def test_several_guilds_win_over_one_and_collapse() -> None:
    assert requested(guild_ids=["3", 4, "3"]).guild_ids == (3, 4)
    assert requested(guild_ids=[]).guild_ids == (1,)


@pytest.mark.parametrize("wrong", NOT_IDS)
def test_an_invalid_id_abandons_all(wrong: Any) -> None:
    assert parse_member_request({"guild_id": wrong}, False) is None
    assert parse_member_request({"guild_id": "1", "guild_ids": ["1", wrong]}, False) is None
    assert parse_member_request({"guild_id": "1", "user_ids": ["1", wrong]}, False) is None


@pytest.mark.parametrize("d", [None, [], "1", 1, True, {}])
def test_a_request_without_a_guild_is_abandoned(d: Any) -> None:
    assert parse_member_request(d, False) is None


def test_a_bot_may_name_one_guild_only() -> None:
    assert parse_member_request({"guild_ids": ["1", "2"]}, is_bot=True) is None
    assert parse_member_request({"guild_ids": ["1", "1"]}, is_bot=True) is not None
    assert parse_member_request({"guild_ids": ["1", "2"]}, is_bot=False) is not None


@pytest.mark.parametrize(
    ("query", "limit", "effective"),
    [
        ("", 0, 0),
        ("", 5, 5),
        ("a", 0, 25),
        ("a", None, 25),
        ("a", 5, 5),
        ("a", 101, 100),
        ("", 1_000, 100),
        ("a", -3, 25),
        ("", -3, 0),
        ("a", "5", 25),
        ("a", True, 25),
        ("a", 5.0, 5),
        ("a", 5.5, 25),
    ],
)
def test_the_limit_is_clamped_and_a_query_has_one(query: str, limit: Any, effective: int) -> None:
    request = requested(query=query, limit=limit)
    assert request.limit == effective
    assert request.whole_list is (query == "" and effective == 0)


@pytest.mark.parametrize("query", [None, 1, True, []])
def test_a_query_that_is_no_text_is_none(query: Any) -> None:
    assert requested(query=query).query == ""


def test_a_hundred_members_may_be_named() -> None:
    assert len(requested(user_ids=ids(100)).user_ids) == 100
    assert not requested(user_ids=ids(1)).whole_list
    assert parse_member_request({"guild_id": "1", "user_ids": ids(101)}, False) is None
    assert requested(user_ids=None).whole_list


def test_a_nonce_is_echoed_for_a_single_guild_when_it_is_short() -> None:
    assert requested(nonce="n").nonce == "n"
    assert requested(nonce="n" * 32).nonce == "n" * 32
    assert requested(nonce="n" * 33).nonce is None
    assert requested(nonce="é" * 17).nonce is None
    assert requested(nonce="").nonce is None
    assert requested(nonce=5).nonce is None
    assert requested(nonce="n", guild_ids=["1", "2"]).nonce is None


def test_presences_only_when_true() -> None:
    assert requested(presences=True).presences
    assert not requested(presences="true").presences


# Watched guilds


def subscribed(**members: Any) -> GuildSubscription:
    request = parse_lazy_request({"subscriptions": {"7": members}})
    assert request is not None
    (subscription,) = request.subscriptions
    return subscription


def test_a_subscription_that_says_nothing_changes_nothing() -> None:
    assert subscribed() == GuildSubscription(7)


def test_every_member_of_a_subscription() -> None:
    assert subscribed(
        active=True,
        sync=False,
        typing=True,
        threads=False,
        members=["1", "2", "1"],
        thread_member_lists=["9"],
        member_list_channels={"3": [[0, 99], [100, 199]], "4": []},
    ) == GuildSubscription(7, True, False, {3: ((0, 99), (100, 199)), 4: ()}, (1, 2), True, False, (9,))


@pytest.mark.parametrize("wrong", [1, "true", [], {}])
def test_active_or_sync_of_a_wrong_type_abandons_the_rest(wrong: Any) -> None:
    assert subscribed(active=wrong, sync=True, typing=True) == GuildSubscription(7)
    assert subscribed(active=True, sync=wrong, typing=True) == GuildSubscription(7, active=True)


@pytest.mark.parametrize(
    "ranges",
    [
        *([[0, 100]], [[5, 4]], [[-1, 5]], [[99_950, 100_001]], [[0]], [[0, 1, 2]], [[0, "1"]], [[True, 1]], [0, 1]),
        *([[0.5, 1]], {}, "x", None, [[0, 1]] * 11, [[0, 1], None]),
    ],
)
def test_ranges_out_of_bounds_leave_their_channel_out(ranges: Any) -> None:
    assert subscribed(member_list_channels={"3": ranges, "4": [[0, 1]]}).member_list_channels == {4: ((0, 1),)}


def test_ranges_at_the_bounds() -> None:
    ranges = [[99_901, 100_000]] * 10
    assert subscribed(member_list_channels={"3": ranges}).member_list_channels == {3: ((99_901, 100_000),) * 10}


def test_too_many_names_are_no_names() -> None:
    assert len(subscribed(members=ids(1_000)).members or ()) == 1_000
    assert subscribed(members=ids(1_001)).members is None
    assert subscribed(thread_member_lists=ids(11)).thread_member_lists is None
    assert subscribed(members=[]).members == ()


def test_entries_that_name_no_guild_are_passed_over() -> None:
    request = parse_lazy_request({"subscriptions": {"x": {}, "0": {}, "8": None, "9": {"active": True}}})
    assert request is not None
    assert request.subscriptions == (GuildSubscription(9, active=True),)


@pytest.mark.parametrize("d", [None, [], {}, {"subscriptions": None}, {"subscriptions": []}])
def test_a_lazy_request_without_subscriptions_is_dropped(d: Any) -> None:
    assert parse_lazy_request(d) is None


# Counts


def test_guild_counts() -> None:
    assert parse_guild_counts({"guild_ids": ["1", "2", "1"], "nonce": "n"}) == GuildCountsRequest((1, 2), "n")
    assert parse_guild_counts({"guild_ids": ids(100)}) is not None
    assert parse_guild_counts({"guild_ids": ids(101)}) is None
    assert parse_guild_counts({"guild_ids": ["1"], "nonce": "n" * 65}) == GuildCountsRequest((1,), None)


@pytest.mark.parametrize("d", [None, [], {}, {"guild_ids": None}, {"guild_ids": "1"}, {"guild_ids": ["x"]}])
def test_guild_counts_of_nothing_are_dropped(d: Any) -> None:
    assert parse_guild_counts(d) is None


def test_channel_member_counts() -> None:
    assert parse_channel_member_counts(
        {"guild_id": "1", "channel_ids": ["2", 3], "nonce": "n"}
    ) == ChannelMemberCountsRequest(1, (2, 3), "n")
    assert parse_channel_member_counts({"guild_id": "1", "channel_id": "2"}) == ChannelMemberCountsRequest(
        1, (2,), None
    )
    assert parse_channel_member_counts({"guild_id": "1", "channel_ids": ids(25)}) is not None
    assert parse_channel_member_counts({"guild_id": "1", "channel_ids": ids(26)}) is None


@pytest.mark.parametrize(
    "d", [None, [], {}, {"guild_id": "1"}, {"channel_id": "2"}, {"guild_id": "x", "channel_id": "2"}]
)
def test_channel_member_counts_of_nothing_are_dropped(d: Any) -> None:
    assert parse_channel_member_counts(d) is None


# Forum unreads


def test_forum_unreads() -> None:
    threads = [{"thread_id": "3", "ack_message_id": "4"}, {"thread_id": 5}, {"thread_id": "6", "ack_message_id": "x"}]
    assert parse_forum_unreads({"guild_id": "1", "channel_id": "2", "threads": threads}) == ForumUnreadsRequest(
        1, 2, ((3, 4), (5, None), (6, None))
    )
    forty = [{"thread_id": name} for name in ids(40)]
    assert parse_forum_unreads({"guild_id": "1", "channel_id": "2", "threads": forty}) is not None
    assert parse_forum_unreads({"guild_id": "1", "channel_id": "2", "threads": [*forty, forty[0]]}) is None


@pytest.mark.parametrize(
    "spoilt",
    [{"guild_id": "x"}, {"channel_id": None}, {"threads": None}, {"threads": ["3"]}, {"threads": [{"thread_id": "x"}]}],
)
def test_forum_unreads_of_nothing_are_dropped(spoilt: dict[str, Any]) -> None:
    assert parse_forum_unreads({"guild_id": "1", "channel_id": "2", "threads": [], **spoilt}) is None


def test_forum_unreads_that_are_no_object_are_dropped() -> None:
    assert parse_forum_unreads([]) is None


# Whatever comes

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=3), children, max_size=3),
    max_leaves=6,
)
MEMBERS = st.sampled_from(
    ["guild_id", "guild_ids", "channel_id", "channel_ids", "user_ids", "query", "limit", "nonce", "subscriptions"]
)
SUBSCRIPTIONS = st.dictionaries(
    st.sampled_from(["1", "2", "x"]),
    st.dictionaries(
        st.sampled_from(["active", "sync", "member_list_channels", "members", "typing", "thread_member_lists"]), JSON
    )
    | JSON,
)


@given(JSON | st.dictionaries(MEMBERS, JSON), SUBSCRIPTIONS, st.booleans())
def test_nothing_raises(d: Any, subscriptions: dict[str, Any], is_bot: bool) -> None:
    request = parse_member_request(d, is_bot)
    assert request is None or 0 <= request.limit <= 100
    assert parse_lazy_request({"subscriptions": subscriptions}) is not None
    parse_lazy_request(d)
    parse_guild_counts(d)
    parse_channel_member_counts(d)
    parse_forum_unreads(d)
