"""Which administrative service stands on which; what `chat.composition` is to the rest of the API."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from chat.api.administration_services import AdministrationServices
from chat.auth.outgoing_http import OutgoingHttp
from chat.auth.typed_codes import TypedCodes
from chat.domain.administration.account_erasure import AccountErasure
from chat.domain.administration.account_searches import AccountSearches
from chat.domain.administration.admin_account_views import AdminAccountViews
from chat.domain.administration.admin_audit_log import AdminAuditLog
from chat.domain.administration.admin_audit_reading import AdminAuditReading
from chat.domain.administration.administered_accounts import AdministeredAccounts
from chat.domain.administration.administered_applications import AdministeredApplications
from chat.domain.administration.administered_bans import AdministeredBans
from chat.domain.administration.administered_credentials import AdministeredCredentials
from chat.domain.administration.administered_deletions import AdministeredDeletions
from chat.domain.administration.administered_discovery import AdministeredDiscovery
from chat.domain.administration.administered_guild_contents import AdministeredGuildContents
from chat.domain.administration.administered_guild_members import AdministeredGuildMembers
from chat.domain.administration.administered_guilds import AdministeredGuilds
from chat.domain.administration.administered_lists import AdministeredLists
from chat.domain.administration.administered_messages import AdministeredMessages
from chat.domain.administration.administered_registrations import AdministeredRegistrations
from chat.domain.administration.administered_relationships import AdministeredRelationships
from chat.domain.administration.archives import Archives
from chat.domain.administration.billing import Billing
from chat.domain.administration.billing_service import BillingService
from chat.domain.administration.blocklists import Blocklists
from chat.domain.administration.bulk_jobs import BulkJobs
from chat.domain.administration.instance_configuration import InstanceConfiguration
from chat.domain.administration.instance_figures import InstanceFigures
from chat.domain.administration.job_ledger import JobLedger
from chat.domain.administration.message_shreds import MessageShreds
from chat.domain.administration.outside_reports import OutsideReports
from chat.domain.administration.report_reading import ReportReading
from chat.domain.administration.reports import Reports
from chat.domain.administration.store_purchases import StorePurchases
from chat.domain.administration.subscription_cancellations import SubscriptionCancellations
from chat.domain.administration.system_dms import SystemDms
from chat.domain.guilds.guild_succession import GuildSuccession
from chat.domain.standing.channel_witness import ChannelWitness
from chat.jobs.runner import Jobs
from chat.media.archive_files import ArchiveFiles

if TYPE_CHECKING:
    from chat.account_composition import Credentials, Recovery
    from chat.domain.administration.instance_setup import InstanceSetup
    from chat.domain.guilds.bans import Bans
    from chat.domain.guilds.expressions import Expressions
    from chat.domain.guilds.guild_changes import GuildChanges
    from chat.domain.guilds.guild_deletion import GuildDeletion
    from chat.domain.guilds.memberships import Memberships
    from chat.domain.guilds.vanity_urls import VanityUrls
    from chat.domain.messages.messages import Messages
    from chat.domain.messages.own_message_deletion import OwnMessageDeletion
    from chat.domain.messages.system_messages import SystemMessages
    from chat.domain.people.groups import Groups
    from chat.domain.policy.media_library import MediaLibrary
    from chat.domain.standing.access import Access
    from chat.domain.standing.audit_log import AuditLog
    from chat.foundations import Foundations
    from chat.media.signing import MediaAddresses


@attrs.frozen(kw_only=True)
class GuildParts:
    """The services of guilds that administrative ones stand on."""

    addresses: MediaAddresses
    audit_log: AuditLog
    bans: Bans
    changes: GuildChanges
    deletion: GuildDeletion
    expressions: Expressions
    memberships: Memberships
    setup: InstanceSetup
    system_messages: SystemMessages
    vanity_urls: VanityUrls


def build_administration(
    base: Foundations,
    credentials: Credentials,
    recovery: Recovery,
    access: Access,
    messages: Messages,
    guild_parts: GuildParts,
    media: MediaLibrary,
    groups: Groups,
    own_messages: OwnMessageDeletion,
) -> AdministrationServices:
    """Every service behind /v1/admin."""
    database, clock, settings = base.database, base.clock, base.settings
    log = AdminAuditLog(database, base.snowflakes)
    views = AdminAccountViews(database, clock, base.address_lookups)
    accounts = AdministeredAccounts(database, clock, credentials.usernames, base.account_events, log, views, settings)
    blocklists = Blocklists(database, clock, log, base.blocked)
    reports = Reports(
        database,
        clock,
        base.snowflakes,
        access,
        base.guild_states,
        messages,
        credentials.mailer,
        log,
        base.errands,
        settings,
    )
    jobs = Jobs(database, clock, base.snowflakes)
    billing = _billing(base)
    witness = ChannelWitness(base.guild_states, base.private_channels, base.thread_lookup)
    deletions = AdministeredDeletions(
        database,
        clock,
        credentials.mailer,
        base.account_events,
        log,
        views,
        blocklists,
        reports,
        SubscriptionCancellations(database, billing, jobs),
        base.errands,
        settings,
    )
    guilds = AdministeredGuilds(
        database,
        base.guild_states,
        base.bus,
        log,
        guild_parts.changes,
        guild_parts.deletion,
        guild_parts.vanity_urls,
        base.rosters,
        base.presences.online_count,
    )
    guild_members = AdministeredGuildMembers(
        database, base.guild_states, guild_parts.memberships, guild_parts.bans, base.rosters, log
    )
    return AdministrationServices(
        log=log,
        audit_reading=AdminAuditReading(database),
        views=views,
        accounts=accounts,
        credentials=AdministeredCredentials(
            database,
            clock,
            base.mint,
            accounts,
            credentials.verification,
            recovery.password_recovery,
            credentials.passkeys,
            base.account_events,
            log,
        ),
        blocklists=blocklists,
        reports=reports,
        discovery=AdministeredDiscovery(database, base.guild_states, clock, log, guild_parts.changes),
        outside_reports=OutsideReports(
            database,
            clock,
            base.snowflakes,
            base.mint,
            TypedCodes(base.keys, base.chance),
            messages,
            credentials.mailer,
            settings,
        ),
        report_reading=ReportReading(database, log, settings),
        jobs=jobs,
        ledger=JobLedger(database, jobs),
        bulk_jobs=BulkJobs(database, jobs, log, accounts, deletions, guilds, guild_members),
        shreds=MessageShreds(database, clock, base.bus, witness, jobs, log),
        archives=Archives(
            database,
            clock,
            base.snowflakes,
            jobs,
            log,
            media.storage,
            ArchiveFiles(base.directory / "archives"),
            media.addresses,
            settings,
        ),
        deletions=deletions,
        erasure=AccountErasure(
            database,
            clock,
            base.bus,
            jobs,
            base.account_events,
            own_messages,
            GuildSuccession(database, base.guild_states, base.bus, guild_parts.audit_log, base.errands),
            guild_parts.memberships,
            groups,
            base.relationships,
        ),
        purchases=StorePurchases(database, clock, base.snowflakes, billing, base.account_events, log),
        searches=AccountSearches(database, log, views, billing, settings),
        lists=AdministeredLists(
            database, log, views, base.address_lookups, base.user_agents, base.presences.online_count
        ),
        relationships=AdministeredRelationships(database, base.relationships, log, base.errands),
        guilds=guilds,
        guild_members=guild_members,
        messages=AdministeredMessages(database, base.bus, witness, guild_parts.addresses, log),
        applications=AdministeredApplications(database, log, base.account_events, settings),
        configuration=InstanceConfiguration(database, base.overrides, guild_parts.setup, base.account_events, log),
        registrations=AdministeredRegistrations(database, clock, log),
        system_dms=SystemDms(
            database,
            clock,
            base.bus,
            base.snowflakes,
            credentials.usernames,
            base.private_channels,
            guild_parts.system_messages,
            jobs,
            log,
            settings,
        ),
        figures=InstanceFigures(
            database,
            clock,
            base.bus,
            base.guild_states,
            base.presences,
            base.voice_states,
            base.rosters,
            log,
            base.gateway_figures,
            base.sessions_in,
        ),
        guild_contents=AdministeredGuildContents(database, guild_parts.audit_log, guild_parts.expressions, log),
        bans=AdministeredBans(database, clock, credentials.mailer, base.account_events, log, views, settings),
    )


def _billing(base: Foundations) -> Billing | None:
    """The store service; a self-hosted instance has none."""
    if base.settings.self_hosted or base.settings.billing.store_url is None:
        return None
    return BillingService(base.settings.billing, OutgoingHttp(in_threads=base.in_threads))
