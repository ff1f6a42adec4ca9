"""What an account has typed in a channel and not sent, kept for its other devices (messages.md, Drafts)."""

from __future__ import annotations

import sqlite3

from chat import wire
from chat.auth.principal import Principal
from chat.classes import define
from chat.clock import iso_timestamp
from chat.domain.core import Core
from chat.errors import ApiError
from chat.registries.error_codes import ErrorCode
from chat.registries.limits import DRAFTS
from chat.store.accounts import accounts
from chat.store.messages import drafts
from chat.store.messages.drafts import Draft


@define(kw_only=True, eq=False)
class Drafts:
    """Reads and keeps drafts. Nobody but the account itself sees them."""

    _core: Core

    def of_user(self, user_id: int) -> list[wire.Draft]:
        """The account's drafts, the one edited last first."""
        return [
            {
                "channel_id": str(draft.channel_id),
                "content": draft.content,
                "edited_at": iso_timestamp(draft.edited_at),
            }
            for draft in drafts.of_user(self._core.database.reader, user_id)
        ]

    async def put(self, principal: Principal, channel_id: int, content: str, edited_at: int | None) -> None:
        """Keep a draft; an empty text is none. One that was edited later stays. `edited_at` (Unix milliseconds) is now
        where it is None, or lies ahead.

        :raises ApiError: as `Access.channel`.
        """
        self._core.access.channel(principal, channel_id)
        now_ms = self._core.clock.now_ms()
        draft = Draft(channel_id, content, now_ms if edited_at is None else min(edited_at, now_ms))

        def unit(connection: sqlite3.Connection) -> None:
            if accounts.by_id(connection, principal.user_id) is None:
                raise ApiError(ErrorCode.UNAUTHORIZED)
            drafts.put(connection, principal.user_id, draft, DRAFTS)

        await self._core.database.write(unit, guard=principal.guard)
