"""Whatever an export says, nothing is written under the name of somebody who is here already: an account, an erased
one, a bot, an application, a webhook. Every table is looked at, so a column that is added later is looked at, too."""

from __future__ import annotations

import contextlib
import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chat.auth.keys import Keys
from chat.clock import SystemClock
from chat.domain.messages.message_reading import one_message
from chat.imports import form_lines
from chat.imports.community import LINES
from chat.imports.form import (
    ChannelRecord,
    ExpressionRecord,
    FileRecord,
    GuildRecord,
    MessageRecord,
    OverwriteRecord,
    PersonRecord,
    ReactionRecord,
    Record,
    ReferenceRecord,
    ThreadRecord,
)
from chat.media.delivery import MediaAddresses
from chat.registries.user_flags import UserFlag
from chat.snowflake import snowflake_at
from chat.store.connections import connect
from chat.store.data_directory import DataDirectory
from tests.cli.command_line import ALICE, CATEGORY, CHANNEL
from tests.imports.discord_world import channel, export, message, moment, person, put
from tests.imports.import_command import PICTURE, ImportCommand

BOT, ERASED, HOOK, APPLICATION, CLAIMANT = (ALICE + number for number in (50, 60, 70, 80, 90))
HERE = (ALICE, BOT, ERASED, HOOK, APPLICATION, CLAIMANT)
ELSEWHERE = (777_000_000_001, 777_000_000_002)
TO_COME = snowflake_at(2_100_000_000_000)
EVERYBODY = (*HERE, *ELSEWHERE, TO_COME)

LEDGER = {("imported_messages", "person_id"), ("placeholders", "person_id"), ("imports", "report")}
"""Columns with the ids of the old place, by which nobody is shown."""

PLACE, THREAD = 800_000_000_001, 800_000_000_002


@pytest.fixture
def inhabited(importing: ImportCommand) -> ImportCommand:
    """An instance with somebody of each kind."""
    importing.command("import", "list")  # makes the key that the tokens of webhooks are sealed with
    for number, flags, is_bot in ((BOT, 0, 1), (ERASED, UserFlag.DELETED.value, 0), (CLAIMANT, 0, 0)):
        importing.execute(
            "INSERT INTO users (id, username, username_key, discriminator, flags, bot, created_at) "
            "VALUES (?1, 'some' || ?1, 'some' || ?1, 7, ?2, ?3, 5)",
            number,
            flags,
            is_bot,
        )
    importing.execute(
        "INSERT INTO applications (id, owner_id, name, created_at) VALUES (?, ?, 'helper', 5)",
        APPLICATION,
        ALICE,
    )
    importing.execute(
        "INSERT INTO webhooks (id, type, guild_id, channel_id, user_id, name, sealed_token) "
        "VALUES (?, 1, ?, ?, ?, 'weather', x'00')",
        HOOK,
        importing.guild_id,
        CHANNEL,
        ALICE,
    )
    return importing


def records(chance: random.Random, told: float) -> Iterator[Record]:
    """Everybody in every place where somebody may stand; `told` is how many have a record of their own."""

    def some() -> tuple[int, ...]:
        return tuple(chance.sample(EVERYBODY, 3))

    yield GuildRecord(id=PLACE + 500, name="Elsewhere")
    for one in EVERYBODY:
        if chance.random() < told:
            yield PersonRecord(id=one, name="Mallory", bot=chance.random() < 0.3, avatar="wave.png")
    overwrites = tuple(OverwriteRecord(target_id=one, type=one % 2, allow=8, deny=0) for one in EVERYBODY)
    also = tuple(OverwriteRecord(target_id=one, type=1, allow=8, deny=0) for one in EVERYBODY)
    yield ChannelRecord(id=PLACE, type=0, name="room", overwrites=(*overwrites, *also))
    for number, one in enumerate(EVERYBODY):
        thread = ThreadRecord(owner_id=one)
        yield ChannelRecord(id=THREAD + number, type=11, name="aside", parent_id=PLACE, thread=thread)
        yield ExpressionRecord(id=PLACE + 100 + number, what="emojis", name="wave", path="wave.png", user_id=one)
    for number in range(60):
        author, named = chance.choice(EVERYBODY), some()
        text = " ".join(f"<@{one}> and <@!{one}>" for one in named)
        menu = {"type": 5, "id": 2, "custom_id": "x", "default_values": [{"id": str(author), "type": "user"}]}
        passed_on = {"timestamp": "2020-01-01T00:00:00.000Z", "type": 0, "flags": 0, "content": text}
        yield MessageRecord(
            id=PLACE + 1_000 + number,
            channel_id=chance.choice((PLACE, THREAD)),
            author_id=author,
            content=text,
            webhook_name=chance.choice((None, "weather")),
            pinned=chance.random() < 0.3,
            mentions=named,
            reference=ReferenceRecord(channel_id=PLACE, message_id=PLACE + 1_000),
            files=(FileRecord(id=PLACE + 3_000 + number, name="wave.png", path="wave.png"),),
            embeds=({"type": "rich", "description": text, "fields": [{"name": "a", "value": text, "inline": True}]},),
            components=({"type": 1, "id": 1, "components": [menu]},) if chance.random() < 0.5 else (),
            snapshot={**passed_on, "mentions": list(map(str, named))} if chance.random() < 0.3 else None,
            reactions=(ReactionRecord(name="\N{THUMBS UP SIGN}", user_ids=some()),),
        )


def whole(importing: ImportCommand) -> dict[str, Counter[tuple[Any, ...]]]:
    """Every row of every table, with the names of the columns in front."""
    found = {}
    for (table,) in importing.rows("SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'"):
        columns = tuple(name for (name,) in importing.rows("SELECT name FROM pragma_table_info(?)", table))
        rows = importing.rows(f"SELECT * FROM {table}")  # noqa: S608
        found[table] = Counter(tuple(zip(columns, row, strict=True)) for row in rows)
    return found


def said_in_the_name_of(importing: ImportCommand, before: dict[str, Counter[tuple[Any, ...]]]) -> list[str]:
    """The new columns that name somebody of HERE."""
    names = re.compile("|".join(rf"\b{one}\b|\ue000.{one:x}\b" for one in (*HERE, TO_COME)))
    found = []
    for table, rows in whole(importing).items():
        for row in rows - before[table]:
            for column, value in row:
                if (table, column) not in LEDGER and names.search(str(value)):
                    found.append(f"{table}.{column}: {value}")
    return sorted(set(found))


@pytest.mark.parametrize("seed", range(6))
def test_nothing_is_said_in_the_name_of_somebody_who_is_here(
    inhabited: ImportCommand, tmp_path: Path, seed: int
) -> None:
    told = (0.0, 0.5, 1.0)[seed % 3]
    lines = b"".join(form_lines.written(records(random.Random(seed), told)))
    put(tmp_path / "in", LINES, lines)
    put(tmp_path / "in", "wave.png", PICTURE)
    before = whole(inhabited)
    found = inhabited.command("import", "community", tmp_path / "in", "--guild", inhabited.guild_id, "--json").json
    assert (found["state"], found["counts"]["messages"]) == ("completed", 60)
    assert found["counts"]["reactions"] == 60
    assert said_in_the_name_of(inhabited, before) == []
    inhabited.require_order()


def test_the_search_for_such_rows_finds_them(inhabited: ImportCommand) -> None:
    before = whole(inhabited)
    inhabited.execute(
        "INSERT INTO messages (id, channel_id, author_id, type, content) VALUES (?, ?, ?, 0, ?)",
        PLACE,
        CHANNEL,
        ALICE,
        f"<@{BOT}>",
    )
    assert said_in_the_name_of(inhabited, before) == [
        f"messages.author_id: {ALICE}",
        f"messages.content: <@{BOT}>",
    ]


def test_an_export_of_discord_can_do_no_more(inhabited: ImportCommand, tmp_path: Path) -> None:
    put(tmp_path / "in", "wave.png", PICTURE)
    said = []
    for number, one in enumerate(EVERYBODY):
        mallory = {**person(0, "mallory"), "id": str(one), "avatarUrl": "wave.png"}
        hook = {**mallory, "isBot": True, "discriminator": "0000"}
        thumb = {"emoji": {"id": "", "name": "\N{THUMBS UP SIGN}"}, "count": 1, "users": [mallory]}
        file = {"id": str(90_000 + number), "url": "wave.png", "fileName": "wave.png"}
        said.append(message(number, f"<@{one}>", mallory, reactions=[thumb], attachments=[file], mentions=[mallory]))
        said.append(message(100 + number, f"<@{one}>", hook, attachments=[file | {"id": str(91_000 + number)}]))
    put(tmp_path / "in", "a.json", export(channel(1, "general"), *said))
    before = whole(inhabited)
    assert inhabited.discord(tmp_path / "in")["counts"]["messages"] == len(said)
    assert said_in_the_name_of(inhabited, before) == []


def test_who_claimed_a_person_elsewhere_says_nothing_here(inhabited: ImportCommand, tmp_path: Path) -> None:
    """A person whom an account has claimed in one guild is that account there alone."""
    put(tmp_path / "in", "a.json", export(channel(1, "general"), message(1, "hello")))
    first = inhabited.discord(tmp_path / "in", "--owner", "alice", guild="Lighthouse")
    inhabited.execute("UPDATE placeholders SET claimed_by = ?, claimed_at = 5", CLAIMANT)
    put(tmp_path / "two", "a.json", export(channel(2, "general"), message(2, "I am a fool")))
    inhabited.discord(tmp_path / "two")
    authors = dict(inhabited.rows("SELECT id, author_id FROM messages"))
    assert authors[moment(1)] != authors[moment(2)]
    assert CLAIMANT not in authors.values()
    put(tmp_path / "in", "a.json", export(channel(1, "general"), message(1, "hello"), message(3, "again")))
    inhabited.discord(tmp_path / "in", guild=first["guild_id"])
    moving = inhabited.rows(
        "SELECT state ->> 'user_id', state ->> 'account_id' FROM errands WHERE kind = 'move_claimed'"
    )
    assert (authors[moment(1)], CLAIMANT) in moving  # the server goes on with it


def test_an_answer_shows_no_message_of_another_channel(inhabited: ImportCommand, tmp_path: Path) -> None:
    """What an answer names is shown with it: no export opens another channel in that way."""
    inhabited.execute(
        "INSERT INTO messages (id, channel_id, author_id, type, content) VALUES (?, ?, ?, 0, 'secret')",
        moment(1),
        CHANNEL,
        ALICE,
    )
    answer = {"messageId": str(moment(1)), "channelId": str(CHANNEL)}
    put(
        tmp_path / "in",
        "a.json",
        export(channel(1, "general"), message(2, "so?", type="Reply", reference=answer)),
    )
    found = inhabited.discord(tmp_path / "in")
    assert [(one["kind"], one["reason"]) for one in found["refused"]] == [("reference", "no channel")]
    assert inhabited.rows("SELECT reference FROM messages WHERE id = ?", moment(2)) == [(None,)]


def test_an_answer_that_names_the_wrong_channel_shows_nothing(inhabited: ImportCommand) -> None:
    secret, shown = moment(1), moment(2)
    reference = {"channel_id": CHANNEL, "message_id": secret, "guild_id": None, "type": 0}
    for number, place, told in ((secret, CATEGORY, None), (shown, CHANNEL, json.dumps(reference))):
        inhabited.execute(
            "INSERT INTO messages (id, channel_id, author_id, type, content, reference) VALUES (?, ?, ?, 19, 'x', ?)",
            number,
            place,
            ALICE,
            told,
        )
    with contextlib.closing(connect(DataDirectory(inhabited.data).database)) as connection:
        addresses = MediaAddresses("http://127.0.0.1", Keys(bytes(32), random.Random(0)), SystemClock())

        def answered() -> object:
            stored = one_message(CHANNEL, shown, connection)
            assert stored is not None
            return stored.object_of(stored.messages[0], addresses)["referenced_message"]

        assert answered() is None
        connection.execute("UPDATE messages SET channel_id = ? WHERE id = ?", (CHANNEL, secret))
        assert answered() is not None


def test_a_message_shows_no_thread_of_another_channel(inhabited: ImportCommand, tmp_path: Path) -> None:
    inhabited.execute("INSERT INTO channels (id, guild_id, type, name) VALUES (?, NULL, 12, 'secret')", moment(1))
    lines = form_lines.written(
        [
            GuildRecord(id=PLACE + 500, name="Elsewhere"),
            ChannelRecord(id=PLACE, type=0, name="room"),
            MessageRecord(id=moment(1), channel_id=PLACE, author_id=ELSEWHERE[0], content="x", flags=32),
        ]
    )
    put(tmp_path / "in", LINES, b"".join(lines))
    inhabited.command("import", "community", tmp_path / "in", "--guild", inhabited.guild_id)
    assert inhabited.rows("SELECT flags FROM messages") == [(0,)]


def test_pictures_of_deleted_emojis_stay_what_they_were(inhabited: ImportCommand, tmp_path: Path) -> None:
    """Old messages go on showing the picture of an emoji that was deleted."""
    inhabited.execute(
        "INSERT INTO assets (id, kind, owner_id, hash, content_type, size) "
        "VALUES (5, 'emojis', ?, 'abc', 'image/png', 1)",
        PLACE + 1,
    )
    lines = form_lines.written(
        [
            GuildRecord(id=PLACE + 500, name="Elsewhere"),
            ExpressionRecord(id=PLACE + 1, what="emojis", name="wave", path="wave.png"),
        ]
    )
    put(tmp_path / "in", LINES, b"".join(lines))
    put(tmp_path / "in", "wave.png", PICTURE)
    ending = inhabited.command("import", "community", tmp_path / "in", "--guild", inhabited.guild_id, "--json")
    assert (ending.status, ending.err) == (0, "")
    found = ending.json
    assert [(one["kind"], one["reason"]) for one in found["refused"]] == [("emojis", "id is taken")]
    assert inhabited.rows("SELECT owner_id, hash FROM assets") == [(PLACE + 1, "abc")]
