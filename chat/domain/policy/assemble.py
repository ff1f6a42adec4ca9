"""Puts the area together: limits and checks that every area asks."""

from __future__ import annotations

from chat.auth.address_bans import BlockedNetworks
from chat.classes import frozen
from chat.domain.ground import Background, Ground
from chat.domain.policy.blocked_values import BlockedValues
from chat.domain.policy.errands import Errands
from chat.domain.policy.instance_policy import InstancePolicy
from chat.domain.policy.media_library import MediaLibrary
from chat.domain.policy.origins import Origins
from chat.domain.policy.profiles import ProfileRules, Usernames
from chat.media.delivery import MediaAddresses
from chat.media.storage import MediaStorage


@frozen(kw_only=True)
class PolicyArea:
    blocked: BlockedValues
    policy: InstancePolicy
    media: MediaLibrary
    media_addresses: MediaAddresses
    usernames: Usernames
    profile_rules: ProfileRules
    errands: Errands

    @property
    def background(self) -> Background:
        """What runs as long as the server does."""
        return (self.media.run, self.errands.run)


def assemble(ground: Ground, origins: Origins) -> PolicyArea:
    """Build the area; `origins` names the instance in the URLs of media."""
    settings, clock = ground.settings, ground.clock
    blocked = BlockedValues(settings, BlockedNetworks())
    addresses = MediaAddresses(origins.shared, ground.keys, clock)
    storage = MediaStorage(ground.directory / "uploads", in_threads=ground.in_threads)
    return PolicyArea(
        blocked=blocked,
        policy=InstancePolicy(settings),
        media=MediaLibrary(ground.database, clock, ground.snowflakes, storage, addresses, settings, blocked),
        media_addresses=addresses,
        usernames=Usernames(settings, ground.chance),
        profile_rules=ProfileRules(clock, settings, blocked),
        errands=Errands(ground.database),
    )
