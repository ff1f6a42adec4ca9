"""The pages of the manual in their order. A page is a Markdown file of this folder, or made of a declaration."""

from __future__ import annotations

from typing import Final

from chat.classes import frozen


@frozen
class ManualPart:
    """Some pages that belong together."""

    title: str
    pages: tuple[str, ...]
    """Names of files without their ending."""


PARTS: Final = (
    ManualPart(
        "Begin",
        (
            "first-hour",
            "install",
            "setup",
        ),
    ),
    ManualPart(
        "Run it",
        (
            "hosting",
            "operating",
            "proxy",
            "mail",
            "voice",
            "single-sign-on",
            "monitoring",
            "backups",
            "upgrade",
            "storage",
            "nodes",
        ),
    ),
    ManualPart(
        "Move in",
        ("moving-from-discord", "moving-from-slack", "moving-from-another-service", "moving-to-another-instance"),
    ),
    ManualPart(
        "Look after people",
        (
            "moderation",
            "security",
            "privacy",
            "retention",
        ),
    ),
    ManualPart(
        "Build on it",
        (
            "bots",
            "differences",
            "workbench",
            "development",
            "testing",
            "translating",
            "community-form",
        ),
    ),
    ManualPart(
        "What it does",
        (
            "http",
            "access",
            "instance",
            "signing_in",
            "accounts",
            "people",
            "guilds",
            "threads",
            "messages",
            "media",
            "applications",
            "interactions",
            "webhooks",
            "administration",
            "compat",
        ),
    ),
    ManualPart(
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
