"""The seeded world with ready clients: who is there, how they speak over HTTP and over the gateway."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import trio

from chat.development.answers import ShownSession
from chat.testing.conversation import Conversation
from chat.testing.gateway_client import GatewayClient
from chat.testing.interacting import Acting, Answering
from chat.testing.network import Route
from chat.testing.rest_client import RestClient


class Actor:
    """An account with its credential: a person of the world, or its bot."""

    def __init__(
        self,
        user_id: str,
        token: str,
        authorization: str,
        route: Route,
        nursery: trio.Nursery,
        *,
        name: str = "client",
    ) -> None:
        self.name = name
        self.id = user_id
        self.token = token
        """As Identify has it, without scheme."""
        self.rest = RestClient(route, authorization, name=name)
        self._route = route
        self._nursery = nursery

    async def connect(
        self, *, compressed: bool = False, heartbeats: bool = True, route: Route | None = None, **members: object
    ) -> GatewayClient:
        """A gateway client of this account that has received Ready; `members` go into Identify."""
        client = await self.open(compressed=compressed, heartbeats=heartbeats, route=route)
        await client.identify(self.token, **members)
        await client.expect("READY")
        return client

    async def open(
        self,
        *,
        compressed: bool = False,
        heartbeats: bool = True,
        query: str | None = None,
        hello: bool = True,
        route: Route | None = None,
    ) -> GatewayClient:
        """A gateway client that has received Hello and said nothing yet."""
        return await GatewayClient.connect(
            self._nursery,
            self._route if route is None else route,
            compressed=compressed,
            heartbeats=heartbeats,
            query=query,
            hello=hello,
            name=self.name,
        )

    async def resume(
        self, client: GatewayClient, *, sequence: int | None = None, compressed: bool = False, heartbeats: bool = True
    ) -> GatewayClient:
        """Resume the session of `client` on a new socket, from its sequence or another one; returns after Resume is
        sent."""
        successor = await self.open(compressed=compressed, heartbeats=heartbeats)
        await successor.resume(self.token, client.session_id, client.sequence if sequence is None else sequence)
        successor.session_id = client.session_id
        return successor


class NoAdministrator(LookupError):
    """A world on a server of another program, made by its public API, has no administrator."""


class Person(Actor):
    """Somebody who talks, and uses what applications offer (`chat.testing.interacting`) in the world's channel or, by
    `at`, in another one."""

    def __init__(
        self, description: Mapping[str, str], route: Route, nursery: trio.Nursery, *, channel_id: str = ""
    ) -> None:
        token = description["token"]
        super().__init__(description["id"], token, token, route, nursery, name=description["username"])
        acting = Acting(self, channel_id)
        self.invoke, self.type_into = acting.invoke, acting.type_into
        self.press, self.choose, self.submit = acting.press, acting.choose, acting.submit
        self.vote = acting.vote
        self.username = description["username"]
        self.email = description["email"]
        self.password = description["password"]

    def at(self, channel_id: str) -> Acting:
        """The same person at another channel."""
        return Acting(self, channel_id)


class Bot(Actor):
    def __init__(self, description: Mapping[str, str], route: Route, nursery: trio.Nursery) -> None:
        token = description["token"]
        super().__init__(description["user_id"], token, f"Bot {token}", route, nursery, name="bot")
        self.application_id = description["application_id"]
        self.client_secret = description["client_secret"]
        says = Answering(self)
        self.register, self.answer, self.defer = says.register, says.answer, says.defer
        self.change, self.offer, self.open_form, self.follow_up = (
            says.change,
            says.offer,
            says.open_form,
            says.follow_up,
        )


class World:
    """The seeded world of `chat dev` (development.md, Seeded world); made of what it prints."""

    def __init__(
        self,
        description: Mapping[str, Any],
        route: Route,
        nursery: trio.Nursery,
        *,
        conversation: Conversation | None = None,
    ) -> None:
        self.conversation = Conversation() if conversation is None else conversation
        """What its clients say and hear; the report of a failure shows the end of it."""
        route = route.noted_in(self.conversation)
        self._admin = Person(description["admin"], route, nursery) if "admin" in description else None
        self.alice, self.bob, self.carol = (
            Person(user, route, nursery, channel_id=description["channel_id"]) for user in description["users"]
        )
        self.bot = Bot(description["bot"], route, nursery)
        self._admin_key: str | None = description.get("admin_key")
        self.guild_id: str = description["guild_id"]
        self.channel_id: str = description["channel_id"]
        self.voice_channel_id: str = description["voice_channel_id"]
        self.anyone = RestClient(route, name="anyone")
        """A client without a credential: for the development routes, and for strangers."""
        self.route = route
        self.nursery = nursery

    @property
    def admin(self) -> Person:
        """The administrator. Raises NoAdministrator where the server's world is known without one."""
        if self._admin is None:
            raise NoAdministrator("the world of this server has no administrator: --chat-world FILE names one")
        return self._admin

    @property
    def admin_key(self) -> str:
        """A key with the administrator's rights. Raises NoAdministrator."""
        if self._admin_key is None:
            raise NoAdministrator("the world of this server has no administrator's key: --chat-world FILE names one")
        return self._admin_key

    @property
    def actors(self) -> tuple[Actor, ...]:
        people = (self.alice, self.bob, self.carol, self.bot)
        return people if self._admin is None else (self._admin, *people)

    async def open(self, *, query: str | None = None, heartbeats: bool = True, hello: bool = True) -> GatewayClient:
        """A gateway client without a credential."""
        return await GatewayClient.connect(self.nursery, self.route, query=query, heartbeats=heartbeats, hello=hello)

    async def session_of(self, client: GatewayClient) -> ShownSession | None:
        """The client's session as GET /v1/_dev/sessions shows it, None when it is over."""
        sessions = await self.anyone.gateway_sessions()
        return next((session for session in sessions if session["id"] == client.session_id), None)

    async def __aenter__(self) -> World:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the HTTP connections."""
        await self.anyone.aclose()
        for actor in self.actors:
            await actor.rest.aclose()
