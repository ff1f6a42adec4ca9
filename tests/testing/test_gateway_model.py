"""The model notices what a gateway must not do."""

from __future__ import annotations

from typing import Any

import pytest

from chat.registries.close_codes import INVALID_SEQUENCE, INVALID_TOKEN
from chat.testing.gateway_client import ServerPayload
from chat.testing.gateway_model import ModelSession, ResumeOutcome


def dispatch(sequence: int, name: str = "MESSAGE_CREATE", **data: Any) -> ServerPayload:
    return ServerPayload({"op": 0, "s": sequence, "t": name, "d": {"id": str(sequence), **data}})


def session_with(*owed: int) -> ModelSession:
    """A session that got Ready and is owed messages with these sequences as ids."""
    session = ModelSession("s", "bob")
    session.take(dispatch(1, "READY"))
    session.owed.extend(map(str, owed))
    return session


def test_numbers_in_order_are_fine() -> None:
    session = session_with(2, 3)
    session.take(dispatch(2))
    session.take(dispatch(3))
    assert session.retained() == 2
    session.acknowledge(2)
    assert session.retained() == 1


def test_a_gap_is_noticed() -> None:
    with pytest.raises(AssertionError, match="has sequence 3 after 1"):
        session_with(3).take(dispatch(3))


def test_a_repetition_is_noticed() -> None:
    session = session_with(2)
    session.take(dispatch(2))
    with pytest.raises(AssertionError, match="has sequence 2 after 2"):
        session.take(dispatch(2))


def test_a_message_that_nobody_posted_is_noticed() -> None:
    with pytest.raises(AssertionError, match="was not owed"):
        session_with().take(dispatch(2))


def test_messages_in_the_wrong_order_are_noticed() -> None:
    with pytest.raises(AssertionError, match="message 9 came before 2"):
        session_with(2, 3).take(dispatch(2, id="9"))


class TestReplay:
    def session(self) -> ModelSession:
        """A session at sequence 4 with 2 acknowledged, which resumes from there."""
        session = session_with(2, 3, 4)
        for sequence in (2, 3, 4):
            session.take(dispatch(sequence))
        session.acknowledge(2)
        session.detach(0)
        session.attach(2)
        return session

    def test_a_whole_one_is_fine(self) -> None:
        session = self.session()
        session.take(dispatch(3))
        session.take(dispatch(4))
        session.take(dispatch(4, "RESUMED"))
        assert session.replaying_from is None

    def test_a_hole_is_noticed(self) -> None:
        with pytest.raises(AssertionError, match=r"skips retained Dispatches \[3\]"):
            self.session().take(dispatch(4))

    def test_a_missing_end_is_noticed(self) -> None:
        session = self.session()
        session.take(dispatch(3))
        with pytest.raises(AssertionError, match=r"lacks retained Dispatches \[4\]"):
            session.take(dispatch(4, "RESUMED"))

    def test_another_content_is_noticed(self) -> None:
        with pytest.raises(AssertionError, match="sequence 3 was"):
            self.session().take(dispatch(3, content="other"))

    def test_something_acknowledged_is_noticed(self) -> None:
        session = self.session()
        session.attach(1)
        with pytest.raises(AssertionError, match="at or below the acknowledged 2"):
            session.take(dispatch(2))

    def test_a_lost_message_is_noticed(self) -> None:
        session = self.session()
        session.owed.append("5")
        session.take(dispatch(3))
        session.take(dispatch(4))
        with pytest.raises(AssertionError, match="missing after the replay"):
            session.take(dispatch(5, "RESUMED"))


def test_who_claims_to_know_more_than_arrived_waives_it() -> None:
    session = session_with(2, 3)
    session.take(dispatch(2))
    session.attach(3)
    session.take(dispatch(3, "RESUMED"))
    session.check({"attached": True, "acknowledged": 0, "sequence": 3, "retained_dispatches": 2})


def test_verdicts_on_a_resume() -> None:
    session = session_with()
    session.acknowledge(1)
    assert session.judge_resume("bob", 1, current=4, now=0) is ResumeOutcome.RESUMED
    assert session.judge_resume("bob", 4, current=4, now=0) is ResumeOutcome.RESUMED
    assert session.judge_resume("bob", 0, current=4, now=0) == INVALID_SEQUENCE
    assert session.judge_resume("bob", 5, current=4, now=0) == INVALID_SEQUENCE
    assert session.judge_resume("carol", 1, current=4, now=0) == INVALID_TOKEN
    session.detach(10)
    assert session.judge_resume("bob", 1, current=4, now=69) is ResumeOutcome.RESUMED
    assert session.lives(70, margin=0.5) is None
    assert session.judge_resume("carol", 1, current=4, now=71) is ResumeOutcome.INVALID_SESSION
