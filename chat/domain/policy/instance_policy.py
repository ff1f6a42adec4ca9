"""What the operator of the instance rules out: blocked text (instance.md, Content policy), and all guilds but one
(instance.md, Community policy); and how much accounts and guilds may have (limits.md, Limits of the instance)."""

from __future__ import annotations

from collections.abc import Iterable

from chat.config import Limits, Settings
from chat.domain.policy.blocked_values import BlockedValues
from chat.domain.policy.embeds import Embeds, addresses_of, texts_of
from chat.domain.standing.user_objects import has_premium
from chat.errors import ApiError
from chat.registries.error_codes import ErrorCode
from chat.registries.guild_features import GuildFeature
from chat.store.accounts.accounts import Account
from chat.store.guilds.guilds import Guild
from chat.store.messages.attachments import Attachment, Usage


class InstancePolicy:
    """The instance's policy, as its settings say, and its blocklists."""

    def __init__(self, settings: Settings, blocked: BlockedValues) -> None:
        self._settings = settings
        self._blocked = blocked

    @property
    def single_community(self) -> bool:
        """Whether there is one guild only, and no account may create others."""
        return self._settings.single_community_enabled

    def protects(self, guild_id: int) -> bool:
        """Whether this guild is the instance's one community, which cannot be left or deleted."""
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
        """Raise CONTENT_BLOCKED for a blocked file, and for what is said about one."""
        for file in files:
            self._blocked.require_file(file.content_hash)
            self._blocked.require_text("\n".join((file.filename, file.title or "", file.description or "")))

    def require_unblocked_profile(self, text: str) -> None:
        """As `require_unblocked`, for what accounts call themselves and say of themselves."""
        self._blocked.require_profile(text)


def limits_of(settings: Settings, account: Account, now_ms: int) -> Limits:
    """The limits of an account at this moment (Unix milliseconds)."""
    return settings.limits_for(premium=has_premium(account, now_ms))


def max_guild_members(settings: Settings, guild: Guild) -> int:
    """How many members the guild may have (guilds.md, Guild features)."""
    if GuildFeature.VERY_LARGE_GUILD in guild.features:
        return settings.limits.max_guild_members_very_large
    return settings.limits.max_guild_members


def require_room(usage: Usage, settings: Settings) -> None:
    """Check what is taken, what is about to be written included.

    :raises ApiError: FILE_SIZE_TOO_LARGE for more than `limits.user_storage` of an account, or more than
        `media.storage_bytes` of all accounts together.
    """
    of_all = settings.media.storage_bytes
    if usage.bytes > settings.limits.user_storage or (of_all is not None and usage.instance_bytes > of_all):
        raise ApiError(ErrorCode.FILE_SIZE_TOO_LARGE)
