"""Markdown of another service, read token by token: code and addresses stay as they are, and what the service has of
its own is written anew.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from chat.imports.marks import fenced

DEPTH: Final = 8
"""How deep blocks lie in each other."""

# No possessive quantifier: before Python 3.11.5 one in a group takes back what it holds.
_EVERYWHERE: Final = r"""
    ^[ ]{0,3}(?P<fence>`{3,}|~{3,})(?P<info>[^\n`]*)(?:\n|\Z)(?P<body>.*?)(?:^[ ]{0,3}(?P=fence)[`~]*[ \t]*$|\Z)
    |(?P<kept>
        (?<!`)(?P<ticks>`+)(?!`)(?:(?!(?P=ticks)).)+(?P=ticks)(?!`)
        |\\[!-/:-@\[-`{-~]
        |https?://[^\s<>()]+
        |\]\((?:https?|mailto):[^\s()]+\)
    )
    |(?P<bars>\|{2,})
    |(?P<pointed><(?=[@#:a]))
    |(?<!\w)@(?P<all>everyone)(?!\w)
"""

Write = Callable[[re.Match[str]], str]
Block = Callable[[str, str, int], str]


def dialect(tokens: str) -> re.Pattern[str]:
    """The expression that finds the tokens of a service: `tokens` are its own, as alternatives in verbose form."""
    return re.compile(rf"{_EVERYWHERE}|{tokens}", re.VERBOSE | re.MULTILINE | re.DOTALL)


def rewritten(text: str, of: re.Pattern[str], write: Write, block: Block | None = None, depth: int = 0) -> str:
    """The text as messages here have it. `write` is given each token of the service; `block` what stands between fences
    with the word behind the first one, and how deep."""

    def said(found: re.Match[str]) -> str:
        if found["fence"]:
            info, body = found["info"].strip(), found["body"]
            return block(info, body, depth) if block is not None and depth < DEPTH else code_block(info, body)
        if found["kept"]:
            return found["kept"]
        if found["bars"]:
            return "\\|" * len(found["bars"])
        if found["pointed"] or found["all"]:
            return f"\\{found[0]}"
        return write(found)

    return of.sub(said, text)


def code_block(info: str, body: str) -> str:
    """Code with the name of its language."""
    return fenced(body, info if info.isalnum() else "")
