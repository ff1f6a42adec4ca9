"""The parts of one server that only administrative operations use; `Services.administration` holds them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from chat.domain.account_erasure import AccountErasure
    from chat.domain.account_searches import AccountSearches
    from chat.domain.admin_account_views import AdminAccountViews
    from chat.domain.admin_audit_log import AdminAuditLog
    from chat.domain.admin_audit_reading import AdminAuditReading
    from chat.domain.administered_accounts import AdministeredAccounts
    from chat.domain.administered_applications import AdministeredApplications
    from chat.domain.administered_bans import AdministeredBans
    from chat.domain.administered_credentials import AdministeredCredentials
    from chat.domain.administered_deletions import AdministeredDeletions
    from chat.domain.administered_discovery import AdministeredDiscovery
    from chat.domain.administered_guild_contents import AdministeredGuildContents
    from chat.domain.administered_guild_members import AdministeredGuildMembers
    from chat.domain.administered_guilds import AdministeredGuilds
    from chat.domain.administered_lists import AdministeredLists
    from chat.domain.administered_messages import AdministeredMessages
    from chat.domain.administered_registrations import AdministeredRegistrations
    from chat.domain.administered_relationships import AdministeredRelationships
    from chat.domain.archives import Archives
    from chat.domain.blocklists import Blocklists
    from chat.domain.bulk_jobs import BulkJobs
    from chat.domain.instance_configuration import InstanceConfiguration
    from chat.domain.instance_figures import InstanceFigures
    from chat.domain.job_ledger import JobLedger
    from chat.domain.message_shreds import MessageShreds
    from chat.domain.outside_reports import OutsideReports
    from chat.domain.report_reading import ReportReading
    from chat.domain.reports import Reports
    from chat.domain.store_purchases import StorePurchases
    from chat.domain.system_dms import SystemDms
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
