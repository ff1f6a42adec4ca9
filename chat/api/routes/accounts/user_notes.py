"""Operations on notes about accounts (people.md, Notes)."""

from __future__ import annotations

import attrs

from chat.api import buckets
from chat.api.operation import Policy, Request, Routes
from chat.api.schemas.shapes import NOTHING, SNOWFLAKE, TEXT, mapped, record
from chat.domain.accounts.assemble import AccountsArea

routes = Routes()


@attrs.frozen(kw_only=True)
class WriteNote:
    """The body of PUT /v1/users/@me/notes/{user_id}: nothing, or null, takes the note away."""

    note: str | None = None


@routes.operation(
    "GET",
    "/v1/users/@me/notes",
    policy=Policy.USER_ONLY,
    bucket=buckets.NOTES,
    answers=mapped(TEXT, names=SNOWFLAKE),
)
async def list_notes(request: Request, accounts: AccountsArea) -> object:
    """The caller's notes, by the ids of those whom they are about."""
    return accounts.user_notes.of_user(request.principal.user_id)


@routes.operation(
    "GET",
    "/v1/users/@me/notes/{user_id}",
    policy=Policy.USER_ONLY,
    bucket=buckets.NOTES,
    answers=record({"note": TEXT}),
)
async def get_note(request: Request, accounts: AccountsArea, user_id: int) -> object:
    """The caller's note about an account."""
    return {"note": accounts.user_notes.get(request.principal.user_id, user_id)}


@routes.operation(
    "PUT",
    "/v1/users/@me/notes/{user_id}",
    policy=Policy.USER_ONLY,
    bucket=buckets.NOTE_CHANGE,
    body=WriteNote,
    answers=NOTHING,
)
async def put_note(request: Request, accounts: AccountsArea, user_id: int, body: WriteNote) -> None:
    """Note something about an account."""
    await accounts.user_notes.put(request.principal.user_id, user_id, body.note)
