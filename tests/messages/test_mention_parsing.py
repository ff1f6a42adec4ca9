"""Whom a text names."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chat.domain.messages.links import LINKS_MAXIMUM, links_in
from chat.domain.messages.message_context import (
    MENTIONED_USERS,
    NO_MENTIONS,
    ParsedMentions,
    parse_mentions,
    without_emojis,
)
from chat.snowflake import MAXIMUM
from tests.growth import is_linear

CASES = {
    "": NO_MENTIONS,
    "hello": NO_MENTIONS,
    "<@1>": ParsedMentions(user_ids=(1,)),
    "<@!1>": ParsedMentions(user_ids=(1,)),
    "<@2> and <@1> and <@2>": ParsedMentions(user_ids=(2, 1)),
    "<@&3>": ParsedMentions(role_ids=(3,)),
    "<@1><@&3>": ParsedMentions(user_ids=(1,), role_ids=(3,)),
    "@everyone": ParsedMentions(everyone=True),
    "hey @here!": ParsedMentions(here=True),
    "@everyone @here": ParsedMentions(everyone=True, here=True),
    "@everyones": ParsedMentions(),
    "me@here.example": ParsedMentions(),
    "@Everyone": ParsedMentions(),
    "< @1>": ParsedMentions(),
    "<@1": ParsedMentions(),
    "<@a>": ParsedMentions(),
    "<@>": ParsedMentions(),
    "<@-1>": ParsedMentions(),
    "<@\u0661>": ParsedMentions(),
    f"<@{MAXIMUM}>": ParsedMentions(user_ids=(MAXIMUM,)),
    f"<@{MAXIMUM + 1}>": ParsedMentions(),
    "`<@1>` <@2>": ParsedMentions(user_ids=(2,)),
    "``<@1> ` <@2>`` <@3>": ParsedMentions(user_ids=(3,)),
    "```\n@everyone\n```": ParsedMentions(),
    "```<@1>": ParsedMentions(user_ids=(1,)),
    "`<@1>\n`": ParsedMentions(),
    "`<@1>": ParsedMentions(user_ids=(1,)),
    "``` <@1> ``` <@2> ```": ParsedMentions(user_ids=(2,)),
    "<#5> <#6> <#5>": ParsedMentions(channel_ids=(5, 6)),
    "<#x> <# 5>": ParsedMentions(),
    "<:wave:7><a:bow:8><:wave:7>": ParsedMentions(emoji_ids=(7, 8)),
    "<:w:7> <:wa ve:7> <b:wave:7> <:wave:>": ParsedMentions(),
    f"<:{'w' * 33}:7> <:{'w' * 32}:8>": ParsedMentions(emoji_ids=(8,)),
    f"<:wave:{MAXIMUM + 1}> <#{MAXIMUM + 1}>": ParsedMentions(),
    "`<:wave:7>` <:bow:8>": ParsedMentions(emoji_ids=(8,)),
}


@pytest.mark.parametrize("content", CASES)
def test_texts(content: str) -> None:
    assert parse_mentions(content) == CASES[content]


def test_only_so_many_are_mentions() -> None:
    content = "".join(f"<@{number}>" for number in range(1, 400))
    assert parse_mentions(content).user_ids == tuple(range(1, MENTIONED_USERS + 1))


SIGNS = "<@ <@! <@& <# <: <a: < : ab 1 23 > ` `` ``` @ @everyone @here x || https:// <http:// a.b/ ( )"
pieces = st.sampled_from([*SIGNS.split(), " ", "\n", "\\", "\u0661", "\U0001f44d"])


@given(st.lists(pieces).map("".join) | st.text())
def test_no_text_is_too_odd(content: str) -> None:
    parsed = parse_mentions(content)
    assert all(f"{user_id}>" in content for user_id in parsed.user_ids + parsed.role_ids)
    assert not parsed.everyone or "@everyone" in content
    assert not parsed.here or "@here" in content
    assert all(f"{channel_id}>" in content for channel_id in parsed.channel_ids + parsed.emoji_ids)
    assert without_emojis(content, ()) == content


@example("<<:ab:1>23>", {1, 23})
@example("<a<a:ab:1>23>", {1, 23})
@given(st.lists(pieces).map("".join), st.sets(st.sampled_from([1, 23, 123, 231])))
def test_emojis_become_their_names_and_nothing_else_changes(content: str, unwanted: set[int]) -> None:
    plain = without_emojis(content, unwanted)
    assert not set(parse_mentions(plain).emoji_ids) & unwanted
    assert len(plain) <= len(content)
    if not set(parse_mentions(content).emoji_ids) & unwanted:
        assert plain == content


@given(st.lists(pieces, min_size=1, max_size=4).map("".join))
def test_time_is_linear_in_the_text(piece: str) -> None:
    def read(content: str) -> None:
        parse_mentions(content)
        without_emojis(content, {1})
        links_in(content)

    assert is_linear(read, lambda length: "@" + piece * (length // len(piece)), 1_000)


# Links in a text


@pytest.mark.parametrize(
    ("content", "links"),
    [
        ("see https://example.com/a.", ["https://example.com/a"]),
        ("(https://example.com/a_(b))", ["https://example.com/a_(b)"]),
        ("<https://example.com/> https://example.org/", ["https://example.org/"]),
        ("`https://example.com/` ```https://example.com/``` ||https://example.com/||", []),
        ("`https://example.com/", ["https://example.com/"]),
        ("HTTPS://EXAMPLE.com/a HTTPS://EXAMPLE.com/a", ["https://example.com/a"]),
        ("javascript://example.com https:// https://", []),
        (
            " ".join(f"https://example.com/{number}" for number in range(9)),
            [f"https://example.com/{n}" for n in range(5)],
        ),
    ],
)
def test_links_that_are_shown(content: str, links: list[str]) -> None:
    assert links_in(content) == links


@given(st.lists(pieces).map("".join) | st.text())
def test_no_text_has_odd_links(content: str) -> None:
    found = links_in(content)
    assert len(found) == len(set(found)) <= LINKS_MAXIMUM
    assert all(link.isascii() and link.startswith(("http://", "https://")) for link in found)
