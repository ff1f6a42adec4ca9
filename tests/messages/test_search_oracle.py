"""Searching messages over HTTP: found is what the caller could have read channel by channel, no more and no less."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs
import pytest
import trio
from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st

from chat.clock import iso_timestamp
from chat.registries.permissions import Permission
from chat.snowflake import snowflake_time_ms
from chat.store.messages import message_search_entries
from chat.testing.rest_client import Response
from chat.testing.server import ChatServer, open_chat_server
from chat.testing.stepped_run import SteppedRun
from chat.testing.world import Actor, World

SEARCH = "/v1/search/messages"
KNOWS_THREADS = {"X-Service-Features": "channel_threads"}
VIEW = Permission.VIEW_CHANNEL.value
HISTORY = Permission.READ_MESSAGE_HISTORY.value
MANAGE_THREADS = Permission.MANAGE_THREADS.value
PAGE = 7
"""Hits of a page: several pages come of what the histories below write."""


async def search(actor: Actor, **members: Any) -> Response:
    """A search by somebody who knows threads."""
    return await actor.rest.request("POST", SEARCH, json=members, headers=KNOWS_THREADS)


# The oracle: histories that Hypothesis thinks of, and a look at every message that the caller can read.

TEXTS = (
    "cat",
    "cats and dogs",
    "the dog",
    "Café ☕ https://example.com/a",
    "世界 cat",
    "대한민국만세입니다 c**at**s",
    "Łódź v1.2.3-rc1",
    "",
)
AUTHORS = ("alice", "bob", "carol")
PLACES = ("first", "second", "hidden", "forum post", "other thread", "public thread", "private thread")
MASKS = (0, VIEW, HISTORY, VIEW | HISTORY)


@attrs.frozen
class Step:
    """Something that happens: who does what, where, to which message."""

    action: str
    author: str
    place: str
    text: str
    choice: int


steps = st.lists(
    st.builds(
        Step,
        st.sampled_from(["write"] * 5 + ["edit", "delete", "delete own", "hide", "cutoff", "drop", "mention", "look"]),
        st.sampled_from(AUTHORS),
        st.sampled_from(PLACES),
        st.sampled_from(TEXTS),
        st.integers(0, 40),
    ),
    min_size=5,
    max_size=30,
)
asked = st.fixed_dictionaries(
    {},
    optional={
        "content": st.sampled_from(["cat", "dog", "cafe", "世", "민국", "lodz", "1.2.3"]),
        "author": st.sampled_from(AUTHORS),
        "exclude_author": st.sampled_from(AUTHORS),
        "mentions": st.sampled_from(AUTHORS),
        "has": st.sampled_from(["link", "file"]),
        "place": st.sampled_from(PLACES),
        "exclude_place": st.sampled_from(PLACES),
        "since": st.integers(0, 30),
        "until": st.integers(0, 30),
        "ascending": st.booleans(),
    },
)


@attrs.define
class Community:
    """A guild with places of every kind, and what its members may do there."""

    server: ChatServer
    world: World
    guild_id: str = ""
    places: dict[str, str] = attrs.field(factory=dict)
    written: list[tuple[str, str]] = attrs.field(factory=list)
    """Place and message, in order."""

    def actor(self, name: str) -> Actor:
        found: Actor = getattr(self.world, name)
        return found

    async def found(self) -> None:
        """Make the guild and its places."""
        alice = self.world.alice
        self.guild_id = (await alice.rest.create_guild("searched")).expect(200)["id"]
        path = f"/v1/guilds/{self.guild_id}/channels"
        for name in ("first", "second", "hidden"):
            self.places[name] = (await alice.rest.post(path, {"name": name, "type": 0})).expect(200)["id"]
        code = (await alice.rest.create_channel_invite(self.places["first"])).expect(200)["code"]
        for name in ("bob", "carol"):
            (await self.actor(name).rest.accept_invite(code)).expect(200)
        first, second = self.places["first"], self.places["second"]
        self.places["other thread"] = (await self._thread(second, name="other", type=11))["id"]
        forum = (await alice.rest.post(path, {"name": "forum", "type": 15})).expect(200)["id"]
        post = await self._thread(forum, name="post", message={"content": "the first post of a cat"})
        self.places["forum post"] = post["id"]
        self.written.append(("forum post", post["id"]))
        sent = (await alice.rest.send_message(first, "the first cat")).expect(200)
        self.written.append(("first", sent["id"]))
        self.places["public thread"] = (await self._thread(first, name="public", type=11))["id"]
        self.places["private thread"] = (await self._thread(first, name="private", type=12))["id"]
        members = f"/v1/channels/{self.places['private thread']}/thread-members"
        (await alice.rest.request("PUT", f"{members}/{self.world.bob.id}", headers=KNOWS_THREADS)).expect(204)

    async def _thread(self, channel_id: str, **members: Any) -> dict[str, Any]:
        path = f"/v1/channels/{channel_id}/threads"
        answer = await self.world.alice.rest.request("POST", path, json=members, headers=KNOWS_THREADS)
        started: dict[str, Any] = answer.expect(201)
        return started

    async def play(self, step: Step) -> None:
        """Whatever is refused has not happened."""
        rest = self.actor(step.author).rest
        channel_id = self.places.get(step.place, self.places["first"])
        if step.action in {"write", "mention"}:
            names = f" <@{self.actor(AUTHORS[step.choice % 3]).id}>" if step.action == "mention" else ""
            answer = await rest.send_message(channel_id, (step.text + names) or "…")
            if answer.status == 200:
                self.written.append((step.place, answer.json()["id"]))
        elif step.action in {"edit", "delete"} and self.written:
            place, message_id = self.written[step.choice % len(self.written)]
            if step.action == "edit":
                await rest.edit_message(self.places.get(place, "1"), message_id, step.text or "…")
            else:
                await rest.delete_message(self.places.get(place, "1"), message_id)
        elif step.action == "delete own":
            path = f"/v1/users/@me/guilds/{self.guild_id}/messages/bulk-delete-mine"
            await rest.post(path, {"password": getattr(self.world, step.author).password})
        elif step.action == "hide":
            name = ("first", "second", "hidden")[step.choice % 3]
            user_id = self.actor(AUTHORS[1 + step.choice % 2]).id
            members = {"type": 1, "deny": str(MASKS[step.choice % 4]), "allow": "0"}
            if step.choice % 5 == 0:
                members["allow"] = str(MANAGE_THREADS)
            path = f"/v1/channels/{self.places.get(name, '1')}/permissions/{user_id}"
            await self.world.alice.rest.put(path, members)
        elif step.action == "cutoff":
            moment = snowflake_time_ms(int(self.written[step.choice % len(self.written)][1]))
            value = None if step.choice % 3 == 0 else iso_timestamp(moment)
            path = f"/v1/guilds/{self.guild_id}"
            (await self.world.alice.rest.patch(path, {"message_history_cutoff": value})).expect(200)
        elif step.action == "drop" and step.place not in {"first", "hidden"}:
            channel_id = self.places.pop(step.place, "1")
            await self.world.alice.rest.request("DELETE", f"/v1/channels/{channel_id}", headers=KNOWS_THREADS)
        elif step.action == "look":
            (await search(self.actor(step.author), context_guild_id=self.guild_id)).expect(200)

    async def readable(self, actor: Actor) -> list[dict[str, Any]]:
        """Every message that the reading route shows to the actor, newest first."""
        found = []
        for channel_id in self.places.values():
            path = f"/v1/channels/{channel_id}/messages"
            answer = await actor.rest.request("GET", path, query={"limit": 100}, headers=KNOWS_THREADS)
            if answer.status == 200:
                found += [message for message in answer.json() if message["type"] in {0, 19}]
        return sorted(found, key=lambda message: -int(message["id"]))

    async def abandon(self) -> None:
        """Delete the guild: nothing of it is found any more."""
        alice = self.world.alice
        (await alice.rest.post(f"/v1/guilds/{self.guild_id}/delete", {"password": alice.password})).expect(204)
        found = (await search(alice, scope="all_guilds", author_id=[alice.id])).expect(200)["messages"]
        assert not {message["channel_id"] for message in found} & set(self.places.values())


def is_as_asked(community: Community, message: dict[str, Any], criteria: dict[str, Any]) -> bool:
    """The plain look at one message."""
    words = message["content"].lower().replace("**", "").translate(str.maketrans("éłóź", "eloz"))
    for name, value in criteria.items():
        author = community.actor(value).id if name in {"author", "exclude_author", "mentions"} else ""
        place = community.places.get(value) if name.endswith("place") else ""
        if not {
            "content": lambda: value in words,  # noqa: B023 - called at once
            "author": lambda: message["author"]["id"] == author,  # noqa: B023
            "exclude_author": lambda: message["author"]["id"] != author,  # noqa: B023
            "mentions": lambda: author in {user["id"] for user in message["mentions"]},  # noqa: B023
            "has": lambda: value == "link" and "https://" in words,  # noqa: B023
            "place": lambda: message["channel_id"] == place,  # noqa: B023
            "exclude_place": lambda: message["channel_id"] != place,  # noqa: B023
            "since": lambda: int(message["id"]) >= bound(community, value),  # noqa: B023
            "until": lambda: int(message["id"]) <= bound(community, value),  # noqa: B023
            "ascending": lambda: True,
        }[name]():
            return False
    return True


def bound(community: Community, choice: int) -> int:
    return int(community.written[choice % len(community.written)][1])


def body_of(community: Community, criteria: dict[str, Any]) -> dict[str, Any]:
    """The same as a request."""
    body: dict[str, Any] = {"context_guild_id": community.guild_id, "hits_per_page": PAGE}
    for name, value in criteria.items():
        if name in {"author", "exclude_author", "mentions"}:
            body[name if name == "mentions" else f"{name}_id"] = [community.actor(value).id]
        elif name == "place":
            body["channel_ids"] = [community.places.get(value, "1")]
        elif name == "exclude_place":
            body["exclude_channel_id"] = [community.places.get(value, "1")]
        elif name in {"since", "until"}:
            body["min_id" if name == "since" else "max_id"] = str(bound(community, value))
        elif name == "ascending":
            body["sort_order"] = "asc" if value else "desc"
        else:
            body[name] = [value] if name == "has" else value
    return body


async def compare(community: Community, criteria: dict[str, Any]) -> None:
    """Every account's search against what it can read; by pages and by cursors."""
    body = body_of(community, criteria)
    for name in AUTHORS:
        actor = community.actor(name)
        expected = [
            message["id"] for message in await community.readable(actor) if is_as_asked(community, message, criteria)
        ]
        if criteria.get("ascending"):
            expected.reverse()
        event("finds something" if expected else "finds nothing")
        found: list[str] = []
        by_cursor: list[str] = []
        cursor: dict[str, Any] = {}
        for page in range(1, 2 + len(expected) // PAGE):
            answer = (await search(actor, **body, page=page)).expect(200)
            assert (answer["total"], answer["page"], answer["hits_per_page"]) == (len(expected), page, PAGE)
            assert {each["channel_id"] for each in answer["messages"]} == {each["id"] for each in answer["channels"]}
            found += [message["id"] for message in answer["messages"]]
            if page == 1 or cursor["cursor"] is not None:
                answer = (await search(actor, **body, **cursor)).expect(200)
                by_cursor += [message["id"] for message in answer["messages"]]
                cursor = {"cursor": answer.get("cursor")}
        assert (found, by_cursor, cursor) == (expected, expected, {"cursor": None}), (name, criteria)
        ranked = (await search(actor, **body | {"hits_per_page": 25}, sort_by="relevance")).expect(200)
        assert {message["id"] for message in ranked["messages"]} <= set(expected)
        assert len(ranked["messages"]) == min(25, len(expected))


@pytest.fixture(scope="module")
def stepped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[SteppedRun, ChatServer, World]]:
    folder = tmp_path_factory.mktemp("data")
    opened: list[tuple[ChatServer, World]] = []

    async def live(task_status: trio.TaskStatus[None]) -> None:
        async with open_chat_server(folder, seed=5, settings={"limits.max_guilds": 10_000}) as server:
            opened.append((server, World(server.description(), server.route(), run.nursery)))
            task_status.started()
            await trio.sleep_forever()

    with SteppedRun(virtual=True) as run:
        run.call(run.nursery.start, live)
        yield run, *opened[0]


# Whoever wants the least history that fails adds Phase.shrink, and waits for minutes.
@pytest.mark.long
@settings(
    max_examples=20,
    suppress_health_check=[HealthCheck.too_slow],
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)
@given(steps, st.lists(asked, min_size=2, max_size=4))
def test_a_search_finds_what_the_caller_can_read(
    stepped: tuple[SteppedRun, ChatServer, World], history: list[Step], searches: list[dict[str, Any]]
) -> None:
    run, server, world = stepped
    community = Community(server, world)

    async def play() -> None:
        await community.found()
        for step in history:
            await community.play(step)
        for criteria in searches:
            await compare(community, criteria)
        await trio.sleep(10)  # what deleted channels held is swept away behind them
        assert await server.database.write(message_search_entries.discrepancies) == []
        await community.abandon()
        await trio.sleep(10)
        assert await server.database.write(message_search_entries.discrepancies) == []

    run.call(play)


@given(
    body=st.dictionaries(
        st.sampled_from(
            ["content", "contents", "has", "cursor", "page", "during", "scope", "min_id", "mentions", "after"]
        ),
        st.one_of(
            st.none(),
            st.booleans(),
            st.integers(),
            st.text(),
            st.lists(st.text(max_size=3), max_size=3),
            st.integers(0, 1 << 64).map(str),
            st.sampled_from(["all", "2026-11-21", "0001-01-01", "9999-12-31"]),
        ),
    )
)
@settings(max_examples=100)
def test_any_body_is_answered_or_refused(stepped: tuple[SteppedRun, ChatServer, World], body: dict[str, Any]) -> None:
    run, _, world = stepped
    answer = run.call(lambda: world.alice.rest.post(SEARCH, {"context_guild_id": world.guild_id, **body}))
    assert answer.status == 200 or (answer.status, answer.code) == (400, "INVALID_FORM_BODY"), answer
