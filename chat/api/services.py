"""What the routes have at hand: one field per part of the program, put together in `chat.composition`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from chat.api.administration_services import AdministrationServices
    from chat.api.openapi.published import PublishedDocument
    from chat.api.rate_limit import RateLimiter
    from chat.auth.address_bans import AddressBans
    from chat.auth.captcha import Captcha
    from chat.bus.bus import Bus
    from chat.clock import Clock
    from chat.config import Settings
    from chat.domain.accounts.account_closing import AccountClosing
    from chat.domain.accounts.accounts import Accounts
    from chat.domain.accounts.push_notifications import PushNotifications
    from chat.domain.accounts.push_subscriptions import PushSubscriptions
    from chat.domain.accounts.user_guild_settings import UserGuildSettings
    from chat.domain.accounts.user_notes import UserNotes
    from chat.domain.accounts.user_settings import UserSettings
    from chat.domain.administration.admin_api_keys import AdminApiKeys
    from chat.domain.administration.discovery import Discovery
    from chat.domain.administration.instance_setup import InstanceSetup
    from chat.domain.applications.applications import Applications
    from chat.domain.applications.oauth2_authorization import OAuth2Authorization
    from chat.domain.applications.oauth2_identity import OAuth2Identity
    from chat.domain.applications.oauth2_tokens import OAuth2Tokens
    from chat.domain.guilds.bans import Bans
    from chat.domain.guilds.channels import Channels
    from chat.domain.guilds.discovery_applications import DiscoveryApplications
    from chat.domain.guilds.expressions import Expressions
    from chat.domain.guilds.guild_changes import GuildChanges
    from chat.domain.guilds.guild_channels import GuildChannels
    from chat.domain.guilds.guild_deletion import GuildDeletion
    from chat.domain.guilds.guild_discovery import GuildDiscovery
    from chat.domain.guilds.guilds import Guilds
    from chat.domain.guilds.inactive_members import InactiveMembers
    from chat.domain.guilds.invites import Invites
    from chat.domain.guilds.member_changes import MemberChanges
    from chat.domain.guilds.member_searches import MemberSearches
    from chat.domain.guilds.memberships import Memberships
    from chat.domain.guilds.own_messages import OwnMessages
    from chat.domain.guilds.permission_overwrites import PermissionOverwrites
    from chat.domain.guilds.roles import Roles
    from chat.domain.guilds.temporary_members import TemporaryMembers
    from chat.domain.guilds.vanity_urls import VanityUrls
    from chat.domain.messages.crossposting import Crossposting
    from chat.domain.messages.favorite_memes import FavoriteMemes
    from chat.domain.messages.link_embeds import LinkEmbeds
    from chat.domain.messages.message_lists import MessageLists
    from chat.domain.messages.message_search_index import MessageSearchIndex
    from chat.domain.messages.message_searches import MessageSearches
    from chat.domain.messages.messages import Messages
    from chat.domain.messages.own_message_deletion import OwnMessageDeletion
    from chat.domain.messages.pins import Pins
    from chat.domain.messages.reactions import Reactions
    from chat.domain.messages.read_states import ReadStates
    from chat.domain.messages.recent_mentions import RecentMentions
    from chat.domain.messages.saved_messages import SavedMessages
    from chat.domain.messages.system_messages import SystemMessages
    from chat.domain.messages.typing_indicators import TypingIndicators
    from chat.domain.messages.unfurling import Unfurling
    from chat.domain.messages.uploads import Uploads
    from chat.domain.people.calls import Calls
    from chat.domain.people.friendships import Friendships
    from chat.domain.people.groups import Groups
    from chat.domain.people.user_profiles import UserProfiles
    from chat.domain.policy.errands import Errands
    from chat.domain.policy.media_library import MediaLibrary
    from chat.domain.policy.origins import Origins
    from chat.domain.policy.readiness import Readiness
    from chat.domain.presence.voice_regions import VoiceRegions
    from chat.domain.signing_in.address_lookups import AddressLookups
    from chat.domain.signing_in.authentication import Authentication
    from chat.domain.signing_in.email_change import EmailChanges
    from chat.domain.signing_in.email_replacement import EmailReplacements
    from chat.domain.signing_in.email_revert import EmailReverts
    from chat.domain.signing_in.email_verification import EmailVerification
    from chat.domain.signing_in.handoffs import Handoffs
    from chat.domain.signing_in.ip_authorization import IpAuthorization
    from chat.domain.signing_in.login_completion import LoginCompletion
    from chat.domain.signing_in.passkey_bridge import PasskeyBridge
    from chat.domain.signing_in.passkeys import Passkeys
    from chat.domain.signing_in.password_change import PasswordChanges
    from chat.domain.signing_in.password_recovery import PasswordRecovery
    from chat.domain.signing_in.pending_registrations import PendingRegistrations
    from chat.domain.signing_in.recovery_kit import RecoveryKits
    from chat.domain.signing_in.registration import Registration
    from chat.domain.signing_in.second_factors import SecondFactors
    from chat.domain.signing_in.sign_ins import SignIns
    from chat.domain.signing_in.single_sign_on import SingleSignOn
    from chat.domain.signing_in.sudo import SudoMode
    from chat.domain.signing_in.totp import Totp
    from chat.domain.signing_in.username_suggestions import UsernameSuggestions
    from chat.domain.standing.audit_log import AuditLog
    from chat.domain.standing.private_channels import PrivateChannels
    from chat.domain.threads.posts import Posts
    from chat.domain.threads.thread_archiving import ThreadArchiving
    from chat.domain.threads.thread_changes import ThreadChanges
    from chat.domain.threads.thread_lists import ThreadLists
    from chat.domain.threads.threads import Threads
    from chat.domain.webhooks.announcements import Announcements
    from chat.domain.webhooks.webhooks import Webhooks
    from chat.store.database import Database


@attrs.frozen(kw_only=True)
class Services:
    """The parts of one server."""

    settings: Settings
    database: Database
    clock: Clock
    bus: Bus
    rate_limiter: RateLimiter
    captcha: Captcha
    address_bans: AddressBans
    administration: AdministrationServices
    instance_setup: InstanceSetup
    address_lookups: AddressLookups
    admin_api_keys: AdminApiKeys
    accounts: Accounts
    account_closing: AccountClosing
    username_suggestions: UsernameSuggestions
    password_recovery: PasswordRecovery
    password_changes: PasswordChanges
    email_changes: EmailChanges
    email_replacements: EmailReplacements
    email_reverts: EmailReverts
    recovery_kits: RecoveryKits
    user_settings: UserSettings
    user_guild_settings: UserGuildSettings
    registration: Registration
    verification: EmailVerification
    authentication: Authentication
    login_completion: LoginCompletion
    passkey_bridge: PasskeyBridge
    handoffs: Handoffs
    ip_authorization: IpAuthorization
    single_sign_on: SingleSignOn
    pending_registrations: PendingRegistrations
    sign_ins: SignIns
    factors: SecondFactors
    totp: Totp
    passkeys: Passkeys
    sudo: SudoMode
    applications: Applications
    oauth2_authorization: OAuth2Authorization
    oauth2_tokens: OAuth2Tokens
    oauth2_identity: OAuth2Identity
    origins: Origins
    readiness: Readiness
    discovery: Discovery
    openapi: PublishedDocument
    friendships: Friendships
    private_channels: PrivateChannels
    groups: Groups
    threads: Threads
    posts: Posts
    announcements: Announcements
    crossposting: Crossposting
    thread_archiving: ThreadArchiving
    thread_changes: ThreadChanges
    thread_lists: ThreadLists
    audit_log: AuditLog
    roles: Roles
    expressions: Expressions
    guild_changes: GuildChanges
    guild_channels: GuildChannels
    permission_overwrites: PermissionOverwrites
    vanity_urls: VanityUrls
    guild_deletion: GuildDeletion
    bans: Bans
    errands: Errands
    own_messages: OwnMessages
    own_message_deletion: OwnMessageDeletion
    guilds: Guilds
    memberships: Memberships
    temporary_members: TemporaryMembers
    inactive_members: InactiveMembers
    calls: Calls
    discovery_applications: DiscoveryApplications
    guild_discovery: GuildDiscovery
    voice_regions: VoiceRegions
    member_searches: MemberSearches
    member_changes: MemberChanges
    channels: Channels
    messages: Messages
    message_lists: MessageLists
    pins: Pins
    message_searches: MessageSearches
    message_search_index: MessageSearchIndex
    push_subscriptions: PushSubscriptions
    push_notifications: PushNotifications
    reactions: Reactions
    read_states: ReadStates
    recent_mentions: RecentMentions
    saved_messages: SavedMessages
    favorite_memes: FavoriteMemes
    user_notes: UserNotes
    user_profiles: UserProfiles
    system_messages: SystemMessages
    media: MediaLibrary
    unfurling: Unfurling
    link_embeds: LinkEmbeds
    uploads: Uploads
    webhooks: Webhooks
    invites: Invites
    typing: TypingIndicators
