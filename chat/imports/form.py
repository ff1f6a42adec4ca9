"""The intermediate form: what a community is made of, in the order in which it is written (manual, The intermediate
form).

Ids are snowflakes. A service whose ids are none has them made by its reader from the moment and from its own id, so
that the same thing gets the same id from each export; `original_id` keeps what it was called there. Times are Unix
milliseconds. A `path` names a file of the export (`chat.imports.export_files`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from chat.classes import frozen

VERSION: Final = 1
"""Of the form, in the first line of each file."""


@frozen(kw_only=True)
class GuildRecord:
    """The community itself."""

    id: int
    name: str
    icon: str | None = None
    """The path of its picture."""
    original_id: str | None = None


@frozen(kw_only=True)
class RoleRecord:
    """A role. The one of everyone has the id of the guild."""

    id: int
    name: str
    color: int = 0
    position: int = 0
    permissions: int = 0
    hoist: bool = False
    hoist_position: int | None = None
    mentionable: bool = False
    unicode_emoji: str | None = None
    """The character that stands beside names."""


@frozen(kw_only=True)
class OverwriteRecord:
    """What a channel allows and denies a role (type 0) or a person (type 1)."""

    target_id: int
    type: int
    allow: int
    deny: int


@frozen(kw_only=True)
class TagRecord:
    """A tag of a forum."""

    id: int
    name: str
    moderated: bool = False
    emoji_id: int | None = None
    emoji_name: str | None = None


@frozen(kw_only=True)
class ForumRecord:
    """What a forum has beside its tags: the emoji that clients offer to react with, how posts are sorted and shown (by
    the numbers of the wire), and whether a post is found that has some of the tags or only one that has all."""

    emoji_id: int | None = None
    emoji_name: str | None = None
    sort_order: int | None = None
    layout: int = 0
    tag_setting: str = "match_some"


@frozen(kw_only=True)
class ThreadRecord:
    """What a thread has beside what every channel has. `created_at` is Unix milliseconds."""

    owner_id: int | None = None
    archived: bool = False
    locked: bool = False
    invitable: bool | None = None
    """Whether its members may bring others into a private thread; None for any other."""
    auto_archive_duration: int = 10_080
    """Minutes."""
    created_at: int | None = None
    applied_tags: tuple[int, ...] = ()


@frozen(kw_only=True)
class ChannelRecord:
    """A channel, a category or a thread; `type` is one of `chat.registries.channel_types.ChannelType`. Those above come
    first."""

    id: int
    type: int
    name: str
    topic: str | None = None
    parent_id: int | None = None
    position: int = 0
    nsfw: bool = False
    nsfw_override: bool | None = None
    content_warning_level: int = 0
    content_warning_text: str | None = None
    flags: int = 0
    rate_limit_per_user: int = 0
    bitrate: int | None = None
    user_limit: int | None = None
    voice_connection_limit: int | None = None
    url: str | None = None
    default_auto_archive_duration: int | None = None
    default_thread_rate_limit_per_user: int = 0
    overwrites: tuple[OverwriteRecord, ...] = ()
    tags: tuple[TagRecord, ...] = ()
    forum: ForumRecord | None = None
    thread: ThreadRecord | None = None
    original_id: str | None = None


@frozen(kw_only=True)
class PersonRecord:
    """Somebody who wrote, reacted or was named: an account, a bot, or what a webhook was called."""

    id: int
    name: str
    """As it was shown."""
    username: str | None = None
    bot: bool = False
    avatar: str | None = None
    """The path of the picture."""
    original_id: str | None = None


@frozen(kw_only=True)
class ExpressionRecord:
    """An emoji or a sticker of the community; `what` is `emojis` or `stickers`."""

    id: int
    what: str
    name: str
    path: str
    animated: bool = False
    description: str = ""
    keywords: tuple[str, ...] = ()
    """Words by which a sticker is found."""
    user_id: int | None = None
    """Who made it."""


@frozen(kw_only=True)
class FileRecord:
    """A file of a message; without a `path` the export only names it."""

    id: int
    name: str
    size: int = 0
    path: str | None = None
    title: str | None = None
    description: str | None = None
    spoiler: bool = False
    """Whether it is hidden until somebody asks for it."""
    waveform: str | None = None
    """Of speech: how loud it is over time, in base64."""


@frozen(kw_only=True)
class ReactionRecord:
    """An emoji under a message, by its character or by the id of a custom one. `count` may be more than the people who
    are known."""

    name: str
    emoji_id: int | None = None
    animated: bool = False
    count: int = 1
    user_ids: tuple[int, ...] = ()


@frozen(kw_only=True)
class ReferenceRecord:
    """The message that another one answers (type 0) or passes on (type 1)."""

    channel_id: int
    message_id: int = 0
    """0 where it names the channel alone."""
    type: int = 0


@frozen(kw_only=True)
class MessageRecord:
    """A message. `type` is one of `chat.registries.message_types.MessageType`; embeds, stickers, components and the
    snapshot are as the wire has them."""

    id: int
    channel_id: int
    author_id: int
    type: int = 0
    content: str = ""
    flags: int = 0
    edited_at: int | None = None
    pinned: bool = False
    pinned_at: int | None = None
    """Where that is known."""
    webhook_name: str | None = None
    """For a message of a webhook: what it was called there."""
    mentions: tuple[int, ...] = ()
    mention_roles: tuple[int, ...] = ()
    mention_everyone: bool = False
    tts: bool = False
    reference: ReferenceRecord | None = None
    files: tuple[FileRecord, ...] = ()
    embeds: tuple[Mapping[str, Any], ...] = ()
    stickers: tuple[Mapping[str, Any], ...] = ()
    components: tuple[Mapping[str, Any], ...] = ()
    snapshot: Mapping[str, Any] | None = None
    reactions: tuple[ReactionRecord, ...] = ()
    original_id: str | None = None


@frozen(kw_only=True)
class TroubleRecord:
    """Something of the export that does not come along, and why: `what` it is, `name` which one, `reason` one of
    `TROUBLES`."""

    what: str
    name: str
    reason: str


TROUBLES: Final[Mapping[str, str]] = {
    "file is missing": "the export names the file and does not have it",
    "path leads out": "the export names a file outside of itself, or a symbolic link",
    "not readable": "the file is broken off, or is not what its name says",
    "no id": "it has no id that could be kept",
    "from the future": "its id is of a moment that has not come",
    "before 2015": "it stands in its order at the beginning of 2015, since no id here tells of an earlier moment",
    "unknown kind": "a kind that this server does not have, with nothing to show",
    "encrypted": "the export has it encrypted, without the key",
    "too large": "larger than the limit of this instance",
    "id is taken": "something else here has its id",
    "no channel": "its channel did not come along",
    "no room": "there are as many as there may be",
    "nobody is named": "the export tells of a reaction and not of who reacted",
    "blocked": "the instance blocks it",
    "direct messages": "conversations of two are nobody else's",
    "nobody has it": "it is for somebody or something that did not come along",
    "stays behind": "the intermediate form has no place for it",
}
"""Every reason, in words."""

Record = GuildRecord | RoleRecord | ChannelRecord | PersonRecord | ExpressionRecord | MessageRecord | TroubleRecord

KINDS: Final[Mapping[str, type[Any]]] = {
    "guild": GuildRecord,
    "role": RoleRecord,
    "channel": ChannelRecord,
    "person": PersonRecord,
    "expression": ExpressionRecord,
    "message": MessageRecord,
    "trouble": TroubleRecord,
}
"""The word of each kind of record in its line."""

KIND_OF: Final[Mapping[type[Any], str]] = {record: kind for kind, record in KINDS.items()}


def lone_surrogates_gone(text: str) -> str:
    """The text with U+FFFD in place of each lone surrogate, which UTF-8 cannot hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
