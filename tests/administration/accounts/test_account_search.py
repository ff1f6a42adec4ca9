"""Finding accounts (document 002, GET /v1/admin/users).

Area: administration. Rules: 002.list-users.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from trio.testing import MockClock

from chat.store.administration import listings
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.administration.asking import Asking
from tests.administration.audit import audit_log
from tests.spec.ledger import cases_of, proves

PATH = "/v1/admin/users"


class Search:
    """Searches of the seeded administrator, or of somebody with fewer ACLs."""

    def __init__(self, server: ChatServer, world: World) -> None:
        self.server = server
        self.world = world

    async def __call__(self, query: str = "") -> tuple[list[str], int]:
        """The usernames found, and how many there are in all."""
        answer = (await self.world.admin.rest.get(f"{PATH}?{query}")).expect(200)
        assert answer.keys() == {"users", "total"}
        return [user["username"] for user in answer["users"]], answer["total"]

    async def refused(self, query: str) -> tuple[int, str]:
        answer = await self.world.admin.rest.get(f"{PATH}?{query}")
        assert answer.status >= 400, answer.body
        assert not audit_log(self.server)
        return answer.status, answer.json()["code"]

    def metadata(self) -> dict[str, Any]:
        entry = audit_log(self.server)[-1]
        assert (entry.action, entry.target_type, entry.target_id) == ("search_users", "user", "0")
        return dict(entry.metadata)


@pytest.fixture
def search(chat_server: ChatServer, chat_world: World, autojump_clock: MockClock) -> Search:
    return Search(chat_server, chat_world)


INVALID = (400, "INVALID_FORM_BODY")


@pytest.mark.rule("002.list-users.37")
@pytest.mark.parametrize(
    "query",
    [
        *cases_of(
            "002.list-users.5",
            "user_id=bob",
            "user_id=-1",
            "user_id=9223372036854775808",
            "&".join(f"user_id={number}" for number in range(101)),
        ),
        *cases_of("002.list-users.7", f"resolve={'x' * 1025}"),
        *cases_of("002.list-users.10", f"email={'x' * 321}"),
        *cases_of("002.list-users.13", f"last_active_ip={'1' * 65}"),
        *cases_of("002.list-users.16", f"q={'x' * 1025}"),
        *cases_of("002.list-users.17", "limit=0", "limit=201", "limit=a"),
        *cases_of("002.list-users.18", "offset=-1", "offset=100001"),
    ],
    ids=lambda query: query[:24],
)
async def test_questions_that_are_none(search: Search, autojump_clock: MockClock, query: str) -> None:
    assert await search.refused(query) == INVALID


async def test_accounts_by_id(search: Search, autojump_clock: MockClock) -> None:
    world = search.world
    with proves("002.list-users.26"):
        found, total = await search(f"user_id={world.alice.id}&user_id=5&user_id={world.bob.id}&user_id={world.bob.id}")
    with proves("002.list-users.6", "002.list-users.27"):
        assert (sorted(found), total) == (["alice", "bob"], 2)
    with proves("002.list-users.30", "002.list-users.31"):
        assert search.metadata() == {"selector": "user_id", "result_count": "2", "total": "2", "user_id_count": "4"}
    assert await search(f"user_id={world.bob.id}") == (["bob"], 1)
    with proves("002.list-users.33"):
        assert search.metadata() == {
            "selector": "user_id",
            "result_count": "1",
            "total": "1",
            "user_id_count": "1",
            "user_id": world.bob.id,
        }
    with proves("002.list-users.5"):
        hundred = "&".join(f"user_id={number}" for number in range(100))
        assert await search(hundred) == ([], 0)
        assert search.metadata()["user_id_count"] == "100"


async def test_one_account_by_whatever_names_it(search: Search, autojump_clock: MockClock) -> None:
    world = search.world
    tag = (await Asking(search.server, world).shown())["discriminator"]
    by_tag, by_id, by_address = "002.list-users.20", "002.list-users.21", "002.list-users.22"
    for rule, text in (
        (by_tag, f"bob#{tag:04}"),
        (by_tag, f"BOB#{tag}"),
        (by_id, world.bob.id),
        (by_address, "bob@example.com"),
        (by_id, f" {world.bob.id} "),
    ):
        with proves(rule):
            assert await search(f"resolve={quote(text, safe='')}") == (["bob"], 1)
        with proves("002.list-users.36"):
            assert search.metadata() == {"selector": "resolve", "result_count": "1", "total": "1"}
    for text in (f"bob#{tag + 1}", "12345", "99999999999999999999", "nobody@example.com", "sub_1Nabc", "bob", "#1"):
        with proves("002.list-users.8", "002.list-users.28"):
            assert await search(f"resolve={quote(text, safe='')}") == ([], 0)
        with proves("002.list-users.36"):
            assert search.metadata() == {"selector": "resolve", "result_count": "0", "total": "0"}


@pytest.mark.rule("002.list-users.11", "002.list-users.36")
async def test_an_account_by_its_exact_address(search: Search, autojump_clock: MockClock) -> None:
    assert await search(f"email={quote(' bob@example.com ', safe='')}") == (["bob"], 1)
    assert search.metadata() == {"selector": "email", "result_count": "1", "total": "1"}
    for text in ("bob@example", "ob@example.com", "Bob@example.com", "@example.com"):
        assert await search(f"email={quote(text, safe='')}") == ([], 0)


async def test_of_two_accounts_with_an_address_the_older_holder_is_found(
    search: Search, autojump_clock: MockClock
) -> None:
    for younger in (search.world.carol, search.world.alice):
        await Asking(search.server, search.world, younger.id).user("PATCH", "/email", {"email": "bob@example.com"})
    for selector in ("resolve", "email"):
        assert await search(f"{selector}=bob%40example.com") == (["bob"], 1)
    await Asking(search.server, search.world).user("PATCH", "/email", {"email": "other@example.com"})
    for selector in ("resolve", "email"):  # who has it now
        (found,), total = await search(f"{selector}=bob%40example.com")
        assert (found in ("alice", "carol"), total) == (True, 1)


async def test_accounts_last_seen_at_an_address(search: Search, autojump_clock: MockClock) -> None:
    for person in (search.world.alice, search.world.bob):
        await Asking(search.server, search.world, person.id).set(last_active_ip="203.0.113.7")
    assert await search("last_active_ip=203.0.113.7") == (["alice", "bob"], 2)
    with proves("002.list-users.34", "002.list-users.36"):
        assert search.metadata() == {
            "selector": "last_active_ip",
            "result_count": "2",
            "total": "2",
            "limit": "50",
            "offset": "0",
        }
    with proves("002.list-users.14", "002.list-users.19"):
        assert await search("last_active_ip=%20203.0.113.7%20&limit=1&offset=1") == (["bob"], 2)
    with proves("002.list-users.14"):
        for text in ("203.0.113.0/24", "203.0.113", "203.0.113.70", "203.0.113.*"):
            assert await search(f"last_active_ip={quote(text, safe='')}") == ([], 0)


async def test_who_may_not_see_a_field_does_not_search_by_it(search: Search, autojump_clock: MockClock) -> None:
    world = search.world
    await Asking(search.server, world).set(acls=["admin:authenticate", "user:lookup"])
    for rule, query, acl in (
        ("002.list-users.9", "resolve=bob@example.com", "user:view:email"),
        ("002.list-users.12", "email=bob@example.com", "user:view:email"),
        ("002.list-users.15", "last_active_ip=203.0.113.7", "user:view:ip"),
    ):
        with proves(rule):
            assert (await world.bob.rest.get(f"{PATH}?{query}")).expect(403)["code"] == "MISSING_ACL"
        with proves("002.list-users.37"):
            assert not audit_log(search.server)
        await Asking(search.server, world).set(acls=["admin:authenticate", "user:lookup", acl])
        (await world.bob.rest.get(f"{PATH}?{query}")).expect(200)
        await search.server.database.write(lambda connection: void(connection.execute("DELETE FROM admin_audit_log")))
        await Asking(search.server, world).set(acls=["admin:authenticate", "user:lookup"])
    (await world.bob.rest.get(f"{PATH}?resolve=bob%231")).expect(200)


def void(_: object) -> None:
    return None


@pytest.mark.rule("002.list-users.3", "002.list-users.19", "002.list-users.32")
async def test_the_first_selector_counts(search: Search, autojump_clock: MockClock) -> None:
    world = search.world
    selectors = [
        (f"user_id={world.alice.id}", ["alice"], "user_id"),
        ("resolve=bob@example.com", ["bob"], "resolve"),
        ("email=carol@example.com", ["carol"], "email"),
        ("last_active_ip=198.51.100.1", [], "last_active_ip"),
        ("q=admin", ["admin"], "search"),
    ]
    for start, (_, found, name) in enumerate(selectors):
        query = "&".join(part for part, _, _ in reversed(selectors[start:]))
        assert (await search(query))[0] == found
        assert search.metadata()["selector"] == name
    for part, found, name in selectors[:3]:
        assert (await search(f"{part}&limit=1&offset=7"))[0] == found
        assert not search.metadata().keys() & {"limit", "offset"}, name


@pytest.mark.rule("002.list-users.4", "002.list-users.16", "002.list-users.35")
async def test_words_find_names_that_begin_with_them(search: Search, autojump_clock: MockClock) -> None:
    await Asking(search.server, search.world).set(global_name="Robert the Éclair")
    everybody, total = await search()
    assert len(everybody) == total >= 4
    assert search.metadata() == {
        "selector": "search",
        "result_count": str(total),
        "total": str(total),
        "limit": "50",
        "offset": "0",
        "has_query": "false",
    }
    for text in ("bob", "BOB", "rob", "robert", "eclair rob", "the"):
        assert await search(f"q={quote(text)}") == (["bob"], 1), text
        assert search.metadata()["has_query"] == "true"
    for text in ("ob", "robert alice", "***", '"', "bob OR alice", "NOT bob", "bob NEAR", "tag:bob"):
        assert await search(f"q={quote(text)}") == ([], 0), text
    assert (await search("q=%20%20"))[1] == total
    assert search.metadata()["has_query"] == "false"
    await Asking(search.server, search.world).set(global_name=None)
    assert await search("q=robert") == ([], 0)


@pytest.mark.rule("002.list-users.17", "002.list-users.18", "002.list-users.19")
async def test_pages(search: Search, autojump_clock: MockClock) -> None:
    everybody, total = await search("limit=200")
    paged = []
    for offset in range(total + 1):
        page, counted = await search(f"limit=1&offset={offset}")
        assert counted == total
        paged += page
    assert paged == everybody
    assert await search("offset=100000") == ([], total)


@pytest.mark.rule("002.list-users.24", "002.list-users.25")
async def test_digits_are_an_id_as_well(search: Search, autojump_clock: MockClock) -> None:
    world = search.world
    bob = world.bob.id
    assert await search(f"q={bob}") == (["bob"], 1)
    await Asking(search.server, world).user("PATCH", "/username", {"username": "robert"})
    carol = Asking(search.server, world, world.carol.id)
    await carol.set(global_name=bob)
    assert await search(f"q={bob}") == (["robert", "carol"], 2)
    assert await search(f"q={bob}&limit=1") == (["robert"], 2)
    # Page by page nobody is lost, and nobody comes twice.
    assert await search(f"q={bob}&offset=1") == (["carol"], 2)
    assert await search(f"q={bob}&offset=1&limit=1") == (["carol"], 2)
    assert await search(f"q={bob}&offset=2") == ([], 2)
    await Asking(search.server, world).set(global_name=bob)
    found, total = await search(f"q={bob}")
    assert (found[0], sorted(found), total) == ("robert", ["carol", "robert"], 2)
    assert await search(f"q={bob}&offset=1&limit=1") == (["carol"], 2)
    assert await search("q=99999999999999999999") == ([], 0)


@pytest.mark.rule("002.list-users.29", "002.list-users.37")
@pytest.mark.chat_settings(search="off")
async def test_without_an_index_words_find_nothing(search: Search, autojump_clock: MockClock) -> None:
    assert await search.refused("q=bob") == (403, "FEATURE_TEMPORARILY_DISABLED")
    assert await search.refused("") == (403, "FEATURE_TEMPORARILY_DISABLED")
    assert (await search(f"user_id={search.world.bob.id}"))[0] == ["bob"]


@pytest.mark.rule("002.list-users.1", "002.list-users.2")
async def test_the_acl(search: Search, autojump_clock: MockClock) -> None:
    world = search.world
    await Asking(search.server, world).set(acls=["admin:authenticate", "user:view:email"])
    assert (await world.bob.rest.get(f"{PATH}?q=a")).expect(403)["code"] == "MISSING_ACL"
    await Asking(search.server, world).set(acls=["admin:authenticate", "user:lookup"])
    users = (await world.bob.rest.get(f"{PATH}?q=alice")).expect(200)["users"]
    assert users[0]["email"] is None


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(max_size=40) | st.text(alphabet='"*^:()-+{} aé\0', max_size=30))
def test_no_text_breaks_the_index(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    import sqlite3

    with sqlite3.connect(":memory:") as connection:
        connection.execute("CREATE VIRTUAL TABLE account_search USING fts5 (tag, global_name)")
        connection.execute("CREATE TABLE users (id)")
        listings.accounts_named(connection, text, 10, 0)
        listings.is_named(connection, text, 1)
    connection.close()
