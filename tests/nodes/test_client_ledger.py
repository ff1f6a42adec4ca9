"""The ledger of the simulation notices what must not be (tests/nodes/ledger.py)."""

from __future__ import annotations

from typing import Any

import pytest

from chat.registries.opcodes import Opcode
from chat.testing.conversation import FROM_SERVER
from tests.nodes.ledger import Ear, Ledger
from tests.simulation.history import History


class Socket:
    """A socket of one session; `hears` is a Dispatch that arrives."""

    session_id = "5e55"

    def __init__(self, ledger: Ledger, name: str) -> None:
        self.ear = Ear(ledger, name)
        self.ear.client = self  # type: ignore[assignment]  # has all that is asked for

    def hears(self, sequence: int, name: str, **data: Any) -> None:
        self.ear.note("client", FROM_SERVER, {"op": Opcode.DISPATCH, "s": sequence, "t": name, "d": data})


@pytest.fixture
def ledger() -> Ledger:
    return Ledger(History())


async def test_what_may_be(ledger: Ledger) -> None:
    one, other = Socket(ledger, "one"), Socket(ledger, "other")
    one.hears(1, "READY", session_id="5e55")
    one.hears(2, "MESSAGE_CREATE", content="message 1")
    other.hears(2, "MESSAGE_CREATE", content="message 1")  # replayed
    other.hears(3, "RESUMED")
    one.hears(3, "MESSAGE_CREATE", content="message 2")  # was under way when the other one resumed
    other.hears(4, "MESSAGE_CREATE", content="message 3")
    ledger.check()


async def test_a_number_means_one_thing(ledger: Ledger) -> None:
    one, other = Socket(ledger, "one"), Socket(ledger, "other")
    one.hears(2, "MESSAGE_CREATE", content="message 1")
    other.hears(2, "MESSAGE_CREATE", content="message 2")
    with pytest.raises(AssertionError, match="was"):
        ledger.check()


async def test_one_socket_at_a_time_is_sent_a_session(ledger: Ledger) -> None:
    one, other = Socket(ledger, "one"), Socket(ledger, "other")
    one.hears(1, "READY", session_id="5e55")
    other.hears(1, "RESUMED")
    one.hears(2, "MESSAGE_CREATE", content="message 1")
    with pytest.raises(AssertionError, match="resumed at other"):
        ledger.check()


async def test_a_revoked_session_hears_nothing_later(ledger: Ledger) -> None:
    one = Socket(ledger, "one")
    one.hears(1, "READY", session_id="5e55")
    ledger.revoked["5e55"] = 7
    one.hears(2, "MESSAGE_CREATE", content="message 6")  # was under way
    ledger.check()
    one.hears(3, "MESSAGE_CREATE", content="message 8")
    with pytest.raises(AssertionError, match="after it was revoked"):
        ledger.check()
