"""Moving pictures of a service that the operator has named (messages.md, Moving pictures).

The server asks, so that the service sees neither members nor their addresses, and they do not see the key. What was
found is remembered for a while; the same search asked by several at once is asked there once.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

import attrs
import structlog
import trio

from chat import wire
from chat.auth.outgoing_http import OutgoingHttp, unavailable, unusable
from chat.auth.principal import Principal
from chat.classes import define
from chat.domain.core import Core
from chat.domain.messages.gif_providers import GIF_PROVIDERS, FoundGifs, GifQuery
from chat.errors import ApiError
from chat.registries.error_codes import ErrorCode

REMEMBERED_MS: Final = 600_000
"""How long a page of results is remembered."""

REMEMBERED_PAGES: Final = 500
"""Pages that are remembered; the one found first makes room."""

TOO_MANY_REQUESTS: Final = 429

log: Final = structlog.get_logger("chat.gifs")


@define(eq=False)
class _Asking:
    """A search that is under way: when it is over, and what it failed with."""

    over: trio.Event = attrs.field(factory=trio.Event, init=False)
    error: ApiError | None = attrs.field(default=None, init=False)


@define(eq=False)
class Gifs:
    """Asks the service that the settings name."""

    _core: Core
    _http: OutgoingHttp
    _remembered: OrderedDict[GifQuery, tuple[int, FoundGifs]] = attrs.field(factory=OrderedDict, init=False)
    _under_way: dict[GifQuery, _Asking] = attrs.field(factory=dict, init=False)

    async def find(self, principal: Principal, query: GifQuery) -> wire.Gifs:
        """A page of results, as the wire has it.

        :raises ApiError: FEATURE_TEMPORARILY_DISABLED where no service is named; CONTENT_BLOCKED for words that are
            blocked; SERVICE_UNAVAILABLE when the service does not answer in time or takes no more requests;
            BAD_GATEWAY when it answers nonsense, or refuses the key.
        """
        if self._core.settings.gif.provider == "none":
            raise ApiError(ErrorCode.FEATURE_TEMPORARILY_DISABLED)
        self._core.blocked.require_text(query.words or "")
        while (found := self._known(query)) is None:
            other = self._under_way.get(query)
            if other is None:
                found = await self._asked(principal, query)
                break
            await other.over.wait()
            if other.error is not None:  # else each that waits would wait for the service in turn
                raise other.error
        return {
            "gifs": [
                {
                    "id": gif.id,
                    "title": gif.title,
                    "url": gif.url,
                    "preview_url": self._core.media_addresses.external(gif.preview_url),
                    "width": gif.width,
                    "height": gif.height,
                }
                for gif in found.gifs
            ],
            "next": found.next,
        }

    def _known(self, query: GifQuery) -> FoundGifs | None:
        found_at, found = self._remembered.get(query, (0, None))
        return found if found_at + REMEMBERED_MS > self._core.clock.now_ms() else None

    async def _asked(self, principal: Principal, query: GifQuery) -> FoundGifs:
        self._under_way[query] = search = _Asking()
        try:
            found = await self._answer(principal, query)
        except ApiError as error:
            search.error = error
            raise
        finally:
            del self._under_way[query]
            search.over.set()
        self._remembered.pop(query, None)
        self._remembered[query] = self._core.clock.now_ms(), found
        if len(self._remembered) > REMEMBERED_PAGES:
            self._remembered.popitem(last=False)
        return found

    async def _answer(self, principal: Principal, query: GifQuery) -> FoundGifs:
        settings = self._core.settings.gif
        provider = GIF_PROVIDERS[settings.provider]
        reply = await self._http.get(provider.address_of(settings, query), guard=principal.guard)
        if reply.status == TOO_MANY_REQUESTS:
            raise unavailable()
        if reply.status != 200:
            log.error("the service for moving pictures refuses", provider=settings.provider, status=reply.status)
            raise unusable()
        return provider.found_in(reply.object(), query)
