"""Whom a text names."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.domain.mention_parsing import MENTIONED_USERS, NO_MENTIONS, ParsedMentions, parse_mentions
from chat.snowflake import MAXIMUM

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
    "`<@1>\n`": ParsedMentions(user_ids=(1,)),
    "``` <@1> ``` <@2> ```": ParsedMentions(user_ids=(2,)),
}


@pytest.mark.parametrize("content", CASES)
def test_texts(content: str) -> None:
    assert parse_mentions(content) == CASES[content]


def test_only_so_many_are_mentions() -> None:
    content = "".join(f"<@{number}>" for number in range(1, 400))
    assert parse_mentions(content).user_ids == tuple(range(1, MENTIONED_USERS + 1))


pieces = st.sampled_from(
    ["<@", "<@!", "<@&", "1", "23", ">", "`", "``", "```", "@", "@everyone", "@here", " ", "\n", "x"]
)


@given(st.lists(pieces).map("".join) | st.text())
def test_no_text_is_too_odd(content: str) -> None:
    parsed = parse_mentions(content)
    assert all(f"{user_id}>" in content for user_id in parsed.user_ids + parsed.role_ids)
    assert not parsed.everyone or "@everyone" in content
    assert not parsed.here or "@here" in content


@given(st.lists(pieces, min_size=1, max_size=4).map("".join))
def test_time_is_linear_in_the_text(piece: str) -> None:
    content = "@" + piece * (40_000 // len(piece))
    started = time.process_time()
    parse_mentions(content)
    assert time.process_time() - started < 0.5, "a quadratic parser would take many seconds"
