"""Accounts that are gone: each operation that turns them away asks here (access.md, Account gates)."""

from __future__ import annotations

from chat.errors import ApiError
from chat.store.accounts.accounts import Account


def present(account: Account | None) -> Account:
    """The account, if it is not deleted.

    Nothing asks this for all operations: a session of a deleted account that is still there may read and write, but
    its password and its address are nobody's any more.

    :raises ApiError: UNAUTHORIZED for an account that does not exist, ACCESS_DENIED for a deleted one.
    """
    if account is None:
        raise ApiError("UNAUTHORIZED")
    if account.is_deleted:
        raise ApiError("ACCESS_DENIED")
    return account
