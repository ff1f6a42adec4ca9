"""A history of what people write, read and feel about it, and what each of their sessions knows of it.

As `tests.simulation.guild_history`: a step names what is done, by whom and to whom, in small numbers that are read
against what is there at that moment.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import attrs
import trio

from chat.registries.permissions import Permission
from chat.testing.gateway_client import GatewayClient
from chat.testing.rest_client import Response
from chat.testing.world import Person, World
from tests.simulation.guild_history import SETTLING_SECONDS, Step, differences
from tests.simulation.reading_model import ReadingModel, shown_messages

EMOJIS: Final = ("👍", "❤️", "🎉")
DEBOUNCE_FLAG: Final = 1 << 1
WRITTEN_TYPES: Final = frozenset({0, 19})
"""What the server says of itself comes before anybody watches."""

WINDOW_SECONDS: Final = 0.7
"""After which additions that are gathered have gone out."""

KINDS: Final = (
    ("say", 12),
    ("edit", 3),
    ("delete", 2),
    ("delete_many", 1),
    ("react", 10),
    ("take_own", 4),
    ("change_mind", 3),
    ("take_others", 2),
    ("take_emoji", 1),
    ("take_all", 1),
    ("read", 5),
    ("read_many", 2),
    ("suppress", 1),
    ("block", 1),
    ("unblock", 1),
)
"""What happens, and how often."""


def steps_of(randrange: Callable[[int], int], count: int) -> list[Step]:
    """Steps by chance."""
    kinds = [kind for kind, weight in KINDS for _ in range(weight)]
    return [
        Step(kinds[randrange(len(kinds))], randrange(3), randrange(60), randrange(60), randrange(60))
        for _ in range(count)
    ]


@attrs.define(eq=False)
class Watching:
    """A session that stays connected, and what it knows."""

    person: Person
    client: GatewayClient
    model: ReadingModel

    def catch_up(self) -> None:
        """Take over what has arrived."""
        assert self.client.close_frame is None, f"{self.person.username} was closed: {self.client.close_frame}"
        for payload in self.client.unread():
            self.model.take(payload.name, payload.data)


async def connected(person: Person, flags: int = 0) -> tuple[GatewayClient, ReadingModel]:
    """A new session, and what Ready tells it."""
    client = await person.open()
    await client.identify(person.token, flags=flags)
    return client, ReadingModel((await client.expect("READY")).data)


class ReadingHistory:
    """Carries steps out in the seeded world, and compares what its sessions know.

    Alice, bob and carol talk in a channel of a guild, in a group, and alice with bob alone. Bob's session gathers
    reactions.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self.people: tuple[Person, ...] = (world.alice, world.bob, world.carol)
        self.places: list[str] = []
        self.role = ""
        self.said: list[tuple[str, str, Person]] = []
        """Place, message and author, in the order in which they were said; also what is gone."""
        self.watching: list[Watching] = []
        self.log: list[str] = []
        self.answers: list[Response] = []

    async def begin(self) -> None:
        """Places, a role, who may name everyone; then all connect."""
        alice, bob, carol = self.people
        guild = f"/v1/guilds/{self.world.guild_id}"
        made = (await alice.rest.post(f"{guild}/roles", {"name": "crew", "mentionable": True})).expect(200)
        self.role = made["id"]
        (await alice.rest.put(f"{guild}/members/{bob.id}/roles/{self.role}")).expect(204)
        for other in (bob, carol):
            body = {"user_id": alice.id, "target_user_id": other.id, "type": 1}
            (await self.world.anyone.post("/v1/_dev/relationships", body)).expect(204)
        mask = {"type": 0, "allow": str(int(Permission.MENTION_EVERYONE)), "deny": "0"}
        channel = self.world.channel_id
        (await alice.rest.put(f"/v1/channels/{channel}/permissions/{self.world.guild_id}", mask)).expect(204)
        bodies = ({"recipient_id": bob.id}, {"recipients": [bob.id, carol.id]})
        opened = [(await alice.rest.post("/v1/users/@me/channels", body)).expect(200)["id"] for body in bodies]
        self.places = [channel, channel, *opened]
        for person in self.people:
            client, model = await connected(person, DEBOUNCE_FLAG if person is bob else 0)
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
        answer = await getattr(self, f"_{step.kind}")(actor, step)
        if answer is not None:
            self.answers.append(answer)
            self.log.append(f"{step} -> {answer.status} {answer.code}")
            assert answer.status < 500, self.log[-1]

    async def compare(self) -> None:
        """Every session knows what a fresh one of the same account is told, and reads."""
        await trio.sleep(SETTLING_SECONDS + WINDOW_SECONDS)
        for watching in self.watching:
            watching.catch_up()
            known = {"unread": watching.model.unread(), "shown": watching.model.shown()}
            told = await self._picture(watching.person)
            name = watching.person.username
            assert known == told, f"{name}: {differences(known, told)}\n" + "\n".join(self.log)

    async def pictures(self) -> list[dict[str, Any]]:
        """What a fresh session of each account is told, and reads."""
        return [await self._picture(person) for person in self.people]

    async def _picture(self, person: Person) -> dict[str, Any]:
        client, fresh = await connected(person)
        await client.aclose()
        messages: list[dict[str, Any]] = []
        for place in sorted(set(self.places)):
            answer = await person.rest.messages(place, limit=100)
            if answer.status == 200:
                messages += [message for message in answer.json() if message["type"] in WRITTEN_TYPES]
        return {"unread": fresh.unread(), "shown": shown_messages(messages)}

    # Writing

    async def _say(self, actor: Person, step: Step) -> Response:
        place = self.places[step.one % len(self.places)]
        answer = await actor.rest.send_message(place, self._text(step))
        if answer.status == 200:
            self.said.append((place, answer.json()["id"], actor))
        return answer

    async def _edit(self, actor: Person, step: Step) -> Response:
        place, message_id, author = self._chosen(step)
        return await author.rest.edit_message(place, message_id, self._text(step))

    async def _delete(self, actor: Person, step: Step) -> Response:
        place, message_id, author = self._chosen(step)
        return await (author if step.two % 2 else actor).rest.delete_message(place, message_id)

    async def _delete_many(self, actor: Person, step: Step) -> Response:
        ids = [message_id for place, message_id, _ in self.said if place == self.world.channel_id]
        first = step.two % len(ids) if ids else 0
        return await self.people[0].rest.bulk_delete_messages(self.world.channel_id, ids[first : first + 3] or ["1"])

    def _text(self, step: Step) -> str:
        """Names somebody, the role, everyone, those who are there, or nobody."""
        named = step.three
        words = [f"words {step.two}"]
        if named % 2:
            words.append(f"<@{self.people[step.two % len(self.people)].id}>")
        words += ["", f"<@&{self.role}>", "@everyone", "@here", "", ""][named % 6 : named % 6 + 1]
        return " ".join(words).strip()

    def _chosen(self, step: Step) -> tuple[str, str, Person]:
        return self.said[step.one % len(self.said)] if self.said else (self.places[0], "1", self.people[0])

    # Reactions

    async def _react(self, actor: Person, step: Step) -> Response:
        place, message_id, _ = self._chosen(step)
        return await actor.rest.react(place, message_id, self._emoji(step))

    async def _take_own(self, actor: Person, step: Step) -> Response:
        place, message_id, _ = self._chosen(step)
        return await actor.rest.take_reaction(place, message_id, self._emoji(step))

    async def _change_mind(self, actor: Person, step: Step) -> Response:
        """React and take it back before anybody's window closes."""
        await self._react(actor, step)
        return await self._take_own(actor, step)

    async def _take_others(self, actor: Person, step: Step) -> Response:
        place, message_id, _ = self._chosen(step)
        other = self.people[step.three % len(self.people)]
        return await self.people[0].rest.take_reaction(place, message_id, self._emoji(step), other.id)

    async def _take_emoji(self, actor: Person, step: Step) -> Response:
        place, message_id, _ = self._chosen(step)
        return await self.people[0].rest.take_reactions(place, message_id, self._emoji(step))

    async def _take_all(self, actor: Person, step: Step) -> Response:
        place, message_id, _ = self._chosen(step)
        return await self.people[0].rest.take_reactions(place, message_id)

    def _emoji(self, step: Step) -> str:
        return EMOJIS[step.two % len(EMOJIS)]

    # Reading

    async def _read(self, actor: Person, step: Step) -> Response:
        place, message_id, _ = self._chosen(step)
        return await actor.rest.acknowledge(place, message_id)

    async def _read_many(self, actor: Person, step: Step) -> Response:
        last = {place: {"channel_id": place, "message_id": message_id} for place, message_id, _ in self.said}
        return await actor.rest.acknowledge_channels(*last.values())

    async def _suppress(self, actor: Person, step: Step) -> Response:
        name = ("suppress_everyone", "suppress_roles")[step.one % 2]
        path = f"/v1/users/@me/guilds/{self.world.guild_id}/settings"
        return await actor.rest.patch(path, {name: bool(step.two % 2)})

    async def _block(self, actor: Person, step: Step) -> Response | None:
        other = self.people[step.one % len(self.people)]
        return None if other is actor else await actor.rest.block(other.id)

    async def _unblock(self, actor: Person, step: Step) -> Response | None:
        other = self.people[step.one % len(self.people)]
        return None if other is actor else await actor.rest.end_relationship(other.id)
