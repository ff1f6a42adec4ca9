"""What the client's store makes of dispatches that the histories of its oracle seldom or never bring."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import pytest

from tests.web.client.node import Kept, NodeProcess, running_node

ME, ANA, BEN = ({"id": number, "username": number} for number in ("1", "2", "3"))
IDLE: Final = {"status": "idle", "mobile": False, "afk": True, "custom_status": None}
WAVE, OWN = {"id": None, "name": "\U0001f44b"}, {"id": "60", "name": "own"}
GUILD: Final[dict[str, Any]] = {
    "id": "10",
    "properties": {"id": "10", "name": "here", "features": []},
    "roles": [],
    "members": [{"user": ME, "roles": [], "nick": None}],
    "channels": [{"id": "11", "type": 0, "guild_id": "10"}, {"id": "12", "type": 2, "guild_id": "10"}],
    "threads": [{"id": "13", "type": 11, "guild_id": "10", "parent_id": "11", "thread_metadata": {"archived": False}}],
    "emojis": [],
    "stickers": [],
    "voice_states": [],
    "member_count": 3,
    "online_count": 1,
    "joined_at": "2026-01-01T00:00:00.000Z",
}
READY: Final[dict[str, Any]] = {
    "session_id": "session",
    "user": ME,
    "user_settings": {},
    "user_guild_settings": [],
    "notes": {},
    "users": [ME, ANA],
    "pinned_dms": [],
    "favorite_memes": [{"id": "50", "name": "old"}],
    "relationships": [],
    "presences": [],
    "read_states": [],
    "guilds": [GUILD, {"id": "19", "unavailable": True}],
    "private_channels": [{"id": "20", "type": 3, "recipients": [ANA], "nicks": {"2": "A."}}],
}


def voice(channel_id: str | None, connection_id: str = "c") -> dict[str, Any]:
    return {"guild_id": "10", "channel_id": channel_id, "user_id": "2", "connection_id": connection_id}


def counts(guild_id: str) -> dict[str, Any]:
    return {"guild_id": guild_id, "member_count": 7, "online_count": 4}


def reaction(emoji: dict[str, Any], user_id: str) -> dict[str, Any]:
    return {"channel_id": "11", "message_id": "30", "emoji": emoji, "user_id": user_id}


@pytest.fixture(scope="module")
def node_process() -> Iterator[NodeProcess]:
    with running_node() as node:
        yield node


@pytest.fixture
def store(node_process: NodeProcess) -> Kept:
    store = node_process.keep("store/store", "makeStore")
    store.call("apply", "READY", READY)
    return store


def part(store: Kept, path: str) -> Any:
    return store.node.call("./known", "part", store.member("read"), *path.split())


@pytest.mark.parametrize(
    ("dispatches", "path", "expected"),
    [
        (
            [("GUILD_SYNC", GUILD | {"channels": [{"id": "14", "type": 0, "guild_id": "10"}], "threads": []})],
            "channels",
            {"14": {"id": "14", "type": 0, "guild_id": "10"}, "20": READY["private_channels"][0]},
        ),
        ([("GUILD_SYNC", GUILD | {"voice_states": [voice("12")]})], "voice", {"12": {"c": voice("12")}}),
        ([("GUILD_SYNC", GUILD | {"id": "19"})], "guilds 19 unavailable", False),
        ([("GUILD_EMOJIS_UPDATE", {"guild_id": "10", "emojis": [OWN]})], "guilds 10 emojis", [OWN]),
        ([("GUILD_STICKERS_UPDATE", {"guild_id": "10", "stickers": [OWN]})], "guilds 10 stickers", [OWN]),
        (
            [("GUILD_COUNTS_UPDATE", {"counts": [counts("99"), counts("10")]})],
            "guilds 10 counts",
            {"members": 7, "online": 4},
        ),
        (
            [("GUILD_MEMBERS_CHUNK", {"guild_id": "10", "members": [{"user": BEN, "roles": [], "nick": "b"}]})],
            "guilds 10 members 3 nick",
            "b",
        ),
        ([("GUILD_MEMBERS_CHUNK", {"guild_id": "10", "members": [{"user": BEN, "roles": []}]})], "users 3", BEN),
        ([("CHANNEL_RECIPIENT_ADD", {"channel_id": "20", "user": BEN})], "channels 20 recipients", [ANA, BEN]),
        ([("CHANNEL_RECIPIENT_ADD", {"channel_id": "20", "user": BEN})], "users 3", BEN),
        (
            [("CHANNEL_RECIPIENT_REMOVE", {"channel_id": "20", "user": ANA})],
            "channels 20",
            {"id": "20", "type": 3, "recipients": [], "nicks": {}},
        ),
        ([("PASSIVE_UPDATES", {"guild_id": "10", "channels": {"11": "35"}})], "channels 11 last_message_id", "35"),
        (
            [
                ("PRESENCE_UPDATE", {"user": BEN, **IDLE}),
                ("PRESENCE_UPDATE_BULK", {"presences": [{"user": ANA, **IDLE}, {"user": BEN, "status": "offline"}]}),
            ],
            "presences",
            {"2": IDLE},
        ),
        ([("THREAD_MEMBER_UPDATE", {"id": "13", "muted": True})], "channels 13 member", {"id": "13", "muted": True}),
        ([("THREAD_MEMBER_UPDATE", {"id": "99", "muted": True})], "channels 99", None),
        ([("TYPING_START", {"channel_id": "11", "user_id": "2"})], "typing", {"11": {"2": 10_000}}),
        (
            [("VOICE_STATE_UPDATE", voice("12")), ("VOICE_STATE_UPDATE", voice("15"))],
            "voice",
            {"15": {"c": voice("15")}},
        ),
        (
            [("VOICE_STATE_UPDATE", voice("12")), ("VOICE_STATE_UPDATE", voice("12", "d"))],
            "voice",
            {"12": {"c": voice("12"), "d": voice("12", "d")}},
        ),
        ([("VOICE_STATE_UPDATE", voice("12")), ("VOICE_STATE_UPDATE", voice(None))], "voice", {}),
        (
            [
                ("CALL_CREATE", {"channel_id": "20", "message_id": "40", "ringing": ["1"]}),
                ("CALL_UPDATE", {"channel_id": "20", "ringing": []}),
            ],
            "calls",
            {"20": {"channel_id": "20", "message_id": "40", "ringing": []}},
        ),
        ([("CALL_CREATE", {"channel_id": "20"}), ("CALL_DELETE", {"channel_id": "20"})], "calls", {}),
        (
            [("CALL_CREATE", {"channel_id": "20", "voice_states": [voice("20"), voice("20", "d")]})],
            "voice",
            {"20": {"c": voice("20"), "d": voice("20", "d")}},
        ),
        (
            [
                ("CALL_CREATE", {"channel_id": "20", "voice_states": [voice("20")]}),
                ("CALL_UPDATE", {"channel_id": "20", "ringing": ["1"]}),
            ],
            "voice",
            {"20": {"c": voice("20")}},
        ),
        (
            [
                ("CALL_CREATE", {"channel_id": "20", "voice_states": [voice("20")]}),
                ("CALL_DELETE", {"channel_id": "20"}),
            ],
            "voice",
            {},
        ),
        ([("FAVORITE_MEME_CREATE", {"id": "51"})], "memes", [{"id": "50", "name": "old"}, {"id": "51"}]),
        ([("FAVORITE_MEME_UPDATE", {"id": "50", "name": "new"})], "memes", [{"id": "50", "name": "new"}]),
        ([("FAVORITE_MEME_DELETE", {"meme_id": "50"})], "memes", []),
    ],
)
def test_what_the_store_knows_after_it(
    store: Kept, dispatches: Sequence[tuple[str, Any]], path: str, expected: Any
) -> None:
    for name, data in dispatches:
        store.call("apply", name, data)
    assert part(store, path) == expected


def called(store: Kept, name: str, *arguments: Any) -> Any:
    """What store/calls.js makes of the state."""
    return store.node.call("store/calls", name, store.member("read"), *arguments)


CALL: Final[dict[str, Any]] = {"channel_id": "20", "message_id": "40", "ringing": ["1"], "voice_states": [voice("20")]}


@pytest.mark.parametrize(
    ("dispatches", "rings"),
    [
        ([("CALL_CREATE", CALL)], True),
        ([("CALL_CREATE", CALL | {"ringing": ["3"]})], False),
        ([("CALL_CREATE", CALL), ("CALL_UPDATE", CALL | {"ringing": []})], False),
        ([("CALL_CREATE", CALL), ("CALL_DELETE", {"channel_id": "20"})], False),
        ([("USER_SETTINGS_UPDATE", {"person_notifications": {"2": 2}}), ("CALL_CREATE", CALL)], False),
        ([("USER_SETTINGS_UPDATE", {"person_notifications": {"3": 2}}), ("CALL_CREATE", CALL)], True),
        ([("RELATIONSHIP_ADD", {"id": "2", "type": 2, "user": ANA}), ("CALL_CREATE", CALL)], False),
        # In a group nobody is known to call before somebody is there; it rings all the same.
        ([("CALL_CREATE", CALL | {"voice_states": []})], True),
    ],
)
def test_which_calls_ring(store: Kept, dispatches: Sequence[tuple[str, Any]], rings: bool) -> None:
    for name, data in dispatches:
        store.call("apply", name, data)
    assert [call["channel_id"] for call in called(store, "ringingCalls")] == (["20"] if rings else [])


def test_who_calls_and_who_is_there(store: Kept) -> None:
    own = voice("20", "mine") | {"user_id": "1"}
    store.call("apply", "CALL_CREATE", CALL | {"voice_states": [own, voice("20"), voice("20", "d")]})
    assert called(store, "peopleInCall", "20") == ["1", "2"]
    assert called(store, "callerOf", "20") == "2"
    assert called(store, "peopleInCall", "21") == []


@pytest.mark.parametrize(
    ("settings", "is_quiet"),
    [
        ({}, False),
        ({"status": "dnd"}, True),
        ({"status": "idle"}, False),
        ({"quiet_hours": {"start": "00:00", "end": "12:00", "timezone": "UTC"}}, True),
        ({"quiet_hours": {"start": "12:00", "end": "13:00", "timezone": "UTC"}}, False),
    ],
)
def test_when_a_call_rings_without_a_sound(store: Kept, settings: dict[str, Any], is_quiet: bool) -> None:
    store.call("apply", "USER_SETTINGS_UPDATE", settings)
    assert called(store, "ringsQuietly", "20", 3_600_000) is is_quiet


def test_whom_one_may_call(store: Kept) -> None:
    def may(recipient: dict[str, Any], kind: int = 1) -> bool:
        return bool(called(store, "mayCall", {"id": "21", "type": kind, "recipients": [recipient]}))

    store.call("apply", "RELATIONSHIP_ADD", {"id": "3", "type": 2, "user": BEN})
    assert may({"id": "7"})
    assert not may(BEN), "who is blocked"
    assert not may(ME), "notes to oneself"
    assert may(BEN, 3), "a group"
    assert not may({"id": "7"}, 2), "a channel of a guild"
    assert not called(store, "mayCall", None)


def test_who_has_just_left_a_member_list_is_no_member_again(store: Kept) -> None:
    """Such a row holds the id of the account, and nothing else of a member."""
    here, left = {"user": ANA, "roles": ["40"], "nick": None, "presence": IDLE}, {"user": {"id": "3"}}
    items = [{"group": {"id": "online", "count": 2}}, {"member": here}, {"member": left}]
    told = {"guild_id": "10", "id": "11", "groups": [], "ops": [{"range": [0, 2], "items": items}]}
    store.call("apply", "GUILD_MEMBER_LIST_UPDATE", told | {"member_count": 3, "online_count": 2})
    assert part(store, "guilds 10 members 2 roles") == ["40"]
    assert part(store, "guilds 10 members 3") is None


def test_a_message_ends_its_authors_typing(store: Kept) -> None:
    for user_id in ("2", "3"):
        store.call("apply", "TYPING_START", {"channel_id": "11", "user_id": user_id}, 500)
    message = {
        "id": "31",
        "channel_id": "11",
        "guild_id": "10",
        "type": 0,
        "author": ANA,
        "content": "",
        "mentions": [],
        "mention_roles": [],
    }
    store.call("apply", "MESSAGE_CREATE", message)
    assert part(store, "typing") == {"11": {"3": 10_500}}


def test_what_the_account_alone_sees_stays_until_it_is_gone(store: Kept) -> None:
    message = {"channel_id": "11", "author": ANA, "type": 0, "content": "", "flags": 0, "mentions": []}
    first, last = {**message, "id": "30"}, {**message, "id": "32"}
    alone = {**message, "id": "31", "guild_id": "10", "flags": 64, "mentions": [ME], "mention_roles": []}

    def shown(*page: dict[str, Any]) -> list[str]:
        if page:
            store.node.call("./logs", "open", store.itself(), "11", list(page))
        return [each["id"] for each in store.node.call("./logs", "messages", store.itself(), "11")]

    assert shown(first) == ["30"]
    store.call("apply", "MESSAGE_CREATE", alone)
    assert shown() == ["30", "31"]
    assert (part(store, "channels 11 last_message_id"), part(store, "reads")) == (None, {})
    # No page of the history has it; a page of what comes after it leaves it out.
    assert shown(first, last) == ["30", "31", "32"]
    assert shown(last) == ["32"]
    store.call("apply", "MESSAGE_UPDATE", {**alone, "content": "changed"})
    assert shown(first, last) == ["30", "31", "32"]
    assert store.node.call("./logs", "messages", store.itself(), "11")[1]["content"] == "changed"
    store.call("apply", "MESSAGE_DELETE", {"channel_id": "11", "id": "31"})
    assert shown() == shown(first, last) == ["30", "32"]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("GUILD_EMOJIS_UPDATE", {"emojis": []}),
        ("GUILD_STICKERS_UPDATE", {"stickers": []}),
        ("GUILD_COUNTS_UPDATE", {"counts": [{"guild_id": "19", "member_count": 1, "online_count": 1}]}),
        ("GUILD_MEMBERS_CHUNK", {"members": [{"user": BEN, "roles": []}]}),
        ("GUILD_ROLE_DELETE", {"role_id": "1"}),
        ("GUILD_UPDATE", {"name": "other"}),
    ],
)
@pytest.mark.parametrize("guild_id", ["19", "99"], ids=["unavailable", "unknown"])
def test_what_is_said_of_a_guild_that_is_not_there_is_passed_over(
    store: Kept, guild_id: str, name: str, data: dict[str, Any]
) -> None:
    before = part(store, "guilds")
    store.call("apply", name, {"guild_id": guild_id, "id": guild_id, **data})
    assert part(store, "guilds") == before


def test_reactions_of_a_message(store: Kept) -> None:
    message = {"id": "30", "channel_id": "11", "author": ANA, "type": 0, "content": ""}
    store.node.call("./logs", "open", store.itself(), "11", [message])

    def after(name: str, data: dict[str, Any]) -> list[tuple[str, int, bool]]:
        store.call("apply", name, data)
        [known] = store.node.call("./logs", "messages", store.itself(), "11")
        return [(entry["emoji"]["name"], entry["count"], entry["me"]) for entry in known.get("reactions", [])]

    many = {
        "channel_id": "11",
        "message_id": "30",
        "reactions": [{"emoji": WAVE, "user_id": "2"}, {"emoji": OWN, "user_id": "2"}],
    }
    wave, own = WAVE["name"], "own"
    assert after("MESSAGE_REACTION_ADD", reaction(WAVE, "1")) == [(wave, 1, True)]
    assert after("MESSAGE_REACTION_ADD_MANY", many) == [(wave, 2, True), (own, 1, False)]
    assert after("MESSAGE_REACTION_REMOVE", reaction(WAVE, "2")) == [(wave, 1, True), (own, 1, False)]
    assert after("MESSAGE_REACTION_ADD", reaction(WAVE, "3")) == [(wave, 2, True), (own, 1, False)]
    assert after("MESSAGE_REACTION_REMOVE", reaction(WAVE, "1")) == [(wave, 1, False), (own, 1, False)]
    assert after("MESSAGE_REACTION_REMOVE", reaction(WAVE, "3")) == [(own, 1, False)]
    # A renamed emoji of a guild is the same one.
    assert after("MESSAGE_REACTION_ADD", reaction(OWN | {"name": "renamed"}, "1")) == [(own, 2, True)]
    assert after("MESSAGE_REACTION_ADD", reaction(WAVE, "2")) == [(own, 2, True), (wave, 1, False)]
    assert after("MESSAGE_REACTION_REMOVE_EMOJI", {**reaction(OWN, "1")}) == [(wave, 1, False)]
    assert after("MESSAGE_REACTION_REMOVE_ALL", {"channel_id": "11", "message_id": "30"}) == []


def test_mentions_from_before_ready_are_taken_back(store: Kept) -> None:
    state = {"id": "11", "last_message_id": "29", "mention_count": 3, "last_pin_timestamp": None}
    guild = GUILD | {"channels": [{"id": "11", "type": 0, "guild_id": "10", "last_message_id": "33"}]}
    store.call("apply", "READY", READY | {"read_states": [state], "guilds": [guild]})
    said = {"channel_id": "11", "guild_id": "10", "type": 0, "author": ANA, "mention_roles": [], "mentions": []}

    def left(name: str, data: dict[str, Any]) -> int:
        store.call("apply", name, {"channel_id": "11", "guild_id": "10", **data})
        return int(part(store, "reads 11 mentions"))

    # What nobody fetched is told by its words; what is read or names others counted for nothing.
    assert left("MESSAGE_DELETE", {"id": "29", "author_id": "2", "content": "<@1>"}) == 3
    assert left("MESSAGE_DELETE", {"id": "30", "author_id": "2", "content": "<@3>"}) == 3
    assert left("MESSAGE_DELETE", {"id": "30", "author_id": "2", "content": "so <@1>"}) == 2
    # An edit takes back; one that adds did not count, and neither does its deletion.
    page = [said | {"id": number, "mentions": named} for number, named in (("31", [ME]), ("32", []), ("33", [ME]))]
    store.node.call("./logs", "open", store.itself(), "11", page)
    assert left("MESSAGE_UPDATE", said | {"id": "31"}) == 1
    assert left("MESSAGE_DELETE", {"id": "31", "author_id": "2", "content": "so <@1>"}) == 1
    assert left("MESSAGE_UPDATE", said | {"id": "32", "mentions": [ME]}) == 1
    assert left("MESSAGE_DELETE", {"id": "32", "author_id": "2", "content": "<@1>"}) == 1
    assert left("MESSAGE_DELETE_BULK", {"ids": ["33", "32"]}) == 0
