"""What is asked of a full-text index, as expressions that cannot go wrong.

Expressions are put together from terms of `chat.store.messages.search_terms`, which hold neither quotes nor spaces;
each is quoted. So nothing that anybody writes is ever read as the index's own query language.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from chat.store.messages.search_terms import chunks, terms

PREFIX_LENGTH: Final = 3
"""Characters from which the last word may be the beginning of a longer one; fewer begin too many."""

CHUNKS_MAXIMUM: Final = 32
"""Different words of a text that are looked for; further ones are left out, so that one request asks only so much."""


def phrase(sequence: Sequence[str], *, begins: bool = False) -> str:
    """These terms one after the other; with `begins` the last one may go on."""
    return f'"{" ".join(sequence)}"{" *" if begins else ""}'


def every(expressions: Iterable[str]) -> str:
    """What all of these find; at least one."""
    return f"({' AND '.join(expressions)})"


def some(expressions: Iterable[str]) -> str:
    """What one of these finds; at least one."""
    return f"({' OR '.join(expressions)})"


def without(expression: str, excluded: Iterable[str]) -> str:
    """What the expression finds and none of the others does."""
    others = list(excluded)
    return f"({expression} NOT {some(others)})" if others else expression


def containing(text: str) -> str | None:
    """What has every word of the text, in any order; the last may be the beginning of a word. None when the text has no
    word, which nothing contains."""
    found = chunks(text)
    if not found:
        return None
    *others, last = found
    distinct = list({tuple(chunk): None for chunk in others})[: CHUNKS_MAXIMUM - 1]
    return every([*(phrase(chunk) for chunk in distinct), phrase(last, begins=may_go_on(last))])


def may_go_on(chunk: Sequence[str]) -> bool:
    """Whether a text that ends with this chunk may end in the middle of a word."""
    return len(chunk[-1]) >= PREFIX_LENGTH


def containing_phrase(text: str) -> str | None:
    """What has the words of the text one after the other; None when it has none."""
    sequence = terms(text)
    return phrase(sequence) if sequence else None
