"""What the links in messages lead to, shown below them (messages.md, Links in messages).

Nobody who sends a message waits for that: the messages are seen as they are published, and what is found is added
later, by a Message Update that does not count as an edit. Nothing is written down of what is still to be looked at; a
server that ends forgets it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any, Final

import attrs
import structlog
import trio

from chat.bus.audience import Audience, ToChannel, ToThread
from chat.bus.bus import Event
from chat.domain.core import Core
from chat.domain.messages.message_events import message_changed
from chat.domain.messages.message_links import links_in
from chat.domain.messages.message_reading import StoredMessages, with_context
from chat.domain.messages.unfurling import Unfurling
from chat.errors import ApiError, StorageUnavailable
from chat.registries.events import EventName
from chat.registries.message_types import MessageFlag
from chat.registries.permissions import Permission
from chat.store.messages import messages
from chat.store.messages.messages import Message, MessageExtra

AT_A_TIME: Final = 4
"""Messages that are looked at."""

WAITING_MAXIMUM: Final = 512
"""Messages that wait for it; nothing is added to one more."""

EMBED_LINKS: Final = Permission.EMBED_LINKS.value
SUPPRESS_EMBEDS: Final = MessageFlag.SUPPRESS_EMBEDS.value

MESSAGE_EVENTS: Final = frozenset({EventName.MESSAGE_CREATE, EventName.MESSAGE_UPDATE})

log: Final = structlog.get_logger("chat.media")


@attrs.frozen
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
            core.bus.subscribe_events(MESSAGE_EVENTS, self._message_changed)

    def _message_changed(self, signal: Event) -> None:
        """Take note of a message with links, or with what links showed before it was edited."""
        if self._publishing:
            return
        data = signal.data
        if not isinstance(data, Mapping) or not self._concerns(signal.name, data):
            return
        place = {name: data[name] for name in ("guild_id", "member") if name in data}
        seen = _Seen(int(data["id"]), int(data["channel_id"]), data["content"], place, signal.audience)
        if not self._may_embed(data, signal.audience):
            return
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
        return state is not None and bool(state.permissions(int(data["author"]["id"]), channel_id) & EMBED_LINKS)

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

    async def _add(self, seen: _Seen, found: tuple[dict[str, Any], ...]) -> None:
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
            wire = stored.wire(message, self._core.media_addresses)
            self._publishing = True  # what is published here is no news here
            try:
                self._core.bus.publish(message_changed(message, wire, seen.place, seen.audience))
            finally:
                self._publishing = False

        await self._core.database.write(unit, then)
