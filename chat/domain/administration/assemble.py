"""Puts the area together: what administrators and the instance itself do."""

from __future__ import annotations

from collections.abc import Callable

import attrs

from chat.auth.outgoing_http import OutgoingHttp
from chat.auth.typed_codes import TypedCodes
from chat.domain.accounts.assemble import AccountsArea
from chat.domain.administration.account_erasure import AccountErasure
from chat.domain.administration.account_searches import AccountSearches
from chat.domain.administration.admin_account_views import AdminAccountViews
from chat.domain.administration.admin_api_keys import AdminApiKeys
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
from chat.domain.administration.discovery import Discovery
from chat.domain.administration.instance_configuration import InstanceConfiguration
from chat.domain.administration.instance_figures import GatewayFigures, InstanceFigures
from chat.domain.administration.instance_setup import InstanceSetup
from chat.domain.administration.job_ledger import JobLedger
from chat.domain.administration.message_shreds import MessageShreds
from chat.domain.administration.outside_reports import OutsideReports
from chat.domain.administration.report_reading import ReportReading
from chat.domain.administration.reports import Reports
from chat.domain.administration.store_purchases import StorePurchases
from chat.domain.administration.subscription_cancellations import SubscriptionCancellations
from chat.domain.administration.system_dms import SystemDms
from chat.domain.core import Core
from chat.domain.ground import Background
from chat.domain.guilds.assemble import GuildsArea
from chat.domain.messages.assemble import MessagesArea
from chat.domain.people.assemble import PeopleArea
from chat.domain.policy.assemble import PolicyArea
from chat.domain.presence.assemble import PresenceArea
from chat.domain.signing_in.assemble import SigningInArea
from chat.domain.standing.assemble import StandingArea
from chat.jobs.runner import Jobs
from chat.media.storage import ArchiveFiles


@attrs.frozen(kw_only=True)
class GatewayView:
    """What administrators see of the gateway: what it has in hand, and how many sessions hear a guild."""

    figures: Callable[[], GatewayFigures]
    sessions_in: Callable[[int], int]


@attrs.frozen(kw_only=True)
class AdministrationArea:
    """The services of administration."""

    log: AdminAuditLog
    audit_reading: AdminAuditReading
    views: AdminAccountViews
    accounts: AdministeredAccounts
    credentials: AdministeredCredentials
    bans: AdministeredBans
    deletions: AdministeredDeletions
    erasure: AccountErasure
    lists: AdministeredLists
    searches: AccountSearches
    relationships: AdministeredRelationships
    purchases: StorePurchases
    blocklists: Blocklists
    reports: Reports
    outside_reports: OutsideReports
    report_reading: ReportReading
    guilds: AdministeredGuilds
    guild_members: AdministeredGuildMembers
    guild_contents: AdministeredGuildContents
    discovery_review: AdministeredDiscovery
    messages: AdministeredMessages
    shreds: MessageShreds
    system_dms: SystemDms
    applications: AdministeredApplications
    archives: Archives
    jobs: Jobs
    ledger: JobLedger
    bulk_jobs: BulkJobs
    figures: InstanceFigures
    setup: InstanceSetup
    configuration: InstanceConfiguration
    discovery: Discovery
    registrations: AdministeredRegistrations
    admin_api_keys: AdminApiKeys

    @property
    def background(self) -> Background:
        """What runs as long as the server does."""
        return (self.jobs.run, self.archives.run, self.erasure.run, self.admin_api_keys.run)


def assemble(
    core: Core,
    standing: StandingArea,
    policy: PolicyArea,
    presence: PresenceArea,
    signing_in: SigningInArea,
    messages: MessagesArea,
    accounts_area: AccountsArea,
    people: PeopleArea,
    guilds_area: GuildsArea,
    gateway: GatewayView,
) -> AdministrationArea:
    """Build the area."""
    database, clock, snowflakes, settings = core.database, core.clock, core.snowflakes, core.settings
    mailer, lookups = signing_in.mailer, signing_in.address_lookups
    rosters, online_count, witness = standing.rosters, presence.presences.online_count, standing.witness
    log = AdminAuditLog(database, snowflakes)
    views = AdminAccountViews(core=core, lookups=lookups)
    accounts = AdministeredAccounts(core=core, usernames=policy.usernames, log=log, views=views)
    blocklists = Blocklists(core, log=log)
    reports = Reports(core=core, messages=messages.messages, mailer=mailer, audit_log=log)
    jobs = Jobs(database, clock, snowflakes)
    billing = _billing(core)
    setup = InstanceSetup(database=database)
    deletions = AdministeredDeletions(
        core=core,
        mailer=mailer,
        log=log,
        views=views,
        blocklists=blocklists,
        reports=reports,
        cancellations=SubscriptionCancellations(database, billing, jobs),
    )
    guilds = AdministeredGuilds(
        core=core,
        log=log,
        changes=guilds_area.guild_changes,
        deletion=guilds_area.guild_deletion,
        vanity_urls=guilds_area.vanity_urls,
        rosters=rosters,
        online_count=online_count,
    )
    guild_members = AdministeredGuildMembers(
        core=core, memberships=guilds_area.memberships, bans=guilds_area.bans, rosters=rosters, log=log
    )
    return AdministrationArea(
        log=log,
        audit_reading=AdminAuditReading(database=database),
        views=views,
        accounts=accounts,
        credentials=AdministeredCredentials(
            core=core,
            accounts=accounts,
            verification=signing_in.verification,
            recovery=signing_in.password_recovery,
            passkeys=signing_in.passkeys,
            log=log,
        ),
        bans=AdministeredBans(core=core, mailer=mailer, log=log, views=views),
        deletions=deletions,
        erasure=AccountErasure(
            core,
            orders=jobs,
            own_messages=messages.own_message_deletion,
            succession=guilds_area.guild_succession,
            memberships=guilds_area.memberships,
            groups=people.groups,
            relationships=standing.relationships,
        ),
        lists=AdministeredLists(
            database=database,
            log=log,
            views=views,
            lookups=lookups,
            user_agents=signing_in.user_agents,
            online_count=online_count,
        ),
        searches=AccountSearches(core, log=log, views=views, billing=billing),
        relationships=AdministeredRelationships(core, standing.relationships, log),
        purchases=StorePurchases(core=core, billing=billing, log=log),
        blocklists=blocklists,
        reports=reports,
        outside_reports=OutsideReports(
            core, codes=TypedCodes(core.keys, core.chance), messages=messages.messages, mailer=mailer
        ),
        report_reading=ReportReading(core, log=log),
        guilds=guilds,
        guild_members=guild_members,
        guild_contents=AdministeredGuildContents(core=core, expressions=guilds_area.expressions, log=log),
        discovery_review=AdministeredDiscovery(core=core, log=log, changes=guilds_area.guild_changes),
        messages=AdministeredMessages(core=core, witness=witness, log=log),
        shreds=MessageShreds(core, witness=witness, orders=jobs, log=log),
        system_dms=SystemDms(
            core,
            usernames=policy.usernames,
            conversations=standing.private_channels,
            system_messages=messages.system_messages,
            orders=jobs,
            log=log,
        ),
        applications=AdministeredApplications(core=core, log=log),
        archives=Archives(
            core,
            orders=jobs,
            log=log,
            storage=policy.media.storage,
            files=ArchiveFiles(core.directory / "archives"),
        ),
        jobs=jobs,
        ledger=JobLedger(database=database, orders=jobs),
        bulk_jobs=BulkJobs(
            database=database,
            orders=jobs,
            log=log,
            accounts=accounts,
            deletions=deletions,
            guilds=guilds,
            members=guild_members,
        ),
        figures=InstanceFigures(
            core,
            presences=presence.presences,
            voice_states=presence.voice_states,
            rosters=rosters,
            log=log,
            gateway=gateway.figures,
            sessions_in=gateway.sessions_in,
        ),
        setup=setup,
        configuration=InstanceConfiguration(core=core, overrides=core.overrides, setup=setup, log=log),
        discovery=Discovery(
            core.overrides,
            mailer,
            accounts_area.vapid.public_key if settings.push.enabled else None,
            setup,
            core.origins,
        ),
        registrations=AdministeredRegistrations(core=core, log=log),
        admin_api_keys=AdminApiKeys(database, clock, snowflakes, core.mint),
    )


def _billing(core: Core) -> Billing | None:
    """The store service; a self-hosted instance has none."""
    if core.settings.self_hosted or core.settings.billing.store_url is None:
        return None
    return BillingService(core.settings.billing, OutgoingHttp(in_threads=core.in_threads))
