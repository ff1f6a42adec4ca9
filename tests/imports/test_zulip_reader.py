"""What Zulip's exports alone have: topics, names in its own Markdown, quotes and spoilers, reactions in one table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from chat.errors import OperatorError
from chat.imports.form import ChannelRecord, ExpressionRecord, MessageRecord, PersonRecord, Record
from chat.imports.zulip import ZulipExport
from chat.registries.channel_types import ChannelType
from tests.imports.discord_world import put
from tests.imports.talk_world import BEGAN_MS, read, reasons

ANNA, BERT = 10, 11
HARBOUR = 100


def message(number: int, content: str, topic: str = "ships", **more: Any) -> dict[str, Any]:
    sent = BEGAN_MS / 1_000 + number // 10
    return {
        "id": number,
        "sender": ANNA,
        "recipient": HARBOUR,
        "subject": topic,
        "content": content,
        "date_sent": sent,
        **more,
    }


def brought(folder: Path, *messages: dict[str, Any], realm: dict[str, Any] | None = None, **wish: Any) -> list[Record]:
    tables = {
        "zerver_realm": [{"id": 2, "uuid": "u", "name": "Keepers"}],
        "zerver_userprofile": [{"id": ANNA, "full_name": "Anna"}, {"id": BERT, "full_name": "Bert", "is_bot": True}],
        "zerver_stream": [{"id": 50, "name": "harbour", "invite_only": False, "date_created": 1_500_000_000}],
        "zerver_recipient": [{"id": HARBOUR, "type": 2, "type_id": 50}, {"id": 101, "type": 1, "type_id": ANNA}],
    }
    put(folder, "realm.json", {**tables, **(realm or {})})
    put(folder, "messages-000001.json", {"zerver_message": list(messages)})
    return read(ZulipExport, folder, **wish)


def messages_of(records: list[Record]) -> list[MessageRecord]:
    return [one for one in records if isinstance(one, MessageRecord)]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("@**Bert|11** @_**Bert** @**Nobody**", "{bert} {bert} @Nobody"),
        ("@**all** @*crew* @**topic**", "@everyone @crew @topic"),
        ("#**harbour** #**harbour>ships@5** #**harbour>gone** #**else**", "{harbour} {ships} {harbour} > gone #else"),
        ("`@**all**` ``a ` b``", "`@**all**` ``a ` b``"),
        ("```quote\nsaid *so*\n```\nyes", "> said *so*\nyes"),
        ("````quote\n```py\n@**all**\n```\n````", "> ```py\n> @**all**\n> ```"),
        ("```spoiler The *end*\nall || sink\n\n@**Bert**\n```", "**The *end***\n||all \\|\\| sink||\n||{bert}||"),
        ("```math\nx^2\n```\n$$y_1$$", "```latex\nx^2\n```\n`y_1`"),
        ("_low_ and snake_case", "\\_low\\_ and snake_case"),
        ("/me waves", "*waves*"),
        ("<time:2020-01-01T00:00:00Z> :+1:", "2020-01-01T00:00:00Z \N{THUMBS UP SIGN}"),
        ("[here](#narrow/stream/5) [there](https://a.invalid/_x_)", "here [there](https://a.invalid/_x_)"),
        ("```\nnever closed", "```\nnever closed\n```"),
    ],
)
def test_markdown(written: str, said: str, tmp_path: Path) -> None:
    found = brought(tmp_path, message(1, "first"), message(2, written))
    ids = {one.original_id: one.id for one in found if isinstance(one, PersonRecord | ChannelRecord)}
    ships = next(one.id for one in found if isinstance(one, ChannelRecord) and one.name == "ships")
    names = {"bert": f"<@{ids.get(str(BERT))}>", "harbour": f"<#{ids['50']}>", "ships": f"<#{ships}>"}
    assert messages_of(found)[1].content == said.format_map(names)


def test_topics_are_posts_of_a_forum(tmp_path: Path) -> None:
    found = brought(
        tmp_path,
        message(1, "a"),
        message(2, "b", "Tides"),
        message(3, "c", "SHIPS"),
        message(4, "d", ""),
        message(5, "e"),
    )
    forum, *threads = [one for one in found if isinstance(one, ChannelRecord)]
    assert (forum.type, [one.name for one in threads]) == (ChannelType.GUILD_FORUM, ["ships", "Tides", "general chat"])
    a, b, c, d, e = messages_of(found)
    assert [one.channel_id for one in (a, b, c, d, e)] == [a.id, b.id, a.id, d.id, a.id]
    assert a.id < b.id < c.id < d.id < e.id, "the order within a second"


def test_a_topic_keeps_its_thread_when_only_new_messages_come(tmp_path: Path) -> None:
    every = message(1, "old"), message(90, "new")
    whole, [new] = (
        messages_of(brought(tmp_path, *every)),
        messages_of(brought(tmp_path, *every, since=BEGAN_MS + 5_000)),
    )
    assert (new.content, new.channel_id) == ("new", whole[0].id)


def test_direct_messages_and_what_nobody_tells_of(tmp_path: Path) -> None:
    found = brought(tmp_path, message(1, "secret", recipient=101), message(2, "x", sender=None))
    assert messages_of(found) == []
    assert reasons(found) == [("message", "direct messages"), ("message", "no id")]


def test_uploads_emojis_and_reactions(tmp_path: Path) -> None:
    put(tmp_path, "uploads/2/ab/tide.txt", b"high")
    put(tmp_path, "emoji/2/emoji/images/7.gif", b"picture")
    put(tmp_path, "emoji/records.json", [{"path": "2/emoji/images/7.gif"}])
    emoji = {"id": 7, "name": "ship", "file_name": "7.gif", "is_animated": True}
    reactions = [
        {"id": 1, "message": 1, "user_profile": BERT, "reaction_type": "realm_emoji", "emoji_name": "ship"},
        {"id": 2, "message": 2, "user_profile": BERT, "reaction_type": "unicode_emoji", "emoji_code": "1f44d"},
        {"id": 3, "message": 1, "user_profile": ANNA, "reaction_type": "unicode_emoji", "emoji_code": "1f44d-1f3fb"},
        {"id": 4, "message": 1, "user_profile": ANNA, "reaction_type": "zulip_extra_emoji", "emoji_name": "none_such"},
    ]
    content = "see [tide](/user_uploads/2/ab/tide.txt) [gone](/user_uploads/2/ab/gone.txt) :ship:"
    realm = {"zerver_realmemoji": [emoji], "zerver_reaction": reactions}
    found = brought(tmp_path, message(1, content), message(2, "x"), realm=realm)
    [ship] = [one for one in found if isinstance(one, ExpressionRecord)]
    first, second = messages_of(found)
    assert first.content == f"see   <a:ship:{ship.id}>"
    assert [(one.name, one.size) for one in first.files] == [("tide", 4)]
    assert [embed["title"] for embed in first.embeds] == ["gone"]
    light = "\N{THUMBS UP SIGN}\N{EMOJI MODIFIER FITZPATRICK TYPE-1-2}"
    assert [(one.name, one.emoji_id) for one in first.reactions] == [("ship", ship.id), (light, None)]
    assert [one.name for one in second.reactions] == ["\N{THUMBS UP SIGN}"]
    assert reasons(found) == [("file", "file is missing"), ("reaction", "file is missing")]


def test_a_realm_is_needed(tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match="no realm"):
        brought(tmp_path, realm={"zerver_realm": []})
