"""What the operator of the instance rules out: blocked text, and all guilds but one (instance.md, Content policy;
instance.md, Community policy)."""

from __future__ import annotations

from collections.abc import Iterable

from chat.config import Settings
from chat.domain.policy.blocked_values import BlockedValues
from chat.domain.policy.embeds import Embeds, addresses_of, texts_of
from chat.store.messages.attachments import Attachment


class InstancePolicy:
    """The instance's policy, as its settings say, and its blocklists."""

    def __init__(self, settings: Settings, blocked: BlockedValues) -> None:
        self._settings = settings
        self._blocked = blocked

    @property
    def single_community(self) -> bool:
        """Whether nobody may create guilds."""
        return self._settings.single_community_enabled

    def protects(self, guild_id: int) -> bool:
        """Whether this guild is the instance's one community, which nobody leaves or deletes."""
        return self.single_community and guild_id == self._settings.single_community_guild_id

    def require_unblocked(self, text: str) -> None:
        """Raise CONTENT_BLOCKED for text that holds a blocked phrase, in any letter case, or leads to what is
        blocked."""
        self._blocked.require_text(text)

    def require_unblocked_embeds(self, embeds: Embeds) -> None:
        """As `require_unblocked`, for every text and every address in embeds."""
        if embeds:
            self._blocked.require_text("\n".join((*texts_of(embeds), *addresses_of(embeds))))

    def require_unblocked_files(self, files: Iterable[Attachment]) -> None:
        """Raise CONTENT_BLOCKED for a file that nobody may send, and for what is said about one."""
        for file in files:
            self._blocked.require_file(file.content_hash)
            self._blocked.require_text("\n".join((file.filename, file.title or "", file.description or "")))

    def require_unblocked_profile(self, text: str) -> None:
        """As `require_unblocked`, for what accounts call themselves and say of themselves."""
        self._blocked.require_profile(text)
