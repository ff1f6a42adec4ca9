"""A history of what people write and do with each other: messages, reactions, pins, acknowledgements, threads,
relationships, conversations, notes. Steps as in `tests.simulation.guild_history`, with which they can be mixed.

Beside what Ready tells, every session follows the messages of all channels that it may read; they are compared with
what is listed over HTTP.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

import trio

from chat.testing.rest_client import Response, RestClient
from chat.testing.world import Actor, World
from tests.simulation.client_model import ClientModel
from tests.simulation.guild_history import SETTLING_SECONDS, GuildHistory, Step, Watching, differences

EMOJIS: Final = ("👍", "🎉", "🦆")
LISTED: Final = 100
MUTED: Final = {"collapsed": False, "message_notifications": 3, "muted": True}


class ConversationHistory(GuildHistory):
    """Carries steps out, and compares what sessions know with Ready and with what is listed."""

    def __init__(self, world: World, *, model_of: type[ClientModel] = ClientModel) -> None:
        super().__init__(world, model_of=model_of)
        self.conversation_ids: list[str] = []
        self._readers: dict[str, RestClient] = {}

    async def begin(self) -> None:
        """As for guilds, with every channel opened; and Alice has a conversation with each of the others."""
        for person in (self.world.bob, self.world.carol):
            opened = await self.world.alice.rest.post("/v1/users/@me/channels", {"recipient_id": person.id})
            self.conversation_ids.append(opened.expect(200)["id"])
        await super().begin()
        await trio.sleep(SETTLING_SECONDS)
        for watching in self.watching:
            watching.catch_up()
            await self._compare_messages(watching)

    async def compare(self) -> None:
        """Every session knows what a fresh one is told, and the messages as they are listed."""
        await super().compare()
        for watching in self.watching:
            await self._compare_messages(watching)

    async def _compare_messages(self, watching: Watching) -> None:
        model, reader = watching.model, self._reader(watching)
        for channel_id in model.message_channels():
            answer = await reader.messages(channel_id, limit=LISTED)
            assert answer.status == 200, f"{watching.name} in {channel_id}: {answer.code}\n" + "\n".join(self.log)
            listed = answer.json()
            if channel_id in model.messages.open:
                known = model.messages.picture(channel_id)
                model.messages.load(channel_id, listed)
                told = model.messages.picture(channel_id)
                where = f"{watching.name} in {channel_id}"
                assert known == told, f"{where}: {differences(known, told)}\n" + "\n".join(self.log)
            else:
                model.messages.load(channel_id, listed)

    def _reader(self, watching: Watching) -> RestClient:
        """A client over HTTP that declares what the session has declared."""
        reader = self._readers.get(watching.name)
        if reader is None:
            reader = self._readers[watching.name] = watching.actor.rest.signed_in(watching.actor.rest.token)
            if not watching.threads:
                reader.headers.clear()
        return reader

    # What is there

    async def _place(self, actor: Actor, step: Step) -> str:
        """A channel, a thread or a conversation, mostly one that the actor sees."""
        watching = self._session_of(actor)
        watching.catch_up()
        places = watching.model.message_channels() if step.three % 10 else self.conversation_ids
        return places[step.one % len(places)] if places else "1"

    def _session_of(self, actor: Actor) -> Watching:
        return next(watching for watching in self.watching if watching.actor is actor and watching.threads)

    async def _some_message(self, actor: Actor, step: Step, *, own: bool = False) -> tuple[str, Mapping[str, Any]]:
        """A message of a place, the newest more often than others."""
        channel_id = await self._place(actor, step)
        answer = await actor.rest.messages(channel_id, limit=12)
        found = answer.json() if answer.status == 200 else []
        if own:
            found = [message for message in found if message["author"]["id"] == actor.id] or found
        return channel_id, found[step.two % len(found)] if found else {"id": "1", "reactions": []}

    # Messages

    async def _write(self, actor: Actor, step: Step) -> Response:
        other = self.actors[step.two % len(self.actors)]
        role_id = await self._role_id(step, step.two) if self.guild_ids else "1"
        content = (
            f"word {next(self._numbers)}",
            f"<@{other.id}> look",
            f"<@&{role_id}> all of you",
            "@everyone listen",
            "@here somebody",
            f"<@{other.id}> and @everyone",
        )[step.two % 6]
        flags = 1 << 12 if step.two % 7 == 0 else 0
        return await actor.rest.send_message(await self._place(actor, step), content, flags=flags)

    async def _answer(self, actor: Actor, step: Step) -> Response:
        channel_id, message = await self._some_message(actor, step)
        reference = {"message_id": message["id"], "channel_id": channel_id, "type": 0}
        pings = {"parse": ["users", "roles", "everyone"], "replied_user": bool(step.two % 2)}
        return await actor.rest.send_message(
            channel_id, "an answer", message_reference=reference, allowed_mentions=pings
        )

    async def _forward(self, actor: Actor, step: Step) -> Response:
        channel_id, message = await self._some_message(actor, step)
        reference = {"message_id": message["id"], "channel_id": channel_id, "type": 1}
        target = await self._place(actor, Step(step.kind, step.actor, step.two, step.one, step.three))
        return await actor.rest.send_message(target, "", message_reference=reference)

    async def _edit(self, actor: Actor, step: Step) -> Response:
        channel_id, message = await self._some_message(actor, step, own=True)
        other = self.actors[step.one % len(self.actors)]
        content = f"other words {next(self._numbers)}" if step.two % 3 else f"<@{other.id}> edited"
        path = f"/v1/channels/{channel_id}/messages/{message['id']}"
        body: dict[str, object] = {"content": content}
        if step.two % 5 == 0:
            body = {"embeds": [{"title": f"title {step.one}"}]}
        return await actor.rest.patch(path, body)

    async def _delete_message(self, actor: Actor, step: Step) -> Response:
        channel_id, message = await self._some_message(actor, step, own=bool(step.two % 3))
        return await actor.rest.delete_message(channel_id, message["id"])

    async def _delete_several(self, actor: Actor, step: Step) -> Response:
        channel_id = await self._place(actor, step)
        listed = await actor.rest.messages(channel_id, limit=4)
        ids = [message["id"] for message in listed.json()] if listed.status == 200 else []
        return await actor.rest.post(f"/v1/channels/{channel_id}/messages/bulk-delete", {"message_ids": ids or ["1"]})

    async def _pin(self, actor: Actor, step: Step) -> Response:
        channel_id, message = await self._some_message(actor, step)
        return await actor.rest.put(f"/v1/channels/{channel_id}/pins/{message['id']}")

    async def _unpin(self, actor: Actor, step: Step) -> Response:
        channel_id, message = await self._some_message(actor, step)
        return await actor.rest.delete(f"/v1/channels/{channel_id}/pins/{message['id']}")

    async def _see_pins(self, actor: Actor, step: Step) -> Response:
        return await actor.rest.post(f"/v1/channels/{await self._place(actor, step)}/pins/ack")

    async def _thread_of_message(self, actor: Actor, step: Step) -> Response:
        channel_id, message = await self._some_message(actor, step)
        path = f"/v1/channels/{channel_id}/messages/{message['id']}/threads"
        return await actor.rest.post(path, {"name": f"about {next(self._numbers)}"})

    async def _change_thread(self, actor: Actor, step: Step) -> Response:
        body = (
            {"name": f"thread {next(self._numbers)}"},
            {"archived": True},
            {"archived": False},
            {"locked": bool(step.two % 2)},
        )[step.two % 4]
        return await actor.rest.patch(f"/v1/channels/{self._thread_id(step)}", body)

    # Reactions

    async def _react(self, actor: Actor, step: Step) -> Response:
        return await self._reaction("PUT", actor, step, "/@me")

    async def _take_back(self, actor: Actor, step: Step) -> Response:
        return await self._reaction("DELETE", actor, step, "/@me")

    async def _take_from_other(self, actor: Actor, step: Step) -> Response:
        return await self._reaction("DELETE", actor, step, f"/{self.actors[step.three % len(self.actors)].id}")

    async def _take_emoji(self, actor: Actor, step: Step) -> Response:
        return await self._reaction("DELETE", actor, step, "")

    async def _take_all(self, actor: Actor, step: Step) -> Response:
        channel_id, message = await self._some_message(actor, step)
        return await actor.rest.delete(f"/v1/channels/{channel_id}/messages/{message['id']}/reactions")

    async def _reaction(self, method: str, actor: Actor, step: Step, who: str) -> Response:
        channel_id, message = await self._some_message(actor, step)
        emoji = quote(EMOJIS[step.three % len(EMOJIS)])
        path = f"/v1/channels/{channel_id}/messages/{message['id']}/reactions/{emoji}{who}"
        return await actor.rest.request(method, path)

    # Read states

    async def _acknowledge(self, actor: Actor, step: Step) -> Response:
        channel_id, message = await self._some_message(actor, step)
        body: dict[str, object] = {}
        if step.three % 4 == 0:
            body = {"manual": True, "mention_count": step.three % 3}
        return await actor.rest.post(f"/v1/channels/{channel_id}/messages/{message['id']}/ack", body)

    # People

    async def _befriend(self, actor: Actor, step: Step) -> Response:
        return await actor.rest.post(f"/v1/users/@me/relationships/{self._person(step).id}")

    async def _accept(self, actor: Actor, step: Step) -> Response:
        return await actor.rest.put(f"/v1/users/@me/relationships/{self._person(step).id}")

    async def _block(self, actor: Actor, step: Step) -> Response:
        return await actor.rest.put(f"/v1/users/@me/relationships/{self._person(step).id}", {"type": 2})

    async def _unrelate(self, actor: Actor, step: Step) -> Response:
        return await actor.rest.delete(f"/v1/users/@me/relationships/{self._person(step).id}")

    async def _nickname(self, actor: Actor, step: Step) -> Response:
        body = {"nickname": f"friend {step.two}" if step.two % 3 else None}
        return await actor.rest.patch(f"/v1/users/@me/relationships/{self._person(step).id}", body)

    async def _note(self, actor: Actor, step: Step) -> Response:
        body = {"note": f"note {step.two}" if step.two % 3 else None}
        return await actor.rest.put(f"/v1/users/@me/notes/{self._person(step).id}", body)

    async def _open(self, actor: Actor, step: Step) -> Response:
        wanted: dict[str, object] = {"recipient_id": self._person(step).id}
        if step.two % 3 == 0:
            wanted = {"recipients": sorted({self._person(step).id, self.people[step.two % len(self.people)].id})}
        opened = await actor.rest.post("/v1/users/@me/channels", wanted)
        if opened.status == 200 and opened.json()["id"] not in self.conversation_ids:
            self.conversation_ids.append(opened.json()["id"])
        return opened

    async def _close(self, actor: Actor, step: Step) -> Response:
        return await actor.rest.delete(f"/v1/channels/{self._conversation_id(step)}")

    async def _rename_group(self, actor: Actor, step: Step) -> Response:
        body = {"name": f"group {step.two}" if step.two % 3 else None}
        return await actor.rest.patch(f"/v1/channels/{self._conversation_id(step)}", body)

    async def _add_recipient(self, actor: Actor, step: Step) -> Response:
        path = f"/v1/channels/{self._conversation_id(step)}/recipients/{self._person(step).id}"
        return await actor.rest.put(path)

    async def _take_recipient(self, actor: Actor, step: Step) -> Response:
        path = f"/v1/channels/{self._conversation_id(step)}/recipients/{self._person(step).id}"
        return await actor.rest.delete(path)

    async def _pin_conversation(self, actor: Actor, step: Step) -> Response:
        path = f"/v1/users/@me/channels/{self._conversation_id(step)}/pin"
        return await actor.rest.request("PUT" if step.two % 3 else "DELETE", path)

    async def _guild_settings(self, actor: Actor, step: Step) -> Response:
        body = ({"suppress_everyone": bool(step.two % 4)}, {"suppress_roles": bool(step.two % 4)}, {"muted": True})
        guild_id = self._guild(step)
        return await actor.rest.patch(f"/v1/users/@me/guilds/{guild_id}/settings", body[step.one % 3])

    def _person(self, step: Step) -> Actor:
        return self.people[step.one % len(self.people)]

    def _conversation_id(self, step: Step) -> str:
        return self.conversation_ids[step.three % len(self.conversation_ids)]


MESSAGE_KINDS: Final[Sequence[tuple[str, int]]] = (
    ("write", 16),
    ("answer", 5),
    ("forward", 2),
    ("edit", 6),
    ("delete_message", 5),
    ("delete_several", 1),
    ("pin", 3),
    ("unpin", 1),
    ("see_pins", 2),
    ("react", 10),
    ("take_back", 4),
    ("take_from_other", 2),
    ("take_emoji", 1),
    ("take_all", 1),
    ("acknowledge", 8),
    ("start_thread", 2),
    ("thread_of_message", 3),
    ("change_thread", 3),
    ("join_thread", 3),
    ("leave_thread", 1),
    ("add_to_thread", 2),
    ("take_from_thread", 1),
    ("guild_settings", 1),
)
PEOPLE_KINDS: Final[Sequence[tuple[str, int]]] = (
    ("befriend", 8),
    ("accept", 6),
    ("block", 3),
    ("unrelate", 4),
    ("nickname", 2),
    ("note", 2),
    ("open", 6),
    ("close", 4),
    ("rename_group", 2),
    ("add_recipient", 4),
    ("take_recipient", 2),
    ("pin_conversation", 2),
    ("write", 8),
    ("react", 2),
    ("delete_message", 2),
    ("acknowledge", 3),
)
SIGHT_KINDS: Final[Sequence[tuple[str, int]]] = (
    ("create_role", 2),
    ("change_role", 3),
    ("delete_role", 1),
    ("give_role", 4),
    ("take_role", 3),
    ("create_channel", 3),
    ("delete_channel", 1),
    ("role_overwrite", 4),
    ("member_overwrite", 4),
    ("drop_overwrite", 2),
    ("join", 3),
    ("leave", 1),
    ("kick", 1),
    ("ban", 1),
    ("delete_messages", 1),
    ("leave_with_messages", 1),
)
"""What changes who sees and reads messages."""
