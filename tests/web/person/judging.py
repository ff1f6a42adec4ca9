"""What has to hold after every act."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from tests.web.person.acts import Act, Look, Offer
from tests.web.person.persons_browser import PersonsBrowser

KEYBOARD: Final = ("key", "type")
QUIET_CONTROLS: Final = ("textbox", "searchbox", "combobox", "slider", "file", "article", "spinbutton")
"""A press on them is only a focus."""


def offer_of(act: Act, look: Look) -> Offer | None:
    """The control as it was before it was used."""
    for offer in look["offers"]:
        if act.target == (offer["place"], offer["role"], offer["name"], offer["index"]):
            found: Offer = offer
            return found
    return None


def judge(person: PersonsBrowser, act: Act, before: Look, after: Look, asked: int | None) -> list[str]:
    """What is wrong after an act; `asked` is how many requests it took, None where it could not be done."""
    found = list(after["faults"])
    for tab in person.tabs:
        found += tab.complaints
        tab.complaints.clear()
    told = after["state"]["told"] - before["state"]["told"] if after["state"]["told"] >= before["state"]["told"] else 1
    refused = [one for tab in person.tabs for one in tab.refused]
    for tab in person.tabs:
        is_told = told > 0 if tab is person.tab else not tab.refused or person.tells_behind(tab)
        if not is_told and act.kind not in ("go", "reload", "new_tab"):
            found += [f"unannounced: {one}" for one in tab.refused]
    found += [f"server: {one}" for one in refused if one.startswith("5")]
    for tab in person.tabs:
        tab.refused.clear()
    person.note_behind()
    # Beyond the first and the last stop of Tab are the browser's own controls.
    is_left = act.kind == "key" and act.detail in before["leaving"]
    if act.kind in KEYBOARD and before["focus"] and after["focus"] is None and after["isReady"] and not is_left:
        found.append(f"focus: lost from {before['focus']} by {act.detail!r}")
    # On a slow machine a touch lasts so long that it is one that holds.
    is_held = after["state"]["held"] > before["state"]["held"]
    if act.kind == "press" and asked is not None and not is_held:
        found += _pressed(act, before, after, asked)
    return found


def _pressed(act: Act, before: Look, after: Look, asked: int) -> list[str]:
    was, now = offer_of(act, before), offer_of(act, after)
    if was is None or was["role"] in QUIET_CONTROLS or was["isAway"] or was["isHere"]:
        return []
    if was["role"] == "link" and was["href"]:
        path = urlsplit(was["href"]).path
        stays = after["path"] == before["path"] and not _changed(before, after, asked)
        if path != before["path"] and stays and path.startswith("/channels/"):
            return [f"dead: link {act.sentence('somebody')} leads nowhere"]
        return []
    if (
        was["role"] in ("switch", "checkbox")
        and now
        and now["states"] == was["states"]
        and not _changed(before, after, 0)
    ):
        return [f"dead: {act.sentence('somebody')} changes nothing"]
    if was["role"] == "button" and not _changed(before, after, asked):
        return [f"dead: {act.sentence('somebody')} does nothing"]
    return []


def _changed(before: Look, after: Look, asked: int) -> bool:
    parts: tuple[str, ...] = ("path", "focus", "layer")
    was, now = ({**look["state"], "inputs": 0} for look in (before, after))
    return asked > 0 or any(before[part] != after[part] for part in parts) or was != now
