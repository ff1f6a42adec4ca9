"""What bodies say of threads, and of channels as those that hold threads (threads.md, Thread object)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

import attrs

from chat.api.fields import OMITTED, Items, Length, Maybe, Range, Snowflake, named_members
from chat.classes import frozen
from chat.domain.guilds.channel_fields import TagWish
from chat.domain.threads.thread_changes import ThreadChange
from chat.errors import InvalidFormBody
from chat.registries.channel_types import ForumLayout, ForumSortOrder
from chat.registries.error_codes import FieldCode
from chat.registries.limits import APPLIED_TAGS, FORUM_TAG_CHARACTERS, FORUM_TAGS
from chat.store.guilds.channels import ForumReaction

SLOWMODE_SECONDS_MAXIMUM: Final = 21_600
INT32_MAXIMUM: Final = (1 << 31) - 1
EMOJI_CHARACTERS: Final = 64

ThreadName = Annotated[str, Length(1, 100)]
ArchiveMinutes = Literal[60, 1_440, 4_320, 10_080]
Slowmode = Annotated[int, Range(0, SLOWMODE_SECONDS_MAXIMUM)]
AppliedTags = Annotated[list[Snowflake], Items(0, APPLIED_TAGS)]
EmojiName = Annotated[str, Length(1, EMOJI_CHARACTERS)]


@frozen(kw_only=True)
class ReactionBody:
    """The emoji that clients offer to react with to a post."""

    emoji_id: Snowflake | None = None
    emoji_name: EmojiName | None = None


@frozen(kw_only=True)
class TagBody:
    """A tag of a forum; `id` names a tag that the forum has already."""

    id: Snowflake | None = None
    name: Annotated[str, Length(1, FORUM_TAG_CHARACTERS)]
    moderated: bool = False
    emoji_id: Snowflake | None = None
    emoji_name: EmojiName | None = None


@frozen(kw_only=True)
class ForumFields:
    """What the body of a channel says that holds threads."""

    flags: Maybe[Annotated[int, Range(0, INT32_MAXIMUM)] | None] = OMITTED
    default_auto_archive_duration: Maybe[ArchiveMinutes | None] = OMITTED
    default_thread_rate_limit_per_user: Maybe[Slowmode | None] = OMITTED
    available_tags: Maybe[Annotated[list[TagBody], Items(0, FORUM_TAGS)] | None] = OMITTED
    default_reaction_emoji: Maybe[ReactionBody | None] = OMITTED
    default_sort_order: Maybe[ForumSortOrder | None] = OMITTED
    default_forum_layout: Maybe[ForumLayout | None] = OMITTED
    default_tag_setting: Maybe[Literal["match_all", "match_some"] | None] = OMITTED


THREAD_FIELDS: Final = ("archived", "locked", "auto_archive_duration", "invitable", "applied_tags")
"""Members of a change that a thread has, and no other channel."""


def forum_fields(body: ForumFields) -> dict[str, object]:
    """The members of a body that speak of a forum, as the domain takes them."""
    fields = {name: value for name, value in named_members(body).items() if name in _FORUM_FIELDS}
    tags = fields.get("available_tags")
    if tags is not None:
        fields["available_tags"] = tuple(
            TagWish(tag.id, tag.name, tag.moderated, tag.emoji_id, tag.emoji_name) for tag in tags
        )
    reaction = fields.get("default_reaction_emoji")
    if reaction is not None:
        fields["default_reaction_emoji"] = ForumReaction(reaction.emoji_id, reaction.emoji_name)
    return fields


def thread_change(body: Any, fields: Mapping[str, Any]) -> ThreadChange:
    """The change to a thread that a body asks for; `fields` are those that it shares with other channels.

    :raises InvalidFormBody: INVALID_FORMAT at `rate_limit_per_user`.
    """
    slowmode = fields.get("rate_limit_per_user")
    if slowmode is not None and slowmode > SLOWMODE_SECONDS_MAXIMUM:
        raise InvalidFormBody.at("rate_limit_per_user", FieldCode.INVALID_FORMAT)
    return ThreadChange(
        name=fields.get("name"),
        archived=body.archived,
        locked=body.locked,
        auto_archive_duration=body.auto_archive_duration,
        rate_limit_per_user=slowmode,
        invitable=body.invitable,
        flags=fields.get("flags"),
        applied_tags=None if body.applied_tags is None else tuple(dict.fromkeys(body.applied_tags)),
    )


_FORUM_FIELDS: Final = frozenset(field.name for field in attrs.fields(ForumFields))
