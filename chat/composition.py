"""Which domain service stands on which: everything behind the HTTP API, put together once per server.

`chat.server` makes what these stand on (clock, store, bus, gateway state) and runs the whole; here is one function per
family of operations. A family that needs another takes it as an argument, so the order of the calls in
`build_services` is the order of dependence.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final

import attrs

from chat.account_composition import build_credentials, build_recovery, build_single_sign_on
from chat.admin.routes import ADMIN_ROUTES
from chat.administration_composition import GuildParts, build_administration
from chat.api.openapi.published import PublishedDocument
from chat.api.rate_limit import RateLimiter
from chat.api.routes import ROUTES
from chat.api.services import Services
from chat.auth.captcha import Captcha
from chat.auth.outgoing_http import OutgoingHttp
from chat.domain.accounts.account_closing import AccountClosing
from chat.domain.accounts.account_images import AccountImages
from chat.domain.accounts.accounts import Accounts
from chat.domain.accounts.push_notifications import PushNotifications
from chat.domain.accounts.push_subscriptions import PushSubscriptions
from chat.domain.accounts.settings_due import SettingsDue
from chat.domain.accounts.user_guild_settings import UserGuildSettings
from chat.domain.accounts.user_notes import UserNotes
from chat.domain.accounts.user_settings import UserSettings
from chat.domain.administration.admin_api_keys import AdminApiKeys
from chat.domain.administration.discovery import Discovery
from chat.domain.administration.instance_setup import InstanceSetup
from chat.domain.applications.applications import Applications
from chat.domain.applications.bot_installation import BotInstallation
from chat.domain.applications.oauth2_authorization import OAuth2Authorization
from chat.domain.applications.oauth2_clients import OAuth2Clients
from chat.domain.applications.oauth2_identity import OAuth2Identity
from chat.domain.applications.oauth2_tokens import OAuth2Tokens
from chat.domain.guilds.bans import Bans
from chat.domain.guilds.channels import Channels
from chat.domain.guilds.discovery_applications import DiscoveryApplications
from chat.domain.guilds.expressions import Expressions
from chat.domain.guilds.group_invites import GroupInvites
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
from chat.domain.guilds.own_messages import AuthorsMessages, OwnMessages
from chat.domain.guilds.permission_overwrites import PermissionOverwrites
from chat.domain.guilds.roles import Roles
from chat.domain.guilds.temporary_members import TemporaryMembers
from chat.domain.guilds.vanity_urls import VanityUrls
from chat.domain.messages.crossposting import Crossposting
from chat.domain.messages.favorite_memes import FavoriteMemes
from chat.domain.messages.link_embeds import LinkEmbeds
from chat.domain.messages.mention_counting import MentionCounting
from chat.domain.messages.message_lists import MessageLists
from chat.domain.messages.message_search_index import MessageSearchIndex
from chat.domain.messages.message_search_scopes import MessageSearchScopes
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
from chat.domain.policy.instance_policy import InstancePolicy
from chat.domain.policy.media_library import MediaLibrary
from chat.domain.policy.readiness import Readiness
from chat.domain.presence.voice_regions import VoiceRegions
from chat.domain.signing_in.handoffs import Handoffs
from chat.domain.signing_in.pending_registrations import PendingRegistrations
from chat.domain.signing_in.registration import Registration
from chat.domain.signing_in.username_suggestions import UsernameSuggestions
from chat.domain.standing.access import Access
from chat.domain.standing.audit_log import AuditLog
from chat.domain.standing.channel_witness import ChannelWitness
from chat.domain.standing.factors import has_factor
from chat.domain.standing.stored_access import stored_access
from chat.domain.threads.posts import Posts
from chat.domain.threads.thread_archiving import ThreadArchiving
from chat.domain.threads.thread_changes import ThreadChanges
from chat.domain.threads.thread_lists import ThreadLists
from chat.domain.threads.threads import Threads
from chat.domain.webhooks.announcements import Announcements
from chat.domain.webhooks.webhooks import Webhooks
from chat.foundations import Foundations
from chat.media.signing import MediaAddresses
from chat.media.storage import MediaStorage
from chat.push.sending import PushSender
from chat.push.vapid import Vapid

if TYPE_CHECKING:
    pass


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
    credentials = build_credentials(base, rate_limiter)
    recovery = build_recovery(base, credentials)
    access: Final = Access(
        base.guild_states,
        base.private_channels.find,
        base.thread_lookup.find,
        functools.partial(has_factor, database),
        base.voice_states.is_in_channel,
        functools.partial(
            stored_access, base.guild_states, base.private_channels, base.voice_states.is_in_channel, clock
        ),
    )
    policy = InstancePolicy(settings, base.blocked)
    witness = ChannelWitness(base.guild_states, base.private_channels, base.thread_lookup)
    audit_log = AuditLog(database, access, bus, clock, base.snowflakes)
    roles = Roles(database, base.guild_states, access, bus, audit_log, base.snowflakes, settings, policy)
    clients = OAuth2Clients(settings)
    memberships = Memberships(database, base.guild_states, access, bus, clock, base.snowflakes, settings, policy)
    authors_messages = AuthorsMessages(database, access, witness, bus, memberships, base.errands)
    addresses = MediaAddresses(base.origins.shared, base.keys, clock)
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
        witness,
        base.errands,
    )
    system_messages = SystemMessages(access, base.private_channels, bus, base.snowflakes, addresses)
    archiving = ThreadArchiving(database, bus, clock)
    crossposting = Crossposting(database, witness, bus, clock, base.snowflakes, addresses)
    threads = Threads(database, access, base.thread_lookup, bus, clock, policy, system_messages, audit_log, addresses)
    groups = Groups(
        database, bus, clock, base.snowflakes, settings, policy, base.private_channels, system_messages, media
    )
    own_message_deletion = OwnMessageDeletion(
        database, clock, bus, witness, credentials.sudo, base.account_events, base.errands
    )
    unfurling = Unfurling(database, clock, media, base.blocked, in_threads=base.in_threads)
    uploads = Uploads(database, clock, base.snowflakes, base.mint, media, messages, settings, base.blocked)
    posts = Posts(access, messages, clock, base.snowflakes, policy, audit_log)
    voice_regions = VoiceRegions(settings, access)
    push = _push(base)
    message_search_index = MessageSearchIndex(database, bus, enabled=settings.search == "on")
    vanity_urls = VanityUrls(database, base.guild_states, access, bus, audit_log, clock, settings, policy)
    guild_deletion = GuildDeletion(
        database,
        base.guild_states,
        access,
        bus,
        audit_log,
        policy,
        credentials.sudo,
        base.errands,
        crossposting.look_again,
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
        single_sign_on=build_single_sign_on(base, credentials),
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
            base.errands,
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
        errands=base.errands,
        own_message_deletion=own_message_deletion,
        own_messages=OwnMessages(access, authors_messages, credentials.sudo, memberships),
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
            base.origins,
        ),
        oauth2_tokens=OAuth2Tokens(database, clock, base.snowflakes, base.mint, clients),
        oauth2_identity=OAuth2Identity(database, clock, clients),
        origins=base.origins,
        readiness=Readiness(database, base.is_draining),
        discovery=Discovery(
            base.overrides,
            credentials.mailer,
            push.vapid.public_key if settings.push.enabled else None,
            setup,
            base.origins,
        ),
        push_subscriptions=push.subscriptions,
        push_notifications=push.notifications,
        openapi=PublishedDocument([*ROUTES, *ADMIN_ROUTES], base.origins.fixed, in_threads=base.in_threads),
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
            origin=base.origins.shared,
            topic_key=base.keys.of("push topics"),
        ),
    )
