"""A browser with one person in it: does acts, waits until the page has come to rest, and writes down what it complained
of."""

from __future__ import annotations

import base64
import json
import time
from contextlib import suppress
from typing import Any, Final
from urllib.parse import urlsplit

import attrs
from playwright.sync_api import (
    BrowserContext,
    CDPSession,
    ConsoleMessage,
    Dialog,
    Error,
    FileChooser,
    Page,
    Request,
    Response,
)

from tests.web.person.acts import Act, Look
from tests.web.person.world import World, picture_address

QUIET_S: Final = 4.0
CLOSING_MS: Final = 300
ENCODED: Final = picture_address().partition(",")[2]
PICTURE: Final = base64.b64decode(ENCODED)
BROWSERS_OWN: Final = (
    "Failed to load resource",
    "does not support the Push API",
    "net::ERR_",
    "WebSocket connection to",
    "ERR_INTERNET_DISCONNECTED",
)


@attrs.frozen
class Setting:
    """Who it is and what the window is like."""

    who: str
    width: int
    scheme: str
    language: str

    def told(self) -> str:
        return f"{self.who}, {self.width} px, {self.scheme}, {self.language}"

    @property
    def is_touched(self) -> bool:
        return self.width < 1000


@attrs.define
class Tab:
    """A page, with what is under way in it and what went wrong in it."""

    page: Page
    pending: set[Request] = attrs.Factory(set)
    complaints: list[str] = attrs.Factory(list)
    refused: list[str] = attrs.Factory(list)
    told: int = 0
    """How often it had told something after the act before, while it was not the tab in front."""
    requests: int = 0
    touching: CDPSession | None = None


class PersonsBrowser:
    """The person's browser."""

    def __init__(self, context: BrowserContext, world: World, setting: Setting) -> None:
        self.context, self.world, self.setting = context, world, setting
        self.is_offline = False
        self.was_offline = False
        self.tabs: list[Tab] = []
        self.at = 0
        self._own = True
        self.context.on("page", self._came)

    def _came(self, page: Page) -> None:
        """What the page opened by itself leads elsewhere."""
        if not self._own:
            with suppress(Error):
                page.close()

    def open_tab(self, path: str) -> None:
        """A tab at this place."""
        self._own = True
        tab = Tab(self.context.new_page())
        self._own = False
        self.tabs.append(tab)
        self.at = len(self.tabs) - 1
        self._watch(tab)
        tab.page.set_viewport_size({"width": self.setting.width, "height": 740 if self.setting.width < 500 else 800})
        tab.page.emulate_media(color_scheme="dark" if self.setting.scheme == "dark" else "light")
        self._goes(tab, path)

    def _watch(self, tab: Tab) -> None:
        page = tab.page
        page.on("console", lambda message: self._heard(tab, message))
        page.on("pageerror", lambda error: tab.complaints.append(f"thrown: {error.message} {_where(error)}"))
        page.on("request", lambda request: self._asked(tab, request))
        page.on("requestfinished", lambda request: tab.pending.discard(request))
        page.on("requestfailed", lambda request: tab.pending.discard(request))
        page.on("response", lambda response: self._answered(tab, response))
        page.on("dialog", self._accept)
        page.on("filechooser", self._choose_file)
        page.on("framenavigated", lambda frame: tab.pending.clear() if frame is page.main_frame else None)
        page.on("crash", lambda _: tab.complaints.append("crashed: the page"))

    def _heard(self, tab: Tab, message: ConsoleMessage) -> None:
        if message.type not in ("error", "warning") or any(words in message.text for words in BROWSERS_OWN):
            return
        tab.complaints.append(f"console: {message.type}: {message.text[:300]}")

    @staticmethod
    def _asked(tab: Tab, request: Request) -> None:
        tab.requests += 1
        if not request.url.startswith(("data:", "blob:")):
            tab.pending.add(request)

    def _answered(self, tab: Tab, response: Response) -> None:
        if response.status >= 400:
            path = urlsplit(response.url).path
            tab.refused.append(f"{response.status} {response.request.method} {path}")

    @staticmethod
    def _accept(dialog: Dialog) -> None:
        with suppress(Error):
            dialog.accept()

    @staticmethod
    def _choose_file(chooser: FileChooser) -> None:
        # Its field may be gone by now; what an event's listener raises would leave the driver waiting for ever.
        with suppress(Error):
            chooser.set_files({"name": "leaf.png", "mimeType": "image/png", "buffer": PICTURE})

    @property
    def tab(self) -> Tab:
        return self.tabs[self.at]

    @property
    def page(self) -> Page:
        return self.tab.page

    def close(self) -> None:
        """The context remains, without a page."""
        self.context.remove_listener("page", self._came)
        for page in self.context.pages:
            page.close()

    # Rest, and a look

    def rest(self, inputs: int = 0) -> Look:
        """What the page offers and what is wrong with it, once nothing is asked for and two frames went by without a
        change, after all that the server sent.

        `inputs`: how many presses the page has to have heard, if it is still the same one.
        """
        look: Look = self._rested("rested", inputs)
        return look

    def picture(self) -> dict[str, Any]:
        """What the page shows when it has come to rest."""
        picture: dict[str, Any] = self._rested("pictured", 0)
        return picture

    def _rested(self, what: str, inputs: int) -> Any:
        tab, end = self.tab, time.monotonic() + QUIET_S
        while True:
            try:
                told = tab.page.evaluate("([what, inputs]) => window.__person?.[what](inputs)", [what, inputs])
            except Error as error:  # the page is on its way to another one
                if "closed" in str(error) or "crash" in str(error):
                    raise
                tab.page.wait_for_load_state()
                continue
            if told is not None and (self.is_offline or not tab.pending or time.monotonic() > end):
                return json.loads(told)

    def tells_behind(self, tab: Tab) -> bool:
        """Whether a tab behind the one in front has told anything since the act before, or does so at once."""
        for pause_ms in (0, 250, 1_000):
            tab.page.wait_for_timeout(pause_ms)
            if _told_in(tab) != tab.told:
                return True
        return False

    def note_behind(self) -> None:
        """What the tabs behind the one in front have told by now was before the next act."""
        for tab in self.tabs:
            if tab is not self.tab:
                tab.told = _told_in(tab)

    def memory(self) -> int:
        """What the page's scripts hold, in bytes, after what is not used was thrown away."""
        session = self.context.new_cdp_session(self.page)
        session.send("HeapProfiler.collectGarbage")
        used = session.send("Runtime.getHeapUsage")["usedSize"]
        session.detach()
        return int(used)

    # Acts

    def does(self, act: Act) -> bool:
        """Do it; False where the page has no such thing now."""
        does = getattr(self, f"_{act.kind}")
        try:
            return does(act) is not False
        except Error as error:
            if "navigat" in str(error) or "context was destroyed" in str(error):
                return True
            raise

    def _spot(self, act: Act) -> dict[str, Any] | None:
        spot: dict[str, Any] | None = self.page.evaluate("control => window.__person.spotOf(control)", act.control)
        return spot

    def _reached(self, act: Act) -> dict[str, Any] | None:
        """Point at a control, as far as it lies open."""
        spot = self._spot(act)
        if spot is None or not spot["hit"]:
            return None
        if not self.setting.is_touched:
            self.page.mouse.move(spot["x"], spot["y"])
            spot = self._spot(act)
        return spot if spot and spot["hit"] else None

    def _press(self, act: Act) -> bool:
        if act.control["role"] == "file":
            return self._give_file(act)
        spot = self._reached(act)
        if spot is None:
            return False
        if self.setting.is_touched:
            self.page.touchscreen.tap(spot["x"], spot["y"])
        else:
            self.page.mouse.click(spot["x"], spot["y"])
        return True

    def _give_file(self, act: Act) -> bool:
        handle = self.page.evaluate_handle("control => window.__person.find(control)", act.control).as_element()
        if handle is None:
            return False
        handle.set_input_files({"name": "leaf.png", "mimeType": "image/png", "buffer": PICTURE})
        return True

    def _context(self, act: Act) -> bool:
        spot = self._reached(act)
        if spot is None:
            return False
        self.page.mouse.click(spot["x"], spot["y"], button="right")
        return True

    def _hover(self, act: Act) -> bool:
        return self._reached(act) is not None

    def _type(self, act: Act) -> bool:
        if not self._press(act):
            return False
        text = self.world.passwords[self.setting.who] if act.detail == "PASSWORD" else act.detail
        *lines, last = text.split("\n")
        if act.control["role"] != "textbox" or self._spot(act) is None or len(text) > 60:
            self.page.keyboard.insert_text(lines[0] if lines else last)
        elif act.detail and text[:4].isdigit():
            handle = self.page.evaluate_handle("control => window.__person.find(control)", act.control).as_element()
            if handle is not None:
                handle.fill(text.strip())
        else:
            self.page.keyboard.type(lines[0] if lines else last)
        if lines:
            self.rest()
            self.page.keyboard.press("Enter")
        return True

    def _choose(self, act: Act) -> bool:
        handle = self.page.evaluate_handle("control => window.__person.find(control)", act.control).as_element()
        if handle is None:
            return False
        count = handle.evaluate("select => select.options.length")
        if count:
            handle.select_option(index=act.detail % count)
        return True

    def _paste(self, act: Act) -> bool:
        if not self._press(act):
            return False
        self.page.evaluate("text => navigator.clipboard.writeText(text)", act.detail)
        self.page.keyboard.press("Control+v")
        return True

    def _paste_picture(self, act: Act) -> bool:
        if not self._press(act):
            return False
        self.page.evaluate(PASTE_PICTURE)
        return True

    def _drop(self, act: Act) -> bool:
        return bool(self.page.evaluate(DROP, act.detail))

    def _drag(self, act: Act) -> bool:
        spots = self.page.evaluate("([from, to]) => window.__person.ends(from, to)", act.detail)
        if spots is None or self.setting.is_touched:
            return False
        start, end = spots
        self.page.mouse.move(start["x"], start["y"])
        self.page.mouse.down()
        self.page.mouse.move((start["x"] + end["x"]) / 2, (start["y"] + end["y"]) / 2, steps=2)
        self.page.mouse.move(end["x"], end["y"], steps=2)
        self.page.mouse.up()
        return True

    def _key(self, act: Act) -> None:
        self.page.keyboard.press(act.detail)

    def _scroll(self, act: Act) -> bool:
        index, distance = act.detail
        spot = self.page.evaluate("index => window.__person.scroller(index)", index)
        if spot is None:
            return False
        self.page.mouse.move(spot["x"], spot["y"])
        self.page.mouse.wheel(0, distance)
        return True

    def _swipe(self, act: Act) -> None:
        width, middle = self.setting.width, 400
        start, end = (width * 0.8, width * 0.2) if act.detail == "left" else (width * 0.2, width * 0.8)
        self._touch("touchStart", start, middle)
        self._touch("touchMove", (start + end) / 2, middle)
        self._touch("touchMove", end, middle)
        self.page.wait_for_timeout(150)  # the finger rests: a tap on what still slides only stops it
        self._touch("touchMove", end, middle)
        self._touch("touchEnd")

    def _hold(self, act: Act) -> bool:
        spot = self._reached(act)
        if spot is None:
            return False
        self._touch("touchStart", spot["x"], spot["y"])
        self.page.wait_for_timeout(650)  # how long a finger has to rest
        self._touch("touchEnd")
        return True

    def _touch(self, kind: str, x: float | None = None, y: float | None = None) -> None:
        session = self.tab.touching = self.tab.touching or self.context.new_cdp_session(self.page)
        points = [] if x is None else [{"x": x, "y": y}]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    def _back(self, act: Act) -> None:
        self.page.evaluate("() => history.back()")

    def _forward(self, act: Act) -> None:
        self.page.evaluate("() => history.forward()")

    def _reload(self, act: Act) -> bool:
        if self.is_offline:
            return False
        self.page.reload()
        self._entered(self.tab)
        return True

    def _go(self, act: Act) -> bool:
        if self.is_offline:
            return False
        self._goes(self.tab, self.address(act.detail))
        return True

    def does_go(self, path: str) -> None:
        """Load a path anew."""
        self._goes(self.tab, path)

    def address(self, place: str) -> str:
        """A path of the client, by the names of the world."""
        first, _, second = place.partition("/")
        guild = {"GUILD": self.world.guild_id, "OTHER": self.world.other_id}.get(first, first)
        return "/channels/" + "/".join([guild, self.world.channels.get(second, second)]).rstrip("/")

    def _goes(self, tab: Tab, path: str) -> None:
        tab.page.goto(path)
        self._entered(tab)

    @staticmethod
    def _entered(tab: Tab) -> None:
        if urlsplit(tab.page.url).path.startswith("/channels/"):
            tab.page.wait_for_selector(".app.ready", state="attached")

    def _new_tab(self, act: Act) -> bool:
        if self.is_offline:
            return False
        self.open_tab(urlsplit(self.page.url).path)
        return True

    def _switch_tab(self, act: Act) -> bool:
        if len(self.tabs) < 2:
            return False
        self.at = (self.at + 1) % len(self.tabs)
        self.page.bring_to_front()
        return True

    def _close_tab(self, act: Act) -> bool:
        if len(self.tabs) < 2:
            return False
        self.tabs.pop(self.at).page.close()
        self.at = 0
        self.page.bring_to_front()
        return True

    def _set_offline(self, is_offline: bool) -> None:
        try:
            self.context.set_offline(is_offline)
        except Error:  # a page that opened by itself was just being closed
            self.page.wait_for_timeout(CLOSING_MS)
            self.context.set_offline(is_offline)
        self.is_offline = is_offline

    def _offline(self, act: Act) -> None:
        self._set_offline(True)

    def _online(self, act: Act) -> bool:
        if not self.is_offline:
            return False
        self._set_offline(False)
        for tab in self.tabs:
            tab.page.evaluate("() => window.__person.live?.()")
        return True


PASTE_PICTURE: Final = """() => {
  const data = new DataTransfer();
  data.items.add(new File([Uint8Array.from(atob("%s"), (one) => one.charCodeAt(0))], "leaf.png", {type: "image/png"}));
  const event = new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true});
  document.activeElement.dispatchEvent(event);
}""".replace("%s", ENCODED)
DROP: Final = """(kind) => {
  const target = document.querySelector("#talk .rows, #talk ol, #talk");
  if (!target || document.querySelector("dialog[open]")) return false;
  const data = new DataTransfer();
  const bytes = Uint8Array.from(atob("%s"), (one) => one.charCodeAt(0));
  data.items.add(kind === "picture" ? new File([bytes], "leaf.png", {type: "image/png"})
    : new File(["a list of beds"], "beds.txt", {type: "text/plain"}));
  for (const type of ["dragenter", "dragover", "drop"])
    target.dispatchEvent(new DragEvent(type, {dataTransfer: data, bubbles: true, cancelable: true}));
  return true;
}""".replace("%s", ENCODED)


def _where(error: Error) -> str:
    lines = (error.stack or "").splitlines()[1:3]
    return " ".join(line.strip() for line in lines)


def _told_in(tab: Tab) -> int:
    try:
        told: int = tab.page.evaluate("() => window.__person?.state.told ?? 0")
    except Error:  # the page is on its way to another one
        return tab.told
    return told
