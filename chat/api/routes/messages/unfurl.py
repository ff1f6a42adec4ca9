"""What a link leads to, asked for on its own (messages.md, Links in messages)."""

from __future__ import annotations

from typing import Annotated, Final

import attrs

from chat.api.fields import Length
from chat.api.operation import Bucket, Policy, Request, Routes
from chat.api.schemas.messages.messages import EMBED
from chat.api.schemas.shapes import listed
from chat.domain.core import Core
from chat.domain.messages.assemble import MessagesArea
from chat.domain.policy.assemble import PolicyArea
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
async def unfurl(request: Request, core: Core, policy: PolicyArea, messages: MessagesArea, body: Unfurl) -> object:
    """The embeds that a message with this link would show: none or one."""
    if not core.settings.media.link_embeds:
        raise ApiError("FEATURE_TEMPORARILY_DISABLED")
    url = as_asked_for(body.url.strip())
    if url is None:
        raise InvalidFormBody.at("url", "INVALID_FORMAT")
    embed = await messages.unfurling.embed(url)
    return [] if embed is None else embed_objects([embed], (), policy.media.addresses)
