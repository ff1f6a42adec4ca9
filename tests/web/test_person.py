"""PersonMachine's portion of every run: a person in Chromium who does what the page offers. Area: the web client as a
whole. The whole night: `python -m tests.web.person --acts 20000`."""

from __future__ import annotations

import random
from typing import Final

import pytest
from playwright.sync_api import Browser

from tests.web.browsing import Instance
from tests.web.person.acts import Act
from tests.web.person.machine import PersonMachine
from tests.web.person.shrinking import shrunk
from tests.web.person.world import World

ACTS: Final = 40
SEEDS: Final = (300, 301)


@pytest.fixture(scope="module")
def machine(chromium: Browser, home: Instance) -> PersonMachine:
    return PersonMachine(chromium, World(home))


@pytest.mark.parametrize("seed", [*SEEDS, pytest.param(None, id="new")])
def test_a_person_finds_nothing_wrong(machine: PersonMachine, seed: int | None, pytestconfig: pytest.Config) -> None:
    if seed is None:
        given = pytestconfig.getoption("--hypothesis-seed")  # that of the whole run
        seed = random.SystemRandom().randrange(1_000_000_000) if given is None else int(given)
    print(f"python -m tests.web.person --seed {seed} --acts {ACTS}")
    finding = machine.example(seed, ACTS)
    assert finding is None, finding.told()


def test_the_fewest_acts_that_fail_are_found() -> None:
    acts = [Act("key", detail=str(number)) for number in range(40)]
    assert [act.detail for act in shrunk(acts, lambda some: {acts[7], acts[30]} <= set(some), 60)] == ["7", "30"]
