"""What rooms of Matrix alone have: text in HTML, events about other events, files with their moment in their names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from chat.errors import OperatorError
from chat.imports.form import ChannelRecord, MessageRecord, Record
from chat.imports.matrix import MatrixExport
from chat.imports.matrix_html import markdown_of
from chat.registries.message_types import MessageType
from tests.imports.discord_world import put
from tests.imports.matrix_maker import event, event_key, person_key
from tests.imports.talk_world import read, reasons


def mention(key: str, label: str) -> str | None:
    return "<@5>" if key == "@anna:a.invalid" else "<#6>" if key in ("!r:a.invalid", "#r:a.invalid") else None


@pytest.mark.parametrize(
    ("html", "said"),
    [
        ("a &lt;b&gt; *c*", "a <b> \\*c\\*"),
        ("<strong>b</strong> <em>i</em> <del>s</del> <u>u</u>", "**b** *i* ~~s~~ __u__"),
        ("<p>one</p><p>two<br>three</p>", "one\n\ntwo\nthree"),
        ("<pre><code class='language-py'>a = 1\n\n  *b*</code></pre>", "```py\na = 1\n\n  *b*\n```"),
        ("<code>a ` b</code>", "``a ` b``"),
        ("<ul><li>a</li><li>b<ol><li>c</li></ol></li></ul>", "- a\n- b\n  1. c"),
        ("<blockquote><p>q</p></blockquote>yes", "> q\n\nyes"),
        ("<mx-reply><blockquote>old</blockquote></mx-reply>new", "new"),
        ('<span data-mx-spoiler="why">end</span>', "||end||"),
        ('<span data-mx-maths="x^2">…</span>', "`x^2`"),
        ("<h5>h</h5>text", "### h\n\ntext"),
        ('<a href="https://matrix.to/#/@anna:a.invalid">Anna</a> <a href="matrix:r/r:a.invalid">r</a>', "<@5> <#6>"),
        ('<a href="https://matrix.to/#/%21r%3Aa.invalid">r</a>', "<#6>"),
        ('<a href="https://matrix.to/#/@x:a.invalid">X</a>', "[X](https://matrix.to/#/@x:a.invalid)"),
        ('<a href="javascript:alert(1)">press</a>', "press"),
        ("<script>bad()</script><b>open", "**open**"),
        ("</b></p>closed", "closed"),
        ("<table><tr><td>a</td><td>b</td></tr></table>", "a | b |"),
        ("<b>" * 5_000 + "deep", "**deep**"),
    ],
)
def test_html(html: str, said: str) -> None:
    assert markdown_of(html, mention) == said


def text(number: int, body: str, sender: str = "anna", **more: Any) -> dict[str, Any]:
    return event(number, sender, "m.room.message", {"msgtype": "m.text", "body": body, **more})


def brought(folder: Path, *events: dict[str, Any]) -> list[Record]:
    put(folder, "export.json", {"room_name": "harbour", "room_creator": "x", "topic": "", "messages": list(events)})
    return read(MatrixExport, folder)


def messages_of(records: list[Record]) -> list[MessageRecord]:
    return [one for one in records if isinstance(one, MessageRecord)]


def test_answers_and_edits(tmp_path: Path) -> None:
    answer = {"m.relates_to": {"m.in_reply_to": {"event_id": event_key(1)}}}
    lost = {"m.relates_to": {"m.in_reply_to": {"event_id": "$nowhere"}}}

    def edit(number: int, sender: str, words: str) -> dict[str, Any]:
        relates = {"rel_type": "m.replace", "event_id": event_key(1)}
        return text(number, "*", sender, **{"m.relates_to": relates, "m.new_content": {"body": words}})

    found = brought(
        tmp_path,
        text(1, "first"),
        edit(2, "anna", "better"),
        edit(3, "bert", "forged"),
        edit(4, "anna", "best"),
        text(5, "> <@anna:keepers.invalid> first\n\nindeed", "bert", **answer),
        text(6, "lost", **lost),
    )
    first, indeed, alone = messages_of(found)
    # bert's later edit does not hide the author's own
    assert (first.content, first.edited_at is not None) == ("best", True)
    assert (indeed.content, indeed.type) == ("indeed", MessageType.REPLY)
    assert indeed.reference is not None
    assert indeed.reference.message_id == first.id
    assert (alone.type, alone.reference) == (MessageType.DEFAULT, None)
    assert reasons(found) == [("reference", "nobody has it")]


def test_what_was_taken_back_and_what_is_encrypted(tmp_path: Path) -> None:
    found = brought(
        tmp_path,
        text(1, "gone"),
        event(2, "anna", "m.room.redaction", {}, redacts=event_key(1)),
        event(3, "anna", "m.room.encrypted", {"ciphertext": "x"}),
        event(4, "anna", "m.room.message", {}),
        event(5, "anna", "m.room.guest_access", {}, state_key=""),
    )
    assert messages_of(found) == []
    unknown = ("message", "unknown kind")
    assert reasons(found) == [unknown, ("message", "encrypted"), unknown, unknown]


def test_kinds_of_messages(tmp_path: Path) -> None:
    question, answers = {"m.text": [{"body": "When?"}]}, [{"m.text": [{"body": "now"}]}, {"m.text": [{"body": "soon"}]}]
    found = messages_of(
        brought(
            tmp_path,
            event(1, "bert", "m.room.member", {"membership": "join", "displayname": "B"}, state_key=person_key("bert")),
            text(2, "waves", msgtype="m.emote"),
            text(3, "@room look", **{"m.mentions": {"room": True}}),
            event(4, "anna", "m.poll.start", {"m.poll": {"question": question, "answers": answers}}),
            text(5, "here", msgtype="m.location", geo_uri="geo:1,2"),
        )
    )
    assert [(one.type, one.content, one.mention_everyone) for one in found] == [
        (MessageType.USER_JOIN, "", False),
        (MessageType.DEFAULT, "*waves*", False),
        (MessageType.DEFAULT, "@everyone look", True),
        (MessageType.DEFAULT, "**When?**\n- now\n- soon", False),
        (MessageType.DEFAULT, "here\ngeo:1,2", False),
    ]


def test_files_are_told_apart_by_their_moment(tmp_path: Path) -> None:
    put(tmp_path, "images/a-9-13-2020 at 2-27-40 PM.png", b"first")
    put(tmp_path, "images/a-9-13-2020 at 2-28-40 PM.png", b"second!")
    picture = {"msgtype": "m.image", "url": "mxc://a.invalid/x"}
    found = brought(
        tmp_path,
        text(1, "a.png", **picture),
        text(2, "a caption", **picture, filename="a.png"),
        text(3, "a.png", **picture),
    )
    first, second, missing = messages_of(found)
    assert [(one.content, [file.size for file in one.files]) for one in (first, second)] == [
        ("", [5]),
        ("a caption", [7]),
    ]
    assert (missing.files, [embed["title"] for embed in missing.embeds]) == ((), ["a.png"])
    assert reasons(found) == [("file", "file is missing")]


def test_a_room_of_which_no_rule_is_told_is_for_those_in_it(tmp_path: Path) -> None:
    [room] = [one for one in brought(tmp_path, text(1, "x")) if isinstance(one, ChannelRecord)]
    assert len(room.overwrites) == 2


def test_other_json_is_no_export(tmp_path: Path) -> None:
    put(tmp_path, "a.json", {"messages": []})
    with pytest.raises(OperatorError, match="no export of a room"):
        read(MatrixExport, tmp_path)
