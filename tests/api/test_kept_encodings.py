"""Answers with an entity tag: unchanged they are not sent again, and a change shows in the very next one.

http.md, Entity tags; chat.api.kept_encodings.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import orjson
import pytest
from trio.testing import MockClock

from chat.api import kept_encodings
from chat.api.answers import Answer
from chat.api.kept_encodings import KeptEncodings
from chat.testing.server import ChatServer
from chat.testing.world import World

Change = Callable[[World], Awaitable[object]]


def paths(world: World) -> list[str]:
    return ["/v1/users/@me", f"/v1/guilds/{world.guild_id}", f"/v1/guilds/{world.guild_id}/channels"]


async def test_what_a_client_has_already_is_not_sent_again(chat_world: World) -> None:
    for path in paths(chat_world):
        for method in ("GET", "HEAD"):
            first = await chat_world.alice.rest.request(method, path)
            tag = first.header("etag")
            assert tag is not None
            for known in (tag, f"W/{tag}", f'"other", {tag}', "*"):
                again = await chat_world.alice.rest.request(method, path, headers={"If-None-Match": known})
                assert (again.status, again.body, again.header("etag")) == (304, b"", tag)
                assert again.header("content-type") is None
                assert again.header("cache-control") == "no-cache"
            other = await chat_world.alice.rest.request(method, path, headers={"If-None-Match": '"other"'})
            assert (other.status, other.header("etag")) == (200, tag)


async def test_each_caller_has_tags_of_their_own(chat_world: World) -> None:
    tags = {(await actor.rest.get("/v1/users/@me")).header("etag") for actor in chat_world.actors}
    assert len(tags) == len(chat_world.actors)


async def _rename_self(world: World) -> None:
    (await world.alice.rest.patch("/v1/users/@me", {"global_name": "Another"})).expect(200)


async def _rename_guild(world: World) -> None:
    (await world.alice.rest.patch(f"/v1/guilds/{world.guild_id}", {"name": "Another"})).expect(200)


async def _make_role(world: World) -> None:
    (await world.alice.rest.post(f"/v1/guilds/{world.guild_id}/roles", {"name": "Another"})).expect(200)


async def _make_channel(world: World) -> None:
    (await world.alice.rest.post(f"/v1/guilds/{world.guild_id}/channels", {"name": "another", "type": 0})).expect(200)


async def _write(world: World) -> None:
    (await world.bob.rest.send_message(world.channel_id, "the channel's last message")).expect(200)


@pytest.mark.parametrize(
    ("change", "changed"),
    [
        (_rename_self, {0}),
        (_rename_guild, {1}),
        (_make_role, {1}),
        (_make_channel, {1, 2}),
        (_write, {1, 2}),
    ],
)
async def test_a_change_shows_in_the_next_answer(change: Change, changed: set[int], chat_world: World) -> None:
    async def answers() -> list[tuple[str | None, bytes]]:
        read = [await chat_world.alice.rest.get(path) for path in paths(chat_world)]
        return [(answer.header("etag"), answer.body) for answer in read]

    for _ in range(3):  # by the third time everything is kept
        before = await answers()
    await change(chat_world)
    after = await answers()
    for place, (old, new) in enumerate(zip(before, after, strict=True)):
        assert (old != new) is (place in changed), paths(chat_world)[place]
        assert (old[0] != new[0]) is (old[1] != new[1])


async def test_what_time_changes_of_an_account_shows_in_time(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    until = chat_server.clock.now_ms() + 3_600_000
    await chat_server.database.write(
        lambda connection: connection.execute(
            "UPDATE users SET premium_type = 2, premium_until = ? WHERE id = ?", (until, int(chat_world.bob.id))
        )
    )
    for _ in range(3):
        assert (await chat_world.bob.rest.get("/v1/users/@me")).expect(200)["premium_type"] == 2
    await chat_world.anyone.advance_clock(3_600_000)
    assert (await chat_world.bob.rest.get("/v1/users/@me")).expect(200)["premium_type"] == 0


# The bytes


def test_an_object_that_comes_again_is_encoded_once() -> None:
    encodings = KeptEncodings()
    rendered = [{"a": 1}]
    first, second, third = (encodings.of(rendered) for _ in range(3))
    assert first == second == third == b'[{"a":1}]'
    assert second is third
    for number in range(1_000):
        assert encodings.of([number]) == b"[%d]" % number
    assert len(encodings) == 1


def test_kept_bytes_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_encodings, "KEPT_BYTES", 100)
    encodings = KeptEncodings()
    objects = [["x" * 30, number] for number in range(20)]
    for _ in range(3):
        for rendered in objects:
            assert orjson.loads(encodings.of(rendered)) == rendered
            assert len(encodings) <= 3


def test_an_answer_put_together_from_kept_parts_is_the_same() -> None:
    encodings = KeptEncodings()
    body = {"id": "1", "roles": [{"name": "\u00e9"}], "channels": [], "count": 3}
    for _ in range(3):
        answer = encodings.answer(Answer(200, body), ("roles", "channels"), None)
        assert orjson.dumps(answer.body) == orjson.dumps(body)
