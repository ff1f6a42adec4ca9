"""`chat import discord`: what is in the instance afterwards, what the command prints, and that it does so once."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from chat.registries.message_types import MessageFlag, MessageType
from tests.cli.command_line import ALICE, CHANNEL
from tests.imports.discord_world import (
    ANNA,
    BERT,
    GUILD_ID,
    channel,
    channel_id,
    export,
    message,
    moment,
    person,
    put,
)
from tests.imports.import_command import PICTURE, ImportCommand

THUMB = {"emoji": {"id": "", "name": "\N{THUMBS UP SIGN}", "code": "thumbsup"}, "count": 2, "users": [ANNA, BERT]}
WAVE = {"id": str(moment(0)), "name": "wave", "code": "wave", "isAnimated": False, "imageUrl": "media/wave.png"}


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    """An export with a bit of everything."""
    folder = tmp_path / "export"
    put(folder, "media/wave.png", PICTURE)
    anna = {
        **ANNA,
        "avatarUrl": "media/wave.png",
        "roles": [{"id": "55", "name": "Keeper", "color": "#FFAA00", "position": 3}],
    }
    picture = {"id": "99", "url": "media\\wave.png", "fileName": "dawn.png", "fileSizeBytes": len(PICTURE)}
    gone = {"id": "98", "url": "https://cdn.invalid/gone.png", "fileName": "gone.png", "fileSizeBytes": 5}
    reply = {"messageId": str(moment(1)), "channelId": str(channel_id(1)), "guildId": str(GUILD_ID)}
    put(
        folder,
        "general.json",
        export(
            channel(1, "general", topic="talk", categoryId=str(channel_id(8)), category="Rooms"),
            message(1, "lamp is lit", anna, attachments=[picture], reactions=[THUMB], isPinned=True),
            message(
                2, f"yes <@{ANNA['id']}>", BERT, type="Reply", reference=reply, mentions=[ANNA], inlineEmojis=[WAVE]
            ),
            message(4, "", attachments=[gone], timestampEdited="2021-01-01T00:00:00+00:00"),
        ),
    )
    thread = channel(0, "aside", "GuildPublicThread", categoryId=str(channel_id(1)), category="general")
    hook = person(5_000, "weather", isBot=True, discriminator="0000")
    put(
        folder, "aside.json", export({**thread, "id": str(moment(1))}, message(3, "calm", hook), message(5, "ok", BERT))
    )
    return folder


def counts(of: dict[str, Any]) -> dict[str, int]:
    return {kind: count for kind, count in of.items() if count}


def test_everything_stands_where_it_stood_with_the_ids_that_it_had(importing: ImportCommand, exported: Path) -> None:
    found = importing.discord(exported)
    assert found["state"] == "completed"
    came = {
        "channels": 2,
        "threads": 1,
        "roles": 1,
        "people": 2,
        "emojis": 1,
        "messages": 5,
        "reactions": 1,
        "files": 1,
    }
    assert counts(found["counts"]) == came
    assert [(one["kind"], one["reason"], one["count"]) for one in found["missing"]] == [("file", "file is missing", 1)]
    assert found["refused"] == []
    assert importing.rows(
        "SELECT id, channel_id, author_id, type, content, flags, pinned_at IS NOT NULL, edited_at IS NOT NULL "
        "FROM messages ORDER BY id"
    ) == [
        (moment(1), channel_id(1), int(ANNA["id"]), 0, "lamp is lit", MessageFlag.HAS_THREAD, 1, 0),
        (moment(2), channel_id(1), int(BERT["id"]), MessageType.REPLY, f"yes <@{ANNA['id']}>", 0, 0, 0),
        (moment(3), moment(1), _hook_id(), 0, "calm", 0, 0, 0),
        (moment(4), channel_id(1), int(ANNA["id"]), 0, "", 0, 0, 1),
        (moment(5), moment(1), int(BERT["id"]), 0, "ok", 0, 0, 0),
    ]
    [(reference,)] = importing.rows("SELECT reference FROM messages WHERE id = ?", moment(2))
    assert json.loads(reference)["message_id"] == moment(1)
    assert importing.rows("SELECT message_id, user_id, counted FROM message_mentions") == [
        (moment(2), int(ANNA["id"]), 0)
    ]
    assert importing.rows("SELECT emoji_name, user_count FROM message_reactions") == [("\N{THUMBS UP SIGN}", 2)]
    assert importing.rows("SELECT filename, size, width, stored FROM attachments") == [("dawn.png", len(PICTURE), 1, 1)]
    assert importing.rows("SELECT message_count, archived FROM threads") == [(2, 1)]
    assert importing.rows("SELECT name, kind FROM expressions") == [("wave", "emojis")]
    importing.require_order()


def _hook_id() -> int:
    return int(person(5_000, "weather")["id"])


def test_channels_roles_and_people(importing: ImportCommand, exported: Path) -> None:
    importing.discord(exported)
    assert importing.rows(
        "SELECT id, name, type, topic, parent_id, last_message_id FROM channels "
        "WHERE guild_id = ? AND id > ? ORDER BY id",
        importing.guild_id,
        CHANNEL,
    ) == [
        (channel_id(1), "general", 0, "talk", channel_id(8), moment(4)),
        (channel_id(8), "Rooms", 4, None, None, None),
        (moment(1), "aside", 11, None, channel_id(1), moment(5)),
    ]
    assert importing.rows("SELECT id, name, color, permissions FROM roles WHERE id = 55") == [
        (55, "Keeper", 0xFFAA00, 0)
    ]
    people = importing.rows(
        "SELECT users.id, username, global_name, email, password_hash, avatar IS NOT NULL FROM users "
        "JOIN placeholders ON user_id = users.id ORDER BY users.id"
    )
    assert people == [
        (int(ANNA["id"]), "anna", "Anna", None, None, 1),
        (int(BERT["id"]), "bert", "Bert", None, None, 0),
    ]
    assert importing.rows("SELECT count(*) FROM members WHERE user_id <> ?", ALICE) == [(0,)]


def test_it_is_found_by_its_words_at_once(importing: ImportCommand, exported: Path) -> None:
    importing.discord(exported)
    assert importing.rows("SELECT * FROM message_search_queue") == []
    assert importing.rows("SELECT rowid FROM message_search WHERE words LIKE '%lamp%'") == [(moment(1),)]


def test_a_dry_run_tells_what_is_here_already_and_what_is_taken(importing: ImportCommand, exported: Path) -> None:
    made = importing.discord(exported)
    again = importing.discord(exported, "--dry-run")
    assert (again["counts"]["messages"], again["present"]["messages"]) == (0, made["counts"]["messages"])
    elsewhere = importing.discord(exported, "--dry-run", guild="Nowhere")
    assert (elsewhere["counts"]["messages"], elsewhere["present"]["messages"]) == (0, 0)

    def taken(found: dict[str, Any]) -> dict[str, int]:
        return {one["kind"]: one["count"] for one in found["refused"] if one["reason"] == "id is taken"}

    assert taken(again) == {}
    counts = made["counts"]
    assert taken(elsewhere)["message"] == counts["messages"]
    assert taken(elsewhere)["channel"] == counts["channels"] + counts["threads"]
    # And so it is.
    came = importing.discord(exported, "--owner", "alice", guild="Nowhere")
    assert came["counts"]["messages"] == 0
    assert taken(came)["message"] == counts["messages"]


def test_what_was_deleted_is_brought_again(importing: ImportCommand, exported: Path) -> None:
    importing.discord(exported)
    before = importing.rows("SELECT id FROM messages ORDER BY id")
    # As the deletion of a community does it: the index hears of it when somebody searches.
    importing.execute("DELETE FROM imported_messages")
    importing.execute("DELETE FROM messages")
    importing.execute("DELETE FROM imports")
    assert importing.rows("SELECT count(*) FROM message_search") != [(0,)]
    importing.discord(exported)
    assert importing.rows("SELECT id FROM messages ORDER BY id") == before
    assert importing.rows("SELECT rowid FROM message_search WHERE words LIKE '%lamp%'") == [(moment(1),)]
    assert importing.command("check", "--deep").status == 0


def test_one_file_is_an_export_of_one_channel(importing: ImportCommand, tmp_path: Path) -> None:
    content = export(channel(1, "general"), message(1, "lamp is lit"))
    assert importing.discord(put(tmp_path, "Keepers - general [1].JSON", content))["counts"]["messages"] == 1
    assert importing.rows("SELECT content FROM messages") == [("lamp is lit",)]


def test_a_second_import_of_the_same_export_writes_nothing(importing: ImportCommand, exported: Path) -> None:
    importing.discord(exported)
    before = importing.everything()
    again = importing.discord(exported)
    assert importing.everything() == before
    assert counts(again["counts"]) == {}
    assert again["present"]["messages"] == 5


def test_a_newer_export_brings_what_is_new_and_nothing_that_was_deleted_here(
    importing: ImportCommand, exported: Path
) -> None:
    importing.discord(exported)
    importing.execute("DELETE FROM messages WHERE id = ?", moment(2))
    put(exported, "newer.json", export(channel(1, "general"), message(2, "back?"), message(9, "new")))
    found = importing.discord(exported)
    assert counts(found["counts"]) == {"messages": 1}
    assert importing.rows("SELECT content FROM messages WHERE id IN (?, ?)", moment(2), moment(9)) == [("new",)]


def test_nothing_counts_as_unread_or_as_a_mention(importing: ImportCommand, exported: Path) -> None:
    importing.execute("INSERT INTO members (guild_id, user_id, joined_at) VALUES (?, ?, 5)", importing.guild_id, ALICE)
    importing.discord(exported)
    assert importing.rows(
        "SELECT channel_id, last_message_id, mention_count FROM read_states WHERE user_id = ? ORDER BY channel_id",
        ALICE,
    ) == [(channel_id(1), moment(4), 0), (moment(1), moment(5), 0)]
    assert importing.rows("SELECT count(*) FROM mail_outbox") == [(0,)]
    assert importing.rows("SELECT count(*) FROM mass_mentions") == [(0,)]


def test_who_had_not_read_everything_has_still_not(importing: ImportCommand, tmp_path: Path) -> None:
    importing.execute("INSERT INTO members (guild_id, user_id, joined_at) VALUES (?, ?, 5)", importing.guild_id, ALICE)
    put(tmp_path / "one", "a.json", export(channel(1, "general"), message(1, "old"), message(2, "older")))
    importing.discord(tmp_path / "one")
    importing.execute("UPDATE read_states SET last_message_id = ? WHERE user_id = ?", moment(1), ALICE)
    put(tmp_path / "two", "a.json", export(channel(1, "general"), message(3, "new")))
    importing.discord(tmp_path / "two")
    assert importing.rows("SELECT last_message_id FROM read_states WHERE user_id = ?", ALICE) == [(moment(1),)]


def test_a_guild_of_that_name_is_made_for_its_owner_with_the_channels_of_the_export_alone(
    importing: ImportCommand, exported: Path
) -> None:
    found = importing.discord(exported, "--owner", "alice", guild="Old place")
    [(name, owner_id)] = importing.rows("SELECT name, owner_id FROM guilds WHERE id = ?", int(found["guild_id"]))
    assert (name, owner_id) == ("Old place", ALICE)
    names = importing.rows("SELECT name FROM channels WHERE guild_id = ? ORDER BY name", int(found["guild_id"]))
    assert names == [("Rooms",), ("aside",), ("general",)]
    again = importing.discord(exported, "--owner", "alice", guild="Old place")
    assert again["guild_id"] == found["guild_id"]
    importing.require_order()


def test_ids_that_something_else_has_are_refused_and_told(importing: ImportCommand, tmp_path: Path) -> None:
    importing.execute(
        "INSERT INTO messages (id, channel_id, author_id, type, content) VALUES (?, ?, ?, 0, 'ours')",
        moment(1),
        CHANNEL,
        ALICE,
    )
    importing.execute("INSERT INTO channels (id, type) VALUES (?, 0)", channel_id(2))
    put(tmp_path / "export", "a.json", export(channel(1, "general"), message(1, "theirs"), message(2, "fine")))
    put(tmp_path / "export", "b.json", export(channel(2, "taken"), message(3, "homeless")))
    found = importing.discord(tmp_path / "export")
    assert {(one["kind"], one["reason"]): one["count"] for one in found["refused"]} == {
        ("message", "id is taken"): 1,
        ("channel", "id is taken"): 1,
        ("message", "no channel"): 1,
    }
    assert importing.rows("SELECT content FROM messages ORDER BY id") == [("ours",), ("fine",)]


def test_a_person_whose_id_is_taken_gets_another(importing: ImportCommand, tmp_path: Path) -> None:
    stranger = person(0, "double")
    stranger["id"] = str(ALICE)
    put(tmp_path / "export", "media/dawn.png", PICTURE)
    picture = {"id": "99", "url": "media/dawn.png", "fileName": "dawn.png", "fileSizeBytes": len(PICTURE)}
    words = f"I, <@{ALICE}>, not <@!{BERT['id']}>, `<@{ALICE}>`"
    put(
        tmp_path / "export",
        "a.json",
        export(channel(1, "general"), message(1, words, stranger, attachments=[picture], mentions=[stranger, BERT])),
    )
    importing.discord(tmp_path / "export")
    [(author_id, content)] = importing.rows("SELECT author_id, content FROM messages WHERE id = ?", moment(1))
    assert author_id != ALICE
    assert content == f"I, <@{author_id}>, not <@{BERT['id']}>, `<@{ALICE}>`"
    assert importing.rows("SELECT user_id FROM attachments") == [(author_id,)]
    named = importing.rows("SELECT user_id FROM message_mentions ORDER BY user_id")
    assert sorted(named) == sorted([(author_id,), (int(BERT["id"]),)])
    assert importing.rows("SELECT person_id FROM placeholders WHERE user_id = ?", author_id) == [(ALICE,)]


def test_a_dry_run_tells_what_would_come_and_writes_nothing(importing: ImportCommand, exported: Path) -> None:
    before = importing.everything()
    found = importing.discord(exported, "--dry-run", guild="Nowhere")
    assert importing.everything() == before
    assert importing.rows("SELECT * FROM imports") == []
    assert found["state"] == "dry run"
    really = importing.discord(exported)
    assert {**found["counts"]} == really["counts"]
    assert found["missing"] == really["missing"]
    assert found["bytes"] == really["bytes"]


def test_only_what_is_asked_for_comes(importing: ImportCommand, exported: Path) -> None:
    put(exported, "other.json", export(channel(3, "other"), message(7, "x")))
    found = importing.discord(exported, "--channels", "other", "--without-files")
    assert counts(found["counts"]) == {"channels": 1, "messages": 1, "people": 1}


def test_files_over_the_limit_are_told_and_their_message_comes(
    importing: ImportCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHAT_LIMITS__ATTACHMENT_MAX_SIZE", "1000")
    monkeypatch.setenv("CHAT_LIMITS__ATTACHMENT_MAX_SIZE_PREMIUM", "1000")
    put(tmp_path / "export", "media/big.bin", b"x" * 1_001)
    big = {"id": "99", "url": "media/big.bin", "fileName": "big.bin", "fileSizeBytes": 1_001}
    put(tmp_path / "export", "a.json", export(channel(1, "general"), message(1, "see", attachments=[big])))
    found = importing.discord(tmp_path / "export")
    assert [(one["kind"], one["reason"]) for one in found["refused"]] == [("file", "too large")]
    assert importing.rows("SELECT content FROM messages") == [("see",)]


def test_what_the_instance_blocks_does_not_come(importing: ImportCommand, tmp_path: Path) -> None:
    blocked = (("phrase", "black spot"), ("file_sha", hashlib.sha256(b"poison").hexdigest()))
    for name, value in blocked:
        importing.execute("INSERT INTO blocklists (list, value, added_at) VALUES (?, ?, 5)", name, value)
    put(tmp_path / "export", "media/p.bin", b"poison")
    poison = {"id": "99", "url": "media/p.bin", "fileName": "p.bin"}
    embed = {"title": "the Black Spot", "description": "x"}
    said = [message(1, "the Black Spot"), message(2, "x", embeds=[embed]), message(3, "see", attachments=[poison])]
    put(tmp_path / "export", "a.json", export(channel(1, "general"), *said))
    found = importing.discord(tmp_path / "export")
    refused = {(one["kind"], one["reason"]): one["count"] for one in found["refused"]}
    assert refused == {("message", "blocked"): 2, ("file", "blocked"): 1}
    assert importing.rows("SELECT content FROM messages") == [("see",)]
    assert importing.rows("SELECT * FROM attachments") == []


def test_list_and_show_tell_what_was_done(importing: ImportCommand, exported: Path) -> None:
    made = importing.discord(exported)
    assert [one["id"] for one in importing.command("import", "list").json] == [made["id"]]
    assert importing.command("import", "show", made["id"]).json == made
    assert "there is no import 5" in importing.refused("import", "show", 5)
    assert "is being done" in importing.refused("import", "cancel", made["id"])
    shown = importing.command("import", "show", made["id"], terminal=True)
    assert ["messages", "5"] in shown.table


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--guild", "Nowhere"), "there is no guild Nowhere; --owner U makes one"),
        (("--guild", "New", "--owner", "nobody"), "there is no account nobody"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    importing: ImportCommand, exported: Path, arguments: tuple[str, ...], words: str
) -> None:
    assert words in importing.refused("import", "discord", exported, *arguments)


def test_a_path_that_is_no_export_is_said_and_makes_no_guild(importing: ImportCommand, tmp_path: Path) -> None:
    words = importing.refused("import", "discord", tmp_path / "gone", "--guild", "New", "--owner", "alice")
    assert "there is no" in words
    (tmp_path / "file.txt").write_text("x")
    words = importing.refused("import", "discord", tmp_path / "file.txt", "--guild", "New", "--owner", "alice")
    assert "neither a directory nor a ZIP archive" in words
    assert importing.rows("SELECT count(*) FROM guilds") == [(1,)]


def test_nobody_signs_in_to_a_person_of_the_old_place(importing: ImportCommand, exported: Path) -> None:
    importing.discord(exported)
    words = importing.refused("user", "password", ANNA["id"], "--password", "a long enough password 7")
    assert "no one signs in to it" in words
    assert importing.rows("SELECT password_hash FROM users WHERE id = ?", int(ANNA["id"])) == [(None,)]


def test_undo_leaves_the_instance_as_it_was(importing: ImportCommand, exported: Path) -> None:
    before = importing.everything()
    made = importing.discord(exported)
    undone = importing.command("import", "undo", made["id"]).json
    assert (undone["messages"], undone["stayed"]) == (5, 0)
    assert importing.everything() == before
    assert importing.command("import", "show", made["id"]).json["state"] == "undone"
    assert "undone before" in importing.refused("import", "undo", made["id"])
    importing.require_order()
    importing.discord(exported)
    assert importing.rows("SELECT count(*) FROM messages") == [(5,)]


def test_undo_leaves_what_somebody_here_has_touched(importing: ImportCommand, exported: Path) -> None:
    made = importing.discord(exported)
    importing.execute("UPDATE messages SET edited_at = ? WHERE id = ?", 9_000_000_000_000, moment(5))
    undone = importing.command("import", "undo", made["id"]).json
    assert undone["messages"] == 4
    assert importing.rows("SELECT id FROM messages") == [(moment(5),)]
    left = importing.rows("SELECT name FROM channels WHERE guild_id = ? AND id > ?", importing.guild_id, CHANNEL)
    assert sorted(left) == [("Rooms",), ("aside",), ("general",)]
    assert importing.rows("SELECT user_id FROM placeholders") == [(int(BERT["id"]),)]
    importing.require_order()
