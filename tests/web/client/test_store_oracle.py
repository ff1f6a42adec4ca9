"""The oracle of the client's store: after any history of what people do, its picture is the model's, and a fresh
Ready's. The histories run on a whole server; Node holds the store."""

from __future__ import annotations

import functools
import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

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
            self._store.call("apply", name, data)

    def picture(self) -> dict[str, Any]:
        found: dict[str, Any] = self.node.call("store/picture", "picture", self._store.member("read"))
        # A tab that opens now is told a clone, and knows the same.
        assert self.node.call("./clones", "pictureOfClone", self._store.member("read")) == found
        return found

    def of_logs(self, name: str, *arguments: Any) -> Any:
        """Open, close or read a log."""
        return self.node.call("./logs", name, self._store.itself(), *arguments)


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
        known = self._witness.of_logs("messages", channel_id)
        assert [message["id"] for message in known] == sorted(told, key=int)
        for message in known:
            counted = {
                emoji_key(entry["emoji"]): [entry["count"], bool(entry.get("me"))] for entry in reactions(message)
            }
            pictured = {**shown(message), "reactions": counted}
            assert pictured == json.loads(json.dumps(told[message["id"]]))
        return told


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
            known, expected = self._witness.picture(), json.loads(json.dumps(told))
            reads, known["read_states"] = known["read_states"], {}
            for place, state in expected.pop("read_states").items():
                of_store = reads.get(place, [None, 0, None, None])
                count = of_store[1] if state[1] is not None else None  # a doubtful count is not compared
                assert [of_store[0], count, *of_store[2:]] == state, place
            expected["read_states"] = {}
            # Who is called how without being a friend no dispatch keeps up to date.
            assert known == expected
        return told


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
        assert self._witness.picture()["account"] == json.loads(json.dumps(told))
        return told


EVERY_KIND_OF_TALK: Final = (*MESSAGE_KINDS, *PEOPLE_KINDS, *SIGHT_KINDS)

witnessed_talk = functools.partial(ConversationHistory, model_of=WitnessedClient)
witnessed_guilds = functools.partial(GuildHistory, model_of=WitnessedClient)
witnessed_people = functools.partial(PeopleHistory, model_of=WitnessedAccount)


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
    carry_out(witnessed_guilds, steps, seed=seed, restarted=False)


@pytest.mark.long
def test_a_history_around_threads() -> None:
    steps = guild_history.steps_of(random.Random(5).randrange, 80, AROUND_THREADS)
    carry_out(witnessed_guilds, steps, seed=5, restarted=False)


@pytest.mark.long
@pytest.mark.parametrize("kinds", [MESSAGE_KINDS, EVERY_KIND_OF_TALK], ids=["messages", "sight"])
def test_long_histories_of_talk(kinds: Sequence[tuple[str, int]]) -> None:
    steps = guild_history.steps_of(random.Random(1).randrange, 150, kinds)
    history = carry_out(witnessed_talk, steps, seed=1, compared_every=10, restarted=False)
    assert sum(answer.status < 300 for answer in history.answers) > 40, "nearly all steps were refused"


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2))
def test_long_histories_of_people(seed: int) -> None:
    steps = people_history.steps_of(random.Random(seed).randrange, 80)
    carry_out(witnessed_people, steps, seed=seed, restarted=False)


numbers = st.integers(0, 59)
KINDS = [kind for kinds in (guild_history.KINDS, AROUND_THREADS) for kind, times in kinds for _ in range(times)]

KINDS_OF_TALK = [kind for kind, _ in EVERY_KIND_OF_TALK]


def any_steps(kinds: Sequence[str]) -> st.SearchStrategy[list[Step]]:
    actors = st.sampled_from((0, 0, 0, 1, 2, 3))
    return st.lists(st.builds(Step, st.sampled_from(kinds), actors, numbers, numbers, numbers), max_size=20)


many = settings(max_examples=700, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@pytest.mark.long
@many
@given(any_steps(KINDS))
def test_any_history_of_guilds(steps: list[Step]) -> None:
    carry_out(witnessed_guilds, steps, compared_every=10, restarted=False)


@pytest.mark.long
@many
@given(any_steps(KINDS_OF_TALK))
def test_any_history_of_talk(steps: list[Step]) -> None:
    carry_out(witnessed_talk, steps, compared_every=10, restarted=False)


@pytest.mark.long
@many
@given(any_steps([kind for kind, _ in people_history.KINDS]))
def test_any_history_of_people(steps: list[Step]) -> None:
    carry_out(witnessed_people, steps, compared_every=10, restarted=False)
