"""Every view of the client in longer words than English has: nothing is cut off, nothing sticks out, at a desk and on a
telephone. Translators' tools read the catalogues and write them back. Area: the web client as a whole."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Page, Route
from translate.storage.jsonl10n import GoI18NV2JsonFile

from tests.web.browsing import Instance
from tests.web.client.node import CLIENT
from tests.web.client.test_account_settings import PAGES, Holder
from tests.web.client.test_shell import DESK, PHONE
from tests.web.conftest import MakeVisitor

CATALOGUES: Final = sorted((CLIENT / "words").glob("*.json"))
GUILD_PAGES: Final = re.findall(r'key: "(\w+)"', (CLIENT / "areas/guild/settings.js").read_text(encoding="utf-8"))
VIEWS: Final = {"desk": DESK, "telephone": PHONE}

LONGER: Final = 0.4
"""How much longer other languages are than English, for phrases of some words."""

CUT_OFF: Final = """(words) => {
  const said = new Set(words);
  const mayScroll = (one) => ["auto", "scroll"].includes(getComputedStyle(one).overflowX);
  const scrolls = (one) => mayScroll(one) && one.scrollWidth > one.clientWidth;
  const isReached = (one) => one !== document.body && (scrolls(one) || isReached(one.parentElement));
  const cut = [];
  for (const one of document.querySelectorAll("body *")) {
    const text = one.textContent.trim();
    if (!said.has(text) || one.matches(".unseen, .unseen *, .clip, option, script, style, svg *")) continue;
    const { overflowX, overflowY, display } = getComputedStyle(one);
    if (display === "inline" || one.getClientRects().length === 0) continue;
    const wide = one.scrollWidth > one.clientWidth + 1 && overflowX !== "auto" && overflowX !== "scroll";
    const high = one.scrollHeight > one.clientHeight + 2 && overflowY === "hidden";
    const box = one.getBoundingClientRect();
    const outside = box.width > 1 && (box.left < -1 || box.right > innerWidth + 1) && !isReached(one);
    if (wide || high || outside) cut.push(`${one.tagName} ${one.className}: ${text}`);
  }
  // What stands in an empty field of several lines has no ellipsis.
  for (const field of document.querySelectorAll("textarea:placeholder-shown")) {
    if (!said.has(field.placeholder) || field.getClientRects().length === 0) continue;
    const measured = document.body.appendChild(document.createElement("span"));
    measured.textContent = field.placeholder;
    Object.assign(measured.style, { position: "absolute", whiteSpace: "nowrap" });
    measured.style.font = getComputedStyle(field, "::placeholder").font;
    const { paddingLeft, paddingRight } = getComputedStyle(field);
    const room = field.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
    const width = measured.getBoundingClientRect().width;
    measured.remove();
    if (width > room) cut.push(`placeholder of ${field.className}: ${field.placeholder}, ${width} in ${room} px`);
  }
  return [...new Set(cut)];
}"""
"""What people cannot read whole, among elements that hold one entry of the catalogue."""


def stretched(words: str) -> str:
    """The same words with more letters, and its places as they were."""
    letters = re.sub(r"\{\w+\}", "", words)
    more = letters[: max(1, round(len(letters) * LONGER))].strip()
    return f"{words} {more}" if " " in letters.strip() else f"{words}{more.lower()}"


def longer(entry: str | dict[str, str]) -> str | dict[str, str]:
    return stretched(entry) if isinstance(entry, str) else {form: stretched(words) for form, words in entry.items()}


def plain(entries: dict[str, Any]) -> list[str]:
    return [entry for entry in entries.values() if isinstance(entry, str) and "{" not in entry]


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def places(home: Instance) -> Iterator[str]:
    guild, channel = home.world["guild_id"], home.world["channel_id"]
    yield from (f"/channels/{guild}/{channel}", "/channels/@me", "/channels/@me/friends", "/channels/@me/discovery")
    yield from (f"/channels/@me/settings/{page}" for page in PAGES)
    yield from (f"/channels/{guild}/settings/{page}" for page in GUILD_PAGES)


def opened(page: Page) -> Iterator[str]:
    """What keys and buttons open in a channel, one after the other; each is closed again."""
    for keys in ("Control+K", "Control+/"):
        page.keyboard.press(keys)
        page.get_by_role("dialog").wait_for()
        yield keys
        page.keyboard.press("Escape")
        page.get_by_role("dialog").wait_for(state="detached")


def longer_words() -> dict[str, Any]:
    return {key: longer(entry) for key, entry in read(CLIENT / "words/en.json").items()}


IN_EVERY_RUN: Final = [("telephone", "longer"), ("telephone", "ar")]
"""Words that are longer than English, and those that are written from right to left, where there is least room."""
EVERY_LANGUAGE: Final = [(view, language) for view in VIEWS for language in ("longer", *(c.stem for c in CATALOGUES))]


@pytest.mark.parametrize(("view", "language"), EVERY_LANGUAGE if "TESTS_EVERY_LANGUAGE" in os.environ else IN_EVERY_RUN)
def test_no_words_are_cut_off(visit: MakeVisitor, home: Instance, view: str, language: str) -> None:
    entries = longer_words() if language == "longer" else read(CLIENT / f"words/{language}.json")
    words = plain(entries)

    def told(route: Route) -> None:
        route.fulfill(content_type="application/json", body=json.dumps(entries))

    spoken = "en" if language == "longer" else language
    options = {"viewport": VIEWS[view], "reduced_motion": "reduce", "locale": spoken}
    holder: Holder = visit(home, kind=Holder, service_worker=False, **options)
    if language == "longer":
        holder.intercepts("**/client/words/en.json", told)
    holder.is_kept_as(home.person("alice"))
    cut: dict[str, list[str]] = {}
    for place in places(home):
        holder.goes_to(place)
        holder.page.locator("main").first.wait_for(state="attached")
        holder.page.wait_for_load_state("networkidle")
        holder.page_fits()
        assert holder.root("lang") == spoken
        cut[place] = holder.page.evaluate(CUT_OFF, words)
    holder.goes_to(next(places(home)))
    holder.page.locator("textarea.composer-field").wait_for()
    for name in opened(holder.page):
        cut[name] = holder.page.evaluate(CUT_OFF, words)
    assert {place: found for place, found in cut.items() if found} == {}


@pytest.mark.parametrize("catalogue", CATALOGUES, ids=lambda path: path.stem)
def test_translators_tools_read_a_catalogue_and_write_it_back(catalogue: Path) -> None:
    store = GoI18NV2JsonFile.parsefile(str(catalogue))
    store.settargetlanguage(catalogue.stem)
    entries = read(catalogue)
    assert [unit.getid() for unit in store.units] == list(entries)
    assert json.loads(bytes(store)) == entries
