"""A history of guild operations by several members, and what each of their sessions knows of it.

A step names what is done, by whom and on what, in small numbers; they are read against what is there at that moment, so
a history stays one when steps are taken out of it. Refusals are part of it: a step may be one that the server answers
with a documented error, never with a failure of its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, Final

import attrs
import trio

from chat.registries.permissions import Permission
from chat.testing.gateway_client import GatewayClient
from chat.testing.rest_client import Response
from chat.testing.world import Actor, Person, World
from tests.simulation.client_model import ClientModel

SETTLING_SECONDS: Final = 1.0
"""Virtual seconds after which everything that was caused has arrived."""

CHANNEL_THREADS: Final = 1 << 2
DECLARED: Final = {"X-Service-Features": "channel_threads"}

GUILDS: Final = 3
"""Guilds that there may be at once."""

ROLES: Final = 8
CHANNELS: Final = 12

MASKS: Final = (
    0,
    Permission.VIEW_CHANNEL.value,
    Permission.SEND_MESSAGES.value,
    Permission.VIEW_CHANNEL.value | Permission.SEND_MESSAGES.value,
    Permission.READ_MESSAGE_HISTORY.value,
    Permission.MANAGE_CHANNELS.value | Permission.MANAGE_ROLES.value | Permission.VIEW_CHANNEL.value,
    Permission.ADMINISTRATOR.value,
    Permission.CREATE_PUBLIC_THREADS.value | Permission.SEND_MESSAGES_IN_THREADS.value,
    Permission.KICK_MEMBERS.value | Permission.BAN_MEMBERS.value,
    Permission.MANAGE_THREADS.value,
)
"""Permissions that roles and overwrites hold."""

CHANNEL_KINDS: Final = (0, 0, 0, 2, 4, 4, 5, 15, 16, 998)

CLOSED: Final = ("UNAVAILABLE_FOR_EVERYONE", "UNAVAILABLE_FOR_EVERYONE_BUT_STAFF", "UNAVAILABLE_HIDDEN")


@attrs.frozen
class Step:
    """One thing done: its name, by whom, and numbers to choose by."""

    kind: str
    actor: int
    one: int = 0
    two: int = 0
    three: int = 0


@attrs.define(eq=False)
class Watching:
    """A session that stays connected, and what it knows."""

    name: str
    actor: Actor
    threads: bool
    client: GatewayClient
    model: ClientModel
    heard: list[str] = attrs.Factory(list)

    def threads_known(self) -> list[dict[str, Any]]:
        """Every thread that it knows of."""
        return [thread for guild in self.model.guilds.values() for thread in guild.threads.values()]

    def catch_up(self) -> None:
        """Take over what has arrived."""
        assert self.client.close_frame is None, f"{self.name} was closed: {self.client.close_frame}"
        for payload in self.client.unread():
            if payload.name is not None:
                self.heard.append(payload.name)
                self.model.take(payload.name, payload.data)


async def connected(
    actor: Actor, *, threads: bool, model_of: type[ClientModel] = ClientModel
) -> tuple[GatewayClient, ClientModel]:
    """A new session, and what it knows from the beginning."""
    client = await actor.open()
    await client.identify(actor.token, flags=CHANNEL_THREADS if threads else 0)
    ready = (await client.expect("READY")).data
    model = model_of(ready, threads=threads)
    await trio.sleep(SETTLING_SECONDS)
    for payload in client.unread():
        model.take(payload.name, payload.data)
    return client, model


class GuildHistory:
    """Carries steps out in the seeded world, and compares what its sessions know."""

    def __init__(self, world: World, *, model_of: type[ClientModel] = ClientModel) -> None:
        self.world = world
        self._model_of = model_of
        self.people: tuple[Person, ...] = (world.alice, world.bob, world.carol, world.admin)
        self.actors: tuple[Actor, ...] = (*self.people, world.bot)
        self.guild_ids: list[str] = [world.guild_id]
        self.watching: list[Watching] = []
        self.log: list[str] = []
        self.answers: list[Response] = []
        self._numbers = itertools.count(1)
        self._comparisons = itertools.count()
        for person in self.people:
            person.rest.headers.update(DECLARED)

    async def begin(self) -> None:
        """Everybody connects: people with a session that knows threads and one that does not, and the bot."""
        for number, actor in enumerate(self.actors):
            for threads in (True,) if actor is self.world.bot else (False, True):
                client, model = await connected(actor, threads=threads, model_of=self._model_of)
                self.watching.append(Watching(f"{number}/{threads}", actor, threads, client, model))

    async def run(self, steps: Sequence[Step], *, compared_every: int = 8) -> None:
        """Carry out all steps, one after the other; compare now and then, and at the end."""
        for number, step in enumerate(steps, start=1):
            await self.take(step)
            if number % compared_every == 0:
                await self.compare()
        await self.compare()

    async def take(self, step: Step) -> None:
        """Carry out one step."""
        if not self.guild_ids:
            step = attrs.evolve(step, kind="create_guild")
        # Number 0 is the owner of the guild, who may do most.
        by_owner = step.actor == 0 and self.guild_ids
        actor = self._owner_of(self._guild(step)) if by_owner else self.actors[step.actor % len(self.actors)]
        answer: Response | None = await getattr(self, f"_{step.kind}")(actor, step)
        if answer is not None:
            self.answers.append(answer)
            self.log.append(f"{step} -> {answer.status} {answer.code}")
            assert answer.status < 500, self.log[-1]

    async def compare(self) -> None:
        """Every session knows what a fresh one of the same account is told. Every third goes on as the fresh one, which
        has not heard what came before."""
        await trio.sleep(SETTLING_SECONDS)
        turn = next(self._comparisons)
        for place, watching in enumerate(self.watching):
            watching.catch_up()
            client, fresh = await connected(watching.actor, threads=watching.threads, model_of=self._model_of)
            known, told = watching.model.picture(), fresh.picture()
            without_doubtful(known, told)
            assert known == told, f"{watching.name}: {differences(known, told)}\n" + "\n".join(self.log)
            if (turn + place) % 3 == 0:
                watching.client, client, watching.model = client, watching.client, fresh
            await client.aclose()

    async def pictures(self) -> dict[str, Any]:
        """What a fresh session of each account is told, with and without threads."""
        found = {}
        for watching in self.watching:
            client, fresh = await connected(watching.actor, threads=watching.threads, model_of=self._model_of)
            await client.aclose()
            found[watching.name] = fresh.picture()
        return found

    # What is there

    def _guild(self, step: Step) -> str:
        return self.guild_ids[step.three % len(self.guild_ids)]

    async def _known(self, step: Step) -> dict[str, Any]:
        """The guild as its owner knows it now: a fresh look, for nobody's model may be trusted."""
        guild_id = self._guild(step)
        answer = await self._owner_of(guild_id).rest.get(f"/v1/guilds/{guild_id}")
        known: dict[str, Any] = answer.json() if answer.status == 200 else {"roles": [], "channels": []}
        return known

    def _owner_of(self, guild_id: str) -> Actor:
        self._catch_up()
        for watching in self.watching:
            guild = watching.model.guilds.get(guild_id)
            if guild is not None:
                owner = guild.properties["owner_id"]
                return next((actor for actor in self.actors if actor.id == owner), self.world.alice)
        return self.world.alice

    async def _role_id(self, step: Step, number: int) -> str:
        roles = (await self._known(step))["roles"]
        return str(roles[number % len(roles)]["id"]) if roles else "1"

    async def _channel(self, step: Step, number: int, kinds: frozenset[int] | None = None) -> dict[str, Any]:
        channels = [
            channel for channel in (await self._known(step))["channels"] if kinds is None or channel["type"] in kinds
        ]
        channel: dict[str, Any] = channels[number % len(channels)] if channels else {"id": "1", "type": 0}
        return channel

    def _user(self, step: Step, number: int) -> Actor:
        """Whom a step is about: mostly a member of the guild who is not its owner."""
        guild_id = self._guild(step)
        owner = self._owner_of(guild_id)
        present = {watching.actor for watching in self.watching if guild_id in watching.model.guilds}
        members = [actor for actor in self.actors if actor in present and actor is not owner]
        return members[number % len(members)] if members and number % 6 else self.actors[number % len(self.actors)]

    async def _other_role_id(self, step: Step, number: int) -> str:
        """A role that is not everyone's, where there is one."""
        roles = (await self._known(step))["roles"]
        others = [role for role in roles if role["id"] != self._guild(step)] or roles
        return str(others[number % len(others)]["id"]) if others else "1"

    # Guilds

    async def _create_guild(self, actor: Actor, step: Step) -> Response | None:
        if len(self.guild_ids) >= GUILDS:
            return None
        answer = await actor.rest.create_guild(f"Guild {next(self._numbers)}")
        if answer.status == 200:
            self.guild_ids.append(answer.json()["id"])
        return answer

    async def _modify_guild(self, actor: Actor, step: Step) -> Response:
        channel = await self._channel(step, step.two)
        body = (
            {"name": f"Renamed {step.two}"},
            {"system_channel_id": channel["id"]},
            {"system_channel_id": None},
            {"features": ["TEXT_CHANNEL_FLEXIBLE_NAMES"]},
            {"features": []},
            {"nsfw": bool(step.two % 2)},
            {"afk_channel_id": channel["id"]},
            {"message_history_cutoff": None},
        )[step.one % 8]
        return await actor.rest.patch(f"/v1/guilds/{self._guild(step)}", body)

    async def _delete_guild(self, actor: Actor, step: Step) -> Response:
        guild_id = self._guild(step)
        password = actor.password if isinstance(actor, Person) else None
        body = {} if password is None else {"password": password}
        answer = await actor.rest.post(f"/v1/guilds/{guild_id}/delete", body)
        if answer.status == 204:
            self.guild_ids.remove(guild_id)
        return answer

    async def _transfer(self, actor: Actor, step: Step) -> Response:
        password = actor.password if isinstance(actor, Person) else ""
        body = {"new_owner_id": self._user(step, step.one).id, "password": password}
        return await actor.rest.post(f"/v1/guilds/{self._guild(step)}/transfer-ownership", body)

    async def _availability(self, actor: Actor, step: Step) -> Response:
        closes = step.two % 3 == 0  # mostly it is opened, for little else happens in a closed guild
        features = [name for index, name in enumerate(CLOSED) if closes and step.one >> index & 1]
        return await self.world.anyone.post(f"/v1/_dev/guilds/{self._guild(step)}", {"features": features})

    # Members

    async def _join(self, actor: Actor, step: Step) -> Response | None:
        guild_id = self._guild(step)
        if actor is self.world.bot:
            return await self.world.anyone.post(f"/v1/_dev/guilds/{guild_id}", {"members": {actor.id: {}}})
        owner = self._owner_of(guild_id)
        channel = await self._channel(step, step.one, frozenset({0, 2, 5}))
        invite = await owner.rest.create_channel_invite(channel["id"])
        return invite if invite.status != 200 else await actor.rest.accept_invite(invite.json()["code"])

    async def _leave(self, actor: Actor, step: Step) -> Response:
        return await actor.rest.delete(f"/v1/users/@me/guilds/{self._guild(step)}")

    async def _leave_with_messages(self, actor: Actor, step: Step) -> Response:
        password = {"password": actor.password} if isinstance(actor, Person) else {}
        path = f"/v1/users/@me/guilds/{self._guild(step)}?delete_messages=true"
        return await actor.rest.delete(path, password)

    async def _kick(self, actor: Actor, step: Step) -> Response:
        return await actor.rest.delete(f"/v1/guilds/{self._guild(step)}/members/{self._user(step, step.one).id}")

    async def _ban(self, actor: Actor, step: Step) -> Response:
        path = f"/v1/guilds/{self._guild(step)}/bans/{self._user(step, step.one).id}"
        return await actor.rest.put(path, {"delete_message_seconds": 3_600 if step.two % 2 else 0})

    async def _unban(self, actor: Actor, step: Step) -> Response:
        return await actor.rest.delete(f"/v1/guilds/{self._guild(step)}/bans/{self._user(step, step.one).id}")

    async def _modify_member(self, actor: Actor, step: Step) -> Response:
        body = (
            {"nick": f"nick{step.two}"},
            {"nick": None},
            {"roles": [await self._role_id(step, step.two)]},
            {"roles": []},
            {"mute": bool(step.two % 2)},
        )[step.two % 5]
        user = self._user(step, step.one)
        who = "@me" if user is actor and "nick" in body else user.id
        return await actor.rest.patch(f"/v1/guilds/{self._guild(step)}/members/{who}", body)

    # Roles

    async def _create_role(self, actor: Actor, step: Step) -> Response | None:
        if len((await self._known(step))["roles"]) > ROLES:
            return None
        body = {"name": f"role{next(self._numbers)}", "permissions": str(MASKS[step.one % len(MASKS)])}
        return await actor.rest.post(f"/v1/guilds/{self._guild(step)}/roles", body)

    async def _change_role(self, actor: Actor, step: Step) -> Response:
        body: dict[str, object] = {"permissions": str(MASKS[step.two % len(MASKS)])}
        if step.two % 3 == 0:
            body = {"name": f"other{step.two}", "hoist": bool(step.two % 2)}
        path = f"/v1/guilds/{self._guild(step)}/roles/{await self._role_id(step, step.one)}"
        return await actor.rest.patch(path, body)

    async def _delete_role(self, actor: Actor, step: Step) -> Response:
        return await actor.rest.delete(
            f"/v1/guilds/{self._guild(step)}/roles/{await self._other_role_id(step, step.one)}"
        )

    async def _order_roles(self, actor: Actor, step: Step) -> Response:
        body = [{"id": await self._other_role_id(step, step.one), "position": step.two % (ROLES + 1)}]
        return await actor.rest.patch(f"/v1/guilds/{self._guild(step)}/roles", body)

    async def _hoist_roles(self, actor: Actor, step: Step) -> Response:
        if step.two % 4 == 0:
            return await actor.rest.delete(f"/v1/guilds/{self._guild(step)}/roles/hoist-positions")
        body = [{"id": await self._other_role_id(step, step.one), "hoist_position": step.two % 4}]
        return await actor.rest.patch(f"/v1/guilds/{self._guild(step)}/roles/hoist-positions", body)

    async def _give_role(self, actor: Actor, step: Step) -> Response:
        role_id = await self._other_role_id(step, step.two)
        return await actor.rest.put(
            f"/v1/guilds/{self._guild(step)}/members/{self._user(step, step.one).id}/roles/{role_id}"
        )

    async def _take_role(self, actor: Actor, step: Step) -> Response:
        role_id = await self._other_role_id(step, step.two)
        return await actor.rest.delete(
            f"/v1/guilds/{self._guild(step)}/members/{self._user(step, step.one).id}/roles/{role_id}"
        )

    # Channels

    async def _create_channel(self, actor: Actor, step: Step) -> Response | None:
        known = await self._known(step)
        if len(known["channels"]) >= CHANNELS:
            return None
        body: dict[str, object] = {
            "type": CHANNEL_KINDS[step.one % len(CHANNEL_KINDS)],
            "name": f"Channel {next(self._numbers)}",
            "url": "https://example.org/",
        }
        categories = [channel["id"] for channel in known["channels"] if channel["type"] == 4]
        if categories and step.two % 2 and body["type"] != 4:
            body["parent_id"] = categories[step.two % len(categories)]
        if step.two % 3 == 0 and known["roles"]:
            role_id = known["roles"][step.two % len(known["roles"])]["id"]
            body["permission_overwrites"] = [{"id": role_id, "type": 0, "deny": str(MASKS[1]), "allow": "0"}]
        return await actor.rest.post(f"/v1/guilds/{self._guild(step)}/channels", body)

    async def _change_channel(self, actor: Actor, step: Step) -> Response:
        channel = await self._channel(step, step.one)
        category = await self._channel(step, step.two, frozenset({4}))
        body = (
            {"name": f"New name {step.two}"},
            {"topic": f"topic {step.two}"},
            {"parent_id": category["id"]},
            {"parent_id": None},
            {"nsfw": bool(step.two % 2)},
            {"type": 5 if channel["type"] == 0 else 0},
            {"permission_overwrites": []},
        )[step.two % 7]
        return await actor.rest.patch(f"/v1/channels/{channel['id']}", body)

    async def _delete_channel(self, actor: Actor, step: Step) -> Response:
        return await actor.rest.delete(f"/v1/channels/{(await self._channel(step, step.one))['id']}")

    async def _order_channels(self, actor: Actor, step: Step) -> Response:
        channel = await self._channel(step, step.one)
        entry: dict[str, object] = {"id": channel["id"], "position": step.two % 5}
        if step.two % 2:
            category = await self._channel(step, step.two, frozenset({4}))
            entry |= {"parent_id": category["id"], "lock_permissions": step.two % 4 == 1}
        return await actor.rest.patch(f"/v1/guilds/{self._guild(step)}/channels", [entry])

    async def _role_overwrite(self, actor: Actor, step: Step) -> Response:
        return await self._overwrite(actor, step, 0, await self._role_id(step, step.two))

    async def _member_overwrite(self, actor: Actor, step: Step) -> Response:
        return await self._overwrite(actor, step, 1, self._user(step, step.two).id)

    async def _overwrite(self, actor: Actor, step: Step, kind: int, target_id: str) -> Response:
        channel = await self._channel(step, step.one)
        parents = sorted(thread["parent_id"] for watching in self.watching for thread in watching.threads_known())
        if parents and step.one % 2:  # where threads stand there is more to lose
            channel = {"id": parents[step.one % len(parents)]}
        mask = str(MASKS[1 if step.one % 3 else step.one % len(MASKS)])
        allow, deny = (mask, "0") if step.two % 2 else ("0", mask)
        path = f"/v1/channels/{channel['id']}/permissions/{target_id}"
        return await actor.rest.put(path, {"type": kind, "allow": allow, "deny": deny})

    async def _drop_overwrite(self, actor: Actor, step: Step) -> Response:
        channel = await self._channel(step, step.one)
        targets = [entry["id"] for entry in channel.get("permission_overwrites", ())]
        target_id = targets[step.two % len(targets)] if targets else self._guild(step)
        return await actor.rest.delete(f"/v1/channels/{channel['id']}/permissions/{target_id}")

    # Messages and threads

    async def _message(self, actor: Actor, step: Step) -> Response:
        channel = await self._channel(step, step.one, frozenset({0, 2, 5}))
        return await actor.rest.send_message(channel["id"], f"hello {next(self._numbers)}")

    async def _delete_messages(self, actor: Actor, step: Step) -> Response:
        password = {"password": actor.password} if isinstance(actor, Person) else {}
        return await actor.rest.post(f"/v1/users/@me/guilds/{self._guild(step)}/messages/bulk-delete-mine", password)

    async def _start_thread(self, actor: Actor, step: Step) -> Response:
        channel = await self._channel(step, step.one, frozenset({0, 5}))
        body: dict[str, Any] = {"name": f"thread {next(self._numbers)}", "type": 12 if step.two % 3 == 0 else None}
        if step.three % 3 == 0:
            body["auto_archive_duration"] = 60
        return await actor.rest.post(f"/v1/channels/{channel['id']}/threads", body)

    async def _start_thread_of_message(self, actor: Actor, step: Step) -> Response:
        channel = await self._channel(step, step.one, frozenset({0, 5}))
        said = (await actor.rest.get(f"/v1/channels/{channel['id']}/messages")).json()
        message_id = said[step.two % len(said)]["id"] if isinstance(said, list) and said else "1"
        body = {"name": f"thread {next(self._numbers)}"}
        return await actor.rest.post(f"/v1/channels/{channel['id']}/messages/{message_id}/threads", body)

    async def _post(self, actor: Actor, step: Step) -> Response:
        forum = await self._channel(step, step.one, frozenset({15, 16}))
        content = f"hello <@{self._user(step, step.three).id}>" if step.two % 2 else "hello"
        body = {"name": f"post {next(self._numbers)}", "message": {"content": content}}
        return await actor.rest.post(f"/v1/channels/{forum['id']}/threads", body)

    async def _change_thread(self, actor: Actor, step: Step) -> Response:
        changes: tuple[dict[str, Any], ...] = (
            {"archived": True},
            {"archived": False},
            {"archived": True},
            {"archived": False},
            {"locked": step.three % 2 == 0},
            {"archived": False, "locked": True},
            {"name": f"thread {next(self._numbers)}"},
            {"flags": 2},
            {"flags": 0, "archived": False},
            {"auto_archive_duration": 60, "rate_limit_per_user": 5},
            {"invitable": step.three % 2 == 0},
        )
        return await actor.rest.patch(f"/v1/channels/{self._thread_id(step)}", changes[step.two % len(changes)])

    async def _delete_thread(self, actor: Actor, step: Step) -> Response:
        return await actor.rest.delete(f"/v1/channels/{self._thread_id(step)}")

    async def _wait(self, actor: Actor, step: Step) -> Response:
        await trio.sleep(40 * 60)  # threads archive themselves
        return await actor.rest.get("/v1/users/@me")

    def _thread_id(self, step: Step) -> str:
        self._catch_up()
        known = sorted({thread["id"] for watching in self.watching for thread in watching.threads_known()})
        return known[step.one % len(known)] if known else "1"

    async def _join_thread(self, actor: Actor, step: Step) -> Response:
        return await actor.rest.put(f"/v1/channels/{self._thread_id(step)}/thread-members/@me")

    async def _leave_thread(self, actor: Actor, step: Step) -> Response:
        return await actor.rest.delete(f"/v1/channels/{self._thread_id(step)}/thread-members/@me")

    async def _add_to_thread(self, actor: Actor, step: Step) -> Response:
        path = f"/v1/channels/{self._thread_id(step)}/thread-members/{self._user(step, step.two).id}"
        return await actor.rest.put(path)

    async def _take_from_thread(self, actor: Actor, step: Step) -> Response:
        path = f"/v1/channels/{self._thread_id(step)}/thread-members/{self._user(step, step.two).id}"
        return await actor.rest.delete(path)

    async def _manage_threads(self, actor: Actor, step: Step) -> Response:
        """Somebody is given, or loses, the sight of private threads where there are threads."""
        self._catch_up()
        parents = sorted({thread["parent_id"] for watching in self.watching for thread in watching.threads_known()})
        channel_id = parents[step.one % len(parents)] if parents else "1"
        target = self.world.bot if step.two % 2 else self._user(step, step.two)
        mask = Permission.MANAGE_THREADS.value
        overwrite = {"type": 1, "allow": str(mask if step.three % 2 else 0), "deny": "0"}
        return await actor.rest.put(f"/v1/channels/{channel_id}/permissions/{target.id}", overwrite)

    async def _speak_in_thread(self, actor: Actor, step: Step) -> Response:
        content = f"in the thread <@{self._user(step, step.three).id}>" if step.two % 2 else "in the thread"
        return await actor.rest.send_message(self._thread_id(step), content)

    def _catch_up(self) -> None:
        for watching in self.watching:
            watching.catch_up()


KINDS: Final[Sequence[tuple[str, int]]] = (
    ("create_role", 4),
    ("change_role", 5),
    ("delete_role", 2),
    ("order_roles", 3),
    ("hoist_roles", 1),
    ("give_role", 7),
    ("take_role", 5),
    ("create_channel", 5),
    ("change_channel", 4),
    ("delete_channel", 2),
    ("order_channels", 4),
    ("role_overwrite", 6),
    ("member_overwrite", 6),
    ("drop_overwrite", 2),
    ("message", 5),
    ("delete_messages", 1),
    ("start_thread", 4),
    ("join_thread", 2),
    ("leave_thread", 1),
    ("add_to_thread", 2),
    ("take_from_thread", 1),
    ("speak_in_thread", 1),
    ("start_thread_of_message", 1),
    ("post", 2),
    ("change_thread", 3),
    ("delete_thread", 1),
    ("modify_guild", 3),
    ("modify_member", 3),
    ("join", 6),
    ("leave", 2),
    ("leave_with_messages", 1),
    ("kick", 2),
    ("ban", 1),
    ("unban", 1),
    ("availability", 2),
    ("create_guild", 1),
    ("delete_guild", 1),
    ("transfer", 1),
)
"""What may be done, and how often."""


def differences(known: Any, told: Any, path: str = "") -> list[str]:
    """Where two pictures differ."""
    if isinstance(known, dict) and isinstance(told, dict):
        return [
            line
            for name in sorted(known.keys() | told.keys(), key=str)
            for line in differences(known.get(name, "(nothing)"), told.get(name, "(nothing)"), f"{path}/{name}")
        ]
    return [] if known == told else [f"{path}: known {known!r}, told {told!r}"]


def without_doubtful(known: dict[str, Any], told: dict[str, Any]) -> None:
    """Nobody compares a count that the session cannot know."""
    for place, (last, count, pins, version) in known["read_states"].items():
        other = told["read_states"].get(place)
        if count is None and other is not None:
            known["read_states"][place] = (last, other[1], pins, version)


AROUND_THREADS: Final = (
    ("start_thread", 3),
    ("join_thread", 6),
    ("leave_thread", 1),
    ("add_to_thread", 4),
    ("take_from_thread", 2),
    ("speak_in_thread", 3),
    ("create_channel", 1),
    ("message", 1),
    ("start_thread_of_message", 2),
    ("post", 3),
    ("change_thread", 8),
    ("delete_thread", 1),
    ("wait", 1),
    ("manage_threads", 6),
    ("member_overwrite", 10),
    ("role_overwrite", 2),
    ("drop_overwrite", 1),
)
"""A narrower choice: threads, and the sight of what stands above them."""


def steps_of(choose: Callable[[int], int], count: int, possible: Sequence[tuple[str, int]] = KINDS) -> list[Step]:
    """A history of `count` steps; `choose(n)` gives a number below n. Those who may do more act more often."""
    kinds = [kind for kind, weight in possible for _ in range(weight)]
    actors = (0, 0, 0, 0, 0, 0, 1, 2, 3, 4)
    return [
        Step(kinds[choose(len(kinds))], actors[choose(len(actors))], choose(60), choose(60), choose(60))
        for _ in range(count)
    ]
