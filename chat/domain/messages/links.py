"""The links in messages, and what they lead to, shown as embeds (messages.md, Links in messages).

A sender does not wait for that: messages are seen as they are published, and what is found is added later, by a Message
Update that does not count as an edit. What is still to be looked at is kept in memory alone. Each link is fetched once
at a time for all who ask, and the outcome is remembered, also that there is nothing to show.
"""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Mapping
from typing import Any, Final

import orjson
import structlog
import trio

from chat.bus.audience import Audience, ToChannel, ToThread
from chat.bus.bus import Event
from chat.classes import frozen
from chat.domain.core import Core
from chat.domain.messages.message_events import message_changed
from chat.domain.messages.message_reading import StoredMessages, with_context
from chat.domain.policy.media_library import MediaLibrary
from chat.errors import ApiError, StorageUnavailable
from chat.markdown.inline import links_of
from chat.media.image_header import HEADER_BYTES
from chat.media.outside_addresses import OutsideRefused, as_asked_for
from chat.media.outside_fetching import MEDIA_ACCEPTED, OutsidePage, OutsidePages
from chat.media.page_embed import (
    PAGE_TYPES,
    Embed,
    embed_of_file,
    embed_of_page,
    oembed_address,
    page_head,
    with_picture_found,
    without_picture,
)
from chat.registries.events import EventName
from chat.registries.message_types import MessageFlag
from chat.registries.permissions import Permission
from chat.store.guard import UNGUARDED
from chat.store.messages import messages, unfurled
from chat.store.messages.messages import Message, MessageExtra

LINKS_MAXIMUM: Final = 5
"""Links of one message that are shown."""

FOUND_MS: Final = 3_600_000
NOTHING_MS: Final = 300_000
"""How long it is remembered what a link shows, and that it shows nothing."""

OEMBED_BYTES: Final = 65_536
OEMBED_ACCEPTED: Final = "application/json+oembed, application/json"

SWEEP_SECONDS: Final = 3_600.0

AT_A_TIME: Final = 4
"""Messages whose links are looked at together."""

WAITING_MAXIMUM: Final = 512
"""Messages that wait for it; nothing is added to one more."""

SUPPRESS_EMBEDS: Final = MessageFlag.SUPPRESS_EMBEDS.value

log: Final = structlog.get_logger("chat.media")


def links_in(text: str) -> list[str]:
    """The links to be shown, in order, each once, as they are asked for: in ASCII. Those in spoilers and in <angle
    brackets> are not shown."""
    shown = (as_asked_for(link.href) for link in links_of(text) if not (link.is_hidden or link.is_pointed))
    return list(itertools.islice(dict.fromkeys(address for address in shown if address is not None), LINKS_MAXIMUM))


class Unfurling:
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
        """Delete expired embeds from time to time, for as long as the server runs."""
        while True:
            await trio.sleep(SWEEP_SECONDS)
            now = self._core.clock.now_ms()
            try:
                while await self._core.database.write(
                    lambda connection: unfurled.delete_expired(connection, now),  # noqa: B023 - called at once
                    guard=UNGUARDED,
                ):
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
            # Remembered for all who ask, so it does not matter whether the first of them still may.
            await self._core.database.write(
                lambda connection: unfurled.store(connection, url, embed, expires_at), guard=UNGUARDED
            )
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

    async def _more(self, address: str | None) -> dict[str, object]:
        """The page's own description in JSON (oEmbed); empty if it cannot be had."""
        if address is None:
            return {}
        try:
            page = await self._pages.fetch(address, OEMBED_BYTES, OEMBED_ACCEPTED)
            value = orjson.loads(page.data)
        except (OutsideRefused, ValueError):
            return {}
        return value if isinstance(value, dict) else {}

    async def _with_picture(self, embed: Embed) -> Embed | None:
        """The embed whose picture was looked at: its size is that of the picture, not what the page says."""
        try:
            found: OutsidePage = await self._pages.fetch(embed["thumbnail"]["url"], HEADER_BYTES, MEDIA_ACCEPTED)
        except OutsideRefused:
            return without_picture(embed)
        return with_picture_found(embed, found)

    async def _off_the_loop(self, work: Any) -> Any:
        return await trio.to_thread.run_sync(work) if self._core.in_threads else work()


@frozen
class _Seen:
    """A message whose links are to be looked at: who hears of it, and what they are told beside the message."""

    message_id: int
    channel_id: int
    content: str
    place: Mapping[str, Any]
    audience: Audience


class LinkEmbeds:
    """Sees messages go by on the bus, and adds to them."""

    def __init__(self, core: Core, unfurling: Unfurling, *, enabled: bool) -> None:
        self._core = core
        self._unfurling = unfurling
        self._publishing = False
        self._seen, self._to_look_at = trio.open_memory_channel[_Seen](WAITING_MAXIMUM)
        if enabled:
            changes = frozenset({EventName.MESSAGE_CREATE, EventName.MESSAGE_UPDATE})
            core.bus.subscribe_events(changes, self._message_changed)

    def _message_changed(self, signal: Event) -> None:
        """Take note of a message with links, or with what links showed before it was edited."""
        if self._publishing:
            return
        data = signal.data
        if not isinstance(data, Mapping) or not self._concerns(signal.name, data):
            return
        if not self._may_embed(data, signal.audience):
            return
        place = {name: data[name] for name in ("guild_id", "member") if name in data}
        seen = _Seen(int(data["id"]), int(data["channel_id"]), data["content"], place, signal.audience)
        try:
            self._seen.send_nowait(seen)
        except trio.WouldBlock:
            log.info("links are not looked at: too many wait")

    async def run(self) -> None:
        """Look at what links lead to, for as long as the server runs."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._unfurling.run)
            for _ in range(AT_A_TIME):
                nursery.start_soon(self._work)

    async def _work(self) -> None:
        async for seen in self._to_look_at:
            try:
                await self._look_at(seen)
            except (StorageUnavailable, ApiError):
                log.warning("what links lead to could not be added")
            except Exception:
                # Strangers shape what is worked on here: a fault that one of them finds costs an embed, not the server.
                log.exception("what links lead to could not be looked at")

    @staticmethod
    def _concerns(name: EventName, data: Mapping[str, Any]) -> bool:
        if data["flags"] & SUPPRESS_EMBEDS:
            return False
        # An edit may have taken links away.
        return "://" in data["content"] or (name is EventName.MESSAGE_UPDATE and bool(data["embeds"]))

    def _may_embed(self, data: Mapping[str, Any], audience: Audience) -> bool:
        """Whether the author may show what links lead to; a webhook and who is in a conversation may."""
        if "webhook_id" in data or not isinstance(audience, ToChannel | ToThread):
            return True
        state = self._core.guild_states.get(audience.guild_id)
        channel_id = audience.channel_id if isinstance(audience, ToChannel) else audience.parent_id
        return state is not None and bool(
            state.permissions(int(data["author"]["id"]), channel_id) & Permission.EMBED_LINKS.value
        )

    async def _look_at(self, seen: _Seen) -> None:
        links = links_in(seen.content)
        stored = messages.by_id(self._core.database.reader, seen.channel_id, seen.message_id)
        before = () if stored is None or stored.extra is None else stored.extra.link_embeds
        if stored is None or not (links or before):
            return
        known = {embed["url"]: embed for embed in before}
        embeds = [known.get(link) or await self._unfurling.embed(link) for link in links]
        found = tuple(embed for embed in embeds if embed is not None)
        if found != before:
            await self._add(seen, found)

    async def _add(self, seen: _Seen, found: tuple[Mapping[str, Any], ...]) -> None:
        """Show what was found, unless the message became another one meanwhile."""

        def unit(connection: sqlite3.Connection) -> tuple[Message, StoredMessages] | None:
            message = messages.by_id(connection, seen.channel_id, seen.message_id)
            if message is None or message.content != seen.content or message.flags & SUPPRESS_EMBEDS:
                return None
            extra = message.extra or MessageExtra()
            changed = messages.change_extra(connection, message.channel_id, message.id, link_embeds=found)
            if changed is None or extra.link_embeds == found:
                return None
            return changed, with_context(connection, [changed])

        def then(result: tuple[Message, StoredMessages] | None) -> None:
            if result is None:
                return
            message, stored = result
            shown = stored.object_of(message, self._core.media_addresses)
            self._publishing = True  # what is published here is no news here
            try:
                self._core.bus.publish(message_changed(message, shown, seen.place, seen.audience))
            finally:
                self._publishing = False

        await self._core.database.write(unit, then, guard=UNGUARDED)
