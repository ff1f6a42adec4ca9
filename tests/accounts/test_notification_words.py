"""Words that are worth a mention: what is kept, and what a device is told of."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from chat.domain.accounts import notification_words
from chat.domain.accounts.notification_words import called_by, says_one_of
from chat.testing.world import World
from tests.accounts.test_push_routes import Told, browser, push_service, set_guild, told

__all__ = ["browser", "push_service", "told"]

pytestmark = pytest.mark.chat_settings(**{"push.private_networks_allowed": ["127.0.0.0/8"]})

WORDS = "/v1/users/@me/notification-words"
ONLY_MENTIONS = 1


@pytest.mark.parametrize(
    ("text", "word", "found"),
    [
        ("The Cat sat", "cat", True),
        ("category", "cat", False),
        ("bobcat", "cat", False),
        ("cat_food, cats; cat.", "CAT", True),
        ("cats scats cat5", "cat", False),
        ("C++ or c#?", "c++", True),
        ("see v1.2!", "v1.2", True),
        ("see v1.25", "v1.2", False),
        ("\u6771\u4eac\u90fd\u5e81\u306b\u3044\u308b", "\u90fd\u5e81", True),
        ("stra\u00dfe", "STRA\u00dfE", True),
        ("\u00c9t\u00e9", "\u00e9t\u00e9", True),
        ("out of order", "out of", True),
        ("", "cat", False),
        ("anything", "", False),
        ("a cat-and-mouse game", "cat-and-mouse", True),
        ("a cat-and-mouser game", "cat-and-mouse", False),
        ("cat and-mouse", "cat-and-mouse", False),
    ],
)
def test_where_a_word_stands(text: str, word: str, found: bool) -> None:
    assert says_one_of(text, [word]) is found
    assert says_one_of(text, ["nowhere at all", word]) is found


def test_letters_that_stand_in_one_long_word_are_looked_for_once() -> None:
    text, words = "a" * 4_000, ["a" * length for length in range(1, 51)]
    called_by(text, {})  # what is loaded and compiled at the first call is not counted
    lines = 0

    def count(frame: FrameType, event: str, _: object) -> Callable[..., Any]:
        nonlocal lines
        lines += event == "line" and frame.f_code.co_filename == notification_words.__file__
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        called = called_by(text, dict.fromkeys(range(20), words))
    finally:
        sys.settrace(before)
    assert called == frozenset()
    assert lines < 10_000, "20 accounts with 50 words each"


async def test_words_are_kept_tidied_and_bounded(chat_world: World) -> None:
    bob = chat_world.bob
    assert (await bob.rest.get(WORDS)).expect(200) == {"words": []}
    put = (await bob.rest.put(WORDS, {"words": [" release ", "Bobby", "bobby", "\u00e9t\u00e9"]})).expect(200)
    assert put == {"words": ["release", "Bobby", "\u00e9t\u00e9"]}
    assert (await bob.rest.get(WORDS)).expect(200) == put
    assert (await chat_world.alice.rest.get(WORDS)).expect(200) == {"words": []}
    for words in (["x"] * 51, ["x" * 51], [""], [1], "x", None):
        answer = await bob.rest.put(WORDS, {"words": words})
        assert (answer.status, answer.code) == (400, "INVALID_FORM_BODY"), words
    (await bob.rest.put(WORDS, {"words": []})).expect(200)
    assert (await bob.rest.get(WORDS)).expect(200) == {"words": []}


async def test_a_device_is_told_of_a_word_as_of_a_mention(chat_world: World, told: Told) -> None:
    alice, channel_id = chat_world.alice, chat_world.channel_id
    await set_guild(chat_world, message_notifications=ONLY_MENTIONS)
    (await chat_world.bob.rest.put(WORDS, {"words": ["release"]})).expect(200)
    for text in ("nothing of it", "released already"):
        (await alice.rest.send_message(channel_id, text)).expect(200)
    await told.nothing()
    (await alice.rest.send_message(channel_id, "the RELEASE is out")).expect(200)
    assert (await told.message())["body"] == "the RELEASE is out"
    await set_guild(chat_world, muted=True)
    (await alice.rest.send_message(channel_id, "another release")).expect(200)
    await told.nothing()
