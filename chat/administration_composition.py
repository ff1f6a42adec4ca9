"""Which administrative service stands on which; what `chat.composition` is to the rest of the API."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chat.api.administration_services import AdministrationServices
from chat.domain.address_lookups import AddressLookups
from chat.domain.admin_account_views import AdminAccountViews
from chat.domain.admin_audit_log import AdminAuditLog
from chat.domain.administered_accounts import AdministeredAccounts
from chat.domain.administered_bans import AdministeredBans
from chat.domain.administered_credentials import AdministeredCredentials
from chat.domain.administered_lists import AdministeredLists
from chat.domain.administered_relationships import AdministeredRelationships

if TYPE_CHECKING:
    from chat.composition import Credentials, Foundations, Recovery


def build_administration(base: Foundations, credentials: Credentials, recovery: Recovery) -> AdministrationServices:
    """Every service behind /v1/admin."""
    database, clock, settings = base.database, base.clock, base.settings
    log = AdminAuditLog(database, base.snowflakes)
    lookups = AddressLookups()
    views = AdminAccountViews(database, clock, lookups)
    accounts = AdministeredAccounts(database, clock, credentials.usernames, base.account_events, log, views, settings)
    return AdministrationServices(
        log=log,
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
            settings,
        ),
        lists=AdministeredLists(database, log, views, lookups, base.presences.online_count),
        relationships=AdministeredRelationships(database, base.relationships, log),
        bans=AdministeredBans(database, clock, credentials.mailer, base.account_events, log, views, settings),
    )
