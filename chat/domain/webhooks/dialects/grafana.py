"""The notifications of Grafana: those of its alerting since version 8, which are Alertmanager's with a title and links,
and the single alert of the versions before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from chat.domain.webhooks.built_embeds import Embed, Field, built_embed, inner, list_at, more, text_at, value_at
from chat.domain.webhooks.dialects.alertmanager import (
    ALERTS_SHOWN,
    alert_fields,
    alerts_of,
    annotation,
    colour,
    common_labels,
    headline,
    latest,
)
from chat.domain.webhooks.dialects.colours import BLUE, GREEN, GREY, ORANGE, RED

_STATES: Final = {"alerting": RED, "ok": GREEN, "no_data": ORANGE, "pending": ORANGE, "paused": GREY, "unknown": BLUE}

Told = Mapping[str, Any]


def grafana_embed(told: Told) -> Embed | None:
    """What a notification shows; None for one that shows nothing."""
    alerts = alerts_of(told)
    if not alerts:
        return _legacy(told)
    common = common_labels(told, alerts)
    pictures = [text_at(alert, "imageURL") for alert in alerts]
    return built_embed(
        title=text_at(told, "title") or headline(told, alerts),
        url=next((url for alert in alerts if (url := text_at(alert, "panelURL"))), text_at(told, "externalURL")),
        description=annotation(inner(told, "commonAnnotations")),
        color=colour(text_at(told, "status"), common),
        timestamp=latest(alerts),
        fields=alert_fields(alerts, common, _left(told)),
        image=next(filter(None, pictures), ""),
    )


def _left(told: Told) -> int:
    left = inner(told, "truncatedAlerts")
    return max(left, 0) if type(left) is int else 0


def _legacy(told: Told) -> Embed | None:
    title, state = text_at(told, "title") or text_at(told, "ruleName"), text_at(told, "state")
    if not title:
        return None
    matches = [match for match in list_at(told, "evalMatches") if isinstance(match, Mapping)]
    fields = [
        Field(text_at(match, "metric"), value_at(match, "value") or "no value", inline=True)
        for match in matches[:ALERTS_SHOWN]
    ]
    if len(matches) > ALERTS_SHOWN:
        fields.append(more(len(matches) - ALERTS_SHOWN))
    return built_embed(
        title=title,
        url=text_at(told, "ruleUrl"),
        description=text_at(told, "message"),
        color=_STATES.get(state, BLUE),
        fields=fields,
        image=text_at(told, "imageUrl"),
    )
