"""Puts the area together: what administrators and the instance itself do."""

from __future__ import annotations

from collections.abc import Callable

import attrs

from chat.auth.outgoing_http import OutgoingHttp
from chat.auth.typed_codes import TypedCodes
from chat.classes import frozen
from chat.domain.accounts.assemble import AccountsArea
from chat.domain.administration.account_closing import AdministeredBans, AdministeredDeletions
from chat.domain.administration.account_credentials import AdministeredCredentials, AdministeredRegistrations
from chat.domain.administration.account_erasure import AccountErasure
from chat.domain.administration.account_fields import AdministeredAccounts
from chat.domain.administration.account_lists import (
    AdministeredApplications,
    AdministeredLists,
    AdministeredRelationships,
)
from chat.domain.administration.admin_api_keys import AdminApiKeys
from chat.domain.administration.admin_audit_log import AdminAuditLog, AdminAuditReading
from chat.domain.administration.admin_users import AccountSearches, AdminAccountViews
from chat.domain.administration.archives import Archives
from chat.domain.administration.billing import Billing
from chat.domain.administration.blocklists import Blocklists
from chat.domain.administration.discovery_document import Discovery
from chat.domain.administration.disk_watch import DiskWatch
from chat.domain.administration.guild_contents import AdministeredGuildContents, AdministeredGuildMembers
from chat.domain.administration.guilds import AdministeredDiscovery, AdministeredGuilds
from chat.domain.administration.instance_configuration import (
    GatewayFigures,
    InstanceConfiguration,
    InstanceFigures,
    InstanceSetup,
)
from chat.domain.administration.jobs import BulkJobs, JobLedger
from chat.domain.administration.messages import AdministeredMessages, MessageShreds
from chat.domain.administration.metadata_removal import MetadataRemoval
from chat.domain.administration.outside_reports import OutsideReports
from chat.domain.administration.reports import ReportReading, Reports
from chat.domain.administration.storage import Storage
from chat.domain.administration.store_purchases import StorePurchases, SubscriptionCancellations
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
from chat.jobs import Jobs
from chat.mail.mailer import Mailer
from chat.media.storage import ArchiveFiles
from chat.push.encryption import Vapid
from chat.registries.jobs import JobType


@frozen(kw_only=True)
class GatewayView:
    """What administrators see of the gateway: its figures, and how many sessions are connected to a guild."""

    figures: Callable[[], GatewayFigures]
    sessions_in: Callable[[int], int]


@frozen(kw_only=True, slots=False)
class _AccountServices:
    views: AdminAccountViews
    accounts: AdministeredAccounts
    credentials: AdministeredCredentials
    registrations: AdministeredRegistrations
    bans: AdministeredBans
    deletions: AdministeredDeletions
    erasure: AccountErasure
    lists: AdministeredLists
    searches: AccountSearches
    relationships: AdministeredRelationships
    purchases: StorePurchases


@frozen(kw_only=True, slots=False)
class _GuildServices:
    guilds: AdministeredGuilds
    guild_members: AdministeredGuildMembers
    guild_contents: AdministeredGuildContents
    discovery_review: AdministeredDiscovery


@frozen(kw_only=True, slots=False)
class _InstanceServices:
    figures: InstanceFigures
    setup: InstanceSetup
    configuration: InstanceConfiguration
    discovery: Discovery


@frozen(kw_only=True, slots=False)
class _StorageServices:
    storage: Storage
    disk_watch: DiskWatch
    metadata_removal: MetadataRemoval


@frozen(kw_only=True, slots=False)
class AdministrationArea(_AccountServices, _GuildServices, _InstanceServices, _StorageServices):
    log: AdminAuditLog
    audit_reading: AdminAuditReading
    admin_api_keys: AdminApiKeys
    applications: AdministeredApplications
    blocklists: Blocklists
    reports: Reports
    outside_reports: OutsideReports
    report_reading: ReportReading
    messages: AdministeredMessages
    shreds: MessageShreds
    system_dms: SystemDms
    archives: Archives
    jobs: Jobs
    ledger: JobLedger
    bulk_jobs: BulkJobs

    @property
    def background(self) -> Background:
        """The tasks that run as long as the server does."""
        return (
            self.jobs.run,
            self.archives.run,
            self.erasure.run,
            self.admin_api_keys.run,
            self.disk_watch.run,
            self.metadata_removal.begin,
        )


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
    database, mailer, witness = core.database, signing_in.mailer, standing.witness
    log = AdminAuditLog(database, core.snowflakes)
    jobs = _jobs(core, messages)
    blocklists = Blocklists(core, log)
    reports = Reports(core, messages.messages, mailer, log)
    of_guilds = _guild_services(core, log, standing, presence, guilds_area)
    of_accounts = _account_services(
        core, log, jobs, blocklists, reports, standing, policy, presence, signing_in, messages, people, guilds_area
    )
    vapid = accounts_area.vapid if core.settings.push.enabled else None
    of_instance = _instance_services(core, log, standing, presence, gateway, mailer, vapid)
    return AdministrationArea(
        **attrs.asdict(of_accounts, recurse=False),
        **attrs.asdict(of_guilds, recurse=False),
        **attrs.asdict(of_instance, recurse=False),
        **attrs.asdict(_storage_services(core, log, jobs, policy, mailer), recurse=False),
        log=log,
        audit_reading=AdminAuditReading(database),
        admin_api_keys=AdminApiKeys(database, core.clock, core.snowflakes, core.mint),
        applications=AdministeredApplications(core=core, log=log),
        blocklists=blocklists,
        reports=reports,
        outside_reports=OutsideReports(core, TypedCodes(core.keys, core.chance), messages.messages, mailer),
        report_reading=ReportReading(core, log),
        messages=AdministeredMessages(core=core, witness=witness, log=log),
        shreds=MessageShreds(core, witness, jobs, log),
        system_dms=SystemDms(
            core=core,
            usernames=policy.usernames,
            conversations=standing.private_channels,
            system_messages=messages.system_messages,
            orders=jobs,
            log=log,
        ),
        archives=Archives(core, jobs, log, policy.media.storage, ArchiveFiles(core.directory / "archives")),
        jobs=jobs,
        ledger=JobLedger(database=database, orders=jobs),
        bulk_jobs=BulkJobs(
            database=database,
            orders=jobs,
            log=log,
            accounts=of_accounts.accounts,
            deletions=of_accounts.deletions,
            guilds=of_guilds.guilds,
            members=of_guilds.guild_members,
        ),
    )


def _jobs(core: Core, messages: MessagesArea) -> Jobs:
    jobs = Jobs(core.database, core.clock, core.snowflakes)
    jobs.handle(JobType.MESSAGE_SEARCH_RENEWAL, messages.message_search_index.renew)
    return jobs


def _account_services(
    core: Core,
    log: AdminAuditLog,
    jobs: Jobs,
    blocklists: Blocklists,
    reports: Reports,
    standing: StandingArea,
    policy: PolicyArea,
    presence: PresenceArea,
    signing_in: SigningInArea,
    messages: MessagesArea,
    people: PeopleArea,
    guilds: GuildsArea,
) -> _AccountServices:
    billing = _billing(core)
    views = AdminAccountViews(core=core, lookups=signing_in.address_lookups)
    accounts = AdministeredAccounts(core=core, usernames=policy.usernames, log=log, views=views)
    return _AccountServices(
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
        registrations=AdministeredRegistrations(core=core, log=log),
        bans=AdministeredBans(core=core, mailer=signing_in.mailer, log=log, accounts=accounts),
        deletions=AdministeredDeletions(
            core=core,
            mailer=signing_in.mailer,
            log=log,
            views=views,
            accounts=accounts,
            blocklists=blocklists,
            reports=reports,
            cancellations=SubscriptionCancellations(core.database, billing, jobs),
        ),
        erasure=_erasure(core, jobs, standing, messages, people, guilds),
        lists=AdministeredLists(
            database=core.database,
            log=log,
            views=views,
            lookups=signing_in.address_lookups,
            user_agents=signing_in.user_agents,
            online_count=presence.presences.online_count,
        ),
        searches=AccountSearches(core, log, views, billing),
        relationships=AdministeredRelationships(core, standing.relationships, log),
        purchases=StorePurchases(core=core, billing=billing, log=log),
    )


def _erasure(
    core: Core, jobs: Jobs, standing: StandingArea, messages: MessagesArea, people: PeopleArea, guilds: GuildsArea
) -> AccountErasure:
    return AccountErasure(
        core,
        orders=jobs,
        own_messages=messages.own_message_deletion,
        succession=guilds.guild_succession,
        memberships=guilds.memberships,
        groups=people.groups,
        relationships=standing.relationships,
    )


def _guild_services(
    core: Core, log: AdminAuditLog, standing: StandingArea, presence: PresenceArea, guilds: GuildsArea
) -> _GuildServices:
    return _GuildServices(
        guilds=AdministeredGuilds(
            core=core,
            log=log,
            changes=guilds.guild_changes,
            deletion=guilds.guild_deletion,
            vanity_urls=guilds.vanity_urls,
            rosters=standing.rosters,
            online_count=presence.presences.online_count,
        ),
        guild_members=AdministeredGuildMembers(
            core=core, memberships=guilds.memberships, bans=guilds.bans, rosters=standing.rosters, log=log
        ),
        guild_contents=AdministeredGuildContents(core=core, expressions=guilds.expressions, log=log),
        discovery_review=AdministeredDiscovery(core=core, log=log, changes=guilds.guild_changes),
    )


def _instance_services(
    core: Core,
    log: AdminAuditLog,
    standing: StandingArea,
    presence: PresenceArea,
    gateway: GatewayView,
    mailer: Mailer,
    vapid: Vapid | None,
) -> _InstanceServices:
    setup = InstanceSetup(core.database, core.keys)
    return _InstanceServices(
        figures=InstanceFigures(
            core=core,
            presences=presence.presences,
            voice_states=presence.voice_states,
            rosters=standing.rosters,
            log=log,
            gateway=gateway.figures,
            sessions_in=gateway.sessions_in,
        ),
        setup=setup,
        configuration=InstanceConfiguration(core=core, overrides=core.overrides, setup=setup, log=log),
        discovery=Discovery(core.overrides, mailer, vapid, setup, core.origins),
    )


def _storage_services(
    core: Core, log: AdminAuditLog, jobs: Jobs, policy: PolicyArea, mailer: Mailer
) -> _StorageServices:
    files = ArchiveFiles(core.directory / "archives")
    storage = Storage(core=core, storage=policy.media.storage, archive_files=files, orders=jobs, log=log)
    return _StorageServices(
        storage=storage,
        disk_watch=DiskWatch(core=core, storage=storage, mailer=mailer),
        metadata_removal=MetadataRemoval(core=core, media=policy.media, orders=jobs),
    )


def _billing(core: Core) -> Billing | None:
    """The store service; a self-hosted instance has none."""
    if core.settings.self_hosted or core.settings.billing.store_url is None:
        return None
    return Billing(core.settings.billing, OutgoingHttp(in_threads=core.in_threads))
