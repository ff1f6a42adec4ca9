"""`chat export guild` and `chat import community`: a guild that leaves one instance and arrives in another is the
same."""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path
from typing import Any, Final

import pytest

from chat.imports import form_lines
from chat.imports.community import LINES
from chat.imports.form import ChannelRecord, GuildRecord, MessageRecord, PersonRecord, ReactionRecord
from tests.cli.command_line import ALICE, CHANNEL
from tests.imports.discord_world import ANNA, BERT, channel, channel_id, export, message, moment, person, put
from tests.imports.import_command import PICTURE, ImportCommand

WORDS = ("lamp", "**oil**", "fog <b>", "`code`", "\N{WAVE DASH}", "@everyone", f"<@{ANNA['id']}>")


def world(folder: Path, seed: int) -> Path:
    """A random export: channels, a thread, people, reactions, replies, pins, edits, files."""
    chance = random.Random(seed)
    put(folder, "media/wave.png", PICTURE)
    people = [{**ANNA, "avatarUrl": "media/wave.png"}, BERT, person(3_000, "Cora C."), person(4_000, "rob", isBot=True)]
    people.append(person(5_000, "weather", isBot=True, discriminator="0000"))
    number = 0
    for place in range(1, chance.randint(2, 4)):
        found = []
        for _ in range(chance.randint(1, 12)):
            number += 1
            more: dict[str, Any] = {"isPinned": chance.random() < 0.2}
            if chance.random() < 0.3:
                thumb = {"id": "", "name": "\N{THUMBS UP SIGN}"}
                more["reactions"] = [{"emoji": thumb, "count": 2, "users": chance.sample(people[:4], 2)}]
            if chance.random() < 0.3:
                picture = {"id": str(90_000 + number), "url": "media/wave.png", "fileName": "dawn.png"}
                more["attachments"] = [picture]
            if chance.random() < 0.3:
                more["timestampEdited"] = "2021-01-01T00:00:00+00:00"
            if number > 1 and chance.random() < 0.3:
                more |= {"type": "Reply", "reference": {"messageId": str(moment(number - 1))}}
            if chance.random() < 0.2:
                more["embeds"] = [{"title": "tide", "description": "high", "color": "#00FF00"}]
            text = " ".join(chance.choices(WORDS, k=chance.randint(1, 5)))
            found.append(message(number, text, chance.choice(people), **more))
        put(folder, f"{place}.json", export(channel(place, f"room{place}", topic="talk"), *found))
    of = channel(0, "aside", "GuildPublicThread", categoryId=str(channel_id(1)), category="room1")
    put(folder, "aside.json", export({**of, "id": str(moment(1))}, message(900, "calm", BERT)))
    return folder


MOVED: Final = {
    "channels": (
        "id type name topic position parent_id nsfw nsfw_override content_warning_level content_warning_text "
        "rate_limit_per_user bitrate user_limit voice_connection_limit url owner_id last_message_id last_pin_timestamp "
        "flags default_auto_archive_duration default_thread_rate_limit_per_user forum"
    ),
    "roles": "id name position permissions color hoist_position hoist mentionable unicode_emoji",
    "permission_overwrites": "channel_id target_id type allow deny",
    "threads": "id archived auto_archive_duration locked invitable message_count created_at applied_tags",
    "messages": (
        "id channel_id author_id type content webhook_id edited_at pinned_at mention_everyone tts reference "
        "has_reactions extra"
    ),
    "message_mentions": "message_id user_id",
    "message_role_mentions": "message_id role_id",
    "attachments": (
        "id channel_id message_id user_id position filename title description content_type content_hash size width "
        "height flags stored duration waveform placeholder"
    ),
    "expressions": "id kind user_id name animated description tags",
    "users": "id username global_name bot avatar",
}
"""What is the same afterwards, by table."""

TOLD: Final = {
    "channels": "rtc_region guild_id icon message_retention_days",
    "roles": "guild_id",
    "permission_overwrites": "",
    "threads": "archive_timestamp total_message_sent member_count archive_at guild_id parent_id",
    "messages": "flags nonce",
    "message_mentions": "counted claimed_from",
    "message_role_mentions": "",
    "attachments": "capability_hash expires_at file_id scheduled_id",
    "expressions": "guild_id",
}
"""What is not: the new place has its own of it, or the export tells that it stays behind."""

REACTIONS: Final = """
    SELECT message_id, emoji, emoji_id, emoji_name, animated, user_count, json_group_array(user_id)
      FROM message_reactions JOIN (SELECT * FROM message_reaction_users ORDER BY user_id) ON reaction_id = id
     GROUP BY message_id, emoji
"""


def rows_of(importing: ImportCommand, guild_id: object) -> dict[str, list[tuple[Any, ...]]]:
    """Everything of an instance that moves; what names the guild names GUILD."""
    found = {"reactions": sorted(importing.rows(REACTIONS), key=repr)}
    ours = {str(guild_id), "4000000000001", "4000000000002"}
    for table, columns in MOVED.items():
        rows = importing.rows(f"SELECT {', '.join(columns.split())} FROM {table}")  # noqa: S608 - our own names
        named = [tuple("GUILD" if str(one) == str(guild_id) else _plain(one, guild_id) for one in row) for row in rows]
        found[table] = sorted((row for row in named if str(row[0]) not in ours), key=repr)
    return found


def _plain(value: object, guild_id: object) -> object:
    """Embeds that the server made of links arrive as those that were written."""
    if not isinstance(value, str) or not value.startswith("{"):
        return value
    found = json.loads(value.replace(str(guild_id), "0"))
    if "link_embeds" in found:
        found["embeds"] = [*found.get("embeds", ()), *found.pop("link_embeds")]
    return json.dumps({name: one for name, one in found.items() if one not in (None, [], 0)}, sort_keys=True)


def lived_in(importing: ImportCommand, chance: random.Random, guild_id: int) -> None:
    """What people set up and say here, of which no other service's export tells."""
    rooms = [
        number for (number,) in importing.rows("SELECT id FROM channels WHERE guild_id = ? AND type = 0", guild_id)
    ]
    tag = {"id": 31, "name": "calm", "moderated": True, "emoji_id": None, "emoji_name": "\N{WAVE DASH}"}
    forum = {
        "tags": [tag],
        "default_reaction": {"emoji_id": None, "emoji_name": "\N{THUMBS UP SIGN}"},
        "default_sort_order": chance.choice((None, 0, 1)),
        "default_layout": chance.choice((0, 1, 2)),
        "default_tag_setting": chance.choice(("match_some", "match_all")),
    }
    importing.execute(
        "INSERT INTO channels (id, guild_id, type, name, position, flags, forum, default_auto_archive_duration) "
        "VALUES (41, ?, 15, 'posts', 9, 16, ?, 1440)",
        guild_id,
        json.dumps(forum),
    )
    importing.execute(
        "INSERT INTO channels (id, guild_id, type, name, bitrate, user_limit, voice_connection_limit) "
        "VALUES (42, ?, 2, 'radio', 96000, 7, 3)",
        guild_id,
    )
    importing.execute(
        "INSERT INTO roles (id, guild_id, name, position, permissions, color, hoist, hoist_position, unicode_emoji) "
        "VALUES (51, ?, 'Keeper', 2, 2048, 255, 1, 4, '\N{WAVE DASH}')",
        guild_id,
    )
    importing.execute("INSERT INTO permission_overwrites VALUES (?, 51, 0, 1024, 2048)", rooms[0])
    importing.execute(
        "INSERT INTO permission_overwrites SELECT ?, max(user_id), 1, 0, 2048 FROM placeholders", rooms[0]
    )
    importing.execute(
        "UPDATE channels SET nsfw_override = 1, content_warning_level = 2, content_warning_text = 'loud', "
        "rate_limit_per_user = 5 WHERE id = ?",
        rooms[0],
    )
    button = {"type": 2, "id": 2, "style": 1, "label": "Go", "custom_id": "go"}
    extra = {"components": [{"type": 1, "id": 1, "components": [button]}]}
    importing.execute(
        "UPDATE messages SET extra = ?, tts = 1 WHERE id = (SELECT min(id) FROM messages WHERE extra IS NULL)",
        json.dumps(extra),
    )
    importing.execute("UPDATE messages SET pinned_at = pinned_at + (id >> 22) % 1000 WHERE pinned_at IS NOT NULL")
    importing.execute(
        "UPDATE channels SET last_pin_timestamp = (SELECT max(pinned_at) FROM messages WHERE channel_id = channels.id)"
    )
    importing.execute("UPDATE attachments SET title = 'Dawn', description = 'the sea', flags = flags | 8 WHERE id % 2")
    importing.execute("UPDATE threads SET archived = 0, archive_at = 1, locked = 1, auto_archive_duration = 60")


@pytest.mark.parametrize("seed", range(5))
def test_a_guild_is_the_same_in_another_instance(
    importing: ImportCommand, elsewhere: ImportCommand, tmp_path: Path, seed: int
) -> None:
    first = importing.discord(world(tmp_path / "discord", seed), "--owner", "alice", guild="Lighthouse")
    lived_in(importing, random.Random(seed), int(first["guild_id"]))
    out = tmp_path / "out"
    assert importing.command("export", "guild", first["guild_id"], out, "--json").status == 0
    again = elsewhere.command("import", "community", out, "--guild", "Lighthouse", "--owner", "alice", "--json").json
    assert (again["state"], again["missing"]) == ("completed", [])
    assert {(one["kind"], one["reason"]) for one in again["refused"]} == {("members", "stays behind")}
    assert again["counts"]["messages"] == first["counts"]["messages"]
    theirs, ours = rows_of(importing, first["guild_id"]), rows_of(elsewhere, again["guild_id"])
    for table, rows in theirs.items():
        assert (table, ours[table]) == (table, rows)
    elsewhere.require_order()
    back = tmp_path / "back"
    assert elsewhere.command("export", "guild", again["guild_id"], back, "--json").status == 0
    assert lines_of(back, again["guild_id"])[2:] == lines_of(out, first["guild_id"])[2:]


def lines_of(folder: Path, guild_id: str) -> list[Any]:
    """The records, without the paths of their files."""
    text = (folder / LINES).read_text("utf-8").replace(f'"{guild_id}"', '"GUILD"')
    found = [json.loads(line) for line in text.splitlines()]
    for one in found:
        for file in (one, *one.get("files", ())):
            for name in ("path", "icon", "avatar"):
                file.pop(name, None)
    return found


def test_every_column_moves_or_is_told(importing: ImportCommand) -> None:
    """A column that a later migration adds has to move, or to be told."""
    for table, columns in TOLD.items():
        found = {name for (name,) in importing.rows("SELECT name FROM pragma_table_info(?)", table)}
        differ = sorted(found ^ {*MOVED[table].split(), *columns.split()})
        assert not differ, (
            f"{table}, {differ}: carry it in chat/imports/form.py and chat/domain/imports (MOVED), or say TOLD"
        )


def test_what_stays_behind_is_told(importing: ImportCommand, elsewhere: ImportCommand, tmp_path: Path) -> None:
    secret = channel(0, "aside", "GuildPrivateThread", categoryId=str(channel_id(1)), category="general")
    put(tmp_path / "in", "a.json", export(channel(1, "general"), message(1, "x"), message(3, "y")))
    put(tmp_path / "in", "b.json", export({**secret, "id": str(moment(2))}, message(2, "hush")))
    made = importing.discord(tmp_path / "in", "--owner", "alice", guild="Lighthouse")
    guild_id = int(made["guild_id"])
    importing.execute("INSERT INTO thread_members (thread_id, user_id, joined_at) VALUES (?, ?, 5)", moment(2), ALICE)
    importing.execute("UPDATE threads SET member_count = 1")
    importing.execute("INSERT INTO bans VALUES (?, ?, ?, NULL, 5, NULL, NULL)", guild_id, int(ANNA["id"]), ALICE)
    importing.execute("UPDATE guilds SET verification_level = 3 WHERE id = ?", guild_id)
    importing.execute(
        "UPDATE channels SET rtc_region = 'north', message_retention_days = 90 WHERE id = ?", channel_id(1)
    )
    importing.execute("UPDATE messages SET flags = 1, extra = ? WHERE id = ?", '{"nsfw_emojis": ["5"]}', moment(1))
    importing.execute("UPDATE messages SET type = 3 WHERE id = ?", moment(3))
    assert importing.command("export", "guild", guild_id, tmp_path / "out").status == 0
    found = elsewhere.command("import", "community", tmp_path / "out", "--guild", elsewhere.guild_id, "--json").json
    told = [(one["kind"], one["name"], one["reason"]) for one in found["listed"]]
    assert set(told) == {
        ("channel", "general: message_retention_days", "stays behind"),
        ("channel", "general: rtc_region", "stays behind"),
        ("members", "1 bans", "stays behind"),
        ("members", "1 members", "stays behind"),
        ("members", "1 of aside", "stays behind"),
        ("message", str(moment(3)), "unknown kind"),
        ("message", f"{moment(1)}: flags", "stays behind"),
        ("message", f"{moment(1)}: nsfw_emojis", "stays behind"),
        ("setting", "Lighthouse: verification_level", "stays behind"),
    }
    assert len(told) == len(set(told))


def test_files_whose_ids_are_taken_get_others_and_blocked_ones_are_told(
    importing: ImportCommand, elsewhere: ImportCommand, tmp_path: Path
) -> None:
    put(tmp_path / "in", "media/wave.png", PICTURE)
    put(tmp_path / "in", "media/b.txt", b"blocked")
    wave = {"id": "90", "url": "media/wave.png", "fileName": "dawn.png"}
    twin = {"id": "90", "url": "media/wave.png", "fileName": "dusk.png"}
    other = {"id": "91", "url": "media/b.txt", "fileName": "b.txt"}
    said = message(1, "x", attachments=[wave, twin, other])
    put(tmp_path / "in", "a.json", export(channel(1, "general"), said))
    made = importing.discord(tmp_path / "in", "--owner", "alice", guild="Lighthouse")
    assert made["counts"]["files"] == 3
    importing.execute(
        "INSERT INTO blocklists VALUES ('file_sha', ?, NULL, NULL, 5)", hashlib.sha256(b"blocked").hexdigest()
    )
    assert importing.command("export", "guild", made["guild_id"], tmp_path / "out").status == 0
    elsewhere.execute(
        "INSERT INTO attachments (id, channel_id, user_id, filename, content_type, size, stored) "
        "VALUES (90, ?, ?, 'ours.txt', 'text/plain', 1, 1)",
        CHANNEL,
        ALICE,
    )
    found = elsewhere.command("import", "community", tmp_path / "out", "--guild", elsewhere.guild_id, "--json").json
    assert found["counts"]["files"] == 2
    assert ("file", f"{moment(1)}/b.txt", "blocked") in {
        (one["kind"], one["name"], one["reason"]) for one in found["listed"]
    }
    names = elsewhere.rows("SELECT filename FROM attachments WHERE message_id = ? ORDER BY position", moment(1))
    assert names == [("dawn.png",), ("dusk.png",)]
    assert elsewhere.rows("SELECT filename FROM attachments WHERE id = 90") == [("ours.txt",)]
    elsewhere.require_order()


def test_a_broken_line_is_told_and_the_others_come(importing: ImportCommand, tmp_path: Path) -> None:
    put(
        tmp_path / "in",
        LINES,
        b'{"form": "chat community", "version": 1}\n{"kind": "guild", "id": "5", "name": "x"}\n{"kind": "mess\n'
        b'{"kind": "channel", "id": "77", "type": 1, "name": "no"}\n'
        b'{"kind": "channel", "id": "78", "type": 0, "name": "yes"}\n',
    )
    ending = importing.command("import", "community", tmp_path / "in", "--guild", importing.guild_id, "--json").json
    assert {(one["kind"], one["reason"]) for one in ending["refused"]} == {
        ("line", "not readable"),
        ("channel", "unknown kind"),
    }
    assert ending["counts"]["channels"] == 1


def test_what_is_no_export_is_said(importing: ImportCommand, tmp_path: Path) -> None:
    put(tmp_path / "in", "a.json", {})
    words = importing.refused("import", "community", tmp_path / "in", "--guild", importing.guild_id)
    assert "there is no community.jsonl in it" in words
    assert "there is no guild 5" in importing.refused("export", "guild", 5, tmp_path / "x")


def test_only_what_is_asked_for_comes_with_those_whom_it_names(importing: ImportCommand, tmp_path: Path) -> None:
    people = [PersonRecord(id=moment(-number), name=f"Keeper {number}") for number in range(1, 5)]
    rooms = [ChannelRecord(id=channel_id(number), type=0, name=f"room{number}") for number in (1, 2)]
    thumb = ReactionRecord(name="\N{THUMBS UP SIGN}", user_ids=(moment(-2),))
    said = [
        MessageRecord(id=moment(1), channel_id=channel_id(1), author_id=moment(-3), content="elsewhere"),
        MessageRecord(id=moment(2), channel_id=channel_id(2), author_id=moment(-1), content="x", reactions=(thumb,)),
    ]
    guild = GuildRecord(id=channel_id(9), name="Lighthouse")
    put(tmp_path / "in", LINES, b"".join(form_lines.written([guild, *people, *rooms, *said])))
    wanted = ("--channels", "room2", "--guild", importing.guild_id, "--json")
    found = importing.command("import", "community", tmp_path / "in", *wanted).json
    assert {kind: count for kind, count in found["counts"].items() if count} == {
        "channels": 1,
        "people": 2,
        "messages": 1,
        "reactions": 1,
    }
    assert importing.rows("SELECT person_id FROM placeholders ORDER BY person_id") == [(moment(-2),), (moment(-1),)]
