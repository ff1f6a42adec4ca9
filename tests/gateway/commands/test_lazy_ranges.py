"""The ranges and threads that clients name: what is taken and what abandons the rest."""

from __future__ import annotations

from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from chat.protocol.requests import parse_forum_unreads, parse_lazy_request

GUILD, CHANNEL = 5, 7

positions = st.one_of(st.integers(-2, 120), st.integers(99_890, 100_010))
numbers = st.one_of(positions, st.just(True), st.just(1.0), st.just(1.5), st.just("1"), st.none())
pairs = st.one_of(
    st.tuples(positions, positions).map(list),
    st.tuples(positions, st.integers(0, 99)).map(lambda pair: [pair[0], sum(pair)]),
    st.lists(numbers, max_size=3),
)


def is_range(value: Any) -> bool:
    """The facts, read aloud. A number without a fraction is an integer, however it is written."""
    if len(value) != 2 or any(type(number) not in (int, float) or number % 1 for number in value):
        return False
    start, end = value
    return start >= 0 and end <= 100_000 and 0 <= end - start <= 99


@given(st.lists(pairs, max_size=12))
@example([[0, 99]] * 10)
@example([[0, 99]] * 11)
@example([[0, 100]])
@example([[1.0, 1.0]])
@example([[1.5, 2]])
@example([[99_901, 100_000]])
@example([[99_902, 100_001]])
def test_at_most_ten_ranges_of_a_hundred_rows_are_taken_whole_or_not_at_all(ranges: list[Any]) -> None:
    request = parse_lazy_request(
        {"subscriptions": {str(GUILD): {"member_list_channels": {str(CHANNEL): ranges, "8": [[0, 0]]}}}}
    )
    assert request is not None
    (wanted,) = request.subscriptions
    assert wanted.member_list_channels is not None
    if len(ranges) <= 10 and all(is_range(value) for value in ranges):
        assert wanted.member_list_channels[CHANNEL] == tuple(tuple(value) for value in ranges)
    else:
        assert CHANNEL not in wanted.member_list_channels
    assert wanted.member_list_channels[8] == ((0, 0),)


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=3)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
    max_leaves=8,
)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "guild_id": st.one_of(st.just(str(GUILD)), json_values),
            "channel_id": st.one_of(st.just(str(CHANNEL)), json_values),
            "threads": st.one_of(
                st.lists(st.one_of(st.just({"thread_id": "9", "ack_message_id": "1"}), json_values), max_size=42),
                json_values,
            ),
        },
    )
)
@example({"guild_id": "5", "channel_id": 7, "threads": [{"thread_id": "9"}]})
@example({"guild_id": "5", "channel_id": 7, "threads": [{"thread_id": "9"}] * 40})
@example({"guild_id": "5", "channel_id": 7, "threads": [{"thread_id": "9"}] * 41})
def test_forum_unreads_name_at_most_forty_threads_each_with_an_id(d: dict[str, Any]) -> None:
    request = parse_forum_unreads(d)
    if request is None:
        return
    assert 1 <= request.guild_id < 2**63
    assert 1 <= request.channel_id < 2**63
    assert len(request.threads) == len(d["threads"]) <= 40
    assert all(thread_id > 0 for thread_id, _ in request.threads)


def test_a_thread_without_an_id_abandons_the_request() -> None:
    wish: dict[str, Any] = {"guild_id": "5", "channel_id": "7", "threads": [{"thread_id": "9", "ack_message_id": "x"}]}
    request = parse_forum_unreads(wish)
    assert request is not None
    assert request.threads == ((9, None),)
    assert parse_forum_unreads({**wish, "threads": [{"ack_message_id": "1"}]}) is None
