"""What readers of messages send: emojis of reactions, acknowledgements, lists of mentions and of what is kept
(messages.md, Message object)."""

from __future__ import annotations

from typing import Any, Final

from hypothesis import strategies as st

from chat.registries.unicode_emojis import PRESENTATION, all_emojis, fully_qualified
from chat.testing.strategies.values import all_but, invalid_snowflakes, names, snowflakes

Body = dict[str, Any]

MENTION_COUNTS: Final = st.integers(0, (1 << 31) - 1)
NO_MENTION_COUNTS: Final = st.sampled_from([-1, 1 << 31, 1.5, "1", True, []])
NO_TRUTH: Final = st.sampled_from(["yes", 1, [], {"a": 1}])


def reaction_emojis() -> st.SearchStrategy[str]:
    """Unicode emojis as a reaction's path has them, before it is encoded, with or without presentation selectors."""
    whole = st.deferred(lambda: st.sampled_from(all_emojis()))
    return whole | whole.map(lambda emoji: emoji.replace(PRESENTATION, ""))


def invalid_reaction_emojis() -> st.SearchStrategy[str]:
    """What nobody reacts with, refused with INVALID_FORM_BODY; no path segment is empty or a dot."""
    malformed = st.sampled_from(
        ["wave:", ":1", "wave:01", "wave:x", "a:b:c:1", "wave:9223372036854775808", "<:wave:1>"]
    )
    texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="/\\"), min_size=1, max_size=20)
    return malformed | texts.filter(
        lambda text: text not in {".", "..", "@me"} and fully_qualified(text) is None
    ).filter(lambda text: ":" not in text)


def acknowledgements() -> st.SearchStrategy[Body]:
    """POST /v1/channels/{channel_id}/messages/{message_id}/ack."""
    return st.fixed_dictionaries(
        {}, optional={"mention_count": MENTION_COUNTS | st.none(), "manual": st.booleans() | st.none()}
    )


def invalid_acknowledgements() -> st.SearchStrategy[Any]:
    """The same, refused with INVALID_FORM_BODY."""
    return st.one_of(
        all_but(dict).filter(bool),
        _broken(acknowledgements(), "mention_count", NO_MENTION_COUNTS),
        _broken(acknowledgements(), "manual", NO_TRUTH),
    )


def channel_acknowledgements(channel_ids: st.SearchStrategy[str] | None = None) -> st.SearchStrategy[Body]:
    """POST /v1/read-states/ack; of any channels, unless some are given."""
    entry = st.builds(
        lambda body, channel_id, message_id: {**body, "channel_id": channel_id, "message_id": message_id},
        acknowledgements(),
        snowflakes() if channel_ids is None else channel_ids,
        snowflakes(),
    )
    return st.fixed_dictionaries({"read_states": st.lists(entry, min_size=1, max_size=5)})


def invalid_channel_acknowledgements() -> st.SearchStrategy[Any]:
    """The same, refused with INVALID_FORM_BODY."""
    whole = st.just({"channel_id": "1", "message_id": "1"})
    entry = st.one_of(
        _broken(whole, "channel_id", invalid_snowflakes()),
        _broken(whole, "message_id", invalid_snowflakes()),
        _broken(whole, "mention_count", NO_MENTION_COUNTS),
        _broken(whole, "manual", NO_TRUTH),
        st.sampled_from([{"channel_id": "1"}, {"message_id": "1"}]),
    )
    return st.one_of(
        all_but(dict),
        st.just({}),
        st.builds(lambda wrong: {"read_states": wrong}, all_but(list) | st.just([]) | st.lists(entry, min_size=1)),
        st.just({"read_states": [{"channel_id": "1", "message_id": "1"}] * 101}),
    )


def mention_queries() -> st.SearchStrategy[dict[str, str]]:
    """The query of GET /v1/users/@me/mentions."""
    truth = st.sampled_from(["true", "false", "1", "0"])
    return st.fixed_dictionaries(
        {},
        optional={
            "limit": st.integers(1, 100).map(str),
            "before": snowflakes(),
            "roles": truth,
            "everyone": truth,
            "guilds": truth,
            "guild_id": snowflakes(),
        },
    )


def invalid_saved_messages() -> st.SearchStrategy[Any]:
    """POST /v1/users/@me/saved-messages, refused with INVALID_FORM_BODY."""
    whole = st.just({"channel_id": "1", "message_id": "1"})
    return st.one_of(
        all_but(dict),
        st.sampled_from([{}, {"channel_id": "1"}, {"message_id": "1"}]),
        _broken(whole, "channel_id", invalid_snowflakes()),
        _broken(whole, "message_id", invalid_snowflakes()),
    )


def meme_words() -> st.SearchStrategy[Body]:
    """What is said of a favourite meme, as PATCH /v1/users/@me/memes/{meme_id} takes it."""
    return st.fixed_dictionaries(
        {},
        optional={
            "name": names(1, 100),
            "alt_text": names(1, 200) | st.none(),
            "tags": st.lists(names(1, 30), max_size=10) | st.none(),
        },
    )


def invalid_meme_words() -> st.SearchStrategy[Any]:
    """The same, refused with INVALID_FORM_BODY."""
    return st.one_of(
        all_but(dict).filter(bool),
        _broken(meme_words(), "name", st.sampled_from(["x" * 101, 1, ["x"]])),
        _broken(meme_words(), "alt_text", st.sampled_from(["x" * 501, 1, ["x"]])),
        _broken(meme_words(), "tags", st.sampled_from([["x"] * 11, ["x" * 31], "x", 1, [1], [["x"]]])),
    )


def _broken(bodies: st.SearchStrategy[Body], member: str, values: st.SearchStrategy[Any]) -> st.SearchStrategy[Body]:
    return st.builds(lambda body, value: {**body, member: value}, bodies, values)
