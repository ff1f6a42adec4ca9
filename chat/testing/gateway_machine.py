"""A Hypothesis state machine that plays with a gateway and holds it to a model of its own.

    TestGateway = GatewayMachine.TestCase                      # a fresh server in memory, on virtual time, per example

    class AgainstBaseUrl(GatewayMachine):
        description = json.loads(first_line_of_chat_dev_json)  # a running `chat dev`; reset before each example

Rules connect sockets, identify, post, acknowledge, break sockets in several ways, resume with right and wrong
sequences, tokens and sessions, misbehave, let time pass, end sessions and restart the server. After each of them
everything that arrived is held against the model, and the model against GET /v1/_dev/sessions.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

import trio
import trio.testing
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule

from chat.classes import define
from chat.development.answers import ShownSession
from chat.registries.close_codes import (
    ALREADY_AUTHENTICATED,
    DRAIN_REQUESTED,
    HEARTBEAT_TIMEOUT,
    INVALID_SEQUENCE,
    INVALID_TOKEN,
    NOT_AUTHENTICATED,
    TOO_MANY_SESSIONS,
    UNKNOWN_OPCODE,
    Close,
)
from chat.registries.opcodes import Opcode
from chat.testing import strategies
from chat.testing.gateway_client import ABNORMAL, PROPERTIES, GatewayClient
from chat.testing.gateway_model import ModelSession, ResumeOutcome
from chat.testing.stepped_run import SteppedMachine, in_run
from chat.testing.strategies.values import Body

SOCKETS: Final = 6
"""Sockets that are open at once."""

SESSIONS_PER_USER: Final = 3
"""The limit of the fresh server, low enough to be met."""

SETTLING_SECONDS: Final = 5.0
"""How long what is on its way to clients of a real server may take."""

SLICE_SECONDS: Final = 30.0
"""Time passes in slices; sockets send a Heartbeat before each."""

DRAIN_SECONDS: Final = 10.0
"""A session whose time ends during a restart may be there after it or not."""

ACTORS: Final = ("bob", "carol", "bot")

EXAMPLES_PART: Final = 4
"""One example of this machine costs as much as many of a pure function's: it gets a quarter of the profile's number."""

MACHINE_SETTINGS: Final = settings(
    max_examples=max(5, settings().max_examples // EXAMPLES_PART),
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
"""For a machine whose every step goes through a whole server; follows the Hypothesis profile that is loaded."""


@define(eq=False)
class Socket:
    """An open connection and the session that it holds."""

    client: GatewayClient
    session: ModelSession | None = None

    async def ends(self, now: Callable[[], float], close: Close) -> None:
        """It must close like this; its session is retained."""
        assert await self.client.closed() == close
        self.absorb()
        if self.session is not None:
            self.session.detach(now())

    def absorb(self) -> None:
        """Hold what has arrived against the session's model."""
        for payload in self.client.unread():
            if payload.op == Opcode.DISPATCH:
                assert self.session is not None, f"{payload} without a session"
                self.session.take(payload)


class GatewayMachine(SteppedMachine):
    server_settings = types.MappingProxyType({"gateway.sessions_per_user": SESSIONS_PER_USER})

    def __init__(self) -> None:
        super().__init__()
        self.sockets: list[Socket] = []
        self.sessions: list[ModelSession] = []

    async def leave(self) -> None:
        for socket in self.sockets:
            socket.client.drop()
        await super().leave()

    # What is known

    def _living(self, now: float) -> list[ModelSession]:
        return [session for session in self.sessions if session.lives(now) is not False]

    def _socket_of(self, session: ModelSession) -> Socket | None:
        return next((socket for socket in self.sockets if socket.session is session), None)

    def _pick(self, index: int) -> Socket:
        return self.sockets[index % len(self.sockets)]

    async def _closes(self, socket: Socket, close: Close) -> None:
        now = await self.moment()
        await socket.ends(lambda: now, close)
        self.sockets.remove(socket)

    def _let_go(self, socket: Socket, now: float) -> None:
        """The socket's session is retained from now on."""
        if socket.session is not None:
            socket.session.detach(now)
            socket.session = None

    # Sockets

    @precondition(lambda self: len(self.sockets) < SOCKETS)
    @rule(compressed=st.booleans())
    def open_socket(self, compressed: bool) -> None:
        """A new socket gets Hello."""
        self.run.call(self._open_socket, compressed)

    async def _open_socket(self, compressed: bool) -> None:
        client = await GatewayClient.connect(
            self.run.nursery, self.world.route, compressed=compressed, heartbeats=False
        )
        assert client.heartbeat_interval_ms == 41_250
        self.sockets.append(Socket(client))

    @precondition(lambda self: len(self.sockets) < SOCKETS)
    @rule(compressed=st.booleans(), name=st.sampled_from(ACTORS))
    def sign_in(self, compressed: bool, name: str) -> None:
        """A new socket that identifies at once, as clients do."""
        self.run.call(self._open_socket, compressed)
        actor = self.actor(name)
        self.run.call(self._identify, self.sockets[-1], name, {"token": actor.token, "properties": dict(PROPERTIES)})

    @precondition(lambda self: self.sessions and len(self.sockets) < SOCKETS)
    @rule(compressed=st.booleans(), which=st.integers(0, 20))
    def come_back(self, compressed: bool, which: int) -> None:
        """A new socket that resumes at once, as clients do."""
        session = self.sessions[-1 - which % len(self.sessions)]
        self.run.call(self._open_socket, compressed)
        self.run.call(self._resume, self.sockets[-1], session, session.owner, "received")

    @precondition(lambda self: self.sockets)
    @rule(index=st.integers(0, SOCKETS), how=st.sampled_from(["drop", "close", "half_close"]))
    @in_run
    async def break_socket(self, index: int, how: str) -> None:
        """However a socket ends, its session is retained."""
        socket = self._pick(index)
        socket.absorb()
        if how == "drop":
            socket.client.drop()
        elif how == "close":
            await socket.client.aclose(1000)
        else:
            await socket.client.half_close()
            await socket.client.closed()
        assert (await socket.client.closed()).code in {1000, ABNORMAL}
        await self._until(lambda shown: socket.session is None or not shown[socket.session.id]["attached"])
        socket.absorb()
        self._let_go(socket, await self.moment())
        self.sockets.remove(socket)

    # Sessions

    @precondition(lambda self: self.sockets)
    @rule(index=st.integers(0, SOCKETS), name=st.sampled_from(ACTORS), data=st.data())
    def identify(self, index: int, name: str, data: st.DataObject) -> None:
        """A session starts, unless the socket has one or the account has too many."""
        token = self.actor(name).token
        members = data.draw(strategies.identifies(st.just(token)).filter(lambda d: not d.get("ignored_events")))
        self.run.call(self._identify, self._pick(index), name, members)

    async def _identify(self, socket: Socket, name: str, members: Mapping[str, object]) -> None:
        now = await self.moment()
        mine = [session for session in self._living(now) if session.owner == name]
        await socket.client.send(Opcode.IDENTIFY, members)
        if socket.session is not None:
            await self._closes(socket, ALREADY_AUTHENTICATED)
        elif name != "bot" and not self.is_real and len(mine) >= SESSIONS_PER_USER:
            if all(session.lives(now, self.margin) for session in mine):
                await self._closes(socket, TOO_MANY_SESSIONS)
        else:
            ready = await socket.client.expect("READY")
            assert ready.sequence == 1
            socket.session = ModelSession(ready.data["session_id"], name)
            socket.session.take(ready)
            self.sessions.append(socket.session)

    @precondition(lambda self: self.sockets)
    @rule(index=st.integers(0, SOCKETS), token=st.sampled_from(["cht_" + "x" * 36, "1.secret", "Bot 1.secret", " "]))
    @in_run
    async def identify_with_a_bad_token(self, index: int, token: str) -> None:
        """4004, or 4005 on a socket that has a session."""
        socket = self._pick(index)
        await socket.client.identify(token)
        await self._closes(socket, INVALID_TOKEN if socket.session is None else ALREADY_AUTHENTICATED)

    @precondition(lambda self: self.sockets and self.sessions)
    @rule(
        index=st.integers(0, SOCKETS),
        which=st.integers(0, 20),
        owner=st.sampled_from([None, None, None, *ACTORS]),
        kind=st.sampled_from(["received", "current", "acknowledged", "below", "above", "negative"]),
    )
    def resume(self, index: int, which: int, owner: str | None, kind: str) -> None:
        """A Resume from any socket, of any session, with any token and sequence."""
        session = self.sessions[-1 - which % len(self.sessions)]
        self.run.call(self._resume, self._pick(index), session, owner or session.owner, kind)

    async def _resume(self, socket: Socket, session: ModelSession, owner: str, kind: str) -> None:
        now = await self.moment()
        if session.lives(now, self.margin) is None:
            return
        current = (await self.shown_sessions()).get(session.id, {"sequence": session.last})["sequence"]
        sequence = {
            "received": max(session.received, default=0),
            "current": current,
            "acknowledged": session.acknowledged,
            "below": session.acknowledged - 1,
            "above": current + 1,
            "negative": -1,
        }[kind]
        # A session on this very socket is detached before anything is judged (gateway.md, Resume): what follows is not
        # its own.
        socket.absorb()
        verdict = session.judge_resume(owner, sequence, current, now)
        await socket.client.resume(self.actor(owner).token, session.id, sequence)
        holder = self._socket_of(session)
        if isinstance(verdict, Close):
            await self._closes(socket, verdict)
        elif verdict is ResumeOutcome.INVALID_SESSION:
            await self._is_invalidated(socket, now)
        else:
            await self._is_resumed(socket, session, holder, sequence, now)

    async def _is_invalidated(self, socket: Socket, now: float) -> None:
        while (payload := await socket.client.next_payload()).op != Opcode.INVALID_SESSION:
            assert socket.session is not None
            socket.session.take(payload)
        assert payload.data is False
        self._let_go(socket, now)

    async def _is_resumed(
        self, socket: Socket, session: ModelSession, holder: Socket | None, sequence: int, now: float
    ) -> None:
        if holder is not None and holder is not socket:
            await self._is_displaced(holder, now)
        if socket.session is not session:
            self._let_go(socket, now)
        else:
            socket.session.detach(now)
        socket.session = session
        session.attach(sequence)
        while session.replaying_from is not None:
            payload = await socket.client.next_payload()
            assert payload.op == Opcode.DISPATCH
            session.take(payload)

    async def _is_displaced(self, holder: Socket, now: float) -> None:
        assert await holder.client.closed() == DRAIN_REQUESTED
        payloads = holder.client.unread()
        assert payloads[-1].op == Opcode.RECONNECT
        assert holder.session is not None
        for payload in payloads[:-1]:
            holder.session.take(payload)
        holder.session.detach(now)
        holder.session = None
        self.sockets.remove(holder)

    @precondition(lambda self: self.sessions)
    @rule(which=st.integers(0, 20))
    @in_run
    async def end_session(self, which: int) -> None:
        """A session that ends tells its socket, which stays."""
        session = self.sessions[-1 - which % len(self.sessions)]
        now = await self.moment()
        lives = session.lives(now, self.margin)
        struck = await self.world.anyone.fault("end_session", {"session_id": session.id})
        assert lives is None or struck == int(lives)
        socket = self._socket_of(session)
        session.end()
        if socket is not None:
            assert (await socket.client.expect_opcode(Opcode.INVALID_SESSION)).data is False
            socket.session = None

    # Traffic

    @rule(content=st.text("abc ", min_size=1, max_size=10).filter(str.strip), times=st.integers(1, 4))
    @in_run
    async def post(self, content: str, times: int) -> None:
        """What alice posts is owed to every session of the guild."""
        for _ in range(times):
            now = await self.moment()
            message = (await self.world.alice.rest.send_message(self.world.channel_id, content)).expect(200)
            for session in self._living(now):
                session.owed.append(message["id"])
        for socket in self.sockets:
            if socket.session is not None:
                await self._catch_up(socket)

    async def _catch_up(self, socket: Socket) -> None:
        session = socket.session
        while session is not None and session.owed:
            payload = await socket.client.next_payload()
            assert payload.op == Opcode.DISPATCH
            session.take(payload)

    @precondition(lambda self: self.sockets)
    @rule(index=st.integers(0, SOCKETS), data=st.data())
    def heartbeat(self, index: int, data: st.DataObject) -> None:
        """An acceptable sequence is acknowledged and remembered; without a session anything is acknowledged."""
        socket = self._pick(index)
        socket.absorb()
        current = 0 if socket.session is None else socket.session.last
        value = data.draw(strategies.heartbeats(current) | st.just(current))
        self.run.call(self._heartbeat, socket, value)

    async def _heartbeat(self, socket: Socket, value: int | None) -> None:
        before = socket.client.acknowledgements
        await socket.client.heartbeat(value)
        while socket.client.acknowledgements == before:
            payload = await socket.client.next_payload()
            if payload.op == Opcode.DISPATCH:
                assert socket.session is not None
                socket.session.take(payload)
        if socket.session is not None and value is not None:
            socket.session.acknowledge(value)

    @precondition(lambda self: self.sockets)
    @rule(index=st.integers(0, SOCKETS), data=st.data())
    def heartbeat_badly(self, index: int, data: st.DataObject) -> None:
        """4007 with a session; without one it is acknowledged."""
        socket = self._pick(index)
        socket.absorb()
        value = data.draw(strategies.invalid_heartbeats(0 if socket.session is None else socket.session.last + 100))
        self.run.call(self._heartbeat_badly, socket, value)

    async def _heartbeat_badly(self, socket: Socket, value: Any) -> None:
        if socket.session is None:
            await self._heartbeat(socket, value)
        else:
            await socket.client.heartbeat(value)
            await self._closes(socket, INVALID_SEQUENCE)

    @precondition(lambda self: self.sockets)
    @rule(index=st.integers(0, SOCKETS), payload=strategies.session_commands())
    @in_run
    async def command(self, index: int, payload: Body) -> None:
        """Commands to a session never close it; without one they close 4003."""
        socket = self._pick(index)
        await socket.client.send(payload["op"], payload["d"])
        if socket.session is None:
            await self._closes(socket, NOT_AUTHENTICATED)
        else:
            await self._heartbeat(socket, None)

    @precondition(lambda self: self.sockets)
    @rule(index=st.integers(0, SOCKETS), op=strategies.unknown_opcodes())
    @in_run
    async def unknown_opcode(self, index: int, op: int) -> None:
        """4001 with a session, 4003 without."""
        socket = self._pick(index)
        await socket.client.send(op, {})
        await self._closes(socket, NOT_AUTHENTICATED if socket.session is None else UNKNOWN_OPCODE)

    @precondition(lambda self: self.sockets)
    @rule(index=st.integers(0, SOCKETS), message=strategies.malformed_messages())
    @in_run
    async def malformed_message(self, index: int, message: tuple[bytes, Close]) -> None:
        """The close that the message brings about, in every state; compressed sockets decompress it first."""
        socket, (data, close) = self._pick(index), message
        client = socket.client
        await client.send_message(client.compress(data) if client.is_compressed else data)
        await self._closes(socket, close)

    # Time and fate

    @rule(seconds=st.sampled_from([0.5, 4.5, 10.0, 29.5, 59.0, 61.5]))
    @in_run
    async def wait(self, seconds: float) -> None:
        """Time passes, with Heartbeats."""
        while seconds > 0:
            for socket in list(self.sockets):
                await self._heartbeat(socket, None)
            await self.sleep(min(seconds, SLICE_SECONDS))
            seconds -= SLICE_SECONDS

    @precondition(lambda self: self.sockets and not self.is_real)
    @rule(index=st.integers(0, SOCKETS))
    @in_run
    async def fall_silent(self, index: int) -> None:
        """Who sends no Heartbeat is asked for one, and is closed 4009 after 45,000 ms."""
        silent = self._pick(index)
        await self._heartbeat(silent, None)
        for seconds in (SLICE_SECONDS, 14.9):
            for socket in self.sockets:
                if socket is not silent:
                    await self._heartbeat(socket, None)
            await trio.sleep(seconds)
        assert silent.client.is_open
        assert Opcode.HEARTBEAT in {payload.op for payload in silent.client.payloads}
        await self._closes(silent, HEARTBEAT_TIMEOUT)

    @precondition(lambda self: self.sockets and not self.is_real)
    @rule()
    @in_run
    async def restart(self) -> None:
        """Sockets are sent away; sessions are there again after the restart, for 60 s."""
        assert self.server is not None
        before = trio.current_time()
        surviving = [session for session in self.sessions if session.lives(before, DRAIN_SECONDS)]
        await self.server.restart()
        # A node outlives its core: a socket without a session has no reason to go.
        staying = [] if self.server.node is None else [socket for socket in self.sockets if socket.session is None]
        for socket in self.sockets:
            if socket in staying:
                continue
            assert await socket.client.closed() == DRAIN_REQUESTED
            arrived = [payload for payload in socket.client.unread() if payload.op != Opcode.HEARTBEAT_ACK]
            assert arrived[-1].op == Opcode.RECONNECT
            for payload in arrived[:-1]:
                assert socket.session is not None
                socket.session.take(payload)
        self.sockets = staying
        for socket in staying:
            await self._heartbeat(socket, None)
        now, shown = trio.current_time(), await self.shown_sessions()
        for session in self.sessions:
            session.detach(now)
            if session in surviving or session.id in shown:
                session.detached_at = now
            else:
                session.end()

    # What always holds

    @invariant()
    @in_run
    async def the_model_knows_every_session(self) -> None:
        """The server's sessions are the model's, and each is where the model has it."""
        with trio.move_on_after(SETTLING_SECONDS):
            while True:
                with suppress(AssertionError):
                    await self._compare_once()
                    return
                if not self.is_real:
                    break
                await trio.sleep(0.02)
        await self._compare_once()

    async def _compare_once(self) -> None:
        await self._let_arrive()
        now = await self.moment()
        shown = await self.shown_sessions()
        for session in self.sessions:
            lives = session.lives(now, self.margin)
            assert lives is None or lives == (session.id in shown), f"{session.id}: alive should be {lives}"
            if session.id in shown:
                session.check(shown[session.id])
        assert set(shown) <= {session.id for session in self.sessions}

    async def _let_arrive(self) -> None:
        if not self.is_real:
            await trio.testing.wait_all_tasks_blocked()
        for socket in self.sockets:
            assert socket.client.is_open, f"a socket closed by itself: {socket.client.close_frame}"
            socket.absorb()

    async def _until(self, holds: Callable[[dict[str, ShownSession]], bool]) -> None:
        with trio.fail_after(SETTLING_SECONDS):
            while not holds(await self.shown_sessions()):  # noqa: ASYNC110 - the server is asked; it does not call back
                await trio.sleep(0.01)


GatewayMachine.TestCase.settings = MACHINE_SETTINGS
