"""What a simulated client knows of its session, and of what the session has to bring it."""

from __future__ import annotations

from typing import Any

import attrs

from chat.registries.events import EventName
from chat.testing.gateway_client import ServerPayload
from chat.testing.gateway_model import ModelSession


@attrs.define(eq=False)
class Post:
    """A message that somebody posted: the turns of the simulation at which the request began and was answered."""

    author: str
    content: str
    began: int
    id: str | None = None
    """Once it was acknowledged."""


@attrs.define(eq=False)
class SimulatedSession(ModelSession):
    """The model of a session, with the state that its Dispatches add up to (zulip's way: state + events = fresh state).

    Messages come from several authors at once, so they are owed as a set: see `missing`.
    """

    ready_at: int = 0
    """The turn at which Ready arrived."""
    guild: dict[str, Any] = attrs.field(factory=dict)
    messages: dict[str, str] = attrs.field(factory=dict)
    """Content by id, of every message that was created and not deleted."""
    seen: set[str] = attrs.field(factory=set)

    def take(self, payload: ServerPayload) -> None:
        is_new = payload.name != EventName.RESUMED and payload.sequence not in self.received
        super().take(payload)
        if is_new:
            self._apply(payload.name, payload.data)

    def _settle(self, message_id: str) -> None:
        assert message_id not in self.seen, f"message {message_id} was delivered twice to {self.id}"
        self.seen.add(message_id)

    def _apply(self, name: str | None, data: Any) -> None:
        match name:
            case EventName.READY:
                available = [guild for guild in data["guilds"] if not guild.get("unavailable")]
                self.guild = available[0] if available else {}
            case EventName.GUILD_CREATE | EventName.GUILD_SYNC:
                self.guild = data
            case EventName.MESSAGE_CREATE:
                self.messages[data["id"]] = data["content"]
                for channel in self.guild.get("channels", ()):
                    if channel["id"] == data["channel_id"]:
                        channel["last_message_id"] = data["id"]
            case EventName.MESSAGE_UPDATE:
                if data["id"] in self.messages:
                    self.messages[data["id"]] = data["content"]
            case EventName.MESSAGE_DELETE:
                self.messages.pop(data["id"], None)
            case EventName.CHANNEL_UPDATE:
                self.guild["channels"] = [
                    data if channel["id"] == data["id"] else channel for channel in self.guild["channels"]
                ]
            case _:
                pass

    def missing(self, posts: list[Post]) -> list[Post]:
        """Messages acknowledged to their authors whose request began after Ready and which have not arrived."""
        return [
            post for post in posts if post.id is not None and post.began > self.ready_at and post.id not in self.seen
        ]

    def state(self) -> dict[str, Any]:
        """What a fresh session must show likewise."""
        return comparable(self.guild)


def comparable(guild: dict[str, Any]) -> dict[str, Any]:
    """The parts of a whole guild that do not depend on who asks and when: everything but members and counts."""
    parts = {name: guild[name] for name in ("properties", "emojis", "stickers", "threads", "voice_states")}
    for name in ("roles", "channels"):
        parts[name] = sorted(guild[name], key=lambda entry: int(entry["id"]))
    return parts
