"""What is blocked on the instance (administration.md, Blocklists): email addresses, networks, phrases, pages, files,
images.

Every list is held in memory as well, so that asking it costs a look into a set; the store is what counts, and a change
reaches the memory after its commit.
"""

from __future__ import annotations

import ipaddress
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

import attrs

from chat import wire
from chat.classes import define
from chat.clock import iso_timestamp
from chat.domain.administration.account_fields import found as found_account
from chat.domain.administration.admin_audit_log import NO_TARGET, Acting, AdminAuditLog
from chat.domain.administration.administration_objects import optional_id
from chat.domain.core import Core
from chat.domain.policy.blocked_values import comparable_domain, comparable_page, comparable_text, domain_and_above
from chat.domain.policy.images import ANIMATED_PREFIX
from chat.errors import ApiError, InvalidFormBody
from chat.protocol.visible_text import trimmed
from chat.registries.blocklists import BLOCKLISTS, Blocklist
from chat.registries.error_codes import ErrorCode, FieldCode
from chat.store.accounts.accounts import email_key
from chat.store.administration import blocklists
from chat.store.administration.blocklists import BlockedValue

ENTRIES_MAXIMUM: Final = 100_000
"""Entries of one list; more are refused."""

PHRASES_MAXIMUM: Final = 10_000
"""Entries that a list of texts may have; every text is searched for all of them."""

VALUE_LENGTH: Final = 1_024
PHRASE_LENGTH: Final = 256
SHA_DIGITS: Final = 64

SHORTEST_PREFIX: Final = MappingProxyType({4: 8, 6: 16})
"""Bits that a network has at least, by IP version: a slip shall not shut all clients out."""

TEXTS: Final = frozenset({Blocklist.PHRASE, Blocklist.PROFILE_SUBSTRING})


@define(eq=False)
class Blocklists:
    """Keeps the lists; `blocked` holds them in memory."""

    _core: Core
    _log: AdminAuditLog
    _changes: int = attrs.field(default=0, init=False)
    """How often what is in memory was changed."""

    async def load(self) -> None:
        """Take the lists over from the store."""

        def query(connection: sqlite3.Connection) -> dict[Blocklist, set[str]]:
            return {name: set(blocklists.values_of(connection, name)) for name in Blocklist}

        while True:
            begun = self._changes
            read = await self._core.database.read(query)
            if begun == self._changes:  # else what was changed while it was read may be missing in it
                break
        for name, values in read.items():
            self._core.blocked.replace(name, values)

    def forget_all(self) -> None:
        """Forget all entries; only what the settings block stays blocked (`/v1/_dev/reset`)."""
        for name in Blocklist:
            self._core.blocked.replace(name, ())

    async def add(self, acting: Acting, name: Blocklist, value: str, reason: str | None) -> wire.BlockedValue:
        """Put a value on a list; one that is there already stays as it is. Raises InvalidFormBody at `value`, for what
        cannot be on the list, or when the list is full."""

        def unit(connection: sqlite3.Connection) -> BlockedValue:
            return self.take_in(connection, acting, name, value, reason)

        entry = await self._core.database.write(unit, lambda entry: self.added(name, entry.value), guard=acting.guard)
        return entry_object(entry)

    def take_in(
        self, connection: sqlite3.Connection, acting: Acting, name: Blocklist, value: str, reason: str | None
    ) -> BlockedValue:
        """In a unit of writing: as `add_in`, of a value in any form. Raises InvalidFormBody as `add`."""
        wanted = comparable(name, value)
        if blocklists.count(connection, name) >= (PHRASES_MAXIMUM if name in TEXTS else ENTRIES_MAXIMUM):
            raise InvalidFormBody.at("value", FieldCode.INVALID_FORMAT)
        return self.add_in(connection, acting, name, wanted, reason)

    def add_in(
        self, connection: sqlite3.Connection, acting: Acting, name: Blocklist, wanted: str, reason: str | None
    ) -> BlockedValue:
        """In a unit of writing: put a value on a list, in the form under which it is compared; `added` is to follow."""
        entry = BlockedValue(name, wanted, reason, acting.user_id, self._core.clock.now_ms())
        if not blocklists.add(connection, entry):
            entry = blocklists.find(connection, name, wanted) or entry
        self._log.record(connection, acting, BLOCKLISTS[name].added, wanted, {"reason": reason})
        return entry

    def added(self, name: Blocklist, value: str) -> None:
        """After the commit: block the value from now on."""
        self._changes += 1
        self._core.blocked.add(name, value)

    def removed(self, name: Blocklist, value: str) -> None:
        """After the commit: stop blocking the value."""
        self._changes += 1
        self._core.blocked.discard(name, value)

    async def remove(self, acting: Acting, name: Blocklist, value: str) -> None:
        """Take a value off a list. Raises NOT_FOUND when it is not on it."""
        wanted = comparable(name, value)

        def unit(connection: sqlite3.Connection) -> None:
            if not blocklists.remove(connection, name, wanted):
                raise ApiError(ErrorCode.NOT_FOUND)
            self._log.record(connection, acting, BLOCKLISTS[name].removed, wanted)

        await self._core.database.write(unit, lambda _: self.removed(name, wanted), guard=acting.guard)

    async def check(self, acting: Acting, name: Blocklist, value: str) -> wire.BlocklistAnswer:
        """Whether a value is blocked, with the entry that blocks it: its own, or that of a network or domain that it
        lies in."""
        wanted = comparable(name, value, judged=True)
        entry = next(
            (
                found
                for covering in _covering(name, wanted)
                if (found := blocklists.find(self._core.database.reader, name, covering)) is not None
            ),
            None,
        )
        await self._log.note(acting, BLOCKLISTS[name].checked, wanted, {"banned": entry is not None})
        return {"banned": entry is not None, "entry": None if entry is None else entry_object(entry)}

    async def page(self, acting: Acting, name: Blocklist, after: str, limit: int) -> wire.BlocklistPage:
        """Entries of a list in order of their values, those above `after`, how many there are in all, and where the
        next page begins, if there is one."""

        def query(connection: sqlite3.Connection) -> tuple[list[BlockedValue], int]:
            return blocklists.of_list(connection, name, after, limit + 1), blocklists.count(connection, name)

        found, total = await self._core.database.read(query)
        page = found[:limit]
        await self._log.note(acting, BLOCKLISTS[name].listed, NO_TARGET, {"limit": limit, "result_count": len(page)})
        return {
            "entries": [entry_object(entry) for entry in page],
            "total": total,
            "next_after": page[-1].value if len(found) > limit else None,
        }

    async def block_avatar(self, acting: Acting, user_id: int) -> wire.BlockedValue:
        """Block the avatar that an account shows, for all accounts. Raises UNKNOWN_USER; InvalidFormBody at `user_id`,
        for an account without an avatar, or when the list is full."""
        account = found_account(self._core.database.reader, user_id)
        if account.avatar is None:
            raise InvalidFormBody.at("user_id", FieldCode.INVALID_FORMAT)
        return await self.add(acting, Blocklist.AVATAR_HASH, account.avatar, acting.reason)


def entry_object(entry: BlockedValue) -> wire.BlockedValue:
    """An entry of a blocklist as a wire object."""
    return {
        "list": entry.list,
        "value": entry.value,
        "reason": entry.reason,
        "added_by": optional_id(entry.added_by),
        "added_at": iso_timestamp(entry.added_at),
    }


def comparable(name: Blocklist, value: str, *, judged: bool = False) -> str:
    """The form under which values of a list are compared; `judged` are those that are only looked up. Raises
    InvalidFormBody at `value`, for what cannot be on the list."""
    longest = PHRASE_LENGTH if name in TEXTS else VALUE_LENGTH
    found = _FORMS[name](value.strip()) if len(value) <= longest else value
    if len(found) > longest:  # who reads the list and sends back what stands there is to be understood
        raise InvalidFormBody.at("value", FieldCode.CONTENT_EXCEEDS_MAX_LENGTH)
    if not found or (name is Blocklist.IP and not judged and _is_too_wide(found)):
        raise InvalidFormBody.at("value", FieldCode.INVALID_FORMAT)
    return found


def _network(value: str) -> str:
    try:
        network = ipaddress.ip_network(value, strict=False)
    except ValueError:
        return ""
    if isinstance(network, ipaddress.IPv6Network) and network.prefixlen == network.max_prefixlen:
        unwrapped = network.network_address.ipv4_mapped
        return str(network if unwrapped is None else ipaddress.ip_network(unwrapped))
    return str(network)


def _is_too_wide(network: str) -> bool:
    parsed = ipaddress.ip_network(network)
    return parsed.prefixlen < SHORTEST_PREFIX[parsed.version]


def _email(value: str) -> str:
    """An address; or a domain with an @ before it, for every address there and below."""
    value = trimmed(value)
    name, separator, domain = value.rpartition("@")
    if not separator or not domain or any(map(str.isspace, value)):
        return ""
    if name:
        return email_key(value)
    found = comparable_domain(domain)
    return f"@{found}" if found else ""


def _sha(value: str) -> str:
    digits = value.lower()
    return digits if len(digits) == SHA_DIGITS and all(digit in "0123456789abcdef" for digit in digits) else ""


def _image_hash(value: str) -> str:
    bare = value.removeprefix(ANIMATED_PREFIX)
    return bare if bare.isascii() and bare.isalnum() and len(bare) <= SHA_DIGITS else ""


_FORMS: Final[Mapping[Blocklist, Callable[[str], str]]] = MappingProxyType(
    {
        Blocklist.EMAIL: _email,
        Blocklist.IP: _network,
        Blocklist.PHRASE: comparable_text,
        Blocklist.URL: comparable_page,
        Blocklist.URL_DOMAIN: comparable_domain,
        Blocklist.FILE_SHA: _sha,
        Blocklist.AVATAR_HASH: _image_hash,
        Blocklist.PROFILE_SUBSTRING: comparable_text,
    }
)


def _covering(name: Blocklist, value: str) -> Iterator[str]:
    """The value, and every wider one that blocks it when it is on the list."""
    yield value
    if name is Blocklist.IP:
        network = ipaddress.ip_network(value)
        yield from (str(network.supernet(new_prefix=length)) for length in reversed(range(network.prefixlen)))
    elif name is Blocklist.URL_DOMAIN:
        yield from domain_and_above(value)
    elif name is Blocklist.EMAIL:
        yield from (f"@{above}" for above in domain_and_above(comparable_domain(value.rpartition("@")[2])))
