"""What the events of a Matrix room tell of other events: edits, reactions, threads, answers, pins; and of people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import attrs

from chat.classes import define
from chat.imports.discord_values import object_in, text_of

_LATEST: Final = 1 << 53


def moment_of(event: Mapping[str, Any]) -> int | None:
    """When an event was sent, in Unix milliseconds."""
    moment = event.get("origin_server_ts")
    return moment if type(moment) is int and 0 <= moment < _LATEST else None


@define(eq=False)
class Relations:
    """Of one room; by ids of events, those of the events that are meant."""

    names: dict[str, str] = attrs.field(factory=dict)
    inside: set[str] = attrs.field(factory=set)
    """Who joined, or wrote."""
    is_public: bool = False
    pinned: set[str] = attrs.field(factory=set)
    edits: dict[tuple[str, str], tuple[int, Mapping[str, Any]]] = attrs.field(factory=dict)
    """By the event and by who edited it: when, and the new content."""
    reactions: dict[str, dict[str, set[str]]] = attrs.field(factory=dict)
    """Per emoji, who."""
    threads: set[str] = attrs.field(factory=set)
    """Events that have a thread."""
    answered: set[str] = attrs.field(factory=set)
    gone: set[str] = attrs.field(factory=set)
    """Events that were taken back."""

    def keep(self, event: Mapping[str, Any]) -> None:
        """Take note of what an event tells."""
        content, sender = object_in(event.get("content")), text_of(event.get("sender"))
        match event.get("type"):
            case "m.room.member":
                key = text_of(event.get("state_key"))
                self.names[key] = text_of(content.get("displayname")) or self.names.get(key, "")
                if content.get("membership") == "join" and key:
                    self.inside.add(key)
            case "m.room.join_rules":
                self.is_public = content.get("join_rule") == "public"
            case "m.room.pinned_events":
                listed = content.get("pinned")
                self.pinned = set(map(text_of, listed)) if isinstance(listed, list) else set()
            case "m.room.redaction":
                self.gone.add(text_of(event.get("redacts")) or text_of(content.get("redacts")))
            case "m.reaction":
                relation = object_in(content.get("m.relates_to"))
                target, emoji = text_of(relation.get("event_id")), text_of(relation.get("key"))
                if target and emoji and sender:
                    self.reactions.setdefault(target, {}).setdefault(emoji, set()).add(sender)
            case _:
                self._message(event, content, sender)

    def _message(self, event: Mapping[str, Any], content: Mapping[str, Any], sender: str) -> None:
        if sender and "state_key" not in event:
            self.inside.add(sender)
        relation = object_in(content.get("m.relates_to"))
        target = text_of(relation.get("event_id"))
        answered = text_of(object_in(relation.get("m.in_reply_to")).get("event_id"))
        if relation.get("rel_type") == "m.replace" and target:
            moment, known = moment_of(event) or 0, self.edits.get((target, sender))
            if known is None or known[0] <= moment:
                self.edits[target, sender] = moment, object_in(content.get("m.new_content"))
        elif relation.get("rel_type") == "m.thread" and target:
            self.threads.add(target)
        if answered:
            self.answered.add(answered)
