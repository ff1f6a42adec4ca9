"""What the reader makes of exports of DiscordChatExporter, with everything in them that others stumbled over."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path
from typing import Any, TypeVar

import pytest

from chat.errors import OperatorError
from chat.imports.form import (
    ChannelRecord,
    ExpressionRecord,
    GuildRecord,
    MessageRecord,
    PersonRecord,
    Record,
    RoleRecord,
    TroubleRecord,
)
from chat.registries.channel_types import ChannelType
from chat.registries.message_types import MessageFlag, MessageType
from chat.registries.permissions import Permission
from tests.imports.discord_world import (
    ANNA,
    BERT,
    GUILD_ID,
    channel,
    channel_id,
    export,
    message,
    moment,
    packed,
    person,
    put,
    records,
)

T = TypeVar("T")


def of(kind: type[T], found: list[Record]) -> list[T]:
    return [record for record in found if isinstance(record, kind)]


def read_one(folder: Path, *messages: dict[str, Any], **more: Any) -> list[Record]:
    put(folder, "general.json", export(channel(1, "general", **more), *messages))
    return records(folder)


def the_message(folder: Path, *args: Any, **more: Any) -> MessageRecord:
    [found] = of(MessageRecord, read_one(folder, message(1, *args, **more)))
    return found


def test_guild_channel_people_and_message_keep_their_ids_and_come_in_order(tmp_path: Path) -> None:
    found = read_one(tmp_path, message(1, "first"), message(2, "second", BERT))
    assert [type(record) for record in found] == [
        GuildRecord,
        ChannelRecord,
        PersonRecord,
        MessageRecord,
        PersonRecord,
        MessageRecord,
    ]
    assert of(GuildRecord, found)[0].id == GUILD_ID
    assert of(ChannelRecord, found)[0] == ChannelRecord(id=channel_id(1), type=0, name="general", position=0)
    assert [(record.id, record.content) for record in of(MessageRecord, found)] == [
        (moment(1), "first"),
        (moment(2), "second"),
    ]
    assert of(PersonRecord, found)[0] == PersonRecord(id=int(ANNA["id"]), name="Anna", username="anna")


def test_a_zip_gives_what_its_directory_gives(tmp_path: Path) -> None:
    folder = tmp_path / "export"
    put(folder, "general.json", export(channel(1, "general"), message(1, "first")))
    put(folder, "deep/er/other.json", export(channel(2, "other"), message(2, "second")))
    assert records(packed(folder, tmp_path / "export.zip")) == records(folder)


def test_parts_and_overlapping_exports_of_one_channel_come_in_order_of_their_messages(tmp_path: Path) -> None:
    put(tmp_path, "general [part 2].json", export(channel(1, "general"), message(3), message(4, "d")))
    put(tmp_path, "general.json", export(channel(1, "general"), message(1, "a"), message(3, "c")))
    put(tmp_path, "older/general.json", export(channel(1, "general"), message(1, "a"), message(2, "b")))
    found = records(tmp_path)
    assert len(of(ChannelRecord, found)) == 1
    assert {record.content for record in of(MessageRecord, found)} == {"a", "b", "c", "d"}


def test_categories_come_before_channels_and_channels_before_threads(tmp_path: Path) -> None:
    category = {"categoryId": str(channel_id(9)), "category": "Rooms"}
    put(
        tmp_path,
        "a.json",
        export(channel(5, "thread", "GuildPublicThread", categoryId=str(channel_id(6)), category="b")),
    )
    put(tmp_path, "b.json", export(channel(6, "b", **category)))
    channels = of(ChannelRecord, records(tmp_path))
    assert [(one.name, one.type, one.parent_id) for one in channels] == [
        ("Rooms", ChannelType.GUILD_CATEGORY, None),
        ("b", ChannelType.GUILD_TEXT, channel_id(9)),
        ("thread", ChannelType.PUBLIC_THREAD, channel_id(6)),
    ]
    assert channels[2].thread is not None


@pytest.mark.parametrize(
    ("starts_with_itself", "kind"), [(True, ChannelType.GUILD_FORUM), (False, ChannelType.GUILD_TEXT)]
)
def test_the_channel_above_a_thread_is_made_where_no_file_has_it(
    tmp_path: Path, starts_with_itself: bool, kind: ChannelType
) -> None:
    thread = channel(0, "post", "GuildPublicThread", categoryId=str(channel_id(6)), category="ideas")
    thread["id"] = str(moment(1 if starts_with_itself else 0))
    put(tmp_path, "post.json", export(thread, message(1, "look")))
    above, below = of(ChannelRecord, records(tmp_path))
    assert (above.id, above.name, above.type) == (channel_id(6), "ideas", kind)
    assert below.parent_id == above.id


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("GuildNews", ChannelType.GUILD_ANNOUNCEMENT),
        ("GuildStageVoice", ChannelType.GUILD_VOICE),
        ("GuildForum", ChannelType.GUILD_FORUM),
        ("16", ChannelType.GUILD_MEDIA),
    ],
)
def test_kinds_of_channels(tmp_path: Path, word: str, kind: ChannelType) -> None:
    put(tmp_path, "it.json", export(channel(1, "it", word), message(1, "x")))
    [found] = of(ChannelRecord, records(tmp_path))
    assert found.type == kind


def test_conversations_are_left_where_they_are_and_told_of(tmp_path: Path) -> None:
    put(tmp_path, "dm.json", export(channel(2, "bert", "DirectTextChat"), message(2, "psst"), guild_id=0))
    found = read_one(tmp_path, message(1, "hello"))
    assert [record.content for record in of(MessageRecord, found)] == ["hello"]
    assert of(TroubleRecord, found) == [TroubleRecord(what="channel", name="bert", reason="direct messages")]


def test_an_export_with_markdown_on_gets_its_ids_back(tmp_path: Path) -> None:
    put(tmp_path, "rules.json", export(channel(2, "rules"), message(9, "x")))
    found = read_one(
        tmp_path,
        message(
            1,
            "@Bert see #rules :wave: `@Bert` Invalid date @Nobody",
            mentions=[BERT],
            inlineEmojis=[{"id": "77", "name": "wave", "code": "wave", "isAnimated": True, "imageUrl": "x"}],
        ),
    )
    first = of(MessageRecord, found)[0]
    assert first.content == f"<@{BERT['id']}> see <#{channel_id(2)}> <a:wave:77> `@Bert` Invalid date @Nobody"
    assert first.mentions == (int(BERT["id"]),)


def test_mentions_of_roles_and_of_everyone_stand_in_the_text(tmp_path: Path) -> None:
    found = the_message(tmp_path, "<@&55> and @everyone, not `<@&56>`")
    assert found.mention_roles == (55,)
    assert found.mention_everyone


def test_roles_are_those_that_authors_had(tmp_path: Path) -> None:
    keeper = person(1_000, "anna", roles=[{"id": "55", "name": "Keeper", "color": "#FFAA00", "position": 3}])
    assert of(RoleRecord, read_one(tmp_path, message(1, "x", keeper))) == [
        RoleRecord(id=55, name="Keeper", color=0xFFAA00, position=3)
    ]


def test_people_who_only_react_or_are_only_named_come_along(tmp_path: Path) -> None:
    celia = person(3_000, "celia")
    reaction = {"emoji": {"id": "", "name": "\N{THUMBS UP SIGN}", "code": "thumbsup"}, "count": 3, "users": [celia]}
    found = read_one(tmp_path, message(1, "x", mentions=[BERT], reactions=[reaction]))
    assert {record.name for record in of(PersonRecord, found)} == {"Anna", "Bert", "Celia"}
    [made] = of(MessageRecord, found)[0].reactions
    assert (made.name, made.count, made.user_ids) == ("\N{THUMBS UP SIGN}", 3, (int(celia["id"]),))


def test_what_a_person_says_of_themselves_counts_more_than_a_mention(tmp_path: Path) -> None:
    put(tmp_path, "a/bert.png", b"picture")
    named = {**BERT, "nickname": "bert", "avatarUrl": "https://cdn.invalid/x.png"}
    writing = {**BERT, "avatarUrl": "a\\bert.png"}
    found = read_one(tmp_path, message(1, "@bert", mentions=[named]), message(2, "yes", writing))
    last = [record for record in of(PersonRecord, found) if record.id == int(BERT["id"])][-1]
    assert (last.name, last.avatar) == ("Bert", "a/bert.png")


def test_bots_are_bots_and_webhooks_keep_the_name_of_each_message(tmp_path: Path) -> None:
    bot = person(4_000, "beacon", isBot=True, discriminator="1234")
    hook = person(5_000, "weather", isBot=True, discriminator="0000")
    embed = {"title": "Gale", "description": "from the west", "color": "#112233", "fields": []}
    found = read_one(tmp_path, message(1, "", bot, embeds=[embed]), message(2, "calm", hook))
    assert [(record.name, record.bot) for record in of(PersonRecord, found)] == [("Beacon", True)]
    by_bot, by_hook = of(MessageRecord, found)
    assert by_bot.embeds == ({"type": "rich", "title": "Gale", "description": "from the west", "color": 0x112233},)
    assert (by_hook.author_id, by_hook.webhook_name) == (int(hook["id"]), "weather")


def test_a_reply_keeps_its_reference_even_to_what_is_missing(tmp_path: Path) -> None:
    reference = {"messageId": "999", "channelId": str(channel_id(1)), "guildId": str(GUILD_ID)}
    found = the_message(tmp_path, "no", type="Reply", reference=reference)
    assert found.type == MessageType.REPLY
    assert found.reference is not None
    assert (found.reference.channel_id, found.reference.message_id) == (channel_id(1), 999)


def test_system_messages_become_ours_or_text(tmp_path: Path) -> None:
    found = read_one(
        tmp_path,
        message(1, "Pinned a message.", type="ChannelPinnedMessage"),
        message(2, "Joined the server.", type="GuildMemberJoin"),
        message(3, "Boosted the server!", type="8"),
        message(4, "", type="8"),
    )
    assert [(one.type, one.content) for one in of(MessageRecord, found)] == [
        (MessageType.CHANNEL_PINNED_MESSAGE, ""),
        (MessageType.USER_JOIN, ""),
        (MessageType.DEFAULT, "Boosted the server!"),
    ]
    assert of(TroubleRecord, found) == [TroubleRecord(what="message", name=str(moment(4)), reason="unknown kind")]


def test_a_message_says_that_a_thread_was_started_from_it(tmp_path: Path) -> None:
    thread = channel(0, "aside", "GuildPublicThread", categoryId=str(channel_id(1)), category="general")
    put(tmp_path, "aside.json", export({**thread, "id": str(moment(1))}, message(2, "here")))
    found = of(MessageRecord, read_one(tmp_path, message(1, "start")))
    assert [one.flags for one in found] == [MessageFlag.HAS_THREAD, 0]


def test_edits_of_any_time_zone(tmp_path: Path) -> None:
    assert the_message(tmp_path, "x", timestampEdited="2020-09-13T14:30:00.5+02:00").edited_at == 1_600_000_200_500
    assert the_message(tmp_path, "x", timestampEdited="Invalid date").edited_at is None


def test_files_beside_the_export_are_found_by_the_paths_of_windows(tmp_path: Path) -> None:
    put(tmp_path, "general_Files/a b-1.png", b"picture")
    files = [
        {"id": "11", "url": "general_Files\\a b-1.png", "fileName": "a b.png", "fileSizeBytes": 7},
        {"id": "12", "url": "general_Files/a%20b-1.png", "fileName": "again.png", "fileSizeBytes": 7},
    ]
    assert [one.path for one in the_message(tmp_path, attachments=files).files] == ["general_Files/a b-1.png"] * 2


@pytest.mark.parametrize(
    "url", ["https://cdn.invalid/gone.png", "../secret.png", "/etc/hostname", "general_Files/no", ""]
)
def test_a_file_that_is_missing_or_elsewhere_is_told_and_shown_by_its_name(tmp_path: Path, url: str) -> None:
    put(tmp_path, "secret.png", b"not of the export")
    folder = tmp_path / "export"
    found = read_one(folder, message(1, attachments=[{"id": "11", "url": url, "fileName": "gone.png"}]))
    [trouble] = of(TroubleRecord, found)
    assert trouble.reason == "file is missing"
    [shown] = of(MessageRecord, found)
    assert shown.files == ()
    assert shown.embeds[0]["title"] == "gone.png"


def test_a_symbolic_link_is_no_file_of_the_export(tmp_path: Path) -> None:
    put(tmp_path, "secret.png", b"not of the export")
    folder = tmp_path / "export"
    folder.mkdir()
    os.symlink(tmp_path / "secret.png", folder / "link.png")
    found = read_one(folder, message(1, attachments=[{"id": "11", "url": "link.png", "fileName": "link.png"}]))
    assert [one.reason for one in of(TroubleRecord, found)] == ["file is missing"]


def test_a_zip_that_leads_out_or_holds_links_has_no_such_files(tmp_path: Path) -> None:
    folder = tmp_path / "export"
    files = [
        {"id": str(number), "url": url, "fileName": "x"} for number, url in enumerate(["../up.png", "link.png"], 1)
    ]
    put(folder, "general.json", export(channel(1, "general"), message(1, attachments=files)))
    path = packed(folder, tmp_path / "export.zip")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("../up.png", b"up")
        link = zipfile.ZipInfo("link.png")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/hostname")
    assert [one.reason for one in of(TroubleRecord, records(path))] == ["file is missing"] * 2


def test_emojis_come_along_where_the_export_has_their_pictures(tmp_path: Path) -> None:
    put(tmp_path, "e/wave.gif", b"picture")
    emojis = [
        {"id": "77", "name": "wave", "code": "wave", "isAnimated": True, "imageUrl": "e/wave.gif"},
        {"id": "78", "name": "gone", "code": "gone", "isAnimated": False, "imageUrl": "https://cdn.invalid/e.png"},
    ]
    found = read_one(tmp_path, message(1, "<a:wave:77>", inlineEmojis=emojis), message(2, "x", inlineEmojis=emojis))
    assert of(ExpressionRecord, found) == [
        ExpressionRecord(id=77, what="emojis", name="wave", path="e/wave.gif", animated=True)
    ]


def test_bad_values_are_refused_one_by_one(tmp_path: Path) -> None:
    future = message(1)
    future["id"] = str((1 << 62) - 1)
    found = read_one(
        tmp_path,
        {**message(1, "a"), "id": "not a number"},
        {**message(1, "b"), "id": str(1 << 70)},
        {**message(1, "c"), "author": None},
        future,
        message(2, "fine", reactions="no list", embeds=[7], mentions=[None], attachments={"a": 1}),
        {"id": str(moment(3))},
    )
    assert [record.content for record in of(MessageRecord, found)] == ["fine"]
    assert [record.reason for record in of(TroubleRecord, found)] == [
        "no id",
        "no id",
        "no id",
        "from the future",
        "no id",
    ]


def test_half_of_a_pair_and_a_long_name_do_no_harm(tmp_path: Path) -> None:
    of_export = export(channel(1, "n" * 10_000), message(1, "half \ud83d pair"))
    put(tmp_path, "it.json", json.dumps(of_export).encode())
    found = records(tmp_path)
    assert len(of(ChannelRecord, found)[0].name) == 100
    of(MessageRecord, found)[0].content.encode()


def test_a_file_that_is_broken_off_gives_what_came_before_and_is_told(tmp_path: Path) -> None:
    place = put(tmp_path, "general.json", export(channel(1, "general"), message(1, "a"), message(2, "b")))
    whole = place.read_bytes()
    place.write_bytes(whole[: whole.index(b'"b"')])
    found = records(tmp_path)
    assert [record.content for record in of(MessageRecord, found)] == ["a"]
    assert of(TroubleRecord, found) == [TroubleRecord(what="file", name="general.json", reason="not readable")]


def test_nesting_without_end_is_told(tmp_path: Path) -> None:
    put(tmp_path, "deep.json", b"[" * 1_000_000)
    put(tmp_path, "deeper.json", b'{"guild": ' + b"[" * 1_000_000)
    found = read_one(tmp_path, message(1, "fine"))
    assert {record.name for record in of(TroubleRecord, found)} == {"deep.json", "deeper.json"}


def test_other_guilds_and_no_export_at_all_are_refused(tmp_path: Path) -> None:
    put(tmp_path, "notes.json", {"hello": 1})
    with pytest.raises(OperatorError, match="no export"):
        records(tmp_path)
    put(tmp_path, "a.json", export(channel(1, "a")))
    put(tmp_path, "b.json", export(channel(2, "b"), guild_id=5))
    with pytest.raises(OperatorError, match="more than one guild"):
        records(tmp_path)


def test_a_broken_zip_is_refused_in_one_line(tmp_path: Path) -> None:
    folder = tmp_path / "export"
    put(folder, "general.json", export(channel(1, "general"), message(1, "first")))
    path = packed(folder, tmp_path / "export.zip")
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(OperatorError):
        records(path)


def test_only_what_is_wanted_comes(tmp_path: Path) -> None:
    put(tmp_path, "other.json", export(channel(2, "other"), message(5, "elsewhere")))
    put(tmp_path, "general.json", export(channel(1, "general"), message(1, "old"), message(9, "new")))
    since = (moment(9) >> 22) + 1_420_070_400_000
    found = records(tmp_path, channels=frozenset({"general"}), since=since)
    assert [record.content for record in of(MessageRecord, found)] == ["new"]


def test_a_template_gives_permissions_by_name(tmp_path: Path) -> None:
    view, send = Permission.VIEW_CHANNEL.value, Permission.SEND_MESSAGES.value
    put(
        tmp_path,
        "template.json",
        {
            "serialized_source_guild": {
                "roles": [
                    {"id": 0, "name": "@everyone", "permissions": str(view)},
                    {"id": 1, "name": "Keeper", "permissions": str(view | send | 1 << 60), "color": 5, "hoist": True},
                ],
                "channels": [
                    {
                        "name": "general",
                        "position": 4,
                        "nsfw": True,
                        "permission_overwrites": [{"id": 1, "type": 0, "allow": str(send), "deny": "0"}],
                    }
                ],
            }
        },
    )
    keeper = person(1_000, "anna", roles=[{"id": "55", "name": "Keeper", "color": "#FFAA00", "position": 3}])
    found = read_one(tmp_path, message(1, "x", keeper))
    everyone, role = of(RoleRecord, found)
    assert (everyone.id, everyone.permissions) == (GUILD_ID, view)
    assert (role.name, role.color, role.hoist) == ("Keeper", 5, True)
    assert role.permissions & (view | send) == view | send
    [made] = of(ChannelRecord, found)
    assert (made.position, made.nsfw) == (4, True)
    assert [(one.target_id, one.allow) for one in made.overwrites] == [(role.id, send)]
