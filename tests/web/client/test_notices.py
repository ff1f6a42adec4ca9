"""What a tab tells of is what the server tells devices of (messages.md, Push notifications): the same decision twice,
over drawn settings, places and messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, time
from typing import Any, Final

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.bus.audience import Mentions
from chat.clock import iso_timestamp
from chat.domain.accounts.notification_settings import HeardMessage, Listener, is_notified, is_quiet
from chat.domain.accounts.notification_words import says_one_of
from chat.store.threads import ThreadMember
from tests.web.client.node import NodeProcess, running_node

ME, OTHER, GUILD, CATEGORY, CHANNEL, THREAD = 5, 6, 10, 11, 12, 13
ROLES: Final = (20, 21)
NOW: Final = 1_700_000_000_000

levels = st.integers(0, 3)
mutes: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "muted": st.booleans(),
        "mute_config": st.none()
        | st.sampled_from([-1, 0, 1]).map(lambda way: {"end_time": iso_timestamp(NOW + way * 60_000)})
        | st.just({"end_time": None}),
    },
)
entries = st.builds(
    lambda mute, level: {**mute, **level}, mutes, st.fixed_dictionaries({}, optional={"message_notifications": levels})
)
overrides = st.none() | st.dictionaries(st.sampled_from([str(CATEGORY), str(CHANNEL), str(THREAD)]), entries)
flags = st.fixed_dictionaries({}, optional={"suppress_everyone": st.booleans(), "suppress_roles": st.booleans()})
all_settings = st.none() | st.builds(
    lambda entry, more, found: {**entry, **more, "channel_overrides": found}, entries, flags, overrides
)
words = st.lists(st.sampled_from(["cat", "Tea", "x1", "\u90fd"]), max_size=2)
texts = st.text("cat e\u90fdX1_-Ta\u00c9", max_size=12)


@attrs.frozen
class Own:
    """What the account is in a thread."""

    flags: int
    mute: Mapping[str, Any]


@pytest.fixture(scope="module")
def node_process() -> Iterator[NodeProcess]:
    with running_node() as node:
        yield node


def server_says(
    place: str, text: str, mentions: Mentions, settings: Mapping[str, Any] | None, own: Own | None, **rest: Any
) -> bool:
    places = {"dm": (CHANNEL,), "channel": (CHANNEL, CATEGORY), "thread": (THREAD, CHANNEL, CATEGORY)}[place]
    default = 0 if place == "dm" else rest["default"]
    member = None
    if own is not None and place == "thread":
        muted, config = bool(own.mute.get("muted")), own.mute.get("mute_config")
        member = ThreadMember(THREAD, ME, 0, flags=own.flags, muted=muted, mute_config=config)
    called = says_one_of(text, rest["words"])
    listener = Listener(ME, settings, member, frozenset(rest["roles"]), True, called, rest["person"])
    return is_notified(HeardMessage(places, default, mentions, place == "thread"), listener, NOW)


def tab_says(
    node: NodeProcess,
    place: str,
    text: str,
    mentions: Mentions,
    settings: Mapping[str, Any] | None,
    own: Own | None,
    **rest: Any,
) -> object:
    in_thread, in_guild = place == "thread", place != "dm"
    channel_id = str(THREAD if in_thread else CHANNEL)
    channels: list[dict[str, Any]] = [{"id": str(CHANNEL), "type": 0, "parent_id": str(CATEGORY) if in_guild else None}]
    if in_guild:
        channels.append({"id": str(CATEGORY), "type": 4})
    if in_thread:
        thread = {"id": channel_id, "type": 11, "parent_id": str(CHANNEL), "thread_metadata": {}}
        channels.append(thread if own is None else {**thread, "member": {"flags": own.flags, **own.mute}})
    properties = {"default_message_notifications": rest["default"]}
    drawn = {
        "me": str(ME),
        "channels": channels,
        "joined": [channel_id] if in_thread and own is not None else [],
        "relationships": [],
        "settings": settings,
        "persons": {} if rest["person"] is None else {str(OTHER): rest["person"]},
        "guild": {"id": str(GUILD), "properties": properties} if in_guild else None,
        "roles": [str(role) for role in rest["roles"]],
    }
    message = {
        "id": "99",
        "type": 0,
        "flags": 0,
        "channel_id": channel_id,
        "author": {"id": str(OTHER)},
        "content": text,
        "mentions": [{"id": str(user_id)} for user_id in mentions.user_ids],
        "mention_roles": [str(role) for role in mentions.role_ids],
        "mention_everyone": mentions.everyone or mentions.here,
        **({"guild_id": str(GUILD)} if in_guild else {}),
    }
    return node.call("./noticed", "decided", drawn, message, NOW, list(rest["words"]))


mentioned = st.builds(
    Mentions,
    user_ids=st.frozensets(st.sampled_from([ME, OTHER])),
    role_ids=st.frozensets(st.sampled_from(ROLES)),
    everyone=st.booleans(),
    here=st.booleans(),
)


@given(
    st.sampled_from(["dm", "channel", "thread"]),
    texts,
    mentioned,
    all_settings,
    st.none() | st.builds(Own, st.integers(0, 15), mutes),
    levels.filter(lambda level: level < 2),
    st.frozensets(st.sampled_from(ROLES)),
    words,
    st.sampled_from([None, None, 0, 2]),
)
def test_a_tab_decides_as_the_server_does(
    node_process: NodeProcess,
    place: str,
    text: str,
    mentions: Mentions,
    settings: dict[str, Any] | None,
    own: Own | None,
    default: int,
    roles: frozenset[int],
    words: Sequence[str],
    person: int | None,
) -> None:
    rest = {"default": default, "roles": roles, "words": words, "person": person}
    expected = server_says(place, text, mentions, settings, own, **rest)
    assert tab_says(node_process, place, text, mentions, settings, own, **rest) is expected


@given(
    texts | st.text(max_size=12),
    st.lists(st.text("cat\u90fdX1-\u00e9\u00c9\u00df\u24b6", min_size=1, max_size=3), max_size=3),
)
def test_words_stand_where_the_server_finds_them(node_process: NodeProcess, text: str, words: list[str]) -> None:
    assert node_process.call("./noticed", "saysOneOf", text, words) is says_one_of(text, words)


@given(
    st.times(),
    st.times(),
    st.sampled_from(["UTC", "Europe/Berlin", "Asia/Kathmandu", "America/St_Johns", "Pacific/Apia", "Not/There"]),
    st.datetimes(datetime(2000, 1, 1), datetime(2037, 1, 1)),
)
def test_quiet_hours_hold_at_both(
    node_process: NodeProcess, start: time, end: time, zone: str, moment: datetime
) -> None:
    hours = {"start": f"{start:%H:%M}", "end": f"{end:%H:%M}", "timezone": zone}
    now = round(moment.replace(tzinfo=UTC).timestamp() * 1_000)
    assert node_process.call("./noticed", "isQuiet", hours, now) is is_quiet(hours, now)


def test_quiet_hours_go_over_midnight() -> None:
    hours = {"start": "22:00", "end": "07:00", "timezone": "Europe/Berlin"}
    for clock, expected in (("20:59", False), ("21:00", True), ("02:00", True), ("05:59", True), ("06:00", False)):
        now = round(datetime.fromisoformat(f"2026-01-15T{clock}:00+00:00").timestamp() * 1_000)
        assert is_quiet(hours, now) is expected
    assert not is_quiet(None, NOW)


def test_what_nobody_is_told_of(node_process: NodeProcess) -> None:
    message: dict[str, Any] = {
        "id": "99",
        "type": 0,
        "flags": 0,
        "channel_id": str(CHANNEL),
        "author": {"id": str(OTHER)},
        "content": "hello",
        "mentions": [],
        "mention_roles": [],
        "mention_everyone": False,
    }
    channels = [{"id": str(CHANNEL), "type": 1}]
    state: dict[str, Any] = {"me": str(ME), "channels": channels, "joined": [], "relationships": [], "roles": []}
    state["persons"] = {}

    def decided(changed: Mapping[str, Any] = {}, **members: Any) -> object:
        return node_process.call("./noticed", "decided", {**state, **changed}, {**message, **members}, NOW, [])

    assert decided() is True
    assert decided(type=19) is True
    assert decided(type=3) is True
    assert decided(type=7) is False
    assert decided(flags=1 << 12) is False
    assert decided(author={"id": str(ME)}) is False
    assert decided({"relationships": [[str(OTHER), 2]]}) is False
    assert decided({"relationships": [[str(OTHER), 1]]}) is True
    assert decided({"channels": []}) is False
    assert decided(guild_id=str(GUILD)) is False
