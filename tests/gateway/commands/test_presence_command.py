"""Presence Update, opcode 3.

Area: gateway. Rules: 000.overview, 000.resume.
"""

from __future__ import annotations

import pytest
import trio
from trio.testing import MockClock

from chat.registries.close_codes import INVALID_PRESENCE_PAYLOAD
from chat.registries.events import EventName
from chat.registries.opcodes import Opcode
from tests.gateway.commands.stage import Client, Stage

STATUSES = ["idle", "dnd", "online", "idle", "dnd", "online", "idle"]


@pytest.fixture
async def alice(stage: Stage) -> Client:
    return stage.connect(await stage.world.person("alice"))


def selects(client: Client, status: str) -> None:
    assert client.sends(Opcode.PRESENCE_UPDATE, {"status": status, "since": 0, "activities": []}) is None


async def seen_by_a_friend(stage: Stage, alice: Client) -> Client:
    bob = await stage.world.person("bob")
    stage.friends = {alice.session.user_id: (bob.user_id,)}
    return stage.connect(bob)


async def test_a_friend_sees_the_status_that_a_session_selects(stage: Stage, alice: Client) -> None:
    bob = await seen_by_a_friend(stage, alice)
    alice.sends(Opcode.PRESENCE_UPDATE, {"status": "idle", "afk": True, "custom_status": {"text": "tea"}})
    await stage.settled()
    (presence,) = bob.heard(EventName.PRESENCE_UPDATE)
    assert (presence["status"], presence["afk"], presence["user"]["username"]) == ("idle", True, "alice")
    assert presence["custom_status"]["text"] == "tea"
    assert alice.session.presence.status == "idle"


async def test_a_custom_status_stays_until_it_is_named_again(stage: Stage, alice: Client) -> None:
    alice.sends(Opcode.PRESENCE_UPDATE, {"status": "online", "custom_status": {"text": "tea"}})
    selects(alice, "idle")
    alice.sends(Opcode.PRESENCE_UPDATE, {"status": "dnd", "custom_status": {"text": ""}})
    assert alice.session.presence.custom_status is not None
    alice.sends(Opcode.PRESENCE_UPDATE, {"status": "dnd", "custom_status": None})
    assert alice.session.presence.custom_status is None


@pytest.mark.parametrize("d", [None, {}, [], "idle", {"status": "away"}, {"afk": True}])
async def test_a_presence_without_a_known_status_closes(stage: Stage, alice: Client, d: object) -> None:
    assert alice.sends(Opcode.PRESENCE_UPDATE, d) is INVALID_PRESENCE_PAYLOAD


@pytest.mark.rule("000.overview.5")
async def test_a_sixth_presence_within_20_seconds_is_dropped(
    autojump_clock: MockClock, stage: Stage, alice: Client
) -> None:
    bob = await seen_by_a_friend(stage, alice)
    for status in STATUSES:
        selects(alice, status)
        await trio.sleep(1)
    assert [presence["status"] for presence in bob.heard(EventName.PRESENCE_UPDATE)] == STATUSES[:5]
    assert alice.payloads == []
    # The window rolls: the first of the five was spent 20 s before this one, the second only 19 s.
    await trio.sleep(13)
    selects(alice, "online")
    selects(alice, "idle")
    await stage.settled()
    assert [presence["status"] for presence in bob.heard(EventName.PRESENCE_UPDATE)] == [*STATUSES[:5], "online"]


async def test_an_invalid_presence_closes_even_beyond_the_budget(stage: Stage, alice: Client) -> None:
    for status in STATUSES:
        selects(alice, status)
    assert alice.sends(Opcode.PRESENCE_UPDATE, {"status": "away"}) is INVALID_PRESENCE_PAYLOAD


async def test_a_new_socket_has_a_new_budget(stage: Stage, alice: Client) -> None:
    for status in STATUSES:
        selects(alice, status)
    alice.drops()
    alice.resumes()
    selects(alice, "invisible")
    assert alice.session.presence.status == "invisible"


@pytest.mark.parametrize("rate_limited", [False])
async def test_without_rate_limits_every_presence_counts(stage: Stage, alice: Client) -> None:
    bob = await seen_by_a_friend(stage, alice)
    for status in STATUSES:
        selects(alice, status)
    await stage.settled()
    assert [presence["status"] for presence in bob.heard(EventName.PRESENCE_UPDATE)] == STATUSES


@pytest.mark.rule("000.resume.21")
async def test_a_resumed_session_is_shown_as_it_was_selected_last(stage: Stage, alice: Client) -> None:
    bob = await seen_by_a_friend(stage, alice)
    selects(alice, "dnd")
    alice.drops()
    stage.presences.session_offline(alice.session.user_id, alice.session.id)
    alice.resumes()
    await stage.settled()
    assert [presence["status"] for presence in bob.heard(EventName.PRESENCE_UPDATE)] == ["dnd", "offline", "dnd"]


async def test_a_resume_in_time_is_not_noticed(stage: Stage, alice: Client) -> None:
    bob = await seen_by_a_friend(stage, alice)
    alice.drops()
    alice.resumes()
    await stage.settled()
    assert bob.heard(EventName.PRESENCE_UPDATE) == []
