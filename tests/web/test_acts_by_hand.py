"""Every act of the web client is done by some browser test, by the hand of a person. Area: the web client as a whole.

`acts_by_hand.json` names the test of each. It is written by `tests/web/acts_record.py`, which watches what pages call.
"""

from __future__ import annotations

import json
from typing import Final

from tests.web.acts_record import TABLE, acts_of_the_client, exists

HOW: Final = (
    "write a browser test that does it, then: TESTS_RECORD_ACTS=acts.txt python -m pytest -m long FILE && "
    "python -m tests.web.acts_record acts.txt"
)


def test_every_act_is_done_by_a_test() -> None:
    table: dict[str, str] = json.loads(TABLE.read_text())
    acts = acts_of_the_client()
    missing = sorted(set(acts) - set(table))
    assert missing == [], f"{TABLE.name} has no test for {missing}: {HOW}"
    assert sorted(set(table) - set(acts)) == [], f"{TABLE.name} names acts that are gone"
    assert [test for test in table.values() if not exists(test)] == [], f"{TABLE.name} names tests that are gone"
