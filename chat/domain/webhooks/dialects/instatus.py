"""What an Instatus status page tells: its incidents, maintenances and changing components."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from chat.domain.webhooks.built_embeds import Embed, Field, Named, built_embed, inner, list_at, moment, text_at
from chat.domain.webhooks.dialects.colours import BLUE, GREEN, GREY, ORANGE, RED, YELLOW

_STATUS_COLOURS: Final = {
    "OPERATIONAL": GREEN,
    "RESOLVED": GREEN,
    "COMPLETED": GREEN,
    "NOTSTARTEDYET": BLUE,
    "SCHEDULED": BLUE,
    "INPROGRESS": BLUE,
    "VERIFYING": BLUE,
    "UNDERMAINTENANCE": BLUE,
    "MINOROUTAGE": YELLOW,
    "DEGRADEDPERFORMANCE": YELLOW,
    "MONITORING": YELLOW,
    "PARTIALOUTAGE": ORANGE,
    "IDENTIFIED": ORANGE,
    "INVESTIGATING": RED,
    "MAJOROUTAGE": RED,
}
"""By a status or an impact, without what some of them have between their words."""

Notice = Mapping[str, Any]


def instatus_embed(notice: Notice) -> Embed | None:
    """What a notice shows; None for one that shows nothing."""
    for part, updates in (("incident", "incident_updates"), ("maintenance", "maintenance_updates")):
        if isinstance(inner(notice, part), Mapping):
            return _of_event(notice, part, updates)
    return _of_component(notice)


def _of_event(notice: Notice, part: str, updates: str) -> Embed | None:
    name, status, impact = (text_at(notice, part, member) for member in ("name", "status", "impact"))
    if not name:
        return None
    latest = _latest(list_at(notice, part, updates))
    words = text_at(latest, "body") or text_at(latest, "markdown")
    fields = [Field("Status", _words(text_at(latest, "status") or status), inline=True)]
    if impact:
        fields.append(Field("Impact", _words(impact), inline=True))
    shown = inner(latest, "created_at") or inner(notice, part, "updated_at") or inner(notice, part, "created_at")
    is_over = _key(status) in {"RESOLVED", "COMPLETED"}
    return built_embed(
        title=name,
        url=text_at(notice, part, "url") or text_at(notice, "page", "url"),
        description=words,
        color=_STATUS_COLOURS.get(_key(status if is_over or not impact else impact), GREY),
        fields=fields,
        footer=_page(notice),
        timestamp=moment(shown),
    )


def _latest(updates: object) -> object:
    """The newest update: they come in either order."""
    found = [update for update in updates if isinstance(update, Mapping)] if isinstance(updates, list | tuple) else []
    return max(found, key=lambda update: text_at(update, "created_at"), default=None)


def _of_component(notice: Notice) -> Embed | None:
    name = text_at(notice, "component", "name")
    status = text_at(notice, "component_update", "new_status") or text_at(notice, "component", "status")
    if not name or not status:
        return None
    before = text_at(notice, "component_update", "old_status")
    return built_embed(
        title=name,
        url=text_at(notice, "page", "url"),
        description=f"{_words(before)} → {_words(status)}" if before else _words(status),
        color=_STATUS_COLOURS.get(_key(status), GREY),
        footer=_page(notice),
        timestamp=moment(inner(notice, "component_update", "created_at")),
    )


def _page(notice: Notice) -> Named | None:
    words = text_at(notice, "page", "status_description")
    return Named(name=words) if words else None


_SPELLED: Final = {
    "OPERATIONAL": "Operational",
    "UNDERMAINTENANCE": "Under maintenance",
    "DEGRADEDPERFORMANCE": "Degraded performance",
    "MINOROUTAGE": "Minor outage",
    "PARTIALOUTAGE": "Partial outage",
    "MAJOROUTAGE": "Major outage",
    "NOTSTARTEDYET": "Not started yet",
    "INPROGRESS": "In progress",
}


def _words(status: str) -> str:
    """A status as people read it."""
    return _SPELLED.get(_key(status)) or status.replace("_", " ").capitalize()


def _key(status: str) -> str:
    return "".join(character for character in status if character.isalnum()).upper()
