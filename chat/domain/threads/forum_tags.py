"""The tags of forums and media channels, and which of them a post may have (threads.md, Posts and tags; conventions of
the field)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from chat.errors import ApiError
from chat.registries.channel_types import ChannelFlag
from chat.store.guilds.channels import NO_FORUM, Channel, ForumTag

REQUIRE_TAG: Final = ChannelFlag.REQUIRE_TAG.value


def tags_of(forum: Channel) -> tuple[ForumTag, ...]:
    """The tags that posts of a forum may have."""
    return (forum.forum or NO_FORUM).tags


def require_tags(forum: Channel, wanted: Sequence[int], *, before: Sequence[int] = (), moderates: bool = False) -> None:
    """Whether a post may have these tags instead of those that it had before.

    :raises ApiError: UNKNOWN_FORUM_TAG; MISSING_PERMISSIONS for giving or taking a moderated tag without managing
        threads; FORUM_TAG_REQUIRED where the forum asks for one, NO_TAGS_AVAILABLE_TO_NON_MODERATORS where all of them
        are moderated.
    """
    known = {tag.id: tag for tag in tags_of(forum)}
    if any(tag_id not in known and tag_id not in before for tag_id in wanted):
        raise ApiError("UNKNOWN_FORUM_TAG")
    differing = set(wanted) ^ set(before)
    if not moderates and any(known[tag_id].moderated for tag_id in differing if tag_id in known):
        raise ApiError("MISSING_PERMISSIONS")
    if forum.flags & REQUIRE_TAG and known and not wanted:
        if not moderates and all(tag.moderated for tag in known.values()):
            raise ApiError("NO_TAGS_AVAILABLE_TO_NON_MODERATORS")
        raise ApiError("FORUM_TAG_REQUIRED")
