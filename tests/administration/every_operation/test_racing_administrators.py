"""Two administrators at once at the same account: one after the other, each with an entry of its own that tells what it
found and what it left, or one of the two is refused and has changed nothing; never something of both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import attrs
import pytest
import trio
from trio.testing import MockClock

from chat.store.administration.admin_audit_log import AdminAuditLogEntry
from chat.testing.rest_client import Response
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.administration.asking import Asking
from tests.administration.audit import audit_log

ROUNDS: Final = 4
"""How often each pair meets, in either order."""


@attrs.frozen
class Wish:
    """What one of them asks, below the account's path."""

    method: str
    path: str
    body: Any


class Race:
    """Two administrators and bob."""

    def __init__(self, server: ChatServer, world: World) -> None:
        self.ask = Asking(server, world)
        self.server, self.world = server, world

    async def run(self, *wishes: Wish) -> list[tuple[Response, list[AdminAuditLogEntry]]]:
        """Ask both at once: answers in the order of the wishes, each with its entries."""
        before = len(audit_log(self.server))
        people = (self.world.admin, self.world.carol)
        answers: dict[int, Response] = {}

        async def one(number: int, wish: Wish) -> None:
            path = f"/v1/admin/users/{self.ask.user_id}{wish.path}"
            answers[number] = await people[number].rest.request(wish.method, path, json=wish.body)

        async with trio.open_nursery() as nursery:
            for number, wish in enumerate(wishes):
                nursery.start_soon(one, number, wish)
        entries = audit_log(self.server)[before:]
        of_each = [[entry for entry in entries if entry.admin_user_id == int(person.id)] for person in people]
        for number, own in enumerate(of_each):
            assert bool(own) == (answers[number].status < 400), (wishes[number], answers[number].body)
        self.order = [entry.admin_user_id == int(people[1].id) for entry in entries]
        return [(answers[number], own) for number, own in enumerate(of_each)]

    def last(self) -> int:
        """Whose wish was written last."""
        return int(self.order[-1])


CHAINS: Final[list[tuple[str, str, Callable[[int], Any], str, str]]] = [
    ("PATCH", "/username", lambda number: {"username": f"name_{number}"}, "old_username", "new_username"),
    ("PATCH", "/email", lambda number: {"email": f"name_{number}@example.com"}, "old_email", "new_email"),
    ("PATCH", "/date-of-birth", lambda number: {"date_of_birth": f"19{number + 10}-01-02"}, "old_dob", "new_dob"),
]
"""Changes whose entries tell what was there before and after."""


@pytest.fixture
async def race(chat_server: ChatServer, chat_world: World) -> Race:
    await Asking(chat_server, chat_world, chat_world.carol.id).set(acls=["*"])
    return Race(chat_server, chat_world)


async def test_changes_follow_one_another(race: Race, autojump_clock: MockClock) -> None:
    number = 0
    for method, path, body, old, new in CHAINS:
        for _ in range(ROUNDS):
            shown = await race.ask.shown()
            number += 2
            results = await race.run(Wish(method, path, body(number)), Wish(method, path, body(number + 1)))
            assert [answer.status for answer, _ in results] == [200, 200]
            [first], [second] = (own for _, own in results)
            if race.last() == 0:
                first, second = second, first
            assert second.metadata[old] == first.metadata[new], path
            after = await race.ask.shown()
            name = {"old_username": "username", "old_email": "email", "old_dob": "date_of_birth"}[old]
            assert first.metadata[old] == (shown[name] or "null")
            assert after[name] == second.metadata[new]


async def test_bits_and_sets_are_not_lost(race: Race, autojump_clock: MockClock) -> None:
    for bit in range(8, 8 + ROUNDS):
        add, other = {"add_flags": [str(1 << bit)]}, {"add_flags": [str(1 << bit + 20)], "remove_flags": ["1"]}
        results = await race.run(Wish("PATCH", "/flags", add), Wish("PATCH", "/flags", other))
        assert [answer.status for answer, _ in results] == [200, 200]
        flags = int((await race.ask.shown())["flags"])
        assert flags >> bit & 1
        assert flags >> bit + 20 & 1
        assert str(flags) == results[race.last()][1][0].metadata["new_flags"]
        sets = (["user:lookup", "admin:authenticate"], ["jobs:view"])
        results = await race.run(*(Wish("PUT", "/acls", {"acls": acls}) for acls in sets))
        assert [answer.status for answer, _ in results] == [200, 200]
        assert (await race.ask.shown())["acls"] == sets[race.last()]


async def test_of_a_ban_and_its_end_the_last_one_stands(race: Race, autojump_clock: MockClock) -> None:
    banned, unbanned = Wish("PUT", "/ban", {"duration_hours": 5}), Wish("DELETE", "/ban", {})
    for pair in [(banned, unbanned), (unbanned, banned)] * 2:
        results = await race.run(*pair)
        assert [answer.status for answer, _ in results] == [200, 200]
        shown = await race.ask.shown()
        stands = pair[race.last()] is banned
        assert (shown["temp_banned_until"] is not None) == stands
        assert bool(int(shown["flags"]) & 1 << 38) == stands
        signed_in = await race.world.anyone.login(email="bob@example.com", password=race.world.bob.password)
        assert (signed_in.status, signed_in.code) == ((403, "ACCOUNT_SUSPENDED_TEMPORARILY") if stands else (200, None))


async def test_a_note_meets_another_ban(race: Race, autojump_clock: MockClock) -> None:
    for hours in (2, 3, 4, 5):
        await race.ask.user("PUT", "/ban", {"duration_hours": 1})
        ban = race.ask.entries("temp_ban")[-1]
        note = Wish("POST", "/ban/notes", {"ban_audit_log_id": str(ban.id), "note": "seen"})
        again = Wish("PUT", "/ban", {"duration_hours": hours})
        results = await race.run(*((note, again) if hours % 2 else (again, note)))
        noted = results[0 if hours % 2 else 1][0]
        assert (noted.status, noted.code) in {(204, None), (409, "CONFLICT")}
        # The note was written only while its ban was the current one.
        assert (noted.status == 204) == (race.order[0] == (0 if hours % 2 else 1) and len(race.order) == 2)


async def test_of_two_deletions_one_is_scheduled_and_of_two_ends_one_ends_it(
    race: Race, autojump_clock: MockClock
) -> None:
    for round_ in range(ROUNDS):
        wishes = [Wish("PUT", "/deletion", {"reason_code": 2, "days_until_deletion": 70 + n}) for n in range(2)]
        results = await race.run(*wishes)
        assert sorted((answer.status, answer.code) for answer, _ in results) == [(200, None), (409, "CONFLICT")]
        won = next(answer for answer, _ in results if answer.status == 200)
        due = won.expect(200)["user"]["pending_deletion_at"]
        assert (await race.ask.shown())["pending_deletion_at"] == due
        cancel = Wish("DELETE", "/deletion", {"expected_pending_deletion_at": due})
        if round_ % 2:
            results = await race.run(cancel, cancel)
            codes = sorted(answer.status for answer, _ in results)
            assert codes == [200, 400]
            assert (await race.ask.shown())["pending_deletion_at"] is None
            continue
        longer = {"reason_code": 3, "days_until_deletion": 90, "replace_pending_deletion_at": due}
        results = await race.run(cancel, Wish("PUT", "/deletion", longer))
        assert sorted((answer.status, answer.code) for answer, _ in results) == [(200, None), (409, "CONFLICT")]
        shown = await race.ask.shown()
        assert (shown["pending_deletion_at"] is None) == (results[0][0].status == 200)
        if shown["pending_deletion_at"] is not None:
            assert shown["deletion_reason_code"] == 3
            await race.ask.user("DELETE", "/deletion", {"expected_pending_deletion_at": shown["pending_deletion_at"]})


async def test_of_two_who_end_the_sign_ins_one_does(race: Race, autojump_clock: MockClock) -> None:
    results = await race.run(*[Wish("DELETE", "/sessions", ...)] * 2)
    assert sorted(answer.expect(200)["terminated_count"] for answer, _ in results) == [0, 1]


async def test_an_account_is_never_a_bot_with_acls_by_way_of_bot_status(race: Race, autojump_clock: MockClock) -> None:
    for _ in range(ROUNDS):
        results = await race.run(
            Wish("PUT", "/bot-status", {"bot": True}), Wish("PUT", "/acls", {"acls": ["jobs:view"]})
        )
        shown = await race.ask.shown()
        if results[0][0].status == 403:
            assert not shown["bot"]
        else:
            assert race.order == [False, True]  # it held no ACL when it became a bot
        await race.ask.user("PUT", "/acls", {"acls": []})
        await race.ask.user("PUT", "/bot-status", {"bot": False})


async def test_a_username_that_two_ask_for_goes_to_one_and_the_other_gets_another_tag(
    race: Race, autojump_clock: MockClock
) -> None:
    """On two accounts at once: no tag is given twice."""
    world = race.world
    tags: list[tuple[str, int]] = []

    async def rename(user_id: str) -> None:
        path = f"/v1/admin/users/{user_id}/username"
        answer = await world.admin.rest.patch(path, {"username": "same_name", "discriminator": "0042"})
        if answer.status == 200:
            user = answer.expect(200)["user"]
            tags.append((user["username"], user["discriminator"]))
        else:
            assert (answer.status, answer.code) == (400, "TAG_ALREADY_TAKEN")

    async with trio.open_nursery() as nursery:
        for person in (world.alice, world.bob):
            nursery.start_soon(rename, person.id)
    assert tags == [("same_name", 42)]


async def test_of_two_who_take_each_others_rights_away_one_does(race: Race, autojump_clock: MockClock) -> None:
    people = (race.world.admin, race.world.carol)
    answers: dict[int, Response] = {}

    async def disarm(number: int) -> None:
        path = f"/v1/admin/users/{people[1 - number].id}/acls"
        answers[number] = await people[number].rest.put(path, {"acls": []})

    for first in (0, 1):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(disarm, first)
            nursery.start_soon(disarm, 1 - first)
        told = sorted((answer.status, answer.code) for answer in answers.values())
        assert told == [(200, None), (403, "MISSING_PERMISSIONS")]
        kept = next(person for number, person in enumerate(people) if answers[number].status == 200)
        assert (await kept.rest.get("/v1/admin/acls")).status == 200
        for person in people:
            (await race.world.anyone.post(f"/v1/_dev/users/{person.id}", {"acls": ["*"]})).expect(200)
