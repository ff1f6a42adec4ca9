"""Pages of messages against a plain list."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import cast

import attrs
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.domain.messages.message_reading import MessagePage, Viewer, page_of_messages, page_of_objects
from chat.domain.policy.embeds import Addresses
from chat.registries.user_flags import UserFlag
from chat.snowflake import MAXIMUM
from chat.store.connections import connect
from chat.store.messages import messages
from chat.store.messages.messages import Message, MessageExtra, MessageReference
from chat.store.migrations import migrate

CHANNEL, OTHER_CHANNEL = 1, 2


@pytest.fixture(scope="module")
def connection() -> Iterator[sqlite3.Connection]:
    """A database with two channels outside guilds."""
    with closing(connect(":memory:", durable=False)) as opened:
        migrate(opened)
        opened.executemany("INSERT INTO channels (id, type) VALUES (?, 1)", [(CHANNEL,), (OTHER_CHANNEL,)])
        yield opened


ids = st.integers(1, 40)
cursors_of_pages = ids | st.sampled_from([0, MAXIMUM - 1, MAXIMUM])


@given(
    existing=st.sets(ids),
    elsewhere=st.sets(st.integers(41, 80)),
    limit=st.integers(1, 100),
    cursors=st.fixed_dictionaries({}, optional=dict.fromkeys(("before", "after", "around"), cursors_of_pages)),
    floor=st.integers(0, 41),
)
def test_pages(
    connection: sqlite3.Connection,
    existing: set[int],
    elsewhere: set[int],
    limit: int,
    cursors: dict[str, int],
    floor: int,
) -> None:
    connection.execute("BEGIN")
    for channel_id, chosen in ((CHANNEL, existing), (OTHER_CHANNEL, elsewhere)):
        for message_id in chosen:
            messages.insert(connection, Message(message_id, channel_id, author_id=9, type=0, content=""))
    page = page_of_messages(CHANNEL, MessagePage(limit, **cursors), floor, connection)
    connection.execute("ROLLBACK")

    readable = sorted(message_id for message_id in existing if message_id >= floor)
    if "around" in cursors:
        older = sum(message_id <= cursors["around"] for message_id in readable)
        start = max(0, min(older - (limit - limit // 2), len(readable) - limit))
        expected = readable[start : start + limit]
    elif "after" in cursors:
        expected = [message_id for message_id in readable if message_id > cursors["after"]][:limit]
    else:
        bound = cursors.get("before", 1000)
        expected = [message_id for message_id in readable if message_id < bound][-limit:]
    assert [message.id for message in page.messages] == expected[::-1]


@given(
    content=st.text(),
    users=st.sets(ids),
    roles=st.sets(ids),
    nonce=st.none() | st.text(),
    flags=st.integers(0, 2**53),
    answered=st.none() | ids,
)
def test_a_message_comes_back_as_it_was_stored(
    connection: sqlite3.Connection,
    content: str,
    users: set[int],
    roles: set[int],
    nonce: str | None,
    flags: int,
    answered: int | None,
) -> None:
    message = Message(
        id=5,
        channel_id=CHANNEL,
        author_id=9,
        type=19,
        content=content,
        flags=flags,
        nonce=nonce,
        tts=True,
        mention_everyone=True,
        reference=None if answered is None else MessageReference(CHANNEL, answered, None, 0),
        mentioned_user_ids=tuple(sorted(users)),
        mentioned_role_ids=tuple(sorted(roles)),
    )
    connection.execute("BEGIN")
    assert messages.insert(connection, message)
    assert messages.by_id(connection, CHANNEL, 5) == message
    assert messages.by_ids(connection, [4, 5]) == [message]
    assert messages.by_id(connection, OTHER_CHANNEL, 5) is None
    assert messages.delete_many(connection, CHANNEL, [5])
    assert not messages.delete_many(connection, CHANNEL, [5])
    assert connection.execute("SELECT count(*) FROM message_mentions").fetchone() == (0,)
    connection.execute("ROLLBACK")


def test_a_message_for_a_channel_that_is_gone_is_not_stored(connection: sqlite3.Connection) -> None:
    assert not messages.insert(connection, Message(5, 999, author_id=9, type=0, content="x"))


kept_messages = st.lists(
    st.builds(
        Message,
        id=st.just(0),
        channel_id=st.just(CHANNEL),
        author_id=st.sampled_from([7, 8, 9]),  # 9 is no account
        type=st.sampled_from([0, 0, 0, 7, 19]),
        content=st.text() | st.just("<@7> see"),
        flags=st.sampled_from([0, 0, 4, 32, 64, 4096]),
        edited_at=st.none() | st.integers(0, 2**41),
        pinned_at=st.none() | st.integers(0, 2**41),
        mention_everyone=st.booleans(),
        tts=st.booleans(),
        nonce=st.none() | st.text(),
        reference=st.none() | st.builds(MessageReference, st.just(CHANNEL), ids, st.none(), st.just(0)),
        extra=st.none() | st.just(MessageExtra(nsfw_emojis=("5",))),
        has_reactions=st.booleans(),
    ),
    max_size=12,
)


@given(kept=kept_messages, threads=st.booleans(), floor=st.sampled_from([0, 5]))
def test_objects_straight_from_columns_are_those_of_whole_messages(
    connection: sqlite3.Connection, kept: list[Message], threads: bool, floor: int
) -> None:
    viewer, addresses = Viewer(7, sees_threads=threads), cast(Addresses, None)
    connection.execute("BEGIN")
    for user_id, flags in ((7, 0), (8, UserFlag.DELETED)):
        connection.execute(
            "INSERT INTO users (id, username, username_key, discriminator, created_at, flags) "
            "VALUES (?1, ?2, ?2, 1, 0, ?3)",
            (user_id, f"person{user_id}", int(flags)),
        )
    for number, message in enumerate(kept, start=1):
        named = (7, 8) if message.content.startswith("<@7>") else ()
        messages.insert(connection, attrs.evolve(message, id=number, mentioned_user_ids=named))
    whole = page_of_messages(CHANNEL, MessagePage(), floor, connection, viewer=viewer).objects(addresses, floor)
    objects = page_of_objects(CHANNEL, MessagePage(), floor, addresses, viewer, connection)
    connection.execute("ROLLBACK")
    assert orjson.dumps(objects) == orjson.dumps(whole)
