"""The links in a message's text that are to be shown: not those in code, in spoilers, or in <angle brackets>.

The text is looked through once; a mark that opens something which nothing closes stands for itself, and is not looked
for again.
"""

from __future__ import annotations

import re
from typing import Final

from chat.media.outside_addresses import as_asked_for

LINKS_MAXIMUM: Final = 5
"""Links of one message that are shown."""

_MARK: Final = re.compile(r"```|``|`|\|\||<?https?://", re.IGNORECASE)
_LINK: Final = re.compile(r"https?://[^\s<>\"`|\\]{1,2048}", re.IGNORECASE)
_BRACKETED: Final = re.compile(r"<https?://[^\s<>]{1,2048}>", re.IGNORECASE)

_TRAILING: Final = frozenset(".,:;!?'*_~")
_BRACKETS: Final = {")": "(", "]": "[", "}": "{"}


def links_in(text: str) -> list[str]:
    """The links to be shown, in order, each once, as they are asked for: in ASCII."""
    found: dict[str, None] = {}
    never_closed: set[str] = set()
    position = 0
    while len(found) < LINKS_MAXIMUM and (match := _MARK.search(text, position)) is not None:
        mark, position = match[0], match.end()
        if mark[0] in "`|":
            end = -1 if mark in never_closed else text.find(mark, position)
            if end < 0:
                never_closed.add(mark)
            else:
                position = end + len(mark)
            continue
        start = match.start()
        if mark[0] == "<":
            bracketed = _BRACKETED.match(text, start)
            if bracketed is not None:
                position = bracketed.end()
                continue
            start += 1
        link = _LINK.match(text, start)
        if link is not None:
            position = link.end()
            address = as_asked_for(_without_punctuation(link[0]))
            if address is not None:
                found[address] = None
    return list(found)


def _without_punctuation(link: str) -> str:
    """The link without what ends the sentence around it; brackets that it opens itself stay."""
    opened = {bracket: link.count(bracket) for bracket in "([{)]}"}
    end = len(link)
    while end:
        last = link[end - 1]
        if last in _BRACKETS and opened[last] > opened[_BRACKETS[last]]:
            opened[last] -= 1
        elif last not in _TRAILING:
            break
        end -= 1
    return link[:end]
