"""All pages of the manual: read and rendered when they are first asked for, and the index that is searched."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

import attrs
import orjson

from chat.classes import frozen
from chat.manual.contents import PARTS, ManualPart
from chat.manual.rendering import Rendered, rendered
from chat.web.manual import FRONT, ManualPage, PageEntry, PageGroup

FOLDER: Final = Path(__file__).parent


@frozen
class PageSource:
    """Where a page comes from: its title, and what makes its Markdown."""

    entry: PageEntry
    markdown: Callable[[], str] = attrs.field(repr=False, eq=False)


class Library:
    """The manual's pages: those that `contents` names, and behind them further parts by their titles.

    A page is one of `made`, or else the file of its name. On an instance for development (`is_development`) the
    accounts of its world can be chosen for requests.

    To render a page takes some milliseconds, the index up to a second, the AsyncAPI document (`asyncapi`) a third of
    one. That is for a thread, where the loop must not stand still; what two threads make at once is made twice and kept
    once.
    """

    def __init__(
        self,
        made: Iterable[PageSource] = (),
        further: Mapping[str, Sequence[PageSource]] = MappingProxyType({}),
        parts: tuple[ManualPart, ...] = PARTS,
        *,
        asyncapi: Callable[[], bytes],
        is_development: bool = False,
    ) -> None:
        self.is_development: Final = is_development
        self._made: Final = {source.entry.name: source for source in made}
        self._further: Final = further
        self._parts: Final = parts
        self._make_asyncapi: Final = asyncapi
        self._rendered: Final[dict[str, Rendered]] = {}

    @functools.cached_property
    def groups(self) -> tuple[PageGroup, ...]:
        """The table of contents."""
        return tuple(
            PageGroup(title, tuple(source.entry for source in sources))
            for title, sources in self._sources_by_part.items()
        )

    @functools.cached_property
    def sources(self) -> Mapping[str, PageSource]:
        """Every page by its name, in the order in which they are read."""
        ordered = (_file(FRONT), *(one for sources in self._sources_by_part.values() for one in sources))
        return {source.entry.name: source for source in ordered}

    @functools.cached_property
    def index(self) -> bytes:
        """What is searched, in JSON: of every section its page's title, its own, its address and its text."""
        rows = []
        for source in self.sources.values():
            for section in self._render(source).sections:
                anchor = f"#{section.anchor}" if section.anchor else ""
                rows.append([source.entry.title, section.title, source.entry.address + anchor, section.text])
        return orjson.dumps(rows)

    @functools.cached_property
    def asyncapi(self) -> bytes:
        """The gateway as an AsyncAPI 3 document."""
        return self._make_asyncapi()

    def page(self, name: str) -> ManualPage | None:
        """The page of that name; None where there is none."""
        source = self.sources.get(name)
        return None if source is None else self._render(source).page

    def beside(self, name: str) -> tuple[PageEntry | None, PageEntry | None]:
        """The pages before and behind this one."""
        order = [source.entry for source in self.sources.values()]
        place = next(number for number, entry in enumerate(order) if entry.name == name)
        before = order[place - 1] if place > 0 else None
        return before, order[place + 1] if place + 1 < len(order) else None

    @functools.cached_property
    def _sources_by_part(self) -> Mapping[str, Sequence[PageSource]]:
        listed = {part.title: tuple(self._made.get(name) or _file(name) for name in part.pages) for part in self._parts}
        return {**listed, **self._further}

    def _render(self, source: PageSource) -> Rendered:
        name = source.entry.name
        if name not in self._rendered:
            self._rendered[name] = rendered(name, source.markdown())
        return self._rendered[name]


def written(name: str) -> str:
    """What people wrote of a page: the file of its name."""
    return (FOLDER / f"{name}.md").read_text(encoding="utf-8")


def _file(name: str) -> PageSource:
    with (FOLDER / f"{name}.md").open(encoding="utf-8") as lines:
        title = lines.readline().removeprefix("# ").strip()
    return PageSource(PageEntry(name, title), functools.partial(written, name))
