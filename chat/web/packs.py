"""Joins the web client's modules into packs, one for each area, so that a page is not a hundred requests.

A pack is a module itself. In it each module is a function that is called once and gives its exports; its imports read
those of modules before it. The pack of an area takes what the core pack has from there, so each module exists once. A
dynamic import of an area's module becomes one of its pack.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Mapping
from typing import Final

import attrs

from chat.classes import frozen
from chat.web.modules import Import, Module, ModuleError, read_module, with_dynamic

CORE: Final = "main"
ENTRY: Final = "client/main.js"
"""The module that the client's page starts with; the core pack is all that it leads to."""

AREAS: Final = "client/areas/"


def joined(sources: Mapping[str, str]) -> dict[str, str]:
    """The packs by name, out of all modules by path; what two areas need lies in the core.

    :raises ModuleError: for the first thing that cannot be joined.
    """
    if ENTRY not in sources:
        return {}
    library = Library(sources)
    areas, places = _areas(library, library.closure([ENTRY]))
    shared = {path for area, paths in areas.items() for path in paths if _is_elsewhere(path, area, areas)}
    core = library.closure([ENTRY, *sorted(shared)])
    places = {path: area for path, area in places.items() if path not in core}
    packs = {CORE: library.pack(core, (), places)}
    for area, paths in areas.items():
        packs[area] = library.pack([path for path in paths if path not in core], core, places)
    return packs


@frozen
class Library:
    """All modules, read when they are needed."""

    sources: Mapping[str, str]
    _read: dict[str, Module] = attrs.field(factory=dict, init=False)

    def module(self, path: str) -> Module:
        """One of them."""
        if path not in self._read:
            if path not in self.sources:
                raise ModuleError(f"there is no module {path}")
            self._read[path] = read_module(path, self.sources[path])
        return self._read[path]

    def closure(self, entries: Iterable[str]) -> list[str]:
        """These modules and all that they import, each after those that it imports."""
        order: dict[str, None] = {}
        under_way: list[str] = []

        def visit(path: str) -> None:
            if path in order:
                return
            if path in under_way:
                raise ModuleError(f"a cycle: {' > '.join([*under_way[under_way.index(path) :], path])}")
            under_way.append(path)
            for one in self.module(path).imports:
                visit(one.path)
            under_way.pop()
            order[path] = None

        for entry in entries:
            visit(entry)
        return [*order]

    def pack(self, members: Collection[str], core: Collection[str], areas: Mapping[str, str]) -> str:
        """A pack of these modules, in this order. `core` is what it takes from the core pack; `areas` says in which
        pack a module lies that is imported dynamically."""
        names = {path: f"$m{number}" for number, path in enumerate(sorted({*members, *core}))}
        lines = [f'import {{ modules as $core }} from "./{CORE}.js";'] if core else []
        needed = {path for member in members for path in self._targets(member) if path not in areas} - {*members}
        lines += [f'const {names[path]} = $core["{path}"];' for path in sorted(needed)]
        lines += [self._function(path, names, areas) for path in members]
        shown = ",\n".join(f'"{path}": {names[path]}' for path in members)
        return "\n".join([*lines, f"export const modules = {{\n{shown}\n}};\n"])

    def _targets(self, path: str) -> set[str]:
        module = self.module(path)
        return {one.path for one in module.imports} | {module.resolved(address) for address in module.dynamic}

    def _function(self, path: str, names: Mapping[str, str], areas: Mapping[str, str]) -> str:
        module = self.module(path)
        replacements = {}
        for address in module.dynamic:
            target = module.resolved(address)
            replacements[address] = (
                f'import("./{areas[target]}.js").then(($pack) => $pack.modules["{target}"])'
                if target in areas
                else f"Promise.resolve({names[target]})"
            )
        taken = "".join(self._binding(module, one, names) for one in module.imports)
        code = with_dynamic(module, replacements)
        return f"const {names[path]} = (() => {{\n{taken}{code}\nreturn {{ {', '.join(module.exports)} }};\n}})();"

    def _binding(self, module: Module, one: Import, names: Mapping[str, str]) -> str:
        exports = self.module(one.path).exports
        missing = [name for name, _ in one.names if name not in exports]
        if missing:
            raise ModuleError(f"{module.path}: {one.path} exports no {', '.join(missing)}")
        if one.all_as is not None:
            return f"const {one.all_as} = {names[one.path]};\n"
        if not one.names:
            return ""
        parts = ", ".join(there if there == here else f"{there}: {here}" for there, here in one.names)
        return f"const {{ {parts} }} = {names[one.path]};\n"


def _is_elsewhere(path: str, area: str, areas: Mapping[str, Collection[str]]) -> bool:
    return any(path in paths for other, paths in areas.items() if other != area)


def _areas(library: Library, core: Collection[str]) -> tuple[dict[str, dict[str, None]], dict[str, str]]:
    """The modules of each area besides those of the core, and the area of each that is imported dynamically."""
    areas: dict[str, dict[str, None]] = {}
    places: dict[str, str] = {}
    waiting = [*core]
    while waiting:
        module = library.module(waiting.pop())
        for address in sorted(module.dynamic):
            target = module.resolved(address)
            if target in places or target in core:
                continue
            area = places[target] = _area_of(target)
            closure = [path for path in library.closure([target]) if path not in core]
            areas.setdefault(area, {}).update(dict.fromkeys(closure))
            waiting += closure
    return areas, places


def _area_of(path: str) -> str:
    """The name of the pack that a module of an area lies in."""
    if not path.startswith(AREAS):
        raise ModuleError(f"{path}: only an area is imported dynamically")
    return posixpath.splitext(path.removeprefix(AREAS).partition("/")[0])[0]
