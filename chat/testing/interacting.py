"""What people do with an application, and what a bot answers, as clients and bots do it (interactions.md, Answers).

    await chat_world.bot.register({"name": "ping", "description": "Answers."})
    shown = await chat_world.alice.invoke("ping")
    shown = await chat_world.alice.press(shown.message, "again")
    asked = (await chat_world.bot.rest.send_message(channel_id, "", poll=poll("Which?", "red", "blue"))).expect(200)
    await chat_world.alice.vote(asked, "red")

Each act of a person waits for the application and tells what the person is shown. The application answers meanwhile: a
program, or a task of the test. Deadlines are those of the server's clock, virtual where that is.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import attrs

from chat.classes import define, frozen
from chat.registries.interactions import CallbackType, CommandType, InteractionType

if TYPE_CHECKING:
    from chat.testing.gateway_client import GatewayClient
    from chat.testing.world import Actor, Bot, Person

WAIT_SECONDS: Final = 10.0
"""Longer than an application may take."""

OUTCOMES: Final = (
    "INTERACTION_SUCCESS",
    "INTERACTION_FAILURE",
    "INTERACTION_AUTOCOMPLETE",
    "INTERACTION_MODAL_CREATE",
)
EPHEMERAL: Final = 1 << 6

Object = Mapping[str, Any]


class NotAnswered(AssertionError):
    """The application did not answer in its three seconds."""


class UnknownCommand(LookupError):
    """The person is offered no command of that name in that channel."""


@frozen
class Form:
    """A form that a person is shown: its parts by their `custom_id`, its `title`."""

    data: Object
    channel_id: str
    message_id: str | None = None
    """The message whose component opened it."""

    @property
    def title(self) -> str:
        """What stands above it."""
        return str(self.data["title"])


@frozen
class Shown:
    """What a person is shown at the end of an act, by the `id` of the interaction: a message (`message`), a form
    (`form`) or choices (`choices`). Nothing yet, where the application said that a change comes later."""

    id: str
    message: Object = attrs.field(factory=dict)
    form: Form | None = None
    choices: Sequence[Object] = ()

    @property
    def is_thinking(self) -> bool:
        """Whether the message is there and what it says comes later."""
        return bool(self.message.get("flags", 0) & 1 << 7)

    @property
    def is_private(self) -> bool:
        """Whether that person alone sees the message."""
        return bool(self.message.get("flags", 0) & EPHEMERAL)


def poll(question: str, *answers: str, hours: int = 24, several: bool = False) -> Object:
    """The `poll` of a message to be sent; `several` where one account may give several answers."""
    return {
        "question": {"text": question},
        "answers": [{"poll_media": {"text": answer}} for answer in answers],
        "duration": hours,
        "allow_multiselect": several,
    }


@define(eq=False)
class Acting:
    """A person at a channel, with a gateway session of its own that hears what becomes of each act."""

    _person: Person
    _channel_id: str
    _client: GatewayClient | None = None
    _nonces: itertools.count[int] = attrs.field(factory=lambda: itertools.count(1))

    async def client(self) -> GatewayClient:
        """The session, begun with the first act."""
        if self._client is None or not self._client.is_open:
            self._client = await self._person.connect()
        return self._client

    async def invoke(self, name: str, target: Actor | Object | None = None, /, **options: object) -> Shown:
        """Use the command of that name, `"config set"` for one below another; `target` is the person or the message of
        a command in a menu. Options are by name; a person, or any object with an `id`, stands for its id, and bytes are
        a file that is called as its option.

        :raises UnknownCommand:
        :raises NotAnswered:
        """
        command, nested = await self._named(name)
        files = {option: value for option, value in options.items() if isinstance(value, bytes)}
        numbers = {option: str(number) for number, option in enumerate(files)}
        data: Object = {"id": command["id"], "options": _within(nested, _options({**options, **numbers}))}
        if target is not None:
            data = {**data, "target_id": _value(target)}
        return await self._act(InteractionType.APPLICATION_COMMAND, command["application_id"], data, files=files)

    async def type_into(self, name: str, option: str, text: object, /, **options: object) -> Sequence[Object]:
        """Type into an option that completes itself: the choices that the application offers.

        :raises UnknownCommand:
        :raises NotAnswered:
        """
        command, nested = await self._named(name)
        typed = [*_options(options), {"name": option, "value": text, "focused": True}]
        data: Object = {"id": command["id"], "options": _within(nested, typed)}
        kind = InteractionType.APPLICATION_COMMAND_AUTOCOMPLETE
        return (await self._act(kind, command["application_id"], data)).choices

    async def press(self, message: Object, custom_id: str) -> Shown:
        """Press a button of a message. Raises NotAnswered."""
        return await self._use(message, {"custom_id": custom_id})

    async def choose(self, message: Object, custom_id: str, *values: object) -> Shown:
        """Choose from a menu of a message. Raises NotAnswered."""
        return await self._use(message, {"custom_id": custom_id, "values": [_value(value) for value in values]})

    async def submit(self, form: Form, /, **values: object) -> Shown:
        """Fill in a form, by the `custom_id` of its parts: a text, or a list for a menu. Raises NotAnswered."""
        filled = [
            {"custom_id": name, "values": [_value(each) for each in value]}
            if isinstance(value, list | tuple)
            else {"custom_id": name, "value": value}
            for name, value in values.items()
        ]
        data = {"id": form.data["id"], "components": filled}
        application_id = form.data["application"]["id"]
        kind, used_id = InteractionType.MODAL_SUBMIT, form.message_id
        return await self._act(kind, application_id, data, used_id=used_id, channel_id=form.channel_id)

    async def vote(self, message: Object, *answers: str | int) -> Object:
        """Vote in the poll of a message, in place of what the person voted before; with no answers, take the vote back.
        An answer is its words, or its number. Tells the poll as the person sees it then.

        :raises LookupError: for words that no answer has.
        """
        known = {each["poll_media"].get("text"): each["answer_id"] for each in message["poll"]["answers"]}
        missing = [answer for answer in answers if isinstance(answer, str) and answer not in known]
        if missing:
            raise LookupError(f"the poll has no answer {missing[0]!r}, but: {', '.join(map(str, known))}")
        numbers = [known[answer] if isinstance(answer, str) else answer for answer in answers]
        place, rest = f"/v1/channels/{message['channel_id']}", self._person.rest
        body = {"answer_ids": [str(number) for number in numbers]}
        (await rest.put(f"{place}/polls/{message['id']}/answers/@me", body)).expect(204)
        return dict((await rest.get(f"{place}/messages/{message['id']}")).expect(200)["poll"])

    async def _use(self, message: Object, data: Object) -> Shown:
        place = {"channel_id": message["channel_id"], "message_id": message["id"]}
        kind = InteractionType.MESSAGE_COMPONENT
        return await self._act(kind, _application_of(message), data, used_id=message["id"], **place)

    async def _named(self, name: str) -> tuple[Object, Sequence[str]]:
        """The command of that name, and the names below it."""
        path = f"/v1/channels/{self._channel_id}/application-commands"
        offered = (await self._person.rest.get(path)).expect(200)["application_commands"]
        whole = next((command for command in offered if command["name"] == name), None)
        if whole is not None:
            return whole, ()
        first, *nested = name.split(" ")
        below = next(
            (each for each in offered if each["name"] == first and each["type"] == CommandType.CHAT_INPUT), None
        )
        if below is None or not nested:
            known = ", ".join(sorted(command["name"] for command in offered))
            raise UnknownCommand(f"{self._person.name} is offered no command {name!r} here, but: {known or 'none'}")
        return below, nested

    async def _act(
        self,
        kind: InteractionType,
        application_id: str,
        data: Object,
        *,
        used_id: str | None = None,
        files: Mapping[str, bytes] | None = None,
        **place: str,
    ) -> Shown:
        client = await self.client()
        nonce, before = f"act-{next(self._nonces)}", len(client.dispatches)
        body = {
            "type": int(kind),
            "application_id": application_id,
            "channel_id": self._channel_id,
            "session_id": client.session_id,
            "nonce": nonce,
            "data": data,
            **place,
        }
        (await self._person.rest.act(body, files or {})).expect(204)
        ended = await client.expect_one_of(*OUTCOMES, where=lambda d: d["nonce"] == nonce, seconds=WAIT_SECONDS)
        if ended.name == "INTERACTION_FAILURE":
            raise NotAnswered(f"the application did not answer {self._person.name}'s {kind.name.lower()}: {data}")
        told = ended.data
        if ended.name == "INTERACTION_AUTOCOMPLETE":
            return Shown(told["id"], choices=told["choices"])
        if ended.name == "INTERACTION_MODAL_CREATE":
            return Shown(told["id"], form=Form(told, str(body["channel_id"]), used_id))
        heard = [each.data for each in client.dispatches[before:] if each.name in {"MESSAGE_CREATE", "MESSAGE_UPDATE"}]
        return Shown(told["id"], _answer_among(heard, told["id"], application_id, used_id))


def _answer_among(heard: Sequence[Object], interaction_id: str, application_id: str, used_id: str | None) -> Object:
    """The message that answers an interaction, or the one whose component was used; empty where neither was heard."""
    for message in reversed(heard):
        if message["author"]["id"] != application_id:
            continue
        about = message.get("interaction_metadata", {}).get("id")
        if about == interaction_id or message["id"] == used_id or message["flags"] & EPHEMERAL:
            return message
    return {}


def _application_of(message: Object) -> str:
    """Which application a message is of: its bot has the same id."""
    return str(message.get("application_id") or message["author"]["id"])


def _options(options: Mapping[str, object]) -> list[Object]:
    return [{"name": name, "value": _value(value)} for name, value in options.items()]


def _within(names: Sequence[str], options: list[Object]) -> list[Object]:
    """Options of a command below another one."""
    for name in reversed(names):
        options = [{"name": name, "options": options}]
    return options


def _value(value: object) -> object:
    """What stands for an account or another object with an id."""
    if isinstance(value, Mapping):
        return value["id"]
    return getattr(value, "id", value)


@frozen
class Answering:
    """What a bot of the test says to an interaction that it heard (`told`, the `d` of INTERACTION_CREATE)."""

    _bot: Bot

    async def register(self, *commands: Object) -> list[Object]:
        """These are the application's commands everywhere, and no others."""
        path = f"/v1/applications/{self._bot.application_id}/commands"
        return list((await self._bot.rest.put(path, list(commands))).expect(200))

    async def answer(self, told: Object, content: str = "", **members: object) -> None:
        """A message; `flags=64` for that person alone."""
        await self._call(told, CallbackType.CHANNEL_MESSAGE_WITH_SOURCE, {"content": content, **members})

    async def defer(self, told: Object, **members: object) -> None:
        """A message that comes later: `follow_up` brings it."""
        await self._call(told, CallbackType.DEFERRED_CHANNEL_MESSAGE_WITH_SOURCE, dict(members))

    async def change(self, told: Object, **members: object) -> None:
        """Change the message whose component was used."""
        await self._call(told, CallbackType.UPDATE_MESSAGE, dict(members))

    async def offer(self, told: Object, *choices: object) -> None:
        """Choices for what is being typed: values, which are their own names, or whole choices."""
        made = [choice if isinstance(choice, Mapping) else {"name": str(choice), "value": choice} for choice in choices]
        await self._call(told, CallbackType.APPLICATION_COMMAND_AUTOCOMPLETE_RESULT, {"choices": made})

    async def open_form(self, told: Object, custom_id: str, title: str, *components: Object) -> None:
        """A form with these components."""
        await self._call(
            told, CallbackType.MODAL, {"custom_id": custom_id, "title": title, "components": list(components)}
        )

    async def follow_up(self, told: Object, content: str = "", **members: object) -> Object:
        """A further message, or the one that was to come later: as it was written."""
        path = f"/v1/webhooks/{told['application_id']}/{told['token']}"
        return dict((await self._bot.rest.post(path, {"content": content, **members})).expect(200))

    async def _call(self, told: Object, kind: CallbackType, data: Object) -> None:
        path = f"/v1/interactions/{told['id']}/{told['token']}/callback"
        (await self._bot.rest.post(path, {"type": int(kind), "data": data})).expect(204)
