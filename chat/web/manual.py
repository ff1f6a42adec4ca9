"""The manual's pages around what `chat.manual` makes: `/docs`, `/docs/<page>` and the index that their script searches.

What stands in a page is the program's own and the same for everybody; the words around it are in the reader's language.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

import attrs
from jinja2 import Environment
from markupsafe import Markup

from chat.classes import frozen
from chat.web.assets import TAG_LENGTH, Asset, AssetStore

FRONT: Final = "index"
"""The page at `/docs` itself."""

ROOT: Final = "/docs"

INDEX: Final = f"{ROOT}/index.json"
ASYNCAPI: Final = f"{ROOT}/asyncapi.json"
"""The gateway as an AsyncAPI 3 document."""

KEPT: Final = 64
"""Pages that are kept as they are sent; some 30 KB each."""


@frozen
class Heading:
    """A heading below the page's title, and its anchor."""

    level: int
    anchor: str
    title: str


@frozen
class ManualPage:
    """One page; `html` is made of our own Markdown."""

    name: str
    title: str
    html: str = attrs.field(repr=False)
    headings: tuple[Heading, ...] = attrs.field(repr=False)

    @property
    def address(self) -> str:
        """Where it is on every instance."""
        return address_of(self.name)


@frozen
class PageEntry:
    """A page as the table of contents names it."""

    name: str
    title: str

    @property
    def address(self) -> str:
        """Where the page is."""
        return address_of(self.name)


@frozen
class PageGroup:
    """A part of the table of contents."""

    title: str
    entries: tuple[PageEntry, ...]


class Manual(Protocol):
    """What `chat.manual` has."""

    @property
    def groups(self) -> Sequence[PageGroup]: ...

    @property
    def index(self) -> bytes: ...

    @property
    def asyncapi(self) -> bytes: ...

    @property
    def is_development(self) -> bool: ...

    def page(self, name: str) -> ManualPage | None: ...

    def beside(self, name: str) -> tuple[PageEntry | None, PageEntry | None]: ...


def address_of(name: str) -> str:
    """The address of the page of that name."""
    return ROOT if name == FRONT else f"{ROOT}/{name}"


class ManualPages:
    """The pages as they are sent. `open_manual` is called when the first is asked for."""

    def __init__(self, open_manual: Callable[[], Manual], store: AssetStore) -> None:
        self._open: Final = open_manual
        self._store: Final = store
        self._manual: Manual | None = None
        self._index: Asset | None = None
        self._kept: Final[dict[tuple[str, str], Asset]] = {}

    async def page(self, name: str, environment: Environment, facts: Mapping[str, object]) -> Asset | None:
        """The page of that name in the language of the environment; None where there is none."""
        key = name, str(environment.globals["language"])
        if key not in self._kept:
            made = await self._store.aside(lambda: self._made(name, environment, facts))
            if made is None:
                return None
            if len(self._kept) >= KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = made
        return self._kept[key]

    async def index(self) -> Asset:
        """What is searched."""
        if self._index is None:
            content = await self._store.aside(lambda: self._opened().index)
            self._index = _asset(content, "application/json")
        return self._index

    async def asyncapi(self) -> Asset:
        """The gateway as an AsyncAPI document."""
        return _asset(await self._store.aside(lambda: self._opened().asyncapi), "application/json")

    def forget(self) -> None:
        """The words around the pages changed."""
        self._kept.clear()

    def _opened(self) -> Manual:
        if self._manual is None:
            self._manual = self._open()
        return self._manual

    def _made(self, name: str, environment: Environment, facts: Mapping[str, object]) -> Asset | None:
        manual = self._opened()
        page = manual.page(name)
        if page is None:
            return None
        before, after = manual.beside(name)
        content = environment.get_template("manual.html").render(
            page="manual",
            manual_page=page,
            content=Markup(page.html),  # noqa: S704 - made by chat.manual, which lets no HTML through
            groups=manual.groups,
            before=before,
            after=after,
            manual_index=INDEX,
            is_development=manual.is_development,
            **facts,
        )
        return _asset(content.encode("utf-8"), "text/html; charset=utf-8")


def _asset(content: bytes, content_type: str) -> Asset:
    return Asset(content, content_type, hashlib.sha256(content).hexdigest()[:TAG_LENGTH])
