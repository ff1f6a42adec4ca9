"""Whom and what a text names, and which of it counts (messages.md, Mentions).

The text is read in one pass; what stands in code is not a mention. A mention counts that exists, that the draft allows
and that the author may make.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from typing import Any, Final

import attrs

from chat.domain.messages.message_drafts import AllowedMentions
from chat.domain.standing.access import ChannelAccess, GuildChannelAccess
from chat.domain.standing.permissions import VIEW_CHANNEL, channel_permissions, guild_permissions
from chat.registries.guild_values import DisabledOperation
from chat.registries.permissions import Permission
from chat.snowflake import MAXIMUM
from chat.store.accounts.accounts import Account
from chat.store.guilds.expressions import ExpressionPlace

MENTIONED_USERS: Final = 100
"""Accounts that one message names at most; further ones are plain text."""

MENTIONED_ROLES: Final = 100
"""The same for roles."""

MENTIONED_CHANNELS: Final = 100
"""The same for channels."""

_MOST: Final = {"user": MENTIONED_USERS, "role": MENTIONED_ROLES, "channel": MENTIONED_CHANNELS}
MENTION_EVERYONE: Final = Permission.MENTION_EVERYONE.value
EVERYONE_MENTIONS: Final = DisabledOperation.EVERYONE_MENTIONS.value
USE_EXTERNAL_EMOJIS: Final = Permission.USE_EXTERNAL_EMOJIS.value

# A code block or span that is closed takes everything in it; an opening that is never closed is plain text. Each
# alternative ends at the first character that decides it, and a block without an end is looked for once per run of
# backticks, so the time is linear in the text.
_TOKENS: Final = re.compile(
    r"```.*?```"
    r"|``[^\n]*?``"
    r"|`[^`\n]+`"
    r"|<@!?(?P<user>[0-9]{1,19})>"
    r"|<@&(?P<role>[0-9]{1,19})>"
    r"|<#(?P<channel>[0-9]{1,19})>"
    r"|<a?:(?P<emoji>[A-Za-z0-9_]{2,32}:[0-9]{1,19})>"
    r"|(?<!\w)@(?P<all>everyone|here)\b",
    re.DOTALL,
)


@attrs.frozen
class ParsedMentions:
    """What a text names, in the order of first appearance, whether or not it may."""

    user_ids: tuple[int, ...] = ()
    role_ids: tuple[int, ...] = ()
    everyone: bool = False
    here: bool = False
    channel_ids: tuple[int, ...] = ()
    emoji_ids: tuple[int, ...] = ()


NO_MENTIONS: Final = ParsedMentions()


def parse_mentions(content: str) -> ParsedMentions:
    """What stands in a message's text: `<@id>`, `<@!id>`, `<@&id>`, `@everyone`, `@here`, `<#id>`, `<:name:id>` and
    `<a:name:id>`."""
    if "@" not in content and "<" not in content:
        return NO_MENTIONS
    found: dict[str, dict[int, None]] = {"user": {}, "role": {}, "channel": {}, "emoji": {}}
    named: set[str] = set()
    for token in _TOKENS.finditer(content):
        kind = token.lastgroup
        if kind == "all":
            named.add(token["all"])
        elif kind is not None:
            ids, snowflake = found[kind], int(token[kind].rpartition(":")[2])
            if len(ids) < _MOST.get(kind, len(content)) and snowflake <= MAXIMUM:
                ids[snowflake] = None
    return ParsedMentions(
        tuple(found["user"]),
        tuple(found["role"]),
        "everyone" in named,
        "here" in named,
        tuple(found["channel"]),
        tuple(found["emoji"]),
    )


def without_emojis(content: str, emoji_ids: Container[int]) -> str:
    """The text with these custom emojis as plain `:name:`. No new emoji comes of what stands around one: `<` before it
    and `1>` behind it."""

    def plain(token: re.Match[str]) -> str:
        if token.lastgroup != "emoji":
            return token[0]
        name, _, digits = token["emoji"].rpartition(":")
        if int(digits) not in emoji_ids:
            return token[0]
        return f":{name}: " if content[token.end() : token.end() + 1].isdecimal() else f":{name}:"

    return _TOKENS.sub(plain, content)


@attrs.frozen
class CountedMentions:
    """The mentions of a message, ids ascending. `here` excludes `everyone`, which says more."""

    users: tuple[Account, ...] = ()
    role_ids: tuple[int, ...] = ()
    everyone: bool = False
    here: bool = False

    @property
    def user_ids(self) -> tuple[int, ...]:
        """The accounts' ids."""
        return tuple(account.id for account in self.users)

    def notified_user_ids(self, access: ChannelAccess) -> list[int]:
        """Accounts named one by one that see the channel and did not name themselves."""
        return [user_id for user_id in self.user_ids if user_id != access.user_id and access.sees(user_id)]


NOTHING_COUNTED: Final = CountedMentions()


def count_mentions(
    access: ChannelAccess,
    parsed: ParsedMentions,
    allowed: AllowedMentions,
    accounts: Mapping[int, Account],
    replied_to: Account | None = None,
) -> CountedMentions:
    """Judge what a text names. `accounts` holds those of the named accounts that exist.

    `replied_to` is the author of the message that this one answers, mentioned by that alone if the draft lets it count.
    Roles that are not mentionable, everyone and here need MENTION_EVERYONE; without it they are plain text.
    """
    replied = replied_to if allowed.replied_user and replied_to is not None else None
    if parsed is NO_MENTIONS and replied is None:
        return NOTHING_COUNTED
    named = (user_id for user_id in parsed.user_ids if user_id in accounts and allowed.users(user_id))
    users = {user_id: accounts[user_id] for user_id in named}
    if replied is not None:
        users[replied.id] = replied
    may_mention_all = access.may(MENTION_EVERYONE)
    role_ids = (
        role_id
        for role_id in parsed.role_ids
        if access.role_that_may_be_mentioned(role_id, any_role=may_mention_all) and allowed.roles(role_id)
    )
    all_count = may_mention_all and "everyone" in allowed.parse and not access.disables(EVERYONE_MENTIONS)
    return CountedMentions(
        users=tuple(users[user_id] for user_id in sorted(users)),
        role_ids=tuple(sorted(role_ids)),
        everyone=parsed.everyone and all_count,
        here=parsed.here and all_count and not parsed.everyone,
    )


@attrs.frozen
class JudgedText:
    """A text as it is sent, with what the message keeps of the channels and emojis in it."""

    content: str
    mention_channels: tuple[dict[str, Any], ...] = ()
    nsfw_emojis: tuple[str, ...] = ()

    @property
    def extra(self) -> dict[str, Any]:
        """The members of a message's `extra`."""
        return {"mention_channels": self.mention_channels, "nsfw_emojis": self.nsfw_emojis}


def judge_text(
    access: ChannelAccess, content: str, parsed: ParsedMentions, emojis: Mapping[int, ExpressionPlace]
) -> JudgedText:
    """Judge the channels and emojis that a text names. `emojis` holds those of the named emojis that exist.

    Emojis of elsewhere need USE_EXTERNAL_EMOJIS; without it they are their names as plain text.
    """
    if not parsed.channel_ids and not parsed.emoji_ids:
        return JudgedText(content)
    if parsed.emoji_ids and not access.may(USE_EXTERNAL_EMOJIS):
        own = {emoji_id: place for emoji_id, place in emojis.items() if place.guild_id == access.guild_id}
        foreign = set(parsed.emoji_ids) - own.keys()
        if foreign:
            content, emojis = without_emojis(content, foreign), own
    return JudgedText(
        content,
        _mentioned_channels(access, parsed),
        tuple(str(emoji_id) for emoji_id in parsed.emoji_ids if emoji_id in emojis and emojis[emoji_id].nsfw),
    )


def _mentioned_channels(access: ChannelAccess, parsed: ParsedMentions) -> tuple[dict[str, Any], ...]:
    """Those of the named channels whose names are no secret: everyone in the guild sees them."""
    if not isinstance(access, GuildChannelAccess):
        return ()
    state = access.state
    mask = guild_permissions(state.roles, state.id, ())
    named = (state.channels.get(channel_id) for channel_id in parsed.channel_ids)
    return tuple(
        {"id": str(channel.id), "name": channel.name or "", "type": channel.type}
        for channel in named
        if channel is not None and channel_permissions(mask, channel, state.id, 0, frozenset()) & VIEW_CHANNEL
    )
