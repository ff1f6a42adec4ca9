"""One change for many accounts or guilds, as a durable job (administration.md, Bulk jobs).

Each item goes the way of the single operation, with its rules, its events and its entry in the audit log, in the unit
that writes down that the item is done: so a server that ends under the job has done every item once or not at all. What
became of the items stands in the job's result: how many were done, which were skipped because there was nothing to do,
and which were refused, each with the code that the single operation would have answered.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

import attrs

from chat.auth.principal import CredentialKind, Principal
from chat.domain.administration.admin_audit_log import NO_TARGET, Acting, AdminAuditLog
from chat.domain.administration.administered_accounts import AdministeredAccounts
from chat.domain.administration.administered_deletions import AdministeredDeletions, DeletionWish
from chat.domain.administration.administered_guild_members import AdministeredGuildMembers
from chat.domain.administration.administered_guilds import AdministeredGuilds, GuildWishes
from chat.domain.administration.job_ledger import job_object
from chat.errors import ApiError, StorageUnavailable
from chat.jobs.runner import JobRun, Jobs, Progress
from chat.registries.acls import Acl
from chat.registries.admin_actions import AdminAction
from chat.registries.deletion_reasons import DeletionReason
from chat.registries.jobs import JobType
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.administration.jobs import Job
from chat.store.database import Database
from chat.store.guilds import guilds

ALREADY: Final = "ALREADY_DONE"
"""Why an item was skipped that is as it was asked for; the others carry the code of the refusal."""

Mark = Callable[[sqlite3.Connection], None]
"""In the unit that does an item: write down that it is done."""

Act = Callable[[Acting, int, Mark], Awaitable[bool]]
"""Does one item; False where there was nothing to do, and `Mark` was not called."""


class BulkJobs:
    """Orders changes of many accounts and guilds, and makes them."""

    def __init__(
        self,
        database: Database,
        orders: Jobs,
        log: AdminAuditLog,
        accounts: AdministeredAccounts,
        deletions: AdministeredDeletions,
        guilds: AdministeredGuilds,
        members: AdministeredGuildMembers,
    ) -> None:
        self._database = database
        self._orders = orders
        self._log = log
        self._accounts = accounts
        self._deletions = deletions
        self._guilds = guilds
        self._members = members
        orders.handle(JobType.UPDATE_USER_FLAGS, self._update_user_flags)
        orders.handle(JobType.UPDATE_GUILD_FEATURES, self._update_guild_features)
        orders.handle(JobType.ADD_GUILD_MEMBERS, self._add_guild_members)
        orders.handle(JobType.SCHEDULE_USER_DELETIONS, self._schedule_user_deletions)

    # Ordering

    async def order_user_flags(
        self, acting: Acting, user_ids: Sequence[int], add: Sequence[int], remove: Sequence[int]
    ) -> dict[str, Any]:
        """Order one change of flags for these accounts; the job as the ledger has it."""
        flags = {"add_flags": list(add), "remove_flags": list(remove)}
        metadata = {"user_count": len(set(user_ids)), **flags}
        return await self._order(
            acting, JobType.UPDATE_USER_FLAGS, AdminAction.BULK_UPDATE_USER_FLAGS, user_ids, flags, metadata
        )

    async def order_guild_features(
        self, acting: Acting, guild_ids: Sequence[int], add: Sequence[str], remove: Sequence[str]
    ) -> dict[str, Any]:
        """Order one change of features for these guilds; the job as the ledger has it."""
        features = {"add_features": sorted(set(add)), "remove_features": sorted(set(remove))}
        metadata = {"guild_count": len(set(guild_ids)), **features}
        return await self._order(
            acting, JobType.UPDATE_GUILD_FEATURES, AdminAction.BULK_UPDATE_GUILD_FEATURES, guild_ids, features, metadata
        )

    async def order_guild_members(self, acting: Acting, guild_id: int, user_ids: Sequence[int]) -> dict[str, Any]:
        """Order these accounts into a guild; the job as the ledger has it.

        :raises ApiError: UNKNOWN_GUILD.
        """

        def first(connection: sqlite3.Connection) -> None:
            if guilds.by_id(connection, guild_id) is None:
                raise ApiError("UNKNOWN_GUILD")

        return await self._order(
            acting,
            JobType.ADD_GUILD_MEMBERS,
            AdminAction.BULK_ADD_GUILD_MEMBERS,
            user_ids,
            {"guild_id": guild_id},
            {"user_count": len(set(user_ids))},
            target_id=guild_id,
            first=first,
        )

    async def order_user_deletions(self, acting: Acting, user_ids: Sequence[int], wish: DeletionWish) -> dict[str, Any]:
        """Order that the erasure of these accounts is scheduled; the job as the ledger has it. What is pending already
        is not replaced."""
        asked = {
            "reason_code": int(wish.reason),
            "public_reason": wish.public_reason,
            "days": wish.days,
            "notify_user": wish.notify,
        }
        metadata = {**asked, "user_count": len(set(user_ids)), "days": wish.effective_days}
        return await self._order(
            acting, JobType.SCHEDULE_USER_DELETIONS, AdminAction.BULK_SCHEDULE_DELETION, user_ids, asked, metadata
        )

    async def _order(
        self,
        acting: Acting,
        task_type: JobType,
        action: AdminAction,
        ids: Sequence[int],
        asked: Mapping[str, Any],
        metadata: Mapping[str, Any],
        *,
        target_id: int = NO_TARGET,
        first: Callable[[sqlite3.Connection], None] | None = None,
    ) -> dict[str, Any]:
        each_once = list(dict.fromkeys(ids))

        def unit(connection: sqlite3.Connection) -> Job:
            if first is not None:
                first(connection)
            job = self._orders.order_in(
                connection,
                task_type,
                {"ids": each_once, **asked},
                requested_by=acting.user_id,
                reason=acting.reason,
                total=len(each_once),
            )
            self._log.record(connection, acting, action, target_id, {"job_id": job.id, **metadata})
            return job

        return job_object(await self._database.write(unit, lambda _: self._orders.ordered()))

    # Doing

    async def _update_user_flags(self, run: JobRun) -> None:
        add, remove = run.job.payload["add_flags"], run.job.payload["remove_flags"]

        async def act(acting: Acting, user_id: int, mark: Mark) -> bool:
            await self._accounts.put_flags(acting, user_id, add, remove, mark)
            return True

        await self._each(run, act)

    async def _update_guild_features(self, run: JobRun) -> None:
        wishes = GuildWishes(
            changes_features=True,
            add_features=frozenset(run.job.payload["add_features"]),
            remove_features=frozenset(run.job.payload["remove_features"]),
        )

        async def act(acting: Acting, guild_id: int, mark: Mark) -> bool:
            await self._guilds.change(acting, guild_id, wishes, mark)
            return True

        await self._each(run, act)

    async def _add_guild_members(self, run: JobRun) -> None:
        guild_id = run.job.payload["guild_id"]

        async def act(acting: Acting, user_id: int, mark: Mark) -> bool:
            return await self._members.put(acting, guild_id, user_id, mark)

        await self._each(run, act)

    async def _schedule_user_deletions(self, run: JobRun) -> None:
        asked = run.job.payload
        reason = DeletionReason(asked["reason_code"])
        wish = DeletionWish(
            reason=reason, days=asked["days"], public_reason=asked["public_reason"], notify=asked["notify_user"]
        )

        async def act(acting: Acting, user_id: int, mark: Mark) -> bool:
            await self._deletions.put(acting, user_id, wish, mark)
            return True

        await self._each(run, act)

    async def _each(self, run: JobRun, act: Act) -> None:
        """Do what is left of the items, one after the other."""
        acting = self._on_behalf_of(run.job)
        ids: list[int] = run.job.payload["ids"]
        while (position := run.job.state.get("position", 0)) < len(ids):
            item_id = ids[position]
            outcome = _Outcome.of(run.job)

            def mark(connection: sqlite3.Connection, outcome: _Outcome = outcome, position: int = position) -> None:
                run.advance_in(connection, outcome.one_more().progress(position + 1))

            try:
                was_done = await act(acting, item_id, mark)
            except StorageUnavailable:  # no refusal of this item: the job waits, and goes on with it
                raise
            except ApiError as refusal:
                listed = outcome.skipping if refusal.code == "CONFLICT" else outcome.failing
                await self._listed(run, listed(item_id, refusal.code), position)
                continue
            if was_done:
                run.caught_up()
            else:
                await self._listed(run, outcome.skipping(item_id, ALREADY), position)

    async def _listed(self, run: JobRun, outcome: _Outcome, position: int) -> None:
        await run.step(lambda _: outcome.progress(position + 1))

    def _on_behalf_of(self, job: Job) -> Acting:
        """The administrator who ordered the job: whether they may was asked then, and is asked again with every item
        (`chat.registries.jobs`)."""
        user_id = NO_TARGET if job.requested_by_user_id is None else job.requested_by_user_id
        known = accounts.by_id(self._database.reader, user_id)
        account = Account(id=user_id, username="", discriminator=0) if known is None else known
        allowed = attrs.evolve(account, acls=(Acl.EVERYTHING,))
        return Acting(Principal(allowed, CredentialKind.SESSION), job.audit_log_reason)


@attrs.frozen
class _Outcome:
    """What became of the items so far, as the job's result has it."""

    done: int
    skipped: Sequence[Mapping[str, str]]
    failed: Sequence[Mapping[str, str]]

    @classmethod
    def of(cls, job: Job) -> _Outcome:
        """Of the items that the job has behind it."""
        result = job.result or {"done": 0, "skipped": [], "failed": []}
        return cls(result["done"], result["skipped"], result["failed"])

    def one_more(self) -> _Outcome:
        """With another item done."""
        return attrs.evolve(self, done=self.done + 1)

    def skipping(self, item_id: int, code: str) -> _Outcome:
        """With another item at which there was nothing to do."""
        return attrs.evolve(self, skipped=[*self.skipped, {"id": str(item_id), "code": code}])

    def failing(self, item_id: int, code: str) -> _Outcome:
        """With another item that was refused."""
        return attrs.evolve(self, failed=[*self.failed, {"id": str(item_id), "code": code}])

    def progress(self, position: int) -> Progress:
        """The word of it."""
        return Progress(state={"position": position}, current=position, result=attrs.asdict(self, recurse=False))
