"""A history of what people do about each other, and what each of their sessions knows of it.

As `tests.simulation.guild_history`: a step names what is done, by whom and to whom, in small numbers that are read
against what is there at that moment.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import attrs
import trio

from chat.testing.gateway_client import GatewayClient
from chat.testing.rest_client import Response
from chat.testing.world import Person, World
from tests.simulation.account_model import AccountModel
from tests.simulation.guild_history import SETTLING_SECONDS, Step, differences

RELATIONSHIPS: Final = "/v1/users/@me/relationships"
STATUSES: Final = ("online", "idle", "dnd", "invisible")
HOUR_SECONDS: Final = 3_600.0
GONE_SECONDS: Final = 7.0
"""After which an account without a socket is shown offline."""

KINDS: Final = (
    ("ask", 6),
    ("accept", 6),
    ("block", 2),
    ("end", 3),
    ("nickname", 2),
    ("share_with_one", 1),
    ("share_with_all", 1),
    ("ignore", 1),
    ("note", 1),
    ("status", 2),
    ("custom_status", 1),
    ("settings", 1),
    ("rename", 1),
    ("come_or_go", 2),
    ("speak", 3),
    ("close", 1),
    ("pin", 1),
    ("make_group", 2),
    ("add", 2),
    ("leave", 1),
    ("name_group", 1),
    ("pass_time", 1),
)
"""What happens, and how often."""


def steps_of(randrange: Callable[[int], int], count: int) -> list[Step]:
    """Steps by chance."""
    kinds = [kind for kind, weight in KINDS for _ in range(weight)]
    return [
        Step(kinds[randrange(len(kinds))], randrange(4), randrange(60), randrange(60), randrange(60))
        for _ in range(count)
    ]


@attrs.define(eq=False)
class Watching:
    """A session that stays connected, and what it knows."""

    person: Person
    client: GatewayClient
    model: AccountModel

    def catch_up(self) -> None:
        """Take over what has arrived."""
        assert self.client.close_frame is None, f"{self.person.username} was closed: {self.client.close_frame}"
        for payload in self.client.unread():
            self.model.take(payload.name, payload.data)


async def connected(person: Person, model_of: type[AccountModel] = AccountModel) -> tuple[GatewayClient, AccountModel]:
    """A new session, and what it knows from the beginning."""
    client = await person.open()
    await client.identify(person.token)
    model = model_of((await client.expect("READY")).data)
    await trio.sleep(SETTLING_SECONDS)
    for payload in client.unread():
        model.take(payload.name, payload.data)
    return client, model


class PeopleHistory:
    """Carries steps out in the seeded world, and compares what its sessions know.

    Alice, bob and the administrator watch all the time; carol comes and goes.
    """

    def __init__(self, world: World, *, model_of: type[AccountModel] = AccountModel) -> None:
        self.world = world
        self._model_of = model_of
        self.people: tuple[Person, ...] = (world.alice, world.bob, world.carol, world.admin)
        self.watching: list[Watching] = []
        self.carol: GatewayClient | None = None
        self.groups: list[str] = []
        self.log: list[str] = []
        self.answers: list[Response] = []

    async def begin(self) -> None:
        """Everybody takes requests from anywhere; three connect."""
        for person in self.people:
            (await person.rest.change_settings(friend_source_flags=7)).expect(200)
        for person in (self.world.alice, self.world.bob, self.world.admin):
            client, model = await connected(person, self._model_of)
            self.watching.append(Watching(person, client, model))

    async def run(self, steps: Sequence[Step], *, compared_every: int = 8) -> None:
        """Carry out all steps, one after the other; compare now and then, and at the end."""
        for number, step in enumerate(steps, start=1):
            await self.take(step)
            if number % compared_every == 0:
                await self.compare()
        await self.compare()

    async def take(self, step: Step) -> None:
        """Carry out one step."""
        actor = self.people[step.actor % len(self.people)]
        others = [person for person in self.people if person is not actor]
        answer = await getattr(self, f"_{step.kind}")(actor, others[step.one % len(others)], step)
        if answer is not None:
            self.answers.append(answer)
            self.log.append(f"{step} -> {answer.status} {answer.code}")
            assert answer.status < 500, self.log[-1]

    async def compare(self) -> None:
        """Every session knows what a fresh one of the same account is told."""
        await trio.sleep(SETTLING_SECONDS)
        for watching in self.watching:
            # An account's own presence is not told to it, but to its friends, who would see it come and go.
            client, fresh = await connected(watching.person, self._model_of)
            await client.aclose()
            watching.catch_up()
            known, told = watching.model.picture(), fresh.picture()
            name = watching.person.username
            assert known == told, f"{name}: {differences(known, told)}\n" + "\n".join(self.log)

    async def pictures(self) -> list[dict[str, Any]]:
        """What a fresh session of each watching account is told, presences aside: who is there, a restart changes."""
        found = []
        for watching in self.watching:
            client, fresh = await connected(watching.person, self._model_of)
            await client.aclose()
            found.append({name: value for name, value in fresh.picture().items() if name != "presences"})
        return found

    # Each about the other

    async def _ask(self, actor: Person, other: Person, step: Step) -> Response:
        return await actor.rest.request_friendship(other.id)

    async def _accept(self, actor: Person, other: Person, step: Step) -> Response:
        """Whoever asked is accepted, if anybody did."""
        entries = (await actor.rest.get(RELATIONSHIPS)).expect(200)
        asking = [entry["id"] for entry in entries if entry["type"] == 3] or [other.id]
        return await actor.rest.accept_friendship(asking[step.two % len(asking)])

    async def _block(self, actor: Person, other: Person, step: Step) -> Response:
        return await actor.rest.block(other.id)

    async def _end(self, actor: Person, other: Person, step: Step) -> Response:
        return await actor.rest.end_relationship(other.id)

    async def _nickname(self, actor: Person, other: Person, step: Step) -> Response:
        nickname = (None, "friend", f"name {step.three}")[step.two % 3]
        return await actor.rest.patch(f"{RELATIONSHIPS}/{other.id}", {"nickname": nickname})

    async def _share_with_one(self, actor: Person, other: Person, step: Step) -> Response:
        return await actor.rest.patch(f"{RELATIONSHIPS}/{other.id}", {"share_voice_activity": bool(step.two % 2)})

    async def _share_with_all(self, actor: Person, other: Person, step: Step) -> Response:
        path = "/v1/users/@me/settings/voice-activity-sharing"
        return await actor.rest.put(path, {"share_voice_activity": bool(step.two % 2)})

    async def _ignore(self, actor: Person, other: Person, step: Step) -> Response:
        return await actor.rest.post(f"{RELATIONSHIPS}/bulk-ignore")

    async def _note(self, actor: Person, other: Person, step: Step) -> Response:
        return await actor.rest.write_note(other.id, f"note {step.two}" if step.two % 3 else None)

    # Each about themselves

    async def _status(self, actor: Person, other: Person, step: Step) -> Response:
        return await actor.rest.change_settings(status=STATUSES[step.two % len(STATUSES)])

    async def _custom_status(self, actor: Person, other: Person, step: Step) -> Response:
        return await actor.rest.change_settings(custom_status={"text": f"at {step.two}"} if step.two % 3 else None)

    async def _settings(self, actor: Person, other: Person, step: Step) -> Response:
        return await actor.rest.change_settings(developer_mode=bool(step.two % 2), profile_privacy=step.three % 3)

    async def _rename(self, actor: Person, other: Person, step: Step) -> Response:
        return await actor.rest.patch("/v1/users/@me", {"global_name": f"Somebody {step.two}"})

    async def _come_or_go(self, actor: Person, other: Person, step: Step) -> None:
        if self.carol is None:
            self.carol = await self.world.carol.connect()
            return
        await self.carol.aclose()
        self.carol = None
        await trio.sleep(GONE_SECONDS)

    async def _pass_time(self, actor: Person, other: Person, step: Step) -> None:
        await trio.sleep(HOUR_SECONDS)  # with all its heartbeats, which a jump of the clock would leave out

    # Conversations

    async def _speak(self, actor: Person, other: Person, step: Step) -> Response:
        opened = await actor.rest.open_conversation(other.id)
        if opened.status != 200:
            return opened
        return await actor.rest.send_message(opened.json()["id"], f"{step.two}")

    async def _close(self, actor: Person, other: Person, step: Step) -> Response:
        return await actor.rest.delete(f"/v1/channels/{await self._conversation(actor, step)}")

    async def _pin(self, actor: Person, other: Person, step: Step) -> Response:
        path = f"/v1/users/@me/channels/{await self._conversation(actor, step)}/pin"
        return await actor.rest.put(path) if step.three % 3 else await actor.rest.delete(path)

    async def _make_group(self, actor: Person, other: Person, step: Step) -> Response:
        answer = await actor.rest.post("/v1/users/@me/channels", {"recipients": [other.id]})
        if answer.status == 200:
            self.groups.append(answer.json()["id"])
        return answer

    async def _add(self, actor: Person, other: Person, step: Step) -> Response:
        return await actor.rest.put(f"/v1/channels/{self._group(step)}/recipients/{other.id}")

    async def _leave(self, actor: Person, other: Person, step: Step) -> Response:
        return await actor.rest.delete(f"/v1/channels/{self._group(step)}/recipients/{actor.id}")

    async def _name_group(self, actor: Person, other: Person, step: Step) -> Response:
        body = {"name": f"group {step.three}"} if step.three % 2 else {"nicks": {other.id: f"nick {step.three}"}}
        return await actor.rest.patch(f"/v1/channels/{self._group(step)}", body)

    def _group(self, step: Step) -> str:
        return self.groups[step.two % len(self.groups)] if self.groups else "1"

    async def _conversation(self, actor: Person, step: Step) -> str:
        listed = (await actor.rest.get("/v1/users/@me/channels")).expect(200)
        return str(listed[step.two % len(listed)]["id"]) if listed else "1"
