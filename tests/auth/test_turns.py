"""Turns: two queues, networks that share each fairly, and bounds (design 8)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import wait_all_tasks_blocked

from chat.auth.passwords import Asker, Turns
from chat.errors import RateLimited


class Hall:
    """Turns of which one is taken: whoever asks has to wait, until `open`."""

    def __init__(self, *, holders: tuple[int, int] = (64, 2), strangers: tuple[int, int] = (20, 5)) -> None:
        self.turns = Turns(1, holders=holders, strangers=strangers)
        self.served: list[str] = []
        self.refused: list[str] = []
        self._open = trio.Event()

    @asynccontextmanager
    async def waiting(self, *askers: Asker) -> AsyncIterator[trio.Nursery]:
        """Let these wait, one behind the other; at the end all are served or refused."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._keep_busy)
            await wait_all_tasks_blocked()
            for asker in askers:
                await self.come(nursery, asker)
            yield nursery
            self._open.set()

    async def come(self, nursery: trio.Nursery, asker: Asker) -> None:
        nursery.start_soon(self._ask, asker)
        await wait_all_tasks_blocked()

    async def _keep_busy(self) -> None:
        async with self.turns.turn(Asker("busy")):
            await self._open.wait()

    async def _ask(self, asker: Asker) -> None:
        name = asker.network if asker.account is None else f"{asker.account}@{asker.network}"
        try:
            async with self.turns.turn(asker):
                self.served.append(name)
                await trio.lowlevel.checkpoint()
        except RateLimited:
            self.refused.append(name)


async def test_networks_take_turns() -> None:
    hall = Hall()
    crowd, alone, pair = Asker("crowd"), Asker("alone"), Asker("pair")
    async with hall.waiting(crowd, crowd, crowd, crowd, pair, pair, alone):
        pass
    assert hall.served == ["crowd", "pair", "alone", "crowd", "pair", "crowd", "crowd"]
    assert hall.refused == []


async def test_holders_and_strangers_take_turns() -> None:
    hall = Hall()
    async with hall.waiting(*(Asker(f"s{number}") for number in range(4)), Asker("h", 1), Asker("h", 2)):
        pass
    assert hall.served == ["1@h", "s0", "2@h", "s1", "s2", "s3"]


async def test_a_network_has_so_many_places_among_strangers() -> None:
    hall = Hall()
    async with hall.waiting(*[Asker("crowd")] * 7, Asker("alone")):
        assert hall.refused == ["crowd", "crowd"]
    assert hall.served.count("crowd") == 5
    assert hall.served.index("alone") == 1


async def test_where_the_queue_is_full_the_largest_network_gives_one_up() -> None:
    hall = Hall(strangers=(4, 3))
    async with hall.waiting(Asker("a"), Asker("a"), Asker("a"), Asker("b")) as nursery:
        await hall.come(nursery, Asker("c"))
        assert hall.refused == ["a"]
        await hall.come(nursery, Asker("d"))
        assert hall.refused == ["a", "a"]
        await hall.come(nursery, Asker("e"))
        assert hall.refused == ["a", "a", "e"], "nobody has more than one place any longer"
    assert hall.served == ["a", "b", "c", "d"]


async def test_ever_new_networks_take_nothing_from_a_holder() -> None:
    hall = Hall()
    strangers = [Asker(f"198.51.{number}.0/24") for number in range(100)]
    async with hall.waiting(*strangers) as nursery:
        assert len(hall.refused) == 80
        await hall.come(nursery, Asker("192.0.2.0/24", 7))
    assert hall.served[0] == "7@192.0.2.0/24"


async def test_a_holder_has_a_place_of_its_own_among_holders() -> None:
    hall = Hall(holders=(6, 2))
    async with hall.waiting(*(Asker("office", number) for number in range(6))) as nursery:
        await hall.come(nursery, Asker("office", 0))
        assert hall.refused == ["0@office"]
        await hall.come(nursery, Asker("home", 9))
        assert hall.refused == ["0@office", "5@office"]
    assert hall.served[:2] == ["0@office", "9@home"]


async def test_who_goes_away_leaves_the_place_to_others() -> None:
    hall = Hall(strangers=(2, 1))
    async with hall.waiting(Asker("a")) as nursery:
        with trio.CancelScope() as leaving:
            async with trio.open_nursery() as inner:
                await hall.come(inner, Asker("b"))
                leaving.cancel()
        await hall.come(nursery, Asker("c"))
        assert hall.refused == []
    assert hall.served == ["a", "c"]


async def test_a_turn_that_came_to_somebody_who_goes_away_is_passed_on() -> None:
    turns = Turns(1, holders=(4, 4), strangers=(4, 4))
    served: list[str] = []

    async def ask(name: str, scope: trio.CancelScope) -> None:
        with scope:
            async with turns.turn(Asker(name)):
                served.append(name)

    leaving = trio.CancelScope()
    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            async with turns.turn(Asker("first")):
                nursery.start_soon(ask, "leaves", leaving)
                await wait_all_tasks_blocked()
                nursery.start_soon(ask, "stays", trio.CancelScope())
                await wait_all_tasks_blocked()
            leaving.cancel()  # in the same turn of the loop in which the place is handed over
        async with turns.turn(Asker("later")):
            served.append("later")
    assert served[-2:] == ["stays", "later"]


@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from([None, 1, 2])), max_size=40))
def test_everybody_is_served_or_refused_and_the_bounds_hold(askers: list[tuple[int, int | None]]) -> None:
    async def run() -> None:
        hall = Hall(holders=(5, 2), strangers=(6, 3))
        async with hall.waiting(*(Asker(str(network), account) for network, account in askers)):
            assert len(askers) - len(hall.refused) <= 11
        assert len(hall.served) + len(hall.refused) == len(askers)
        async with hall.turns.turn(Asker("after")):
            pass

    trio.run(run)
