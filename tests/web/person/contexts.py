"""Browser contexts that live on from example to example, emptied of what a person left in them. The files of the client
stay in their caches: to load them anew for each example took longer than the acts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

from playwright.sync_api import Browser, BrowserContext

from tests.web.browsing import WAIT_MS
from tests.web.client.node import CLIENT
from tests.web.person.world import World

if TYPE_CHECKING:
    from tests.web.person.persons_browser import Setting

FOLDER: Final = Path(__file__).parent
KEYS: Final = json.dumps(list(json.loads((CLIENT / "words" / "en.json").read_text())))
SCRIPTS: Final = (
    (FOLDER / "probe.js").read_text(),
    f"window.__person.keys = {KEYS};",
    *((FOLDER / name).read_text() for name in ("judge.js", "picture.js")),
)
EMPTY: Final = "/offline"
"""A page of the origin in which no client runs."""


class Contexts:
    """For each purpose one context that is touched and one that is not."""

    def __init__(self, browser: Browser, world: World) -> None:
        self.browser, self.world = browser, world
        self._kept: Final[dict[tuple[str, bool], BrowserContext]] = {}

    def taken(self, purpose: str, setting: Setting) -> BrowserContext:
        """The context of this purpose: signed in, with nothing else kept in it."""
        key = (purpose, setting.is_touched)
        if key not in self._kept:
            self._kept[key] = self._made(setting.is_touched)
        context = self._kept[key]
        context.set_offline(False)
        page = context.new_page()
        page.goto(self.world.home.origin + EMPTY)
        session = context.new_cdp_session(page)
        session.send("Storage.clearDataForOrigin", {"origin": self.world.home.origin, "storageTypes": "all"})
        page.evaluate("kept => Object.assign(localStorage, kept)", self._session_of(setting))
        page.close()
        return context

    def give_up(self) -> None:
        """None is used again: one of them was lost, or the examples are over."""
        while self._kept:
            self._kept.popitem()[1].close()

    def _session_of(self, setting: Setting) -> dict[str, str]:
        session = {"token": self.world.tokens[setting.who], "name": setting.who}
        return {"session": json.dumps(session), "language": setting.language}

    def _made(self, is_touched: bool) -> BrowserContext:
        context = self.browser.new_context(
            base_url=self.world.home.origin,
            reduced_motion="reduce",
            has_touch=is_touched,
            is_mobile=is_touched,
            permissions=["clipboard-read", "clipboard-write", "notifications"],
        )
        context.set_default_timeout(WAIT_MS)
        for script in SCRIPTS:
            context.add_init_script(script)
        return context
