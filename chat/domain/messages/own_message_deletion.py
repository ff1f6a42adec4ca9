"""Deleting everything that an account has written, everywhere: at once, or a day after it was asked for (messages.md,
Deletion of everything written).

The moment stands with the account, so a restart goes on where an earlier process was. What is written after that moment
stays. Cancelling, by the holder or by an administrator, takes effect between two batches.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import partial
from typing import Final

import attrs
import structlog
import trio

from chat import wire
from chat.auth.principal import Principal
from chat.classes import frozen
from chat.domain.core import Core
from chat.domain.messages.message_deletion import RemovedMessages, announce_removed, remove_messages
from chat.domain.policy.due_work import DueWork
from chat.domain.policy.errands import Errand, State
from chat.domain.signing_in.sudo import SudoMode, SudoProof
from chat.domain.standing.thread_access import ChannelWitness
from chat.domain.standing.user_objects import pending_deletion
from chat.errors import ApiError
from chat.registries.error_codes import ErrorCode
from chat.registries.jobs import ErrandKind
from chat.registries.limits import OWN_MESSAGE_DELETION_DELAY_MS
from chat.snowflake import snowflake_at
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.guard import UNGUARDED
from chat.store.messages import author_messages

BATCH_MESSAGES: Final = 100
"""Messages that one transaction deletes, and that one event names."""

log: Final = structlog.get_logger("chat.messages")


@frozen
class _Batch:
    """The messages that a step deleted; or, when nothing was left, the account before and after its scheduled deletion
    was removed."""

    removed: RemovedMessages | None = None
    before: Account | None = None
    after: Account | None = None


class OwnMessageDeletion(DueWork):
    """The operations that schedule, cancel and carry out such a deletion."""

    NAME = "messages to be deleted"
    LOOK_SECONDS = 3_600.0

    def __init__(self, core: Core, witness: ChannelWitness, sudo: SudoMode) -> None:
        self._core = core
        super().__init__(core.clock)
        self._witness = witness
        self._sudo = sudo
        core.errands.handle(ErrandKind.DELETE_OWN_MESSAGES, self._delete_now)

    async def schedule(self, principal: Principal, proof: SudoProof) -> wire.PendingMessageDeletion:
        """Have everything deleted that the caller has written by the moment DELAY_MS from now; a second time takes the
        place of the first. Returns that moment, and how much it is now.

        :raises ApiError: SUDO_MODE_REQUIRED.
        :raises InvalidFormBody: for a wrong proof.
        """
        await self._sudo.require(principal.account, proof)
        user_id = principal.user_id
        number, channels = await self._core.database.read(partial(author_messages.count_of_author, author_id=user_id))
        due_at = self._clock.now_ms() + OWN_MESSAGE_DELETION_DELAY_MS
        after = await self._change(principal, lambda account: _with_wish(account, due_at, number, channels))
        log.info("deletion of own messages scheduled", user_id=user_id, messages=number)
        pending = pending_deletion(after)
        assert pending is not None, "it was written just now"  # noqa: S101
        return pending

    async def cancel(self, principal: Principal) -> None:
        """Cancel a scheduled deletion, if there is one. What is deleted stays deleted."""
        if principal.account.pending_bulk_message_deletion_at is not None:
            await self._change(principal, without_wish)

    async def delete_now(self, principal: Principal, proof: SudoProof) -> None:
        """Delete everything that the caller has written; returns once it is gone. What is written meanwhile stays.

        :raises ApiError: SUDO_MODE_REQUIRED.
        :raises InvalidFormBody: for a wrong proof.
        """
        await self._sudo.require(principal.account, proof)
        user_id = principal.user_id
        last_id = await self._core.database.read(partial(author_messages.last_of_author, author_id=user_id))
        state = {"user_id": user_id, "last_id": last_id}
        await self._core.errands.do(ErrandKind.DELETE_OWN_MESSAGES, state, guard=principal.guard)

    async def _delete_now(self, errand: Errand) -> None:
        def portion(connection: sqlite3.Connection, state: State) -> tuple[State | None, _Batch]:
            removed = _remove_some(connection, state["user_id"], state["last_id"])
            return (None if removed is None else state), _Batch(removed)

        while not errand.is_over:
            await errand.step(portion, self._announce)
            await trio.lowlevel.checkpoint()

    async def _change(self, principal: Principal, change: Callable[[Account], Account]) -> Account:
        def unit(connection: sqlite3.Connection) -> tuple[Account, Account]:
            before = accounts.by_id(connection, principal.user_id)
            if before is None:
                raise ApiError(ErrorCode.UNAUTHORIZED)
            after = change(before)
            accounts.replace(connection, after)
            return before, after

        def then(changed: tuple[Account, Account]) -> None:
            self._core.account_events.changed(*changed)
            self.look_again()

        _, after = await self._core.database.write(unit, then, guard=principal.guard)
        return after

    # Carrying out

    async def _work(self) -> None:
        for user_id in accounts.with_bulk_deletion_due(self._core.database.reader, self._clock.now_ms()):
            await self.fulfil(user_id)

    def _next_due(self) -> int | None:
        return accounts.next_bulk_deletion(self._core.database.reader)

    async def fulfil(self, user_id: int, *, at_once: bool = False) -> None:
        """Carry out the account's scheduled deletion if it is due, or `at_once` for an account that goes before. Can
        be broken off and begun again."""

        def unit(connection: sqlite3.Connection) -> _Batch:
            account = accounts.by_id(connection, user_id)
            due_at = None if account is None else account.pending_bulk_message_deletion_at
            if account is None or due_at is None or not (at_once or due_at <= self._clock.now_ms()):
                return _Batch()  # cancelled, or put off
            removed = None if account.is_deleted else _remove_some(connection, user_id, snowflake_at(due_at) - 1)
            if removed is not None:
                return _Batch(removed)
            after = without_wish(account)
            accounts.replace(connection, after)
            return _Batch(None, account, after)

        while (await self._core.database.write(unit, self._announce, guard=UNGUARDED)).removed is not None:
            await trio.lowlevel.checkpoint()

    def _announce(self, batch: _Batch) -> None:
        access = None if batch.removed is None else self._witness.of(batch.removed.channel_id)
        if batch.removed is not None and access is not None:
            announce_removed(self._core.bus, access, batch.removed)
        if batch.before is not None and batch.after is not None:
            log.info("own messages deleted", user_id=batch.after.id)
            self._core.account_events.changed(batch.before, batch.after)


def without_wish(account: Account) -> Account:
    """The account without a scheduled deletion."""
    return _with_wish(account, None, 0, 0)


def _with_wish(account: Account, due_at: int | None, number: int, channels: int) -> Account:
    return attrs.evolve(
        account, pending_bulk_message_deletion_at=due_at, bulk_deletion_channels=channels, bulk_deletion_messages=number
    )


def _remove_some(connection: sqlite3.Connection, user_id: int, last_id: int) -> RemovedMessages | None:
    batch = author_messages.next_of_author(connection, user_id, last_id, BATCH_MESSAGES)
    return None if batch is None else remove_messages(connection, *batch)
