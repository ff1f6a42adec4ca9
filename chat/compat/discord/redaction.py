"""A message for those who did not ask for its content (compat.md, Intents): who said it, where and when, and to whom it
refers; nothing of what was said. A member that has no row is left out, so that a new one gives nothing away."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from chat.compat.discord.objects import Object

EMPTIED: Final[Object] = {"content": "", "embeds": [], "attachments": [], "components": []}
"""What is there, and empty."""

LEFT_OUT: Final = frozenset({"poll", "resolved"})
"""What a message has only where it says something."""

KEPT: Final = frozenset(
    {
        "application_id",
        "author",
        "call",
        "channel_id",
        "channel_type",
        "edited_timestamp",
        "flags",
        "guild_id",
        "id",
        "interaction_metadata",
        "member",
        "mention_channels",
        "mention_everyone",
        "mention_roles",
        "mentions",
        "message_reference",
        "nonce",
        "nsfw_emojis",
        "pinned",
        "position",
        "reactions",
        "sticker_items",
        "stickers",
        "thread",
        "timestamp",
        "tts",
        "type",
        "users",
        "webhook_id",
    }
)


def redacted(message: Object) -> Object:
    """The message without what it says, what it answers and forwards included."""
    told: Object = {}
    for name, value in message.items():
        if name in KEPT:
            told[name] = value
        elif name in EMPTIED:
            told[name] = EMPTIED[name]
        elif name in NESTED:
            told[name] = NESTED[name](value)
    return told


def without_what_it_answers(message: Object) -> Object:
    """The message whole, the one that it answers without what that says."""
    return {**message, "referenced_message": redacted(message["referenced_message"])}


def _answered(message: Object | None) -> Object | None:
    return None if message is None else redacted(message)


def _forwarded(snapshots: list[Object]) -> list[Object]:
    return [{"message": redacted(snapshot["message"])} for snapshot in snapshots]


NESTED: Final[dict[str, Callable[[Any], Any]]] = {"referenced_message": _answered, "message_snapshots": _forwarded}
"""Messages within the message."""


def readers(message: Object) -> frozenset[int]:
    """Who may read a message without having asked for content: who wrote it, and whom it mentions."""
    return frozenset(int(each["id"]) for each in (message["author"], *message["mentions"]))
