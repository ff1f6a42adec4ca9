"""Addresses beside the documented ones: what each leads to, and how programs are spoken to there.

A mount leads from a prefix to the documented addresses, before the operation is looked up (compat.md,
Addresses of this family). A dialect is what is said
differently there. Second names are headers that programs of this family know by another name than ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, Protocol

import attrs

from chat.api.answers import EXPOSE_HEADERS, EXPOSED, PREFLIGHT_HEADERS, Answer
from chat.classes import frozen

if TYPE_CHECKING:
    from chat.api.request import Request

DOCUMENTED: Final = "/v1/"
_NO_NAMES: Final[Mapping[str, str]] = {}


class Dialect(Protocol):
    """How a mount differs from the documented API. It changes the request on its way in and the answer on its way
    out."""

    def address(self, method: str, path: str) -> tuple[str, str]:
        """The documented method and path for those that were asked, the mount's prefix replaced."""
        ...

    def hear(self, request: Request) -> None:
        """Change the request so that it says the same in documented words. Its path is still the one of the mount."""
        ...

    def read(self, body: object) -> object:
        """The values of a body, in documented words."""
        ...

    def say(self, answer: Answer, request: Request) -> Answer:
        """The answer, of success or of refusal, in the words of the mount."""
        ...


@frozen
class Mount:
    """A prefix of paths, and the documented prefix that takes its place."""

    prefix: str
    leads_to: str
    dialect: Dialect | None = None


class Mounts:
    """The mounts of a server, of which the first whose prefix fits counts; and our names of headers by second names."""

    def __init__(self, mounts: Sequence[Mount] = (), second_names: Mapping[str, str] = _NO_NAMES) -> None:
        self._mounts: Final = tuple(mounts)
        self._second_names: Final = second_names
        self._read: Final = tuple((theirs.lower(), ours.lower()) for theirs, ours in second_names.items())
        allowed = (PREFLIGHT_HEADERS["Access-Control-Allow-Headers"], *second_names)
        self.preflight_headers: Final = {**PREFLIGHT_HEADERS, "Access-Control-Allow-Headers": ", ".join(allowed)}

    def lead(self, path: str) -> tuple[str, Dialect | None]:
        """The documented path for one that was asked, and the dialect that is spoken there."""
        if not path.startswith(DOCUMENTED):
            for mount in self._mounts:
                if path.startswith(mount.prefix):
                    return mount.leads_to + path[len(mount.prefix) :], mount.dialect
        return path, None

    def rename(self, headers: dict[str, str]) -> None:
        """Replace the second name of a header by our name, unless the request has that one too; names are in lower
        case."""
        for theirs, ours in self._read:
            if theirs in headers:
                headers.setdefault(ours, headers[theirs])

    def also_named(self, answer: Answer) -> Answer:
        """The answer; a header of it that has a second name is there by both, for pages of other origins too."""
        if not answer.headers:
            return answer
        named = {theirs: answer.headers[ours] for theirs, ours in self._second_names.items() if ours in answer.headers}
        if not named:
            return answer
        exposed = {EXPOSE_HEADERS: ", ".join((EXPOSED, *named))}
        return attrs.evolve(answer, headers={**answer.headers, **named, **exposed})


NO_MOUNTS: Final = Mounts()
