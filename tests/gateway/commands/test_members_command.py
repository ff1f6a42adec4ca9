"""Request Guild Members, opcode 8: chunks, searches, who may list, and how often."""

from __future__ import annotations

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from chat.registries.events import EventName
from chat.registries.opcodes import Opcode
from chat.registries.permissions import Permission
from tests.gateway.commands.stage import Client, Stage
from tests.guilds.guild_world import GuildPlace

MEMBERS = Opcode.REQUEST_GUILD_MEMBERS
FULL_LIST = (Permission.MANAGE_ROLES | Permission.KICK_MEMBERS | Permission.BAN_MEMBERS).value


class Crew:
    """A guild of alice, its owner, bob (nick `Zed`), carol and a bot; each with a client."""

    def __init__(self, stage: Stage, guild: GuildPlace, people: dict[str, Any]) -> None:
        self.stage = stage
        self.guild = guild
        self.people = people
        self.clients = {name: stage.connect(person, guild) for name, person in people.items() if name != "carol"}

    def __getitem__(self, name: str) -> Client:
        return self.clients[name]

    def wish(self, **members: Any) -> dict[str, Any]:
        """A request for members of the guild."""
        return {"guild_id": str(self.guild.id), **members}

    async def found(self, name: str, **members: Any) -> list[str]:
        """Whom one request finds, by username; it must be answered by one chunk."""
        ((event, data),) = await self[name].asks(MEMBERS, self.wish(**members))
        assert event == EventName.GUILD_MEMBERS_CHUNK
        assert (data["chunk_index"], data["chunk_count"]) == (0, 1)
        return [member["user"]["username"] for member in data["members"]]


@pytest.fixture
async def crew(stage: Stage) -> Crew:
    people = {name: await stage.world.person(name) for name in ("alice", "bob", "carol")}
    people["bot"] = await stage.world.person("robot", bot=True)
    guild = await stage.world.guild(*people.values())
    await guild.change("UPDATE members SET nick = 'Zed' WHERE user_id = ?", people["bob"].user_id)
    return Crew(stage, guild, people)


# What is found


async def test_a_query_finds_members_by_the_beginning_of_their_names(crew: Crew) -> None:
    assert await crew.found("bob", query="CAR") == ["carol"]
    assert await crew.found("bob", query="ze") == ["bob"]
    assert await crew.found("bob", query="rol") == []


async def test_a_limit_without_a_query_takes_the_first_by_name(crew: Crew) -> None:
    assert await crew.found("bob", query="", limit=2) == ["alice", "carol"]


async def test_user_ids_count_before_query_and_limit(crew: Crew) -> None:
    people = crew.people
    ids = [str(people["carol"].user_id), "5", str(people["alice"].user_id)]
    assert await crew.found("bob", query="bob", limit=1, user_ids=ids) == ["carol", "alice"]


async def test_a_member_comes_whole_and_the_nonce_comes_back(crew: Crew) -> None:
    ((_, data),) = await crew["alice"].asks(MEMBERS, crew.wish(query="zed", nonce="n" * 32))
    (member,) = data["members"]
    assert (member["nick"], member["user"]["username"], member["roles"]) == ("Zed", "bob", [])
    assert data["guild_id"] == str(crew.guild.id)
    assert data["nonce"] == "n" * 32
    assert "presences" not in data


async def test_a_nonce_of_more_than_32_bytes_does_not_come_back(crew: Crew) -> None:
    ((_, data),) = await crew["alice"].asks(MEMBERS, crew.wish(query="zed", nonce="n" * 33))
    assert "nonce" not in data


async def test_presences_are_those_of_found_members_who_are_online(crew: Crew) -> None:
    crew["bob"].sends(Opcode.PRESENCE_UPDATE, {"status": "dnd"})
    await crew.stage.settled()
    ids = [str(person.user_id) for person in crew.people.values()]
    ((_, data),) = await crew["alice"].asks(MEMBERS, crew.wish(user_ids=ids, presences=True))
    statuses = {entry["user"]["username"]: entry["status"] for entry in data["presences"]}
    assert statuses == {"alice": "online", "bob": "dnd", "robot": "online"}
    assert {entry["guild_id"] for entry in data["presences"]} == {str(crew.guild.id)}
    ((_, data),) = await crew["alice"].asks(MEMBERS, crew.wish(user_ids=ids, presences="true"))
    assert "presences" not in data


async def test_no_match_is_one_empty_chunk(crew: Crew) -> None:
    assert await crew.found("alice", query="nobody") == []


async def test_several_guilds_are_answered_one_after_the_other_without_a_nonce(crew: Crew) -> None:
    other = await crew.stage.world.guild(crew.people["alice"])
    answers = await crew["alice"].asks(
        MEMBERS, {"guild_ids": [str(crew.guild.id), other.id, "77"], "query": "a", "nonce": "n"}
    )
    assert [data["guild_id"] for _, data in answers] == [str(crew.guild.id), str(other.id)]
    assert all("nonce" not in data for _, data in answers)


async def test_a_guild_that_the_session_is_not_in_is_passed_over(crew: Crew) -> None:
    other = await crew.stage.world.guild(crew.people["carol"])
    assert await crew["alice"].asks(MEMBERS, {"guild_id": str(other.id), "query": "c"}) == []


async def test_a_guild_that_is_closed_is_passed_over(crew: Crew) -> None:
    assert len(await crew["alice"].asks(MEMBERS, crew.wish(query="c"))) == 1
    await crew.guild.set("features", '["UNAVAILABLE_FOR_EVERYONE"]')
    assert await crew["alice"].asks(MEMBERS, crew.wish(query="c")) == []


@pytest.mark.parametrize(
    "d", [None, [], {}, {"guild_id": "x"}, {"guild_ids": ["1", "x"]}, {"user_ids": [str(n) for n in range(1, 102)]}]
)
async def test_a_request_that_breaks_a_rule_is_abandoned(crew: Crew, d: Any) -> None:
    request = crew.wish(**d) if isinstance(d, dict) and "user_ids" in d else d
    assert await crew["alice"].asks(MEMBERS, request) == []


async def test_a_bot_that_names_two_guilds_is_not_answered(crew: Crew) -> None:
    other = await crew.stage.world.guild(crew.people["alice"], crew.people["bot"])
    assert await crew["bot"].asks(MEMBERS, {"guild_ids": [crew.guild.id, other.id], "query": "a"}) == []
    assert len(await crew["bot"].asks(MEMBERS, {"guild_ids": [other.id], "query": "a"})) == 1


# Whole lists


async def test_a_whole_list_comes_in_chunks_of_1000(crew: Crew) -> None:
    await crew.stage.crowd(crew.guild, 1_500)
    answers = await crew["alice"].asks(MEMBERS, crew.wish(query="", limit=0, nonce="n"))
    chunks = [data for _, data in answers]
    assert [(data["chunk_index"], data["chunk_count"], len(data["members"])) for data in chunks] == [
        (0, 2, 1_000),
        (1, 2, 504),
    ]
    assert [data["nonce"] for data in chunks] == ["n", "n"]
    assert len({member["user"]["id"] for data in chunks for member in data["members"]}) == 1_504


async def test_a_user_needs_three_permissions_for_a_whole_list(crew: Crew) -> None:
    assert await crew["bob"].asks(MEMBERS, crew.wish()) == []
    await crew.guild.role(FULL_LIST & ~Permission.BAN_MEMBERS, crew.people["bob"])
    assert await crew["bob"].asks(MEMBERS, crew.wish()) == []
    await crew.guild.role(Permission.BAN_MEMBERS, crew.people["bob"])
    assert sorted(await crew.found("bob")) == ["alice", "bob", "carol", "robot"]


async def test_a_bot_gets_the_whole_list_of_a_guild_once_in_30_seconds(autojump_clock: MockClock, crew: Crew) -> None:
    assert len(await crew.found("bot")) == 4
    await trio.sleep(10)
    ((event, data),) = await crew["bot"].asks(MEMBERS, crew.wish(nonce="n"))
    assert event == EventName.RATE_LIMITED
    assert data == {
        "opcode": 8,
        "retry_after": pytest.approx(20, abs=0.1),
        "meta": {"guild_id": str(crew.guild.id), "nonce": "n"},
    }
    # Only whole lists are limited, and only in the same guild.
    assert await crew.found("bot", query="car") == ["carol"]
    other = await crew.stage.world.guild(crew.people["bot"])
    assert len(await crew["bot"].asks(MEMBERS, {"guild_id": str(other.id)})) == 1
    await trio.sleep(20)
    assert len(await crew.found("bot")) == 4


async def test_a_whole_list_that_was_refused_opens_no_new_window(autojump_clock: MockClock, crew: Crew) -> None:
    await crew.found("bot")
    await trio.sleep(29)
    ((event, _),) = await crew["bot"].asks(MEMBERS, crew.wish())
    assert event == EventName.RATE_LIMITED
    await trio.sleep(1.1)
    assert len(await crew.found("bot")) == 4


async def test_a_reset_forgets_the_windows(crew: Crew) -> None:
    await crew.found("bot")
    crew.stage.commands.forget()
    assert len(await crew.found("bot")) == 4


async def test_a_failing_store_leaves_the_request_without_an_answer(crew: Crew) -> None:
    crew.stage.world.database.failing = True
    assert await crew["alice"].asks(MEMBERS, crew.wish(query="c")) == []
    crew.stage.world.database.failing = False
    assert await crew.found("alice", query="c") == ["carol"]
