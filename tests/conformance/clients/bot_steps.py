"""The one bot that is written for each library: the steps that it is put through, each by what a person does with it.

The bot has these commands. It answers what stands behind each, and reports (`reports.py`) what stands in brackets.

- `everything` with an option of each kind: "everything" [everything: each option's value; ids as text, of the file its
  name and size]
- `tree branch leaf` with `name`: "leaf NAME"
- `find` with `word`, which completes itself to "WORD!": "found WORD"
- "Look at" on a person: "looked at ID"; "Keep it" on a message: "kept CONTENT"
- `secret`: "only you", for that person alone
- `slow`: later, "there" [filled]
- `more`: "first", and the follow-up "second" [more: its id]
- `change`: "before", changed to "after"; the follow-up "then" changed to "then!" [changed: its id]
- `gone`: "here", which it deletes [gone]
- `board`: the buttons `go` (changes the message to "pressed") and `why` (the form, with the text `reason`: "because
  REASON"), and the menu of words `colour`
- `menus`: menus of people, roles, both and channels. Every menu is answered with "chose" and what was chosen
- `layout`: components of the second form, of each kind, and the button `inside`: "inside"
- `ask`: a poll [asked: its message's id]; it reports a vote [voted: who, and the number of the answer] and ends the
  poll then [ended]

It reports what alice says [heard: content], and goes when she says "bye".
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, Final

import attrs
import trio

from chat.testing.interacting import Shown
from chat.testing.world import World
from tests.conformance.clients.talk import Alice, BotProcess

COMMANDS: Final = {
    (1, name)
    for name in ("everything", "tree", "find", "secret", "slow", "more", "change", "gone", "board", "menus", "layout")
} | {(1, "ask"), (2, "Look at"), (3, "Keep it")}

OPTIONS: Final = {
    "text": 3,
    "number": 4,
    "yes": 5,
    "who": 6,
    "where": 7,
    "role": 8,
    "whom": 9,
    "part": 10,
    "file": 11,
}
"""The options of `everything`, with their types."""

SECOND_FORM: Final = {1, 2, 9, 10, 11, 12, 14, 17}
"""Types of the components of `layout`."""

STEP_SECONDS: Final = 20
"""A machine under load takes its time."""


@attrs.frozen
class Stage:
    """The bot, and who is there with it: bob uses it, alice speaks and looks."""

    bot: BotProcess
    world: World
    alice: Alice
    role_id: str
    shown: dict[str, Mapping[str, Any]] = attrs.field(factory=dict)
    """Messages that later steps use, by the command that made them."""

    async def invoked(self, name: str, target: Any = None, /, **options: Any) -> Shown:
        """Bob uses a command."""
        return await self.world.bob.invoke(name, target, **options)

    async def board(self, name: str) -> Mapping[str, Any]:
        """The message that a command makes, once."""
        if name not in self.shown:
            self.shown[name] = (await self.invoked(name)).message
        return self.shown[name]

    async def chooses(self, command: str, menu: str, *values: str) -> None:
        """Bob chooses from a menu of the message, and is told what he chose."""
        answered = await self.world.bob.choose(await self.board(command), menu, *values)
        assert answered.message["content"] == f"chose {' '.join(values)}"


STEPS: Final[dict[str, Callable[[Stage], Awaitable[None]]]] = {}
"""By the name that the manual has."""


def step(name: str) -> Callable[[Callable[[Stage], Awaitable[None]]], None]:
    """A step of that name."""
    return lambda act: STEPS.update({name: act})


@step("commands are registered")
async def _registered(stage: Stage) -> None:
    path = f"/v1/channels/{stage.alice.channel_id}/application-commands"
    listed = (await stage.world.bob.rest.get(path)).expect(200)["application_commands"]
    assert {(each["type"], each["name"]) for each in listed} == COMMANDS
    (everything,) = (each for each in listed if each["name"] == "everything")
    assert {option["name"]: option["type"] for option in everything["options"]} == OPTIONS


@step("every kind of option")
async def _options(stage: Stage) -> None:
    given = {
        "text": "leek",
        "number": 3,
        "part": 0.5,
        "yes": True,
        "who": stage.world.alice.id,
        "where": stage.alice.channel_id,
        "role": stage.role_id,
        "whom": stage.world.carol.id,
    }
    shown = await stage.invoked("everything", **given, file=b"green")
    assert shown.message["content"] == "everything"
    heard = await stage.bot.said("everything")
    assert heard == {"step": "everything", **given, "file": ["file", 5]}


@step("a command below a command")
async def _below(stage: Stage) -> None:
    shown = await stage.invoked("tree branch leaf", name="oak")
    assert shown.message["content"] == "leaf oak"


@step("choices while one types")
async def _choices(stage: Stage) -> None:
    assert await stage.world.bob.type_into("find", "word", "wo") == [{"name": "wo!", "value": "wo!"}]
    assert (await stage.invoked("find", word="wo!")).message["content"] == "found wo!"


@step("a command on a person")
async def _person(stage: Stage) -> None:
    shown = await stage.invoked("Look at", stage.world.carol)
    assert shown.message["content"] == f"looked at {stage.world.carol.id}"


@step("a command on a message")
async def _message(stage: Stage) -> None:
    kept = await stage.alice.says("keep me")
    assert (await stage.invoked("Keep it", {"id": kept})).message["content"] == "kept keep me"


@step("an answer for one person")
async def _private(stage: Stage) -> None:
    shown = await stage.invoked("secret")
    assert (shown.is_private, shown.message["content"]) == (True, "only you")


@step("an answer that comes later")
async def _later(stage: Stage) -> None:
    shown = await stage.invoked("slow")
    await stage.bot.said("filled")
    assert (await stage.alice.sees(shown.message["id"]))["content"] == "there"


@step("a follow-up")
async def _follow_up(stage: Stage) -> None:
    shown = await stage.invoked("more")
    second = await stage.alice.sees((await stage.bot.said("more"))["id"])
    assert (shown.message["content"], second["content"]) == ("first", "second")


@step("answers that are changed")
async def _changed(stage: Stage) -> None:
    shown = await stage.invoked("change")
    then = await stage.alice.sees((await stage.bot.said("changed"))["id"])
    first = await stage.alice.sees(shown.message["id"])
    assert (first["content"], then["content"]) == ("after", "then!")


@step("an answer that is deleted")
async def _deleted(stage: Stage) -> None:
    shown = await stage.invoked("gone")
    await stage.bot.said("gone")
    assert await stage.alice.misses(shown.message["id"])


@step("a button that changes its message")
async def _button(stage: Stage) -> None:
    board = await stage.board("board")
    pressed = await stage.world.bob.press(board, "go")
    assert (pressed.message["id"], pressed.message["content"]) == (board["id"], "pressed")


@step("a menu of words")
async def _words(stage: Stage) -> None:
    await stage.chooses("board", "colour", "green")


@step("a menu of people")
async def _people(stage: Stage) -> None:
    await stage.chooses("menus", "people", stage.world.alice.id, stage.world.bob.id)


@step("a menu of roles")
async def _roles(stage: Stage) -> None:
    await stage.chooses("menus", "roles", stage.role_id)


@step("a menu of both")
async def _both(stage: Stage) -> None:
    await stage.chooses("menus", "both", stage.world.alice.id, stage.role_id)


@step("a menu of channels")
async def _channels(stage: Stage) -> None:
    await stage.chooses("menus", "channels", stage.alice.channel_id)


@step("a form")
async def _form(stage: Stage) -> None:
    asked = await stage.world.bob.press(await stage.board("board"), "why")
    assert asked.form is not None
    assert asked.form.title == "Why?"
    assert (await stage.world.bob.submit(asked.form, reason="I can")).message["content"] == "because I can"


@step("components of the second form")
async def _second_form(stage: Stage) -> None:
    shown = (await stage.invoked("layout")).message
    assert shown["flags"] & 1 << 15
    assert set(_types(shown)) == SECOND_FORM
    assert (await stage.world.bob.press(shown, "inside")).message["content"] == "inside"


def _types(component: Mapping[str, Any]) -> Iterator[int]:
    for below in [*component.get("components", ()), *filter(None, [component.get("accessory")])]:
        yield below["type"]
        yield from _types(below)


@step("a poll, and votes in it")
async def _poll(stage: Stage) -> None:
    await stage.invoked("ask")
    asked = await stage.alice.sees((await stage.bot.said("asked"))["id"])
    await stage.world.bob.vote(asked, "red")
    voted = await stage.bot.said("voted")
    assert (voted["by"], voted["answer"]) == (stage.world.bob.id, 1)
    await stage.bot.said("ended")
    assert (await stage.alice.sees(asked["id"]))["poll"]["results"]["is_finalized"]


@step("a cut, and Resume")
async def _cut(stage: Stage) -> None:
    (session,) = await stage.alice.sessions_of_bot()
    assert await stage.alice.rest.fault("drop", {"session_id": session}) == 1
    await stage.alice.says("while you were away")
    while (await stage.bot.said("heard"))["content"] != "while you were away":
        pass  # what was said in earlier steps
    assert await stage.alice.sessions_of_bot() == [session]
    await stage.chooses("board", "colour", "red")


async def failures(stage: Stage) -> dict[str, Exception]:
    """Put the bot through all steps; what went wrong, by step."""
    failed: dict[str, Exception] = {}
    for name, act in STEPS.items():
        try:
            with trio.fail_after(STEP_SECONDS):
                await act(stage)
        except (AssertionError, LookupError, trio.TooSlowError) as error:
            failed[name] = error
    return failed
