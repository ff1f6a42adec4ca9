"""Messages of the last days that mention an account, which it can take off that list (messages.md, Kept messages;
conventions of the field)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, Final

import attrs

from chat.auth.principal import Principal
from chat.bus.audience import ToAccounts
from chat.bus.bus import Event
from chat.domain.core import Core
from chat.domain.messages.readable_messages import Readable, readable_messages
from chat.registries.events import EventName
from chat.snowflake import snowflake_at
from chat.store.messages import recent_mentions
from chat.store.messages.recent_mentions import Mention, MentionFilter

RECENT_MS: Final = 7 * 86_400_000
"""How long a mention stands on the list."""

ROUNDS: Final = 10
"""How often to look for more where the account does not see what was found; each time a full batch."""

BATCH: Final = 100


@attrs.define(kw_only=True, eq=False)
class RecentMentions:
    """The operations on recent mentions."""

    _core: Core

    async def list(self, principal: Principal, sought: MentionFilter, limit: int) -> list[dict[str, Any]]:
        """The newest messages that mention the caller and that it may read, at most `limit`."""
        readable = Readable(self._core.access, principal)
        sought, wanted = self._recent(sought), []
        for _ in range(ROUNDS):
            batch = await self._find(principal.user_id, sought)
            wanted += [mention.message_id for mention in batch if readable(mention.channel_id, mention.message_id)]
            if len(batch) < BATCH or len(wanted) >= limit:
                break
            sought = attrs.evolve(sought, before=batch[-1].message_id)
        found = await readable_messages(
            self._core.database, principal, readable, wanted[:limit], self._core.media_addresses
        )
        return [found[message_id] for message_id in wanted[:limit] if message_id in found]

    async def dismiss(self, principal: Principal, message_ids: Iterable[int]) -> None:
        """Take messages off the caller's list; RECENT_MENTION_DELETE tells its sessions of those that `list` showed."""
        user_id, sought = principal.user_id, self._recent(MentionFilter())

        def unit(connection: sqlite3.Connection) -> list[Mention]:
            gone = []
            for message_id in dict.fromkeys(message_ids):
                for mention in recent_mentions.find(
                    connection, user_id, attrs.evolve(sought, message_id=message_id), 1
                ):
                    recent_mentions.dismiss(connection, user_id, message_id)
                    gone.append(mention)
            return gone

        await self._core.database.write(unit, lambda gone: self._announce(principal, gone))

    async def dismiss_all(self, principal: Principal) -> None:
        """Take everything off the caller's list; its sessions are told of the newest, which they may be showing."""
        user_id, sought = principal.user_id, self._recent(MentionFilter())
        up_to = snowflake_at(self._core.clock.now_ms() + 1) - 1

        def unit(connection: sqlite3.Connection) -> Sequence[Mention]:
            gone = recent_mentions.find(connection, user_id, attrs.evolve(sought, before=up_to + 1), BATCH)
            recent_mentions.dismiss_all(connection, user_id, up_to)
            return gone

        await self._core.database.write(unit, lambda gone: self._announce(principal, gone))

    def _recent(self, sought: MentionFilter) -> MentionFilter:
        return attrs.evolve(sought, after=max(sought.after, snowflake_at(self._core.clock.now_ms() - RECENT_MS) - 1))

    async def _find(self, user_id: int, sought: MentionFilter) -> Sequence[Mention]:
        return await self._core.database.read(
            lambda connection: recent_mentions.find(connection, user_id, sought, BATCH)
        )

    def _announce(self, principal: Principal, gone: Sequence[Mention]) -> None:
        readable, audience = Readable(self._core.access, principal), ToAccounts((principal.user_id,))
        self._core.bus.publish(
            *(
                Event(EventName.RECENT_MENTION_DELETE, {"message_id": str(mention.message_id)}, audience)
                for mention in gone
                if readable(mention.channel_id, mention.message_id)
            )
        )
