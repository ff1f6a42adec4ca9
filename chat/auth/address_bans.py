"""Networks from which credentials were tried in vain too often are refused for a while (access.md, Address bans).

What counts is an answer of 401 kind over HTTP and 4004 over the gateway. An IPv4 address counts by itself, an IPv6
address with the 64 bits of its network. Failures are remembered in memory, in a table that an attacker cannot grow
beyond its bounds; a ban is a row of the store too, so that a restart does not lift it.

Networks that administrators have blocked are refused here as well, for good (administration.md, Blocklists; the
blocklist `ip`). Exempt ones (`ip_ban.exempt`) are served in any case, so that an operator finds a way in.
"""

from __future__ import annotations

import array
import collections
import ipaddress
import sqlite3
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from typing import Final

import structlog
import trio

from chat.auth.client_address import UNREADABLE, network_of, parse_address
from chat.clock import Clock, iso_timestamp
from chat.config.settings import IpBanSettings
from chat.errors import ApiError, StorageUnavailable
from chat.registries.error_codes import ErrorCode
from chat.store.database import Database
from chat.store.guard import UNGUARDED
from chat.store.signing_in import address_bans
from chat.store.signing_in.address_bans import AddressBan

NETWORKS_MAXIMUM: Final = 65_536
"""Networks whose failures are remembered; beyond it those go that have failed least recently."""

FAILURES_MAXIMUM: Final = 1_000_000
"""Failures that are remembered in all, 8 bytes each; beyond it likewise."""

BANS_MAXIMUM: Final = 100_000
"""Bans that stand at a time; beyond it the oldest is lifted."""

RETRY_SECONDS: Final = 5.0
"""When what could not be written is tried again."""

REMEMBERED: Final = 4_096
"""Addresses whose answer is remembered; beyond it those go that have been asked for least recently."""

REASON: Final = "authentication failures"
KIND: Final = "temporary"
BLOCKED_KIND: Final = "permanent"

log: Final = structlog.get_logger("chat.auth")


class BlockedNetworks:
    """A set of networks that is asked with every request: one look per length of prefix that occurs in it."""

    def __init__(self) -> None:
        self._networks: set[tuple[int, int, int]] = set()
        self._lengths: Counter[tuple[int, int]] = Counter()
        self._answers: OrderedDict[str, bool] = OrderedDict()
        self.changes = 0
        """Grows whenever there may be others than before."""

    def networks(self) -> list[str]:
        """Each as `ipaddress` writes networks."""
        widths = {4: ipaddress.IPv4Network, 6: ipaddress.IPv6Network}
        return [
            str(widths[version]((prefix << ((32 if version == 4 else 128) - length), length)))
            for version, length, prefix in self._networks
        ]

    def __len__(self) -> int:
        """How many networks there are."""
        return len(self._networks)

    def replace(self, networks: Iterable[str]) -> None:
        """Hold these and no others, each as `ipaddress` writes networks."""
        self._networks.clear()
        self._lengths.clear()
        self._answers.clear()
        self.changes += 1
        for network in networks:
            self.add(network)

    def add(self, network: str) -> None:
        """Block a network."""
        key = _key(network)
        if key not in self._networks:
            self._networks.add(key)
            self._lengths[key[:2]] += 1
            self.changes += 1
            self._answers.clear()

    def discard(self, network: str) -> None:
        """Let a network in again."""
        key = _key(network)
        if key in self._networks:
            self._networks.remove(key)
            self._lengths -= Counter({key[:2]: 1})
            self.changes += 1
            self._answers.clear()

    def cover(self, address: str) -> bool:
        """Whether an address lies in one of them; what is no address does not."""
        if not self._networks:
            return False
        answer = self._answers.get(address)
        if answer is None:
            answer = self._answers[address] = self._find(address)
            if len(self._answers) > REMEMBERED:
                self._answers.popitem(last=False)
        else:
            self._answers.move_to_end(address)
        return answer

    def _find(self, address: str) -> bool:
        parsed = parse_address(address)
        if parsed is None:
            return False
        number, bits = int(parsed), parsed.max_prefixlen
        return any(
            version == parsed.version and (version, length, number >> (bits - length)) in self._networks
            for version, length in self._lengths
        )


def _key(network: str) -> tuple[int, int, int]:
    """IP version, bits of the prefix, and the prefix as a number."""
    parsed = ipaddress.ip_network(network)
    return parsed.version, parsed.prefixlen, int(parsed.network_address) >> (parsed.max_prefixlen - parsed.prefixlen)


class Refusals:
    """Networks that are turned away: `bans` for a while, `blocked` for good; `exempt` ones never are."""

    def __init__(self, now_ms: Callable[[], int], blocked: BlockedNetworks, exempt: Iterable[str]) -> None:
        self._now_ms = now_ms
        self._blocked = blocked
        self._exempt = self.networks_of(exempt)
        self._bans: dict[str, AddressBan] = {}

    @staticmethod
    def networks_of(texts: Iterable[str]) -> tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]:
        """Networks as they are written. Raises ValueError."""
        return tuple(ipaddress.ip_network(network) for network in texts)

    def refuse(self, address: str, by_unnamed_proxy: bool = False) -> None:
        """Refuse a request from a banned network, and one whose address cannot be read.

        :raises ApiError: GLOBAL_IP_BANNED, GLOBAL_IP_TEMPORARILY_BANNED; BAD_REQUEST for the address UNREADABLE.
        """
        if address == UNREADABLE:
            raise ApiError(ErrorCode.BAD_REQUEST, "The proxy in front of this server does not name your address.")
        if self._blocked.cover(address) and (by_unnamed_proxy or not self._is_exempt(address)):
            raise _refusal(ErrorCode.GLOBAL_IP_BANNED, address, BLOCKED_KIND, None)
        if not self._bans:
            return
        network = network_of(address)
        ban = self._bans.get(network)
        if ban is None:
            return
        if ban.expires_at <= self._now_ms():
            del self._bans[network]
        elif by_unnamed_proxy or not self._is_exempt(address):
            raise _refusal(ErrorCode.GLOBAL_IP_TEMPORARILY_BANNED, address, KIND, iso_timestamp(ban.expires_at))

    def _is_exempt(self, address: str) -> bool:
        parsed = parse_address(address)
        if parsed is None:
            return True  # there is no network to ban
        return any(parsed in network for network in self._exempt if network.version == parsed.version)


class AddressBans(Refusals):
    """Counts failures, bans and lifts bans; `blocked` are the networks that administrators have blocked.

    Behind a proxy that is not trusted all have the proxy's address. It may be an exempt one, such as loopback: so
    requests that came through such a proxy are not exempt, and those that come straight from that address still are.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        settings: IpBanSettings,
        blocked: BlockedNetworks | None = None,
        was_unnamed_proxy: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._database = database
        self._clock = clock
        super().__init__(clock.now_ms, BlockedNetworks() if blocked is None else blocked, settings.exempt)
        self._was_unnamed_proxy = was_unnamed_proxy
        self._changes = 0
        self._allowed = settings.failures
        self._window_ms = settings.window_seconds * 1_000
        self._duration_ms = settings.duration_seconds * 1_000
        self._failures: collections.OrderedDict[str, array.array[int]] = collections.OrderedDict()
        self._remembered = 0
        self._unwritten: dict[str, AddressBan] = {}
        self._to_write = trio.Event()

    def __len__(self) -> int:
        """How many bans there are, those included that have run out since they were last looked at."""
        return len(self._bans) + len(self._blocked)

    @property
    def failures_remembered(self) -> int:
        """How many failures are held in memory."""
        return self._remembered

    @property
    def changes(self) -> int:
        """Grows whenever others are refused than before."""
        return self._changes + self._blocked.changes

    def standing(self) -> tuple[dict[str, int], list[str], list[str]]:
        """Banned networks with the ends of their bans (ms since 1970), blocked ones, and exempt ones."""
        bans = {network: ban.expires_at for network, ban in self._bans.items()}
        return bans, self._blocked.networks(), [str(network) for network in self._exempt]

    def note_failure(self, address: str) -> None:
        """Count a credential that was refused; the one that is too many bans the network from now on."""
        if self._is_exempt(address) and not self._was_unnamed_proxy(address):
            return
        network, now = network_of(address), self._clock.now_ms()
        moments = self._failures.setdefault(network, array.array("q"))
        moments.append(now)
        self._remembered += 1
        self._failures.move_to_end(network)
        while moments[0] <= now - self._window_ms:
            moments.pop(0)
            self._remembered -= 1
        if len(moments) >= self._allowed:
            self._ban(network, now)
        while self._remembered > FAILURES_MAXIMUM or len(self._failures) > NETWORKS_MAXIMUM:
            _, forgotten = self._failures.popitem(last=False)
            self._remembered -= len(forgotten)

    def _ban(self, network: str, now: int) -> None:
        self._remembered -= len(self._failures.pop(network))
        ban = AddressBan(network, REASON, now, now + self._duration_ms)
        self._bans.pop(network, None)
        self._bans[network] = ban
        self._unwritten[network] = ban
        self._changes += 1
        while len(self._bans) > BANS_MAXIMUM:
            del self._bans[next(iter(self._bans))]
        self._to_write.set()
        log.warning("network banned", network=network, reason=REASON, until=iso_timestamp(ban.expires_at))

    def lift(self, network: str) -> None:
        """Forget a ban that the store does not hold any more, and what led to it."""
        self._changes += 1
        self._bans.pop(network, None)
        self._unwritten.pop(network, None)
        self._remembered -= len(self._failures.pop(network, ()))

    def forget_all(self) -> None:
        """Forget every ban and every failure (`/v1/_dev/reset`)."""
        self._changes += 1
        self._bans.clear()
        self._unwritten.clear()
        self._failures.clear()
        self._remembered = 0

    # The store

    async def load(self) -> None:
        """Take over the bans that stand."""
        now = self._clock.now_ms()
        for ban in await self._database.read(lambda connection: address_bans.every(connection, now)):
            self._bans[ban.network] = ban
        self._changes += 1

    async def run(self) -> None:
        """Write bans as they are made, for ever."""
        while True:
            await self._to_write.wait()
            self._to_write = trio.Event()
            await self.write()
            if self._unwritten:
                await trio.sleep(RETRY_SECONDS)
                self._to_write.set()

    async def write(self) -> None:
        """Write the bans that are not written yet; they wait where the store cannot be written."""
        if not self._unwritten:
            return
        made, self._unwritten = self._unwritten, {}
        now = self._clock.now_ms()

        def unit(connection: sqlite3.Connection) -> None:
            address_bans.delete_expired(connection, now)
            address_bans.insert(connection, made.values())

        try:
            await self._database.write(unit, guard=UNGUARDED)
        except StorageUnavailable:
            self._unwritten = {**made, **self._unwritten}


def _refusal(code: ErrorCode, address: str, kind: str, expires_at: str | None) -> ApiError:
    return ApiError(
        code,
        members={
            "ip_address": address,
            "ban_kind": kind,
            "expires_at": expires_at,
            "appeals_supported": False,
            "appeal_email": None,
        },
    )
