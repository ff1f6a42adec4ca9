"""The administrative operations, one module per family."""

from __future__ import annotations

from typing import Final

from chat.admin.routes import (
    account_closing,
    account_credentials,
    account_fields,
    accounts,
    api_keys,
    applications,
    archives,
    audit_logs,
    blocklists,
    discovery,
    guild_contents,
    guilds,
    instance,
    jobs,
    messages,
    reports,
)
from chat.api.operation import Routes

ADMIN_ROUTES: Final[tuple[Routes, ...]] = tuple(
    module.routes
    for module in (
        accounts,
        account_fields,
        account_credentials,
        account_closing,
        api_keys,
        archives,
        audit_logs,
        blocklists,
        discovery,
        guilds,
        guild_contents,
        instance,
        messages,
        applications,
        jobs,
        reports,
    )
)
"""Every operation below /v1/admin."""
