"""The list of a channel's members: which rows it has, which it asks for, and how ten thousand of them stay few on the
page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import expect

from chat.registries.limits import LAZY_RANGE_SPAN
from chat.registries.permissions import Permission
from tests.web.browsing import Instance, Visitor, instance
from tests.web.client.node import NodeProcess, running_node
from tests.web.conftest import MakeVisitor

MEMBERS: Final = Path(__file__).with_name("member_list.js").read_text(encoding="utf-8").split("\n", 1)[1]
PEOPLE: Final = 10_000


@pytest.fixture(scope="module")
def node_process() -> Iterator[NodeProcess]:
    with running_node() as node:
        yield node


@given(first=st.integers(0, 99_000), seen=st.integers(0, 400))
def test_the_blocks_hold_what_is_in_sight_and_little_more(node_process: NodeProcess, first: int, seen: int) -> None:
    last = first + seen
    blocks = node_process.call("views/members/rows", "blocksOf", first, last)
    rows = [row for start, end in blocks for row in range(start, end + 1)]
    assert rows == sorted(set(rows))
    assert {first, last} <= set(rows)
    assert len(rows) < seen + 1 + 2 * (LAZY_RANGE_SPAN + 1)
    assert all(end - start <= LAZY_RANGE_SPAN for start, end in blocks)


@given(sizes=st.lists(st.integers(1, 50), max_size=6))
def test_a_list_is_as_long_as_its_people_and_headings(node_process: NodeProcess, sizes: list[int]) -> None:
    groups = [{"id": str(at), "count": size} for at, size in enumerate(sizes)]
    assert node_process.call("views/members/rows", "lengthOf", {"groups": groups}) == sum(sizes) + len(sizes)


def people() -> st.SearchStrategy[list[dict[str, Any]]]:
    """Recipients of a conversation, none of them the account itself."""
    names = st.lists(st.text("abC", min_size=1, max_size=3), max_size=6)
    return names.map(
        lambda all_names: [
            {"id": str(at), "username": name, "global_name": None, "avatar": None}
            for at, name in enumerate(all_names, 2)
        ]
    )


@given(recipients=people(), there=st.sets(st.integers(1, 7)))
def test_a_conversation_lists_all_its_people_those_who_are_there_first(
    node_process: NodeProcess, recipients: list[dict[str, Any]], there: set[int]
) -> None:
    """The account itself, which is none of the recipients, stands there too."""
    me = {"id": "1", "username": "me", "global_name": None, "avatar": None}
    online = {one["id"] for one in [me, *recipients] if int(one["id"]) in there}
    found = node_process.call("./recipients", "rowsOf", me, recipients, sorted(online))
    names = [row["name"] for row in found if "name" in row]
    assert sorted(names) == sorted(one["username"] for one in [me, *recipients])
    sizes = {"online": len(online), "offline": len(names) - len(online)}
    expected = [{"group": group, "count": count} for group, count in sizes.items() if count]
    assert [row for row in found if "group" in row] == expected
    first = names[: len(online)]
    assert first == sorted(first, key=str.lower)
    assert sorted(first) == sorted(one["username"] for one in [me, *recipients] if one["id"] in online)


class Reader(Visitor):
    """A person in front of the list."""

    def opens(self, people: int = PEOPLE) -> None:
        self.goes_to_a_bare_client()
        self.page.evaluate(MEMBERS, {"people": people})
        self.page.locator(".member").first.wait_for()

    def people(self) -> Any:
        """The persons that are mounted."""
        return self.page.locator(".member")

    def focused(self) -> str:
        """Who has the focus."""
        return str(self.page.evaluate("document.activeElement.dataset.user ?? ''"))


@pytest.fixture(scope="module")
def singly() -> Iterator[Instance]:
    """An instance whose modules can be imported one by one."""
    with instance(CHAT_CLIENT_PACKS="false") as running:
        yield running


@pytest.fixture
def reader(visit: MakeVisitor, singly: Instance) -> Reader:
    found: Reader = visit(singly, kind=Reader)
    found.opens()
    return found


def test_groups_are_named_and_counted(reader: Reader) -> None:
    expect(reader.page.locator("h3")).to_have_text(["Gardeners 2", "Online 9,997"])
    first = reader.page.get_by_role("button", name="First <b> of 9")
    expect(first.locator("[aria-label='Owner of this community']")).to_have_count(1)
    expect(reader.people().nth(1)).to_contain_text("in the garden")  # the direction was turned
    reader.page_is_accessible()


def test_of_ten_thousand_few_are_mounted_and_fetched(reader: Reader) -> None:
    reader.page.evaluate("document.querySelector('.member-scroll').scrollTop = 5000 * 44")
    reader.page.wait_for_function("() => window.members.asked.some((all) => all.some(([start]) => start > 4000))")
    reader.page.evaluate("document.querySelector('.member-scroll').scrollTop = 1e9")
    reader.page.get_by_role("button", name="First <b> of offline").wait_for()
    rows = reader.page.locator(".member-row")
    reader.until(lambda: rows.count() < 60)
    total = reader.page.evaluate("window.members.length")
    expect(rows.last).to_have_attribute("aria-setsize", str(total))
    expect(rows.last).to_have_attribute("aria-posinset", str(total))
    assert len(reader.page.evaluate("window.members.asked")) < 6, "it fetched what was scrolled past"


def test_keys_go_from_person_to_person(reader: Reader) -> None:
    reader.people().first.focus()
    assert reader.focused() == "100"
    for key, expected in {"ArrowDown": "101", "End": "2000100", "ArrowUp": "1010096", "Home": "100"}.items():
        reader.page.keyboard.press(key)
        reader.page.wait_for_function("(id) => document.activeElement.dataset.user === id", arg=expected)
    expect(reader.page.locator(".member[tabindex='0']")).to_have_count(1)
    reader.page.keyboard.press("Enter")
    reader.until(lambda: reader.page.evaluate("window.members.opened") == [["profile", "100"]])


def test_who_goes_leaves_no_row_behind(reader: Reader) -> None:
    reader.page.evaluate(
        """() => {
        const { store, groups } = window.members;
        const group = { id: "online", count: 1 };
        const user = { id: "7", username: "last one", global_name: null, avatar: null };
        const items = [{ group }, { member: { user, roles: [], presence: { status: "idle" } } }];
        const heard = { guild_id: "4", id: "5", groups: [group], ops: [{ range: [0, 99], items }] };
        store.apply("GUILD_MEMBER_LIST_UPDATE", { ...heard, member_count: 1, online_count: 1 });
    }"""
    )
    reader.page.get_by_role("button", name="last one").wait_for()
    expect(reader.page.locator(".member-row")).to_have_count(2)
    expect(reader.page.get_by_role("img", name="Away")).to_have_count(1)


def at_home(visit: MakeVisitor, home: Instance, name: str, width: int = 1280) -> Visitor:
    """A person in the channel that an instance begins with."""
    visitor: Visitor = visit(home, viewport={"width": width, "height": 740})
    visitor.goes_to("/offline")
    session = {"token": home.person(name)["token"], "name": name}
    visitor.page.evaluate("(session) => localStorage.setItem('session', JSON.stringify(session))", session)
    visitor.goes_to(f"/channels/{home.world['guild_id']}/{home.world['channel_id']}")
    return visitor


@pytest.mark.parametrize("direction", ["ltr", "rtl"])
def test_the_card_of_a_member_says_what_the_list_says(visit: MakeVisitor, home: Instance, direction: str) -> None:
    """And it leaves the list in sight, on whichever side that is."""
    at_home(visit, home, "bob").page.locator(".member").first.wait_for()
    page = at_home(visit, home, "carol").page
    page.evaluate("(direction) => document.documentElement.setAttribute('dir', direction)", direction)
    bob = page.get_by_role("complementary").get_by_role("button", name="Bob")
    bob.get_by_role("img", name="Online").wait_for()
    bob.click()
    card = page.get_by_role("dialog", name="Profile")
    card.get_by_text("Online", exact=True).wait_for()
    row, box = bob.bounding_box(), card.bounding_box()
    assert row is not None
    assert box is not None
    assert box["x"] >= row["x"] + row["width"] or box["x"] + box["width"] <= row["x"]


@pytest.mark.parametrize("width", [1280, 900, 360])
def test_members_are_a_column_a_drawer_or_a_pane(visit: MakeVisitor, home: Instance, width: int) -> None:
    visitor = at_home(visit, home, "alice", width)
    people = visitor.page.get_by_role("complementary", name="Members").get_by_role("button", name="Bob")
    button = visitor.page.locator("[data-toggle=members]")
    button.wait_for()
    if width < 1024:
        expect(people).to_have_count(0)
        button.click()
    people.wait_for()
    visitor.page_is_accessible()
    visitor.page_fits()
    if width < 1024:
        visitor.page.get_by_role("button", name="Close the members").click()
    else:
        button.click()
    people.wait_for(state="detached")


def test_who_may_not_know_is_told_so(visit: MakeVisitor) -> None:
    with instance() as home:
        guild = home.world["guild_id"]
        owner = home.person("alice")["token"]
        everyone = home.call("GET", f"/v1/guilds/{guild}/roles", None, owner)[0]
        mask = int(everyone["permissions"]) & ~Permission.VIEW_CHANNEL_MEMBERS
        declared = {"X-Service-Features": "view_channel_members_permission"}
        path = f"/v1/guilds/{guild}/roles/{everyone['id']}"
        home.call("PATCH", path, {"permissions": str(mask)}, owner, **declared)
        visitor = at_home(visit, home, "carol")
        visitor.page.get_by_text("You may not see who is here.").wait_for()
        expect(visitor.page.locator(".member-row")).to_have_count(0)
        visitor.goes_to("about:blank")  # before its server goes
