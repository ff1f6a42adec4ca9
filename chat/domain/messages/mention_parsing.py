"""Whom and what a text names. One pass over the text; what stands in code is not a mention."""

from __future__ import annotations

import re
from collections.abc import Container
from typing import Final

import attrs

from chat.snowflake import MAXIMUM

MENTIONED_USERS: Final = 100
"""Accounts that one message names at most; further ones are plain text."""

MENTIONED_ROLES: Final = 100
"""The same for roles."""

MENTIONED_CHANNELS: Final = 100
"""The same for channels."""

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
    """What a text names, in the order of first appearance, before anyone asked whether it may."""

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
    user_ids: dict[int, None] = {}
    role_ids: dict[int, None] = {}
    channel_ids: dict[int, None] = {}
    emoji_ids: dict[int, None] = {}
    named: set[str] = set()
    for token in _TOKENS.finditer(content):
        kind = token.lastgroup
        if kind == "user":
            _note(user_ids, token["user"], MENTIONED_USERS)
        elif kind == "role":
            _note(role_ids, token["role"], MENTIONED_ROLES)
        elif kind == "all":
            named.add(token["all"])
        elif kind == "channel":
            _note(channel_ids, token["channel"], MENTIONED_CHANNELS)
        elif kind == "emoji":
            _note(emoji_ids, token["emoji"].rpartition(":")[2], len(content))
    return ParsedMentions(
        tuple(user_ids),
        tuple(role_ids),
        "everyone" in named,
        "here" in named,
        tuple(channel_ids),
        tuple(emoji_ids),
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


def _note(ids: dict[int, None], digits: str, limit: int) -> None:
    snowflake = int(digits)
    if len(ids) < limit and snowflake <= MAXIMUM:
        ids[snowflake] = None
