"""A Hypothesis state machine that plays with somebody's own bot: people talk to it, and things break.

    class EchoMachine(BotMachine):
        async def run_bot(self, world):                    # the bot, as a Trio task; ends with the example
            await echo_bot(world.route, world.bot.token)

        def expected(self, content):                       # what it owes for a message, None for nothing
            return content.removeprefix("!echo ") if content.startswith("!echo ") else None

        messages = st.text("abc ", min_size=1).map("!echo {}".format)

    TestEcho = EchoMachine.TestCase

The bot is any client of the gateway. One that is a Trio task lives with a server in memory on virtual time. Any other
program is started with `command`, and talks to a running `chat dev`:

    class DiscordMachine(BotMachine):
        description = json.loads(first_line_of_chat_dev_json)
        command = ("node", "bot.mjs")                      # finds CHAT_BASE_URL, CHAT_GATEWAY_URL, CHAT_BOT_TOKEN ...

Rules post messages, cut the bot's socket in several ways, end its session, let the network stall, refuse its requests
and let time pass. What must hold after each: the bot is back within `patience_seconds`, it has not begun more than
`identifies_per_minute` sessions in a minute without a reason, no socket of it was closed for a mistake, and it has
paid what it owes: once for each message, where no session was lost on the way, and never twice.
"""

from __future__ import annotations

import functools
import os
import types
from collections import Counter, deque
from collections.abc import Sequence
from typing import ClassVar, Final

import trio
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from chat.classes import define
from chat.development.answers import DescribedWorld
from chat.testing.dev_server import environment_of
from chat.testing.stepped_run import SteppedMachine, in_run
from chat.testing.world import World

STEPS: Final = 12
POLL_SECONDS: Final = 0.25
MINUTE: Final = 60.0
STALL_MS: Final = 1_000
"""A stalled bot hears late; what was said meanwhile reaches it all the same."""

PAGE: Final = 100
"""Messages of the channel that are read at once."""

CLOSES: Final = (1000, 1001, 1012, 4000)
"""Codes after which a client comes back (gateway.md, Resume)."""

HARMLESS: Final = (*CLOSES, 1006)
"""What a socket may end with that the bot has not brought about."""

REFUSALS: Final = (429, 500, 502, 503)
"""Statuses after which a client tries again."""

MACHINE_SETTINGS: Final = settings(
    max_examples=max(5, settings().max_examples // 4),
    stateful_step_count=STEPS,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)


@define(eq=False)
class Debt:
    """A message that the bot is to answer with `text`; `excused` when a session was lost before it did."""

    text: str
    excused: bool = False


class BotMachine(SteppedMachine):
    """Override `run_bot` or `command`; and what is said of the bot below."""

    command: ClassVar[Sequence[str]] = ()
    """The program that is the bot, where it is no Trio task."""

    messages: ClassVar[st.SearchStrategy[str]] = st.text("abcdefghij !?", min_size=1, max_size=40)
    """What people say to it."""

    patience_seconds: ClassVar[float] = 120.0
    """How long it may take to come back after anything."""

    identifies_per_minute: ClassVar[int] = 5
    """A bot that begins more sessions than that in a minute, besides one after each fault, hammers."""

    forgives_refusals: ClassVar[bool] = False
    """Whether an answer may be missing whose request was refused: the bot does not try again."""

    server_settings = types.MappingProxyType({"gateway.sessions_per_user": 3})

    def __init__(self) -> None:
        super().__init__()
        self.debts: list[Debt] = []
        self._begun: deque[tuple[float, str]] = deque(maxlen=256)
        """When each session of the bot was first seen."""
        self._struck: deque[float] = deque(maxlen=256)
        """When a fault struck, after each of which the bot may begin a session."""
        self._looked_up_to = 0
        """The number of the history's entry up to which its closed sockets are known."""
        self._program: trio.Process | None = None

    # What the bot is

    async def run_bot(self, world: World) -> None:
        """The bot as a Trio task. It is cancelled when the example ends; what it raises fails the test."""
        raise NotImplementedError("a BotMachine has `run_bot` or `command`")

    def expected(self, content: str) -> str | None:
        """The text with which the bot is to answer a message, None where it is to stay silent."""
        return None

    async def check(self, world: World) -> None:
        """What else must hold after each step, when the bot is calm. Raise AssertionError where it does not."""

    def environment(self, world: DescribedWorld) -> dict[str, str]:
        """What `command` finds in its environment, besides ours."""
        return environment_of(world)

    # Its life

    @initialize()
    @in_run
    async def start_the_bot(self) -> None:
        if self.command:
            if self.description is None:
                raise TypeError(
                    "a BotMachine with `command` needs `description`: a program reaches no server in memory"
                )
            environment = {**os.environ, **self.environment(self.description)}
            self._program = await trio.lowlevel.open_process(self.command, env=environment)
        else:
            self.run.start_soon(functools.partial(self.run_bot, self.world))
        await self._settle("connect")

    async def leave(self) -> None:
        if self._program is not None:
            self._program.kill()
            await self._program.wait()
        await super().leave()

    # Rules

    @rule(data=st.data())
    def say(self, data: st.DataObject) -> None:
        """Somebody says something; the bot answers, if that is its business."""
        self.run.call(self._say, data.draw(self.messages, label="message"))

    async def _say(self, content: str) -> None:
        await self._post(content)
        await self._settle("answer")

    @rule(code=st.sampled_from(CLOSES))
    @in_run
    async def close(self, code: int) -> None:
        """Its socket is closed with a code that says: come back."""
        await self._strike("close", code=code, reason="")

    @rule()
    @in_run
    async def drop(self) -> None:
        """Its socket breaks without a word."""
        await self._strike("drop")

    @rule()
    @in_run
    async def reconnect(self) -> None:
        """It is asked to come back (opcode 7)."""
        await self._strike("reconnect")

    @rule(action=st.sampled_from(["invalid_session", "end_session"]))
    @in_run
    async def lose_the_session(self, action: str) -> None:
        """Its session is over (opcode 9, or without a word): it must begin a new one."""
        self._excuse()
        await self._strike(action)

    @rule(data=st.data(), fault=st.sampled_from(["drop", "reconnect"]))
    def say_while_it_is_away(self, data: st.DataObject, fault: str) -> None:
        """It is cut off, and hears by Resume what was said meanwhile."""
        self.run.call(self._say_while_away, data.draw(self.messages, label="message"), fault)

    async def _say_while_away(self, content: str, fault: str) -> None:
        await self._fault(fault)
        await self._post(content)
        await self._settle(f"come back after {fault}, and answer")

    @rule(data=st.data(), status=st.sampled_from(REFUSALS), times=st.integers(1, 2))
    def refuse_its_request(self, data: st.DataObject, status: int, times: int) -> None:
        """Its answer is refused at first, as a busy server does."""
        self.run.call(self._refuse, data.draw(self.messages, label="message"), status, times)

    async def _refuse(self, content: str, status: int, times: int) -> None:
        await self._fault("stall", ms=STALL_MS)
        await self._post(content)
        if self.forgives_refusals:
            self._excuse()
        path = f"/v1/channels/{self.world.channel_id}/messages"
        fault = {"action": "http", "method": "POST", "path": path, "status": status, "times": times, "retry_after": 1}
        (await self.world.anyone.post("/v1/_dev/faults", fault)).expect(200)
        await self.sleep(STALL_MS / 1000 + POLL_SECONDS)
        await self._settle(f"answer in spite of {times} times {status}")
        for _ in range(times):  # the refusals that the bot did not meet
            await self.world.alice.rest.send_message(self.world.channel_id, "")

    @precondition(lambda self: not self.is_real)
    @rule(seconds=st.sampled_from([1.0, 50.0, 600.0]))
    @in_run
    async def let_time_pass(self, seconds: float) -> None:
        """Heartbeats are its business: nothing happens to one that sends them."""
        before = await self._sessions()
        await self.sleep(seconds)
        assert await self._sessions() == before, f"the bot lost its session in {seconds} s of quiet"

    # What happens to it

    async def _strike(self, action: str, **members: object) -> None:
        await self._fault(action, **members)
        await self._settle(f"come back after {action}")

    async def _fault(self, action: str, **members: object) -> None:
        self._struck.append(await self.moment())
        await self.world.anyone.fault(action, {"user_id": self.world.bot.id}, **members)

    async def _post(self, content: str) -> None:
        (await self.world.alice.rest.send_message(self.world.channel_id, content)).expect(200)
        owed = self.expected(content)
        if owed is not None:
            self.debts.append(Debt(owed))

    def _excuse(self) -> None:
        for debt in self.debts:
            debt.excused = True

    # What must hold

    async def _settle(self, task: str) -> None:
        """Wait until the bot is there and owes nothing. Raises AssertionError after `patience_seconds`."""
        ends = await self.moment() + self.patience_seconds
        while (missing := await self._missing()) is not None:
            assert await self.moment() < ends, f"the bot did not {task} within {self.patience_seconds} s: {missing}"
            await trio.sleep(POLL_SECONDS)
        await self._check_no_more_than_owed()
        await self._check_closed_sockets()
        await self.check(self.world)

    async def _missing(self) -> str | None:
        """What the test still waits for; None if nothing is missing."""
        if self._program is not None:
            assert self._program.poll() is None, f"the bot ended with status {self._program.returncode}"
        if not await self._sessions():
            return "it has no session with a socket"
        said = await self._said()
        owed = Counter(debt.text for debt in self.debts if not debt.excused)
        unpaid = owed - said
        return f"it has not said {', '.join(map(repr, unpaid))}" if unpaid else None

    async def _check_no_more_than_owed(self) -> None:
        said, owed = await self._said(), Counter(debt.text for debt in self.debts)
        twice = {text: count for text, count in said.items() if text in owed and count > owed[text]}
        assert not twice, f"the bot answered more often than it was asked: {twice}"

    async def _check_closed_sockets(self) -> None:
        query: dict[str, str | int] = {"kind": "ended", "user_id": self.world.bot.id, "after": self._looked_up_to}
        history = (await self.world.anyone.get("/v1/_dev/history", query)).expect(200)
        self._looked_up_to = history["next"] - 1
        for ended in history["entries"]:
            mistake = not ended["by_client"] and ended["code"] not in HARMLESS
            assert not mistake, f"the bot's socket was closed with {ended['code']} {ended['reason']!r}"

    async def _said(self) -> Counter[str]:
        """What the bot has said in the channel, and how often."""
        said: Counter[str] = Counter()
        before: str | None = None
        while page := (await self.world.alice.rest.messages(self.world.channel_id, limit=PAGE, before=before)).expect(
            200
        ):
            said.update(message["content"] for message in page if message["author"]["id"] == self.world.bot.id)
            before = page[-1]["id"]
        return said

    async def _sessions(self) -> set[str]:
        """The ids of the bot's sessions that have a socket. Raises AssertionError when it begins too many."""
        shown = await self.shown_sessions()
        mine = {id for id, session in shown.items() if session["user_id"] == self.world.bot.id and session["attached"]}
        now = await self.moment()
        known = {id for _, id in self._begun}
        self._begun.extend((now, id) for id in mine - known)
        lately = sum(now - begun <= MINUTE for begun, _ in self._begun)
        allowed = self.identifies_per_minute + sum(now - struck <= MINUTE for struck in self._struck)
        assert lately <= allowed, f"the bot began {lately} sessions within a minute"
        return mine


BotMachine.TestCase.settings = MACHINE_SETTINGS
