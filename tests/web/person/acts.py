"""What a person may do next: an act by its names, as a sentence, and drawn from what a page offers."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final

import attrs

from tests.web.client.node import CLIENT
from tests.web.person import others

Look = dict[str, Any]
Offer = dict[str, Any]

TEXTS: Final = (
    "hello",
    "leeks",
    "bob",
    "Who has **tomato seed**?",
    "مرحبا بكم",
    "\N{SEEDLING} \N{TOMATO}",
    "@b",
    "@bob",
    ":tom",
    ":+1:",
    "#gen",
    "/shrug",
    "/",
    "/plant",
    "/hello",
    "12",
    "https://example.org/beds",
    "a word " * 40,
    "Donaudampfschifffahrtsgesellschaft" * 4,
    "`code` ||hidden||",
    "<b>bold</b> & \\*stars\\*",
)
KEYS_OF_ROWS: Final = ("e", "r", "p", "c", "u", "+", "Delete", "Enter", "ArrowUp", "ArrowDown", "Home", "End")
PLAIN_KEYS: Final = (
    *("Tab", "Shift+Tab", "Escape", "Enter", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "End"),
    *("PageUp", "PageDown", "Space", "Shift+ArrowUp", "Control+e"),
)
MODIFIERS: Final = (("ctrl", "Control"), ("alt", "Alt"), ("shift", "Shift"))
LEAVES: Final = re.compile("sign out|abmelden|delete the community|delete my account|disable", re.IGNORECASE)

TYPED: Final = ("textbox", "searchbox", "combobox")


@attrs.frozen
class Act:
    """One thing that is done. `target` names a control: place, role, name and which of several; `detail` what else."""

    kind: str
    target: tuple[str, str, str, int] | None = None
    detail: Any = None

    @property
    def control(self) -> dict[str, Any]:
        """The target as the page knows it."""
        assert self.target is not None
        return dict(zip(("place", "role", "name", "index"), self.target, strict=True))

    def sentence(self, who: str) -> str:
        """The act as one would tell it."""
        if self.kind == "other":
            return others.sentence(self.detail)
        if self.target is None:
            detail = "" if self.detail is None else f" {self.detail}"
            return f"{who} {VERBS[self.kind]}{detail}"
        place, role, name, index = self.target
        which = f" (number {index + 1})" if index else ""
        where = f" in {place}" if place else ""
        words = f" {self.detail!r} into" if self.kind in ("type", "paste") else ""
        return f"{who} {VERBS[self.kind]}{words} {role} {name!r}{which}{where}"


VERBS: Final = {
    "press": "clicks",
    "context": "opens the menu of",
    "hold": "holds a finger on",
    "hover": "points at",
    "type": "types",
    "choose": "chooses in",
    "paste": "pastes",
    "paste_picture": "pastes a picture into",
    "drop": "drops a file on the page",
    "drag": "drags",
    "key": "presses",
    "scroll": "scrolls",
    "swipe": "swipes",
    "back": "goes back",
    "forward": "goes forward",
    "reload": "reloads",
    "go": "opens the address",
    "new_tab": "opens a second tab",
    "switch_tab": "goes to the other tab",
    "close_tab": "closes the tab",
    "offline": "loses the network",
    "online": "has the network again",
    "wait": "waits a moment",
}


def list_of_keys() -> list[str]:
    """Every key of the client's table, as Playwright names it."""
    table = (CLIENT / "views/shell/keys.js").read_text().split("const KEYS = [")[1].split("];")[0]
    keys = []
    for line in table.strip().splitlines():
        key = re.search(r'key: "([^"]+)"', line)
        assert key is not None, line
        keys.append("+".join([name for flag, name in MODIFIERS if f"{flag}: true" in line] + [key[1]]))
    return keys


@attrs.define
class Drawing:
    """Draws acts. What was done seldom is drawn sooner."""

    chance: random.Random
    is_touched: bool
    done: Counter[str] = attrs.Factory(Counter)
    keys: list[str] = attrs.Factory(list_of_keys)

    def act(self, look: Look, *, tabs: int, offline: bool) -> Act:
        """The next act on this page."""
        kinds: list[tuple[int, Callable[[Look], Act | None]]] = [
            (46, self._press),
            (12, self._type),
            (13, self._key),
            (4, self._scroll),
            (2, self._drag),
            (2, self._files),
            (14, self._other),
            (5, lambda _: self._travel()),
            (2, lambda _: self._tab(tabs)),
            (2, lambda _: Act("online" if offline else "offline")),
        ]
        if offline:
            kinds.append((12, lambda _: Act("online")))
        if not self.is_touched:
            kinds += [(8, self._context), (3, self._hover)]
        else:
            kinds += [(3, lambda _: Act("swipe", detail=self.chance.choice(["left", "right"]))), (4, self._hold)]
        while True:
            [(_, draw)] = self.chance.choices(kinds, [weight for weight, _ in kinds])
            act = draw(look)
            if act is not None:
                return act

    def _novel(self, offers: Sequence[Offer]) -> Offer | None:
        if not offers:
            return None
        weights = [1 / (1 + self.done[_general(one)]) for one in offers]
        [chosen] = self.chance.choices(offers, weights)
        self.done[_general(chosen)] += 1
        return chosen

    def _press(self, look: Look) -> Act | None:
        offers = [one for one in look["offers"] if not LEAVES.search(one["name"]) or self.chance.random() < 0.01]
        one = self._novel([one for one in offers if one["role"] != "article"])
        if one is None:
            return None
        if one["tag"] == "SELECT":
            return Act("choose", target_of(one), self.chance.randrange(8))
        return Act("press", target_of(one))

    def _context(self, look: Look) -> Act | None:
        one = self._novel([one for one in look["offers"] if one["role"] in ("article", "link", "button", "listitem")])
        return Act("context", target_of(one)) if one else None

    def _hold(self, look: Look) -> Act | None:
        one = self._novel([one for one in look["offers"] if one["role"] in ("article", "link")])
        return Act("hold", target_of(one)) if one else None

    def _hover(self, look: Look) -> Act | None:
        one = self._novel([one for one in look["offers"] if one["role"] in ("article", "link", "button")])
        return Act("hover", target_of(one)) if one else None

    def _type(self, look: Look) -> Act | None:
        one = self._novel([one for one in look["offers"] if one["role"] in TYPED and one["tag"] != "SELECT"])
        if one is None:
            return None
        if one["type"] == "password":
            return Act("type", target_of(one), "PASSWORD")
        if one["type"] in ("date", "time", "datetime-local", "color", "number"):
            samples = {"date": "2026-11-20", "time": "10:30", "number": "7", "color": "#2e7d32"}
            return Act("type", target_of(one), samples.get(one["type"], "2026-12-01T10:30"))
        if self.chance.random() < 0.1:
            return Act("paste_picture", target_of(one))
        text = self.chance.choice(TEXTS)
        if self.chance.random() < 0.1:
            return Act("paste", target_of(one), text)
        return Act("type", target_of(one), text + ("\n" if self.chance.random() < 0.4 else ""))

    def _key(self, look: Look) -> Act:
        keys = [*self.keys, *PLAIN_KEYS]
        if look["isRow"]:
            keys += KEYS_OF_ROWS * 3
        if look["layer"]:
            keys += ["Escape", "ArrowDown", "ArrowUp", "Enter"] * 3
        if look["isTyping"]:
            keys = [key for key in keys if key != "Space"] + ["Enter"] * 4
        return Act("key", detail=self.chance.choice(keys))

    def _scroll(self, look: Look) -> Act:
        return Act("scroll", detail=[self.chance.randrange(6), self.chance.choice([-2500, -600, -120, 120, 600, 2500])])

    def _drag(self, look: Look) -> Act | None:
        count = look["draggables"]
        if count < 2:
            return None
        return Act("drag", detail=[self.chance.randrange(count), self.chance.randrange(count)])

    def _files(self, look: Look) -> Act:
        return Act("drop", detail=self.chance.choice(["picture", "text"]))

    def _other(self, look: Look) -> Act:
        return Act("other", detail=others.drawn(self.chance))

    def _travel(self) -> Act:
        kind = self.chance.choice(["back", "back", "forward", "reload", "go"])
        return Act(kind, detail=self.chance.choice(PLACES) if kind == "go" else None)

    def _tab(self, tabs: int) -> Act:
        if tabs == 1:
            return Act("new_tab")
        return Act(self.chance.choice(["switch_tab", "switch_tab", "close_tab"]))


PLACES: Final = (
    *("@me", "@me/friends", "@me/settings", "GUILD", "GUILD/settings", "GUILD/general", "GUILD/forum", "GUILD/seeds"),
    *("GUILD/voice", "GUILD/news", "GUILD/slow", "@me/direct", "OTHER", "GUILD/1", "1/1", "GUILD/settings/roles"),
    *("GUILD/adults", "GUILD/harbour", "@me/group", "GUILD/settings/old_names", "@me/settings/appearance"),
)


def target_of(offer: Offer) -> tuple[str, str, str, int]:
    """How the control is found again."""
    return (offer["place"], offer["role"], offer["name"], offer["index"])


def _general(offer: Offer) -> str:
    """What is the same control to a person: the place and the name without what is somebody's."""
    name = "" if offer["role"] in ("article", "gridcell", "option") else re.sub(r"\d+", "0", offer["name"])
    place = re.sub("^message of .*", "message", offer["place"])
    return f"{place}/{offer['role']}/{name}"
