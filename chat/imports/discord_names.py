"""Gives back what an export lost that was made with Markdown on: there a mention is only `@name`, a channel `#name` and
an emoji `:name:`. The lists beside a message tell whom and what it meant; what they do not tell stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_CODE: Final = r"(?P<code>(?P<ticks>`+)(?:.|\n)*?(?P=ticks))"
_WRITTEN: Final = r"(?P<written><(?:a?:\w+:|[@#&!]{1,3})\d+>)"


def with_ids(content: str, people: Mapping[str, int], channels: Mapping[str, int], emojis: Mapping[str, str]) -> str:
    """The text with mentions of these people and channels by their names, and emojis by the text that they had, as they
    were written. Nothing changes in code."""
    names = {f"@{name}": f"<@{user_id}>" for name, user_id in people.items() if name}
    if "#" in content:
        named = ((f"#{name}", channel_id) for name, channel_id in channels.items() if name)
        names |= {written: f"<#{channel_id}>" for written, channel_id in named if written in content}
    names |= {f":{name}:": written for name, written in emojis.items() if name}
    found = [name for name in names if name in content]
    if not found:
        return content
    found.sort(key=len, reverse=True)
    pattern = re.compile(rf"{_CODE}|{_WRITTEN}|(?P<name>{'|'.join(map(re.escape, found))})")
    return pattern.sub(lambda match: names[match[0]] if match["name"] else match[0], content)
