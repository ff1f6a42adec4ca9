"""The enumerations of `chat.registries`: names and numbers that travel on the wire."""

from __future__ import annotations

import enum
import importlib
import inspect
import pkgutil
import types
from collections.abc import Iterator
from typing import Final

from chat import registries
from chat.manual.declared import documented, members, plain
from chat.manual.library import written
from chat.manual.markdown_text import page, table
from chat.registries import acls, permissions, scopes

ON_OTHER_PAGES: Final = frozenset(
    {"acls", "close_codes", "error_codes", "event_rules", "events", "opcodes", "permissions", "scopes"}
)
"""Modules of the registries whose enumerations other pages have."""

RIGHTS: Final = (
    (
        "Permissions",
        "Bits of a member in a guild or a channel. They travel as a decimal number in text.",
        permissions,
        permissions.Permission,
    ),
    ("Scopes", "What an access token of OAuth2 covers.", scopes, scopes.Scope),
    ("Rights of administrators", "Held by accounts and admin keys; `*` is all of them.", acls, acls.Acl),
)
"""Title, text, module and enumeration."""


def permissions_page() -> str:
    """What is written of permissions, and behind it the lists of all three kinds."""
    parts = [written("permissions").strip()]
    for title, about, module, registry in RIGHTS:
        rows = members(registry, documented(module)[registry.__name__])
        parts.append(f"## {title}\n\n{about}\n\n{table(('value', 'name', 'meaning'), rows)}")
    return "\n\n".join(parts) + "\n"


def values_page() -> str:
    """Every enumeration that has no page of its own."""
    sections = []
    for module in _modules():
        texts = documented(module)
        for name, registry in vars(module).items():
            if isinstance(registry, enum.EnumMeta) and registry.__module__ == module.__name__:
                head = ["value", "name", "meaning"]
                rows = list(members(registry, texts.get(name, {})))
                if not any(meaning for *_, meaning in rows):  # the names say it
                    head, rows = head[:2], [row[:2] for row in rows]
                sections.append(f"## {name}\n\n{plain(inspect.getdoc(registry) or '')}\n\n{table(head, rows)}")
    return page("Values", "Numbers and names that stand in members such as `type`, `flags` and `status`.", *sections)


def _modules() -> Iterator[types.ModuleType]:
    for module in pkgutil.iter_modules(registries.__path__):
        if module.name not in ON_OTHER_PAGES:
            yield importlib.import_module(f"{registries.__name__}.{module.name}")
