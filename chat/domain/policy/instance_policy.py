"""Whether the operator of the instance rules out all guilds but one (instance.md, Community policy); and how much there
may be in a guild and in all uploads (settings.md, Limits)."""

from __future__ import annotations

from chat.config import Settings
from chat.errors import ApiError
from chat.registries.error_codes import ErrorCode
from chat.registries.guild_features import GuildFeature
from chat.store.guilds.guilds import Guild
from chat.store.messages.attachments import Usage


class InstancePolicy:
    """The instance's policy, as its settings say."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @property
    def single_community(self) -> bool:
        """Whether there is one guild only, and no account may create others."""
        return self._settings.single_community_enabled

    def protects(self, guild_id: int) -> bool:
        """Whether this guild is the instance's one community, which cannot be left or deleted."""
        return self.single_community and guild_id == self._settings.single_community_guild_id


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
