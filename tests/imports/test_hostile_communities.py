"""Directories that somebody made to do harm: nothing outside of them is read, and what is wrong is told by line."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson
import pytest

from chat.imports import form_lines
from chat.imports.community import LINES
from chat.imports.form import (
    ChannelRecord,
    ExpressionRecord,
    FileRecord,
    GuildRecord,
    MessageRecord,
    PersonRecord,
    ReactionRecord,
    Record,
    ReferenceRecord,
    RoleRecord,
    ThreadRecord,
)
from tests.imports.discord_world import channel_id, moment, put
from tests.imports.import_command import PICTURE, ImportCommand

GUILD = GuildRecord(id=channel_id(9), name="Lighthouse")
ROOM = ChannelRecord(id=channel_id(1), type=0, name="room")
ANNA = PersonRecord(id=moment(-9), name="Anna")


def said(number: int, **more: Any) -> MessageRecord:
    more = {"channel_id": ROOM.id, "author_id": ANNA.id, "content": f"word {number}", **more}
    return MessageRecord(id=moment(number), **more)


def brought(importing: ImportCommand, folder: Path, records: Iterable[Record]) -> Any:
    put(folder, LINES, b"".join(form_lines.written([GUILD, *records])))
    return _brought(importing, folder)


def _brought(importing: ImportCommand, folder: Path) -> Any:
    ending = importing.command("import", "community", folder, "--guild", importing.guild_id, "--json")
    assert (ending.status, ending.err) == (0, "")
    importing.require_order()
    return ending.json


def reasons(found: Any) -> set[tuple[str, str]]:
    return {(one["kind"], one["reason"]) for one in (*found["refused"], *found["missing"])}


def test_nothing_outside_of_the_directory_is_read(importing: ImportCommand, tmp_path: Path) -> None:
    put(tmp_path, "secret.png", PICTURE)
    folder = tmp_path / "in"
    put(folder, "inside.txt", b"x")
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    (folder / "folder").symlink_to(tmp_path)
    (folder / "loop").symlink_to(folder)
    os.mkfifo(folder / "pipe")
    paths = (
        "../secret.png",
        str(tmp_path / "secret.png"),
        "link.png",
        "folder/secret.png",
        "loop/loop/link.png",
        "pipe",
    )
    files = tuple(FileRecord(id=number, name="a.png", path=path) for number, path in enumerate(paths, start=1))
    person = PersonRecord(id=moment(-8), name="Eve", avatar="../secret.png")
    emoji = ExpressionRecord(id=moment(-7), what="emojis", name="leak", path="../secret.png")
    found = brought(importing, folder, [ROOM, ANNA, person, emoji, said(1, files=files)])
    assert reasons(found) == {("file", "file is missing"), ("expression", "file is missing")}
    assert importing.rows("SELECT count(*) FROM attachments") == [(0,)]
    assert importing.rows("SELECT count(*) FROM assets") == [(0,)]


def test_lines_that_are_a_link_are_none(importing: ImportCommand, tmp_path: Path) -> None:
    put(tmp_path, "elsewhere.jsonl", b"".join(form_lines.written([GUILD])))
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / LINES).symlink_to(tmp_path / "elsewhere.jsonl")
    words = importing.refused("import", "community", tmp_path / "in", "--guild", importing.guild_id)
    assert f"there is no {LINES} in it" in words


def test_a_line_without_end_is_told_and_the_next_one_read(importing: ImportCommand, tmp_path: Path) -> None:
    head = b"".join(form_lines.written([GUILD, ROOM, ANNA]))
    endless = b'{"kind": "message", "content": "' + b"x" * (2 * form_lines.LINE_BYTES) + b'"}\n'
    put(tmp_path / "in", LINES, head + endless + form_lines.line_of(said(1)))
    found = _brought(importing, tmp_path / "in")
    assert [(one["kind"], one["count"]) for one in found["refused"]] == [("line", 1)]
    assert found["listed"][0]["name"] == f"line 5 is longer than {form_lines.LINE_BYTES} bytes"
    assert found["counts"]["messages"] == 1


def test_channels_in_circles_stand_by_themselves(importing: ImportCommand, tmp_path: Path) -> None:
    one, two, three = (channel_id(number) for number in (2, 3, 4))
    circle = [
        ChannelRecord(id=one, type=4, name="a", parent_id=two),
        ChannelRecord(id=two, type=4, name="b", parent_id=one),
        ChannelRecord(id=three, type=0, name="c", parent_id=three),
        ChannelRecord(id=moment(-5), type=11, name="d", parent_id=moment(-5), thread=ThreadRecord()),
        ChannelRecord(id=moment(-4), type=11, name="e", parent_id=one, thread=ThreadRecord()),
    ]
    answers = [
        said(1, type=19, reference=ReferenceRecord(channel_id=ROOM.id, message_id=moment(2))),
        said(2, type=19, reference=ReferenceRecord(channel_id=ROOM.id, message_id=moment(1))),
        said(3, type=19, reference=ReferenceRecord(channel_id=ROOM.id, message_id=moment(3))),
    ]
    found = brought(importing, tmp_path / "in", [ROOM, ANNA, *circle, *answers])
    assert reasons(found) == {("category", "no channel"), ("thread", "no channel")}
    above = importing.rows("SELECT parent_id FROM channels WHERE id IN (?, ?, ?)", one, two, three)
    assert above == [(None,)] * 3
    assert found["counts"]["messages"] == 3


def test_numbers_beyond_all_bounds(importing: ImportCommand, tmp_path: Path) -> None:
    most = (1 << 63) - 1
    records: list[Record] = [
        RoleRecord(id=moment(-6), name="r" * 9_999, color=most, position=most, permissions=most, hoist_position=-most),
        ChannelRecord(
            id=channel_id(2),
            type=2,
            name="c" * 9_999,
            topic="t" * 9_999,
            position=-most,
            bitrate=most,
            user_limit=most,
            voice_connection_limit=most,
            rate_limit_per_user=most,
            content_warning_level=most,
            flags=-1,
        ),
        ROOM,
        ChannelRecord(id=moment(-5), type=11, name="", parent_id=ROOM.id, thread=ThreadRecord(created_at=most)),
        PersonRecord(id=ANNA.id, name="a" * 9_999, username="\N{WAVE DASH}" * 9_999),
        said(1, edited_at=most, pinned=True, pinned_at=most, flags=most),
        said(2, edited_at=-most, pinned=True, pinned_at=-most, flags=-1, webhook_name="w" * 9_999),
        said(3, reactions=(ReactionRecord(name="e" * 9_999, user_ids=(ANNA.id,)),)),
    ]
    found = brought(importing, tmp_path / "in", records)
    assert reasons(found) == {("reaction", "unknown kind")}
    assert found["counts"]["messages"] == 3
    put(tmp_path / "in", LINES, next(iter(form_lines.written(()))) + form_lines.line_of(GUILD) + _beyond())
    assert reasons(_brought(importing, tmp_path / "in")) == {("line", "not readable")}


def _beyond() -> bytes:
    return b'{"kind": "role", "id": "7", "name": "x", "color": ' + b"9" * 400 + b"}\n"


PARTS = (
    {"embeds": ({"type": "rich", "url": "javascript:alert(1)"},)},
    {"embeds": ({"type": "rich", "color": -1},)},
    {"embeds": ({"type": "rich", "title": "a\0b"},)},
    {"embeds": ({"type": "rich", "timestamp": "soon"},)},
    {"embeds": ({"type": "rich", "unheard": 1},)},
    {"embeds": ({"type": "rich", "author": {"name": "x", "proxy_icon_url": "https://spy.invalid/"}},)},
    {"stickers": ({"id": "none", "name": "x", "animated": False},)},
    {"snapshot": {"timestamp": "2020-01-01T00:00:00.000Z", "type": 0, "flags": 0, "mentions": ["anna"]}},
    {"snapshot": {"timestamp": "2020-01-01T00:00:00.000Z", "type": 77, "flags": 0}},
)


@pytest.mark.parametrize("part", PARTS)
def test_parts_that_no_client_could_show_are_refused(
    importing: ImportCommand, tmp_path: Path, part: dict[str, Any]
) -> None:
    found = brought(importing, tmp_path / "in", [ROOM, ANNA, said(1, **part), said(2)])
    assert reasons(found) == {("message", "not readable")}
    assert found["counts"]["messages"] == 1


def test_components_that_are_none_are_left_out(importing: ImportCommand, tmp_path: Path) -> None:
    wrong = ({"type": 1, "components": [{"type": 2, "style": 5, "label": "x", "url": "javascript:alert(1)"}]},)
    found = brought(importing, tmp_path / "in", [ROOM, ANNA, said(1, components=wrong, flags=1 << 15)])
    assert reasons(found) == {("components", "not readable")}
    assert importing.rows("SELECT flags, extra FROM messages") == [(0, None)]


def test_an_export_that_tells_of_trouble_tells_it_in_our_words(importing: ImportCommand, tmp_path: Path) -> None:
    lines = b"".join(form_lines.written([GUILD]))
    for number in range(300):
        trouble = {"kind": "trouble", "what": f"thing {number}", "name": "x", "reason": f"because {number}"}
        lines += orjson.dumps(trouble) + b"\n"
    put(tmp_path / "in", LINES, lines)
    found = _brought(importing, tmp_path / "in")
    assert [(one["kind"], one["reason"], one["count"]) for one in found["refused"]] == [("line", "not readable", 300)]
