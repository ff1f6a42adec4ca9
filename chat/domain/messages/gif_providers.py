"""Services that search for moving pictures: how each is asked, and what its answers say (messages.md, Moving pictures).

KLIPY answers in the form that Tenor had, GIPHY in its own. What they answer is as untrusted as what a client sends: an
entry that makes no sense is passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final
from urllib.parse import urlencode

from chat.classes import frozen
from chat.config.settings import GifSettings
from chat.media.outside_addresses import as_asked_for
from chat.protocol.visible_text import tidy

GIFS_AT_A_TIME: Final = 24
"""Pictures of one page of results."""

TITLE_CHARACTERS: Final = 200
CURSOR_CHARACTERS: Final = 200
SIDE_MAXIMUM: Final = 10_000
"""Pixels; a picture that claims to be larger tells no size."""


@frozen
class GifQuery:
    """What is sought: `words` None for what is popular now; `after` is where the page before ended."""

    words: str | None
    after: str | None = None
    language: str = "en"


@frozen
class FoundGif:
    """A picture at a service: its own address, and that of a small rendition. A size that is not told is 0."""

    id: str
    title: str
    url: str
    preview_url: str
    width: int
    height: int


@frozen
class FoundGifs:
    """A page of results, and where the next begins; None where there is none."""

    gifs: tuple[FoundGif, ...]
    next: str | None


@frozen
class GifProvider:
    """A service. `address_of` makes the address to ask, `found_in` reads the JSON object that it answers."""

    display_name: str
    address_of: Callable[[GifSettings, GifQuery], str]
    found_in: Callable[[Mapping[str, object], GifQuery], FoundGifs]


_KLIPY_FILTERS: Final[Mapping[str, str]] = {"g": "high", "pg": "medium", "pg-13": "low", "r": "off"}
"""The filter of KLIPY that lets through a rating and what is milder."""


def _klipy_address(settings: GifSettings, query: GifQuery) -> str:
    asked = {
        "key": settings.api_key or "",
        "limit": str(GIFS_AT_A_TIME),
        "contentfilter": _KLIPY_FILTERS[settings.rating],
        "media_filter": "gif,tinygif",
        "locale": query.language,
    }
    return _address(settings.api_url or "https://api.klipy.com/v2", query, "featured", asked, "pos")


def _giphy_address(settings: GifSettings, query: GifQuery) -> str:
    asked = {
        "api_key": settings.api_key or "",
        "limit": str(GIFS_AT_A_TIME),
        "rating": settings.rating,
        "lang": query.language,
    }
    return _address(settings.api_url or "https://api.giphy.com/v1/gifs", query, "trending", asked, "offset")


def _address(base: str, query: GifQuery, popular: str, asked: dict[str, str], cursor: str) -> str:
    if query.words is not None:
        asked["q"] = query.words
    if query.after is not None:
        asked[cursor] = query.after
    return f"{base.rstrip('/')}/{popular if query.words is None else 'search'}?{urlencode(asked)}"


def _found_by_klipy(answer: Mapping[str, object], _: GifQuery) -> FoundGifs:
    found = []
    for entry in _objects(answer.get("results")):
        formats = _object(entry.get("media_formats"))
        picture, preview = (_object(formats.get(name)) for name in ("gif", "tinygif"))
        sides = picture.get("dims")
        width, height = sides if isinstance(sides, list) and len(sides) == 2 else (0, 0)
        title = entry.get("content_description") or entry.get("title")
        found.append(_gif(entry.get("id"), title, picture.get("url"), preview.get("url"), width, height))
    cursor = answer.get("next")
    return _page(found, cursor if isinstance(cursor, str) else "")


def _found_by_giphy(answer: Mapping[str, object], query: GifQuery) -> FoundGifs:
    found = []
    for entry in _objects(answer.get("data")):
        images = _object(entry.get("images"))
        picture, preview = (_object(images.get(name)) for name in ("original", "fixed_width"))
        title = entry.get("alt_text") or entry.get("title")
        width, height = (_number(picture.get(name)) for name in ("width", "height"))
        found.append(_gif(entry.get("id"), title, picture.get("url"), preview.get("url"), width, height))
    paging = _object(answer.get("pagination"))
    reached = _number(query.after or "0") + _number(paging.get("count"))
    return _page(found, str(reached) if found and reached < _number(paging.get("total_count")) else "")


def _gif(
    id_: object, title: object, url: object, preview_url: object, width: object, height: object
) -> FoundGif | None:
    address = as_asked_for(url) if isinstance(url, str) else None
    preview = as_asked_for(preview_url) if isinstance(preview_url, str) else None
    if address is None or not isinstance(id_, str | int):
        return None
    words = tidy(title)[:TITLE_CHARACTERS] if isinstance(title, str) else ""
    sides = [side if type(side) is int and 0 < side <= SIDE_MAXIMUM else 0 for side in (width, height)]
    return FoundGif(str(id_)[:CURSOR_CHARACTERS], words, address, preview or address, *sides)


def _page(found: list[FoundGif | None], cursor: str) -> FoundGifs:
    # A cursor comes back in a query; one that is too long for it leads nowhere.
    is_usable = 0 < len(cursor) <= CURSOR_CHARACTERS and cursor.isprintable()
    usable = [gif for gif in found if gif is not None]
    return FoundGifs(tuple(usable[:GIFS_AT_A_TIME]), cursor if is_usable and usable else None)


def _object(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _objects(value: object) -> Iterator[Mapping[str, object]]:
    return (entry for entry in value if isinstance(entry, dict)) if isinstance(value, list) else iter(())


def _number(value: object) -> int:
    """A number that may come as text; 0 for anything else."""
    if type(value) is int:
        return value
    return int(value) if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 10 else 0


GIF_PROVIDERS: Final[Mapping[str, GifProvider]] = {
    "klipy": GifProvider("KLIPY", _klipy_address, _found_by_klipy),
    "giphy": GifProvider("GIPHY", _giphy_address, _found_by_giphy),
}
"""By the value of `gif.provider`."""
