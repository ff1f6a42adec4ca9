"""Records and their lines of JSON: the same there and back, and nothing else is read."""

from __future__ import annotations

import io
from pathlib import Path

import attrs
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat import manual
from chat.imports import form_lines
from chat.imports.form import (
    KINDS,
    ChannelRecord,
    ExpressionRecord,
    FileRecord,
    ForumRecord,
    GuildRecord,
    MessageRecord,
    OverwriteRecord,
    PersonRecord,
    ReactionRecord,
    Record,
    ReferenceRecord,
    RoleRecord,
    TagRecord,
    ThreadRecord,
    TroubleRecord,
)
from chat.imports.form_lines import NotTheForm
from chat.snowflake import MAXIMUM

ids = st.integers(1, MAXIMUM)
texts = st.text(max_size=20).map(lambda text: text.replace("\0", ""))
numbers = st.integers(0, 1 << 40)
few_ids = st.lists(ids, max_size=3).map(tuple)


def record_of(of: type[Record], /, **fields: st.SearchStrategy[object]) -> st.SearchStrategy[Record]:
    return st.builds(of, **fields)


references = st.builds(ReferenceRecord, channel_id=ids, message_id=st.just(0) | ids, type=st.integers(0, 1))
files = st.builds(FileRecord, id=ids, name=texts, size=numbers, path=st.none() | texts)
reactions = st.builds(ReactionRecord, name=texts, emoji_id=st.none() | ids, count=numbers, user_ids=few_ids)
embeds = st.lists(st.dictionaries(texts, texts | numbers, max_size=2), max_size=2).map(tuple)
forums = st.builds(
    ForumRecord, emoji_id=st.none() | ids, emoji_name=st.none() | texts, sort_order=st.none() | numbers, layout=numbers
)
threads = st.builds(ThreadRecord, owner_id=st.none() | ids, archived=st.booleans(), applied_tags=few_ids)
overwrites = st.builds(OverwriteRecord, target_id=ids, type=st.integers(0, 1), allow=numbers, deny=numbers)
tags = st.builds(TagRecord, id=ids, name=texts, moderated=st.booleans(), emoji_name=st.none() | texts)

EVERY = (
    record_of(GuildRecord, id=ids, name=texts, icon=st.none() | texts, original_id=st.none() | texts),
    record_of(RoleRecord, id=ids, name=texts, color=numbers, permissions=numbers, hoist=st.booleans()),
    record_of(
        ChannelRecord,
        id=ids,
        type=st.integers(0, 16),
        name=texts,
        parent_id=st.none() | ids,
        overwrites=st.lists(overwrites, max_size=2).map(tuple),
        tags=st.lists(tags, max_size=2).map(tuple),
        forum=st.none() | forums,
        thread=st.none() | threads,
    ),
    record_of(PersonRecord, id=ids, name=texts, bot=st.booleans(), avatar=st.none() | texts),
    record_of(ExpressionRecord, id=ids, what=st.just("emojis"), name=texts, path=texts),
    record_of(
        MessageRecord,
        id=ids,
        channel_id=ids,
        author_id=ids,
        content=texts,
        edited_at=st.none() | numbers,
        mentions=few_ids,
        reference=st.none() | references,
        files=st.lists(files, max_size=2).map(tuple),
        embeds=embeds,
        reactions=st.lists(reactions, max_size=2).map(tuple),
    ),
    record_of(TroubleRecord, what=texts, name=texts, reason=texts),
)


@given(st.lists(st.one_of(*EVERY), max_size=8))
def test_records_are_the_same_there_and_back(records: list[Record]) -> None:
    lines = b"".join(form_lines.written(records))
    assert list(form_lines.read(io.BytesIO(lines))) == records


def test_every_kind_of_record_was_tried() -> None:
    assert len(EVERY) == len(KINDS)


def test_half_of_a_pair_becomes_what_utf_8_can_hold() -> None:
    said = b'{"kind": "person", "id": "1", "name": "a\\ud83db"}'
    lines = next(form_lines.written(())) + said
    with pytest.raises(NotTheForm, match="line 2 is no JSON"):  # orjson reads no halves
        list(form_lines.read(io.BytesIO(lines)))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{", "line 2 is no JSON"),
        (b"[]", "of no known kind"),
        (b'{"kind": "pigeon"}', "of no known kind"),
        (b'{"kind": ["guild"]}', "of no known kind"),
        (b'{"kind": "guild", "id": "1"}', "is no guild"),
        (b'{"kind": "guild", "id": 1, "name": "x"}', "is no id"),
        (b'{"kind": "guild", "id": "0", "name": "x"}', "is no id"),
        (b'{"kind": "guild", "id": "99999999999999999999", "name": "x"}', "is no id"),
        (b'{"kind": "guild", "id": "1", "name": 5}', "is no text"),
        (b'{"kind": "guild", "id": "1", "name": "x", "owner": "y"}', "is no guild"),
        (b'{"kind": "role", "id": "1", "name": "x", "color": true}', "is no number"),
        (b'{"kind": "role", "id": "1", "name": "x", "hoist": 1}', "neither true nor false"),
        (b'{"kind": "message", "id": "1", "channel_id": "1", "author_id": "1", "mentions": "1"}', "is no list"),
    ],
)
def test_a_line_that_is_none_is_told_by_its_number(line: bytes, reason: str) -> None:
    with pytest.raises(NotTheForm, match=reason):
        list(form_lines.read(io.BytesIO(next(form_lines.written(())) + line)))


def test_the_manual_names_every_member() -> None:
    page = (Path(manual.__file__).parent / "community-form.md").read_text("utf-8")
    inner = [OverwriteRecord, TagRecord, ForumRecord, ThreadRecord, ReferenceRecord, FileRecord, ReactionRecord]
    records = [*KINDS.values(), *inner]
    named = {field.name for record in records for field in attrs.fields(record)}
    assert {name for name in named if f"`{name}`" not in page} == set()
    assert {kind for kind in KINDS if f"| `{kind}` |" not in page} == set()


@pytest.mark.parametrize("first", [{}, [], {"form": "other", "version": 1}, {"form": "chat community", "version": 2}])
def test_the_first_line_says_what_it_is(first: object) -> None:
    with pytest.raises(NotTheForm, match="line 1"):
        list(form_lines.read(io.BytesIO(orjson.dumps(first))))
