"""The fixtures: a whole server in the test's own run, with a world in it."""

from __future__ import annotations

import pytest
import trio
import trio.testing

from chat.testing import GatewayClient, RestClient
from chat.testing.conversation import Conversation
from chat.testing.gateway_client import GatewayClosed, HandshakeRefused, NothingArrived
from chat.testing.server import ChatServer
from chat.testing.world import World


async def test_a_message_reaches_everybody_in_the_channel(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    bob = await chat_world.bob.connect()
    carol = await chat_world.carol.connect(compressed=True)
    bot = await chat_world.bot.connect()
    sent = (await chat_world.alice.rest.send_message(chat_world.channel_id, "hello")).expect(200)
    for client in (bob, carol, bot):
        received = await client.expect("MESSAGE_CREATE")
        assert received.data["id"] == sent["id"]
        assert received.data["content"] == "hello"


async def test_a_dropped_client_resumes_and_misses_nothing(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    bob = await chat_world.bob.connect()
    bob.drop()
    await chat_world.alice.rest.send_message(chat_world.channel_id, "while you were out")
    again = await chat_world.bob.resume(bob)
    assert (await again.expect("MESSAGE_CREATE")).data["content"] == "while you were out"
    assert (await again.expect("RESUMED")).sequence == again.sequence


async def test_a_session_outlives_a_restart(
    chat_server: ChatServer, chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    bob = await chat_world.bob.connect()
    await chat_server.restart()
    assert (await bob.closed()).code == 4000
    await chat_world.alice.rest.send_message(chat_world.channel_id, "after the restart")
    again = await chat_world.bob.resume(bob)
    assert (await again.expect("MESSAGE_CREATE")).data["content"] == "after the restart"
    await again.expect("RESUMED")


async def test_an_hour_of_heartbeats_takes_no_time(chat_world: World, autojump_clock: trio.testing.MockClock) -> None:
    bob = await chat_world.bob.connect()
    await trio.sleep(3_600)
    assert bob.is_open
    assert bob.acknowledgements >= 3_600 // 42


async def test_skipped_heartbeats_close(chat_world: World, autojump_clock: trio.testing.MockClock) -> None:
    bob = await chat_world.bob.connect(heartbeats=False)
    close = await bob.closed(seconds=46)
    assert (close.code, close.reason) == (4009, "Heartbeat timeout")
    with pytest.raises(GatewayClosed, match="4009"):
        await bob.expect("MESSAGE_CREATE")


async def test_expectations_tell_what_came_instead(chat_world: World, autojump_clock: trio.testing.MockClock) -> None:
    bob = await chat_world.bob.connect()
    await chat_world.alice.rest.send_message(chat_world.channel_id, "hello")
    with pytest.raises(NothingArrived, match="passed over: MESSAGE_CREATE"):
        await bob.expect("GUILD_DELETE")


async def test_a_refused_handshake_says_why(chat_server: ChatServer, autojump_clock: trio.testing.MockClock) -> None:
    class ElseWhere:
        host = "127.0.0.1"
        conversation = None

        def noted_in(self, _: Conversation) -> ElseWhere:
            return self

        async def connect(self) -> trio.abc.HalfCloseableStream:
            stream = await chat_server.route().connect_to_gateway()
            await stream.send_all(b"GET /gateway?v=1 HTTP/1.1\r\nHost: x\r\n\r\n")
            return stream

        connect_to_gateway = connect

    async with trio.open_nursery() as nursery:
        with pytest.raises(HandshakeRefused) as refused:
            await GatewayClient.connect(nursery, ElseWhere())
    assert refused.value.status == 426


async def test_a_stalled_reader_holds_the_server_up_and_catches_up(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    bob = await chat_world.bob.connect(heartbeats=False)
    bob.stop_reading()
    for number in range(10):
        await chat_world.alice.rest.send_message(chat_world.channel_id, f"{number} " + "x" * 3_000)
    bob.go_on_reading()
    for number in range(10):
        assert (await bob.expect("MESSAGE_CREATE")).data["content"].startswith(f"{number} ")


async def test_a_half_closed_socket_ends_and_its_session_waits(
    chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    bob = await chat_world.bob.connect()
    await bob.half_close()
    await bob.closed()
    session = await chat_world.session_of(bob)
    assert session is not None
    assert not session["attached"]


@pytest.mark.chat_settings(**{"gateway.sessions_per_user": 1, "service_name": "Kit"})
async def test_settings_come_from_the_marker(
    chat_server: ChatServer, chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    assert chat_server.settings.service_name == "Kit"
    await chat_world.bob.connect()
    second = await chat_world.bob.open()
    await second.identify(chat_world.bob.token)
    assert (await second.closed()).reason == "Too many sessions"


async def test_rest_client_keeps_its_connection(
    chat_server: ChatServer, chat_world: World, autojump_clock: trio.testing.MockClock
) -> None:
    me = chat_world.alice.rest
    for _ in range(3):
        assert (await me.get("/v1/users/@me")).expect(200)["id"] == chat_world.alice.id
    assert chat_server.server.port.connections == 1
    await trio.sleep(120)
    assert (await me.get("/v1/users/@me")).status == 200


async def test_errors_are_answers(chat_world: World, autojump_clock: trio.testing.MockClock) -> None:
    answer = await chat_world.anyone.get("/v1/users/@me")
    assert (answer.status, answer.code) == (401, "UNAUTHORIZED")
    with pytest.raises(AssertionError, match="expected 200, got 401"):
        answer.expect(200)


async def test_two_servers_from_one_seed_are_the_same(
    tmp_path_factory: pytest.TempPathFactory, autojump_clock: trio.testing.MockClock
) -> None:
    from chat.testing.server import open_chat_server

    worlds = []
    for _ in range(2):
        async with open_chat_server(tmp_path_factory.mktemp("data"), seed=7) as server:
            answer = await RestClient(server.route(), server.world.admin.token).get("/v1/users/@me")
            worlds.append((server.description(), answer.expect(200)["id"]))
    assert worlds[0] == worlds[1]


async def test_over_real_sockets(tmp_path_factory: pytest.TempPathFactory) -> None:
    from chat.testing.server import open_chat_server

    async with (
        open_chat_server(tmp_path_factory.mktemp("data"), sockets=True) as server,
        trio.open_nursery() as nursery,
    ):
        world = World(server.description(), server.route(), nursery)
        bob = await world.bob.connect(compressed=True)
        sent = (await world.alice.rest.send_message(world.channel_id, "over TCP")).expect(200)
        assert (await bob.expect("MESSAGE_CREATE")).data["id"] == sent["id"]
        bob.drop()
        again = await world.bob.resume(bob)
        await again.expect("RESUMED")
        await again.aclose()
        assert again.close_frame is not None
        assert again.close_frame.code == 1000
        await world.aclose()
        nursery.cancel_scope.cancel()
