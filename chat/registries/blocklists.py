"""The lists of what nobody may use on the instance (administration.md, Blocklists)."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from chat.classes import frozen
from chat.registries.acls import Acl
from chat.registries.admin_actions import AdminAction, AdminTarget


class Blocklist(enum.StrEnum):
    """The name of a list, as paths have it."""

    EMAIL = "email"
    """Mail addresses that no account may have; `@example.com` is all of a domain."""

    IP = "ip"
    """Networks from which nobody is served."""

    PHRASE = "phrase"
    """Text that no message, name or profile may hold."""

    URL = "url"
    """Addresses of pages that no message may hold."""

    URL_DOMAIN = "url_domain"
    """Domains of pages that no message may hold, with all below them."""

    FILE_SHA = "file_sha"
    """Files, by the SHA-256 of their bytes, that nobody may upload."""

    AVATAR_HASH = "avatar_hash"
    """Images, by the hash in their addresses, that nobody may show."""

    PROFILE_SUBSTRING = "profile_substring"
    """Text that no name or biography may hold."""


@frozen
class BlocklistKind:
    """What belongs to a list: who may change and ask it, and how the audit log calls that."""

    add: Acl
    check: Acl
    remove: Acl
    target: AdminTarget
    added: AdminAction
    checked: AdminAction
    removed: AdminAction
    listed: AdminAction


def _kind(name: str) -> BlocklistKind:
    upper = name.upper()
    return BlocklistKind(
        Acl[f"BAN_{upper}_ADD"],
        Acl[f"BAN_{upper}_CHECK"],
        Acl[f"BAN_{upper}_REMOVE"],
        AdminTarget[upper],
        AdminAction[f"BAN_{upper}"],
        AdminAction[f"CHECK_{upper}_BAN"],
        AdminAction[f"UNBAN_{upper}"],
        AdminAction[f"LIST_{upper}_BANS"],
    )


BLOCKLISTS: Final[Mapping[Blocklist, BlocklistKind]] = MappingProxyType({name: _kind(name.value) for name in Blocklist})
"""Every list."""
