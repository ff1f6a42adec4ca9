"""Whether the broker of the gateway nodes serves, and who could read what is on it, texts of messages among it: others,
on the way and at the broker, and whoever has the disk on which it keeps what is to be kept nowhere."""

from __future__ import annotations

import contextlib
from typing import Final

import attrs
import trio

from chat.config.broker_address import BrokerAddress, broker_address
from chat.config.settings import is_loopback
from chat.errors import OperatorError
from chat.nodes.broker import BrokerUnavailable
from chat.nodes.redis_broker import PREFIX, RedisBroker, open_broker

NO_PERSISTENCE: Final = 'save "", appendonly no'
CURE: Final = "give its user default one, or switch that user off"


def problems(url: str) -> list[str]:
    """What is wrong with the broker at this address, in words without a secret."""
    return trio.run(_problems, broker_address(url), url)


def warnings(url: str) -> list[str]:
    """What an operator may have wanted, but should know of; nothing where the broker does not serve."""
    return trio.run(_warnings, broker_address(url), url)


async def _warnings(address: BrokerAddress, url: str) -> list[str]:
    found = []
    try:
        async with open_broker(url) as broker:
            # On another machine, or with a password for some, a broker that lets others in is a problem.
            if address.password is None and is_loopback(address.host):
                found.append(f"{address.place} has no password: every program of this machine can read messages")
            if await broker.keeps_on_disk():
                found.append(f"{address.place} writes messages to its disk: switch that off ({NO_PERSISTENCE})")
    except OperatorError:  # told by `problems`
        return []
    return found


async def _problems(address: BrokerAddress, url: str) -> list[str]:
    try:
        async with open_broker(url):
            pass
    except OperatorError as error:
        return [str(error)]
    found = []
    if not address.tls and not is_loopback(address.host):
        found.append(f"{address.place} has no TLS: messages cross the network for all to read; rediss:// has it")
    opening = await _opening(address, RedisBroker(attrs.evolve(address, user=None, password=None), PREFIX))
    if opening is not None:
        found.append(f"{address.place} lets {opening} read messages without a password: {CURE}")
    return found


async def _opening(address: BrokerAddress, stranger: RedisBroker) -> str | None:
    """Who gets in without a password, if it is more than an operator would want."""
    with contextlib.closing(stranger):
        return await _let_in(address, stranger)


async def _let_in(address: BrokerAddress, stranger: RedisBroker) -> str | None:
    try:
        await stranger.get("probe:key")
    except BrokerUnavailable:
        return None
    if not is_loopback(address.host):
        return "all who reach it"
    try:
        bound = (await stranger.configured("bind")).split()
        is_protected = await stranger.configured("protected-mode") == "yes" and (
            not bound or not stranger.version.startswith("6.")  # there it counts for nothing once `bind` is set
        )
    except BrokerUnavailable:  # it does not tell strangers
        bound, is_protected = [], True
    if not is_protected and not all(is_loopback(host.removeprefix("-")) for host in bound or ["*"]):
        return "all who reach this machine"
    return "every program of this machine" if address.password is not None else None
