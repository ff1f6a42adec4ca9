"""What Slack's exports alone have: two ways to write text, kinds of messages, programs that write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from chat.imports.form import ChannelRecord, MessageRecord, PersonRecord, Record
from chat.imports.naming import Naming
from chat.imports.roster import Known, Roster
from chat.imports.slack import SlackExport
from chat.imports.slack_text import SlackText
from chat.registries.message_types import MessageType
from tests.imports.discord_world import put
from tests.imports.slack_maker import BEGAN, stamp
from tests.imports.talk_world import read, reasons

PEOPLE = Roster("slack")
PEOPLE.know("U1", Known(name="Anna"))
ANNA = PEOPLE.id_of("U1")
TEXT = SlackText(Naming(PEOPLE, {"C1": 77}, {}))


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("plain", "plain"),
        ("*bold* and _slanted_ and ~gone~", "**bold** and *slanted* and ~~gone~~"),
        ("*_both_*", "***both***"),
        ("2 * 3 * 4, snake_case, a*b*c", "2 * 3 * 4, snake_case, a\\*b\\*c"),
        ("*open", "\\*open"),
        ("*over _crossed* out_", "**over \\_crossed** out\\_"),
        ("`*code*` &lt;tag&gt; &amp;amp;", "`*code*` <tag> &amp;"),
        ("before\n```a *b*\n&lt;c&gt;```\nafter", "before\n```\na *b*\n<c>\n```\nafter"),
        ("&gt; quoted *so*\nnot", "> quoted **so**\nnot"),
        ("<@U1> in <#C1|harbour> and <#C2|gone>", f"<@{ANNA}> in <#77> and #gone"),
        ("<!here> <!channel> <!subteam^S1|@crew>", "@here @everyone @crew"),
        ("<!date^1600000000^{date}|13 Sept>", "13 Sept"),
        ("<https://a.invalid/?x=1&amp;y=2|a page>", "[a page](https://a.invalid/?x=1&y=2)"),
        ("<https://a.invalid/(b)> <mailto:a@b.invalid|a@b.invalid>", "https://a.invalid/%28b%29 a@b.invalid"),
        ("<javascript:alert(1)|press>", "press"),
        (":+1: :wave::skin-tone-3: :unheard_of:", "\N{THUMBS UP SIGN} \U0001f44b\U0001f3fc :unheard_of:"),
        ("@everyone", "\\@everyone"),
        ("# no heading", "\\# no heading"),
    ],
)
def test_mrkdwn(written: str, said: str) -> None:
    assert TEXT.mrkdwn(written) == said


def text(words: str, **style: bool) -> dict[str, Any]:
    return {"type": "text", "text": words, "style": style}


def test_blocks() -> None:
    section = {"type": "rich_text_section", "elements": [text("one"), text(" two ", bold=True), text("# three")]}
    item = {"type": "rich_text_section", "elements": [text("item")]}
    elements = [
        section,
        {"type": "rich_text_list", "style": "ordered", "indent": 1, "elements": [item, item]},
        {"type": "rich_text_list", "style": "bullet", "elements": [item]},
        {"type": "rich_text_quote", "elements": [text("said\nso")]},
        {"type": "rich_text_preformatted", "elements": [text("a ``` b")]},
    ]
    assert TEXT.blocks([{"type": "rich_text", "elements": elements}]) == (
        "one **two** \\# three\n  1. item\n  2. item\n- item\n> said\n> so\n````\na ``` b\n````"
    )
    blocks = [
        {"type": "header", "text": {"type": "plain_text", "text": "Tides"}},
        {
            "type": "section",
            "text": {"type": "mrkdwn", "text": "*high*"},
            "fields": [{"type": "plain_text", "text": "4 m"}],
        },
        {"type": "divider"},
        {"type": "context", "elements": [{"type": "mrkdwn", "text": "_noon_"}, {"type": "image", "alt_text": "x"}]},
        {"type": "image", "image_url": "https://a.invalid/t.png", "alt_text": "the tide"},
        {"type": "actions", "elements": []},
    ]
    assert TEXT.blocks(blocks) == "**Tides**\n**high**\n4 m\n*noon*\n[the tide](https://a.invalid/t.png)"


def brought(folder: Path, *messages: dict[str, Any], **channel: Any) -> list[Record]:
    general = {"id": "C1", "name": "general", "created": BEGAN - 9, "is_general": True, **channel}
    put(folder, "channels.json", [general])
    put(folder, "dms.json", [{"id": "D1", "members": ["U1", "U2"]}])
    put(folder, "D1/2020-09-13.json", [{"type": "message", "user": "U1", "text": "secret", "ts": stamp(0)}])
    put(folder, "strange/2020-09-13.json", [])
    put(folder, "users.json", [{"id": "U1", "name": "anna", "profile": {"display_name": "Anna"}}])
    put(folder, "general/2020-09-13.json", [{"type": "message", **one} for one in messages])
    return read(SlackExport, folder)


def messages_of(records: list[Record]) -> list[MessageRecord]:
    return [one for one in records if isinstance(one, MessageRecord)]


def test_direct_messages_stay_behind_and_are_told(tmp_path: Path) -> None:
    found = brought(tmp_path, {"user": "U1", "text": "open", "ts": stamp(1)}, is_archived=True)
    assert [one.content for one in messages_of(found)] == ["open"]
    told = [("channel", "direct messages"), ("channel", "unknown kind"), ("setting", "stays behind")]
    assert reasons(found) == told


def test_kinds_of_messages(tmp_path: Path) -> None:
    pin = {"subtype": "pinned_item", "item": {"message": {"ts": stamp(1)}}, "text": "pinned"}
    found = messages_of(
        brought(
            tmp_path,
            {"user": "U1", "ts": stamp(1), "subtype": "channel_join", "text": "<@U1> has joined the channel"},
            {"user": "U1", "ts": stamp(2), "subtype": "me_message", "text": "waves"},
            {"user": "U1", "ts": stamp(3), "subtype": "channel_topic", "text": "<@U1> set the topic: ships"},
            {"user": "U1", "ts": stamp(4), **pin},
            {"user": "U1", "ts": stamp(5), "subtype": "message_changed", "message": {}},
            {"user": "U1", "ts": stamp(6), "subtype": "tombstone", "text": "This message was deleted."},
        )
    )
    assert [(one.type, one.content) for one in found] == [
        (MessageType.USER_JOIN, ""),
        (MessageType.DEFAULT, "*waves*"),
        (MessageType.DEFAULT, f"<@{ANNA}> set the topic: ships"),
        (MessageType.CHANNEL_PINNED_MESSAGE, ""),
        (MessageType.DEFAULT, "This message was deleted."),
    ]
    assert found[3].reference is not None
    assert found[3].reference.message_id == found[0].id


def test_programs_keep_their_names(tmp_path: Path) -> None:
    shown = {"title": "Gale", "title_link": "https://w.invalid/", "text": "*9*", "color": "ff0000", "fallback": "x"}
    found = brought(
        tmp_path,
        {
            "bot_id": "B1",
            "subtype": "bot_message",
            "username": "weather",
            "text": "",
            "ts": stamp(1),
            "attachments": [shown],
        },
        {"bot_id": "B2", "user": "U9", "bot_profile": {"name": "helper"}, "text": "hi", "ts": stamp(2)},
    )
    first, second = messages_of(found)
    assert (first.webhook_name, second.webhook_name) == ("weather", None)
    [embed] = first.embeds
    assert {name: embed[name] for name in ("title", "url", "description", "color")} == {
        "title": "Gale",
        "url": "https://w.invalid/",
        "description": "**9**",
        "color": 0xFF0000,
    }
    [helper] = [one for one in found if isinstance(one, PersonRecord) and one.id == second.author_id]
    assert (helper.name, helper.bot, helper.original_id) == ("helper", True, "U9")


def test_a_thread_without_its_first_message_stands_by_itself(tmp_path: Path) -> None:
    found = brought(tmp_path, {"user": "U1", "text": "late *answer*", "ts": stamp(9), "thread_ts": stamp(1)})
    _, thread = [one for one in found if isinstance(one, ChannelRecord)]
    assert (thread.name, messages_of(found)[0].channel_id) == ("late answer", thread.id)


def test_what_has_no_picture_here_is_told(tmp_path: Path) -> None:
    reaction = {"name": "our_ship", "users": ["U1"], "count": 1}
    file = {"id": "F1", "name": "log.txt", "url_private": "https://files.invalid/log.txt?t=secret"}
    found = brought(tmp_path, {"user": "U1", "text": "x", "ts": stamp(1), "reactions": [reaction], "files": [file]})
    assert {("reaction", "file is missing"), ("file", "file is missing")} <= set(reasons(found))
    [message] = messages_of(found)
    assert [embed["title"] for embed in message.embeds] == ["log.txt"]
    assert "secret" not in str(message), "addresses of files let whoever has them in"
