"""What nobody may use on the instance (design 7, blocklists): mail addresses, networks, phrases, pages, files, images.

Every list is held in memory as well, so that asking it costs a look into a set; the store is what counts, and a change
reaches the memory after its commit.
"""

from __future__ import annotations

import ipaddress
import sqlite3
import unicodedata
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any, Final

from chat.clock import Clock, iso_timestamp
from chat.domain.admin_audit_log import Acting, AdminAuditLog
from chat.errors import ApiError, InvalidFormBody
from chat.registries.blocklists import BLOCKLISTS, Blocklist
from chat.store import blocklists
from chat.store.accounts import email_key
from chat.store.blocklists import BlockedValue
from chat.store.database import Database

ENTRIES_MAXIMUM: Final = 100_000
"""Entries of one list; more are refused."""

VALUE_LENGTH: Final = 1_024


class Blocklists:
    """Keeps the lists, and tells what is on them."""

    def __init__(self, database: Database, clock: Clock, log: AdminAuditLog) -> None:
        self._database = database
        self._clock = clock
        self._log = log
        self._held: dict[Blocklist, set[str]] = {name: set() for name in Blocklist}

    async def load(self) -> None:
        """Take the lists over from the store."""

        def query(connection: sqlite3.Connection) -> dict[Blocklist, set[str]]:
            return {name: set(blocklists.values_of(connection, name)) for name in Blocklist}

        for name, values in (await self._database.read(query)).items():
            self._held[name].clear()
            self._held[name].update(values)

    def values(self, name: Blocklist) -> Collection[str]:
        """What is on a list, in the form under which it is compared; it stays current."""
        return self._held[name]

    def has(self, name: Blocklist, value: str) -> bool:
        """Whether the very value is on the list; what cannot be on it is not."""
        held = self._held[name]
        if not held:
            return False
        try:
            return comparable(name, value) in held
        except InvalidFormBody:
            return False

    async def add(self, acting: Acting, name: Blocklist, value: str, reason: str | None) -> dict[str, Any]:
        """Put a value on a list; one that is there already stays as it is.

        :raises InvalidFormBody: at `value`, for what cannot be on the list, or beyond ENTRIES_MAXIMUM.
        """
        wanted = comparable(name, value)

        def unit(connection: sqlite3.Connection) -> BlockedValue:
            if blocklists.count(connection, name) >= ENTRIES_MAXIMUM:
                raise InvalidFormBody.at("value", "INVALID_FORMAT")
            return self.add_in(connection, acting, name, wanted, reason)

        entry = await self._database.write(unit, lambda entry: self.added(name, entry.value))
        return entry_object(entry)

    def add_in(
        self, connection: sqlite3.Connection, acting: Acting, name: Blocklist, wanted: str, reason: str | None
    ) -> BlockedValue:
        """In a unit of writing: put a value on a list, in the form under which it is compared; `added` is to follow."""
        entry = BlockedValue(name, wanted, reason, acting.user_id, self._clock.now_ms())
        if not blocklists.add(connection, entry):
            entry = blocklists.find(connection, name, wanted) or entry
        self._log.record(connection, acting, BLOCKLISTS[name].added, wanted, {"reason": reason})
        return entry

    def added(self, name: Blocklist, value: str) -> None:
        """After the commit: the value counts from now on."""
        self._held[name].add(value)

    async def remove(self, acting: Acting, name: Blocklist, value: str) -> None:
        """Take a value off a list.

        :raises ApiError: NOT_FOUND when it is not on it.
        """
        wanted = comparable(name, value)

        def unit(connection: sqlite3.Connection) -> None:
            if not blocklists.remove(connection, name, wanted):
                raise ApiError("NOT_FOUND")
            self._log.record(connection, acting, BLOCKLISTS[name].removed, wanted)

        await self._database.write(unit, lambda _: self._held[name].discard(wanted))

    async def check(self, acting: Acting, name: Blocklist, value: str) -> dict[str, Any]:
        """Whether a value is on a list, with its entry."""
        wanted = comparable(name, value)
        entry = blocklists.find(self._database.reader, name, wanted)
        await self._log.note(acting, BLOCKLISTS[name].checked, wanted, {"banned": entry is not None})
        return {"banned": entry is not None, "entry": None if entry is None else entry_object(entry)}

    async def page(self, name: Blocklist, after: str, limit: int) -> list[dict[str, Any]]:
        """Entries of a list in order of their values, those above `after`."""
        found = await self._database.read(lambda connection: blocklists.of_list(connection, name, after, limit))
        return [entry_object(entry) for entry in found]


def entry_object(entry: BlockedValue) -> dict[str, Any]:
    """One entry as the wire has it."""
    return {
        "list": entry.list,
        "value": entry.value,
        "reason": entry.reason,
        "added_by": None if entry.added_by is None else str(entry.added_by),
        "added_at": iso_timestamp(entry.added_at),
    }


def comparable(name: Blocklist, value: str) -> str:
    """The form under which values of a list are compared.

    :raises InvalidFormBody: at `value`, for what cannot be on the list.
    """
    if len(value) > VALUE_LENGTH:
        raise InvalidFormBody.at("value", "CONTENT_EXCEEDS_MAX_LENGTH")
    found = _FORMS[name](value.strip())
    if not found:
        raise InvalidFormBody.at("value", "INVALID_FORMAT")
    return found


def _text(value: str) -> str:
    return unicodedata.normalize("NFKC", value).casefold()


def _network(value: str) -> str:
    try:
        return str(ipaddress.ip_network(value, strict=False))
    except ValueError:
        return ""


def _email(value: str) -> str:
    return email_key(value) if "@" in value else ""


def _domain(value: str) -> str:
    bare = value.casefold().strip(".")
    return bare if "." in bare and "/" not in bare and not any(map(str.isspace, bare)) else ""


def _url(value: str) -> str:
    return value if value.startswith(("http://", "https://")) else ""


def _sha(value: str) -> str:
    digits = value.casefold()
    return digits if len(digits) == 64 and all(digit in "0123456789abcdef" for digit in digits) else ""


_FORMS: Final[Mapping[Blocklist, Callable[[str], str]]] = MappingProxyType(
    {
        Blocklist.EMAIL: _email,
        Blocklist.IP: _network,
        Blocklist.PHRASE: _text,
        Blocklist.URL: _url,
        Blocklist.URL_DOMAIN: _domain,
        Blocklist.FILE_SHA: _sha,
        Blocklist.AVATAR_HASH: lambda value: value.removeprefix("a_"),
        Blocklist.PROFILE_SUBSTRING: _text,
    }
)
