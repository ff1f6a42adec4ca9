"""Text as terms: what finds what, and that nothing in a text can be taken for anything but text."""

from __future__ import annotations

import sqlite3
import unicodedata
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.store.messages.message_search_expressions import (
    containing,
    containing_phrase,
    every,
    says,
    some,
    without,
)
from chat.store.messages.search_terms import (
    AUTHOR_GROUPS,
    MARK,
    TERM_LENGTH,
    author_group,
    chunks,
    entry_terms,
    id_term,
    name_term,
    terms,
    word_terms,
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Hello, World! don't", [["hello"], ["world"], ["don"], ["t"]]),
        ("Café \uff21\uff22\uff23 naïve", [["cafe"], ["abc"], ["naive"]]),
        ("Straße STRASSE", [["strasse"], ["strasse"]]),
        ("ΣΊΣΥΦΟΣ Ёлка", [["σισυφοσ"], ["елка"]]),
        ("snake_case <:pepe:42> C++", [["snake"], ["case"], ["pepe"], ["42"], ["c"]]),
        ("世界人 hello", [["世", "界", "人"], ["hello"]]),
        ("abc世界", [["abc", "世", "界"]]),
        ("がｶﾞ", [["が", "ガ"]]),
        ("สวัสดี", [["ส", "ว", "ั", "ส", "ด", "ี"]]),
        ("한국어", [["한", "국", "어"]]),
        ("서울에서 v2", [["서", "울", "에", "서"], ["v2"]]),
        ("ㅋㅋ", [["ᄏ", "ᄏ"]]),
        ("ꦗꦮ ᬩᬮᬶ", [["ꦗ", "ꦮ"], ["ᬩ", "ᬮ", "ᬶ"]]),
        (
            "Łódź Tromsø Đuro Ægir œuvre Þór ðe ħ ŧ \u0131\u015f\u0131k",
            [
                ["lodz"],
                ["tromso"],
                ["duro"],
                ["aegir"],
                ["oeuvre"],
                ["thor"],
                ["de"],
                ["h"],
                ["t"],
                ["isik"],
            ],
        ),
        (
            "imp**ort**ant un~~do~~ing ||a||b __x__y *a*b ***c***d",
            [
                ["important"],
                ["undoing"],
                ["ab"],
                ["xy"],
                ["ab"],
                ["cd"],
            ],
        ),
        ("un**do ~~not~~**ing", [["undo"], ["noting"]]),
        ("2 * 3 * 4 ** 5**2 a__b", [["2"], ["3"], ["4"], ["5"], ["2"], ["a"], ["b"]]),
        ("대한**민국**만세", [["대", "한", "민", "국", "만", "세"]]),
        ("हिन्दी क्या", [["हिन्दी"], ["क्या"]]),
        ("👍🏽 ❤️ 🇩🇪", [["👍", "🏽"], ["❤"], ["🇩", "🇪"]]),
        ("👨\u200d👩\u200d👧", [["👨"], ["👩"], ["👧"]]),
        ("\U0001fae9", [["\U0001fae9"]]),  # younger than this Python's tables
        (" \t\r\n...!?\x00\ud800\u200b" + MARK, []),
        ("x" * 100, [["x" * TERM_LENGTH]]),
    ],
)
def test_chunks_of(text: str, found: list[list[str]]) -> None:
    assert chunks(text) == found
    assert terms(text) == [term for chunk in found for term in chunk]


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("대한민국만세입니다", "민국"),
        ("서울에서 만나요", "서울"),
        ("서울에서 만나요", "만나"),
        ("ประเทศไทย", "ไทย"),
        ("ສະບາຍດີ", "ບາຍ"),
        ("ភាសាខ្មែរ", "ខ្មែរ"),
        ("မြန်မာစာ", "မာ"),
        ("東京都", "京都"),
        ("Łódź", "lodz"),
        ("lodz", "ŁÓDŹ"),
        ("smørrebrød", "smorrebrod"),
        ("v1.2.3-rc1", "1.2.3"),
        ("v1.2.3-rc1", "v1.2.3"),
        ("v1.2.3-rc1", "v1"),
        ("v1.2.3-rc1", "rc1"),
        ("python3.11rc2", "3.11"),
        ("costs 10.50eur", "10.50"),
        ("imp**ort**ant", "important"),
        ("imp**ort**ant", "imp**ort**ant"),
        ("imp**ort**ant", "ort"),
        ("important", "imp**ort**ant"),
        ("x**2+y**2", "x**2"),
        ("x**2+y**2", "y"),
    ],
)
def test_what_finds_what(index: sqlite3.Connection, text: str, asked: str) -> None:
    index.execute("DELETE FROM found")
    index.execute("INSERT INTO found (rowid, words) VALUES (1, ?)", (" ".join(entry_terms(text)),))
    for expression in (containing(asked), containing_phrase(asked)):
        assert index.execute("SELECT rowid FROM found WHERE found MATCH ?", (expression,)).fetchall() == [(1,)]
    assert says(entry_terms(text), asked)


@given(st.text(), st.text())
def test_an_entry_has_what_its_text_gives_and_more_only_apart(text: str, other: str) -> None:
    held = entry_terms(text)
    assert held[: len(terms(text))] == terms(text)
    assert held[len(terms(text)) :][:1] in ([], [MARK])
    assert entry_terms(other) == terms(other) or {"*", "~", "|", "_", "."} & {*other}


@given(st.text())
def test_terms_hold_nothing_but_what_an_index_takes_for_words(text: str) -> None:
    for term in terms(text):
        assert 0 < len(term) <= TERM_LENGTH
        for character in term:
            assert character.isalnum() if character.isascii() else True
            assert unicodedata.category(character) not in {"Co", "Cs", "Cc", "Zs", "Zl", "Zp"}


@given(st.text())
def test_case_and_composition_make_no_difference(text: str) -> None:
    assert terms(unicodedata.normalize("NFD", text)) == terms(text)
    if text.isascii():
        assert terms(text.upper()) == terms(text)


@pytest.mark.parametrize("step", [1, 1 << 12, 1 << 22, 1_000 << 22])
def test_authors_are_spread_over_their_groups(step: int) -> None:
    count = 1_000
    groups = Counter(author_group(1_576_000_000_000_000_000 + step * number) for number in range(count))
    assert set(groups) == set(AUTHOR_GROUPS)
    assert max(groups.values()) < 1.3 * count / len(AUTHOR_GROUPS)


@given(st.text(), st.text())
def test_texts_apart_are_found_apart(one: str, other: str) -> None:
    assert chunks(f"{one}\n{other}") == chunks(one) + chunks(other)


@given(st.integers(0, (1 << 63) - 1), st.text())
def test_terms_of_filters_are_terms_of_no_text(snowflake: int, name: str) -> None:
    for term in (id_term("c", snowflake), name_term("l", name), *word_terms("f", name)):
        assert term.startswith(MARK)
        assert " " not in term
        assert term not in terms(term)


@pytest.fixture(scope="module")
def index() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE found USING fts5 (words, tokenize = 'ascii', columnsize = 0)")
    return connection


hostile = st.one_of(
    st.text(),
    st.lists(
        st.sampled_from(
            [
                '"',
                "'",
                "*",
                "^",
                "(",
                ")",
                "{",
                "}",
                ":",
                "-",
                "+",
                "NEAR",
                "AND",
                "OR",
                "NOT",
                "words:",
                "a",
                "\x00",
                MARK,
            ]
        )
    ).map(" ".join),
)


@given(hostile, hostile)
def test_any_text_is_asked_for_without_error_and_found_where_it_stands(
    index: sqlite3.Connection, text: str, other: str
) -> None:
    index.execute("DELETE FROM found")
    index.execute("INSERT INTO found (rowid, words) VALUES (1, ?)", (" ".join(terms(text)),))

    def finds(expression: str) -> bool:
        return index.execute("SELECT rowid FROM found WHERE found MATCH ?", (expression,)).fetchall() == [(1,)]

    for expression in (containing(text), containing_phrase(text)):
        assert (expression is None) == (terms(text) == [])
        if expression is not None:
            assert finds(expression)
            assert not finds(without(expression, [expression]))
    for expression in (containing(other), containing_phrase(other)):
        if expression is not None:
            assert finds(expression) == finds(every([expression, some([expression, expression])]))


@given(st.text(alphabet="世界人民 a서울에ไทยខ្မែမြန်ລາວ", min_size=1), st.data())
def test_scripts_without_spaces_match_by_any_part(index: sqlite3.Connection, text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    part = text[start : data.draw(st.integers(start + 1, len(text)))]
    index.execute("DELETE FROM found")
    index.execute("INSERT INTO found (rowid, words) VALUES (1, ?)", (" ".join(terms(text)),))
    expression = containing_phrase(part.replace("a", ""))
    if expression is not None and "a" not in part:
        assert index.execute("SELECT rowid FROM found WHERE found MATCH ?", (expression,)).fetchall() == [(1,)]
