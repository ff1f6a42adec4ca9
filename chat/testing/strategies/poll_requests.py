"""Polls that messages ask, and votes in them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from chat.testing.strategies.values import Body, all_but

WORDS = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S"]), min_size=1)


def poll_media() -> st.SearchStrategy[Body]:
    """An answer: words, an emoji, or both."""
    text = WORDS.filter(lambda value: len(value) <= 55)
    emoji = st.sampled_from([{"name": "\N{HEAVY BLACK HEART}"}, {"id": "1", "name": "shark"}, {"id": "1"}])
    return st.one_of(
        st.fixed_dictionaries({"text": text}, optional={"emoji": emoji}), st.fixed_dictionaries({"emoji": emoji})
    )


def polls() -> st.SearchStrategy[Body]:
    """The `poll` of a message."""
    return st.fixed_dictionaries(
        {
            "question": st.fixed_dictionaries({"text": WORDS.filter(lambda value: len(value) <= 300)}),
            "answers": st.lists(st.fixed_dictionaries({"poll_media": poll_media()}), min_size=1, max_size=10),
        },
        optional={
            "duration": st.integers(1, 768),
            "allow_multiselect": st.booleans(),
            "layout_type": st.just(1),
        },
    )


def invalid_polls() -> st.SearchStrategy[Any]:
    """The same, refused with INVALID_FORM_BODY."""
    changes: list[st.SearchStrategy[Body]] = [
        st.fixed_dictionaries(
            {"question": st.sampled_from([{}, {"text": ""}, {"text": " "}, {"text": "x" * 301}, "x"])}
        ),
        st.fixed_dictionaries(
            {
                "answers": st.sampled_from(
                    [
                        [],
                        [{}],
                        [{"poll_media": {}}],
                        [{"poll_media": {"text": " "}}],
                        [{"poll_media": {"text": "x" * 56}}],
                        [{"poll_media": {"emoji": {"name": "no emoji"}}}],
                        [{"poll_media": {"text": "x"}}] * 11,
                        "x",
                    ]
                )
            }
        ),
        st.fixed_dictionaries({"duration": st.sampled_from([0, -1, 769, 1.5, "x", 1 << 70])}),
        st.fixed_dictionaries({"layout_type": st.sampled_from([0, 2, "x"])}),
        st.fixed_dictionaries({"allow_multiselect": st.sampled_from([2, "x", []])}),
    ]
    broken = st.builds(lambda whole, change: {**whole, **change}, polls(), st.one_of(changes))
    return st.one_of(all_but(dict, type(None)), broken)


def votes(poll: Body) -> st.SearchStrategy[list[int]]:
    """Answers of a poll as a person may give them, none included."""
    numbers = [answer["answer_id"] for answer in poll["answers"]]
    most = len(numbers) if poll["allow_multiselect"] else 1
    return st.lists(st.sampled_from(numbers), max_size=most, unique=True)
