"""The world of the oracle of objects: a guild with open and hidden places of every kind, and who comes by.

A place is a channel, a thread or a conversation with what hangs on it. What is hidden has `MARK` in its name and its
texts, so that whoever is shown some of it is shown that word.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import attrs

from chat.registries.permissions import Permission
from chat.testing.rest_client import RestClient
from chat.testing.world import Actor, World
from tests.webhooks.surfaces import png

MARK: Final = "hush"
"""Begins the names of hidden places."""

WORDS: Final = "whisper"
"""Begins the texts of hidden messages."""

EMOJI: Final = "%F0%9F%91%8D"

EVERY_BIT: Final = int(sum(bit for bit in Permission if bit is not Permission.ADMINISTRATOR))
"""What a member may have while overwrites still count."""

VIEW: Final = int(Permission.VIEW_CHANNEL)

OF_CHANNELS: Final[Mapping[str, int]] = {
    "text": 0,
    "voice": 2,
    "category": 4,
    "news": 5,
    "forum": 15,
    "media": 16,
    "link": 998,
}
"""Types of channels by name; each is there open and hidden."""

KINDS: Final = (*OF_CHANNELS, "thread", "post", "private thread", "archived thread", "conversation", "group", "open")
"""Hidden places, and an open channel whose messages are hidden from those who may not read back."""

WITHOUT_MESSAGES: Final = frozenset({"category", "forum", "media", "link"})
WITH_WEBHOOKS: Final = frozenset({*OF_CHANNELS} - {"category", "link"})


@attrs.frozen
class Place:
    """A channel of some kind, and what hangs on it."""

    kind: str
    channel_id: str
    message_id: str = "1"
    attachment_id: str = "1"
    webhook_id: str = "1"
    token: str = ""
    code: str = ""
    label: str = ""
    """Stands in its name after MARK and in its text after WORDS."""


@attrs.frozen
class Caller:
    """Somebody with an exact set of rights: by role in the guild, and by overwrite in the hidden channels."""

    name: str
    id: str
    rest: RestClient
    by_role: int = 0
    by_overwrite: int = 0
    actor: Actor | None = None
    """With whose session the caller listens."""
    ground: Mapping[str, str] = {}
    """Ids that take the place of the guild's own ones: those of a guild of the caller's."""


@attrs.define
class Scene:
    """The guild, its places and its callers."""

    world: World
    callers: list[Caller] = attrs.field(factory=list)
    hidden: dict[str, Place] = attrs.field(factory=dict)
    open: dict[str, Place] = attrs.field(factory=dict)
    role_id: str = ""
    """A role above every caller's."""
    low_role_id: str = ""
    """A role below every caller's."""
    made: list[Place] = attrs.field(factory=list)
    """Every hidden place that there ever was."""
    _numbers: Iterator[int] = attrs.field(factory=itertools.count)

    @property
    def guild_id(self) -> str:
        """The guild."""
        return self.world.guild_id

    @property
    def owner(self) -> RestClient:
        """The guild's owner, who sees everything."""
        return self.world.alice.rest.declaring("channel_threads")

    @property
    def guild(self) -> str:
        """The guild's address."""
        return f"/v1/guilds/{self.guild_id}"

    async def found(self) -> None:
        """Take from everybody every right but sight; make what is needed before the callers come."""
        everyone = {"permissions": str(VIEW)}
        (await self.owner.patch(f"{self.guild}/roles/{self.guild_id}", everyone)).expect(200)
        for other in (self.world.carol.id, self.world.admin.id):
            body = {"user_id": self.world.alice.id, "target_user_id": other, "type": 1}
            (await self.world.anyone.post("/v1/_dev/relationships", body)).expect(204)
        self.role_id = await self.new_role()
        connect = {"type": 1, "allow": str(int(Permission.CONNECT)), "deny": "0"}
        voice = self.world.voice_channel_id
        (await self.owner.put(f"/v1/channels/{voice}/permissions/{self.world.carol.id}", connect)).expect(204)
        at_carol = await self.world.carol.connect()
        await at_carol.update_voice_state(self.guild_id, voice)
        await at_carol.expect("VOICE_STATE_UPDATE")

    async def new_role(self) -> str:
        """A role; one that is made later stands below."""
        made = (await self.owner.post(f"{self.guild}/roles", {"name": "role", "permissions": "0"})).expect(200)
        return str(made["id"])

    async def account(self) -> Actor:
        """A new account, with everything that accounts are asked for."""
        world, name = self.world, f"m{next(self._numbers)}"
        email = f"{name}@example.com"
        signed_in = (await world.anyone.register(username=name, email=email, password="a long enough one")).expect(200)
        actor = Actor(signed_in["user_id"], signed_in["token"], signed_in["token"], world.route, world.nursery)
        (await world.anyone.post(f"/v1/_dev/users/{actor.id}", {"email_verified": True})).expect(200)
        return actor

    async def outsider(self) -> None:
        """Somebody who is in no guild."""
        actor = await self.account()
        self.callers.append(Caller("outsider", actor.id, actor.rest.declaring("channel_threads")))

    async def join(self, name: str, by_role: int, by_overwrite: int, actor: Actor | None = None) -> None:
        """A new member with these rights, or one that is there already."""
        actor = await self.account() if actor is None else actor
        roles = []
        if by_role:
            body = {"name": name, "permissions": str(by_role)}
            roles = [(await self.owner.post(f"{self.guild}/roles", body)).expect(200)["id"]]
        (
            await self.world.anyone.post(f"/v1/_dev/guilds/{self.guild_id}", {"members": {actor.id: {"roles": roles}}})
        ).expect(200)
        rest = actor.rest.declaring("channel_threads")
        self.callers.append(Caller(name, actor.id, rest, by_role, by_overwrite, actor))

    async def neighbour(self) -> None:
        """Somebody who owns another guild, with open places of its own."""
        actor = await self.account()
        rest = actor.rest.declaring("channel_threads")
        guild_id = (await rest.create_guild("next door")).expect(200)["id"]
        ground = {"guild": guild_id, "member": actor.id}
        for name, kind in (
            ("open", "text"),
            ("open_news", "news"),
            ("open_forum", "forum"),
            ("open_category", "category"),
        ):
            made = (await rest.create_channel(guild_id, name, type=OF_CHANNELS[kind])).expect(200)
            ground[name] = made["id"]
        ground["open_webhook"] = (await rest.create_webhook(ground["open"], "mine")).expect(200)["id"]
        self.callers.append(Caller("neighbour", actor.id, rest, ground=ground))

    async def build(self) -> None:
        """Make the open places, and then the hidden ones; somebody is in the hidden voice channel."""
        for kind in OF_CHANNELS:
            self.open[kind] = await self._channel(kind, f"open-{kind}", [])
        self.low_role_id = await self.new_role()
        for kind in KINDS:
            self.hidden[kind] = await self.new(kind)
        moved = {"channel_id": self.hidden["voice"].channel_id}
        (await self.owner.patch(f"{self.guild}/members/{self.world.carol.id}", moved)).expect(200)

    async def as_it_is(self) -> list[Any]:
        """The hidden places as the owner sees them."""
        seen = []
        for place in self.hidden.values():
            channel = f"/v1/channels/{place.channel_id}"
            paths = [f"{channel}/messages/{place.message_id}", f"/v1/webhooks/{place.webhook_id}"]
            if place.kind != "open":  # which lies in a channel that everybody writes in
                paths.append(channel)
            seen += [(await self.owner.get(path)).json() for path in paths]
            if place.code:
                seen.append((await self.owner.get(f"/v1/invites/{place.code}")).status)
        roles = (await self.owner.get(f"{self.guild}/roles")).expect(200)
        return [*seen, {**next(role for role in roles if role["id"] == self.role_id), "position": None}]

    async def new(self, kind: str) -> Place:
        """A new place of a kind."""
        label = f"{kind.replace(' ', '-')}-{next(self._numbers)}"
        place = attrs.evolve(await self._new(kind, f"{MARK}-{label}"), label=label)
        self.made.append(place)
        return place

    async def _new(self, kind: str, name: str) -> Place:
        if kind in OF_CHANNELS:
            return await self._channel(kind, name, self._overwrites(), **self._parent(kind))
        if kind == "open":
            return await self._written(kind, self.open["text"].channel_id, name)
        if kind in ("conversation", "group"):
            members: dict[str, Any] = {"recipient_id": self.world.admin.id}
            if kind == "group":
                members = {"recipients": [self.world.admin.id, self.world.carol.id]}
            made = (await self.owner.post("/v1/users/@me/channels", members)).expect(200)
            (await self.owner.ring(made["id"])).expect(204)
            return await self._written(kind, made["id"], name)
        if kind == "post":
            below = self.hidden["forum"].channel_id
            members = {"name": name, "message": {"content": WORDS}}
        elif kind == "thread":
            below, members = self.hidden["text"].channel_id, {"name": name, "type": 11}
        else:
            below, members = self.open["text"].channel_id, {"name": name, "type": 12}
        made = (await self.owner.post(f"/v1/channels/{below}/threads", members)).expect(201)
        if kind == "private thread":
            (await self.owner.join_thread(made["id"], self.world.carol.id)).expect(204)
        place = await self._written(kind, made["id"], name)
        if kind == "archived thread":
            (await self.owner.change_channel(made["id"], archived=True)).expect(200)
        return place

    def _parent(self, kind: str) -> dict[str, Any]:
        """The first of a kind stands in the hidden category, which does not hold as many as are made later."""
        if kind == "category" or kind in self.hidden or "category" not in self.hidden:
            return {}
        return {"parent_id": self.hidden["category"].channel_id}

    def _overwrites(self) -> list[dict[str, Any]]:
        everyone = {"id": self.guild_id, "type": 0, "allow": "0", "deny": str(VIEW)}
        other = {"id": self.world.carol.id, "type": 1, "allow": str(VIEW), "deny": "0"}
        members = [
            {"id": caller.id, "type": 1, "allow": str(caller.by_overwrite), "deny": "0"}
            for caller in self.callers
            if caller.by_overwrite
        ]
        return [everyone, other, *members]

    async def _channel(self, kind: str, name: str, overwrites: Iterable[dict[str, Any]], **members: Any) -> Place:
        body = {"name": name, "type": OF_CHANNELS[kind], "permission_overwrites": list(overwrites), **members}
        if kind == "link":
            body["url"] = "https://example.org/"
        made = (await self.owner.post(f"{self.guild}/channels", body)).expect(200)
        return await self._written(kind, made["id"], name)

    async def _written(self, kind: str, channel_id: str, name: str) -> Place:
        place = Place(kind, channel_id)
        path = f"/v1/channels/{channel_id}"
        if kind not in WITHOUT_MESSAGES:
            words = name.replace(MARK, WORDS)
            files = {f"{words}.png": png()}
            sent = (
                await self.owner.send_files(channel_id, files, content=f"{words} @everyone <@{self.world.bob.id}>")
            ).expect(200)
            (await self.owner.put(f"{path}/messages/{sent['id']}/reactions/{EMOJI}/@me")).expect(204)
            place = attrs.evolve(place, message_id=sent["id"], attachment_id=sent["attachments"][0]["id"])
        if kind in WITH_WEBHOOKS:
            webhook = (await self.owner.create_webhook(channel_id, name)).expect(200)
            invite = (await self.owner.create_channel_invite(channel_id, unique=True)).expect(200)
            place = attrs.evolve(place, webhook_id=webhook["id"], token=webhook["token"], code=invite["code"])
        return place
