"""Administrative operations (document 002; wire facts 7)."""

from __future__ import annotations

from typing import Final

from chat.api.schemas.shapes import (
    SNOWFLAKE,
    TEXT,
    TIMESTAMP,
    TRUE,
    listed,
    member_of,
    nullable,
    record,
    wire_object,
)
from chat.api.schemas.users import ADMIN_USER
from chat.registries.acls import Acl
from chat.registries.reports import ReportStatus

API_KEY: Final = wire_object(
    "AdminApiKey",
    {
        "key_id": SNOWFLAKE,
        "name": TEXT,
        "acls": listed(TEXT),
        "created_by_user_id": SNOWFLAKE,
        "created_at": TIMESTAMP,
        "last_used_at": nullable(TIMESTAMP),
        "expires_at": nullable(TIMESTAMP),
    },
)

NEW_API_KEY: Final = API_KEY.extended("NewAdminApiKey", {"key": TEXT}, without=("created_by_user_id", "last_used_at"))

ACL_NAMES: Final = record({"acls": listed(member_of(Acl))})
USER: Final = record({"user": ADMIN_USER})
SUCCESS: Final = record({"success": TRUE})
REPORTED: Final = wire_object("Reported", {"report_id": SNOWFLAKE, "status": member_of(ReportStatus)})
