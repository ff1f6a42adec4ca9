"""Networks that administrators have blocked for good (administration.md, Blocklists; the blocklist `ip`)."""

from __future__ import annotations

import ipaddress
from collections import Counter, OrderedDict
from collections.abc import Iterable
from typing import Final

from chat.auth.client_address import parse_address

REMEMBERED: Final = 4_096
"""Addresses whose answer is remembered; beyond it those go that have been asked for least recently."""


class BlockedNetworks:
    """A set of networks that is asked with every request: one look per length of prefix that occurs in it."""

    def __init__(self) -> None:
        self._networks: set[tuple[int, int, int]] = set()
        self._lengths: Counter[tuple[int, int]] = Counter()
        self._answers: OrderedDict[str, bool] = OrderedDict()

    def __len__(self) -> int:
        """How many networks there are."""
        return len(self._networks)

    def replace(self, networks: Iterable[str]) -> None:
        """Hold these and no others, each as `ipaddress` writes networks."""
        self._networks.clear()
        self._lengths.clear()
        self._answers.clear()
        for network in networks:
            self.add(network)

    def add(self, network: str) -> None:
        """Block a network."""
        key = _key(network)
        if key not in self._networks:
            self._networks.add(key)
            self._lengths[key[:2]] += 1
            self._answers.clear()

    def discard(self, network: str) -> None:
        """Let a network in again."""
        key = _key(network)
        if key in self._networks:
            self._networks.remove(key)
            self._lengths -= Counter({key[:2]: 1})
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
