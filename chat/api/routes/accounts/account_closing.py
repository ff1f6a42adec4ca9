"""Closing the own account (accounts.md, Closing an account)."""

from __future__ import annotations

import attrs

from chat.api import buckets
from chat.api.fields import SudoFields
from chat.api.operation import Policy, Request, Routes
from chat.api.schemas.shapes import NOTHING
from chat.domain.accounts.assemble import AccountsArea

routes = Routes()


@attrs.frozen(kw_only=True)
class CloseAccount(SudoFields):
    """The body of disable and delete."""


@routes.operation(
    "POST",
    "/v1/users/@me/disable",
    policy=Policy.USER_ONLY,
    bucket=buckets.ACCOUNT_CLOSING,
    body=CloseAccount,
    answers=NOTHING,
)
async def disable_own_account(request: Request, accounts: AccountsArea, body: CloseAccount) -> None:
    """Sign out everywhere until the holder signs in again; sudo mode, without a token in the answer."""
    await accounts.account_closing.disable(request.principal.account, request.proof(body))


@routes.operation(
    "POST",
    "/v1/users/@me/delete",
    policy=Policy.USER_ONLY,
    bucket=buckets.ACCOUNT_CLOSING,
    body=CloseAccount,
    answers=NOTHING,
)
async def delete_own_account(request: Request, accounts: AccountsArea, body: CloseAccount) -> None:
    """Have the account erased, unless its holder signs in again before the date; sudo mode."""
    await accounts.account_closing.delete(request.principal.account, request.proof(body))
