"""Archives: what they are about (administration.md, Archives)."""

from __future__ import annotations

import enum


class ArchiveSubject(enum.StrEnum):
    """What an archive holds."""

    USER = "user"
    GUILD = "guild"
