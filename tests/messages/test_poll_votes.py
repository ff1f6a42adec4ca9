"""Any votes in any poll, against a model; polls that are wrong in any way are refused (messages.md, Polls)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs
import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.testing import World, open_chat_server, strategies
from chat.testing.stepped_run import SteppedRun
from chat.testing.world import Person

FEW = settings(max_examples=30, deadline=None)


@attrs.frozen
class Voting:
    """People who vote in one channel of a server that lives as long as the module's tests."""

    run: SteppedRun
    world: World

    def asks(self, poll: object) -> Any:
        return self.run.call(self.world.bot.rest.post, f"/v1/channels/{self.world.channel_id}/messages", {"poll": poll})

    def votes(self, person: Person, message: Any, answers: list[int]) -> Any:
        return self.run.call(lambda: person.vote(message, *answers))

    def voters(self, message: Any, answer: int) -> set[str]:
        path = f"/v1/channels/{self.world.channel_id}/polls/{message['id']}/answers/{answer}"
        return {user["id"] for user in self.run.call(self.world.alice.rest.get, path).expect(200)["users"]}


@pytest.fixture(scope="module")
def voting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Voting]:
    folder = tmp_path_factory.mktemp("data")
    worlds: list[World] = []

    async def live(task_status: trio.TaskStatus[None]) -> None:
        async with open_chat_server(folder) as server:
            worlds.append(World(server.description(), server.route(), run.nursery))
            task_status.started()
            await trio.sleep_forever()

    with SteppedRun(virtual=True) as run:
        run.call(run.nursery.start, live)
        yield Voting(run, worlds[0])


@FEW
@given(poll=strategies.polls(), data=st.data())
def test_votes_are_what_people_gave_last(voting: Voting, poll: dict[str, Any], data: st.DataObject) -> None:
    message = voting.asks(poll).expect(200)
    asked = message["poll"]
    people = {"bob": voting.world.bob, "carol": voting.world.carol}
    given_by: dict[str, list[int]] = {"bob": [], "carol": []}
    for _ in range(data.draw(st.integers(1, 4))):
        name = data.draw(st.sampled_from(sorted(people)))
        given_by[name] = data.draw(strategies.votes(asked))
        seen = voting.votes(people[name], message, given_by[name])
        for count in seen["results"]["answer_counts"]:
            names = {one for one, answers in given_by.items() if count["id"] in answers}
            assert (count["count"], count["me_voted"]) == (len(names), name in names)
            assert voting.voters(message, count["id"]) == {people[one].id for one in names}


@FEW
@given(poll=strategies.invalid_polls())
def test_wrong_polls_are_refused(voting: Voting, poll: object) -> None:
    refused = voting.asks(poll)
    assert (refused.status, refused.code) == (400, "INVALID_FORM_BODY"), poll


@FEW
@given(answers=st.lists(st.integers(-1, 12) | st.sampled_from(["1", "x", "", None, 1.5, {}]), max_size=12))
def test_no_vote_is_a_fault_of_the_server(voting: Voting, answers: list[Any]) -> None:
    message = voting.asks({"question": {"text": "?"}, "answers": [{"poll_media": {"text": "x"}}] * 3}).expect(200)
    path = f"/v1/channels/{voting.world.channel_id}/polls/{message['id']}/answers/@me"
    answer = voting.run.call(voting.world.bob.rest.put, path, {"answer_ids": answers})
    expected = 204 if {str(each) for each in answers} in ({"1"}, {"2"}, {"3"}, set()) and len(answers) <= 10 else 400
    assert answer.status == expected, answers
