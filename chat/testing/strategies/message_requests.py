"""Request bodies of those who write and read messages, valid and invalid (messages.md, Sending messages, Message
object)."""

from __future__ import annotations

from typing import Any, Final

from hypothesis import strategies as st

from chat.registries.unicode_emojis import PRESENTATION, all_emojis, fully_qualified
from chat.testing.strategies.values import (
    Body,
    all_but,
    broken,
    invalid_snowflakes,
    names,
    one_broken,
    snowflakes,
    timestamps,
    words,
    wrong_type,
)

WEB_ADDRESSES = st.sampled_from(["https://example.com/", "http://example.com:8080/a?b=c", "HTTPS://EXAMPLE.COM/x.png"])
NO_ADDRESSES = st.sampled_from(
    ["javascript:alert(1)", "file:///etc/passwd", "//example.com", "https://", "https://a b/", "http://[::1", "ftp://a"]
)


def message_bodies() -> st.SearchStrategy[Body]:
    """POST /v1/channels/{channel_id}/messages with text and no mention."""
    content = words(1, 400)
    return st.fixed_dictionaries(
        {"content": content, "allowed_mentions": st.just({"parse": []})},
        optional={"nonce": st.text("abc123", min_size=1, max_size=32), "tts": st.booleans(), "flags": st.just(0)},
    )


def invalid_message_bodies() -> st.SearchStrategy[Any]:
    """The same, refused with INVALID_FORM_BODY."""
    reference = st.fixed_dictionaries({"message_id": invalid_snowflakes()})
    return st.one_of(
        all_but(dict),
        broken(message_bodies(), "content", wrong_type(str, type(None)) | st.just("x" * 4_001)),
        broken(message_bodies(), "message_reference", wrong_type(dict, type(None)) | reference),
        broken(message_bodies(), "allowed_mentions", wrong_type(dict, type(None))),
    )


def embeds() -> st.SearchStrategy[Body]:
    """A rich embed in which something stands."""
    author = st.fixed_dictionaries({"name": names(1, 40)}, optional={"url": WEB_ADDRESSES, "icon_url": WEB_ADDRESSES})
    footer = st.fixed_dictionaries({"text": names(1, 40)}, optional={"icon_url": WEB_ADDRESSES})
    media = st.fixed_dictionaries({"url": WEB_ADDRESSES}, optional={"description": names(0, 40)})
    field = st.fixed_dictionaries(
        {"name": names(1, 20), "value": names(1, 20)}, optional={"inline": st.booleans() | st.none()}
    )
    return st.fixed_dictionaries(
        {"title": names(1, 40)},
        optional={
            "description": names(0, 100),
            "url": WEB_ADDRESSES | st.none(),
            "color": st.integers(0, 0xFFFFFF) | st.none(),
            "timestamp": timestamps(),
            "author": author,
            "footer": footer,
            "image": media | st.none(),
            "thumbnail": media,
            "fields": st.lists(field, max_size=4),
            "type": st.sampled_from(["rich", "video"]),
        },
    )


def invalid_embeds() -> st.SearchStrategy[Any]:
    """Objects that the server refuses as embeds."""
    wrong: dict[str, st.SearchStrategy[Any]] = {
        "title": all_but(str, type(None)) | st.just("x" * 257),
        "description": all_but(str, type(None)) | st.just("x" * 4_097),
        "url": NO_ADDRESSES,
        "color": st.sampled_from([-1, 1 << 24, 1.5, "red", True]),
        "timestamp": st.sampled_from(["yesterday", "2026-13-01T00:00:00Z", []]),
        "author": st.sampled_from([{"name": "x" * 257}, {"name": 7}, {"name": "x", "url": "data:,"}, ["x"]]),
        "footer": st.sampled_from([{"text": "x" * 2_049}, {"text": []}, "x"]),
        "image": NO_ADDRESSES.map(lambda url: {"url": url}),
        "fields": st.sampled_from([[{"name": "n"}], [{"name": "n", "value": "v"}] * 26, {"name": "n"}, ["x"]]),
    }
    return st.one_of(all_but(dict).filter(lambda value: value is not None and value != ""), one_broken(embeds(), wrong))


def rich_message_bodies() -> st.SearchStrategy[Body]:
    """POST /v1/channels/{channel_id}/messages with embeds, with or without text."""
    few = st.lists(embeds(), min_size=1, max_size=3)
    flags = st.sampled_from([0, 1 << 2, 1 << 12, 1 << 17, 1 << 40])
    return st.builds(
        lambda body, few, flags: {**body, "embeds": few, "flags": flags},
        message_bodies().map(lambda body: {name: value for name, value in body.items() if name != "nonce"})
        | st.just({}),
        few,
        flags,
    )


def invalid_rich_message_bodies() -> st.SearchStrategy[Any]:
    """The same, refused with INVALID_FORM_BODY."""
    mentions = st.sampled_from(
        [
            {"parse": ["all"]},
            {"parse": ["users"], "users": ["1"]},
            {"users": ["1"] * 101},
            {"roles": "1"},
            {"replied_user": "yes"},
        ]
    )
    wrong: list[st.SearchStrategy[Body]] = [
        st.lists(invalid_embeds(), min_size=1, max_size=2).map(lambda value: {"embeds": value}),
        st.just({"embeds": [{"title": "x"}] * 11}),
        mentions.map(lambda value: {"allowed_mentions": value}),
        st.sampled_from([-1, 1 << 53, "4", True]).map(lambda value: {"flags": value}),
        st.lists(snowflakes(), min_size=4, max_size=5).map(lambda value: {"sticker_ids": value}),
        invalid_snowflakes().filter(lambda value: value not in ("", None)).map(lambda value: {"sticker_ids": [value]}),
        st.sampled_from([{}, {"message_id": "1", "type": 2}, {"message_id": "1", "embed_indices": [-1]}]).map(
            lambda value: {"message_reference": value}
        ),
    ]
    return st.builds(lambda body, more: {**body, **more}, message_bodies(), st.one_of(wrong))


def message_edits() -> st.SearchStrategy[Body]:
    """PATCH /v1/channels/{channel_id}/messages/{message_id} by its author that leaves text."""
    return st.fixed_dictionaries(
        {},
        optional={
            "content": message_bodies().map(lambda body: body["content"]),
            "embeds": st.lists(embeds(), max_size=2) | st.none(),
            "flags": st.sampled_from([0, 4]) | st.none(),
            "allowed_mentions": st.just({"parse": []}),
            "attachments": st.just([]) | st.none(),
        },
    )


def invalid_message_edits() -> st.SearchStrategy[Any]:
    """The same, refused with INVALID_FORM_BODY."""
    return st.one_of(
        all_but(dict),
        (all_but(str, type(None)) | st.just("x" * 4_001)).map(lambda value: {"content": value}),
        st.lists(invalid_embeds(), min_size=1, max_size=2).map(lambda value: {"embeds": value}),
        st.sampled_from([-1, "4", True, 1.5]).map(lambda value: {"flags": value}),
        st.sampled_from(["x", {"id": "1"}, [{"id": "x"}], [{"id": "999999999999999999"}]]).map(
            lambda value: {"attachments": value}
        ),
    )


def bulk_deletions(message_ids: st.SearchStrategy[str] | None = None) -> st.SearchStrategy[Body]:
    """POST /v1/channels/{channel_id}/messages/bulk-delete under either name of the list."""
    ids = st.lists(snowflakes() if message_ids is None else message_ids, min_size=1, max_size=100)
    return st.builds(lambda name, value: {name: value}, st.sampled_from(["message_ids", "messages"]), ids)


def invalid_bulk_deletions() -> st.SearchStrategy[Any]:
    """The same, refused with INVALID_FORM_BODY."""
    return st.one_of(
        all_but(dict),
        st.sampled_from(
            [{}, {"message_ids": []}, {"message_ids": ["1"] * 101}, {"message_ids": "1"}, {"messages": {}}]
        ),
        invalid_snowflakes().map(lambda value: {"message_ids": [value]}),
    )


def purges() -> st.SearchStrategy[Body]:
    """POST /v1/channels/{channel_id}/messages/purge."""
    return st.fixed_dictionaries(
        {},
        optional={
            "limit": st.integers(1, 1_000),
            "before": snowflakes(),
            "after": snowflakes() | st.none(),
            "user_ids": st.lists(snowflakes(), max_size=3),
            "contains": names(1, 20),
            "has": st.lists(st.sampled_from(["attachment", "embed", "sticker", "link", "forward"]), max_size=5),
            "bots": st.booleans() | st.none(),
            "pinned": st.booleans(),
        },
    )


def invalid_purges() -> st.SearchStrategy[Any]:
    """The same, refused with INVALID_FORM_BODY."""
    wrong: dict[str, st.SearchStrategy[Any]] = {
        "limit": st.sampled_from([0, -1, 1_001, "many", 1.5, True]),
        "before": invalid_snowflakes().filter(lambda value: value not in ("", {})),
        "user_ids": st.sampled_from(["1", ["x"], ["1"] * 101]),
        "contains": st.sampled_from([7, "x" * 513, ["x"]]),
        "has": st.sampled_from([["teeth"], "link", [7]]),
        "bots": st.sampled_from(["yes", 1, []]),
        "pinned": st.sampled_from(["yes", 1, []]),
    }
    return st.one_of(all_but(dict), one_broken(purges(), wrong))


def message_windows(channel_ids: st.SearchStrategy[str]) -> st.SearchStrategy[Body]:
    """POST /v1/channels/messages/bulk."""
    cursor = st.one_of(
        st.just({}),
        st.builds(lambda name, at: {name: at}, st.sampled_from(["before", "after", "around"]), snowflakes()),
    )
    window = st.builds(
        lambda channel_id, limit, cursor: {"channel_id": channel_id, "limit": limit, **cursor},
        channel_ids,
        st.integers(1, 50),
        cursor,
    )
    return st.lists(window, min_size=1, max_size=5).map(lambda windows: {"requests": windows})


# Reading

MENTION_COUNTS: Final = st.integers(0, (1 << 31) - 1)
NO_MENTION_COUNTS: Final = st.sampled_from([-1, 1 << 31, 1.5, "1", True, []])
NO_TRUTH: Final = st.sampled_from(["yes", 1, [], {"a": 1}])


def reaction_emojis() -> st.SearchStrategy[str]:
    """Unicode emojis as a reaction's path has them, before it is encoded, with or without presentation selectors."""
    whole = st.deferred(lambda: st.sampled_from(all_emojis()))
    return whole | whole.map(lambda emoji: emoji.replace(PRESENTATION, ""))


def invalid_reaction_emojis() -> st.SearchStrategy[str]:
    """Texts that are no emoji, refused with INVALID_FORM_BODY; no path segment is empty or a dot."""
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
        broken(acknowledgements(), "mention_count", NO_MENTION_COUNTS),
        broken(acknowledgements(), "manual", NO_TRUTH),
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
        broken(whole, "channel_id", invalid_snowflakes()),
        broken(whole, "message_id", invalid_snowflakes()),
        broken(whole, "mention_count", NO_MENTION_COUNTS),
        broken(whole, "manual", NO_TRUTH),
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
        broken(whole, "channel_id", invalid_snowflakes()),
        broken(whole, "message_id", invalid_snowflakes()),
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
        broken(meme_words(), "name", st.sampled_from(["x" * 101, 1, ["x"]])),
        broken(meme_words(), "alt_text", st.sampled_from(["x" * 501, 1, ["x"]])),
        broken(meme_words(), "tags", st.sampled_from([["x"] * 11, ["x" * 31], "x", 1, [1], [["x"]]])),
    )
