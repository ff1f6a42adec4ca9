"""Regions that a voice channel may ask for (gateway.md, Ready; guilds.md, Voice regions).

There is no media server: a region is what the operator names for the clients' own use, and every instance has the
automatic one.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Final

from chat.auth.principal import Principal
from chat.config import Settings
from chat.domain.presence.call_rules import CALL_CHANNEL_TYPES
from chat.domain.standing.access import Access, GuildChannelAccess
from chat.errors import ApiError
from chat.registries.channel_types import ChannelType
from chat.registries.guild_features import GuildFeature

AUTOMATIC: Final = {"id": "automatic", "name": "Automatic", "emoji": "globe"}
"""Whatever is nearest."""

WITH_REGION: Final = frozenset({ChannelType.GUILD_VOICE, *CALL_CHANNEL_TYPES})
"""Kinds of channels that people speak in."""


def region_objects(named: Sequence[str]) -> list[dict[str, str]]:
    """The automatic region and those that the operator named."""
    return [AUTOMATIC, *({"id": region, "name": region, "emoji": "globe"} for region in named)]


class VoiceRegions:
    """The instance's regions, and who may pick them."""

    def __init__(self, settings: Settings, access: Access) -> None:
        self._regions = settings.voice.regions
        self._vip_regions = settings.voice.vip_regions
        self._access = access

    def of_channel(self, principal: Principal, channel_id: int) -> list[dict[str, str]]:
        """The regions that a voice channel, or the call of a conversation, may ask for.

        :raises ApiError: as `Access.channel`; INVALID_CHANNEL_TYPE.
        """
        access = self._access.channel(principal, channel_id)
        if access.channel.type not in WITH_REGION:
            raise ApiError("INVALID_CHANNEL_TYPE")
        features = access.state.guild.features if isinstance(access, GuildChannelAccess) else frozenset()
        return region_objects(self._named(features))

    def require(self, features: Set[str], region: str | None) -> None:
        """Raise UNKNOWN_VOICE_REGION for one that a guild with these features may not pick."""
        if region is not None and region != AUTOMATIC["id"] and region not in self._named(features):
            raise ApiError("UNKNOWN_VOICE_REGION")

    def _named(self, features: Set[str]) -> tuple[str, ...]:
        return self._regions + (self._vip_regions if GuildFeature.VIP_VOICE in features else ())
