"""A replay ends at once when its session ends, moves or is let go (document 000, Resume, Reconnect; design 7).

Every session here numbers the same messages in its own way, so a Dispatch tells by its sequence and its message whose
it is.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Final

import attrs
import pytest
import trio
import trio.testing
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from trio.testing import MockClock

from chat.registries.close_codes import ALREADY_AUTHENTICATED, DRAIN_REQUESTED, OUTBOX_FULL, Close
from chat.registries.opcodes import Opcode
from chat.testing import GatewayClient, World
from chat.testing.gateway_client import ServerPayload
from chat.testing.server import open_chat_server
from chat.testing.stepped_run import SteppedRun
from tests.gateway.conversations import closes, is_unauthenticated, resumed
from tests.gateway.test_machine_on_a_socket import send_together

LARGE: Final = "\N{OWL}" * 3_900
"""Forty messages of this are more than a socket that reads nothing takes."""

MISSED: Final = 40

SETTLED_SECONDS: Final = 0.25
"""Virtual; then server and node have done what they can."""


async def say(world: World, number: int) -> None:
    (await world.alice.rest.send_message(world.channel_id, f"{number} {LARGE}")).expect(200)


async def missing(world: World, actor: str = "bob") -> GatewayClient:
    """A dropped client that has missed more than a socket takes at once."""
    client: GatewayClient = await getattr(world, actor).connect(heartbeats=False, ignored_events=["SESSIONS_REPLACE"])
    client.drop()
    for number in range(MISSED):
        await say(world, number)
    return client


async def in_replay(world: World, client: GatewayClient, actor: str = "bob") -> GatewayClient:
    """A socket that reads nothing, with the server in the middle of its replay."""
    socket: GatewayClient = await getattr(world, actor).open(heartbeats=False)
    socket.stop_reading()
    await socket.resume(client.token, client.session_id, 1)
    await trio.sleep(SETTLED_SECONDS)
    return socket


def messages(payloads: Sequence[ServerPayload]) -> list[ServerPayload]:
    return [payload for payload in payloads if payload.name == "MESSAGE_CREATE"]


async def rest_of(socket: GatewayClient) -> list[ServerPayload]:
    """Everything that still comes when the socket reads again."""
    socket.go_on_reading()
    await trio.sleep(SETTLED_SECONDS)
    return list(socket.payloads)


async def logs_out(world: World) -> None:
    assert (await world.bob.rest.logout()).status == 204


async def is_banned(world: World) -> None:
    administrator = world.anyone.signed_in(f"Admin {world.admin_key}")
    (await administrator.put(f"/v1/admin/users/{world.bob.id}/ban", {"duration_hours": 1})).expect(200)


async def is_struck(world: World) -> None:
    assert await world.anyone.fault("end_session", {"user_id": world.bob.id}) == 1


async def is_invalidated(world: World) -> None:
    assert await world.anyone.fault("invalid_session", {"user_id": world.bob.id}) == 1


@pytest.mark.parametrize("cause", [logs_out, is_banned, is_struck, is_invalidated])
async def test_after_invalid_session_nothing_of_the_session_comes(
    chat_world: World, autojump_clock: MockClock, cause: Callable[[World], Awaitable[None]]
) -> None:
    socket = await in_replay(chat_world, await missing(chat_world))
    await cause(chat_world)
    payloads = await rest_of(socket)
    ops = [payload.op for payload in payloads]
    assert ops.count(Opcode.INVALID_SESSION) == 1
    assert ops[-1] == Opcode.INVALID_SESSION
    assert 0 < len(messages(payloads)) < MISSED
    await is_unauthenticated(socket)


async def test_a_bots_new_token_ends_its_replay(chat_world: World, autojump_clock: MockClock) -> None:
    socket = await in_replay(chat_world, await missing(chat_world, "bot"), "bot")
    path = f"/v1/oauth2/applications/{chat_world.bot.application_id}/bot/reset-token"
    (await chat_world.alice.rest.post(path, {"password": chat_world.alice.password})).expect(200)
    payloads = await rest_of(socket)
    assert payloads[-1].op == Opcode.INVALID_SESSION
    assert 0 < len(messages(payloads)) < MISSED


async def test_another_session_is_resumed_after_the_end_of_the_first(
    chat_world: World, autojump_clock: MockClock
) -> None:
    other = await chat_world.bob.connect(heartbeats=False, ignored_events=["SESSIONS_REPLACE"])
    other.drop()
    first = await missing(chat_world)
    socket = await in_replay(chat_world, first)
    await chat_world.anyone.fault("end_session", {"session_id": first.session_id})
    await trio.sleep(SETTLED_SECONDS)
    await socket.resume(chat_world.bob.token, other.session_id, 1)
    socket.go_on_reading()
    await socket.expect_opcode(Opcode.INVALID_SESSION)
    assert await resumed(socket) == list(range(2, 2 + MISSED))


async def test_two_resumes_in_one_segment_replay_once(chat_world: World, autojump_clock: MockClock) -> None:
    first = await missing(chat_world)
    socket = await chat_world.bob.open(heartbeats=False)
    socket.stop_reading()
    resume = {"op": 6, "d": {"token": first.token, "session_id": first.session_id, "seq": 1}}
    await send_together(socket, resume, resume)
    await trio.sleep(SETTLED_SECONDS)
    payloads = messages(await rest_of(socket))
    assert [payload.sequence for payload in payloads] == list(range(2, 2 + MISSED))


async def moves(world: World, client: GatewayClient) -> Close:
    await resumed(await world.bob.resume(client, sequence=1))
    return DRAIN_REQUESTED


async def reconnects(world: World, client: GatewayClient) -> Close:
    assert await world.anyone.fault("reconnect", {"session_id": client.session_id}) == 1
    return DRAIN_REQUESTED


async def drains(world: World, client: GatewayClient) -> Close:
    await world.anyone.node(draining=True)
    return DRAIN_REQUESTED


async def is_closed(world: World, client: GatewayClient) -> Close:
    assert await world.anyone.fault("close", {"session_id": client.session_id}, code=4321, reason="enough") == 1
    return Close(4321, "enough")


@pytest.mark.parametrize("cause", [moves, reconnects, pytest.param(drains, marks=pytest.mark.own_gateway), is_closed])
async def test_a_socket_that_loses_its_session_is_sent_no_more_of_it(
    chat_world: World, autojump_clock: MockClock, cause: Callable[[World, GatewayClient], Awaitable[Close]]
) -> None:
    first = await missing(chat_world)
    socket = await in_replay(chat_world, first)
    close = await cause(chat_world, first)
    await trio.sleep(SETTLED_SECONDS)
    payloads = await rest_of(socket)
    assert 0 < len(messages(payloads)) < MISSED
    assert socket.close_frame == close
    if close is DRAIN_REQUESTED:
        assert payloads[-1].op == Opcode.RECONNECT
    await resumed(await chat_world.bob.resume(first, sequence=1))


async def test_an_identify_ends_the_replay_and_the_socket(chat_world: World, autojump_clock: MockClock) -> None:
    first = await missing(chat_world)
    socket = await in_replay(chat_world, first)
    await socket.identify(chat_world.bob.token)
    await trio.sleep(SETTLED_SECONDS)
    payloads = await rest_of(socket)
    assert 0 < len(messages(payloads)) < MISSED
    await closes(socket, ALREADY_AUTHENTICATED)


async def test_an_outbox_that_is_full_ends_the_replay(chat_world: World, autojump_clock: MockClock) -> None:
    first = await missing(chat_world)
    socket = await in_replay(chat_world, first)
    for _ in range(4_097):
        await chat_world.alice.rest.start_typing(chat_world.channel_id)
    await trio.sleep(SETTLED_SECONDS)
    payloads = await rest_of(socket)
    assert len(messages(payloads)) < MISSED
    assert socket.close_frame == OUTBOX_FULL


# Any order


@attrs.frozen
class Step:
    """Something that happens to the socket, or to one of two sessions."""

    what: str
    session: int = 0


steps = st.lists(
    st.builds(Step, st.sampled_from(["read", "say"]))
    | st.builds(Step, st.sampled_from(["resume", "resume", "end", "elsewhere", "reconnect"]), st.integers(0, 1))
    | st.builds(Step, st.sampled_from(["identify", "close", "drain"])),
    max_size=10,
)


class Play:
    """One socket, two sessions of bob's that missed a lot, and what happens to them."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.sessions: list[GatewayClient] = []
        self.offsets: list[int] = []
        self.said = 0
        self.resumes: list[int] = []
        self.socket: GatewayClient
        self._others: list[GatewayClient] = []

    async def begin(self) -> None:
        await self.world.anyone.node(draining=False)
        for _ in range(2):
            client = await self.world.bob.connect(heartbeats=False, ignored_events=["SESSIONS_REPLACE"])
            client.drop()
            self.sessions.append(client)
            self.offsets.append(2 - self.said)
            for _ in range(3 if not self.said else MISSED):
                await self.say()
        self.socket = await self.world.bob.open(heartbeats=False)
        self.socket.stop_reading()

    async def say(self) -> None:
        await say(self.world, self.said)
        self.said += 1

    async def take(self, step: Step) -> None:
        anyone, session = self.world.anyone, self.sessions[step.session]
        match step.what:
            case "read":
                self.socket.go_on_reading()
                for _ in range(20):
                    await trio.lowlevel.checkpoint()
                self.socket.stop_reading()
            case "say":
                await self.say()
            case "resume" if self.socket.is_open:
                self.resumes.append(step.session)
                await self.socket.resume(session.token, session.session_id, 1)
            case "end":
                await anyone.fault("end_session", {"session_id": session.session_id})
            case "elsewhere":
                other = await self.world.bob.open(heartbeats=False)
                await other.resume(session.token, session.session_id, 1)
                self._others.append(other)
            case "reconnect":
                await anyone.fault("reconnect", {"session_id": session.session_id})
            case "identify" if self.socket.is_open:
                await self.socket.identify("")
            case "close":
                await anyone.fault("close", {"user_id": self.world.bob.id}, code=4321, reason="enough")
            case "drain":
                await anyone.node(draining=True)

    async def finish(self) -> None:
        self.socket.go_on_reading()
        await trio.sleep(SETTLED_SECONDS)
        for client in (self.socket, *self._others):
            client.drop()
        await self.world.anyone.fault("end_session", {"user_id": self.world.bob.id})

    def check(self) -> None:
        """Each stretch of messages is one session's, from its beginning and without a gap, for one Resume each."""
        asked, current, expected, last = iter(self.resumes), None, 0, None
        for payload in self.socket.payloads:
            assert last != Opcode.RECONNECT, "Reconnect is the last payload"
            last = payload.op
            if payload.op == Opcode.INVALID_SESSION:
                current = None
            elif payload.name == "MESSAGE_CREATE":
                sequence = payload.sequence or 0
                number = int(payload.data["content"].split()[0])
                owner = self.offsets.index(sequence - number)
                if (owner, sequence) != (current, expected):
                    assert owner in asked, "a message of a session that nobody asked for"
                    assert sequence == 2, "a message from the middle of a replay"
                current, expected = owner, sequence + 1


@pytest.fixture(scope="module")
def stepped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[SteppedRun, World]]:
    opened: list[World] = []

    async def live(task_status: trio.TaskStatus[None]) -> None:
        async with open_chat_server(tmp_path_factory.mktemp("data")) as server:
            opened.append(World(server.description(), server.route(), run.nursery))
            task_status.started()
            await trio.sleep_forever()

    with SteppedRun(virtual=True) as run:
        run.call(run.nursery.start, live)
        yield run, opened[0]


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(steps)
def test_replays_never_mix_and_never_outlive_their_session(
    stepped: tuple[SteppedRun, World], history: list[Step]
) -> None:
    run, world = stepped
    play = Play(world)

    async def go() -> None:
        await play.begin()
        for step in [Step("resume"), *history]:
            await play.take(step)
        await play.finish()
        play.check()

    run.call(go)
