"""A stage for dialogues about client commands: a world, a hub, the command handler, and clients without sockets."""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any

import orjson
import trio

from chat.auth.principal import Principal
from chat.bus.audience import ToGuild
from chat.bus.bus import Event, GuildStateChanged
from chat.domain.presence.account_presence import SessionPresence
from chat.domain.presence.presences import Presences
from chat.domain.presence.voice_states import VoiceStates
from chat.domain.standing.rosters import Rosters
from chat.domain.standing.thread_access import ThreadLookup
from chat.domain.standing.user_objects import find_partial_user, partial_user
from chat.gateway.commands.handler import CommandHandler
from chat.gateway.fanout import Fanout
from chat.gateway.guild_payloads import GuildPayloads
from chat.gateway.hub import Hub
from chat.gateway.session import GatewaySession
from chat.gateway.session_table import SessionTable
from chat.gateway.subscriptions import Subscriptions
from chat.protocol.commands import SessionCommand
from chat.protocol.frames import EventRun, OutgoingEvent
from chat.registries.close_codes import Close
from chat.registries.events import EventName
from chat.registries.opcodes import Opcode
from tests.guilds.guild_world import GuildPlace, GuildWorld


class Client:
    """A socket that holds a session, and what it received: Dispatches as (name, d), other payloads whole."""

    def __init__(self, stage: Stage, session: GatewaySession) -> None:
        self.stage = stage
        self.session = session
        self.dispatches: list[tuple[str, Any]] = []
        self.payloads: list[Any] = []
        session.receiver = self

    # What the session asks of its socket

    def deliver(self, sequence: int, event: OutgoingEvent) -> None:
        self.dispatches.append((event.name, orjson.loads(event.data)))

    def deliver_run(self, first: int, run: EventRun) -> None:
        for sequence, event in enumerate(run.events, first):
            self.deliver(sequence, event)

    def send_payload(self, payload: bytes) -> None:
        self.payloads.append(orjson.loads(payload))

    def session_ended(self) -> None:
        """Nothing that these tests look at."""

    def displaced(self) -> None:
        """Nothing that these tests look at."""

    async def drained(self, below_bytes: int) -> None:
        await trio.lowlevel.checkpoint()

    # What the client does

    def sends(self, opcode: Opcode, d: Any) -> Close | None:
        """Send a command; returns how it closes the socket."""
        return self.stage.commands.handle(self.session, SessionCommand(opcode, d))

    async def asks(self, opcode: Opcode, d: Any) -> list[tuple[str, Any]]:
        """Send a command and wait until nothing happens any more; returns what was received meanwhile."""
        await self.stage.settled()
        before = len(self.dispatches)
        assert self.sends(opcode, d) is None
        await self.stage.settled()
        return self.dispatches[before:]

    def heard(self, name: EventName) -> list[Any]:
        """The payloads of every Dispatch of this name so far."""
        return [data for heard, data in self.dispatches if heard == name]

    def drops(self) -> None:
        """The socket goes; the session is retained."""
        self.stage.commands.socket_closed(self.session)
        self.session.receiver = None

    def resumes(self) -> None:
        """A socket takes the session up again."""
        self.session.receiver = self
        self.stage.commands.session_resumed(self.session)


class Stage:
    """The gateway without sockets, on the services of a world. `run` must be running."""

    def __init__(self, world: GuildWorld, *, rate_limited: bool) -> None:
        self.world = world
        self.friends: dict[int, tuple[int, ...]] = {}
        numbers = itertools.count(1)
        self.presences = Presences(
            world.bus,
            world.clock,
            friends_of=lambda user_id: self.friends.get(user_id, ()),
            partial_user_of=partial(find_partial_user, world.database),
        )
        self.voice_states = VoiceStates(
            world.bus, world.guild_states, world.clock, random_hex=lambda characters: f"{next(numbers):0{characters}x}"
        )
        self.rosters = Rosters(world.database, world.bus)
        self.table = SessionTable()
        self.fanout = Fanout()
        self.subscriptions = Subscriptions()
        guild_payloads = GuildPayloads(
            world.guild_states, self.presences, self.voice_states, ThreadLookup(world.database)
        )
        self.hub = Hub(
            world.guild_states,
            self.presences,
            self.voice_states,
            self.table,
            self.fanout,
            self.subscriptions,
            guild_payloads,
        )
        self.commands = CommandHandler(
            hub=self.hub,
            subscriptions=self.subscriptions,
            guild_payloads=guild_payloads,
            bus=world.bus,
            presences=self.presences,
            voice_states=self.voice_states,
            rosters=self.rosters,
            database=world.database,
            clock=world.clock,
            rate_limited=rate_limited,
        )
        self.hub.listen(world.bus)
        self._session_numbers = itertools.count(1)

    async def run(self) -> None:
        """Deliver and carry out commands until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.fanout.run)
            nursery.start_soon(self.commands.run)

    async def settled(self) -> None:
        """Return when nobody has anything to do but to wait for the time to pass."""
        await trio.testing.wait_all_tasks_blocked()

    def connect(self, person: Principal, *guilds: GuildPlace, status: str = "online", threads: bool = False) -> Client:
        """A client of the account, its session connected to these guilds."""
        session = GatewaySession(
            f"session {next(self._session_numbers)}",
            user_id=person.user_id,
            bot=person.is_bot,
            is_staff=False,
            session_id_hash=None,
            shard=None,
            threads=threads or person.is_bot,
            debounces_reactions=False,
            ignored_events=frozenset(),
            presence=SessionPresence(status),
        )
        session.starting = None
        client = Client(self, session)
        self.table.add(session)
        for guild in guilds:
            self.hub.connect(session, guild.id)
        self.presences.session_selected(person.user_id, session.id, session.presence)
        return client

    def end(self, client: Client) -> None:
        """The session is over."""
        self.hub.disconnect_everywhere(client.session)
        self.presences.session_closed(client.session.user_id, client.session.id)
        self.table.end(client.session)

    async def crowd(self, guild: GuildPlace, number: int) -> list[int]:
        """Put as many more members into the guild by hand; returns their ids."""
        first = 1_000_000
        user_ids = list(range(first, first + number))

        def write(connection: Any) -> None:
            connection.executemany(
                """
                INSERT INTO users (id, username, username_key, discriminator, created_at)
                VALUES (?1, 'm' || ?1, 'm' || ?1, 1, 0)
                """,
                [(user_id,) for user_id in user_ids],
            )
            connection.executemany(
                "INSERT INTO members (guild_id, user_id, joined_at) VALUES (?, ?, 0)",
                [(guild.id, user_id) for user_id in user_ids],
            )
            connection.execute("UPDATE guilds SET member_count = member_count + ? WHERE id = ?", (number, guild.id))

        await self.world.database.write(write)
        self.world.guild_states.refresh(guild.id)
        return user_ids

    def tell_of_member(self, guild: GuildPlace, user_id: int) -> None:
        """Publish that a member changed, as the operations on members do."""
        member, account = guild.state.member(user_id), guild.state.account(user_id)
        assert member is not None
        assert account is not None
        data = {**guild.state.member_object(member, partial_user(account)), "guild_id": str(guild.id)}
        self.world.bus.publish(Event(EventName.GUILD_MEMBER_UPDATE, data, ToGuild(guild.id)))

    def tell_of_guild(self, guild: GuildPlace) -> None:
        """Publish that roles, channels or overwrites changed."""
        self.world.bus.publish(GuildStateChanged(guild.id))
