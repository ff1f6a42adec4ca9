"""Voice Server Update, the door at /rtc, and signalling, on a whole server in memory: no media flows."""

from __future__ import annotations

from typing import Any

import jwt
import pytest
import trio
from livekit.protocol import models, rtc
from trio.testing import MockClock

from chat.testing.gateway_client import NothingArrived
from chat.testing.http_client import Response
from chat.testing.server import ChatServer
from chat.testing.world import World
from tests.voice.signal_client import SignalClient, enter_voice, signalling

pytestmark = pytest.mark.chat_settings(**{"voice.engine": "embedded", "voice.udp_port": 0})

MICROPHONE, CAMERA = models.TrackSource.MICROPHONE, models.TrackSource.CAMERA


def claims_of(token: str) -> dict[str, Any]:
    claims: dict[str, Any] = jwt.decode(token, options={"verify_signature": False})
    return claims


async def validate(world: World, token: str | None, path: str = "/rtc/validate") -> Response:
    """What a client asks that could not open its WebSocket."""
    query = {} if token is None else {"access_token": token}
    return await world.anyone.get(path, query=query)


async def test_a_session_is_told_where_its_media_goes(chat_world: World, autojump_clock: MockClock) -> None:
    elsewhere = await chat_world.alice.connect()
    client, told = await enter_voice(chat_world, chat_world.alice)
    assert told.keys() == {"token", "endpoint", "connection_id", "channel_id", "guild_id"}
    assert told["endpoint"] == "ws://127.0.0.1:8080"
    claims = claims_of(told["token"])
    assert claims["sub"] == f"user_{chat_world.alice.id}_{told['connection_id']}"
    assert claims["exp"] - claims["nbf"] == 605
    assert claims["video"] == {
        "room": f"guild_{chat_world.guild_id}_channel_{chat_world.voice_channel_id}",
        "roomJoin": True,
        "canPublish": True,
        "canSubscribe": True,
        "canPublishData": False,
        "canPublishSources": ["microphone", "camera", "screen_share", "screen_share_audio"],
    }
    # Muting oneself is told to the others, and needs no other token.
    place = chat_world.guild_id, chat_world.voice_channel_id
    await client.update_voice_state(*place, connection_id=told["connection_id"], self_mute=True, mutation_id="m")
    seen = [(await client.next_payload()).name for _ in range(2)]
    assert sorted(map(str, seen)) == ["VOICE_STATE_ACK", "VOICE_STATE_UPDATE"]
    with pytest.raises(NothingArrived):  # another session of the account hears of the state alone
        await elsewhere.expect("VOICE_SERVER_UPDATE", seconds=5)
    discovery = (await chat_world.anyone.get("/.well-known/chat")).json()
    assert discovery["features"]["voice_enabled"] is True


async def test_the_door_opens_to_those_who_are_placed(chat_world: World, autojump_clock: MockClock) -> None:
    client, told = await enter_voice(chat_world, chat_world.alice)
    assert (await validate(chat_world, told["token"])).status == 200
    for token in (None, "", "x", told["token"][:-3] + "abc", jwt.encode(claims_of(told["token"]), b"k" * 32)):
        refused = await validate(chat_world, token)
        assert (refused.status, refused.code) == (401, "UNAUTHORIZED")
        assert dict(refused.headers)["access-control-allow-origin"] == "*"
    bearer = await chat_world.anyone.request(
        "GET", "/rtc/validate", headers={"Authorization": f"Bearer {told['token']}"}
    )
    assert bearer.status == 200
    newer = await validate(chat_world, told["token"], "/rtc/v1/validate")
    assert (newer.status, dict(newer.headers)["access-control-allow-origin"]) == (404, "*")
    await client.update_voice_state(chat_world.guild_id, None, connection_id=told["connection_id"], mutation_id="m")
    await client.expect("VOICE_STATE_ACK")
    assert (await validate(chat_world, told["token"])).status == 401  # valid, and of nobody who is there


async def test_a_client_gets_fresh_tokens(chat_world: World, autojump_clock: MockClock) -> None:
    _, told = await enter_voice(chat_world, chat_world.alice)
    async with signalling(chat_world.route, told["token"]) as alice:
        await alice.expect("join")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(keep_alive, alice)
            fresh = await alice.expect("refresh_token", seconds=310)
            nursery.cancel_scope.cancel()
        assert claims_of(fresh)["exp"] - claims_of(told["token"])["exp"] == pytest.approx(300, abs=2)
        assert (await validate(chat_world, fresh)).status == 200


async def keep_alive(client: SignalClient) -> None:
    while True:
        await client.send(ping_req=rtc.Ping(timestamp=1))
        await trio.sleep(10)


async def test_a_connection_without_media_is_given_up(chat_world: World, autojump_clock: MockClock) -> None:
    client, told = await enter_voice(chat_world, chat_world.alice)
    began = trio.current_time()
    left = await client.expect("VOICE_STATE_UPDATE", where=lambda data: data["channel_id"] is None, seconds=700)
    assert left.data["connection_id"] == told["connection_id"]
    assert 600 <= trio.current_time() - began <= 610


async def test_a_moved_connection_gets_another_room(chat_world: World, autojump_clock: MockClock) -> None:
    bob, told = await enter_voice(chat_world, chat_world.bob)
    made = await chat_world.alice.rest.post(f"/v1/guilds/{chat_world.guild_id}/channels", {"name": "other", "type": 2})
    other = made.json()["id"]
    async with signalling(chat_world.route, told["token"]) as media:
        await media.expect("join")
        moved = await chat_world.alice.rest.patch(
            f"/v1/guilds/{chat_world.guild_id}/members/{chat_world.bob.id}", {"channel_id": other}
        )
        assert moved.status == 200
        again = (await bob.expect("VOICE_SERVER_UPDATE")).data
        assert (again["connection_id"], again["channel_id"]) == (told["connection_id"], other)
        leave = await media.expect("leave")
        assert leave.reason == models.DisconnectReason.PARTICIPANT_REMOVED
    assert (await validate(chat_world, told["token"])).status == 401
    assert (await validate(chat_world, again["token"])).status == 200


@pytest.mark.parametrize("as_text", [False, True])
async def test_two_meet_in_a_room(chat_world: World, autojump_clock: MockClock, as_text: bool) -> None:
    _, of_alice = await enter_voice(chat_world, chat_world.alice)
    _, of_bob = await enter_voice(chat_world, chat_world.bob)
    async with signalling(chat_world.route, of_alice["token"], as_text=as_text) as alice:
        joined = await alice.expect("join")
        assert not joined.other_participants
        await alice.send(add_track=rtc.AddTrackRequest(cid="mine", type=models.TrackType.AUDIO, source=MICROPHONE))
        taken = await alice.expect("track_published")
        assert (taken.cid, taken.track.source) == ("mine", MICROPHONE)
        async with signalling(chat_world.route, of_bob["token"], as_text=as_text) as bob:
            join = await bob.expect("join")
            (other,) = join.other_participants
            assert other.sid == joined.participant.sid
            assert [track.sid for track in other.tracks] == [taken.track.sid]
            seen = await alice.expect("update")
            while seen.participants[0].sid != join.participant.sid:
                seen = await alice.expect("update")
            await alice.send(mute=rtc.MuteTrackRequest(sid=taken.track.sid, muted=True))
            update = await bob.expect("update")
            assert update.participants[0].tracks[0].muted
            await alice.send(ping_req=rtc.Ping(timestamp=42))
            assert (await alice.expect("pong_resp")).last_ping_timestamp == 42
        gone = await alice.expect("update")
        while gone.participants[0].state != models.ParticipantInfo.DISCONNECTED:
            gone = await alice.expect("update")
        assert gone.participants[0].sid == join.participant.sid


async def test_rights_follow_at_once(chat_world: World, autojump_clock: MockClock) -> None:
    _, told = await enter_voice(chat_world, chat_world.bob)
    member = f"/v1/guilds/{chat_world.guild_id}/members/{chat_world.bob.id}"
    async with signalling(chat_world.route, told["token"]) as bob:
        own = (await bob.expect("join")).participant.permission
        assert set(own.can_publish_sources) == {MICROPHONE, CAMERA, 3, 4}
        for wish, sources, hears in (
            ({"mute": True}, {CAMERA, 3, 4}, True),
            ({"deaf": True}, set(), False),
            ({"mute": False}, set(), False),
            ({"deaf": False}, {MICROPHONE, CAMERA, 3, 4}, True),
        ):
            assert (await chat_world.alice.rest.patch(member, wish)).status == 200
            if wish == {"mute": False}:
                continue  # who is deafened speaks no more for it
            own = (await bob.expect("update")).participants[0].permission
            assert (set(own.can_publish_sources), own.can_subscribe) == (sources, hears)
        # Somebody who may not speak does not get a track taken.
        role = f"/v1/guilds/{chat_world.guild_id}/roles/{chat_world.guild_id}"
        roles = (await chat_world.alice.rest.get(f"/v1/guilds/{chat_world.guild_id}/roles")).json()
        everyone = next(each for each in roles if each["id"] == str(chat_world.guild_id))
        without = int(everyone["permissions"]) & ~(1 << 21)
        assert (await chat_world.alice.rest.patch(role, {"permissions": str(without)})).status == 200
        own = (await bob.expect("update")).participants[0].permission
        assert set(own.can_publish_sources) == {CAMERA, 3, 4}
        await bob.send(add_track=rtc.AddTrackRequest(cid="x", type=models.TrackType.AUDIO, source=MICROPHONE))
        assert (await bob.expect("request_response")).reason == rtc.RequestResponse.NOT_ALLOWED


async def test_a_ban_and_a_session_that_ends_end_media(chat_world: World, autojump_clock: MockClock) -> None:
    _, told = await enter_voice(chat_world, chat_world.bob)
    _, of_carol = await enter_voice(chat_world, chat_world.carol)
    async with signalling(chat_world.route, told["token"]) as bob:
        await bob.expect("join")
        async with signalling(chat_world.route, of_carol["token"]) as carol:
            await carol.expect("join")
            ban = await chat_world.alice.rest.put(f"/v1/guilds/{chat_world.guild_id}/bans/{chat_world.carol.id}", {})
            assert ban.status in {200, 204}
            assert (await carol.expect("leave")).reason == models.DisconnectReason.PARTICIPANT_REMOVED
        faults = {"target": {"user_id": chat_world.bob.id}, "action": "end_session"}
        assert (await chat_world.anyone.post("/v1/_dev/faults", faults)).status == 200
        assert (await bob.expect("leave")).action == rtc.LeaveRequest.DISCONNECT
        assert await bob.closed() == 1000


async def test_the_same_token_twice(chat_world: World, autojump_clock: MockClock) -> None:
    _, told = await enter_voice(chat_world, chat_world.alice)
    async with signalling(chat_world.route, told["token"]) as first:
        await first.expect("join")
        async with signalling(chat_world.route, told["token"]) as second:
            assert not (await second.expect("join")).other_participants
            assert (await first.expect("leave")).reason == models.DisconnectReason.DUPLICATE_IDENTITY


@pytest.mark.parametrize(
    "message",
    [
        b"\xff\xff\xff",
        b"",
        "{",
        '{"offer": {"sdp": "v=0"}}',
        '{"addTrack": {"cid": "x", "type": "DATA"}}',
        '{"addTrack": {"cid": "x", "type": "AUDIO", "source": "CAMERA"}}',
    ],
)
async def test_what_cannot_be_understood_closes(
    chat_world: World, autojump_clock: MockClock, message: bytes | str
) -> None:
    _, told = await enter_voice(chat_world, chat_world.alice)
    async with signalling(chat_world.route, told["token"]) as alice:
        await alice.expect("join")
        await alice.websocket.send_message(message)
        assert await alice.closed() == 1003


async def test_a_flood_closes(chat_world: World, autojump_clock: MockClock) -> None:
    _, told = await enter_voice(chat_world, chat_world.alice)
    async with signalling(chat_world.route, told["token"]) as alice:
        await alice.expect("join")
        for _ in range(601):
            await alice.send(ping=1)
        assert await alice.closed() == 1008


async def test_who_says_nothing_is_gone(chat_world: World, autojump_clock: MockClock) -> None:
    client, told = await enter_voice(chat_world, chat_world.alice)
    async with signalling(chat_world.route, told["token"]) as alice:
        await alice.expect("join")
        await trio.sleep(50)
        assert await alice.closed() == 1000
    left = await client.expect("VOICE_STATE_UPDATE", where=lambda data: data["channel_id"] is None, seconds=70)
    assert left.data["connection_id"] == told["connection_id"]


@pytest.mark.chat_settings(**{"voice.engine": "off"})
async def test_without_an_engine_there_is_no_door(chat_world: World, autojump_clock: MockClock) -> None:
    client = await chat_world.alice.connect()
    await client.update_voice_state(chat_world.guild_id, chat_world.voice_channel_id, mutation_id="m")
    assert (await client.expect("VOICE_STATE_ACK")).data["status"] == "applied"
    with pytest.raises(NothingArrived):
        await client.expect("VOICE_SERVER_UPDATE", seconds=5)
    answer = await chat_world.anyone.get("/rtc/validate")
    assert (answer.status, answer.code) == (404, "NOT_FOUND")


async def test_the_studio_ends_with_the_last_one(
    chat_server: ChatServer, chat_world: World, autojump_clock: MockClock
) -> None:
    voice = chat_server.server.voice
    assert voice is not None
    assert voice.studio is None
    client, told = await enter_voice(chat_world, chat_world.alice)
    async with signalling(chat_world.route, told["token"]) as alice:
        await alice.expect("join")
        assert voice.studio is not None
    await client.update_voice_state(chat_world.guild_id, None, connection_id=told["connection_id"])
    await trio.sleep(70)
    assert voice.studio is None
    assert not len(voice.placements)
    await client.update_voice_state(chat_world.guild_id, chat_world.voice_channel_id)
    told = (await client.expect("VOICE_SERVER_UPDATE")).data
    async with signalling(chat_world.route, told["token"]) as alice:
        await alice.expect("join")
