"""Friends, requests and blocks over HTTP, and what each side hears of them.

Area: people. Rules: 000.gates.
"""

from __future__ import annotations

import random

import pytest
import trio.testing

from chat.testing.world import Actor, World

BASE = "/v1/users/@me/relationships"


async def types(actor: Actor) -> dict[str, int]:
    """What the account has with whom."""
    return {entry["id"]: entry["type"] for entry in (await actor.rest.get(BASE)).expect(200)}


async def test_a_request_is_accepted_and_both_are_told(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    at_alice, at_bob = await alice.connect(), await bob.connect()

    asked = (await alice.rest.post(f"{BASE}/{bob.id}")).expect(200)
    assert (asked["id"], asked["type"], asked["user"]["username"]) == (bob.id, 4, bob.username)
    assert (await at_alice.expect("RELATIONSHIP_ADD")).data["type"] == 4
    assert (await at_bob.expect("RELATIONSHIP_ADD")).data["type"] == 3

    accepted = (await bob.rest.put(f"{BASE}/{alice.id}")).expect(200)
    assert (accepted["id"], accepted["type"]) == (alice.id, 1)
    assert (await at_alice.expect("RELATIONSHIP_UPDATE")).data["type"] == 1
    assert (await at_bob.expect("RELATIONSHIP_UPDATE")).data["type"] == 1
    assert await types(alice) == {bob.id: 1}
    assert await types(bob) == {alice.id: 1}


async def test_a_request_to_one_who_asked_makes_friends(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    (await alice.rest.post(f"{BASE}/{bob.id}")).expect(200)
    assert (await bob.rest.post(f"{BASE}/{alice.id}")).expect(200)["type"] == 1


async def test_by_tag(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    tag = (await alice.rest.get(f"/v1/users/{bob.id}")).expect(200)
    body = {"username": tag["username"], "discriminator": tag["discriminator"]}
    assert (await alice.rest.post(BASE, body)).expect(200)["id"] == bob.id
    unknown = await alice.rest.post(BASE, {**body, "username": "nobody_here"})
    assert (unknown.status, unknown.code) == (400, "NO_USERS_WITH_SERVICE_TAG_EXIST")


async def test_by_the_bare_username_where_only_one_account_has_it(chat_world: World) -> None:
    alice, bob, carol = chat_world.alice, chat_world.bob, chat_world.carol
    assert (await alice.rest.post(BASE, {"username": bob.username.upper()})).expect(200)["id"] == bob.id
    (await carol.rest.patch("/v1/users/@me", {"username": bob.username, "password": carol.password})).expect(200)
    several = await chat_world.admin.rest.post(BASE, {"username": bob.username})
    assert (several.status, several.code) == (400, "DISCRIMINATOR_REQUIRED")
    nobody = await alice.rest.post(BASE, {"username": "nobody_here"})
    assert (nobody.status, nobody.code) == (400, "NO_USERS_WITH_SERVICE_TAG_EXIST")


async def test_a_block_ends_friendship_and_is_not_told(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    (await alice.rest.post(f"{BASE}/{bob.id}")).expect(200)
    (await bob.rest.put(f"{BASE}/{alice.id}")).expect(200)
    at_bob = await bob.connect()

    assert (await alice.rest.put(f"{BASE}/{bob.id}", {"type": 2})).expect(200)["type"] == 2
    assert (await at_bob.expect("RELATIONSHIP_REMOVE")).data == {"id": alice.id}
    assert await types(bob) == {}

    refused = await bob.rest.post(f"{BASE}/{alice.id}")
    assert (refused.status, refused.code) == (400, "FRIEND_REQUEST_BLOCKED")
    own = await alice.rest.post(f"{BASE}/{bob.id}")
    assert (own.status, own.code) == (400, "CANNOT_SEND_FRIEND_REQUEST_TO_BLOCKED_USER")

    (await alice.rest.delete(f"{BASE}/{bob.id}")).expect(204)
    (await bob.rest.post(f"{BASE}/{alice.id}")).expect(200)


async def test_one_who_asked_is_not_told_of_a_block(chat_world: World) -> None:
    """The request stays with the one who asked, asked again or not, until the block ends: then it is turned down."""
    alice, bob = chat_world.alice, chat_world.bob
    (await alice.rest.post(f"{BASE}/{bob.id}")).expect(200)
    before = (await alice.rest.get(BASE)).expect(200)
    at_alice = await alice.connect()
    assert (await bob.rest.put(f"{BASE}/{alice.id}", {"type": 2})).expect(200)["type"] == 2
    assert (await alice.rest.get(BASE)).expect(200) == before
    assert (await alice.rest.post(f"{BASE}/{bob.id}")).expect(200)["type"] == 4
    assert (await types(alice), await types(bob)) == ({bob.id: 4}, {alice.id: 2})
    (await alice.rest.put(f"/v1/users/@me/notes/{bob.id}", {"note": "silent"})).expect(204)
    await at_alice.expect("USER_NOTE_UPDATE")
    assert not [payload for payload in at_alice.dispatches if str(payload.name).startswith("RELATIONSHIP")]

    (await bob.rest.delete(f"{BASE}/{alice.id}")).expect(204)
    assert (await at_alice.expect("RELATIONSHIP_REMOVE")).data == {"id": bob.id}
    assert (await types(alice), await types(bob)) == ({}, {})


async def test_a_friend_gets_a_nickname(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    stranger = await alice.rest.patch(f"{BASE}/{bob.id}", {"nickname": "bobby"})
    assert (stranger.status, stranger.code) == (400, "NOT_FRIENDS_WITH_USER")
    (await alice.rest.post(f"{BASE}/{bob.id}")).expect(200)
    (await bob.rest.put(f"{BASE}/{alice.id}")).expect(200)
    assert (await alice.rest.patch(f"{BASE}/{bob.id}", {"nickname": "bobby"})).expect(200)["nickname"] == "bobby"
    assert (await alice.rest.patch(f"{BASE}/{bob.id}", {"nickname": None})).expect(200)["nickname"] is None


@pytest.mark.parametrize(
    ("who", "whom", "code"),
    [
        ("alice", "alice", "CANNOT_SEND_FRIEND_REQUEST_TO_SELF"),
        ("bot", "alice", "BOTS_CANNOT_SEND_FRIEND_REQUESTS"),
        ("alice", "bot", "FRIEND_REQUEST_BLOCKED"),
    ],
)
async def test_who_cannot_ask_whom(chat_world: World, who: str, whom: str, code: str) -> None:
    asking: Actor = getattr(chat_world, who)
    asked: Actor = getattr(chat_world, whom)
    refused = await asking.rest.post(f"{BASE}/{asked.id}")
    assert (refused.status, refused.code) == (400, code)


async def test_an_unknown_account_is_404(chat_world: World) -> None:
    for method in ("POST", "PUT"):
        answer = await chat_world.alice.rest.request(method, f"{BASE}/999999999999999999")
        assert (answer.status, answer.code) == (404, "UNKNOWN_USER")
    nothing = await chat_world.alice.rest.delete(f"{BASE}/{chat_world.bob.id}")
    assert (nothing.status, nothing.code) == (404, "NOT_FOUND")
    not_asked = await chat_world.alice.rest.put(f"{BASE}/{chat_world.bob.id}")
    assert (not_asked.status, not_asked.code) == (404, "NOT_FOUND")


async def test_settings_decide_who_may_ask(chat_world: World) -> None:
    admin, alice, bob = chat_world.admin, chat_world.alice, chat_world.bob
    # The administrator shares neither guild nor friend with alice: the default takes no request from there.
    refused = await admin.rest.post(f"{BASE}/{alice.id}")
    assert (refused.status, refused.code) == (400, "FRIEND_REQUEST_BLOCKED")
    (await alice.rest.patch("/v1/users/@me/settings", {"friend_source_flags": 4})).expect(200)
    (await admin.rest.post(f"{BASE}/{alice.id}")).expect(200)
    # A guild in common is enough for bob, until he says otherwise.
    (await bob.rest.patch("/v1/users/@me/settings", {"friend_source_flags": 0})).expect(200)
    refused = await alice.rest.post(f"{BASE}/{bob.id}")
    assert (refused.status, refused.code) == (400, "FRIEND_REQUEST_BLOCKED")
    (await alice.rest.put(f"{BASE}/{admin.id}")).expect(200)
    (await bob.rest.patch("/v1/users/@me/settings", {"friend_source_flags": 1})).expect(200)
    refused = await alice.rest.post(f"{BASE}/{bob.id}")  # no friend in common
    assert (refused.status, refused.code) == (400, "FRIEND_REQUEST_BLOCKED")


@pytest.mark.chat_settings(**{"limits.max_relationships": 1})
async def test_the_limit_holds_for_both_sides(chat_world: World) -> None:
    alice, bob, carol = chat_world.alice, chat_world.bob, chat_world.carol
    (await alice.rest.post(f"{BASE}/{bob.id}")).expect(200)
    for asking, asked in ((alice, carol), (carol, alice)):
        refused = await asking.rest.post(f"{BASE}/{asked.id}")
        assert (refused.status, refused.code) == (400, "MAX_FRIENDS")


@pytest.mark.rule("000.gates.6")
async def test_a_limited_account_asks_nobody(chat_world: World) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    (await chat_world.anyone.post(f"/v1/_dev/users/{alice.id}", {"flags": str(1 << 50)})).expect(200)
    tag = (await alice.rest.get(f"/v1/users/{bob.id}")).expect(200)
    by_tag = {"username": tag["username"], "discriminator": tag["discriminator"]}
    for answer in (await alice.rest.post(f"{BASE}/{bob.id}"), await alice.rest.post(BASE, by_tag)):
        assert (answer.status, answer.code) == (403, "ACCOUNT_LIMITED")
    assert await types(bob) == {}
    (await chat_world.anyone.post(f"/v1/_dev/users/{alice.id}", {"flags": "0"})).expect(200)
    (await alice.rest.post(f"{BASE}/{bob.id}")).expect(200)


STEPS = ("ask", "accept", "block", "remove")
SIDES: dict[tuple[int | None, int | None], str] = {
    (None, None): "nothing",
    (1, 1): "friends",
    (2, None): "blocked by the first",
    (None, 2): "blocked by the second",
    (2, 2): "blocked by both",
    (2, 4): "blocked by the first, whom the second had asked",
    (4, 2): "blocked by the second, whom the first had asked",
    (4, 3): "asked by the first",
    (3, 4): "asked by the second",
}


@pytest.mark.parametrize("seed", range(6))
async def test_two_sides_always_fit(chat_world: World, seed: int) -> None:
    """Whatever two people do about each other, what one has answers what the other has."""
    chance = random.Random(seed)
    first, second = chat_world.alice, chat_world.bob
    seen = set()
    for _ in range(40):
        acting, other = chance.choice([(first, second), (second, first)])
        path = f"{BASE}/{other.id}"
        match chance.choice(STEPS):
            case "remove":
                await acting.rest.delete(path)
            case "ask":
                await acting.rest.post(path)
            case "accept":
                await acting.rest.put(path)
            case _:
                await acting.rest.put(path, {"type": 2})
        sides = ((await types(first)).get(second.id), (await types(second)).get(first.id))
        seen.add(SIDES[sides])
    assert len(seen) >= 4


async def test_all_requests_are_turned_down_at_once(autojump_clock: trio.testing.MockClock, chat_world: World) -> None:
    admin, alice, bob, carol = chat_world.admin, chat_world.alice, chat_world.bob, chat_world.carol
    (await alice.rest.change_settings(friend_source_flags=7)).expect(200)
    for asking in (admin, bob):
        (await asking.rest.request_friendship(alice.id)).expect(200)
    (await alice.rest.request_friendship(carol.id)).expect(200)
    at_bob = await bob.connect()

    # Nobody's account is that young.
    new_ones = {"filter": "new_accounts", "max_account_age_seconds": 1}
    await chat_world.anyone.advance_clock(10_000)
    answer = await alice.rest.post(f"{BASE}/bulk-ignore", new_ones)
    assert answer.expect(200) == {"ignored_count": 0}
    assert len(await types(alice)) == 3

    answer = await alice.rest.post(f"{BASE}/bulk-ignore", {})
    assert answer.expect(200) == {"ignored_count": 2}
    assert (await at_bob.expect("RELATIONSHIP_REMOVE")).data == {"id": alice.id}
    assert await types(alice) == {carol.id: 4}  # what alice asked herself stays
    assert await types(bob) == await types(admin) == {}
    answer = await alice.rest.post(f"{BASE}/bulk-ignore")
    assert answer.expect(200) == {"ignored_count": 0}


async def test_requests_of_new_accounts_are_turned_down(
    autojump_clock: trio.testing.MockClock, chat_world: World
) -> None:
    alice, bob = chat_world.alice, chat_world.bob
    await chat_world.anyone.advance_clock(86_400_000)
    made = (
        await chat_world.anyone.register(
            email="new@example.com",
            username="newcomer",
            global_name="New",
            password="a long password",
            date_of_birth="2000-01-01",
            consent=True,
        )
    ).expect(200)
    newcomer = chat_world.anyone.signed_in(made["token"])
    (await chat_world.anyone.post(f"/v1/_dev/users/{made['user_id']}", {"email_verified": True})).expect(200)
    (await alice.rest.change_settings(friend_source_flags=7)).expect(200)
    (await newcomer.request_friendship(alice.id)).expect(200)
    (await bob.rest.request_friendship(alice.id)).expect(200)
    hour = {"filter": "new_accounts", "max_account_age_seconds": 3_600}
    assert (await alice.rest.post(f"{BASE}/bulk-ignore", hour)).expect(200) == {"ignored_count": 1}
    assert await types(alice) == {bob.id: 3}


SHARING = "/v1/users/@me/settings/voice-activity-sharing"


async def test_all_friends_hear_where_one_speaks_or_none(
    autojump_clock: trio.testing.MockClock, chat_world: World
) -> None:
    alice, bob, carol = chat_world.alice, chat_world.bob, chat_world.carol
    (await alice.rest.request_friendship(bob.id)).expect(200)
    (await bob.rest.accept_friendship(alice.id)).expect(200)
    at_alice, at_bob = await alice.connect(), await bob.connect()

    own = (await alice.rest.put(SHARING, {"share_voice_activity": False})).expect(200)
    assert own["last_voice_activity_sharing_change_at"] is not None
    assert (await at_alice.expect("USER_SETTINGS_UPDATE")).data["default_share_voice_activity"] is False
    at_hers = (await at_alice.expect("RELATIONSHIP_UPDATE")).data
    assert (at_hers["id"], at_hers["share_voice_activity"]) == (bob.id, False)
    assert (await at_alice.expect("USER_UPDATE")).data == own
    at_his = (await at_bob.expect("RELATIONSHIP_UPDATE")).data
    assert (at_his["id"], at_his["friend_shares_voice_activity"]) == (alice.id, False)
    (entry,) = (await bob.rest.get(BASE)).expect(200)
    assert (entry["share_voice_activity"], entry["friend_shares_voice_activity"]) == (True, False)

    # Whoever becomes a friend later does not hear it either.
    (await carol.rest.request_friendship(alice.id)).expect(200)
    assert (await alice.rest.accept_friendship(carol.id)).expect(200)["share_voice_activity"] is False

    refused = await alice.rest.put(SHARING, {"share_voice_activity": True})
    assert (refused.status, refused.code) == (400, "INVALID_FORM_BODY")
    assert refused.json()["errors"][0]["code"] == "VOICE_ACTIVITY_SHARING_ON_COOLDOWN"
    await chat_world.anyone.advance_clock(86_400_000)
    (await alice.rest.put(SHARING, {"share_voice_activity": True})).expect(200)
    assert {entry["share_voice_activity"] for entry in (await alice.rest.get(BASE)).expect(200)} == {True}

    # One friend alone.
    changed = (await alice.rest.patch(f"{BASE}/{bob.id}", {"share_voice_activity": False})).expect(200)
    assert changed["share_voice_activity"] is False
    (entry,) = (await bob.rest.get(BASE)).expect(200)
    assert entry["friend_shares_voice_activity"] is False


async def test_a_change_of_nothing_is_refused(chat_world: World) -> None:
    refused = await chat_world.alice.rest.patch(f"{BASE}/{chat_world.bob.id}", {})
    assert (refused.status, refused.code) == (400, "INVALID_FORM_BODY")


@pytest.mark.chat_settings(**{"limits.max_relationships": 2})
async def test_those_who_ask_take_no_room_away(chat_world: World) -> None:
    admin, alice, bob, carol = chat_world.admin, chat_world.alice, chat_world.bob, chat_world.carol
    (await alice.rest.change_settings(friend_source_flags=7)).expect(200)
    for asking in (admin, bob):
        (await asking.rest.request_friendship(alice.id)).expect(200)
    # Two wait for an answer, as many as there may be; but alice may still ask, and agree.
    refused = await carol.rest.request_friendship(alice.id)
    assert (refused.status, refused.code) == (400, "MAX_FRIENDS")
    (await alice.rest.request_friendship(carol.id)).expect(200)
    (await alice.rest.accept_friendship(bob.id)).expect(200)
    full = await alice.rest.accept_friendship(admin.id)
    assert (full.status, full.code) == (400, "MAX_FRIENDS")
    assert full.json()["max_relationships"] == 2
    assert (await alice.rest.block(admin.id)).code == "MAX_FRIENDS"
    assert (await alice.rest.request_friendship(admin.id)).code == "MAX_FRIENDS"
    assert await types(alice) == {carol.id: 4, bob.id: 1, admin.id: 3}
    # A friend may be blocked whatever the limit, since that takes no more room.
    (await alice.rest.block(bob.id)).expect(200)
    (await alice.rest.end_relationship(carol.id)).expect(204)
    (await alice.rest.accept_friendship(admin.id)).expect(200)
