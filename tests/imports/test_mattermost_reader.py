"""What Mattermost's exports alone have: names with `@` and `~` in Markdown, teams, programs that write, answers inside
of posts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chat.errors import OperatorError
from chat.imports.form import ChannelRecord, ExpressionRecord, MessageRecord, PersonRecord, Record
from chat.imports.mattermost import MattermostExport
from chat.registries.channel_types import ChannelType
from chat.registries.message_types import MessageType
from chat.snowflake import snowflake_time_ms
from tests.imports.discord_world import put
from tests.imports.talk_world import BEGAN_MS, read, reasons

Line = dict[str, Any]


def line(kind: str, **value: Any) -> Line:
    return {"type": kind, kind: value}


def post(number: int, message: str = "x", user: str = "anna", **more: Any) -> Line:
    return {"user": user, "message": message, "create_at": BEGAN_MS + number, "channel": "town", "team": "one", **more}


HEAD = (
    line("team", name="one", display_name="One"),
    line("channel", team="one", name="town", display_name="Town", type="O"),
    line("user", username="anna", nickname="Anna"),
    line("user", username="dot.name", first_name="Dot", last_name="Name"),
)


def brought(folder: Path, *lines: Line, head: tuple[Line, ...] = HEAD, **wish: Any) -> list[Record]:
    every = [{"type": "version", "version": 1}, *head, *lines]
    put(folder, "import.jsonl", "".join(f"{json.dumps(one)}\n" for one in every).encode())
    return read(MattermostExport, folder, **wish)


def messages_of(records: list[Record]) -> list[MessageRecord]:
    return [one for one in records if isinstance(one, MessageRecord)]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("ask @dot.name.", "ask {dot}."),
        ("@anna, @all and @here; me@anna.invalid", "{anna}, @everyone and @here; me@anna.invalid"),
        ("@nobody", "@nobody"),
        ("in ~town or ~gone", "in {town} or ~gone"),
        ("`@anna` and\n```py\n@anna ~town\n```", "`@anna` and\n```py\n@anna ~town\n```"),
        ("~~~\ncode\n~~~", "```\ncode\n```"),
        ("__strong__ not_this__one", "**strong** not_this__one"),
        ("![sea](https://a.invalid/@anna)", "[sea](https://a.invalid/@anna)"),
        ("##### deep", "### deep"),
        ("a || b", "a \\|\\| b"),
        ("<@1> @everyone \\@anna", "\\<@1> \\@everyone \\@anna"),
        (":+1: :our_ship:", "\N{THUMBS UP SIGN} :our_ship:"),
    ],
)
def test_markdown(written: str, said: str, tmp_path: Path) -> None:
    found = brought(tmp_path, line("post", **post(1, written)))
    ids = {one.original_id: one.id for one in found if isinstance(one, PersonRecord | ChannelRecord)}
    names = {"anna": f"<@{ids.get('anna')}>", "dot": f"<@{ids.get('dot.name')}>", "town": f"<#{ids['one/town']}>"}
    assert messages_of(found)[0].content == said.format_map(names)


def test_several_teams_are_categories(tmp_path: Path) -> None:
    more = (line("team", name="two"), line("channel", team="two", name="town", display_name="Town", type="O"))
    found = brought(tmp_path, line("post", **post(1)), line("post", **post(1, team="two")), head=(*HEAD, *more))
    places = [(one.type, one.name) for one in found if isinstance(one, ChannelRecord)]
    text, above = ChannelType.GUILD_TEXT, ChannelType.GUILD_CATEGORY
    assert places == [(above, "One"), (text, "Town"), (above, "two"), (text, "Town")]
    assert len({one.id for one in messages_of(found)}) == 2


def test_kinds_of_posts(tmp_path: Path) -> None:
    box = {"title": "Gale", "text": "__9__ @anna", "color": "#ff0000"}
    hook = {"from_webhook": "true", "override_username": "weather", "attachments": [box]}
    found = brought(
        tmp_path,
        line("post", **post(1, "joined", type="system_join_team")),
        line("post", **post(2, "", props=json.dumps(hook))),
        line("post", **post(3, "one")),
        line("post", **post(3, "another of the same moment")),
        line("post", **post(3, "one")),
        line("direct_post", **post(4, "secret")),
    )
    joined, told, one, another, same = messages_of(found)
    assert (joined.type, joined.content) == (MessageType.USER_JOIN, "")
    assert told.webhook_name == "weather"
    assert told.embeds[0]["description"].startswith("**9** <@")
    assert snowflake_time_ms(one.id) == snowflake_time_ms(another.id)
    assert (one.id == same.id, one.id == another.id) == (True, False)
    assert reasons(found) == [("message", "direct messages")]


def test_answers_come_without_what_they_answer(tmp_path: Path) -> None:
    replies = [post(5, "new answer"), post(2, "old answer")]
    found = brought(tmp_path, line("post", **post(1, "old", replies=replies)), since=BEGAN_MS + 4)
    [message] = messages_of(found)
    *_, thread = [one for one in found if isinstance(one, ChannelRecord)]
    assert (message.content, message.channel_id, thread.name) == ("new answer", thread.id, "old")


def test_emojis_with_their_pictures(tmp_path: Path) -> None:
    put(tmp_path, "data/emoji/ship", b"picture")
    emoji = line("emoji", name="ship", image="emoji/ship")
    gone = line("emoji", name="gone", image="emoji/gone")
    reactions = [{"user": "anna", "emoji_name": one} for one in ("ship", "gone", "+1")]
    found = brought(tmp_path, line("post", **post(1, "a :ship:", reactions=reactions)), head=(*HEAD, emoji, gone))
    [ship] = [one for one in found if isinstance(one, ExpressionRecord)]
    [message] = messages_of(found)
    assert message.content == f"a <:ship:{ship.id}>"
    assert [(one.name, one.emoji_id) for one in message.reactions] == [("ship", ship.id), ("\N{THUMBS UP SIGN}", None)]
    assert reasons(found) == [("expression", "file is missing"), ("reaction", "file is missing")]


def test_a_line_that_cannot_be_read_is_told_and_the_next_one_read(tmp_path: Path) -> None:
    brought(tmp_path)
    with (tmp_path / "import.jsonl").open("ab") as file:
        file.write(b'{"type": "post", "post": \n' + json.dumps(line("post", **post(1))).encode())
    found = read(MattermostExport, tmp_path / "import.jsonl")
    assert len(messages_of(found)) == 1
    assert reasons(found) == [("file", "not readable")]


def test_another_version_is_refused(tmp_path: Path) -> None:
    put(tmp_path, "import.jsonl", b'{"type": "version", "version": 2}\n')
    with pytest.raises(OperatorError, match="version 2"):
        read(MattermostExport, tmp_path)
