"""The files that pages and the web client load, as they are sent: read, joined and hashed once, packed once for each
way that browsers unpack.

Every file lies below `/static/<digest>/`, where the digest is of all of them together, in the folders in which they lie
on the disk (`static`, `client`, `words`), or among the packs that are made of the client's modules
(`chat.web.packs`). Scripts import each other by relative address, so no build step has to rewrite them, and a browser
may keep each file for ever: after an upgrade the pages name other addresses.
"""

from __future__ import annotations

import functools
import gzip
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, TypeVar

import attrs
import trio
from werkzeug.datastructures import Accept

import chat.words
from chat.classes import frozen
from chat.web.packs import joined

HERE: Final = Path(__file__).parent

STATIC: Final = "static"
CLIENT: Final = "client"
PACKS: Final = "packs"
WORDS: Final = "words"
SPOKEN: Final = ("console", "errors", "pages", "workbench")
"""The surfaces of `chat.words` that scripts read."""

STYLE_SHEETS: Final = f"{CLIENT}/css/"
LAYERS: Final = f"{STYLE_SHEETS}layers.css"
"""Names the layers in their order, so it comes before all other style sheets of the client."""

CATALOGUES: Final = f"{CLIENT}/words/"
ENGLISH_CATALOGUE: Final = f"{CATALOGUES}en.json"

CONTENT_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webp": "image/webp",
}

DIGEST_LENGTH: Final = 16
"""Hexadecimal digits of SHA-256; enough to tell one version of the files from another."""

TAG_LENGTH: Final = 32

ZSTD_LEVEL: Final = 19
"""Some 5 ms for a file of the client, once."""

WORTH_BYTES: Final = 512
"""Less is sent as it is."""

CLIENT_STYLE: Final = f"{PACKS}/client.css"
"""All style sheets of the client."""

_STYLE_COMMENT: Final = re.compile(r"/\*[\s\S]*?\*/\s*")

Made = TypeVar("Made")


def _as_it_is(content: bytes) -> bytes:
    return content


def _with_zstd(content: bytes) -> bytes:
    import zstandard  # a start need not wait for it

    return zstandard.ZstdCompressor(level=ZSTD_LEVEL).compress(content)


def _with_gzip(content: bytes) -> bytes:
    return gzip.compress(content, 9, mtime=0)


IDENTITY: Final = "identity"

PACKINGS: Final[Mapping[str, Callable[[bytes], bytes]]] = {"zstd": _with_zstd, "gzip": _with_gzip, IDENTITY: _as_it_is}
"""How a file can be sent (Content-Encoding), the best first."""


def packing_for(accepted: Accept) -> str:
    """The best packing that a browser takes, by its Accept-Encoding."""
    return next((name for name in PACKINGS if name != IDENTITY and accepted.quality(name) > 0), IDENTITY)


@frozen
class Asset:
    """One file; `tag` is of its content."""

    content: bytes = attrs.field(repr=False)
    content_type: str
    tag: str


@frozen
class Packed:
    """A file as it is sent."""

    content: bytes = attrs.field(repr=False)
    packing: str


@frozen
class Assets:
    """All of them, and the address of their folder."""

    files: Mapping[str, Asset]
    """By their place below the folder, such as `static/api.js`."""
    digest: str

    @property
    def folder(self) -> str:
        """Where they lie on this server: `/static/<digest>`."""
        return f"/static/{self.digest}"

    def find(self, digest: str, name: str) -> Asset | None:
        """The file in this version."""
        return self.files.get(name) if digest == self.digest else None

    @functools.cached_property
    def style_sheets(self) -> list[str]:
        """The client's own, in the order in which a page names them."""
        return _style_sheets(self.files)


@functools.cache
def read_assets() -> Assets:
    """Read every file of a kind that pages use, and make the packs: once in a process, for all servers in it."""
    sources = {**_read(HERE / STATIC), **_with_english(_read(HERE / CLIENT)), **_read_words()}
    scripts = {name: content.decode() for name, content in sources.items() if name.endswith(".js")}
    packs = {f"{PACKS}/{name}.js": script.encode() for name, script in joined(scripts).items()}
    style = "".join(_STYLE_COMMENT.sub("", sources[name].decode()) for name in _style_sheets(sources))
    packs[CLIENT_STYLE] = style.encode()
    return _assets({**sources, **packs})


def _read(folder: Path) -> dict[str, bytes]:
    paths = sorted(path for path in folder.rglob("*") if path.suffix in CONTENT_TYPES)
    return {path.relative_to(HERE).as_posix(): path.read_bytes() for path in paths}


def _with_english(sources: Mapping[str, bytes]) -> dict[str, bytes]:
    """The same files. What a catalogue of the client lacks is said in English there: a reader loads only one."""
    english = json.loads(sources[ENGLISH_CATALOGUE])
    return {
        name: json.dumps({**english, **json.loads(content)}, ensure_ascii=False, separators=(",", ":")).encode()
        if name.startswith(CATALOGUES) and name.endswith(".json")
        else content
        for name, content in sources.items()
    }


def _read_words() -> dict[str, bytes]:
    paths = sorted(path for path in chat.words.FOLDER.glob("*/*.json") if path.stem in SPOKEN)
    return {f"{WORDS}/{path.relative_to(chat.words.FOLDER).as_posix()}": path.read_bytes() for path in paths}


def _style_sheets(names: Mapping[str, object]) -> list[str]:
    sheets = sorted(name for name in names if name.startswith(STYLE_SHEETS))
    return sorted(sheets, key=lambda name: name != LAYERS)


def _assets(contents: Mapping[str, bytes]) -> Assets:
    sha256 = hashlib.sha256()
    files = {}
    for name, content in contents.items():
        tag = hashlib.sha256(content).hexdigest()
        files[name] = Asset(content, CONTENT_TYPES[Path(name).suffix], tag[:TAG_LENGTH])
        sha256.update(f"{name}\0{tag}\0".encode())
    return Assets(files, sha256.hexdigest()[:DIGEST_LENGTH])


class AssetStore:
    """Reads the files when they are first asked for, and keeps what it has packed.

    Both take longer than the loop may stand still, so they are done in a thread unless `in_threads` is False (virtual
    time would jump).
    """

    def __init__(self, *, in_threads: bool) -> None:
        self._in_threads: Final = in_threads
        self._assets: Assets | None = None
        self._packed: Final[dict[tuple[str, str], Packed]] = {}
        self._reading: Final = trio.Lock()

    async def assets(self) -> Assets:
        """All files."""
        if self._assets is None:
            async with self._reading:
                if self._assets is None:
                    self._assets = await self.aside(read_assets)
        return self._assets

    async def packed(self, asset: Asset, packing: str) -> Packed:
        """A file packed like this, or as it is where that is no larger."""
        key = asset.tag, packing
        found = self._packed.get(key)
        if found is None:
            found = self._packed[key] = await self.aside(lambda: _pack(asset, packing))
        return found

    async def aside(self, make: Callable[[], Made]) -> Made:
        """What this makes, without holding up the loop."""
        return await trio.to_thread.run_sync(make) if self._in_threads else make()


def _pack(asset: Asset, packing: str) -> Packed:
    if len(asset.content) >= WORTH_BYTES:
        content = PACKINGS[packing](asset.content)
        if len(content) < len(asset.content):
            return Packed(content, packing)
    return Packed(asset.content, IDENTITY)
