"""What a link leads to, asked for on its own (messages.md, Links in messages)."""

from __future__ import annotations

from typing import Annotated, Final

import attrs

from chat.api.fields import Length
from chat.api.operation import Bucket, Policy, Request, Routes
from chat.api.schemas.messages.messages import EMBED
from chat.api.schemas.shapes import listed
from chat.domain.policy.embed_objects import embed_objects
from chat.errors import ApiError, InvalidFormBody
from chat.media.outside_addresses import as_asked_for

routes = Routes()

UNFURL: Final = Bucket("unfurl", 20, 10_000)

ADDRESS_CHARACTERS: Final = 2_048


@attrs.frozen
class Unfurl:
    """A link."""

    url: Annotated[str, Length(1, ADDRESS_CHARACTERS)]


@routes.operation("POST", "/v1/unfurl", policy=Policy.USER, bucket=UNFURL, body=Unfurl, answers=listed(EMBED))
async def unfurl(request: Request, body: Unfurl) -> object:
    """The embeds that a message with this link would show: none or one."""
    services = request.services
    if not services.settings.media.link_embeds:
        raise ApiError("FEATURE_TEMPORARILY_DISABLED")
    url = as_asked_for(body.url.strip())
    if url is None:
        raise InvalidFormBody.at("url", "INVALID_FORMAT")
    embed = await services.unfurling.embed(url)
    return [] if embed is None else embed_objects([embed], (), services.media.addresses)
