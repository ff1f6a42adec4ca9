"""The notifications of Prometheus' Alertmanager (version 4 of its webhook): a group of alerts that fire or are over."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from chat.domain.webhooks.built_embeds import Embed, Field, built_embed, inner, list_at, moment, more, text_at, value_at
from chat.domain.webhooks.dialects.colours import BLUE, GREEN, ORANGE, RED, YELLOW

ALERTS_SHOWN: Final = 20

SEVERITIES: Final = {"critical": RED, "error": RED, "high": RED, "warning": ORANGE, "minor": YELLOW, "info": BLUE}
"""Colours of what fires, by its label `severity`; anything else is red."""

Told = Mapping[str, Any]


def alertmanager_embed(told: Told) -> Embed | None:
    """What a notification shows; None for one without an alert."""
    alerts = alerts_of(told)
    if not alerts:
        return None
    common = common_labels(told, alerts)
    return built_embed(
        title=headline(told, alerts),
        url=text_at(told, "externalURL"),
        description=annotation(inner(told, "commonAnnotations")),
        color=colour(text_at(told, "status"), common),
        timestamp=latest(alerts),
        fields=alert_fields(alerts, common, _whole(inner(told, "truncatedAlerts"))),
    )


def alerts_of(told: Told) -> Sequence[Told]:
    """The alerts of a group, those that fire first."""
    alerts = [alert for alert in list_at(told, "alerts") if isinstance(alert, Mapping)]
    return sorted(alerts, key=lambda alert: text_at(alert, "status") == "resolved")


def headline(told: Told, alerts: Sequence[Told]) -> str:
    """How many alerts fire, and what they have in common."""
    firing = sum(text_at(alert, "status") != "resolved" for alert in alerts)
    is_over = text_at(told, "status") == "resolved"
    count = f"RESOLVED:{len(alerts)}" if is_over else f"FIRING:{firing}"
    group = inner(told, "groupLabels")
    values = [value_at(group, name) for name in group] if isinstance(group, Mapping) else []
    named = " ".join(filter(None, values)) or text_at(told, "commonLabels", "alertname") or _name(alerts[0])
    return f"[{count}] {named}".rstrip()


def colour(status: str, labels: Told) -> int:
    """By whether it is over, and by its severity."""
    return GREEN if status == "resolved" else SEVERITIES.get(text_at(labels, "severity").lower(), RED)


def common_labels(told: Told, alerts: Sequence[Told]) -> Told:
    """The labels that all of them have."""
    common = inner(told, "commonLabels")
    if isinstance(common, Mapping):
        return common
    first = inner(alerts[0], "labels")
    if not isinstance(first, Mapping):
        return {}
    return {
        name: value for name, value in first.items() if all(inner(alert, "labels", name) == value for alert in alerts)
    }


def annotation(annotations: object) -> str:
    """What an alert says for people."""
    texts = [text_at(annotations, name) for name in ("summary", "message", "description")]
    return "\n".join(dict.fromkeys(text for text in texts if text.strip()))


def alert_fields(alerts: Sequence[Told], common: Told, left: int = 0) -> Iterable[Field]:
    """A field for each alert, and one that counts the others; `left` of them did not come along."""
    for alert in alerts[:ALERTS_SHOWN]:
        yield _field(alert, common)
    missing = max(len(alerts) - ALERTS_SHOWN, 0) + left
    if missing:
        yield more(missing)


def latest(alerts: Sequence[Told]) -> str | None:
    """The newest moment at which one began or ended."""
    moments = [moment(inner(alert, name)) for alert in alerts for name in ("startsAt", "endsAt")]
    return max((found for found in moments if found is not None), default=None)


def _field(alert: Told, common: Told) -> Field:
    mark = "✅" if text_at(alert, "status") == "resolved" else "🔥"
    labels = inner(alert, "labels")
    own = [
        f"{name}={value_at(labels, name)}"
        for name in (labels if isinstance(labels, Mapping) else ())
        if name not in common and name != "alertname" and value_at(labels, name)
    ]
    named = ", ".join(own) or _name(alert)
    lines = [annotation(inner(alert, "annotations")), text_at(alert, "valueString")]
    for words, member in (
        ("Source", "generatorURL"), ("Dashboard", "dashboardURL"), ("Panel", "panelURL"), ("Silence", "silenceURL"),
    ):  # fmt: skip
        url = text_at(alert, member)
        if url.startswith(("http://", "https://")):
            lines.append(f"[{words}]({url.replace('(', '%28').replace(')', '%29')})")
    return Field(f"{mark} {named}".rstrip(), "\n".join(line for line in lines if line.strip()))


def _name(alert: Told) -> str:
    return text_at(alert, "labels", "alertname")


def _whole(value: object) -> int:
    return max(value, 0) if type(value) is int else 0
