"""The erasure of accounts whose deadline has come (accounts.md, Erasure).

It is a durable job, scheduled by an administrator or the holder. First the account itself goes, in one step: no client
gets in any more, its names are free, and what it wrote has a deleted author. Then everything that is there because of
it is deleted in portions. Each step asks the store what is left, so the job may be broken off anywhere and begun
again. There is no step without something to do, so each start of the server gets
further.

What others hold stays: messages, and the other side of conversations, under the deleted-account representation
(accounts.md, User objects); the records of moderators. A bot is erased likewise, with the application's owner.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Final, TypeVar

import attrs
import structlog
import trio

from chat.bus.audience import ToAccounts
from chat.bus.bus import Event
from chat.classes import define, frozen
from chat.domain.core import Core
from chat.domain.guilds.guild_ownership import GuildSuccession, Succession
from chat.domain.guilds.memberships import Departure, Memberships
from chat.domain.messages.own_message_deletion import OwnMessageDeletion
from chat.domain.people.groups import GroupDeparture, Groups
from chat.domain.policy.due_work import DueWork
from chat.domain.standing.relationships import Change, Relationships, neither_side
from chat.jobs import JobRun, Jobs, Progress
from chat.registries.channel_types import ChannelType
from chat.registries.events import EventName
from chat.registries.jobs import JobType
from chat.registries.user_flags import UserFlag
from chat.store.accounts import account_deletions, accounts, user_settings
from chat.store.accounts.account_deletions import AccountDeletion
from chat.store.accounts.accounts import Account
from chat.store.administration import account_erasure, jobs
from chat.store.applications import applications
from chat.store.guard import UNGUARDED
from chat.store.guilds import channels, members
from chat.store.imports import placeholders
from chat.store.standing import private_channels, relationships

T = TypeVar("T")

log: Final = structlog.get_logger("chat.accounts")

PEOPLE_AT_ONCE: Final = 100
"""Relationships, notes and conversations of one step."""

MESSAGES_AT_ONCE: Final = 500
"""Messages to oneself that one step deletes."""

ROUNDS: Final = 5
"""How often everything is gone through at most, should something have come back meanwhile."""


KEPT_FLAGS: Final = int(UserFlag.SELF_DELETED)
"""The flags that an erased account keeps, beside the one that marks it as deleted."""


def erased(account: Account) -> Account:
    """The account without a holder: what it wrote and did keeps an author. No account can ask for its tag."""
    return Account(
        id=account.id,
        username=f"deleted-{account.id}",
        discriminator=0,
        bot=account.bot,
        system=account.system,
        flags=int(UserFlag.DELETED) | (account.flags & KEPT_FLAGS),
        created_at=account.created_at,
    )


@frozen
class _ErasureStage:
    """One of STAGES, for the job's account or for a bot that the account owns."""

    run: JobRun
    account_id: int
    progress: Progress

    async def step(
        self, unit: Callable[[sqlite3.Connection], T | None], then: Callable[[T], None] | None = None
    ) -> T | None:
        """A step of the job; `then` is told what `unit` came to, if anything, after the commit."""
        outcome: list[T | None] = []

        def whole(connection: sqlite3.Connection) -> Progress:
            outcome[:] = [unit(connection)]
            return self.progress

        def told() -> None:
            if then is not None and outcome[0] is not None:
                then(outcome[0])

        await self.run.step(whole, told)
        return outcome[0]


@define(eq=False)
class AccountErasure(DueWork):
    """Orders erasures when they are due, and does them."""

    NAME = "erasures"
    LOOK_SECONDS = 300.0
    """Deadlines are days away; they are set without telling."""

    _core: Core
    _orders: Jobs
    _own_messages: OwnMessageDeletion
    _succession: GuildSuccession
    _memberships: Memberships
    _groups: Groups
    _relationships: Relationships
    _begun_too: bool = attrs.field(default=True, init=False)
    """At first what was begun and given up is ordered as well."""

    def __attrs_post_init__(self) -> None:
        super().__init__(self._core.clock)
        self._orders.handle(JobType.ACCOUNT_ERASURE, self.erase)

    # Ordering

    async def _work(self) -> None:
        await self._order(begun_too=self._begun_too)
        self._begun_too = False

    def _next_due(self) -> int | None:
        # What is due already has its job by now, which may wait for its turn.
        return account_deletions.next_due(self._core.database.reader, self._clock.now_ms())

    async def _order(self, *, begun_too: bool) -> None:
        now = self._clock.now_ms()

        def unit(connection: sqlite3.Connection) -> None:
            for deletion in account_deletions.due(connection, now, begun_too=begun_too):
                if jobs.unfinished_about(connection, deletion.user_id, JobType.ACCOUNT_ERASURE) is None:
                    self._orders.order_in(
                        connection,
                        JobType.ACCOUNT_ERASURE,
                        {"user_id": deletion.user_id},
                        subject_id=deletion.user_id,
                        requested_by=deletion.scheduled_by,
                        reason=deletion.audit_log_reason,
                        total=len(STAGES),
                    )

        if account_deletions.due(self._core.database.reader, now, begun_too=begun_too):
            await self._core.database.write(unit, lambda _: self._orders.ordered(), guard=UNGUARDED)

    # Doing

    async def erase(self, run: JobRun) -> None:
        """Erase the account of a job, unless its deletion was taken back. Raises RuntimeError when something of it
        comes back again and again; the job is tried again later."""
        user_id: int = run.job.payload["user_id"]
        if self._is_to_go(account_deletions.of_user(self._core.database.reader, user_id)):
            await self._own_messages.fulfil(user_id, at_once=True)  # a wish from when the account was in use
        if not await self._begin(run, user_id):
            return
        for _ in range(ROUNDS):
            await self._go_through(run, user_id)
            if await self._finish(run, user_id):
                log.info("account erased", user_id=user_id)
                return
        raise RuntimeError("there is always something left of the account")

    async def _begin(self, run: JobRun, user_id: int) -> bool:
        """Record that the erasure has begun and can no longer be cancelled; False if it was cancelled before."""
        known = account_deletions.of_user(self._core.database.reader, user_id)
        if known is not None and known.erasure_started_at is not None:
            return known.erased_at is None

        def unit(connection: sqlite3.Connection) -> Progress:
            deletion = account_deletions.of_user(connection, user_id)
            if deletion is None or not self._is_to_go(deletion):
                return Progress(result={"outcome": "not_due"})
            if deletion.erasure_started_at is None:
                begun = attrs.evolve(deletion, erasure_started_at=self._clock.now_ms())
                account_deletions.put(connection, begun)
                for placeholder_id in placeholders.of_claimant(connection, user_id):  # the same person's old name
                    if account_deletions.of_user(connection, placeholder_id) is None:
                        own = attrs.evolve(deletion, user_id=placeholder_id, due_at=self._clock.now_ms())
                        account_deletions.put(connection, own)
            return Progress(result={"outcome": "begun"})

        await run.step(unit)
        return run.job.result == {"outcome": "begun"}

    def _is_to_go(self, deletion: AccountDeletion | None) -> bool:
        if deletion is None or deletion.erased_at is not None:
            return False
        return deletion.erasure_started_at is not None or deletion.due_at <= self._clock.now_ms()

    async def _go_through(self, run: JobRun, user_id: int) -> None:
        for position, (name, do) in enumerate(STAGES.items(), start=1):
            await do(self, _ErasureStage(run, user_id, Progress(current=position, total=len(STAGES), message=name)))

    async def _empty(self, stage: _ErasureStage) -> None:
        """Empty the account: no client can sign in, its names are free, and it shows as a deleted account."""
        reader = self._core.database.reader
        known = accounts.by_id(reader, stage.account_id)
        is_empty = known is None or known == erased(known)
        if is_empty and not account_erasure.has_credentials(reader, stage.account_id):
            return

        def unit(connection: sqlite3.Connection) -> list[Account]:
            account_erasure.delete_credentials(connection, stage.account_id)
            before = accounts.by_id(connection, stage.account_id)
            if before is None or before == erased(before):
                return []
            account_erasure.delete_mails(connection, before)
            accounts.replace(connection, erased(before))
            return [before]

        def then(changed: list[Account]) -> None:
            self._core.account_events.signed_out(stage.account_id)
            for before in changed:
                self._core.account_events.changed(before, erased(before))

        await stage.step(unit, then)

    async def _end_applications(self, stage: _ErasureStage) -> None:
        """Erase the bots of the account as it is erased itself, and delete their applications."""
        while (found := account_erasure.an_application(self._core.database.reader, stage.account_id)) is not None:
            application_id, bot_id = found
            if bot_id is not None:
                for do in list(STAGES.values())[:-1]:
                    await do(self, attrs.evolve(stage, account_id=bot_id))

            def unit(connection: sqlite3.Connection, application_id: int = application_id) -> None:
                applications.delete(connection, application_id)

            await stage.step(unit)

    async def _pass_guilds_on(self, stage: _ErasureStage) -> None:
        while (guild_id := account_erasure.owned_guild(self._core.database.reader, stage.account_id)) is not None:
            successor_id = await self._succession.successor(guild_id, stage.account_id)

            def unit(
                connection: sqlite3.Connection, guild_id: int = guild_id, successor_id: int | None = successor_id
            ) -> Succession | None:
                return self._succession.pass_on(connection, guild_id, stage.account_id, successor_id)

            await stage.step(unit, self._succession.announce)

    async def _leave_guilds(self, stage: _ErasureStage) -> None:
        while (guild_id := account_erasure.a_guild(self._core.database.reader, stage.account_id)) is not None:

            def unit(connection: sqlite3.Connection, guild_id: int = guild_id) -> Departure | None:
                account = accounts.by_id(connection, stage.account_id)
                if account is None or not members.exists(connection, guild_id, stage.account_id):
                    return None
                return self._memberships.depart(connection, guild_id, account)

            await stage.step(unit, self._memberships.announce_departure)

    async def _leave_groups(self, stage: _ErasureStage) -> None:
        while (channel_id := account_erasure.a_group(self._core.database.reader, stage.account_id)) is not None:

            def unit(connection: sqlite3.Connection, channel_id: int = channel_id) -> GroupDeparture | None:
                return self._groups.depart(connection, channel_id, stage.account_id)

            await stage.step(unit, self._groups.announce_departure)

    async def _end_relationships(self, stage: _ErasureStage) -> None:
        """End what the account has with others, and what they have with it, blocks too."""

        def unit(connection: sqlite3.Connection) -> list[Change]:
            changes: list[Change] = []
            for other_id, is_theirs in account_erasure.related(connection, stage.account_id, PEOPLE_AT_ONCE):
                pair = (other_id, stage.account_id) if is_theirs else (stage.account_id, other_id)
                changes += neither_side(connection, *pair)
            return changes

        while relationships.are_there(self._core.database.reader, stage.account_id):
            await stage.step(unit, self._relationships.publish)

    async def _delete_notes_of_others(self, stage: _ErasureStage) -> None:
        def unit(connection: sqlite3.Connection) -> list[int]:
            found = account_erasure.authors_of_notes_about(connection, stage.account_id, PEOPLE_AT_ONCE)
            for author_id in found:
                user_settings.delete_note(connection, author_id, stage.account_id)
            return found

        def then(author_ids: list[int]) -> None:
            data = {"id": str(stage.account_id), "note": ""}
            for author_id in author_ids:
                self._core.bus.publish(Event(EventName.USER_NOTE_UPDATE, data, ToAccounts((author_id,))))

        while account_erasure.authors_of_notes_about(self._core.database.reader, stage.account_id, 1):
            await stage.step(unit, then)

    async def _leave_conversations(self, stage: _ErasureStage) -> None:
        """The notes to oneself go, and conversations whose other side is gone too; the others are left to it."""
        reader = self._core.database.reader
        if _is_private(reader, stage.account_id):
            await self._delete_conversation(stage, stage.account_id)
        while found := account_erasure.conversations(reader, stage.account_id, PEOPLE_AT_ONCE):

            def unit(connection: sqlite3.Connection, found: list[tuple[int, bool]] = found) -> None:
                for channel_id, is_left_to_other in found:
                    if is_left_to_other:
                        account_erasure.hide_conversation(connection, channel_id, stage.account_id)

            if any(is_left_to_other for _, is_left_to_other in found):
                await stage.step(unit)
            for channel_id, is_left_to_other in found:
                if not is_left_to_other:
                    await self._delete_conversation(stage, channel_id)

    async def _delete_conversation(self, stage: _ErasureStage, channel_id: int) -> None:
        """Delete a conversation. If the server ends between detaching and emptying it, the sweep of deleted guilds'
        channels finishes it."""

        def cut(connection: sqlite3.Connection) -> bool:
            if not _is_private(connection, channel_id):
                return False
            account_erasure.part(connection, channel_id)
            channels.cut_group_loose(connection, channel_id)
            return True

        was_there = await stage.step(cut)
        while was_there and await stage.step(
            lambda connection: channels.sweep_channel(connection, channel_id, MESSAGES_AT_ONCE)
        ):
            await trio.lowlevel.checkpoint()

    async def _delete_own_rows(self, stage: _ErasureStage) -> None:
        while account_erasure.has_own_rows(self._core.database.reader, stage.account_id):
            await stage.step(lambda connection: account_erasure.delete_own_rows(connection, stage.account_id))

    async def _clean_search_index(self, stage: _ErasureStage) -> None:
        """Take the words of the old name out of the index, unless an erasure that waits will do it for both."""
        is_first = True
        while not stage.run.job.state.get("is_clean") and not jobs.any_waits(
            self._core.database.reader, JobType.ACCOUNT_ERASURE
        ):
            await stage.run.step(partial(_clean_some, stage.progress, first=is_first))
            is_first = False

    async def _finish(self, run: JobRun, user_id: int) -> bool:
        """Write down that nothing is left; False where something is."""

        def unit(connection: sqlite3.Connection) -> Progress:
            deletion, account = account_deletions.of_user(connection, user_id), accounts.by_id(connection, user_id)
            if account_erasure.is_anything_left(connection, user_id) or (account and account != erased(account)):
                return Progress()
            account_erasure.forget_bot(connection, user_id)
            if deletion is not None:
                account_deletions.put(connection, attrs.evolve(deletion, erased_at=self._clock.now_ms()))
            return Progress(result={"outcome": "erased"}, message="")

        await run.step(unit)
        return run.job.result == {"outcome": "erased"}


STAGES: Final[Mapping[str, Callable[[AccountErasure, _ErasureStage], Awaitable[None]]]] = {
    "account": AccountErasure._empty,
    "applications": AccountErasure._end_applications,
    "owned guilds": AccountErasure._pass_guilds_on,
    "memberships": AccountErasure._leave_guilds,
    "groups": AccountErasure._leave_groups,
    "relationships": AccountErasure._end_relationships,
    "notes of others": AccountErasure._delete_notes_of_others,
    "conversations": AccountErasure._leave_conversations,
    "own rows": AccountErasure._delete_own_rows,
    "search index": AccountErasure._clean_search_index,
}
"""The stages in their order, with the names that the ledger shows. The last one runs once for an account and its
bots."""


def _is_private(connection: sqlite3.Connection, channel_id: int) -> bool:
    """Whether the channel is a conversation of two accounts, or an account's personal notes."""
    private = private_channels.by_id(connection, channel_id)
    return private is not None and private.channel.type in (ChannelType.DM, ChannelType.DM_PERSONAL_NOTES)


def _clean_some(progress: Progress, connection: sqlite3.Connection, *, first: bool) -> Progress:
    is_clean = not account_erasure.merge_search_index(connection, first=first)
    return attrs.evolve(progress, state={"is_clean": is_clean})
