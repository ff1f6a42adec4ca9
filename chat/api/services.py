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
    from chat.domain.account_closing import AccountClosing
    from chat.domain.accounts import Accounts
    from chat.domain.address_lookups import AddressLookups
    from chat.domain.admin_api_keys import AdminApiKeys
    from chat.domain.announcements import Announcements
    from chat.domain.applications import Applications
    from chat.domain.audit_log import AuditLog
    from chat.domain.authentication import Authentication
    from chat.domain.bans import Bans
    from chat.domain.calls import Calls
    from chat.domain.channels import Channels
    from chat.domain.crossposting import Crossposting
    from chat.domain.discovery import Discovery
    from chat.domain.discovery_applications import DiscoveryApplications
    from chat.domain.email_change import EmailChanges
    from chat.domain.email_replacement import EmailReplacements
    from chat.domain.email_revert import EmailReverts
    from chat.domain.email_verification import EmailVerification
    from chat.domain.errands import Errands
    from chat.domain.expressions import Expressions
    from chat.domain.favorite_memes import FavoriteMemes
    from chat.domain.friendships import Friendships
    from chat.domain.groups import Groups
    from chat.domain.guild_changes import GuildChanges
    from chat.domain.guild_channels import GuildChannels
    from chat.domain.guild_deletion import GuildDeletion
    from chat.domain.guild_discovery import GuildDiscovery
    from chat.domain.guilds import Guilds
    from chat.domain.handoffs import Handoffs
    from chat.domain.inactive_members import InactiveMembers
    from chat.domain.instance_setup import InstanceSetup
    from chat.domain.invites import Invites
    from chat.domain.ip_authorization import IpAuthorization
    from chat.domain.link_embeds import LinkEmbeds
    from chat.domain.login_completion import LoginCompletion
    from chat.domain.media_library import MediaLibrary
    from chat.domain.member_changes import MemberChanges
    from chat.domain.member_searches import MemberSearches
    from chat.domain.memberships import Memberships
    from chat.domain.message_lists import MessageLists
    from chat.domain.message_search_index import MessageSearchIndex
    from chat.domain.message_searches import MessageSearches
    from chat.domain.messages import Messages
    from chat.domain.oauth2_authorization import OAuth2Authorization
    from chat.domain.oauth2_identity import OAuth2Identity
    from chat.domain.oauth2_tokens import OAuth2Tokens
    from chat.domain.origins import Origins
    from chat.domain.own_message_deletion import OwnMessageDeletion
    from chat.domain.own_messages import OwnMessages
    from chat.domain.passkey_bridge import PasskeyBridge
    from chat.domain.passkeys import Passkeys
    from chat.domain.password_change import PasswordChanges
    from chat.domain.password_recovery import PasswordRecovery
    from chat.domain.pending_registrations import PendingRegistrations
    from chat.domain.permission_overwrites import PermissionOverwrites
    from chat.domain.pins import Pins
    from chat.domain.posts import Posts
    from chat.domain.private_channels import PrivateChannels
    from chat.domain.push_notifications import PushNotifications
    from chat.domain.push_subscriptions import PushSubscriptions
    from chat.domain.reactions import Reactions
    from chat.domain.read_states import ReadStates
    from chat.domain.readiness import Readiness
    from chat.domain.recent_mentions import RecentMentions
    from chat.domain.recovery_kit import RecoveryKits
    from chat.domain.registration import Registration
    from chat.domain.roles import Roles
    from chat.domain.saved_messages import SavedMessages
    from chat.domain.second_factors import SecondFactors
    from chat.domain.sign_ins import SignIns
    from chat.domain.single_sign_on import SingleSignOn
    from chat.domain.sudo import SudoMode
    from chat.domain.system_messages import SystemMessages
    from chat.domain.temporary_members import TemporaryMembers
    from chat.domain.thread_archiving import ThreadArchiving
    from chat.domain.thread_changes import ThreadChanges
    from chat.domain.thread_lists import ThreadLists
    from chat.domain.threads import Threads
    from chat.domain.totp import Totp
    from chat.domain.typing_indicators import TypingIndicators
    from chat.domain.unfurling import Unfurling
    from chat.domain.uploads import Uploads
    from chat.domain.user_guild_settings import UserGuildSettings
    from chat.domain.user_notes import UserNotes
    from chat.domain.user_profiles import UserProfiles
    from chat.domain.user_settings import UserSettings
    from chat.domain.username_suggestions import UsernameSuggestions
    from chat.domain.vanity_urls import VanityUrls
    from chat.domain.voice_regions import VoiceRegions
    from chat.domain.webhooks import Webhooks
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
