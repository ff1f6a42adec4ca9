"""Username suggestions for somebody who registers: POST /v1/auth/username-suggestions (signing_in.md, Username
suggestions)."""

from __future__ import annotations

import attrs

from chat.domain.core import Core
from chat.domain.policy import account_rules
from chat.domain.policy.usernames import Usernames


@attrs.define(kw_only=True, eq=False)
class UsernameSuggestions:
    """Makes usernames of other names."""

    _core: Core
    _usernames: Usernames

    async def of(self, global_name: str) -> list[str]:
        """At most one username that is free at this moment; none where the name makes none."""
        stem = account_rules.username_from(global_name, service_name=self._core.settings.service_name)
        if stem is None:
            return []
        username, _ = await self._core.database.read(
            lambda connection: self._usernames.allocate_like(connection, stem, bot=False)
        )
        return [username]
