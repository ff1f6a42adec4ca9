"""Which domain service stands on which: everything behind the HTTP API, put together once per server.

`chat.server` makes what these stand on (clock, store, bus, gateway state) and runs the whole; here is one function per
family of operations. A family that needs another takes it as an argument, so the order of the calls in
`build_services` is the order of dependence.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs

from chat.admin.routes import ADMIN_ROUTES
from chat.administration_composition import GuildParts, build_administration
from chat.api import buckets
from chat.api.openapi.published import PublishedDocument
from chat.api.rate_limit import RateLimiter
from chat.api.routes import ROUTES
from chat.api.services import Services
from chat.auth.address_bans import AddressBans
from chat.auth.captcha import Captcha
from chat.auth.keys import Keys
from chat.auth.openid_connect import OpenIdConnect
from chat.auth.outgoing_http import OutgoingHttp
from chat.auth.passwords import Passwords
from chat.auth.sudo_token import SudoTokens
from chat.auth.tokens import TokenMint
from chat.auth.typed_codes import TypedCodes
from chat.auth.webauthn_options import RelyingParty
from chat.bus.bus import Bus
from chat.clock import Clock
from chat.config import Settings
from chat.config.overrides import Overrides
from chat.domain.access import Access
from chat.domain.account_closing import AccountClosing
from chat.domain.account_events import AccountEvents
from chat.domain.account_images import AccountImages
from chat.domain.accounts import Accounts
from chat.domain.active_calls import ActiveCalls
from chat.domain.address_lookups import AddressLookups
from chat.domain.address_wishes import AddressWishes
from chat.domain.admin_api_keys import AdminApiKeys
from chat.domain.announcements import Announcements
from chat.domain.applications import Applications
from chat.domain.audit_log import AuditLog
from chat.domain.authentication import Authentication
from chat.domain.backup_codes import BackupCodes
from chat.domain.bans import Bans
from chat.domain.blocked_values import BlockedValues
from chat.domain.bot_installation import BotInstallation
from chat.domain.calls import Calls
from chat.domain.channel_witness import ChannelWitness
from chat.domain.channels import Channels
from chat.domain.crossposting import Crossposting
from chat.domain.discovery import Discovery
from chat.domain.discovery_applications import DiscoveryApplications
from chat.domain.email_addresses import EmailAddresses
from chat.domain.email_change import EmailChanges
from chat.domain.email_replacement import EmailReplacements
from chat.domain.email_revert import EmailReverts
from chat.domain.email_verification import EmailVerification
from chat.domain.enrolments import Enrolments
from chat.domain.expressions import Expressions
from chat.domain.favorite_memes import FavoriteMemes
from chat.domain.friendships import Friendships
from chat.domain.geolocation import Geolocation
from chat.domain.group_invites import GroupInvites
from chat.domain.groups import Groups
from chat.domain.guild_changes import GuildChanges
from chat.domain.guild_channels import GuildChannels
from chat.domain.guild_deletion import GuildDeletion
from chat.domain.guild_discovery import GuildDiscovery
from chat.domain.guild_states import GuildStates
from chat.domain.guilds import Guilds
from chat.domain.handoffs import Handoffs
from chat.domain.inactive_members import InactiveMembers
from chat.domain.instance_figures import GatewayFigures
from chat.domain.instance_policy import InstancePolicy
from chat.domain.instance_setup import InstanceSetup
from chat.domain.invites import Invites
from chat.domain.ip_authorization import IpAuthorization
from chat.domain.link_embeds import LinkEmbeds
from chat.domain.login_completion import LoginCompletion
from chat.domain.login_tickets import LoginTickets
from chat.domain.mail_bounces import MailBounces
from chat.domain.mailed_codes import MailedCodes
from chat.domain.media_library import MediaLibrary
from chat.domain.member_changes import MemberChanges
from chat.domain.member_searches import MemberSearches
from chat.domain.memberships import Memberships
from chat.domain.mention_counting import MentionCounting
from chat.domain.message_lists import MessageLists
from chat.domain.message_search_index import MessageSearchIndex
from chat.domain.message_search_scopes import MessageSearchScopes
from chat.domain.message_searches import MessageSearches
from chat.domain.messages import Messages
from chat.domain.mfa_codes import MfaCodes
from chat.domain.new_passwords import NewPasswords
from chat.domain.oauth2_authorization import OAuth2Authorization
from chat.domain.oauth2_clients import OAuth2Clients
from chat.domain.oauth2_identity import OAuth2Identity
from chat.domain.oauth2_tokens import OAuth2Tokens
from chat.domain.own_message_deletion import OwnMessageDeletion
from chat.domain.own_messages import AuthorsMessages, OwnMessages
from chat.domain.passkey_assertions import PasskeyAssertions
from chat.domain.passkey_bridge import PasskeyBridge
from chat.domain.passkeys import Passkeys
from chat.domain.password_change import PasswordChanges
from chat.domain.password_recovery import PasswordRecovery
from chat.domain.pending_registrations import PendingRegistrations
from chat.domain.permission_overwrites import PermissionOverwrites
from chat.domain.pins import Pins
from chat.domain.posts import Posts
from chat.domain.presences import Presences
from chat.domain.private_channels import PrivateChannels
from chat.domain.profiles import ProfileRules
from chat.domain.push_notifications import PushNotifications
from chat.domain.push_subscriptions import PushSubscriptions
from chat.domain.reactions import Reactions
from chat.domain.read_states import ReadStates
from chat.domain.recent_mentions import RecentMentions
from chat.domain.recovery_kit import RecoveryKits
from chat.domain.registration import Registration
from chat.domain.relationships import Relationships
from chat.domain.reverse_dns import ReverseDns
from chat.domain.roles import Roles
from chat.domain.rosters import Rosters
from chat.domain.saved_messages import SavedMessages
from chat.domain.second_factors import SecondFactors
from chat.domain.settings_due import SettingsDue
from chat.domain.sign_ins import SignIns
from chat.domain.single_sign_on import SingleSignOn
from chat.domain.sso_accounts import SsoAccounts
from chat.domain.sudo import SudoMode
from chat.domain.system_messages import SystemMessages
from chat.domain.temporary_members import TemporaryMembers
from chat.domain.thread_access import ThreadLookup
from chat.domain.thread_archiving import ThreadArchiving
from chat.domain.thread_changes import ThreadChanges
from chat.domain.thread_lists import ThreadLists
from chat.domain.threads import Threads
from chat.domain.totp import Totp
from chat.domain.typing_indicators import TypingIndicators
from chat.domain.unfurling import Unfurling
from chat.domain.uploads import Uploads
from chat.domain.user_agents import UserAgents
from chat.domain.user_guild_settings import UserGuildSettings
from chat.domain.user_notes import UserNotes
from chat.domain.user_profiles import UserProfiles
from chat.domain.user_settings import UserSettings
from chat.domain.username_suggestions import UsernameSuggestions
from chat.domain.usernames import Usernames
from chat.domain.vanity_urls import VanityUrls
from chat.domain.voice_regions import VoiceRegions
from chat.domain.voice_states import VoiceStates
from chat.domain.webauthn_challenges import WebauthnChallenges
from chat.domain.webhooks import Webhooks
from chat.mail.mailer import Mailer
from chat.media.signing import MediaAddresses
from chat.media.storage import MediaStorage
from chat.push.sending import PushSender
from chat.push.vapid import Vapid
from chat.snowflake import SnowflakeGenerator
from chat.store.database import Database

if TYPE_CHECKING:
    from chat.mail.outbox import Outbox


@attrs.frozen(kw_only=True)
class Foundations:
    """What every family of services may stand on."""

    settings: Settings
    database: Database
    clock: Clock
    bus: Bus
    chance: random.Random
    snowflakes: SnowflakeGenerator
    mint: TokenMint
    keys: Keys
    address_bans: AddressBans
    blocked: BlockedValues
    passwords: Passwords
    guild_states: GuildStates
    relationships: Relationships
    presences: Presences
    voice_states: VoiceStates
    active_calls: ActiveCalls
    rosters: Rosters
    private_channels: PrivateChannels
    thread_lookup: ThreadLookup
    directory: Path
    """The data directory: uploads lie below it."""
    overrides: Overrides
    """What the operator chooses at run time, over `settings`."""
    gateway_figures: Callable[[], GatewayFigures]
    sessions_in: Callable[[int], int]
    """What the gateway has in hand, and how many sessions hear a guild."""
    in_threads: bool
    """Whether long work may leave the loop; a run on virtual time has no threads."""
    account_events: AccountEvents = attrs.field(
        default=attrs.Factory(
            lambda self: AccountEvents(self.database, self.bus, self.clock, self.settings, self.guild_states),
            takes_self=True,
        )
    )
    address_lookups: AddressLookups = attrs.field(
        default=attrs.Factory(lambda self: _address_lookups(self), takes_self=True)
    )
    user_agents: UserAgents = attrs.field(
        default=attrs.Factory(lambda self: UserAgents(in_threads=self.in_threads), takes_self=True)
    )
    outbox: Outbox | None = attrs.field(default=attrs.Factory(lambda self: _outbox(self), takes_self=True))
    """Where mail waits for the SMTP server; None where none is sent."""


@attrs.frozen(kw_only=True)
class Credentials:
    """The services by which people prove who they are."""

    usernames: Usernames
    rules: ProfileRules
    sign_ins: SignIns
    ip_authorization: IpAuthorization
    authentication: Authentication
    login_completion: LoginCompletion
    passkey_bridge: PasskeyBridge
    mailer: Mailer
    verification: EmailVerification
    factors: SecondFactors
    totp: Totp
    passkeys: Passkeys
    sudo: SudoMode


@attrs.frozen(kw_only=True)
class Recovery:
    """The services by which people change what they prove themselves with, and get back in."""

    new_passwords: NewPasswords
    address_wishes: AddressWishes
    password_recovery: PasswordRecovery
    password_changes: PasswordChanges
    email_changes: EmailChanges
    email_replacements: EmailReplacements
    email_reverts: EmailReverts
    recovery_kits: RecoveryKits


@attrs.frozen(kw_only=True)
class Push:
    """The services that tell devices of messages."""

    vapid: Vapid
    subscriptions: PushSubscriptions
    notifications: PushNotifications


def build_services(base: Foundations) -> Services:
    """Every service behind the API."""
    settings, database, clock, bus = base.settings, base.database, base.clock, base.bus
    rate_limiter = RateLimiter(enabled=settings.rate_limits)
    credentials = _credentials(base, rate_limiter)
    recovery = _recovery(base, credentials)
    access: Final = Access(
        base.guild_states,
        base.private_channels.find,
        base.thread_lookup.find,
        Enrolments(database, credentials.factors).has_factor,
    )
    policy = InstancePolicy(settings, base.blocked)
    witness = ChannelWitness(base.guild_states, base.private_channels, base.thread_lookup)
    authors_messages = AuthorsMessages(database, access, witness, bus)
    audit_log = AuditLog(database, access, bus, clock, base.snowflakes)
    roles = Roles(database, base.guild_states, access, bus, audit_log, base.snowflakes, settings, policy)
    clients = OAuth2Clients(settings)
    memberships = Memberships(database, base.guild_states, access, bus, clock, base.snowflakes, settings, policy)
    addresses = MediaAddresses(settings.public_url, base.keys, clock)
    storage = MediaStorage(base.directory / "uploads", in_threads=base.in_threads)
    media = MediaLibrary(database, clock, base.snowflakes, storage, addresses, settings, base.blocked)
    messages = Messages(
        database,
        access,
        base.private_channels,
        bus,
        clock,
        base.snowflakes,
        settings,
        policy,
        addresses,
        MentionCounting(base.presences.online_in),
        audit_log,
    )
    system_messages = SystemMessages(access, base.private_channels, bus, base.snowflakes, addresses)
    archiving = ThreadArchiving(database, bus, clock)
    crossposting = Crossposting(database, witness, bus, clock, base.snowflakes, addresses)
    threads = Threads(database, access, base.thread_lookup, bus, clock, policy, system_messages, audit_log, addresses)
    groups = Groups(
        database, bus, clock, base.snowflakes, settings, policy, base.private_channels, system_messages, media
    )
    own_message_deletion = OwnMessageDeletion(database, clock, bus, witness, credentials.sudo, base.account_events)
    unfurling = Unfurling(database, clock, media, base.blocked, in_threads=base.in_threads)
    uploads = Uploads(database, clock, base.snowflakes, base.mint, media, messages, settings, base.blocked)
    posts = Posts(access, messages, clock, base.snowflakes, policy, audit_log)
    voice_regions = VoiceRegions(settings, access)
    push = _push(base)
    message_search_index = MessageSearchIndex(database, bus, enabled=settings.search == "on")
    vanity_urls = VanityUrls(database, base.guild_states, access, bus, audit_log, clock, settings, policy)
    guild_deletion = GuildDeletion(
        database, base.guild_states, access, bus, audit_log, policy, credentials.sudo, crossposting.look_again
    )
    guild_changes = GuildChanges(
        database,
        base.guild_states,
        access,
        bus,
        audit_log,
        clock,
        policy,
        credentials.factors,
        credentials.sudo,
        media,
    )
    bans = Bans(database, access, memberships, authors_messages, bus, audit_log, clock)
    expressions = Expressions(
        database, base.guild_states, access, bus, audit_log, base.snowflakes, media, settings, policy
    )
    setup = InstanceSetup(database)
    guild_parts = GuildParts(
        addresses=addresses,
        audit_log=audit_log,
        bans=bans,
        changes=guild_changes,
        deletion=guild_deletion,
        expressions=expressions,
        memberships=memberships,
        setup=setup,
        system_messages=system_messages,
        vanity_urls=vanity_urls,
    )
    return Services(
        settings=settings,
        database=database,
        clock=clock,
        bus=bus,
        rate_limiter=rate_limiter,
        captcha=Captcha(settings.captcha, OutgoingHttp(in_threads=base.in_threads)),
        address_bans=base.address_bans,
        address_lookups=base.address_lookups,
        administration=build_administration(
            base, credentials, recovery, access, messages, guild_parts, media, groups, own_message_deletion
        ),
        instance_setup=setup,
        admin_api_keys=AdminApiKeys(database, clock, base.snowflakes, base.mint),
        accounts=Accounts(
            database,
            clock,
            recovery.new_passwords,
            recovery.address_wishes,
            credentials.sudo,
            credentials.usernames,
            credentials.rules,
            base.account_events,
            AccountImages(media, clock, settings),
            settings,
        ),
        account_closing=AccountClosing(database, clock, credentials.sudo, base.account_events),
        username_suggestions=UsernameSuggestions(database, credentials.usernames, settings),
        password_recovery=recovery.password_recovery,
        password_changes=recovery.password_changes,
        email_changes=recovery.email_changes,
        email_replacements=recovery.email_replacements,
        email_reverts=recovery.email_reverts,
        recovery_kits=recovery.recovery_kits,
        user_settings=UserSettings(database, bus, SettingsDue(database, bus, clock), policy),
        user_guild_settings=UserGuildSettings(database, access, bus),
        authentication=credentials.authentication,
        login_completion=credentials.login_completion,
        passkey_bridge=credentials.passkey_bridge,
        handoffs=Handoffs(database, clock, base.chance, credentials.authentication, credentials.sign_ins),
        ip_authorization=credentials.ip_authorization,
        single_sign_on=_single_sign_on(base, credentials),
        pending_registrations=PendingRegistrations(database, clock),
        sign_ins=credentials.sign_ins,
        factors=credentials.factors,
        totp=credentials.totp,
        passkeys=credentials.passkeys,
        sudo=credentials.sudo,
        registration=Registration(
            database,
            clock,
            base.snowflakes,
            base.passwords,
            credentials.usernames,
            credentials.sign_ins,
            credentials.verification,
            credentials.ip_authorization,
            base.mint,
            settings,
            base.blocked,
        ),
        verification=credentials.verification,
        applications=Applications(
            database,
            clock,
            base.snowflakes,
            base.mint,
            credentials.usernames,
            credentials.sudo,
            credentials.rules,
            memberships,
            base.account_events,
            AccountImages(media, clock, settings),
            settings,
        ),
        private_channels=base.private_channels,
        groups=groups,
        audit_log=audit_log,
        vanity_urls=vanity_urls,
        guild_channels=GuildChannels(
            database, base.guild_states, access, bus, audit_log, base.snowflakes, settings, policy, voice_regions
        ),
        discovery_applications=DiscoveryApplications(database, access, clock, policy, guild_changes, settings),
        guild_discovery=GuildDiscovery(database, base.guild_states, access, memberships, base.presences.online_count),
        voice_regions=voice_regions,
        permission_overwrites=PermissionOverwrites(database, base.guild_states, access, bus, audit_log),
        guild_deletion=guild_deletion,
        guild_changes=guild_changes,
        bans=bans,
        authors_messages=authors_messages,
        own_message_deletion=own_message_deletion,
        own_messages=OwnMessages(access, authors_messages, credentials.sudo),
        roles=roles,
        expressions=expressions,
        threads=threads,
        crossposting=crossposting,
        announcements=Announcements(
            database,
            access,
            bus,
            clock,
            base.snowflakes,
            base.mint,
            base.keys,
            system_messages,
            audit_log,
            addresses,
            crossposting,
            settings,
        ),
        posts=posts,
        thread_archiving=archiving,
        thread_lists=ThreadLists(database, access, clock, addresses),
        thread_changes=ThreadChanges(database, access, threads, archiving, bus, clock, policy, audit_log, addresses),
        friendships=Friendships(database, bus, clock, base.relationships, base.account_events, settings),
        oauth2_authorization=OAuth2Authorization(
            database,
            clock,
            base.mint,
            clients,
            BotInstallation(database, access, memberships, roles, audit_log, base.snowflakes),
            settings,
        ),
        oauth2_tokens=OAuth2Tokens(database, clock, base.snowflakes, base.mint, clients),
        oauth2_identity=OAuth2Identity(database, clock, clients),
        discovery=Discovery(
            base.overrides, credentials.mailer, push.vapid.public_key if settings.push.enabled else None, setup
        ),
        push_subscriptions=push.subscriptions,
        push_notifications=push.notifications,
        openapi=PublishedDocument([*ROUTES, *ADMIN_ROUTES], settings.public_url, in_threads=base.in_threads),
        guilds=Guilds(
            database,
            base.guild_states,
            access,
            bus,
            clock,
            base.snowflakes,
            settings,
            policy,
            media,
            base.presences.online_count,
        ),
        memberships=memberships,
        temporary_members=TemporaryMembers(database, memberships, base.presences, bus),
        calls=Calls(
            database,
            access,
            base.private_channels,
            system_messages,
            base.voice_states,
            base.active_calls,
            voice_regions,
            bus,
            clock,
            addresses,
        ),
        inactive_members=InactiveMembers(bus, base.guild_states, base.presences, base.voice_states, base.clock),
        member_searches=MemberSearches(database, access, base.rosters),
        member_changes=MemberChanges(
            database,
            base.guild_states,
            access,
            clock,
            roles,
            base.voice_states,
            audit_log,
            policy,
            AccountImages(media, clock, settings),
            settings,
        ),
        channels=Channels(access),
        messages=messages,
        message_lists=MessageLists(database, access, addresses),
        pins=Pins(
            database,
            access,
            base.private_channels,
            bus,
            clock,
            settings,
            audit_log,
            system_messages,
            addresses,
        ),
        message_searches=MessageSearches(
            database,
            access,
            MessageSearchScopes(database, base.guild_states, access, clock),
            message_search_index,
            addresses,
        ),
        message_search_index=message_search_index,
        reactions=Reactions(database, access, bus, clock, settings),
        user_notes=UserNotes(database, bus, policy),
        user_profiles=UserProfiles(database, base.guild_states, access, clock),
        read_states=ReadStates(database, base.guild_states, access, bus, base.snowflakes),
        recent_mentions=RecentMentions(database, access, bus, clock, addresses),
        favorite_memes=FavoriteMemes(database, access, bus, clock, base.snowflakes, settings, media, uploads),
        saved_messages=SavedMessages(database, access, bus, clock, base.snowflakes, settings, addresses),
        system_messages=system_messages,
        media=media,
        unfurling=unfurling,
        link_embeds=LinkEmbeds(
            database, base.guild_states, bus, addresses, unfurling, enabled=settings.media.link_embeds
        ),
        uploads=uploads,
        webhooks=Webhooks(
            database,
            base.guild_states,
            access,
            messages,
            posts,
            media,
            bus,
            base.snowflakes,
            base.mint,
            base.keys,
            audit_log,
            settings,
            policy,
        ),
        invites=Invites(
            database,
            base.guild_states,
            access,
            memberships,
            bus,
            clock,
            base.chance,
            settings,
            base.presences.online_count,
            base.presences.is_connected,
            audit_log,
            GroupInvites(database, groups, bus, clock, settings, base.presences.is_online),
        ),
        typing=TypingIndicators(access, bus, clock),
    )


def _credentials(base: Foundations, rate_limiter: RateLimiter) -> Credentials:
    settings, database, clock = base.settings, base.database, base.clock
    mailer = Mailer(settings.mail.mode, clock, base.outbox)
    backup_codes = BackupCodes(base.keys, base.chance)
    codes = MfaCodes(clock, base.keys, backup_codes)
    challenges = WebauthnChallenges(database, clock, base.mint)
    party = RelyingParty.of(settings)
    factors = SecondFactors(
        database,
        codes,
        PasskeyAssertions(database, clock, challenges, party),
        lambda user_id: not rate_limiter.take(buckets.SUDO_CODES, user_id),
    )
    sudo = SudoMode(
        base.passwords,
        factors,
        SudoTokens(base.keys, clock),
        lambda user_id: rate_limiter.take(buckets.SUDO_PASSWORDS, user_id),
    )
    verification = EmailVerification(database, clock, mailer, base.mint, base.account_events, settings)
    sign_ins = SignIns(database, clock, base.mint, base.account_events, base.address_lookups, base.user_agents)
    tickets = LoginTickets(database, clock, base.mint, sign_ins)
    ip_authorization = IpAuthorization(database, clock, base.mint, base.keys, mailer, sign_ins, settings)
    authentication = Authentication(database, base.passwords, sign_ins, tickets, ip_authorization, settings)
    return Credentials(
        usernames=Usernames(settings, base.chance),
        rules=ProfileRules(clock, settings, base.blocked),
        sign_ins=sign_ins,
        ip_authorization=ip_authorization,
        authentication=authentication,
        login_completion=LoginCompletion(authentication, tickets, factors, codes),
        passkey_bridge=PasskeyBridge(database, clock, base.mint, authentication, sign_ins, factors, settings),
        mailer=mailer,
        verification=verification,
        factors=factors,
        totp=Totp(
            database,
            clock,
            base.keys,
            backup_codes,
            codes,
            factors,
            sudo,
            base.account_events,
            lambda: verification.is_needed,
        ),
        passkeys=Passkeys(database, clock, challenges, party, sudo, base.bus, base.account_events),
        sudo=sudo,
    )


def _push(base: Foundations) -> Push:
    settings, database, clock = base.settings, base.database, base.clock
    sender = PushSender(settings.push.private_networks_allowed) if settings.push.enabled else None
    vapid = Vapid(base.keys, clock, settings.push_contact)
    subscriptions = PushSubscriptions(database, clock, base.bus, sender)
    return Push(
        vapid=vapid,
        subscriptions=subscriptions,
        notifications=PushNotifications(
            database,
            base.guild_states,
            base.presences,
            subscriptions,
            sender,
            vapid,
            base.bus,
            clock,
            base.chance,
            origin=settings.public_url,
            topic_key=base.keys.of("push topics"),
        ),
    )


def _single_sign_on(base: Foundations, credentials: Credentials) -> SingleSignOn:
    settings, database, clock = base.settings, base.database, base.clock
    # Connections of its own: a provider that hangs takes none from anybody else.
    outgoing = OutgoingHttp(in_threads=base.in_threads)
    key = base.keys.of("single sign-on")
    connect = OpenIdConnect(settings.sso, settings.sso_redirect_uri, key, outgoing, clock)
    newcomers = SsoAccounts(
        database,
        clock,
        base.snowflakes,
        credentials.usernames,
        credentials.sign_ins,
        credentials.ip_authorization,
        settings,
        base.blocked,
    )
    return SingleSignOn(
        database,
        clock,
        base.mint,
        connect if settings.sso.is_on else None,
        credentials.authentication,
        newcomers,
        base.account_events,
        settings,
    )


def _recovery(base: Foundations, credentials: Credentials) -> Recovery:
    settings, database, clock = base.settings, base.database, base.clock
    mailer, sudo, authentication = credentials.mailer, credentials.sudo, credentials.authentication
    typed = TypedCodes(base.keys, base.chance)
    codes = MailedCodes(clock, base.mint, typed)
    new_passwords = NewPasswords(clock, base.passwords, base.account_events)
    addresses = EmailAddresses(clock, mailer, base.mint, settings, base.blocked)
    email_changes = EmailChanges(
        database, clock, mailer, base.mint, codes, addresses, sudo, base.account_events, settings
    )
    return Recovery(
        new_passwords=new_passwords,
        address_wishes=AddressWishes(
            database, mailer, base.mint, email_changes, addresses, credentials.verification, settings
        ),
        password_recovery=PasswordRecovery(database, clock, mailer, base.mint, authentication, new_passwords, settings),
        password_changes=PasswordChanges(
            database, mailer, codes, credentials.factors, sudo, authentication, new_passwords, settings
        ),
        email_changes=email_changes,
        email_replacements=EmailReplacements(database, codes, addresses, sudo, base.account_events),
        email_reverts=EmailReverts(database, clock, authentication, new_passwords, base.blocked),
        recovery_kits=RecoveryKits(database, clock, typed, sudo, authentication, new_passwords),
    )


def _address_lookups(base: Foundations) -> AddressLookups:
    settings, path = base.settings, base.settings.geolocation_file
    reverse = ReverseDns(settings.reverse_dns.name_servers, in_threads=base.in_threads)
    return AddressLookups(
        reverse if settings.reverse_dns.enabled else None,
        # A relative path starts in the data directory, where chat.toml lies.
        None if path is None else Geolocation(base.directory / path, in_threads=base.in_threads),
    )


def _outbox(base: Foundations) -> Outbox | None:
    """The outbox of an instance that sends mail."""
    if base.settings.mail.mode != "smtp":
        return None
    from chat.mail.outbox import Outbox, Sender  # an instance that sends none starts without smtplib and its like

    sender = Sender.of(base.settings)
    bounces = MailBounces(base.account_events)
    return Outbox(base.database, base.clock, base.chance, base.keys, sender, bounces, in_threads=base.in_threads)
