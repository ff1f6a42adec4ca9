"""Members of a request's body that no operation reads: they are named in a header of the answer and once in the log, or
refused (compat.md, Nothing in silence).

A body is read by the classes that operations declare, so what they do not declare is what they do not read. A member
that says nothing (null, false, zero, empty) loses nothing, and is passed over.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any, Final, get_args, get_origin

import attrs
import structlog

from chat.api.fields import Form
from chat.classes import define
from chat.config.programs import CompatSettings
from chat.errors import FieldError, InvalidFormBody
from chat.registries.error_codes import FieldCode

HEADER: Final = "X-Not-Supported"

NAMES_TOLD: Final = 20
"""Names that one answer tells; those beyond are not looked for."""

NAME_CHARACTERS: Final = 100
"""A longer name is told by its beginning."""

KINDS_LOGGED: Final = 1_000
"""Kinds that the log names, each once; those beyond are in the header alone."""

WITHOUT_LOSS: Final = re.compile(
    r"enforce_nonce"
    r"|(.+\.)?attachments\.[a-z_]+"
    r"|(.+\.)?embeds\.(type|id|provider|video|nsfw|children)"
    r"|(.+\.)?options\.(contexts|integration_types)"  # those of the whole command, with each one below it
    r"|.*[A-Z].*|(.+\.)?pass_self_into_delete"  # no name of that service: what a library calls it, besides
    r"|(.+\.)?embeds\.(image|thumbnail|author|footer)\.[a-z_]+"
)
"""Members that ask for what happens here in any case, and those that the server itself has told and that libraries send
back with what they change."""

log: Final = structlog.get_logger("chat.api")


class ForeignDelivery:
    """A body in the words of another program, which tells what it tells: what nothing here shows is no loss."""

    __slots__ = ()


@define(eq=False)
class UnreadMembers:
    """What one request says that nothing reads. `refuses`: it is refused."""

    refuses: bool = False
    names: dict[str, None] = attrs.field(factory=dict, init=False)
    """In order, without the positions in lists."""

    def judge(self, declared: type[Any], value: object) -> None:
        """Note what a body has that its class does not read.

        :raises InvalidFormBody: NOT_SUPPORTED_HERE at each, where they are refused.
        """
        if isinstance(declared, type) and issubclass(declared, ForeignDelivery):
            return
        named = ((_cut(path), _cut(part for part in path if not part.isdecimal())) for path in _unread(declared, value))
        lost = ((path, name) for path, name in named if not WITHOUT_LOSS.fullmatch(name))
        found = dict(itertools.islice(lost, NAMES_TOLD))
        self.names |= dict.fromkeys(found.values())
        if found and self.refuses:
            raise InvalidFormBody([FieldError(path, FieldCode.NOT_SUPPORTED_HERE) for path in found])

    @property
    def header(self) -> Mapping[str, str]:
        """The header that names them; none where there are none."""
        names = [name for name in self.names if name.isascii() and name.isprintable()]
        return {HEADER: ", ".join(names)} if names else {}


CURRENT: Final[ContextVar[UnreadMembers | None]] = ContextVar("chat.unread_members", default=None)
"""Those of the request that is under way; None where nobody asks for them."""


@define(eq=False)
class UnreadNoting:
    """Whose requests are looked at: those at the second mount, and under `chat dev` all of them. `refuses` is about the
    second mount alone: the documented addresses ignore what they do not know (http.md, Validation)."""

    refuses: bool
    everywhere: bool
    _logged: set[tuple[str, str]] = attrs.field(factory=set, init=False)

    def begin(self, *, mounted: bool) -> UnreadMembers | None:
        """What notes the members of a request that begins."""
        unread = UnreadMembers(self.refuses and mounted) if mounted or self.everywhere else None
        CURRENT.set(unread)
        return unread

    def tell(self, unread: UnreadMembers, route: str) -> None:
        """Write each kind into the log once."""
        for name in unread.names:
            if (route, name) not in self._logged and len(self._logged) < KINDS_LOGGED:
                self._logged.add((route, name))
                log.warning("not supported", member=name, route=route, refused=unread.refuses)


def noting_of(settings: CompatSettings, *, everywhere: bool) -> UnreadNoting | None:
    """What notes the requests of a server; None where it has neither the second mount nor asks for all."""
    return UnreadNoting(settings.strict == "on", everywhere) if everywhere or settings.discord == "on" else None


def _cut(parts: Iterable[str]) -> str:
    return ".".join(parts)[:NAME_CHARACTERS]


def _unread(declared: Any, value: object) -> Iterator[tuple[str, ...]]:
    """The paths of members that say something, and that the class does not declare; a body may be a list of them."""
    inner: Any = _class_in(declared)
    if inner is None:
        return
    if type(value) is list:
        for position, item in enumerate(value):
            for path in _unread(inner, item):
                yield (str(position), *path)
    if type(value) is not dict:
        return
    if _is_keyed(declared):
        for key, item in value.items():
            for path in _unread(inner, item):
                yield (key, *path)
        return
    readers = _readers(inner)
    for name, member in value.items():
        if name not in readers:
            if member:
                yield (name,)
            continue
        for path in _unread(readers[name], member):
            yield (name, *path)


@functools.cache
def _readers(declared: type[Any]) -> Mapping[str, Any]:
    """The members that a class reads, each with its type."""
    fields = attrs.fields(attrs.resolve_types(declared, include_extras=True))
    return {field.name: field.type for field in fields}


def _is_keyed(declared: object) -> bool:
    """Whether a type is one of objects whose names are free, such as ids."""
    return get_origin(declared) is dict or any(_is_keyed(each) for each in get_args(declared))


@functools.cache
def _class_in(declared: object) -> type[Any] | None:
    """The one class in a type, of it, of the items of a list, or of an object's values; None where there is none, or
    several."""
    if isinstance(declared, type) and attrs.has(declared):
        return declared
    arguments = get_args(declared)
    if any(isinstance(each, Form) for each in arguments):
        return None
    found = {inner for each in arguments if (inner := _class_in(each)) is not None}
    return found.pop() if len(found) == 1 else None
