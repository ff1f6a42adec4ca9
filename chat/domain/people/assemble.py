"""Puts the area together: friends, groups, calls and profiles."""

from __future__ import annotations

from chat.classes import frozen
from chat.domain.core import Core
from chat.domain.ground import Background
from chat.domain.messages.assemble import MessagesArea
from chat.domain.people.calls import Calls
from chat.domain.people.friendships import Friendships
from chat.domain.people.groups import Groups
from chat.domain.people.user_profiles import UserProfiles
from chat.domain.policy.assemble import PolicyArea
from chat.domain.presence.assemble import PresenceArea
from chat.domain.standing.assemble import StandingArea
from chat.domain.standing.private_channels import PrivateChannels


@frozen(kw_only=True)
class PeopleArea:
    private_channels: PrivateChannels
    groups: Groups
    friendships: Friendships
    calls: Calls
    user_profiles: UserProfiles

    @property
    def background(self) -> Background:
        return (self.calls.run,)


def assemble(
    core: Core, standing: StandingArea, policy: PolicyArea, presence: PresenceArea, messages: MessagesArea
) -> PeopleArea:
    private_channels, system_messages = standing.private_channels, messages.system_messages
    return PeopleArea(
        private_channels=private_channels,
        groups=Groups(
            core=core, private_channels=private_channels, system_messages=system_messages, media=policy.media
        ),
        friendships=Friendships(core=core, relationships=standing.relationships),
        calls=Calls(
            core=core,
            conversations=private_channels,
            system_messages=system_messages,
            voice_states=presence.voice_states,
            active=presence.active_calls,
            regions=presence.voice_regions,
        ),
        user_profiles=UserProfiles(core=core),
    )
