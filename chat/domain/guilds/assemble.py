"""Puts the area together: guilds, their channels, roles, members, invites and expressions."""

from __future__ import annotations

from chat.classes import frozen
from chat.domain.accounts.assemble import AccountsArea
from chat.domain.core import Core
from chat.domain.ground import Background
from chat.domain.guilds.absent_members import InactiveMembers, TemporaryMembers
from chat.domain.guilds.bans import Bans
from chat.domain.guilds.claims import Claims
from chat.domain.guilds.expressions import Expressions
from chat.domain.guilds.group_invites import GroupInvites
from chat.domain.guilds.guild_changes import GuildChanges
from chat.domain.guilds.guild_channels import GuildChannels
from chat.domain.guilds.guild_discovery import DiscoveryApplications, GuildDiscovery
from chat.domain.guilds.guild_ownership import GuildDeletion, GuildSuccession
from chat.domain.guilds.guilds import Guilds
from chat.domain.guilds.invites import Invites
from chat.domain.guilds.member_changes import MemberChanges
from chat.domain.guilds.member_lists import MemberSearches
from chat.domain.guilds.memberships import Memberships
from chat.domain.guilds.own_messages import OwnMessages
from chat.domain.guilds.permission_overwrites import PermissionOverwrites
from chat.domain.guilds.roles import Roles
from chat.domain.guilds.vanity_urls import VanityUrls
from chat.domain.messages.assemble import MessagesArea
from chat.domain.messages.author_messages import AuthorsMessages
from chat.domain.people.assemble import PeopleArea
from chat.domain.policy.assemble import PolicyArea
from chat.domain.presence.assemble import PresenceArea
from chat.domain.signing_in.assemble import SigningInArea
from chat.domain.standing.assemble import StandingArea


@frozen(kw_only=True)
class GuildsArea:
    guilds: Guilds
    guild_changes: GuildChanges
    guild_deletion: GuildDeletion
    guild_succession: GuildSuccession
    guild_channels: GuildChannels
    guild_discovery: GuildDiscovery
    discovery_applications: DiscoveryApplications
    permission_overwrites: PermissionOverwrites
    roles: Roles
    memberships: Memberships
    member_changes: MemberChanges
    member_searches: MemberSearches
    temporary_members: TemporaryMembers
    inactive_members: InactiveMembers
    bans: Bans
    own_messages: OwnMessages
    invites: Invites
    vanity_urls: VanityUrls
    expressions: Expressions
    claims: Claims

    @property
    def background(self) -> Background:
        return (self.guild_deletion.run, self.temporary_members.run, self.inactive_members.run)


def assemble(
    core: Core,
    standing: StandingArea,
    policy: PolicyArea,
    presence: PresenceArea,
    signing_in: SigningInArea,
    messages: MessagesArea,
    accounts: AccountsArea,
    people: PeopleArea,
) -> GuildsArea:
    presences, voice_states, media, sudo = presence.presences, presence.voice_states, policy.media, signing_in.sudo
    memberships, roles, claims = Memberships(core=core), Roles(core=core), Claims(core)
    authors_messages = AuthorsMessages(core, witness=standing.witness, leave=memberships.leave_in)
    changes = GuildChanges(core=core, factors=signing_in.factors, sudo=sudo, media=media)
    return GuildsArea(
        guilds=Guilds(core=core, media=media, online_count=presences.online_count),
        guild_changes=changes,
        guild_deletion=GuildDeletion(core, changes=changes, sudo=sudo, messages_gone=messages.crossposting.look_again),
        guild_succession=GuildSuccession(core=core, changes=changes),
        guild_channels=GuildChannels(core=core, regions=presence.voice_regions),
        guild_discovery=GuildDiscovery(core=core, memberships=memberships, online_count=presences.online_count),
        discovery_applications=DiscoveryApplications(core, changes=changes),
        permission_overwrites=PermissionOverwrites(core=core),
        roles=roles,
        memberships=memberships,
        member_changes=MemberChanges(core=core, roles=roles, voice_states=voice_states, images=accounts.account_images),
        member_searches=MemberSearches(core=core, rosters=standing.rosters),
        temporary_members=TemporaryMembers(core, memberships=memberships, presences=presences),
        inactive_members=InactiveMembers(core, presences=presences, voice_states=voice_states),
        bans=Bans(core=core, memberships=memberships, authors_messages=authors_messages),
        own_messages=OwnMessages(
            access=core.access, authors_messages=authors_messages, sudo=sudo, memberships=memberships
        ),
        invites=Invites(
            core=core,
            memberships=memberships,
            randomness=core.chance,
            online_count=presences.online_count,
            is_connected=presences.is_connected,
            group_invites=GroupInvites(core=core, groups=people.groups, is_online=presences.is_online),
            claims=claims,
        ),
        vanity_urls=VanityUrls(core, changes),
        expressions=Expressions(core=core, media=media),
        claims=claims,
    )
