"""Posts: the threads of forums and media channels, which begin with a message, and their tags (threads.md, Posts and
tags). The thread, its owner's membership and the message come together or not at all; the
message has the thread's id.
"""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Callable, Sequence

from chat import wire
from chat.auth.principal import Principal
from chat.bus.bus import Event
from chat.classes import define
from chat.domain.core import Core
from chat.domain.messages.message_drafts import MessageDraft, Sender
from chat.domain.messages.message_sending import MessageSending
from chat.domain.standing.access import GuildChannelAccess
from chat.domain.standing.audit_log import Actor, AuditLog, entry_created
from chat.domain.standing.thread_access import MANAGE_THREADS, ThreadAccess
from chat.domain.standing.thread_objects import KnownThread, thread_created, thread_object
from chat.domain.threads.threads import NewThread, open_thread, present_thread, record_thread, thread_to_be
from chat.errors import ApiError
from chat.registries.audit_actions import AuditAction
from chat.registries.channel_types import THREAD_ONLY_CHANNEL_TYPES, ChannelFlag, ChannelType
from chat.registries.error_codes import ErrorCode
from chat.store import threads
from chat.store.guilds import channels
from chat.store.guilds.channels import NO_FORUM, Channel
from chat.store.standing.guild_audit_log import AuditLogEntry
from chat.store.threads import Thread, ThreadMember


def require_tags(
    forum: Channel,
    wanted: Sequence[int],
    *,
    before: Sequence[int] = (),
    moderates: bool = False,
    unmoderated: Callable[[ErrorCode], ApiError] = ApiError,
) -> None:
    """Check that a post may have these tags instead of those that it had before. `unmoderated` makes what refuses one
    who does not manage threads (`ChannelAccess.lacking`).

    :raises ApiError: UNKNOWN_FORUM_TAG; MISSING_PERMISSIONS or TWO_FACTOR_REQUIRED for giving or taking a moderated tag
        without managing threads; FORUM_TAG_REQUIRED where the forum asks for one, NO_TAGS_AVAILABLE_TO_NON_MODERATORS
        where all of them are moderated.
    """
    known = {tag.id: tag for tag in (forum.forum or NO_FORUM).tags}
    if any(tag_id not in known and tag_id not in before for tag_id in wanted):
        raise ApiError(ErrorCode.UNKNOWN_FORUM_TAG)
    differing = set(wanted) ^ set(before)
    if not moderates and any(known[tag_id].moderated for tag_id in differing if tag_id in known):
        raise unmoderated(ErrorCode.MISSING_PERMISSIONS)
    if forum.flags & ChannelFlag.REQUIRE_TAG.value and known and not wanted:
        if not moderates and all(tag.moderated for tag in known.values()):
            raise unmoderated(ErrorCode.NO_TAGS_AVAILABLE_TO_NON_MODERATORS)
        raise ApiError(ErrorCode.FORUM_TAG_REQUIRED)


@define(eq=False)
class PostOpening:
    """Makes a post in the unit of its first message (`chat.domain.messages.thread_writing.Opening`)."""

    forum: Channel
    thread: Thread
    own: ThreadMember | None
    """The author's membership; None for a webhook."""
    moderates: bool
    unmoderated: Callable[[ErrorCode], ApiError]
    audit_log: AuditLog
    actor: Actor | None
    """Whom the audit log names; None for a webhook."""
    _entry: AuditLogEntry | None = None
    _known: KnownThread | None = None

    @property
    def slowmode_channel(self) -> Channel:
        """The forum's slow mode counts: a post is what is written in it."""
        return self.forum

    def write(self, connection: sqlite3.Connection) -> None:
        """In the unit, before the message: make the thread.

        :raises ApiError: UNKNOWN_CHANNEL when the forum is gone; as `require_tags` and `open_thread`.
        """
        forum = channels.by_id(connection, self.forum.id)
        if forum is None or forum.guild_id is None:
            raise ApiError(ErrorCode.UNKNOWN_CHANNEL)
        require_tags(forum, self.thread.applied_tags, moderates=self.moderates, unmoderated=self.unmoderated)
        open_thread(connection, self.thread, self.own)

    def written(self, connection: sqlite3.Connection) -> KnownThread:
        """In the unit, after the message: the thread as it is now. What opens it does not count as written in it."""
        threads.discount_first(connection, self.thread.id)
        thread = present_thread(connection, self.thread.id)
        if self.actor is not None:
            self._entry = record_thread(connection, self.audit_log, AuditAction.THREAD_CREATE, self.actor, None, thread)
        self._known = KnownThread(thread, None)
        return self._known

    def events(self, known: KnownThread) -> list[Event]:
        """What is told of the thread, before its first message."""
        told = thread_created(known, self.own)
        return told if self._entry is None else [*told, entry_created(self._entry)]

    def made(self) -> Thread:
        """After the commit: the thread."""
        assert self._known is not None, "the unit ran"  # noqa: S101
        return self._known.thread


@define(kw_only=True, eq=False)
class Posts:
    _core: Core
    _sending: MessageSending

    def takes_posts(self, principal: Principal, channel_id: int) -> bool:
        """Whether the channel is a forum or a media channel.

        :raises ApiError: as `Access.guild_channel`.
        """
        return self._core.access.guild_channel(principal, channel_id).channel.type in THREAD_ONLY_CHANNEL_TYPES

    async def create(
        self, principal: Principal, channel_id: int, new: NewThread, draft: MessageDraft, reason: str | None = None
    ) -> wire.Thread | wire.Post:
        """Make a post; gives the thread object with `message`, its first.

        :raises ApiError: as `Access.guild_channel` and `MessageSending.create`, SEND_MESSAGES being the right to make
            posts; INVALID_CHANNEL_TYPE outside of forums, MAX_ACTIVE_THREADS; as `require_tags`.
        :raises InvalidFormBody: as `MessageSending.create`.
        """
        forum = self._core.access.guild_channel(principal, channel_id)
        moderates = forum.may(MANAGE_THREADS) and forum.may_moderate
        actor = Actor(principal.user_id, reason)
        access, opening = self._opening(forum, new, principal.user_id, moderates=moderates, actor=actor)
        message = await self._sending.post(principal, access, draft, opening)
        members = [] if opening.own is None else [opening.own.user_id]
        return {**thread_object(opening.made(), own=opening.own, member_ids=members), "message": message}

    async def create_of_webhook(
        self, sender: Sender, forum: GuildChannelAccess, new: NewThread, draft: MessageDraft
    ) -> wire.Message:
        """Make a post as a webhook of the forum; gives the message.

        :raises ApiError: as `MessageSending.create_of_webhook`; otherwise as `create`.
        :raises InvalidFormBody: as `create`.
        """
        access, opening = self._opening(forum, new, sender.id, moderates=False, actor=None)
        return await self._sending.post_of_webhook(sender, access, draft, opening)

    def _opening(
        self, forum: GuildChannelAccess, new: NewThread, owner_id: int, *, moderates: bool, actor: Actor | None
    ) -> tuple[ThreadAccess, PostOpening]:
        if forum.channel.type not in THREAD_ONLY_CHANNEL_TYPES:
            raise ApiError(ErrorCode.INVALID_CHANNEL_TYPE)
        self._core.blocked.require_text(new.name)
        thread_id, now = self._core.snowflakes(), self._core.clock.now_ms()
        thread = thread_to_be(forum.channel, ChannelType.PUBLIC_THREAD, thread_id, owner_id, new, now)
        own = None if actor is None else ThreadMember(thread_id, owner_id, now)
        # Until there is a thread to write in, the right to write in the forum is that to make posts.
        access = ThreadAccess(
            owner_id,
            thread.channel,
            forum.permissions,
            forum.state,
            forum.member,
            thread,
            own,
            frozenset(),
            has_factor=forum.has_factor,
        )
        lacking = functools.partial(forum.lacking, MANAGE_THREADS) if actor is not None else ApiError
        return access, PostOpening(forum.channel, thread, own, moderates, lacking, self._core.audit_log, actor)
