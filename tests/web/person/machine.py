"""PersonMachine: an example is a person who does a row of acts; a finding is the first that was wrong, with the row."""

from __future__ import annotations

import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Any, Final

import attrs
from playwright.sync_api import Browser
from playwright.sync_api import Error as BrowserError

from tests.web.person import others
from tests.web.person.acts import Act, Drawing, Look
from tests.web.person.comparison import Comparison
from tests.web.person.contexts import Contexts
from tests.web.person.judging import judge
from tests.web.person.persons_browser import PersonsBrowser, Setting
from tests.web.person.shrinking import kind_of
from tests.web.person.world import World

WIDTHS: Final = (360, 768, 1024, 1280, 1920)
COMPARED_EVERY: Final = 40
BEGINNINGS: Final = (
    "GUILD/general",
    "GUILD/general",
    "@me",
    "GUILD/seeds",
    "@me/friends",
    "GUILD/forum",
    "GUILD",
    "GUILD/adults",
)


Draw = Callable[[Look, PersonsBrowser], Act]


@attrs.frozen
class Finding:
    """What was wrong, and everything that was done until then."""

    faults: Sequence[str]
    setting: Setting
    beginning: str
    acts: Sequence[Act]

    def told(self) -> str:
        """For people."""
        lines = [f"{self.setting.told()}, begins at {self.beginning}"]
        lines += [act.sentence(self.setting.who) for act in self.acts]
        return "\n".join(lines + [f"  ! {fault}" for fault in self.faults])

    def kept(self) -> dict[str, Any]:
        """As JSON, to be replayed."""
        return attrs.asdict(self)


def setting_of(chance: random.Random) -> Setting:
    """Who sits where."""
    who = chance.choice(("alice", "alice", "bob", "carol"))
    return Setting(who, chance.choice(WIDTHS), chance.choice(("light", "dark")), chance.choice(("en", "en", "de")))


class PersonMachine:
    """Examples on one world, in one Chromium."""

    def __init__(self, browser: Browser, world: World) -> None:
        self.world, self.contexts = world, Contexts(browser, world)
        self.acts = 0
        self.until = float("inf")
        """When an example ends before its time, by `time.monotonic`."""
        self.seconds: dict[str, float] = defaultdict(float)
        self.touched: Counter[str] = Counter()
        self.memory = 0
        """The most that a page held at the end of an example, in bytes."""
        self.known: Counter[str] = Counter()
        """Kinds of faults that are passed over, and how often they came."""

    def example(self, seed: int, count: int) -> Finding | None:
        """Draw and do this many acts."""
        chance = random.Random(seed)
        setting = setting_of(chance)
        beginning = chance.choice(BEGINNINGS)
        drawing = Drawing(chance, setting.is_touched)
        done: list[Act] = []

        def draw(look: Look, person: PersonsBrowser) -> Act:
            done.append(drawing.act(look, tabs=len(person.tabs), offline=person.is_offline))
            return done[-1]

        faults = self._lived(setting, beginning, count, draw)
        return Finding(faults, setting, beginning, done) if faults else None

    def replay(self, setting: Setting, beginning: str, acts: Sequence[Act]) -> list[str]:
        """Do just these."""
        rest = iter(acts)
        return self._lived(setting, beginning, len(acts), lambda _look, _person: next(rest))

    def _lived(self, setting: Setting, beginning: str, count: int, draw: Draw) -> list[str]:
        self.world.put_back()
        person = PersonsBrowser(self.contexts.taken("person", setting), self.world, setting)
        comparison = Comparison(self.contexts, self.world, setting)
        try:
            return self._through(person, comparison, beginning, count, draw)
        except BrowserError as error:
            self.contexts.give_up()
            return [f"browser: {error.message.splitlines()[0]}"]
        finally:
            comparison.close()
            person.close()

    def _through(
        self, person: PersonsBrowser, comparison: Comparison, beginning: str, count: int, draw: Draw
    ) -> list[str]:
        person.open_tab(person.address(beginning))
        look = person.rest()
        faults = self._new(look["faults"])
        for number in range(1, count + 1):
            if faults:
                return faults
            faults, look = self._one(person, draw(look, person), look)
            if not faults and look["pins"] is not None:
                faults, look = comparison.pins(person, look)
                faults = self._new(faults)
            is_over = number == count or time.monotonic() > self.until
            if not faults and (is_over or number % COMPARED_EVERY == 0) and not person.is_offline:
                began = time.monotonic()
                faults = self._new(comparison.of(person))
                self.seconds["comparing"] += time.monotonic() - began
            if is_over:
                self.memory = max(self.memory, person.memory())
                break
        return faults

    def _one(self, person: PersonsBrowser, act: Act, before: Look) -> tuple[list[str], Look]:
        self.acts += 1
        began = time.monotonic()
        asked, is_done = person.tab.requests, False
        if act.kind == "other":
            path = person.page.url.split("/")
            channel = path[5] if len(path) > 5 and path[5].isdigit() else None
            others.done(self.world, act.detail, channel)
        elif is_done := person.does(act):
            self.touched[act.sentence("")] += 1
        acted = time.monotonic()
        is_heard = (
            is_done and act.kind in ("press", "key", "context") and (not act.target or act.control["role"] != "file")
        )
        after = person.rest(before["state"]["inputs"] + 1 if is_heard else 0)
        faults = self._new(judge(person, act, before, after, person.tab.requests - asked if is_done else None))
        if faults and faults[0].startswith(SLOW):
            faults, after = self._again(person, act, before, asked if is_done else None)
        self.seconds[act.kind] += acted - began
        self.seconds["coming to rest"] += time.monotonic() - acted
        return faults, after

    def _new(self, faults: Sequence[str]) -> list[str]:
        for kind in {kind_of(fault) for fault in faults} & self.known.keys():
            self.known[kind] += 1
        return [fault for fault in faults if kind_of(fault) not in self.known]

    def _again(self, person: PersonsBrowser, act: Act, before: Look, asked: int | None) -> tuple[list[str], Look]:
        """What may only have been late is looked at once more."""
        for _ in range(LATE):
            person.page.wait_for_timeout(150)
            after = person.rest()
            since = None if asked is None else person.tab.requests - asked
            faults = self._new(judge(person, act, before, after, since))
            if not faults:
                break
        return faults, after


LATE: Final = 14
SLOW: Final = ("dead:", "covered:", "overflow:", "empty:", "focus:")
