"""Presences: what an account's sessions select, what others see, and what is published when.

Area: presence. Rules: 000.resume.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import attrs
import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule
from trio.testing import MockClock

from chat.bus.audience import ToAccounts, ToPresenceSubscribers
from chat.bus.bus import AccountDisconnected, Bus, Event, Signal
from chat.clock import TrioClock
from chat.domain.presence.account_presence import OFFLINE, AccountPresence, SessionPresence, initial_presence
from chat.domain.presence.presences import Presences
from chat.protocol.payload import ABSENT
from chat.protocol.presence import CustomStatus, InitialPresence, parse_initial_presence
from chat.registries.events import EventName
from chat.registries.statuses import Status

ALICE, BOB, CAROL, BOT = 1, 2, 3, 9
NOON_MS = 1_800_000_000_000


class StoppedClock:
    """It is always noon."""

    def now_ms(self) -> int:
        return NOON_MS


class Place:
    """Presences, everything they publish, and two friends: alice and bob."""

    def __init__(self, clock: Any = None) -> None:
        self.events: list[Event] = []
        bus = Bus()
        bus.subscribe_all(self.accept)
        friends = {ALICE: (BOB,), BOB: (ALICE,)}
        self.presences = Presences(
            bus,
            clock or StoppedClock(),
            friends_of=lambda user_id: friends.get(user_id, ()),
            partial_user_of=lambda user_id: {"id": str(user_id), **({"bot": True} if user_id == BOT else {})},
        )

    def accept(self, signal: Signal) -> None:
        if isinstance(signal, AccountDisconnected):
            assert not self.presences.is_connected(signal.user_id)
        else:
            assert isinstance(signal, Event)
            self.events.append(signal)

    def selects(self, user_id: int, session_id: str, status: str, **selected: Any) -> None:
        """A session selects a presence."""
        self.presences.session_selected(user_id, session_id, SessionPresence(status, **selected))

    def published(self, user_id: int) -> list[str]:
        """The statuses of the account that its friends and watchers have been told of."""
        return [
            event.data["status"]
            for event in self.events
            if event.name == EventName.PRESENCE_UPDATE and isinstance(event.audience, ToPresenceSubscribers)
            if event.audience.user_id == user_id and isinstance(event.data, dict)
        ]

    def told(self, name: EventName) -> list[Event]:
        """Every event of this name."""
        return [event for event in self.events if event.name == name]

    @contextmanager
    def silence(self) -> Iterator[None]:
        """Nothing is published meanwhile."""
        before = len(self.events)
        yield
        assert self.events[before:] == []


@pytest.fixture
def place() -> Place:
    return Place()


# What others see


@pytest.mark.parametrize(
    ("selected", "seen"),
    [
        (["online"], "online"),
        (["idle", "online"], "online"),
        (["online", "dnd", "idle"], "dnd"),
        (["invisible", "idle"], "idle"),
        (["offline", "invisible"], "offline"),
        (["invisible"], "offline"),
        ([], "offline"),
    ],
)
def test_the_first_status_in_the_order_of_precedence_is_the_accounts(
    place: Place, selected: list[str], seen: str
) -> None:
    for number, status in enumerate(selected):
        place.selects(ALICE, f"s{number}", status)
    assert place.presences.aggregate(ALICE).status == seen
    assert place.presences.is_online(ALICE) is (seen != "offline")


@pytest.mark.parametrize(
    ("sessions", "mobile", "afk"),
    [
        ([("online", True, True)], True, False),
        ([("online", False, True)], False, True),
        ([("online", False, True), ("online", False, False)], False, False),
        ([("online", False, True), ("idle", True, True)], False, True),
        ([("dnd", True, True)], False, True),
        ([("invisible", True, True)], False, False),
    ],
)
def test_mobile_needs_an_online_mobile_session_and_afk_needs_all_away(
    place: Place, sessions: list[tuple[str, bool, bool]], mobile: bool, afk: bool
) -> None:
    for number, (status, is_mobile, is_afk) in enumerate(sessions):
        place.selects(ALICE, f"s{number}", status, mobile=is_mobile, afk=is_afk)
    presence = place.presences.aggregate(ALICE)
    assert (presence.mobile, presence.afk) == (mobile, afk)


def test_the_custom_status_chosen_last_is_shown(place: Place) -> None:
    place.selects(ALICE, "desk", "online", custom_status=CustomStatus("at my desk"))
    place.selects(ALICE, "phone", "online", custom_status=CustomStatus("on the bus", emoji_id=7))
    assert place.presences.presence_object(ALICE)["custom_status"] == {
        "text": "on the bus",
        "expires_at": None,
        "emoji_id": "7",
        "emoji_name": None,
        "emoji_animated": False,
    }
    place.selects(ALICE, "desk", "idle", custom_status=CustomStatus("at my desk"))
    assert place.presences.aggregate(ALICE).custom_status == CustomStatus("on the bus", emoji_id=7)
    place.selects(ALICE, "desk", "idle", custom_status=None)
    assert place.presences.aggregate(ALICE).custom_status is None


def test_no_custom_status_is_shown_of_someone_invisible(place: Place) -> None:
    place.selects(ALICE, "desk", "online", custom_status=CustomStatus("here"))
    place.selects(ALICE, "desk", "invisible", custom_status=CustomStatus("here"))
    assert place.presences.aggregate(ALICE) == OFFLINE
    assert place.presences.presence_object(ALICE)["custom_status"] is None


async def test_a_custom_status_goes_when_its_time_has_come(autojump_clock: MockClock) -> None:
    place = Place(TrioClock(NOON_MS))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(place.presences.expire_custom_statuses)
        place.selects(ALICE, "s", "online", custom_status=CustomStatus("lunch", expires_at_ms=NOON_MS + 60_000))
        await trio.sleep(59.9)
        assert place.presences.aggregate(ALICE).custom_status is not None
        await trio.sleep(0.2)
        assert place.presences.aggregate(ALICE) == AccountPresence(Status.ONLINE)
        assert len(place.published(ALICE)) == 2
        nursery.cancel_scope.cancel()


def test_a_presence_object_names_the_guild_only_where_asked(place: Place) -> None:
    place.selects(ALICE, "s", "dnd", afk=True)
    plain = {"user": {"id": "1"}, "status": "dnd", "mobile": False, "afk": True, "custom_status": None}
    assert place.presences.presence_object(ALICE) == plain
    assert place.presences.presence_object(ALICE, guild_id=5) == {**plain, "guild_id": "5"}


# What is published


def test_a_change_is_told_to_friends_and_to_other_watchers(place: Place) -> None:
    place.selects(ALICE, "s", "online")
    to_friends, to_watchers = place.told(EventName.PRESENCE_UPDATE)
    assert to_friends.audience == ToAccounts((BOB,))
    assert to_watchers.audience == ToPresenceSubscribers(ALICE, without=(BOB,))
    assert to_friends.data == to_watchers.data
    assert "guild_id" not in to_friends.data


def test_whoever_has_no_friends_is_told_of_to_watchers_only(place: Place) -> None:
    place.selects(CAROL, "s", "online")
    assert [event.audience for event in place.told(EventName.PRESENCE_UPDATE)] == [ToPresenceSubscribers(CAROL)]


def test_nothing_is_published_while_others_see_the_same(place: Place) -> None:
    place.selects(ALICE, "desk", "dnd")
    place.selects(ALICE, "phone", "online")
    assert place.published(ALICE) == ["dnd"]
    with place.silence():
        place.selects(ALICE, "phone", "online")


def test_the_account_is_told_of_its_own_sessions_unmasked(place: Place) -> None:
    place.selects(ALICE, "desk", "invisible", afk=True)
    place.selects(ALICE, "phone", "invisible", mobile=True)
    *_, last = place.told(EventName.SESSIONS_REPLACE)
    assert last.audience == ToAccounts((ALICE,))
    assert last.data == [
        {"session_id": "all", "status": "invisible", "afk": False, "mobile": False},
        {"session_id": "desk", "status": "invisible", "afk": True, "mobile": False},
        {"session_id": "phone", "status": "invisible", "afk": False, "mobile": True},
    ]
    assert place.published(ALICE) == []


def test_a_session_that_opens_is_not_told_of_itself(place: Place) -> None:
    place.selects(ALICE, "desk", "online")
    place.selects(ALICE, "phone", "online")
    place.selects(ALICE, "phone", "idle")
    ignoring = [event.ignoring_session for event in place.told(EventName.SESSIONS_REPLACE)]
    assert ignoring == ["phone", None]  # there was nobody to tell of the first


def test_a_bot_is_not_told_of_its_sessions(place: Place) -> None:
    place.selects(BOT, "s", "online")
    assert place.told(EventName.SESSIONS_REPLACE) == []
    assert place.published(BOT) == ["online"]


@pytest.mark.rule("000.resume.22", "000.resume.23")
def test_a_session_without_a_socket_counts_no_longer_until_it_is_resumed(place: Place) -> None:
    place.selects(ALICE, "s", "dnd")
    place.presences.session_offline(ALICE, "s")
    with place.silence():
        place.presences.session_offline(ALICE, "s")
    assert place.presences.session_presences(ALICE) == [
        {"session_id": "all", "status": "offline", "afk": False, "mobile": False}
    ]
    place.selects(ALICE, "s", "dnd")
    assert place.published(ALICE) == ["dnd", "offline", "dnd"]


def test_another_session_keeps_the_account_online(place: Place) -> None:
    place.selects(ALICE, "desk", "dnd")
    place.selects(ALICE, "phone", "idle")
    place.presences.session_offline(ALICE, "desk")
    place.presences.session_closed(ALICE, "phone")
    assert place.published(ALICE) == ["dnd", "idle", "offline"]


def test_sessions_that_nobody_knows_change_nothing(place: Place) -> None:
    place.selects(ALICE, "s", "online")
    with place.silence():
        place.presences.session_offline(ALICE, "another")
        place.presences.session_closed(ALICE, "another")
        place.presences.session_closed(BOB, "s")


# Online counts


def test_a_guild_counts_the_connected_accounts_that_are_online(place: Place) -> None:
    place.presences.account_connected({5}, ALICE)
    assert place.presences.online_count(5) == 0
    place.selects(ALICE, "s", "online")
    place.selects(BOB, "s", "idle")
    place.presences.account_connected({5}, BOB)
    place.presences.account_connected({5}, BOB)
    assert place.presences.online_count(5) == 2
    place.selects(BOB, "s", "invisible")
    assert place.presences.online_count(5) == 1
    place.presences.account_disconnected(5, ALICE)
    place.presences.account_disconnected(5, ALICE)
    assert place.presences.online_count(5) == 0
    place.selects(ALICE, "s", "dnd")
    assert place.presences.online_count(5) == 0


# The presence that a session starts with


@pytest.mark.parametrize(
    ("presence", "saved", "status"),
    [
        (None, "dnd", "dnd"),
        ({}, "idle", "idle"),
        ({"status": None}, "idle", "idle"),
        ({"status": 1}, "idle", "idle"),
        ({"status": "unknown"}, "idle", "idle"),
        ({"status": "online"}, "dnd", "dnd"),
        ({"status": "online"}, "online", "online"),
        ({"status": "idle"}, "dnd", "idle"),
        ({"status": "invisible"}, "online", "invisible"),
        ({"status": "offline"}, "online", "offline"),
    ],
)
def test_the_saved_status_wins_unless_another_one_was_chosen(
    presence: dict[str, Any] | None, saved: str, status: str
) -> None:
    initial = parse_initial_presence(presence)
    assert initial_presence(initial, False, saved, None).status == status


def test_mobile_in_the_properties_counts_only_without_a_presence() -> None:
    assert initial_presence(None, True, "online", None).mobile is True
    assert initial_presence(parse_initial_presence({"status": "idle"}), True, "online", None).mobile is False
    assert initial_presence(parse_initial_presence({"mobile": True, "afk": True}), False, "online", None) == (
        SessionPresence("online", afk=True, mobile=True)
    )


def test_a_saved_custom_status_wins_over_the_one_in_identify() -> None:
    initial = InitialPresence(None, False, False, {"text": "from Identify"})
    assert initial_presence(initial, False, "online", None).custom_status == CustomStatus("from Identify")
    saved = {"text": "saved", "expires_at": None, "emoji_id": None, "emoji_name": None, "emoji_animated": False}
    assert initial_presence(initial, False, "online", saved).custom_status == CustomStatus("saved")
    without = InitialPresence(None, False, False, ABSENT)
    assert initial_presence(without, False, "online", None).custom_status is None


def test_a_saved_custom_status_that_ran_out_is_not_shown(place: Place) -> None:
    saved = {"text": "yesterday", "expires_at": "2020-01-01T00:00:00.000Z"}
    place.presences.session_selected(ALICE, "s", initial_presence(None, False, "online", saved))
    assert place.presences.aggregate(ALICE).custom_status is None


# Against a naive model


presences_of_sessions = st.builds(
    SessionPresence,
    status=st.sampled_from(Status),
    afk=st.booleans(),
    mobile=st.booleans(),
)


def naive(presences: list[SessionPresence]) -> tuple[str, bool, bool]:
    """The facts, read aloud: status, mobile, afk as others see them."""
    statuses = [presence.status for presence in presences]
    for status in ("dnd", "online", "idle"):
        if status in statuses:
            break
    else:
        return "offline", False, False
    mobile = status == "online" and ("online", True) in [(entry.status, entry.mobile) for entry in presences]
    return status, mobile, not mobile and False not in [entry.afk for entry in presences]


@given(st.lists(presences_of_sessions, max_size=5))
def test_the_aggregate_is_what_the_facts_say(selected: list[SessionPresence]) -> None:
    place = Place()
    for number, presence in enumerate(selected):
        place.presences.session_selected(ALICE, f"s{number}", presence)
    seen = place.presences.aggregate(ALICE)
    assert (seen.status, seen.mobile, seen.afk) == naive(selected)


class PresenceMachine(RuleBasedStateMachine):
    """Sessions come, change, drop, return and go; published presences and online counts must always agree."""

    sessions: Bundle[tuple[int, str]] = Bundle("sessions")

    def __init__(self) -> None:
        super().__init__()
        self.place = Place()
        self.model: dict[tuple[int, str], tuple[SessionPresence, bool]] = {}
        self.connected: set[tuple[int, int]] = set()

    @rule(target=sessions, user_id=st.sampled_from([ALICE, BOB, CAROL]), name=st.sampled_from("abc"))
    def name_session(self, user_id: int, name: str) -> tuple[int, str]:
        return user_id, name

    @rule(session=sessions, presence=presences_of_sessions)
    def select(self, session: tuple[int, str], presence: SessionPresence) -> None:
        self.place.presences.session_selected(*session, presence)
        self.model[session] = presence, True

    @rule(session=sessions)
    def drop(self, session: tuple[int, str]) -> None:
        self.place.presences.session_offline(*session)
        if session in self.model:
            self.model[session] = self.model[session][0], False

    @rule(session=sessions)
    def close(self, session: tuple[int, str]) -> None:
        self.place.presences.session_closed(*session)
        self.model.pop(session, None)

    @rule(guild_id=st.sampled_from([5, 6]), user_id=st.sampled_from([ALICE, BOB]))
    def connect(self, guild_id: int, user_id: int) -> None:
        self.place.presences.account_connected({guild_id}, user_id)
        self.connected.add((guild_id, user_id))

    @rule(guild_id=st.sampled_from([5, 6]), user_id=st.sampled_from([ALICE, BOB]))
    def disconnect(self, guild_id: int, user_id: int) -> None:
        self.place.presences.account_disconnected(guild_id, user_id)
        self.connected.discard((guild_id, user_id))

    def counting(self, user_id: int) -> list[SessionPresence]:
        return [presence for (owner, _), (presence, counts) in self.model.items() if owner == user_id and counts]

    @invariant()
    def others_see_the_aggregate(self) -> None:
        for user_id in (ALICE, BOB, CAROL):
            status, mobile, afk = naive(self.counting(user_id))
            assert self.place.presences.aggregate(user_id) == AccountPresence(Status(status), afk, mobile)

    @invariant()
    def what_was_published_last_is_what_is_seen(self) -> None:
        for user_id in (ALICE, BOB, CAROL):
            published = ["offline", *self.place.published(user_id)]
            assert published[-1] == self.place.presences.aggregate(user_id).status

    @invariant()
    def guilds_count_who_is_online(self) -> None:
        for guild_id in (5, 6):
            online = [
                user_id
                for guild, user_id in self.connected
                if guild == guild_id and naive(self.counting(user_id))[0] != "offline"
            ]
            assert self.place.presences.online_count(guild_id) == len(online)


TestPresenceMachine = PresenceMachine.TestCase


def test_a_session_presence_is_a_value() -> None:
    presence = SessionPresence("idle", custom_status=CustomStatus("x", expires_at_ms=NOON_MS + 1))
    assert attrs.evolve(presence) == presence
    with pytest.raises(ValueError, match="away"):
        SessionPresence("away")
