"""Reads every public attribute of a library's objects, however deep they lie: what a library takes from an object only
when somebody asks for it fails here, and not in a bot."""

from __future__ import annotations

import inspect
import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

DEPTH = 6
"""Objects within objects; properties may make new ones without end."""


class Reading:
    """Reads objects whose classes are defined in the package `library`. `excused` are attributes, as `Class.name` or,
    of every class, `name`, that are not about what the server has said. `faults` are what could not be read, once for
    each attribute."""

    def __init__(self, library: str, excused: Collection[str] = ()) -> None:
        self._library = library
        self._excused = excused
        self.faults: dict[str, str] = {}
        self.kinds: set[str] = set()

    def read(self, where: str, value: Any) -> None:
        """Read a value, and what it is made of, each object once."""
        self._read(where, value, {}, DEPTH)

    def _read(self, where: str, value: Any, seen: dict[int, Any], depth: int) -> None:
        if isinstance(value, Mapping):
            value = list(value.values())
        if isinstance(value, list | tuple | set | frozenset):
            for each in value:
                self._read(where, each, seen, depth)
            return
        kind = type(value)
        if not kind.__module__.startswith(self._library) or depth == 0 or id(value) in seen:
            return
        seen[id(value)] = value
        self.kinds.add(kind.__name__)
        for name in dir(kind):
            if name.startswith("_") or self._is_excused(kind, name):
                continue
            declared = inspect.getattr_static(kind, name)
            if not isinstance(declared, property) and not inspect.isdatadescriptor(declared):
                continue
            with self.noting(f"{kind.__name__}.{name}", f"{where}: "):
                self._read(where, getattr(value, name), seen, depth - 1)

    def _is_excused(self, kind: type[Any], name: str) -> bool:
        return name in self._excused or any(f"{each.__name__}.{name}" in self._excused for each in kind.__mro__)

    @contextmanager
    def noting(self, what: str, where: str = "") -> Iterator[None]:
        """Whatever is raised in the block is a fault of what the server has said."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - of any kind
            self.fault(what, f"{where}{error!r}")

    def fault(self, what: str, said: str) -> None:
        """Something that a library could not do with what the server has said."""
        self.faults.setdefault(what, said[:500])

    def report(self) -> None:
        """One line of JSON for the test."""
        print(json.dumps({"faults": self.faults, "kinds": sorted(self.kinds)}), flush=True)
