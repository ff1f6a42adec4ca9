"""Finds the operation that a request names, on the path as it was sent.

Segments are compared one by one and decoded only afterwards, so an escaped slash stays inside its segment; a trailing
slash is a segment of its own, so it is significant (http.md, Addresses). Where a segment matches literally and as a
member of the path, the literal goes first. What needed no escape means the same with one: `%40me` is `@me`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Generic, TypeVar
from urllib.parse import quote, unquote

UNESCAPED: Final = "!$&'()*+,;=:@~"
"""What stands for itself in a segment, beside letters, digits, `-`, `.` and `_` (RFC 3986, 3.3)."""

T = TypeVar("T")


def canonical(path: str) -> str:
    """The path with escapes only where they are needed. Libraries differ in what they escape: one sends
    `%40original`. A segment that is not UTF-8 stays as it is."""
    return "/".join(map(_canonical_segment, path.split("/"))) if "%" in path else path


def _canonical_segment(segment: str) -> str:
    if "%" not in segment:
        return segment
    try:
        return quote(unquote(segment, errors="strict"), safe=UNESCAPED)
    except UnicodeDecodeError:
        return segment


class _Node(Generic[T]):
    """The paths that share a beginning."""

    __slots__ = ("any", "literals", "targets")

    def __init__(self) -> None:
        self.literals: dict[str, _Node[T]] = {}
        self.any: _Node[T] | None = None
        self.targets: dict[str, T] = {}
        """The targets of a path that ends here, by method."""


class RouteTable(Generic[T]):
    """Paths like `/v1/guilds/{guild_id}` and what each method leads to there."""

    def __init__(self) -> None:
        self._root: _Node[T] = _Node()

    def add(self, method: str, path: str, target: T) -> None:
        """Add a target for a method on this path.

        :raises ValueError: when it leads somewhere already.
        """
        node = self._root
        for segment in path.split("/")[1:]:
            if segment.startswith("{"):
                node.any = node.any or _Node()
                node = node.any
            else:
                node = node.literals.setdefault(segment, _Node())
        if method in node.targets:
            raise ValueError(f"{method} {path} is declared twice")
        node.targets[method] = target

    def find(self, path: str) -> tuple[Mapping[str, T], list[str]] | None:
        """The targets of a path (still percent-encoded, `canonical`) by method, and the values in the path in order.

        None for a path that leads nowhere, and for a member that is empty or not UTF-8.
        """
        members: list[str] = []
        node = _descend(self._root, path.split("/")[1:], 0, members)
        if node is None:
            return None
        try:
            return node.targets, [unquote(member, errors="strict") if "%" in member else member for member in members]
        except UnicodeDecodeError:
            return None


def _descend(node: _Node[T], segments: list[str], depth: int, members: list[str]) -> _Node[T] | None:
    if depth == len(segments):
        return node if node.targets else None
    segment = segments[depth]
    literal = node.literals.get(segment)
    if literal is not None:
        found = _descend(literal, segments, depth + 1, members)
        if found is not None:
            return found
    if node.any is None or not segment:
        return None
    members.append(segment)
    found = _descend(node.any, segments, depth + 1, members)
    if found is None:
        members.pop()
    return found
