"""Request bodies of threads, posts and forums, valid and invalid (threads.md, Thread object)."""

from __future__ import annotations

from typing import Any, Final

from hypothesis import strategies as st

from chat.testing.strategies.values import all_but, invalid_snowflakes, is_there, names

Body = dict[str, Any]

ARCHIVE_MINUTES: Final = st.sampled_from([60, 1_440, 4_320, 10_080])
SLOWMODES: Final = st.integers(0, 21_600)
WRONG_MINUTES: Final = st.sampled_from([0, 61, -60, 60.5, "60", True])
WRONG_SLOWMODES: Final = st.sampled_from([-1, 21_601, 1.5, "5", False])
NO_BOOLEANS: Final = all_but(bool, type(None)).filter(is_there)
WRONG_NAMES: Final = all_but(str) | st.just("x" * 101) | st.just("")


def thread_starts() -> st.SearchStrategy[Body]:
    """POST /v1/channels/{channel_id}/threads in a text channel."""
    return st.fixed_dictionaries(
        {"name": names(1, 100)},
        optional={
            "type": st.sampled_from([11, 12, None]),
            "auto_archive_duration": ARCHIVE_MINUTES | st.none(),
            "rate_limit_per_user": SLOWMODES | st.none(),
            "invitable": st.booleans(),
        },
    )


def invalid_thread_starts() -> st.SearchStrategy[Any]:
    """What is no thread."""
    return _with_one_wrong(
        {"name": "aside"},
        {
            "name": WRONG_NAMES,
            "type": st.sampled_from([0, 5, 15, -1, "11", 11.5, True]),
            "auto_archive_duration": WRONG_MINUTES,
            "rate_limit_per_user": WRONG_SLOWMODES,
            "invitable": NO_BOOLEANS,
        },
    )


def posts() -> st.SearchStrategy[Body]:
    """POST /v1/channels/{channel_id}/threads in a forum that asks for no tags."""
    message = st.fixed_dictionaries({"content": names(1, 100)}, optional={"flags": st.sampled_from([0, 1 << 2])})
    return st.fixed_dictionaries(
        {"name": names(1, 100), "message": message},
        optional={
            "applied_tags": st.just([]) | st.none(),
            "auto_archive_duration": ARCHIVE_MINUTES,
            "rate_limit_per_user": SLOWMODES,
        },
    )


def invalid_posts() -> st.SearchStrategy[Any]:
    """What is no post."""
    wrong_tags = st.lists(invalid_snowflakes(), min_size=1, max_size=2)
    return _with_one_wrong(
        {"name": "a post", "message": {"content": "x"}},
        {
            "name": WRONG_NAMES,
            "message": all_but(dict) | st.just({"content": "x" * 4_001}) | st.just({"content": 5}),
            "applied_tags": wrong_tags
            | all_but(list, type(None)).filter(is_there)
            | st.just([str(tag) for tag in range(1, 7)]),
            "auto_archive_duration": WRONG_MINUTES,
        },
    )


def thread_changes() -> st.SearchStrategy[Body]:
    """PATCH /v1/channels/{channel_id} of an active thread, by a moderator; whether it is archived is left alone."""
    return st.fixed_dictionaries(
        {},
        optional={
            "name": names(1, 100),
            "locked": st.booleans(),
            "auto_archive_duration": ARCHIVE_MINUTES,
            "rate_limit_per_user": SLOWMODES,
            "invitable": st.booleans(),
            "archived": st.just(False),
        },
    )


def invalid_thread_changes() -> st.SearchStrategy[Any]:
    """What no thread can become."""
    return _with_one_wrong(
        {},
        {
            "name": all_but(str) | st.just("x" * 101),
            "locked": NO_BOOLEANS,
            "archived": NO_BOOLEANS,
            "auto_archive_duration": WRONG_MINUTES,
            "rate_limit_per_user": WRONG_SLOWMODES,
            "flags": st.sampled_from([-1, 1 << 31, "2", 2.5, True]),
        },
    )


def forum_fields() -> st.SearchStrategy[Body]:
    """PATCH /v1/channels/{channel_id} of a forum: what only forums have."""
    tag = st.fixed_dictionaries(
        {"name": names(1, 20)},
        optional={"moderated": st.booleans(), "emoji_name": st.sampled_from(["\N{SNOWMAN}", "\N{CAT}"])},
    )
    return st.fixed_dictionaries(
        {},
        optional={
            "available_tags": st.lists(tag, max_size=6, unique_by=lambda made: str(made["name"]).strip().casefold()),
            "default_reaction_emoji": st.none() | st.just({"emoji_name": "\N{SNOWMAN}"}),
            "default_sort_order": st.sampled_from([0, 1, None]),
            "default_forum_layout": st.sampled_from([0, 1, 2, None]),
            "default_tag_setting": st.sampled_from(["match_all", "match_some", None]),
            "default_auto_archive_duration": ARCHIVE_MINUTES | st.none(),
            "default_thread_rate_limit_per_user": SLOWMODES | st.none(),
        },
    )


def invalid_forum_fields() -> st.SearchStrategy[Any]:
    """What no forum can have."""
    return _with_one_wrong(
        {},
        {
            "available_tags": st.sampled_from(
                [[{"name": ""}], [{"name": "x" * 21}], [{"name": "x"}, {"name": "X"}], [{}], ["x"], {"name": "x"}]
            ),
            "default_reaction_emoji": st.sampled_from([{"emoji_id": "x"}, {"emoji_id": "5"}, "x", 5]),
            "default_sort_order": st.sampled_from([2, -1, "0", 0.5]),
            "default_forum_layout": st.sampled_from([3, -1, "0", 0.5]),
            "default_tag_setting": st.sampled_from(["match_none", 0, True]),
            "default_auto_archive_duration": WRONG_MINUTES,
            "default_thread_rate_limit_per_user": WRONG_SLOWMODES,
        },
    )


def _with_one_wrong(body: Body, wrong: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[Any]:
    """The body with one member that cannot be."""
    return st.one_of(
        *(values.map(lambda value, name=name: {**body, name: value}) for name, values in wrong.items())  # type: ignore[misc]
    )
