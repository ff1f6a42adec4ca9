"""Simulated clients: each wants to be connected and hear everything, and has bad luck all the time."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Final

import trio

from chat.registries.close_codes import CLOSES, INVALID_SEQUENCE, SESSION_UNAVAILABLE, Close
from chat.registries.opcodes import Opcode
from chat.testing.gateway_client import (
    ABNORMAL,
    GatewayClient,
    GatewayClosed,
    HandshakeRefused,
    NothingArrived,
    ServerPayload,
)
from chat.testing.gateway_model import RETENTION_SECONDS
from chat.testing.world import Actor
from tests.simulation.history import History
from tests.simulation.sessions import SimulatedSession

OWN_CLOSES: Final = (1000, 4999)
"""Codes that clients close with; the server's close frame repeats them (RFC 6455, section 5.5.1)."""

KNOWN_CLOSES: Final = frozenset(CLOSES) | {Close(code, "") for code in (ABNORMAL, *OWN_CLOSES)}

PATIENCE_SECONDS: Final = 20.0
"""How long a client waits for Ready or Resumed before it gives up and connects anew."""

MISFORTUNES: Final = (
    ("drop", 6),
    ("close", 3),
    ("half_close", 2),
    ("stall", 3),
    ("stop_reading", 2),
    ("displace", 3),
    ("bad_heartbeat", 1),
    ("resume_from_too_low", 1),
    ("garbage", 1),
    ("identify_again", 1),
    ("silence", 1),
)
"""What may end a time online, and how likely it is."""


class SimulatedClient:
    """One program of one account. `turn` counts the steps of the simulation; `nursery` holds its sockets."""

    def __init__(
        self,
        name: str,
        actor: Actor,
        chance: random.Random,
        history: History,
        nursery: trio.Nursery,
        turn: Callable[[], int],
    ) -> None:
        self.name = name
        self.actor = actor
        self.chance = chance
        self.history = history
        self.session: SimulatedSession | None = None
        self.client: GatewayClient | None = None
        self.calm = False
        """No more misfortunes: connect, catch up, stay."""
        self.caught_up = False
        self._nursery = nursery
        self._turn = turn
        self._compressed = chance.random() < 0.3
        self._lost_at = 0.0

    # A life

    async def live(self) -> None:
        """Connect, have bad luck, come back; until cancelled."""
        try:
            while True:
                try:
                    await self._be_online()
                except (GatewayClosed, NothingArrived, HandshakeRefused, OSError) as error:
                    self.history.note(self.name, f"lost: {type(error).__name__}")
                self._lose_socket()
                await trio.sleep(self._pause())
        finally:
            self._lose_socket()

    def _pause(self) -> float:
        """How long until the next attempt; now and then longer than a session is retained."""
        if self.calm:
            return self.chance.uniform(0.1, 1.0)
        if self.chance.random() < 0.08:
            self.history.reach("away for longer than the retention")
            return self.chance.uniform(RETENTION_SECONDS, 2 * RETENTION_SECONDS)
        return self.chance.choice((0.0, 0.01, 0.3, 2.0, 7.0, self.chance.uniform(0, 50)))

    async def _be_online(self) -> None:
        self.client = client = await self.actor.open(compressed=self._compressed)
        if self.session is not None and not self.session.ended:
            await self._resume(client, self.session)
        else:
            await self._identify(client)
        if self.calm:
            self.caught_up = True
            await self._read(client, float("inf"))
        await self._read(client, self.chance.choice((0.0, 1.0, 10.0, self.chance.uniform(0, 120))))
        await self._misfortune(client)

    async def _identify(self, client: GatewayClient) -> None:
        await client.identify(self.actor.token)
        ready = await client.expect("READY", seconds=PATIENCE_SECONDS)
        session_id = ready.data["session_id"]
        self.session = SimulatedSession(session_id, self.actor.id, ready_at=self._turn())
        self._take(self.session, ready)
        if self.actor.token != self.actor.rest.token:  # a bot: its guilds follow
            while not self.session.guild:
                self._take(self.session, await client.next_payload(seconds=PATIENCE_SECONDS))

    async def _resume(self, client: GatewayClient, session: SimulatedSession) -> None:
        before = session.last
        self.history.note(self.name, f"resumes {session.id} from {before}")
        await client.resume(self.actor.token, session.id, before)
        client.session_id = session.id
        session.attach(before)
        if not self.calm and self.chance.random() < 0.2:
            await self._dawdle(client)
        while True:
            payload = await client.next_payload(seconds=PATIENCE_SECONDS)
            if payload.op == Opcode.INVALID_SESSION:
                await self._lose_session(client, session)
                return
            self._take(session, payload)
            if session.replaying_from is None:
                break
        self.history.reach("resumed")
        if session.last > before:
            self.history.reach("resumed with a replay")

    async def _dawdle(self, client: GatewayClient) -> None:
        """Leave a replay on the way for a while, so that live events have to wait for it."""
        client.stop_reading()
        await trio.sleep(self.chance.uniform(0, 8))
        client.go_on_reading()

    async def _lose_session(self, client: GatewayClient, session: SimulatedSession) -> None:
        self.history.note(self.name, f"{session.id} is invalid")
        self.history.reach("invalid session")
        if trio.current_time() > self._lost_at + RETENTION_SECONDS:
            self.history.reach("session expired")
        session.end()
        await self._identify(client)

    async def _read(self, client: GatewayClient, seconds: float) -> None:
        """Take what arrives during `seconds`."""
        ends = trio.current_time() + seconds
        while (left := ends - trio.current_time()) > 0:
            try:
                payload = await client.next_payload(seconds=left)
            except NothingArrived:
                return
            await self._hear(client, payload)

    async def _hear(self, client: GatewayClient, payload: ServerPayload) -> None:
        if payload.op == Opcode.INVALID_SESSION:
            self.history.reach("session ended under its socket")
            if self.session is not None:
                self.session.end()
            await self._identify(client)
        elif payload.op == Opcode.RECONNECT:
            self.history.reach("told to reconnect")
        elif self.session is not None:
            self._take(self.session, payload)

    def _take(self, session: SimulatedSession, payload: ServerPayload) -> None:
        if payload.op == Opcode.DISPATCH:
            self.history.note(self.name, f"{session.id} {payload.sequence} {payload.name}")
            session.take(payload)

    def _lose_socket(self) -> None:
        """The end of a socket, whoever brought it about."""
        client, self.client = self.client, None
        self.caught_up = False
        self._lost_at = trio.current_time()
        if client is None:
            return
        if client.close_frame is not None:
            self.history.note(self.name, f"closed {client.close_frame.code} {client.close_frame.reason}")
            assert client.close_frame in KNOWN_CLOSES, client.close_frame
            self.history.reach(f"closed {client.close_frame.code} {client.close_frame.reason}")
        client.drop()
        if self.session is not None:
            self._absorb(client, self.session)
            self.session.detach(trio.current_time())

    def _absorb(self, client: GatewayClient, session: SimulatedSession) -> None:
        """Process what has arrived: a Heartbeat may have acknowledged it already."""
        for payload in client.unread():
            if not session.ended:
                self._take(session, payload)

    # Bad luck

    async def _misfortune(self, client: GatewayClient) -> None:
        kinds, weights = zip(*MISFORTUNES, strict=True)
        kind = self.chance.choices(kinds, weights)[0]
        self.history.note(self.name, kind)
        await getattr(self, f"_{kind}")(client)

    async def _drop(self, client: GatewayClient) -> None:
        client.drop()

    async def _close(self, client: GatewayClient) -> None:
        await client.aclose(self.chance.choice(OWN_CLOSES))

    async def _half_close(self, client: GatewayClient) -> None:
        await client.half_close()
        await self._read(client, 10)

    async def _stall(self, client: GatewayClient) -> None:
        client.stall()
        await trio.sleep(self.chance.choice((1.0, 20.0, 50.0)))
        client.unstall()
        await self._read(client, 5)

    async def _stop_reading(self, client: GatewayClient) -> None:
        client.heartbeats = self.chance.random() < 0.5
        client.stop_reading()
        await trio.sleep(self.chance.choice((1.0, 20.0, 50.0)))
        client.go_on_reading()
        await self._read(client, 5)

    async def _displace(self, client: GatewayClient) -> None:
        """Resume on a second socket while the first is open, as a client does that does not trust the first."""
        session = self.session
        if session is None or session.ended:
            return
        client.heartbeats = False
        second = await self.actor.open()
        self._absorb(client, session)
        session.detach(trio.current_time())
        self.client = second
        await self._resume(second, session)
        close = await client.closed(seconds=PATIENCE_SECONDS)
        self.history.note(self.name, f"displaced, closed {close.code}")
        self.history.reach("displaced")
        late = [payload for payload in client.unread() if payload.op == Opcode.DISPATCH]
        for payload in late:
            assert payload.sequence is not None
            assert payload.sequence in session.received, f"{payload.name} went to the displaced socket only"
        await self._read(second, self.chance.uniform(0, 20))

    async def _bad_heartbeat(self, client: GatewayClient) -> None:
        await client.heartbeat(self.chance.choice(("one", -1, 10**9, 1.5)))
        await self._read(client, 5)

    async def _resume_from_too_low(self, client: GatewayClient) -> None:
        """Acknowledge, then resume from before: 4007, and the session is none the worse."""
        session = self.session
        if session is None or session.ended or session.last < 2:
            return
        client.heartbeats = False
        self._absorb(client, session)
        before, sequence = client.acknowledgements, session.last
        await client.heartbeat(sequence)
        await self._read(client, 1)
        if client.acknowledgements == before or not client.is_open or session.ended:  # under its socket, meanwhile
            return
        session.acknowledge(sequence)
        impatient = await self.actor.open()
        await impatient.resume(self.actor.token, session.id, sequence - 1)
        with trio.move_on_after(PATIENCE_SECONDS):
            await impatient.closed(seconds=2 * PATIENCE_SECONDS)
        close = impatient.close_frame
        assert close is not None, f"{session.id} was resumed from {sequence - 1}, below what it acknowledged"
        self.history.note(self.name, f"from too low: {close.code} {close.reason}")
        assert close in {INVALID_SEQUENCE, SESSION_UNAVAILABLE}, close
        self.history.reach("resumed from too low")

    async def _garbage(self, client: GatewayClient) -> None:
        await client.send_message(self.chance.choice(("{", "[]", "", b"\xff", "x" * 20_000)))
        await self._read(client, 5)

    async def _identify_again(self, client: GatewayClient) -> None:
        await client.identify(self.actor.token)
        await self._read(client, 5)

    async def _silence(self, client: GatewayClient) -> None:
        client.heartbeats = False
        await self._read(client, 50)
