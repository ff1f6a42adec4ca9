"""What guilds are accepted by: two hundred members at once join, speak, are moderated and leave for a minute, and in
the end every one of them knows what a fresh client is told."""

from __future__ import annotations

import functools
import random
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import attrs
import pytest
import trio
import trio.testing

from chat.auth.tokens import token_hash
from chat.registries.permissions import Permission
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.signing_in import auth_sessions
from chat.store.signing_in.auth_sessions import AuthSession
from chat.testing.gateway_client import GatewayClient
from chat.testing.rest_client import Response
from chat.testing.server import ChatServer, open_chat_server
from chat.testing.world import Actor, World
from tests.simulation.client_model import ClientModel
from tests.simulation.guild_history import without_doubtful

CHANNEL_THREADS: Final = 1 << 2
FIRST_ID: Final = 1_000_000
AGE_MS: Final = 86_400_000
ADMINISTRATOR: Final = str(Permission.ADMINISTRATOR.value)
SEND: Final = str(Permission.SEND_MESSAGES.value)
VIEW: Final = str(Permission.VIEW_CHANNEL.value)


async def newcomers(server: ChatServer, world: World, count: int) -> list[Actor]:
    """`count` accounts with a credential, each from an address of its own where that is possible."""
    now = server.clock.now_ms()
    found = []

    def write(connection: sqlite3.Connection) -> None:
        for number in range(count):
            account = Account(
                id=FIRST_ID + number,
                username=f"newcomer{number}",
                discriminator=1,
                email=f"newcomer{number}@example.com",
                email_verified=True,
                created_at=now - AGE_MS,
            )
            accounts.insert(connection, account)
            auth_sessions.insert(connection, AuthSession(token_hash(_token(number)), account.id, now, now))

    await server.database.write(write)
    for number in range(count):
        route = server.route(f"10.0.{number}.1")
        found.append(Actor(str(FIRST_ID + number), _token(number), _token(number), route, world.nursery))
    return found


def _token(number: int) -> str:
    return f"cht_{number:036d}"


@attrs.define(eq=False)
class Resident:
    """A newcomer with the session that it keeps for the whole time."""

    actor: Actor
    threads: bool
    client: GatewayClient
    model: ClientModel

    @classmethod
    async def arriving(cls, actor: Actor, *, threads: bool) -> Resident:
        """Connect before anything happens."""
        client, model = await knowing(actor, threads=threads)
        return cls(actor, threads, client, model)

    async def is_as_a_fresh_one(self) -> None:
        """What this session knows is what a fresh one is told."""
        for payload in self.client.unread():
            self.model.take(payload.name, payload.data)
        client, fresh = await knowing(self.actor, threads=self.threads)
        client.drop()
        known, told = self.model.picture(), fresh.picture()
        without_doubtful(known, told)
        assert known == told


async def knowing(actor: Actor, *, threads: bool) -> tuple[GatewayClient, ClientModel]:
    """A new session, and what Ready tells it."""
    client = await actor.open()
    await client.identify(actor.token, flags=CHANNEL_THREADS if threads else 0)
    return client, ClientModel((await client.expect("READY")).data, threads=threads)


class Minute:
    """Everybody lives for a while; answers are written down."""

    def __init__(self, world: World, residents: Sequence[Resident], chance: random.Random, seconds: float) -> None:
        self.world = world
        self.residents = residents
        self.chance = chance
        self.ends = trio.current_time() + seconds
        self.seconds = seconds
        self.statuses: dict[str, list[int]] = {}
        self.code = ""

    async def run(self) -> None:
        """All of them at once."""
        invite = await self.world.alice.rest.create_channel_invite(self.world.channel_id, max_age=0)
        self.code = invite.expect(200)["code"]
        made = await self.world.alice.rest.post(self._guild("roles"), {"name": "mods", "permissions": ADMINISTRATOR})
        role_id = made.expect(200)["id"]
        (await self.world.alice.rest.put(self._guild(f"members/{self.world.bob.id}/roles/{role_id}"))).expect(204)
        async with trio.open_nursery() as nursery:
            for resident in self.residents:
                nursery.start_soon(self._live, resident.actor)
            for moderator in (self.world.alice, self.world.bob):
                nursery.start_soon(self._moderate, moderator)

    def _guild(self, rest: str) -> str:
        return f"/v1/guilds/{self.world.guild_id}/{rest}"

    async def _do(self, kind: str, ask: Callable[[], Awaitable[Response]]) -> Response:
        answer = await ask()
        assert answer.status < 500, (kind, answer.status, answer.body)
        self.statuses.setdefault(kind, []).append(answer.status)
        return answer

    async def _live(self, actor: Actor) -> None:
        """Join, speak, and leave or stay; whoever was taken out comes back now and then."""
        await trio.sleep(self.chance.uniform(0, self.seconds / 3))
        while trio.current_time() < self.ends:
            await self._do("join", lambda: actor.rest.accept_invite(self.code))
            await trio.sleep(self.chance.uniform(0, self.seconds / 3))
            await self._do("speak", lambda: actor.rest.send_message(self.world.channel_id, "hello"))
            await trio.sleep(self.chance.uniform(0, self.seconds / 3))
            if self.chance.random() < 0.5:
                return
            await self._do("leave", lambda: actor.rest.delete(f"/v1/users/@me/guilds/{self.world.guild_id}"))
            await trio.sleep(self.chance.uniform(0, self.seconds / 3))

    async def _moderate(self, moderator: Actor) -> None:
        """Roles, channels, overwrites, kicks, bans and their end, a few times a second."""
        rest, chance = moderator.rest, self.chance
        role = (await self._do("role", lambda: rest.post(self._guild("roles"), {"name": "quiet"}))).expect(200)["id"]
        room = (
            await self._do("channel", lambda: rest.post(self._guild("channels"), {"name": "back", "type": 0}))
        ).expect(200)["id"]
        steps: Sequence[tuple[str, Callable[[str], Awaitable[Response]]]] = (
            ("give", lambda user_id: rest.put(self._guild(f"members/{user_id}/roles/{role}"))),
            ("give", lambda user_id: rest.put(self._guild(f"members/{user_id}/roles/{role}"))),
            ("take", lambda user_id: rest.delete(self._guild(f"members/{user_id}/roles/{role}"))),
            ("kick", lambda user_id: rest.delete(self._guild(f"members/{user_id}"))),
            ("ban", lambda user_id: rest.put(self._guild(f"bans/{user_id}"), {})),
            ("unban", lambda user_id: rest.delete(self._guild(f"bans/{user_id}"))),
            (
                "quiet",
                lambda _: rest.put(
                    f"/v1/channels/{room}/permissions/{role}", {"type": 0, "deny": chance.choice((VIEW, SEND))}
                ),
            ),
            ("mask", lambda _: rest.patch(self._guild(f"roles/{role}"), {"permissions": chance.choice(("0", SEND))})),
            ("shut", lambda user_id: rest.put(f"/v1/channels/{room}/permissions/{user_id}", {"type": 1, "deny": VIEW})),
            ("say", lambda _: rest.send_message(room, "from the back")),
        )
        while trio.current_time() < self.ends:
            await trio.sleep(chance.uniform(0, self.seconds / 60))
            kind, ask = chance.choice(steps)
            await self._do(kind, functools.partial(ask, chance.choice(self.residents).actor.id))


async def live_through(server: ChatServer, world: World, count: int, seconds: float, settling: float) -> Minute:
    """A guild full of newcomers for `seconds`; afterwards everybody knows what is true."""
    chance = random.Random(count)
    residents = [
        await Resident.arriving(actor, threads=number % 2 == 0)
        for number, actor in enumerate(await newcomers(server, world, count))
    ]
    minute = Minute(world, residents, chance, seconds)
    await minute.run()
    await trio.sleep(settling)
    for resident in residents:
        await resident.is_as_a_fresh_one()
        await resident.actor.rest.aclose()
    return minute


@pytest.mark.long(minutes=1)
@pytest.mark.chat_settings(rate_limits=False)
async def test_two_hundred_members_for_a_minute(
    chat_world: World, chat_server: ChatServer, autojump_clock: trio.testing.MockClock
) -> None:
    minute = await live_through(chat_server, chat_world, 200, 60.0, settling=5.0)
    done = {kind: sum(status < 300 for status in statuses) for kind, statuses in minute.statuses.items()}
    assert done["join"] > 200
    assert done["speak"] > 200
    assert min(done[kind] for kind in ("give", "take", "kick", "ban", "leave", "quiet", "mask")) > 0


@pytest.fixture
def over_sockets(chat_server_options: dict[str, object]) -> dict[str, object]:
    """The same server behind loopback sockets."""
    return {**chat_server_options, "sockets": True}


@pytest.mark.long
@pytest.mark.chat_settings(rate_limits=False)
async def test_some_members_for_a_moment_over_real_sockets(over_sockets: dict[str, object]) -> None:
    async with open_chat_server(**over_sockets) as server, trio.open_nursery() as nursery:  # type: ignore[arg-type]
        async with World(server.description(), server.route(), nursery) as world:
            await live_through(server, world, 30, 3.0, settling=0.5)
        nursery.cancel_scope.cancel()
