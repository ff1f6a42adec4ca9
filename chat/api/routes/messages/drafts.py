"""Operations on drafts: what is typed and not sent, kept for the account's other devices (messages.md, Drafts)."""

from __future__ import annotations

from typing import Annotated, Final

from chat import wire
from chat.api import buckets
from chat.api.fields import Length, Timestamp
from chat.api.operation import Policy, Request, Routes
from chat.classes import frozen
from chat.domain.messages.assemble import MessagesArea
from chat.registries.limits import DRAFTS

routes = Routes(policy=Policy.USER_ONLY)

DRAFT_CHARACTERS: Final = 4_000


@frozen(kw_only=True)
class PutDraft:
    """The body of PUT /v1/users/@me/drafts/{channel_id}."""

    content: Annotated[str, Length(0, DRAFT_CHARACTERS)] = ""
    edited_at: Timestamp | None = None


@routes.operation("GET", "/v1/users/@me/drafts", bucket=buckets.DRAFTS)
async def list_drafts(request: Request, messages: MessagesArea) -> Annotated[list[wire.Draft], wire.items(DRAFTS)]:
    """What the caller has typed and not sent, the text edited last first; an empty one was sent or deleted."""
    return messages.drafts.of_user(request.principal.user_id)


@routes.operation(
    "PUT", "/v1/users/@me/drafts/{channel_id}", bucket=buckets.DRAFTS_CHANGE, empty_strings_are_null=False
)
async def put_draft(request: Request, messages: MessagesArea, channel_id: int, body: PutDraft) -> None:
    """Keep what the caller has typed in a channel, unless something is kept that was edited later."""
    await messages.drafts.put(request.principal, channel_id, body.content, body.edited_at)
