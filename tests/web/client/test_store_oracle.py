"""The oracle of the client's store: after any history of what people do, its picture is the model's, and a fresh
Ready's. The histories run on a whole server; Node holds the store."""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chat.testing.world import World
from tests.simulation import guild_history, people_history
from tests.simulation.account_model import AccountModel
from tests.simulation.client_model import ClientModel
from tests.simulation.conversation_history import MESSAGE_KINDS, PEOPLE_KINDS, SIGHT_KINDS, ConversationHistory
from tests.simulation.guild_history import AROUND_THREADS, GuildHistory, Step
from tests.simulation.message_model import MessageModel, emoji_key, shown
from tests.simulation.oracle import carry_out
from tests.simulation.people_history import PeopleHistory
from tests.web.client.node import Kept, NodeProcess, running_node


class StoreInNode:
    """A store that hears what a model hears."""

    node: ClassVar[NodeProcess]

    def __init__(self, ready: Mapping[str, Any]) -> None:
        self._store: Kept = self.node.keep("store/store", "makeStore")
        self.take("READY", ready)

    def take(self, name: str | None, data: Any) -> None:
        if name is not None:
            self._store.tell("apply", name, data)

    def expect_picture(self, compare: Callable[[dict[str, Any]], None]) -> None:
        """Have the picture compared as it is now; a clone's is the same."""
        self.node.tell("./clones", "pictureOfBoth", self._store.member("read"), heard=compare)

    def expect_messages(self, channel_id: str, compare: Callable[[list[dict[str, Any]]], None]) -> None:
        """Likewise the messages of a log."""
        self.node.tell("./logs", "messages", self._store.itself(), channel_id, heard=compare)

    def of_logs(self, name: str, *arguments: Any) -> None:
        """Open or close a log."""
        self.node.tell("./logs", name, self._store.itself(), *arguments)


class WitnessedMessages(MessageModel):
    """The model of messages, beside the logs of a store."""

    def __init__(self, user_id: str, witness: StoreInNode) -> None:
        super().__init__(user_id)
        self._witness = witness

    def load(self, channel_id: str, listed: Iterable[Mapping[str, Any]]) -> None:
        listed = list(listed)
        super().load(channel_id, listed)
        self._witness.of_logs("open", channel_id, listed)

    def close(self, channel_id: str) -> None:
        super().close(channel_id)
        self._witness.of_logs("close", channel_id)

    def picture(self, channel_id: str) -> dict[str, Any]:
        told = super().picture(channel_id)
        expected = as_json(told)

        def compare(known: list[dict[str, Any]]) -> None:
            assert [message["id"] for message in known] == sorted(expected, key=int)
            for message in known:
                counted = {
                    emoji_key(entry["emoji"]): [entry["count"], bool(entry.get("me"))] for entry in reactions(message)
                }
                assert {**shown(message), "reactions": counted} == expected[message["id"]]

        self._witness.expect_messages(channel_id, compare)
        return told


def as_json(told: dict[str, Any]) -> dict[str, Any]:
    """As it is now, in the types that Node answers with."""
    copied: dict[str, Any] = orjson.loads(orjson.dumps(told))
    return copied


def reactions(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = message.get("reactions", [])
    return found


class WitnessedClient(ClientModel):
    """The model of a client, beside a store; a bot has no client of ours."""

    def __init__(self, ready: Mapping[str, Any], *, threads: bool) -> None:
        self._witness = None if ready["user"].get("bot") else StoreInNode(ready)
        super().__init__(ready, threads=threads)
        if self._witness is not None:
            self.messages = WitnessedMessages(self.user_id, self._witness)

    def take(self, name: str | None, data: Any) -> None:
        if self._witness is not None:
            self._witness.take(name, data)
        super().take(name, data)

    def picture(self) -> dict[str, Any]:
        told = super().picture()
        if self._witness is not None:
            self._witness.expect_picture(functools.partial(compare_pictures, as_json(told)))
        return told


def compare_pictures(expected: dict[str, Any], known: dict[str, Any]) -> None:
    """A model's and a store's."""
    reads = known.pop("read_states")
    for place, state in expected.pop("read_states").items():
        of_store = reads.get(place, [None, 0, None, None])
        count = of_store[1] if state[1] is not None else None  # a doubtful count is not compared
        assert [of_store[0], count, *of_store[2:]] == state, place
    # Who is called how without being a friend no dispatch keeps up to date.
    assert known == expected


class WitnessedAccount(AccountModel):
    """The model of an account, beside a store."""

    def __init__(self, ready: Mapping[str, Any]) -> None:
        self._witness = StoreInNode(ready)
        super().__init__(ready)

    def take(self, name: str | None, data: Any) -> None:
        self._witness.take(name, data)
        super().take(name, data)

    def picture(self) -> dict[str, Any]:
        told = super().picture()
        expected = as_json(told)

        def compare(known: dict[str, Any]) -> None:
            assert known["account"] == expected

        self._witness.expect_picture(compare)
        return told


EVERY_KIND_OF_TALK: Final = (*MESSAGE_KINDS, *PEOPLE_KINDS, *SIGHT_KINDS)


class WitnessedGuilds(GuildHistory):
    """Every comparison ends with what Node answers."""

    def __init__(self, world: World) -> None:
        StoreInNode.node.forget()
        super().__init__(world, model_of=WitnessedClient)

    async def compare(self) -> None:
        await super().compare()
        StoreInNode.node.hear()


class WitnessedTalk(WitnessedGuilds, ConversationHistory):
    """Likewise."""


class WitnessedPeople(PeopleHistory):
    """Likewise."""

    def __init__(self, world: World) -> None:
        StoreInNode.node.forget()
        super().__init__(world, model_of=WitnessedAccount)

    async def compare(self) -> None:
        await super().compare()
        StoreInNode.node.hear()


@pytest.fixture(scope="module", autouse=True)
def in_node() -> Iterator[None]:
    """One Node for all stores of the module."""
    with running_node() as node:
        StoreInNode.node = node
        yield


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2))
def test_long_histories_of_guilds(seed: int) -> None:
    steps = guild_history.steps_of(random.Random(seed).randrange, 150)
    carry_out(WitnessedGuilds, steps, seed=seed, restarted=False)


@pytest.mark.long
@pytest.mark.parametrize("seed", [5, 7])  # the second with THREAD_LIST_SYNC
def test_histories_around_threads(seed: int) -> None:
    steps = guild_history.steps_of(random.Random(seed).randrange, 80, AROUND_THREADS)
    carry_out(WitnessedGuilds, steps, seed=seed, restarted=False)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 5))  # from 2 on reactions are taken back, too
@pytest.mark.parametrize("kinds", [MESSAGE_KINDS, EVERY_KIND_OF_TALK], ids=["messages", "sight"])
def test_long_histories_of_talk(kinds: Sequence[tuple[str, int]], seed: int) -> None:
    steps = guild_history.steps_of(random.Random(seed).randrange, 150, kinds)
    history = carry_out(WitnessedTalk, steps, seed=seed, compared_every=10, restarted=False)
    assert sum(answer.status < 300 for answer in history.answers) > 40, "nearly all steps were refused"


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2))
def test_long_histories_of_people(seed: int) -> None:
    steps = people_history.steps_of(random.Random(seed).randrange, 80)
    carry_out(WitnessedPeople, steps, seed=seed, restarted=False)


numbers = st.integers(0, 59)
SHORTEST: Final = 8
"""The server of a history takes as long to start as eight steps take; Hypothesis draws about twice as many steps."""

KINDS = [kind for kinds in (guild_history.KINDS, AROUND_THREADS) for kind, times in kinds for _ in range(times)]

KINDS_OF_TALK = [kind for kind, _ in EVERY_KIND_OF_TALK]


def any_steps(kinds: Sequence[str]) -> st.SearchStrategy[list[Step]]:
    actors = st.sampled_from((0, 0, 0, 1, 2, 3))
    return st.lists(
        st.builds(Step, st.sampled_from(kinds), actors, numbers, numbers, numbers), min_size=SHORTEST, max_size=30
    )


many = settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
"""Each commit draws others: many commits try more than one long run does."""


def in_turn(ones: list[Step], others: list[Step]) -> list[Step]:
    """The first of the one, the first of the other, and on; what is left of the longer one ends it."""
    pairs = itertools.zip_longest(ones, others)
    return [step for pair in pairs for step in pair if step is not None]


@pytest.mark.long(minutes=2)
@many
@given(st.builds(in_turn, any_steps(KINDS), any_steps(KINDS_OF_TALK)))
def test_any_history_of_guilds_and_of_talk(steps: list[Step]) -> None:
    carry_out(WitnessedTalk, steps, compared_every=10, restarted=False)


@pytest.mark.long(minutes=1)
@many
@given(any_steps([kind for kind, _ in people_history.KINDS]))
def test_any_history_of_people(steps: list[Step]) -> None:
    carry_out(WitnessedPeople, steps, compared_every=10, restarted=False)
