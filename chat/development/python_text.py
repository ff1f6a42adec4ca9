"""Values as Python source, where known values are said by the expressions that stand for them: an id that a test gets
from an answer, a token of the seeded world."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

LINE: Final = 112
"""Characters of a line."""

NAMEABLE: Final = re.compile(r"[0-9]{15,20}|[A-Za-z0-9_.:+-]{20,}")
"""Values that are told apart wherever they occur: ids, tokens, moments."""

CODES: Final = frozenset({"code", "token", "ticket"})
"""Members whose values are made by the server, however short they are."""

CODE_LENGTH: Final = 6
_WORDS: Final = re.compile(rf"({NAMEABLE.pattern}|[^/?&= <>@#:!,]+)")


class Names:
    """Expressions for values, by the text of the value. `used` are the variables that expressions begin with which were
    said."""

    def __init__(self) -> None:
        self._expressions: dict[str, str] = {}
        self.used: set[str] = set()

    def give(self, value: str | None, expression: str) -> None:
        """From now on this value is said so; the first expression stays."""
        if value is not None:
            self._expressions.setdefault(value, expression)

    def harvest(self, value: object, expression: str) -> None:
        """Name every value inside that is worth it."""
        for text, name, path in _leaves(value, expression):
            if NAMEABLE.fullmatch(text) is not None or (name in CODES and len(text) >= CODE_LENGTH):
                self.give(text, path)

    def knows(self, value: object) -> bool:
        return isinstance(value, str) and value in self._expressions

    def said(self, value: str) -> str:
        """The expression of a known value."""
        expression = self._expressions[value]
        self.used.add(re.split(r"[.\[]", expression, maxsplit=1)[0])
        return expression

    def text(self, value: str) -> str:
        """A string, with known ids inside it said by their expressions."""
        if value in self._expressions:
            return self.said(value)
        parts, is_plain = [], True
        for part in _WORDS.split(value):
            if part in self._expressions:
                is_plain = False
                parts.append("{" + self.said(part).replace('"', "'") + "}")
            else:
                parts.append(part.replace("{", "{{").replace("}", "}}"))
        if is_plain:
            return _quoted(value)
        return "f" + _quoted("".join(parts))

    def value(self, value: Any, indent: int = 0) -> str:
        """Any JSON value as Python text; a value that does not fit into a line is spread over several, indented by
        `indent`."""
        if isinstance(value, str):
            return self.text(value)
        if not isinstance(value, (dict, list)) or not value:
            return repr(value)
        deeper = indent + 4
        if isinstance(value, dict):
            opening, closing = "{", "}"
            items = [f"{self.text(name)}: {self.value(each, deeper)}" for name, each in value.items()]
        else:
            opening, closing = "[", "]"
            items = [self.value(each, deeper) for each in value]
        line = f"{opening}{', '.join(items)}{closing}"
        if len(line) + indent <= LINE and "\n" not in line:
            return line
        lines = "".join(f"{' ' * deeper}{item},\n" for item in items)
        return f"{opening}\n{lines}{' ' * indent}{closing}"


def _quoted(text: str) -> str:
    """A string literal in double quotes, where that needs no escapes."""
    plain = repr(text)
    return f'"{plain[1:-1]}"' if plain.startswith("'") and '"' not in text else plain


def _leaves(value: object, path: str, name: str = "") -> Iterator[tuple[str, str, str]]:
    """Each text inside, with the name of its member and the way to it."""
    if isinstance(value, str):
        yield value, name, path
    elif isinstance(value, dict):
        for member, each in value.items():
            yield from _leaves(each, f'{path}["{member}"]', member)
    elif isinstance(value, list):
        for place, each in enumerate(value):
            yield from _leaves(each, f"{path}[{place}]")
