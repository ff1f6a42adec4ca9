"""Username suggestions for somebody who registers: POST /v1/auth/username-suggestions (signing_in.md, Username
suggestions)."""

from __future__ import annotations

from chat.config import Settings
from chat.domain.policy import account_rules
from chat.domain.policy.usernames import Usernames
from chat.store.database import Database


class UsernameSuggestions:
    """Makes usernames of other names."""

    def __init__(self, database: Database, usernames: Usernames, settings: Settings) -> None:
        self._database = database
        self._usernames = usernames
        self._settings = settings

    async def of(self, global_name: str) -> list[str]:
        """At most one username that is free at this moment; none where the name makes none."""
        stem = account_rules.username_from(global_name, service_name=self._settings.service_name)
        if stem is None:
            return []
        username, _ = await self._database.read(
            lambda connection: self._usernames.allocate_like(connection, stem, bot=False)
        )
        return [username]
