"""Messages from the instance itself to accounts, one or many, as durable jobs (administration.md, Messages from the
instance).

They come from the instance's own account: a bot without an owner, with the system mark, made with the first of them.
People's settings of who may write to them do not concern it, nor does `direct_messages_disabled`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any, Final

from chat import wire
from chat.classes import define, frozen
from chat.domain.administration.admin_audit_log import Acting, AdminAuditLog
from chat.domain.core import Core
from chat.domain.messages.message_drafts import require_content
from chat.domain.messages.message_events import SystemMessages, WrittenMessage
from chat.domain.policy.profiles import Usernames
from chat.domain.standing.private_channels import PrivateChannels
from chat.jobs import JobRun, Jobs, Progress
from chat.registries.admin_actions import AdminAction
from chat.registries.jobs import JobType
from chat.registries.message_types import MessageType
from chat.store.accounts import accounts
from chat.store.accounts.accounts import Account
from chat.store.administration import instance
from chat.store.administration.jobs import Job
from chat.store.messages.messages import Message
from chat.store.standing import private_channels
from chat.store.standing.private_channels import PrivateChannel

CONTENT_CHARACTERS: Final = 4_000

BATCH_ACCOUNTS: Final = 25
"""Accounts that one step writes to: some milliseconds of the writer's time."""

ACCOUNT: Final = "system_account"
"""The instance's value with the id of its account."""

USERNAME: Final = "system"


@frozen
class _Sent:
    """The message that was sent to one account, and its conversation."""

    private: PrivateChannel
    sender_id: int
    written: WrittenMessage


@define(kw_only=True, eq=False)
class SystemDms:
    _core: Core
    _usernames: Usernames
    _conversations: PrivateChannels
    _system_messages: SystemMessages
    _orders: Jobs
    _log: AdminAuditLog

    def __attrs_post_init__(self) -> None:
        self._orders.handle(JobType.SYSTEM_DM, self.run)

    async def order(self, acting: Acting, content: str, user_ids: Sequence[int] | None) -> wire.SystemDmOrdered:
        """Order a message to these accounts, or to all accounts of people that there are now; none is looked up yet.
        Raises CANNOT_SEND_EMPTY_MESSAGE; CONTENT_EXCEEDS_MAX_LENGTH at `content`."""
        require_content(content, CONTENT_CHARACTERS)
        listed = None if user_ids is None else list(dict.fromkeys(user_ids))
        if listed is None:
            last_id, requested = await self._core.database.read(
                lambda connection: (accounts.newest_person(connection), accounts.count_people(connection))
            )
            payload: dict[str, object] = {"content": content, "last_id": last_id}
        else:
            requested, payload = len(listed), {"content": content, "user_ids": listed}

        def unit(connection: sqlite3.Connection) -> Job:
            job = self._orders.order_in(
                connection,
                JobType.SYSTEM_DM,
                payload,
                requested_by=acting.user_id,
                reason=acting.reason,
                total=requested,
            )
            metadata: dict[str, object] = {"job_id": job.id, "requested_count": requested, "everyone": listed is None}
            if listed is not None and len(listed) == 1:
                metadata["user_id"] = listed[0]
            self._log.record(connection, acting, AdminAction.SEND_SYSTEM_DM, job.id, metadata)
            return job

        job = await self._core.database.write(unit, lambda _: self._orders.ordered(), guard=acting.guard)
        return {"job_id": str(job.id), "requested": requested}

    async def run(self, run: JobRun) -> None:
        """Deliver one order, some accounts at a step."""
        left = run.job.result is None  # or a server ended between the last step and the end of the job
        while left:
            await self._core.bus.wait_for_room()
            left = await self._step(run)

    async def _step(self, run: JobRun) -> bool:
        """Write to the next accounts; whether there were any."""
        sent: list[_Sent] = []
        seen: list[int] = []

        def unit(connection: sqlite3.Connection) -> Progress:
            sent.clear()
            seen.clear()
            state = run.job.state
            position = state.get("position", 0)
            batch = _next(connection, run.job.payload, position)
            seen.extend(batch)
            if not batch:
                done = {"sent": state.get("sent", 0), "skipped": state.get("skipped", 0)}
                return Progress(current=run.job.progress_total, result=done)
            sender = self._sender(connection)
            for user_id in batch:
                written = self._write(connection, sender, user_id, run.job.payload["content"])
                if written is not None:
                    sent.append(written)
            return Progress(
                state={
                    "position": batch[-1] if "last_id" in run.job.payload else position + len(batch),
                    "sent": state.get("sent", 0) + len(sent),
                    "skipped": state.get("skipped", 0) + len(batch) - len(sent),
                },
                current=run.job.progress_current + len(batch),
            )

        def then() -> None:
            for one in sent:
                access = self._conversations.access(one.private, one.sender_id)
                self._system_messages.publish(access, one.written)

        await run.step(unit, then)
        return bool(seen)

    def _write(self, connection: sqlite3.Connection, sender: Account, user_id: int, content: str) -> _Sent | None:
        """Write to one account; None for one that is not there, and for bots, who are not written to."""
        recipient = accounts.by_id(connection, user_id)
        if recipient is None or recipient.bot or recipient.is_deleted:
            return None
        private = private_channels.between(connection, sender.id, user_id)
        if private is None:
            private = private_channels.insert_direct(connection, self._core.snowflakes(), sender.id, user_id)
        message = Message(
            id=self._core.snowflakes(),
            channel_id=private.channel.id,
            author_id=sender.id,
            type=MessageType.DEFAULT.value,
            content=content,
        )
        written = self._system_messages.write(connection, message, recipients=(user_id,), notified=(user_id,))
        return None if written is None else _Sent(private, sender.id, written)

    def _sender(self, connection: sqlite3.Connection) -> Account:
        """The instance's own account, made where there is none yet."""
        known = instance.value_of(connection, ACCOUNT)
        account = None if known is None else accounts.by_id(connection, int(known))
        if account is not None and not account.is_deleted:
            return account
        username, number = self._usernames.allocate_like(connection, USERNAME, bot=True)
        made = Account(
            id=self._core.snowflakes(),
            username=username,
            discriminator=number,
            global_name=self._core.settings.service_name[:32],
            email_verified=True,
            bot=True,
            system=True,
            created_at=self._core.clock.now_ms(),
        )
        accounts.insert(connection, made)
        instance.set_value(connection, ACCOUNT, str(made.id))
        return made


def _next(connection: sqlite3.Connection, payload: Any, position: int) -> list[int]:
    """The accounts that are next: of the list from its position on, of all accounts those with higher ids."""
    if "user_ids" in payload:
        listed: list[int] = payload["user_ids"][position : position + BATCH_ACCOUNTS]
        return listed
    return accounts.people_between(connection, position, payload["last_id"], BATCH_ACCOUNTS)
