"""What the operator of the instance rules out: blocked text, and all guilds but one (document 001)."""

from __future__ import annotations

import unicodedata

from chat.config import Settings
from chat.errors import ApiError


class InstancePolicy:
    """The instance's policy, as its settings say."""

    def __init__(self, settings: Settings) -> None:
        self.single_community = settings.single_community_enabled
        """Whether nobody may create guilds."""
        self._community_guild_id = settings.single_community_guild_id
        self._blocked = tuple(_comparable(phrase) for phrase in settings.content_policy.blocked_phrases if phrase)

    def protects(self, guild_id: int) -> bool:
        """Whether this guild is the instance's one community, which nobody leaves or deletes."""
        return self.single_community and guild_id == self._community_guild_id

    def require_unblocked(self, text: str) -> None:
        """Raise CONTENT_BLOCKED for text that holds a blocked phrase, in any letter case."""
        if self._blocked:
            comparable = _comparable(text)
            if any(phrase in comparable for phrase in self._blocked):
                raise ApiError("CONTENT_BLOCKED")


def _comparable(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
