"""What the message list decides without a page: which messages are mounted, how they are grouped, what the composer
completes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.web.client.node import NodeProcess, running_node

WINDOW: Final = "views/messages/window"
GROUPING: Final = "views/messages/grouping"
RULES: Final = "views/composer/completion_rules"
MOUNTED: Final = 150

RANDOM: Final = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

IDS: Final = st.sets(st.integers(1, 10**19), max_size=400).map(lambda numbers: [str(one) for one in sorted(numbers)])


@pytest.fixture(scope="module")
def process() -> Iterator[NodeProcess]:
    """One Node for all examples."""
    with running_node() as running:
        yield running


@given(ids=IDS, wanted=st.integers(1, 10**19))
@RANDOM
def test_an_id_is_found_by_its_number(process: NodeProcess, ids: list[str], wanted: int) -> None:
    assert process.call(WINDOW, "indexAt", ids, str(wanted)) == sum(int(one) < wanted for one in ids)


@given(ids=IDS, at=st.none() | st.integers(1, 10**19).map(str), is_newest=st.booleans())
@RANDOM
def test_a_list_opens_around_what_is_asked_for(
    process: NodeProcess, ids: list[str], at: str | None, is_newest: bool
) -> None:
    opened = process.call(WINDOW, "opened", ids, at, is_newest)
    start, stop = process.call(WINDOW, "slice", ids, opened)
    assert 0 <= start <= stop <= len(ids)
    assert stop - start <= 50
    if at is None:
        assert stop == len(ids) or not ids
        assert opened["end"] is is_newest
    else:
        nearest = next((index for index, one in enumerate(ids) if int(one) >= int(at)), None)
        assert nearest is None or start <= nearest < stop


@given(data=st.data(), ids=IDS, is_newest=st.booleans())
@RANDOM
def test_scrolling_never_unmounts_what_is_seen(
    process: NodeProcess, data: st.DataObject, ids: list[str], is_newest: bool
) -> None:
    """The reader goes up and down; each step keeps the rows in sight and at most 150, and ends."""
    assume(ids)
    opened = process.call(WINDOW, "opened", ids, data.draw(st.sampled_from(ids)), is_newest)
    height = data.draw(st.integers(15, 300), "height of a row")
    viewport = data.draw(st.integers(300, 2200), "viewport")
    first = process.call(WINDOW, "slice", ids, opened)[0]
    for toward in data.draw(st.lists(st.sampled_from((-1, 1)), max_size=12)):
        start, stop = process.call(WINDOW, "slice", ids, opened)
        seen = min(stop - start, viewport // height + 1)
        first = max(start, min(stop - seen, first + toward * data.draw(st.integers(0, 60))))
        for _ in range(20):
            counts = {"above": first - start, "seen": seen, "below": stop - first - seen}
            reach = {
                "above": counts["above"] * height,
                "below": counts["below"] * height,
                "viewport": viewport,
            }
            direction = process.call(WINDOW, "wanted", counts, reach, toward)
            if direction is None or (start == 0 if direction == "up" else stop == len(ids)):
                break
            opened = process.call(WINDOW, "grown", ids, opened, direction, seen, is_newest)
            before, (start, stop) = (start, stop), process.call(WINDOW, "slice", ids, opened)
            assert stop - start <= MOUNTED
            assert start <= first
            assert first + seen <= stop
            assert start < before[0] if direction == "up" else stop > before[1]
        else:
            pytest.fail("it mounts without end")


@given(data=st.data(), ids=IDS)
@RANDOM
def test_a_range_holds_its_messages_while_the_log_changes(
    process: NodeProcess, data: st.DataObject, ids: list[str]
) -> None:
    """Deletions take rows away and nothing else; what comes before or after does not enter unless the end is held."""
    assume(ids)
    opened = process.call(WINDOW, "opened", ids, data.draw(st.sampled_from(ids)), False)
    start, stop = process.call(WINDOW, "slice", ids, opened)
    mounted = ids[start:stop]
    gone = data.draw(st.sets(st.sampled_from(ids)))
    later = [str(int(ids[-1]) + step) for step in range(1, data.draw(st.integers(1, 30)))]
    now = [one for one in ids if one not in gone] + later
    start, stop = process.call(WINDOW, "slice", now, opened)
    assert now[start:stop] == [one for one in mounted if one not in gone]


MESSAGES: Final = st.fixed_dictionaries(
    {
        "id": st.just("5"),
        "type": st.sampled_from((0, 6, 7, 19)),
        "timestamp": st.datetimes().map(lambda time: f"{time.isoformat(timespec='milliseconds')}Z"),
        "author": st.sampled_from(({"id": "1", "username": "ana"}, {"id": "2", "username": "ben"})),
        "webhook_id": st.sampled_from((None, "9")),
        "message_reference": st.sampled_from((None, {"message_id": "3"})),
    }
)


@given(message=MESSAGES, seconds=st.integers(0, 1000), changed=st.sampled_from((None, "author", "webhook_id", "type")))
@RANDOM
def test_one_voice_goes_on_for_seven_minutes(
    process: NodeProcess, message: dict[str, Any], seconds: int, changed: str | None
) -> None:
    first = {**message, "timestamp": "2026-11-21T09:00:00.000Z", "message_reference": None, "type": 0}
    minutes, rest = divmod(seconds, 60)
    second = {**first, "timestamp": f"2026-11-21T09:{minutes:02d}:{rest:02d}.000Z"}
    others = {"author": {"id": "7", "username": "cem"}, "webhook_id": "77", "type": 7}
    if changed is not None:
        second[changed] = others[changed]
    standing = process.call(GROUPING, "standing", second, first, False)
    assert standing == {"isDay": False, "isFirst": changed is not None or seconds >= 420}
    assert process.call(GROUPING, "standing", second, first, True) == {"isDay": True, "isFirst": True}


@given(message=MESSAGES)
@RANDOM
def test_an_answer_and_the_first_message_show_their_author(process: NodeProcess, message: dict[str, Any]) -> None:
    assert process.call(GROUPING, "standing", message, None, False) == {"isDay": True, "isFirst": True}
    plain = {**message, "type": 0, "message_reference": None}
    answer = {**plain, "type": 19, "message_reference": {"message_id": "3"}}
    assert process.call(GROUPING, "standing", answer, plain, False)["isFirst"]
    assert not process.call(GROUPING, "standing", plain, answer, False)["isFirst"]


@pytest.mark.parametrize(
    ("text", "kind", "word"),
    [
        ("@an", "person", "an"),
        ("hello @", "person", ""),
        ("(#see", "channel", "see"),
        (":lea", "emoji", "lea"),
        ("\u00fc @J\u00fcrg", "person", "J\u00fcrg"),
        ("ana@example", None, None),
        ("a:le", None, None),
        (":)", None, None),
        (":l", None, None),
        ("@an ", None, None),
    ],
)
def test_what_asks_for_completion(process: NodeProcess, text: str, kind: str | None, word: str | None) -> None:
    asked = process.call(RULES, "askedFor", text, len(text))
    assert (asked and asked["kind"], asked and asked["word"]) == (kind, word)


@given(text=st.text(max_size=80))
@RANDOM
def test_a_word_is_asked_for_wherever_it_stands(process: NodeProcess, text: str) -> None:
    plain = "".join(one for one in text if ord(one) < 0xD800)
    before = f"{plain} @na"
    asked = process.call(RULES, "askedFor", before + plain, len(before))
    assert asked == {"kind": "person", "mark": "@", "word": "na", "start": len(before) - 3}


@pytest.mark.parametrize("mark", ["\u2028", "\u2029", "\u0085", "\r", "\n", "\r\n", "\v"])
def test_a_line_separator_in_a_text_is_a_character_like_others(process: NodeProcess, mark: str) -> None:
    asked = process.call(RULES, "askedFor", f"a{mark}b @na", 6 + len(mark))
    assert asked == {"kind": "person", "mark": "@", "word": "na", "start": 3 + len(mark)}


def test_choices_that_begin_with_the_word_come_first(process: NodeProcess) -> None:
    names = ["Joanna", "Anna", "Ana", "\u00c1ngel", "Ben", *(f"Ann{number}" for number in range(20))]
    candidates = [{"label": name, "more": "", "insert": name, "picture": None, "words": [name]} for name in names]
    found = [one["label"] for one in process.call(RULES, "ranked", candidates, "an")]
    assert found[:2] == ["Ana", "Ann0"]
    assert len(found) == 8
    assert [one["label"] for one in process.call(RULES, "ranked", candidates, "ang")] == ["\u00c1ngel"]
    assert [one["label"] for one in process.call(RULES, "ranked", candidates, "joa")] == ["Joanna"]
