"""The hooks of Sentry: issues, errors, alerts of issues and of metrics, comments, as an integration sends them; and
what the older webhooks plugin sends of an event."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from chat.domain.webhooks.built_embeds import (
    Embed,
    Field,
    Named,
    built_embed,
    inner,
    list_at,
    moment,
    shortened,
    text_at,
    value_at,
)
from chat.domain.webhooks.dialects.colours import BLUE, GREEN, GREY, ORANGE, RED, YELLOW

TAGS_SHOWN: Final = ("environment", "release", "server_name", "transaction", "url")
BODY_CHARACTERS: Final = 1_000

LEVELS: Final = {"fatal": RED, "error": RED, "warning": YELLOW, "info": BLUE, "debug": GREY, "sample": GREY}

Told = Mapping[str, Any]


def sentry_embed(resource: str, told: Told) -> Embed | None:
    """What a delivery shows; `resource` is what Sentry-Hook-Resource says, which the body may tell as well. None for
    one that shows nothing."""
    if resource not in _RESOURCES:
        data = inner(told, "data")
        named = (name for name, member in _BY_MEMBER.items() if isinstance(inner(data, member), Mapping))
        resource = next(named, "")
    show = _RESOURCES.get(resource)
    return _legacy(told) if show is None else show(told)


_ISSUES: Final = {
    "created": ("New issue", None),
    "unresolved": ("Issue unresolved", None),
    "resolved": ("Issue resolved", GREEN),
    "archived": ("Issue archived", GREY),
    "ignored": ("Issue ignored", GREY),
}


def _issue(told: Told) -> Embed | None:
    issue, action = inner(told, "data", "issue"), text_at(told, "action")
    if action not in _ISSUES or not text_at(issue, "title"):
        return None
    words, color = _ISSUES[action]
    return built_embed(
        title=f"{_place(issue)}{words}: {text_at(issue, 'title')}",
        url=text_at(issue, "web_url") or text_at(issue, "permalink"),
        description=_culprit(issue, text_at(issue, "metadata", "value")),
        color=_level(issue) if color is None else color,
        author=_actor(told),
        fields=_counted(issue),
        timestamp=moment(inner(issue, "lastSeen")),
        footer=Named(text_at(issue, "shortId")),
    )


def _counted(issue: object) -> Sequence[Field]:
    named = (("Level", "level"), ("Events", "count"), ("Users", "userCount"))
    return [Field(name, value, inline=True) for name, member in named if (value := text_at(issue, member))]


def _error(told: Told) -> Embed | None:
    return _event(inner(told, "data", "error"), "")


def _event_alert(told: Told) -> Embed | None:
    rule = text_at(told, "data", "triggered_rule") or text_at(told, "data", "issue_alert", "title")
    return _event(inner(told, "data", "event"), rule)


def _event(event: object, rule: str) -> Embed | None:
    title = text_at(event, "title") or text_at(event, "message")
    if not title:
        return None
    return built_embed(
        title=f"{_place(event)}{title}",
        url=text_at(event, "web_url") or text_at(event, "issue_url"),
        description=_culprit(event, text_at(event, "metadata", "value") or text_at(event, "message")),
        color=_level(event),
        fields=[*([Field("Alert", rule, inline=True)] if rule else []), *_tags(event)],
        timestamp=moment(inner(event, "datetime")) or moment(inner(event, "timestamp")),
    )


_METRICS: Final = {"critical": RED, "warning": ORANGE, "resolved": GREEN}


def _metric_alert(told: Told) -> Embed | None:
    data, action = inner(told, "data"), text_at(told, "action")
    rule = text_at(data, "metric_alert", "alert_rule", "name") or text_at(data, "metric_alert", "title")
    title = text_at(data, "description_title") or (f"{action.capitalize()}: {rule}" if rule else "")
    if not title:
        return None
    return built_embed(
        title=title,
        url=text_at(data, "web_url"),
        description=text_at(data, "description_text"),
        color=_METRICS.get(action, BLUE),
        timestamp=moment(inner(data, "metric_alert", "date_detected")),
    )


def _comment(told: Told) -> Embed | None:
    words, project = text_at(told, "data", "comment"), text_at(told, "data", "project_slug")
    if text_at(told, "action") not in {"", "created"} or not words:
        return None
    title = f"[{project}] New comment" if project else "New comment"
    return built_embed(title=title, description=shortened(words, BODY_CHARACTERS), author=_actor(told), color=GREY)


_RESOURCES: Final[Mapping[str, Callable[[Told], Embed | None]]] = {
    "comment": _comment,
    "error": _error,
    "event_alert": _event_alert,
    "issue": _issue,
    "metric_alert": _metric_alert,
}
_BY_MEMBER: Final = {"issue": "issue", "event_alert": "event", "metric_alert": "metric_alert", "error": "error"}
"""The member of `data` that each resource has."""


def _legacy(told: Told) -> Embed | None:
    """An event as the plugin tells it, its project and address beside it."""
    event = inner(told, "event")
    title = text_at(event, "title") or text_at(told, "message") or text_at(event, "message")
    if not title:
        return None
    project = text_at(told, "project_name") or text_at(told, "project_slug") or text_at(told, "project")
    rules = [rule for rule in list_at(told, "triggering_rules") if isinstance(rule, str)]
    return built_embed(
        title=f"[{project}] {title}" if project else title,
        url=text_at(told, "url"),
        description=_culprit(told, text_at(event, "metadata", "value")),
        color=LEVELS.get(text_at(told, "level") or text_at(event, "level"), RED),
        fields=[*([Field("Alert", ", ".join(rules), inline=True)] if rules else []), *_tags(event)],
        timestamp=moment(inner(event, "timestamp")),
    )


def _place(told: object) -> str:
    """The project, where it is told by its name."""
    project = text_at(told, "project", "name") or text_at(told, "project", "slug")
    return f"[{project}] " if project else ""


def _culprit(told: object, words: str) -> str:
    culprit = text_at(told, "culprit").replace("`", "'")
    return "\n".join(filter(None, (shortened(words, BODY_CHARACTERS), f"`{culprit}`" if culprit else "")))


def _level(told: object) -> int:
    return LEVELS.get(text_at(told, "level"), RED)


def _actor(told: Told) -> Named | None:
    return Named(text_at(told, "actor", "name")) if text_at(told, "actor", "type") == "user" else None


def _tags(event: object) -> Sequence[Field]:
    """The tags that people look for; they come as pairs."""
    pairs = [pair for pair in list_at(event, "tags") if isinstance(pair, list) and len(pair) == 2]
    tags = {name: {"value": value} for name, value in pairs if isinstance(name, str)}
    tags.setdefault("environment", {"value": inner(event, "environment")})
    named = ((name, value_at(tags.get(name), "value")) for name in TAGS_SHOWN)
    return [Field(name.replace("_", " ").capitalize(), value, inline=True) for name, value in named if value]
