"""What forums and media channels are made of beyond other channels (guilds.md, Forum and media channels; conventions of
the field)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

import attrs

from chat.errors import ApiError, FieldError
from chat.registries.channel_types import ChannelFlag, ChannelType
from chat.store.guilds.channels import NO_FORUM, Channel, Forum, ForumReaction, ForumTag

FORUM_FIELDS: Final = frozenset(
    {
        "available_tags",
        "default_reaction_emoji",
        "default_sort_order",
        "default_forum_layout",
        "default_tag_setting",
    }
)
"""Members of a channel's body that belong to forums and media channels alone."""

FLAGS: Final[Mapping[ChannelType, int]] = {
    ChannelType.GUILD_FORUM: ChannelFlag.REQUIRE_TAG.value,
    ChannelType.GUILD_MEDIA: (ChannelFlag.REQUIRE_TAG | ChannelFlag.HIDE_MEDIA_DOWNLOAD_OPTIONS).value,
}
"""Bits of a channel's `flags` that may be set by hand."""


@attrs.frozen
class TagWish:
    """A tag as it is wished for; `id` names one that is there already."""

    id: int | None
    name: str
    moderated: bool = False
    emoji_id: int | None = None
    emoji_name: str | None = None


def forum_errors(fields: Mapping[str, Any], emoji_ids: Collection[int]) -> list[FieldError]:
    """What is wrong with the fields of a forum; custom emojis are those of the guild."""
    errors = []
    seen: set[str] = set()
    for index, tag in enumerate(fields.get("available_tags") or ()):
        name = tag.name.strip()
        if not name or name.casefold() in seen:
            errors.append(FieldError(f"available_tags.{index}.name", "INVALID_FORMAT"))
        seen.add(name.casefold())
        errors += _emoji_errors(f"available_tags.{index}", tag, emoji_ids)
    reaction = fields.get("default_reaction_emoji")
    return errors if reaction is None else errors + _emoji_errors("default_reaction_emoji", reaction, emoji_ids)


def with_forum(channel: Channel, fields: Mapping[str, Any], new_id: Callable[[], int]) -> Channel:
    """The forum with what was asked for of what only forums have; null gives a default back.

    :raises ApiError: UNKNOWN_FORUM_TAG for a tag that it does not have.
    """
    if not fields.keys() & FORUM_FIELDS:
        return channel if channel.forum is not None else attrs.evolve(channel, forum=NO_FORUM)
    before = channel.forum or NO_FORUM
    changes: dict[str, Any] = {}
    if "available_tags" in fields:
        changes["tags"] = _tags(before, fields["available_tags"] or (), new_id)
    if "default_reaction_emoji" in fields:
        changes["default_reaction"] = _reaction(fields["default_reaction_emoji"])
    if "default_sort_order" in fields:
        changes["default_sort_order"] = fields["default_sort_order"]
    if "default_forum_layout" in fields:
        changes["default_layout"] = fields["default_forum_layout"] or NO_FORUM.default_layout
    if "default_tag_setting" in fields:
        changes["default_tag_setting"] = fields["default_tag_setting"] or NO_FORUM.default_tag_setting
    return attrs.evolve(channel, forum=attrs.evolve(before, **changes))


def forum_object(channel: Channel) -> dict[str, Any]:
    """What only forums and media channels show; the layout belongs to forums alone."""
    forum: Forum = channel.forum or NO_FORUM
    reaction = forum.default_reaction
    data: dict[str, Any] = {
        "available_tags": [tag_object(tag) for tag in forum.tags],
        "default_reaction_emoji": None if reaction is None else _emoji(reaction.emoji_id, reaction.emoji_name),
        "default_sort_order": forum.default_sort_order,
        "default_tag_setting": forum.default_tag_setting,
    }
    if channel.type == ChannelType.GUILD_FORUM:
        data["default_forum_layout"] = forum.default_layout
    return data


def tag_object(tag: ForumTag) -> dict[str, Any]:
    """A tag of a forum."""
    return {
        "id": str(tag.id),
        "name": tag.name,
        "moderated": tag.moderated,
        **_emoji(tag.emoji_id, tag.emoji_name),
    }


def _emoji(emoji_id: int | None, name: str | None) -> dict[str, Any]:
    return {"emoji_id": None if emoji_id is None else str(emoji_id), "emoji_name": name}


def _emoji_errors(path: str, named: TagWish | ForumReaction, emoji_ids: Collection[int]) -> list[FieldError]:
    if named.emoji_id is None or named.emoji_id in emoji_ids:
        return []
    return [FieldError(f"{path}.emoji_id", "INVALID_FORMAT")]


def _reaction(wished: ForumReaction | None) -> ForumReaction | None:
    if wished is None or (wished.emoji_id is None and wished.emoji_name is None):
        return None
    return ForumReaction(wished.emoji_id, None if wished.emoji_id is not None else wished.emoji_name)


def _tags(before: Forum, wished: Sequence[TagWish], new_id: Callable[[], int]) -> tuple[ForumTag, ...]:
    known = {tag.id for tag in before.tags}
    if any(tag.id is not None and tag.id not in known for tag in wished):
        raise ApiError("UNKNOWN_FORUM_TAG")
    return tuple(
        ForumTag(
            id=new_id() if tag.id is None else tag.id,
            name=tag.name.strip(),
            moderated=tag.moderated,
            emoji_id=tag.emoji_id,
            emoji_name=None if tag.emoji_id is not None else tag.emoji_name,
        )
        for tag in wished
    )
