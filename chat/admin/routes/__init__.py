"""The administrative operations, one module per family."""

from __future__ import annotations

from typing import Final

from chat.admin.routes import (
    account_access,
    account_fields,
    accounts,
    applications,
    blocklists,
    guilds,
    instance,
    jobs,
    messages,
    reports,
    storage,
)
from chat.api.operation import Routes

ADMIN_ROUTES: Final[tuple[Routes, ...]] = tuple(
    module.routes
    for module in (
        accounts,
        account_fields,
        account_access,
        blocklists,
        guilds,
        instance,
        messages,
        applications,
        jobs,
        reports,
        storage,
    )
)
"""Every operation below /v1/admin."""
