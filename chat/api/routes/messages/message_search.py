"""Search (messages.md, Search; the body follows the conventions of this family).

A text matches by its words, in any order, without regard to case, width and accents; the last one may be the beginning
of a word. Scripts without spaces and emoji match by any part, single characters included. `exact_phrases` match words
that follow each other. Nothing in a text is an operator.
"""

from __future__ import annotations

import datetime
import enum
from typing import Annotated, Any, Final

from chat import wire
from chat.api.answers import Answer
from chat.api.fields import Items, Length, Range, Refusal, Schema, Snowflake, Timestamp
from chat.api.operation import Bucket, Policy, Request, Routes
from chat.classes import frozen
from chat.domain.messages.assemble import MessagesArea
from chat.domain.messages.message_search import Search
from chat.domain.messages.message_search_scopes import SearchScope, Whereabouts
from chat.errors import InvalidFormBody
from chat.registries.error_codes import FieldCode
from chat.snowflake import MAXIMUM, snowflake_at
from chat.store.messages.message_search_entries import AuthorType, ContentType, EmbedType
from chat.store.messages.message_search_expressions import Criteria

routes = Routes()

TEXT_LENGTH: Final = 1024
CHANNELS_MAXIMUM: Final = 500
PAGE_MAXIMUM: Final = (1 << 53) - 1
DAY_MS: Final = 86_400_000


class SearchedContent(enum.StrEnum):
    """The values of `has`: those of the index, and another word for a forwarded message."""

    IMAGE = "image"
    SOUND = "sound"
    VIDEO = "video"
    FILE = "file"
    STICKER = "sticker"
    EMBED = "embed"
    LINK = "link"
    POLL = "poll"
    SNAPSHOT = "snapshot"
    FORWARD = "forward"


class SortBy(enum.StrEnum):
    """What decides which message comes first."""

    TIMESTAMP = "timestamp"
    RELEVANCE = "relevance"


class SortOrder(enum.StrEnum):
    """Which end comes first."""

    ASC = "asc"
    DESC = "desc"


class _Day:
    """A day of the calendar, in UTC, as the moment when it begins."""

    schema: Final[Schema] = {"type": "string", "format": "date"}

    def read(self, value: object) -> int:
        if type(value) is not str:
            raise Refusal
        try:
            day = datetime.date.fromisoformat(value)
        except ValueError:
            raise Refusal(FieldCode.INVALID_ISO_TIMESTAMP) from None
        return (day - datetime.date(1970, 1, 1)).days * DAY_MS


Day = Annotated[int, _Day()]
Text = Annotated[str, Length(1, TEXT_LENGTH)]
Channels = Annotated[list[Snowflake], Items(0, CHANNELS_MAXIMUM)]
Users = Annotated[list[Snowflake], Items(0, 100)]
AuthorTypes = Annotated[list[AuthorType], Items(0, 20)]
Contents = Annotated[list[SearchedContent], Items(0, 20)]
EmbedTypes = Annotated[list[EmbedType], Items(0, 20)]
Providers = Annotated[list[Annotated[str, Length(1, 256)]], Items(0, 50)]
Hostnames = Annotated[list[Annotated[str, Length(1, 255)]], Items(0, 100)]
Filenames = Annotated[list[Text], Items(0, 100)]
Extensions = Annotated[list[Annotated[str, Length(1, 32)]], Items(0, 50)]


@frozen(kw_only=True)
class SearchMessages:
    """The body of POST /v1/search/messages. Every member may be absent or null.

    All that is given has to hold; of a list one member has to, but every phrase and all of `has`. `min_id`, `max_id`
    and the moments include their bounds; `during` is a day in UTC. `channel_id` and `channel_ids` both narrow the
    scope; with neither `context_guild_id` nor `context_channel_id` they are the scope. `cursor` is what the page before
    answered, and takes the place of `page`.
    """

    hits_per_page: Annotated[int, Range(1, 25)] | None = None
    page: Annotated[int, Range(1, PAGE_MAXIMUM)] | None = None
    cursor: Annotated[list[Snowflake], Items(1, 1)] | None = None
    min_id: Snowflake | None = None
    max_id: Snowflake | None = None
    after: Timestamp | None = None
    before: Timestamp | None = None
    during: Day | None = None
    content: Text | None = None
    contents: Annotated[list[Text], Items(0, 100)] | None = None
    exact_phrases: Annotated[list[Text], Items(0, 10)] | None = None
    channel_id: Channels | None = None
    channel_ids: Channels | None = None
    exclude_channel_id: Channels | None = None
    author_type: AuthorTypes | None = None
    exclude_author_type: AuthorTypes | None = None
    author_id: Users | None = None
    exclude_author_id: Users | None = None
    mentions: Users | None = None
    exclude_mentions: Users | None = None
    mention_everyone: bool | None = None
    pinned: bool | None = None
    has: Contents | None = None
    exclude_has: Contents | None = None
    embed_type: EmbedTypes | None = None
    exclude_embed_type: EmbedTypes | None = None
    embed_provider: Providers | None = None
    exclude_embed_provider: Providers | None = None
    link_hostname: Hostnames | None = None
    exclude_link_hostname: Hostnames | None = None
    attachment_filename: Filenames | None = None
    exclude_attachment_filename: Filenames | None = None
    attachment_extension: Extensions | None = None
    exclude_attachment_extension: Extensions | None = None
    sort_by: SortBy | None = None
    sort_order: SortOrder | None = None
    include_nsfw: bool | None = None
    scope: SearchScope | None = None
    context_channel_id: Snowflake | None = None
    context_guild_id: Snowflake | None = None


@routes.operation(
    "POST",
    "/v1/search/messages",
    policy=Policy.USER,
    bucket=Bucket("search:messages", limit=20, window_ms=10_000),
    answers=lambda: {200: wire.MessageSearchResults, 202: wire.Indexing},
)
async def search_messages(
    request: Request, messages: MessagesArea, body: SearchMessages
) -> wire.MessageSearchResults | Answer[wire.Indexing]:
    """Messages that the caller may read, by their words and by what is known about them."""
    search = Search(
        whereabouts=_whereabouts(body),
        criteria=_criteria(body),
        by_relevance=body.sort_by is SortBy.RELEVANCE,
        ascending=body.sort_order is SortOrder.ASC,
        hits_per_page=25 if body.hits_per_page is None else body.hits_per_page,
        page=1 if body.page is None else body.page,
        after=None if body.cursor is None else body.cursor[0],
    )
    found = await messages.message_searches.search(request.principal, search)
    return Answer(202, {"indexing": True}) if found is None else found


def _whereabouts(body: SearchMessages) -> Whereabouts:
    named = [*(body.channel_id or ()), *(body.channel_ids or ())]
    if len(set(named)) > CHANNELS_MAXIMUM:
        raise InvalidFormBody.at("channel_ids", FieldCode.INVALID_FORMAT)
    return Whereabouts(
        scope=body.scope or SearchScope.CURRENT,
        guild_id=body.context_guild_id,
        channel_id=body.context_channel_id,
        channel_ids=frozenset(named) if named else None,
        excluded_channel_ids=frozenset(body.exclude_channel_id or ()),
        include_nsfw=bool(body.include_nsfw),
    )


_ALTERNATIVES: Final = {
    "author_ids": "author_id",
    "author_types": "author_type",
    "mentions": "mentions",
    "embed_types": "embed_type",
    "embed_providers": "embed_provider",
    "link_hostnames": "link_hostname",
    "attachment_filenames": "attachment_filename",
    "attachment_extensions": "attachment_extension",
}
"""Members of the criteria, and of the body, that there are with `exclude` too."""


def _criteria(body: SearchMessages) -> Criteria:
    first, last = _bounds(body)
    lists: dict[str, Any] = {}  # members of Criteria, each with a type of its own
    for name, member in _ALTERNATIVES.items():
        lists[name] = tuple(getattr(body, member) or ())
        lists[f"excluded_{name}"] = tuple(getattr(body, f"exclude_{member}") or ())
    return Criteria(
        content=body.content,
        contents=tuple(body.contents or ()),
        exact_phrases=tuple(body.exact_phrases or ()),
        mention_everyone=body.mention_everyone,
        pinned=body.pinned,
        has=_kinds(body.has),
        excluded_has=_kinds(body.exclude_has),
        min_id=first,
        max_id=last,
        **lists,
    )


def _kinds(asked: list[SearchedContent] | None) -> tuple[ContentType, ...]:
    return tuple(ContentType.SNAPSHOT if kind is SearchedContent.FORWARD else ContentType(kind) for kind in asked or ())


def _bounds(body: SearchMessages) -> tuple[int, int]:
    """The first and the last id that may be found."""
    lower = [moment for moment in (body.after, body.during) if moment is not None]
    upper = [moment + 1 for moment in (body.before,) if moment is not None]
    upper += [body.during + DAY_MS] if body.during is not None else []
    first = max([body.min_id or 0, *(_id_at(moment) for moment in lower)])
    last = min([MAXIMUM if body.max_id is None else body.max_id, *(_id_at(moment) - 1 for moment in upper)])
    return first, last


def _id_at(moment: int) -> int:
    """The least id of that moment, within what an id can be."""
    return max(0, min(MAXIMUM, snowflake_at(moment)))
