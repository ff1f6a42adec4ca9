"""The administrative operations, one module per family."""

from __future__ import annotations

from typing import Final

from chat.admin.routes import (
    account_bans,
    account_credentials,
    account_deletions,
    account_fields,
    account_lists,
    account_messages,
    account_purchases,
    account_relationships,
    account_search,
    acls,
    api_keys,
    applications,
    archives,
    audit_logs,
    blocklists,
    bulk_jobs,
    discovery,
    figures,
    guild_contents,
    guild_members,
    guilds,
    instance,
    jobs,
    messages,
    own_account,
    reports,
    system_dms,
)
from chat.api.operation import Routes

ADMIN_ROUTES: Final[tuple[Routes, ...]] = tuple(
    module.routes
    for module in (
        own_account,
        account_search,
        account_fields,
        account_credentials,
        account_bans,
        account_deletions,
        account_lists,
        account_messages,
        account_purchases,
        account_relationships,
        acls,
        api_keys,
        archives,
        audit_logs,
        blocklists,
        discovery,
        guilds,
        guild_members,
        guild_contents,
        figures,
        system_dms,
        instance,
        messages,
        applications,
        jobs,
        bulk_jobs,
        reports,
    )
)
"""Every operation below /v1/admin."""
