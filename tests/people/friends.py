"""Short ways to friendship for tests."""

from __future__ import annotations

from typing import Any

from chat.testing.world import Actor

RELATIONSHIPS = "/v1/users/@me/relationships"


async def befriend(one: Actor, *others: Actor) -> None:
    """One account becomes a friend of each of the others."""
    for other in others:
        (await one.rest.post(f"{RELATIONSHIPS}/{other.id}")).expect(200)
        (await other.rest.put(f"{RELATIONSHIPS}/{one.id}")).expect(200)


async def block(one: Actor, other: Actor) -> None:
    """One account blocks another one."""
    (await one.rest.put(f"{RELATIONSHIPS}/{other.id}", {"type": 2})).expect(200)


async def make_group(owner: Actor, *others: Actor) -> dict[str, Any]:
    """The channel object of a new group."""
    made: dict[str, Any] = (await owner.rest.make_group(*(other.id for other in others))).expect(200)
    return made
