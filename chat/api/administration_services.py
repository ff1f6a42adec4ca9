"""The parts of one server that only administrative operations use; `Services.administration` holds them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
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
    from chat.domain.administration.system_dms import SystemDms
    from chat.jobs.runner import Jobs


@attrs.frozen(kw_only=True)
class AdministrationServices:
    """What stands behind /v1/admin."""

    log: AdminAuditLog
    audit_reading: AdminAuditReading
    views: AdminAccountViews
    accounts: AdministeredAccounts
    credentials: AdministeredCredentials
    bans: AdministeredBans
    lists: AdministeredLists
    searches: AccountSearches
    relationships: AdministeredRelationships
    deletions: AdministeredDeletions
    erasure: AccountErasure
    purchases: StorePurchases
    blocklists: Blocklists
    discovery: AdministeredDiscovery
    reports: Reports
    report_reading: ReportReading
    outside_reports: OutsideReports
    jobs: Jobs
    ledger: JobLedger
    bulk_jobs: BulkJobs
    shreds: MessageShreds
    guilds: AdministeredGuilds
    guild_members: AdministeredGuildMembers
    guild_contents: AdministeredGuildContents
    figures: InstanceFigures
    system_dms: SystemDms
    configuration: InstanceConfiguration
    registrations: AdministeredRegistrations
    messages: AdministeredMessages
    applications: AdministeredApplications
    archives: Archives
