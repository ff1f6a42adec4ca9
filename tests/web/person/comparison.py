"""What a page shows after much was done, beside what a fresh page shows and what the API says."""

from __future__ import annotations

import time
from typing import Any, Final
from urllib.error import HTTPError

from tests.web.person.acts import Look
from tests.web.person.contexts import EMPTY, Contexts
from tests.web.person.persons_browser import PersonsBrowser, Setting
from tests.web.person.world import World

Picture = dict[str, Any]

CONVERGE_S: Final = 4.0
PAUSE_MS: Final = 150
OPEN_TAB: Final = "tab => document.querySelector(`#talk.friends [data-tab=${tab}]`)?.click()"
KINDS: Final = {"all": (1,), "blocked": (2,), "requests": (3, 4)}
"""Types of relationships by the part of the friends page that has them."""
WHOLE: Final = ("path", "rail", "side", "head", "topic", "panel", "title")


class Comparison:
    """A second browser of the same account, in which the same address is opened anew."""

    def __init__(self, contexts: Contexts, world: World, setting: Setting) -> None:
        self.contexts, self.world, self.setting = contexts, world, setting
        self._fresh: PersonsBrowser | None = None

    def close(self) -> None:
        if self._fresh is not None:
            self._fresh.close()

    def of(self, person: PersonsBrowser) -> list[str]:
        """The differences that stay."""
        path = person.page.evaluate("() => location.pathname")
        if not path.startswith("/channels/"):
            return []
        # The language and the look are kept in the browser.
        kept = person.page.evaluate("() => ({...localStorage})")
        fresh = self._opened(path, kept)
        end = time.monotonic() + CONVERGE_S
        while True:
            shown, anew = person.picture(), fresh.picture()
            if shown["friends"] and anew["friends"] and shown["friends"]["tab"] != anew["friends"]["tab"]:
                fresh.page.evaluate(OPEN_TAB, shown["friends"]["tab"])
                continue
            found = differences(shown, anew) + self._api(shown, path) + self._of_account(shown)
            if not found or time.monotonic() > end:
                return found
            person.page.wait_for_timeout(PAUSE_MS)

    def _opened(self, path: str, kept: dict[str, str]) -> PersonsBrowser:
        if self._fresh is None:
            self._fresh = PersonsBrowser(self.contexts.taken("fresh", self.setting), self.world, self.setting)
            self._fresh.open_tab(EMPTY)
        self._fresh.page.evaluate("kept => { localStorage.clear(); Object.assign(localStorage, kept); }", kept)
        self._fresh.does_go(path)
        return self._fresh

    def pins(self, person: PersonsBrowser, look: Look) -> tuple[list[str], Look]:
        """Where a list of pins is open: what it has otherwise than the API, and the last look at it."""
        end = time.monotonic() + CONVERGE_S
        while look["pins"] is not None and not person.is_offline:
            channel_id, *shown = look["pins"]
            told = self.world.may(self.setting.who, "GET", f"/channels/{channel_id}/messages/pins?limit=50")
            ids = [one["message"]["id"] for one in told["items"]] if told else shown
            if ids == shown:
                break
            if time.monotonic() > end:
                return [f"api: pins {ids}, shown {shown}"], look
            person.page.wait_for_timeout(PAUSE_MS)
            look = person.rest()
        return [], look

    def _of_account(self, shown: Picture) -> list[str]:
        """Communities, the own name, friends, beside what the API says."""
        who = self.setting.who
        me = self.world.call(who, "GET", "/users/@me")
        # A closed folder shows none of its communities.
        folders = self.world.call(who, "GET", "/users/@me/settings")["guild_folders"]
        closed = [key for one in folders if str(one["id"]) in shown["closed"] for key in one["guild_ids"]]
        told = self.world.call(who, "GET", "/users/@me/guilds")
        guilds = [one["name"] for one in told if one["id"] not in closed]
        rail = " / ".join(shown["rail"])
        found = [f"api: community {name!r} is not in the rail" for name in guilds if rail and name not in rail]
        if shown["panel"] and (me["global_name"] or me["username"]) not in shown["panel"]:
            found.append(f"api: called {me['global_name']!r}, shown {shown['panel']!r}")
        if shown["friends"] and shown["friends"]["tab"] in KINDS:
            related = self.world.call(who, "GET", "/users/@me/relationships")
            ids = sorted(one["id"] for one in related if one["type"] in KINDS[shown["friends"]["tab"]])
            if ids != shown["friends"]["ids"]:
                found.append(f"api: {shown['friends']['tab']} {ids}, shown {shown['friends']['ids']}")
        return found

    def _api(self, shown: Picture, path: str) -> list[str]:
        channel_id = path.split("/")[3] if path.count("/") >= 3 else ""
        # Beside a thread, which the address names, stand the rows of its channel.
        if not channel_id.isdigit() or not shown["ids"] or shown["isBeside"]:
            return []
        who = self.setting.who
        try:
            told = self.world.call(who, "GET", f"/channels/{channel_id}/messages?limit=50")
        except HTTPError as refusal:
            return [f"api: {refusal.code} for the messages of the open channel"]
        return messages_differ(shown, {one["id"]: one for one in told})


def differences(shown: Picture, anew: Picture) -> list[str]:
    """What two pages of one account at one address show otherwise."""
    # What settings cover is drawn when they are left.
    whole = WHOLE if not shown["isCovered"] else ("path",)
    found = [f"differs: {part}: {_apart(shown[part], anew[part])}" for part in whole if shown[part] != anew[part]]
    for page in ("friends", "settings"):
        if shown[page] and anew[page]:
            parts = [part for part in shown[page] if shown[page][part] != anew[page][part]]
            found += [f"differs: {page}, {part}: {_apart(shown[page][part], anew[page][part])}" for part in parts]
    one, other = shown["members"], anew["members"]
    both = one.keys() & other.keys()
    found += [f"differs: member {at}: {one[at]!r}, anew {other[at]!r}" for at in both if one[at] != other[at]]
    for key in [key for key in shown["ids"] if key in anew["rows"]]:
        one, other = dict(shown["rows"][key]), dict(anew["rows"][key])
        # What stands above it may not be mounted, or only this person sees it.
        if key in (shown["ids"][0], anew["ids"][0], *shown["parted"]):
            one.pop("first"), other.pop("first")
            one["author"] = other["author"]
            one["colour"] = other["colour"]
        found += [
            f"differs: {part} of a row: {one[part]!r}, anew {other[part]!r}" for part in one if one[part] != other[part]
        ]
    if shown["ids"] and anew["ids"]:
        low = max(int(shown["ids"][0]), int(anew["ids"][0]))
        high = min(int(shown["ids"][-1]), int(anew["ids"][-1]))
        here, there = ([key for key in ids if low <= int(key) <= high] for ids in (shown["ids"], anew["ids"]))
        if here != there:
            found.append(f"differs: rows: {len(here)}, anew {len(there)}: {set(here) ^ set(there)}")
    return found


def _apart(one: Any, other: Any) -> str:
    if isinstance(one, list) and isinstance(other, list):
        gone = [item for item in one if item not in other][:3]
        new = [item for item in other if item not in one][:3]
        return f"{gone!r}, anew {new!r}" if gone or new else f"order {one[:8]!r}, anew {other[:8]!r}"
    return f"{one!r}, anew {other!r}"


def messages_differ(shown: Picture, told: dict[str, Any]) -> list[str]:
    """Rows beside the newest messages that the API has."""
    if not told:
        return [f"api: {len(shown['ids'])} rows of a channel without messages"]
    oldest = min(map(int, told))
    found = [f"api: row {key} is no message" for key in shown["ids"] if int(key) >= oldest and key not in told]
    for key in [key for key in shown["ids"] if key in told]:
        counts = sorted(one["count"] for one in told[key].get("reactions") or [])
        rows = sorted(int(one.split()[0]) for one in shown["rows"][key]["reactions"])
        if counts != rows:
            found.append(f"api: reactions {counts}, shown {rows}")
        mine = sum(1 for one in told[key].get("reactions") or [] if one.get("me"))
        pressed = sum(1 for one in shown["rows"][key]["reactions"] if one.endswith("true"))
        if mine != pressed:
            found.append(f"api: {mine} own reactions, shown {pressed}")
    return found
