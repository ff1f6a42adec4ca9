"""Reactions as the wire has them (messages.md, Reactions)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from chat.store.messages.reactions import Emoji, ReactionView


def emoji_object(emoji: Emoji, *, whole: bool = True) -> dict[str, Any]:
    """The emoji of a reaction; a Unicode one has no id. `whole` adds whether one of a guild moves."""
    data: dict[str, Any] = {"name": emoji.name}
    if emoji.id is not None:
        data["id"] = str(emoji.id)
        if whole:
            data["animated"] = emoji.animated
    return data


def reaction_objects(reactions: Iterable[ReactionView]) -> list[dict[str, Any]]:
    """The `reactions` of a message object; `me` tells whether the reader is among those who reacted."""
    return [
        {"emoji": emoji_object(reaction.emoji), "count": reaction.user_count, "me": reaction.me}
        for reaction in reactions
    ]
