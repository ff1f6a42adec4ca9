"""Presence Update and custom status, as wire facts 1.2 and 1.3 have them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.protocol.payload import ABSENT
from chat.protocol.presence import (
    CustomStatus,
    PresenceUpdate,
    choose_custom_status,
    parse_custom_status,
    parse_presence_update,
    parse_timestamp,
)
from chat.registries.close_codes import INVALID_PRESENCE_PAYLOAD, Close
from chat.registries.statuses import Status

NOW_MS = 1_763_725_000_000
KEPT = CustomStatus(text="kept")


def updated(**members: Any) -> PresenceUpdate:
    update = parse_presence_update(members)
    assert isinstance(update, PresenceUpdate)
    return update


@pytest.mark.parametrize(
    ("status", "selected"),
    [
        ("online", Status.ONLINE),
        ("idle", Status.IDLE),
        ("dnd", Status.DND),
        ("invisible", Status.INVISIBLE),
        ("offline", Status.INVISIBLE),
        ("", Status.ONLINE),
        (None, Status.OFFLINE),
        (True, Status.OFFLINE),
        (False, Status.OFFLINE),
        (7, Status.ONLINE),
        (1.5, Status.ONLINE),
        ([], Status.ONLINE),
        ({}, Status.ONLINE),
    ],
)
def test_what_each_status_selects(status: Any, selected: Status) -> None:
    assert updated(status=status).status is selected


@pytest.mark.parametrize(
    "d", [None, [], "online", 1, True, {}, {"afk": True}, {"status": "asleep"}, {"status": "ONLINE"}]
)
def test_without_a_known_status_it_is_an_invalid_presence(d: Any) -> None:
    assert parse_presence_update(d) is INVALID_PRESENCE_PAYLOAD


def test_members_of_other_services_are_ignored() -> None:
    update = updated(status="online", since=None, activities=[{"name": "x"}], afk=False)
    assert update == PresenceUpdate(Status.ONLINE, afk=False, mobile=False, custom_status=ABSENT)


@pytest.mark.parametrize("truthy", [1, "true", [True], {}])
def test_only_true_is_true(truthy: Any) -> None:
    update = updated(status="idle", afk=truthy, mobile=truthy)
    assert (update.afk, update.mobile) == (False, False)
    update = updated(status="idle", afk=True, mobile=True)
    assert (update.afk, update.mobile) == (True, True)


def chosen(**members: Any) -> CustomStatus | None:
    return choose_custom_status(updated(status="online", **members).custom_status, KEPT, NOW_MS)


def test_a_custom_status_is_replaced_only_when_it_is_named() -> None:
    assert chosen() is KEPT
    assert chosen(custom_status={"text": "new"}) == CustomStatus(text="new")
    assert chosen(custom_status={"text": "ne\x00w"}) == CustomStatus(text="new")
    assert chosen(custom_status={}) == CustomStatus()


def test_null_clears_it() -> None:
    assert chosen(custom_status=None) is None


@pytest.mark.parametrize("value", ["text", 1, True, [], ["text"]])
def test_what_is_no_object_is_ignored(value: Any) -> None:
    assert chosen(custom_status=value) is KEPT


@pytest.mark.parametrize(
    "invalid",
    [
        {"text": ""},
        {"text": "\u200b \x00"},
        {"text": "x" * 129},
        {"text": 7},
        {"emoji_name": ""},
        {"emoji_name": "x" * 33},
        {"emoji_name": True},
        {"emoji_id": "x"},
        {"emoji_id": "0"},
        {"emoji_id": True},
        {"emoji_id": -1},
        {"expires_at": "2015-01-01T00:00:00.000Z"},
        {"expires_at": "tomorrow"},
        {"expires_at": 1_900_000_000_000},
        {"expires_at": "2999-13-01T00:00:00Z"},
        {"expires_at": "2999-01-01T00:00:00"},
    ],
)
def test_an_invalid_one_keeps_the_old_one(invalid: dict[str, Any]) -> None:
    assert parse_custom_status(invalid, NOW_MS) is None
    assert chosen(custom_status=invalid) is KEPT


def test_all_members_of_a_custom_status() -> None:
    named = {"text": "x" * 128, "expires_at": "2999-01-01T00:00:00.250Z", "emoji_name": "🙂" * 32}
    assert parse_custom_status(named, NOW_MS) == CustomStatus(
        text="x" * 128, expires_at_ms=32_472_144_000_250, emoji_name="🙂" * 32
    )
    assert parse_custom_status({"emoji_id": "77", "emoji_name": "named"}, NOW_MS) == CustomStatus(emoji_id=77)
    assert parse_custom_status({"text": None, "expires_at": None, "emoji_id": None, "emoji_name": None}, NOW_MS) == (
        CustomStatus()
    )


def test_an_expiry_must_lie_ahead() -> None:
    assert parse_timestamp("2025-11-21T11:36:40.000Z") == NOW_MS
    assert parse_custom_status({"expires_at": "2025-11-21T11:36:40.000Z"}, NOW_MS) is None
    assert parse_custom_status({"expires_at": "2025-11-21T11:36:40.001Z"}, NOW_MS) == CustomStatus(
        expires_at_ms=NOW_MS + 1
    )


@pytest.mark.parametrize(
    "text",
    [
        "2025-11-21T11:36:40Z",
        "2025-11-21t11:36:40z",
        "2025-11-21T11:36:40.000+00:00",
        "2025-11-21T12:36:40+01:00",
        "2025-11-21T06:06:40.0-05:30",
        "2025-11-21T11:36:40.000000000Z",
    ],
)
def test_forms_of_one_moment(text: str) -> None:
    assert parse_timestamp(text) == NOW_MS


@pytest.mark.parametrize(
    "text",
    [
        *("", "now", "2025-11-21", "2025-11-21 11:36:40Z", "2025-11-21T11:36Z", "2025-11-21T11:36:40", "W" * 300),
        *("20251121T113640Z", "2025-02-30T00:00:00Z", "2025-11-21T25:00:00Z", "0000-01-01T00:00:00Z"),
        "\u0662\u0660\u0662\u0665-11-21T11:36:40Z",
        *("2025-11-21T11:36:40.Z", "2025-11-21T11:36:40+25:00", " 2025-11-21T11:36:40Z", "2025-11-21T11:36:40Z\n"),
    ],
)
def test_what_is_no_moment(text: str) -> None:
    assert parse_timestamp(text) is None


@given(st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=st.timezones()))
def test_every_moment_that_python_writes_is_read(moment: datetime) -> None:
    offset = moment.utcoffset()
    if offset is None or offset % timedelta(minutes=1):
        moment = moment.astimezone(UTC)
    expected = round((moment - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() * 1000)
    assert parse_timestamp(moment.isoformat()) == expected


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=3), children, max_size=3),
    max_leaves=5,
)
PRESENCE = st.dictionaries(st.sampled_from(["status", "afk", "mobile", "custom_status"]), JSON)
CUSTOM_STATUS = st.dictionaries(st.sampled_from(["text", "expires_at", "emoji_id", "emoji_name"]), JSON)


@given(JSON | PRESENCE, JSON | CUSTOM_STATUS)
def test_nothing_raises(d: Any, custom_status: Any) -> None:
    update = parse_presence_update(d)
    assert isinstance(update, PresenceUpdate | Close)
    status = parse_custom_status(custom_status, NOW_MS)
    assert status is None or isinstance(custom_status, dict)
    assert chosen(custom_status=custom_status) in (None, KEPT, status)
