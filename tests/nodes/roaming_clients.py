"""Clients of a simulated cluster: each time that they connect they come to another place, and they hurry."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from typing import Final

import attrs
import trio

from chat.registries.close_codes import INVALID_SEQUENCE, INVALID_TOKEN, SESSION_UNAVAILABLE
from chat.registries.opcodes import Opcode
from chat.testing.gateway_client import ABNORMAL, GatewayClient, GatewayClosed
from chat.testing.network import Route
from chat.testing.rest_client import NoAnswer, RestClient
from chat.testing.world import Actor
from tests.nodes.ledger import Ear, Ledger
from tests.simulation.clients import PATIENCE_SECONDS, SimulatedClient
from tests.simulation.history import History
from tests.simulation.sessions import SimulatedSession

MISFORTUNES: Final = (
    ("drop", 5),
    ("hop", 9),
    ("stop_reading", 2),
    ("stall", 1),
    ("close", 1),
    ("resume_wrongly", 2),
    ("revoke", 3),
    ("silence", 1),
)
"""What may end a time online, and how likely it is."""

SLOW: Final = frozenset({"stop_reading", "stall", "silence"})
"""Those after which a session may have outlived its retention."""

LOOK_SECONDS: Final = 0.05

TOLD_SECONDS: Final = 90.0
"""By then a session that was revoked is told, whatever else goes wrong meanwhile."""


class RoamingActor(Actor):
    """An account that comes to another place with each socket, and whose every socket the ledger hears."""

    def __init__(self, actor: Actor, places: Callable[[], tuple[str, Route]], ledger: Ledger, nursery: trio.Nursery):
        super().__init__(actor.id, actor.token, "", places()[1], nursery, name=actor.name)
        self.rest = actor.rest
        self._places = places
        self._ledger = ledger
        self._sockets = 0
        self.ears: dict[GatewayClient, Ear] = {}

    async def open(
        self,
        *,
        compressed: bool = False,
        heartbeats: bool = True,
        query: str | None = None,
        hello: bool = True,
        route: Route | None = None,
    ) -> GatewayClient:
        place, there = self._places()
        self._sockets += 1
        ear = Ear(self._ledger, f"{self.name}.{self._sockets}@{place}")
        client = await super().open(
            compressed=compressed,
            heartbeats=heartbeats,
            query=query,
            hello=hello,
            route=(there if route is None else route).noted_in(ear),
        )
        ear.client = client
        self.ears[client] = ear
        return client


@attrs.define
class Credentials:
    """How an account whose sessions are revoked comes by the next one."""

    email: str
    password: str
    route: Route


class RoamingClient(SimulatedClient):
    """One program. With `credentials` it signs out now and then, and in again."""

    actor: RoamingActor

    def __init__(
        self,
        name: str,
        actor: RoamingActor,
        chance: random.Random,
        history: History,
        nursery: trio.Nursery,
        turn: Callable[[], int],
        *,
        ledger: Ledger,
        credentials: Credentials | None = None,
        is_away: Callable[[], bool] = lambda: False,
        hurries: bool = False,
    ) -> None:
        super().__init__(name, actor, chance, history, nursery, turn)
        actor.name = name
        self.sessions: list[SimulatedSession] = []
        self.excused: set[str] = set()
        """Sessions that may have missed messages: their account was sent away meanwhile."""
        self._ledger = ledger
        self._credentials = credentials
        self._signed_in = credentials is None
        self._is_away = is_away
        self._misfortunes = [each for each in MISFORTUNES if not hurries or each[0] not in SLOW]
        self._hurries = hurries
        self._spare: list[GatewayClient] = []

    def _pause(self) -> float:
        if self.calm:
            return self.chance.uniform(0.1, 1.0)
        if self._hurries:
            return self.chance.choice((0.0, 0.01, 0.3, 2.0))
        return self.chance.choice((0.0, 0.0, 0.01, 0.3, 2.0, 4.0, self.chance.uniform(0, 20)))

    async def _be_online(self) -> None:
        if not self._signed_in and self._credentials is not None:
            await self._sign_in(self._credentials)
        await super()._be_online()

    async def _sign_in(self, credentials: Credentials) -> None:
        stranger = RestClient(credentials.route)
        try:
            answer = await stranger.login(email=credentials.email, password=credentials.password)
        except (NoAnswer, trio.TooSlowError) as error:
            raise OSError("not signed in") from error
        finally:
            await stranger.aclose()
        if answer.status != 200:
            raise OSError(f"not signed in: {answer.status}")
        self.actor.token = answer.json()["token"]
        self.actor.rest = RestClient(credentials.route, self.actor.token)
        self._signed_in = True

    async def _identify(self, client: GatewayClient) -> None:
        await super()._identify(client)
        assert self.session is not None
        self.sessions.append(self.session)
        if self._is_away():
            self.excused.add(self.session.id)

    async def _read(self, client: GatewayClient, seconds: float) -> None:
        if self.chance.random() < 0.5:
            await self._command(client)
        await super()._read(client, seconds)

    async def _command(self, client: GatewayClient) -> None:
        if self.session is None or not self.session.guild:
            return
        guild_id = self.session.guild["id"] if "id" in self.session.guild else self.session.guild["properties"]["id"]
        match self.chance.randrange(3):
            case 0:
                await client.update_presence(self.chance.choice(("idle", "dnd", "online")))
            case 1:
                await client.request_members(guild_id, limit=10)
            case _:
                await client.watch(guild_id, active=self.chance.random() < 0.5, sync=False)

    def _lose_socket(self) -> None:
        if self.client is not None and self.client.close_frame == INVALID_SEQUENCE:
            self._ledger.wrong(f"{self.name} came with the sequence that it was sent, which was refused")
        super()._lose_socket()
        for spare in self._spare:
            spare.drop()
        self._spare.clear()

    # Bad luck

    async def _misfortune(self, client: GatewayClient) -> None:
        kinds, weights = zip(*self._misfortunes, strict=True)
        kind = self.chance.choices(kinds, weights)[0]
        self.history.note(self.name, kind)
        misfortune: Callable[[GatewayClient], Awaitable[None]] = getattr(self, f"_{kind}")
        await misfortune(client)

    async def _hop(self, client: GatewayClient) -> None:
        """Resume at one place, or at several before the first has answered."""
        session = self.session
        if session is None or session.ended:
            return
        client.heartbeats = False
        if self.chance.random() < 0.5:
            client.drop()
        self._spare.append(client)
        self._absorb(client, session)
        session.detach(trio.current_time())
        before = session.last
        sockets: list[GatewayClient] = []
        for _ in range(self.chance.choice((1, 2, 2, 3))):
            second = await self.actor.open(compressed=self._compressed)
            self._spare.append(second)
            sockets.append(second)
            if len(sockets) == 1:  # what came while it was opened
                self._absorb(client, session)
                before = session.last
            await second.resume(self.actor.token, session.id, before)
            await trio.sleep(self.chance.choice((0.0, 0.0, 0.002, 0.05, 1.0, 3.5)))
        self.client = None
        await self._settle(sockets, session, before)

    async def _settle(self, sockets: list[GatewayClient], session: SimulatedSession, before: int) -> None:
        """Go on with the socket that was answered last, once each is answered."""
        with trio.move_on_after(PATIENCE_SECONDS):
            while not all(_is_answered(socket) for socket in sockets):  # noqa: ASYNC110 - virtual time
                await trio.sleep(LOOK_SECONDS)
        resumed = [socket for socket in sockets if socket.is_open and self._has_resumed(socket)]
        refused = [socket for socket in sockets if socket.is_open and socket not in resumed and _is_invalid(socket)]
        if resumed:
            winner = max(resumed, key=lambda socket: self.actor.ears[socket].turn)
        elif refused:
            winner = refused[0]
        else:
            raise GatewayClosed(SESSION_UNAVAILABLE, "an answer to a Resume")
        if len(sockets) > 1:
            self.history.reach("several Resumes at once")
        self._spare.remove(winner)
        self.client = winner
        session.attach(before)
        for payload in winner.unread():
            if payload.op == Opcode.INVALID_SESSION:
                await self._lose_session(winner, session)
                return
            self._take(session, payload)
        for other in refused:
            ear = self.actor.ears[other]
            assert ear.refused_at > self.actor.ears[winner].turn, (
                f"{session.id} was called invalid at {ear.who}, and lived"
            )
        self.history.reach("resumed")
        await self._read(winner, self.chance.uniform(0, 10))

    def _has_resumed(self, client: GatewayClient) -> bool:
        return self.actor.ears[client].turn > 0

    async def _resume_wrongly(self, client: GatewayClient) -> None:
        """From a sequence that the session does not know, or with another account's token: it is none the worse."""
        session = self.session
        if session is None or session.ended:
            return
        other = await self.actor.open()
        self._spare.append(other)
        token, sequence = self.actor.token, session.last + 100_000
        if self.chance.random() < 0.3:
            token, sequence = "nonsense", session.last
        await other.resume(token, session.id, sequence)
        with trio.move_on_after(PATIENCE_SECONDS):
            while not _is_answered(other):  # noqa: ASYNC110 - virtual time
                await trio.sleep(LOOK_SECONDS)
        assert not self._has_resumed(other), f"{session.id} was resumed from {sequence}"
        close = other.close_frame
        if close is not None:
            refusals = {INVALID_SEQUENCE.code, INVALID_TOKEN.code, SESSION_UNAVAILABLE.code, ABNORMAL}
            assert close.code in refusals, close
            self.history.reach(f"resumed wrongly: {close.code}")
        await self._read(client, self.chance.uniform(0, 5))

    async def _revoke(self, client: GatewayClient) -> None:
        """Sign out while a Resume is on its way: every socket is told, and hears nothing more."""
        session, credentials = self.session, self._credentials
        if session is None or session.ended or credentials is None:
            return
        other = await self.actor.open()
        self._spare.append(other)
        await other.resume(self.actor.token, session.id, session.last)
        await trio.sleep(self.chance.choice((0.0, 0.0, 0.001, 0.01, 0.1, 1.0)))
        rest, self._signed_in = self.actor.rest, False
        try:
            status = (await rest.logout()).status
        except (NoAnswer, OSError, trio.TooSlowError):
            status = 0
        finally:
            await rest.aclose()
        self.history.note(self.name, f"signs out: {status}")
        session.end()
        self.session = None
        if status != 204:
            return
        self.history.reach("revoked in the middle of a transfer")
        self._ledger.revoked[session.id] = self._turn()
        with trio.move_on_after(TOLD_SECONDS):
            while not all(map(_is_told, (client, other))):  # noqa: ASYNC110 - virtual time
                await trio.sleep(LOOK_SECONDS)
        for socket in (client, other):
            assert _is_told(socket), f"{session.id} was revoked, and nobody told {self.actor.ears[socket].who}"


def _is_told(client: GatewayClient) -> bool:
    """Whether a socket has learnt that its session is over, or displaced, or is gone itself."""
    return not client.is_open or _is_invalid(client)


def _is_invalid(client: GatewayClient) -> bool:
    return any(payload.op == Opcode.INVALID_SESSION for payload in client.payloads)


def _is_answered(client: GatewayClient) -> bool:
    """Whether a Resume has its answer."""
    return _is_told(client) or any(payload.name == "RESUMED" for payload in client.payloads)
