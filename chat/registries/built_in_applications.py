"""The application that every instance has, though nobody made it (access.md, Admin credentials)."""

from __future__ import annotations

from typing import Final

ADMIN_APPLICATION_ID: Final = 2
"""The snowflake of the Admin application: below all that are ever made, and beside the fixed ids of accounts
(access.md, Admin credentials)."""

ADMIN_APPLICATION_NAME: Final = "Admin"
"""What people read when the Admin application asks for their consent."""
