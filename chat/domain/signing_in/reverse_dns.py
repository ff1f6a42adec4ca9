"""The names of network addresses in DNS (signing_in.md, Client information).

The owner of an address says what its name is, and may say anything, slowly, or nothing: an answer has to come soon, few
questions are under way at a time, and what is no host name is no answer. Addresses of private networks are not asked
about: they mean nothing outside, and no server there need know of them.
"""

from __future__ import annotations

import ipaddress
import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import structlog
import trio

from chat.classes import frozen
from chat.config.settings import host_and_port

if TYPE_CHECKING:
    from dns.asyncresolver import Resolver

ADDRESSES_IN_ONE_GO: Final = 500
"""Addresses that are looked at before others have their turn."""

DAY_SECONDS: Final = 86_400.0

NAME_KEPT_SECONDS: Final = DAY_SECONDS
"""How long a name is reused (signing_in.md, Client information)."""

ABSENCE_KEPT_SECONDS: Final = 3_600.0
"""How long an address that has no name is not asked about again."""

FAILURE_KEPT_SECONDS: Final = 60.0
"""How long an address is left alone after a question about it got no answer, or none of use."""

QUESTION_SECONDS: Final = 1.5
"""How long the answer to one question may take, all name servers and repetitions together."""

CACHE_ENTRIES: Final = 10_000
"""Addresses of which the result is kept; beyond, the one that was used the longest time ago goes."""

QUESTIONS_AT_A_TIME: Final = 16

SERVERS_KEPT_SECONDS: Final = 600.0
"""How long the system's list of name servers is taken for current."""

NAME_CHARACTERS: Final = 253

_HOST_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,63}(?:\.[A-Za-z0-9_-]{1,63})*", re.ASCII)

log: Final = structlog.get_logger("chat.lookups")


@frozen
class _Kept:
    """A result: the name, None for none, and until when it holds on the run's clock."""

    name: str | None
    until: float


class ReverseDns:
    """Finds out names; results are kept in memory.

    `name_servers` are addresses, each with a port if it is not 53, of the servers to ask; none stands for those that
    the system asks. `in_threads` False prepares on the loop's thread, for runs on virtual time.
    """

    def __init__(self, name_servers: Sequence[str] = (), *, in_threads: bool = True) -> None:
        self._name_servers = tuple(name_servers)
        self._in_threads = in_threads
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._asking: dict[str, trio.Event] = {}
        self._places = trio.CapacityLimiter(QUESTIONS_AT_A_TIME)
        self._resolver: tuple[Resolver, float] | None = None

    async def names(self, addresses: Iterable[str]) -> Mapping[str, str]:
        """The names of those addresses that have one and whose owner says so in time; never an exception.

        Takes as long as it takes: the caller sets a deadline. Cancelled, what was found so far is kept for the next.
        """
        found: dict[str, str] = {}
        unknown = []
        for number, address in enumerate(dict.fromkeys(addresses)):
            if number % ADDRESSES_IN_ONE_GO == 0:
                await trio.lowlevel.checkpoint()
            if is_public(address) and not self._remembered(address, found):
                unknown.append(address)
        left = iter(unknown)
        async with trio.open_nursery() as nursery:
            for _ in range(min(len(unknown), QUESTIONS_AT_A_TIME)):
                nursery.start_soon(self._find_all, left, found)
        return found

    async def collect(self, addresses: Sequence[str], found: dict[str, str], seconds: float) -> None:
        """As `names`, for `seconds` at most, into `found`."""
        with trio.move_on_after(seconds):
            found.update(await self.names(addresses))
            return
        for address in addresses:
            self._remembered(address, found)

    def _remembered(self, address: str, found: dict[str, str]) -> bool:
        """Whether the result for the address is still known; its name goes into `found`."""
        kept = self._kept.get(address)
        if kept is None or kept.until <= trio.current_time():
            return False
        self._kept.move_to_end(address)
        if kept.name is not None:
            found[address] = kept.name
        return True

    async def _find_all(self, left: Iterator[str], found: dict[str, str]) -> None:
        for address in left:
            # Those who ask at the same time wait for the same answer; there is none when the asker is cancelled.
            while not self._remembered(address, found):
                asking = self._asking.get(address)
                if asking is None:
                    await self._find(address)
                else:
                    await asking.wait()

    async def _find(self, address: str) -> None:
        self._asking[address] = done = trio.Event()
        try:
            async with self._places:
                name, seconds = await self._asked(address)
            self._kept[address] = _Kept(name, trio.current_time() + seconds)
            self._kept.move_to_end(address)
            while len(self._kept) > CACHE_ENTRIES:
                self._kept.popitem(last=False)
        finally:
            del self._asking[address]
            done.set()

    async def _asked(self, address: str) -> tuple[str | None, float]:
        """The address' name, and for how many seconds to keep that."""
        try:
            with trio.fail_after(QUESTION_SECONDS):
                resolver = await self._prepared()
                return await _ask(resolver, address)
        except Exception as error:  # noqa: BLE001 - what strangers send may fail a parser in any way; there is no name
            log.info("reverse DNS failed", problem=type(error).__name__)
            return None, FAILURE_KEPT_SECONDS

    async def _prepared(self) -> Resolver:
        if self._resolver is None or self._resolver[1] <= trio.current_time():
            made = await trio.to_thread.run_sync(self._made) if self._in_threads else self._made()
            self._resolver = made, trio.current_time() + SERVERS_KEPT_SECONDS
        return self._resolver[0]

    def _made(self) -> Resolver:
        """dnspython's resolver: too long to import for the start of a server that may never need it."""
        from dns.asyncresolver import Resolver
        from dns.nameserver import Do53Nameserver

        resolver = Resolver(configure=not self._name_servers)
        if self._name_servers:
            resolver.nameservers = [Do53Nameserver(*host_and_port(server)) for server in self._name_servers]
        resolver.timeout = QUESTION_SECONDS / 2
        resolver.lifetime = QUESTION_SECONDS
        return resolver


async def _ask(resolver: Resolver, address: str) -> tuple[str | None, float]:
    from dns.asyncbackend import get_backend
    from dns.resolver import NXDOMAIN, NoAnswer
    from dns.reversename import from_address

    question = from_address(str(_unmapped(address)))
    try:
        answer = await resolver.resolve(question, "PTR", search=False, backend=get_backend("trio"))
    except (NXDOMAIN, NoAnswer):
        return None, ABSENCE_KEPT_SECONDS
    names = sorted(record.target.to_text(omit_final_dot=True) for record in answer)
    name = next((name for name in names if is_host_name(name)), None)
    return name, ABSENCE_KEPT_SECONDS if name is None else NAME_KEPT_SECONDS


def is_host_name(name: str) -> bool:
    """Whether this can be the name of a host, and so be shown to people."""
    return len(name) <= NAME_CHARACTERS and _HOST_NAME.fullmatch(name) is not None


def is_public(address: str) -> bool:
    """Whether it is an address that any host on the internet could have."""
    try:
        parsed = _unmapped(address)
    except ValueError:
        return False
    return parsed.is_global and not parsed.is_multicast


def _unmapped(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    parsed = ipaddress.ip_address(address)
    mapped = parsed.ipv4_mapped if isinstance(parsed, ipaddress.IPv6Address) else None
    return parsed if mapped is None else mapped
