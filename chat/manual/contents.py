"""The pages of the manual in their order. A page is a Markdown file of this folder, or made of a declaration."""

from __future__ import annotations

from typing import Final

from chat.classes import frozen


@frozen
class Part:
    """Some pages that belong together."""

    title: str
    pages: tuple[str, ...]
    """Names of files without their ending."""


PARTS: Final = (
    Part(
        "Begin",
        (
            "first-hour",
            "install",
            "setup",
        ),
    ),
    Part(
        "Run it",
        (
            "hosting",
            "operating",
            "proxy",
            "mail",
            "single-sign-on",
            "monitoring",
            "backups",
            "upgrade",
            "storage",
            "nodes",
        ),
    ),
    Part(
        "Look after people",
        (
            "moderation",
            "security",
            "privacy",
        ),
    ),
    Part(
        "Build on it",
        (
            "bots",
            "differences",
            "workbench",
            "development",
            "testing",
            "translating",
        ),
    ),
    Part(
        "References",
        (
            "settings",
            "commands",
            "api",
            "permissions",
            "values",
            "limits",
            "gateway",
            "gateway-events",
            "gateway-codes",
            "gateway-states",
        ),
    ),
)
