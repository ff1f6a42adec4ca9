"""Operations on moving pictures of the service that the operator has named (messages.md, Moving pictures)."""

from __future__ import annotations

import re
from typing import Annotated

from chat import wire
from chat.api import buckets
from chat.api.fields import Length, Pattern
from chat.api.operation import Policy, Request, Routes
from chat.classes import frozen
from chat.domain.messages.assemble import MessagesArea
from chat.domain.messages.gif_providers import CURSOR_CHARACTERS, GifQuery

routes = Routes(policy=Policy.USER_ONLY, bucket=buckets.GIFS)

WORDS_CHARACTERS = 100

Cursor = Annotated[str, Length(1, CURSOR_CHARACTERS)]
Language = Annotated[str, Pattern(re.compile(r"[a-z]{2}", re.ASCII))]


@frozen(kw_only=True)
class ListGifs:
    """Where to go on, which is `next` of the page before; and the language of the results, in two letters."""

    after: Cursor | None = None
    language: Language = "en"


@frozen(kw_only=True)
class SearchGifs(ListGifs):
    """The words to search for, and as for those that are popular."""

    q: Annotated[str, Length(1, WORDS_CHARACTERS)]


@routes.operation("GET", "/v1/gifs/search")
async def search_gifs(request: Request, messages: MessagesArea, query: SearchGifs) -> wire.Gifs:
    """Moving pictures by words."""
    sought = GifQuery(" ".join(query.q.lower().split()), query.after, query.language)
    return await messages.gifs.find(request.principal, sought)


@routes.operation("GET", "/v1/gifs/trending")
async def list_trending_gifs(request: Request, messages: MessagesArea, query: ListGifs) -> wire.Gifs:
    """Moving pictures that are popular now."""
    return await messages.gifs.find(request.principal, GifQuery(None, query.after, query.language))
