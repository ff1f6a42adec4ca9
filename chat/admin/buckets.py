"""The request limits of administrative operations, shared by all that name them and counted per account and kind of
credential (administration.md, Buckets).
"""

from __future__ import annotations

from typing import Final

from chat.api.rate_limit import Bucket

MINUTE: Final = 60_000

LOOKUP: Final = Bucket("admin:lookup", 200, MINUTE)
MODIFY: Final = Bucket("admin:user:modify", 100, MINUTE)
GUILD_MODIFY: Final = Bucket("admin:guild:modify", 100, MINUTE)
MESSAGE: Final = Bucket("admin:message:operation", 100, MINUTE)
AUDIT_LOG: Final = Bucket("admin:audit_log", 100, MINUTE)
CODE_GENERATION: Final = Bucket("admin:code:generation", 30, MINUTE)
