"""What a link leads to, as an embed (messages.md, Links in messages).

Each link is fetched once at a time, whoever asks for it, and what came of it is remembered: also that nothing did.
"""

from __future__ import annotations

from typing import Any, Final

import orjson
import structlog
import trio

from chat.domain.core import Core
from chat.domain.policy.media_library import MediaLibrary
from chat.errors import StorageUnavailable
from chat.media.image_header import HEADER_BYTES
from chat.media.outside_addresses import OutsideRefused
from chat.media.outside_exchange import ACCEPTED
from chat.media.outside_pages import OutsidePage, OutsidePages
from chat.media.page_embed import (
    PAGE_TYPES,
    Embed,
    embed_of_file,
    embed_of_page,
    oembed_address,
    with_picture_found,
    without_picture,
)
from chat.media.page_head import page_head
from chat.store.messages import unfurled

FOUND_MS: Final = 3_600_000
NOTHING_MS: Final = 300_000
"""How long it is remembered what a link shows, and that it shows nothing."""

OEMBED_BYTES: Final = 65_536
OEMBED_ACCEPTED: Final = "application/json+oembed, application/json"

SWEEP_SECONDS: Final = 3_600.0

log: Final = structlog.get_logger("chat.media")


class Unfurling:
    """Looks at what links lead to."""

    def __init__(self, core: Core, media: MediaLibrary) -> None:
        self._core = core
        self._pages = OutsidePages(media.external.guard)
        self._under_way: dict[str, trio.Event] = {}

    async def embed(self, url: str) -> Embed | None:
        """What is shown of a link, as it is stored; None when there is nothing to show, and for one that is blocked.

        :raises StorageUnavailable: when the store is.
        """
        if self._core.blocked.blocks_text(url):
            return None
        while True:
            remembered = unfurled.find(self._core.database.reader, url, self._core.clock.now_ms())
            if remembered is not None:
                return remembered.embed
            other = self._under_way.get(url)
            if other is None:
                return await self._looked_at(url)
            await other.wait()

    async def run(self) -> None:
        """Forget what was remembered long enough, for as long as the server runs."""
        while True:
            await trio.sleep(SWEEP_SECONDS)
            now = self._core.clock.now_ms()
            try:
                while await self._core.database.write(lambda connection: unfurled.delete_expired(connection, now)):  # noqa: B023
                    pass
            except StorageUnavailable:
                log.warning("links could not be forgotten")

    async def _looked_at(self, url: str) -> Embed | None:
        self._under_way[url] = event = trio.Event()
        try:
            try:
                embed = await self._fetched(url)
            except OutsideRefused as refused:
                # Neither who asks nor the log learns what was found there, or under which address.
                log.info("nothing is shown of a link", reason=str(refused))
                embed = None
            expires_at = self._core.clock.now_ms() + (NOTHING_MS if embed is None else FOUND_MS)
            await self._core.database.write(lambda connection: unfurled.store(connection, url, embed, expires_at))
            return embed
        finally:
            del self._under_way[url]
            event.set()

    async def _fetched(self, url: str) -> Embed | None:
        page = await self._pages.fetch(url)
        if page.content_type not in PAGE_TYPES:
            return embed_of_file(url, page)
        head = await self._off_the_loop(lambda: page_head(page.text()))
        more = await self._more(oembed_address(head, page.url))
        embed = embed_of_page(url, page, head, more)
        if embed is not None and "thumbnail" in embed:
            embed = await self._with_picture(embed)
        return embed

    async def _more(self, address: str | None) -> dict[str, Any]:
        """What a page says of itself in JSON; nothing where that is not to be had."""
        if address is None:
            return {}
        try:
            page = await self._pages.fetch(address, OEMBED_BYTES, OEMBED_ACCEPTED)
            value = orjson.loads(page.data)
        except (OutsideRefused, ValueError):
            return {}
        return value if isinstance(value, dict) else {}

    async def _with_picture(self, embed: Embed) -> Embed | None:
        """The embed whose picture was looked at: its size is what it is, whatever the page says."""
        try:
            found: OutsidePage = await self._pages.fetch(embed["thumbnail"]["url"], HEADER_BYTES, ACCEPTED)
        except OutsideRefused:
            return without_picture(embed)
        return with_picture_found(embed, found)

    async def _off_the_loop(self, work: Any) -> Any:
        return await trio.to_thread.run_sync(work) if self._core.in_threads else work()
