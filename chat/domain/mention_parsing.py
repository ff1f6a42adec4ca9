"""Whom a text names. One pass over the text; what stands in code is not a mention."""

from __future__ import annotations

import re
from typing import Final

import attrs

from chat.snowflake import MAXIMUM

MENTIONED_USERS: Final = 100
"""Accounts that one message names at most; further ones are plain text."""

MENTIONED_ROLES: Final = 100
"""The same for roles."""

# A code block or span that is closed takes everything in it; an opening that is never closed is plain text. Each
# alternative ends at the first character that decides it, and a block without an end is looked for once per run of
# backticks, so the time is linear in the text.
_TOKENS: Final = re.compile(
    r"```.*?```"
    r"|``[^\n]*?``"
    r"|`[^`\n]+`"
    r"|<@!?(?P<user>[0-9]{1,19})>"
    r"|<@&(?P<role>[0-9]{1,19})>"
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


NO_MENTIONS: Final = ParsedMentions()


def parse_mentions(content: str) -> ParsedMentions:
    """The mentions in a message's text: `<@id>`, `<@!id>`, `<@&id>`, `@everyone` and `@here`."""
    if "@" not in content:
        return NO_MENTIONS
    user_ids: dict[int, None] = {}
    role_ids: dict[int, None] = {}
    named: set[str] = set()
    for token in _TOKENS.finditer(content):
        kind = token.lastgroup
        if kind == "user":
            _note(user_ids, token["user"], MENTIONED_USERS)
        elif kind == "role":
            _note(role_ids, token["role"], MENTIONED_ROLES)
        elif kind == "all":
            named.add(token["all"])
    return ParsedMentions(tuple(user_ids), tuple(role_ids), "everyone" in named, "here" in named)


def _note(ids: dict[int, None], digits: str, limit: int) -> None:
    snowflake = int(digits)
    if len(ids) < limit and snowflake <= MAXIMUM:
        ids[snowflake] = None
