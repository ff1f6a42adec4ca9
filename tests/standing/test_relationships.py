"""Relationships: what both sides have, and what each is told."""

from __future__ import annotations

from typing import Any

import pytest

from chat.auth.principal import Principal
from chat.bus.audience import ToAccounts
from chat.clock import iso_timestamp
from chat.domain.standing.relationships import Relationships, RelationshipType
from chat.domain.standing.user_objects import partial_user
from chat.registries.events import EventName
from chat.store.accounts import accounts
from chat.store.guard import UNGUARDED


class Circle:
    """Alice and bob, and what they have with each other."""

    def __init__(self, world: Any, alice: Principal, bob: Principal) -> None:
        self.world = world
        self.alice, self.bob = alice.user_id, bob.user_id
        self.relationships = Relationships(world.database, world.bus, world.clock, partial_user_of=self.partial_user)

    def partial_user(self, user_id: int) -> dict[str, Any]:
        account = accounts.by_id(self.world.database.reader, user_id)
        assert account is not None
        return partial_user(account)

    def types(self) -> tuple[list[int], list[int]]:
        """What alice has, and what bob has."""
        alice, bob = self.relationships.of_user(self.alice), self.relationships.of_user(self.bob)
        return [entry["type"] for entry in alice], [entry["type"] for entry in bob]

    def told(self) -> list[tuple[str, tuple[int, ...]]]:
        """The events since the last question, with the accounts they were for."""
        events = [(str(event.name), event.audience.user_ids) for event in self.world.heard.events()]
        self.world.heard.signals.clear()
        return events


@pytest.fixture
async def circle(world: Any) -> Circle:
    return Circle(world, await world.person("alice"), await world.person("bob"))


async def test_friends_are_friends_of_each_other(circle: Circle) -> None:
    await circle.relationships.set_both(circle.alice, circle.bob, RelationshipType.FRIEND, UNGUARDED)
    assert circle.relationships.friends_of(circle.alice) == (circle.bob,)
    assert circle.relationships.friends_of(circle.bob) == (circle.alice,)
    to_alice, to_bob = circle.world.heard.events(EventName.RELATIONSHIP_ADD)
    assert (to_alice.audience, to_bob.audience) == (ToAccounts((circle.alice,)), ToAccounts((circle.bob,)))
    assert to_alice.data == {
        "id": str(circle.bob),
        "type": 1,
        "since": iso_timestamp(circle.world.clock.now_ms()),
        "nickname": None,
        "share_voice_activity": True,
        "friend_shares_voice_activity": True,
        "user": circle.partial_user(circle.bob),
    }
    (in_ready,) = circle.relationships.of_user(circle.alice)
    assert in_ready == {key: value for key, value in to_alice.data.items() if key != "user"}


async def test_a_request_is_incoming_for_the_other(circle: Circle) -> None:
    await circle.relationships.set_both(circle.alice, circle.bob, RelationshipType.OUTGOING_REQUEST, UNGUARDED)
    assert circle.types() == ([4], [3])
    assert circle.relationships.friends_of(circle.alice) == ()
    await circle.relationships.set_both(circle.bob, circle.alice, RelationshipType.FRIEND, UNGUARDED)
    assert circle.types() == ([1], [1])
    assert [name for name, _ in circle.told()] == [*["RELATIONSHIP_ADD"] * 2, *["RELATIONSHIP_UPDATE"] * 2]


async def test_a_block_ends_the_friendship_of_the_other(circle: Circle) -> None:
    await circle.relationships.set_both(circle.alice, circle.bob, RelationshipType.FRIEND, UNGUARDED)
    circle.told()
    await circle.relationships.set_both(circle.alice, circle.bob, RelationshipType.BLOCKED, UNGUARDED)
    assert circle.types() == ([2], [])
    assert circle.told() == [("RELATIONSHIP_UPDATE", (circle.alice,)), ("RELATIONSHIP_REMOVE", (circle.bob,))]


async def test_a_block_never_takes_away_the_others_block(circle: Circle) -> None:
    await circle.relationships.set_both(circle.alice, circle.bob, RelationshipType.BLOCKED, UNGUARDED)
    await circle.relationships.set_both(circle.bob, circle.alice, RelationshipType.BLOCKED, UNGUARDED)
    assert circle.types() == ([2], [2])


async def test_the_one_who_asked_and_is_blocked_is_told_when_the_block_ends(circle: Circle) -> None:
    await circle.relationships.set_both(circle.alice, circle.bob, RelationshipType.OUTGOING_REQUEST, UNGUARDED)
    circle.told()
    await circle.relationships.set_both(circle.bob, circle.alice, RelationshipType.BLOCKED, UNGUARDED)
    assert circle.types() == ([4], [2])
    assert circle.told() == [("RELATIONSHIP_UPDATE", (circle.bob,))]


async def test_the_same_again_is_told_to_nobody(circle: Circle) -> None:
    await circle.relationships.set_both(circle.alice, circle.bob, RelationshipType.FRIEND, UNGUARDED)
    circle.told()
    await circle.relationships.set_both(circle.alice, circle.bob, RelationshipType.FRIEND, UNGUARDED)
    assert circle.told() == []


async def test_nobody_is_their_own_friend(circle: Circle) -> None:
    with pytest.raises(ValueError, match="itself"):
        await circle.relationships.set_both(circle.alice, circle.alice, RelationshipType.FRIEND, UNGUARDED)
